//! From a request to the interactions that look like it.

use http::HeaderMap;

use super::Skeleton;
use super::bodies::Bodies;
use super::groups::{Candidates, Groups};
use super::hash::{combine, hash_of};
use super::header;
use super::skeleton::Reduced;
use super::value::Values;
use super::verbatim::{Known, Verbatim};
use super::writes::{self, Before};
use crate::cassette::{Cassette, Request};
use crate::config::{Repeats, Rules};
use crate::identity::{Frames, Hole, Origins, Scope};

/// The interactions of a cassette by the skeleton of their request.
#[derive(Debug)]
pub struct Index {
    origins: Origins,
    rules: Rules,
    by_skeleton: Groups,
    /// The interactions of a skeleton in which the client used some value in some hole; for skeletons
    /// that several interactions have.
    by_value: Groups,
    verbatim: Verbatim,
    bodies: Bodies,
    entries: Vec<Entry>,
    has_needed: bool,
}

/// What a request is that stands in the cassette byte for byte, and in which the client made nothing up.
#[derive(Debug)]
pub enum Recognized {
    /// The only interaction that it may be.
    Only(usize),
    /// One of several, which the session's run decides.
    OneOf(Skeleton),
}

/// What is known of the request of an interaction.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) holes: Vec<Hole>,
    pub(super) marks: Vec<Hole>,
    pub(super) attempt: Option<u32>,
    pub(super) before: Before,
}

impl Index {
    /// Reads all requests of a cassette once.
    pub fn of(cassette: &Cassette, rules: Rules) -> Self {
        let mut origins = Origins::of(cassette);
        let reduced = reduced(cassette, &mut origins, &rules);
        origins.settle();
        let requests = || cassette.interactions.iter().map(|interaction| &interaction.request);
        let whole =
            requests().zip(&reduced).filter(|(_, reduced)| reduced.skeleton.holes.is_empty());
        let bodies = Bodies::of(whole.map(|(request, reduced)| (request, reduced.body)));
        let by_skeleton = Groups::of(reduced.iter().map(|reduced| reduced.skeleton.hash).zip(0..));
        let said = (&rules, by_skeleton.has_several());
        let before = writes::of(cassette, &origins, &reduced, said);
        let repeated = rules.repetition() == Repeats::Allowed;
        let only = |skeleton| {
            let only = by_skeleton.get(skeleton).filter(|_| repeated)?.only();
            only.filter(|number| before[*number].needed.is_none())
        };
        let has_needed = before.iter().any(|it| it.needed.is_some());
        let verbatim = Verbatim::of(requests().zip(&reduced), only);
        let by_value = by_value(&reduced, &by_skeleton);
        let entries = reduced.into_iter().zip(before).map(|(reduced, before)| {
            let Skeleton { holes, marks, attempt, .. } = reduced.skeleton;
            Entry { holes, marks, attempt, before }
        });
        let entries = entries.collect();
        Self { origins, rules, by_skeleton, by_value, verbatim, bodies, entries, has_needed }
    }

    /// Who issued which identifier in the cassette.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// How often an answer may be given.
    pub fn repeats(&self) -> Repeats {
        self.rules.repetition()
    }

    /// What a person says about matching.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Reduces a live request to what is compared.
    pub fn skeleton(&self, request: &Request) -> Skeleton {
        let body = self.bodies.get(request);
        Reduced::of(request, &self.origins, &self.rules, body).skeleton
    }

    /// Recognizes a request as it came, by its method and target, header and body.
    pub fn recognize(
        &self,
        line: (&str, &str),
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<Recognized> {
        let fields = || headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let mut values = Values::new(&self.origins, &self.rules);
        let header = values.headers(fields(), !body.is_empty());
        if !values.holes.is_empty() {
            return None;
        }
        let hash = match self.verbatim.get(line, fields(), header, body)? {
            Known::Only(number) => return Some(Recognized::Only(number)),
            Known::OneOf(skeleton) => skeleton,
        };
        let attempt = header::attempt(fields());
        let (holes, marks) = (Vec::new(), Vec::new());
        Some(Recognized::OneOf(Skeleton { hash, holes, marks, attempt }))
    }

    /// Whether the body of a request stands in the cassette byte for byte, and is none in which the
    /// client made something up.
    pub fn has_body_of(&self, request: &Request) -> bool {
        self.bodies.get(request).is_some()
    }

    /// The client-minted identifiers in the request of an interaction.
    pub fn holes(&self, interaction: usize) -> &[Hole] {
        &self.entries[interaction].holes
    }

    /// The number of interactions.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no interactions.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The interactions whose request has this skeleton.
    pub(super) fn candidates(&self, skeleton: &Skeleton) -> Option<Candidates<'_>> {
        self.by_skeleton.get(skeleton.hash)
    }

    /// Whether any answer has to wait for what it shows.
    pub fn has_needed(&self) -> bool {
        self.has_needed
    }

    /// The interactions of which one has to be asked for before an answer may be given, if any has to.
    pub(super) fn needed(&self, interaction: usize) -> Option<Candidates<'_>> {
        let needed = self.entries[interaction].before.needed?;
        self.by_skeleton.get(needed.skeleton)
    }

    /// Those of them in which the client used `value` in the hole number `at`.
    pub(super) fn with_value(
        &self,
        skeleton: &Skeleton,
        at: usize,
        value: &str,
    ) -> Option<Candidates<'_>> {
        self.by_value.get(value_key(skeleton, at, value))
    }

    /// All lists of candidates that an interaction is on, beside that of its skeleton.
    pub(super) fn lists<'a>(
        &'a self,
        number: usize,
        skeleton: &'a Skeleton,
    ) -> impl Iterator<Item = Candidates<'a>> {
        let telling = self.holes(number).iter().enumerate().filter(|(_, hole)| is_telling(hole));
        telling.filter_map(|(at, hole)| self.with_value(skeleton, at, &hole.identifier))
    }

    pub(super) fn entry(&self, interaction: usize) -> &Entry {
        &self.entries[interaction]
    }
}

/// The interactions by what the client used in the holes of skeletons that several of them have.
fn by_value(all: &[Reduced], by_skeleton: &Groups) -> Groups {
    let skeletons = all.iter().map(|reduced| &reduced.skeleton).enumerate();
    let several = skeletons.filter(|(_, skeleton)| {
        by_skeleton.get(skeleton.hash).is_some_and(|found| found.len() > 1)
    });
    Groups::of(several.flat_map(|(number, skeleton)| {
        let keys = skeleton.holes.iter().enumerate().filter(|(_, hole)| is_telling(hole));
        keys.map(move |(at, hole)| (value_key(skeleton, at, &hole.identifier), number))
    }))
}

/// Whether the value in a hole tells apart requests that look the same. The ids of JSON-RPC do not:
/// a client that counts from another number on would be taken for one that asks in another order.
pub(super) fn is_telling(hole: &Hole) -> bool {
    hole.scope.is_lasting() || hole.scope == Scope::Moment
}

/// All requests reduced. Where some have holes that are told by their place only, it is found out who
/// issued such values, which takes a closer look at all answers.
fn reduced(cassette: &Cassette, origins: &mut Origins, rules: &Rules) -> Vec<Reduced> {
    let requests = || cassette.interactions.iter().map(|interaction| &interaction.request);
    let mut all: Vec<Reduced> =
        requests().map(|request| Reduced::of(request, origins, rules, None)).collect();
    let mut frames = Frames::default();
    all.iter_mut().flat_map(|reduced| reduced.stood.drain(..)).for_each(|it| frames.learn(&it));
    if !frames.is_empty() {
        origins.look_for(cassette, frames);
        all = requests().map(|request| Reduced::of(request, origins, rules, None)).collect();
    }
    let placed = |skeleton: &Skeleton| {
        let mut holes = skeleton.holes.iter().chain(&skeleton.marks);
        holes.any(|hole| hole.scope != Scope::Anywhere)
    };
    if !all.iter().any(|reduced| placed(&reduced.skeleton)) {
        return all;
    }
    let holes = all.iter().flat_map(|reduced| &reduced.skeleton.holes);
    let words = holes.filter(|hole| !rules.is_empty() && hole.scope == Scope::Word);
    let said = words.map(|hole| hole.identifier.clone()).collect();
    origins.look_closer(cassette, said, all.iter().map(|reduced| by_place(&reduced.skeleton)));
    for (reduced, request) in all.iter_mut().zip(requests()) {
        if placed(&reduced.skeleton) {
            *reduced = Reduced::of(request, origins, rules, None);
        }
    }
    all
}

/// The values in a request that its client made up as far as their places tell.
fn by_place(skeleton: &Skeleton) -> Vec<&str> {
    let holes = skeleton.holes.iter().chain(&skeleton.marks);
    let by_place = holes.filter(|hole| matches!(hole.scope, Scope::Word | Scope::Number(_)));
    by_place.map(|hole| hole.identifier.as_str()).collect()
}

fn value_key(skeleton: &Skeleton, at: usize, value: &str) -> u64 {
    combine(&[skeleton.hash, at as u64, hash_of(value)])
}
