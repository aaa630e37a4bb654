//! Which of several draws an answer speaks of, where they were alike by chance.

use std::collections::HashSet;

use super::{Hole, Scope, each_document};
use crate::cassette::{Body, Interaction};
use crate::text::json::Leaf;

/// A value that the client drew from a list, as it did another one that is the same by chance.
///
/// # Rationale
///
/// The value does not tell which of both an answer means. What stands beside it there does: what the client said with
/// it, and what the server answered to that.
#[derive(Debug)]
pub(crate) struct Draw {
    number: u64,
    value: String,
    /// What was said with it.
    beside: HashSet<String>,
}

impl Draw {
    /// The draws of an interaction, of the open places in its request.
    pub(crate) fn of<'a>(
        holes: impl Iterator<Item = &'a Hole>,
        interaction: &Interaction,
    ) -> Vec<Self> {
        let mut draws = Vec::new();
        for hole in holes {
            let Some(number) = hole.draw else { continue };
            let said = Body::Whole(interaction.request.readable().into_owned().into());
            let answer = interaction.response().map(|response| response.readable());
            let mut beside = HashSet::new();
            for body in [Some(&said), answer.as_deref()].into_iter().flatten() {
                let bytes = body.bytes();
                let text = std::str::from_utf8(&bytes).unwrap_or_default();
                each_document(text, |_, document| {
                    beside
                        .extend(document.leaves().into_iter().map(|leaf| leaf.value.into_owned()));
                });
            }
            beside.remove(&hole.identifier);
            draws.push(Self { number, value: hole.identifier.clone(), beside });
        }
        draws
    }
}

/// Which draw a value in a text is, by its offset: that with which most of what stands in the same object was said,
/// and where that tells nothing, in the object around it.
pub(super) fn told(text: &str, draws: &[Draw]) -> Vec<(usize, Scope)> {
    let mut told = Vec::new();
    if !draws.iter().any(|draw| text.contains(&draw.value)) {
        return told;
    }
    each_document(text, |offset, document| {
        let start = document.as_str().as_ptr() as usize;
        let leaves = document.leaves();
        for leaf in &leaves {
            let same: Vec<&Draw> = draws.iter().filter(|draw| draw.value == leaf.value).collect();
            if let Some(draw) = best(&leaves, leaf, &same) {
                let at = offset + leaf.spelled.as_ptr() as usize - start;
                told.push((at, Scope::Draw(draw.number)));
            }
        }
    });
    told
}

fn best<'d>(leaves: &[Leaf<'_>], leaf: &Leaf<'_>, draws: &[&'d Draw]) -> Option<&'d Draw> {
    if draws.is_empty() {
        return None;
    }
    let mut around = leaf.pointer.as_str();
    while let Some((outer, _)) = around.rsplit_once('/') {
        around = outer;
        let is_in = |it: &&Leaf<'_>| {
            it.pointer.strip_prefix(around).is_some_and(|rest| rest.starts_with('/'))
        };
        let said: HashSet<&str> = leaves.iter().filter(is_in).map(|it| &*it.value).collect();
        let shared = |draw: &Draw| said.iter().filter(|it| draw.beside.contains(**it)).count();
        let most = draws.iter().map(|draw| shared(draw)).max()?;
        let mut of_most = draws.iter().filter(|draw| shared(draw) == most);
        let only = of_most.next().filter(|_| of_most.next().is_none());
        if most > 0 && only.is_some() {
            return only.copied();
        }
    }
    None
}
