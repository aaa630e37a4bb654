//! What a message says, in a line.

use std::borrow::Cow;
use std::fmt;

use super::extract::{members, said, words};
use super::gist_fields::{ASKED, ERROR_TEXTS, ERROR_WORDS, TEXTS, WORDS};
use super::line::{cut, visible};
use super::outline::outline;
use crate::text::json::{Layout, Text};

/// The text of this many deltas is longer than any line.
const MOST_DELTAS: usize = 400;

/// What a message, or the deltas of one, says in short.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
        if let Some(method) = json.get("jsonrpc").and_then(|_| json.get("method")?.string()) {
            let mut gist = Self::found([json].as_slice());
            gist.words.insert(0, method.into_owned());
            return gist;
        }
        let asked = ASKED.iter().find_map(|path| json.at(path)?.elements().last());
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
        for path in ERROR_TEXTS {
            let text = said(&[json], path);
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.is_empty() {
            true => Self::json(json),
            false => Self {
                words: words(&[json], ERROR_WORDS),
                text: texts.join(" — "),
                ..Self::default()
            },
        }
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
        let text = TEXTS.iter().map(|path| said(jsons, path)).find(|text| !text.is_empty());
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
pub(super) fn compact(json: Text<'_>) -> String {
    let mut out = String::new();
    Layout::Compact.write(json, &mut out);
    out
}

fn container(text: &str) -> Option<Text<'_>> {
    Text::read_container(text)
}
