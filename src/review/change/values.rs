//! What the answers of a side say, place by place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::FixedState;

use super::draft::{Position, at};
use super::maps::Maps;
use super::report::Part;
use super::shapes::among;
use super::traits::Traits;
use crate::contract::shape::{DEEPEST, EvidenceSource, Recordings};
use crate::contract::{Answer, Contract, ERROR, JsonMessage, Kinds, RESULT_OF};
use crate::message::{Tag, telling};
use crate::text::json::{Container, Text};

/// What SSE streams call the events by, from which a client can resume them.
pub(super) const ID: &str = "id:";

/// What SSE streams call the events by that a page listens to one by one, whatever they say.
pub(super) const NAME: &str = "event:";

/// No word is longer, in bytes.
const LONGEST_WORD: usize = 256;

/// A place with more words than these says anything.
pub(super) const MOST_WORDS: usize = 64;

/// Where a value stands: the part of the answer, the kind of message as far as that is told, and the steps to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValuePlace<'a> {
    pub(super) part: Part,
    kind: Option<&'a str>,
    pub(super) path: String,
}

impl ValuePlace<'_> {
    /// Whether it is in pieces of something.
    pub(super) fn is_piece(&self) -> bool {
        self.kind.is_some_and(|kind| Tag::named(kind).names_piece())
    }

    /// As a contract calls it.
    pub(super) fn named(&self) -> String {
        match (self.kind, self.path.as_str()) {
            (None, path) => path.to_owned(),
            (Some(kind), "") => kind.to_owned(),
            (Some(kind), path) if path.starts_with('[') => format!("{kind}{path}"),
            (Some(kind), path) => format!("{kind}.{path}"),
        }
    }

    /// What is said of it, in a sentence about the place.
    pub(super) fn told(&self, said: &str) -> String {
        let among = self.kind.map(|kind| among(self.part, kind)).unwrap_or_default();
        format!("{} {said}{among}", at(self.part, &self.path))
    }

    /// Whether a contract calls it so, which names no kind where there is only one.
    pub(super) fn is_called(&self, path: &str) -> bool {
        path == self.path || path == self.named() || is_of_kind(path, &self.path)
    }

    /// Where the object stands of which it is a field; nothing for an element of a list or a map.
    pub(super) fn parent(&self) -> Option<Self> {
        let (path, _) = self.path.rsplit_once('.').unwrap_or(("", &self.path));
        let is_field = !self.path.is_empty() && !self.path.ends_with([']', '}']);
        is_field.then(|| Self { path: path.to_owned(), ..*self })
    }

    /// The name of the field.
    pub(super) fn field(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]")
    }
}

/// Whether one path is another where the rows of a list are of several kinds: `jobs[].failed.id` of `jobs[].id`.
fn is_of_kind(path: &str, of: &str) -> bool {
    let (mut left, mut before) = (of.split('.').peekable(), "");
    for segment in path.split('.') {
        match left.next_if_eq(&segment) {
            None if !before.ends_with("[]") => return false,
            _ => before = segment,
        }
    }
    left.next().is_none() && of.ends_with(before)
}

/// What can stand at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    Null,
    /// A list of nothing.
    Empty,
    Boolean,
    Number,
    String,
    List,
    Object,
}

impl ValueForm {
    pub(super) const ALL: [Self; 7] = [
        Self::Null,
        Self::Empty,
        Self::Boolean,
        Self::Number,
        Self::String,
        Self::List,
        Self::Object,
    ];

    pub(super) fn said(self) -> &'static str {
        match self {
            Self::Null => "`null`",
            Self::Empty => "empty",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

/// Who says a word.
#[derive(Default)]
pub(super) struct SaidWord<'a> {
    pub(super) said: Recordings,
    /// The places of the answers that do.
    pub(super) places: BTreeSet<&'a str>,
}

/// What stands at a place in all answers of a side.
#[derive(Default)]
pub(super) struct Values<'a> {
    /// How many recordings have each of the forms there.
    pub(super) forms: [Recordings; ValueForm::ALL.len()],
    pub(super) all: Recordings,
    /// The last of them.
    last: Option<EvidenceSource>,
    pub(super) words: BTreeMap<Cow<'a, str>, SaidWord<'a>>,
    /// The sentences, as far as they are others.
    pub(super) sentences: BTreeSet<Cow<'a, str>>,
    pub(super) traits: Traits,
    /// What the numbers of an answer begin with, if all begin with the same.
    pub(super) first: First,
    /// Where it was seen, each answer once.
    pub(super) shown: Vec<(&'a str, Position)>,
    /// The answer that said the last number.
    counted: Option<&'a str>,
}

/// With which number those of each answer begin, as an index does that counts its messages.
#[derive(Default, Clone, Copy, PartialEq)]
pub(super) enum First {
    #[default]
    None,
    One {
        number: f64,
        goes_on: bool,
    },
    Several,
}

impl First {
    fn see(&mut self, number: f64, is_first: bool) {
        *self = match *self {
            Self::None => Self::One { number, goes_on: false },
            Self::One { number: first, .. } if is_first && first != number => Self::Several,
            Self::One { number: first, goes_on } => {
                Self::One { number: first, goes_on: goes_on || first != number }
            }
            Self::Several => Self::Several,
        };
    }
}

pub(super) type ValuesByPlace<'a> = BTreeMap<ValuePlace<'a>, Values<'a>>;

/// What all messages of a side say, place by place.
pub(super) fn values<'a>(was: &Contract, answers: &[&'a Answer]) -> ValuesByPlace<'a> {
    let is_refusal = was.endpoint.status >= 400;
    let mut tree = Tree { is_refusal, maps: Maps::of(was), ..Tree::default() };
    let in_bodies = matches!(was.body, Some(Kinds::Each(_)));
    for answer in answers {
        let recording = EvidenceSource::recording(answer.witness.0);
        if !answer.events.is_empty() {
            let root = tree.root((Part::Events, None));
            let has_id = answer.events.iter().any(|event| event.has_id);
            let is_named = answer.events.iter().any(|event| event.is_named);
            for (field, is_there) in [(ID, has_id), (NAME, is_named)] {
                let at = tree.member(root, Cow::Borrowed(field));
                let seen = tree.see(at, recording, (&answer.place, Position::Whole));
                seen.traits.text(if is_there { field } else { "" });
            }
        }
        let mut take = |part, message: &'a JsonMessage, is_kind: bool, at| {
            let root = tree.root((part, is_kind.then_some(&*message.kind)));
            let source = match part {
                // What a call is called by JSON-RPC, the client counts.
                Part::Body if !is_call(&message.kind) => recording.within(message.text()),
                _ => recording,
            };
            let mut walk = ValueWalk { tree: &mut tree, answer, at, depth: 0 };
            walk.visit(message.text(), root, source, true);
        };
        take(Part::Headers, &answer.headers, false, Position::Whole);
        if let Some(body) = &answer.body {
            take(Part::Body, body, in_bodies, Position::Whole);
        }
        for (number, event) in answer.events.iter().enumerate() {
            take(Part::Events, event, event.tag.is_named(), Position::Said(number));
        }
    }
    tree.nodes.into_iter().map(|node| (node.place, node.values)).collect()
}

/// Whether it is the answer to a call by JSON-RPC.
fn is_call(kind: &str) -> bool {
    kind == ERROR || kind.starts_with(RESULT_OF)
}

/// The places of all messages, each with those that are in it: most are found without making its name.
#[derive(Default)]
struct Tree<'a> {
    roots: BTreeMap<(Part, Option<&'a str>), usize>,
    nodes: Vec<Node<'a>>,
    /// Whether the answers refuse what is asked.
    is_refusal: bool,
    maps: Maps,
}

struct Node<'a> {
    place: ValuePlace<'a>,
    is_code: bool,
    members: HashMap<Cow<'a, str>, usize, FixedState>,
    elements: Option<usize>,
    values: Values<'a>,
}

impl<'a> Tree<'a> {
    fn root(&mut self, of: (Part, Option<&'a str>)) -> usize {
        if let Some(root) = self.roots.get(&of) {
            return *root;
        }
        let root = self.add(ValuePlace { part: of.0, kind: of.1, path: String::new() });
        self.roots.insert(of, root);
        root
    }

    fn add(&mut self, place: ValuePlace<'a>) -> usize {
        let steps = place.path.split('.');
        let is_code = match self.is_refusal {
            true => telling::is_code_of_refusal(steps),
            false => telling::is_error_code(steps),
        };
        let (members, values) = (HashMap::default(), Values::default());
        self.nodes.push(Node { place, is_code, members, elements: None, values });
        self.nodes.len() - 1
    }

    fn member(&mut self, node: usize, name: Cow<'a, str>) -> usize {
        let of = &self.nodes[node];
        let name = self.maps.at(of.place.part, of.place.kind, &of.place.path).step(name);
        if let Some(member) = of.members.get(&name) {
            return *member;
        }
        let dot = if of.place.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{name}", of.place.path);
        let member = self.add(ValuePlace { path, ..of.place });
        self.nodes[node].members.insert(name, member);
        member
    }

    fn elements(&mut self, node: usize) -> usize {
        let of = &self.nodes[node];
        if let Some(elements) = of.elements {
            return elements;
        }
        let elements = self.add(ValuePlace { path: format!("{}[]", of.place.path), ..of.place });
        self.nodes[node].elements = Some(elements);
        elements
    }

    fn form(&mut self, node: usize, form: ValueForm, source: EvidenceSource) {
        self.nodes[node].values.forms[form as usize].insert(source);
    }

    fn see(
        &mut self,
        node: usize,
        source: EvidenceSource,
        shown: (&'a str, Position),
    ) -> &mut Values<'a> {
        let seen = &mut self.nodes[node].values;
        if seen.last != Some(source) {
            seen.all.insert(source);
            seen.last = Some(source);
        }
        if seen.shown.last().is_none_or(|(last, _)| *last != shown.0) {
            seen.shown.push(shown);
        }
        seen
    }
}

/// A way through the values of one message.
struct ValueWalk<'s, 'a> {
    tree: &'s mut Tree<'a>,
    answer: &'a Answer,
    at: Position,
    /// How many objects and lists are around.
    depth: usize,
}

impl<'a> ValueWalk<'_, 'a> {
    /// `is_outermost` says that no list is around the value.
    fn visit(&mut self, value: Text<'a>, node: usize, source: EvidenceSource, is_outermost: bool) {
        // What stands deeper no contract knows.
        if self.depth > DEEPEST {
            return;
        }
        self.depth += 1;
        match value.container() {
            Some(Container::Object) => {
                self.tree.form(node, ValueForm::Object, source);
                for (name, member) in value.members() {
                    let at = self.tree.member(node, name);
                    self.visit(member, at, source, is_outermost);
                }
            }
            Some(Container::Array) => {
                let at = self.tree.elements(node);
                let mut count = 0;
                for element in value.elements() {
                    let source = if is_outermost { source.within(element) } else { source };
                    self.visit(element, at, source, false);
                    count += 1;
                }
                let form = if count == 0 { ValueForm::Empty } else { ValueForm::List };
                self.tree.form(node, form, source);
                self.see(node, source).traits.list(count);
            }
            None => self.leaf(value, node, source),
        }
        self.depth -= 1;
    }

    fn leaf(&mut self, value: Text<'a>, node: usize, source: EvidenceSource) {
        let spelled = value.as_str();
        if let Some(text) = value.string() {
            self.tree.form(node, ValueForm::String, source);
            let answer = self.answer.place.as_str();
            let seen = self.see(node, source);
            let is_word = seen.traits.text(&text);
            if text.len() > LONGEST_WORD {
                return;
            }
            if is_word {
                seen.word(text, source, answer);
            } else if seen.sentences.len() < MOST_WORDS {
                seen.sentences.insert(text);
            }
        } else if let Ok(number) = spelled.parse::<f64>() {
            self.tree.form(node, ValueForm::Number, source);
            let is_code = self.tree.nodes[node].is_code;
            let answer = self.answer.place.as_str();
            let seen = self.see(node, source);
            let is_first = seen.counted.replace(answer) != Some(answer);
            seen.first.see(number, is_first);
            seen.traits.number(number);
            if is_code {
                seen.word(Cow::Borrowed(spelled), source, answer);
            }
        } else {
            let form = if spelled == "null" { ValueForm::Null } else { ValueForm::Boolean };
            self.tree.form(node, form, source);
        }
    }

    fn see(&mut self, node: usize, source: EvidenceSource) -> &mut Values<'a> {
        self.tree.see(node, source, (&self.answer.place, self.at))
    }
}

impl<'a> Values<'a> {
    fn word(&mut self, word: Cow<'a, str>, source: EvidenceSource, answer: &'a str) {
        if self.words.len() < MOST_WORDS || self.words.contains_key(&word) {
            let word = self.words.entry(word).or_default();
            word.said.insert(source);
            word.places.insert(answer);
        }
    }

    /// The word that is said most often of those that the other side never says, and by how many recordings.
    pub(super) fn said_only(&self, other: &Self) -> Option<(String, usize)> {
        let only = self.words.iter().filter(|(word, _)| !other.words.contains_key(*word));
        let most = only.max_by_key(|(_, it)| it.said.len());
        most.map(|(word, it)| (word.to_string(), it.said.len()))
    }

    /// How many recordings say a word.
    pub(super) fn saying(&self, word: &str) -> usize {
        self.words.get(word).map_or(0, |it| it.said.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_rows_may_stand_in_one_kind_of_them() {
        for (path, of, expected) in [
            ("jobs[].failed.id", "jobs[].id", true),
            ("jobs[].failed.error.code", "jobs[].error.code", true),
            ("jobs[].id", "jobs[].id", true),
            ("jobs[].failed.id", "jobs[]", false),
            ("jobs[].failed.name", "jobs[].id", false),
            ("job.failed.id", "job.id", false),
        ] {
            assert_eq!(is_of_kind(path, of), expected, "{path} {of}");
        }
    }
}
