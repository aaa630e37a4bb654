//! A run over a trace, event by event.

use std::collections::HashMap;

use super::automaton::{Atom, Automaton};
use super::expression::{Between, Pattern};
use super::word::Event;

/// A run of an order over one trace.
///
/// # Rationale
///
/// Which of several slices an order means (`(per id (a b) | per id (a c))*`) can be open until the
/// slice is over. Each slice keeps all that it can still be, and if something falls away, the states
/// behind the place of the slice are found anew. With one kind of slice, which is usual, nothing ever
/// has to be.
#[derive(Debug, Clone)]
pub struct Run<'o> {
    automaton: &'o Automaton,
    /// The word at this level, and the states before each letter.
    letters: Vec<Letter>,
    before: Vec<Vec<usize>>,
    now: Vec<usize>,
    slices: Vec<Slice<'o>>,
    known: HashMap<(usize, String), usize>,
    /// The slice that the event before belonged to.
    last: Option<usize>,
    /// The slices by its key since anything else came.
    together: Vec<usize>,
}

#[derive(Debug, Clone)]
enum Letter {
    /// The atoms that read it.
    Event(Vec<usize>),
    /// The number of the slice.
    Slice(usize),
}

/// One slice that has begun, and what it can still be.
#[derive(Debug, Clone)]
struct Slice<'o> {
    key: usize,
    letter: usize,
    /// Whether something came since that has not its key.
    is_over: bool,
    ways: Vec<SliceRun<'o>>,
}

#[derive(Debug, Clone)]
struct SliceRun<'o> {
    atom: usize,
    between: Between,
    run: Run<'o>,
}

/// What could come next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Next {
    /// The end.
    End,
    /// An event.
    Event(Pattern),
}

impl<'o> Run<'o> {
    pub(in crate::contract::order) fn new(automaton: &'o Automaton) -> Self {
        Self {
            automaton,
            letters: Vec::new(),
            before: Vec::new(),
            now: vec![0],
            slices: Vec::new(),
            known: HashMap::new(),
            last: None,
            together: Vec::new(),
        }
    }

    /// Takes the next event. Says whether the order can still be kept.
    pub fn push(&mut self, event: &Event<'_>) -> bool {
        if self.automaton.anywhere.contains(event.tag) {
            return self.is_possible();
        }
        let slice = self.automaton.slice_of(event).map(|(key, value)| (key, value.into_owned()));
        let known = slice.as_ref().and_then(|slice| self.known.get(slice)).copied();
        if self.last.is_some() && self.last != known {
            self.leave(slice.as_ref().map(|(key, _)| *key));
        }
        match (slice, known) {
            (None, _) => self.read(Letter::Event(self.automaton.reading(event))),
            (Some(_), Some(number)) => self.goes_on(number, event),
            (Some(slice), None) => self.begin(slice, event),
        }
        !self.now.is_empty()
    }

    /// Whether the trace may end here.
    pub fn is_complete(&self) -> bool {
        let complete = |way: &SliceRun<'_>| way.run.is_complete();
        let open = |slice: &Slice<'_>| !slice.ways.iter().all(complete);
        let Some(from) = self.slices.iter().find(|slice| open(slice)).map(|slice| slice.letter)
        else {
            return self.is_accepting(&self.now);
        };
        let states = (from..self.letters.len())
            .fold(self.before[from].clone(), |states, letter| {
                self.step(&states, &self.letters[letter], complete)
            });
        self.is_accepting(&states)
    }

    /// Whether the order can still be kept.
    pub fn is_possible(&self) -> bool {
        !self.now.is_empty()
    }

    /// What could come next, each of it once. In the midst of slices that come in a row, what could
    /// follow them is not in it as long as one of them must go on.
    pub fn expected(&self) -> Vec<Next> {
        let mut next: Vec<Next> = self.is_complete().then_some(Next::End).into_iter().collect();
        for slice in &self.slices {
            for way in &slice.ways {
                let inner = way.run.expected().into_iter().filter(|next| *next != Next::End);
                let here = match way.between {
                    Between::Nothing => self.is_last(slice),
                    Between::Slices => !slice.is_over,
                    Between::Others => true,
                };
                next.extend(inner.filter(|_| here));
            }
        }
        let inside = self.last.is_some_and(|last| {
            let ways = &self.slices[last].ways;
            !ways.iter().any(|way| way.between != Between::Nothing || way.run.is_complete())
        });
        if !inside {
            let edges = self.now.iter().flat_map(|state| &self.automaton.states[*state].edges);
            edges.for_each(|(atom, _)| self.automaton.atoms[*atom].first(&mut next));
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    fn is_last(&self, slice: &Slice<'_>) -> bool {
        self.last.is_some_and(|last| self.slices[last].letter == slice.letter)
    }

    fn begin(&mut self, slice: (usize, String), event: &Event<'_>) {
        let ways = self.automaton.slices_by(slice.0).filter_map(|(atom, between, each)| {
            let mut run = Run::new(each);
            run.push(event).then_some(SliceRun { atom, between, run })
        });
        let number = self.slices.len();
        let (letter, ways) = (self.letters.len(), ways.collect());
        self.slices.push(Slice { key: slice.0, letter, is_over: false, ways });
        self.known.insert(slice, number);
        self.together.push(number);
        self.last = Some(number);
        self.read(Letter::Slice(number));
    }

    fn goes_on(&mut self, number: usize, event: &Event<'_>) {
        let between = match (self.last == Some(number), self.slices[number].is_over) {
            (true, _) => Between::Nothing,
            (false, false) => Between::Slices,
            (false, true) => Between::Others,
        };
        self.retain(number, |way| way.between >= between && way.run.push(event));
        self.last = Some(number);
    }

    /// The slice of the event before is left: one that comes in a row has to be over, and if what comes has
    /// not its key, so have those that let only others by this key between.
    fn leave(&mut self, next: Option<usize>) {
        let Some(last) = self.last.take() else { return };
        if Some(self.slices[last].key) != next {
            for number in std::mem::take(&mut self.together) {
                self.slices[number].is_over = true;
                self.retain(number, |way| way.between != Between::Slices || way.run.is_complete());
            }
        }
        self.retain(last, |way| way.between != Between::Nothing || way.run.is_complete());
    }

    /// Keeps some of what a slice can be, and finds the states behind it anew if others fall away.
    fn retain(&mut self, number: usize, keep: impl FnMut(&mut SliceRun<'o>) -> bool) {
        let slice = &mut self.slices[number];
        let (ways, letter) = (slice.ways.len(), slice.letter);
        slice.ways.retain_mut(keep);
        if slice.ways.len() < ways {
            let letters = self.letters.split_off(letter);
            self.now = self.before[letter].clone();
            self.before.truncate(letter);
            letters.into_iter().for_each(|letter| self.read(letter));
        }
    }

    fn read(&mut self, letter: Letter) {
        let after = self.step(&self.now, &letter, |_| true);
        self.before.push(std::mem::replace(&mut self.now, after));
        self.letters.push(letter);
    }

    fn step(
        &self,
        from: &[usize],
        letter: &Letter,
        can_be: impl Fn(&SliceRun<'_>) -> bool,
    ) -> Vec<usize> {
        match letter {
            Letter::Event(atoms) => self.automaton.step(from, |atom| atoms.contains(&atom)),
            Letter::Slice(number) => {
                let ways = self.slices[*number].ways.iter();
                let atoms: Vec<usize> =
                    ways.filter(|way| can_be(way)).map(|way| way.atom).collect();
                self.automaton.step(from, |atom| atoms.contains(&atom))
            }
        }
    }

    fn is_accepting(&self, states: &[usize]) -> bool {
        states.iter().any(|state| self.automaton.states[*state].accepting)
    }
}

impl Atom {
    /// The events that it can begin with.
    pub fn first(&self, next: &mut Vec<Next>) {
        match self {
            Self::Event(pattern) => next.push(Next::Event(pattern.clone())),
            Self::Slice { each, .. } => {
                each.states[0].edges.iter().for_each(|(atom, _)| each.atoms[*atom].first(next));
            }
        }
    }
}
