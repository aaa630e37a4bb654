//! All takes of a recording, by their numbers.

use std::sync::Arc;

use super::finished::{Differences, Finished};
use super::roll::Rolled;
use super::take::Take;
use crate::cassette::{Interaction, Larges};
use crate::error::Result;
use crate::store::Journal;

/// All takes of a recording.
///
/// # Rationale
///
/// What is over stands in the journal. So a long recording need not hold it, and a short one need not read
/// it again.
#[derive(Debug, Default)]
pub(super) struct Takes {
    all: Vec<KeptTake>,
    /// What is over and held, and how many bytes that may be.
    over: Vec<usize>,
    held: usize,
    /// Whether somebody puts it away.
    is_busy: bool,
    differences: Differences,
}

/// An interaction, held or not.
#[derive(Debug, Clone)]
pub(super) enum KeptTake {
    Held(Arc<Take>),
    Finished(Finished),
}

/// So many bytes of what is over are held.
const HELD: usize = 8 << 20;

/// What an interaction takes beside its bodies.
const HEADS: usize = 2 << 10;

impl Takes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &KeptTake> {
        self.all.iter()
    }

    /// The one of that number.
    pub(super) fn get(&self, number: usize) -> Option<KeptTake> {
        self.all.get(number).cloned()
    }

    /// The next one.
    pub(super) fn push(&mut self, take: Arc<Take>) {
        self.all.push(KeptTake::Held(take));
    }

    /// One is over, with bodies of so many bytes. Gives whether it is time to put some away.
    pub(super) fn over(&mut self, number: usize, bytes: usize) -> bool {
        self.over.push(number);
        self.held += bytes + HEADS;
        self.held > HELD && !std::mem::replace(&mut self.is_busy, true)
    }

    /// What is to be put away now; nothing if that is done.
    pub(super) fn next(&mut self) -> Option<(usize, Arc<Take>)> {
        let held = std::iter::from_fn(|| self.over.pop())
            .find_map(|number| self.all.get(number)?.held().map(|take| (number, take)));
        if held.is_none() {
            (self.is_busy, self.held) = (false, 0);
        }
        held
    }

    /// How many bytes there are in bodies that are held.
    #[cfg(test)]
    pub(super) fn bytes_held(&self) -> usize {
        let held = self.all.iter().filter_map(KeptTake::held);
        let held = held.filter_map(|take| take.interaction(&mut Larges::new()));
        let bytes =
            |it: Interaction| it.request.body.len() + it.response().map_or(0, |it| it.body.len());
        held.map(bytes).sum()
    }

    /// One lives in the journal alone from now on.
    pub(super) fn put_away(&mut self, number: usize, finished: Finished) {
        let finished = finished.shared(&mut self.differences);
        if let Some(kept) = self.all.get_mut(number) {
            *kept = KeptTake::Finished(finished);
        }
    }
}

impl KeptTake {
    /// It; `None` if it never came to be. What of it was never held is noted in `larges`.
    ///
    /// # Errors
    ///
    /// If it is in the journal, and that cannot be read.
    pub(super) fn interaction(
        &self,
        journal: &Journal,
        larges: &mut Larges,
    ) -> Result<Option<Interaction>> {
        let rolled = self.rolled(journal, larges)?;
        rolled.map(|it| it.into_held(&mut journal.reader())).transpose()
    }

    /// It as it is to be saved; `None` if it never came to be. What of it was never held is noted in `larges`.
    ///
    /// # Errors
    ///
    /// If it is in the journal, and that cannot be read.
    pub(super) fn rolled(&self, journal: &Journal, larges: &mut Larges) -> Result<Option<Rolled>> {
        match self {
            Self::Held(take) => take.rolled(journal, larges),
            Self::Finished(finished) => Ok(Some(Rolled::Finished(finished.clone()))),
        }
    }

    fn held(&self) -> Option<Arc<Take>> {
        match self {
            Self::Held(take) => Some(Arc::clone(take)),
            Self::Finished(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::{BodyExt as _, Full};

    use super::super::sent::{Abandoned, Sent};
    use super::super::tape::Tape;
    use super::*;
    use crate::cassette::{End, Headers, Name, Request};
    use crate::redact::Redactor;
    use crate::serve::recording::{Change, Origins, Wording};
    use crate::serve::server::Rewriter;
    use crate::store::Alarm;

    fn tape(folder: &std::path::Path) -> Arc<Tape> {
        let (origins, redactor, alarm) =
            (Origins::default(), Redactor::standard(), Alarm::new(|_, _| {}));
        let name = Name::new("tape").unwrap();
        let tape = Tape::begin(folder, &name, origins, Wording::Fresh, redactor, alarm);
        Arc::new(tape.unwrap().0)
    }

    fn asked(path: &str) -> Request {
        Request::of("GET", path)
    }

    #[tokio::test]
    async fn a_request_is_recorded_with_the_servers_address_however_it_was_sent() {
        let folder = tempfile::tempdir().unwrap();
        let tape = tape(folder.path());
        let said = "{\"to\":\"http://us:1/hook\"} http://us";
        let body = Full::<bytes::Bytes>::from(said).map_err(|_| Abandoned).boxed_unsync();
        let inward = Rewriter::new("http://us:1", "http://server");
        let (take, inward) = (Some(tape.take(asked("/"))), Some(inward));

        let sent = Sent::new(body, take, inward, Duration::ZERO).collect().await.unwrap();
        let recorded = tape.so_far().unwrap();
        tape.discard().unwrap();

        assert_eq!(sent.to_bytes(), said);
        let request = &recorded.interactions[0].request;
        assert_eq!(request.body, "{\"to\":\"http://server/hook\"} http://us");
    }

    #[test]
    fn a_change_is_of_what_was_told_though_an_earlier_request_is_complete_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let tape = tape(folder.path());
        let slow = tape.take(asked("/slow"));
        tape.take(asked("/quick")).asked();

        let told = tape.so_far().unwrap();
        slow.asked();
        tape.change(tape.told().unwrap()[0], Change::Drop);
        let left = tape.so_far().unwrap();
        tape.discard().unwrap();

        let paths = |it: &crate::cassette::Cassette| -> Vec<String> {
            it.interactions.iter().map(|it| it.request.path.clone()).collect()
        };
        assert_eq!((paths(&told), paths(&left)), (vec!["/quick".into()], vec!["/slow".into()]));
    }

    #[test]
    fn no_more_is_held_than_may_be_however_long_a_recording_is() {
        let folder = tempfile::tempdir().unwrap();
        let tape = tape(folder.path());
        let body = bytes::Bytes::from("word ".repeat(4_000));

        let mut most = 0;
        for number in 0..2 * HELD / body.len() {
            let take = tape.take(asked(&format!("/{number}")));
            take.asked();
            take.head(200, None, Headers::from_iter([("content-type", "text/plain")]));
            take.part(&body);
            take.end_chunk();
            take.write();
            take.end(End::Complete);
            // To look at all of them takes a while.
            most = if number % 40 == 0 { most.max(tape.bytes_held()) } else { most };
        }
        tape.discard().unwrap();

        assert!((HELD / 2..=HELD).contains(&most), "{most}");
    }
}
