//! What holds between several answers, or several owners of one: which came first, and what belongs to whom.

use std::collections::HashMap;

use crate::cassette::Cassette;
use crate::message::Message;

/// Whether one interaction was over before another one began: its answer was complete when the other
/// request arrived. Both are numbers in the cassette, counted from 0.
///
/// Of two that were under way at once, neither happened before the other.
///
/// # Example: agents are asked one after the other
///
/// ```
/// use retape::contract::streams::happens_before;
///
/// # fn main() -> retape::Result<()> {
/// let name = retape::Name::new("letta/hitl/approve_tokens")?;
/// let cassette = retape::store::load("cassettes".as_ref(), &name)?;
///
/// assert!(happens_before(&cassette, 1, 3), "the agent is there before it is asked");
/// assert!(!happens_before(&cassette, 3, 1));
/// # Ok(())
/// # }
/// ```
pub fn happens_before(cassette: &Cassette, first: usize, then: usize) -> bool {
    let was_under_way = |interaction: &crate::cassette::Interaction| {
        interaction.after.iter().any(|progress| progress.interaction == first)
    };
    // What was complete for an earlier request was complete for all later ones.
    let between = cassette.interactions.get(first + 1..=then).unwrap_or_default();
    between.iter().any(|interaction| !was_under_way(interaction)) && first < then
}

/// The streams that one carries, by what stands in a field of each message: an agent, a channel, a run. They
/// come in the order of their first messages, each with the places of its messages in the whole. What does not
/// have the field belongs to none.
///
/// # Example: two agents on one connection
///
/// ```
/// use retape::contract::streams::apart;
/// use retape::message::{Decoder, Framing, Protocols};
///
/// let lines = "{\"by\":\"ann\"}\n{\"by\":\"bob\"}\n{\"by\":\"ann\"}\n";
/// let said = Decoder::new(Framing::Lines, Protocols::default()).push(lines.as_bytes(), 0);
///
/// assert_eq!(apart(&said, "by"), [("ann".to_owned(), vec![0, 2]), ("bob".to_owned(), vec![1])]);
/// ```
pub fn apart(messages: &[Message], field: &str) -> Vec<(String, Vec<usize>)> {
    let mut streams: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let Some(owner) = value(message, field) else { continue };
        match streams.iter_mut().find(|(name, _)| *name == owner) {
            Some((_, places)) => places.push(place),
            None => streams.push((owner, vec![place])),
        }
    }
    streams
}

/// What stands in a field of a message, if something does.
fn value(message: &Message, field: &str) -> Option<String> {
    let data = message.json()?;
    let path: Vec<&str> = field.split('.').collect();
    let value = data.at(&path)?.as_str().trim_matches('"').to_owned();
    Some(value).filter(|it| !it.is_empty() && it != "null")
}

/// Something that was said to two who should not hear of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shared<K> {
    /// The field: `run_id`.
    pub field: String,
    /// What stands there.
    pub value: String,
    /// Who it was said to first.
    pub first: K,
    /// Who it was said to as well.
    pub then: K,
}

/// Whether streams are apart: what stands in one of the `fields` of a message to one owner stands in no
/// message to another. Gives what does, each value once for each pair of owners.
///
/// An owner is whatever you tell streams apart by: a user, an agent, a connection. Name fields that hold
/// identifiers. A dot leads into a field: `tool_call.tool_call_id`.
///
/// # Example: two users
///
/// ```
/// use retape::contract::streams::shared;
/// use retape::message::{Decoder, Framing, Protocols};
///
/// let said = |run: &str| {
///     let body = format!("data: {{\"type\":\"delta\",\"run\":\"{run}\"}}\n\n");
///     Decoder::new(Framing::EventStream, Protocols::default()).push(body.as_bytes(), 0)
/// };
/// let (anna, bob) = (said("run-1"), said("run-2"));
///
/// assert!(shared([("anna", &anna), ("bob", &bob)], &["run"]).is_empty());
/// let found = shared([("anna", &anna), ("bob", &said("run-1"))], &["run"]);
/// assert_eq!((found[0].value.as_str(), found[0].then), ("run-1", "bob"));
/// ```
pub fn shared<'m, K: Clone + PartialEq, M>(
    streams: impl IntoIterator<Item = (K, M)>,
    fields: &[&str],
) -> Vec<Shared<K>>
where
    M: IntoIterator<Item = &'m Message>,
{
    let mut owners: HashMap<(&str, String), K> = HashMap::new();
    let mut found: Vec<Shared<K>> = Vec::new();
    for (owner, messages) in streams {
        for message in messages {
            for field in fields {
                let Some(value) = value(message, field) else { continue };
                let first = owners.entry((field, value.clone())).or_insert_with(|| owner.clone());
                if *first != owner {
                    let shared = Shared {
                        field: (*field).to_owned(),
                        value,
                        first: first.clone(),
                        then: owner.clone(),
                    };
                    if !found.contains(&shared) {
                        found.push(shared);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::{End, Interaction, Outcome, Progress, Request};

    fn asked(under_way: &[usize]) -> Interaction {
        let progress = |interaction: &usize| Progress { interaction: *interaction, chunks: 1 };
        let request = Request::of("POST", "/");
        let after = under_way.iter().map(progress).collect();
        Interaction { after, request, outcome: Outcome::Nothing(End::Timeout) }
    }

    #[test]
    fn of_two_that_were_under_way_at_once_neither_happened_before_the_other() {
        let interactions = vec![asked(&[]), asked(&[0]), asked(&[0]), asked(&[])];
        let cassette = Cassette { interactions, ..Cassette::default() };
        let before = |first, then| happens_before(&cassette, first, then);

        assert!(!before(0, 1) && !before(1, 0) && !before(0, 0));
        assert!(!before(0, 2) && before(1, 2));
        assert!(before(0, 3) && before(2, 3));
        assert!(!before(0, 9) && !before(9, 0));
    }
}
