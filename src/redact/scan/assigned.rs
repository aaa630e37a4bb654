//! `NAME=value`, `NAME: value`, `NAME := value`, `"NAME" => value`, `x["NAME"] = value`, `[NAME] => value` and
//! `<td>NAME</td><td>value` in prose.

use super::ends::{ENTITIES, Ends, FURTHER_ENTITIES, is_end, is_of_name};
use super::held::Quote;
use super::{Input, REACH};
use crate::cassette::placeholder::OPENING;
use crate::redact::name::{self, NameSet, Tells};
use crate::redact::rule::Notes;
use crate::redact::value;
use crate::text::escape;

/// The most white space between a name, a mark and a value.
const BLANK: usize = 8;

/// What opens the cell of a table in which the value of a name stands.
const CELLS: [&[u8]; 3] = [b"td", b"th", b"dd"];

/// The longest marks between two cells.
const BETWEEN: usize = 512;

const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// What Rust shows around a value that need not be there.
const SOME: &[u8] = b"Some(";

/// What stands around words that Markdown shows in bold letters.
const MARKED: &[u8] = b"**";

/// What ends a value that a connection string of ODBC has in braces: `PWD={a;b}`.
const BRACE: &str = "}";

/// A value is judged by so much of its beginning.
const JUDGED: usize = 256;

/// Where a value begins, and what it ends with.
pub(super) enum Begin {
    At(usize, Ends),
    Nowhere,
    /// It has not come yet.
    Later,
}

/// Whether something is assigned to a telling name by the `=` or `:` at this place.
pub(in crate::redact) fn is_assigned(text: &[u8], mark: usize, known: NameSet) -> bool {
    name_before(text, mark, known).is_some()
}

/// The name before a `=`, a `:` or the `<` that ends a cell, if it tells, and what it tells.
pub(super) fn name_before(text: &[u8], mark: usize, known: NameSet) -> Option<(&str, Tells)> {
    let from = mark.saturating_sub(REACH);
    let before = &text[from..mark];
    let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut before = &before[..before.len() - blank];
    let is_cell = text[mark] == b'<';
    if is_cell && (known != NameSet::Shown || text.get(mark + 1).is_some_and(|it| *it != b'/')) {
        return None;
    }
    if known != NameSet::Listed {
        let is_arrow = text.get(mark + 1).is_none_or(|next| *next == b'>');
        before = match text[mark] {
            b'=' if known == NameSet::Shown && is_arrow => in_brackets(before),
            b'=' => unquoted(before.strip_suffix(b":").unwrap_or(before).trim_ascii_end()),
            b'<' => before,
            _ if before.ends_with(b";") => without_entity(before, known),
            _ => unmarked(before),
        };
    }
    let name = name_at_end(before).filter(|_| blank <= BLANK)?;
    if is_cell && !before[..before.len() - name.len()].trim_ascii_end().ends_with(b">") {
        return None;
    }
    let tells = match name::assigned(name) {
        Tells::Nothing if known != NameSet::Listed => name::composed(name),
        tells => tells,
    };
    if tells == Tells::Nothing && known != NameSet::Listed && text[mark] == b':' {
        return label(before, name);
    }
    (tells != Tells::Nothing).then_some((name, tells))
}

/// The name that a text ends in. The letter of an escape such as `\n` is none of it.
fn name_at_end(text: &[u8]) -> Option<&str> {
    let length = text.iter().rev().take_while(|byte| is_of_name(**byte)).count();
    let (around, name) = text.split_at(text.len() - length);
    let escape =
        usize::from(around.ends_with(b"\\") && name.first().is_some_and(|c| escape::is_letter(*c)));
    str::from_utf8(&name[escape..]).ok().filter(|name| !name.is_empty())
}

/// A name of two words that people write before a colon, of which the last tells nothing alone: `API key`.
fn label<'t>(text: &'t [u8], last: &str) -> Option<(&'t str, Tells)> {
    let before = text[..text.len() - last.len()].strip_suffix(b" ")?;
    let first = name_at_end(before)?;
    let both = str::from_utf8(&text[before.len() - first.len()..]).ok()?;
    let tells = name::assigned(both);
    (tells == Tells::Secret).then_some((both, tells))
}

/// `os.environ["NAME"]` and `"NAME"` up to the end of the name.
fn unquoted(before: &[u8]) -> &[u8] {
    let inner = before.strip_suffix(b"]").unwrap_or(before);
    let inner = inner.strip_suffix(b"\"").or(inner.strip_suffix(b"'"));
    inner.map_or(before, |inner| inner.strip_suffix(b"\\").unwrap_or(inner))
}

/// `[NAME]`, as PHP shows it, or `"NAME"`, up to the end of the name.
fn in_brackets(before: &[u8]) -> &[u8] {
    let inner = before.strip_suffix(b"]");
    inner
        .filter(|inner| inner.last().is_some_and(|last| is_of_name(*last)))
        .unwrap_or_else(|| unquoted(before.strip_suffix(b":").unwrap_or(before).trim_ascii_end()))
}

/// `&quot;NAME&quot;` up to the end of the name.
fn without_entity(before: &[u8], known: NameSet) -> &[u8] {
    entities(known).find_map(|it| before.strip_suffix(it.as_bytes())).unwrap_or(before)
}

fn entities(known: NameSet) -> impl Iterator<Item = &'static str> {
    let further = FURTHER_ENTITIES.iter().filter(move |_| known == NameSet::Shown);
    ENTITIES.iter().chain(further).copied()
}

/// `**Password**` up to the end of the name.
fn unmarked(before: &[u8]) -> &[u8] {
    before.strip_suffix(MARKED).unwrap_or(before)
}

/// Where the value behind a `=`, a `:` or the end of a cell begins. The name begins at `name`.
pub(super) fn begin(text: &[u8], name: usize, mark: usize, input: Input, known: NameSet) -> Begin {
    if text[mark] == b'<' {
        return in_next_cell(text, mark);
    }
    let is_arrow = text[mark..].starts_with(b"=>");
    let mut at = mark + 1 + usize::from(is_arrow);
    // `**Password:** value`.
    at += if text[at..].starts_with(MARKED) { MARKED.len() } else { 0 };
    let blank = text[at..].iter().take(BLANK).take_while(|byte| is_blank(**byte)).count();
    at += blank;
    if text[mark] == b':'
        && let Some(begin) = in_block(text, at)
    {
        return begin;
    }
    if text[mark] == b':' && known == NameSet::Shown {
        match behind_anchor(&text[at..]) {
            Some(length) => at += length,
            None if input == Input::More => return Begin::Later,
            None => {}
        }
    }
    let rest = &text[at..];
    let is_some = rest.starts_with(SOME);
    if let Some(mark) = entities(known).find(|it| rest.starts_with(it.as_bytes())) {
        return Begin::At(at + mark.len(), Ends::Mark(mark));
    }
    if SOME.starts_with(rest) || entities(known).any(|it| it.as_bytes().starts_with(rest)) {
        return Begin::Later;
    }
    at += if is_some { SOME.len() } else { 0 };
    let escapes = text[at..].iter().take(BLANK).take_while(|byte| **byte == b'\\').count();
    at += escapes;
    let quote = text.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    at += usize::from(quote.is_some());
    if let Some(quote) = quote.filter(|_| escapes == 0) {
        match text[at..] {
            // `"""value"""`, or the beginning of it.
            [second, third, ..] if second == quote && third == quote => {
                let is_shown = known == NameSet::Shown;
                at += 2;
                at += usize::from(is_shown && text[at..].starts_with(b"\r"));
                at += usize::from(is_shown && text[at..].starts_with(b"\n"));
            }
            [second] if second == quote => return Begin::Later,
            _ => {}
        }
    }
    let is_bracketed =
        is_arrow && name > 0 && text[name - 1] == b'[' && quote.is_none() && escapes == 0;
    let ends = match quote {
        Some(byte) => Ends::Quote(Quote { byte, slashes: escapes }),
        None if is_bracketed => Ends::Setting,
        None if text[mark] == b':' && blank == 0 => Ends::Word,
        None => Ends::of_name(text, name),
    };
    match text.get(at) {
        None => Begin::Later,
        Some(byte) if *byte <= b' ' || Some(*byte) == quote => Begin::Nowhere,
        Some(b'{') if ends == Ends::Part => Begin::At(at + 1, Ends::Mark(BRACE)),
        Some(_) if quote.is_some() => Begin::At(at, ends),
        // `==`, and references to what holds a value.
        Some(b'=' | b'$' | b'%') => Begin::Nowhere,
        Some(byte) if is_end(*byte) || is_some || escapes > 0 => Begin::Nowhere,
        Some(_) if is_arrow && !is_bracketed => Begin::Nowhere,
        Some(_) => Begin::At(at, ends),
    }
}

/// Where a value begins that stands in the next cell of a table, or describes a term.
fn in_next_cell(text: &[u8], mark: usize) -> Begin {
    let (mut at, mut is_cell) = (mark, false);
    loop {
        at += text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match text.get(at) {
            _ if at - mark > BETWEEN => return Begin::Nowhere,
            None => return Begin::Later,
            Some(b'<') => {}
            Some(byte) if !is_cell || is_end(*byte) => return Begin::Nowhere,
            Some(_) => return Begin::At(at, Ends::Setting),
        }
        let name = &text[at + 1..];
        is_cell |= CELLS.iter().any(|cell| {
            let head = name.get(..cell.len());
            let ends = name.get(cell.len()).is_none_or(|it| !it.is_ascii_alphanumeric());
            ends && head.is_some_and(|head| head.eq_ignore_ascii_case(cell))
        });
        match memchr::memchr(b'>', &text[at..text.len().min(at + BETWEEN)]) {
            Some(end) => at += end + 1,
            None if text.len() - at < BETWEEN => return Begin::Later,
            None => return Begin::Nowhere,
        }
    }
}

/// How much stands before the value in YAML that gives it an anchor or a type: `&name value`, `!!str value`. Nothing
/// if that is not known yet.
fn behind_anchor(text: &[u8]) -> Option<usize> {
    let goes_on = |byte: &&u8| is_of_name(**byte) || matches!(byte, b'&' | b'!' | b'/' | b':');
    let mut at = 0;
    while matches!(text.get(at), Some(b'&' | b'!')) {
        let rest = &text[at..];
        let length = rest.iter().take(REACH).take_while(goes_on).count();
        let blank = rest[length..].iter().take(BLANK).take_while(|byte| is_blank(**byte)).count();
        rest.get(length + blank)?;
        if blank == 0 {
            break;
        }
        at += length + blank;
    }
    Some(at)
}

/// Where a value begins that YAML has on the next line: behind `|`, `>-` and the like.
fn in_block(text: &[u8], mark: usize) -> Option<Begin> {
    let rest = text[mark..].strip_prefix(b"|").or_else(|| text[mark..].strip_prefix(b">"))?;
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    if rest.is_empty() {
        return Some(Begin::Later);
    }
    let rest = rest.strip_prefix(b"\n")?;
    let indent = rest.iter().take(REACH).take_while(|byte| is_blank(**byte)).count();
    match rest.get(indent) {
        None => Some(Begin::Later),
        Some(byte) if indent == 0 || is_end(*byte) => Some(Begin::Nowhere),
        Some(_) => Some(Begin::At(text.len() - rest.len() + indent, Ends::Setting)),
    }
}

/// Where in what was assigned the secret stands, if there is one.
pub(super) fn secret<'t>(
    spelled: &'t [u8],
    (name, tells): (&str, Tells),
    ends: Ends,
    notes: &Notes<'_>,
) -> Option<(usize, &'t str)> {
    let judged = trimmed(text_of(&spelled[..spelled.len().min(JUDGED)])?, ends);
    let skipped = value::behind_scheme(judged);
    let judged = &judged[skipped..];
    let first = &judged[..judged.bytes().position(is_end).unwrap_or(judged.len())];
    let is_code = is_code(judged);
    let is_secret = |value: &str, is_quoted: bool| match tells {
        // In quotes a bracket is a sign like any other, and no code.
        Tells::Secret if is_quoted && !value.contains(OPENING) => {
            value::is_assigned(&value.replace('[', "("))
        }
        Tells::Secret => value::is_assigned(value),
        _ => notes.may_be_secret(name, value) && !value.contains('['),
    };
    let is_secret = match ends {
        Ends::Quote(_) | Ends::Mark(_) => !is_reference(judged) && is_secret(judged, true),
        _ => is_secret(first, false) || (!is_code && is_secret(judged, true)),
    };
    if !is_secret && !value::is_placeholder(judged) {
        return None;
    }
    Some((skipped, &trimmed(text_of(spelled)?, ends)[skipped..]))
}

/// Whether a value in quotes only says where another is to be put: `${NAME}`, `{name}`, `<your key>`.
fn is_reference(value: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_of_name);
    value.starts_with("${")
        || value.starts_with("$(")
        || value.starts_with("{{")
        || value.strip_prefix('$').is_some_and(is_name)
        || matches!(value.as_bytes(), [b'{', .., b'}'] | [b'<', .., b'>'] | [b'%', .., b'%'])
}

/// Whether a value is a call, or an element of something: `get(key)`, `keys[0].text`.
pub(in crate::redact) fn is_code(value: &str) -> bool {
    let opening = value.find(|c| BRACKETS.iter().any(|(opening, _)| *opening == c));
    let Some(at) = opening.filter(|at| *at > 0 && value[..*at].bytes().all(is_of_name)) else {
        return false;
    };
    let closing = BRACKETS.iter().find(|(opening, _)| value[at..].starts_with(*opening));
    let behind = closing.and_then(|(_, closing)| value[at..].split_once(*closing));
    behind.is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(['.', '[', '(']))
}

/// What is no text ends a value.
fn text_of(spelled: &[u8]) -> Option<&str> {
    spelled.utf8_chunks().next().map(|chunk| chunk.valid())
}

/// A value without what ends a sentence or a list, and without brackets that something around it closes.
fn trimmed(value: &str, ends: Ends) -> &str {
    if ends.is_closed() {
        return value;
    }
    let excess = |(opening, closing): (char, char)| {
        value.matches(closing).count().saturating_sub(value.matches(opening).count())
    };
    let mut brackets = BRACKETS.map(|pair| (pair.1, excess(pair)));
    let mut value = value;
    loop {
        value = value.trim_end_matches(['.', ':', '?', '!', ',', ';']);
        let closes =
            brackets.iter_mut().find(|(closing, left)| *left > 0 && value.ends_with(*closing));
        let Some((_, left)) = closes else { return value };
        *left -= 1;
        value = &value[..value.len() - 1];
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
