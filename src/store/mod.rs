//! Files: cassettes, the bodies beside them, contracts, `retape.toml`, and the journal of a recording that is under way.

mod approvals;
mod config;
mod contracts;
mod file;
mod folder;
mod git;
mod journal;
mod list;
mod mention;
pub(crate) mod mode;
mod replace;
#[cfg(feature = "cli")]
mod repository;
mod side;

pub use approvals::{add_approvals, find_approvals, load_approvals};
pub use config::{find_config, load_config};
pub use contracts::{
    accept, contract_name, contracts, forget, pending_contracts, propose, reject, withdraw,
};
pub(crate) use file::{change_report, write_report};
pub use file::{exists, load, load_file, load_rules, path_of, save};
pub use git::load_revision;
pub(crate) use journal::{Entry, Journal, Recovered};
#[cfg(any(feature = "cli", feature = "insta"))]
pub(crate) use list::list;
pub(crate) use mention::mention;
#[cfg(feature = "cli")]
pub(crate) use mention::mention_path;
#[cfg(feature = "cli")]
pub(crate) use repository::in_repository;
pub use side::{Side, load_side};
