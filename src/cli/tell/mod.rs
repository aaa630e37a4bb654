//! What the command says: data on standard output, everything else on standard error.

mod reached;
mod recorded;
mod runner;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error as _;
use std::io::{ErrorKind, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Exit;
use super::child::Signal;
use crate::cassette::{Id, Name};
use crate::error::{Error, Kind, Result};
use crate::redact::Suspect;
use crate::review::report::{Face, count, visible};
use crate::serve::recorder::Saved;
use crate::session::{Event, Miss, Proven, Session, Spoiled, Summary, Unplayed};
use crate::store::{from_here, mention_path};
use crate::text::plain;

pub(super) use self::reached::{handshakes, missing_folder};
pub(super) use self::recorded::{Flaw, recorded};

pub(super) const RED: &str = "\x1b[31;1m";
pub(super) const GREEN: &str = "\x1b[32;1m";
pub(super) const YELLOW: &str = "\x1b[33;1m";
pub(super) const CYAN: &str = "\x1b[36;1m";
pub(super) const BOLD: &str = "\x1b[1m";
pub(super) const DIM: &str = "\x1b[2m";
pub(super) const PLAIN: &str = "\x1b[0m";

/// What a person reads who is asked or shown something.
pub(super) fn data(text: &str) {
    let _ = shown(text);
}

/// Data for a person, of which parts were recorded.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn shown(text: &str) -> Result<()> {
    output(&runner::harmless(text))
}

/// Data that a command is there for, with colour taken out where nobody would see it.
///
/// # Errors
///
/// If it cannot be written: what it was redirected to is not whole.
pub(super) fn output(text: &str) -> Result<()> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => {
            let error = Error::new(Kind::Io("write to standard output")).because(source);
            Err(error.with_hint("what was written is not whole: free some space, then try again"))
        }
        // A reader that has seen enough (`| head`) is no failure.
        _ => Ok(()),
    }
}

/// A report: for a person, or as it is for what reads it.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn report(face: Face, text: &str) -> Result<()> {
    match face {
        Face::Text => shown(text),
        _ => output(text),
    }
}

/// One line to the person at the terminal.
pub(super) fn line(text: &str) {
    say(&format!("{DIM}retape:{PLAIN} {text}\n"));
}

/// Why it could not run, what caused it, and what to do.
pub(super) fn error(error: &Error) {
    let mut text = format!("{RED}error:{PLAIN} {}\n", visible(&error.to_string()));
    let mut source = error.source();
    while let Some(cause) = source {
        let lines = cause.to_string();
        let lines: Vec<_> = lines.lines().map(visible).collect();
        text.push_str(&format!("  because: {}\n", lines.join("\n    ")));
        source = cause.source();
    }
    if let Some(hint) = error.hint() {
        let hint: Vec<_> = hint.lines().map(visible).collect();
        text.push_str(&format!("{GREEN}hint:{PLAIN} {}\n", hint.join("\n")));
    }
    say(&text);
}

/// What could not be read, once all else is done: that it is not all decides how a command ends.
///
/// # Errors
///
/// The last one, if there is any.
pub(super) fn unread(mut errors: Vec<Error>, exit: Exit) -> Result<Exit> {
    let Some(last) = errors.pop() else { return Ok(exit) };
    errors.iter().for_each(error);
    Err(last)
}

/// So many misses of the same are told: a client that connects again after each would bury the one that counts.
const EACH: usize = 10;

/// Tells what happens while a session runs.
pub(super) fn events() -> impl Fn(Event) + Send + Sync + 'static {
    let told: Mutex<HashMap<[String; 3], usize>> = Mutex::default();
    move |happened| {
        let Event::Miss(miss) = &happened else { return event(happened) };
        let asked = [&miss.session, &miss.method, &miss.path].map(String::clone);
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let count = told.entry(asked).or_default();
        *count += 1;
        match *count {
            1..=EACH => event(happened),
            count if count == EACH + 1 => line(&format!(
                "further misses of {} {} are not told; `--misses FILE` lists them all",
                miss.method,
                visible(&miss.path)
            )),
            _ => {}
        }
    }
}

/// What happened while a session ran.
pub(super) fn event(event: Event) {
    match event {
        Event::Miss(miss) => say(&missed("miss", &miss)),
        Event::Refused(why) => line(&format!("refused with 403: {}", visible(&why))),
        Event::Unrecorded(miss) => say(&missed("not recorded", &miss)),
        Event::Rescued { path, interactions, cut, unasked } => line(&format!(
            "an earlier recording was killed; what had arrived is now in {}: {}",
            from_here(&path).display(),
            rescued(interactions, cut, unasked)
        )),
        Event::Unfinished { journal, interactions, cut } => line(&format!(
            "an earlier recording was killed and left {}: {}; `retape recover {}` saves it beside the \
             cassette",
            from_here(&journal).display(),
            rescued(interactions, cut, 0),
            mention_path(&journal.with_extension(""))
        )),
        Event::Unwritten { journal, why } => line(&format!(
            "{} does not have everything: {why}. The rest is lost if retape is killed before it saves",
            from_here(&journal).display()
        )),
    }
}

/// Where a session listens: the address alone on standard output, for scripts.
pub(super) fn listening(session: &Session) {
    line(&format!("{} at {}; interrupt to stop", session.mode(), session.url()));
    data(&format!("{}\n", session.url()));
}

/// What is waited for.
pub(super) fn waiting(unfinished: &[String], heard: Option<Signal>) {
    let again = if heard.is_some() { "again " } else { "" };
    let answers = count(unfinished.len(), "answer");
    let first = unfinished.first().map_or("", String::as_str);
    let more = match unfinished.len() {
        0 | 1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    line(&format!(
        "waiting for {answers} to end ({}{more}), then it goes on by itself; interrupt {again}to stop",
        visible(first)
    ));
}

/// How a client reaches a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By its base address; behind it some servers may have a name.
    Address { has_names: bool },
    /// Through the proxy that its environment names.
    Proxy,
    /// By the standard streams of a server that it starts.
    Streams,
}

/// What a session came to, in one line.
pub(super) fn verdict(summary: &Summary, way: Way) {
    if summary.requests == 0 {
        return reached::unused(summary, way);
    }
    let misses = count(summary.misses.len(), "miss");
    let colour = if summary.misses.is_empty() { GREEN } else { RED };
    let misses = format!("{colour}{misses}{PLAIN}");
    let network = match summary.forwarded {
        0 => "nothing went out through retape".to_owned(),
        sent => format!("{} went to the live server", count(sent, "request")),
    };
    let network = match summary.passed {
        0 => network,
        passed => format!("{network} but what passes ({})", count(passed, "time")),
    };
    if summary.sessions > 0 {
        let all = summary.played + summary.unplayed.len();
        let played = format!("{} of {} played", summary.played, count(all, "interaction"));
        line(&format!("replayed {}: {played}, {misses}, {network}", replayed(summary)));
    } else if !summary.misses.is_empty() {
        line(&format!("replayed nothing: {misses}, {network}"));
    } else if summary.recordings.is_empty() && summary.refused.is_empty() {
        line(&format!("recorded nothing: {network}"));
    } else if summary.recordings.len() > 1 {
        // A single one has said so itself.
        let saved = summary.recordings.iter().filter(|it| it.saved == Saved::Cassette);
        let saved: Vec<_> = saved.filter(|it| it.path.is_some()).collect();
        let interactions = saved.iter().map(|recording| recording.interactions).sum();
        let cassettes = count(saved.len(), "cassette");
        line(&format!("recorded {} in {cassettes}", count(interactions, "interaction")));
    }
    cassettes("not kept, because the test failed", summary.discarded.iter());
    if !summary.drifted.is_empty() {
        let drifted = count(summary.drifted.len(), "request");
        line(&format!("{drifted} would be refused by strict matching; the report says why"));
    }
    if !summary.refused.is_empty() {
        line(&format!("{RED}{} refused{PLAIN}", count(summary.refused.len(), "request")));
    }
}

/// Which calls went wrong on purpose, what came of their attempts, and which faults met none.
pub(super) fn faults(summary: &Summary) {
    for Spoiled { cassette, call, .. } in &summary.spoiled {
        let attempts = call.attempts.iter().map(|attempt| {
            let came = attempt.fault.as_deref().unwrap_or("answered");
            match attempt.gap.as_millis() {
                0 => came.to_owned(),
                gap => format!("{came} after {gap} ms"),
            }
        });
        let came: Vec<String> = attempts.collect();
        let is_over = call.attempts.last().is_some_and(|attempt| attempt.fault.is_none());
        let end = if is_over { "" } else { ", not asked again" };
        let attempts = count(came.len(), "attempt");
        let asked = format!("{} {}", call.method, call.path);
        let told = format!("{asked}: {}{end} ({attempts})", came.join(", "));
        line(&format!("fault in `{cassette}`: {}", visible(&told)));
    }
    for fault in &summary.unmet {
        line(&format!("{YELLOW}fault that met no request:{PLAIN} {}", visible(fault)));
    }
}

/// What `retape.toml` says of cassettes that are not there.
pub(super) fn idle_rules(rules: &BTreeSet<String>) {
    for rule in rules {
        line(&format!("{YELLOW}{}{PLAIN}", visible(rule)));
    }
}

/// How many cassettes, and in how many sessions where that is more.
fn replayed(summary: &Summary) -> String {
    let cassettes = count(summary.replayed.len(), "cassette");
    match summary.sessions {
        sessions if sessions > summary.replayed.len() => {
            format!("{cassettes} in {}", count(sessions, "session"))
        }
        _ => cassettes,
    }
}

/// A variable that was to hold the address holds a word.
pub(super) fn without_braces(name: &str, value: &str) {
    line(&format!("`{}` is the word `{}`", visible(name), visible(value)));
    hint(&format!(
        "the address is `{{url}}`: `--env {}={{url}}{}`",
        visible(name),
        visible(&value[3..])
    ));
}

/// What to do next.
pub(super) fn hint(text: &str) {
    say(&format!("{GREEN}hint:{PLAIN} {text}\n"));
}

/// So many frames are listed, and so many characters of each.
const FRAMES: usize = 12;
const MESSAGE: usize = 100;

/// What was recorded and not asked for, one by one.
pub(super) fn unplayed(unplayed: &[Unplayed]) {
    for Unplayed { cassette, interaction, frames, method, path, .. } in unplayed {
        let number = interaction + 1;
        let (what, part) = match frames.len() {
            0 => ("not asked for", String::new()),
            frames => ("not sent", format!("{} of ", count(frames, "frame"))),
        };
        say(&format!(
            "{YELLOW}{what}:{PLAIN} {part}{} (interaction {number} of `{cassette}`)\n",
            visible(&format!("{method} {path}"))
        ));
        for (frame, message) in frames.iter().take(FRAMES) {
            let message: String = message.chars().take(MESSAGE).collect();
            say(&format!("  frame {}: {}\n", frame + 1, visible(&message)));
        }
        if frames.len() > FRAMES {
            say(&format!("  and {}\n", count(frames.len() - FRAMES, "more frame")));
        }
    }
}

/// The first of them.
pub(super) fn first_unplayed(all: &[Unplayed]) {
    const FIRST: usize = 3;
    let (first, rest) = all.split_at(all.len().min(FIRST));
    unplayed(first);
    if !rest.is_empty() {
        let more = count(rest.len(), "more interaction");
        hint(&format!("`--strict` lists {more} that nobody asked for"));
    }
}

/// Whether a recording answers what its client has said.
pub(super) fn rehearsed(missed_first: Option<&Miss>) {
    match missed_first {
        None => line(&format!("{GREEN}it answers{PLAIN} what the client said without the server")),
        Some(miss) => {
            say(&missed("miss", miss));
            line(&format!("{RED}it does not replay{PLAIN}; the recording is kept"));
        }
    }
}

/// A command did not end while it was run against what it had recorded.
pub(super) fn endless(limit: Duration) {
    line(&format!(
        "the command did not end within {} s when it was run against the recording, and was killed",
        limit.as_secs()
    ));
    hint(
        "a command that waits for what its own server does cannot be replayed; `--no-prove` records without that run",
    );
}

/// A signal came before a recording was proved. What the runs have shown by then may be due to it.
pub(super) fn unproven(signal: Signal) {
    line(&format!(
        "stopped by {} before the recording was proved to replay; the recording is kept",
        signal.name
    ));
}

/// What became of the proof that so many recordings replay. The command ended in two ways: when it was recorded, and
/// in the last run.
pub(super) fn proven(
    proven: &Proven,
    recordings: usize,
    [exit, last]: [Exit; 2],
    limit: Option<Duration>,
) {
    let runs = count(proven.runs, "run");
    all_missed(&proven.misses);
    let is_one = recordings == 1;
    names("made up by the client", &proven.made_up, is_one);
    fixed(&proven.fixed, is_one);
    for (name, place) in &proven.denied {
        line(&format!(
            "`not-ids` says that nothing in {} of `{name}` is made up, but it differs from run to run",
            visible(place)
        ));
    }
    for (name, header) in &proven.uncounted {
        line(&format!(
            "header field `{header}` of `{name}` does not count: with it, the recording did not replay"
        ));
    }
    if proven.replays {
        let alike = if exit == Exit::Agrees { "" } else { ", and the command fails as it did" };
        let paced = if proven.paced {
            ", and only at the recorded pace, as `pace` in the cassette says now"
        } else {
            ""
        };
        line(&format!("{GREEN}it replays{PLAIN} without the server ({runs}){alike}{paced}"));
        left(&proven.unplayed);
        if !proven.afresh.is_empty() {
            let names = proven.afresh.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            line(&format!(
                "with the identifiers and times of the old recording it did not, so these are new, as with --fresh: {}",
                names.join(", ")
            ));
        }
        if proven.only_today {
            line("in another time zone, where it is another day, the command ends in another way");
            hint("does it ask for dates, or expect some? `--env TZ=…` sets the zone of these runs");
        }
        return;
    }
    let runs = how_run(proven.runs, limit);
    line(&format!("{RED}it does not replay{PLAIN} ({runs}); the recording is kept"));
    if proven.misses.is_empty() && proven.runs > 0 {
        match (exit == last, last) {
            (false, Exit::Command(status)) => hint(&format!(
                "the command ends with exit status {status} without the server: `retape replay` shows what it says then"
            )),
            (false, _) => hint("the command fails with the server, and without it it does not"),
            (true, _) => hint(
                "the command asks nothing, or makes up something else in each run: see `retape replay`",
            ),
        }
    }
    if let Some(tokens) = &proven.tokens {
        hint(&visible(&tokens.hint()));
    }
}

/// How often a command was run that does not replay; `limit` is after how long a run was stopped, if one was.
fn how_run(runs: usize, limit: Option<Duration>) -> String {
    match (runs, limit) {
        (0, Some(limit)) => {
            format!("no run came to its end: each was stopped after {} s", limit.as_secs())
        }
        (0, None) => "no run came to its end".to_owned(),
        (runs, _) => format!("{} without the server", count(runs, "run")),
    }
}

/// What a run that was content did not ask for.
fn left(all: &[Unplayed]) {
    let Some(Unplayed { cassette, interaction, method, path, frames, .. }) = all.first() else {
        return;
    };
    let what = if frames.is_empty() { "asked for" } else { "sent" };
    let were = if all.len() == 1 { "was" } else { "were" };
    line(&format!(
        "{} {were} not {what} in that run, the first is {} (interaction {} of `{cassette}`)",
        count(all.len(), "interaction"),
        visible(&format!("{method} {path}")),
        interaction + 1
    ));
    hint(
        "`retape replay --strict` fails on that; if your client asks more while a server is slow, add `--pace recorded`",
    );
}

/// Values of a recording, as far as they fit.
fn names(what: &str, all: &[(Name, Id)], is_one: bool) {
    const SHOWN: usize = 8;
    const TELLING: usize = 4;
    // What is counted (`1`, `2`) tells the least.
    let mut shown: Vec<_> = all.iter().collect();
    shown.sort_by_key(|(_, id)| id.value.len() < TELLING);
    for one in shown.into_iter().take(SHOWN) {
        line(&format!("{what}: {}", placed(one, is_one)));
    }
    if all.len() > SHOWN {
        line(&format!("{what}: {} more", count(all.len() - SHOWN, "value")));
    }
}

/// Values that look made up and are not: there is nothing to do about them.
fn fixed(all: &[(Name, Id)], is_one: bool) {
    const SHOWN: usize = 2;
    let shown: Vec<String> = all.iter().take(SHOWN).map(|one| placed(one, is_one)).collect();
    let (shown, others) = (shown.join(", "), all.len().saturating_sub(SHOWN));
    match (all.len(), others) {
        (0, _) => {}
        (1, _) => {
            line(&format!("the same in each run, so it counts though it looks made up: {shown}"))
        }
        (_, 0) => {
            line(&format!("the same in each run, so they count though they look made up: {shown}"))
        }
        _ => line(&format!(
            "the same in each run, so they count though they look made up: {shown} and {others} more"
        )),
    }
}

/// A value, and where it stands first; `is_one` is whether there is one cassette alone.
fn placed((name, Id { value, interaction, at, .. }): &(Name, Id), is_one: bool) -> String {
    const LONGEST: usize = 60;
    let place = format!("{at} of interaction {}", interaction + 1);
    let place = if is_one { place } else { format!("{place} of {name}") };
    format!("`{}` ({})", visible(&plain::beginning(value, LONGEST)), visible(&place))
}

/// Which cassettes of a folder nobody asked for.
pub(super) fn unopened(names: &[Name]) {
    cassettes("never opened", names.iter());
}

/// These cassettes, as far as they fit on a line.
fn cassettes<'n>(what: &str, names: impl ExactSizeIterator<Item = &'n Name>) {
    const SHOWN: usize = 5;
    let all = names.len();
    let shown = names.take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match all {
        0 => {}
        all if all > SHOWN => line(&format!("{what}: {shown} and {} more", all - SHOWN)),
        _ => line(&format!("{what}: {shown}")),
    }
}

/// All misses of a run. A client that asks again and again is told of twice.
fn all_missed(all: &[Miss]) {
    const SHOWN: usize = 2;
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for miss in all {
        let count = counts.entry((&miss.method, &miss.path)).or_default();
        *count += 1;
        if *count <= SHOWN {
            say(&missed("miss", miss));
        }
    }
    for ((method, path), count) in counts.into_iter().filter(|(_, count)| *count > SHOWN) {
        let asked = visible(&format!("{method} {path}")).into_owned();
        line(&format!("{} of {asked}", self::count(count - SHOWN, "more miss")));
    }
}

fn missed(what: &str, miss: &Miss) -> String {
    let asked = format!("{} {}", miss.method, miss.path);
    let mut text = format!("{YELLOW}{what}:{PLAIN} {}\n", visible(&asked));
    for line in miss.explanation.lines() {
        text.push_str(format!("  {}", visible(line)).trim_end());
        text.push('\n');
    }
    text
}

fn rescued(interactions: usize, cut: usize, unasked: usize) -> String {
    let mut text = count(interactions, "interaction");
    if cut > 0 {
        text.push_str(&format!(", {cut} cut in the middle"));
    }
    if unasked > 0 {
        text.push_str(&format!("; {} had arrived in part only", count(unasked, "request")));
    }
    text
}

fn say(text: &str) {
    // With standard error closed there is nobody to tell.
    let _ = anstream::stderr().write_all(runner::harmless(text).as_bytes());
}

/// What may be a secret.
pub(super) fn tell_suspects(suspects: &[Suspect]) {
    const MOST: usize = 20;
    let verb = if suspects.len() == 1 { "looks like a secret" } else { "look like secrets" };
    line(&format!("{RED}{} {verb}{PLAIN}:", count(suspects.len(), "value")));
    suspects.iter().take(MOST).for_each(|suspect| line(&format!("  {suspect}")));
    if suspects.len() > MOST {
        line(&format!("  and {} more", suspects.len() - MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_stopped_says_after_how_long() {
        let told = "no run came to its end: each was stopped after 30 s";
        assert_eq!(how_run(0, Some(Duration::from_secs(30))), told);
        assert_eq!(how_run(2, None), "2 runs without the server");
    }
}
