//! What `#[retape::test]` calls.

use std::fmt::Debug;

use super::run::Failed;
use super::{Session, SessionBuilder};
use crate::cassette::Name;

/// The name of a test's cassette: its path, `agents::tests::are_listed`, as that of a file.
pub fn name(module: &str, test: &str) -> String {
    let path = format!("{module}::{test}").replace("r#", "");
    path.split("::").map(Name::part_of_test).collect::<Vec<_>>().join("/")
}

/// Runs a test, and fails it if the session does not end well.
#[track_caller]
pub fn run<T: Outcome>(settings: SessionBuilder, test: impl AsyncFn(&Session) -> T) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a test needs a runtime");
    let outcome = runtime.block_on(settings.attempt(async |session| test(session).await.outcome()));
    match outcome {
        Ok(()) => {}
        Err(Failed::Session(error)) => panic!("{error:?}"),
        Err(Failed::Test(Failure(why), left)) => {
            // The error of a client says `470 Not Recorded` at best.
            let told: Vec<String> = std::iter::once(why).chain(left.told()).collect();
            panic!("{}", told.join("\n"))
        }
    }
}

/// As [`run`], for a test that blocks. The session is served by another thread.
#[track_caller]
pub fn run_blocking<T: Outcome>(settings: SessionBuilder, test: impl Fn(&Session) -> T) {
    run(settings, async |session| tokio::task::block_in_place(|| test(session)));
}

/// What a test returns.
pub trait Outcome {
    /// What came of it.
    fn outcome(self) -> Result<(), Failure>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl<T, E: Debug> Outcome for Result<T, E> {
    fn outcome(self) -> Result<(), Failure> {
        // As the test harness shows it.
        self.map(drop).map_err(|error| Failure(format!("Error: {error:?}")))
    }
}

/// Why a test failed, for people.
#[derive(Debug)]
pub struct Failure(String);
