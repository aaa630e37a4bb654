//! A session of one client that talks over standard input and output.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncRead, AsyncWrite};

use super::beside::Beside;
use super::closed::Closed;
use super::gateway::Gateway;
use super::track::Track;
use super::{Miss, SessionBuilder};
use crate::cassette::Content;
use crate::error::{Error, Result};
use crate::serve::recorder::Pipes;
use crate::serve::replayer::{Pace, Recorded, Replayer};
use crate::store::{self, mode::Mode};

const NO_SESSION: &str = "no session in lines or over a WebSocket, and no MCP over HTTP";

/// A session of one client that talks over standard input and output: nothing listens.
#[derive(Debug)]
#[must_use = "a session that is not closed and saved has recorded nothing"]
pub(crate) struct Piped {
    gateway: Arc<Gateway>,
}

impl SessionBuilder {
    /// Begins a session for a client that talks over standard input and output.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub(crate) async fn piped(self) -> Result<Piped> {
        let gateway = Gateway::open(self.through_pipes().complete()?, Beside::default()).await?;
        Ok(Piped { gateway: Arc::new(gateway) })
    }
}

impl Piped {
    /// Plays the recorded session to the client. Tells with which status the server ended, if it did by
    /// itself.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(crate) async fn play(&self, io: impl AsyncRead + AsyncWrite + Unpin) -> Result<Option<u8>> {
        let name = &self.gateway.settings.cassette;
        let slot = self.gateway.slot_of("", name.clone());
        let Track::Replay(replayer) = slot.track(&self.gateway).await? else {
            unreachable!("nothing else is done in the mode that replays")
        };
        let socket = replayer.open_lines().ok_or_else(|| {
            let path = store::path_of(&self.gateway.settings.folder, name);
            let error = Error::said(NO_SESSION).at(&path);
            error.with_hint(format!("record one: `retape mcp record {name} -- COMMAND`"))
        })?;
        self.gateway.requests.fetch_add(1, Ordering::Relaxed);
        Ok(socket.play_lines(io, self.gateway.lost("", name)).await)
    }

    /// Begins to record a session, behind those that are there if they are to stay.
    ///
    /// # Errors
    ///
    /// If another process records this cassette, or it cannot be written.
    pub(crate) async fn record(&self) -> Result<Pipes> {
        let name = &self.gateway.settings.cassette;
        if self.gateway.mode() == Mode::NewEpisodes {
            self.gateway.base(name).await?;
        }
        let tape = self.gateway.tape(name).await?;
        self.gateway.requests.fetch_add(1, Ordering::Relaxed);
        Ok(Pipes::begin(&tape))
    }

    /// Says to what was recorded what its client has said. Tells what it does not answer.
    ///
    /// # Rationale
    ///
    /// What takes the place of another recording is told in its words: with the identifiers that the server
    /// issued then, which the client has not said. So this is held against what both have said now.
    ///
    /// # Errors
    ///
    /// If a rule of redaction is not known.
    pub(crate) async fn rehearse(&self, heard: Vec<Content>) -> Result<Option<Miss>> {
        let settings = &self.gateway.settings;
        let name = &settings.cassette;
        let said = self.gateway.tape(name).await?.so_far()?;
        let recorded = Recorded::new(said, &settings.rules_of(name))?;
        let replayer = Arc::new(Replayer::new(Arc::new(recorded), Some(Pace::Instant)));
        let mismatch = replayer.rehearse(heard).err();
        Ok(mismatch.map(|mismatch| self.gateway.missed("", name, &mismatch)))
    }

    /// The session is over.
    pub(crate) fn close(self) -> Closed {
        Closed::new(self.gateway)
    }
}
