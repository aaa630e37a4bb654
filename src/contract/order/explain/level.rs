//! The word at one level: events, and slices as one.

use std::collections::HashMap;

use crate::contract::order::automaton::Automaton;
use crate::contract::order::event::Event;

/// An event, or all events of a slice.
pub(super) struct Token {
    /// The events, or those of a slice before anything else came.
    pub events: Vec<usize>,
    /// The later events of a slice.
    pub later: Vec<usize>,
    /// The number of the slice's key, and the value.
    pub slice: Option<(usize, String)>,
}

impl Token {
    /// All of its events.
    pub fn all(&self) -> Vec<usize> {
        [self.events.as_slice(), &self.later].concat()
    }
}

/// What an automaton has to read, for some events of a trace.
pub(super) fn tokens(automaton: &Automaton, trace: &[Event<'_>], word: &[usize]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    let mut last = None;
    for event in word.iter().copied() {
        let slice = automaton.slice_of(&trace[event]).map(|(key, value)| (key, value.into_owned()));
        let number = slice.as_ref().and_then(|slice| known.get(slice)).copied();
        match number {
            Some(number) if last == Some(number) && tokens[number].later.is_empty() => {
                tokens[number].events.push(event);
            }
            Some(number) => tokens[number].later.push(event),
            None => {
                if let Some(slice) = &slice {
                    known.insert(slice.clone(), tokens.len());
                }
                tokens.push(Token { events: vec![event], later: Vec::new(), slice });
            }
        }
        last = Some(number.unwrap_or(tokens.len() - 1));
    }
    tokens
}
