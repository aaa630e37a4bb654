//! Secrets in text that is not well-formed JSON: a stream cut in the middle, a Python dictionary in
//! prose, a body of which more is to come.
//!
//! A [`Scanner`] knows `"name": "value"` and `'name': 'value'` at any depth of escaping, objects and
//! arrays below a telling name, URLs, `name=value` with a telling name, and cells of a table. It never goes back, so it
//! gives the same edits however the text is cut up.

mod assigned;
mod ends;
mod held;

use std::borrow::Cow;
use std::ops::Range;

use self::assigned::Begin;
pub(super) use self::assigned::{is_assigned, is_code};
use self::ends::{AMPERSANDS, Ends};
use self::held::{Begun, Held, Quote, Role, is_between, slashes_before};
use super::json::outside;
use super::levels::Levels;
use super::name::Tells;
use super::rule::{Notes, Rule};
use super::{url, value};
use crate::cassette::splice::Edit;
use crate::text::json::{Container, Places, unescape};
use crate::text::words::shown;

/// The longest name, and the most white space around a colon, that is looked at.
const REACH: usize = 80;

/// A value of which more than this has come is not waited for.
const LONGEST: usize = 64 * 1024;

/// Whether there is more to come behind a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    More,
    Done,
}

/// The edits for a text of which all is there.
pub(super) fn find(text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut scanner = Scanner::default();
    scanner.run(text, Input::Done, notes)
}

/// Reads a text that grows.
#[derive(Clone, Default)]
pub(super) struct Scanner {
    /// The next byte to look at.
    at: usize,
    held: Option<Held>,
    nest: Option<Nest>,
    /// Up to here a word was read that is looked at again: no value in it ends before.
    word: usize,
    /// The same for what stands behind a URL.
    behind_url: usize,
}

/// Containers below a telling name.
#[derive(Clone)]
struct Nest {
    holder: String,
    /// How many backslashes stand before the quotes in it.
    slashes: usize,
    levels: Levels<'static>,
}

/// Deeper than this below a telling name, the text is not what it seemed.
const DEEPEST: usize = 64;

/// Whether the scanner can go on.
enum Advance {
    On,
    Wait,
}

shown!(Debug: Scanner, it => "Scanner({})", it.at);

impl Scanner {
    /// Reads as far as the text can be decided; the edits are in order.
    pub(super) fn run(&mut self, text: &[u8], input: Input, notes: &mut Notes<'_>) -> Vec<Edit> {
        let mut edits = Vec::new();
        loop {
            let step = match self.held.take() {
                Some(held) => self.end(held, text, input, notes, &mut edits),
                None if self.at >= text.len() => Advance::Wait,
                None if self.nest.is_some() => self.below(text),
                None => self.begin(text, input, notes),
            };
            if matches!(step, Advance::Wait) {
                return edits;
            }
        }
    }

    /// Up to where the text of that length is decided.
    pub(super) fn decided(&self, length: usize) -> usize {
        self.held.as_ref().map_or(length, Held::start)
    }

    /// Whether nothing has begun in the text of that length.
    pub(super) fn is_idle(&self, length: usize) -> bool {
        self.at == length && self.held.is_none() && self.nest.is_none()
    }

    /// Passes over what holds nothing, up to there.
    pub(super) fn pass(&mut self, length: usize) {
        self.at = self.at.max(length);
    }

    /// The first byte that may be looked at again, names before a colon aside.
    pub(super) fn needs(&self, length: usize) -> usize {
        let scheme = match &self.held {
            Some(Held::Url { scheme, .. }) => *scheme,
            _ => length,
        };
        scheme.min(self.at).min(self.decided(length))
    }

    /// Forgets the first bytes of the text.
    pub(super) fn forget(&mut self, count: usize) {
        self.at -= count;
        self.word = self.word.saturating_sub(count);
        self.behind_url = self.behind_url.saturating_sub(count);
        self.held.iter_mut().for_each(|held| held.forget(count));
    }

    /// Looks for the next colon or equals sign and what stands on both sides of it.
    fn begin(&mut self, text: &[u8], input: Input, notes: &Notes<'_>) -> Advance {
        let Some(found) = memchr::memchr3(b':', b'=', b'<', &text[self.at..]) else {
            self.at = text.len();
            return Advance::Wait;
        };
        self.at += found;
        let step = match text[self.at] {
            b':' => self.colon(text, input, notes),
            _ => None,
        };
        if let Some(step) = step {
            return step;
        }
        if notes.applies(Rule::Assignments)
            && let Some(found) = assigned::name_before(text, self.at, notes.redactor.known_names())
        {
            return self.assigned(text, input, found, notes);
        }
        self.at += 1;
        Advance::On
    }

    /// Looks for a URL and for a quoted name around a colon.
    fn colon(&mut self, text: &[u8], input: Input, notes: &Notes<'_>) -> Option<Advance> {
        let colon = self.at;
        let behind = &text[colon + 1..];
        if let Some(scheme) = scheme_before(text, colon) {
            if let Some(mark) = SLASHES.iter().find(|it| behind.starts_with(it)) {
                let is_part = colon < self.behind_url;
                self.at = colon + 1 + mark.len();
                self.held = Some(Held::Url { start: self.at, scheme, is_part });
                return Some(Advance::On);
            }
            if input == Input::More && SLASHES.iter().any(|it| it.starts_with(behind)) {
                return Some(Advance::Wait);
            }
        }
        let (name, slashes) = name_before(text, colon)?;
        let tells = notes.field(&name);
        (tells != Tells::Nothing).then(|| self.value(text, input, (&name, tells), slashes))
    }

    /// Looks at what a telling name with nothing around it is followed by.
    fn assigned(
        &mut self,
        text: &[u8],
        input: Input,
        (name, tells): (&str, Tells),
        notes: &Notes<'_>,
    ) -> Advance {
        let begins = name.as_ptr().addr() - text.as_ptr().addr();
        match assigned::begin(text, begins, self.at, input, notes.redactor.known_names()) {
            Begin::At(start, ends) => {
                let is_parameter = notes.applies(Rule::FurtherLooks)
                    && AMPERSANDS.iter().any(|it| text[..begins].ends_with(it.as_bytes()));
                let ends = if is_parameter { Ends::Word } else { ends };
                // Others may have their end elsewhere.
                let is_read = ends == Ends::Word && start < self.word;
                self.at = if is_read { self.word } else { start };
                self.held = Some(Held::Assigned { start, ends, name: name.to_owned(), tells });
            }
            Begin::Nowhere => self.at += 1,
            Begin::Later if input == Input::More => return Advance::Wait,
            Begin::Later => self.at = text.len(),
        }
        Advance::On
    }

    /// Looks at what a telling name is followed by.
    fn value(
        &mut self,
        text: &[u8],
        input: Input,
        (name, tells): (&str, Tells),
        slashes: usize,
    ) -> Advance {
        let behind = &text[self.at + 1..];
        let mut blank = blank_of(behind);
        if behind[..blank].ends_with(b"\n") {
            // The data of an event may go on in the next line.
            let next = &behind[blank..];
            if input == Input::More && next.len() < DATA.len() && DATA.starts_with(next) {
                return Advance::Wait;
            }
            let data = next.strip_prefix(DATA).map(|next| DATA.len() + blank_of(next));
            blank += data.unwrap_or(0);
        }
        let escapes = behind[blank..].iter().take_while(|byte| **byte == b'\\').count();
        let first = self.at + 1 + blank + escapes;
        let Some(&byte) = text.get(first) else {
            self.at = if input == Input::More { self.at } else { text.len() };
            return Advance::Wait;
        };
        self.at = first;
        match (byte, tells) {
            (b'"' | b'\'', _) if escapes == slashes => {
                let role = match tells {
                    Tells::Perhaps => Role::Perhaps(name.to_owned()),
                    Tells::Holder => return Advance::On,
                    _ => Role::Secret(name.to_owned()),
                };
                self.string(first, Quote { byte, slashes }, role);
            }
            (b'{' | b'[', Tells::Secret | Tells::Secrets | Tells::Holder) if escapes == 0 => {
                let levels = Levels::default();
                self.nest = Some(Nest { holder: name.to_owned(), slashes, levels });
            }
            (b'-' | b'0'..=b'9', Tells::Secret) if escapes == 0 => {
                self.held = Some(Held::Number { start: first });
            }
            _ => {}
        }
        Advance::On
    }

    fn string(&mut self, at: usize, quote: Quote, role: Role) {
        self.at = at + 1;
        self.held = Some(Held::String { start: self.at, quote, role, begun: Begun::No });
    }

    /// Takes the next token below a telling name.
    fn below(&mut self, text: &[u8]) -> Advance {
        let Some(nest) = &mut self.nest else { return Advance::On };
        let at = self.at;
        self.at += 1;
        match text[at] {
            byte @ (b'{' | b'[') => {
                let container = if byte == b'{' { Container::Object } else { Container::Array };
                nest.levels.open(container, Some(nest.holder.clone().into()));
            }
            b'}' | b']' => nest.levels.close(),
            b',' => nest.levels.next(),
            // A quote with fewer backslashes ends the string that all of this stands in.
            b'"' if slashes_before(&text[..at]) < nest.slashes => nest.levels.clear(),
            byte @ (b'"' | b'\'') => {
                let quote = Quote { byte, slashes: nest.slashes };
                self.string(at, quote, Role::Nested);
                return Advance::On;
            }
            _ => {}
        }
        if !(1..=DEEPEST).contains(&nest.levels.len()) {
            self.nest = None;
        }
        Advance::On
    }

    /// Looks for the end of what has begun, and decides on it.
    fn end(
        &mut self,
        held: Held,
        text: &[u8],
        input: Input,
        notes: &mut Notes<'_>,
        edits: &mut Vec<Edit>,
    ) -> Advance {
        let (end, next) = match held.end(text, self.at, input) {
            Some(ends) => ends,
            None if input == Input::Done => (text.len(), text.len()),
            None => {
                self.at = text.len();
                if text.len() - held.start() > LONGEST {
                    edits.extend(self.spill(held, text.len()));
                } else {
                    self.held = Some(held);
                }
                return Advance::Wait;
            }
        };
        self.at = next;
        edits.extend(self.decide(held, &text[..end], notes));
        Advance::On
    }

    /// What becomes of something that ends where the text does.
    fn decide(&mut self, held: Held, text: &[u8], notes: &mut Notes<'_>) -> Vec<Edit> {
        match held {
            Held::Number { start } if &text[start..] == b"0" => Vec::new(),
            Held::Number { start } => vec![Edit::new(start..text.len(), "0")],
            Held::Url { start, scheme, is_part } => {
                let mut edits = url_edits(&text[scheme..], scheme, notes);
                edits.retain(|edit| edit.range.start >= start);
                if !is_part {
                    self.look_behind(text, edits.last().map_or(start, |last| last.range.end));
                }
                edits
            }
            Held::Assigned { start, ends, name, tells } => {
                let found = assigned_edit(&text[start..], start, (&name, tells), ends, notes);
                if found.is_none() {
                    self.at = start;
                    // A scheme ends in the only space of a value.
                    let is_word = !text[start..].iter().take(REACH).any(|byte| *byte == b' ');
                    self.word = if is_word && ends == Ends::Word { text.len() } else { self.word };
                }
                found.flatten().into_iter().collect()
            }
            Held::String { start, begun: Begun::Yes, .. } => {
                let rest = (start < text.len()).then(|| Edit::new(start..text.len(), ""));
                rest.into_iter().collect()
            }
            Held::String { start, quote, role, .. } => {
                let content = String::from_utf8_lossy(&text[start..]);
                let edit = self.decide_string(&content, start..text.len(), quote, role, notes);
                edit.into_iter().collect()
            }
        }
    }

    /// Goes on where something stands behind a URL in the same word: `https://host;password=…`.
    fn look_behind(&mut self, text: &[u8], from: usize) {
        if let Some(next) = text[from..].iter().position(|byte| is_between(*byte)) {
            self.at = from + next + 1;
            self.behind_url = text.len();
        }
    }

    fn decide_string(
        &mut self,
        content: &str,
        range: Range<usize>,
        quote: Quote,
        role: Role,
        notes: &mut Notes<'_>,
    ) -> Option<Edit> {
        let name = match role {
            Role::Secret(name) => name,
            Role::Perhaps(name) if notes.may_be_secret(&name, &quote.plain(content)) => name,
            Role::Perhaps(_) => {
                // Not a secret, but there may be one in it.
                self.at = range.start;
                return None;
            }
            Role::Nested => {
                let nest = self.nest.as_mut()?;
                let name = nest.take(content)?;
                notes.holds(nest.levels.holder(), &name, &quote.plain(content)).then_some(name)?
            }
        };
        let skipped = value::behind_scheme(content);
        let with = notes.replacement(&name, &quote.plain(&content[skipped..]))?;
        Some(Edit::new(range.start + skipped..range.end, with))
    }

    /// Decides on something whose end does not come.
    fn spill(&mut self, held: Held, length: usize) -> Option<Edit> {
        let Held::String { start, quote, role, begun } = held else { return None };
        let name = match &role {
            Role::Perhaps(_) => return None,
            Role::Secret(name) => name.clone(),
            Role::Nested => self.nest.as_ref().map(|nest| nest.holder.clone())?,
        };
        self.held = Some(Held::String { start: length, quote, role, begun: Begun::Yes });
        let with = match begun {
            Begun::No => value::placeholder(&name),
            Begun::Yes => String::new(),
        };
        Some(Edit::new(start..length, with))
    }
}

impl Nest {
    /// Takes a string: the next key, or a value; gives its name if it is a secret.
    fn take(&mut self, content: &str) -> Option<String> {
        if self.levels.awaits_key() {
            self.levels.set_key(content.to_owned().into());
            return None;
        }
        self.levels.held().map(str::to_owned)
    }
}

/// The edit for what was assigned to a name; nothing at all if that is no secret.
fn assigned_edit(
    spelled: &[u8],
    offset: usize,
    (name, tells): (&str, Tells),
    ends: Ends,
    notes: &mut Notes<'_>,
) -> Option<Option<Edit>> {
    let (skipped, secret) = assigned::secret(spelled, (name, tells), ends, notes)?;
    let start = offset + skipped;
    let with = notes.replacement(name, secret);
    Some(with.map(|with| Edit::new(start..start + secret.len(), with)))
}

fn url_edits(url: &[u8], offset: usize, notes: &mut Notes<'_>) -> Vec<Edit> {
    let Some(spelled) = url.utf8_chunks().next().map(|chunk| chunk.valid()) else {
        return Vec::new();
    };
    let places = Places::of_json_string(spelled.trim_end_matches('\\'), offset);
    let found = match std::str::from_utf8(&places.text) {
        Ok(url) => url::find(url, notes),
        Err(_) => Vec::new(),
    };
    outside(&places, found).collect()
}

/// What a line of an event begins with.
const DATA: &[u8] = b"data:";

/// How much white space a text begins with.
fn blank_of(text: &[u8]) -> usize {
    text.iter().take(REACH).take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// What stands behind the colon of a scheme, also as PHP writes it in JSON.
const SLASHES: [&[u8]; 2] = [b"//", br"\/\/"];

/// Whether a URL begins behind a scheme and this colon.
pub(super) fn is_of_url(text: &[u8], colon: usize) -> bool {
    SLASHES.iter().any(|it| text[colon + 1..].starts_with(it))
}

/// The longest mark of a URL.
pub(super) const URL_MARK: usize = r":\/\/".len();

/// Where the scheme of a URL begins whose `:` is at `colon`.
fn scheme_before(text: &[u8], colon: usize) -> Option<usize> {
    let letters = text[..colon].iter().rev().take(REACH);
    let length = letters.take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (length > 0).then_some(colon - length)
}

/// The name that is quoted before a colon, and how many backslashes stand before its quotes.
/// Letters beyond ASCII may be escaped in it, as Python writes them.
fn name_before(text: &[u8], colon: usize) -> Option<(Cow<'_, str>, usize)> {
    let text = text[colon.saturating_sub(2 * REACH)..colon].trim_ascii_end();
    let (quote, text) = text.split_last().filter(|(byte, _)| matches!(byte, b'"' | b'\''))?;
    let slashes = slashes_before(text);
    let text = &text[..text.len() - slashes];
    let mut start = memchr::memrchr3(*quote, b'\\', b'\n', text)?;
    while slashes == 0 && text[start..].starts_with(br"\u") {
        start = memchr::memrchr3(*quote, b'\\', b'\n', &text[..start])?;
    }
    if text[start] != *quote {
        return None;
    }
    let is_opening = slashes_before(&text[..start]) >= slashes;
    let name = std::str::from_utf8(&text[start + 1..]).ok()?;
    is_opening.then(|| (unescape(name), slashes))
}
