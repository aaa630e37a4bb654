//! The command that records anew.

use crate::cassette::{Name, Origins};
use crate::text::shell::quoted;

/// The command that records anew what was missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rerun {
    /// `retape record` with these options, for the cassette that is concerned. The wrapped command is not
    /// told: its arguments may hold a secret, and clients are told what is missing.
    Cassette(Vec<String>),
    /// `retape mcp record`, with the folder of the cassettes.
    Lines(String),
    /// This line, as a test runner gives it.
    Line(String),
    /// The Rust test that runs.
    Test {
        /// What runs it, and no other test where its name is known: `cargo test -- --exact chat::streams`.
        command: String,
        /// Whether its code sets the mode, which the environment cannot change then.
        sets_mode: bool,
    },
}

impl Rerun {
    /// How what was missed is recorded: the line to copy into a shell, and what it needs.
    pub(crate) fn steps(&self, servers: &Origins, cassette: &str) -> Vec<String> {
        let name = Name::new(cassette).ok();
        let cassette = name.as_ref().map_or(cassette, Name::of_cassette);
        let mut steps = vec![self.line(servers, cassette)];
        if matches!(self, Self::Test { sets_mode: true, .. }) {
            steps.push("(without `.mode(…)` in the test)".to_owned());
        }
        steps
    }

    /// The line to copy into a shell. `URL` stands for a server that is not known.
    fn line(&self, servers: &Origins, cassette: &str) -> String {
        let Origins { first, named } = servers;
        let first = match first.as_str() {
            "" if named.is_empty() => Some("URL"),
            first => Some(first).filter(|first| !first.is_empty()),
        };
        let named = named.iter().map(|(name, address)| format!("{name}={address}"));
        let upstreams: Vec<String> = first.map(str::to_owned).into_iter().chain(named).collect();
        let options = match self {
            Self::Line(line) => return line.clone(),
            Self::Lines(folder) => {
                let folder = Some(folder).filter(|folder| *folder != "cassettes");
                let folder = folder.map(|folder| format!("--cassettes {} ", quoted(folder)));
                let (folder, name) = (folder.unwrap_or_default(), quoted(cassette));
                return format!("retape mcp record {folder}{name} -- COMMAND");
            }
            Self::Test { command, .. } => {
                let upstreams = upstreams.join(" ");
                let upstreams = quoted(&upstreams);
                return format!("RETAPE_MODE=record RETAPE_UPSTREAM={upstreams} {command}");
            }
            Self::Cassette(options) => options,
        };
        // The client itself says which server it means to a proxy.
        let is_proxy = options.iter().any(|option| option == "--proxy");
        let upstreams = upstreams.iter().filter(|_| !is_proxy).map(String::as_str);
        let words = upstreams.flat_map(|upstream| ["--upstream", upstream]);
        let words = words.chain(options.iter().map(String::as_str));
        let words = words.chain([cassette, "--", "COMMAND"]).map(quoted);
        format!("retape record {}", words.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_copied_into_a_shell() {
        assert_eq!(
            Rerun::Cassette(vec!["--cassettes".to_owned(), "my tapes".to_owned()])
                .line(&Origins::default(), "x"),
            "retape record --upstream URL --cassettes 'my tapes' x -- COMMAND"
        );
    }

    #[test]
    fn every_server_that_has_a_name_is_named_again() {
        let named = [("openai".to_owned(), "https://api.openai.com".to_owned())];
        let alone = Origins { first: String::new(), named: named.into() };
        let both = Origins { first: "http://127.0.0.1:8283".to_owned(), ..alone.clone() };
        let rerun = Rerun::Cassette(Vec::new());
        let test = Rerun::Test { command: "cargo test".to_owned(), sets_mode: false };

        assert_eq!(
            rerun.line(&both, "x"),
            "retape record --upstream http://127.0.0.1:8283 --upstream openai=https://api.openai.com x -- COMMAND"
        );
        assert_eq!(
            rerun.line(&alone, "x"),
            "retape record --upstream openai=https://api.openai.com x -- COMMAND"
        );
        assert_eq!(
            test.line(&both, "x"),
            "RETAPE_MODE=record RETAPE_UPSTREAM='http://127.0.0.1:8283 openai=https://api.openai.com' cargo test"
        );
    }

    #[test]
    fn a_server_that_the_client_starts_is_recorded_in_its_place() {
        let line = |folder: &str| Rerun::Lines(folder.to_owned()).line(&Origins::default(), "x");

        assert_eq!(line("cassettes"), "retape mcp record x -- COMMAND");
        assert_eq!(line("my tapes"), "retape mcp record --cassettes 'my tapes' x -- COMMAND");
    }

    #[test]
    fn a_test_is_run_again_by_its_name() {
        let steps = |command: &str, sets_mode| {
            Rerun::Test { command: command.to_owned(), sets_mode }.steps(&Origins::default(), "x")
        };

        assert_eq!(
            steps("cargo test", false),
            ["RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test"]
        );
        assert_eq!(
            steps("cargo test -- --exact chat::streams", true),
            [
                "RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test -- --exact chat::streams",
                "(without `.mode(…)` in the test)"
            ]
        );
    }
}
