//! What the same questions are answered with, of which each has an answer of its own form.

use retape::cassette::{Headers, Interaction, Outcome};
use retape::review::report::{Colour, Face, changes};

use super::recordings::{compared, exchange};
use super::state::{Side, apart, both};
use super::told;

/// Scenarios that ask three questions: what the first one gets, and what the others do.
fn asked(count: usize, red: &str, [blue, green]: [&str; 2]) -> Side {
    let one = |number: usize| -> Interaction {
        let (word, said) = [("red", red), ("blue", blue), ("green", green)][number % 3];
        exchange("/search", &format!(r#"{{"filter":"{word}"}}"#), 200, &[said])
    };
    apart("search", (0..count * 3).map(one))
}

/// What is told of so many recordings of each question, where another question always gets what the first one gets
/// now, and another one what it got before.
fn check(count: usize, [old, new]: [&str; 2], expected: &[&str]) {
    let others = [new, old];
    let told = told(&compared(&asked(count, old, others), &asked(count, new, others)));
    assert_eq!(told, expected, "{old} and {new}");
}

#[test]
fn what_one_question_gets_is_compared_with_what_it_got() {
    let asked = "where the same is asked, and always was";
    let told = |what: &str, was: &str| format!("{what} {asked} {was}");
    for (fields, expected) in [
        (
            [r#"{"rows":[[1]]}"#, r#"{"rows":[{"n":1}]}"#],
            told("breaking type-new: `rows[]` is an object", "a list"),
        ),
        ([r#"{"a":"1"}"#, r#"{"a":1}"#], told("breaking type-new: `a` is a number", "a string")),
        (
            [r#"{"filter":{"name":"x"}}"#, r#"{"filter":null}"#],
            told("unproven type-new: `filter` is `null`", "an object"),
        ),
        (
            [r#"{"rows":[1]}"#, r#"{"rows":[]}"#],
            told("unproven type-new: `rows` is empty", "a list"),
        ),
        (
            [r#"{"n":1,"name":"x"}"#, r#"{"n":1}"#],
            told("unproven field-missing: `name` is gone", "a string"),
        ),
    ] {
        check(6, fields, &[&expected]);
    }
}

#[test]
fn few_recordings_of_a_question_prove_nothing() {
    let fields = [r#"{"a":"1"}"#, r#"{"a":1}"#];
    let what = "type-new: `a` is a number where the same is asked, and always was a string";
    check(4, fields, &[&format!("unproven {what}")]);
    check(3, fields, &[&format!("unproven {what}")]);
    check(2, fields, &[]);
}

#[test]
fn something_where_there_was_nothing_harms_nobody() {
    check(6, [r#"{"a":null}"#, r#"{"a":"x"}"#], &[]);
}

#[test]
fn what_differs_by_itself_had_a_try() {
    // Each of ten fields is there or not, as it happens; one of them never in the new recordings of one question.
    let side = |seed: usize, is_gone: bool| {
        let one = |number: usize| {
            let bits = (number + 1) * 2_654_435_761 + seed * 40_503;
            let fields = (0..10).map(|field| {
                let is_there = match (field, number % 2) {
                    (0, 0) => !is_gone,
                    _ => bits >> (field * 3 + 4) & 1 == 1,
                };
                if is_there { format!(r#""f{field}":"x""#) } else { format!(r#""f{field}":null"#) }
            });
            let said = format!("{{{}}}", fields.collect::<Vec<_>>().join(","));
            let word = ["red", "blue"][number % 2];
            exchange("/search", &format!(r#"{{"filter":"{word}"}}"#), 200, &[&said])
        };
        apart("search", (0..8).map(one))
    };

    let told = told(&compared(&side(1, false), &side(2, true)));

    assert!(told.iter().all(|told| !told.starts_with("breaking")), "{told:?}");
}

#[test]
fn each_question_may_have_a_code_of_its_own() {
    let side = |codes: [i32; 3]| {
        let one = |number: usize| {
            let method = ["nope", "cancel", "crash"][number % 3];
            let code = codes[number % 3];
            let asked = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}"}}"#);
            let said = format!(
                r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":{code},"message":"no"}}}}"#
            );
            exchange("/rpc", &asked, 200, &[&said])
        };
        apart("call", (0..24).map(one))
    };

    let told = told(&compared(&side([-32600, -32603, -32600]), &side([-32601, -32002, -32600])));

    // One question is still answered by the first code.
    let what = |new: i32| {
        format!("breaking value-new: `error.code` can be `{new}`, and is never `-32603` any more")
    };
    assert_eq!(told, [what(-32601), what(-32002)]);
}

/// Twelve scenarios that are answered as their number says, by the word that they ask.
fn answered(statuses: [u16; 3]) -> Side {
    let one = |number: usize| {
        let word = ["red", "blue", "green"][number % 3];
        let said = r#"{"x":1}"#;
        exchange("/pets", &format!(r#"{{"name":"{word}"}}"#), statuses[number % 3], &[said])
    };
    apart("pets", (0..12).map(one))
}

#[test]
fn what_graphql_does_not_answer_any_more_is_refused() {
    let side = |said: &str| {
        let asked = r#"{"query":"mutation { issueCreate { id } }"}"#;
        apart("issue", (0..3).map(|_| exchange("/graphql", asked, 200, &[said])))
    };
    let old = side(r#"{"data":{"issueCreate":{"id":"x"}}}"#);
    let failed = r#"{"data":null,"errors":[{"message":"no"}]}"#;

    let told = told(&compared(&old, &side(failed)));

    let what = "breaking request-refused: a call that was answered with a result is answered with an error";
    assert!(told.contains(&what.to_owned()), "{told:?}");
}

#[test]
fn types_of_problems_are_words_also_where_they_are_addresses() {
    let side = |kind: &str| {
        let said = format!(r#"{{"type":"{kind}","title":"No"}}"#);
        apart("problem", (0..8).map(|_| exchange("/x", "{}", 404, &[&said])))
    };
    for base in ["https://acme.example/errors/", "/errors/", "com.acme.errors.v20120810#"] {
        let [old, new] = ["not-found", "missing"].map(|name| side(&format!("{base}{name}")));

        let [diff, check] = both(&old, &new);

        assert!(diff[0].starts_with("breaking value-"), "{base}: {diff:?}");
        assert!(check[0].starts_with("breaking value-"), "{base}: {check:?}");
    }
}

#[test]
fn one_question_that_is_refused_now_is_no_other_that_is_answered() {
    let told = told(&compared(&answered([200, 400, 200]), &answered([400, 200, 200])));

    assert_eq!(
        told,
        [
            "breaking request-refused: a request that was answered with 200 is refused with 400",
            "unproven status-gone: a request that was answered with 400 is answered with 200"
        ]
    );
}

#[test]
fn an_error_of_the_server_is_another_refusal() {
    let report = compared(&answered([200, 401, 401]), &answered([200, 500, 401]));

    let what = "breaking request-refused: a request that was refused with 401 is refused with 500";
    assert_eq!(told(&report), [what]);
    // What it failed to do it may do.
    let report = compared(&answered([200, 500, 200]), &answered([200, 200, 200]));
    assert_eq!(told(&report), ["trim status-gone: status 500 is not recorded any more"]);
}

#[test]
fn a_request_that_is_refused_comes_before_another_refusal_of_others() {
    let report = compared(&answered([201, 422, 201]), &answered([400, 400, 400]));

    let page = changes(&report, Face::Text, Colour::Plain);

    let first = page.lines().next().unwrap();
    assert!(first.contains("a request that was answered with 201 is refused with"), "{page}");
}

#[test]
fn what_is_always_nothing_has_no_other_name() {
    let side = |said: &str| apart("x", (0..8).map(|_| exchange("/x", "{}", 200, &[said])));
    let told = told(&compared(&side(r#"{"n":1,"old":null}"#), &side(r#"{"n":1,"new":null}"#)));

    assert!(told[0].contains("`old` is gone"), "{told:?}");
}

#[test]
fn json_under_another_media_type_is_compared() {
    let side = |media: &'static str, said: &str| {
        let one = |_| {
            let mut interaction = exchange("/x", "{}", 200, &[said]);
            let Outcome::Response(response) = &mut interaction.outcome else { unreachable!() };
            response.headers = Headers::from_iter([("content-type", media)]);
            interaction
        };
        apart("x", (0..8).map(one))
    };
    let old = side("text/html", r#"{"n":1,"name":"x"}"#);

    let told = told(&compared(&old, &side("application/json", r#"{"n":1}"#)));

    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("`name` is gone"), "{told:?}");
}

#[test]
fn a_type_of_message_that_always_came_is_told_where_the_same_is_asked() {
    let side = |denied: &str| -> Side {
        let one = |number: usize| {
            let (word, then) =
                if number.is_multiple_of(3) { ("deny", denied) } else { ("approve", "result") };
            let said = ["resolved", then, "done"].map(|tag| format!(r#"{{"type":"{tag}"}}"#));
            let asked = format!(r#"{{"decision":"{word}"}}"#);
            exchange("/approvals", &asked, 200, &said.each_ref().map(String::as_str))
        };
        apart("run", (0..9).map(one))
    };
    let what = "`denied` messages are gone where the same is asked, and always came";

    let changed = told(&compared(&side("denied"), &side("result")));

    assert_eq!(changed, [format!("unproven tag-gone: {what}")]);
    assert_eq!(told(&compared(&side("denied"), &side("denied"))), [""; 0]);
}
