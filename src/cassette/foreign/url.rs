//! Addresses, as a request target has them.

use crate::cassette::Cassette;

/// An address with a scheme, a host and a path: lower case where case means nothing, without user
/// information, usual port and fragment, and with nothing in it that a request target cannot have. What
/// has no scheme is a path.
pub(super) fn absolute(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        let slash = if url.starts_with('/') { "" } else { "/" };
        return format!("{slash}{}", target(url));
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let scheme = scheme.to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(usual).unwrap_or(&host);
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{host}{slash}{}", target(path))
}

fn target(path: &str) -> String {
    let mut target = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => target.push(byte.into()),
            _ => target.push_str(&format!("%{byte:02X}")),
        }
    }
    target
}

/// The server of an address and the rest of it.
fn split(target: &str) -> (&str, &str) {
    let Some(scheme) = target.find("://") else { return ("", target) };
    let end = target[scheme + 3..].find('/').map_or(target.len(), |at| scheme + 3 + at);
    target.split_at(end)
}

/// How many servers were asked.
#[cfg(feature = "cli")]
pub(super) fn origins(cassette: &Cassette) -> usize {
    let paths = cassette.interactions.iter().map(|it| it.request.path.as_str());
    paths.map(|path| split(path).0).collect::<std::collections::BTreeSet<_>>().len()
}

/// Makes the first server the one of the cassette: what goes there has a path, all else an address.
pub(super) fn settle(cassette: &mut Cassette) {
    let mut paths = cassette.interactions.iter().map(|it| it.request.path.as_str());
    let first = paths.find_map(|path| Some(split(path).0).filter(|origin| !origin.is_empty()));
    let Some(first) = first.map(str::to_owned) else { return };
    for interaction in &mut cassette.interactions {
        let path = &mut interaction.request.path;
        if split(path).0 == first {
            path.drain(..first.len());
        }
    }
    cassette.recorded.upstream = first;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_a_request_has_it() {
        for (url, expected) in [
            ("https://API.example.com:443/v1?x=a b#top", "https://api.example.com/v1?x=a%20b"),
            ("http://user:word@h:8080", "http://h:8080/"),
            ("https://h?q=ü", "https://h/?q=%C3%BC"),
            ("/v1/agents", "/v1/agents"),
            ("v1", "/v1"),
        ] {
            assert_eq!(absolute(url), expected);
        }
    }
}
