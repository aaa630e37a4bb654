//! What differs by chance over WebSockets is kept, and what the server does otherwise is not.

use retape::Cassette;
use retape::cassette::{Content, Frame, Outcome, Peer, Progress};
use retape::compare::renew::renew;

use super::cases::frames;

/// Several connections; messages of the client begin with `>`, and its leaving is `>close`.
fn sockets(said: &[&[&str]]) -> Cassette {
    let mut all = said.iter().map(|said| {
        let (said, leaves) = match said.split_last() {
            Some((&">close", said)) => (said, true),
            _ => (*said, false),
        };
        let mut cassette = frames(said);
        if let Outcome::Response(response) = &mut cassette.interactions[0].outcome
            && leaves
        {
            let content = Content::Close { code: Some(1000), reason: String::new() };
            let ms = response.frames.len() as u64;
            response.frames.push(Frame { ms, from: Peer::Client, content, fragments: Vec::new() });
        }
        cassette
    });
    let mut cassette = all.next().unwrap();
    all.for_each(|other| cassette.interactions.extend(other.interactions));
    cassette
}

fn said(cassette: &Cassette) -> Vec<Vec<(Peer, String)>> {
    let said = cassette.interactions.iter().map(|it| {
        let frames = it.response().unwrap().frames.iter();
        let messages = frames.filter_map(|frame| Some((frame.from, frame.message()?.clone())));
        messages.map(|(from, text)| (from, String::from_utf8_lossy(&text).into_owned())).collect()
    });
    said.collect()
}

#[track_caller]
fn check(old: &[&[&str]], new: &[&[&str]], expected: &[&[&str]]) {
    let renewed = renew(&sockets(old), sockets(new)).cassette;

    assert_eq!(said(&renewed), said(&sockets(expected)));
}

#[test]
fn a_time_that_the_client_said_comes_back_as_that_however_often_something_else_comes() {
    let said = |times: [&str; 3], pongs: &[usize]| -> Vec<String> {
        let say = |by: &str, kind: &str, time: &str| {
            format!(r#"{by}{{"type":"{kind}","timestamp":{time}}}"#)
        };
        let pings = times.iter().map(|time| say(">", "ping", time));
        pings.chain(pongs.iter().map(|at| say("", "pong", times[*at]))).collect()
    };
    let olds = ["1795825075.1212099", "1795825075.2928803", "1795825075.4652865"];
    let news = ["1795828125.308043", "1795828125.4369946", "1795828126.0802644"];
    let all = [said(olds, &[0, 1, 2]), said(news, &[1, 2]), said(olds, &[1, 2])];
    let [old, new, expected] = all.each_ref().map(|it| it.iter().map(String::as_str).collect());
    let [old, new, expected]: [Vec<&str>; 3] = [old, new, expected];

    check(&[&old], &[&new], &[&expected]);
}

#[test]
fn connections_are_told_apart_by_their_addresses() {
    let talk = |order: [usize; 3], names: [&str; 3]| {
        let said = order.map(|at| [format!(r#"{{"session":"{}"}}"#, names[at])]);
        let said: Vec<Vec<&str>> =
            said.iter().map(|it| it.iter().map(String::as_str).collect()).collect();
        let said: Vec<&[&str]> = said.iter().map(Vec::as_slice).collect();
        let mut cassette = sockets(&said);
        for (number, at) in order.into_iter().enumerate() {
            cassette.interactions[number].request.path = format!("/rpc?k={at}");
            let open = |interaction| Progress { interaction, chunks: 1 };
            cassette.interactions[number].after = (0..number).map(open).collect();
        }
        cassette
    };
    let old = talk([0, 1, 2], [ANN, BOB, "1f0e9d8c-7b6a-4543-8210-fedcba987654"]);
    let news = ["a1b2c3d4-e5f6-4789-8abc-def012345678", CYD, DAN];

    let renewed = renew(&old, talk([2, 0, 1], news)).cassette;

    assert_eq!(said(&renewed), said(&old));
}

const CYD: &str = "5d6e7f80-9192-4a3b-8c4d-5e6f70819203";
const DAN: &str = "9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a";
const ANN: &str = "0b3f6c1e-83a1-4f1c-9d8e-5f1c2b7a6d01";
const BOB: &str = "7c9e2d4a-15b8-4e6f-a3d2-8b4f6e1c0a92";

#[test]
fn what_is_about_another_client_may_come_at_any_time() {
    let [ann, bob] =
        [ANN, BOB].map(|id| format!(r#">{{"type":"run","request_id":"{id}","text":"hi"}}"#));
    let note = |id: &str, is: &str| format!(r#"{{"type":"{is}","request_id":"{id}"}}"#);
    let [a, z] = [note(ANN, "busy"), note(ANN, "done")];
    let [b, y] = [note(BOB, "busy"), note(BOB, "done")];
    let old: [&[&str]; 2] = [&[&ann, &a, &b, &z, &y], &[&bob, &b, &a, &y, &z]];

    check(&old, &[&[&ann, &b, &a, &y, &z], &[&bob, &b, &a, &z, &y]], &old);
    check(&old, &[&[&b, &ann, &y, &a, &z], &[&bob, &a, &b, &z, &y]], &old);
    // More or less of it may come, as a client comes sooner or later, and leaves.
    check(&old, &[&[&ann, &a, &z], &[&bob, &b, &a, &y, &z]], &old);
    check(&old, &[&[&ann, &b, &y, &a, &b, &z], &[&z, &bob, &b, &y]], &old);
    // Not what is about one and the same.
    let new: [&[&str]; 2] = [&[&ann, &z, &a, &b, &y], &[&bob, &y, &a, &b, &z]];
    check(&old, &new, &[&[&ann, &z, &b, &a, &y], &[&bob, &y, &a, &b, &z]]);
    // Nor what was never said before.
    let left = note(BOB, "left");
    let new: [&[&str]; 2] = [&[&ann, &a, &b, &z, &y, &left], &[&bob, &b, &a, &y, &z]];
    check(&old, &new, &new);
    // Nor what is about nobody.
    let ready = r#"{"type":"ready"}"#;
    let old: [&[&str]; 2] = [&[&ann, ready, &a, &z], &[&bob, &b, &y]];
    let new: [&[&str]; 2] = [&[&ann, &a, ready, &z], &[&bob, &b, &y]];
    check(&old, &new, &new);
}

#[test]
fn what_a_client_said_at_once_is_answered_sooner_or_later() {
    let ask = |id: u32, of: &str| format!(r#">{{"id":{id},"method":"{of}"}}"#);
    let answer = |id: u32| format!(r#"{{"id":{id},"result":"r{id}"}}"#);
    let [one, two] = [ask(1, "sum"), ask(2, "sum")];
    let [first, second] = [answer(1), answer(2)];
    let old: [&[&str]; 1] = [&[&one, &two, &first, &second]];

    check(&old, &[&[&one, &first, &two, &second]], &old);
    // The client had heard something in between, which may be what the server waited for.
    let asked = r#"{"method":"may I?"}"#;
    let old: [&[&str]; 1] = [&[&one, asked, &two, &first, &second]];
    let new: [&[&str]; 1] = [&[&one, asked, &first, &two, &second]];
    check(&old, &new, &new);
    // What has no answer of its own may be what the server waited for.
    let told = r#">{"method":"go"}"#;
    let old: [&[&str]; 1] = [&[&one, told, &first]];
    let new: [&[&str]; 1] = [&[&one, &first, told]];
    check(&old, &new, &new);
}

#[test]
fn channels_of_which_two_messages_crossed_are_apart() {
    let run = |n: u32| format!(r#">{{"channel":"shell","run":{n}}}"#);
    let out = |is: &str| format!(r#"{{"channel":"iopub","is":"{is}"}}"#);
    let reply = r#"{"channel":"shell","is":"reply"}"#;
    let [busy, text, idle] = ["busy", "text", "idle"].map(out);
    let (one, two) = (run(1), run(2));
    let old: [&[&str]; 1] = [&[&one, &busy, &text, &idle, reply, &two, &busy, &text, reply, &idle]];

    check(&old, &[&[&one, &busy, reply, &text, &idle, &two, reply, &busy, &text, &idle]], &old);
    // Within a channel the order means something.
    let turned = [&busy, &idle, &text].map(String::as_str);
    let new = [&[&*one], &turned[..], &[reply, &two], &turned[..], &[reply]].concat();
    check(&old, &[&new], &[&new]);
    // Nothing has crossed.
    let old: [&[&str]; 1] = [&[&one, &busy, reply, &text, &idle]];
    let new: [&[&str]; 1] = [&[&one, &busy, &text, reply, &idle]];
    check(&old, &new, &new);
    // The client addresses no channel: these are sorts of messages.
    let of = |text: &str| text.replace("\"channel\":\"shell\",\"run\"", "\"run\"");
    let (one, two) = (of(&one), of(&two));
    let old = [&[&*one, &busy, &text, &idle, reply, &two, &busy, &text, reply, &idle][..]];
    let turned = [&*busy, reply, &text, &idle];
    let new = [&[&*one], &turned[..], &[&*two], &turned[..]].concat();
    check(&old, &[&new], &[&new]);
}

#[test]
fn names_that_rise_one_at_a_time_are_counted() {
    let ask = r#">{"type":"run"}"#;
    let say = |n: u32| format!(r#"{{"type":"text","message_id":"ui-msg-{n}"}}"#);
    let talk = |numbers: [u32; 3]| numbers.map(say);
    let [a, b, c] = talk([1, 2, 3]);
    let old: [&[&str]; 1] = [&[ask, &a, &a, &b, &c]];

    for numbers in [[2, 4, 7], [1, 3, 5], [9, 10, 11]] {
        let [one, two, three] = talk(numbers);
        check(&old, &[&[ask, &one, &one, &two, &three]], &old);
        // Two that become one, or one that becomes two, are a difference.
        let new: [&[&str]; 1] = [&[ask, &one, &two, &two, &three]];
        let renewed = renew(&sockets(&old), sockets(&new)).cassette;
        assert_ne!(said(&renewed), said(&sockets(&old)));
    }
    // A list of what is there.
    let list = |versions: [u32; 3]| {
        let all = versions.map(|n| format!(r#"{{"model_id":"gpt-{n}"}}"#)).join(",");
        format!(r#"{{"type":"models","data":[{all}]}}"#)
    };
    let (was, is) = (list([3, 4, 5]), list([4, 5, 6]));
    let new: [&[&str]; 1] = [&[ask, &is]];
    check(&[&[ask, &was]], &new, &new);
}

#[test]
fn the_number_of_a_process_is_chance() {
    let ask = r#">{"type":"run"}"#;
    let ran = |number: &str, exit: u32| format!(r#"{{"processId":"{number}","exit":{exit}}}"#);
    let (was, is) = (ran("2170", 0), ran("87753", 0));
    check(&[&[ask, &was]], &[&[ask, &is]], &[&[ask, &was]]);
    let (failed, expected) = (ran("87753", 1), ran("2170", 1));
    check(&[&[ask, &was]], &[&[ask, &failed]], &[&[ask, &expected]]);
    let none = ran("none", 0);
    check(&[&[ask, &was]], &[&[ask, &none]], &[&[ask, &none]]);
}

/// What a kernel says: the number of its message, what that is, and what it answers.
fn tells(number: u32, channel: &str, is: &str, answers: &str) -> String {
    let id = format!("5d9cee84-e9c140bea5d5188d_24169_{number}");
    format!(
        r#"{{"channel":"{channel}","header":{{"msg_id":"{id}"}},"is":"{is}","parent":{{"msg_id":"{answers}"}}}}"#
    )
}

fn asks(id: &str, what: &str) -> String {
    format!(r#">{{"channel":"shell","header":{{"msg_id":"{id}"}},"do":"{what}","parent":{{}}}}"#)
}

#[test]
fn what_a_server_was_at_when_a_client_came_is_heard_in_part() {
    let (run, next) = (asks(ANN, "run"), asks(BOB, "next"));
    let probe = |number: u32, is: &str| {
        tells(
            number,
            "iopub",
            is,
            &format!("4702c67ffea74ecfbdc755db8191316a_30557_{}", number / 2),
        )
    };
    let own = |number: u32, is: &str| tells(number, "iopub", is, ANN);
    let end = tells(17, "iopub", "idle", BOB);
    let [busy, idle, again] =
        [(10, "busy"), (11, "idle"), (12, "busy")].map(|(at, is)| probe(at, is));
    let [begun, done] = [(14, "begun"), (15, "done")].map(|(at, is)| own(at, is));
    let old: [&[&str]; 1] = [&[&busy, &idle, &run, &begun, &done, &next, &end]];

    for new in [
        &[&*run, &busy, &idle, &begun, &done, &next, &end][..],
        &[&*idle, &run, &begun, &busy, &again, &done, &next, &end],
    ] {
        check(&old, &[new], &old);
    }
    // Of its kind nothing was said before.
    let dead = probe(13, "dead");
    let new: [&[&str]; 1] = [&[&busy, &idle, &dead, &run, &begun, &done, &next, &end]];
    check(&old, &new, &new);
    // Or it came when the client had long been there.
    let new: [&[&str]; 1] = [&[&busy, &idle, &run, &begun, &done, &next, &again, &end]];
    check(&old, &new, &new);
}

#[test]
fn a_message_that_came_before_one_with_a_lower_number_overtook_it() {
    let (run, say) = (asks(ANN, "run"), asks(BOB, "say"));
    let [begun, input, reply, idle] = [
        (14, "iopub", "begun"),
        (15, "iopub", "input"),
        (16, "shell", "reply"),
        (17, "iopub", "idle"),
    ]
    .map(|(number, channel, is)| tells(number, channel, is, ANN));
    let turned: [&[&str]; 1] = [&[&run, &begun, &input, &idle, &reply]];
    let old: [&[&str]; 1] = [&[&run, &begun, &input, &reply, &idle]];
    check(&old, &turned, &old);
    check(&turned, &old, &turned);
    // So it does if the client has spoken in between.
    let late: [&[&str]; 1] = [&[&run, &begun, &reply, &say, &input, &idle]];
    let early: [&[&str]; 1] = [&[&run, &begun, &input, &reply, &say, &idle]];
    check(&late, &early, &late);
    check(&early, &late, &early);
    // But what has a higher number than all that had come may be an answer.
    let asked: [&[&str]; 1] = [&[&run, &begun, &input, &say, &reply, &idle]];
    let unasked: [&[&str]; 1] = [&[&run, &begun, &input, &reply, &say, &idle]];
    check(&asked, &unasked, &unasked);
    // Numbers that come again are not those of messages.
    let unnumbered = |said: &[&str]| -> Vec<String> {
        said.iter().map(|it| it.replace("_14", "_1").replace("_15", "_1")).collect()
    };
    let (before, now) = (unnumbered(old[0]), unnumbered(turned[0]));
    let [before, now] = [&before, &now].map(|it| it.iter().map(String::as_str).collect::<Vec<_>>());
    check(&[&before], &[&now], &[&now]);
}

#[test]
fn of_two_clients_that_come_at_once_either_may_be_first() {
    let [ann, bob] = ["ann", "bob"].map(|name| format!(r#">{{"type":"run","text":"{name}"}}"#));
    let [hers, his] = ["hers", "his"].map(|text| format!(r#"{{"type":"done","text":"{text}"}}"#));
    let two = |said: [&[&str]; 2], secrets: [&str; 2], come: usize| {
        let mut cassette = sockets(&said);
        cassette.interactions[1].after = vec![Progress { interaction: 0, chunks: come }];
        for (interaction, secret) in cassette.interactions.iter_mut().zip(secrets) {
            let Outcome::Response(response) = &mut interaction.outcome else { panic!("answered") };
            response.headers.set("set-cookie", format!("id={secret}; Path=/"));
        }
        cassette
    };
    let plain = ["[redacted:id~2]", "[redacted:id~3]"];
    let old = two([&[&ann, &hers], &[&bob, &his]], plain, 0);

    for secrets in [plain, ["\"[redacted:id~2]\"", "[redacted:id~3]"]] {
        let new = two([&[&bob, &his], &[&ann, &hers]], secrets, 0);
        assert_eq!(renew(&old, new).cassette, old);
    }
    // One was there before the other.
    let new = two([&[&bob, &his], &[&ann, &hers]], plain, 2);
    assert_ne!(renew(&old, new).cassette, old);
}
