//! What a value breaks.

use std::fmt;

use super::loss::WrittenPath;
use super::sample::{Element, Member, Sample};
use super::schema::{self, Array, Fields, Number, Object, Presence, Rest, Schema, Union};
use super::show::{alternatives, quote};
use super::tuple;
use crate::text::json::{Text, pointer};
use crate::text::nearest;

/// How much of a string is shown.
const SHOWN: usize = 40;

/// A place of a value that is not as promised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// Where in the promise, as in a [`Loss`](super::Loss); a field that is missing counts as the
    /// place.
    pub place: Vec<String>,
    /// What is wrong there.
    pub fault: Fault,
    /// What was promised, in words.
    pub expected: String,
    /// What is there, in words.
    pub found: String,
    /// The name that may have been meant.
    pub hint: Option<String>,
}

/// What can be wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The text is no JSON.
    NotJson,
    /// The value is of another type or of another format.
    Value,
    /// The value is a word, and not one of those that are known.
    Word,
    /// A field is missing.
    Missing,
    /// A field is not known.
    Unknown,
    /// A field is not known, and there is no other, of several that all might be missing: what is in one field or in
    /// another is of another kind.
    Other,
    /// A member has a name that none has, where names are data.
    Name,
    /// What tells objects apart says something that is not known.
    Branch,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, expected, found, .. } = self;
        let place = if pointer.is_empty() { "the whole" } else { pointer };
        write!(f, "{place}: expected {expected}, found {found}")
    }
}

impl Violation {
    /// The place in the promise as it is written: `tool_calls[].name`; empty for the whole.
    pub fn at(&self) -> String {
        WrittenPath(&self.place).to_string()
    }
}

impl Schema {
    /// Everything in a JSON text that is not as promised; nothing if it keeps the promise.
    ///
    /// `1.0` is no integer: a client with types does not read it as one.
    pub fn accepts(&self, json: &str) -> Vec<Violation> {
        if let Some(json) = Text::read(json) {
            return self.accepts_text(json);
        }
        let mut check = ValueCheck::default();
        check.tell(Fault::NotJson, self.words(), "text that is not JSON".to_owned());
        check.found
    }

    /// The same of what was read before.
    pub(crate) fn accepts_text(&self, json: Text<'_>) -> Vec<Violation> {
        let mut check = ValueCheck::default();
        check.value(self, &Sample::of(json));
        check.found
    }

    /// It in a few words, without the fields of objects.
    fn words(&self) -> String {
        let mut short = self.clone();
        short.object = None;
        let array = short.array.take().map(|_| "an array".to_owned());
        let object = self.object.as_deref().map(|object| match object {
            Object::Plain(_) => "an object".to_owned(),
            Object::Union(union) => format!("an object by `{}`", union.tag),
        });
        let mut words: Vec<String> = array.into_iter().chain(object).collect();
        if words.is_empty() || !short.is_never() {
            words.insert(0, short.to_text());
        }
        words.join(" | ")
    }

    /// Whether words are promised, and it is another one.
    fn misses_word(&self, sample: &Sample<'_>) -> bool {
        let is_choice = matches!(&self.string, Some(schema::Text::Of(formats, words))
            if formats.is_empty() && !words.is_empty());
        match sample {
            Sample::String(said) => is_choice && (said.is_word() || said.is_address()),
            Sample::Number(_) => !self.codes.is_empty(),
            _ => false,
        }
    }

    fn is_of(&self, sample: &Sample<'_>) -> bool {
        match sample {
            Sample::Deep => false,
            Sample::Null => self.null,
            Sample::Boolean => self.boolean,
            Sample::Number(spelled) => {
                let is_code = |code: i64| self.codes.contains(&code);
                self.number >= Some(Number::of(spelled)) || spelled.parse().is_ok_and(is_code)
            }
            Sample::String(said) => self.string.as_ref().is_some_and(|text| text.fits(&said.text)),
            Sample::Array(_) => self.array.is_some(),
            Sample::Object(_) => self.object.is_some(),
        }
    }
}

/// What has been found, and where the check is.
#[derive(Default)]
struct ValueCheck {
    pointer: String,
    place: Vec<String>,
    found: Vec<Violation>,
}

impl ValueCheck {
    fn value(&mut self, schema: &Schema, sample: &Sample<'_>) {
        if schema.any {
            return;
        }
        if !schema.is_of(sample) {
            let fault = if schema.misses_word(sample) { Fault::Word } else { Fault::Value };
            self.tell(fault, schema.words(), described(sample));
            return;
        }
        if let (Some(array), Sample::Array(found)) = (&schema.array, sample) {
            self.array(array, found);
        }
        if let (Some(object), Sample::Object(members)) = (&schema.object, sample) {
            self.object(object, members, &mut Vec::new());
        }
    }

    fn array(&mut self, array: &Array, found: &[Element<'_>]) {
        let places = match array {
            Array::List(elements) => {
                for (index, element) in found.iter().enumerate() {
                    let check = |check: &mut Self| check.value(elements, &element.value);
                    self.within(&index.to_string(), "[]", check);
                }
                return;
            }
            Array::Tuple(places) => places,
        };
        for (name, place) in &places.fields {
            let is_there = tuple::index(name).is_some_and(|index| index < found.len());
            if place.presence == Presence::Required && !is_there {
                self.missing(name, format!("the element {name}: {}", place.schema.words()));
            }
        }
        for (index, element) in found.iter().enumerate() {
            let name = tuple::name(index);
            self.within(&index.to_string(), &name, |check| match places.fields.get(&name) {
                Some(place) => check.value(&place.schema, &element.value),
                None => {
                    let expected = format!("{} elements", places.fields.len());
                    check.tell(Fault::Unknown, expected, described(&element.value));
                }
            });
        }
    }

    /// `told` are the tags that have been looked at already.
    fn object<'s>(&mut self, object: &'s Object, members: &[Member<'_>], told: &mut Vec<&'s str>) {
        match object {
            Object::Plain(fields) => self.fields(fields, members, told),
            Object::Union(union) => self.union(union, members, told),
        }
    }

    fn union<'s>(&mut self, union: &'s Union, members: &[Member<'_>], told: &mut Vec<&'s str>) {
        let member = members.iter().find(|member| *member.name == union.tag);
        let known = || {
            let known: Vec<String> = union.branches.keys().map(|value| quote(value)).collect();
            known.join(" | ")
        };
        let Some(member) = member else {
            return self.missing(&union.tag, format!("the field `{}`: {}", union.tag, known()));
        };
        let said = match &member.value {
            Sample::String(said) => Some(&*said.text),
            _ => None,
        };
        match said.and_then(|said| union.branches.get(said)) {
            Some(branch) => {
                told.push(&union.tag);
                self.place.extend(said.map(str::to_owned));
                self.object(branch, members, told);
                self.place.pop();
            }
            None if union.open && said.is_some() => {}
            None => {
                let names: Vec<&str> = union.branches.keys().map(String::as_str).collect();
                let hint = said.map(|said| nearest::hint(said, &names));
                self.inside(&union.tag, |check| {
                    check.tell(Fault::Branch, known(), described(&member.value));
                    check.hint(hint);
                });
            }
        }
    }

    fn fields(&mut self, fields: &Fields, members: &[Member<'_>], told: &[&str]) {
        let is_there = |name: &str| members.binary_search_by(|it| (*it.name).cmp(name)).is_ok();
        for (name, field) in &fields.fields {
            let required = field.presence == Presence::Required;
            if required && !is_there(name) {
                self.missing(name, format!("the field `{name}`: {}", field.schema.words()));
            }
        }
        for member in members.iter().filter(|member| !told.contains(&&*member.name)) {
            match (fields.fields.get(&*member.name), &fields.rest) {
                (Some(field), _) => {
                    let name = &member.name;
                    self.within(name, name, |check| check.value(&field.schema, &member.value));
                }
                (None, Some(rest)) if rest.name.fits(&member.name) => {
                    let name = &member.name;
                    self.within(name, "{}", |check| check.value(&rest.schema, &member.value));
                }
                (None, _) if fields.open => {}
                (None, rest) => self.unknown(fields, rest.as_ref(), member, members.len() == 1),
            }
        }
    }

    fn missing(&mut self, name: &str, expected: String) {
        self.place.push(name.to_owned());
        self.tell(Fault::Missing, expected, "none".to_owned());
        self.place.pop();
    }

    fn unknown(
        &mut self,
        fields: &Fields,
        rest: Option<&Rest>,
        member: &Member<'_>,
        is_only: bool,
    ) {
        let mut all = fields.fields.values();
        let is_other = is_only
            && fields.fields.len() > 1
            && all.all(|field| field.presence == Presence::Optional);
        let names: Vec<&str> = fields.fields.keys().map(String::as_str).collect();
        let near = nearest::nearest(&member.name, &names);
        let hint = near.map(|name| format!("did you mean `{name}`?"));
        let (fault, expected) = match rest {
            None if is_other => (Fault::Other, "one of the fields that are known".to_owned()),
            None => (Fault::Unknown, "no field of this name".to_owned()),
            Some(rest) => {
                let names = alternatives(&rest.name).join(" | ");
                (Fault::Name, format!("a name that is {names}"))
            }
        };
        self.within(&member.name, &member.name, |check| {
            check.tell(fault, expected, described(&member.value));
            check.hint(hint);
        });
    }

    /// Looks at a part: what it is called in the value, and in the promise.
    fn within(&mut self, step: &str, place: &str, check: impl FnOnce(&mut Self)) {
        self.place.push(place.to_owned());
        self.inside(step, check);
        self.place.pop();
    }

    fn inside(&mut self, step: &str, check: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&pointer::escaped(step));
        check(self);
        self.pointer.truncate(length);
    }

    fn tell(&mut self, fault: Fault, expected: String, found: String) {
        let (pointer, place) = (self.pointer.clone(), self.place.clone());
        self.found.push(Violation { pointer, place, fault, expected, found, hint: None });
    }

    /// Adds to what was told last.
    fn hint(&mut self, hint: Option<String>) {
        if let Some(last) = self.found.last_mut() {
            last.hint = hint;
        }
    }
}

fn described(sample: &Sample<'_>) -> String {
    match sample {
        Sample::Deep => "a value too deep to look at".to_owned(),
        Sample::Null => "null".to_owned(),
        Sample::Boolean => "a boolean".to_owned(),
        Sample::Number(spelled) => match Number::of(spelled) {
            Number::Integer => format!("the integer {spelled}"),
            Number::Any => format!("the number {spelled}"),
        },
        Sample::String(said) if said.text.chars().nth(SHOWN).is_some() => {
            let begin: String = said.text.chars().take(SHOWN - 1).collect();
            format!("{}…", quote(&begin).trim_end_matches('"')) + "\""
        }
        Sample::String(said) => quote(&said.text),
        Sample::Array(elements) if elements.is_empty() => "an empty array".to_owned(),
        Sample::Array(_) => "an array".to_owned(),
        Sample::Object(_) => "an object".to_owned(),
    }
}
