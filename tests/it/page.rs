//! The page that shows what changed: one file, and whatever was recorded is text in it.

use std::collections::BTreeSet;

use retape::cassette::{Interaction, Request, Response};
use retape::review::change::{Known, Report, compare};
use retape::review::report::{Colour, Face, changes};
use retape::{Cassette, Name};
use serde_json::Value;

/// What breaks out of an element, a comment, an attribute or a script.
const HOSTILE: &str = "</script><script>alert(1)</script><!--<img src=x onerror='alert(2)'>\"\u{2028}\u{202e}{{nonce}}";

/// What the page takes with nothing in it.
const EMPTY: usize = 64 * 1024;

/// A stream of messages of these types, in answer to a request to a path.
fn interaction(path: &str, said: &[&str]) -> Interaction {
    let data = said.iter().map(|tag| {
        let json = serde_json::json!({"type": tag, "text": HOSTILE});
        format!("data: {json}\n\n")
    });
    let response = Response::whole("text/event-stream", data.collect::<String>());
    Interaction::of(Request::of("POST", path), Response { ms: 5, ..response })
}

/// Streams that lose their end, and say what is hostile, in so many cassettes.
fn report(cassettes: usize) -> Report {
    let side = |said: &[&str]| -> Vec<(Name, Cassette)> {
        let cassette = |number: usize| {
            let path = format!("/chat/<script>alert(n{number})");
            let interactions = (0..3).map(|_| interaction(&path, said)).collect();
            let name = Name::new(format!("chat/number-{number}")).unwrap();
            (name, Cassette { interactions, ..Cassette::default() })
        };
        (0..cassettes).map(cassette).collect()
    };
    let (old, new) = (side(&["begin", "usage", "[DONE]"]), side(&["begin", HOSTILE, "[DONE]"]));
    let known = |name, cassettes| Known { name, path: "cassettes", cassettes, accepted: &[] };
    compare(known("<old>", &old), known(HOSTILE, &new))
}

fn page(report: &Report) -> String {
    changes(report, Face::Html, Colour::Plain)
}

/// The data in a page.
fn data(page: &str) -> Vec<Value> {
    let elements = page.split("<script type=\"application/json\"").skip(1);
    let json = elements.map(|element| {
        let (_, rest) = element.split_once('>').unwrap();
        rest.split_once("</script>").unwrap().0
    });
    json.map(|json| serde_json::from_str(json).unwrap()).collect()
}

/// The values of an attribute, wherever it stands in a page.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let behind = page.split(&format!(" {attribute}=\"")).skip(1).collect::<Vec<_>>();
    behind.into_iter().map(|rest| rest.split('"').next().unwrap()).collect()
}

fn strings(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.insert(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

#[test]
fn times_that_were_kept_are_no_measurement_of_now() {
    let page = page(&report(1));

    let data = data(&page);
    let pairs = data.iter().filter_map(|data| data["interactions"].as_array()).flatten();
    let pair = pairs.into_iter().next().unwrap();
    let kept = |side: &str| -> Vec<bool> {
        let marks = pair[side]["marks"].as_array().unwrap().iter();
        marks.map(|mark| mark[4].as_bool().unwrap()).collect()
    };
    // All came at once on both sides; what is new in the middle was not there before.
    assert_eq!(kept("old"), [false; 3]);
    assert_eq!(kept("new"), [true, false, true]);
}

#[test]
fn the_page_refers_to_nothing_outside_itself() {
    let page = page(&report(2));

    assert!(values(&page, "src").is_empty());
    for link in values(&page, "href") {
        assert!(link.starts_with('#') || link.starts_with("data:image/svg+xml,"), "{link}");
    }
    for way_out in
        ["@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "import("]
    {
        assert!(!page.contains(way_out), "{way_out}");
    }
    assert!(page.contains("default-src 'none'; script-src 'nonce-"));
}

#[test]
fn only_the_pages_own_scripts_and_styles_have_the_nonce() {
    let (one, other) = (page(&report(1)), page(&report(2)));

    let nonces = |page: &str| -> Vec<String> {
        values(page, "nonce").into_iter().map(str::to_owned).collect()
    };

    let [style, script] = nonces(&one).try_into().unwrap();
    assert_eq!(style, script);
    assert_eq!(one.matches(&style).count(), 4, "in the policy twice, and once in each element");
    assert_ne!(nonces(&other)[0], style, "it depends on the content");
}

#[test]
fn what_was_recorded_is_text_in_the_page() {
    let report = report(2);
    let page = page(&report);

    let data = data(&page);

    // One for the script of the page itself.
    assert_eq!(page.matches("<script").count(), 1 + data.len());
    assert_eq!(page.matches("</script").count(), 1 + data.len());
    assert_eq!(page.matches("<!").count(), 1, "the doctype");
    assert!(!page.contains("<img"));
    assert!(!page.contains(['\u{2028}', '\u{202e}']));
    let mut found = BTreeSet::new();
    data.iter().for_each(|value| strings(value, &mut found));
    let shown = HOSTILE.replace('\u{202e}', "\\u202e");
    assert!(found.contains(&shown), "{found:#?}");
}

#[test]
fn every_change_can_be_read_without_a_script() {
    let report = report(3);
    assert!(report.changes.len() >= 3, "{:#?}", report.changes);

    let page = page(&report);

    let (markup, _) = page.rsplit_once("<script nonce").unwrap();
    for change in report.groups().into_iter().map(|group| group.change) {
        let item = markup.split("<details ").find(|item| item.contains(&change.fingerprint));
        let item = item.unwrap_or_else(|| panic!("{} is not there", change.fingerprint));
        assert!(item.contains(&format!("</span> {}</span>", change.verdict.as_str())), "{item}");
        assert!(item.contains(change.rule.id()), "{item}");
    }
    assert!(markup.contains("<noscript>"));
}

#[test]
fn orders_conversations_and_contracts_lie_in_the_page_to_be_drawn() {
    let report = report(2);

    let page = page(&report);

    for (number, pair) in report.contracts.iter().enumerate() {
        let id = format!("id=\"contract-{number}-data\">");
        let json = page.split_once(&id).unwrap().1.split_once("</script>").unwrap().0;
        let value: Value = serde_json::from_str(json).unwrap();
        let lines = value["lines"].as_array().unwrap();
        let side = |sign: &str| -> String {
            let its = lines.iter().filter(|line| line[0] == " " || line[0] == sign);
            let text = |line: &Value| -> String {
                let parts = line.as_array().unwrap().iter().skip(1);
                parts.map(|part| part.as_str().unwrap().trim_end_matches("\\n")).collect()
            };
            its.map(|line| text(line) + "\n").collect()
        };
        let visible = |text: &Option<String>| {
            let text = text.clone().unwrap_or_default();
            text.replace('\u{202e}', "\\u202e")
        };
        assert_eq!(side("-"), visible(&pair.old), "both texts are in the lines");
        assert_eq!(side("+"), visible(&pair.new));
    }
    assert_eq!(page.matches("id=\"cassette-").count(), 2 * report.cassettes.len());
}

#[test]
fn the_page_grows_with_the_report_and_not_faster() {
    for cassettes in [0, 1, 20, 200] {
        let report = report(cassettes);
        let json = changes(&report, Face::Json, Colour::Plain);

        let page = page(&report);

        let most = EMPTY + 2 * json.len();
        assert!(page.len() <= most, "{cassettes}: {} bytes, {most} expected", page.len());
    }
}
