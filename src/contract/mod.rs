//! What a server promises: learned from recordings, accepted by a person, checked in every run.
//!
//! A [`Contract`] says of one [`Endpoint`] in which order its messages come, what ties them together, and
//! what they and its answers look like, in a text that can be read and edited. [`check`] finds the
//! contracts that recordings ([`Traffic`]) do not keep.

mod asked;
mod called;
mod check;
mod clients;
mod cut;
mod endpoint;
mod evidence;
mod headers;
mod history;
pub mod invariant;
mod kinds;
mod named;
pub mod openapi;
pub mod order;
mod orders;
mod paths;
#[cfg(feature = "cli")]
mod places;
mod samples;
mod seen;
pub mod shape;
mod situation;
mod state;
pub mod streams;
mod syntax;
mod template;
mod text;
mod traffic;

pub(crate) use called::type_alone;
pub use check::{Breach, Finding, check};
pub(crate) use check::{check_uncounted, count_seen};
pub(crate) use cut::{ERROR, JsonMessage, RESULT_OF};
pub use endpoint::Endpoint;
pub(crate) use endpoint::media_type;
pub use evidence::{At, Claimed, Edge, Evidence, Occurrence, OrderEvidence};
pub(crate) use headers::is_standard;
pub use history::History;
pub use kinds::Kinds;
pub use orders::{Case, Orders};
pub(crate) use paths::{
    differ_by_name_with_slashes, has_name_in, may_have_names, settled, without_names,
};
#[cfg(feature = "cli")]
pub(crate) use places::UnknownPlace;
pub(crate) use seen::{Seen, message};
use situation::path;
pub use situation::{Condition, Feature};
use text::{CASSETTE, CUT, LEARNED, RECORDINGS, SEEN};
pub use traffic::Traffic;
pub(crate) use traffic::{Answer, cassette_of, invariants};

use std::collections::{BTreeMap, BTreeSet};

use crate::cassette::Media;
use crate::contract::invariant::Invariant;
use crate::contract::order::Witness;
use crate::contract::shape::Share;
use crate::message::TagSource;

/// What a server promises at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contract {
    /// Which one.
    pub endpoint: Endpoint,
    /// What tells the types of its messages, where that is neither a known protocol nor usual.
    pub tag: Option<TagSource>,
    /// In which order the messages of an answer come; nothing if an answer is none in messages.
    pub order: Option<Orders>,
    /// What ties the messages of a stream together.
    pub invariants: Vec<Invariant>,
    /// The header fields that clients go by, as an object.
    pub headers: Option<Kinds>,
    /// What each message of a stream looks like.
    pub events: Option<Kinds>,
    /// What messages look like that only say that the server is still there.
    pub keep_alives: Option<Kinds>,
    /// What an answer that is no stream looks like.
    pub body: Option<Kinds>,
    /// How it came to be.
    pub origin: Origin,
}

/// How a contract came to be, as the head of its file says. It promises nothing: two are always equal.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Origin {
    /// From how many independent recordings it was learned; 0 if that is not known.
    pub recordings: usize,
    /// The name of the cassette that all of them were in, if it was one and that is known.
    pub cassette: Option<String>,
    /// How many recordings had an answer that the server cut.
    pub cut: usize,
    /// How many showed what may be missing, where many did: each by its place.
    pub seen: BTreeMap<String, Share>,
    /// What the text was when it was learned, as a hash; empty if that is not known.
    pub learned: String,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Origin {
    /// What the head of the file says, by name.
    pub(crate) fn head(&self) -> Vec<(&'static str, serde_json::Value)> {
        let mut head = vec![(RECORDINGS, self.recordings.into())];
        head.extend(self.cassette.as_deref().map(|name| (CASSETTE, name.into())));
        head.extend(Some(self.cut).filter(|cut| *cut > 0).map(|cut| (CUT, cut.into())));
        let seen = Some(&self.seen).filter(|seen| !seen.is_empty());
        head.extend(seen.map(|seen| (SEEN, seen::written(seen).into())));
        head.push((LEARNED, self.learned.as_str().into()));
        head
    }

    /// Whether all of it was learned from one cassette, and that is this.
    pub(crate) fn is_of(&self, cassette: &str) -> bool {
        self.cassette.as_deref() == Some(cassette)
    }

    /// Whether that may be so: then what the cassette shows now is the same scenario, recorded again.
    pub(crate) fn may_be_of(&self, cassette: &str) -> bool {
        self.is_of(cassette) || self.cassette.is_none() && self.recordings <= 1
    }
}

impl Contract {
    /// Whether it is as it was learned: then somebody who accepts more recordings has it learned anew.
    /// One that was edited by hand stays as it is as long as it is kept.
    pub fn is_as_learned(&self) -> bool {
        self.origin.learned == self.hash()
    }

    /// Whether it is the accepted one, which was learned from the same only cassette, or from several, and tells of the
    /// same things how often they were seen. The numbers are not asked: they would change with each recording that is
    /// added.
    #[cfg(feature = "cli")]
    pub(crate) fn is_accepted(&self, accepted: &Self) -> bool {
        let counts = |origin: &Origin| (origin.cut > 0, !origin.seen.is_empty());
        self == accepted
            && self.origin.cassette == accepted.origin.cassette
            && counts(&self.origin) == counts(&accepted.origin)
    }

    /// Whether there are answers of which it says nothing, because they are no JSON.
    pub(crate) fn is_of_unread(&self) -> bool {
        let is_typed = |orders: &Orders| {
            let mut tags = orders.cases.iter().flat_map(|case| case.order.tags());
            tags.any(|tag| tag != crate::message::TEXT)
        };
        let says_something = self.order.as_ref().is_some_and(is_typed)
            || self.events.is_some()
            || self.body.is_some();
        // What should be JSON and is none is a text in it; `null` says nothing.
        let is_json = Media::of(Some(&self.endpoint.media)) == Media::Json;
        !self.endpoint.media.is_empty() && !is_json && !says_something
    }

    /// With what is known of how it was learned: from which answers, and how many recordings had one that the server
    /// cut.
    fn learned_from(mut self, answers: &[Answer], cut: usize) -> Self {
        let recordings: BTreeSet<Witness> = answers.iter().map(|answer| answer.witness).collect();
        let cassettes: BTreeSet<&str> = answers.iter().map(Answer::cassette).collect();
        let only = cassettes.first().filter(|_| cassettes.len() == 1);
        self.origin = Origin {
            recordings: recordings.len(),
            cassette: only.map(|name| (*name).to_owned()),
            cut,
            seen: BTreeMap::new(),
            learned: self.hash(),
        };
        self
    }

    fn hash(&self) -> String {
        blake3::hash(self.to_string().as_bytes()).to_hex()[..12].to_owned()
    }
}
