//! What recordings have shown often, and no recording shows any more.

use retape::cassette::{Body, Outcome};
use retape::{Cassette, Name};

use super::recordings::exchange;
use super::state::{Side, apart, both};

/// Pages, of which the first ones say this, and the others that.
fn pages(prefix: &str, [(many, one), (few, other)]: [(usize, &str); 2]) -> Side {
    let page = |number| {
        let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
        exchange("/pages", &asked, 200, &[if number < many { one } else { other }])
    };
    apart(prefix, (0..many + few).map(page))
}

/// What is told of pages of which many had something, and none has it now, by `diff`, and by `check` of a contract
/// that is kept.
#[track_caller]
fn check([one, other]: [&str; 2], expected: &[&str]) {
    let old = pages("old", [(9, one), (9, other)]);

    let told = both(&old, &pages("new", [(0, one), (18, other)]));
    let few = both(&old, &pages("new", [(0, one), (5, other)]));
    let very_few = both(&old, &pages("new", [(0, one), (2, other)]));
    let as_before = both(&old, &pages("new", [(1, one), (17, other)]));

    let of = |verdict: &str| -> Vec<String> {
        expected.iter().map(|what| format!("{verdict} {what}")).collect()
    };
    assert_eq!(told, [of("unproven"), of("unproven")]);
    assert_eq!(few, [of("trim"), of("trim")]);
    assert_eq!(very_few[1], [""; 0]);
    assert_eq!(as_before, [vec![""; 0], vec![""; 0]]);
}

#[test]
fn what_five_of_eight_said_and_none_of_eight_says_is_told_beside_what_comes_and_goes() {
    let pages = |prefix: usize, many: usize| {
        let page = |number: usize| {
            let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
            let mut said = serde_json::json!({ "n": 1 });
            for (name, is_there) in
                [("p", number.is_multiple_of(2)), ("q", number % 4 < 2), ("r", number > 3)]
            {
                is_there.then(|| said[name] = 1.into());
            }
            (number < many).then(|| said["usage"] = 7.into());
            exchange("/pages", &asked, 200, &[&said.to_string()])
        };
        apart(&format!("p{prefix}"), (0..8).map(page))
    };

    for told in both(&pages(100, 5), &pages(200, 0)) {
        assert_eq!(told, ["unproven field-gone: `usage` is not seen any more"]);
    }
    assert_eq!(both(&pages(100, 5), &pages(200, 1)), [vec![""; 0], vec![""; 0]]);
}

#[test]
fn a_cursor_that_first_pages_always_had_is_told_though_last_pages_never_had_one() {
    let pages = |prefix: usize, has_cursor: bool| {
        let page = |number: usize| {
            let cursor = format!("c{prefix}{number}");
            let first = match has_cursor {
                true => format!(r#"{{"rows":[{number}],"cursor":"{cursor}"}}"#),
                false => format!(r#"{{"rows":[{number}]}}"#),
            };
            let first = exchange("/pages", r#"{"size":3}"#, 200, &[&first]);
            let asked = format!(r#"{{"size":3,"cursor":"{cursor}"}}"#);
            let last = exchange("/pages", &asked, 200, &[r#"{"rows":[1]}"#]);
            let pages = if has_cursor { vec![first, last] } else { vec![first] };
            let name = Name::new(format!("p{number}")).unwrap();
            (name, Cassette { interactions: pages, ..Cassette::default() })
        };
        (0..8).map(page).collect::<Side>()
    };

    let [diff, _] = both(&pages(1, true), &pages(2, false));

    let what = "`cursor` is gone where the same is asked, and always was a string";
    assert_eq!(diff[0], format!("unproven field-missing: {what}"));
}

#[test]
fn an_optional_field_that_never_comes_again_is_told_by_numbers() {
    let pages = [r#"{"n":1,"more":5}"#, r#"{"n":1}"#];
    check(pages, &["field-gone: `more` is not seen any more"]);
}

#[test]
fn a_word_of_an_outcome_that_is_never_said_again_is_told_by_numbers() {
    let pages = [r#"{"finish_reason":"tool_calls"}"#, r#"{"finish_reason":"stop"}"#];
    check(pages, &["value-gone: `finish_reason` is never `\"tool_calls\"` any more"]);
}

#[test]
fn what_is_never_true_again_is_told_by_numbers() {
    let pages = [r#"{"has_more":true}"#, r#"{"has_more":false}"#];
    check(pages, &["value-gone: `has_more` is never `true` any more"]);
}

#[test]
fn a_list_in_which_nothing_stands_any_more_is_told_by_numbers() {
    let pages = [r#"{"rows":[{"n":1}]}"#, r#"{"rows":[]}"#];
    check(pages, &["type-gone: `rows` is always empty now"]);
}

#[test]
fn a_map_in_which_nothing_stands_any_more_is_told_by_numbers() {
    let row = |number: usize| format!("\"row_5f1c{number:04}\":{{\"n\":{number}}}");
    let pages = |prefix: usize, filled: usize| {
        let page = |number: usize| {
            let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
            let rows = if number < filled { row(prefix + number) } else { String::new() };
            let more = if number < filled {
                format!(",{}", row(prefix + number + 50))
            } else {
                rows.clone()
            };
            exchange("/pages", &asked, 200, &[&format!("{{\"rows\":{{{rows}{more}}}}}")])
        };
        apart(&format!("r{prefix}"), (0..18).map(page))
    };

    for told in both(&pages(100, 18), &pages(300, 0)) {
        assert_eq!(told, ["unproven type-gone: `rows` is always empty now"]);
    }
    assert_eq!(both(&pages(100, 18), &pages(300, 17)), [vec![""; 0], vec![""; 0]]);
}

#[test]
fn a_type_that_a_value_never_has_again_is_told_by_numbers() {
    let pages = [r#"{"next":null}"#, r#"{"next":7}"#];
    check(pages, &["type-gone: `next` is never `null` any more"]);
}

const NEXT: &str = "</pages?after=7>; rel=next";

/// Some answers say where others are.
fn linked(mut side: Side, count: usize, link: &str) -> Side {
    for (_, cassette) in side.iter_mut().take(count) {
        if let Outcome::Response(response) = &mut cassette.interactions[0].outcome {
            response.headers.append("link", link.to_owned());
        }
    }
    side
}

#[test]
fn a_link_that_is_gone_is_told_though_others_came() {
    let page = r#"{"n":1}"#;
    let all = || pages("page", [(18, page), (0, page)]);
    let last = "</pages?page=9>; rel=\"last\"";

    let told = both(&linked(all(), 18, &format!("{NEXT}, {last}")), &linked(all(), 18, last));

    let what =
        "breaking field-missing: the header field `link.next` is gone, which was always there";
    assert_eq!(told, [[what], [what]]);
}

#[test]
fn a_header_field_that_never_comes_again_is_told_by_numbers() {
    let page = r#"{"n":1}"#;
    let all = |prefix| pages(prefix, [(18, page), (0, page)]);

    let told = both(&linked(all("old"), 9, NEXT), &all("new"));

    let what = "unproven field-gone: the header field `link` is not seen any more";
    assert_eq!(told, [[what], [what]]);
}

#[test]
fn messages_that_only_their_event_names_call_are_not_gone() {
    let talk = |number: usize, says_type: bool| {
        let message = |name: &str, rest: &str| {
            let own = if says_type { format!(r#""type":"{name}","#) } else { String::new() };
            format!("event: {name}\ndata: {{{own}{rest}}}\n\n")
        };
        let mut body = message("start", &format!(r#""run":"run-{number}""#));
        (0..=number % 3).for_each(|at| body.push_str(&message("delta", &format!(r#""at":{at}"#))));
        body.push_str(&message("end", r#""cost":1"#));
        let mut talk = exchange("/chat", &format!(r#"{{"n":{number}}}"#), 200, &["{}", "{}"]);
        if let Outcome::Response(response) = &mut talk.outcome {
            response.body = Body::Whole(body.into());
        }
        talk
    };
    let side = |says_type| apart("talk", (0..12).map(|number| talk(number, says_type)));

    for told in both(&side(true), &side(false)) {
        assert!(told[0].starts_with("breaking field-missing: `type` "), "{told:?}");
        assert!(!told.iter().any(|it| it.contains("tag-gone")), "{told:?}");
    }
}
