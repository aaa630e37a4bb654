//! Servers that a client starts itself, at another port in each run: there the address is a name.

use crate::cassette::{Cassette, Evidence, Id, Ids, Reach, target};

/// Where the address of a server is a name.
const ORIGIN: &str = "origin";

/// The name of a server in the table: its host and port, where the first request to it says so.
pub fn server(cassette: &Cassette, origin: &str, evidence: Evidence) -> Option<Id> {
    let (_, host) = origin.split_once("://")?;
    let first = target::split(&cassette.recorded.upstream).0;
    let interaction = cassette.interactions.iter().position(|it| {
        let named = target::split(&it.request.path).0;
        if named.is_empty() { first == origin } else { named == origin }
    })?;
    let (value, at) = (host.to_owned(), ORIGIN.to_owned());
    Some(Id { value, interaction, at, reach: Reach::Here, evidence })
}

/// Whether it is the name of a server.
pub fn is_server(id: &Id, origin: &str) -> bool {
    id.at == ORIGIN && origin.split_once("://").is_some_and(|(_, host)| host == id.value)
}

/// A recording as it was made, before it had the words of an older one.
#[derive(Debug)]
pub struct Made {
    /// Its table of names.
    pub ids: Ids,
    /// Where its servers were.
    pub origins: Vec<String>,
}

impl Made {
    /// What a recording says of itself.
    pub fn of(cassette: &Cassette) -> Self {
        let origins = cassette.origins().into_iter().map(str::to_owned).collect();
        Self { ids: cassette.ids.clone().unwrap_or_default(), origins }
    }

    /// Whether it shows that a server may be elsewhere of which the older one does not tell that.
    pub fn shows_moved(&self, old: &Cassette) -> bool {
        let ids = old.ids.iter().flat_map(|ids| &ids.client);
        let known = ids.filter(|id| id.evidence != Evidence::Look);
        let mut origins = old.origins().into_iter().filter(|it| self.has_moved(it));
        origins.any(|origin| !known.clone().any(|id| is_server(id, origin)))
    }

    fn has_moved(&self, origin: &str) -> bool {
        self.origins.iter().all(|it| it != origin)
    }
}

/// Adds the servers that were elsewhere when they were recorded again, and those that look as if the client had started
/// them: at ports of this machine that are given out to whoever asks for a free one.
///
/// `old` is the cassette whose words the recording has now, and how it was made.
pub fn decide_servers(old: Option<(&Cassette, &Made)>, cassette: &Cassette, mut ids: Ids) -> Ids {
    for origin in cassette.origins() {
        let known = |ids: &Ids| ids.client.iter().find(|id| is_server(id, origin)).cloned();
        let before = old.and_then(|(old, _)| known(old.ids.as_ref()?));
        let is_same = || old.is_some_and(|(_, made)| known(&made.ids).is_some());
        let has_moved = || old.is_some_and(|(_, made)| made.has_moved(origin));
        let found = match before {
            Some(before) if before.evidence != Evidence::Look => Some(before.evidence),
            _ if has_moved() => Some(Evidence::Runs),
            _ if !is_at_free_port(origin) || is_same() => None,
            _ => Some(Evidence::Look),
        };
        ids.client.retain(|id| !is_server(id, origin));
        ids.client.extend(found.and_then(|evidence| server(cassette, origin, evidence)));
    }
    ids.client.sort_by_key(|id| id.interaction);
    ids
}

/// Systems give out ports from here on.
const FREE: u16 = 32768;

fn is_at_free_port(origin: &str) -> bool {
    let authority = origin.split_once("://").and_then(|(_, it)| it.rsplit_once(':'));
    let Some((host, port)) = authority else { return false };
    let is_local = matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
    is_local && port.parse::<u16>().is_ok_and(|port| port >= FREE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::{Interaction, Request, Response};

    #[test]
    fn a_server_that_was_elsewhere_when_it_was_recorded_again_may_be_elsewhere() {
        let recorded = |at: &str| {
            let asked = Interaction::of(Request::of("GET", "/x"), Response::of(200));
            let mut cassette = Cassette { interactions: vec![asked], ..Cassette::default() };
            cassette.recorded.upstream = at.to_owned();
            cassette
        };
        let old = recorded("http://127.0.0.1:8283");
        let decided = |at: &str| {
            let made = Made::of(&recorded(at));
            let ids = decide_servers(Some((&old, &made)), &old, Ids::default());
            let evidence: Vec<Evidence> = ids.client.iter().map(|id| id.evidence).collect();
            (made.shows_moved(&old), evidence)
        };

        assert_eq!(decided("http://127.0.0.1:8283"), (false, vec![]));
        assert_eq!(decided("http://127.0.0.1:9283"), (true, vec![Evidence::Runs]));
    }
}
