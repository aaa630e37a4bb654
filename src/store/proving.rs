//! What a test asserts by snapshots without a name, when it runs and when it runs once more, to prove what it has
//! recorded.
//!
//! # Rationale
//!
//! A snapshot that is asserted a second time has another number, and would be another file. So the second time the text
//! has to be what it was the first time. Those who want to know are the assertions, which a test calls by itself: nobody
//! could hand it to them. It is known while the test is polled, and kept nowhere.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

tokio::task_local! {
    static RUN: TestRun;
}

/// The texts that a test has asserted, in order.
#[derive(Debug, Clone, Default)]
pub struct Asserted(Arc<Mutex<Vec<String>>>);

/// A run of a test.
struct TestRun {
    asserted: Asserted,
    /// How many texts it has asserted, if the test runs once more.
    again: Option<AtomicUsize>,
}

impl Asserted {
    /// Runs the test.
    pub async fn first<T>(&self, test: impl Future<Output = T>) -> T {
        RUN.scope(TestRun { asserted: self.clone(), again: None }, test).await
    }

    /// Runs it once more.
    pub async fn again<T>(&self, test: impl Future<Output = T>) -> T {
        RUN.scope(TestRun { asserted: self.clone(), again: Some(AtomicUsize::new(0)) }, test).await
    }
}

/// Whether the snapshot of a text is to be asserted: of a test that runs once more it is not.
///
/// # Panics
///
/// If such a test has asserted something else before.
#[track_caller]
pub fn is_asserted(text: &str) -> bool {
    let before = RUN.try_with(|run| {
        let mut asserted = run.asserted.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(again) = &run.again else {
            asserted.push(text.to_owned());
            return None;
        };
        Some(asserted.get(again.fetch_add(1, Ordering::Relaxed)).cloned())
    });
    let Ok(Some(before)) = before else { return true };
    if let Some(before) = before.filter(|before| before != text) {
        panic!(
            "without the server it is another snapshot: a placeholder may stand there for a secret\n\nthe server:\n\
             {before}\n\nthe recording:\n{text}"
        );
    }
    false
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[tokio::test]
    async fn a_test_asserts_once_and_says_the_same_again() {
        let asserted = Asserted::default();
        let both = || ["object", "string"].map(is_asserted);

        assert_eq!(asserted.first(async { both() }).await, [true, true]);
        assert_eq!(asserted.again(async { both() }).await, [false, false]);
        let other = asserted.again(async { catch_unwind(|| is_asserted("string")) }).await;

        let told = other.unwrap_err().downcast::<String>().unwrap();
        assert!(told.contains("the server:\nobject\n\nthe recording:\nstring"), "{told}");
        assert!(is_asserted("outside of any test"));
    }
}
