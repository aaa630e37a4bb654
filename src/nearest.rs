//! Telling what was meant by a word that is not known.

/// A hint that names the known word that is most alike, else all that are known.
pub(crate) fn hint(word: &str, known: &[&str]) -> String {
    match similar::get_close_matches(word, known, 1, 0.6).first() {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known here: {}", listed(known)),
    }
}

/// Words as they stand in a sentence.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
