//! What happens while a session runs.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::compare::matching::{Awaited, Message, Mismatch, Nearest};
use crate::review::report::{self, Differs};

use crate::store::Recovered;

/// Something that the person who runs a session wants to know at once.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A request that nothing recorded answers.
    Miss(Miss),
    /// A request that cannot be recorded; it did not reach the server.
    Unrecorded(Miss),
    /// A request for another host, or of another host's page, was refused: why. It is told once for each host.
    Refused(String),
    /// A recorder had been killed; what it had written was saved.
    Rescued {
        /// Where it is now.
        path: PathBuf,
        /// How many interactions it holds.
        interactions: usize,
        /// How many of them were cut in the middle.
        cut: usize,
        /// How many requests had arrived in part only.
        unasked: usize,
    },
    /// A recorder was killed; what it had written is still in its journal.
    Unfinished {
        /// The journal.
        journal: PathBuf,
        /// How many interactions it holds.
        interactions: usize,
        /// How many of them were cut in the middle.
        cut: usize,
    },
    /// The journal of a recording cannot be written. It is tried again with all that arrives; until then,
    /// what arrives is lost if this process is killed.
    Unwritten {
        /// The journal.
        journal: PathBuf,
        /// Why.
        why: String,
    },
}

/// A request that nothing recorded answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// The session as its prefix names it; empty for the default one.
    pub session: String,
    /// The cassette.
    pub cassette: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// What was asked for.
    pub path: String,
    /// Why nothing answers it, in several lines.
    pub explanation: String,
    /// The number of the interaction that is most alike, counted from 0.
    pub nearest: Option<usize>,
    /// The frame of it, counted from 0, if a message of a client is most alike.
    pub frame: Option<usize>,
    /// Where that one differs, and why it counts; the first of them, if there are very many.
    pub differences: Vec<Differs>,
    /// What else programs are told.
    details: Vec<(&'static str, Value)>,
}

impl Event {
    /// What a killed recorder had written is in that file now.
    pub(crate) fn rescued(left: &Recovered, path: PathBuf) -> Self {
        Self::Rescued {
            path,
            interactions: left.cassette.interactions.len(),
            cut: left.cut,
            unasked: left.unasked,
        }
    }
}

impl Miss {
    /// A miss of which nothing but its explanation is known.
    pub(super) fn unexplained(session: &str, cassette: &str, asked: (&str, &str)) -> Self {
        Self {
            session: session.to_owned(),
            cassette: cassette.to_owned(),
            method: asked.0.to_owned(),
            path: asked.1.to_owned(),
            explanation: String::new(),
            nearest: None,
            frame: None,
            differences: Vec::new(),
            details: vec![("nearest", Value::Null)],
        }
    }

    pub(super) fn of(session: &str, cassette: &str, mismatch: &Mismatch) -> Self {
        let nearest = mismatch.nearest.as_ref();
        Self {
            nearest: nearest.map(|nearest| nearest.asking.interaction),
            frame: nearest.and_then(|nearest| nearest.asking.frame),
            differences: Differs::all(mismatch),
            details: details(mismatch, nearest),
            ..Self::unexplained(session, cassette, (&mismatch.method, &mismatch.path))
        }
    }

    pub(super) fn explained(self, explanation: String) -> Self {
        Self { explanation, ..self }
    }

    /// The explanation in a line.
    pub(super) fn reason(&self) -> String {
        match (self.differences.first(), self.nearest) {
            (Some(first), Some(nearest)) => {
                let frame = self.frame.map(|frame| format!("frame {} of ", frame + 1));
                let frame = frame.unwrap_or_default();
                format!("{} is not as in {frame}interaction {}", first.at, nearest + 1)
            }
            _ => self.explanation.lines().next().unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let differences: Vec<Value> = self.differences.iter().map(Differs::to_json).collect();
        let mut told = json!({
            "session": self.session,
            "cassette": self.cassette,
            "method": self.method,
            "path": self.path,
            "differences": differences,
            "explanation": self.explanation,
        });
        for (name, value) in &self.details {
            told[*name] = value.clone();
        }
        told
    }
}

fn details(mismatch: &Mismatch, nearest: Option<&Nearest>) -> Vec<(&'static str, Value)> {
    let message = mismatch.message.map(|Message { interaction, number, elsewhere }| {
        let mut told = json!({"interaction": interaction + 1, "number": number + 1});
        if let Some(elsewhere) = elsewhere {
            told["elsewhere"] = Value::from(elsewhere + 1);
        }
        ("message", told)
    });
    let mut details = Vec::from_iter(message);
    let Some(nearest) = nearest else {
        let others = mismatch.others.iter().map(report::asking_to_json).collect();
        details.extend([("nearest", Value::Null), ("others", Value::Array(others))]);
        return details;
    };
    let mut told = report::asking_to_json(&nearest.asking);
    told["played"] = nearest.played.into();
    if let Some(Awaited::Asked(awaited)) = &nearest.awaited {
        told["awaited"] = report::asking_to_json(awaited);
    }
    details.push(("nearest", told));
    if nearest.more > 0 {
        details.push(("more_differences", nearest.more.into()));
    }
    details
}
