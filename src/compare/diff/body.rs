//! Two bodies, by what they are.

use super::parameters::{Parameter, compare, parameters};
use super::{Differences, Mask, Place, Sort, Value, compare as values};
use crate::cassette::Request;
use crate::text::json::Text;
use crate::text::multipart::{self, Part};

/// Compares the bodies of two requests: JSON by its fields, forms by their parameters, other texts
/// and bytes as wholes.
pub(super) fn bodies(recorded: &Request, asked: &Request, mask: Mask<'_>, found: &mut Differences) {
    let (old, new) = (recorded.readable(), asked.readable());
    if old == new {
        return;
    }
    if let (Some(old), Some(new)) = (Text::parse_container(&old), Text::parse_container(&new)) {
        return values::json(old, new, mask, found);
    }
    if let (Some(old), Some(new)) = (parts(recorded, &old), parts(asked, &new)) {
        return compare(old, new, Place::Part, mask, found);
    }
    if let (Some(old), Some(new)) = (form(recorded, &old), form(asked, &new)) {
        return compare(old, new, Place::Form, mask, found);
    }
    match (old.is_empty(), new.is_empty()) {
        (true, _) => found.extra(Place::Body, whole(&new, &old)),
        (_, true) => found.missing(Place::Body, whole(&old, &new)),
        _ => texts(whole(&old, &new), whole(&new, &old), mask, found),
    }
}

fn texts(old: Value, new: Value, mask: Mask<'_>, found: &mut Differences) {
    let masked = |value: &Value| value.said().map(|said| mask(&said).into_owned());
    let sort = match (masked(&old), masked(&new)) {
        (Some(one), Some(other)) if one == other => Sort::Renamed,
        _ => Sort::Changed,
    };
    found.changed(Place::Body, old, new, sort);
}

fn whole(bytes: &[u8], other: &[u8]) -> Value {
    if let Some(json) = Text::parse_container(bytes) {
        return Value::json(json);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Value::text(text),
        _ => {
            let differs_at = bytes.iter().zip(other).take_while(|(one, other)| one == other);
            Value::Binary { length: bytes.len(), differs_at: differs_at.count() }
        }
    }
}

/// The parts of a multipart body, if it is one.
fn parts(request: &Request, body: &[u8]) -> Option<Vec<Parameter>> {
    let parts = multipart::parts(request.headers.get("content-type")?, body)?;
    Some(parts.iter().enumerate().flat_map(fields).collect())
}

/// The parameters of a form, if it is one.
fn form(request: &Request, body: &[u8]) -> Option<Vec<Parameter>> {
    let content_type = request.headers.get("content-type")?;
    let media_type = content_type.split(';').next().unwrap_or("").trim();
    let is_form = media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    std::str::from_utf8(body).ok().filter(|_| is_form).map(parameters)
}

/// What a part holds, and what it says of it. A part without a name is called by its number.
fn fields((number, part): (usize, &Part<'_>)) -> Vec<Parameter> {
    let name = part.name.as_deref().map_or_else(|| (number + 1).to_string(), str::to_owned);
    let filename = part.filename.as_deref().map(|is| (format!("{name}.filename"), Value::text(is)));
    let media_type = part.content_type.map(|is| (format!("{name}.content-type"), Value::text(is)));
    let content = (name, whole(part.body, b""));
    [Some(content), filename, media_type].into_iter().flatten().collect()
}
