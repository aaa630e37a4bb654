//! What recordings have in common by chance, or by what their scenarios have: no promise. And what only looks like that.

use retape::cassette::Interaction;

use super::recordings::{compared, exchange, learned};
use super::state::{Side, apart};
use super::told;

/// What is promised of requests and their answers, each in a recording of its own.
fn promised(all: impl IntoIterator<Item = (String, String)>) -> String {
    let side = apart("c", all.into_iter().map(|(asked, said)| exchanged(&asked, &said)));
    learned(&side).iter().map(ToString::to_string).collect()
}

fn exchanged(asked: &str, said: &str) -> Interaction {
    exchange("/search", asked, 200, &[said])
}

#[test]
fn words_that_are_always_said_together_decide_together() {
    let of = |number: usize| {
        let row = |at: usize| format!(r#"{{"name":"{number} {at}","size":{}}}"#, 100 * number + at);
        match number % 2 {
            0 => {
                let rows = [3, 2, 1].map(row).join(",");
                (
                    r#"{"sort":"size","dir":"desc","limit":"20"}"#.to_owned(),
                    format!(r#"{{"files":[{rows}]}}"#),
                )
            }
            _ => {
                let rows = [2, 3, 1].map(row).join(",");
                ("{}".to_owned(), format!(r#"{{"files":[{rows}]}}"#))
            }
        }
    };

    let promised = promised((0..20).map(of));

    let all = r#"request.dir="desc" and request.limit="20" and request.sort="size""#;
    assert!(
        promised.contains(&format!("_.files[] sorted by size falling with {all}")),
        "{promised}"
    );
    assert_eq!(promised.matches("sorted by").count(), 1, "{promised}");
}

#[test]
fn what_comes_comes_with_the_word_that_is_called_so_or_with_none() {
    let of = |explain: &str| {
        let asked = explain.to_owned();
        promised((0..20).map(|number| match number % 2 {
            0 => (
                format!(r#"{{"query":"engine","top":{number}{asked}}}"#),
                format!(r#"{{"n":{number},"explain":"{number} matched"}}"#),
            ),
            _ => (format!(r#"{{"query":"wheel","top":{number}}}"#), format!(r#"{{"n":{number}}}"#)),
        }))
    };

    let named = of(r#","explain":true"#);
    assert!(named.contains("explain comes with request.explain=true"), "{named}");
    let unnamed = of(r#","detail":"full""#);
    assert!(!unnamed.contains("comes with"), "{unnamed}");
}

#[test]
fn two_that_count_say_the_same_by_chance_unless_they_are_called_alike() {
    let of = |name: &str| {
        promised((0..20).map(|number| {
            let count = number % 4 + 1;
            (format!(r#"{{"{name}":{count}}}"#), format!(r#"{{"page":{count},"text":"{number}"}}"#))
        }))
    };

    assert!(!of("wait").contains("page equals request.wait"), "{}", of("wait"));
    assert!(of("page").contains("page equals request.page"), "{}", of("page"));
}

#[test]
fn other_requests_take_no_echo_away_however_many_they_are() {
    let others = (0..100).map(|number| ("{}".to_owned(), format!(r#"{{"floor":{}}}"#, number % 7)));
    let asked = (0..12).map(|number| {
        let floor = 10 * (number % 4 + 1);
        (format!(r#"{{"floor":{floor}}}"#), format!(r#"{{"floor":{floor}}}"#))
    });

    let promised = promised(others.chain(asked));

    assert!(promised.contains("floor equals request.floor"), "{promised}");
}

#[test]
fn times_that_are_as_far_apart_in_each_answer_belong_together() {
    let of = |days: [usize; 2]| {
        promised((0..12).map(|number| {
            let due = 10 + days[number % 2];
            let at = |day: usize| format!("2026-11-{day}T09:{number:02}:00.{number:03}Z");
            (
                format!(r#"{{"item":"item {number}"}}"#),
                format!(r#"{{"issued_at":"{}","due_at":"{}"}}"#, at(10), at(due)),
            )
        }))
    };

    assert!(of([14, 14]).contains("issued_at at most due_at"), "{}", of([14, 14]));
    assert!(!of([14, 15]).contains("at most"), "{}", of([14, 15]));
}

#[test]
fn a_list_that_says_there_is_more_need_not_have_all_that_was_made() {
    let side = |made: usize| -> Side {
        let one = |number: usize| {
            let ids: Vec<String> =
                (0..made).map(|at| format!("thing-5f{number:03}{at:03}c")).collect();
            let made = ids
                .iter()
                .map(|id| exchange("/things", "{}", 200, &[&format!(r#"{{"id":"{id}"}}"#)]));
            let shown =
                ids.iter().take(5).map(|id| format!(r#"{{"id":"{id}"}}"#)).collect::<Vec<_>>();
            let has_more = ids.len() > 5;
            let said = format!(r#"{{"data":[{}],"has_more":{has_more}}}"#, shown.join(","));
            let mut list = exchange("/things", "", 200, &[&said]);
            list.request.method = "GET".to_owned();
            let interactions = made.chain([list]).collect();
            let name = retape::Name::new(format!("c-{number}")).unwrap();
            (name, retape::Cassette { interactions, ..retape::Cassette::default() })
        };
        (0..8).map(one).collect()
    };
    let promise = "_.data[].id lists what was made";

    let few = learned(&side(3)).iter().map(ToString::to_string).collect::<String>();
    assert!(few.contains(promise), "{few}");
    let many = told(&compared(&side(3), &side(9)));
    assert!(!many.iter().any(|it| it.contains(promise)), "{many:?}");
}

#[test]
fn what_only_new_requests_get_that_ask_otherwise_proves_nothing() {
    let asked = |number: usize| {
        (format!(r#"{{"title":"title {number}"}}"#), format!(r#"{{"title":"title {number}"}}"#))
    };
    let old = apart("old", (0..20).map(asked).map(|(asked, said)| exchanged(&asked, &said)));
    let untitled = [r#"{"kind":"chat"}"#, r#"{"kind":"mail"}"#];
    let added = |prefix: &str| apart(prefix, untitled.map(|it| exchanged(it, r#"{"title":null}"#)));

    let told = told(&compared(&old, &[old.clone(), added("new")].concat()));

    assert!(told.contains(&"unproven type-new: `title` can be `null`".to_owned()), "{told:?}");
    assert!(!told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
}

#[test]
fn a_word_that_stands_in_a_part_of_a_form_is_the_clients() {
    let upload = |category: &str, number: usize| {
        let part = format!(
            "--b\r\nContent-Disposition: form-data; name=\"category\"\r\n\r\n{category}\r\n--b--\r\n"
        );
        let said = format!(r#"{{"n":{number},"category":"{category}"}}"#);
        let mut upload = exchange("/files", &part, 200, &[&said]);
        upload.request.headers.set("content-type", "multipart/form-data; boundary=b".to_owned());
        upload
    };
    let word = |number: usize| ["invoice", "photo"][number % 2];
    let old = apart("old", (0..24).map(|number| upload(word(number), number)));
    let added = apart("new", (0..3).map(|number| upload("contract", number)));

    let told = told(&compared(&old, &[old.clone(), added].concat()));

    assert!(!told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
}
