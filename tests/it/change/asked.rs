//! What is told where the same scenarios ask the same, and other things are answered.

use std::collections::BTreeSet;

use retape::cassette::{Interaction, Outcome};
use retape::review::change::{Change, Report};
use retape::{Cassette, Name};

use super::recordings::{compared, exchange};
use super::state::{Side, apart};
use super::told;

const WORDS: [&str; 10] =
    ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"];

fn get(path: &str, status: u16, said: &str) -> Interaction {
    let mut got = exchange(path, "", status, &[said]);
    got.request.method = "GET".to_owned();
    got
}

fn with_header(mut interaction: Interaction, name: &str, value: &str) -> Interaction {
    if let Outcome::Response(response) = &mut interaction.outcome {
        response.headers.set(name, value.to_owned());
    }
    interaction
}

/// So many cassettes for each question.
fn each<const N: usize>(count: usize, ask: impl Fn(usize, usize) -> Interaction) -> Side {
    apart("r", (0..count * N).map(|at| ask(at / N, at % N)))
}

/// The names of the cassettes that show a change.
fn shown(change: &Change) -> BTreeSet<&str> {
    change.witnesses.iter().flat_map(|it| it.cassettes.iter().map(String::as_str)).collect()
}

fn open(report: &Report) -> Vec<String> {
    let mut told = told(report);
    told.retain(|it| it.starts_with("breaking") || it.starts_with("unproven"));
    told
}

#[test]
fn another_form_counts_over_all_questions_that_always_got_the_same() {
    const QUESTIONS: [&str; 4] =
        ["size=", "sort=price&size=", "facet=kind&size=", "shape=objects&size="];
    let side = |count: usize, is_new: bool| {
        each::<4>(count, |number, which| {
            let question = QUESTIONS[which];
            let row = match is_new || question.starts_with("shape") {
                true => format!(r#"{{"id":{number},"name":"thing {which}"}}"#),
                false => format!(r#"[{number},"thing {which}"]"#),
            };
            get(&format!("/t?{question}{number}"), 200, &format!(r#"{{"rows":[{row}]}}"#))
        })
    };

    for count in [3, 10] {
        let report = compared(&side(count, false), &side(count, true));

        let what = "`rows[]` is an object where the same is asked, and always was a list";
        assert_eq!(told(&report), [format!("breaking type-new: {what}")], "{count}");
        assert_eq!(shown(&report.changes[0]).len(), 3 * count);
    }
}

#[test]
fn a_type_of_message_that_several_questions_always_got_counts_over_all_of_them() {
    let side = |is_new: bool| {
        each::<4>(3, |number, which| {
            let asked =
                format!(r#"{{"q":"{} {number}"}}"#, ["red", "blue", "green", "none"][which]);
            let (begun, note, end) =
                (r#"{"type":"begun"}"#, r#"{"type":"note"}"#, r#"{"type":"end"}"#);
            match is_new || which == 3 {
                true => exchange("/chat", &asked, 200, &[begun, end]),
                false => exchange("/chat", &asked, 200, &[begun, note, end]),
            }
        })
    };

    let told = open(&compared(&side(false), &side(true)));

    let what = "`note` messages are gone where the same is asked, and always came";
    assert_eq!(told, [format!("breaking tag-gone: {what}")]);
}

#[test]
fn what_only_some_requests_get_and_do_not_get_any_more_is_told() {
    let side = |count: usize, is_new: bool| {
        each::<3>(count, |number, which| {
            let question = ["page=", "q=", "author="][which];
            let got = get(&format!("/t?{question}{number}"), 200, &format!(r#"{{"n":{number}}}"#));
            match !is_new && which == 0 {
                true => with_header(got, "x-total-count", "8"),
                false => got,
            }
        })
    };
    let what = "the header field `x-total-count` is gone where the same is asked, and always came";

    for (count, verdict) in [(3, "unproven"), (10, "breaking")] {
        let told = told(&compared(&side(count, false), &side(count, true)));

        assert_eq!(told, [format!("{verdict} field-missing: {what}")]);
    }
}

#[test]
fn what_comes_where_it_is_asked_for_is_gone_once() {
    let side = |is_new: bool| {
        each::<3>(10, |number, which| {
            let question = ["page=", "q=", "author="][which];
            let next = match !is_new && which == 0 {
                true => format!(r#","next":"/t?page={}""#, number + 1),
                false => String::new(),
            };
            get(&format!("/t?{question}{number}"), 200, &format!(r#"{{"n":{}{next}}}"#, number * 7))
        })
    };

    let told = told(&compared(&side(false), &side(true)));

    let what = "`next comes with request.page` does not hold any more";
    assert_eq!(told, [format!("breaking invariant-broken: {what}")]);
}

/// What calls of ten kinds are refused with, before and now.
const CODES: [(&str, [i64; 2]); 10] = [
    ("bad_body", [-32700, -32700]),
    ("bad_params", [-32600, -32602]),
    ("cancel_done", [-32603, -32002]),
    ("cont_done", [-32602, -32602]),
    ("no_method", [-32600, -32601]),
    ("no_task", [-32001, -32001]),
    ("no_task_c", [-32001, -32001]),
    ("push", [-32603, -32603]),
    ("raises", [-32603, -32603]),
    ("wrong_ctx", [-32602, -32602]),
];

/// Calls by JSON-RPC with the codes that they are refused with, and one that is answered.
fn calls(count: usize, code: impl Fn(usize, usize) -> i64) -> Side {
    each::<11>(count, |number, which| {
        let (kind, _) = CODES.get(which).unwrap_or(&("ok", [0; 2]));
        let method = match *kind {
            "cancel_done" | "no_task_c" => "tasks/cancel",
            "no_method" => "message/nope",
            "no_task" => "tasks/get",
            "push" => "push/set",
            _ => "message/send",
        };
        let about = format!("{kind}-{}", WORDS[number % WORDS.len()]);
        let asked = format!(
            r#"{{"jsonrpc":"2.0","id":"1","method":"{method}","params":{{"x":"{about}"}}}}"#
        );
        let said = match *kind {
            "ok" => format!(r#""result":{{"kind":"task","id":"{about}"}}"#),
            _ => {
                let code = code(number, which);
                format!(r#""error":{{"code":{code},"message":"{kind}"}}"#)
            }
        };
        exchange("/", &asked, 200, &[&format!(r#"{{"jsonrpc":"2.0","id":"1",{said}}}"#)])
    })
}

#[test]
fn a_code_that_took_the_place_of_another_is_told_though_both_are_known() {
    let before = calls(10, |_, which| CODES[which].1[0]);

    let report = compared(&before, &calls(10, |_, which| CODES[which].1[1]));

    let said = "(in answers of the kind `error`)";
    let mut told = open(&report);
    told.sort();
    let new = |code: i64| {
        format!(
            "breaking value-new: `error.code` can be `{code}` {said}, and is never `-32600` any more"
        )
    };
    let other = "breaking value-other: `error.code` is `-32602` where the same is asked, and was";
    assert_eq!(told, [new(-32002), new(-32601), format!("{other} `-32600` {said}")]);
}

#[test]
fn codes_that_change_in_both_directions_are_up_to_the_server() {
    let by_turns = |turn: usize| {
        calls(20, move |number, which| match which {
            1 => CODES[1].1[(number + turn) % 2],
            _ => CODES[which].1[0],
        })
    };

    assert_eq!(open(&compared(&by_turns(0), &by_turns(1))), [""; 0]);
}

#[test]
fn a_text_that_says_the_same_of_everything_now_is_told() {
    let side = |text: &dyn Fn(&str) -> String| {
        each::<1>(10, |number, _| {
            let asked = format!(r#"{{"q":"{}"}}"#, WORDS[number]);
            let failed = format!(r#"{{"type":"failed","text":"{}"}}"#, text(WORDS[number]));
            exchange("/chat", &asked, 200, &[r#"{"type":"start"}"#, &failed, r#"{"type":"end"}"#])
        })
    };
    let before = side(&|word| format!("there is no {word} in stock"));
    let fixed = |text: &str| side(&|_| text.to_owned());

    let told = told(&compared(&before, &fixed("an error occurred")));

    let what = "was another text in each recording, and is always `an error occurred` now";
    assert_eq!(told, [format!("unproven value-other: `text` {what} (in `failed` messages)")]);
    let free = side(&|word| format!("no {word} was found at all"));
    assert_eq!(open(&compared(&before, &free)), [""; 0]);
    assert_eq!(open(&compared(&fixed("it is so"), &fixed("it is so"))), [""; 0]);
}

#[test]
fn a_word_that_is_never_said_any_more_is_shown_where_it_was_said() {
    let side = |is_new: bool| {
        each::<2>(10, |number, which| {
            let asked = format!(r#"{{"q":"{} {}"}}"#, ["bad", "boom"][which], WORDS[number]);
            let why = match (is_new, which) {
                (true, _) => "something is wrong".to_owned(),
                (false, 0) => format!("this is no input: {}", WORDS[number]),
                (false, _) => "boom".to_owned(),
            };
            exchange("/chat", &asked, 200, &[&format!(r#"{{"why":"{why}","n":{number}}}"#)])
        })
    };

    let report = compared(&side(false), &side(true));

    assert_eq!(open(&report), ["unproven value-other: `why` never says `boom` any more"]);
    let shown = shown(&report.changes[0]);
    assert!(shown.iter().all(|name| name.ends_with(['1', '3', '5', '7', '9'])), "{shown:?}");
}

/// Cassettes of several steps.
fn steps(count: usize, steps: impl Fn(usize) -> Vec<Interaction>) -> Side {
    let one = |number: usize| {
        let name = Name::new(format!("r{number}")).unwrap();
        (name, Cassette { interactions: steps(number), ..Cassette::default() })
    };
    (0..count).map(one).collect()
}

#[test]
fn what_stands_behind_a_redirect_is_compared_with_what_answers_at_once() {
    let answer = |path: &str, number: usize, is_new: bool| {
        let n = if is_new { format!("\"{number}\"") } else { format!("{number},\"kind\":\"x\"") };
        match number % 2 {
            0 => get(path, 200, &format!(r#"{{"id":{number},"n":{n}}}"#)),
            _ => get(path, 404, r#"{"error":"none"}"#),
        }
    };
    let redirected = |is_new: bool| {
        steps(20, |number| {
            let behind = format!("/things/?i={number}");
            let redirect =
                with_header(get(&format!("/things?i={number}"), 307, ""), "location", &behind);
            vec![redirect, answer(&behind, number, is_new)]
        })
    };
    let at_once = |is_new: bool| {
        steps(20, |number| vec![answer(&format!("/things?i={number}"), number, is_new)])
    };

    let now = open(&compared(&redirected(false), &at_once(true)));

    let changes = [
        "breaking field-missing: `kind` is gone, which was always there",
        "breaking type-new: `n` can be `string`",
    ];
    assert_eq!(now, changes);
    assert_eq!(open(&compared(&redirected(false), &at_once(false))), [""; 0]);
    let later = open(&compared(&at_once(false), &redirected(true)));
    assert!(changes.iter().all(|it| later.contains(&(*it).to_owned())), "{later:?}");
}

#[test]
fn a_request_that_is_not_refused_any_more_is_told_once_and_as_what_it_shows() {
    let side = |count: usize, is_new: bool| {
        steps(count, |number| {
            let me = match is_new {
                true => get("/api/me", 200, r#"{"user":"a"}"#),
                false => get("/api/me", 404, r#"{"error":"none"}"#),
            };
            vec![me, get(&format!("/api/x?i={number}"), 200, r#"{"n":1}"#)]
        })
    };

    for (count, verdict) in [(3, "unproven"), (8, "breaking")] {
        let report = compared(&side(count, false), &side(count, true));

        assert_eq!(open(&report).len(), 1, "{:?}", told(&report));
        assert!(open(&report)[0].starts_with(verdict), "{count}: {:?}", told(&report));
    }
}

#[test]
fn a_refusal_in_another_form_is_told_once() {
    let side = |is_new: bool| {
        steps(10, |number| {
            let refused =
                get(&format!("/posts/{}", 900 + number), 404, if is_new { "no" } else { "{}" });
            let media = if is_new { "text/plain" } else { "application/json" };
            vec![
                get(&format!("/posts/{number}"), 200, &format!(r#"{{"id":{number}}}"#)),
                with_header(refused, "content-type", media),
            ]
        })
    };

    let told = open(&compared(&side(false), &side(true)));

    assert_eq!(told, ["breaking media-new: it answers with `text/plain`"]);
}

#[test]
fn what_is_refused_now_says_nothing_of_how_requests_are_made() {
    let side = |is_new: bool| {
        each::<3>(5, |number, which| {
            let (asked, is_refused) = match which {
                0 => (format!(r#"{{"name":"n{number}","qty":{number},"note":null}}"#), false),
                1 => (format!(r#"{{"name":"m{number}","qty":{number}}}"#), is_new),
                _ => (format!(r#"{{"name":"o{number}","note":null}}"#), true),
            };
            match is_refused {
                true => exchange("/items", &asked, 422, &[r#"{"detail":"bad"}"#]),
                false => exchange("/items", &asked, 201, &[&format!(r#"{{"id":"x{number}"}}"#)]),
            }
        })
    };

    let report = compared(&side(false), &side(true));

    let refused = &report.changes.iter().find(|it| it.rule.id() == "request-refused").unwrap();
    assert!(!refused.brings.iter().any(|it| it.contains("requests")), "{:?}", refused.brings);
}

#[test]
fn fields_that_go_are_told_apart_from_one_that_goes_elsewhere_too() {
    let side = |is_new: bool| {
        each::<2>(10, |number, which| {
            let time = format!(r#","took":{number}.5"#);
            let more =
                format!(r#","columns":["id"],"next":"/t?n={number}","total":{number}{time}"#);
            let gone = match (is_new, which) {
                (true, _) => "",
                (false, 0) => &time,
                (false, _) => &more,
            };
            let path = ["/db", "/t"][which];
            get(&format!("{path}?n={number}"), 200, &format!(r#"{{"rows":[{number}]{gone}}}"#))
        })
    };

    let report = compared(&side(false), &side(true));

    let groups = report.groups();
    let mut fields: Vec<String> = groups
        .iter()
        .map(|group| {
            let mut paths: Vec<&str> = group.all().map(|it| it.place.path.as_str()).collect();
            paths.sort_unstable();
            paths.join(" ")
        })
        .collect();
    fields.sort();
    assert_eq!(fields, ["columns next total", "took took"]);
}

#[test]
fn one_field_that_got_two_names_is_two_changes() {
    let side = |is_new: bool| {
        each::<2>(5, |number, which| {
            let name = if is_new { ["ge", "min_length"][which] } else { "limit" };
            let path = ["/items", "/login"][which];
            get(&format!("{path}?n={number}"), 422, &format!(r#"{{"ctx":{{"{name}":4}}}}"#))
        })
    };

    let report = compared(&side(false), &side(true));

    let open = report.groups().into_iter().filter(|it| it.change.is_open());
    assert_eq!(open.count(), 2, "{:?}", told(&report));
}

#[test]
fn a_server_at_another_free_port_is_the_same_one() {
    let side = |port: usize| -> Side {
        let url = format!("http://127.0.0.1:{port}");
        let mut side = steps(3, |number| {
            let next = format!("{url}/t?after={number}");
            vec![get("/t", 200, &format!(r#"{{"n":{number},"next":"{next}"}}"#))]
        });
        side.iter_mut().for_each(|(_, it)| it.recorded.upstream.clone_from(&url));
        side
    };

    let report = compared(&side(33529), &side(36007));

    assert_eq!((report.changes.len(), report.cassettes.len()), (0, 0), "{:?}", report.cassettes);
}

#[test]
fn refusals_that_are_as_frequent_as_before_are_no_news() {
    let side = |is_refused: &dyn Fn(usize) -> bool| {
        apart(
            "job",
            (0..10).map(|number| match is_refused(number) {
                true => exchange("/result", "", 409, &[r#"{"code":"not_ready"}"#]),
                false => exchange("/result", "", 200, &[r#"{"output":"done"}"#]),
            }),
        )
    };
    let told = |now: &dyn Fn(usize) -> bool| {
        let report = compared(&side(&|number| number < 3), &side(now));
        let mut told = open(&report);
        told.retain(|it| it.contains("request-refused"));
        told
    };
    let refused =
        "unproven request-refused: a request that was answered with 200 is refused with 409";

    assert_eq!(told(&|number| (2..5).contains(&number)), [""; 0]);
    assert_eq!(told(&|number| (2..6).contains(&number)), [refused]);
    // All that was answered is refused, and the other way round.
    let half = compared(&side(&|number| number < 5), &side(&|number| number >= 5));
    assert_eq!(open(&half).iter().filter(|it| *it == refused).count(), 1, "{half:?}");
}
