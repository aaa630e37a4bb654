//! A contract as text that reads like an interface, and from text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::situation::{Condition, Feature};
use super::syntax::{ParseError, ParseErrors, line_and_column, trimmed, unquoted, write_name};
use super::{Case, Contract, Endpoint, Kinds, Orders, Origin, seen};
use crate::contract::invariant::Invariant;
use crate::contract::order::{Expression, Order, Pattern};
use crate::contract::shape::Schema;
use crate::error::{Error, Kind};
use crate::message::TagSource;
use crate::text::{nearest, plain};

/// So wide an order is written, and so wide in the alternate form: on one line.
const WIDTH: usize = 92;
const UNBROKEN: usize = 100_000;

/// The parts by name.
pub(super) const TAG: &str = "tag";
pub(super) const ANYWHERE: &str = "anywhere";
pub(super) const ORDER: &str = "order";
pub(super) const ORDERS: &str = "orders";
pub(super) const INVARIANTS: &str = "invariants";
pub(super) const HEADERS: &str = "headers";
pub(super) const EVENTS: &str = "events";
pub(super) const KEEP_ALIVES: &str = "keep-alives";
pub(super) const BODY: &str = "body";

/// What stands behind the name of a part that tells kinds apart.
pub(super) const BY_KIND: &str = " by kind";

/// What begins a case, and what is left.
pub(super) const WHEN: &str = "when ";
pub(super) const OTHERWISE: &str = "otherwise";

impl fmt::Display for Contract {
    /// In the alternate form (`{:#}`) each order is one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.endpoint)?;
        if let Some(tag) = &self.tag {
            part(f, TAG, &KindName(&tag.to_string()).to_string())?;
        }
        if let Some(orders) = &self.order {
            let anywhere = orders.anywhere().map(|tag| Expression::tag(tag).to_string());
            let anywhere: Vec<String> = anywhere.collect();
            if !anywhere.is_empty() {
                part(f, ANYWHERE, &anywhere.join("\n"))?;
            }
            let width = if f.alternate() { UNBROKEN } else { WIDTH };
            let (name, text) = orders_text(orders, width);
            part(f, name, &text)?;
        }
        if !self.invariants.is_empty() {
            let lines: Vec<String> = self.invariants.iter().map(ToString::to_string).collect();
            part(f, INVARIANTS, &lines.join("\n"))?;
        }
        kinds(f, HEADERS, self.headers.as_ref())?;
        kinds(f, EVENTS, self.events.as_ref())?;
        kinds(f, KEEP_ALIVES, self.keep_alives.as_ref())?;
        kinds(f, BODY, self.body.as_ref())
    }
}

fn part(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    writeln!(f, "  {name}")?;
    indented(text, 4).lines().try_for_each(|line| writeln!(f, "{line}"))
}

fn kinds(f: &mut fmt::Formatter<'_>, name: &str, kinds: Option<&Kinds>) -> fmt::Result {
    match kinds {
        None => Ok(()),
        Some(Kinds::One(schema)) => part(f, name, &schema.to_string()),
        Some(Kinds::Each(kinds)) => {
            let kinds = kinds.iter().map(|(kind, schema)| {
                format!("{}\n{}", KindName(kind), indented(&schema.to_string(), 2))
            });
            part(f, &format!("{name}{BY_KIND}"), &kinds.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A kind as it is written: in quotes if it could be taken for something else.
struct KindName<'k>(&'k str);

impl fmt::Display for KindName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.is_empty()
            && self.0.trim() == self.0
            && !self.0.contains(|char: char| char.is_control() || char == '"' || char == '#');
        write_name(f, self.0, is_plain)
    }
}

/// The name of the part, and what stands in it.
fn orders_text(orders: &Orders, width: usize) -> (&'static str, String) {
    match orders.cases.as_slice() {
        [only] if only.when.is_empty() => (ORDER, only.order.expression().lines(width)),
        cases => {
            let cases = cases.iter().map(|case| {
                let order = indented(&case.order.expression().lines(width - 2), 2);
                format!("{}\n{order}", case.head())
            });
            (ORDERS, cases.collect::<Vec<_>>().join("\n"))
        }
    }
}

impl Case {
    /// What stands above its order.
    pub(super) fn head(&self) -> String {
        let conditions: Vec<String> = self.when.iter().map(ToString::to_string).collect();
        match conditions.as_slice() {
            [] => OTHERWISE.to_owned(),
            conditions => format!("{WHEN}{}", conditions.join(", ")),
        }
    }
}

fn indented(text: &str, columns: usize) -> String {
    let line = |line: &str| format!("{:columns$}{line}", "").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What stands before the fields that decide, in contracts of old: `order by request.role, stream`.
const BY: &str = "order by request.";

/// What stood there for a field that is not there.
const MISSING: &str = "missing";

const PARTS: [&str; 9] =
    [TAG, ANYWHERE, ORDER, ORDERS, INVARIANTS, HEADERS, EVENTS, KEEP_ALIVES, BODY];

impl FromStr for Contract {
    type Err = Error;

    /// Reads what [`Display`](std::fmt::Display) writes, or a person. A head between two lines of
    /// dashes, as insta writes it, is passed over.
    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(line) = plain::conflict(text) {
            let error = Error::new(Kind::Contract { why: "two versions of it are in conflict" });
            let hint =
                "resolve the merge conflict in it, or remove it and accept the contract anew";
            return Err(error.on_line(line).with_hint(hint));
        }
        // A checkout may have changed the ends of lines.
        let text = &*text.replace("\r\n", "\n");
        let mut reader = ContractReader { text, anywhere: BTreeSet::new(), errors: Vec::new() };
        match reader.contract().filter(|_| reader.errors.is_empty()) {
            Some(contract) => Ok(contract),
            None => Err(unreadable(text, reader.errors)),
        }
    }
}

/// What the head of a file says of a contract.
fn origin(text: &str) -> Origin {
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let mut origin = Origin::default();
    for (name, says) in
        head.into_iter().flat_map(|(head, _)| head.lines()).filter_map(|it| it.split_once(": "))
    {
        match name.trim() {
            RECORDINGS => origin.recordings = says.parse().unwrap_or_default(),
            CASSETTE => origin.cassette = Some(says.trim_matches('"').to_owned()),
            CUT => origin.cut = says.parse().unwrap_or_default(),
            SEEN => {
                origin.seen = seen::read(
                    &serde_json::from_str::<String>(says).unwrap_or_else(|_| says.to_owned()),
                )
            }
            LEARNED => origin.learned = says.trim_matches('"').to_owned(),
            _ => {}
        }
    }
    origin
}

/// What the head says, by name.
pub(super) const RECORDINGS: &str = "recordings";
pub(super) const CASSETTE: &str = "cassette";
pub(super) const CUT: &str = "cut";
pub(super) const SEEN: &str = "seen";
pub(super) const LEARNED: &str = "learned";

/// The error with all that is wrong, each with its place.
fn unreadable(text: &str, errors: Vec<ParseError>) -> Error {
    let mut errors = ParseErrors::new(text, errors);
    for error in &mut errors.errors {
        let marked = text[error.span.clone()].lines().next().unwrap_or_default();
        error.span.end = error.span.start + marked.trim_end().len();
        let (line, column) = line_and_column(text, error.span.start);
        error.what = format!("{} (line {line}, column {column})", error.what);
    }
    let first = errors.errors().first();
    let line = first.map_or(1, |first| line_and_column(text, first.span.start).0);
    Error::new(Kind::Contract { why: "it cannot be read" })
        .on_line(line)
        .because(errors)
        .with_hint("mend the file, or remove it and accept the contract anew: `retape accept`")
}

/// A line that says something: where it begins, and where it says it.
#[derive(Clone)]
struct Line {
    start: usize,
    span: Range<usize>,
}

/// Lines that belong together.
struct Block {
    lines: Vec<Line>,
    /// Where they end, or would stand if there were none.
    end: usize,
}

impl Line {
    fn column(&self) -> usize {
        self.span.start - self.start
    }
}

impl Block {
    /// The lines of a text without the head that insta writes.
    fn of(text: &str) -> Self {
        let head = text.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n"));
        let mut start = head.map_or(0, |end| "---\n".len() + end + "\n---\n".len());
        let mut lines = Vec::new();
        for line in text[start..].split_inclusive('\n') {
            let span = trimmed(text, start..start + line.len());
            if !span.is_empty() {
                lines.push(Line { start, span });
            }
            start += line.len();
        }
        Self { lines, end: text.len() }
    }

    /// Where its first line begins, counted from 0.
    fn column(&self) -> usize {
        self.lines.first().map_or(0, Line::column)
    }

    /// All of it, from the beginning of its first line.
    fn range(&self) -> Range<usize> {
        self.lines.first().map_or(self.end, |line| line.start)..self.end
    }

    /// Each line that begins in a column, or before it, and the lines that are below it.
    fn parts(&self, column: usize) -> Vec<(Line, Self)> {
        let mut parts: Vec<(Line, Self)> = Vec::new();
        for line in &self.lines {
            match parts.last_mut() {
                Some((_, inside)) if line.column() > column => {
                    inside.end = line.span.end;
                    inside.lines.push(line.clone());
                }
                _ => parts.push((line.clone(), Self { lines: Vec::new(), end: line.span.end })),
            }
        }
        parts
    }
}

/// The text, and what is wrong with it so far.
struct ContractReader<'t> {
    text: &'t str,
    /// Types that may come anywhere in each order.
    anywhere: BTreeSet<String>,
    errors: Vec<ParseError>,
}

impl<'t> ContractReader<'t> {
    fn contract(&mut self) -> Option<Contract> {
        let mut block = Block::of(self.text);
        if block.lines.is_empty() {
            self.wrong(block.range(), "an endpoint is missing", Some(ENDPOINT));
            return None;
        }
        let head = block.lines.remove(0);
        let endpoint: Option<Endpoint> = self.text[head.span.clone()].parse().ok();
        if endpoint.is_none() {
            self.wrong(head.start..head.span.end, "this is no endpoint", Some(ENDPOINT));
        }
        let mut parts = Contract {
            endpoint: endpoint.clone().unwrap_or_default(),
            tag: None,
            order: None,
            invariants: Vec::new(),
            headers: None,
            events: None,
            keep_alives: None,
            body: None,
            origin: origin(self.text),
        };
        for (name, inside) in block.parts(2) {
            if self.text[name.start..name.span.start] == *"  " {
                self.part(&mut parts, name.span, &inside);
            } else {
                let hint = "parts begin in the third column, what is in them deeper";
                self.wrong(name.span, "this belongs to no part", Some(hint));
            }
        }
        parts.order = parts.order.map(|orders| orders.with_anywhere(&self.anywhere));
        endpoint.map(|_| parts)
    }

    fn part(&mut self, contract: &mut Contract, span: Range<usize>, inside: &Block) {
        let name = &self.text[span.clone()];
        match name {
            TAG => contract.tag = self.tag(inside),
            ANYWHERE => inside.lines.iter().for_each(|line| self.anywhere(line)),
            ORDER => contract.order = self.order(inside).map(Orders::one),
            ORDERS => contract.order = Some(self.orders(inside, Self::conditions)),
            _ if name.starts_with(BY) => {
                let by: Vec<&str> = name[BY.len()..].split(", ").collect();
                contract.order =
                    Some(self.orders(inside, |_, head, _| conditions_of_old(&by, head)));
            }
            INVARIANTS => {
                let read = Invariant::within(self.text, inside.range());
                contract.invariants = self.read(read).unwrap_or_default();
            }
            HEADERS => contract.headers = self.schema(inside).map(Kinds::One),
            EVENTS => contract.events = self.schema(inside).map(Kinds::One),
            KEEP_ALIVES => contract.keep_alives = self.schema(inside).map(Kinds::One),
            BODY => contract.body = self.schema(inside).map(Kinds::One),
            _ => match name.strip_suffix(BY_KIND) {
                Some(EVENTS) => contract.events = Some(self.kinds(inside)),
                Some(KEEP_ALIVES) => contract.keep_alives = Some(self.kinds(inside)),
                Some(BODY) => contract.body = Some(self.kinds(inside)),
                _ => {
                    let hint = nearest::hint(name.split(' ').next().unwrap_or_default(), &PARTS);
                    self.wrong(span, "this part is not known", Some(&hint));
                }
            },
        }
    }

    fn tag(&mut self, block: &Block) -> Option<TagSource> {
        let span = trimmed(self.text, block.range());
        let text = &self.text[span.clone()];
        let text = serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
        let tag = text.parse().ok();
        if tag.is_none() {
            let hint =
                "write a place such as `/kind_of_thing`, or `event` for the name of the event";
            self.wrong(span, "this tells no types", Some(hint));
        }
        tag
    }

    fn anywhere(&mut self, line: &Line) {
        match self.text[line.span.clone()].parse() {
            Ok(Expression::Event(Pattern { tag: Some(tag), guards })) if guards.is_empty() => {
                self.anywhere.insert(tag);
            }
            _ => self.wrong(line.span.clone(), "this is no type of messages", Some(TYPE)),
        }
    }

    fn order(&mut self, block: &Block) -> Option<Order> {
        self.read(Order::within(self.text, block.range()))
    }

    /// The cases; `when` reads what stands above one.
    fn orders(
        &mut self,
        block: &Block,
        mut when: impl FnMut(&mut Self, &'t str, Range<usize>) -> Vec<Condition>,
    ) -> Orders {
        let mut cases = Vec::new();
        for (head, inside) in block.parts(block.column()) {
            let when = when(self, &self.text[head.span.clone()], head.span);
            if let Some(order) = self.order(&inside) {
                cases.push(Case { when, order });
            }
        }
        Orders { cases }
    }

    fn conditions(&mut self, head: &str, span: Range<usize>) -> Vec<Condition> {
        if head == OTHERWISE {
            return Vec::new();
        }
        let Some(conditions) = head.strip_prefix(WHEN) else {
            let hint = Some("a case begins with `when …`, or is `otherwise`");
            self.wrong(span, "this begins no case", hint);
            return Vec::new();
        };
        let mut read = Vec::new();
        let at = span.start + WHEN.len();
        let mut from = 0;
        // What a value says may have a comma.
        let ends = unquoted(conditions, b',').chain([conditions.len()]);
        for end in ends {
            match Condition::parse(conditions[from..end].trim()) {
                Some(condition) => read.push(condition),
                None => self.wrong(at + from..at + end, "this is no condition", Some(CONDITION)),
            }
            from = end + 1;
        }
        read
    }

    fn kinds(&mut self, block: &Block) -> Kinds {
        let mut kinds = BTreeMap::new();
        for (head, inside) in block.parts(block.column()) {
            let name = &self.text[head.span.clone()];
            let name = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
            if let Some(schema) = self.schema(&inside)
                && kinds.insert(name, schema).is_some()
            {
                self.wrong(head.span, "this kind stands here twice", None);
            }
        }
        Kinds::Each(kinds)
    }

    fn schema(&mut self, block: &Block) -> Option<Schema> {
        self.read(Schema::within(self.text, block.range()))
    }

    fn read<T>(&mut self, read: Result<T, Vec<ParseError>>) -> Option<T> {
        read.map_err(|errors| self.errors.extend(errors)).ok()
    }

    fn wrong(&mut self, span: Range<usize>, what: &str, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.errors.push(ParseError { span, what: what.to_owned(), hint });
    }
}

/// What each field says, with ` / ` between the fields.
fn conditions_of_old(by: &[&str], head: &str) -> Vec<Condition> {
    let when = by.iter().zip(head.split(" / ")).map(|(path, says)| Condition {
        feature: Feature::Request((*path).to_owned()),
        says: (says != MISSING).then(|| says.replace(", ", super::situation::AND)),
    });
    when.collect()
}

const ENDPOINT: &str = "it reads like `GET /v1/agents -> 200 application/json`";

const TYPE: &str = "write the type of the messages that may come anywhere, one in a line";

const CONDITION: &str = "write `path=\"text\"`, `path missing`, `path known`, `path unknown` or \
                         `after tag[path=\"text\"]`, with commas between them";
