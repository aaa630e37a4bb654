//! Secrets that a stream has in pieces: a few letters in each of many messages.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use bytes::Bytes;

use super::rule::{Notes, Rule, Side};
use super::searcher::Searcher;
use super::{Redactor, Secrets, body, json, letters, look, own, value};
use crate::cassette::splice::{Edit, in_order, splice};
use crate::text::json::{Container, Places, Text, Token};
use crate::text::sse;

/// The strings that stand in one place of several messages, one behind the other.
#[derive(Debug, Default)]
struct Joined {
    text: Vec<u8>,
    /// Where each piece begins here, and where it stands in the body.
    pieces: Vec<(usize, Range<usize>)>,
    /// How much of the text was searched for a word of a rule, and whether there is one.
    searched: usize,
    tells: bool,
    /// Whether it stands as it is, and is not spelled as in a JSON string.
    is_plain: bool,
}

/// The strings of messages by their places, in the same order each time: secrets are numbered in it.
type All = BTreeMap<String, Joined>;

/// Whether a text is JSON in lines, whatever it is called.
pub(super) fn are_lines(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let end = memchr::memchr(b'\n', text);
    end.is_some_and(|end| Text::parse_container(text[..end].trim_ascii_end()).is_some())
}

/// The edits that `find` wants in texts that a stream of JSON messages has in pieces, which begin at the places that it
/// is given, in order.
pub(super) fn edits(body: &[u8], find: impl FnMut(&[u8], &[usize]) -> Vec<Edit>) -> Vec<Edit> {
    // What one piece holds was found in it.
    let found = found(of_stream(body), find).filter(|edits| edits.len() > 1);
    in_order(found.flatten().collect())
}

/// The edits for what names tell in such texts: the name may stand in one piece, and the value in the next.
pub(super) fn named(body: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    in_order(found_by_name(&of_stream(body), notes))
}

/// The same for messages that follow each other, for each.
pub(super) fn named_in_messages<'m>(
    messages: impl Iterator<Item = &'m [u8]>,
    notes: &mut Notes<'_>,
) -> Vec<Vec<Edit>> {
    let (all, ends) = joined(messages);
    by_message(found_by_name(&all, notes).into_iter(), &ends)
}

fn found_by_name(all: &All, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for joined in all.values() {
        edits.extend(joined.outside(&joined.named(notes)).into_iter().flatten());
    }
    edits
}

/// The strings of a stream of messages. An event may also be a string, or say plain text.
fn of_stream(body: &[u8]) -> All {
    let mut all = All::new();
    for line in sse::event_lines(body) {
        let data = line.data(body);
        let is_event = data.is_some();
        let said = data.unwrap_or(line.content);
        let (start, said) = (said.start, &body[said]);
        if let Some(json) = Text::parse_container(said.trim_ascii_end()) {
            take(json, start, &mut all);
        } else if let Some((channel, text)) = string_in(said) {
            let joined = all.entry(format!("{channel}:")).or_default();
            joined.push(text, start + said.len() - 1 - text.len());
        } else if is_event {
            let joined = all.entry(String::new()).or_default();
            joined.is_plain = true;
            joined.push(said, start);
        }
    }
    all
}

/// What stands before a string that ends a line, and the string: `0:"text"`.
fn string_in(line: &[u8]) -> Option<(&str, &[u8])> {
    let quote = memchr::memchr(b'"', line).filter(|at| *at <= LONGEST_CHANNEL)?;
    let channel = str::from_utf8(&line[..quote]).ok()?;
    let is_channel = channel.is_empty() || channel.ends_with(':');
    let string = Some(&line[quote..]).filter(|it| is_channel && it.ends_with(b"\""))?;
    Text::parse(string)?;
    Some((channel, &line[quote + 1..line.len() - 1]))
}

/// So many elements of a list have places of their own.
const ELEMENTS: usize = 64;

/// The longest name of what a line says, before a string.
const LONGEST_CHANNEL: usize = 3;

/// The same for messages that follow each other, for each. What is no JSON is text that goes on in the next.
pub(super) fn edits_of_messages<'m>(
    messages: impl Iterator<Item = &'m [u8]>,
    find: impl FnMut(&[u8], &[usize]) -> Vec<Edit>,
) -> Vec<Vec<Edit>> {
    let (all, ends) = joined(messages);
    by_message(found(all, find).filter(|edits| edits.len() > 1).flatten(), &ends)
}

/// The messages that one side sends, as far as they may matter for the next: a journal is written while
/// they come.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Their strings, by their places. Each message is read once.
    joined: All,
    /// Where each of them begins, counted from the first message of all.
    starts: VecDeque<usize>,
    /// Where the next one begins.
    end: usize,
}

/// So many bytes of earlier messages are looked at again.
const EARLIER: usize = 4 * 1024;

/// What stands for the beginning of a secret whose end has not come.
const BEGUN: &str = "begun";

impl Pieces {
    /// A message without what it has of a secret that began in an earlier one, or may go on in a later one.
    pub(crate) fn next(
        &mut self,
        redactor: &Redactor,
        message: &Bytes,
        secrets: &mut Secrets,
    ) -> Bytes {
        let searcher = secrets.searcher();
        let mut notes = Notes { redactor, side: Side::Response, secrets };
        let mut edits = Vec::new();
        for (place, said) in joined([&message[..]].into_iter()).0 {
            let joined = self.joined.entry(place).or_default();
            joined.extend(&said, self.end);
            let found = joined.secrets(&searcher, &mut notes);
            edits.extend(joined.outside(&found).into_iter().flatten());
        }
        let edits = by_message(edits.into_iter(), &[self.end, self.end + message.len()]).pop();
        let edits = edits.unwrap_or_default();
        self.note(message.len());
        if edits.is_empty() { message.clone() } else { splice(message, &edits).into() }
    }

    /// A message of that length was the last one. What came long before matters no more.
    fn note(&mut self, length: usize) {
        self.starts.push_back(self.end);
        self.end += length;
        while self.starts.front().is_some_and(|first| self.end - first > EARLIER) {
            self.starts.pop_front();
        }
        let first = self.starts.front().copied().unwrap_or(self.end);
        self.joined.retain(|_, joined| {
            joined.forget(first);
            !joined.pieces.is_empty()
        });
    }
}

/// The strings of messages that follow each other, and where each message ends.
fn joined<'m>(messages: impl Iterator<Item = &'m [u8]>) -> (All, Vec<usize>) {
    let (mut all, mut ends) = (All::new(), Vec::new());
    let mut start = 0;
    for message in messages {
        match Text::parse_container(message) {
            Some(json) => take(json, start, &mut all),
            None => {
                let joined = all.entry(String::new()).or_default();
                joined.is_plain = true;
                joined.push(message, start);
            }
        }
        start += message.len();
        ends.push(start);
    }
    (all, ends)
}

/// What `find` wants in joined texts: for each edit, those of the pieces.
fn found(
    all: All,
    mut find: impl FnMut(&[u8], &[usize]) -> Vec<Edit>,
) -> impl Iterator<Item = Vec<Edit>> {
    all.into_values().flat_map(move |joined| joined.outside(&find(&joined.text, &joined.starts())))
}

/// Edits of messages that stand one behind the other, as those of each, in order.
fn by_message(edits: impl Iterator<Item = Edit>, ends: &[usize]) -> Vec<Vec<Edit>> {
    let mut each = vec![Vec::new(); ends.len()];
    for Edit { range, with } in edits {
        let at = ends.partition_point(|end| *end <= range.start);
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        each[at].push(Edit::new(range.start - start..range.end - start, with));
    }
    each.into_iter().map(in_order).collect()
}

/// Adds the strings of a message, each to those that stand in the same place.
fn take(json: Text<'_>, offset: usize, all: &mut All) {
    let mut levels: Vec<(Container, String)> = Vec::new();
    let mut tokens = json.tokens();
    while let Some(token) = tokens.next() {
        match token {
            Token::Open(container) => levels.push((container, String::new())),
            Token::Close(_) => drop(levels.pop()),
            Token::Comma => match levels.last_mut() {
                Some((Container::Object, key)) => key.clear(),
                // Elements of one list are no pieces of one text: each of the first has a place of its own.
                Some((Container::Array, key)) if key.len() < ELEMENTS => key.push(','),
                Some((Container::Array, _)) | None => {}
            },
            Token::Colon | Token::Scalar(_) => {}
            Token::String(spelled) => {
                let inner = &spelled[1..spelled.len() - 1];
                match levels.last_mut() {
                    Some((Container::Object, key)) if key.is_empty() => *key = format!("{inner}/"),
                    _ => {
                        let place = levels.iter().map(|(_, key)| key.as_str()).collect();
                        let end = offset + tokens.end() - 1;
                        let joined: &mut Joined = all.entry(place).or_default();
                        joined.push(inner.as_bytes(), end - inner.len());
                    }
                }
            }
        }
    }
}

impl Joined {
    /// Adds a piece that begins at a place of the body.
    fn push(&mut self, piece: &[u8], start: usize) {
        self.pieces.push((self.text.len(), start..start + piece.len()));
        self.text.extend_from_slice(piece);
    }

    /// Where its pieces begin.
    fn starts(&self) -> Vec<usize> {
        self.pieces.iter().map(|(start, _)| *start).collect()
    }

    /// Adds the pieces of a text that begins at that place of the body, and searches them for words of rules.
    fn extend(&mut self, other: &Self, offset: usize) {
        for (start, there) in &other.pieces {
            self.push(&other.text[*start..start + there.len()], offset + there.start);
        }
        let from = self.searched.saturating_sub(look::longest());
        self.tells = self.tells || look::may_tell(&self.text[from..]);
        self.searched = self.text.len();
    }

    /// Forgets the pieces that stand before that place of the body.
    fn forget(&mut self, before: usize) {
        let count = self.pieces.partition_point(|(_, there)| there.start < before);
        if count == 0 {
            return;
        }
        self.pieces.drain(..count);
        let cut = self.pieces.first().map_or(self.text.len(), |(start, _)| *start);
        self.pieces.iter_mut().for_each(|(start, _)| *start -= cut);
        self.text.drain(..cut);
        // The word may have been there. Nothing was searched since if no message has added to the text.
        self.searched = if self.tells { 0 } else { self.searched.saturating_sub(cut) };
        self.tells = false;
    }

    /// The edits for what is a secret in the text, or may be the beginning of one.
    fn secrets(&self, searcher: &Searcher, notes: &mut Notes<'_>) -> Vec<Edit> {
        let text = &self.text;
        let starts = if self.tells { self.starts() } else { Vec::new() };
        let mut edits = match self.tells {
            true => look::find_in_pieces(text, &starts, notes),
            false => own::find(text, notes),
        };
        if self.tells && notes.applies(Rule::Looks) {
            let open = look::open(text, &starts);
            let begun = value::placeholder(BEGUN).into_bytes();
            edits.extend((open < text.len()).then(|| Edit::new(open..text.len(), begun)));
        }
        if notes.applies(Rule::Values) {
            edits.extend(searcher.edits_of_body(text));
        }
        in_order(edits)
    }

    /// The edits for what names tell in the text.
    fn named(&self, notes: &mut Notes<'_>) -> Vec<Edit> {
        if self.pieces.len() < 2 {
            return Vec::new();
        }
        let found = match str::from_utf8(&self.text) {
            Ok(spelled) if !self.is_plain => {
                let places = Places::of_json_string(spelled, 0);
                let found = body::find_in_text(&places.text, notes);
                json::outside(&places, found).collect()
            }
            _ => body::find_in_text(&self.text, notes),
        };
        found.into_iter().map(|edit| self.ended(edit, notes)).collect()
    }

    /// An edit without the pieces that are no parts of the secret. The secret is known alone then, and not only together
    /// with what stands behind it.
    fn ended(&self, edit: Edit, notes: &mut Notes<'_>) -> Edit {
        let range = edit.range.clone();
        let mut ended = self.within_piece(self.piece_at(range.start), &self.within_texts(edit));
        if ended.range != range {
            // What ends a sentence was within the value only as long as that went on.
            let said = &self.text[ended.range.clone()];
            let signs = said.iter().rev().take_while(|it| b".,;:!?".contains(it)).count();
            ended.range.end -= signs;
        }
        let spelled = str::from_utf8(&self.text[ended.range.clone()]).ok();
        let with = str::from_utf8(&ended.with).ok().filter(|with| value::is_placeholder(with));
        match (spelled, with) {
            (Some(spelled), Some(with)) if ended.range != range => {
                let quoted = format!("\"{spelled}\"");
                let said =
                    Text::parse(quoted.as_bytes()).and_then(|it| Some(it.string()?.into_owned()));
                let value = said.filter(|_| !self.is_plain).unwrap_or_else(|| spelled.to_owned());
                let with = notes.secrets.note(&value, with.to_owned());
                Edit { range: ended.range, with: with.into() }
            }
            _ => ended,
        }
    }

    fn piece_at(&self, place: usize) -> usize {
        self.pieces.partition_point(|(start, _)| *start <= place) - 1
    }

    /// An edit that ends where a piece is another URL, or the name of another thing: such pieces are no parts of one
    /// text.
    fn within_texts(&self, edit: Edit) -> Edit {
        let behind = self.pieces.partition_point(|(start, _)| *start <= edit.range.start);
        let ends = self.pieces[behind..].iter().map(|(start, there)| (*start, there.len()));
        let next = ends.take_while(|(start, _)| *start < edit.range.end).find(|(start, length)| {
            let piece = &self.text[*start..start + length];
            begins_url(piece) || begins_topic(piece)
        });
        let end = next.map_or(edit.range.end, |(start, _)| start);
        Edit { range: edit.range.start..end, ..edit }
    }

    /// Each of these edits as edits of the pieces.
    fn outside(&self, edits: &[Edit]) -> Vec<Vec<Edit>> {
        edits.iter().map(|edit| self.outside_of(edit)).collect()
    }

    /// An edit as edits of the pieces: what stands for a secret goes to where it begins.
    fn outside_of(&self, edit: &Edit) -> Vec<Edit> {
        let first = self.piece_at(edit.range.start);
        let edit = &self.within_piece(first, edit);
        let mut with = edit.with.clone();
        let mut edits = Vec::new();
        for (start, there) in &self.pieces[first..] {
            let from = edit.range.start.max(*start);
            let to = edit.range.end.min(start + there.len());
            if *start >= edit.range.end {
                break;
            }
            if from < to {
                let range = there.start + from - start..there.start + to - start;
                edits.push(Edit::new(range, std::mem::take(&mut with)));
            }
        }
        edits
    }
}

impl Joined {
    /// An edit that ends with the piece in which it begins, if all of a secret may be there and the next piece begins
    /// with a word: messages that follow each other need not be one text.
    fn within_piece(&self, first: usize, edit: &Edit) -> Edit {
        let (start, there) = &self.pieces[first];
        let end = start + there.len();
        let is_whole = end.saturating_sub(edit.range.start) >= value::SHORTEST;
        let behind = self.text.get(end..edit.range.end).unwrap_or_default();
        let mut next = self.pieces[first + 1..].iter().map(|(_, there)| there.len());
        let next = next.find(|length| *length > 0).unwrap_or_default();
        let begins = &behind[..next.min(behind.len())];
        let range =
            edit.range.start..if is_whole && is_word(begins) { end } else { edit.range.end };
        Edit { range, with: edit.with.clone() }
    }
}

/// Whether it is a word of prose, as far as letters show: all small, or the first one large.
fn is_word(text: &[u8]) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && rest.iter().all(u8::is_ascii_lowercase)
        && !letters::are_random(&String::from_utf8_lossy(text))
}

fn begins_url(text: &[u8]) -> bool {
    let scheme = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    scheme > 0 && text[scheme..].starts_with(b"://")
}

/// Whether a text names a thing of a kind: `room:2`.
fn begins_topic(text: &[u8]) -> bool {
    const SHORTEST: usize = 3;
    let kind = text.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    kind >= SHORTEST
        && text.get(kind) == Some(&b':')
        && text.get(kind + 1).is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_name_things_are_no_parts_of_one_behind_what_is_called_like_a_secret() {
        let said = |topic: &str| format!("data: {{\"topic\":\"{topic}\"}}\n\n");
        let body: String = ["secret:1", "room:2", "room:1", "room:2"].map(said).concat();

        let (redactor, mut secrets) = (Redactor::standard(), Secrets::default());
        let mut notes = Notes { redactor: &redactor, side: Side::Response, secrets: &mut secrets };

        let edits = named(body.as_bytes(), &mut notes);

        let shown = splice(body.as_bytes(), &edits);
        let shown = String::from_utf8_lossy(&shown);
        assert_eq!(shown.matches("room:").count(), 3, "{shown}");
    }

    #[test]
    fn what_one_message_says_whole_is_known_without_those_behind_it() {
        let secret = ["hT7dK2mQ9xW4", "Zb3nV8cL5pR1yJ6s"].concat();
        let said = |text: &str| format!("data: {{\"text\":\"{text}\"}}\n\n");
        let got = format!("got token={secret}.");
        let body = [&got, &got, "Finished", "bye"].map(said).concat();
        let (redactor, mut secrets) = (Redactor::standard(), Secrets::default());
        let mut notes = Notes { redactor: &redactor, side: Side::Response, secrets: &mut secrets };

        let edits = named(body.as_bytes(), &mut notes);

        let shown = String::from_utf8(splice(body.as_bytes(), &edits)).unwrap();
        assert_eq!(shown.matches("token=[redacted:token].\"").count(), 2, "{shown}");
        assert!(shown.contains("Finished") && shown.contains("bye"), "{shown}");
        let elsewhere = secrets.searcher().edits_of_body(secret.as_bytes());
        assert_eq!(elsewhere, [Edit::new(0..secret.len(), "[redacted:token]")]);
    }

    #[test]
    fn what_messages_cut_is_found_though_each_is_read_once() {
        let secret = format!("{}_{}", "ghp", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA1b");
        let said = |text: &str| Bytes::from(format!(r#"{{"type":"delta","text":"{text}"}}"#));
        let round = |length: usize| {
            let words = said(&"a word of many ".repeat(20 * length));
            let cut = secret.as_bytes().chunks(length).map(|it| said(&String::from_utf8_lossy(it)));
            cut.chain([words]).collect::<Vec<_>>()
        };
        let lengths = [2, 5, 13];
        let messages: Vec<Bytes> = lengths.into_iter().chain(lengths).flat_map(round).collect();
        let (redactor, mut secrets) = (Redactor::standard(), Secrets::default());
        let (mut pieces, mut shown) = (Pieces::default(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let mut length = 0;
            let is_near = |it: &&Bytes| {
                length += it.len();
                length <= EARLIER
            };
            let near = messages[..at].iter().rev().take_while(is_near).count();
            let (mut anew, mut known) = (Pieces::default(), secrets.clone());
            for earlier in &messages[at - near..at] {
                anew.next(&redactor, earlier, &mut known.clone());
            }

            let next = pieces.next(&redactor, message, &mut secrets);

            assert_eq!(next, anew.next(&redactor, message, &mut known), "{at}");
            shown.push(next);
        }
        let texts = joined(shown.iter().map(|message| &message[..])).0.into_values();
        let mut left =
            texts.filter(|it| memchr::memmem::find(&it.text, &secret.as_bytes()[4..16]).is_some());
        assert!(left.next().is_none());
    }

    #[test]
    fn what_was_said_in_a_place_is_forgotten_in_steps_while_others_are_spoken_of() {
        let secret = ["AK", "IAQ2EXAMPLE7PLANTED"].concat();
        let (redactor, mut secrets) = (Redactor::standard(), Secrets::default());
        let mut pieces = Pieces::default();
        let mut next = |place: &str, text: &str| {
            let message = Bytes::from(format!(r#"{{"{place}":"{text}"}}"#));
            pieces.next(&redactor, &message, &mut secrets)
        };
        let long = "word ".repeat(EARLIER / 15);
        for _ in 0..3 {
            next("status", "an api_key= of AKIA");
            next("text", &long);
            next("status", "an api_key= of AKIA");
        }
        (0..9).for_each(|_| drop(next("text", &long)));

        let (before, behind) = secret.split_at(9);
        next("status", before);
        assert!(!next("status", behind).ends_with(format!("{behind}\"}}").as_bytes()));
    }
}
