//! Explanations in plain words.

use std::fmt;

use super::{Deviation, Expected, Explanation, Fault};
use crate::contract::order::automaton::Next;

/// How many of the things that were expected are named.
const NAMED: usize = 4;

impl Explanation {
    /// The first thing that is not in order, in a sentence without a full stop.
    pub fn headline(&self) -> Option<String> {
        let first = self.deviations().min_by_key(|deviation| deviation.at)?;
        Some(self.sentence(first))
    }

    /// What is not in order there, in a sentence without a full stop.
    pub fn sentence(&self, deviation: &Deviation) -> String {
        let got = self.tags.get(deviation.at).map(|tag| format!("`{tag}`"));
        let got = got.unwrap_or_else(|| "the end of the stream".to_owned());
        if let (Fault::Apart, Some((key, value))) = (deviation.fault, &deviation.slice) {
            return format!(
                "{got} of {key} {value} came when that was over; \
                 `per {key} & (…)` lets other events come between"
            );
        }
        let place = match deviation.after.and_then(|after| self.tags.get(after)) {
            Some(tag) => format!("after `{tag}`"),
            None => "at the beginning".to_owned(),
        };
        let slice = deviation.slice.as_ref();
        let slice = slice.map(|(key, value)| format!(" in {key} {value}")).unwrap_or_default();
        let (expected, seen) = expected(deviation);
        let fields = if self.is_refused(deviation) { " with other fields" } else { "" };
        format!("expected {expected} {place}{slice}{seen}, got {got}{fields}")
    }

    /// Whether the tag is right and only a guard is not.
    fn is_refused(&self, deviation: &Deviation) -> bool {
        let first = deviation.expected.first().map(|expected| &expected.next);
        let Some(Next::Event(pattern)) = first else { return false };
        deviation.fault == Fault::Wrong && pattern.tag.as_ref() == self.tags.get(deviation.at)
    }
}

impl fmt::Display for Explanation {
    /// One line for each thing that is not in order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, deviation) in self.deviations().enumerate() {
            f.write_str(if place > 0 { "\n" } else { "" })?;
            f.write_str(&self.sentence(deviation))?;
        }
        if self.examined < self.tags.len() {
            write!(
                f,
                "\n(the {} events behind were not examined)",
                self.tags.len() - self.examined
            )?;
        }
        Ok(())
    }
}

/// What was expected, and how often that was seen if it is one thing.
fn expected(deviation: &Deviation) -> (String, String) {
    let slice = deviation.slice.is_some();
    match deviation.expected.as_slice() {
        [] => ("nothing".to_owned(), String::new()),
        [only] => {
            let seen =
                only.share.map(|share| format!(" (seen {} of {} times)", share.times, share.of));
            (named(only, slice), seen.unwrap_or_default())
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|one| match one.share {
                    Some(share) => {
                        format!("{} ({} of {} times)", named(one, slice), share.times, share.of)
                    }
                    None => named(one, slice),
                })
                .collect();
            (alternatives(&names), String::new())
        }
    }
}

fn alternatives(names: &[String]) -> String {
    let (shown, rest) = match names.len() {
        0..=NAMED => (&names[..names.len() - 1], names[names.len() - 1].clone()),
        more => (&names[..NAMED - 1], format!("{} others", more - NAMED + 1)),
    };
    format!("{} or {rest}", shown.join(", "))
}

fn named(expected: &Expected, slice: bool) -> String {
    match &expected.next {
        Next::Event(pattern) => format!("`{pattern}`"),
        Next::End if slice => "its end".to_owned(),
        Next::End => "the end of the stream".to_owned(),
    }
}
