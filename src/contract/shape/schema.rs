//! What is promised of the JSON values at one place.

use std::collections::{BTreeMap, BTreeSet};

use super::format::Format;

/// What is promised of the JSON values at one place: [learned](super::Shape::finish) or
/// [written](Schema::parse), shown by [`Display`](std::fmt::Display).
///
/// Two are equal if they mean the same, in whatever order their fields are shown.
///
/// # Example: a promise reads like an interface
///
/// ```
/// use retape::contract::shape::Schema;
///
/// let promised = Schema::parse("\
/// object
///   id: Id<message>
///   signature?: string | null
///   tool_calls: [object]
///     name: string
///     arguments: string
/// ")?;
///
/// let found = promised.accepts(r#"{"id": 7, "tool_calls": [{"name": "f"}]}"#);
///
/// let found: Vec<String> = found.iter().map(ToString::to_string).collect();
/// assert_eq!(found, [
///     "/id: expected Id<message>, found the integer 7",
///     "/tool_calls/0: expected the field `arguments`: string, found none",
/// ]);
/// # Ok::<(), retape::contract::shape::ParseErrors>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// Anything goes; nothing else is said then.
    pub(super) any: bool,
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) number: Option<Number>,
    /// The only integers, where not any number is allowed.
    pub(super) codes: BTreeSet<i64>,
    pub(super) string: Option<Text>,
    pub(super) array: Option<Box<Array>>,
    pub(super) object: Option<Box<Object>>,
}

/// Which arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Array {
    /// Any number of such elements.
    List(Schema),
    /// Elements by their places, as fields that are called [so](super::tuple::name).
    Tuple(Fields),
}

/// Which numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Number {
    Integer,
    Any,
}

/// Which strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Text {
    Any,
    /// These are known, others may come.
    Open(BTreeSet<String>),
    /// Only strings of these formats, and these.
    Of(BTreeSet<Format>, BTreeSet<String>),
}

/// Which objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    Plain(Fields),
    Union(Union),
}

/// Objects by their fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Fields {
    pub(super) fields: BTreeMap<String, Field>,
    /// The members whose names are data.
    pub(super) rest: Option<Rest>,
    /// Whether fields may come that are not known.
    pub(super) open: bool,
}

/// A field.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// Where it is shown among the others.
    pub(super) position: u32,
    pub(super) presence: Presence,
    pub(super) schema: Schema,
}

/// Whether each object has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// Members whose names are data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) name: Text,
    pub(super) schema: Schema,
}

/// Objects told apart by what one field says. The branches do not mention that field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Union {
    pub(super) tag: String,
    pub(super) branches: BTreeMap<String, Object>,
    /// Whether branches may come that are not known.
    pub(super) open: bool,
}

impl Object {
    /// The objects at a place in these.
    fn at(&self, place: &[String]) -> Option<&Self> {
        let Some((step, rest)) = place.split_first() else { return Some(self) };
        match self {
            Self::Union(union) => union.branches.get(step)?.at(rest),
            Self::Plain(fields) if step == "{}" => fields.rest.as_ref()?.schema.objects_at(rest),
            Self::Plain(fields) => fields.fields.get(step)?.schema.objects_at(rest),
        }
    }

    fn find_maps(&self, place: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
        match self {
            Self::Union(union) => union.branches.values().for_each(|it| it.find_maps(place, found)),
            Self::Plain(fields) => {
                let dot = if place.is_empty() { "" } else { "." };
                for (name, field) in &fields.fields {
                    field.schema.find_maps(&format!("{place}{dot}{name}"), found);
                }
                if let Some(rest) = &fields.rest {
                    let named = found.entry(place.to_owned()).or_default();
                    named.extend(fields.fields.keys().cloned());
                    rest.schema.find_maps(&format!("{place}{dot}{{}}"), found);
                }
            }
        }
    }

    fn always(&self) -> impl Iterator<Item = &str> {
        let plain = match self {
            Self::Plain(fields) => Some(fields.fields.iter()),
            Self::Union(_) => None,
        };
        let always = plain.into_iter().flatten();
        let always = always.filter(|(_, it)| it.presence == Presence::Required);
        always.map(|(name, _)| name.as_str())
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.presence == other.presence && self.schema == other.schema
    }
}

impl Eq for Field {}

impl Schema {
    /// What accepts everything.
    pub fn any() -> Self {
        Self { any: true, ..Self::default() }
    }

    /// What accepts nothing, as the elements of an array that was always empty.
    pub fn never() -> Self {
        Self::default()
    }

    /// Whether it accepts nothing.
    pub(super) fn is_never(&self) -> bool {
        *self == Self::default()
    }

    /// Each type that it allows, by itself.
    pub(super) fn types(&self) -> Vec<Self> {
        let none = Self::default;
        let all = [
            Self { null: self.null, ..none() },
            Self { boolean: self.boolean, ..none() },
            Self { number: self.number, codes: self.codes.clone(), ..none() },
            Self { string: self.string.clone(), ..none() },
            Self { array: self.array.clone(), ..none() },
            Self { object: self.object.clone(), ..none() },
        ];
        all.into_iter().filter(|it| !it.is_never()).collect()
    }

    /// Of strings only.
    pub(super) fn of_string(text: Text) -> Self {
        Self { string: Some(text), ..Self::default() }
    }

    /// Of arrays only.
    pub(super) fn of_array(array: Array) -> Self {
        Self { array: Some(Box::new(array)), ..Self::default() }
    }

    /// Of integers only, and of these.
    pub(super) fn of_codes(codes: BTreeSet<i64>) -> Self {
        Self { codes, ..Self::default() }
    }

    /// What the elements of an array are, if that is a list.
    pub(super) fn elements(&self) -> Option<&Self> {
        match self.array.as_deref() {
            Some(Array::List(elements)) => Some(elements),
            _ => None,
        }
    }

    /// Of objects only.
    pub(super) fn of_object(object: Object) -> Self {
        Self { object: Some(Box::new(object)), ..Self::default() }
    }

    /// Which strings, if it is of strings only.
    pub(super) fn only_string(mut self) -> Option<Text> {
        let string = self.string.take()?;
        self.is_never().then_some(string)
    }

    /// Adds what another accepts where no place is in both twice: arrays and objects of one kind.
    /// Gives back whether there was room for it.
    pub(super) fn take(&mut self, other: Self) -> Option<()> {
        self.any |= other.any;
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.number = self.number.max(other.number);
        self.codes.extend(other.codes);
        if self.number.is_some() {
            self.codes.clear();
        }
        self.string = match (self.string.take(), other.string) {
            (Some(one), Some(two)) => Some(one.or(two)),
            (one, two) => one.or(two),
        };
        only(&mut self.array, other.array)?;
        only(&mut self.object, other.object)?;
        if self.any {
            *self = Self::any();
        }
        Some(())
    }
}

fn only<T>(own: &mut Option<T>, other: Option<T>) -> Option<()> {
    if own.is_some() && other.is_some() {
        return None;
    }
    *own = own.take().or(other);
    Some(())
}

impl Number {
    /// Of one as it is spelled: `1.0` and `1e3` are no integers to a client that reads numbers by their types.
    pub(super) fn of(spelled: &str) -> Self {
        if spelled.contains(['.', 'e', 'E']) { Self::Any } else { Self::Integer }
    }
}

impl Text {
    /// A single string.
    pub(super) fn value(value: &str) -> Self {
        Self::Of(BTreeSet::new(), BTreeSet::from([value.to_owned()]))
    }

    /// A format.
    pub(super) fn format(format: Format) -> Self {
        Self::Of(BTreeSet::from([format]), BTreeSet::new())
    }

    /// Strings of either, said only once.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Open(mut known), Self::Open(values) | Self::Of(_, values))
            | (Self::Of(_, values), Self::Open(mut known)) => {
                known.extend(values);
                Self::Open(known)
            }
            (Self::Of(mut formats, mut values), Self::Of(more_formats, more)) => {
                formats.extend(more_formats);
                values.extend(more);
                Self::of(formats, values)
            }
        }
    }

    fn of(formats: BTreeSet<Format>, mut values: BTreeSet<String>) -> Self {
        let covered =
            |format: &Format| formats.iter().any(|other| other != format && other.covers(format));
        let formats: BTreeSet<Format> =
            formats.iter().filter(|format| !covered(format)).cloned().collect();
        values.retain(|value| !formats.iter().any(|format| format.fits(value)));
        Self::Of(formats, values)
    }

    /// Whether it accepts a string.
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Any | Self::Open(_) => true,
            Self::Of(formats, values) => {
                values.contains(text) || formats.iter().any(|format| format.fits(text))
            }
        }
    }
}

impl Union {
    /// The branches as objects that have the tag as a field.
    pub(super) fn apart(&self) -> impl Iterator<Item = Object> + '_ {
        self.branches.iter().map(|(value, branch)| branch.clone().saying(&self.tag, value))
    }
}

impl Object {
    /// The same with a field that says always the same.
    pub(super) fn saying(mut self, tag: &str, value: &str) -> Self {
        match &mut self {
            Self::Plain(fields) => {
                let schema = Schema::of_string(Text::value(value));
                let field = Field { position: 0, presence: Presence::Required, schema };
                fields.fields.insert(tag.to_owned(), field);
            }
            Self::Union(union) => {
                let branches = std::mem::take(&mut union.branches).into_iter();
                union.branches =
                    branches.map(|(name, branch)| (name, branch.saying(tag, value))).collect();
            }
        }
        self
    }
}

impl Schema {
    /// Of objects without fields.
    pub(crate) fn no_fields() -> Self {
        Self::of_object(Object::Plain(Fields::default()))
    }

    /// The names of the fields of objects without a tag.
    pub(crate) fn field_names(&self) -> impl Iterator<Item = &str> {
        let fields = match self.object.as_deref() {
            Some(Object::Plain(fields)) => Some(&fields.fields),
            _ => None,
        };
        fields.into_iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// What a field says that each of them has, if they are objects without a tag.
    pub(crate) fn required(&self, name: &str) -> Option<&Self> {
        let Some(Object::Plain(fields)) = self.object.as_deref() else { return None };
        let field = fields.fields.get(name)?;
        (field.presence == Presence::Required).then_some(&field.schema)
    }

    /// The names of the fields that each of the objects at a place has, if no field tells these apart.
    pub(crate) fn always_at(&self, place: &[String]) -> BTreeSet<&str> {
        self.objects_at(place).map_or_else(BTreeSet::new, |objects| objects.always().collect())
    }

    /// The words that a field of the objects at a place says, if it says no more than some.
    pub(crate) fn words_at(&self, place: &[String], field: &str) -> BTreeSet<&str> {
        let words: Vec<&String> = match self.objects_at(place) {
            Some(Object::Union(union)) if union.tag == field => union.branches.keys().collect(),
            Some(Object::Plain(fields)) => {
                match fields.fields.get(field).map(|it| &it.schema.string) {
                    Some(Some(Text::Of(_, words))) => words.iter().collect(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        };
        words.into_iter().map(String::as_str).collect()
    }

    /// The objects at a place: in fields, in objects of one kind, in lists, and in members whose names are data.
    fn objects_at(&self, place: &[String]) -> Option<&Object> {
        let Some((step, rest)) = place.split_first() else { return self.object.as_deref() };
        let listed = match self.array.as_deref() {
            Some(Array::Tuple(places)) => places.fields.get(step).map(|it| &it.schema),
            Some(Array::List(elements)) => Some(elements).filter(|_| step == "[]"),
            None => None,
        };
        match listed {
            Some(listed) => listed.objects_at(rest),
            None => self.object.as_deref()?.at(place),
        }
    }

    /// The objects that have members whose names are data, by their places, with the names of their other members.
    /// What tells objects apart is no step of a place.
    pub(crate) fn maps(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::new();
        self.find_maps("", &mut found);
        found
    }

    fn find_maps(&self, place: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
        match self.array.as_deref() {
            Some(Array::List(each)) => each.find_maps(&format!("{place}[]"), found),
            Some(Array::Tuple(places)) => {
                let each = places.fields.values();
                each.for_each(|it| it.schema.find_maps(&format!("{place}[]"), found));
            }
            None => {}
        }
        if let Some(object) = self.object.as_deref() {
            object.find_maps(place, found);
        }
    }

    /// Whether it is of objects only, which one field tells apart by these words.
    pub(crate) fn is_union_of<'w>(&self, words: impl Iterator<Item = &'w str>) -> bool {
        let alone = Self { object: self.object.clone(), ..Self::default() };
        let Some(Object::Union(union)) = self.object.as_deref() else { return false };
        *self == alone && words.eq(union.branches.keys().map(String::as_str))
    }
}
