//! How much of a server the cassettes show, for a program.

use serde_json::{Value, json};

use super::coverage::shares;
use crate::review::coverage::{Coverage, Exercised};

/// Tells what was recorded and, beside a document, what was not, as JSON.
pub fn coverage_to_json(exercised: &Exercised, against: Option<&Coverage<'_>>) -> Value {
    let endpoints = exercised.endpoints.iter().map(|endpoint| {
        let answers = endpoint.answers.iter().map(|answer| {
            json!({
                "status": answer.status,
                "media_type": answer.media,
                "answers": answer.count,
                "cut": answer.cut,
                "messages": answer.messages,
            })
        });
        json!({
            "method": endpoint.method,
            "path": endpoint.path,
            "asked": endpoint.asked,
            "answers": answers.collect::<Value>(),
        })
    });
    let mut told = json!({
        "cassettes": exercised.cassettes,
        "answers": exercised.answers(),
        "unanswered": exercised.unanswered,
        "endpoints": endpoints.collect::<Value>(),
    });
    if let Some(coverage) = against {
        told["openapi"] = coverage_json(coverage);
    }
    told
}

fn coverage_json(coverage: &Coverage<'_>) -> Value {
    let shares = shares(coverage).map(|(name, share)| {
        let share = json!({
            "exercised": share.exercised, "all": share.all, "percent": share.percent(),
        });
        (name.replace(' ', "_"), share)
    });
    let operations = coverage.rows().map(|row| {
        let missing = row.missing.iter();
        let missing =
            missing.map(|missing| json!({"status": missing.status, "media_type": missing.media}));
        json!({
            "method": row.operation.method,
            "path": row.operation.path,
            "answers": row.count,
            "missing": missing.collect::<Value>(),
        })
    });
    let undocumented = coverage.undocumented.iter().map(|unknown| {
        json!({
            "method": unknown.method,
            "path": unknown.path,
            "status": unknown.status,
            "media_type": unknown.media,
            "answers": unknown.count,
        })
    });
    json!({
        "title": coverage.document.title,
        "version": coverage.document.version,
        "coverage": shares.into_iter().collect::<Value>(),
        "operations": operations.collect::<Value>(),
        "undocumented": undocumented.collect::<Value>(),
        "not_followed": coverage.document.elsewhere,
    })
}
