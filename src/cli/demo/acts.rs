//! The acts of the demo, one after the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use super::agent::AgentServer;
use super::conversation::{self, Conversation, QUESTION};
use super::folder::{CASSETTE, Folder};
use super::heard::Broken;
use super::transcript::Transcript;
use super::{checks, epilogue, stage};
use crate::cassette::Cassette;
use crate::cli::Exit;
use crate::cli::tell::{self, BOLD, DIM, PLAIN};
use crate::error::{Error, Result};
use crate::mode::Mode;
use crate::server::Server;
use crate::store;

/// What the demo is to be like.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) folder: Folder,
    pub(super) per_token: Duration,
}

/// What was recorded: what the client saw of it, and what is in the file.
pub(super) struct Taken {
    pub(super) seen: Transcript,
    pub(super) cassette: Cassette,
}

/// Plays the demo.
pub(super) async fn play(plan: &Plan) -> Result<Exit> {
    tell::data(&format!(
        "{BOLD}retape demo{PLAIN} · record an agent server once, then test without it\n"
    ));
    let mut findings = Vec::new();
    let server = start(plan).await?;
    let recorded = record(plan, &server, &mut findings).await?;
    stop(server, &mut findings).await;
    if let Some(recorded) = &recorded {
        replay(plan, &recorded.seen, &mut findings).await?;
        miss(plan, &mut findings).await?;
        epilogue::tell(&plan.folder, recorded);
    }
    Ok(epilogue::judge(recorded.as_ref(), &findings))
}

async fn start(plan: &Plan) -> Result<Server> {
    let listener = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let server = Server::start(listener, Arc::new(AgentServer::new(plan.per_token)))?;
    stage::act(1, "A server starts");
    stage::text(&format!(
        "An agent server is up at http://{}. It streams its tokens, asks a human before it acts, \
         and makes new random ids each time. It is small, but it is a real server on a real socket.",
        server.address()
    ));
    Ok(server)
}

async fn record(plan: &Plan, server: &Server, findings: &mut Vec<String>) -> Result<Option<Taken>> {
    let upstream = format!("http://{}", server.address());
    let session = plan.folder.session().mode(Mode::Record).upstream(upstream).start().await?;
    stage::act(2, "Record: a client talks to it, through retape");
    stage::text(&format!("client → retape at {} → server", session.url()));
    stage::gap();
    let held = conversation::hold(session.url()).await;
    session.stop().await?;
    let Some(seen) = kept(held, findings) else { return Ok(None) };
    let file = plan.folder.file();
    let bytes = std::fs::read(&file).map_err(|source| Error::io("read", &file, source))?;
    let cassette = store::load(&plan.folder.absolute(), &Folder::name()?)?;
    findings.extend(checks::of_cassette(&seen, &cassette, &bytes));
    stage::gap();
    stage::text(&format!(
        "{} answers with {} events in {}, all of it in {} ({} kB). The API key that the client sent \
         is not.",
        seen.heard.len(),
        seen.events(),
        stage::time(seen.took),
        file.display(),
        bytes.len().div_ceil(1000)
    ));
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
    stage::text(&format!(
        "client → retape at {} → {}, with another random name for its agent",
        session.url(),
        plan.folder.file().display()
    ));
    stage::gap();
    let held = conversation::hold(session.url()).await;
    findings.extend(checks::of_summary(&session.stop().await?));
    let Some(seen) = kept(held, findings) else { return Ok(()) };
    let differing = checks::of_replay(recorded, &seen);
    stage::gap();
    if differing.is_empty() {
        stage::text(&format!(
            "The same {} answers in {}: all {} bytes of them compared, none differs.",
            seen.heard.len(),
            stage::time(seen.took),
            seen.bytes()
        ));
    }
    findings.extend(differing);
    Ok(())
}

async fn miss(plan: &Plan, findings: &mut Vec<String>) -> Result<()> {
    let session = plan.folder.session().mode(Mode::Replay).start().await?;
    stage::act(5, "A miss: the client asks what was never recorded");
    let mut conversation = Conversation::begin(session.url());
    let opened = conversation.open(&QUESTION.replace("4711", "4712")).await;
    let missed = session.stop().await?.misses;
    let (Err(Broken::Status(heard)), [miss]) = (opened, missed.as_slice()) else {
        findings.push("a question that was never recorded was answered".to_owned());
        return Ok(());
    };
    stage::gap();
    stage::text(&format!(
        "It gets status {} and this explanation; `{CASSETTE}` is not guessed from:",
        heard.status
    ));
    stage::gap();
    let explained = miss.explanation.lines().take_while(|line| !line.starts_with("hint:"));
    stage::quote(explained);
    Ok(())
}

fn kept(held: Result<Transcript, Broken>, findings: &mut Vec<String>) -> Option<Transcript> {
    held.map_err(|broken| findings.push(format!("the client broke off: {broken}"))).ok()
}

/// Keeps the shade of what is only said in passing in one place.
pub(super) fn dim(text: &str) -> String {
    format!("{DIM}{text}{PLAIN}")
}
