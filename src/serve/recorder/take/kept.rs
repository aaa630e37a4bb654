//! What is kept of a take.

use std::sync::PoisonError;

use super::super::finished::{Finished, Staged};
use super::super::passing::{Passing, announce};
use super::super::roll::Rolled;
use super::{Asking, Take};
use crate::cassette::{Body, End, Interaction, Larges, Outcome, Peer, Progress, Request};
use crate::error::Result;
use crate::store::Journal;

impl Take {
    /// The interaction as it is to be saved, as far as it has come; `None` if the request was never complete and
    /// nothing was answered, or the server was not asked. What is not held in memory is noted in `larges`.
    ///
    /// # Errors
    ///
    /// If a body of it is in the journal, and that cannot be read.
    pub(in super::super) fn rolled(
        &self,
        journal: &Journal,
        larges: &mut Larges,
    ) -> Result<Option<Rolled>> {
        let Some(mut interaction) = self.interaction(larges) else { return Ok(None) };
        let staged = self.staged();
        if !staged.is_empty()
            && let Some(finished) = self.finished_of(&interaction, staged.clone(), journal)?
        {
            return Ok(Some(Rolled::Finished(finished)));
        }
        staged.put_into(&mut interaction, &mut journal.reader())?;
        Ok(Some(Rolled::Held(Box::new(interaction))))
    }

    /// The same without bodies that are read from the journal when it is saved.
    pub(in super::super) fn interaction(&self, larges: &mut Larges) -> Option<Interaction> {
        let tape = self.tape.upgrade()?;
        let state = self.state();
        if state.unasked {
            return None;
        }
        let mut interaction = state.interaction.clone();
        interaction.after = self.after();
        let [asked, said] = state.passing.each_ref().map(Option::as_deref);
        let mut kept = |passing: &Passing| passing.kept(&tape.journal, larges);
        interaction.request.body = asked.map_or_else(|| state.body.joined(), &mut kept);
        let is_whole = matches!(state.asking, Asking::Reading | Asking::Complete);
        if is_whole {
            let Request { headers, body, .. } = &mut interaction.request;
            match asked {
                Some(passing) => passing.describe(headers),
                None => announce(headers, body.len() as u64),
            }
        }
        match &mut interaction.outcome {
            Outcome::Response(response) => {
                response.body = match said {
                    Some(said) => Body::Whole(kept(said)),
                    None => state.answer.body(&response.headers),
                };
                if let Some(said) = said.filter(|_| response.end == End::Complete) {
                    said.describe(&mut response.headers);
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
        self.finished_of(&interaction, self.staged(), journal)
    }

    fn finished_of(
        &self,
        interaction: &Interaction,
        staged: Staged,
        journal: &Journal,
    ) -> Result<Option<Finished>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Finished::of(interaction, (&entries, staged), journal)
    }

    fn staged(&self) -> Staged {
        let passing = &self.state().passing[Peer::Server as usize];
        passing.as_ref().map_or_else(Staged::default, |passing| Staged::new(passing.staged()))
    }
}
