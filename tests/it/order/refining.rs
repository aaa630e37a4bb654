//! Types told apart further by what a field says.

use retape::contract::order::{Learned, Order, Refinement, Token, Witness, Word};

use super::{accepts, cases};
use crate::dice::Random;

/// A word from tags with spaces between them; behind a `=` stands what the field `why` says.
fn said(text: &str, number: usize) -> Word {
    let token = |part: &str| match part.split_once('=') {
        Some((tag, why)) => {
            let fields = vec![("why".to_owned(), format!("\"{why}\""))];
            Token { fields, ..Token::plain(tag) }
        }
        None => Token::plain(part),
    };
    let tokens = text.split_whitespace().map(token).collect();
    Word { tokens, witness: Witness(number as u32), ..Word::default() }
}

fn learned(words: &[Word]) -> Order {
    let refinement = Refinement::find(words, |_, _| true);
    let finer: Vec<Word> = words.iter().map(|word| refinement.word(word)).collect();
    let expression = Learned::from_words(&finer).expression();
    Order::new(refinement.guarded(expression)).unwrap()
}

/// What is learned if each word comes so often.
#[track_caller]
fn check(words: &[(&str, usize)], expected: &str) {
    let all = words.iter().flat_map(|(word, times)| std::iter::repeat_n(*word, *times));
    let words: Vec<Word> = all.enumerate().map(|(number, word)| said(word, number)).collect();

    assert_eq!(learned(&words).to_string(), expected);
}

#[test]
fn a_value_that_decides_what_follows_is_part_of_the_type() {
    check(
        &[("answer stop=end usage", 6), ("answer call stop=wait usage", 6), ("stop=fail error", 6)],
        "answer (stop[why=\"end\"] | call stop[why=\"wait\"]) usage | stop[why=\"fail\"] error",
    );
}

#[test]
fn a_part_that_is_there_or_not_is_part_of_the_type() {
    let words: Vec<Word> = (0..20)
        .map(|number| {
            let token = |part: &str, more: bool| Token {
                fields: vec![("more".to_owned(), more.to_string())],
                parts: vec![part.to_owned()],
                ..Token::plain("next")
            };
            let later = number % 4;
            let later = (1..=later).map(|it| token("added", it < later));
            let tokens = std::iter::once(token("data", number % 4 > 0)).chain(later);
            Word { tokens: tokens.collect(), witness: Witness(number), ..Word::default() }
        })
        .collect();

    let order = learned(&words);

    assert!(words.iter().all(|word| accepts(&order, word)), "{order}");
    for word in words.iter().filter(|word| word.tokens.len() > 2) {
        let mut swapped = word.clone();
        swapped.tokens.swap(0, 1);
        assert!(!accepts(&order, &swapped), "{order}");
        swapped.tokens.remove(1);
        assert!(!accepts(&order, &swapped), "the first is missing: {order}");
    }
}

#[test]
fn values_that_behave_alike_are_one_type() {
    check(
        &[
            ("a stop=end usage", 7),
            ("a stop=limit usage", 7),
            ("b stop=fail error", 7),
            ("b stop=late error", 7),
        ],
        "a stop[why=\"end\"|\"limit\"] usage | b stop[why=\"fail\"|\"late\"] error",
    );
}

#[test]
fn a_value_that_tells_nothing_is_not_part_of_the_type() {
    check(
        &[("a stop=end", 6), ("a stop=limit", 6), ("b stop=end", 6), ("b stop=limit", 6)],
        "(a | b) stop",
    );
}

#[test]
fn a_value_that_was_seen_once_is_no_type_of_its_own() {
    check(
        &[("a stop=end usage", 6), ("b stop=fail error", 6), ("b stop=rare error", 1)],
        "a stop[why=\"end\"] usage | b stop[why=\"fail\"|\"rare\"] error",
    );
}

#[test]
fn a_field_that_is_missing_once_tells_no_types() {
    check(
        &[("a stop=end usage", 6), ("b stop=fail error", 6), ("b stop error", 1)],
        "(a | b) stop (error | usage)",
    );
}

#[test]
fn whatever_was_learned_from_is_in_order() {
    for seed in 0..cases(300) {
        let mut random = Random(seed);
        let words: Vec<Word> = (0..2 + random.below(20))
            .map(|number| said(&random_word(&mut random), number))
            .collect();

        let order = learned(&words);

        let read: Order = order.to_string().parse().unwrap();
        for word in &words {
            assert!(accepts(&order, word) && accepts(&read, word), "{seed}: {order} {word:?}");
        }
    }
}

fn random_word(random: &mut Random) -> String {
    let token = |random: &mut Random| {
        let tag = ["a", "b", "c", "stop"][random.below(4)];
        match random.chance(60) {
            true => format!("{tag}={}", ["x", "y", "z"][random.below(3)]),
            false => tag.to_owned(),
        }
    };
    (0..random.below(6)).map(|_| token(random)).collect::<Vec<_>>().join(" ")
}
