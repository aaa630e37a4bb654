//! JSON with the place of each value, and hashes that can be made anew.

use std::borrow::Cow;
use std::ops::Range;

use crate::correlate::Meaning;
use crate::json::{Container, Text, Token, unescape};

/// A value within a text.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it stands in the text, its quotes included.
    pub(crate) range: Range<usize>,
    /// Equal for values that are the same as far as is known. Set by a lens.
    pub(crate) hash: u64,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Leaf(Field),
    Object(Vec<Member>),
    Array { items: Vec<Node>, is_set: bool },
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
    /// A text that is one value.
    pub(crate) fn leaf(range: Range<usize>, field: Field) -> Self {
        Self { range, hash: 0, kind: Kind::Leaf(field) }
    }

    /// A JSON text that begins at `offset`.
    pub(crate) fn json(text: Text<'_>, offset: usize) -> Self {
        Builder { offset, open: Vec::new() }.read(text)
    }

    /// Calls with each value that holds no others, and each name of a member.
    pub(crate) fn leaves(&self, told: &mut impl FnMut(&Node, Field)) {
        match &self.kind {
            Kind::Leaf(field) => told(self, *field),
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
    offset: usize,
    open: Vec<Open<'t>>,
}

impl<'t> Builder<'t> {
    fn read(mut self, text: Text<'t>) -> Node {
        let mut tokens = text.tokens();
        let mut whole = Node::leaf(self.offset..self.offset, Field::PLAIN);
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
                    Node::leaf(start..end, Field::PLAIN)
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
                    let range = end - spelled.len()..end;
                    match self.leaf(range, spelled) {
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
    fn leaf(&mut self, range: Range<usize>, spelled: &'t str) -> Option<Node> {
        let Some(parent) = self.open.last_mut() else {
            return Some(Node::leaf(range, Field::PLAIN));
        };
        if matches!(parent.content, Content::Object(_)) && parent.key.is_none() {
            parent.key = Some((Node::leaf(range, Field::PLAIN), unescape(spelled)));
            return None;
        }
        Some(Node::leaf(range, Field::of(&parent.name_of_next())))
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
        let kind = match self.content {
            Content::Object(members) => Kind::Object(members),
            Content::Array(items) => {
                Kind::Array { items, is_set: Meaning::of(&self.name) == Meaning::Set }
            }
        };
        Node { range: self.start..end, hash: 0, kind }
    }
}
