//! What messages look like, by kind where they do not tell their kind themselves.

use std::collections::BTreeMap;

use super::called::type_alone;
use super::cut::JsonMessage;
use super::samples::Samples;
use crate::contract::shape::{Schema, Witness};
use crate::text::json::{Text, pointer};
use crate::text::nearest;

/// What messages look like.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kinds {
    /// All of them. Those that tell their type in a field are told apart by it.
    One(Schema),
    /// Each kind by itself, where no field tells it: in JSON-RPC a notification by its method, a
    /// result by the method that was asked for.
    Each(BTreeMap<String, Schema>),
}

impl Kinds {
    /// What messages have in common.
    pub(super) fn learn(samples: &Samples<'_>) -> Option<Self> {
        let kinds = sorted(samples);
        let one = Schema::learn(kinds.values().flatten().copied(), samples);
        match kinds.len() {
            0 => None,
            1 => Some(Self::One(one)),
            _ if one.is_union_of(kinds.keys().copied()) => Some(Self::One(one)),
            _ => Self::learn_each(samples),
        }
    }

    /// What messages of each kind have in common.
    pub(super) fn learn_each(samples: &Samples<'_>) -> Option<Self> {
        let kinds = sorted(samples);
        let is_any = !kinds.is_empty();
        let each = kinds.into_iter();
        let each = each.map(|(kind, it)| (kind.to_owned(), Schema::learn(it.into_iter(), samples)));
        let each = each.collect();
        is_any.then_some(Self::Each(each))
    }

    /// All of them; where one is all messages it has no name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Option<&str>, &Schema)> {
        let (one, each) = match self {
            Self::One(schema) => (Some((None, schema)), None),
            Self::Each(kinds) => (None, Some(kinds)),
        };
        let each = each.into_iter().flatten().map(|(kind, schema)| (Some(&**kind), schema));
        one.into_iter().chain(each)
    }

    /// Those that are kinds by themselves.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.all().filter_map(|(kind, schema)| Some((kind?, schema)))
    }

    /// Without the kinds that others do not have.
    pub(crate) fn shared(&self, others: &Self) -> Self {
        match self {
            Self::One(_) => self.clone(),
            Self::Each(kinds) => {
                let shared = kinds.iter().filter(|(kind, _)| others.knows(kind));
                Self::Each(shared.map(|(kind, schema)| (kind.clone(), schema.clone())).collect())
            }
        }
    }

    /// Whether messages of this kind may come.
    pub(crate) fn knows(&self, kind: &str) -> bool {
        match self {
            Self::One(_) => true,
            Self::Each(kinds) => kinds.contains_key(kind),
        }
    }

    /// What is wrong with a message, in words.
    pub(crate) fn broken(&self, message: &JsonMessage) -> Vec<String> {
        let kind = &message.kind;
        let schemas = match self {
            Self::One(schema) => vec![schema],
            Self::Each(kinds) => of_kind(kinds, kind),
        };
        let broken = schemas.into_iter().map(|schema| schema.accepts_text(message.text()));
        let Some(violations) = broken.min_by_key(Vec::len) else {
            let known: Vec<&str> = self.each().map(|(kind, _)| kind).collect();
            let hint = nearest::hint(kind, &known);
            return vec![format!("no message of the kind `{kind}` was accepted; {hint}")];
        };
        let violations = violations.into_iter().map(|mut violation| {
            // Elements of arrays are not told apart.
            let steps = violation.pointer.split('/');
            let steps = steps.map(|step| if pointer::is_index(step) { "*" } else { step });
            violation.pointer = steps.collect::<Vec<_>>().join("/");
            if message.tag.is_named() {
                format!("`{kind}` {violation}")
            } else {
                violation.to_string()
            }
        });
        violations.collect()
    }
}

/// What messages of a kind may look like: where nobody knows what was asked, like any of their type.
fn of_kind<'k>(kinds: &'k BTreeMap<String, Schema>, kind: &str) -> Vec<&'k Schema> {
    if let Some(schema) = kinds.get(kind) {
        return vec![schema];
    }
    let of_type = kinds.iter().filter(|(known, _)| type_alone(known) == Some(kind));
    of_type.map(|(_, schema)| schema).collect()
}

fn sorted<'s>(samples: &'s Samples<'_>) -> BTreeMap<&'s str, Vec<(Text<'s>, Witness)>> {
    let mut kinds: BTreeMap<&str, Vec<(Text<'_>, Witness)>> = BTreeMap::new();
    for (number, sample) in samples.iter() {
        let message = sample.message;
        kinds.entry(&message.kind).or_default().push((message.text(), number));
    }
    kinds
}
