//! What a test runner makes of a request before it is compared.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::gateway::Gateway;
use super::inspect;
use super::track::{self, Played, Track, Unanswered, Whole};
use crate::serve::recorder::RequestBody;
use crate::serve::replayer::Compared;
use crate::serve::server::{Answer, Arrival, ServerPlace, header_map};

/// Where a function of a test runner is asked what counts in a request.
///
/// # Rationale
///
/// A connection for each request, with a line of JSON there and a line back: a test runner in any language
/// answers that in a few lines, and two requests never wait for each other.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    address: SocketAddr,
    /// Which of several functions is meant.
    name: String,
}

/// A request as it is to be compared.
#[derive(Debug)]
pub(super) struct Hooked {
    head: Parts,
    target: String,
    body: Bytes,
}

impl Hook {
    /// The hook of that name at `127.0.0.1:40123/NAME`, if that is an address of this machine.
    pub(super) fn new(address: &str) -> Option<Self> {
        let (address, name) = address.split_once('/').unwrap_or((address, ""));
        let address: SocketAddr = address.parse().ok()?;
        address.ip().is_loopback().then(|| Self { address, name: name.to_owned() })
    }

    /// The request that is to be compared in the place of this one; nothing if none is, and it goes to the
    /// live server. A hook that does not answer changes nothing: what it reports of itself, it reports to
    /// the test.
    pub(super) async fn hooked(&self, asked: &Whole<'_>) -> Option<Hooked> {
        let request = asked.arrival.request(asked.body.clone());
        let line = json!({
            "hook": self.name,
            "method": request.method,
            "url": request.path,
            "headers": inspect::fields(&request.headers),
            "body": BASE64.encode(&request.body),
        });
        match self.ask(&line.to_string()).await {
            Some(Value::Null) => None,
            Some(Value::Object(changed)) => Some(Hooked::of(&changed, asked)),
            _ => Some(Hooked::of(&Map::new(), asked)),
        }
    }

    async fn ask(&self, line: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        stream.write_all(format!("{line}\n").as_bytes()).await.ok()?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await.ok()?;
        serde_json::from_str(&answer).ok()
    }
}

impl Gateway {
    /// What a track answers, to a request as the hook of a test runner makes it.
    pub(super) async fn answer(
        &self,
        track: &Track,
        arrival: Arrival<'_>,
        asked: RequestBody,
    ) -> Result<(Answer, Option<Played>), Unanswered> {
        let settings = &self.settings;
        let is_plain = settings.given.hook.is_none() && settings.given.compared.is_none();
        if is_plain || track.replayer().is_none() || matches!(asked, RequestBody::Upgrade(_)) {
            return track.answer(arrival, asked).await;
        }
        let answer = Box::pin(self.answer_hooked(track, arrival, asked)).await?;
        Ok((answer, None))
    }

    async fn answer_hooked(
        &self,
        track: &Track,
        arrival: Arrival<'_>,
        asked: RequestBody,
    ) -> Result<Answer, Unanswered> {
        let settings = &self.settings;
        let silence = track.silence().filter(|_| self.untouched.is_none());
        let Some(body) = track::read(asked, silence).await else {
            return Ok(track::abandoned());
        };
        let sent = Whole { arrival, body };
        let hooked = match &settings.given.hook {
            Some(hook) => hook.hooked(&sent).await,
            None => settings.given.compared.as_ref().map(|compared| Hooked::by(compared, &sent)),
        };
        match (hooked, &self.untouched) {
            (Some(hooked), _) => track.answer_as(hooked.whole(arrival.place), sent).await,
            (None, Some(live)) => {
                self.note_passed();
                Ok(live.ask_whole(sent).await)
            }
            (None, None) => Ok(track::abandoned()),
        }
    }
}

impl Hooked {
    /// As a function of the test leaves it.
    fn by(compared: &Compared, asked: &Whole<'_>) -> Self {
        let mut request = asked.arrival.request(asked.body.clone());
        (compared.0)(&mut request);
        let headers = header_map(&request.headers);
        Self::new(asked, &request.method, Some(headers), request.path, request.body)
    }

    /// What is not said, or is not as HTTP has it, stays as it was.
    fn of(changed: &Map<String, Value>, asked: &Whole<'_>) -> Self {
        let text = |name: &str| changed.get(name).and_then(Value::as_str);
        let pair = |pair: &Value| {
            Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()))
        };
        let headers = changed.get("headers").and_then(Value::as_array);
        let headers = headers.map(|fields| header_map(&fields.iter().filter_map(pair).collect()));
        let body = text("body").and_then(|it| BASE64.decode(it).ok()).map(Bytes::from);
        let target = text("url").unwrap_or(asked.arrival.target).to_owned();
        let body = body.unwrap_or_else(|| asked.body.clone());
        Self::new(asked, text("method").unwrap_or_default(), headers, target, body)
    }

    fn new(
        asked: &Whole<'_>,
        method: &str,
        headers: Option<HeaderMap>,
        target: String,
        body: Bytes,
    ) -> Self {
        let mut head = asked.arrival.head.clone();
        if let Ok(method) = Method::from_bytes(method.as_bytes()) {
            head.method = method;
        }
        if let Some(headers) = headers {
            head.headers = headers;
        }
        Self { head, target, body }
    }

    pub(super) fn whole<'h>(&'h self, place: ServerPlace<'h>) -> Whole<'h> {
        let arrival = Arrival { head: &self.head, target: &self.target, place };
        Whole { arrival, body: self.body.clone() }
    }
}
