//! Why a change that is shown may be none all the same: what clients choose, and what comes and goes by nature.

use super::draft::Draft;
use super::report::Part;
use super::rows::is_one_more;
use super::rule::Rule;
use super::weight::Weight;
use crate::contract::Answer;

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
        Rule::FieldMissing if is_link && weight.may_be_chance() => {
            Some("a page that is the last, or the only one, leads nowhere")
        }
        _ => None,
    }
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

/// Whether something is so of all answers that show a change; there are some.
pub(super) fn all_showing(draft: &Draft, new: &[&Answer], is_so: impl Fn(&Answer) -> bool) -> bool {
    let places = draft.shown.as_ref().map(|shown| &shown.places);
    let is_it = |answer: &&&Answer| places.is_some_and(|it| it.contains(&answer.place));
    let mut showing = new.iter().filter(is_it).peekable();
    showing.peek().is_some() && showing.all(|answer| is_so(answer))
}
