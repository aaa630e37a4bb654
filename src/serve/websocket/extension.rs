//! What is agreed on beside the protocol: compression, and nothing else.

use http::HeaderMap;
use http::header::{HeaderValue, SEC_WEBSOCKET_EXTENSIONS};

use super::Deflate;
use super::deflate::Inflate;
use crate::cassette::Peer;

const NAME: &str = "permessage-deflate";

/// Compression that both sides have agreed on (`permessage-deflate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// Whether the messages of the client, and of the server, may refer to those before them.
    takes_over: [bool; 2],
}

impl Compression {
    /// What a server has agreed to.
    pub fn of_answer(headers: &HeaderMap) -> Option<Self> {
        let offer = offers(headers).next()?;
        let takes_over = |peer: Peer| {
            let forbids = format!("{}_no_context_takeover", peer.as_str());
            offer.iter().all(|(name, _)| *name != forbids)
        };
        Some(Self { takes_over: [Peer::Client, Peer::Server].map(takes_over) })
    }

    /// What we agree to as a server: the first offer that we can keep, without a memory for either
    /// side. The answer says so.
    pub fn agreed(asked: &HeaderMap) -> Option<(Self, HeaderValue)> {
        Deflate::new()?;
        // What we send may refer to all of the largest window, and to no smaller one.
        let may_be = |(name, value): &(&str, Option<&str>)| match *name {
            "server_max_window_bits" => *value == Some("15"),
            "client_max_window_bits" => true,
            "server_no_context_takeover" | "client_no_context_takeover" => value.is_none(),
            _ => false,
        };
        offers(asked).find(|offer| offer.iter().all(may_be))?;
        let answer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        Some((Self { takes_over: [false; 2] }, HeaderValue::from_static(answer)))
    }

    /// What decompresses the messages of a side.
    pub fn inflate(self, peer: Peer) -> Option<Inflate> {
        Inflate::new(self.takes_over[peer as usize])
    }

    /// What compresses the messages of a server.
    pub fn deflate(self) -> Option<Deflate> {
        Deflate::new()
    }

    /// Leaves only those offers in a request that we can read.
    pub fn keep_offers(headers: &mut HeaderMap) {
        let values = headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        let kept: Vec<&str> = values
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|offer| Deflate::new().is_some() && name(offer) == NAME)
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
        for (offer, is_taken) in [
            ("permessage-deflate; client_max_window_bits", true),
            ("permessage-deflate; server_max_window_bits=9", false),
            ("permessage-deflate; server_max_window_bits=9, permessage-deflate", true),
            ("permessage-deflate; server_max_window_bits=\"15\"", true),
            ("permessage-deflate; unheard", false),
            ("x-webkit-deflate-frame", false),
        ] {
            assert_eq!(Compression::agreed(&asked(offer)).is_some(), is_taken, "{offer}");
        }
    }

    #[test]
    fn what_a_server_has_agreed_to_is_read() {
        let agreed = asked("permessage-deflate; server_no_context_takeover");

        assert_eq!(Compression::of_answer(&agreed).unwrap().takes_over, [true, false]);
        assert_eq!(Compression::of_answer(&HeaderMap::new()), None);
    }
}
