//! What was learned about the order of events.

use std::collections::BTreeMap;

use super::choice::Style;
use super::edges::{Edges, Place, Seen};
use super::slicing::Slicing;
use super::word::Word;
use crate::contract::order::Order;
use crate::contract::order::automaton::TooLarge;
use crate::contract::order::expression::Expression;

/// What was learned from words: neighbours, in slices and around them if there are slices.
///
/// Memory is bounded by the number of tags.
#[derive(Debug, Clone)]
pub struct Learned {
    slicing: Option<Slicing>,
    all: Edges,
    /// Empty if there are no slices.
    outer: Edges,
    kinds: BTreeMap<String, Edges>,
    /// Words that the slicing does not fit.
    unfit: u64,
}

impl Learned {
    /// Nothing yet, to be learned with a given slicing.
    pub fn with(slicing: Option<Slicing>) -> Self {
        let (all, outer, kinds) = (Edges::default(), Edges::default(), BTreeMap::new());
        Self { slicing, all, outer, kinds, unfit: 0 }
    }

    /// What words teach, with the slices that are found in them.
    pub fn from_words(words: &[Word]) -> Self {
        let mut learned = Self::with(Slicing::find(words));
        words.iter().for_each(|word| learned.add(word));
        learned
    }

    /// Learns from one more word.
    pub fn add(&mut self, word: &Word) {
        self.all.add(word.letters(), word.witness);
        let Some(slicing) = &self.slicing else { return };
        match slicing.cut(word) {
            Some(cut) => cut.learn(&mut self.outer, &mut self.kinds, word.witness),
            None => self.unfit += 1,
        }
    }

    /// The slices.
    pub fn slicing(&self) -> Option<&Slicing> {
        self.slicing.as_ref()
    }

    /// How many words came after the slicing was found that it does not fit: their events of one slice
    /// do not come in a row. The slices should be found anew then.
    pub fn unfit(&self) -> u64 {
        self.unfit
    }

    /// The neighbours in whole words, slices or not.
    pub fn all(&self) -> &Edges {
        &self.all
    }

    /// The neighbours around the slices, which stand among the tags by the names of their kinds. The
    /// same as [`Learned::all`] if there are no slices.
    pub fn outer(&self) -> &Edges {
        if self.slicing.is_some() { &self.outer } else { &self.all }
    }

    /// The neighbours in slices, by the name of the kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &Edges)> {
        self.kinds.iter().map(|(kind, edges)| (kind.as_str(), edges))
    }

    /// Whether all neighbours in a word were seen, in its slices and around them.
    pub fn accepts(&self, word: &Word) -> bool {
        let Some(slicing) = &self.slicing else {
            return self.all.accepts(word.letters().map(|letter| letter.tag));
        };
        slicing.cut(word).is_some_and(|cut| {
            let inner = |(kind, letters): &(String, Vec<super::Letter<'_>>)| {
                let edges = self.kinds.get(kind);
                edges.is_some_and(|edges| edges.accepts(letters.iter().map(|letter| letter.tag)))
            };
            self.outer.accepts(cut.letters().map(|letter| letter.tag))
                && cut.slices.iter().all(inner)
        })
    }

    /// The order to show.
    pub fn expression(&self, style: Style) -> Expression {
        let Some(slicing) = &self.slicing else { return self.all.expression(style) };
        self.outer.expression(style).with_tags(&|tag| match self.kinds.get(tag) {
            Some(edges) => Expression::per(&slicing.key, slicing.between, edges.expression(style)),
            None => Expression::tag(tag),
        })
    }

    /// The order to run.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if its automaton is; what is learned from less than a thousand tags never is.
    pub fn order(&self, style: Style) -> Result<Order, TooLarge> {
        Order::new(self.expression(style))
    }

    /// How often an event was seen behind another in slices (or everywhere, if `sliced` has no key),
    /// and how often that other one was seen.
    pub(in crate::contract::order) fn share(
        &self,
        key: Option<&str>,
        from: Place<'_>,
        to: Place<'_>,
    ) -> Share {
        let known = self.slicing.as_ref().is_some_and(|slicing| Some(&*slicing.key) == key);
        let edges: Vec<&Edges> =
            if known { self.kinds.values().collect() } else { vec![&self.all] };
        let seen = edges.iter().filter_map(|edges| edges.seen(from, to));
        Share {
            times: seen.map(|Seen { times, .. }| times).sum(),
            of: edges.iter().map(|edges| edges.times(from)).sum(),
        }
    }
}

/// How often something was seen, of how many times it could have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Share {
    /// How often it was.
    pub times: u64,
    /// How often it could have been.
    pub of: u64,
}
