//! What a person says about matching, where the defaults are not right.
//!
//! [`Rules`] say what counts in a request and what does not, what is an identifier, and how often and
//! when an answer may be given. They stand in `retape.toml` ([`Config`]), in the member `match` of a cassette,
//! or in a test ([`SessionBuilder::rules`](crate::SessionBuilder::rules)), everywhere with the same
//! words. Those of all three add up; where they contradict each other, about repeats, about what is
//! early, about the pace, or about what is an identifier, the cassette has the last word.
//!
//! An [`Optional`] names requests that a client may leave out. A [`Fault`] says what is to go wrong in replay.
//!
//! A [`Protocol`] says how the messages of a stream are told apart; [`NewFields`], what a field that is
//! new means to clients; a [`Redaction`], what else is a secret.
//!
//! A place is an [`At`]: in JSON, the query, the header, a form, a multipart body, or the path.

mod asked;
mod at;
mod fault;
mod file;
mod form;
mod glob;
mod hosts;
mod key;
mod pattern;
mod protocol;
mod redaction;
mod treatment;

pub use asked::Optional;
pub(crate) use asked::RequestLine;
pub use at::At;
pub use fault::Fault;
pub(crate) use fault::{Behind, Harm};
pub use file::Config;
#[cfg(feature = "cli")]
pub(crate) use glob::Glob;
pub use hosts::{HostRule, Hosts};
pub(crate) use key::Key;
pub use key::{Compare, Early, NewFields, Repeats, Timing};
pub use pattern::Pattern;
pub use protocol::Protocol;
pub(crate) use protocol::{IndexedObject, LONGEST_TUPLE};
pub use redaction::Redaction;
pub(crate) use redaction::{Finder, OwnRule};
pub use treatment::{Step, Treatment};

use self::at::header_name;
use crate::error::{Error, Kind, Result};

/// What counts in a request, and how often it is answered.
///
/// # Example: rules in a test
///
/// ```
/// use retape::config::{Repeats, Rules};
///
/// # fn main() -> retape::Result<()> {
/// let rules = Rules::default()
///     .ignore("$.client.version")?
///     .header("x-tenant")?
///     .repeats(Repeats::Once);
///
/// assert!(!rules.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "rules do nothing until a session is given them"]
pub struct Rules {
    compare: Option<Compare>,
    repeats: Option<Repeats>,
    early: Option<Early>,
    timing: Option<Timing>,
    headers: Vec<String>,
    /// The places in the lists, those of one key after the other.
    places: Vec<(Key, At)>,
    patterns: Vec<Pattern>,
    optional: Vec<Optional>,
}

impl Rules {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Which parts of a request count: [`Compare::All`] if nothing is said.
    pub fn comparison(&self) -> Compare {
        self.compare.unwrap_or_default()
    }

    /// How often an answer may be given: [`Repeats::Allowed`] if nothing is said.
    pub fn repetition(&self) -> Repeats {
        self.repeats.unwrap_or_default()
    }

    /// What becomes of a question that comes before what its answer shows: [`Early::Missed`] if nothing
    /// is said.
    pub fn earliness(&self) -> Early {
        self.early.unwrap_or_default()
    }

    /// When the parts of an answer come: [`Timing::Instant`] if nothing is said.
    pub fn timing(&self) -> Timing {
        self.timing.unwrap_or_default()
    }

    /// Whether it is said when the parts of an answer come.
    pub(crate) fn is_timed(&self) -> bool {
        self.timing.is_some()
    }

    /// The header fields that count as well, as they were spelled.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// Says which parts of a request count.
    pub fn compare(mut self, compare: Compare) -> Self {
        self.compare = Some(compare);
        self
    }

    /// Says how often an answer may be given.
    pub fn repeats(mut self, repeats: Repeats) -> Self {
        self.repeats = Some(repeats);
        self
    }

    /// Says what becomes of a question that comes before what its answer shows.
    pub fn early(mut self, early: Early) -> Self {
        self.early = Some(early);
        self
    }

    /// Says when the parts of an answer come.
    pub fn timed(mut self, timing: Timing) -> Self {
        self.timing = Some(timing);
        self
    }

    /// Lets a header field count.
    ///
    /// # Errors
    ///
    /// If it is not the name of a header field.
    pub fn header(self, name: &str) -> Result<Self> {
        self.with(Key::Headers, name)
    }

    /// Lets header fields count that were found in requests.
    #[cfg(feature = "record")]
    pub(crate) fn counting(mut self, headers: &[String]) -> Self {
        self.headers.extend_from_slice(headers);
        self
    }

    /// It without header fields of which that was said.
    pub(crate) fn without_headers(mut self, headers: &[String]) -> Self {
        self.headers.retain(|name| !headers.contains(name));
        self
    }

    /// Lets clients leave requests out.
    ///
    /// # Errors
    ///
    /// If it is not an [`Optional`].
    pub fn optional(self, requests: &str) -> Result<Self> {
        self.with(Key::Optional, requests)
    }

    /// Whether a client may leave a request out.
    pub(crate) fn is_optional(&self, line: RequestLine<'_>) -> bool {
        self.optional.iter().any(|it| it.fits(line))
    }

    /// Leaves what a regular expression matches out of the comparison of a place.
    ///
    /// # Errors
    ///
    /// If it is not an [`At`] or not a regular expression.
    pub fn pattern(mut self, at: &str, regex: &str) -> Result<Self> {
        self.put_pattern(at.parse()?, regex)?;
        Ok(self)
    }

    /// Those that say of which lists the order means nothing.
    pub(crate) fn of_order(mut self) -> Self {
        self.places.retain(|(key, _)| *key == Key::Unordered);
        Self { places: self.places, ..Self::default() }
    }

    /// Both together; where they contradict each other, the other one has the last word.
    pub fn and(mut self, other: &Self) -> Self {
        self.compare = other.compare.or(self.compare);
        self.repeats = other.repeats.or(self.repeats);
        self.early = other.early.or(self.early);
        self.timing = other.timing.or(self.timing);
        self.headers.extend_from_slice(&other.headers);
        let anew = |at: &At| other.places.iter().any(|(key, same)| key.is_of_ids() && same == at);
        self.places.retain(|(key, at)| !(key.is_of_ids() && anew(at)));
        other.places.iter().for_each(|(key, at)| self.put_place(*key, at.clone()));
        other.patterns.iter().for_each(|pattern| self.join(pattern.clone()));
        self.optional.extend_from_slice(&other.optional);
        self
    }

    /// Adds what stands below a key as text: a word, or an item of its list.
    pub(crate) fn put(&mut self, key: Key, text: &str) -> Result<()> {
        match key {
            Key::Compare => self.compare = Some(Compare::said(key.as_str(), text)?),
            Key::Repeats => self.repeats = Some(Repeats::said(key.as_str(), text)?),
            Key::Early => self.early = Some(Early::said(key.as_str(), text)?),
            Key::Pace => self.timing = Some(Timing::said(key.as_str(), text)?),
            Key::Headers => self.headers.push(header_name(text)?),
            Key::Optional => self.optional.push(text.parse()?),
            Key::Patterns => {
                let (expected, found) = ("a place and an expression", "a string");
                return Err(Error::new(Kind::WrongType { expected, found }));
            }
            Key::Unordered => self.put_place(key, At::in_json(text)?),
            Key::Ids => self.put_place(key, At::of_id(text)?),
            _ => self.put_place(key, text.parse()?),
        }
        Ok(())
    }

    /// Adds a pattern.
    pub(crate) fn put_pattern(&mut self, at: At, regex: &str) -> Result<()> {
        self.join(Pattern::new(at, regex)?);
        Ok(())
    }

    /// The keys whose values are words, with what is said.
    pub(crate) fn words(&self) -> impl Iterator<Item = (Key, &'static str)> {
        let compare = self.compare.map(|compare| (Key::Compare, compare.as_str()));
        let repeats = self.repeats.map(|repeats| (Key::Repeats, repeats.as_str()));
        let early = self.early.map(|early| (Key::Early, early.as_str()));
        let pace = self.timing.map(|timing| (Key::Pace, timing.as_str()));
        compare.into_iter().chain(repeats).chain(early).chain(pace)
    }

    /// The keys whose values are lists of text, with the lists; those that are empty are left out.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (Key, Vec<&str>)> {
        let headers: Vec<&str> = self.headers.iter().map(String::as_str).collect();
        let headers = (!headers.is_empty()).then_some((Key::Headers, headers));
        let places = self.places.chunk_by(|(one, _), (other, _)| one == other);
        let places = places.map(|of| (of[0].0, of.iter().map(|(_, at)| at.as_str()).collect()));
        let optional: Vec<&str> = self.optional.iter().map(Optional::as_str).collect();
        let optional = (!optional.is_empty()).then_some((Key::Optional, optional));
        headers.into_iter().chain(places).chain(optional)
    }

    /// The patterns.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    fn put_place(&mut self, key: Key, at: At) {
        let behind = self.places.partition_point(|(other, _)| *other <= key);
        self.places.insert(behind, (key, at));
    }

    fn join(&mut self, pattern: Pattern) {
        match self.patterns.iter_mut().find(|known| known.at() == pattern.at()) {
            Some(known) => known.join(pattern),
            None => self.patterns.push(pattern),
        }
    }

    fn with(mut self, key: Key, text: &str) -> Result<Self> {
        self.put(key, text)?;
        Ok(self)
    }
}
