//! Orders as text.

use std::fmt::{self, Write as _};

use super::expression::{Between, Expression, Pattern, Slice, Times};
use crate::contract::syntax;
use crate::message::DONE;

/// The word that begins a slice.
pub(super) const PER: &str = "per";

/// The word between an order and what its last event is.
pub(super) const ENDS: &str = "ends";

/// Any tag.
pub(super) const ANY: &str = "_";

/// How much deeper the inside of a group stands.
const STEP: usize = 2;

/// How tightly what surrounds an expression binds: what binds less is put into parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Ending,
    Choice,
    Interleaving,
    Sequence,
    Repetition,
}

impl Expression {
    /// The text in lines of at most `width` characters, where that can be.
    pub fn lines(&self, width: usize) -> String {
        let mut wrapped = WrappedText { text: String::new(), column: 0, width };
        wrapped.put(self, Binding::Ending, 0);
        wrapped.text
    }

    fn binding(&self) -> Binding {
        match self {
            Self::Ending(..) => Binding::Ending,
            Self::Choice(_) => Binding::Choice,
            Self::Interleaved(_) => Binding::Interleaving,
            Self::Sequence(_) | Self::Slice(_) => Binding::Sequence,
            Self::Nothing | Self::Event(_) | Self::Repeated(..) => Binding::Repetition,
        }
    }

    /// Whether it needs parentheses where `around` is around it. A sequence in a sequence, a choice
    /// in a choice were not made by the constructors, and keep to their own.
    fn needs_parentheses(&self, around: Binding) -> bool {
        match self {
            Self::Repeated(..) => false,
            Self::Slice(_) => around == Binding::Repetition,
            _ => self.binding() < around,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("()"),
            Self::Event(pattern) => pattern.fmt(f),
            Self::Sequence(parts) => joined(f, parts, " ", Binding::Sequence),
            Self::Choice(parts) => joined(f, parts, " | ", Binding::Interleaving),
            Self::Interleaved(parts) => joined(f, parts, " & ", Binding::Sequence),
            Self::Repeated(inner, times) => {
                let twice = matches!(**inner, Self::Repeated(..));
                part(f, inner, Binding::Repetition, twice)?;
                times.fmt(f)
            }
            Self::Slice(slice) => write!(f, "{} ({})", Head(slice), slice.each),
            Self::Ending(all, last) => {
                part(f, all, Binding::Sequence, false)?;
                write!(f, " {ENDS} ")?;
                part(f, last, Binding::Repetition, false)
            }
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expression],
    between: &str,
    around: Binding,
) -> fmt::Result {
    for (place, expression) in parts.iter().enumerate() {
        if place > 0 {
            f.write_str(between)?;
        }
        part(f, expression, around, false)?;
    }
    Ok(())
}

fn part(
    f: &mut fmt::Formatter<'_>,
    expression: &Expression,
    around: Binding,
    always: bool,
) -> fmt::Result {
    if always || expression.needs_parentheses(around) {
        write!(f, "({expression})")
    } else {
        write!(f, "{expression}")
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            // It needs no quotes, although it has brackets.
            Some(tag) if tag == DONE => f.write_str(DONE)?,
            Some(tag) => write_name(f, tag)?,
            None => f.write_str(ANY)?,
        }
        for (place, guard) in self.guards.iter().enumerate() {
            write!(f, "{}{guard}", if place == 0 { "[" } else { ", " })?;
        }
        f.write_str(if self.guards.is_empty() { "" } else { "]" })
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OPTIONAL => f.write_str("?"),
            Self::ANY => f.write_str("*"),
            Self::SOME => f.write_str("+"),
            Self { min, max: None } => write!(f, "{{{min},}}"),
            Self { min, max: Some(max) } if min == max => write!(f, "{{{min}}}"),
            Self { min, max: Some(max) } => write!(f, "{{{min},{max}}}"),
        }
    }
}

/// What stands before the parenthesis of a slice.
struct Head<'a>(&'a Slice);

impl fmt::Display for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PER} ")?;
        write_name(f, &self.0.key)?;
        f.write_str(match self.0.between {
            Between::Nothing => "",
            Between::Slices => " ~",
            Between::Others => " &",
        })
    }
}

/// A tag, a key or a path, in quotes where it needs them.
pub(super) fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let bare = !name.is_empty() && name.chars().all(is_bare) && ![PER, ENDS, ANY].contains(&name);
    syntax::write_name(f, name, bare)
}

/// Whether a character may stand in a name without quotes.
pub(super) fn is_bare(character: char) -> bool {
    character.is_alphanumeric() || ".-_/".contains(character)
}

/// Text that is broken into lines.
struct WrappedText {
    text: String,
    column: usize,
    width: usize,
}

impl WrappedText {
    fn put(&mut self, expression: &Expression, around: Binding, indent: usize) {
        let flat = expression.to_string();
        if expression.needs_parentheses(around) {
            if self.fits(flat.chars().count() + 2) {
                return self.word(&format!("({flat})"));
            }
            self.group("", expression, indent);
        } else if self.fits(flat.chars().count()) {
            self.word(&flat);
        } else {
            self.broken(expression, indent);
        }
    }

    fn broken(&mut self, expression: &Expression, indent: usize) {
        match expression {
            Expression::Sequence(parts) => self.list(parts, "", Binding::Sequence, indent),
            Expression::Choice(parts) => self.list(parts, "| ", Binding::Interleaving, indent),
            Expression::Interleaved(parts) => self.list(parts, "& ", Binding::Sequence, indent),
            Expression::Slice(slice) => {
                self.group(&format!("{} ", Head(slice)), &slice.each, indent);
            }
            Expression::Repeated(inner, times) => {
                match &**inner {
                    Expression::Slice(slice) => {
                        self.group(&format!("({} ", Head(slice)), &slice.each, indent);
                        self.word(")");
                    }
                    inner => self.group("", inner, indent),
                }
                self.word(&times.to_string());
            }
            Expression::Ending(all, last) => {
                self.put(all, Binding::Sequence, indent);
                self.line(indent);
                self.word(&format!("{ENDS} "));
                self.put(last, Binding::Repetition, indent);
            }
            Expression::Nothing | Expression::Event(_) => self.word(&expression.to_string()),
        }
    }

    /// Parts of a sequence fill the line; each part of a choice begins one.
    fn list(&mut self, parts: &[Expression], sign: &str, around: Binding, indent: usize) {
        for (place, part) in parts.iter().enumerate() {
            let width = part.to_string().chars().count() + STEP;
            if place > 0 && sign.is_empty() && self.fits(width + 1) {
                self.word(" ");
            } else if place > 0 {
                self.line(indent);
                self.word(sign);
            }
            self.put(part, around, indent + if sign.is_empty() { 0 } else { STEP });
        }
    }

    fn group(&mut self, head: &str, inside: &Expression, indent: usize) {
        self.word(head);
        self.word("(");
        self.line(indent + STEP);
        self.put(inside, Binding::Ending, indent + STEP);
        self.line(indent);
        self.word(")");
    }

    fn fits(&self, width: usize) -> bool {
        self.column + width <= self.width
    }

    fn word(&mut self, word: &str) {
        self.column += word.chars().count();
        self.text.push_str(word);
    }

    fn line(&mut self, indent: usize) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        let _ = write!(self.text, "\n{:indent$}", "");
        self.column = indent;
    }
}
