//! What changed in what values look like, kind of message by kind.

use std::collections::{BTreeMap, BTreeSet};

use super::about::{About, row_around};
use super::draft::{Draft, Position, at, cut, first_time, one_of, same_or_added, tag_gone};
use super::kinds;
use super::renames::{GONE, rename, rename_optional, replace, wrap, wraps};
use super::report::{Part, TOLERANT, Verdict};
use super::respelled::{self, respell};
use super::rule::Rule;
use super::weight::{MANY, is_outcome};
use crate::contract::Kinds;
use crate::contract::shape::{Fault, Gain, Gained, Loss, Lost, Schema, Violation};
use crate::identity::Meaning;
use crate::text::json::Text;
use crate::text::json::pointer::Pointed;

/// One recorded value.
pub(super) struct ShownValue<'a> {
    pub place: &'a str,
    pub at: Position,
    /// What kind of message it is, where no field tells.
    pub kind: &'a str,
    pub json: &'a str,
}

/// Whether the new promise is one that somebody has accepted, or what recordings have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// A text: all that it allows is promised.
    Accepted,
    /// Learned: only what a recording shows is known. What was generalised from it is no promise.
    Learned,
}

/// The first values that were seen, each once, in the order in which they came.
#[derive(Debug, Clone, Default)]
struct Examples(Vec<String>);

/// So many of them are named.
const NAMED: usize = 3;

const NULL: &str = "null";

impl Examples {
    fn extend(&mut self, value: Option<&str>) {
        let is_more = self.0.len() <= NAMED;
        let new = value.filter(|value| is_more && !self.0.iter().any(|known| known == value));
        self.0.extend(new.map(str::to_owned));
    }

    /// `, such as "max_tokens"`.
    fn words(&self) -> String {
        let named: Vec<String> =
            self.0.iter().take(NAMED).map(|value| format!("`{}`", cut(value))).collect();
        match (named.is_empty(), self.0.len() > NAMED) {
            (true, _) => String::new(),
            (false, false) => format!(", such as {}", named.join(" and ")),
            (false, true) => format!(", such as {} and others", named.join(", ")),
        }
    }
}

/// A longer example shows nobody anything.
const LONGEST: usize = 10_000;

/// What changed from some shapes to others, with the recorded values that show it.
pub(super) fn of_kinds(
    part: Part,
    old: Option<Kinds>,
    new: Option<Kinds>,
    basis: Basis,
    values: &[ShownValue<'_>],
) -> Vec<Draft> {
    // Where none was promised, no JSON was.
    let nothing = || Kinds::One(Schema::never());
    match (old.unwrap_or_else(nothing), new.unwrap_or_else(nothing)) {
        (Kinds::One(old), Kinds::One(new)) => {
            changes(part, &old, &new, basis, &values.iter().collect::<Vec<_>>())
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
    values: &[ShownValue<'_>],
) -> Vec<Draft> {
    let seen = values.iter().map(|value| value.kind);
    let kinds: BTreeSet<&str> =
        old.keys().chain(new.keys()).map(String::as_str).chain(seen).collect();
    let is_only = kinds.len() == 1;
    let drafts = kinds.into_iter().flat_map(|kind| {
        let values: Vec<&ShownValue<'_>> =
            values.iter().filter(|value| value.kind == kind).collect();
        match (old.get(kind), new.get(kind)) {
            (Some(old), Some(new)) => {
                let drafts = changes(part, old, new, basis, &values);
                let said = if is_only { String::new() } else { among(part, kind) };
                drafts.into_iter().map(|draft| below(kind, &said, draft)).collect()
            }
            (None, _) if values.is_empty() && basis == Basis::Learned => Vec::new(),
            (None, _) => vec![came(part, kind, &values)],
            (Some(_), None) => vec![tag_gone(part, kind)],
        }
    });
    drafts.collect()
}

/// A change in messages of a kind that no field tells, and what is said of that where there are others.
fn below(kind: &str, said: &str, mut draft: Draft) -> Draft {
    let dot = if draft.path.is_empty() || draft.path.starts_with('[') { "" } else { "." };
    draft.path = format!("{kind}{dot}{}", draft.path);
    draft.what.push_str(said);
    if let About::Values { kind: of, .. } = &mut draft.about {
        *of = Some(kind.to_owned());
    }
    draft
}

/// Among which messages something changed, where there are others.
pub(super) fn among(part: Part, kind: &str) -> String {
    match part {
        Part::Body => format!(" (in answers of the kind `{kind}`)"),
        _ => format!(" (in `{kind}` messages)"),
    }
}

fn came(part: Part, kind: &str, values: &[&ShownValue<'_>]) -> Draft {
    let what = first_time(kind);
    let mut draft = Draft::new(Rule::TagNew, Verdict::Breaking, part, what).keyed(kind);
    values.iter().for_each(|value| draft.seen(value.place, value.at));
    if draft.shown.is_none() {
        draft.why = "no recording shows it, and the new contract allows it".to_owned();
    }
    draft
}

/// What changed from one shape to another, with the recorded values that show it.
fn changes(
    part: Part,
    old: &Schema,
    new: &Schema,
    basis: Basis,
    values: &[&ShownValue<'_>],
) -> Vec<Draft> {
    let gains: Vec<Gain> = if old.covers(new) { Vec::new() } else { old.gains(new) };
    let losses = old.losses(new);
    let is_gone =
        |gain: &Gain| losses.iter().any(|it| it.what == Lost::Always && it.place == gain.place);
    let told = |gain: &Gain| match gain.what {
        Gained::Missing if is_gone(gain) => gone_field(part, gain),
        _ => of_gain(part, gain),
    };
    let mut drafts: Vec<Draft> = gains.iter().map(told).collect();
    let mut others: Vec<Draft> = Vec::new();
    let mut said = vec![Examples::default(); gains.len()];
    let mut kinds = BTreeSet::new();
    for value in values {
        // All of them were read before.
        let json = Text::known(value.json);
        let mut inside = Pointed::of(json);
        for violation in kinds::together(old.accepts_text(json), old, new) {
            let found = inside.at(&violation.pointer).map(Text::as_str);
            let row = row_around(&mut inside, &violation.pointer, part);
            let row = row.map(|row| row.as_str().to_owned());
            match gains.iter().position(|gain| shows(gain, &violation, found)) {
                Some(number) => {
                    if violation.fault == Fault::Other {
                        kinds.insert(drafts[number].path.clone());
                    }
                    drafts[number].seen(value.place, value.at);
                    drafts[number].rows.extend(row);
                    said[number].extend(found);
                }
                None => {
                    let draft = same_or_added(&mut others, of_violation(part, &violation));
                    draft.seen(value.place, value.at);
                    draft.rows.extend(row);
                }
            }
        }
    }
    for ((draft, gain), said) in drafts.iter_mut().zip(&gains).zip(&said) {
        if matches!(gain.what, Gained::Text | Gained::Format(_) | Gained::Number) {
            draft.what.push_str(&said.words());
        }
    }
    let wraps = wraps(&gains, &is_gone);
    match basis {
        Basis::Learned => {
            doubt_names(drafts.iter_mut().zip(&gains));
            drafts.retain(|draft| draft.shown.is_some());
        }
        Basis::Accepted => make_up(&mut drafts, &gains, old, new),
    }
    let respelled = respell(&mut drafts, &gains, [old, new], part);
    wrap(&mut drafts, &wraps, part);
    let missing = |gain: &&Gain| gain.what == Gained::Missing && is_gone(gain);
    replace(&mut drafts, &gains.iter().filter(missing).collect::<Vec<_>>(), old, part);
    rename(&mut drafts, part);
    let renamed = rename_optional(&mut drafts, part, &losses);
    let is_kind = |it: &&mut Draft| it.rule == Rule::FieldNew && kinds.contains(&it.path);
    drafts.iter_mut().filter(is_kind).for_each(|draft| *draft = other_kind(draft, part));
    drafts.extend(others);
    let is_told = |it: &Loss| renamed.contains(&it.place) || respelled::is_told(it, &respelled);
    let losses = losses.into_iter().filter(|it| !is_told(it));
    drafts.extend(gone(part, losses, basis));
    drafts
}

/// Where no recording proves that something breaks, a value that is made up may.
fn make_up(drafts: &mut [Draft], gains: &[Gain], old: &Schema, new: &Schema) {
    if drafts.iter().all(|draft| draft.shown.is_some()) {
        return;
    }
    let examples = new.examples().into_iter().filter(|json| new.accepts(json).is_empty());
    let examples: Vec<String> = examples.collect();
    let broken = examples.iter().map(|json| (broken(old, json), json));
    let broken: Vec<(Vec<Broken<'_>>, &String)> =
        broken.filter(|(broken, _)| !broken.is_empty()).collect();
    let unshown = drafts.iter_mut().zip(gains).filter(|(draft, _)| draft.shown.is_none());
    for (draft, gain) in unshown {
        let just_this = broken
            .iter()
            .find(|(broken, _)| broken.iter().any(|(it, found)| shows(gain, it, *found)));
        let just_this = just_this.map(|(_, json)| *json);
        match draft.verdict {
            Verdict::Compatible => draft.example = just_this.and_then(|it| short(it)),
            _ => prove(draft, just_this.or(broken.first().map(|(_, json)| *json))),
        }
    }
}

/// What a value that is made up proves.
fn prove(draft: &mut Draft, example: Option<&String>) {
    draft.why = match example {
        Some(_) => {
            "no recording shows it; the example keeps the new contract and breaks the old one"
        }
        None => {
            draft.verdict = Verdict::Unproven;
            "no recording shows it, and no value was found that only the new contract allows"
        }
    }
    .to_owned();
    draft.example = example.and_then(|it| short(it));
}

fn short(example: &str) -> Option<String> {
    (example.len() <= LONGEST).then(|| example.to_owned())
}

/// A field that was always there and never is.
fn gone_field(part: Part, gain: &Gain) -> Draft {
    let path = gain.at();
    let what = format!("{} {GONE}", at(part, &path));
    let about = about(&gain.place, Inside::Around);
    let draft = Draft::new(Rule::FieldMissing, Verdict::Breaking, part, what).at(path);
    draft.about(about).possible(gain)
}

/// Whether a change is about what stands at a place, or about what is around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    There,
    Around,
}

/// The answers that have something where a change is.
fn about(place: &[String], inside: Inside) -> About {
    let length = place.len().saturating_sub(usize::from(inside == Inside::Around));
    About::Values { kind: None, place: place[..length].to_vec() }
}

/// The name of something that was never called otherwise may be any text.
fn doubt_names<'d>(drafts: impl Iterator<Item = (&'d mut Draft, &'d Gain)>) {
    let texts = drafts.filter(|(_, gain)| gain.what == Gained::Text);
    for (draft, _) in texts.filter(|(draft, _)| !is_outcome(&draft.path)) {
        draft.doubt("it always said the same word, which may be a text");
    }
}

fn of_gain(part: Part, gain: &Gain) -> Draft {
    let path = gain.at();
    let name = at(part, &path);
    let shown = cut(&gain.schema.to_text());
    let (rule, key, what) = match &gain.what {
        Gained::Missing => (Rule::FieldMissing, String::new(), format!("{name} can be missing")),
        Gained::Field => (Rule::FieldNew, String::new(), format!("{name} is new: `{shown}`")),
        Gained::Fields => {
            (Rule::FieldNew, "…".to_owned(), format!("{name} can have fields of other names"))
        }
        Gained::Member => {
            let what = format!("{name} is a member of a name that none had: `{shown}`");
            (Rule::ShapeWider, String::new(), what)
        }
        Gained::Type | Gained::Filled => {
            let or = match (part, path.is_empty(), shown.as_str()) {
                (Part::Body, true, NULL) => ", or have no body",
                (Part::Body, true, "string") => ", or no JSON",
                _ => "",
            };
            (Rule::TypeNew, gain.schema.kind(), format!("{name} can be `{shown}`{or}"))
        }
        Gained::Number => (Rule::TypeNew, gain.schema.kind(), format!("{name} can be `{shown}`")),
        Gained::Elements => (Rule::TypeNew, shown.clone(), format!("{name} can be `{shown}`")),
        Gained::Value(_) => (Rule::ValueNew, shown.clone(), format!("{name} can be `{shown}`")),
        Gained::Format(format) => {
            let any = if format == "string" { "any text" } else { &format!("`{format}`") };
            (Rule::FormatNew, format.clone(), format!("{name} can be {any}"))
        }
        Gained::Text => (Rule::FormatNew, "string".to_owned(), format!("{name} can be any text")),
        Gained::Kind(tag, value) if part == Part::Events && path.is_empty() => {
            (Rule::TagNew, value.clone(), format!("{} (`{tag}`)", first_time(value)))
        }
        Gained::Kind(tag, value) => {
            let what = format!("{name} can be of a new kind, told by `{tag}` `{value}`");
            (Rule::KindNew, kind_key(tag, value), what)
        }
        Gained::Wider => {
            (Rule::ShapeWider, String::new(), format!("{name} can be more than it could"))
        }
    };
    let inside = match gain.what {
        Gained::Missing | Gained::Field | Gained::Member => Inside::Around,
        _ => Inside::There,
    };
    let about = about(&gain.place, inside);
    let draft = match gain.what {
        // That a list is filled is another value, and how clients take that no recording shows.
        Gained::Elements => {
            Draft::new(rule, Verdict::Unproven, part, what).because("the list was always empty")
        }
        _ => judged(rule, part, what),
    };
    // One free text that looked like a date was one by chance.
    let is_plain = || Meaning::of(path.rsplit('.').next().unwrap_or_default()) == Meaning::Plain;
    let fewest = match gain.what {
        Gained::Number => usize::MAX,
        Gained::Filled => MANY,
        Gained::Type if key == NULL => MANY,
        Gained::Format(_) if is_plain() => 3,
        _ => 0,
    };
    Draft { fewest, ..draft }.at(path).keyed(key).possible(gain).about(about)
}

/// What a recording shows that the comparison of the shapes has not told by the same place.
fn of_violation(part: Part, violation: &Violation) -> Draft {
    let path = violation.at();
    let name = at(part, &path);
    let found = cut(&violation.found);
    let expected = cut(&violation.expected);
    let (rule, what) = match violation.fault {
        Fault::Word => (Rule::ValueNew, format!("{name} can be `{found}`")),
        Fault::Missing => (Rule::FieldMissing, format!("{name} is missing")),
        Fault::Unknown | Fault::Other => (Rule::FieldNew, format!("{name} is new")),
        Fault::Name => (Rule::ShapeWider, format!("{name} is a member of a name that none had")),
        Fault::Branch => {
            let tag = told_by(violation);
            let what = format!("{name} is of a new kind: `{tag}` is `{found}`, not `{expected}`");
            (Rule::KindNew, what)
        }
        Fault::Value if part == Part::Body && path.is_empty() && found == NULL => {
            (Rule::TypeNew, format!("{name} is `null`, or has no body"))
        }
        Fault::Value | Fault::NotJson => {
            (Rule::TypeNew, format!("{name} is not `{expected}` any more"))
        }
    };
    let inside = match violation.fault {
        Fault::Missing | Fault::Unknown | Fault::Other | Fault::Name => Inside::Around,
        _ => Inside::There,
    };
    let fewest = if [&*found, &*expected].contains(&NULL) { MANY } else { 0 };
    // As what is told by what both sides promise.
    let key = match violation.fault {
        Fault::Word => found,
        Fault::Branch => kind_key(told_by(violation), &said(&violation.found)),
        _ => expected,
    };
    let draft = Draft { fewest, ..judged(rule, part, what) }.at(path).keyed(key);
    let draft = draft.about(about(&violation.place, inside));
    if violation.fault == Fault::Other { other_kind(&draft, part) } else { draft }
}

/// The field that tells the kind of an object of another kind.
fn told_by(violation: &Violation) -> &str {
    violation.pointer.rsplit('/').next().unwrap_or_default()
}

fn kind_key(tag: &str, value: &str) -> String {
    format!("{tag} {value}")
}

/// A new field beside which none of those is that were known: what says by a field what it is has come to say
/// something else.
fn other_kind(draft: &Draft, part: Part) -> Draft {
    let what = format!(
        "{} is new, and none of the fields that were known is beside it",
        at(part, &draft.path)
    );
    let rule = Rule::KindNew;
    Draft { rule, verdict: Verdict::Unproven, what, ..draft.clone() }
        .because("clients find nothing that they know where it stands")
}

/// Clients read the fields that they know, unless [`Report::new_fields`](super::Report::new_fields) says
/// otherwise.
fn judged(rule: Rule, part: Part, what: String) -> Draft {
    match rule {
        Rule::FieldNew => Draft::new(rule, Verdict::Compatible, part, what).because(TOLERANT),
        _ => Draft::new(rule, Verdict::Breaking, part, what),
    }
}

/// What a value breaks, and the JSON text of what is there.
pub(super) type Broken<'t> = (Violation, Option<&'t str>);

/// All that a JSON text breaks of a shape.
pub(super) fn broken<'t>(schema: &Schema, json: &'t str) -> Vec<Broken<'t>> {
    let mut inside = Pointed::of(Text::known(json));
    let all = schema.accepts(json).into_iter();
    all.map(|it| (inside.at(&it.pointer).map(Text::as_str), it))
        .map(|(found, it)| (it, found))
        .collect()
}

/// Whether what a recorded value breaks of the old shape, with the JSON text of what is there, shows just this.
pub(super) fn shows(gain: &Gain, violation: &Violation, found: Option<&str>) -> bool {
    if gain.place != violation.place {
        return false;
    }
    match (&gain.what, violation.fault) {
        (Gained::Missing, Fault::Missing)
        | (Gained::Field, Fault::Unknown | Fault::Other)
        | (Gained::Member, Fault::Name) => true,
        (Gained::Wider, _) => true,
        (Gained::Kind(_, value), Fault::Branch) => found.is_some_and(|found| said(found) == *value),
        (
            Gained::Type
            | Gained::Filled
            | Gained::Number
            | Gained::Elements
            | Gained::Text
            | Gained::Format(_),
            Fault::Value,
        )
        | (Gained::Value(_), Fault::Word) => {
            found.is_some_and(|found| gain.schema.accepts(found).is_empty())
        }
        _ => false,
    }
}

fn said(json: &str) -> String {
    let text = Text::read(json).and_then(Text::string);
    text.map_or_else(String::new, std::borrow::Cow::into_owned)
}

/// What tells the change of a list or a map that is always empty now.
pub(super) const FILLED: &str = "filled";

/// Something that is allowed, and not seen any more.
pub(super) fn not_seen(part: Part, kind: Option<&str>, loss: Loss) -> Option<Draft> {
    let draft = gone(part, std::iter::once(loss), Basis::Accepted).pop()?;
    Some(match kind {
        Some(kind) => below(kind, &among(part, kind), draft),
        None => draft,
    })
}

/// What is not seen any more.
fn gone(part: Part, losses: impl Iterator<Item = Loss>, basis: Basis) -> Vec<Draft> {
    let drafts = losses.filter_map(|loss| {
        let path = loss.at();
        let name = at(part, &path);
        let (rule, key, what) = match loss.what {
            Lost::Optional(_) => {
                (Rule::FieldGone, String::new(), format!("{name} is not seen any more"))
            }
            // Free text of which few examples were seen looks as if it were a choice of them.
            Lost::Types(gone) if basis == Basis::Accepted || !gone.is_text() => {
                let shown = cut(&gone.to_text());
                (Rule::TypeGone, gone.kind(), format!("{name} is never `{shown}` any more"))
            }
            Lost::Others(now) if basis == Basis::Accepted => {
                let what = format!("{name} is always {} now", one_of(&now.to_text()));
                (Rule::ValueGone, "others".to_owned(), what)
            }
            Lost::Value(value) => {
                (Rule::ValueGone, value.clone(), format!("{name} is never `{value:?}` any more"))
            }
            Lost::Code(code) => {
                let what = format!("{name} is never `{code}` any more");
                (Rule::ValueGone, code.to_string(), what)
            }
            Lost::Truth(truth) => {
                let what = format!("{name} is never `{truth}` any more");
                (Rule::ValueGone, truth.to_string(), what)
            }
            Lost::Content => {
                let list = path.trim_end_matches("[]").trim_end_matches("{}").trim_end_matches('.');
                let what = format!("{} is always empty now", at(part, list));
                (Rule::TypeGone, FILLED.to_owned(), what)
            }
            Lost::Kind(_, value) if part == Part::Events && path.is_empty() => {
                return Some(tag_gone(part, &value));
            }
            Lost::Kind(tag, value) => {
                let what = format!("{name} is never of the kind `{tag}` `{value}` any more");
                (Rule::KindGone, kind_key(&tag, &value), what)
            }
            _ => return None,
        };
        Some(Draft::new(rule, Verdict::Trim, part, what).at(path).keyed(key))
    });
    drafts.collect()
}
