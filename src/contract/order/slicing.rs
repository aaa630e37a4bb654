//! Words cut into slices by a key.
//!
//! After Roşu & Chen, "Semantics and algorithms for parametric monitoring" (LMCS 8(1:9), 2012): the
//! events of one value of a key are a word of their own. Which key that is, if any, is found by the
//! description length of what is learned.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::choice::Code;
use super::edges::{Edges, Letter, Place, Witness};
use super::expression::Between;
use super::word::{Token, Word};
use crate::identity::{refers, says_when};

/// How words are cut into slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slicing {
    /// The field whose values tell the slices apart.
    pub key: String,
    /// What may come between two events of one slice.
    pub between: Between,
    /// Slices are of different kinds by which of these tags are in them.
    pub apart: Vec<String>,
}

/// A word that was cut.
pub(super) struct SlicedWord<'w> {
    /// One letter for each slice, at the place of its first event.
    pub outer: Vec<CutLetter<'w>>,
    /// The kind of each slice and its events.
    pub slices: Vec<(String, Vec<&'w Token>)>,
}

pub(super) enum CutLetter<'w> {
    Event(&'w Token),
    /// By the number of the slice.
    Slice(usize),
}

/// The kind of slice (empty for what is around), and two neighbours as they are shown.
pub(crate) type SlicedEdge = (String, String, String);

/// How many words are looked at to find a key. More do not tell more about it.
const LOOKED_AT: usize = 100;

/// How many tags may tell kinds of slices apart.
const MOST_APART: usize = 2;

impl Slicing {
    /// The slices in words, if these are shorter to say with some.
    ///
    /// Looks at the keys that the tokens have and that tell slices of a word apart. A key that is alone
    /// in its slice each time does not shorten anything.
    pub fn find(words: &[Word]) -> Option<Self> {
        let step = words.len().div_ceil(LOOKED_AT).max(1);
        let words: Vec<&Word> = words.iter().step_by(step).collect();
        let tokens = || words.iter().flat_map(|word| &word.tokens);
        let tags: BTreeSet<&str> = tokens().map(|token| token.tag.as_str()).collect();
        let keys: BTreeSet<&str> =
            tokens().flat_map(|token| &token.keys).map(|(key, _)| key.as_str()).collect();
        let keys = &keys | &referred_to(&words);
        let keys = keys.into_iter().filter(|key| !is_time(key, &words));
        let keys = keys.filter(|key| words.iter().any(|word| has_several(key, word)));
        let keys = keys.filter(|key| words.iter().any(|word| ties(key, word)));
        let mut flat = Edges::default();
        words.iter().for_each(|word| flat.add(word.letters()));
        let found = keys.map(|key| {
            let slicing = Self::best(key, &words, &tags);
            (slicing.bits(Code::Alike, &words, tags.len()), slicing)
        });
        let shortest = found.min_by(|one, other| {
            let is_name = |slicing: &Self| is_name(&slicing.key, &words);
            one.0.total_cmp(&other.0).then_with(|| is_name(&one.1).cmp(&is_name(&other.1)))
        })?;
        (shortest.0 < flat.shortest(Code::Alike, tags.len()).1).then_some(shortest.1)
    }

    /// The best way to cut by one key.
    fn best(key: &str, words: &[&Word], tags: &BTreeSet<&str>) -> Self {
        let between = words.iter().map(|word| between(key, word)).max();
        let between = between.unwrap_or(Between::Nothing);
        let mut best = Self { key: key.to_owned(), between, apart: Vec::new() };
        let mut bits = best.bits(Code::Learned, words, tags.len());
        let telling = best.telling(words, tags);
        while best.apart.len() < MOST_APART {
            let others = telling.iter().filter(|tag| !best.apart.iter().any(|apart| apart == *tag));
            let finer = others.map(|tag| {
                let mut finer = best.clone();
                finer.apart.push((*tag).to_owned());
                (finer.bits(Code::Learned, words, tags.len()), finer)
            });
            match finer.min_by(|one, other| one.0.total_cmp(&other.0)) {
                Some((fewer, finer)) if fewer < bits => (bits, best) = (fewer, finer),
                _ => break,
            }
        }
        best
    }

    /// The tags that are in some slices and not in others; the first of those that are in the same.
    fn telling<'w>(&self, words: &[&'w Word], tags: &BTreeSet<&'w str>) -> Vec<&'w str> {
        let slices = words.iter().filter_map(|word| self.cut(word)).flat_map(|cut| cut.slices);
        let mut in_slices: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut all = 0;
        for (number, (_, tokens)) in slices.enumerate() {
            all = number + 1;
            for tag in tokens.into_iter().map(|token| token.tag.as_str()).collect::<BTreeSet<_>>() {
                in_slices.entry(tag).or_default().push(number);
            }
        }
        let mut seen = BTreeSet::new();
        let is_telling = |tag: &&str| {
            let places = in_slices.remove(*tag);
            places.is_some_and(|places| places.len() < all && seen.insert(places))
        };
        tags.iter().copied().filter(is_telling).collect()
    }

    /// What it takes to say the words in these slices.
    fn bits(&self, code: Code, words: &[&Word], tags: usize) -> f64 {
        let (mut outer, mut kinds) = (Edges::default(), BTreeMap::new());
        for word in words {
            if let Some(cut) = self.cut(word) {
                cut.learn(&mut outer, &mut kinds);
            }
        }
        let inner = kinds.values().map(|edges: &Edges| edges.shortest(code, tags).1);
        outer.shortest(code, tags).1 + inner.sum::<f64>()
    }

    /// A word in slices. None if something comes between the events of a slice that may not.
    pub(super) fn cut<'w>(&self, word: &'w Word) -> Option<SlicedWord<'w>> {
        if between(&self.key, word) > self.between {
            return None;
        }
        let mut numbers = BTreeMap::new();
        let (mut outer, mut slices) = (Vec::new(), Vec::<Vec<&'w Token>>::new());
        for token in &word.tokens {
            let Some(value) = token.key(&self.key) else {
                outer.push(CutLetter::Event(token));
                continue;
            };
            let number = *numbers.entry(value).or_insert_with(|| {
                outer.push(CutLetter::Slice(slices.len()));
                slices.push(Vec::new());
                slices.len() - 1
            });
            slices[number].push(token);
        }
        let named = slices.into_iter().map(|tokens| (self.kind(&tokens), tokens));
        Some(SlicedWord { outer, slices: named.collect() })
    }

    /// The neighbours in one word. One that the slices do not fit is taken as a whole.
    pub fn edges(slicing: Option<&Self>, word: &Word) -> BTreeSet<SlicedEdge> {
        let mut found = BTreeSet::new();
        match slicing.and_then(|slicing| slicing.cut(word)) {
            None => pairs("", word.letters(), &mut found),
            Some(cut) => {
                // What comes among any others is behind any by chance.
                if slicing.is_none_or(|it| it.between != Between::Others) {
                    pairs("", cut.letters(), &mut found);
                }
                for (kind, tokens) in &cut.slices {
                    pairs(kind, tokens.iter().map(|token| token.letter()), &mut found);
                }
            }
        }
        found
    }

    /// The words of each kind of slice without the key, and, without a name, those around them with the fields
    /// that nothing in a slice has: by these they may be cut once more.
    pub(super) fn parts(&self, words: &[Word]) -> BTreeMap<String, Vec<Word>> {
        let mut parts: BTreeMap<String, Vec<Word>> = BTreeMap::new();
        let is_key = |name: &str| name == self.key;
        for word in words {
            let Some(cut) = self.cut(word) else { continue };
            let inner = cut.slices.iter().flat_map(|(_, tokens)| tokens);
            let fields = inner.flat_map(|token| token.keys.iter().chain(&token.fields));
            let taken: BTreeSet<&str> = fields.map(|(name, _)| name.as_str()).collect();
            let around = cut.outer.iter().map(|letter| match letter {
                CutLetter::Event(token) => token.without(|name| taken.contains(name)),
                CutLetter::Slice(number) => Token::plain(cut.slices[*number].0.as_str()),
            });
            let witness = word.witness;
            let around = Word { tokens: around.collect(), witness, ..Word::default() };
            parts.entry(String::new()).or_default().push(around);
            for (kind, tokens) in cut.slices {
                let tokens = tokens.into_iter().map(|token| token.without(is_key)).collect();
                parts.entry(kind).or_default().push(Word { tokens, witness, ..Word::default() });
            }
        }
        parts
    }

    /// The name of the kind of a slice, by which it stands among tags.
    fn kind(&self, tokens: &[&Token]) -> String {
        let mut name = self.to_string();
        for tag in &self.apart {
            let with = tokens.iter().any(|token| token.tag == *tag);
            name += if with { " with " } else { " without " };
            name += tag;
        }
        name
    }
}

impl fmt::Display for Slicing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "per {}", self.key)
    }
}

impl SlicedWord<'_> {
    pub fn learn(&self, outer: &mut Edges, kinds: &mut BTreeMap<String, Edges>) {
        outer.add(self.letters());
        for (kind, tokens) in &self.slices {
            let letters = tokens.iter().map(|token| token.letter());
            kinds.entry(kind.clone()).or_default().add(letters);
        }
    }

    /// The outer word, each slice by the name of its kind.
    pub fn letters(&self) -> impl Iterator<Item = Letter<'_>> {
        self.outer.iter().map(|letter| match letter {
            CutLetter::Event(token) => token.letter(),
            CutLetter::Slice(number) => Letter::from(self.slices[*number].0.as_str()),
        })
    }
}

fn pairs<'w>(kind: &str, word: impl Iterator<Item = Letter<'w>>, found: &mut BTreeSet<SlicedEdge>) {
    let mut from = Place::Start;
    for to in word.map(|letter| Place::Tag(letter.tag)).chain([Place::End]) {
        found.insert((kind.to_owned(), from.to_string(), to.to_string()));
        from = to;
    }
}

/// Fields that say by what they do that they are keys: some types of events give a value, and only others
/// come back to it.
fn referred_to<'w>(words: &[&'w Word]) -> BTreeSet<&'w str> {
    let mut given: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    for word in words {
        let mut known = BTreeSet::new();
        for token in &word.tokens {
            for (name, json) in token.fields.iter().filter(|(_, json)| may_be_key(json)) {
                let [first, later] = given.entry(name).or_default();
                let is_first = known.insert((name, json));
                if is_first { first } else { later }.insert(token.tag.as_str());
            }
        }
    }
    let is_key =
        |[first, later]: &[BTreeSet<&str>; 2]| !later.is_empty() && first.is_disjoint(later);
    given.into_iter().filter(|(_, tags)| is_key(tags)).map(|(name, _)| name).collect()
}

/// Whether a key is a name that somebody has chosen, or a number that counts, and no identifier: its values come again
/// in other recordings, or it is not called like one. Of those that cut alike an identifier is told first.
fn is_name(key: &str, words: &[&Word]) -> (bool, bool) {
    let mut seen: BTreeMap<&str, Witness> = BTreeMap::new();
    let mut values = words.iter().flat_map(|word| {
        word.tokens.iter().filter_map(|token| Some((token.key(key)?, word.witness)))
    });
    let comes_again =
        values.any(|(value, witness)| *seen.entry(value).or_insert(witness) != witness);
    (comes_again, !refers(key))
}

/// Whether a key says when something was: what comes in the same second does not belong together for that.
fn is_time(key: &str, words: &[&Word]) -> bool {
    let mut values =
        words.iter().flat_map(|word| word.tokens.iter().filter_map(|token| token.key(key)));
    values.all(|json| says_when(key, json))
}

/// Whether a field may tell slices apart: it says a text or a number.
fn may_be_key(json: &str) -> bool {
    !matches!(json, "true" | "false" | "null" | "\"\"")
}

/// Whether there is more than one slice in a word.
fn has_several(key: &str, word: &Word) -> bool {
    let mut values = word.tokens.iter().filter_map(|token| token.key(key));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// Whether two events of a word are of one slice.
fn ties(key: &str, word: &Word) -> bool {
    let mut seen = BTreeSet::new();
    word.tokens.iter().filter_map(|token| token.key(key)).any(|value| !seen.insert(value))
}

/// What comes between two events of one slice.
fn between(key: &str, word: &Word) -> Between {
    let (mut left, mut over) = (BTreeSet::new(), BTreeSet::new());
    let mut last: Option<&str> = None;
    let mut found = Between::Nothing;
    for value in word.tokens.iter().map(|token| token.key(key)) {
        if value != last {
            left.extend(last);
        }
        match value {
            None => over.append(&mut left),
            Some(value) if over.contains(value) => return Between::Others,
            Some(value) if left.contains(value) && last != Some(value) => found = Between::Slices,
            Some(_) => {}
        }
        last = value;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_below_others_that_some_types_give_and_others_come_back_to_is_a_key() {
        let token = |(tag, uid): (&str, &str)| Token {
            fields: vec![("object.metadata.uid".to_owned(), format!("\"{uid}\""))],
            ..Token::plain(tag)
        };
        let word = |said: &[(&str, &str)]| Word {
            tokens: said.iter().copied().map(token).collect(),
            ..Word::default()
        };
        let said = [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")];
        let (behaves, other) = (word(&said), word(&[("ADDED", "a"), ("ADDED", "a")]));

        assert_eq!(referred_to(&[&behaves]), BTreeSet::from(["object.metadata.uid"]));
        assert_eq!(referred_to(&[&behaves, &other]), BTreeSet::new());
    }

    #[test]
    fn of_keys_that_cut_alike_the_identifier_is_told() {
        let found = |name: &dyn Fn(u32, usize) -> String, keys: [&str; 2]| {
            let token = |number: u32, tag: &str, of: usize| Token {
                fields: vec![
                    (keys[0].to_owned(), name(number, of)),
                    (keys[1].to_owned(), format!("\"{number}-{of}\"")),
                ],
                ..Token::plain(tag)
            };
            let mixed = ["000111", "010101", "011010", "001011", "011100"];
            let word = |number: u32| {
                let mut said = [0, 0];
                let tokens = mixed[number as usize % 5].bytes().map(|of| {
                    let of = usize::from(of - b'0');
                    said[of] += 1;
                    token(number, ["a", "b", "c"][said[of] - 1], of)
                });
                Word { tokens: tokens.collect(), witness: Witness(number), ..Word::default() }
            };
            Slicing::find(&(0..12).map(word).collect::<Vec<_>>()).map(|slicing| slicing.key)
        };
        let place = |_: u32, of: usize| of.to_string();
        let name = |number: u32, of: usize| format!("\"web-{number}x{of}\"");

        assert_eq!(found(&place, ["index", "item"]).as_deref(), Some("item"));
        assert_eq!(found(&name, ["name", "uid"]).as_deref(), Some("uid"));
    }

    #[test]
    fn what_comes_among_any_others_has_neighbours_in_its_slice_alone() {
        let token = |tag: &str, id: Option<&str>| Token {
            keys: id.map(|id| ("id".to_owned(), id.to_owned())).into_iter().collect(),
            ..Token::plain(tag)
        };
        let said = [("a", Some("1")), ("note", None), ("a", Some("2")), ("b", Some("1"))];
        let tokens = said.into_iter().map(|(tag, id)| token(tag, id)).collect();
        let word = Word { tokens, ..Word::default() };
        let slicing = |between| Slicing { key: "id".to_owned(), between, apart: Vec::new() };

        let edges = Slicing::edges(Some(&slicing(Between::Others)), &word);

        let shown: Vec<String> =
            edges.into_iter().map(|(kind, from, to)| format!("{kind}: {from} {to}")).collect();
        assert_eq!(shown, ["per id: a b", "per id: a ⊣", "per id: b ⊣", "per id: ⊢ a"]);
    }
}
