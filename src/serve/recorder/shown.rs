//! What of a body may be written to the journal.

use bytes::Bytes;

use crate::cassette::{Headers, coding};
use crate::redact::{Live, Redactor, Secrets};

/// A body as the journal shows it while it arrives: decoded, and with no secrets.
#[derive(Debug)]
pub(super) struct Shown {
    coding: Option<coding::Live>,
    live: Live,
}

impl Shown {
    /// A body behind these header fields, given the secrets that came before it.
    pub(super) fn new(redactor: &Redactor, headers: &Headers, secrets: Secrets) -> Self {
        let coding = headers.get("content-encoding").and_then(coding::Live::new);
        Self { coding, live: Live::new(redactor, secrets) }
    }

    /// The header fields of the body as it is shown.
    pub(super) fn headers(&self, headers: &mut Headers) {
        if self.coding.is_some() {
            headers.remove("content-encoding");
            headers.remove("content-length");
        }
    }

    /// What can be written now that these bytes have come.
    pub(super) fn push(&mut self, bytes: &Bytes) -> Vec<u8> {
        match &mut self.coding {
            None => self.live.push(bytes),
            Some(coding) => self.live.push(&coding.push(bytes)),
        }
    }

    /// The rest, and all secrets up to here.
    pub(super) fn finish(self) -> (Vec<u8>, Secrets) {
        let Self { coding, mut live } = self;
        let undecoded = coding.and_then(coding::Live::finish).unwrap_or_default();
        let mut rest = live.push(&undecoded);
        let (last, secrets) = live.finish();
        rest.extend(last);
        (rest, secrets)
    }
}
