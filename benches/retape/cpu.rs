//! Time on the processor.

use std::path::PathBuf;
use std::time::Duration;

/// A thread whose time on the processor can be read, where the system tells it.
#[derive(Debug, Clone)]
pub struct Thread(Option<PathBuf>);

impl Thread {
    /// The thread that asks.
    pub fn current() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        Self(thread.map(|thread| PathBuf::from("/proc").join(thread).join("schedstat")))
    }

    /// How long it has run so far.
    pub fn time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.0.as_ref()?).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    }
}
