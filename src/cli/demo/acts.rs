//! The acts of the demo, one after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use super::agent::AgentServer;
use super::conversation::{self, Conversation, QUESTION};
use super::folder::Folder;
use super::heard::Broken;
use super::transcript::Transcript;
use super::{checks, epilogue, stage};
use crate::cassette::Cassette;
use crate::cli::{Exit, tell};
use crate::error::{Error, Result};
use crate::serve::server::{FieldNames, Server};
use crate::session::Event;
use crate::store;
use crate::store::mode::Mode;

/// What the demo is to be like.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) folder: Folder,
    pub(super) per_token: Duration,
}

/// What was recorded: what the client saw of it, and what the file holds.
pub(super) struct Taken {
    pub(super) seen: Transcript,
    pub(super) cassette: Cassette,
}

/// Plays the demo.
pub(super) async fn play(plan: &Plan) -> Result<Exit> {
    stage::title("retape demo", "record an agent server once, then test without it");
    let mut findings = Vec::new();
    let server = start(plan).await?;
    let taken = record(plan, &server, &mut findings).await?;
    stop(server, &mut findings).await;
    if let Some(taken) = &taken {
        replay(plan, &taken.seen, &mut findings).await?;
        miss(plan, &mut findings).await?;
        epilogue::show(&plan.folder, taken);
    }
    Ok(epilogue::judge(taken.as_ref(), &findings))
}

async fn start(plan: &Plan) -> Result<Server> {
    let listener = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let server =
        Server::start(listener, Arc::new(AgentServer::new(plan.per_token)), FieldNames::AsMeant)?;
    stage::act(1, "A server starts");
    stage::text(&format!(
        "An agent server is up at http://{}. It streams tokens, asks a human before it acts, and \
         makes new random ids in every run. No language model is behind it; all the rest is real: \
         its sockets and its state, and below the recorder, the file and the replay.",
        server.address()
    ));
    Ok(server)
}

async fn record(plan: &Plan, server: &Server, findings: &mut Vec<String>) -> Result<Option<Taken>> {
    let upstream = format!("http://{}", server.address());
    let session = plan.folder.session().mode(Mode::Record).fresh().upstream(&*upstream);
    let session = session.on_event(other_than_misses).start().await?;
    stage::act(2, "Record: a client talks to it, through retape");
    stage::text(&format!("client → retape at {} → {upstream}", session.url()));
    stage::gap();
    let held = conversation::hold(session.url()).await;
    session.finish().await?;
    let Some(seen) = whole(held, findings) else { return Ok(None) };
    let file = plan.folder.file();
    let bytes = std::fs::read(&file).map_err(|source| Error::io("read file", &file, source))?;
    let cassette = store::load(&plan.folder.absolute(), &Folder::name()?)?;
    stage::gap();
    stage::text(&format!(
        "{} answers with {} stream events in {} are now in {} ({} kB).",
        seen.heard.len(),
        seen.events(),
        stage::time(seen.took),
        file.display(),
        bytes.len().div_ceil(1000)
    ));
    let found = checks::of_cassette(&seen, &cassette, &bytes);
    if found.is_empty() {
        stage::text("The API key that the client had sent is not: it was taken out on the way.");
    }
    findings.extend(found);
    Ok(Some(Taken { seen, cassette }))
}

async fn stop(server: Server, findings: &mut Vec<String>) {
    let address = server.address();
    server.stop(Duration::from_millis(500)).await;
    stage::act(3, "The server stops");
    match TcpStream::connect(address).await {
        Err(error) => stage::text(&format!("Nothing answers at {address} any more: {error}.")),
        Ok(_) => findings.push(format!("something still answers at {address}")),
    }
}

async fn replay(plan: &Plan, recorded: &Transcript, findings: &mut Vec<String>) -> Result<()> {
    let session = plan.folder.session().mode(Mode::Replay).start().await?;
    stage::act(4, "Replay: the same client talks to the file");
    let file = plan.folder.file();
    stage::text(&format!("client → retape at {} → {}", session.url(), file.display()));
    stage::gap();
    let held = conversation::hold(session.url()).await;
    findings.extend(checks::of_summary(&session.stop().await?));
    let Some(seen) = whole(held, findings) else { return Ok(()) };
    let differing = checks::of_replay(recorded, &seen);
    if differing.is_empty() {
        stage::gap();
        stage::text(&format!(
            "The client had made up another random name for its agent, and got the same {} answers, \
             this time in {}, with its own name in the place of the recorded one. All their {} bytes \
             were compared: no other differs.",
            seen.heard.len(),
            stage::time(seen.took),
            seen.bytes()
        ));
    }
    findings.extend(differing);
    Ok(())
}

/// Shows that replay does not guess.
async fn miss(plan: &Plan, findings: &mut Vec<String>) -> Result<()> {
    let session = plan.folder.session().mode(Mode::Replay).start().await?;
    stage::act(5, "A miss: the client asks what was not recorded");
    let mut conversation = Conversation::begin(session.url());
    let opened = conversation.open(&QUESTION.replace("4711", "4712")).await;
    let missed = session.stop().await?.misses;
    let (Err(Broken::Status(heard)), [miss]) = (opened, missed.as_slice()) else {
        findings.push("a question that was not recorded was answered all the same".to_owned());
        return Ok(());
    };
    stage::gap();
    stage::text(&format!(
        "retape does not guess: it answers with status {} and says why, and the command that runs \
         your tests fails, whatever they make of it. In brief:",
        heard.status
    ));
    stage::gap();
    stage::quote(stage::brief(&miss.explanation));
    Ok(())
}

/// While it is recorded a miss means that the file cannot be written: an error, told at the end.
fn other_than_misses(event: Event) {
    if !matches!(event, Event::Miss(_)) {
        tell::event(event);
    }
}

/// The transcript, if the client came to the end.
fn whole(held: Result<Transcript, Broken>, findings: &mut Vec<String>) -> Option<Transcript> {
    held.map_err(|broken| findings.push(format!("the client broke off: {broken}"))).ok()
}
