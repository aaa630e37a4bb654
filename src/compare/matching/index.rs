//! From a request to the interactions that may answer it.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use http::HeaderMap;

use super::agreement::{self, Agreement};
use super::credentials::Credentials;
use super::groups::{Candidates, Groups};
use super::marks;
use super::nearest::Routes;
use super::passing::Passing;
use super::spoken;
use super::telling;
use super::twins::Twins;
use super::verbatim::{Membership, Verbatim};
use super::writes::{self, PriorWrites};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::header;
use crate::cassette::reading::{Kind, Reading};
use crate::cassette::{Cassette, Headers, Request};
use crate::compare::difference;
use crate::compare::recorded::Recorded;
use crate::config::{Compare, Repeats, Rules};
use crate::identity::names::{Names, NodePart, Opening, Template};
use crate::identity::{Hole, MadeUp, Scope, decide};
use crate::redact::Found;

/// The interactions of a cassette by what counts in their requests.
///
/// # Rationale
///
/// The recorded side decides: what is open in a recorded request is known, so nothing is looked for in a
/// live one. Requests that are open in the same places have one mask. The key of a live request is a
/// sum over its values, so leaving out those that a mask names takes a subtraction, and one look into a
/// table finds the interactions. There are as many looks as there are masks for requests of that method
/// with a path as long, which are few, whatever the size of the cassette.
#[derive(Debug)]
pub struct Index {
    names: Names,
    made_up: MadeUp,
    rules: Rules,
    families: HashMap<u64, Family, foldhash::fast::FixedState>,
    groups: Groups,
    /// The interactions of a group in which the client used some value in some place; for groups that
    /// have several.
    by_value: Groups,
    passing: Passing,
    agreement: Agreement,
    verbatim: Verbatim,
    entries: Vec<Entry>,
    credentials: Credentials,
    pub(super) twins: Twins,
    has_needed: bool,
    /// Where its requests go, once a miss wants to know.
    routes: OnceLock<Routes>,
}

/// Requests of one method, with a path of as many parts.
#[derive(Debug, Default)]
struct Family {
    /// Those with the fewest open places come first.
    masks: Vec<Mask>,
    open: HashSet<u64, foldhash::fast::FixedState>,
}

/// The places, with any item, that are left out of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mask {
    open: Vec<u64>,
}

/// What a request is that stands in the cassette byte for byte, and in which the client made nothing up.
#[derive(Debug)]
pub enum Recognized<'t> {
    /// The only interaction that it may be.
    Only(usize),
    /// One of several, which the session's run decides.
    OneOf(Box<Asked<'t>>),
}

/// A live request, read once.
#[derive(Debug)]
pub struct Asked<'t> {
    pub(super) reading: Reading<'t>,
    /// Its header; nothing where no field of it that does not count tells anything.
    headers: Option<&'t Headers>,
    /// The groups that it may belong to.
    groups: Vec<u64>,
    /// The nodes that are open in some request of its family.
    open: Vec<usize>,
    /// The fields of its header by which it marks itself, by place.
    marks: Vec<(u64, String)>,
    /// Which attempt at the same call it is, counted from 0, if the client says so.
    pub(super) attempt: Option<u32>,
    /// The secrets in it.
    pub(super) found: Found,
}

/// What is known of the request of an interaction.
#[derive(Debug)]
pub(super) struct Entry {
    group: u64,
    check: ExtraCheck,
    pub(super) holes: Vec<Hole>,
    /// The values by which it tells itself from others of its group: place and hash.
    pub(super) telling: Vec<(u64, u64)>,
    marks: Vec<(u64, Template)>,
    pub(super) attempt: Option<u32>,
    pub(super) before: PriorWrites,
}

/// What has to be looked at beside the key.
#[derive(Debug)]
enum ExtraCheck {
    /// Nothing.
    None,
    /// The values in the places that the mask leaves out.
    Places { open: Vec<u64>, values: Vec<(u64, Expected)> },
    /// Everything: names or items of sets are open, or two values have one place.
    All(Box<Request>),
}

#[derive(Debug)]
enum Expected {
    Equal(u64),
    Open(Template),
}

/// A request of the cassette while the index is made.
struct ReadRequest {
    family: u64,
    mask: Mask,
    entry: Entry,
    header: u64,
    order: u64,
}

impl Index {
    /// Reads all requests of a cassette once.
    pub fn of(cassette: &Cassette, rules: Rules) -> Self {
        let names = match &cassette.ids {
            Some(ids) => Names::of(ids, cassette),
            None => Names::of(&decide(cassette, &rules), cassette),
        };
        let requests = || cassette.interactions.iter().map(|interaction| &interaction.request);
        let read: Vec<ReadRequest> = requests()
            .enumerate()
            .map(|(number, request)| read(request, number, &names, &rules))
            .collect();
        let mut families: HashMap<u64, Family, _> = HashMap::default();
        for ReadRequest { family, mask, .. } in &read {
            let family: &mut Family = families.entry(*family).or_default();
            if !family.masks.contains(mask) {
                family.open.extend(&mask.open);
                family.masks.push(mask.clone());
            }
        }
        families.values_mut().for_each(|it| it.masks.sort_by_key(|mask| mask.open.len()));
        let headers: Vec<u64> = read.iter().map(|it| it.header).collect();
        let orders: Vec<u64> = read.iter().map(|it| it.order).collect();
        let mut entries: Vec<Entry> = read.into_iter().map(|it| it.entry).collect();
        let groups = Groups::of(entries.iter().map(|entry| entry.group).zip(0..));
        let before = writes::of(cassette, &names, &entries, (&rules, groups.has_several()));
        let twins = Twins::of(cassette, &names, &entries, &rules);
        let issued: Vec<Hole> = twins.holes().collect();
        let made_up = MadeUp::of(entries.iter().flat_map(Entry::made_up).chain(&issued));
        let made_up = made_up.spoken(spoken::of(cassette, &names, &rules));
        let made_up = made_up.drawn(entries.iter().map(Entry::made_up), cassette);
        let is_only = |number: usize| {
            let only = groups.get(entries[number].group).and_then(Candidates::only);
            only.is_some() && before[number].needed.is_none()
        };
        let is_repeated = rules.repetition() == Repeats::Allowed;
        let whole = requests().enumerate().filter(|(number, _)| entries[*number].is_whole());
        let whole = whole.map(|(number, request)| {
            let only = (is_repeated && is_only(number)).then_some(number);
            (request, headers[number], only, entries[number].group)
        });
        let verbatim = Verbatim::of(whole);
        let by_value = telling::by_value(&entries, &groups);
        let passing = Passing::of(cassette, &entries, &groups);
        let groups_and_orders = entries.iter().zip(orders);
        let grouped =
            requests().zip(groups_and_orders).map(|(it, (entry, order))| (it, entry.group, order));
        let agreement = match rules.comparison() {
            // Nothing but the order tells them apart: not who once had a cookie.
            Compare::Path => Agreement::default(),
            Compare::All => Agreement::of(grouped, &groups, &rules),
        };
        let has_needed = before.iter().any(|it| it.needed.is_some());
        entries.iter_mut().zip(before).for_each(|(entry, before)| entry.before = before);
        let routes = OnceLock::new();
        Self {
            names,
            made_up,
            rules,
            families,
            groups,
            by_value,
            passing,
            agreement,
            verbatim,
            entries,
            credentials: Credentials::default(),
            twins,
            has_needed,
            routes,
        }
    }

    /// The same for a cassette of which it is known who asked.
    pub fn told_apart(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Who asked.
    pub(super) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// What the client of the recording made up.
    pub fn made_up(&self) -> &MadeUp {
        &self.made_up
    }

    /// What the client made up in a request.
    pub fn made_up_in(&self, interaction: usize) -> impl Iterator<Item = (Scope, &str)> {
        self.entries[interaction].made_up().map(|hole| (hole.scope, hole.identifier.as_str()))
    }

    /// Whether two requests ask the same, and are open in the same places.
    pub fn asks_the_same(&self, one: usize, other: usize) -> bool {
        self.entries[one].group == self.entries[other].group
    }

    /// Which values of the cassette are names.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn routes(&self, cassette: &Cassette) -> &Routes {
        self.routes.get_or_init(|| Routes::of(cassette))
    }

    /// How often an answer may be given.
    pub fn repeats(&self) -> Repeats {
        self.rules.repetition()
    }

    /// What a person says about matching.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Reads a live request, whose body is given without its coding.
    pub fn read<'t>(&'t self, request: &'t Request, body: &'t [u8]) -> Asked<'t> {
        let reading = Reading::of(request, body, &self.rules);
        let (mut open, mut groups) = (Vec::new(), Vec::new());
        if let Some(family) = self.families.get(&reading.family()) {
            if !family.open.is_empty() {
                let nodes = reading.nodes.iter().enumerate();
                let nodes = nodes.filter(|(_, node)| family.open.contains(&node.wild));
                open.extend(nodes.map(|(at, _)| at));
            }
            let key = reading.key();
            groups.extend(family.masks.iter().map(|mask| mask.group(&reading, key, &open)));
        }
        let marks = marks::of(&request.headers, &self.names);
        let marks = marks.map(|(place, text)| (place, text.to_owned())).collect();
        let attempt = header::attempt(header::fields(&request.headers));
        let found = Found::default();
        Asked { reading, headers: Some(&request.headers), groups, open, marks, attempt, found }
    }

    /// Recognizes a request as it came, by its method and target, header and body.
    pub fn recognize(
        &self,
        line: (&str, &str),
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<Recognized<'static>> {
        let fields = || headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let header = header::hash(fields(), &self.rules, !body.is_empty());
        let group = match self.verbatim.get(line, fields(), header, body)? {
            Membership::Only(number) => {
                let is_told = self.credentials.tell(std::iter::once(number));
                return (!is_told).then_some(Recognized::Only(number));
            }
            // Which is meant is told by fields that may hold a secret.
            Membership::OneOf(group) if self.agreement.tells(group) => return None,
            Membership::OneOf(group) => group,
        };
        let attempt = header::attempt(fields());
        let (reading, groups) = (Reading::default(), vec![group]);
        if self.groups.get(group).is_some_and(|all| self.credentials.tell(all.iter())) {
            return None;
        }
        let (open, marks, found) = (Vec::new(), Vec::new(), Found::default());
        let asked = Asked { reading, headers: None, groups, open, marks, attempt, found };
        Some(Recognized::OneOf(Box::new(asked)))
    }

    /// The number of interactions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no interactions.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The interactions that a request may belong to, the most particular first.
    pub(super) fn candidates<'a>(
        &'a self,
        asked: &'a Asked<'_>,
    ) -> impl Iterator<Item = Candidates<'a>> + 'a {
        asked.groups.iter().filter_map(|group| self.groups.get(*group))
    }

    /// What stands in the open places of an interaction's request now, if everything else is equal.
    pub(super) fn fill(&self, number: usize, asked: &Asked<'_>) -> Option<Vec<Hole>> {
        let entry = &self.entries[number];
        match &entry.check {
            ExtraCheck::None => Some(Vec::new()),
            ExtraCheck::Places { open, values } => fill(open, values, asked),
            ExtraCheck::All(request) => {
                let body = request.readable();
                let reading = Reading::of(request, &body, &self.rules);
                let openings = self.names.openings(&reading, number);
                let recorded = Recorded::new(&reading, &openings);
                let found = difference::compare(&recorded, &asked.reading);
                let is_same = found.listed.is_empty() && found.filled.len() == openings.len();
                is_same.then(|| found.filled.into_iter().map(|it| it.hole).collect())
            }
        }
    }

    /// The marks in the header of an interaction, with what stands in their places now.
    pub(super) fn marks<'a>(
        &'a self,
        number: usize,
        asked: &'a Asked<'_>,
    ) -> impl Iterator<Item = (&'a Hole, Hole)> + 'a {
        self.entries[number].marks.iter().flat_map(|(place, template)| {
            let live = asked.marks.iter().find(|(at, _)| at == place);
            let live = live.and_then(|(_, text)| template.captured(text, Kind::Text));
            template.holes.iter().zip(live.unwrap_or_default())
        })
    }

    /// Whether any answer has to wait for what it shows.
    pub fn has_needed(&self) -> bool {
        self.has_needed
    }

    /// The interactions of which one has to be asked for before an answer may be given, if any has to.
    pub(super) fn needed(&self, interaction: usize) -> Option<Candidates<'_>> {
        let needed = self.entries[interaction].before.needed?;
        self.groups.get(self.entries[needed].group)
    }

    /// The open places in which some of these candidates say other things than others, and what a request
    /// says there.
    pub(super) fn telling<'a>(
        &'a self,
        list: Candidates<'_>,
        asked: &'a Asked<'_>,
    ) -> impl Iterator<Item = (&'a Hole, &'a str)> {
        let first = list.get(0).map(|number| &self.entries[number]);
        first.into_iter().flat_map(move |first| {
            first.telling.iter().filter_map(move |(place, _)| {
                let hole = first.holes.iter().find(|hole| hole.place == *place)?;
                let mut nodes = asked.open.iter().map(|at| &asked.reading.nodes[*at]);
                let node = nodes.find(|node| node.place == *place)?;
                Some((hole, &*node.text))
            })
        })
    }

    /// Whether what stands in an open place of an interaction was for this one question, and means nothing.
    pub(super) fn is_passing(&self, interaction: usize, hole: &Hole) -> bool {
        self.passing.contains(self.entries[interaction].group, hole)
    }

    /// The candidates that say something in a place.
    pub(super) fn saying(
        &self,
        list: Candidates<'_>,
        place: u64,
        text: &str,
    ) -> Option<Candidates<'_>> {
        self.by_value.get(combine(&[list.key, place, hash_of(text)]))
    }

    /// The candidates that agree with a request in what does not count, if only some do.
    pub(super) fn agreeing(
        &self,
        list: Candidates<'_>,
        asked: &Asked<'_>,
    ) -> Option<Candidates<'_>> {
        self.agreement.narrowed(list.key, asked.headers, &asked.reading)
    }

    /// All lists of candidates that an interaction is on.
    pub(super) fn lists(&self, number: usize) -> impl Iterator<Item = Candidates<'_>> {
        let entry = &self.entries[number];
        let keys = entry.telling.iter();
        let by_value = keys.filter_map(|(place, value)| {
            self.by_value.get(combine(&[entry.group, *place, *value]))
        });
        by_value.chain(self.agreement.lists(number)).chain(self.groups.get(entry.group))
    }

    /// The interactions that ask the same as one, and it.
    pub(super) fn alike(&self, number: usize) -> impl Iterator<Item = usize> {
        self.groups.get(self.entries[number].group).into_iter().flat_map(Candidates::iter)
    }

    pub(super) fn entry(&self, interaction: usize) -> &Entry {
        &self.entries[interaction]
    }
}

impl Asked<'_> {
    /// The same, with the secrets that were found in it.
    pub fn by(mut self, found: Found) -> Self {
        self.found = found;
        self
    }

    /// The secrets that were found in it.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// The same, when it is not needed any more.
    pub fn into_found(self) -> Found {
        self.found
    }

    /// Whether it marks itself in its header.
    pub(super) fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }
}

impl Entry {
    /// That of the request of an interaction, or of one in its place.
    pub(super) fn of(request: &Request, number: usize, names: &Names, rules: &Rules) -> Self {
        read(request, number, names, rules).entry
    }

    /// Equal for interactions that ask the same, and are open in the same places.
    pub(super) fn group(&self) -> u64 {
        self.group
    }

    /// Whether the client made nothing up.
    fn is_whole(&self) -> bool {
        self.holes.is_empty() && self.marks.is_empty() && matches!(self.check, ExtraCheck::None)
    }

    fn made_up(&self) -> impl Iterator<Item = &Hole> {
        self.holes.iter().chain(self.marks.iter().flat_map(|(_, template)| &template.holes))
    }
}

impl Mask {
    /// What is open in a request: where in a set, or in an object with an open name, that as a whole.
    fn of(reading: &Reading<'_>, openings: &[Opening]) -> Self {
        let mut open: Vec<u64> =
            openings.iter().map(|opening| reading.nodes[unit(reading, opening)].wild).collect();
        open.sort_unstable();
        open.dedup();
        Self { open }
    }

    /// The group of a request by what is left of its key.
    fn group(&self, reading: &Reading<'_>, key: u64, open: &[usize]) -> u64 {
        let (mut left, mut end) = (key, 0);
        for at in open {
            let node = &reading.nodes[*at];
            if *at >= end && self.open.binary_search(&node.wild).is_ok() {
                left = left.wrapping_sub(reading.weight(*at));
                end = node.end as usize;
            }
        }
        let mask = self.open.iter().fold(self.open.len() as u64, |all, it| combine(&[all, *it]));
        combine(&[reading.family(), mask, left])
    }
}

/// The node that is left out of the key for an opening.
fn unit(reading: &Reading<'_>, opening: &Opening) -> usize {
    let parent = |at: usize| reading.nodes[at].parent as usize;
    let mut unit = if opening.part == NodePart::Name { parent(opening.node) } else { opening.node };
    let mut at = unit;
    while parent(at) != at {
        at = parent(at);
        if reading.nodes[at].kind == Kind::Set {
            unit = at;
        }
    }
    unit
}

fn read(request: &Request, number: usize, names: &Names, rules: &Rules) -> ReadRequest {
    let body = request.readable();
    let reading = Reading::of(request, &body, rules);
    let openings = names.openings(&reading, number);
    let mask = Mask::of(&reading, &openings);
    let open: Vec<usize> = (0..reading.nodes.len())
        .filter(|at| mask.open.binary_search(&reading.nodes[*at].wild).is_ok())
        .collect();
    let group = mask.group(&reading, reading.key(), &open);
    let check = check(request, &reading, &openings, &mask, &open);
    let holes: Vec<Hole> = match &check {
        ExtraCheck::None => Vec::new(),
        ExtraCheck::Places { values, .. } => {
            let templates = values.iter().filter_map(|(_, expected)| match expected {
                Expected::Open(template) => Some(&template.holes),
                Expected::Equal(_) => None,
            });
            templates.flatten().cloned().collect()
        }
        ExtraCheck::All(_) => {
            let recorded = Recorded::new(&reading, &openings);
            openings.iter().map(|opening| recorded.hole(opening)).collect()
        }
    };
    let telling = openings.iter().filter_map(|opening| telling::of(&reading, opening)).collect();
    let marks = marks::of(&request.headers, names);
    let marks = marks.map(|(place, text)| (place, marks::template(place, text))).collect();
    let attempt = header::attempt(header::fields(&request.headers));
    let header = header::hash(header::fields(&request.headers), rules, !request.body.is_empty());
    let before = PriorWrites::default();
    let entry = Entry { group, check, holes, telling, marks, attempt, before };
    ReadRequest { family: reading.family(), mask, entry, header, order: agreement::order(&reading) }
}

fn check(
    request: &Request,
    reading: &Reading<'_>,
    openings: &[Opening],
    mask: &Mask,
    open: &[usize],
) -> ExtraCheck {
    if openings.is_empty() {
        return ExtraCheck::None;
    }
    let mut places: Vec<u64> = open.iter().map(|at| reading.nodes[*at].place).collect();
    places.sort_unstable();
    let is_repeated = places.windows(2).any(|pair| pair[0] == pair[1]);
    if is_repeated || open.iter().any(|at| reading.nodes[*at].kind.is_container()) {
        return ExtraCheck::All(Box::new(request.clone()));
    }
    let value = |at: &usize| {
        let node = &reading.nodes[*at];
        let from = openings.partition_point(|opening| opening.node < *at);
        let of_node = openings[from..].iter().take_while(|opening| opening.node == *at);
        let of_node: Vec<Opening> = of_node.cloned().collect();
        let expected = match Template::of(node, &of_node, NodePart::Value) {
            Some(template) => Expected::Open(template),
            None => Expected::Equal(node.hash),
        };
        (node.place, expected)
    };
    ExtraCheck::Places { open: mask.open.clone(), values: open.iter().map(value).collect() }
}

fn fill(open: &[u64], values: &[(u64, Expected)], asked: &Asked<'_>) -> Option<Vec<Hole>> {
    let nodes = || asked.open.iter().map(|at| &asked.reading.nodes[*at]);
    let count = nodes().filter(|node| open.binary_search(&node.wild).is_ok()).count();
    if count != values.len() {
        return None;
    }
    let mut holes = Vec::new();
    for (place, expected) in values {
        let node = nodes().find(|node| node.place == *place)?;
        match expected {
            Expected::Equal(hash) if *hash == node.hash => {}
            Expected::Equal(_) => return None,
            Expected::Open(template) => holes.extend(template.captured(&node.text, node.kind)?),
        }
    }
    Some(holes)
}
