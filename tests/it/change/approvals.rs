//! Changes that somebody has approved.

use retape::review::change::{Approval, Change, Group, Verdict};
use retape::review::report::{Colour, Face, changes};
use retape::{Cassette, Name};

use super::recordings::{self, exchange};
use super::state::{Side, apart};
use super::{body, compared, stream};

#[test]
fn an_approved_change_does_not_fail_and_a_stale_approval_is_told() {
    let mut report = compared(&stream("a b"), &stream("a b?"));
    let approval = |fingerprint: &str| Approval {
        fingerprint: fingerprint.to_owned(),
        reason: "clients wait for `a` only".to_owned(),
        what: String::new(),
    };
    let approvals = [approval(&report.changes[0].fingerprint), approval("000000000000")];

    report.approve(&approvals);

    assert!(!report.fails());
    assert_eq!((report.approved(), report.count(Verdict::Breaking)), (1, 0));
    assert_eq!(report.stale, [approval("000000000000")]);
}

#[test]
fn a_change_of_another_place_has_another_fingerprint() {
    let fingerprint = |old: &str, new: &str| {
        let report = compared(&stream(old), &stream(new));
        assert_eq!(report.changes.len(), 1);
        report.changes[0].fingerprint.clone()
    };

    let one = fingerprint("a b c", "a b c?");

    assert_eq!(one, fingerprint("a a b c", "a a b c?"));
    assert_ne!(one, fingerprint("a b d", "a b d?"));
    assert_eq!(one.len(), 12);
}

#[test]
fn what_is_written_is_read_again() {
    let approval = Approval {
        fingerprint: "92635975a9d5".to_owned(),
        reason: "it \"never\"\nhappens \\ \u{7f}".to_owned(),
        what: "POST /x -> 200: é".to_owned(),
    };
    let text = format!("# by hand\n{}\n{}", approval.to_toml(), approval.to_toml());

    assert_eq!(Approval::parse_all(&text).unwrap(), [approval.clone(), approval]);
}

#[test]
fn an_approval_that_says_something_else_is_an_error() {
    for (text, expected) in [
        ("[[approve]]\nfingerprint = \"1\"", "needs both `fingerprint` and `reason`"),
        ("[[approve]]\nfingerprint = \"1\"\nreason = \" \"", "needs both"),
        ("[[approve]]\nfingerprint = \"1\"\nreason = \"x\"\nby = \"me\"", "unknown key `by`"),
        ("[approve]\nfingerprint = \"1\"", "no array of tables"),
        ("[[approved]]", "unknown key `approved`"),
        ("reason", "it is not TOML"),
    ] {
        let error = Approval::parse_all(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some(), "{error}");
    }
}

#[test]
fn one_change_in_several_places_is_told_once_and_counted_once() {
    let at = |name: &str, more: &str| {
        body(&format!(
            "object\n  {name}: date-time\n  last: object\n    {name}: date-time\n    n: integer\n  {more}"
        ))
    };
    let mut report = compared(&at("at", "x: integer"), &at("when", "x: string"));

    let told: Vec<(&str, Vec<&str>)> = (report.groups().iter())
        .map(|group| {
            let also = group.also.iter().map(|other| other.place.path.as_str());
            (group.change.place.path.as_str(), also.collect())
        })
        .collect();
    assert_eq!(told, [("at", vec!["last.at"]), ("x", vec![])]);
    assert_eq!((report.changes.len(), report.count(Verdict::Breaking)), (3, 2));
    let text = changes(&report, Face::Text, Colour::Plain);
    assert_eq!(text.matches("is called `when` now").count(), 2, "the headline, and once: {text}");
    assert!(text.contains("also: last.at\n"), "{text}");
    // Half of it approved is two changes again.
    let half = Approval::of(&report.changes[0], "nobody reads it");
    report.approve(&[half]);
    assert_eq!((report.approved(), report.count(Verdict::Breaking)), (1, 2));
}

#[test]
fn a_tie_a_format_and_a_type_that_change_at_several_endpoints_are_one_change_each() {
    let side = |changed: &str| -> Vec<(Name, Cassette)> {
        let cassette = |number: usize| {
            let hash = blake3::hash(number.to_string().as_bytes()).to_hex();
            let uuid = format!(
                "{}-{}-4{}-8{}-{}",
                &hash[..8],
                &hash[8..12],
                &hash[12..15],
                &hash[15..18],
                &hash[18..30]
            );
            let id = match changed {
                "id" => uuid.replace('-', ""),
                "capitals" => uuid.to_uppercase(),
                _ => uuid,
            };
            let price = |seat: usize| {
                usize::from_str_radix(&hash[30 + 4 * seat..34 + 4 * seat], 16).unwrap() % 9000 + 100
            };
            let prices: Vec<usize> = (0..=number % 4).map(price).collect();
            let total = prices.len() + usize::from(changed == "total");
            let seats: Vec<String> =
                prices.iter().map(|price| format!(r#"{{"price":{price}}}"#)).collect();
            let seats = seats.join(",");
            let error = if changed == "error" { r#""gone""# } else { r#"{"code":"gone"}"# };
            let said = |name: &str| {
                format!(r#"{{"{name}":"{id}","total":{total},"seats":[{seats}],"error":{error}}}"#)
            };
            let asked = format!(r#"{{"text":"{number}"}}"#);
            let ask = |path: &str, name: &str| exchange(path, &asked, 200, &[&said(name)]);
            let interactions = vec![ask("/made", "id"), ask("/read", "booking_id")];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("talk-{number}")).unwrap(), cassette)
        };
        (0..12).map(cassette).collect()
    };

    for (changed, rule) in [
        ("id", "format-new"),
        ("capitals", "value-other"),
        ("total", "invariant-broken"),
        ("error", "type-new"),
    ] {
        let report = recordings::compared(&side(""), &side(changed));

        let groups = report.groups();
        let open = groups.iter().filter(|group| group.change.is_open());
        let open: Vec<(&str, usize)> =
            open.map(|group| (group.change.rule.id(), group.all().count())).collect();
        assert_eq!(open, [(rule, 2)], "{}", changes(&report, Face::Text, Colour::Plain));
    }
}

#[test]
fn fields_that_are_missing_in_the_same_answers_are_one_change() {
    let side = |is_wrapped: bool| -> Side {
        let one = |number: usize| {
            let said = match is_wrapped {
                true => r#"{"ok":false,"message":"no"}"#.to_owned(),
                false => format!(r#"{{"job":"job_{number}f3","state":"done","took":7}}"#),
            };
            exchange("/jobs", &format!(r#"{{"n":"{number}"}}"#), 200, &[&said])
        };
        apart("job", (0..12).map(one))
    };
    let report = recordings::compared(&side(false), &side(true));

    let groups = report.groups();
    let open = groups.iter().filter(|group| group.change.is_open());
    let open: Vec<(&str, usize)> =
        open.map(|group| (group.change.rule.id(), group.all().count())).collect();

    assert_eq!(open, [("field-missing", 3)], "{}", changes(&report, Face::Text, Colour::Plain));
}

#[test]
fn a_word_that_is_new_in_streams_lists_and_fields_is_one_change() {
    let side = |word: &str, reason: &str| -> Vec<(Name, Cassette)> {
        let last = format!(r#"{{"type":"stop","stop_reason":"{reason}"}}"#);
        let said = format!(r#"{{"type":"{word}","n":1}}"#);
        let rows = format!(r#"[{{"type":"user","n":1}},{{"type":"{word}","n":1}}]"#);
        let run = format!(r#"{{"id":1,"last_stop_reason":"{reason}"}}"#);
        let cassette = |number: usize| {
            let asked = format!(r#"{{"text":"{number}"}}"#);
            let talk = [r#"{"type":"user","n":1}"#, &said, &last];
            let mut interactions = vec![
                exchange("/list", &asked, 200, &[&rows]),
                exchange("/run", &asked, 200, &[&run]),
                exchange("/talk", &asked, 200, &talk),
            ];
            // Too few recordings to prove it there.
            interactions.extend((number < 2).then(|| exchange("/few", &asked, 200, &talk)));
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("talk-{number}")).unwrap(), cassette)
        };
        (0..8).map(cassette).collect()
    };
    let told = |word: &str, reason: &str| {
        let report = recordings::compared(&side("answer", "end"), &side(word, reason));
        let is_open = |it: &&Group<'_>| it.change.is_open();
        let groups = report.groups();
        let open: Vec<&Group<'_>> = groups.iter().filter(is_open).collect();
        assert_eq!(open.len(), 1, "{}", changes(&report, Face::Text, Colour::Plain));
        let mut places: Vec<String> =
            open[0].all().map(|it| it.place.endpoint.path.clone()).collect();
        places.sort();
        places.dedup();
        let is_unproven = |it: &Change| it.verdict == Verdict::Unproven;
        assert!(open[0].all().any(is_unproven) && open[0].change.verdict == Verdict::Breaking);
        (open[0].change.what.clone(), places.join(" "))
    };

    let (what, places) = told("reply", "end");
    assert!(what.starts_with("`reply` is a new type of message, first after `user`"), "{what}");
    assert_eq!(places, "/few /list /talk");
    let (what, places) = told("answer", "finished");
    assert!(what.contains("stop_reason` can be `\"finished\"`"), "{what}");
    assert_eq!(places, "/few /run /talk");
}
