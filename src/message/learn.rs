//! Finding out what tells the types of messages of which no protocol is known.
//!
//! # Rationale
//!
//! What tells the type tells as well which fields a message has and which message may follow: with it
//! both take fewer bits to say (after "tagged unions first" in the learning of JSON types). So each
//! candidate is charged for what it costs to name its types, and credited with what it saves; the one
//! that saves most is taken, if that is more than what is usual saves. Without a name that tells, the
//! shape alone has to pay for the types: the words of an answer that was recorded three times follow each
//! other as well. A field whose values only tell streams apart, or are others in each stream, is no candidate: these are
//! identifiers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::protocols::{is_code, only};
use super::telling::{self, TELLING};
use super::{Message, Protocols, Tag, TagSource};
use crate::config::{At, IndexedObject, LONGEST_TUPLE};
use crate::text::json::pointer::{self, is_index};
use crate::text::json::{Container, Leaf, Text, kind};

/// More messages do not tell more.
const LOOKED_AT: usize = 2_000;

/// What has more values is no type.
const MOST_TYPES: usize = 32;

/// The longest value that may be a type.
const LONGEST: usize = 48;

/// How deep fields are looked at, and how deep the one may be that tells the type.
const DEPTH: usize = 4;
const TYPE_DEPTH: usize = 2;

/// So many of ten messages have to tell their type.
const TENTHS: usize = 8;

/// The bits that it takes to name a type.
const NAME: f64 = 3.0;

/// A message that was read, and the body that it is in.
struct ReadMessage<'m> {
    body: usize,
    message: &'m Message,
    json: Text<'m>,
    object: IndexedObject<'m>,
}

/// A message of which no protocol is known.
struct Sample<'m> {
    body: usize,
    /// The type by what is usual.
    usual: String,
    event: Option<&'m str>,
    /// The type that the server says: the name of the event, or a word in a field that is called so.
    said: Option<String>,
    /// What may be a type, by place.
    words: BTreeMap<String, String>,
    /// Where anything stands.
    places: BTreeSet<String>,
    /// The name of the only member of an object, by its place.
    members: BTreeMap<String, String>,
    /// The fields with the kind of what stands in them; elements of arrays are not told apart.
    fields: BTreeSet<String>,
}

impl Protocols {
    /// What tells the types of the messages of some bodies, if it is neither a known protocol nor what
    /// is usual: a field called `type`, the name of the event.
    pub fn learn<'m>(&self, bodies: impl IntoIterator<Item = &'m [Message]>) -> Option<TagSource> {
        let bodies: Vec<&[Message]> = bodies.into_iter().collect();
        let mut looked_at = 0;
        let first = bodies.iter().enumerate().take_while(|(_, messages)| {
            let is_enough = looked_at >= LOOKED_AT;
            looked_at += messages.len();
            !is_enough
        });
        let read = first.flat_map(|(body, messages)| self.read_open(body, messages));
        let read: Vec<ReadMessage<'m>> = read.take(LOOKED_AT).collect();
        let are_tuples = are_tuples(&read);
        let samples: Vec<Sample<'m>> = read.iter().map(|it| self.sample(it, are_tuples)).collect();
        let scale = Scale::of(&samples, are_tuples);
        let usual = types(&samples, |sample| Some(&sample.usual));
        let said = types(&samples, |sample| sample.said.as_deref());
        // What takes together what the server tells apart is no type, however usual it is.
        let mut most = match refines(&usual, &said) {
            true => scale.saved(&usual, None).max(0.0),
            false => f64::NEG_INFINITY,
        };
        let mut best = None;
        for told in candidates(&samples) {
            // What a message says of itself counts before what of it is there.
            let is_said = matches!(best, Some(TagSource::Field(_) | TagSource::Event));
            if is_said && matches!(told, TagSource::Member(_)) {
                continue;
            }
            let types = types(&samples, |sample| sample.says(&told));
            if !refines(&types, &said) {
                continue;
            }
            let saved = scale.saved(&types, Some(&told));
            if saved > most && types != usual {
                (most, best) = (saved, Some(told));
            }
        }
        // What the server says twice is the type, whatever else would pay.
        let said = match &best {
            Some(TagSource::Field(at)) => self.beside_events(Some(at), &bodies),
            _ => None,
        };
        self.beside_events(None, &bodies).or(said).or(best)
    }

    /// The field in which the messages of some bodies say their types: the one that is learned, else the one
    /// that is usual.
    pub(crate) fn telling(&self, bodies: &[Vec<Message>]) -> Option<At> {
        match self.learn(bodies.iter().map(Vec::as_slice)) {
            Some(TagSource::Field(at) | TagSource::Both(Some(at))) => return Some(at),
            Some(_) => return None,
            None => {}
        }
        let mut fields: BTreeMap<&str, (usize, At)> = BTreeMap::new();
        for message in bodies.iter().flatten() {
            let json = container(message).map(IndexedObject::of);
            if let Some(at) = json.and_then(|json| self.field(&json)) {
                fields.entry(at.as_str()).or_insert_with(|| (0, at.clone())).0 += 1;
            }
        }
        fields.into_values().max_by_key(|(times, _)| *times).map(|(_, at)| at)
    }

    /// What the names of events add to the types that the messages say, if all messages have one: both are the type
    /// where they are the same, and the names are where they say more.
    fn beside_events(&self, told: Option<&At>, bodies: &[&[Message]]) -> Option<TagSource> {
        let protocols = told.map(|at| self.with(&TagSource::Field(at.clone())));
        let protocols = protocols.as_ref().unwrap_or(self);
        let messages = bodies.iter().copied().flatten().filter(|message| message.is_json);
        let counted = messages.filter(|message| !message.is_keep_alive()).take(LOOKED_AT);
        let (mut types, mut count) = (BTreeMap::<&str, BTreeSet<Tag>>::new(), 0);
        for message in counted {
            let tag = protocols.tag_of(message.json()?, None);
            types.entry(message.event.as_deref()?).or_default().insert(tag);
            count += 1;
        }
        let is_same = |(event, said): (&&str, &BTreeSet<Tag>)| {
            said.iter().all(|tag| !tag.is_named() || tag.as_str() == *event)
        };
        if types.len() > 1 && types.iter().all(is_same) {
            return Some(TagSource::Both(told.cloned()));
        }
        let said: BTreeSet<&Tag> = types.values().flatten().collect();
        let is_finer = types.values().all(|said| said.len() == 1)
            && types.len() > said.len()
            && types.len() <= MOST_TYPES
            && types.len() * 2 <= count
            && types.keys().all(|event| is_type(event));
        (is_finer && said.iter().any(|tag| tag.is_named())).then_some(TagSource::Event)
    }

    /// The messages of a body of which no protocol is known, and those of which one does not say what they are: of
    /// a call by JSON-RPC it knows one result, so several are somebody's stream.
    fn read_open<'m>(&self, body: usize, messages: &'m [Message]) -> Vec<ReadMessage<'m>> {
        let mut read = Vec::new();
        let mut answers: HashMap<String, usize> = HashMap::new();
        for message in messages.iter().filter(|message| !message.is_keep_alive()) {
            let Some(json) = container(message) else { continue };
            let object = IndexedObject::of(json);
            let answer = match self.outcome(message, &object) {
                None => None,
                Some(outcome) => match outcome.and_then(|it| answered(it, &object)) {
                    None => continue,
                    answer => answer,
                },
            };
            answer.iter().for_each(|answer| *answers.entry(answer.clone()).or_default() += 1);
            read.push((ReadMessage { body, message, json, object }, answer));
        }
        let is_open = |answer: &Option<String>| answer.as_ref().is_none_or(|it| answers[it] > 1);
        let open = read.into_iter().filter(|(_, answer)| is_open(answer));
        open.map(|(read, _)| read).collect()
    }

    /// What a message says beside its type, if that is known: by a protocol, or, where a message has a type and says
    /// none, by the call that it answers.
    fn outcome<'m>(
        &self,
        message: &Message,
        object: &IndexedObject<'m>,
    ) -> Option<Option<Text<'m>>> {
        if let Some((protocol, _)) = self.known(object) {
            return Some(protocol.open(object).and_then(|at| object.at(at)));
        }
        let is_told = message.tag.is_named() && message.event.is_none();
        let is_answer = is_told && self.typed(object).is_none();
        is_answer.then(|| member(object, message.tag.as_str()))
    }

    fn sample<'m>(&self, read: &ReadMessage<'m>, are_tuples: bool) -> Sample<'m> {
        let ReadMessage { body, message, json, object } = read;
        let leaves: Vec<Leaf<'_>> = json.leaves();
        let leaves: Vec<LocatedLeaf<'_, '_>> =
            leaves.iter().map(|it| LocatedLeaf::of(it, are_tuples)).collect();
        let members = object.members();
        let within =
            members.iter().map(|(name, value)| (format!("/{name}"), only(value.members())));
        let whole = (String::new(), only(members.iter().cloned()));
        let members = within.chain([whole]).filter_map(|(at, name)| Some((at, name?)));
        Sample {
            members: members.filter(|(at, name)| is_type(name) && may_be_named(at)).collect(),
            body: *body,
            usual: self.tag(&message.data, message.event.as_deref()).as_str().to_owned(),
            event: message.event.as_deref(),
            said: message
                .event
                .clone()
                .or_else(|| self.typed(object).map(|tag| tag.as_str().to_owned())),
            words: leaves.iter().filter_map(LocatedLeaf::word).collect(),
            places: leaves.iter().filter_map(LocatedLeaf::place).collect(),
            fields: leaves.iter().filter_map(LocatedLeaf::field).collect(),
        }
    }
}

/// Where JSON-RPC says which call a message answers.
const CALL: &str = "id";

/// The call that a message answers with an outcome that may tell more.
fn answered(outcome: Text<'_>, message: &IndexedObject<'_>) -> Option<String> {
    outcome.container()?;
    Some(member(message, CALL)?.as_str().to_owned())
}

fn member<'m>(message: &IndexedObject<'m>, name: &str) -> Option<Text<'m>> {
    let member = message.members().iter().rfind(|(own, _)| own == name)?;
    Some(member.1)
}

impl Sample<'_> {
    fn says(&self, told: &TagSource) -> Option<&str> {
        match told {
            TagSource::Field(at) => self.words.get(at.as_str()).map(String::as_str),
            TagSource::Present(at) => {
                Some(if self.places.contains(at.as_str()) { "with" } else { "without" })
            }
            TagSource::Member(at) => {
                let at = at.as_ref().map_or("", At::as_str);
                self.members.get(at).map(String::as_str)
            }
            TagSource::Event | TagSource::Both(_) => self.event,
        }
    }
}

/// Whether a word may be a type.
fn is_type(word: &str) -> bool {
    word.len() <= LONGEST
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte))
}

/// Whether messages are arrays whose elements mean something by their place: at two places nothing is of the same type.
fn are_tuples(read: &[ReadMessage<'_>]) -> bool {
    let mut places = vec![BTreeSet::new(); LONGEST_TUPLE];
    for ReadMessage { json, object, .. } in read {
        let is_tuple = json.container() == Some(Container::Array)
            && json.elements().nth(LONGEST_TUPLE).is_none();
        if !is_tuple {
            return false;
        }
        for (place, (_, element)) in places.iter_mut().zip(object.members()) {
            place.extend(kind(element.as_str()).filter(|kind| *kind != NULL));
        }
    }
    let said = || places.iter().filter(|kinds| !kinds.is_empty());
    said().any(|one| said().any(|other| one.is_disjoint(other)))
}

const NULL: &str = "null";

/// A leaf of a message, where that is: of a tuple each element is a field.
struct LocatedLeaf<'l, 'm> {
    leaf: &'l Leaf<'m>,
    /// The element of the tuple; empty in other messages.
    element: &'l str,
    /// The steps within that.
    steps: Vec<&'l str>,
}

impl<'l, 'm> LocatedLeaf<'l, 'm> {
    fn of(leaf: &'l Leaf<'m>, is_of_tuple: bool) -> Self {
        let mut steps = leaf.pointer.split('/').skip(1);
        let element = if is_of_tuple { steps.next() } else { None };
        Self { leaf, element: element.unwrap_or_default(), steps: steps.collect() }
    }

    /// A place whose value may be a type, and the value.
    fn word(&self) -> Option<(String, String)> {
        let Leaf { spelled, value, name, pointer } = self.leaf;
        let is_element = !self.element.is_empty();
        let may_be_number = (is_element && self.steps.is_empty()) || telling::is_kind(name);
        let is_code = is_code(spelled) && (may_be_number || !spelled.starts_with(char::is_numeric));
        let is_word = is_code || spelled.starts_with('"') && is_type(value);
        let is_field = self.steps.len() + usize::from(is_element) <= TYPE_DEPTH
            && !self.steps.iter().copied().any(is_index);
        (is_word && is_field).then(|| (pointer.clone(), value.clone().into_owned()))
    }

    /// A place that some messages may have and others not.
    fn place(&self) -> Option<String> {
        let steps = || self.steps.iter().copied();
        // Of a list the first element tells.
        let is_one = steps().all(|step| !is_index(step) || step == "0");
        let is_field = steps().filter(|step| !is_index(step)).count() <= TYPE_DEPTH;
        let names = steps().last().is_some_and(|last| !last.is_empty() && !is_index(last));
        (is_one && is_field && names && self.leaf.spelled != NULL)
            .then(|| self.leaf.pointer.clone())
    }

    fn field(&self) -> Option<String> {
        let kind = kind(self.leaf.spelled)?;
        let pattern = || pattern(&self.leaf.pointer, !self.element.is_empty());
        (self.steps.len() <= DEPTH).then(|| format!("{} {kind}", pattern()))
    }
}

/// A place in whichever element of a list.
fn pattern(pointer: &str, is_of_tuple: bool) -> String {
    let steps = pointer.split('/').enumerate().map(|(place, step)| {
        let is_any = is_index(step) && !(is_of_tuple && place == 1);
        if is_any { "*" } else { step }
    });
    steps.collect::<Vec<&str>>().join("/")
}

/// Whether a member of a message, or all of it, can be written in a line.
fn may_be_named(place: &str) -> bool {
    place.is_empty() || (!place[1..].contains(['/', '~']) && named(place).is_some())
}

/// A place that can be written in a line.
fn named(place: &str) -> Option<At> {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '#';
    At::field(place).ok().filter(|_| place.chars().all(is_plain))
}

/// What may tell the type: most messages have it, it says a few words, not only one in each body, and
/// the same ones in several bodies.
fn candidates(samples: &[Sample<'_>]) -> Vec<TagSource> {
    let places: BTreeSet<&String> = samples.iter().flat_map(|sample| sample.words.keys()).collect();
    let fields = places.into_iter().filter_map(|place| named(place)).map(TagSource::Field);
    let mut times: BTreeMap<&String, usize> = BTreeMap::new();
    samples
        .iter()
        .flat_map(|sample| &sample.places)
        .for_each(|at| *times.entry(at).or_default() += 1);
    let some = times.into_iter().filter(|(_, times)| *times < samples.len());
    let present = some.filter_map(|(place, _)| named(place)).map(TagSource::Present);
    let places: BTreeSet<&String> =
        samples.iter().flat_map(|sample| sample.members.keys()).collect();
    let members = places.into_iter().filter_map(|at| match &**at {
        "" => Some(TagSource::Member(None)),
        at => named(at).map(|at| TagSource::Member(Some(at))),
    });
    let all = fields.chain([TagSource::Event]).chain(members).chain(present);
    all.filter(|told| may_tell(told, samples)).collect()
}

fn may_tell(told: &TagSource, samples: &[Sample<'_>]) -> bool {
    let mut bodies: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut words: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut telling = 0;
    for sample in samples {
        if let Some(word) = sample.says(told) {
            telling += 1;
            bodies.entry(word).or_default().insert(sample.body);
            words.entry(sample.body).or_default().insert(word);
        }
    }
    let come_again = match words.len() {
        0 | 1 => !bodies.keys().any(|word| word.contains(|c: char| c.is_ascii_digit())),
        _ => bodies.values().any(|bodies| bodies.len() > 1),
    };
    telling * 10 >= samples.len() * TENTHS
        && bodies.len() <= MOST_TYPES
        && bodies.len() < telling
        && words.values().any(|words| words.len() > 1)
        && come_again
}

/// Whether each type is of one that the server says, or there are more types, where all messages say one and there are
/// several: something else may only say more.
fn refines(types: &[Option<usize>], said: &[Option<usize>]) -> bool {
    let several = said.iter().flatten().any(|word| *word > 0);
    if !several || said.contains(&None) {
        return true;
    }
    let count = |words: &[Option<usize>]| words.iter().flatten().max().copied();
    if count(types) > count(said) {
        return true;
    }
    let mut of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut both = types.iter().zip(said).filter_map(|(tag, word)| Some(((*tag)?, (*word)?)));
    both.all(|(tag, word)| *of.entry(tag).or_insert(word) == word)
}

/// The types of messages as numbers, in the order in which they first come.
fn types<'s, 'm>(
    samples: &'s [Sample<'m>],
    says: impl Fn(&'s Sample<'m>) -> Option<&'s str>,
) -> Vec<Option<usize>> {
    let mut known: Vec<&str> = Vec::new();
    let number = |sample| {
        let word = says(sample)?;
        let number = known.iter().position(|known| *known == word);
        Some(number.unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        }))
    };
    samples.iter().map(number).collect()
}

/// What it takes to say the messages without types.
struct Scale<'s, 'm> {
    samples: &'s [Sample<'m>],
    /// For each field the messages that have it.
    fields: BTreeMap<&'s str, Vec<usize>>,
    are_tuples: bool,
    /// The logarithms of factorials.
    factorials: Vec<f64>,
}

impl<'s, 'm> Scale<'s, 'm> {
    fn of(samples: &'s [Sample<'m>], are_tuples: bool) -> Self {
        let mut fields: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, sample) in samples.iter().enumerate() {
            for field in &sample.fields {
                fields.entry(field).or_default().push(number);
            }
        }
        let mut factorials = vec![0.0; samples.len() + 1];
        for n in 1..factorials.len() {
            factorials[n] = factorials[n - 1] + (n as f64).log2();
        }
        Self { samples, fields, are_tuples, factorials }
    }

    /// The bits that types save, less those that it takes to name them. A field is said for all
    /// messages, or for each type, whichever is shorter.
    fn saved(&self, types: &[Option<usize>], told: Option<&TagSource>) -> f64 {
        let sizes = counted(types.iter().copied());
        if sizes.len() < 2 {
            return 0.0;
        }
        let own = match told {
            Some(TagSource::Field(at) | TagSource::Present(at)) => {
                Some(pattern(at.as_str(), self.are_tuples))
            }
            _ => None,
        };
        let is_own = |field: &str| {
            let below = own.as_ref().and_then(|own| field.strip_prefix(own.as_str()));
            below.is_some_and(|below| below.starts_with([' ', '/']))
        };
        let fields = self.fields.iter().filter(|(field, _)| !is_own(field));
        let shape: f64 = fields.map(|(_, having)| self.saved_by_field(having, types, &sizes)).sum();
        let is_telling = match told {
            Some(TagSource::Field(at)) => telling::is_kind(&pointer::field(at.as_str())),
            Some(TagSource::Present(_)) => false,
            Some(TagSource::Member(_) | TagSource::Event | TagSource::Both(_)) | None => true,
        };
        let order = self.saved_by_order(types, sizes.len());
        let names = NAME * sizes.len() as f64;
        if is_telling {
            shape + order + TELLING - names
        } else if shape > names {
            shape + order.min(shape) - names
        } else {
            0.0
        }
    }

    fn saved_by_field(&self, having: &[usize], types: &[Option<usize>], sizes: &[usize]) -> f64 {
        let counts = counted(having.iter().map(|number| types[*number]));
        let having: usize = counts.iter().sum();
        if having == 0 {
            return 0.0;
        }
        let name = (self.fields.len() as f64).log2();
        let apart = sizes.iter().zip(&counts).filter(|(_, count)| **count > 0);
        let apart: f64 = apart.map(|(size, count)| name + self.which(*size, *count)).sum();
        let together = name + self.which(sizes.iter().sum(), having);
        (together - apart).max(0.0)
    }

    /// The bits that say how many of some messages have a field, and which.
    fn which(&self, all: usize, some: usize) -> f64 {
        let factorials = &self.factorials;
        (all as f64 + 1.0).log2() + factorials[all] - factorials[some] - factorials[all - some]
    }

    /// The bits that are saved if what comes next is said by what came before.
    fn saved_by_order(&self, types: &[Option<usize>], count: usize) -> f64 {
        let (mut alone, mut followed) = (Adaptive::new(count + 1), BTreeMap::new());
        let (mut bits, mut before) = (0.0, None);
        for (number, sample) in self.samples.iter().enumerate() {
            let ends = self.samples.get(number + 1).is_none_or(|next| next.body != sample.body);
            for next in [types[number], ends.then_some(count)].into_iter().flatten() {
                let after = followed.entry(before).or_insert_with(|| Adaptive::new(count + 1));
                bits += alone.bits(next) - after.bits(next);
                before = (next < count).then_some(next);
            }
        }
        bits
    }
}

/// How many there are of each type.
fn counted(types: impl Iterator<Item = Option<usize>>) -> Vec<usize> {
    let mut counts = Vec::new();
    for number in types.flatten() {
        counts.resize(counts.len().max(number + 1), 0);
        counts[number] += 1;
    }
    counts
}

/// A code that learns how frequent each letter is (Krichevsky and Trofimov).
struct Adaptive {
    counts: Vec<f64>,
    all: f64,
}

impl Adaptive {
    fn new(letters: usize) -> Self {
        Self { counts: vec![0.5; letters], all: letters as f64 / 2.0 }
    }

    /// What the next letter takes.
    fn bits(&mut self, letter: usize) -> f64 {
        let bits = (self.all / self.counts[letter]).log2();
        self.counts[letter] += 1.0;
        self.all += 1.0;
        bits
    }
}

/// What a message says, if that is an object or an array.
fn container(message: &Message) -> Option<Text<'_>> {
    message.json().filter(|json| json.container().is_some())
}
