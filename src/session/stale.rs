//! Requests that speak of what only a recording knows.

use crate::cassette::Request;
use crate::compare::matching::issued_in;
use crate::identity::{each_text, identifiers};
use crate::redact::{Redactor, placeholder_in};
use crate::serve::replayer::Replayer;
use crate::serve::server::Arrival;
use crate::text::percent;

/// What a request has from a recorded answer, and a live server cannot know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stale {
    /// As it stands in the request.
    pub(super) text: String,
    /// The interaction that issued it, counted from 0; `None` if it stands for a secret.
    pub(super) interaction: Option<usize>,
}

/// The placeholder of a secret in the head of a request: no live server knows it, whichever recording the client has it
/// from.
pub(super) fn placeholder(arrival: Arrival<'_>) -> Option<Stale> {
    let fields = arrival.head.headers.values().filter_map(|value| value.to_str().ok());
    let target = percent::decoded(arrival.target);
    let mut texts = fields.chain([&*target]);
    let text = texts.find_map(placeholder_in)?.to_owned();
    Some(Stale { text, interaction: None })
}

/// What in a request only the recording knows. `is_live` tells what the live server knows as well.
pub(super) fn stale(
    mut asked: Request,
    replayer: &Replayer,
    is_live: impl Fn(&str) -> bool,
) -> Option<Stale> {
    let cassette = replayer.recorded().cassette();
    if cassette.interactions.is_empty() {
        return None;
    }
    let secret =
        find_in_texts(&asked, |text| Some(placeholder_in(&percent::decoded(text))?.to_owned()));
    if let Some(text) = secret {
        return Some(Stale { text, interaction: None });
    }
    // It is shown, so no secret of the client's is to be taken for an identifier.
    Redactor::standard().request(&mut asked);
    let unplayed = replayer.unplayed();
    find_in_texts(&asked, |text| {
        let mut found = identifiers(text).map(|range| &text[range]);
        found.find_map(|text| {
            let from =
                issued_in(cassette, text).filter(|it| unplayed.binary_search(it).is_err())?;
            let text = (!is_live(text)).then(|| text.to_owned())?;
            Some(Stale { text, interaction: Some(from) })
        })
    })
}

/// What is found first in the texts of a request.
fn find_in_texts<T>(request: &Request, mut find: impl FnMut(&str) -> Option<T>) -> Option<T> {
    let mut found = None;
    each_text(request, |text| found = found.take().or_else(|| find(text)));
    found
}
