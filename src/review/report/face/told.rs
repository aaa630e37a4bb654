//! What several faces tell in the same words.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::contract::Endpoint;
use crate::review::change::{
    CassettePair, Change, Exchange, Group, InteractionPair, Part, Place, Report, Rule, State,
    Unreadable, Verdict, Witnesses,
};
use crate::review::report::line::{count, width};

/// What could not be read and the worst that changed, with its place, in a sentence without a full stop; what
/// there is to say if nothing did.
pub(super) fn headline(report: &Report, place: &dyn Fn(&Endpoint) -> String) -> String {
    let worst = worst(report, place);
    let Some(first) = report.unreadable.first() else { return worst };
    let more = match report.unreadable.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let all = count(report.unreadable.len(), "cassette");
    format!("{all} could not be read: {}{more}; {worst}", unreadable(first))
}

/// Which cassette could not be read, and why.
pub(super) fn unreadable(cassette: &Unreadable) -> String {
    format!("`{}`: {}", cassette.file, cassette.why)
}

fn worst(report: &Report, place: &dyn Fn(&Endpoint) -> String) -> String {
    let is_gone = |change: &&Change| change.verdict == Verdict::Trim && change.approved.is_none();
    let groups = report.groups().into_iter().filter(|group| group.change.is_open());
    let open = groups.min_by_key(gravity).map(|group| group.change);
    // What is gone may be what a client needs: nobody asked.
    let told = open.or_else(|| report.changes.iter().find(is_gone));
    // Of what could not be read nobody knows.
    let nothing =
        if report.unreadable.is_empty() { "nothing changed" } else { "nothing else changed" };
    match told {
        Some(change) if change.verdict == Verdict::Breaking => told_first(change, place),
        Some(change) if change.is_open() && !report.unaccepted.is_empty() => {
            format!("{}; {}", told_first(change, place), unaccepted(&report.unaccepted, place))
        }
        _ if !report.unaccepted.is_empty() => unaccepted(&report.unaccepted, place),
        Some(change) => told_first(change, place),
        None if !report.changes.is_empty() => {
            let places: BTreeSet<&Endpoint> =
                report.changes.iter().map(|change| &change.place.endpoint).collect();
            let at = match places.first() {
                Some(only) if places.len() == 1 => place(only),
                _ => count(places.len(), "endpoint"),
            };
            let nothing = match report.approved() {
                0 => "nothing that breaks a client",
                _ => "nothing that is not approved",
            };
            format!("{nothing}: {} at {at}", counts(report))
        }
        None if report.cassettes.is_empty() && report.contracts.is_empty() => nothing.to_owned(),
        None => format!("{nothing} in what is promised"),
    }
}

/// The worst is the least: a client that gets no answer looks at nothing else, and few look at header fields. Of several
/// that are as bad it is the one that most answers show.
fn gravity(group: &Group<'_>) -> (Verdict, u8, Reverse<usize>) {
    let change = group.change;
    let rank = match change.rule {
        Rule::RequestRefused | Rule::AnswerCut | Rule::ListedGone
            if change.verdict == Verdict::Breaking =>
        {
            0
        }
        Rule::EndpointNew => 2,
        _ if change.place.part == Part::Headers => 2,
        _ => 1,
    };
    let shown = group.all().filter_map(|it| Some(it.witnesses.as_ref()?.answers)).sum();
    (change.verdict, rank, Reverse(shown))
}

fn told_first(change: &Change, place: &dyn Fn(&Endpoint) -> String) -> String {
    format!("{}: {}", change.verdict.as_str(), sentence(change, place))
}

/// Endpoints at which nothing was accepted: `no contract is accepted for GET /a -> 403, and 2 more endpoints`. Another
/// answer of it may be.
fn unaccepted(all: &[Endpoint], place: &dyn Fn(&Endpoint) -> String) -> String {
    let first = all.first().map(|it| format!("{} -> {}", place(it), it.status));
    let first = first.unwrap_or_default();
    let more = match all.len() {
        0 | 1 => String::new(),
        all => format!(", and {}", count(all - 1, "more endpoint")),
    };
    format!("no contract is accepted for {first}{more}")
}

/// What changed, with its place: `POST /v1/chat ends after …`.
pub(super) fn sentence(change: &Change, place: &dyn Fn(&Endpoint) -> String) -> String {
    let at = place(&change.place.endpoint);
    match change.what.strip_prefix("the stream ").or_else(|| change.what.strip_prefix("it ")) {
        Some(rest) => format!("{at} {rest}"),
        None => format!("{at}: {}", change.what),
    }
}

/// What changed in the recordings, and how: `2 of 4 cassettes changed: 6 interactions differ in the answer`.
fn recorded(report: &Report) -> String {
    let changed = report.cassettes.len();
    if report.old.cassettes == 0 && report.new.cassettes > 0 && changed == 0 {
        return count(report.new.cassettes, "cassette");
    }
    let moved = moved(report);
    if changed == 0 {
        // Times, names and header fields are not compared, and may have changed in kind.
        let nothing = match report.changes.is_empty() {
            true if report.unreadable.is_empty() => "no cassette",
            true => "no other cassette",
            false => "nothing else",
        };
        return moved.unwrap_or_else(|| format!("{nothing} changed"));
    }
    let pairs = || report.cassettes.iter().flat_map(|cassette| &cassette.interactions);
    let of = |what: &str| pairs().filter(|pair| fate(pair) == what).count();
    let how = FATES.map(|(what, one, more)| (of(what), what, one, more));
    let how = how.iter().filter(|(number, ..)| *number > 0).map(|(number, what, one, more)| {
        let verb = if *number == 1 { one } else { more };
        format!("{} {verb} {what}", count(*number, "interaction"))
    });
    let how: Vec<String> = how.collect();
    let all = count(report.new.cassettes.max(changed), "cassette");
    let moved = moved.map_or_else(String::new, |moved| format!("; {moved}"));
    format!("{changed} of {all} changed: {}{moved}", how.join(", "))
}

/// The cassettes that moved, however many: `3 cassettes moved: a/hello is b/hello now, and 2 more`.
fn moved(report: &Report) -> Option<String> {
    let first = report.moved.first()?;
    let more = match report.moved.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let all = count(report.moved.len(), "cassette");
    Some(format!("{all} moved: {} is {} now{more}", first.from, first.to))
}

/// What may have become of an interaction.
const FATES: [(&str, &str, &str); 4] = [
    ("in the answer", "differs", "differ"),
    ("in the request", "differs", "differ"),
    ("new", "is", "are"),
    ("not there any more", "is", "are"),
];

fn fate(pair: &InteractionPair) -> &'static str {
    let in_request = pair.differences.iter().any(|it| it.at.starts_with("request "));
    match one_of(pair) {
        Some((_, Some(alone))) => alone,
        _ if in_request => "in the request",
        _ => "in the answer",
    }
}

/// How much changed in promises and in recordings, for the line below the first.
pub(super) fn extent(report: &Report, separator: &str) -> String {
    // What was learned is not said in anybody's words.
    let written = report.contracts.iter().filter(|it| report.new.accepted.contains(&it.endpoint));
    let promised = match (report.changes.is_empty(), written.count()) {
        (true, 0) => None,
        (true, number) => Some(format!("{} in other words", count(number, "contract"))),
        _ => Some(counts(report)),
    };
    let parts: Vec<String> = promised.into_iter().chain([recorded(report)]).collect();
    parts.join(separator)
}

/// `2 breaking, 1 unproven, 3 compatible, 1 trim, 1 approved`: those there are.
pub(super) fn counts(report: &Report) -> String {
    let counted = Verdict::ALL.map(|verdict| (report.count(verdict), verdict.as_str()));
    let all = counted.into_iter().chain([(report.approved(), "approved")]);
    let said: Vec<String> = all
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    if said.is_empty() { "no change in any promise".to_owned() } else { said.join(", ") }
}

/// Method and path.
pub(super) fn route(endpoint: &Endpoint) -> String {
    format!("{} {}", endpoint.method, endpoint.path)
}

/// Method and path, or as many of the last segments as there is room for.
pub(super) fn short(endpoint: &Endpoint, room: usize) -> String {
    let whole = route(endpoint);
    if width(&whole) <= room {
        return whole;
    }
    let segments: Vec<&str> = endpoint.path.split('/').filter(|it| !it.is_empty()).collect();
    let ends = (1..segments.len()).rev().map(|number| {
        format!("{} …/{}", endpoint.method, segments[segments.len() - number..].join("/"))
    });
    // It names something, whatever room there is.
    let named = |end: &String| !end.rsplit("…/").next().is_some_and(|end| end.starts_with('{'));
    let shortest = ends.clone().rfind(named).unwrap_or(whole);
    ends.into_iter().find(|end| width(end) <= room && named(end)).unwrap_or(shortest)
}

/// So many cases of an order are named.
const CASES: usize = 6;

/// For which requests, if not for all: `for requests of which stream=true, or stream=false`.
pub(super) fn cases(change: &Change, name: &dyn Fn(&str) -> String) -> Option<String> {
    let all: Vec<&String> = change.place.cases.iter().filter(|case| !case.is_empty()).collect();
    let mut named: Vec<String> = all.iter().take(CASES).map(|case| name(case)).collect();
    if all.len() > CASES {
        named.push(count(all.len() - CASES, "other case"));
    }
    let others = if all.len() < change.place.cases.len() { ", and for all others" } else { "" };
    (!named.is_empty()).then(|| format!("for requests of which {}{others}", named.join(", or ")))
}

/// The new trace, with what is not as promised in parentheses.
pub(super) fn trace(change: &Change) -> Option<String> {
    let trace = change.trace.as_ref()?;
    let missing = is_missing(change);
    let mut words: Vec<String> = trace.tags.clone();
    match (missing, words.get_mut(trace.at)) {
        (false, Some(word)) => *word = format!("({word})"),
        _ => {
            let at = trace.at.min(words.len());
            words.insert(at, format!("(no {})", trace.expected.join(" or ")));
        }
    }
    Some(words.join(" "))
}

/// Whether a change says that a message does not come, rather than that another one does.
pub(super) fn is_missing(change: &Change) -> bool {
    matches!(change.rule, Rule::OrderEndNew | Rule::OrderMissing | Rule::TagGone)
}

/// Which recordings show it: `shown by letta/hello.json, interaction 4, event 12, and 2 more answers`.
pub(super) fn shown(group: &Group<'_>) -> Option<String> {
    let mut witnesses = group.all().filter_map(|change| change.witnesses.as_ref());
    let Witnesses { cassette, number, event, answers, .. } = witnesses.next()?;
    // In one answer it may be the same in several places.
    let answers = witnesses.map(|it| it.answers).fold(*answers, usize::max);
    let event = event.map(|number| format!(", event {number}")).unwrap_or_default();
    let more = match answers {
        0 | 1 => String::new(),
        more => format!(", and {}", count(more - 1, "more answer")),
    };
    Some(format!("shown by {cassette}.json, interaction {number}{event}{more}"))
}

/// The file that shows a change, from the root of the repository; nothing if it is in none that is there.
pub(super) fn file(report: &Report, change: &Change) -> Option<String> {
    let path = report.new.path.trim_end_matches('/');
    if path.ends_with(".json") || path.ends_with(".snap") {
        return Some(path.to_owned());
    }
    let folder = if matches!(path, "" | ".") { String::new() } else { format!("{path}/") };
    let endpoint = &change.place.endpoint;
    match &change.witnesses {
        Some(witnesses) => Some(format!("{folder}{}.json", witnesses.cassette)),
        None => {
            let name = endpoint.slug();
            let mut of_that_name = report.new.accepted.iter().filter(|it| it.slug() == name);
            // Of several that have the name only the folder knows which file is whose.
            let is_it = of_that_name.next() == Some(endpoint) && of_that_name.next().is_none();
            is_it.then(|| format!("{folder}contracts/{name}.snap"))
        }
    }
}

/// The line of that file; the first if it is not known.
pub(super) fn line(change: &Change) -> usize {
    change.witnesses.as_ref().and_then(|witnesses| witnesses.line).unwrap_or(1)
}

/// What is told of a change beside what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Also,
    Cases,
    Trace,
    Possible,
    Example,
    Why,
    Brings,
    Shown,
    Rule,
    Approved,
}

impl Detail {
    /// A detail as a line of its own.
    pub(super) fn line(self, text: &str) -> String {
        let lead = match self {
            Self::Trace => "trace: ",
            Self::Possible => "possible now: ",
            Self::Example => "for example: ",
            Self::Approved => "approved: ",
            Self::Also => "also: ",
            Self::Brings => "with it: ",
            Self::Cases | Self::Why | Self::Shown | Self::Rule => "",
        };
        format!("{lead}{text}")
    }
}

/// So much of what a change brings with it is told.
const BROUGHT: usize = 3;

/// So many other places of a change are named.
const PLACES: usize = 6;

/// In which other places a change is the same: `a.id, b.id; GET /x: id; and 3 more places`.
fn also(group: &Group<'_>) -> Option<String> {
    let own = &group.change.place.endpoint;
    if group.change.place.path.is_empty() && group.also.iter().all(|it| it.place.endpoint == *own) {
        // It has no place but the endpoint.
        let others = group.also.len();
        let what =
            if group.change.place.part == Part::Order { "other order" } else { "other place" };
        return (others > 0).then(|| format!("in {}", count(others, what)));
    }
    let mut named: Vec<(&Endpoint, Vec<&str>)> = vec![(own, Vec::new())];
    // Each field that is missing of an object is one that a client may read.
    let is_field = |it: &&&Change| it.rule == Rule::FieldMissing && it.place.endpoint == *own;
    let named_at_once = group.also.iter().filter(is_field).count().max(PLACES);
    for other in group.also.iter().take(named_at_once) {
        let Place { endpoint, path, .. } = &other.place;
        match named.iter_mut().find(|(known, _)| *known == endpoint) {
            Some((_, paths)) => paths.push(path),
            None => named.push((endpoint, vec![path])),
        }
    }
    named.retain(|(_, paths)| !paths.is_empty());
    let is_alone = |of: &Endpoint| {
        let routes = std::iter::once(own).chain(group.also.iter().map(|it| &it.place.endpoint));
        routes.filter(|it| *it != of).all(|it| route(it) != route(of))
    };
    let named = named.iter().map(|(endpoint, paths)| {
        let at = match route(endpoint) {
            route if is_alone(endpoint) => route,
            route => format!("{route} -> {}", endpoint.status),
        };
        // An empty one is the message as a whole.
        let paths: Vec<&str> = paths.iter().copied().filter(|path| !path.is_empty()).collect();
        match paths.join(", ") {
            paths if *endpoint == own => paths,
            paths if paths.is_empty() => at,
            paths => format!("{at}: {paths}"),
        }
    });
    let more = group.also.len().saturating_sub(named_at_once);
    let more = (more > 0).then(|| format!("and {}", count(more, "more place")));
    let all: Vec<String> = named.filter(|it| !it.is_empty()).chain(more).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// What a change brings with it: as much as a reader wants to know.
fn brings(change: &Change) -> Option<String> {
    let (shown, more) = change.brings.split_at(change.brings.len().min(BROUGHT));
    let more = (!more.is_empty()).then(|| format!("{} more", more.len()));
    let all: Vec<String> = shown.iter().cloned().chain(more).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// What there is to tell of a change beside what it is, in the order in which it is told.
pub(super) fn details(group: &Group<'_>) -> Vec<(Detail, String)> {
    let change = group.change;
    let possible = change.possible.as_ref().map(|possible| possible.text.clone());
    let rule = format!("rule {}, fingerprint {}", change.rule, change.fingerprint);
    let all = [
        (Detail::Also, also(group)),
        (Detail::Cases, cases(change, &|case| case.to_owned())),
        (Detail::Trace, trace(change)),
        (Detail::Possible, possible),
        (Detail::Example, change.example.clone()),
        (Detail::Why, Some(change.why.clone()).filter(|why| !why.is_empty())),
        (Detail::Brings, brings(change)),
        (Detail::Shown, shown(group)),
        (Detail::Rule, Some(rule)),
        (Detail::Approved, change.approved.clone()),
    ];
    all.into_iter().filter_map(|(detail, text)| Some((detail, text?))).collect()
}

/// All that is told of a change, a line each.
pub(super) fn lines(group: &Group<'_>) -> Vec<String> {
    let head = format!("{}: {}", group.change.place.endpoint, group.change.what);
    let details = details(group);
    std::iter::once(head).chain(details.iter().map(|(it, text)| it.line(text))).collect()
}

/// What became of a cassette: `2 of 4 interactions changed`.
pub(super) fn cassette(pair: &CassettePair) -> String {
    let number = pair.interactions.len();
    let all = count(number + pair.same, "interaction");
    match pair.state {
        State::New => format!("new, {all}"),
        State::Lost => format!("not there any more, {all}"),
        State::Kept => format!("{number} of {all} changed"),
    }
}

/// One side of an interaction, the new one if there is one, and what became of it if it is alone.
pub(super) fn one_of(pair: &InteractionPair) -> Option<(&Exchange, Option<&'static str>)> {
    match (&pair.old, &pair.new) {
        (Some(_), Some(new)) => Some((new, None)),
        (None, Some(new)) => Some((new, Some("new"))),
        (Some(old), None) => Some((old, Some("not there any more"))),
        (None, None) => None,
    }
}
