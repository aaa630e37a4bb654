//! JSON with the place of each value, and hashes that can be made anew.

use std::borrow::Cow;
use std::ops::Range;

use super::lens;
use super::words::{Said, Word, words};
use crate::identity::Meaning;
use crate::text::json::{Container, Text, Token, unescape};

/// A value within a text.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it stands in the text, its quotes included.
    pub(crate) range: Range<usize>,
    /// Equal for values that are the same as far as is known. Set by a lens.
    pub(crate) hash: u64,
    pub(crate) kind: Kind,
    /// Whether a word in it, or below it, is another in every recording.
    pub(super) has_words: bool,
    /// Whether it has the same hash through any lens.
    pub(super) is_fixed: bool,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Leaf(Leaf),
    Object(Vec<Member>),
    Array { items: Vec<Node>, is_set: bool },
}

/// A text, a number, or something that is not looked into.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) field: Field,
    /// The words in it that are others in every recording.
    pub(crate) words: Vec<Word>,
    /// Its hash, if that does not hang on a word in it.
    pub(super) fixed: Option<u64>,
}

/// A member of an object.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its name, which may hold an identifier.
    pub(crate) key: Node,
    pub(crate) value: Node,
}

/// What the name of a field says of the values in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) is_time: bool,
    pub(crate) is_span: bool,
    pub(crate) is_id: bool,
}

/// What is nested deeper is one value: such bodies are made to exhaust a stack.
const DEEPEST: usize = 100;

impl Field {
    /// Nothing is known.
    pub(crate) const PLAIN: Self = Self { is_time: false, is_span: false, is_id: false };

    /// A place where identifiers stand.
    pub(crate) const ID: Self = Self { is_id: true, ..Self::PLAIN };

    /// Reads a name: `created_at`, `ttft_ns`, `tool_call_id`.
    pub(crate) fn of(name: &str) -> Self {
        let meaning = Meaning::of(name);
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let is_id = matches!(meaning, Meaning::Mark | Meaning::Identity);
        Self {
            is_time: meaning == Meaning::Moment,
            is_span: meaning == Meaning::Span || ends(&["_ns", "ttft_ms", "ttft_us"]),
            is_id: is_id || ends(&["id", "ids", "Id", "Ids", "ID", "IDs", "cursor", "etag"]),
        }
    }
}

impl Node {
    /// A text that is one value and begins at `start`.
    pub(crate) fn leaf(text: &str, start: usize, field: Field) -> Self {
        let words = words(text);
        let fixed = lens::fixed(text, &words, field);
        let range = start..start + text.len();
        let (has_words, is_fixed) = (!words.is_empty(), fixed.is_some());
        let kind = Kind::Leaf(Leaf { field, words, fixed });
        Self { range, hash: 0, kind, has_words, is_fixed }
    }

    /// A JSON text that begins at `offset`.
    pub(crate) fn json(text: Text<'_>, offset: usize) -> Self {
        Builder { text: text.as_str(), offset, open: Vec::new() }.read(text)
    }

    /// What a leaf says, which this is.
    pub(crate) fn said<'v>(&self, leaf: &'v Leaf, text: &'v str) -> Said<'v> {
        let text = &text[self.range.clone()];
        Said { text, words: Cow::Borrowed(&leaf.words), field: leaf.field }
    }

    /// Calls with each value that holds no others, and each name of a member.
    pub(crate) fn leaves<'n>(&'n self, told: &mut impl FnMut(&'n Node, &'n Leaf)) {
        match &self.kind {
            Kind::Leaf(leaf) => told(self, leaf),
            Kind::Object(members) => members.iter().for_each(|member| {
                member.key.leaves(told);
                member.value.leaves(told);
            }),
            Kind::Array { items, .. } => items.iter().for_each(|item| item.leaves(told)),
        }
    }
}

/// An object or array that is being read.
struct Open<'t> {
    start: usize,
    /// The name of the member it is, or of the array that it is in.
    name: Cow<'t, str>,
    key: Option<(Node, Cow<'t, str>)>,
    content: Content,
}

enum Content {
    Object(Vec<Member>),
    Array(Vec<Node>),
}

struct Builder<'t> {
    text: &'t str,
    offset: usize,
    open: Vec<Open<'t>>,
}

impl<'t> Builder<'t> {
    fn read(mut self, text: Text<'t>) -> Node {
        let mut tokens = text.tokens();
        let mut whole = Node::leaf("", self.offset, Field::PLAIN);
        let mut too_deep = 0;
        while let Some(token) = tokens.next() {
            let end = self.offset + tokens.end();
            let node = match token {
                Token::Comma | Token::Colon => continue,
                Token::Open(_) if self.open.len() >= DEEPEST => {
                    too_deep += 1;
                    if too_deep == 1 {
                        self.open(Container::Array, end - 1);
                    }
                    continue;
                }
                Token::Close(_) if too_deep > 1 => {
                    too_deep -= 1;
                    continue;
                }
                Token::Close(_) if too_deep == 1 => {
                    too_deep = 0;
                    let start = self.open.pop().map_or(end, |open| open.start);
                    self.deep(start..end)
                }
                _ if too_deep > 0 => continue,
                Token::Open(container) => {
                    self.open(container, end - 1);
                    continue;
                }
                Token::Close(_) => match self.open.pop() {
                    Some(open) => open.closed(end),
                    None => continue,
                },
                Token::String(spelled) | Token::Scalar(spelled) => {
                    match self.leaf(end - spelled.len(), spelled) {
                        Some(leaf) => leaf,
                        None => continue,
                    }
                }
            };
            match self.open.last_mut() {
                Some(parent) => parent.add(node),
                None => whole = node,
            }
        }
        whole
    }

    fn open(&mut self, container: Container, start: usize) {
        let name = self.open.last().map_or(Cow::Borrowed(""), Open::name_of_next);
        let content = match container {
            Container::Object => Content::Object(Vec::new()),
            Container::Array => Content::Array(Vec::new()),
        };
        self.open.push(Open { start, name, key: None, content });
    }

    /// A value, unless it is the name of the member that comes next.
    fn leaf(&mut self, start: usize, spelled: &'t str) -> Option<Node> {
        let Some(parent) = self.open.last_mut() else {
            return Some(Node::leaf(spelled, start, Field::PLAIN));
        };
        if matches!(parent.content, Content::Object(_)) && parent.key.is_none() {
            parent.key = Some((Node::leaf(spelled, start, Field::PLAIN), unescape(spelled)));
            return None;
        }
        Some(Node::leaf(spelled, start, Field::of(&parent.name_of_next())))
    }

    /// What is not looked into.
    fn deep(&self, range: Range<usize>) -> Node {
        let text = &self.text[range.start - self.offset..range.end - self.offset];
        Node::leaf(text, range.start, Field::PLAIN)
    }
}

impl<'t> Open<'t> {
    fn name_of_next(&self) -> Cow<'t, str> {
        self.key.as_ref().map_or(&self.name, |(_, name)| name).clone()
    }

    fn add(&mut self, value: Node) {
        match (&mut self.content, self.key.take()) {
            (Content::Object(members), Some((key, _))) => members.push(Member { key, value }),
            (Content::Object(_), None) => {}
            (Content::Array(items), _) => items.push(value),
        }
    }

    fn closed(self, end: usize) -> Node {
        let (has_words, is_fixed, kind) = match self.content {
            Content::Object(members) => (
                members.iter().any(|it| it.key.has_words || it.value.has_words),
                members.iter().all(|it| it.key.is_fixed && it.value.is_fixed),
                Kind::Object(members),
            ),
            Content::Array(items) => (
                items.iter().any(|item| item.has_words),
                items.iter().all(|item| item.is_fixed),
                Kind::Array { items, is_set: Meaning::of(&self.name) == Meaning::Set },
            ),
        };
        Node { range: self.start..end, hash: 0, kind, has_words, is_fixed }
    }
}
