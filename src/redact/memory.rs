//! What a client has shown to be secret.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use http::HeaderMap;

use super::secrets::Searcher;
use super::{Redactor, Secrets, apply, header};
use crate::cassette::{Headers, Request};

/// The secrets of one client's requests so far. What stood in a telling place once is a secret
/// wherever it stands later, as it is in a cassette.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    secrets: Secrets,
    /// Preparing a search takes longer than most requests.
    searcher: Arc<Searcher>,
    /// Header fields that were looked at, by their hash: an SDK sends most of its own each time.
    fields: HashSet<u64, RandomState>,
}

/// How many header fields are held. A client that never sends the same twice sends more.
const FIELDS: usize = 1024;

impl Memory {
    /// Takes the secrets out of a request and remembers them.
    pub fn redact(&self, redactor: &Redactor, request: &mut Request) {
        self.look_at(&request.headers);
        let own = apply::rules(redactor, request);
        self.remember(redactor, request, own);
    }

    /// The same for a request whose body stands in a cassette, where no rule finds anything any more.
    pub fn redact_around_body(&self, redactor: &Redactor, request: &mut Request) {
        self.look_at(&request.headers);
        let own = apply::rules_of_head(redactor, request);
        self.remember(redactor, request, own);
    }

    /// Whether the header fields of a request hold no secret that is not known yet.
    pub fn has_seen(&self, headers: &HeaderMap) -> bool {
        let mut telling =
            headers.iter().filter(|(name, _)| !header::is_plain(name.as_str())).peekable();
        if telling.peek().is_none() {
            return true;
        }
        let known = self.known();
        telling.all(|(name, value)| known.has_seen(name.as_str(), value.as_bytes()))
    }

    fn look_at(&self, headers: &Headers) {
        let mut known = self.known();
        for (name, value) in headers.iter().filter(|(name, _)| !header::is_plain(name)) {
            known.look_at(name, value);
        }
    }

    fn remember(&self, redactor: &Redactor, request: &mut Request, own: Secrets) {
        let searcher = {
            let mut known = self.known();
            if !known.secrets.covers(&own) {
                // What a request calls a secret itself counts before what others called it.
                apply::known(redactor, request, &own.searcher());
                known.secrets.extend(own);
                known.searcher = Arc::new(known.secrets.searcher());
            }
            Arc::clone(&known.searcher)
        };
        apply::known(redactor, request, &searcher);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.known() = Known::default();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn has_seen(&self, name: &str, value: &[u8]) -> bool {
        self.fields.contains(&self.hash(name, value))
    }

    fn look_at(&mut self, name: &str, value: &[u8]) {
        if self.fields.len() == FIELDS {
            self.fields.clear();
        }
        let hash = self.hash(name, value);
        self.fields.insert(hash);
    }

    fn hash(&self, name: &str, value: &[u8]) -> u64 {
        self.fields.hasher().hash_one((name, value))
    }
}
