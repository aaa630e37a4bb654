//! Files: cassettes, the bodies beside them, contracts, `retape.toml`, and the journal of a recording that is under way.

#[cfg(feature = "review")]
mod approvals;
mod config;
#[cfg(feature = "review")]
mod contracts;
mod disk;
mod environment;
mod file;
mod folder;
#[cfg(feature = "import")]
mod foreign;
#[cfg(not(feature = "import"))]
#[path = "no_foreign.rs"]
mod foreign;
#[cfg(feature = "review")]
mod git;
#[cfg(feature = "cli")]
mod import;
mod journal;
mod large;
mod list;
mod mention;
pub(crate) mod mode;
mod program;
#[cfg(feature = "insta")]
mod proving;
mod regular;
mod replace;
#[cfg(any(feature = "cli", feature = "insta"))]
mod repository;
mod saving;
#[cfg(feature = "review")]
mod side;

pub use config::{find_config, load_config};
#[cfg(test)]
pub(crate) use disk::{Trial, under};
pub(crate) use environment::environment;
#[cfg(feature = "record")]
pub(crate) use file::save_long;
pub(crate) use file::{change_report, write_report};
pub use file::{exists, load, load_file, load_rules, path_of, save, text_of};
pub(crate) use file::{how_to_come_by, load_with, near, open};
#[cfg(feature = "cli")]
pub(crate) use folder::above;
#[cfg(any(feature = "cli", feature = "insta"))]
pub(crate) use folder::nothing_in;
#[cfg(feature = "cli")]
pub(crate) use import::{Became, Facts, Import, Present, Secrets, import, sources};
pub(crate) use journal::{Alarm, Entry, EntrySpan, Journal, Reader, Recovered};
pub(crate) use large::Pieces;
#[cfg(any(feature = "cli", feature = "insta"))]
pub(crate) use list::list;
pub(crate) use list::{folders_called, stems};
#[cfg(feature = "cli")]
pub(crate) use list::{journals, playable};
#[cfg(feature = "cli")]
pub(crate) use mention::from_here;
pub(crate) use mention::{mention, mention_path, taking};
pub(crate) use program::written;
#[cfg(feature = "insta")]
pub(crate) use proving::{Asserted, is_asserted};
#[cfg(feature = "cli")]
pub(crate) use regular::read_text;
#[cfg(any(feature = "cli", feature = "insta"))]
pub(crate) use repository::{in_repository, unreadable};
#[cfg(feature = "review")]
pub use {
    approvals::{add_approvals, find_approvals, load_approvals},
    contracts::{accept, contract_name, contracts, forget, propose, reject, withdraw},
    git::{load_revision, moved_from},
    side::{Side, load_side},
};
