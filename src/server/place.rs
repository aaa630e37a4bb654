//! Where a client sees us.

use http::HeaderMap;
use http::header::{HOST, HeaderValue, LOCATION};

use super::Address;
use super::origin::may_hold;

/// Where a client sees us: the authority it connected to, and the prefix of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    authority: &'a str,
    session: &'a str,
}

impl<'a> Place<'a> {
    /// The place of a session, as the `host` field of a request names us.
    pub fn of(headers: &'a HeaderMap, session: &'a str) -> Self {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        Self { authority: host.unwrap_or("127.0.0.1"), session }
    }

    /// The address that stands for the server's own: `http://127.0.0.1:4000/letta/hitl/-`.
    pub fn address(&self) -> String {
        format!("http://{}{}", self.authority, Address::prefix(self.session))
    }

    /// Whether our address may stand in a text.
    pub fn may_stand_in(&self, text: &[u8]) -> bool {
        may_hold(text, self.authority)
    }

    /// Keeps a redirection to an absolute path below the session's prefix.
    pub fn keep_below(&self, headers: &mut HeaderMap) {
        if self.session.is_empty() {
            return;
        }
        let prefix = Address::prefix(self.session);
        for value in headers.get_all(LOCATION).iter().cloned().collect::<Vec<_>>() {
            let Some(path) = value.to_str().ok().filter(|path| is_path(path)) else { continue };
            if let Ok(below) = HeaderValue::try_from(format!("{prefix}{path}")) {
                headers.insert(LOCATION, below);
            }
        }
    }
}

/// `/path`, and not `//host/path`.
fn is_path(location: &str) -> bool {
    location.starts_with('/') && !location.starts_with("//")
}
