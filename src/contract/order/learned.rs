//! What was learned about the order of events.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::edges::Edges;
use super::expression::Expression;
use super::slicing::{SlicedEdge, Slicing};
use super::word::Word;

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
    /// What is cut once more, by another key: kinds of slices, and, without a name, what is around them.
    finer: BTreeMap<String, Self>,
}

impl Learned {
    /// Nothing yet, to be learned with a given slicing.
    pub fn with(slicing: Option<Slicing>) -> Self {
        let (all, outer) = (Edges::default(), Edges::default());
        Self { slicing, all, outer, kinds: BTreeMap::new(), finer: BTreeMap::new() }
    }

    /// What words teach, with the slices that are found in them, and those within and beside these.
    pub fn from_words(words: &[Word]) -> Self {
        let mut learned = Self::with(Slicing::find(words));
        words.iter().for_each(|word| learned.add(word));
        let parts = learned.slicing.iter().flat_map(|slicing| slicing.parts(words));
        let finer = parts.map(|(kind, words)| (kind, Self::from_words(&words)));
        learned.finer = finer.filter(|(_, learned)| learned.slicing.is_some()).collect();
        learned
    }

    /// Learns from one more word.
    pub fn add(&mut self, word: &Word) {
        self.all.add(word.letters());
        if let Some(cut) = self.slicing.as_ref().and_then(|slicing| slicing.cut(word)) {
            cut.learn(&mut self.outer, &mut self.kinds);
        }
    }

    /// The order to show.
    pub fn expression(&self) -> Expression {
        let Some(slicing) = &self.slicing else { return self.all.expression() };
        let part = |kind: &str, edges: &Edges| match self.finer.get(kind) {
            Some(finer) => finer.expression(),
            None => edges.expression(),
        };
        part("", &self.outer).with_tags(&|tag| match self.kinds.get(tag) {
            Some(edges) => Expression::per(&slicing.key, slicing.between, part(tag, edges)),
            None => Expression::tag(tag),
        })
    }
}

/// How many words are accepted by what the others teach. This predicts how likely it is that the next
/// recording says nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// How many are accepted.
    pub accepted: usize,
    /// How many words there are.
    pub words: usize,
}

/// The coverage at which nothing more is asked for.
const ENOUGH: f64 = 0.9;

impl Coverage {
    /// By edges: a word is accepted if each of its neighbours was seen in another word too.
    pub fn by_edges(words: &[Word]) -> Self {
        let slicing = Slicing::find(words);
        let edges: Vec<BTreeSet<SlicedEdge>> =
            words.iter().map(|word| Slicing::edges(slicing.as_ref(), word)).collect();
        let mut counts: BTreeMap<&SlicedEdge, usize> = BTreeMap::new();
        edges.iter().flatten().for_each(|edge| *counts.entry(edge).or_default() += 1);
        let known = |word: &&BTreeSet<SlicedEdge>| word.iter().all(|edge| counts[edge] > 1);
        let accepted = edges.iter().filter(known).count();
        Self { accepted, words: words.len() }
    }

    /// The share that is accepted, from 0 to 1; 0 if there are no words.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share(&self) -> f64 {
        if self.words == 0 { 0.0 } else { self.accepted as f64 / self.words as f64 }
    }

    /// About how many more words it takes until nine of ten say nothing new; none if they do.
    ///
    /// What is unseen shrinks about as fast as the number of words grows.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    pub fn more(&self) -> Option<u64> {
        let words = self.words as f64;
        let needed = (words * (1.0 - self.share()) / (1.0 - ENOUGH) - words).max(1.0);
        let rounded = if needed > 10.0 { (needed / 5.0).round() * 5.0 } else { needed.round() };
        (self.share() < ENOUGH).then_some(rounded as u64)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order coverage {:.0} %", self.share() * 100.0)?;
        match self.more() {
            Some(1) => write!(f, ", about 1 more recording"),
            Some(more) => write!(f, ", about {more} more recordings"),
            None => Ok(()),
        }
    }
}
