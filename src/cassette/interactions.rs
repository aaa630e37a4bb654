//! The interactions of a cassette, wherever they are.

use std::borrow::Cow;

use super::{Cassette, Interaction};
use crate::error::Result;

/// Interactions by their numbers. A long recording does not hold them in memory.
pub trait Interactions {
    /// How many there are.
    fn count(&self) -> usize;

    /// The one of that number.
    fn at(&self, number: usize) -> Cow<'_, Interaction>;

    /// Changes the one of that number.
    fn change(&mut self, number: usize, change: impl FnOnce(&mut Interaction));

    /// Whether all that was looked at could be read.
    ///
    /// # Errors
    ///
    /// If something could not, and another interaction stood in its place.
    fn complete(&self) -> Result<()> {
        Ok(())
    }

    /// All of them in order.
    fn each(&self) -> impl Iterator<Item = Cow<'_, Interaction>> {
        (0..self.count()).map(|number| self.at(number))
    }
}

impl Interactions for Vec<Interaction> {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&self, number: usize) -> Cow<'_, Interaction> {
        Cow::Borrowed(&self[number])
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut Interaction)) {
        change(&mut self[number]);
    }
}

#[cfg(feature = "record")]
impl<I> Cassette<I> {
    /// The cassette with others in the place of its interactions, and those.
    pub(crate) fn with<J>(self, interactions: J) -> (Cassette<J>, I) {
        let Self { recorded, redactions, interrupted, rules, ids, interactions: old, larges } =
            self;
        (Cassette { recorded, redactions, interrupted, rules, ids, interactions, larges }, old)
    }
}

impl Default for Cassette {
    fn default() -> Self {
        Self {
            recorded: Default::default(),
            redactions: Vec::new(),
            interrupted: false,
            rules: Default::default(),
            ids: None,
            interactions: Vec::new(),
            larges: Default::default(),
        }
    }
}
