//! go-vcr (YAML): as others keep it, but for the names of two fields, and for what Go says of a request beside.

use super::exchange::Exchange;
use super::{sides, vcr};
use crate::error::Result;
use crate::text::tree::Tree;

pub(super) fn is_it(file: &Tree) -> bool {
    let is_of_go = |it: &Tree| {
        let has = |side: &str, name: &str| it.get(side).is_some_and(|it| it.get(name).is_some());
        has("request", "url") && has("response", "code")
    };
    let all = file.get("interactions").map_or(&[][..], Tree::items);
    !all.is_empty() && all.iter().all(is_of_go)
}

pub(super) fn exchange(interaction: &Tree) -> Result<Exchange> {
    let (request, response) =
        sides(interaction, "an interaction has no `request` or no `response`")?;
    // `200 OK`.
    let reason = response.text_of("status").and_then(|status| status.split_once(' '));
    Ok(Exchange {
        method: request.text_of("method").unwrap_or("GET").to_owned(),
        url: request.text_of("url").unwrap_or_default().to_owned(),
        asked: vcr::message(request)?,
        status: response.get("code").and_then(Tree::count).unwrap_or_default(),
        reason: reason.map(|(_, reason)| reason.to_owned()).unwrap_or_default(),
        answered: vcr::message(response)?,
        ..Exchange::default()
    })
}
