//! Whether a test runs once more, to prove what it has recorded.
//!
//! # Rationale
//!
//! Those who want to know are the assertions, which a test calls by itself: nobody could hand it to them. It
//! is known while the test is polled, and kept nowhere.

tokio::task_local! {
    static PROVING: ();
}

/// Runs a test once more.
pub async fn proving<T>(test: impl Future<Output = T>) -> T {
    PROVING.scope((), test).await
}

/// Whether the test that asks runs once more.
pub fn is_proving() -> bool {
    PROVING.try_with(|()| ()).is_ok()
}
