//! Answers that take the place of others.

use retape::review::change::Report;
use retape::{Cassette, Name};

use super::recordings::{checked, compared, exchange};
use super::told;

/// What one scenario was answered: a status, and whether that is a stream.
#[derive(Clone, Copy)]
enum Answer {
    Json(u16),
    Stream,
}

/// A cassette for each scenario, which asks something of its own.
fn scenarios(answers: &[(Answer, usize)]) -> Vec<(Name, Cassette)> {
    asking("hello", answers)
}

fn asking(word: &str, answers: &[(Answer, usize)]) -> Vec<(Name, Cassette)> {
    let all = answers.iter().flat_map(|(answer, count)| std::iter::repeat_n(*answer, *count));
    let one = |(number, answer): (usize, Answer)| {
        let name = Name::new(format!("talk-{number}")).unwrap();
        let asked = format!(r#"{{"text":"{word} {number}"}}"#);
        let interaction = match answer {
            Answer::Json(status) => exchange("/chat", &asked, status, &[r#"{"x":1}"#]),
            Answer::Stream => exchange("/chat", &asked, 200, &[r#"{"x":1}"#, r#"{"x":2}"#]),
        };
        (name, Cassette { interactions: vec![interaction], ..Cassette::default() })
    };
    all.enumerate().map(one).collect()
}

#[track_caller]
fn check(old: &[(Answer, usize)], new: &[(Answer, usize)], expected: &[&str]) {
    assert_eq!(told(&checked(&scenarios(old), &scenarios(new))), expected);
}

/// The same by the recordings of before, where other things are asked now.
#[track_caller]
fn check_all(old: &[(Answer, usize)], new: &[(Answer, usize)], expected: &[&str]) {
    check(old, new, expected);
    assert_eq!(told(&compared(&scenarios(old), &asking("bye", new))), expected);
}

const REFUSED: &str = "request-refused: a request that was answered with 200 is refused with 404";
const GONE: &str = "trim status-gone: status 200 is not recorded any more";

#[test]
fn check_and_diff_tell_alike_what_scenarios_are_answered_now_that_were_recorded_again() {
    use Answer::{Json, Stream};
    for (old, new) in [(Json(200), Json(404)), (Json(202), Json(201)), (Stream, Json(200))] {
        let old = scenarios(&[(old, 5), (new, 5)]);
        let new = scenarios(&[(new, 10)]);

        let (diff, check) = (compared(&old, &new), checked(&old, &new));

        let of = |report: &Report| {
            let changes = report.changes.iter().map(|it| (it.fingerprint.clone(), it.verdict));
            changes.collect::<Vec<_>>()
        };
        assert_eq!(told(&diff), told(&check));
        assert_eq!(of(&diff), of(&check));
        assert!(told(&diff)[0].starts_with("breaking"), "{:?}", told(&diff));
        assert_eq!(told(&diff).len(), 1);
    }
}

#[test]
fn a_refusal_that_was_not_known_is_no_other_than_one_that_was() {
    let refused = format!("breaking {REFUSED}");
    check_all(&[(Answer::Json(200), 5)], &[(Answer::Json(404), 5)], &[&refused]);
    // Fewer than before are no chance either, if they are many.
    check_all(&[(Answer::Json(200), 12)], &[(Answer::Json(404), 11)], &[&refused]);
}

#[test]
fn what_few_recordings_tell_of_refusals_is_unproven() {
    let (answered, refused) = (Answer::Json(200), Answer::Json(404));
    let told = format!("unproven {REFUSED}");
    check_all(&[(answered, 2), (refused, 2)], &[(refused, 4)], &[&told]);
    // Of the only scenario that was answered it is known.
    let told = format!("breaking {REFUSED}");
    check(&[(answered, 1), (refused, 2)], &[(refused, 3)], &[&told]);
}

#[test]
fn a_scenario_that_is_not_recorded_any_more_is_not_refused() {
    let (answered, refused) = (Answer::Json(200), Answer::Json(404));
    check_all(&[(answered, 5), (refused, 5)], &[(refused, 5)], &[GONE]);
    check_all(&[(answered, 5), (refused, 5)], &[(refused, 7)], &[GONE]);
    check_all(&[(answered, 5), (refused, 5)], &[(answered, 4), (refused, 5)], &[]);
    // Another conversation asks often what others have asked once.
    let interactions = scenarios(&[(refused, 9)]).into_iter().flat_map(|it| it.1.interactions);
    let one = Cassette { interactions: interactions.collect(), ..Cassette::default() };
    let new = [(Name::new("other").unwrap(), one)];
    assert_eq!(told(&checked(&scenarios(&[(answered, 4), (refused, 2)]), &new)), [GONE]);
}

#[test]
fn what_a_header_field_asks_for_is_told_where_it_is_answered_otherwise() {
    let side = |status: u16| -> Vec<(Name, Cassette)> {
        let one = |number: usize| {
            let get = |range: &str, status: u16| {
                let mut get = exchange("/file.txt", "", status, &[r#"{"x":1}"#]);
                get.request.method = "GET".to_owned();
                get.request.headers.set("range", range.to_owned());
                get
            };
            let interactions = vec![get("", 200), get("bytes=2-5", status)];
            let name = Name::new(format!("get-{number}")).unwrap();
            (name, Cassette { interactions, ..Cassette::default() })
        };
        (0..4).map(one).collect()
    };

    let told = told(&compared(&side(206), &side(200)));

    assert_eq!(
        told,
        ["breaking status-gone: a request that was answered with 206 is answered with 200"]
    );
}
