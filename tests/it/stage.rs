//! A folder of cassettes and sessions on it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use retape::cassette::{Interaction, Response};
use retape::redact::Redactor;
use retape::{Cassette, Mode, Name, Session, SessionBuilder, store};

use crate::support::upstream::Upstream;

/// A folder of cassettes that is gone after the test.
pub struct Stage(tempfile::TempDir);

impl Stage {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// A cassette `tape` of these interactions.
    pub fn with(interactions: &[serde_json::Value]) -> Self {
        let stage = Self::new();
        let cassette = serde_json::json!({
            "retape": 1,
            "recorded": {"upstream": "http://127.0.0.1:8283"},
            "redactions": Redactor::standard().rules().collect::<Vec<_>>(),
            "interactions": interactions,
        });
        std::fs::write(stage.folder().join("tape.json"), cassette.to_string()).unwrap();
        stage
    }

    /// A session on the cassette `tape`.
    pub fn session(&self, mode: Mode) -> SessionBuilder {
        Session::builder("tape").cassettes(self.folder()).mode(mode).upstream("")
    }

    pub fn recorder(&self, upstream: &Upstream) -> SessionBuilder {
        self.session(Mode::Record).upstream(upstream.url()).grace(Duration::from_secs(10))
    }

    pub async fn record(&self, upstream: &Upstream) -> Session {
        self.recorder(upstream).start().await.unwrap()
    }

    pub async fn replay(&self) -> Session {
        self.session(Mode::Replay).start().await.unwrap()
    }

    pub fn cassette(&self) -> Cassette {
        self.cassette_of("tape")
    }

    pub fn cassette_of(&self, name: &str) -> Cassette {
        store::load(self.folder(), &Name::new(name).unwrap()).unwrap()
    }

    /// The text of a file in the folder.
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder().join(name)).unwrap()
    }

    /// The files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = std::fs::read_dir(self.folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files
    }
}

/// The only interaction.
#[track_caller]
pub fn only(cassette: &Cassette) -> &Interaction {
    let [one] = cassette.interactions.as_slice() else {
        panic!("{} interactions", cassette.interactions.len())
    };
    one
}

/// The answer of the only interaction.
#[track_caller]
pub fn answer(cassette: &Cassette) -> &Response {
    only(cassette).response().unwrap()
}

/// The chunks of an answer as text.
pub fn chunks(response: &Response) -> Vec<String> {
    let text = |chunk: &retape::cassette::Chunk| String::from_utf8_lossy(&chunk.bytes).into_owned();
    response.body.chunks().iter().map(text).collect()
}

/// The text without what runs the test: nextest does it otherwise, and libtest names no test where it runs one at a
/// time.
pub fn without_test(text: &str) -> String {
    let test = r"cargo (test|nextest run)( --test \w+)?( -- --exact [\w:]+| -E 'test\([^']+')?";
    regex::Regex::new(test).unwrap().replace_all(text, "cargo test NAME").into_owned()
}

/// The files of the repository below a folder that end so.
pub fn files_below(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                found.push(path);
            }
        }
    }
    found
}
