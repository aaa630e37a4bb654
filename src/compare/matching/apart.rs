//! How far two requests are apart by what counts.

use super::Index;
use super::counterfactual::Counterfactual;
use crate::cassette::Request;
use crate::compare::diff::{self, Difference, Differences, Mask, Sort, Value};
use crate::text::json::{Text, Token};

/// What another value costs.
const CHANGED: usize = 2;
/// What a value costs that only one of them has: with it goes its name.
const MISSING: usize = 3;

/// To find out whether a difference counts takes reading the body again: so many bytes are read, and
/// beyond them all differences count.
const READ: usize = 256 * 1024;

/// The differences that count, each by how many values it holds.
pub(super) fn apart(index: &Index, asked: &Request, recorded: &Request, mask: Mask<'_>) -> usize {
    let test = Counterfactual::new(index, asked, recorded);
    let Differences { listed, more, .. } =
        diff::requests(recorded, asked, &|name| test.header(name), mask);
    let tested = READ / asked.body.len().max(1);
    let counting = listed.iter().enumerate().filter(|(at, it)| *at >= tested || test.counts(it));
    counting.map(|(_, difference)| weight(difference)).sum::<usize>() + more * CHANGED
}

fn weight(difference: &Difference) -> usize {
    match (&difference.recorded, &difference.asked) {
        _ if difference.sort == Sort::Reordered => CHANGED,
        (Some(recorded), Some(asked)) => match values(recorded).max(values(asked)) {
            1 => CHANGED,
            several => several * MISSING,
        },
        (Some(only), None) | (None, Some(only)) => values(only) * MISSING,
        (None, None) => 0,
    }
}

/// How many values a value holds.
fn values(value: &Value) -> usize {
    let Value::Json(spelled) = value else { return 1 };
    let Some(json) = Text::parse_container(spelled.as_bytes()) else { return 1 };
    let mut tokens = json.tokens().peekable();
    let mut count = 0;
    while let Some(token) = tokens.next() {
        count += usize::from(match token {
            Token::String(_) => tokens.peek() != Some(&Token::Colon),
            Token::Scalar(_) => true,
            _ => false,
        });
    }
    count.max(1)
}
