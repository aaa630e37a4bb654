//! What contracts claim, by kind of claim, and which of it a check has found broken.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use regex::Regex;
use retape::contract::order::Order;
use retape::contract::{Case, Contract, Endpoint, Orders};
use retape::review::change::{Change, Part, Report, Rule, Verdict};

use super::mint;

/// A kind of claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    Order,
    /// The order of a case, where a contract has several.
    Case,
    Guard,
    Tag,
    Branch,
    Enum,
    Format,
    Null,
    NeverNull,
    Closed,
    Required,
    Type,
    Invariant,
    /// What numbers or texts say together.
    Tie,
    /// The contract is written so that it cannot be read.
    Unreadable,
}

impl Claim {
    pub const ALL: [Self; 15] = [
        Self::Order,
        Self::Case,
        Self::Guard,
        Self::Tag,
        Self::Branch,
        Self::Enum,
        Self::Format,
        Self::Null,
        Self::NeverNull,
        Self::Closed,
        Self::Required,
        Self::Type,
        Self::Invariant,
        Self::Tie,
        Self::Unreadable,
    ];
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Order => "order",
            Self::Case => "order of a case",
            Self::Guard => "guard",
            Self::Tag => "tag",
            Self::Branch => "kind of a union",
            Self::Enum => "enum or constant",
            Self::Format => "format",
            Self::Null => "only null",
            Self::NeverNull => "never null",
            Self::Closed => "closed object",
            Self::Required => "required member",
            Self::Type => "type of a value",
            Self::Invariant => "invariant",
            Self::Tie => "tie",
            Self::Unreadable => "written unreadably",
        })
    }
}

/// How a change is classed, from the harmless to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Unproven,
    Broken,
}

/// Something that a check has found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub level: Level,
    pub claim: Claim,
    /// A type of message, a kind or a word that no recording has.
    pub is_unheard: bool,
    pub endpoint: Endpoint,
    /// In words.
    pub what: String,
    /// The claim that does not hold: the same for all that break it.
    pub site: String,
}

/// All that a check has found, with how often; what is new or orphaned is left out, and what breaks nobody.
pub fn found(report: &Report, contracts: &[Contract]) -> BTreeMap<Found, usize> {
    let mut found = BTreeMap::new();
    for change in &report.changes {
        let contract = contracts.iter().find(|it| it.endpoint == change.place.endpoint);
        let level = match change.verdict {
            Verdict::Breaking => Level::Broken,
            Verdict::Unproven => Level::Unproven,
            _ => continue,
        };
        let Some((contract, claim)) = contract.zip(broken(contract, change)) else { continue };
        let site = match claim {
            Claim::Order | Claim::Case | Claim::Invariant | Claim::Tie => change.what.clone(),
            _ => change.place.path.clone(),
        };
        let what = format!("{}: {}", change.rule, change.what);
        let is_unheard = matches!(change.rule, Rule::TagNew | Rule::KindNew | Rule::ValueNew);
        let endpoint = contract.endpoint.clone();
        let one = Found { level, claim, is_unheard, endpoint, what, site };
        let answers = change.witnesses.as_ref().map_or(1, |shown| shown.answers);
        *found.entry(one).or_default() += answers;
    }
    found
}

/// The contract with one order for all cases: any of theirs. What breaks an order but not this one was
/// held against the wrong case.
pub fn unguarded(contract: &Contract) -> Contract {
    let orders: Vec<String> = contract
        .order
        .iter()
        .flat_map(|orders| &orders.cases)
        .map(|case| format!("({})", case.order))
        .collect();
    let any = orders.join(" | ").parse::<Order>().ok().filter(|_| orders.len() > 1);
    let any = any.map(|order| Orders { cases: vec![Case { when: Vec::new(), order }] });
    let mut unguarded = contract.clone();
    unguarded.order = any.or(unguarded.order);
    unguarded
}

/// Which claim of a contract does not hold by a change; none if it is no change of one.
fn broken(contract: Option<&Contract>, change: &Change) -> Option<Claim> {
    let cases = contract?.order.as_ref().map_or(0, |orders| orders.cases.len());
    let possible = change.possible.as_ref().map(|possible| possible.text.as_str());
    Some(match (change.rule, change.place.part) {
        (Rule::CaseNew, _) => Claim::Guard,
        (_, Part::Order) if cases > 1 => Claim::Case,
        (_, Part::Order) => Claim::Order,
        (_, Part::Invariants) => match is_tie(&change.what) {
            true => Claim::Tie,
            false => Claim::Invariant,
        },
        (_, Part::Endpoint | Part::Request) => return None,
        (Rule::TagNew | Rule::KindNew, _) => Claim::Branch,
        (Rule::ValueNew, _) => Claim::Enum,
        (Rule::FormatNew, _) => Claim::Format,
        (Rule::FieldMissing, _) => Claim::Required,
        (Rule::FieldNew | Rule::ShapeWider, _) => Claim::Closed,
        (Rule::TypeNew, _) if possible == Some("null") => Claim::NeverNull,
        (Rule::TypeNew, _) if change.what.contains("is not `null`") => Claim::Null,
        _ => Claim::Type,
    })
}

fn is_tie(invariant: &str) -> bool {
    let verbs = ["at most", "sums", "counts", "joins", "extends"];
    verbs.iter().any(|verb| invariant.contains(&format!(" {verb} ")))
}

fn is_format(shape: &str) -> bool {
    let names = ["Id", "uuid", "date-time", "date", "uri", "integer-string"];
    let is_letter = |char: char| char.is_alphanumeric() || char == '-';
    shape.split(|char| !is_letter(char)).any(|word| names.contains(&word))
}

/// How many claims of a kind there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub all: usize,
    /// Those that tell words of data from others.
    pub of_data: usize,
    /// Those that something legal breaks.
    pub broken: usize,
}

/// What contracts claim.
pub fn learned(contracts: &[Contract]) -> BTreeMap<Claim, Count> {
    let mut counts: BTreeMap<Claim, Count> = BTreeMap::new();
    for contract in contracts {
        let mut count = |claim: Claim, is_data: bool| {
            let count = counts.entry(claim).or_default();
            count.all += 1;
            count.of_data += usize::from(is_data);
        };
        let text = contract.to_string();
        if text.parse::<Contract>().is_err() {
            count(Claim::Unreadable, false);
        }
        for invariant in &contract.invariants {
            let is_tie = is_tie(&invariant.to_string());
            count(if is_tie { Claim::Tie } else { Claim::Invariant }, false);
        }
        for case in contract.order.iter().flat_map(|orders| &orders.cases) {
            case.when.iter().for_each(|it| count(Claim::Guard, is_of_data(it.says.as_deref())));
            for guard in guards(&case.order.to_string()) {
                count(Claim::Guard, is_of_data(Some(&guard)));
            }
        }
        of_shapes(&text, &mut count);
    }
    counts
}

/// The guards in an order.
fn guards(order: &str) -> BTreeSet<String> {
    let guard = Regex::new(r"\[([^\]]*=[^\]]*)\]").expect("it is one");
    guard.captures_iter(order).map(|found| found[1].to_owned()).collect()
}

/// Whether a condition compares with something that a scenario or a run decides: a word of data, prose, a
/// number, an identifier. No word of a protocol here has a digit or a space.
fn is_of_data(says: Option<&str>) -> bool {
    let says = says.unwrap_or_default();
    let value = says.rsplit('=').next().unwrap_or_default();
    let is_free = |word: &str| word.contains(|char: char| char == ' ' || char.is_ascii_digit());
    value.parse::<f64>().is_ok() || quoted(says).any(|word| is_free(word) || mint::is_data(word))
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

fn of_shapes(text: &str, count: &mut impl FnMut(Claim, bool)) {
    let is_shape = |line: &str| line.starts_with("  events") || line.starts_with("  body");
    let lines: Vec<&str> = text.lines().skip_while(|line| !is_shape(line)).collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| depth(line) > 2) {
        let has_members = lines.get(at + 1).is_some_and(|next| depth(next) > depth(line));
        let line = line.trim();
        let is_union = line.starts_with("by ") || line.contains(" by ");
        if has_members && !is_union {
            count(Claim::Closed, false);
        }
        let Some((name, shape)) = line.split_once(": ") else {
            if has_members && !is_union && line != "object" {
                count(Claim::Branch, mint::is_data(line.trim_matches('"')));
            }
            continue;
        };
        if !name.ends_with('?') {
            count(Claim::Required, false);
        }
        if shape.contains('"') {
            count(Claim::Enum, quoted(shape).any(mint::is_data));
        } else if shape == "null" {
            count(Claim::Null, false);
        } else if is_format(shape) {
            count(Claim::Format, false);
        }
    }
}
