//! Answers of another status, of another media type, or that do not come to their end.

use std::collections::BTreeMap;

use retape::cassette::{Body, End, Interaction};
use retape::contract::Endpoint;
use serde_json::Value;

use super::super::edit::{ServerChange, answer, interaction, set_header};
use super::super::recorded::{said, whole};
use super::super::set::{At, Set, endpoint};

/// Which interactions each endpoint has, that has a body.
fn by_endpoint(set: &Set) -> BTreeMap<Endpoint, Vec<At>> {
    let mut sorted: BTreeMap<Endpoint, Vec<At>> = BTreeMap::new();
    for (at, one) in set.interactions() {
        let has_body = one.response().is_some_and(|it| !it.body.is_empty());
        if let Some(endpoint) = endpoint(one).filter(|_| has_body) {
            sorted.entry(endpoint).or_default().push(at);
        }
    }
    sorted
}

/// The same change of all answers of an endpoint, and of one.
fn changes(
    set: &Set,
    applies: impl Fn(&Endpoint) -> bool,
    what: &str,
    change: fn(&mut Interaction),
) -> Vec<ServerChange> {
    let mut made = Vec::new();
    for (endpoint, all) in by_endpoint(set).into_iter().filter(|(it, _)| applies(it)) {
        for (scope, places) in [("always", all.clone()), ("once", vec![all[all.len() / 2]])] {
            let edit = move |all: &mut _| {
                places.iter().for_each(|at| change(interaction(all, *at)));
            };
            made.push(ServerChange::new(format!("{what}, {scope}"), edit).at(&endpoint));
        }
    }
    made
}

fn is_success(endpoint: &Endpoint) -> bool {
    endpoint.status < 400
}

pub fn other_success(set: &Set) -> Vec<ServerChange> {
    changes(set, is_success, "status 203", |one| answer(one, |it| it.status = 203))
}

pub fn refused(set: &Set) -> Vec<ServerChange> {
    changes(set, is_success, "status 500", |one| {
        answer(one, |it| {
            it.status = 500;
            set_header(&mut it.headers, "content-type", "application/json");
            whole(it, r#"{"detail":"an error occurred"}"#.into());
        });
    })
}

pub fn other_refusal(set: &Set) -> Vec<ServerChange> {
    let is_refusal = |endpoint: &Endpoint| !is_success(endpoint);
    changes(set, is_refusal, "status 418", |one| answer(one, |it| it.status = 418))
}

pub fn page_for_json(set: &Set) -> Vec<ServerChange> {
    let is_json = |endpoint: &Endpoint| endpoint.media == "application/json";
    changes(set, is_json, "a page", |one| {
        answer(one, |it| {
            set_header(&mut it.headers, "content-type", "text/html");
            whole(it, "<!doctype html><title>It works</title>".into());
        });
    })
}

pub fn json_for_stream(set: &Set) -> Vec<ServerChange> {
    let is_stream = |endpoint: &Endpoint| endpoint.media == "text/event-stream";
    changes(set, is_stream, "one JSON list", |one| {
        let values = said(one).into_iter();
        let values = values.filter_map(|it| serde_json::from_str::<Value>(&it.data).ok());
        let list = Value::from_iter(values).to_string();
        answer(one, |it| {
            set_header(&mut it.headers, "content-type", "application/json");
            whole(it, list.into());
        });
    })
}

/// The connection is cut in the midst of the answer.
pub fn cut(set: &Set) -> Vec<ServerChange> {
    changes(set, is_success, "cut", |one| {
        answer(one, |it| {
            let all = it.body.bytes();
            it.body = Body::Whole(all.slice(..all.len() / 2));
            it.end = End::ServerClosed;
        });
    })
}
