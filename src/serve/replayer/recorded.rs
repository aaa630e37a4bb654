//! A cassette made ready to answer.

#[cfg(feature = "wiremock")]
use std::borrow::Cow;
use std::path::Path;

use super::answers::Answers;
use super::meanwhile::Meanwhile;
#[cfg(feature = "wiremock")]
use super::replay::Chosen;
use super::script::Script;
use super::sockets;
#[cfg(feature = "wiremock")]
use crate::cassette::Response;
use crate::cassette::exchanges::{Exchanges, Part, Spot, message_request};
use crate::cassette::{Cassette, Interaction, Name, Outcome, text};
use crate::compare::matching::{Credentials, Index};
use crate::config::{Redaction, Rules};
use crate::error::Result;
#[cfg(feature = "wiremock")]
use crate::identity::Echo;
use crate::message::{lines, posts};
use crate::redact::Redactor;
use crate::serve::server::Place;
use crate::store;

/// How clients talk to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// With HTTP, or over a WebSocket.
    Http,
    /// In lines, over standard input and output.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command does"))]
    Lines,
}

/// A cassette made ready to answer: shared by all its sessions.
#[derive(Debug)]
pub struct Recorded {
    pub(super) cassette: Cassette,
    /// The same with the messages of WebSockets as requests, if there are any.
    pub(super) exchanges: Option<Exchanges>,
    scripts: Vec<(usize, Script)>,
    pub(super) index: Index,
    pub(super) answers: Answers,
    pub(super) meanwhile: Meanwhile,
    pub(super) redactor: Redactor,
    is_redacted: bool,
}

impl Recorded {
    /// Loads a cassette, to be matched by `rules` and by those of its own, for clients that talk in that
    /// way.
    ///
    /// # Errors
    ///
    /// If there is none of that name, or it cannot be read.
    pub fn load(folder: &Path, name: &Name, rules: &Rules, transport: Transport) -> Result<Self> {
        let cassette = match transport {
            Transport::Http => posts::over_http(store::load(folder, name)?),
            Transport::Lines => {
                let loaded = store::load(folder, name).map_err(|error| match error {
                    none if none.is_no_cassette() => {
                        none.with_hint(store::how_to_come_by(folder, name, "retape mcp record"))
                    }
                    other => other,
                });
                lines::over_lines(loaded?)
            }
        };
        Self::new(cassette, rules).map_err(|error| error.at_file(&store::path_of(folder, name)))
    }

    /// Makes a cassette ready, to be matched by `rules` and by those of its own, which have the last
    /// word.
    ///
    /// # Errors
    ///
    /// If a redaction rule that it names is not known to this release.
    pub fn new(mut cassette: Cassette, rules: &Rules) -> Result<Self> {
        let rules = rules.clone().and(&cassette.rules);
        let redactor = Redactor::of_rules(&cassette.redactions)?;
        let is_redacted = redactor.is_standard();
        let redactor = redactor.unnumbered();
        let mut exchanges = Exchanges::of(&cassette);
        let credentials = match &mut exchanges {
            Some(exchanges) => Credentials::take(&mut exchanges.cassette),
            None => Credentials::take(&mut cassette),
        };
        let index = Index::of(exchanges.as_ref().map_or(&cassette, |it| &it.cassette), rules);
        let index = index.told_apart(credentials);
        let scripts = sockets::scripts(&cassette, exchanges.as_ref(), &index);
        let read = exchanges.as_mut().map_or(&mut cassette, |it| &mut it.cassette);
        let answers = Answers::of(read, index.made_up());
        let meanwhile = match &exchanges {
            Some(it) => Meanwhile::of(&it.cassette, &index, |number| {
                &cassette.interactions[it.spot(number).interaction]
            }),
            None => Meanwhile::of(&cassette, &index, |number| &cassette.interactions[number]),
        };
        Ok(Self { cassette, exchanges, scripts, index, answers, meanwhile, redactor, is_redacted })
    }

    /// The same, with the functions of a test that find secrets, if it was recorded with them.
    pub fn with_code(mut self, redaction: &Redaction) -> Self {
        self.redactor = self.redactor.with_code(redaction);
        self
    }

    /// Whether all rules of this release were applied to it.
    pub(super) fn is_redacted(&self) -> bool {
        self.is_redacted
    }

    /// Whether an answer may wait for what else is asked.
    pub(super) fn is_watched(&self) -> bool {
        !self.meanwhile.is_empty() || self.index.has_needed()
    }

    /// The requests and answers that are played.
    pub(super) fn played(&self) -> &Cassette {
        self.exchanges.as_ref().map_or(&self.cassette, |exchanges| &exchanges.cassette)
    }

    /// The number of the exchange that an interaction begins with.
    pub(super) fn opened(&self, interaction: usize) -> usize {
        self.exchanges.as_ref().map_or(interaction, |it| it.opened(interaction))
    }

    /// What an exchange is in the cassette.
    pub(super) fn spot(&self, exchange: usize) -> Spot {
        let whole = Spot { interaction: exchange, part: Part::Request };
        self.exchanges.as_ref().map_or(whole, |exchanges| exchanges.spot(exchange))
    }

    /// What went over the WebSocket that an exchange has opened.
    pub(super) fn script(&self, exchange: usize) -> Option<&Script> {
        let at = self.scripts.binary_search_by_key(&exchange, |(opened, _)| *opened);
        at.ok().map(|at| &self.scripts[at].1)
    }

    /// All of them.
    pub(super) fn scripts(&self) -> impl Iterator<Item = (usize, &Script)> {
        self.scripts.iter().map(|(opened, script)| (*opened, script))
    }

    /// What was recorded.
    pub fn cassette(&self) -> &Cassette {
        &self.cassette
    }

    /// What a frame of it says, as it may be shown: somebody may have written it by hand.
    pub fn message(&self, interaction: usize, frame: usize) -> String {
        let Interaction { request, outcome, .. } = &self.cassette.interactions[interaction];
        let Outcome::Response(response) = outcome else { return String::new() };
        let mut said = message_request(request.path_only(), &response.frames[frame]);
        if !self.is_redacted {
            Redactor::standard().request(&mut said);
        }
        text(&said.body).into_owned()
    }

    /// The address of the server that a client sees at a place.
    pub(super) fn server(&self, place: Place<'_>) -> &str {
        let upstream = &self.cassette.recorded.upstream;
        if place.server.is_empty() {
            return upstream;
        }
        self.cassette.address_of(place.server).unwrap_or(upstream)
    }

    /// The recorded answer that was chosen, with the client's own identifiers in it; `None` if there
    /// was none.
    #[cfg(feature = "wiremock")]
    pub fn response(&self, chosen: &Chosen) -> Option<Cow<'_, Response>> {
        let response = self.cassette.interactions[chosen.number].response()?;
        if chosen.renamed.is_empty() {
            return Some(Cow::Borrowed(response));
        }
        let mut named = response.clone();
        if let Cow::Owned(plain) = response.readable() {
            named.body = plain;
            named.headers.remove("content-encoding");
        }
        let echoes = Echo::all(&named.body.bytes(), self.index.made_up());
        named.body = chosen.renamed.body(named.body, &echoes);
        if response.is_of_amazon() {
            named.body = named.body.into_amazon();
        }
        for (_, value) in named.headers.iter_mut() {
            let text = std::str::from_utf8(value).ok().and_then(|text| chosen.renamed.text(text));
            if let Some(text) = text {
                *value = text.into();
            }
        }
        Some(Cow::Owned(named))
    }
}
