//! Chance that falls the same way again, and the identifiers that programs make with it.

/// Random numbers from a seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit as u64) as usize
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..count).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }
}

/// How an identifier is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Uuid4,
    Uuid7,
    /// A UUID without dashes.
    Hex,
    Ulid,
    /// `req_` and 21 letters and digits.
    Request,
    Cuid,
    /// `call_` and 24 letters and digits.
    Call,
    /// `toolu_01` and 22 letters and digits.
    ToolUse,
    /// `chatcmpl-` and 29 letters and digits.
    Completion,
    /// `agent-` and a UUID.
    Agent,
    Integer,
    /// The id of a JSON-RPC request: a number or a UUID, as the client likes.
    Rpc,
}

/// What clients mint.
pub const MINTED: &[&Kind] = &[
    &Kind::Uuid4,
    &Kind::Uuid7,
    &Kind::Hex,
    &Kind::Ulid,
    &Kind::Request,
    &Kind::Cuid,
    &Kind::Call,
];

/// What servers issue.
pub const ISSUED: &[&Kind] = &[
    &Kind::Uuid4,
    &Kind::Call,
    &Kind::ToolUse,
    &Kind::Completion,
    &Kind::Agent,
    &Kind::Ulid,
    &Kind::Integer,
];

const HEX: &str = "0123456789abcdef";
const SMALL: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const ALL: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The time in what is made from the time: they all begin alike.
const NOW: &str = "01932f8e4b";

impl Kind {
    /// A new one.
    pub fn make(self, dice: &mut Dice) -> Token {
        let text = match self {
            Self::Uuid4 | Self::Rpc => dashed(&dice.letters(HEX, 30), '4'),
            Self::Uuid7 => dashed(&format!("{NOW}{}", dice.letters(HEX, 20)), '7'),
            Self::Hex => dashed(&dice.letters(HEX, 30), '4').replace('-', ""),
            Self::Ulid => format!("01JD{}", dice.letters(CROCKFORD, 22)),
            Self::Request => format!("req_{}", dice.letters(ALL, 21)),
            Self::Cuid => format!("cm3{}", dice.letters(SMALL, 22)),
            Self::Call => format!("call_{}", dice.letters(ALL, 24)),
            Self::ToolUse => format!("toolu_01{}", dice.letters(ALL, 22)),
            Self::Completion => format!("chatcmpl-{}", dice.letters(ALL, 29)),
            Self::Agent => format!("agent-{}", dashed(&dice.letters(HEX, 30), '4')),
            Self::Integer => return Token::Number(2000 + dice.roll() % 1_000_000),
        };
        Token::Text(text)
    }
}

/// Thirty hexadecimal digits as a UUID of a version.
fn dashed(hex: &str, version: char) -> String {
    let (high, middle, low) = (&hex[..8], &hex[8..12], &hex[12..15]);
    format!("{high}-{middle}-{version}{low}-a{}-{}", &hex[15..18], &hex[18..30])
}

/// An identifier as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Text(String),
    /// A number in JSON, and its digits elsewhere.
    Number(u64),
}

impl Token {
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}
