//! What was said before, in the same cassette.

use std::collections::{BTreeMap, HashMap};

use super::asked::fields;
use super::clients::member;
use super::cut::{Cut, ReadInteraction, TypedToken};
use super::state::State;
use crate::cassette::{End, Interaction, Request};
use crate::contract::invariant::{Earlier, Field, FieldNumbers, Said, identified, tokens};
use crate::identity::identifiers;
use crate::message::{Protocols, Tag};
use crate::text::json::Text;

/// What a server has said in the earlier answers of a conversation.
#[derive(Debug, Default)]
pub struct History {
    given: HashMap<String, GivenValue, foldhash::fast::RandomState>,
    /// The fields of messages that say their type.
    names: FieldNumbers,
    turns: Vec<Turn>,
    /// The words of clients.
    chosen: Chosen,
    /// The names of members of their objects, by the field that holds the objects.
    named: Chosen,
    /// What was asked for, by interaction.
    paths: Vec<String>,
    /// What answers without a type say that say what a request says.
    pages: Vec<OnwardTokens>,
    /// What requests say.
    led: HashMap<String, Led, foldhash::fast::RandomState>,
    /// What was said of things.
    state: State,
}

/// What an answer says that may lead on, each token with its place.
#[derive(Debug)]
struct OnwardTokens {
    interaction: usize,
    said: Vec<(String, String)>,
}

/// The requests that say something, and the pages that do.
#[derive(Debug, Default)]
struct Led {
    asked: Vec<usize>,
    pages: Vec<usize>,
}

/// Words by field, and the number of the first interaction that says each.
#[derive(Debug, Default)]
struct Chosen(HashMap<String, HashMap<String, usize>, foldhash::fast::RandomState>);

/// A page that is asked for by its number is held against so many before it.
const PAGES: usize = 100;

/// A longer text is no word.
const LONGEST_WORD: usize = 48;

/// What was said before an interaction, by its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before<'h> {
    pub(super) history: &'h History,
    pub(super) number: usize,
}

/// Where a value was given that identifies something, by the number of the first interaction.
#[derive(Debug, Default)]
struct GivenValue {
    first: usize,
    /// In messages that say their type: each field once, by its number.
    fields: Vec<(u32, usize)>,
}

/// An answer in messages, and what it was about.
#[derive(Debug)]
struct Turn {
    interaction: usize,
    /// The identifiers in the path.
    about: Vec<String>,
    /// What the last message of each type says, by type and path.
    said: BTreeMap<(String, String), String>,
}

impl History {
    /// What the answers of these interactions said.
    pub fn of(interactions: &[Interaction], protocols: &Protocols) -> Self {
        Self::of_read(interactions, &read(interactions, protocols))
    }

    /// The same of what was read before.
    pub(super) fn of_read(interactions: &[Interaction], all: &[ReadInteraction]) -> Self {
        let mut history = Self { state: State::of(interactions), ..Self::default() };
        for (number, (interaction, read)) in interactions.iter().zip(all).enumerate() {
            let fields = if read.asked.is_none() { fields(&interaction.request) } else { None };
            let asked = read.asked().or(fields.as_deref().map(Text::known));
            for (_, token) in asked.map(tokens).unwrap_or_default() {
                history.led.entry(token).or_default().asked.push(number);
            }
        }
        for (number, (interaction, read)) in interactions.iter().zip(all).enumerate() {
            let Request { method, .. } = &interaction.request;
            history.paths.push(format!("{method} {}", interaction.request.path_only()));
            if let Some(asked) = read.asked() {
                history.choose(number, asked);
            }
            if let Some(cut) = &read.cut {
                history.give(number, interaction, cut);
                history.turn(number, interaction, cut);
            }
            let Self { state, names, .. } = &mut history;
            state.tell(names, number, interaction, read.asked(), read.cut.as_ref());
        }
        history
    }

    /// Notes the words that a client says, and the names that it gives.
    fn choose(&mut self, number: usize, asked: Text<'_>) {
        asked.each_leaf(|pointer, name, word, spelled| {
            if let Some((_, field)) = member(pointer) {
                self.named.add(field, &name, number);
            }
            if spelled.starts_with('"') && word.len() <= LONGEST_WORD {
                self.chosen.add(&name, &word, number);
            }
        });
    }

    /// Notes what identifies something.
    fn give(&mut self, number: usize, interaction: &Interaction, cut: &Cut) {
        if !cut.framing.is_stream() {
            self.page(number, interaction);
        }
        let Self { given, names, .. } = self;
        for (message, json) in cut.json() {
            let is_named = matches!(message.tag, Tag::Named(_));
            let tag = is_named.then(|| names.word(message.tag.as_str()));
            identified(json, |path, value| {
                if !given.contains_key(&*value) {
                    let first = GivenValue { first: number, fields: Vec::new() };
                    given.insert(value.to_string(), first);
                }
                let Some((tag, given)) = tag.zip(given.get_mut(&*value)) else { return };
                let path = names.word(path.as_str());
                let field = names.field(Some(tag), path);
                if given.fields.iter().all(|(known, _)| *known != field) {
                    given.fields.push((field, number));
                }
            });
        }
    }

    /// Notes what an answer says that leads on, or that a page says which is asked for by its number.
    fn page(&mut self, number: usize, interaction: &Interaction) {
        let Self { led, pages: all, paths, state, .. } = self;
        let path = paths.get(number).and_then(|path| path.strip_prefix("GET "));
        let is_paged = path.is_some_and(|path| state.has_pages(path));
        let response = interaction.response().filter(|_| is_paged || !led.is_empty());
        let body = response.map(|response| response.readable().bytes()).unwrap_or_default();
        let Some(json) = Text::parse(&body).filter(|json| is_paged || leads(*json, led)) else {
            return;
        };
        let said = tokens(json);
        for (_, token) in &said {
            if let Some(led) = led.get_mut(token) {
                led.pages.push(all.len());
            }
        }
        all.push(OnwardTokens { interaction: number, said });
    }

    /// Notes what an answer to something that was said comes down to.
    fn turn(&mut self, number: usize, interaction: &Interaction, cut: &Cut) {
        let is_turn = interaction.request.method != "GET"
            && interaction.response().is_some_and(|response| {
                (200..300).contains(&response.status) && response.end == End::Complete
            });
        if !is_turn {
            return;
        }
        let steps = cut.steps().iter().filter(|step| step.is_named);
        let said: BTreeMap<(String, String), String> = steps
            .flat_map(|TypedToken { token, .. }| {
                let is_told = |(_, json): &&(String, String)| json.trim_matches('"') != token.tag;
                let told = token.fields.iter().filter(is_told);
                told.map(|(path, json)| ((token.tag.clone(), path.clone()), json.clone()))
            })
            .collect();
        if !said.is_empty() {
            self.turns.push(Turn { interaction: number, about: about(interaction), said });
        }
    }
}

impl Chosen {
    fn add(&mut self, field: &str, word: &str, number: usize) {
        match self.0.get_mut(field) {
            Some(words) if words.contains_key(word) => {}
            Some(words) => {
                words.insert(word.to_owned(), number);
            }
            None => {
                self.0.insert(field.to_owned(), HashMap::from([(word.to_owned(), number)]));
            }
        }
    }

    /// Whether a word was said by an interaction.
    fn has(&self, field: &str, word: &str, number: usize) -> bool {
        let first = self.0.get(field).and_then(|words| words.get(word));
        first.is_some_and(|first| *first <= number)
    }
}

impl<'h> Before<'h> {
    /// The pages before this one that were asked for at its path, the last one first.
    fn turned(self) -> impl Iterator<Item = &'h OnwardTokens> {
        let History { paths, pages, .. } = self.history;
        let own = paths.get(self.number);
        let is_before = move |page: &&OnwardTokens| {
            page.interaction < self.number && paths.get(page.interaction) == own
        };
        pages.iter().rev().filter(is_before)
    }

    /// Whether the client has said a word in a field of this name by then.
    pub(super) fn has_chosen(self, field: &str, word: &str) -> bool {
        self.history.chosen.has(field, word, self.number)
    }

    /// Whether the client has said a member of this name in a field of that name by then.
    pub(super) fn has_named(self, field: &str, name: &str) -> bool {
        self.history.named.has(field, name, self.number)
    }

    /// Whether the server identifies something by a word, before or behind.
    pub(super) fn is_identifier(self, word: &str) -> bool {
        self.history.given.contains_key(word)
    }

    /// Whether the answer before said the same in a place of a thing, and nothing has changed it since.
    pub(super) fn says(self, id: &str, place: &str, now: Text<'_>) -> bool {
        self.history.state.says(id, place, self.number, now)
    }

    /// Whether any answer before said that in a place of a thing.
    pub(super) fn has_said(self, id: &str, place: &str, value: Text<'_>) -> bool {
        self.history.state.has_said(id, place, self.number, value)
    }

    /// Whether the server has given a value.
    pub(super) fn has_given(self, value: &str) -> bool {
        self.history.given.get(value).is_some_and(|given| given.first < self.number)
    }

    /// What the last answer about the same said: what it is about stands in its path. Nothing if there
    /// was none.
    pub(super) fn last(
        self,
        interaction: &Interaction,
    ) -> impl Iterator<Item = (&'h str, &'h str, &'h str)> {
        let about = about(interaction);
        let is_over = |turn: &&Turn| {
            let open = interaction.after.iter().any(|open| open.interaction == turn.interaction);
            turn.interaction < self.number && !open && turn.about == about
        };
        let last = self.history.turns.iter().rev().find(is_over).filter(|_| !about.is_empty());
        let said = last.into_iter().flat_map(|turn| &turn.said);
        said.map(|((tag, path), json)| (tag.as_str(), path.as_str(), json.as_str()))
    }
}

impl Earlier for Before<'_> {
    fn fields(&self, key: &str) -> Vec<&Field> {
        let fields = self.history.given.get(key).into_iter().flat_map(|given| &given.fields);
        let before = fields.filter(|(_, first)| *first < self.number);
        before.map(|(field, _)| self.history.names.get(*field)).collect()
    }

    fn pages(&self, place: &str, token: &str) -> Vec<&[(String, String)]> {
        let History { paths, pages, led, state, .. } = self.history;
        let is_before = |page: &&OnwardTokens| {
            page.interaction < self.number && paths.get(page.interaction) == paths.get(self.number)
        };
        // What was asked for by the token says it, too, and is no page before.
        let leads = |led: &&OnwardTokens, asked: &[usize]| !asked.contains(&led.interaction);
        let told = led.get(token).into_iter().flat_map(|Led { asked, pages: said }| {
            said.iter().rev().map(|page| &pages[*page]).filter(|page| leads(page, asked))
        });
        let told = told.filter(is_before).take(1);
        let turned = self.turned();
        let turned = turned.filter(|page| state.are_pages(place, page.interaction, self.number));
        let turned = turned.take(PAGES).map(|page| &*page.said);
        // What stands behind the row that it goes on from may come again.
        let told = told.map(|page| &page.said[..end_of_row(&page.said, token)]);
        told.chain(turned).collect()
    }

    fn first_page(&self, place: &str) -> Option<&[(String, String)]> {
        let state = &self.history.state;
        let is_turned =
            || self.turned().any(|page| state.are_pages(place, page.interaction, self.number));
        let is_first = |page: &&OnwardTokens| state.is_first(place, page.interaction, self.number);
        self.turned().find(is_first).filter(|_| !is_turned()).map(|page| &*page.said)
    }

    fn said(&self, id: &str, place: &str) -> &[(usize, Said)] {
        self.history.state.said(id, place, self.number)
    }

    fn counted(&self, id: &str, place: &str) -> &[(usize, f64)] {
        self.history.state.counted(id, place, self.number)
    }

    fn again(&self) -> Option<&str> {
        self.history.state.again(self.number)
    }

    fn made(&self) -> Vec<(&str, bool)> {
        let path = self.history.paths.get(self.number);
        let read = path.and_then(|path| path.strip_prefix("GET "));
        read.map(|path| self.history.state.made(path, self.number)).unwrap_or_default()
    }
}

/// Where the row of a page ends that says a token: the next one begins with what the first one begins with. All of the
/// page, if no row says it.
fn end_of_row(said: &[(String, String)], token: &str) -> usize {
    let list_of = |at: usize| said[at].0.split_once("[]").map(|(list, _)| list);
    let mut all = 0..said.len();
    let Some(at) = all.find(|at| said[*at].1 == token && list_of(*at).is_some()) else {
        return said.len();
    };
    let first = (0..=at).find(|other| list_of(*other) == list_of(at)).unwrap_or(at);
    all.find(|next| said[*next].0 == said[first].0).unwrap_or(said.len())
}

/// Whether something in an answer is what a request says.
fn leads(json: Text<'_>, led: &HashMap<String, Led, foldhash::fast::RandomState>) -> bool {
    let mut leads = false;
    json.each_leaf(|_, _, word, _| leads |= led.contains_key(&*word));
    leads
}

/// Each interaction, read.
pub(super) fn read(interactions: &[Interaction], protocols: &Protocols) -> Vec<ReadInteraction> {
    interactions.iter().map(|interaction| ReadInteraction::of(interaction, protocols)).collect()
}

/// The identifiers in the path.
fn about(interaction: &Interaction) -> Vec<String> {
    let path = interaction.request.path_only();
    identifiers(path).map(|range| path[range].to_owned()).collect()
}
