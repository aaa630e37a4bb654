//! How much of an order was seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::edges::Letter;
use super::slicing::Slicing;
use super::word::Word;

/// How many words are accepted by what the others teach. This predicts how likely it is that the next
/// recording says nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// How many are accepted.
    pub accepted: usize,
    /// How many were tried.
    pub tried: usize,
    /// How many words there are.
    pub words: usize,
}

/// How many words are left out one by one, where learning again takes its time.
const MOST_TRIED: usize = 40;

/// The coverage at which nothing more is asked for.
const ENOUGH: f64 = 0.9;

impl Coverage {
    /// By edges: a word is accepted if each of its neighbours was seen in another word too.
    pub fn by_edges(words: &[Word]) -> Self {
        let slicing = Slicing::find(words);
        let edges: Vec<BTreeSet<Edge>> =
            words.iter().map(|word| edges(slicing.as_ref(), word)).collect();
        let mut counts: BTreeMap<&Edge, usize> = BTreeMap::new();
        edges.iter().flatten().for_each(|edge| *counts.entry(edge).or_default() += 1);
        let known = |word: &&BTreeSet<Edge>| word.iter().all(|edge| counts[edge] > 1);
        let accepted = edges.iter().filter(known).count();
        Self { accepted, tried: words.len(), words: words.len() }
    }

    /// By whatever `accepts` learns from the words that it is given first.
    pub fn by(words: &[Word], accepts: impl Fn(&[Word], &Word) -> bool) -> Self {
        let step = words.len().div_ceil(MOST_TRIED).max(1);
        let tried = (0..words.len()).step_by(step);
        let accepted = tried.clone().filter(|left_out| {
            let others = [&words[..*left_out], &words[left_out + 1..]].concat();
            accepts(&others, &words[*left_out])
        });
        Self { accepted: accepted.count(), tried: tried.len(), words: words.len() }
    }

    /// The share that is accepted, from 0 to 1; 0 if there are no words.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share(&self) -> f64 {
        if self.tried == 0 { 0.0 } else { self.accepted as f64 / self.tried as f64 }
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

/// The kind of slice (empty for what is around), and two neighbours; none is before the first and
/// behind the last.
type Edge = (String, Option<String>, Option<String>);

fn edges(slicing: Option<&Slicing>, word: &Word) -> BTreeSet<Edge> {
    let mut found = BTreeSet::new();
    match slicing.and_then(|slicing| slicing.cut(word)) {
        None => pairs("", word.letters(), &mut found),
        Some(cut) => {
            pairs("", cut.letters(), &mut found);
            for (kind, letters) in &cut.slices {
                pairs(kind, letters.iter().copied(), &mut found);
            }
        }
    }
    found
}

fn pairs<'w>(kind: &str, word: impl Iterator<Item = Letter<'w>>, found: &mut BTreeSet<Edge>) {
    let mut from = None;
    for letter in word {
        let to = Some(letter.tag.to_owned());
        found.insert((kind.to_owned(), from, to.clone()));
        from = to;
    }
    found.insert((kind.to_owned(), from, None));
}
