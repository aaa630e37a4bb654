//! A made-up agent server, and how well what is learned from few of its recordings does.

use retape::contract::order::{Learned, Order, Token, Witness, Word};

use crate::dice::Random;

/// What the server really does.
pub const FLAT: &str = "((hidden | reasoning)? assistant? tool_call tool_return)* \
                        ((hidden | reasoning)? assistant)? stop_reason usage_statistics";
const TAGS: [&str; 7] = [
    "hidden",
    "reasoning",
    "assistant",
    "tool_call",
    "tool_return",
    "stop_reason",
    "usage_statistics",
];

/// A trace of the server.
pub fn trace(random: &mut Random) -> Word {
    let mut word = Word { witness: Witness(random.below(1 << 20) as u32), ..Word::default() };
    let mut steps = 0;
    while steps < 6 && random.chance(62) {
        step(random, &mut word, steps, &["tool_call", "tool_return"], 30);
        steps += 1;
    }
    if random.chance(80) {
        step(random, &mut word, steps, &[], 100);
    }
    word.tokens.extend(["stop_reason", "usage_statistics"].map(Token::plain));
    word
}

fn step(random: &mut Random, word: &mut Word, number: usize, rest: &[&str], speaks: usize) {
    let mut tags = Vec::new();
    match random.below(10) {
        0..=4 => tags.push("reasoning"),
        5..=6 => tags.push("hidden"),
        _ => {}
    }
    if random.chance(speaks) {
        tags.push("assistant");
    }
    tags.extend(rest);
    // No identifier is used twice, in one trace or in two.
    let id = format!("\"step-{}-{number}\"", word.witness.0);
    let keys = vec![("step_id".to_owned(), id)];
    word.tokens
        .extend(tags.into_iter().map(|tag| Token { keys: keys.clone(), ..Token::plain(tag) }));
}

pub fn traces(random: &mut Random, count: usize) -> Vec<Word> {
    (0..count).map(|_| trace(random)).collect()
}

/// A trace with one event dropped, doubled, swapped, put in or of another type, that the server
/// never sends.
pub fn mutant(random: &mut Random, truth: &Order) -> Word {
    loop {
        let mut word = trace(random);
        let at = random.below(word.tokens.len());
        let tag = TAGS[random.below(TAGS.len())].to_owned();
        let token = word.tokens[at].clone();
        match random.below(5) {
            0 => drop(word.tokens.remove(at)),
            1 => word.tokens.insert(at, token),
            2 if at > 0 => word.tokens.swap(at - 1, at),
            3 => word.tokens.insert(at, Token { tag, ..token }),
            _ => word.tokens[at].tag = tag,
        }
        if !truth.accepts(&word.events()) {
            return word;
        }
    }
}

/// Decides whether a word is accepted.
type Judge = Box<dyn Fn(&Word) -> bool>;

/// What was learned from the same words.
struct Lesson {
    literally: Vec<Vec<String>>,
    flat: Learned,
    sliced: Learned,
}

type Learner = fn(&Lesson) -> Judge;

impl Lesson {
    fn of(words: &[Word]) -> Self {
        let mut flat = Learned::with(None);
        words.iter().for_each(|word| flat.add(word));
        let literally = words.iter().map(tags).collect();
        Self { literally, flat, sliced: Learned::from_words(words) }
    }
}

fn tags(word: &Word) -> Vec<String> {
    word.tokens.iter().map(|token| token.tag.clone()).collect()
}

fn by_order(learned: &Learned) -> Judge {
    let order = Order::new(learned.expression()).expect("few tags");
    Box::new(move |word| order.accepts(&word.events()))
}

const LEARNERS: [(&str, Learner); 3] = [
    ("literal list", |lesson| {
        let known = lesson.literally.clone();
        Box::new(move |word| known.contains(&tags(word)))
    }),
    ("flat", |lesson| by_order(&lesson.flat)),
    ("per step", |lesson| by_order(&lesson.sliced)),
];

/// One line of the table: the share of further traces accepted, and of mutants rejected.
pub struct Row {
    pub recordings: usize,
    pub learner: &'static str,
    pub accepted: f64,
    pub rejected: f64,
}

/// What each learner makes of so many recordings, on average over `rounds`.
pub fn table(rounds: usize, each: usize) -> Vec<Row> {
    let truth = FLAT.parse().expect("the server's order");
    let mut rows = Vec::new();
    for recordings in [5, 20, 40] {
        let mut sums = [(0, 0, 0, 0); LEARNERS.len()];
        for round in 0..rounds {
            let mut random = Random((recordings * 1_000 + round) as u64);
            let lesson = Lesson::of(&traces(&mut random, recordings));
            let fresh = traces(&mut random, each);
            let mutants: Vec<Word> = (0..each).map(|_| mutant(&mut random, &truth)).collect();
            for ((_, learn), sum) in LEARNERS.iter().zip(&mut sums) {
                let judge = learn(&lesson);
                sum.0 += fresh.iter().filter(|word| judge(word)).count();
                sum.1 += fresh.len();
                sum.2 += mutants.iter().filter(|word| !judge(word)).count();
                sum.3 += mutants.len();
            }
        }
        rows.extend(LEARNERS.iter().zip(sums).map(|((learner, _), sum)| Row {
            recordings,
            learner,
            accepted: sum.0 as f64 / sum.1 as f64,
            rejected: sum.2 as f64 / sum.3 as f64,
        }));
    }
    rows
}

/// The table as Markdown.
pub fn printed(rows: &[Row]) -> String {
    let mut text = "| recordings |".to_owned();
    text.extend(rows[..LEARNERS.len()].iter().map(|row| format!(" {} |", row.learner)));
    text += "\n|---|";
    text += &"---|".repeat(LEARNERS.len());
    for rows in rows.chunks(LEARNERS.len()) {
        text += &format!("\n| {} |", rows[0].recordings);
        text.extend(rows.iter().map(|row| format!(" {:.2} / {:.2} |", row.accepted, row.rejected)));
    }
    text
}
