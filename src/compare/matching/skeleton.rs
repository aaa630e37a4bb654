//! What a request is once the values that the client made up are taken out.

use super::hash::{BODY, FORM, PART, PATH, QUERY, combine, hash_of, item, member};
use super::header::{self, fields};
use super::value::{Value, Values};
use crate::cassette::Request;
use crate::config::{Rules, Treatment};
use crate::identity::{Framed, Hole, Meaning, Origins};
use crate::text::json::Text;
use crate::text::multipart::{self, Part};
use crate::text::percent;

/// A request reduced to what must be equal, and the holes that may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// Equal for requests that are equal up to the holes. JSON counts as values: the order of
    /// members, white space and the spelling of numbers and strings do not matter; identifiers that
    /// the server issued are a part of it, so a wrong one is another skeleton.
    pub hash: u64,
    /// The client-minted identifiers, in an order that depends on their places only.
    pub holes: Vec<Hole>,
    /// The marks in the header, which need not be there again.
    pub marks: Vec<Hole>,
    /// Which attempt at the same call it is, counted from 0, if the client says so.
    pub attempt: Option<u32>,
}

impl Skeleton {
    /// Reduces a request, given what the server issued in the cassette that it may match, and what
    /// rules say.
    pub fn of(request: &Request, origins: &Origins, rules: &Rules) -> Self {
        Reduced::of(request, origins, rules, None).skeleton
    }
}

/// A request that was reduced, and what counted of its parts.
pub(super) struct Reduced {
    pub(super) skeleton: Skeleton,
    pub(super) header: u64,
    pub(super) body: u64,
    /// Where the identifiers in it stand.
    pub(super) stood: Vec<Framed>,
}

impl Reduced {
    /// Reduces a request. What counts of its body may be known already.
    pub(super) fn of(
        request: &Request,
        origins: &Origins,
        rules: &Rules,
        body: Option<u64>,
    ) -> Self {
        let mut values = Values::new(origins, rules);
        let body = body.unwrap_or_else(|| values.body(request));
        let path = values.path(request.path_only());
        let query = values.query(request.query().unwrap_or(""));
        let header = values.headers(fields(&request.headers), !request.body.is_empty());
        let hash = combine(&[hash_of(&request.method), path, query, header, body]);
        let mut holes = values.holes;
        holes.sort_by_key(|hole| hole.place);
        let attempt = header::attempt(fields(&request.headers));
        let marks = header::marks(&request.headers, origins.shapes());
        let stood = values.stood;
        Self { skeleton: Skeleton { hash, holes, marks, attempt }, header, body, stood }
    }
}

/// What counts of one part of a multipart body.
pub(super) fn hash_of_part(part: &Part<'_>, origins: &Origins, rules: &Rules) -> u64 {
    Values::new(origins, rules).part(part)
}

/// Where the fields of a query or a form belong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    Query,
    Form,
}

impl Values<'_> {
    fn path(&mut self, path: &str) -> u64 {
        match self.rules.of_path() {
            Some(Treatment::Ignore) => return combine(&[PATH]),
            Some(treatment @ (Treatment::Pattern(_) | Treatment::NotId)) => {
                return self
                    .text(Value::at(PATH).treated(Some(treatment)), &percent::decoded(path));
            }
            _ => {}
        }
        path.split('/').enumerate().fold(PATH, |hash, (index, segment)| {
            let place = item(PATH, index as u64);
            combine(&[hash, self.words(place, &percent::decoded(segment))])
        })
    }

    fn query(&mut self, query: &str) -> u64 {
        self.fields(query, Fields::Query)
    }

    /// Fields as a multiset.
    fn fields(&mut self, fields: &str, kind: Fields) -> u64 {
        let root = if kind == Fields::Query { QUERY } else { FORM };
        let mut sum = root;
        for field in fields.split('&').filter(|field| !field.is_empty()) {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let (name, value) = (percent::form_decoded(name), percent::form_decoded(value));
            let treatment = match kind {
                Fields::Query => self.rules.of_query(&name),
                Fields::Form => self.rules.of_form(&name),
            };
            if treatment == Some(Treatment::Ignore) {
                continue;
            }
            let meaning = match (kind, Meaning::of(&name)) {
                (Fields::Query, Meaning::Identity) => Meaning::Plain,
                (_, meaning) => meaning,
            };
            let key = hash_of(&*name);
            let place = Value::at(member(root, key)).named(&name, meaning).treated(treatment);
            sum = sum.wrapping_add(combine(&[key, self.text(place, &value)]));
        }
        sum
    }

    fn body(&mut self, request: &Request) -> u64 {
        let body = request.readable();
        let media_type = request.headers.get("content-type").unwrap_or("");
        if let Some(parts) = multipart::parts(media_type, &body) {
            return parts.iter().fold(PART, |sum, part| sum.wrapping_add(self.part(part)));
        }
        self.content(Value::at(BODY), media_type, &body)
    }

    /// A part of a multipart body. Where it stands among the others does not count.
    fn part(&mut self, part: &Part<'_>) -> u64 {
        let name = part.name.as_deref().unwrap_or("");
        let treatment = self.rules.of_part(name);
        if treatment == Some(Treatment::Ignore) {
            return 0;
        }
        let key = hash_of(name);
        let place = member(PART, key);
        let file = part.filename.as_deref();
        let file = file.map(|file| {
            let treatment = self.rules.of_filename(name);
            self.text(Value::at(member(place, PART)).treated(treatment), file)
        });
        let holes = self.holes.len();
        let value = Value::at(place).named(name, Meaning::of(name)).treated(treatment);
        let content = self.content(value, part.content_type.unwrap_or(""), part.body);
        // The holes of JSON in a part have their places by the body; this one is not the only one.
        for hole in &mut self.holes[holes..] {
            hole.place = combine(&[place, hole.place]);
        }
        combine(&[key, file.unwrap_or(0), content])
    }

    fn content(&mut self, value: Value<'_>, media_type: &str, content: &[u8]) -> u64 {
        if value.treatment.is_none()
            && let Some(json) = Text::parse_container(content)
        {
            return self.json(json);
        }
        let Ok(text) = std::str::from_utf8(content) else { return hash_of(content) };
        let is_form = media_type.trim_start().starts_with("application/x-www-form-urlencoded");
        if is_form { self.fields(text, Fields::Form) } else { self.text(value, text) }
    }
}
