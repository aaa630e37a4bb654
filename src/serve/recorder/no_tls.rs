//! In the place of TLS, in a build without it. A server that speaks TLS is refused before it is asked.

use std::error::Error as StdError;
use std::fmt;

use hyper_util::client::legacy::connect::HttpConnector;

use super::fault::ServerFault;
use super::location::Speaks;
use crate::serve::server::ClientTrust;

/// What connects.
pub(super) type Connector = HttpConnector;

/// Nobody is to be trusted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust;

/// There is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TlsFault {}

impl Trust {
    pub(super) fn explained(self, fault: TlsFault) -> ServerFault {
        match fault {}
    }
}

impl TlsFault {
    pub(super) fn of(_: &(dyn StdError + 'static)) -> Option<Self> {
        None
    }

    pub(super) fn is_distrust(&self) -> bool {
        match *self {}
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

pub(super) fn connectors(
    tcp: &HttpConnector,
    _: Speaks,
    _: Option<&ClientTrust>,
) -> ([Connector; 2], Trust) {
    ([tcp.clone(), tcp.clone()], Trust)
}
