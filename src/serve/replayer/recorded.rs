//! A cassette made ready to answer.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::answers::Answers;
use super::meanwhile::Meanwhile;
use super::script::Script;
use super::sockets;
use crate::cassette::exchanges::{ExchangePart, ExchangeSpot, Exchanges, message_request};
use crate::cassette::{Cassette, Interaction, Name, Outcome, Request, text};
use crate::compare::matching::{Credentials, Index, Mismatch};
use crate::config::{Redaction, Rules};
use crate::error::Result;
use crate::message::{lines, posts};
use crate::redact::{Redactor, of_request};
use crate::serve::server::ServerPlace;
use crate::store;
use crate::text::words::shown;

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
    /// The addresses of all servers by their names, that of the first one by the empty name.
    pub(super) beside: BTreeMap<String, String>,
    /// How many interactions are of the cassette itself: the others are shared, and need not be asked for.
    pub(super) own: usize,
    /// What it was before a function changed what is compared.
    original: Option<Cassette>,
}

/// What a cassette is made ready from.
#[derive(Debug, Clone)]
pub struct Source {
    pub folder: PathBuf,
    pub name: Name,
    /// Files that are played behind it.
    pub also: Vec<PathBuf>,
    /// What counts beside what it says itself.
    pub rules: Rules,
    pub transport: Transport,
    /// The functions of a test that find secrets, if it was recorded with them.
    pub redaction: Redaction,
    pub compared: Option<Compared>,
}

/// A function of a test that changes what is compared.
#[derive(Clone)]
pub struct Compared(pub Arc<dyn Fn(&mut Request) + Send + Sync>);

shown!(Debug: Compared, _ => "Compared(..)");

impl Source {
    /// Loads a cassette and the files behind it.
    ///
    /// # Errors
    ///
    /// If there is none of that name, or it cannot be read.
    pub fn load(&self) -> Result<Recorded> {
        let Self { folder, name, .. } = self;
        let loaded = store::load_with(folder, name, &self.also);
        let (mut cassette, own) = match self.transport {
            Transport::Http => {
                let (cassette, own) = loaded?;
                (posts::over_http(cassette), own)
            }
            Transport::Lines => {
                let (cassette, own) = loaded.map_err(|error| match error {
                    none if none.is_no_cassette() => {
                        none.with_hint(store::how_to_come_by(folder, name, "retape mcp record"))
                    }
                    other => other,
                })?;
                (lines::over_lines(cassette), own)
            }
        };
        let original = self.compared.as_ref().map(|compared| {
            let original = cassette.clone();
            cassette.interactions.iter_mut().for_each(|it| (compared.0)(&mut it.request));
            original
        });
        let recorded = Recorded::new(cassette, &self.rules);
        let recorded = recorded.map_err(|error| error.at_file(&store::path_of(folder, name)))?;
        let redactor = recorded.redactor.with_code(&self.redaction);
        // Another transport may have another number of interactions; then nothing stands behind them.
        let own = if self.also.is_empty() { recorded.own } else { own };
        Ok(Recorded { own, original, redactor, ..recorded })
    }
}

impl Recorded {
    /// Makes a cassette ready, to be matched by `rules` and by those of its own, which have the last
    /// word.
    ///
    /// # Errors
    ///
    /// If a redaction rule that it names is not known to this release.
    pub fn new(mut cassette: Cassette, rules: &Rules) -> Result<Self> {
        let rules = rules.clone().and(&cassette.rules);
        let redactor = Redactor::of_rules(&cassette.redactions)?;
        let redactor = redactor.told_by(&mut cassette).unnumbered();
        let redactor = redactor.with_environment(variables_in(&cassette));
        let mut exchanges = Exchanges::of(&cassette);
        let credentials = match &mut exchanges {
            Some(exchanges) => Credentials::take(&mut exchanges.cassette),
            None => Credentials::take(&mut cassette),
        };
        let index = Index::of(exchanges.as_ref().map_or(&cassette, |it| &it.cassette), rules);
        let index = index.told_apart(credentials);
        let scripts = sockets::scripts(&cassette, exchanges.as_ref(), &index);
        let read = exchanges.as_mut().map_or(&mut cassette, |it| &mut it.cassette);
        let first = (String::new(), read.recorded.upstream.clone());
        let beside: BTreeMap<_, _> =
            read.recorded.origins.clone().into_iter().chain([first]).collect();
        let answers = Answers::of(read, index.made_up(), &beside);
        let meanwhile = match &exchanges {
            Some(it) => Meanwhile::of(&it.cassette, &index, |number| {
                &cassette.interactions[it.spot(number).interaction]
            }),
            None => Meanwhile::of(&cassette, &index, |number| &cassette.interactions[number]),
        };
        let own = cassette.interactions.len();
        Ok(Self {
            cassette,
            exchanges,
            scripts,
            index,
            answers,
            meanwhile,
            redactor,
            beside,
            own,
            original: None,
        })
    }

    /// The rules by which a miss is shown. What is compared is redacted as the cassette tells: by rules that it names,
    /// which may be none, if somebody wrote it by hand, and by names that it has placeholders for.
    pub(super) fn veil() -> Redactor {
        Redactor::standard().with_environment(store::environment())
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
    pub(super) fn spot(&self, exchange: usize) -> ExchangeSpot {
        let whole = ExchangeSpot { interaction: exchange, part: ExchangePart::Request };
        self.exchanges.as_ref().map_or(whole, |exchanges| exchanges.spot(exchange))
    }

    /// A mismatch of exchanges with the numbers and paths of the cassette.
    pub(super) fn numbered(&self, mismatch: Mismatch) -> Mismatch {
        match &self.exchanges {
            Some(exchanges) => mismatch.numbered(exchanges, self.cassette.interactions.len()),
            None => mismatch,
        }
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

    /// What is played.
    pub fn cassette(&self) -> &Cassette {
        &self.cassette
    }

    /// What was recorded, which is kept where something is added to it.
    pub fn original(&self) -> &Cassette {
        self.original.as_ref().unwrap_or(&self.cassette)
    }

    /// What a frame of it says, as it may be shown: somebody may have written it by hand.
    pub fn message(&self, interaction: usize, frame: usize) -> String {
        let Interaction { request, outcome, .. } = &self.cassette.interactions[interaction];
        let Outcome::Response(response) = outcome else { return String::new() };
        let mut said = message_request(request.path_only(), &response.frames[frame]);
        Redactor::standard().request(&mut said);
        text(&said.body).into_owned()
    }

    /// The address of the server that a client sees at a place.
    pub(super) fn server(&self, place: ServerPlace<'_>) -> &str {
        let upstream = &self.cassette.recorded.upstream;
        if place.server.is_empty() {
            return upstream;
        }
        self.cassette.address_of(place.server).unwrap_or(upstream)
    }
}

/// The variables of the environment whose values a client has said when a cassette was recorded: where they have
/// placeholders there.
fn variables_in(cassette: &Cassette) -> impl Iterator<Item = (String, String)> {
    let requests = cassette.interactions.iter().map(|interaction| &interaction.request);
    let names: HashSet<String> = requests.flat_map(of_request).map(|(name, _)| name).collect();
    store::environment().filter(move |(name, _)| names.contains(name))
}
