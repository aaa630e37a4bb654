//! Which kinds of change there are.

use std::fmt;

/// Makes the enum, its table and what follows for clients from one row for each rule.
macro_rules! rules {
    ($($rule:ident $id:literal $summary:literal $(=> $consequence:literal)?;)*) => {
        /// A kind of change. Each has an id that stays, and a paragraph in `docs/changes.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!($summary, ".")] $rule,)*
        }

        impl Rule {
            /// All of them, in the order of the documentation, with their ids and what each says in
            /// short.
            pub const ALL: [(Self, &'static str, &'static str); [$($id),*].len()] =
                [$((Self::$rule, $id, $summary)),*];

            /// Which client breaks, and how, if the change breaks one; nothing where the sentence about
            /// the change says it.
            pub(super) const fn consequence(self) -> &'static str {
                match self {
                    $(Self::$rule => concat!($($consequence)?),)*
                }
            }
        }
    };
}

rules! {
    EndpointNew "endpoint-new" "an endpoint is recorded for the first time";
    EndpointGone "endpoint-gone" "an endpoint is not recorded any more";
    StatusNew "status-new" "an endpoint answers with another status"
        => "a client that looks for the status it knew takes it for another answer";
    StatusGone "status-gone" "a status is not recorded any more";
    MediaNew "media-new" "an endpoint answers with another media type"
        => "a client that reads the one is given the other";
    MediaGone "media-gone" "a media type is not recorded any more";
    ListedGone "listed-gone" "a tool, a prompt or a resource of an MCP server is not listed any more"
        => "a client that calls it is refused";
    ListedNarrower "listed-narrower" "a tool of an MCP server does not take what it took"
        => "a client that calls it as before is refused";
    AnswerCut "answer-cut" "an answer does not come to its end any more";
    CaseNew "case-new" "requests say something that no order was known for";
    CaseGone "case-gone" "requests of a kind are not recorded any more";
    OrderEndNew "order-end-new" "a stream ends where it did not end"
        => "a client that waits for it never goes on";
    OrderMissing "order-missing" "a message that had to come can be missing"
        => "a client that relies on it lacks it";
    OrderNextNew "order-next-new" "a message comes where it did not come"
        => "a client that goes by the order meets it where it expects another message";
    OrderStartNew "order-start-new" "a stream begins with another message"
        => "a client that goes by the order meets it where it expects another message";
    OrderSwapped "order-swapped" "messages have changed places"
        => "it was the other way round until now; a client that goes by the order breaks";
    OrderApart "order-apart" "what belongs together comes apart"
        => "a client that puts the parts of a message together mixes it with others";
    OrderWider "order-wider" "an order allows more";
    OrderNextGone "order-next-gone" "messages do not follow each other any more";
    TagNew "tag-new" "a type of message is new"
        => "a client that refuses types of messages it does not know fails";
    TagGone "tag-gone" "a type of message is not seen any more"
        => "a client that waits for it never goes on";
    FieldMissing "field-missing" "a field that was always there can be missing"
        => "a client that reads it finds nothing there";
    FieldNew "field-new" "a field is new";
    FieldGone "field-gone" "a field is not seen any more";
    TypeNew "type-new" "a value can be of another type"
        => "a client that reads it as what it was fails";
    TypeGone "type-gone" "a value is not of a type any more";
    ValueNew "value-new" "a string can say something else"
        => "a client that knows what it can say meets another value";
    ValueGone "value-gone" "a string does not say something any more";
    FormatNew "format-new" "a string can be of another format, or of none"
        => "a client that knows what it can say meets another value";
    ValueOther "value-other" "a value never says any more what it always said";
    KindNew "kind-new" "a kind of object is new"
        => "a client that takes the kinds it knows meets another one";
    KindGone "kind-gone" "a kind of object is not seen any more";
    ShapeWider "shape-wider" "a shape allows more"
        => "a client that takes what it knows meets something else";
    InvariantBroken "invariant-broken" "what ties messages together does not hold"
        => "a client that goes by it takes one thing for another";
    InvariantDropped "invariant-dropped" "what ties messages is not promised any more";
    InvariantNew "invariant-new" "what ties messages together is promised now";
    RequestRefused "request-refused" "a request that was answered is refused"
        => "a client that asks so gets no answer any more";
    RequestRequired "request-required" "all requests say something they need not have";
    RequestNarrower "request-narrower" "requests are not made in a way any more";
    RequestWider "request-wider" "requests are made in a way that is new";
}

impl Rule {
    /// The id, which stays what it is from release to release: `order-end-new`.
    pub fn id(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// What it says, in short.
    pub fn summary(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
