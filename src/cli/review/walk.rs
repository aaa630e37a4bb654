//! Where somebody stands who decides about one thing after the other.

use std::io::{self, BufRead as _, IsTerminal as _};

use console::Term;

use crate::cli::tell;
use crate::review::report::Extent;

/// What somebody asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Decide(Decision),
    /// This one and all that are left.
    DecideAll(Decision),
    Next,
    Previous,
    More,
    Help,
    Quit,
    /// One that says nothing here.
    Unknown,
}

/// What was decided about one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Accepted,
    Rejected,
    Skipped,
}

/// What is to be done after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Show the thing where it stands.
    Show,
    /// Say what the keys mean, and ask again.
    Help,
    /// Ask again.
    Ask,
    /// All is decided, or the rest is left.
    End,
}

/// A walk along things, which ends when all are decided.
#[derive(Debug)]
pub(super) struct Walk {
    /// What was decided about each; nothing is a thing that was left.
    pub(super) decisions: Vec<Option<Decision>>,
    /// Which thing is looked at, counted from 0.
    pub(super) at: usize,
    /// How much of it.
    pub(super) extent: Extent,
}

impl Key {
    pub(super) fn of(letter: char) -> Self {
        match letter {
            'a' => Self::Decide(Decision::Accepted),
            'r' => Self::Decide(Decision::Rejected),
            's' => Self::Decide(Decision::Skipped),
            'n' => Self::Next,
            'p' => Self::Previous,
            'm' => Self::More,
            'A' => Self::DecideAll(Decision::Accepted),
            'R' => Self::DecideAll(Decision::Rejected),
            'S' => Self::DecideAll(Decision::Skipped),
            'q' => Self::Quit,
            '?' | 'h' => Self::Help,
            _ => Self::Unknown,
        }
    }

    /// What it decides about the thing that is looked at, whatever was decided before.
    pub(super) fn decides(self) -> Option<Decision> {
        match self {
            Self::Decide(decision) | Self::DecideAll(decision) => Some(decision),
            _ => None,
        }
    }
}

impl Walk {
    /// At the first of so many things.
    pub(super) fn new(things: usize) -> Self {
        Self { decisions: vec![None; things], at: 0, extent: Extent::Changed }
    }

    /// What was decided about the thing that is looked at, if somebody came back to it.
    pub(super) fn decided(&self) -> Option<Decision> {
        self.decisions.get(self.at).copied().flatten()
    }

    pub(super) fn press(&mut self, key: Key) -> Reaction {
        match key {
            Key::Decide(decision) => self.decide(decision),
            Key::DecideAll(decision) => self.decide_all(decision),
            Key::Next => self.decide(self.decided().unwrap_or(Decision::Skipped)),
            Key::Previous => {
                self.go(self.at.saturating_sub(1));
                Reaction::Show
            }
            Key::More => {
                self.extent = match self.extent {
                    Extent::Changed => Extent::Whole,
                    Extent::Whole => Extent::Changed,
                };
                Reaction::Show
            }
            Key::Help => Reaction::Help,
            Key::Unknown => Reaction::Ask,
            Key::Quit => Reaction::End,
        }
    }

    fn decide(&mut self, decision: Decision) -> Reaction {
        self.decisions[self.at] = Some(decision);
        // Behind a thing that somebody came back to stand others that are decided.
        let open = |place: &usize| self.decisions[*place].is_none();
        let next = (self.at + 1..self.decisions.len()).find(open);
        match next.or_else(|| (0..self.at).find(open)) {
            Some(next) => {
                self.go(next);
                Reaction::Show
            }
            None => Reaction::End,
        }
    }

    /// Decides about the thing that is looked at and all that are open.
    fn decide_all(&mut self, decision: Decision) -> Reaction {
        self.decisions[self.at] = Some(decision);
        for open in self.decisions.iter_mut().filter(|it| it.is_none()) {
            *open = Some(decision);
        }
        Reaction::End
    }

    fn go(&mut self, to: usize) {
        self.at = to;
        self.extent = Extent::Changed;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Presses keys: what was decided, a letter each, and where it stands in the end.
    fn check(things: usize, keys: &str, decided: &str, at: usize) {
        let mut walk = Walk::new(things);
        for letter in keys.chars() {
            walk.press(Key::of(letter));
        }
        let letter = |decision: &Option<Decision>| match decision {
            None => '-',
            Some(Decision::Accepted) => 'a',
            Some(Decision::Rejected) => 'r',
            Some(Decision::Skipped) => 's',
        };
        let letters: String = walk.decisions.iter().map(letter).collect();
        assert_eq!((letters.as_str(), walk.at), (decided, at), "{keys}");
    }

    #[test]
    fn each_key_decides_about_the_thing_that_is_shown() {
        check(3, "ar", "ar-", 2);
        check(3, "nsx?a", "ssa", 2);
        check(3, "aA", "aaa", 1);
        check(3, "rS", "rss", 1);
        check(2, "q", "--", 0);
    }

    #[test]
    fn who_goes_back_decides_anew_and_goes_on_where_something_is_open() {
        check(3, "app", "a--", 0);
        check(3, "aapr", "ar-", 2);
        check(3, "aappr", "ra-", 2);
        check(3, "apn", "a--", 1);
        check(3, "rpA", "aaa", 0);
    }

    #[test]
    fn more_is_shown_of_one_thing_only() {
        let mut walk = Walk::new(2);

        assert_eq!(walk.press(Key::More), Reaction::Show);
        assert_eq!(walk.extent, Extent::Whole);
        walk.press(Key::of('a'));
        assert_eq!(walk.extent, Extent::Changed);
    }

    #[test]
    fn it_ends_when_nothing_is_open() {
        let mut walk = Walk::new(2);

        assert_eq!(walk.press(Key::of('s')), Reaction::Show);
        assert_eq!(walk.press(Key::Unknown), Reaction::Ask);
        assert_eq!(walk.press(Key::of('a')), Reaction::End);
    }
}
