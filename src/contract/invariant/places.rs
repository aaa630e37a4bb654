//! The places that invariants speak of.

use std::fmt;

use super::claim::{Field, Invariant, Path};
use super::earlier::REQUEST;
use super::presence::walk;
use crate::text::json::Text;

/// Values below so many containers are not looked at.
const DEEPEST: usize = 16;

/// A place in requests, or in answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Where<'i> {
    pub(crate) in_request: bool,
    /// The type of the messages; none for all.
    pub(crate) tag: Option<&'i str>,
    pub(crate) path: &'i str,
}

impl fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.tag.filter(|_| !self.path.is_empty());
        of.iter().try_for_each(|tag| write!(f, "{tag}."))?;
        f.write_str(if self.path.is_empty() { self.tag.unwrap_or_default() } else { self.path })
    }
}

impl Invariant {
    /// The places in the requests and answers of an endpoint that it speaks of. Those in earlier answers may be of
    /// another endpoint.
    pub(crate) fn places(&self) -> Vec<Where<'_>> {
        match self {
            Self::RefersEarlier(field, _) => vec![said(field)],
            Self::Echoes(field, path) => vec![said(field), asked(path)],
            Self::Comes(field, with) if with.in_request => vec![said(field), asked(&with.path)],
            Self::Comes(field, with) => {
                vec![said(field), Where { path: with.path.as_str(), ..said(field) }]
            }
            Self::Sorted(keys, words) => {
                let keys = keys.iter().map(|(field, _)| said(field));
                keys.chain(words.iter().map(|word| asked(&word.path))).collect()
            }
            _ => self.fields().into_iter().map(said).collect(),
        }
    }
}

fn said(field: &Field) -> Where<'_> {
    match field.tag.as_deref() {
        Some(REQUEST) => asked(&field.path),
        tag => Where { in_request: false, tag, path: field.path.as_str() },
    }
}

fn asked(path: &Path) -> Where<'_> {
    Where { in_request: true, tag: None, path: path.as_str() }
}

/// Tells each place in a JSON text, as an invariant writes it.
pub(crate) fn places(json: Text<'_>, told: &mut dyn FnMut(&str)) {
    walk(json, &mut Path::default(), DEEPEST, &mut |path, _, _| told(path.as_str()));
}
