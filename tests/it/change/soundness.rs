//! Whatever a new shape accepts and the old one does not is never called compatible.

use proptest::prelude::*;
use retape::config::NewFields;
use retape::contract::shape::Schema;
use retape::review::change::{Report, Verdict};
use serde_json::{Map, Value, json};

use super::{body, compared};
use crate::order::Random;

/// A shape, to be written and to take samples of.
#[derive(Debug, Clone)]
enum Shape {
    Kinds(Vec<Kind>),
}

#[derive(Debug, Clone)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Words(Vec<&'static str>),
    Uuid,
    Array(Box<Shape>),
    Object(Fields),
    Union(Vec<(&'static str, Fields)>),
    Map(Box<Shape>),
}

type Fields = Vec<(&'static str, bool, Shape)>;

/// Stands among the fields of an object that may have others.
const OPEN: &str = "…";

const WORDS: [&str; 4] = ["u", "v", "w", "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"];
const NAMES: [&str; 3] = ["x", "y", "z"];

fn some<'a>(random: &mut Random, all: &[&'a str]) -> Vec<&'a str> {
    let mut some: Vec<&str> = all.iter().copied().filter(|_| random.chance(50)).collect();
    if some.is_empty() {
        some.push(all[random.below(all.len())]);
    }
    some
}

fn shape(random: &mut Random, depth: usize) -> Shape {
    let mut kinds = Vec::new();
    if random.chance(25) {
        kinds.push(Kind::Null);
    }
    if random.chance(10) {
        kinds.push(Kind::Boolean);
    }
    if random.chance(30) {
        kinds.push(if random.chance(60) { Kind::Integer } else { Kind::Number });
    }
    if random.chance(30) {
        kinds.push(match random.below(4) {
            0 => Kind::Text,
            1 => Kind::Uuid,
            _ => Kind::Words(some(random, &WORDS)),
        });
    }
    if depth > 0 && random.chance(20) {
        kinds.push(Kind::Array(Box::new(shape(random, depth - 1))));
    }
    if depth > 0 && random.chance(60) {
        kinds.push(match random.below(6) {
            0 => Kind::Map(Box::new(shape(random, depth - 1))),
            1 | 2 => Kind::Union(union(random, depth)),
            3 => Kind::Object(told(random, depth)),
            _ => Kind::Object(fields(random, depth)),
        });
    }
    if kinds.is_empty() {
        kinds.push(Kind::Integer);
    }
    Shape::Kinds(kinds)
}

fn fields(random: &mut Random, depth: usize) -> Fields {
    let names = some(random, &NAMES);
    let field = |name| (name, random.chance(40), shape(random, depth - 1));
    let mut fields: Fields = names.into_iter().map(field).collect();
    if random.chance(10) {
        fields.push(open());
    }
    fields
}

fn open() -> (&'static str, bool, Shape) {
    (OPEN, true, Shape::Kinds(vec![Kind::Integer, Kind::Text]))
}

fn union(random: &mut Random, depth: usize) -> Vec<(&'static str, Fields)> {
    let mut branches = some(random, &["k", "l", "m"]);
    if branches.len() == 1 {
        branches = vec!["k", "l"];
    }
    branches.into_iter().map(|value| (value, fields(random, depth))).collect()
}

/// An object with a field that could tell it apart.
fn told(random: &mut Random, depth: usize) -> Fields {
    let words = Shape::Kinds(vec![Kind::Words(some(random, &["k", "l", "m"]))]);
    let mut fields = fields(random, depth);
    fields.insert(0, ("kind", random.chance(20), words));
    fields
}

impl Shape {
    fn text(&self) -> String {
        let Self::Kinds(kinds) = self;
        kinds.iter().map(Kind::text).collect::<Vec<_>>().join(" | ")
    }

    fn sample(&self, random: &mut Random) -> Value {
        let Self::Kinds(kinds) = self;
        kinds[random.below(kinds.len())].sample(random)
    }

    /// What a client takes that reads the fields it knows: all objects may have others.
    fn tolerant(&self) -> Self {
        let Self::Kinds(kinds) = self;
        Self::Kinds(kinds.iter().map(Kind::tolerant).collect())
    }

    /// The same with one thing in it exchanged.
    fn mutated(&self, random: &mut Random, depth: usize) -> Self {
        let Self::Kinds(kinds) = self;
        let mut kinds = kinds.clone();
        let inner = kinds.iter().position(|kind| {
            matches!(kind, Kind::Array(_) | Kind::Object(_) | Kind::Union(_) | Kind::Map(_))
        });
        match inner.filter(|_| depth > 0 && random.chance(75)) {
            Some(number) => kinds[number] = kinds[number].mutated(random, depth - 1),
            None => return shape(random, depth),
        }
        Self::Kinds(kinds)
    }
}

impl Kind {
    fn text(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Words(words) => {
                words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" | ")
            }
            Self::Uuid => "uuid".to_owned(),
            Self::Array(inner) => format!("[{}]", inner.text()),
            Self::Object(fields) => format!("{{{}}}", fields_text(fields)),
            Self::Union(branches) => {
                let branch = |(value, fields): &(&str, Fields)| {
                    format!("{value} {{{}}}", fields_text(fields))
                };
                let branches: Vec<String> = branches.iter().map(branch).collect();
                format!("by kind {{{}}}", branches.join(", "))
            }
            Self::Map(inner) => format!("map<string, {}>", inner.text()),
        }
    }

    fn sample(&self, random: &mut Random) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Boolean => random.chance(50).into(),
            Self::Integer => random.below(5).into(),
            Self::Number => [json!(0.5), json!(3)][random.below(2)].clone(),
            Self::Text => ["u", "any", ""][random.below(3)].into(),
            Self::Words(words) => words[random.below(words.len())].into(),
            Self::Uuid => WORDS[3].into(),
            Self::Array(inner) => (0..random.below(3)).map(|_| inner.sample(random)).collect(),
            Self::Object(fields) => members(fields, random).into(),
            Self::Union(branches) => {
                let (value, fields) = &branches[random.below(branches.len())];
                let mut members = members(fields, random);
                members.insert("kind".to_owned(), (*value).into());
                members.into()
            }
            Self::Map(inner) => {
                let names = some(random, &["x", "other"]).into_iter();
                names.map(|name| (name.to_owned(), inner.sample(random))).collect()
            }
        }
    }

    fn tolerant(&self) -> Self {
        let inside = |fields: &Fields| -> Fields {
            let known = fields.iter().filter(|(name, ..)| *name != OPEN);
            let known = known.map(|(name, optional, shape)| (*name, *optional, shape.tolerant()));
            known.chain([open()]).collect()
        };
        match self {
            Self::Array(inner) => Self::Array(Box::new(inner.tolerant())),
            Self::Map(inner) => Self::Map(Box::new(inner.tolerant())),
            Self::Object(fields) => Self::Object(inside(fields)),
            Self::Union(branches) => {
                let branches = branches.iter().map(|(value, fields)| (*value, inside(fields)));
                Self::Union(branches.collect())
            }
            other => other.clone(),
        }
    }

    fn mutated(&self, random: &mut Random, depth: usize) -> Self {
        let field = |fields: &Fields, random: &mut Random| {
            let mut fields = fields.clone();
            let at = random.below(fields.len());
            match random.below(3) {
                0 => fields[at].1 = !fields[at].1,
                1 if fields.len() > 1 => drop(fields.remove(at)),
                _ => fields[at].2 = fields[at].2.mutated(random, depth),
            }
            fields
        };
        match self {
            Self::Array(inner) => Self::Array(Box::new(inner.mutated(random, depth))),
            Self::Map(inner) => Self::Map(Box::new(inner.mutated(random, depth))),
            Self::Object(fields) => Self::Object(field(fields, random)),
            Self::Union(branches) => {
                let mut branches = branches.clone();
                let at = random.below(branches.len());
                branches[at].1 = field(&branches[at].1, random);
                Self::Union(branches)
            }
            other => other.clone(),
        }
    }
}

fn fields_text(fields: &Fields) -> String {
    let field = |(name, optional, shape): &(&str, bool, Shape)| {
        if *name == OPEN {
            return OPEN.to_owned();
        }
        format!("{name}{}: {}", if *optional { "?" } else { "" }, shape.text())
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

fn members(fields: &Fields, random: &mut Random) -> Map<String, Value> {
    let there = fields.iter().filter(|(_, optional, _)| !optional || !random.0.is_multiple_of(3));
    let there: Vec<_> = there.collect();
    let mut members = Map::new();
    for (name, _, shape) in there {
        let others = NAMES.iter().chain(&["other"]);
        let is_free = |other: &&&str| fields.iter().all(|(known, ..)| *known != **other);
        let names: Vec<&str> = match *name {
            OPEN => others.filter(is_free).copied().collect(),
            name => vec![name],
        };
        members.extend(names.into_iter().map(|name| (name.to_owned(), shape.sample(random))));
    }
    members
}

/// Two shapes, often nearly the same.
fn pair(random: &mut Random) -> (Shape, Shape) {
    let old = shape(random, 3);
    let new = if random.chance(70) { old.mutated(random, 3) } else { shape(random, 3) };
    (old, new)
}

/// The report for clients that refuse what they do not know.
fn strictly(before: &str, after: &str) -> Report {
    let mut report = compared(&body(before), &body(after));
    report.new_fields(NewFields::Breaking);
    report
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_shape_that_accepts_more_is_never_called_compatible(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (old, new) = pair(&mut random);
        let (before, after) = (old.text(), new.text());
        let report = strictly(&before, &after);
        let (was, is) = (Schema::parse(&before).unwrap(), Schema::parse(&after).unwrap());
        for _ in 0..40 {
            let sample = new.sample(&mut random).to_string();
            prop_assert_eq!(is.accepts(&sample), [], "{} {}", sample, after);
            let is_new = !was.accepts(&sample).is_empty();
            prop_assert!(!is_new || report.fails(), "{}\n{}\n{}", sample, before, after);
        }
        for change in report.of(Verdict::Breaking) {
            // What is called breaking is shown: the example keeps the new shape and breaks the old one.
            prop_assert!(!change.why.is_empty());
            let example = change.example.as_deref().unwrap();
            prop_assert_eq!(is.accepts(example), []);
            prop_assert!(!was.accepts(example).is_empty());
        }
        for change in report.of(Verdict::Compatible) {
            prop_assert!(false, "{} in {}", change.what, after);
        }
        prop_assert_eq!(was.gains(&is).is_empty(), was.covers(&is), "{}\n{}", before, after);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_client_reads_that_reads_known_fields_is_never_called_compatible(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (old, new) = pair(&mut random);
        let (before, after) = (old.text(), new.text());
        let report = compared(&body(&before), &body(&after));
        let client = Schema::parse(&old.tolerant().text()).unwrap();
        for _ in 0..40 {
            let sample = new.sample(&mut random).to_string();
            let is_new = !client.accepts(&sample).is_empty();
            prop_assert!(!is_new || report.fails(), "{}\n{}\n{}", sample, before, after);
        }
    }
}

/// What cannot be proved either way is rare.
#[test]
fn few_of_a_thousand_changes_are_unproven() {
    let (mut failing, mut unproven, mut alarms) = (0, 0, 0);
    for seed in 0..1_000 {
        let mut random = Random(seed);
        let (old, new) = pair(&mut random);
        let report = strictly(&old.text(), &new.text());
        failing += usize::from(report.fails());
        unproven += usize::from(report.fails() && report.count(Verdict::Breaking) == 0);
        let was = Schema::parse(&old.text()).unwrap();
        let is_shown = (0..400).any(|_| {
            let sample = new.sample(&mut random).to_string();
            !was.accepts(&sample).is_empty()
        });
        alarms += usize::from(report.fails() && !is_shown);
    }

    assert!(failing > 500);
    assert!(unproven * 100 < failing * 2, "{unproven} of {failing} are unproven");
    assert!(alarms * 100 < failing * 2, "{alarms} of {failing} are shown by no sample");
}
