//! The lines of a journal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::cassette::{Content, End, Frame, Headers, Peer, Progress, Recorded};

/// One thing that happened while recording. `n` is the number of the interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A recording began.
    Begin {
        /// Where and when.
        recorded: Recorded,
    },
    /// The head of a request arrived.
    Request {
        /// The interaction.
        n: usize,
        /// What was going on.
        after: Cow<'a, [Progress]>,
        /// `GET`, `POST`, …
        method: Cow<'a, str>,
        /// Path and query.
        path: Cow<'a, str>,
        /// Its header fields.
        headers: Cow<'a, Headers>,
    },
    /// A piece of a request body arrived.
    Sent {
        /// The interaction.
        n: usize,
        /// The piece.
        bytes: Cow<'a, [u8]>,
    },
    /// The request was complete.
    Asked {
        /// The interaction.
        n: usize,
    },
    /// The head of an answer arrived, or one that is sent before it.
    Head {
        /// The interaction.
        n: usize,
        /// Milliseconds since the request.
        ms: u64,
        /// The status code.
        status: u16,
        /// An unusual reason phrase.
        reason: Option<Cow<'a, str>>,
        /// Its header fields.
        headers: Cow<'a, Headers>,
    },
    /// A chunk of an answer arrived.
    Chunk {
        /// The interaction.
        n: usize,
        /// Milliseconds since the request.
        ms: u64,
        /// The chunk, in any number of pieces.
        pieces: Cow<'a, [Bytes]>,
    },
    /// A frame of a WebSocket passed.
    Frame {
        /// The interaction.
        n: usize,
        /// It.
        frame: Cow<'a, Frame>,
    },
    /// A piece of a body that is not held in memory, of what that side says, behind what came of it as
    /// chunks.
    Passed {
        /// The interaction.
        n: usize,
        /// Whose it is.
        from: Peer,
        /// The piece.
        bytes: Cow<'a, [u8]>,
    },
    /// The interaction is over.
    End {
        /// The interaction.
        n: usize,
        /// How.
        end: End,
        /// When the client left, in milliseconds since the request, if it left before.
        left: Option<u64>,
        /// Fields behind the body.
        trailers: Cow<'a, Headers>,
    },
}

/// How a line is spelled: every entry is one object of these members.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retape_journal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origins: Option<Cow<'a, BTreeMap<String, String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Vec<(Cow<'a, str>, Piece<'a>)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'a, str>>,
    /// Of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    close: Option<(Option<u16>, Cow<'a, str>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fragments: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Cow<'a, str>>,
}

/// Bytes: text where they are, base64 where they are not. A piece of a body stands as it is behind its
/// line, with a line feed behind it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Piece<'a> {
    Text(Cow<'a, str>),
    Base64(String),
    /// So many bytes behind the line.
    Behind(usize),
}

/// The journal is a file of the moment: no release reads another one's.
const VERSION: u64 = 1;

/// How the first line begins.
pub(super) const BEGINNING: &[u8] = b"{\"retape_journal\":";

impl Entry<'_> {
    /// Appends the entry as one line, and what stands behind it; tells how long that is.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> usize {
        serde_json::to_writer(&mut *out, &self.line())
            .expect("a line holds nothing that JSON cannot say");
        out.push(b'\n');
        let start = out.len();
        match self {
            Self::Sent { bytes, .. } | Self::Passed { bytes, .. } => out.extend_from_slice(bytes),
            Self::Chunk { pieces, .. } => pieces.iter().for_each(|it| out.extend_from_slice(it)),
            _ => return 0,
        }
        let length = out.len() - start;
        out.push(b'\n');
        length
    }

    fn line(&self) -> Line<'_> {
        match self {
            Self::Begin { recorded } => Line {
                retape_journal: Some(VERSION),
                at: Some(recorded.at.as_str().into()),
                upstream: Some(recorded.upstream.as_str().into()),
                server: recorded.server.as_deref().map(Into::into),
                origins: Some(Cow::Borrowed(&recorded.origins)).filter(|it| !it.is_empty()),
                ..Line::default()
            },
            Self::Request { n, after, method, path, headers } => Line {
                n: Some(*n),
                after: after.iter().map(|at| (at.interaction, at.chunks)).collect(),
                method: Some(method.as_ref().into()),
                path: Some(path.as_ref().into()),
                headers: Some(fields(headers)),
                ..Line::default()
            },
            Self::Sent { n, bytes } => {
                Line { n: Some(*n), sent: Some(Piece::Behind(bytes.len())), ..Line::default() }
            }
            Self::Asked { n } => Line { n: Some(*n), asked: Some(true), ..Line::default() },
            Self::Head { n, ms, status, reason, headers } => Line {
                n: Some(*n),
                ms: Some(*ms),
                status: Some(*status),
                reason: reason.as_deref().map(Into::into),
                headers: Some(fields(headers)),
                ..Line::default()
            },
            Self::Chunk { n, ms, pieces } => Line {
                n: Some(*n),
                ms: Some(*ms),
                chunk: Some(Piece::Behind(pieces.iter().map(Bytes::len).sum())),
                ..Line::default()
            },
            Self::Frame { n, frame } => Line { n: Some(*n), ..Line::of_frame(frame) },
            Self::Passed { n, from, bytes } => Line {
                n: Some(*n),
                from: Some(from.as_str().into()),
                passed: Some(Piece::Behind(bytes.len())),
                ..Line::default()
            },
            Self::End { n, end, left, trailers } => Line {
                n: Some(*n),
                ms: *left,
                end: Some(end.as_str().into()),
                headers: (!trailers.is_empty()).then(|| fields(trailers)),
                ..Line::default()
            },
        }
    }
}

/// So much room is made at once for what is to be read.
const ROOM: usize = 1 << 20;

/// The entries of a journal, up to what is torn, each with where that stands which is behind its line.
#[derive(Debug)]
pub(super) struct Entries<R> {
    journal: R,
    at: u64,
}

impl<R: BufRead> Entries<R> {
    pub(super) fn of(journal: R) -> Self {
        Self { journal, at: 0 }
    }

    /// Reads `length` bytes and a line feed, as far as they are there.
    fn behind(&mut self, length: usize) -> Option<Vec<u8>> {
        // A length that is none may be as large as any.
        let mut bytes = Vec::with_capacity(length.min(ROOM) + 1);
        let read = (&mut self.journal).take(length as u64 + 1).read_to_end(&mut bytes).ok()?;
        self.at += read as u64;
        (bytes.pop() == Some(b'\n') && bytes.len() == length).then_some(bytes)
    }
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = (Entry<'static>, Range<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = Vec::new();
        self.at += self.journal.read_until(b'\n', &mut text).ok()? as u64;
        if !text.ends_with(b"\n") {
            return None;
        }
        let line: Line<'_> = serde_json::from_slice(&text).ok()?;
        let start = self.at;
        let behind = match line.chunk.as_ref().or(line.sent.as_ref()).or(line.passed.as_ref()) {
            Some(Piece::Behind(length)) => self.behind(*length)?,
            _ => Vec::new(),
        };
        let range = start..start + behind.len() as u64;
        Some((Entry::read(line, behind)?, range))
    }
}

impl Entry<'static> {
    fn read(line: Line<'_>, behind: Vec<u8>) -> Option<Self> {
        if line.retape_journal.is_some() {
            return line.begin();
        }
        let n = line.n?;
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        if let Some(end) = line.end {
            let trailers = Cow::Owned(headers(line.headers.unwrap_or_default())?);
            return Some(Self::End { n, end: End::from_word(&end)?, left: line.ms, trailers });
        }
        if let Some(passed) = line.passed {
            let from = Peer::from_word(&line.from?)?;
            return Some(Self::Passed { n, from, bytes: Cow::Owned(passed.bytes(behind)?) });
        }
        if line.from.is_some() {
            return Some(Self::Frame { n, frame: Cow::Owned(line.frame()?) });
        }
        if let Some(chunk) = line.chunk {
            let pieces = Cow::Owned(vec![chunk.bytes(behind)?.into()]);
            return Some(Self::Chunk { n, ms: line.ms?, pieces });
        }
        if let Some(sent) = line.sent {
            return Some(Self::Sent { n, bytes: Cow::Owned(sent.bytes(behind)?) });
        }
        if line.asked.is_some() {
            return Some(Self::Asked { n });
        }
        let headers = Cow::Owned(headers(line.headers?)?);
        if let Some(status) = line.status {
            let reason = line.reason.map(owned);
            return Some(Self::Head { n, ms: line.ms?, status, reason, headers });
        }
        let progress = |(interaction, chunks)| Progress { interaction, chunks };
        Some(Self::Request {
            n,
            after: Cow::Owned(line.after.into_iter().map(progress).collect()),
            method: owned(line.method?),
            path: owned(line.path?),
            headers,
        })
    }
}

impl<'a> Line<'a> {
    fn of_frame(frame: &'a Frame) -> Self {
        let line = Line {
            ms: Some(frame.ms),
            from: Some(frame.from.as_str().into()),
            fragments: frame.fragments.clone(),
            ..Line::default()
        };
        match &frame.content {
            Content::Text(bytes) => Line { said: Some(Piece::of(bytes)), ..line },
            Content::Binary(bytes) => Line { binary: Some(Piece::of(bytes)), ..line },
            Content::Close { code, reason } => {
                Line { close: Some((*code, reason.as_str().into())), ..line }
            }
        }
    }

    fn frame(self) -> Option<Frame> {
        let content = match (self.said, self.binary, self.close) {
            (Some(text), None, None) => Content::Text(text.bytes(Vec::new())?.into()),
            (None, Some(bytes), None) => Content::Binary(bytes.bytes(Vec::new())?.into()),
            (None, None, Some((code, reason))) => {
                Content::Close { code, reason: reason.into_owned() }
            }
            _ => return None,
        };
        let from = Peer::from_word(&self.from?)?;
        Some(Frame { ms: self.ms?, from, content, fragments: self.fragments })
    }
}

impl Line<'_> {
    fn begin(self) -> Option<Entry<'static>> {
        (self.retape_journal == Some(VERSION)).then_some(())?;
        let recorded = Recorded {
            at: self.at?.into_owned(),
            upstream: self.upstream?.into_owned(),
            server: self.server.map(Cow::into_owned),
            origins: self.origins.map(Cow::into_owned).unwrap_or_default(),
            ..Recorded::default()
        };
        Some(Entry::Begin { recorded })
    }
}

impl<'a> Piece<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    fn bytes(self, behind: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Behind(_) => Some(behind),
            Self::Text(text) => Some(text.into_owned().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
        }
    }
}

fn fields(headers: &Headers) -> Vec<(Cow<'_, str>, Piece<'_>)> {
    headers.iter().map(|(name, value)| (name.into(), Piece::of(value))).collect()
}

fn headers(fields: Vec<(Cow<'_, str>, Piece<'_>)>) -> Option<Headers> {
    let field = |(name, value): (Cow<'_, str>, Piece<'_>)| {
        Some((name.into_owned(), Bytes::from(value.bytes(Vec::new())?)))
    };
    fields.into_iter().map(field).collect::<Option<Vec<_>>>().map(Headers::from_iter)
}
