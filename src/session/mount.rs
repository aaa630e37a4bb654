//! A cassette on a `wiremock::MockServer`, for tests that have one already.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::cassette::{Body, Cassette, End, Outcome};
use crate::error::{Error, Kind, Result};
use crate::review::report::{self, Rerun};
use crate::serve::lock;
use crate::serve::replayer::{MISS, Recorded, Replayer, SHOULD_RETRY};
use crate::serve::server::{Answer, Arrival, OURS, ServerPlace};
use crate::store;

/// Lets a mock server answer from a cassette, given by the path of its file.
///
/// The cassette is asked last: mocks that the test mounts itself go first, unless they are given the
/// lowest priority (255) as well. A request that nothing recorded answers gets status 470 with an
/// explanation, and makes [`Mounted::finish`] fail.
///
/// A mock server sends each body in one piece, without trailers, and ends every answer well. A
/// cassette that needs more than that is refused: serve it with a [`Session`](crate::Session).
///
/// What the nearest `retape.toml` above the file says about matching holds here as well.
///
/// # Errors
///
/// If the cassette or `retape.toml` cannot be read, or the cassette needs streaming, trailers or a cut answer.
///
/// # Example: replay what was recorded, on a server that the test has already
///
/// ```
/// # use std::error::Error;
/// use retape::{Mode, Session};
/// use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// // A live server is recorded once …
/// let live = MockServer::start().await;
/// Mock::given(path("/v1/health")).respond_with(ResponseTemplate::new(200)).mount(&live).await;
/// let session =
///     Session::builder("health").cassettes(folder).upstream(live.uri()).mode(Mode::Record).start().await?;
/// reqwest::get(format!("{}/v1/health", session.url())).await?;
/// session.finish().await?;
///
/// // … and later its answers come from the cassette.
/// let server = MockServer::start().await;
/// let mounted = retape::mount(&server, folder.join("health.json")).await?;
/// let answer = reqwest::get(format!("{}/v1/health", server.uri())).await?;
/// assert_eq!(answer.status(), 200);
/// mounted.finish()?;
/// # Ok(())
/// # }
/// ```
pub async fn mount(server: &MockServer, file: impl AsRef<Path>) -> Result<Mounted> {
    let file = file.as_ref();
    let cassette = store::load_file(file)?;
    refuse(&cassette).map_err(|error| error.at_file(file))?;
    let name = name_of(file);
    let rules = store::find_config(file.parent().unwrap_or(Path::new("")))?.rules(&name);
    let recorded = Recorded::new(cassette, &rules).map_err(|error| error.at_file(file))?;
    let recorded = Arc::new(recorded);
    let player = Player { name, replayer: Replayer::new(recorded, None), misses: Mutex::default() };
    let mounted = Mounted { player: Arc::new(player) };
    let responder = Responder(Arc::clone(&mounted.player));
    Mock::given(any()).respond_with(responder).with_priority(255).mount(server).await;
    Ok(mounted)
}

/// The name that a cassette has below the last folder `cassettes` on its path.
fn name_of(file: &Path) -> String {
    let stem = file.with_extension("");
    let parts: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).collect();
    let last = parts.len().saturating_sub(1);
    let root = parts[..last].iter().rposition(|part| part == "cassettes");
    let below = root.map_or(last, |root| root + 1);
    parts[below..].join("/")
}

/// A cassette on a mock server.
#[derive(Debug)]
#[must_use = "misses are only reported by `finish`"]
pub struct Mounted {
    player: Arc<Player>,
}

impl Mounted {
    /// The explanations of the requests so far that nothing recorded answered.
    pub fn misses(&self) -> Vec<String> {
        self.player.misses().clone()
    }

    /// Reports.
    ///
    /// # Errors
    ///
    /// If a request had no recorded answer; the hint explains the first.
    pub fn finish(self) -> Result<()> {
        let misses = self.player.misses();
        match misses.first() {
            None => Ok(()),
            Some(first) => {
                Err(Error::new(Kind::Missed { count: misses.len() }).with_hint(first.clone()))
            }
        }
    }
}

#[derive(Debug)]
struct Player {
    name: String,
    replayer: Replayer,
    misses: Mutex<Vec<String>>,
}

impl Player {
    fn misses(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.misses)
    }

    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut head = http::Request::new(()).into_parts().0;
        head.method = request.method.clone();
        head.headers = request.headers.clone();
        let target = match request.url.query() {
            Some(query) => format!("{}?{query}", request.url.path()),
            None => request.url.path().to_owned(),
        };
        let place = ServerPlace::of(&head.headers);
        let arrival = Arrival { head: &head, target: &target, place };
        match self.replayer.answer_at_once(arrival, request.body.clone().into()) {
            Ok(answer) => template(answer),
            Err(mismatch) => {
                // Another test has recorded it, whose name is not known here.
                let rerun = Rerun::Test { command: "cargo test".to_owned(), sets_mode: false };
                let explanation = report::miss(&self.name, &mismatch, &rerun);
                self.misses().push(explanation.clone());
                ResponseTemplate::new(MISS)
                    .insert_header(OURS, "miss")
                    .insert_header(SHOULD_RETRY, "false")
                    .set_body_string(explanation)
            }
        }
    }
}

struct Responder(Arc<Player>);

impl Respond for Responder {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.respond(request)
    }
}

/// What the mock server is to send, which frames the body itself.
fn template(answer: Answer) -> ResponseTemplate {
    let (mut head, body) = answer.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    // What would come later, or not whole, was refused when it was mounted.
    let whole = pin!(body.collect()).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Ok(body)) = whole else {
        return ResponseTemplate::new(StatusCode::BAD_GATEWAY);
    };
    let template = ResponseTemplate::new(head.status).set_body_bytes(body.to_bytes());
    head.headers
        .iter()
        .fold(template, |template, (name, value)| template.append_header(name, value))
}

fn refuse(cassette: &Cassette) -> Result<()> {
    for (number, interaction) in cassette.interactions.iter().enumerate() {
        if let Some(why) = needs_more(&interaction.outcome) {
            let hint = "serve this cassette with `retape::Session`, whose server does that";
            return Err(Error::said(why).in_interaction(number).with_hint(hint));
        }
    }
    Ok(())
}

/// What an answer needs that a mock server cannot do.
fn needs_more(outcome: &Outcome) -> Option<&'static str> {
    let response = match outcome {
        Outcome::Response(response) => response,
        Outcome::Nothing(_) => {
            return Some("a mock server cannot leave a request without an answer");
        }
    };
    match &response.body {
        Body::Stream(_) => Some("a mock server cannot stream an answer"),
        Body::Whole(_) if response.end != End::Complete => {
            Some("a mock server cannot cut an answer short")
        }
        Body::Whole(_) if !response.trailers.is_empty() => {
            Some("a mock server cannot send trailers")
        }
        Body::Whole(_) => None,
    }
}
