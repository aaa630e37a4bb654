//! The recorded server's address and ours, exchanged in both directions.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, HeaderName, HeaderValue,
    LINK, LOCATION, REFRESH, WWW_AUTHENTICATE,
};

use memchr::memmem::Finder;

use crate::cassette::Media;

/// How `:` and `/` are spelled in an address.
const SPELLINGS: [(&str, &str); 9] = [
    (":", "/"),
    (":", "\\/"),
    (":", "\\\\/"),
    (":", "\\u002f"),
    (":", "\\u002F"),
    (":", "\\\\u002f"),
    (":", "\\\\u002F"),
    ("%3A", "%2F"),
    ("%3a", "%2f"),
];

/// Replaces one origin by another in a body that comes in pieces.
///
/// An origin is an address such as `http://127.0.0.1:8283`, with or without a path. It is found as
/// it is, with `\/` or `\u002f` for `/` as some JSON writers spell it, also in JSON within a string, and
/// percent-encoded; never as the beginning of a longer host or port. Only what may be the beginning of
/// one is held back.
#[derive(Debug, Clone)]
pub struct Rewriter {
    exchange: Arc<Exchange>,
    held: BytesMut,
}

/// What is replaced by what, in each spelling.
#[derive(Debug)]
struct Exchange {
    pairs: [(Vec<u8>, Vec<u8>); SPELLINGS.len()],
    /// The host of what is replaced, which all spellings have in common.
    host: Finder<'static>,
    /// The length of the longest spelling.
    longest: usize,
}

impl Rewriter {
    /// Replaces `from` by `to`.
    pub fn new(from: &str, to: &str) -> Self {
        let pairs = SPELLINGS.map(|(colon, slash)| {
            [from, to].map(|it| it.replace(':', colon).replace('/', slash).into_bytes()).into()
        });
        let longest = pairs.iter().map(|(from, _)| from.len()).max().unwrap_or_default();
        let host = Finder::new(host_of(from)).into_owned();
        Self { exchange: Arc::new(Exchange { pairs, host, longest }), held: BytesMut::new() }
    }

    /// The whole text with its origins replaced; `None` if there are none.
    pub fn whole(mut self, text: &[u8]) -> Option<Bytes> {
        self.exchange.host.find(text)?;
        let mut out = BytesMut::from(self.push(Bytes::copy_from_slice(text)).as_ref());
        out.extend_from_slice(&self.finish());
        Some(out.freeze())
    }

    /// The fields of these names with their origins replaced.
    pub fn fields(&self, headers: &mut HeaderMap, names: &[HeaderName]) {
        for (_, value) in headers.iter_mut().filter(|(name, _)| names.contains(name)) {
            let replaced = self.clone().whole(value.as_bytes());
            if let Some(Ok(replaced)) = replaced.map(HeaderValue::from_maybe_shared) {
                *value = replaced;
            }
        }
    }

    /// What can be passed on now that `piece` has come. Not copied if nothing is replaced.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        if self.held.is_empty() && !piece.contains(&b'h') {
            return piece;
        }
        let text = if self.held.is_empty() {
            piece
        } else {
            self.held.extend_from_slice(&piece);
            self.held.split().freeze()
        };
        let (out, undecided) = self.replace(&text);
        self.held.extend_from_slice(&text[undecided..]);
        out.unwrap_or_else(|| text.slice(..undecided))
    }

    /// What was held back, now that nothing more comes.
    pub fn finish(&mut self) -> Bytes {
        let text = self.held.split().freeze();
        match self.exchange.pairs.iter().find(|(from, _)| text == from) {
            Some((_, to)) => Bytes::copy_from_slice(to),
            None => text,
        }
    }

    /// The text with origins replaced, if there were any, up to where it is not decided yet.
    fn replace(&self, text: &Bytes) -> (Option<Bytes>, usize) {
        let mut out: Option<BytesMut> = None;
        let Exchange { pairs, host, longest } = &*self.exchange;
        let mut copied = 0;
        // Without the host there can only be the beginning of one at the end.
        let mut at = match host.find(text) {
            Some(_) => 0,
            None => text.len().saturating_sub(*longest),
        };
        while let Some(found) = memchr::memchr(b'h', &text[at..]) {
            at += found;
            let rest = &text[at..];
            match pairs.iter().find(|(from, _)| rest.starts_with(from)) {
                Some((from, _)) if rest.len() == from.len() => break,
                Some((from, to)) if ends_an_origin(rest[from.len()]) => {
                    let out = out.get_or_insert_default();
                    out.extend_from_slice(&text[copied..at]);
                    out.extend_from_slice(to);
                    at += from.len();
                    copied = at;
                }
                _ if pairs.iter().any(|(from, _)| from.starts_with(rest)) => break,
                _ => at += 1,
            }
        }
        let undecided = if memchr::memchr(b'h', &text[at..]).is_some() { at } else { text.len() };
        if let Some(out) = &mut out {
            out.extend_from_slice(&text[copied..undecided]);
        }
        (out.map(BytesMut::freeze), undecided)
    }
}

/// Whether an origin may stand in a text, in any spelling: its host is spelled the same in all.
pub fn may_hold(text: &[u8], origin: &str) -> bool {
    let host = host_of(origin);
    match host.first() {
        // To prepare the other search takes longer than to go through such a text.
        Some(first) if text.len() <= SHORT => {
            memchr::memchr_iter(*first, text).any(|at| text[at..].starts_with(host))
        }
        _ => memchr::memmem::find(text, host).is_some(),
    }
}

const SHORT: usize = 1024;

fn host_of(origin: &str) -> &[u8] {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    authority.split([':', '/']).next().unwrap_or(authority).as_bytes()
}

/// Whether an origin is over before this byte.
fn ends_an_origin(next: u8) -> bool {
    !(next.is_ascii_alphanumeric() || matches!(next, b'.' | b'-' | b':' | b'@'))
}

/// The fields of an answer that hold addresses.
pub const ADDRESSES: [HeaderName; 7] = [
    LOCATION,
    CONTENT_LOCATION,
    OPERATION_LOCATION,
    AZURE_ASYNCOPERATION,
    LINK,
    REFRESH,
    WWW_AUTHENTICATE,
];

/// Those of them that are an address and nothing else, with a host or without.
pub(super) const LEADING: [HeaderName; 4] =
    [LOCATION, CONTENT_LOCATION, OPERATION_LOCATION, AZURE_ASYNCOPERATION];

const OPERATION_LOCATION: HeaderName = HeaderName::from_static("operation-location");
const AZURE_ASYNCOPERATION: HeaderName = HeaderName::from_static("azure-asyncoperation");

/// A body up to this size whose length was announced is read whole, so that the length can be
/// announced again after addresses were replaced in it.
pub const READ_WHOLE: u64 = 1024 * 1024;

/// Whether the body of an answer is text in which an address of the server may stand: JSON, alone or
/// in a stream, not compressed.
///
/// While it is recorded, an answer that is compressed goes on as it is: to exchange an address in it, it
/// would have to be taken apart and put together again, and what a coder holds back would be held back
/// from the client. In replay it is all there: see [`may_hold_origins_in`].
pub fn may_hold_origins(headers: &HeaderMap) -> bool {
    may_hold_origins_in(headers) && !headers.contains_key(CONTENT_ENCODING)
}

/// The same of what a body says without its coding.
pub fn may_hold_origins_in(headers: &HeaderMap) -> bool {
    media(headers).holds_json()
}

/// Whether our address is replaced in the body of a request: JSON, a form or other text, neither
/// compressed nor announced to be large. Record and replay must agree on it.
pub fn may_name_us(headers: &HeaderMap) -> bool {
    let media = media(headers);
    (media.holds_json() || matches!(media, Media::Text | Media::Form))
        && !headers.contains_key(CONTENT_ENCODING)
        && announced(headers).is_none_or(|length| length <= READ_WHOLE)
}

/// The length of the body, if it was announced.
pub fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn media(headers: &HeaderMap) -> Media {
    Media::of(headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: &str = "http://127.0.0.1:8283";
    const TO: &str = "http://localhost:9/name/-";

    fn check(text: &str, expected: &str) {
        for cut in 0..=text.len() {
            let mut rewriter = Rewriter::new(FROM, TO);
            let mut out = rewriter.push(Bytes::copy_from_slice(&text.as_bytes()[..cut])).to_vec();
            out.extend_from_slice(&rewriter.push(Bytes::copy_from_slice(&text.as_bytes()[cut..])));
            out.extend_from_slice(&rewriter.finish());
            assert_eq!(String::from_utf8(out).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_origin_is_found_across_every_cut() {
        check("http://127.0.0.1:8283", "http://localhost:9/name/-");
        check(
            "\"http://127.0.0.1:8283/v1?x\" and http://127.0.0.1:8283",
            "\"http://localhost:9/name/-/v1?x\" and http://localhost:9/name/-",
        );
        check(r#""http:\/\/127.0.0.1:8283\/v1""#, r#""http:\/\/localhost:9\/name\/-\/v1""#);
        check(
            r#""http:\u002f\u002f127.0.0.1:8283""#,
            r#""http:\u002f\u002flocalhost:9\u002fname\u002f-""#,
        );
        check(r#""http:\\/\\/127.0.0.1:8283\\/v1""#, r#""http:\\/\\/localhost:9\\/name\\/-\\/v1""#);
        check("http%3a%2f%2f127.0.0.1%3a8283", "http%3a%2f%2flocalhost%3a9%2fname%2f-");
        check(
            "?next=http%3A%2F%2F127.0.0.1%3A8283%2Fv1",
            "?next=http%3A%2F%2Flocalhost%3A9%2Fname%2F-%2Fv1",
        );
    }

    #[test]
    fn what_only_begins_like_it_is_left_alone() {
        for text in [
            "http://127.0.0.1:82830/",
            "http://127.0.0.1:828",
            "http://127.0.0.1",
            "hhttp:/",
            "héh",
        ] {
            if text.is_ascii() {
                check(text, text);
            }
        }
    }

    #[test]
    fn a_piece_with_nothing_to_replace_is_not_held_back() {
        let mut rewriter = Rewriter::new(FROM, TO);

        let out = rewriter.push(Bytes::from_static(b"data: {\"a\": \"the http way\"}\n\n"));

        assert_eq!(out, "data: {\"a\": \"the http way\"}\n\n");
        assert!(rewriter.finish().is_empty());
    }
}
