//! A stream in a few lines, as it stands in a cassette above its chunks.

use super::line::{cut, visible};
use super::{Answer, Gist, Line};
use crate::cassette::{Body, Response};
use crate::message::Protocols;

/// The most characters of a line: what a long answer begins with.
const LONGEST: usize = 300;

/// The messages of a streamed answer, deltas together: its type, the number of its deltas, and what
/// it says. Nothing for an answer that is not a stream.
///
/// Times are left out: they differ in every recording.
pub fn trace(protocols: &Protocols, response: &Response) -> Vec<String> {
    match &response.body {
        Body::Stream(_) => {
            Answer::of_response(protocols, response).lines.iter().map(line).collect()
        }
        Body::Whole(_) => Vec::new(),
    }
}

fn line(line: &Line) -> String {
    let times = if line.count > 1 { format!(" ×{}", line.count) } else { String::new() };
    let said = said(&line.gist);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    cut(&visible(&format!("{}{times}{said}", line.tag)), LONGEST).into_owned()
}

/// Prose alone needs no quotes, which a cassette would have to escape.
fn said(gist: &Gist) -> String {
    if gist.words.is_empty() && gist.beside.is_empty() {
        gist.text.clone()
    } else {
        gist.to_string()
    }
}
