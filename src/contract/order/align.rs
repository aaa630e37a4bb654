//! The cheapest way to make a trace one that is in order.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::automaton::{Atom, Automaton};
use super::explain::{Deviation, Fault, Step};
use super::expression::{Between, Pattern};
use super::run::Next;
use super::word::{Event, Extent, Word};

/// What a deviation costs, how much is missing that did not come before either, and how early it is: of two ways with
/// the same cost, the later deviation is the better explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Cost(u64, u64, u64);

/// A slice's key, its value as JSON text, and where it ends in the trace.
pub(super) type Inside<'s> = Option<(&'s str, &'s str, usize)>;

const MISSING: u64 = 2;
const UNEXPECTED: u64 = 2;
/// More than one of the others, less than both.
const WRONG: u64 = 3;
/// The right tag with fields that a guard refuses.
const REFUSED: u64 = 1;

/// How many ways on from a place in a trace and a state are looked at.
const MOST_LOOKED_AT: usize = 1 << 21;

pub(super) struct Aligner<'a> {
    trace: &'a [Event<'a>],
    extent: Extent,
    /// What came before in the place of the trace, if that is known.
    before: Option<&'a Word>,
    left: Cell<usize>,
}

#[derive(Clone, Default)]
pub(super) struct Aligned {
    cost: Cost,
    pub steps: Vec<Step>,
}

/// A place in the word and a state.
type Point = (usize, usize);

/// What the points that were reached cost, and how each was.
type Reached = HashMap<Point, (Cost, Option<(Point, Move)>)>;

#[derive(Clone, Copy)]
enum Move {
    /// The token is left out.
    Skip,
    /// The atom is put in.
    PutIn(usize),
    /// The atom reads the token.
    Read(usize),
}

/// The alignment of one level.
struct Level<'l, 'a> {
    aligner: &'l Aligner<'a>,
    automaton: &'l Automaton,
    tokens: Vec<TraceToken>,
    inside: Inside<'l>,
    /// What it costs to read a token by an atom, with the steps for slices.
    read: HashMap<(usize, usize), Option<Aligned>>,
}

impl<'a> Aligner<'a> {
    pub fn new(trace: &'a [Event<'a>], extent: Extent, before: Option<&'a Word>) -> Self {
        let left = Cell::new(MOST_LOOKED_AT.max(trace.len() * 128));
        Self { trace, extent, before, left }
    }

    /// The cheapest way for some of the events. None if that takes too long to find.
    pub fn align(
        &self,
        automaton: &Automaton,
        word: &[usize],
        inside: Inside<'_>,
    ) -> Option<Aligned> {
        let tokens = tokens(automaton, self.trace, word);
        let mut level = Level { aligner: self, automaton, tokens, inside, read: HashMap::new() };
        let (cost, path) = level.search()?;
        Some(Aligned { cost, steps: level.steps(&path) })
    }

    /// What it costs that something is missing there.
    fn missing(&self, atom: &Atom, at: usize) -> Cost {
        let came = |pattern: &Pattern| {
            let tag = pattern.tag.as_deref();
            self.before.zip(tag).is_none_or(|(before, tag)| before.has(tag))
        };
        let is_new = matches!(atom, Atom::Event(pattern) if !came(pattern));
        self.cost(MISSING * atom.least(), at) + Cost(0, u64::from(is_new), 0)
    }

    /// What a deviation costs where it stands.
    fn cost(&self, cost: u64, at: usize) -> Cost {
        Cost(cost, 0, 2 * (self.trace.len() + 1 - at) as u64)
    }

    fn skipped(&self, events: &[usize]) -> Cost {
        // Of the same cost, something missing explains more than something left over.
        let one = |event: &usize| self.cost(UNEXPECTED, *event) + Cost(0, 0, 1);
        events.iter().map(one).fold(Cost::default(), std::ops::Add::add)
    }
}

impl Level<'_, '_> {
    /// Dijkstra's algorithm from the start to the end of the word in an accepting state.
    fn search(&mut self) -> Option<(Cost, Vec<(Point, Move)>)> {
        let mut known = Reached::new();
        let mut open = BinaryHeap::from([Reverse((Cost::default(), Reverse(0), 0))]);
        known.insert((0, 0), (Cost::default(), None));
        while let Some(Reverse((cost, Reverse(at), state))) = open.pop() {
            let point = (at, state);
            if known[&point].0 < cost {
                continue;
            }
            let may_end = self.automaton.states[state].accepting
                // What did not come yet may come.
                || self.aligner.extent == Extent::Begun;
            if at == self.tokens.len() && may_end {
                return Some((cost, path(&known, point)));
            }
            let moves = self.moves(point)?;
            self.aligner.left.set(self.aligner.left.get().checked_sub(moves.len() + 1)?);
            for (next, step, price) in moves {
                let cost = cost + price;
                if known.get(&next).is_none_or(|known| cost < known.0) {
                    known.insert(next, (cost, Some((point, step))));
                    open.push(Reverse((cost, Reverse(next.0), next.1)));
                }
            }
        }
        None
    }

    /// What can be done at a point, where it leads and what it costs.
    fn moves(&mut self, (at, state): Point) -> Option<Vec<(Point, Move, Cost)>> {
        let mut moves = Vec::new();
        if let Some(token) = self.tokens.get(at) {
            moves.push(((at + 1, state), Move::Skip, self.aligner.skipped(&token.all())));
        }
        let automaton = self.automaton;
        for (atom, to) in automaton.states[state].edges.iter().copied() {
            let missing = self.aligner.missing(&automaton.atoms[atom], self.place(at));
            moves.push(((at, to), Move::PutIn(atom), missing));
            if at == self.tokens.len() {
                continue;
            }
            if let Some(read) = self.read(at, atom)? {
                moves.push(((at + 1, to), Move::Read(atom), read));
            }
        }
        Some(moves)
    }

    /// The place in the trace at which a token begins, or at which the word ends.
    fn place(&self, at: usize) -> usize {
        let end = self.inside.map_or(self.aligner.trace.len(), |(_, _, end)| end);
        self.tokens.get(at).map_or(end, |token| token.events[0])
    }

    /// What it costs to let an atom read a token, if it can at all. None at first if that takes too
    /// long to find.
    fn read(&mut self, at: usize, atom: usize) -> Option<Option<Cost>> {
        if !self.read.contains_key(&(at, atom)) {
            let aligned = self.aligned(at, atom)?;
            self.read.insert((at, atom), aligned);
        }
        Some(self.read[&(at, atom)].as_ref().map(|aligned| aligned.cost))
    }

    fn aligned(&self, at: usize, atom: usize) -> Option<Option<Aligned>> {
        let token = &self.tokens[at];
        match (&self.automaton.atoms[atom], &token.slice) {
            (Atom::Event(pattern), None) => {
                let event = &self.aligner.trace[token.events[0]];
                let cost = match (pattern.matches(event), pattern.has_tag_of(event)) {
                    (true, _) => Cost::default(),
                    (false, true) if !self.knows(event) => {
                        self.aligner.cost(REFUSED, token.events[0])
                    }
                    (false, _) => self.aligner.cost(WRONG, token.events[0]),
                };
                Some(Some(Aligned { cost, steps: Vec::new() }))
            }
            (Atom::Slice { key, between, each }, Some((of, value))) if key == of => {
                self.slice(token, (&self.automaton.keys[*key], value), *between, each).map(Some)
            }
            _ => Some(None),
        }
    }

    /// Whether an event is one that the order knows in some place: it is another one then, and not one that says
    /// something wrong.
    fn knows(&self, event: &Event<'_>) -> bool {
        let mut atoms = self.automaton.atoms.iter();
        atoms.any(|atom| matches!(atom, Atom::Event(pattern) if pattern.matches(event)))
    }

    fn slice(
        &self,
        token: &TraceToken,
        (key, value): (&str, &str),
        between: Between,
        each: &Automaton,
    ) -> Option<Aligned> {
        let aligner = self.aligner;
        let (inside, later, end) = match between {
            Between::Nothing => {
                let end = token.events[token.events.len() - 1] + 1;
                (token.events.clone(), [token.among.as_slice(), &token.later].concat(), end)
            }
            Between::Slices => (
                token.events.iter().chain(&token.among).copied().collect(),
                token.later.clone(),
                token.end,
            ),
            Between::Others => (token.all(), Vec::new(), aligner.trace.len()),
        };
        let last = inside[inside.len() - 1];
        let mut aligned = aligner.align(each, &inside, Some((key, value, end)))?;
        aligned.cost = aligned.cost + aligner.skipped(&later);
        aligned.steps.extend(later.iter().map(|event| {
            let slice = Some((key.to_owned(), value.to_owned()));
            let (fault, after, expected) = (Fault::Apart, Some(last), Vec::new());
            Step::Deviation(Deviation { fault, at: *event, after, slice, expected })
        }));
        Some(aligned)
    }

    /// The steps of a way that was found.
    fn steps(&mut self, path: &[(Point, Move)]) -> Vec<Step> {
        let (mut steps, mut read_before) = (Vec::new(), Vec::<usize>::new());
        for ((at, state), step) in path.iter().copied() {
            let deviation = |fault, place, first| {
                let after = read_before.iter().filter(|event| **event < place).max();
                Step::Deviation(self.deviation(fault, place, after.copied(), state, first))
            };
            match step {
                Move::Skip => {
                    let events = self.tokens[at].all();
                    steps.extend(
                        events.iter().map(|event| deviation(Fault::Unexpected, *event, None)),
                    );
                }
                Move::PutIn(atom) => {
                    steps.push(deviation(Fault::Missing, self.place(at), Some(atom)));
                }
                Move::Read(atom) => {
                    let place = self.place(at);
                    let read = self.read.get(&(at, atom)).cloned().flatten().unwrap_or_default();
                    if self.tokens[at].slice.is_some() {
                        steps.extend(read.steps);
                    } else if read.cost == Cost::default() {
                        steps.push(Step::Matched(place));
                    } else {
                        steps.push(deviation(Fault::Wrong, place, Some(atom)));
                    }
                    read_before.extend(self.tokens[at].all());
                }
            }
        }
        steps
    }

    fn deviation(
        &self,
        fault: Fault,
        at: usize,
        after: Option<usize>,
        state: usize,
        first: Option<usize>,
    ) -> Deviation {
        let state = &self.automaton.states[state];
        let mut next = Vec::new();
        state.edges.iter().for_each(|(atom, _)| self.automaton.atoms[*atom].first(&mut next));
        if state.accepting {
            next.push(Next::End);
        }
        next.sort_unstable();
        next.dedup();
        let mut likely = Vec::new();
        first.iter().for_each(|atom| self.automaton.atoms[*atom].first(&mut likely));
        next.sort_by_key(|next| !likely.contains(next));
        let slice = self.inside.map(|(key, value, _)| (key.to_owned(), value.to_owned()));
        Deviation { fault, at, after, slice, expected: next }
    }
}

fn path(known: &Reached, end: Point) -> Vec<(Point, Move)> {
    let before = |point: Point| known.get(&point).and_then(|(_, came)| *came);
    let mut path: Vec<_> =
        std::iter::successors(before(end), |(point, _)| before(*point)).collect();
    path.reverse();
    path
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1, self.2 + other.2)
    }
}

/// An event, or all events of a slice.
pub(super) struct TraceToken {
    /// The events, or those of a slice before anything else came.
    pub events: Vec<usize>,
    /// The events of a slice behind others by its key, before anything else came.
    pub among: Vec<usize>,
    /// The later events of a slice.
    pub later: Vec<usize>,
    /// The place of the first event that has not the key of the slice.
    pub end: usize,
    /// The number of the slice's key, and the value.
    pub slice: Option<(usize, String)>,
}

impl TraceToken {
    fn is_in_a_row(&self) -> bool {
        self.among.is_empty() && self.later.is_empty()
    }

    /// All of its events.
    pub fn all(&self) -> Vec<usize> {
        [self.events.as_slice(), &self.among, &self.later].concat()
    }
}

/// What an automaton has to read, for some events of a trace.
pub(super) fn tokens(
    automaton: &Automaton,
    trace: &[Event<'_>],
    word: &[usize],
) -> Vec<TraceToken> {
    let mut tokens: Vec<TraceToken> = Vec::new();
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    let mut last = None;
    // The first token of those by one key that nothing else parts.
    let mut first = 0;
    let passed_over = |event: &usize| automaton.anywhere.contains(trace[*event].tag);
    for event in word.iter().copied().filter(|event| !passed_over(event)) {
        let slice = automaton.slice_of(&trace[event]).map(|(key, value)| (key, value.into_owned()));
        let number = slice.as_ref().and_then(|slice| known.get(slice)).copied();
        let key = |number: usize| tokens[number].slice.as_ref().map(|(key, _)| *key);
        if last.is_some_and(|last| key(last) != slice.as_ref().map(|(key, _)| *key)) {
            tokens[first..].iter_mut().for_each(|token| token.end = token.end.min(event));
            first = tokens.len();
        }
        match number {
            Some(number) if last == Some(number) && tokens[number].is_in_a_row() => {
                tokens[number].events.push(event);
            }
            Some(number) if event < tokens[number].end => tokens[number].among.push(event),
            Some(number) => tokens[number].later.push(event),
            None => {
                if let Some(slice) = &slice {
                    known.insert(slice.clone(), tokens.len());
                }
                let (among, later) = (Vec::new(), Vec::new());
                tokens.push(TraceToken {
                    events: vec![event],
                    among,
                    later,
                    end: trace.len(),
                    slice,
                });
            }
        }
        last = Some(number.unwrap_or(tokens.len() - 1));
    }
    tokens
}
