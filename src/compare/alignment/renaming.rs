//! What names are called.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::View;
use super::value::{Said, Sort, Word, apart, between, times, words};
use crate::cassette::splice::{Edit, splice};
use crate::identity::{Words, is_certain, is_epoch, is_sealed};

/// What the names of a new recording are in an old one. One stands for one: no two are called the
/// same.
#[derive(Debug, Default)]
pub struct Renaming {
    olds: HashMap<String, String>,
    news: HashMap<String, String>,
    /// The names of both, to be found in texts.
    old_words: Words,
    new_words: Words,
    /// Times and states of both recordings that a server gave and its client came back with.
    returned: HashSet<String>,
}

impl Renaming {
    /// What a name of the old recording is in the new one.
    pub fn new_of(&self, old: &str) -> Option<&str> {
        self.news.get(old).map(String::as_str)
    }

    /// The places of names in a text of the old recording, if they are known in both.
    pub fn old_names<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.old_words.find(text)
    }

    /// A text of the new recording, such as a path, a header field, or JSON as it is spelled, with the
    /// old names.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let edits = self.edits(text);
        if edits.is_empty() {
            return Cow::Borrowed(text);
        }
        let renamed = String::from_utf8(splice(text.as_bytes(), &edits));
        renamed.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// The same of bytes, of which some may be no text.
    pub(crate) fn bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        // Names are ASCII, so what is not can be masked for finding them.
        let ascii = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { ' ' };
        let edits = match std::str::from_utf8(bytes) {
            Ok(text) => self.edits(text),
            Err(_) => self.edits(&bytes.iter().map(ascii).collect::<String>()),
        };
        if edits.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(splice(bytes, &edits)) }
    }

    /// The names and times in a text of the old recording and in one of the new one.
    pub(crate) fn words(&self, old: &str, new: &str) -> [Vec<Word>; 2] {
        [(old, &self.old_words), (new, &self.new_words)]
            .map(|(text, known)| apart(names(known, text).chain(times(text)).collect()))
    }

    /// Whether a name of the new recording is that one in the old one.
    pub(crate) fn is_called(&self, new: &str, old: &str) -> bool {
        self.olds.get(new).is_some_and(|called| called == old)
    }

    /// Whether a time is exchanged on its own, where it stands: no client came back with it.
    pub(crate) fn is_free(&self, time: &str) -> bool {
        !self.returned.contains(time)
    }

    fn edits(&self, text: &str) -> Vec<Edit> {
        let edit = |range: Range<usize>| {
            let (new, old) = self.olds.get_key_value(&text[range.clone()])?;
            (old != new).then(|| Edit::new(range, old.clone()))
        };
        self.new_words.find(text).filter_map(edit).collect()
    }
}

fn names<'t>(known: &'t Words, text: &'t str) -> impl Iterator<Item = Word> + 't {
    known.find(text).map(|range| Word { range, sort: Sort::Name })
}

/// The side of which values are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lens<'r> {
    Old(&'r Renaming),
    /// Under their old names.
    New(&'r Renaming),
}

impl Lens<'_> {
    /// A text with its times masked, and names that are not known in both. `looks` are the words that
    /// look like some.
    pub(super) fn masked<'t>(self, text: &'t str, looks: &[Word]) -> Cow<'t, str> {
        let (Self::Old(renaming) | Self::New(renaming)) = self;
        let known = match self {
            Self::Old(_) => &renaming.old_words,
            Self::New(_) => &renaming.new_words,
        };
        let known: Vec<Word> = names(known, text).collect();
        if known.is_empty() && looks.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut rest) = (String::with_capacity(text.len()), 0);
        for Word { range, sort } in apart([&known, looks].concat()) {
            masked.push_str(&text[rest..range.start]);
            rest = range.end;
            let name = &text[range];
            let old = match self {
                Self::Old(renaming) => renaming.news.contains_key(name).then_some(name),
                Self::New(renaming) => renaming.olds.get(name).map(String::as_str),
            };
            // No text has these marks as they are.
            masked.push_str(match (old, sort) {
                (Some(old), _) => old,
                (None, Sort::Moment) => "\u{1}",
                (None, Sort::Name) => "\u{2}",
            });
        }
        masked.push_str(&text[rest..]);
        Cow::Owned(masked)
    }
}

/// The names of two recordings.
///
/// # Rationale
///
/// Random letters and digits are not always a name: what a tool has computed, a digest, a random
/// number are what a reviewer wants to see changed. So a value counts only if it looks like nothing
/// else (a UUID, a word behind a prefix such as `call_`), stands in a place for names at least once (a
/// path, a header field or a member that is named so), or is a time or a sealed state with which the
/// client came back.
#[derive(Debug)]
pub(super) struct Known {
    old: Side,
    new: Side,
}

/// The names of one recording.
#[derive(Debug)]
struct Side {
    values: HashSet<String>,
    finder: Words,
    /// Those that a client came back with and that are no identifiers.
    returned: HashSet<String>,
}

impl Side {
    fn of(views: &[View<'_>]) -> Self {
        let returned = returned(views);
        let mut values = certain(views);
        values.extend(returned.iter().cloned());
        let finder = Words::of(values.iter().map(String::as_str));
        Self { values, finder, returned }
    }

    /// The names in a text, and what looks like one or like a time.
    fn words(&self, text: &str) -> Vec<Word> {
        apart(names(&self.finder, text).chain(words(text)).collect())
    }
}

impl Known {
    pub(super) fn of(old: &[View<'_>], new: &[View<'_>]) -> Self {
        Self { old: Side::of(old), new: Side::of(new) }
    }

    /// What is called the same in both, and what has the most votes beyond that.
    pub(super) fn renaming(&self, votes: Votes<'_>) -> Renaming {
        let same =
            self.new.values.intersection(&self.old.values).map(|same| (same.clone(), same.clone()));
        let mut olds: HashMap<String, String> = same.collect();
        let mut news = olds.clone();
        let mut counts: Vec<_> = votes.counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| (std::cmp::Reverse(count.weight), count.first));
        for ((new, old), _) in counts {
            if !olds.contains_key(new) && !news.contains_key(old) {
                olds.insert(new.to_owned(), old.to_owned());
                news.insert(old.to_owned(), new.to_owned());
            }
        }
        let [old_words, new_words] =
            [&news, &olds].map(|names| Words::of(names.keys().map(String::as_str)));
        let returned = self.old.returned.union(&self.new.returned).cloned().collect();
        Renaming { olds, news, old_words, new_words, returned }
    }
}

/// The words of which it is certain, somewhere, that they are names.
fn certain(views: &[View<'_>]) -> HashSet<String> {
    let mut found = HashSet::new();
    for said in views.iter().flat_map(|view| [view.asked_texts(), view.answered_texts()]).flatten()
    {
        for Word { range, .. } in words(said.text).iter().filter(|word| word.sort == Sort::Name) {
            let word = &said.text[range.clone()];
            let is_new = !found.contains(word);
            if is_new && (said.field.is_id || is_certain(said.text, range)) {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

/// The times and sealed states in requests that an earlier answer gave.
fn returned(views: &[View<'_>]) -> HashSet<String> {
    let (mut given, mut found) = (HashSet::new(), HashSet::new());
    for view in views {
        let sent = view.asked_texts().into_iter().flat_map(tokens);
        found.extend(sent.filter(|value| given.contains(value)).map(str::to_owned));
        given.extend(view.answered_texts().into_iter().flat_map(tokens));
    }
    found
}

/// The times in a text, and the text itself if it is a sealed state.
fn tokens(said: Said<'_>) -> Vec<&str> {
    let text = said.text;
    let mut found: Vec<&str> = times(text).map(|word| &text[word.range]).collect();
    found.extend(Some(said.value()).filter(|value| is_sealed(value)));
    let numbers = text.split(|c: char| !c.is_ascii_alphanumeric());
    found.extend(numbers.filter(|number| number.len() >= 10 && is_epoch(number)));
    found
}

/// How often two names stood in the same place.
#[derive(Debug, Default)]
pub(super) struct Votes<'v> {
    counts: HashMap<(&'v str, &'v str), Count>,
}

#[derive(Debug)]
struct Count {
    weight: usize,
    /// How many were known before.
    first: usize,
}

/// What a place weighs where nothing but names differs, beside one where more does.
const SURE: usize = 8;

impl<'v> Votes<'v> {
    /// Two texts stand in the same place.
    pub(super) fn hear(&mut self, old: Said<'v>, new: Said<'v>, known: &Known) {
        // What both hold is called the same without a vote.
        if old.text == new.text {
            return;
        }
        let (olds, news) = (known.old.words(old.text), known.new.words(new.text));
        if olds.is_empty() && news.is_empty() {
            return;
        }
        if between(old.text, &olds) == between(new.text, &news) {
            let words = olds.iter().zip(&news);
            let texts = words.map(|(one, other)| (old.text, &one.range, new.text, &other.range));
            for (old, one, new, other) in texts {
                self.vote((&old[one.clone()], &new[other.clone()]), SURE, known);
            }
            return;
        }
        let (ones, others) = (runs(old.text), runs(new.text));
        let is_alike = between(old.text, &ones) == between(new.text, &others);
        let (ones, others) = match is_alike {
            true => (ones, others),
            false => (holding(ones, &olds), holding(others, &news)),
        };
        if ones.len() != others.len() {
            return;
        }
        let weight = if is_alike { SURE } else { 1 };
        for (one, other) in ones.into_iter().zip(others) {
            self.hear_run(&old.text[one.range], &new.text[other.range], weight, known);
        }
    }

    /// Two runs of letters, digits, `-` and `_` stand in the same place. They are names as a whole, but for
    /// their prefixes, if not only a name in them differs.
    fn hear_run(&mut self, old: &'v str, new: &'v str, weight: usize, known: &Known) {
        let (olds, news) = (known.old.words(old), known.new.words(new));
        if between(old, &olds) == between(new, &news) {
            for (one, other) in olds.into_iter().zip(news) {
                self.vote((&old[one.range], &new[other.range]), weight, known);
            }
            return;
        }
        let is_known = olds.iter().any(|word| known.old.values.contains(&old[word.range.clone()]))
            || news.iter().any(|word| known.new.values.contains(&new[word.range.clone()]));
        // What a prefix is called is no part of a name.
        let (mut one, mut other) = (prefix(old), prefix(new));
        if one == 0 || other == 0 || old.len() - one != new.len() - other {
            (one, other) = (0, 0);
        }
        // Names that come from the same place are as long.
        if is_known && old.len() - one == new.len() - other {
            self.count((&old[one..], &new[other..]), weight);
        }
    }

    fn vote(&mut self, (old, new): (&'v str, &'v str), weight: usize, known: &Known) {
        if known.old.values.contains(old) && known.new.values.contains(new) {
            self.count((old, new), weight);
        }
    }

    fn count(&mut self, (old, new): (&'v str, &'v str), weight: usize) {
        let first = self.counts.len();
        self.counts.entry((new, old)).or_insert(Count { weight: 0, first }).weight += weight;
    }
}

/// The runs of letters, digits, `-` and `_` in a text.
fn runs(text: &str) -> Vec<Word> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let runs = text.split(|c| !belongs(c)).filter(|run| !run.is_empty()).map(|run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        Word { range: start..start + run.len(), sort: Sort::Name }
    });
    runs.collect()
}

/// The length of what such a run begins with if that is a word: `thread_`.
fn prefix(run: &str) -> usize {
    let length = run.find(['-', '_']).map_or(0, |at| at + 1);
    let is_word = length > 3 && run[..length - 1].bytes().all(|it| it.is_ascii_lowercase());
    if is_word { length } else { 0 }
}

/// The runs that hold names.
fn holding(mut runs: Vec<Word>, words: &[Word]) -> Vec<Word> {
    let is_in =
        |run: &Word, word: &Word| word.sort == Sort::Name && run.range.contains(&word.range.start);
    runs.retain(|run| words.iter().any(|word| is_in(run, word)));
    runs
}
