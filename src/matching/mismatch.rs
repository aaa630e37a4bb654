//! Why no interaction answers a request.

use similar::DiffableStr as _;

use super::{Index, Playlist};
use crate::cassette::{Cassette, Request};
use crate::correlate::identifiers;

/// A request that no recorded interaction answers.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// What was asked, secrets replaced.
    pub asked: Request,
    /// The recorded interaction whose request is most alike, if anything was recorded.
    pub nearest: Option<Nearest>,
    /// How many interactions were recorded.
    pub recorded: usize,
    /// The server that they were recorded from.
    pub upstream: String,
}

/// The recorded interaction whose request is most alike.
#[derive(Debug, Clone)]
pub struct Nearest {
    /// Its number in the cassette, counted from 0.
    pub interaction: usize,
    /// What it asked.
    pub request: Request,
    /// The body that was asked with, in which identifiers that the client is free to choose are
    /// the recorded ones, so that only what counts differs.
    pub aligned: Vec<u8>,
    /// Whether it was played in this session before.
    pub played: bool,
}

/// At most so many requests are compared closely: a miss must be told within a moment.
const CLOSE_LOOKS: usize = 200;

impl Mismatch {
    /// Finds what is most alike. Takes time in proportion to the cassette: only a miss pays it.
    pub fn explain(
        asked: Request,
        cassette: &Cassette,
        index: &Index,
        playlist: &Playlist,
    ) -> Self {
        let requests = cassette.interactions.iter().map(|interaction| &interaction.request);
        let mut ranked: Vec<(u32, usize)> =
            requests.enumerate().map(|(number, request)| (far(&asked, request), number)).collect();
        ranked.sort_unstable();
        ranked.truncate(CLOSE_LOOKS);
        let closest = ranked.into_iter().min_by_key(|(distance, number)| {
            let request = &cassette.interactions[*number].request;
            (*distance, near(&asked, request), playlist.was_played(*number), *number)
        });
        let nearest = closest.map(|(_, number)| Nearest {
            interaction: number,
            request: cassette.interactions[number].request.clone(),
            aligned: aligned(&asked.body, &cassette.interactions[number].request.body, index),
            played: playlist.was_played(number),
        });
        Self {
            asked,
            nearest,
            recorded: cassette.interactions.len(),
            upstream: cassette.recorded.upstream.clone(),
        }
    }
}

/// `asked` with its client-minted identifiers replaced by the recorded ones in the same places, as
/// far as the places can be told: by their order, if there are as many.
fn aligned(asked: &[u8], recorded: &[u8], index: &Index) -> Vec<u8> {
    let (Ok(ours), Ok(theirs)) = (std::str::from_utf8(asked), std::str::from_utf8(recorded)) else {
        return asked.to_vec();
    };
    let places: Vec<_> = identifiers(ours).collect();
    let values: Vec<_> = identifiers(theirs).map(|range| &theirs[range]).collect();
    if places.len() != values.len() {
        return asked.to_vec();
    }
    let mut text = ours.to_owned();
    for (place, value) in places.into_iter().zip(values).rev() {
        let issued =
            index.origins().is_issued(value) || index.origins().is_issued(&text[place.clone()]);
        if !issued && place.len() == value.len() {
            text.replace_range(place, value);
        }
    }
    text.into_bytes()
}

/// The coarse distance: another path weighs more than another method.
fn far(asked: &Request, recorded: &Request) -> u32 {
    let ours: Vec<&str> = asked.path_only().split('/').collect();
    let theirs: Vec<&str> = recorded.path_only().split('/').collect();
    let shared = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours == theirs).count();
    let segments = (ours.len().max(theirs.len()) - shared) as u32;
    let method = u32::from(asked.method != recorded.method);
    segments * 10 + method * 5
}

/// The fine distance: how much of query and body differs, in thousandths.
fn near(asked: &Request, recorded: &Request) -> u32 {
    let query = u32::from(asked.query() != recorded.query()) * 50;
    if asked.body == recorded.body {
        return query;
    }
    let words = |body: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(&body[..body.len().min(16 * 1024)]).into_owned();
        text.tokenize_words().into_iter().map(str::to_owned).collect()
    };
    let (ours, theirs) = (words(&asked.body), words(&recorded.body));
    let alike = similar::capture_diff_slices(similar::Algorithm::Myers, &ours, &theirs)
        .iter()
        .filter(|operation| operation.tag() == similar::DiffTag::Equal)
        .map(|operation| operation.new_range().len())
        .sum::<usize>();
    query + 1000 - (2000 * alike / (ours.len() + theirs.len()).max(1)) as u32
}
