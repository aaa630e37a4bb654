//! Pages: what comes behind a token is none of what came with it.
//!
//! # Rationale
//!
//! A client takes a token from an answer, or its last row, and asks with it for what comes behind. A server that forgets
//! to look at it says the same page again. That keeps to every shape, and the client never comes to an end. So a page is
//! held against the one of the same path that has said the token, and one that is asked for by its number against those
//! with other numbers. The first of these is held against the page that was asked for without a number, too, where that
//! has shown other rows: a number may also choose some of all, such as those of a year.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{At, Broken, Check};
use super::claim::{Field, Invariant, Path};
use super::earlier::{Earlier, REQUEST};
use super::holding::CHANCES;
use super::sorted::is_of_row;
use super::tie::Tie;
use super::trace::Trace;
use crate::contract::path;
use crate::identity::{Meaning, is_moment};
use crate::text::json::Text;

/// What may hold of pages.
const PAGED: [Tie; 2] = [Tie::NewBehind, Tie::NewBehindFirst];

/// A token is as long as this at least, and has a digit.
const SHORTEST: usize = 6;
const LONGEST: usize = 4096;

/// More places of requests and answers are not held against each other.
const MOST: usize = 256;

/// What pages say behind a token, by the place of the token in the request and the one in the page.
#[derive(Debug, Clone, Default)]
pub(super) struct Onward(BTreeMap<(Tie, String, String), TokenUses>);

#[derive(Debug, Clone, Default)]
struct TokenUses {
    /// Each token; by recording a number, and a token that its page does not say: these are the same in many.
    tokens: BTreeSet<(u32, String)>,
    is_said_again: bool,
}

impl Onward {
    /// Learns from an answer that is a message by itself.
    pub(super) fn learn(&mut self, recording: u32, trace: &Trace<'_>) {
        let Some(earlier) = trace.earlier else { return };
        let asked = trace.request.and_then(Text::read).map(asked).unwrap_or_default();
        // What stands deep in a request is what is sent, such as a conversation so far.
        let is_plain = |of: &str| !of.contains("[]") && of.matches('.').count() <= 1;
        for (of, token) in asked.into_iter().filter(|(of, _)| is_plain(of)) {
            for tie in PAGED {
                let pages = pages(earlier, tie, &of, &token);
                if pages.iter().any(|page| !page.is_empty()) {
                    self.turn(recording, trace, (tie, &of, &token), &pages);
                }
            }
        }
    }

    /// Learns from a page what of the pages before it says again.
    fn turn(
        &mut self,
        recording: u32,
        trace: &Trace<'_>,
        (tie, of, token): (Tie, &str, &str),
        pages: &[&[(String, String)]],
    ) {
        let answers = || trace.events.iter().filter_map(|event| Text::read(event.json));
        // A position in a list leads on to others. What the next page says as well, such as a model, may be of everything.
        let is_position = || answers().flat_map(tokens).all(|(_, said)| said != *token);
        let recording = if is_number(token) || is_position() { recording } else { 0 };
        // Another time says nothing of what else is there.
        for (place, said) in answers().flat_map(tokens).filter(|(_, said)| !is_moment(said)) {
            let before = pages.iter().copied().flatten().filter(|(of, _)| *of == place);
            let before: Vec<&String> = before.map(|(_, said)| said).collect();
            let key = (tie, of.to_owned(), place);
            let has_room = self.0.len() < MOST || self.0.contains_key(&key);
            if has_room && !before.is_empty() {
                let seen = self.0.entry(key).or_default();
                seen.is_said_again |= before.contains(&&said);
                seen.tokens.insert((recording, token.to_owned()));
            }
        }
    }

    /// Where no page ever said again what came with the token, so often that it could have: the rows before the rest.
    pub(super) fn holding(&self) -> Vec<Invariant> {
        let holds = |seen: &TokenUses| !seen.is_said_again && seen.tokens.len() as u64 >= CHANCES;
        let mut best: BTreeMap<(Tie, &str), &str> = BTreeMap::new();
        for ((tie, of, place), _) in self.0.iter().filter(|(_, seen)| holds(seen)) {
            let known = best.entry((*tie, of)).or_insert(place);
            *known = [*known, place].into_iter().min_by_key(|it| rank(it)).unwrap_or(place);
        }
        let field = |tag: Option<&str>, path: &str| Field {
            tag: tag.map(str::to_owned),
            path: Path::written(path),
        };
        let tied =
            |((tie, of), place)| Invariant::Tied(tie, field(None, place), field(Some(REQUEST), of));
        best.into_iter().map(tied).collect()
    }
}

/// The pages before one that is asked for by a token or a number.
fn pages<'e>(
    earlier: &'e dyn Earlier,
    tie: Tie,
    of: &str,
    token: &str,
) -> Vec<&'e [(String, String)]> {
    match tie {
        Tie::NewBehindFirst => earlier.first_page(of).into_iter().collect(),
        _ => earlier.pages(of, token),
    }
}

/// What a page is known by comes first.
fn rank(place: &str) -> (bool, bool, usize) {
    let is_named = Meaning::of(Path::written(place).last()) == Meaning::Identity;
    (!is_of_row(place), !is_named, place.len())
}

impl Check<'_> {
    /// Where a field says again what it said with the token in the request, or without a number there.
    pub(super) fn said_again(&self, tie: Tie, field: &Field, asked: &Field) -> Broken<'_> {
        let Some(earlier) = self.trace.earlier else { return Broken::new() };
        let token = self.asked(asked).find_map(|at| at.value.said());
        let pages = token.map(|token| pages(earlier, tie, asked.path.as_str(), &token));
        let said = pages.iter().flatten().copied().flatten();
        let before = said.filter(|(place, _)| *place == field.path.as_str());
        let before: BTreeSet<&str> = before.map(|(_, said)| &**said).collect();
        let is_again = |at: &At<'_>| at.value.said().is_some_and(|said| before.contains(&*said));
        self.all(field).into_iter().find(is_again).map(|at| (at, None)).into_iter().collect()
    }
}

/// What a request may lead on with: a token, or the number of a page.
fn asked(json: Text<'_>) -> Vec<(String, String)> {
    let mut found = tokens(json);
    json.each_leaf(|pointer, _, word, _| {
        if is_number(&word) && found.iter().all(|(_, token)| *token != *word) {
            found.extend(path(pointer).map(|path| (path, word.to_string())));
        }
    });
    found
}

/// Whether a word may be the number of a page.
pub(in crate::contract) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// What may lead somewhere, and where it stands. What stands in an open place of a path leads to a thing, not on.
pub(in crate::contract) fn tokens(json: Text<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    json.each_leaf(|pointer, _, word, spelled| {
        let is_token = spelled.starts_with('"')
            && (SHORTEST..=LONGEST).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_graphic())
            && word.bytes().any(|byte| byte.is_ascii_digit());
        if let Some(path) = is_token.then(|| path(pointer)).flatten() {
            found.push((path, word.to_string()));
        }
    });
    found
}
