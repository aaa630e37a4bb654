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

/// Whether a field is called like what something is, such as `type`, `message_type` or `eventType`.
pub(crate) fn is_kind(field: &str) -> bool {
    ends_in(field, &KINDS)
}

/// Whether a field is called like what came of something, such as `status` or `finish_reason`.
pub(crate) fn is_outcome(field: &str) -> bool {
    ends_in(field, &OUTCOMES)
}

/// Whether a place is the code of an error: `error.code`, `errors[].extensions.code`. Elsewhere a code may be that of a
/// country, or of what is sold.
pub(crate) fn is_error_code<'p>(place: impl DoubleEndedIterator<Item = &'p str>) -> bool {
    let mut steps = place.rev().filter(|step| !step.starts_with('['));
    let is_code = |name: &str| name == "code" || name.ends_with("_code") || name.ends_with("Code");
    steps.next().is_some_and(is_code)
        && steps.any(|step| step.starts_with("error") || step.ends_with("error"))
}

/// Whether a refusal says its code in a place: what stands at the top of its body, or below an error.
pub(crate) fn is_code_of_refusal<'p>(
    place: impl DoubleEndedIterator<Item = &'p str> + Clone,
) -> bool {
    let mut steps = place.clone();
    let (first, rest) = (steps.next(), steps.next());
    rest.is_none()
        && matches!(
            first,
            Some("code" | "status" | "statusCode" | "error_code" | "errorCode" | "errno")
        )
        || is_error_code(place)
}

/// Whether a header field is called like what tells how much is left of what a client may use:
/// `anthropic-ratelimit-requests-remaining`, `x-trial-endpoint-call-remaining`.
pub(crate) fn is_limit(header: &str) -> bool {
    ["ratelimit", "rate-limit", "-remaining"].iter().any(|limit| header.contains(limit))
}

fn ends_in(field: &str, names: &[&str]) -> bool {
    let field = field.to_ascii_lowercase();
    let mut words = field.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| names.iter().any(|name| word.ends_with(name)))
}
