//! Which interactions could as well have come in each other's place.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::index::Entry;
use super::{Index, Playlist};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::splice::{Edit, splice};
use crate::cassette::{self, Body, Cassette, Interaction, Outcome, Request};
use crate::compare::alignment::answer_look;
use crate::config::Rules;
use crate::identity::names::Names;
use crate::identity::{Form, Hole, Scope, Words, each_text};

/// Requests that asked the same at the same time, and whose answers differ in nothing but in what the server
/// issued.
///
/// # Rationale
///
/// Who makes five threads at once and then says something in each has no say in which of them is which: that
/// was decided by who came first, and it is decided anew in each run. So each of them may be each other one
/// until the client has used it otherwise than the other one: who greets in all of them first has told none from
/// another. What the client was given stays as it was; what it means is exchanged, with what was said in it.
#[derive(Debug, Default)]
pub(super) struct Twins {
    all: Vec<Twin>,
    /// Which twin has issued a name.
    of_name: HashMap<String, usize>,
    words: Words,
    /// What was asked for while others were.
    at_once: HashSet<usize>,
}

/// Which twins are which in a run.
#[derive(Debug, Default)]
pub(super) struct Roles {
    is_exchanged: bool,
}

#[derive(Debug)]
struct Twin {
    interaction: usize,
    /// Equal for those that may be each other: the first one of them.
    set: usize,
    /// What the server issued, in the same order in all of a set.
    names: Vec<String>,
    /// The interactions whose request holds one of these names.
    uses: Vec<Use>,
}

#[derive(Debug)]
struct Use {
    interaction: usize,
    /// Equal for those that are the same but for the names; nothing where it is the only one, by what else it names.
    look: Option<u64>,
}

/// What an answer issued: where, and what.
type Issued<'n> = [(&'n str, &'n str)];

/// A shorter name is the same by chance as often as not.
const TELLING: usize = 8;

/// What stands for the names of a twin where those of others are to be the same. One with more names has none like it.
const PLACES: [&str; 4] = ["twin-0", "twin-1", "twin-2", "twin-3"];

impl Twins {
    pub(super) fn of(cassette: &Cassette, names: &Names, entries: &[Entry], rules: &Rules) -> Self {
        let interactions = &cassette.interactions;
        let overlap =
            |it: &Interaction| it.after.iter().map(|it| it.interaction).collect::<Vec<_>>();
        let beside = interactions.iter().zip(0..).flat_map(|(it, number)| {
            let own = (!it.after.is_empty()).then_some(number);
            overlap(it).into_iter().chain(own)
        });
        let beside: HashSet<usize> = beside.collect();
        let issued = names.issued_by_interaction();
        let look = |number: usize| {
            let own = issued.get(&number)?;
            let is_beside = beside.contains(&number);
            let is_telling = own.iter().all(|(_, name)| name.len() >= TELLING);
            let entry = &entries[number];
            let look = || look_of(&interactions[number], own, (entry, entry.group()));
            (is_beside && is_telling).then(look)
        };
        let looks: Vec<Option<u64>> = (0..interactions.len()).map(look).collect();
        let mut twins = Self { at_once: beside, ..Self::default() };
        let mut twin_of: HashMap<usize, usize> = HashMap::new();
        for (number, interaction) in interactions.iter().enumerate() {
            let Some(own) = looks[number] else { continue };
            let mut at_once = overlap(interaction).into_iter();
            let is_twin = |other: &usize| looks.get(*other) == Some(&Some(own));
            let Some(other) = at_once.find(is_twin) else { continue };
            let other =
                *twin_of.entry(other).or_insert_with(|| twins.add(other, &issued[&other], None));
            twin_of.insert(number, twins.add(number, &issued[&number], Some(twins.all[other].set)));
        }
        twins.words = Words::of(twins.of_name.keys().map(String::as_str));
        let used = if twins.all.is_empty() { &[] } else { &interactions[..] };
        for (number, interaction) in used.iter().enumerate() {
            let named = twins.named_in(&interaction.request);
            let look = match named[..] {
                [only] if !issued.contains_key(&number) => {
                    let of_twin = &twins.all[only].names;
                    let place = |name: &str| of_twin.iter().position(|own| own == name);
                    let asked = twins
                        .renamed(&interaction.request, |name| PLACES.get(place(name)?).copied());
                    let group = Entry::of(&asked, number, names, rules).group();
                    let own: Vec<(&str, &str)> = of_twin.iter().map(|it| ("", &**it)).collect();
                    Some(look_of(interaction, &own, (&entries[number], group)))
                }
                _ => None,
            };
            named.iter().for_each(|it| twins.all[*it].uses.push(Use { interaction: number, look }));
        }
        twins
    }

    fn add(&mut self, interaction: usize, issued: &[(&str, &str)], set: Option<usize>) -> usize {
        let number = self.all.len();
        let names: Vec<String> = issued.iter().map(|(_, name)| (*name).to_owned()).collect();
        self.of_name.extend(names.iter().map(|name| (name.clone(), number)));
        self.all.push(Twin { interaction, set: set.unwrap_or(number), names, uses: Vec::new() });
        number
    }

    /// Whether an interaction was asked for while another one was.
    pub(super) fn was_at_once(&self, interaction: usize) -> bool {
        self.at_once.contains(&interaction)
    }

    /// All that they have issued.
    pub(super) fn holes(&self) -> impl Iterator<Item = Hole> + '_ {
        self.of_name.keys().map(|name| hole(name))
    }

    /// A request that names one for the other.
    fn exchanged(&self, asked: &Request, one: usize, other: usize) -> Request {
        let [one, other] = [one, other].map(|it| &self.all[it].names);
        let names = one.iter().zip(other).chain(other.iter().zip(one));
        let names: HashMap<&str, &str> =
            names.map(|(from, to)| (from.as_str(), to.as_str())).collect();
        self.renamed(asked, |name| names.get(name).copied())
    }

    /// Those that a request names.
    fn named_in(&self, request: &Request) -> Vec<usize> {
        let mut found = Vec::new();
        each_text(request, |text| {
            found.extend(self.words.find(text).map(|range| self.of_name[&text[range]]));
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A request with other names.
    fn renamed<'n>(&self, request: &Request, name: impl Fn(&str) -> Option<&'n str>) -> Request {
        let renamed = |text: &[u8]| -> Option<Vec<u8>> {
            let text = std::str::from_utf8(text).ok()?;
            let edit = |range: Range<usize>| {
                Some(Edit::new(range.clone(), name(&text[range])?.to_owned()))
            };
            let edits: Vec<Edit> = self.words.find(text).filter_map(edit).collect();
            (!edits.is_empty()).then(|| splice(text.as_bytes(), &edits))
        };
        let mut request = request.clone();
        if let Some(path) = renamed(request.path.as_bytes()) {
            request.path = String::from_utf8_lossy(&path).into_owned();
        }
        if let Some(body) = renamed(&request.body) {
            request.body = body.into();
        }
        for (_, value) in request.headers.iter_mut() {
            if let Some(renamed) = renamed(value) {
                *value = renamed.into();
            }
        }
        request
    }
}

impl Playlist {
    /// A request by the names that those in it stand for, if twins were exchanged.
    pub fn recast(&self, index: &Index, asked: &Request) -> Option<Request> {
        let name = |live: &str| self.bindings().stands_for(Scope::Anywhere, live);
        self.roles.is_exchanged.then(|| index.twins.renamed(asked, name))
    }

    /// Whether any were exchanged.
    pub fn has_exchanged(&self) -> bool {
        self.roles.is_exchanged
    }

    /// Lets two twins be each other if a request that nothing answers is answered then: as what it is read
    /// from now on.
    pub fn exchange_twins(&mut self, index: &Index, asked: &Request) -> Option<Request> {
        let twins = &index.twins;
        let named = twins.named_in(asked);
        for one in named {
            let set = twins.all[one].set;
            let others = (0..twins.all.len()).filter(|it| *it != one && twins.all[*it].set == set);
            for other in others {
                let Some(pairs) = self.pairs(twins, one, other) else { continue };
                let recast = twins.exchanged(asked, one, other);
                self.exchange_names(index, one, other, &pairs);
                if self.answering(index, &index.read(&recast, &recast.readable())).is_some() {
                    self.roles.is_exchanged = true;
                    self.note_exchanged(index, &pairs);
                    return Some(recast);
                }
                self.exchange_names(index, one, other, &pairs);
            }
        }
        None
    }

    /// What has been said in either of two twins, beside what says the same in the other one; nothing if the client
    /// has told them apart.
    fn pairs(&self, twins: &Twins, one: usize, other: usize) -> Option<Vec<(usize, usize)>> {
        let [one, other] = [one, other].map(|it| &twins.all[it].uses);
        let was_played = |it: &Use| self.was_played(it.interaction);
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut free: Vec<&Use> = other.iter().collect();
        for own in one {
            let is_same = |it: &&Use| it.look.is_some() && it.look == own.look;
            let same = free.iter().position(is_same).map(|at| free.remove(at));
            match same {
                Some(same) if was_played(own) || was_played(same) => {
                    pairs.push((own.interaction, same.interaction));
                }
                None if was_played(own) => return None,
                _ => {}
            }
        }
        (!free.into_iter().any(was_played)).then_some(pairs)
    }

    fn exchange_names(
        &mut self,
        index: &Index,
        one: usize,
        other: usize,
        pairs: &[(usize, usize)],
    ) {
        let [one, other] = [one, other].map(|it| &index.twins.all[it]);
        for (one, other) in one.names.iter().zip(&other.names) {
            let [one, other] = [one, other].map(|name| hole(name));
            for own in [&one, &other] {
                if self.bindings.live(Scope::Anywhere, &own.identifier).is_none() {
                    self.bindings.bind(own, own);
                }
            }
            self.bindings.exchange(&one, &other);
        }
        self.exchange(index, one.interaction, other.interaction);
        pairs.iter().for_each(|(one, other)| self.exchange(index, *one, *other));
    }
}

fn hole(name: &str) -> Hole {
    let (scope, form, identifier) = (Scope::Anywhere, Form::Text, name.to_owned());
    Hole { place: 0, scope, identifier, form, draw: None }
}

/// What was asked and answered, but for the names that were issued or made up, and for what is another each time.
fn look_of(interaction: &Interaction, issued: &Issued<'_>, (entry, group): (&Entry, u64)) -> u64 {
    let made_up = entry.holes.iter().map(|hole| hole.identifier.as_str());
    let made_up = made_up.filter(|name| name.len() >= TELLING);
    let names = issued.iter().map(|(_, name)| *name).chain(made_up);
    let places: HashMap<&str, usize> = names.zip(0..).collect();
    let words = Words::of(places.keys().copied());
    let mut plain = interaction.clone();
    if let Outcome::Response(response) = &mut plain.outcome {
        let bytes = response.readable().bytes();
        let text = cassette::text(&bytes);
        let edit = |range: Range<usize>| {
            Edit::new(range.clone(), format!("twin {}", places[&text[range]]))
        };
        let said = splice(text.as_bytes(), &words.find(&text).map(edit).collect::<Vec<_>>());
        let media = response.headers.get("content-type").map(str::to_owned);
        response.headers = media.into_iter().map(|media| ("content-type", media)).collect();
        response.body = Body::Whole(said.into());
    }
    let places: Vec<u64> = issued.iter().map(|(at, _)| hash_of(*at)).collect();
    combine(&[group, combine(&places), answer_look(&plain)])
}
