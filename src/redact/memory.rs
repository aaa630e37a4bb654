//! What a client has shown to be secret.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use http::HeaderMap;

use super::{Found, Redactor, Secrets, apply, header};
use crate::cassette::{Headers, Request};

/// The secrets of one client's requests so far. What stood in a telling place once is a secret
/// wherever it stands later, as it is in a cassette.
#[derive(Debug, Default)]
pub struct Memory {
    known: Mutex<KnownSecrets>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct KnownSecrets {
    secrets: Secrets,
    /// Whether what is known before any request is among them.
    is_begun: bool,
    /// Header fields that were looked at, by their hash: an SDK sends most of its own each time.
    fields: HashSet<u64, RandomState>,
}

/// How many header fields are held. A client that never sends the same twice sends more.
const FIELDS: usize = 1024;

impl Memory {
    /// Takes the secrets out of a request and remembers them. Gives those that stood in telling places.
    pub fn redact(&self, redactor: &Redactor, request: &mut Request) -> Found {
        let fields = self.fields(&request.headers);
        let own = apply::rules(redactor, request, Secrets::default());
        let mut found = own.clone();
        self.remember(redactor, request, own, fields);
        let looks = apply::looks(redactor, request, &found);
        found.extend(looks);
        let around = apply::around(redactor, request, &found);
        found.extend(around);
        found.into_found()
    }

    /// Whether the header fields of a request hold no secret that is not known yet.
    pub fn has_seen(&self, headers: &HeaderMap) -> bool {
        let mut telling =
            headers.iter().filter(|(name, _)| !header::is_plain(name.as_str())).peekable();
        if telling.peek().is_none() {
            return true;
        }
        let known = self.known();
        telling.all(|(name, value)| {
            known.fields.contains(&self.field(name.as_str(), value.as_bytes()))
        })
    }

    /// The fields of a request that may hold a secret.
    fn fields(&self, headers: &Headers) -> Vec<u64> {
        let telling = headers.iter().filter(|(name, _)| !header::is_plain(name));
        telling.map(|(name, value)| self.field(name, value)).collect()
    }

    fn field(&self, name: &str, value: &[u8]) -> u64 {
        self.hasher.hash_one((name, value))
    }

    /// Secrets and fields are noted at once: another request may come with the same.
    fn remember(
        &self,
        redactor: &Redactor,
        request: &mut Request,
        mut own: Secrets,
        fields: Vec<u64>,
    ) {
        let searcher = {
            let mut known = self.known();
            if !std::mem::replace(&mut known.is_begun, true) {
                known.secrets.extend(redactor.known());
            }
            if !known.secrets.covers(&own) {
                // What a request calls a secret itself counts before what others called it.
                apply::known(redactor, request, &own.searcher());
                known.secrets.extend(own);
            }
            if known.fields.len() + fields.len() > FIELDS {
                known.fields.clear();
            }
            known.fields.extend(fields);
            known.secrets.searcher()
        };
        apply::known(redactor, request, &searcher);
    }

    /// Forgets which header fields were looked at: those of a request that nothing has answered yet are looked at
    /// again when something does.
    pub fn forget_fields(&self) {
        self.known().fields.clear();
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.known() = KnownSecrets::default();
    }

    fn known(&self) -> MutexGuard<'_, KnownSecrets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn seen(memory: &Memory, name: &'static str, value: &str) -> bool {
        let value = HeaderValue::from_str(value).expect("it is a value");
        memory.has_seen(&HeaderMap::from_iter([(HeaderName::from_static(name), value)]))
    }

    #[test]
    fn fields_were_seen_when_they_were_searched_for_secrets() {
        let memory = Memory::default();
        let asked = |name: &'static str, value: String| Request {
            headers: [(name, value)].into_iter().collect(),
            ..Request::of("GET", "/")
        };
        let redact =
            |mut request: Request| drop(memory.redact(&Redactor::standard(), &mut request));
        assert!(seen(&memory, "host", "here") && !seen(&memory, "x-sdk", "1"));

        redact(asked("x-sdk", "1".to_owned()));

        let found = [("x-sdk", "1"), ("x-sdk", "2"), ("x-api-key", "1")];
        assert_eq!(found.map(|(name, value)| seen(&memory, name, value)), [true, false, false]);

        (0..FIELDS).for_each(|number| redact(asked("x-run", number.to_string())));
        assert_eq!(["0", "1023"].map(|run| seen(&memory, "x-run", run)), [false, true]);

        memory.clear();
        assert!(!seen(&memory, "x-run", "1023"));
    }
}
