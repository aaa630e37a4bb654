//! A change while it is found.

use std::collections::BTreeSet;

use super::about::About;
use super::gap::Gap;
use super::report::{Change, Direction, NewTrace, Part, Place, Possible, Verdict, Witnesses};
use super::rule::Rule;
use crate::cassette::Number;
use crate::contract::order::{Neighbours, Next, Pattern};
use crate::contract::shape::Gain;
use crate::contract::{Endpoint, cassette_of};
use crate::message::CLOSE;

/// A change at an endpoint, before it has a fingerprint and before its witness was looked up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub rule: Rule,
    pub verdict: Verdict,
    pub part: Part,
    /// For which requests, sorted; none if for all, an empty one for all others.
    pub cases: Vec<String>,
    pub path: String,
    /// What tells it from other changes of the same rule at the same place.
    pub key: String,
    pub what: String,
    pub why: String,
    pub trace: Option<Trace>,
    /// Neighbours that are not seen any more because of it.
    pub lost: BTreeSet<Neighbours>,
    /// The key of the slices in which it was found.
    pub slices: Option<String>,
    /// Whether it is that a message comes behind one of its type: they are two by what they identify.
    pub is_again: bool,
    /// The words in whose place this one comes.
    pub instead: Vec<String>,
    /// What it brings with it.
    pub brings: Vec<String>,
    /// The messages that changed places: which come before which now.
    pub swaps: BTreeSet<(String, String)>,
    /// Where something does not come.
    pub gap: Option<Gap>,
    pub possible: Option<Possible>,
    pub example: Option<String>,
    pub shown: Option<ShownPlaces>,
    /// The rows of lists that show it.
    pub rows: BTreeSet<String>,
    /// Which answers could show it.
    pub about: About,
    /// In a scenario that was recorded again so many recordings have to agree, those of before and those that show it: a
    /// measure is whole now and then, and what is `null` may not be there yet.
    pub fewest: usize,
}

/// A trace that was not possible before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trace {
    /// Types of messages, in order; `x+` for several in a row.
    pub tags: Vec<String>,
    /// Which of them is not as it was promised.
    pub at: usize,
    /// What would have been as promised there.
    pub expected: Vec<Next>,
}

impl Trace {
    /// The messages that would have been as promised.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.expected.iter().filter_map(|next| match next {
            Next::Event(pattern) => Some(pattern),
            Next::End => None,
        })
    }

    /// Their types.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        self.patterns().filter_map(|pattern| pattern.tag.as_deref())
    }

    fn finish(self) -> NewTrace {
        NewTrace { expected: names(&self.expected), tags: self.tags, at: self.at }
    }
}

/// What would be in order, sorted; the end has a name of its own.
pub(super) fn names(expected: &[Next]) -> Vec<String> {
    let names = expected.iter().map(|next| match next {
        Next::Event(pattern) => pattern.to_string(),
        Next::End => THE_END.to_owned(),
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Who shows it, and where the first one does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShownPlaces {
    /// The cassette and the number of the interaction.
    pub place: String,
    pub at: Position,
    /// All of them, with the first.
    pub places: BTreeSet<String>,
}

impl ShownPlaces {
    pub(super) fn new(place: &str, at: Position) -> Self {
        Self { place: place.to_owned(), at, places: BTreeSet::from([place.to_owned()]) }
    }

    /// All that show it, the first one there; nothing if none does.
    pub(super) fn of<'p>(mut places: impl Iterator<Item = &'p str>, at: Position) -> Option<Self> {
        let mut shown = Self::new(places.next()?, at);
        shown.places.extend(places.map(str::to_owned));
        Some(shown)
    }

    /// The cassette and what the interaction is called there: a place is `letta/hello #3`.
    pub(super) fn interaction(&self) -> Option<(&str, Number)> {
        let (cassette, number) = self.place.rsplit_once(" #")?;
        Some((cassette, number.parse().ok()?))
    }

    pub(super) fn cassettes(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.places.iter().map(|place| cassette_of(place)).collect();
        names.into_iter().map(str::to_owned).collect()
    }
}

/// The number of a message in its stream, counted from 1 without keep-alives, and where it stands there in the file,
/// counted from 0.
pub(super) type MessageSpot = (Option<usize>, Option<usize>);

/// Where in an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Position {
    Whole,
    /// A step of its trace, counted from 0.
    Step(usize),
    /// One of the messages that are JSON, counted from 0.
    Said(usize),
}

impl Draft {
    pub(super) fn new(rule: Rule, verdict: Verdict, part: Part, what: String) -> Self {
        Self {
            rule,
            verdict,
            part,
            cases: Vec::new(),
            path: String::new(),
            key: String::new(),
            what,
            why: String::new(),
            trace: None,
            lost: BTreeSet::new(),
            slices: None,
            is_again: false,
            instead: Vec::new(),
            brings: Vec::new(),
            swaps: BTreeSet::new(),
            gap: None,
            possible: None,
            example: None,
            shown: None,
            rows: BTreeSet::new(),
            about: About::Answers,
            fewest: 0,
        }
    }

    pub(super) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    pub(super) fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// For which requests: nothing if for all.
    pub(super) fn within(mut self, case: Option<String>) -> Self {
        self.cases = case.into_iter().collect();
        self
    }

    pub(super) fn witnessed(mut self, shown: Option<ShownPlaces>) -> Self {
        self.shown = shown;
        self
    }

    pub(super) fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    pub(super) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Calls it unproven, and says why.
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.verdict = Verdict::Unproven;
        self.why = why.into();
    }

    pub(super) fn possible(mut self, gain: &Gain) -> Self {
        let json_schema = gain.to_json_schema().to_string();
        self.possible = Some(Possible { text: gain.text(), json_schema });
        self
    }

    /// In how many places of an order it is.
    pub(super) fn places(&self) -> usize {
        self.gap.as_ref().map_or(1, |gap| gap.got.len())
    }

    /// Whether another one is the same change.
    pub(super) fn is(&self, other: &Self) -> bool {
        let of = |draft: &Self| (draft.rule, draft.part, draft.path.clone(), draft.key.clone());
        of(self) == of(other) && self.cases == other.cases
    }

    /// Notes one more answer that shows it; what one answer shows comes together.
    pub(super) fn seen(&mut self, place: &str, at: Position) {
        match &mut self.shown {
            Some(shown) if shown.places.contains(place) => {}
            Some(shown) => {
                shown.places.insert(place.to_owned());
            }
            None => self.shown = Some(ShownPlaces::new(place, at)),
        }
    }

    /// Takes the same change for other requests as a part of this one, if it is that.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let of = |draft: &Self| (draft.rule, draft.verdict, draft.part);
        let same = of(self) == of(other)
            && (&self.path, &self.key, &self.what) == (&other.path, &other.key, &other.what);
        if !same || self.part != Part::Order {
            return false;
        }
        self.show_for(other);
        true
    }

    /// Takes what shows another one, maybe for other requests, as what shows this one.
    pub(super) fn show_for(&mut self, other: &Self) {
        // What is told of no case in particular is told of all that are not named.
        let are_all = self.cases.is_empty() && other.cases.is_empty();
        for draft in [&other.cases, &self.cases.clone()] {
            self.cases.extend_from_slice(draft);
            if draft.is_empty() && !are_all {
                self.cases.push(String::new());
            }
        }
        self.cases.sort();
        self.cases.dedup();
        self.show(other);
    }

    /// Takes what shows another one as what shows this one. The worst decides.
    pub(super) fn show(&mut self, other: &Self) {
        if other.verdict < self.verdict {
            (self.verdict, self.why) = (other.verdict, other.why.clone());
        }
        self.keep_shorter(other.trace.as_ref());
        self.rows.extend(other.rows.iter().cloned());
        match (&mut self.shown, &other.shown) {
            (Some(shown), Some(more)) => shown.places.extend(more.places.iter().cloned()),
            (shown, more) => *shown = shown.take().or_else(|| more.clone()),
        }
    }

    /// Of two traces the shorter one is told.
    pub(super) fn keep_shorter(&mut self, other: Option<&Trace>) {
        let length = |trace: Option<&Trace>| trace.map_or(usize::MAX, |it| it.tags.len());
        if length(other) < length(self.trace.as_ref()) {
            self.trace = other.cloned();
        }
    }

    /// The change at an endpoint; `event` finds the numbers of a message.
    pub(super) fn finish(
        self,
        endpoint: &Endpoint,
        event: &dyn Fn(&ShownPlaces) -> Option<MessageSpot>,
    ) -> Change {
        let fingerprint = self.fingerprint(endpoint);
        let witnesses = self.shown.as_ref().and_then(|shown| {
            let (cassette, number) = shown.interaction()?;
            let (event, message) = event(shown).unwrap_or_default();
            Some(Witnesses {
                cassette: cassette.to_owned(),
                number,
                event,
                message,
                line: None,
                answers: shown.places.len(),
                cassettes: shown.cassettes(),
            })
        });
        let why = match (self.why.is_empty(), self.verdict) {
            (true, Verdict::Breaking) => self.rule.consequence().to_owned(),
            _ => self.why,
        };
        let direction = match self.part {
            Part::Request => Direction::Request,
            _ => Direction::Answer,
        };
        Change {
            fingerprint,
            rule: self.rule,
            verdict: self.verdict,
            direction,
            place: Place {
                endpoint: endpoint.clone(),
                part: self.part,
                cases: self.cases,
                path: self.path,
            },
            what: self.what,
            key: self.key,
            brings: self.brings,
            why,
            trace: self.trace.map(Trace::finish),
            possible: self.possible,
            example: self.example,
            witnesses,
            approved: None,
        }
    }

    /// Twelve digits of the hash of what makes the change. Nothing of it depends on which recording
    /// shows it.
    fn fingerprint(&self, endpoint: &Endpoint) -> String {
        let mut hasher = blake3::Hasher::new();
        let endpoint = endpoint.to_string();
        let cases = self.cases.join("\n");
        for part in [self.rule.id(), &endpoint, self.part.as_str(), &cases, &self.path, &self.key] {
            hasher.update(part.as_bytes()).update(&[0]);
        }
        hasher.finalize().to_hex()[..12].to_owned()
    }
}

/// The same change among those that were found, or this one added to them.
pub(super) fn same_or_added(drafts: &mut Vec<Draft>, draft: Draft) -> &mut Draft {
    let number = drafts.iter().position(|other| other.is(&draft)).unwrap_or(drafts.len());
    if number == drafts.len() {
        drafts.push(draft);
    }
    &mut drafts[number]
}

/// So much of a shape or a list is told in a sentence.
const LONGEST: usize = 60;

/// A place in a value, in a sentence.
pub(super) fn at(part: Part, path: &str) -> String {
    match (path.is_empty(), part) {
        (false, Part::Headers) => format!("the header field `{path}`"),
        (false, _) => format!("`{path}`"),
        (true, Part::Events) => "a message".to_owned(),
        (true, Part::Request) => "the request".to_owned(),
        (true, _) => "the answer".to_owned(),
    }
}

/// A text, or what it begins with.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

/// `"a"`, or `one of "a" | "b"`, in a sentence.
pub(super) fn one_of(text: &str) -> String {
    let among = if text.contains(" | ") { "one of " } else { "" };
    format!("{among}`{}`", cut(text))
}

/// What is expected where nothing is to come any more.
pub(super) const THE_END: &str = "the end";

/// `a`, `b` or `c`.
pub(super) fn either(names: &[String]) -> String {
    const NAMED: usize = 4;
    let named = names.iter().take(NAMED);
    let quoted: Vec<String> = named
        .map(|name| if name == THE_END { name.clone() } else { format!("`{name}`") })
        .collect();
    match (quoted.as_slice(), names.len()) {
        ([], _) => "nothing".to_owned(),
        ([only], _) => only.clone(),
        (_, more) if more > NAMED => format!("{} or another", quoted[..NAMED - 1].join(", ")),
        ([before @ .., last], _) => format!("{} or {last}", before.join(", ")),
    }
}

/// `a`, `b` and `c`.
pub(super) fn all_of(names: &BTreeSet<&String>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        all => all.concat(),
    }
}

/// A type of message that does not come any more.
pub(super) fn tag_gone(part: Part, tag: &str) -> Draft {
    let what = format!("`{tag}` messages are not seen any more");
    Draft::new(Rule::TagGone, Verdict::Trim, part, what).keyed(tag)
}

/// What it is that messages of a type come for the first time.
pub(super) fn first_time(tag: &str) -> String {
    if let Some(code) = tag.strip_prefix(CLOSE) {
        return format!("the server closes the WebSocket with {code}");
    }
    match tag.rsplit_once(" as ") {
        Some((said, "no event")) => format!("`{said}` comes without the name of its SSE event"),
        Some((said, event)) if event.starts_with("event ") => {
            format!("`{said}` comes as the SSE event `{}`", &event["event ".len()..])
        }
        _ => format!("`{tag}` is a new type of message"),
    }
}
