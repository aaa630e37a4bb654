//! Lines, as a client and a server say them to each other over standard input and output.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::text::json::Text;
use crate::text::rpc::Envelope;

/// Cuts what one side says into lines. An empty one says nothing.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line whose end has not come.
    begun: Vec<u8>,
}

impl Lines {
    /// Takes what has come, up to the end of the next line. Takes it away from `bytes`; nothing more is in
    /// them if nothing is given.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Bytes> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, behind) = bytes.split_at(end);
            self.begun.extend_from_slice(line);
            *bytes = &behind[1..];
            if let Some(line) = self.last() {
                return Some(line);
            }
        }
        self.begun.extend_from_slice(bytes);
        *bytes = &[];
        None
    }

    /// What came behind the last line end.
    pub fn last(&mut self) -> Option<Bytes> {
        let line = std::mem::take(&mut self.begun);
        (!line.trim_ascii().is_empty()).then(|| line.into())
    }
}

/// The error in JSON-RPC of what was not recorded: the number that its status has in HTTP.
const NOT_RECORDED: u16 = 470;

/// Whether a message answers a request of JSON-RPC.
pub fn is_answer(message: &[u8]) -> bool {
    Text::parse(message).and_then(Envelope::of).is_some_and(|it| it.answered().is_some())
}

/// What refuses the requests of JSON-RPC that a message is, alone or in a batch: nothing else is answered.
pub fn refusal(message: &[u8], reason: &str, explanation: &str) -> Option<Vec<u8>> {
    let message = Text::parse(message)?;
    let error =
        json!({"code": NOT_RECORDED, "message": reason, "data": {"explanation": explanation}});
    let batch: Vec<Value> = message.elements().filter_map(|asked| refused(asked, &error)).collect();
    let refusal = if batch.is_empty() { refused(message, &error)? } else { batch.into() };
    Some(refusal.to_string().into_bytes())
}

/// The answer with that error to a message, if it is a request.
fn refused(asked: Text<'_>, error: &Value) -> Option<Value> {
    let id: Value = serde_json::from_str(Envelope::of(asked)?.asked()?).ok()?;
    let mut refusal = json!({"id": id, "error": error});
    // Some protocols leave it out on both sides.
    if let Some(version) = asked.get("jsonrpc").and_then(Text::string) {
        refusal["jsonrpc"] = version.into();
    }
    Some(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_wherever_the_bytes_are_cut() {
        let text = b"{\"a\":1}\n\n \r\nno json\r\n\xff\nthe rest";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut lines = Lines::default();
                let mut found = Vec::new();
                for mut piece in [&text[..first], &text[first..second], &text[second..]] {
                    found.extend(std::iter::from_fn(|| lines.next(&mut piece)));
                }
                found.extend(lines.last());

                assert_eq!(found, [&b"{\"a\":1}"[..], b"no json\r", b"\xff", b"the rest"]);
            }
        }
    }

    #[test]
    fn only_a_request_is_refused() {
        let check = |message: &str, expected: Option<&str>| {
            let refusal = refusal(message.as_bytes(), "why", "all of it");
            assert_eq!(refusal.as_deref().map(String::from_utf8_lossy).as_deref(), expected);
        };
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#,
            Some(
                r#"{"error":{"code":470,"data":{"explanation":"all of it"},"message":"why"},"id":"a","jsonrpc":"2.0"}"#,
            ),
        );
        check(
            r#"{"id":7,"method":"m"}"#,
            Some(
                r#"{"error":{"code":470,"data":{"explanation":"all of it"},"message":"why"},"id":7}"#,
            ),
        );
        check(
            r#"[{"id":1,"method":"m"},{"method":"n"},{"id":2,"method":"m"}]"#,
            Some(
                r#"[{"error":{"code":470,"data":{"explanation":"all of it"},"message":"why"},"id":1},{"error":{"code":470,"data":{"explanation":"all of it"},"message":"why"},"id":2}]"#,
            ),
        );
        for message in [
            r#"{"method":"m"}"#,
            r#"{"id":1,"result":{}}"#,
            r#"[{"method":"m"}]"#,
            "[]",
            "no json",
            "",
        ] {
            check(message, None);
        }
    }
}
