//! What the name of a field says of its value.

/// What the name of a field says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    Plain,
    /// That it marks this one request, message or attempt: the client makes it up, however it looks.
    Mark,
    /// That it is the identifier of what is sent, however it looks. In a query it only refers to
    /// something.
    Identity,
    /// That it is a point in time.
    Moment,
    /// That it is how long something took.
    Span,
}

impl Meaning {
    /// Reads a name, in whatever way its words are put together: `request_id`, `requestId`,
    /// `Request-Id`.
    pub fn of(name: &str) -> Self {
        // Every key of every request comes by here; nearly all are plain by their last letter.
        let last = name.as_bytes().last().map_or(0, u8::to_ascii_lowercase);
        if name.len() > LONGEST
            || !matches!(last, b'd' | b'e' | b'k' | b'n' | b'p' | b's' | b't' | b'w' | b'y')
        {
            return Self::Plain;
        }
        let mut plain = [0; LONGEST];
        let plain = letters(name, &mut plain);
        match last {
            b'd' => Self::of_id(plain),
            b'y' | b't' if matches!(plain, b"idempotencykey" | b"traceparent") => Self::Mark,
            b't' if name.ends_with("_at") || name.ends_with("At") => Self::Moment,
            b'e' if plain == b"nonce" => Self::Mark,
            b'e' if matches!(plain, b"time" | b"date" | b"since" | b"before")
                || name.ends_with("_time")
                || name.ends_with("Time") =>
            {
                Self::Moment
            }
            b'p' if plain == b"exp" || plain.ends_with(b"timestamp") => Self::Moment,
            b't' if matches!(plain, b"at" | b"iat") => Self::Moment,
            b's' if plain == b"expires" => Self::Moment,
            b'w' if plain == b"now" => Self::Moment,
            b's' if plain == b"ts" || name.ends_with("_ts") => Self::Moment,
            b's' if plain.ends_with(b"ids") => Self::of_id(&plain[..plain.len() - 1]),
            b's' if SPANS.iter().any(|span| plain.ends_with(span)) => Self::Span,
            _ if matches!(plain, b"duration" | b"elapsed" | b"latency" | b"took") => Self::Span,
            _ => Self::Plain,
        }
    }

    /// Reads the letters of a name that ends with a `d`.
    fn of_id(plain: &[u8]) -> Self {
        let ends = |ends: &[&[u8]]| ends.iter().any(|end| plain.ends_with(end));
        match plain {
            b"created" | b"updated" => Self::Moment,
            b"elapsed" => Self::Span,
            b"id" | b"uuid" | b"guid" => Self::Identity,
            b"otid" => Self::Mark,
            _ if !plain.ends_with(b"id") => Self::Plain,
            _ if ends(MARKS) => Self::Mark,
            _ if ends(IDENTITIES) => Self::Identity,
            _ => Self::Plain,
        }
    }
}

/// What the names of fields end with that hold something to come back with.
const REFERS: [&str; 7] = ["id", "ids", "Id", "Ids", "key", "token", "cursor"];

/// Whether the name of a field says that it refers to something.
pub fn refers(name: &str) -> bool {
    REFERS.iter().any(|end| name.ends_with(end))
}

/// What comes last in the names of what was measured.
const SPANS: &[&[u8]] =
    &[b"durationms", b"elapsedms", b"latencyms", b"tookms", b"elapsedseconds", b"latencyseconds"];

/// What comes last in the names of marks, behind `client`, `parent`, ….
const MARKS: &[&[u8]] = &[
    b"requestid",
    b"correlationid",
    b"traceid",
    b"spanid",
    b"eventid",
    b"messageid",
    b"msgid",
    b"localid",
    b"tempid",
];

/// What comes last in the names of what clients make up. Names of what they were told beforehand
/// (`user_id`, `model_id`, `project_id`) are not among them.
const IDENTITIES: &[&[u8]] = &[
    b"threadid",
    b"runid",
    b"sessionid",
    b"conversationid",
    b"turnid",
    b"callid",
    b"invocationid",
    b"taskid",
    b"contextid",
];

const LONGEST: usize = 48;

/// The letters of a name, small.
fn letters<'a>(name: &str, into: &'a mut [u8; LONGEST]) -> &'a [u8] {
    let mut length = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        into[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    &into[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_however_they_are_spelled() {
        for (name, meaning) in [
            ("id", Meaning::Identity),
            ("requestId", Meaning::Mark),
            ("client_request_id", Meaning::Mark),
            ("tool_call_id", Meaning::Identity),
            ("Idempotency-Key", Meaning::Mark),
            ("created_at", Meaning::Moment),
            ("startTime", Meaning::Moment),
            ("duration_ms", Meaning::Span),
            ("ids", Meaning::Identity),
            ("message_ids", Meaning::Mark),
            ("user_ids", Meaning::Plain),
            ("bids", Meaning::Plain),
            ("model_id", Meaning::Plain),
            ("user_id", Meaning::Plain),
            ("valid", Meaning::Plain),
            ("format", Meaning::Plain),
            ("timeout", Meaning::Plain),
            ("max_duration", Meaning::Plain),
            ("runtime", Meaning::Plain),
            ("", Meaning::Plain),
        ] {
            assert_eq!(Meaning::of(name), meaning, "{name}");
        }
    }
}
