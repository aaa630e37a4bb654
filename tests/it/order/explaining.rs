//! What is said of a trace that is not in order.

use retape::contract::order::{Event, Explanation, Fault, Order, Step};

use super::random::{self, Random};
use super::{cases, order, word};

#[track_caller]
fn check(text: &str, trace: &str, expected: &str) {
    let (order, word) = (order(text), word(trace));

    let explanation = order.explain(&word.events());

    assert_eq!(explanation.to_string(), expected);
    assert_eq!(explanation.is_match(), order.accepts(&word.events()));
}

#[test]
fn each_deviation_is_a_sentence() {
    check("a b c", "a b c", "");
    check("a b c", "a b", "expected `c` after `b`, got the end of the stream");
    check("a b c", "a c", "expected `b` after `a`, got `c`");
    check("a b c", "b c", "expected `a` at the beginning, got `b`");
    check("a b c", "a x b c", "expected `b` after `a`, got `x`");
    check("a b c", "a x c", "expected `b` after `a`, got `x`");
    check("a b", "a b b", "expected the end of the stream after `b`, got `b`");
    check("a (b | c | d)", "a", "expected `b`, `c` or `d` after `a`, got the end of the stream");
    check(
        "a b c d",
        "a c",
        "expected `b` after `a`, got `c`\nexpected `d` after `c`, got the end of the stream",
    );
    check("()", "a", "expected the end of the stream at the beginning, got `a`");
    check("a[n=1]", "a", "expected `a[n=1]` at the beginning, got `a` with other fields");
}

#[test]
fn a_deviation_in_a_slice_names_the_slice() {
    check(
        "(per id (a b))* end",
        "a:1 b:1 a:2 end",
        "expected `b` after `a` in id \"2\", got `end`",
    );
    check("(per id (a b))* end", "a:1 x:1 end", "expected `b` after `a` in id \"1\", got `x`");
    check(
        "(per id (a b*))* end",
        "a:1 b:1 a:2 b:1 end",
        "`b` of id \"1\" came when that was over; `per id & (…)` lets other events come between",
    );
    check(
        "(per id ~ (a b*))* x end",
        "a:1 a:2 b:1 x b:2 end",
        "`b` of id \"2\" came when that was over; `per id & (…)` lets other events come between",
    );
    check("(per id ~ (a b))* x", "a:1 a:2 b:1 x", "expected `b` after `a` in id \"2\", got `x`");
    check("(per id (a b))+ end", "end", "expected `a` at the beginning, got `end`");
}

#[test]
fn a_trace_is_in_order_exactly_if_nothing_deviates() {
    let mut random = Random(21);
    let tags = ["a", "b", "c"].map(str::to_owned);
    for _ in 0..cases(300) {
        let order = Order::new(random::any(&mut random, 3)).unwrap();
        for _ in 0..4 {
            let tags = random::word(&mut random, &tags, 7);
            let events: Vec<Event<'_>> = tags.iter().map(|tag| Event::plain(tag)).collect();

            let explanation = order.explain(&events);

            assert_eq!(explanation.is_match(), order.accepts(&events), "{order} {tags:?}");
            assert_eq!(places(&explanation), (0..tags.len()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn so_it_is_with_slices() {
    let mut random = Random(22);
    let orders = [
        "(per id (a b?))* c",
        "(per id & (a b?))* c*",
        "(per id ~ (a b?))* c*",
        "(per id ~ (a+ b?) | c)*",
        "(per id & (a b))* (per id & (a c)) b?",
        "(per id (a+) | per id (b c*))* a?",
        "(per id & (a b) & c*) (per id (a))?",
    ];
    let (orders, mut accepted) = (orders.map(order), 0);
    for case in 0..cases(1_500) {
        let order = &orders[case as usize % orders.len()];
        let part = |random: &mut Random| {
            let tag = ["a", "b", "c"][random.below(3)];
            if random.chance(75) { format!("{tag}:{}", random.below(3)) } else { tag.to_owned() }
        };
        let parts: Vec<String> = (0..random.below(6)).map(|_| part(&mut random)).collect();
        let word = word(&parts.join(" "));

        let explanation = order.explain(&word.events());

        assert_eq!(explanation.is_match(), order.accepts(&word.events()), "{order} {parts:?}");
        assert_eq!(places(&explanation), (0..parts.len()).collect::<Vec<_>>(), "{order} {parts:?}");
        accepted += u64::from(explanation.is_match());
    }
    assert!(accepted > 50, "{accepted}");
}

/// The events that the steps are about: each of them once.
fn places(explanation: &Explanation) -> Vec<usize> {
    let place = |step: &Step| match step {
        Step::Matched(at) => Some(*at),
        Step::Deviation(deviation) if deviation.fault != Fault::Missing => Some(deviation.at),
        _ => None,
    };
    let mut places: Vec<usize> = explanation.steps.iter().filter_map(place).collect();
    places.sort_unstable();
    places
}

#[test]
fn a_long_trace_is_explained_soon() {
    let order = order("(a b & c d & e f & (g | h)*)+ end");
    let tags = ["a", "x", "b", "c", "y", "e", "d", "f", "z"];
    let events: Vec<Event<'_>> =
        tags.iter().cycle().take(3_000).map(|tag| Event::plain(tag)).collect();

    let explanation = order.explain(&events);

    let text = explanation.to_string();
    assert!(text.lines().next().unwrap().ends_with("after `a`, got `x`"), "{text}");
}
