//! The command that records anew.

#[cfg(feature = "cli")]
use crate::cassette::Request;
#[cfg(feature = "cli")]
use crate::redact::Redactor;
use crate::text::shell::quoted;

/// The command that records anew what was missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rerun {
    /// `retape record`, with the words that follow the server's address.
    Command(Vec<String>),
    /// `retape record` with these options, for the cassette that is concerned and a command that is
    /// not known.
    Cassette(Vec<String>),
    /// The Rust test that runs.
    Test {
        /// Its name, if it is known.
        name: Option<String>,
        /// Whether its code sets the mode, which the environment cannot change then.
        sets_mode: bool,
    },
}

impl Rerun {
    /// `retape record` with these words, without the secrets that stand behind a telling name: it is
    /// told to clients and written to files.
    #[cfg(feature = "cli")]
    pub(crate) fn command(words: Vec<String>) -> Self {
        let redactor = Redactor::standard();
        let mut option = None;
        let mut clean = Vec::with_capacity(words.len());
        for word in words {
            // `--api-key KEY` is the same as `--api-key=KEY`; `--env NAME=VALUE` has a name of its own.
            let named = option.filter(|_| !word.contains('='));
            let named = named.map(|option| format!("{option}={word}"));
            let hidden = named.filter(|named| *named != without_secrets(named, &redactor));
            clean.push(match hidden {
                Some(_) => HIDDEN.to_owned(),
                None => without_secrets(&word, &redactor),
            });
            option = word.strip_prefix("--").filter(|name| !name.contains('=')).map(str::to_owned);
        }
        Self::Command(clean)
    }

    /// How what was missed is recorded: the line to copy into a shell, and what it needs.
    pub(crate) fn steps(&self, upstream: &str, cassette: &str) -> Vec<String> {
        let mut steps = vec![self.line(upstream, cassette)];
        if matches!(self, Self::Test { sets_mode: true, .. }) {
            steps.push("(without `.mode(…)` in the test)".to_owned());
        }
        steps
    }

    /// The line to copy into a shell. `URL` stands for a server that is not known.
    fn line(&self, upstream: &str, cassette: &str) -> String {
        let upstream = quoted(if upstream.is_empty() { "URL" } else { upstream });
        let (words, unknown) = match self {
            Self::Test { name, .. } => {
                let name = name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
                return format!("RETAPE_MODE=record RETAPE_UPSTREAM={upstream} cargo test{name}");
            }
            Self::Command(words) => (words, None),
            Self::Cassette(options) => (options, Some([cassette, "--", "COMMAND"])),
        };
        let words = words.iter().map(String::as_str).chain(unknown.into_iter().flatten());
        // The client itself says which server it means to a proxy.
        let is_proxy = words.clone().take_while(|word| *word != "--").any(|word| word == "--proxy");
        let upstream = (!is_proxy).then(|| ["--upstream".into(), upstream]);
        let words = upstream.into_iter().flatten().chain(words.map(quoted));
        format!("retape record {}", words.collect::<Vec<_>>().join(" "))
    }
}

/// What stands for a secret.
#[cfg(feature = "cli")]
const HIDDEN: &str = "[redacted]";

/// A word without the secrets in it: it may be a URL, or set something as a form does.
#[cfg(feature = "cli")]
fn without_secrets(word: &str, redactor: &Redactor) -> String {
    let media_types = ["text/plain", "application/x-www-form-urlencoded"];
    media_types.iter().fold(word.to_owned(), |word, media_type| {
        let headers = [("content-type", *media_type)].into_iter().collect();
        let body = word.into();
        let mut request = Request { method: String::new(), path: String::new(), headers, body };
        redactor.request(&mut request);
        String::from_utf8_lossy(&request.body).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "cli")]
    #[test]
    fn no_secret_of_the_command_is_told() {
        let words = [
            "--env",
            "OPENAI_API_KEY=sk-0123456789abcdef",
            "tape",
            "--",
            "run",
            "--api-key",
            "sk-0123456789abcdef",
            "--password=hunter22hunter",
            "http://me:hunter22hunter@host/?token=0123456789abcdef0123",
            "--limit",
            "3",
        ];

        let line = Rerun::command(words.map(str::to_owned).into()).line("", "x");

        assert!(!line.contains("0123456789") && !line.contains("hunter22"), "{line}");
        assert!(line.starts_with("retape record --upstream URL --env 'OPENAI_API_KEY="), "{line}");
        assert!(line.ends_with(" --limit 3"), "{line}");
    }

    #[test]
    fn the_line_can_be_copied_into_a_shell() {
        let words = ["tape", "--", "sh", "-c", "echo 'hi' {url}"].map(str::to_owned);

        let line = Rerun::Command(words.into()).line("http://127.0.0.1:8283", "x");

        assert_eq!(
            line,
            r"retape record --upstream http://127.0.0.1:8283 tape -- sh -c 'echo '\''hi'\'' {url}'"
        );
        assert_eq!(
            Rerun::Cassette(vec!["--cassettes".to_owned(), "my tapes".to_owned()]).line("", "x"),
            "retape record --upstream URL --cassettes 'my tapes' x -- COMMAND"
        );
        let words = ["-c", "echo 'a\\b'\n\tls"].map(str::to_owned);
        assert_eq!(
            Rerun::Command(words.into()).line("", "x"),
            r"retape record --upstream URL -c $'echo \'a\\b\'\n\tls'"
        );
    }

    #[test]
    fn a_test_is_run_again_by_its_name() {
        let steps = |name: Option<&str>, sets_mode| {
            Rerun::Test { name: name.map(str::to_owned), sets_mode }.steps("", "x")
        };

        assert_eq!(steps(None, false), ["RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test"]);
        assert_eq!(
            steps(Some("chat::streams"), true),
            [
                "RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test chat::streams",
                "(without `.mode(…)` in the test)"
            ]
        );
    }
}
