//! Secrets that are known by their look, whatever they are called.
//!
//! The rules are data: `rules.txt`, and `rules-2.txt` of a later version. A text is read once for the words of
//! all rules; an expression is tried only where one of its words stands, and sees what comes in the same line. So a
//! text takes as long whatever the number of rules, and the same is found however it is cut up.

mod judged;
mod run;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::automaton::Automaton as _;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, Input};
use foldhash::fast::FixedState;
use regex::bytes::Regex;

use self::judged::{
    end_of_base64, is_basic, is_mixed, is_named, is_packed, is_random, is_said, is_sample,
};
use self::run::Run;
use super::json::outside;
use super::rule::{Notes, Rule};
use super::{own, value};
use crate::cassette::placeholder::OPENING;
use crate::cassette::splice::{Edit, in_order};
use crate::text::json::{Places, Text, Token};
use crate::text::{escape, plain, sse};

/// The lines of each rule.
const RULES: [(Rule, &str); 2] =
    [(Rule::Looks, include_str!("rules.txt")), (Rule::FurtherLooks, include_str!("rules-2.txt"))];

/// The longest secret of one line, and of several.
const LONGEST: usize = 8 << 10;
const LONGEST_BLOCK: usize = 18 << 10;

/// How much of a line an expression sees that has a name and a value.
const REACH: usize = 512;

/// How an expression says that other options of a command may stand in between.
const OPTIONS: &str = r"[^\n|;&]{0,200}";

struct Looks {
    words: DFA,
    /// Which rule a word belongs to.
    rule_of: Vec<usize>,
    longest_word: usize,
    /// What words begin with, in lower case.
    begun: HashSet<Vec<u8>, FixedState>,
    /// The same of those that are the end of a name.
    begun_in_names: HashSet<Vec<u8>, FixedState>,
    rules: Vec<Look>,
}

struct Look {
    /// The rule that its line belongs to.
    of: Rule,
    id: &'static str,
    kind: RuleKind,
    before: Before,
    expression: &'static str,
    /// Compiled where its word first stands: few of the rules ever see theirs.
    compiled: OnceLock<Regex>,
}

/// What before its word belongs to a rule.
#[derive(Clone, Copy)]
enum Before {
    Bytes(usize),
    /// The letters, digits and signs of a name, of which the word is the end.
    Name,
}

impl Before {
    /// Where it begins, before a word that begins there.
    fn start(self, text: &[u8], word: usize) -> Option<usize> {
        match self {
            Self::Bytes(count) => word.checked_sub(count),
            Self::Name => Some(word - name_at_end(&text[..word])),
        }
    }
}

/// How many letters, digits and signs of a name a text ends in. The letter of an escape is none of them.
fn name_at_end(text: &[u8]) -> usize {
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let length = text.iter().rev().take(LONGEST_NAME).take_while(is_of_name).count();
    let (before, name) = text.split_at(text.len() - length);
    let is_escape =
        before.ends_with(b"\\") && name.first().is_some_and(|it| escape::is_letter(*it));
    length - usize::from(is_escape)
}

/// The longest name that is looked at.
const LONGEST_NAME: usize = 64;

/// What names end in that may tell: `{telling}` in the words of a rule stands for each.
const TELLING: &str = "\
    password passwd passphrase pass pwd psk secret token key credential credentials";

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleKind {
    Token,
    Exact,
    Named,
    Said,
    Basic,
    Block,
    Random,
    Packed,
}

static LOOKS: LazyLock<Looks> = LazyLock::new(|| {
    let (mut rules, mut rule_of, mut spelled) = (Vec::new(), Vec::new(), Vec::new());
    for (of, line) in lines() {
        let columns: Vec<&'static str> = line.split_whitespace().collect();
        let [id, kind, before, words, expression] = columns[..] else { continue };
        for word in words.split('|').flat_map(spellings) {
            rule_of.push(rules.len());
            spelled.push(word.into_bytes());
        }
        rules.push(Look {
            of,
            id,
            kind: kind_of(kind),
            before: before.parse().map_or(Before::Name, Before::Bytes),
            expression,
            compiled: OnceLock::new(),
        });
    }
    // Every byte of every body goes through it.
    let words = DFA::builder()
        .ascii_case_insensitive(true)
        .build(&spelled)
        .expect("the words are fixed and tested");
    let longest_word = spelled.iter().map(Vec::len).max().unwrap_or(0);
    let begun = |in_names: bool| {
        let ends_name = |rule: usize| matches!(rules[rule].before, Before::Name);
        let words = rule_of.iter().zip(&spelled).filter(|(rule, _)| ends_name(**rule) == in_names);
        let begun = words.flat_map(|(_, word)| (1..word.len()).map(|end| word[..end].to_vec()));
        begun.collect()
    };
    let (begun, begun_in_names) = (begun(false), begun(true));
    Looks { words, rule_of, longest_word, begun, begun_in_names, rules }
});

/// Each line that is none for people alone, with its rule.
fn lines() -> impl Iterator<Item = (Rule, &'static str)> {
    let all = RULES.iter().flat_map(|(of, text)| text.lines().map(|line| (*of, line)));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// A word of a rule, or each that it stands for.
fn spellings(word: &str) -> Vec<String> {
    let word = word.replace(r"\s", " ").to_ascii_lowercase();
    match word.split_once("{telling}") {
        Some((before, behind)) => {
            TELLING.split(' ').map(|it| format!("{before}{it}{behind}")).collect()
        }
        None => vec![word],
    }
}

fn kind_of(kind: &str) -> RuleKind {
    match kind {
        "exact" => RuleKind::Exact,
        "named" => RuleKind::Named,
        "said" => RuleKind::Said,
        "basic" => RuleKind::Basic,
        "block" => RuleKind::Block,
        "random" => RuleKind::Random,
        "packed" => RuleKind::Packed,
        _ => RuleKind::Token,
    }
}

/// A secret that was found.
struct FoundSecret<'t> {
    name: &'t str,
    range: Range<usize>,
}

/// Whether a word of a rule stands in a text.
pub(super) fn may_tell(text: &[u8]) -> bool {
    let found = LOOKS.words.try_find(&Input::new(text).earliest(true));
    found.is_ok_and(|found| found.is_some())
}

/// The length of the longest word that tells so.
pub(super) fn longest() -> usize {
    LOOKS.longest_word
}

/// The edits for a text of which all is there.
pub(super) fn find(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    find_in_pieces(text, &[], notes)
}

/// The same for a text in pieces, which begin at these places in order: a secret may begin with each of them.
pub(super) fn find_in_pieces(text: &[u8], starts: &[usize], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut found = edits(&Within::of_pieces(text, starts), text.len(), |_| true, notes);
    found.extend(own::find(text, notes));
    found.extend(within_strings(text, notes));
    in_order(found)
}

/// The edits for what is encoded as a whole because of a secret in it.
pub(super) fn packed(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    if !notes.applies(Rule::FurtherLooks) {
        return Vec::new();
    }
    edits(&Within::of(text), text.len(), |kind| kind == RuleKind::Packed, notes)
}

/// What is found in the strings of JSON that hold strings themselves. Expressions know what is escaped once.
fn within_strings(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    const TWICE: &[u8] = br"\\";
    let mut found = Vec::new();
    if memchr::memmem::find(text, TWICE).is_none() {
        return found;
    }
    let mut in_json = |json: Text<'_>, start: usize| {
        let mut tokens = json.tokens();
        while let Some(token) = tokens.next() {
            let Token::String(spelled) = token else { continue };
            if memchr::memmem::find(spelled.as_bytes(), TWICE).is_some() {
                let inner = &spelled[1..spelled.len() - 1];
                let places = Places::of_json_string(inner, start + tokens.end() - 1 - inner.len());
                let edits = find(&places.text, notes);
                found.extend(outside(&places, edits));
            }
        }
    };
    if let Some(json) = Text::parse_container(text) {
        in_json(json, 0);
        return found;
    }
    for line in sse::event_lines(text) {
        let said = line.data(text).unwrap_or(line.content);
        if let Some(json) = Text::parse_container(text[said.clone()].trim_ascii_end()) {
            in_json(json, said.start);
        }
    }
    found
}

/// The edits for a text of which more is to come, and up to where it is decided.
pub(super) fn decided(text: &[u8], notes: &mut Notes<'_>) -> (Vec<Edit>, usize) {
    if !may_tell(text) {
        return (Vec::new(), begun(text));
    }
    let end = open(text, &[]).min(begun(text));
    let edits = edits(&Within::of(text), end, |_| true, notes);
    let end = edits.last().map_or(end, |last: &Edit| last.range.end.max(end));
    (edits, end)
}

fn edits(
    within: &Within<'_>,
    until: usize,
    counts: impl Fn(RuleKind) -> bool,
    notes: &mut Notes<'_>,
) -> Vec<Edit> {
    if !notes.applies(Rule::Looks) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut run = Run::default();
    let text = within.text;
    for (rule, word) in words(text).take_while(|(_, word)| word.start < until) {
        let is_known = counts(rule.kind)
            && notes.applies(rule.of)
            && (rule.kind != RuleKind::Packed || within.begins(word.start));
        if !is_known || !run.may_try(rule, text, word.start) {
            continue;
        }
        match rule.found(within, word, notes) {
            Some(secret) => found.push((rule, secret)),
            None => run.failed(rule),
        }
    }
    // What has a look of its own is called by that, whatever somebody says that it is.
    found.sort_by_key(|(rule, _)| rule.kind == RuleKind::Said);
    let mut edits: Vec<Edit> = Vec::new();
    for (rule, FoundSecret { name, range }) in found {
        let is_within = |edit: &Edit| edit.range.start < range.end && range.start < edit.range.end;
        if rule.kind == RuleKind::Said && edits.iter().any(is_within) {
            continue;
        }
        let secret = String::from_utf8_lossy(&text[range.clone()]).into_owned();
        // A name tells of a replacement as of any value: what a client sends is called by it.
        let has_name = matches!(rule.kind, RuleKind::Named | RuleKind::Said);
        let is_replacement = !has_name && notes.redactor.own.is_replacement(&secret);
        if !secret.contains(OPENING)
            && !is_replacement
            && !notes.secrets.is_spared(&secret)
            && let Some(with) = notes.replacement(name, &secret)
        {
            edits.push(Edit::new(range, with));
        }
    }
    in_order(edits)
}

/// The words of the rules in a text, also those within others, by where they end.
///
/// # Rationale
///
/// The iterator of the crate does the same in twice the time.
fn words(text: &[u8]) -> impl Iterator<Item = (&'static Look, Range<usize>)> {
    let Looks { words, rule_of, rules, .. } = &*LOOKS;
    let mut state = words.start_state(Anchored::No).expect("words may begin anywhere");
    let (mut at, mut given) = (0, 0);
    std::iter::from_fn(move || {
        while !words.is_match(state) || given == words.match_len(state) {
            let passed = text[at..].iter().position(|byte| {
                state = words.next_state(Anchored::No, state, *byte);
                words.is_special(state)
            })?;
            (at, given) = (at + passed + 1, 0);
        }
        let word = words.match_pattern(state, given);
        given += 1;
        Some((&rules[rule_of[word.as_usize()]], at - words.pattern_len(word)..at))
    })
}

impl Look {
    fn expression(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let expression = format!("^(?-u:{})", self.expression);
            Regex::new(&expression).expect("the rules are fixed and tested")
        })
    }

    fn found<'t>(
        &'t self,
        within: &Within<'t>,
        word: Range<usize>,
        notes: &Notes<'_>,
    ) -> Option<FoundSecret<'t>> {
        let at = self.before.start(within.text, word.start)?;
        let own = word.end - at;
        if !within.begins(at) {
            return None;
        }
        let text = within.text;
        let window = self.window(&text[at..]);
        let window = match self.kind {
            RuleKind::Block => until_next(&text[at..at + window], own),
            _ => &text[at..at + window],
        };
        let captures = self.expression().captures(window)?;
        let secret =
            captures.name("s").or_else(|| captures.name("c")).or_else(|| captures.get(0))?;
        let spelled = str::from_utf8(secret.as_bytes()).ok()?;
        let name = captures.name("n").and_then(|name| str::from_utf8(name.as_bytes()).ok());
        let mut range = at + secret.start()..at + secret.end();
        let is_secret = match self.kind {
            RuleKind::Token => is_mixed(spelled) && !is_sample(spelled),
            RuleKind::Exact | RuleKind::Block => !is_sample(spelled),
            RuleKind::Basic => is_basic(spelled),
            RuleKind::Said => is_said(name?, spelled, notes),
            RuleKind::Random => is_random(name, spelled, notes),
            RuleKind::Packed => {
                // What is longer than what is looked at goes as well.
                range.end += end_of_base64(&text[range.end..]);
                is_packed(spelled, notes)
            }
            RuleKind::Named => {
                range.start += value::behind_scheme(spelled);
                is_named(name?, &spelled[value::behind_scheme(spelled)..], notes)
            }
        };
        is_secret.then_some(FoundSecret { name: name.unwrap_or(self.id), range })
    }

    /// How much of a text the expression sees: the rest of a line, as far as a secret goes.
    fn window(&self, text: &[u8]) -> usize {
        let (longest, ends_with_line) = match self.kind {
            RuleKind::Block => (LONGEST_BLOCK, false),
            RuleKind::Packed => (LONGEST_BLOCK, true),
            RuleKind::Named | RuleKind::Said | RuleKind::Random => {
                (self.reach(), !self.is_over_lines())
            }
            _ => (LONGEST, !self.is_over_lines()),
        };
        let longest = longest.min(text.len());
        let line = ends_with_line.then(|| memchr::memchr(b'\n', &text[..longest])).flatten();
        line.unwrap_or(longest)
    }

    /// Whether people write it over several lines.
    fn is_over_lines(&self) -> bool {
        matches!(
            self.id,
            "variable"
                | "netrc-password"
                | "attribute"
                | "attribute-behind"
                | "element-on-lines"
                | "element-pair"
                | "input-password"
                | "input-behind"
                | "meta"
        )
    }

    /// How much of a line an expression sees that has a name and a value: the token of a session stands in an
    /// element, and is long.
    fn reach(&self) -> usize {
        if self.id == "element" { LONGEST } else { REACH }
    }

    /// Whether what comes behind the end of a text may make a secret of what begins here, or a longer one. From
    /// `run` on, the text is one of which a token may be.
    fn is_open(&self, text: &[u8], (start, run): (usize, usize), word: usize) -> bool {
        let rest = &text[start..];
        match self.kind {
            RuleKind::Block => {
                let block = until_next(rest, word);
                let behind = &block[word.min(block.len())..];
                let closed = memchr::memmem::find(behind, b"-----END").is_some_and(|end| {
                    memchr::memmem::find(&behind[end + 8..], b"-----").is_some()
                });
                !closed && block.len() == rest.len() && rest.len() < LONGEST_BLOCK
            }
            RuleKind::Packed => rest.len() < LONGEST_BLOCK && start >= run,
            RuleKind::Named | RuleKind::Said | RuleKind::Random => {
                self.window(rest) == rest.len() && rest.len() < self.reach()
            }
            _ if self.expression.contains(OPTIONS)
                || matches!(
                    self.id,
                    "cli-password"
                        | "cli-user"
                        | "netrc-password"
                        | "sql-password"
                        | "authorization"
                        | "cookie-list"
                ) =>
            {
                self.window(rest) == rest.len() && rest.len() < REACH
            }
            _ => rest.len() < LONGEST && start + word >= run,
        }
    }
}

/// A block up to where the next one begins with the same word: none is in another.
fn until_next(block: &[u8], word: usize) -> &[u8] {
    let (begins, behind) = block.split_at(word.min(block.len()));
    let next = memchr::memmem::find(behind, begins).filter(|_| !begins.is_empty());
    next.map_or(block, |next| &block[..word + next])
}

/// Where something begins that is all of a secret, or the beginning of one, only with what comes next; `starts` are
/// the places where the pieces of the text begin, if it is in pieces.
pub(super) fn open(text: &[u8], starts: &[usize]) -> usize {
    let from = text.len().saturating_sub(LONGEST_BLOCK);
    let within = Within::of_pieces(text, starts);
    let run = text.iter().rposition(|byte| !is_of_token(*byte)).map_or(0, |at| at + 1);
    let is_of_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-=\\".contains(byte);
    let packed = text.iter().rposition(|byte| !is_of_base64(byte)).map_or(0, |at| at + 1);
    let open = words(&text[from..]).filter_map(|(rule, word)| {
        let run = if rule.kind == RuleKind::Packed { packed } else { run };
        let start = rule.before.start(text, from + word.start).unwrap_or(0);
        (within.begins(start) && rule.is_open(text, (start, run), from + word.end - start))
            .then_some(start)
    });
    open.min().unwrap_or(text.len())
}

/// Where the text ends in what a word of a rule begins with.
pub(super) fn begun(text: &[u8]) -> usize {
    let from = text.len().saturating_sub(LOOKS.longest_word);
    let words = &LOOKS.words;
    let start = words.start_state(Anchored::No).expect("words may begin anywhere");
    // Most texts do not.
    if text[from..].iter().fold(start, |at, byte| words.next_state(Anchored::No, at, *byte))
        == start
    {
        return text.len();
    }
    let (tail, within) = (text[from..].to_ascii_lowercase(), Within::of(text));
    let begun = (0..tail.len()).find_map(|start| {
        let (at, tail) = (from + start, &tail[start..]);
        let name = || LOOKS.begun_in_names.contains(tail).then(|| at - name_at_end(&text[..at]));
        (within.begins(at) && LOOKS.begun.contains(tail)).then_some(at).or_else(name)
    });
    begun.unwrap_or(text.len())
}

/// A text in which words of rules are looked for.
struct Within<'t> {
    text: &'t [u8],
    /// Where the pieces of it begin, in order.
    starts: &'t [usize],
    is_binary: OnceCell<bool>,
}

impl<'t> Within<'t> {
    fn of(text: &'t [u8]) -> Self {
        Self::of_pieces(text, &[])
    }

    fn of_pieces(text: &'t [u8], starts: &'t [usize]) -> Self {
        Self { text, starts, is_binary: OnceCell::new() }
    }

    /// Whether a word may begin here: with a piece, or not within another one. In what is no text it may stand behind
    /// its length.
    fn begins(&self, at: usize) -> bool {
        let text = self.text;
        let is_sign = text.get(at).is_some_and(|byte| !byte.is_ascii_alphanumeric());
        let Some(before) = at.checked_sub(1).map(|at| text[at]) else { return true };
        let escape = at >= 2 && text[at - 2] == b'\\' && b"nrtbf".contains(&before);
        let is_hex = |at: usize| text[at].is_ascii_hexdigit();
        let percent = at >= 3 && text[at - 3] == b'%' && is_hex(at - 2) && is_hex(at - 1);
        let unicode = at >= 6 && text[at - 6..at - 4] == *b"\\u" && (at - 4..at).all(is_hex);
        let is_word = before.is_ascii_alphanumeric() || before == b'_';
        let is_binary = || *self.is_binary.get_or_init(|| !plain::may_begin(text));
        let is_measured = || is_binary() && is_length(before, &text[at..]);
        let is_piece = || self.starts.binary_search(&at).is_ok();
        is_sign || !is_word || escape || percent || unicode || is_piece() || is_measured()
    }
}

/// Whether a byte may say how long the text behind it is, as in MessagePack and Protocol Buffers, or in CBOR, where a
/// short one has `0x60` added to it (RFC 8949, section 3.1).
fn is_length(byte: u8, text: &[u8]) -> bool {
    const SHORTEST: usize = 16;
    let run = text.iter().take(256).take_while(|byte| is_of_token(**byte)).count();
    let length = usize::from(byte);
    let short = length.checked_sub(0x60).filter(|short| *short >= SHORTEST);
    run >= length || short.is_some_and(|short| run >= short)
}

const fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=' | b'%' | b':' | b'@' | b' ' | b'!'
        )
}

#[cfg(test)]
mod tests {
    use super::super::{Redactor, Secrets};
    use super::*;

    #[test]
    fn a_long_token_in_an_element_is_one_however_it_is_cut() {
        let token = "IQoJb3JpZ2luX2Vj8aZ".repeat(60);
        let text = format!("<Credentials><SessionToken>{token}</SessionToken></Credentials>");
        let redactor = Redactor::standard();
        assert!(!redactor.text(&text).contains(&token[..40]));
        for at in [20, 40, 700, text.len() - 20] {
            let mut live = super::super::Live::new(&redactor, Secrets::default());
            let mut shown = live.push(&text.as_bytes()[..at]).into_owned();
            shown.extend_from_slice(&live.push(&text.as_bytes()[at..]));
            shown.extend(live.finish().0);
            assert!(!String::from_utf8_lossy(&shown).contains(&token[..40]), "cut at {at}");
        }
    }

    #[test]
    fn words_are_found_within_others_too() {
        let text = b"Bearer sk-ant-SK-sk_ \xffGHP_ghp_Bearer";
        let looks = &*LOOKS;
        let crates = looks.words.try_find_overlapping_iter(Input::new(text)).unwrap();
        let expected: Vec<_> = crates.map(|it| it.start()..it.end()).collect();

        let found: Vec<_> = words(text).map(|(_, range)| range).collect();

        assert!(found.len() >= 6, "{found:?}");
        assert_eq!(found, expected);
    }

    #[test]
    fn each_line_is_a_rule() {
        let compiled = LOOKS.rules.iter().filter(|rule| rule.expression().captures_len() > 0);

        assert_eq!(compiled.count(), lines().count());
    }
}
