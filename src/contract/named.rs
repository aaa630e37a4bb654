//! Names of things in paths that are no identifiers by their look.

use std::collections::{HashMap, HashSet};

use super::paths::is_code;
use crate::cassette::{Cassette, Interaction, Outcome};
use crate::identity::{Below, Words};
use crate::text::date::fits;
use crate::text::json::Text;

/// The segments of paths of which a cassette shows that they name something: those that look drawn by lot, and that the
/// server had said before (`run` and `/runs/3fa9c1/steps`), and those that clients gave to what they made.
pub(super) fn named(cassette: &Cassette) -> HashSet<String> {
    let mut named = given(&cassette.interactions);
    named.extend(made(&cassette.interactions));
    named
}

/// The codes that the server had said in quotes before. A date alone may be the version of an interface.
fn given(interactions: &[Interaction]) -> HashSet<String> {
    let is_given = |segment: &str| is_code(segment) && !fits(segment.as_bytes(), "0000-00-00");
    let paths = interactions.iter().map(|it| it.request.path_only()).enumerate();
    let segments = paths.flat_map(|(number, path)| path.split('/').map(move |it| (it, number)));
    let last: HashMap<&str, usize> = segments.filter(|(segment, _)| is_given(segment)).collect();
    if last.is_empty() {
        return HashSet::new();
    }
    let words = Words::of(last.keys().copied());
    let mut given = HashSet::new();
    for (number, response) in interactions.iter().map(Interaction::response).enumerate() {
        let Some(body) = response.map(|it| it.readable().bytes()) else { continue };
        let text = String::from_utf8_lossy(&body);
        let is_quote = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)) == Some(&b'"');
        let quoted = words
            .find(&text)
            .filter(|at| is_quote(at.start.checked_sub(1)) && is_quote(Some(at.end)));
        let codes = quoted.map(|at| &text[at]).filter(|code| last[code] > number);
        given.extend(codes.map(str::to_owned));
    }
    given
}

/// What clients have called the things that a `POST` made: `{"name": "fox-kjznb"}`, and `/pods/fox-kjznb` later. The
/// answer says it in the same field. Where the status is not 201, another answer there does, too: a word of the
/// interface may be an option as well (`{"mode": "stream"}`, `/chat/stream`).
fn made(interactions: &[Interaction]) -> HashSet<String> {
    let mut below = Below::default();
    interactions.iter().for_each(|it| below.note(it.request.path_only()));
    let (mut made, mut said_before) = (HashSet::new(), HashMap::<&str, HashSet<NamedField>>::new());
    for Interaction { request, outcome, .. } in interactions {
        let Outcome::Response(response) = outcome else { continue };
        let path = request.path_only();
        let path = path.strip_suffix('/').unwrap_or(path);
        let told_of = |names: &HashSet<String>| said(&response.readable().bytes(), names);
        for above in above(path).chain([path]) {
            let Some(before) = said_before.get(above) else { continue };
            let names = before.iter().map(|(_, name)| name.clone()).collect();
            let again = told_of(&names).into_iter().filter(|it| before.contains(it));
            made.extend(again.map(|(_, name)| name));
        }
        let is_made = matches!(response.status, 200..=299);
        let Some(names) = below.names(request).filter(|_| is_made) else { continue };
        let mut both = said(&request.readable(), names);
        if !both.is_empty() {
            let answered = told_of(names);
            both.retain(|it| answered.contains(it));
        }
        if response.status == 201 {
            made.extend(both.into_iter().map(|(_, name)| name));
        } else if !both.is_empty() {
            said_before.entry(path).or_default().extend(both);
        }
    }
    made
}

/// The paths above a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter(|(at, _)| *at > 0).map(|(at, _)| &path[..at])
}

/// A field, and the name that it says.
type NamedField = (String, String);

/// Which of the names a JSON text says, and in which fields.
fn said(body: &[u8], names: &HashSet<String>) -> Vec<NamedField> {
    let mut said = Vec::new();
    if let Some(json) = str::from_utf8(body).ok().and_then(Text::read) {
        json.each_leaf(|_, field, value, spelled| {
            if spelled.len() > "\"\"".len() && spelled.starts_with('"') && names.contains(&*value) {
                said.push((field.into_owned(), value.into_owned()));
            }
        });
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::{Body, Request, Response};

    fn asked(method: &str, path: &str, said: &str, status: u16, answer: &str) -> Interaction {
        let request = Request { body: said.to_owned().into(), ..Request::of(method, path) };
        let body = Body::Whole(answer.to_owned().into());
        let response = Response { body, ..Response::of(status) };
        Interaction::of(request, response)
    }

    fn check(interactions: &[Interaction], expected: &[&str]) {
        let named = named(&Cassette { interactions: interactions.to_vec(), ..Cassette::default() });
        assert_eq!(named, expected.iter().map(|it| (*it).to_owned()).collect());
    }

    #[test]
    fn what_a_client_calls_the_things_that_it_makes_is_a_name() {
        let pod = r#"{"metadata":{"name":"fox-kjznb"}}"#;
        let post = |status| asked("POST", "/v1/pods", pod, status, pod);
        let gone = asked("DELETE", "/v1/pods/fox-kjznb", "", 204, "");

        check(&[post(201), gone.clone()], &["fox-kjznb"]);
        check(&[post(200), gone.clone()], &[]);
        check(&[post(409), gone.clone()], &[]);
        check(&[post(200), asked("GET", "/v1/pods/fox-kjznb", "", 200, pod)], &["fox-kjznb"]);
        check(&[post(200), asked("GET", "/v1/pods", "", 200, pod), gone.clone()], &["fox-kjznb"]);
        // Another field, another path, and an option that is called as a part of the interface.
        let other = r#"{"kind":"fox-kjznb"}"#;
        check(&[asked("POST", "/v1/pods", pod, 201, other), gone.clone()], &[]);
        check(&[asked("POST", "/v1/jobs", pod, 201, pod), gone], &[]);
        let nothing = r#"{"name":""}"#;
        let unnamed = asked("POST", "/v1/pods", nothing, 201, nothing);
        check(&[unnamed, asked("GET", "/v1/pods/", "", 200, "[]")], &[]);
        let chat = r#"{"mode":"stream"}"#;
        let option = asked("POST", "/chat", chat, 200, chat);
        check(&[option, asked("POST", "/chat/stream", "{}", 200, "{}")], &[]);
    }

    #[test]
    fn a_code_that_the_server_said_before_is_a_name() {
        let told = asked("GET", "/last", "", 200, r#"{"run":"3fa9c1"}"#);
        let used = asked("GET", "/runs/3fa9c1/steps", "", 200, "[]");

        check(&[told.clone(), used.clone()], &["3fa9c1"]);
        check(&[used.clone(), told], &[]);
        check(&[asked("GET", "/last", "", 200, r#"{"text":"on 3fa9c1"}"#), used], &[]);
    }
}
