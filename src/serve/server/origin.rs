//! The recorded server's address and ours, exchanged in both directions.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, EXPECT, HeaderName,
    HeaderValue, LINK, LOCATION, REFRESH, WWW_AUTHENTICATE,
};

use memchr::memmem::Finder;

use crate::cassette::{Body, Content, Media};

/// Replaces one origin by another in a body that comes in pieces.
///
/// An origin is an address such as `http://127.0.0.1:8283`, with or without a path. So is that of its
/// WebSockets, `ws://127.0.0.1:8283`. It is found in any [`Spelling`], with scheme and host in small or
/// capital letters; never as the beginning of a longer host or port. Only what may be the beginning of one is
/// held back.
#[derive(Debug, Clone)]
pub struct Rewriter {
    exchange: Arc<Exchange>,
    held: BytesMut,
}

/// What is replaced by what.
#[derive(Debug)]
struct Exchange {
    /// By what, for either scheme; the longest ones first.
    forms: Vec<(String, String)>,
    /// The hosts of what is replaced, which all spellings have in common, if each is spelled in one way.
    hosts: Option<Vec<Finder<'static>>>,
    /// The length of the longest spelling.
    longest: usize,
}

/// How far a text has come that may be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Begun,
}

impl Rewriter {
    /// Replaces `from` by `to`.
    pub fn new(from: &str, to: &str) -> Self {
        Self::of(vec![(from.to_owned(), to.to_owned())])
    }

    /// Replaces each of several origins by another one. Of two that are the same the first counts.
    pub fn of(mut pairs: Vec<(String, String)>) -> Self {
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let finder = |from: &str| {
            let host = host_of(from);
            let has_letters = host.iter().any(u8::is_ascii_alphabetic);
            (!has_letters).then(|| Finder::new(host).into_owned())
        };
        let hosts = pairs.iter().map(|(from, _)| finder(from)).collect();
        let length = |from: &str| {
            let encoded = from.bytes().filter(|byte| matches!(byte, b':' | b'/')).count();
            from.len() + encoded * Spelling::LONGEST
        };
        let longest = pairs.iter().map(|(from, _)| length(from)).max().unwrap_or_default();
        let sockets = pairs.iter().filter_map(|(from, to)| of_sockets(from).zip(of_sockets(to)));
        let sockets: Vec<_> = sockets.collect();
        let forms = pairs.into_iter().chain(sockets).collect();
        let exchange = Exchange { forms, hosts, longest };
        Self { exchange: Arc::new(exchange), held: BytesMut::new() }
    }

    /// The whole text with its origins replaced; `None` if there are none.
    pub fn whole(self, text: &[u8]) -> Option<Bytes> {
        self.replace(text, Extent::Whole).0.map(BytesMut::freeze)
    }

    /// A message with its origins replaced.
    pub fn message(&self, content: Content) -> Content {
        match content {
            Content::Text(text) => Content::Text(self.clone().whole(&text).unwrap_or(text)),
            other => other,
        }
    }

    /// A body with its origins replaced.
    pub fn body(mut self, body: &Body) -> Body {
        match body {
            Body::Whole(bytes) => Body::Whole(self.whole(bytes).unwrap_or_else(|| bytes.clone())),
            Body::Stream(chunks) => {
                let mut chunks = chunks.clone();
                chunks.iter_mut().for_each(|chunk| chunk.bytes = self.push(chunk.bytes.clone()));
                let held = self.finish();
                if let Some(last) = chunks.last_mut().filter(|_| !held.is_empty()) {
                    last.bytes = [last.bytes.as_ref(), held.as_ref()].concat().into();
                }
                Body::Stream(chunks)
            }
        }
    }

    /// All fields with their origins replaced: any of them may lead on.
    pub fn all_fields(&self, headers: &mut HeaderMap) {
        self.values(headers.iter_mut());
    }

    /// The fields of these names with their origins replaced.
    pub fn fields(&self, headers: &mut HeaderMap, names: &[HeaderName]) {
        self.values(headers.iter_mut().filter(|(name, _)| names.contains(name)));
    }

    fn values<'v>(&self, fields: impl Iterator<Item = (&'v HeaderName, &'v mut HeaderValue)>) {
        for (name, value) in fields {
            let mut origins = self.exchange.forms.iter().filter(|_| LEADING.contains(name));
            let other = origins.find_map(|(from, _)| in_other_words(value.as_bytes(), from));
            let text = other.as_deref().map_or(value.as_bytes(), str::as_bytes);
            let replaced = self.clone().whole(text);
            if let Some(Ok(replaced)) = replaced.map(HeaderValue::from_maybe_shared) {
                *value = replaced;
            }
        }
    }

    /// What can be passed on now that `piece` has come. Not copied if nothing is replaced.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        let text = if self.held.is_empty() {
            piece
        } else {
            self.held.extend_from_slice(&piece);
            self.held.split().freeze()
        };
        let (out, undecided) = self.replace(&text, Extent::Begun);
        self.held.extend_from_slice(&text[undecided..]);
        out.map_or_else(|| text.slice(..undecided), BytesMut::freeze)
    }

    /// Whether something is held back.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held back, now that nothing more comes.
    pub fn finish(&mut self) -> Bytes {
        let text = self.held.split().freeze();
        self.clone().whole(&text).unwrap_or(text)
    }

    /// The text with origins replaced, if there were any, up to where it is not decided yet.
    fn replace(&self, text: &[u8], extent: Extent) -> (Option<BytesMut>, usize) {
        let mut out: Option<BytesMut> = None;
        let Exchange { hosts, longest, .. } = &*self.exchange;
        let mut copied = 0;
        // Without the host there can only be the beginning of one at the end.
        let mut at = match hosts {
            Some(hosts) if hosts.iter().all(|host| host.find(text).is_none()) => match extent {
                Extent::Whole => text.len(),
                Extent::Begun => text.len().saturating_sub(*longest),
            },
            _ => 0,
        };
        let undecided = loop {
            let is_first = |byte: &u8| matches!(byte, b'h' | b'H' | b'w' | b'W');
            let Some(found) = text[at..].iter().position(is_first) else { break text.len() };
            at += found;
            match self.found(&text[at..], extent) {
                TextStart::Maybe => break at,
                TextStart::Origin { length, .. }
                    if extent == Extent::Begun && at + length == text.len() =>
                {
                    break at;
                }
                TextStart::Origin { length, spelling, to }
                    if text.get(at + length).is_none_or(|next| ends_an_origin(*next)) =>
                {
                    let out = out.get_or_insert_default();
                    out.extend_from_slice(&text[copied..at]);
                    out.extend_from_slice(spelling.of(to).as_bytes());
                    at += length;
                    copied = at;
                }
                _ => at += 1,
            }
        };
        if let Some(out) = &mut out {
            out.extend_from_slice(&text[copied..undecided]);
        }
        (out, undecided)
    }

    /// What a text begins with.
    fn found(&self, text: &[u8], extent: Extent) -> TextStart<'_> {
        let mut all = self.exchange.forms.iter().map(|(from, to)| TextStart::of(text, from, to));
        // A longer one that may still come is the one that is meant.
        all.find(|found| match found {
            TextStart::Nothing => false,
            TextStart::Maybe => extent == Extent::Begun,
            TextStart::Origin { .. } => true,
        })
        .unwrap_or(TextStart::Nothing)
    }
}

impl<'a> TextStart<'a> {
    /// What a text begins with, if that is one address or its beginning.
    fn of(text: &[u8], from: &str, to: &'a str) -> Self {
        let Some((scheme, rest)) = from.split_once(':') else { return TextStart::Nothing };
        match begins(text, scheme.as_bytes()) {
            Begins::With => {}
            begins => return begins.into(),
        }
        let spelling = match Spelling::of_text(&text[scheme.len()..]) {
            Ok(spelling) => spelling,
            Err(found) => return found,
        };
        let authority = rest
            .trim_start_matches('/')
            .find('/')
            .map_or(rest.len(), |at| at + rest.len() - rest.trim_start_matches('/').len());
        let (authority, path) = rest.split_at(authority);
        let before = format!("{scheme}{}{}", spelling.colon, spelling.of(authority));
        let path = spelling.of(path);
        match begins(text, before.as_bytes()) {
            Begins::With if text[before.len()..].starts_with(path.as_bytes()) => {
                TextStart::Origin { length: before.len() + path.len(), spelling, to }
            }
            Begins::With if path.as_bytes().starts_with(&text[before.len()..]) => TextStart::Maybe,
            Begins::With => TextStart::Nothing,
            begins => begins.into(),
        }
    }
}

/// What a text begins with.
#[derive(Debug)]
enum TextStart<'a> {
    Nothing,
    /// It is too short to tell.
    Maybe,
    Origin {
        length: usize,
        spelling: Spelling,
        /// What takes its place.
        to: &'a str,
    },
}

/// How a text begins, beside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    With,
    /// As far as it goes.
    Perhaps,
    Otherwise,
}

impl From<Begins> for TextStart<'_> {
    fn from(begins: Begins) -> Self {
        if begins == Begins::Otherwise { Self::Nothing } else { Self::Maybe }
    }
}

/// Letters are equal, small or capital.
fn begins(text: &[u8], with: &[u8]) -> Begins {
    let length = text.len().min(with.len());
    if !text[..length].eq_ignore_ascii_case(&with[..length]) {
        Begins::Otherwise
    } else if length == with.len() {
        Begins::With
    } else {
        Begins::Perhaps
    }
}

/// How `:` and `/` are spelled in an address: as they are, with `\/` or `\u002f` for `/` as some JSON
/// writers do, also in JSON within a string, and percent-encoded any number of times.
#[derive(Debug, PartialEq, Eq)]
struct Spelling {
    colon: String,
    slash: String,
}

/// How a slash is spelled behind a colon that stands as it is.
const SLASHES: [&str; 7] = ["/", "\\/", "\\\\/", "\\u002f", "\\u002F", "\\\\u002f", "\\\\u002F"];

/// Nobody encodes more often.
const DEPTH: usize = 16;

impl Spelling {
    /// So many bytes a character takes at most beside its own.
    const LONGEST: usize = 2 * DEPTH + 2;

    /// That of a text which begins with the colon of an address.
    fn of_text(text: &[u8]) -> Result<Self, TextStart<'static>> {
        let of = |colon: &str, slash: &str| {
            Ok(Self { colon: colon.to_owned(), slash: slash.to_owned() })
        };
        match text.first() {
            Some(b':') => {
                let rest = &text[1..];
                if let Some(slash) = SLASHES.iter().find(|it| rest.starts_with(it.as_bytes())) {
                    return of(":", slash);
                }
                let is_short = SLASHES.iter().any(|slash| slash.as_bytes().starts_with(rest));
                Err(if is_short { TextStart::Maybe } else { TextStart::Nothing })
            }
            Some(b'%') => {
                let digits = text[1..].chunks(2).take(DEPTH);
                let depth = digits.take_while(|digits| *digits == b"25").count();
                let encoded = "25".repeat(depth);
                match text.get(1 + encoded.len()..3 + encoded.len()) {
                    Some(b"3A") => of(&format!("%{encoded}3A"), &format!("%{encoded}2F")),
                    Some(b"3a") => of(&format!("%{encoded}3a"), &format!("%{encoded}2f")),
                    Some(_) => Err(TextStart::Nothing),
                    None => Err(TextStart::Maybe),
                }
            }
            Some(_) => Err(TextStart::Nothing),
            None => Err(TextStart::Maybe),
        }
    }

    /// An address in this spelling.
    fn of(&self, address: &str) -> String {
        address.replace(':', &self.colon).replace('/', &self.slash)
    }
}

/// Whether an origin may stand in a text, in any spelling: its host is spelled the same in all.
pub fn may_hold(text: &[u8], origin: &str) -> bool {
    let host = host_of(origin);
    match host.first() {
        Some(first) if text.len() <= SHORT || host.iter().any(u8::is_ascii_alphabetic) => {
            let mut places =
                memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
            places.any(|at| begins(&text[at..], host) == Begins::With)
        }
        // To prepare it takes longer than to go through a short text.
        Some(_) => memchr::memmem::find(text, host).is_some(),
        None => true,
    }
}

const SHORT: usize = 1024;

/// Whether a field may name an origin.
pub fn may_name(headers: &HeaderMap, origin: &str) -> bool {
    headers.iter().any(|(name, value)| {
        let value = value.as_bytes();
        may_hold(value, origin) || LEADING.contains(name) && in_other_words(value, origin).is_some()
    })
}

/// Whether an address leads to a server, by whatever name.
#[cfg(feature = "record")]
pub fn leads_to(address: &str, origin: &str) -> bool {
    in_other_words(address.as_bytes(), origin).is_some()
}

/// What leads to a server by another name than its own, by that: without a scheme, with a user, or with another name of this
/// machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3).
fn in_other_words(address: &[u8], origin: &str) -> Option<String> {
    let address = str::from_utf8(address).ok()?;
    let (scheme, own) = origin.split_once("://")?;
    let (own_scheme, rest) = address.split_once("//")?;
    if !own_scheme.is_empty() && !own_scheme.trim_end_matches(':').eq_ignore_ascii_case(scheme) {
        return None;
    }
    let (named, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let named = named.rsplit('@').next().unwrap_or(named);
    let own = own.split('/').next().unwrap_or(own);
    let [(host, port), (own_host, own_port)] = [named, own].map(host_and_port);
    let is_same = host.eq_ignore_ascii_case(own_host) || is_loopback(host) && is_loopback(own_host);
    (is_same && port == own_port).then(|| format!("{scheme}://{own}{path}"))
}

fn host_and_port(authority: &str) -> (&str, &str) {
    let at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    authority.split_at(at.unwrap_or(authority.len()))
}

/// Whether a name or an address is one of this machine: whoever asks for no address in particular asks for that, too.
fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// The address of the WebSockets of a server.
fn of_sockets(origin: &str) -> Option<String> {
    origin.strip_prefix("http").map(|rest| format!("ws{rest}"))
}

fn host_of(origin: &str) -> &[u8] {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority).as_bytes();
    authority.split(|byte| matches!(byte, b':' | b'/')).next().unwrap_or(authority)
}

/// Whether an origin is over before this byte.
fn ends_an_origin(next: u8) -> bool {
    !(next.is_ascii_alphanumeric() || matches!(next, b'.' | b'-' | b':' | b'@'))
}

/// The fields of an answer that hold addresses, also such as name no host.
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

/// Whether the body of an answer is text in which an address of the server may stand that a client follows,
/// without its coding: JSON, alone or in a stream, or a document with links.
pub fn may_hold_origins(headers: &HeaderMap) -> bool {
    media_of(headers).holds_json() || is_document(headers)
}

/// Whether a body is HTML or XML.
fn is_document(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim().as_bytes();
    let ends = |end: &[u8]| {
        media.len() > end.len() && media[media.len() - end.len()..].eq_ignore_ascii_case(end)
    };
    ends(b"/html") || ends(b"/xml") || ends(b"+xml")
}

/// Whether our address is replaced in the body of a request: JSON, a form, other text, or what is called nothing,
/// neither compressed nor announced to be large, and not asked for first, for its length is known before it is.
/// Record and replay must agree on it.
pub fn may_name_us(headers: &HeaderMap) -> bool {
    let media = media_of(headers);
    let is_unnamed = !headers.contains_key(CONTENT_TYPE);
    (is_unnamed || media.holds_json() || matches!(media, Media::Text | Media::Form))
        && !headers.contains_key(CONTENT_ENCODING)
        && !is_asked_for_first(headers)
        && announced(headers).is_none_or(|length| length <= READ_WHOLE)
}

/// Whether the client waits to be told that it may send the body.
pub fn is_asked_for_first(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|it| it.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// The length of the body, if it was announced.
pub fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The media type that a header announces.
pub fn media_of(headers: &HeaderMap) -> Media {
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
        check("HTTP://127.0.0.1:8283/v1", "http://localhost:9/name/-/v1");
        check("wws://127.0.0.1:8283/v1 w", "wws://localhost:9/name/-/v1 w");
        check(r#""Ws:\/\/127.0.0.1:8283""#, r#""ws:\/\/localhost:9\/name\/-""#);
        check(
            "hhttp%25253A%25252F%25252F127.0.0.1%25253A8283%25252Fv1",
            "hhttp%25253A%25252F%25252Flocalhost%25253A9%25252Fname%25252F-%25252Fv1",
        );
        check(
            "?next=http%3A%2F%2F127.0.0.1%3A8283%2Fv1",
            "?next=http%3A%2F%2Flocalhost%3A9%2Fname%2F-%2Fv1",
        );
    }

    #[test]
    fn of_several_origins_the_longest_one_is_meant() {
        let pairs = [("http://us:1", "http://one:2"), ("http://us:1/-b", "http://two:3")];
        let pairs = pairs.map(|(from, to)| (from.to_owned(), to.to_owned()));
        let text = "http://us:1/-b/x http://us:1/-a ws:\\/\\/us:1\\/-b http://us:1/-";
        let expected = "http://two:3/x http://one:2/-a ws:\\/\\/two:3 http://one:2/-";
        for cut in 0..=text.len() {
            let mut rewriter = Rewriter::of(pairs.to_vec());
            let mut out = rewriter.push(Bytes::copy_from_slice(&text.as_bytes()[..cut])).to_vec();
            out.extend_from_slice(&rewriter.push(Bytes::copy_from_slice(&text.as_bytes()[cut..])));
            out.extend_from_slice(&rewriter.finish());
            assert_eq!(String::from_utf8(out).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_only_begins_like_it_is_left_alone() {
        for text in [
            "http://127.0.0.1:82830/",
            "http://127.0.0.1:828",
            "http://127.0.0.1",
            "hhttp:/",
            "http:\\",
            "http%",
            "http%252",
            "http%3A%2F%2F127.0.0.1%3A828",
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
