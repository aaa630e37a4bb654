//! What an answer says by the names that its client has made up meanwhile.

use std::sync::{Arc, Mutex};

use http::HeaderMap;
use http::request::Parts;

use super::answers::Wanted;
use super::replay::{Chosen, Replayer};
use super::resume::Point;
use super::{Chunking, Pace, Recorded};
use crate::cassette::Body;
use crate::compare::matching::Playlist;
use crate::identity::{Bindings, Hole, MadeUp, Renamed};
use crate::redact::Unveiled;
use crate::serve::lock;
use crate::serve::server::{KeptPlace, ServerPlace};

/// All that an answer is made of but for the client's own names, which may come up while it is held back.
///
/// # Rationale
///
/// It is made anew from the recording: in what was made before, a name of this run may be another one of the recording.
pub(super) struct Naming {
    recorded: Arc<Recorded>,
    playlist: Arc<Mutex<Playlist>>,
    shown: Vec<Hole>,
    number: usize,
    unveiled: Unveiled,
    behind: Option<Point>,
    /// The header of the request.
    headers: HeaderMap,
    upstream: String,
    place: KeptPlace,
    /// Whether it goes wrong: then it is left as it is.
    is_spoiled: bool,
}

impl Naming {
    /// Of the answer that was chosen for a request.
    pub(super) fn of(
        replayer: &Replayer,
        chosen: &Chosen,
        head: &Parts,
        place: ServerPlace<'_>,
    ) -> Self {
        Self {
            recorded: Arc::clone(&replayer.recorded),
            playlist: Arc::clone(&replayer.playlist),
            shown: replayer.shown(),
            number: chosen.number,
            unveiled: chosen.unveiled.clone(),
            behind: chosen.behind.clone(),
            headers: head.headers.clone(),
            upstream: replayer.server(place).to_owned(),
            place: place.kept(),
            is_spoiled: chosen.blow.is_some(),
        }
    }

    /// The body by the names of now.
    pub(super) fn body(&self) -> Option<Body> {
        if self.is_spoiled {
            return None;
        }
        let renamed =
            renamed(&self.recorded, self.number, &self.shown, lock(&self.playlist).bindings());
        let wanted = Wanted {
            upstream: &self.upstream,
            beside: &self.recorded.beside,
            place: self.place.place(),
            clock: Pace::Instant.begin(),
            chunking: Chunking::Recorded,
            headers: &self.headers,
            early: None,
            renamed: &renamed,
            unveiled: &self.unveiled,
            hold: None,
            behind: self.behind.clone(),
            shown: MadeUp::some(&self.shown),
            blow: None,
        };
        Some(self.recorded.answers.body(self.number, &wanted))
    }
}

/// What the client's own identifiers in an answer are by now. `shown` are those that this run has shown.
pub(super) fn renamed(
    recorded: &Recorded,
    number: usize,
    shown: &[Hole],
    bindings: &Bindings,
) -> Renamed {
    let shown = shown.iter().map(|hole| (hole.scope, hole.identifier.as_str()));
    Renamed::of(recorded.answers.echoed(number).chain(shown), bindings)
}
