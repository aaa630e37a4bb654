//! Files: cassettes, the bodies beside them, and the journal of a recording that is under way.

mod file;
mod folder;
mod journal;
mod list;
mod mention;
mod replace;

pub use file::{exists, load, load_file, path_of, save};
pub(crate) use journal::{Entry, Journal, Recovered};
pub(crate) use list::list;
pub(crate) use mention::{mention, mention_path};
