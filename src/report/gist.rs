//! What a message says, in a line.

use std::borrow::Cow;
use std::fmt;

use super::gist_fields::{ASKED, ERROR_TEXTS, ERROR_WORDS, Path, TEXTS, UNTELLING, WORDS};
use super::line::visible;
use super::outline::outline;
use crate::json::{Container, Layout, Text};

/// What a message, or the deltas of one, says in short.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gist {
    /// Values that are words: a role, the name of a tool, why it stopped.
    pub words: Vec<String>,
    /// What it says at length, prose or JSON; empty if nothing was found.
    pub text: String,
    /// The same in short, for where the text is JSON and does not fit.
    pub outline: Option<String>,
}

impl Gist {
    /// The gist of one message from all its deltas.
    pub fn of<'a>(deltas: impl IntoIterator<Item = &'a str>) -> Self {
        let deltas: Vec<&str> = deltas.into_iter().collect();
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
            Some(_) => Self { words: Vec::new(), text: compact(json), outline: outline(json) },
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
        if let Some(method) = json.get("jsonrpc").and_then(|_| json.get("method")?.string()) {
            let mut gist = Self::found([json].as_slice());
            gist.words.insert(0, method.into_owned());
            return gist;
        }
        let asked = ASKED.iter().find_map(|path| json.at(path)?.elements().last());
        match asked.map(|last| Self::found(&[last])) {
            Some(gist) if !gist.is_empty() => gist,
            _ => Self::json(json),
        }
    }

    /// What an error says: all of it.
    pub fn of_error(body: &str) -> Self {
        let Some(json) = container(body) else {
            return Self::text(body.to_owned());
        };
        let mut texts: Vec<String> = Vec::new();
        for path in ERROR_TEXTS {
            let text = said(&[json], path);
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.is_empty() {
            true => Self::json(json),
            false => {
                Self {
                    words: words(&[json], ERROR_WORDS), text: texts.join(" — "), outline: None
                }
            }
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.text.is_empty()
    }

    fn found(jsons: &[Text<'_>]) -> Self {
        let text = TEXTS.iter().map(|path| said(jsons, path)).find(|text| !text.is_empty());
        Self { words: words(jsons, WORDS), text: text.unwrap_or_default(), outline: None }
    }
}

impl fmt::Display for Gist {
    /// The words, then the text: prose in quotes, JSON as it is but on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.words.join(" ")))?;
        let text = self.text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let space = if self.words.is_empty() { "" } else { " " };
        match container(text) {
            Some(json) => write!(f, "{space}{}", visible(&compact(json))),
            None if text.starts_with("{\"") => write!(f, "{space}{}", visible(text)),
            None => write!(f, "{space}\"{}\"", visible(text)),
        }
    }
}

/// A JSON text on one line, as short as it can be.
pub(super) fn compact(json: Text<'_>) -> String {
    let mut out = String::new();
    Layout::Compact.write(json, &mut out);
    out
}

fn container(text: &str) -> Option<Text<'_>> {
    Text::parse_container(text.as_bytes())
}

/// The values at these places, each once.
fn words(jsons: &[Text<'_>], paths: &[Path]) -> Vec<String> {
    const MOST: usize = 4;
    let mut words = Vec::new();
    for path in paths {
        let found = jsons.iter().map(|json| values(*json, path)).find(|values| !values.is_empty());
        for value in found.unwrap_or_default() {
            let word = word(path.last().copied().unwrap_or_default(), value);
            words.extend(word.filter(|word| !words.contains(word)));
        }
    }
    words.truncate(MOST);
    words
}

/// A string as it is, anything else that is one value with its name.
fn word(name: &str, value: Text<'_>) -> Option<String> {
    const LONGEST: usize = 60;
    match value.string() {
        Some(said) => {
            (!said.is_empty() && said.chars().count() <= LONGEST).then(|| said.into_owned())
        }
        None => Some(format!("{name} {}", value.scalar()?)),
    }
}

/// What is said at that place, all deltas together.
fn said(jsons: &[Text<'_>], path: Path) -> String {
    let name = path.last().copied().unwrap_or_default();
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
        !UNTELLING.contains(&name.as_ref()) && !["_id", "_at"].iter().any(|it| name.ends_with(it))
    });
    let words = telling.filter_map(|(name, value)| match value.string() {
        Some(_) => Some(format!("{name} {}", word(&name, value)?)),
        None => word(&name, value),
    });
    words.take(MOST).collect()
}

/// The values at the end of a path that are not `null`.
fn values<'a>(json: Text<'a>, path: &[&str]) -> Vec<Text<'a>> {
    let Some(star) = path.iter().position(|part| *part == "*") else {
        let said = |it: &Text<'_>| it.as_str() != "null";
        return json.at(path).filter(said).into_iter().collect();
    };
    let elements = json.at(&path[..star]).into_iter().flat_map(Text::elements);
    elements.flat_map(|element| values(element, &path[star + 1..])).collect()
}
