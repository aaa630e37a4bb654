//! What another run of the client that was recorded shows.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use similar::{DiffOp, capture_diff_slices};

use super::assumed::{Assumed, Assumptions};
use super::nearest::Library;
use super::{Asked, Index, Playlist};
use crate::cassette::exchanges::Exchanges;
use crate::cassette::placeholder::is_placeholder;
use crate::cassette::reading::{Kind, Node, Reading};
use crate::cassette::{Cassette, Evidence, Id, Ids, Interaction, Peer, Reach, Request};
use crate::compare::difference::{Differences, compare};
use crate::compare::recorded::Recorded;
use crate::config::Treatment;
use crate::identity::names::{Template, scope_of_whole};
use crate::identity::{Hole, Scope, identifiers, server, word_around};
use crate::text::json::Text;

/// What another run of the client that was recorded shows: what is another value in the same place was
/// made up by the client, and what looked made up and is the same was not.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    assumptions: Assumptions,
    /// Servers that listened at another port, which the client has named.
    servers: Vec<Id>,
    /// Places that differ although a person says that nothing there is made up.
    denied: BTreeSet<String>,
    /// How often each name of the recording was called the same, and otherwise.
    called: HashMap<String, (usize, usize)>,
    /// What the recorded requests say, by the requests' kind and the place.
    said: Option<RecordedValues>,
}

/// The hashes of what recorded requests say in a place, by their kind and it.
type RecordedValues = HashMap<(u64, u64), HashSet<u64>>;

/// What became of a table of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// What differed from run to run.
    pub made_up: Vec<Id>,
    /// What had looked made up and never differed.
    pub fixed: Vec<Id>,
}

/// What the client made up in one request, and what stands for each name now.
type Invented = (Vec<Id>, Vec<(Hole, Hole)>);

/// So many interactions are compared with a request that nothing answers.
const LOOKS: usize = 500;

/// A value that is as long is told from others wherever it stands; a shorter one if it is more than letters.
const LONG: usize = 8;
const TELLING: usize = 4;

impl Proof {
    /// What stood, when it was recorded, where the run has shown something to be made up.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.assumptions.holes()
    }

    /// The same of the cassette whose exchanges were played.
    pub(crate) fn folded(mut self, exchanges: &Exchanges) -> Self {
        let folded = |client| exchanges.folded(Ids { client, ..Ids::default() }).client;
        self.assumptions.change_made_up(folded);
        self
    }

    /// Places that differ although a person says that nothing there is made up.
    pub fn denied(&self) -> impl Iterator<Item = &str> {
        self.denied.iter().map(String::as_str)
    }

    /// Whether a request was answered although it differs.
    pub fn has_made_up(&self) -> bool {
        self.assumptions.made_up().next().is_some()
    }

    /// Whether any request was answered by an interaction that differs.
    pub fn has_assumed(&self) -> bool {
        !self.assumptions.is_empty()
    }

    /// Takes back what was assumed of interactions for which the client asks after all. Returns what had come in
    /// their place.
    pub fn retract(
        &mut self,
        index: &Index,
        playlist: &mut Playlist,
        asked: &Asked<'_>,
    ) -> Vec<Request> {
        let retracted = self.assumptions.retract(index, asked);
        for Assumed { number, bound, fresh, .. } in &retracted {
            playlist.retract(index, *number, fresh);
            for (recorded, live) in bound {
                *self.count(recorded, live) -= 1;
            }
        }
        self.called.retain(|_, counts| *counts != (0, 0));
        retracted.into_iter().map(|it| it.asked).collect()
    }

    /// Notes what stands for the names of a recorded request.
    pub fn note<'a>(&mut self, pairs: impl Iterator<Item = (&'a Hole, &'a Hole)>) {
        for (recorded, live) in pairs {
            *self.count(recorded, live) += 1;
        }
    }

    fn count(&mut self, recorded: &Hole, live: &Hole) -> &mut usize {
        let (same, other) = self.called.entry(recorded.identifier.clone()).or_default();
        if recorded.identifier == live.identifier { same } else { other }
    }

    /// Notes that a client names a recorded server, by the same port or by another one.
    pub fn note_server(&mut self, cassette: &Cassette, recorded: &str, named: &str) {
        let Some(id) = server(cassette, recorded, Evidence::Runs) else { return };
        let called = self.called.entry(id.value.clone()).or_default();
        if recorded == named {
            called.0 += 1;
        } else {
            called.1 += 1;
            self.servers.push(id);
        }
    }

    /// Answers a request that nothing answers by the interaction that differs from it in the fewest values, and of
    /// several by the one that says most of these alike. Notes what differs as made up. Nothing if something else
    /// differs, if the server had issued what differs, or if the client has asked for that interaction as it is: then
    /// this request comes beside it, and not in its place.
    pub fn assume(
        &mut self,
        cassette: &Cassette,
        index: &Index,
        playlist: &mut Playlist,
        request: &Request,
    ) -> Option<usize> {
        let plain = request.readable();
        let asked = &index.read(request, &plain);
        let mut denied = BTreeSet::new();
        let said = self.said.get_or_insert_with(|| said(cassette, index));
        let chosen = {
            let library = Library { cassette, index, playlist };
            // What a server said of itself is in no request that a client can make.
            let method = &asked.reading.nodes[0].text;
            let is_meant = |number: &usize| library.request(*number).method == **method;
            let unplayed = playlist.unplayed().filter(is_meant).take(LOOKS);
            let compared = unplayed.filter_map(|number| {
                let request = library.request(number);
                let found = library.with_recorded(request, number, |recorded, openings| {
                    let found = compare(recorded, &asked.reading);
                    let (mut made_up, named) =
                        made_up(&library, number, &found, (recorded, asked), (said, &mut denied))?;
                    let texts = openings.iter().map(|it| recorded.hole(it)).collect::<Vec<_>>();
                    let filled = found.filled.iter();
                    let bound = filled.map(|it| (texts[it.opening].clone(), it.hole.clone()));
                    let bound: Vec<(Hole, Hole)> = bound.chain(named).collect();
                    let drawn = playlist.bindings().drawn(&bound);
                    let is_drawn = |value: &str| drawn.contains(&value);
                    let whole = found
                        .changed
                        .iter()
                        .map(|(old, _)| recorded.reading.nodes[*old].text.len());
                    let other = made_up.iter().map(|id| id.value.len()).sum::<usize>();
                    let alike = Reverse(whole.sum::<usize>().saturating_sub(other));
                    let distance = (drawn.len(), found.apart(), alike);
                    let again = openings.iter().filter(|it| is_drawn(recorded.text(it)));
                    let named_anew = made_up.iter_mut().filter(|id| is_drawn(&id.value));
                    named_anew.for_each(|id| id.reach = Reach::Once);
                    made_up.extend(again.map(|it| {
                        let at = recorded.reading.place(it.node).to_string();
                        let (value, reach) = (recorded.text(it).to_owned(), Reach::Once);
                        Id { value, interaction: number, at, reach, evidence: Evidence::Runs }
                    }));
                    let pairs = bound.iter().filter(|(it, _)| !is_drawn(&it.identifier));
                    let pairs = pairs.map(|(recorded, live)| (recorded, live));
                    playlist.bindings().unify(pairs).then_some((distance, made_up, bound))
                });
                Some((number, found?))
            });
            let is_free =
                |(number, _): &(usize, _)| !self.assumptions.is_asked_for(index, playlist, *number);
            compared.filter(is_free).min_by_key(|(number, (distance, ..))| (*distance, *number))
        };
        let Some((number, (_, made_up, bound))) = chosen else {
            self.denied.append(&mut denied);
            return None;
        };
        self.note(bound.iter().map(|(recorded, live)| (recorded, live)));
        let fresh = playlist.assume(index, number, &bound);
        self.assumptions.add(Assumed { number, asked: request.clone(), made_up, bound, fresh });
        Some(number)
    }

    /// The values that were the same each time.
    pub(crate) fn same(&self) -> impl Iterator<Item = &String> {
        self.called.iter().filter(|(_, (_, other))| *other == 0).map(|(value, _)| value)
    }

    /// It as what shows only of these values that they are always the same.
    pub(crate) fn with_sameness_of(mut self, known: &HashSet<String>) -> Self {
        self.called.retain(|value, (_, other)| *other > 0 || known.contains(value));
        self
    }

    /// Puts into a table what was learned.
    pub fn learn(&self, cassette: &Cassette, ids: &mut Ids) -> Learned {
        let mut learned = Learned::default();
        for id in self.assumptions.made_up().chain(&self.servers) {
            let same = |known: &Id| {
                let is_anywhere = id.reach == Reach::Anywhere;
                known.value == id.value
                    && known.reach == id.reach
                    && (is_anywhere || (known.at == id.at && known.interaction == id.interaction))
            };
            if !ids.client.iter().any(same) {
                ids.client.push(id.clone());
                // That a secret is another one each time is nothing that the client makes up.
                if !is_placeholder(&id.value) {
                    learned.made_up.push(id.clone());
                }
            }
        }
        for at in 0..ids.client.len() {
            let Id { value, .. } = &ids.client[at];
            let is_once = |id: &&Id| id.reach == Reach::Once && id.value == *value;
            if self.assumptions.made_up().any(|id| is_once(&id)) {
                ids.client[at].reach = Reach::Once;
            }
        }
        let mut known = HashSet::new();
        ids.client.retain(|id| {
            id.reach != Reach::Once
                || known.insert((id.value.clone(), id.interaction, id.at.clone()))
        });
        let is_part = |id: &Id| {
            let mut made_up = self.assumptions.made_up().filter(|whole| whole.at == id.at);
            made_up.any(|whole| whole.value != id.value && whole.value.contains(&id.value))
        };
        ids.client.retain(|id| id.evidence == Evidence::Person || !is_part(id));
        let has_differed =
            |id: &Id| self.called.get(&id.value).is_some_and(|(_, other)| *other > 0);
        let places = ids.client.iter().filter(|id| has_differed(id));
        let places: HashSet<_> = places.filter_map(of_message).collect();
        ids.client.retain(|id| {
            let is_guess = matches!(id.evidence, Evidence::Look | Evidence::Name);
            let is_fixed = is_guess
                && self.called.get(&id.value).is_some_and(|(_, other)| *other == 0)
                && !of_message(id).is_some_and(|place| places.contains(&place))
                && !is_answered(cassette, id);
            if is_fixed {
                learned.fixed.push(id.clone());
            }
            !is_fixed
        });
        ids.client.sort_by_key(|id| id.interaction);
        for id in &mut ids.client {
            let differed = self.called.get(&id.value).is_some_and(|(_, other)| *other > 0);
            if differed && matches!(id.evidence, Evidence::Look | Evidence::Name) {
                id.evidence = Evidence::Runs;
            }
        }
        learned
    }
}

/// The place in messages of a WebSocket in which a name stands.
fn of_message(id: &Id) -> Option<(usize, String)> {
    let (_, place) = id.at.strip_prefix("frame.")?.split_once('/')?;
    Some((id.interaction, place.to_owned()))
}

/// Whether a message of a WebSocket is called so for the messages that answer it: which one of several a client sends
/// first is chance, and it counts them.
fn is_answered(cassette: &Cassette, id: &Id) -> bool {
    let Some((interaction, place)) = of_message(id) else { return false };
    let frames = cassette.interactions.get(interaction).map_or(&[][..], Interaction::frames);
    let of_server = frames.iter().filter(|frame| frame.from == Peer::Server);
    let mut messages = of_server.filter_map(|frame| Text::parse_container(frame.message()?));
    let says_so = |said: Text<'_>| said.string().unwrap_or(said.as_str().into()) == id.value;
    place == "id" && messages.any(|message| message.get("id").is_some_and(says_so))
}

/// What the client makes up in requests for which the run did not ask: what was another value in all others of the same
/// path that it asked for, in the same place. There have to be several.
pub fn likewise(cassette: &Cassette, ids: &Ids, unplayed: &BTreeSet<usize>) -> Vec<Id> {
    let requests = || cassette.interactions.iter().map(|it| &it.request).enumerate();
    let mut found = Vec::new();
    for (interaction, request) in requests().filter(|(number, _)| unplayed.contains(number)) {
        let is_like = |(number, other): &(usize, &Request)| {
            let what = |it: &Request| (it.method.clone(), it.path_only().to_owned());
            !unplayed.contains(number) && what(other) == what(request)
        };
        let alike: Vec<usize> = requests().filter(is_like).map(|(number, _)| number).collect();
        let body = request.readable();
        let reading = Reading::of(request, &body, &cassette.rules);
        let is_leaf = |node: &Node<'_>| is_word(node) && !is_of_line(node) && node.rule.is_none();
        for (number, node) in reading.nodes.iter().enumerate().filter(|(_, node)| is_leaf(node)) {
            let at = reading.place(number).to_string();
            let is_made_up = |of: &usize| {
                let mut here = ids.client.iter().filter(|id| id.interaction == *of && id.at == at);
                here.any(|id| id.evidence == Evidence::Runs)
            };
            if alike.len() > 1 && alike.iter().all(is_made_up) {
                let (value, reach) = (node.text.to_string(), reach(&node.text, node));
                found.push(Id { value, interaction, at, reach, evidence: Evidence::Runs });
            }
        }
    }
    found
}

/// What the client made up in a request, if that is all that differs.
fn made_up(
    library: &Library<'_>,
    interaction: usize,
    found: &Differences,
    (recorded, asked): (&Recorded<'_, '_>, &Asked<'_>),
    (said, denied): (&RecordedValues, &mut BTreeSet<String>),
) -> Option<Invented> {
    let is_all = found.changed.len() == found.listed.len() && found.more == 0;
    if !is_all || found.same == 0 {
        return None;
    }
    let (mut ids, mut named) = (Vec::new(), Vec::new());
    for (old, new) in &found.changed {
        let (was, is) = (&recorded.reading.nodes[*old], &asked.reading.nodes[*new]);
        // Of bytes that are no text nothing can be named, and yes or no is what the client decides.
        let has_name = |node: &Node<'_>| {
            !node.kind.is_container() && !matches!(node.kind, Kind::Bytes(_) | Kind::Word)
        };
        if !has_name(was) || !has_name(is) || is_of_line(was) {
            return None;
        }
        // What another recorded request says there is that one's word: a client has nothing to make up then.
        let others = said.get(&(recorded.reading.family(), was.wild));
        if is_word(was) && others.is_some_and(|others| others.contains(&is.hash)) {
            return None;
        }
        let at = recorded.reading.place(*old).to_string();
        if was.rule == Some(Treatment::NotId) {
            denied.insert(at);
            return None;
        }
        let issued: Vec<_> = library.index.names().issued_in(&was.text).collect();
        let ranges = if was.kind == Kind::Text && is.kind == Kind::Text {
            differing(&was.text, &is.text, &issued)
        } else {
            std::iter::once(0..was.text.len()).collect()
        };
        if ranges.is_empty() || ranges.iter().any(|range| is_in(range, &issued)) {
            return None;
        }
        // As the table will say.
        let scope = |range: &Range<usize>| match &was.text[range.clone()] {
            value if value == was.text && !is_telling(value) => {
                scope_of_whole(recorded.reading, *old)
            }
            _ => Scope::Anywhere,
        };
        let open = ranges.iter().map(|range| (range.clone(), scope(range)));
        let template = Template::of_text(was.place, &was.text, open.collect());
        let live = template.captured(&is.text, is.kind).unwrap_or_default();
        named.extend(template.holes.iter().cloned().zip(live));
        ids.extend(ranges.into_iter().map(|range| {
            let value = was.text[range].to_owned();
            let reach = reach(&value, was);
            Id { value, interaction, at: at.clone(), reach, evidence: Evidence::Runs }
        }));
    }
    Some((ids, named))
}

fn said(cassette: &Cassette, index: &Index) -> RecordedValues {
    let mut said = RecordedValues::new();
    for interaction in &cassette.interactions {
        let body = interaction.request.readable();
        let reading = Reading::of(&interaction.request, &body, index.rules());
        for node in reading.nodes.iter().filter(|node| is_word(node)) {
            said.entry((reading.family(), node.wild)).or_default().insert(node.hash);
        }
    }
    said
}

/// Whether a value is one that requests may have in common by what they mean.
fn is_word(node: &Node<'_>) -> bool {
    matches!(node.kind, Kind::Text | Kind::Number)
}

/// The method, the server, and the path as a whole, are what a request is; so is the WebSocket of a message, whose
/// number stands in its path.
fn is_of_line(node: &Node<'_>) -> bool {
    use crate::cassette::reading::PathStep;
    let is_socket = matches!(node.step, PathStep::Segment(_)) && node.text.contains('#');
    is_socket || matches!(node.step, PathStep::Method | PathStep::Origin | PathStep::Path)
}

fn reach(value: &str, node: &Node<'_>) -> Reach {
    if node.kind != Kind::Text {
        return Reach::Field;
    }
    if is_telling(value) { Reach::Anywhere } else { Reach::Here }
}

/// Whether a value is hardly the same by chance.
fn is_telling(value: &str) -> bool {
    let is_mixed = value.bytes().any(|byte| !byte.is_ascii_alphabetic());
    !value.contains(char::is_whitespace)
        && (value.len() >= LONG || (value.len() >= TELLING && is_mixed))
}

/// The parts of a recorded text that are others in another run, in order. None has anything of what the server
/// issued but what differs itself.
///
/// # Rationale
///
/// Texts of as many words are compared word by word: of words drawn at random, one that stands elsewhere in the other
/// text is not the same one. Else words and what stands between them are aligned; what an alignment finds in common
/// between plain words is chance then. Differing words that belong together, such as the parts of a UUID, are one, and
/// so are those of a phrase: one of them may be drawn twice. A part that is too short to be told from others goes as
/// far as its word.
fn differing(recorded: &str, asked: &str, issued: &[Range<usize>]) -> Vec<Range<usize>> {
    if is_binary(recorded) && is_binary(asked) {
        return std::iter::once(0..recorded.len()).collect();
    }
    let (old, new) = (pieces(recorded), pieces(asked));
    let texts = |text: &'_ str, pieces: &[Range<usize>]| -> Vec<String> {
        pieces.iter().map(|piece| text[piece.clone()].to_owned()).collect()
    };
    let (old_texts, new_texts) = (texts(recorded, &old), texts(asked, &new));
    let is_drawn = |between: Range<usize>| {
        let has_words = recorded[between.clone()].contains(char::is_alphanumeric);
        (!has_words || old.len() != new.len()) && !is_in(&between, issued)
    };
    if old.len() == new.len() {
        let pairs = old_texts.iter().zip(&new_texts).zip(&old);
        let ranges = pairs.filter(|((old, new), _)| old != new);
        let ranges = ranges.map(|(_, range)| widened(recorded, range.clone())).collect();
        return joined(recorded, ranges, is_drawn);
    }
    let ops = capture_diff_slices(similar::Algorithm::Myers, &old_texts, &new_texts);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let of_old = op.old_range();
        let start = old.get(of_old.start).map_or(recorded.len(), |piece| piece.start);
        let end = old[..of_old.end].last().map_or(0, |piece| piece.end).max(start);
        ranges.push(widened(recorded, start..end));
    }
    joined(recorded, ranges, is_drawn)
}

fn is_in(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    others.iter().any(|other| range.start < other.end && other.start < range.end)
}

/// Whether a text is Base64 that says no text: numbers, such as a vector, or a picture. It has no words.
fn is_binary(text: &str) -> bool {
    let decoded = STANDARD.decode(text);
    text.len() >= LONG && decoded.is_ok_and(|bytes| std::str::from_utf8(&bytes).is_err())
}

/// A place as far as what is told from others by its look, or by its length.
fn widened(text: &str, range: Range<usize>) -> Range<usize> {
    let overlaps = |found: &Range<usize>| found.start <= range.end && range.start <= found.end;
    if let Some(found) = identifiers(text).find(overlaps) {
        return found.start.min(range.start)..found.end.max(range.end);
    }
    if is_telling(&text[range.clone()]) { range } else { word_around(text, range) }
}

/// Places with nothing but one mark between them are one, and so are plain words with nothing between them that is not
/// drawn as they are.
fn joined(
    text: &str,
    ranges: Vec<Range<usize>>,
    is_drawn: impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let is_plain = |range: &Range<usize>| !is_telling(&text[range.clone()]);
    let mut joined: Vec<Range<usize>> = Vec::new();
    let mut last_is_plain = true;
    for range in ranges {
        let both_plain = last_is_plain && is_plain(&range);
        last_is_plain = is_plain(&range);
        match joined.last_mut() {
            Some(last)
                if range.start <= last.end
                    || is_mark(&text[last.end..range.start])
                    || both_plain && is_drawn(last.end..range.start) =>
            {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined.retain(|range| !range.is_empty());
    joined
}

fn is_mark(between: &str) -> bool {
    matches!(between, "-" | "_" | "." | ":" | "")
}

/// The words of a text, and each character between them.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut is_in_word = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_word = c.is_alphanumeric();
        match pieces.last_mut() {
            Some(last) if is_word && is_in_word => last.end = end,
            _ => pieces.push(at..end),
        }
        is_in_word = is_word;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(recorded: &str, asked: &str, expected: &[&str]) {
        let found = differing(recorded, asked, &[]);
        let found: Vec<&str> = found.into_iter().map(|range| &recorded[range]).collect();
        assert_eq!(found, expected, "{recorded} / {asked}");
    }

    #[test]
    fn what_differs_is_found_as_far_as_it_belongs_together() {
        check("test-agent-8f3a9c2b", "test-agent-1b2c3d4e", &["8f3a9c2b"]);
        check("UNIQUE_MARKER_8f3a9c2b", "UNIQUE_MARKER_deadbeef", &["8f3a9c2b"]);
        check("happy-otter", "happy-fox", &["happy-otter"]);
        check("item-abc", "item-xyz", &["item-abc"]);
        check(
            "0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0",
            "11af-b7a2-4ad9-82f1-0d5b1ee5a5f0",
            &["0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"],
        );
        check(
            "4ahdPw16VTwPgAg/xuxDP+4wVz16i3g/PkXaPlwUgz4=",
            "Xp5VP8T1Yz5mCCs/NHUfP/efOT6on2Y/flxGP7x0mj0=",
            &["4ahdPw16VTwPgAg/xuxDP+4wVz16i3g/PkXaPlwUgz4="],
        );
        check("http://127.0.0.1:51234/back", "http://127.0.0.1:40001/back", &["51234"]);
        check("Today is 21 November", "Today is 22 November", &["21"]);
        check("a 8f3a b 77cc c", "a 1f3a b 99cc c", &["8f3a", "77cc"]);
        check("V1StGXR8_Z5jdHi6B-myT", "K-WMwE-YcOSlRuEpTUyCq", &["V1StGXR8_Z5jdHi6B-myT"]);
        check("same", "same", &[]);
        check("a fox met one fox", "a cat met one owl", &["fox", "fox"]);
        check("red fox cat", "blue cat dog", &["red fox cat"]);
        check("for red fox red, now", "for blue cat dog, now", &["red fox red"]);
        check("by red fox the cat", "by blue the owl so dog", &["red fox the cat"]);
        check("by red 8f3a2b1c fox", "by blue owl 1b2c3d4e cat", &["red", "8f3a2b1c", "fox"]);
    }
}
