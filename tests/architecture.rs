//! The house: which module may use which, and what every file keeps to.
//!
//! The rows are explained in CONTRIBUTING.md.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A room of the house, and what it is for.
type Room = (&'static str, &'static str);

/// From the top. A room uses rooms of lower rows only, never of its own, never above.
const ROWS: [&[Room]; 11] = [
    &[("cli", "the command, one file per subcommand")],
    &[
        ("session", "what a Rust test starts, and what listens for it"),
        ("assert", "the assertion macros, and what checks contracts"),
    ],
    &[(
        "serve",
        "the server, the recorder and the replayer: everything that talks HTTP, WebSocket or lines",
    )],
    &[("store", "files, the journal, git and the environment")],
    // No IO, no async, no clock, no environment from here on.
    &[("review", "what changed, whether it breaks a client, and how people read about it")],
    &[
        ("contract", "what a server promises: orders, shapes and invariants"),
        ("compare", "which recorded interaction this is, and how it differs"),
    ],
    &[
        ("message", "bodies cut into typed messages"),
        ("identity", "which values are names or times, and who issued them"),
        ("redact", "takes secrets out before anything is kept"),
    ],
    &[("cassette", "what was recorded, and its file")],
    &[("config", "what a person says in `retape.toml`")],
    &[("text", "the syntaxes, read with the places where things stand")],
    &[("error", "the one error type")],
];

/// The first row below the line.
const PURE: usize = 4;

/// What a pure module does not name.
const IMPURE: [&str; 8] =
    ["tokio", "hyper", "reqwest", "std::fs", "std::env", "std::net", "Instant::now", "SystemTime"];

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 70;
/// Of the README, and of a page of the guide.
const LONGEST_PAGE: usize = 200;
/// How many types may share a name.
const MOST_NAMESAKES: usize = 3;

struct Source {
    path: PathBuf,
    /// The module of the crate's root that the file belongs to.
    module: String,
    /// The text up to its tests, without comments.
    code: String,
    text: String,
}

#[test]
fn a_module_uses_only_modules_of_lower_rows() {
    let mut broken = Vec::new();
    for source in sources() {
        let Some(row) = row_of(&source.module) else { continue };
        for used in used_modules(&source.code) {
            let lower = row_of(&used).is_none_or(|other| other > row);
            if used != source.module && !lower {
                broken.push(format!("{} uses `{used}`", source.path.display()));
            }
        }
    }

    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_module_of_the_root_has_a_row() {
    let known: Vec<&str> = ROWS.iter().flat_map(|row| row.iter().map(|room| room.0)).collect();

    let found: BTreeMap<String, PathBuf> =
        sources().into_iter().map(|source| (source.module, source.path)).collect();

    for (module, path) in found {
        let known = known.contains(&module.as_str()) || matches!(module.as_str(), "lib" | "main");
        assert!(known, "`{module}` ({}) has no row", path.display());
    }
}

#[test]
fn the_table_in_the_contributing_guide_is_made_from_the_rows() {
    let file = root().join("CONTRIBUTING.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("```text\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();

    let expected = format!("{before}```text\n{}```\n{after}", table());

    if std::env::var_os("RETAPE_BLESS").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), expected, "RETAPE_BLESS=1 writes it");
}

/// A line for each room; rooms of one row stand together.
fn table() -> String {
    let mut table = String::new();
    for (row, rooms) in ROWS.iter().enumerate() {
        if row == PURE {
            table.push_str(
                " ----- no IO, no async, no clock, no environment below this line -----\n",
            );
        }
        for (name, purpose) in *rooms {
            let number = ROWS.len() - row;
            table.push_str(&format!(" {number:>2}  {name:<10}{purpose}\n"));
        }
    }
    table
}

#[test]
fn below_the_line_nothing_touches_the_world() {
    let mut broken = Vec::new();
    for source in sources() {
        if row_of(&source.module).is_none_or(|row| row < PURE) {
            continue;
        }
        for impure in IMPURE.iter().filter(|impure| source.code.contains(*impure)) {
            broken.push(format!("{} names `{impure}`", source.path.display()));
        }
    }

    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn nothing_is_kept_in_a_static() {
    for source in sources() {
        for line in source.code.lines().map(str::trim_start) {
            let kept = line.starts_with("static ") || line.starts_with("pub static ");
            let state = ["Mutex", "Atomic", "Cell", "RwLock", " mut "]
                .iter()
                .any(|state| line.contains(state));
            assert!(!(kept && state), "{}: {line}", source.path.display());
        }
    }
}

#[test]
fn nothing_panics_for_want_of_a_reason() {
    for source in sources() {
        for refused in [".unwrap()", "todo!(", "unimplemented!(", "dbg!("] {
            assert!(!source.code.contains(refused), "{} has `{refused}`", source.path.display());
        }
    }
}

#[test]
fn files_and_functions_stay_within_a_readers_grasp() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", source.path.display());
        for (name, length) in functions(&source.code) {
            assert!(
                length <= LONGEST_FUNCTION,
                "{}: `{name}` has {length} lines",
                source.path.display()
            );
        }
        let stem = source.path.file_stem().unwrap_or_default();
        assert!(!["util", "utils", "common", "helpers"].iter().any(|name| stem == *name));
    }
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(main.lines().count() <= 40);
}

#[test]
fn no_type_name_has_four_meanings() {
    let mut meanings: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for source in sources() {
        // What stands in for a feature that is off means the same as what it stands for.
        if source.path.file_name().unwrap().to_str().unwrap().starts_with("no_") {
            continue;
        }
        for name in types(&source.code) {
            meanings.entry(name.to_owned()).or_default().push(source.path.clone());
        }
    }

    assert!(meanings.len() > 500, "{}", meanings.len());
    meanings.retain(|_, files| files.len() > MOST_NAMESAKES);
    assert!(meanings.is_empty(), "{meanings:#?}");
}

/// The limits in docs/limits.md: what stands in their second column, and the code that makes it so.
const LIMITS: [(&str, &str, &str); 31] = [
    ("300 s", "serve/recording.rs", "(silence, rest) = (Duration::from_secs(300)"),
    ("250 ms", "serve/recording.rs", "grace: Duration::from_millis(250)"),
    ("5 s", "serve/recording.rs", "(Duration::from_secs(300), Duration::from_secs(5))"),
    (
        "twice the time until then, at most 5 s more, and 0.5 s",
        "serve/replayer/answers.rs",
        "left.saturating_add(left.min(5000)).saturating_add(500)",
    ),
    ("30 s", "session/track.rs", "const SILENCE: Duration = Duration::from_secs(30);"),
    (
        "30 s, or ten times the recording",
        "cli/conduct.rs",
        "const PROOF: Duration = Duration::from_secs(30);",
    ),
    ("60 s", "cli/arguments.rs", "default_value = \"60s\""),
    ("10 s", "serve/recorder/upstream.rs", "const CONNECT: Duration = Duration::from_secs(10);"),
    ("256", "serve/server/listen.rs", "const MOST_FIELDS: usize = 256;"),
    ("100", "serve/recorder/interim.rs", "const MOST: usize = 100;"),
    ("256", "serve/recorder/pool.rs", "const KEPT: usize = 256;"),
    ("1 s", "serve/recorder/pool.rs", "const KEPT_FOR: Duration = Duration::from_secs(1);"),
    ("1 MiB", "serve/server/chunks.rs", "const LONGEST: u64 = 1 << 20;"),
    ("1 MiB", "serve/server/origin.rs", "const READ_WHOLE: u64 = 1024 * 1024;"),
    (
        "50 ms; a request 1 s",
        "serve/recorder/prompt.rs",
        "const IN_TIME: Duration = Duration::from_secs(1);",
    ),
    ("32 MiB", "cassette/coding/mod.rs", "const LIMIT: usize = 32 << 20;"),
    ("64 MiB", "serve/websocket/reader.rs", "const LIMIT: usize = 64 << 20;"),
    ("128 bytes", "cassette/coding/mod.rs", "const RATIO: usize = 128;"),
    ("16 MiB", "cassette/large.rs", "16 << 20"),
    ("64 KiB", "cassette/format/sidecar.rs", "const LONGEST_TEXT: usize = 64 << 10;"),
    ("200 bytes", "cassette/name.rs", "const LONGEST: usize = 200;"),
    ("100", "cassette/reading/json.rs", "const DEEPEST: usize = 100;"),
    ("128", "text/tree/mod.rs", "const DEEPEST: usize = 128;"),
    ("1 Mi", "text/tree/yaml.rs", "const MOST_REPEATED: usize = 1 << 20;"),
    ("64", "contract/order/parse.rs", "const DEEPEST: usize = 64;"),
    ("1000", "contract/order/parse.rs", "const MOST_TIMES: u32 = 1000;"),
    ("160", "contract/shape/parse.rs", "const DEEPEST: usize = 160;"),
    ("1 MiB, at most 64 MiB", "config/fault.rs", "const LARGEST: usize = 64 * 1024 * 1024;"),
    ("64 MiB", "cli/scan.rs", "const LARGEST: u64 = 64 << 20;"),
    ("24 MB", "review/report/face/html/markup.rs", "const MOST: usize = 24_000_000;"),
    ("62000 bytes", "review/report/face/markdown.rs", "const MOST: usize = 62_000;"),
];

#[test]
fn each_limit_of_the_documents_is_the_one_in_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let defaults: Vec<&str> = rows.map(|row| row.split(" | ").nth(1).unwrap()).collect();
    let (of_the_system, defaults) = defaults.split_last().unwrap();

    assert_eq!(*of_the_system, "the system's");
    assert_eq!(defaults, LIMITS.map(|(default, ..)| default));
    for (default, file, code) in LIMITS {
        let text = fs::read_to_string(root().join("src").join(file)).unwrap();
        assert!(text.contains(code), "{default} is no longer what {file} says");
    }
}

#[test]
fn every_file_that_the_documents_name_exists() {
    for (document, text) in documents() {
        let named = text.split(['`', '(', ')', ' ', '\n']).filter(|word| {
            // The documents' cassettes are the reader's own.
            let tree = ["src/", "tests/", "benches/", ".ci/", "cassettes/compat"];
            tree.iter().any(|folder| word.starts_with(folder))
                && !word.contains(['<', '*', '$', '{', '…'])
        });
        for word in named {
            let path = word.trim_end_matches(['.', ',', ':', ';']);
            let document = document.display();
            assert!(root().join(path).exists(), "{document} names `{path}`, which is not there");
        }
    }
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    for (document, text) in documents() {
        let folder = root().join(&document);
        for link in links(&text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = match path {
                "" => root().join(&document),
                path => folder.parent().unwrap().join(path),
            };
            let place = format!("the link `{link}` of {}", document.display());
            assert!(file.exists(), "{place} leads to no file");
            if !heading.is_empty() {
                let found = headings(&fs::read_to_string(&file).unwrap());
                assert!(found.iter().any(|it| it == heading), "{place} leads to none of {found:?}");
            }
        }
    }
}

#[test]
fn every_page_of_the_guide_stands_in_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed = links(&summary);

    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let page = entry.unwrap().file_name().into_string().unwrap();
        let is_page = page.ends_with(".md") && page != "SUMMARY.md";
        assert!(!is_page || listed.contains(&page.as_str()), "{page} is not in docs/SUMMARY.md");
    }
}

#[test]
fn the_readme_and_the_pages_of_the_guide_stay_short() {
    for (document, text) in documents() {
        // The samples are what the tool prints.
        if !document.ends_with("docs/changes-by-example.md") {
            let lines = text.lines().count();
            assert!(lines <= LONGEST_PAGE, "{} has {lines} lines", document.display());
        }
    }
}

/// What is written for people, by its path below the root.
fn documents() -> Vec<(PathBuf, String)> {
    let named = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/clients/README.md"];
    let mut files: Vec<PathBuf> = named.map(PathBuf::from).to_vec();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        files.push(Path::new("docs").join(entry.unwrap().file_name()));
    }
    files.retain(|file| root().join(file).exists());
    files.sort();
    let read = |file: PathBuf| (file.clone(), fs::read_to_string(root().join(file)).unwrap());
    files.into_iter().map(read).collect()
}

/// The relative links of a Markdown text, outside of code.
fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for line in prose(text) {
        // What stands between backticks may look like a link.
        let outside = line.split('`').step_by(2);
        for part in outside.flat_map(|part| part.split("](").skip(1)) {
            links.extend(part.split_once(')').map(|(link, _)| link));
        }
    }
    links.retain(|link| !link.contains("://"));
    links
}

/// The headings of a Markdown text, as links name them.
fn headings(text: &str) -> Vec<String> {
    let titles = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    titles
        .map(|title| title.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

/// The lines that are not in a block of code.
fn prose(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push(line);
        }
    }
    lines
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn row_of(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.iter().any(|room| room.0 == module))
}

fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    files.sort();
    files.into_iter().map(read).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn read(file: PathBuf) -> Source {
    let text = fs::read_to_string(&file).unwrap();
    let path = file.strip_prefix(root()).unwrap().to_owned();
    let below = path.strip_prefix("src").unwrap();
    let module = below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
    let before_tests = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> =
        before_tests.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    Source { path, module, code, text }
}

/// The strings of a list in `deny.toml`.
fn listed(text: &str, key: &str) -> Vec<String> {
    let from = text.find(&format!("\n{key} = [")).unwrap();
    let list = &text[from..from + text[from..].find(']').unwrap()];
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met by licences that are allowed. Where one is nested, each part of it
/// must be.
fn is_allowed(licence: &str, allowed: &[String]) -> bool {
    let licence = licence.replace(['(', ')'], "").replace(" / ", " OR ").replace('/', " OR ");
    let one = |licence: &str| allowed.iter().any(|it| it == licence.trim());
    licence.split(" AND ").all(|part| part.split(" OR ").any(one))
}

#[test]
fn every_dependency_is_of_an_allowed_licence_and_source() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let (allowed, banned) = (listed(&deny, "allow"), listed(&deny, "deny"));
    let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--format-version=1", "--locked", "--offline", "--all-features"]);
    metadata.args(["--filter-platform", host]).current_dir(root());
    let metadata: Value = serde_json::from_slice(&metadata.output().unwrap().stdout).unwrap();

    let packages = metadata["packages"].as_array().unwrap();
    let refused = packages.iter().filter(|package| {
        let text = |member: &str| package[member].as_str().unwrap_or_default();
        let is_here = metadata["workspace_members"].as_array().unwrap().contains(&package["id"]);
        let is_known = text("source").starts_with("registry+https://github.com/rust-lang/");
        !is_allowed(text("license"), &allowed)
            || !(is_here || is_known)
            || banned.iter().any(|name| name == text("name"))
    });
    let refused: Vec<&Value> = refused.map(|package| &package["id"]).collect();

    assert!(packages.len() > 100, "{}", packages.len());
    assert!(refused.is_empty(), "{refused:?}");
    assert!(!is_allowed("MIT AND GPL-3.0-only", &allowed) && !is_allowed("", &allowed));
}

/// The modules behind `crate::`, also in nested imports.
fn used_modules(code: &str) -> Vec<String> {
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let inside = match rest.strip_prefix('{') {
            Some(list) => &list[..list.find("};").unwrap_or(list.len())],
            None => {
                &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]
            }
        };
        let mut depth = 0;
        for word in inside.split_inclusive(['{', '}', ',']) {
            if depth == 0 {
                let name =
                    word.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next();
                used.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
            }
            depth += i32::from(word.ends_with('{')) - i32::from(word.ends_with('}'));
        }
    }
    used
}

/// The types that a file defines. A `type` that is indented belongs to a trait.
fn types(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| is_qualifier(word));
        let is_type = match words.next()? {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !line.starts_with(' '),
            _ => false,
        };
        let name = words.next()?.split(|c: char| !c.is_alphanumeric()).next()?;
        (is_type && name.starts_with(char::is_uppercase)).then_some(name)
    })
}

/// The functions and how many lines they have, counted by indentation.
fn functions(code: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(at) =
            line.find("fn ").filter(|at| line[..*at].trim_end().split(' ').all(is_qualifier))
        else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let closing = format!("{}}}", " ".repeat(indent));
        if let Some(length) = lines[start..].iter().position(|line| **line == *closing) {
            let name = line[at + 3..].split(['(', '<']).next().unwrap_or_default();
            found.push((name.to_owned(), length + 1));
        }
    }
    found
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "" | "pub" | "const" | "async" | "pub(super)" | "pub(crate)" | "pub(in")
}
