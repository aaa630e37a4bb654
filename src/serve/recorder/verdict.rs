//! What is wrong with a recording.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::cassette::{Cassette, End, Interaction, Outcome, Recorded, Response, target};
use crate::serve::server::{is_well_known, leads_to};
use crate::text::json::Text;

/// Why it is not worth the place of an older one: a server that had answered now answers nothing, or nothing but
/// errors of its own and refusals of who asks, or could not be reached any more in the end. A command may well be content with that.
pub(super) fn lost<'n>(
    old: &Cassette,
    recorded: &Recorded,
    new: impl Iterator<Item = Cow<'n, Interaction>>,
) -> Option<String> {
    let before = said(&old.recorded, old.interactions.iter().map(Cow::Borrowed));
    let mut now = said(recorded, new).into_iter();
    let is_lost = |(server, now): &(String, ServerHealth)| {
        let before = before.get(server).filter(|before| before.is_good);
        before.is_some_and(|before| !now.is_good || now.is_gone && !before.is_gone)
    };
    let (_, ServerHealth { origin, status, is_good, .. }) = now.find(is_lost)?;
    let said = match status {
        _ if is_good => "was gone before the end".to_owned(),
        Some(status) => format!("answers nothing but errors ({status})"),
        None => "answers nothing".to_owned(),
    };
    Some(format!("`{origin}` {said}, and had answered before"))
}

/// Whether an answer shows that a server does what it is there for. A credential that has expired is refused, whatever
/// is asked.
pub(super) fn is_good(status: u16) -> bool {
    status < 500 && !matches!(status, 401 | 403 | 407)
}

/// What a server said.
#[derive(Default)]
struct ServerHealth {
    origin: String,
    /// Whether anything is no error of its own, and no refusal of who asks.
    is_good: bool,
    /// Whether it could not be reached in the end.
    is_gone: bool,
    /// The last error.
    status: Option<u16>,
}

/// The same of all servers, by their names or addresses; the first one has none.
fn said<'c>(
    recorded: &Recorded,
    all: impl Iterator<Item = Cow<'c, Interaction>>,
) -> BTreeMap<String, ServerHealth> {
    let mut said: BTreeMap<String, ServerHealth> = BTreeMap::new();
    for interaction in all {
        let path = &interaction.request.path;
        let (origin, _) = target::split(path);
        let is_named = |(_, address): &(&String, &String)| target::relative(address, path) != path;
        let name = recorded.origins.iter().find(is_named).map(|(name, _)| name.clone());
        let server = said.entry(name.unwrap_or_else(|| origin.to_owned())).or_default();
        server.origin = if origin.is_empty() { &*recorded.upstream } else { origin }.to_owned();
        match &interaction.outcome {
            Outcome::Response(Response { status, .. }) if !is_good(*status) => {
                server.status = Some(*status);
            }
            Outcome::Response(_) => server.is_good = true,
            Outcome::Nothing(_) => {}
        }
        server.is_gone = matches!(interaction.outcome, Outcome::Nothing(End::Unreachable));
    }
    said
}

/// A request whose answer leads to a server that is none of those that are recorded, and that server: by a redirect, or in a
/// document that is well known.
pub(super) fn leads_past<'c>(
    recorded: &Recorded,
    mut asked: impl Iterator<Item = Cow<'c, Interaction>>,
) -> Option<(String, String)> {
    let is_known = |address: &str| {
        let mut known = recorded.origins.values().chain([&recorded.upstream]);
        known.any(|it| leads_to(address, it))
    };
    asked.find_map(|it| {
        let response = it.response()?;
        let mut past = None;
        let mut look_at = |address: &str| {
            let (origin, _) = target::split(address);
            if !origin.is_empty() && !is_known(address) {
                past.get_or_insert_with(|| origin.to_owned());
            }
        };
        if (300..400).contains(&response.status) {
            response.headers.get("location").into_iter().for_each(&mut look_at);
        } else if is_well_known(&it.request.path) {
            let body = response.readable().bytes();
            let json = Text::parse_container(&body);
            json.iter().for_each(|json| json.each_leaf(|_, _, value, _| look_at(&value)));
        }
        Some((format!("{} {}", it.request.method, it.request.path_only()), past?))
    })
}

/// A request that says the path of the server's address once more, and was answered 404.
pub(super) fn doubled<'c>(
    upstream: &str,
    mut asked: impl Iterator<Item = Cow<'c, Interaction>>,
) -> Option<String> {
    let (_, path) = target::split(upstream);
    if path.is_empty() {
        return None;
    }
    let is_doubled = |it: &Cow<'_, Interaction>| {
        let below = it.request.path.strip_prefix(path);
        let is_below = below.is_some_and(|rest| rest.starts_with('/'));
        is_below && it.response().is_some_and(|response| response.status == 404)
    };
    let Interaction { request, .. } = &*asked.find(is_doubled)?;
    Some(format!("{} {upstream}{}", request.method, request.path))
}
