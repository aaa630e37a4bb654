//! The connection of a client.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The connection of a client, among the extensions of each request that comes over it. What is kept
/// with it goes when it ends.
#[derive(Clone, Default)]
pub struct Line(Arc<OnceLock<Box<dyn Any + Send + Sync>>>);

impl Line {
    /// What is kept with this connection: made by its first request. Only one type of thing is kept;
    /// for another one there is nothing.
    pub fn keep<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.get_or_init(|| Box::new(make())).downcast_ref()
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}
