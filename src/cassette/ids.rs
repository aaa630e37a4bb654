//! The table of names: what in the requests may be another value in a replay.

use crate::text::words::{shown, words};

/// Which values of a recording are names that somebody made up, and what decided that.
///
/// It is decided when a cassette is recorded, and read by whatever compares it with something else. A
/// person may edit it. In a replay the recorded side decides: where a request holds one of the
/// client's values, any value is accepted, the same one throughout a run; everything else must be equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ids {
    /// What the client makes up anew in each run, in the order in which it came up.
    pub client: Vec<Id>,
    /// What the server issued and the client came back with.
    pub server: Vec<Id>,
}

impl Ids {
    /// A table of the same names where they stand in another cassette, by interaction and place. What has no place
    /// there is left out.
    pub(crate) fn moved(mut self, to: impl Fn(&Id) -> Option<(usize, String)>) -> Self {
        for ids in [&mut self.client, &mut self.server] {
            ids.retain_mut(|id| {
                let place = to(id);
                place.map(|(interaction, at)| (id.interaction, id.at) = (interaction, at)).is_some()
            });
            ids.sort_by_key(|id| id.interaction);
        }
        self
    }
}

/// A value that somebody made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    /// It, without a prefix that is always the same.
    pub value: String,
    /// The interaction in which it came up, counted from 0.
    pub interaction: usize,
    /// Where it stood then: `path.3`, `query.after`, `/messages/0/otid`.
    pub at: String,
    /// Where else it is the same name.
    pub reach: Reach,
    /// What decided it.
    pub evidence: Evidence,
}

/// Where a value is the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reach {
    /// Wherever it stands as a word, also within a text.
    #[default]
    Anywhere,
    /// As the whole value of fields of this name.
    Field,
    /// Nowhere else.
    Here,
    /// Nowhere else, and the same value elsewhere is another one: both were drawn, and alike by chance.
    Once,
}

/// What decided that a value is a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// It looks random.
    Look,
    /// The name of its field says so.
    Name,
    /// The client came back with it.
    Return,
    /// It was another one in another run of the same client.
    Runs,
    /// Somebody wrote it into the table.
    Person,
}

impl Ids {
    /// The version of the table that this release writes.
    pub const VERSION: u64 = 1;
}

words!(Evidence: Look "look", Name "name", Return "return", Runs "runs", Person "person");

impl Reach {
    /// The word for it; the usual reach has none.
    pub(super) const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Anywhere => None,
            Self::Field => Some("field"),
            Self::Here => Some("here"),
            Self::Once => Some("once"),
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        [Self::Field, Self::Here, Self::Once].into_iter().find(|reach| reach.as_str() == Some(word))
    }
}

shown!(Display: Evidence, it => "{}", it.as_str());
