//! A request read once, into values with their places.

pub(crate) mod hash;
pub(crate) mod header;
mod json;

use std::borrow::Cow;
use std::ops::Range;

use self::hash::{combine, hash_of};
use self::header::HeaderFields;
use self::json::Json;
pub(crate) use self::json::is_set;
use super::Place;
use crate::cassette::{Headers, Media, Request, target};
use crate::config::{Compare, Rules, Treatment};
use crate::text::json::{Text, pointer};
use crate::text::multipart::{self, Part};
use crate::text::{form, percent, plain};

/// All values of a request that count, in order: each container stands before what is in it.
///
/// The same reading is hashed to find the interaction that answers a request, compared to explain why
/// none does, and searched for what its client made up. What a rule ignores is not in it.
#[derive(Debug, Default)]
pub(crate) struct Reading<'t> {
    pub(crate) nodes: Vec<Node<'t>>,
    /// The body without its coding.
    pub(crate) body: &'t [u8],
}

/// A value, or what holds values.
#[derive(Debug, Clone)]
pub(crate) struct Node<'t> {
    /// What it is in; itself if it is in nothing.
    pub(crate) parent: u32,
    /// Behind the last node that is in it.
    pub(crate) end: u32,
    /// How it is reached from there.
    pub(crate) step: PathStep<'t>,
    pub(crate) kind: Kind,
    /// What it says: of a string without quotes and escapes.
    pub(crate) text: Cow<'t, str>,
    /// How it is spelled in JSON; nothing elsewhere.
    pub(crate) spelled: &'t str,
    /// Equal for the same place in two requests. Items of a set have one place.
    pub(crate) place: u64,
    /// The same, with all items of an array in one place.
    pub(crate) wild: u64,
    /// Equal for equal values.
    pub(crate) hash: u64,
    /// What it adds to the key of the request.
    pub(crate) counts: u64,
    /// What a person says of it.
    pub(crate) rule: Option<Treatment<'t>>,
}

/// How a value is reached from what it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathStep<'t> {
    Method,
    /// The server, if it is not the first one of the cassette.
    Origin,
    Path,
    /// Counted from 0; what is before the first slash is one too.
    Segment(usize),
    Query(Cow<'t, str>),
    Header(Cow<'t, str>),
    Form(Cow<'t, str>),
    Part(Cow<'t, str>),
    Body,
    Member(Cow<'t, str>),
    Item(usize),
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    /// An array whose order does not count.
    Set,
    Text,
    /// A number in JSON.
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// Bytes that are no text, and so many.
    Bytes(usize),
}

/// The roots of places.
const METHOD: u64 = 1;
const PATH: u64 = 2;
const QUERY: u64 = 3;
const BODY: u64 = 4;
const HEADER: u64 = 5;
const FORM: u64 = 6;
const PART: u64 = 7;
const ORIGIN: u64 = 8;

impl<'t> Reading<'t> {
    /// Reads a request, whose body is given without its coding.
    pub(crate) fn of(request: &'t Request, body: &'t [u8], rules: &'t Rules) -> Self {
        let mut reader = RequestReader { nodes: Vec::with_capacity(32), rules };
        reader.leaf(
            Root::new(PathStep::Method, METHOD),
            request.method.as_str().into(),
            Kind::Text,
        );
        let (origin, path) = target::split(request.path_only());
        if !origin.is_empty() {
            reader.leaf(Root::new(PathStep::Origin, ORIGIN), origin.into(), Kind::Text);
        }
        reader.path(path);
        reader.fields(request.query().unwrap_or(""), QUERY);
        if rules.comparison() == Compare::All {
            reader.header(header::fields(&request.headers), !body.is_empty());
            reader.body(&request.headers, body);
        }
        Self { nodes: reader.nodes, body }
    }

    /// Reads a JSON text, or another one.
    pub(crate) fn of_text(text: &'t str, rules: &'t Rules) -> Self {
        let mut reader = RequestReader { nodes: Vec::with_capacity(32), rules };
        reader.content(Root::new(PathStep::Body, BODY), text.as_bytes(), Text::read(text));
        Self { nodes: reader.nodes, body: text.as_bytes() }
    }

    /// Equal for requests that are equal.
    pub(crate) fn key(&self) -> u64 {
        self.sum(0..self.nodes.len())
    }

    /// What a node and all in it add to the key.
    pub(crate) fn weight(&self, node: usize) -> u64 {
        self.sum(node..self.nodes[node].end as usize)
    }

    fn sum(&self, nodes: Range<usize>) -> u64 {
        self.nodes[nodes].iter().fold(0, |sum, node| sum.wrapping_add(node.counts))
    }

    /// The number of parts of its path: requests with other ones are never the same.
    pub(crate) fn family(&self) -> u64 {
        let segments = self.nodes.iter().take_while(|node| node.step.is_of_line()).count();
        combine(&[self.nodes[0].hash, segments as u64])
    }

    /// The nodes of a request that stand in nothing, or of a container that stand in it.
    pub(crate) fn inside(&self, node: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let (mut next, end) = match node {
            Some(node) => (node + 1, self.nodes[node].end as usize),
            None => (0, self.nodes.len()),
        };
        std::iter::from_fn(move || {
            let found = (next < end).then_some(next)?;
            next = self.nodes[found].end as usize;
            Some(found)
        })
    }

    /// The field that a value belongs to: that of an array, for its items.
    pub(crate) fn name(&self, node: usize) -> &str {
        let mut at = node;
        loop {
            match &self.nodes[at].step {
                PathStep::Item(_) if self.nodes[at].parent as usize != at => {
                    at = self.nodes[at].parent as usize;
                }
                step => return step.name(),
            }
        }
    }

    /// Where a value stands.
    pub(crate) fn place(&self, node: usize) -> Place {
        let mut pointer = Vec::new();
        let mut at = node;
        loop {
            match &self.nodes[at].step {
                PathStep::Member(name) => pointer.push(Cow::Borrowed(&**name)),
                PathStep::Item(number) => pointer.push(Cow::Owned(number.to_string())),
                PathStep::Body if !self.nodes[at].spelled.is_empty() && pointer.is_empty() => {
                    return Place::Json(String::new());
                }
                step => return step.place(pointer.into_iter().rev()),
            }
            at = self.nodes[at].parent as usize;
        }
    }
}

impl PathStep<'_> {
    fn is_of_line(&self) -> bool {
        matches!(self, Self::Method | Self::Origin | Self::Path | Self::Segment(_))
    }

    /// Whether it is a field of a form, and if not, whether it is a part of several.
    pub(crate) fn is_of_form(&self) -> (bool, bool) {
        (matches!(self, Self::Form(_)), matches!(self, Self::Part(_)))
    }

    fn name(&self) -> &str {
        match self {
            Self::Query(name)
            | Self::Header(name)
            | Self::Form(name)
            | Self::Part(name)
            | Self::Member(name) => name,
            Self::Method
            | Self::Origin
            | Self::Path
            | Self::Segment(_)
            | Self::Body
            | Self::Item(_) => "",
        }
    }

    fn place<'a>(&self, way: impl Iterator<Item = Cow<'a, str>>) -> Place {
        let mut pointer = String::new();
        let mut is_inside = false;
        for name in way {
            is_inside = true;
            pointer.push('/');
            pointer.push_str(&pointer::escaped(&name));
        }
        match self {
            Self::Method => Place::Method,
            Self::Origin => Place::Origin,
            Self::Path => Place::Path,
            Self::Segment(number) => Place::Segment(*number),
            Self::Query(name) => Place::Query(name.clone().into_owned()),
            Self::Header(name) => Place::Header(name.to_ascii_lowercase()),
            Self::Form(name) => Place::Form(name.clone().into_owned()),
            Self::Part(name) if is_inside => {
                Place::InPart { part: name.clone().into_owned(), pointer }
            }
            Self::Part(name) => Place::Part(name.clone().into_owned()),
            Self::Body if is_inside => Place::Json(pointer),
            Self::Body | Self::Member(_) | Self::Item(_) => Place::Body,
        }
    }
}

impl Kind {
    pub(crate) fn code(self) -> u64 {
        match self {
            Self::Object => 11,
            Self::Array => 12,
            Self::Set => 13,
            _ => 14,
        }
    }

    /// What a number, `true`, `false` or `null` is.
    fn of(spelled: &str) -> Self {
        let is_number = spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        if is_number { Self::Number } else { Self::Word }
    }

    pub(crate) fn is_container(self) -> bool {
        matches!(self, Self::Object | Self::Array | Self::Set)
    }
}

/// Where a value begins that is in no other.
struct Root<'t> {
    step: PathStep<'t>,
    place: u64,
    rule: Option<Treatment<'t>>,
}

impl<'t> Root<'t> {
    fn new(step: PathStep<'t>, place: u64) -> Self {
        Self { step, place, rule: None }
    }
}

struct RequestReader<'t> {
    nodes: Vec<Node<'t>>,
    rules: &'t Rules,
}

impl<'t> RequestReader<'t> {
    fn path(&mut self, path: &'t str) {
        let rule = self.rules.of_path();
        if matches!(rule, Some(Treatment::Ignore)) {
            return;
        }
        if matches!(rule, Some(Treatment::Pattern(_))) {
            let root = Root { step: PathStep::Path, place: PATH, rule };
            return self.leaf(root, percent::decoded(path), Kind::Text);
        }
        for (number, segment) in path.split('/').enumerate() {
            let place = combine(&[PATH, number as u64]);
            let root = Root { step: PathStep::Segment(number), place, rule };
            self.leaf(root, percent::decoded(segment), Kind::Text);
        }
    }

    /// The fields of a query or a form.
    fn fields(&mut self, fields: &'t str, of: u64) {
        for (name, value) in form::pairs(fields) {
            let name = percent::form_decoded(name);
            let place = combine(&[of, hash_of(&*name)]);
            let (rule, step) = if of == QUERY {
                (self.rules.of_query(&name), PathStep::Query(name))
            } else {
                (self.rules.of_form(&name), PathStep::Form(name))
            };
            self.leaf(Root { step, place, rule }, percent::form_decoded(value), Kind::Text);
        }
    }

    fn header(&mut self, fields: impl HeaderFields<'t>, has_body: bool) {
        for field in header::counted(fields, self.rules, has_body) {
            let place = combine(&[HEADER, hash_of(&*header::lowercase(field.name))]);
            let root =
                Root { step: PathStep::Header(field.name.into()), place, rule: field.treatment };
            self.leaf(root, field.text, Kind::Text);
        }
    }

    fn body(&mut self, headers: &'t Headers, body: &'t [u8]) {
        if body.is_empty() {
            return;
        }
        let media_type = headers.get("content-type").unwrap_or("");
        if let Some(parts) = multipart::parts(media_type, body) {
            return parts.into_iter().enumerate().for_each(|(at, part)| self.part(at, part));
        }
        let text = std::str::from_utf8(body).ok();
        let json = text.and_then(Text::read_container);
        match text {
            Some(text) if json.is_none() && Media::of(Some(media_type)) == Media::Form => {
                self.fields(text, FORM);
            }
            _ => self.content(Root::new(PathStep::Body, BODY), body, json),
        }
    }

    /// A part of a multipart body. Where it stands among the others does not count.
    fn part(&mut self, number: usize, part: Part<'t>) {
        let rule = self.rules.of_part(part.name.as_deref().unwrap_or(""));
        let named = part.name.as_deref().unwrap_or("").to_owned();
        let name = part.name.unwrap_or_else(|| (number + 1).to_string().into());
        if let Some(file) = part.filename.filter(|_| rule != Some(Treatment::Ignore)) {
            let place = combine(&[PART, hash_of(&*named), PART]);
            let step = PathStep::Part(format!("{name}.filename").into());
            self.leaf(Root { step, place, rule: self.rules.of_filename(&named) }, file, Kind::Text);
        }
        let root =
            Root { step: PathStep::Part(name), place: combine(&[PART, hash_of(&*named)]), rule };
        let json = if rule.is_none() { Text::parse_container(part.body) } else { None };
        self.content(root, part.body, json);
    }

    fn content(&mut self, root: Root<'t>, content: &'t [u8], json: Option<Text<'t>>) {
        if let Some(json) = json {
            return Json::new(self, json).read(root, json);
        }
        match plain::text(content) {
            Some(text) => self.leaf(root, text.into(), Kind::Text),
            None => self.leaf_of(root, "".into(), Kind::Bytes(content.len()), hash_of(content)),
        }
    }

    fn leaf(&mut self, root: Root<'t>, text: Cow<'t, str>, kind: Kind) {
        let text = match root.rule {
            Some(rule) => rule.left(text),
            None => text,
        };
        let hash = hash_of(&*text);
        self.leaf_of(root, text, kind, hash);
    }

    fn leaf_of(&mut self, root: Root<'t>, text: Cow<'t, str>, kind: Kind, hash: u64) {
        let Root { step, place, rule } = root;
        if rule == Some(Treatment::Ignore) {
            return;
        }
        let number = self.nodes.len() as u32;
        let counts = combine(&[place, hash]);
        self.nodes.push(Node {
            parent: number,
            end: number + 1,
            step,
            kind,
            text,
            spelled: "",
            place,
            wild: place,
            hash,
            counts,
            rule,
        });
    }
}
