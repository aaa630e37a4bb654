//! `retape replay`.

use clap::Args;

use super::Exit;
use super::arguments::{Common, Play};
use super::conduct::{self, Plan, Unplayed};
use crate::cassette::Name;
use crate::error::Result;
use crate::store;
use crate::store::mode::Mode;

/// Run a command against what was recorded, with no server
///
/// Every request is answered as it was recorded: status, headers, chunks. One that nothing recorded
/// answers gets status 470 and an explanation, and makes retape fail even if the command does not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape replay letta/hello -- python hello.py {url}
  retape replay --pace recorded letta/hello -- npm test
  retape replay --listen 127.0.0.1:8283        serves all cassettes until it is interrupted")]
pub(super) struct Replay {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    play: Play,
}

/// What records for a client of the proxy, which names the servers itself.
const PROXIED: &str = "retape record --proxy";

impl Replay {
    pub(super) fn run(self) -> Result<Exit> {
        if self.common.cassette.is_some() {
            // One that is named must be there; the default one need not.
            let (folder, name) = self.common.place();
            let name = Name::new(name)?;
            if !store::exists(&folder, &name) {
                store::load(&folder, &name).map_err(|error| match self.common.proxy {
                    true => error.with_hint(store::how_to_come_by(&folder, &name, PROXIED)),
                    false => error,
                })?;
            }
        }
        conduct::conduct(Plan {
            session: self
                .play
                .settle(self.common.session())
                .rerun(self.common.rerun())
                .mode(Mode::Replay),
            common: &self.common,
            live: None,
            unplayed: Unplayed::of(&self.play),
            proof: conduct::Proof::Spared,
        })
    }
}
