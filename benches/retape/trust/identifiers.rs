//! Which identifiers the format refuses that was learned from a few of the same generator.

use std::fmt::Write as _;

use retape::contract::shape::{Schema, Shape};
use serde_json::json;

use super::mint::GENERATORS;
use crate::dice::Random;

/// So many values a format is learned from.
const LEARNED_FROM: usize = 5;

/// Formats are learned so often.
const TIMES: usize = 20;

/// What is no identifier of any of the generators.
const OTHERS: [&str; 4] = ["", PROSE, "other-6f1c0a2f37a24fd9", "17"];

const PROSE: &str = "no such thing";

/// The table: for each generator, of so many further values how many are refused.
pub fn table(values: usize) -> String {
    let mut text = format!(
        "| {values} further values of | refused | learned from {LEARNED_FROM}, {TIMES} times | \
         of no identifiers accepted |\n|---|---|---|---|\n"
    );
    for (name, generate) in GENERATORS {
        let mut random = Random(5);
        let (mut refused, mut learned, mut accepted, mut others) = (0, Vec::new(), 0, 0);
        for _ in 0..TIMES {
            let few: Vec<String> = (0..LEARNED_FROM).map(|_| generate(&mut random)).collect();
            let schema = of(&few);
            let fits = |value: &str| schema.accepts(&json!({"id": value}).to_string()).is_empty();
            refused += (0..values / TIMES).filter(|_| !fits(&generate(&mut random))).count();
            if !fits(PROSE) {
                accepted += OTHERS.iter().filter(|other| fits(other)).count();
                others += OTHERS.len();
            }
            let shown = schema.to_string();
            let format = shown.trim().rsplit("id: ").next().unwrap_or_default().to_owned();
            let known =
                learned.iter_mut().find(|(known, _): &&mut (String, usize)| *known == format);
            match known {
                Some((_, times)) => *times += 1,
                None => learned.push((format, 1)),
            }
        }
        learned.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let shown = learned.iter().take(3).map(|(format, times)| format!("{times} × `{format}`"));
        let shown: Vec<String> = shown.collect();
        let shown = shown.join(", ").replace('|', "\\|");
        let _ = writeln!(text, "| {name} | {refused} | {shown} | {accepted}/{others} |");
    }
    text
}

fn of(values: &[String]) -> Schema {
    let mut shape = Shape::default();
    for (witness, value) in (0..).zip(values) {
        shape.learn(&json!({"id": value}).to_string(), witness).expect("it is JSON");
    }
    shape.finish()
}
