//! Names of fields by which programs decide, as is usual: what something is, and what came of it.
//!
//! A name alone decides nothing. It says how much evidence is asked for.

/// The bits that a telling name is worth, as much as the shape of a few messages.
pub(crate) const TELLING: f64 = 8.0;

/// What something is, the most usual name first.
const KINDS: [&str; 9] =
    ["message_type", "type", "event", "object", "kind", "role", "method", "tag", "action"];

/// What came of something.
const OUTCOMES: [&str; 4] = ["status", "state", "reason", "outcome"];

/// The place of a field among those that are usual for what something is.
pub(crate) fn rank(field: &str) -> Option<usize> {
    KINDS.iter().position(|kind| *kind == field)
}

/// Whether a field is called like what something is, such as `type`, `message_type` or `eventType`. In which format a
/// content is (`mimeType`), that decides.
pub(crate) fn is_kind(field: &str) -> bool {
    ends_in(field, &KINDS) && !is_format(field)
}

fn is_format(field: &str) -> bool {
    let letters = field.bytes().filter(u8::is_ascii_alphabetic).map(|it| it.to_ascii_lowercase());
    let letters: Vec<u8> = letters.collect();
    [&b"mimetype"[..], b"mediatype", b"contenttype"].iter().any(|end| letters.ends_with(end))
}

/// Whether a field is called like what came of something, such as `status` or `finish_reason`.
pub(crate) fn is_outcome(field: &str) -> bool {
    ends_in(field, &OUTCOMES)
}

/// Whether a place is the code of an error: `error.code`, `errors[].extensions.code`. Elsewhere a code may be that of a
/// country, or of what is sold.
pub(crate) fn is_error_code<'p>(place: impl DoubleEndedIterator<Item = &'p str>) -> bool {
    let mut steps = place.rev().filter(|step| !step.starts_with('['));
    steps.next().is_some_and(is_code)
        && steps.any(|step| step.starts_with("error") || step.ends_with("error"))
}

/// Whether a field is called like a code, or like the number of an error: `error_subcode`, `errno`.
fn is_code(field: &str) -> bool {
    const ENDS: [&str; 4] = ["code", "errno", "errornum", "error_num"];
    let name = field.to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a refusal says its code in a place: what stands at the top of its body, or below an error.
pub(crate) fn is_code_of_refusal<'p>(
    place: impl DoubleEndedIterator<Item = &'p str> + Clone,
) -> bool {
    let mut steps = place.clone();
    let (first, rest) = (steps.next(), steps.next());
    rest.is_none() && first.is_some_and(|name| name == "status" || is_code(name))
        || is_error_code(place)
}

/// Whether a header field is called like what tells how much is left of what a client may use:
/// `anthropic-ratelimit-requests-remaining`, `x-trial-endpoint-call-remaining`.
pub(crate) fn is_limit(header: &str) -> bool {
    ["ratelimit", "rate-limit", "-remaining"].iter().any(|limit| header.contains(limit))
}

/// Whether a name ends in one of these words: `event_type`, `finishReason`, `kind_of_thing`, and neither `event_name` nor
/// `transaction`.
fn ends_in(field: &str, names: &[&str]) -> bool {
    let is_mark = |c: char| !c.is_ascii_alphanumeric();
    let name = field.split_once("_of_").map_or(field, |(name, _)| name);
    let last = name.trim_end_matches(is_mark).rsplit(is_mark).next().unwrap_or_default();
    let letters = last.as_bytes();
    let begins = |at: &usize| {
        letters[*at].is_ascii_uppercase() && letters.get(at + 1).is_some_and(u8::is_ascii_lowercase)
    };
    let start = (0..letters.len()).rfind(begins).unwrap_or_default();
    names.iter().any(|name| last[start..].eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_tells() {
        for name in
            ["type", "message_type", "eventType", "HTTPType", "@type", "EVENT_TYPE", "_type_"]
        {
            assert!(is_kind(name), "{name}");
        }
        for name in [
            "event_name",
            "typename",
            "archetype",
            "type_id",
            "transaction_id",
            "tagName",
            "mimeType",
            "",
        ] {
            assert!(!is_kind(name), "{name}");
        }
        assert!(
            is_outcome("finish_reason") && is_outcome("stopReason") && is_outcome("run.status")
        );
        assert!(!is_outcome("estate") && !is_outcome("status_text") && !is_outcome("zustände"));
    }
}
