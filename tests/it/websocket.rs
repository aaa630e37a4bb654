//! WebSockets, recorded and replayed.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use insta::assert_snapshot;
use retape::Mode;
use retape::cassette::{Content, End, Frame};
use retape::config::Rules;

use crate::stage::{Stage, answer};
use crate::support::client::ask;
use crate::support::socket::{Ended, Socket, Sockets};
use crate::support::upstream::Upstream;

/// Records what a client says to a server.
async fn recorded(server: &Sockets, client: impl FnOnce(&str)) -> Stage {
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    client(&session.url());
    session.finish().await.unwrap();
    stage
}

fn said(frames: &[Frame]) -> Vec<String> {
    let said = |frame: &Frame| match &frame.content {
        Content::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Content::Binary(bytes) => format!("{bytes:?}"),
        Content::Close { code, reason } => format!("close {code:?} {reason}"),
        other => format!("{other:?}"),
    };
    frames.iter().map(|it| format!("{}: {}", it.from.as_str(), said(it))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_in_both_directions_is_recorded_and_replayed() {
    let server = Sockets::answering(|text| vec![text.replace("ask", "answer"), "more".to_owned()]);
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!(socket.ask(r#"{"ask":1}"#), r#"{"answer":1}"#);
        assert_eq!(socket.read().unwrap(), "more");
        assert_eq!(socket.ask(r#"{"ask": 2}"#), r#"{"answer": 2}"#);
        assert_eq!(socket.read().unwrap(), "more");
        socket.close(1000, "bye");
    };

    let stage = recorded(&server, client).await;

    let cassette = stage.cassette();
    let response = answer(&cassette);
    assert_eq!((response.status, response.end), (101, End::Complete));
    assert_eq!(
        said(&response.frames),
        [
            r#"client: {"ask":1}"#,
            r#"server: {"answer":1}"#,
            "server: more",
            r#"client: {"ask": 2}"#,
            r#"server: {"answer": 2}"#,
            "server: more",
            "client: close Some(1000) bye",
        ]
    );
    assert!(stage.file("tape.json").starts_with("{\n  \"retape\": 2,"));

    let session = stage.replay().await;
    client(&session.url());
    let summary = session.finish().await.unwrap().all_played().unwrap();
    assert_eq!(summary.played, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_makes_up_may_differ_and_comes_back() {
    let server = Sockets::answering(|text| {
        let asked: serde_json::Value = serde_json::from_str(text).unwrap();
        vec![
            format!(
                r#"{{"request_id":{},"ok":true,"run":"run-1f8a77c2d9e04b51"}}"#,
                asked["request_id"]
            ),
            format!(r#"{{"type":"done","of":{}}}"#, asked["request_id"]),
        ]
    });
    let client = |url: &str, id: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        let first = socket.ask(&format!(r#"{{"request_id":"{id}-1","say":"hello"}}"#));
        let done = socket.read().unwrap();
        let run = "run-1f8a77c2d9e04b51";
        let again = format!(r#"{{"request_id":"{id}-2","say":"more","run":"{run}"}}"#);
        let last = socket.ask(&again);
        vec![first, done, last, socket.read().unwrap()]
    };
    let stage = recorded(&server, |url| drop(client(url, "req-8f3a9c2b1d"))).await;

    let session = stage.replay().await;
    let heard = client(&session.url(), "req-11aa22bb33");
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(
        heard,
        [
            r#"{"request_id":"req-11aa22bb33-1","ok":true,"run":"run-1f8a77c2d9e04b51"}"#,
            r#"{"type":"done","of":"req-11aa22bb33-1"}"#,
            r#"{"request_id":"req-11aa22bb33-2","ok":true,"run":"run-1f8a77c2d9e04b51"}"#,
            r#"{"type":"done","of":"req-11aa22bb33-2"}"#,
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_recorded_is_a_miss_that_closes_the_connection() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(r#"{"type":"input","text":"hello"}"#);
        socket.ask(r#"{"type":"input","text":"who"}"#);
    })
    .await;

    let session = stage.replay().await;
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    socket.ask(r#"{"type":"input","text":"hello"}"#);
    socket.send(r#"{"type":"input","text":"what"}"#);
    let ended = socket.read().unwrap_err();
    let summary = session.stop().await.unwrap();

    let reason = "retape: /text is not as in frame 3 of interaction 1".to_owned();
    assert_eq!(ended, Ended::Closed(4470, reason));
    let [miss] = summary.misses.as_slice() else { panic!("{:?}", summary.misses) };
    let explained = miss.explanation.lines().take(8).collect::<Vec<_>>().join("\n");
    assert_snapshot!(explained, @r#"
    `tape` (1 interaction) has no answer to
      SEND /ws
    message 2 of the client on the connection of interaction 1
    the nearest is frame 3 of interaction 1 (not played yet, 75 % alike)
    1 field differs (- recorded, + asked):
      /text
        - "who"
        + "what"
    "#);
    let error = summary.checked().unwrap_err();
    assert!(error.is_miss());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_did_not_say_is_reported() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask("one");
        socket.ask("two");
    })
    .await;

    let session = stage.replay().await;
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    assert_eq!(socket.ask("one"), "ONE");
    socket.close(1000, "");
    let summary = session.finish().await.unwrap();

    let [unplayed] = summary.unplayed.as_slice() else { panic!("{:?}", summary.unplayed) };
    assert_eq!((unplayed.interaction, &unplayed.frames), (0, &vec![(2, "two".to_owned())]));
    let error = summary.all_played().unwrap_err();
    let told = format!("{error:?}");
    assert!(told.contains("was not sent frame 3 of `GET /ws` (interaction 1)"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_may_leave_out_what_a_rule_names() {
    let server = Sockets::answering(|text| vec![text.replace("ask", "answer")]);
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(r#"{"ask":1,"type":"say"}"#);
        socket.ask(r#"{"ask":2,"type":"ping"}"#);
        socket.ask(r#"{"ask":3,"type":"say"}"#);
        socket.ask(r#"{"ask":4,"type":"ping"}"#);
    })
    .await;
    let rules = || Rules::default().optional("SEND /ws /type=ping").unwrap();

    // Left out in the middle: what follows comes as soon as the client says more.
    let session = stage.session(Mode::Replay).rules(rules()).start().await.unwrap();
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    assert_eq!(socket.ask(r#"{"ask":1,"type":"say"}"#), r#"{"answer":1,"type":"say"}"#);
    socket.send(r#"{"ask":3,"type":"say"}"#);
    let rest = [socket.read().unwrap(), socket.read().unwrap()];
    socket.close(1000, "");
    session.finish().await.unwrap().all_played().unwrap();
    let expected = [r#"{"answer":2,"type":"ping"}"#, r#"{"answer":3,"type":"say"}"#];
    assert_eq!(rest, expected);

    // What no rule names is told.
    let session = stage.session(Mode::Replay).rules(rules()).start().await.unwrap();
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    socket.ask(r#"{"ask":1,"type":"say"}"#);
    socket.close(1000, "");
    let error = session.finish().await.unwrap().all_played().unwrap_err();
    assert!(format!("{error:?}").contains("not sent frame 5 of `GET /ws`"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_independent_may_come_in_another_order() {
    let server = Sockets::answering(|text| {
        let asked: serde_json::Value = serde_json::from_str(text).unwrap();
        vec![format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, asked["id"], asked["params"])]
    });
    let call = |id: usize, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"get","params":{params}}}"#)
    };
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(&call(1, r#"{"of":"a"}"#));
        socket.ask(&call(2, r#"{"of":"b"}"#));
    })
    .await;

    let session = stage.replay().await;
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    let second = socket.ask(&call(1, r#"{"of":"b"}"#));
    let first = socket.ask(&call(2, r#"{"of":"a"}"#));
    session.finish().await.unwrap();

    assert_eq!(second, r#"{"jsonrpc":"2.0","id":1,"result":{"of":"b"}}"#);
    assert_eq!(first, r#"{"jsonrpc":"2.0","id":2,"result":{"of":"a"}}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_may_come_in_another_order() {
    let server = Sockets::start(|socket| {
        socket.send("welcome");
        while let Ok(text) = socket.read() {
            socket.send(&text.to_uppercase());
        }
    });
    let both = |url: &str, order: [usize; 2]| {
        let mut sockets = [0, 1].map(|_| Socket::open(&format!("{url}/ws")));
        let welcomed = sockets.each_mut().map(|socket| socket.read().unwrap());
        assert_eq!(welcomed, ["welcome", "welcome"]);
        let heard = ["ann", "bob"].map(|name| {
            let socket = &mut sockets[order[usize::from(name == "bob")]];
            [socket.ask(name), socket.ask("and so on")]
        });
        assert_eq!(heard, [["ANN", "AND SO ON"], ["BOB", "AND SO ON"]]);
    };
    let stage = recorded(&server, |url| both(url, [0, 1])).await;

    let session = stage.replay().await;
    both(&session.url(), [1, 0]);
    session.finish().await.unwrap().all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_begin_with_the_same_messages_may_come_in_another_order() {
    let server = Sockets::answering(|text| match text {
        "init" => vec!["ack".to_owned(), "ready".to_owned()],
        text => vec![text.to_uppercase()],
    });
    let open = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!([socket.ask("init"), socket.read().unwrap()], ["ack", "ready"]);
        socket
    };
    let talk = |url: &str, name: &str| {
        let mut socket = open(url);
        assert_eq!([socket.ask(name), socket.ask("more")], [name.to_uppercase().as_str(), "MORE"]);
    };
    let stage = recorded(&server, |url| {
        talk(url, "ann");
        talk(url, "bob");
        drop(open(url));
        talk(url, "cid");
    })
    .await;

    // One behind the other.
    let session = stage.replay().await;
    talk(&session.url(), "cid");
    drop(open(&session.url()));
    talk(&session.url(), "ann");
    talk(&session.url(), "bob");
    session.finish().await.unwrap().all_played().unwrap();

    // At once.
    let session = stage.replay().await;
    let mut sockets = [0, 1, 2, 3].map(|_| open(&session.url()));
    let heard = [(2, "bob"), (0, "cid"), (3, "ann")].map(|(at, name)| sockets[at].ask(name));
    assert_eq!(heard, ["BOB", "CID", "ANN"]);
    for at in [3, 0, 2] {
        assert_eq!(sockets[at].ask("more"), "MORE");
    }
    drop(sockets);
    session.finish().await.unwrap().all_played().unwrap();

    // One that leaves when it has said more than another one did.
    let session = stage.replay().await;
    assert_eq!(open(&session.url()).ask("ann"), "ANN");
    talk(&session.url(), "cid");
    let summary = session.stop().await.unwrap();
    assert!(summary.misses.is_empty(), "{:?}", summary.misses);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_says_nothing_leaves_the_recording_of_one_that_speaks() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let quiet = |url: &str| drop(Socket::open(&format!("{url}/ws")));
    let talk = |url: &str| Socket::open(&format!("{url}/ws")).ask("hello");
    let stage = recorded(&server, |url| {
        talk(url);
        quiet(url);
        quiet(url);
    })
    .await;

    let session = stage.replay().await;
    quiet(&session.url());
    quiet(&session.url());
    let heard = talk(&session.url());
    let summary = session.finish().await.unwrap();

    assert_eq!(heard, "HELLO");
    summary.all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_left_unsaid_another_one_may_say() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let open = |url: &str| Socket::open(&format!("{url}/ws"));
    let stage = recorded(&server, |url| {
        open(url).ask("hello");
        open(url).ask("bye");
    })
    .await;

    let session = stage.replay().await;
    let mut second = {
        let _quiet = open(&session.url());
        open(&session.url())
    };
    let heard = second.ask("hello");
    let summary = session.stop().await.unwrap();

    assert_eq!(heard, "HELLO");
    assert!(summary.misses.is_empty(), "{:?}", summary.misses);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_says_on_which_other_connection_the_message_was_recorded() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let open = |url: &str| Socket::open(&format!("{url}/ws"));
    let stage = recorded(&server, |url| {
        open(url).ask("hello");
        drop(open(url));
    })
    .await;

    let session = stage.replay().await;
    let mut first = open(&session.url());
    first.ask("hello");
    let mut second = open(&session.url());
    second.send("hello");
    let ended = second.read();
    drop((first, second));
    let summary = session.stop().await.unwrap();

    assert!(matches!(ended, Err(Ended::Closed(4470, _))), "{ended:?}");
    let [miss] = summary.misses.as_slice() else { panic!("{:?}", summary.misses) };
    let explained = miss.explanation.lines().take(5).collect::<Vec<_>>().join("\n");
    assert_snapshot!(explained, @r"
    `tape` (2 interactions) has no answer to
      SEND /ws
    message 1 of the client on the connection of interaction 2
    the very same was recorded on another one, that of interaction 1
    hint: if the client is meant to ask this now, record it again:
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_clients_that_come_in_another_order_have_all_that_was_recorded() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = recorded(&server, |url| {
        let mut sockets = [0, 1, 2].map(|_| Socket::open(&format!("{url}/ws")));
        for (socket, name) in sockets.iter_mut().zip(["ann", "bob", "cid"]) {
            socket.ask(name);
        }
    })
    .await;

    let session = stage.replay().await;
    let open = || Socket::open(&format!("{}/ws", session.url()));
    let (mut first, mut second) = (open(), open());
    let heard_first = first.ask("cid");
    let mut third = open();
    let heard = [heard_first, third.ask("ann"), second.ask("bob")];
    drop((first, second, third));
    let summary = session.finish().await.unwrap();

    assert_eq!(heard, ["CID", "ANN", "BOB"]);
    summary.all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_that_is_open_ends_when_the_run_begins_anew() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask("ann");
        socket.ask("bob");
    })
    .await;

    let session = stage.replay().await;
    let open = || Socket::open(&format!("{}/ws", session.url()));
    let mut old = open();
    assert_eq!(old.ask("ann"), "ANN");
    ask("POST", &format!("{}/-/retape/reset", session.url()), "X-Retape: 1\r\n", "");
    old.send("ann");
    let ended = old.read();
    let mut new = open();
    let heard = [new.ask("ann"), new.ask("bob")];
    drop(new);
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(ended, Err(Ended::Closed(1001, String::new())));
    assert_eq!(heard, ["ANN", "BOB"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_that_a_rule_calls_an_id_may_differ_and_comes_back() {
    let server = Sockets::answering(|text| {
        let asked: serde_json::Value = serde_json::from_str(text).unwrap();
        let [join, call, room] = [0, 1, 2].map(|at| asked[at].clone());
        vec![format!(r#"[{join},{call},{room},"reply",{{"seats":"4","of":{room}}}]"#)]
    });
    let join =
        |join: &str, call: &str, room: &str| format!(r#"["{join}","{call}","{room}","join",{{}}]"#);
    let reply = |join: &str, call: &str, room: &str| {
        format!(r#"["{join}","{call}","{room}","reply",{{"seats":"4","of":"{room}"}}]"#)
    };
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(&join("3", "3", "room:a"));
        socket.ask(&join("4", "4", "room:b"));
    })
    .await;
    let rules = Rules::default().id("$[0]").unwrap().id("$[1]").unwrap();

    let session = stage.session(Mode::Replay).rules(rules).start().await.unwrap();
    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    let other = socket.ask(&join("3", "4", "room:b"));
    let one = socket.ask(&join("5", "6", "room:a"));
    session.finish().await.unwrap();

    assert_eq!([other, one], [reply("3", "4", "room:b"), reply("5", "6", "room:a")]);
}

/// Each WebSocket is timed from its own beginning, so by the times the answer seems to come first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_client_made_up_is_its_own_though_another_one_hears_of_it() {
    let (say, heard) = mpsc::channel();
    let (say, heard) = (Mutex::new(say), Mutex::new(heard));
    let server = Sockets::start(move |socket| {
        let text = socket.read().unwrap();
        if text == "listen" {
            let said: String = heard.lock().unwrap().recv().unwrap();
            return socket.send(&said);
        }
        let said = format!("{{\"of\":{text}}}");
        say.lock().unwrap().send(said.clone()).unwrap();
        socket.send(&said);
    });
    let both = |url: &str, id: &str| {
        let mut ann = Socket::open(&format!("{url}/ws"));
        std::thread::sleep(Duration::from_millis(100));
        let mut bob = Socket::open(&format!("{url}/ws"));
        bob.send("listen");
        let heard = ann.ask(&format!("{{\"id\":\"{id}\"}}"));
        (heard, bob.read().unwrap())
    };
    let ids = ["8f3a9c2b1d4e5f60718293a4b5c6d7e8", "11aa22bb33cc44dd55ee66ff77001122"];
    let stage = recorded(&server, |url| drop(both(url, ids[0]))).await;

    let session = stage.replay().await;
    let (heard, _) = both(&session.url(), ids[1]);
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(heard, format!("{{\"of\":{{\"id\":\"{}\"}}}}", ids[1]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fragments_binary_messages_subprotocols_and_the_close_of_a_server_are_kept() {
    use tungstenite::protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    };
    let server = Sockets::start(|socket| {
        assert_eq!(socket.read().unwrap(), "go");
        for (text, code, is_last) in [
            ("one ", Data::Text, false),
            ("and ", Data::Continue, false),
            ("two", Data::Continue, true),
        ] {
            let frame = Frame::message(text.to_owned(), OpCode::Data(code), is_last);
            socket.inner.send(tungstenite::Message::Frame(frame)).unwrap();
        }
        socket.inner.send(tungstenite::Message::binary(vec![0, 159, 146, 150])).unwrap();
        socket.close(4001, "enough");
    });
    let client = |url: &str| {
        let fields = [("sec-websocket-protocol", "chat.v2, chat.v1")];
        let mut socket = Socket::open_with(&format!("{url}/ws"), &fields);
        let accepted =
            socket.fields.iter().find(|(name, _)| name == "sec-websocket-protocol").unwrap();
        assert_eq!(accepted.1, "chat.v2");
        assert_eq!(socket.ask("go"), "one and two");
        assert!(socket.read().is_ok());
        assert_eq!(socket.read().unwrap_err(), Ended::Closed(4001, "enough".to_owned()));
    };

    let stage = recorded(&server, client).await;

    let cassette = stage.cassette();
    let frames = &answer(&cassette).frames;
    assert_eq!(frames[1].fragments, [4, 4, 3]);
    assert_eq!(frames[2].content, Content::Binary(vec![0, 159, 146, 150].into()));
    let session = stage.replay().await;
    client(&session.url());
    session.finish().await.unwrap().all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_breaks_off_breaks_off_again() {
    let server = Sockets::start(|socket| {
        socket.send("half a");
        socket.inner.get_ref().shutdown(std::net::Shutdown::Both).unwrap();
    });
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!(socket.read().unwrap(), "half a");
        assert_eq!(socket.read().unwrap_err(), Ended::Cut);
    };

    let stage = recorded(&server, client).await;

    assert_eq!(answer(&stage.cassette()).end, End::ServerClosed);
    let session = stage.replay().await;
    client(&session.url());
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_of_both_sides_are_taken_out_and_need_not_come_back() {
    let key = ["sk", "proj", &"a1B2c3D4e5".repeat(4)].join("-");
    let other = ["sk", "proj", &"z9Y8x7W6v5".repeat(4)].join("-");
    let said = key.clone();
    let server = Sockets::answering(move |_| vec![format!(r#"{{"api_key":"{said}","n":1}}"#)]);
    // `token` alone says little: the recording shows that it tells here.
    let talk = |url: &str, key: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        let told = socket.ask(&format!(r#"{{"type":"auth","api_key":"{key}"}}"#));
        assert_eq!(told, format!(r#"{{"api_key":"{key}","n":1}}"#), "it comes back as it was sent");
        socket.ask(&format!(r#"{{"method":"call","params":{{"token":"{key}"}}}}"#));
        socket.ask(r#"{"method":"count","params":{"kind":"token"}}"#);
    };
    let stage = recorded(&server, |url| talk(url, &key)).await;

    let file = stage.file("tape.json");
    assert!(!file.contains(&key) && file.contains("[redacted:token]"), "{file}");
    for key in [&*key, &other, "dummy"] {
        let session = stage.replay().await;
        talk(&session.url(), key);
        session.finish().await.unwrap().all_played().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_the_protocol_was_not_said() {
    use std::io::Write as _;
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!(socket.ask("one"), "ONE");
        // A text, masked with nothing, with a bit set that nobody has agreed on; and another one behind it.
        let broken = b"\xa1\x83\0\0\0\0bad\x81\x83\0\0\0\0two";
        socket.inner.get_mut().write_all(broken).unwrap();
        let _ = socket.read().unwrap_err();
    };
    let stage = recorded(&server, client).await;

    let cassette = stage.cassette();
    let said = said(&answer(&cassette).frames);
    assert_eq!(said[..2], ["client: one", "server: ONE"]);
    assert!(said.iter().all(|it| !it.contains("bad") && !it.contains("two")), "{said:?}");
    let session = stage.replay().await;
    client(&session.url());
    session.finish().await.unwrap().all_played().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_is_cut_over_messages_is_taken_out_of_cassette_and_journal() {
    let key = ["sk", "proj", &"a1B2c3D4e5".repeat(4)].join("-");
    let (first, second) = key.split_at(20);
    let in_json = [first, second].map(|half| format!(r#"{{"type":"delta","text":"{half}"}}"#));
    let as_text = [format!("your key is {first}"), format!("{second} or so")];
    let said = [in_json, as_text].concat();
    let server = Sockets::answering(move |_| said.clone());
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();

    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    socket.send("go");
    socket.read_all(4);
    let journal = stage.file("tape.json.part");
    socket.close(1000, "");
    session.finish().await.unwrap();

    let cassette = stage.file("tape.json");
    for half in [&first["sk-proj-".len()..], second] {
        assert!(!cassette.contains(half), "{cassette}");
        assert!(!journal.contains(half), "{journal}");
    }
    assert!(cassette.contains("[redacted:") && cassette.contains(" or so"), "{cassette}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_variable_of_graphql_is_taken_out_of_cassette_and_journal() {
    let server = Sockets::answering(|_| vec!["{}".to_owned()]);
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();

    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    socket.ask(
        r#"{"type":"subscribe","payload":{"query":"{login(password:$p)}","variables":{"p":"Kq7vLm2xT9w"}}}"#,
    );
    let journal = stage.file("tape.json.part");
    socket.close(1000, "");
    session.finish().await.unwrap();

    for written in [stage.file("tape.json"), journal] {
        assert!(!written.contains("Kq7vLm2xT9w"), "{written}");
        assert!(written.contains("[redacted:password]"), "{written}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_names_the_server_in_the_cassette_and_us_to_the_client() {
    let server = Sockets::start(|socket| {
        let host = socket.fields.iter().find(|(name, _)| name == "host").unwrap().1.clone();
        while let Ok(asked) = socket.read() {
            assert_eq!(asked, format!(r#"{{"callback":"http://{host}/back"}}"#));
            let next = format!("ws://{host}/next");
            socket.send(&format!(r#"{{"next":"{next}","asked":{asked}}}"#));
        }
    });
    let expected = |url: &str| {
        let next = url.replacen("http", "ws", 1);
        format!(r#"{{"next":"{next}/next","asked":{{"callback":"{url}/back"}}}}"#)
    };
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(&format!(r#"{{"callback":"{url}/back"}}"#))
    };
    let mut recorder = String::new();
    let stage = recorded(&server, |url| {
        assert_eq!(client(url), expected(url));
        recorder = url.trim_start_matches("http").to_owned();
    })
    .await;

    let cassette = stage.file("tape.json");
    assert!(!cassette.contains(&recorder), "{cassette}");
    let session = stage.replay().await;
    let url = session.url();
    let heard = client(&url);
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(heard, expected(&url));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_opens_no_websocket_is_recorded_as_it_answered() {
    let server = Upstream::json(|_| "{}".to_owned());
    let stage = Stage::new();
    let session = stage.record(&server).await;
    let refused = Socket::try_open(&format!("{}/ws", session.url()), &[]).unwrap_err();
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let again = Socket::try_open(&format!("{}/ws", session.url()), &[]).unwrap_err();
    let unknown = Socket::try_open(&format!("{}/other", session.url()), &[]).unwrap_err();
    session.stop().await.unwrap();

    assert_eq!((refused, again, unknown), (200, 200, 470));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_is_in_the_journal_before_it_is_passed_on() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();

    let mut socket = Socket::open(&format!("{}/ws", session.url()));
    assert_eq!(socket.ask("hello there"), "HELLO THERE");
    let journal = stage.file("tape.json.part");
    socket.close(1000, "");
    session.finish().await.unwrap();

    let frames = journal.lines().filter(|line| line.contains("\"from\""));
    let frames: Vec<&str> = frames.map(|line| line.split_once("from").unwrap().1).collect();
    assert_eq!(frames.len(), 2, "{journal}");
    assert!(frames[0].contains("client") && frames[0].contains("hello there"));
    assert!(frames[1].contains("server") && frames[1].contains("HELLO THERE"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_server_recorded_again_changes_no_line() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = Sockets::answering(move |text| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let asked: serde_json::Value = serde_json::from_str(text).unwrap();
        let run = format!("run-{:016x}", (count as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let at = format!("2026-11-22T10:00:{:02}Z", count % 60);
        vec![
            format!(r#"{{"of":{},"run_id":"{run}","created_at":"{at}"}}"#, asked["request_id"]),
            format!(r#"{{"type":"done","run_id":"{run}"}}"#),
        ]
    });
    let client = |url: &str, id: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        for number in 1..3 {
            let hello = format!(r#"{{"request_id":"req-{id}{number}","say":"hello"}}"#);
            socket.ask(&hello);
            socket.read().unwrap();
        }
        socket.close(1000, "bye");
    };
    let stage = recorded(&server, |url| client(url, "8f3a9c2b1d4e")).await;
    let before = stage.file("tape.json");

    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    client(&session.url(), "77aa0c1d9e2f");
    let summary = session.finish().await.unwrap();

    assert_eq!(stage.file("tape.json"), before);
    assert_eq!(summary.recordings[0].kept.unwrap().interactions, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_says_otherwise_is_seen_when_it_is_recorded_again() {
    let answers = |word: &'static str| {
        Sockets::answering(move |_| vec![r#"{"type":"delta","n":1}"#.to_owned(), word.to_owned()])
    };
    let client = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask(r#"{"say":"hello"}"#);
        socket.read().unwrap();
    };
    let stage = recorded(&answers(r#"{"type":"done","ok":true}"#), client).await;
    let before = stage.file("tape.json");

    let server = answers(r#"{"type":"done","ok":false}"#);
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    client(&session.url());
    session.finish().await.unwrap();

    let after = stage.file("tape.json");
    let changed: Vec<&str> =
        after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
    assert!(changed.iter().any(|line| line.contains(r#""ok": false"#)), "{after}");
    assert!(!changed.iter().any(|line| line.contains("delta")), "{after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_shows_what_went_over_a_websocket() {
    let server = Sockets::answering(|_| {
        let delta = r#"{"type":"delta","text":"Hi"}"#;
        vec![delta.to_owned(), delta.to_owned(), r#"{"type":"done"}"#.to_owned()]
    });
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.send(r#"{"type":"input","text":"hello"}"#);
        socket.read_all(3);
    })
    .await;

    let shown = retape::review::report::show(
        "tape",
        &stage.cassette(),
        retape::review::report::ShowOptions::default(),
    );

    assert!(
        shown.contains("SEND") && shown.contains("delta ×2") && shown.contains("done"),
        "{shown}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_websockets_are_played_at_once() {
    let server = Sockets::answering(|text| vec![text.to_uppercase()]);
    let stage = recorded(&server, |url| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        socket.ask("one");
        socket.ask("two");
    })
    .await;
    let session = stage.replay().await;

    let mut sockets: Vec<Socket> = (0..200)
        .map(|number| Socket::open(&format!("{}/ws", session.url_of(&format!("tape~{number}")))))
        .collect();
    for (asked, answered) in [("one", "ONE"), ("two", "TWO")] {
        sockets.iter_mut().for_each(|socket| socket.send(asked));
        assert!(sockets.iter_mut().all(|socket| socket.read().unwrap() == answered));
    }
    drop(sockets);

    let summary = session.finish().await.unwrap();
    // The session without a name was not asked for, but its cassette was.
    assert_eq!((summary.sessions, summary.played, summary.unplayed.len()), (201, 200, 0));
}
