//! The lines of objects: a field each, or a branch.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Parser;
use super::cursor::Cursor;
use super::error::{ParseError, Problem};
use super::expression::Below;
use super::lines::Line;
use crate::contract::shape::schema::{Field, Fields, Object, Presence, Rest, Union};
use crate::contract::shape::show::OPEN;

type Parsed<T> = Result<T, ParseError>;

impl Parser {
    /// An object whose fields stand on these lines.
    pub(super) fn fields(&mut self, lines: &[Line<'_>]) -> Fields {
        let mut fields = Fields::default();
        for line in lines {
            let mut below = Below::of(&line.below);
            let mut cursor = Cursor::new(line.text, line.start);
            let parsed = self
                .field(&mut cursor, &mut below, &mut fields)
                .and_then(|()| cursor.end())
                .and_then(|()| all_taken(&below));
            self.errors.extend(parsed.err());
        }
        fields
    }

    /// `name: type`, `name?: type`, `[names]: type`, `…`.
    pub(super) fn field(
        &mut self,
        cursor: &mut Cursor<'_>,
        below: &mut Below<'_, '_>,
        fields: &mut Fields,
    ) -> Parsed<()> {
        if cursor.eat(OPEN) {
            fields.open = true;
            return Ok(());
        }
        let start = cursor.at();
        if cursor.eat("[") {
            let name = self.names(cursor)?;
            cursor.expect("]")?;
            cursor.expect(":")?;
            let schema = self.expression(cursor, below)?;
            let again = ParseError::new(start..cursor.at(), Problem::Repeated("[…]".to_owned()));
            let before = fields.rest.replace(Rest { name, schema });
            return before.map_or(Ok(()), |_| Err(again));
        }
        let (name, span) = cursor.name()?;
        let presence = if cursor.eat("?") { Presence::Optional } else { Presence::Required };
        cursor.expect(":")?;
        let schema = self.expression(cursor, below)?;
        let position = u32::try_from(fields.fields.len()).unwrap_or(u32::MAX);
        insert(&mut fields.fields, name, Field { position, presence, schema }, span)
    }

    /// The branches that stand on these lines.
    pub(super) fn union_of_lines(&mut self, lines: &[Line<'_>], union: &mut Union) {
        for line in lines {
            let parsed = self.branch(line, union);
            self.errors.extend(parsed.err());
        }
    }

    /// `name`, `name by tag`, `…`.
    fn branch(&mut self, line: &Line<'_>, union: &mut Union) -> Parsed<()> {
        let mut cursor = Cursor::new(line.text, line.start);
        if cursor.eat(OPEN) {
            union.open = true;
            return cursor.end().and_then(|()| all_taken(&Below::of(&line.below)));
        }
        let (name, span) = cursor.name()?;
        let branch = if cursor.eat("by ") {
            let (tag, span) = cursor.name()?;
            let mut inner = Union { tag, branches: BTreeMap::new(), open: false };
            self.union_of_lines(&line.below, &mut inner);
            checked(inner, span)?
        } else {
            Object::Plain(self.fields(&line.below))
        };
        cursor.end()?;
        insert(&mut union.branches, name, branch, span)
    }
}

/// Whether something has taken the lines below.
pub(super) fn all_taken(below: &Below<'_, '_>) -> Parsed<()> {
    let loose = below.left().map(|line| ParseError::new(line.span(), Problem::LooseBlock));
    loose.map_or(Ok(()), Err)
}

pub(super) fn insert<T>(
    known: &mut BTreeMap<String, T>,
    name: String,
    value: T,
    span: Range<usize>,
) -> Parsed<()> {
    if known.contains_key(&name) {
        return Err(ParseError::new(span, Problem::Repeated(name)));
    }
    known.insert(name, value);
    Ok(())
}

/// A union whose branches do not speak of its tag. One of a single branch is a plain object.
pub(super) fn checked(mut union: Union, span: Range<usize>) -> Parsed<Object> {
    if union.branches.values().any(|branch| mentions(branch, &union.tag)) {
        return Err(ParseError::new(span, Problem::TagInBranch(union.tag)));
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
