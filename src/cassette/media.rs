//! Media types, as far as anything is done differently because of one.

use super::Headers;

/// What a `content-type` says of how a body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// Server-sent events.
    EventStream,
    /// A JSON value on each line.
    Lines,
    /// JSON values, each behind a record separator.
    Sequence,
    /// Amazon's event streams: binary messages.
    Amazon,
    /// One JSON value.
    Json,
    /// The fields of a form, as in a query.
    Form,
    /// Parts between boundaries.
    Multipart,
    /// Other text.
    Text,
    /// Anything else, or nothing that is known.
    Other,
}

impl Media {
    /// Judges by the `content-type`.
    pub(crate) fn of(content_type: Option<&str>) -> Self {
        // Nearly all bodies of requests say so in just these words.
        if content_type == Some("application/json") {
            return Self::Json;
        }
        let name = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let name = name.trim().to_ascii_lowercase();
        let Some((kind, subtype)) = name.split_once('/') else { return Self::Other };
        match (kind, subtype) {
            ("text", "event-stream") => Self::EventStream,
            ("application", "stream+json") => Self::Lines,
            ("application", "vnd.amazon.eventstream") => Self::Amazon,
            ("application", "x-www-form-urlencoded") => Self::Form,
            ("multipart", _) => Self::Multipart,
            ("application", _) if is_enveloped(subtype) => Self::Other,
            ("application" | "text", _) => Self::by_suffix(subtype).unwrap_or(if kind == "text" {
                Self::Text
            } else {
                Self::Other
            }),
            _ if subtype.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }

    /// The media of a body with these header fields.
    pub(crate) fn of_headers(headers: &Headers) -> Self {
        Self::of(headers.get("content-type"))
    }

    /// Whether messages are sent as they come up, so that each piece means something of its own.
    pub(crate) const fn is_stream(self) -> bool {
        matches!(self, Self::EventStream | Self::Lines | Self::Sequence | Self::Amazon)
    }

    /// Whether it is JSON, alone or in a stream.
    pub(crate) const fn holds_json(self) -> bool {
        matches!(self, Self::EventStream | Self::Lines | Self::Sequence | Self::Json)
    }

    /// `jsonl`, `x-jsonl` and `vnd.example+jsonl` are the same.
    fn by_suffix(subtype: &str) -> Option<Self> {
        let suffix = subtype.rsplit('+').next().unwrap_or(subtype);
        match suffix.strip_prefix("x-").unwrap_or(suffix) {
            "ndjson" | "jsonl" | "jsonlines" | "json-lines" => Some(Self::Lines),
            "json-seq" => Some(Self::Sequence),
            "json" => Some(Self::Json),
            "xml" => Some(Self::Text),
            // `x-amz-json-1.0`, as Amazon's services have it.
            version if version.starts_with("amz-json-") => Some(Self::Json),
            _ => None,
        }
    }
}

/// Whether messages stand behind their lengths, as in Connect and gRPC: `connect+json`, `grpc-web+json`. Whatever is
/// in them, no byte more or less may be.
fn is_enveloped(subtype: &str) -> bool {
    let protocol = subtype.split('+').next().unwrap_or(subtype);
    matches!(protocol, "connect" | "grpc" | "grpc-web" | "grpc-web-text")
}

#[cfg(test)]
mod tests {
    use super::Media;

    #[test]
    fn what_is_within_a_name_tells_how_a_body_is_read() {
        for (name, media) in [
            ("application/vnd.api+json; charset=utf-8", Media::Json),
            ("application/x-amz-json-1.1", Media::Json),
            ("application/x-ndjson", Media::Lines),
            ("application/connect+json", Media::Other),
            ("application/grpc-web+json", Media::Other),
            ("application/x-protobuf", Media::Other),
        ] {
            assert_eq!(Media::of(Some(name)), media, "{name}");
        }
    }
}
