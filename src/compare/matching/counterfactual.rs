//! Whether a difference counts: whether the request would look otherwise without it.

use serde_json::Value as Json;

use super::Index;
use super::skeleton::hash_of_part;
use crate::cassette::Request;
use crate::compare::diff::{Difference, Place, Value};
use crate::text::multipart::{self, Part};
use crate::text::percent;

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
        // The media type counts only where there is a body, and what a coding does to one is no part of
        // the header.
        let some = usize::from(!name.eq_ignore_ascii_case("content-encoding"));
        let body = self.asked.body.slice(..self.asked.body.len().min(some));
        let asked = Request { body, ..self.asked.clone() };
        let mut other = asked.clone();
        set(&mut other, name, self.recorded);
        self.index.skeleton(&asked).hash != self.index.skeleton(&other).hash
    }

    /// Whether a difference counts. What cannot be told counts.
    pub(super) fn counts(&self, difference: &Difference) -> bool {
        match &difference.at {
            Place::Query(name) => {
                self.differs(&Request { path: self.with_query(name), ..self.asked.clone() })
            }
            Place::Form(name) => self.form_counts(name),
            Place::Part(name) => self.part_counts(name),
            Place::Body => {
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

    fn with_query(&self, name: &str) -> String {
        let [asked, recorded] = [self.asked, self.recorded].map(|it| it.query().unwrap_or(""));
        format!("{}?{}", self.asked.path_only(), exchanged(asked, recorded, name))
    }

    fn form_counts(&self, name: &str) -> bool {
        let bodies = [self.asked, self.recorded].map(Request::readable);
        let [Ok(asked), Ok(recorded)] = bodies.each_ref().map(|body| str::from_utf8(body)) else {
            return true;
        };
        let hash = |form: String| self.index.skeleton(&with_body(self.asked, form)).hash;
        hash(asked.to_owned()) != hash(exchanged(asked, recorded, name))
    }

    /// Whether it counts what the parts of that name hold, or what they say of it. Those of one name
    /// are laid beside each other as they come.
    fn part_counts(&self, name: &str) -> bool {
        let bodies = [self.asked, self.recorded].map(|it| (it, it.readable()));
        let [Some(asked), Some(recorded)] = bodies
            .each_ref()
            .map(|(request, body)| multipart::parts(request.headers.get("content-type")?, body))
        else {
            return true;
        };
        let hash = |part: &Part<'_>| hash_of_part(part, self.index.origins(), self.index.rules());
        ASPECTS.iter().any(|(of, set)| {
            let [mine, theirs] = [&asked, &recorded].map(|parts| named(parts, name, of));
            mine.len() != theirs.len()
                || mine.iter().zip(&theirs).any(|(mine, theirs)| {
                    let mut other = Part::clone(mine);
                    set(&mut other, theirs);
                    hash(mine) != hash(&other)
                })
        })
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

/// What is said of a part, by what is behind its name, and how it is made what it is in another one.
const ASPECTS: [Aspect; 3] = [
    ("", |part, other| part.body = other.body),
    (".filename", |part, other| part.filename.clone_from(&other.filename)),
    (".content-type", |part, other| part.content_type = other.content_type),
];

type Aspect = (&'static str, for<'p> fn(&mut Part<'p>, &Part<'p>));

/// The parts that have this name with `of` behind it. One without a name is called by its number.
fn named<'p, 'a>(parts: &'p [Part<'a>], name: &str, of: &str) -> Vec<&'p Part<'a>> {
    let Some(name) = name.strip_suffix(of) else { return Vec::new() };
    let is_it = |(number, part): &(usize, &Part<'_>)| match &part.name {
        Some(is) => is == name,
        None => name == (number + 1).to_string(),
    };
    parts.iter().enumerate().filter(is_it).map(|(_, part)| part).collect()
}

/// The fields of a query or a form, those of one name as they are in the other one.
fn exchanged(fields: &str, other: &str, name: &str) -> String {
    let is_it = |field: &&str| {
        percent::form_decoded(field.split_once('=').map_or(*field, |(name, _)| name)) == name
    };
    let kept = fields.split('&').filter(|field| !is_it(field));
    let taken = other.split('&').filter(is_it);
    kept.chain(taken).collect::<Vec<_>>().join("&")
}

/// A request with another body in JSON.
fn rewritten(request: &Request, json: &Json) -> Request {
    with_body(request, json.to_string())
}

fn with_body(request: &Request, body: String) -> Request {
    let mut headers = request.headers.clone();
    headers.remove("content-encoding");
    Request { headers, body: body.into(), ..request.clone() }
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
