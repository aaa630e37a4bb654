//! What cassettes without a table of names match: every release must keep it.
//!
//! `cassettes/compat/names-0.txt` says of each request of the real recordings which of its values may be
//! others in a replay. `RETAPE_BLESS=1 cargo test --test it frozen` writes it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use retape::cassette::Request;
use retape::compare::matching::{Index, Playlist};
use retape::config::Rules;
use retape::{Cassette, Name, store};
use serde_json::Value;

const FOLDERS: [&str; 5] = ["ag-ui", "anthropic", "letta", "mcp", "openai"];

#[test]
fn what_recordings_without_a_table_match_stays() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes");
    let file = root.join("compat/names-0.txt");
    let mut all = String::new();
    for folder in FOLDERS {
        let mut found = Vec::new();
        collect(&root.join(folder), &mut found);
        found.sort();
        for path in found {
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let name = Name::new(name.to_str().unwrap()).unwrap();
            let mut cassette = store::load(&root, &name).unwrap();
            cassette.ids = None;
            writeln!(all, "{name}").unwrap();
            all.push_str(&told(&cassette));
        }
    }
    if std::env::var_os("RETAPE_BLESS").is_some() {
        std::fs::write(&file, &all).unwrap();
    }

    let kept = std::fs::read_to_string(&file).unwrap();

    let first = kept.lines().zip(all.lines()).find(|(one, other)| one != other);
    assert!(kept == all, "{first:?} ({} and {} lines)", kept.lines().count(), all.lines().count());
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "contracts" && !name.ends_with(".bodies") {
            collect(&path, found);
        } else if name.ends_with(".json") {
            found.push(path);
        }
    }
}

/// A line for each interaction: which of its values may be anything (`*`), or another of their kind (`~`).
fn told(cassette: &Cassette) -> String {
    let index = Index::of(cassette, Rules::default());
    let is_answered = |request: &Request| {
        let body = request.readable();
        Playlist::new(&index).take(&index, &index.read(request, &body)).is_some()
    };
    let mut text = String::new();
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        let request = &interaction.request;
        assert!(is_answered(request) || is_later(cassette, number), "{number} answers itself");
        let mut open = Vec::new();
        for (place, edit) in edits(request) {
            if is_answered(&edit(anything)) {
                open.push(format!("*{place}"));
            } else if edit(another) != edit(str::to_owned) && is_answered(&edit(another)) {
                open.push(format!("~{place}"));
            }
        }
        let line = format!("  {} {} {}", number + 1, request.method, open.join(" "));
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text
}

/// Whether a request may have to wait for others, so that nothing answers it at once.
fn is_later(cassette: &Cassette, number: usize) -> bool {
    number > 0 && cassette.interactions[number].request.method == "GET"
}

fn anything(_: &str) -> String {
    "zzzz".to_owned()
}

/// Another one of the same kind: digits and the letters of hexadecimal numbers are others.
fn another(value: &str) -> String {
    let turned = |c: char| match c {
        '0'..='8' | 'a'..='e' => char::from(c as u8 + 1),
        '9' => '1',
        'f' => 'a',
        c => c,
    };
    value.chars().map(turned).collect()
}

type Change = fn(&str) -> String;
type Edit<'r> = Box<dyn Fn(Change) -> Request + 'r>;

/// The values of a request, and how each is exchanged.
fn edits(request: &Request) -> Vec<(String, Edit<'_>)> {
    let mut edits: Vec<(String, Edit<'_>)> = Vec::new();
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    for (number, _) in path.split('/').enumerate().skip(1) {
        let edit = move |change: Change| {
            let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            parts[number] = change(&parts[number]);
            let query = if query.is_empty() { String::new() } else { format!("?{query}") };
            Request { path: format!("{}{query}", parts.join("/")), ..request.clone() }
        };
        edits.push((format!("path.{number}"), Box::new(edit)));
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.readable()) else { return edits };
    let mut leaves = Vec::new();
    pointers(&body, String::new(), &mut leaves);
    for pointer in leaves {
        let body = body.clone();
        let at = pointer.clone();
        let edit = move |change: Change| {
            let mut body = body.clone();
            let leaf = body.pointer_mut(&pointer).unwrap();
            *leaf = match &*leaf {
                Value::String(text) => change(text).into(),
                other => match change(&other.to_string()).parse::<u64>() {
                    Ok(number) => number.into(),
                    Err(_) => 987_654_321.into(),
                },
            };
            let mut request = request.clone();
            request.headers.remove("content-encoding");
            Request { body: body.to_string().into(), ..request }
        };
        edits.push((at, Box::new(edit)));
    }
    edits
}

fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at_item, value)| {
                pointers(value, format!("{at}/{at_item}"), found);
            });
        }
        _ => found.push(at),
    }
}
