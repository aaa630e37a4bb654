//! Why a change that is shown may be none all the same: what clients choose, and what comes and goes by nature.

use std::collections::BTreeSet;

use super::about::LOOKED_AT;
use super::draft::Draft;
use super::report::Part;
use super::rows::is_one_more;
use super::rule::Rule;
use super::weight::Weight;
use crate::contract::Answer;
use crate::text::json::Text;

/// The header field that says where other pages are.
const LINK: &str = "link";

/// Why a change that is shown may be none all the same.
pub(super) fn excuse(
    draft: &Draft,
    weight: &Weight,
    [old, new]: [&[&Answer]; 2],
) -> Option<&'static str> {
    let is_link = draft.part == Part::Headers && draft.path.split('.').next() == Some(LINK);
    match draft.rule {
        Rule::ValueNew | Rule::KindNew if is_echo(draft, new) => {
            Some("the client says it, too: the server may repeat it")
        }
        Rule::ValueNew if is_one_more(draft, old, new) => {
            Some("it stands in a row of its own, beside all rows of before")
        }
        Rule::FieldMissing
            if all_showing(draft, new, |it| draft.about.is_named_by_client(it, draft.part)) =>
        {
            Some("the requests give these names")
        }
        Rule::TypeNew
        | Rule::ValueNew
        | Rule::KindNew
        | Rule::FieldMissing
        | Rule::OrderEndNew
        | Rule::OrderMissing
            if is_asked_anew(draft, old, new) =>
        {
            Some("nobody has asked so before, and only who asks so gets it")
        }
        Rule::TypeNew | Rule::ValueNew if is_as_before(draft, [old, new]) => Some(
            "an earlier answer says the same of this thing; before, nobody read it in that state",
        ),
        Rule::FieldMissing if is_link && weight.may_be_chance() => {
            Some("a page that is the last, or the only one, leads nowhere")
        }
        _ => None,
    }
}

/// Whether in all answers that show a value the answer before has said it of the same thing, and one said so before,
/// too, where it was not read until it was otherwise.
fn is_as_before(draft: &Draft, [old, new]: [&[&Answer]; 2]) -> bool {
    let came_to = |it: &Answer| old.iter().any(|old| old.came_to(&draft.path, it));
    let is_same = |it: &Answer| it.says_as_before(&draft.path) && came_to(it);
    draft.part == Part::Body && all_showing(draft, new, is_same)
}

/// Whether the requests of all answers that show a word say it as well, or one before them did in a field of that name,
/// and it is read back. Of a kind the last word tells, which is a text.
fn is_echo(draft: &Draft, new: &[&Answer]) -> bool {
    let word = match draft.rule {
        Rule::KindNew => {
            let word = draft.key.rsplit(' ').next().unwrap_or_default();
            &format!("\"{}\"", word.trim_matches('"'))
        }
        _ => &draft.key,
    };
    let field = draft.path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]");
    let is_chosen = |answer: &Answer| answer.was_chosen(field, word.trim_matches('"'));
    all_showing(draft, new, |answer| answer.is_asked(word) || is_chosen(answer))
}

/// Whether all requests whose answers show a change leave out what each one of before said, or say what none did, and
/// are new ones, or others of now that do not are answered as before.
fn is_asked_anew(draft: &Draft, old: &[&Answer], new: &[&Answer]) -> bool {
    let Some(shown) = &draft.shown else { return false };
    let (showing, others): (Vec<&Answer>, Vec<&Answer>) =
        new.iter().partition(|answer| shown.places.contains(&answer.place));
    let is_new = |it: &&Answer| old.iter().all(|old| old.place != it.place);
    let are_new = showing.iter().all(is_new);
    let said = |answers: &[&Answer]| -> Vec<BTreeSet<String>> {
        answers.iter().take(LOOKED_AT).map(|it| said(it)).collect()
    };
    let [before, showing, others] = [old, &showing, &others].map(said);
    let (Some(always), Some(shared)) = (all_of(&before), all_of(&showing)) else { return false };
    let left_out = |name: &&String| showing.iter().all(|said| !said.contains(*name));
    let is_new = |name: &&String| before.iter().all(|said| !said.contains(*name));
    let mut left_out = always.iter().filter(left_out);
    let mut added = shared.iter().filter(is_new);
    left_out.any(|name| are_new || others.iter().any(|said| said.contains(name)))
        || added.any(|name| are_new || others.iter().any(|said| !said.contains(name)))
}

/// What is in all of them; nothing if there are none.
fn all_of(all: &[BTreeSet<String>]) -> Option<BTreeSet<String>> {
    let (first, others) = all.split_first()?;
    Some(others.iter().fold(first.clone(), |all, said| &all & said))
}

/// The fields in which a request says something.
fn said(answer: &Answer) -> BTreeSet<String> {
    const DEEPEST: usize = 3;
    let mut said = BTreeSet::new();
    if let Some(json) = answer.said_by_client().and_then(Text::read) {
        json.each_leaf(|pointer, _, _, _| {
            let names: Vec<&str> = pointer.split('/').skip(1).take(DEEPEST).collect();
            said.insert(names.join("."));
        });
    }
    said
}

/// Whether something is so of all answers that show a change; there are some.
pub(super) fn all_showing(draft: &Draft, new: &[&Answer], is_so: impl Fn(&Answer) -> bool) -> bool {
    let places = draft.shown.as_ref().map(|shown| &shown.places);
    let is_it = |answer: &&&Answer| places.is_some_and(|it| it.contains(&answer.place));
    let mut showing = new.iter().filter(is_it).peekable();
    showing.peek().is_some() && showing.all(|answer| is_so(answer))
}
