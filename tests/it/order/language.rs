//! Orders as text, and what they accept.

use proptest::prelude::*;
use retape::contract::order::{Event, Expression, Fields, Order};

use super::random::{self, Random};
use super::{cases, order};

/// How each text is written again.
#[track_caller]
fn check(text: &str, expected: &str) {
    let expression: Expression = text.parse().unwrap_or_else(|errors| panic!("{errors}"));

    assert_eq!(expression.to_string(), expected);
    assert_eq!(expected.parse(), Ok(expression));
}

#[track_caller]
fn accepted(order: &Order, trace: &str) -> bool {
    let trace: Vec<Event<'_>> = trace.split_whitespace().map(Event::plain).collect();
    order.accepts(&trace)
}

#[test]
fn of_many_errors_the_first_ones_are_told() {
    let errors = ") ".repeat(1_000).parse::<Order>().unwrap_err();

    assert!(errors.errors().len() < 50, "{}", errors.errors().len());
    assert_eq!(errors.errors()[0].span.start, 0);
}

#[test]
fn what_is_read_is_written_again() {
    check("a", "a");
    check("a  b\n c # and more\n[DONE]", "a b c [DONE]");
    check("a|b c|(d)", "a | b c | d");
    check("(a|b) c", "(a | b) c");
    check("a & b c | d", "a & b c | d");
    check("(a & (b | c)) d", "(a & (b | c)) d");
    check("(a)? b* (c d)+ e{2} f{2,} (g|h){2,5}", "a? b* (c d)+ e{2} f{2,} (g | h){2,5}");
    check("()", "()");
    check("a | ()", "a?");
    check("_ \"_\" \"per\" \"two words\" \"\\\"\"", "_ \"_\" \"per\" \"two words\" \"\\\"\"");
    check("a.b-c_d/e", "a.b-c_d/e");
    check("a[x.y=\"z\",n!=1, t=null]", "a[x.y=\"z\", n!=1, t=null]");
    check("(per step_id (a b?))* c", "(per step_id (a b?))* c");
    check("per id & (a) per \"b c\" (a|b)", "per id & (a) per \"b c\" (a | b)");
    check("per id~(a)", "per id ~ (a)");
    check("a[x=missing] a[x!=missing]", "a[x=missing] a[x!=missing]");
    check("a b? ends (a|b)", "a b? ends (a | b)");
    check("a | b c? ends (b|())", "(a | b c?) ends b?");
    check("per id (a+ b? ends b[x=1]) c \"ends\"", "per id (a+ b? ends b[x=1]) c \"ends\"");
}

#[test]
fn what_a_trace_ends_with_may_be_said() {
    let ends = order("(ask | tick+ cancelled?) stop? [DONE]? ends (cancelled | stop)");

    for whole in ["ask stop", "tick cancelled", "tick tick stop [DONE]", "tick cancelled [DONE]"] {
        assert!(accepted(&ends, whole), "{whole}");
    }
    for lost in ["", "ask", "tick tick", "ask [DONE]", "tick [DONE]", "tick stop cancelled"] {
        assert!(!accepted(&ends, lost), "{lost}");
    }
    let either = order("(a? b? c ends c) | (b? ends (b | ()))");
    assert!(accepted(&either, "") && accepted(&either, "a b c") && accepted(&either, "b"));
    assert!(!accepted(&order("a (b? c? ends c) d"), "a b d"));
}

#[test]
fn what_is_no_last_event_is_told() {
    for text in ["a b? ends", "a b? ends (a b)", "(a ends) b", "a ends per id (b)"] {
        let errors = text.parse::<Order>().unwrap_err();
        let told: Vec<&str> = errors.errors().iter().map(|error| error.what.as_str()).collect();
        assert_eq!(told, ["the last event is missing here"], "{text}");
    }
}

#[test]
fn signs_of_repetition_behind_one_another_are_one() {
    check("(a?)+", "a*");
    check("(a+)?", "a*");
    check("((a+)+)+", "a+");
    check("(a{2})+", "(a{2})+");
    check("a{1}", "a");
    check("(a?){2}", "(a?){2}");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = "start (a | | b]\n  c{5,2} *\n  d[x] per step_id e \"open";

    let errors = text.parse::<Order>().unwrap_err();

    insta::assert_snapshot!(errors, @r##"
    this group is not closed
      1 | start (a | | b]
        |       ^
    a tag or a group is missing here
      1 | start (a | | b]
        |            ^
      hint: `()` is no event at all, `_` is any event
    this means nothing in an order
      1 | start (a | | b]
        |               ^
      hint: a tag with other signs than letters, digits and `. - _ /` is quoted
    nothing can be repeated so often
      2 |   c{5,2} *
        |    ^^^^^
    there is nothing to repeat
      2 |   c{5,2} *
        |          ^
      hint: a repetition stands behind a tag or a group
    this is no guard
      3 |   d[x] per step_id e "open
        |     ^
      hint: write `[path="text"|"other"]` or `[path!=1, other=true]`, with a space before `[DONE]`
    a slice needs a group behind its key
      3 |   d[x] per step_id e "open
        |        ^^^^^^^^^^^^
      hint: write `per step_id (…)`; the tag `per` itself is quoted
    this is no quoted text
      3 |   d[x] per step_id e "open
        |                      ^^^^^
      hint: quotes and escapes are those of JSON
    "##);
}

#[test]
fn a_repeated_slice_has_to_say_what_it_repeats() {
    let errors = "per id (a b)*".parse::<Order>().unwrap_err();

    insta::assert_snapshot!(errors, @r##"
    this repeats the slice or what is in it
      1 | per id (a b)*
        |             ^
      hint: write `(per key (…))*` or `per key ((…)*)`
    "##);
}

#[test]
fn groups_in_groups_are_bounded() {
    let deep = "(".repeat(100_000);

    let errors = deep.parse::<Order>().unwrap_err();

    assert!(errors.to_string().contains("more than 64 groups stand in one another"));
    assert!(format!("{}a{}", "(".repeat(60), ")".repeat(60)).parse::<Order>().is_ok());
}

#[test]
fn an_order_with_too_many_states_is_refused() {
    assert!("((a{1000}){1000}){1000}".parse::<Order>().is_err());
    let letters = ('a'..='t').map(String::from).collect::<Vec<_>>().join(" & ");

    let errors = letters.parse::<Order>().unwrap_err();

    assert!(errors.to_string().starts_with("the order has too many states"));
}

#[test]
fn a_long_order_is_broken_into_lines() {
    let text = "(per step_id (reasoning_message+ assistant_message* (tool_call_message+ \
                tool_return_message | approval_request_message)?))* stop_reason \
                usage_statistics [DONE]";
    let expression: Expression = text.parse().unwrap();

    let lines = expression.lines(60);

    assert_eq!(lines.parse(), Ok(expression));
    insta::assert_snapshot!(lines, @r##"
    (per step_id (
      reasoning_message+ assistant_message*
      (
        tool_call_message+ tool_return_message
        | approval_request_message
      )?
    ))* stop_reason usage_statistics [DONE]
    "##);
}

#[test]
fn a_guard_looks_at_a_field() {
    let order = order("call[name=\"init\", n=1] call[name!=\"init\"]");
    let fields = |name: &'static str, n: &'static str| {
        move |path: &str| match path {
            "name" => Some(name.to_owned()),
            "n" => Some(n.to_owned()),
            _ => None,
        }
    };
    let (init, other) = (fields("\"init\"", "1.0"), fields("\"other\"", "2"));

    let run = |one: &dyn Fields, two: &dyn Fields| {
        order.accepts(&[Event::new("call", one), Event::new("call", two)])
    };

    assert!(run(&init, &other));
    assert!(!run(&init, &init));
    assert!(!run(&other, &other));
    assert!(order.accepts(&[Event::new("call", &init), Event::plain("call")]));
}

#[test]
fn a_guard_may_name_several_values() {
    let order = order("stop[why=\"end\"|\"limit\"] stop[why!=\"end\"|\"limit\"]");
    let why = |why: &'static str| move |_: &str| Some(why.to_owned());
    let (end, limit, error) = (why("\"end\""), why("\"limit\""), why("\"error\""));

    let run = |one: &dyn Fields, two: &dyn Fields| {
        order.accepts(&[Event::new("stop", one), Event::new("stop", two)])
    };

    assert!(run(&end, &error) && run(&limit, &error));
    assert!(!run(&end, &limit) && !run(&error, &error));
    assert_eq!(order.to_string(), "stop[why=\"end\"|\"limit\"] stop[why!=\"end\"|\"limit\"]");
}

#[test]
fn any_tag_and_interleaving() {
    let order = order("start (a b & c+) _");

    assert!(accepted(&order, "start a c b c end"));
    assert!(accepted(&order, "start c a b end"));
    assert!(!accepted(&order, "start b a c end"));
    assert!(!accepted(&order, "start a b end"));
}

#[test]
fn a_run_says_what_can_come_next() {
    let order = order("a (b | c)? d?");
    let mut run = order.run();

    run.push(&Event::plain("a"));
    let expected = run.expected();

    assert_eq!(format!("{expected:?}").matches("Event(").count(), 3);
    assert!(run.is_complete());
    assert!(!run.push(&Event::plain("a")));
    assert!(!run.is_possible() && !run.is_complete());
}

#[test]
fn automata_agree_with_the_definition() {
    let mut random = Random(7);
    let tags = ["a", "b", "c"].map(str::to_owned);
    let mut accepted = 0;
    for _ in 0..cases(400) {
        let expression = random::any(&mut random, 3);
        let order = Order::new(expression.clone()).unwrap();
        for _ in 0..8 {
            let word = random::word(&mut random, &tags, 7);
            let events: Vec<Event<'_>> = word.iter().map(|tag| Event::plain(tag)).collect();

            let meant = random::ends(&expression, &word, 0).contains(&word.len());

            assert_eq!(order.accepts(&events), meant, "{expression} on {word:?}");
            accepted += u64::from(meant);
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn what_is_built_reads_back() {
    let mut random = Random(1);
    for case in 0..cases(1_000) {
        let tags = random::tags(1 + case as usize % 9);
        let expressions = [random::sore(&mut random, &tags), random::any(&mut random, 4)];
        for expression in expressions {
            for text in [expression.to_string(), expression.lines(20), expression.lines(1)] {
                assert_eq!(text.parse().as_ref(), Ok(&expression), "{text}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,60}") {
        if let Err(errors) = text.parse::<Expression>() {
            prop_assert!(!errors.errors().is_empty());
            let _ = errors.to_string();
        }
    }

    #[test]
    fn no_text_of_its_own_signs_makes_it_panic_and_what_it_reads_it_writes(
        parts in proptest::collection::vec(
            r#"a|b|\(|\)|\[|\]|"|\||&|\?|\+|\{|\}|\{2,3\}|per |per id \(|_|\[DONE\]|=|!=|1|,|#|\\|\n| |é"#, 0..30,
        ),
    ) {
        let text = parts.concat();
        match text.parse::<Expression>() {
            Ok(expression) => {
                let again = expression.to_string();
                prop_assert_eq!(again.parse(), Ok(expression), "{}", again);
            }
            Err(errors) => prop_assert!(!errors.to_string().is_empty()),
        }
    }
}
