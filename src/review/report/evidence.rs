//! Who has seen what contracts say, and what to record next: as text and as JSON.

use serde_json::{Value, json};

use super::Colour;
use super::line::{Style, count, pad, pad_left, visible, width, wrap};
use super::page::Page;
use crate::contract::shape::Claim;
use crate::contract::{At, Claimed, Edge, Evidence, Occurrence, OrderEvidence};

const WIDTH: usize = 80;

/// How wide a count stands, and where what was counted begins.
const COUNT: usize = 11;
const TEXT: usize = COUNT + 2;

/// Where the witness begins, if there is room before it.
const WITNESS: usize = 50;

/// Tells who has seen what is learned, and what to record next.
pub fn evidence(evidence: &[Evidence], colour: Colour) -> String {
    let mut page = Page::new(WIDTH, colour);
    for (at, evidence) in evidence.iter().enumerate() {
        if at > 0 {
            page.line("");
        }
        page.evidence(evidence);
    }
    let next = next(evidence);
    if !next.is_empty() {
        if !page.text.is_empty() {
            page.line("");
        }
        page.line(&page.paint(Style::Bold, "to record next"));
    }
    for (endpoint, lines) in next {
        page.line(&format!("  {}", visible(&endpoint)));
        lines.iter().for_each(|line| page.hanging(line, 4));
    }
    page.text
}

impl Page {
    /// A sentence in as many lines as it takes, those behind the first further in.
    fn hanging(&mut self, text: &str, indent: usize) {
        let text = visible(text);
        for (at, line) in wrap(&text, WIDTH - indent - 4, usize::MAX).iter().enumerate() {
            let indent = if at == 0 { indent } else { indent + 4 };
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let Evidence { endpoint, answers, first, orders, claims } = evidence;
        self.line(&self.paint(Style::Bold, &visible(&endpoint.to_string())));
        self.line(&format!("  {}, first {}", count(*answers, "answer"), place(first)));
        for OrderEvidence { case, coverage, edges } in orders {
            self.hanging(format!("order {case}").trim_end(), 2);
            self.line(&format!("    {}, {coverage}", count(coverage.words, "answer")));
            for edge in edges {
                self.row(&edge.answers.to_string(), &edge_text(edge), &place(&edge.witness));
            }
        }
        for part in ["headers", "events", "body"] {
            let claims: Vec<&Claimed> = claims.iter().filter(|it| it.part == part).collect();
            if !claims.is_empty() {
                self.line(&format!("  {part}"));
            }
            for claim in claims {
                let Claimed { evidence, witness, missed, .. } = claim;
                let share = format!("{}/{}", evidence.seen.count, evidence.all);
                self.row(&share, &claim_text(claim), &place(witness));
                if let Some(missed) = missed {
                    self.aside(&format!("not in {}", place(missed)));
                }
            }
        }
    }

    /// How often, what, and who has seen it: on a line of its own where there is no room.
    fn row(&mut self, share: &str, what: &str, witness: &str) {
        let what = format!("{}  {}", pad_left(share, COUNT), visible(what));
        let room = WITNESS.max(width(&what) + 2);
        if room + width(witness) <= WIDTH {
            let witness = self.paint(Style::Dim, witness);
            return self.line(&format!("{}{witness}", pad(&what, room)));
        }
        self.line(&what);
        self.aside(witness);
    }

    /// What stands below a row.
    fn aside(&mut self, text: &str) {
        let text = self.paint(Style::Dim, text);
        self.line(&format!("{}{text}", " ".repeat(TEXT + 2)));
    }
}

fn edge_text(edge: &Edge) -> String {
    let slice = if edge.slice.is_empty() { String::new() } else { format!("{}: ", edge.slice) };
    format!("{slice}{} → {}", edge.from, edge.to)
}

fn claim_text(claim: &Claimed) -> String {
    let place = claim.kind.iter().chain(&claim.evidence.place);
    let place = place.map(String::as_str).collect::<Vec<_>>().join(".").replace(".[", "[");
    match &claim.evidence.of {
        Claim::Field => format!("{place}?"),
        Claim::Null => format!("{place}: null"),
        Claim::Value(value) => format!("{place}: {value:?}"),
        Claim::Branch(tag, value) if place.is_empty() => format!("{tag} {value:?}"),
        Claim::Branch(tag, value) => format!("{place} by {tag} {value:?}"),
    }
}

/// `letta/hello #4 event 12`.
fn place(place: &Occurrence) -> String {
    let at = match place.at {
        None => String::new(),
        Some(At::Step(number)) => format!(" step {number}"),
        Some(At::Event(number)) => format!(" event {number}"),
    };
    visible(&format!("{}{at}", place.answer)).into_owned()
}

/// What rests on too little, in sentences by endpoint.
fn next(evidence: &[Evidence]) -> Vec<(String, Vec<String>)> {
    let found = evidence.iter().map(|it| (it.endpoint.to_string(), of_endpoint(it)));
    found.filter(|(_, lines)| !lines.is_empty()).collect()
}

fn of_endpoint(evidence: &Evidence) -> Vec<String> {
    if evidence.answers == 1 {
        return vec![format!("only one answer: {}", place(&evidence.first))];
    }
    let orders = evidence.orders.iter().filter(|order| order.coverage.more().is_some());
    let orders = orders.map(|OrderEvidence { case, coverage, .. }| {
        let colon = if case.is_empty() { "" } else { ": " };
        format!("{case}{colon}{coverage}")
    });
    let edges = evidence.orders.iter().flat_map(|order| &order.edges);
    let edges = edges.filter(|edge| edge.answers == 1).map(|it| (edge_text(it), &it.witness));
    let claims = evidence.claims.iter().filter(|claim| claim.is_single);
    let single = edges.chain(claims.map(|claim| (claim_text(claim), &claim.witness)));
    let single = single.map(|(what, at)| format!("only one answer shows {what}: {}", place(at)));
    orders.chain(single).collect()
}

/// Tells who has seen what is learned, and what to record next.
pub fn evidence_to_json(evidence: &[Evidence]) -> Value {
    let endpoints = evidence.iter().map(|evidence| {
        json!({
            "endpoint": evidence.endpoint.to_string(),
            "answers": evidence.answers,
            "first": place_json(&evidence.first),
            "orders": orders_json(evidence),
            "claims": claims_json(evidence),
        })
    });
    let next = next(evidence).into_iter();
    let next = next.map(|(endpoint, what)| json!({"endpoint": endpoint, "what": what}));
    json!({"endpoints": endpoints.collect::<Value>(), "next": next.collect::<Value>()})
}

fn orders_json(evidence: &Evidence) -> Value {
    let orders = evidence.orders.iter().map(|order| {
        let edges = order.edges.iter().map(|edge| {
            json!({
                "slice": edge.slice,
                "from": edge.from,
                "to": edge.to,
                "answers": edge.answers,
                "first": place_json(&edge.witness),
            })
        });
        json!({
            "case": order.case,
            "answers": order.coverage.words,
            "coverage": order.coverage.share(),
            "more": order.coverage.more().unwrap_or(0),
            "edges": edges.collect::<Value>(),
        })
    });
    orders.collect()
}

fn claims_json(evidence: &Evidence) -> Value {
    let claims = evidence.claims.iter().map(|claim| {
        let (of, value) = match &claim.evidence.of {
            Claim::Field => ("optional", Value::Null),
            Claim::Null => ("null", Value::Null),
            Claim::Value(value) => ("value", json!(value)),
            Claim::Branch(tag, value) => ("branch", json!({(tag): value})),
        };
        json!({
            "part": claim.part,
            "kind": claim.kind,
            "place": claim.evidence.place,
            "of": of,
            "value": value,
            "seen": claim.evidence.seen.count,
            "all": claim.evidence.all,
            "first": place_json(&claim.witness),
            "missed": claim.missed.as_ref().map(place_json),
        })
    });
    claims.collect()
}

fn place_json(place: &Occurrence) -> Value {
    let mut told = json!({"answer": place.answer});
    match place.at {
        None => {}
        Some(At::Step(number)) => told["step"] = number.into(),
        Some(At::Event(number)) => told["event"] = number.into(),
    }
    told
}
