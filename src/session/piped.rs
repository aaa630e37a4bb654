//! A session of one client that talks over standard input and output.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncRead, AsyncWrite};

use super::closed::{Closed, Ended};
use super::gateway::Gateway;
use super::track::Track;
use super::{Miss, SessionBuilder};
use crate::cassette::Content;
use crate::error::{Error, Kind, Result};
use crate::serve::recorder::Pipes;
use crate::serve::replayer::Replayer;
use crate::store::mode::Mode;

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
        let gateway = Gateway::open(self.through_pipes().complete()?).await?;
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
        let replayer = self.replayer().await?;
        let none = "no session of a client over a WebSocket or standard input, and no MCP over HTTP";
        let socket = replayer.open_lines().ok_or_else(|| {
            let error = Error::new(Kind::Unplayable { name: name.to_string(), why: none });
            error.with_hint("record one: `retape mcp record NAME -- COMMAND`")
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

    /// Says to the recording what a client has said. Tells what it does not answer.
    ///
    /// # Errors
    ///
    /// If the recording cannot be opened.
    pub(crate) async fn rehearse(&self, heard: Vec<Content>) -> Result<Option<Miss>> {
        let name = &self.gateway.settings.cassette;
        let mismatch = self.replayer().await?.rehearse(heard).err();
        Ok(mismatch.map(|mismatch| self.gateway.missed("", name, &mismatch)))
    }

    /// The session is over.
    pub(crate) fn close(self) -> Closed {
        Closed::new(self.gateway, Ended::default())
    }

    async fn replayer(&self) -> Result<Arc<Replayer>> {
        let slot = self.gateway.slot_of("", self.gateway.settings.cassette.clone());
        match slot.track(&self.gateway).await? {
            Track::Replay(replayer) => Ok(Arc::clone(replayer)),
            _ => unreachable!("nothing else is done with a recording that is replayed"),
        }
    }
}
