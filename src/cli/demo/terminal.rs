//! How the demo tells its story, and a conversation word by word.

use serde_json::Value;

use crate::cli::tell::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, YELLOW};
use crate::identity::identifiers;
use crate::review::report::wrap;

/// What all but headings begin with.
const INDENT: &str = "   ";

/// The columns of a line.
pub(super) const WIDTH: usize = 80;

/// The columns before a line that is quoted.
pub(super) const QUOTE: usize = INDENT.len() + 2;

pub(super) fn title(name: &str, what: &str) {
    tell::data(&format!("{BOLD}{name}{PLAIN} · {what}\n"));
}

pub(super) fn act(number: usize, title: &str) {
    tell::data(&format!("\n{CYAN}{number}{PLAIN}  {BOLD}{title}{PLAIN}\n"));
}

pub(super) fn heading(title: &str) {
    tell::data(&format!("\n{INDENT}{BOLD}{title}{PLAIN}\n"));
}

/// Some sentences, in lines that fit.
pub(super) fn text(sentences: &str) {
    for line in wrap(sentences, WIDTH - INDENT.len(), usize::MAX) {
        tell::data(&format!("{INDENT}{}\n", line.trim_end()));
    }
}

/// Lines that another part of retape wrote.
pub(super) fn quote(lines: impl IntoIterator<Item = String>) {
    for line in lines {
        let space = if line.is_empty() { "" } else { " " };
        tell::data(&format!("{INDENT}{DIM}│{PLAIN}{space}{line}\n"));
    }
}

/// A command to copy, below what it does.
pub(super) fn command(what: &str, command: &str) {
    tell::data(&format!("{INDENT}{DIM}# {what}{PLAIN}\n{INDENT}{command}\n"));
}

pub(super) fn gap() {
    tell::data("\n");
}

pub(super) fn passed(verdict: &str) {
    tell::data(&format!("\n{GREEN}✓ {verdict}{PLAIN}\n"));
}

pub(super) fn failed(finding: &str) {
    tell::data(&format!("\n{RED}✗{PLAIN} {finding}\n"));
}

/// The explanation of a miss without its hints, what differs in colour.
pub(super) fn brief(explanation: &str) -> impl Iterator<Item = String> {
    let lines = explanation.lines().take_while(|line| !line.starts_with("hint:"));
    lines.map(with_short_ids).map(|line| match line.trim_start().chars().next() {
        Some('-') => format!("{RED}{line}{PLAIN}"),
        Some('+') => format!("{GREEN}{line}{PLAIN}"),
        _ => line,
    })
}

/// Prints who says what while it is said, and keeps all of it.
#[derive(Debug, Default)]
pub(super) struct Voice {
    /// All that was printed, uncoloured, unbroken and with whole ids.
    pub(super) printed: String,
    loudness: Loudness,
    speaker: Option<Speaker>,
    column: usize,
}

/// Whether what is said is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Loudness {
    #[default]
    Aloud,
    Silent,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Client,
    Server,
    Thought,
    Agent,
    Wish,
    Tool,
    Stop,
}

/// Where what is said begins.
const MARGIN: usize = INDENT.len() + 11;

impl Voice {
    pub(super) fn new(loudness: Loudness) -> Self {
        Self { loudness, ..Self::default() }
    }

    /// Prints a line of its own.
    pub(super) fn line(&mut self, speaker: Speaker, text: &str) {
        self.hush();
        self.say(speaker, text);
        self.hush();
    }

    /// Prints what an event of a stream says.
    pub(super) fn event(&mut self, event: &Value) {
        let call = &event["tool_call"];
        let (speaker, said) = match event["message_type"].as_str() {
            Some("reasoning_message") => (Speaker::Thought, &event["reasoning"]),
            Some("assistant_message") => (Speaker::Agent, &event["content"]),
            Some("approval_request_message") => match call["name"].as_str() {
                Some(name) => return self.say(Speaker::Wish, &format!("{name} ")),
                None => (Speaker::Wish, &call["arguments"]),
            },
            Some("tool_return_message") => (Speaker::Tool, &event["tool_return"]),
            Some("stop_reason") => (Speaker::Stop, &event["stop_reason"]),
            Some("usage_statistics") => {
                let count = format!(" after {} tokens", event["completion_tokens"]);
                return self.say(Speaker::Stop, &count);
            }
            _ => return self.hush(),
        };
        self.say(speaker, said.as_str().unwrap_or_default());
    }

    /// Ends the line.
    pub(super) fn hush(&mut self) {
        if self.speaker.take().is_some() {
            self.put("\n", "\n");
        }
    }

    /// Goes on with what this one says, or begins with it.
    fn say(&mut self, speaker: Speaker, text: &str) {
        if self.speaker != Some(speaker) {
            self.hush();
            self.speaker = Some(speaker);
            self.column = MARGIN;
            let (label, colour) = speaker.look();
            self.put(&format!("{label}: "), &format!("{INDENT}{colour}{label:<11}{PLAIN}"));
        }
        let mut rest = text;
        while !rest.is_empty() {
            let space = rest.char_indices().skip(1).find(|(_, c)| *c == ' ');
            let (word, behind) = rest.split_at(space.map_or(rest.len(), |(at, _)| at));
            self.word(speaker, word);
            rest = behind;
        }
    }

    /// Prints a word and the space before it.
    fn word(&mut self, speaker: Speaker, word: &str) {
        let mut shown = with_short_ids(word);
        let width = shown.chars().count();
        self.column += width;
        if self.column > WIDTH {
            shown = format!("\n{}{}", " ".repeat(MARGIN), shown.trim_start());
            self.column = MARGIN + width;
        }
        if matches!(speaker, Speaker::Thought | Speaker::Stop) {
            shown = format!("{DIM}{shown}{PLAIN}");
        }
        self.put(word, &shown);
    }

    fn put(&mut self, text: &str, shown: &str) {
        self.printed.push_str(text);
        if self.loudness == Loudness::Aloud {
            tell::data(shown);
        }
    }
}

impl Speaker {
    fn look(self) -> (&'static str, &'static str) {
        match self {
            Self::Client => ("you", CYAN),
            Self::Server => ("server", DIM),
            Self::Thought => ("reasoning", DIM),
            Self::Agent => ("assistant", GREEN),
            Self::Wish => ("approval?", YELLOW),
            Self::Tool => ("tool", YELLOW),
            Self::Stop => ("stop", DIM),
        }
    }
}

/// The text with only the beginning of each id, as people tell ids apart.
fn with_short_ids(text: &str) -> String {
    let mut short = String::new();
    let mut rest = 0;
    for id in identifiers(text) {
        short.push_str(&text[rest..id.start + 8]);
        short.push('…');
        rest = id.end;
    }
    short + &text[rest..]
}
