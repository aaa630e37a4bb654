//! Objects and arrays that are open, and what the strings in them are called.

use std::borrow::Cow;

use super::name::{self, Spot};
use crate::text::json::Container;

/// The containers that are open, the outermost first.
#[derive(Clone, Default)]
pub(super) struct Levels<'a>(Vec<Level<'a>>);

#[derive(Clone)]
pub(super) struct Level<'a> {
    pub(super) container: Container,
    /// The name of the field whose value comes next or is open.
    pub(super) key: Option<Cow<'a, str>>,
    /// The name that makes all strings below it secrets.
    pub(super) holder: Option<Cow<'a, str>>,
    /// What its own keys are.
    pub(super) names: KeyNames,
}

/// What the keys of a container are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyNames {
    /// Names of values.
    Values,
    /// Names of values in an element of an array.
    Columns,
    /// Names of the parts of a JSON Web Key.
    OfKey,
    /// Names of fields that a JSON schema describes, or of flows of OAuth, of which it says where to ask: there
    /// `"password"` is no password.
    Schemas,
}

impl<'a> Levels<'a> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn last(&self) -> Option<&Level<'a>> {
        self.0.last()
    }

    /// Opens a container. `holder` is a name that makes all strings in it secrets, unless one above it
    /// does so already.
    pub(super) fn open(&mut self, container: Container, holder: Option<Cow<'a, str>>) {
        let above = self.0.last();
        let names = match above.and_then(|level| level.key.as_deref()) {
            Some("properties" | "patternProperties" | "$defs" | "definitions" | "flows") => {
                KeyNames::Schemas
            }
            _ if above.is_some_and(|level| level.container == Container::Array) => {
                KeyNames::Columns
            }
            _ => KeyNames::Values,
        };
        let holder = above.and_then(|level| level.holder.clone()).or(holder);
        self.0.push(Level { container, key: None, holder, names });
    }

    /// The object that was opened last is a JSON Web Key.
    pub(super) fn hold_key(&mut self) {
        if let Some(level) = self.0.last_mut() {
            level.names = KeyNames::OfKey;
        }
    }

    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    /// A comma: in an object comes a key.
    pub(super) fn next(&mut self) {
        if let Some(level) = self.0.last_mut() {
            level.key = None;
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether the string that comes is a key.
    pub(super) fn awaits_key(&self) -> bool {
        let is_open = |level: &Level<'_>| level.container == Container::Object;
        self.0.last().is_some_and(|level| is_open(level) && level.key.is_none())
    }

    pub(super) fn set_key(&mut self, key: Cow<'a, str>) {
        if let Some(level) = self.0.last_mut() {
            level.key = Some(key);
        }
    }

    /// The name that makes the strings here secrets.
    pub(super) fn holder(&self) -> &str {
        self.0.last().and_then(|level| level.holder.as_deref()).unwrap_or_default()
    }

    /// The name of the list in which the string that comes stands, or of the object in which it is the value.
    pub(super) fn listed(&self) -> Option<&str> {
        let [.., above, level] = &self.0[..] else { return None };
        let is_value = level.key.as_deref().is_none_or(name::is_qualifier);
        above.key.as_deref().filter(|_| is_value && above.names != KeyNames::Schemas)
    }

    /// What the string that comes is called, if what stands above makes it a secret.
    pub(super) fn held(&self) -> Option<&str> {
        let level = self.0.last()?;
        let above = self.0.len().checked_sub(2).and_then(|above| self.0[above].key.as_deref());
        let spot = match (level.key.as_deref(), level.names) {
            // A list within what holds secrets has a name of its own.
            (None, _) => match above.filter(|above| level.holder.as_deref() != Some(*above)) {
                Some(key) => Spot::Entry(key),
                None => Spot::Element,
            },
            (Some(key), KeyNames::Columns) => Spot::Column(key),
            (Some(key), _) => Spot::Entry(key),
        };
        name::below(level.holder.as_deref()?, spot)
    }
}
