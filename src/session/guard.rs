//! Keeping web pages of strangers away.
//!
//! # Rationale
//!
//! Whoever opens a page in a browser lets it send requests to this machine, and with a name of its own
//! that points here (DNS rebinding) it may read the answers. A page cannot choose the fields `origin`
//! and `sec-fetch-site`, nor a `host` that is not the name it was loaded from.

use std::net::IpAddr;

use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;

use crate::serve::server::{Answer, problem};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Says why a request is not for us, if it is one for another host, or of another host's page.
pub(super) fn refusal(head: &Parts, allowed: &[String]) -> Option<String> {
    // A browser asks that way only a server that the user has made its proxy.
    if head.uri.authority().is_some() {
        return None;
    }
    let headers = &head.headers;
    let host = headers.get(HOST).map_or("", |host| host.to_str().map_or("?", host_of));
    if !(host.is_empty() || is_here(host) || is_among(allowed, host)) {
        return Some(format!("`{host}` is no host of retape's; {}", allow(host)));
    }
    page(headers).filter(|page| !is_known(page, host, allowed)).map(|page| {
        let page = if page.is_empty() { "null" } else { page };
        format!("a page of `{page}` may not use retape; {}", allow(origin_host(page)))
    })
}

/// Whether a request for a path means another server by its `host`, if we are a proxy that listens at `port`.
///
/// # Rationale
///
/// Some clients ask a proxy for a path alone, as the streams of PHP do. A page in a browser does that of us only: it
/// says our port then, whatever name of its own leads here, and mostly whose page it is. Clients that say no port may
/// have left it out.
pub(super) fn names_another(head: &Parts, allowed: &[String], port: u16) -> bool {
    let headers = &head.headers;
    let is_of_page = headers.contains_key(ORIGIN) || headers.contains_key(SEC_FETCH_SITE);
    let Some(field) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    if is_of_page || field.is_empty() || head.uri.authority().is_some() {
        return false;
    }
    let host = host_of(field);
    match field[host.len()..].strip_prefix(':').and_then(|port| port.parse::<u16>().ok()) {
        Some(named) => port != named,
        None => port != 80 && !is_here(host) && !is_among(allowed, host),
    }
}

/// The answer to it. A browser that shows it must ask for nothing on its behalf: the icon would be asked for as by
/// a page of retape's own, and passed on.
pub(super) fn refused(why: &str) -> Answer {
    let mut answer = problem(StatusCode::FORBIDDEN, "foreign", why);
    let policy = HeaderValue::from_static("default-src 'none'");
    answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    answer
}

fn allow(host: &str) -> String {
    format!("`--allow-host {host}` allows it")
}

/// The page that a browser sends a request for, if that may be one of another host.
fn page(headers: &HeaderMap) -> Option<&str> {
    match headers.get(ORIGIN) {
        Some(origin) => Some(origin.to_str().unwrap_or_default()),
        None => {
            let is_foreign = headers.get(SEC_FETCH_SITE).is_some_and(|site| site == "cross-site");
            is_foreign.then_some("")
        }
    }
}

/// Whether a page is one of this machine's own, or is allowed.
fn is_known(page: &str, host: &str, allowed: &[String]) -> bool {
    let from = origin_host(page);
    let is_web = page.starts_with("http://") || page.starts_with("https://");
    let is_ours = is_local(from) || from.eq_ignore_ascii_case(host);
    (is_web && is_ours) || is_among(allowed, from)
}

/// Whether that can be a name of this machine: nobody else's DNS answers for it.
fn is_here(host: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_internal = ends_with(host, ".internal");
    address(host).is_some()
        || is_localhost(host)
        || (host.bytes().all(is_name)
            || is_internal && host.bytes().all(|b| is_name(b) || b == b'.'))
}

fn is_localhost(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || ends_with(host, ".localhost")
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Whether a host is this machine for itself.
pub(super) fn is_local(host: &str) -> bool {
    is_localhost(host) || address(host).is_some_and(|address| address.is_loopback())
}

fn is_among(allowed: &[String], host: &str) -> bool {
    allowed.iter().any(|other| other.eq_ignore_ascii_case(host))
}

fn address(host: &str) -> Option<IpAddr> {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

fn ends_with(host: &str, end: &str) -> bool {
    let tail = host.len().checked_sub(end.len()).and_then(|at| host.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// `http://name:80` is of `name`.
fn origin_host(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    // Some clients that are no browsers write a path there.
    host_of(authority.split_once('/').map_or(authority, |(authority, _)| authority))
}

/// An authority without its port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn is_refused(fields: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().uri("/v1");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        refusal(&request.body(()).unwrap().into_parts().0, &["proxy.example".to_owned()]).is_some()
    }

    #[test]
    fn only_hosts_of_this_machine_or_of_its_network_are_answered() {
        for host in [
            "127.0.0.1:4000",
            "[::1]:4000",
            "10.1.2.3",
            "localhost",
            "LOCALHOST:1",
            "tests.localhost:1",
            "retape:8000",
            "host.docker.internal:4000",
            "Proxy.example:4000",
        ] {
            assert!(!is_refused(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example:4000",
            "localhost.evil.example",
            "a\"b",
            "evil.example/\"><script>.localhost",
            "a/.internal",
            "xproxy.example",
        ] {
            assert!(is_refused(&[("host", host)]), "{host}");
        }
        assert!(!is_refused(&[]), "HTTP/1.0");
    }

    #[test]
    fn a_path_is_asked_of_another_server_by_its_port_unless_a_page_asks() {
        let check = |fields: &[(&str, &str)], expected: bool| {
            let request = fields.iter().fold(Request::builder().uri("/v1"), |request, field| {
                request.header(field.0, field.1)
            });
            let head = request.body(()).unwrap().into_parts().0;
            let is_another = names_another(&head, &["proxy.example".to_owned()], 4000);
            assert_eq!(is_another, expected, "{fields:?}");
        };

        for host in ["api.example", "api.example:8080", "127.0.0.1:8080", "[::1]:8080", "web:80"] {
            check(&[("host", host)], true);
            check(&[("host", host), ("origin", "http://api.example")], false);
            check(&[("host", host), ("sec-fetch-site", "same-origin")], false);
        }
        for host in ["api.example:4000", "127.0.0.1:4000", "localhost", "web", "proxy.example", ""]
        {
            check(&[("host", host)], false);
        }
        check(&[], false);
    }

    #[test]
    fn only_pages_of_this_machine_are_answered() {
        let host = ("host", "127.0.0.1:4000");
        for origin in [
            "http://localhost:3000",
            "http://localhost:3000/a",
            "http://127.0.0.1:5",
            "https://proxy.example",
        ] {
            assert!(!is_refused(&[host, ("origin", origin)]), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "https://evil.example/localhost",
            "http://93.184.216.34",
            "http://intranet",
            "chrome-extension://localhost",
            "file://",
        ] {
            assert!(is_refused(&[host, ("origin", origin)]), "{origin}");
        }
        assert!(!is_refused(&[("host", "retape:80"), ("origin", "http://retape")]));
        assert!(is_refused(&[host, ("sec-fetch-site", "cross-site")]));
        for site in ["none", "same-origin", "same-site"] {
            assert!(!is_refused(&[host, ("sec-fetch-site", site)]), "{site}");
        }
    }
}
