//! The request of an interaction while it is being recorded.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::{Asking, Take, TakeState};
use crate::cassette::{Peer, Request, coding};
use crate::store::Entry;

/// A request of more bytes is read on a thread of its own.
const SLOW: usize = 128 * 1024;

impl Take {
    /// A piece of the request's body, as it goes to the server.
    pub(in super::super) fn sent(&self, bytes: &Bytes) {
        let mut state = self.state();
        if !self.pass(&mut state, Peer::Client, bytes) {
            state.body.push(bytes);
        }
    }

    /// The request is complete.
    pub(in super::super) fn asked(self: &Arc<Self>) {
        let length = {
            let mut state = self.state();
            let is_read = state.is_answered() || state.passing[0].is_some();
            if !state.close(if is_read { Asking::Complete } else { Asking::Reading }) {
                return;
            }
            state.body.settle();
            if self.end_passing(&mut state, Peer::Client) {
                self.note(&Entry::Asked { n: self.number });
                self.write();
            }
            (!is_read).then_some(state.body.len())
        };
        match (length, tokio::runtime::Handle::try_current()) {
            // What came behind the head of an answer is not in the journal.
            (None, _) => self.told(),
            (Some(length), Ok(runtime)) if length > SLOW => {
                let take = Arc::clone(self);
                drop(runtime.spawn_blocking(move || take.read()));
            }
            (Some(_), _) => self.read(),
        }
    }

    /// Writes the request down, now that it is complete.
    ///
    /// # Rationale
    ///
    /// No client has seen it, so the journal can wait until it is complete. Then it is read as it is for
    /// the cassette, which knows more forms than one that is read piece by piece. A large one takes so long
    /// that others would wait, so nothing is locked meanwhile.
    fn read(&self) {
        let (mut request, mut secrets) = {
            let state = self.state();
            // What is noted meanwhile has no secrets either.
            (state.request(), state.secrets.clone())
        };
        self.redactor.request_noting(&mut request, &mut secrets);
        let body = request.readable().into_owned();
        {
            let mut state = self.state();
            self.note_head(&mut state, request);
            if !body.is_empty() {
                self.note(&Entry::Sent { n: self.number, bytes: Cow::Owned(body) });
            }
            self.note(&Entry::Asked { n: self.number });
            self.write();
            state.secrets = secrets;
            state.asking = Asking::Complete;
        }
        self.told();
    }

    /// The rest of the request will not come.
    pub(in super::super) fn given_up(&self) {
        let is_news = {
            let mut state = self.state();
            self.begin(&mut state);
            self.end_passing(&mut state, Peer::Client);
            state.close(Asking::GivenUp)
        };
        if is_news {
            self.told();
        }
    }

    /// The rest of the request has not come yet: what has is written.
    pub(in super::super) fn awaits_more(&self) {
        self.begin(&mut self.state());
        self.write();
    }

    /// Notes the head of the request, if it was not noted.
    ///
    /// # Rationale
    ///
    /// Most requests are complete at once, and are read once then. Those of which something else is to be noted
    /// before are read twice.
    pub(super) fn begin(&self, state: &mut TakeState) {
        if !state.is_begun {
            let mut request = state.interaction.request.clone();
            self.redactor.request_noting(&mut request, &mut state.secrets);
            self.note_head(state, request);
        }
    }

    /// Notes the head of a request without secrets, if none was noted.
    fn note_head(&self, state: &mut TakeState, mut request: Request) {
        if std::mem::replace(&mut state.is_begun, true) {
            return;
        }
        if coding::Coding::of(request.headers.get("content-encoding").unwrap_or("")).is_some() {
            request.headers.remove("content-encoding");
        }
        let Request { method, path, headers, .. } = request;
        self.note(&Entry::Request {
            n: self.number,
            after: Cow::Owned(self.after()),
            method: Cow::Owned(method),
            path: Cow::Owned(path),
            headers: Cow::Owned(headers),
        });
    }

    /// Whether more may come of the request.
    pub(in super::super) fn is_arriving(&self) -> bool {
        self.state().asking == Asking::Arriving
    }

    /// Waits until nothing more comes of the request.
    pub(in super::super) async fn closed(&self) {
        self.left(&[Asking::Arriving, Asking::Reading]).await;
    }

    /// Waits until the request is in the journal, if it is complete.
    pub(in super::super) async fn written(&self) {
        self.left(&[Asking::Reading]).await;
    }

    async fn left(&self, states: &[Asking]) {
        loop {
            let closed = self.closed.notified();
            if !states.contains(&self.state().asking) {
                return;
            }
            closed.await;
        }
    }
}

impl TakeState {
    /// Nothing more comes of the request. Only the first word counts; tells whether this is it.
    fn close(&mut self, asking: Asking) -> bool {
        let is_first = self.asking == Asking::Arriving;
        if is_first {
            self.asking = asking;
        }
        is_first
    }

    /// The request as far as it came.
    pub(super) fn request(&self) -> Request {
        let mut request = self.interaction.request.clone();
        request.body = self.body.joined();
        request
    }
}
