//! Recorded conversations that several tests learn from.

use std::path::{Path, PathBuf};

use retape::cassette::Interaction;
use retape::store;

/// What was recorded from Letta of one question, and one answer of a person to it, in each way in which
/// messages may come. The other cassettes beside these are special cases.
pub(crate) fn of_one_question() -> impl Iterator<Item = Interaction> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cassettes/letta");
    let files = ["hitl", "typescript/hitl"].into_iter().flat_map(move |part| {
        let files = std::fs::read_dir(folder.join(part)).unwrap();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    });
    let is_plain = |file: &PathBuf| {
        let name =
            file.file_stem().and_then(|name| name.to_str()).and_then(|it| it.split_once('_'));
        name.is_some_and(|(answer, how)| {
            ["approve", "deny", "return"].contains(&answer)
                && ["plain", "steps", "tokens"].contains(&how)
        })
    };
    files.filter(is_plain).flat_map(|file| store::load_file(&file).unwrap().interactions)
}
