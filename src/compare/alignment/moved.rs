//! A server at another port.

#[cfg(any(feature = "record", feature = "review"))]
use super::Called;
#[cfg(any(feature = "record", feature = "review"))]
use crate::cassette::Cassette;
#[cfg(feature = "record")]
use crate::cassette::target;

/// That a server listens at another port of the same host: its address is a name too, since a free port
/// that a test was given means nothing.
#[derive(Debug)]
pub(crate) struct Moved {
    from: String,
    to: String,
}

impl Moved {
    /// What the servers of a new recording are called, and what they were called before, where only their ports are
    /// others.
    #[cfg(feature = "review")]
    pub(crate) fn called(old: &Cassette, new: &Cassette) -> Vec<Called> {
        let (was, is) = (&old.recorded, &new.recorded);
        let named = is.origins.iter().filter_map(|(name, it)| Some((was.origins.get(name)?, it)));
        let all = std::iter::once((&was.upstream, &is.upstream)).chain(named);
        all.filter_map(|(old, new)| Self::between(old, new)).map(Self::names).collect()
    }

    /// What the server is called, and what it was called before.
    #[cfg(any(feature = "record", feature = "review"))]
    fn names(self) -> Called {
        (self.from, self.to)
    }

    /// Gives the servers of a new recording the addresses that they have in the old one, where only their ports are
    /// others: the first one, and each that has a name in both. Gives what they were called before.
    #[cfg(feature = "record")]
    pub(crate) fn back(old: &Cassette, new: &mut Cassette) -> Vec<Called> {
        let (was, is) = (&old.recorded, &mut new.recorded);
        let first = Self::between(&was.upstream, &is.upstream);
        if first.is_some() {
            is.upstream.clone_from(&was.upstream);
        }
        let mut named = Vec::new();
        for (name, address) in &mut is.origins {
            let before = was.origins.get(name).filter(|it| Self::between(it, address).is_some());
            named.extend(before.map(|it| (std::mem::replace(address, it.clone()), it)));
        }
        for path in new.interactions.iter_mut().map(|it| &mut it.request.path) {
            let is_asked =
                |(address, _): &&(String, &String)| target::relative(address, path) != *path;
            if let Some((address, before)) = named.iter().find(is_asked) {
                path.replace_range(..target::split(address).0.len(), target::split(before).0);
            }
        }
        let named = named.iter().filter_map(|(address, before)| Self::between(before, address));
        let mut called: Vec<Called> = first.into_iter().chain(named).map(Self::names).collect();
        called.dedup();
        called
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
