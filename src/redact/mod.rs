//! Replacing secrets before anything is stored or shown.
//!
//! A [`Redactor`] is a set of rules. [`Redactor::cassette`] is the only way to a
//! [`Redacted`]`<`[`Cassette`]`>`, and only such a one can be saved. [`Redactor::request`] does the
//! same to a request that comes in at replay, so that a request recorded with a real key matches one
//! that is sent with another. [`Live`] is for what is written while a body arrives.
//!
//! In the place of a secret stands a placeholder that names its field and nothing else:
//! `[redacted:authorization]`. Everything around it stays byte for byte; a `content-length` that was
//! right before is right afterwards.
//!
//! # Rules
//!
//! A cassette names the rules that were applied to it, with their versions: `json/1`. The guide says
//! what each replaces, in `docs/secrets.md`.
//!
//! # Limits
//!
//! A key of no known look in prose is found only if a telling name stands before it, or if it also stands
//! where a rule looks. Values below 8 characters, plain words (`production`), short numbers and addresses
//! are replaced where they are found and nowhere else. A body that cannot be decoded stays;
//! [`Redactor::audit`] names it. A bare `token`, `key`, `code` or `auth` counts only if its value has 16 or
//! more characters and looks made by a machine. Digests and signatures over a body are not made anew.

mod apply;
mod around;
mod audit;
mod body;
mod deltas;
mod graphql;
mod header;
mod json;
mod letters;
mod levels;
mod live;
mod look;
mod memory;
mod name;
mod own;
mod rule;
mod scan;
mod searcher;
mod secrets;
mod spelling;
mod unicode;
mod url;
mod value;
mod veiled;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

#[cfg(feature = "record")]
pub(crate) use apply::drop_sums;
pub(crate) use apply::sums_of_body;
pub use audit::Suspect;
pub(crate) use deltas::Pieces;
pub use live::Live;
pub(crate) use memory::Memory;
pub(crate) use name::is_weak;
pub use secrets::{Found, Secrets};
pub(crate) use value::{numbered, placeholder_in, placeholders, without_numbers};
pub use veiled::{Unveiled, Veiled};
pub(crate) use veiled::{of_request, of_server, spell_out};

use self::around::Around;
use self::name::{NameSet, Tells};
use self::own::Own;
use self::rule::{Notes, Rule, Side};
use self::veiled::of_client;
use crate::cassette::exchanges::SOCKET;
use crate::cassette::splice::{in_order, splice};
use crate::cassette::{Cassette, Headers, Ids, Interactions, Request};
use crate::config::Redaction;
use crate::error::Result;

/// The path of a request, without its query. Messages of all WebSockets that were opened by one path have that.
fn path_of(request: &Request) -> &str {
    request.path_only().split(SOCKET).next().unwrap_or_default()
}

/// A value from which a [`Redactor`] has taken the secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

/// A set of redaction rules.
#[derive(Debug, Clone)]
pub struct Redactor {
    rules: Arc<[Rule]>,
    /// The same as a set: each sign of a text may ask for one.
    set: u32,
    /// Secrets that are known before anything was read.
    known: Arc<Secrets>,
    /// What a person says.
    own: Arc<Own>,
    /// Whether it looks at what was redacted before: a placeholder is not called by another name then.
    is_again: bool,
    /// What tells of the names that say little; nothing if the look of a value decides.
    told: Option<Told>,
}

/// What tells whether a value of a name that says little is a secret.
#[derive(Debug, Clone)]
enum Told {
    /// Of these names any value is one, and of the others none.
    Names(TellingNames),
    /// Of these names also a value is one that is as long as another that looks like one.
    Lengths(Arc<HashMap<String, HashSet<usize>>>),
}

/// Names that say little, of which a recording shows that they tell.
#[derive(Debug, Clone)]
struct TellingNames {
    here: Arc<HashSet<String>>,
    /// Those that tell in requests of a path, without its query; nothing is known of other paths.
    by_path: Arc<HashMap<String, Arc<HashSet<String>>>>,
    /// What stands around the secrets of requests.
    around: Arc<Around>,
}

impl<T> Redacted<T> {
    /// The value.
    pub const fn get(&self) -> &T {
        &self.0
    }

    /// The value, which can then be changed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redacted<Cassette> {
    /// The cassette with a table of names, which are decided from what it holds: there is no secret left
    /// in that.
    pub(crate) fn with_ids(mut self, decide: impl FnOnce(&Cassette) -> Ids) -> Self {
        self.0.ids = Some(decide(&self.0));
        self
    }

    /// The cassette in which more header fields count.
    #[cfg(feature = "record")]
    pub(crate) fn counting(mut self, headers: &[String]) -> Self {
        self.0.rules = std::mem::take(&mut self.0.rules).counting(headers);
        self
    }
}

#[cfg(feature = "record")]
impl<I: Interactions> Redacted<(Cassette, I)> {
    /// The same for one whose interactions need not be held in memory: that table was decided from what it holds.
    pub(crate) fn with_ids(mut self, ids: Ids) -> Self {
        self.0.0.ids = Some(ids);
        self
    }

    /// The same for the header fields that count.
    pub(crate) fn counting(mut self, headers: &[String]) -> Self {
        self.0.0.rules = std::mem::take(&mut self.0.0.rules).counting(headers);
        self
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Cassette {
    /// The cassette as reports show it: without what the rules of this release find, where a person wrote it and no
    /// rule was applied. What it says that is no secret stays.
    ///
    /// What an older release recorded was searched by the rules of that one: to search it anew each time it is
    /// compared would take as long as to compare it, and `retape scan` does it when it is asked to.
    ///
    /// # Errors
    ///
    /// If this release does not know a rule that it names.
    pub(crate) fn shown(self) -> Result<Self> {
        if !Redactor::of_rules(&self.redactions)?.rules.is_empty() {
            return Ok(self);
        }
        self.searched()
    }

    /// The same without what the rules of this release find, whichever were applied to it: somebody may have edited it
    /// since.
    ///
    /// # Errors
    ///
    /// If this release does not know a rule that it names.
    pub(crate) fn searched(self) -> Result<Self> {
        let named = self.redactions.clone();
        let standard = Rule::WORDS.iter().map(|name| (*name).to_owned());
        let rules: Vec<String> = standard.chain(named.iter().cloned()).collect();
        let cassette = Redactor::of_rules(&rules)?.cassette(self).into_inner();
        Ok(Self { redactions: named, ..cassette })
    }
}

impl Redactor {
    /// All rules of this release.
    pub fn standard() -> Self {
        Self::of(Rule::all())
    }

    /// The rules that a cassette names.
    ///
    /// # Errors
    ///
    /// If this release does not know one of them, because a newer one wrote the cassette.
    pub fn of_rules(names: &[String]) -> Result<Self> {
        let (mut rules, mut own) = (Vec::new(), Redaction::default());
        for name in names {
            match Redaction::read(name)? {
                Some(said) => own = own.and(&said),
                None => rules.push(Rule::of(name)?),
            }
        }
        Ok(Self::of(rules).with_own(&own))
    }

    /// The same rules, and what a person says beside them.
    pub fn with_own(mut self, said: &Redaction) -> Self {
        self.own = Arc::new(self.own.and(said));
        self
    }

    /// The same rules, with the functions that they name.
    pub(crate) fn with_code(self, said: &Redaction) -> Self {
        let code = said.code_of(&self.own.names);
        if code.is_empty() { self } else { self.with_own(&code) }
    }

    /// What a person says beside the rules, and the positive rules that a cassette names: what they
    /// found once they find again.
    fn with_own_of(&self, cassette: &Cassette) -> Self {
        let named = cassette.redactions.iter().filter(|name| !self.own.names.contains(*name));
        let named = named.filter(|name| !name.starts_with("not "));
        let said = named.filter_map(|name| Redaction::read(name).ok().flatten());
        let said = said.fold(Redaction::default(), |all, said| all.and(&said));
        if said.is_empty() { self.clone() } else { self.clone().with_own(&said) }
    }

    /// The names of the rules, with versions.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        let own = self.own.names.iter().map(String::as_str);
        self.rules.iter().map(|rule| rule.as_str()).chain(own)
    }

    /// What is no secret though a rule knows it, and who says so.
    pub(crate) fn weakened(&self) -> &[String] {
        &self.own.weakened
    }

    /// The same rules, by which distinct secrets of one name have one placeholder.
    pub(crate) fn unnumbered(&self) -> Self {
        let rules = self.rules.iter().copied().filter(|rule| *rule != Rule::Numbers);
        Self { rules: rules.collect(), set: self.set & !Rule::Numbers.bit(), ..self.clone() }
    }

    /// The same rules for those who ask a recording: it says which of the names that say little (`key`,
    /// `token`) tell. Where it has a placeholder for one value of a name, all values of it in its own
    /// requests of the same path get one.
    ///
    /// # Rationale
    ///
    /// What a client makes up anew may look like a credential in one run and not in the next.
    pub(crate) fn told_by(self, cassette: &mut Cassette) -> Self {
        let (mut shown, mut by_path) = (Vec::new(), HashMap::<_, HashSet<String>>::new());
        for interaction in &cassette.interactions {
            let found = of_client(interaction);
            let weak = found.iter().map(|(name, _)| name).filter(|name| name::is_weak(name));
            let path = interaction.request.path_only();
            by_path.entry(path.to_owned()).or_default().extend(weak.cloned());
            shown.extend(found);
        }
        let here: HashSet<String> = by_path.values().flatten().cloned().collect();
        let has_any = !here.is_empty();
        let by_path = by_path.into_iter().map(|(path, names)| (path, Arc::new(names))).collect();
        let around = Arc::default();
        let names = TellingNames { here: Arc::new(here), by_path: Arc::new(by_path), around };
        let told = |names: TellingNames| Self { told: Some(Told::Names(names)), ..self.clone() };
        if has_any {
            let again = Self { is_again: true, ..told(names.clone()) };
            apply::requests(&again, cassette, &shown);
        }
        told(TellingNames { around: Arc::new(Around::of(cassette)), ..names })
    }

    /// The same rules for a request: which names tell in those of its path, where the recording knows any.
    fn of_path(&self, request: &Request) -> Cow<'_, Self> {
        let Some(Told::Names(names)) = &self.told else { return Cow::Borrowed(self) };
        match names.by_path.get(path_of(request)).filter(|_| !names.here.is_empty()) {
            Some(here) => {
                let names = TellingNames { here: here.clone(), ..names.clone() };
                Cow::Owned(Self { told: Some(Told::Names(names)), ..self.clone() })
            }
            None => Cow::Borrowed(self),
        }
    }

    /// The same rules, whatever a recording tells.
    fn untold(&self) -> Self {
        Self { told: None, ..self.clone() }
    }

    /// The same rules, by which no name tells that says little.
    fn by_strong_names(&self) -> Self {
        let (here, by_path, around) = Default::default();
        Self { told: Some(Told::Names(TellingNames { here, by_path, around })), ..self.clone() }
    }

    /// What a recording shows around the secrets of its requests, if it has any.
    fn around(&self) -> Option<&Around> {
        let Some(Told::Names(names)) = &self.told else { return None };
        Some(&*names.around).filter(|around| !around.is_empty())
    }

    /// The same rules for a second look at a recording in which these were found, if that may find more: of
    /// random values of one name some look like words.
    fn alike(&self, secrets: &Secrets) -> Option<Self> {
        let lengths = secrets.lengths();
        let told = (!lengths.is_empty()).then(|| Told::Lengths(Arc::new(lengths)))?;
        Some(Self { is_again: true, told: Some(told), ..self.clone() })
    }

    /// The same rules, given secrets that were found already.
    #[cfg(feature = "record")]
    pub(crate) fn knowing(&self, found: Secrets) -> Self {
        let mut known = self.known();
        known.extend(found);
        Self { known: Arc::new(known), ..self.clone() }
    }

    /// The same rules, given the variables of the environment: the values of those that are secrets are
    /// replaced wherever they stand.
    pub fn with_environment(mut self, variables: impl Iterator<Item = (String, String)>) -> Self {
        let mut known = Secrets::default();
        for (name, value) in variables {
            let is_secret = match name::variable(&name) {
                Tells::Secret | Tells::Secrets => !value::is_plain_setting(&value),
                Tells::Perhaps => value::is_credential(&value),
                Tells::Nothing | Tells::Holder => false,
            };
            if is_secret && self.is_searched_for(&value) {
                known.note(&value, value::placeholder(&name));
            }
        }
        self.known = Arc::new(known);
        self
    }

    /// The secrets that are known before anything was read.
    pub(crate) fn known(&self) -> Secrets {
        self.known.as_ref().clone()
    }

    /// A text without the secrets in it.
    pub fn text(&self, text: &str) -> String {
        let mut secrets = self.known();
        let mut notes = Notes { redactor: self, side: Side::Response, secrets: &mut secrets };
        let edits = in_order(body::find(text.as_bytes(), None, &mut notes));
        let text = splice(text.as_bytes(), &edits);
        let edits = look::find(&text, &mut notes);
        let text = splice(&text, &edits);
        let text = splice(&text, &secrets.searcher().edits(&text));
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Takes the secrets out of a cassette and names the rules in it.
    ///
    /// # Example: what is left of a key
    ///
    /// ```
    /// use retape::Cassette;
    /// use retape::cassette::{Interaction, Request, Response};
    /// use retape::redact::Redactor;
    ///
    /// let headers = [("authorization", "Bearer 5678")].into_iter().collect();
    /// let request = Request { headers, ..Request::of("GET", "/v1/models?api_key=1234") };
    /// let interactions = vec![Interaction::of(request, Response::of(404))];
    ///
    /// let cassette = Redactor::standard().cassette(Cassette { interactions, ..Cassette::default() });
    ///
    /// let request = &cassette.interactions[0].request;
    /// assert_eq!(request.path, "/v1/models?api_key=[redacted:api_key]");
    /// assert_eq!(request.headers.get("authorization"), Some("Bearer [redacted:authorization]"));
    /// ```
    pub fn cassette(&self, cassette: Cassette) -> Redacted<Cassette> {
        let is_again = !cassette.redactions.is_empty();
        Self { is_again, ..self.clone() }.recording(cassette)
    }

    /// The same for a recording, of which the first interactions may be those of another cassette.
    pub(crate) fn recording(&self, mut cassette: Cassette) -> Redacted<Cassette> {
        let redactor = self.with_own_of(&cassette);
        apply::recording(&redactor, &mut cassette.recorded, &mut cassette.interactions);
        cassette.redactions = redactor.rules().map(str::to_owned).collect();
        Redacted(cassette)
    }

    /// The same for one whose interactions need not be held in memory.
    #[cfg(feature = "record")]
    pub(crate) fn long_recording<I: Interactions>(
        &self,
        (mut cassette, mut interactions): (Cassette, I),
    ) -> Redacted<(Cassette, I)> {
        let redactor = self.with_own_of(&cassette);
        apply::recording(&redactor, &mut cassette.recorded, &mut interactions);
        cassette.redactions = redactor.rules().map(str::to_owned).collect();
        Redacted((cassette, interactions))
    }

    /// Takes the secrets out of a request, as [`cassette`](Self::cassette) does.
    pub fn request(&self, request: &mut Request) {
        apply::request(self, request, &mut Secrets::default());
    }

    /// Takes the secrets out of a request, those that are known before too, and notes them, for what comes later in a
    /// journal.
    pub fn request_noting(&self, request: &mut Request, secrets: &mut Secrets) {
        apply::request(self, request, secrets);
        apply::known(self, request, &secrets.searcher());
    }

    /// Takes out of a message of a client what only its query tells, which [`Live`] does not see, and notes it.
    #[cfg(feature = "record")]
    pub(crate) fn variables_noting(
        &self,
        message: &bytes::Bytes,
        secrets: &mut Secrets,
    ) -> bytes::Bytes {
        if !graphql::may_tell(message) {
            return message.clone();
        }
        let mut notes = Notes { redactor: self, side: Side::Request, secrets };
        splice(message, &in_order(body::find(message, None, &mut notes))).into()
    }

    /// Takes the secrets out of header fields.
    pub fn headers(&self, headers: &mut Headers) {
        self.headers_noting(headers, &mut Secrets::default());
    }

    /// The same for the header fields of an answer.
    pub(crate) fn headers_noting(&self, headers: &mut Headers, secrets: &mut Secrets) {
        let mut notes = Notes { redactor: self, side: Side::Response, secrets };
        header::redact(headers, &mut notes);
        apply::looks_in_headers(headers, &mut notes);
        if self.applies(Rule::Values) {
            apply::known_in_headers(&secrets.searcher(), headers);
        }
    }

    /// The body of an answer behind these header fields without its codings and the secrets in it.
    pub(crate) fn body_noting(
        &self,
        headers: &Headers,
        body: Vec<u8>,
        secrets: &mut Secrets,
    ) -> Vec<u8> {
        apply::body(self, headers, body, secrets)
    }

    /// A request target without the secrets in its query.
    pub(crate) fn target(&self, path_and_query: &str) -> String {
        let secrets = &mut Secrets::default();
        let mut notes = Notes { redactor: self, side: Side::Request, secrets };
        let mut edits = apply::target(path_and_query, &mut notes);
        edits.extend(apply::looks_in_target(path_and_query, &mut notes));
        let edited = splice(path_and_query.as_bytes(), &in_order(edits));
        String::from_utf8_lossy(&edited).into_owned()
    }

    /// A URL without its user information and without the secrets in its query.
    pub fn url(&self, url: &str) -> String {
        let mut url = url.to_owned();
        if let Some(range) = url::userinfo(&url) {
            url.replace_range(range.start..=range.end, "");
        }
        self.target(&url)
    }

    fn of(rules: Vec<Rule>) -> Self {
        let (known, own) = Default::default();
        let set = rules.iter().fold(0, |set, rule| set | rule.bit());
        Self { rules: rules.into(), set, known, own, is_again: false, told: None }
    }

    fn applies(&self, rule: Rule) -> bool {
        self.set & rule.bit() != 0
    }

    /// Which names are known.
    fn known_names(&self) -> NameSet {
        if self.applies(Rule::FurtherAssignments) {
            NameSet::Shown
        } else if self.applies(Rule::Names) {
            NameSet::Composed
        } else {
            NameSet::Listed
        }
    }

    /// Whether a text is worth a closer look.
    fn may_tell(&self, text: &[u8]) -> bool {
        self.own.may_tell(text)
            || self.last_mark(text, 0).is_some()
            || (self.applies(Rule::Graphql) && graphql::may_tell(text))
            || (self.applies(Rule::Json) && json::may_hold_key(text))
    }

    /// The last mark of a text, from there on, behind which a secret may stand.
    fn last_mark(&self, text: &[u8], from: usize) -> Option<usize> {
        let (json, assignments) = (self.applies(Rule::Json), self.applies(Rule::Assignments));
        let known = self.known_names();
        let tells = |mark: &usize| {
            (text[*mark] == b':' && scan::is_of_url(text, *mark))
                || (json && name::tells_before(text, *mark, known))
                || (assignments && scan::is_assigned(text, *mark, known))
        };
        memchr::memchr3_iter(b'=', b':', b'<', &text[from..]).rev().map(|at| from + at).find(tells)
    }
}
