//! The texts of a request, in which words are found.

use super::plain;
use crate::cassette::{Request, text};
use crate::text::percent;

/// Calls with each text of a request: what its path says, its body without escapes in words, and the values
/// of its header.
pub(crate) fn each_text(request: &Request, mut told: impl FnMut(&str)) {
    told(&percent::decoded(&request.path));
    told(&plain(&request.readable()));
    request.headers.iter().for_each(|(_, value)| told(&text(value)));
}
