//! Fields by number.

use std::collections::HashMap;

use super::field::{Field, Path};

/// What is looked up for each value of each message.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Fields that have come up, each with a number: to count by that takes no memory for each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// Types and paths.
    words: Map<Box<str>, u32>,
    spelled: Vec<Box<str>>,
    fields: Map<(Option<u32>, u32), u32>,
    all: Vec<Known>,
}

/// A field that has a number.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) field: Field,
    /// The number of its path.
    pub(super) path: u32,
}

impl Names {
    /// The number of a type or of a path.
    pub(crate) fn word(&mut self, word: &str) -> u32 {
        if let Some(number) = self.words.get(word) {
            return *number;
        }
        let number = number(self.spelled.len());
        self.words.insert(word.into(), number);
        self.spelled.push(word.into());
        number
    }

    /// The word that has a number.
    pub(super) fn spelled(&self, word: u32) -> &str {
        &self.spelled[word as usize]
    }

    /// The number of the field of that type and path.
    pub(crate) fn field(&mut self, tag: Option<u32>, path: u32) -> u32 {
        if let Some(number) = self.fields.get(&(tag, path)) {
            return *number;
        }
        let number = number(self.all.len());
        let spelled = tag.map(|tag| self.spelled(tag).to_owned());
        let field = Field { tag: spelled, path: Path::written(self.spelled(path)) };
        self.fields.insert((tag, path), number);
        self.all.push(Known { field, path });
        number
    }

    /// The number of a field.
    pub(super) fn number(&mut self, field: &Field) -> u32 {
        let tag = field.tag.as_deref().map(|tag| self.word(tag));
        let path = self.word(field.path.as_str());
        self.field(tag, path)
    }

    /// The field that has a number.
    pub(crate) fn get(&self, field: u32) -> &Field {
        &self.known(field).field
    }

    pub(super) fn known(&self, field: u32) -> &Known {
        &self.all[field as usize]
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).expect("nobody has so many fields")
}
