//! Orders from text.
//!
//! The parser is written by hand: it goes on behind what it does not understand, so that everything
//! that is wrong is said at once.

use std::ops::Range;

use super::expression::{Between, Expression, Pattern, Times};
use super::expression::{Comparison, Guard, Literal};
use super::text::{ANY, ENDS, PER, is_bare};
use super::{Order, TooLarge};
use crate::contract::syntax::{Cursor, ParseError};
use crate::message::DONE;

/// The largest number in a repetition.
const MOST_TIMES: u32 = 1000;

/// How many groups may stand in one another.
const DEEPEST: usize = 64;

impl Order {
    /// The order that a part of a text says.
    pub(in crate::contract) fn within(
        text: &str,
        part: Range<usize>,
    ) -> Result<Self, Vec<ParseError>> {
        let expression = parse(text, part.clone())?;
        Self::new(expression).map_err(|TooLarge| vec![ParseError::new(part, TooLarge.to_string())])
    }
}

/// The expression that a part of a text says.
pub(super) fn parse(text: &str, part: Range<usize>) -> Result<Expression, Vec<ParseError>> {
    let mut parser = Parser {
        cursor: Cursor::new(text, part),
        errors: Vec::new(),
        depth: 0,
        is_too_deep: false,
    };
    let expression = parser.all();
    if parser.errors.is_empty() { Ok(expression) } else { Err(parser.errors) }
}

/// Reads the text from left to right and gathers what is wrong with it.
struct Parser<'t> {
    cursor: Cursor<'t>,
    errors: Vec<ParseError>,
    depth: usize,
    is_too_deep: bool,
}

/// Something that can be repeated, or a slice, which has to be put into a group first.
enum OrderTerm {
    Plain(Expression),
    Slice(Expression),
}

impl Parser<'_> {
    fn all(&mut self) -> Expression {
        let mut parts = vec![self.whole()];
        while self.cursor.peek().is_some() {
            // Only a parenthesis that nothing opened ends a choice before the end.
            self.wrong(self.cursor.here(), "no group is open here", None);
            self.cursor.eat(")");
            self.skip_space();
            if self.cursor.peek().is_some_and(|next| next != ')') {
                parts.push(self.whole());
            }
        }
        Expression::sequence(parts)
    }

    /// All that stands in a group.
    fn whole(&mut self) -> Expression {
        let all = self.choice();
        let start = self.cursor.at;
        if !self.is_end() {
            return all;
        }
        self.cursor.at += ENDS.len();
        self.skip_space();
        let errors = self.errors.len();
        let is_said = self.cursor.peek().is_some_and(|next| !"|&)".contains(next));
        let last = match is_said.then(|| self.repeated()).flatten() {
            Some(last) => all.ending(last),
            None => all,
        };
        if self.errors.len() == errors && !matches!(last, Expression::Ending(..)) {
            self.wrong(start..self.cursor.at, "the last event is missing here", Some(LAST));
        }
        self.skip_space();
        last
    }

    /// Whether it is said here what the last event is.
    fn is_end(&self) -> bool {
        let behind = self.cursor.rest().strip_prefix(ENDS);
        behind.is_some_and(|behind| !behind.starts_with(is_bare))
    }

    fn choice(&mut self) -> Expression {
        let mut parts = vec![self.interleaving()];
        while self.cursor.eat("|") {
            parts.push(self.interleaving());
        }
        Expression::choice(parts)
    }

    fn interleaving(&mut self) -> Expression {
        let mut parts = vec![self.sequence()];
        while self.cursor.eat("&") {
            parts.push(self.sequence());
        }
        Expression::interleaved(parts)
    }

    fn sequence(&mut self) -> Expression {
        let (mut parts, errors) = (Vec::new(), self.errors.len());
        self.skip_space();
        while self.cursor.peek().is_some_and(|next| !"|&)".contains(next)) && !self.is_end() {
            if let Some(part) = self.repeated() {
                parts.push(part);
            }
            self.skip_space();
        }
        if parts.is_empty() && self.errors.len() == errors {
            let hint = Some("`()` is no event at all, `_` is any event");
            self.wrong(self.cursor.here(), "a tag or a group is missing here", hint);
        }
        Expression::sequence(parts)
    }

    fn repeated(&mut self) -> Option<Expression> {
        let start = self.cursor.at;
        let item = self.item();
        let (mut all, slice) = match item {
            Some(OrderTerm::Plain(expression)) => (expression, false),
            Some(OrderTerm::Slice(expression)) => (expression, true),
            None => (Expression::Nothing, false),
        };
        let behind = self.cursor.at;
        while let Some(times) = self.times() {
            all = all.repeated(times);
        }
        let signs = behind..self.cursor.at;
        if slice && !signs.is_empty() {
            let hint = Some("write `(per key (…))*` or `per key ((…)*)`");
            self.wrong(signs, "this repeats the slice or what is in it", hint);
        } else if start == behind {
            let unknown = |character| !is_sign(character) && !"()|&?*+{#".contains(character);
            if signs.is_empty() {
                self.cursor.eat_while(unknown);
                let hint = "a tag with other signs than letters, digits and `. - _ /` is quoted";
                self.wrong(start..self.cursor.at, "this means nothing in an order", Some(hint));
            } else {
                let hint = Some("a repetition stands behind a tag or a group");
                self.wrong(signs, "there is nothing to repeat", hint);
            }
        }
        (start != behind).then_some(all)
    }

    /// A tag, a group or a slice; none if nothing of these begins here.
    fn item(&mut self) -> Option<OrderTerm> {
        match self.cursor.peek()? {
            '(' => self.group().map(OrderTerm::Plain),
            '"' => {
                let tag = self.quoted();
                Some(OrderTerm::Plain(self.event(Some(tag))))
            }
            '[' if self.cursor.rest().starts_with(DONE) => {
                self.cursor.at += DONE.len();
                Some(OrderTerm::Plain(self.event(Some(DONE.to_owned()))))
            }
            _ => match self.cursor.eat_while(is_bare) {
                "" => None,
                PER => Some(OrderTerm::Slice(self.slice())),
                ANY => Some(OrderTerm::Plain(self.event(None))),
                tag => Some(OrderTerm::Plain(self.event(Some(tag.to_owned())))),
            },
        }
    }

    fn group(&mut self) -> Option<Expression> {
        let start = self.cursor.at;
        if self.depth == DEEPEST {
            self.is_too_deep = true;
            let what = format!("more than {DEEPEST} groups stand in one another");
            self.wrong(start..start + 1, &what, None);
            // What is inside is not looked at: the rest of the text cannot be told from it.
            self.cursor.at = self.cursor.text.len();
            return None;
        }
        self.cursor.at += 1;
        self.skip_space();
        if self.cursor.eat(")") {
            return Some(Expression::Nothing);
        }
        self.depth += 1;
        let inside = self.whole();
        self.depth -= 1;
        if !self.cursor.eat(")") && !self.is_too_deep {
            self.wrong(start..start + 1, "this group is not closed", None);
        }
        Some(inside)
    }

    /// What stands behind `per`.
    fn slice(&mut self) -> Expression {
        let start = self.cursor.at - PER.len();
        self.skip_space();
        let key = self.name();
        if key.is_none() {
            self.wrong(start..start + PER.len(), "a slice needs a key", Some(SLICE));
        }
        self.skip_space();
        let between = match () {
            () if self.cursor.eat("~") => Between::Slices,
            () if self.cursor.eat("&") => Between::Others,
            () => Between::Nothing,
        };
        self.skip_space();
        let each = if self.cursor.peek() == Some('(') {
            self.group()
        } else {
            if key.is_some() {
                let what = "a slice needs a group behind its key";
                self.wrong(start..self.cursor.at, what, Some(SLICE));
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
            self.skip_space();
            let from = self.cursor.at;
            match self.guard() {
                Some(guard) => guards.push(guard),
                None => {
                    self.cursor.eat_while(|character| !",])(|\n".contains(character));
                    self.wrong(from..self.cursor.at, "this is no guard", Some(GUARD));
                }
            }
            self.skip_space();
            if !self.cursor.eat(",") {
                break;
            }
        }
        if !self.cursor.eat("]") {
            self.wrong(start..start + 1, "this guard is not closed", None);
        }
    }

    fn guard(&mut self) -> Option<Guard> {
        let path = self.name()?;
        self.skip_space();
        let different = self.cursor.eat("!");
        if !self.cursor.eat("=") {
            return None;
        }
        let comparison = if different { Comparison::Different } else { Comparison::Equal };
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            if !self.cursor.eat("|") {
                break;
            }
        }
        let ends = self.cursor.peek().is_none_or(|next| next == ',' || next == ']');
        ends.then_some(Guard { path, comparison, values })
    }

    /// A value of a guard, with the space around it.
    fn value(&mut self) -> Option<Literal> {
        self.skip_space();
        let value = if self.cursor.peek() == Some('"') {
            Literal::Text(self.quoted())
        } else {
            let start = self.cursor.at;
            let value = Literal::parse(self.cursor.eat_while(is_bare_value));
            self.cursor.at = if value.is_some() { self.cursor.at } else { start };
            value?
        };
        self.skip_space();
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
        let inside = self.cursor.eat_while(|character| !"}()|&#\n".contains(character));
        let read = if self.cursor.eat("}") { bounds(inside) } else { None };
        let too_many = format!("more than {MOST_TIMES} times cannot be counted");
        let (what, hint) = match read {
            None => ("this is no repetition", Some("write `{2}`, `{2,}` or `{2,5}`")),
            Some((min, max)) if min.max(max.unwrap_or(0)) > u64::from(MOST_TIMES) => {
                (too_many.as_str(), None)
            }
            Some((min, Some(max))) if max < min || max == 0 => {
                ("nothing can be repeated so often", None)
            }
            Some((min, max)) => {
                let number = |count: u64| u32::try_from(count).unwrap_or(MOST_TIMES);
                return Times { min: number(min), max: max.map(number) };
            }
        };
        self.wrong(start..self.cursor.at, what, hint);
        Times::ANY
    }

    /// A name, bare or in quotes. What is wrong with the quotes is gathered, and what stands between
    /// them is the name then.
    fn name(&mut self) -> Option<String> {
        if self.cursor.peek() == Some('"') {
            return Some(self.quoted());
        }
        Some(self.cursor.eat_while(is_bare)).filter(|word| !word.is_empty()).map(str::to_owned)
    }

    /// The text of a JSON string that begins here.
    fn quoted(&mut self) -> String {
        if let Some(text) = self.cursor.eat_string() {
            return text;
        }
        let (start, rest) = (self.cursor.at, &self.cursor.rest()[1..]);
        let mut escaped = false;
        let end = rest.char_indices().find(|(_, character)| {
            let closes = *character == '"' && !escaped;
            escaped = *character == '\\' && !escaped;
            closes || *character == '\n'
        });
        let length = end.map_or(rest.len(), |(at, end)| at + usize::from(end == '"'));
        self.cursor.at += 1 + length;
        let hint = Some("quotes and escapes are those of JSON");
        self.wrong(start..self.cursor.at, "this is no quoted text", hint);
        rest[..length].trim_matches('"').to_owned()
    }

    /// Goes on to what is neither white space nor a comment.
    fn skip_space(&mut self) {
        self.cursor.eat_space();
        while self.cursor.peek() == Some('#') {
            self.cursor.eat_while(|character| character != '\n');
            self.cursor.eat_space();
        }
    }

    fn wrong(&mut self, span: Range<usize>, what: &str, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.errors.push(ParseError { span, what: what.to_owned(), hint });
    }
}

const LAST: &str =
    "write `… ends stop` or `… ends (stop | error)`; the tag `ends` itself is quoted";

const SLICE: &str = "write `per step_id (…)`; the tag `per` itself is quoted";

const GUARD: &str =
    "write `[path=\"text\"|\"other\"]` or `[path!=1, other=true]`, with a space before `[DONE]`";

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
    character.is_whitespace() || character == '"' || is_bare(character)
}

/// Whether it may stand in a number, `true`, `false` or `null`.
fn is_bare_value(character: char) -> bool {
    character.is_ascii_alphanumeric() || "+-.".contains(character)
}
