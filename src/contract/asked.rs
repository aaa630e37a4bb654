//! What a client says beside the body of its request, as JSON.

use std::borrow::Cow;

use super::Endpoint;
use crate::cassette::{Media, Request, target};
use crate::text::json::{Container, Text};
use crate::text::{form, multipart, percent};

/// The fields of a form, in one piece or in parts, or of the query of a request without a body.
pub(super) fn fields(request: &Request) -> Option<String> {
    let body = request.readable();
    if body.is_empty() {
        return request.query().map(form::json);
    }
    let is_form = Media::of_headers(&request.headers) == Media::Form;
    let form = std::str::from_utf8(&body).ok().filter(|_| is_form).map(form::json);
    form.or_else(|| {
        let parts = multipart::parts(request.headers.get("content-type")?, &body)?;
        // What is in a file is content.
        let texts = parts.into_iter().filter(|part| part.filename.is_none());
        Some(form::object(texts.filter_map(|part| {
            Some((part.name?, Cow::from(std::str::from_utf8(part.body).ok()?)))
        })))
    })
}

/// What stands in the open places of a path, by their names in the endpoint, `"{agent_id}":"agent-1"`: the members
/// of an object. What stands before an ending of letters is one by itself: `"{item}.json":"17"`. Nothing if no place is
/// open.
pub(super) fn parameters(endpoint: &Endpoint, path: &str) -> Option<String> {
    let (_, template) = target::split(&endpoint.path);
    let (_, path) = target::split(path);
    let segments = template.split('/').zip(path.split('/'));
    let open = segments.filter(|(name, _)| name.starts_with('{') && name.ends_with('}'));
    let members = open.flat_map(|(name, segment)| {
        let segment = percent::decoded(segment);
        let member = |name: &str, says: &str| {
            format!("{}:{}", serde_json::Value::from(name), serde_json::Value::from(says))
        };
        let whole = member(name, &segment);
        let before =
            ending(&segment).map(|at| member(&format!("{name}{}", &segment[at..]), &segment[..at]));
        [Some(whole), before].into_iter().flatten()
    });
    let members: Vec<String> = members.collect();
    (!members.is_empty()).then(|| members.join(","))
}

/// Where a segment ends in what it is written in, or what is to be done: `17.json`, `op-9:cancel`.
fn ending(segment: &str) -> Option<usize> {
    let at = segment.rfind(['.', ':']).filter(|at| *at > 0)?;
    let letters = &segment[at + 1..];
    (!letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_lowercase())).then_some(at)
}

/// What a client says, with what stands in the open places of its path. What is a list, or nothing but a value, has
/// no room for these.
pub(super) fn with_parameters<'s>(
    said: Option<&'s str>,
    parameters: Option<&str>,
) -> Option<Cow<'s, str>> {
    let Some(parameters) = parameters else { return said.map(Cow::Borrowed) };
    let Some(said) = said else { return Some(format!("{{{parameters}}}").into()) };
    let json = Text::known(said);
    let inside = said.trim_start().strip_prefix('{');
    let Some(inside) = inside.filter(|_| json.container() == Some(Container::Object)) else {
        return Some(Cow::Borrowed(said));
    };
    let comma = if json.members().next().is_some() { "," } else { "" };
    Some(format!("{{{parameters}{comma}{inside}").into())
}

/// Whether what a client says, as JSON, has a word or a JSON text as a value. What a member is called is not said.
pub(super) fn says(said: &str, word: &str) -> bool {
    let mut behind = said.match_indices(word).map(|(at, _)| &said[at + word.len()..]);
    behind.any(|rest| !rest.trim_start_matches('"').trim_start().starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_open_places_is_said_too() {
        let endpoint =
            Endpoint { path: "/v1/agents/{agent_id}/runs/{id}".into(), ..Endpoint::default() };

        let parameters = parameters(&endpoint, "/v1/agents/agent%2D7/runs/9");
        let with = |said| with_parameters(said, parameters.as_deref());

        let own = r#""{agent_id}":"agent-7","{id}":"9""#;
        assert_eq!(with(None).unwrap(), format!("{{{own}}}"));
        assert_eq!(with(Some("{}")).unwrap(), format!("{{{own}}}"));
        assert_eq!(with(Some(r#"{"a":1}"#)).unwrap(), format!(r#"{{{own},"a":1}}"#));
        assert_eq!(with(Some("[1]")).unwrap(), "[1]");
        assert_eq!(with_parameters(Some("{}"), None).unwrap(), "{}");

        let endpoint = Endpoint { path: "/v0/item/{item}".into(), ..Endpoint::default() };
        let parameters = super::parameters(&endpoint, "/v0/item/17.json").unwrap();
        assert_eq!(parameters, r#""{item}":"17.json","{item}.json":"17""#);
    }
}
