//! All texts of an interaction.

use super::view::Script;
use super::{Field, Said, View};
use crate::cassette::Headers;

/// Calls with each text of a request.
pub(crate) fn asked<'v>(view: &'v View<'_>, told: &mut impl FnMut(Said<'v>)) {
    told(Said::of(&view.interaction.request.path, Field::ID));
    fields(&view.interaction.request.headers, told);
    script(&view.asked, told);
}

/// Calls with each text of an answer.
pub(crate) fn answered<'v>(view: &'v View<'_>, told: &mut impl FnMut(Said<'v>)) {
    if let Some(response) = view.interaction.response() {
        fields(&response.headers, told);
    }
    if let Some(answered) = &view.answered {
        script(answered, told);
    }
}

/// The time at which a message was sent is nobody's to give back.
fn fields<'v>(headers: &'v Headers, told: &mut impl FnMut(Said<'v>)) {
    for (name, value) in headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("date")) {
        if let Ok(value) = std::str::from_utf8(value) {
            told(Said::of(value, Field::of(name)));
        }
    }
}

fn script<'v>(script: &'v Script, told: &mut impl FnMut(Said<'v>)) {
    let Some(text) = script.as_str() else { return };
    for part in script.records.iter().flat_map(|record| &record.parts) {
        part.leaves(&mut |node, leaf| told(node.said(leaf, text)));
    }
}
