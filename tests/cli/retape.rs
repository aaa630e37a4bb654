//! Running the binary.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::client;

/// Variables that would say something to the binary.
const SILENCED: [&str; 18] = [
    "CI",
    "RETAPE_MODE",
    "RETAPE_UPSTREAM",
    "RETAPE_CASSETTES",
    "COLUMNS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "WEBSOCKET_CLIENT_CA_BUNDLE",
    "PERL_LWP_SSL_CA_FILE",
];

/// A folder to run the binary in, gone after the test.
pub struct Stage(tempfile::TempDir);

/// The binary while it runs.
pub struct Running {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Stage {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// One with these cassettes of a real server, streamed.
    pub fn with_recorded(names: &[&str]) -> Self {
        let stage = Self::new();
        for name in names {
            stage.write(&format!("cassettes/{name}.json"), &recorded(name));
        }
        stage
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder().join(file)).unwrap()
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.folder().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The files below `cassettes`, sorted.
    pub fn cassettes(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder().join("cassettes")) else {
            return Vec::new();
        };
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The binary with these arguments, in an environment that says nothing to it.
    pub fn retape(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retape"));
        command.args(arguments).current_dir(self.folder()).stdin(Stdio::null());
        for name in SILENCED {
            command.env_remove(name);
        }
        command
    }

    /// Runs the binary: its exit status, what it tells, and what it says beside.
    pub fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.retape(arguments).output().unwrap();
        (output.status.code(), told(&output), said(&output))
    }

    /// The binary around a client that asks these lines.
    pub fn around(&self, arguments: &[&str], asks: &str) -> Command {
        let mut command = self.retape(arguments);
        command.arg("--").args(client::command()).env(client::ASKS, asks);
        command
    }

    /// Records what a client asks of a server.
    #[track_caller]
    pub fn record(&self, upstream: &str, name: &str, asks: &str) {
        let output = self.around(&["record", "--upstream", upstream, name], asks).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }

    /// Text without what differs from run to run.
    pub fn harmless(&self, text: &str) -> String {
        let folder = self.folder().canonicalize().unwrap();
        let text = text.replace(&folder.display().to_string(), "FOLDER");
        let text = text.replace(&self.folder().display().to_string(), "FOLDER");
        let text = text.replace(&client::command()[0], "CLIENT");
        let port = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
        port.replace_all(&text, "HOST").into_owned()
    }
}

/// The file of a cassette of a real server.
pub fn recorded(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cassettes/letta/hitl");
    std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()
}

/// What was said on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was said on standard output.
pub fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// The next line on standard output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next line on standard error, behind the one that says where it listens.
    pub fn error_line(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.stderr.read_line(&mut line).unwrap();
            if !line.contains("; interrupt to stop\n") {
                return line.trim_end().to_owned();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it and waits for the end.
    pub fn stop(self) -> (Option<i32>, String) {
        self.signal(Signal::TERM);
        self.end()
    }

    /// Waits for the end: the status and what was said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

/// A test that does not stop it, or that fails before, leaves no process.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
