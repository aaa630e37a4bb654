//! Automata from expressions.

use super::{Atom, Automaton, Level, State, TooLarge};
use crate::contract::order::expression::{Expression, Slice};

/// How many states and how many edges an automaton may have. Interleaving multiplies.
const MOST_STATES: usize = 20_000;
const MOST_EDGES: usize = 400_000;

impl Automaton {
    /// The automaton of an expression.
    ///
    /// Built from the parts to the whole, without empty moves, as Glushkov's: state 0 is the start
    /// and no edge leads to it. Interleaving is the product of the parts.
    pub(in crate::contract::order) fn new(expression: &Expression) -> Result<Self, TooLarge> {
        let mut level = Level::default();
        let piece = level.piece(expression)?;
        let Level { atoms, keys } = level;
        let states = piece
            .edges
            .into_iter()
            .zip(piece.accepting)
            .map(|(edges, accepting)| State { edges, accepting });
        Ok(Self { atoms, keys, states: states.collect() })
    }
}

/// A part of an automaton: what leaves each state, and where it may end.
#[derive(Clone)]
struct Piece {
    edges: Vec<Vec<(usize, usize)>>,
    accepting: Vec<bool>,
}

impl Level {
    fn piece(&mut self, expression: &Expression) -> Result<Piece, TooLarge> {
        match expression {
            Expression::Nothing => Ok(Piece::nothing()),
            Expression::Event(pattern) => Ok(Piece::one(self.atom(Atom::Event(pattern.clone())))),
            Expression::Slice(slice) => Ok(Piece::one(self.slice(slice)?)),
            Expression::Sequence(parts) => {
                parts.iter().try_fold(Piece::nothing(), |all, part| all.then(&self.piece(part)?))
            }
            Expression::Choice(parts) => {
                let mut pieces = parts.iter().map(|part| self.piece(part));
                let first = pieces.next().unwrap_or_else(|| Ok(Piece::nothing()))?;
                pieces.try_fold(first, |all, piece| all.or(&piece?))
            }
            Expression::Interleaved(parts) => {
                parts.iter().try_fold(Piece::nothing(), |all, part| all.and(&self.piece(part)?))
            }
            Expression::Repeated(inner, times) => {
                self.piece(inner)?.times(times.min as usize, times.max.map(|max| max as usize))
            }
        }
    }

    fn slice(&mut self, slice: &Slice) -> Result<usize, TooLarge> {
        let key = self.keys.iter().position(|key| *key == slice.key).unwrap_or_else(|| {
            self.keys.push(slice.key.clone());
            self.keys.len() - 1
        });
        let each = Automaton::new(&slice.each)?;
        Ok(self.atom(Atom::Slice { key, between: slice.between, each }))
    }

    /// The number of an atom; the same atom has the same number wherever it stands.
    fn atom(&mut self, atom: Atom) -> usize {
        self.atoms.iter().position(|other| *other == atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        })
    }
}

impl Piece {
    fn nothing() -> Self {
        Self { edges: vec![Vec::new()], accepting: vec![true] }
    }

    fn one(atom: usize) -> Self {
        Self { edges: vec![vec![(atom, 1)], Vec::new()], accepting: vec![false, true] }
    }

    /// This, and then another.
    fn then(mut self, next: &Self) -> Result<Self, TooLarge> {
        let offset = self.append(next);
        for (edges, accepting) in self.edges.iter_mut().zip(&mut self.accepting).take(offset + 1) {
            if *accepting {
                edges.extend(next.edges[0].iter().map(|(atom, to)| (*atom, to + offset)));
                *accepting = next.accepting[0];
            }
        }
        self.within_bounds()
    }

    /// This or another.
    fn or(mut self, other: &Self) -> Result<Self, TooLarge> {
        let offset = self.append(other);
        self.edges[0].extend(other.edges[0].iter().map(|(atom, to)| (*atom, to + offset)));
        self.accepting[0] |= other.accepting[0];
        self.within_bounds()
    }

    /// This and another, in any mixture: the product, as far as it is reached.
    fn and(self, other: &Self) -> Result<Self, TooLarge> {
        let mut pairs = vec![(0, 0)];
        let mut numbers = std::collections::HashMap::from([((0, 0), 0)]);
        let mut product = Self { edges: Vec::new(), accepting: Vec::new() };
        while let Some(&(left, right)) = pairs.get(product.edges.len()) {
            let ours = self.edges[left].iter().map(|(atom, to)| (*atom, (*to, right)));
            let others = other.edges[right].iter().map(|(atom, to)| (*atom, (left, *to)));
            let edges = ours.chain(others).map(|(atom, pair)| {
                let number = *numbers.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() - 1
                });
                (atom, number)
            });
            product.edges.push(edges.collect());
            product.accepting.push(self.accepting[left] && other.accepting[right]);
            if pairs.len() > MOST_STATES {
                return Err(TooLarge);
            }
        }
        product.within_bounds()
    }

    /// This at least `min` times and at most `max` times.
    fn times(self, min: usize, max: Option<usize>) -> Result<Self, TooLarge> {
        if self.edges.len().saturating_mul(max.unwrap_or(min).max(1)) > MOST_STATES {
            return Err(TooLarge);
        }
        let mut all = Self::nothing();
        for _ in 0..min.saturating_sub(usize::from(max.is_none())) {
            all = all.then(&self)?;
        }
        match max {
            None if min == 0 => all.then(&self.again().optional()),
            None => all.then(&self.again()),
            Some(max) => {
                let rest = (min..max)
                    .try_fold(Self::nothing(), |rest, _| Ok(self.clone().then(&rest)?.optional()));
                all.then(&rest?)
            }
        }
    }

    /// This at least once.
    fn again(mut self) -> Self {
        let first = self.edges[0].clone();
        for (edges, accepting) in self.edges.iter_mut().zip(&self.accepting).skip(1) {
            if *accepting {
                edges.extend(&first);
                edges.sort_unstable();
                edges.dedup();
            }
        }
        self
    }

    fn optional(mut self) -> Self {
        self.accepting[0] = true;
        self
    }

    /// Takes over the states of another piece but its start, and says how far they were moved.
    fn append(&mut self, other: &Self) -> usize {
        let offset = self.edges.len() - 1;
        let moved = other.edges[1..]
            .iter()
            .map(|edges| edges.iter().map(|(atom, to)| (*atom, to + offset)).collect());
        self.edges.extend(moved);
        self.accepting.extend_from_slice(&other.accepting[1..]);
        offset
    }

    fn within_bounds(self) -> Result<Self, TooLarge> {
        let edges: usize = self.edges.iter().map(Vec::len).sum();
        let fits = self.edges.len() <= MOST_STATES && edges <= MOST_EDGES;
        if fits { Ok(self) } else { Err(TooLarge) }
    }
}
