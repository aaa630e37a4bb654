//! Old durations that would not go together with what else an answer says.
//!
//! # Rationale
//!
//! How long something took says nothing, so the old number may stand for the new one. But parts sum up to the whole,
//! and time goes on from event to event: where the new answer keeps to that, it may not be told otherwise. Then none of
//! the old ones stands.

use std::collections::BTreeSet;

use super::settle::Spans;
use crate::cassette::reading::Reading;
use crate::cassette::{Interaction, text};
use crate::config::Rules;
use crate::identity::each_document;

/// An object with more numbers is a table.
const MOST: usize = 12;

/// A number that an answer says.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: f64,
    /// Equal for the same field of all rows and events.
    field: u64,
    object: usize,
}

impl Spans {
    /// What is to stand in an answer for which this is told now.
    pub(super) fn of(
        old: Option<&Interaction>,
        new: &Interaction,
        told: &Interaction,
        rules: &Rules,
    ) -> Self {
        let [news, tolds] = [new, told].map(|it| numbers(it, rules));
        let are_alike = news.len() == tolds.len()
            && news.iter().zip(&tolds).all(|(one, other)| one.field == other.field);
        let has_moved = || news.iter().zip(&tolds).any(|(one, other)| one.value != other.value);
        if !are_alike || !has_moved() {
            return Self::Stay;
        }
        let olds = old.map(|old| numbers(old, rules));
        let is_broken =
            is_out_of_order(&news, &tolds, olds.as_deref()) || is_out_of_sum(&news, &tolds);
        if is_broken { Self::New } else { Self::Stay }
    }
}

/// Whether a field that never falls, or never rises, in the new answer and the old one does so in what is told.
fn is_out_of_order(news: &[Number], tolds: &[Number], olds: Option<&[Number]>) -> bool {
    let fields: BTreeSet<u64> = news.iter().map(|it| it.field).collect();
    fields.into_iter().any(|field| {
        let steps = |all: &[Number]| {
            let values: Vec<f64> =
                all.iter().filter(|it| it.field == field).map(|it| it.value).collect();
            let goes =
                |is: fn(&f64, &f64) -> bool| values.windows(2).all(|two| is(&two[0], &two[1]));
            [goes(f64::le), goes(f64::ge)]
        };
        let (new, told) = (steps(news), steps(tolds));
        let old = olds.map_or([true; 2], steps);
        (0..2).any(|way| old[way] && new[way] && !told[way])
    })
}

/// Whether a number that is the sum of two others of its object is not in what is told.
fn is_out_of_sum(news: &[Number], tolds: &[Number]) -> bool {
    let is_sum = |sum: f64, one: f64, other: f64| (sum - one - other).abs() <= 1e-9 * sum.abs();
    let mut from = 0;
    for object in news.chunk_by(|one, other| one.object == other.object) {
        let told = &tolds[from..from + object.len()];
        from += object.len();
        if !(3..=MOST).contains(&object.len()) {
            continue;
        }
        for sum in 0..object.len() {
            for one in 0..object.len() {
                for other in one + 1..object.len() {
                    let are_three = sum != one && sum != other;
                    let [new, told] = [object, told]
                        .map(|all| [all[sum], all[one], all[other]].map(|it| it.value));
                    let is_told = new == told || is_sum(told[0], told[1], told[2]);
                    let says_something = new[1] != 0.0 && new[2] != 0.0;
                    if are_three && says_something && is_sum(new[0], new[1], new[2]) && !is_told {
                        return true;
                    }
                }
            }
        }
    }
    false
}

fn numbers(interaction: &Interaction, rules: &Rules) -> Vec<Number> {
    let (mut numbers, mut before) = (Vec::new(), 0);
    let Some(response) = interaction.response() else { return numbers };
    let body = response.readable().bytes();
    each_document(&text(&body), |_, document| {
        let reading = Reading::of_text(document.as_str(), rules);
        let said = reading.nodes.iter().filter_map(|node| {
            let object = before + node.parent as usize;
            Some(Number { value: node.text.parse().ok()?, field: node.wild, object })
        });
        numbers.extend(said);
        before += reading.nodes.len();
    });
    numbers
}
