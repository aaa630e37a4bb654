//! Values in whose place a client gets a placeholder, and may read it.

use std::collections::BTreeSet;

use crate::cassette::{Cassette, Name, Place, Response};
use crate::redact::{is_weak, placeholders};
use crate::text::json::Text;

/// Tokens that stood in recorded answers, and other values that may be none, by the names of their placeholders. A
/// client that reads its own, such as when it expires, cannot read what stands there.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    cassette: Name,
    /// Where the first one stood.
    interaction: usize,
    at: Place,
    name: String,
    all: BTreeSet<String>,
}

impl Tokens {
    /// Those of a recording, if there are any.
    pub(super) fn of(name: &Name, cassette: &Cassette) -> Option<Self> {
        let answers = cassette.interactions.iter().enumerate();
        let answers = answers.filter_map(|(number, it)| Some((number, it.response()?)));
        let mut found = answers
            .flat_map(|(number, answer)| in_answer(answer).into_iter().map(move |it| (number, it)));
        let (interaction, (at, first)) = found.next()?;
        let all = found.map(|(_, (_, name))| name).chain([first.clone()]).collect();
        Some(Self { cassette: name.clone(), interaction, at, name: first, all })
    }

    /// What the client got, and the ways out.
    pub(crate) fn hint(&self) -> String {
        let Self { cassette, interaction, at, name, all } = self;
        let names: Vec<String> = all.iter().map(|name| format!("{name:?}")).collect();
        format!(
            "the client got `[redacted:{name}]` for a value ({at} of interaction {} of `{cassette}`); if it reads \
             that, say `not-secrets = [{}]` below `[redact]` in retape.toml, or `replacement = {{{name} = \"TOKEN\"}}` \
             with one that is no secret",
            interaction + 1,
            names.join(", ")
        )
    }
}

/// The tokens of an answer: where each stood, and what its placeholder calls it.
fn in_answer(answer: &Response) -> Vec<(Place, String)> {
    let mut found = Vec::new();
    let mut look = |at: &dyn Fn() -> Place, text: &[u8]| {
        let names = placeholders(text).map(|(_, name, _)| name).filter(|name| may_be_read(name));
        found.extend(names.map(|name| (at(), name.to_owned())));
    };
    for (name, value) in answer.headers.iter() {
        look(&|| Place::Header(name.to_string()), value);
    }
    let body = answer.readable().bytes();
    match Text::parse_container(&body) {
        Some(json) => json.each_leaf(|pointer, _, value, _| {
            look(&|| Place::Json(pointer.to_owned()), value.as_bytes());
        }),
        None => look(&|| Place::Body, &body),
    }
    found
}

/// Whether a client may read a value that is called so: a token, or what its name hardly says to be a secret, such as
/// the `key` of a store.
fn may_be_read(name: &str) -> bool {
    is_weak(name) || name.to_ascii_lowercase().ends_with("token")
}
