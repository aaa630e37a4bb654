//! Contracts from text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;

use super::situation::{Condition, Feature};
use super::source::{Block, Mistake, Mistakes, Source};
use super::text::{BODY, BY_KIND, EVENTS, INVARIANTS, ORDER, ORDERS, OTHERWISE, TAG, WHEN};
use super::{Case, Contract, Endpoint, Kinds, Orders};
use crate::contract::invariant::Invariant;
use crate::contract::order::Order;
use crate::contract::shape::Schema;
use crate::error::{Error, Kind};
use crate::message::TagSource;
use crate::text::nearest;

/// What stands before the fields that decide, in contracts of old: `order by request.role, stream`.
const BY: &str = "order by request.";

/// What stood there for a field that is not there.
const MISSING: &str = "missing";

const PARTS: [&str; 6] = [TAG, ORDER, ORDERS, INVARIANTS, EVENTS, BODY];

impl FromStr for Contract {
    type Err = Error;

    /// Reads what [`Display`](std::fmt::Display) writes, or a person. A head between two lines of
    /// dashes, as insta writes it, is passed over.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut reader = Reader::default();
        let contract = reader.contract(&Source::of(text));
        match contract.filter(|_| reader.mistakes.is_empty()) {
            Some(contract) => Ok(contract),
            None => {
                let mistakes = Mistakes::of(text, reader.mistakes);
                Err(Error::new(Kind::Contract { why: "it cannot be read" })
                    .on_line(mistakes.line())
                    .because(mistakes)
                    .with_hint(
                        "mend the file, or remove it and accept the contract anew: `retape accept`",
                    ))
            }
        }
    }
}

/// What is wrong so far.
#[derive(Default)]
struct Reader {
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn contract(&mut self, source: &Source<'_>) -> Option<Contract> {
        let Some(head) = source.lines.first() else {
            self.wrong(source.end(), "an endpoint is missing".to_owned(), Some(ENDPOINT));
            return None;
        };
        let endpoint: Option<Endpoint> = head.text.parse().ok();
        if endpoint.is_none() {
            self.wrong(head.span(), "this is no endpoint".to_owned(), Some(ENDPOINT));
        }
        let mut parts = Contract {
            endpoint: endpoint.clone().unwrap_or_default(),
            tag: None,
            order: None,
            invariants: Vec::new(),
            events: None,
            body: None,
        };
        for (name, inside) in Block::below(&source.lines[1..]).parts(2) {
            match name.text.starts_with("  ") && !name.text.starts_with("   ") {
                true => self.part(&mut parts, name.text.trim(), name.trimmed(), &inside),
                false => {
                    let hint = Some("parts begin in the third column, what is in them deeper");
                    self.wrong(name.trimmed(), "this belongs to no part".to_owned(), hint);
                }
            }
        }
        endpoint.map(|_| parts)
    }

    fn part(
        &mut self,
        contract: &mut Contract,
        name: &str,
        span: Range<usize>,
        inside: &Block<'_>,
    ) {
        match name {
            TAG => contract.tag = self.tag(inside),
            ORDER => contract.order = self.order(inside).map(Orders::one),
            ORDERS => contract.order = Some(self.orders(inside)),
            _ if name.starts_with(BY) => {
                let by: Vec<&str> = name[BY.len()..].split(", ").collect();
                contract.order = Some(self.orders_by(&by, inside));
            }
            INVARIANTS => contract.invariants = self.invariants(inside),
            EVENTS => contract.events = self.schema(inside).map(Kinds::One),
            BODY => contract.body = self.schema(inside).map(Kinds::One),
            _ => match name.strip_suffix(BY_KIND) {
                Some(EVENTS) => contract.events = Some(self.kinds(inside)),
                Some(BODY) => contract.body = Some(self.kinds(inside)),
                _ => {
                    let word = name.split(' ').next().unwrap_or_default();
                    let hint = nearest::hint(word, &PARTS);
                    self.wrong(span, "this part is not known".to_owned(), Some(&hint));
                }
            },
        }
    }

    fn tag(&mut self, block: &Block<'_>) -> Option<TagSource> {
        let (text, places) = block.text();
        let told = text.trim().parse().ok();
        if told.is_none() {
            let hint = Some(
                "write a place such as `/kind_of_thing`, or `event` for the name of the event",
            );
            self.wrong(places.whole(&(0..text.len())), "this tells no types".to_owned(), hint);
        }
        told
    }

    fn order(&mut self, block: &Block<'_>) -> Option<Order> {
        let (text, places) = block.text();
        match text.parse::<Order>() {
            Ok(order) => Some(order),
            Err(errors) => {
                for error in errors.errors() {
                    let span = places.whole(&error.span);
                    self.wrong(span, error.problem.to_string(), error.problem.hint());
                }
                None
            }
        }
    }

    fn orders(&mut self, block: &Block<'_>) -> Orders {
        let mut cases = Vec::new();
        for (head, inside) in block.parts(block.column()) {
            let when = self.conditions(head.text.trim(), &head.trimmed());
            if let Some(order) = self.order(&inside) {
                cases.push(Case { when, order });
            }
        }
        Orders { cases }
    }

    fn conditions(&mut self, head: &str, span: &Range<usize>) -> Vec<Condition> {
        if head == OTHERWISE {
            return Vec::new();
        }
        let Some(conditions) = head.strip_prefix(WHEN) else {
            let hint = Some("a case begins with `when …`, or is `otherwise`");
            self.wrong(span.clone(), "this begins no case".to_owned(), hint);
            return Vec::new();
        };
        let mut read = Vec::new();
        let mut at = span.start + WHEN.len();
        for text in conditions.split(", ") {
            match Condition::parse(text) {
                Some(condition) => read.push(condition),
                None => {
                    let span = at..at + text.len();
                    self.wrong(span, "this is no condition".to_owned(), Some(CONDITION));
                }
            }
            at += text.len() + ", ".len();
        }
        read
    }

    /// The cases of old: what each field says, with ` / ` between the fields.
    fn orders_by(&mut self, by: &[&str], block: &Block<'_>) -> Orders {
        let mut cases = Vec::new();
        for (head, inside) in block.parts(block.column()) {
            let says = head.text.trim().split(" / ");
            let when = by.iter().zip(says).map(|(path, says)| Condition {
                feature: Feature::Request((*path).to_owned()),
                says: (says != MISSING).then(|| says.replace(", ", super::situation::AND)),
            });
            let when = when.collect();
            if let Some(order) = self.order(&inside) {
                cases.push(Case { when, order });
            }
        }
        Orders { cases }
    }

    fn invariants(&mut self, block: &Block<'_>) -> Vec<Invariant> {
        let (text, places) = block.text();
        Invariant::parse(&text).unwrap_or_else(|errors| {
            for error in errors {
                let hint = error.hint(&text);
                self.wrong(places.whole(&error.span), error.problem.to_string(), hint.as_deref());
            }
            Vec::new()
        })
    }

    fn kinds(&mut self, block: &Block<'_>) -> Kinds {
        let mut kinds = BTreeMap::new();
        for (head, inside) in block.parts(block.column()) {
            let name = head.text.trim();
            let name = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
            if let Some(schema) = self.schema(&inside)
                && kinds.insert(name, schema).is_some()
            {
                self.wrong(head.trimmed(), "this kind stands here twice".to_owned(), None);
            }
        }
        Kinds::Each(kinds)
    }

    fn schema(&mut self, block: &Block<'_>) -> Option<Schema> {
        let (text, places) = block.text();
        match Schema::parse(&text) {
            Ok(schema) => Some(schema),
            Err(errors) => {
                for error in errors.0 {
                    let span = places.whole(&error.span);
                    self.wrong(span, error.problem.to_string(), error.hint().as_deref());
                }
                None
            }
        }
    }

    fn wrong(&mut self, span: Range<usize>, what: String, hint: Option<&str>) {
        self.mistakes.push(Mistake { span, what, hint: hint.map(str::to_owned) });
    }
}

const ENDPOINT: &str = "it reads like `GET /v1/agents -> 200 application/json`";

const CONDITION: &str = "write `path=\"text\"`, `path missing`, `path known`, `path unknown` or \
                         `after tag[path=\"text\"]`, with commas between them";
