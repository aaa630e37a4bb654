//! Telling a minted word from one that somebody chose.
//!
//! # Rationale
//!
//! Letters of a language follow each other in few ways: the sixty commonest pairs of English make up
//! well over half of any name or word, and a tenth of random letters. That parts
//! `Qwen2VL72BInstruct` from `01A09q90qw90lq917835lq9` where length, digits and case do not.

/// A word without a prefix is shorter than this only where somebody chose it.
const BARE: usize = 16;

/// A word behind a prefix (`call_…`) is shorter than this only where somebody chose it.
const PREFIXED: usize = 10;

/// Hexadecimal digits are fewer than this only where somebody chose them.
const SHORT_HEX: usize = 8;

/// A word that is longer is not a name for something but the thing itself.
pub(super) const LONGEST: usize = 128;

/// Whether a word of letters and digits, longer than any that says something by itself, is minted.
pub(super) fn is_minted(word: &[u8]) -> bool {
    (BARE..=LONGEST).contains(&word.len()) && looks_minted(word)
}

/// Whether a word without a prefix is `uuid4().hex[:8]` and the like: digits alone are a number, letters
/// alone a word.
pub(super) fn is_bare_hex(word: &[u8]) -> bool {
    (SHORT_HEX..BARE).contains(&word.len())
        && is_hex(word)
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_lowercase)
}

/// Whether all of it are hexadecimal digits, small ones.
pub(super) fn is_hex(word: &[u8]) -> bool {
    word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The same of a word behind a prefix, where shorter ones are minted too.
pub(super) fn is_minted_tail(word: &[u8]) -> bool {
    match word.len() {
        8 | 9 => is_short_hex(word),
        PREFIXED.. => word.len() <= LONGEST && looks_minted(word),
        _ => false,
    }
}

/// Whether a word with `-` and `_` in it is minted as a whole, as URL-safe Base64 is.
pub(super) fn is_minted_whole(word: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| word.iter().any(class);
    let mixed = || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    if !(BARE..=LONGEST).contains(&word.len()) || !mixed() {
        return false;
    }
    let plain: Vec<u8> = word.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    changes(&plain) * 3 > plain.len() && !speaks(&plain)
}

/// The same of a word that is as long as tokens are: fewer signs are enough.
pub(super) fn is_minted_token(word: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| word.iter().any(class);
    if !has(u8::is_ascii_lowercase) || !has(u8::is_ascii_uppercase) {
        return false;
    }
    let plain: Vec<u8> = word.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    changes(&plain) * 6 > plain.len() && !speaks(&plain)
}

fn looks_minted(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == word.len() {
        return varies(word);
    }
    if digits > 0 && word.iter().all(u8::is_ascii_hexdigit) {
        return true;
    }
    // Random letters without a single digit are rare, but not so rare that they never come.
    let changes = changes(word);
    changes * 3 > word.len() || ((digits > 0 || changes * 6 > word.len()) && !speaks(word))
}

/// `uuid4().hex[:8]`, but not a date.
fn is_short_hex(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let date = digits == word.len() && (word.starts_with(b"19") || word.starts_with(b"20"));
    is_hex(word) && digits > 0 && !date
}

/// Whether it holds more than the one or two digits of a round number.
fn varies(digits: &[u8]) -> bool {
    let seen = digits.iter().fold(0_u16, |seen, digit| seen | 1 << (digit - b'0'));
    seen.count_ones() > 2
}

/// How often a letter stands beside one of the other case, or a digit beside a letter. A capital at
/// the beginning of a word does not count.
fn changes(word: &[u8]) -> usize {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    };
    let capital = |pair: &[u8]| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase();
    word.windows(2).filter(|pair| class(pair[0]) != class(pair[1]) && !capital(pair)).count()
}

/// Whether its letters follow each other as in a language.
fn speaks(word: &[u8]) -> bool {
    let pairs = word.windows(2).filter(|pair| pair.iter().all(u8::is_ascii_alphabetic));
    let (mut all, mut common) = (0, 0);
    for pair in pairs {
        all += 1;
        let pair = [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()];
        common += usize::from(COMMON.binary_search(&pair).is_ok());
    }
    common > 3 && common * 100 > all * 38
}

/// Whether half of a word or more are words, or parts of names: three letters and more that can be said.
pub(super) fn reads(word: &[u8]) -> bool {
    let mut read = 0;
    let mut at = 0;
    while at < word.len() {
        let length = name(&word[at..]);
        let piece = &word[at..at + length];
        if length >= 3 && has_vowel(piece) && strange(piece) * 5 <= length {
            read += length;
        }
        at += length.max(1);
    }
    // In words put together of both cases, marks and numbers say nothing.
    let has = |class: fn(&u8) -> bool| word.iter().any(class);
    let all = match has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) {
        true => word.iter().filter(|byte| byte.is_ascii_alphabetic()).count(),
        false => word.len(),
    };
    read * 2 >= all
}

/// How many letters at the beginning belong together: small ones, maybe behind a capital, or capitals.
fn name(word: &[u8]) -> usize {
    let run = |word: &[u8], class: fn(&u8) -> bool| word.iter().take_while(|it| class(it)).count();
    match run(word, u8::is_ascii_uppercase) {
        capitals @ 0..=1 => capitals + run(&word[capitals..], u8::is_ascii_lowercase),
        capitals if word.get(capitals).is_some_and(u8::is_ascii_lowercase) => capitals - 1,
        capitals => capitals,
    }
}

fn has_vowel(word: &[u8]) -> bool {
    word.iter().any(|letter| b"aeiouyAEIOUY".contains(letter))
}

/// How many pairs of letters there are that no language has.
pub(super) fn strange(word: &[u8]) -> usize {
    let pairs = word.windows(2).filter(|pair| pair.iter().all(u8::is_ascii_alphabetic));
    pairs
        .filter(|pair| {
            let [first, second] = [pair[0], pair[1]].map(|letter| letter.to_ascii_lowercase());
            STRANGE[usize::from(first - b'a')].contains(&second)
        })
        .count()
}

/// For each letter, those that follow it in hardly any word of English: fewer than 4 pairs in 10,000.
const STRANGE: [&[u8]; 26] = [
    b"aehjoqxz",
    b"bdfghjkmnpqtvwxyz",
    b"bdfgjmnpqvwxz",
    b"bcfghjkmnpqtvwxyz",
    b"hjkz",
    b"bcdghjkmnpqvwxz",
    b"bcdfjkmpqtvwxyz",
    b"bcdfghjklmnpqsvwxyz",
    b"hijkquwy",
    b"abcdfghijklmnopqrstuvwxyz",
    b"bcdfghjklmnopqrtuvwxyz",
    b"bcfghjkmnpqrvwxz",
    b"cdfghjklnqrtvwxyz",
    b"bhjmqrwxyz",
    b"ehjqxyz",
    b"bcdfgjkmnqvwxz",
    b"abcdefghijklmnopqrstvwxyz",
    b"hjqwxz",
    b"bdfgjnqrvwxz",
    b"bdfgjkmnqvwxz",
    b"hjkoquvwxyz",
    b"bcdfghjklmnpqrstuwxyz",
    b"bcdfgjklmpqtuvwxyz",
    b"abdfghjklmnoqrsuvwxyz",
    b"abcdefghjklmoqrtuvwxyz",
    b"bcdfghjklmnopqrstuvwxyz",
];

/// The commonest pairs of letters in English text and in names in programs, in order.
const COMMON: [[u8; 2]; 62] = [
    *b"ac", *b"al", *b"an", *b"ar", *b"as", *b"at", *b"ce", *b"ch", *b"co", *b"ct", *b"de", *b"di",
    *b"ea", *b"ec", *b"ed", *b"el", *b"en", *b"er", *b"es", *b"et", *b"ge", *b"ha", *b"he", *b"hi",
    *b"ic", *b"il", *b"in", *b"io", *b"is", *b"it", *b"la", *b"le", *b"li", *b"ll", *b"ma", *b"me",
    *b"nd", *b"ne", *b"ng", *b"ns", *b"nt", *b"of", *b"ol", *b"om", *b"on", *b"or", *b"ou", *b"ra",
    *b"re", *b"ri", *b"ro", *b"se", *b"so", *b"ss", *b"st", *b"ta", *b"te", *b"th", *b"ti", *b"to",
    *b"ur", *b"us",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_words_are_minted() {
        for word in [
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "clh3x9k2v0000qzrmn831i7rn",
            "98a5f7163e0582751f4f3b89",
            "AbQkZtRwPxLmNvYcJdHsFgKb",
            "9pKqLm2XvT8nRw4YbZc6DfGh",
            "740845635798344975",
            "507f1f77bcf86cd799439011",
        ] {
            assert!(is_minted(word.as_bytes()), "{word}");
        }
        for tail in ["NffrFeUfNV2Hib", "8f3a9c2b", "8f3a9c2b1d", "9s8dfk2j4h5k6j7h"] {
            assert!(is_minted_tail(tail.as_bytes()), "{tail}");
        }
        assert!(is_minted_whole(b"V1StGXR8_Z5jdHi6B-myT"));
        assert!(is_minted_whole(b"Drmhze6EPcv0fN_81Bj-nA"));
    }

    #[test]
    fn words_that_say_something_are_not() {
        for word in [
            "Qwen2VL72BInstruct",
            "getSecretCodeToolV2",
            "internationalization",
            "Donaudampfschifffahrt",
            "listAgentsV2Experimental",
            "AuthenticationHandler",
            "sha256withrsaencryption",
            "1000000000000000",
        ] {
            assert!(!is_minted(word.as_bytes()), "{word}");
        }
        for tail in ["20250929", "embedding", "claude3sonnet", "configuration", "decade"] {
            assert!(!is_minted_tail(tail.as_bytes()), "{tail}");
        }
        for whole in
            ["Meta-Llama-3-70B-Instruct-v2", "text-embedding-3-small", "Content-Type-Header"]
        {
            assert!(!is_minted_whole(whole.as_bytes()), "{whole}");
        }
    }

    #[test]
    fn what_is_drawn_at_random_is_mostly_told_from_words() {
        let draw = |alphabet: &[u8], length: usize, seed: &mut u64| -> Vec<u8> {
            let mut next = || {
                *seed ^= *seed << 13;
                *seed ^= *seed >> 7;
                *seed ^= *seed << 17;
                alphabet[(*seed >> 20) as usize % alphabet.len()]
            };
            (0..length).map(|_| next()).collect()
        };
        let base62: Vec<u8> = (b'0'..=b'9').chain(b'a'..=b'z').chain(b'A'..=b'Z').collect();
        let mut seed = 0x7e7a_9e01;
        for (alphabet, length, allowed) in [
            (&base62[..16], 16, 10),
            (&base62[..16], 24, 10),
            (&base62[..36], 16, 150),
            (&base62[..36], 24, 40),
            (&base62[..], 16, 120),
            (&base62[..], 22, 20),
            (&base62[..], 24, 30),
        ] {
            let missed =
                (0..10_000).filter(|_| !is_minted(&draw(alphabet, length, &mut seed))).count();
            assert!(
                missed <= allowed,
                "{missed} of 10000 of length {length} of {}",
                alphabet.len()
            );
        }
    }
}
