//! Types on one line.

use super::cursor::Cursor;
use super::error::{ParseError, Problem};
use super::lines::Line;
use super::{Parser, block};
use crate::contract::shape::format::Format;
use crate::contract::shape::schema::{Fields, Number, Object, Rest, Schema, Text, Union};
use crate::contract::shape::show::OPEN;

type Parsed<T> = Result<T, ParseError>;

/// The lines below, until something on the line takes them.
#[derive(Debug)]
pub(super) struct Below<'l, 't> {
    lines: Option<&'l [Line<'t>]>,
}

impl<'l, 't> Below<'l, 't> {
    pub(super) fn of(lines: &'l [Line<'t>]) -> Self {
        Self { lines: Some(lines) }
    }

    /// For types between braces, which have no lines of their own.
    fn none() -> Self {
        Self { lines: None }
    }

    /// Whether nothing has taken them.
    pub(super) fn left(&self) -> Option<&'l Line<'t>> {
        self.lines?.first()
    }

    fn take(&mut self, cursor: &Cursor<'_>) -> Parsed<&'l [Line<'t>]> {
        self.lines.take().ok_or_else(|| cursor.error(Problem::TwoBlocks))
    }
}

/// Types are not nested deeper: reading them takes the stack.
const DEEPEST: usize = 160;

impl Parser {
    /// Alternatives.
    pub(super) fn expression(
        &mut self,
        cursor: &mut Cursor<'_>,
        below: &mut Below<'_, '_>,
    ) -> Parsed<Schema> {
        if self.depth == DEEPEST {
            return Err(cursor.error(Problem::TooDeep));
        }
        self.depth += 1;
        let parsed = self.alternatives(cursor, below);
        self.depth -= 1;
        parsed
    }

    fn alternatives(
        &mut self,
        cursor: &mut Cursor<'_>,
        below: &mut Below<'_, '_>,
    ) -> Parsed<Schema> {
        let mut schema = Schema::never();
        let mut open = false;
        loop {
            let start = cursor.at();
            if cursor.eat(OPEN) {
                open = true;
            } else {
                let next = self.alternative(cursor, below)?;
                let what = if next.array.is_some() { "an array" } else { "an object" };
                let span = start..cursor.at();
                schema.take(next).ok_or(ParseError::new(span, Problem::Twice(what)))?;
            }
            if !cursor.eat("|") {
                break;
            }
        }
        if open && !schema.any {
            schema.string = Some(match schema.string.take() {
                Some(Text::Of(_, known) | Text::Open(known)) => Text::Open(known),
                Some(Text::Any) => Text::Any,
                None => Text::Open([].into()),
            });
        }
        Ok(schema)
    }

    fn alternative(
        &mut self,
        cursor: &mut Cursor<'_>,
        below: &mut Below<'_, '_>,
    ) -> Parsed<Schema> {
        match cursor.peek() {
            Some('"') => Ok(Schema::of_string(Text::value(&cursor.string()?))),
            Some('[') => self.array(cursor, below),
            Some('{') => Ok(of_object(Object::Plain(self.braces(cursor)?))),
            Some('(') => {
                cursor.eat("(");
                let schema = self.expression(cursor, below)?;
                cursor
                    .eat(")")
                    .then_some(schema)
                    .ok_or_else(|| cursor.error(Problem::Expected("`)`")))
            }
            _ => self.word(cursor, below),
        }
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, below: &mut Below<'_, '_>) -> Parsed<Schema> {
        cursor.expect("[")?;
        let mut elements = Schema::never();
        if !cursor.eat("]") {
            elements = self.expression(cursor, below)?;
            cursor.expect("]")?;
        }
        Ok(Schema { array: Some(Box::new(elements)), ..Schema::default() })
    }

    fn word(&mut self, cursor: &mut Cursor<'_>, below: &mut Below<'_, '_>) -> Parsed<Schema> {
        let before = cursor.error(Problem::NoType);
        let (word, span) = cursor.word().ok_or(before)?;
        Ok(match word {
            "any" => Schema::any(),
            "never" => Schema::never(),
            "null" => Schema { null: true, ..Schema::default() },
            "boolean" => Schema { boolean: true, ..Schema::default() },
            "integer" => Schema { number: Some(Number::Integer), ..Schema::default() },
            "number" => Schema { number: Some(Number::Any), ..Schema::default() },
            "string" => Schema::of_string(Text::Any),
            "object" => {
                let lines = below.take(cursor)?;
                of_object(Object::Plain(self.fields(lines)))
            }
            "by" => of_object(self.union(cursor, below)?),
            "map" => self.map(cursor, below)?,
            "Id" if cursor.eat("<") => {
                let (prefix, _) = cursor.name()?;
                cursor.expect(">")?;
                Schema::of_string(Text::format(Format::Prefixed(prefix)))
            }
            _ => {
                let named = Format::NAMED.into_iter().find(|(_, name)| *name == word);
                let unknown = || ParseError::new(span, Problem::UnknownType(word.to_owned()));
                Schema::of_string(Text::format(named.ok_or_else(unknown)?.0))
            }
        })
    }

    fn map(&mut self, cursor: &mut Cursor<'_>, below: &mut Below<'_, '_>) -> Parsed<Schema> {
        cursor.expect("<")?;
        let name = self.names(cursor)?;
        cursor.expect(",")?;
        let schema = self.expression(cursor, below)?;
        cursor.expect(">")?;
        let fields = Fields { rest: Some(Rest { name, schema }), ..Fields::default() };
        Ok(of_object(Object::Plain(fields)))
    }

    /// The names in a map.
    pub(super) fn names(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Text> {
        let start = cursor.at();
        let schema = self.expression(cursor, &mut Below::none())?;
        let names = Schema { string: None, ..schema.clone() }.is_never().then_some(schema.string);
        let error = || ParseError::new(start..cursor.at(), Problem::NameNotString);
        names.flatten().ok_or_else(error)
    }

    /// What follows `by`: the tag, and the branches between braces or on the lines below.
    fn union(&mut self, cursor: &mut Cursor<'_>, below: &mut Below<'_, '_>) -> Parsed<Object> {
        let (tag, span) = cursor.name()?;
        let mut union = Union { tag, branches: [].into(), open: false };
        if cursor.peek() == Some('{') {
            self.branches(cursor, &mut union)?;
        } else {
            let lines = below.take(cursor)?;
            self.union_of_lines(lines, &mut union);
        }
        block::checked(union, span)
    }

    fn branches(&mut self, cursor: &mut Cursor<'_>, union: &mut Union) -> Parsed<()> {
        cursor.expect("{")?;
        while !cursor.eat("}") {
            if cursor.eat(OPEN) {
                union.open = true;
            } else {
                let (name, span) = cursor.name()?;
                let branch = match cursor.eat("by ") {
                    true => self.union(cursor, &mut Below::none())?,
                    false => Object::Plain(self.braces(cursor)?),
                };
                block::insert(&mut union.branches, name, branch, span)?;
            }
            if !cursor.eat(",") && cursor.peek() != Some('}') {
                return Err(cursor.error(Problem::Expected("`,` or `}`")));
            }
        }
        Ok(())
    }

    fn braces(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Fields> {
        cursor.expect("{")?;
        let mut fields = Fields::default();
        while !cursor.eat("}") {
            self.field(cursor, &mut Below::none(), &mut fields)?;
            if !cursor.eat(",") && cursor.peek() != Some('}') {
                return Err(cursor.error(Problem::Expected("`,` or `}`")));
            }
        }
        Ok(fields)
    }
}

fn of_object(object: Object) -> Schema {
    Schema { object: Some(Box::new(object)), ..Schema::default() }
}
