//! Sessions of lines, one client each.

use std::sync::Arc;

use super::Replayer;
use super::socket::Socket;
use super::sockets::History;
use crate::cassette::{Content, Frame};
use crate::compare::matching::Mismatch;
use crate::serve::lock;

/// The field behind a session of lines that tells with which status the server ended.
pub const EXIT_STATUS: &str = "exit-status";

impl Replayer {
    /// Begins the first recorded session for a client that speaks in lines; nothing if there is none.
    pub fn open_lines(self: &Arc<Self>) -> Option<Socket> {
        let (opened, script) = self.recorded().scripts().next()?;
        self.playlist().skip(&self.recorded().index, opened);
        let number = self.enter(opened, script, Some(History::default()));
        let (replayer, compression, addresses, blow) = (Arc::clone(self), None, None, None);
        Some(Socket { replayer, number, compression, addresses, blow })
    }

    /// Says what a client has said when it was recorded. Tells what nothing recorded answers.
    ///
    /// # Errors
    ///
    /// What is most alike to the first message that was not recorded.
    pub fn rehearse(self: &Arc<Self>, heard: Vec<Content>) -> Result<(), Box<Mismatch>> {
        let Some(Socket { number, .. }) = self.open_lines() else { return Ok(()) };
        heard.into_iter().try_for_each(|content| {
            while let Some((at, _)) = self.due(number) {
                self.say(number, at);
            }
            self.ask(number, content).map(drop)
        })
    }

    /// With which status the recorded server ended, if it did by itself and has said all.
    pub(super) fn exit_status(&self, number: usize) -> Option<u8> {
        let interaction = self.interaction(number).filter(|_| self.is_cut(number))?;
        let trailers = &self.recorded().cassette().interactions[interaction].response()?.trailers;
        trailers.get(EXIT_STATUS)?.parse().ok()
    }

    /// Goes on in another recorded session, if this message and all that was said before stand in it.
    pub(super) fn elsewhere(&self, number: usize, frame: &Frame) -> Option<Option<usize>> {
        let (opened, history) = self.history(number)?;
        let others = self.recorded().scripts().map(|(other, _)| other);
        let mut others = others.filter(|other| *other != opened).peekable();
        others.peek()?;
        for other in others {
            if self.again(number, other, &history)
                && let Ok(at) = self.hear(number, frame)
            {
                return Some(at);
            }
        }
        self.again(number, opened, &history);
        None
    }

    /// Begins anew with a session, and hears what was heard. Tells whether the same is said.
    fn again(&self, number: usize, opened: usize, history: &History) -> bool {
        let Some(script) = self.recorded().script(opened) else { return false };
        *self.playlist() = self.begin();
        self.playlist().skip(&self.recorded().index, opened);
        lock(&self.sockets).enter(number, opened, script, Some(History::default()));
        let mut said = history.said.iter();
        let mut repeat = || {
            while said.len() > 0
                && let Some((at, _)) = self.due(number)
            {
                if said.next() != Some(&self.say(number, at).1) {
                    return false;
                }
            }
            true
        };
        let heard = history.heard.iter().all(|content| {
            repeat() && self.hear(number, &Frame::of_client(content.clone())).is_ok()
        });
        heard && repeat() && said.len() == 0
    }
}
