//! How short a word can be.

use super::{Atom, Automaton};

impl Atom {
    /// How many events it stands for at least.
    pub fn least(&self) -> u64 {
        match self {
            Self::Event(_) => 1,
            // A slice has an event, or nobody would know of it.
            Self::Slice { each, .. } => each.least().max(1),
        }
    }
}

impl Automaton {
    /// How many events an accepted word has at least.
    fn least(&self) -> u64 {
        let mut lengths = vec![None; self.states.len()];
        let mut open = std::collections::BTreeSet::from([(0, 0)]);
        while let Some((length, state)) = open.pop_first() {
            if self.states[state].accepting {
                return length;
            }
            for (atom, to) in &self.states[state].edges {
                let longer = length + self.atoms[*atom].least();
                if lengths[*to].is_none_or(|known| longer < known) {
                    lengths[*to] = Some(longer);
                    open.insert((longer, *to));
                }
            }
        }
        0
    }
}
