//! What several tasks share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what is shared. A task that has panicked does not keep the others from going on.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
