//! Endpoints that were other ones before.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Promises, at_status, named_media};
use super::draft::Draft;
use super::instead::{is_redirect, recordings, status_new, takes_place};
use super::report::Verdict;
use super::rule::Rule;
use crate::cassette::{Media, Number};
use crate::contract::order::FEWEST;
use crate::contract::{
    Contract, Endpoint, Kinds, differ_by_name_with_slashes, may_have_names, settled, without_names,
};
use crate::text::json::Text;

/// Which endpoint was another one before: the same but for names in its path, such as that of a model, or for its
/// status too, of which there is one where there was one. A refusal in the place of a success is another answer. So it
/// is if only the name of its JSON is another: `application/problem+json`; and if one redirects to the other.
pub(super) fn moved<'a>(
    was: &'a Promises,
    is: &'a Promises,
) -> BTreeMap<&'a Endpoint, &'a Endpoint> {
    type Like<'l> = &'l dyn Fn(&Endpoint, &Endpoint) -> bool;
    let same: Like<'_> = &|one, other| one.status == other.status && one.media == other.media;
    let alike: Like<'_> =
        &|one, other| (one.status < 400) == (other.status < 400) && one.media == other.media;
    // Some servers call their JSON a text.
    let is_json = |endpoint: &Endpoint| {
        let mut sides = [was, is].into_iter().filter_map(|side| side.all.get(endpoint));
        let is_read = sides.next().is_some_and(|promise| promise.contract.body.is_some());
        is_read || Media::of(Some(&endpoint.media)) == Media::Json
    };
    let as_json: Like<'_> =
        &|one, other| one.status == other.status && is_json(one) && is_json(other);
    // What is a name in a path shows in both together.
    let both: BTreeSet<Endpoint> = was.all.keys().chain(is.all.keys()).cloned().collect();
    let settled = settled(&both, std::iter::empty());
    let path = |it: &Endpoint| without_names(&settled.get(it).unwrap_or(it).path);
    // What was there before has not moved.
    let new: Vec<&Endpoint> = is.all.keys().filter(|it| !was.all.contains_key(*it)).collect();
    let gone: Vec<&Endpoint> = was.all.keys().filter(|it| !is.all.contains_key(*it)).collect();
    let sides = [&gone, &new];
    let there = Alike::of(sides, &path);
    // Without a name in its path one is like another of the same path alone.
    let slashed = Alike::of(sides, &|it| {
        let path = &it.path;
        if may_have_names(path) { path.split('/').count().to_string() } else { path.clone() }
    });
    // Two that have nothing in common are no models of one kind.
    let are_alike = |one: &Endpoint, other: &Endpoint| {
        without_names(&one.path) == without_names(&other.path)
            || has_common(&was.all[one].contract, &is.all[other].contract)
    };
    let has_slashes = |one: &Endpoint, other: &Endpoint| {
        one.path == other.path || differ_by_name_with_slashes(&one.path, &other.path)
    };
    let before = |endpoint: &'a Endpoint, among: &Alike<'a>, is_it: Like<'_>| {
        let [gone, new] = among.to(endpoint);
        [same, alike, as_json].into_iter().find_map(|like| {
            let own = |it: &&&Endpoint| like(it, endpoint) && is_it(it, endpoint);
            only(new.iter().filter(own)).filter(|it| **it == endpoint)?;
            only(gone.iter().filter(own)).copied().filter(|it| are_alike(it, endpoint))
        })
    };
    let found = |endpoint: &'a Endpoint| {
        let asked_anew = || {
            let other = before(endpoint, &slashed, &has_slashes);
            other.filter(|it| is_same_question([it, endpoint], was, is))
        };
        // Clients that follow redirects got what is behind them.
        let redirected = || {
            let is_it = |it: &&Endpoint| {
                (it.status, &it.media) == (endpoint.status, &endpoint.media)
                    && (is_behind(was, it, endpoint) || is_behind(is, endpoint, it))
                    && are_alike(it, endpoint)
            };
            only(gone.iter().copied().filter(is_it))
        };
        redirected().or_else(|| before(endpoint, &there, &|_, _| true)).or_else(asked_anew)
    };
    new.iter().filter_map(|endpoint| Some((*endpoint, found(endpoint)?))).collect()
}

/// Endpoints of two sides by their method and something else that they have in common.
struct Alike<'a> {
    keys: BTreeMap<&'a Endpoint, (&'a str, String)>,
    sides: BTreeMap<(&'a str, String), [Vec<&'a Endpoint>; 2]>,
}

impl<'a> Alike<'a> {
    fn of(all: [&Vec<&'a Endpoint>; 2], key: &dyn Fn(&Endpoint) -> String) -> Self {
        let mut alike = Self { keys: BTreeMap::new(), sides: BTreeMap::new() };
        for (side, all) in all.into_iter().enumerate() {
            for endpoint in all {
                let key = (endpoint.method.as_str(), key(endpoint));
                alike.sides.entry(key.clone()).or_default()[side].push(endpoint);
                alike.keys.insert(endpoint, key);
            }
        }
        alike
    }

    fn to(&self, endpoint: &Endpoint) -> &[Vec<&'a Endpoint>; 2] {
        &self.sides[&self.keys[endpoint]]
    }
}

/// The first, if there is no other.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

/// Whether each answer of an endpoint stands behind a redirect from the path of another one.
fn is_behind(side: &Promises, endpoint: &Endpoint, from: &Endpoint) -> bool {
    let is_it = |it: &&Endpoint| {
        is_redirect(it.status) && (&it.method, &it.path) == (&from.method, &from.path)
    };
    let redirects = side.traffic.endpoints().filter(is_it);
    let redirects: BTreeSet<(&str, usize)> =
        redirects.flat_map(|it| side.places(it)).filter_map(step).collect();
    if redirects.is_empty() {
        return false;
    }
    let is_next = |place| {
        step(place)
            .is_some_and(|(cassette, at)| redirects.contains(&(cassette, at.wrapping_sub(1))))
    };
    let places = side.places(endpoint);
    !places.is_empty() && places.into_iter().all(is_next)
}

/// The cassette of a place, and which of its interactions it is.
fn step(place: &str) -> Option<(&str, usize)> {
    let (cassette, number) = place.rsplit_once(" #")?;
    Some((cassette, number.parse::<Number>().ok()?.interaction))
}

/// Whether the same step of a scenario asks both, with some of the same fields: then another word in the path is
/// another name, and not another thing.
fn is_same_question([before, endpoint]: [&Endpoint; 2], was: &Promises, is: &Promises) -> bool {
    let [old, new] = [was.asked(before), is.asked(endpoint)].map(|asked| {
        let members = asked.into_iter().filter_map(Text::read).flat_map(Text::members);
        members.map(|(name, _)| name.into_owned()).collect::<BTreeSet<String>>()
    });
    !was.places(before).is_disjoint(&is.places(endpoint)) && !old.is_disjoint(&new)
}

/// Whether answers have a field or a kind of message in common, if they say anything.
fn has_common(one: &Contract, other: &Contract) -> bool {
    let names = |contract: &Contract| -> BTreeSet<String> {
        let kinds = contract.body.iter().chain(&contract.events);
        let names = kinds.flat_map(|kinds| match kinds {
            Kinds::One(schema) => {
                schema.always_at(&[]).into_iter().map(str::to_owned).collect::<Vec<_>>()
            }
            Kinds::Each(kinds) => kinds.keys().cloned().collect(),
        });
        names.collect()
    };
    let [one, other] = [names(one), names(other)];
    one.is_empty() || other.is_empty() || !one.is_disjoint(&other)
}

/// That an endpoint answers with another status or media type than before, and never with that.
pub(super) fn otherwise(
    [before, endpoint]: [&Endpoint; 2],
    was: &Promises,
    is: &Promises,
) -> Option<Draft> {
    let takes_place = || takes_place(endpoint, |it| it == before, was, is);
    let (rule, verdict, old, what) = if before.media != endpoint.media {
        let [old, new] = [before, endpoint].map(|it| named_media(&it.media));
        let what = format!("it answers with {new}, and not {old} any more");
        (Rule::MediaNew, takes_place(), before.media.clone(), what)
    } else if before.status != endpoint.status {
        let is_answered_again = !was.places(before).is_disjoint(&is.places(endpoint));
        let (old, new) = (before.status, endpoint.status);
        let verdict = match status_new(new) {
            Verdict::Breaking => takes_place(),
            _ if is_answered_again || are_as_many([before, endpoint], was, is) => Verdict::Breaking,
            refused => refused,
        };
        let what = format!("it answers {new}, and not {old} any more");
        (Rule::StatusNew, verdict, old.to_string(), what)
    } else if without_names(&before.path) != without_names(&endpoint.path) {
        let what = format!("it is asked where `{}` was", before.path);
        (Rule::EndpointNew, Verdict::Compatible, before.path.clone(), what)
    } else {
        return None;
    };
    Some(at_status(rule, verdict, what).keyed(old).witnessed(is.first(endpoint)))
}

/// Whether only the contract of before is known, which comes from many recordings, and there are as many of what
/// takes the place of all of them.
fn are_as_many([before, endpoint]: [&Endpoint; 2], was: &Promises, is: &Promises) -> bool {
    let lost = was.all.get(before).map_or(0, |it| it.contract.origin.recordings);
    !was.are_recorded() && lost >= FEWEST && recordings(is.traffic.answers(endpoint)) >= lost
}
