//! Where a trace leaves an order, and what was expected there.

use std::fmt;

use super::Order;
use super::align::Aligner;
use super::run::Next;
use super::word::{Event, Extent, Word};

/// A trace beside an order: the way through the order that leaves the least over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What became of the events, and what is missing between them. The events of a slice stand
    /// together.
    pub steps: Vec<Step>,
    /// How many events were looked at: all, unless trace and order are so large and so different that
    /// only the first deviation was searched.
    pub examined: usize,
    tags: Vec<String>,
}

/// One event, or one that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An event as it should be, by its place in the trace.
    Matched(usize),
    /// Something that is not in order.
    Deviation(Deviation),
}

/// Something that is not in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deviation {
    /// What is wrong.
    pub fault: Fault,
    /// The place in the trace of the event that is wrong, or that came before the one that is missing;
    /// the length of the trace where that is the end.
    pub at: usize,
    /// The last event before that is in order, in the same slice.
    pub after: Option<usize>,
    /// The slice it is in, as key and JSON text of the value.
    pub slice: Option<(String, String)>,
    /// What would have been in order there, the likeliest first.
    pub expected: Vec<Next>,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// An event that has to be there is not.
    Missing,
    /// An event is there that has no place.
    Unexpected,
    /// An event is there in the place of another, or with fields that a guard refuses.
    Wrong,
    /// An event belongs to a slice that was over.
    Apart,
}

/// How many of the things that were expected are named.
const NAMED: usize = 4;

impl Explanation {
    /// Whether the trace is in order.
    pub fn is_match(&self) -> bool {
        self.deviations().next().is_none()
    }

    /// What is not in order.
    pub fn deviations(&self) -> impl Iterator<Item = &Deviation> {
        self.steps.iter().filter_map(|step| match step {
            Step::Deviation(deviation) => Some(deviation),
            Step::Matched(_) => None,
        })
    }

    /// What is not in order, in sentences without a full stop.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.deviations().map(|deviation| self.sentence(deviation))
    }

    /// What is not in order there.
    fn sentence(&self, deviation: &Deviation) -> String {
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
        let expected = expected(deviation);
        let fields = if self.is_refused(deviation) { " with other fields" } else { "" };
        format!("expected {expected} {place}{slice}, got {got}{fields}")
    }

    /// Whether the tag is right and only a guard is not.
    fn is_refused(&self, deviation: &Deviation) -> bool {
        let Some(Next::Event(pattern)) = deviation.expected.first() else { return false };
        deviation.fault == Fault::Wrong && pattern.tag.as_ref() == self.tags.get(deviation.at)
    }
}

impl Order {
    /// Holds a trace against the order and explains where it leaves it.
    ///
    /// The way through the order is the one with the fewest events to put in, to leave out or to
    /// exchange (Wagner & Fischer's edit distance between a word and a language, found by Dijkstra's
    /// algorithm on the product of both). Of several such ways it is the one that leaves the order
    /// latest.
    pub fn explain(&self, trace: &[Event<'_>]) -> Explanation {
        self.explained(trace, Extent::Whole, None)
    }

    /// The same of a trace as far as it came: what is missing at its end may come.
    pub(crate) fn explain_word(&self, word: &Word) -> Explanation {
        self.explained(&word.events(), word.extent, None)
    }

    /// The same of a trace that stands in the place of another one: of several ways it is one in which that is missing
    /// which came there before.
    pub(crate) fn explain_beside(&self, word: &Word, before: Option<&Word>) -> Explanation {
        self.explained(&word.events(), word.extent, before)
    }

    fn explained(&self, trace: &[Event<'_>], extent: Extent, before: Option<&Word>) -> Explanation {
        let aligner = Aligner::new(trace, extent, before);
        let whole: Vec<usize> = (0..trace.len()).collect();
        let tags = trace.iter().map(|event| event.tag.to_owned()).collect();
        match aligner.align(&self.automaton, &whole, None) {
            Some(aligned) => Explanation { steps: aligned.steps, examined: trace.len(), tags },
            None => self.first_deviation(trace, tags, extent),
        }
    }

    /// The events up to the first that ends all ways.
    fn first_deviation(
        &self,
        trace: &[Event<'_>],
        tags: Vec<String>,
        extent: Extent,
    ) -> Explanation {
        let mut run = self.run();
        let mut at = 0;
        let mut expected = run.expected();
        while trace.get(at).is_some_and(|event| run.push(event)) {
            expected = run.expected();
            at += 1;
        }
        let mut steps: Vec<Step> = (0..at).map(Step::Matched).collect();
        if at < trace.len() || (extent.is_whole() && !run.is_complete()) {
            let fault = if at < trace.len() { Fault::Unexpected } else { Fault::Missing };
            steps.push(Step::Deviation(Deviation {
                fault,
                at,
                after: at.checked_sub(1),
                slice: None,
                expected,
            }));
        }
        Explanation { steps, examined: (at + 1).min(trace.len()), tags }
    }
}

impl fmt::Display for Explanation {
    /// One line for each thing that is not in order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentences().collect::<Vec<_>>().join("\n"))?;
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

fn expected(deviation: &Deviation) -> String {
    let slice = deviation.slice.is_some();
    let names: Vec<String> = deviation.expected.iter().map(|next| named(next, slice)).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        several => alternatives(several),
    }
}

fn alternatives(names: &[String]) -> String {
    let (shown, rest) = match names.len() {
        0..=NAMED => (&names[..names.len() - 1], names[names.len() - 1].clone()),
        more => (&names[..NAMED - 1], format!("{} others", more - NAMED + 1)),
    };
    format!("{} or {rest}", shown.join(", "))
}

fn named(next: &Next, slice: bool) -> String {
    match next {
        Next::Event(pattern) => format!("`{pattern}`"),
        Next::End if slice => "its end".to_owned(),
        Next::End => "the end of the stream".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Witness;
    use super::*;

    #[test]
    fn of_several_ways_that_is_missing_which_came_there_before() {
        let order: Order = "answer stop (usage done | done error)".parse().expect("it is an order");
        let word = |tags: &str| Word::plain(tags.split(' '), Witness::default());
        let told = |before: Option<&Word>| -> Vec<String> {
            order.explain_beside(&word("answer stop done"), before).sentences().collect()
        };

        let end = "got the end of the stream";
        assert_eq!(told(None), [format!("expected `error` after `done`, {end}")]);
        assert_eq!(
            told(Some(&word("answer stop usage done"))),
            ["expected `usage` or `done` after `stop`, got `done`"]
        );
    }
}
