//! Which message of a client an answer over a WebSocket names.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::text::json::{Container, Text};
use crate::text::rpc::{Envelope, Speech};

/// The messages of a client over one WebSocket, by what answers call them.
///
/// # Rationale
///
/// A server that works on several things at once says which one an answer is about: by the `id` of the message, by an
/// identifier that stands in a field of the same name in both, or at the same place of both if messages are arrays. That
/// the last message came later says nothing then.
/// It counts only where the last message could have been named as well, and was not: a `stop` without a name is
/// answered by what comes behind it.
/// A notification of JSON-RPC asks nothing, nor does an answer to what the server has asked. What comes behind one and
/// names no call belongs to the call that is open: a server sends the same lines of its log before or behind a
/// `notifications/cancelled` that crosses them.
/// Of calls that were open at once it may be about any, and says nothing of the order in one.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Which exchanges said what in a field of that name.
    said: HashMap<(String, String), BTreeSet<usize>>,
    /// The exchange of each call of JSON-RPC, by its id.
    rpc: HashMap<String, usize>,
    /// The exchange of each call whose progress is to be told, by the token for it.
    progress: HashMap<String, usize>,
    /// The calls of JSON-RPC that nothing has answered yet.
    open: BTreeSet<usize>,
    /// Those that were open beside others.
    beside: BTreeSet<usize>,
    /// The call that the last message has cancelled.
    cancelled: Option<usize>,
    /// The names of the fields in which the last message said something.
    last: HashSet<String>,
    /// Whether the last message only said that the client is still there.
    keeps_alive: bool,
    /// Whether the last message is one of JSON-RPC that wants no answer.
    only_tells: bool,
}

/// To whom something is credited that a server said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credit {
    /// The exchange of that number.
    To(usize),
    /// It may be about any of several calls.
    Nobody,
}

/// The field that names a message as such.
const ID: &str = "id";

/// What clients say by which they ask nothing of what is going on: that of a `ping` is a `pong` without a name.
const KEEP_ALIVE: [&str; 2] = ["ping", "pong"];

/// What identifies something has so many bytes or more.
const SHORTEST: usize = 6;

impl Calls {
    /// A client says this, which is an exchange of its own.
    pub(super) fn ask(&mut self, exchange: usize, message: &[u8]) {
        self.last.clear();
        self.keeps_alive = keeps_alive(message);
        self.only_tells = false;
        if let Some(call) = self.cancelled.take() {
            self.open.remove(&call);
        }
        let Some(json) = Text::parse_container(message) else { return };
        if let Some(call) = Envelope::of(json) {
            self.rpc.extend(call.asked().map(|id| (plain(id).to_owned(), exchange)));
            self.progress.extend(call.wants_progress().map(|it| (plain(it).to_owned(), exchange)));
            if call.is_certain() {
                self.open.extend(call.asked().map(|_| exchange));
                if self.open.len() > 1 {
                    self.beside.extend(&self.open);
                }
                self.only_tells = call.kind != Speech::Request;
                self.cancelled = call.cancels().and_then(|id| self.rpc.get(plain(id)).copied());
            }
        }
        for (name, value) in names(json) {
            self.last.insert(name.clone());
            self.said.entry((name, value)).or_default().insert(exchange);
        }
    }

    /// To which exchange an answer belongs: the one that it names, or the `last` one.
    pub(super) fn answered(&mut self, message: &[u8], last: usize) -> Credit {
        let Some(json) = Text::parse_container(message) else { return Credit::To(last) };
        let mut is_of_any = false;
        if let Some(said) = Envelope::of(json) {
            if let Some(exchange) = said.answered().and_then(|id| self.rpc.get(plain(id))) {
                self.open.remove(exchange);
                return Credit::To(*exchange);
            }
            if let Some(exchange) =
                said.tells_progress().and_then(|it| self.progress.get(plain(it)))
            {
                return Credit::To(*exchange);
            }
            is_of_any = said.is_certain() && !self.open.is_disjoint(&self.beside);
            if self.only_tells && said.is_certain() && !is_of_any {
                return Credit::To(self.open.last().copied().unwrap_or(last));
            }
        }
        let mut named: Option<BTreeSet<usize>> = None;
        let mut may_be_last = self.keeps_alive;
        for name in names(json) {
            let Some(exchanges) = self.said.get(&name) else { continue };
            may_be_last |= self.last.contains(&name.0);
            named = Some(named.map_or_else(|| exchanges.clone(), |all| &all & exchanges));
        }
        match named.and_then(|named| Some((named.last().copied()?, named.contains(&last)))) {
            Some((named, false)) if may_be_last => Credit::To(named),
            None if is_of_any => Credit::Nobody,
            _ => Credit::To(last),
        }
    }
}

/// Whether a client only says that it is still there: it says such a word, and no other.
pub(crate) fn keeps_alive(message: &[u8]) -> bool {
    let is_word = |said: &str| KEEP_ALIVE.contains(&said);
    match Text::parse_container(message) {
        Some(json) => {
            let mut words = json.members().filter_map(|(_, it)| it.string()).peekable();
            words.peek().is_some() && words.all(|it| is_word(&it))
        }
        None => str::from_utf8(message).is_ok_and(is_word),
    }
}

/// What a message says that may name one: each with the name of its field.
fn names(json: Text<'_>) -> Vec<(String, String)> {
    // Each side of JSON-RPC counts its own calls.
    let is_rpc = Envelope::of(json).is_some_and(|it| it.is_marked || it.method.is_some());
    let is_array = json.container() == Some(Container::Array);
    let mut names = Vec::new();
    json.each_leaf(|pointer, name, value, spelled| {
        let is_element = is_array && !pointer[1..].contains('/');
        let is_own = !is_rpc && pointer.len() == name.len() + 1 && name == ID && spelled != "null";
        if is_element && value.bytes().any(|byte| byte.is_ascii_digit()) {
            names.push((pointer.to_owned(), value.into_owned()));
        } else if is_own || spelled.starts_with('"') && is_identifier(&value) {
            names.push((name.into_owned(), value.into_owned()));
        }
    });
    names
}

/// Whether a text identifies something: a word with a digit.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.len() >= SHORTEST
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte))
}

/// An id whether it is spelled as a text or as a number.
fn plain(id: &str) -> &str {
    id.trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::{Cassette, Content, Frame, Interaction, Peer, Request, Response};

    /// Asks each, and says which of them the answer belongs to; none means the last one.
    fn check(asked: &[&str], answer: &str, expected: Option<usize>) {
        let last = asked.len() - 1;
        let answered = credited(asked, answer);

        assert_eq!(answered, Credit::To(expected.unwrap_or(last)), "{answer} to {asked:?}");
    }

    fn credited(asked: &[&str], answer: &str) -> Credit {
        let mut calls = Calls::default();
        for (exchange, message) in asked.iter().enumerate() {
            calls.ask(exchange, message.as_bytes());
        }
        calls.answered(answer.as_bytes(), asked.len() - 1)
    }

    #[test]
    fn an_answer_belongs_to_the_message_that_it_names() {
        let [one, other] = [r#"{"id":"a","type":"subscribe"}"#, r#"{"id":"b","type":"subscribe"}"#];
        check(&[one, other], r#"{"id":"a","type":"next"}"#, Some(0));
        check(&[one, other], r#"{"id":"b","type":"next"}"#, None);
        check(&[one, other], r#"{"id":"c","type":"next"}"#, None);
        // Whoever said it last is meant.
        check(&[one, other, one, other], r#"{"id":"a","type":"next"}"#, Some(2));
        // One that has no name is answered by what comes behind it.
        check(&[one, r#"{"type":"stop"}"#], r#"{"id":"a","type":"stopped"}"#, None);
        check(&[one, "hello"], r#"{"id":"a","type":"next"}"#, None);
        // One that only keeps the connection open asks nothing.
        check(&[one, r#"{"type":"pong"}"#], r#"{"id":"a","type":"next"}"#, Some(0));
        check(&[one, "ping"], r#"{"id":"a","type":"next"}"#, Some(0));
        check(&[one, "ping"], r#"{"type":"pong"}"#, None);
        check(&[one, r#"{"type":"say","text":"ping"}"#], r#"{"id":"a","type":"next"}"#, None);
    }

    #[test]
    fn what_names_an_earlier_message_is_read_as_its_answer() {
        let frame = |from, said: &str| {
            let content = Content::Text(said.to_owned().into());
            Frame { from, content, ..Frame::of_server() }
        };
        let frames = vec![
            frame(Peer::Client, r#"{"id":"a","n":1}"#),
            frame(Peer::Server, r#"{"id":"a","n":2}"#),
            frame(Peer::Client, r#"{"id":"b","n":3}"#),
            frame(Peer::Server, r#"{"id":"a","n":4}"#),
            frame(Peer::Server, r#"{"id":"b","n":5}"#),
        ];
        let request = Request::of("GET", "/graphql");
        let response = Response { frames, ..Response::of(101) };
        let interactions = vec![Interaction::of(request, response)];
        let cassette = Cassette { interactions, ..Cassette::default() };

        let read = cassette.by_message();

        let said = |interaction: &Interaction| {
            let body = interaction.response().expect("an answer").body.bytes();
            String::from_utf8(body.to_vec()).expect("text")
        };
        let said: Vec<String> = read.interactions.iter().map(said).collect();
        let answers = "{\"id\":\"a\",\"n\":2}\n{\"id\":\"a\",\"n\":4}\n";
        assert_eq!(said, ["", answers, "{\"id\":\"b\",\"n\":5}\n"]);
    }

    #[test]
    fn a_field_of_the_same_name_may_say_which_one_is_meant() {
        let cell = |id: &str| format!(r#"{{"header":{{"msg_id":"{id}","session":"s-123456"}}}}"#);
        let [one, other] = [cell("m-0000001"), cell("m-0000002")];
        let of = |id: &str| {
            let parent = format!(r#"{{"msg_id":"{id}","session":"s-123456"}}"#);
            format!(r#"{{"header":{{"msg_id":"m-0000009"}},"parent_header":{parent}}}"#)
        };
        check(&[&one, &other], &of("m-0000001"), Some(0));
        check(&[&one, &other], &of("m-0000002"), None);
        check(&[&one, &other], &of("m-0000005"), None);
    }

    #[test]
    fn an_array_names_a_message_by_what_stands_at_the_same_place() {
        let [one, other] = [r#"["1","6","room:a","join",{}]"#, r#"["1","7","room:a","say",{}]"#];
        check(&[one, other], r#"["1","6","room:a","reply",{"n":7}]"#, Some(0));
        check(&[one, other], r#"["1","7","room:a","reply",{"n":6}]"#, None);
        check(&[one, other], r#"["1",null,"room:a","said",{}]"#, None);
        // What is called `result` is not always one of JSON-RPC.
        let [one, other] = [r#"{"id":1,"type":"a"}"#, r#"{"id":2,"type":"b"}"#];
        check(&[one, other], r#"{"id":1,"type":"result","result":{}}"#, Some(0));
        check(&["[48,1,{},\"a\"]", "[48,2,{},\"a\"]"], "[50,1,{},[7]]", Some(0));
    }

    #[test]
    fn an_answer_of_json_rpc_belongs_to_its_call() {
        let [one, other] = [r#"{"id":0,"method":"a"}"#, r#"{"id":1,"method":"b"}"#];
        check(&[one, other], r#"{"id":0,"result":{}}"#, Some(0));
        check(&[one, r#"{"method":"initialized"}"#], r#"{"id":"0","result":{}}"#, Some(0));
        // Progress is told of the call that has given the token, and nothing answers a notification.
        let call = |id: u8| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"a","params":{{"_meta":{{"progressToken":{id}}}}}}}"#
            )
        };
        let [one, other] = [&*call(1), &*call(2)];
        let told = r#"{"jsonrpc":"2.0","method":"p","params":{"progressToken":1,"progress":1}}"#;
        let log = r#"{"jsonrpc":"2.0","method":"log","params":{"level":"info"}}"#;
        let cancel = r#"{"jsonrpc":"2.0","method":"cancelled","params":{"requestId":1}}"#;
        check(&[one, other], told, Some(0));
        check(&[one, cancel], told, Some(0));
        check(&[one, cancel], log, Some(0));
        check(&[one], log, None);
        check(&[cancel], log, None);
        check(&[one, cancel, r#"{"jsonrpc":"2.0","method":"changed"}"#], log, None);
        // While two are open it may be about either.
        assert_eq!(credited(&[one, other], log), Credit::Nobody);
        assert_eq!(credited(&[one, other, cancel], log), Credit::Nobody);
        // What the server asks, and what the client answers, have numbers of their own.
        check(&[one, other], r#"{"id":0,"method":"approve"}"#, None);
        check(&[one, r#"{"id":1,"result":{}}"#], r#"{"id":1,"method":"approve"}"#, None);
    }
}
