//! What a message says, in a line.
//!
//! Where messages say it is listed here for the servers that retape is made for: JSON Pointers that are
//! tried in order, with `*` for every element of an array.

use std::borrow::Cow;
use std::fmt;

use super::line;
use super::line::{cut, shorten_ids, visible};
use crate::text::json::{Container, Layout, Text};
use crate::text::rpc::Envelope;

/// Short values that tell one message of a type from another.
const WORDS: &str = "\
    /role /choices/0/delta/role /stop_reason /delta/stop_reason /choices/0/finish_reason \
    /done_reason /tool_call/name /tool_calls/*/name /tool_calls/*/function/name \
    /choices/0/delta/tool_calls/*/function/name /content_block/name /item/name /params/name \
    /params/progress /params/level /result/serverInfo/name /result/tools/*/name \
    /result/prompts/*/name /result/resources/*/name /name /approvals/*/approve /approve /approvals/*/status \
    /status /error_type /code /total_tokens /usage/total_tokens /usage/output_tokens";

/// What a message says at length. Of several messages in a row the texts are put together.
const TEXTS: &str = "\
    /tool_call/arguments /tool_calls/*/arguments /tool_calls/*/function/arguments \
    /choices/0/delta/tool_calls/*/function/arguments /tool_return /tool_returns/*/tool_return \
    /approvals/*/reason /approvals/*/tool_return /reasoning /content /text /delta /delta/text \
    /delta/thinking /delta/partial_json /choices/0/delta/content \
    /choices/0/delta/reasoning_content /choices/0/message/content /message/content /response \
    /params/arguments /params/message /params/data /result/content /message";

/// Where a request says what it wants.
const ASKED: &str = "/messages /input";

/// The kind of an error.
const ERROR_WORDS: &str = "\
    /error_type /error/type /error/code /detail/code /code /title";

/// What an error says. All of it is told, the general before the particular.
const ERROR_TEXTS: &str = "\
    /message /error/message /detail/message /error /detail /error/detail /error/data \
    /error_description";

/// Members that say nothing to a reader who sees the type and the time of a message already.
const UNTELLING: &str = "\
    id otid type message_type object jsonrpc method date created index seq sequence_number";

/// Members by which a thing is known, the most telling first.
const LEADING: &str = "\
    name title label handle id status stop_reason agent_type model text value";

/// The text of this many deltas is longer than any line.
const MOST_DELTAS: usize = 400;

/// What a message, or the deltas of one, says in short.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Gist {
    /// Values that are words: a role, the name of a tool, why it stopped.
    pub words: Vec<String>,
    /// What it says at length, prose or JSON; empty if nothing was found.
    pub text: String,
    /// The same in short, for where the text is JSON and does not fit.
    pub outline: Option<String>,
    /// What else was asked for, with names: `stream_tokens true`.
    pub beside: Vec<String>,
}

impl Gist {
    /// The gist of one message from all its deltas.
    pub fn of<'a>(deltas: impl IntoIterator<Item = &'a str>) -> Self {
        let deltas: Vec<&str> = deltas.into_iter().take(MOST_DELTAS).collect();
        let jsons: Vec<Text<'_>> = deltas.iter().filter_map(|it| container(it)).collect();
        if jsons.is_empty() {
            return Self::text(deltas.concat());
        }
        match Self::found(&jsons) {
            gist if gist.is_empty() => Self { words: members(jsons[0]), ..Self::default() },
            gist => gist,
        }
    }

    /// What a JSON value says as a whole.
    pub(super) fn json(json: Text<'_>) -> Self {
        match json.container() {
            Some(_) => Self { text: compact(json), outline: outline(json), ..Self::default() },
            None => Self { words: vec![compact(json)], ..Self::default() },
        }
    }

    /// Prose.
    pub(super) fn text(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// What a request asks, by its body: the last message of a conversation, the method and
    /// arguments of a call, else the body itself.
    pub fn of_request(body: &str) -> Self {
        let Some(json) = container(body) else {
            return Self::text(body.to_owned());
        };
        let call = Envelope::of(json).filter(Envelope::is_certain);
        if let Some(method) = call.and_then(|call| call.method) {
            let mut gist = Self::found([json].as_slice());
            gist.words.insert(0, method.into_owned());
            return gist;
        }
        let asked = ASKED.split(' ').find_map(|path| json.pointed(path)?.elements().last());
        let mut gist = asked.map(|last| Self::found(&[last])).unwrap_or_default();
        if gist.is_empty() {
            return Self::json(json);
        }
        if let Some(last) = asked.filter(|last| last.get("role").is_none()) {
            let kind = last.get("type").and_then(Text::string).map(Cow::into_owned);
            gist.words.splice(0..0, kind);
        }
        Self { beside: members(json), ..gist }
    }

    /// What an error says: all of it.
    pub fn of_error(body: &str) -> Self {
        let Some(json) = container(body) else {
            return Self::text(body.to_owned());
        };
        let mut texts: Vec<String> = Vec::new();
        for path in ERROR_TEXTS.split(' ') {
            let text = said(&[json], path);
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.is_empty() {
            return Self::json(json);
        }
        let words = words(&[json], ERROR_WORDS);
        Self { words, text: texts.join(" — "), ..Self::default() }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.text.is_empty()
    }

    /// A long text leaves room for what stands behind it.
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const LONGEST: usize = 120;
        match visible(text) {
            text if self.beside.is_empty() => text,
            text => Cow::Owned(cut(&text, LONGEST).into_owned()),
        }
    }

    fn found(jsons: &[Text<'_>]) -> Self {
        let text = TEXTS.split(' ').map(|path| said(jsons, path)).find(|text| !text.is_empty());
        Self { words: words(jsons, WORDS), text: text.unwrap_or_default(), ..Self::default() }
    }
}

impl fmt::Display for Gist {
    /// The words, then the text: prose in quotes, JSON as it is but on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.words.join(" ")))?;
        let text = self.text.trim();
        let space = if self.words.is_empty() || text.is_empty() { "" } else { " " };
        match container(text) {
            _ if text.is_empty() => {}
            Some(json) => write!(f, "{space}{}", visible(&compact(json)))?,
            None if text.starts_with("{\"") => write!(f, "{space}{}", visible(text))?,
            None => write!(f, "{space}\"{}\"", self.shown(text))?,
        }
        match self.beside.as_slice() {
            [] => Ok(()),
            beside => write!(f, " ({})", visible(&beside.join(", "))),
        }
    }
}

/// A JSON text on one line, as short as it can be.
fn compact(json: Text<'_>) -> String {
    let mut out = String::new();
    Layout::Compact.write(json, &mut out);
    out
}

fn container(text: &str) -> Option<Text<'_>> {
    Text::read_container(text)
}

/// The values at these places, each once.
fn words(jsons: &[Text<'_>], paths: &str) -> Vec<String> {
    const MOST: usize = 4;
    let mut words = Vec::new();
    for path in paths.split(' ') {
        let found = jsons.iter().map(|json| values(*json, path)).find(|values| !values.is_empty());
        for value in found.unwrap_or_default() {
            let word = word(last(path), value);
            words.extend(word.filter(|word| !words.contains(word)));
        }
    }
    words.truncate(MOST);
    words
}

/// A string as it is, anything else that is one value with its name.
fn word(name: &str, value: Text<'_>) -> Option<String> {
    match value.string() {
        Some(said) => is_short(&said).then(|| said.into_owned()),
        None => Some(format!("{name} {}", value.scalar()?)),
    }
}

/// What is said at that place, all deltas together.
fn said(jsons: &[Text<'_>], path: &str) -> String {
    let name = last(path);
    let one = |json: &Text<'_>| {
        let texts: Vec<_> = values(*json, path).into_iter().map(|it| prose(name, it)).collect();
        texts.join(", ")
    };
    jsons.iter().map(one).collect()
}

/// The text of a value: a string, the parts of a content array, or arguments as JSON.
fn prose<'a>(name: &str, value: Text<'a>) -> Cow<'a, str> {
    match value.container() {
        None => value.string().unwrap_or_default(),
        Some(Container::Array) => {
            let parts: Vec<_> = value.elements().map(part).collect();
            Cow::Owned(parts.join(" "))
        }
        Some(Container::Object) if matches!(name, "arguments" | "input" | "data") => {
            Cow::Owned(compact(value))
        }
        Some(Container::Object) => Cow::Borrowed(""),
    }
}

/// A part of a content array: its text, else its type in brackets.
fn part(part: Text<'_>) -> String {
    if let Some(text) = part.string() {
        return text.into_owned();
    }
    let text = ["text", "content", "thinking"].iter().find_map(|it| part.get(it)?.string());
    match (text, part.get("type").and_then(Text::string)) {
        (Some(text), _) => text.into_owned(),
        (None, Some(kind)) => format!("[{kind}]"),
        (None, None) => compact(part),
    }
}

/// The first members that hold one short value, with their names.
fn members(json: Text<'_>) -> Vec<String> {
    const MOST: usize = 3;
    let telling = json.members().filter(|(name, _)| {
        !UNTELLING.split(' ').any(|it| it == name)
            && !["_id", "_at"].iter().any(|it| name.ends_with(it))
    });
    let words = telling.filter_map(|(name, value)| match value.string() {
        Some(_) => Some(format!("{name} {}", word(&name, value)?)),
        None => word(&name, value),
    });
    words.take(MOST).collect()
}

/// The values at the end of a path that are not `null`.
fn values<'a>(json: Text<'a>, path: &str) -> Vec<Text<'a>> {
    let Some((list, path)) = path.split_once("/*") else {
        return json.pointed(path).filter(|it| it.as_str() != "null").into_iter().collect();
    };
    let elements = json.pointed(list).into_iter().flat_map(Text::elements);
    elements.flat_map(|element| values(element, path)).collect()
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The members of an object that tell one from another, or what the elements of an array are called.
/// Nothing for any other value.
fn outline(json: Text<'_>) -> Option<String> {
    match json.container()? {
        Container::Object => object(json),
        Container::Array => Some(array(json)),
    }
}

fn object(json: Text<'_>) -> Option<String> {
    const MOST: usize = 12;
    let mut members: Vec<(String, Text<'_>)> =
        json.members().map(|(name, value)| (name.into_owned(), value)).collect();
    let all = members.len();
    let rank = |name: &str| LEADING.split(' ').position(|it| it == name).unwrap_or(usize::MAX);
    members.sort_by_key(|(name, _)| rank(name));
    let told = members.iter().filter(|(name, _)| !is_dull(name));
    let pairs: Vec<String> = told
        .filter_map(|(name, value)| Some(format!("{name}: {}", short(*value)?)))
        .take(MOST)
        .collect();
    let more = if pairs.len() < all { ", …" } else { "" };
    (!pairs.is_empty()).then(|| pairs.join(", ") + more)
}

/// Who made it and when is the same for all things of a recording, or differs in every recording.
fn is_dull(name: &str) -> bool {
    ["_by_id", "_at"].iter().any(|ending| name.ends_with(ending))
}

fn array(json: Text<'_>) -> String {
    let name = |element: Text<'_>| {
        let called = LEADING.split(' ').find_map(|name| short(element.get(name)?));
        called.or_else(|| short(element))
    };
    let count = json.elements().count();
    let names: Vec<String> = json.elements().filter_map(name).take(20).collect();
    let colon = if names.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", line::count(count, "item"), names.join(", "))
}

/// A string without its quotes, a number, a truth value, or the length of an array.
fn short(value: Text<'_>) -> Option<String> {
    if let Some(text) = value.string() {
        return is_short(&text).then(|| shorten_ids(&text));
    }
    match value.container() {
        None => value.scalar().map(str::to_owned),
        Some(Container::Object) => None,
        Some(Container::Array) => {
            let count = value.elements().count();
            (count > 0).then(|| format!("[{count}]"))
        }
    }
}

fn is_short(text: &str) -> bool {
    const LONGEST: usize = 60;
    !text.is_empty() && text.chars().count() <= LONGEST
}
