//! How often a rule is tried in what may be one secret.

use super::judged::end_of_base64;
use super::{LONGEST, Look, RuleKind, is_of_token};

/// A run of letters and signs of tokens, and how often a rule found nothing in it.
///
/// A key may begin at any word of a rule. Where one repeats, each try would go to the end of the run.
#[derive(Default)]
pub(super) struct Run {
    end: usize,
    failed: Vec<(&'static str, usize)>,
    /// Up to here Base64 was decoded: what stands in it is not decoded again.
    decoded: usize,
}

/// So often a rule is tried in a run.
const TRIES: usize = 64;

impl Run {
    pub(super) fn may_try(&mut self, rule: &Look, text: &[u8], at: usize) -> bool {
        if rule.kind == RuleKind::Packed {
            let is_new = at >= self.decoded;
            self.decoded = if is_new { at + end_of_base64(&text[at..]) } else { self.decoded };
            return is_new;
        }
        if at >= self.end {
            let rest = &text[at..text.len().min(at + LONGEST)];
            let ends = |byte: &u8| *byte == b' ' || !is_of_token(*byte);
            self.end = at + rest.iter().position(ends).unwrap_or(rest.len()).max(1);
            self.failed.clear();
        }
        self.failed.iter().all(|(id, count)| *id != rule.expression || *count < TRIES)
    }

    pub(super) fn failed(&mut self, rule: &'static Look) {
        match self.failed.iter_mut().find(|(id, _)| *id == rule.expression) {
            Some((_, count)) => *count += 1,
            None => self.failed.push((rule.expression, 1)),
        }
    }
}
