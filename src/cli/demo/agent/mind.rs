//! What an agent makes of what it is told.

use http::StatusCode;
use serde_json::{Value, json};

use super::Refusal;
use super::turn::Turn;
use crate::cli::demo::mint;

/// The tool that a human has to approve.
pub(super) const TOOL: &str = "refund_order";

/// What an agent remembers.
#[derive(Debug, Default)]
pub(super) struct Mind {
    history: Vec<Value>,
    /// The call that waits for a human.
    pending: Option<Call>,
}

/// A call of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    order: u64,
}

impl Mind {
    /// What was said, in order.
    pub(super) fn history(&self) -> &[Value] {
        &self.history
    }

    /// Takes a message in and gives the events of the answer.
    pub(super) fn hear(&mut self, message: &Value) -> Result<Vec<String>, Refusal> {
        let turn = match message["type"].as_str() {
            Some("approval") => self.decided(message)?,
            _ => self.asked(message)?,
        };
        Ok(turn.end(&mut self.history))
    }

    fn asked(&mut self, message: &Value) -> Result<Turn, Refusal> {
        if let Some(call) = &self.pending {
            let detail = format!("{} waits for an approval", call.id);
            return Err(Refusal::new(StatusCode::CONFLICT, detail));
        }
        let said = message["content"].as_str().ok_or_else(|| {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "a message needs `content`")
        })?;
        self.history.push(json!({"message_type": "user_message", "content": said}));
        let mut turn = Turn::new("end_turn");
        let Some(order) = number_in(said) else {
            turn.thinks("There is no number in this.");
            turn.says("Which order is it? Please give me its number.");
            return Ok(turn);
        };
        let call = Call { id: format!("call-{}", mint::uuid()), order };
        turn.thinks(&format!(
            "The customer wants order {order} refunded. That moves money, so a human has to agree \
             before I call the tool."
        ));
        turn.says(&format!("I can refund order {order}. Do you approve?"));
        turn.asks(&call);
        self.pending = Some(call);
        Ok(turn)
    }

    fn decided(&mut self, message: &Value) -> Result<Turn, Refusal> {
        let given = message["tool_call_id"].as_str().unwrap_or_default();
        let call = match self.pending.take() {
            Some(call) if call.id == given => call,
            other => {
                let waits = other.as_ref().map_or("nothing", |call| &call.id);
                let detail = format!("{waits} waits for an approval, not {given}");
                self.pending = other;
                return Err(Refusal::new(StatusCode::BAD_REQUEST, detail));
            }
        };
        let approved = message["approve"].as_bool().unwrap_or(false);
        self.history.push(json!({
            "message_type": "approval_response_message",
            "tool_call_id": call.id,
            "approve": approved,
        }));
        let mut turn = Turn::new("end_turn");
        if approved {
            let receipt = format!("receipt-{}", mint::uuid());
            turn.returns(&format!("{} paid back, {receipt}", call.amount()));
            turn.thinks("The tool has done it; now the customer should get to know.");
            turn.says(&format!(
                "Done! {} for order {} is on its way back to you, and your receipt is {receipt}.",
                call.amount(),
                call.order
            ));
        } else {
            turn.says(&format!("Then order {} stays as it is.", call.order));
        }
        Ok(turn)
    }
}

impl Call {
    pub(super) fn arguments(&self) -> String {
        json!({"order": self.order}).to_string()
    }

    fn amount(&self) -> String {
        format!("{}.{:02} EUR", self.order / 100, self.order % 100)
    }
}

fn number_in(text: &str) -> Option<u64> {
    text.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(mind: &mut Mind, message: Value) -> String {
        mind.hear(&message).map_or_else(|refusal| refusal.detail, |events| events.join("\n"))
    }

    #[test]
    fn the_answer_depends_on_what_was_said_before() {
        let mut mind = Mind::default();

        assert!(said(&mut mind, json!({"content": "hello"})).contains("end_turn"));
        assert!(said(&mut mind, json!({"content": "order 815"})).contains("requires_approval"));
        assert!(said(&mut mind, json!({"content": "and 816"})).contains("waits for an approval"));

        let id = mind.pending.clone().expect("a call waits").id;
        let wrong = json!({"type": "approval", "tool_call_id": "call-x", "approve": true});
        let right = json!({"type": "approval", "tool_call_id": id, "approve": true});
        assert_eq!(said(&mut mind, wrong), format!("{id} waits for an approval, not call-x"));
        assert!(said(&mut mind, right.clone()).contains("8.15 EUR paid back"));
        assert!(said(&mut mind, right).starts_with("nothing waits for an approval"));
        assert_eq!(mind.history().len(), 11);
    }

    #[test]
    fn a_refusal_of_the_human_is_respected() {
        let mut mind = Mind::default();
        said(&mut mind, json!({"content": "order 1"}));
        let id = mind.pending.clone().expect("a call waits").id;

        let answer =
            said(&mut mind, json!({"type": "approval", "tool_call_id": id, "approve": false}));

        assert!(!answer.contains("tool_return_message") && mind.pending.is_none());
    }
}
