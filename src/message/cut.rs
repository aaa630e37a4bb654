//! A recorded answer's messages.

use std::ops::Range;

use super::decoder::Left;
use super::{Decoder, Framing, Message, Protocols};
use crate::cassette::{Body, Response};

/// The messages of a whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// How they stood in the body.
    pub framing: Framing,
    /// What they are, in order, keep-alives too.
    pub list: Vec<Message>,
    /// Where the end of the body holds something that is no message: it was cut short.
    pub rest: Option<Range<usize>>,
}

impl Messages {
    /// Cuts a recorded answer, decoded where it was compressed.
    pub fn of(response: &Response) -> Self {
        Self::by(&Protocols::default(), response)
    }

    /// The same with other protocols than those that retape knows.
    pub fn by(protocols: &Protocols, response: &Response) -> Self {
        let framing = Framing::of(response.headers.get("content-type"));
        let decoder = Decoder::with(framing, protocols.clone());
        Self::decoded(decoder, &response.readable(), framing, response.ms)
    }

    /// Cuts a body. The time is that of a body which came in one piece.
    pub fn cut(body: &Body, framing: Framing, ms: u64) -> Self {
        Self::decoded(Decoder::new(framing), body, framing, ms)
    }

    fn decoded(mut decoder: Decoder, body: &Body, framing: Framing, ms: u64) -> Self {
        let mut list = match body {
            Body::Whole(bytes) => decoder.push(bytes, ms),
            Body::Stream(chunks) => {
                chunks.iter().flat_map(|chunk| decoder.push(&chunk.bytes, chunk.ms)).collect()
            }
        };
        let Left { messages, rest } = decoder.finish();
        list.extend(messages);
        Self { framing, list, rest }
    }
}
