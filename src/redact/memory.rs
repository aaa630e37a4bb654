//! What a client has shown to be secret.

use std::sync::{Arc, Mutex, PoisonError};

use super::secrets::Searcher;
use super::{Redactor, Secrets, apply};
use crate::cassette::Request;

/// The secrets of one client's requests so far. What stood in a telling place once is a secret
/// wherever it stands later, as it is in a cassette.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    secrets: Secrets,
    /// Preparing a search takes longer than most requests.
    searcher: Arc<Searcher>,
}

impl Memory {
    /// Takes the secrets out of a request and remembers them.
    pub fn redact(&self, redactor: &Redactor, request: &mut Request) {
        let own = apply::rules(redactor, request);
        self.remember(redactor, request, own);
    }

    /// The same for a request whose body stands in a cassette, where no rule finds anything any more.
    pub fn redact_around_body(&self, redactor: &Redactor, request: &mut Request) {
        let own = apply::rules_of_head(redactor, request);
        self.remember(redactor, request, own);
    }

    fn remember(&self, redactor: &Redactor, request: &mut Request, own: Secrets) {
        let searcher = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }
}
