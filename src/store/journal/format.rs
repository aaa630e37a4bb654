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
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EntryLine<'a> {
    retape_journal: Option<u64>,
    at: Option<Cow<'a, str>>,
    upstream: Option<Cow<'a, str>>,
    server: Option<Cow<'a, str>>,
    origins: Option<Cow<'a, BTreeMap<String, String>>>,
    n: Option<usize>,
    after: Vec<(usize, usize)>,
    method: Option<Cow<'a, str>>,
    path: Option<Cow<'a, str>>,
    sent: Option<EncodedBytes<'a>>,
    asked: Option<bool>,
    ms: Option<u64>,
    status: Option<u16>,
    reason: Option<Cow<'a, str>>,
    headers: Option<Vec<(Cow<'a, str>, EncodedBytes<'a>)>>,
    chunk: Option<EncodedBytes<'a>>,
    passed: Option<EncodedBytes<'a>>,
    from: Option<Cow<'a, str>>,
    /// Of a text.
    said: Option<EncodedBytes<'a>>,
    binary: Option<EncodedBytes<'a>>,
    close: Option<(Option<u16>, Cow<'a, str>)>,
    fragments: Vec<usize>,
    end: Option<Cow<'a, str>>,
}

/// Bytes: text where they are, base64 where they are not. A piece of a body stands as it is behind its
/// line, with a line feed behind it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EncodedBytes<'a> {
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
        self.write_line(out);
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

    /// Appends the line alone.
    pub(super) fn write_line(&self, out: &mut Vec<u8>) {
        self.line(&mut MemberWriter { out, next: b'{' });
        out.extend_from_slice(b"}\n");
    }

    fn line(&self, to: &mut MemberWriter<'_>) {
        match self {
            Self::Begin { recorded } => {
                to.add("retape_journal", &VERSION);
                to.add("at", &recorded.at);
                to.add("upstream", &recorded.address());
                to.add_some("server", recorded.server.as_ref());
                to.add_some("origins", Some(&recorded.origins).filter(|it| !it.is_empty()));
            }
            Self::Request { n, after, method, path, headers } => {
                to.add("n", n);
                let after: Vec<_> = after.iter().map(|at| (at.interaction, at.chunks)).collect();
                to.add_some("after", Some(after).filter(|it| !it.is_empty()));
                to.add("method", method);
                to.add("path", path);
                to.fields(headers);
            }
            Self::Sent { n, bytes } => {
                to.add("n", n);
                to.behind("sent", bytes.len());
            }
            Self::Asked { n } => {
                to.add("n", n);
                to.add("asked", &true);
            }
            Self::Head { n, ms, status, reason, headers } => {
                to.add("n", n);
                to.add("ms", ms);
                to.add("status", status);
                to.add_some("reason", reason.as_ref());
                to.fields(headers);
            }
            Self::Chunk { n, ms, pieces } => {
                to.add("n", n);
                to.add("ms", ms);
                to.behind("chunk", pieces.iter().map(Bytes::len).sum());
            }
            Self::Frame { n, frame } => {
                to.add("n", n);
                to.frame(frame);
            }
            Self::Passed { n, from, bytes } => {
                to.add("n", n);
                to.behind("passed", bytes.len());
                to.add("from", from.as_str());
            }
            Self::End { n, end, left, trailers } => {
                to.add("n", n);
                to.add_some("ms", left.as_ref());
                if !trailers.is_empty() {
                    to.fields(trailers);
                }
                to.add("end", end.as_str());
            }
        }
    }
}

/// What the members of a line are written to. A recording writes several lines for each request, so they are not
/// put together as an [`EntryLine`] first.
struct MemberWriter<'o> {
    out: &'o mut Vec<u8>,
    /// What stands before the next one.
    next: u8,
}

impl MemberWriter<'_> {
    fn add(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.name(name);
        self.value(value);
    }

    fn add_some(&mut self, name: &str, value: Option<impl Serialize>) {
        value.iter().for_each(|value| self.add(name, value));
    }

    /// So many bytes behind the line.
    fn behind(&mut self, name: &str, length: usize) {
        self.name(name);
        self.tagged("behind", &length);
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.name(name);
        self.piece(bytes);
    }

    fn fields(&mut self, headers: &Headers) {
        self.name("headers");
        self.out.push(b'[');
        for (number, (name, value)) in headers.iter().enumerate() {
            self.out.extend_from_slice(if number == 0 { b"[" } else { b",[" });
            self.value(name);
            self.out.push(b',');
            self.piece(value);
            self.out.push(b']');
        }
        self.out.push(b']');
    }

    fn frame(&mut self, frame: &Frame) {
        self.add("ms", &frame.ms);
        self.add("from", frame.from.as_str());
        match &frame.content {
            Content::Text(bytes) => self.bytes("said", bytes),
            Content::Binary(bytes) => self.bytes("binary", bytes),
            Content::Close { code, reason } => self.add("close", &(code, reason)),
        }
        self.add_some("fragments", Some(&frame.fragments).filter(|it| !it.is_empty()));
    }

    /// Bytes as an [`EncodedBytes`] reads them.
    fn piece(&mut self, bytes: &[u8]) {
        match str::from_utf8(bytes) {
            Ok(text) => self.tagged("text", text),
            Err(_) => self.tagged("base64", &STANDARD.encode(bytes)),
        }
    }

    fn tagged(&mut self, tag: &str, value: &(impl Serialize + ?Sized)) {
        MemberWriter { out: self.out, next: b'{' }.add(tag, value);
        self.out.push(b'}');
    }

    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(&[std::mem::replace(&mut self.next, b','), b'"']);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut *self.out, value)
            .expect("a line holds nothing that JSON cannot say");
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
        let line: EntryLine<'_> = serde_json::from_slice(&text).ok()?;
        let start = self.at;
        let behind = match line.chunk.as_ref().or(line.sent.as_ref()).or(line.passed.as_ref()) {
            Some(EncodedBytes::Behind(length)) => self.behind(*length)?,
            _ => Vec::new(),
        };
        let range = start..start + behind.len() as u64;
        Some((Entry::read(line, behind)?, range))
    }
}

impl Entry<'static> {
    fn read(line: EntryLine<'_>, behind: Vec<u8>) -> Option<Self> {
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

impl EntryLine<'_> {
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

    fn begin(self) -> Option<Entry<'static>> {
        (self.retape_journal == Some(VERSION)).then_some(())?;
        let mut recorded = Recorded {
            at: self.at?.into_owned(),
            server: self.server.map(Cow::into_owned),
            origins: self.origins.map(Cow::into_owned).unwrap_or_default(),
            ..Recorded::default()
        };
        recorded.set_address(self.upstream?.into_owned());
        Some(Entry::Begin { recorded })
    }
}

impl EncodedBytes<'_> {
    fn bytes(self, behind: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Behind(_) => Some(behind),
            Self::Text(text) => Some(text.into_owned().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
        }
    }
}

fn headers(fields: Vec<(Cow<'_, str>, EncodedBytes<'_>)>) -> Option<Headers> {
    let field = |(name, value): (Cow<'_, str>, EncodedBytes<'_>)| {
        Some((name.into_owned(), Bytes::from(value.bytes(Vec::new())?)))
    };
    fields.into_iter().map(field).collect::<Option<Vec<_>>>().map(Headers::from_iter)
}
