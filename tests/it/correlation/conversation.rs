//! Conversations of all kinds: what is asked, what is answered, and which identifiers go to and fro.

use super::dice::{Dice, ISSUED, Kind, MINTED, Token};
use super::template::{Answer, Body, Cut, Node, Part, Piece, Request, Said, Text, Values, text};

/// What a client and a server say to each other, identifiers left open.
#[derive(Debug)]
pub struct Conversation {
    pub steps: Vec<Step>,
    minted: Vec<Kind>,
    issued: Vec<(Kind, Token)>,
}

#[derive(Debug)]
pub struct Step {
    pub request: Request,
    pub answer: Answer,
    /// The client's identifiers that stand in the steps before.
    pub bound: usize,
}

const WORDS: &[&str] = &["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"];
const ROLES: &[&str] = &["user", "system", "tool"];
/// Names that tell of an identifier.
const ID_NAMES: &[&str] = &["otid", "request_id", "idempotency_key", "message_id", "correlationId"];

impl Conversation {
    /// The conversation whose n-th step is made from the n-th seed.
    pub fn of(seeds: &[u64]) -> Self {
        let mut talk = Talk::default();
        for seed in seeds {
            talk.step(Dice::new(*seed));
        }
        Self { steps: talk.steps, minted: talk.minted, issued: talk.issued }
    }

    /// What stands for the identifiers when the client makes up new ones.
    pub fn values(&self, seed: u64) -> Values {
        let dice = &mut Dice::new(seed);
        let numbers = (!dice.once_in(3)).then(|| dice.below(20) as u64);
        let mut asked = 0;
        let mut mint = |kind: &Kind| match (kind, numbers) {
            (Kind::Rpc, Some(first)) => {
                asked += 1;
                Token::Number(first + asked - 1)
            }
            (kind, _) => kind.make(dice),
        };
        let minted = self.minted.iter().map(&mut mint).collect();
        let boundary = Kind::Hex.make(dice).text();
        Values { minted, issued: self.tokens(), boundary }
    }

    /// How an identifier was made.
    pub fn kind(&self, piece: &Piece) -> Kind {
        match piece {
            Piece::Minted(number) => self.minted[*number],
            Piece::Issued(number) => self.issued[*number].0,
            Piece::Text(_) | Piece::Unknown(_) => Kind::Uuid4,
        }
    }

    /// Whether a request is what is asked in some step, other than as `but`, when the client's
    /// identifiers are left out of account.
    pub fn asks(&self, request: &Request, but: &Request) -> bool {
        let anything = Token::Text("anything".to_owned());
        let minted = vec![anything; self.minted.len()];
        let values = Values { minted, issued: self.tokens(), boundary: "boundary".to_owned() };
        let asked = |request: &Request| {
            let asked = values.request(request);
            (asked.method, asked.target, asked.body)
        };
        let asked_now = asked(request);
        self.steps.iter().any(|step| step.request != *but && asked(&step.request) == asked_now)
    }

    fn tokens(&self) -> Vec<Token> {
        self.issued.iter().map(|(_, token)| token.clone()).collect()
    }
}

/// A conversation that goes on.
#[derive(Default)]
struct Talk {
    steps: Vec<Step>,
    minted: Vec<Kind>,
    issued: Vec<(Kind, Token)>,
    /// The identifier of the MCP session, once there is one.
    session: Option<usize>,
    /// The ids of JSON-RPC requests so far.
    calls: Vec<usize>,
    /// What the step at hand has minted.
    fresh: Vec<usize>,
    /// What was minted and put where it counts: not in a head.
    told: Vec<usize>,
    /// The request id in its head.
    request_id: Option<usize>,
}

impl Talk {
    fn step(&mut self, mut dice: Dice) {
        let bound = self.minted.len();
        self.fresh.clear();
        self.request_id = None;
        let dice = &mut dice;
        let (request, answer) = match dice.below(8) {
            0 | 1 => self.create(dice),
            2 => self.say(dice),
            3 => self.read(dice),
            4 => self.upload(dice),
            5 => self.fill_in(dice),
            6 => self.call(dice),
            _ => self.again(dice).unwrap_or_else(|| self.put(dice)),
        };
        self.steps.push(Step { request, answer, bound });
    }

    /// `POST` of a thing of its own.
    fn create(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let name = dice.one_of(ID_NAMES);
        let mut members = vec![(name.to_owned(), Node::Token(self.mint(dice)))];
        if dice.once_in(3) {
            let uuid = self.mint_one(Kind::Uuid4);
            let named = vec![Piece::Text("agent ".to_owned()), uuid];
            members.push(("name".to_owned(), Node::Text(named)));
        }
        members.extend(self.members(dice, 2));
        let things = word_of(dice);
        let request = self.request(dice, "POST", &["v1", things], Node::Object(members));
        let answer = self.answer(dice);
        (request, answer)
    }

    /// A message to something that the server issued, which may be an approval.
    fn say(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let otid = Node::Token(self.mint(dice));
        let role = Node::Text(text(dice.one_of(ROLES)));
        let mut message = vec![
            ("role".to_owned(), role),
            ("content".to_owned(), self.prose(dice)),
            ("otid".to_owned(), otid),
        ];
        if let Some(call) = self.known(dice) {
            let approval = vec![
                ("tool_call_id".to_owned(), Node::Token(call)),
                ("approve".to_owned(), boolean(dice)),
            ];
            message.push(("approvals".to_owned(), Node::Array(vec![Node::Object(approval)])));
        }
        let mut members = vec![("messages".to_owned(), Node::Array(vec![Node::Object(message)]))];
        members.extend(self.members(dice, 1));
        let mut request = self.request(dice, "POST", &["v1", "agents"], Node::Object(members));
        let to = self.known(dice).unwrap_or_else(|| Piece::Text("me".to_owned()));
        request.path.extend([vec![to], text("messages")]);
        let answer = self.answer(dice);
        (request, answer)
    }

    fn read(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let things = word_of(dice);
        let mut request = self.request(dice, "GET", &["v1", things], Node::Array(vec![]));
        request.body = Body::None;
        if let Some(known) = self.known(dice) {
            request.path.push(vec![known]);
        }
        request.query.push(("limit".to_owned(), text(&dice.below(100).to_string())));
        if let Some(known) = self.known(dice).filter(|_| dice.once_in(2)) {
            request.query.push(("after".to_owned(), vec![known]));
        }
        if dice.once_in(3) {
            request.query.push(("request_id".to_owned(), vec![self.mint(dice)]));
        }
        let answer = self.answer(dice);
        (request, answer)
    }

    /// `PUT` at an address that the client makes up.
    fn put(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let members = Node::Object(self.members(dice, 2));
        let mut request = self.request(dice, "PUT", &["v1", "things"], members);
        request.path.push(vec![self.mint(dice)]);
        let answer = self.answer(dice);
        (request, answer)
    }

    fn upload(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let mut request = self.request(dice, "POST", &["v1", "files"], Node::Array(vec![]));
        let file = self.mint_one(Kind::Uuid4);
        let file = vec![file, Piece::Text(format!("-{}.txt", word_of(dice)))];
        let content = self.sentence(dice);
        let mut parts = vec![
            Part { name: "purpose".to_owned(), file: None, content: text(dice.one_of(ROLES)) },
            Part { name: "file".to_owned(), file: Some(file), content },
        ];
        if let Some(known) = self.known(dice) {
            parts.push(Part { name: "agent_id".to_owned(), file: None, content: vec![known] });
        }
        request.body = Body::Multipart(parts);
        let answer = self.answer(dice);
        (request, answer)
    }

    /// `POST` of a form.
    fn fill_in(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let mut request = self.request(dice, "POST", &["v1", "forms"], Node::Array(vec![]));
        let mut pairs = vec![
            ("request_id".to_owned(), vec![self.mint(dice)]),
            ("note".to_owned(), self.sentence(dice)),
            ("count".to_owned(), text(&dice.below(1000).to_string())),
        ];
        if let Some(known) = self.known(dice) {
            pairs.push(("agent_id".to_owned(), vec![known]));
        }
        request.body = Body::Form(pairs);
        let answer = self.answer(dice);
        (request, answer)
    }

    /// A JSON-RPC request of MCP, or the cancellation of one.
    fn call(&mut self, dice: &mut Dice) -> (Request, Answer) {
        let cancelled = self.calls.last().copied().filter(|_| dice.once_in(3));
        let known = |name: &str, node| (name.to_owned(), node);
        let rpc = ("jsonrpc".to_owned(), Node::Text(text("2.0")));
        let (message, said) = match cancelled {
            Some(call) => {
                let of = known("requestId", Node::Token(Piece::Minted(call)));
                let params = Node::Object(vec![of, known("reason", self.prose(dice))]);
                let method = Node::Text(text("notifications/cancelled"));
                let message = vec![rpc, known("method", method), known("params", params)];
                (message, Said::Json(Node::Object(vec![])))
            }
            None => {
                let id = self.mint_one(Kind::Rpc);
                self.calls.extend(self.fresh.pop());
                self.told.pop();
                let meta = Node::Object(vec![known("progressToken", Node::Token(id.clone()))]);
                let arguments = Node::Object(self.members(dice, 2));
                let params =
                    Node::Object(vec![known("arguments", arguments), known("_meta", meta)]);
                let method = Node::Text(text("tools/call"));
                let id = known("id", Node::Token(id));
                let progress = self.progress(&id.1, dice);
                let result = Node::Object(self.members(dice, 1));
                let last = Node::Object(vec![rpc.clone(), id.clone(), known("result", result)]);
                let message = vec![rpc, id, known("method", method), known("params", params)];
                let said = match dice.once_in(2) {
                    true => Said::Json(last),
                    false => Said::Events(vec![progress, last], cut(dice)),
                };
                (message, said)
            }
        };
        let mut request = self.request(dice, "POST", &["mcp"], Node::Object(message));
        let mut fields = Vec::new();
        match self.session {
            Some(session) => {
                request.fields.push(("mcp-session-id".to_owned(), vec![Piece::Issued(session)]));
            }
            None => {
                let session = self.issue(&Kind::Hex, dice);
                self.session = Some(session);
                fields.push(("mcp-session-id".to_owned(), vec![Piece::Issued(session)]));
            }
        }
        (request, Answer { fields, body: said })
    }

    fn progress(&mut self, id: &Node, dice: &mut Dice) -> Node {
        let params = vec![
            ("progressToken".to_owned(), id.clone()),
            ("progress".to_owned(), Node::Scalar(dice.below(20).to_string())),
        ];
        Node::Object(vec![
            ("jsonrpc".to_owned(), Node::Text(text("2.0"))),
            ("method".to_owned(), Node::Text(text("notifications/progress"))),
            ("params".to_owned(), Node::Object(params)),
        ])
    }

    /// What was asked before, with the same identifiers; answered anew.
    fn again(&mut self, dice: &mut Dice) -> Option<(Request, Answer)> {
        let request = self.steps.get(dice.below(self.steps.len().max(1)))?.request.clone();
        let rpc = matches!(&request.path[0][0], Piece::Text(path) if path == "mcp");
        (!rpc).then(|| (request, self.answer(dice)))
    }

    fn request(
        &mut self,
        dice: &mut Dice,
        method: &'static str,
        path: &[&str],
        body: Node,
    ) -> Request {
        let mut fields = vec![("User-Agent".to_owned(), text("sdk/1.0"))];
        if dice.once_in(3) {
            let name = dice.one_of(&["X-Request-Id", "Idempotency-Key"]);
            fields.push((name.to_owned(), vec![self.mint(dice)]));
            self.request_id = self.fresh.last().copied();
            self.told.pop();
        }
        let path = path.iter().map(|segment| text(segment)).collect();
        Request { method, path, query: vec![], fields, body: Body::Json(body) }
    }

    /// An answer that issues identifiers and repeats the client's.
    fn answer(&mut self, dice: &mut Dice) -> Answer {
        let mut nodes: Vec<Node> = (0..1 + dice.below(3)).map(|_| self.answered(dice)).collect();
        let mut fields = Vec::new();
        if let Some(id) = self.request_id {
            fields.push(("x-request-id".to_owned(), vec![Piece::Minted(id)]));
        }
        let body = match dice.once_in(2) {
            true => Said::Events(nodes, cut(dice)),
            false if nodes.len() == 1 => Said::Json(nodes.remove(0)),
            false => Said::Json(Node::Array(nodes)),
        };
        Answer { fields, body }
    }

    fn answered(&mut self, dice: &mut Dice) -> Node {
        let mut members = Vec::new();
        if !dice.once_in(3) {
            let name = dice.one_of(&["id", "tool_call_id", "run_id"]);
            let kind = dice.one_of(ISSUED);
            let id = Piece::Issued(self.issue(kind, dice));
            members.push((name.to_owned(), Node::Token(id)));
        }
        for id in self.fresh.clone() {
            let echo = Piece::Minted(id);
            match dice.below(3) {
                0 => members.push(("otid".to_owned(), Node::Token(echo))),
                1 => {
                    let said =
                        vec![Piece::Text("got '".to_owned()), echo, Piece::Text("'".to_owned())];
                    members.push(("text".to_owned(), Node::Text(said)));
                }
                _ => {}
            }
        }
        members.push(("status".to_owned(), Node::Text(text(word_of(dice)))));
        members.push(("count".to_owned(), Node::Scalar(dice.below(1000).to_string())));
        // A name may come up twice; the last one is what counts to most readers, so only one is kept.
        let mut names: Vec<String> = Vec::new();
        members.retain(|(name, _)| {
            !names.contains(name) && {
                names.push(name.clone());
                true
            }
        });
        Node::Object(members)
    }

    /// Members that say something.
    fn members(&mut self, dice: &mut Dice, depth: usize) -> Vec<(String, Node)> {
        let names = ["model", "max_tokens", "stream", "tags", "options", "note"];
        let mut members = Vec::new();
        for name in names {
            if dice.once_in(2) {
                members.push((name.to_owned(), self.member(name, dice, depth)));
            }
        }
        if let Some(known) = self.known(dice).filter(|_| dice.once_in(3)) {
            members.push(("parent_id".to_owned(), Node::Token(known)));
        }
        if let Some(own) = self.own(dice).filter(|_| dice.once_in(3)) {
            members.push(("reply_to".to_owned(), Node::Token(own)));
        }
        members
    }

    fn member(&mut self, name: &str, dice: &mut Dice, depth: usize) -> Node {
        match name {
            "max_tokens" => Node::Scalar(dice.below(1000).to_string()),
            "stream" => boolean(dice),
            "tags" => {
                Node::Array((0..dice.below(3)).map(|_| Node::Text(text(word_of(dice)))).collect())
            }
            "options" if depth > 0 => Node::Object(self.members(dice, depth - 1)),
            "options" => Node::Scalar("null".to_owned()),
            "note" => self.prose(dice),
            _ => Node::Text(text(word_of(dice))),
        }
    }

    fn prose(&mut self, dice: &mut Dice) -> Node {
        Node::Text(self.sentence(dice))
    }

    /// Words, and now and then an identifier of the server's between them.
    fn sentence(&mut self, dice: &mut Dice) -> Text {
        let words: Vec<&str> = (0..1 + dice.below(4)).map(|_| word_of(dice)).collect();
        let mut sentence = text(&words.join(" "));
        if let Some(known) = self.known(dice).filter(|_| dice.once_in(4)) {
            let short = matches!(known, Piece::Issued(id) if self.issued[id].0 == Kind::Integer);
            if !short {
                sentence.extend([
                    Piece::Text(" see ".to_owned()),
                    known,
                    Piece::Text(".".to_owned()),
                ]);
            }
        }
        sentence
    }

    fn mint(&mut self, dice: &mut Dice) -> Piece {
        self.mint_one(*dice.one_of(MINTED))
    }

    fn mint_one(&mut self, kind: Kind) -> Piece {
        self.minted.push(kind);
        self.fresh.push(self.minted.len() - 1);
        self.told.push(self.minted.len() - 1);
        Piece::Minted(self.minted.len() - 1)
    }

    fn issue(&mut self, kind: &Kind, dice: &mut Dice) -> usize {
        self.issued.push((*kind, kind.make(dice)));
        self.issued.len() - 1
    }

    /// Something that the client minted before and put where it counts.
    fn own(&self, dice: &mut Dice) -> Option<Piece> {
        let own = &self.told;
        (!own.is_empty()).then(|| Piece::Minted(own[dice.below(own.len())]))
    }

    /// Something that the server issued before.
    fn known(&self, dice: &mut Dice) -> Option<Piece> {
        (!self.issued.is_empty()).then(|| Piece::Issued(dice.below(self.issued.len())))
    }
}

fn word_of(dice: &mut Dice) -> &'static str {
    dice.one_of(WORDS)
}

fn boolean(dice: &mut Dice) -> Node {
    Node::Scalar(dice.one_of(&["true", "false"]).to_owned())
}

fn cut(dice: &mut Dice) -> Cut {
    match dice.below(4) {
        0 => Cut::Bytes,
        1 => Cut::Events,
        _ => Cut::Anywhere(dice.roll()),
    }
}
