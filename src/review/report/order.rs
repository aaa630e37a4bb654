//! A trace beside the order that it leaves.

use std::collections::BTreeSet;

use super::line::{pad, visible};
use crate::contract::order::{Deviation, Event, Explanation, Fault, Next, Step};

/// How wide the tags stand before what is said of them.
const WIDTH: usize = 34;

/// Says what is not in order, each thing once, and shows the trace event by event: what is missing begins
/// with `-`, what has no place with `+`. Of equal events in a row only the first and how many they are is
/// shown.
pub fn out_of_order(explanation: &Explanation, trace: &[Event<'_>]) -> String {
    let mut sentences: Vec<String> = explanation.sentences().collect();
    let mut seen = BTreeSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    let mut lines = OrderLines::default();
    for step in &explanation.steps {
        match step {
            Step::Matched(at) => lines.put(' ', tag(trace, *at), ""),
            Step::Deviation(deviation) => lines.deviation(deviation, trace),
        }
    }
    lines.flush();
    let rest = if explanation.examined < trace.len() { "  …\n" } else { "" };
    format!("{}\n\n{}{rest}", visible_lines(&sentences), lines.text)
}

fn visible_lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| visible(sentence)).collect::<Vec<_>>().join("\n")
}

#[derive(Default)]
struct OrderLines {
    text: String,
    /// Equal lines in a row that are not written yet: sign, tag, what is said of it, and how many.
    row: Option<(char, String, &'static str, usize)>,
}

impl OrderLines {
    fn deviation(&mut self, deviation: &Deviation, trace: &[Event<'_>]) {
        let missing = deviation.expected.first();
        if let (Fault::Missing | Fault::Wrong, Some(Next::Event(pattern))) =
            (deviation.fault, missing)
        {
            self.put('-', &pattern.to_string(), "expected");
        }
        let told = match deviation.fault {
            Fault::Missing => return,
            Fault::Unexpected => "not expected",
            Fault::Wrong => "came instead",
            Fault::Apart => "its slice was over",
        };
        self.put('+', tag(trace, deviation.at), told);
    }

    fn put(&mut self, sign: char, tag: &str, told: &'static str) {
        match &mut self.row {
            Some((same, as_before, _, times)) if *same == sign && as_before == tag => *times += 1,
            _ => {
                self.flush();
                self.row = Some((sign, tag.to_owned(), told, 1));
            }
        }
    }

    fn flush(&mut self) {
        let Some((sign, tag, told, times)) = self.row.take() else { return };
        let times = if times > 1 { format!(" ×{times}") } else { String::new() };
        let line = format!("{sign} {}  {told}", pad(&format!("{}{times}", visible(&tag)), WIDTH));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

fn tag<'a>(trace: &[Event<'a>], at: usize) -> &'a str {
    trace.get(at).map_or("the end", |event| event.tag)
}
