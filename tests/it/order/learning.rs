//! Edges and the expressions for them.

use retape::contract::order::{Edges, Letter, Place, Style, Witness};

fn edges(words: &[&str]) -> Edges {
    let mut edges = Edges::default();
    for (number, word) in words.iter().enumerate() {
        let letters = word.split_whitespace().map(|tag| match tag.strip_suffix('+') {
            Some(tag) => Letter { tag, run: true },
            None => Letter { tag, run: false },
        });
        edges.add(letters, Witness(number as u32));
    }
    edges
}

#[track_caller]
fn check(words: &[&str], once: &str, chain: &str) {
    let edges = edges(words);

    assert_eq!(edges.expression(Style::Once).to_string(), once);
    assert_eq!(edges.expression(Style::Chain).to_string(), chain);
}

#[test]
fn expressions_for_a_few_words() {
    check(&["a b c"], "a b c", "a b c");
    check(&["a c", "a b c"], "a b? c", "a b? c");
    check(&["a", "b"], "a | b", "a | b");
    check(&["a b a b c"], "(a b)+ c", "(a | b)+ c");
    check(&["", "a"], "a?", "a?");
    check(&[""], "()", "()");
    check(&["x+ y", "x y"], "x+ y", "x+ y");
    check(&["x+ x y"], "x+ y", "x+ y");
}

#[test]
fn what_no_word_ended_with_ends_none() {
    let words = ["ask stop", "tick+ stop", "tick+ cancelled", "tick+ cancelled"];
    check(
        &words,
        "(ask | tick+ cancelled?) stop? ends (cancelled | stop)",
        "tick* cancelled? ask? stop? ends (cancelled | stop)",
    );
    // Each of these may be the last.
    check(&["a b", "a"], "a b?", "a b?");
}

#[test]
fn an_edge_knows_how_often_and_where_it_was_seen() {
    let edges = edges(&["a b", "a b", "a c"]);

    let seen = edges.seen(Place::Tag("a"), Place::Tag("c")).unwrap();

    assert_eq!((seen.times, seen.witness), (1, Witness(2)));
    assert_eq!(edges.times(Place::Tag("a")), 3);
    assert_eq!(edges.words(), 3);
    assert!(edges.accepts(["a", "c"]) && !edges.accepts(["a"]));
}
