//! Orders of messages in a test.

use std::borrow::Cow;
use std::path::Path;

use insta::internals::SnapshotContents;
use insta::{Comparator, Settings, Snapshot};
use serde::Serialize;
use serde_json::Value;

use crate::contract::order::{Event, Expression, Fields, Order, Times};
use crate::message::{Message, Protocols, Trace};
use crate::review::report;
use crate::store;
use crate::text::json::Text;

/// So wide a snapshot is written.
const WIDTH: usize = 92;

/// Holds a trace against an order; the `retape.toml` next to a package says what else tells types.
///
/// # Panics
///
/// If it is not in order, or the order or `retape.toml` cannot be read.
#[track_caller]
pub fn check_order<M: IntoMessage>(
    package: impl AsRef<Path>,
    trace: impl IntoIterator<Item = M>,
    order: &str,
) {
    let order: Order = match order.parse() {
        Ok(order) => order,
        Err(errors) => panic!("the order cannot be read\n{errors}"),
    };
    let told = ReceivedMessages::of(package.as_ref(), trace).out_of_order(&order);
    if let Some(told) = told {
        panic!("the trace is not in order\n{told}");
    }
}

/// A trace as the order that it is itself, and settings by which a snapshot is held against it by meaning.
///
/// # Panics
///
/// If the `retape.toml` next to the package cannot be read.
#[track_caller]
pub fn order_snapshot<M: IntoMessage>(
    package: impl AsRef<Path>,
    trace: impl IntoIterator<Item = M>,
) -> (String, Settings) {
    let seen = ReceivedMessages::of(package.as_ref(), trace);
    let text = seen.text();
    let mut settings = Settings::clone_current();
    settings.set_comparator(Box::new(seen));
    (text, settings)
}

/// What stands for a message in a trace.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no message",
    note = "a trace has messages of retape, JSON, tags as text, or what is `serde::Serialize`: derive it, or give `serde_json::to_value(…)` of each"
)]
pub trait IntoMessage {
    /// The message.
    ///
    /// # Errors
    ///
    /// If it cannot be told as JSON.
    fn into_message(self) -> serde_json::Result<Message>;
}

/// A text is a tag. All else is told as JSON.
impl<T: Serialize> IntoMessage for T {
    fn into_message(self) -> serde_json::Result<Message> {
        Ok(match serde_json::to_value(self)? {
            Value::String(tag) => tag.into(),
            value => value.into(),
        })
    }
}

impl IntoMessage for Message {
    fn into_message(self) -> serde_json::Result<Message> {
        Ok(self)
    }
}

impl IntoMessage for &Message {
    fn into_message(self) -> serde_json::Result<Message> {
        Ok(self.clone())
    }
}

/// What came.
#[derive(Clone)]
struct ReceivedMessages {
    messages: Vec<Message>,
    protocols: Protocols,
}

impl ReceivedMessages {
    #[track_caller]
    fn of<M: IntoMessage>(package: &Path, trace: impl IntoIterator<Item = M>) -> Self {
        let protocols = protocols(package);
        let messages = trace.into_iter().map(|message| match message.into_message() {
            Ok(message) => protocols.retagged(message),
            Err(error) => panic!("a message of the trace cannot be told as JSON: {error}"),
        });
        let messages = messages.filter(|message| !message.is_keep_alive()).collect();
        Self { messages, protocols }
    }

    /// What is not as an order says.
    fn out_of_order(&self, order: &Order) -> Option<String> {
        let data: Vec<Data<'_>> = self.messages.iter().map(|it| Data(&it.data)).collect();
        let events = self.messages.iter().zip(&data);
        let events: Vec<Event<'_>> =
            events.map(|(message, data)| Event::new(message.tag.as_str(), data)).collect();
        let explanation = order.explain(&events);
        (!explanation.is_match()).then(|| report::out_of_order(&explanation, &events))
    }

    /// It as an order. How many pieces come in a row is chance, even where the server counts them.
    fn text(&self) -> String {
        let steps = Trace::of(&self.messages, &self.protocols).steps;
        let parts = steps.chunk_by(|one, next| one.tag == next.tag && one.is_piece);
        let parts = parts.map(|steps| {
            let tag = Expression::tag(steps[0].tag.as_str());
            let is_one = steps.len() == 1 && steps[0].count() == 1;
            if is_one { tag } else { tag.repeated(Times::SOME) }
        });
        Expression::sequence(parts).lines(WIDTH)
    }
}

impl Comparator for ReceivedMessages {
    /// A snapshot is an order, which somebody may have loosened by hand.
    fn matches(&self, reference: &Snapshot, _: &Snapshot) -> bool {
        let SnapshotContents::Text(text) = reference.contents() else { return false };
        let order = text.to_string().parse::<Order>();
        order.is_ok_and(|order| self.out_of_order(&order).is_none())
    }

    fn dyn_clone(&self) -> Box<dyn Comparator> {
        Box::new(self.clone())
    }
}

#[track_caller]
fn protocols(package: &Path) -> Protocols {
    match store::find_config(package) {
        Ok(config) => Protocols::of(&config),
        Err(error) => panic!("{error:?}"),
    }
}

/// The fields of a message that is JSON: `tool_call.name`, `items.0`.
struct Data<'a>(&'a str);

impl Fields for Data<'_> {
    fn field(&self, path: &str) -> Option<Cow<'_, str>> {
        let steps: Vec<&str> = path.split('.').collect();
        let found = Text::read(self.0)?.at(&steps)?;
        Some(Cow::Borrowed(found.as_str()))
    }
}
