//! What of an answer may show what was asked while it was being sent.

use std::collections::HashSet;

use super::Index;
use super::route::is_id;
use super::writes::{is_of_another, is_of_one, writes};
use crate::cassette::{Body, Cassette, Interaction, Request, target};
use crate::config::Early;
use crate::identity::{Scope, Words, each_document};
use crate::message::lines::SESSION;
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// A recorded request, and its number.
pub type Numbered<'a> = (usize, &'a Interaction);

impl Index {
    /// Whether what an answer said behind its first chunks may show what a request did that had come by then.
    ///
    /// # Rationale
    ///
    /// This is what [`Early`] says of whole answers. The client asked without knowing the rest, so it can
    /// ask again before it gets the rest: to wait for it costs no time, unless the client is another one.
    /// Which request that is, its identifiers say, never its words. One that only asks for what is there,
    /// that was refused, or that went to another server, did nothing, and one that the server itself has
    /// sent no client will send. An answer that never came shows nothing. Others name what the answer is
    /// about:
    ///
    /// - an identifier that stands in the request of the answer, or that the answer has told by then;
    /// - the JSON-RPC id of its request, or that of a request of the server, which they answer;
    /// - what they are the first to make up, and the rest of the answer says: it cannot have known that.
    ///
    /// An answer that says in one piece what the same question was answered before shows nothing. Nor does it show what
    /// happens to another thing of the same list, as where several are put into it at once.
    pub fn may_show(&self, answer: Numbered<'_>, chunks: usize, asked: Numbered<'_>) -> bool {
        let ((number, answer), (asking, interaction)) = (answer, asked);
        let (about, request) = (&answer.request, &interaction.request);
        let is_near = target::split(&about.path).0 == target::split(&request.path).0;
        let is_meant = writes(interaction) && !is_of_another(answer, interaction);
        let says_any = answer.response().is_some();
        if self.rules().earliness() == Early::Given || !says_any || !is_near || !is_meant {
            return false;
        }
        let said = said(answer, chunks);
        let is_of_both = || {
            !(chunks == 0 && is_whole(answer) && are_siblings(about, request))
                && self.shares_a_name((about, &said), (request, asking))
        };
        self.is_called(number, asking)
            || replies(request, &said)
            || is_of_both()
            || self.tells(answer, said.len(), asking)
    }

    /// Whether an answer in one piece is what the same question was answered before something was asked.
    pub fn is_said_before(
        &self,
        cassette: &Cassette,
        (number, answer): Numbered<'_>,
        asked: Numbered<'_>,
    ) -> bool {
        let says = |it: &Interaction| {
            let response = it.response().filter(|_| is_whole(it));
            response.map(|response| (response.status, response.body.clone()))
        };
        let said = says(answer);
        let mut alike = self.answered_before(number, asked);
        said.is_some() && alike.any(|other| says(&cassette.interactions[other]) == said)
    }

    /// The same questions that were answered before something was asked.
    fn answered_before<'i>(
        &'i self,
        number: usize,
        (asking, asked): Numbered<'i>,
    ) -> impl Iterator<Item = usize> + 'i {
        let others = self.alike(number).filter(move |other| *other != number && *other < asking);
        others.filter(move |other| !is_open(*other, asked))
    }

    /// Whether a question had no answer yet when something was written to the same address, or, if the
    /// question is one of `feeds`, to any of that server: clients that cannot listen ask for what is new, and
    /// a server that has nothing new lets them wait (RFC 6202, section 2).
    pub fn polls(
        &self,
        answer: &Interaction,
        chunks: usize,
        asked: &Interaction,
        feeds: &Feeds<'_>,
    ) -> bool {
        let (question, request) = (&answer.request, &asked.request);
        let is_near = || target::split(&question.path).0 == target::split(&request.path).0;
        chunks == 0
            && question.only_reads()
            && (question.path_only() == request.path_only() || (feeds.has(question) && is_near()))
            && self.rules().earliness() != Early::Given
            && writes(asked)
            && !is_of_another(answer, asked)
    }

    /// Whether a client replies to a request that the server made in a stream `beside` it: a call may wait for
    /// that, as the server did not say there which call it made it for.
    pub fn replies_beside<'c>(
        &self,
        reply: &Interaction,
        mut beside: impl Iterator<Item = (&'c Interaction, usize)>,
    ) -> bool {
        let is_reply = self.rules().earliness() != Early::Given && writes(reply);
        let Some(id) = replied(&reply.request).filter(|_| is_reply) else { return false };
        beside.any(|(stream, chunks)| {
            is_of_session(stream, reply) && has_called(&id, &said(stream, chunks))
        })
    }

    /// Whether the answer to a call waits for such a reply. One that was answered before when nobody replied does not.
    pub fn awaits(
        &self,
        cassette: &Cassette,
        (number, answer): Numbered<'_>,
        (asking, reply): Numbered<'_>,
    ) -> bool {
        let is_replied = |other: usize| {
            let mut behind = cassette.interactions.iter().take(asking).skip(other);
            behind.any(|it| is_open(other, it) && replied(&it.request).is_some())
        };
        !answer.request.only_reads()
            && is_of_session(answer, reply)
            && self.answered_before(number, (asking, reply)).all(is_replied)
    }

    fn is_called(&self, number: usize, asking: usize) -> bool {
        let calls = |wanted: &str| {
            self.made_up_in(number).any(|(scope, id)| scope == Scope::Call && id == wanted)
        };
        self.made_up_in(asking).any(|(scope, id)| scope == Scope::Called && calls(id))
    }

    /// Whether an answer says, behind so many bytes, what a request is the first to make up.
    fn tells(&self, answer: &Interaction, behind: usize, asking: usize) -> bool {
        let made_up = self.made_up_in(asking);
        let made_up = made_up.filter(|(scope, _)| matches!(scope, Scope::Anywhere | Scope::Word));
        let is_new = |name: &&str| self.names().made_up(name) == Some(asking);
        let names: Vec<&str> = made_up.map(|(_, name)| name).filter(is_new).collect();
        if names.is_empty() {
            return false;
        }
        let names = Words::of(names.into_iter());
        let mut all = said(answer, usize::MAX);
        if let Some(Body::Whole(body)) = answer.response().map(|it| it.readable()).as_deref() {
            all.push_str(&String::from_utf8_lossy(body));
        }
        names.find(all.get(behind..).unwrap_or_default()).next().is_some()
    }

    fn shares_a_name(
        &self,
        (about, said): (&Request, &str),
        (request, asking): (&Request, usize),
    ) -> bool {
        let issued = self.names().issued_by_request(request, self.rules());
        let made_up = self.made_up_in(asking);
        let made_up = made_up.filter(|(scope, _)| matches!(scope, Scope::Anywhere | Scope::Word));
        let made_up = made_up.map(|(_, name)| name.to_owned());
        let names: Vec<String> = issued.into_iter().chain(made_up).collect();
        let names = Words::of(names.iter().map(String::as_str));
        let body = about.readable();
        let texts = [about.path.as_str(), std::str::from_utf8(&body).unwrap_or(""), said];
        texts.iter().any(|text| names.find(text).next().is_some())
    }
}

/// Whether an interaction was under way when another one was asked.
fn is_open(interaction: usize, asked: &Interaction) -> bool {
    asked.after.iter().any(|it| it.interaction == interaction)
}

/// Whether an answer came in one piece.
fn is_whole(answer: &Interaction) -> bool {
    matches!(answer.response().map(|response| &response.body), Some(Body::Whole(_)))
}

/// Whether two requests do the same to two things of one list: `PUT /files/1` and `PUT /files/2`.
fn are_siblings(one: &Request, other: &Request) -> bool {
    let list = |it: &Request| it.path_only().rsplit_once('/').map(|(list, _)| list.to_owned());
    let names = |it: &Request| it.path_only().rsplit('/').next().is_some_and(is_id);
    one.method == other.method
        && list(one) == list(other)
        && one.path_only() != other.path_only()
        && [one, other].into_iter().all(names)
}

fn is_of_session(one: &Interaction, other: &Interaction) -> bool {
    let session = |it: &Interaction| it.request.headers.get(SESSION).map(str::to_owned);
    one.request.path_only() == other.request.path_only() && session(one) == session(other)
}

/// What clients ask for again and again, and that is no one thing: `GET /sync`.
#[derive(Debug)]
pub struct Feeds<'c>(HashSet<&'c str>);

impl<'c> Feeds<'c> {
    /// The paths that a cassette asks for more than once.
    pub fn of(cassette: &'c Cassette) -> Self {
        let mut seen = HashSet::new();
        let questions = cassette.interactions.iter().map(|interaction| &interaction.request);
        let questions = questions.filter(|request| request.only_reads() && !is_of_one(request));
        Self(questions.map(Request::path_only).filter(|path| !seen.insert(*path)).collect())
    }

    fn has(&self, question: &Request) -> bool {
        self.0.contains(question.path_only())
    }
}

/// What an answer had said in its first chunks.
fn said(answer: &Interaction, chunks: usize) -> String {
    let mut said = Vec::new();
    if let Some(response) = answer.response() {
        let body = response.readable();
        body.chunks().iter().take(chunks).for_each(|chunk| said.extend_from_slice(&chunk.bytes));
        for message in response.frames.iter().take(chunks).filter_map(|frame| frame.message()) {
            said.extend_from_slice(message);
            said.push(b'\n');
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// Whether a request is the answer to a JSON-RPC request of the server.
fn replies(request: &Request, said: &str) -> bool {
    replied(request).is_some_and(|id| has_called(&id, said))
}

/// The id of the JSON-RPC request that a request is the answer to.
fn replied(request: &Request) -> Option<String> {
    let body = request.readable();
    Envelope::of(Text::parse_container(&body)?)?.answered().map(str::to_owned)
}

/// Whether a server has made a JSON-RPC request with that id.
fn has_called(id: &str, said: &str) -> bool {
    let mut has_called = false;
    each_document(said, |_, call| {
        has_called |= Envelope::of(call).is_some_and(|call| call.asked() == Some(id));
    });
    has_called
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Rules;

    /// Whether what a stream says behind its first chunk may show a request that came by then.
    fn check(stream: [&str; 4], asked: [&str; 3], expected: bool) {
        let ([method, path, body, said], [method_asked, path_asked, body_asked]) = (stream, asked);
        let cassette = serde_json::json!({"retape": 1, "interactions": [
            {"request": {"method": "POST", "path": "/agents", "text": "{}"},
             "response": {"ms": 0, "status": 200, "headers": {}, "end": "complete",
              "text": "{\"id\": \"agent-4753d61db206\", \"other\": \"agent-07e88d56bac0\"}"}},
            {"request": {"method": method, "path": path, "text": body},
             "response": {"ms": 0, "status": 200, "end": "complete",
              "headers": {"content-type": "text/event-stream"},
              "stream": [{"ms": 0, "text": format!("data: {said}\n\n")},
                         {"ms": 1, "text": "data: 2\n\n"}]}},
            {"after": {"2": 1},
             "request": {"method": method_asked, "path": path_asked, "text": body_asked},
             "response": {"ms": 0, "status": 202, "headers": {}, "end": "complete"}}]});
        let decoded = crate::cassette::format::decode(&cassette.to_string(), |_| unreachable!());
        let cassette = decoded.expect("a cassette");
        let [_, stream, asking] = &cassette.interactions[..] else { unreachable!() };
        let may_show = |rules| Index::of(&cassette, rules).may_show((1, stream), 1, (2, asking));
        assert_eq!(may_show(Rules::default()), expected, "{cassette:#?}");
        assert!(!may_show(Rules::default().early(Early::Given)));
    }

    #[test]
    fn what_names_the_same_may_show_in_the_rest_of_a_stream() {
        let stream =
            ["POST", "/agents/agent-4753d61db206/stream", "{}", "{\"run\": \"run-538adac09b9e\"}"];
        check(stream, ["POST", "/agents/agent-4753d61db206/finish", ""], true);
        check(stream, ["POST", "/finish", "{\"runs\": [\"run-538adac09b9e\"]}"], true);
        check(stream, ["DELETE", "/agents/agent-4753d61db206", ""], true);
        // It only asks, is about another one, or names nothing.
        check(stream, ["GET", "/agents/agent-4753d61db206/finish", ""], false);
        check(stream, ["POST", "/agents/agent-07e88d56bac0/cancel", ""], false);
        check(stream, ["POST", "/cancel", "{\"stop\": true}"], false);
    }

    #[test]
    fn json_rpc_names_requests_by_their_ids() {
        let call = "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"tools/call\"}";
        let asks = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"elicitation/create\"}";
        let stream = ["POST", "/mcp", call, asks];
        let notes = |id: u32| {
            format!(
                "{{\"jsonrpc\": \"2.0\", \"method\": \"notify\", \"params\": {{\"requestId\": {id}}}}}"
            )
        };
        let answers = |id: u32| format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"result\": {{}}}}");
        check(stream, ["POST", "/mcp", &notes(7)], true);
        check(stream, ["POST", "/mcp", &notes(8)], false);
        check(stream, ["POST", "/mcp", &answers(1)], true);
        check(stream, ["POST", "/mcp", &answers(2)], false);
        check(stream, ["POST", "/mcp", &call.replace('7', "8")], false);
        check(stream, ["DELETE", "/mcp", ""], false);
    }

    #[test]
    fn a_reply_has_the_id_of_a_call_whether_or_not_both_say_what_they_are() {
        for mark in ["\"jsonrpc\": \"2.0\", ", ""] {
            let asks = format!("{{{mark}\"id\": 1, \"method\": \"elicitation/create\"}}");
            let reply = |members: &str| Request {
                body: format!("{{{mark}{members}}}").into(),
                ..Request::of("POST", "/rpc")
            };

            assert!(replies(&reply(r#""id": 1, "result": {}"#), &asks), "{mark}");
            assert!(!replies(&reply(r#""id": 2, "result": {}"#), &asks), "{mark}");
            assert!(!replies(&reply(r#""id": 1, "method": "again""#), &asks), "{mark}");
        }
    }
}
