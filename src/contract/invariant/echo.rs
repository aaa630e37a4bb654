//! What an answer says because its request says it.
//!
//! # Rationale
//!
//! A server may say what it was asked without looking at it: most models are called the same each time. So
//! what each recording says is also held against what the others asked, as with numbers: only what goes along
//! with the request is an echo, be it a text or a number. Only what identifies something, such as a model that is
//! always the same, is promised without that, where each request says it: then it comes back, or is the only one.
//!
//! A request may leave a field out, and the server says what it likes there. So what counts is only what came
//! where the request says something.

use std::collections::BTreeSet;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::claim::{Field, Invariant, Path};
use super::holding::CHANCES;
use super::learn::{FieldNumbers, Map, Sight, note};
use super::number::is_no_chance;
use super::trace::Comparable;

/// Of so many recordings it is kept what they say in a place.
const RECORDINGS: usize = 64;

/// A request that says something in more places is a document.
const MOST: usize = 512;

/// What is said, by its hash.
pub type Said = u64;

/// How often fields said what requests say, by the numbers of fields and of paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Echoes {
    fields: Map<u32, Echoing>,
    /// All the places in which a request says something, each set of them once, with its number.
    ways: Map<Vec<u32>, usize>,
    /// What the requests of the first recordings say that say something there, by path and recording.
    asked: Map<u32, Map<u32, Vec<Said>>>,
}

#[derive(Debug, Clone, Default)]
struct Echoing {
    /// How often it came, by the way of the request.
    came: Vec<(usize, u64)>,
    held: Vec<Held>,
}

/// How often a field said what stands in one path of the request.
#[derive(Debug, Clone)]
struct Held {
    path: u32,
    times: u64,
    /// What it said last, by recording.
    last: Vec<(u32, Said)>,
    /// Whether all of that identifies something.
    are_keys: bool,
    /// The numbers that it said, a bit for each; none if one is too large.
    numbers: Option<u32>,
}

/// What one request says.
#[derive(Debug, Default)]
pub(super) struct RequestValues {
    recording: u32,
    way: usize,
    /// Where it says something.
    places: Map<Said, Vec<u32>>,
}

/// Whether two places are called alike: `page` and `currentPage`.
fn are_called_alike(one: &Path, other: &Path) -> bool {
    const SHORTEST: usize = 3;
    let [one, other] = [one, other].map(|path| path.last().to_ascii_lowercase());
    let is_in = |short: &str, long: &str| short.len() >= SHORTEST && long.contains(short);
    one == other || is_in(&one, &other) || is_in(&other, &one)
}

/// What a value says, so that `5` in a query is 5.
pub(super) fn said(value: &Comparable<'_>) -> Option<Said> {
    let hasher = FixedState::default();
    match value {
        Comparable::Number(number) => Some(hasher.hash_one(number.to_bits())),
        Comparable::Key(_) | Comparable::Text(_) => value.said().map(|text| match uuid(&text) {
            Some(digits) => hasher.hash_one(digits),
            None => hasher.hash_one(&*text),
        }),
        Comparable::Length(_) => None,
    }
}

/// The digits of a UUID, which is the same with dashes and without (RFC 9562, section 4).
fn uuid(text: &str) -> Option<String> {
    if !matches!(text.len(), 32 | 36) {
        return None;
    }
    let digits = text.replace('-', "").to_ascii_lowercase();
    let is_uuid = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_uuid.then_some(digits)
}

/// The same of a value of a request, in which a number may be a text.
pub(super) fn said_by_client(value: &Comparable<'_>) -> impl Iterator<Item = Said> {
    let number = value.said().and_then(|text| text.parse().ok()).map(Comparable::Number);
    said(value).into_iter().chain(number.as_ref().and_then(said))
}

impl Held {
    fn of(path: u32) -> Self {
        Self { path, times: 0, last: Vec::new(), are_keys: true, numbers: Some(0) }
    }

    /// Whether all of it are numbers as one counts them, from 0 or 1 on: any two counters say the same.
    fn counts(&self) -> bool {
        self.numbers.is_some_and(|it| 32 - it.leading_zeros() <= it.count_ones() + 1)
    }
}

impl Echoes {
    /// What a request says; nothing if it has too much to say.
    pub(super) fn ask(&mut self, recording: u32, request: &[Sight<'_>]) -> Option<RequestValues> {
        let mut way = Vec::new();
        let mut places: Map<Said, Vec<u32>> = Map::default();
        let mut said: Map<u32, Vec<Said>> = Map::default();
        for sight in request {
            for value in said_by_client(&sight.value) {
                way.push(sight.path);
                note(places.entry(value).or_default(), sight.path);
                said.entry(sight.path).or_default().push(value);
            }
        }
        way.sort_unstable();
        way.dedup();
        if way.is_empty() || way.len() > MOST {
            return None;
        }
        for (path, values) in said {
            let asked = self.asked.entry(path).or_default();
            if asked.len() < RECORDINGS || asked.contains_key(&recording) {
                asked.insert(recording, values);
            }
        }
        let next = self.ways.len();
        let way = *self.ways.entry(way).or_insert(next);
        Some(RequestValues { recording, way, places })
    }

    /// A field says something in the answer to a request.
    pub(super) fn see(
        &mut self,
        field: u32,
        value: &Comparable<'_>,
        said: Said,
        asked: &RequestValues,
    ) {
        let echoing = self.fields.entry(field).or_default();
        match echoing.came.last_mut() {
            Some((way, times)) if *way == asked.way => *times += 1,
            _ => echoing.came.push((asked.way, 1)),
        }
        for path in asked.places.get(&said).into_iter().flatten() {
            let known = echoing.held.iter().position(|held| held.path == *path);
            let known = known.unwrap_or_else(|| {
                echoing.held.push(Held::of(*path));
                echoing.held.len() - 1
            });
            let held = &mut echoing.held[known];
            held.times += 1;
            held.are_keys &= value.key().is_some();
            let number = value.counted().filter(|it| it.fract() == 0.0 && (0.0..32.0).contains(it));
            held.numbers = held.numbers.zip(number).map(|(all, it)| all | 1 << it as u32);
            match held.last.iter_mut().find(|(recording, _)| *recording == asked.recording) {
                Some((_, last)) => *last = said,
                None if self.asked[path].contains_key(&asked.recording) => {
                    held.last.push((asked.recording, said));
                }
                None => {}
            }
        }
    }

    /// What always held and is no chance: of each field the path that says most.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let mut ways: Vec<&[u32]> = vec![&[]; self.ways.len()];
        self.ways.iter().for_each(|(way, number)| ways[*number] = way);
        let claims = self.fields.len() * ways.iter().map(|way| way.len()).max().unwrap_or_default();
        let mut typed: Map<&Path, usize> = Map::default();
        let fields = || self.fields.keys().map(|number| names.get(*number));
        for field in fields().filter(|field| field.tag.is_some()) {
            *typed.entry(&field.path).or_default() += 1;
        }
        // Where one type has a field, its field says more than that of all.
        let is_telling = |field: &Field| field.tag.is_some() || typed.get(&field.path) != Some(&1);
        let mut found: BTreeSet<(&Field, Path)> = BTreeSet::new();
        for (number, echoing) in &self.fields {
            let field = names.get(*number);
            let is_held = |held: &&Held| self.holds(echoing, held, &ways, claims);
            let holding = echoing.held.iter().filter(|_| is_telling(field)).filter(is_held);
            let paths = holding.filter_map(|held| {
                let path = Path::written(names.spelled(held.path));
                (!held.counts() || are_called_alike(&path, &field.path)).then_some(path)
            });
            let best = paths.min_by_key(|path| {
                (path.last() != field.path.last(), path.as_str().len(), path.clone())
            });
            found.extend(best.map(|path| (field, path)));
        }
        let follows = |field: &Field, path: &Path| {
            let all = Field { tag: None, path: field.path.clone() };
            field.tag.is_some() && found.contains(&(&all, path.clone()))
        };
        let telling = found.iter().filter(|(field, path)| !follows(field, path));
        telling.map(|(field, path)| Invariant::Echoes((*field).clone(), path.clone())).collect()
    }

    /// Whether it held each time that the request said something there, and that is no chance.
    fn holds(&self, echoing: &Echoing, held: &Held, ways: &[&[u32]], claims: usize) -> bool {
        let is_asked = |way: usize| ways[way].binary_search(&held.path).is_ok();
        let count = |is: &dyn Fn(usize) -> bool| -> u64 {
            echoing.came.iter().filter(|(way, _)| is(*way)).map(|(_, times)| times).sum()
        };
        if held.times < CHANCES || held.times != count(&is_asked) {
            return false;
        }
        if held.are_keys && held.times == count(&|_| true) {
            return true;
        }
        let says = |of: u32, said: Said| {
            self.asked[&held.path].get(&of).is_some_and(|values| values.contains(&said))
        };
        let others = |of: u32| held.last.iter().filter(move |(other, _)| *other != of);
        let crossed = held.last.iter().flat_map(|(of, said)| others(*of).map(|it| (it.0, *said)));
        let both = crossed.filter(|(of, said)| says(*of, *said)).count();
        is_no_chance(both, held.last.len(), claims)
    }
}
