//! Why a server gave no answer.

use std::error::Error as StdError;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::interim;
use super::sent::Abandoned;
use super::tls::TlsFault;
use crate::cassette::End;
use crate::error::{Error, is_out_of_files};
use crate::serve::server::{Answer, MOST_FIELDS, no_answer};

/// Why a server gave no answer, in words that a person can act on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ServerFault {
    /// The client left before its request was complete.
    Abandoned,
    /// Nothing listens there.
    Refused,
    /// The host's name cannot be resolved.
    UnknownHost,
    /// No connection within the time for it.
    SlowToConnect,
    /// It left while TLS was agreed upon.
    ClosedInHandshake,
    /// TLS did not come about.
    Tls(TlsFault),
    /// No connection, for another reason.
    Unreachable(String),
    /// What is asked for cannot be written into a request.
    Target,
    /// It said nothing for so long.
    Silent(Duration),
    /// What it said is not HTTP.
    NotHttp,
    /// What it said without TLS is not HTTP/1.1.
    NotHttp1,
    /// It does not speak HTTP/2 without TLS.
    NotHttp2,
    /// A field of the head of its answer is none that HTTP allows.
    Malformed(String),
    /// The head of its answer is too long.
    LongHead,
    /// It says one thing after the other before its answer.
    NoEnd,
    /// It closed the connection.
    Closed,
    /// The connection broke for another reason.
    Broken(String),
    /// The recorder itself was stopped.
    Interrupted,
    /// This process may open no more files and connections.
    OutOfFiles,
}

impl ServerFault {
    /// Why no connection came about.
    pub(super) fn of_connecting(error: &(dyn StdError + 'static)) -> Self {
        if let Some(tls) = TlsFault::of(error) {
            return Self::Tls(tls);
        }
        // The resolver's error has a text and no type.
        let is_unknown = says(error, "dns error");
        let io = found::<io::Error>(error);
        if io.is_some_and(is_out_of_files) || is_unknown && may_open_no_more() {
            return Self::OutOfFiles;
        }
        if is_unknown {
            return Self::UnknownHost;
        }
        match io.map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused,
            Some(io::ErrorKind::TimedOut) => Self::SlowToConnect,
            Some(kind) if CLOSED.contains(&kind) => Self::ClosedInHandshake,
            _ => Self::Unreachable(root(error)),
        }
    }

    /// Why no answer came on a connection.
    pub(super) fn of_asking(error: &(dyn StdError + 'static)) -> Self {
        if found::<Abandoned>(error).is_some() {
            return Self::Abandoned;
        }
        // It may also speak before it is asked.
        let is_garbled = |error: &hyper::Error| {
            error.is_parse() || says(error, "received unexpected message from connection")
        };
        let is_of_field = |error: &hyper::Error| {
            let said = error.to_string();
            ["header", "content-length", "transfer-encoding"].iter().any(|it| said.contains(it))
        };
        let is_closed = |error: &hyper::Error| {
            error.is_incomplete_message() || error.is_closed() || error.is_canceled()
        };
        match (found::<hyper::Error>(error), found::<io::Error>(error).map(io::Error::kind)) {
            (Some(error), _) if error.is_parse_too_large() => Self::LongHead,
            (Some(error), _) if error.is_parse() && is_of_field(error) => {
                Self::Malformed(root(error))
            }
            (Some(error), _) if is_garbled(error) => Self::NotHttp,
            (Some(error), _) if is_closed(error) => Self::Closed,
            (_, Some(kind)) if CLOSED.contains(&kind) => Self::Closed,
            _ => Self::Broken(root(error)),
        }
    }

    /// How a cassette calls it.
    pub(super) const fn end(&self) -> End {
        match self {
            Self::Abandoned => End::ClientClosed,
            Self::Refused
            | Self::UnknownHost
            | Self::SlowToConnect
            | Self::ClosedInHandshake
            | Self::Tls(_)
            | Self::Unreachable(_)
            | Self::Target
            | Self::NotHttp
            | Self::NotHttp1
            | Self::NotHttp2
            | Self::Malformed(_)
            | Self::LongHead
            | Self::NoEnd => End::Unreachable,
            Self::Silent(_) => End::Timeout,
            Self::Closed | Self::Broken(_) => End::ServerClosed,
            Self::Interrupted | Self::OutOfFiles => End::Interrupted,
        }
    }

    /// What is said of the server at `origin`.
    pub(super) fn message(&self, origin: &str) -> String {
        match self.end() {
            _ if *self == Self::OutOfFiles => format!("`{origin}` was not asked: {self}"),
            _ if matches!(self, Self::Malformed(_) | Self::LongHead | Self::NoEnd) => {
                format!("what `{origin}` says cannot be read: {self}")
            }
            End::Unreachable => format!("`{origin}` cannot be reached: {self}"),
            _ => format!("`{origin}` did not answer: {self}"),
        }
    }

    /// Whether only retape does not trust the server: its client might.
    pub(super) fn is_distrust(&self) -> bool {
        matches!(self, Self::Tls(fault) if fault.is_distrust())
    }

    /// What the client is answered.
    pub(super) fn answer(&self, origin: &str) -> Answer {
        no_answer(self.end(), &self.message(origin))
    }
}

/// Whether this process may open hardly any more files. A resolver that could read nothing says that it found
/// nothing; a few may have been closed since.
fn may_open_no_more() -> bool {
    const FEW: usize = 64;
    let opened: Vec<_> = (0..FEW).map(|_| File::open("/dev/null")).collect();
    opened.iter().filter_map(|it| it.as_ref().err()).any(is_out_of_files)
}

/// What it is called when the other side has gone.
const CLOSED: [io::ErrorKind; 4] = [
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::ConnectionAborted,
    io::ErrorKind::BrokenPipe,
    io::ErrorKind::UnexpectedEof,
];

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abandoned => Abandoned.fmt(f),
            Self::Refused => {
                f.write_str("the connection was refused; is the server running there?")
            }
            Self::UnknownHost => {
                f.write_str("the name of its host cannot be resolved; is it spelled right?")
            }
            Self::SlowToConnect => f.write_str("no connection came about within 10s"),
            Self::ClosedInHandshake => {
                f.write_str("it closed the connection at once; does it speak TLS there?")
            }
            Self::Tls(why) => why.fmt(f),
            Self::Unreachable(why) | Self::Broken(why) | Self::Malformed(why) => f.write_str(why),
            Self::Target => f.write_str("what is asked for is not part of an address"),
            Self::Silent(limit) => {
                write!(
                    f,
                    "it said nothing for {limit:?}; `--silence TIME` (Rust: `.silence(…)`) waits longer"
                )
            }
            Self::NotHttp => f.write_str("what it says is not HTTP"),
            Self::NotHttp1 => {
                f.write_str("what it says is not HTTP/1.1; is it `https://` or `h2c://`?")
            }
            Self::NotHttp2 => {
                f.write_str("it does not speak HTTP/2 without TLS there; is it `http://`?")
            }
            Self::LongHead => write!(
                f,
                "the head of its answer is larger than {MOST_FIELDS} fields or 408 KiB; no setting allows more"
            ),
            Self::NoEnd => write!(
                f,
                "more than {} answers with a status of 1xx came before an answer; no setting allows more",
                interim::MOST
            ),
            Self::Closed => f.write_str("it closed the connection"),
            Self::OutOfFiles => f.write_str(
                "retape may open no more files and connections; `ulimit -n 4096` allows more",
            ),
            Self::Interrupted => f.write_str("retape was stopped before it did"),
        }
    }
}

/// An error and its causes.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn StdError + 'static)| cause(*error))
}

/// What an IO error carries is not what it names as its source.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(carried) => Some(carried),
        None => error.source(),
    }
}

/// The innermost cause of that type.
pub(super) fn found<'a, E: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> Option<&'a E> {
    causes(error).filter_map(|cause| cause.downcast_ref()).last()
}

/// Whether one of the causes has exactly that text, where there is nothing else to know it by.
fn says(error: &(dyn StdError + 'static), text: &str) -> bool {
    causes(error).any(|cause| cause.to_string() == text)
}

fn root(error: &(dyn StdError + 'static)) -> String {
    causes(error).last().map_or_else(String::new, ToString::to_string)
}

/// What was recorded is not all that was asked, and that is no fault of the server.
pub(super) fn out_of_files(path: Option<&Path>) -> Error {
    let saved = path.map_or(String::new(), |path| {
        format!("; what was recorded is in `{}`, and the cassette stays", path.display())
    });
    Error::said("not everything was recorded: retape may open no more files and connections")
        .with_hint(format!("allow more (`ulimit -n 4096`), then record again{saved}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_takes_too_long_is_told_from_one_that_is_refused() {
        let out_of_files = io::Error::from_raw_os_error(24);
        assert_eq!(ServerFault::of_connecting(&out_of_files), ServerFault::OutOfFiles);
        let timed_out = io::Error::new(io::ErrorKind::TimedOut, "deadline has elapsed");
        let unreachable = io::Error::new(io::ErrorKind::NetworkUnreachable, "no network");

        assert_eq!(ServerFault::of_connecting(&timed_out), ServerFault::SlowToConnect);
        let expected = ServerFault::Unreachable("no network".to_owned());
        assert_eq!(ServerFault::of_connecting(&unreachable), expected);
    }

    #[test]
    fn what_an_io_error_carries_is_found() {
        let carried = "no number".parse::<u8>().unwrap_err();
        let error = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, carried.clone()));

        assert_eq!(found::<std::num::ParseIntError>(&error), Some(&carried));
        assert_eq!(root(&io::Error::other("why")), "why");
    }
}
