//! What only looks like something else: a time that looks like a key, words that look like numbers, a word of the
//! protocol that looks like the client's own.

use super::recordings::exchange;
use super::state::{Side, apart, both};

const NOTHING: [[&str; 0]; 2] = [[""; 0]; 2];

fn broken(what: &str) -> String {
    format!("breaking invariant-broken: `{what}` does not hold any more")
}

/// Recordings of their own, each a stream of what `said` makes of its number.
fn streams(prefix: &str, said: impl Fn(usize) -> Vec<String>) -> Side {
    let one = |number| {
        let said = said(number);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        exchange("/chat", &format!(r#"{{"q":"{prefix} {number}"}}"#), 200, &said)
    };
    apart(prefix, (0..12).map(one))
}

#[test]
fn what_comes_in_one_second_does_not_belong_together_for_that() {
    let run = |prefix: &str, apart: usize| {
        streams(prefix, |number| {
            let said = |tag: &str, step: usize| {
                let time = 1_727_800_000 + number * 1000 + step * apart;
                format!(r#"{{"type":"{tag}","created_at":{time}}}"#)
            };
            let piece = |tag: &str| format!(r#"{{"type":"{tag}","text":"a"}}"#);
            let step = |at: usize, within: Vec<String>| {
                let begun = ["step.created", "step.in_progress"].map(|tag| said(tag, at));
                [begun.to_vec(), within, vec![said("step.completed", at)]].concat()
            };
            let message = [
                ["message.created", "message.in_progress"].map(|tag| said(tag, 9)).to_vec(),
                vec![piece("message.delta"), piece("message.delta")],
                vec![said("message.completed", 9)],
            ];
            let delta = || vec![piece("step.delta"), piece("step.delta")];
            let steps = (1..=number % 3).flat_map(|at| step(at, delta()));
            let begun = ["run.created", "run.queued", "run.in_progress"].map(|tag| said(tag, 0));
            let all = begun.into_iter().chain(steps).chain(step(9, message.concat()));
            all.chain([said("run.completed", 0)]).collect()
        })
    };

    assert_eq!(both(&run("old", 1), &run("new", 0)), NOTHING);
}

#[test]
fn numbers_among_the_words_of_a_text_do_not_count() {
    let text = |prefix: &str, words: [&str; 5]| {
        let piece = |word: &str| format!(r#"{{"type":"delta","text":"{word}"}}"#);
        streams(prefix, |_| words.iter().map(|word| piece(word)).collect())
    };

    assert_eq!(
        both(&text("old", ["1", ".", "2", ".", "3"]), &text("new", ["3", ".", "2", ".", "1"])),
        NOTHING
    );
}

#[test]
fn the_clock_of_a_stream_does_not_run_backwards() {
    let clock = |prefix: &str, minutes: [usize; 3]| {
        let said = |minute: &usize| format!(r#"{{"at":"2026-03-01T10:{minute:02}:00.5Z"}}"#);
        streams(prefix, |_| minutes.iter().map(said).collect())
    };

    for told in both(&clock("old", [1, 1, 2]), &clock("new", [1, 3, 2])) {
        assert_eq!(told, [broken("object.at not decreasing")]);
    }
    assert_eq!(both(&clock("old", [1, 3, 2]), &clock("new", [3, 2, 1])), NOTHING);
}

#[test]
fn places_begin_with_0() {
    let blocks = |prefix: &str, first: usize| {
        let block = |at: usize| format!(r#"{{"type":"block","index":{}}}"#, first + at);
        streams(prefix, |number| (0..number % 2 + 2).map(block).collect())
    };
    let rows = |prefix: &str, first: usize| -> Side {
        let row = format!(r#"{{"choices":[{{"index":{first},"text":"a"}}]}}"#);
        apart(prefix, (0..6).map(|number| exchange("/c", &number.to_string(), 200, &[&row])))
    };

    for told in both(&blocks("old", 0), &blocks("new", 1)) {
        assert_eq!(told, [broken("index begins with 0")]);
    }
    for told in both(&rows("old", 0), &rows("new", 1)) {
        assert_eq!(told, [broken("_.choices[].index begins with 0")]);
    }
    assert_eq!(both(&rows("old", 1), &rows("new", 2)), NOTHING);
}

/// Answers to requests that say something of earlier ones, and what came of them.
fn outcomes(prefix: &str, history: &str, outcome: impl Fn(usize) -> &'static str) -> Side {
    let one = |number: usize| {
        let asked = format!(r#"{{"q":"{prefix} {number}","history":[{history}]}}"#);
        let said = format!(r#"{{"role":"assistant","stop_reason":"{}"}}"#, outcome(number));
        exchange("/messages", &asked, 200, &[&said])
    };
    apart(prefix, (0..12).map(one))
}

#[test]
fn a_client_that_repeats_the_kind_of_a_message_has_not_chosen_it() {
    let old = |history: &str| {
        outcomes("old", history, |number| ["end_turn", "tool_use"][usize::from(number % 3 == 0)])
    };
    let new = |history: &str| outcomes("new", history, |_| "stop");
    let (kind, name) =
        (r#"{"type":"tool_use","name":"a"}"#, r#"{"type":"call","name":"tool_use"}"#);

    for told in both(&old(kind), &new(kind)) {
        assert!(
            told[0].starts_with("breaking value-new: `stop_reason` can be `\"stop\"`"),
            "{told:?}"
        );
    }
    // A name is the client's own.
    assert!(both(&old(name), &new(name))[1].is_empty());
}

#[test]
fn what_a_member_is_called_is_not_said() {
    let role = |prefix: &str, role: &str| {
        let said = format!(r#"{{"role":"{role}","text":"a"}}"#);
        let one = |number: usize| {
            let asked = format!(r#"{{"model":"gpt","q":"{prefix} {number}"}}"#);
            exchange("/chat", &asked, 200, &[&said])
        };
        apart(prefix, (0..12).map(one))
    };

    for told in both(&role("old", "assistant"), &role("new", "model")) {
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("breaking value-new: `role` can be `\"model\"`"), "{told:?}");
    }
}
