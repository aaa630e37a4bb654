//! Files: cassettes, the bodies beside them, `retape.toml`, and the journal of a recording that is under way.

mod config;
mod file;
mod journal;

pub use config::{find_config, load_config};
pub(crate) use file::write_report;
pub use file::{exists, load, load_file, load_rules, path_of, save};
pub(crate) use journal::{Entry, Journal, Recovered};
