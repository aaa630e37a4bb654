//! What JSON values look like: learned from samples, written as text, checked and compared.
//!
//! A [`Shape`] learns, in any order. Finished it is a [`Schema`]: a promise that reads like an interface,
//! says what a value breaks ([`Schema::accepts`]), what is gone and what came from one to another
//! ([`Schema::losses`], [`Schema::gains`]), and can be exported as JSON Schema.
//!
//! # Sources
//!
//! Merging: Baazizi et al., *Schema inference for massive JSON datasets*, EDBT 2017. Tagged unions:
//! Klettke et al., DEco@VLDB 2022; Yun et al., *ReCG*, VLDB 2024. Maps: Spoth et al., *Reducing
//! ambiguity in JSON schema discovery*, SIGMOD 2021.

mod accept;
mod census;
mod codes;
mod evidence;
mod example;
mod export;
mod format;
mod gain;
mod learn;
mod loss;
mod names;
mod parse;
mod rows;
mod sample;
mod schema;
mod show;
mod tags;
mod tuple;

pub use super::syntax::{ParseError, ParseErrors};
pub use accept::{Fault, Violation};
pub use census::Share;
pub(crate) use census::{Census, EvidenceSource, Recordings};
pub use evidence::{Claim, Evidence, Tally, Witness, Witnesses};
pub(in crate::contract) use export::DIALECT;
pub use format::Format;
pub use gain::{Gain, Gained};
pub(crate) use learn::{Around, evidence};
pub use learn::{NotJson, Shape};
pub use loss::{Loss, Lost};
pub(crate) use names::Naming;
pub(crate) use rows::identity;
pub(crate) use sample::DEEPEST;
pub use schema::Schema;
pub(crate) use tuple::index;
