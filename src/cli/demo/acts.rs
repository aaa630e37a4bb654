//! The acts of the demo, one after the other.

use std::env;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;

use super::agent::{AgentServer, Release};
use super::client::{self, Broken, Transcript};
use super::terminal::Loudness;
use super::{CASSETTE, Folder, LATER, checks, terminal};
use crate::cassette::{Cassette, Name};
use crate::cli::{Exit, tell};
use crate::error::{Error, Result};
use crate::review::change::{self, Known};
use crate::review::report::{self, Colour, Detail, Face, ShowOptions};
use crate::serve::server::{FieldNames, Server};
use crate::session::Event;
use crate::store;
use crate::store::mode::Mode;
use crate::text::shell::quoted;

/// How many interactions of the file are shown.
const SHOWN: usize = 3;

/// Plays the demo, with a server that takes that long for each token.
pub(super) async fn play(folder: &Folder, pause: Duration) -> Result<Exit> {
    terminal::title("retape demo", "record an agent server once, then test without it");
    let mut demo = Play { folder, findings: Vec::new() };
    let server = start(pause).await?;
    let recorded = demo.record(&server).await?;
    demo.stop(server).await;
    let Some((seen, cassette)) = recorded else { return Ok(demo.fail()) };
    demo.replay(&seen).await?;
    demo.miss().await?;
    demo.review(&cassette).await?;
    go_on(folder, &seen, &cassette);
    if !demo.findings.is_empty() {
        return Ok(demo.fail());
    }
    terminal::passed(&format!(
        "the same conversation with no server: {} answers, {} stream events, {} bytes",
        seen.answers.len(),
        seen.events(),
        seen.bytes()
    ));
    Ok(Exit::Agrees)
}

async fn start(pause: Duration) -> Result<Server> {
    let server = serve(AgentServer::new(pause, Release::First)).await?;
    terminal::act(1, "A server starts");
    terminal::text(&format!(
        "An agent server is up at http://{}. It streams tokens, asks a human before it acts, and \
         makes new random ids in every run. No language model is behind it; all the rest is real: \
         its sockets and its state, and below the recorder, the file and the replay.",
        server.address()
    ));
    Ok(server)
}

async fn serve(agents: AgentServer) -> Result<Server> {
    let listener = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    Server::start(listener, Arc::new(agents), FieldNames::AsMeant)
}

/// The acts between, and what was found not to be as it should.
struct Play<'a> {
    folder: &'a Folder,
    findings: Vec<String>,
}

impl Play<'_> {
    /// What the client saw, and what the file holds.
    async fn record(&mut self, server: &Server) -> Result<Option<(Transcript, Cassette)>> {
        let upstream = format!("http://{}", server.address());
        let session = self.folder.session(CASSETTE).mode(Mode::Record).fresh().upstream(&*upstream);
        let session = session.on_event(other_than_misses).start().await?;
        terminal::act(2, "Record: a client talks to it, through retape");
        terminal::text(&format!("client → retape at {} → {upstream}", session.url()));
        terminal::gap();
        let held = client::hold(session.url(), Loudness::Aloud).await;
        session.finish().await?;
        let Some(seen) = self.whole(held) else { return Ok(None) };
        let file = self.folder.file(CASSETTE);
        let bytes = std::fs::read(&file).map_err(|source| Error::io("read file", &file, source))?;
        let cassette = store::load(&self.folder.absolute(), &Name::new(CASSETTE)?)?;
        terminal::gap();
        terminal::text(&format!(
            "{} answers with {} stream events in {} are now in {} ({} kB).",
            seen.answers.len(),
            seen.events(),
            report::time(seen.took.as_millis() as u64),
            file.display(),
            bytes.len().div_ceil(1000)
        ));
        let findings = checks::of_cassette(&seen, &cassette, &bytes);
        if findings.is_empty() {
            terminal::text(
                "The API key that the client had sent is not: it was taken out on the way.",
            );
        }
        self.findings.extend(findings);
        Ok(Some((seen, cassette)))
    }

    async fn stop(&mut self, server: Server) {
        let address = server.address();
        server.stop(Duration::from_millis(500)).await;
        terminal::act(3, "The server stops");
        match TcpStream::connect(address).await {
            Err(error) => {
                terminal::text(&format!("Nothing answers at {address} any more: {error}."));
            }
            Ok(_) => self.findings.push(format!("something still answers at {address}")),
        }
    }

    async fn replay(&mut self, recorded: &Transcript) -> Result<()> {
        let session = self.folder.session(CASSETTE).mode(Mode::Replay).start().await?;
        terminal::act(4, "Replay: the same client talks to the file");
        let file = self.folder.file(CASSETTE);
        terminal::text(&format!("client → retape at {} → {}", session.url(), file.display()));
        terminal::gap();
        let held = client::hold(session.url(), Loudness::Aloud).await;
        let summary = session.stop().await?;
        self.findings.extend(summary.misses.into_iter().map(|miss| miss.explanation));
        self.findings.extend(summary.unplayed.iter().map(|left| {
            format!("`{} {}` was recorded and not asked for in replay", left.method, left.path)
        }));
        let Some(seen) = self.whole(held) else { return Ok(()) };
        let findings = checks::of_replay(recorded, &seen);
        if findings.is_empty() {
            terminal::gap();
            terminal::text(&format!(
                "The client had made up another random name for its agent, and got the same {} \
                 answers, this time in {}, with its own name in the place of the recorded one. All \
                 their {} bytes were compared: no other differs.",
                seen.answers.len(),
                report::time(seen.took.as_millis() as u64),
                seen.bytes()
            ));
        }
        self.findings.extend(findings);
        Ok(())
    }

    /// Shows that replay does not guess.
    async fn miss(&mut self) -> Result<()> {
        let session = self.folder.session(CASSETTE).mode(Mode::Replay).start().await?;
        terminal::act(5, "A miss: the client asks what was not recorded");
        let answer = client::ask_otherwise(session.url()).await;
        let missed = session.stop().await?.misses;
        let (Ok(answer), [miss]) = (answer, missed.as_slice()) else {
            let finding = "a question that was not recorded was answered all the same";
            self.findings.push(finding.to_owned());
            return Ok(());
        };
        terminal::gap();
        terminal::text(&format!(
            "retape does not guess: it answers with status {} and says why, and the command that \
             runs your tests fails, whatever they make of it. In brief:",
            answer.status
        ));
        terminal::gap();
        terminal::quote(terminal::brief(&miss.explanation));
        Ok(())
    }

    /// Records what a changed server says, and shows what that means for a client.
    async fn review(&mut self, before: &Cassette) -> Result<()> {
        let pause = Duration::from_micros(100);
        let server = serve(AgentServer::new(pause, Release::Second)).await?;
        let upstream = format!("http://{}", server.address());
        let session = self.folder.session(LATER).mode(Mode::Record).fresh().upstream(upstream);
        let session = session.on_event(other_than_misses).start().await?;
        let held = client::hold(session.url(), Loudness::Silent).await;
        session.finish().await?;
        server.stop(Duration::from_millis(500)).await;
        if self.whole(held).is_none() {
            return Ok(());
        }
        terminal::act(6, "Review: what a new release of the server changes");
        terminal::text(
            "A second release of the server runs, and the same conversation is recorded with it. \
             Ids, names and times are others again. What counts is what the server promises:",
        );
        terminal::gap();
        let names = [Name::new(CASSETTE)?, Name::new(LATER)?];
        let after = store::load(&self.folder.absolute(), &names[1])?;
        let [was, is] = names;
        let sides = [[(was, before.clone())], [(is, after)]];
        let known = sides.each_ref().map(|cassettes| Known {
            name: cassettes[0].0.as_str(),
            path: "",
            cassettes,
            accepted: &[],
        });
        let [old, new] = known;
        let changed = change::compare(old, new);
        if !changed.fails() {
            self.findings.push("a change that breaks clients was not found".to_owned());
        }
        let said = report::changes(&changed, Face::Text, Colour::Plain);
        let headline = said.lines().take(1);
        let first = said.split("\n\n").nth(1).unwrap_or_default();
        terminal::quote(headline.chain([""]).chain(first.lines()).map(str::to_owned));
        Ok(())
    }

    /// The transcript, if the client came to the end.
    fn whole(&mut self, held: Result<Transcript, Broken>) -> Option<Transcript> {
        held.map_err(|why| self.findings.push(format!("the client broke off: {why}"))).ok()
    }

    fn fail(&self) -> Exit {
        self.findings.iter().for_each(|finding| terminal::failed(finding));
        terminal::failed("this is not how the demo is meant to end");
        Exit::Findings
    }
}

/// While it is recorded a miss means that the file cannot be written: an error, told at the end.
fn other_than_misses(event: Event) {
    if !matches!(event, Event::Miss(_)) {
        tell::event(event);
    }
}

/// Shows the beginning of the file, and the commands to go on with.
fn go_on(folder: &Folder, seen: &Transcript, cassette: &Cassette) {
    let [file, later] =
        [CASSETTE, LATER].map(|cassette| folder.file(cassette).to_string_lossy().into_owned());
    let [file, later] = [quoted(&file), quoted(&later)];
    // As it was called, so that the commands work where it is not on the PATH.
    let called = env::args_os().next().map(|called| called.to_string_lossy().into_owned());
    let called = called.unwrap_or_else(|| "retape".to_owned());
    let retape = quoted(&called);
    terminal::heading("The file");
    excerpt(cassette);
    terminal::heading("Go on");
    terminal::command(
        "all of it, every event with its time",
        &format!("{retape} show --bodies {file}"),
    );
    terminal::command(
        "what the second release breaks, in full",
        &format!("{retape} diff {file} {later}"),
    );
    terminal::command(
        "the file as a server for this command or, without one, for any client",
        &format!(
            // What was asked first needs nothing that was asked before it.
            "{retape} replay {file} -- \\\n     curl -s -H content-type:application/json -d {} {{url}}/v1/agents",
            quoted(&json!({"name": seen.name}).to_string())
        ),
    );
    terminal::command(
        "your own server and your own tests",
        &format!("{retape} record --upstream http://HOST:PORT my/first -- COMMAND"),
    );
}

fn excerpt(cassette: &Cassette) {
    let width = terminal::WIDTH - terminal::QUOTE;
    let options = ShowOptions { width, colour: Colour::Ansi, detail: Detail::Summary };
    let all = report::show(CASSETTE, cassette, options);
    let blocks: Vec<&str> = all.split("\n\n").take(SHOWN + 1).collect();
    let shown = blocks.join("\n\n");
    let left = all.lines().count() - shown.lines().count();
    terminal::quote(shown.lines().map(str::to_owned).chain([format!("… and {left} lines more")]));
}
