//! A contract as text that reads like an interface.

use std::fmt;
use std::str::FromStr;

use super::{Case, Contract, Orders};
use crate::error::{Error, Kind, Result};
use crate::invariant::Invariant;
use crate::nearest;
use crate::order::Order;

/// So wide an order is written.
const WIDTH: usize = 92;

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.endpoint)?;
        let by = self.order.as_ref().map_or(&[][..], |orders| &orders.by);
        let order_name = match by {
            [] => ORDER.to_owned(),
            by => format!("{BY}{}", by.join(", ")),
        };
        let order = self.order.as_ref().map(orders_text);
        let events = self.events.as_ref().map(ToString::to_string);
        let body = self.body.as_ref().map(ToString::to_string);
        let lines: Vec<String> = self.invariants.iter().map(ToString::to_string).collect();
        let invariants = (!lines.is_empty()).then(|| lines.join("\n"));
        for (name, text) in
            [(&*order_name, order), ("invariants", invariants), ("events", events), ("body", body)]
        {
            let Some(text) = text else { continue };
            writeln!(f, "  {name}")?;
            for line in text.lines() {
                writeln!(f, "{}", format!("    {line}").trim_end())?;
            }
        }
        Ok(())
    }
}

impl FromStr for Contract {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let head = lines.next().unwrap_or_default();
        let endpoint = head.parse().map_err(|()| {
            wrong("its first line is no endpoint")
                .with_hint("it reads like `GET /v1/agents -> 200 application/json`")
        })?;
        let mut contract =
            Self { endpoint, order: None, invariants: Vec::new(), events: None, body: None };
        let lines: Vec<&str> = lines.collect();
        let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let mut at = 0;
        while let Some(name) = lines.get(at).map(|line| line.trim()) {
            if !is_name(&lines[at]) {
                return Err(wrong("a part has no name"));
            }
            let inside = lines[at + 1..].iter().take_while(|line| !is_name(line));
            let inside: Vec<&str> = inside.map(|line| line.get(4..).unwrap_or_default()).collect();
            at += inside.len() + 1;
            contract.put(name, &inside.join("\n"))?;
        }
        Ok(contract)
    }
}

impl Contract {
    fn put(&mut self, name: &str, text: &str) -> Result<()> {
        match name {
            ORDER => {
                let case = Case { says: String::new(), order: order(text)? };
                self.order = Some(Orders { by: Vec::new(), cases: vec![case] });
            }
            _ if name.starts_with(BY) => {
                let by = name[BY.len()..].split(", ").map(str::to_owned).collect();
                self.order = Some(Orders { by, cases: cases(text)? });
            }
            "invariants" => self.invariants = invariants(text)?,
            "events" => {
                self.events = Some(
                    text.parse().map_err(|error| unreadable("its events cannot be read", error))?,
                )
            }
            "body" => {
                self.body = Some(
                    text.parse().map_err(|error| unreadable("its body cannot be read", error))?,
                )
            }
            _ => {
                let word = name.split(' ').next().unwrap_or_default();
                return Err(wrong("a part is not known").with_hint(nearest::hint(word, &PARTS)));
            }
        }
        Ok(())
    }
}

const ORDER: &str = "order";

/// What stands before the field that decides about the order.
const BY: &str = "order by request.";

fn orders_text(orders: &Orders) -> String {
    match orders.cases.as_slice() {
        [only] if orders.by.is_empty() => only.order.expression().lines(WIDTH),
        _ => cases_text(orders),
    }
}

fn cases_text(orders: &Orders) -> String {
    let cases = orders.cases.iter().map(|case| {
        let order = case.order.expression().lines(WIDTH - 2);
        let order: Vec<String> = order.lines().map(|line| format!("  {line}")).collect();
        format!("{}\n{}", case.says, order.join("\n"))
    });
    cases.collect::<Vec<_>>().join("\n")
}

fn cases(text: &str) -> Result<Vec<Case>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut cases = Vec::new();
    let mut at = 0;
    while let Some(says) = lines.get(at) {
        let inside = lines[at + 1..].iter().take_while(|line| line.starts_with(' '));
        let inside: Vec<&str> = inside.copied().collect();
        at += inside.len() + 1;
        cases.push(Case { says: says.trim().to_owned(), order: order(&inside.join("\n"))? });
    }
    Ok(cases)
}

fn order(text: &str) -> Result<Order> {
    text.parse().map_err(|error| unreadable("its order cannot be read", error))
}

const PARTS: [&str; 4] = ["order", "invariants", "events", "body"];

fn invariants(text: &str) -> Result<Vec<Invariant>> {
    Invariant::parse(text).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        unreadable("its invariants cannot be read", errors.join("; "))
    })
}

fn unreadable(
    what: &'static str,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::new(Kind::Contract { why: what })
        .because(why)
        .with_hint("mend the file, or remove it and accept the contract anew: `retape accept`")
}

fn wrong(why: &'static str) -> Error {
    Error::new(Kind::Contract { why })
}
