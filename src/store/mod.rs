//! Files: cassettes, the bodies beside them, and the journal of a recording that is under way.

mod file;
mod journal;

pub use file::{exists, load, load_file, path_of, save};
pub(crate) use journal::{Entry, Journal, Recovered};
