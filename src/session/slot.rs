//! A session behind one prefix.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use super::gateway::Gateway;
use super::track::Track;
use crate::cassette::Name;
use crate::error::Result;
use crate::serve::lock;
use crate::serve::replayer::Replayer;

/// A session that is opened by its first request, once.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) cassette: Name,
    pub(super) track: OnceCell<Track>,
    /// What was played before the run began anew.
    earlier: Mutex<BTreeSet<usize>>,
}

impl Slot {
    pub(super) fn new(cassette: Name) -> Self {
        Self { cassette, track: OnceCell::new(), earlier: Mutex::default() }
    }

    pub(super) fn replayer(&self) -> Option<&Replayer> {
        self.track.get()?.replayer()
    }

    /// Whether nothing was asked of it, but of another one that plays the same cassette: paths name that as well.
    pub(super) fn is_passed_over<'s>(&self, mut all: impl Iterator<Item = &'s Arc<Self>>) -> bool {
        !self.is_played() && all.any(|it| it.cassette == self.cassette && it.is_played())
    }

    fn is_played(&self) -> bool {
        self.replayer().is_some_and(|replayer| {
            let all = replayer.recorded().cassette().interactions.len();
            self.never_played(replayer).len() < all
        })
    }

    /// Lets the run begin anew, if there is one.
    pub(super) fn reset(&self) -> Option<()> {
        let replayer = self.replayer()?;
        let unplayed = self.never_played(replayer);
        let all = 0..replayer.recorded().cassette().interactions.len();
        lock(&self.earlier).extend(all.filter(|number| unplayed.binary_search(number).is_err()));
        replayer.reset();
        Some(())
    }

    pub(super) fn never_played(&self, replayer: &Replayer) -> Vec<usize> {
        let earlier = lock(&self.earlier);
        let mut unplayed = replayer.unplayed();
        unplayed.retain(|number| !earlier.contains(number));
        unplayed
    }

    pub(super) async fn track(&self, gateway: &Gateway) -> Result<&Track> {
        self.track.get_or_try_init(|| gateway.track(&self.cassette)).await
    }
}
