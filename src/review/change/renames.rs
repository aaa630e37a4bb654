//! Fields that have another name, or stand elsewhere.

use std::collections::BTreeMap;

use super::draft::{Draft, at};
use super::report::{Part, Verdict};
use super::rule::Rule;
use crate::contract::is_standard;
use crate::contract::shape::{Gain, Gained, Loss, Lost, Schema};

/// So many fields that moved are named.
const NAMED: usize = 3;

/// Fields that moved into a new one beside them, or out of one that is gone.
pub(super) struct Wrap {
    around: String,
    fields: Vec<String>,
    is_out: bool,
    /// How many others that always were in it are gone with it.
    lost: usize,
}

/// The new fields that hold several of those that are gone, each as it was, and those that are gone of which several are
/// new beside them: a whole object moved into one of its members, or one of them took its place. What is something else
/// there is told as gone.
pub(super) fn wraps(gains: &[Gain], is_gone: &dyn Fn(&Gain) -> bool) -> Vec<Wrap> {
    let (gone, new): (Vec<&Gain>, Vec<&Gain>) = gains
        .iter()
        .filter(|gain| gain.what == Gained::Field || gain.what == Gained::Missing && is_gone(gain))
        .partition(|gain| gain.what == Gained::Missing);
    let wrap = |around: &Gain, others: &[&Gain], is_out: bool| {
        let (_, beside) = around.place.split_last()?;
        let is_held = |gain: &&&Gain| {
            let Some((name, beside_it)) = gain.place.split_last() else { return false };
            let covers = |held: &Schema| match is_out {
                true => held.covers(&gain.schema),
                false => gain.schema.covers(held),
            };
            beside_it == beside && around.schema.required(name).is_some_and(covers)
        };
        let fields: Vec<String> = others.iter().filter(is_held).map(|it| it.at()).collect();
        let lost = around.schema.always_at(&[]).len().saturating_sub(fields.len());
        let lost = if is_out { lost } else { 0 };
        (fields.len() > 1).then(|| Wrap { around: around.at(), fields, is_out, lost })
    };
    let into = new.iter().filter_map(|around| wrap(around, &gone, false));
    let wraps: Vec<Wrap> =
        into.chain(gone.iter().filter_map(|around| wrap(around, &new, true))).collect();
    // Which of several it is nobody knows.
    let is_only = |wrap: &&Wrap| {
        let others =
            wraps.iter().filter(|other| other.fields.iter().any(|it| wrap.fields.contains(it)));
        others.count() == 1
    };
    let only: Vec<bool> = wraps.iter().map(|wrap| is_only(&wrap)).collect();
    wraps.into_iter().zip(only).filter(|(_, is_only)| *is_only).map(|(wrap, _)| wrap).collect()
}

/// Tells of fields that moved into a new one, or out of one that is gone, as one change.
pub(super) fn wrap(drafts: &mut Vec<Draft>, wraps: &[Wrap], part: Part) {
    for Wrap { around, fields, is_out, lost } in wraps {
        let is_around = |draft: &Draft| draft.path == *around;
        let is_field = |draft: &Draft| fields.contains(&draft.path);
        let of =
            |draft: &Draft, field: bool| if field { is_field(draft) } else { is_around(draft) };
        let breaks = |draft: &Draft| is_gone(draft) && of(draft, !is_out);
        let comes = |draft: &Draft| draft.rule == Rule::FieldNew && of(draft, *is_out);
        let broken = drafts.iter().filter(|it| breaks(it)).count();
        let came = drafts.iter().filter(|it| comes(it)).count();
        let [of_around, of_fields] = if *is_out { [broken, came] } else { [came, broken] };
        if of_around == 0 || of_fields < fields.len() {
            continue;
        }
        let way = if *is_out { "out of" } else { "into" };
        let (all, place) = (fields.len(), at(part, around));
        let gone =
            if *lost > 0 { format!("; others that were in it: {lost}") } else { String::new() };
        let what = format!("{all} fields moved {way} {place}: {}{gone}", named(fields));
        tell_once(drafts, breaks, |all| Draft { what, ..all }.at(around.clone()).keyed("moved"));
        drafts.retain(|draft| !comes(draft));
    }
}

/// Tells as one change that none of the fields of an object comes any more that were always there: another one came
/// instead, and not the same one with other names.
pub(super) fn replace(drafts: &mut Vec<Draft>, gone: &[&Gain], old: &Schema, part: Part) {
    let mut objects: BTreeMap<&[String], Vec<String>> = BTreeMap::new();
    let gone = gone.iter().filter_map(|gain| Some((gain, gain.place.split_last()?)));
    for (gain, (_, object)) in gone {
        objects.entry(object).or_default().push(gain.at());
    }
    // The fields of the header are none of one object.
    let objects = objects.into_iter().filter(|_| part != Part::Headers);
    for (object, fields) in objects {
        let always = old.always_at(object).len();
        let is_one = |draft: &Draft| is_gone(draft) && fields.contains(&draft.path);
        let are_all_gone = fields.len() > 1
            && fields.len() == always
            && drafts.iter().filter(|it| is_one(it)).count() == always;
        let path = around(&fields[0]).to_owned();
        let is_new = |draft: &&Draft| draft.rule == Rule::FieldNew && around(&draft.path) == path;
        if are_all_gone && drafts.iter().filter(is_new).count() * 2 <= always {
            let name = at(part, &path);
            let what = format!(
                "{name} has none of the {always} fields that were always there: {}",
                named(&fields)
            );
            tell_once(drafts, is_one, |all| Draft { what, ..all }.at(path.clone()).keyed("all"));
        }
    }
}

/// Makes one change of several.
pub(super) fn tell_once(
    drafts: &mut Vec<Draft>,
    is_one: impl Fn(&Draft) -> bool,
    told: impl FnOnce(Draft) -> Draft,
) {
    let (some, others): (Vec<Draft>, Vec<Draft>) =
        std::mem::take(drafts).into_iter().partition(is_one);
    let mut some = some.into_iter();
    drafts.extend(some.next().map(|first| {
        let all = some.fold(first, |mut all, draft| {
            all.show(&draft);
            all
        });
        told(Draft { possible: None, ..all })
    }));
    drafts.extend(others);
}

/// ``a`, `b`, `c` and 2 more`.
fn named(paths: &[String]) -> String {
    let name = |path: &String| format!("`{}`", path.rsplit('.').next().unwrap_or(path));
    let names: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    match paths.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Tells of a field that is gone where another one of the same shape is new beside it that it has another
/// name.
pub(super) fn rename(drafts: &mut Vec<Draft>, part: Part) {
    let text = |draft: &Draft| {
        let shape = draft.possible.as_ref()?.text.split_once(": ")?.1;
        // What is always nothing is like any other nothing.
        if matches!(shape, "null" | "{}" | "[]") {
            return None;
        }
        Some((around(&draft.path).to_owned(), shape.to_owned()))
    };
    let is_new = |draft: &Draft| draft.rule == Rule::FieldNew && draft.key.is_empty();
    let mut told = Vec::new();
    let may_be_renamed = |draft: &Draft| part != Part::Headers || !is_standard(&draft.path);
    for gone in drafts.iter().filter(|draft| is_gone(draft) && may_be_renamed(draft)) {
        let like = |is: &dyn Fn(&Draft) -> bool| -> Vec<&Draft> {
            let place = text(gone);
            let like = drafts.iter().filter(|it| is(it) && place.is_some() && text(it) == place);
            like.collect()
        };
        // Which of several it is nobody knows.
        if let ([_], [new]) = (like(&is_gone).as_slice(), like(&is_new).as_slice())
            && may_be_renamed(new)
        {
            told.push((gone.path.clone(), new.path.clone()));
        }
    }
    for (old, new) in &told {
        let name = new.rsplit('.').next().unwrap_or(new);
        if let Some(draft) = drafts.iter_mut().find(|it| is_gone(it) && it.path == *old) {
            draft.what = format!("{} is called `{name}` now", at(part, old));
            name.clone_into(&mut draft.key);
            draft.possible = None;
        }
    }
    drafts.retain(|draft| !is_new(draft) || told.iter().all(|(_, new)| *new != draft.path));
    // Nothing became possible.
    drafts.iter_mut().filter(|draft| is_gone(draft)).for_each(|draft| draft.possible = None);
}

/// Tells of an object that may be missing and is not seen any more, where another one with the same fields
/// is new beside it, that it has another name. Gives the places of before.
pub(super) fn rename_optional(
    drafts: &mut [Draft],
    part: Part,
    losses: &[Loss],
) -> Vec<Vec<String>> {
    let gone = |loss: &Loss| match &loss.what {
        // Of one field many objects are.
        Lost::Optional(was) if was.starts_with('{') && was.contains(", ") => {
            Some((around(&loss.at()).to_owned(), was.clone()))
        }
        _ => None,
    };
    let mut told = Vec::new();
    for loss in losses {
        let Some((beside, was)) = gone(loss) else { continue };
        let is_only =
            losses.iter().filter_map(gone).filter(|it| *it == (beside.clone(), was.clone()));
        let mut new = drafts.iter_mut().filter(|draft| {
            let text = draft.possible.as_ref().and_then(|it| it.text.split_once(": "));
            draft.rule == Rule::FieldNew
                && draft.key.is_empty()
                && around(&draft.path) == beside
                && text.is_some_and(|(_, shape)| shape == was)
        });
        if let (1, Some(draft), None) = (is_only.count(), new.next(), new.next()) {
            let name = draft.path.rsplit('.').next().unwrap_or(&draft.path).to_owned();
            let what = format!("{} is called `{name}` now", at(part, &loss.at()));
            (draft.rule, draft.verdict) = (Rule::FieldMissing, Verdict::Breaking);
            (draft.what, draft.path, draft.key) = (what, loss.at(), name);
            draft.possible = None;
            draft.why = String::new();
            told.push(loss.place.clone());
        }
    }
    told
}

/// What a field stands in.
fn around(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(around, _)| around)
}

fn is_gone(draft: &Draft) -> bool {
    draft.rule == Rule::FieldMissing && draft.what.ends_with(GONE)
}

/// What is said of a field that never comes any more.
pub(super) const GONE: &str = "is gone, which was always there";
