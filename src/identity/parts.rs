//! What of an answer had come when a request was made.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::plain;
use crate::cassette::exchanges::Exchanges;
use crate::cassette::{Body, Cassette, Interactions};

/// Which answers were still being sent when a request was made, and what of them had come.
pub(super) struct Parts<'c, I> {
    /// Nothing if that does not count.
    interactions: Option<&'c I>,
    /// The messages of WebSockets, if there are several.
    sockets: Option<Sockets<'c>>,
    /// The answers beside which anything was asked.
    beside: HashSet<usize>,
    /// The text that had come, and all of it, by the number of the answer and how many chunks that was.
    texts: RefCell<HashMap<(usize, usize), [String; 2]>>,
}

/// What went over WebSockets, and the cassette that it is in.
pub(super) type Sockets<'c> = (&'c Exchanges, &'c Cassette);

impl<'c, I: Interactions> Parts<'c, I> {
    pub(super) fn of(interactions: Option<&'c I>, sockets: Option<Sockets<'c>>) -> Self {
        let mut beside = HashSet::new();
        if let Some(all) = interactions {
            let after = (0..all.count()).flat_map(|number| all.after(number));
            beside.extend(after.map(|progress| progress.interaction));
        }
        let is_several = |(_, source): &Sockets<'_>| {
            source.interactions.iter().filter(|it| it.is_socket()).nth(1).is_some()
        };
        let sockets = sockets.filter(|it| interactions.is_some() && is_several(it));
        if let Some((exchanges, source)) = sockets {
            let all = 0..exchanges.cassette.interactions.len();
            let of_socket =
                |it: &usize| source.interactions[exchanges.spot(*it).interaction].is_socket();
            beside.extend(all.filter(of_socket));
        }
        Self { interactions, sockets, beside, texts: RefCell::default() }
    }

    /// Notes an answer that holds a value, unless an earlier one did that was over by then.
    pub(super) fn note(
        &self,
        firsts: &mut HashMap<String, Vec<(usize, String)>>,
        value: &str,
        number: usize,
        at: impl FnOnce() -> String,
    ) {
        let is_first = |first: &(usize, String)| {
            first.0 != number && self.beside.contains(&first.0) && !self.are_of_one(first.0, number)
        };
        match firsts.get_mut(value) {
            Some(before) if before.iter().all(is_first) => before.push((number, at())),
            Some(_) => {}
            None => _ = firsts.insert(value.to_owned(), vec![(number, at())]),
        }
    }

    /// Whether two answers are parts of one WebSocket: then the earlier one came first.
    fn are_of_one(&self, answer: usize, other: usize) -> bool {
        self.sockets.is_some_and(|(exchanges, source)| {
            let [one, other] = [answer, other].map(|it| exchanges.spot(it).interaction);
            one == other && source.interactions[one].is_socket()
        })
    }

    /// Whether an answer had said a value at a place before a request was made.
    pub(super) fn had_come(
        &self,
        value: &str,
        (answer, at): &(usize, String),
        request: usize,
    ) -> bool {
        let is_meant = || !at.starts_with("header.") && self.beside.contains(answer);
        let Some(all) = self.interactions.filter(|_| is_meant()) else { return true };
        let beside = all.after(request).into_iter().find(|it| it.interaction == *answer);
        let elsewhere = || {
            let (exchanges, source) = self.sockets?;
            exchanges.had_come(source, *answer, request)
        };
        let Some(had_come) = beside.map(|it| it.chunks).or_else(elsewhere) else { return true };
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry((*answer, had_come)).or_insert_with(|| {
            let answer = all.at(*answer);
            let response = answer.response();
            let all = response.map(|it| it.readable().into_owned()).unwrap_or_default();
            let come = match &all {
                Body::Stream(chunks) => {
                    let come = chunks.iter().take(had_come).cloned();
                    Body::Stream(come.collect())
                }
                Body::Whole(_) if had_come == 0 => Body::default(),
                Body::Whole(_) => all.clone(),
            };
            [come, all].map(|body| plain(&body.bytes()).into_owned())
        });
        let [come, all] = text;
        // What was said in pieces stands in neither.
        come.contains(value) || !all.contains(value)
    }
}
