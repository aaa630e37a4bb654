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
