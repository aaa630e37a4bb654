//! The faces of a report.

use retape::review::change::{Approval, Report, Rule, Verdict};
use retape::review::report::{Colour, Face, changes};
use serde_json::Value;

use super::{body, compared, stream};

fn shown(report: &Report, face: Face) -> String {
    changes(report, face, Colour::Plain)
}

/// Text that is something to a terminal, to Markdown, to XML and to a build server.
const HOSTILE: &str = "`x` <b>|\u{1b}[31m @you ::error:: ]]> %0A </details> ``` \u{202e}";

/// A report in which recorded text is all that.
fn hostile() -> Report {
    let name = serde_json::Value::from(HOSTILE).to_string();
    let old = body(&format!("object\n  {name}: integer\n  a: integer"));
    let new = body(&format!("object\n  {name}?: integer | {name}\n  a: integer"));
    let mut report = compared(&old, &new);
    let stale = Approval {
        fingerprint: "000000000000".to_owned(),
        reason: HOSTILE.to_owned(),
        what: HOSTILE.to_owned(),
    };
    report.approve(&[stale]);
    report
}

/// A report with very many changes.
fn huge() -> Report {
    let fields = |kind: &str| -> String {
        (0..3_000).map(|number| format!("  field_with_a_long_name_{number}: {kind}\n")).collect()
    };
    let schema = |kind: &str| body(&format!("object\n{}", fields(kind)));
    compared(&schema("integer"), &schema("integer | null"))
}

#[test]
fn what_has_no_place_but_the_endpoint_is_counted() {
    let mut report = compared(&stream("start end"), &stream("end start"));
    let one = report.changes[0].clone();
    report.changes.extend([one.clone(), one]);

    let text = shown(&report, Face::Text);

    assert!(text.contains("also: in 2 other orders\n"), "{text}");
    assert!(!text.contains("also: ,"), "{text}");
}

#[test]
fn what_a_change_brings_with_it_is_told_with_it_in_each_face() {
    let mut report = compared(&stream("start end"), &stream("end start"));
    report.changes[0].brings = ["one", "two", "three", "four", "five"].map(str::to_owned).into();

    for face in [Face::Text, Face::Markdown, Face::Html, Face::Junit, Face::Sarif] {
        let text = shown(&report, face);
        let told = "one; two; three; 2 more";
        assert!(text.contains("with it") && text.contains(told), "{face:?}: {text}");
    }
    let told: Value = serde_json::from_str(&shown(&report, Face::Json)).unwrap();
    assert_eq!(told["changes"][0]["brings"].as_array().map(Vec::len), Some(5));
}

#[test]
fn the_first_line_says_what_breaks_and_where() {
    let report = compared(
        &stream("thought* answer stop_reason usage_statistics"),
        &stream("thought* answer stop_reason usage_statistics?"),
    );

    let text = shown(&report, Face::Text);
    assert_eq!(
        text.lines().next(),
        Some("breaking: POST /x ends after `stop_reason` with no `usage_statistics`")
    );
    let markdown = shown(&report, Face::Markdown);
    assert_eq!(
        markdown.lines().next(),
        Some(
            "❌ **breaking: `POST /x` ends after `stop_reason` with no `usage_statistics`** \
             <!-- retape-report -->"
        )
    );
    let swapped = compared(
        &stream("thought* answer stop_reason usage_statistics done"),
        &stream("thought* answer usage_statistics stop_reason done"),
    );
    assert_eq!(
        shown(&swapped, Face::Text).lines().next(),
        Some("breaking: POST /x: `usage_statistics` comes before `stop_reason`")
    );
    let otherwise = compared(&stream("a a*"), &stream("a+"));
    assert_eq!(
        shown(&otherwise, Face::Text),
        "nothing changed in what is promised\n1 contract in other words; no cassette changed\n"
    );
    let nothing = compared(&stream("a"), &stream("a"));
    assert_eq!(shown(&nothing, Face::Text), "nothing changed\n");
    assert!(
        shown(&nothing, Face::Markdown)
            .starts_with("✅ **nothing changed** <!-- retape-report -->")
    );
}

#[test]
fn the_text_fits_a_terminal_and_does_not_play_with_it() {
    for report in [hostile(), huge()] {
        let text = shown(&report, Face::Text);

        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
    }
    let coloured = changes(&hostile(), Face::Text, Colour::Ansi);
    assert!(coloured.contains("\u{1b}[31m") && !coloured.contains('\u{202e}'));
}

#[test]
fn a_comment_fits_however_much_changed_and_says_what_was_cut() {
    let report = huge();
    assert_eq!(report.changes.len(), 3_000);

    let markdown = shown(&report, Face::Markdown);

    assert!(markdown.len() < 65_536, "{}", markdown.len());
    assert!(markdown.contains("more changes: the report was cut to fit into a comment"));
    assert_eq!(markdown.matches("<details>").count(), markdown.matches("</details>").count());
}

#[test]
fn recorded_text_is_no_markup() {
    let markdown = shown(&hostile(), Face::Markdown);

    let outside: String = outside_code(&markdown);
    assert!(!outside.contains("<b>") && !outside.contains("@you"), "{outside}");
    assert_eq!(outside.matches("</details>").count(), outside.matches("<details>").count());
    assert!(!markdown.contains(['\u{1b}', '\u{202e}']));
}

/// What of a Markdown text is not code.
fn outside_code(markdown: &str) -> String {
    let mut outside = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find('`') {
        // One behind a backslash is a character.
        if rest[..at].ends_with('\\') {
            outside.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        outside.push_str(&rest[..at]);
        let length = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let fence = "`".repeat(length);
        let inside = &rest[at + length..];
        let end = (0..inside.len())
            .filter(|end| inside.is_char_boundary(*end) && inside[*end..].starts_with(&fence))
            .find(|end| !inside[..*end].ends_with('`') && !inside[end + length..].starts_with('`'));
        rest = &inside[end.unwrap() + length..];
    }
    outside + rest
}

#[test]
fn json_holds_all_that_there_is() {
    let report = huge();
    let json: Value = serde_json::from_str(&shown(&report, Face::Json)).unwrap();

    assert_eq!(json["retape_report"], 1);
    assert_eq!(json["counts"]["breaking"], 3_000);
    assert_eq!(json["changes"].as_array().unwrap().len(), 3_000);
    let change = &json["changes"][0];
    assert_eq!(change["rule"], "type-new");
    assert_eq!(change["possible"]["schema"]["type"], "null");
    assert!(json["contracts"][0]["old"].as_str().unwrap().contains("field_with_a_long_name_0"));
}

#[test]
fn a_change_in_several_places_is_one_for_programs_too() {
    let fields =
        |kind: &str| ["a", "b", "c"].map(|name| format!("  {name}: object\n    id: {kind}\n"));
    let schema = |kind: &str| body(&format!("object\n{}", fields(kind).concat()));
    let report = compared(&schema("integer"), &schema("integer | null"));
    assert_eq!(report.changes.len(), 3);

    let json: Value = serde_json::from_str(&shown(&report, Face::Json)).unwrap();
    assert_eq!(json["counts"]["breaking"], 1);
    let changes = json["changes"].as_array().unwrap();
    let first = &changes[0]["fingerprint"];
    assert!(changes.len() == 3 && changes.iter().all(|it| it["group"] == *first), "{json}");
    let junit = shown(&report, Face::Junit);
    assert!(
        junit.contains("tests=\"1\" failures=\"1\"") && junit.contains("also: b.id, c.id"),
        "{junit}"
    );
    let sarif: Value = serde_json::from_str(&shown(&report, Face::Sarif)).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let also = results[0]["relatedLocations"].as_array().map(Vec::len);
    assert_eq!((results.len(), also), (1, Some(2)));
}

#[test]
fn junit_is_well_formed_and_fails_for_what_fails() {
    for report in [hostile(), huge(), compared(&stream("a"), &stream("a"))] {
        let xml = shown(&report, Face::Junit);

        assert_eq!(elements(&xml), Vec::<String>::new());
        let failing = report.changes.iter().filter(|change| report.fails_by(change)).count();
        assert_eq!(xml.matches("<failure ").count(), failing);
        assert!(xml.contains(&format!("failures=\"{failing}\"")));
        assert!(!xml.contains(|c: char| c.is_control() && c != '\n'));
    }
}

/// The elements that are left open at the end, after all of them were read.
fn elements(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        assert!(!text.contains('>') && !text.contains("& "), "{text}");
        let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with(['/', '?']) {
            open.push(name);
        }
    }
    open
}

#[test]
fn sarif_names_the_rule_the_file_and_the_fingerprint() {
    let mut report = compared(&stream("a b"), &stream("a b?"));
    let fingerprint = report.changes[0].fingerprint.clone();
    let reason = "all clients know it".to_owned();
    report.approve(&[Approval { fingerprint: fingerprint.clone(), reason, what: String::new() }]);

    let sarif: Value = serde_json::from_str(&shown(&report, Face::Sarif)).unwrap();

    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(result["ruleId"], "order-end-new");
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "order-end-new");
    assert_eq!(result["level"], "error");
    assert_eq!(result["partialFingerprints"]["retape/v1"], fingerprint);
    let file = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(file, "cassettes/contracts/POST-x-200-event-stream.snap");
    assert_eq!(result["suppressions"][0]["justification"], "all clients know it");
}

#[test]
fn what_is_unproven_is_neither_a_tick_nor_an_error_unless_it_fails() {
    let mut report = compared(
        &stream("thought* answer stop_reason usage_statistics"),
        &stream("thought* answer stop_reason usage_statistics?"),
    );
    let begins = |report: &Report, sign: &str, level: &str| {
        assert!(shown(report, Face::Markdown).starts_with(sign), "{sign}");
        assert!(shown(report, Face::Github).starts_with(&format!("::{level} ")), "{level}");
    };

    report.strict = false;
    begins(&report, "❌", "error");
    report.changes.iter_mut().for_each(|change| change.verdict = Verdict::Unproven);
    begins(&report, "⚠️", "notice");
    report.strict = true;
    begins(&report, "❌", "error");
}

#[test]
fn annotations_are_one_line_each_and_only_a_few() {
    for report in [hostile(), huge()] {
        let told = shown(&report, Face::Github);

        assert!(told.lines().count() <= 22, "{told}");
        for line in told.lines() {
            let (command, data) = line[2..].split_once("::").unwrap();
            assert!(["error", "notice"].iter().any(|it| command.starts_with(it)));
            assert!(line.starts_with("::") && !command.contains("%0A"), "{line}");
            let decoded = data.replace("%0A", "").replace("%25", "");
            assert!(!decoded.contains('%'), "{line}");
        }
    }
}

#[test]
fn every_rule_is_documented_and_nothing_else_is() {
    let text = include_str!("../../../docs/changes.md");
    let documented: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
    let known: Vec<&str> = Rule::ALL.iter().map(|(_, id, _)| *id).collect();

    assert_eq!(documented, known);
}
