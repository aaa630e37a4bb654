//! What a check of contracts has found, and who has seen what they say, for a program.

use serde_json::{Value, json};

use super::evidence::next;
use crate::contract::shape::Claim;
use crate::contract::{At, Evidence, Finding, Place};

/// Tells what a check has found.
pub fn findings_to_json(findings: &[Finding]) -> Value {
    let told = findings.iter().map(|finding| {
        let endpoint = finding.endpoint().to_string();
        match finding {
            Finding::New(_) => json!({"kind": "new", "endpoint": endpoint}),
            Finding::Orphaned(_) => json!({"kind": "orphan", "endpoint": endpoint}),
            Finding::Broken { breaches, .. } => {
                let breaches = breaches.iter().map(|breach| {
                    json!({
                        "part": breach.part,
                        "what": breach.what,
                        "answers": breach.count,
                        "first": breach.place,
                    })
                });
                let breaches: Value = breaches.collect();
                json!({"kind": "broken", "endpoint": endpoint, "breaches": breaches})
            }
        }
    });
    told.collect()
}

/// Tells who has seen what is learned, and what to record next.
pub fn evidence_to_json(evidence: &[Evidence]) -> Value {
    let endpoints = evidence.iter().map(|evidence| {
        json!({
            "endpoint": evidence.endpoint.to_string(),
            "answers": evidence.answers,
            "first": place(&evidence.first),
            "orders": orders(evidence),
            "claims": claims(evidence),
        })
    });
    let next = next(evidence).into_iter();
    let next = next.map(|(endpoint, what)| json!({"endpoint": endpoint, "what": what}));
    json!({"endpoints": endpoints.collect::<Value>(), "next": next.collect::<Value>()})
}

fn orders(evidence: &Evidence) -> Value {
    let orders = evidence.orders.iter().map(|order| {
        let edges = order.edges.iter().map(|edge| {
            json!({
                "slice": edge.slice,
                "from": edge.from,
                "to": edge.to,
                "answers": edge.answers,
                "first": place(&edge.witness),
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

fn claims(evidence: &Evidence) -> Value {
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
            "first": place(&claim.witness),
            "missed": claim.missed.as_ref().map(place),
        })
    });
    claims.collect()
}

fn place(place: &Place) -> Value {
    let mut told = json!({"answer": place.answer});
    match place.at {
        None => {}
        Some(At::Step(number)) => told["step"] = number.into(),
        Some(At::Event(number)) => told["event"] = number.into(),
    }
    told
}
