//! The order in which events come: a language for it, what runs it, what learns it, and what explains
//! where a trace leaves it.
//!
//! # Example: an order that is written, and one that is learned
//!
//! ```
//! use retape::contract::order::{Event, Learned, Order, Witness, Word};
//!
//! let order: Order = "reasoning+ (call return | answer) [DONE]  # one step".parse()?;
//! let trace = ["reasoning", "reasoning", "call", "return", "[DONE]"].map(Event::plain);
//! assert!(order.accepts(&trace));
//!
//! let words = [
//!     Word::plain(["question", "thought", "answer", "end"], Witness(1)),
//!     Word::plain(["question", "answer", "end"], Witness(2)),
//! ];
//! let learned = Learned::from_words(&words);
//! assert_eq!(learned.expression().to_string(), "question thought? answer end");
//! # Ok::<(), retape::contract::order::ParseErrors>(())
//! ```
//!
//! # The language
//!
//! | written | means |
//! |---|---|
//! | `tool_call`, `[DONE]`, `"any text"` | an event with this tag; letters, digits and `. - _ /` need no quotes |
//! | `_` | an event with any tag |
//! | `a[path="text", other!=1]` | … whose fields are so; the values are JSON without parts |
//! | `a[path="x"\|"y"]` | … whose field says one of these; `!=` says none of these |
//! | `a[path=missing]` | … that has no such field; `!=missing`: that has it |
//! | `a b` | one behind the other |
//! | `a \| b` | one of them; binds less than the rest |
//! | `a & b` | both, their events in any mixture |
//! | `a?` `a*` `a+` `a{2}` `a{2,}` `a{2,5}` | again and again |
//! | `(a b)`, `()` | a group; nothing at all |
//! | `a b? ends (a \| b)` | … whose last event is one of these, as no slice is; a `[DONE]` behind it does not count |
//! | `per key (a b)` | the events of one value of a field, in a row |
//! | `per key ~ (a b)` | the same, with events of other values between them, and nothing else |
//! | `per key & (a b)` | the same, with anything between them |
//! | `# …` | a comment, to the end of the line |
//!
//! # Slices
//!
//! Where an order has a `per key (…)`, every event that has the field `key` belongs to the slice of
//! its value; one with `null` there does not have it. If an order has several keys side by side, the
//! first one that an event has counts. A slice stands for one event in what is around it, at the place
//! of its first event. In a slice, the same holds again for keys inside.

mod align;
mod anywhere;
mod automaton;
mod chance;
mod choice;
mod edges;
mod explain;
mod expression;
mod gain;
mod learned;
mod neighbours;
mod parse;
mod refine;
mod run;
mod slicing;
mod sore;
mod text;
mod word;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

pub use super::syntax::{ParseError, ParseErrors};
pub(in crate::contract) use anywhere::anywhere;
use automaton::Automaton;
pub use automaton::TooLarge;
pub(in crate::contract) use chance::{BY_CHANCE, by_chance};
pub(crate) use chance::{FEWEST, exact};
pub use edges::{Edges, Letter, Place, Witness};
pub use explain::{Deviation, Explanation, Fault, Step};
pub use expression::{Between, Comparison, Expression, Guard, Literal, Pattern, Slice, Times};
pub use gain::Gains;
pub use learned::{Coverage, Learned};
pub use neighbours::Neighbours;
pub use refine::Refinement;
pub use run::{Next, Run};
pub use slicing::Slicing;
pub use word::{Event, Extent, Fields, Token, Word};

/// An order that traces can be held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    expression: Expression,
    automaton: Automaton,
}

impl Order {
    /// The order that an expression says.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if interleaving or counting give it too many states.
    pub fn new(expression: Expression) -> Result<Self, TooLarge> {
        let automaton = Automaton::new(&expression)?;
        Ok(Self { expression, automaton })
    }

    /// The same where events of these types may be missing; none if it has none of them.
    pub(crate) fn with_optional(&self, tags: &BTreeSet<String>) -> Option<Self> {
        let label = |tag: &str| {
            let event = Expression::tag(tag);
            if tags.contains(tag) { event.repeated(Times::OPTIONAL) } else { event }
        };
        let expression = self.expression.clone().with_tags(&label);
        let order = (expression != self.expression).then(|| Self::new(expression))?.ok()?;
        Some(order.with_anywhere(self.anywhere().clone()))
    }

    /// With types of events that may come anywhere, and of which it says nothing else.
    #[must_use]
    pub fn with_anywhere(mut self, tags: BTreeSet<String>) -> Self {
        self.automaton.anywhere = tags;
        self
    }

    /// The types of events that may come anywhere.
    pub fn anywhere(&self) -> &BTreeSet<String> {
        &self.automaton.anywhere
    }

    /// What it says.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Begins a run over a trace.
    pub fn run(&self) -> Run<'_> {
        Run::new(&self.automaton)
    }

    /// Whether a whole trace is in order.
    pub fn accepts(&self, trace: &[Event<'_>]) -> bool {
        let mut run = self.run();
        trace.iter().all(|event| run.push(event)) && run.is_complete()
    }

    /// Whether a trace is in order, as far as it came.
    pub(crate) fn keeps(&self, word: &Word) -> bool {
        let (events, mut run) = (word.events(), self.run());
        events.iter().all(|event| run.push(event)) && (!word.extent.is_whole() || run.is_complete())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}

impl FromStr for Expression {
    type Err = ParseErrors;

    /// # Errors
    ///
    /// All that is wrong with the text, at once.
    fn from_str(text: &str) -> Result<Self, ParseErrors> {
        parse::parse(text, 0..text.len()).map_err(|errors| ParseErrors::new(text, errors))
    }
}

impl FromStr for Order {
    type Err = ParseErrors;

    /// # Errors
    ///
    /// All that is wrong with the text, at once, or that it has too many states.
    fn from_str(text: &str) -> Result<Self, ParseErrors> {
        Self::within(text, 0..text.len()).map_err(|errors| ParseErrors::new(text, errors))
    }
}
