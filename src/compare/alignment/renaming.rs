//! What names are called.

mod votes;
mod wholes;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub(super) use self::votes::Votes;
use self::wholes::Wholes;
use super::anew::anew;
use super::clock::Clock;
use super::counted::{counted, issued, made, uncounted};
use super::drawn::{drawn, proved};
use super::kin::{Kin, with_dashes};
use super::value::{KnownText, Sort, Word, apart, is_passing, is_serial, is_stamped, times};
use super::{Called, Script, View};
use crate::cassette::Ids;
use crate::cassette::splice::{Edit, disjoint, splice};
use crate::identity::{
    EPOCH, SHORTEST, UUID, Words, begins_with_uuid, epochs, is_certain, is_epoch, is_mixed,
    is_sealed, next_span,
};

/// What the names of a new recording are in an old one. One stands for one: no two are called the
/// same.
#[derive(Debug, Default)]
pub struct Renaming {
    pub(super) old: SharedNames,
    pub(super) new: SharedNames,
    /// Times and states of both recordings that a server gave and its client came back with.
    returned: HashSet<String>,
    /// Names of the new recording that stand nowhere in the old one, and are called by what they are made of.
    pub(super) made: HashSet<String>,
}

/// The names of one side that are known in both.
#[derive(Debug, Default)]
pub(super) struct SharedNames {
    /// What each is in the old recording.
    pub(super) olds: HashMap<String, String>,
    /// To find them in texts, and those that are not known in both yet.
    words: Words,
    /// By which numbers are times.
    clock: Option<Clock>,
}

impl SharedNames {
    fn of(olds: HashMap<String, String>, side: &RecordingNames, clock: Option<Clock>) -> Self {
        let unknown = side.counted.iter().chain(&side.drawn).filter(|it| !olds.contains_key(*it));
        let words = olds.keys().chain(unknown);
        Self { words: Words::of(words.map(String::as_str)), olds, clock }
    }

    /// Its names in a text, and the numbers that are times.
    fn words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Word> + 't {
        let clock = self.clock.into_iter();
        let times = clock.flat_map(move |clock| clock.times(text).chain(clock.dates(text)));
        names(&self.words, text).chain(times.map(|range| Word { range, sort: Sort::Moment }))
    }

    /// A text under its old names, with its times masked, and names that are not known in both. `looks`
    /// are the words that look like some.
    pub(super) fn masked<'t>(&self, text: &'t str, looks: &[Word]) -> Cow<'t, str> {
        let known: Vec<Word> = self.words(text).collect();
        if known.is_empty() && looks.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut rest) = (String::with_capacity(text.len()), 0);
        for Word { range, sort } in apart([&known, looks].concat()) {
            masked.push_str(&text[rest..range.start]);
            rest = range.end;
            // No text has these marks as they are.
            masked.push_str(match (self.olds.get(&text[range]), sort) {
                (Some(old), _) => old,
                (None, Sort::Moment) => "\u{1}",
                (None, Sort::Name) => "\u{2}",
            });
        }
        masked.push_str(&text[rest..]);
        Cow::Owned(masked)
    }
}

impl Renaming {
    /// What names of the new recording were called in the old one, where that is another.
    #[cfg(feature = "record")]
    pub(crate) fn called(&self) -> impl Iterator<Item = Called> {
        let called = self.new.olds.iter().filter(|(new, old)| new != old);
        called.map(|(new, old)| (new.clone(), old.clone()))
    }

    /// The places of names in a text of the old recording, if they are known in both.
    pub fn old_names<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.old.words.find(text).filter(|range| self.old.olds.contains_key(&text[range.clone()]))
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
        [(old, &self.old), (new, &self.new)]
            .map(|(text, known)| apart(known.words(text).chain(times(text)).collect()))
    }

    /// The places of times in a text of the new recording.
    #[cfg(feature = "record")]
    pub(crate) fn times(&self, text: &str) -> Vec<Range<usize>> {
        let words = apart(self.new.words(text).chain(times(text)).collect()).into_iter();
        words.filter(|word| word.sort == Sort::Moment).map(|word| word.range).collect()
    }

    /// What a message of the old recording says as far as is known, as a hash.
    #[cfg(feature = "record")]
    pub(crate) fn look_old(&self, message: &mut Script) -> u64 {
        message.look(&self.old)
    }

    /// The same of the new recording.
    #[cfg(feature = "record")]
    pub(crate) fn look_new(&self, message: &mut Script) -> u64 {
        message.look(&self.new)
    }

    /// Whether a name of the new recording is that one in the old one.
    pub(crate) fn is_called(&self, new: &str, old: &str) -> bool {
        self.new.olds.get(new).is_some_and(|called| called == old)
    }

    /// Whether two points in time may stand for each other: numbers do if they moved with the clock.
    pub(crate) fn is_moved(&self, old: &str, new: &str) -> bool {
        !is_epoch(old) || Clock::moved([self.old.clock, self.new.clock], old, new)
    }

    /// Whether a time is exchanged on its own, where it stands: no client came back with it.
    pub(crate) fn is_free(&self, time: &str) -> bool {
        !self.returned.contains(time)
    }

    fn edits(&self, text: &str) -> Vec<Edit> {
        let edit = |range: Range<usize>| {
            let (new, old) = self.new.olds.get_key_value(&text[range.clone()])?;
            (old != new).then(|| Edit::new(range, old.clone()))
        };
        self.new.words.find(text).filter_map(edit).collect()
    }
}

/// Whether two names are spelled alike where chance does not decide: UUIDs of one version (RFC 9562), and many letters
/// in the same case. A server that issues others is another one.
fn are_spelled_alike(one: &str, other: &str) -> bool {
    /// So many letters of both cases are hardly in one by chance: 1 in 2,000.
    const MANY: usize = 12;
    let version = |name: &str| {
        let [version, variant] = [14, 19].map(|at| name.as_bytes().get(at).copied());
        let is_uuid = name.len() == UUID && begins_with_uuid(name.as_bytes());
        let is_of_rfc = variant.is_some_and(|it| b"89abAB".contains(&it));
        version.filter(|it| is_uuid && is_of_rfc && (b'1'..=b'8').contains(it))
    };
    let cases = |name: &str| {
        let has = |is: fn(&u8) -> bool| name.bytes().any(|it| is(&it));
        let letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
        (letters >= MANY).then(|| [has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase)])
    };
    let differ = |both: Option<(u8, u8)>| both.is_some_and(|(one, other)| one != other);
    let is_other_case = cases(one).zip(cases(other)).is_some_and(|(one, other)| one != other);
    !differ(version(one).zip(version(other))) && !is_other_case
}

fn names<'t>(known: &'t Words, text: &'t str) -> impl Iterator<Item = Word> + 't {
    known.find(text).map(|range| Word { range, sort: Sort::Name })
}

/// The names of two recordings.
///
/// # Rationale
///
/// Random letters and digits are not always a name: what a tool has computed, a digest, a random
/// number are what a reviewer wants to see changed. So a value counts only if it looks like nothing
/// else (a UUID, a word behind a prefix such as `call_`), stands in a place for names at least once (a
/// path, a header field or a member that is named so), or is a time or a sealed state with which the
/// client came back. A sealed state in a place for names needs nobody to come back with it. What two runs
/// of a client have shown to be made up is a name whatever it looks like.
///
/// A server that counts (`conv-1`) and was not restarted goes on counting. Such a name looks like text, so
/// the tables of both recordings say which ones are: what the server issued and its client sent back.
#[derive(Debug)]
pub(super) struct KnownNames {
    old: RecordingNames,
    new: RecordingNames,
    clocks: [Option<Clock>; 2],
}

/// The names of one recording.
#[derive(Debug)]
struct RecordingNames {
    values: HashSet<String>,
    finder: Words,
    /// Those that a client came back with and that are no identifiers.
    returned: HashSet<String>,
    /// Those that the server has counted: the same one may be another the next time.
    counted: HashSet<String>,
    /// Those of which it is shown that they are made up, whatever they look like: the client's by two runs or
    /// a person, the server's by the client that came back with them.
    proved: Words,
    /// Those of the client alone.
    shown: Words,
    /// The server's, of which its table tells.
    issued: HashSet<String>,
    /// Those that the client made up, which it has maybe drawn again for something else.
    drawn: HashSet<String>,
}

impl RecordingNames {
    fn of(
        views: &[View<'_>],
        ids: Option<&Ids>,
        counted: HashSet<String>,
        [drawn, anew]: [HashSet<String>; 2],
    ) -> Self {
        let returned = returned(views);
        let mut values = certain(views);
        values.extend(returned.iter().chain(&drawn).chain(&anew).cloned());
        let issued = issued(views, ids).map(|id| behind_prefix(&id.value).to_owned());
        let issued: HashSet<String> = issued.collect();
        let random = issued.iter().filter(|value| is_mixed(value)).map(String::as_str);
        let made = made(views, ids).filter(|name| !counted.contains(*name));
        let proved = Words::of(proved(ids).chain(random).chain(made));
        let asked = views.iter().flat_map(View::asked_texts);
        let said = asked.flat_map(|said| proved.find(said.text).map(|range| &said.text[range]));
        values.extend(said.map(str::to_owned));
        let counted: HashSet<String> = counted.difference(&values).cloned().collect();
        values.extend(counted.iter().cloned());
        let finder = Words::of(values.iter().map(String::as_str));
        let shown = Words::of(self::proved(ids));
        Self { values, finder, returned, counted, proved, shown, issued, drawn }
    }

    /// Whether a word is one of those that are shown to be made up, and nothing else but what fills it up in Base64: no
    /// table has that.
    fn has_proved(&self, word: &str) -> bool {
        let name = word.trim_end_matches('=');
        self.proved.find(name).any(|range| range == (0..name.len()))
    }

    /// What is a name by itself in a name: it may stand elsewhere without what is around it.
    fn parts<'n>(&self, name: &'n str) -> Vec<&'n str> {
        let within = self.finder.find(name).map(|range| &name[range]);
        let all = within.chain([behind_prefix(name)]);
        all.filter(|part| part.len() < name.len()).collect()
    }

    /// The names in a text, and what looks like one or like a time.
    fn words(&self, said: KnownText<'_>) -> Vec<Word> {
        apart(names(&self.finder, said.text).chain(said.words().iter().cloned()).collect())
    }
}

impl KnownNames {
    pub(super) fn of(
        [old, new]: [&[View<'_>]; 2],
        ids: [Option<&Ids>; 2],
        clocks: [Option<Clock>; 2],
    ) -> Self {
        let [olds, news] = [counted(old, ids[0]), counted(new, ids[1])];
        // One name alone (`gpt-4`) may be another one now (`gpt-5`): who counts is seen to count.
        let mut seen: HashMap<String, usize> = HashMap::new();
        for name in &olds {
            *seen.entry(uncounted(name)).or_default() += 1;
        }
        let counts: HashSet<String> =
            seen.into_iter().filter(|(_, times)| *times > 1).map(|(name, _)| name).collect();
        let both = |one: &HashSet<String>, other: &HashSet<String>| {
            let others: HashSet<String> = other.iter().map(|name| uncounted(name)).collect();
            let is_in_both = |name: &String| others.contains(name) && counts.contains(name);
            one.iter().filter(|name| is_in_both(&uncounted(name))).cloned().collect()
        };
        let [made, made_anew] = anew([old, new], ids);
        let [drawn, drawn_again] = drawn([old, new], ids);
        let old = RecordingNames::of(old, ids[0], both(&olds, &news), [drawn, made]);
        let new = RecordingNames::of(new, ids[1], both(&news, &olds), [drawn_again, made_anew]);
        Self { old, new, clocks }
    }

    /// Whether an old name may be that new one: what a server issued is as long, and it issued both.
    fn may_be_called(&self, old: &str, new: &str) -> bool {
        let [was, is] = [self.old.issued.contains(old), self.new.issued.contains(new)];
        was == is && (!was || old.len() == new.len())
    }

    /// Whether a name that is the same in both may be another one now.
    fn is_counting(&self) -> bool {
        !(self.new.counted.is_empty() && self.new.drawn.is_empty())
    }

    /// What is called the same in both, what was known before, and what has the most votes beyond that; then what is
    /// made of these.
    pub(super) fn renaming(&self, given: &[Called], votes: Votes<'_>) -> Renaming {
        let same = self.new.values.intersection(&self.old.values);
        let is_another = |it: &String| self.new.counted.contains(it) || self.new.drawn.contains(it);
        let same = same.filter(|same| !is_another(same));
        let same = same.map(|same| (same.clone(), same.clone()));
        let mut news: HashMap<String, String> = same.chain(given.iter().cloned()).collect();
        let mut olds: HashMap<String, String> =
            news.values().map(|old| (old.clone(), old.clone())).collect();
        let mut counts: Vec<_> = votes.counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| (std::cmp::Reverse(count.weight), count.first));
        let same = self.new.values.intersection(&self.old.values).map(String::as_str);
        let kin = Kin::of(same, counts.iter().map(|(pair, count)| (*pair, count.weight)));
        let mut wholes = Wholes::default();
        for (new, old) in &news {
            let parts = [self.new.parts(new), self.old.parts(old)];
            wholes.add((new, old), parts.each_ref().map(Vec::as_slice));
        }
        for ((new, old), _) in counts {
            let is_free = !news.contains_key(new) && !olds.contains_key(old);
            let may_be = are_spelled_alike(new, old) && kin.may_be_called(new, old);
            if is_free && may_be && self.is_within(&news, new, old) {
                let parts = [self.new.parts(new), self.old.parts(old)];
                let parts = parts.each_ref().map(Vec::as_slice);
                if wholes.may_be((new, old), parts) {
                    wholes.add((new, old), parts);
                    news.insert(new.to_owned(), old.to_owned());
                    olds.insert(old.to_owned(), old.to_owned());
                }
            }
        }
        let unknown = self.new.values.iter().filter(|new| !news.contains_key(*new)).cloned();
        let mut unknown: Vec<String> = unknown.collect();
        unknown.sort_unstable();
        let mut made = HashSet::new();
        for new in unknown {
            let mut names = kin.names(&new);
            let own = names.next().filter(|old| !olds.contains_key(old));
            let is_free = |old: &String| !olds.contains_key(old) && !self.old.values.contains(old);
            if let Some(old) = own.or_else(|| names.find(is_free)) {
                news.insert(new.clone(), old.clone());
                olds.insert(old.clone(), old);
                made.insert(new);
            }
        }
        let returned = self.old.returned.union(&self.new.returned).cloned().collect();
        let [before, now] = self.clocks;
        let old = SharedNames::of(olds, &self.old, before);
        let new = SharedNames::of(news, &self.new, now);
        Renaming { old, new, returned, made }
    }

    /// Whether an old name holds what the names within the new one are called already: `2-…` is not what `1-…` is, if
    /// that was another one there.
    fn is_within(&self, news: &HashMap<String, String>, new: &str, old: &str) -> bool {
        let inner = self.new.finder.find(new).filter(|range| range.len() < new.len());
        inner.filter_map(|range| news.get(&new[range])).all(|called| old.contains(called))
    }
}

/// The words of which it is certain, somewhere, that they are names.
fn certain(views: &[View<'_>]) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut spelled = Vec::new();
    for said in views.iter().flat_map(|view| [view.asked_texts(), view.answered_texts()]).flatten()
    {
        let value = said.value();
        if said.field.is_id && (is_sealed(value) || is_serial(value) || is_stamped(value)) {
            found.insert(value.to_owned());
        }
        let words = said.words();
        let mut names = words.iter().filter(|word| word.sort == Sort::Name).peekable();
        // One in fifty of 22 letters and digits has no digit.
        let drawn = behind_prefix(value);
        let is_drawn = names.peek().is_none() && drawn.len() >= DRAWN && is_mixed(drawn);
        if said.field.is_id && is_drawn {
            found.insert(drawn.to_owned());
        }
        for Word { range, .. } in names {
            let word = &said.text[range.clone()];
            let is_new = !found.contains(word);
            if is_new && (said.field.is_id || is_certain(said.text, range) || is_passing(word)) {
                found.insert(word.to_owned());
            } else if is_new {
                spelled.extend(with_dashes(word).map(|uuid| (uuid, word)));
            }
        }
    }
    // The same UUID in two spellings is a name in both.
    let same = spelled.into_iter().filter(|(uuid, _)| found.contains(uuid));
    let same: Vec<&str> = same.map(|(_, word)| word).collect();
    found.extend(same.into_iter().map(str::to_owned));
    found
}

/// The times, sealed states and entity tags in requests that an earlier answer gave.
fn returned(views: &[View<'_>]) -> HashSet<String> {
    let (mut given, mut found) = (HashSet::new(), HashSet::new());
    for view in views {
        let sent = view.asked_texts().into_iter().flat_map(tokens);
        let sent = sent.chain(view.asked_fields().flat_map(|said| tags(said.text)));
        found.extend(sent.filter(|value| given.contains(value)).map(str::to_owned));
        given.extend(view.answered_texts().into_iter().flat_map(tokens));
        // One in a header field goes with its body.
        given.extend(view.answered_values().filter_map(|said| opaque(said.text)));
    }
    found
}

/// A name in which small letters and capitals alternate is as long, if it has hardly a digit.
const DRAWN: usize = 16;

/// No word is as long.
const HANDLE: usize = 32;

/// Whether a run of letters and digits is too long for a word.
fn is_handle(run: &str) -> bool {
    run.len() >= HANDLE
}

/// The times and handles in a text, and the text itself if it is a sealed state.
fn tokens(said: KnownText<'_>) -> Vec<&str> {
    let text = said.text;
    let mut found: Vec<&str> = times(text).map(|word| &text[word.range]).collect();
    found.extend(Some(said.value()).filter(|value| is_sealed(value)));
    let mut at = 0;
    let runs = std::iter::from_fn(|| {
        let span = next_span(text.as_bytes(), at, EPOCH, u8::is_ascii_alphanumeric)?;
        at = span.end;
        Some(&text[span])
    });
    found.extend(runs.filter(|run| is_handle(run)));
    // The seconds of a time with a fraction are those of others, too.
    found.extend(disjoint(epochs(text).collect(), Range::clone).into_iter().map(|at| &text[at]));
    found
}

/// What the entity tags are that a header field consists of: `"a1", W/"b2"`. Whatever stands between the quotes,
/// nobody but the server knows what it means.
fn tags(field: &str) -> impl Iterator<Item = &str> {
    let parts = || field.split(',').map(str::trim);
    let tag = |part| weak(part).strip_prefix('"')?.strip_suffix('"');
    let is_tags = parts().all(|part| tag(part).is_some());
    parts().filter(move |_| is_tags).filter_map(tag).filter(|tag| is_telling(tag))
}

/// What may be an entity tag, or stand in one, as a whole value of JSON or XML.
fn opaque(value: &str) -> Option<&str> {
    const QUOTES: [&str; 4] = ["\\\"", "&quot;", "&#34;", "\""];
    let value = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(value);
    let value = weak(value);
    let quoted = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    Some(QUOTES.into_iter().find_map(quoted).unwrap_or(value)).filter(|it| is_telling(it))
}

fn weak(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Whether a tag is no word and no count.
fn is_telling(tag: &str) -> bool {
    let has = |class: fn(&u8) -> bool| tag.bytes().any(|byte| class(&byte));
    tag.len() >= TELLING && has(u8::is_ascii_digit) && has(|byte| !byte.is_ascii_digit())
}

/// A shorter tag may be something else too.
const TELLING: usize = 6;

/// The length of what such a run begins with if that is a word: `thread_`.
fn prefix(run: &str) -> usize {
    let length = run.find(['-', '_']).map_or(0, |at| at + 1);
    let is_word = length > 3 && run[..length - 1].bytes().all(|it| it.is_ascii_lowercase());
    if is_word { length } else { 0 }
}

/// A name without its prefix, which is no part of it: whether one that a server has issued looks like a name without
/// it is a matter of its letters.
fn behind_prefix(name: &str) -> &str {
    let rest = &name[prefix(name)..];
    if rest.len() < SHORTEST { name } else { rest }
}
