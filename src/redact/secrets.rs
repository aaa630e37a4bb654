//! Secrets that were found, and where else they stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

use super::value;
use crate::cassette::splice::{self, Edit};
use crate::text::json::push_escape;
use crate::text::percent::encoded_but;

/// Up to that many spellings are searched for one by one, which needs no preparation.
const FEW: usize = 24;

/// Secret values that were found so far, with what stands in their place.
///
/// Shows their number and nothing of them.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, String>);

/// Finds secrets in any of their spellings: plain, escaped in JSON, percent-encoded, in base64.
#[derive(Default)]
pub(super) struct Searcher {
    patterns: Vec<(Vec<u8>, String)>,
    many: Option<AhoCorasick>,
}

impl Secrets {
    /// The number of secrets.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the secrets of `other`; what stood for a value before stays.
    pub fn extend(&mut self, other: Self) {
        for (value, placeholder) in other.0 {
            if !value::is_placeholder(&value) {
                self.0.entry(value).or_insert(placeholder);
            }
        }
    }

    /// Whether all of these are among them, under the same names.
    pub(super) fn covers(&self, other: &Self) -> bool {
        other.0.iter().all(|(value, placeholder)| self.0.get(value) == Some(placeholder))
    }

    /// Notes a value if it is distinctive, and gives what stands for it from now on.
    pub(super) fn note(&mut self, value: &str, placeholder: String) -> String {
        if !value::is_distinctive(value) {
            return placeholder;
        }
        self.0.entry(value.to_owned()).or_insert(placeholder).clone()
    }

    /// Notes that one placeholder is to be written as another.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.0.entry(from.to_owned()).or_insert_with(|| to.to_owned());
    }

    pub(super) fn searcher(&self) -> Searcher {
        let mut patterns = BTreeMap::new();
        for (value, placeholder) in &self.0 {
            for spelling in spellings(value) {
                patterns.entry(spelling).or_insert_with(|| placeholder.clone());
            }
        }
        let patterns = patterns.into_iter().collect::<Vec<_>>();
        let many = (patterns.len() > FEW).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(patterns.iter().map(|(pattern, _)| pattern))
        });
        // A failed build (more states than 32 bits can number) leaves the slower search.
        Searcher { patterns, many: many.and_then(Result::ok) }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Searcher({})", self.patterns.len())
    }
}

impl Searcher {
    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The edits that take all secrets out of a text, in order.
    pub(super) fn edits(&self, text: &[u8]) -> Vec<Edit> {
        let found: Vec<Edit> = match &self.many {
            Some(many) => many
                .find_iter(text)
                .map(|found| self.edit(found.pattern().as_usize(), found.start()))
                .collect(),
            None => (0..self.patterns.len())
                .flat_map(|number| {
                    memmem::find_iter(text, &self.patterns[number].0)
                        .map(move |start| self.edit(number, start))
                })
                .collect(),
        };
        // The name of a field may be a secret's value elsewhere; placeholders are left alone.
        let outside = |edit: &Edit| !value::in_placeholder(text, edit.range.start);
        splice::in_order(found.into_iter().filter(outside).collect())
    }

    /// The same for a text that may be cut in the middle of a secret.
    pub(super) fn edits_of_body(&self, text: &[u8]) -> Vec<Edit> {
        let mut edits = self.edits(text);
        let from = edits.last().map_or(0, |edit| edit.range.end);
        if let Some((start, number)) = self.cut(text, from)
            && text.len() - start >= value::SHORTEST
            && !value::in_placeholder(text, start)
        {
            let placeholder = self.patterns[number].1.clone();
            edits.push(Edit::new(start..text.len(), placeholder.into_bytes()));
        }
        edits
    }

    /// The edits for a text of which more is to come, and up to where it is decided.
    pub(super) fn decided_edits(&self, text: &[u8]) -> (Vec<Edit>, usize) {
        let cut = |from| self.cut(text, from).map_or(text.len(), |(start, _)| start);
        let mut end = cut(0);
        let mut decided = Vec::new();
        for edit in self.edits(text) {
            // A secret that ends here may be the beginning of a longer one.
            if edit.range.start >= end {
                break;
            }
            if edit.range.end > end {
                end = cut(edit.range.end);
            }
            decided.push(edit);
        }
        (decided, end)
    }

    /// The first offset, not below `from`, at which a secret begins that the text does not end, and
    /// the number of its spelling.
    fn cut(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let longest = self.patterns.iter().map(|(pattern, _)| pattern.len()).max()?;
        let from = from.max((text.len() + 1).saturating_sub(longest));
        (from..text.len()).find_map(|start| {
            let rest = &text[start..];
            let begins = |(pattern, _): &(Vec<u8>, String)| {
                pattern[0] == rest[0] && rest.len() < pattern.len() && pattern.starts_with(rest)
            };
            self.patterns.iter().position(begins).map(|number| (start, number))
        })
    }

    fn edit(&self, number: usize, start: usize) -> Edit {
        let (pattern, placeholder) = &self.patterns[number];
        Edit::new(start..start + pattern.len(), placeholder.clone().into_bytes())
    }
}

/// The ways in which a value is written.
fn spellings(value: &str) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::from([value.as_bytes().to_vec()]);
    for escape in [json_escaped, json_escaped_ascii, json_escaped_slashes] {
        let mut spelled = value.to_owned();
        for _ in 0..3 {
            spelled = escape(&spelled);
            all.insert(spelled.clone().into_bytes());
        }
    }
    for kept in ["-._~", "-._~!'()*", "*-._", "-._~:/@!$'()*,;"] {
        let upper = encoded_but(value, kept);
        for encoded in [lower_hex(&upper), upper.replace("%20", "+"), upper] {
            all.insert(encoded.into_bytes());
        }
    }
    if !value::is_placeholder(value) {
        all.extend(in_base64(value.as_bytes()));
    }
    all
}

fn json_escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '"' | '\\') || c.is_control() {
            push_escape(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

/// As Python writes it.
fn json_escaped_ascii(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in json_escaped(value).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// As PHP writes it.
fn json_escaped_slashes(value: &str) -> String {
    json_escaped(value).replace('/', "\\/")
}

fn lower_hex(encoded: &str) -> String {
    let mut digits = 0;
    let lower = encoded.chars().map(|c| {
        digits = if c == '%' { 2 } else { i32::max(digits - 1, -1) };
        if c != '%' && digits >= 0 { c.to_ascii_lowercase() } else { c }
    });
    lower.collect()
}

/// The base64 of a value where it begins at any of the three places within a group of bytes, without
/// the letters that depend on its neighbours.
fn in_base64(value: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let whole = [STANDARD.encode(value), STANDARD_NO_PAD.encode(value)];
    let aligned = (0..3).flat_map(move |before| {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value);
        let skip = [0, 2, 3][before];
        let keep = bytes.len() * 8 / 6;
        [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
            .map(|text| text[skip..keep].to_owned())
    });
    whole.into_iter().chain(aligned).map(String::into_bytes).collect::<Vec<_>>().into_iter()
}
