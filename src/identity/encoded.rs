//! Text and numbers in Base64, which look random and say something.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::moment::epochs;
use super::{identifiers, moments};

/// Shorter words read as text by chance.
const LONG: usize = 16;

/// Whether the word at a place in a text is, or belongs to, text in Base64 in which nothing was made up
/// for the moment: who sends another one says something else.
///
/// # Rationale
///
/// Of random words of 16 letters, one in a hundred thousand reads as text. Of eight it is one in three
/// hundred, so a shorter one has to read as text that is written in plain letters, and hexadecimal digits
/// never do: text in Base64 has capitals.
pub fn says_something(text: &str, word: &Range<usize>) -> bool {
    if text.as_bytes()[word.clone()].iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let whole = around(text, word);
    let spelled = [&text[whole], &text[word.clone()]];
    spelled.into_iter().filter_map(decoded).any(|said| !is_made_up(&said))
}

/// So many numbers are none by chance that are neither huge nor tiny: one in six of random bytes is.
const MANY: usize = 8;

/// Whether a text is a vector in Base64, as clients send one: floating-point numbers of 32 or 64 bits (IEEE 754, little
/// end first) that somebody wrote with few digits, or [many](MANY) of the size of things.
pub(super) fn says_numbers(text: &str) -> bool {
    let Some(bytes) = (text.len() >= LONG).then(|| engine(&STANDARD).decode(text).ok()).flatten()
    else {
        return false;
    };
    let singles = bytes.as_chunks::<4>();
    let doubles = bytes.as_chunks::<8>();
    let singles =
        singles.0.iter().map(|it| f32::from_le_bytes(*it)).map(|it| (it.into(), digits(it)));
    let doubles = doubles.0.iter().map(|it| f64::from_le_bytes(*it)).map(|it| (it, digits(it)));
    (bytes.len() % 4 == 0 && are_numbers(&singles.collect::<Vec<_>>()))
        || (bytes.len() % 8 == 0 && are_numbers(&doubles.collect::<Vec<_>>()))
}

/// Whether numbers with so many digits are of a vector.
fn are_numbers(all: &[(f64, usize)]) -> bool {
    const FEW: usize = 4;
    let is_thing = |number: f64| number == 0.0 || (1e-6..1e6).contains(&number.abs());
    all.iter().all(|(number, digits)| is_thing(*number) && (all.len() >= MANY || *digits <= FEW))
}

/// How many digits the shortest spelling of a number has.
fn digits(number: impl std::fmt::LowerExp) -> usize {
    let spelled = format!("{number:e}");
    let number = spelled.split('e').next().unwrap_or(&spelled);
    number.bytes().filter(u8::is_ascii_digit).count()
}

/// Whether there is something in a text that is another in each run.
fn is_made_up(text: &str) -> bool {
    identifiers(text).next().is_some()
        || moments(text).next().is_some()
        || epochs(text).next().is_some()
}

/// The run of the letters of Base64 in which a word stands.
fn around(text: &str, word: &Range<usize>) -> Range<usize> {
    let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let bytes = text.as_bytes();
    let before = bytes[..word.start].iter().rev().take_while(belongs).count();
    let after = bytes[word.end..].iter().take_while(belongs).count();
    word.start - before..word.end + after
}

/// What a word says, if it is text in Base64.
fn decoded(word: &str) -> Option<String> {
    let alphabet = if word.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let said = engine(&alphabet).decode(word).ok()?;
    let text = String::from_utf8(said).ok()?;
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let strange = text.bytes().filter(|byte| !byte.is_ascii()).count();
    let plain = |c: char| c.is_ascii_alphanumeric() || " \"'{}[]:,;=&_-./".contains(c);
    let is_text = match word.len() {
        LONG.. => !text.contains(control) && strange * 3 <= text.len(),
        _ => text.chars().all(plain),
    };
    is_text.then_some(text)
}

const fn engine(alphabet: &Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, word: &str, expected: bool) {
        let start = text.find(word).expect("the word is in the text");
        assert_eq!(says_something(text, &(start..start + word.len())), expected, "{text}");
    }

    #[test]
    fn what_reads_as_text_says_something() {
        // "hello world, this is it", `{"offset":100}`, "Grüße aus Zürich"
        check("aGVsbG8gd29ybGQsIHRoaXMgaXMgaXQ=", "aGVsbG8gd29ybGQsIHRoaXMgaXMgaXQ", true);
        check("after eyJvZmZzZXQiOjEwMH0 and", "eyJvZmZzZXQiOjEwMH0", true);
        check("R3LDvMOfZSBhdXMgWsO8cmljaA==", "R3LDvMOfZSBhdXMgWsO8cmljaA", true);
        // "what? yes? so it is"
        check("d2hhdD8geWVzPyBzbyBpdCBpcw", "d2hhdD8geWVzPyBzbyBpdCBpcw", true);
    }

    #[test]
    fn what_is_short_says_something_in_plain_letters_only() {
        // `{"o":10}`, `after:12`
        check("cur_eyJvIjoxMH0", "eyJvIjoxMH0", true);
        check("cur_YWZ0ZXI6MTI", "YWZ0ZXI6MTI", true);
        // `k|6\u{6dd}\u{b9b}…` in one alphabet or the other
        for hex in ["a822d25b", "0b81a1c7", "345fd106", "b1961ad4", "b304ac22"] {
            check(&format!("report-{hex}.txt"), hex, false);
            check(hex, hex, false);
        }
        // `(#9|*S2`
        check("ord_KCM5fCpTMg", "KCM5fCpTMg", false);
    }

    #[test]
    fn numbers_that_somebody_wrote_and_long_vectors_are_told_from_what_is_random() {
        let packed = |bytes: Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
        let singles = |all: &[f32]| packed(all.iter().flat_map(|it| it.to_le_bytes()).collect());
        let doubles = |all: &[f64]| packed(all.iter().flat_map(|it| it.to_le_bytes()).collect());
        for vector in [
            singles(&[1.0, 1.0, 0.0]),
            singles(&[0.1, -0.25, 12.5]),
            singles(&[0.1; 8]),
            doubles(&[0.5, 0.125]),
            singles(&(1_u8..20).map(|it| 1.0 / f32::from(it)).collect::<Vec<_>>()),
        ] {
            assert!(says_numbers(&vector), "{vector}");
            assert!(says_numbers(vector.trim_end_matches('=')), "{vector}");
        }
        let drawn = |count: usize| {
            let hash = blake3::hash(&count.to_le_bytes());
            packed(hash.as_bytes()[..[12, 16, 24, 32][count % 4]].to_vec())
        };
        let taken = (0..10_000).filter(|count| says_numbers(&drawn(*count))).count();
        assert_eq!(taken, 0);
        assert!(!says_numbers("AACAPw==") && !says_numbers("V1StGXR8_Z5jdHi6B-myT"));
    }

    #[test]
    fn what_is_random_or_holds_something_random_does_not() {
        check("V1StGXR8_Z5jdHi6B-myT", "V1StGXR8_Z5jdHi6B-myT", false);
        check("98a5f7163e0582751f4f3b89", "98a5f7163e0582751f4f3b89", false);
        // It would read "w}vk" and a Greek letter.
        check("d312a868", "d312a868", false);
        check("thing-ae474c57", "ae474c57", false);
        check("9pKqLm2XvT8nRw4YbZc6DfGh", "9pKqLm2XvT8nRw4YbZc6DfGh", false);
        // "Task:6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"
        let task = "VGFzazo2ZjFjMGEyZi0zN2EyLTRmZDktOTJmMS1mZDViMWVlNWE1ZjA";
        check(task, task, false);
        // `{"at":1763712000}`
        check("eyJhdCI6MTc2MzcxMjAwMH0", "eyJhdCI6MTc2MzcxMjAwMH0", false);
    }
}
