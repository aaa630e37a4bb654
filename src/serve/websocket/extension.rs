//! What is agreed on beside the protocol: compression, and nothing else.

use http::HeaderMap;
use http::header::{HeaderValue, SEC_WEBSOCKET_EXTENSIONS};

use super::Deflate;
use super::deflate::Inflate;
use crate::cassette::Peer;

const NAME: &str = "permessage-deflate";

/// How far back anything refers if nothing is said.
const LARGEST_WINDOW: usize = 1 << 15;

/// Compression that both sides have agreed on (`permessage-deflate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// Whether the messages of the client, and of the server, may refer to those before them.
    takes_over: [bool; 2],
    /// So many bytes back what the server sends may refer.
    window: usize,
}

impl Compression {
    /// What a server has agreed to.
    pub fn of_answer(headers: &HeaderMap) -> Option<Self> {
        let offer = offers(headers).next()?;
        let takes_over = |peer: Peer| {
            let forbids = format!("{}_no_context_takeover", peer.as_str());
            offer.iter().all(|(name, _)| *name != forbids)
        };
        let takes_over = [Peer::Client, Peer::Server].map(takes_over);
        Some(Self { takes_over, window: LARGEST_WINDOW })
    }

    /// What we agree to as a server: the first offer that we can keep, without a memory for either
    /// side. The answer says so.
    pub fn agreed(asked: &HeaderMap) -> Option<(Self, HeaderValue)> {
        Deflate::new(LARGEST_WINDOW)?;
        offers(asked).find_map(|offer| Self::kept(&offer))
    }

    /// An offer that we can keep; nothing if RFC 7692 says that it is to be declined.
    fn kept(offer: &[(&str, Option<&str>)]) -> Option<(Self, HeaderValue)> {
        let mut bits = None;
        for (at, (name, value)) in offer.iter().enumerate() {
            if offer[..at].iter().any(|(before, _)| before == name) {
                return None;
            }
            match (*name, *value) {
                ("server_max_window_bits", Some(value)) => bits = Some(window_bits(value)?),
                ("client_max_window_bits", Some(value)) => drop(window_bits(value)?),
                ("client_max_window_bits", None)
                | ("server_no_context_takeover" | "client_no_context_takeover", None) => {}
                _ => return None,
            }
        }
        let mut answer = format!("{NAME}; server_no_context_takeover; client_no_context_takeover");
        if let Some(bits) = bits {
            answer.push_str(&format!("; server_max_window_bits={bits}"));
        }
        let window = bits.map_or(LARGEST_WINDOW, |bits| 1 << bits);
        Some((Self { takes_over: [false; 2], window }, HeaderValue::try_from(answer).ok()?))
    }

    /// What decompresses the messages of a side.
    pub fn inflate(self, peer: Peer) -> Option<Inflate> {
        Inflate::new(self.takes_over[peer as usize])
    }

    /// What compresses the messages of a server.
    pub fn deflate(self) -> Option<Deflate> {
        Deflate::new(self.window)
    }

    /// Leaves only those offers in a request that we can read.
    pub fn keep_offers(headers: &mut HeaderMap) {
        let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        let kept: Vec<&str> = values
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|offer| Deflate::new(LARGEST_WINDOW).is_some() && name(offer) == NAME)
            .collect();
        let kept = HeaderValue::try_from(kept.join(", "));
        match kept {
            Ok(kept) if !kept.is_empty() => {
                headers.insert(SEC_WEBSOCKET_EXTENSIONS, kept);
            }
            _ => drop(headers.remove(SEC_WEBSOCKET_EXTENSIONS)),
        }
    }
}

/// The parameters of each offer, or of what was agreed on.
fn offers(headers: &HeaderMap) -> impl Iterator<Item = Vec<(&str, Option<&str>)>> {
    let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
    let all = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    all.filter(|offer| name(offer) == NAME).map(|offer| {
        let parameters =
            offer.split(';').skip(1).map(|parameter| match parameter.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
                None => (parameter.trim(), None),
            });
        parameters.collect()
    })
}

/// The size of a window, as a power of two: 8 to 15, with no zero before it.
fn window_bits(value: &str) -> Option<u32> {
    let bits = value.parse().ok().filter(|bits| (8..=15).contains(bits))?;
    (!value.starts_with(['0', '+'])).then_some(bits)
}

fn name(offer: &str) -> &str {
    offer.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(offer: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(SEC_WEBSOCKET_EXTENSIONS, HeaderValue::from_static(offer))])
    }

    #[test]
    #[cfg(feature = "compression")]
    fn the_first_offer_that_can_be_kept_is_taken() {
        for (offer, expected) in [
            ("permessage-deflate; client_max_window_bits", Some("")),
            ("permessage-deflate; client_max_window_bits=8", Some("")),
            ("permessage-deflate; server_max_window_bits=9", Some("; server_max_window_bits=9")),
            (
                "permessage-deflate; server_max_window_bits=\"15\"",
                Some("; server_max_window_bits=15"),
            ),
            ("permessage-deflate; server_max_window_bits=7, permessage-deflate", Some("")),
            ("permessage-deflate; server_max_window_bits=16", None),
            ("permessage-deflate; server_max_window_bits=08", None),
            ("permessage-deflate; server_max_window_bits", None),
            ("permessage-deflate; client_max_window_bits=x", None),
            ("permessage-deflate; client_max_window_bits; client_max_window_bits", None),
            ("permessage-deflate; server_no_context_takeover=1", None),
            ("permessage-deflate; unheard", None),
            ("x-webkit-deflate-frame", None),
        ] {
            let agreed = Compression::agreed(&asked(offer)).map(|(_, answer)| answer);
            let always =
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
            let expected = expected.map(|behind| format!("{always}{behind}"));
            assert_eq!(
                agreed.as_ref().map(|it| it.to_str().unwrap()),
                expected.as_deref(),
                "{offer}"
            );
        }
    }

    #[test]
    fn what_a_server_has_agreed_to_is_read() {
        let agreed = asked("permessage-deflate; server_no_context_takeover");

        assert_eq!(Compression::of_answer(&agreed).unwrap().takes_over, [true, false]);
        assert_eq!(Compression::of_answer(&HeaderMap::new()), None);
    }
}
