//! What holds in every trace, as it is written.

use std::fmt;
use std::ops::Range;

use super::alone::Alone;
use super::sorted::{Direction, list};
use super::tie::Tie;
use crate::contract::syntax::{
    Cursor, ParseError, ParseErrors, lines, trimmed, unquoted, write_name,
};
use crate::text::json::Text;
use crate::text::nearest;

/// Something that holds in every trace of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Invariant {
    /// Something holds of the field alone.
    Alone(Alone, Field),
    /// The field says what the request says there, in any element where that is in an array.
    Echoes(Field, Path),
    /// The field says what the other field has said in an earlier event; where both are of no type, in the same one too.
    Refers(Field, Field, Referred),
    /// The field says what one of the others has said before, in this answer or in an earlier one. A
    /// field of the request has the type `request`.
    RefersEarlier(Field, Vec<Field>),
    /// What the field says goes with what the other one says.
    Tied(Tie, Field, Field),
    /// The number is the sum of two others in the same message.
    Sums(Field, [Field; 2]),
    /// The field comes, and is not null, in messages where something is so.
    Comes(Field, With),
    /// The rows of a list are in order by one of their fields, wherever all of this is asked.
    Sorted(Vec<(Field, Direction)>, Vec<Asked>),
    /// Where all rows of a list are asked for, they are what was made at the same path and not deleted, and others.
    Lists(Field),
    /// A request that is sent again with the same key comes to the thing that this identifies.
    Again(Field),
    /// The number says a place, and the first one of an answer is 0.
    Begins(Field),
    /// The names in a list of all that a server offers have this one.
    Offers(Field, String),
}

/// What may decide whether a field comes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct With {
    /// Whether the request says it, or the message itself.
    pub in_request: bool,
    /// Where.
    pub path: Path,
    /// What it says, as a JSON text; none if it says anything.
    pub says: Option<String>,
}

impl With {
    /// Whether it may decide about a field: it is in the request, or beside the field or above.
    pub(super) fn may_decide(&self, field: &Path) -> bool {
        let above = &self.path.0[..self.path.0.rfind('.').map_or(0, |dot| dot + 1)];
        self.in_request || field.0.starts_with(above) && field.0 != self.path.0
    }
}

/// What a request says, or does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Asked {
    /// Where.
    pub path: Path,
    /// What it says, as a JSON text; none if it says nothing.
    pub says: Option<String>,
}

/// What becomes of what can be referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Referred {
    /// Some of it is never referred to.
    Some,
    /// All of it has been referred to at the end of the trace.
    Each,
}

impl Invariant {
    /// The field that comes just where the client asks for it, if that is what it says.
    pub(crate) fn asked_for(&self) -> Option<&str> {
        match self {
            Self::Comes(field, with) if with.in_request => Some(field.path.as_str()),
            _ => None,
        }
    }

    /// The fields of messages of which it speaks, also of those in earlier answers.
    pub(crate) fn fields(&self) -> Vec<&Field> {
        match self {
            Self::Alone(_, field)
            | Self::Echoes(field, _)
            | Self::Comes(field, _)
            | Self::Lists(field)
            | Self::Again(field)
            | Self::Offers(field, _)
            | Self::Begins(field) => vec![field],
            Self::Refers(field, to, _) | Self::Tied(_, field, to) => vec![field, to],
            Self::RefersEarlier(field, to) => std::iter::once(field).chain(to).collect(),
            Self::Sums(field, [one, other]) => vec![field, one, other],
            Self::Sorted(keys, _) => keys.iter().map(|(field, _)| field).collect(),
        }
    }

    /// The type of the messages that it is about; none if it is about all.
    pub(crate) fn tag(&self) -> Option<&str> {
        self.fields().first()?.tag.as_deref()
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(holds, field) => write!(f, "{field} {}", holds.verb()),
            Self::Lists(field) => write!(f, "{field} {LISTS}"),
            Self::Again(field) => write!(f, "{field} {AGAIN}"),
            Self::Begins(field) => write!(f, "{field} {BEGINS}"),
            Self::Offers(field, name) => {
                write!(f, "{field} {OFFERS}")?;
                write_name(f, name, false)
            }
            Self::Echoes(field, path) => write!(f, "{field} equals request.{path}"),
            Self::RefersEarlier(field, to) => {
                let to: Vec<String> = to.iter().map(ToString::to_string).collect();
                write!(f, "{field} {EARLIER}{}", to.join(OR))
            }
            Self::Refers(field, to, Referred::Some) => write!(f, "{field} refers to {to}"),
            Self::Refers(field, to, Referred::Each) => {
                write!(f, "{field} refers to {to}, each by the end")
            }
            Self::Tied(tie, field, to) => write!(f, "{field} {} {to}", tie.verb()),
            Self::Sums(field, [one, other]) => write!(f, "{field} {SUMS}{one} and {other}"),
            Self::Comes(field, with) => write!(f, "{field} {COMES}{with}"),
            Self::Sorted(keys, asked) => {
                let Some((Field { tag, path }, _)) = keys.first() else { return Ok(()) };
                let list = list(path.as_str());
                Field { tag: tag.clone(), path: Path::written(list) }.fmt(f)?;
                let keys = keys.iter().map(|(Field { path, .. }, direction)| {
                    let name = path.as_str()[list.len()..].trim_start_matches('.');
                    format!("{name} {}", direction.word())
                });
                write!(f, " {SORTED}{}", keys.collect::<Vec<_>>().join(OR))?;
                let mut between = [WITH].into_iter().chain(std::iter::repeat(AND));
                asked.iter().zip(&mut between).try_for_each(|(it, and)| write!(f, "{and}{it}"))
            }
        }
    }
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.in_request { REQUEST } else { "" })?;
        self.path.fmt(f)?;
        self.says.iter().try_for_each(|says| write!(f, "={says}"))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.says {
            Some(says) => write!(f, "{REQUEST}{}={says}", self.path),
            None => write!(f, "{NO}{REQUEST}{}", self.path),
        }
    }
}

/// A field of the events of one type, or of all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// The type; none for all events that have the field.
    pub tag: Option<String>,
    /// Where it stands in them.
    pub path: Path,
}

impl Field {
    /// One of all events, by its path as it is written.
    pub(super) fn of_all(path: &str) -> Self {
        Self { tag: None, path: Path::written(path) }
    }
}

/// Where a value stands: names with dots between them, `[]` behind the name of an array. Names that are
/// not plain words are written as JSON strings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(String);

impl Path {
    /// The path as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a path as it is written.
    pub(super) fn written(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Goes into a member, and says how to come back.
    pub(super) fn enter(&mut self, name: &str) -> usize {
        let before = self.0.len();
        if before > 0 {
            self.0.push('.');
        }
        let _ = write_name(&mut self.0, name, WrittenName(name).is_plain());
        before
    }

    /// Goes into the elements of an array, and says how to come back.
    pub(super) fn enter_elements(&mut self) -> usize {
        let before = self.0.len();
        self.0.push_str("[]");
        before
    }

    pub(super) fn leave(&mut self, before: usize) {
        self.0.truncate(before);
    }

    /// Whether it leads to a member of the object in a path.
    pub(super) fn is_member_of(&self, object: &Self) -> bool {
        let Some(name) = self.0.strip_prefix(&*object.0) else { return false };
        let name = if object.0.is_empty() { Some(name) } else { name.strip_prefix('.') };
        name.is_some_and(|name| {
            [b'.', b'['].iter().all(|mark| unquoted(name, *mark).next().is_none())
        })
    }

    /// Whether it leads to the elements of an array.
    pub(super) fn is_list(&self) -> bool {
        self.0.ends_with("[]")
    }

    /// Whether it leads into an array.
    pub(super) fn is_in_array(&self) -> bool {
        self.0.contains("[]")
    }

    /// Its last name.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or_default()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Field {
    /// `run_id`, `tool_call_message.tool_call.name`; `_.tool_call.name` in events of any type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tag {
            // Not a field of these messages, but the messages.
            Some(tag) if self.path.0.is_empty() => WrittenName(tag).fmt(f),
            Some(tag) => write!(f, "{}.{}", WrittenName(tag), self.path),
            None if self.path.0.contains(['.', '"', '[']) => write!(f, "_.{}", self.path),
            None => self.path.fmt(f),
        }
    }
}

/// A name as it is written.
pub(super) struct WrittenName<'a>(pub(super) &'a str);

impl WrittenName<'_> {
    fn is_plain(&self) -> bool {
        !self.0.is_empty() && self.0 != "_" && self.0.bytes().map(char::from).all(is_plain)
    }
}

impl fmt::Display for WrittenName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(f, self.0, self.is_plain())
    }
}

/// Whether a name that is not quoted may have this inside: `{agent_id}` is an open place of the path.
pub(super) fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '/' | '$' | '{' | '}')
}

/// What can hold of two fields, as it is written.
const ECHOES: &str = "equals request.";
const EARLIER: &str = "refers to earlier ";
const REFERS: &str = "refers to ";
const SUMS: &str = "sums ";
const COMES: &str = "comes with ";
const SORTED: &str = "sorted by ";
const LISTS: &str = "lists what was made";
const AGAIN: &str = "stays when the same is asked again";
const BEGINS: &str = "begins with 0";
const OFFERS: &str = "offers ";
const REQUEST: &str = "request.";
const OR: &str = " or ";
const WITH: &str = " with ";
const AND: &str = " and ";
const NO: &str = "no ";

type Parsed<T> = Result<T, ParseError>;

impl Invariant {
    /// Reads invariants with `;` or line feeds between them. `#` begins a comment.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, one error for an invariant at most.
    pub fn parse(text: &str) -> Result<Vec<Self>, ParseErrors> {
        Self::within(text, 0..text.len()).map_err(|errors| ParseErrors::new(text, errors))
    }

    /// The invariants that a part of a text says.
    pub(in crate::contract) fn within(
        text: &str,
        part: Range<usize>,
    ) -> Result<Vec<Self>, Vec<ParseError>> {
        let (mut read, mut errors) = (Vec::new(), Vec::new());
        for piece in lines(text, part).flat_map(|line| pieces(text, line)) {
            match (Parser { cursor: Cursor::new(text, piece) }).invariant() {
                Ok(invariant) => read.push(invariant),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(read) } else { Err(errors) }
    }
}

/// The invariants on a line.
fn pieces(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut start = line.start;
    let ends = unquoted(&text[line.clone()], b';').map(|at| line.start + at).chain([line.end]);
    let pieces = ends.map(|end| trimmed(text, std::mem::replace(&mut start, end + 1)..end));
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Where the reading is.
struct Parser<'t> {
    cursor: Cursor<'t>,
}

impl<'t> Parser<'t> {
    fn invariant(&mut self) -> Parsed<Invariant> {
        let field = self.field()?;
        self.cursor.eat(" ");
        let alone = Alone::ALL.into_iter().find(|alone| self.cursor.eat(alone.verb()));
        let invariant = match alone {
            Some(alone) => Invariant::Alone(alone, field),
            None if self.cursor.eat(ECHOES) => {
                let path = self.steps().join(".");
                if path.is_empty() {
                    return Err(self.no_field());
                }
                Invariant::Echoes(field, Path::written(&path))
            }
            None if self.cursor.eat(EARLIER) => {
                let mut to = vec![self.field()?];
                while self.cursor.eat(OR) {
                    to.push(self.field()?);
                }
                Invariant::RefersEarlier(field, to)
            }
            None if self.cursor.eat(REFERS) => {
                let to = self.field()?;
                let each = self.cursor.eat(", each by the end");
                Invariant::Refers(field, to, if each { Referred::Each } else { Referred::Some })
            }
            None if self.cursor.eat(SUMS) => {
                let one = self.field()?;
                if one.path.is_in_array() && !field.path.is_in_array() && self.is_at_end() {
                    return Ok(Invariant::Tied(Tie::Totals, field, one));
                }
                if !self.cursor.eat(AND) {
                    return Err(self.error(
                        "expected `and` and the other number",
                        "write it as `total sums one and other`",
                    ));
                }
                Invariant::Sums(field, [one, self.field()?])
            }
            None if self.cursor.eat(LISTS) => Invariant::Lists(field),
            None if self.cursor.eat(AGAIN) => Invariant::Again(field),
            None if self.cursor.eat(BEGINS) => Invariant::Begins(field),
            None if self.cursor.eat(OFFERS) => Invariant::Offers(field, self.name()?),
            None if self.cursor.eat(COMES) => Invariant::Comes(field, self.with()?),
            None if self.cursor.eat(SORTED) => {
                Invariant::Sorted(self.keys(&field)?, self.all_asked()?)
            }
            None => self.tied(field)?,
        };
        self.end(invariant)
    }

    /// What ties a field to another one.
    fn tied(&mut self, field: Field) -> Parsed<Invariant> {
        let tie = Tie::ALL.into_iter().find(|tie| self.cursor.eat(&format!("{} ", tie.verb())));
        if let Some(tie) = tie {
            let mut to = self.field()?;
            if tie == Tie::Counts && !to.path.is_in_array() {
                let name = to.path.as_str();
                let name = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
                to = Field { tag: Some(name), path: Path::default() };
            }
            return Ok(Invariant::Tied(tie, field, to));
        }
        let verbs = Alone::ALL.map(Alone::verb).into_iter();
        let verbs = verbs.chain(
            [ECHOES, EARLIER, REFERS, SUMS, COMES, SORTED, LISTS, AGAIN, BEGINS, OFFERS]
                .map(str::trim_end),
        );
        let ties = Tie::ALL.map(Tie::verb).into_iter().filter(|it| !SUMS.starts_with(it));
        let verbs: Vec<&str> = verbs.chain(ties).collect();
        let hint = nearest::hint(self.cursor.rest(), &verbs);
        Err(self.error("expected what holds of the field", &hint))
    }

    fn is_at_end(&self) -> bool {
        self.cursor.rest().trim().is_empty()
    }

    fn end(&self, invariant: Invariant) -> Parsed<Invariant> {
        if self.is_at_end() {
            return Ok(invariant);
        }
        Err(self.error("expected the end", "`;` or a new line begins another one"))
    }

    fn field(&mut self) -> Parsed<Field> {
        let steps = self.steps();
        match steps.as_slice() {
            [] => Err(self.no_field()),
            [name] => Ok(Field::of_all(name)),
            ["_", path @ ..] => Ok(Field::of_all(&path.join("."))),
            [tag, path @ ..] => {
                let tag = serde_json::from_str(tag).unwrap_or_else(|_| (*tag).to_owned());
                Ok(Field { tag: Some(tag), path: Path::written(&path.join(".")) })
            }
        }
    }

    /// A name in quotes.
    fn name(&mut self) -> Parsed<String> {
        self.cursor
            .eat_string()
            .ok_or_else(|| self.error("expected a name", "write it in quotes, as `\"search\"`"))
    }

    fn with(&mut self) -> Parsed<With> {
        let in_request = self.cursor.eat(REQUEST);
        let path = self.steps().join(".");
        if path.is_empty() {
            return Err(self.no_field());
        }
        let start = self.cursor.at + 1;
        let says = self.cursor.eat("=").then(|| {
            if self.cursor.eat_string().is_none() {
                self.cursor.eat_while(is_plain);
            }
            &self.cursor.text[start..self.cursor.at]
        });
        if says.is_some_and(|says| Text::read(says).is_none()) {
            let hint = "write a word as `\"word\"`, and yes and no as `true` and `false`";
            return Err(self.error("expected a value", hint));
        }
        Ok(With { in_request, path: Path::written(&path), says: says.map(str::to_owned) })
    }

    /// The fields by one of which a list is in order.
    fn keys(&mut self, list: &Field) -> Parsed<Vec<(Field, Direction)>> {
        let mut keys = Vec::new();
        if !list.path.is_list() {
            let hint = "write it as `_.data[] sorted by created falling`";
            return Err(self.error("a list ends in `[]`", hint));
        }
        loop {
            let steps = self.steps().join(".");
            if steps.is_empty() {
                return Err(self.no_field());
            }
            self.cursor.eat(" ");
            let direction = Direction::ALL.into_iter().find(|it| self.cursor.eat(it.word()));
            let Some(direction) = direction else {
                return Err(
                    self.error("expected `rising` or `falling`", "it never goes the other way")
                );
            };
            let path = Path::written(&format!("{}.{steps}", list.path));
            keys.push((Field { tag: list.tag.clone(), path }, direction));
            if !self.cursor.eat(OR) {
                return Ok(keys);
            }
        }
    }

    /// What has to be asked, if something has to.
    fn all_asked(&mut self) -> Parsed<Vec<Asked>> {
        let mut asked = Vec::new();
        let mut behind = WITH;
        while self.cursor.eat(behind) {
            let is_none = self.cursor.eat(NO);
            let With { in_request, path, says } = self.with()?;
            if !in_request || is_none == says.is_some() {
                let hint =
                    "write it as `with request.order=\"asc\"`, or as `with no request.order`";
                return Err(self.error("expected what the request says", hint));
            }
            asked.push(Asked { path, says });
            behind = AND;
        }
        Ok(asked)
    }

    /// Names with dots between them, as they are spelled, with the `[]` behind them.
    fn steps(&mut self) -> Vec<&'t str> {
        let mut steps = Vec::new();
        loop {
            let start = self.cursor.at;
            if self.cursor.eat_string().is_none() {
                self.cursor.eat_while(is_plain);
            }
            while self.cursor.eat("[]") {}
            if self.cursor.at == start {
                return steps;
            }
            steps.push(&self.cursor.text[start..self.cursor.at]);
            if !self.cursor.eat(".") {
                return steps;
            }
        }
    }

    fn no_field(&self) -> ParseError {
        self.error("expected a field", "a field is e.g. `run_id` or `stop_reason.reason`")
    }

    fn error(&self, what: &str, hint: &str) -> ParseError {
        ParseError::new(self.cursor.to_end(), what).with_hint(hint)
    }
}
