//! The envelope of a message of JSON-RPC, also where a protocol leaves out the member `jsonrpc`.

use std::borrow::Cow;

use super::json::{Container, Text};

/// What a message of JSON-RPC is, and what it names.
///
/// # Rationale
///
/// The member `jsonrpc` says for sure that an object is such a message. Version 1.0 and the app server of
/// Codex do not send it. There, what has a method and an id is a request, and what has an id and a result or
/// an error answers the request that has the same id. Other objects have such members too. So whoever cannot
/// see the other side of the pair asks whether the envelope [is certain](Self::is_certain).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope<'t> {
    pub(crate) kind: Speech,
    /// As it is spelled in JSON; not `null`.
    pub(crate) id: Option<&'t str>,
    /// What is asked or told.
    pub(crate) method: Option<Cow<'t, str>>,
    pub(crate) params: Option<Text<'t>>,
    /// Whether the member `jsonrpc` says what it is.
    pub(crate) is_marked: bool,
}

/// The member by which MCP names what progress is made with.
const TOKEN: &str = "progressToken";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// It wants an answer.
    Request,
    /// It wants none.
    Notification,
    /// It answers a request of the other side.
    Answer,
}

impl<'t> Envelope<'t> {
    /// The envelope that an object is.
    pub(crate) fn of(message: Text<'t>) -> Option<Self> {
        let (mut id, mut method, mut params) = (None, None, None);
        let (mut is_marked, mut has_outcome) = (false, false);
        for (name, value) in message.members() {
            match &*name {
                "jsonrpc" => is_marked = true,
                "id" => id = id_of(value),
                "method" => method = value.string(),
                "params" => params = Some(value),
                "result" | "error" => has_outcome = true,
                _ => {}
            }
        }
        let kind = match (&method, id) {
            (Some(_), Some(_)) => Speech::Request,
            (Some(_), None) => Speech::Notification,
            (None, Some(_)) if has_outcome => Speech::Answer,
            (None, _) if is_marked => Speech::Answer,
            (None, _) => return None,
        };
        Some(Self { kind, id, method, params, is_marked })
    }

    /// Whether the message alone shows that it is one of JSON-RPC.
    pub(crate) fn is_certain(&self) -> bool {
        let has_params = || self.params.is_some_and(|params| params.container().is_some());
        self.is_marked || (self.method.is_some() && has_params())
    }

    /// The id of the request that it is.
    pub(crate) fn asked(&self) -> Option<&'t str> {
        self.id.filter(|_| self.kind == Speech::Request)
    }

    /// The id of the request that it answers.
    pub(crate) fn answered(&self) -> Option<&'t str> {
        self.id.filter(|_| self.kind == Speech::Answer)
    }

    /// By what the other side is to tell how far it has come with the request that it is, as MCP has it.
    pub(crate) fn wants_progress(&self) -> Option<&'t str> {
        let params = self.params.filter(|_| self.kind == Speech::Request)?;
        params.at(&["_meta", TOKEN]).and_then(id_of)
    }

    /// By what it tells how far the side that sends it has come with a request.
    pub(crate) fn tells_progress(&self) -> Option<&'t str> {
        let params = self.params.filter(|_| self.kind == Speech::Notification)?;
        params.get(TOKEN).and_then(id_of)
    }

    /// The id of the request that its sender wants no more, as MCP has it.
    pub(crate) fn cancels(&self) -> Option<&'t str> {
        let params = self.params.filter(|_| self.kind == Speech::Notification)?;
        params.get("requestId").and_then(id_of)
    }

    /// Whether it answers a message of the other side, also where it spells the number of that as a text.
    pub(crate) fn answers(&self, request: &Envelope<'_>) -> bool {
        let plain = |id: &'t str| id.trim_matches('"');
        let asked = request.asked().map(|id| id.trim_matches('"'));
        self.answered().map(plain).is_some_and(|id| asked == Some(id))
    }
}

/// Whether an answer says that what was asked for has failed: by an error, or as MCP does for a tool, by a result
/// that is one.
pub(crate) fn has_failed(answer: Text<'_>) -> bool {
    // JSON-RPC 1.0 says both.
    let has_error = answer.get("error").is_some_and(|error| error.as_str() != "null");
    has_error || answer.at(&["result", "isError"]).is_some_and(|it| it.as_str() == "true")
}

/// Whether an answer by GraphQL says that all of what was asked for has failed; nothing if it is no such answer. Some of
/// it may come beside errors.
pub(crate) fn has_failed_by_graphql(answer: Text<'_>) -> Option<bool> {
    let is_null = |value: Text<'_>| value.as_str() == "null";
    let data = answer.get("data");
    let has_errors = answer.get("errors").is_some_and(|it| it.elements().next().is_some());
    let has_data = data.is_some_and(|it| it.members().any(|(_, value)| !is_null(value)));
    (has_errors || data.is_some()).then_some(has_errors && !has_data)
}

/// A string or a number.
fn id_of(value: Text<'_>) -> Option<&str> {
    let spelled = value.as_str().trim_ascii();
    (value.container().is_none() && spelled != "null").then_some(spelled)
}

/// The messages of a document: itself, or the elements of an array.
pub(crate) fn messages(document: Text<'_>) -> impl Iterator<Item = Text<'_>> {
    let is_one = document.container() != Some(Container::Array);
    is_one.then_some(document).into_iter().chain(document.elements())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_is_follows_from_its_members() {
        use Speech::{Answer, Notification, Request};
        for (members, kind, is_certain) in [
            (r#""id":1,"method":"m","params":{}"#, Some(Request), true),
            (r#""id":"a","method":"m""#, Some(Request), false),
            (r#""id":null,"method":"m","params":[]"#, Some(Notification), true),
            (r#""method":"m""#, Some(Notification), false),
            (r#""id":1,"result":null,"error":{}"#, Some(Answer), false),
            (r#""id":0,"error":{}"#, Some(Answer), false),
            (r#""id":1"#, None, false),
            (r#""id":{},"result":{}"#, None, false),
            (r#""id":1,"method":2,"params":{}"#, None, false),
        ] {
            let alone = format!("{{{members}}}");
            let envelope = Envelope::of(Text::known(&alone));
            assert_eq!(envelope.as_ref().map(|it| it.kind), kind, "{alone}");
            assert_eq!(envelope.is_some_and(|it| it.is_certain()), is_certain, "{alone}");

            let marked = format!("{{\"jsonrpc\":\"2.0\",{members}}}");
            let envelope = Envelope::of(Text::known(&marked)).expect("it is marked");
            assert_eq!(envelope.kind, kind.unwrap_or(Answer), "{marked}");
            assert!(envelope.is_certain(), "{marked}");
        }
    }

    #[test]
    fn an_answer_has_the_id_of_its_request() {
        let check = |answer: &str, request: &str, expected: bool| {
            let of = |text| Envelope::of(Text::known(text)).expect("an envelope");
            assert_eq!(of(answer).answers(&of(request)), expected, "{answer} {request}");
        };
        check(r#"{"id": 1, "result": {}}"#, r#"{"id":1 ,"method":"m"}"#, true);
        check(r#"{"id":"1","result":{}}"#, r#"{"id":1,"method":"m"}"#, true);
        check(r#"{"id":"2","result":{}}"#, r#"{"id":1,"method":"m"}"#, false);
        check(r#"{"id":1,"result":{}}"#, r#"{"id":1,"result":{}}"#, false);
        check(r#"{"jsonrpc":"2.0","error":{}}"#, r#"{"jsonrpc":"2.0","method":"m"}"#, false);
    }
}
