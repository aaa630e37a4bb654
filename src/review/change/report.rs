//! What there is to tell about two sides: plain values, to be shown in whatever way.

use serde::{Serialize, Serializer};

use super::{Approval, Group, Rule};
use crate::cassette::Number;
use crate::config::NewFields;
use crate::contract::Endpoint;
use crate::contract::order::Expression;

/// What changed from one side to the other. Faces in [`report`](crate::review::report) show it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// What was before.
    pub old: Side,
    /// What is now.
    pub new: Side,
    /// What changed in the promises, the worst first.
    pub changes: Vec<Change>,
    /// The contracts that are not the same, in the order of their endpoints.
    pub contracts: Vec<ContractPair>,
    /// The cassettes that are not the same but for identifiers and times, in the order of their names.
    pub cassettes: Vec<CassettePair>,
    /// The cassettes that have another name or folder now, in the order of their names of before.
    pub moved: Vec<MovedCassette>,
    /// Approvals that no change needs any more.
    pub stale: Vec<Approval>,
    /// The endpoints of which no contract was accepted, where that fails.
    pub unaccepted: Vec<Endpoint>,
    /// The endpoints of which nothing was compared but status and media type: their answers are no JSON.
    pub unread: Vec<Endpoint>,
    /// The cassettes that could not be read, so that nothing is known of what they show.
    pub unreadable: Vec<Unreadable>,
    /// Whether what is unproven fails, too.
    pub strict: bool,
}

/// One of two sides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// What it is: a path, or a revision and a path.
    pub name: String,
    /// The folder of its cassettes, or the only file there is, from the root of the repository.
    pub path: String,
    /// How many cassettes it has.
    pub cassettes: usize,
    /// How many endpoints it makes a promise about.
    pub endpoints: usize,
    /// Those of which a contract was accepted.
    #[serde(skip)]
    pub accepted: Vec<Endpoint>,
}

/// A cassette that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Its file, from the root of the repository; of a revision, with the revision before it.
    pub file: String,
    /// The line that cannot be read, if it is known.
    pub line: Option<usize>,
    /// Why, in a fragment without a full stop.
    pub why: String,
}

/// What a change means to whoever relies on what was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Something can come that was not promised, and [`Change::witnesses`] or [`Change::example`] shows
    /// it.
    Breaking,
    /// It could neither be shown that it breaks something nor that it does not: too few recordings show it,
    /// or none does.
    Unproven,
    /// It breaks nothing; that is proved.
    Compatible,
    /// Something is not seen any more.
    Trim,
}

impl Verdict {
    /// All, the worst first.
    pub const ALL: [Self; 4] = [Self::Breaking, Self::Unproven, Self::Compatible, Self::Trim];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Unproven => "unproven",
            Self::Compatible => "compatible",
            Self::Trim => "trim",
        }
    }

    /// Whether somebody has to look at it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Breaking | Self::Unproven)
    }
}

/// Who sends what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The server; clients rely on it.
    Answer,
    /// The client; the server relies on it.
    Request,
}

/// One change in what is promised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of change.
    pub rule: Rule,
    /// What it means.
    pub verdict: Verdict,
    /// Who sends what changed.
    pub direction: Direction,
    /// Where.
    pub place: Place,
    /// What changed, in a sentence without a full stop: literals stand in backticks.
    pub what: String,
    /// What tells it from other changes of its rule at its place.
    pub(super) key: String,
    /// Why the verdict is what it is, or which client breaks, in a sentence without a full stop; empty if
    /// the rule says it.
    pub why: String,
    /// What it brings with it, in such sentences. It is told of this change, and is none by itself.
    pub brings: Vec<String>,
    /// Tells it from all other changes, in every recording and at every revision: it is made of rule,
    /// place and what changed, never of counts, lines or identifiers.
    pub fingerprint: String,
    /// The shortest trace that was not possible before, if it is a change in the order.
    pub trace: Option<NewTrace>,
    /// What became possible at that place, if it is a change in a shape.
    pub possible: Option<Possible>,
    /// A value as JSON that was not possible before, made up where no recording shows one.
    pub example: Option<String>,
    /// Which recordings show it: the first one, and how often.
    pub witnesses: Option<Witnesses>,
    /// The reason for which somebody has approved it.
    pub approved: Option<String>,
}

impl Change {
    /// Whether somebody has to look at it who has not approved it.
    pub fn is_open(&self) -> bool {
        self.verdict.is_open() && self.approved.is_none()
    }
}

/// Where something changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// At which endpoint.
    pub endpoint: Endpoint,
    /// In which part of its contract.
    pub part: Part,
    /// For which requests, if the order depends on them: what the deciding fields say, case by case.
    /// An empty one stands for all other requests.
    pub cases: Vec<String>,
    /// Where in a value: names of fields and kinds, `[]` for elements, `{}` for members whose names are
    /// data. Empty where it is no change in a shape.
    pub path: String,
}

/// A part of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// Which statuses and media types there are.
    Endpoint,
    /// The order of messages.
    Order,
    /// What ties messages together.
    Invariants,
    /// The header fields that clients go by.
    Headers,
    /// What messages look like.
    Events,
    /// What an answer that is no stream looks like.
    Body,
    /// What requests look like.
    Request,
}

impl Part {
    /// The word for it, as in a contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Order => "order",
            Self::Invariants => "invariants",
            Self::Headers => "headers",
            Self::Events => "events",
            Self::Body => "body",
            Self::Request => "request",
        }
    }
}

/// A trace that was not possible before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NewTrace {
    /// Types of messages, in order; `x+` for several in a row.
    pub tags: Vec<String>,
    /// Which of them is not as it was promised, by place; the number of tags where that is the end.
    pub at: usize,
    /// What would have been as promised there.
    pub expected: Vec<String>,
}

/// What became possible at some place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Possible {
    /// As a contract says it.
    pub text: String,
    /// As JSON Schema 2020-12.
    pub json_schema: String,
}

/// Which recordings show something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Witnesses {
    /// The first cassette.
    pub cassette: String,
    /// Which of its interactions.
    #[serde(flatten)]
    pub number: Number,
    /// The number of the message in a stream, counted from 1 without keep-alives; nothing if it is the
    /// end of the stream, or no stream.
    pub event: Option<usize>,
    /// Where it stands in the cassette, counted from 0 with keep-alives; of a WebSocket, among all frames.
    #[serde(skip)]
    pub message: Option<usize>,
    /// The line of the cassette's file, once it is [located](Report::locate).
    pub line: Option<usize>,
    /// In how many answers it is seen.
    pub answers: usize,
    /// All cassettes that show it, in the order of their names.
    pub cassettes: Vec<String>,
}

/// A contract before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ContractPair {
    /// Whose.
    #[serde(serialize_with = "as_text")]
    pub endpoint: Endpoint,
    /// Its text before, if there was one.
    pub old: Option<String>,
    /// Its text now, if there is one.
    pub new: Option<String>,
    /// Which messages follow which, case by case.
    pub orders: Vec<CaseEdges>,
}

/// Which messages follow which in one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CaseEdges {
    /// For which requests; empty if the order does not depend on them.
    pub case: String,
    /// The edges, sorted.
    pub edges: Vec<Edge>,
    /// The order before, if there was one.
    #[serde(skip)]
    pub old: Option<Expression>,
    /// The order now, if there is one.
    #[serde(skip)]
    pub new: Option<Expression>,
}

/// That one type of message directly follows another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Edge {
    /// What comes first; nothing for the beginning.
    pub from: Option<String>,
    /// What follows; nothing for the end.
    pub to: Option<String>,
    /// On which side it is.
    pub state: State,
}

/// On which side something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// On both.
    Kept,
    /// Only on the new one.
    New,
    /// Only on the old one.
    Lost,
}

/// A cassette that has another name now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct MovedCassette {
    /// Its name before.
    pub from: String,
    /// Its name now, by which the report speaks of it.
    pub to: String,
}

/// A cassette before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CassettePair {
    /// Its name.
    pub name: String,
    /// On which side it is.
    pub state: State,
    /// How many of its interactions are the same but for identifiers and times.
    pub same: usize,
    /// The others, in order.
    pub interactions: Vec<InteractionPair>,
}

/// An interaction before and after; one of them at least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InteractionPair {
    /// Before.
    pub old: Option<Exchange>,
    /// Now.
    pub new: Option<Exchange>,
    /// Where the two differ, but for identifiers and times; as many as are listed.
    pub differences: Vec<Difference>,
    /// How many more differences there are.
    pub more: usize,
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exchange {
    /// What it is called in its cassette.
    #[serde(flatten)]
    pub number: Number,
    /// Its place in there, counted from 0; a message over a WebSocket has one of its own.
    #[serde(skip)]
    pub place: usize,
    /// `GET`, `POST`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The status of the answer, if one came.
    pub status: Option<u16>,
    /// How it ended, as a cassette says it: `complete`, `timeout` …
    pub end: &'static str,
    /// Milliseconds to the last byte.
    pub ms: u64,
    /// Its messages, deltas together; none if it is no list of messages.
    pub trace: Vec<Mark>,
    /// Whether it is a call by JSON-RPC that came to a result, or to an error.
    #[serde(skip)]
    pub(super) has_result: Option<bool>,
    /// What its client accepts, and the media type of the answer.
    #[serde(skip)]
    pub(super) media: Option<[String; 2]>,
    /// What the request says in words, as a hash.
    #[serde(skip)]
    pub(super) says: u64,
    /// Whether what it asks for was deleted before.
    #[serde(skip)]
    pub(super) is_deleted: bool,
}

/// A message of an answer, or the deltas of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mark {
    /// Its type.
    pub tag: String,
    /// How many messages these are.
    pub count: usize,
    /// When the first one came, in milliseconds since the request.
    pub first_ms: u64,
    /// When the last one came.
    pub last_ms: u64,
}

/// A place where two interactions differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Where: `request /messages/0/content`, `status`, `event 3 /name`, `/items/0`.
    pub at: String,
    /// What was there, if anything was; cut if it is long.
    pub old: Option<String>,
    /// What is there, if anything is; cut if it is long.
    pub new: Option<String>,
}

fn as_text<S: Serializer>(endpoint: &Endpoint, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(endpoint)
}

impl Report {
    /// Whether something breaks a client and is not approved, or a cassette could not be read.
    pub fn fails(&self) -> bool {
        !self.unreadable.is_empty() || self.changes.iter().any(|change| self.fails_by(change))
    }

    /// Whether it fails by this change.
    pub fn fails_by(&self, change: &Change) -> bool {
        change.is_open() && (self.strict || change.verdict == Verdict::Breaking)
    }

    /// How many changes of a verdict are not approved, each counted once in all its places.
    pub fn count(&self, verdict: Verdict) -> usize {
        let is = |it: &&Group<'_>| it.change.verdict == verdict && it.change.approved.is_none();
        self.groups().iter().filter(is).count()
    }

    /// How many changes are approved, each counted once in all its places.
    pub fn approved(&self) -> usize {
        self.groups().iter().filter(|group| group.change.approved.is_some()).count()
    }

    /// Judges the fields that are new in what the server sends. Where nothing is said they are compatible:
    /// clients read what they know.
    pub fn new_fields(&mut self, mean: NewFields) {
        let is_new = |change: &&mut Change| change.rule == Rule::FieldNew;
        for change in self.changes.iter_mut().filter(is_new) {
            let is_shown = change.witnesses.is_some() || change.example.is_some();
            let (verdict, why) = match (mean, is_shown) {
                (NewFields::Compatible, _) => (Verdict::Compatible, TOLERANT),
                (NewFields::Breaking, true) => (Verdict::Breaking, STRICT),
                (NewFields::Breaking, false) => (Verdict::Unproven, UNSHOWN),
            };
            (change.verdict, change.why) = (verdict, why.to_owned());
        }
        self.sort();
    }

    /// Puts the worst changes first.
    pub(super) fn sort(&mut self) {
        self.changes.sort_by(|one, other| {
            (one.verdict, &one.place, one.rule).cmp(&(other.verdict, &other.place, other.rule))
        });
    }

    /// The changes of a verdict that are not approved.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        let is = move |change: &&Change| change.verdict == verdict && change.approved.is_none();
        self.changes.iter().filter(is)
    }
}

/// Why it breaks nobody.
pub(super) const TOLERANT: &str = "clients read the fields that they know";

const STRICT: &str = "there is a client that refuses what it does not know, as is configured";

const UNSHOWN: &str =
    "no recording shows it, and no value was found that only the new contract allows";
