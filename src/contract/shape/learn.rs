//! From samples to what is promised.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::repeat;

use foldhash::fast::RandomState;

use super::codes::{self, may_be_code};
use super::evidence::{Claim, Evidence, Tally, Witness, Witnesses};
use super::format::{Format, ID, PREFIXED};
use super::names::{Naming, are_alike, is_data, may_be_given, vary};
use super::rows::{SeenSample, independent};
use super::sample::{Element, Member, Sample, StringSample};
use super::schema::{Array, Field, Fields, Number, Object, Presence, Rest, Schema, Text, Union};
use super::tags::Tag;
use super::tuple;
use crate::identity::stands_for;
use crate::message::telling;
use crate::text::json;

/// How many tags, one below the other, may be told apart: the type of an event, of the item in it, of
/// the content in that.
const ROOM: u8 = 3;

/// With more names than that, names are data.
pub(super) const MOST_FIELDS: usize = 256;

/// An enum has no more values, and so many recordings show it for each of them.
const MOST_VALUES: usize = 12;
const EACH: usize = 10;

/// So many recordings show the words of a field that is named like a type.
const TELLING: usize = 2;

/// Of more words than that, one in so many recordings may say one that no other says: else there are more to come
/// (after Good, Biometrika 1953: so likely is it that the next recording says a new one).
const FEW_VALUES: usize = 3;
const BRINGS_NEW: usize = 4;

/// Fewer different strings that are integers may be so by chance.
const INTEGERS: usize = 20;

/// A shorter prefix is one if so many different strings have it.
const WORD: usize = 3;
const PREFIXES: usize = 3;

/// The shape of the JSON values seen at one place: learned one by one, and
/// [finished](Shape::finish) into a [`Schema`].
///
/// What is learned depends on the samples alone, not on their order, as long as each keeps its number.
///
/// # Example: a tag is found
///
/// ```
/// use retape::contract::shape::Shape;
///
/// let mut shape = Shape::default();
/// for (witness, json) in [
///     r#"{"type": "text", "text": "Hello, world"}"#,
///     r#"{"type": "image", "url": "https://example.org/1.png", "width": 640}"#,
///     r#"{"type": "text", "text": "Good night", "note": null}"#,
/// ].iter().cycle().take(30).enumerate() {
///     shape.learn(json, witness as u32)?;
/// }
///
/// assert_eq!(shape.finish().to_string(), "\
/// by type
///   image
///     url: uri
///     width: integer
///   text
///     text: string
///     note?: null
/// ");
/// # Ok::<(), retape::contract::shape::NotJson>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    samples: Vec<(Box<str>, Witness)>,
}

/// A text that is no JSON: nothing can be learned from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

impl std::fmt::Display for NotJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("text that is not JSON")
    }
}

impl std::error::Error for NotJson {}

impl Shape {
    /// Learns from a JSON text that has this number.
    ///
    /// # Errors
    ///
    /// If it is no JSON. Nothing is learned then.
    pub fn learn(&mut self, json: &str, witness: Witness) -> Result<(), NotJson> {
        json::Text::read(json).ok_or(NotJson)?;
        self.samples.push((json.into(), witness));
        Ok(())
    }

    /// How many values were seen.
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// What the samples have in common, as a promise.
    pub fn finish(&self) -> Schema {
        Schema::learn(self.texts(), &Alone)
    }

    /// Who has seen each optional field, `null`, known string and branch that [`finish`](Self::finish)
    /// tells.
    pub fn evidence(&self) -> Vec<Evidence> {
        evidence(self.texts(), &Alone)
    }

    fn texts(&self) -> impl Iterator<Item = (json::Text<'_>, Witness)> {
        self.samples.iter().map(|(text, witness)| (json::Text::known(text), *witness))
    }
}

impl Schema {
    /// What JSON texts have in common, each with its number.
    pub(crate) fn learn<'j>(
        texts: impl Iterator<Item = (json::Text<'j>, Witness)>,
        around: &dyn Around,
    ) -> Self {
        Learner::new(around).root(texts)
    }
}

/// Who has seen what is learned from these texts.
pub(crate) fn evidence<'j>(
    texts: impl Iterator<Item = (json::Text<'j>, Witness)>,
    around: &dyn Around,
) -> Vec<Evidence> {
    let mut learner = Learner { evidence: Some(Vec::new()), ..Learner::new(around) };
    learner.root(texts);
    learner.evidence.unwrap_or_default()
}

/// What is known of samples beside what they say: by default each is a recording of its own, of which
/// nothing is known.
pub(crate) trait Around {
    /// Which independent recording a sample is from. What one says many times it has said once.
    fn recording(&self, sample: Witness) -> u32 {
        sample
    }

    /// Whether the client has said a text when it asked for this sample.
    fn was_asked(&self, _sample: Witness, _text: &str) -> bool {
        false
    }

    /// Whether the client had said a word in a field of this name by the time of this sample.
    fn has_chosen(&self, _sample: Witness, _field: &str, _word: &str) -> bool {
        false
    }

    /// Whether a client has made up a word.
    fn made_up(&self, _word: &str) -> bool {
        false
    }

    /// Whether clients mint what has this prefix.
    fn mint(&self, _prefix: &str) -> bool {
        false
    }

    /// Whether the server identifies something by a word in the recording of this sample.
    fn is_given(&self, _sample: Witness, _word: &str) -> bool {
        false
    }

    /// How clients name the members of what they put into a field of this name.
    fn naming(&self, _field: &str) -> Option<&Naming> {
        None
    }

    /// Whether the client had said a member of this name in a field of that name by the time of this sample.
    fn has_named(&self, _sample: Witness, _field: &str, _name: &str) -> bool {
        false
    }

    /// Whether the client has declared a property of this name when it asked for this sample.
    fn was_declared(&self, _sample: Witness, _name: &str) -> bool {
        false
    }
}

/// Samples of which nothing else is known.
struct Alone;

impl Around for Alone {}

/// The objects seen at one place.
pub(super) struct Objects<'s> {
    witnesses: Vec<Witness>,
    /// The fields by name.
    pub(super) fields: Vec<Column<'s>>,
    /// The members whose names are data: those that were minted, or all where there are too many.
    rest: Vec<Column<'s>>,
}

/// What a field, or a member whose name is data, says in all objects.
pub(super) struct Column<'s> {
    pub(super) name: &'s str,
    /// The last place that it had among the members of an object.
    position: u32,
    /// What it says, by the number of the object.
    pub(super) values: Vec<(usize, &'s Sample<'s>)>,
}

impl<'s> Objects<'s> {
    fn of(objects: &[(&'s [Member<'s>], Witness)], around: &dyn Around) -> Self {
        let mut numbers: HashMap<&str, usize, RandomState> = HashMap::default();
        let mut all: Vec<Column<'s>> = Vec::new();
        for (object, (members, _)) in objects.iter().enumerate() {
            // Most objects have the fields of the one before.
            let mut next = 0;
            for Member { name, position, value } in *members {
                let number = match all.get(next) {
                    Some(field) if field.name == *name => next,
                    _ => *numbers.entry(name).or_insert_with(|| {
                        all.push(Column { name, position: 0, values: Vec::new() });
                        all.len() - 1
                    }),
                };
                next = number + 1;
                let field = &mut all[number];
                field.position = field.position.max(*position);
                field.values.push((object, value));
            }
        }
        all.sort_unstable_by_key(|field| field.name);
        let is_given = |field: &Column<'_>| {
            let shown = field.values.first().map(|(object, _)| objects[*object].1);
            may_be_given(field.name) && shown.is_some_and(|it| around.is_given(it, field.name))
        };
        let (mut rest, mut fields): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|field| is_data(field.name) || is_given(field));
        if fields.len() > MOST_FIELDS {
            rest.append(&mut fields);
        }
        let witnesses = objects.iter().map(|(_, witness)| *witness).collect();
        Self { witnesses, fields, rest }
    }

    pub(super) fn count(&self) -> usize {
        self.witnesses.len()
    }

    /// What may tell objects apart; nothing where there are too many names.
    pub(super) fn members(&self) -> impl Iterator<Item = &Column<'s>> {
        let rest = if self.fields.is_empty() { &[] } else { self.rest.as_slice() };
        self.fields.iter().chain(rest)
    }

    fn seen<'a>(&'a self, field: &'a Column<'s>) -> impl Iterator<Item = SeenSample<'s>> + 'a {
        field.values.iter().map(|(object, value)| (*value, self.witnesses[*object]))
    }

    /// Whether no name is in all objects, and names vary much.
    fn are_named_freely(&self) -> bool {
        vary(self.fields.iter().map(|field| field.values.len()), self.count())
    }

    /// The witnesses of the objects that do not have a field.
    fn without(&self, field: &Column<'_>) -> Witnesses {
        let mut having = field.values.iter().map(|(object, _)| *object).peekable();
        let missing = self.witnesses.iter().enumerate();
        let missing = missing.filter(|(object, _)| having.next_if_eq(object).is_none());
        missing.map(|(_, witness)| *witness).collect()
    }
}

/// Where the learning is, and who has seen what, if that is asked.
struct Learner<'l> {
    around: &'l dyn Around,
    place: Vec<String>,
    evidence: Option<Vec<Evidence>>,
}

impl<'l> Learner<'l> {
    fn new(around: &'l dyn Around) -> Self {
        Self { around, place: Vec::new(), evidence: None }
    }

    /// How many independent recordings these are.
    fn recordings(&self, witnesses: impl Iterator<Item = Witness>) -> usize {
        let recordings = witnesses.map(|witness| self.around.recording(witness));
        recordings.collect::<HashSet<u32, RandomState>>().len()
    }

    fn root<'j>(&mut self, texts: impl Iterator<Item = (json::Text<'j>, Witness)>) -> Schema {
        let samples: Vec<(Sample<'j>, Witness)> =
            texts.map(|(text, witness)| (Sample::of(text), witness)).collect();
        let seen: Vec<SeenSample<'_>> = samples.iter().map(|(it, who)| (it, *who)).collect();
        self.values(&seen, ROOM)
    }

    /// What the values at one place are. `room` says how many tags may be told apart there, one below
    /// the other.
    fn values(&mut self, values: &[SeenSample<'_>], room: u8) -> Schema {
        let mut schema = Schema::never();
        let is_code = may_be_code(&self.place);
        let (mut nulls, mut strings, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut arrays, mut objects) = (Vec::new(), Vec::new());
        for (value, witness) in values {
            match value {
                Sample::Deep => return Schema::any(),
                Sample::Null => nulls.push(*witness),
                Sample::Boolean => schema.boolean = true,
                Sample::Number(spelled) if is_code => numbers.push((&**spelled, *witness)),
                Sample::Number(spelled) => {
                    schema.number = schema.number.max(Some(Number::of(spelled)));
                }
                Sample::String(said) => strings.push((said, *witness)),
                Sample::Array(elements) => arrays.push((elements.as_slice(), *witness)),
                Sample::Object(members) => objects.push((members.as_slice(), *witness)),
            }
        }
        schema.null = !nulls.is_empty();
        if schema.null && nulls.len() < values.len() {
            self.tell(Claim::Null, || Tally::of(nulls.into_iter()), values.len());
        }
        if is_code {
            codes::learn(&mut schema, &numbers, |of| self.recordings(of.iter().copied()));
        }
        if !strings.is_empty() {
            schema.string = Some(self.strings(&strings));
        }
        if !arrays.is_empty() {
            schema.array = Some(Box::new(self.arrays(&arrays, room)));
        }
        if !objects.is_empty() {
            schema.object = Some(Box::new(self.objects(&objects, &[], room)));
        }
        schema
    }

    fn arrays(&mut self, all: &[(&[Element<'_>], Witness)], room: u8) -> Array {
        let recordings = || self.recordings(all.iter().map(|(_, witness)| *witness));
        if let Some(length) = tuple::length(all, recordings) {
            let places = (0..length).map(|index| {
                let name = tuple::name(index);
                let seen: Vec<SeenSample<'_>> = all
                    .iter()
                    .map(|(elements, witness)| (&elements[index].value, *witness))
                    .collect();
                let schema = self.within(&name, |learner| learner.values(&seen, room));
                let position = u32::try_from(index).unwrap_or(u32::MAX);
                (name, Field { position, presence: Presence::Required, schema })
            });
            return Array::Tuple(Fields { fields: places.collect(), ..Fields::default() });
        }
        let elements =
            all.iter().flat_map(|(elements, witness)| elements.iter().zip(repeat(*witness)));
        let elements = independent(elements.collect(), |witness| self.around.recording(witness));
        Array::List(self.within("[]", |learner| learner.values(&elements, room)))
    }

    /// An enum if they are few, each seen in more than one recording, so that no single one decides; else
    /// what they look like.
    fn strings(&mut self, strings: &[(&StringSample<'_>, Witness)]) -> Text {
        if let Some(values) = self.enumerated(strings) {
            for (value, witnesses) in &values {
                let claim = Claim::Value((*value).to_owned());
                self.tell(claim, || Tally::of(witnesses.iter().copied()), strings.len());
            }
            return Text::Of([].into(), values.into_keys().map(str::to_owned).collect());
        }
        let format = format(strings.iter().map(|(said, _)| *said)).map(|format| match format {
            // One in seventy that are drawn from all letters begins with one and a mark.
            Format::Prefixed(prefix) if prefix.len() < WORD && !several(strings, PREFIXES) => {
                Format::Id
            }
            format => format,
        });
        let is_sure = |format: &Format| match format {
            Format::Integer => several(strings, INTEGERS),
            Format::Prefixed(prefix) => !self.around.mint(prefix) && !self.around.made_up(prefix),
            _ => true,
        };
        format.filter(is_sure).map_or(Text::Any, Text::format)
    }

    /// The values of an enum, with who has seen them. What the client has said is none.
    fn enumerated<'s>(
        &self,
        strings: &[(&'s StringSample<'_>, Witness)],
    ) -> Option<BTreeMap<&'s str, Vec<Witness>>> {
        let name = self.place.iter().rfind(|step| !step.starts_with('['));
        let is_telling = name.is_some_and(|it| telling::is_kind(it) || telling::is_outcome(it));
        let mut values: BTreeMap<&str, Vec<Witness>> = BTreeMap::new();
        let mut are_words = true;
        for (said, witness) in strings {
            let is_name = !is_telling && stands_for(name.map_or("", String::as_str), &said.text);
            let is_word = said.is_word() && !is_name || is_telling && said.is_address();
            if let Some(witnesses) = values.get_mut(&*said.text) {
                witnesses.push(*witness);
            } else if (is_word || is_telling && said.is_phrase()) && values.len() < MOST_VALUES {
                are_words &= is_word;
                values.insert(&said.text, vec![*witness]);
            } else {
                return None;
            }
        }
        if values.keys().any(|word| self.around.made_up(word)) {
            return None;
        }
        if name.is_some_and(|name| self.is_chosen(name, &values)) {
            return None;
        }
        let recordings = self.recordings(strings.iter().map(|(_, witness)| *witness));
        let several = |of: &Vec<Witness>| self.recordings(of.iter().copied()) > 1;
        let is_code = || telling::is_error_code(self.place.iter().map(String::as_str));
        // Several words may be prose: they take as many recordings as where no name tells.
        if are_words && (is_telling || is_code()) {
            let new = values.values().filter(|of| !several(of)).count();
            // Each code of an error has to be seen twice: how many there are, no test shows.
            let goes_on = match is_telling {
                true if values.len() > FEW_VALUES => new * BRINGS_NEW > recordings,
                // Where nothing was said twice, nothing is known of what comes next.
                true => values.len() == FEW_VALUES && new == values.len(),
                false => new > 0,
            };
            return (recordings >= TELLING && !goes_on).then_some(values);
        }
        let is_echo = || {
            let mut all = strings.iter();
            all.all(|(said, witness)| self.around.was_asked(*witness, &said.text))
        };
        // A recording that says several has seen each.
        let sightings = |of: &Vec<Witness>| self.recordings(of.iter().copied());
        let are_enough = recordings >= EACH
            && values.values().map(sightings).sum::<usize>() >= EACH * values.len();
        (are_enough && values.values().all(several) && !is_echo()).then_some(values)
    }

    /// Whether a field says what the client has said in one of the same name: each time it had said that
    /// before, and it could have said something else, as at other times.
    fn is_chosen(&self, field: &str, values: &BTreeMap<&str, Vec<Witness>>) -> bool {
        let said = || {
            let each = values.iter();
            each.flat_map(|(word, all)| all.iter().map(|witness| (*word, *witness)))
        };
        let has_chosen = |word: &str, at: Witness| self.around.has_chosen(at, field, word);
        let is_other = |at: Witness| values.keys().any(|word| !has_chosen(word, at));
        values.len() > 1
            && said().all(|(word, at)| has_chosen(word, at))
            && said().any(|(_, at)| is_other(at))
    }

    /// Objects. `known` are the tags that have been looked at already.
    fn objects(&mut self, all: &[(&[Member<'_>], Witness)], known: &[&str], room: u8) -> Object {
        if self.are_declared(all) {
            let rest = Rest { name: Text::Any, schema: Schema::any() };
            return Object::Plain(Fields { rest: Some(rest), ..Fields::default() });
        }
        let objects = Objects::of(all, self.around);
        let is_made_up = |word: &str| self.around.made_up(word);
        let is_chosen = |tag: &Tag<'_>| {
            let witnesses =
                |group: &Vec<usize>| group.iter().map(|object| all[*object].1).collect();
            let said = tag.groups.iter().map(|(word, group)| (*word, witnesses(group)));
            self.is_chosen(tag.field, &said.collect())
        };
        let by = |room| Some((Tag::of(&objects, &is_made_up, &is_chosen)?, room));
        let tag = room.checked_sub(1).and_then(by);
        let Some((tag, room)) = tag else {
            return Object::Plain(self.fields(&objects, known, room));
        };
        let open = tag.is_name(|object| all[object].1);
        let Tag { field, groups, .. } = tag;
        let known = [known, &[field]].concat();
        let mut branches = BTreeMap::new();
        for (word, group) in groups {
            let group: Vec<_> = group.into_iter().map(|object| all[object]).collect();
            let claim = Claim::Branch(field.to_owned(), word.to_owned());
            self.tell(claim, || Tally::of(group.iter().map(|it| it.1)), all.len());
            let branch = self.within(word, |learner| learner.objects(&group, &known, room));
            branches.insert(word.to_owned(), branch);
        }
        Object::Union(Union { tag: field.to_owned(), branches, open })
    }

    /// Whether most of them have the names that the client has declared: the arguments of its tools.
    fn are_declared(&self, all: &[(&[Member<'_>], Witness)]) -> bool {
        let said = || all.iter().filter(|(members, _)| !members.is_empty());
        let is_declared = |(members, sample): &&(&[Member<'_>], Witness)| {
            members.iter().all(|member| self.around.was_declared(*sample, &member.name))
        };
        let declared = said().filter(is_declared).count();
        declared > 0 && declared * 2 >= said().count()
    }

    fn fields(&mut self, objects: &Objects<'_>, known: &[&str], room: u8) -> Fields {
        let is_map = objects.rest.is_empty()
            && known.is_empty()
            && are_alike(&objects.fields)
            && (objects.are_named_freely() || self.are_named_by_clients(objects));
        if is_map {
            let rest = self.rest(objects, &objects.fields, ROOM);
            return Fields { rest: Some(Rest { name: Text::Any, ..rest }), ..Fields::default() };
        }
        let rest = (!objects.rest.is_empty()).then(|| self.rest(objects, &objects.rest, room));
        let fields = objects.fields.iter().filter(|field| !known.contains(&field.name));
        let fields = fields.map(|field| {
            let field_of = |learner: &mut Self| learner.field(objects, field, room);
            (field.name.to_owned(), self.within(field.name, field_of))
        });
        Fields { fields: fields.collect(), rest, open: false }
    }

    /// Whether they have no names but those that clients had chosen before. One that is in all of them is more
    /// than that, unless chance explains it: clients choose it that often.
    fn are_named_by_clients(&self, objects: &Objects<'_>) -> bool {
        let field = self.place.iter().rfind(|step| !step.starts_with('['));
        let Some((field, naming)) = field.and_then(|it| Some((it, self.around.naming(it)?))) else {
            return false;
        };
        let recordings = self.recordings(objects.witnesses.iter().copied());
        let is_chosen = |member: &Column<'_>| {
            let mut seen = objects.seen(member);
            let is_always = member.values.len() == objects.count();
            let is_chance = || naming.is_chance(member.name, recordings);
            (!is_always || is_chance())
                && seen.all(|(_, at)| self.around.has_named(at, field, member.name))
        };
        objects.fields.iter().all(is_chosen)
    }

    fn field(&mut self, objects: &Objects<'_>, field: &Column<'_>, room: u8) -> Field {
        let seen: Vec<SeenSample<'_>> = objects.seen(field).collect();
        let is_always = seen.len() == objects.count();
        if !is_always && let Some(evidence) = &mut self.evidence {
            evidence.push(Evidence {
                place: self.place.clone(),
                of: Claim::Field,
                seen: Tally::of(seen.iter().map(|it| it.1)),
                all: objects.count() as u64,
                missed: objects.without(field),
            });
        }
        let presence = if is_always { Presence::Required } else { Presence::Optional };
        Field { position: field.position, presence, schema: self.values(&seen, room) }
    }

    /// The members whose names are data.
    fn rest(&mut self, objects: &Objects<'_>, members: &[Column<'_>], room: u8) -> Rest {
        let names: Vec<StringSample<'_>> =
            members.iter().map(|member| StringSample::of(member.name.into())).collect();
        let format = format(names.iter()).filter(|format| *format != Format::Integer);
        let seen: Vec<SeenSample<'_>> = members.iter().flat_map(|it| objects.seen(it)).collect();
        let schema = self.within("{}", |learner| learner.values(&seen, room));
        Rest { name: format.map_or(Text::Any, Text::format), schema }
    }

    fn within<T>(&mut self, step: &str, learn: impl FnOnce(&mut Self) -> T) -> T {
        self.place.push(step.to_owned());
        let learned = learn(self);
        self.place.pop();
        learned
    }

    fn tell(&mut self, of: Claim, seen: impl FnOnce() -> Tally, all: usize) {
        if let Some(evidence) = &mut self.evidence {
            let (place, missed) = (self.place.clone(), Witnesses::default());
            evidence.push(Evidence { place, of, seen: seen(), all: all as u64, missed });
        }
    }
}

/// Whether so many of them differ.
fn several(strings: &[(&StringSample<'_>, Witness)], count: usize) -> bool {
    let mut differing: HashSet<&str, RandomState> = HashSet::default();
    strings.iter().any(|(said, _)| differing.insert(&said.text) && differing.len() >= count)
}

/// The most telling of the formats that all have. Of what was minted some has to look so.
fn format<'s>(strings: impl Iterator<Item = &'s StringSample<'s>> + Clone) -> Option<Format> {
    let (all, some) = strings
        .clone()
        .fold((u16::MAX, 0), |(all, some), said| (all & said.formats, some | said.formats));
    let mut plain = Format::NAMED.into_iter().map(|(format, _)| format);
    let told = plain.find(|format| *format != Format::Id && all & format.bit() != 0);
    let fit = |format: &Format| strings.clone().all(|said| format.fits(&said.text));
    told.or_else(|| {
        let prefixed = strings.clone().filter(|said| said.formats & PREFIXED != 0);
        let prefix = prefixed.map(|said| &said.text[..said.prefix]).min_by_key(|it| it.len())?;
        Some(Format::Prefixed(prefix.to_owned())).filter(fit)
    })
    .or_else(|| Some(Format::Id).filter(|format| some & ID != 0 && fit(format)))
}
