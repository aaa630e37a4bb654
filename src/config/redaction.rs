//! What a person says about secrets, beside what retape knows itself.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regex::bytes::Regex;

use super::at::{header_name, refuse_place};
use crate::error::{Error, Result};

/// Rules of one's own about secrets: what else is one, and what is none.
///
/// They stand below `[redact]` in `retape.toml`, or in a test
/// ([`SessionBuilder::redact_with`](crate::SessionBuilder::redact_with)). What retape knows itself stays:
/// only [`not_secret`](Self::not_secret) takes something out of it, and a recording says so.
///
/// # Example: account numbers, and a cookie that a test compares
///
/// ```
/// use retape::config::Redaction;
///
/// let redaction = Redaction::default()
///     .header("x-tenant")?
///     .regex("account", r"ACME-\d{6}")?
///     .not_secret("theme")?;
/// # let _ = redaction;
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a redaction does nothing until a session is given it"]
pub struct Redaction {
    rules: Vec<OwnRule>,
    /// Where each of [`OwnRule::NotSecret`] was said, in their order.
    sources: Vec<String>,
}

/// A rule of one's own.
#[derive(Debug, Clone)]
pub(crate) enum OwnRule {
    Header(String),
    Query(String),
    Json(String),
    Find { name: String, finder: Finder },
    Replacement { name: String, text: String },
    NotSecret(String),
}

/// What finds secrets in a line of text.
#[derive(Clone)]
pub(crate) enum Finder {
    /// What it matches, or its group `s`.
    Regex(Regex),
    /// The ranges that a function gives; nothing if the cassette is played where there is no such function.
    Code(Option<Arc<Code>>),
}

/// Gives the ranges of a line that are secrets.
type Code = dyn Fn(&str) -> Vec<Range<usize>> + Send + Sync;

/// The keys of `[redact]`.
pub(super) const KEYS: [&str; 6] =
    ["headers", "query", "json", "regexes", "replacement", "not-secrets"];

/// The header fields without which no message can be read.
const PROTOCOL: &str = "\
    host accept accept-encoding connection content-encoding content-length content-type \
    transfer-encoding upgrade";

impl Redaction {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The value of a header field is a secret, but for a scheme such as `Bearer` before it.
    ///
    /// # Errors
    ///
    /// If it is not the name of a header field, or one without which no message can be read.
    pub fn header(self, name: &str) -> Result<Self> {
        let name = header_name(name)?.to_ascii_lowercase();
        if PROTOCOL.split(' ').any(|known| known == name) {
            return Err(Error::rule(
                &name,
                "is a header field without which no message can be read",
            ));
        }
        Ok(self.with(OwnRule::Header(name)))
    }

    /// The value of a parameter of queries and forms is a secret.
    ///
    /// # Errors
    ///
    /// If the name is empty or has a line break.
    pub fn query(self, name: &str) -> Result<Self> {
        Ok(self.with(OwnRule::Query(plain(name)?)))
    }

    /// The strings in a JSON field of that name are secrets, and those in what it holds.
    ///
    /// # Errors
    ///
    /// If the name is empty or has a line break.
    pub fn json(self, name: &str) -> Result<Self> {
        Ok(self.with(OwnRule::Json(plain(name)?)))
    }

    /// What an expression matches within a line is a secret of that name; if it has a group `s`, that alone.
    ///
    /// # Errors
    ///
    /// If it is not a regular expression, or the name has other signs than letters, digits, `-_.`.
    pub fn regex(self, name: &str, regex: &str) -> Result<Self> {
        let compiled = Regex::new(regex);
        let compiled = compiled.map_err(|error| {
            Error::rule(regex, "is not a regular expression").because(error.to_string())
        })?;
        if compiled.is_match(b"") {
            return Err(Error::rule(regex, "matches where there is nothing")
                .with_hint("it would find a secret everywhere: `+` in the place of `*`"));
        }
        let name = word(name)?;
        Ok(self.with(OwnRule::Find { name, finder: Finder::Regex(compiled) }))
    }

    /// The ranges of a line that a function gives are secrets of that name.
    ///
    /// A cassette that was recorded so names the function. Without it, requests in which it found
    /// something are not recognized.
    ///
    /// # Errors
    ///
    /// If the name has other signs than letters, digits, `-_.`.
    pub fn code(
        self,
        name: &str,
        find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let name = word(name)?;
        Ok(self.with(OwnRule::Find { name, finder: Finder::Code(Some(Arc::new(find))) }))
    }

    /// What stands in the place of secrets of that name, instead of `[redacted:NAME]`.
    ///
    /// # Errors
    ///
    /// If the text has signs that cannot stand anywhere in a message, or the name is empty.
    pub fn replacement(self, name: &str, text: &str) -> Result<Self> {
        let stands_anywhere = |c: char| c.is_ascii_alphanumeric() || "-_.~:/@+[]".contains(c);
        if text.is_empty() || !text.chars().all(stands_anywhere) {
            return Err(Error::rule(text, "cannot stand in the place of a secret")
                .with_hint("letters, digits and `-_.~:/@+[]` can stand in URLs, JSON and fields"));
        }
        let (name, text) = (spaceless(name)?, text.to_owned());
        Ok(self.with(OwnRule::Replacement { name, text }))
    }

    /// What a placeholder calls by that name is no secret: the value of a field, cookie or parameter, or
    /// what a look finds, such as `jwt`.
    ///
    /// # Errors
    ///
    /// If the name is empty or has a line break.
    pub fn not_secret(mut self, name: &str) -> Result<Self> {
        self.rules.push(OwnRule::NotSecret(plain(name)?));
        self.sources.push("the test".to_owned());
        Ok(self)
    }

    /// Both together.
    pub fn and(mut self, other: &Self) -> Self {
        self.rules.extend_from_slice(&other.rules);
        self.sources.extend_from_slice(&other.sources);
        self
    }

    /// What is no secret, and who says so: `` `theme` (retape.toml, line 4) ``.
    pub fn weakened(&self) -> Vec<String> {
        let names = self.rules.iter().filter_map(|rule| match rule {
            OwnRule::NotSecret(name) => Some(name),
            _ => None,
        });
        names.zip(&self.sources).map(|(name, source)| format!("`{name}` ({source})")).collect()
    }

    pub(crate) fn rules(&self) -> &[OwnRule] {
        &self.rules
    }

    /// The functions that are named so.
    pub(crate) fn code_of(&self, names: &[String]) -> Self {
        let is_code = |rule: &&OwnRule| {
            matches!(rule, OwnRule::Find { finder: Finder::Code(Some(_)), .. })
                && names.contains(&rule.to_string())
        };
        let rules = self.rules.iter().filter(is_code).cloned().collect();
        Self { rules, ..Self::default() }
    }

    /// Adds what stands below a key of `[redact]` as text.
    pub(super) fn put(self, key: &str, text: &str) -> Result<Self> {
        if key != "regexes" {
            refuse_place(text)?;
        }
        match key {
            "headers" => self.header(text),
            "query" => self.query(text),
            "json" => self.json(text),
            "regexes" => self.regex("regex", text),
            _ => self.not_secret(text),
        }
    }

    /// Says where the last name was said that is no secret.
    pub(super) fn said_at(mut self, source: String) -> Self {
        self.sources.last_mut().into_iter().for_each(|last| *last = source.clone());
        self
    }

    /// Says of what file the lines are.
    pub(super) fn of_file(&mut self, file: &str) {
        self.sources.iter_mut().for_each(|source| *source = format!("{file}, {source}"));
    }

    /// The rule that a cassette names so; nothing if it is none of these.
    pub(crate) fn read(line: &str) -> Result<Option<Self>> {
        let (kind, rest) = line.split_once(' ').unwrap_or_default();
        let (name, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        let none = Self::default();
        Ok(Some(match kind {
            "header" => none.header(rest)?,
            "query" => none.query(rest)?,
            "json" => none.json(rest)?,
            "regex" => none.regex(name, behind)?,
            "replacement" => none.replacement(name, behind)?,
            "not" => none.not_secret(rest)?,
            "code" => {
                let finder = Finder::Code(None);
                none.with(OwnRule::Find { name: word(name)?, finder })
            }
            _ => return Ok(None),
        }))
    }

    fn with(mut self, rule: OwnRule) -> Self {
        self.rules.push(rule);
        self
    }
}

/// As a cassette names the rule.
impl fmt::Display for OwnRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header {name}"),
            Self::Query(name) => write!(f, "query {name}"),
            Self::Json(name) => write!(f, "json {name}"),
            Self::Find { name, finder: Finder::Regex(regex) } => write!(f, "regex {name} {regex}"),
            Self::Find { name, finder: Finder::Code(_) } => write!(f, "code {name}"),
            Self::Replacement { name, text } => write!(f, "replacement {name} {text}"),
            Self::NotSecret(name) => write!(f, "not {name}"),
        }
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regex(regex) => f.debug_tuple("Regex").field(&regex.as_str()).finish(),
            Self::Code(_) => f.write_str("Code"),
        }
    }
}

fn plain(name: &str) -> Result<String> {
    if name.trim().is_empty() || name.contains(char::is_control) {
        return Err(Error::rule(name, "is not a name"));
    }
    Ok(name.to_owned())
}

fn spaceless(name: &str) -> Result<String> {
    plain(name).and_then(|name| {
        if name.contains(' ') {
            Err(Error::rule(&name, "is a name with a space in it"))
        } else {
            Ok(name)
        }
    })
}

/// A name as placeholders show it.
fn word(name: &str) -> Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 48 || !name.chars().all(is_plain) {
        return Err(Error::rule(name, "is not a name for placeholders")
            .with_hint("up to 48 letters, digits and `-_.`: `account`"));
    }
    Ok(name.to_owned())
}
