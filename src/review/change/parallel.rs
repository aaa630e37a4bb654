//! Work on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// So many times as many threads wait for the disk as there are processors.
#[cfg(feature = "cli")]
const WAITING: usize = 8;

/// Does the same with each, and gives back what came of it in order.
pub(crate) fn each<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    on_threads(processors(), all, work)
}

/// The same where most of the time is spent in waiting until something is on the disk.
#[cfg(feature = "cli")]
pub(crate) fn each_waiting<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    on_threads(WAITING * processors(), all, work)
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn on_threads<T: Sync, U: Send>(
    threads: usize,
    all: &[T],
    work: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    let threads = threads.min(all.len());
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    // Some take much longer than others: whoever is free takes the next one.
    let take = move || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        let mine = numbers.map_while(|number| Some((number, work(all.get(number)?))));
        mine.collect::<Vec<(usize, U)>>()
    };
    let mut done = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(joined).collect::<Vec<(usize, U)>>()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does two things at once.
pub(super) fn both<T: Send, U: Send>(
    one: impl FnOnce() -> T + Send,
    other: impl FnOnce() -> U,
) -> (T, U) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (joined(one), other)
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
