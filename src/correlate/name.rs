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
    /// That it is an array whose order has no meaning.
    Set,
}

impl Meaning {
    /// Whether it says that the value is an identifier.
    pub fn identifies(self) -> bool {
        matches!(self, Self::Mark | Self::Identity)
    }

    /// Reads a name, in whatever way its words are put together: `request_id`, `requestId`,
    /// `Request-Id`.
    pub fn of(name: &str) -> Self {
        if name.len() > LONGEST {
            return Self::Plain;
        }
        let mut plain = [0; LONGEST];
        let plain = letters(name, &mut plain);
        let ends = |ends: &[&[u8]]| ends.iter().any(|end| plain.ends_with(end));
        if matches!(plain, b"otid" | b"nonce" | b"idempotencykey" | b"traceparent") || ends(MARKS) {
            Self::Mark
        } else if matches!(plain, b"id" | b"uuid" | b"guid") || ends(IDENTITIES) {
            Self::Identity
        } else if matches!(plain, b"ts" | b"now" | b"time" | b"date" | b"created" | b"updated")
            || ends(&[b"timestamp", b"createdat", b"updatedat", b"sentat", b"startedat"])
            || (name.ends_with("_at") || name.ends_with("At") || name.ends_with("_ts"))
            || (name.ends_with("_time") || name.ends_with("Time"))
        {
            Self::Moment
        } else if plain.starts_with(b"elapsed")
            || plain.starts_with(b"latency")
            || ends(&[b"durationms", b"elapsedms", b"latencyms", b"tookms"])
            || matches!(plain, b"duration" | b"took")
        {
            Self::Span
        } else if matches!(plain, b"tools" | b"toolids" | b"tags") {
            Self::Set
        } else {
            Self::Plain
        }
    }
}

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
            ("tools", Meaning::Set),
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
