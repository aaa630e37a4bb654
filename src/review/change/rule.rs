//! Which kinds of change there are.

use std::fmt;

/// A kind of change. Each has an id that stays, and a paragraph in `docs/changes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// An endpoint is recorded for the first time.
    EndpointNew,
    /// An endpoint is not recorded any more.
    EndpointGone,
    /// An endpoint answers with another status.
    StatusNew,
    /// A status is not recorded any more.
    StatusGone,
    /// An endpoint answers with another media type.
    MediaNew,
    /// A media type is not recorded any more.
    MediaGone,
    /// An answer does not come to its end any more.
    AnswerCut,
    /// Requests say something that no order was known for.
    CaseNew,
    /// Requests of a kind are not recorded any more.
    CaseGone,
    /// A stream ends where it did not end.
    OrderEndNew,
    /// A message that had to come can be missing.
    OrderMissing,
    /// A message comes where it did not come.
    OrderNextNew,
    /// A stream begins with another message.
    OrderStartNew,
    /// A message comes before another which came first.
    OrderSwapped,
    /// What belongs together comes apart.
    OrderApart,
    /// An order allows more, in a way that no other rule names.
    OrderWider,
    /// Messages do not follow each other any more.
    OrderNextGone,
    /// A type of message is new.
    TagNew,
    /// A type of message is not seen any more.
    TagGone,
    /// A field that was always there can be missing.
    FieldMissing,
    /// A field is new.
    FieldNew,
    /// A field is not seen any more.
    FieldGone,
    /// A value can be of another type.
    TypeNew,
    /// A value is not of a type any more.
    TypeGone,
    /// A string can say something else.
    ValueNew,
    /// A string does not say something any more.
    ValueGone,
    /// A string can be of another format, or of none.
    FormatNew,
    /// A kind of object is new, told by what a field says.
    KindNew,
    /// A kind of object is not seen any more.
    KindGone,
    /// A shape allows more, in a way that no other rule names.
    ShapeWider,
    /// What ties messages together does not hold any more.
    InvariantBroken,
    /// What ties messages together is not promised any more.
    InvariantDropped,
    /// What ties messages together is promised now.
    InvariantNew,
    /// A request that was answered is refused.
    RequestRefused,
    /// All requests say something that they need not have said.
    RequestRequired,
    /// Requests are not made in a way any more.
    RequestNarrower,
    /// Requests are made in a way that is new.
    RequestWider,
}

impl Rule {
    /// All of them, in the order of the documentation, with their ids and what each says in short.
    pub const ALL: [(Self, &'static str, &'static str); 37] = [
        (Self::EndpointNew, "endpoint-new", "an endpoint is recorded for the first time"),
        (Self::EndpointGone, "endpoint-gone", "an endpoint is not recorded any more"),
        (Self::StatusNew, "status-new", "an endpoint answers with another status"),
        (Self::StatusGone, "status-gone", "a status is not recorded any more"),
        (Self::MediaNew, "media-new", "an endpoint answers with another media type"),
        (Self::MediaGone, "media-gone", "a media type is not recorded any more"),
        (Self::AnswerCut, "answer-cut", "an answer does not come to its end any more"),
        (Self::CaseNew, "case-new", "requests say something that no order was known for"),
        (Self::CaseGone, "case-gone", "requests of a kind are not recorded any more"),
        (Self::OrderEndNew, "order-end-new", "a stream ends where it did not end"),
        (Self::OrderMissing, "order-missing", "a message that had to come can be missing"),
        (Self::OrderNextNew, "order-next-new", "a message comes where it did not come"),
        (Self::OrderStartNew, "order-start-new", "a stream begins with another message"),
        (Self::OrderSwapped, "order-swapped", "messages have changed places"),
        (Self::OrderApart, "order-apart", "what belongs together comes apart"),
        (Self::OrderWider, "order-wider", "an order allows more"),
        (Self::OrderNextGone, "order-next-gone", "messages do not follow each other any more"),
        (Self::TagNew, "tag-new", "a type of message is new"),
        (Self::TagGone, "tag-gone", "a type of message is not seen any more"),
        (Self::FieldMissing, "field-missing", "a field that was always there can be missing"),
        (Self::FieldNew, "field-new", "a field is new"),
        (Self::FieldGone, "field-gone", "a field is not seen any more"),
        (Self::TypeNew, "type-new", "a value can be of another type"),
        (Self::TypeGone, "type-gone", "a value is not of a type any more"),
        (Self::ValueNew, "value-new", "a string can say something else"),
        (Self::ValueGone, "value-gone", "a string does not say something any more"),
        (Self::FormatNew, "format-new", "a string can be of another format, or of none"),
        (Self::KindNew, "kind-new", "a kind of object is new"),
        (Self::KindGone, "kind-gone", "a kind of object is not seen any more"),
        (Self::ShapeWider, "shape-wider", "a shape allows more"),
        (Self::InvariantBroken, "invariant-broken", "what ties messages together does not hold"),
        (
            Self::InvariantDropped,
            "invariant-dropped",
            "what ties messages is not promised any more",
        ),
        (Self::InvariantNew, "invariant-new", "what ties messages together is promised now"),
        (Self::RequestRefused, "request-refused", "a request that was answered is refused"),
        (
            Self::RequestRequired,
            "request-required",
            "all requests say something they need not have",
        ),
        (Self::RequestNarrower, "request-narrower", "requests are not made in a way any more"),
        (Self::RequestWider, "request-wider", "requests are made in a way that is new"),
    ];

    /// The id, which stays what it is from release to release: `order-end-new`.
    pub fn id(self) -> &'static str {
        self.row().1
    }

    /// What it says, in short.
    pub fn summary(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (Self, &'static str, &'static str) {
        // The table is in the order of the variants; a test holds that.
        Self::ALL[self as usize]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_row() {
        for (rule, id, _) in Rule::ALL {
            assert_eq!(rule.id(), id);
        }
    }
}
