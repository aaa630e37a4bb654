//! From text to a promise.
//!
//! ```text
//! type        = alternative *( "|" alternative )          "…" among them: other strings may come
//! alternative = "any" / "never" / "null" / "boolean" / "integer" / "number" / "string"
//!             / "uuid" / "date-time" / "local-date-time" / "date" / "uri" / "integer-string"
//!             / "Id" / "Id<" name ">"
//!             / JSON string / "[" [ type ] "]" / "map<" type "," type ">" / "(" type ")"
//!             / "object" / "tuple" / "by" name            with a line below for each field or branch
//!             / "{" fields "}" / "tuple {" fields "}" / "by" name "{" branches "}"
//! field       = name [ "?" ] ":" type / "[" type "]:" type / "…"
//! branch      = name / name "by" name / "…"
//! ```
//!
//! A name is written plainly or as a JSON string; `#` begins a comment.

use std::collections::BTreeMap;
use std::ops::Range;

use super::format::Format;
use super::schema::{Array, Field, Fields, Number, Object, Presence, Rest, Schema, Text, Union};
use super::show::{OPEN, TUPLE, is_name};
use super::tuple;
use crate::contract::syntax::{Cursor, ParseError, ParseErrors, lines};
use crate::text::nearest;

type Parsed<T> = Result<T, ParseError>;

/// Types are not nested deeper: reading them takes the stack.
const DEEPEST: usize = 160;

impl Schema {
    /// Reads what [`Display`](std::fmt::Display) writes, or a person.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, line by line.
    pub fn parse(text: &str) -> Result<Self, ParseErrors> {
        Self::within(text, 0..text.len()).map_err(|errors| ParseErrors::new(text, errors))
    }

    /// The promise that a part of a text says, which begins where a line begins.
    pub(in crate::contract) fn within(
        text: &str,
        part: Range<usize>,
    ) -> Result<Self, Vec<ParseError>> {
        let end = part.end;
        let rows: Vec<IndentedLine> =
            lines(text, part).map(|span| IndentedLine::of(text, span)).collect();
        let mut errors = Vec::new();
        let all = level(&mut rows.as_slice(), 0, &mut errors);
        let Some((first, others)) = all.split_first() else {
            let hint = "a type is e.g. `string | null`, or `object` above its fields";
            return Err(vec![ParseError::new(end..end, "no type").with_hint(hint)]);
        };
        errors.extend(others.first().map(|line| loose(line.span.clone())));
        let mut parser = Parser::new(text, first, 0);
        let parsed = parser.expression().and_then(|schema| parser.end().map(|()| schema));
        errors.append(&mut parser.errors);
        match parsed {
            Ok(schema) if errors.is_empty() => Ok(schema),
            parsed => {
                errors.extend(parsed.err());
                Err(errors)
            }
        }
    }
}

impl std::str::FromStr for Schema {
    type Err = ParseErrors;

    fn from_str(text: &str) -> Result<Self, ParseErrors> {
        Self::parse(text)
    }
}

/// A line, and how far it is indented.
#[derive(Clone)]
struct IndentedLine {
    column: usize,
    span: Range<usize>,
}

/// A line, and the lines that are indented below it.
struct LineTree {
    span: Range<usize>,
    below: Vec<LineTree>,
}

impl IndentedLine {
    fn of(text: &str, span: Range<usize>) -> Self {
        let column = span.start - text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        Self { column, span }
    }
}

/// The lines of one level, as far as they are not indented less than the first. `depth` levels are above them.
fn level(rows: &mut &[IndentedLine], depth: usize, errors: &mut Vec<ParseError>) -> Vec<LineTree> {
    let mut all: Vec<LineTree> = Vec::new();
    let Some(indent) = rows.first().map(|row| row.column) else { return all };
    while let Some(row) = rows.first().filter(|row| row.column >= indent).cloned() {
        match all.last_mut() {
            // That it is too deep is told where the types are read.
            Some(_) if row.column > indent && depth > DEEPEST => *rows = &[],
            Some(last) if row.column > indent => {
                let below = level(rows, depth + 1, errors);
                if !last.below.is_empty() {
                    let error = ParseError::new(row.span, "a line between two levels");
                    errors.push(error.with_hint("fields of one object begin in one column"));
                }
                last.below.extend(below);
            }
            _ => {
                *rows = &rows[1..];
                all.push(LineTree { span: row.span, below: Vec::new() });
            }
        }
    }
    all
}

/// What comes next on a line. White space is passed.
struct Parser<'l, 't> {
    /// The whole text.
    text: &'t str,
    cursor: Cursor<'t>,
    /// The lines below, until something on the line takes them.
    below: Option<&'l [LineTree]>,
    /// Within how many types the reading is.
    depth: usize,
    /// What is wrong with the lines below.
    errors: Vec<ParseError>,
}

impl<'l, 't> Parser<'l, 't> {
    fn new(text: &'t str, line: &'l LineTree, depth: usize) -> Self {
        let cursor = Cursor::new(text, line.span.clone());
        Self { text, cursor, below: Some(&line.below), depth, errors: Vec::new() }
    }

    fn expression(&mut self) -> Parsed<Schema> {
        self.deeper(Self::alternatives)
    }

    /// Reads what stands within a type.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            let hint = "say `any` where it is as deep as that";
            return Err(self.error("types nested too deep").with_hint(hint));
        }
        self.depth += 1;
        let parsed = read(self);
        self.depth -= 1;
        parsed
    }

    fn alternatives(&mut self) -> Parsed<Schema> {
        let mut schema = Schema::never();
        let mut open = false;
        loop {
            let start = self.cursor.at;
            if self.eat(OPEN) {
                open = true;
            } else {
                let next = self.alternative()?;
                let what = if next.array.is_some() { "an array" } else { "an object" };
                schema.take(next).ok_or_else(|| {
                    let what = format!("{what} twice among alternatives");
                    ParseError::new(start..self.cursor.at, what)
                        .with_hint("say it once, with all that it may hold")
                })?;
            }
            if !self.eat("|") {
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

    fn alternative(&mut self) -> Parsed<Schema> {
        match self.cursor.peek() {
            Some('"') => Ok(Schema::of_string(Text::value(&self.string()?))),
            Some('[') => self.array(),
            Some('{') => Ok(Schema::of_object(Object::Plain(self.braces()?))),
            Some('(') => {
                self.eat("(");
                let schema = self.expression()?;
                self.expect(")").map(|()| schema)
            }
            _ => self.word(),
        }
    }

    fn array(&mut self) -> Parsed<Schema> {
        self.expect("[")?;
        let mut elements = Schema::never();
        if !self.eat("]") {
            elements = self.expression()?;
            self.expect("]")?;
        }
        Ok(Schema::of_array(Array::List(elements)))
    }

    /// What follows `tuple`: `[0]: type`, `[1]: type` between braces or on the lines below, without a gap.
    fn tuple(&mut self, span: Range<usize>) -> Parsed<Schema> {
        let mut places = Fields::default();
        if self.cursor.peek() == Some('{') {
            self.list(|parser| parser.place(&mut places))?;
        } else {
            for line in self.take_lines()? {
                self.line(line, |inner| inner.place(&mut places).and_then(|()| inner.end()));
            }
        }
        let hint = "its elements are `[0]: type`, `[1]: type` and so on";
        if places.fields.is_empty() {
            return Err(ParseError::new(span, "a tuple without elements").with_hint(hint));
        }
        Ok(Schema::of_array(Array::Tuple(places)))
    }

    /// An element of a tuple, which comes next.
    fn place(&mut self, places: &mut Fields) -> Parsed<()> {
        let number = places.fields.len();
        let name = tuple::name(number);
        if !self.eat(&name) {
            let error = self.error(&format!("expected `{name}: ` and its type"));
            return Err(error.with_hint("the elements of a tuple are counted from 0"));
        }
        let presence = if self.eat("?") { Presence::Optional } else { Presence::Required };
        self.expect(":")?;
        let schema = self.expression()?;
        let position = u32::try_from(number).unwrap_or(u32::MAX);
        places.fields.insert(name, Field { position, presence, schema });
        Ok(())
    }

    fn word(&mut self) -> Parsed<Schema> {
        let hint = "a type is e.g. `string | null` or `[integer]`";
        let no_type = self.error("expected a type").with_hint(hint);
        let (word, span) = self.bare().ok_or(no_type)?;
        Ok(match word {
            "any" => Schema::any(),
            "never" => Schema::never(),
            "null" => Schema { null: true, ..Schema::default() },
            "boolean" => Schema { boolean: true, ..Schema::default() },
            "integer" => Schema { number: Some(Number::Integer), ..Schema::default() },
            "number" => Schema { number: Some(Number::Any), ..Schema::default() },
            "string" => Schema::of_string(Text::Any),
            "object" => {
                let lines = self.take_lines()?;
                Schema::of_object(Object::Plain(self.fields(lines)))
            }
            "by" => Schema::of_object(self.union()?),
            TUPLE => self.tuple(span)?,
            "map" => self.map()?,
            "Id" if self.eat("<") => {
                let (prefix, _) = self.name()?;
                self.expect(">")?;
                Schema::of_string(Text::format(Format::Prefixed(prefix)))
            }
            _ if word.parse::<i64>().is_ok() => {
                Schema::of_codes(word.parse().into_iter().collect())
            }
            _ => {
                let named = Format::NAMED.into_iter().find(|(_, name)| *name == word);
                let unknown = || {
                    let error = ParseError::new(span, format!("no type is called `{word}`"));
                    let known: Vec<&str> = words().collect();
                    error.with_hint(nearest::hint(word, &known))
                };
                Schema::of_string(Text::format(named.ok_or_else(unknown)?.0))
            }
        })
    }

    fn map(&mut self) -> Parsed<Schema> {
        self.expect("<")?;
        let name = self.names()?;
        self.expect(",")?;
        let schema = self.expression()?;
        self.expect(">")?;
        let fields = Fields { rest: Some(Rest { name, schema }), ..Fields::default() };
        Ok(Schema::of_object(Object::Plain(fields)))
    }

    /// The names in a map.
    fn names(&mut self) -> Parsed<Text> {
        let start = self.cursor.at;
        let schema = self.without_lines(Self::expression)?;
        schema.only_string().ok_or_else(|| {
            ParseError::new(start..self.cursor.at, "names that are no strings")
                .with_hint("e.g. `map<string, integer>` or `map<uuid, integer>`")
        })
    }

    /// An object whose fields stand on these lines.
    fn fields(&mut self, lines: &[LineTree]) -> Fields {
        let mut fields = Fields::default();
        for line in lines {
            self.line(line, |inner| inner.field(&mut fields).and_then(|()| inner.end()));
        }
        fields
    }

    /// `name: type`, `name?: type`, `[names]: type`, `…`.
    fn field(&mut self, fields: &mut Fields) -> Parsed<()> {
        if self.eat(OPEN) {
            fields.open = true;
            return Ok(());
        }
        let start = self.cursor.at;
        if self.eat("[") {
            let name = self.names()?;
            self.expect("]")?;
            self.expect(":")?;
            let schema = self.expression()?;
            return match fields.rest.replace(Rest { name, schema }) {
                Some(_) => Err(repeated(start..self.cursor.at, "[…]")),
                None => Ok(()),
            };
        }
        let (name, span) = self.name()?;
        let presence = if self.eat("?") { Presence::Optional } else { Presence::Required };
        self.expect(":")?;
        let schema = self.expression()?;
        let position = u32::try_from(fields.fields.len()).unwrap_or(u32::MAX);
        insert(&mut fields.fields, name, Field { position, presence, schema }, span)
    }

    fn braces(&mut self) -> Parsed<Fields> {
        let mut fields = Fields::default();
        self.list(|parser| parser.field(&mut fields))?;
        Ok(fields)
    }

    /// What follows `by`: the tag, and the branches between braces or on the lines below.
    fn union(&mut self) -> Parsed<Object> {
        let (tag, span) = self.name()?;
        let mut union = Union { tag, branches: BTreeMap::new(), open: false };
        if self.cursor.peek() == Some('{') {
            self.list(|parser| parser.branch(&mut union))?;
        } else {
            let lines = self.take_lines()?;
            self.branches_below(lines, &mut union);
        }
        checked(union, span)
    }

    /// A branch between braces: `name {…}`, `name by tag {…}`, `…`.
    fn branch(&mut self, union: &mut Union) -> Parsed<()> {
        if self.eat(OPEN) {
            union.open = true;
            return Ok(());
        }
        let (name, span) = self.name()?;
        let branch =
            if self.eat("by ") { self.deeper(Self::union)? } else { Object::Plain(self.braces()?) };
        insert(&mut union.branches, name, branch, span)
    }

    fn branches_below(&mut self, lines: &[LineTree], union: &mut Union) {
        for line in lines {
            self.line(line, |inner| inner.branch_line(union));
        }
    }

    /// A branch on a line: `name`, `name by tag`, `…`.
    fn branch_line(&mut self, union: &mut Union) -> Parsed<()> {
        if self.eat(OPEN) {
            union.open = true;
            return self.end();
        }
        let (name, span) = self.name()?;
        let lines = self.below.take().unwrap_or_default();
        let branch = if self.eat("by ") {
            let (tag, span) = self.name()?;
            let mut inner = Union { tag, branches: BTreeMap::new(), open: false };
            self.deeper(|parser| {
                parser.branches_below(lines, &mut inner);
                checked(inner, span)
            })?
        } else {
            Object::Plain(self.fields(lines))
        };
        self.end()?;
        insert(&mut union.branches, name, branch, span)
    }

    /// Reads a line below, and keeps what is wrong with it.
    fn line(&mut self, line: &LineTree, read: impl FnOnce(&mut Parser<'_, 't>) -> Parsed<()>) {
        let mut inner = Parser::new(self.text, line, self.depth);
        let parsed = read(&mut inner);
        self.errors.append(&mut inner.errors);
        self.errors.extend(parsed.err());
    }

    /// Reads what stands between braces, which has no lines of its own, with commas between.
    fn list(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect("{")?;
        while !self.eat("}") {
            self.without_lines(&mut read)?;
            if !self.eat(",") && self.cursor.peek() != Some('}') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
        Ok(())
    }

    fn without_lines<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let below = self.below.take();
        let parsed = read(self);
        self.below = below;
        parsed
    }

    fn take_lines(&mut self) -> Parsed<&'l [LineTree]> {
        self.below.take().ok_or_else(|| {
            self.error("a second object with its fields on the lines below")
                .with_hint("write the fields between braces: `{name: string} | [{name: string}]`")
        })
    }

    /// Passes this if it is next.
    fn eat(&mut self, expected: &str) -> bool {
        let eaten = self.cursor.eat(expected);
        self.cursor.eat_space();
        eaten
    }

    /// Passes this, which must be next.
    fn expect(&mut self, expected: &str) -> Parsed<()> {
        let is_next = self.eat(expected);
        is_next.then_some(()).ok_or_else(|| self.error(&format!("expected `{expected}`")))
    }

    /// A word that is not quoted, and where it stands.
    fn bare(&mut self) -> Option<(&'t str, Range<usize>)> {
        let start = self.cursor.at;
        let word = self.cursor.eat_while(is_name);
        let span = start..self.cursor.at;
        self.cursor.eat_space();
        (!word.is_empty()).then_some((word, span))
    }

    /// A name, quoted or not, and where it stands.
    fn name(&mut self) -> Parsed<(String, Range<usize>)> {
        let start = self.cursor.at;
        if self.cursor.peek() == Some('"') {
            let name = self.string()?;
            return Ok((name, start..self.cursor.at));
        }
        let word = self.bare().map(|(word, span)| (word.to_owned(), span));
        word.ok_or_else(|| self.error("expected a name"))
    }

    /// A JSON string.
    fn string(&mut self) -> Parsed<String> {
        let Some(text) = self.cursor.eat_string() else {
            let error = ParseError::new(self.cursor.to_end(), "not a JSON string");
            return Err(error.with_hint(r#"strings are written as in JSON: `"a\nb"`"#));
        };
        self.cursor.eat_space();
        Ok(text)
    }

    /// The end of the line, which must be next; something must have taken the lines below.
    fn end(&self) -> Parsed<()> {
        if !self.cursor.rest().is_empty() {
            return Err(ParseError::new(self.cursor.to_end(), "expected the end of the line"));
        }
        let left = self.below.and_then(|lines| lines.first());
        left.map_or(Ok(()), |line| Err(loose(line.span.clone())))
    }

    /// Something is wrong with what is next.
    fn error(&self, what: &str) -> ParseError {
        ParseError::new(self.cursor.here(), what)
    }
}

/// The words that are types.
fn words() -> impl Iterator<Item = &'static str> {
    let plain =
        ["any", "never", "null", "boolean", "integer", "number", "string", "object", "map", "by"];
    plain.into_iter().chain(Format::NAMED.into_iter().map(|(_, name)| name))
}

fn loose(span: Range<usize>) -> ParseError {
    ParseError::new(span, "fields without an object")
        .with_hint("end the line above in `object` or `by` and a field")
}

fn repeated(span: Range<usize>, name: &str) -> ParseError {
    ParseError::new(span, format!("`{name}` a second time"))
}

fn insert<T>(
    known: &mut BTreeMap<String, T>,
    name: String,
    value: T,
    span: Range<usize>,
) -> Parsed<()> {
    if known.contains_key(&name) {
        return Err(repeated(span, &name));
    }
    known.insert(name, value);
    Ok(())
}

/// A union whose branches do not speak of its tag. One of a single branch is a plain object.
fn checked(mut union: Union, span: Range<usize>) -> Parsed<Object> {
    if union.branches.values().any(|branch| mentions(branch, &union.tag)) {
        return Err(ParseError::new(
            span,
            format!("`{}` within a branch that it tells", union.tag),
        )
        .with_hint("leave the line out: the branch's name says it"));
    }
    if union.branches.len() == 1
        && !union.open
        && let Some((value, branch)) = union.branches.pop_first()
    {
        return Ok(branch.saying(&union.tag, &value));
    }
    Ok(Object::Union(union))
}

fn mentions(branch: &Object, tag: &str) -> bool {
    match branch {
        Object::Plain(fields) => fields.fields.contains_key(tag),
        Object::Union(inner) => {
            inner.tag == tag || inner.branches.values().any(|branch| mentions(branch, tag))
        }
    }
}
