//! A server that listens at another port.

use memchr::memmem;

use super::exchange::announce;
use crate::cassette::splice::{Edit, splice};
use crate::cassette::{Body, Cassette, Headers, Outcome, Request};

/// Gives a server that listens at another port of the same host its old address again, wherever the
/// new one stands: a free port that a test was given means nothing.
pub(super) fn back(old: &Cassette, new: &mut Cassette) {
    let (Some(before), Some(now)) =
        (authority(&old.recorded.upstream), authority(&new.recorded.upstream))
    else {
        return;
    };
    let scheme = |upstream: &str| upstream.split("://").next().map(str::to_owned);
    let is_moved = before != now
        && host(before) == host(now)
        && scheme(&old.recorded.upstream) == scheme(&new.recorded.upstream);
    if !is_moved {
        return;
    }
    let (before, now) = (before.to_owned(), now.to_owned());
    let moved = Moved { from: now.as_bytes(), to: before.as_bytes() };
    new.recorded.upstream.clone_from(&old.recorded.upstream);
    for interaction in &mut new.interactions {
        moved.request(&mut interaction.request);
        if let Outcome::Response(response) = &mut interaction.outcome {
            moved.body(&mut response.headers, &mut response.body);
            moved.headers(&mut response.headers);
        }
    }
}

struct Moved<'a> {
    from: &'a [u8],
    to: &'a [u8],
}

impl Moved<'_> {
    fn request(&self, request: &mut Request) {
        let mut body = Body::Whole(std::mem::take(&mut request.body));
        self.body(&mut request.headers, &mut body);
        request.body = body.bytes();
        self.headers(&mut request.headers);
        if let Ok(path) =
            String::from_utf8(splice(request.path.as_bytes(), &self.edits(request.path.as_bytes())))
        {
            request.path = path;
        }
    }

    /// A compressed body stays as it is.
    fn body(&self, headers: &mut Headers, body: &mut Body) {
        let before = body.bytes();
        let edits = self.edits(&before);
        body.splice(&edits);
        announce(headers, before.len(), body.len());
    }

    fn headers(&self, headers: &mut Headers) {
        for (_, value) in headers.iter_mut() {
            let edits = self.edits(value);
            if !edits.is_empty() {
                *value = splice(value, &edits).into();
            }
        }
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        memmem::find_iter(bytes, self.from)
            .filter(|at| !is_digit(at + self.from.len()))
            .map(|at| Edit::new(at..at + self.from.len(), self.to.to_vec()))
            .collect()
    }
}

/// The host and the port of an address that names one.
fn authority(upstream: &str) -> Option<&str> {
    let rest = upstream.split_once("://").map_or(upstream, |(_, rest)| rest);
    let authority = rest.split('/').next()?;
    host(authority).map(|_| authority)
}

fn host(authority: &str) -> Option<&str> {
    let (host, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
}
