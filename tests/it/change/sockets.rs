//! Changes of what is said over WebSockets, and of how they end.

use std::path::Path;

use retape::Name;
use retape::cassette::format::decode;
use retape::review::report::{ShowOptions, show};
use retape::store::load_side;

use super::recordings::{checked, checked_by, compared};
use super::state::Side;
use super::told;

#[test]
fn what_real_servers_said_keeps_the_contracts_that_were_accepted_of_it() {
    for name in ["codex", "jupyter", "letta-app"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes").join(name);
        let side = load_side(&folder, &Name::new(name).unwrap()).unwrap();

        let told = told(&checked_by(&side.accepted, &side.cassettes));

        let is_open = |it: &&String| it.starts_with("breaking") || it.starts_with("unproven");
        assert_eq!(told.iter().find(is_open), None, "{name}: {told:?}");
        assert!(!side.accepted.is_empty() && !side.cassettes.is_empty(), "{name}");
    }
}

/// A WebSocket with these frames.
fn socket(frames: &str) -> String {
    format!(
        r#"{{"retape": 2, "interactions": [{{
            "request": {{"method": "GET", "path": "/feed", "headers": {{"upgrade": "websocket"}}}},
            "response": {{"status": 101, "frames": [{frames}]}}
        }}]}}"#
    )
}

const ASKED: &str = r#"{"ms": 1, "from": "client", "json": {"type": "input", "text": "hello"}},
    {"ms": 2, "from": "server", "json": {"type": "delta", "text": "hi"}},
    {"ms": 3, "from": "server", "json": {"type": "done"}}"#;
const GREETED: &str = r#"{"ms": 1, "from": "server", "json": {"type": "ready", "version": 3}}"#;

/// Six recordings that say this, and end so.
fn recorded(said: &str, end: &str) -> Side {
    let said = [said, end].into_iter().filter(|it| !it.is_empty());
    let frames = said.collect::<Vec<_>>().join(",");
    recordings(6, |_| frames.clone())
}

/// So many recordings with these frames.
fn recordings(count: usize, frames: impl Fn(usize) -> String) -> Side {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        let path = folder.path().join(format!("talk-{number}.json"));
        std::fs::write(path, socket(&frames(number))).unwrap();
    }
    load_side(folder.path(), &Name::new("unused").unwrap()).unwrap().cassettes
}

/// What `diff` and `check` tell alike.
#[track_caller]
fn check([said, end]: [&str; 2], [says, ends]: [&str; 2], expected: &[&str]) {
    let (old, new) = (recorded(said, end), recorded(says, ends));

    assert_eq!(told(&compared(&old, &new)), expected, "diff");
    assert_eq!(told(&checked(&old, &new)), expected, "check");
}

const NORMAL: &str = r#"{"ms": 9, "from": "server", "close": 1000}"#;
const FAILED: &str = r#"{"ms": 9, "from": "server", "close": 1011, "reason": "oops"}"#;
const UNSAID: &str = r#"{"ms": 9, "from": "server", "close": null}"#;
const BY_CLIENT: &str = r#"{"ms": 9, "from": "client", "close": 1000}"#;
const LEFT: &str = r#"{"ms": 9, "from": "client", "close": 1001}"#;

#[test]
fn a_server_that_closes_with_another_code_breaks_its_clients() {
    let fails = "breaking tag-new: the server closes the WebSocket with 1011, first after `done`";

    check([ASKED, BY_CLIENT], [ASKED, FAILED], &[fails]);
    let and_gone = format!("{fails}, and `close 1000` is not seen any more");
    check([ASKED, NORMAL], [ASKED, FAILED], &[&and_gone]);
    check(
        [ASKED, BY_CLIENT],
        [ASKED, UNSAID],
        &["breaking tag-new: the server closes the WebSocket with 1005, first after `done`"],
    );
}

#[test]
fn a_call_is_told_the_same_whichever_of_its_lines_a_cancel_crosses() {
    let sent = |from: &str, method: &str, rest: &str| {
        let json = format!(r#"{{"jsonrpc": "2.0", "method": "{method}", {rest}}}"#);
        format!(r#"{{"ms": 1, "from": "{from}", "json": {json}}}"#)
    };
    // The server says three things before it hears of the cancel, so many of them before that is sent.
    let session = |crossed: usize| {
        let call = |id: usize, params: &str| {
            let token = format!(r#"{params}"_meta": {{"progressToken": {id}}}"#);
            sent("client", "tools/call", &format!(r#""id": {id}, "params": {{{token}}}"#))
        };
        let progress = |id: usize, count: usize| {
            let params = format!(r#""params": {{"progressToken": {id}, "progress": {count}}}"#);
            sent("server", "notifications/progress", &params)
        };
        let log = sent("server", "notifications/message", r#""params": {"data": "working"}"#);
        let mut said = vec![progress(1, 1), progress(1, 2), log];
        let cancel = r#""params": {"requestId": 1, "reason": "enough"}"#;
        said.insert(crossed, sent("client", "notifications/cancelled", cancel));
        let result = r#"{"jsonrpc": "2.0", "id": 2, "result": {"content": []}}"#;
        let result = format!(r#"{{"ms": 1, "from": "server", "json": {result}}}"#);
        let other = vec![call(2, r#""name": "short", "#), progress(2, 1), result];
        [vec![call(1, r#""name": "long", "#)], said, other].concat().join(",")
    };
    let (old, new) = (recordings(6, |_| session(3)), recordings(6, |number| session(number % 3)));

    assert_eq!(told(&compared(&old, &new)), &[""; 0], "diff");
    assert_eq!(told(&checked(&old, &new)), &[""; 0], "check");
}

#[test]
fn what_a_server_asks_while_several_calls_are_open_comes_in_any_order() {
    let sent = |from: &str, json: &str| {
        format!(r#"{{"ms": 1, "from": "{from}", "json": {{"jsonrpc": "2.0", {json}}}}}"#)
    };
    let session = |first: usize| {
        let call = |id: usize, tool: &str| {
            let params = format!(r#""params": {{"name": "{tool}"}}"#);
            sent("client", &format!(r#""id": {id}, "method": "tools/call", {params}"#))
        };
        // The server asks its client once for each call, and whichever comes first is answered first.
        let asks = ["sampling/createMessage", "elicitation/create", "roots/list"];
        let turns = (0..3).flat_map(|turn| {
            let at = (first + turn) % 3;
            let asked = format!(r#""id": {turn}, "method": "{}", "params": {{}}"#, asks[at]);
            let result = r#""result": {"content": []}"#;
            [
                sent("server", &asked),
                sent("client", &format!(r#""id": {turn}, "result": {{}}"#)),
                sent("server", &format!(r#""id": {}, {result}"#, at + 1)),
            ]
        });
        let calls = [call(1, "sample"), call(2, "form"), call(3, "roots")];
        calls.into_iter().chain(turns).collect::<Vec<_>>().join(",")
    };
    let (old, new) = (recordings(3, |_| session(0)), recordings(3, |_| session(1)));

    assert_eq!(told(&compared(&old, &new)), &[""; 0], "diff");
    assert_eq!(told(&checked(&old, &new)), &[""; 0], "check");
}

#[test]
fn a_code_is_weighed_where_the_one_before_was_promised() {
    let talks = |code: &dyn Fn(usize) -> usize| {
        let said = |from: &str, it: &str| format!(r#"{{"ms": 1, "from": "{from}", "json": {it}}}"#);
        let login =
            |token: &str| said("client", &format!(r#"{{"type": "login", "token": "{token}"}}"#));
        let turn = |number: usize| {
            let asked = said("client", &format!(r#"{{"type": "say", "n": {number}}}"#));
            format!("{asked}, {}", said("server", r#"{"type": "said"}"#))
        };
        recordings(30, |number| match number % 5 {
            0 => {
                let error = said("server", r#"{"type": "error"}"#);
                let close = format!(r#"{{"ms": 2, "from": "server", "close": {}}}"#, code(number));
                format!("{}, {error}, {close}", login("wrong"))
            }
            _ => {
                let turns: Vec<String> = (number * 9..number * 9 + 5).map(turn).collect();
                let ready = said("server", r#"{"type": "ready"}"#);
                format!("{}, {ready}, {}", login("good"), turns.join(", "))
            }
        })
    };
    let old = talks(&|_| 4001);

    let all = talks(&|_| 1008);
    for report in [compared(&old, &all), checked(&old, &all)] {
        let told = told(&report);
        let closes = "breaking tag-new: the server closes the WebSocket with 1008";
        assert!(told[0].starts_with(closes), "{told:?}");
    }
    let one = talks(&|number| if number == 5 { 1008 } else { 4001 });
    let told = told(&checked(&old, &one));
    assert!(told[0].starts_with("unproven tag-new"), "{told:?}");
}

#[test]
fn a_server_whose_client_closes_first_may_not_close_any_more() {
    check(
        [ASKED, NORMAL],
        [ASKED, BY_CLIENT],
        &[
            "unproven order-end-new: the stream ends after `done` with no `\"close 1000\"`",
            "trim tag-gone: `close 1000` messages are not seen any more",
        ],
    );
    check(
        ["", NORMAL],
        ["", BY_CLIENT],
        &["unproven order-end-new: the stream ends at the beginning with no `\"close 1000\"`"],
    );
    // What else is missing at the end is.
    let cut = ASKED.replace(r#"{"ms": 3, "from": "server", "json": {"type": "done"}}"#, "");
    let cut = cut.trim_end().trim_end_matches(',');
    let told = told(&compared(&recorded(ASKED, NORMAL), &recorded(cut, BY_CLIENT)));
    assert!(told[0].starts_with("breaking order-end-new"), "{told:?}");
}

#[test]
fn how_a_client_closes_is_its_own_affair() {
    check([ASKED, BY_CLIENT], [ASKED, LEFT], &[]);
    check([ASKED, NORMAL], [ASKED, NORMAL], &[]);
    check(["", LEFT], ["", BY_CLIENT], &[]);
}

#[test]
fn what_a_server_says_before_it_is_asked_is_promised() {
    let other = r#"{"ms": 1, "from": "server", "json": {"type": "ready"}}"#;
    check(
        [GREETED, BY_CLIENT],
        [other, BY_CLIENT],
        &["breaking field-missing: `version` is gone, which was always there"],
    );
    check(
        [GREETED, BY_CLIENT],
        ["", BY_CLIENT],
        &[
            "breaking order-end-new: the stream ends at the beginning with no `ready`",
            "trim type-gone: a message is never `{type: \"ready\", version: integer}` any more",
        ],
    );
    check(
        ["", BY_CLIENT],
        ["", FAILED],
        &["breaking order-wider: messages come where none were promised"],
    );
}

#[test]
fn a_cassette_shows_how_a_server_closed() {
    let shown = |frames: &str| {
        let cassette = decode(&socket(frames), |_| unreachable!()).unwrap();
        show("talk", &cassette, ShowOptions::default())
    };

    let closed = shown(&format!("{ASKED},{FAILED}"));
    assert!(closed.contains("close 1011") && closed.contains("oops"), "{closed}");
    assert!(!shown(&format!("{ASKED},{BY_CLIENT}")).contains("close"));
}

#[test]
fn json_of_several_lines_is_one_message() {
    let asked = r#"{"ms": 1, "from": "client", "json": {"type": "input", "text": "hello"}}"#;
    let said = |text: &str| {
        let text = serde_json::Value::from(text);
        format!(r#"{asked}, {{"ms": 2, "from": "server", "text": {text}}}"#)
    };
    let [plain, indented] =
        [r#"{"type": "done", "n": 1}"#, "{\n  \"type\": \"done\",\n  \"n\": 1\n}"];

    check([&said(plain), NORMAL], [&said(indented), NORMAL], &[]);
}

#[test]
fn a_message_is_numbered_within_its_interaction_and_found_in_the_file() {
    let talk = |last: &str| {
        let done =
            format!(r#"{{"ms": 5, "from": "server", "json": {{"type": "done", "n": {last}}}}}"#);
        let asked = r#"{"ms": 4, "from": "client", "json": {"type": "input", "text": "and"}}"#;
        let frames = [GREETED, ASKED, asked, &done, NORMAL].join(",\n");
        let (begin, end) =
            socket(&frames).rsplit_once("}]}").map(|(it, _)| (it.to_owned(), "}]}")).unwrap();
        // A request before it, so that numbers and places differ.
        begin.replacen(
            "[{",
            "[{\"request\": {\"method\": \"GET\", \"path\": \"/x\", \"headers\": {}}, \"response\": {\"status\": 204}},\n{",
            1,
        ) + end
    };
    let side = |last: &str| {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..6 {
            std::fs::write(folder.path().join(format!("talk-{number}.json")), talk(last)).unwrap();
        }
        load_side(folder.path(), &Name::new("unused").unwrap()).unwrap().cassettes
    };

    let mut report = compared(&side("1"), &side("\"1\""));
    report.locate(|_| Some(talk("\"1\"")));

    let witnesses = report.changes[0].witnesses.as_ref().unwrap();
    assert_eq!(witnesses.number.to_string(), "2.2");
    let lines: Vec<String> = talk("\"1\"").lines().map(str::to_owned).collect();
    let line = &lines[witnesses.line.unwrap() - 1];
    assert!(line.contains(r#""n": "1""#), "{line}");

    let cassette = decode(&talk("1"), |_| unreachable!()).unwrap();
    let shown = show("talk", &cassette, ShowOptions::default());
    assert!(shown.contains("2 interactions · 2 messages sent"), "{shown}");
    assert!(shown.contains("\n2.1 SEND /feed") && shown.contains("\n2.2 SEND /feed"), "{shown}");
}

#[test]
fn what_was_on_its_way_when_the_client_closed_at_once_is_unproven() {
    const BEGUN: &str = r#"{"ms": 1, "from": "client", "json": {"type": "input", "text": "hello"}},
        {"ms": 2, "from": "server", "json": {"type": "delta", "text": "hi"}}"#;
    let closed = |said: &str, ms: usize| {
        format!(r#"{said},{{"ms": {ms}, "from": "client", "close": 1000}}"#)
    };
    let lost = |count: usize, ms: usize| {
        let old = recordings(count, |_| closed(ASKED, 5));
        let new = recordings(count, |_| closed(BEGUN, ms));
        [told(&compared(&old, &new)), told(&checked(&old, &new))]
    };
    let ends = |verdict: &str, told: &Vec<String>| {
        told.iter().any(|it| it.starts_with(&format!("{verdict} order-end-new")))
    };

    assert!(lost(1, 4).iter().all(|told| ends("unproven", told)), "{:?}", lost(1, 4));
    // It waited for more, or all of several did not get it.
    assert!(lost(1, 900).iter().all(|told| ends("breaking", told)), "{:?}", lost(1, 900));
    assert!(lost(6, 4).iter().all(|told| ends("breaking", told)), "{:?}", lost(6, 4));
}

/// Talks of which the server says each packet so.
fn packets(said: impl Fn(usize) -> Vec<String>) -> Side {
    let text = |from: &str, text: &str| {
        let text = serde_json::Value::from(text);
        format!(r#"{{"ms": 1, "from": "{from}", "text": {text}}}"#)
    };
    recordings(8, |number| {
        let asked = text("client", &format!(r#"42["feed",{number}]"#));
        let said = said(number).into_iter().map(|it| text("server", &it));
        let open = text("server", r#"0{"sid":"d0f3add44a674e82","pingInterval":25000}"#);
        [open, asked].into_iter().chain(said).collect::<Vec<_>>().join(",")
    })
}

#[test]
fn the_json_of_packets_of_socket_io_is_read() {
    let news = |rest: &'static str| {
        move |number: usize| {
            let news = |at: usize| format!(r#"42["news",{{"n":{at}{rest}}}]"#);
            let mut said: Vec<String> = (0..2 + number % 3).map(news).collect();
            said.push(r#"42/admin,["bye","done"]"#.to_owned());
            said
        }
    };
    let old = packets(news(r#","title":"t""#));

    let lost = told(&compared(&old, &packets(news(""))));
    let other = told(&compared(&old, &packets(news(r#","title":7"#))));
    let renamed = packets(|at| {
        let said = news(r#","title":"t""#)(at).into_iter();
        said.map(|it| it.replace("news", "story")).collect()
    });
    let renamed = told(&compared(&old, &renamed));
    for told in [&lost, &other, &renamed] {
        assert!(told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
    }
    assert_eq!(told(&compared(&old, &old)), [""; 0]);
}

#[test]
fn the_places_of_a_message_that_is_an_array_are_tied() {
    let reply = |number: usize, topic: &str| {
        format!(r#"["{number}","room:{topic}","phx_reply",{{"status":"ok"}}]"#)
    };
    let talks = |is_wrong: bool| {
        recordings(12, |number| {
            let topic = if is_wrong { "other".to_owned() } else { format!("r{number}") };
            let asked = format!(r#"["{number}","room:r{number}","join",{{}}]"#);
            format!(
                r#"{{"ms": 1, "from": "client", "json": {asked}}},
                   {{"ms": 2, "from": "server", "json": {}}}"#,
                reply(number, &topic)
            )
        })
    };

    for told in [compared(&talks(false), &talks(true)), checked(&talks(false), &talks(true))] {
        let told = told.changes.iter().map(|it| it.what.clone()).collect::<Vec<_>>();
        assert_eq!(told, ["`array.1 equals request.1` does not hold any more"]);
    }
    assert_eq!(told(&compared(&talks(false), &talks(false))), [""; 0]);
}

#[test]
fn a_message_that_ended_answers_and_never_comes_again_is_told() {
    let talks = |is_lost: bool| {
        recordings(8, |number| {
            let said =
                |from: &str, it: &str| format!(r#"{{"ms": 1, "from": "{from}", "json": {it}}}"#);
            let asked =
                |kind: &str| said("client", &format!(r#"{{"type":"{kind}","n":{number}}}"#));
            let next = said("server", r#"{"type":"next"}"#);
            let done = (!is_lost).then(|| said("server", r#"{"type":"complete"}"#));
            // Of those that the client stops nobody knows how they would have ended.
            let stopped = [asked("subscribe"), next.clone(), asked("stop")];
            let all = stopped.into_iter().chain([asked("subscribe"), next]).chain(done);
            all.collect::<Vec<_>>().join(",")
        })
    };

    let told = told(&compared(&talks(false), &talks(true)));
    let gone = "breaking tag-gone: `complete` messages are not seen any more, with which answers to the same requests ended";
    assert!(told.contains(&gone.to_owned()), "{told:?}");
}

/// Subscriptions: how the server answers one, by its id, and whether it asks first whether the client is still there.
fn subscriptions(pings: bool, answer: impl Fn(&str) -> String) -> Side {
    let said = |from: &str, it: &str| format!(r#"{{"ms": 1, "from": "{from}", "json": {it}}}"#);
    recordings(10, |number| {
        let id = format!("5f1c{number:04}-37a2-4fd9-92f1-fd5b1ee5a5f0");
        let ask =
            said("client", &format!(r#"{{"id": "{id}", "type": "subscribe", "n": {number}}}"#));
        let pinged = [said("server", r#"{"type": "ping"}"#), ask.clone()];
        let pong = said("client", r#"{"type": "pong"}"#);
        let mut all =
            vec![said("client", r#"{"type": "init"}"#), said("server", r#"{"type": "ack"}"#)];
        all.extend(if pings { pinged.into_iter().chain([pong]).collect() } else { vec![ask] });
        all.extend([
            said("server", &answer(&id)),
            said("server", &format!(r#"{{"id": "{id}", "type": "complete"}}"#)),
        ]);
        all.join(", ")
    })
}

#[test]
fn what_answers_a_subscription_is_told_once() {
    let next = |id: &str| format!(r#"{{"id": "{id}", "type": "next", "price": 5}}"#);
    let old = subscriptions(false, next);

    // Whoever says that it is still there asks nothing.
    let pinged = subscriptions(true, next);
    let renamed = subscriptions(false, |id| next(id).replace("next", "data"));
    let unnamed = subscriptions(false, |_| r#"{"id": "0", "type": "next", "price": 5}"#.to_owned());

    for (new, expected) in [
        (pinged, vec![]),
        (
            renamed,
            vec![
                "breaking tag-new: `data` is a new type of message, first at the beginning, and `next` is not seen any more",
            ],
        ),
        (
            unnamed,
            vec![
                "breaking invariant-broken: `id equals request.id` does not hold any more",
                "breaking tag-new: `next` messages name nothing any more that was asked",
            ],
        ),
    ] {
        assert_eq!(told(&compared(&old, &new)), expected, "diff");
        assert_eq!(told(&checked(&old, &new)), expected, "check");
    }
}
