//! `retape run`.

use clap::Args;

use super::Exit;
use super::arguments::{Common, LiveServer, Play};
use super::conduct::{self, Plan, Proof, Unplayed};
use crate::error::Result;
use crate::store::mode::Mode;

/// Record or replay, as RETAPE_MODE says
///
/// replay (the default where CI is set) never touches the network; once (the default elsewhere)
/// replays what is recorded and records cassettes that are not there; new_episodes replays what it
/// knows and adds the rest; record records anew; passthrough only passes on. Where something was recorded, the
/// command is run again against it, with no server, as `retape record` does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape run --upstream http://127.0.0.1:8283 -- pytest
  RETAPE_MODE=record retape run --upstream http://127.0.0.1:8283 -- pytest")]
pub(super) struct Run {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    live: LiveServer,
    #[command(flatten)]
    play: Play,
    /// The mode, whatever the environment says: replay, once, new_episodes, record or passthrough
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
}

impl Run {
    pub(super) fn run(self) -> Result<Exit> {
        let mode = self.mode.map_or_else(Mode::from_env, Ok)?;
        // What goes wrong on purpose would do so again.
        let proof = if self.play.is_spoiled() { Proof::Spared } else { self.live.proof() };
        let session = self.play.settle(self.live.settle(self.common.session())?);
        conduct::conduct(Plan {
            session: session
                .rerun(self.common.rerun())
                .mode(mode)
                .spare_upstream(self.common.is_suite()),
            common: &self.common,
            live: (mode != Mode::Replay).then_some(&self.live),
            unplayed: Unplayed::of(&self.play),
            proof,
        })
    }
}
