//! A request in which one thing is not as it was.

use super::conversation::{Conversation, Step};
use super::dice::Dice;
use super::template::{Body, Node, Part, Piece, Request, Text, text};

/// A request with one change.
#[derive(Debug, Clone)]
pub struct Changed {
    pub request: Request,
    pub what: What,
    /// Where that is: a JSON pointer, or the name of a parameter, field or part.
    pub place: String,
}

/// What is not as it was.
#[derive(Debug, Clone)]
pub enum What {
    /// A value or a name that stands in no other step.
    New(String),
    /// A value that may stand elsewhere as well.
    Flag(String),
    /// The name of what is gone.
    Gone(String),
}

impl What {
    pub fn text(&self) -> &str {
        match self {
            Self::New(text) | Self::Flag(text) | Self::Gone(text) => text,
        }
    }
}

impl Changed {
    /// Whether the explanation of a miss of the n-th step tells of it. What is not new may make the
    /// request as near to that of another step, beside which it is no difference.
    pub fn is_named_in(&self, explanation: &str, number: usize) -> bool {
        let beside_another = !explanation.contains(&format!("interaction {} (", number + 1));
        explanation.contains(self.what.text())
            || explanation.contains(&self.place)
            || (!matches!(self.what, What::New(_)) && beside_another)
    }
}

/// One thing of a part of a request that is another one.
type Other<T> = (T, What, String);

/// All requests that differ from that of a step in one thing that counts, and that are not what is
/// asked in another step.
pub fn changes(conversation: &Conversation, step: &Step, dice: &mut Dice) -> Vec<Changed> {
    let request = &step.request;
    let bound = if conversation.asks(request, request) { 0 } else { step.bound };
    let mut changer = Changer { conversation, bound, dice };
    let mut found = Vec::new();
    for (path, what, place) in changer.texts(&request.path) {
        found.push(Changed { request: Request { path, ..request.clone() }, what, place });
    }
    for (query, what, place) in changer.pairs(&request.query, &Counts::All) {
        found.push(Changed { request: Request { query, ..request.clone() }, what, place });
    }
    for (fields, what, place) in changer.pairs(&request.fields, &Counts::Session) {
        found.push(Changed { request: Request { fields, ..request.clone() }, what, place });
    }
    let bodies = match &request.body {
        Body::None => Vec::new(),
        Body::Json(node) => map(changer.node(node, ""), Body::Json),
        Body::Form(pairs) => map(changer.pairs(pairs, &Counts::All), Body::Form),
        Body::Multipart(parts) => map(changer.parts(parts), Body::Multipart),
    };
    for (body, what, place) in bodies {
        found.push(Changed { request: Request { body, ..request.clone() }, what, place });
    }
    found.retain(|changed| !conversation.asks(&changed.request, request));
    found
}

/// Which pairs of a name and a value count.
enum Counts {
    All,
    /// Of the fields of a head, the one that names a session: the rest tells of the client.
    Session,
}

struct Changer<'a> {
    conversation: &'a Conversation,
    /// How many of the client's identifiers stand for something already.
    bound: usize,
    dice: &'a mut Dice,
}

const OTHER_WORDS: &[&str] = &["zebra", "yacht", "xenon", "quartz"];

impl Changer<'_> {
    /// Another path: one of its segments.
    fn texts(&mut self, texts: &[Text]) -> Vec<Other<Vec<Text>>> {
        let mut found = Vec::new();
        for (at, one) in texts.iter().enumerate() {
            for (other, what) in self.text(one) {
                let place = what.text().to_owned();
                found.push((with(texts, at, other), what, place));
            }
        }
        found
    }

    fn pairs(&mut self, pairs: &[(String, Text)], cut: &Counts) -> Vec<Other<Vec<(String, Text)>>> {
        let mut found = Vec::new();
        for (at, (name, one)) in pairs.iter().enumerate() {
            if matches!(cut, Counts::Session) && name != "mcp-session-id" {
                continue;
            }
            for (other, what) in self.text(one) {
                found.push((with(pairs, at, (name.clone(), other)), what, name.clone()));
            }
            found.push((without(pairs, at), What::Gone(name.clone()), name.clone()));
        }
        if matches!(cut, Counts::All) {
            let (name, value) = (self.word(), self.word());
            let added = [pairs, &[(name.clone(), text(&value))]].concat();
            found.push((added, What::New(name.clone()), name));
        }
        found
    }

    fn parts(&mut self, parts: &[Part]) -> Vec<Other<Vec<Part>>> {
        let mut found = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let Part { name, file, content } = part;
            for (content, what) in self.text(content) {
                let part = Part { content, ..part.clone() };
                found.push((with(parts, at, part), what, name.clone()));
            }
            for (other, what) in file.iter().flat_map(|file| self.text(file)) {
                let part = Part { file: Some(other), ..part.clone() };
                found.push((with(parts, at, part), what, name.clone()));
            }
            let other = self.word();
            let named = Part { name: other.clone(), ..part.clone() };
            found.push((with(parts, at, named), What::New(other), name.clone()));
            found.push((without(parts, at), What::Gone(name.clone()), name.clone()));
        }
        found
    }

    fn node(&mut self, node: &Node, place: &str) -> Vec<Other<Node>> {
        let here = |(other, what)| (other, what, place.to_owned());
        match node {
            Node::Text(text) => {
                let others = self.text(text).into_iter();
                others.map(|(text, what)| here((Node::Text(text), what))).collect()
            }
            Node::Token(piece) => {
                let other = self.piece(piece).map(|(piece, what)| (Node::Token(piece), what));
                other.into_iter().map(here).collect()
            }
            Node::Scalar(scalar) => {
                let (other, what) = match scalar.as_str() {
                    "true" => ("false".to_owned(), What::Flag("false".to_owned())),
                    "false" => ("true".to_owned(), What::Flag("true".to_owned())),
                    _ => {
                        let number = self.number();
                        (number.clone(), What::New(number))
                    }
                };
                vec![here((Node::Scalar(other), what))]
            }
            Node::Array(items) => self.items(items, place),
            Node::Object(members) => self.members(members, place),
        }
    }

    fn items(&mut self, items: &[Node], place: &str) -> Vec<Other<Node>> {
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            for (other, what, place) in self.node(item, &format!("{place}/{at}")) {
                found.push((Node::Array(with(items, at, other)), what, place));
            }
        }
        let word = self.word();
        let more = [items, &[Node::Text(text(&word))]].concat();
        found.push((Node::Array(more), What::New(word), place.to_owned()));
        found
    }

    fn members(&mut self, members: &[(String, Node)], place: &str) -> Vec<Other<Node>> {
        let mut found = Vec::new();
        for (at, (name, member)) in members.iter().enumerate() {
            let place = format!("{place}/{name}");
            for (other, what, place) in self.node(member, &place) {
                let others = with(members, at, (name.clone(), other));
                found.push((Node::Object(others), what, place));
            }
            found.push((Node::Object(without(members, at)), What::Gone(name.clone()), place));
        }
        let (name, value) = (self.word(), Node::Text(text(&self.word())));
        let more = [members, &[(name.clone(), value)]].concat();
        let place = format!("{place}/{name}");
        found.push((Node::Object(more), What::New(name), place));
        found
    }

    /// The text with one of its pieces changed.
    fn text(&mut self, pieces: &[Piece]) -> Vec<(Text, What)> {
        let mut found = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            if let Some((other, what)) = self.piece(piece) {
                found.push((with(pieces, at, other), what));
            }
        }
        found
    }

    /// Another word in its place, or another identifier of the same kind. What the client mints here
    /// is its own affair, unless it has called the same thing otherwise before.
    fn piece(&mut self, piece: &Piece) -> Option<(Piece, What)> {
        match piece {
            Piece::Text(text) => {
                let word = match text.parse::<u64>() {
                    Ok(_) => self.number(),
                    Err(_) => self.word(),
                };
                let old = text.split([' ', '.', '-', '\'']).find(|word| !word.is_empty())?;
                Some((Piece::Text(text.replacen(old, &word, 1)), What::New(word)))
            }
            Piece::Minted(number) if *number >= self.bound => None,
            Piece::Unknown(_) => None,
            Piece::Minted(_) | Piece::Issued(_) => {
                let token = self.conversation.kind(piece).make(self.dice);
                let value = token.text();
                Some((Piece::Unknown(token), What::New(value)))
            }
        }
    }

    fn word(&mut self) -> String {
        format!("{}{}", self.dice.one_of(OTHER_WORDS), self.dice.below(90) + 10)
    }

    fn number(&mut self) -> String {
        (5000 + self.dice.below(1000)).to_string()
    }
}

fn map<T, U>(others: Vec<Other<T>>, make: fn(T) -> U) -> Vec<Other<U>> {
    others.into_iter().map(|(other, what, place)| (make(other), what, place)).collect()
}

fn with<T: Clone>(all: &[T], at: usize, other: T) -> Vec<T> {
    let mut all = all.to_vec();
    all[at] = other;
    all
}

fn without<T: Clone>(all: &[T], at: usize) -> Vec<T> {
    let mut all = all.to_vec();
    all.remove(at);
    all
}
