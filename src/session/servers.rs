//! The live servers of a session.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use http::Version;

use crate::cassette::target;
use crate::error::{Error, Kind, Result};
use crate::serve::lock;
use crate::serve::recorder::{Origins, Upstream};
use crate::store::mode::Mode;

/// The live servers of a session: the first one, those that have names, and those that clients of the
/// proxy ask for.
#[derive(Debug, Clone, Default)]
pub(super) struct Servers {
    first: Option<Arc<Upstream>>,
    named: BTreeMap<String, Arc<Upstream>>,
    /// Those that were asked for so far, if any may be.
    any: Option<Arc<Mutex<Upstreams>>>,
}

type Upstreams = HashMap<String, Arc<Upstream>>;

/// Where a target leads.
#[derive(Debug)]
pub(super) struct Led<'t> {
    pub(super) upstream: Arc<Upstream>,
    /// What stands before the paths of that server in a cassette.
    pub(super) origin: String,
    /// The target at that server.
    pub(super) target: &'t str,
}

impl Servers {
    /// Servers by their addresses; `any` says that clients may ask for others.
    pub(super) fn new(first: Option<&str>, named: &[(String, String)], any: Any) -> Result<Self> {
        let first = first.map(Upstream::new).transpose()?.map(Arc::new);
        let mut servers = Self { first, ..Self::default() };
        for (name, address) in named {
            check_name(name)?;
            servers.named.insert(name.clone(), Upstream::new(address)?.into());
        }
        servers.any = (any == Any::Allowed).then(Arc::default);
        Ok(servers)
    }

    /// Whether there is anything to record.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.named.is_empty() && self.any.is_none()
    }

    /// The address of the first one; empty if there is none.
    pub(super) fn first(&self) -> &str {
        self.first.as_ref().map_or("", |server| server.origin())
    }

    /// The same as it was given: `h2c://…`.
    pub(super) fn address(&self) -> Cow<'_, str> {
        self.first.as_ref().map_or_else(Cow::default, |server| server.address())
    }

    /// The address of the server of that name, or of that host.
    pub(super) fn address_of(&self, name: &str) -> Option<&str> {
        let is_meant = |origin: &&str| {
            target::split(origin).0.split_once("://").is_some_and(|(_, host)| host == name)
        };
        let mut origins = self.named.values().map(|server| server.origin());
        let named = self.named.get(name).map(|server| server.origin());
        named.or_else(|| origins.find(is_meant))
    }

    /// The addresses of all by their names, that of the first one by the empty name.
    pub(super) fn by_name(&self) -> Arc<BTreeMap<String, String>> {
        let named = self.named.iter().map(|(name, it)| (name.clone(), it.origin().to_owned()));
        let first = self.first.iter().map(|it| (String::new(), it.origin().to_owned()));
        Arc::new(named.chain(first).collect())
    }

    /// Their addresses as a cassette has them.
    pub(super) fn origins(&self) -> Origins {
        let named = self.named.iter();
        let named = named.map(|(name, server)| (name.clone(), server.origin().to_owned()));
        Origins { first: self.address().into_owned(), named: named.collect() }
    }

    /// Whether this build can ask them.
    ///
    /// # Errors
    ///
    /// If it takes a feature that is not there.
    pub(super) fn check_built(&self) -> Result<()> {
        self.first.iter().chain(self.named.values()).try_for_each(|it| it.check_built())
    }

    /// The server that a target leads to, for a client that asks by that version of HTTP. One that knows
    /// beforehand that a server speaks HTTP/2 without TLS says so by its first byte.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(super) fn lead<'t>(&self, target: &'t str, version: Version) -> Result<Led<'t>> {
        let (origin, path) = target::split(target);
        let known = self.first.iter().chain(self.named.values());
        let below = |server: &&Arc<Upstream>| target::relative(server.origin(), target) != target;
        if let Some(server) = known.into_iter().find(below) {
            let target = target::relative(server.origin(), target);
            return Ok(self.led(server.clone(), target));
        }
        match (&self.first, &self.any) {
            (Some(first), _) if origin.is_empty() => Ok(self.led(first.clone(), target)),
            (_, Some(any)) if !origin.is_empty() => {
                let address = match origin.strip_prefix("http://") {
                    Some(host) if version == Version::HTTP_2 => format!("h2c://{host}"),
                    _ => origin.to_owned(),
                };
                let mut any = lock(any);
                if let Some(server) = any.get(&address) {
                    return Ok(self.led(server.clone(), path));
                }
                let server = Arc::new(Upstream::new(&address)?);
                server.check_built()?;
                any.insert(address, server.clone());
                Ok(self.led(server, path))
            }
            _ => Err(self.unled()),
        }
    }

    /// Why a target leads to no server.
    fn unled(&self) -> Error {
        Error::new(Kind::NoUpstream).with_hint(match self.named.keys().next() {
            None => {
                "name the live server (`--upstream URL`, `RETAPE_UPSTREAM`): the client did not say which one it means"
                    .to_owned()
            }
            Some(name) => format!(
                "the client asked for the server without a name, and all have one: let it ask for `/-{name}/…`, or \
                 name the first server without one (`--upstream URL`)"
            ),
        })
    }

    fn led<'t>(&self, upstream: Arc<Upstream>, target: &'t str) -> Led<'t> {
        let is_first = self.first() == upstream.origin();
        let origin = if is_first { String::new() } else { upstream.origin().to_owned() };
        Led { upstream, origin, target }
    }
}

/// Whether clients may ask for servers that nobody named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Any {
    Allowed,
    Refused,
}

/// Servers as people write them, of which all but the first have a name: `openai=https://api.openai.com`.
///
/// # Errors
///
/// If it is not clear which server is meant.
pub(crate) fn named<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Origins> {
    let mut origins = Origins::default();
    for word in words {
        match named_address(word) {
            Some((name, address)) => {
                let other = origins.named.insert(name.to_owned(), address.to_owned());
                if other.is_some_and(|other| other != address) {
                    return Err(Error::rule(name, "is the name of two servers")
                        .with_hint("give each server a name of its own: `--upstream NAME=URL`"));
                }
            }
            None if !origins.first.is_empty() && origins.first != word => {
                return Err(Error::rule(word, "is a second server without a name").with_hint(
                    "name all but the first: `--upstream NAME=URL`; a client asks for it at `/-NAME/`",
                ));
            }
            None => word.clone_into(&mut origins.first),
        }
    }
    Ok(origins)
}

/// The name and the address in `openai=https://api.openai.com`. There may be a `=` in an address too.
fn named_address(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.contains("://"))
}

pub(super) fn no_upstream(mode: Mode) -> Error {
    Error::new(Kind::NoUpstream).with_hint(format!(
        "name the live server (`--upstream URL`, `RETAPE_UPSTREAM`), or replay what is recorded instead of `{mode}`"
    ))
}

/// A name stands in a path as it is.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte) || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_plain) {
        return Ok(());
    }
    let expected = "NAME=URL, with letters, digits, `.`, `_` and `-` in the name";
    Err(Error::setting("upstream", name, expected))
}
