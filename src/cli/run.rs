//! `retape run`.

use clap::Args;

use super::Exit;
use super::arguments::{Common, Live, Play};
use super::conduct::{self, Plan, Unplayed};
use crate::error::Result;
use crate::store::mode::Mode;

/// Record or replay, as RETAPE_MODE says
///
/// replay (the default where CI is set) never touches the network; once (the default elsewhere)
/// replays what is recorded and records cassettes that are not there; new_episodes replays what it
/// knows and adds the rest; record records anew; passthrough only passes on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape run --upstream http://127.0.0.1:8283 -- pytest
  RETAPE_MODE=record retape run --upstream http://127.0.0.1:8283 -- pytest")]
pub(super) struct Run {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    live: Live,
    #[command(flatten)]
    play: Play,
    /// The mode, whatever the environment says: replay, once, new_episodes, record or passthrough
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
}

impl Run {
    pub(super) fn run(self) -> Result<Exit> {
        let mode = self.mode.map_or_else(Mode::from_env, Ok)?;
        let session = self.play.settle(self.live.settle(self.common.session())?);
        conduct::conduct(Plan {
            session: session
                .rerun(self.common.rerun())
                .mode(mode)
                .spare_upstream(self.common.is_suite()),
            common: &self.common,
            live: (mode != Mode::Replay).then_some(&self.live),
            unplayed: Unplayed::of(&self.play),
            proof: conduct::Proof::Spared,
        })
    }
}
