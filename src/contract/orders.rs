//! The orders of an endpoint, which may depend on what precedes.

use std::collections::BTreeSet;

use super::situation::{Condition, Feature, Holds, Situation};
use crate::contract::order::{Order, Word};

/// The orders in which the messages of an answer may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orders {
    /// The cases: the first one that fits counts. One without conditions if nothing decides.
    pub cases: Vec<Case>,
}

/// The order in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What must be so. All of it; nothing for what is left.
    pub when: Vec<Condition>,
    /// The order.
    pub order: Order,
}

impl Orders {
    /// One order for all answers.
    pub(super) fn one(order: Order) -> Self {
        Self { cases: vec![Case { when: Vec::new(), order }] }
    }

    /// What is out of order, in words.
    pub(super) fn broken(&self, situation: &Situation, word: &Word) -> Vec<String> {
        let cases = self.fitting(situation);
        let events = word.events();
        let Some(last) = cases.last() else { return vec![self.unknown(situation)] };
        if cases.iter().any(|case| case.order.accepts(&events)) {
            return Vec::new();
        }
        let explanation = last.order.explain(&events, None);
        explanation.deviations().map(|deviation| explanation.sentence(deviation)).collect()
    }

    /// The case that fits, behind those that may, as far as the situation is known.
    pub(crate) fn fitting(&self, situation: &Situation) -> Vec<&Case> {
        let mut fitting = Vec::new();
        for case in &self.cases {
            let holds = case.when.iter().map(|condition| situation.holds(condition)).min();
            match holds.unwrap_or(Holds::Yes) {
                Holds::No => {}
                Holds::Perhaps => fitting.push(case),
                Holds::Yes => {
                    fitting.push(case);
                    break;
                }
            }
        }
        fitting
    }

    /// That no order is known, and what is so.
    fn unknown(&self, situation: &Situation) -> String {
        format!("no order is known for this case: {}", self.so(situation))
    }

    /// What is so of all that decides.
    pub(crate) fn so(&self, situation: &Situation) -> String {
        let conditions = self.cases.iter().flat_map(|case| &case.when);
        let features: BTreeSet<&Feature> = conditions.map(|condition| &condition.feature).collect();
        let is_so = features.into_iter().map(|feature| {
            let says = situation.says(feature).map(str::to_owned);
            Condition { feature: feature.clone(), says }.to_string()
        });
        let is_so: Vec<String> = is_so.collect();
        is_so.join(", ")
    }
}
