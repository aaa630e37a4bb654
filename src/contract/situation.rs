//! What is known before an answer comes: what was asked, and what was said before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::cut::{is_plain, may_decide};
use super::history::Before;
use super::syntax::unquoted;
use crate::cassette::Interaction;
use crate::contract::order::{Comparison, Guard, Literal, Pattern};
use crate::identity::identifiers;
use crate::text::json::{Text, pointer};

/// Something that may decide about an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// What the request says in a field: `messages[].role`.
    Request(String),
    /// Whether the request says anything in a field.
    Present(String),
    /// Whether the server has given what the request says in a field, in an earlier answer.
    Known(String),
    /// What the last answer about the same said: the type of a message, and the field.
    After(String, String),
}

/// Names below which a client says what it likes, and of fields in which it chooses by name.
const CHOSEN_BELOW: [&str; 11] = [
    "arguments",
    "args",
    "input",
    "inputs",
    "parameters",
    "properties",
    "schema",
    "input_schema",
    "inputSchema",
    "json_schema",
    "metadata",
];
const CHOSEN: [&str; 4] = ["model", "name", "description", "title"];

impl Feature {
    /// What the request says in the field of a JSON pointer.
    pub(super) fn asked(pointer: &str) -> Option<Self> {
        path(pointer).map(Self::Request)
    }

    /// Whether a client chooses freely what it says there: which model, which tool, and with what.
    pub(super) fn is_chosen(&self) -> bool {
        let (Self::Request(path) | Self::Present(path) | Self::Known(path) | Self::After(_, path)) =
            self;
        let mut names = path.split('.').map(|name| name.trim_end_matches("[]")).rev();
        names.clone().next().is_some_and(|last| CHOSEN.contains(&last))
            || names.any(|name| CHOSEN_BELOW.contains(&name))
    }
}

/// Something that must be so for a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Condition {
    /// What decides.
    pub feature: Feature,
    /// What it says: JSON texts with ` and ` between them if there are several, ` | ` between those of which
    /// one is said; none if it says nothing.
    pub says: Option<String>,
}

/// What is known before an answer comes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Situation {
    says: BTreeMap<Feature, String>,
    /// What says other things than words, and decides nothing.
    free: BTreeSet<Feature>,
    sees: Sees,
}

/// How far a situation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sees {
    /// What was asked, not what was said before.
    #[default]
    Request,
    All,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    No,
    /// It hangs on what is not known.
    Perhaps,
    Yes,
}

/// What stands between several values of one field, and between those that it may say.
pub(super) const AND: &str = " and ";
const OR: &str = " | ";

/// What [`Feature::Known`] and [`Feature::Present`] say.
const YES: &str = "true";
const NO: &str = "false";

impl Situation {
    /// What was asked, and what was said before, as far as that is known.
    pub(super) fn of(
        interaction: &Interaction,
        asked: Option<Text<'_>>,
        before: Option<Before<'_>>,
    ) -> Self {
        let mut situation = Self::default();
        if let Some(asked) = asked {
            situation.ask(asked, before);
        }
        if let Some(before) = before {
            situation.sees = Sees::All;
            for (tag, path, json) in before.last(interaction) {
                let feature = Feature::After(tag.to_owned(), path.to_owned());
                if !may_decide(path, json) {
                    situation.free.insert(feature.clone());
                }
                situation.says.insert(feature, json.to_owned());
            }
        }
        situation
    }

    fn ask(&mut self, asked: Text<'_>, before: Option<Before<'_>>) {
        let mut said: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let mut known: BTreeMap<String, bool> = BTreeMap::new();
        for leaf in asked.leaves() {
            let Some(path) = path(&leaf.pointer) else { continue };
            if !may_decide(&leaf.name, leaf.spelled) {
                self.free.insert(Feature::Request(path.clone()));
            }
            self.says.insert(Feature::Present(path.clone()), YES.to_owned());
            if let Some(before) = before
                && identifiers(&leaf.value).next().is_some()
            {
                let given = before.has_given(&leaf.value);
                *known.entry(path.clone()).or_insert(true) &= given;
            }
            said.entry(path).or_default().insert(leaf.spelled);
        }
        let said = said.into_iter().map(|(path, values)| {
            let values: Vec<&str> = values.into_iter().collect();
            (Feature::Request(path), values.join(AND))
        });
        let known = known
            .into_iter()
            .map(|(path, known)| (Feature::Known(path), if known { YES } else { NO }.to_owned()));
        self.says.extend(said.chain(known));
    }

    /// What may decide.
    pub(super) fn features(&self) -> impl Iterator<Item = &Feature> {
        self.says.keys()
    }

    /// What says something here that is no word.
    pub(super) fn free(&self) -> impl Iterator<Item = &Feature> {
        self.free.iter()
    }

    /// What one of them says.
    pub(super) fn says(&self, feature: &Feature) -> Option<&str> {
        self.says.get(feature).map(String::as_str)
    }

    pub(super) fn holds(&self, condition: &Condition) -> Holds {
        let is_seen = self.sees == Sees::All
            || matches!(condition.feature, Feature::Request(_) | Feature::Present(_));
        let says = self.says(&condition.feature);
        if !is_seen {
            Holds::Perhaps
        } else if condition.alternatives().any(|alternative| alternative == says) {
            Holds::Yes
        } else {
            Holds::No
        }
    }
}

impl Condition {
    /// What it may say.
    fn alternatives(&self) -> impl Iterator<Item = Option<&str>> {
        let said = self.says.as_deref().map(|says| split(says, OR).into_iter().map(Some));
        let nothing = self.says.is_none().then_some(None);
        said.into_iter().flatten().chain(nothing)
    }

    /// Whether it is so wherever another one is.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_one = |says| self.alternatives().any(|own| own == says);
        self.feature == other.feature && other.alternatives().all(is_one)
    }

    /// Whether it is so nowhere where another one is.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let is_one = |says| self.alternatives().any(|own| own == says);
        self.feature == other.feature && !other.alternatives().any(is_one)
    }

    /// That it says this, or what another one says.
    pub(super) fn or(&self, other: &Self) -> Self {
        let alternatives = self.alternatives().chain(other.alternatives()).flatten();
        let alternatives: BTreeSet<&str> = alternatives.collect();
        let says = Vec::from_iter(alternatives).join(OR);
        Self { feature: self.feature.clone(), says: Some(says) }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(pattern) = text.strip_prefix(AFTER_NO) {
            let (tag, path) = pattern.strip_suffix(']')?.split_once('[')?;
            let feature = Feature::After(tag.to_owned(), path.to_owned());
            return Some(Self { feature, says: None });
        }
        if let Some(pattern) = text.strip_prefix(AFTER) {
            return Self::after(pattern);
        }
        if let Some((path, word)) = text.rsplit_once(' ')
            && let Some(path) = is_path(path).map(str::to_owned)
        {
            let (feature, says) = match word {
                "known" => (Feature::Known(path), Some(YES)),
                "unknown" => (Feature::Known(path), Some(NO)),
                "present" => (Feature::Present(path), Some(YES)),
                "missing" => (Feature::Request(path), None),
                _ => return None,
            };
            return Some(Self { feature, says: says.map(str::to_owned) });
        }
        let (path, says) = text.split_once('=')?;
        let feature = Feature::Request(is_path(path.trim())?.to_owned());
        let says = says.trim();
        let mut values = split(says, OR).into_iter().flat_map(|says| split(says, AND));
        values.all(|json| Literal::parse(json).is_some()).then_some(())?;
        Some(Self { feature, says: Some(says.to_owned()) })
    }

    fn after(pattern: &str) -> Option<Self> {
        let crate::contract::order::Expression::Event(pattern) = pattern.parse().ok()? else {
            return None;
        };
        let [Guard { path, comparison: Comparison::Equal, values }] = &*pattern.guards else {
            return None;
        };
        let [value] = &**values else { return None };
        let feature = Feature::After(pattern.tag?, path.clone());
        Some(Self { feature, says: Some(value.to_string()) })
    }
}

/// The parts of a text between separators that stand in no string of JSON.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let first = separator.as_bytes()[0];
    for at in unquoted(text, first).filter(|at| text[*at..].starts_with(separator)) {
        parts.push(&text[from..at]);
        from = at + separator.len();
    }
    parts.push(&text[from..]);
    parts
}

const AFTER: &str = "after ";
const AFTER_NO: &str = "after no ";

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.feature, &self.says) {
            (Feature::Request(path), Some(says)) => write!(f, "{path}={says}"),
            (Feature::Present(path), Some(_)) => write!(f, "{path} present"),
            (Feature::Known(path), Some(says)) => {
                write!(f, "{path} {}", if says == YES { "known" } else { "unknown" })
            }
            (Feature::Request(path) | Feature::Present(path) | Feature::Known(path), None) => {
                write!(f, "{path} missing")
            }
            (Feature::After(tag, path), Some(says)) => {
                let values = Literal::parse(says).into_iter().collect();
                let guard = Guard { path: path.clone(), comparison: Comparison::Equal, values };
                let pattern = Pattern { tag: Some(tag.clone()), guards: vec![guard] };
                write!(f, "{AFTER}{pattern}")
            }
            (Feature::After(tag, path), None) => write!(f, "{AFTER_NO}{tag}[{path}]"),
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(path) | Self::Present(path) | Self::Known(path) => f.write_str(path),
            Self::After(tag, path) => write!(f, "{AFTER}{tag}.{path}"),
        }
    }
}

/// `/messages/0/type` as `messages[].type`, and an element of a message that is an array as `[3]`.
pub(super) fn path(pointer: &str) -> Option<String> {
    let mut path = String::new();
    if let Some(element) = pointer.strip_prefix('/').filter(|it| pointer::is_index(it)) {
        return Some(format!("[{element}]"));
    }
    for step in pointer.split('/').skip(1) {
        if pointer::is_index(step) {
            path.push_str("[]");
            continue;
        }
        if !is_plain(step) {
            return None;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(step);
    }
    (!path.is_empty()).then_some(path)
}

fn is_path(text: &str) -> Option<&str> {
    let element = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if element.is_some_and(pointer::is_index) {
        return Some(text);
    }
    let names = text.split('.').map(|name| name.trim_end_matches("[]"));
    // A body that is an array begins with one.
    names
        .enumerate()
        .all(|(place, name)| is_plain(name) || (place == 0 && name.is_empty()))
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_chooses_freely_is_no_case() {
        for (pointer, expected) in [
            ("/tools/0/description", true),
            ("/tools/0/name", true),
            ("/tools/0/input_schema/type", true),
            ("/model", true),
            ("/stream", false),
            ("/messages/0/role", false),
        ] {
            let feature = Feature::asked(pointer).expect("it is a place");
            assert_eq!(feature.is_chosen(), expected, "{pointer}");
        }
    }
}
