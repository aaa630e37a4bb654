//! What a person says about secrets, made ready to be asked.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::rule::Notes;
use super::value;
use crate::cassette::placeholder::OPENING;
use crate::cassette::splice::Edit;
use crate::config::{Finder, OwnRule, Redaction};

/// The rules of a person's own. Names are known in any case.
#[derive(Debug, Default)]
pub(super) struct Own {
    said: Redaction,
    /// As cassettes name them.
    pub(super) names: Vec<String>,
    headers: HashSet<String>,
    query: HashSet<String>,
    json: HashSet<String>,
    replacements: HashMap<String, String>,
    /// What stands in the place of secrets, whatever their names.
    written: HashSet<String>,
    no_secrets: HashSet<String>,
    finders: Vec<(String, Finder)>,
    /// What is no secret, and who says so.
    pub(super) weakened: Vec<String>,
    /// Finds the names that a text may have.
    words: Option<AhoCorasick>,
}

impl Own {
    /// These, and what else is said.
    pub(super) fn and(&self, said: &Redaction) -> Self {
        let said = self.said.clone().and(said);
        let mut own = Self { weakened: said.weakened(), ..Self::default() };
        for rule in said.rules() {
            let name = rule.to_string();
            if !own.names.contains(&name) {
                own.names.push(name);
            }
            own.add(rule);
        }
        let words: Vec<&String> = own.json.iter().chain(&own.no_secrets).collect();
        own.words = (!words.is_empty())
            .then(|| AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok())
            .flatten();
        own.said = said;
        own
    }

    fn add(&mut self, rule: &OwnRule) {
        let known = |name: &String| name.to_ascii_lowercase();
        match rule {
            OwnRule::Header(name) => drop(self.headers.insert(known(name))),
            OwnRule::Query(name) => drop(self.query.insert(known(name))),
            OwnRule::Json(name) => drop(self.json.insert(known(name))),
            OwnRule::NotSecret(name) => drop(self.no_secrets.insert(known(name))),
            OwnRule::Replacement { name, text } => {
                self.replacements.insert(known(name), text.clone());
                self.written.insert(text.clone());
            }
            OwnRule::Find { name, finder } => self.finders.push((name.clone(), finder.clone())),
        }
    }

    pub(super) fn is_header(&self, name: &str) -> bool {
        is_in(&self.headers, name)
    }

    pub(super) fn is_query(&self, name: &str) -> bool {
        is_in(&self.query, name)
    }

    pub(super) fn is_json(&self, name: &str) -> bool {
        is_in(&self.json, name)
    }

    /// Whether what is called so is no secret.
    pub(super) fn is_no_secret(&self, name: &str) -> bool {
        is_in(&self.no_secrets, name)
    }

    /// What stands in the place of secrets of that name.
    pub(super) fn replacement(&self, name: &str) -> Option<&str> {
        if self.replacements.is_empty() {
            return None;
        }
        self.replacements.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    /// Whether a person has written it, or what it is a part of, in the place of secrets. It stands in the clear in
    /// `retape.toml` and in each cassette.
    pub(super) fn is_replacement(&self, text: &str) -> bool {
        let is_part = |written: &String| text.len() >= value::SHORTEST && written.contains(text);
        self.written.contains(text) || self.written.iter().any(is_part)
    }

    /// Whether a name of these rules may stand in a text.
    pub(super) fn may_tell(&self, text: &[u8]) -> bool {
        self.words.as_ref().is_some_and(|words| words.is_match(text))
    }

    /// Whether each line is to be looked at.
    pub(super) fn has_finders(&self) -> bool {
        !self.finders.is_empty()
    }
}

fn is_in(names: &HashSet<String>, name: &str) -> bool {
    !names.is_empty() && names.contains(&name.to_ascii_lowercase())
}

/// The edits for what expressions and functions find in the lines of a text.
pub(super) fn find(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    let own = &notes.redactor.own;
    let mut edits = Vec::new();
    if !own.has_finders() {
        return edits;
    }
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        for (name, finder) in &own.finders {
            for range in finder.ranges(line) {
                let Some(secret) = line.get(range.clone()) else { continue };
                let secret = String::from_utf8_lossy(secret).into_owned();
                let is_new = !secret.contains(OPENING)
                    && !own.is_replacement(&secret)
                    && !notes.secrets.is_spared(&secret);
                if is_new && let Some(with) = notes.replacement(name, &secret) {
                    edits.push(Edit::new(start + range.start..start + range.end, with));
                }
            }
        }
        start += line.len();
    }
    edits
}

impl Finder {
    /// Where secrets stand in a line.
    fn ranges(&self, line: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::Regex(regex) => {
                let found = regex.captures_iter(line);
                let found = found.filter_map(|found| found.name("s").or_else(|| found.get(0)));
                found.map(|found| found.range()).filter(|range| !range.is_empty()).collect()
            }
            Self::Code(Some(find)) => {
                str::from_utf8(line).map(|line| find(line)).unwrap_or_default()
            }
            Self::Code(None) => Vec::new(),
        }
    }
}
