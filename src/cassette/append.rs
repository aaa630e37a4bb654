//! Several cassettes as one.

use super::target::{absolute, relative};
use super::{Cassette, Ids};

impl Cassette {
    /// Puts what another cassette holds behind what this one does.
    pub(crate) fn append(&mut self, mut other: Self) {
        let offset = self.interactions.len();
        for interaction in &mut other.interactions {
            interaction.after.iter_mut().for_each(|progress| progress.interaction += offset);
            let whole = absolute(&other.recorded.upstream, &interaction.request.path);
            interaction.request.path = relative(&self.recorded.upstream, &whole).to_owned();
        }
        let ids = std::mem::take(&mut self.ids).zip(other.ids);
        self.ids = ids.map(|(own, others)| own.followed_by(others, offset));
        self.interactions.append(&mut other.interactions);
        self.larges.append(&mut other.larges);
        self.interrupted |= other.interrupted;
        self.rules = std::mem::take(&mut self.rules).and(&other.rules);
        other.redactions.retain(|rule| !self.redactions.contains(rule));
        self.redactions.append(&mut other.redactions);
        for (name, address) in other.recorded.origins {
            self.recorded.origins.entry(name).or_insert(address);
        }
    }
}

impl Ids {
    /// Both tables as one, for interactions that come so many behind.
    fn followed_by(mut self, mut others: Self, offset: usize) -> Self {
        for id in others.client.iter_mut().chain(&mut others.server) {
            id.interaction += offset;
        }
        self.client.append(&mut others.client);
        self.server.append(&mut others.server);
        self
    }
}
