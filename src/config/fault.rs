//! Faults that replay is to inject.

use std::str::FromStr;
use std::time::Duration;

use super::asked::RequestPattern;
use crate::error::{Error, Result};
use crate::text::nearest;
use crate::text::words::shown;

/// A fault that replay injects into the answers to some requests: `POST /v1/agents: 503 retry-after=1 x2`.
///
/// First the requests, up to `: `, then what goes wrong, then its parameters, in any order:
///
/// | requests | which |
/// |---|---|
/// | `POST /v1/agents: …` | by method and path; `*` is a part of a path, `**` any number of them |
/// | `/v1/agents/*: …` | whatever the method |
/// | `#4: …` | those that the fourth interaction answers |
/// | without | all |
///
/// # Example: the first two attempts are refused
///
/// ```
/// use retape::config::Fault;
///
/// let fault: Fault = "POST /v1/agents: 503 retry-after=1 x2".parse()?;
/// assert_eq!(fault.to_string(), "POST /v1/agents: 503 retry-after=1 x2");
/// assert!("POST /v1/agents: 5003".parse::<Fault>().is_err());
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fault {
    text: String,
    asked: RequestPattern,
    pub(crate) harm: Harm,
    /// How many attempts at each request it spoils.
    pub(crate) times: Option<usize>,
    /// In how many of a hundred attempts it comes.
    pub(crate) chance: u64,
    /// What decides where, and in which attempts.
    pub(crate) seed: u64,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Harm {
    /// The connection is closed with no answer.
    Refuse,
    /// The connection is reset: with no answer, or behind so many events.
    Reset(Option<Behind>),
    /// Nothing comes any more: no answer, or none behind so many events.
    Hang(Option<Behind>),
    /// The connection is closed behind so many events.
    Cut(Behind),
    /// The event behind so many others breaks off in its middle.
    Malformed(Behind),
    /// The event behind so many others has so many bytes.
    Oversized(Behind, usize),
    /// So many bytes come at once, and then none for a while.
    Drip(usize, Duration),
    /// A WebSocket is closed with a code behind so many messages.
    Close(u16, Behind),
    /// An error of the server, with fields that say when to come back.
    Status(u16, Vec<(&'static str, String)>),
}

/// Behind how many events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Events(usize),
    /// Any number that the seed decides.
    Random,
}

/// What an event is made larger than, if nothing is said: what many readers take for a line.
const OVERSIZED: usize = 1024 * 1024;

/// The most that one is made.
const LARGEST: usize = 64 * 1024 * 1024;

/// How a WebSocket is closed.
const CLOSE: &str = "a code is 1000 to 4999: `close=1011`";

const KINDS: [&str; 8] =
    ["refuse", "reset", "hang", "cut", "malformed", "oversized", "drip", "close"];

impl Fault {
    /// Whether a request is meant, and the interaction that answers it.
    pub(crate) fn fits(&self, method: &str, path: &str, interaction: usize) -> bool {
        self.asked.fits(method, path, interaction)
    }

    /// What goes wrong, in the words in which it was asked for.
    pub(crate) fn what(&self) -> &str {
        self.text.split_once(": ").map_or(self.text.as_str(), |(_, what)| what).trim()
    }
}

impl FromStr for Fault {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (asked, what) = match text.split_once(": ") {
            Some((asked, what)) => (RequestPattern::parse(asked.trim(), text)?, what),
            None => (RequestPattern::All, text),
        };
        let mut words = what.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let mut said = Parameters { fault: text, words: Vec::new(), times: None };
        for word in words {
            let times = word.strip_prefix('x').and_then(|times| times.parse().ok());
            match word.split_once('=') {
                Some((name, value)) => said.words.push((name, value)),
                None if times.is_some_and(|times| times > 0) => said.times = times,
                None => {
                    return Err(said.refused("has a word that is not known").with_hint(format!(
                        "`{word}` is no parameter; those are `NAME=VALUE`, and `x2` for two attempts"
                    )));
                }
            }
        }
        let harm = said.harm(kind)?;
        let times = said.times;
        let chance = said.take("chance", percent)?.unwrap_or(100);
        let seed = said.take("seed", |seed| seed.parse().ok())?.unwrap_or(0);
        match said.words.first() {
            None => Ok(Self { text: text.trim().to_owned(), asked, harm, times, chance, seed }),
            Some((name, _)) => {
                Err(said.refused("has a parameter that it does not take").with_hint(format!(
                    "`{kind}` takes no `{name}`; docs/faults.md lists what it takes"
                )))
            }
        }
    }
}

shown!(Display: Fault, it => "{}", it.text);

/// The parameters of a fault, while they are read.
struct Parameters<'t> {
    fault: &'t str,
    words: Vec<(&'t str, &'t str)>,
    times: Option<usize>,
}

impl<'t> Parameters<'t> {
    fn harm(&mut self, kind: &str) -> Result<Harm> {
        let first = Behind::Events(1);
        Ok(match kind {
            "refuse" => Harm::Refuse,
            "reset" => Harm::Reset(self.behind()?),
            "hang" => Harm::Hang(self.behind()?),
            "cut" => Harm::Cut(self.behind()?.unwrap_or(first)),
            "malformed" => Harm::Malformed(self.behind()?.unwrap_or(first)),
            "oversized" => {
                let size = self.take("size", |size| bytes(size).filter(|it| *it <= LARGEST))?;
                Harm::Oversized(self.behind()?.unwrap_or(first), size.unwrap_or(OVERSIZED))
            }
            "drip" => {
                let size = self.take("size", |size| bytes(size).filter(|size| *size > 0))?;
                let every = self.take("every", milliseconds)?;
                Harm::Drip(size.unwrap_or(16), every.unwrap_or(Duration::from_millis(20)))
            }
            _ => match kind.split_once('=') {
                Some(("close", code)) => {
                    let code = code.parse().ok().filter(|code| (1000..5000).contains(code));
                    let code = code.ok_or_else(|| {
                        self.refused("has no code of a WebSocket").with_hint(CLOSE)
                    })?;
                    Harm::Close(code, self.behind()?.unwrap_or(first))
                }
                _ => self.status(kind)?,
            },
        })
    }

    fn status(&mut self, kind: &str) -> Result<Harm> {
        let status = kind.parse().ok().filter(|status| (400..600).contains(status));
        let status = status.ok_or_else(|| {
            let hint = if kind.bytes().all(|byte| byte.is_ascii_digit()) {
                "a status is 400 to 599".to_owned()
            } else if kind == "close" {
                CLOSE.to_owned()
            } else if kind.contains(['#', '/']) {
                "requests stand before a colon and a space: `#4: 503`, `POST /v1/agents: cut`"
                    .to_owned()
            } else {
                format!(
                    "a fault is a status such as 503, or a word; {}",
                    nearest::hint(kind, &KINDS)
                )
            };
            self.refused("is not known").with_hint(hint)
        })?;
        let mut fields = Vec::new();
        for name in ["retry-after", "retry-after-ms"] {
            let number = |value: &str| value.parse::<u32>().ok().map(|number| number.to_string());
            fields.extend(self.take(name, number)?.map(|value| (name, value)));
        }
        Ok(Harm::Status(status, fields))
    }

    fn behind(&mut self) -> Result<Option<Behind>> {
        self.take("after", |value| match value {
            "random" => Some(Behind::Random),
            number => number.parse().ok().map(Behind::Events),
        })
    }

    fn take<T>(&mut self, name: &str, read: impl Fn(&'t str) -> Option<T>) -> Result<Option<T>> {
        let Some(at) = self.words.iter().position(|(word, _)| *word == name) else {
            return Ok(None);
        };
        let (_, value) = self.words.remove(at);
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(self
                .refused("has a value that cannot be")
                .with_hint(format!("`{name}={value}` is not understood; docs/faults.md says how"))),
        }
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::rule(self.fault, why)
    }
}

fn percent(value: &str) -> Option<u64> {
    value.strip_suffix('%')?.parse().ok().filter(|share| (1..=100).contains(share))
}

/// `50ms`, `2s`.
fn milliseconds(value: &str) -> Option<Duration> {
    let (number, unit) = match value.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (value.strip_suffix('s')?, 1000),
    };
    let number: u64 = number.parse().ok()?;
    Some(Duration::from_millis(number.checked_mul(unit).filter(|ms| *ms <= 3_600_000)?))
}

/// `100`, `64KiB`, `1MiB`.
fn bytes(value: &str) -> Option<usize> {
    let (number, unit) = match (value.strip_suffix("KiB"), value.strip_suffix("MiB")) {
        (Some(number), _) => (number, 1024),
        (_, Some(number)) => (number, 1024 * 1024),
        _ => (value, 1),
    };
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        text.parse().expect(text)
    }

    #[test]
    fn a_fault_is_read_in_any_order_of_its_parameters() {
        let check = |text: &str, harm: Harm| assert_eq!(fault(text).harm, harm, "{text}");
        check("refuse", Harm::Refuse);
        check("*: reset", Harm::Reset(None));
        check("reset after=2", Harm::Reset(Some(Behind::Events(2))));
        check("cut", Harm::Cut(Behind::Events(1)));
        check("cut x3 after=random seed=7", Harm::Cut(Behind::Random));
        check("oversized size=64KiB after=0", Harm::Oversized(Behind::Events(0), 65536));
        check("drip every=2s size=1", Harm::Drip(1, Duration::from_secs(2)));
        check("close=1011", Harm::Close(1011, Behind::Events(1)));
        check(
            "POST /a: 429 retry-after-ms=50 retry-after=1",
            Harm::Status(429, vec![("retry-after", "1".into()), ("retry-after-ms", "50".into())]),
        );
        let some = fault("503 x2 chance=30% seed=9");
        assert_eq!((some.times, some.chance, some.seed), (Some(2), 30, 9));
    }

    #[test]
    fn a_fault_says_which_requests_it_means() {
        let check = |text: &str, fitting: &[&str], others: &[&str]| {
            let fault = fault(text);
            let fits = |line: &&str| {
                let (method, path) = line.split_once(' ').expect(line);
                fault.fits(method, path, 3)
            };
            assert!(fitting.iter().all(fits), "{text}");
            assert!(!others.iter().any(fits), "{text}");
        };
        check("cut", &["GET /", "POST /a/b"], &[]);
        check(
            "POST /a/*: cut",
            &["POST /a/b", "POST /a/b/?q=1"],
            &["GET /a/b", "POST /a", "POST /a/b/c"],
        );
        check("/a/**: cut", &["GET /a/b/c", "POST /a/b"], &["GET /b"]);
        check("/: cut", &["GET /", "GET /?a"], &["GET /b"]);
        check("GET *: cut", &["GET /", "GET /a/b"], &["POST /a"]);
        check("/a.json: cut", &["GET /a.json"], &["GET /ajson"]);
        check("#4: cut", &["GET /x"], &[]);
        check("#5: cut", &[], &["GET /x"]);
    }

    #[test]
    fn what_is_no_fault_is_refused_with_a_hint() {
        let check = |text: &str| {
            let error = text.parse::<Fault>().expect_err(text);
            assert!(error.hint().is_some(), "{error:?}");
        };
        for text in [
            "",
            "nothing",
            "refus",
            "200",
            "5003",
            "503 x0",
            "503 twice",
            "503 after=1",
            "cut after=x",
            "cut size=1",
            "#0: cut",
            "#x: cut",
            "#3-1: cut",
            "#4:503",
            "close",
            "v1: cut",
            "503 chance=0%",
            "drip every=1",
            "close=1",
            "oversized size=1TiB",
            "503 retry-after=soon",
        ] {
            check(text);
        }
    }
}
