//! What a session came to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::json;

use super::event::Miss;
use super::spoiled::Spoiled;
use crate::cassette::Name;
use crate::error::{Error, Kind, Result};
use crate::review::report::count;
use crate::serve::recorder::Recording;
use crate::serve::server::Handshake;

/// What a session came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// How many requests came, whatever became of them. Those to the control API do not count.
    pub requests: usize,
    /// Whether no request came, and none was a mistake
    /// ([`allow_unused`](super::SessionBuilder::allow_unused)).
    pub unused: bool,
    /// How many requests were sent to the live server.
    pub forwarded: usize,
    /// How often a host was asked that the proxy leaves alone: `pass` in `[proxy]` of `retape.toml`.
    pub passed: usize,
    /// The servers that clients asked for through the proxy, and to which no request came, or that they do not trust.
    pub(crate) handshakes: BTreeMap<String, Handshake>,
    /// The cassettes that were opened.
    pub cassettes: BTreeSet<Name>,
    /// The cassettes that were recorded.
    pub recordings: Vec<Recording>,
    /// The cassettes of which nothing recorded was kept, because their test failed.
    pub discarded: BTreeSet<Name>,
    /// The requests that nothing recorded answered.
    pub misses: Vec<Miss>,
    /// Why requests were refused before a cassette or a server was asked, one for each: what they say of their host or
    /// page is none of this machine's ([`allow_host`](super::SessionBuilder::allow_host)), or they take the session for
    /// a proxy.
    pub refused: Vec<String>,
    /// The requests that strict matching would have refused, if that was to be told
    /// ([`report_lax`](super::SessionBuilder::report_lax)).
    pub drifted: Vec<Miss>,
    /// The cassettes that were replayed.
    pub replayed: BTreeSet<Name>,
    /// How many runs through them there were.
    pub sessions: usize,
    /// How many recorded interactions were asked for in them.
    pub played: usize,
    /// What was recorded and not asked for in them.
    pub unplayed: Vec<Unplayed>,
    /// The calls that went wrong on purpose ([`fault`](super::SessionBuilder::fault)).
    pub spoiled: Vec<Spoiled>,
    /// The faults that met a request.
    pub met: BTreeSet<String>,
    /// Those that met none.
    pub unmet: BTreeSet<String>,
}

/// A recorded interaction that was not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unplayed {
    /// The session as its prefix names it; empty for the default one.
    pub session: String,
    /// The cassette.
    pub cassette: String,
    /// The number of the interaction, counted from 0.
    pub interaction: usize,
    /// The messages that the client did not send over it, if it is a WebSocket that was opened: the
    /// number of each frame, counted from 0, and what it says.
    pub frames: Vec<(usize, String)>,
    /// `GET`, `POST`, …
    pub method: String,
    /// What it asks for.
    pub path: String,
}

impl Summary {
    /// The summary if every request was answered that could be.
    ///
    /// # Errors
    ///
    /// If there were misses, a request was refused, a server was recorded that did not answer a single request, or no
    /// request came at all; the hint explains the first.
    pub fn checked(self) -> Result<Self> {
        if let Some(error) = missed(&self.misses) {
            return Err(error);
        }
        if let Some(why) = self.refused.first() {
            let refused = count(self.refused.len(), "request");
            return Err(Error::said(format!("{refused} refused")).with_hint(why.clone()));
        }
        match self.recordings.iter().find(|recording| recording.is_unheard()) {
            Some(recording) => Err(unanswered(recording)),
            None if self.unused => Err(Error::new(Kind::Unused).with_hint(self.why_unused())),
            None => Ok(self),
        }
    }

    /// The summary if everything recorded was asked for.
    ///
    /// # Errors
    ///
    /// If something was left.
    pub fn all_played(self) -> Result<Self> {
        match self.unplayed.first() {
            None => Ok(self),
            Some(first) => Err(Error::new(Kind::Unplayed { count: self.unplayed.len() })
                .with_hint(format!("{first}; record it again if that is meant to be"))),
        }
    }
}

impl Summary {
    /// The summary if every fault met a request.
    ///
    /// # Errors
    ///
    /// If one did not: a test of a fault that never came tests nothing.
    pub fn all_faults_met(self) -> Result<Self> {
        match self.unmet.first() {
            None => Ok(self),
            Some(first) => Err(Error::rule(first, "met no request")
                .with_hint("only requests that the recording answers get a fault")),
        }
    }

    /// Counts what another session came to that was opened at the same address. What it missed is noted
    /// where it was opened.
    pub(super) fn add(&mut self, other: Self) {
        self.unused &= other.requests == 0;
        self.requests += other.requests;
        self.forwarded += other.forwarded;
        self.passed += other.passed;
        self.handshakes.extend(other.handshakes);
        self.cassettes.extend(other.cassettes);
        self.recordings.extend(other.recordings);
        self.discarded.extend(other.discarded);
        self.sessions += other.sessions;
        self.replayed.extend(other.replayed);
        self.played += other.played;
        self.unplayed.extend(other.unplayed);
        self.refused.extend(other.refused);
        self.drifted.extend(other.drifted);
        self.spoiled.extend(other.spoiled);
        self.met.extend(other.met);
        self.unmet.extend(other.unmet);
        self.unmet.retain(|fault| !self.met.contains(fault));
    }

    /// How a client comes to ask something.
    fn why_unused(&self) -> String {
        let Some((server, came)) = self.handshakes.first_key_value() else { return UNUSED.into() };
        match came {
            Handshake::Failed(why) => format!("TLS with a client that asked for `{server}`: {why}"),
            _ => format!(
                "a client asked for `{server}` through the proxy, and nothing behind that: let it trust \
                 `session.proxy_certificate()`"
            ),
        }
    }

    /// What a test runner is told when a session is finished.
    pub(super) fn to_json(&self) -> serde_json::Value {
        let misses: Vec<_> = self.misses.iter().map(Miss::to_json).collect();
        let unplayed: Vec<_> = self.unplayed.iter().map(Unplayed::to_json).collect();
        let faults: Vec<_> = self.spoiled.iter().map(Spoiled::to_json).collect();
        let recorded = |it: &Recording| {
            json!({
                "cassette": it.saved_name.as_str(),
                "path": it.path,
                "interactions": it.interactions,
                "unanswered": it.is_unheard(),
                "fault": it.fault,
            })
        };
        let recorded: Vec<_> = self.recordings.iter().map(recorded).collect();
        json!({
            "requests": self.requests,
            "forwarded": self.forwarded,
            "played": self.played,
            "misses": misses,
            "unplayed": unplayed,
            "recorded": recorded,
            "faults": faults,
            "unmet_faults": self.unmet,
        })
    }
}

/// What is said of misses, if there are any.
pub(super) fn missed(misses: &[Miss]) -> Option<Error> {
    let first = misses.first()?;
    let error = Error::new(Kind::Missed { count: misses.len() });
    Some(error.with_hint(first.explanation.clone()))
}

const UNUSED: &str = "give the client `session.url()` as its base address; \
                      a test that asks nothing on purpose says `.allow_unused()` to the builder";

fn unanswered(recording: &Recording) -> Error {
    let mut hint = recording.fault.clone().unwrap_or_default();
    if let Some(path) = &recording.path {
        let name = &recording.saved_name;
        hint.push_str(&format!("; what was asked is kept as `{name}` (`{}`)", path.display()));
    }
    Error::new(Kind::Unanswered { is_all: recording.answered == 0 })
        .with_hint(hint.trim_start_matches("; "))
}

impl fmt::Display for Unplayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cassette, interaction, method, path, .. } = self;
        let number = interaction + 1;
        let what = match self.frames.as_slice() {
            [] => "asked for".to_owned(),
            [(frame, _)] => format!("sent frame {} of", frame + 1),
            frames => {
                let numbers = frames.iter().map(|(frame, _)| (frame + 1).to_string());
                format!("sent frames {} of", numbers.collect::<Vec<_>>().join(", "))
            }
        };
        write!(f, "`{cassette}` was not {what} `{method} {path}` (interaction {number})")
    }
}

impl Unplayed {
    pub(super) fn to_json(&self) -> serde_json::Value {
        let mut told = json!({
            "session": self.session,
            "cassette": self.cassette,
            "interaction": self.interaction + 1,
            "method": self.method,
            "path": self.path,
        });
        if !self.frames.is_empty() {
            let frame = |(frame, message): &(usize, String)| json!({"frame": frame + 1, "message": message});
            told["frames"] = self.frames.iter().map(frame).collect();
        }
        told
    }
}
