//! What all recordings show together, told by `check` and `diff` alike.

use retape::cassette::Outcome;
use retape::{Cassette, Name};

use super::recordings::exchange;
use super::state::{Side, apart, both};

/// Recordings of their own, in which the server says this with a status.
fn side(prefix: &str, count: usize, status: u16, said: impl Fn(usize) -> Vec<String>) -> Side {
    let one = |number| {
        let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
        let said = said(number);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        exchange("/chat", &asked, status, &said)
    };
    apart(prefix, (0..count).map(one))
}

fn message(tag: &str) -> String {
    format!(r#"{{"type":"{tag}","n":1}}"#)
}

#[test]
fn a_type_of_message_that_came_in_most_streams_and_never_comes_again_is_told() {
    let streams = |prefix: &str, with: usize| {
        side(prefix, 24, 200, move |number| {
            let middle = if number < with { "artifact" } else { "status" };
            ["task", middle, "status", "end"].map(message).to_vec()
        })
    };

    for told in both(&streams("old", 20), &streams("new", 0)) {
        let gone = "tag-gone: `artifact` messages are not seen any more";
        assert!(told.contains(&format!("unproven {gone}")), "{told:?}");
    }
    assert_eq!(both(&streams("old", 20), &streams("new", 18)), [vec![""; 0], vec![""; 0]]);
}

#[test]
fn a_refusal_in_the_place_of_all_others_breaks_where_as_many_recordings_show_it() {
    let refused = |prefix: &str, count: usize, status: u16| {
        side(prefix, count, status, |_| vec![r#"{"detail":"no"}"#.to_owned()])
    };
    let what = "status-new: it answers 403, and not 404 any more";

    for told in both(&refused("same", 12, 404), &refused("same", 12, 403)) {
        assert!(told.contains(&format!("breaking {what}")), "{told:?}");
    }
    let [_, few] = both(&refused("old", 12, 404), &refused("new", 2, 403));
    assert!(few.contains(&format!("unproven {what}")), "{few:?}");
}

#[test]
fn what_a_refusal_says_is_no_graver_than_that_it_comes() {
    let refused = |prefix: &str, count: usize, status: u16, code: &str| {
        side(prefix, count, status, |_| vec![format!(r#"{{"error":{{"code":"{code}"}}}}"#)])
    };
    let told = both(&refused("old", 12, 409, "is_over"), &refused("new", 3, 404, "no_such_job"));

    for told in told {
        assert!(
            told.iter().any(|it| it.starts_with("unproven status-new: it answers 404")),
            "{told:?}"
        );
        assert!(!told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
    }
}

#[test]
fn a_method_of_json_rpc_of_which_all_calls_come_to_an_error_is_refused() {
    let calls = |prefix: &str, count: usize, failed: usize| {
        let call = |number: usize| {
            let method = ["tasks/get", "tasks/list"][number % 2];
            let asked = format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"id":"{prefix}{number}"}}}}"#
            );
            let said = match method == "tasks/get" && number < failed {
                true => r#""error":{"code":-32001,"message":"no"}"#,
                false => r#""result":{"state":"done"}"#,
            };
            let said = format!(r#"{{"jsonrpc":"2.0","id":{number},{said}}}"#);
            exchange("/rpc", &asked, 200, &[&said])
        };
        apart(prefix, (0..count).map(call))
    };
    let what = "request-refused: a call that was answered with a result is answered with an error";

    let [diff, check] = both(&calls("a", 24, 4), &calls("a", 24, 24));
    assert!(check.contains(&format!("breaking {what}")), "{check:?}");
    assert!(diff.contains(&format!("breaking {what}")), "{diff:?}");
    let [_, few] = both(&calls("a", 24, 4), &calls("b", 6, 6));
    assert!(few.contains(&format!("unproven {what}")), "{few:?}");
    let [_, kept] = both(&calls("a", 24, 4), &calls("b", 24, 6));
    assert!(!kept.iter().any(|it| it.contains("request-refused")), "{kept:?}");
}

#[test]
fn a_text_that_looked_like_a_date_once_is_no_promise_of_dates() {
    let answer = |count: usize, field: &str, said: &str| {
        side("c", count, 200, |_| vec![format!(r#"{{"{field}":"{said}","n":1}}"#)])
    };
    let told = |count: usize, field: &str| {
        both(&answer(count, field, "2026-01-01"), &answer(count, field, "It is the first."))
    };

    for told in told(1, "content") {
        assert!(told[0].starts_with("unproven format-new"), "{told:?}");
    }
    // What is called a time is one, and what many say is no chance.
    for told in told(1, "created_at").into_iter().chain(told(12, "content")) {
        assert!(told[0].starts_with("breaking"), "{told:?}");
    }
}

#[test]
fn other_words_in_two_blocks_of_pieces_are_no_other_order() {
    let words = |index: usize, tag: &str, said: &[&str]| -> Vec<String> {
        let of = |word: &&str| format!(r#"{{"type":"{tag}","index":{index},"delta":"{word}"}}"#);
        let edge = |name: &str| format!(r#"{{"type":"{name}","index":{index}}}"#);
        let pieces = said.iter().map(of);
        [edge("added")].into_iter().chain(pieces).chain([edge("done")]).collect()
    };
    let streams = |thought: [&str; 4], answer: [&str; 4]| {
        side("c", 1, 200, |_| {
            [words(0, "thought.delta", &thought), words(1, "text.delta", &answer)].concat()
        })
    };
    let old = streams(["the", "cat", "sat", "down"], ["a", "dog", "ran", "off"]);
    let new = streams(["the", "cat", "sat", "down"], ["so", "the", "cat", "slept"]);

    assert_eq!(both(&old, &new), [vec![""; 0], vec![""; 0]]);
}

#[test]
fn an_event_is_told_by_its_name_also_where_its_data_has_a_member_error() {
    let event = |name: &str, data: &str| format!("{data}\nevent: {name}");
    let streams = |failed: &str| {
        side("c", 12, 200, |number| {
            let end = match number % 2 {
                0 => event(failed, r#"{"error":{"message":"no"},"n":1}"#),
                _ => event("job.succeeded", r#"{"n":2}"#),
            };
            vec![event("job.started", r#"{"n":0}"#), end]
        })
    };

    for told in both(&streams("job.failed"), &streams("job.crashed")) {
        let is_it = |it: &String| it.starts_with("breaking") && it.contains("`job.crashed`");
        assert!(told.iter().any(is_it), "{told:?}");
    }
}

#[test]
fn names_of_events_that_are_gone_are_one_change() {
    let streams = |is_named: bool| {
        side("c", 12, 200, |_| {
            ["start", "piece", "end"]
                .map(|tag| match is_named {
                    true => format!("{}\nevent: {tag}", message(tag)),
                    false => message(tag),
                })
                .to_vec()
        })
    };

    for told in both(&streams(true), &streams(false)) {
        let what = "`start` and 2 other types come without the names of their SSE events";
        assert_eq!(told, [format!("breaking tag-new: {what}")]);
    }
}

#[test]
fn one_more_tool_in_a_list_is_none_of_another_kind() {
    let tool = |name: &str| match name {
        "read" => r#"{"name":"read","schema":{"path":"p","lines":1,"from":2}}"#.to_owned(),
        "search" => r#"{"name":"search","schema":{"query":"q","hits":[1],"deep":true}}"#.to_owned(),
        name => format!(r#"{{"name":"{name}","schema":{{"text":"t","mode":5}}}}"#),
    };
    let lists = |names: &[&str]| {
        let tools: Vec<String> = names.iter().map(|name| tool(name)).collect();
        let list = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
        side("c", 12, 200, |_| vec![list.clone()])
    };

    let [diff, check] = both(&lists(&["read", "search"]), &lists(&["read", "search", "write"]));

    assert!(![diff.clone(), check].concat().iter().any(|it| it.contains("kind-new")), "{diff:?}");
}

#[test]
fn what_clients_ask_is_told_where_it_was_asked() {
    let asking = |names: [&str; 2]| {
        let one = |number: usize| {
            let tool = ["read", "search"][number % 2];
            let asked = format!(
                r#"{{"tool":"{tool}","arguments":{{"{}":"x{number}"}}}}"#,
                names[number % 2]
            );
            exchange("/call", &asked, 200, &[r#"{"ok":true}"#])
        };
        apart("c", (0..12).map(one))
    };

    let [same, _] = both(&asking(["path", "query"]), &asking(["path", "query"]));
    let [wider, _] = both(&asking(["path", "query"]), &asking(["path", "limit"]));

    assert_eq!(same, [""; 0]);
    assert!(wider.iter().any(|it| it.contains("limit")), "{wider:?}");
    assert!(!wider.iter().any(|it| it.contains("request-wider") && it.contains("path")));
}

/// Answers of twelve recordings behind these header fields.
fn behind(fields: &[(&str, &str)]) -> Side {
    let mut side = side("c", 12, 404, |_| vec![r#"{"title":"none","n":1}"#.to_owned()]);
    for (_, cassette) in &mut side {
        let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
            unreachable!("it answers")
        };
        fields.iter().for_each(|(name, value)| response.headers.set(name, (*value).to_owned()));
    }
    side
}

#[test]
fn json_by_another_name_is_one_change_and_compared() {
    let named = |media: &str| behind(&[("content-type", media)]);

    for told in both(&named("application/problem+json"), &named("application/json")) {
        let what =
            "it answers with `application/json`, and not `application/problem+json` any more";
        assert_eq!(told, [format!("breaking media-new: {what}")]);
    }
}

#[test]
fn limits_of_use_are_promised_whoever_names_them() {
    for name in ["anthropic-ratelimit-requests-reset", "x-rate-limit-limit", "ratelimit-policy"] {
        let [old, new] = [behind(&[(name, "later")]), behind(&[])];
        for told in both(&old, &new) {
            assert!(
                told.iter().any(|it| it.starts_with("breaking") && it.contains(name)),
                "{told:?}"
            );
        }
    }
}

#[test]
fn a_type_of_message_that_is_gone_brings_no_other_order() {
    // Each piece of work is announced, and there are several.
    let streams = |is_announced: bool| {
        side("same", 12, 200, move |number| {
            let piece = |_| {
                let announced = is_announced.then_some("progress");
                announced.into_iter().chain(["artifact"]).map(message).collect::<Vec<String>>()
            };
            let pieces = (0..2 + number % 3).flat_map(piece);
            [message("start")].into_iter().chain(pieces).chain([message("end")]).collect()
        })
    };

    for told in both(&streams(true), &streams(false)) {
        assert_eq!(told, ["breaking tag-gone: `progress` messages are not seen any more"]);
    }
}

#[test]
fn rows_that_are_numbered_are_so_without_a_gap() {
    let lists = |step: usize, from: usize| {
        side("same", 12, 200, move |number| {
            let row = |row: usize| format!(r#"{{"seq":{},"n":{}}}"#, from + row * step, number % 3);
            let rows: Vec<String> = (0..3 + number % 3).map(row).collect();
            vec![format!(r#"{{"rows":[{}]}}"#, rows.join(","))]
        })
    };

    for told in both(&lists(1, 1), &lists(2, 1)) {
        let what = "`_.rows[].seq increasing by 1` does not hold any more";
        assert_eq!(told, [format!("breaking invariant-broken: {what}")]);
    }
    // A list may go on from anywhere.
    let told = both(&lists(1, 1), &lists(1, 7));
    assert!(!told.iter().flatten().any(|it| it.starts_with("breaking")), "{told:?}");
}

#[test]
fn who_was_refused_and_is_refused_no_more_is_told_where_only_the_contract_is_known() {
    // Each conversation approves twice.
    let talks = |again: u16| -> Side {
        let one = |number: usize| {
            let ask = |status: u16| {
                let said = format!(r#"{{"n":{}}}"#, u8::from(status < 400));
                exchange("/approve", &format!(r#"{{"call":"{number}"}}"#), status, &[&said])
            };
            let interactions = vec![ask(200), ask(again)];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("talk-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect()
    };

    let [_, checked] = both(&talks(409), &talks(200));

    assert!(checked.iter().any(|it| it.starts_with("unproven status-gone")), "{checked:?}");
}
