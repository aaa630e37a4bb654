//! Texts that come in pieces, and are said as a whole in the end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::rc::Rc;

use foldhash::fast::{FixedState, RandomState};

use super::claim::{Field, Invariant};
use super::holding::{CHANCES, Trials};
use super::learn::{FieldNumbers, Map, PAIRS, Sight, Sights};
use super::tie::Tie;
use super::trace::Comparable;

/// Longer streams do not tell more.
const PIECES: usize = 1 << 12;

/// A path, and what stands there.
type Key = (u32, u64);

/// What a message may belong to.
#[derive(Debug, Default)]
pub(super) struct MessageKeys {
    /// What it identifies.
    ids: Vec<Key>,
    /// Its numbers. One of them may number what messages belong to.
    numbers: Vec<Key>,
    /// Those of both that other messages of the stream say as well.
    shared: Vec<Key>,
}

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
    trials: Trials,
}

/// What one field has said in a trace, in order.
#[derive(Default)]
pub(super) struct Strand<'t> {
    pieces: Vec<TextPiece<'t>>,
    keys: HashSet<Key, RandomState>,
}

struct TextPiece<'t> {
    text: Cow<'t, str>,
    keys: Rc<MessageKeys>,
    /// The fields that have said it as a part of a whole.
    taken: Vec<u32>,
}

impl MessageKeys {
    fn all(&self) -> impl Iterator<Item = &Key> {
        self.ids.iter().chain(&self.numbers)
    }
}

impl TextPiece<'_> {
    /// Whether it says nothing else where one of these stands.
    fn agrees(&self, keys: &[Key]) -> bool {
        let differ =
            |(path, value): &Key| self.keys.all().any(|(own, said)| own == path && said != value);
        !keys.iter().any(differ)
    }
}

impl<'t> Strand<'t> {
    pub(super) fn push(&mut self, text: Cow<'t, str>, keys: &Rc<MessageKeys>) {
        if self.pieces.len() < PIECES {
            self.keys.extend(keys.all());
            self.pieces.push(TextPiece { text, keys: Rc::clone(keys), taken: Vec::new() });
        }
    }

    /// By what pieces belong to what has these keys, if all that it identifies says so. What no piece says
    /// tells nothing, and neither do the `texts` themselves.
    fn ids(&self, keys: &MessageKeys, texts: [u32; 2]) -> Vec<Key> {
        keys.ids.iter().filter(|key| self.may_tell(key, texts)).copied().collect()
    }

    /// The same with one of the numbers, and with all of them: whether a number says what a piece belongs to
    /// is told by the text that comes of it.
    fn numbered(&self, keys: &MessageKeys, texts: [u32; 2]) -> Vec<Vec<Key>> {
        let ids = self.ids(keys, texts);
        let differ = |key: &&Key| self.pieces.iter().any(|piece| !piece.agrees(&[**key]));
        let numbers = keys.numbers.iter().filter(|key| self.may_tell(key, texts)).filter(differ);
        let numbers: Vec<Key> = numbers.copied().collect();
        let one = numbers.iter().map(|number| [ids.as_slice(), &[*number]].concat());
        one.chain((numbers.len() > 1).then(|| [ids.as_slice(), &numbers].concat())).collect()
    }

    fn may_tell(&self, key: &Key, texts: [u32; 2]) -> bool {
        self.keys.contains(key) && !texts.contains(&key.0)
    }

    /// How many pieces a text is made of, if it is all that this field has not said before.
    pub(super) fn joined(
        &mut self,
        field: u32,
        text: &str,
        keys: &MessageKeys,
        texts: [u32; 2],
    ) -> Option<usize> {
        let ids = self.ids(keys, texts);
        self.join(field, text, &ids).or_else(|| {
            self.numbered(keys, texts).iter().find_map(|way| self.join(field, text, way))
        })
    }

    fn join(&mut self, field: u32, text: &str, keys: &[Key]) -> Option<usize> {
        let mut rest = text;
        let mut used = Vec::new();
        let pieces = self.pieces.iter_mut().filter(|piece| !piece.taken.contains(&field));
        for piece in pieces.filter(|piece| piece.agrees(keys)) {
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

    /// Whether a message belongs to something of which no piece was said yet: other messages say it too, and the pieces
    /// say something else there. What only this one says is its own.
    fn opens(&self, keys: &MessageKeys, texts: [u32; 2]) -> bool {
        let is_other = |key: &&Key| !self.keys.contains(*key) && !texts.contains(&key.0);
        let differ = |key: &Key| self.pieces.iter().any(|piece| !piece.agrees(&[*key]));
        keys.shared.iter().filter(is_other).any(differ)
    }

    /// What a text adds to what was said last. None if nothing was, and nothing if it begins otherwise.
    pub(super) fn extended<'x>(
        &self,
        text: &'x str,
        keys: &MessageKeys,
        texts: [u32; 2],
    ) -> Option<Option<&'x str>> {
        let said = |way: &[Key]| self.pieces.iter().rfind(|piece| piece.agrees(way));
        let more = |piece: &TextPiece<'_>| text.strip_prefix(&*piece.text);
        let last = said(&self.ids(keys, texts))?;
        let ways = || self.numbered(keys, texts).into_iter();
        let more = more(last).or_else(|| ways().find_map(|way| more(said(&way)?)));
        (more.is_some() || !self.opens(keys, texts)).then_some(more)
    }
}

impl FieldNumbers {
    /// What each message of a stream may belong to.
    pub(super) fn keys_of_all(&self, events: &[Sights<'_>]) -> Vec<Rc<MessageKeys>> {
        let mut all: Vec<MessageKeys> = Vec::new();
        let mut times: Map<Key, u32> = Map::default();
        for (_, sights) in events {
            let keys = self.keys_of(sights);
            keys.all().for_each(|key| *times.entry(*key).or_default() += 1);
            all.push(keys);
        }
        for keys in &mut all {
            keys.shared = keys.all().filter(|key| times[*key] > 1).copied().collect();
        }
        all.into_iter().map(Rc::new).collect()
    }

    /// What a message may belong to.
    fn keys_of(&self, sights: &[Sight<'_>]) -> MessageKeys {
        let hash = FixedState::default();
        let mut keys = MessageKeys::default();
        for sight in sights.iter().filter(|sight| !self.spelled(sight.path).contains("[]")) {
            match &sight.value {
                Comparable::Key(key) => keys.ids.push((sight.path, hash.hash_one(key))),
                Comparable::Number(number) => keys.numbers.push((sight.path, number.to_bits())),
                Comparable::Text(_) | Comparable::Length(_) => {}
            }
        }
        keys
    }
}

impl Texts {
    pub(super) fn learn(&mut self, names: &mut FieldNumbers, witness: u32, events: &[Sights<'_>]) {
        // Of one message nothing was said before.
        if events.len() < 2 {
            return;
        }
        let mut strands: Map<u32, (u32, u32, Strand<'_>)> = Map::default();
        let all_keys = names.keys_of_all(events);
        for ((tag, sights), keys) in events.iter().zip(&all_keys) {
            for sight in sights {
                let Some(text) = sight.value.said().filter(|text| !text.is_empty()) else {
                    continue;
                };
                let field = names.field(Some(*tag), sight.path);
                let said = self.said.entry(field).or_default();
                let before = *said;
                *said += 1;
                for (of, (other, path, strand)) in &mut strands {
                    let texts = [sight.path, *path];
                    let is_same = *of == field;
                    let tried = if is_same { self.followed.get(of) } else { Some(&before) };
                    let tried = tried.copied().unwrap_or_default();
                    // What failed once never holds.
                    if self.held.get(&(field, *of)).map_or(0, |held| held.times) < tried {
                        continue;
                    }
                    if other != tag {
                        let joined = strand.joined(field, &text, keys, texts);
                        joined.inspect(|count| self.hold((field, *of), witness, *count > 1));
                    } else if is_same && let Some(more) = strand.extended(&text, keys, texts) {
                        *self.followed.entry(field).or_default() += 1;
                        if let Some(more) = more {
                            self.hold((field, field), witness, !more.is_empty());
                        }
                    }
                }
                let strand =
                    strands.entry(field).or_insert_with(|| (*tag, sight.path, Strand::default()));
                strand.2.push(text, keys);
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
        if could_fail {
            held.trials.see(witness, true);
        }
    }

    /// What never failed, and could have in enough recordings.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let mut found: Vec<(Field, Field, Tie)> = Vec::new();
        for ((field, of), held) in &self.held {
            let (tie, times) = if field == of {
                (Tie::Extends, self.followed.get(field))
            } else {
                (Tie::Joins, self.said.get(field))
            };
            if times == Some(&held.times) && held.trials.hold(CHANCES) {
                found.push((names.get(*field).clone(), names.get(*of).clone(), tie));
            }
        }
        found.sort();
        found.dedup_by(|one, other| one.0 == other.0);
        found.into_iter().map(|(field, of, tie)| Invariant::Tied(tie, field, of)).collect()
    }
}
