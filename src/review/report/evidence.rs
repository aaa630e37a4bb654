//! Who has seen what contracts say, and what to record next: as text and as JSON.

use serde_json::{Value, json};

use super::Colour;
use super::line::{Style, count, pad, pad_left, visible, width, wrap};
use crate::contract::shape::Claim;
use crate::contract::{At, Claimed, Edge, Evidence, OrderEvidence, Place};

const WIDTH: usize = 80;

/// How wide a count stands, and where what was counted begins.
const COUNT: usize = 11;
const TEXT: usize = COUNT + 2;

/// Where the witness begins, if there is room before it.
const WITNESS: usize = 50;

/// Tells who has seen what is learned, and what to record next.
pub fn evidence(evidence: &[Evidence], colour: Colour) -> String {
    let told = evidence.iter().map(|evidence| endpoint(evidence, colour));
    let mut told: Vec<String> = told.collect();
    let next = next(evidence).into_iter().map(|(endpoint, lines)| {
        let lines = lines.iter().map(|line| hanging(line, 4));
        format!("  {}\n{}", visible(&endpoint), lines.collect::<String>())
    });
    let next: String = next.collect();
    if !next.is_empty() {
        told.push(format!("{}\n{next}", colour.paint(Style::Bold, "to record next")));
    }
    told.join("\n")
}

/// A sentence in as many lines as it takes, those behind the first further in.
fn hanging(text: &str, indent: usize) -> String {
    let text = visible(text);
    let lines = wrap(&text, WIDTH - indent - 4, usize::MAX).into_iter().enumerate();
    let lines = lines.map(|(at, line)| {
        let indent = if at == 0 { indent } else { indent + 4 };
        format!("{}{}\n", " ".repeat(indent), line.trim_end())
    });
    lines.collect()
}

fn endpoint(evidence: &Evidence, colour: Colour) -> String {
    let Evidence { endpoint, answers, first, orders, claims } = evidence;
    let head = colour.paint(Style::Bold, &visible(&endpoint.to_string()));
    let mut text = format!("{head}\n  {}, first {}\n", count(*answers, "answer"), place(first));
    for order in orders {
        text.push_str(&order_text(order, colour));
    }
    for part in ["events", "body"] {
        let claims: Vec<&Claimed> = claims.iter().filter(|claim| claim.part == part).collect();
        if !claims.is_empty() {
            text.push_str(&format!("  {part}\n"));
        }
        for claim in claims {
            let Claimed { evidence, witness, missed, .. } = claim;
            let share = format!("{}/{}", evidence.seen.count, evidence.all);
            text.push_str(&row(&share, &claim_text(claim), &place(witness), colour));
            if let Some(missed) = missed {
                let missed = colour.paint(Style::Dim, &format!("not in {}", place(missed)));
                text.push_str(&format!("{}{missed}\n", " ".repeat(TEXT + 2)));
            }
        }
    }
    text
}

fn order_text(order: &OrderEvidence, colour: Colour) -> String {
    let OrderEvidence { case, coverage, edges } = order;
    let mut text = hanging(format!("order {case}").trim_end(), 2);
    text.push_str(&format!("    {}, {coverage}\n", count(coverage.words, "answer")));
    for edge in edges {
        text.push_str(&row(
            &edge.answers.to_string(),
            &edge_text(edge),
            &place(&edge.witness),
            colour,
        ));
    }
    text
}

/// How often, what, and who has seen it: on a line of its own where there is no room.
fn row(share: &str, what: &str, witness: &str, colour: Colour) -> String {
    let what = format!("{}  {}", pad_left(share, COUNT), visible(what));
    let room = WITNESS.max(width(&what) + 2);
    let painted = colour.paint(Style::Dim, witness);
    if room + width(witness) <= WIDTH {
        return format!("{}{painted}\n", pad(&what, room));
    }
    format!("{what}\n{}{painted}\n", " ".repeat(TEXT + 2))
}

fn edge_text(edge: &Edge) -> String {
    let slice = if edge.slice.is_empty() { String::new() } else { format!("{}: ", edge.slice) };
    format!("{slice}{} → {}", edge.from, edge.to)
}

fn claim_text(claim: &Claimed) -> String {
    let place = claim.kind.iter().chain(&claim.evidence.place);
    let place = place.map(String::as_str).collect::<Vec<_>>().join(".").replace(".[]", "[]");
    match &claim.evidence.of {
        Claim::Field => format!("{place}?"),
        Claim::Null => format!("{place}: null"),
        Claim::Value(value) => format!("{place}: {value:?}"),
        Claim::Branch(tag, value) if place.is_empty() => format!("{tag} {value:?}"),
        Claim::Branch(tag, value) => format!("{place} by {tag} {value:?}"),
    }
}

/// `letta/hello #4 event 12`.
fn place(place: &Place) -> String {
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

fn place_json(place: &Place) -> Value {
    let mut told = json!({"answer": place.answer});
    match place.at {
        None => {}
        Some(At::Step(number)) => told["step"] = number.into(),
        Some(At::Event(number)) => told["event"] = number.into(),
    }
    told
}
