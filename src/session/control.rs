//! The control API, `/-/retape/…`: JSON about the sessions at this address.

use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::event::Miss;
use super::gateway::Gateway;
use super::hub::Hub;
use super::misses;
use crate::cassette::Name;
use crate::error::Result;
use crate::serve::recorder::Course;
use crate::serve::server::{Answer, ServerPlace, full, problem};
use crate::store::mode::Mode;
use crate::text::{form, nearest, percent};

const ROOT: &str = "/-/retape/";

/// What is asked of the control API, if the target is one of its.
pub(super) fn asked(target: &str) -> Option<&str> {
    target.strip_prefix(ROOT)
}

/// The field without which nothing is changed: a page cannot send it to another host.
const CONTROL: HeaderName = HeaderName::from_static("x-retape");

pub(super) async fn answer(hub: &Hub, head: &Parts, body: Incoming, asked: &str) -> Answer {
    let (what, query) = asked.split_once('?').unwrap_or((asked, ""));
    let query: Vec<_> = form::pairs(query)
        .map(|(name, value)| (percent::form_decoded(name), percent::form_decoded(value)))
        .collect();
    let parameter = |name| query.iter().find(|it| it.0 == name).map(|(_, value)| &**value);
    let session = parameter("session");
    let known: &[&str] = match what {
        "sessions" | "misses" | "unplayed" | "unanswered" | "interactions" => &["session"],
        "reset" => &["session", "misses"],
        "route" => &["session", "to"],
        "finish" => &["session", "save"],
        _ => &[],
    };
    if let Some((unknown, _)) = query.iter().find(|(name, _)| !known.contains(&&**name)) {
        return refused(StatusCode::BAD_REQUEST, &unknown_parameter(what, unknown, known));
    }
    if head.method == Method::POST && !head.headers.contains_key(CONTROL) {
        let message = "what changes something has the header field `x-retape: 1`, which no page of \
                       another host can send";
        return refused(StatusCode::FORBIDDEN, message);
    }
    match (what, &head.method) {
        ("open", &Method::POST) => match body.collect().await {
            Ok(body) => told_or_refused(hub.open(&body.to_bytes()).await.map(|(session, mode)| {
                let address =
                    ServerPlace { session: &session, ..ServerPlace::of(&head.headers) }.address();
                json!({"session": session, "url": address, "mode": mode.as_str()})
            })),
            Err(_) => refused(StatusCode::BAD_REQUEST, "the request was cut short"),
        },
        ("route", &Method::POST) => {
            let routed = hub.route(session.unwrap_or_default(), parameter("to"));
            told_or_refused(routed.map(|()| json!({"routed": session})))
        }
        ("finish", &Method::POST) => {
            let course = match parameter("save") {
                Some("no") => Course::Discarded,
                None | Some("yes") => Course::Whole,
                Some(_) => return refused(StatusCode::BAD_REQUEST, "`save` can be `yes` or `no`"),
            };
            let Ok(changes) = body.collect().await else {
                return refused(StatusCode::BAD_REQUEST, "the request was cut short");
            };
            let session = session.unwrap_or_default();
            told_or_refused(hub.finish(session, course, &changes.to_bytes()).await)
        }
        ("idle-rules", &Method::GET) => told(json!({"idle_rules": hub.idle_rules()})),
        _ => {
            let misses = parameter("misses");
            match session.and_then(|session| hub.opened(session)) {
                // It is the only session there.
                Some(opened) => {
                    load(&opened).await;
                    known_of(&opened, &head.method, (what, None, misses))
                }
                None => known_of(&hub.main, &head.method, (what, session, misses)),
            }
        }
    }
}

/// Loads the default cassette, if it is there to be played.
async fn load(gateway: &Gateway) {
    let name = &gateway.settings.cassette;
    if gateway.plan() == Mode::Replay && gateway.settings.exists(name) {
        // What is wrong with it, the first request is told.
        let _ = gateway.slot_of("", name.clone()).track(gateway).await;
    }
}

/// What is known of the sessions of a gateway.
fn known_of(
    gateway: &Gateway,
    method: &Method,
    (what, session, cleared): (&str, Option<&str>, Option<&str>),
) -> Answer {
    match (what, method) {
        ("health", &Method::GET) => told(json!({
            "status": "ok",
            "version": env!("CARGO_PKG_VERSION"),
            "mode": gateway.mode().as_str(),
        })),
        ("sessions", &Method::GET) => sessions(gateway, session),
        ("misses", &Method::GET) => misses(gateway, session),
        ("interactions", &Method::GET) if session.is_none() => {
            told(json!({"interactions": gateway.interactions()}))
        }
        ("unanswered", &Method::GET) if session.is_none() => {
            told(json!({"unanswered": gateway.unanswered()}))
        }
        ("unplayed", &Method::GET) => unplayed(gateway, session),
        ("reset", &Method::POST) => reset(gateway, session, cleared),
        _ => {
            let known = "GET health, idle-rules; GET sessions, misses, unplayed, unanswered, each with \
                         ?session=NAME or without; POST reset[?session=NAME][&misses=clear]; POST open; \
                         POST route?session=NAME&to=NAME; POST finish?session=NAME[&save=no]";
            refused(StatusCode::NOT_FOUND, &format!("not known here; known are: {known}"))
        }
    }
}

/// All sessions, or one with what it is at.
fn sessions(gateway: &Gateway, session: Option<&str>) -> Answer {
    let Some(session) = session else {
        let short =
            |(session, of): (String, Name)| json!({"session": session, "cassette": of.as_str()});
        let sessions: Vec<Value> = gateway.sessions().into_iter().map(short).collect();
        return told(json!({"sessions": sessions}));
    };
    match gateway.inspect(session) {
        Some(inspected) => told(inspected),
        None => no_session(),
    }
}

/// What was recorded and not asked for. Of a session that nobody knows, all was not.
fn unplayed(gateway: &Gateway, session: Option<&str>) -> Answer {
    if session.is_some_and(|session| gateway.inspect(session).is_none()) {
        return no_session();
    }
    let all = gateway.unplayed();
    let chosen = all
        .iter()
        .filter(|left| session.is_none_or(|session| misses::is_same(&left.session, session)));
    let unplayed: Vec<Value> = chosen.map(|left| left.to_json()).collect();
    told(json!({"unplayed": unplayed}))
}

fn no_session() -> Answer {
    let message = "no request was made in a session of that name; \
                   `GET /-/retape/sessions` lists those there are";
    refused(StatusCode::NOT_FOUND, message)
}

fn misses(gateway: &Gateway, session: Option<&str>) -> Answer {
    let misses = match session {
        Some(session) => gateway.misses().of(session),
        None => gateway.misses().all(),
    };
    let misses: Vec<Value> = misses.iter().map(Miss::to_json).collect();
    told(json!({"misses": misses}))
}

/// Lets runs begin anew. What was missed decides the exit status all the same, unless it is said to
/// be forgotten.
fn reset(gateway: &Gateway, session: Option<&str>, misses: Option<&str>) -> Answer {
    let cleared = match misses {
        None => None,
        Some("clear") => Some(gateway.misses().clear(session)),
        Some(_) => return refused(StatusCode::BAD_REQUEST, "`misses` can be `clear` only"),
    };
    let mut done = json!({"reset": gateway.reset(session)});
    if let Some(cleared) = cleared {
        done["misses_cleared"] = cleared.into();
    }
    told(done)
}

/// A misspelt name would otherwise mean all sessions.
fn unknown_parameter(what: &str, name: &str, known: &[&str]) -> String {
    let hint = match known {
        [] => "there is none".to_owned(),
        known => nearest::hint(name, known),
    };
    format!("`{what}` has no parameter `{name}`; {hint}")
}

/// What was done, or why it could not be.
fn told_or_refused(done: Result<Value>) -> Answer {
    done.map_or_else(|error| refused(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:?}")), told)
}

fn refused(status: StatusCode, message: &str) -> Answer {
    problem(status, "control", message)
}

fn told(value: Value) -> Answer {
    let mut answer = Response::new(full(value.to_string()));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
