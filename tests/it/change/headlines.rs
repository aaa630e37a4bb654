//! What the first line says.

use retape::review::change::{Approval, Report};
use retape::review::report::{Colour, Face, changes};
use retape::{Cassette, Name};

use super::recordings::{checked, checked_by, exchange, learned};
use super::state::apart;
use super::{body, compared, told};

#[track_caller]
fn first_line(report: &Report) -> String {
    let text = changes(report, Face::Text, Colour::Plain);
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn what_is_gone_is_not_called_nothing_that_breaks_a_client() {
    let report = compared(
        &body("object\n  id: integer\n  name?: string"),
        &body("object\n  id: integer\n  title?: string"),
    );
    assert_eq!(first_line(&report), "trim: GET /x: `name` is not seen any more");

    let report =
        compared(&body("object\n  id: integer"), &body("object\n  id: integer\n  title?: string"));
    assert_eq!(first_line(&report), "nothing that breaks a client: 1 compatible at GET /x");
}

#[test]
fn what_is_approved_is_not_called_nothing() {
    let mut report =
        compared(&body("object\n  id: integer"), &body("object\n  id: string | integer"));
    let approval = Approval::of(&report.changes[0], "all of them are ours");
    report.approve(&[approval]);

    assert_eq!(first_line(&report), "nothing that is not approved: 1 approved at GET /x");
}

#[test]
fn an_endpoint_that_fails_as_nothing_was_accepted_is_named() {
    let one = |path: &str| exchange(path, "", 200, &[r#"{"x":1}"#]);
    let side = |interactions| {
        let cassette = Cassette { interactions, ..Cassette::default() };
        vec![(Name::new("talk").unwrap(), cassette)]
    };
    let accepted = learned(&side(vec![one("/a")]));
    let now = side(vec![one("/a"), one("/b"), one("/c")]);

    let report = checked_by(&accepted, &now);

    assert_eq!(
        first_line(&report),
        "no contract is accepted for POST /b -> 200, and 1 more endpoint"
    );
}

#[test]
fn what_changed_is_named_before_what_nobody_accepted() {
    let answered = |status: u16| {
        let one = |number: usize| exchange("/a", &format!("{number}"), status, &[r#"{"x":1}"#]);
        let interactions = (0..4).map(one).collect();
        vec![(Name::new("talk").unwrap(), Cassette { interactions, ..Cassette::default() })]
    };

    let report = checked(&answered(422), &answered(400));

    let text = changes(&report, Face::Text, Colour::Plain).replace('\n', " ");
    let both = "unproven: POST /a answers 400, and not 422 any more; no contract is accepted for POST /a -> 400 ";
    assert!(text.starts_with(both), "{text}");
}

#[test]
fn a_kind_is_named_where_there_are_others() {
    let of = |schemas: &[(&str, &str)]| {
        let kinds = schemas.iter().map(|(kind, field)| {
            format!("    {kind}\n      object\n        {field}: object\n          id: integer\n")
        });
        format!("GET /x -> 200 application/json\n  body by kind\n{}", kinds.collect::<String>())
    };
    let only = compared(&of(&[("error", "fault")]), &of(&[("error", "fault?")]));
    assert_eq!(told(&only), ["breaking field-missing: `fault` can be missing"]);

    let both = [("error", "fault"), ("result", "value")];
    let report = compared(&of(&both), &of(&[("error", "fault?"), both[1]]));
    assert_eq!(
        told(&report),
        ["breaking field-missing: `fault` can be missing (in answers of the kind `error`)"]
    );
}

#[test]
fn of_what_is_as_bad_the_first_line_tells_what_most_answers_show() {
    let side = |is_new: bool| {
        let of = |path: &str, number: usize, said: &str| {
            exchange(path, &format!(r#"{{"n":{number}}}"#), 200, &[said])
        };
        let [few, many] = match is_new {
            true => [r#"{"x":"a"}"#, r#"{"y":1}"#],
            false => [r#"{"x":1}"#, r#"{"y":1,"z":2}"#],
        };
        apart("few", (0..5).map(|it| of("/a", it, few)))
            .into_iter()
            .chain(apart("many", (0..9).map(|it| of("/b", it, many))))
            .collect::<Vec<_>>()
    };

    let report = super::recordings::compared(&side(false), &side(true));

    assert_eq!(first_line(&report), "breaking: POST /b: `z` is gone, which was always there");
}
