//! Orders from text.
//!
//! The parser is written by hand: it goes on behind what it does not understand, so that everything
//! that is wrong is said at once.

mod cursor;
mod error;

use cursor::Cursor;
use error::{DEEPEST, MOST_TIMES};
pub use error::{ParseError, ParseErrors, Problem};

use super::expression::{Between, Expression, Pattern, Times};
use super::guard::{Comparison, Guard, Literal};
use super::text::{ANY, DONE, PER};

/// The expression that a text says.
pub(super) fn parse(text: &str) -> Result<Expression, ParseErrors> {
    let mut parser = Parser { cursor: Cursor::new(text), depth: 0 };
    let expression = parser.all();
    let errors = parser.cursor.errors;
    if errors.is_empty() { Ok(expression) } else { Err(ParseErrors::new(text, errors)) }
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    depth: usize,
}

/// Something that can be repeated, or a slice, which has to be put into a group first.
enum Item {
    Plain(Expression),
    Slice(Expression),
}

impl Parser<'_> {
    fn all(&mut self) -> Expression {
        let mut parts = vec![self.choice()];
        while self.cursor.peek().is_some() {
            // Only a parenthesis that nothing opened ends a choice before the end.
            self.cursor.wrong_here(Problem::GroupNotOpen);
            self.cursor.take(')');
            self.cursor.skip_space();
            if self.cursor.peek().is_some_and(|next| next != ')') {
                parts.push(self.choice());
            }
        }
        Expression::sequence(parts)
    }

    fn choice(&mut self) -> Expression {
        let mut parts = vec![self.interleaving()];
        while self.cursor.take('|') {
            parts.push(self.interleaving());
        }
        Expression::choice(parts)
    }

    fn interleaving(&mut self) -> Expression {
        let mut parts = vec![self.sequence()];
        while self.cursor.take('&') {
            parts.push(self.sequence());
        }
        Expression::interleaved(parts)
    }

    fn sequence(&mut self) -> Expression {
        let (mut parts, errors) = (Vec::new(), self.cursor.errors.len());
        self.cursor.skip_space();
        while self.cursor.peek().is_some_and(|next| !"|&)".contains(next)) {
            if let Some(part) = self.repeated() {
                parts.push(part);
            }
            self.cursor.skip_space();
        }
        if parts.is_empty() && self.cursor.errors.len() == errors {
            self.cursor.wrong_here(Problem::TagMissing);
        }
        Expression::sequence(parts)
    }

    fn repeated(&mut self) -> Option<Expression> {
        let start = self.cursor.at;
        let item = self.item();
        let (mut all, slice) = match item {
            Some(Item::Plain(expression)) => (expression, false),
            Some(Item::Slice(expression)) => (expression, true),
            None => (Expression::Nothing, false),
        };
        let behind = self.cursor.at;
        while let Some(times) = self.times() {
            all = all.repeated(times);
        }
        let signs = behind..self.cursor.at;
        if slice && !signs.is_empty() {
            self.cursor.wrong(Problem::SliceRepeated, signs);
        } else if start == behind {
            let unknown = |character| !is_sign(character) && !"()|&?*+{#".contains(character);
            if signs.is_empty() {
                let span = self.cursor.skip_while(unknown);
                self.cursor.wrong(Problem::Unexpected, span);
            } else {
                self.cursor.wrong(Problem::TimesOfNothing, signs);
            }
        }
        (start != behind).then_some(all)
    }

    /// A tag, a group or a slice; none if nothing of these begins here.
    fn item(&mut self) -> Option<Item> {
        match self.cursor.peek()? {
            '(' => self.group().map(Item::Plain),
            '"' => {
                let tag = self.cursor.quoted();
                Some(Item::Plain(self.event(Some(tag))))
            }
            '[' if self.cursor.rest().starts_with(DONE) => {
                self.cursor.at += DONE.len();
                Some(Item::Plain(self.event(Some(DONE.to_owned()))))
            }
            _ => match self.cursor.bare() {
                "" => None,
                PER => Some(Item::Slice(self.slice())),
                ANY => Some(Item::Plain(self.event(None))),
                tag => Some(Item::Plain(self.event(Some(tag.to_owned())))),
            },
        }
    }

    fn group(&mut self) -> Option<Expression> {
        let start = self.cursor.at;
        if self.depth == DEEPEST {
            self.cursor.wrong(Problem::TooDeep, start..start + 1);
            // What is inside is not looked at: the rest of the text cannot be told from it.
            self.cursor.at = self.cursor.text.len();
            return None;
        }
        self.cursor.at += 1;
        self.cursor.skip_space();
        if self.cursor.take(')') {
            return Some(Expression::Nothing);
        }
        self.depth += 1;
        let inside = self.choice();
        self.depth -= 1;
        let deeper = self.cursor.errors.iter().any(|error| error.problem == Problem::TooDeep);
        if !self.cursor.take(')') && !deeper {
            self.cursor.wrong(Problem::GroupOpen, start..start + 1);
        }
        Some(inside)
    }

    /// What stands behind `per`.
    fn slice(&mut self) -> Expression {
        let start = self.cursor.at - PER.len();
        self.cursor.skip_space();
        let key = self.cursor.name();
        if key.is_none() {
            self.cursor.wrong(Problem::KeyMissing, start..start + PER.len());
        }
        self.cursor.skip_space();
        let between = if self.cursor.take('&') { Between::Others } else { Between::Nothing };
        self.cursor.skip_space();
        let each = if self.cursor.peek() == Some('(') {
            self.group()
        } else {
            if key.is_some() {
                self.cursor.wrong(Problem::SliceWithoutGroup, start..self.cursor.at);
            }
            None
        };
        let each = each.unwrap_or(Expression::Nothing);
        Expression::per(key.unwrap_or_default(), between, each)
    }

    fn event(&mut self, tag: Option<String>) -> Expression {
        let mut guards = Vec::new();
        if self.cursor.peek() == Some('[') {
            self.guards(&mut guards);
        }
        Expression::Event(Pattern { tag, guards })
    }

    fn guards(&mut self, guards: &mut Vec<Guard>) {
        let start = self.cursor.at;
        self.cursor.at += 1;
        loop {
            self.cursor.skip_space();
            let from = self.cursor.at;
            match self.guard() {
                Some(guard) => guards.push(guard),
                None => {
                    let rest = self.cursor.skip_while(|character| !",])(|\n".contains(character));
                    self.cursor.wrong(Problem::GuardMalformed, from..rest.end);
                }
            }
            self.cursor.skip_space();
            if !self.cursor.take(',') {
                break;
            }
        }
        if !self.cursor.take(']') {
            self.cursor.wrong(Problem::GuardOpen, start..start + 1);
        }
    }

    fn guard(&mut self) -> Option<Guard> {
        let path = self.cursor.name()?;
        self.cursor.skip_space();
        let different = self.cursor.take('!');
        if !self.cursor.take('=') {
            return None;
        }
        let comparison = if different { Comparison::Different } else { Comparison::Equal };
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            if !self.cursor.take('|') {
                break;
            }
        }
        let ends = self.cursor.peek().is_none_or(|next| next == ',' || next == ']');
        ends.then_some(Guard { path, comparison, values })
    }

    /// A value of a guard, with the space around it.
    fn value(&mut self) -> Option<Literal> {
        self.cursor.skip_space();
        let value = if self.cursor.peek() == Some('"') {
            Literal::Text(self.cursor.quoted())
        } else {
            let span = self.cursor.skip_while(is_bare_value);
            let value = Literal::parse(&self.cursor.text[span.clone()]);
            self.cursor.at = if value.is_some() { span.end } else { span.start };
            value?
        };
        self.cursor.skip_space();
        Some(value)
    }

    /// A repetition, if one stands here.
    fn times(&mut self) -> Option<Times> {
        let start = self.cursor.at;
        let sign = self.cursor.peek().filter(|sign| "?*+{".contains(*sign))?;
        self.cursor.at += 1;
        match sign {
            '?' => Some(Times::OPTIONAL),
            '*' => Some(Times::ANY),
            '+' => Some(Times::SOME),
            _ => Some(self.counted(start)),
        }
    }

    /// What stands behind `{`.
    fn counted(&mut self, start: usize) -> Times {
        let inside = self.cursor.skip_while(|character| !"}()|&#\n".contains(character));
        let closed = self.cursor.take('}');
        let span = start..self.cursor.at;
        let read = if closed { bounds(&self.cursor.text[inside]) } else { None };
        let problem = match read {
            None => Problem::TimesMalformed,
            Some((min, max)) if min.max(max.unwrap_or(0)) > u64::from(MOST_TIMES) => {
                Problem::TimesTooMany
            }
            Some((min, Some(max))) if max < min || max == 0 => Problem::TimesEmpty,
            Some((min, max)) => {
                let number = |count: u64| u32::try_from(count).unwrap_or(MOST_TIMES);
                return Times { min: number(min), max: max.map(number) };
            }
        };
        self.cursor.wrong(problem, span);
        Times::ANY
    }
}

/// The numbers between the braces.
fn bounds(inside: &str) -> Option<(u64, Option<u64>)> {
    let number = |text: &str| {
        let text = text.trim();
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that does not fit is too large in any case.
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match inside.split_once(',') {
        None => number(inside).map(|count| (count, Some(count))),
        Some((min, max)) if max.trim().is_empty() => Some((number(min)?, None)),
        Some((min, max)) => Some((number(min)?, Some(number(max)?))),
    }
}

/// Whether something that is understood begins with it.
fn is_sign(character: char) -> bool {
    character.is_whitespace() || character == '"' || super::text::is_bare(character)
}

/// Whether it may stand in a number, `true`, `false` or `null`.
fn is_bare_value(character: char) -> bool {
    character.is_ascii_alphanumeric() || "+-.".contains(character)
}
