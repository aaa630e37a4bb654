//! What recordings show together, and of how many that could.

use retape::cassette::{Interaction, Outcome, Response};
use retape::{Cassette, Name};

use super::recordings::{asked, checked, compared, exchange};
use super::state::{apart, both};
use super::told;

type Cassettes = Vec<(Name, Cassette)>;

/// One cassette of so many answers, each to a question of its own.
fn talk(count: usize, said: impl Fn(usize) -> Vec<String>) -> Cassettes {
    let one = |number: usize| {
        let said = said(number);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        exchange("/chat", &asked(number), 200, &said)
    };
    let interactions = (0..count).map(one).collect();
    vec![(Name::new("talk").unwrap(), Cassette { interactions, ..Cassette::default() })]
}

#[track_caller]
fn check(old: &Cassettes, new: &Cassettes, expected: &str) {
    assert_eq!(told(&compared(old, new)), [expected]);
    assert_eq!(told(&checked(old, new)), [expected]);
}

fn messages(types: &[&str]) -> Vec<String> {
    types.iter().map(|it| format!(r#"{{"type":"{it}"}}"#)).collect()
}

#[test]
fn what_all_of_half_the_answers_of_a_cassette_show_is_no_chance() {
    let answers = |name: &'static str| {
        talk(24, move |number| {
            let user = format!(r#"{{"user":{{"n":{number}{name}}}}}"#);
            let post = format!(r#"{{"posts":[{number}]}}"#);
            vec![[user, post][number % 2].clone()]
        })
    };

    let gone = "breaking field-missing: `user.name` is gone, which was always there";
    check(&answers(r#","name":"you""#), &answers(""), gone);
}

#[test]
fn several_words_that_take_the_place_of_all_count_together() {
    let answers = |words: [&'static str; 4]| {
        talk(8, move |number| vec![format!(r#"{{"status":"{}"}}"#, words[number % 4])])
    };

    let (old, new) = (["open", "done", "open", "late"], ["OPEN", "DONE", "OPEN", "LATE"]);
    for report in [compared(&answers(old), &answers(new)), checked(&answers(old), &answers(new))] {
        let told = told(&report);
        assert!(told.iter().all(|it| it.starts_with("breaking value-new")), "{told:?}");
        assert!(!told.is_empty());
    }
    // One of them is no word for another one.
    let new = ["open", "done", "open", "LATE"];
    let told = told(&checked(&answers(old), &answers(new)));
    assert!(told[0].starts_with("unproven value-new"), "{told:?}");
}

#[test]
fn messages_that_changed_places_are_counted_where_they_come() {
    let answers = |tool: [&'static str; 2]| {
        talk(15, move |number| match number % 3 {
            0 => messages(&["start", tool[0], tool[1], "done"]),
            _ => messages(&["start", "done"]),
        })
    };

    let swapped = "breaking order-swapped: `result` comes before `call`";
    check(&answers(["call", "result"]), &answers(["result", "call"]), swapped);
}

#[test]
fn a_message_that_passes_others_is_one_change_in_whichever_traces() {
    const TRACES: [&[&str]; 6] =
        [&["a"], &["b"], &["a", "a"], &["a", "b"], &["b", "a", "a"], &["b", "a", "b"]];
    let answers = |order: fn(&[&'static str]) -> Vec<&'static str>| {
        talk(12, move |number| messages(&order(TRACES[number % 6])))
    };
    let (last, first) =
        (|steps: &[_]| [steps, &["end"]].concat(), |steps: &[_]| [&["end"], steps].concat());

    let passed = "breaking order-swapped: `end` comes before `a` and `b`";
    check(&answers(last), &answers(first), passed);
    let passed = "breaking order-swapped: `end` comes after `a` and `b`";
    check(&answers(first), &answers(last), passed);
    // What one of many shows in another cassette may be chance, however far it went.
    let once =
        |number: usize| if number == 5 { first(TRACES[5]) } else { last(TRACES[number % 6]) };
    let mut one = talk(12, move |number| messages(&once(number)));
    one[0].0 = Name::new("other").unwrap();
    let told = told(&checked(&answers(last), &one));
    assert!(told[0].starts_with("unproven order-swapped"), "{told:?}");
}

#[test]
fn a_type_that_is_gone_in_several_places_is_counted_in_all_of_them() {
    let answers = |delta: &'static [&'static str]| {
        talk(4, move |number| {
            let rest: &[&str] = if number % 2 == 0 { &["call", "end"] } else { &["end"] };
            messages(&[&["start"], delta, rest].concat())
        })
    };

    let report = compared(&answers(&["delta"]), &answers(&[]));

    let told = told(&report);
    assert_eq!(told, ["breaking tag-gone: `delta` messages are not seen any more"]);
    assert_eq!(report.changes[0].witnesses.as_ref().unwrap().answers, 4);
}

#[test]
fn what_all_of_a_kind_show_is_no_chance_beside_answers_that_cannot_show_it() {
    let answers = |last: &'static [&'static str]| {
        talk(24, move |number| match number % 4 {
            0 => messages(&[&["start", "arguments", "item"], last].concat()),
            _ => messages(&["start", "text", "item", "done"]),
        })
    };

    let lost = "breaking order-end-new: the stream ends after `item` with no `done`";
    check(&answers(&["done"]), &answers(&[]), lost);
    // One of them, in another cassette, may be chance.
    let mut one = talk(24, |number| match number % 4 {
        0 if number == 8 => messages(&["start", "arguments", "item"]),
        0 => messages(&["start", "arguments", "item", "done"]),
        _ => messages(&["start", "text", "item", "done"]),
    });
    one[0].0 = Name::new("other").unwrap();
    let told = told(&checked(&answers(&["done"]), &one));
    assert!(told[0].starts_with("unproven order-end-new"), "{told:?}");
}

#[test]
fn what_does_not_come_in_one_place_is_one_change_whatever_comes_there() {
    let answers = |finish: &'static [&'static str]| {
        talk(9, move |number| match number {
            0..5 => messages(&[&["start", "text"], finish, &["usage", "end"]].concat()),
            5..7 => messages(&[&["start", "text"], finish, &["end"]].concat()),
            _ => messages(&["start", "call", "finish", "end"]),
        })
    };

    let told = told(&compared(&answers(&["finish"]), &answers(&[])));

    let lost =
        "breaking order-missing: `end` or `usage` comes after `text` with no `finish` between";
    assert_eq!(told[0], lost);
    assert!(told[1..].iter().all(|it| !it.contains("order-missing")), "{told:?}");
}

#[test]
fn a_word_in_the_place_of_another_one_is_weighed_among_the_same_questions() {
    let talks = |prefix: &str, ends: usize, end: &str, more: &str| {
        let one = |number: usize| {
            let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
            let end = if number < ends { end } else { "requires_approval" };
            let delta = format!(r#"{{"type":"delta","text":"hello {number}"{more}}}"#);
            let stop = format!(r#"{{"type":"stop","stop_reason":"{end}"}}"#);
            exchange("/chat", &asked, 200, &[&delta, &stop])
        };
        apart("talk", (0..5).map(one))
    };
    let changed = |ends: usize, prefix: &str, more: &str| {
        let old = talks("ask", ends, "end_turn", "");
        let all = told(&compared(&old, &talks(prefix, ends, "completed", more)));
        all.into_iter().find(|it| it.contains("value-new")).unwrap()
    };

    let what =
        "value-new: `stop.stop_reason` can be `\"completed\"`, and is never `end_turn` any more";
    assert_eq!(changed(3, "ask", ""), format!("breaking {what}"));
    // What else has changed in the others is no sign against it.
    assert_eq!(changed(3, "ask", r#","model":"m1""#), format!("breaking {what}"));
    assert_eq!(changed(2, "ask", r#","model":"m1""#), format!("unproven {what}"));
    // Other questions may be answered otherwise.
    assert_eq!(changed(3, "say", ""), format!("unproven {what}"));
}

/// Answers to questions of their own, each in a cassette.
fn answers(count: usize, said: impl Fn(usize) -> String) -> Cassettes {
    let one = |number: usize| {
        exchange("/chat", &format!(r#"{{"q":"ask {number}"}}"#), 200, &[&said(number)])
    };
    apart("talk", (0..count).map(one))
}

#[test]
fn what_all_of_a_kind_show_is_no_chance_beside_others_of_another_kind() {
    let of = |is_there: bool| {
        let one = |number: usize| {
            let is_call = number < 10;
            let asked = match is_call {
                true => format!(r#"{{"q":"ask {number}","tools":[{{"name":"f"}}]}}"#),
                false => format!(r#"{{"q":"ask {number}"}}"#),
            };
            let content = match (is_call, is_there) {
                (true, true) => r#","content":null"#.to_owned(),
                (true, false) => String::new(),
                (false, _) => format!(r#","content":"hi {number}""#),
            };
            let call = format!(r#"{{"id":"call_{number}aZ9kQ2mXx","function":{{"name":"f"}}}}"#);
            let calls = if is_call { format!(r#","calls":[{call}]"#) } else { String::new() };
            let reason = if is_call { "calls" } else { "stop" };
            let message = format!(r#"{{"role":"assistant"{content}{calls}}}"#);
            let choice = format!(r#"{{"index":0,"message":{message},"finish_reason":"{reason}"}}"#);
            let said = format!(r#"{{"id":"chat-{number}aZ9kQ2mXx","choices":[{choice}]}}"#);
            exchange("/chat", &asked, 200, &[&said])
        };
        apart("talk", (0..34).map(one))
    };

    for told in both(&of(true), &of(false)) {
        assert_eq!(told[0], "breaking field-missing: `choices[].message.content` can be missing");
    }
}

#[test]
fn as_many_objects_were_before_as_recordings_where_each_has_its_own() {
    let of = |count: usize, error: &str| {
        answers(count, |number| {
            let id = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 7);
            // What comes and goes besides makes a coincidence likelier.
            let others: String = (0..24)
                .filter(|other| (number + other) % 3 > 0)
                .map(|other| format!(r#","other{other}":{number}"#))
                .collect();
            format!(r#"{{"id":"resp_{id:016x}{id:016x}{id:016x}","text":"t"{error}{others}}}"#)
        })
    };

    let told = both(&of(23, r#","error":null"#), &of(4, ""))[1].clone();

    assert_eq!(told, ["breaking field-missing: `error` is gone, which was always there"]);
}

#[test]
fn a_text_in_other_pieces_is_no_other_word() {
    let streamed = |prefix: &str, pieces: &[&str]| {
        let one = |number| -> Interaction {
            let pieces = pieces.iter().map(|it| format!(r#"{{"type":"delta","text":"{it}"}}"#));
            let pieces: Vec<String> = pieces.collect();
            let mut said: Vec<&str> = pieces.iter().map(String::as_str).collect();
            said.push(r#"{"type":"end"}"#);
            exchange("/chat", &format!(r#"{{"q":"ask {number}"}}"#), 200, &said)
        };
        apart(prefix, (0..13).map(one))
    };
    let old = streamed("talk", &["[{", "alpha", "bravo", "charlie", "golf", "echo", "fox", "]"]);
    let new =
        streamed("talk", &["[", "{al", "phabra", "vo", "charl", "ieg", "olfe", "ch", "ofo", "x]"]);

    assert_eq!(both(&old, &new), [[""; 0]; 2]);
}

#[test]
fn events_that_get_names_of_their_own_are_told_whatever_they_say() {
    let streamed = |event: &str| {
        let one = |number| -> Interaction {
            let said = [r#"{"type":"delta","text":"hi"}"#, r#"{"type":"end"}"#];
            let body: String = said.iter().map(|data| format!("{event}data: {data}\n\n")).collect();
            let mut asked =
                exchange("/chat", &format!(r#"{{"q":"ask {number}"}}"#), 200, &["", ""]);
            asked.outcome = Outcome::Response(Response::whole("text/event-stream", body));
            asked
        };
        apart("talk", (0..10).map(one))
    };
    let diff = |old: &str, new: &str| told(&compared(&streamed(old), &streamed(new)));

    let named = "unproven value-other: `event:` was always empty, and never is now";
    let unnamed = "unproven value-other: `event:` was never empty, and always is now";
    assert_eq!(diff("", "event: chunk\n"), [named]);
    assert_eq!(diff("event: chunk\n", ""), [unnamed]);
    // It is the standard's own default.
    assert_eq!(diff("", "event: message\n"), [""; 0]);
}

#[test]
fn what_only_some_ask_for_is_missed_by_others_that_are_new() {
    let stream = |number: usize, options: &str, said: &[&str]| {
        exchange("/chat", &format!(r#"{{"q":"ask {number}"{options}}}"#), 200, said)
    };
    let [delta, stop, usage] =
        ["delta", "stop", "usage"].map(|it| format!(r#"{{"type":"{it}","n":1}}"#));
    let asked = |number| stream(number, r#","options":{"usage":true}"#, &[&delta, &stop, &usage]);
    let old = apart("talk", (0..8).map(asked));
    let mut new = apart("talk", (0..8).map(asked));
    new.extend(apart("plain", (10..12).map(|number| stream(number, "", &[&delta, &stop]))));

    let told = told(&compared(&old, &new));

    assert!(!told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
    assert!(told.iter().any(|it| it.starts_with("unproven order-end-new")), "{told:?}");
    // Where the same is asked it breaks.
    let lost = |number| stream(number, r#","options":{"usage":true}"#, &[&delta, &stop]);
    let told = super::told(&compared(&old, &apart("talk", (0..8).map(lost))));
    assert!(told[0].starts_with("breaking order-end-new"), "{told:?}");
}

#[test]
fn names_of_things_tell_no_kinds_apart() {
    const NAMES: [&str; 7] =
        ["t3_2gmzqe", "t3_3hahrw", "t3_4b1tfm", "t3_4t4t2h", "t3_6vx01b", "t3_ablzuq", "t3_fo7p5b"];
    const OWN: [&str; 9] =
        ["from", "banned", "hide", "height", "safe", "pinned", "award", "poll", "age"];
    let posts = |score: &dyn Fn(usize) -> String| {
        answers(14, |number| {
            let post = number / 2;
            let own = OWN[post..post + 3].iter().map(|it| format!(r#","{it}":{{"n":{post}}}"#));
            let own: String = own.collect();
            format!(r#"{{"name":"{}","score":{}{own}}}"#, NAMES[post], score(number))
        })
    };
    let (old, new) = (posts(&|n| n.to_string()), posts(&|n| format!("\"{n}\"")));

    for told in both(&old, &new) {
        assert_eq!(told, ["breaking type-new: `score` can be `string`"]);
    }
}
