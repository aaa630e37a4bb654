//! What other tools recorded, and what they read.
//!
//! Each format that is read is a file and a row in `FORMATS`. A reader says what was asked and answered;
//! `exchange` makes interactions of that.

mod exchange;
mod export;
mod genai;
mod govcr;
mod har;
mod httpmock;
mod nock;
mod url;
mod vcr;
mod wiremock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use self::exchange::Exchange;
pub use self::export::{Exported, To, export};
use crate::cassette::{Cassette, Headers, Recorded};
use crate::error::{Error, Kind, Result};
use crate::text::tree::Tree;
use crate::text::{date, nearest};

/// What another tool recorded, as a cassette.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The cassette. Its streams are cut into events, and all times are 0: nobody knows them.
    pub cassette: Cassette,
    /// What was not as HTTP wants it.
    pub corrected: Corrected,
    /// What Polly calls the recording: `describe/test`. Its file has another name.
    pub name: Option<String>,
}

/// What was not as HTTP wants it, and is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Corrected {
    /// Answers that had a `content-encoding` and were not compressed: the field is left out.
    pub codings: usize,
    /// Answers without a body that announced one: the length is 0.
    pub lengths: usize,
}

/// A format of another tool.
struct ToolFormat {
    /// The tool.
    tool: &'static str,
    /// What tells a file of it, for people.
    sign: &'static str,
    is_it: fn(&Tree) -> bool,
    /// What was asked and answered, one by one.
    each: fn(&Tree) -> Vec<&Tree>,
    exchange: fn(&Tree) -> Result<Exchange>,
}

/// All formats, in the order in which they are tried.
const FORMATS: &[ToolFormat] = &[
    ToolFormat {
        tool: "VCR for Ruby",
        sign: "`http_interactions` with `uri` in each `request`",
        is_it: vcr::is_ruby,
        each: vcr::each,
        exchange: vcr::exchange,
    },
    ToolFormat {
        tool: "vcrpy",
        sign: "`interactions` with `uri` in each `request`",
        is_it: vcr::is_it,
        each: vcr::each,
        exchange: vcr::exchange,
    },
    ToolFormat {
        tool: "go-vcr",
        sign: "`interactions` with `url` in each `request`",
        is_it: govcr::is_it,
        each: vcr::each,
        exchange: govcr::exchange,
    },
    ToolFormat {
        tool: "google-genai",
        sign: "`interactions` with `body_segments` in each `response`",
        is_it: genai::is_it,
        each: genai::each,
        exchange: genai::exchange,
    },
    ToolFormat {
        tool: "Polly",
        sign: "`log` with `entries`, and itself as the `creator`",
        is_it: har::is_polly,
        each: har::each,
        exchange: har::exchange,
    },
    ToolFormat {
        tool: "HAR",
        sign: "`log` with `entries`",
        is_it: har::is_it,
        each: har::each,
        exchange: har::exchange,
    },
    ToolFormat {
        tool: "WireMock",
        sign: "`request` and `response`, or `mappings` of them",
        is_it: wiremock::is_it,
        each: wiremock::each,
        exchange: wiremock::exchange,
    },
    ToolFormat {
        tool: "httpmock",
        sign: "`when` and `then`",
        is_it: httpmock::is_it,
        each: httpmock::each,
        exchange: httpmock::exchange,
    },
    ToolFormat {
        tool: "nock",
        sign: "a list with `scope` and `path` in each item",
        is_it: nock::is_it,
        each: nock::each,
        exchange: nock::exchange,
    },
];

/// Reads what another tool recorded. The content tells the format.
///
/// # Errors
///
/// If it is neither JSON nor YAML, of no format that is known, or not as that format says.
///
/// # Example: a cassette of vcrpy
///
/// ```
/// use retape::cassette::foreign::import;
///
/// let text = "
/// interactions:
/// - request: {method: GET, uri: 'https://api.example.com/v1/agents', body: null, headers: {}}
///   response:
///     status: {code: 200, message: OK}
///     headers: {content-type: [application/json]}
///     body: {string: '[\"agent-1\"]'}
/// ";
///
/// let cassette = import(text)?.cassette;
///
/// assert_eq!(cassette.recorded.upstream, "https://api.example.com");
/// assert_eq!(cassette.interactions[0].request.path, "/v1/agents");
/// # Ok::<(), retape::Error>(())
/// ```
pub fn import(text: &str) -> Result<Imported> {
    let text = text.trim_start_matches('\u{feff}');
    let tree = match Tree::of_json(text) {
        Some(tree) => tree,
        None => Tree::of_yaml(text)?,
    };
    let Some(format) = FORMATS.iter().find(|format| (format.is_it)(&tree)) else {
        return Err(unknown());
    };
    let mut corrected = Corrected::default();
    let mut interactions = Vec::new();
    let mut at = None;
    for (number, item) in (format.each)(&tree).into_iter().enumerate() {
        let interaction = (format.exchange)(item).and_then(|exchange| {
            at = at.take().or_else(|| exchange.at.clone());
            exchange.into_interaction(&mut corrected)
        });
        interactions.push(interaction.map_err(|error| error.in_interaction(number))?);
    }
    let tool = Some(format.tool.to_owned());
    let second = |at: &String| Some(date::rfc3339(date::since_1970(at)? / 1000 * 1000));
    let at = at.map(|at| second(&at).unwrap_or(at));
    let recorded = Recorded { at: at.unwrap_or_default(), tool, ..Recorded::default() };
    let mut cassette = Cassette { recorded, interactions, ..Cassette::default() };
    cassette.settle_origins();
    Ok(Imported { cassette, corrected, name: har::name(&tree) })
}

fn unknown() -> Error {
    let tried: Vec<String> =
        FORMATS.iter().map(|format| format!("{} has {}", format.tool, format.sign)).collect();
    let tools: Vec<&str> = FORMATS.iter().map(|format| format.tool).collect();
    Error::new(Kind::UnknownFormat).with_hint(format!(
        "it may be of {}:\n  {}",
        nearest::listed(&tools),
        tried.join("\n  ")
    ))
}

/// The request and the response of what has both.
fn sides<'t>(of: &'t Tree, missing: &'static str) -> Result<(&'t Tree, &'t Tree)> {
    of.get("request").zip(of.get("response")).ok_or_else(|| refused(missing))
}

/// The fields of a header: each name has a value, or a list of them.
fn fields<'t>(all: impl Iterator<Item = (impl Into<String>, &'t Tree)>) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in all {
        let name = name.into();
        for value in value.each().iter().filter_map(Tree::words) {
            // Browsers write several values of one name in lines.
            let lines = value.split(['\r', '\n', '\0']);
            let lines = lines.filter(|line| !line.is_empty() || value.is_empty());
            lines.for_each(|line| headers.append(name.clone(), line.to_owned()));
        }
    }
    headers
}

/// A path, with a query behind it if there is one.
fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// A body whose pieces were kept.
fn joined(pieces: impl Iterator<Item = Result<Bytes>>) -> Result<Bytes> {
    Ok(pieces.collect::<Result<Vec<Bytes>>>()?.concat().into())
}

/// Bytes that are written as base64.
fn base64(text: &str) -> Result<Bytes> {
    let digits: String = text.split_whitespace().collect();
    let bytes = STANDARD.decode(digits);
    bytes.map(Bytes::from).map_err(|error| refused("a body is not base64").because(error))
}

/// An error in what a format says.
fn refused(why: &'static str) -> Error {
    Error::new(Kind::Foreign(why))
}
