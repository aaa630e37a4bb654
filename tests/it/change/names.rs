//! Names in paths, which are no endpoints of their own.

use retape::cassette::{Interaction, Outcome};
use retape::review::change::{self, Known};
use retape::{Cassette, Name};

use super::recordings::{checked, compared, exchange, learned};
use super::state::{apart, both};
use super::told;

fn asked(path: &str, said: &str) -> Interaction {
    let mut interaction = exchange(path, "", 200, &[said]);
    interaction.request.method = "GET".to_owned();
    interaction
}

/// A cassette for each run, in which it is begun, or was before, and asked for.
fn recorded(ids: &[&str], is_begun: bool, said: &str) -> Vec<(Name, Cassette)> {
    let one = |id: &&str| {
        let begun = exchange("/runs", r#"{"go":true}"#, 200, &[&format!(r#"{{"run":"{id}"}}"#)]);
        let mut interactions = vec![begun, asked(&format!("/runs/{id}/steps"), said)];
        if !is_begun {
            interactions.remove(0);
        }
        let name = Name::new(format!("talk-{id}")).unwrap();
        (name, Cassette { interactions, ..Cassette::default() })
    };
    ids.iter().map(one).collect()
}

/// What `diff` and `check` tell alike.
#[track_caller]
fn check(old: &[(Name, Cassette)], new: &[(Name, Cassette)], expected: &[&str]) {
    assert_eq!(told(&compared(old, new)), expected, "diff");
    assert_eq!(told(&checked(old, new)), expected, "check");
}

const OLD: &str = r#"{"steps":3,"title":"red fox"}"#;
const NEW: &str = r#"{"steps":3}"#;
const GONE: &str = "breaking field-missing: `title` is gone, which was always there";

#[test]
fn short_names_that_were_drawn_by_lot_are_compared_with_each_other() {
    let old = recorded(&["3fa9c1", "b4174a", "558298"], false, OLD);
    check(&old, &recorded(&["7d763b", "93fdca", "d2d6b8"], false, NEW), &[GONE]);
    // None of the new ones would show by itself that it is a name.
    let old = recorded(&["8m4g7vsu", "x0d6v1or", "9he6k1w1"], false, OLD);
    check(&old, &recorded(&["abcd4k2x", "jfkal3mq", "qrs7tuvw"], false, NEW), &[GONE]);
}

#[test]
fn what_the_server_gave_before_is_a_name_though_no_other_came() {
    check(
        &recorded(&["3fa9c1"], true, OLD),
        &recorded(&["7d763b"], true, NEW),
        &["unproven field-missing: `title` is gone, which was always there"],
    );
}

#[test]
fn another_model_in_the_path_is_asked_the_same() {
    let recorded = |prefix: &str, model: &str, said: &str| {
        let one = |number: usize| {
            let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
            exchange(&format!("/models/{model}:generate"), &asked, 200, &[said])
        };
        apart(prefix, (0..8).map(one))
    };
    let old = recorded("old", "flash-2.0", OLD);
    let told = |model: &str, said: &str| both(&old, &recorded("new", model, said));

    let moved = "compatible endpoint-new: it is asked where `/models/flash-2.0:generate` was";
    for now in told("flash-2.5", NEW) {
        assert_eq!(now, [GONE, moved]);
    }
    // What is no name is something else.
    let others = [
        "compatible endpoint-new: the endpoint is new",
        "trim endpoint-gone: the endpoint is not recorded any more",
    ];
    assert_eq!(told("thinker", NEW)[0], others);
    assert_eq!(told("flash-3.1", r#"{"vectors":[0.5]}"#)[0], others);
}

#[test]
fn another_model_with_a_slash_in_its_name_is_asked_the_same() {
    let recorded = |model: &str, field: &str, said: &str| {
        let one = |number: usize| {
            let asked = format!(r#"{{"{field}":"go {number}"}}"#);
            exchange(&format!("/models/{model}/run"), &asked, 200, &[said])
        };
        apart("run", (0..8).map(one))
    };
    let old = recorded("meta/llama-3-8b", "inputs", OLD);
    let told = |model: &str, field: &str| told(&compared(&old, &recorded(model, field, NEW)));

    let moved = "compatible endpoint-new: it is asked where `/models/meta/llama-3-8b/run` was";
    assert_eq!(told("mistralai/mistral-7b", "inputs"), [GONE, moved]);
    // What is asked otherwise is something else.
    let other = "compatible endpoint-new: the endpoint is new";
    assert_eq!(told("mistralai/mistral-7b", "prompt")[0], other);
}

#[test]
fn a_refusal_is_told_by_the_path_that_the_other_side_shows() {
    let mut new = recorded(&["b4174a", "3fa9c1"], false, OLD);
    for (_, cassette) in &mut new {
        for interaction in &mut cassette.interactions {
            interaction.request.path = "/runs/none/steps".to_owned();
            if let Outcome::Response(response) = &mut interaction.outcome {
                response.status = 404;
            }
        }
    }
    let old = recorded(&["3fa9c1", "b4174a", "558298"], false, OLD);

    let told = told(&compared(&old, &new));

    assert_eq!(
        told,
        [
            "unproven status-new: it answers 404",
            "trim status-gone: status 200 is not recorded any more"
        ]
    );
}

#[test]
fn what_is_accepted_on_one_side_is_called_so_on_the_other() {
    let search = |key: &str| {
        let found = format!(r#"{{"hits":{{"{key}":[1]}}}}"#);
        let asked = |number: usize| format!(r#"{{"q":"{number}"}}"#);
        let refused = |path: &str, status: u16| {
            exchange(path, r#"{"q":"none"}"#, status, &[r#"{"error":{"resource.id":"none"}}"#])
        };
        let answered = (0..6).map(|it| exchange("/logs/_search", &asked(it), 200, &[&found]));
        let bad = exchange("/logs/_search", r#"{"q":{}}"#, 400, &[r#"{"error":{}}"#]);
        apart("search", answered.chain([bad, refused("/none/_search", 404)]))
    };
    let (old, same, other) = (search("list"), search("list"), search("docs"));
    let accepted = learned(&old[..6]);
    let of_old = Known { name: "old", path: "c", cassettes: &old, accepted: &accepted };
    let against = |new: &[(Name, Cassette)]| {
        told(&change::compare(
            of_old,
            Known { name: "new", path: "c", cassettes: new, accepted: &[] },
        ))
    };

    assert_eq!(against(&same), [""; 0]);
    let told = against(&other);
    assert!(told.iter().any(|it| it.starts_with("breaking field-missing")), "{told:?}");
}

#[test]
fn an_open_place_is_the_same_whatever_either_side_calls_it() {
    let side = |names: [&str; 2], said: &str, refused: bool| {
        let one = |number: usize| {
            let path = format!("/v1/charges/{}{number:04}", names[number % 2]);
            match refused && number > 5 {
                true => exchange(&path, "", 404, &[r#"{"error":"none"}"#]),
                false => exchange(&path, "", 200, &[said]),
            }
        };
        apart("charge", (0..8).map(one))
    };
    // All of one prefix, or of two: what stands before the place names it then.
    let old = side(["ch_3f9ab71c", "ch_77b0e21d"], OLD, false);
    let new = side(["ch_5a1bc09d", "py_91c0d3ea"], NEW, true);

    let refused =
        "breaking request-refused: a request that was answered with 200 is refused with 404";
    let told_of_new = [GONE, refused, "unproven status-new: it answers 404"];
    assert_eq!(told(&compared(&old, &new)), told_of_new);
    assert_eq!(
        told(&compared(&new, &old)),
        [
            "unproven status-gone: a request that was answered with 404 is answered with 200",
            "compatible field-new: `title` is new: `string`"
        ]
    );
}
