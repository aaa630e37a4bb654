//! Which event was seen behind which.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// Whatever shows that something was seen, as a number that the caller gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Witness(pub u32);

/// One letter of a word that is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter<'a> {
    /// The type of the event.
    pub tag: &'a str,
    /// Whether it stands for several events in a row, such as the deltas of one message.
    pub run: bool,
}

/// Where an edge begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place<'a> {
    /// Before the first event.
    Start,
    /// An event with this tag.
    Tag(&'a str),
    /// Behind the last event.
    End,
}

impl<'a> Place<'a> {
    /// The tag of the event, if it is one.
    pub(super) fn tag(self) -> Option<&'a str> {
        match self {
            Self::Tag(tag) => Some(tag),
            Self::Start | Self::End => None,
        }
    }
}

/// The neighbours seen in words: what was seen behind what, how often, and where.
///
/// This is the whole of what is learned: two contracts promise the same if they have the same edges.
/// It grows with the number of tags, not with the number of words.
///
/// # Rationale
///
/// A language in which neighbours alone decide (2-testable; García & Vidal 1990) is the most that a
/// few positive examples can teach, and for such automata one language includes the other exactly if
/// one set of edges includes the other (Bex et al., VLDB'06). So checks and differences are made
/// here, and expressions are for people.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
    /// How often each was seen.
    edges: BTreeMap<(usize, usize), u64>,
    /// Tags that stood for several events in a row.
    runs: BTreeSet<usize>,
    profiles: Profiles,
}

/// How often each tag came in a word (once, or more than once), each such word once. None if these
/// are more than are kept, which then are not few examples any more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Profiles(Option<BTreeSet<Profile>>);

/// Tags in rising order, each with 1, or 2 for more.
type Profile = Vec<(usize, u8)>;

const MOST_PROFILES: usize = 64;

const START: usize = 0;
const END: usize = 1;
/// The number of the first tag.
const TAGS: usize = 2;

impl<'a> From<&'a str> for Letter<'a> {
    fn from(tag: &'a str) -> Self {
        Self { tag, run: false }
    }
}

impl Edges {
    /// Learns from one more word.
    pub fn add<'a>(&mut self, word: impl IntoIterator<Item = Letter<'a>>) {
        let (mut from, mut profile) = (START, Vec::new());
        for letter in word {
            let to = self.number(letter.tag);
            if letter.run {
                self.runs.insert(to);
            }
            *self.edges.entry((from, to)).or_default() += 1;
            profile.push((to, 1));
            from = to;
        }
        *self.edges.entry((from, END)).or_default() += 1;
        self.profiles.add(counted(profile));
    }

    /// The tags, in rising order.
    pub fn tags(&self) -> BTreeSet<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// All edges, in rising order, and how often each was seen.
    pub fn iter(&self) -> impl Iterator<Item = (Place<'_>, Place<'_>, u64)> {
        let edges = self.edges.iter();
        let named: BTreeMap<_, _> = edges
            .map(|((from, to), times)| ((self.place(*from), self.place(*to)), *times))
            .collect();
        named.into_iter().map(|((from, to), times)| (from, to, times))
    }

    /// Whether a tag was seen to stand for several events in a row.
    pub fn comes_in_runs(&self, tag: &str) -> bool {
        self.numbers.get(tag).is_some_and(|number| self.runs.contains(number))
    }

    /// How often each tag came in a word, by word: 1, or 2 for more than once. None if there are too
    /// many different words to be few examples.
    pub(super) fn profiles(&self) -> Option<impl Iterator<Item = BTreeMap<&str, u8>>> {
        let name = |(tag, count): &(usize, u8)| (self.names[tag - TAGS].as_str(), *count);
        let profiles = self.profiles.0.as_ref()?.iter();
        Some(profiles.map(move |profile| profile.iter().map(name).collect()))
    }

    fn number(&mut self, tag: &str) -> usize {
        if let Some(number) = self.numbers.get(tag) {
            return *number;
        }
        let number = self.names.len() + TAGS;
        self.names.push(tag.to_owned());
        self.numbers.insert(tag.to_owned(), number);
        number
    }

    fn place(&self, number: usize) -> Place<'_> {
        match number {
            START => Place::Start,
            END => Place::End,
            tag => Place::Tag(&self.names[tag - TAGS]),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "⊢",
            Self::Tag(tag) => tag,
            Self::End => "⊣",
        })
    }
}

impl Default for Profiles {
    fn default() -> Self {
        Self(Some(BTreeSet::new()))
    }
}

impl Profiles {
    fn add(&mut self, profile: Profile) {
        if let Some(profiles) = &mut self.0 {
            profiles.insert(profile);
            if profiles.len() > MOST_PROFILES {
                self.0 = None;
            }
        }
    }
}

/// Each tag once.
fn counted(mut profile: Profile) -> Profile {
    profile.sort_unstable();
    profile.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = 2;
        }
        same
    });
    profile
}
