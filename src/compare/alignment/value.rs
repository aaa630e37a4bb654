//! The values in a body, each with its place in the text, and hashes that can be made anew.

use std::borrow::Cow;
use std::ops::Range;

use super::renaming::SharedNames;
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::{Kind, PathStep, Reading};
use crate::cassette::splice::disjoint;
use crate::config::Rules;
use crate::identity::{
    Meaning, SHORTEST, epochs, identifiers, is_epoch, is_moment, may_number, moments, refers,
};
use crate::text::date::fits;

/// A value within a text, or the name of a member, which stands before its value. Each container
/// stands before what is in it.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it stands in the text, its quotes included.
    pub(crate) range: Range<usize>,
    /// Behind the last node that is in it.
    pub(super) end: usize,
    pub(crate) kind: Kind,
    field: FieldMeaning,
    /// What looks like a name or a time in it.
    words: Vec<Word>,
    /// Equal for values that are the same as far as is known. Set by looking at it.
    pub(super) hash: u64,
}

/// A node and the text that it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'v> {
    pub(super) text: &'v str,
    pub(super) nodes: &'v [Node],
    pub(super) at: usize,
}

/// Reads a part of a text, which may be JSON.
pub(super) fn read(text: &str, part: Range<usize>, rules: &Rules, nodes: &mut Vec<Node>) {
    let reading = Reading::of_text(&text[part.clone()], rules);
    let mut numbers = Vec::with_capacity(reading.nodes.len() + 1);
    let mut rest = part.start;
    for (number, node) in reading.nodes.iter().enumerate() {
        let start = node.spelled.as_ptr() as usize;
        let range = match node.spelled.len() {
            0 => part.clone(),
            length => {
                let start = start - text.as_ptr() as usize;
                start..start + length
            }
        };
        numbers.push(nodes.len());
        // Between two values there are no other quotes than those of a name.
        let gap = &text[rest..range.start];
        if let (PathStep::Member(_), Some(start), Some(end)) =
            (&node.step, gap.find('"'), gap.rfind('"'))
        {
            leaf(text, rest + start..rest + end + 1, FieldMeaning::PLAIN, nodes);
        }
        rest = if node.kind.is_container() { range.start + 1 } else { range.end };
        let field = FieldMeaning::of(reading.name(number));
        if node.kind.is_container() {
            let words = Vec::new();
            nodes.push(Node { range, end: 0, kind: node.kind, field, words, hash: 0 });
        } else {
            leaf(text, range, field, nodes);
        }
    }
    numbers.push(nodes.len());
    for (number, node) in reading.nodes.iter().enumerate().filter(|(_, it)| it.kind.is_container())
    {
        let at = numbers[number] + usize::from(matches!(node.step, PathStep::Member(_)));
        nodes[at].end = numbers[node.end as usize];
    }
}

/// Takes a part of a text as one value.
pub(super) fn leaf(text: &str, range: Range<usize>, field: FieldMeaning, nodes: &mut Vec<Node>) {
    let words = words(&text[range.clone()]);
    nodes.push(Node { range, end: nodes.len() + 1, kind: Kind::Text, field, words, hash: 0 });
}

impl Node {
    /// Takes a value for one that a client says: it is how long something took only where a replay takes it so.
    pub(super) fn ask(&mut self) {
        let FieldMeaning { is_timing, is_measured, is_clocked, .. } = &mut self.field;
        (*is_timing, *is_measured, *is_clocked) = (false, false, false);
    }
}

/// Makes the hashes of all values of a piece of a text.
pub(super) fn look(nodes: &mut [Node], text: &str, names: &SharedNames) {
    for at in (0..nodes.len()).rev() {
        nodes[at].hash = hash(nodes, at, text, names);
    }
}

/// The hash of a value, by those of what is in it.
fn hash(nodes: &[Node], at: usize, text: &str, names: &SharedNames) -> u64 {
    let node = &nodes[at];
    let mut inside = inside(nodes, at + 1, node.end).map(|at| nodes[at].hash);
    let code = node.kind.code();
    match node.kind {
        // The order of members means nothing to a client.
        Kind::Object => {
            let mut sum = 0_u64;
            while let (Some(name), Some(value)) = (inside.next(), inside.next()) {
                sum = sum.wrapping_add(combine(&[name, value]));
            }
            combine(&[code, sum])
        }
        Kind::Set => {
            let items = inside.map(|item| combine(&[item]));
            combine(&[code, items.fold(0, u64::wrapping_add)])
        }
        Kind::Array => inside.fold(code, |sum, item| combine(&[sum, item])),
        _ => {
            let said = KnownText::new(&text[node.range.clone()], node.field);
            match said.is_volatile() {
                // A number and a string of its digits are not the same to a client.
                true => 1 + u64::from(said.text.starts_with('"')),
                false => hash_of(&*names.masked(said.text, &node.words)),
            }
        }
    }
}

/// The numbers of the nodes of a stretch that are in no other of it.
fn inside(nodes: &[Node], from: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
    let mut next = from;
    std::iter::from_fn(move || {
        let found = (next < end).then_some(next)?;
        next = nodes[found].end;
        Some(found)
    })
}

impl<'v> Value<'v> {
    /// All values of a piece of a text that are in no other.
    pub(super) fn all(text: &'v str, nodes: &'v [Node]) -> Vec<Self> {
        inside(nodes, 0, nodes.len()).map(|at| Self { text, nodes, at }).collect()
    }

    pub(crate) fn node(self) -> &'v Node {
        &self.nodes[self.at]
    }

    /// What is in it: the values of an array; the names of an object, each with its value behind it.
    pub(crate) fn inside(self) -> Vec<Self> {
        let all = inside(self.nodes, self.at + 1, self.node().end);
        all.map(|at| Self { at, ..self }).collect()
    }

    /// Equal for values that say the same but for names, times and numbers.
    #[cfg(feature = "record")]
    pub(super) fn likeness(self) -> u64 {
        let code = self.node().kind.code();
        let inside: Vec<u64> = self.inside().into_iter().map(Self::likeness).collect();
        match (self.node().kind, self.said()) {
            (Kind::Object, _) => {
                let members = inside.chunks(2).map(combine);
                combine(&[code, members.fold(0, u64::wrapping_add)])
            }
            (_, Some(said)) => {
                let looks = if said.is_volatile() { &[][..] } else { &self.node().words };
                let masked = SharedNames::default();
                hash_of(&*super::counted::uncounted(&masked.masked(said.text, looks)))
            }
            _ => combine(&[code, combine(&inside)]),
        }
    }

    /// What it says, if it holds no others.
    pub(crate) fn said(self) -> Option<KnownText<'v>> {
        let Node { range, field, kind, words, .. } = self.node();
        let text = &self.text[range.clone()];
        (!kind.is_container())
            .then_some(KnownText { words: Some(words), ..KnownText::new(text, *field) })
    }
}

/// A word that is another in every recording, and where it stands in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) range: Range<usize>,
    pub(crate) sort: Sort,
}

/// What sort of word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A name, without its prefix.
    Name,
    /// A point in time.
    Moment,
}

/// A text, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownText<'v> {
    /// As it is spelled, with its quotes if it is a string of JSON.
    pub(crate) text: &'v str,
    /// What its place says of it.
    pub(crate) field: FieldMeaning,
    /// What looks like a name or a time in it, if that was looked for.
    words: Option<&'v [Word]>,
}

/// What the name of a field says of the values in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldMeaning {
    pub(crate) is_time: bool,
    /// How long something took, whoever says so.
    pub(crate) is_span: bool,
    /// How long something took, if a server says so: from a client it may be how long something may take.
    is_timing: bool,
    /// The same where the number is none that a clock shows: `completion_time` may be either.
    is_measured: bool,
    /// The same where the number is as fine as a clock says it: `avg_time` may be how many minutes somebody wants.
    is_clocked: bool,
    pub(crate) is_id: bool,
    /// Random letters that hide how long the others are.
    pub(crate) is_padding: bool,
    /// The number of a process, which the system gives out.
    pub(crate) is_process: bool,
}

/// What comes last in the names of how long something took, if a server says so.
const TIMINGS: [&str; 10] = [
    "_ns",
    "ttft_ms",
    "ttft_us",
    "_duration",
    "Duration",
    "time_to_first_token",
    "rocessingTimeMs",
    "processing_time_ms",
    "search_time_ms",
    "QTime",
];

/// What comes last in the names of what a server has measured. Others (`start_time`) say where in a recording of
/// speech a word stands, or what was agreed.
const MEASURED: [&str; 6] = [
    "queue_time",
    "prompt_time",
    "completion_time",
    "total_time",
    "elapsed_time",
    "processing_time",
];

/// What comes last in the names of what may be measured by a clock, and of how much came in a time.
const CLOCKED: [&str; 8] =
    ["time", "Time", "eta", "_ms", "Ms", "_per_second", "_latency", "_seconds"];

/// Names of moments in what is played, which are as fine.
const PLAYED: [&str; 6] = ["start_time", "end_time", "startTime", "endTime", "start_ms", "end_ms"];

/// A clock says more digits behind the point than a person.
const FINE: usize = 3;

/// Whether a number is as fine as a clock says it: `0.02218`, `2.2e-05`.
fn is_fine(number: &str) -> bool {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    let behind = number.split_once('.').map_or(0, |(_, rest)| digits(rest));
    behind >= FINE || number.contains(['e', 'E'])
}

impl FieldMeaning {
    /// Nothing is known.
    pub(crate) const PLAIN: Self = Self {
        is_time: false,
        is_span: false,
        is_timing: false,
        is_measured: false,
        is_clocked: false,
        is_id: false,
        is_padding: false,
        is_process: false,
    };

    /// A place where identifiers stand.
    pub(crate) const ID: Self = Self { is_id: true, ..Self::PLAIN };

    /// Reads a name: `created_at`, `ttft_ns`, `tool_call_id`.
    pub(crate) fn of(name: &str) -> Self {
        let meaning = Meaning::of(name);
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        // Not `beta`.
        let ends_in_word = |ends: &[&str]| {
            let before = |end: &str| name.strip_suffix(end).and_then(|it| it.chars().next_back());
            let is_word = |end: &&str| {
                let is_begun = end.starts_with(|first: char| !first.is_ascii_lowercase());
                name.ends_with(*end)
                    && (is_begun || before(end).is_none_or(|it| !it.is_ascii_alphanumeric()))
            };
            ends.iter().any(is_word)
        };
        Self {
            is_time: meaning == Meaning::Moment,
            is_span: meaning == Meaning::Span,
            is_timing: ends(&TIMINGS),
            is_measured: ends(&MEASURED),
            is_clocked: ends_in_word(&CLOCKED) && !ends(&PLAYED),
            is_id: matches!(meaning, Meaning::Mark | Meaning::Identity)
                || refers(name)
                // What made the answer, or shows who did: `system_fingerprint`, `thoughtSignature`.
                || ends(&["fingerprint", "ignature", "encrypted_content"]),
            is_padding: name == "obfuscation",
            is_process: matches!(name, "pid" | "process_id" | "processId"),
        }
    }
}

impl<'v> KnownText<'v> {
    pub(crate) fn new(text: &'v str, field: FieldMeaning) -> Self {
        Self { text, field, words: None }
    }

    /// A text of which nothing is known.
    pub(crate) fn plain(text: &'v str) -> Self {
        Self::new(text, FieldMeaning::PLAIN)
    }

    /// What looks like a name or a time in it.
    pub(super) fn words(self) -> Cow<'v, [Word]> {
        self.words.map_or_else(|| Cow::Owned(words(self.text)), Cow::Borrowed)
    }

    /// Whether it is another each time, as the name of its field tells.
    fn is_volatile(self) -> bool {
        let is_time = || is_moment(self.value()) || is_epoch(self.value());
        (self.field.is_time && is_time()) || self.is_span()
    }

    /// Without the quotes of JSON.
    pub(crate) fn value(self) -> &'v str {
        self.text.trim_matches('"')
    }

    /// Whether it is how long something took, or is only there to be another each time.
    pub(crate) fn is_span(self) -> bool {
        let is_number = || self.text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let is_process = || may_number(self.value());
        self.field.is_padding
            || ((self.field.is_span || self.field.is_timing)
                && (is_number() || is_written_span(self.text)))
            || (self.field.is_measured && is_number() && !is_epoch(self.text))
            || (self.field.is_clocked && is_number() && is_fine(self.text) && !is_epoch(self.text))
            || (self.field.is_process && is_process())
    }
}

/// Whether a text of JSON says how long something took, as Protocol Buffers (`0.1069s`) and Go (`1m2.5s`) write it:
/// numbers, each with a unit of time.
fn is_written_span(text: &str) -> bool {
    const UNITS: [&str; 7] = ["h", "m", "s", "ms", "us", "µs", "ns"];
    let Some(mut rest) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return false;
    };
    rest = rest.strip_prefix('-').unwrap_or(rest);
    let mut has_any = false;
    while !rest.is_empty() {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let next = behind.trim_start_matches(|c: char| !c.is_ascii_digit());
        if behind.len() == rest.len() || !UNITS.contains(&&behind[..behind.len() - next.len()]) {
            return false;
        }
        (rest, has_any) = (next, true);
    }
    has_any
}

/// What looks like a name or a point in time within a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut words: Vec<Word> = times(text).collect();
    let names = identifiers(text).map(|range| padded(text, behind_time(text, range, &words)));
    let names: Vec<_> = names.chain(temporary(text)).chain(addresses(text)).collect();
    words.extend(names.into_iter().map(|range| Word { range, sort: Sort::Name }));
    apart(words)
}

/// A name without the point in time that it begins with, if what stands behind that is a name alone.
///
/// # Rationale
///
/// Whether `2026-11-25T22-56-41-01a214ec-f000-7043-afbd-a7899fa52cbf` is one name or ends with one depends on
/// which letters chance has put into it.
fn behind_time(text: &str, name: Range<usize>, times: &[Word]) -> Range<usize> {
    let mut times = times.iter().map(|time| &time.range);
    let Some(time) = times.find(|time| time.start == name.start) else { return name };
    let rest = time.end + 1..name.end;
    let is_name = |rest: &str| identifiers(rest).next() == Some(0..rest.len());
    if text.get(rest.clone()).is_some_and(is_name) { rest } else { name }
}

/// A name with the `=` that fill it up to four letters each, as Base64 has it: whether and how many there are says
/// how long it is.
fn padded(text: &str, name: Range<usize>) -> Range<usize> {
    let behind = &text[name.end..];
    let rest = behind.trim_start_matches('=');
    let padding = behind.len() - rest.len();
    let is_padding = (1..=2).contains(&padding)
        && (name.len() + padding).is_multiple_of(4)
        && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '%');
    if is_padding { name.start..name.end + padding } else { name }
}

/// The names of temporary files, as Python makes them: `tmpw1_x8y2z`, in a folder.
fn temporary(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    memchr::memchr_iter(b'/', text.as_bytes()).filter_map(move |slash| {
        let range = slash + 1..slash + 1 + TEMPORARY;
        let next = text.as_bytes().get(range.end);
        let goes_on = next.is_some_and(|it| it.is_ascii_alphanumeric() || b"-_".contains(it));
        (!goes_on && is_temporary(text.get(range.clone())?)).then_some(range)
    })
}

/// Where the objects of a process lie: `<function f at 0x7f8e1e8c3880>`. Other such numbers may be amounts.
fn addresses(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'x', bytes).filter_map(|mark| {
        let start = mark.checked_sub(1).filter(|_| bytes[..mark].ends_with(b"at 0"))?;
        let digits = bytes[mark + 1..].iter().take_while(|it| it.is_ascii_alphanumeric());
        let end = mark + 1 + digits.count();
        is_address(&text[start..end]).then_some(start..end)
    })
}

fn is_address(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    (9..=16).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Whether a word names what is gone with the process that has named it.
pub(super) fn is_passing(word: &str) -> bool {
    is_temporary(word) || is_address(word)
}

/// The length of the name of a temporary file.
const TEMPORARY: usize = 11;

/// Whether a word is the name of a temporary file. One in twelve has no digit, and may be a word as well:
/// `tmp_backups`.
fn is_temporary(word: &str) -> bool {
    let is_random = |it: u8| it == b'_' || it.is_ascii_lowercase() || it.is_ascii_digit();
    let has_digit = word.bytes().any(|it| it.is_ascii_digit());
    word.len() == TEMPORARY && word.starts_with("tmp") && has_digit && word.bytes().all(is_random)
}

/// The points in time within a text.
pub(crate) fn times(text: &str) -> impl Iterator<Item = Word> + '_ {
    let long = if text.len() < SHORTEST { "" } else { text };
    let times = moments(long).chain(filed(long));
    times.map(|range| Word { range, sort: Sort::Moment })
}

/// The points in time as names of files have them, in which a colon may not stand: `2026-11-21T09-00-00`.
fn filed(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    const TIME: &str = "0000-00-00T00-00-00";
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'T', bytes).filter_map(move |mark| {
        let start = mark.checked_sub("0000-00-00".len())?;
        let range = start..start + TIME.len();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let goes_on = is_digit(range.end) || start.checked_sub(1).is_some_and(is_digit);
        (!goes_on && fits(bytes.get(range.clone())?, TIME)).then_some(range)
    })
}

/// Words in order. Of those that overlap the first one is left, and of these the longest.
pub(crate) fn apart(words: Vec<Word>) -> Vec<Word> {
    disjoint(words, |word| word.range.clone())
}

/// What stands between words, before them and behind them.
pub(crate) fn between<'t>(text: &'t str, words: &[Word]) -> Vec<&'t str> {
    let starts = std::iter::once(0).chain(words.iter().map(|word| word.range.end));
    let ends = words.iter().map(|word| word.range.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}

/// What fills the gaps between these pieces of a text, if it consists of them.
pub(super) fn filled<'t>(pieces: &[&str], text: &'t str) -> Option<Vec<&'t str>> {
    let [first, between @ .., last] = pieces else { return None };
    let mut rest = text.strip_prefix(first)?.strip_suffix(last)?;
    let mut found = Vec::new();
    for piece in between {
        let (filled, behind) = rest.split_once(piece)?;
        found.push(filled);
        rest = behind;
    }
    found.push(rest);
    found.iter().all(|it| !it.is_empty()).then_some(found)
}

/// No count is as long.
const SERIAL: usize = 15;

/// Whether a text is a number that nobody has counted to: `958318974528890902`.
pub(super) fn is_serial(text: &str) -> bool {
    text.len() >= SERIAL && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a time and something more, without a space: `1795719183017_8p4ss7k5`.
pub(super) fn is_stamped(text: &str) -> bool {
    !text.contains(char::is_whitespace) && epochs(text).any(|time| time.len() < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_is_found_in_order() {
        let text = "agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0 at 2026-11-20 09:52:13 PM UTC";

        let found: Vec<(&str, Sort)> =
            words(text).into_iter().map(|word| (&text[word.range], word.sort)).collect();

        let expected = [
            ("6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", Sort::Name),
            ("2026-11-20 09:52:13 PM", Sort::Moment),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_behind_a_time_is_the_same_whatever_letters_are_in_it() {
        let check = |name: &str| {
            let text = format!("/sessions/rollout-2026-11-25T22-56-41-{name}.jsonl");

            let found: Vec<(&str, Sort)> =
                words(&text).into_iter().map(|word| (&text[word.range], word.sort)).collect();

            assert_eq!(found, [("2026-11-25T22-56-41", Sort::Moment), (name, Sort::Name)]);
        };
        check("01a214ec-f002-7741-a7b5-2aed6f70406c");
        check("01a214ec-f000-7043-afbd-a7899fa52cbf");
    }

    #[test]
    fn a_name_of_base64_goes_as_far_as_what_fills_it_up() {
        let check = |text: &str, expected: &str| {
            let found: Vec<&str> = words(text).into_iter().map(|word| &text[word.range]).collect();
            assert_eq!(found, [expected], "{text}");
        };
        let token = "eyJvIjogMiwgInQiOiAxNzk1OTg2Mzk1LjQ3NzQ5NX0";
        check(&format!("{token}="), &format!("{token}="));
        check(&format!("at {token}=, and"), &format!("{token}="));
        // Another length is not filled up by that, and what stands behind may be a value.
        check(&format!("{token}=="), token);
        check(&format!("{token}=1"), token);
    }
}
