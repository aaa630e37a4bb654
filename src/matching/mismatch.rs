//! Why no interaction answers a request.

use similar::DiffableStr as _;

use super::{Index, Playlist};
use crate::cassette::{Cassette, Request};
use crate::correlate::Hole;
use crate::json::{Text, Token};

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

/// So much of a body tells how near it is.
const MOST_WORDS: usize = 4000;

/// What was played before is less likely to be what is meant, unless it is very much alike.
const PLAYED: u32 = 300;

impl Mismatch {
    /// Finds what is most alike. Takes time in proportion to the cassette: only a miss pays it.
    pub fn explain(
        asked: Request,
        cassette: &Cassette,
        index: &Index,
        playlist: &Playlist,
    ) -> Self {
        let requests = || cassette.interactions.iter().map(|interaction| &interaction.request);
        let closest = requests().map(|request| far(&asked, request)).min();
        let holes = index.skeleton(&asked).holes;
        let looked_at = requests()
            .enumerate()
            .filter(|(_, request)| Some(far(&asked, request)) == closest)
            .take(CLOSE_LOOKS)
            .map(|(number, request)| {
                let aligned = aligned(&asked.body, &holes, index.holes(number));
                let played = playlist.was_played(number);
                let distance = near(&asked, &aligned, request) + if played { PLAYED } else { 0 };
                (
                    distance,
                    Nearest { interaction: number, request: request.clone(), aligned, played },
                )
            });
        let nearest = looked_at.min_by_key(|(distance, _)| *distance).map(|(_, nearest)| nearest);
        Self {
            asked,
            nearest,
            recorded: cassette.interactions.len(),
            upstream: cassette.recorded.upstream.clone(),
        }
    }
}

/// `asked` with its client-minted identifiers replaced by the recorded ones in the same places.
fn aligned(asked: &[u8], ours: &[Hole], theirs: &[Hole]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(asked) else { return asked.to_vec() };
    let mut text = text.to_owned();
    for our in ours {
        if let Some(their) = theirs.iter().find(|their| their.is_where(our)) {
            text = text.replace(&our.identifier, &their.identifier);
        }
    }
    text.into_bytes()
}

/// The coarse distance: another method is another thing altogether, another path is not near.
fn far(asked: &Request, recorded: &Request) -> u32 {
    let ours: Vec<&str> = asked.path_only().split('/').collect();
    let theirs: Vec<&str> = recorded.path_only().split('/').collect();
    let shared = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours == theirs).count();
    let segments = (ours.len().max(theirs.len()) - shared) as u32;
    let method = u32::from(asked.method != recorded.method);
    segments * 10 + method * 25
}

/// The fine distance: how much of query and body differs, in thousandths.
fn near(asked: &Request, aligned: &[u8], recorded: &Request) -> u32 {
    let query = u32::from(asked.query() != recorded.query()) * 50;
    if aligned == recorded.body {
        return query;
    }
    let (ours, theirs) = (words(aligned), words(&recorded.body));
    let alike = similar::capture_diff_slices(similar::Algorithm::Myers, &ours, &theirs)
        .iter()
        .filter(|operation| operation.tag() == similar::DiffTag::Equal)
        .map(|operation| operation.new_range().len())
        .sum::<usize>();
    query + 1000 - (2000 * alike / (ours.len() + theirs.len()).max(1)) as u32
}

/// What is compared: the names and values of JSON, each as one, else the words of the beginning.
fn words(body: &[u8]) -> Vec<String> {
    if let Some(json) = Text::parse(body) {
        let value = |token| match token {
            Token::String(spelled) | Token::Scalar(spelled) => Some(spelled.to_owned()),
            _ => None,
        };
        return json.tokens().filter_map(value).take(MOST_WORDS).collect();
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(16 * 1024)]).into_owned();
    text.tokenize_words().into_iter().take(MOST_WORDS).map(str::to_owned).collect()
}
