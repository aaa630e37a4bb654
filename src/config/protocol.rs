//! How the messages of a protocol are told apart.

use std::borrow::Cow;

use toml::de::{DeTable, DeValue};

use super::At;
use super::file::{FileText, SpannedValue, entries};
use crate::error::{Error, Kind, Result};
use crate::text::json::Text;

/// How the messages of a protocol are told apart: a `[[protocol]]` in `retape.toml`. Those that retape
/// knows are written the same way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protocol {
    /// What the messages of the protocol have in common: places and what may stand there.
    when: Vec<(At, Vec<Word>)>,
    /// What may tell the type of a message, the most telling first.
    tag: Vec<Telling>,
    /// Places that tell one thing's messages from another's.
    keys: Vec<At>,
    /// Types that only say that the server is still there.
    keep_alive: Vec<String>,
}

/// What tells a type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Telling {
    at: At,
    /// The type if anything stands there; else what stands there is the type.
    is: Option<String>,
}

/// What may stand in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Equal(String),
    Begins(String),
}

/// The members of a JSON object, or the elements of an array, each by its number. Looked up many times, they are found
/// only once.
#[derive(Debug)]
pub(crate) struct IndexedObject<'a>(Vec<(Cow<'a, str>, Text<'a>)>);

/// A longer array is a list: its elements are not told apart.
pub(crate) const LONGEST_TUPLE: usize = 16;

impl<'a> IndexedObject<'a> {
    pub(crate) fn of(text: Text<'a>) -> Self {
        // Most have about as many.
        let mut members = Vec::with_capacity(16);
        members.extend(text.members());
        let elements = text.elements().take(LONGEST_TUPLE).enumerate();
        members.extend(elements.map(|(number, it)| (number.to_string().into(), it)));
        Self(members)
    }

    /// Them, in order.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Text<'a>)] {
        &self.0
    }

    /// What stands in a place; the last value of a name that is repeated, as most parsers have it.
    pub(crate) fn at(&self, place: &At) -> Option<Text<'a>> {
        let (first, rest) = place.steps().split_first()?;
        let (_, value) = self.0.iter().rfind(|(name, _)| name == first)?;
        value.at(rest)
    }

    /// The word that stands in a place.
    pub(crate) fn word(&self, place: &At) -> Option<String> {
        let word = self.at(place)?.string().filter(|word| !word.is_empty())?;
        Some(word.into_owned())
    }
}

impl Protocol {
    /// The type of a message, if the message is one of this protocol.
    pub(crate) fn tag(&self, message: &IndexedObject<'_>) -> Option<String> {
        let fits = |(at, words): &(At, Vec<Word>)| {
            let said = message.at(at).and_then(Text::string);
            said.is_some_and(|said| words.iter().any(|word| word.fits(&said)))
        };
        if !self.when.iter().all(fits) {
            return None;
        }
        self.tag.iter().find_map(|telling| telling.tag(message))
    }

    /// Where anything stands that is the type of a message, whatever it says: that may tell more.
    pub(crate) fn open(&self, message: &IndexedObject<'_>) -> Option<&At> {
        let telling = self.tag.iter().find(|telling| telling.tag(message).is_some())?;
        telling.is.as_ref().map(|_| &telling.at)
    }

    /// The field whose word is the type of a message, if one is.
    pub(crate) fn field(&self, message: &IndexedObject<'_>) -> Option<&At> {
        let telling = self.tag.iter().find(|telling| telling.tag(message).is_some())?;
        telling.is.is_none().then_some(&telling.at)
    }

    /// The places that tell one thing's messages from another's.
    pub(crate) fn keys(&self) -> &[At] {
        &self.keys
    }

    /// The types of messages that only say that the server is still there.
    pub(crate) fn keep_alive(&self) -> &[String] {
        &self.keep_alive
    }

    /// Whether messages of that type only say that the server is still there.
    pub(crate) fn keeps_alive(&self, tag: &str) -> bool {
        self.keep_alive.iter().any(|known| known == tag)
    }
}

impl Telling {
    fn tag(&self, message: &IndexedObject<'_>) -> Option<String> {
        match &self.is {
            None => message.word(&self.at),
            Some(is) => says_something(message.at(&self.at)?).then(|| is.clone()),
        }
    }
}

/// Nothing is said by `null` and by an empty string.
fn says_something(value: Text<'_>) -> bool {
    value.container().is_some()
        || value.scalar().is_some()
        || value.string().is_some_and(|said| !said.is_empty())
}

impl Word {
    fn of(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(begin) => Self::Begins(begin.to_owned()),
            None => Self::Equal(text.to_owned()),
        }
    }

    fn fits(&self, said: &str) -> bool {
        match self {
            Self::Equal(word) => said == word,
            Self::Begins(begin) => said.starts_with(begin.as_str()),
        }
    }
}

const KEYS: [&str; 4] = ["when", "tag", "keys", "keep-alive"];

/// Reading it.
impl FileText<'_> {
    pub(super) fn protocol(&self, value: &SpannedValue<'_>) -> Result<Protocol> {
        let mut protocol = Protocol::default();
        for (name, value) in entries(self.table(value)?) {
            match &**name.get_ref() {
                "when" => protocol.when = self.when(self.table(value)?)?,
                "tag" => protocol.tag = self.some_of(value, |value| self.telling(value))?,
                "keys" => protocol.keys = self.some_of(value, |value| self.field(value))?,
                "keep-alive" => {
                    protocol.keep_alive =
                        self.some_of(value, |value| Ok(self.text(value)?.to_owned()))?;
                }
                _ => return Err(self.unknown(name, &KEYS)),
            }
        }
        if protocol.tag.is_empty() {
            let what = "a `[[protocol]]` does not say what its `tag` is";
            return Err(self
                .at(Error::new(Kind::Config(what)), value.span())
                .with_hint("`tag = \"/kind\"` names the field that tells the type of a message"));
        }
        Ok(protocol)
    }

    fn when(&self, table: &DeTable<'_>) -> Result<Vec<(At, Vec<Word>)>> {
        let tests = entries(table).into_iter().map(|(name, value)| {
            let at = At::field(name.get_ref()).map_err(|error| self.at(error, name.span()))?;
            let words = self.some_of(value, |value| Ok(Word::of(self.text(value)?)))?;
            Ok((at, words))
        });
        tests.collect()
    }

    fn telling(&self, value: &SpannedValue<'_>) -> Result<Telling> {
        let DeValue::Table(table) = value.get_ref() else {
            return Ok(Telling { at: self.field(value)?, is: None });
        };
        let (mut at, mut is) = (None, None);
        for (name, value) in entries(table) {
            match &**name.get_ref() {
                "at" => at = Some(self.field(value)?),
                "is" => is = Some(self.text(value)?.to_owned()),
                _ => return Err(self.unknown(name, &["at", "is"])),
            }
        }
        let missing = || {
            self.at(Error::new(Kind::Config("a `tag` does not say where it is")), value.span())
                .with_hint("`{ at = \"/result\", is = \"result\" }`")
        };
        Ok(Telling { at: at.ok_or_else(missing)?, is })
    }

    fn field(&self, value: &SpannedValue<'_>) -> Result<At> {
        At::field(self.text(value)?).map_err(|error| self.at(error, value.span()))
    }

    /// One, or a list of them.
    fn some_of<T>(
        &self,
        value: &SpannedValue<'_>,
        read: impl Fn(&SpannedValue<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match value.get_ref() {
            DeValue::Array(list) => list.iter().map(read).collect(),
            _ => Ok(vec![read(value)?]),
        }
    }
}
