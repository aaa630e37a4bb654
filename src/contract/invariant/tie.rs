//! What may hold of two fields by what they say, and where it does not.

use std::collections::BTreeMap;

use super::check::{At, Broken, Check};
use super::claim::{Field, Path};
use super::earlier::REQUEST;
use super::number::time;
use super::pairing::paired;
use super::text::Strand;
use super::trace::Comparable;

/// What may hold of two fields by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tie {
    /// The number or time is never above another one in the same message, or in the same row of a list; or an array has
    /// at most as many elements as the request asks for.
    AtMost,
    /// The number says how many elements an array in the same message or in the request has, or how many messages of
    /// a type came before; or an array has as many elements as one in the request.
    Counts,
    /// The text is what earlier messages said piece by piece.
    Joins,
    /// The text begins with what an earlier message said.
    Extends,
    /// The field says one thing for each thing that the other one says.
    OnePer,
    /// The field says nothing again that it said in the answer that has said what the request says.
    NewBehind,
    /// The field says nothing again that it said where the request had no number there.
    NewBehindFirst,
    /// The number is the sum of what a field says in all rows of a list.
    Totals,
    /// A read says what the last answer said of the thing that the other field identifies.
    Stays,
    /// A read says no smaller number of the thing than the last answer.
    NeverFalls,
    /// A read says no larger number of the thing than the last answer.
    NeverRises,
    /// What answers have said of the thing, and then something else, no read says again.
    NeverReturns,
}

impl Tie {
    /// All that there are.
    pub(super) const ALL: [Self; 12] = [
        Self::AtMost,
        Self::Counts,
        Self::Joins,
        Self::Extends,
        Self::OnePer,
        // The longer verb is read first.
        Self::NewBehindFirst,
        Self::NewBehind,
        Self::Totals,
        Self::Stays,
        Self::NeverFalls,
        Self::NeverRises,
        Self::NeverReturns,
    ];

    /// How it is written between the fields.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::AtMost => "at most",
            Self::Counts => "counts",
            Self::Joins => "joins",
            Self::Extends => "extends",
            Self::OnePer => "one per",
            Self::NewBehind => "new behind",
            Self::NewBehindFirst => "new behind no",
            Self::Totals => "sums",
            Self::Stays => "stays with",
            Self::NeverFalls => "never falls with",
            Self::NeverRises => "never rises with",
            Self::NeverReturns => "never returns with",
        }
    }
}

/// Whether two numbers are the same, as far as fractions tell: those of sums differ in their last digits, and times
/// since 1970 that are a millisecond apart do earlier.
pub(super) fn is_equal(one: f64, other: f64) -> bool {
    const DIGITS: f64 = 1e-13;
    (one - other).abs() <= DIGITS * one.abs().max(other.abs())
}

impl Check<'_> {
    /// Where a field does not go with another one, and what it does not go with.
    pub(super) fn untied(&self, tie: Tie, field: &Field, to: &Field) -> Broken<'_> {
        let holds: fn(f64, f64) -> bool = match tie {
            Tie::Joins | Tie::Extends => return self.unjoined(tie, field, to),
            Tie::OnePer => return self.several(field, to),
            Tie::NewBehind | Tie::NewBehindFirst => return self.said_again(tie, field, to),
            Tie::Totals => return self.untotalled(field, to),
            Tie::Stays | Tie::NeverFalls | Tie::NeverRises | Tie::NeverReturns => {
                return self.moved(tie, field, to);
            }
            Tie::AtMost if self.tells_times(field, to) => return self.unordered(field, to),
            Tie::Counts => is_equal,
            Tie::AtMost => |one, other| one <= other || is_equal(one, other),
        };
        let is_messages = to.path == Path::default();
        let is_list = field.path.is_list();
        let broken = self.all(field).into_iter().filter_map(|at| {
            let number = if is_list { of_length(&at)? } else { of_number(&at)? };
            if to.tag.as_deref() == Some(REQUEST) {
                let asked = self.asked(to).find_map(|asked| match to.path.is_list() {
                    true => of_length(&asked),
                    false => asked.value.counted(),
                })?;
                return (!holds(number, asked)).then_some((at, None));
            }
            if is_messages {
                let (before, tag) = (at.event?, self.names.find(to.tag.as_deref()?));
                let events = self.events[..before].iter();
                let count = events.filter(|(own, _)| Some(*own) == tag).count();
                return (!holds(number, count as f64)).then_some((at, None));
            }
            let other = self.beside(&at, to)?;
            let said = match other.value {
                Comparable::Number(said) | Comparable::Length(said) => *said,
                Comparable::Key(_) | Comparable::Text(_) => return None,
            };
            // How long an array is has no place of its own.
            let shown = of_number(&other).map(|_| other);
            (!holds(number, said)).then_some((at, shown))
        });
        broken.collect()
    }

    /// Where a number is not the sum of two others.
    pub(super) fn unsummed(&self, field: &Field, [one, other]: &[Field; 2]) -> Broken<'_> {
        let broken = self.all(field).into_iter().filter_map(|at| {
            let summands = [self.beside(&at, one)?, self.beside(&at, other)?];
            let sum = of_number(&summands[0])? + of_number(&summands[1])?;
            (!is_equal(of_number(&at)?, sum)).then_some((at, Some(summands[0])))
        });
        broken.collect()
    }

    /// Where a number is not the sum of what a field says in several rows of its message.
    fn untotalled(&self, field: &Field, to: &Field) -> Broken<'_> {
        let rows = self.all(to);
        let broken = self.all(field).into_iter().filter_map(|at| {
            let of_event = rows.iter().filter(|row| row.event == at.event);
            let said: Vec<f64> = of_event.filter_map(of_number).collect();
            let is_sum = is_equal(of_number(&at)?, said.iter().sum());
            (said.len() > 1 && !is_sum).then_some((at, None))
        });
        broken.collect()
    }

    /// Whether both say when something is.
    fn tells_times(&self, field: &Field, to: &Field) -> bool {
        let all = |field: &Field| {
            self.all(field).iter().any(|at| time(field.path.as_str(), at.value).is_some())
        };
        all(field) && all(to)
    }

    /// Where a time is behind another one.
    fn unordered(&self, field: &Field, to: &Field) -> Broken<'_> {
        let broken = self.all(field).into_iter().filter_map(|at| {
            let other = self.beside(&at, to)?;
            let [one, behind] =
                [(field, &at), (to, &other)].map(|(of, at)| time(of.path.as_str(), at.value));
            (one? > behind?).then_some((at, Some(other)))
        });
        broken.collect()
    }

    /// Where a field says something else than it said with the same key, and where it said that first.
    fn several(&self, field: &Field, to: &Field) -> Broken<'_> {
        let mut first: BTreeMap<u64, At<'_>> = BTreeMap::new();
        let mut broken = Broken::new();
        for at in self.all(field).into_iter().filter(|at| paired(at.value).is_some()) {
            let Some(key) = self.beside(&at, to).and_then(|key| paired(key.value)) else {
                continue;
            };
            let known = *first.entry(key).or_insert(at);
            if paired(known.value) != paired(at.value) {
                broken.push((at, Some(known)));
            }
        }
        broken
    }

    fn unjoined(&self, tie: Tie, field: &Field, to: &Field) -> Broken<'_> {
        let number = |field: &Field| {
            let tag = self.names.find(field.tag.as_deref().unwrap_or_default())?;
            Some((tag, self.names.find(field.path.as_str())?))
        };
        let Some(whole) = number(field) else { return Broken::new() };
        let piece = number(to);
        let (mut strand, mut broken) = (Strand::default(), Broken::new());
        let all_keys = self.names.keys_of_all(&self.events);
        for (event, ((tag, sights), keys)) in self.events.iter().zip(&all_keys).enumerate() {
            for (number, sight) in sights.iter().enumerate() {
                let here = Some((*tag, sight.path));
                let text = sight.value.said().filter(|text| !text.is_empty());
                let Some(text) = text.filter(|_| here == Some(whole) || here == piece) else {
                    continue;
                };
                let paths = [whole.1, piece.map_or(whole.1, |(_, path)| path)];
                let is_tied = here != Some(whole)
                    || match tie {
                        Tie::Extends => strand.extended(&text, keys, paths) != Some(None),
                        _ => strand.joined(0, &text, keys, paths).is_some(),
                    };
                if !is_tied {
                    broken.push((At { event: Some(event), number, value: &sight.value }, None));
                }
                if here == piece {
                    strand.push(text, keys);
                }
            }
        }
        broken
    }

    /// Another field of the same message, and of the same row of a list.
    pub(super) fn beside<'c>(&'c self, at: &At<'c>, other: &Field) -> Option<At<'c>> {
        let path = self.names.find(other.path.as_str())?;
        let (_, sights) = &self.events[at.event?];
        let (is_length, row) = (other.path.is_list(), sights[at.number].row);
        let found = sights.iter().enumerate().find(|(_, sight)| {
            let is_it = is_length == matches!(sight.value, Comparable::Length(_));
            sight.path == path && is_it && (is_length || sight.row == row)
        });
        found.map(|(number, sight)| At { event: at.event, number, value: &sight.value })
    }
}

fn of_length(at: &At<'_>) -> Option<f64> {
    match at.value {
        Comparable::Length(length) => Some(*length),
        _ => None,
    }
}

fn of_number(at: &At<'_>) -> Option<f64> {
    match at.value {
        Comparable::Number(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_fractions_are_equal_and_milliseconds_are_apart() {
        assert!(is_equal(0.1 + 0.2, 0.3));
        assert!(is_equal((0..1000).map(|_| 0.1).sum(), 100.0));
        assert!(!is_equal(1_796_020_997_661.0, 1_796_020_997_662.0));
        assert!(!is_equal(1_796_020_997.661, 1_796_020_997.662));
    }
}
