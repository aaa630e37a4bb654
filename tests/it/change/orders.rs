//! Changes in the order of messages.

use proptest::prelude::*;
use retape::contract::Contract;
use retape::contract::order::{Event, Gains, Order};
use retape::review::change::{Known, Report, Rule, Verdict, compare};
use retape::review::report::{Colour, Face, changes};

use super::recordings::{self, exchange};
use super::state::apart;
use super::{compared, stream, told};
use crate::order::{Random, any_order, sore_order};

#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(told(&compared(&stream(old), &stream(new))), expected);
}

fn trace(report: &Report) -> String {
    let change = report.changes.iter().find(|change| change.trace.is_some()).unwrap();
    change.trace.as_ref().unwrap().tags.join(" ")
}

#[test]
fn a_stream_that_may_end_early_says_after_what_and_without_what() {
    check(
        "thought* answer stop_reason usage_statistics",
        "thought* answer stop_reason usage_statistics?",
        &["breaking order-end-new: the stream ends after `stop_reason` with no `usage_statistics`"],
    );
    check(
        "thought* answer stop usage [DONE]",
        "thought* answer stop usage? [DONE]",
        &["breaking order-end-new: the stream ends after `stop` with no `usage`"],
    );
}

#[test]
fn the_shortest_new_trace_is_shown() {
    let old = stream("(thought+ call return)* answer stop usage");
    let new = stream("(thought+ call return)* answer stop? usage");

    assert_eq!(trace(&compared(&old, &new)), "answer usage");
}

#[test]
fn each_place_where_something_is_missing_is_a_change_of_its_own() {
    check(
        "a b c d",
        "a b? c? d",
        &[
            "breaking order-missing: `c` or `d` comes after `a` with no `b` between",
            "breaking order-missing: `d` comes after `b` with no `c` between",
        ],
    );
}

#[test]
fn a_new_type_of_message_is_one_change() {
    check(
        "a b* c",
        "a (b | x)* c",
        &["breaking tag-new: `x` is a new type of message, first after `a`"],
    );
}

#[test]
fn another_beginning_and_another_follower_are_told() {
    check("a b", "a b | b a", &["breaking order-swapped: `b` comes before `a`"]);
}

#[test]
fn messages_that_changed_places_are_one_change() {
    let old = "thought* answer question* stop usage done";
    check(
        old,
        "thought* answer question* usage stop done",
        &["breaking order-swapped: `usage` comes before `stop`"],
    );
    let report = compared(&stream(old), &stream("thought* answer question* usage stop done"));
    let change = report.changes[0].trace.as_ref().unwrap();
    assert_eq!(change.tags, ["answer", "usage", "stop", "done"]);
    assert_eq!((change.at, change.expected.as_slice()), (1, &["stop".to_owned()][..]));

    check("a b c d e", "a d b c e", &["breaking order-swapped: `d` comes before `b` and `c`"]);
    check("a b c d e", "a c d b e", &["breaking order-swapped: `b` comes after `c` and `d`"]);
    check("a b c", "a c b", &["breaking order-swapped: `c` comes before `b`"]);
    check(
        "a b x c d",
        "b a x d c",
        &[
            "breaking order-swapped: `b` comes before `a`",
            "breaking order-swapped: `d` comes before `c`",
        ],
    );
    check("(a b)+ c", "(b a)+ c", &["breaking order-swapped: `b` comes before `a`"]);
}

#[test]
fn what_changed_places_hides_nothing_else() {
    let swapped = "breaking order-swapped: `c` comes before `b`";
    check(
        "a b c d",
        "a c b x d",
        &[
            "breaking order-next-new: `c` comes after `a`, where `b` was promised",
            "breaking tag-new: `x` is a new type of message, first after `b`",
            "trim order-next-gone: allowed, and shown by no recording: `c` after `b`, `d` after `c`",
        ],
    );
    check("a b c? d", "a c b d", &[swapped]);
    check(
        "a b c d",
        "a c b d | a d",
        &["breaking order-missing: `d` comes after `a` with no `b` between", swapped],
    );
    check(
        "a b c d",
        "a (c b)? b c d",
        &[
            "breaking order-next-new: `c` comes after `a`, where `b` was promised",
            "breaking order-next-new: `b` comes after `b`, where `c` was promised",
        ],
    );
}

#[test]
fn what_is_not_seen_any_more_is_no_break() {
    check(
        "a b? c",
        "a b c",
        &["trim order-next-gone: allowed, and shown by no recording: `c` after `a`"],
    );
    check("a b? c", "a c", &["trim tag-gone: `b` messages are not seen any more"]);
}

#[test]
fn a_type_that_is_gone_is_told_once_however_many_lack_it() {
    check("a b c | d b c", "a c | d c", &["breaking tag-gone: `b` messages are not seen any more"]);
    check(
        "a b c",
        "a c",
        &[
            "breaking order-missing: `c` comes after `a` with no `b` between",
            "trim tag-gone: `b` messages are not seen any more",
        ],
    );
}

#[test]
fn another_way_to_write_an_order_is_no_change() {
    for (one, other) in [
        ("a (b | c) d", "a b d | a c d"),
        ("a+", "a a*"),
        ("(a b)*", "((a b)+)?"),
        ("a & b", "a b | b a"),
        ("a{1,2}", "a a?"),
        ("(per id (a b))+", "per id (a b) (per id (a b))*"),
    ] {
        check(one, other, &[]);
        check(other, one, &[]);
    }
}

#[test]
fn slices_are_compared_inside() {
    let report = compared(&stream("(per id (a b c))+"), &stream("(per id (a b? c))+"));
    let change = &report.changes[0];

    assert_eq!((change.rule, change.verdict), (Rule::OrderMissing, Verdict::Breaking));
    assert_eq!(trace(&report), "a c");
    check("(per id & (a b))+", "(per id ~ (a b))+", &[]);
    check("(per id ~ (a b))+", "(per id (a b))+", &[]);
}

#[test]
fn what_begins_or_ends_in_a_slice_is_not_said_of_the_stream() {
    for (new, what) in [
        ("a b?", "order-end-new: what belongs to one `id` ends after `a` with no `b`"),
        (
            "a? b",
            "order-missing: `b` comes at the beginning of what belongs to one `id` with no `a` between",
        ),
        (
            "b a b",
            "order-start-new: what belongs to one `id` begins with `b`, where `a` was promised",
        ),
    ] {
        let new = format!("(per id ({new}))+");
        check("(per id (a b))+", &new, &[&format!("breaking {what}")]);
    }
}

#[test]
fn other_slices_are_unproven() {
    let report = compared(&stream("(per id (a b))+"), &stream("(per step (a b))+"));

    assert!(report.fails());
}

#[test]
fn cases_are_compared_with_those_of_the_same_requests() {
    let contract = |one: &str, other: &str| {
        format!(
            "POST /x -> 200 text/event-stream\n  orders\n    when stream=false\n      {one}\n    \
             when stream=true\n      {other}\n"
        )
    };

    let report = compared(&contract("a b", "a+ b"), &contract("a b", "a+ b?"));

    assert_eq!(told(&report), ["breaking order-end-new: the stream ends after `a` with no `b`"]);
    assert_eq!(report.changes[0].place.cases, ["stream=true"]);
    let report = compared(&contract("a b", "a+ b"), &contract("a b?", "a+ b?"));
    assert_eq!(told(&report), ["breaking order-end-new: the stream ends after `a` with no `b`"]);
    assert_eq!(report.changes[0].place.cases, ["stream=false", "stream=true"]);
    let otherwise = |one: &str, other: &str| {
        format!(
            "POST /x -> 200 text/event-stream\n  orders\n    when stream=false\n      {one}\n    \
             otherwise\n      {other}\n"
        )
    };
    let all = compared(&otherwise("a b", "a+ b"), &otherwise("a b?", "a+ b?"));
    assert_eq!(told(&all), ["breaking order-end-new: the stream ends after `a` with no `b`"]);
    assert_eq!(all.changes[0].place.cases, ["", "stream=false"]);
    let text = changes(&all, Face::Text, Colour::Plain);
    assert!(text.contains("for requests of which stream=false, and for all others"), "{text}");
    // What became a case of its own is still seen there.
    let split = told(&compared(&stream("a b | c b"), &otherwise("c b", "a b")));
    assert!(split.iter().all(|change| !change.contains("not seen any more")), "{split:?}");
    // An approval of one case is none of another.
    let one = compared(&contract("a b", "a+ b"), &contract("a b?", "a+ b"));
    assert_ne!(one.changes[0].fingerprint, report.changes[0].fingerprint);
    // A request that decided nothing may be any of those that do now.
    assert!(compared(&contract("a b", "a+ b"), &stream("a+ b")).fails());
    assert!(!compared(&stream("a+ b"), &contract("a b", "a+ b")).fails());
}

#[test]
fn fields_that_an_order_asks_for_are_compared() {
    check("a stop[why=\"end\"|\"error\"] b", "a stop[why=\"end\"] b", &[]);
    let report =
        compared(&stream("a stop[why=\"end\"] b"), &stream("a stop[why=\"end\"|\"error\"] b"));
    assert!(report.fails());
    let report = compared(&stream("a stop[why=\"end\"] b"), &stream("a stop b"));
    assert!(report.fails());
}

/// Words over the tags of an order.
fn words(random: &mut Random) -> Vec<Vec<&'static str>> {
    let word = |random: &mut Random| {
        (0..random.below(7)).map(|_| ["a", "b", "c", "t0", "t1", "t2"][random.below(6)]).collect()
    };
    (0..60).map(|_| word(random)).collect()
}

fn accepts(order: &Order, word: &[&str]) -> bool {
    order.accepts(&word.iter().map(|tag| Event::plain(tag)).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn an_order_that_allows_more_is_never_called_compatible(seed in any::<u64>()) {
        let mut random = Random(seed);
        let (old, new) = match random.chance(50) {
            true => (any_order(&mut random), any_order(&mut random)),
            false => (sore_order(&mut random), sore_order(&mut random)),
        };
        let report = compared(&stream(&old.to_string()), &stream(&new.to_string()));
        for word in words(&mut random) {
            let is_new = accepts(&new, &word) && !accepts(&old, &word);
            prop_assert!(!is_new || report.fails(), "{:?}\n{}\n{}", word, old, new);
        }
        // Orders without slices and fields are always decided.
        let gains = old.gains(&new);
        prop_assert_ne!(&gains, &Gains::Unknown, "{}\n{}", old, new);
        prop_assert_eq!(report.fails(), gains != Gains::Nothing, "{}\n{}", old, new);
        prop_assert!(!report.fails() || report.count(Verdict::Breaking) > 0);
        prop_assert!(report.of(Verdict::Breaking).all(|change| !change.why.is_empty()));
    }

    #[test]
    fn what_follows_newly_is_named(seed in any::<u64>()) {
        let mut random = Random(seed);
        // What may stand beside what is not known exactly where an order says what it ends with.
        let mut plain = || loop {
            let order = any_order(&mut random);
            if !order.to_string().contains(" ends ") {
                break order;
            }
        };
        let (old, new) = (plain(), plain());
        let report = compared(&stream(&old.to_string()), &stream(&new.to_string()));
        let failing: Vec<&str> =
            report.of(Verdict::Breaking).map(|change| change.what.as_str()).collect();
        let before = old.neighbours();
        for (from, to) in new.neighbours().difference(&before) {
            let names: Vec<String> =
                from.iter().chain(to).map(|tag| format!("`{tag}`")).collect();
            if names.is_empty() {
                // An empty stream has no names.
                continue;
            }
            let is_named = failing.iter().any(|what| names.iter().any(|name| what.contains(name)));
            // What stood between them is gone everywhere.
            let is_gone = before.iter().any(|(left, right)| {
                let between = right.as_ref().filter(|_| left == from);
                let between = between.or_else(|| left.as_ref().filter(|_| right == to));
                let gone = between.map(|tag| format!("`{tag}` messages are not seen any more"));
                gone.is_some_and(|gone| failing.contains(&&*gone))
            });
            prop_assert!(is_named || is_gone, "{:?}\n{}\n{}\n{:?}", (from, to), old, new, failing);
        }
    }
}

#[test]
fn what_an_accepted_order_allows_and_nothing_shows_is_told() {
    let said = |tags: [&str; 3]| {
        let messages = tags.map(|tag| format!(r#"{{"type":"{tag}"}}"#));
        let messages = messages.each_ref().map(String::as_str);
        let one = |_| exchange("/x", r#"{"text":"hello"}"#, 200, &messages);
        apart("talk", (0..6).map(one))
    };
    let accepted = [stream("(a | b)* end").parse::<Contract>().unwrap()];
    let (old, new) = (said(["a", "b", "end"]), said(["b", "a", "end"]));
    let known = |name, cassettes| Known { name, path: "c", cassettes, accepted: &accepted };

    let told = told(&compare(known("old", &old), known("new", &new)));

    let what = [
        "order-next-new: `end` comes after `a`",
        "order-next-new: `a` comes after `b`",
        "order-start-new: the stream begins with `b`",
    ];
    assert_eq!(told, what.map(|what| format!("breaking {what}, as in no recording before")));
}

#[test]
fn pieces_of_a_message_stay_together_when_a_second_passes() {
    let said = |passes: bool| {
        let message = |tag: &str, id: &str, second: usize, said: &str| {
            format!(
                r#"{{"message_type":"{tag}","id":"message-{id}","date":"2026-11-21T09:00:0{second}Z","content":"{said}"}}"#
            )
        };
        let one = |number: usize| {
            let later = if passes { 6 } else { 5 };
            let messages = [
                message("reasoning_message", &format!("a1b{number}c3d4e5"), 5, "so"),
                message("reasoning_message", &format!("a1b{number}c3d4e5"), 5, "be it"),
                message("assistant_message", &format!("f6a{number}b7c8d9"), 5, "I"),
                message("assistant_message", &format!("f6a{number}b7c8d9"), later, "will"),
                message("stop_reason", &format!("0e1{number}f2a3b4"), later, "end"),
            ];
            let messages = messages.each_ref().map(String::as_str);
            exchange("/talk", &format!(r#"{{"text":"hello {number}"}}"#), 200, &messages)
        };
        apart("talk", (0..8).map(one))
    };

    for passes in [false, true] {
        let now = recordings::compared(&said(!passes), &said(passes));
        assert_eq!(told(&now), [""; 0]);
    }
}
