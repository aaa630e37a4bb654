//! A conversation on the terminal, word by word.

use serde_json::Value;

use super::stage;
use crate::cli::tell::{self, CYAN, DIM, GREEN, PLAIN, YELLOW};
use crate::identity::identifiers;

/// Prints who says what while it is said, and keeps all of it.
#[derive(Debug, Default)]
pub(super) struct Voice {
    printed: String,
    speaker: Option<Speaker>,
    column: usize,
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
const MARGIN: usize = stage::INDENT.len() + 11;

impl Voice {
    /// Prints a line of its own.
    pub(super) fn line(&mut self, speaker: Speaker, text: &str) {
        self.hush();
        self.say(speaker, text);
        self.hush();
    }

    /// Prints what an event of a stream says.
    pub(super) fn event(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event["message_type"].as_str() {
            Some("reasoning_message") => self.say(Speaker::Thought, &text(&event["reasoning"])),
            Some("assistant_message") => self.say(Speaker::Agent, &text(&event["content"])),
            Some("approval_request_message") => {
                let call = &event["tool_call"];
                match call["name"].as_str() {
                    Some(name) => self.say(Speaker::Wish, &format!("{name} ")),
                    None => self.say(Speaker::Wish, &text(&call["arguments"])),
                }
            }
            Some("tool_return_message") => {
                self.say(Speaker::Tool, &text(&event["tool_return"]));
            }
            Some("stop_reason") => self.say(Speaker::Stop, &text(&event["stop_reason"])),
            Some("usage_statistics") => {
                self.say(Speaker::Stop, &format!(" after {} tokens", event["completion_tokens"]));
            }
            _ => self.hush(),
        }
    }

    /// Ends the line.
    pub(super) fn hush(&mut self) {
        if self.speaker.take().is_some() {
            self.put("\n", "\n");
        }
    }

    /// All that was printed, uncoloured, unbroken and with whole ids.
    pub(super) fn printed(self) -> String {
        self.printed
    }

    /// Goes on with what this one says, or begins with it.
    fn say(&mut self, speaker: Speaker, text: &str) {
        if self.speaker != Some(speaker) {
            self.hush();
            self.speaker = Some(speaker);
            self.column = MARGIN;
            let (label, colour) = speaker.look();
            let shown = format!("{}{colour}{label:<11}{PLAIN}", stage::INDENT);
            self.put(&format!("{label}: "), &shown);
        }
        let mut rest = text;
        while !rest.is_empty() {
            let space = rest.char_indices().skip(1).find(|(_, c)| *c == ' ');
            let end = space.map_or(rest.len(), |(at, _)| at);
            self.word(speaker, &rest[..end]);
            rest = &rest[end..];
        }
    }

    /// Prints a word and the space before it.
    fn word(&mut self, speaker: Speaker, word: &str) {
        let mut shown = with_short_ids(word);
        let width = shown.chars().count();
        self.column += width;
        if self.column > stage::WIDTH {
            shown = format!("\n{}{}", " ".repeat(MARGIN), shown.trim_start());
            self.column = MARGIN + width;
        }
        if speaker == Speaker::Thought || speaker == Speaker::Stop {
            shown = format!("{DIM}{shown}{PLAIN}");
        }
        self.put(word, &shown);
    }

    fn put(&mut self, text: &str, shown: &str) {
        self.printed.push_str(text);
        tell::data(shown);
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
