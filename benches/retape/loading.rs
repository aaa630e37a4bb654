//! Reading and writing cassettes beside `serde_json` with the same text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::rc::Rc;

use retape::cassette::Ids;
use retape::cassette::format::{decode, encode};
use retape::compare::matching::Index;
use retape::config::Rules;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cpu::Thread;
use crate::measure::{Bench, Contender, Effort, Table, compare};
use crate::sample::{self, Words};

/// All of it by name.
pub const ALL: &[Bench] = &[
    ("loading 1,000 interactions of 2 KB", |effort| load(effort, 1000)),
    ("loading 10,000 interactions of 2 KB", |effort| load(effort, 10_000)),
    ("writing 1,000 interactions of 2 KB", |effort| write(effort, 1000)),
    ("writing 10,000 interactions of 2 KB", |effort| write(effort, 10_000)),
];

/// A cassette as a program that wants nothing but the text would have it.
#[derive(Serialize, Deserialize)]
struct Plain<'a> {
    retape: u64,
    #[serde(borrow)]
    interactions: Vec<Interaction<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Interaction<'a> {
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(borrow)]
    response: Response<'a>,
}

#[derive(Serialize, Deserialize)]
struct Request<'a> {
    method: String,
    path: String,
    #[serde(borrow, default)]
    headers: BTreeMap<Cow<'a, str>, String>,
    #[serde(default)]
    json: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct Response<'a> {
    status: u16,
    #[serde(borrow, default)]
    headers: BTreeMap<Cow<'a, str>, String>,
    json: Box<RawValue>,
    end: String,
}

fn load(effort: Effort, interactions: usize) -> Table {
    let mut cassette = sample::cassette(effort.at_most(interactions), Words::MANY);
    let older: Rc<str> = encode(&cassette).text.into();
    // As a recorder writes it: nothing in it is a name.
    cassette.ids = Some(Ids::default());
    let text: Rc<str> = encode(&cassette).text.into();
    assert_eq!(decode(&text, |_| unreachable!("all bodies are small")).ok(), Some(cassette));
    let reading_of = |name: &str, text: &Rc<str>, read: fn(&str)| {
        let text = Rc::clone(text);
        Contender::new(name, Thread::current(), move || read(&text))
    };
    let reading = |name: &str, read: fn(&str)| reading_of(name, &text, read);
    compare(
        effort,
        vec![
            reading("serde_json, into structs", |text| {
                black_box(plain(text));
            }),
            reading("serde_json, only checked", |text| {
                black_box(serde_json::from_str::<&RawValue>(text).expect("it is JSON"));
            }),
            reading("retape, read", |text| {
                black_box(read(text));
            }),
            reading("retape, read and indexed", indexed),
            reading_of("retape, read and indexed, without a table of names", &older, indexed),
        ],
    )
}

fn indexed(text: &str) {
    let cassette = read(text);
    black_box((Index::of(&cassette, Rules::default()), cassette));
}

fn write(effort: Effort, interactions: usize) -> Table {
    let cassette = sample::cassette(effort.at_most(interactions), Words::MANY);
    let text: &'static str = Box::leak(encode(&cassette).text.into_boxed_str());
    let plain = plain(text);
    compare(
        effort,
        vec![
            Contender::new("serde_json, from structs", Thread::current(), move || {
                black_box(serde_json::to_string_pretty(&plain).expect("it is JSON"));
            }),
            Contender::new("retape, written", Thread::current(), move || {
                black_box(encode(&cassette));
            }),
        ],
    )
}

fn plain(text: &str) -> Plain<'_> {
    serde_json::from_str(text).expect("it has these members")
}

fn read(text: &str) -> retape::Cassette {
    decode(text, |_| unreachable!("all bodies are small")).expect("it was written so")
}
