//! What somebody types.

use std::io::{self, BufRead as _, IsTerminal as _};

use console::Term;

use super::walk::Key;
use crate::cli::tell;

/// Where keys come from.
pub(super) enum Keys {
    /// One at a time, at once.
    Terminal(Term),
    /// The first letter of each line.
    Lines(io::Lines<io::StdinLock<'static>>),
}

impl Keys {
    /// Single keys where somebody sits at a terminal, else lines of the standard input.
    pub(super) fn of_this_process() -> Self {
        let term = Term::stdout();
        if term.is_term() && io::stdin().is_terminal() {
            return Self::Terminal(term);
        }
        Self::Lines(io::stdin().lock().lines())
    }

    /// The next one; to hear no more is to be told to quit. The terminal is as it was when this
    /// returns, and also if it is interrupted.
    pub(super) fn key(&mut self) -> Key {
        match self {
            Self::Terminal(term) => match term.read_key() {
                Ok(console::Key::Char('\u{4}')) | Err(_) => Key::Quit,
                Ok(console::Key::Char(letter)) => Key::of(letter),
                Ok(console::Key::ArrowLeft) => Key::Previous,
                Ok(console::Key::ArrowRight) => Key::Next,
                Ok(_) => Key::Unknown,
            },
            Self::Lines(lines) => match lines.next() {
                Some(Ok(line)) => line.trim().chars().next().map_or(Key::Unknown, Key::of),
                _ => Key::Quit,
            },
        }
    }

    /// The next line; nothing if it is empty, or no more is heard.
    pub(super) fn line(&mut self) -> Option<String> {
        let line = match self {
            Self::Terminal(term) => term.read_line().ok(),
            Self::Lines(lines) => lines.next().and_then(Result::ok),
        };
        line.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    /// Ends the line on which a key was asked for: a terminal shows nothing of it by itself.
    pub(super) fn echo(&self, said: &str) {
        match self {
            Self::Terminal(_) => tell::data(&format!("{said}\n")),
            Self::Lines(_) => tell::data("\n"),
        }
    }
}
