//! Two sides, endpoint by endpoint.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cause;
use super::draft::{Draft, MessageSpot, Position, ShownPlaces};
use super::gap;
use super::instead::recordings;
use super::moved::{moved, otherwise};
use super::report::{
    CaseEdges, CassettePair, ContractPair, Edge, Part, Report, Side, State, Verdict,
};
use super::requests::Unanswered;
use super::rule::Rule;
use super::shapes::{Basis, ShownValue};
use super::weight::Sides;
use super::{
    always, cassettes, cut, instead, listed, once, orders, parallel, promised_orders, requests,
    shapes, swap, ties, unseen,
};
use crate::cassette::{Cassette, Interaction, Name};
use crate::contract::order::Order;
use crate::contract::shape::Schema;
use crate::contract::{
    self, Answer, Contract, Endpoint, Finding, JsonMessage, Kinds, Orders, Traffic, has_name_in,
    without_names,
};
use crate::message::{Message, Messages, Protocols, Trace};

/// What is known of one side.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What it is: a path, or a revision and a path.
    pub name: &'a str,
    /// The folder of its cassettes, or the only file there is, from the root of the repository.
    pub path: &'a str,
    /// What was recorded.
    pub cassettes: &'a [(Name, Cassette)],
    /// The contracts that were accepted.
    pub accepted: &'a [Contract],
}

/// What changed from one side to the other.
///
/// The contract of an endpoint is the accepted one as far as the recordings of the same side keep it;
/// where they do not, and where none was accepted, it is what they teach.
pub fn compare(old: Known<'_>, new: Known<'_>) -> Report {
    compare_by(&Protocols::default(), old, new)
}

/// The same with other protocols than those that retape knows, for both sides.
pub fn compare_by(protocols: &Protocols, old: Known<'_>, new: Known<'_>) -> Report {
    let moved = cassettes::moved(old.cassettes, new.cassettes);
    let renamed = cassettes::renamed(old.cassettes, &moved);
    let old = Known { cassettes: renamed.as_deref().unwrap_or(old.cassettes), ..old };
    // What is accepted on one side is called so on the other, if nothing is there.
    let named = |side: Known<'_>, other: Known<'_>| {
        if side.accepted.is_empty() { other.accepted.to_vec() } else { Vec::new() }
    };
    let (was_named, is_named) = (named(old, new), named(new, old));
    let (mut was, mut is) = parallel::both(
        || Promises::of(protocols, old, &was_named),
        || Promises::of(protocols, new, &is_named),
    );
    // What is open in a path on one side is open on both.
    let open = is.open_to(&was);
    if !open.is_empty() {
        was = Promises::of(protocols, old, &[was_named, open].concat());
    }
    // What told the types before tells them now, also where fewer recordings would not show it.
    let told = [was.told(&is), was.open_to(&is), was.called_otherwise(&is)].concat();
    if !told.is_empty() {
        is = Promises::of(protocols, new, &[is_named, told].concat());
    }
    if !new.cassettes.is_empty() {
        is.forget_orphans(|endpoint| !was.traffic.answers(endpoint).is_empty());
    }
    let endpoints: BTreeSet<Endpoint> = was.all.keys().chain(is.all.keys()).cloned().collect();
    let pairs =
        |was: &Traffic, is: &Traffic| cassettes::pairs((was, old.cassettes), (is, new.cassettes));
    Report { moved, ..report([old, new], was, is, endpoints, pairs) }
}

/// What recordings mean to whoever relies on the contracts that were accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// What is new, not as accepted, or not recorded any more.
    pub findings: Vec<Finding>,
    /// What that means. The old side are the contracts, of which no recording is at hand.
    pub report: Report,
}

/// Compares recordings with the contracts that were accepted of them, by the same rules as two sides.
pub fn check(protocols: &Protocols, recorded: Known<'_>) -> Checked {
    let accepted = Known { name: "contracts", cassettes: &[], ..recorded };
    let (was, mut is) =
        (Promises::of(protocols, accepted, &[]), Promises::of(protocols, recorded, &[]));
    is.forget_orphans(|_| true);
    let mut findings = std::mem::take(&mut is.findings);
    contract::count_seen(&is.traffic, &mut findings);
    // Answers that are cut keep a contract, and so do those in which something never comes.
    let endpoints = findings.iter().map(Finding::endpoint).chain(was.all.keys()).cloned().collect();
    let is_new = |finding: &&Finding| matches!(finding, Finding::New(_));
    let new = findings.iter().filter(is_new).map(|finding| finding.endpoint().clone()).collect();
    let report = report([accepted, recorded], was, is, endpoints, |_, _| Vec::new());
    Checked { findings, report: Report { unaccepted: new, ..report } }
}

/// What changed at some endpoints, and in the cassettes.
fn report(
    [old, new]: [Known<'_>; 2],
    was: Promises,
    is: Promises,
    endpoints: BTreeSet<Endpoint>,
    pairs: impl FnOnce(&Traffic, &Traffic) -> Vec<CassettePair>,
) -> Report {
    let moved = moved(&was, &is);
    let is_there = |it: &&Endpoint| !moved.values().any(|from| from == it);
    let endpoints: Vec<&Endpoint> = endpoints.iter().filter(is_there).collect();
    let same = cassettes::same(old.cassettes, new.cassettes);
    // One endpoint may take as long as all others: meanwhile the cassettes are compared.
    let drafts = || {
        parallel::each(&endpoints, |endpoint| {
            let before = *moved.get(endpoint).unwrap_or(endpoint);
            let cut = cut::change([before, endpoint], &was, &is);
            match (was.all.get(before), is.all.get(endpoint)) {
                (Some(old), Some(new)) => {
                    let answers = [was.traffic.answers(before), is.traffic.answers(endpoint)];
                    let mut drafts = at_endpoint(old, new, answers, &same[1]);
                    let is_said = |word: &str| [&was, &is].map(|it| it.traffic.is_asked(word));
                    always::add(&mut drafts, &old.contract, answers, &same, is_said);
                    let drafts = listed::without_lists(drafts, &old.contract, answers);
                    let mut drafts = cause::alone(drafts);
                    drafts.extend(otherwise([before, endpoint], &was, &is));
                    drafts.extend(cut);
                    drafts
                }
                // It is recorded, and none comes to its end.
                (Some(_), None) if cut.is_some() => cut.into_iter().collect(),
                (old, _) => {
                    let refused = old.and_then(|_| instead::refused(endpoint, &was, &is));
                    let appeared = appeared(endpoint, old.is_some(), &was, &is);
                    refused.into_iter().chain([appeared]).collect()
                }
            }
        })
    };
    let (drafts, cassettes) = parallel::both(drafts, || pairs(&was.traffic, &is.traffic));
    let mut changes = Vec::new();
    let mut contracts = Vec::new();
    let mut unanswered = requests::unanswered(&cassettes);
    unanswered = instead::weighed_refusals(unanswered, &was, &is);
    let mut drafts: Vec<(&Endpoint, Vec<Draft>)> = endpoints.into_iter().zip(drafts).collect();
    of_requests(&mut drafts, was.at_endpoints(unanswered), &moved);
    cause::instead(&mut drafts);
    for (endpoint, mut drafts) in drafts {
        cause::of_unproven(&mut drafts);
        let before = *moved.get(endpoint).unwrap_or(&endpoint);
        let protocols = is.traffic.protocols(endpoint);
        let event = |shown: &ShownPlaces| number_of_message(&protocols, new.cassettes, shown);
        changes.extend(drafts.into_iter().map(|draft| draft.finish(endpoint, &event)));
        contracts.extend(pair(endpoint, was.all.get(before), is.all.get(endpoint)));
    }
    let (old, new, unread) = (was.side(old), is.side(new), is.unread());
    // To give so much back takes a while.
    parallel::both(|| drop(was), || drop(is));
    let mut report =
        Report { old, new, changes, contracts, cassettes, unread, ..Report::default() };
    report.sort();
    report
}

/// Adds what single requests show, by the endpoint at which they were answered before.
fn of_requests(
    drafts: &mut [(&Endpoint, Vec<Draft>)],
    mut unanswered: BTreeMap<Endpoint, Vec<Draft>>,
    moved: &BTreeMap<&Endpoint, &Endpoint>,
) {
    // Where a media type or a status comes or goes and breaks clients, that is told of all that is asked there.
    let is_of_answer = |draft: &Draft| {
        let is_refusal = draft.rule == Rule::StatusGone && draft.key.is_empty();
        let rules = [Rule::MediaNew, Rule::MediaGone, Rule::StatusNew, Rule::StatusGone];
        rules.contains(&draft.rule) && !is_refusal
    };
    let told = |draft: &Draft| {
        let is_status = draft.rule == Rule::StatusGone;
        draft.verdict == Verdict::Breaking && (is_of_answer(draft) || is_status)
    };
    let told = drafts.iter().filter(|(_, all)| all.iter().any(told));
    let told: BTreeSet<[String; 2]> = told.map(|(it, _)| called(it)).collect();
    for (endpoint, drafts) in drafts {
        let before = *moved.get(*endpoint).unwrap_or(endpoint);
        let unanswered = [*endpoint, before].map(|it| unanswered.remove(it).unwrap_or_default());
        let mut unanswered: Vec<Draft> = unanswered.into_iter().flatten().collect();
        unanswered.retain(|draft| !is_of_answer(draft) || !told.contains(&called(endpoint)));
        // What the same request shows says more than numbers, and what is not finished is there.
        let is_cut = unanswered.iter().any(|draft| draft.rule == Rule::AnswerCut);
        drafts.retain(|draft| {
            let is_gone = draft.rule == Rule::EndpointGone;
            !(is_cut && is_gone || unanswered.iter().any(|shown| shown.is(draft)))
        });
        drafts.extend(unanswered);
    }
}

/// What is asked at an endpoint: the method and the path.
fn called(endpoint: &Endpoint) -> [String; 2] {
    [endpoint.method.clone(), endpoint.path.clone()]
}

/// A media type, in a sentence.
pub(super) fn named_media(media: &str) -> String {
    if media.is_empty() { "no media type".to_owned() } else { format!("`{media}`") }
}

/// What is promised on one side.
pub(super) struct Promises {
    pub(super) traffic: Traffic,
    pub(super) all: BTreeMap<Endpoint, Promise>,
    /// What the recordings mean to the accepted contracts.
    findings: Vec<Finding>,
}

/// A contract, and the accepted one that it comes from, if there is one.
pub(super) struct Promise {
    pub(super) contract: Contract,
    accepted: Option<Contract>,
}

impl Promises {
    /// `told` are contracts of before, which say what tells the types of messages, whatever was accepted since.
    fn of(protocols: &Protocols, known: Known<'_>, told: &[Contract]) -> Self {
        let cassettes = known.cassettes.iter().map(|(name, cassette)| (name, cassette));
        let all = [told, known.accepted].concat();
        let traffic = Traffic::of(protocols, &all, cassettes);
        let accepted = known.accepted.iter().map(|contract| {
            let promise = Promise { contract: contract.clone(), accepted: Some(contract.clone()) };
            (contract.endpoint.clone(), promise)
        });
        let mut all: BTreeMap<Endpoint, Promise> = accepted.collect();
        let findings = contract::check_uncounted(&traffic, known.accepted);
        for contract in findings.iter().filter_map(Finding::proposed) {
            let accepted = all.remove(&contract.endpoint).and_then(|it| it.accepted);
            let contract = contract.clone();
            all.insert(contract.endpoint.clone(), Promise { contract, accepted });
        }
        Self { traffic, all, findings }
    }

    /// Forgets accepted contracts that nothing is recorded of any more, of those endpoints that were.
    fn forget_orphans(&mut self, were: impl Fn(&Endpoint) -> bool) {
        for finding in &self.findings {
            if let Finding::Orphaned(endpoint) = finding
                && were(endpoint)
            {
                self.all.remove(endpoint);
            }
        }
    }

    /// The contracts by which messages of another side are of other types.
    fn told(&self, other: &Self) -> Vec<Contract> {
        let is_told = |(endpoint, promise): &(&Endpoint, &Promise)| {
            other.all.get(endpoint).is_some_and(|it| it.contract.tag != promise.contract.tag)
        };
        let told = self.all.iter().filter(is_told);
        told.map(|(_, promise)| promise.contract.clone()).collect()
    }

    /// The contracts of paths with open places in which names of another side stand.
    fn open_to(&self, other: &Self) -> Vec<Contract> {
        let is_open = |endpoint: &Endpoint| other.all.keys().any(|it| has_name_in(endpoint, it));
        let open = self.all.iter().filter(|(endpoint, _)| is_open(endpoint));
        open.map(|(_, promise)| promise.contract.clone()).collect()
    }

    /// The contracts of paths in which the other side calls open places otherwise: `{ch_id}` and `{charge_id}`.
    fn called_otherwise(&self, other: &Self) -> Vec<Contract> {
        let nameless = |it: &Endpoint| (it.method.clone(), without_names(&it.path));
        let mut paths: HashMap<(String, String), BTreeSet<&str>> = HashMap::new();
        for endpoint in other.all.keys() {
            paths.entry(nameless(endpoint)).or_default().insert(&endpoint.path);
        }
        let is_other = |endpoint: &Endpoint| {
            let others = paths.get(&nameless(endpoint));
            others.is_some_and(|all| all.iter().any(|path| *path != endpoint.path))
        };
        let other = self.all.iter().filter(|(endpoint, _)| is_other(endpoint));
        other.map(|(_, promise)| promise.contract.clone()).collect()
    }

    /// Where answers are no JSON.
    fn unread(&self) -> Vec<Endpoint> {
        let unread = self.all.iter().filter(|(_, promise)| promise.contract.is_of_unread());
        unread.map(|(endpoint, _)| endpoint.clone()).collect()
    }

    fn side(&self, known: Known<'_>) -> Side {
        Side {
            name: known.name.to_owned(),
            path: known.path.to_owned(),
            cassettes: known.cassettes.len(),
            endpoints: self.all.len(),
            accepted: known.accepted.iter().map(|it| it.endpoint.clone()).collect(),
        }
    }

    /// Sorts changes by the endpoint at which something was recorded on this side; each once.
    fn at_endpoints(&self, all: Vec<Unanswered>) -> BTreeMap<Endpoint, Vec<Draft>> {
        let mut sorted: BTreeMap<Endpoint, Vec<Draft>> = BTreeMap::new();
        let places: BTreeMap<&str, &Endpoint> = self
            .traffic
            .endpoints()
            .flat_map(|endpoint| {
                let answers = self.traffic.answers(endpoint).iter();
                answers.map(move |answer| (answer.place.as_str(), endpoint))
            })
            .collect();
        for Unanswered { place, draft, .. } in all {
            let Some(endpoint) = places.get(place.as_str()) else { continue };
            let drafts = sorted.entry((*endpoint).clone()).or_default();
            match (drafts.iter_mut().find(|other| other.is(&draft)), &draft.shown) {
                (Some(known), Some(shown)) => known.seen(&shown.place, shown.at),
                _ => drafts.push(draft),
            }
        }
        sorted
    }

    /// Whether recordings are at hand, and not only contracts.
    pub(super) fn are_recorded(&self) -> bool {
        self.traffic.endpoints().next().is_some()
    }

    /// Who shows an endpoint first.
    pub(super) fn first(&self, endpoint: &Endpoint) -> Option<ShownPlaces> {
        instead::shown(self.traffic.answers(endpoint))
    }

    /// Where something was recorded of an endpoint.
    pub(super) fn places(&self, endpoint: &Endpoint) -> BTreeSet<&str> {
        self.traffic.answers(endpoint).iter().map(|answer| &*answer.place).collect()
    }

    /// What was asked there, if it is JSON.
    pub(super) fn asked(&self, endpoint: &Endpoint) -> BTreeSet<&str> {
        self.traffic.answers(endpoint).iter().filter_map(|it| it.asked.as_deref()).collect()
    }

    /// The same, and where.
    pub(super) fn questions(&self, endpoint: &Endpoint) -> BTreeSet<&str> {
        &self.asked(endpoint) | &self.places(endpoint)
    }

    /// Whether it knows an endpoint that is like another one in this.
    fn knows(&self, is_like: impl Fn(&Endpoint) -> bool) -> bool {
        self.all.keys().any(is_like)
    }
}

impl Promise {
    /// Whether a part of the contract is as it was accepted, and says more than the recordings of it. What was learned
    /// from no others than these is no promise beyond them.
    fn basis<T: PartialEq>(&self, answers: &[Answer], part: impl Fn(&Contract) -> &T) -> Basis {
        let is_learned = |accepted: &Contract| {
            accepted.is_as_learned() && accepted.origin.recordings <= recordings(answers)
        };
        match &self.accepted {
            Some(it) if part(it) == part(&self.contract) && !is_learned(it) => Basis::Accepted,
            _ => Basis::Learned,
        }
    }
}

fn at_endpoint(
    old: &Promise,
    new: &Promise,
    [before, answers]: [&[Answer]; 2],
    same: &BTreeSet<String>,
) -> Vec<Draft> {
    let (was, is) = (&old.contract, &new.contract);
    let failed = if before.is_empty() { requests::failed_calls(was, answers) } else { Vec::new() };
    let asked = requests::changes(before, answers);
    let of_recordings = [asked, failed, listed::changes(was, before, answers)].concat();
    let sides = Sides { old: before, new: answers, same, was };
    if was == is && new.accepted.as_ref() == Some(is) {
        let mut drafts = of_recordings;
        if let Some(orders) = &was.order {
            orders::unseen(orders, before, answers, &mut drafts);
        }
        // What was accepted before the server changed does not say what holds since.
        if !before.is_empty() && answers.iter().any(Answer::has_messages) {
            let now = contract::invariants(answers);
            drafts.extend(ties::cumulative(&was.invariants, &now, before));
        }
        sides.weigh(&mut drafts);
        unseen::add(&mut drafts, was, [before, answers]);
        return drafts;
    }
    let mut drafts = Vec::new();
    let basis = new.basis(answers, |contract| &contract.order);
    let orders = [&was.order, &is.order].map(Option::as_ref);
    drafts.extend(promised_orders::changes(orders, basis, [before, answers]));
    let basis = new.basis(answers, |contract| &contract.invariants);
    drafts.extend(ties::changes(&was.invariants, &is.invariants, basis, [before, answers]));
    let shapes =
        |part: Part, of: fn(&Contract) -> &Option<Kinds>, is: Option<Kinds>, said: &[_]| {
            shapes::of_kinds(part, of(was).clone(), is, new.basis(answers, of), said)
        };
    // Where none were promised before, none are looked at.
    if was.headers.is_some() {
        let said: Vec<ShownValue<'_>> = answers.iter().map(|it| whole(it, &it.headers)).collect();
        let is = is.headers.clone().or_else(|| Some(Kinds::One(Schema::no_fields())));
        drafts.extend(shapes(Part::Headers, |it| &it.headers, is, &said));
    }
    let events: Vec<ShownValue<'_>> = answers.iter().flat_map(events).collect();
    drafts.extend(shapes(Part::Events, |it| &it.events, is.events.clone(), &events));
    drafts.extend(keep_alives(old, new, answers));
    let said = answers.iter().filter(|answer| {
        was.body.is_some() || answer.body.as_ref().is_some_and(|body| !body.is_nothing())
    });
    let bodies: Vec<ShownValue<'_>> =
        said.filter_map(|it| Some(whole(it, it.body.as_ref()?))).collect();
    drafts.extend(shapes(Part::Body, |it| &it.body, is.body.clone(), &bodies));
    drafts.extend(of_recordings);
    let mut drafts = swap::together(gap::together(once::for_all_cases(once::each_tag(drafts))));
    sides.weigh(&mut drafts);
    let mut drafts = once::with_what_is_gone(drafts);
    sides.weigh_together(&mut drafts);
    let mut drafts = cause::alone(drafts);
    unseen::add(&mut drafts, was, [before, answers]);
    once::tell_renamed(&mut drafts);
    drafts
}

fn events(answer: &Answer) -> impl Iterator<Item = ShownValue<'_>> {
    let events = answer.events.iter().enumerate();
    events.map(|(number, said)| ShownValue { at: Position::Said(number), ..whole(answer, said) })
}

/// What an answer says, all of it or somewhere in it.
fn whole<'a>(answer: &'a Answer, said: &'a JsonMessage) -> ShownValue<'a> {
    ShownValue { place: &answer.place, at: Position::Whole, kind: &said.kind, json: &said.json }
}

/// What changed in messages that only say that the server is still there. Whether any come is a matter of
/// time, and no change. Where some came, one of another type is new to the clients.
fn keep_alives(old: &Promise, new: &Promise, answers: &[Answer]) -> Vec<Draft> {
    let (was, is) = (&old.contract.keep_alives, &new.contract.keep_alives);
    let Some((was, is)) = was.as_ref().zip(is.as_ref()) else { return Vec::new() };
    let said: Vec<ShownValue<'_>> = answers
        .iter()
        .flat_map(|answer| answer.keep_alives.iter().map(|said| whole(answer, said)))
        .collect();
    let basis = new.basis(answers, |contract| &contract.keep_alives);
    let stays = said.iter().any(|value| was.knows(value.kind));
    let mut drafts =
        shapes::of_kinds(Part::Events, Some(was.shared(is)), Some(is.clone()), basis, &said);
    for draft in drafts.iter_mut().filter(|draft| stays && draft.rule == Rule::TagNew) {
        draft.verdict = Verdict::Unproven;
    }
    drafts
}

/// An endpoint that is on one side only.
fn appeared(endpoint: &Endpoint, is_gone: bool, was: &Promises, is: &Promises) -> Draft {
    let other = if is_gone { is } else { was };
    let same_path = |it: &Endpoint| it.method == endpoint.method && it.path == endpoint.path;
    let family = other.knows(same_path);
    let status = other.knows(|it| same_path(it) && it.status == endpoint.status);
    let (number, media) = (endpoint.status, &endpoint.media);
    if let Some(instead) = is_gone.then(|| instead::answered(endpoint, was, is)).flatten() {
        return instead;
    }
    let (rule, verdict, what) = match (is_gone, family, status) {
        (false, false, _) => {
            (Rule::EndpointNew, Verdict::Compatible, "the endpoint is new".to_owned())
        }
        (false, true, false) => {
            let verdict = match instead::status_new(number) {
                Verdict::Breaking => instead::takes_place(endpoint, same_path, was, is),
                refused => refused,
            };
            (Rule::StatusNew, verdict, format!("it answers {number}"))
        }
        (false, true, true) => {
            let like = |it: &Endpoint| same_path(it) && it.status == number;
            let verdict = instead::takes_place(endpoint, like, was, is);
            (Rule::MediaNew, verdict, format!("it answers with {}", named_media(media)))
        }
        (true, false, _) => {
            (Rule::EndpointGone, Verdict::Trim, "the endpoint is not recorded any more".to_owned())
        }
        (true, true, false) => {
            (Rule::StatusGone, Verdict::Trim, format!("status {number} is not recorded any more"))
        }
        (true, true, true) => (
            Rule::MediaGone,
            Verdict::Trim,
            format!("{} is not recorded any more", named_media(media)),
        ),
    };
    let draft = at_status(rule, verdict, what).witnessed(is.first(endpoint));
    instead::weigh_gone(draft, endpoint, was, is)
}

pub(super) fn at_status(rule: Rule, verdict: Verdict, what: String) -> Draft {
    let draft = Draft::new(rule, verdict, Part::Endpoint, what);
    match verdict {
        Verdict::Unproven => draft.because(cause::UNKNOWN),
        _ => draft,
    }
}

/// Where a message is that shows something.
fn number_of_message(
    protocols: &Protocols,
    cassettes: &[(Name, Cassette)],
    shown: &ShownPlaces,
) -> Option<MessageSpot> {
    let (name, number) = shown.interaction()?;
    let (_, cassette) = cassettes.iter().find(|(other, _)| other.as_str() == name)?;
    let at = cassette.place_of(number)?;
    let (event, place) = event_of(protocols, cassette.interactions.get(at)?, shown.at).unzip();
    Some((event, cassette.frame_of(at, place).or(place)))
}

/// The number of a message in its stream, counted from 1 without keep-alives, and from 0 with them.
fn event_of(
    protocols: &Protocols,
    interaction: &Interaction,
    at: Position,
) -> Option<(usize, usize)> {
    let messages = Messages::of(interaction.response()?, protocols).list;
    let place = match at {
        Position::Whole => return None,
        Position::Step(step) => {
            *Trace::of(&messages, protocols).steps.get(step)?.messages.first()?
        }
        Position::Said(said) => {
            let says = |message: &Message| !message.is_keep_alive() && message.said().is_some();
            messages.iter().enumerate().filter(|(_, it)| says(it)).nth(said)?.0
        }
    };
    let before = messages[..=place].iter().filter(|message| !message.is_keep_alive());
    Some((before.count(), place))
}

/// The texts of a contract, if they are not the same.
fn pair(endpoint: &Endpoint, old: Option<&Promise>, new: Option<&Promise>) -> Option<ContractPair> {
    let text = |promise: Option<&Promise>| promise.map(|promise| promise.contract.to_string());
    let (was, is) = (text(old), text(new));
    if was == is {
        return None;
    }
    let of = |promise: Option<&Promise>| promise.and_then(|promise| promise.contract.order.clone());
    let orders = edges(of(old).as_ref(), of(new).as_ref());
    Some(ContractPair { endpoint: endpoint.clone(), old: was, new: is, orders })
}

/// Which messages follow which, in the cases of both sides.
fn edges(old: Option<&Orders>, new: Option<&Orders>) -> Vec<CaseEdges> {
    let cases = |orders: Option<&Orders>| -> BTreeMap<String, Order> {
        let cases = orders.into_iter().flat_map(|orders| {
            let name = |case| orders::case_name(case).unwrap_or_default();
            orders.cases.iter().map(move |case| (name(case), case.order.clone()))
        });
        cases.collect()
    };
    let (was, is) = (cases(old), cases(new));
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    names.into_iter().map(|name| case(name, was.get(name), is.get(name))).collect()
}

fn case(name: &str, old: Option<&Order>, new: Option<&Order>) -> CaseEdges {
    let neighbours = |order: Option<&Order>| order.map(Order::neighbours).unwrap_or_default();
    let (was, is) = (neighbours(old), neighbours(new));
    let edges = was.union(&is).map(|edge| Edge {
        from: edge.0.clone(),
        to: edge.1.clone(),
        state: match (was.contains(edge), is.contains(edge)) {
            (true, true) => State::Kept,
            (false, _) => State::New,
            (true, false) => State::Lost,
        },
    });
    let expression = |order: Option<&Order>| order.map(|order| order.expression().clone());
    CaseEdges {
        case: name.to_owned(),
        edges: edges.collect(),
        old: expression(old),
        new: expression(new),
    }
}
