//! Secrets in URLs, queries and forms.

use std::ops::Range;

use super::name::{self, Tells};
use super::rule::{Notes, Rule};
use super::{body, json, look, value};
use crate::cassette::splice::Edit;
use crate::text::form;
use crate::text::json::Places;
use crate::text::percent::{self, form_decoded};

/// What stands in the place of a URL's user information. It has to be a valid one.
const USER: &str = "redacted";

/// A shorter value says no name beside a secret.
const SHORTEST_TEXT: usize = 12;

/// What stands between a name and its value, as it may be spelled.
const MARKS: [&str; 8] = [":", "=", " ", "+", "%3A", "%3a", "%3D", "%20"];

/// So many URLs are read in one another.
const DEEPEST: usize = 3;

/// The edits for a URL or the part of one that a request names.
pub(super) fn find(url: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    find_at(url, 0, notes)
}

fn find_at(url: &str, depth: usize, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    if notes.applies(Rule::Userinfo)
        && let Some(range) = userinfo(url)
        && &url[range.clone()] != USER
    {
        let user = &url[range.clone()];
        let secret = user.split_once(':').map_or(user, |(_, password)| password);
        notes.note("userinfo", &percent::decoded(secret));
        edits.push(Edit::new(range, USER));
    }
    if notes.applies(Rule::Query)
        && let Some(start) = url.find(['?', '#'])
    {
        edits.extend(pairs_at(url, start + 1..url.len(), depth, notes));
    }
    edits
}

/// The edits for `name=value` pairs in a range of a text: a query, a fragment, a form.
pub(super) fn pairs(text: &str, range: Range<usize>, notes: &mut Notes<'_>) -> Vec<Edit> {
    pairs_at(text, range, 0, notes)
}

fn pairs_at(text: &str, range: Range<usize>, depth: usize, notes: &mut Notes<'_>) -> Vec<Edit> {
    let fields: Vec<form::FormField> = form::fields(text, range, &['&', '#', '?']).collect();
    // Alone it may be how often something was tried: `pass=2`.
    let mut names = fields.iter().map(|field| form_decoded(&text[field.name.clone()]));
    let is_login = notes.applies(Rule::Names) && names.any(|name| name::is_of_user(&name));
    let mut edits = Vec::new();
    let query = fields.iter().find(|field| &text[field.name.clone()] == "query");
    let query = query.and_then(|field| field.value.clone()).map(|it| form_decoded(&text[it]));
    for form::FormField { name, value } in fields {
        let Some(value) = value else {
            edits.extend(encoded_pairs(&text[name.clone()], (name.start, depth), notes));
            continue;
        };
        let name = &text[name];
        let is_password = is_login && name.eq_ignore_ascii_case("pass");
        match parameter(name, &text[value.clone()], is_password, notes) {
            Some(with) => edits.push(Edit::new(value, with)),
            None => {
                let query = query.as_deref().filter(|_| name == "variables");
                edits.extend(within(&text[value.clone()], (value.start, depth), query, notes));
            }
        }
    }
    edits
}

/// The edits for JSON that is the value of a parameter or a field, as GraphQL has its `variables` there, for a
/// URL that has parameters of its own, and for any other text.
fn within(
    spelled: &str,
    (offset, depth): (usize, usize),
    query: Option<&str>,
    notes: &mut Notes<'_>,
) -> Vec<Edit> {
    // Most values are told by their first character.
    let begins = ["{", "[", "%7B", "%7b", "%5B", "%5b", "+", "%20"];
    let is_json = begins.iter().any(|it| spelled.starts_with(it));
    let is_url = depth < DEEPEST && ["%3D", "%3d"].iter().any(|it| spelled.contains(it));
    if !is_url && depth < DEEPEST && is_encoded_again(spelled) && notes.applies(Rule::FurtherNested)
    {
        return within_encoded(spelled, (offset, depth), query, notes);
    }
    // Elsewhere a name and its value have to have room in it.
    let is_text = notes.applies(Rule::Texts)
        && spelled.len() > SHORTEST_TEXT
        && MARKS.iter().any(|it| spelled.contains(it));
    if !notes.applies(Rule::Nested) || !(is_json || is_url || is_text) {
        return Vec::new();
    }
    let places = Places::of_form_value(spelled, offset);
    let mut found = match str::from_utf8(&places.text) {
        Ok(url) if is_url && !is_json => find_at(url, depth + 1, notes),
        _ => body::find_in_json(&places.text, query, notes),
    };
    if found.is_empty() && is_text {
        found = body::find_in_text(&places.text, notes);
    }
    json::outside(&places, found).collect()
}

/// Whether the sign between a name and its value is encoded more than once.
fn is_encoded_again(spelled: &str) -> bool {
    ["%253D", "%253d", "%25253D", "%25253d"].iter().any(|it| spelled.contains(it))
}

/// The edits for a value that is encoded once more than one within a URL is.
fn within_encoded(
    spelled: &str,
    (offset, depth): (usize, usize),
    query: Option<&str>,
    notes: &mut Notes<'_>,
) -> Vec<Edit> {
    let places = Places::of_form_value(spelled, offset);
    let found = str::from_utf8(&places.text)
        .map_or_else(|_| Vec::new(), |text| within(text, (0, depth + 1), query, notes));
    json::outside(&places, found).collect()
}

/// What is known by its look in the values of a query or a form: there it is spelled otherwise than anywhere else.
pub(super) fn looks(text: &str, range: Range<usize>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    if !notes.applies(Rule::FurtherTexts) {
        return edits;
    }
    for value in form::fields(text, range, &['&', '#', '?']).filter_map(|field| field.value) {
        let spelled = &text[value.clone()];
        if spelled.len() > SHORTEST_TEXT && spelled.contains(['%', '+']) {
            let places = Places::of_form_value(spelled, value.start);
            let found = look::find(&places.text, notes);
            edits.extend(json::outside(&places, found));
        }
    }
    edits
}

/// The same for a request target.
pub(super) fn looks_in_target(target: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let query = target.find(['?', '#']);
    query.map_or_else(Vec::new, |start| looks(target, start + 1..target.len(), notes))
}

/// The edits for parameters of a URL in a parameter whose `?` is not encoded, as some clients write it:
/// `next=https://a.example/?access_token%3D…`.
fn encoded_pairs(
    spelled: &str,
    (offset, depth): (usize, usize),
    notes: &mut Notes<'_>,
) -> Vec<Edit> {
    let has_pairs = ["%3D", "%3d"].iter().any(|it| spelled.contains(it));
    if !has_pairs || depth >= DEEPEST || !notes.applies(Rule::Nested) {
        return Vec::new();
    }
    let places = Places::of_form_value(spelled, offset);
    let found = str::from_utf8(&places.text)
        .map_or_else(|_| Vec::new(), |text| pairs_at(text, 0..text.len(), depth + 1, notes));
    json::outside(&places, found).collect()
}

/// The part of a URL between `://` and the `@` of its authority.
pub(super) fn userinfo(url: &str) -> Option<Range<usize>> {
    let start = url.find("://")? + 3;
    let authority = &url[start..];
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let at = authority[..end].rfind('@')?;
    (at > 0).then_some(start..start + at)
}

/// Whether a parameter or a form field of that name and value is a secret.
pub(super) fn tells(name: &str, value: &str, notes: &Notes<'_>) -> bool {
    // What stands in the place of a secret is no name in brackets.
    let name = &*value::with_word(name, "x");
    // `user[password]`: the innermost name counts.
    let inner = name.trim_end_matches(']').rsplit('[').next().filter(|name| !name.is_empty());
    let composed = notes.applies(Rule::Names);
    let name = inner.filter(|_| composed).unwrap_or(name);
    let own = &notes.redactor.own;
    if own.is_query(name) || own.is_no_secret(name) {
        return true;
    }
    let tells = match name::parameter(name) {
        Tells::Nothing if composed => name::composed(name),
        tells => tells,
    };
    match tells {
        Tells::Secret | Tells::Secrets => true,
        Tells::Perhaps => notes.may_be_secret(name, value),
        Tells::Nothing | Tells::Holder => false,
    }
}

fn parameter(
    name: &str,
    spelled: &str,
    is_password: bool,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let name = form_decoded(name.strip_prefix("amp;").unwrap_or(name));
    let value = form_decoded(spelled);
    if !(is_password || tells(&name, &value, notes)) {
        return None;
    }
    let with = notes.replacement(&name, &value);
    if spelled == value::placeholder(&name) {
        return None;
    }
    // A client that sends a placeholder back encodes it.
    with.or_else(|| value::is_placeholder(&value).then(|| value.into_owned()))
}
