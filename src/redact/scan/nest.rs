//! Objects and arrays below a telling name.

use crate::redact::name::{self, Spot};

/// Deeper than this below a telling name, the text is not what it seemed.
const DEEPEST: usize = 64;

/// Containers below a telling name.
pub(super) struct Nest {
    pub(super) holder: String,
    /// How many backslashes stand before the quotes in it.
    pub(super) slashes: usize,
    frames: Vec<Frame>,
}

enum Frame {
    Array,
    Object { key: Option<String>, within: Within },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Array,
    Object,
}

impl Nest {
    pub(super) const fn new(holder: String, slashes: usize) -> Self {
        Self { holder, slashes, frames: Vec::new() }
    }

    pub(super) fn open(&mut self, byte: u8) {
        let within = match self.frames.last() {
            Some(Frame::Array) => Within::Array,
            _ => Within::Object,
        };
        self.frames.push(match byte {
            b'[' => Frame::Array,
            _ => Frame::Object { key: None, within },
        });
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
    }

    /// A comma: in an object comes a key.
    pub(super) fn next(&mut self) {
        if let Some(Frame::Object { key, .. }) = self.frames.last_mut() {
            *key = None;
        }
    }

    /// The string that all of this stands in ends.
    pub(super) fn end(&mut self) {
        self.frames.clear();
    }

    pub(super) fn is_over(&self) -> bool {
        self.frames.is_empty() || self.frames.len() > DEEPEST
    }

    /// Takes a string: the next key, or a value; gives its name if it is a secret.
    pub(super) fn take(&mut self, content: &str) -> Option<String> {
        let spot = match self.frames.last_mut()? {
            Frame::Array => Spot::Element,
            Frame::Object { key: key @ None, .. } => {
                *key = Some(content.to_owned());
                return None;
            }
            Frame::Object { key: Some(key), within: Within::Array } => Spot::Column(key),
            Frame::Object { key: Some(key), within: Within::Object } => Spot::Entry(key),
        };
        name::below(&self.holder, spot).map(str::to_owned)
    }
}
