//! What a client asked over a WebSocket, by the `id` that answers repeat: `{"id": 5, "type": "result", …}` answers
//! `{"id": 5, "type": "get_states"}`.

use std::collections::HashMap;

use super::Endpoint;
use super::cut::JsonMessage;
use crate::config::At;
use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// The types of what clients asked, by where and under which `id` they did.
///
/// # Rationale
///
/// What answers one question has little in common with what answers another one, and often does not say which it is.
/// JSON-RPC knows it by the same name, and by rules of its own.
#[derive(Default)]
pub(super) struct Called(HashMap<(usize, Endpoint, String), Vec<(usize, String)>>);

impl Called {
    /// A client asks this, as the interaction of that number in a conversation.
    pub(super) fn ask(
        &mut self,
        (conversation, number): (usize, usize),
        endpoint: &Endpoint,
        asked: Text<'_>,
        told_at: &At,
    ) {
        let is_rpc = Envelope::of(asked).is_some_and(|call| call.method.is_some());
        let Some(id) = id(asked).filter(|_| !is_rpc) else { return };
        let Some(word) = asked.at(told_at.steps()).and_then(Text::string) else { return };
        let key = (conversation, endpoint.clone(), id);
        self.0.entry(key).or_default().push((number, word.into_owned()));
    }

    /// Calls messages by what they answer, if they say it: the latest that was asked under their `id`.
    pub(super) fn name(
        &self,
        (conversation, number): (usize, usize),
        endpoint: &Endpoint,
        messages: &mut [JsonMessage],
    ) {
        if self.0.is_empty() {
            return;
        }
        for message in messages {
            let Some(id) = id(message.text()) else { continue };
            let asked = self.0.get(&(conversation, endpoint.clone(), id)).into_iter().flatten();
            let mut before = asked.filter(|(asked, _)| *asked <= number);
            if let Some((_, word)) = before.next_back() {
                message.kind = format!("{}{OF}{word}", message.tag.as_str());
            }
        }
    }
}

/// What stands between the type of an answer and that of what was asked.
const OF: &str = " of ";

/// The kind of messages by their type alone, if a kind says what was asked as well.
pub(crate) fn type_alone(kind: &str) -> Option<&str> {
    kind.split_once(OF).map(|(own, _)| own)
}

/// What a message calls its question.
fn id(message: Text<'_>) -> Option<String> {
    let id = message.get("id").filter(|id| id.container().is_none() && id.as_str() != "null")?;
    Some(id.as_str().trim_matches('"').to_owned())
}
