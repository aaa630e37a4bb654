//! What `#[retape::test]` calls.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Debug;
use std::panic::resume_unwind;

use tokio::runtime::Runtime;

use super::run::{Failed, Left, caught};
use super::{Session, SessionBuilder};
use crate::cassette::Name;
use crate::error::Error;
use crate::store::mode::Mode;

/// The name of a test's cassette: its path, `agents::tests::are_listed`, as that of a file.
pub fn name(module: &str, test: &str) -> String {
    let path = format!("{module}::{test}").replace("r#", "");
    path.split("::").map(Name::part_of_test).collect::<Vec<_>>().join("/")
}

/// Runs a test, and fails it if the session does not end well.
#[track_caller]
pub fn run<T: Outcome>(settings: SessionBuilder, test: impl AsyncFn(&Session) -> T) {
    let outcome =
        runtime().block_on(settings.attempt(async |session| test(session).await.outcome()));
    match outcome {
        Ok(()) => {}
        Err(Failed::Session(error)) => panic!("{error:?}"),
        Err(Failed::Test(Failure(why), left)) => panic!("{}", told(why, &left)),
        Err(Failed::Again(error, failure)) => panic!("{}", again(&error, failure)),
    }
}

/// As [`run`], for a test that is to panic: what it recorded is saved once it does, with what is `expected` of it.
///
/// The harness calls it passed by any panic with that text. So none comes of what such a test missed, whose
/// explanation may have the text too: then it fails because it did not panic. Only a test that ended well, and does
/// not record, may expect what its session says.
#[track_caller]
#[expect(clippy::print_stderr, reason = "the harness shows it with the test, which fails")]
pub fn run_to_panic<T: Outcome>(
    settings: SessionBuilder,
    test: impl AsyncFn(&Session) -> T,
    expected: Option<&str>,
) {
    // Whether what is expected may be said of the session.
    let is_open = Cell::new(expected.is_some());
    let outcome = runtime().block_on(settings.attempt(async |session| {
        let records = matches!(session.hub.main.plan(), Mode::Record | Mode::NewEpisodes);
        match caught(test(session)).await.map(T::outcome) {
            // The harness refuses it too.
            Err(panic) if !has(&*panic, expected.unwrap_or_default()) => resume_unwind(panic),
            Err(panic) => {
                is_open.set(false);
                Ok(Some(panic))
            }
            Ok(Ok(())) if records || expected.is_none() => {
                is_open.set(false);
                Err(Failure("the test did not panic".to_owned()))
            }
            Ok(Ok(())) => Ok(None),
            Ok(Err(failure)) => {
                is_open.set(is_open.get() && session.misses().is_empty());
                Err(failure)
            }
        }
    }));
    let why = match outcome {
        Ok(Some(panic)) => resume_unwind(panic),
        Ok(None) => return,
        Err(Failed::Session(error)) => format!("{error:?}"),
        Err(Failed::Test(Failure(why), left)) => told(why, &left),
        Err(Failed::Again(error, failure)) => again(&error, failure),
    };
    if is_open.get() { panic!("{why}") } else { eprintln!("{why}") }
}

/// Whether the text of a panic has another in it. One that has no text has the empty one.
fn has(panic: &(dyn Any + Send), text: &str) -> bool {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.unwrap_or_default().contains(text)
}

/// As [`run_to_panic`], for a test that blocks.
#[track_caller]
pub fn run_blocking_to_panic<T: Outcome>(
    settings: SessionBuilder,
    test: impl Fn(&Session) -> T,
    expected: Option<&str>,
) {
    let test = async |session: &Session| tokio::task::block_in_place(|| test(session));
    run_to_panic(settings, test, expected);
}

fn runtime() -> Runtime {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a test needs a runtime")
}

/// Why a test failed, and what its session knows of that: the error of a client says `470 Not Recorded` at best.
fn told(why: String, left: &Left) -> String {
    std::iter::once(why).chain(left.told()).collect::<Vec<_>>().join("\n")
}

/// Why a recording does not replay, and what the test said itself when it ran against it.
fn again(error: &Error, failure: Option<Failure>) -> String {
    let own = failure.map(|Failure(why)| format!("\nagainst its recording the test says: {why}"));
    format!("{error:?}{}", own.unwrap_or_default())
}

/// As [`run`], for a test that blocks. The session is served by another thread.
#[track_caller]
pub fn run_blocking<T: Outcome>(settings: SessionBuilder, test: impl Fn(&Session) -> T) {
    run(settings, async |session| tokio::task::block_in_place(|| test(session)));
}

/// The mode that a test names by a word of `RETAPE_MODE`.
#[track_caller]
pub fn mode(word: &str) -> Mode {
    word.parse().unwrap_or_else(|error| panic!("{error:?}"))
}

/// What a test returns.
#[diagnostic::on_unimplemented(
    message = "a test with a session cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "let it return `()`, or a `Result` whose error is `Debug`"
)]
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
