//! What a person says about matching, where the defaults are not right.
//!
//! [`Rules`] say what counts in a request and what does not, what is an identifier, and how often and
//! when an answer may be given. They stand in `retape.toml` ([`Config`]), in the member `match` of a cassette,
//! or in a test ([`SessionBuilder::rules`](crate::SessionBuilder::rules)), everywhere with the same
//! words. Those of all three add up; where they contradict each other, about repeats, about what is
//! early, or about what is an identifier, the cassette has the last word.
//!
//! | key | what it says |
//! |---|---|
//! | `repeats` | `allowed`: when all answers were given the last one stays; `once`: each recorded answer is given once; `strict`: once, and in the recorded order |
//! | `early` | `missed`: what a question about one thing shows of a write waits for that write; `given`: it does not |
//! | `headers` | header fields that count as well |
//! | `ignore` | places that do not count |
//! | `unordered` | arrays in JSON whose order does not count |
//! | `ids` | places whose value is an identifier, whatever it looks like |
//! | `not-ids` | places in which nothing is an identifier, whatever it looks like |
//! | `patterns` | places of whose text only that counts which an expression does not match |
//!
//! A [`Protocol`] says how the messages of a stream are told apart; [`NewFields`], what a field that is
//! new means to clients.
//!
//! A place is an [`At`]: in JSON, the query, the header, a form, a multipart body, or the path.

mod at;
mod file;
mod glob;
mod key;
mod pattern;
mod protocol;
mod treatment;

pub use at::At;
pub use file::Config;
pub(crate) use key::Key;
pub use key::{Early, NewFields, Repeats};
pub use pattern::Pattern;
pub(crate) use protocol::Object;
pub use protocol::Protocol;
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
pub struct Rules {
    repeats: Option<Repeats>,
    early: Option<Early>,
    headers: Vec<String>,
    ignore: Vec<At>,
    unordered: Vec<At>,
    ids: Vec<At>,
    not_ids: Vec<At>,
    patterns: Vec<Pattern>,
}

impl Rules {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        let Self { repeats, early, headers, ignore, unordered, ids, not_ids, patterns } = self;
        repeats.is_none()
            && early.is_none()
            && headers.is_empty()
            && patterns.is_empty()
            && [ignore, unordered, ids, not_ids].iter().all(|places| places.is_empty())
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

    /// The header fields that count as well, as they were spelled.
    pub fn headers(&self) -> &[String] {
        &self.headers
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

    /// Lets a header field count.
    ///
    /// # Errors
    ///
    /// If it is not the name of a header field.
    pub fn header(self, name: &str) -> Result<Self> {
        self.with(Key::Headers, name)
    }

    /// Lets a place not count.
    ///
    /// # Errors
    ///
    /// If it is not an [`At`].
    pub fn ignore(self, at: &str) -> Result<Self> {
        self.with(Key::Ignore, at)
    }

    /// Lets the order of an array not count.
    ///
    /// # Errors
    ///
    /// If it is not an [`At`] in JSON.
    pub fn unordered(self, at: &str) -> Result<Self> {
        self.with(Key::Unordered, at)
    }

    /// Takes what stands in a place for an identifier.
    ///
    /// # Errors
    ///
    /// If it is not an [`At`], or is the whole path.
    pub fn id(self, at: &str) -> Result<Self> {
        self.with(Key::Ids, at)
    }

    /// Takes nothing in a place for an identifier.
    ///
    /// # Errors
    ///
    /// If it is not an [`At`].
    pub fn not_id(self, at: &str) -> Result<Self> {
        self.with(Key::NotIds, at)
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

    /// Both together; where they contradict each other, the other one has the last word.
    pub fn and(mut self, other: &Self) -> Self {
        self.repeats = other.repeats.or(self.repeats);
        self.early = other.early.or(self.early);
        self.ids.retain(|at| !other.not_ids.contains(at));
        self.not_ids.retain(|at| !other.ids.contains(at));
        self.headers.extend_from_slice(&other.headers);
        self.ignore.extend_from_slice(&other.ignore);
        self.unordered.extend_from_slice(&other.unordered);
        self.ids.extend_from_slice(&other.ids);
        self.not_ids.extend_from_slice(&other.not_ids);
        other.patterns.iter().for_each(|pattern| self.join(pattern.clone()));
        self
    }

    /// Adds what stands below a key as text: a word, or an item of its list.
    pub(crate) fn put(&mut self, key: Key, text: &str) -> Result<()> {
        match key {
            Key::Repeats => {
                let said = Repeats::from_word(text);
                let words = ("allowed, once, strict", Repeats::WORDS);
                self.repeats = Some(key.said(text, said, words)?);
            }
            Key::Early => {
                let words = ("missed, given", Early::WORDS);
                self.early = Some(key.said(text, Early::from_word(text), words)?);
            }
            Key::Headers => self.headers.push(header_name(text)?),
            Key::Ignore => self.ignore.push(text.parse()?),
            Key::Unordered => self.unordered.push(At::in_json(text)?),
            Key::Ids => self.ids.push(At::of_id(text)?),
            Key::NotIds => self.not_ids.push(text.parse()?),
            Key::Patterns => {
                let (expected, found) = ("a place and an expression", "a string");
                return Err(Error::new(Kind::WrongType { expected, found }));
            }
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
        let repeats = self.repeats.map(|repeats| (Key::Repeats, repeats.as_str()));
        let early = self.early.map(|early| (Key::Early, early.as_str()));
        repeats.into_iter().chain(early)
    }

    /// The keys whose values are lists of text, with the lists; those that are empty are left out.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (Key, Vec<&str>)> {
        let headers = self.headers.iter().map(String::as_str).collect();
        let lists: [(Key, Vec<&str>); 5] = [
            (Key::Headers, headers),
            (Key::Ignore, self.ignore.iter().map(At::as_str).collect()),
            (Key::Unordered, self.unordered.iter().map(At::as_str).collect()),
            (Key::Ids, self.ids.iter().map(At::as_str).collect()),
            (Key::NotIds, self.not_ids.iter().map(At::as_str).collect()),
        ];
        lists.into_iter().filter(|(_, list)| !list.is_empty())
    }

    /// The patterns.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.patterns
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
