//! Changes between recordings.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use retape::cassette::{Interaction, Outcome, Request, Response};
use retape::contract::{self, Contract, Traffic};
use retape::message::Protocols;
use retape::review::change::{self, Exchange, Known, Report, Rule, State, Verdict, compare};
use retape::review::report::{Colour, Face, changes};
use retape::store::{self, Side, load_side};
use retape::{Cassette, Name};

use super::told;

/// An exchange of JSON, or of a stream if there are several messages.
pub(super) fn exchange(path: &str, asked: &str, status: u16, said: &[&str]) -> Interaction {
    let stream = said.len() > 1;
    let media = if stream { "text/event-stream" } else { "application/json" };
    let body = match stream {
        true => said.iter().map(|data| format!("data: {data}\n\n")).collect(),
        false => said.concat(),
    };
    let response = Response { status, ..Response::whole(media, body) };
    let request = Request { body: Bytes::from(asked.to_owned()), ..Request::of("POST", path) };
    Interaction::of(request, response)
}

fn side(interactions: Vec<Interaction>) -> Vec<(Name, Cassette)> {
    let cassette = Cassette { interactions, ..Cassette::default() };
    vec![(Name::new("talk").unwrap(), cassette)]
}

pub(super) fn compared(old: &[(Name, Cassette)], new: &[(Name, Cassette)]) -> Report {
    compared_beside(&[], old, new)
}

/// The same where these contracts lie beside both.
pub(super) fn compared_beside(
    accepted: &[Contract],
    old: &[(Name, Cassette)],
    new: &[(Name, Cassette)],
) -> Report {
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted };
    compare(known("old", old), known("new", new))
}

/// What `check` tells of recordings by what others have taught.
pub(super) fn checked(old: &[(Name, Cassette)], new: &[(Name, Cassette)]) -> Report {
    checked_by(&learned(old), new)
}

pub(super) fn checked_by(accepted: &[Contract], new: &[(Name, Cassette)]) -> Report {
    let known = Known { name: "new", path: "cassettes", cassettes: new, accepted };
    change::check(&Protocols::default(), known).report
}

#[track_caller]
fn check(old: Vec<Interaction>, new: Vec<Interaction>, expected: &[&str]) {
    assert_eq!(told(&compared(&side(old), &side(new))), expected);
}

const ASKED: &str = r#"{"text":"hello"}"#;
const OTHER: &str = r#"{"text":"bye"}"#;

fn stream(said: &[&str]) -> Vec<Interaction> {
    (0..6).map(|_| exchange("/chat", ASKED, 200, said)).collect()
}

#[test]
fn a_recording_shows_the_message_that_came_too_early() {
    let (thought, answer, done) =
        (r#"{"type":"thought"}"#, r#"{"type":"answer"}"#, r#"{"type":"done"}"#);
    let report =
        compared(&side(stream(&[thought, answer, done])), &side(stream(&[answer, thought, done])));

    assert!(report.fails());
    let change = &report.changes[0];
    let witnesses = change.witnesses.as_ref().unwrap();
    assert_eq!(
        (&*witnesses.cassette, witnesses.number.interaction, witnesses.answers),
        ("talk", 1, 6)
    );
    assert_eq!(change.trace.as_ref().unwrap().tags, ["answer", "thought", "done"]);
}

#[test]
fn a_type_that_came_in_the_place_of_another_one_breaks() {
    let talk = |last: &str| -> Vec<Interaction> {
        let done = format!(r#"{{"type":"{last}"}}"#);
        let turn = |number: usize| match number % 2 {
            0 => exchange("/chat", &asked(number), 200, &[r#"{"type":"answer"}"#, &done]),
            _ => exchange(
                "/chat",
                &asked(number),
                200,
                &[r#"{"type":"answer"}"#, r#"{"type":"error"}"#],
            ),
        };
        (0..8).map(turn).collect()
    };

    let report = compared(&side(talk("done")), &side(talk("finished")));

    let told = told(&report);
    assert!(
        told[0].starts_with("breaking tag-new: `finished` is a new type of message"),
        "{told:?}"
    );
}

#[test]
fn an_answer_that_comes_twice_breaks() {
    let progress = r#"{"jsonrpc":"2.0","method":"progress","params":{"n":1}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let talk = |said: &[&str]| -> Vec<Interaction> {
        (0..8).map(|number| exchange("/rpc", &asked(number), 200, said)).collect()
    };

    check(
        talk(&[progress, result]),
        talk(&[progress, result, result]),
        &["breaking order-next-new: `result` comes after `result`, where the end was promised"],
    );
}

/// Asked for the same again and again, a server is recorded once.
pub(super) fn asked(number: usize) -> String {
    format!(r#"{{"number":{number}}}"#)
}

#[test]
fn a_value_that_only_the_new_recordings_have_is_found_there() {
    let answers = |third: &str| {
        (0..60)
            .map(|number| {
                let status = if number % 5 == 2 { third } else { ["on", "off"][number % 2] };
                exchange("/state", &asked(number), 200, &[&format!(r#"{{"status":"{status}"}}"#)])
            })
            .collect::<Vec<_>>()
    };

    let report = compared(&side(answers("on")), &side(answers("broken")));

    assert_eq!(told(&report), [r#"breaking value-new: `status` can be `"broken"`"#]);
    let witnesses = report.changes[0].witnesses.as_ref().unwrap();
    assert_eq!((witnesses.number.interaction, witnesses.answers), (3, 12));
    assert_eq!(report.changes[0].possible.as_ref().unwrap().text, r#""broken""#);
}

#[test]
fn a_choice_that_became_free_text_names_what_was_seen() {
    let answers = |others: &[&str]| {
        let all = (0..40).map(|number| {
            let known = ["on", "off"][number % 2];
            let word = others.get(number).copied().unwrap_or(known);
            exchange("/state", &asked(number), 200, &[&format!(r#"{{"status":"{word}"}}"#)])
        });
        all.collect::<Vec<_>>()
    };

    let seen = ["on", "not on", "not off", "not off"];
    let report = compared(&side(answers(&[])), &side(answers(&seen)));

    assert_eq!(
        told(&report),
        [r#"breaking format-new: `status` can be any text, such as `"not on"` and `"not off"`"#]
    );
    let witnesses = report.changes[0].witnesses.as_ref().unwrap();
    assert_eq!((witnesses.number.interaction, witnesses.answers), (2, 3));
}

#[test]
fn a_field_that_is_gone_breaks_and_one_that_was_optional_does_not() {
    let with = |body: &str| exchange("/state", ASKED, 200, &[body]);

    check(
        vec![with(r#"{"id":1,"name":"a"}"#), with(r#"{"id":1}"#)],
        vec![with("{}")],
        &[
            "breaking field-missing: `id` is gone, which was always there",
            "trim field-gone: `name` is not seen any more",
        ],
    );
}

#[test]
fn endpoints_and_statuses_that_come_and_go_are_told() {
    let ok = || exchange("/state", ASKED, 200, &["{}"]);

    check(
        vec![ok()],
        vec![ok(), exchange("/other", ASKED, 200, &["{}"])],
        &["compatible endpoint-new: the endpoint is new"],
    );
    check(
        vec![ok(), exchange("/other", ASKED, 200, &["{}"])],
        vec![ok()],
        &["trim endpoint-gone: the endpoint is not recorded any more"],
    );
    check(
        vec![ok()],
        vec![ok(), exchange("/state", "{}", 409, &["{}"])],
        &["unproven status-new: it answers 409"],
    );
}

#[test]
fn another_status_is_one_change_and_hides_none_beside_it() {
    let answer = |status: u16, said: &str| exchange("/state", ASKED, status, &[said]);

    check(
        vec![answer(200, r#"{"id":1}"#)],
        vec![answer(201, r#"{"id":1}"#)],
        &["breaking status-new: it answers 201, and not 200 any more"],
    );
    check(
        vec![answer(200, r#"{"id":1}"#)],
        vec![answer(201, "{}")],
        &[
            "breaking status-new: it answers 201, and not 200 any more",
            "breaking field-missing: `id` is gone, which was always there",
        ],
    );
    check(
        vec![answer(200, "{}"), exchange("/state", OTHER, 200, &["{}"])],
        vec![answer(201, "{}"), exchange("/state", OTHER, 422, &["{}"])],
        &[
            "breaking status-new: it answers 201, and not 200 any more",
            "breaking request-refused: a request that was answered with 200 is refused with 422",
        ],
    );
    // Where 200 stays, 201 is one more, if the same is asked.
    check(
        vec![answer(200, "{}")],
        vec![answer(200, "{}"), answer(201, "{}")],
        &["breaking status-new: it answers 201"],
    );
    check(
        vec![answer(404, "{}")],
        vec![answer(404, "{}"), exchange("/state", OTHER, 200, &["{}"])],
        &["unproven status-new: it answers 200"],
    );
}

#[test]
fn another_media_type_breaks_where_it_takes_the_place_of_one() {
    let json = |asked: &str| exchange("/chat", asked, 200, &["{}"]);
    let events = |asked: &str| exchange("/chat", asked, 200, &["{}", "{}"]);
    let rule = "media-new: it answers with `text/event-stream`";
    let named = |names: [&str; 2], all: Vec<Interaction>| -> Vec<(Name, Cassette)> {
        let sides =
            names.into_iter().zip(all).map(|(name, one)| (name, side(vec![one]).remove(0).1));
        sides.map(|(name, cassette)| (Name::new(name).unwrap(), cassette)).collect()
    };
    let both = |old: &[(Name, Cassette)], new: &[(Name, Cassette)]| -> [Vec<String>; 2] {
        [compared(old, new), checked(old, new)]
            .map(|report| told(&report).into_iter().filter(|it| it.contains("media-new")).collect())
    };
    let old = named(["one", "two"], vec![json(ASKED), json(OTHER)]);

    // Somebody asks for a stream for the first time.
    let added = [old.clone(), side(vec![events(r#"{"stream":true}"#)])].concat();
    for told in both(&old, &added) {
        assert_eq!(told, [format!("unproven {rule}")]);
    }
    // The server answers all with a stream now.
    let all = named(["one", "two"], vec![events(ASKED), events(OTHER)]);
    for told in both(&old, &all) {
        assert_eq!(told, [format!("breaking {rule}")]);
    }
    // In one of two: only with the recordings of before at hand can one know that it was the same question.
    let some = named(["one", "two"], vec![json(ASKED), events(OTHER)]);
    let [diff, check] = both(&old, &some);
    assert_eq!(diff, [format!("breaking {rule}")]);
    assert_eq!(check, [format!("unproven {rule}")]);
    // One test of many is run alone.
    let [_, alone] = both(&old, &side(vec![events(ASKED)]));
    assert_eq!(alone, [format!("unproven {rule}")]);
}

#[test]
fn a_time_that_loses_its_zone_breaks() {
    let times = |ends: [&str; 2]| {
        let at = |number: usize| {
            let said = format!(r#"{{"at":"2026-11-2{number}T10:00:00{}"}}"#, ends[number % 2]);
            exchange("/a", &asked(number), 200, &[&said])
        };
        (0..4).map(at).collect::<Vec<_>>()
    };

    let lost = "breaking format-new: `at` can be `local-date-time`, such as `\"2026-11-20T10:00:00\"`, \
                `\"2026-11-21T10:00:00\"`, `\"2026-11-22T10:00:00\"` and others";
    check(times(["Z", "+01:00"]), times(["", ""]), &[lost]);
    check(times(["", "Z"]), times(["", ""]), &[]);
    check(times(["", ""]), times(["Z", "Z"]), &[]);
}

#[test]
fn a_contract_of_one_recording_knows_its_scenario() {
    let one = |name: &str, status: u16, said: &str| {
        let (_, cassette) = side(vec![exchange("/state", ASKED, status, &[said])]).remove(0);
        (Name::new(name).unwrap(), cassette)
    };
    let (whole, less) = (r#"{"id":1,"note":"a"}"#, r#"{"id":1}"#);
    // As it comes back from its file.
    let accepted = |old: &(Name, Cassette)| -> Vec<Contract> {
        let folder = tempfile::tempdir().unwrap();
        let contracts = learned(std::slice::from_ref(old));
        for contract in &contracts {
            store::accept(folder.path(), contract).unwrap();
        }
        store::contracts(folder.path()).unwrap()
    };
    let check = |new: &[(Name, Cassette)], expected: &str| {
        let told = told(&checked_by(&accepted(&one("first", 200, whole)), new));
        let told: Vec<&str> = told.iter().filter_map(|it| Some(it.split_once(':')?.0)).collect();
        assert_eq!(told, [expected]);
    };

    // The scenario that it was learned from, recorded again, alone or beside one that keeps it.
    check(&[one("first", 200, less)], "breaking field-missing");
    check(&[one("first", 200, less), one("second", 200, whole)], "breaking field-missing");
    check(&[one("first", 201, whole)], "breaking status-new");
    // Another one shows it as well.
    check(&[one("first", 200, less), one("second", 200, less)], "breaking field-missing");
    // Only another one: it may have been so before.
    check(&[one("second", 200, less)], "unproven field-missing");
    check(&[one("first", 200, whole), one("second", 200, less)], "unproven field-missing");
    check(&[one("second", 201, whole)], "unproven status-new");
    let (name, mut cassette) = one("second", 201, whole);
    cassette.interactions.push(cassette.interactions[0].clone());
    check(&[(name, cassette)], "unproven status-new");
}

#[test]
fn a_request_that_another_known_endpoint_answers_now_breaks() {
    let asked = [r#"{"stream":false}"#, r#"{"stream":true}"#];
    let json = |asked: &str| exchange("/chat", asked, 200, &["{}"]);
    let events = |asked: &str| exchange("/chat", asked, 200, &["{}", "{}"]);
    let created = |asked: &str| exchange("/chat", asked, 201, &["{}"]);
    let old = || vec![json(asked[0]), events(asked[1])];

    check(
        old(),
        vec![json(asked[0]), json(asked[1])],
        &[
            "breaking media-gone: a request that was answered with `text/event-stream` is answered with `application/json`",
        ],
    );
    check(
        vec![json(asked[0]), created(asked[1])],
        vec![json(asked[0]), json(asked[1])],
        &["breaking status-gone: a request that was answered with 201 is answered with 200"],
    );
    // Nobody asks for a stream.
    check(
        old(),
        vec![json(asked[0])],
        &["trim media-gone: `text/event-stream` is not recorded any more"],
    );
    // It was answered in both ways before.
    check(
        [old(), vec![json(asked[1])]].concat(),
        vec![json(asked[0]), json(asked[1])],
        &["trim media-gone: `text/event-stream` is not recorded any more"],
    );
}

#[test]
fn what_an_open_place_is_called_is_no_other_endpoint() {
    let talk = |ids: &[&str], more: &str| -> Vec<Interaction> {
        let items = ids.iter().flat_map(|id| {
            let said = format!(r#"{{"id":"{id}","n":1{more}}}"#);
            let path = format!("/items/{id}");
            [exchange("/items", "{}", 200, &[&said]), exchange(&path, "", 200, &[&said])]
        });
        items.collect()
    };
    let verdicts = |old: &[&str], new: &[&str]| -> Vec<String> {
        let report = compared(&side(talk(old, r#","title":"a""#)), &side(talk(new, "")));
        let kinds = report.changes.iter().map(|it| format!("{:?} {}", it.verdict, it.rule.id()));
        kinds.collect()
    };
    let both = ["Breaking field-missing", "Breaking field-missing"];

    let (minted, other) = ("it_9pKqLm2XvT8nRw4Y", "it_4YnRw8TvX2mLqKp9");
    // Only the client that comes back with it shows that it is one.
    let plain = "it_jFrRBatkqhHTGEh7";
    assert_eq!(verdicts(&[minted], &[other]), both);
    assert_eq!(verdicts(&[minted], &[plain]), both);
    assert_eq!(verdicts(&[plain], &[minted]), both);
    assert_eq!(verdicts(&[minted, plain], &[other]), both);
    assert_eq!(verdicts(&["30888", "4271"], &["57626", "919"]), both);
}

#[test]
fn an_end_that_is_new_is_weighed_among_all_streams() {
    let talk = |round: usize, failed: usize| {
        let stream = |number: usize| {
            let end = if number < failed { &["failed"][..] } else { &["usage", "completed"] };
            let tags = ["started", "delta"].iter().chain(end);
            let mut said: Vec<String> =
                tags.map(|tag| format!(r#"{{"type":"{tag}","round":{round}}}"#)).collect();
            said.push("[DONE]".to_owned());
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange("/runs", &asked(number), 200, &said)
        };
        (0..10).map(stream).collect::<Vec<_>>()
    };
    let ends = |old: Vec<Interaction>, new: Vec<Interaction>| -> Vec<String> {
        let told = told(&compared(&side(old), &side(new)));
        told.into_iter().filter(|it| it.contains("order-end-new")).collect()
    };
    let what = "order-end-new: the stream ends after `failed` with no `completed`";

    assert_eq!(ends(talk(1, 0), talk(2, 1)), [format!("unproven {what}")]);
    assert_eq!(ends(talk(1, 0), talk(2, 10)), [format!("breaking {what}")]);
}

#[test]
fn what_a_contract_of_many_recordings_promises_is_weighed_as_many() {
    let talk = |count: usize, words: [&str; 2]| -> Vec<(Name, Cassette)> {
        let one = |number: usize| {
            let said = format!(r#"{{"state":"{}"}}"#, words[number % 2]);
            let (_, cassette) = side(vec![exchange("/a", &asked(number), 200, &[&said])]).remove(0);
            (Name::new(format!("talk{number}")).unwrap(), cassette)
        };
        (0..count).map(one).collect()
    };
    let told_of = |count: usize| -> Vec<String> {
        told(&checked(&talk(count, ["open", "closed"]), &talk(count, ["OPEN", "CLOSED"])))
    };

    let verdicts = |told: Vec<String>| -> Vec<String> {
        let news = told.into_iter().filter(|it| it.contains("value-new"));
        news.map(|it| it.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(verdicts(told_of(40)), ["breaking"]);
    // In each of two that is one of six ways.
    assert_eq!(verdicts(told_of(2)), ["unproven"]);
}

#[test]
fn a_request_that_is_refused_now_breaks() {
    let report = compared(
        &side(vec![exchange("/state", ASKED, 200, &["{}"])]),
        &side(vec![exchange("/state", ASKED, 422, &["{}"])]),
    );

    let change = &report.changes[0];
    assert_eq!((change.rule, change.verdict), (Rule::RequestRefused, Verdict::Breaking));
    assert_eq!(change.what, "a request that was answered with 200 is refused with 422");
}

#[test]
fn another_question_in_the_same_place_is_no_other_answer_to_the_one() {
    let asked = |what: &str, said: &str| {
        vec![exchange("/search", &format!(r#"{{"q":"{what}"}}"#), 200, &[said])]
    };
    let (none, one) = (r#"{"milestone":7}"#, r#"{"milestone":{"n":1}}"#);
    let what = "type-new: `milestone` can be `{n: integer}`";

    check(asked("alpha", none), asked("alpha", one), &[&format!("breaking {what}")]);
    check(asked("alpha", none), asked("beta", one), &[&format!("unproven {what}")]);
}

#[test]
fn what_was_not_there_once_and_is_now_proves_nothing() {
    let asked = |said: &str| vec![exchange("/search", r#"{"q":"alpha"}"#, 200, &[said])];

    check(
        asked(r#"{"milestone":null}"#),
        asked(r#"{"milestone":{"n":1}}"#),
        &["unproven type-new: `milestone` can be `{n: integer}`"],
    );
}

#[test]
fn a_request_that_is_refused_for_another_reason_breaks_also_where_others_are() {
    let refused = |status: u16| {
        vec![exchange("/state", ASKED, status, &["{}"]), exchange("/state", OTHER, 400, &["{}"])]
    };

    let what = "a request that was refused with 404 is refused with 400";
    check(refused(404), refused(400), &[&format!("breaking request-refused: {what}")]);
    // How busy a server is, it may say now and then.
    let told = told(&compared(&side(refused(429)), &side(refused(400))));
    assert!(!told.iter().any(|it| it.contains("request-refused")), "{told:?}");
}

#[test]
fn a_call_that_comes_to_an_error_now_breaks() {
    let call = |number: u32, said: &str| {
        let id = format!(r#""jsonrpc":"2.0","id":{number}"#);
        let asked = format!(r#"{{{id},"method":"tools/call","params":{{"n":{number}}}}}"#);
        exchange("/mcp", &asked, 200, &[&format!("{{{id},{said}}}")])
    };
    let [result, error] = [r#""result":{"ok":true}"#, r#""error":{"code":-32602,"message":"no"}"#];
    let before = || vec![call(1, result), call(2, error)];
    let what = "a call that was answered with a result is answered with an error";

    let is_told = |it: Report| told(&it).contains(&format!("breaking request-refused: {what}"));

    assert!(is_told(compared(&side(before()), &side(vec![call(1, error), call(2, error)]))));
    check(before(), before(), &[]);
    check(before(), vec![call(1, result), call(2, result)], &[]);
    // Version 1.0 has both members in each answer.
    let older = vec![call(1, r#""result":{"ok":true},"error":null"#)];
    let failed = vec![call(1, r#""result":null,"error":{"code":1}"#)];
    assert!(is_told(compared(&side(older.clone()), &side(failed))));
    check(older.clone(), older, &[]);
    // A tool of MCP fails by what its result says.
    let ping = || {
        let asked = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        exchange("/mcp", asked, 200, &[r#"{"jsonrpc":"2.0","id":7,"result":{}}"#])
    };
    let worked = || vec![ping(), call(1, r#""result":{"content":[]}"#)];
    let failed = || vec![ping(), call(1, r#""result":{"content":[],"isError":true}"#)];
    assert!(is_told(compared(&side(worked()), &side(failed()))));
    assert!(!is_told(compared(&side(failed()), &side(worked()))));
    let accepted = |recorded: Vec<Interaction>, new: Vec<Interaction>| {
        told(&checked(&side(recorded), &side(new)))
    };
    assert!(accepted(worked(), failed()).iter().any(|it| it.ends_with(what)));
    assert!(!accepted(failed(), failed()).iter().any(|it| it.ends_with(what)));
}

#[test]
fn what_a_client_answers_to_its_server_is_no_request() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"text":"short"}}"#;
    let said = |asked: &[&str]| -> Vec<Interaction> {
        asked.iter().map(|asked| exchange("/mcp", asked, 200, &["{}"])).collect()
    };

    check(said(&[call, answer]), said(&[call]), &[]);
    check(said(&[call]), said(&[call, answer]), &[]);
}

#[test]
fn a_word_that_another_one_replaces_is_told_with_it() {
    let said = |word: &str| -> Vec<Interaction> {
        let answer = |number: usize| {
            let word = if number.is_multiple_of(2) { word } else { "tool_calls" };
            let asked = format!(r#"{{"n":"{number}"}}"#);
            exchange("/chat", &asked, 200, &[&format!(r#"{{"finish_reason":"{word}"}}"#)])
        };
        (0..12).map(answer).collect()
    };

    let what = "`finish_reason` can be `\"end\"`, and is never `stop` any more";
    check(said("stop"), said("end"), &[&format!("breaking value-new: {what}")]);
}

#[test]
fn what_a_tool_of_an_mcp_server_does_not_take_any_more_is_told() {
    let lists = |schema: &str| {
        let said = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"find","inputSchema":{schema}}}]}}}}"#
        );
        vec![exchange("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 200, &[&said])]
    };
    let schema = |limit: &str, required: &str| {
        let q = r#""q":{"type":"string"}"#;
        format!(r#"{{"type":"object","properties":{{{q}{limit}}},"required":[{required}]}}"#)
    };
    let [number, integer, text] = ["number", "integer", "string"]
        .map(|name| format!(r#","limit":{{"type":"{name}","default":3}}"#));
    let before = || lists(&schema(&integer, r#""q""#));
    let told = |now: String| {
        let told = told(&compared(&side(before()), &side(lists(&now))));
        told.into_iter().filter(|it| it.contains("listed-")).collect::<Vec<_>>()
    };

    assert_eq!(
        told(schema(&integer, r#""q","limit""#)),
        ["breaking listed-narrower: the tool `find` cannot be called without `limit` any more"]
    );
    assert_eq!(
        told(schema(&text, r#""q""#)),
        [
            "breaking listed-narrower: the tool `find` takes `limit` as `string`, not as `integer` any more"
        ]
    );
    assert_eq!(
        told(schema("", r#""q""#)),
        ["unproven listed-narrower: the tool `find` does not list the argument `limit` any more"]
    );
    for harmless in [schema(&number, r#""q""#), schema(&integer, ""), schema(&integer, r#""q""#)] {
        assert_eq!(told(harmless), [""; 0]);
    }
    let nested = |name: &str| {
        integer
            .replace("integer", "object")
            .replace("\"default\":3", &format!(r#""properties":{{"n":{{"type":"{name}"}}}}"#))
    };
    let report = compared(
        &side(lists(&schema(&nested("string"), ""))),
        &side(lists(&schema(&nested("boolean"), ""))),
    );
    assert_eq!(
        super::told(&report),
        [
            "breaking listed-narrower: the tool `find` takes `limit.n` as `boolean`, not as `string` any more"
        ]
    );
    // What the schemas of all tools have in common says nothing of any.
    let other = schema(&text, r#""q""#).replace("default", "maximum");
    let report = compared(&side(before()), &side(lists(&other)));
    assert!(report.changes.iter().all(|it| it.rule == Rule::ListedNarrower), "{report:?}");
}

#[test]
fn a_tool_that_an_mcp_server_lists_no_more_is_named() {
    let lists = |names: &[&str]| {
        let tools: Vec<String> = names.iter().map(|it| format!(r#"{{"name":"{it}"}}"#)).collect();
        let said =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        vec![exchange("/mcp", asked, 200, &[&said])]
    };

    check(
        lists(&["add", "echo", "plot"]),
        lists(&["plot", "sum"]),
        &[
            "breaking listed-gone: the tool `add` is not listed any more",
            "breaking listed-gone: the tool `echo` is not listed any more",
        ],
    );
    check(
        lists(&["add", "echo", "find", "go", "plot", "sum"]),
        lists(&["sum"]),
        &[
            "breaking listed-gone: 5 tools are not listed any more: `add`, `echo`, `find` and 2 more",
        ],
    );

    // Resources may be made anew in each run.
    let resources = |names: [&str; 2]| -> Vec<_> {
        let each = names.iter().enumerate().map(|(number, name)| {
            let said = format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"resources":[{{"name":"guide"}},{{"name":"{name}"}}]}}}}"#
            );
            let said = if *name == "new" { said.replace("guide", "other") } else { said };
            let asked = r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#;
            let interactions = vec![exchange("/mcp", asked, 200, &[&said])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("r{number}")).unwrap(), cassette)
        });
        each.collect()
    };
    let told = |old, new| super::told(&compared(&resources(old), &resources(new)));
    assert_eq!(told(["a-1", "b-2"], ["c-3", "d-4"]), [""; 0]);
    let gone = "breaking listed-gone: the resource `guide` is not listed any more";
    assert_eq!(told(["a-1", "b-2"], ["c-3", "new"]), [gone]);

    // What every list of five recordings had is promised.
    let recorded = |count: usize, names: &[&str]| -> Vec<_> {
        let each = |number| (Name::new(format!("talk-{number}")).unwrap(), lists(names));
        let cassette = |interactions| Cassette { interactions, ..Cassette::default() };
        (0..count).map(each).map(|(name, it)| (name, cassette(it))).collect()
    };
    let all = ["add", "echo", "plot"];
    let of_contract = |count, old: &[&str], new: &[&str]| {
        let mut again = recorded(count, old);
        again[0] = recorded(1, new).remove(0);
        let report = checked(&recorded(count, old), &again);
        super::told(&report).into_iter().filter(|it| !it.starts_with("trim")).collect::<Vec<_>>()
    };
    // One more is no news, however many recordings knew the others.
    let more = compared(&recorded(12, &all), &recorded(12, &["add", "echo", "plot", "sum"]));
    assert_eq!(super::told(&more), [""; 0]);
    let more = checked(&recorded(12, &all), &recorded(12, &["add", "echo", "plot", "sum"]));
    assert_eq!(super::told(&more), [""; 0]);
    let gone = ["breaking listed-gone: the tool `echo` is not listed any more"];
    assert_eq!(of_contract(5, &all, &["plot", "add", "sum"]), gone);
    assert_eq!(of_contract(5, &all, &["sum", "plot", "echo", "add"]), [""; 0]);
    assert_eq!(of_contract(5, &["echo"], &[]), gone);
    assert_eq!(of_contract(4, &all, &["plot", "add"]), [""; 0]);
    let mut several = recorded(5, &all);
    several[4] = recorded(5, &["add"]).remove(4);
    assert_eq!(super::told(&checked(&several, &recorded(5, &["add"]))), [""; 0]);
    let mut page = recorded(1, &["plot"]);
    let first = &mut page[0].1.interactions[0];
    *first = exchange(
        "/mcp",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        200,
        &[r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"plot"}],"nextCursor":"b7"}}"#],
    );
    let report = checked(&recorded(5, &all), &page);
    assert!(report.changes.iter().all(|it| it.rule != Rule::ListedGone), "{report:?}");
}

#[test]
fn what_clients_send_is_judged_the_other_way_round() {
    let asked = |body: &str| vec![exchange("/state", body, 200, &["{}"])];

    check(
        asked(r#"{"a":1}"#),
        asked(r#"{"a":1,"b":2}"#),
        &[
            "unproven request-required: all requests say `b` now, which could be missing",
            "compatible request-wider: requests say `b`: `integer`",
        ],
    );
    check(
        asked(r#"{"a":1,"b":2}"#),
        asked(r#"{"a":1}"#),
        &[
            "unproven request-narrower: requests say no `b` any more",
            "compatible request-wider: requests need not say `b`",
        ],
    );
}

#[test]
fn what_tied_messages_together_and_does_not_any_more_is_told() {
    let stream = |other: &str| {
        let run = |run: usize| {
            let said = |kind: &str, of: &str| {
                let id = format!("run-0f8fad5b-d9cb-469f-a165-708677289{run}{of}");
                format!(r#"{{"run_id":"{id}","type":"{kind}"}}"#)
            };
            let said = [said("thought", "00"), said("question", other), said("done", "00")];
            exchange("/chat", ASKED, 200, &said.each_ref().map(String::as_str))
        };
        (0..8).map(run).collect::<Vec<_>>()
    };

    let report = compared(&side(stream("00")), &side(stream("77")));
    assert_eq!(
        told(&report),
        ["breaking invariant-broken: `run_id constant` does not hold any more",]
    );
}

/// The recordings of a real server, and a change of their texts.
fn letta(change: impl Fn(&str) -> String) -> Side {
    let folder = tempfile::tempdir().unwrap();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta/hitl");
    for file in std::fs::read_dir(recorded).unwrap() {
        let file: PathBuf = file.unwrap().path();
        let text = change(&std::fs::read_to_string(&file).unwrap());
        std::fs::write(folder.path().join(file.file_name().unwrap()), text).unwrap();
    }
    load_side(folder.path(), &Name::new("unused").unwrap()).unwrap()
}

/// Other identifiers and times, as another run of the same server has them. What was different stays
/// different.
fn again(text: &str) -> String {
    let ids = regex::Regex::new("-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
    let other = |found: &regex::Captures<'_>| -> String {
        let next = |digit: char| match digit.to_digit(16) {
            Some(digit) => char::from_digit((digit + 7) % 16, 16).unwrap(),
            None => digit,
        };
        found[0].chars().map(next).collect()
    };
    ids.replace_all(text, other).replace("2026-11-21T", "2026-12-24T")
}

fn without_usage(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.contains(r#""message_type": "usage_statistics""#));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_unchanged_server_that_is_recorded_again_changes_nothing() {
    let (old, new) = (letta(str::to_owned), letta(again));
    assert_ne!(old.cassettes, new.cassettes);

    let report = compared(&old.cassettes, &new.cassettes);

    assert_eq!(told(&report), [""; 0]);
    let changed: Vec<_> =
        report.cassettes.iter().map(|pair| &pair.interactions[0].differences).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn fingerprints_stay_when_a_change_is_recorded_again() {
    let old = letta(str::to_owned);
    let fingerprints = |new: &Side| {
        let report = compared(&old.cassettes, &new.cassettes);
        report.changes.iter().map(|change| change.fingerprint.clone()).collect::<Vec<_>>()
    };

    let first = fingerprints(&letta(without_usage));
    let second = fingerprints(&letta(|text| again(&without_usage(text))));

    assert!(!first.is_empty());
    assert_eq!(first, second);
}

#[test]
fn a_cassette_that_changed_shows_old_and_new_side_by_side() {
    let (old, new) = (letta(str::to_owned), letta(without_usage));

    let report = compared(&old.cassettes, &new.cassettes);

    let pair = report.cassettes.iter().find(|pair| pair.name == "approve_tokens").unwrap();
    assert_eq!((pair.state, pair.same), (State::Kept, 13));
    let interaction = &pair.interactions[0];
    let tags = |exchange: &Exchange| -> Vec<String> {
        exchange.trace.iter().map(|mark| mark.tag.clone()).collect()
    };
    let (was, is) = (interaction.old.as_ref().unwrap(), interaction.new.as_ref().unwrap());
    assert_eq!(tags(was).len(), tags(is).len() + 1);
    assert!(was.trace.iter().all(|mark| mark.first_ms <= mark.last_ms && mark.last_ms > 0));
    assert_eq!(interaction.differences[0].at, "trace");
}

fn named(name: &str, all: &[(Name, Cassette)]) -> Vec<(Name, Cassette)> {
    let all = all.iter().map(|(own, it)| (Name::new(name.replace("{}", own.as_str())), it));
    all.map(|(name, it)| (name.unwrap(), it.clone())).collect()
}

#[test]
fn cassettes_that_moved_are_told_once_and_compared_with_what_they_were() {
    let (old, new) = (letta(str::to_owned), letta(|text| again(&without_usage(text))));
    let there = named("there/{}", &new.cassettes);

    let report = compared(&old.cassettes, &there);

    assert_eq!(told(&report), told(&compared(&old.cassettes, &new.cassettes)));
    assert_eq!(report.moved.len(), old.cassettes.len());
    assert!(report.moved.iter().all(|it| it.to == format!("there/{}", it.from)));
    assert!(report.cassettes.iter().all(|pair| pair.state == State::Kept));
    let moved = compared(&old.cassettes, &named("there/{}", &old.cassettes));
    for report in [report, moved] {
        let text = changes(&report, Face::Text, Colour::Plain);
        assert_eq!(text.matches(" moved: ").count(), 1, "{text}");
    }
}

#[test]
fn a_cassette_that_is_called_otherwise_moved_if_no_other_asks_the_same() {
    let of = |paths: &[&str]| {
        let all = paths.iter().map(|path| exchange(path, ASKED, 200, &["{}"])).collect();
        side(all)
    };
    let moved = |old: &[(Name, Cassette)], new: &[(Name, Cassette)]| -> Vec<String> {
        let report = compared(old, new);
        report.moved.iter().map(|it| format!("{} {}", it.from, it.to)).collect()
    };
    let (talk, call) = (of(&["/chat", "/runs/17"]), named("call", &of(&["/chat", "/runs/18"])));

    assert_eq!(moved(&talk, &call), ["talk call"]);
    assert_eq!(moved(&talk, &named("call", &of(&["/chat"]))), [""; 0]);
    assert_eq!(moved(&talk, &[talk.clone(), call.clone()].concat()), [""; 0]);
    let two = [call.clone(), named("phone", &call)].concat();
    assert_eq!(moved(&talk, &two), [""; 0]);
    assert_eq!(moved(&talk, &[two, named("a/{}", &talk)].concat()), ["talk a/talk"]);
    // Of several that ask alike, those that are the same.
    let renamed = [named("b", &talk), named("a", &call)].concat();
    assert_eq!(moved(&[talk, call].concat(), &renamed), ["call a", "talk b"]);
}

/// A question and its answer.
fn question(path: &str, said: &str) -> Interaction {
    let mut question = exchange(path, "", 200, &[said]);
    question.request.method = "GET".to_owned();
    question
}

/// What is told of the one cassette: how many interactions are the same, and the others.
#[track_caller]
fn check_beside(old: Vec<Interaction>, new: Vec<Interaction>, expected: &[&str]) {
    let report = compared(&side(old), &side(new));
    let mut beside = Vec::new();
    for pair in &report.cassettes {
        beside.push(format!("{} same", pair.same));
        beside.extend(pair.interactions.iter().map(|interaction| {
            let shown = |sign: &str, it: &Exchange| format!("{sign}{} {}", it.number, it.path);
            let sides = [("-", &interaction.old), ("+", &interaction.new)];
            let sides = sides.map(|(sign, it)| it.as_ref().map(|it| shown(sign, it)));
            let at = interaction.differences.iter().map(|difference| difference.at.clone());
            sides.into_iter().flatten().chain(at).collect::<Vec<_>>().join(" ")
        }));
    }
    assert_eq!(beside, expected);
}

/// A run of an agent: it is started, asked for until it is done, and told about.
fn run(id: &str, polls: usize) -> Vec<Interaction> {
    let path = format!("/runs/run-{id}");
    let state = |said: &str| format!(r#"{{"id":"run-{id}","status":"{said}"}}"#);
    let mut all = vec![exchange("/runs", ASKED, 200, &[&state("created")])];
    all.extend((0..polls).map(|_| question(&path, &state("running"))));
    all.push(question(&path, &state("done")));
    all.push(exchange(&format!("{path}/close"), "{}", 200, &[r#"{"closed":true}"#]));
    all
}

const FIRST: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
const SECOND: &str = "0c9df04e-5c1b-4a7e-8f4b-2b0a3f5f7d11";
const THIRD: &str = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d";
const FOURTH: &str = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";

#[test]
fn a_request_that_was_put_in_is_told_alone() {
    let (was, mut is) = (run(FIRST, 1), run(SECOND, 1));
    is.insert(2, question("/tools", "[]"));

    check_beside(was.clone(), is.clone(), &["4 same", "+3 /tools"]);
    check_beside(is, was, &["4 same", "-3 /tools"]);
}

#[test]
fn one_like_others_that_was_put_in_is_told_alone() {
    let talk = |said: &[&str]| -> Vec<Interaction> {
        said.iter()
            .map(|said| {
                let asked = format!(r#"{{"messages":[{{"role":"user","content":"{said}"}}]}}"#);
                let [begin, end] = [r#"{"type":"answer"}"#, r#"{"type":"done"}"#];
                exchange("/chat", &asked, 200, &[begin, end])
            })
            .collect()
    };

    check_beside(
        talk(&["hello", "what now", "bye"]),
        talk(&["hello", "wait a moment", "what now", "bye"]),
        &["3 same", "+2 /chat"],
    );
}

#[test]
fn one_more_poll_is_told_as_that() {
    check_beside(run(FIRST, 2), run(SECOND, 2), &[]);
    check_beside(
        run(FIRST, 2),
        run(SECOND, 3),
        &["5 same", "+4 /runs/run-0c9df04e-5c1b-4a7e-8f4b-2b0a3f5f7d11"],
    );
}

#[test]
fn requests_at_once_may_come_in_another_order() {
    let weather = |town: &str, said: &str| {
        exchange("/weather", &format!(r#"{{"town":"{town}"}}"#), 200, &[said])
    };
    let (one, other) = (weather("Oslo", r#"{"is":"snow"}"#), weather("Rome", r#"{"is":"sun"}"#));

    check_beside(vec![one.clone(), other.clone()], vec![other.clone(), one.clone()], &[]);
    check_beside(
        vec![one, other.clone()],
        vec![other, weather("Oslo", r#"{"is":"rain"}"#)],
        &["1 same", "-1 /weather +2 /weather answer /is"],
    );
}

#[test]
fn names_are_no_change_wherever_dashes_and_underscores_fall() {
    let talk = |names: [&str; 3]| -> Vec<Interaction> {
        let said = |name: &str| format!(r#"{{"id":"{name}","status":"idle"}}"#);
        let asked = |name: &&str| {
            let path = format!("/threads/{name}/runs");
            [exchange("/threads", ASKED, 200, &[&said(name)]), exchange(&path, "{}", 200, &["{}"])]
        };
        names.iter().flat_map(asked).collect()
    };
    let old = ["thread_PIgx80q2B2mkZei2", "thread_Qm3x80q2B2mkZeAb", "thread_9pKqLm2XvT8nRw4Y"];
    let new = ["thread_AB_x80q2B2mk-ei2", "thread_Q-Xx80q2B2mkab_7", "thread_x80-2B2mk_bCdefg"];

    check(talk(old), talk(new), &[]);
    check_beside(talk(old), talk(new), &[]);
    check(talk(new), talk(old), &[]);
}

#[test]
fn what_refers_to_another_thing_than_before_is_told() {
    let talk = |ids: [&str; 2], chosen: &str| {
        let said = ["call", "queued", "waiting"]
            .map(|kind| ids.map(|id| format!(r#"{{"type":"{kind}","call_id":"call_{id}"}}"#)));
        let said: Vec<&str> = said.iter().flatten().map(String::as_str).collect();
        let asked = format!(r#"{{"call_id":"call_{chosen}"}}"#);
        let done = format!(r#"{{"ran":"call_{chosen}"}}"#);
        vec![exchange("/chat", ASKED, 200, &said), exchange("/approve", &asked, 200, &[&done])]
    };
    let (old, new) = ([FIRST, SECOND], [THIRD, FOURTH]);

    check_beside(talk(old, FIRST), talk(new, THIRD), &[]);
    check_beside(
        talk(old, FIRST),
        talk(new, FOURTH),
        &["1 same", "-2 /approve +2 /approve request /call_id answer /ran"],
    );
}

/// Refusals with these header fields.
fn refusals(fields: &[(&str, &str)]) -> Vec<Interaction> {
    let refusal = |number: usize| {
        let mut refusal = exchange("/chat", &asked(number), 429, &[r#"{"detail":"later"}"#]);
        let Outcome::Response(response) = &mut refusal.outcome else { panic!("{refusal:?}") };
        fields.iter().for_each(|(name, value)| response.headers.append(name, (*value).to_owned()));
        refusal
    };
    (0..6).map(refusal).collect()
}

#[test]
fn a_header_field_that_clients_go_by_is_promised() {
    let before = || refusals(&[("retry-after", "3"), ("server", "one"), ("date", "today")]);

    check(before(), refusals(&[("retry-after", "30"), ("server", "two")]), &[]);
    check(
        before(),
        refusals(&[]),
        &["breaking field-missing: the header field `retry-after` is gone, which was always there"],
    );
    check(
        before(),
        refusals(&[("retry-after", "soon")]),
        &["breaking type-new: the header field `retry-after` can be `string`"],
    );
    check(refusals(&[]), before(), &[]);
}

#[test]
fn a_header_field_that_a_client_sends_back_is_promised() {
    let talk = |name: &str| -> Vec<Interaction> {
        let turn = |number: usize| {
            let session = format!("5e0ad3a1-77f4-4f0e-9c3b-1d2e3f4a5b{number:02}");
            let mut opened = exchange("/open", &asked(number), 200, &["{}"]);
            let Outcome::Response(response) = &mut opened.outcome else { panic!("{opened:?}") };
            response.headers.append(name, session.clone());
            let mut next = exchange("/next", &asked(number), 200, &["{}"]);
            next.request.headers.append("x-talk", session);
            [opened, next]
        };
        (0..6).flat_map(turn).collect()
    };

    check(talk("x-talk"), talk("x-talk"), &[]);
    check(
        talk("x-talk"),
        talk("x-words"),
        &["breaking field-missing: the header field `x-talk` is called `x-words` now"],
    );
    check(
        talk("etag"),
        talk("access-control-allow-origin"),
        &[
            "breaking field-missing: the header field `etag` is gone, which was always there",
            "compatible field-new: the header field `access-control-allow-origin` is new: `uuid`",
        ],
    );
}

#[test]
fn a_list_that_is_filled_now_in_all_recordings_is_another_value() {
    let talk = |said: &str| (0..8).map(|it| exchange("/a", &asked(it), 200, &[said])).collect();
    let told_of_lists = "unproven type-new: `tools[]` can be `{name: string}`";

    check(talk(r#"{"tools":[]}"#), talk(r#"{"tools":[{"name":"x"}]}"#), &[told_of_lists]);

    let (old, new) = (side(talk(r#"{"tools":[]}"#)), side(talk(r#"{"tools":[{"name":"x"}]}"#)));
    let report = checked(&old, &new);
    assert_eq!(told(&report), [told_of_lists]);
    assert!(!report.fails());
}

#[test]
fn a_reference_to_what_never_came_is_told() {
    let call = "call_7QpYk2Lz9vTn4RbX";
    let talk = |referred: &str| {
        let called = format!(r#"{{"type":"call","id":"{call}"}}"#);
        let returned = format!(r#"{{"type":"return","call_id":"{referred}","of":"{call}"}}"#);
        side(vec![exchange("/chat", ASKED, 200, &[&called, &returned])])
    };

    let report = compared(&talk(call), &talk("call_Zz81kQ0pLm3nVb6X"));

    let differences = &report.cassettes[0].interactions[0].differences;
    let at: Vec<&str> = differences.iter().map(|it| it.at.as_str()).collect();
    assert_eq!(at, ["message 2 /call_id"]);
}

#[test]
fn what_was_accepted_and_is_not_recorded_any_more_is_told_as_check_tells_it() {
    let talk = |status: u16| {
        side((0..6).map(|it| exchange("/a", &asked(it), status, &[r#"{"x":1}"#])).collect())
    };
    let (old, new) = (talk(201), talk(200));
    let accepted = learned(&old);
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &accepted };

    let diff = compare(known("old", &old), known("new", &new));
    let checked = change::check(&Protocols::default(), known("new", &new)).report;

    let fingerprints = |report: &Report| -> Vec<String> {
        report.changes.iter().map(|change| change.fingerprint.clone()).collect()
    };
    assert_eq!(told(&diff), told(&checked));
    assert_eq!(fingerprints(&diff), fingerprints(&checked));
    assert!(told(&diff)[0].ends_with("it answers 200, and not 201 any more"), "{:?}", told(&diff));
}

/// The contracts that recordings teach.
pub(super) fn learned(recorded: &[(Name, Cassette)]) -> Vec<Contract> {
    let traffic = Traffic::of(&Protocols::default(), &[], recorded.iter().map(|(n, it)| (n, it)));
    let found = contract::check(&traffic, &[]);
    found.iter().filter_map(|finding| finding.proposed().cloned()).collect()
}

#[test]
fn streams_that_lose_what_some_of_them_ended_with_break_the_contract() {
    let streams = ["ask stop", "tick tick stop", "tick cancelled"];
    let talk = |end: fn(&&str) -> bool| -> Vec<(Name, Cassette)> {
        let turn = |number: usize| {
            let tags = streams[number % streams.len()].split(' ').filter(end);
            let said: Vec<String> = ["start"]
                .into_iter()
                .chain(tags)
                .map(|it| format!(r#"{{"type":"{it}"}}"#))
                .collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange("/chat", &asked(number), 200, &said)
        };
        side((0..9).map(turn).collect())
    };
    let told_of = |old: &[(Name, Cassette)], new: &[(Name, Cassette)]| told(&checked(old, new));
    let whole = talk(|_| true);

    assert_eq!(told_of(&whole, &whole), <[&str; 0]>::default());
    let lost = talk(|tag| !["stop", "cancelled"].contains(tag));
    assert_eq!(
        told_of(&whole, &lost),
        [
            "breaking tag-gone: `stop` messages are not seen any more",
            "trim tag-gone: `cancelled` messages are not seen any more"
        ]
    );
    let half = talk(|tag| *tag != "cancelled");
    assert_eq!(
        told_of(&whole, &half),
        [
            "unproven order-end-new: the stream ends after `tick` with no `cancelled` or `stop`",
            "trim tag-gone: `cancelled` messages are not seen any more"
        ]
    );
}

/// A stream in a cassette of its own, for each of some requests.
fn talks(from: usize, count: usize, said: &[&str]) -> Vec<(Name, Cassette)> {
    let said: Vec<String> = said.iter().map(|it| format!(r#"{{"type":"{it}"}}"#)).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let one = |number: usize| {
        let name = Name::new(format!("talk-{number}")).unwrap();
        let interactions = vec![exchange("/chat", &asked(number), 200, &said)];
        (name, Cassette { interactions, ..Cassette::default() })
    };
    (from..from + count).map(one).collect()
}

#[test]
fn what_all_new_recordings_show_is_proved_by_three_against_three() {
    for (count, verdict) in [(2, Verdict::Unproven), (3, Verdict::Breaking)] {
        let old = talks(0, count, &["start", "stop"]);
        let report = compared(&old, &talks(10, count, &["start", "thought", "stop"]));

        assert_eq!(report.changes[0].verdict, verdict, "{count}: {:?}", told(&report));
    }
}

#[test]
fn an_end_that_is_lost_breaks_and_another_end_may_have_been_possible() {
    let accepted = learned(&talks(0, 3, &["start", "part", "stop"]));
    for (said, is_broken) in [
        (["start", "part"].as_slice(), true),
        (&["start", "part", "failed"], false),
        (&["start", "failed"], false),
    ] {
        let report = checked_by(&accepted, &talks(10, 1, said));

        let is_breaking = report.changes.iter().any(|it| it.verdict == Verdict::Breaking);
        assert_eq!(is_breaking, is_broken, "{said:?}: {:?}", told(&report));
    }
}

#[test]
fn what_each_scenario_has_lost_is_proved_by_two_of_the_same() {
    let scenarios = |from: usize, said: [&str; 2]| -> Vec<(Name, Cassette)> {
        let one = |(number, said): (usize, &str)| {
            let name = Name::new(format!("talk-{}", from + number)).unwrap();
            let interactions = vec![exchange("/chat", &asked(number), 200, &[said])];
            (name, Cassette { interactions, ..Cassette::default() })
        };
        said.into_iter().enumerate().map(one).collect()
    };
    let [whole, again, lost] =
        [r#"{"items":[],"total":1}"#, r#"{"items":[],"total":2}"#, r#"{"items":[]}"#];
    let old = scenarios(0, [whole, whole]);

    for (from, said, verdict) in [
        (0, [lost, lost], Verdict::Breaking),
        (0, [lost, again], Verdict::Unproven),
        (10, [lost, lost], Verdict::Unproven),
    ] {
        let report = compared(&old, &scenarios(from, said));

        assert_eq!(report.changes[0].verdict, verdict, "{said:?}: {:?}", told(&report));
    }
}

#[test]
fn numbers_that_moved_with_the_clock_are_no_difference() {
    let side = |at: &str, started: u64, size: u64| {
        let said = format!(r#"{{"kwargs":{{"__started__":{started}}},"size":{size}}}"#);
        let mut side = side(vec![exchange("/runs", ASKED, 200, &[&said])]);
        side[0].1.recorded.at = at.to_owned();
        side
    };
    let places = |old: &[(Name, Cassette)], new: &[(Name, Cassette)]| {
        let report = compared(old, new);
        let pairs = report.cassettes.iter().flat_map(|it| &it.interactions);
        pairs.flat_map(|it| &it.differences).map(|it| it.at.clone()).collect::<Vec<_>>()
    };
    let old = side("2026-11-21T09:00:00Z", 1_795_251_600_123, 1_795_251_600);

    let moved = side("2026-11-22T09:00:00Z", 1_795_338_000_456, 1_795_251_600);
    assert_eq!(places(&old, &moved), [""; 0]);
    // One that is of another day is a difference.
    let other = side("2026-11-22T09:00:00Z", 1_700_000_000_456, 1_795_251_600);
    assert_eq!(places(&old, &other), ["answer /kwargs/__started__"]);
    let other = side("2026-11-22T09:00:00Z", 1_795_338_000_456, 2_017);
    assert_eq!(places(&old, &other), ["answer /size"]);
}
