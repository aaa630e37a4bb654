//! Whether a difference counts: whether the request would look otherwise without it.

use serde_json::Value as Json;

use super::Index;
use crate::cassette::Request;
use crate::diff::{Difference, Place, Value};

/// What a request would be if it were in one place as it was recorded.
///
/// # Rationale
///
/// What counts is decided where a request is reduced to its skeleton, by what is known of identifiers
/// and by what the user has said. Rather than to repeat that here, a place is set to what was recorded
/// there; it counts if the skeleton is another one then. So an explanation never names what does not
/// matter.
pub(super) struct Counterfactual<'a> {
    index: &'a Index,
    asked: &'a Request,
    recorded: &'a Request,
    hash: u64,
    /// The body, and the hash of a request with it as it is written anew.
    json: Option<(Json, u64)>,
}

/// Larger bodies are not made anew for each difference.
const LARGEST: usize = 128 * 1024;

impl<'a> Counterfactual<'a> {
    pub(super) fn new(index: &'a Index, asked: &'a Request, recorded: &'a Request) -> Self {
        let hash = index.skeleton(asked).hash;
        let body = asked.readable();
        let small = body.len() <= LARGEST;
        let json = small.then(|| serde_json::from_slice(&body).ok()).flatten();
        let json = json.map(|json| {
            let rewritten = rewritten(asked, &json);
            (json, index.skeleton(&rewritten).hash)
        });
        Self { index, asked, recorded, hash, json }
    }

    /// Whether a header field counts, all else aside.
    pub(super) fn header(&self, name: &str) -> bool {
        // The media type counts only where there is a body.
        let body = self.asked.body.slice(..self.asked.body.len().min(1));
        let asked = Request { body, ..self.asked.clone() };
        let mut other = asked.clone();
        set(&mut other, name, self.recorded);
        self.index.skeleton(&asked).hash != self.index.skeleton(&other).hash
    }

    /// Whether a difference counts. What cannot be told counts.
    pub(super) fn counts(&self, difference: &Difference) -> bool {
        match &difference.at {
            Place::Query(_) => {
                self.differs(&Request { path: self.with_query(), ..self.asked.clone() })
            }
            Place::Form(_) | Place::Part(_) | Place::Body => {
                let mut other = Request { body: self.recorded.body.clone(), ..self.asked.clone() };
                for name in ["content-type", "content-encoding"] {
                    set(&mut other, name, self.recorded);
                }
                self.differs(&other)
            }
            Place::Json(pointer) => self.json_counts(pointer, difference),
            _ => true,
        }
    }

    fn differs(&self, other: &Request) -> bool {
        self.index.skeleton(other).hash != self.hash
    }

    fn with_query(&self) -> String {
        let query = self.recorded.query().map(|query| format!("?{query}"));
        format!("{}{}", self.asked.path_only(), query.unwrap_or_default())
    }

    fn json_counts(&self, pointer: &str, difference: &Difference) -> bool {
        let Some((json, hash)) = &self.json else { return true };
        let mut changed = json.clone();
        match patched(&mut changed, pointer, difference) {
            Some(()) => self.index.skeleton(&rewritten(self.asked, &changed)).hash != *hash,
            None => true,
        }
    }
}

/// A request with another body in JSON.
fn rewritten(request: &Request, json: &Json) -> Request {
    let mut headers = request.headers.clone();
    headers.remove("content-encoding");
    Request { headers, body: json.to_string().into(), ..request.clone() }
}

/// Takes the header fields of that name from another request.
fn set(request: &mut Request, name: &str, from: &Request) {
    request.headers.remove(name);
    for value in from.headers.get_all(name) {
        request.headers.append(name, value.clone());
    }
}

/// Sets a place to what was recorded there.
fn patched(json: &mut Json, pointer: &str, difference: &Difference) -> Option<()> {
    let recorded = match &difference.recorded {
        Some(Value::Json(spelled)) => Some(serde_json::from_str::<Json>(spelled).ok()?),
        Some(_) => return None,
        None => None,
    };
    if let (Some(recorded), true) = (&recorded, difference.asked.is_some()) {
        *json.pointer_mut(pointer)? = recorded.clone();
        return Some(());
    }
    let (above, name) = pointer.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    match (json.pointer_mut(above)?, recorded) {
        (Json::Object(members), Some(recorded)) => drop(members.insert(name, recorded)),
        (Json::Object(members), None) => drop(members.remove(&name)?),
        (Json::Array(elements), Some(recorded)) => {
            let at = name.parse::<usize>().ok()?.min(elements.len());
            elements.insert(at, recorded);
        }
        (Json::Array(elements), None) => {
            let at = name.parse::<usize>().ok().filter(|at| *at < elements.len())?;
            elements.remove(at);
        }
        _ => return None,
    }
    Some(())
}
