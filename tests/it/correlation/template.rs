//! Requests and answers in which identifiers are left open.

use super::dice::{Dice, Token};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// The n-th identifier of the client.
    Minted(usize),
    /// The n-th identifier of the server.
    Issued(usize),
    /// An identifier that nobody knows.
    Unknown(Token),
}

/// A text: what is fixed and what is open.
pub type Text = Vec<Piece>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Text(Text),
    /// An identifier by itself, which may be a number.
    Token(Piece),
    /// A number, `true`, `false` or `null`.
    Scalar(String),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    None,
    Json(Node),
    Form(Vec<(String, Text)>),
    Multipart(Vec<Part>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub file: Option<Text>,
    pub content: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: &'static str,
    pub path: Vec<Text>,
    pub query: Vec<(String, Text)>,
    pub fields: Vec<(String, Text)>,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub fields: Vec<(String, Text)>,
    pub body: Said,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Json(Node),
    Events(Vec<Node>, Cut),
}

/// Where a stream is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Events,
    Bytes,
    Anywhere(u64),
}

/// What stands for the identifiers, and for what else a client makes up.
#[derive(Debug, Clone)]
pub struct Values {
    pub minted: Vec<Token>,
    pub issued: Vec<Token>,
    pub boundary: String,
}

/// A request as it is sent.
pub struct Asked {
    pub method: &'static str,
    pub target: String,
    pub fields: String,
    pub body: String,
}

pub fn text(text: &str) -> Text {
    vec![Piece::Text(text.to_owned())]
}

impl Values {
    pub fn text(&self, text: &[Piece]) -> String {
        text.iter().map(|piece| self.piece(piece).text()).collect()
    }

    fn piece(&self, piece: &Piece) -> Token {
        match piece {
            Piece::Text(text) => Token::Text(text.clone()),
            Piece::Minted(number) => self.minted[*number].clone(),
            Piece::Issued(number) => self.issued[*number].clone(),
            Piece::Unknown(token) => token.clone(),
        }
    }

    pub fn json(&self, node: &Node) -> String {
        let quoted = |text: String| format!("\"{text}\"");
        match node {
            Node::Text(text) => quoted(self.text(text)),
            Node::Token(piece) => match self.piece(piece) {
                Token::Text(text) => quoted(text),
                Token::Number(number) => number.to_string(),
            },
            Node::Scalar(text) => text.clone(),
            Node::Object(members) => {
                let member = |(name, value): &(String, Node)| {
                    format!("{}:{}", quoted(name.clone()), self.json(value))
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
            Node::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.json(item)).collect();
                format!("[{}]", items.join(","))
            }
        }
    }

    pub fn request(&self, request: &Request) -> Asked {
        let path = request.path.iter().map(|segment| format!("/{}", self.text(segment)));
        let mut target: String = path.collect();
        if !request.query.is_empty() {
            target += &format!("?{}", self.pairs(&request.query, "%20"));
        }
        let field = |(name, value): &(String, Text)| format!("{name}: {}\r\n", self.text(value));
        let mut fields: String = request.fields.iter().map(field).collect();
        let (media_type, body) = match &request.body {
            Body::None => ("".to_owned(), String::new()),
            Body::Json(node) => ("application/json".to_owned(), self.json(node)),
            Body::Form(pairs) => {
                ("application/x-www-form-urlencoded".to_owned(), self.pairs(pairs, "+"))
            }
            Body::Multipart(parts) => {
                (format!("multipart/form-data; boundary={}", self.boundary), self.parts(parts))
            }
        };
        if !media_type.is_empty() {
            fields += &format!("Content-Type: {media_type}\r\n");
        }
        Asked { method: request.method, target, fields, body }
    }

    fn pairs(&self, pairs: &[(String, Text)], space: &str) -> String {
        let pair = |(name, value): &(String, Text)| {
            format!("{name}={}", self.text(value).replace(' ', space))
        };
        pairs.iter().map(pair).collect::<Vec<_>>().join("&")
    }

    fn parts(&self, parts: &[Part]) -> String {
        let mut body = String::new();
        for Part { name, file, content } in parts {
            let file = file.as_ref().map_or(String::new(), |file| {
                format!("; filename=\"{}\"\r\nContent-Type: text/plain", self.text(file))
            });
            let (boundary, content) = (&self.boundary, self.text(content));
            body += &format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
            );
        }
        format!("{body}--{}--\r\n", self.boundary)
    }

    /// The body of an answer, and its chunks where it is streamed.
    pub fn said(&self, said: &Said) -> (String, Vec<String>) {
        let (events, cut) = match said {
            Said::Json(node) => return (self.json(node), Vec::new()),
            Said::Events(events, cut) => (events, cut),
        };
        let mut events: Vec<String> =
            events.iter().map(|event| format!("data: {}\n\n", self.json(event))).collect();
        events.push("data: [DONE]\n\n".to_owned());
        let whole = events.concat();
        let chunks = match cut {
            Cut::Events => events,
            Cut::Bytes => whole.chars().map(String::from).collect(),
            Cut::Anywhere(seed) => pieces(&whole, &mut Dice::new(*seed)),
        };
        (whole, chunks)
    }
}

fn pieces(text: &str, dice: &mut Dice) -> Vec<String> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + dice.below(40)).min(rest.len()));
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}
