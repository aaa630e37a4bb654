//! The same server, another run.

use std::sync::LazyLock;

use bytes::Bytes;
use regex::{Captures, Regex};
use retape::cassette::{Body, Cassette, Chunk, Headers};
use serde_json::{Map, Value, json};

use super::super::edit::{ServerChange, answer, each, objects, set_header};
use super::super::fields::Kind;
use super::super::recorded::{Named, Recordings, whole};
use super::super::set::{Field, Key, Set};
use super::wholes;
use crate::dice::Random;

/// What a person or a model has written.
const TEXTS: [&str; 12] = [
    "content",
    "delta",
    "description",
    "detail",
    "func_response",
    "message",
    "partial_json",
    "reasoning",
    "signature",
    "text",
    "thinking",
    "tool_return",
];

const LINES: [&str; 5] = [
    "The lighthouse keeper counted the ships twice.",
    "Nobody had expected rain.",
    "It took them, all told, a little over a week",
    " and then she laughed",
    "Seven lanterns; one of them was broken.",
];

/// An identifier of the same form: what it begins with stays.
pub fn turned(id: &str, by: u8) -> String {
    let word = id.bytes().take_while(u8::is_ascii_lowercase).count();
    let prefix = match id.as_bytes().get(word) {
        Some(b'-' | b'_') => word + 1,
        _ => 0,
    };
    let turn = |from: u8, size: u8, c: u8| char::from(from + (c - from + by % size) % size);
    let next = |c: u8| match c {
        b'0'..=b'9' => turn(b'0', 10, c),
        b'a'..=b'f' => turn(b'a', 6, c),
        b'g'..=b'z' => turn(b'g', 20, c),
        b'A'..=b'Z' => turn(b'A', 26, c),
        other => char::from(other),
    };
    id[..prefix].chars().chain(id[prefix..].bytes().map(next)).collect()
}

/// Changes all text of a cassette, asked and answered.
fn retold(cassette: &mut Cassette, change: &dyn Fn(&str) -> String) {
    let of = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => Bytes::from(change(text)),
        Err(_) => Bytes::copy_from_slice(bytes),
    };
    let fields = |headers: &Headers| headers.iter().map(|(name, it)| (name, of(it))).collect();
    for interaction in &mut cassette.interactions {
        let request = &mut interaction.request;
        request.path = change(&request.path);
        request.body = of(&request.body);
        request.headers = fields(&request.headers);
        answer(interaction, |response| {
            let body = of(&response.readable().bytes());
            whole(response, body);
            response.headers = fields(&response.headers);
        });
    }
}

static IDS: LazyLock<Regex> = LazyLock::new(|| {
    let ids = Regex::new(concat!(
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        r"|\b(?:call|chatcmpl|fc|msg|req|resp|rs|rsn|run|thread|tkt|toolu)[_-][A-Za-z0-9]{6,}",
    ));
    ids.expect("a pattern")
});

/// Other identifiers, the same ones wherever they were the same.
pub fn with_other_ids(cassette: &mut Cassette, by: u8) {
    let other = |found: &Captures<'_>| turned(&found[0], by);
    retold(cassette, &|text| IDS.replace_all(text, other).into_owned());
}

pub fn other_ids(_: &Set) -> Vec<ServerChange> {
    let made = [3, 7].map(|by| {
        let edit = move |all: &mut Recordings| {
            all.iter_mut().for_each(|(_, cassette)| with_other_ids(cassette, by));
        };
        ServerChange::new(format!("all identifiers, {by} further"), edit)
    });
    made.into()
}

/// A day, the same one as servers write it, and by how much seconds since 1970 are turned.
type Day = (&'static str, &'static str, u8);

const DAYS: [Day; 2] =
    [("2026-12-24", "Thu, 24 Dec 2026", 4), ("2027-02-01", "Mon, 01 Feb 2027", 9)];

fn on_another_day(all: &mut [Named], (day, date, by): Day) {
    let stamps = Regex::new(r"20\d\d-\d\d-\d\d(T\d\d:)").expect("a pattern");
    let dates = Regex::new(r"[A-Z][a-z][a-z], \d\d [A-Z][a-z][a-z] 20\d\d").expect("a pattern");
    let seconds = Regex::new(r"\b17\d{2}(\d{6})\b").expect("a pattern");
    let other = |text: &str| {
        let text = stamps.replace_all(text, format!("{day}$1"));
        let text = dates.replace_all(&text, date);
        let later = |found: &Captures<'_>| format!("1799{}", turned(&found[1], by));
        seconds.replace_all(&text, later).into_owned()
    };
    for (_, cassette) in all.iter_mut() {
        retold(cassette, &other);
        cassette.recorded.at = other(&cassette.recorded.at);
    }
    each(all).for_each(|one| answer(one, |it| it.ms = it.ms * 3 + 17));
}

pub fn other_times(_: &Set) -> Vec<ServerChange> {
    let made = DAYS.map(|day| {
        let edit = move |all: &mut Recordings| on_another_day(all, day);
        ServerChange::new(format!("all times, {}", day.0), edit)
    });
    made.into()
}

/// The same, recorded on another day.
pub fn another_run(all: &mut [Named]) {
    all.iter_mut().for_each(|(_, cassette)| with_other_ids(cassette, 3));
    on_another_day(all, DAYS[0]);
}

pub fn other_headers(_: &Set) -> Vec<ServerChange> {
    let made = [("server", "another/2.0"), ("x-request-id", "17"), ("x-process-time", "0.25")];
    let made = made.map(|(name, value)| {
        let edit = move |all: &mut Recordings| {
            each(all).for_each(|one| answer(one, |it| set_header(&mut it.headers, name, value)));
        };
        ServerChange::new(format!("header {name}"), edit)
    });
    made.into()
}

/// How the network cuts a stream up.
pub fn other_chunks(_: &Set) -> Vec<ServerChange> {
    let made = [1, 64, 1_000].map(|size| {
        let cut = move |body: &Body| {
            let all = body.bytes();
            let pieces = (0..all.len()).step_by(size).zip(0..);
            let chunk = |(from, ms): (usize, u64)| Chunk {
                ms: 5 + ms,
                bytes: all.slice(from..all.len().min(from + size)),
            };
            Body::Stream(pieces.map(chunk).collect())
        };
        let edit = move |all: &mut Recordings| {
            each(all).for_each(|one| {
                answer(one, |it| {
                    if let Body::Stream(_) = it.body {
                        it.body = cut(&it.body);
                    }
                });
            });
        };
        ServerChange::new(format!("pieces of {size} bytes"), edit)
    });
    made.into()
}

fn of_field(
    set: &Set,
    applies: impl Fn(&Key, &Field) -> bool,
    random: &mut Random,
    change: fn(&Value, usize) -> Value,
) -> Vec<ServerChange> {
    let fitting: Vec<_> = set.fields.iter().filter(|(key, field)| applies(key, field)).collect();
    let made = fitting.into_iter().map(|(key, field)| {
        let (sites, name, begin) = (field.sites.clone(), key.name.clone(), random.below(1_000));
        let asked = set.asked.clone();
        let edit = move |all: &mut Recordings| {
            objects(all, &sites, |object, number| {
                let old = &object[&name];
                // What the client has said comes back as it was.
                let is_own = old.as_str().is_some_and(|it| it.is_empty() || asked.contains(it));
                if !is_own {
                    let value = change(old, number + begin);
                    let sums = sums(object);
                    object.insert(name.clone(), value);
                    sums.into_iter().for_each(|(total, of)| {
                        let sum: u64 = of.iter().filter_map(|it| object[*it].as_u64()).sum();
                        object.insert(total.to_owned(), json!(sum));
                    });
                }
            });
            wholes::kept(all);
        };
        ServerChange::new(format!("{} {}/{}", key.tag, key.place, key.name), edit)
    });
    made.collect()
}

/// The numbers of an object that are sums of two others, and of which.
fn sums(object: &Map<String, Value>) -> Vec<(&'static str, [&'static str; 2])> {
    let totals = ["total_tokens", "context_tokens"];
    let pairs = [["prompt_tokens", "completion_tokens"], ["input_tokens", "output_tokens"]];
    let all = totals.into_iter().flat_map(|total| pairs.map(|pair| (total, pair)));
    let number = |name: &str| object.get(name).and_then(Value::as_u64);
    let is_sum = |(total, [one, other]): &(&str, [&str; 2])| {
        number(one).zip(number(other)).map(|(one, other)| one + other) == number(total)
            && number(total).is_some()
    };
    all.filter(is_sum).collect()
}

pub fn other_texts(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let is_text = |key: &Key, field: &Field| {
        TEXTS.contains(&&*key.name)
            && field.kinds.contains(&Kind::String)
            && !wholes::is_one(&key.tag, &key.name)
    };
    of_field(set, is_text, random, |old, number| match old {
        Value::String(_) => json!(format!("{} {number}", LINES[number % LINES.len()])),
        other => other.clone(),
    })
}

pub fn other_numbers(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let is_count = |key: &Key, field: &Field| {
        let name = &*key.name;
        let counts = name.ends_with("_tokens") || name.starts_with("num_") || name == "ttlMs";
        // What is a sum changes with what it is the sum of.
        let counts = counts && !["total_tokens", "context_tokens"].contains(&name);
        counts && field.kinds.contains(&Kind::Number)
    };
    of_field(set, is_count, random, |old, number| match old.as_u64() {
        Some(old) => json!(old + 1 + number as u64 % 97),
        None => old.clone(),
    })
}
