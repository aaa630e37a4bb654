//! What changed in what messages look like, kind by kind.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::report::{Part, Verdict};
use super::rule::Rule;
use super::shapes::{self, Basis, Value};
use crate::contract::Kinds;
use crate::contract::shape::Schema;

/// What changed from some shapes to others, with the recorded values that show it.
pub(super) fn changes(
    part: Part,
    old: Option<Kinds>,
    new: Option<Kinds>,
    basis: Basis,
    values: &[Value<'_>],
) -> Vec<Draft> {
    // Where none was promised, no JSON was.
    let nothing = || Kinds::One(Schema::never());
    match (old.unwrap_or_else(nothing), new.unwrap_or_else(nothing)) {
        (Kinds::One(old), Kinds::One(new)) => {
            shapes::changes(part, &old, &new, basis, &values.iter().collect::<Vec<_>>())
        }
        (Kinds::Each(old), Kinds::Each(new)) => each(part, &old, &new, basis, values),
        (Kinds::One(old), Kinds::Each(new)) => {
            let olds = new.keys().map(|kind| (kind.clone(), old.clone())).collect();
            each(part, &olds, &new, basis, values)
        }
        (Kinds::Each(old), Kinds::One(new)) => {
            // Nobody knows which of the new messages are of which kind: each may be of any.
            let news = old.keys().map(|kind| (kind.clone(), new.clone())).collect();
            each(part, &old, &news, basis, values)
        }
    }
}

type Schemas = BTreeMap<String, Schema>;

fn each(
    part: Part,
    old: &Schemas,
    new: &Schemas,
    basis: Basis,
    values: &[Value<'_>],
) -> Vec<Draft> {
    let seen = values.iter().map(|value| value.kind);
    let kinds: BTreeSet<&str> =
        old.keys().chain(new.keys()).map(String::as_str).chain(seen).collect();
    let drafts = kinds.into_iter().flat_map(|kind| {
        let values: Vec<&Value<'_>> = values.iter().filter(|value| value.kind == kind).collect();
        match (old.get(kind), new.get(kind)) {
            (Some(old), Some(new)) => {
                let drafts = shapes::changes(part, old, new, basis, &values);
                drafts.into_iter().map(|draft| below(kind, draft)).collect()
            }
            (None, _) if values.is_empty() && basis == Basis::Learned => Vec::new(),
            (None, _) => vec![came(part, kind, &values)],
            (Some(_), None) => vec![went(part, kind)],
        }
    });
    drafts.collect()
}

/// A change in messages of a kind that no field tells.
fn below(kind: &str, mut draft: Draft) -> Draft {
    let dot = if draft.path.is_empty() || draft.path.starts_with('[') { "" } else { "." };
    draft.path = format!("{kind}{dot}{}", draft.path);
    draft.what = format!("{} (in `{kind}`)", draft.what);
    draft
}

fn came(part: Part, kind: &str, values: &[&Value<'_>]) -> Draft {
    let what = format!("`{kind}` is a new type of message");
    let mut draft = Draft::new(Rule::TagNew, Verdict::Breaking, part, what).keyed(kind);
    values.iter().for_each(|value| draft.seen(value.place, value.at));
    if draft.shown.is_none() {
        draft.why = "no recording shows it, and the new contract allows it".to_owned();
    }
    draft
}

fn went(part: Part, kind: &str) -> Draft {
    let what = format!("`{kind}` messages are not seen any more");
    Draft::new(Rule::TagGone, Verdict::Trim, part, what).keyed(kind)
}
