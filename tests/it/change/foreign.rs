//! What recordings of other services show, and no server promises.

use super::recordings::{checked, exchange, learned};
use super::state::{Side, apart, both};
use super::told;
use retape::cassette::Interaction;
use retape::{Cassette, Name};

fn get(path: &str, status: u16, said: &str) -> Interaction {
    let mut interaction = exchange(path, "", status, &[said]);
    interaction.request.method = "GET".to_owned();
    interaction
}

/// The lines of the contracts learned from these.
fn lines(side: &Side) -> Vec<String> {
    let text = ToString::to_string;
    let texts: Vec<String> = learned(side).iter().map(text).collect();
    texts.iter().flat_map(|text| text.lines()).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_map_by_what_is_said_elsewhere_has_no_fields() {
    let side = |run: usize| {
        let said = format!(
            r#"{{"active":["local-run-{run}"],"by_run":{{"local-run-{run}":["made"]}},"other-name-1":1}}"#
        );
        apart("c", [exchange("/loop", r#"{"go":true}"#, 200, &[&said])])
    };

    assert_eq!(both(&side(16), &side(31)), [const { Vec::<String>::new() }; 2]);
    // What nothing else says is a field.
    let lines = lines(&side(16));
    assert!(lines.contains(&"other-name-1: integer".to_owned()), "{lines:?}");
}

#[test]
fn a_word_beside_identifiers_is_an_endpoint_of_its_own() {
    let item = |number: usize| {
        get(&format!("/cases/9daaa414-8843-46e2-8360-c36d3713{number:04}"), 200, r#"{"case":1}"#)
    };
    let old = apart("c", (0..6).map(item));
    let words = ["/cases/types", "/cases/search"].map(|path| get(path, 200, r#"{"types":[]}"#));
    let new = apart("n", (6..12).map(item).chain(words));

    for told in both(&old, &new) {
        let new: Vec<&String> = told
            .iter()
            .filter(|it| *it == "compatible endpoint-new: the endpoint is new")
            .collect();
        assert_eq!(new.len(), 2, "{told:?}");
        assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
    }
}

#[test]
fn a_version_that_the_server_adds_and_a_uuid_without_dashes_are_echoes() {
    let uuid = "9daaa414-8843-46e2-8360-c36d3713";
    let side = |model: &str, version: &str, dashes: bool| -> Side {
        let one = |number: usize| {
            let page = format!("{uuid}{number:04}");
            let asked = if dashes { page.clone() } else { page.replace('-', "") };
            let asked = format!(r#"{{"model":"{model}","page":"{asked}"}}"#);
            let said = format!(r#"{{"model":"{model}{version}","page":"{page}"}}"#);
            exchange("/pages", &asked, 200, &[&said])
        };
        apart("c", (0..12).map(one))
    };
    let old = side("claude-opus-4-6", "", true);
    let kept = lines(&old);
    for line in ["model equals request.model", "page equals request.page"] {
        assert!(kept.contains(&line.to_owned()), "{kept:?}");
    }

    assert_eq!(told(&checked(&old, &side("claude-haiku-4-5", "-20251001", false))), [""; 0]);
    let other = told(&checked(&old, &side("claude-haiku-4-5", "-lite", false)));
    let broken = "`model equals request.model` does not hold any more";
    assert!(other.iter().any(|it| it.ends_with(broken)), "{other:?}");
}

#[test]
fn a_number_deep_in_a_request_is_no_page_size() {
    let side = |asked: fn(usize) -> String| {
        let rows = |number: usize| vec![r#"{"n":1}"#; 1 + number % 3].join(",");
        let one = |number: usize| {
            let said = format!(r#"{{"rows":[{}]}}"#, rows(number));
            exchange("/ask", &asked(1 + number % 3), 200, &[&said])
        };
        lines(&apart("c", (0..12).map(one)))
    };

    let plain = side(|most| format!(r#"{{"page":{{"limit":{most}}}}}"#));
    let deep = side(|most| format!(r#"{{"schema":{{"ids":{{"maxItems":{most}}}}}}}"#));
    assert!(plain.contains(&"_.rows[] at most request.page.limit".to_owned()), "{plain:?}");
    assert!(deep.iter().all(|line| !line.contains("maxItems")), "{deep:?}");
}

#[test]
fn two_letters_before_a_mark_are_a_prefix_where_several_have_them() {
    let lines = |ids: &[&str]| {
        let said =
            ids.iter().map(|id| exchange("/ask", "{}", 200, &[&format!(r#"{{"id":"{id}"}}"#)]));
        lines(&apart("c", said))
    };

    let one = lines(&["s_P6aZnMMZq5qtsPj9fy"]);
    let several = lines(&["s_P6aZnMMZq5qtsPj9fy", "s_VP6afiZEuitz7IPypu", "s_lP6ae3uJuqGz7IP6e9"]);
    let call = lines(&["call_P6aZnMMZq5qtsPj9fy"]);
    assert!(one.contains(&"id: Id".to_owned()), "{one:?}");
    assert!(several.contains(&"id: Id<s>".to_owned()), "{several:?}");
    assert!(call.contains(&"id: Id<call>".to_owned()), "{call:?}");
}

#[test]
fn what_was_only_refused_may_always_have_been_answered() {
    let no = |at: usize| get(&format!("/report?bad={at}"), 400, r#"{"error":"bad"}"#);
    let refused = apart("old", (0..2).map(no));
    let answered =
        apart("new", (0..3).map(|at| get(&format!("/report?q={at}"), 200, r#"{"n":1}"#)));
    let told = told(&checked(&refused, &answered));
    assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
    assert!(told.contains(&"unproven status-new: it answers 200".to_owned()), "{told:?}");
}

#[test]
fn more_recordings_of_one_media_type_take_no_others_place() {
    let asked = |number: usize, is_stream: bool| {
        let said: &[&str] = &[r#"{"x":1}"#, r#"{"x":2}"#];
        let asked = format!(r#"{{"text":"{number}"}}"#);
        exchange("/chat", &asked, 200, if is_stream { said } else { &said[..1] })
    };
    let old = apart("old", (0..24).map(|it| asked(it, it < 12)));
    let more = apart("new", (30..70).map(|it| asked(it, false)));
    let as_many = apart("new", (30..54).map(|it| asked(it, false)));

    let gone = |told: Vec<String>| -> Vec<String> {
        told.into_iter().filter(|it| it.contains("media-gone")).collect()
    };
    let [more, as_many] = [more, as_many].map(|new| gone(told(&checked(&old, &new))));
    assert!(more.iter().all(|it| !it.starts_with("breaking")), "{more:?}");
    assert!(as_many.iter().any(|it| it.starts_with("breaking")), "{as_many:?}");
}

#[test]
fn a_last_page_leads_nowhere() {
    let pages = |count: usize, has_next: bool| -> Side {
        let one = |number: usize| {
            let mut page = get(&format!("/list?q={number}"), 200, r#"{"rows":[1]}"#);
            if let retape::cassette::Outcome::Response(response) = &mut page.outcome
                && has_next
            {
                let link = format!("</list?q={number}&page=2>; rel=\"next\"");
                response.headers.append("link", link);
            }
            let cassette = Cassette { interactions: vec![page], ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..count).map(one).collect()
    };

    let few = both(&pages(3, true), &pages(3, false));
    let many = both(&pages(12, true), &pages(12, false));
    for told in &few {
        assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
    }
    assert!(many.iter().all(|told| told.iter().any(|it| it.starts_with("breaking"))), "{many:?}");
}

#[test]
fn what_clients_name_and_kinds_that_they_send_are_no_promise() {
    let side = |name: &str, kind: &str| -> Side {
        let one = |number: usize| {
            let sent = format!(
                r#"{{"files":{{"{name}":{{"n":{number}}}}},"tools":[{{"type":"{kind}"}}]}}"#
            );
            exchange("/gists", &sent, 200, &[&sent.replace("\"n\"", "\"size\"")])
        };
        apart("c", (0..12).map(one))
    };
    let forgetting = |side: Side| -> Side {
        let forget = |(name, mut cassette): (Name, Cassette)| {
            for interaction in &mut cassette.interactions {
                interaction.request.body = r#"{"go":true}"#.to_owned().into();
            }
            (name, cassette)
        };
        side.into_iter().map(forget).collect()
    };
    let old = side("one.py", "function");

    let told = super::told(&checked(&old, &side("other.py", "file_search")));
    assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
    // That requests say `null` somewhere excuses none.
    let null = |side: Side| -> Side {
        let no_kind = |(name, mut cassette): (Name, Cassette)| {
            for interaction in &mut cassette.interactions {
                let said = r#"{"files":{"one.py":{"size":1}},"tools":[{"type":null}]}"#;
                *interaction = exchange("/gists", r#"{"tools":[],"stop":null}"#, 200, &[said]);
            }
            (name, cassette)
        };
        side.into_iter().map(no_kind).collect()
    };
    let nulls = super::told(&checked(&old, &null(side("one.py", "function"))));
    assert!(nulls.iter().any(|it| it.starts_with("breaking")), "{nulls:?}");
    let unasked = super::told(&checked(&old, &forgetting(side("other.py", "file_search"))));
    assert!(unasked.iter().any(|it| it.starts_with("breaking field-missing")), "{unasked:?}");
}

#[test]
fn how_another_cassette_ends_than_the_only_one_is_unproven() {
    let stream = |name: &str, types: &[&str]| -> Side {
        let said: Vec<String> = types.iter().map(|it| format!(r#"{{"type":"{it}"}}"#)).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let interactions = vec![exchange("/stream", &format!("\"{name}\""), 200, &said)];
        let cassette = Cassette { interactions, ..Cassette::default() };
        vec![(Name::new(name).unwrap(), cassette)]
    };
    let old = stream("one", &["update", "mention", "delete"]);

    let ends = |new: &Side, verdict: &str| {
        let told = told(&checked(&old, new));
        let is_end = |it: &String| it.starts_with(&format!("{verdict} order-"));
        assert!(told.iter().any(is_end), "{told:?}");
    };
    ends(&stream("other", &["update", "mention"]), "unproven");
    ends(&stream("one", &["update", "mention"]), "breaking");
    // So is what several others say.
    let several: Side = ["a", "b", "c"].iter().flat_map(|name| stream(name, &["gone"])).collect();
    let told = told(&checked(&old, &several));
    assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
}

#[test]
fn what_clients_name_is_no_promise_in_one_of_several_kinds_either() {
    let side = |name: &str| -> Side {
        let one = |number: usize| {
            let files = format!(r#"{{"files":{{"{name}":{{"n":{number}}}}}}}"#);
            let said = match number % 2 {
                0 => format!(r#"{{"object":"gist","owner":"one",{}"#, &files[1..]),
                _ => r#"{"object":"page","lines":["a","b"]}"#.to_owned(),
            };
            exchange("/gists", &files, 200, &[&said])
        };
        apart("c", (0..24).map(one))
    };

    let old = side("one.py");
    assert!(lines(&old).contains(&"by object".to_owned()), "{:?}", lines(&old));
    let told = super::told(&checked(&old, &side("other.py")));
    assert!(told.iter().any(|it| it.contains("files.one.py")), "{told:?}");
    assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
}

#[test]
fn a_word_of_the_client_that_is_read_back_is_no_promise() {
    let side = |purpose: &str, is_told: bool| -> Side {
        let one = |number: usize| {
            let id = format!("file-9daaa41488434{number:011}");
            let file = format!(r#"{{"id":"{id}","purpose":"{purpose}"}}"#);
            let asked =
                if is_told { format!(r#"{{"purpose":"{purpose}"}}"#) } else { "{}".to_owned() };
            let made = exchange("/files", &asked, 200, &[&file]);
            let interactions = vec![made, get(&format!("/files/{id}"), 200, &file)];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..10).map(one).collect()
    };
    let breaking = |is_told: bool| {
        let told = both(&side("assistants", true), &side("user_data", is_told));
        told.map(|told| told.iter().any(|it| it.starts_with("breaking value-new")))
    };

    assert_eq!([breaking(true), breaking(false)], [[false, false], [true, true]]);
}

#[test]
fn a_thing_that_was_deleted_is_not_asked_for_again() {
    let side = |is_deleted_first: bool| -> Side {
        let one = |number: usize| {
            let path = format!("/files/file-9daaa41488434{number:011}");
            let there = get(&path, 200, r#"{"size":1}"#);
            let gone = get(&path, 404, r#"{"error":"no such file"}"#);
            let mut delete = get(&path, 200, r#"{"deleted":true}"#);
            delete.request.method = "DELETE".to_owned();
            let interactions = match is_deleted_first {
                true => vec![there, delete, gone],
                false => vec![there.clone(), there, delete],
            };
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..10).map(one).collect()
    };

    for told in both(&side(true), &side(false)) {
        assert!(told.iter().all(|it| !it.starts_with("breaking")), "{told:?}");
    }
}

#[test]
fn of_what_one_recording_has_shown_the_next_may_say_more() {
    let side = |shown: usize, description: &str| -> Side {
        let one = |number: usize| {
            let tool = match number < shown {
                true => format!(r#"{{"name":"t{number}","description":{description}}}"#),
                false => format!(r#"{{"name":"t{number}"}}"#),
            };
            exchange(
                "/tools",
                &format!(r#"{{"n":{number}}}"#),
                200,
                &[&format!(r#"{{"tools":[{tool}]}}"#)],
            )
        };
        apart("c", (0..12).map(one))
    };
    let told =
        |shown: usize| super::told(&checked(&side(shown, r#""does it""#), &side(12, "null")));

    let is_breaking = |it: &String| it.starts_with("breaking type-new");
    assert!(!told(1).iter().any(is_breaking), "{:?}", told(1));
    assert!(told(9).iter().any(is_breaking), "{:?}", told(9));
}

#[test]
fn a_time_with_a_space_is_another_than_one_with_a_letter() {
    let side = |mark: char| -> Side {
        let one = |number: usize| {
            let said = format!(r#"{{"made":"2026-01-{:02}{mark}10:00:00Z"}}"#, number + 1);
            exchange("/a", &format!(r#"{{"n":{number}}}"#), 200, &[&said])
        };
        apart("c", (0..12).map(one))
    };

    let [told, _] = both(&side('T'), &side(' '));
    assert!(told.iter().any(|it| it.contains("never had a space in it")), "{told:?}");
    assert_eq!(both(&side(' '), &side(' ')), [const { Vec::<String>::new() }; 2]);
}
