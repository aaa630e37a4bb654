//! Requests that end an answer which is still being sent.

use crate::cassette::{Interaction, Request};
use crate::identity::identifiers;
use crate::text::json::Text;

/// What a path or a method says where something is to end.
const WORDS: [&str; 7] =
    ["abort", "cancel", "canceled", "cancelled", "interrupt", "stop", "terminate"];

/// Whether a request ends an answer that was being sent when it came, which may have been the only one.
///
/// # Rationale
///
/// Other requests that come meanwhile say nothing about the answer: a client may send them at another time,
/// or behind its end. But an answer that was cut off by its client goes on as it did only behind that.
pub(super) fn ends(request: &Request, answer: &Interaction, is_only: bool) -> bool {
    let body = request.readable();
    let json = Text::parse_container(&body);
    let method = json.and_then(|json| json.get("method")?.string());
    let says = method.is_some_and(|method| is_word(method.rsplit('/').next().unwrap_or_default()));
    let path = request.path_only();
    let is_asked = says || path.rsplit('/').take(2).any(is_word);
    let is_removed = request.method == "DELETE";
    if is_removed && !is_asked {
        return !path.trim_matches('/').is_empty() && is_named(path.as_bytes(), answer);
    }
    is_asked
        && (is_only || is_named(path.as_bytes(), answer) || is_named(&body, answer) || {
            let ended = json.and_then(|json| json.at(&["params", "requestId"]));
            let asked = answer.request.readable();
            let asked = Text::parse_container(&asked).and_then(|json| json.get("id"));
            ended.is_some_and(|ended| {
                asked.is_some_and(|id| id.as_str().trim() == ended.as_str().trim())
            })
        })
}

/// Whether one of the words stands at the beginning: `cancel-run`, `interrupt`, but not `stopwords`.
fn is_word(segment: &str) -> bool {
    let segment = segment.to_ascii_lowercase();
    let first = segment.split(|letter: char| !letter.is_ascii_alphanumeric()).next();
    first.is_some_and(|first| WORDS.contains(&first))
}

/// Whether an identifier in a text stands in a request or in its answer too.
fn is_named(text: &[u8], answer: &Interaction) -> bool {
    let text = String::from_utf8_lossy(text);
    let (asked, said) = (answer.request.readable(), answer.response());
    let said = said.map(|response| response.readable().bytes()).unwrap_or_default();
    let texts = [answer.request.path.as_bytes(), &asked, &said];
    identifiers(&text).any(|range| {
        let identifier = text[range].as_bytes();
        texts.iter().any(|text| memchr::memmem::find(text, identifier).is_some())
    })
}
