//! What holds of any cassette, shown with those of the repository.

use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;
use retape::Cassette;
use retape::cassette::{Body, Interaction, Outcome};
use retape::compare::renew::renew;
use retape::store;

use super::disguise::Disguise;
use super::told;
use crate::stage::files_below;

const ALL: [&str; 3] = ["compat", "letta", "mcp"];

/// Those of real conversations, read once.
static RECORDED: LazyLock<Vec<(String, Cassette)>> = LazyLock::new(|| cassettes(&ALL[1..]));

/// The cassettes of the repository with their names.
fn cassettes(folders: &[&str]) -> Vec<(String, Cassette)> {
    let below = |folder: &&str| files_below(&format!("cassettes/{folder}"), "json");
    let mut found: Vec<PathBuf> = folders.iter().flat_map(below).collect();
    found.sort();
    let load = |path: PathBuf| (path.display().to_string(), store::load_file(&path).unwrap());
    found.into_iter().map(load).collect()
}

#[track_caller]
fn is_told_as(old: &Cassette, new: Cassette, expected: &Cassette) {
    let (found, expected) = (told(&renew(old, new).cassette), told(expected));
    if found != expected {
        let diff = similar::TextDiff::from_lines(&expected, &found);
        panic!("{}", diff.unified_diff().context_radius(2));
    }
}

#[test]
fn a_cassette_beside_itself_stays_as_it_is() {
    for (name, cassette) in cassettes(&ALL) {
        assert_eq!(renew(&cassette, cassette.clone()).cassette, cassette, "{name}");
    }
}

#[test]
fn other_identifiers_times_and_chunks_change_nothing_at_all() {
    for (seed, (name, cassette)) in cassettes(&ALL).into_iter().enumerate() {
        let other = Disguise::of(seed as u64 + 1).cassette(cassette.clone());

        let renewed = renew(&cassette, other);

        is_told_as(&cassette, renewed.cassette.clone(), &cassette);
        assert_eq!(renewed.cassette, cassette, "{name}");
    }
}

/// Changes one value that is no identifier and no time, if there is one; tells where.
fn change(cassette: &mut Cassette, at: usize, which: usize) -> Option<String> {
    let number = at % cassette.interactions.len();
    let Interaction { request, outcome, .. } = &mut cassette.interactions[number];
    let Outcome::Response(response) = outcome else { return None };
    if response.headers.contains("content-encoding") {
        return None;
    }
    match which % 8 {
        0 => response.status = if response.status == 200 { 201 } else { 200 },
        1 => response.headers.append("x-new", "there"),
        2 => request.headers.append("x-new", "there"),
        3 => request.path.push_str(if request.path.contains('?') { "&new=1" } else { "?new=1" }),
        _ => {
            let length = response.body.len();
            response.body = edited(&response.body, which / 8)?;
            if response.headers.contains("content-length") && length != response.body.len() {
                response.headers.set("content-length", response.body.len().to_string());
            }
        }
    }
    Some(format!("interaction {number}, {which}"))
}

/// A body in which another value stands in one place.
fn edited(body: &Body, which: usize) -> Option<Body> {
    let value = Regex::new(r#""(\w+)": ?("[^"\\]*"|-?\d+|true|false|null)[,}]"#).unwrap();
    let volatile = Regex::new(r"_at$|^date$|_ns$|^created|ms$|timestamp").unwrap();
    let bytes = body.bytes();
    let text = std::str::from_utf8(&bytes).ok()?;
    let found: Vec<_> = value.captures_iter(text).filter(|it| !volatile.is_match(&it[1])).collect();
    let place = found.get(which.checked_rem(found.len())?)?.get(2)?;
    let other = match place.as_str() {
        "true" => "false".to_owned(),
        "false" | "null" => "true".to_owned(),
        text if text.starts_with('"') => format!("\"{} indeed\"", text.trim_matches('"')),
        // No number begins with a zero that others follow.
        "0" => "7".to_owned(),
        number => format!("{number}7"),
    };
    let mut from = 0;
    let mut put = |bytes: &[u8]| -> Vec<u8> {
        let range = from..from + bytes.len();
        from = range.end;
        let mut bytes = bytes.to_vec();
        // A value that goes over from one chunk to the next is left alone.
        if range.contains(&place.start()) && place.end() <= range.end {
            bytes.splice(place.start() - range.start..place.end() - range.start, other.bytes());
        }
        bytes
    };
    let mut edited = body.clone();
    match &mut edited {
        Body::Whole(bytes) => *bytes = put(bytes).into(),
        Body::Stream(chunks) => chunks.iter_mut().for_each(|it| it.bytes = put(&it.bytes).into()),
    }
    (edited != *body).then_some(edited)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn one_other_value_is_one_difference(
        which in any::<prop::sample::Index>(),
        at in any::<usize>(),
        value in any::<usize>(),
        seed in any::<u64>(),
    ) {
        let (name, old) = which.get(&RECORDED);
        let mut changed = old.clone();
        let Some(place) = change(&mut changed, at, value) else { return Ok(()) };
        let new = Disguise::of(seed).cassette(changed.clone());

        let found = told(&renew(old, new).cassette);

        let expected = told(&changed);
        let diff = similar::TextDiff::from_lines(&expected, &found);
        let diff = diff.unified_diff().context_radius(2).to_string();
        prop_assert!(found == expected, "{name} {place}\n{diff}");
    }
}
