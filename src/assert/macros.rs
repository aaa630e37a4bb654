//! The assertions.
//!
//! # Rationale
//!
//! They are macros because a snapshot belongs to the place where it is asserted: insta's own macros,
//! which these become, name the file, the line and the function of the test.

/// Asserts in which order messages came.
///
/// The trace is anything that can be iterated over and gives messages: [`Messages`] that were cut from
/// an answer, JSON values (`serde_json::Value`), anything else that is `serde::Serialize`, such as the events
/// of your SDK, or tags as text. Keep-alives are set aside. What `[[protocol]]` says in the `retape.toml` of the
/// package, or the nearest above it, counts.
///
/// | form | what it asserts |
/// |---|---|
/// | `assert_order!(trace, "a+ b [DONE]")` | the trace is as this [order](mod@crate::contract::order) says |
/// | `assert_order!(trace, @"a+ b [DONE]")` | the same; the order is an inline snapshot |
/// | `assert_order!(trace)` | the same; the order is a snapshot in a file |
///
/// A snapshot is held by meaning too. Begin with `assert_order!(trace, @"")` and `cargo insta review`, which
/// writes the order in which the messages came; loosen it by hand where another run may differ. insta writes
/// it again only when a trace is not in that order.
///
/// [`Messages`]: crate::message::Messages
///
/// # Panics
///
/// If the trace is not in order, with what was expected where; if the order cannot be read; if the
/// snapshot is another one, as insta's own assertions do.
///
/// # Example: what a stream says
///
/// ```
/// use retape::message::{Decoder, Framing, Protocols};
///
/// let body = b"data: {\"type\":\"delta\",\"index\":0}\n\n\
///              data: {\"type\":\"delta\",\"index\":0}\n\n\
///              data: [DONE]\n\n";
/// let messages = Decoder::new(Framing::EventStream, Protocols::default()).push(body, 0);
///
/// retape::assert_order!(&messages, "start? delta+ [DONE]"); // by meaning
/// retape::assert_order!(&messages, @"delta+ [DONE]"); //       the same, as a snapshot
/// retape::assert_order!(["call", "return"], "(call return)+");
/// ```
#[macro_export]
macro_rules! assert_order {
    ($trace:expr, @$order:literal $(,)?) => {{
        let (text, settings) =
            $crate::_macro_support::order_snapshot(env!("CARGO_MANIFEST_DIR"), $trace);
        let _bound = settings.bind_to_scope();
        $crate::insta::assert_snapshot!(text, stringify!($trace), @$order)
    }};
    ($trace:expr, $order:expr $(,)?) => {
        $crate::_macro_support::check_order(env!("CARGO_MANIFEST_DIR"), $trace, &$order)
    };
    ($trace:expr $(,)?) => {{
        let (text, settings) =
            $crate::_macro_support::order_snapshot(env!("CARGO_MANIFEST_DIR"), $trace);
        // It is held by its meaning, and not by its text.
        if $crate::_macro_support::is_asserted("an order") {
            let _bound = settings.bind_to_scope();
            $crate::insta::assert_snapshot!(
                $crate::insta::internals::AutoName,
                text,
                stringify!($trace)
            )
        }
    }};
}

/// Asserts what a value looks like as JSON.
///
/// The value is anything that is `serde::Serialize`. insta's settings apply to it before it is looked
/// at: sorted maps, and redactions if insta's feature `redactions` is on.
///
/// | form | what it asserts |
/// |---|---|
/// | `assert_shape!(value, "object\n  id: uuid")` | the value is as this [schema](crate::contract::shape::Schema) says |
/// | `assert_shape!(value, @"…")` | the shape of the value is this inline snapshot |
/// | `assert_shape!(value)` | … is a snapshot in a file |
///
/// # Panics
///
/// If the value is not as the schema says, with all that is wrong with it; if the schema cannot be read;
/// if the snapshot is another one, as insta's own assertions do.
///
/// # Example: the shape of an answer, not its values
///
/// ```
/// let agent = serde_json::json!({"id": "agent-9064a366c1f04315", "tools": ["search"], "owner": null});
///
/// retape::assert_shape!(agent, "
///     object
///       id: Id<agent>
///       tools: [string]
///       owner: string | null
/// ");
/// ```
#[macro_export]
macro_rules! assert_shape {
    ($value:expr, @$shape:literal $(,)?) => {
        $crate::insta::assert_snapshot!(
            $crate::_macro_support::shape_text(&$crate::_macro_support::json(&$value)),
            stringify!($value),
            @$shape
        )
    };
    ($value:expr, $shape:expr $(,)?) => {
        $crate::_macro_support::check_shape(&$crate::_macro_support::json(&$value), &$shape)
    };
    ($value:expr $(,)?) => {{
        let shape = $crate::_macro_support::shape_text(&$crate::_macro_support::json(&$value));
        if $crate::_macro_support::is_asserted(&shape) {
            $crate::insta::assert_snapshot!(
                $crate::insta::internals::AutoName,
                shape,
                stringify!($value)
            )
        }
    }};
}

/// Asserts that cassettes keep the contracts that were accepted.
///
/// `assert_contract!("cassettes")` looks at all cassettes of a folder, and
/// `assert_contract!("cassettes/letta/hello.json")` at one. A relative path is below the package.
///
/// The contracts are insta's snapshots in the folder `contracts` beside the cassettes (of one cassette:
/// the nearest such folder above it). What is new or broken waits there as `NAME.snap.new` for
/// `cargo insta review` or `retape accept`; `INSTA_UPDATE` says otherwise, as it does for all
/// snapshots. A contract is compared by meaning: one that was widened by hand stays as it is.
///
/// What is unproven (it may break a client, but too few recordings show it) is printed and passes.
/// `assert_contract!("cassettes", strict)` fails by it, as `retape check --strict` does.
///
/// # Panics
///
/// If something is new, broken or not recorded any more, if there is neither a cassette nor a contract,
/// or if one cannot be read.
///
/// # Example: what a server promised is still kept
///
/// ```
/// retape::assert_contract!("cassettes/letta");
/// retape::assert_contract!("cassettes/letta/hitl/approve_tokens.json", strict);
/// ```
#[macro_export]
macro_rules! assert_contract {
    ($cassettes:expr $(,)?) => {
        $crate::assert_contract!(@ $cassettes, false)
    };
    ($cassettes:expr, strict $(,)?) => {
        $crate::assert_contract!(@ $cassettes, true)
    };
    (@ $cassettes:expr, $strict:literal) => {
        $crate::_macro_support::check_contract(
            env!("CARGO_MANIFEST_DIR"),
            &$cassettes,
            $strict,
            |name: &str, contract: &str, endpoint: &str| {
                $crate::insta::assert_snapshot!(name, contract, endpoint)
            },
        )
    };
}
