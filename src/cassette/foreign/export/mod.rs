//! Cassettes in the formats of other tools.
//!
//! Each format is a file and a row in `To`. What it cannot hold is left out and counted.

mod curl;
mod har;
mod wiremock;

use std::collections::BTreeMap;

use super::super::target;
use crate::cassette::placeholder::OPENING;
use crate::cassette::{Body, Cassette, End, Name, Request, Response};

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum To {
    /// HTTP Archive 1.2, as browsers write and read it.
    Har,
    /// Mappings of WireMock.
    Wiremock,
    /// A line for each request, for a shell.
    Curl,
}

/// Cassettes in the format of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The file.
    pub text: String,
    /// What the format cannot hold, in words, and how often it came up.
    pub lost: BTreeMap<&'static str, usize>,
}

type LossCounts = BTreeMap<&'static str, usize>;

/// Writes cassettes in the format of another tool.
///
/// # Example: a cassette as HAR
///
/// ```
/// use retape::cassette::foreign::{To, export};
/// use retape::{Cassette, Name};
///
/// let cassettes = [(Name::new("empty")?, Cassette::default())];
///
/// let har = export(&cassettes, To::Har).text;
///
/// assert!(har.contains(r#""version": "1.2""#));
/// # Ok::<(), retape::Error>(())
/// ```
pub fn export(cassettes: &[(Name, Cassette)], to: To) -> Exported {
    let mut lost = LossCounts::new();
    let text = match to {
        To::Har => har::write(cassettes, &mut lost),
        To::Wiremock => wiremock::write(cassettes, &mut lost),
        To::Curl => curl::write(cassettes, &mut lost),
    };
    Exported { text, lost }
}

fn lose(lost: &mut LossCounts, what: &'static str) {
    *lost.entry(what).or_default() += 1;
}

/// The whole address of a request.
fn address(cassette: &Cassette, request: &Request) -> String {
    let upstream = match cassette.recorded.upstream.as_str() {
        "" => "http://localhost",
        upstream => upstream,
    };
    target::absolute(upstream, &request.path).into_owned()
}

/// Whether a secret of it was replaced.
fn is_redacted(request: &Request) -> bool {
    let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(OPENING);
    has(request.path.as_bytes())
        || has(&request.body)
        || request.headers.iter().any(|(_, value)| has(value))
}

/// What no format holds of an answer.
fn lose_of_answer(response: &Response, lost: &mut LossCounts) {
    if matches!(response.body, Body::Stream(_)) {
        lose(lost, "the times of pieces (streams)");
    }
    if !response.trailers.is_empty() {
        lose(lost, "fields behind the body (answers)");
    }
    if response.end != End::Complete && response.frames.is_empty() {
        lose(lost, "that it was cut short (answers)");
    }
}
