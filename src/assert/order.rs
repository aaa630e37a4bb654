//! Orders of messages in a test.

use std::borrow::Cow;
use std::path::Path;

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
pub fn check_order<M: Into<Message>>(
    package: impl AsRef<Path>,
    trace: impl IntoIterator<Item = M>,
    order: &str,
) {
    let order: Order = match order.parse() {
        Ok(order) => order,
        Err(errors) => panic!("the order cannot be read\n{errors}"),
    };
    let messages: Vec<Message> = messages(&protocols(package.as_ref()), trace);
    let data: Vec<Data<'_>> = messages.iter().map(|message| Data(&message.data)).collect();
    let events = messages.iter().zip(&data);
    let events: Vec<Event<'_>> =
        events.map(|(message, data)| Event::new(message.tag.as_str(), data)).collect();
    let explanation = order.explain(&events, None);
    if !explanation.is_match() {
        let told = report::out_of_order(&explanation, &events);
        panic!("the trace is not in order\n{told}");
    }
}

/// A trace as the order that it is itself.
///
/// # Panics
///
/// If the `retape.toml` next to the package cannot be read.
#[track_caller]
pub fn order_text<M: Into<Message>>(
    package: impl AsRef<Path>,
    trace: impl IntoIterator<Item = M>,
) -> String {
    let protocols = protocols(package.as_ref());
    let steps = Trace::of(&messages(&protocols, trace), &protocols).steps;
    let parts = steps.iter().map(|step| {
        let tag = Expression::tag(step.tag.as_str());
        if step.count() > 1 { tag.repeated(Times::SOME) } else { tag }
    });
    Expression::sequence(parts).lines(WIDTH)
}

#[track_caller]
fn protocols(package: &Path) -> Protocols {
    match store::find_config(package) {
        Ok(config) => Protocols::of(&config),
        Err(error) => panic!("{error:?}"),
    }
}

fn messages<M: Into<Message>>(
    protocols: &Protocols,
    trace: impl IntoIterator<Item = M>,
) -> Vec<Message> {
    let messages = trace.into_iter().map(|message| protocols.retagged(message.into()));
    messages.filter(|message| !message.is_keep_alive()).collect()
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
