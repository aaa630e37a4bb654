//! `retape.toml`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::at::refuse_place;
use super::form;
use super::glob::{self, Glob};
use super::{Fault, HostRule, Hosts, Key, NewFields, Protocol, Redaction, Rules, redaction};
use crate::error::{Error, Kind, Result};
use crate::text::nearest;

/// What a `retape.toml` says.
///
/// # Example: rules for all cassettes, and for some
///
/// ```
/// use retape::config::{Config, Repeats};
///
/// let config = Config::parse(r#"
///     [match]
///     ignore = ["$.client.version"]
///
///     [[cassette]]
///     name = "letta/*"
///     repeats = "once"
/// "#)?;
///
/// assert_eq!(config.rules("chat").repetition(), Repeats::Allowed);
/// assert_eq!(config.rules("letta/hello").repetition(), Repeats::Once);
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Config {
    all: Rules,
    some: Vec<(Glob, Rules)>,
    protocols: Vec<Protocol>,
    new_fields: NewFields,
    hosts: Hosts,
    faults: Vec<(Glob, Vec<Fault>)>,
    redaction: Redaction,
    meant: Vec<Meant>,
    file: PathBuf,
}

/// The cassettes that are meant, as the file says it, and on which line.
type Meant = (String, Glob, usize);

/// What the sections are called.
const SECTIONS: [&str; 7] = ["match", "cassette", "protocol", "diff", "proxy", "faults", "redact"];

/// The key of `[diff]`.
const NEW_FIELDS: &str = "new-fields";

impl Config {
    /// Reads the text of the file.
    ///
    /// # Errors
    ///
    /// If it is not TOML, has a key that is not known, or a value that cannot be. The error names the
    /// line and what to do.
    pub fn parse(text: &str) -> Result<Self> {
        let source = FileText(text);
        let table = DeTable::parse(text).map_err(|error| source.not_toml(&error))?;
        let mut config = Self::default();
        for (name, value) in entries(table.get_ref()) {
            let read = config.read(&source, name, value);
            read.map_err(|error| match source.form(name.get_ref(), value, &error) {
                Some(form) => error.or_hint(form),
                None => error,
            })?;
        }
        Ok(config)
    }

    /// Reads a section.
    fn read(
        &mut self,
        source: &FileText<'_>,
        name: &SpannedName<'_>,
        value: &SpannedValue<'_>,
    ) -> Result<()> {
        match &**name.get_ref() {
            "match" => self.all = source.rules(source.table(value)?)?,
            "cassette" => {
                let sections = source.sections(value, "one or more `[[cassette]]`")?.iter();
                for value in sections {
                    let (meant, rules) = source.section(value)?;
                    self.some.push((meant.1.clone(), rules));
                    self.meant.push(meant);
                }
            }
            "protocol" => {
                let sections = source.sections(value, "one or more `[[protocol]]`")?.iter();
                self.protocols =
                    sections.map(|value| source.protocol(value)).collect::<Result<_>>()?;
            }
            "diff" => self.new_fields = source.diff(source.table(value)?)?,
            "proxy" => self.hosts = source.hosts(source.table(value)?)?,
            "faults" => {
                for (meant, faults) in source.faults(source.table(value)?)? {
                    self.faults.push((meant.1.clone(), faults));
                    self.meant.push(meant);
                }
            }
            "redact" => self.redaction = source.redaction(source.table(value)?)?,
            word if Key::from_word(word).is_some() => {
                let hint =
                    format!("put it below `[match]`: `[match]`, and `{word} = …` on the next line");
                return Err(source.unknown(name, &SECTIONS).with_hint(hint));
            }
            _ => return Err(source.unknown(name, &SECTIONS)),
        }
        Ok(())
    }

    /// The rules for the cassette of that name: those for all cassettes, then those of each
    /// `[[cassette]]` whose name fits, in the order of the file. They add up; the last one has the
    /// last word about repeats and what is early.
    pub fn rules(&self, cassette: &str) -> Rules {
        let fitting = self.some.iter().filter(|(glob, _)| glob.fits(cassette));
        fitting.fold(self.all.clone(), |rules, (_, more)| rules.and(more))
    }

    /// How messages are told apart, in the order of the file.
    pub fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// What a new field means to clients.
    pub fn new_fields(&self) -> NewFields {
        self.new_fields
    }

    /// What is to go wrong when the cassette of that name is replayed, in the order of the file.
    pub fn faults(&self, cassette: &str) -> Vec<Fault> {
        let fitting = self.faults.iter().filter(|(glob, _)| glob.fits(cassette));
        fitting.flat_map(|(_, faults)| faults.iter().cloned()).collect()
    }

    /// Which hosts the proxy leaves alone.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// What is a secret, and what is none.
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// The same, which knows in which file it stands.
    pub(crate) fn at_file(mut self, path: &Path) -> Self {
        self.redaction.of_file(&path.display().to_string());
        path.clone_into(&mut self.file);
        self
    }

    /// The file that it was read from, if it says something of some cassettes only.
    pub(crate) fn file_with_names(&self) -> Option<&Path> {
        (!self.meant.is_empty()).then_some(&self.file)
    }

    /// What it says of cassettes that are none of these, and which one may be meant.
    pub(crate) fn idle(&self, names: &BTreeSet<String>) -> Vec<String> {
        let is_idle = |glob: &Glob| !names.iter().any(|name| glob.fits(name));
        let idle = self.meant.iter().filter(|(_, glob, _)| is_idle(glob));
        let told = idle.map(|(text, _, line)| {
            let known = glob::alike(text, names);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let alike = nearest::nearest(text, &known);
            let alike = alike.map(|alike| format!("; did you mean `{alike}`?")).unwrap_or_default();
            format!("no cassette fits `{text}` (`{}`, line {line}){alike}", self.file.display())
        });
        told.collect()
    }
}

pub(super) type SpannedName<'a> = Spanned<std::borrow::Cow<'a, str>>;
pub(super) type SpannedValue<'a> = Spanned<DeValue<'a>>;

/// The text, to tell lines of.
pub(super) struct FileText<'t>(&'t str);

impl FileText<'_> {
    /// The tables of a section of which there may be several.
    fn sections<'v, 'i>(
        &self,
        value: &'v SpannedValue<'i>,
        expected: &'static str,
    ) -> Result<&'v toml::de::DeArray<'i>> {
        match value.get_ref() {
            DeValue::Array(tables) => Ok(tables),
            _ => {
                let head = expected.trim_start_matches("one or more ");
                Err(self
                    .wrong_type(value, expected)
                    .with_hint(format!("write {head} with two brackets: there may be several")))
            }
        }
    }

    /// A `[[cassette]]`: a name beside what a `[match]` has.
    fn section(&self, value: &SpannedValue<'_>) -> Result<(Meant, Rules)> {
        let table = self.table(value)?;
        let (mut glob, mut rules) = (None, Rules::default());
        for (name, value) in entries(table) {
            match Key::from_word(name.get_ref()) {
                _ if *name.get_ref() == "name" => {
                    let text = self.text(value)?;
                    glob = Some(self.meant(text, value.span())?);
                }
                Some(key) => self.put(&mut rules, key, value)?,
                None => return Err(self.unknown(name, &[&["name"], Key::WORDS].concat())),
            }
        }
        let missing = || {
            self.at(Error::new(Kind::Config("a `[[cassette]]` has no `name`")), value.span())
                .with_hint("`name = \"letta/*\"` says which cassettes are meant; rules for all stand in `[match]`")
        };
        Ok((glob.ok_or_else(missing)?, rules))
    }

    /// A `[diff]`: what changes mean.
    fn diff(&self, table: &DeTable<'_>) -> Result<NewFields> {
        let mut new_fields = NewFields::default();
        for (name, value) in entries(table) {
            if name.get_ref() != NEW_FIELDS {
                return Err(self.unknown(name, &[NEW_FIELDS]));
            }
            let said = NewFields::said(NEW_FIELDS, self.text(value)?);
            new_fields = said.map_err(|error| self.at(error, value.span()))?;
        }
        Ok(new_fields)
    }

    /// A `[proxy]`: which hosts are left alone.
    fn hosts(&self, table: &DeTable<'_>) -> Result<Hosts> {
        let mut hosts = Hosts::default();
        for (name, value) in entries(table) {
            let known = HostRule::WORDS.iter().find(|(word, _)| word == name.get_ref());
            let (_, rule) = known.ok_or_else(|| {
                let words = HostRule::WORDS.map(|(word, _)| word);
                self.unknown(name, &words)
            })?;
            for value in self.list(value)?.iter() {
                let put = hosts.put(*rule, self.text(value)?);
                put.map_err(|error| self.at(error, value.span()))?;
            }
        }
        Ok(hosts)
    }

    /// A `[faults]`: what is to go wrong, by the names of cassettes.
    fn faults(&self, table: &DeTable<'_>) -> Result<Vec<(Meant, Vec<Fault>)>> {
        let mut faults = Vec::new();
        for (name, value) in entries(table) {
            let meant = self.meant(name.get_ref(), name.span())?;
            let fault = |value: &SpannedValue<'_>| {
                self.text(value)?.parse().map_err(|error| self.at(error, value.span()))
            };
            faults.push((meant, self.list(value)?.iter().map(fault).collect::<Result<_>>()?));
        }
        Ok(faults)
    }

    fn meant(&self, text: &str, span: Range<usize>) -> Result<Meant> {
        let line = self.line(span.clone());
        let glob = Glob::new(text).map_err(|error| self.at(error, span))?;
        Ok((text.to_owned(), glob, line))
    }

    /// A `[redact]`: what is a secret, and what is none.
    fn redaction(&self, table: &DeTable<'_>) -> Result<Redaction> {
        let mut said = Redaction::default();
        for (key, value) in entries(table) {
            let key_name = &**key.get_ref();
            if !redaction::KEYS.contains(&key_name) {
                return Err(self.unknown(key, &redaction::KEYS));
            }
            if key_name == "replacement" {
                for (name, value) in entries(self.table(value)?) {
                    let put = said.replacement(name.get_ref(), self.text(value)?);
                    said = put.map_err(|error| self.at(error, value.span()))?;
                }
                continue;
            }
            for value in self.list(value)?.iter() {
                let put = match value.get_ref() {
                    DeValue::Table(table) if key_name == "regexes" => {
                        let (name, regex) = self.named_regex(table, value.span())?;
                        said.regex(name, regex)
                    }
                    _ => said.put(key_name, self.text(value)?),
                };
                said = put.map_err(|error| self.at(error, value.span()))?;
                if key_name == "not-secrets" {
                    said = said.said_at(format!("line {}", self.line(value.span())));
                }
            }
        }
        Ok(said)
    }

    /// A `{ name = "account", regex = "…" }`.
    fn named_regex<'v>(
        &self,
        table: &'v DeTable<'_>,
        span: Range<usize>,
    ) -> Result<(&'v str, &'v str)> {
        let (mut found, mut regex) = (None, None);
        for (name, value) in entries(table) {
            match &**name.get_ref() {
                "name" => found = Some(self.text(value)?),
                "regex" => regex = Some(self.text(value)?),
                _ => return Err(self.unknown(name, &["name", "regex"])),
            }
        }
        found.zip(regex).ok_or_else(|| {
            let what = "an expression in a table needs both `name` and `regex`";
            self.at(Error::new(Kind::Config(what)), span)
                .with_hint("`{ name = \"account\", regex = \"ACME-[0-9]{6}\" }`")
        })
    }

    fn rules(&self, table: &DeTable<'_>) -> Result<Rules> {
        let mut rules = Rules::default();
        for (name, value) in entries(table) {
            let unknown = || self.unknown(name, Key::WORDS);
            let key = Key::from_word(name.get_ref()).ok_or_else(unknown)?;
            self.put(&mut rules, key, value)?;
        }
        Ok(rules)
    }

    fn put(&self, rules: &mut Rules, key: Key, value: &SpannedValue<'_>) -> Result<()> {
        let mut put = |value: &SpannedValue<'_>| {
            let text = self.text(value)?;
            if key == Key::Headers {
                refuse_place(text).map_err(|error| self.at(error, value.span()))?;
            }
            rules.put(key, text).map_err(|error| self.at(error, value.span()))
        };
        match key {
            _ if key.is_of_a_word() => put(value),
            Key::Patterns => {
                self.list(value)?.iter().try_for_each(|value| self.put_pattern(rules, value))
            }
            _ => self.list(value)?.iter().try_for_each(put),
        }
    }

    fn put_pattern(&self, rules: &mut Rules, value: &SpannedValue<'_>) -> Result<()> {
        let (mut at, mut regex) = (None, None);
        for (name, value) in entries(self.table(value)?) {
            match &**name.get_ref() {
                "at" => {
                    let parsed = self.text(value)?.parse();
                    at = Some(parsed.map_err(|error| self.at(error, value.span()))?);
                }
                "regex" => regex = Some((self.text(value)?, value.span())),
                _ => return Err(self.unknown(name, &["at", "regex"])),
            }
        }
        let (Some(at), Some((regex, span))) = (at, regex) else {
            let what = "a pattern needs both `at` and `regex`";
            return Err(self
                .at(Error::new(Kind::Config(what)), value.span())
                .with_hint("`{ at = \"$.prompt\", regex = \"Today is .*\" }`"));
        };
        rules.put_pattern(at, regex).map_err(|error| self.at(error, span))
    }

    pub(super) fn text<'v>(&self, value: &'v SpannedValue<'_>) -> Result<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type(value, "a string")),
        }
    }

    fn list<'v, 'i>(&self, value: &'v SpannedValue<'i>) -> Result<&'v toml::de::DeArray<'i>> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wrong_type(value, "an array")),
        }
    }

    pub(super) fn table<'v, 'i>(&self, value: &'v SpannedValue<'i>) -> Result<&'v DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(value, "a table")),
        }
    }
}

/// Errors.
impl FileText<'_> {
    /// How what is wrong in a section is written: that key of it which stands last before the line.
    fn form(&self, section: &str, value: &SpannedValue<'_>, error: &Error) -> Option<String> {
        let tables = match value.get_ref() {
            DeValue::Table(table) => vec![table],
            DeValue::Array(all) => all.iter().filter_map(|it| it.get_ref().as_table()).collect(),
            _ => Vec::new(),
        };
        let keys = tables.into_iter().flat_map(entries).map(|(name, _)| name);
        let is_before = |name: &&SpannedName<'_>| Some(self.line(name.span())) <= error.line();
        let key = keys.filter(is_before).max_by_key(|name| name.span().start);
        form::hint(section, key.map(|name| &**name.get_ref()))
    }

    pub(super) fn at(&self, error: Error, span: Range<usize>) -> Error {
        error.on_line(self.line(span))
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.0.as_bytes().get(..span.start).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    pub(super) fn unknown(&self, name: &SpannedName<'_>, known: &[&str]) -> Error {
        let hint = nearest::hint(name.get_ref(), known);
        let error = Error::new(Kind::UnknownKey { name: name.get_ref().to_string() });
        self.at(error, name.span()).with_hint(hint)
    }

    fn wrong_type(&self, value: &SpannedValue<'_>, expected: &'static str) -> Error {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a time",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.at(Error::new(Kind::WrongType { expected, found }), value.span())
    }

    fn not_toml(&self, error: &toml::de::Error) -> Error {
        let found = Error::new(Kind::Config("it is not TOML")).because(error.message().to_owned());
        self.at(found, error.span().unwrap_or_default())
    }
}

/// The entries of a table in the order of the file.
pub(super) fn entries<'v, 'i>(
    table: &'v DeTable<'i>,
) -> Vec<(&'v SpannedName<'i>, &'v SpannedValue<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}
