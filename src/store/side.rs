//! One of two sides that are compared: a folder of cassettes, one cassette, or one contract.

use std::path::Path;

use super::contracts::{contracts, read};
use super::file::load_file;
use super::folder::above;
use super::list::list;
use crate::cassette::{Cassette, Name};
use crate::contract::Contract;
use crate::error::{Error, Kind, Result};
use crate::review::change::parallel::each;

/// What stands on one side.
#[derive(Debug, Default)]
pub struct Side {
    /// The cassettes with their names, sorted.
    pub cassettes: Vec<(Name, Cassette)>,
    /// The accepted contracts.
    pub accepted: Vec<Contract>,
    /// Why other cassettes of the folder cannot be read, by their names.
    pub unread: Vec<(Name, Error)>,
}

/// What a file is, by its ending.
const CASSETTE: &str = "json";
const CONTRACT: &str = "snap";

/// Reads a side: a folder of cassettes with its accepted contracts, the file of a cassette, or that of a
/// contract. A single cassette is called by `name`, so that two can be one before and after.
///
/// # Errors
///
/// If it is not there, or cannot be read.
pub fn load_side(path: &Path, name: &Name) -> Result<Side> {
    if path.is_dir() {
        return load_folder(path);
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.filter(|_| path.is_file()) {
        Some(CONTRACT) => Ok(Side { accepted: vec![read(path)?], ..Side::default() }),
        Some(CASSETTE) => {
            let cassettes = vec![(name.clone(), load_file(path)?.shown()?.by_message())];
            Ok(Side { cassettes, ..Side::default() })
        }
        _ => {
            let named =
                "a folder of cassettes, a cassette (`NAME.json`) or a contract (`NAME.snap`)";
            let hint = if path.exists() {
                format!("name {named}")
            } else {
                let missing = || format!("there is no such file or folder; name {named}");
                above(path).unwrap_or_else(missing)
            };
            Err(Error::new(Kind::NothingToCheck).at(path).with_hint(hint))
        }
    }
}

fn load_folder(folder: &Path) -> Result<Side> {
    let names = list(folder);
    let accepted = contracts(folder)?;
    let all = each(&names, |name| {
        let cassette = load_file(&folder.join(format!("{name}.json")));
        let shown = cassette.and_then(Cassette::shown);
        (name.clone(), shown.map(Cassette::by_message))
    });
    Ok(Side::of(all, accepted))
}

impl Side {
    /// What stands there, as far as it can be read.
    pub(super) fn of(all: Vec<(Name, Result<Cassette>)>, accepted: Vec<Contract>) -> Self {
        let mut side = Self { accepted, ..Self::default() };
        for (name, cassette) in all {
            match cassette {
                Ok(cassette) => side.cassettes.push((name, cassette)),
                Err(error) => side.unread.push((name, error)),
            }
        }
        side
    }
}
