//! What a recorder leaves that is killed, or whose disk is full: at each step in which files change.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use bytes::Bytes;

    use super::super::rescue::rescue;
    use super::super::take::Take;
    use super::super::tape::Tape;
    use crate::cassette::{Cassette, Content, End, Headers, Name, Outcome, Peer, Request};
    use crate::error::Result;
    use crate::redact::Redactor;
    use crate::serve::recording::{Course, Origins, Recording, Wording};
    use crate::store::{self, Alarm, Journal, Trial, under};

    /// A folder with a cassette `tape`.
    struct Stage {
        folder: tempfile::TempDir,
        old: String,
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Recorder::new(folder.path(), "old").record().1.unwrap();
            let old = fs::read_to_string(folder.path().join("tape.json")).unwrap();
            Self { folder, old }
        }

        /// One that is as this one is.
        fn again(&self) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let bodies = folder.path().join("tape.bodies");
            fs::create_dir(&bodies).unwrap();
            for entry in fs::read_dir(self.path().join("tape.bodies")).unwrap() {
                let body = entry.unwrap();
                fs::copy(body.path(), bodies.join(body.file_name())).unwrap();
            }
            fs::write(folder.path().join("tape.json"), &self.old).unwrap();
            Self { folder, old: self.old.clone() }
        }

        fn path(&self) -> &Path {
            self.folder.path()
        }

        /// Records over the old cassette, and comes to a trial at a step. Returns what clients have seen of
        /// each interaction, what came of it, and how many steps there were.
        fn record(&self, trial: Trial, at: usize) -> (Vec<Vec<u8>>, Result<Recording>, usize) {
            let mut recorder = Recorder::new(self.path(), "new");
            let ((seen, done), steps) = under(trial, at, || recorder.record());
            (seen, done, steps)
        }

        /// The files beside the journal.
        fn files(&self) -> Vec<std::ffi::OsString> {
            let folders = [self.path().to_owned(), self.path().join("tape.bodies")];
            let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            files.retain(|file| file != "tape.json.part");
            files.sort();
            files
        }

        /// Whether the new cassette stands there, and not the old one as it was.
        fn is_replaced(&self) -> bool {
            let cassette = store::load(self.path(), &name()).unwrap();
            let said = if has(&cassette, "new") { "new" } else { "old" };
            assert_eq!(cassette.interactions.len(), 50);
            assert!(cassette.interactions.iter().all(|it| it.request.path.contains(said)));
            let text = fs::read_to_string(self.path().join("tape.json")).unwrap();
            assert_eq!(text == self.old, said == "old");
            said == "new"
        }

        /// What a recorder that was killed left in its journal.
        fn left(&self) -> Option<Cassette> {
            let (journal, left) = Journal::open(self.path(), &name(), silent()).unwrap();
            let rescued = left.map(|left| {
                let redactor = Redactor::standard();
                rescue(self.path(), &name(), &redactor, left).unwrap()
            });
            journal.remove().unwrap();
            rescued.map(|(_, path)| store::load_file(&path).unwrap())
        }
    }

    /// Records 50 interactions of all kinds, as long as its process lives.
    struct Recorder<'a> {
        folder: &'a Path,
        said: &'a str,
        seen: Vec<Vec<u8>>,
    }

    impl<'a> Recorder<'a> {
        fn new(folder: &'a Path, said: &'a str) -> Self {
            Self { folder, said, seen: vec![Vec::new(); 50] }
        }

        fn record(&mut self) -> (Vec<Vec<u8>>, Result<Recording>) {
            let (origins, redactor) = (Origins::default(), Redactor::standard());
            let begun =
                Tape::begin(self.folder, &name(), origins, Wording::Fresh, redactor, silent());
            let (tape, _) = match begun {
                Ok((tape, rescued)) => (Arc::new(tape), rescued),
                Err(error) => return (Vec::new(), Err(error)),
            };
            let mut stream = None;
            for n in (0..50).take_while(|_| !Trial::is_dead()) {
                let take = self.ask(&tape, n);
                match n % 5 {
                    0 => self.answer(
                        &take,
                        n,
                        format!("{{\"a\": \"{} {n}\"}}", self.said).as_bytes(),
                    ),
                    1 => {
                        take.head(200, None, typed("text/event-stream"));
                        self.pass(&take, n, b"data: 1\n\n");
                        stream = Some((n, take));
                    }
                    2 => {
                        // Beside the file, and the first one not held in memory to its end.
                        let mut body = format!("{} {n}", self.said).into_bytes();
                        body.resize(if n == 2 { 40_000 } else { 5_000 }, 0xfe);
                        take.head(200, None, typed("application/octet-stream"));
                        (0..if n == 2 { 3 } else { 1 }).for_each(|_| self.pass(&take, n, &body));
                        take.end(End::Complete);
                    }
                    3 => take.fail(End::ServerClosed, "it left".to_owned()),
                    _ => {
                        self.talk(&take, n);
                        let (n, take) = stream.take().unwrap();
                        self.pass(&take, n, b"data: 2\n\n");
                        take.end(End::Complete);
                    }
                }
            }
            let recording = if Trial::is_dead() {
                tape.discard().map(|()| unreachable!("it is dead"))
            } else {
                tape.finish(None, Course::Whole)
            };
            (std::mem::take(&mut self.seen), recording)
        }

        fn ask(&self, tape: &Arc<Tape>, n: usize) -> Arc<Take> {
            let take = tape.take(Request {
                headers: Headers::from_iter([("content-type", "application/json")]),
                ..Request::of("POST", format!("/{}/{n}", self.said))
            });
            take.sent(&Bytes::from(format!("{{\"n\": {n}}}")));
            take.asked();
            take
        }

        fn answer(&mut self, take: &Take, n: usize, body: &[u8]) {
            take.head(200, None, typed("application/octet-stream"));
            self.pass(take, n, body);
            take.end(End::Complete);
        }

        fn talk(&mut self, take: &Take, n: usize) {
            take.head(101, None, Headers::new());
            let text = Bytes::from(format!("{} {n}", self.said));
            take.frame(Peer::Server, Content::Text(text.clone()), Vec::new());
            take.write();
            self.see(n, &text);
            take.end_frames(Peer::Server);
        }

        /// Passes a piece of an answer on when it is written.
        fn pass(&mut self, take: &Take, n: usize, bytes: &[u8]) {
            take.part(&Bytes::copy_from_slice(bytes));
            take.end_chunk();
            take.write();
            self.see(n, bytes);
        }

        fn see(&mut self, n: usize, bytes: &[u8]) {
            if !Trial::is_dead() {
                self.seen[n].extend_from_slice(bytes);
            }
        }
    }

    fn name() -> Name {
        Name::new("tape").unwrap()
    }

    fn silent() -> Alarm {
        Alarm::new(|_, _| {})
    }

    fn typed(value: &'static str) -> Headers {
        Headers::from_iter([("content-type", value)])
    }

    fn has(cassette: &Cassette, said: &str) -> bool {
        cassette.interactions.iter().any(|it| it.request.path.contains(said))
    }

    /// Whether a cassette holds all that clients have seen.
    #[track_caller]
    fn check_holds(cassette: &Cassette, seen: &[Vec<u8>], at: usize) {
        for (n, seen) in seen.iter().enumerate().filter(|(_, seen)| !seen.is_empty()) {
            let path = format!("/new/{n}");
            let found = cassette.interactions.iter().find(|it| it.request.path == path);
            let Outcome::Response(response) = &found.unwrap().outcome else {
                panic!("step {at}: interaction {n} has no answer")
            };
            let frames = response.frames.iter().filter_map(|frame| frame.message());
            let said: Vec<u8> = frames.flatten().copied().collect();
            let said = [&response.body.bytes()[..], &said].concat();
            assert!(said.starts_with(seen), "step {at}: interaction {n} has lost something");
        }
    }

    #[test]
    fn a_recorder_that_is_killed_at_any_step_leaves_the_old_cassette_or_the_new_and_what_was_seen()
    {
        let whole = Stage::new();
        let (_, done, steps) = whole.again().record(Trial::Killed, usize::MAX);
        assert_eq!(done.unwrap().interactions, 50);
        let (mut before, mut rescued) = (0, 0);

        for at in 0..steps {
            let stage = whole.again();
            let (seen, done, _) = stage.record(Trial::Killed, at);
            assert!(done.is_err(), "step {at}");
            let is_replaced = stage.is_replaced();
            let left = stage.left();

            match &left {
                Some(left) => check_holds(left, &seen, at),
                None if is_replaced => {}
                None => assert!(seen.iter().all(Vec::is_empty), "step {at}: all is lost"),
            }
            before += usize::from(!is_replaced);
            rescued += usize::from(left.is_some());
        }
        assert!(before > 150 && rescued > 150 && before < steps, "{before} {rescued} {steps}");
    }

    #[test]
    fn a_disk_that_is_full_replaces_no_cassette_and_says_what_to_do() {
        let whole = Stage::new();
        let steps = whole.again().record(Trial::Full, usize::MAX).2;
        let mut refused = 0;
        // Where the journal grows, one step is as another.
        let at = (0..steps).filter(|at| at % 16 < 2 || at + 20 > steps);

        for (trial, at) in at.flat_map(|at| [(Trial::Full, at), (Trial::FullOnce, at)]) {
            let stage = whole.again();
            let (_, done, _) = stage.record(trial, at);

            match done {
                Ok(_) => assert!(stage.is_replaced(), "{trial:?} {at}"),
                Err(error) => {
                    assert!(!stage.is_replaced(), "{trial:?} {at}");
                    assert!(
                        error.hint().is_some_and(|it| it.contains("free some space")),
                        "{error:?}"
                    );
                    assert_eq!(stage.files(), whole.files(), "{trial:?} {at}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 20, "{refused}");
    }
}
