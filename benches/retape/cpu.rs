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

/// How long all threads of this process have run so far, those that have ended included.
pub fn process() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name of the program, which may hold spaces.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    // In hundredths of a second, whatever the machine.
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}
