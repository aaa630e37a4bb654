//! What the identifiers of a recording look like.

use std::collections::HashSet;
use std::ops::Range;

use super::identifier::{MOST_PARTS, PLAIN, TAIL, is_mixed, is_word};
use super::minted;

/// What identifiers look like that are known: a prefix, or the words before it, and a length.
#[derive(Debug, Default)]
pub struct Shapes(Option<HashSet<(String, usize)>>);

/// So many letters of the words before a short identifier are compared.
const LEAD: usize = 12;

impl Shapes {
    pub(super) const NONE: Self = Self(None);

    /// Learns from the identifier that stands at `range` of a text, if it has a prefix.
    pub fn learn(&mut self, text: &str, range: &Range<usize>) {
        let before = text.as_bytes()[..range.start].iter().rev();
        let prefix = range.start - before.take_while(|byte| is_word(byte)).count();
        if range.start > prefix + 1 && range.len() >= TAIL {
            let shape = (text[prefix..range.start].to_owned(), range.len());
            self.0.get_or_insert_default().insert(shape);
        } else if range.start == prefix && range.len() < PLAIN {
            let shape = lead(text, range.start).map(|lead| (lead.to_owned(), range.len()));
            self.0.get_or_insert_default().extend(shape);
        }
    }

    /// A short word that stands alone, if it is one: by its look, or, where its digits happen to be a
    /// number, by the words before it, behind which others stood.
    pub(super) fn short(&self, text: &str, span: Range<usize>) -> Option<Range<usize>> {
        let word = &text.as_bytes()[span.clone()];
        let known = || {
            let known = self.0.as_ref().filter(|_| word.iter().all(u8::is_ascii_digit));
            known
                .zip(lead(text, span.start))
                .is_some_and(|(known, lead)| known.contains(&(lead.to_owned(), span.len())))
        };
        let is_colour = || text.as_bytes()[..span.start].last() == Some(&b'#');
        ((minted::is_bare_hex(word) && !is_colour()) || known()).then_some(span)
    }

    /// Where an identifier of a known shape begins in a run that has nothing else behind it.
    pub(super) fn find(&self, run: &str) -> Option<usize> {
        let known = self.0.as_ref()?;
        let separators = run.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'-' | b'_'));
        let starts = separators.map(|(at, _)| at + 1);
        starts.take(MOST_PARTS).find(|start| {
            let tail = &run.as_bytes()[*start..];
            (tail.len() >= PLAIN || (tail.len() >= TAIL && is_mixed(tail)))
                && known.contains(&(run[..*start].to_owned(), run.len() - start))
        })
    }
}

/// The words before a place in a text, up to whatever ends them in JSON; `None` if there are none.
fn lead(text: &str, end: usize) -> Option<&str> {
    let belongs = |byte: &&u8| is_word(byte) || b" .,:;+@/#".contains(byte);
    let before = text.as_bytes()[..end].iter().rev().take(LEAD).take_while(belongs).count();
    (before > 0).then(|| &text[end - before..end])
}
