//! Texts that come in pieces, and are said as a whole in the end.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::{FixedState, RandomState};

use super::claim::{Field, Invariant};
use super::holding::CHANCES;
use super::learn::{Map, Names, PAIRS, Sight, Sights};
use super::tie::Tie;
use super::trace::Value;

/// Longer streams do not tell more.
const PIECES: usize = 1 << 12;

/// What a message belongs to: paths, and what stands there.
type Keys = Vec<(u32, u64)>;

/// How often texts were what others had said before, by the numbers of the fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    /// How often a field said something.
    said: Map<u32, u64>,
    /// How often it said something behind a text of the same thing.
    followed: Map<u32, u64>,
    held: Map<(u32, u32), Held>,
}

#[derive(Debug, Clone, Default)]
struct Held {
    times: u64,
    /// Independent recordings in which it could have failed.
    witnesses: BTreeSet<u32>,
}

/// What one field has said in a trace, in order.
#[derive(Default)]
pub(super) struct Strand<'t> {
    pieces: Vec<Piece<'t>>,
    keys: HashSet<(u32, u64), RandomState>,
}

struct Piece<'t> {
    text: Cow<'t, str>,
    keys: Keys,
    /// The fields that have said it as a part of a whole.
    taken: Vec<u32>,
}

impl<'t> Strand<'t> {
    pub(super) fn push(&mut self, text: Cow<'t, str>, keys: &Keys) {
        if self.pieces.len() < PIECES {
            self.keys.extend(keys);
            self.pieces.push(Piece { text, keys: keys.clone(), taken: Vec::new() });
        }
    }

    /// The pieces of what has these keys. What no piece says tells nothing, and neither do the `texts`
    /// themselves.
    fn of<'s>(
        &'s mut self,
        keys: &Keys,
        texts: [u32; 2],
    ) -> impl Iterator<Item = &'s mut Piece<'t>> + use<'s, 't> {
        let keys = keys.iter().filter(|key| self.keys.contains(key) && !texts.contains(&key.0));
        let keys: Keys = keys.copied().collect();
        let agrees = move |piece: &&mut Piece<'_>| {
            let differ = |(path, value): &(u32, u64)| {
                piece.keys.iter().any(|(other, said)| other == path && said != value)
            };
            !keys.iter().any(differ)
        };
        self.pieces.iter_mut().filter(agrees)
    }

    /// How many pieces a text is made of, if it is all that this field has not said before.
    pub(super) fn joined(
        &mut self,
        field: u32,
        text: &str,
        keys: &Keys,
        texts: [u32; 2],
    ) -> Option<usize> {
        let mut rest = text;
        let mut used = Vec::new();
        for piece in self.of(keys, texts).filter(|piece| !piece.taken.contains(&field)) {
            rest = rest.strip_prefix(&*piece.text)?;
            used.push(piece);
        }
        if !rest.is_empty() || used.is_empty() {
            return None;
        }
        let count = used.len();
        used.into_iter().for_each(|piece| piece.taken.push(field));
        Some(count)
    }

    /// What was said last.
    pub(super) fn last(&mut self, keys: &Keys, texts: [u32; 2]) -> Option<&str> {
        self.of(keys, texts).last().map(|piece| &*piece.text)
    }
}

impl Names {
    /// What a message belongs to.
    pub(super) fn keys_of(&self, sights: &[Sight<'_>]) -> Keys {
        let hash = FixedState::default();
        let key = |sight: &Sight<'_>| {
            let path = self.spelled(sight.path);
            let value = match &sight.value {
                Value::Key(key) => hash.hash_one(key),
                Value::Number(number) if path.ends_with("index") || path.ends_with("Index") => {
                    number.to_bits()
                }
                _ => return None,
            };
            (!path.contains("[]")).then_some((sight.path, value))
        };
        sights.iter().filter_map(key).collect()
    }
}

impl Texts {
    pub(super) fn learn(&mut self, names: &mut Names, witness: u32, events: &[Sights<'_>]) {
        // Of one message nothing was said before.
        if events.len() < 2 {
            return;
        }
        let mut strands: Map<u32, (u32, u32, Strand<'_>)> = Map::default();
        for (tag, sights) in events {
            let keys = names.keys_of(sights);
            for sight in sights {
                let Some(text) = sight.value.said().filter(|text| !text.is_empty()) else {
                    continue;
                };
                let field = names.field(Some(*tag), sight.path);
                *self.said.entry(field).or_default() += 1;
                for (of, (other, path, strand)) in &mut strands {
                    let texts = [sight.path, *path];
                    if other != tag {
                        let joined = strand.joined(field, &text, &keys, texts);
                        joined.inspect(|count| self.hold((field, *of), witness, *count > 1));
                    } else if *of == field
                        && let Some(last) = strand.last(&keys, texts)
                    {
                        *self.followed.entry(field).or_default() += 1;
                        if let Some(more) = text.strip_prefix(last) {
                            self.hold((field, field), witness, !more.is_empty());
                        }
                    }
                }
                let strand =
                    strands.entry(field).or_insert_with(|| (*tag, sight.path, Strand::default()));
                strand.2.push(text, &keys);
            }
        }
        if self.held.len() > PAIRS {
            let said = &self.said;
            self.held
                .retain(|(field, of), held| field == of || said.get(field) == Some(&held.times));
        }
    }

    fn hold(&mut self, pair: (u32, u32), witness: u32, could_fail: bool) {
        let held = self.held.entry(pair).or_default();
        held.times += 1;
        if could_fail && held.witnesses.len() < CHANCES as usize {
            held.witnesses.insert(witness);
        }
    }

    /// What never failed, and could have in enough recordings.
    pub(super) fn holding(&self, names: &Names) -> Vec<Invariant> {
        let mut found: Vec<(Field, Field, Tie)> = Vec::new();
        for ((field, of), held) in &self.held {
            let (tie, times) = match field == of {
                true => (Tie::Extends, self.followed.get(field)),
                false => (Tie::Joins, self.said.get(field)),
            };
            if times == Some(&held.times) && held.witnesses.len() >= CHANCES as usize {
                found.push((names.get(*field).clone(), names.get(*of).clone(), tie));
            }
        }
        found.sort();
        found.dedup_by(|one, other| one.0 == other.0);
        found.into_iter().map(|(field, of, tie)| Invariant::Tied(tie, field, of)).collect()
    }
}
