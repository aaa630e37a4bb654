//! What is said where clients did not reach retape, or not with a request.

use std::env;
use std::path::Path;

use super::{Way, hint, line};
use crate::review::report::{count, visible};
use crate::serve::server::Handshake;
use crate::session::Summary;
use crate::store::from_here;

/// The client did its work without retape.
pub(super) fn unused(summary: &Summary, way: Way) {
    let passed = summary.passed;
    let but = if passed > 0 {
        format!(" but what passes ({})", count(passed, "time"))
    } else {
        String::new()
    };
    line(&format!("no request reached retape{but}"));
    if !summary.unused {
        return;
    }
    match way {
        Way::Proxy if passed > 0 => hint(
            "the client asked only hosts that `pass` in `[proxy]` of retape.toml names: take out those that are to be \
             recorded, or, if nothing is, say `--allow-unused`",
        ),
        Way::Address { has_names } => {
            let named =
                if has_names { " (`{url}/-NAME` for a server that has a name)" } else { "" };
            hint(&format!(
                "give the client retape's address as its base address: it is in RETAPE_URL, `--env NAME` \
                 gives it another name, and `{{url}}` in an argument stands for it{named}; if nothing is to be asked, say `--allow-unused`"
            ));
        }
        // It asked the proxy, so it heeds the variables.
        Way::Proxy if !summary.handshakes.is_empty() => {}
        Way::Proxy => hint(
            "the client does not heed HTTP_PROXY and HTTPS_PROXY, or not for this host: give it that proxy (Node \
             heeds them from 22.21 and 24.0 on, Go and Ruby for no localhost); if nothing is to be asked, say \
             `--allow-unused`",
        ),
        Way::Streams => {
            hint("let the client start this command as its server, and ask something of it")
        }
    }
    let elsewhere = PROXIES.into_iter().find(|name| env::var_os(name).is_some());
    if let Some(name) = elsewhere.filter(|_| matches!(way, Way::Address { .. })) {
        hint(&format!(
            "`{name}` is set, so clients may ask that proxy instead; `NO_PROXY=127.0.0.1` lets them reach retape"
        ));
    }
}

/// From a folder that is not there nothing is replayed, whatever a client asks.
pub(in crate::cli) fn missing_folder(folder: &Path) {
    if !folder.is_dir() {
        hint(&format!(
            "there is no folder `{}`: `--cassettes DIR` names another",
            from_here(folder).display()
        ));
    }
}

/// The variables that lead clients of HTTP elsewhere.
const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

/// So many servers are named.
const SERVERS: usize = 3;

/// How a client comes to trust a certificate of ours.
const TRUST: &str = "let it read the authorities to trust from the file that SSL_CERT_FILE names \
    (`curl --cacert \"$SSL_CERT_FILE\"`); one that brings its own certificates can go through no proxy";

/// Which servers clients asked for through the proxy, and did not come to a request.
pub(in crate::cli) fn handshakes(summary: &Summary) {
    let those = |came: Handshake| {
        let servers = summary.handshakes.iter().filter(|(_, it)| **it == came);
        let servers: Vec<&str> = servers.map(|(server, _)| server.as_str()).collect();
        let shown = servers.iter().take(SERVERS).map(|it| format!("`{}`", visible(it)));
        let more = match servers.len().saturating_sub(SERVERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = shown.collect::<Vec<_>>().join(", ") + &more;
        (!servers.is_empty()).then_some(text)
    };
    if let Some(servers) = those(Handshake::Distrusted) {
        hint(&format!(
            "a client asked for {servers} through the proxy, but did not trust the certificate of retape: {TRUST}"
        ));
    }
    if let Some(servers) = those(Handshake::Left) {
        hint(&format!(
            "a client asked for {servers} through the proxy, but left before its first request; if it does not \
             trust the certificate of retape: {TRUST}"
        ));
    }
    let failed = summary.handshakes.iter().filter_map(|(server, came)| match came {
        Handshake::Failed(why) => Some((server, why)),
        _ => None,
    });
    for (server, why) in failed.take(SERVERS) {
        hint(&format!(
            "a client asked for `{}` through the proxy, but TLS failed: {}",
            visible(server),
            visible(why)
        ));
    }
}
