//! What servers generate, and the words that are data.

use crate::dice::Random;

/// A generator of identifiers, and its name.
pub type Generator = (&'static str, fn(&mut Random) -> String);

/// Generators of identifiers as they are found in the wild.
pub const GENERATORS: [Generator; 14] = [
    ("uuid", uuid),
    ("`call_` + 24 of 62", |random| prefixed(random, "call_", 24, BASE62)),
    ("`cus_` + 14 of 62", |random| prefixed(random, "cus_", 14, BASE62)),
    ("`toolu_01` + 22 of 62", |random| prefixed(random, "toolu_01", 22, BASE62)),
    ("`ex_` + 8 hex", |random| prefixed(random, "ex_", 8, HEX)),
    ("`resp_` + 48 hex", |random| prefixed(random, "resp_", 48, HEX)),
    ("`INV-` + 6 digits", |random| prefixed(random, "INV-", 6, DIGITS)),
    ("12 of 62", |random| word(random, 12, BASE62)),
    ("16 of 62", |random| word(random, 16, BASE62)),
    ("8 hex", |random| word(random, 8, HEX)),
    ("nano id (21 of 64)", |random| word(random, 21, BASE64_URL)),
    ("base64url, 22", |random| word(random, 22, BASE64_URL)),
    ("snowflake", snowflake),
    ("ULID", |random| ulid(random)),
];

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64_URL: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// So many letters of an alphabet.
pub fn word(random: &mut Random, length: usize, alphabet: &str) -> String {
    let alphabet = alphabet.as_bytes();
    (0..length).map(|_| char::from(alphabet[random.below(alphabet.len())])).collect()
}

fn prefixed(random: &mut Random, prefix: &str, length: usize, alphabet: &str) -> String {
    format!("{prefix}{}", word(random, length, alphabet))
}

/// What a generator in [`GENERATORS`] generates.
pub fn id(random: &mut Random, generator: &str) -> String {
    let found = GENERATORS.iter().find(|(name, _)| *name == generator);
    let (_, generate) = found.expect("protocols name generators that are in the list");
    generate(random)
}

/// A UUID behind a prefix, or alone.
pub fn uuid(random: &mut Random) -> String {
    let hex = word(random, 30, HEX);
    let variant = ["8", "9", "a", "b"][random.below(4)];
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], &hex[18..]);
    format!("{a}-{b}-4{c}-{variant}{d}-{e}")
}

fn snowflake(random: &mut Random) -> String {
    let ms = 330_000_000_000 + random.below(40_000_000_000) as u64;
    ((ms << 22) + random.below(1 << 22) as u64).to_string()
}

fn ulid(random: &mut Random) -> String {
    format!("01K{}{}", word(random, 7, CROCKFORD), word(random, 16, CROCKFORD))
}

/// Words that are data: there are many, some are frequent, and new ones keep coming.
pub struct Vocabulary {
    joint: &'static str,
    first: [&'static str; 12],
    second: [&'static str; 12],
}

pub const TOOLS: Vocabulary = Vocabulary {
    joint: "_",
    first: [
        "search", "fetch", "run", "book", "list", "send", "update", "convert", "plot", "read",
        "archive", "quote",
    ],
    second: [
        "web", "flights", "sql", "url", "mail", "invoices", "weather", "tickets", "files", "rates",
        "calendar", "stock",
    ],
};
pub const MODELS: Vocabulary = Vocabulary {
    joint: "-",
    first: [
        "nova", "lyra", "orion", "vega", "atlas", "juno", "draco", "hydra", "rigel", "mira",
        "altair", "deneb",
    ],
    second: [
        "mini", "large", "pro", "lite", "7b", "70b", "flash", "turbo", "v2", "preview", "32b",
        "max",
    ],
};
pub const AGENTS: Vocabulary = Vocabulary {
    joint: "",
    first: [
        "triage", "billing", "travel", "support", "legal", "sales", "audit", "research", "health",
        "market", "supply", "quality",
    ],
    second: [
        "", "lead", "bot", "writer", "critic", "planner", "clerk", "scout", "judge", "guide",
        "runner", "keeper",
    ],
};
pub const CITIES: Vocabulary = Vocabulary {
    joint: " ",
    first: [
        "Port", "New", "Santa", "Fort", "Lake", "Mount", "San", "Upper", "East", "Saint", "Old",
        "Villa",
    ],
    second: [
        "Adena", "Berlin", "Cairo", "Delft", "Elva", "Faro", "Genoa", "Hanko", "Izmir", "Jena",
        "Kyoto", "Lima",
    ],
};
pub const WORKERS: Vocabulary = Vocabulary {
    joint: ".",
    first: ["ams", "ber", "cdg", "dub", "eze", "fra", "gru", "hel", "iad", "jfk", "kul", "lhr"],
    second: ["n1", "n2", "n3", "n4", "n5", "n6", "gpu1", "gpu2", "gpu3", "spot1", "spot2", "spot3"],
};

const VOCABULARIES: [&Vocabulary; 5] = [&TOOLS, &MODELS, &AGENTS, &CITIES, &WORKERS];

impl Vocabulary {
    /// A word; the n-th is drawn about 1/n as often as the first (Zipf's law).
    pub fn word(&self, random: &mut Random) -> String {
        let all = self.first.len() * self.second.len();
        let share = random.below(1 << 20) as f64 / f64::from(1 << 20);
        let rank = (all as f64).powf(share) as usize - 1;
        // Ranks go through both lists at once.
        let (first, second) = (rank % self.first.len(), (rank + rank / 12) % self.second.len());
        self.joined(first, second)
    }

    fn joined(&self, first: usize, second: usize) -> String {
        format!("{}{}{}", self.first[first], self.joint, self.second[second])
    }

    fn has(&self, word: &str) -> bool {
        self.first.iter().enumerate().any(|(at, first)| {
            word.starts_with(first) && (0..self.second.len()).any(|it| self.joined(at, it) == word)
        })
    }
}

/// Whether a word is data, and none of a protocol.
pub fn is_data(word: &str) -> bool {
    VOCABULARIES.iter().any(|vocabulary| vocabulary.has(word))
}

const PROSE: [&str; 24] = [
    "the", "a", "of", "we", "found", "three", "seats", "on", "Monday", "and", "rain", "until",
    "noon", "please", "compare", "prices", "before", "you", "answer", "it", "depends", "but",
    "nothing", "else",
];

/// So many words of prose.
pub fn prose(random: &mut Random, words: usize) -> String {
    let words: Vec<&str> = (0..words).map(|_| PROSE[random.below(PROSE.len())]).collect();
    words.join(" ")
}
