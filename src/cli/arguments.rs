//! Arguments that several subcommands share.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::conduct::Proof;
use super::tell::Way;
use crate::cassette::{Name, Origins};
use crate::config::{Fault, Glob};
use crate::error::{Error, Kind, Result};
use crate::review::report::Rerun;
use crate::session::{self, SessionBuilder};
use crate::store;

/// Where retape listens if nothing is said.
const ANYWHERE: &str = "127.0.0.1:0";

/// Where the cassettes are.
#[derive(Debug, Clone, Args)]
pub(super) struct Folder {
    /// The folder of cassettes
    #[arg(long, value_name = "DIR", env = "RETAPE_CASSETTES", default_value = "cassettes")]
    pub(super) cassettes: PathBuf,
}

/// Which cassette, where, and which command.
#[derive(Debug, Clone, Args)]
pub(super) struct Common {
    /// The cassette that requests without a name in their path are meant for: a name below the
    /// folder of cassettes (`letta/hello`), or the path of a file
    #[arg(value_name = "CASSETTE")]
    pub(super) cassette: Option<String>,

    #[command(flatten)]
    folder: Folder,

    /// The file that says what counts in requests; else the nearest retape.toml above the cassettes
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = ANYWHERE, value_parser = listen)]
    listen: SocketAddr,

    /// A further host by whose name retape is asked, or whose web pages may ask it
    #[arg(long = "allow-host", value_name = "HOST")]
    allowed_hosts: Vec<String>,

    /// Let the command ask through a forward proxy: for clients that have no base address. Its environment
    /// names the proxy, and a certificate to trust, as the common runtimes know them
    #[arg(long)]
    pub(super) proxy: bool,

    /// A further variable of the command's environment: NAME holds the address as RETAPE_URL does,
    /// NAME=VALUE what you give, with {url} for the address (`--env OPENAI_BASE_URL={url}/v1`)
    #[arg(long = "env", value_name = "NAME[=VALUE]", value_parser = variable)]
    pub(super) variables: Vec<String>,

    /// Do not fail if no request reaches retape
    #[arg(long)]
    allow_unused: bool,

    /// Without a command: stop when standard input ends, too. For whatever starts retape and may be
    /// killed, such as a test runner
    #[arg(long)]
    pub(super) attached: bool,

    /// A command to run against retape; {url} in an argument stands for the address. Without one,
    /// retape prints its address and serves until it is interrupted
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// The live server.
#[derive(Debug, Clone, Args)]
pub(super) struct LiveServer {
    /// The server to record from: http://, https://, or h2c:// for HTTP/2 without TLS. Others beside it
    /// have a name, by which clients ask for them: /-NAME/ in the place of /-/
    #[arg(
        long = "upstream",
        value_name = "[NAME=]URL",
        env = "RETAPE_UPSTREAM",
        value_delimiter = ' ',
        hide_env_values = true
    )]
    upstreams: Vec<String>,

    /// A shell command that starts the server; it is stopped at the end
    #[arg(long, value_name = "COMMAND")]
    pub(super) serve: Option<String>,

    /// An address that answers once the server is up, also with 404 or 401; without it, that of --upstream
    #[arg(long, value_name = "URL")]
    pub(super) ready: Option<String>,

    /// How long to wait for it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(super) ready_timeout: Duration,

    /// How long to go on reading an answer after its client has left [default: 250ms]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    grace: Option<Duration>,

    /// How long to wait for a server that says nothing
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = duration)]
    silence: Duration,

    /// Write what is recorded anew as the server said it, and not with the identifiers and times of
    /// the cassette whose place it takes
    #[arg(long)]
    fresh: bool,

    /// Take a recording in which values look like secrets
    #[arg(long)]
    pub(super) allow: bool,

    /// Do not prove that the recording replays. Without this, the command is run again against what was
    /// recorded, with no server, three times at most
    #[arg(long)]
    no_prove: bool,
}

/// How a recording is played.
#[derive(Debug, Clone, Args)]
pub(super) struct Play {
    /// How fast: instant, recorded, or a factor such as 2x. If nothing is said, what the cassette's rules say,
    /// or instant
    #[arg(long)]
    pace: Option<crate::Pace>,

    /// In which pieces streams come: recorded, event, coalesced, a number of bytes, split-utf8, crlf, or
    /// random:SEED
    #[arg(long, value_name = "HOW", default_value = "recorded")]
    chunks: crate::Chunking,

    /// What goes wrong, and with which requests: "POST /v1/agents: 503 retry-after=1 x2", "cut after=3". Can be
    /// given several times; docs/faults.md lists all
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault)]
    faults: Vec<Fault>,

    /// Fail also if something that was recorded was not asked for, or, where no cassette is named, if a
    /// cassette of the folder was never opened, or if a fault met no request
    #[arg(long)]
    pub(super) strict: bool,

    /// Write what was missed to this file, as JSON: [] if nothing was. Folders that are not there are
    /// made
    #[arg(long, value_name = "FILE", env = "RETAPE_MISSES")]
    misses: Option<PathBuf>,

    /// Compare method, server, path and query alone, as vcrpy does, and write to this file what strict
    /// matching would have refused, field by field: as JSON, or, if it ends in .md, for people
    #[arg(long, value_name = "FILE", env = "RETAPE_REPORT_LAX")]
    report_lax: Option<PathBuf>,
}

impl Folder {
    pub(super) fn absolute(&self) -> PathBuf {
        absolute(&self.cassettes)
    }

    /// A cassette that is given by its file, else by its name below the folder.
    pub(super) fn place(&self, cassette: &str) -> (PathBuf, String) {
        let folder = &self.cassettes;
        let Some(stem) = cassette.strip_suffix(".json") else {
            return (folder.to_owned(), cassette.to_owned());
        };
        if !Path::new(cassette).exists() && folder.join(cassette).exists() {
            return (folder.to_owned(), stem.to_owned());
        }
        if let Ok(below) = absolute(Path::new(stem)).strip_prefix(absolute(folder)) {
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            return (folder.to_owned(), parts.join("/"));
        }
        let path = Path::new(stem);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (parent.unwrap_or(Path::new(".")).to_owned(), name)
    }

    /// The cassettes that a name, a pattern or a file means, and their folder.
    pub(super) fn chosen(&self, cassette: &str) -> Result<(PathBuf, Vec<Name>)> {
        let (folder, name) = self.place(cassette);
        let folder = absolute(&folder);
        if !name.contains(['*', '?']) {
            let is_folder = folder.join(&name).is_dir() || Path::new(&name).is_dir();
            let name = Name::new(name)?;
            if is_folder && !store::exists(&folder, &name) {
                let hint =
                    "it is a folder: `'**'` means all cassettes, `'letta/**'` those below `letta`";
                return Err(Error::new(Kind::NoCassette { name: name.to_string() }).with_hint(hint));
            }
            return Ok((folder, vec![name]));
        }
        let names = fitting(&folder, &name)?;
        if names.is_empty() {
            let hint = format!("`retape list` lists those of `{}`", folder.display());
            return Err(Error::new(Kind::NoCassette { name }).with_hint(hint));
        }
        Ok((folder, names))
    }
}

impl Common {
    /// The folder, and the name of the default cassette below it.
    pub(super) fn place(&self) -> (PathBuf, String) {
        self.folder.place(self.cassette.as_deref().unwrap_or("default"))
    }

    pub(super) fn session(&self) -> SessionBuilder {
        let (folder, name) = self.place();
        let session = crate::Session::builder(&name).cassettes(absolute(&folder));
        let session = session.listen(self.listen);
        let mut session = self.allowed_hosts.iter().fold(session, SessionBuilder::allow_host);
        if self.cassette.is_none() {
            session = session.open_when_asked();
        }
        if self.proxy {
            session = session.proxy();
        }
        if self.allow_unused {
            session = session.allow_unused();
        }
        self.config.iter().map(|file| absolute(file)).fold(session, SessionBuilder::config)
    }

    /// How the command is to reach retape.
    pub(super) fn way(&self, live: Option<&LiveServer>) -> Way {
        match self.proxy {
            true => Way::Proxy,
            false => Way::Address { has_names: live.is_some_and(LiveServer::has_names) },
        }
    }

    /// Whether tests come, each of which may name its cassette and its server.
    pub(super) fn is_suite(&self) -> bool {
        self.cassette.is_none() && (self.attached || !self.command.is_empty())
    }

    /// The command that records what this one would have had to replay.
    pub(super) fn rerun(&self) -> Rerun {
        let option = |name: &str, value: String| [name.to_owned(), value];
        // A cassette that is given by its file stands in a folder of its own.
        let folder = Some(self.place().0.display().to_string()).filter(|it| it != "cassettes");
        let listen = Some(self.listen.to_string()).filter(|it| it != ANYWHERE);
        let config = self.config.as_ref().map(|it| it.display().to_string());
        let mut words: Vec<String> = Vec::new();
        words.extend(folder.into_iter().flat_map(|it| option("--cassettes", it)));
        words.extend(config.into_iter().flat_map(|it| option("--config", it)));
        words.extend(listen.into_iter().flat_map(|it| option("--listen", it)));
        words.extend(self.allowed_hosts.iter().flat_map(|it| option("--allow-host", it.clone())));
        words.extend(self.proxy.then(|| "--proxy".to_owned()));
        let variables = self.variables.iter().filter(|it| tells_address(it));
        words.extend(variables.flat_map(|it| option("--env", it.clone())));
        Rerun::Cassette(words)
    }
}

impl LiveServer {
    /// Whether what is recorded is proved.
    pub(super) fn proof(&self) -> Proof {
        if self.no_prove { Proof::Spared } else { Proof::Wanted }
    }

    /// The server that has no name.
    pub(super) fn upstream(&self) -> Result<Option<String>> {
        Ok(Some(self.servers()?.first).filter(|first| !first.is_empty()))
    }

    /// Whether there are servers that have a name.
    pub(super) fn has_names(&self) -> bool {
        self.servers().is_ok_and(|servers| !servers.named.is_empty())
    }

    pub(super) fn settle(&self, session: SessionBuilder) -> Result<SessionBuilder> {
        let session = session.silence(self.silence);
        let session = if let Some(grace) = self.grace { session.grace(grace) } else { session };
        let session = if self.fresh { session.fresh() } else { session };
        let Origins { first, named } = self.servers()?;
        let session = if first.is_empty() { session } else { session.upstream(first) };
        let named = named.into_iter();
        Ok(named.fold(session, |session, (name, address)| session.named_upstream(name, address)))
    }

    fn servers(&self) -> Result<Origins> {
        session::named(self.upstreams.iter().map(String::as_str))
    }
}

impl Play {
    /// Whether something goes wrong on purpose.
    pub(super) fn is_spoiled(&self) -> bool {
        !self.faults.is_empty()
    }

    pub(super) fn settle(&self, session: SessionBuilder) -> SessionBuilder {
        let session = self.pace.into_iter().fold(session, SessionBuilder::pace);
        let session = session.chunks(self.chunks);
        let session = self.faults.iter().cloned().fold(session, SessionBuilder::fault);
        let session = named(&self.report_lax).fold(session, SessionBuilder::report_lax);
        named(&self.misses).fold(session, SessionBuilder::misses)
    }
}

/// A file of which a variable of the environment may say that there is none.
pub(super) fn named(file: &Option<PathBuf>) -> impl Iterator<Item = PathBuf> {
    file.iter().filter(|file| !file.as_os_str().is_empty()).map(|file| absolute(file))
}

/// Whether a variable holds the address, and nothing that may be a secret.
fn tells_address(variable: &str) -> bool {
    variable.split_once('=').is_none_or(|(_, value)| {
        value.strip_prefix("{url}").is_some_and(|path| !path.contains(['?', '@', '{']))
    })
}

/// A fault; what is wrong with it is told with the hint.
pub(super) fn fault(text: &str) -> Result<Fault, String> {
    text.parse().map_err(|error: Error| {
        let hint = error.hint().map(|hint| format!("\n  hint: {hint}"));
        format!("{error}{}", hint.unwrap_or_default())
    })
}

/// The cassettes of a folder whose name fits a pattern.
pub(super) fn fitting(folder: &Path, pattern: &str) -> Result<Vec<Name>> {
    let glob = Glob::new(pattern)?;
    Ok(store::playable(folder).into_iter().filter(|name| glob.fits(name.as_str())).collect())
}

/// The command line means folders below the current one, also when cargo runs it.
pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// `127.0.0.1:8283`, `localhost:8283`, or a port alone.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let here = match text.strip_prefix("localhost:").unwrap_or(text).parse::<u16>() {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => text.parse(),
    };
    here.map_err(|_| "an address is `127.0.0.1:8283`, `localhost:8283`, or a port alone".to_owned())
}

fn variable(text: &str) -> Result<String, String> {
    match text.split('=').next() {
        Some("") | None => Err("a variable has a name: OPENAI_BASE_URL={url}/v1".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time is a number and a unit: 500ms, 5s, 2m".to_owned()),
    };
    let seconds = number.parse::<f64>().map_err(|error| error.to_string())? * unit;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    // Longer than a year is for ever, and more than a clock can count to.
    Ok(time.min(Duration::from_secs(365 * 24 * 3600)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cassette_is_a_name_or_a_file() {
        let check = |given: &str, folder: &str, name: &str| {
            let cassettes = Folder { cassettes: "cassettes".into() };
            assert_eq!(cassettes.place(given), (folder.into(), name.to_owned()));
        };
        check("letta/hello", "cassettes", "letta/hello");
        check("cassettes/letta/hello.json", "cassettes", "letta/hello");
        check("./cassettes/hello.json", "cassettes", "hello");
        check("tapes/letta/hello.json", "tapes/letta", "hello");
        check("hello.json", ".", "hello");
        check("/x/y.json", "/x", "y");
    }

    #[test]
    fn a_port_alone_is_of_this_machine() {
        let at_8283 = Ok(SocketAddr::from(([127, 0, 0, 1], 8283)));
        for text in ["8283", "localhost:8283", "127.0.0.1:8283"] {
            assert_eq!(listen(text), at_8283, "{text}");
        }
        assert!(listen("[::1]:0").is_ok() && listen("example.com:1").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert!(duration("2 parsecs").is_err());
        assert!(duration("-1s").is_err());
        assert_eq!(duration("1e19s"), duration("8760h"));
    }
}
