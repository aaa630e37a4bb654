//! Places that invariants speak of and that no recording has: what a person has misspelt never fails.

use std::collections::BTreeSet;

use super::{Contract, Endpoint, Traffic};
use crate::contract::invariant::{Invariant, Where, places};
use crate::text::json::Text;
use crate::text::nearest;

/// A place in an invariant that somebody has written, and that nothing has which was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownPlace {
    pub(crate) endpoint: Endpoint,
    pub(crate) invariant: Invariant,
    /// As it is written.
    pub(crate) place: String,
    /// Whether it is one of requests.
    pub(crate) in_request: bool,
    /// The place that was meant, maybe.
    pub(crate) nearest: Option<String>,
}

impl Traffic {
    /// The places that no recording has, of contracts that somebody has edited.
    pub(crate) fn unknown_places(&self, accepted: &[Contract]) -> Vec<UnknownPlace> {
        let edited = accepted.iter().filter(|it| !it.is_as_learned() && !it.invariants.is_empty());
        edited.flat_map(|contract| self.unknown_places_of(contract)).collect()
    }

    fn unknown_places_of(&self, contract: &Contract) -> Vec<UnknownPlace> {
        let answers = self.answers(&contract.endpoint);
        let (mut said, mut asked) = (BTreeSet::new(), BTreeSet::new());
        for answer in answers {
            answer.with_trace(None, |trace| {
                for json in trace.request.into_iter().filter_map(Text::read) {
                    places(json, &mut |path| {
                        asked.insert((String::new(), path.to_owned()));
                    });
                }
                for event in trace.events {
                    let mut see = |path: &str| {
                        said.insert((event.tag.to_owned(), path.to_owned()));
                    };
                    see("");
                    Text::read(event.json).into_iter().for_each(|json| places(json, &mut see));
                }
            });
        }
        let unknown = |invariant: &Invariant, place: Where<'_>| {
            let all = if place.in_request { &asked } else { &said };
            let is_of = |tag: &String| place.tag.is_none_or(|it| it == tag);
            let known = || all.iter().filter(|(tag, _)| is_of(tag)).map(|(_, path)| path.as_str());
            let path = place.path.trim_end_matches("[]");
            if answers.is_empty() || known().any(|it| it == path) {
                return None;
            }
            let known: Vec<&str> = known().filter(|it| !it.is_empty()).collect();
            Some(UnknownPlace {
                endpoint: contract.endpoint.clone(),
                invariant: invariant.clone(),
                place: place.to_string(),
                in_request: place.in_request,
                nearest: nearest::nearest(path, &known).map(str::to_owned),
            })
        };
        let all = contract.invariants.iter();
        all.flat_map(|it| it.places().into_iter().filter_map(move |place| unknown(it, place)))
            .collect()
    }
}
