//! A contract as text that reads like an interface.

use std::fmt;

use super::{Case, Contract, Kinds, Orders};

/// So wide an order is written, and so wide in the alternate form: on one line.
const WIDTH: usize = 92;
const UNBROKEN: usize = 100_000;

/// The parts by name.
pub(super) const TAG: &str = "tag";
pub(super) const ORDER: &str = "order";
pub(super) const ORDERS: &str = "orders";
pub(super) const INVARIANTS: &str = "invariants";
pub(super) const EVENTS: &str = "events";
pub(super) const BODY: &str = "body";

/// What stands behind the name of a part that tells kinds apart.
pub(super) const BY_KIND: &str = " by kind";

/// What begins a case, and what is left.
pub(super) const WHEN: &str = "when ";
pub(super) const OTHERWISE: &str = "otherwise";

impl fmt::Display for Contract {
    /// In the alternate form (`{:#}`) each order is one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.endpoint)?;
        if let Some(tag) = &self.tag {
            part(f, TAG, &tag.to_string())?;
        }
        if let Some(orders) = &self.order {
            let width = if f.alternate() { UNBROKEN } else { WIDTH };
            let (name, text) = orders_text(orders, width);
            part(f, name, &text)?;
        }
        if !self.invariants.is_empty() {
            let lines: Vec<String> = self.invariants.iter().map(ToString::to_string).collect();
            part(f, INVARIANTS, &lines.join("\n"))?;
        }
        kinds(f, EVENTS, self.events.as_ref())?;
        kinds(f, BODY, self.body.as_ref())
    }
}

fn part(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    writeln!(f, "  {name}")?;
    indented(text, 4).lines().try_for_each(|line| writeln!(f, "{line}"))
}

fn kinds(f: &mut fmt::Formatter<'_>, name: &str, kinds: Option<&Kinds>) -> fmt::Result {
    match kinds {
        None => Ok(()),
        Some(Kinds::One(schema)) => part(f, name, &schema.to_string()),
        Some(Kinds::Each(kinds)) => {
            let kinds = kinds.iter().map(|(kind, schema)| {
                format!("{}\n{}", Kind(kind), indented(&schema.to_string(), 2))
            });
            part(f, &format!("{name}{BY_KIND}"), &kinds.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A kind as it is written: in quotes if it could be taken for something else.
struct Kind<'k>(&'k str);

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.is_empty()
            && self.0.trim() == self.0
            && !self.0.contains(|char: char| char.is_control() || char == '"' || char == '#');
        if is_plain {
            f.write_str(self.0)
        } else {
            write!(f, "{}", serde_json::Value::from(self.0))
        }
    }
}

/// The name of the part, and what stands in it.
fn orders_text(orders: &Orders, width: usize) -> (&'static str, String) {
    match orders.cases.as_slice() {
        [only] if only.when.is_empty() => (ORDER, only.order.expression().lines(width)),
        cases => {
            let cases = cases.iter().map(|case| {
                let order = indented(&case.order.expression().lines(width - 2), 2);
                format!("{}\n{order}", case.head())
            });
            (ORDERS, cases.collect::<Vec<_>>().join("\n"))
        }
    }
}

impl Case {
    /// What stands above its order.
    pub(super) fn head(&self) -> String {
        let conditions: Vec<String> = self.when.iter().map(ToString::to_string).collect();
        match conditions.as_slice() {
            [] => OTHERWISE.to_owned(),
            conditions => format!("{WHEN}{}", conditions.join(", ")),
        }
    }
}

fn indented(text: &str, columns: usize) -> String {
    let line = |line: &str| format!("{:columns$}{line}", "").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
