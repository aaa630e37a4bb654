//! The interactions of a cassette, wherever they are.

use std::borrow::Cow;

use super::{Interaction, Progress, target};
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

    /// What was going on when the one of that number was asked.
    fn after(&self, number: usize) -> Vec<Progress> {
        self.at(number).after.clone()
    }

    /// Whether the one of that number went to an origin that it names.
    fn names_origin(&self, number: usize) -> bool {
        !target::split(&self.at(number).request.path).0.is_empty()
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
