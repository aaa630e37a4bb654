//! Edges and the expressions for them.

use retape::contract::order::{Edges, Letter};

fn edges(words: &[&str]) -> Edges {
    let mut edges = Edges::default();
    for word in words {
        let letters = word.split_whitespace().map(|tag| match tag.strip_suffix('+') {
            Some(tag) => Letter { tag, run: true },
            None => Letter { tag, run: false },
        });
        edges.add(letters);
    }
    edges
}

#[track_caller]
fn check(words: &[&str], expected: &str) {
    assert_eq!(edges(words).expression().to_string(), expected);
}

#[test]
fn expressions_for_a_few_words() {
    check(&["a b c"], "a b c");
    check(&["a c", "a b c"], "a b? c");
    check(&["a", "b"], "a | b");
    check(&["a b a b c"], "(a b)+ c");
    check(&["", "a"], "a?");
    check(&[""], "()");
    check(&["x+ y", "x y"], "x+ y");
    check(&["x+ x y"], "x+ y");
}

#[test]
fn what_no_word_ended_with_ends_none() {
    let words = ["ask stop", "tick+ stop", "tick+ cancelled", "tick+ cancelled"];
    check(&words, "(ask | tick+ cancelled?) stop? ends (cancelled | stop)");
    // Each of these may be the last.
    check(&["a b", "a"], "a b?");
}
