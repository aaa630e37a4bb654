//! What all recordings of an endpoint show that no single one does: answers that are cut, requests that are refused
//! by what the server has in mind, and what is said of the path.

use retape::cassette::{End, Interaction, Outcome};
use retape::{Cassette, Name};

use super::recordings::{checked, compared, exchange};
use super::told;

pub(super) type Side = Vec<(Name, Cassette)>;

/// Each interaction in a cassette of its own.
pub(super) fn apart(prefix: &str, interactions: impl IntoIterator<Item = Interaction>) -> Side {
    let one = |(number, interaction)| {
        let name = Name::new(format!("{prefix}-{number}")).unwrap();
        (name, Cassette { interactions: vec![interaction], ..Cassette::default() })
    };
    interactions.into_iter().enumerate().map(one).collect()
}

/// What `diff` and `check` tell.
pub(super) fn both(old: &Side, new: &Side) -> [Vec<String>; 2] {
    [told(&compared(old, new)), told(&checked(old, new))]
}

/// Streams to requests of their own, of which the server cuts the first ones.
fn streams(prefix: &str, count: usize, cut: usize) -> Side {
    let one = |number| {
        let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
        let said = [r#"{"type":"start"}"#, r#"{"type":"end"}"#];
        let mut stream = exchange("/chat", &asked, 200, &said);
        if number < cut
            && let Outcome::Response(response) = &mut stream.outcome
        {
            response.end = End::ServerClosed;
        }
        stream
    };
    apart(prefix, (0..count).map(one))
}

#[test]
fn a_server_that_cuts_all_streams_breaks_also_where_other_things_are_asked() {
    let what = "answer-cut: an answer that came to its end does not any more: `server_closed`";

    let all = both(&streams("old", 10, 0), &streams("new", 10, 10));
    let most = both(&streams("old", 10, 0), &streams("new", 10, 8));
    let one = both(&streams("old", 10, 0), &streams("new", 10, 1));
    let as_before = both(&streams("old", 10, 3), &streams("new", 10, 3));

    for told in all.iter().chain(&most) {
        assert_eq!(told, &[format!("breaking {what}")]);
    }
    assert!(one.iter().all(|told| *told == [format!("unproven {what}")]), "{one:?}");
    assert!(as_before.iter().all(Vec::is_empty), "{as_before:?}");
}

#[test]
fn a_request_that_is_answered_in_another_media_type_is_told_though_both_are_known() {
    let of = |prefix: &str, streamed: i32| {
        let one = |number| {
            let is_streamed = number % 2 == 0;
            let asked = format!(r#"{{"stream":{is_streamed},"text":"{number}"}}"#);
            let said = [r#"{"type":"start"}"#, r#"{"type":"end"}"#];
            match is_streamed && number / 2 < streamed {
                true => exchange("/chat", &asked, 200, &said),
                false => exchange("/chat", &asked, 200, &[r#"{"type":"whole"}"#]),
            }
        };
        apart(prefix, (0..12).map(one))
    };
    let diff = |streamed| told(&compared(&of("talk", 6), &of("talk", streamed)));

    let what = "breaking media-gone: a request that was answered with `text/event-stream` is \
                answered with `application/json`";
    assert_eq!(diff(5), [what]);
    assert_eq!(diff(0), [what]);
    assert_eq!(diff(6), [""; 0]);
}

#[test]
fn a_request_that_is_answered_with_another_success_is_told_though_both_are_known() {
    let of = |prefix: &str, status: u16| {
        let one = |number| {
            let asked = format!(r#"{{"text":"say {number}"}}"#);
            let status = match number {
                0..6 => 202,
                6 => status,
                _ => 200,
            };
            exchange("/jobs", &asked, status, &[r#"{"type":"job"}"#])
        };
        apart(prefix, (0..12).map(one))
    };
    let diff = |status| told(&compared(&of("job", 200), &of("job", status)));

    let what = "breaking status-gone: a request that was answered with 200 is answered with 202";
    assert_eq!(diff(202), [what]);
    assert_eq!(diff(200), [""; 0]);
    // A refusal that is new at the same path hides nothing.
    let refused = exchange("/jobs", r#"{"text":1}"#, 404, &[r#"{"error":"none"}"#]);
    let mut new = of("job", 202);
    new.extend(apart("other", [refused]));
    let told = told(&compared(&of("job", 200), &new));
    assert!(told.contains(&what.to_owned()), "{told:?}");
}

#[test]
fn a_stream_that_never_ends_and_a_page_that_is_sent_again_are_told() {
    let left = |count: usize| -> Side {
        let mut side = streams("s", 8, 0);
        for (_, cassette) in &mut side[..count] {
            if let Outcome::Response(response) = &mut cassette.interactions[0].outcome {
                response.end = End::ClientClosed;
            }
        }
        side
    };
    let again = |status: u16| {
        let said: &[&str] = if status == 304 { &[""] } else { &[r#"{"id":"a-17"}"#] };
        apart("c", (0..8).map(|number| exchange("/page", &number.to_string(), status, said)))
    };

    let told = |old: &Side, new: &Side| told(&compared(old, new));

    let never = "unproven answer-cut: an answer that came to its end does not any more";
    assert_eq!(told(&left(0), &left(8)), [format!("{never}: `client_closed`")]);
    // A few clients have not waited.
    assert_eq!(told(&left(0), &left(2)), [""; 0]);
    assert_eq!(told(&left(8), &left(8)), [""; 0]);
    let sent = "unproven status-gone: a request that was answered with 304 is answered with 200";
    assert!(told(&again(304), &again(200)).contains(&sent.to_owned()));
    assert_eq!(told(&again(304), &again(304)), [""; 0]);
}

/// Orders are cancelled, of which the first ones are refused.
fn cancelled(prefix: &str, count: usize, refused: usize) -> Side {
    let one = |number| {
        let path = format!("/orders/ord-5f1c{number:04}/cancel");
        let status = if number < refused { 409 } else { 200 };
        exchange(&path, "", status, &[r#"{"x":1}"#])
    };
    apart(prefix, (0..count).map(one))
}

#[test]
fn what_the_server_has_in_mind_may_refuse_what_was_answered() {
    let old = cancelled("order", 12, 4);
    // The same scenarios, of which others are refused.
    let mut new = cancelled("order", 12, 5);
    new.reverse();
    let named = old.iter().zip(new).map(|((name, _), (_, cassette))| (name.clone(), cassette));
    let new: Side = named.collect();
    let [diff, check] = both(&old, &new);
    let what = "request-refused: a request that was answered with 200 is refused with 409";
    assert_eq!(diff, [format!("unproven {what}")]);
    assert!(check.is_empty(), "{check:?}");

    let [diff, _] = both(&old, &cancelled("order", 12, 12));
    assert!(diff.iter().any(|told| told.starts_with("breaking request-refused")), "{diff:?}");
}

#[test]
fn what_another_question_was_refused_for_excuses_nothing() {
    let asked = |limits: &[(&str, u16)]| {
        let one = |(limit, status): &(&str, u16)| {
            exchange(&format!("/orders?limit={limit}"), "", *status, &[r#"{"x":1}"#])
        };
        apart("list", limits.iter().map(one))
    };
    let good = [("5", 200); 6];
    let old = asked(&[&good[..], &[("none", 400)]].concat());
    let new = asked(&[&[("5", 400)], &good[1..], &[("none", 400)]].concat());

    let [diff, _] = both(&old, &new);

    let what = "request-refused: a request that was answered with 200 is refused with 400";
    assert_eq!(diff, [format!("breaking {what}")]);
}

#[test]
fn a_refusal_that_does_not_come_once_is_unproven_by_numbers() {
    let what = "status-gone: status 409 is not recorded any more";

    let seldom = both(&cancelled("old", 12, 2), &cancelled("new", 16, 0));
    let often = both(&cancelled("old", 24, 12), &cancelled("new", 24, 0));

    assert_eq!(seldom, [[format!("trim {what}")], [format!("trim {what}")]]);
    // Who is not refused any more may ask for something else.
    assert_eq!(often, [[format!("unproven {what}")], [format!("unproven {what}")]]);
}

#[test]
fn a_scenario_that_was_refused_and_is_answered_now_is_told_by_the_pairs() {
    let what = "status-gone: a request that was answered with 409 is answered with 200";
    let diff = |old: usize, new: usize| {
        both(&cancelled("o", 12, old), &cancelled("o", 12, new))[0].clone()
    };

    assert_eq!(diff(3, 0), [format!("unproven {what}")]);
    assert_eq!(diff(3, 2), [format!("unproven {what}")]);
    assert_eq!(diff(8, 0), [format!("breaking {what}")]);

    // One way as often as the other.
    let old = cancelled("o", 12, 4);
    let mut new = cancelled("o", 12, 4);
    let turned = old.iter().map(|(name, _)| name.clone()).zip(new.split_off(0).into_iter().rev());
    let new: Side = turned.map(|(name, (_, cassette))| (name, cassette)).collect();
    let told = both(&old, &new)[0].clone();
    assert!(told.iter().all(|told| told.starts_with("unproven request-refused")), "{told:?}");
}

/// Requests that say whether they want a stream.
fn asked(prefix: &str, streams: usize, plain: usize, is_streamed: bool) -> Side {
    let one = |number: usize| {
        let wants = number < streams;
        let asked = format!(r#"{{"text":"{prefix} {number}","stream":{wants}}}"#);
        let said: &[&str] = &[r#"{"x":1}"#, r#"{"x":2}"#];
        exchange("/chat", &asked, 200, if wants && is_streamed { said } else { &said[..1] })
    };
    apart(prefix, (0..streams + plain).map(one))
}

#[test]
fn what_says_the_same_as_all_that_was_streamed_shows_that_nothing_is() {
    let old = asked("old", 8, 8, true);

    let [diff, _] = both(&old, &asked("new", 8, 8, false));
    let [seldom, _] = both(&old, &asked("new", 1, 8, false));

    let what = "media-gone: a request that was answered with `text/event-stream` is answered with `application/json`";
    assert_eq!(diff[0], format!("breaking {what}"));
    assert!(!seldom.iter().any(|told| told.starts_with("breaking")), "{seldom:?}");
}

#[test]
fn an_answer_about_another_one_than_its_path_names_breaks() {
    let agents = |prefix: &str, says: fn(usize) -> usize| {
        let one = |number: usize| {
            let id = |number: usize| format!("agent-7c2e4f{number:04}");
            let body = format!(r#"{{"id":"{}"}}"#, id(says(number)));
            exchange(&format!("/agents/{}", id(number)), "", 200, &[&body])
        };
        apart(prefix, (0..8).map(one))
    };

    let found = both(&agents("old", |it| it), &agents("new", |it| it + 1));

    let what = "invariant-broken: `id equals request.{agent_id}` does not hold any more";
    for told in found {
        assert_eq!(told, [format!("breaking {what}")]);
    }
}

#[test]
fn a_kind_of_answer_that_never_comes_again_is_told_by_numbers() {
    let old = asked("old", 8, 24, true);

    let [_, check] = both(&old, &asked("new", 5, 24, false));
    let [_, few] = both(&old, &asked("new", 1, 8, false));
    // Nobody asks for a stream any more.
    let [diff, _] = both(&old, &asked("new", 0, 32, true));

    let what = "media-gone: `text/event-stream` is not recorded any more";
    assert_eq!(check, [format!("unproven {what}")]);
    assert_eq!(few, [format!("trim {what}")]);
    assert!(diff.contains(&format!("trim {what}")), "{diff:?}");
}

#[test]
fn another_type_of_keep_alive_is_new_to_the_clients() {
    let talks = |prefix: &str, alive: &[&str]| {
        let one = |number| {
            let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
            let alive = alive.iter().map(|kind| format!(r#"{{"type":"{kind}"}}"#));
            let said: Vec<String> = [r#"{"type":"start"}"#.to_owned()]
                .into_iter()
                .chain(alive)
                .chain([r#"{"type":"end"}"#.to_owned()])
                .collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange("/chat", &asked, 200, &said)
        };
        apart(prefix, (0..8).map(one))
    };

    let renamed = both(&talks("old", &["ping"]), &talks("new", &["heartbeat"]));
    let beside = both(&talks("old", &["ping"]), &talks("new", &["ping", "heartbeat"]));
    let none = both(&talks("old", &["ping"]), &talks("new", &[]));
    let first = both(&talks("old", &[]), &talks("new", &["ping"]));

    let what = "tag-new: `heartbeat` is a new type of message";
    assert_eq!(renamed, [[format!("breaking {what}")], [format!("breaking {what}")]]);
    assert_eq!(beside, [[format!("unproven {what}")], [format!("unproven {what}")]]);
    assert!([none, first].iter().flatten().all(Vec::is_empty));
}
