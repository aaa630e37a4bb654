//! The events of one answer, token by token.

use serde_json::{Value, json};

use super::mind::{Call, TOOL};
use crate::cli::demo::mint;

/// What an agent says in one answer: the events that are streamed, and the messages that stay.
#[derive(Debug)]
pub(super) struct Turn {
    run: String,
    message: String,
    events: Vec<Value>,
    stays: Vec<Value>,
    stop: &'static str,
    tokens: usize,
}

impl Turn {
    pub(super) fn new(stop: &'static str) -> Self {
        Self {
            run: format!("run-{}", mint::uuid()),
            message: format!("message-{}", mint::uuid()),
            events: Vec::new(),
            stays: Vec::new(),
            stop,
            tokens: 0,
        }
    }

    pub(super) fn thinks(&mut self, text: &str) {
        self.speaks("reasoning_message", "reasoning", text);
    }

    pub(super) fn says(&mut self, text: &str) {
        self.speaks("assistant_message", "content", text);
    }

    /// Asks a human to approve a call, and stops there.
    pub(super) fn asks(&mut self, call: &Call) {
        let kind = "approval_request_message";
        let arguments = call.arguments();
        let part = |name: Option<&str>, arguments: Option<&str>| json!({"name": name, "arguments": arguments, "tool_call_id": call.id});
        self.emits(kind, "tool_call", part(Some(TOOL), None));
        for token in tokens(&arguments) {
            self.emits(kind, "tool_call", part(None, Some(token)));
        }
        self.keeps(kind, "tool_call", part(Some(TOOL), Some(&arguments)));
        self.stop = "requires_approval";
    }

    pub(super) fn returns(&mut self, result: &str) {
        let kind = "tool_return_message";
        self.emits(kind, "tool_return", json!(result));
        self.keeps(kind, "tool_return", json!(result));
    }

    /// The data of all events; what stays goes to the history.
    pub(super) fn end(mut self, history: &mut Vec<Value>) -> Vec<String> {
        history.append(&mut self.stays);
        let stop = json!({"message_type": "stop_reason", "stop_reason": self.stop});
        let usage = json!({"message_type": "usage_statistics", "completion_tokens": self.tokens});
        self.events.extend([stop, usage]);
        let data = self.events.iter().map(Value::to_string);
        data.chain(["[DONE]".to_owned()]).collect()
    }

    fn speaks(&mut self, kind: &str, field: &str, text: &str) {
        for token in tokens(text) {
            self.emits(kind, field, json!(token));
        }
        self.keeps(kind, field, json!(text));
    }

    fn emits(&mut self, kind: &str, field: &str, value: Value) {
        self.tokens += 1;
        self.events.push(json!({
            "message_type": kind,
            "id": self.message,
            "run_id": self.run,
            "seq_id": self.events.len() + 1,
            field: value,
        }));
    }

    fn keeps(&mut self, kind: &str, field: &str, value: Value) {
        self.stays.push(json!({"message_type": kind, "id": self.message, field: value}));
    }
}

/// A text in pieces such as a language model makes: words with the space before them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest[first.len_utf8()..]
            .find([' ', ':'])
            .map_or(rest.len(), |at| at + first.len_utf8());
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_make_up_the_text() {
        let text = "Über order {\"order\":1}, please. ";

        let pieces: Vec<&str> = tokens(text).collect();

        assert_eq!(pieces, ["Über", " order", " {\"order\"", ":1},", " please.", " "]);
        assert_eq!(pieces.concat(), text);
    }
}
