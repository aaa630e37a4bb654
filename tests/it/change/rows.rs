//! What is kept and comes again in each recording.

use retape::cassette::{Interaction, Request};
use retape::contract::Contract;
use retape::review::change::Verdict;
use retape::{Cassette, Name};

use super::recordings::{asked, checked, checked_by, compared, exchange, learned};
use super::told;

/// Scenarios that each read a list with these rows.
fn scenarios(from: usize, count: usize, rows: &[String]) -> Vec<(Name, Cassette)> {
    let list = format!(r#"{{"data":[{}],"more":false}}"#, rows.join(","));
    let one = |number: usize| {
        let interactions = vec![exchange("/users", &asked(number), 200, &[&list])];
        (
            Name::new(format!("list-{number}")).unwrap(),
            Cassette { interactions, ..Cassette::default() },
        )
    };
    (from..from + count).map(one).collect()
}

fn row(id: usize, rest: &str) -> String {
    format!(r#"{{"id":"usr_{id}Kx9Qa7Zt{id}","n":{id},{rest}}}"#)
}

fn rows(from: usize, rest: &[&str]) -> Vec<String> {
    rest.iter().enumerate().map(|(at, rest)| row(from + at, rest)).collect()
}

const GOLD: &str = r#""tier":"gold","zip":"10115""#;
const FREE: &str = r#""tier":"free","zip":"20095""#;
const OTHER: &str = r#""tier":"silver","zip":"4000-001""#;

fn verdicts(accepted: &[Contract], new: &[(Name, Cassette)]) -> Vec<Verdict> {
    let report = checked_by(accepted, new);
    report.changes.iter().map(|change| change.verdict).collect()
}

#[test]
fn three_rows_in_thirty_recordings_promise_no_words() {
    let accepted = learned(&scenarios(0, 30, &rows(0, &[GOLD, FREE, GOLD])));

    let body = accepted[0].body.as_ref().unwrap();
    let text = accepted[0].to_string();
    assert!(text.contains("tier: string") && text.contains("zip: string"), "{body:?}");

    let others = scenarios(50, 30, &rows(10, &[GOLD, OTHER]));
    assert_eq!(verdicts(&accepted, &others), []);
}

#[test]
fn rows_that_differ_promise_what_all_of_them_say() {
    let all: Vec<(Name, Cassette)> =
        (0..30).flat_map(|number| scenarios(number, 1, &rows(number * 2, &[GOLD, FREE]))).collect();

    let text = learned(&all)[0].to_string();
    assert!(text.contains(r#"tier: "free" | "gold""#), "{text}");
}

#[test]
fn one_new_row_of_many_may_have_been_possible_and_all_are_no_chance() {
    let told_of = |rest: &[&str]| {
        let old = scenarios(0, 12, &rows(0, &[GOLD, FREE, GOLD, FREE, GOLD, FREE]));
        let report = compared(&old, &scenarios(0, 12, &rows(20, rest)));
        (report.changes.first().map(|it| it.verdict), told(&report))
    };
    let lost = r#""tier":"gold""#;

    let (some, words) = told_of(&[GOLD, FREE, lost, FREE, GOLD, FREE]);
    assert_eq!(some, Some(Verdict::Unproven), "{words:?}");
    let (all, words) = told_of(&[lost; 6]);
    assert_eq!(all, Some(Verdict::Breaking), "{words:?}");
}

#[test]
fn a_row_that_was_there_before_and_says_something_else_has_changed() {
    let old = scenarios(0, 12, &rows(0, &[GOLD, FREE, GOLD]));
    let lost = r#""tier":"free""#;

    let report = compared(&old, &scenarios(0, 12, &rows(0, &[GOLD, lost, GOLD])));

    assert_eq!(report.changes[0].verdict, Verdict::Breaking, "{:?}", told(&report));
}

#[test]
fn what_is_read_by_its_name_counts_once_as_well() {
    let read = |from: usize, kind: &dyn Fn(usize) -> &'static str| -> Vec<(Name, Cassette)> {
        let one = |number: usize| {
            let user = row(from + number % 5, kind(number % 5));
            let interactions = vec![exchange("/user", &asked(from + number), 200, &[&user])];
            let name = Name::new(format!("read-{}", from + number)).unwrap();
            (name, Cassette { interactions, ..Cassette::default() })
        };
        (0..30).map(one).collect()
    };
    let old = read(0, &|_| r#""plan":{"months":1}"#);

    let one = compared(
        &old,
        &read(100, &|at| match at {
            0 => r#""plan":null"#,
            _ => r#""plan":{"months":1}"#,
        }),
    );
    assert_eq!(one.changes[0].verdict, Verdict::Unproven, "{:?}", told(&one));
    let all = compared(&old, &read(100, &|_| r#""plan":null"#));
    assert_eq!(all.changes[0].verdict, Verdict::Breaking, "{:?}", told(&all));
}

#[test]
fn what_a_message_of_json_rpc_answers_is_no_row() {
    let recorded = |said: &str| -> Vec<(Name, Cassette)> {
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        let one = |number: usize| {
            let interactions = vec![exchange("/rpc", asked, 200, &[said])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("talk-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect()
    };
    let checked = |old: &str, new: &str| checked(&recorded(old), &recorded(new));
    let result = |can: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"can":{{{can}}}}}}}"#);
    let thing = |can: &str| format!(r#"{{"id":"thg_1Kx9Qa7Zt1","can":{{{can}}}}}"#);

    let told_of_all = told(&checked(&result(r#""run":{}"#), &result("")));
    let of_one = checked(&thing(r#""run":{}"#), &thing(""));

    assert_eq!(
        told_of_all,
        ["breaking field-missing: `result.can.run` is gone, which was always there"]
    );
    assert_eq!(
        told(&of_one),
        ["unproven field-missing: `can.run` is gone, which was always there"]
    );
    assert!(of_one.changes[0].why.starts_with("one and the same object shows it"));
}

#[test]
fn one_more_thing_in_a_list_is_no_other_thing() {
    let list = |names: &'static [&'static str], field: &'static str| -> Vec<(Name, Cassette)> {
        let one = |number: usize| {
            let row = |name: &&str| format!(r#"{{"{field}":"{name}","n":{number}}}"#);
            let rows = names.iter().map(row).collect::<Vec<_>>().join(",");
            let said = format!(r#"{{"agents":[{rows}]}}"#);
            let interactions = vec![exchange("/agents", &asked(number), 200, &[&said])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect()
    };
    let both = |old: &[(Name, Cassette)], new: &[(Name, Cassette)]| {
        [told(&compared(old, new)), told(&checked(old, new))]
    };

    let more = both(&list(&["helper"], "name"), &list(&["helper", "cook"], "name"));
    let other = both(&list(&["helper"], "name"), &list(&["cook"], "name"));
    let twice = both(&list(&["helper"], "name"), &list(&["helper", "cook", "cook"], "name"));
    let kind = both(&list(&["helper"], "kind"), &list(&["helper", "cook"], "kind"));

    let new = "unproven value-new: `agents[].name` can be `\"cook\"`".to_owned();
    for told in &more {
        assert!(told.contains(&new), "{told:?}");
        assert!(told.iter().all(|it| it.starts_with("unproven")), "{told:?}");
    }
    for told in other.iter().chain(&twice).chain(&kind) {
        assert!(told.iter().any(|it| it.starts_with("breaking value-")), "{told:?}");
    }
}

/// Lists that each come in pages, of which the last has no token or, if they are endless, has one.
fn lists(prefix: &str, is_endless: bool) -> Vec<(Name, Cassette)> {
    let list = |number: usize| {
        let pages = 2 + number % 3;
        let page = |page: usize| {
            let token = |page: usize| format!("tok{prefix}{number}x{page}a9");
            let path = match page {
                0 => format!("/users?team={prefix}{number}"),
                _ => format!("/users?team={prefix}{number}&after={}", token(page)),
            };
            let is_last = page + 1 == pages && !is_endless;
            let next =
                if is_last { String::new() } else { format!(r#","next":"{}""#, token(page + 1)) };
            let said = format!(r#"{{"data":[{{"n":{page}}}]{next}}}"#);
            Interaction { request: Request::of("GET", path), ..exchange("", "", 200, &[&said]) }
        };
        let interactions = (0..pages).map(page).collect();
        let name = Name::new(format!("list-{prefix}{number}")).unwrap();
        (name, Cassette { interactions, ..Cassette::default() })
    };
    (0..10).map(list).collect()
}

#[test]
fn pages_that_come_to_no_end_are_told() {
    let (old, again, endless) = (lists("a", false), lists("b", false), lists("b", true));

    for told in [told(&compared(&old, &endless)), told(&checked(&old, &endless))] {
        let what = "`next` always comes now: clients that go on with it come to no end";
        assert_eq!(told, [format!("unproven value-other: {what}")]);
    }
    for told in [told(&compared(&old, &again)), told(&checked(&old, &again))] {
        assert_eq!(told, [""; 0]);
    }
    // What nobody goes on with may come as often as it likes.
    let plain = |side: Vec<(Name, Cassette)>| {
        let mut side = side;
        for interaction in side.iter_mut().flat_map(|(_, it)| &mut it.interactions) {
            interaction.request.path = interaction.request.path.replace("tok", "kot");
        }
        side
    };
    let told = told(&compared(&plain(old), &plain(endless)));
    assert_eq!(told, [""; 0]);
}
