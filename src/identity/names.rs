//! The table of names of a cassette, made ready to be read.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::decide::TELLING;
use super::field::name_of_element;
use super::moment::MONTHS;
use super::returned::returned;
use super::{
    EPOCH, Form, Hole, Meaning, Scope, Words, each_text, is_epoch, is_moment, moments, refers,
    scope_of,
};
use crate::cassette::exchanges::MESSAGE;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::header;
use crate::cassette::reading::{Kind, Node, PathStep, Reading};
use crate::cassette::splice::disjoint;
use crate::cassette::{Cassette, Evidence, Id, Ids, Reach, Request};
use crate::config::{Rules, Treatment};
use crate::text::date::day;
use crate::text::json::{Text, pointer};
use crate::text::rpc::{Envelope, Speech};

/// The table of names of a cassette, made ready to say what in a recorded request is open.
#[derive(Debug, Default)]
pub(crate) struct Names {
    words: Words,
    /// Values of whole fields, with the names of the fields.
    fields: HashSet<(String, String)>,
    /// Values of one place, by the interaction.
    here: HashMap<usize, Vec<Placed>>,
    /// What the server issued: in which interaction, and where.
    issued: HashMap<String, (usize, String)>,
    /// The same, to be found in texts.
    issued_words: Words,
    /// Whether any of it is shorter than what [tells something](TELLING) wherever it stands.
    has_issued_short: bool,
    /// What the client made up, with the interaction in which it came up.
    made_up: HashMap<String, usize>,
    /// Whole values of which another run has shown, or a person says, that they are made up.
    proved: HashMap<String, usize>,
    /// The header fields that do not count, and come back.
    returned: BTreeSet<String>,
    /// The days on which something in it was recorded, if that is known.
    days: BTreeSet<u64>,
}

/// A value that is made up in one place.
#[derive(Debug)]
struct Placed {
    at: String,
    value: String,
    /// Which draw it is, if the same value elsewhere is another one.
    draw: Option<u64>,
}

/// A part of a recorded request in which the client may say something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The node of the reading.
    pub(crate) node: usize,
    pub(crate) part: NodePart,
    /// Where it stands there.
    pub(crate) range: Range<usize>,
    pub(crate) scope: Scope,
    /// Which draw it is, if the same value elsewhere is another one.
    pub(crate) draw: Option<u64>,
}

/// What of a node is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodePart {
    Value,
    /// The name of a member.
    Name,
}

impl Names {
    /// The table of a cassette, or another one for it.
    pub(crate) fn of(ids: &Ids, cassette: &Cassette) -> Self {
        let (days, returned) = (days(cassette), returned(cassette, ids));
        let mut names = Self { days, returned, ..Self::default() };
        let mut words = Vec::new();
        for id in &ids.client {
            names.made_up.entry(id.value.clone()).or_insert(id.interaction);
            if is_proved_word(id) {
                let first = names.proved.entry(id.value.clone()).or_insert(id.interaction);
                *first = id.interaction.min(*first);
            }
            match id.reach {
                Reach::Anywhere => words.push(id.value.as_str()),
                Reach::Field => {
                    names.fields.insert((field_name(&id.at), id.value.clone()));
                }
                Reach::Here | Reach::Once => {
                    let place = || combine(&[id.interaction as u64, hash_of(&id.at)]);
                    let draw = (id.reach == Reach::Once).then(place);
                    let (at, value) = (id.at.clone(), id.value.clone());
                    let here = names.here.entry(id.interaction).or_default();
                    here.push(Placed { at, value, draw });
                }
            }
        }
        names.words = Words::of(words.into_iter());
        for id in &ids.server {
            let first = (id.interaction, id.at.clone());
            names.issued.entry(id.value.clone()).or_insert(first);
        }
        names.has_issued_short = ids.server.iter().any(|id| id.value.len() < TELLING);
        names.issued_words = Words::of(ids.server.iter().map(|id| id.value.as_str()));
        names
    }

    /// Whether what a request says in a header field marks it: by its name, or because answers repeat it.
    pub(crate) fn is_mark(&self, field: &str) -> bool {
        Meaning::of(field) == Meaning::Mark
            || !self.returned.is_empty() && self.returned.contains(&*header::lowercase(field))
    }

    /// The interaction whose answer issued a value, and where.
    pub(crate) fn issued(&self, value: &str) -> Option<(usize, &str)> {
        self.issued.get(value).map(|(interaction, at)| (*interaction, at.as_str()))
    }

    /// What the answer of each interaction issued: where, and what.
    pub(crate) fn issued_by_interaction(&self) -> HashMap<usize, Vec<(&str, &str)>> {
        let mut issued: HashMap<usize, Vec<(&str, &str)>> = HashMap::new();
        for (value, (interaction, at)) in &self.issued {
            issued.entry(*interaction).or_default().push((at, value));
        }
        issued.values_mut().for_each(|issued| issued.sort_unstable());
        issued
    }

    /// The interaction in which the client came up with a value that it makes up.
    pub(crate) fn made_up(&self, value: &str) -> Option<usize> {
        self.made_up.get(value).copied()
    }

    /// Words of which it was proved that the client makes them up, with the interaction in which it did first.
    pub(crate) fn proved_words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.proved.iter().map(|(word, first)| (word.as_str(), *first))
    }

    /// The places in a text of what the server issued.
    pub(crate) fn issued_in<'t>(
        &'t self,
        text: &'t str,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        self.issued_words.find(text)
    }

    /// What the server issued in a request. What is so short stands in a text by chance as often as not. So it is meant
    /// only where a name before it refers to something, and in a path.
    pub(crate) fn issued_by_request(&self, request: &Request, rules: &Rules) -> Vec<String> {
        let mut found = Vec::new();
        if self.issued.is_empty() {
            return found;
        }
        each_text(request, |text| {
            let words = self.issued_words.find(text).filter(|word| word.len() >= TELLING);
            found.extend(words.map(|word| text[word].to_owned()));
        });
        if self.has_issued_short {
            let body = request.readable();
            let reading = Reading::of(request, &body, rules);
            let calls = Calls::of(&reading);
            for (node, it) in reading.nodes.iter().enumerate() {
                let is_meant = || {
                    let is_named = refers(reading.name(node));
                    (is_named || matches!(it.step, PathStep::Segment(_)))
                        && calls.role(&reading, node).is_none()
                };
                let is_short = it.text.len() < TELLING;
                if is_short && self.issued.contains_key(&*it.text) && is_meant() {
                    found.push(it.text.clone().into_owned());
                } else if !is_short && it.kind == Kind::Text {
                    let words = self.issued_words.find(&it.text);
                    let words = words.filter(|word| word.len() < TELLING);
                    let words = words.filter(|word| refers(name_before(&it.text, word.start)));
                    found.extend(words.map(|word| it.text[word].to_owned()));
                }
            }
        }
        found
    }

    /// What is open in the request of an interaction, in order.
    pub(crate) fn openings(&self, reading: &Reading<'_>, interaction: usize) -> Vec<Opening> {
        let mut found = Vec::new();
        let calls = Calls::of(reading);
        let here = self.here.get(&interaction);
        for (node, it) in reading.nodes.iter().enumerate() {
            if let PathStep::Member(name) = &it.step {
                let words = self.words.find(name);
                found.extend(words.map(|range| Opening {
                    node,
                    part: NodePart::Name,
                    range,
                    scope: Scope::Anywhere,
                    draw: None,
                }));
            }
            if it.kind.is_container() || matches!(it.step, PathStep::Method | PathStep::Origin) {
                continue;
            }
            let here =
                here.into_iter().flatten().filter(|it| it.at == reading.place(node).to_string());
            let here: Vec<&Placed> = here.collect();
            let name = called(reading, node);
            let value = PlacedValue { node: it, name: &name, role: calls.role(reading, node) };
            let open = self.parts(&value, &here);
            found.extend(open.into_iter().map(|(range, scope)| {
                let same = here.iter().find(|it| it.value == value.node.text[range.clone()]);
                let draw = same.and_then(|it| it.draw);
                Opening { node, part: NodePart::Value, range, scope, draw }
            }));
        }
        found
    }

    fn parts(&self, value: &PlacedValue<'_, '_>, here: &[&Placed]) -> Vec<(Range<usize>, Scope)> {
        let PlacedValue { node, name, role } = value;
        let text = &*node.text;
        let whole = |scope| vec![(0..text.len(), scope)];
        match (node.rule, role) {
            (Some(Treatment::NotId), _) | (_, Some(Role::Answered)) => return Vec::new(),
            (Some(Treatment::Id), _) => return whole(scope_of(name, value.form())),
            (_, Some(Role::Made(scope))) => return whole(*scope),
            _ => {}
        }
        if here.iter().any(|it| it.value == text) || self.is_field(name, text) {
            return whole(scope_of(name, value.form()));
        }
        let meaning = Meaning::of(name);
        let is_text = node.kind == Kind::Text;
        let is_time = match meaning {
            Meaning::Moment => is_epoch(text) || (is_text && is_moment(text)),
            Meaning::Span => node.kind == Kind::Number,
            _ => (is_text && is_moment(text)) || self.counts_till_now(text),
        } && self.is_near(text);
        if is_time && !text.is_empty() && !self.issued.contains_key(text) {
            return whole(Scope::Moment);
        }
        if !is_text {
            return Vec::new();
        }
        let mut found: Vec<_> = self.words.find(text).map(|at| (at, Scope::Anywhere)).collect();
        let here = here.iter().flat_map(|it| text.match_indices(&it.value));
        found.extend(here.map(|(at, value)| (at..at + value.len(), Scope::Anywhere)));
        let times = moments(text).filter(|range| !self.issued.contains_key(&text[range.clone()]));
        found.extend(times.map(|range| (range, Scope::Moment)));
        disjoint(found, |(range, _)| range.clone())
    }

    /// Whether a date without a time of day is near a day of the recording: others mean a version, a
    /// birthday, and are the same in each run.
    fn is_near(&self, text: &str) -> bool {
        let is_near = |day: u64| self.days.iter().any(|recorded| recorded.abs_diff(day) <= NEAR);
        self.days.is_empty() || day(text).is_none_or(is_near)
    }

    /// Whether a number counts from 1970 to about when it was recorded, whatever its field is called: `start`, `from`.
    /// Another number of so many digits hardly does.
    fn counts_till_now(&self, text: &str) -> bool {
        let digits = text.split('.').next().unwrap_or_default();
        let seconds = || digits.get(..EPOCH)?.parse::<u64>().ok();
        is_epoch(text)
            && seconds().is_some_and(|seconds| {
                let is_near = |day: &u64| day.abs_diff(seconds / SECONDS_OF_A_DAY) <= NEAR;
                self.days.iter().any(is_near)
            })
    }

    /// The last day on which something was recorded, counted from 1970-01-01.
    pub(crate) fn last_day(&self) -> Option<u64> {
        self.days.last().copied()
    }

    fn is_field(&self, name: &str, text: &str) -> bool {
        !self.fields.is_empty() && self.fields.contains(&(plain(name), text.to_owned()))
    }
}

/// Whether another run has shown, or a person says, that a word is made up which may be another one elsewhere.
/// A number, and what is as short as a word that each text has, stands in a text by chance.
fn is_proved_word(id: &Id) -> bool {
    let is_proved = matches!(id.evidence, Evidence::Runs | Evidence::Person);
    is_proved && id.reach != Reach::Anywhere && is_word(&id.value)
}

/// Whether a value means something by itself.
pub(crate) fn is_word(value: &str) -> bool {
    value.contains(char::is_alphabetic) && value.chars().count() >= SPOKEN
}

/// The letters of such a word.
const SPOKEN: usize = 3;

const SECONDS_OF_A_DAY: u64 = 86_400;

/// A date that a client made from the present is hardly farther away, in days.
const NEAR: u64 = 45;

/// The days on which something in a cassette was recorded: where one took the place of another, what was kept
/// is of an earlier day. Nothing if it does not say when it was begun.
fn days(cassette: &Cassette) -> BTreeSet<u64> {
    let Some(first) = cassette.recorded.at.get(..10).and_then(day) else { return BTreeSet::new() };
    let said = cassette.interactions.iter().filter_map(|it| it.response()?.headers.get("date"));
    said.filter_map(day_of_field).chain([first]).collect()
}

/// The day of a field `Date`: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
fn day_of_field(text: &str) -> Option<u64> {
    let mut parts = text.split(' ').skip(1);
    let (of_month, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = (1..).zip(MONTHS).find(|(_, name)| *name == month.as_bytes())?.0;
    day(&format!("{year}-{month:02}-{of_month}"))
}

/// A value and what is known of its place.
struct PlacedValue<'n, 't> {
    node: &'n Node<'t>,
    name: &'n str,
    role: Option<Role>,
}

impl PlacedValue<'_, '_> {
    fn form(&self) -> Form {
        form(self.node)
    }
}

/// What a value is called by where it stands.
fn called<'r>(reading: &'r Reading<'_>, node: usize) -> Cow<'r, str> {
    let it = &reading.nodes[node];
    match it.step {
        PathStep::Header(_) => Cow::default(),
        PathStep::Item(number) if reading.nodes[it.parent as usize].step == PathStep::Body => {
            name_of_element(number).into()
        }
        _ => reading.name(node).into(),
    }
}

/// Where a value may appear again that is made up as a whole.
pub(crate) fn scope_of_whole(reading: &Reading<'_>, node: usize) -> Scope {
    scope_of(&called(reading, node), form(&reading.nodes[node]))
}

/// How a value is written.
pub(crate) fn form(node: &Node<'_>) -> Form {
    if node.kind == Kind::Text { Form::Text } else { Form::Number }
}

/// What a place begins with in which a pointer may follow.
const INSIDE: [&str; 2] = ["part.", "frame."];

/// The name of the field that a place is, in whatever way its words are put together.
pub(crate) fn field_name(at: &str) -> String {
    let has_pointer = at.starts_with('/') || INSIDE.iter().any(|part| at.starts_with(part));
    match at.find('/').filter(|_| has_pointer) {
        Some(start) => plain(&pointer::field(&at[start..])),
        None => plain(at.split_once('.').map_or(at, |(_, name)| name)),
    }
}

pub(crate) fn plain(name: &str) -> String {
    name.replace(['_', '-'], "").to_ascii_lowercase()
}

/// What a member of a JSON-RPC message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Made up by who sends it.
    Made(Scope),
    /// The id of a request of the other side, which this answers.
    Answered,
}

impl Role {
    /// What the id of a message is.
    pub(super) fn of_id(envelope: &Envelope<'_>) -> Self {
        match envelope.kind {
            Speech::Answer => Self::Answered,
            Speech::Request | Speech::Notification => Self::Made(Scope::Call),
        }
    }
}

/// The JSON-RPC messages of a request.
pub(crate) struct Calls<'t> {
    /// The nodes of the messages.
    messages: Vec<(usize, Envelope<'t>)>,
}

/// Of these members, each message of JSON-RPC that a client sends by itself has one.
const NAMED: [&str; 2] = ["jsonrpc", "method"];

impl<'t> Calls<'t> {
    pub(crate) fn of(reading: &Reading<'t>) -> Self {
        let is_object = |at: &usize| reading.nodes[*at].kind == Kind::Object;
        let roots = || reading.inside(None).filter(|at| reading.nodes[*at].kind.is_container());
        let items = roots().filter(|root| !is_object(root));
        let items = items.flat_map(|root| reading.inside(Some(root)));
        // What is said over a WebSocket or in lines is answered by an id, if by anything.
        let is_said = reading.nodes.first().is_some_and(|method| method.text == MESSAGE);
        // Nearly no request is one, and to look into each would cost time.
        let is_called = |step: &PathStep<'_>| matches!(step, PathStep::Member(name) if NAMED.contains(&&**name));
        let inside = |node| reading.inside(Some(node)).map(|at| &reading.nodes[at].step);
        let may_be = |node: &usize| is_object(node) && inside(*node).any(is_called);
        let message = |node: usize| {
            let envelope = Envelope::of(Text::known(reading.nodes[node].spelled))?;
            let is_asked = is_said && envelope.kind == Speech::Request;
            (is_asked || envelope.is_certain()).then_some((node, envelope))
        };
        Self { messages: roots().chain(items).filter(may_be).filter_map(message).collect() }
    }

    /// Those that say so by the member `jsonrpc`. The rules by which a table of names is made are frozen, and
    /// know no others.
    pub(super) fn marked(reading: &Reading<'t>) -> Self {
        let mut calls = Self::of(reading);
        calls.messages.retain(|(_, envelope)| envelope.is_marked);
        calls
    }

    /// What a value is, if the envelope of its message says so.
    pub(crate) fn role(&self, reading: &Reading<'_>, node: usize) -> Option<Role> {
        if self.messages.is_empty() {
            return None;
        }
        let PathStep::Member(name) = &reading.nodes[node].step else { return None };
        let parent = reading.nodes[node].parent as usize;
        let message = || self.messages.iter().find(|(message, _)| *message == parent);
        let is_marked = || self.messages.iter().any(|(_, envelope)| envelope.is_marked);
        match &**name {
            "id" => message().map(|(_, envelope)| Role::of_id(envelope)),
            "requestId" if is_marked() => Some(Role::Made(Scope::Called)),
            "progressToken" if is_marked() => Some(Role::Made(Scope::Progress)),
            _ => None,
        }
    }
}

/// A recorded text of which parts are open: what stands between them, and what stood in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// What stands before the first open part, between them, and behind the last one.
    literals: Vec<String>,
    /// What stood in them. A whole value may be anything, a part of a text goes on over no white
    /// space that was not there.
    pub(crate) holes: Vec<Hole>,
    is_text: bool,
    /// Whether `true`, `false` or `null` may stand there: nobody makes these up.
    takes_words: bool,
}

/// A live text that a template is laid over.
struct Filling<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
    /// Which open part could not be filled from where on: without it each way to the same place is tried.
    failed: HashSet<(usize, usize)>,
}

impl Template {
    /// The template of a node, from its openings in order.
    pub(crate) fn of(node: &Node<'_>, openings: &[Opening], part: NodePart) -> Option<Self> {
        let text: &str = match (&node.step, part) {
            (PathStep::Member(name), NodePart::Name) => name,
            _ => &node.text,
        };
        let openings = || openings.iter().filter(|opening| opening.part == part);
        let open: Vec<_> = openings().map(|it| (it.range.clone(), it.scope)).collect();
        let mut template = Self::of_text(node.place, text, open);
        for (hole, opening) in template.holes.iter_mut().zip(openings()) {
            hole.draw = opening.draw;
        }
        template.takes_words = node.kind == Kind::Word || node.rule == Some(Treatment::Id);
        if part == NodePart::Value && node.kind != Kind::Text {
            template.is_text = false;
            template.holes.iter_mut().for_each(|hole| hole.form = Form::Number);
        }
        (!template.holes.is_empty()).then_some(template)
    }

    /// The template of a text, from what is open in it in order.
    pub(crate) fn of_text(place: u64, text: &str, open: Vec<(Range<usize>, Scope)>) -> Self {
        let form = Form::Text;
        let (mut literals, mut holes, mut rest) = (Vec::new(), Vec::new(), 0);
        for (range, scope) in open {
            literals.push(text[rest..range.start].to_owned());
            rest = range.end;
            holes.push(Hole { place, scope, identifier: text[range].to_owned(), form, draw: None });
        }
        literals.push(text[rest..].to_owned());
        Self { literals, holes, is_text: true, takes_words: false }
    }

    /// What stands in the open parts of a text, if the rest is the same.
    pub(crate) fn captured(&self, text: &str, kind: Kind) -> Option<Vec<Hole>> {
        let is_text = kind == Kind::Text;
        let is_time = self.holes.iter().any(|hole| hole.scope == Scope::Moment);
        let is_another = is_text != self.is_text && (is_time || !self.is_whole());
        if kind.is_container() || is_another || (kind == Kind::Word && !self.takes_words) {
            return None;
        }
        let found = Vec::with_capacity(self.holes.len());
        let mut filling = Filling { text, found, failed: HashSet::new() };
        if !self.fill(0, 0, &mut filling) {
            return None;
        }
        let ranges = filling.found;
        let form = if is_text { Form::Text } else { Form::Number };
        let holes = self.holes.iter().zip(ranges);
        Some(
            holes
                .map(|(hole, at)| Hole { identifier: text[at].to_owned(), form, ..hole.clone() })
                .collect(),
        )
    }

    /// Fills the open parts from number `hole` on, from `at` in the text on.
    fn fill(&self, hole: usize, at: usize, filling: &mut Filling<'_>) -> bool {
        let text = filling.text;
        let before = &self.literals[hole];
        if !text[at..].starts_with(before.as_str()) {
            return false;
        }
        let start = at + before.len();
        let Some(recorded) = self.holes.get(hole) else { return start == text.len() };
        if filling.failed.contains(&(hole, at)) {
            return false;
        }
        let is_last = hole + 1 == self.holes.len();
        let next = &self.literals[hole + 1];
        let last = text.len().checked_sub(next.len()).filter(|end| is_last && *end >= start);
        let last = last.filter(|_| text.ends_with(next.as_str()));
        let others = (!is_last).then(|| text[start..].match_indices(next.as_str()));
        let others = others.into_iter().flatten().map(|(end, _)| start + end);
        for end in last.into_iter().chain(others).filter(|end| *end > start || self.is_whole()) {
            if !self.may_be(recorded, &text[start..end]) {
                break;
            }
            filling.found.push(start..end);
            if self.fill(hole + 1, end, filling) {
                return true;
            }
            filling.found.pop();
        }
        filling.failed.insert((hole, at));
        false
    }

    /// Whether all of a value is open.
    fn is_whole(&self) -> bool {
        self.holes.len() == 1 && self.literals.iter().all(String::is_empty)
    }

    fn may_be(&self, recorded: &Hole, live: &str) -> bool {
        let has_space = |text: &str| text.contains(char::is_whitespace);
        self.is_whole() || has_space(&recorded.identifier) || !has_space(live)
    }
}

/// What stands before a value in a text: `id` in `{note(id: 7)}` and in `{"id":7}`.
fn name_before(text: &str, value: usize) -> &str {
    const AROUND: [char; 4] = ['"', '\'', '\\', ' '];
    let before = text[..value].trim_end_matches(AROUND).strip_suffix([':', '=']);
    let before = before.unwrap_or_default().trim_end_matches(AROUND);
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    &before[before.trim_end_matches(is_of_name).len()..]
}
