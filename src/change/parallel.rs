//! The same work with each of many things, on all processors.

use std::thread;

/// Does the work with each, and gives back what came of it in order.
pub(super) fn each<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = all.len().div_ceil(threads).max(1);
    let work = &work;
    thread::scope(|scope| {
        let parts = all.chunks(share);
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<U>>()))
            .collect();
        let joined = parts.into_iter().flat_map(|part| match part.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    })
}
