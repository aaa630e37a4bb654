//! Who asks: the secrets in requests, of which a cassette knows only which are equal.

use std::collections::{HashMap, HashSet};

use crate::cassette::{Cassette, Outcome, Request};
use crate::redact::{self, Found, of_request, of_server};

/// The secrets in the recorded requests, each by its name and its number.
///
/// # Rationale
///
/// Whatever key a client has, it is answered as the recorded one was: so what is compared has no
/// numbers. They tell only which of several interactions is meant that look the same.
#[derive(Debug, Default)]
pub struct Credentials {
    of: Vec<Vec<(String, usize)>>,
    refused: Vec<bool>,
    /// Whether the path or the body names a secret that is not the first one of its name.
    another: Vec<bool>,
    /// The secrets that answers give to the client. It has said others of its own, or made them of those.
    given: HashSet<(String, usize)>,
}

/// What the secrets of a recording are in this run.
#[derive(Debug, Default)]
pub(super) struct RunSecrets {
    live: HashMap<(String, usize), String>,
    recorded: HashMap<(String, String), (String, usize)>,
}

impl Credentials {
    /// Takes the numbers out of the recorded requests, and keeps them.
    pub fn take(cassette: &mut Cassette) -> Self {
        let mut all = Self::default();
        for interaction in &mut cassette.interactions {
            all.of.push(of_request(&interaction.request));
            all.another.push(names_another(&interaction.request));
            without_numbers(&mut interaction.request);
            let status = match &interaction.outcome {
                Outcome::Response(response) => response.status,
                Outcome::Nothing(_) => 0,
            };
            all.refused.push(matches!(status, 401 | 403 | 407));
        }
        if all.of.iter().flatten().any(|(_, number)| *number > 1) {
            all.given = cassette.interactions.iter().flat_map(of_server).collect();
        }
        all
    }

    /// Whether some of these differ in who asked.
    pub(super) fn differ(&self, mut interactions: impl Iterator<Item = usize>) -> bool {
        let Some(first) = interactions.next() else { return false };
        let of = |number: usize| self.of.get(number);
        interactions.any(|number| of(number) != of(first))
    }

    /// Whether some of these were refused, and others were not.
    pub(super) fn refuse(&self, mut interactions: impl Iterator<Item = usize>) -> bool {
        let Some(first) = interactions.next() else { return false };
        let of = |number: usize| self.refused.get(number);
        interactions.any(|number| of(number) != of(first))
    }

    /// Whether they tell which of these is meant, or that none is, which what is compared does not.
    pub(super) fn tell(&self, mut interactions: impl Iterator<Item = usize>) -> bool {
        let mut first = None;
        interactions.any(|number| {
            let of = self.of.get(number);
            self.another.get(number) == Some(&true) || *first.get_or_insert(of) != of
        })
    }

    /// Whether a client says what it was given in the place of another secret than the recorded one.
    pub(super) fn contradict(&self, interaction: usize, found: &Found) -> bool {
        self.contradiction(interaction, found).is_some()
    }

    /// What stands for the recorded secret, and for the one that a client says, if that is another one.
    pub(super) fn contradiction(&self, interaction: usize, found: &Found) -> Option<[String; 2]> {
        if !found.has_placeholders() {
            return None;
        }
        let mut pairs = self.pairs(interaction, found).into_iter();
        let (secret, said) = pairs.find(|(secret, live)| !self.may_be(secret, live))?;
        let (at, ..) = redact::placeholders(said.as_bytes()).next()?;
        Some([redact::numbered(&secret.0, secret.1), said[at].to_owned()])
    }

    /// Whether what a client sends may be that secret: what it was given in the place of one says which.
    fn may_be(&self, secret: &(String, usize), live: &str) -> bool {
        let given = redact::placeholders(live.as_bytes()).next();
        given.is_none_or(|(_, name, number)| {
            name != secret.0 || number == secret.1 || !self.given.contains(secret)
        })
    }

    /// The secrets of an interaction, each with what the client has in its place.
    fn pairs<'a>(
        &'a self,
        interaction: usize,
        found: &'a Found,
    ) -> Vec<(&'a (String, usize), &'a str)> {
        let mut at: HashMap<&str, usize> = HashMap::new();
        let recorded = self.of.get(interaction).into_iter().flatten();
        let pairs = recorded.filter_map(|secret| {
            let next = at.entry(&secret.0).or_default();
            *next += 1;
            Some((secret, found.values(&secret.0).get(*next - 1)?.as_str()))
        });
        pairs.collect()
    }
}

impl RunSecrets {
    /// Whether an interaction may have been asked by who asks now.
    pub(super) fn agree(&self, all: &Credentials, interaction: usize, found: &Found) -> bool {
        let pairs = all.pairs(interaction, found);
        let recorded = all.of.get(interaction).map_or(0, Vec::len);
        pairs.len() == recorded
            && found.len() == recorded
            && pairs.iter().all(|(secret, live)| match self.live.get(*secret) {
                Some(known) => known == live,
                None => {
                    let known = (secret.0.clone(), (*live).to_owned());
                    all.may_be(secret, live) && !self.recorded.contains_key(&known)
                }
            })
    }

    /// Notes who asks.
    pub(super) fn bind(&mut self, all: &Credentials, interaction: usize, found: &Found) {
        for (secret, live) in all.pairs(interaction, found) {
            let known = (secret.0.clone(), live.to_owned());
            if !self.live.contains_key(secret) && !self.recorded.contains_key(&known) {
                self.live.insert(secret.clone(), live.to_owned());
                self.recorded.insert(known, secret.clone());
            }
        }
    }

    /// What stands for a secret of the recording in the answer to a request.
    pub(super) fn value(
        &self,
        all: &Credentials,
        (interaction, found): (usize, &Found),
        secret: &(String, usize),
    ) -> Option<String> {
        let asked = all.pairs(interaction, found).into_iter();
        let mut own = asked.filter(|(recorded, _)| *recorded == secret);
        own.next().map(|(_, live)| live.to_owned()).or_else(|| self.live.get(secret).cloned())
    }
}

/// Whether the path or the body names a secret that is not the first one of its name.
fn names_another(Request { path, body, .. }: &Request) -> bool {
    let mut named = [path.as_bytes(), &body[..]].into_iter().flat_map(redact::placeholders);
    named.any(|(_, _, number)| number > 1)
}

/// Lets distinct secrets of one name have one placeholder.
pub fn without_numbers(request: &mut Request) {
    if let Some(path) = redact::without_numbers(request.path.as_bytes()) {
        request.path = String::from_utf8_lossy(&path).into_owned();
    }
    for (_, value) in request.headers.iter_mut() {
        if let Some(plain) = redact::without_numbers(value) {
            *value = plain.into();
        }
    }
    if let Some(body) = redact::without_numbers(&request.body) {
        let length = request.headers.get("content-length").and_then(|length| length.parse().ok());
        if length == Some(request.body.len()) {
            request.headers.set("content-length", body.len().to_string());
        }
        request.body = body.into();
    }
}
