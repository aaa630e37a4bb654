//! What was seen at one place.

use super::objects::Objects;
use super::sample::Sample;
use super::strings::Strings;
use super::witness::{Tally, Witness};
use crate::text::json::Text;

/// How many tags, one below the other, may be told apart: the type of an event, of the item in it, of
/// the content in that.
const ROOM: u8 = 3;

/// The shape of the JSON values seen at one place: learned one by one, merged with others, and
/// [finished](Shape::finish) into a [`Schema`](super::Schema).
///
/// What is learned depends on the samples alone, not on their order nor on what was merged with what
/// (Baazizi et al., EDBT 2017), as long as each sample keeps its number. It takes memory for what
/// differs, not for how much there was.
///
/// # Example: a tag is found
///
/// ```
/// use retape::contract::shape::Shape;
///
/// let mut shape = Shape::default();
/// for (witness, json) in [
///     r#"{"type": "text", "text": "Hello, world"}"#,
///     r#"{"type": "image", "url": "https://example.org/1.png", "width": 640}"#,
///     r#"{"type": "text", "text": "Good night", "note": null}"#,
/// ].iter().cycle().take(30).enumerate() {
///     shape.learn(json, witness as u32)?;
/// }
///
/// assert_eq!(shape.finish().to_string(), "\
/// by type
///   image
///     url: uri
///     width: integer
///   text
///     text: string
///     note?: null
/// ");
/// # Ok::<(), retape::contract::shape::NotJson>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// Values too deep to be looked at.
    pub(super) deep: Tally,
    pub(super) null: Tally,
    pub(super) boolean: Tally,
    /// Numbers without fraction and exponent.
    pub(super) integer: Tally,
    /// Other numbers.
    pub(super) number: Tally,
    pub(super) strings: Option<Box<Strings>>,
    pub(super) arrays: Option<Box<Arrays>>,
    pub(super) objects: Option<Box<Objects>>,
}

/// The arrays seen at one place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Arrays {
    pub(super) tally: Tally,
    pub(super) empty: Tally,
    pub(super) elements: Shape,
}

/// A text that is no JSON: nothing can be learned from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

impl std::fmt::Display for NotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("text that is not JSON")
    }
}

impl std::error::Error for NotJson {}

impl Shape {
    /// Learns from a JSON text that has this number.
    ///
    /// # Errors
    ///
    /// If it is no JSON. Nothing is learned then.
    pub fn learn(&mut self, json: &str, witness: Witness) -> Result<(), NotJson> {
        self.learn_text(Text::read(json).ok_or(NotJson)?, witness);
        Ok(())
    }

    pub(crate) fn learn_text(&mut self, json: Text<'_>, witness: Witness) {
        self.add(&Sample::of(json), witness, ROOM);
    }

    /// Learns what another shape has learned.
    pub fn merge(&mut self, other: &Self) {
        self.join(other, ROOM);
    }

    /// How many values were seen.
    pub fn count(&self) -> u64 {
        let plain = [&self.deep, &self.null, &self.boolean, &self.integer, &self.number];
        plain.iter().map(|tally| tally.count).sum::<u64>()
            + self.strings.as_ref().map_or(0, |strings| strings.tally.count)
            + self.arrays.as_ref().map_or(0, |arrays| arrays.tally.count)
            + self.objects.as_ref().map_or(0, |objects| objects.tally.count)
    }

    /// Adds a value. `room` says how many tags may be told apart here, one below the other.
    pub(super) fn add(&mut self, sample: &Sample<'_>, witness: Witness, room: u8) {
        match sample {
            Sample::Deep => self.deep.add(witness),
            Sample::Null => self.null.add(witness),
            Sample::Boolean => self.boolean.add(witness),
            Sample::Number(spelled) if spelled.contains(['.', 'e', 'E']) => {
                self.number.add(witness);
            }
            Sample::Number(_) => self.integer.add(witness),
            Sample::String(said) => self.strings.get_or_insert_default().add(said, witness),
            Sample::Array(elements) => {
                self.arrays.get_or_insert_default().add(elements, witness, room);
            }
            Sample::Object(members) => {
                self.objects.get_or_insert_default().add(members, witness, room);
            }
        }
    }

    /// The same as [`merge`](Self::merge) where both have been learned with this room.
    pub(super) fn join(&mut self, other: &Self, room: u8) {
        self.deep.merge(&other.deep);
        self.null.merge(&other.null);
        self.boolean.merge(&other.boolean);
        self.integer.merge(&other.integer);
        self.number.merge(&other.number);
        if let Some(strings) = &other.strings {
            self.strings.get_or_insert_default().merge(strings);
        }
        if let Some(arrays) = &other.arrays {
            let own = self.arrays.get_or_insert_default();
            own.tally.merge(&arrays.tally);
            own.empty.merge(&arrays.empty);
            own.elements.join(&arrays.elements, room);
        }
        if let Some(objects) = &other.objects {
            self.objects.get_or_insert_default().join(objects, room);
        }
    }

    /// What would have been learned with less room.
    pub(super) fn limited(&self, room: u8) -> Self {
        Self {
            strings: self.strings.clone(),
            arrays: self.arrays.as_ref().map(|arrays| {
                let elements = arrays.elements.limited(room);
                Box::new(Arrays { tally: arrays.tally, empty: arrays.empty, elements })
            }),
            objects: self.objects.as_ref().map(|objects| Box::new(objects.limited(room))),
            ..*self
        }
    }
}

impl Arrays {
    fn add(&mut self, elements: &[Sample<'_>], witness: Witness, room: u8) {
        self.tally.add(witness);
        if elements.is_empty() {
            self.empty.add(witness);
        }
        for element in elements {
            self.elements.add(element, witness, room);
        }
    }
}
