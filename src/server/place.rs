//! Where a client sees us.

use http::HeaderMap;
use http::header::{HOST, HeaderValue, LOCATION};

use super::Address;

/// Where a client sees us: the authority it connected to, and the prefix of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    authority: String,
    prefix: String,
}

impl Place {
    /// The place of a session, as the `host` field of a request names us.
    pub fn of(headers: &HeaderMap, session: &str) -> Self {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        Self { authority: host.unwrap_or("127.0.0.1").to_owned(), prefix: Address::prefix(session) }
    }

    /// The address that stands for the server's own: `http://127.0.0.1:4000/letta/hitl/-`.
    pub fn address(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }

    /// Keeps a redirection to an absolute path below the session's prefix.
    pub fn keep_below(&self, headers: &mut HeaderMap) {
        if self.prefix.is_empty() {
            return;
        }
        for value in headers.get_all(LOCATION).iter().cloned().collect::<Vec<_>>() {
            let Some(path) = value.to_str().ok().filter(|path| is_path(path)) else { continue };
            if let Ok(below) = HeaderValue::try_from(format!("{}{path}", self.prefix)) {
                headers.insert(LOCATION, below);
            }
        }
    }
}

/// `/path`, and not `//host/path`.
fn is_path(location: &str) -> bool {
    location.starts_with('/') && !location.starts_with("//")
}
