//! What a text becomes that stands where an old one stood.

use std::borrow::Cow;

use crate::compare::alignment::{Field, Renaming, Said, Sort, between};
use crate::identity::{is_epoch, is_moment};
use crate::text::percent;

/// Texts of a new recording in the words of the old one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settle<'a> {
    pub(super) renaming: &'a Renaming,
}

impl Settle<'_> {
    /// A text with the old names in it.
    pub(super) fn named<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.renaming.text(text)
    }

    /// A text that stands where an old one stood: the old one if only names and times differ.
    pub(super) fn text<'t>(&self, old: Said<'t>, new: Said<'t>) -> Cow<'t, str> {
        if self.is_alike(old, new) { Cow::Borrowed(old.text) } else { self.named(new.text) }
    }

    /// The target of a request; what is percent-encoded in it is read.
    pub(super) fn target(&self, old: &str, new: &str) -> String {
        let [olds, news] = [old, new].map(|path| path.split_inclusive(['?', '&']));
        if olds.clone().count() != news.clone().count() {
            return self.named(new).into_owned();
        }
        let piece = |(old, new): (&str, &str)| {
            let [before, now] = [old, new].map(percent::form_decoded);
            let [was, is] = [&before, &now].map(|text| Said { text, field: Field::PLAIN });
            // A character may be encoded in one and not in the other.
            let is_spelled_alike = old.matches('%').count() == new.matches('%').count();
            if is_spelled_alike && *self.text(was, is) == *before {
                old.to_owned()
            } else {
                self.named(new).into_owned()
            }
        };
        olds.zip(news).map(piece).collect()
    }

    /// Whether only names and times differ, and may.
    fn is_alike(&self, old: Said<'_>, new: Said<'_>) -> bool {
        if old.text == new.text || (old.is_span() && new.is_span()) {
            return true;
        }
        let (before, now) = (old.value(), new.value());
        if new.field.is_time && is_time(before, now) && self.is_free(before, now) {
            return true;
        }
        let [olds, news] = self.renaming.words(old.text, new.text);
        let mut words = olds.iter().zip(&news);
        between(old.text, &olds) == between(new.text, &news)
            && words.all(|(one, other)| {
                let (was, is) = (&old.text[one.range.clone()], &new.text[other.range.clone()]);
                one.sort == other.sort
                    && match one.sort {
                        Sort::Name => self.renaming.is_called(is, was),
                        Sort::Moment if was == is => true,
                        Sort::Moment => self.is_free(was, is) && shape(was) == shape(is),
                    }
            })
    }

    fn is_free(&self, old: &str, new: &str) -> bool {
        self.renaming.is_free(old) && self.renaming.is_free(new)
    }
}

/// Whether two whole values are times that are written in the same way.
fn is_time(one: &str, other: &str) -> bool {
    (is_epoch(one) && is_epoch(other) && shape(one) == shape(other))
        || (is_moment(one) && is_moment(other) && shape(one) == shape(other))
}

/// How a time is written: to write it in another way is a change.
fn shape(time: &str) -> String {
    let fraction =
        time.find(['.', ',']).filter(|at| time[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let digits =
        fraction.map_or(0, |at| time[at + 1..].bytes().take_while(u8::is_ascii_digit).count());
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| time.as_bytes().get(at)).is_some_and(u8::is_ascii_alphabetic)
    };
    let mut shape = String::new();
    for (at, c) in time.char_indices() {
        // Other than in the name of a day.
        let alone = !is_letter(at.checked_sub(1)) && !is_letter(Some(at + 1));
        // Parts of a second beyond the millionth are cut where zeros begin.
        if fraction.is_some_and(|start| at > start + 7 && at <= start + digits) {
            continue;
        }
        shape.push(match c {
            '0'..='9' => '0',
            'T' | 'Z' | 't' | 'z' if alone => c,
            _ if c.is_ascii_alphabetic() => 'a',
            _ => c,
        });
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, field: &str, expected: bool) {
        let settle = Settle { renaming: &Renaming::default() };
        let [before, now] = [old, new].map(|text| Said { text, field: Field::of(field) });
        let kept = settle.text(before, now) == old;
        assert_eq!(kept, expected, "{old} {new}");
    }

    #[test]
    fn times_are_kept_and_nothing_else_is() {
        check("2026-11-21T09:00:00Z", "2027-01-02T10:11:12Z", "x", true);
        check("at 2026-11-21 09:00:00 AM", "at 2026-11-21 11:30:00 PM", "x", true);
        check("Sat, 21 Nov 2026 09:00:00 GMT", "Sun, 22 Nov 2026 09:00:00 GMT", "date", true);
        check("1763712000", "1763712999", "created", true);
        check("17.5", "3", "duration_ms", true);
        check("1763712000", "1763712999", "count", false);
        check("2026-11-21", "2026-11-22", "created_at", true);
        check("2025-06-18", "2025-11-25", "protocolVersion", false);
        check("2026-11-21T09:00:00Z", "2026-11-21T09:00:00+00:00", "created_at", false);
        check("2026-11-21T09:00:00Z", "2026-11-21T09:00:00.123Z", "created_at", false);
        check("a 2026-11-21T09:00:00Z", "b 2026-11-21T09:00:01Z", "x", false);
        check("1", "2", "x", false);
        check("null", "\"2026-11-21T09:00:00Z\"", "created_at", false);
    }
}
