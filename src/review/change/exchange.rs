//! One request and its answer, before and after.

use std::cell::OnceCell;
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::always;
use super::report::{Difference, Exchange, Mark};
use crate::cassette::splice::disjoint;
use crate::cassette::{Body, Cassette, Interaction, Number, Place, Request, Response};
use crate::compare::alignment::{Renaming, moved_with};
use crate::compare::{self, Difference as Differing, Differences, Value};
use crate::contract::media_type;
use crate::identity::{Meaning, SHORTEST, identifiers, moments};
use crate::message::{Message, Messages, Protocols, Trace};
use crate::text::json::{Text, pointer};
use crate::text::rpc::{self, Envelope};

/// So much of a value is kept.
const LONGEST: usize = 2_000;

/// So many differences of an interaction are listed.
const MOST: usize = 40;

/// An interaction of a cassette, and its answer, which can be cut into messages.
pub(super) struct Turn<'a> {
    number: Number,
    /// Counted from 0.
    place: usize,
    interaction: &'a Interaction,
    /// When it was recorded (RFC 3339).
    at: &'a str,
    /// Those before it.
    before: &'a [Interaction],
    answer: Option<ExchangeAnswer<'a>>,
}

struct ExchangeAnswer<'a> {
    protocols: Protocols,
    response: &'a Response,
    /// Cut where that is asked for: most answers only differ by what identifiers are called.
    cut: OnceCell<(Messages, Trace)>,
}

impl<'a> Turn<'a> {
    pub(super) fn of(protocols: Protocols, cassette: &'a Cassette, place: usize) -> Self {
        let interaction = &cassette.interactions[place];
        let answer = interaction.response();
        let answer =
            answer.map(|response| ExchangeAnswer { protocols, response, cut: OnceCell::new() });
        let (number, before) = (cassette.number(place), &cassette.interactions[..place]);
        Self { number, place, interaction, at: &cassette.recorded.at, before, answer }
    }

    /// What there is to tell about it.
    pub(super) fn exchange(&self) -> Exchange {
        let request = &self.interaction.request;
        let Request { method, path, .. } = request;
        let answer = self.answer.as_ref();
        let body = request.readable();
        let body = String::from_utf8_lossy(&body);
        let said = [request.query().unwrap_or_default(), &*body].map(words_of);
        Exchange {
            number: self.number,
            place: self.place,
            method: method.clone(),
            path: path.clone(),
            status: answer.map(|answer| answer.response.status),
            end: self.interaction.end().as_str(),
            ms: answer.map_or(0, |answer| last_ms(answer.response)),
            trace: answer.map(ExchangeAnswer::marks).unwrap_or_default(),
            has_result: self.has_result(),
            media: answer.map(|answer| {
                let accepted = request.headers.get("accept").unwrap_or_default();
                [accepted.to_owned(), media_type(answer.response)]
            }),
            says: FixedState::default().hash_one(said),
            is_deleted: self.is_deleted(),
        }
    }

    /// Whether what it asks for, or what that is part of, was deleted before.
    fn is_deleted(&self) -> bool {
        let own = self.interaction.request.path_only();
        self.before.iter().map(|it| &it.request).filter(|it| it.method == "DELETE").any(|it| {
            let rest = own.strip_prefix(it.path_only());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// What came of the call that it is.
    fn has_result(&self) -> Option<bool> {
        let asked = self.interaction.request.readable();
        let asked = Text::parse_container(&asked)?;
        if asked.get("query").is_some_and(|query| query.string().is_some()) {
            let said = self.answer.as_ref()?.response.readable().bytes();
            return rpc::has_failed_by_graphql(Text::parse_container(&said)?).map(|failed| !failed);
        }
        let call = Envelope::of(asked)?;
        call.asked()?;
        self.answer.as_ref()?.messages().iter().filter_map(Message::json).find_map(|said| {
            Envelope::of(said).filter(|answer| answer.answers(&call))?;
            Some(!rpc::has_failed(said))
        })
    }

    fn status(&self) -> String {
        let answer = self.answer.as_ref();
        answer.map_or_else(|| "none".to_owned(), |answer| answer.response.status.to_string())
    }
}

fn words_of(said: &str) -> String {
    always::words(said).collect::<Vec<_>>().join(" ")
}

impl ExchangeAnswer<'_> {
    fn cut(&self) -> &(Messages, Trace) {
        self.cut.get_or_init(|| {
            let messages = Messages::of(self.response, &self.protocols);
            let trace = Trace::of(&messages.list, &self.protocols);
            (messages, trace)
        })
    }

    fn messages(&self) -> &[Message] {
        &self.cut().0.list
    }

    fn trace(&self) -> &Trace {
        &self.cut().1
    }

    fn marks(&self) -> Vec<Mark> {
        let marks = self.trace().steps.iter().map(|step| Mark {
            tag: step.tag.as_str().to_owned(),
            count: step.count(),
            first_ms: step.first_ms,
            last_ms: step.last_ms,
        });
        marks.collect()
    }

    fn is_stream(&self) -> bool {
        self.response.status == 101 || self.cut().0.framing.is_stream()
    }
}

fn last_ms(response: &Response) -> u64 {
    match &response.body {
        Body::Stream(chunks) => chunks.last().map_or(response.ms, |chunk| chunk.ms),
        Body::Whole(_) => response.ms,
    }
}

/// Whether nothing but times and headers differs.
pub(super) fn is_same(old: &Interaction, new: &Interaction) -> bool {
    let asked = |one: &Request, other: &Request| {
        one.method == other.method && one.path == other.path && one.body == other.body
    };
    let answered = match (old.response(), new.response()) {
        (Some(one), Some(other)) => {
            one.status == other.status
                && one.end == other.end
                && one.headers.get("content-type") == other.headers.get("content-type")
                && one.body.bytes() == other.body.bytes()
                && one.closes() == other.closes()
        }
        (None, None) => old.end() == new.end(),
        _ => false,
    };
    answered && asked(&old.request, &new.request)
}

/// Where two interactions differ but for what identifiers are called and times, and how many more places
/// there are. What is new is told with the old names.
pub(super) fn differences(
    renaming: &Renaming,
    old: &Turn<'_>,
    new: &Turn<'_>,
) -> (Vec<Difference>, usize) {
    let mut list = List { renaming, clocks: [old.at, new.at], listed: Vec::new(), more: 0 };
    let (was, is) = (old.interaction, new.interaction);
    let request = renamed(&is.request, renaming);
    let asked = compare::requests(&was.request, &request, &|text| open(text, renaming));
    list.take("request ", asked, &|place| place.to_string());
    list.whether("status", &old.status(), &new.status());
    list.whether("end", was.end().as_str(), is.end().as_str());
    if let (Some(old), Some(new)) = (&old.answer, &new.answer) {
        answers(old, new, &mut list);
    }
    (list.listed, list.more)
}

/// A request in the old names.
fn renamed(request: &Request, renaming: &Renaming) -> Request {
    Request {
        method: request.method.clone(),
        path: renaming.text(&request.path).into_owned(),
        headers: request.headers.clone(),
        body: renaming.bytes(&request.body).into_owned().into(),
    }
}

fn answers(old: &ExchangeAnswer<'_>, new: &ExchangeAnswer<'_>, list: &mut List<'_>) {
    let [was, is] = [old, new].map(|answer| answer.response.readable().bytes());
    if was == is && old.response.closes() == new.response.closes() {
        return;
    }
    if old.is_stream() && new.is_stream() {
        return streams(old, new, list);
    }
    let [was, is] = [&was, &is].map(|body| String::from_utf8_lossy(body));
    let found = list.compared(&was, &is);
    list.take("answer ", found, &|place| place.to_string());
}

/// Streams are compared message by message: their data as one array.
fn streams(old: &ExchangeAnswer<'_>, new: &ExchangeAnswer<'_>, list: &mut List<'_>) {
    let [was, is] = [old, new].map(|answer| said(answer.messages()));
    // A line for each, so that the lines show what came or went.
    let traces = [old, new].map(|answer| answer.trace().to_string().replace(' ', "\n"));
    if traces[0] != traces[1] {
        list.changed("trace", &traces[0], &traces[1]);
    }
    let mut found = list.compared(&listed(&was), &listed(&is));
    // As a whole it is reordered: the trace says it, unless these are messages of one type.
    let is_whole = |difference: &Differing| difference.at == Place::Json(String::new());
    let mut reordered = found.listed.extract_if(.., |difference| is_whole(difference));
    if reordered.next().is_some() && traces[0] == traces[1] {
        let mut pairs = was.iter().zip(&is).enumerate();
        if let Some((number, (was, is))) = pairs.find(|(_, (was, is))| was != is) {
            list.changed(&format!("message {} on, in another order", number + 1), was, is);
        }
    }
    drop(reordered);
    list.take("message ", found, &|place| match place {
        Place::Json(pointer) => message(pointer),
        other => other.to_string(),
    });
}

/// `/2/name` as `3 /name`: messages are counted from 1.
fn message(pointer: &str) -> String {
    let inside = pointer.trim_start_matches('/');
    let (number, rest) = inside.split_once('/').unwrap_or((inside, ""));
    let number = number.parse::<usize>().map_or(0, |number| number + 1);
    if rest.is_empty() { number.to_string() } else { format!("{number} /{rest}") }
}

/// The messages without keep-alives as JSON; what is none is a string.
fn said(messages: &[Message]) -> Vec<String> {
    let said = messages.iter().filter(|message| !message.is_keep_alive());
    let said = said.map(|message| match Text::read(&message.data) {
        Some(json) => json.as_str().to_owned(),
        None => serde_json::Value::from(message.data.as_str()).to_string(),
    });
    said.collect()
}

fn listed(said: &[String]) -> String {
    format!("[{}]", said.join(","))
}

/// The times in a text, and the identifiers that are not known by name.
fn open(text: &str, renaming: &Renaming) -> Vec<Range<usize>> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let known: Vec<_> = renaming.old_names(text).collect();
    let unknown = |range: &Range<usize>| {
        known.iter().all(|known| known.end <= range.start || range.end <= known.start)
    };
    disjoint(identifiers(text).filter(unknown).chain(moments(text)).collect(), Range::clone)
}

/// What is listed, up to a limit.
struct List<'r> {
    renaming: &'r Renaming,
    /// When both were recorded.
    clocks: [&'r str; 2],
    listed: Vec<Difference>,
    more: usize,
}

impl List<'_> {
    /// Compares what was with what is, under its old names.
    fn compared(&self, was: &str, is: &str) -> Differences {
        let renaming = self.renaming;
        compare::documents(was, &renaming.text(is), &|text| open(text, renaming))
    }

    fn take(&mut self, what: &str, found: Differences, name: &dyn Fn(&Place) -> String) {
        self.more += found.more;
        let is_real = |it: &Differing| {
            (!is_told(it) || self.refers_elsewhere(it)) && !self.moved_with_the_clock(it)
        };
        let real: Vec<Differing> = found.listed.into_iter().filter(is_real).collect();
        for difference in real {
            let at = format!("{what}{}", name(&difference.at));
            self.add(Difference {
                at,
                old: difference.recorded.as_ref().map(shown),
                new: difference.asked.as_ref().map(shown),
            });
        }
    }

    /// Whether one holds an identifier that is known by name, and so is not called otherwise here: another
    /// thing is meant, or none.
    fn refers_elsewhere(&self, difference: &Differing) -> bool {
        let is_known = |value: &Option<Value>| {
            let Some(Value::Json(text)) = value else { return false };
            self.renaming.old_names(text).next().is_some()
        };
        is_known(&difference.recorded) || is_known(&difference.asked)
    }

    /// Whether both values are times, as far from when their recordings were made.
    fn moved_with_the_clock(&self, difference: &Differing) -> bool {
        let both = difference.recorded.as_ref().zip(difference.asked.as_ref());
        matches!(both, Some((Value::Json(old), Value::Json(new)))
            if moved_with(self.clocks, old, new))
    }

    fn whether(&mut self, at: &str, old: &str, new: &str) {
        if old != new {
            self.changed(at, old, new);
        }
    }

    fn changed(&mut self, at: &str, old: &str, new: &str) {
        let [old, new] = [old, new].map(|text| Some(cut(text.to_owned())));
        self.add(Difference { at: at.to_owned(), old, new });
    }

    fn add(&mut self, difference: Difference) {
        if self.listed.len() < MOST {
            self.listed.push(difference);
        } else {
            self.more += 1;
        }
    }
}

/// Whether the name of a field tells that its value is another each time.
fn is_told(difference: &Differing) -> bool {
    let Place::Json(pointer) = &difference.at else { return false };
    let kinds = [&difference.recorded, &difference.asked].map(|it| it.as_ref()?.kind());
    let told = matches!(
        Meaning::of(&pointer::field(pointer)),
        Meaning::Mark | Meaning::Identity | Meaning::Moment | Meaning::Span
    );
    // One that comes, goes, or is of another type is a difference.
    told && kinds[0].is_some() && kinds[0] == kinds[1]
}

fn shown(value: &Value) -> String {
    match value {
        Value::Json(spelled) => cut(spelled.clone()),
        Value::Text(text) => cut(text.clone()),
        Value::Binary { length, .. } => format!("{length} bytes"),
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}
