//! Which rules apply where in a request.

use std::borrow::Cow;

use serde_json::Value;
use serde_json_path::PathElement;

use super::at::PlacePattern;
use super::{At, Key, Pattern, Rules};
use crate::error::Result;
use crate::text::json::{Container, Text};

/// What is done with what stands in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Treatment<'a> {
    /// It does not count.
    Ignore,
    /// What the expression matches does not count.
    Pattern(&'a Pattern),
    /// The order of its items does not count.
    Unordered,
    /// It is an identifier.
    Id,
    /// Nothing in it is an identifier.
    NotId,
}

impl Treatment<'_> {
    /// What a key says of the places in its list.
    fn of(key: Key) -> Option<Self> {
        match key {
            Key::Ignore => Some(Self::Ignore),
            Key::Unordered => Some(Self::Unordered),
            Key::Ids => Some(Self::Id),
            Key::NotIds => Some(Self::NotId),
            Key::Compare
            | Key::Repeats
            | Key::Early
            | Key::Pace
            | Key::Headers
            | Key::Patterns
            | Key::Optional => None,
        }
    }

    /// What counts of a text in the place.
    pub(crate) fn left<'a>(self, text: Cow<'a, str>) -> Cow<'a, str> {
        match self {
            Self::Pattern(pattern) => Cow::Owned(pattern.left(&text).into_owned()),
            Self::Ignore | Self::Unordered | Self::Id | Self::NotId => text,
        }
    }
}

/// What is said, by key.
impl Rules {
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
}

/// A step from a JSON value to one within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of an object; its name without quotes and escapes.
    Member(String),
    /// To the item of an array, counted from 0.
    Item(usize),
}

impl Rules {
    /// The places of a JSON body that rules name, and what they say: the way from the body to each.
    /// What is said first of a place goes first. Nothing if the text is not JSON.
    ///
    /// # Example: where a JSONPath leads
    ///
    /// ```
    /// use retape::config::{Rules, Step, Treatment};
    ///
    /// let rules = Rules::default().ignore("$.tools[*].version")?;
    /// let places = rules.places(r#"{"tools": [{"name": "a"}, {"name": "b", "version": 2}]}"#);
    ///
    /// let way = [Step::Member("tools".into()), Step::Item(1), Step::Member("version".into())];
    /// assert_eq!(places, [(Treatment::Ignore, way.to_vec())]);
    /// # Ok::<(), retape::Error>(())
    /// ```
    pub fn places(&self, body: &str) -> Vec<(Treatment<'_>, Vec<Step>)> {
        let mut rules = self.treatments().filter(|(at, _)| at.is_in_json()).peekable();
        if rules.peek().is_none() {
            return Vec::new();
        }
        let Some(tree) = tree(body) else { return Vec::new() };
        let mut places = Vec::new();
        for (at, treatment) in rules {
            places.extend(at.ways(&tree).into_iter().map(|way| (treatment, way)));
        }
        places
    }

    /// What is said of a parameter of the query, by its decoded name.
    pub fn of_query(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, PlacePattern::Query(said) if said == name))
    }

    /// What is said of a header field.
    pub fn of_header(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(
            |place| matches!(place, PlacePattern::Header(said) if said.eq_ignore_ascii_case(name)),
        )
    }

    /// What is said of a field of an urlencoded form, by its decoded name.
    pub fn of_form(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, PlacePattern::Form(said) if said == name))
    }

    /// What is said of a part of a multipart body.
    pub fn of_part(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, PlacePattern::Part(said) if said == name))
    }

    /// What is said of the name of a file in a part of a multipart body.
    pub fn of_filename(&self, name: &str) -> Option<Treatment<'_>> {
        let is_it = |said: &str| said.strip_suffix(".filename") == Some(name);
        self.of(|place| matches!(place, PlacePattern::Part(said) if is_it(said)))
    }

    /// What is said of the path.
    pub fn of_path(&self) -> Option<Treatment<'_>> {
        self.of(|place| *place == PlacePattern::Path)
    }

    fn of(&self, is: impl Fn(&PlacePattern) -> bool) -> Option<Treatment<'_>> {
        self.treatments().find(|(at, _)| is(at.place())).map(|(_, treatment)| treatment)
    }

    /// Whether any place is said to hold what the client makes up.
    pub(crate) fn has_ids(&self) -> bool {
        self.treatments().any(|(_, treatment)| treatment == Treatment::Id)
    }

    /// What is said of places; what goes first counts.
    fn treatments(&self) -> impl Iterator<Item = (&At, Treatment<'_>)> {
        let patterns = self.patterns.iter();
        let patterns = patterns.map(|pattern| (pattern.at(), Treatment::Pattern(pattern)));
        let before = self.places.partition_point(|(key, _)| *key < Key::Patterns);
        let (before, behind) = self.places.split_at(before);
        plain(before).chain(patterns).chain(plain(behind))
    }
}

fn plain<'r>(places: &'r [(Key, At)]) -> impl Iterator<Item = (&'r At, Treatment<'r>)> {
    places.iter().filter_map(|(key, at)| Some((at, Treatment::of(*key)?)))
}

impl At {
    fn is_in_json(&self) -> bool {
        matches!(self.place(), PlacePattern::Json(_) | PlacePattern::Pointer(_))
    }

    /// The ways to all that it names in a body.
    fn ways(&self, body: &serde_json::Value) -> Vec<Vec<Step>> {
        match self.place() {
            PlacePattern::Json(path) => {
                let found = path.query_located(body);
                found.locations().map(|way| way.iter().map(Step::of).collect()).collect()
            }
            PlacePattern::Pointer(parts) => follow(body, parts).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl Step {
    fn of(element: &PathElement<'_>) -> Self {
        match element {
            PathElement::Name(name) => Self::Member((*name).to_owned()),
            PathElement::Index(index) => Self::Item(*index),
        }
    }
}

/// Levels below this are left out: values are walked and dropped by recursion.
const DEEPEST: usize = 128;

/// The tree of a text that is JSON.
///
/// # Rationale
///
/// `serde_json` refuses as a value some of what is JSON and may be in a recording: lone surrogates,
/// numbers beyond `f64`, more than 128 levels. None of that must keep a rule from its place, so the
/// tree is made from the tokens, and what no value can hold is a gap in it.
fn tree(body: &str) -> Option<Value> {
    Text::read(body).map(|text| value(text, 0))
}

/// The way that a JSON Pointer of these parts takes, if it leads somewhere.
fn follow(body: &Value, parts: &[String]) -> Option<Vec<Step>> {
    let mut here = body;
    let mut way = Vec::with_capacity(parts.len());
    for part in parts {
        let (next, step) = match here {
            Value::Object(members) => (members.get(part)?, Step::Member(part.clone())),
            Value::Array(items) => {
                let index = index(part)?;
                (items.get(index)?, Step::Item(index))
            }
            _ => return None,
        };
        here = next;
        way.push(step);
    }
    Some(way)
}

fn value(text: Text<'_>, depth: usize) -> Value {
    match text.container() {
        Some(_) if depth == DEEPEST => Value::Null,
        Some(Container::Object) => {
            let members = text.members();
            members.map(|(name, of)| (name.into_owned(), value(of, depth + 1))).collect()
        }
        Some(Container::Array) => text.elements().map(|of| value(of, depth + 1)).collect(),
        None => match text.string() {
            Some(string) => Value::String(string.into_owned()),
            None => serde_json::from_str(text.as_str()).unwrap_or_default(),
        },
    }
}

/// An index as a JSON Pointer spells it: without leading zeros.
fn index(part: &str) -> Option<usize> {
    let plain = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|_| plain)
}
