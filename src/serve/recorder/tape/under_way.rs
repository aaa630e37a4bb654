//! What is still under way.

use std::time::Duration;

use tokio::time::timeout;

use super::{Tape, TapeState};
use crate::cassette::Progress;

/// An answer that says nothing for so long, once nobody asks any more, says nothing that is waited for: a client in a
/// thread of its own keeps a stream open for as long as its process lives.
const STILL: Duration = Duration::from_secs(1);

impl TapeState {
    /// How far each has come.
    pub(super) fn under_way(&self) -> Vec<Progress> {
        let open = self.open.iter();
        open.map(|(interaction, take)| Progress {
            interaction: *interaction,
            chunks: take.progress(),
        })
        .collect()
    }
}

impl Tape {
    /// Waits until nothing is under way any more, or all that is has begun and says nothing, but not longer than
    /// `limit`.
    pub async fn settle(&self, limit: Duration) {
        let settled = async {
            let mut before = Vec::new();
            loop {
                let ended = self.ended.notified();
                let now = self.state().under_way();
                let is_still = now == before && now.iter().all(|it| it.chunks > 0);
                if now.is_empty() || is_still {
                    return;
                }
                before = now;
                let _ = timeout(STILL, ended).await;
            }
        };
        let _ = timeout(limit, settled).await;
    }

    /// What each of it asks for.
    #[cfg(feature = "cli")]
    pub fn unfinished(&self) -> Vec<String> {
        let open: Vec<_> = self.state().open.values().cloned().collect();
        open.iter().map(|take| take.asks_for()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::*;
    use crate::cassette::{Headers, Name, Request};
    use crate::redact::Redactor;
    use crate::serve::recording::{Origins, Wording};
    use crate::store::Alarm;

    #[tokio::test(start_paused = true)]
    async fn what_says_something_or_has_not_begun_is_waited_for() {
        const LIMIT: Duration = Duration::from_secs(6);
        let folder = tempfile::tempdir().unwrap();
        let (name, alarm) = (Name::new("tape").unwrap(), Alarm::new(|_, _| {}));
        let (origins, redactor) = (Origins::default(), Redactor::standard());
        let tape =
            Tape::begin(folder.path(), &name, origins, Wording::Fresh, redactor, alarm).unwrap().0;
        let tape = Arc::new(tape);
        let waited = async || {
            let begun = Instant::now();
            tape.settle(LIMIT).await;
            begun.elapsed()
        };
        let say = |take: &crate::serve::recorder::take::Take| {
            take.part(&"data: 1\n\n".into());
            take.end_chunk();
        };

        assert_eq!(waited().await, Duration::ZERO);
        let stream = tape.take(Request::of("GET", "/beat"));
        stream.asked();
        assert!(waited().await >= LIMIT);
        stream.head(200, None, Headers::from_iter([("content-type", "text/event-stream")]));
        say(&stream);
        assert!((STILL..2 * STILL).contains(&waited().await));
        let (waited, ()) = tokio::join!(waited(), async {
            for _ in 0..3 {
                tokio::time::sleep(STILL / 2).await;
                say(&stream);
            }
        });
        assert!((2 * STILL..LIMIT).contains(&waited));
        tape.discard().unwrap();
    }
}
