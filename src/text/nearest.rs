//! Telling what was meant by a word that is not known.

/// A hint that names the known word that is most alike, else all that are known.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known here: {}", listed(known)),
    }
}

/// The known word that is most alike, if one is alike at all.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    similar::get_close_matches(word, known, 1, 0.6).first().copied()
}

/// Words as they stand in a sentence.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
