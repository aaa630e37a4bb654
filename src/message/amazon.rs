//! Amazon's event streams, as of Bedrock.

use std::ops::Range;

use crate::text::amazon::{Prefix, first};

/// Cuts a stream into its messages, whatever the pieces it arrives in.
#[derive(Debug, Clone, Default)]
pub struct AmazonDecoder {
    /// The beginning of a message that is not complete.
    begun: Vec<u8>,
    at: usize,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it says that it is: `:event-type`, `:exception-type` or `:error-code`.
    pub kind: Option<String>,
    /// Its payload. Where that holds another one in base64, as the answer of a model does, that one.
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// Where it stands in the body, in bytes.
    pub range: Range<usize>,
}

impl AmazonDecoder {
    /// A decoder for a body of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the body and gives the messages that they completed. None comes behind
    /// one whose checksums do not agree.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Item> {
        self.begun.extend_from_slice(bytes);
        let mut items = Vec::new();
        let mut end = 0;
        while let Prefix::Message(message, length) = first(&self.begun[end..]) {
            items.push(Item {
                kind: message.kind().map(str::to_owned),
                text: message.said().into_owned(),
                range: self.at + end..self.at + end + length,
            });
            end += length;
        }
        self.begun.drain(..end);
        self.at += end;
        items
    }

    /// What stands behind the last message, if anything: one that was cut short.
    pub fn rest(&self) -> Option<Range<usize>> {
        (!self.begun.is_empty()).then(|| self.at..self.at + self.begun.len())
    }
}
