//! Which answers could show a change, and what of them could.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::report::Part;
use crate::contract::invariant::Invariant;
use crate::contract::shape::{identity, index};
use crate::contract::{Answer, JsonMessage};
use crate::text::json::pointer::Pointed;
use crate::text::json::{Container, Text};
use crate::text::rpc::{Envelope, Speech};

/// Which answers could show a change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum About {
    /// All of them.
    #[default]
    Answers,
    /// Those with a message of this type.
    Messages(String),
    /// Those with a value at this place, in messages of a kind where no field tells that.
    Values { kind: Option<String>, place: Vec<String> },
    /// Those that say what this speaks of.
    Tie(Invariant),
}

/// More answers do not tell more.
pub(super) const LOOKED_AT: usize = 500;

impl About {
    /// Whether an answer could show it.
    pub(super) fn is_in(&self, answer: &Answer, part: Part) -> bool {
        match self {
            Self::Answers if part == Part::Order => answer.word.is_some(),
            Self::Answers => true,
            Self::Messages(tag) => {
                let word = answer.word.iter().flat_map(|word| &word.tokens);
                word.into_iter().any(|token| token.tag == *tag)
                    || answer.events.iter().any(|message| message.kind == *tag)
            }
            Self::Values { kind, place } => {
                let mut values = values(answer, part, kind.as_deref());
                values.any(|value| find(value, None, place, &mut |_, _| true))
            }
            Self::Tie(invariant) => answer.with_trace(None, |trace| invariant.is_tried_by(trace)),
        }
    }

    /// Whether what breaks a tie is about the messages that another change is about.
    pub(super) fn ties(&self, other: &Self) -> bool {
        let Self::Tie(invariant) = self else { return false };
        invariant.tag().is_none_or(|tag| matches!(other, Self::Messages(own) if own == tag))
    }

    /// The rows that could show it, and what each is called; nothing if something else could.
    pub(super) fn rows<'a>(
        &self,
        answers: &[&'a Answer],
        part: Part,
        identities: &Identities,
    ) -> Option<Rows<'a>> {
        let Self::Values { kind, place } = self else { return None };
        let mut rows = Rows::new();
        let answers = answers.iter().take(LOOKED_AT);
        let mut values = answers.flat_map(|answer| values(answer, part, kind.as_deref()));
        let is_any_other = values.any(|value| {
            let whole = Some(said(value)).filter(|_| part == Part::Body);
            find(value, None, place, &mut |_, element| {
                let row = element.or(whole).and_then(|it| Some((it.as_str(), identities.of(it)?)));
                rows.extend(row.clone());
                row.is_none()
            })
        });
        (!is_any_other).then_some(rows)
    }

    /// What each row of a list in an answer says in this field of its own, in order.
    pub(super) fn words<'a>(
        &self,
        answer: &'a Answer,
        part: Part,
        field: &str,
    ) -> Vec<Cow<'a, str>> {
        let Self::Values { kind, place } = self else { return Vec::new() };
        let mut words = Vec::new();
        for value in values(answer, part, kind.as_deref()) {
            find(value, None, place, &mut |_, row| {
                words.extend(row.and_then(|row| row.get(field)?.string()));
                false
            });
        }
        words
    }

    /// Whether an answer says one of these words there.
    pub(super) fn says_any(&self, answer: &Answer, part: Part, words: &[String]) -> bool {
        self.texts(answer, part).iter().any(|text| words.iter().any(|word| *word == **text))
    }

    /// The texts that an answer has there.
    pub(super) fn texts<'a>(&self, answer: &'a Answer, part: Part) -> Vec<Cow<'a, str>> {
        let Self::Values { kind, place } = self else { return Vec::new() };
        let mut texts = Vec::new();
        for value in values(answer, part, kind.as_deref()) {
            find(value, None, place, &mut |said, _| {
                texts.extend(said.string());
                false
            });
        }
        texts
    }

    /// Whether the members of what stands there have the names that the client gave to those of a field of the same
    /// name: `"files": {"a.py": …}`, `"metadata": {…}`.
    pub(super) fn is_named_by_client(&self, answer: &Answer, part: Part) -> bool {
        let Self::Values { kind, place } = self else { return false };
        let (Some(field), Some(asked)) = (place.last(), answer.asked.as_deref()) else {
            return false;
        };
        let mut given: Vec<BTreeSet<Cow<'_, str>>> = Vec::new();
        objects_called(Text::known(asked), field, DEEPEST, &mut |object| {
            given.push(object.members().map(|(name, _)| name).collect());
        });
        let (mut is_said, mut is_given) = (false, true);
        for value in values(answer, part, kind.as_deref()) {
            find(value, None, place, &mut |said, _| {
                let names: BTreeSet<Cow<'_, str>> = said.members().map(|(name, _)| name).collect();
                is_said = true;
                is_given &= !names.is_empty() && given.iter().any(|it| names.is_subset(it));
                !is_given
            });
        }
        is_said && is_given
    }
}

/// What stands below so many containers of a request is not looked at.
const DEEPEST: usize = 8;

/// Tells the objects that stand in fields of a name.
fn objects_called<'t>(value: Text<'t>, name: &str, room: usize, told: &mut dyn FnMut(Text<'t>)) {
    let Some(room) = room.checked_sub(1) else { return };
    for (own, member) in value.members() {
        if own == name && member.container() == Some(Container::Object) {
            told(member);
        }
        objects_called(member, name, room, told);
    }
    if value.container() == Some(Container::Array) {
        value.elements().for_each(|element| objects_called(element, name, room, told));
    }
}

/// What rows are called, each of which is looked at for many changes, by where it stands in memory.
#[derive(Debug, Default)]
pub(super) struct Identities(RefCell<HashMap<(usize, usize), Option<String>, RandomState>>);

impl Identities {
    fn of(&self, row: Text<'_>) -> Option<String> {
        let text = row.as_str();
        let at = (text.as_ptr().addr(), text.len());
        self.0.borrow_mut().entry(at).or_insert_with(|| identity(row)).clone()
    }
}

/// What rows say, and what each is called.
pub(super) type Rows<'a> = BTreeMap<&'a str, String>;

/// The element of the outermost list in which a value is, or the whole body.
pub(super) fn row_around<'t>(
    values: &mut Pointed<'t>,
    pointer: &str,
    part: Part,
) -> Option<Text<'t>> {
    let element = values.outermost_element(pointer);
    element.or_else(|| values.at("").map(said).filter(|_| part == Part::Body))
}

/// What a body says: the identifier of a message of JSON-RPC tells which question it answers, and not what it is about.
fn said(body: Text<'_>) -> Text<'_> {
    let is_answer = Envelope::of(body).is_some_and(|it| it.kind == Speech::Answer);
    body.get("result").filter(|_| is_answer).unwrap_or(body)
}

/// What an answer says in one part, in messages of a kind if one is named.
fn values<'a>(
    answer: &'a Answer,
    part: Part,
    kind: Option<&str>,
) -> impl Iterator<Item = Text<'a>> {
    let headers = (part == Part::Headers).then_some(&answer.headers);
    let body = answer.body.iter().filter(move |_| part == Part::Body);
    let events = answer.events.iter().chain(&answer.keep_alives);
    let events = events.filter(move |_| part == Part::Events);
    let all = events.chain(body).chain(headers);
    all.filter(move |message| kind.is_none_or(|kind| kind == message.kind)).map(JsonMessage::text)
}

/// Finds values at a place of a contract, until `is_enough` says so: it hears of each, and in which element of the
/// outermost list it is. What tells objects apart is a step of the place, too.
fn find<'t>(
    value: Text<'t>,
    row: Option<Text<'t>>,
    place: &[String],
    is_enough: &mut dyn FnMut(Text<'t>, Option<Text<'t>>) -> bool,
) -> bool {
    let Some((step, rest)) = place.split_first() else { return is_enough(value, row) };
    match value.container() {
        Some(Container::Array) => {
            // The elements of a tuple are no rows.
            if let Some(index) = index(step) {
                return value
                    .elements()
                    .nth(index)
                    .is_some_and(|it| find(it, row, rest, is_enough));
            }
            let mut elements = value.elements().filter(|_| step == "[]");
            elements.any(|it| find(it, row.or(Some(it)), rest, is_enough))
        }
        Some(Container::Object) => {
            let is_kind = || {
                let mut texts = value.members().filter_map(|(_, it)| it.string());
                texts.any(|text| *text == **step)
            };
            value.get(step).is_some_and(|it| find(it, row, rest, is_enough))
                || (step == "{}" && value.members().any(|(_, it)| find(it, row, rest, is_enough)))
                || (is_kind() && find(value, row, rest, is_enough))
        }
        None => false,
    }
}
