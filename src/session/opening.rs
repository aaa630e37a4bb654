//! What a test runner says when it opens a session.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::SessionBuilder;
use super::hook::Hook;
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::review::report::Rerun;
use crate::store::mode::Mode;
use crate::text::nearest;

/// The members of the JSON object.
const MEMBERS: [&str; 12] = [
    "cassette", "also", "beside", "folder", "mode", "prove", "upstream", "fresh", "rules",
    "faults", "rerun", "hook",
];

/// The settings of a session that is opened: those of the running one, and what `asked` says; and the opened
/// sessions that it goes on from, such as that of a fixture.
pub(super) fn settings(
    running: SessionBuilder,
    asked: &[u8],
) -> Result<(SessionBuilder, Vec<String>)> {
    let asked = serde_json::from_slice::<Map<String, Value>>(asked);
    let asked = asked.map_err(|source| refused("a JSON object").because(source))?;
    if let Some(unknown) = asked.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        let error = Error::new(Kind::UnknownMember { name: unknown.clone() });
        return Err(error.with_hint(nearest::hint(unknown, &MEMBERS)));
    }
    let text = |name: &str| asked.get(name).and_then(Value::as_str);
    let cassette = text("cassette").ok_or_else(|| refused("an object with a text `cassette`"))?;
    let mut settings = running.opened(cassette);
    settings = text("folder").into_iter().fold(settings, SessionBuilder::cassettes);
    if let Some(mode) = text("mode") {
        settings = settings.mode_unless_proving(mode.parse::<Mode>()?);
    }
    if asked.get("prove") == Some(&Value::Bool(true)) {
        settings = settings.mode(Mode::Replay).proving();
    }
    settings = text("upstream").into_iter().fold(settings, SessionBuilder::upstream);
    if asked.get("fresh") == Some(&Value::Bool(true)) {
        settings = settings.fresh();
    }
    if let Some(rules) = text("rules") {
        let config = Config::parse(rules)?;
        settings = settings.rules(config.rules(cassette));
        settings = settings.redact_with(config.redaction().clone());
    }
    for file in texts(&asked, "also")? {
        settings = settings.also(PathBuf::from(file));
    }
    for fault in texts(&asked, "faults")? {
        settings = settings.fault(fault.parse()?);
    }
    if let Some(command) = text("rerun") {
        settings = settings.rerun(Rerun::Line(command.to_owned()));
    }
    if let Some(address) = text("hook") {
        let hook = Hook::new(address).ok_or_else(|| refused("`hook` with a loopback address"))?;
        settings = settings.hook(hook);
    }
    let beside = texts(&asked, "beside")?;
    Ok((settings, beside.into_iter().map(str::to_owned).collect()))
}

/// The texts of an array; none if there is no such member.
fn texts<'a>(asked: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a str>> {
    let Some(all) = asked.get(name) else { return Ok(Vec::new()) };
    let texts = all.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
    texts.ok_or_else(|| refused(&format!("an object with an array of texts `{name}`")))
}

fn refused(expected: &str) -> Error {
    let error = Error::setting("open", "this body", expected);
    error.with_hint("such as `{\"cassette\": \"tests/hello\"}`, as `docs/control-api.md` says")
}
