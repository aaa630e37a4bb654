//! Which values of two recordings are identifiers.

use std::collections::HashSet;

use super::{Renaming, Said, Sort, View, Word, texts};

/// The identifiers of two recordings.
///
/// # Rationale
///
/// Random letters and digits are not always an identifier: what a tool has computed, a digest, a
/// random number are what a reviewer wants to see changed. So a value counts only if it looks like
/// nothing else (a UUID, a word behind a prefix such as `call_`), or stands in a place for
/// identifiers at least once: a path, a header field or a member that is named so.
#[derive(Debug, Default)]
pub(super) struct Known {
    old: HashSet<String>,
    new: HashSet<String>,
}

impl Known {
    pub(super) fn of(old: &[View<'_>], new: &[View<'_>]) -> Self {
        Self { old: identifiers(old), new: identifiers(new) }
    }

    pub(super) fn is_old(&self, identifier: &str) -> bool {
        self.old.contains(identifier)
    }

    pub(super) fn is_new(&self, identifier: &str) -> bool {
        self.new.contains(identifier)
    }

    /// What is called the same in both.
    pub(super) fn fixed(&self) -> Renaming {
        let mut renaming = Renaming::default();
        for same in self.new.intersection(&self.old) {
            renaming.bind(same, same);
        }
        renaming
    }
}

fn identifiers(views: &[View<'_>]) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut note = |said: Said<'_>| {
        for Word { range, sort } in said.words.iter() {
            let (before, word) = (&said.text[..range.start], &said.text[range.clone()]);
            let is_new = *sort == Sort::Identifier && !found.contains(word);
            if is_new && (said.field.is_id || is_plain(before, word)) {
                found.insert(word.to_owned());
            }
        }
    };
    for view in views {
        texts::asked(view, &mut note);
        texts::answered(view, &mut note);
    }
    found
}

/// Whether a word that stands behind this is an identifier wherever it stands.
fn is_plain(before: &str, word: &str) -> bool {
    let is_uuid = word.len() == 36 && word.as_bytes()[8] == b'-';
    let is_ulid = word.len() == 26
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_digit());
    is_uuid || is_ulid || word.starts_with("eyJ") || is_prefixed(before)
}

/// Names of what is computed from other things.
const COMPUTED: [&str; 7] = ["sha", "md5", "hash", "digest", "checksum", "crc", "fp"];

/// Whether a prefix stands there, and no name of something computed: `call_`, but not `sha256-`.
fn is_prefixed(before: &str) -> bool {
    let Some(before) = before.strip_suffix(['-', '_']) else { return false };
    let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    let prefix = before[start..].to_ascii_lowercase();
    let named = prefix.starts_with(|first: char| first.is_ascii_alphabetic());
    named && !COMPUTED.iter().any(|computed| prefix.starts_with(computed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_computed_is_no_identifier() {
        let check = |before: &str, word: &str, expected: bool| {
            assert_eq!(is_plain(before, word), expected, "{before}{word}");
        };
        check("", "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", true);
        check("\"call_", "9pKqLm2XvT8nRw4YbZc6DfGh", true);
        check("", "01ARZ3NDEKTSV4RRFFQ69G5FAV", true);
        check("sha256-", "9f86d081884c7d659a2feaa0c55ad015", false);
        check("fp_", "44709d6fcb", false);
        check("", "7512374254209955967", false);
        check("it is ", "5eb63bbbe01eeed093cb22bb8f5acdc3", false);
    }
}
