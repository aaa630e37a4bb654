//! A server at another port.

#[cfg(feature = "record")]
use super::Called;

/// That a server listens at another port of the same host: its address is a name too, since a free port
/// that a test was given means nothing.
#[derive(Debug)]
pub(crate) struct Moved {
    from: String,
    to: String,
}

impl Moved {
    /// What the server is called, and what it was called before.
    #[cfg(feature = "record")]
    pub(crate) fn names(self) -> Called {
        (self.from, self.to)
    }

    /// Where both upstreams name a port, and differ in nothing else before the path.
    pub(crate) fn between(old: &str, new: &str) -> Option<Self> {
        let parts = |upstream: &str| {
            let (scheme, rest) = upstream.split_once("://").unwrap_or((upstream, upstream));
            let authority = rest.split('/').next()?;
            let (host, port) = authority.rsplit_once(':')?;
            let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            is_port.then(|| ((scheme.to_owned(), host.to_owned()), authority.to_owned()))
        };
        let ((place, to), (other, from)) = (parts(old)?, parts(new)?);
        (place == other && to != from).then_some(Self { from, to })
    }
}
