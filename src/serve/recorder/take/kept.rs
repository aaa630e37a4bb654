//! What is kept of a take.

use std::sync::PoisonError;

use super::super::finished::Finished;
use super::super::passing::Passing;
use super::{Asking, Take};
use crate::cassette::{Body, End, Headers, Interaction, Larges, Outcome, Progress, Request, large};
use crate::error::Result;
use crate::store::Journal;

impl Take {
    /// The interaction as far as it has come; `None` if the request was never complete and nothing
    /// was answered, or the server was not asked. What is not held in memory is noted in `larges`.
    pub(in super::super) fn interaction(&self, larges: &mut Larges) -> Option<Interaction> {
        let tape = self.tape.upgrade()?;
        let state = self.state();
        if state.unasked {
            return None;
        }
        let mut interaction = state.interaction.clone();
        interaction.after = self.after();
        let [asked, said] = state.passing.each_ref().map(Option::as_deref);
        let mut kept = |passing: &Passing| passing.kept(tape.journal(), larges);
        interaction.request.body = asked.map_or_else(|| state.body.joined(), &mut kept);
        let is_whole = matches!(state.asking, Asking::Reading | Asking::Complete);
        if is_whole {
            let Request { headers, body, .. } = &mut interaction.request;
            announce(headers, body);
        }
        match &mut interaction.outcome {
            Outcome::Response(response) => {
                response.body = match said {
                    Some(said) => Body::Whole(kept(said)),
                    None => state.answer.body(&response.headers),
                };
                if said.is_some() && response.end == End::Complete {
                    announce(&mut response.headers, &response.body.bytes());
                }
                response.note_left(state.left);
            }
            Outcome::Nothing(_) if !is_whole => return None,
            Outcome::Nothing(_) => {}
        }
        Some(interaction)
    }

    /// What was going on when it was asked.
    pub(super) fn after(&self) -> Vec<Progress> {
        let after = self.after.iter().map(|(interaction, chunks)| Progress {
            interaction: *interaction as usize,
            chunks: *chunks as usize,
        });
        after.collect()
    }

    /// What is needed of it beside the journal, now that it is over. Nothing if it has to be held: if it
    /// is a session that goes on in other ways, or a body of it stands in the journal alone already.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub(in super::super) fn finished(&self, journal: &Journal) -> Result<Option<Finished>> {
        let mut larges = Larges::new();
        let interaction = self.interaction(&mut larges);
        let interaction = interaction.filter(|it| larges.is_empty() && !it.is_socket());
        let Some(interaction) = interaction else { return Ok(None) };
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Finished::of(&interaction, &entries, journal)
    }
}

/// Addresses, or secrets, may have been replaced in a body whose length was announced before.
fn announce(headers: &mut Headers, body: &[u8]) {
    let length = large::length(body);
    let announced = headers.get("content-length");
    if announced.is_some_and(|announced| announced.trim().parse() != Ok(length)) {
        headers.set("content-length", length.to_string());
    }
}
