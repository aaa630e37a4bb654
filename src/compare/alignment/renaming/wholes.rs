//! Names with their prefixes and without them.
//!
//! # Rationale
//!
//! `cus_9f86d081` and `9f86d081` are one name, and which of them was told apart depends on what stood around it. If each
//! were exchanged on its own, the one could be called by what the other one is not, and two customers would be one.

use std::collections::HashMap;

/// Of names that are called something, the parts that are names by themselves: each with the whole on the other side.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    /// Parts of new names, with the old name.
    news: HashMap<String, String>,
    /// Parts of old names, with the new name.
    olds: HashMap<String, String>,
    /// What is called so.
    called: HashMap<String, String>,
}

impl Wholes {
    /// Whether a new name may be called so: as parts of both go that are called something, or wholes that they are
    /// parts of.
    pub(super) fn may_be(&self, (new, old): (&str, &str), parts: [&[&str]; 2]) -> bool {
        let goes = |known: Option<&String>, with: &str| {
            known.is_none_or(|known| known.contains(with) || with.contains(known.as_str()))
        };
        let [_, old_parts] = parts;
        goes(self.news.get(new), old)
            && goes(self.olds.get(old), new)
            && old_parts.iter().all(|part| goes(self.called.get(*part), new))
    }

    /// A new name is called so from now on.
    pub(super) fn add(&mut self, (new, old): (&str, &str), [new_parts, old_parts]: [&[&str]; 2]) {
        self.called.insert(old.to_owned(), new.to_owned());
        let own = |parts: &[&str], whole: &str| {
            let parts = parts.iter().map(|part| ((*part).to_owned(), whole.to_owned()));
            parts.collect::<Vec<_>>()
        };
        self.news.extend(own(new_parts, old));
        self.olds.extend(own(old_parts, new));
    }
}
