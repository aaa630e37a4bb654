//! Addresses, as a request target has them.

/// An address with a scheme, a host and a path: lower case where case means nothing, without user
/// information, usual port and fragment, and with nothing in it that a request target cannot have. What
/// has no scheme is a path.
pub(super) fn absolute(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    // One behind a `/` or `?` is that of another address, which a parameter says.
    let is_scheme = |it: &(&str, &str)| it.0.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let Some((scheme, rest)) = url.split_once("://").filter(is_scheme) else {
        let slash = if url.starts_with('/') { "" } else { "/" };
        return format!("{slash}{}", target(url));
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    // A WebSocket is asked for as all else is.
    let scheme = scheme.to_ascii_lowercase();
    let scheme = scheme.strip_prefix("ws").map_or(scheme.clone(), |rest| format!("http{rest}"));
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
            ("/Login?next=https://User@h:443", "/Login?next=https://User@h:443"),
            ("wss://h:443/live", "https://h/live"),
        ] {
            assert_eq!(absolute(url), expected);
        }
    }
}
