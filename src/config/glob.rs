//! Which cassettes are meant.

use std::collections::BTreeSet;

use regex::Regex;

use crate::error::{Error, Result};

/// Names of cassettes with wildcards: `?` is a character, `*` any number of them within a part,
/// `**` any number of parts. Everything else stands for itself, brackets too.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    names: Regex,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Result<Self> {
        if let Some(why) = flaw(text) {
            let text = if text.is_empty() { "name" } else { text };
            return Err(Error::rule(text, why).with_hint(
                "a name is a path below the folder of cassettes: `letta/hello`, `letta/*`, `**`",
            ));
        }
        Self::of_path(text)
    }

    /// The same for paths of requests, without the slashes at both ends.
    pub(crate) fn of_path(text: &str) -> Result<Self> {
        let names = format!("^(?s:{})$", expression(text));
        let names = Regex::new(&names);
        let names = names.map_err(|error| Error::rule(text, "is too long").because(error))?;
        Ok(Self { names })
    }

    pub(crate) fn fits(&self, name: &str) -> bool {
        self.names.is_match(name)
    }
}

/// What somebody may have meant who wrote `text`: these names, or all in one of their folders.
pub(super) fn alike(text: &str, names: &BTreeSet<String>) -> Vec<String> {
    match text.rsplit_once('/').filter(|(_, last)| last.contains(['*', '?'])) {
        Some((_, last)) => {
            let folders = names.iter().filter_map(|name| name.rsplit_once('/'));
            folders.map(|(folder, _)| format!("{folder}/{last}")).collect()
        }
        None => names.iter().cloned().collect(),
    }
}

fn flaw(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("is empty");
    }
    if text.split('/').any(str::is_empty) {
        return Some("is not the name of a cassette: a part of it is empty");
    }
    text.ends_with(".json").then_some("is not the name of a cassette: it has an ending")
}

fn expression(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').collect();
    let mut expression = String::new();
    for (number, part) in parts.iter().enumerate() {
        let last = number + 1 == parts.len();
        match (*part, last) {
            ("**", true) => expression.push_str(".+"),
            ("**", false) => expression.push_str("(?:[^/]+/)*"),
            (part, _) => {
                expression.extend(part.chars().map(character));
                expression.push_str(if last { "" } else { "/" });
            }
        }
    }
    expression
}

fn character(c: char) -> String {
    match c {
        '*' => "[^/]*".to_owned(),
        '?' => "[^/]".to_owned(),
        c => regex::escape(c.encode_utf8(&mut [0; 4])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stays_within_its_part() {
        let check = |glob: &str, fitting: &[&str], others: &[&str]| {
            let glob = Glob::new(glob).expect(glob);
            assert!(fitting.iter().all(|name| glob.fits(name)), "{glob:?} {fitting:?}");
            assert!(!others.iter().any(|name| glob.fits(name)), "{glob:?} {others:?}");
        };
        check("hello", &["hello"], &["hello2", "a/hello", "hell"]);
        check("letta/*", &["letta/hello", "letta/x[0]"], &["letta/hitl/deny", "letta", "xletta/a"]);
        check("letta/**", &["letta/hello", "letta/hitl/deny"], &["letta"]);
        check("**/deny", &["deny", "hitl/deny", "letta/hitl/deny"], &["letta/deny2"]);
        check("a/**/z", &["a/z", "a/b/z", "a/b/c/z"], &["a/bz", "az"]);
        check("**", &["a", "a/b"], &[]);
        check("x[0].?", &["x[0].a", "x[0].é"], &["x0.a", "x[0].", "x[0]a"]);
    }
}
