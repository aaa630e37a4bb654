//! What recordings show decides, and not how much was claimed from them.

use retape::cassette::Interaction;
use retape::contract::Contract;
use retape::review::change::{Known, compare};

use super::recordings::{exchange, learned};
use super::state::{Side, apart, both};
use super::told;

/// Conversations of their own, in which the server says these messages.
fn streams<S: AsRef<[String]>>(prefix: &str, said: impl IntoIterator<Item = S>) -> Side {
    let one = |(number, said): (usize, S)| {
        let asked = format!(r#"{{"text":"{prefix} {number}"}}"#);
        let said: Vec<&str> = said.as_ref().iter().map(String::as_str).collect();
        exchange("/chat", &asked, 200, &said)
    };
    apart(prefix, said.into_iter().enumerate().map(one))
}

/// Bodies of their own.
fn bodies(prefix: &str, said: &[String]) -> Side {
    streams(prefix, said.iter().map(std::slice::from_ref))
}

/// What is told where both sides have accepted what they teach.
fn accepted(old: &Side, new: &Side, edited: impl Fn(Contract) -> Contract) -> Vec<String> {
    let contracts = [learned(old), learned(new).into_iter().map(edited).collect()];
    let known = |name, cassettes, accepted| Known { name, path: "c", cassettes, accepted };
    told(&compare(known("old", old, &contracts[0]), known("new", new, &contracts[1])))
}

#[test]
fn a_stream_that_loses_its_end_behind_one_of_many_reasons_breaks() {
    // How often the server stops for each reason, and what follows.
    let reasons = [
        ("end_turn", 20, "usage"),
        ("cancelled", 6, ""),
        ("error", 6, "failure"),
        ("max_steps", 1, "usage"),
        ("tool_rule", 1, "usage"),
        ("requires_approval", 6, "usage"),
        ("llm_api_error", 6, "failure"),
    ];
    let side = |prefix: &str, lost: usize| {
        let message = |tag: &str| format!(r#"{{"message_type":"{tag}"}}"#);
        let stream = |(reason, number, last): (&str, usize, &str)| {
            let stop = format!(r#"{{"message_type":"stop_reason","stop_reason":"{reason}"}}"#);
            let is_lost = reason == "end_turn" && number < lost;
            let last = Some(last).filter(|last| !last.is_empty() && !is_lost).map(message);
            [message("answer"), stop].into_iter().chain(last).collect::<Vec<String>>()
        };
        let all = reasons.iter().flat_map(|(reason, times, last)| {
            (0..*times).map(move |number| (*reason, number, *last))
        });
        streams(prefix, all.map(stream))
    };
    let what = r#"order-end-new: the stream ends after `stop_reason` with no `usage`"#;

    for told in both(&side("old", 0), &side("new", 20)) {
        assert!(told.contains(&format!("breaking {what}")), "{told:#?}");
    }
    for told in both(&side("old", 0), &side("new", 1)) {
        assert_eq!(told, [format!("unproven {what}")]);
    }
    assert_eq!(both(&side("old", 0), &side("new", 0)), [vec![""; 0], vec![""; 0]]);
}

#[test]
fn names_of_events_that_are_gone_are_told_also_where_the_contract_was_accepted_without_them() {
    let side = |prefix: &str, is_named: bool| {
        let event = |tag: &str| match is_named {
            true => format!("{{\"type\":\"{tag}\",\"n\":1}}\nevent: {tag}"),
            false => format!(r#"{{"type":"{tag}","n":1}}"#),
        };
        let stream = |_| ["start", "piece", "end"].map(event);
        streams(prefix, (0..12).map(stream))
    };

    let told = accepted(&side("old", true), &side("new", false), |it| it);

    assert!(told.iter().any(|it| it.starts_with("breaking")), "{told:?}");
    assert_eq!(accepted(&side("old", true), &side("new", true), |it| it), [""; 0]);
}

#[test]
fn a_list_of_words_to_which_recordings_still_add_is_not_closed() {
    let roles = |words: &str| -> Vec<String> {
        words.split(' ').map(|word| format!(r#"{{"role":"{word}"}}"#)).collect()
    };
    let old = bodies("old", &roles("cook baker cook smith baker judge pilot smith nurse cook"));
    let new = bodies("new", &roles("cook lawyer baker farmer farmer smith lawyer pilot baker"));

    assert_eq!(both(&old, &new), [vec![""; 0], vec![""; 0]]);

    // Few words of which one is seldom are all that there are.
    let old = bodies("old", &roles("user user tool user user tool user user bot user"));
    let new = bodies("new", &roles("user lawyer user farmer farmer user lawyer user user"));
    for told in both(&old, &new) {
        assert!(told.iter().any(|it| it.contains("value-new")), "{told:?}");
    }
}

#[test]
fn another_code_of_the_same_error_breaks_from_the_second_recording_on() {
    let side = |prefix: &str, place: &str, code: &str| {
        let body = place.replace('$', code);
        bodies(prefix, &vec![body; 4])
    };
    for place in [
        r#"{"errors":[{"message":"no","extensions":{"code":"$"}}],"data":null}"#,
        r#"{"error":{"code":"$","message":"no"}}"#,
    ] {
        let old = side("old", place, "NOT_FOUND");
        for told in both(&old, &side("new", place, "RESOURCE_NOT_FOUND")) {
            let is_breaking = |it: &String| it.starts_with("breaking value-new");
            assert!(told.iter().any(is_breaking), "{told:?}");
        }
    }
    // Of anything else a code is data.
    let country = r#"{"country":{"code":"$"}}"#;
    let told = both(&side("old", country, "DE"), &side("new", country, "FR"));
    assert_eq!(told, [vec![""; 0], vec![""; 0]]);
}

#[test]
fn fewer_recordings_that_show_nothing_else_break_nothing() {
    let prices = vec![r#"{"currency":"EUR"}"#.to_owned(); 14];
    let (all, few) = (bodies("shop", &prices), bodies("shop", &prices[..5]));
    let open = |contract: Contract| {
        let text = contract.to_string().replace(r#""EUR""#, "string");
        text.parse().expect("a contract")
    };

    let is_open = |side: &Side| learned(side)[0].to_string().contains("currency: string");
    assert_eq!([&all, &few].map(is_open), [false, true]);
    assert_eq!(accepted(&all, &few, |it| it), [""; 0]);
    // Somebody who has opened it by hand promises less.
    let told = accepted(&all, &all, open);
    assert_eq!(told, ["breaking format-new: `currency` can be any text"]);
}

#[test]
fn a_tool_that_a_contract_knows_and_no_recording_lists_is_told() {
    let said = |number: usize, names: &[&str]| -> [Interaction; 2] {
        let tools = names.iter().map(|name| match *name {
            "search" => r#"{"name":"search","limit":{"max":5},"tags":["a"]}"#.to_owned(),
            name => format!(r#"{{"name":"{name}","path":"/{name}","size":{number}}}"#),
        });
        let tools = tools.collect::<Vec<_>>().join(",");
        let call = |method: &str, result: &str| {
            let asked = format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"n":"{number}"}}}}"#
            );
            let said = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{result}}}"#);
            exchange("/mcp", &asked, 200, &[&said])
        };
        [
            call("initialize", r#"{"ok":true}"#),
            call("tools/list", &format!(r#"{{"tools":[{tools}]}}"#)),
        ]
    };
    let side = |count: usize, names: &[&str]| {
        apart("mcp", (0..count).flat_map(|number| said(number, names)))
    };
    let all = side(12, &["read", "search"]);
    let what = "listed-gone: the tool `search` is not listed any more";

    let told = |new: &Side| both(&all, new)[1].clone();

    assert!(told(&side(12, &["read"])).contains(&format!("breaking {what}")));
    // Tools of one shape are told apart by the words that they are called, where many recordings show these.
    let alike = |names: &[&str]| side(24, names);
    let [_, gone] = both(&alike(&["read", "write"]), &alike(&["read"]));
    let what_else = what.replace("search", "write");
    assert!(gone.contains(&format!("breaking {what_else}")), "{gone:?}");
    // What is not recorded again may be of another server.
    assert!(told(&side(4, &["read"])).contains(&format!("unproven {what}")));
    assert_eq!(told(&side(12, &["read", "search"])), [""; 0]);
}

#[test]
fn an_element_of_a_kind_that_was_not_known_is_not_called_compatible() {
    let side = |prefix: &str, shapes: &str| {
        let body = format!(r#"{{"shapes":[{shapes}]}}"#);
        bodies(prefix, &vec![body; 12])
    };
    let circle = r#"{"Circle":{"radius":1}}"#;
    let old = side("old", &format!(r#"{circle},{{"Line":{{"length":2}}}}"#));

    for told in both(&old, &side("new", &format!(r#"{circle},{{"Arc":{{"sweep":2}}}}"#))) {
        let what = "`shapes[].Arc` is new, and none of the fields that were known is beside it";
        assert_eq!(told[0], format!("unproven kind-new: {what}"));
    }
    // Beside what is known a new field is one that clients do not look at.
    let beside = r#"{"Circle":{"radius":1},"colour":"red"},{"Line":{"length":2}}"#;
    for told in both(&old, &side("new", beside)) {
        assert!(told.iter().all(|it| it.starts_with("compatible")), "{told:?}");
    }
    // Where one has to be there, that it is missing is what is told.
    let circle = r#"{"radius":1,"colour":"red"}"#;
    let old = side("old", &format!(r#"{circle},{{"radius":2}}"#));
    for told in both(&old, &side("new", &format!(r#"{circle},{{"sweep":2}}"#))) {
        assert!(told[0].contains("field-missing"), "{told:?}");
        assert!(!told.iter().any(|it| it.contains("kind-new")), "{told:?}");
    }
}
