//! What recordings show of values.

use retape::{Cassette, Name};

use super::recordings::{compared, exchange};
use super::told;

/// A cassette for each answer.
fn answers(said: &[String]) -> Vec<(Name, Cassette)> {
    let one = |(number, said): (usize, &String)| {
        let name = Name::new(format!("talk-{number}")).unwrap();
        let interactions = vec![exchange("/prices", r#"{"of":"tea"}"#, 200, &[said])];
        (name, Cassette { interactions, ..Cassette::default() })
    };
    said.iter().enumerate().map(one).collect()
}

#[track_caller]
fn check(old: &[String], new: &[String], expected: &[&str]) {
    assert_eq!(told(&compared(&answers(old), &answers(new))), expected);
}

fn prices(spelled: &[&str]) -> Vec<String> {
    spelled.iter().map(|it| format!(r#"{{"price":{it}}}"#)).collect()
}

#[test]
fn an_integer_that_is_spelled_as_another_number_is_another_type() {
    let integers = prices(&["5", "7", "12"]);
    for spelled in [["5.0", "7.0", "12.0"], ["5e0", "7E0", "1.2e1"]] {
        let [first, second, third] = spelled;
        let what = format!(
            "breaking type-new: `price` can be `number`, such as `{first}` and `{second}` and `{third}`"
        );
        check(&integers, &prices(&spelled), &[&what]);
    }
    check(
        &prices(&["5.0", "7.0"]),
        &prices(&["5", "7"]),
        &["trim type-gone: `price` is never `number` any more"],
    );
}

#[test]
fn what_is_measured_may_have_been_whole_by_chance() {
    let what = "unproven type-new: `price` can be `number`, such as `4.5`";
    check(&prices(&["5"]), &prices(&["4.5"]), &[what]);
    check(&prices(&["5", "7", "12"]), &prices(&["4.5", "7", "3"]), &[what]);
}

#[test]
fn words_that_are_all_spelled_otherwise_are_one_change() {
    let words = |spelled: fn(&str) -> String| -> Vec<String> {
        let words = ["created", "running", "paused"].into_iter().cycle().take(12);
        words.map(|word| format!(r#"{{"state":"{}"}}"#, spelled(word))).collect()
    };

    let what = "breaking value-new: `state` says other words: `CREATED`, `PAUSED`, `RUNNING`, and none that was known";
    check(&words(str::to_owned), &words(str::to_uppercase), &[what]);
}

#[test]
fn where_many_parts_come_and_go_three_recordings_prove_nothing_of_one() {
    let parts = ["a", "b", "c", "d", "e", "f"];
    // By the number of the recording, each part says something or nothing; `last` does in all of them, or in none.
    let some = |numbers: [usize; 3], last: &str| -> Vec<String> {
        let one = |number: usize| {
            let said = parts.iter().enumerate().map(|(at, part)| {
                let is_said = (number >> at) & 1 == 1;
                format!(r#""{part}":{}"#, if is_said { r#""x y""# } else { "null" })
            });
            format!(r#"{{{},"last":{last}}}"#, said.collect::<Vec<_>>().join(","))
        };
        numbers.map(one).to_vec()
    };
    let (before, now) = ([0b101010, 0b010101, 0b110011], [0b011010, 0b101101, 0b010011]);

    let unproven = "unproven type-new: `last` can be `null`";
    check(&some(before, r#""x y""#), &some(now, "null"), &[unproven]);
    // The same parts in the same answers as before: what has changed is `last`.
    let breaking = "breaking type-new: `last` can be `null`";
    check(&some(before, r#""x y""#), &some(before, "null"), &[breaking]);
}

#[test]
fn parts_below_names_that_are_data_come_and_go_together() {
    let parts = ["a", "b", "c", "d", "e", "f"];
    let rooms = |numbers: [usize; 3], side: &str, last: &str| -> Vec<String> {
        let one = |number: usize| {
            let said = parts.iter().enumerate().map(|(at, part)| {
                let is_said = (number >> at) & 1 == 1;
                format!(r#""{part}":{}"#, if is_said { r#""x y""# } else { "null" })
            });
            let said = said.collect::<Vec<_>>().join(",");
            let room = format!("!QsD{side}My3cY{number}gOuCJnJjS:example.org");
            format!(r#"{{"rooms":{{"{room}":{{{said},"last":{last}}}}}}}"#)
        };
        numbers.map(one).to_vec()
    };
    let (before, now) = ([0b101010, 0b010101, 0b110011], [0b011010, 0b101101, 0b010011]);

    let unproven = "unproven type-new: `rooms.{}.last` can be `null`";
    check(&rooms(before, "q", r#""x y""#), &rooms(now, "z", "null"), &[unproven]);
}

#[test]
fn a_word_that_the_client_says_as_well_may_be_repeated() {
    let asked = |word: &str, said: &str| -> Vec<(Name, Cassette)> {
        (0..4)
            .map(|number| {
                let name = Name::new(format!("talk-{number}")).unwrap();
                let (asked, said) =
                    (format!(r#"{{"for":"{word}"}}"#), format!(r#"{{"reason":"{said}"}}"#));
                let interactions = vec![exchange("/cancel", &asked, 200, &[&said])];
                (name, Cassette { interactions, ..Cassette::default() })
            })
            .collect()
    };
    let old = asked("price", "price");

    let verdict = |new: &[(Name, Cassette)]| told(&compared(&old, new))[0].clone();

    let what = "value-new: `reason` can be `\"moving\"`";
    assert!(verdict(&asked("moving", "moving")).starts_with(&format!("unproven {what}")));
    assert!(verdict(&asked("price", "moving")).starts_with(&format!("breaking {what}")));
}

#[test]
fn a_name_of_something_that_was_never_called_otherwise_may_be_any_text() {
    let rooms = |name: &str, field: &str| -> Vec<String> {
        (0..12).map(|at| format!(r#"{{"{field}":"{name}","level":{at}}}"#)).collect()
    };
    let told = |field: &str| {
        let (old, new) = (answers(&rooms("Hall", field)), answers(&rooms("My Hall", field)));
        told(&compared(&old, &new))
    };

    let what = "unproven format-new: `label` can be any text, such as `\"My Hall\"`";
    assert_eq!(told("label"), [what]);
    // Clients decide by it.
    assert_eq!(told("status"), ["breaking type-new: `status` is not `\"Hall\"` any more"]);
}

#[test]
fn a_time_that_is_a_number_now_is_a_change_of_its_cassette() {
    let made = |at: &str| vec![format!(r#"{{"id":"agent-1","created_at":{at}}}"#)];

    let report =
        compared(&answers(&made("\"2026-11-29T08:32:27Z\"")), &answers(&made("1795941256")));

    let [pair] = &report.cassettes[..] else { panic!("{:?}", report.cassettes) };
    let [difference] = &pair.interactions[0].differences[..] else { panic!("{pair:?}") };
    assert_eq!(difference.at, "answer /created_at");
}

#[test]
fn whose_recordings_they_are_is_no_word() {
    let of = |user: &str, bot: &str| -> Vec<String> {
        (0..12).map(|at| format!(r#"{{"user":"{user}","bot_id":"{bot}","n":{at}}}"#)).collect()
    };

    check(&of("UM38VUB5X41", "BJSAV33XAK5"), &of("URCPN36Z73H", "BK0YYWZBVGC"), &[]);
}
