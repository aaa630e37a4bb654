//! The control API, `/-/retape/…`: JSON about the sessions at this address.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::gateway::Gateway;
use crate::server::{Answer, full, problem};

const ROOT: &str = "/-/retape/";

/// What is asked of the control API, if the target is one of its.
pub(super) fn asked(target: &str) -> Option<&str> {
    target.strip_prefix(ROOT)
}

pub(super) fn answer(gateway: &Gateway, method: &Method, asked: &str) -> Answer {
    let (what, query) = asked.split_once('?').unwrap_or((asked, ""));
    match (what, method) {
        ("health", &Method::GET) => told(json!({
            "status": "ok",
            "version": env!("CARGO_PKG_VERSION"),
            "mode": gateway.mode().as_str(),
        })),
        ("sessions", &Method::GET) => {
            let session = |(session, cassette): (String, _)| json!({"session": session, "cassette": cassette});
            let sessions: Vec<Value> = gateway
                .sessions()
                .into_iter()
                .map(|(name, of)| session((name, of.to_string())))
                .collect();
            told(json!({"sessions": sessions}))
        }
        ("misses", &Method::GET) => {
            let misses: Vec<Value> = gateway.misses().iter().map(|miss| miss.to_json()).collect();
            told(json!({"misses": misses}))
        }
        ("unplayed", &Method::GET) => {
            let unplayed: Vec<Value> =
                gateway.unplayed().iter().map(|left| left.to_json()).collect();
            told(json!({"unplayed": unplayed}))
        }
        ("reset", &Method::POST) => {
            let session = query.split('&').find_map(|parameter| parameter.strip_prefix("session="));
            told(json!({"reset": gateway.reset(session)}))
        }
        _ => {
            let known = "GET health, sessions, misses, unplayed; POST reset[?session=NAME]";
            problem(
                StatusCode::NOT_FOUND,
                "control",
                &format!("not known here; known are: {known}"),
            )
        }
    }
}

fn told(value: Value) -> Answer {
    let mut answer = Response::new(full(value.to_string()));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
