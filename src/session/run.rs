//! A test that is run with a session, and ends with it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;
use std::{future, thread};

use super::event::Miss;
use super::proof::{Client, is_whole};
#[cfg(feature = "macros")]
use super::summary;
use super::{Session, SessionBuilder, tested, unfinished};
use crate::error::{Error, Result};
use crate::serve::recorder::{Course, Recording};
use crate::store;
#[cfg(feature = "insta")]
use crate::store::Asserted;

impl SessionBuilder {
    /// Runs a test with a session, and if the session records, proves that the recording replays: the test
    /// is run again against what was recorded, with no server, three times at most. What differs
    /// between the runs is written into the cassette's table of names as made up by the client.
    ///
    /// If the test fails, what it missed is printed with the explanations, as a test prints: the harness shows
    /// it with the failure. What it recorded until then is kept as `NAME.failed.json`, and the cassette stays.
    ///
    /// # Errors
    ///
    /// The error of the test, those of [`start`](Self::start) and [`finish`](Session::finish), and one
    /// with the explanation if the recording does not replay, which is kept all the same.
    ///
    /// # Example: a test that proves what it records
    ///
    /// ```no_run
    /// # async fn agents(base_url: String) -> Result<Vec<String>, retape::Error> { Ok(vec![base_url]) }
    /// # async fn example() -> Result<(), retape::Error> {
    /// retape::Session::builder("agents/list")
    ///     .run(async |session| {
    ///         let agents = agents(session.url()).await?;
    ///         assert_eq!(agents.len(), 1);
    ///         Ok::<_, retape::Error>(())
    ///     })
    ///     .await
    /// # }
    /// ```
    pub async fn run<T, E: From<Error>>(
        self,
        test: impl AsyncFn(&Session) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.attempt(test).await {
            Ok(value) => Ok(value),
            Err(Failed::Session(error) | Failed::Again(error, _)) => Err(error.into()),
            Err(Failed::Test(error, left)) => {
                left.print();
                Err(error)
            }
        }
    }

    /// The same, for whoever says himself what the session of a failed test has to say.
    pub(super) async fn attempt<T, E>(
        self,
        test: impl AsyncFn(&Session) -> Result<T, E>,
    ) -> Result<T, Failed<E>> {
        let session = self.clone().start().await?;
        let asserted = Asserted::default();
        let value = match caught(asserted.first(test(&session))).await {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => return Err(Failed::Test(error, Left::of(session).await)),
            Err(panic) => {
                Left::of(session).await.print();
                resume_unwind(panic)
            }
        };
        let summary = session.finish().await?;
        if summary.recordings.iter().any(is_whole) {
            let mut failed = None;
            // A test that panics may do so by what it missed, which the next run knows.
            let proven = self.prove(&summary, Client::Here, async |session, _| {
                let ran = caught(again(asserted.again(test(session)))).await;
                let is_content = matches!(ran, Ok(Ok(_)));
                failed = ran.ok().and_then(Result::err);
                Some(is_content)
            });
            let proven = proven.await?.checked();
            proven.map_err(|unproven| Failed::Again(unproven, failed))?;
        }
        Ok(value)
    }
}

/// Why a test with a session has failed.
pub(super) enum Failed<E> {
    /// The session did not start, or did not end well.
    Session(Error),
    /// The test says so itself, and its session may know more.
    Test(E, Left),
    /// Its recording does not replay, as far as is known because the test fails against it.
    Again(Error, Option<E>),
}

impl<E> From<Error> for Failed<E> {
    fn from(error: Error) -> Self {
        Self::Session(error)
    }
}

/// What the session of a failed test has to say.
pub(super) struct Left {
    misses: Vec<Miss>,
    /// Where what it recorded is now, or why that could not be saved.
    kept: Vec<String>,
}

impl Left {
    /// Ends a session whose test has failed.
    async fn of(session: Session) -> Self {
        let misses = session.misses();
        let closed = session.close().await;
        closed.settle().await;
        let kept = match closed.save(Course::Failed) {
            Ok(summary) => summary.recordings.iter().filter_map(kept).collect(),
            Err(error) => vec![format!("{error:?}")],
        };
        Self { misses, kept }
    }

    /// All of it, with the first miss as a test is told that has ignored it.
    #[cfg(feature = "macros")]
    pub(super) fn told(&self) -> Vec<String> {
        let missed = summary::missed(&self.misses).map(|error| format!("{error:?}"));
        missed.into_iter().chain(self.kept.iter().cloned()).collect()
    }

    #[expect(clippy::print_stderr, reason = "the harness shows it with the test, which has failed")]
    fn print(&self) {
        let test =
            tested::name().map_or_else(|| "a test".to_owned(), |name| format!("the test `{name}`"));
        if !self.misses.is_empty() {
            let head = format!("{test} failed, and these requests have no recorded answer");
            eprint!("{}", unfinished::text(&head, &self.misses));
        }
        for kept in &self.kept {
            eprintln!("retape: {test} failed\n{kept}");
        }
    }
}

/// Where a recording is, and how it becomes the cassette.
fn kept(recording: &Recording) -> Option<String> {
    let path = recording.path.as_deref()?;
    let Recording { folder, name, .. } = recording;
    let told = format!("what it recorded is kept in `{}`", store::mention_path(path));
    if recording.is_unheard() {
        let fault = recording.fault.as_deref().unwrap_or_default();
        return Some(format!("the server did not answer a single request: {fault}; {told}"));
    }
    let command = store::taking(path, &store::path_of(folder, name));
    Some(format!("{told}\nhint: to take it as the cassette `{name}`: `{command}`"))
}

/// What a future comes to, a panic included.
pub(super) async fn caught<T>(future: impl Future<Output = T>) -> thread::Result<T> {
    let mut future = pin!(future);
    let poll = future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.map_or_else(|panic| Poll::Ready(Err(panic)), |polled| polled.map(Ok))
    });
    poll.await
}

/// Runs a test once more. Its snapshots are asserted a second time, which insta would take for a loop: it refuses
/// inline ones in loops, and numbers the files of others.
#[cfg(feature = "insta")]
async fn again<T>(test: impl Future<Output = T>) -> T {
    let mut test = pin!(test);
    future::poll_fn(|context| insta::allow_duplicates! { test.as_mut().poll(context) }).await
}

#[cfg(not(feature = "insta"))]
async fn again<T>(test: impl Future<Output = T>) -> T {
    test.await
}

/// Nothing is asserted by snapshots.
#[cfg(not(feature = "insta"))]
#[derive(Default)]
struct Asserted {}

#[cfg(not(feature = "insta"))]
impl Asserted {
    async fn first<T>(&self, test: impl Future<Output = T>) -> T {
        test.await
    }

    async fn again<T>(&self, test: impl Future<Output = T>) -> T {
        test.await
    }
}
