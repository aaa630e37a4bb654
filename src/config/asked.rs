//! Which requests a person means.

use std::str::FromStr;

use serde_json::Value;

use super::At;
use super::glob::Glob;
use crate::error::{Error, Result};
use crate::text::words::shown;

/// Which requests are meant: `POST /v1/agents`, `/v1/agents/*`, `GET *`, `#4`, `*`.
#[derive(Debug, Clone)]
pub(super) enum RequestPattern {
    All,
    /// The interaction that answers, counted from 0.
    Interaction(usize),
    Line {
        method: Option<String>,
        path: Option<Glob>,
    },
}

/// Requests that a client may leave out: `GET /health`, `SEND /ws /type=ping`.
///
/// First the requests, as a [`Fault`](super::Fault) names them, then what their JSON says: a JSON Pointer, `=`,
/// and a value without spaces. Messages of a client over a WebSocket are requests whose method is `SEND`.
///
/// # Example: a client that may send pings
///
/// ```
/// use retape::config::Optional;
///
/// let pings: Optional = "SEND /ws /type=ping".parse()?;
/// assert_eq!(pings.as_str(), "SEND /ws /type=ping");
/// assert!("SEND ws".parse::<Optional>().is_err());
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Optional {
    text: String,
    asked: RequestPattern,
    says: Vec<(At, String)>,
}

/// A request as it is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLine<'a> {
    pub(crate) method: &'a str,
    /// With or without its query.
    pub(crate) path: &'a str,
    /// The number of the interaction.
    pub(crate) interaction: usize,
    pub(crate) body: &'a [u8],
}

impl RequestPattern {
    pub(super) fn parse(asked: &str, rule: &str) -> Result<Self> {
        if let Some(number) = asked.strip_prefix('#') {
            let number = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            return number.map(Self::Interaction).ok_or_else(|| {
                Error::rule(rule, "names no interaction").with_hint(
                    "they are counted from 1: `#4`; of `4.2`, a message over a WebSocket, `#4`",
                )
            });
        }
        let (method, path) = match asked.split_once(' ') {
            Some((method, path)) => (Some(method).filter(|it| *it != "*"), path.trim()),
            None => (None, asked),
        };
        let method = method.map(str::to_owned);
        if path == "*" {
            return Ok(Self::Line { method, path: None });
        }
        if !path.starts_with('/') {
            return Err(Error::rule(rule, "does not say which requests").with_hint(
                "requests are `POST /v1/agents`, `/v1/agents/*`, `#4` (an interaction), or `*`",
            ));
        }
        if let Some((before, _)) = path.split_once('?').filter(|(_, behind)| behind.contains('=')) {
            let hint = format!("a query does not count here: leave it out (`{before}`)");
            return Err(Error::rule(rule, "names a query").with_hint(hint));
        }
        let path = Glob::of_path(path.trim_matches('/'))?;
        Ok(Self::Line { method, path: Some(path) })
    }

    pub(super) fn fits(&self, method: &str, path: &str, interaction: usize) -> bool {
        match self {
            Self::All => true,
            Self::Interaction(number) => *number == interaction,
            Self::Line { method: meant, path: glob } => {
                let path = path.split('?').next().unwrap_or_default();
                meant.as_ref().is_none_or(|meant| meant.eq_ignore_ascii_case(method))
                    && glob.as_ref().is_none_or(|glob| glob.fits(path.trim_matches('/')))
            }
        }
    }
}

impl Optional {
    /// The text that it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn fits(&self, line: RequestLine<'_>) -> bool {
        let RequestLine { method, path, interaction, body } = line;
        let says = || {
            let body: Value = serde_json::from_slice(body).ok()?;
            let says = |(at, meant): &(At, String)| match found(&body, at) {
                Some(Value::String(text)) => text == meant,
                Some(value) => {
                    serde_json::from_str(meant).is_ok_and(|meant: Value| meant == *value)
                }
                None => false,
            };
            Some(self.says.iter().all(says))
        };
        self.asked.fits(method, path, interaction)
            && (self.says.is_empty() || says().unwrap_or_default())
    }
}

impl FromStr for Optional {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_alone = words.first().is_some_and(|word| word.starts_with(['/', '#']));
        let (asked, says) = words.split_at(words.len().min(if is_alone { 1 } else { 2 }));
        let says = says.iter().map(|word| {
            let (at, value) = word.split_once('=').ok_or_else(|| {
                Error::rule(text, "has a word that is not known").with_hint(format!(
                    "`{word}` is none of `/POINTER=VALUE`, such as `/type=ping`"
                ))
            })?;
            Ok((At::field(at)?, value.to_owned()))
        });
        let says = says.collect::<Result<_>>()?;
        Ok(Self {
            text: text.to_owned(),
            asked: RequestPattern::parse(&asked.join(" "), text)?,
            says,
        })
    }
}

shown!(Display: Optional, it => "{}", it.text);

impl PartialEq for Optional {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Optional {}

fn found<'v>(value: &'v Value, at: &At) -> Option<&'v Value> {
    at.steps().iter().try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => value.get(step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_may_be_left_out_is_known_by_its_line_and_what_it_says() {
        let check = |text: &str, line: &str, body: &str, expected: bool| {
            let optional: Optional = text.parse().expect(text);
            let (method, path) = line.split_once(' ').expect(line);
            let line = RequestLine { method, path, interaction: 3, body: body.as_bytes() };
            assert_eq!(optional.fits(line), expected, "{text}: {line:?}");
        };
        check("GET /health", "GET /health?a", "", true);
        check("GET /health", "POST /health", "", false);
        check("/ws /type=ping", "SEND /ws", r#"{"type": "ping"}"#, true);
        check("SEND /ws /type=ping", "SEND /ws", r#"{"type": "pong"}"#, false);
        check("SEND /ws /type=ping", "SEND /ws", "ping", false);
        check("SEND * /a/0/b=2 /c=true", "SEND /ws", r#"{"a": [{"b": 2}], "c": true}"#, true);
        check("#4", "GET /", "", true);
    }

    #[test]
    fn what_names_no_request_is_refused_with_a_hint() {
        for text in ["", "ws", "SEND ws", "SEND /ws ping", "SEND /ws type=ping", "#0", "GET /a?b=1"]
        {
            let error = text.parse::<Optional>().expect_err(text);
            assert!(error.hint().is_some(), "{error:?}");
        }
    }
}
