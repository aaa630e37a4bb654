//! Slices by a key.

use std::collections::BTreeSet;

use retape::contract::order::{
    Coverage, Expression, Learned, Order, Slicing, Token, Witness, Word,
};

use super::agent;
use super::random::Random;
use super::{accepts, cases, order, word};

/// What the made-up server really does, step by step.
const SLICED: &str = "(per step_id ((hidden | reasoning)? assistant? tool_call tool_return))* \
                          (per step_id ((hidden | reasoning)? assistant))? \
                          stop_reason usage_statistics";

#[test]
fn events_of_one_value_are_a_word_of_their_own() {
    let order = order("(per id (a b?))* end");

    assert!(accepts(&order, &word("a:1 b:1 a:2 end")));
    assert!(accepts(&order, &word("a:1 a:2 end")));
    assert!(!accepts(&order, &word("a:1 b:2 end")));
    assert!(!accepts(&order, &word("a:1 a:1 end")));
    assert!(!accepts(&order, &word("a b end")));
}

#[test]
fn they_come_in_a_row_unless_the_order_says_otherwise() {
    let mixed = word("a:1 a:2 b:1 x b:2 end");

    assert!(!accepts(&order("(per id (a b))* x end"), &mixed));
    assert!(!accepts(&order("(per id (a b))* end"), &word("a:1 a:2 b:2 b:1 end")));
    assert!(accepts(&order("(per id & (a b))* x end"), &mixed));
    assert!(!accepts(&order("(per id & (a b))* x end"), &word("a:1 a:2 b:1 x end")));
}

#[test]
fn slices_among_each_other_are_over_when_anything_else_comes() {
    let order = order("(per id ~ (a b+))* x (per id ~ (a b))* end");

    assert!(accepts(&order, &word("a:1 a:2 b:1 b:2 b:1 x end")));
    assert!(accepts(&order, &word("a:1 b:1 x a:2 a:3 b:2 b:3 end")));
    assert!(!accepts(&order, &word("a:1 a:2 b:1 x b:2 end")), "one goes on");
    assert!(!accepts(&order, &word("a:1 a:2 b:1 b:2 x b:2 end")), "one was over and goes on");
    assert!(!accepts(&order, &word("a:1 a:2 b:1 x end")), "one is not over");
}

#[test]
fn what_ends_each_of_them_and_what_ends_all_may_be_said() {
    let each = order("(per id & (a b? c? ends (a | c)))+ end");

    assert!(accepts(&each, &word("a:1 a:2 b:1 c:1 end")));
    assert!(!accepts(&each, &word("a:1 a:2 b:1 end")), "one has lost its end");
    let all = order("start (per id (a b))* stop? ends stop");
    assert!(accepts(&all, &word("start a:1 b:1 stop")));
    assert!(!accepts(&all, &word("start a:1 b:1")), "no slice is the last");
}

#[test]
fn what_may_come_between_is_what_came() {
    let learned = |between: &str| {
        let words = (0..20).map(|number| {
            let (one, two) = (number * 2, number * 2 + 1);
            word(&format!("start a:{one} a:{two} {between} b:{two} b:{one} end"))
        });
        Learned::from_words(&words.collect::<Vec<_>>()).expression().to_string()
    };

    assert_eq!(learned(""), "start (per id ~ (a b))+ end");
    assert_eq!(learned("x"), "start (per id & (a b))+ x end");
}

#[test]
fn which_slice_is_meant_can_be_open_until_it_is_over() {
    let order = order("(per id & (a b))* (per id & (a c)) end");

    assert!(accepts(&order, &word("a:1 a:2 a:3 c:3 b:2 b:1 end")));
    assert!(!accepts(&order, &word("a:1 a:2 c:1 b:2 end")));
    assert!(!accepts(&order, &word("a:1 a:2 b:1 b:2 end")));
}

#[test]
fn a_slice_can_hold_slices() {
    let order = order("per id (start (per sub (x y))* stop)");
    let mut trace = word("start:1 x:1 y:1 x:1 y:1 stop:1");
    for (token, sub) in trace.tokens[1..5].iter_mut().zip(["1", "1", "2", "2"]) {
        token.keys.push(("sub".to_owned(), sub.to_owned()));
    }

    assert!(accepts(&order, &trace));
    trace.tokens.swap(2, 3);
    assert!(!accepts(&order, &trace));
}

#[test]
fn slices_within_slices_are_found() {
    let mut random = Random(11);
    let words: Vec<Word> = (0..40).map(|number| steps_in_parts(&mut random, number)).collect();

    let learned = Learned::from_words(&words);

    insta::assert_snapshot!(learned.expression(), @"(per step ~ (begin (per part_index ~ (open text close))+ end))+ over");
    let order = Order::new(learned.expression()).unwrap();
    let fresh: Vec<Word> = (40..80).map(|number| steps_in_parts(&mut random, number)).collect();
    assert!(fresh.iter().all(|word| accepts(&order, word)));
    for mut word in fresh {
        let part = word.tokens.iter().position(|token| token.tag == "close").unwrap();
        word.tokens.remove(part);
        assert!(!accepts(&order, &word), "{word:?}");
    }
}

/// Steps side by side, and the parts of each.
fn steps_in_parts(random: &mut Random, number: usize) -> Word {
    let mut steps: Vec<Vec<Token>> =
        (0..1 + random.below(3)).map(|step| step_in_parts(random, number, step)).collect();
    let mut tokens = Vec::new();
    while let Some(most) = steps.len().checked_sub(1) {
        let step = random.below(most + 1);
        tokens.push(steps[step].remove(0));
        steps.retain(|step| !step.is_empty());
    }
    tokens.push(Token::plain("over"));
    Word { tokens, witness: Witness(u32::try_from(number).unwrap()), ..Word::default() }
}

fn step_in_parts(random: &mut Random, number: usize, step: usize) -> Vec<Token> {
    let token = |tag: &str, part: Option<usize>| {
        let step = ("step".to_owned(), format!("\"step-{number}-{step}\""));
        let part = part.map(|part| ("part_index".to_owned(), part.to_string()));
        Token { keys: std::iter::once(step).chain(part).collect(), ..Token::plain(tag) }
    };
    let mut tokens = vec![token("begin", None)];
    let mut parts: Vec<usize> = vec![0; 1 + random.below(3)];
    while parts.iter().any(|at| *at < 3) {
        let part = random.below(parts.len());
        if let Some(tag) = ["open", "text", "close"].get(parts[part]) {
            tokens.push(token(tag, Some(part)));
            parts[part] += 1;
        }
    }
    tokens.push(token("end", None));
    tokens
}

#[test]
fn slices_are_found_by_themselves() {
    let words = agent::traces(&mut Random(3), 60);

    let learned = Learned::from_words(&words);

    let found = learned.expression();
    let truth: Expression = SLICED.parse().unwrap();
    insta::assert_snapshot!(found, @"(per step_id ((hidden | reasoning)? assistant? tool_call tool_return))* (per step_id ((hidden | reasoning)? assistant))? stop_reason usage_statistics");
    let same =
        |word: &Word| accepts(&order(&found.to_string()), word) == accepts(&order(SLICED), word);
    assert!(agent::traces(&mut Random(4), 200).iter().all(same), "{truth}");
}

#[test]
fn messages_that_are_interleaved_are_useless_flat_and_exact_per_message() {
    let mut random = Random(5);
    let words: Vec<Word> = (0..30).map(|number| interleaved(&mut random, number)).collect();

    let learned = Learned::from_words(&words);

    insta::assert_snapshot!(learned.expression(), @"RUN_STARTED (per id ~ (TEXT_START TEXT_CONTENT* TEXT_END))+ RUN_FINISHED");
}

/// Some messages at once, each with a beginning, content and an end.
fn interleaved(random: &mut Random, number: usize) -> Word {
    let mut left: Vec<Vec<String>> = (0..1 + random.below(4))
        .map(|message| {
            let mut tags = vec!["TEXT_START"];
            tags.extend(vec!["TEXT_CONTENT"; random.below(4)]);
            tags.push("TEXT_END");
            tags.into_iter().rev().map(|tag| format!("{tag}:{number}-{message}")).collect()
        })
        .collect();
    let mut parts = vec!["RUN_STARTED".to_owned()];
    while !left.is_empty() {
        let at = random.below(left.len());
        parts.extend(left[at].pop());
        left.retain(|tags| !tags.is_empty());
    }
    parts.push("RUN_FINISHED".to_owned());
    word(&parts.join(" "))
}

#[test]
fn a_key_that_tells_nothing_makes_no_slices() {
    let whole = ["a b c", "a c", "a b b c"];
    let words = |id: fn(usize, usize) -> usize| -> Vec<Word> {
        let keyed = |(number, text): (usize, &&str)| {
            let tags = text.split(' ').enumerate();
            let parts: Vec<String> =
                tags.map(|(at, tag)| format!("{tag}:{}", id(number, at))).collect();
            word(&parts.join(" "))
        };
        (0..4).flat_map(|_| whole.iter().enumerate().map(keyed)).collect()
    };

    assert_eq!(Slicing::find(&words(|number, _| number)), None, "the same in a whole word");
    assert_eq!(Slicing::find(&words(|number, at| number * 10 + at)), None, "another each time");
    assert_eq!(Slicing::find(&[]), None);
}

#[test]
fn what_was_learned_accepts_what_it_was_learned_from() {
    let mut random = Random(6);
    for _ in 0..cases(150) {
        let words: Vec<Word> = (0..1 + random.below(8)).map(|_| keyed(&mut random)).collect();

        let learned = Learned::from_words(&words);

        let order = Order::new(learned.expression()).unwrap();
        assert!(words.iter().all(|word| accepts(&order, word)), "{order} for {words:?}");
    }
}

fn keyed(random: &mut Random) -> Word {
    let part = |random: &mut Random| {
        let tag = ["a", "b", "c"][random.below(3)];
        if random.chance(70) { format!("{tag}:{}", random.below(3)) } else { tag.to_owned() }
    };
    let parts: Vec<String> = (0..random.below(8)).map(|_| part(random)).collect();
    word(&parts.join(" "))
}

#[test]
fn coverage_says_how_likely_the_next_recording_is_known() {
    for (recordings, apart) in [(8, 0.2), (20, 0.12), (40, 0.08)] {
        let (mut left_out, mut next) = (0.0, 0.0);
        for round in 0..8 {
            let mut random = Random(recordings as u64 * 100 + round);
            let words = agent::traces(&mut random, recordings);
            let slicing = Slicing::find(&words);
            let edges = |word: &Word| Slicing::edges(slicing.as_ref(), word);
            let known: BTreeSet<_> = words.iter().flat_map(edges).collect();
            let is_known = |word: &&Word| edges(word).is_subset(&known);
            left_out += Coverage::by_edges(&words).share() / 8.0;
            let fresh = agent::traces(&mut random, 40);
            next += fresh.iter().filter(is_known).count() as f64 / 320.0;
        }
        assert!((left_out - next).abs() < apart, "{recordings}: {left_out:.2} / {next:.2}");
    }
    let coverage = Coverage { accepted: 43, words: 50 };
    assert_eq!(coverage.to_string(), "order coverage 86 %, about 20 more recordings");
    assert_eq!(Coverage { accepted: 9, words: 9 }.to_string(), "order coverage 100 %");
}

#[test]
fn among_several_keys_the_one_that_explains_most_is_found() {
    let mut words = agent::traces(&mut Random(9), 40);
    for (number, word) in words.iter_mut().enumerate() {
        for (at, token) in word.tokens.iter_mut().enumerate() {
            token.keys.insert(0, ("run_id".to_owned(), format!("\"run-{number}\"")));
            token.keys.insert(0, ("id".to_owned(), format!("\"message-{number}-{at}\"")));
            token.keys.push(("seq_id".to_owned(), at.to_string()));
        }
    }

    let slicing = Slicing::find(&words).unwrap();

    assert_eq!(slicing.key, "step_id");
    assert_eq!(slicing.apart.len(), 1, "{slicing:?}");
}
