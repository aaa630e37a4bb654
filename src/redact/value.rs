//! What values look like.

use std::borrow::Cow;
use std::ops::Range;

use super::letters;
use crate::cassette::placeholder::OPENING;
pub(super) use crate::cassette::placeholder::is_placeholder;
use crate::cassette::splice::{Edit, splice};
use crate::text::json::pointer;

/// The longest name that a placeholder shows.
const LONGEST_NAME: usize = 48;

/// No placeholder is longer, in bytes.
const LONGEST: usize = 4096;

/// What stands for a secret in the name that a placeholder shows.
pub(super) const WITHIN_NAME: &str = "secret";

/// Values below this length are replaced where a rule finds them and nowhere else.
pub(super) const SHORTEST: usize = 8;

/// Words that say how a credential is to be read, before it.
const SCHEMES: &str = "\
    bearer basic digest token apikey api-key negotiate password aws4-hmac-sha256 hmac dpop \
    ntlm";

/// Beginnings by which credentials can be told.
const PREFIXES: &str = "\
    sk- sk_ pk- pk_ rk_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xox AKIA ASIA AIza ya29. eyJ \
    hf_ npm_ pypi- gsk_ xai- r8_ SG. key- whsec_";

/// What stands in the place of a secret: `[redacted:api_key]`.
pub(super) fn placeholder(name: &str) -> String {
    format!("{OPENING}{}]", shown_name(name))
}

/// A name as placeholders show it.
pub(super) fn shown_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // A secret in a name is shown as a word: here, where it was replaced, and in `Searcher` where it was not.
    let name = with_word(name, WITHIN_NAME);
    name.chars().take(LONGEST_NAME).map(|c| if plain(c) { c } else { '_' }).collect()
}

/// A name with a word in the place of each placeholder in it.
pub(super) fn with_word<'n>(name: &'n str, word: &str) -> Cow<'n, str> {
    if !name.contains(OPENING) {
        return name.into();
    }
    let found = placeholders(name.as_bytes());
    let edits: Vec<_> = found.map(|(range, ..)| Edit::new(range, word.to_owned())).collect();
    String::from_utf8_lossy(&splice(name.as_bytes(), &edits)).into_owned().into()
}

/// What stands in the place of the second value of a name, and of further ones: `[redacted:api_key~2]`.
pub(crate) fn numbered(name: &str, number: usize) -> String {
    let mut text = placeholder(name);
    if number > 1 {
        text.pop();
        text.push_str(&format!("~{number}]"));
    }
    text
}

/// The name that a placeholder shows, and the number of the value.
pub(super) fn name_and_number(placeholder: &str) -> Option<(&str, usize)> {
    let inner = placeholder.strip_prefix(OPENING)?.strip_suffix(']')?;
    let Some((name, number)) = inner.rsplit_once('~') else { return Some((inner, 1)) };
    Some(number.parse().map_or((inner, 1), |number| (name, number)))
}

/// The placeholders in a text, with what they show, and where they stand. In bytes they are as long as what they stand
/// for, with dots before the name.
pub(crate) fn placeholders(text: &[u8]) -> impl Iterator<Item = (Range<usize>, &str, usize)> {
    // A search for the whole word takes longer to prepare than most texts to go through.
    let openings = memchr::memchr_iter(b'[', text);
    let openings = openings.filter(|start| text[*start..].starts_with(OPENING.as_bytes()));
    openings.filter_map(|start| {
        let end = text.len().min(start + LONGEST);
        let length = memchr::memchr(b']', &text[start..end])? + 1;
        let found = str::from_utf8(&text[start..start + length]).ok()?;
        let (name, number) = name_and_number(found).filter(|_| is_placeholder(found))?;
        Some((start..start + length, name.trim_start_matches('.'), number))
    })
}

/// A text in which no placeholder has a number, if it has one.
pub(crate) fn without_numbers(text: &[u8]) -> Option<Vec<u8>> {
    let edits = placeholders(text).filter(|(_, _, number)| *number > 1);
    // Dots before the name may be part of it.
    let edits = edits.filter_map(|(range, _, _)| {
        let (name, _) = name_and_number(str::from_utf8(&text[range.clone()]).ok()?)?;
        Some(Edit::new(range, placeholder(name).into_bytes()))
    });
    let edits: Vec<_> = edits.collect();
    (!edits.is_empty()).then(|| splice(text, &edits))
}

/// The first placeholder in a text.
pub fn placeholder_in(text: &str) -> Option<&str> {
    let found = memchr::memmem::find_iter(text.as_bytes(), OPENING);
    let mut found = found.filter_map(|at| text[at..].split_inclusive(']').next());
    found.find(|found| is_placeholder(found))
}

/// Whether a range of a text lies within a placeholder without being all of it.
pub(super) fn in_placeholder(text: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(OPENING.len() + LONGEST_NAME);
    let before = &text[from..at];
    memchr::memmem::rfind(before, OPENING.as_bytes())
        .is_some_and(|found| memchr::memchr(b']', &before[found..]).is_none())
}

/// The offset at which the credential begins behind a scheme: 7 for `Bearer …`.
pub(super) fn behind_scheme(value: &str) -> usize {
    let Some((scheme, rest)) = value.split_once(' ') else { return 0 };
    if !is_scheme(scheme.as_bytes()) {
        return 0;
    }
    value.len() - rest.trim_start().len()
}

/// Whether a word says how the credential behind it is to be read.
pub(super) fn is_scheme(word: &[u8]) -> bool {
    SCHEMES.split(' ').any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// Whether a value of which its name says little looks like a credential.
pub(super) fn is_credential(value: &str) -> bool {
    if value.len() < 16 || value.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return false;
    }
    if value.contains(['<', '>', '{', '}', '"', '|']) || value.contains("://") {
        return false;
    }
    PREFIXES.split(' ').any(|prefix| value.starts_with(prefix))
        || value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
        || is_url_safe(value)
}

/// Whether a value is random bytes in the Base64 of addresses (RFC 4648, section 5), where `-` and `_` stand
/// anywhere.
fn is_url_safe(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let has_digits = value.bytes().filter(u8::is_ascii_digit).count() >= 2;
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && (is_scrambled(value)
            || letters::are_random(value)
            || (has_digits && value.split(['-', '_']).any(|run| run.len() >= 4 && is_mixed(run))))
}

/// Whether small and large letters and digits change as often as by chance: of two neighbours at random three in
/// five do. Of names made of words (`getElementsByTagName`) fewer do.
fn is_scrambled(value: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let pairs = value.as_bytes().windows(2).filter_map(|pair| class(pair[0]).zip(class(pair[1])));
    let (changed, all) = pairs.fold((0, 0), |(changed, all), (one, other)| {
        (changed + usize::from(one != other), all + 1)
    });
    all >= 8 && changed * 2 > all
}

/// Whether a value is a UUID.
pub(super) fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether letters and digits stand side by side.
fn is_mixed(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.bytes().any(|byte| is(&byte));
    has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
}

/// Whether a value may be random letters and digits: it is long, and more than small letters or large ones.
pub(super) fn may_be_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+/=.~".contains(&byte);
    value.len() >= 12
        && value.bytes().all(is_of_token)
        && (has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// Whether a value of which its name says little is one to be taken out.
pub(super) fn may_be_credential(value: &str) -> bool {
    is_credential(value) || is_placeholder(value)
}

/// Whether a value can hardly be anything but a generated secret, whatever it is called.
pub(super) fn is_generated(value: &str) -> bool {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    value.len() >= 24 && upper >= 3 && lower >= 3 && count(u8::is_ascii_digit) >= 3
}

/// A run of letters and digits as only a machine writes it.
fn is_random(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let has_letters = digits < run.len();
    run.len() >= 16
        && ((digits >= 2 && has_letters) || is_scrambled(run) || letters::are_random(run))
}

/// Whether a secret is distinctive enough to be replaced wherever it stands.
///
/// Plain words and addresses are not: `"env": {"MODE": "production"}` must not take that word out of
/// every text of the cassette.
pub(super) fn is_distinctive(value: &str) -> bool {
    let separates = |c: char| matches!(c, '_' | '-' | ' ' | '.');
    let longest = if value.contains(separates) { 32 } else { 16 };
    let words =
        value.len() < longest && value.chars().all(|c| c.is_ascii_alphabetic() || separates(c));
    let one_case = !value.contains(|c: char| c.is_ascii_uppercase())
        || !value.contains(|c: char| c.is_ascii_lowercase());
    let digits = value.len() < 12 && value.bytes().all(|byte| byte.is_ascii_digit());
    let place = value.contains("://") || value.starts_with(['/', '.']);
    let is_word = words && one_case && !letters::are_random(value);
    let plain = is_word || digits || place || is_placeholder(value);
    value.len() >= SHORTEST && !plain
}

/// Whether a value is a word of so few letters that nobody guards anything with it: `read`, `write`, `admin`.
pub(super) fn is_short_word(value: &str) -> bool {
    value.len() < SHORTEST && value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether what a name in prose is said to be is a secret, rather than a word of the prose or a piece
/// of code.
pub(super) fn is_assigned(value: &str) -> bool {
    let digit = value.contains(|c: char| c.is_ascii_digit());
    let letter = value.contains(char::is_alphabetic);
    let long = value.len() >= 20 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let path = value.contains('.') && value.split('.').all(pointer::is_name);
    let said = (digit && letter && !path) || long || is_credential(value);
    said && !value.contains('[') && is_distinctive(value)
}

/// Whether a value is put together from words, numbers and what stands between them, as a media type, a
/// date or a list is: it may stand elsewhere by chance. Passwords have signs that stand between no words.
pub(super) fn is_made_of_words(value: &str) -> bool {
    if !value.contains(' ') && value.contains(['!', '#', '$', '^', '~', '%']) {
        return false;
    }
    let mut runs = value.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    let is_plain = |run: &str| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let cases = run
            .as_bytes()
            .windows(2)
            .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        match digits {
            0 => run.len() <= 16 && cases.count() <= 2 && !letters::are_random(run),
            _ if digits == run.len() => digits <= 6,
            // `v1`, `h2`, `q0`.
            _ => run.len() <= 2,
        }
    };
    runs.all(is_plain)
}

/// Whether a value is said in words: `This field is required.`
pub(super) fn is_sentence(value: &str) -> bool {
    value.trim().contains(' ') && behind_scheme(value) == 0 && is_made_of_words(value)
}

/// Whether a value is one that protocols have as their own words, whatever it is called.
pub(super) fn is_protocol(value: &str) -> bool {
    const WORDS: &str = "true false null include omit same-origin required optional";
    is_in(WORDS, value) || is_media_type(value) || is_public(value) || is_resource(value)
}

/// Whether it is the name of a thing that is kept elsewhere: `projects/p/locations/l/keyRings/r/cryptoKeys/k`, and
/// `AC` and 32 hexadecimal digits, which Twilio calls a `sid`. One of a key (`SK…`) goes with its secret.
fn is_resource(value: &str) -> bool {
    const LEAST: usize = 4;
    let is_path = value.split('/').count() >= LEAST && !value.contains(' ');
    let (kind, digits) = value.split_at_checked(2).unwrap_or_default();
    let is_sid = digits.len() == 32
        && kind.bytes().all(|byte| byte.is_ascii_uppercase())
        && kind != "SK"
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_sid || is_path && is_made_of_words(value)
}

/// Whether a value is a key that everybody may know.
fn is_public(value: &str) -> bool {
    const BEGIN: [&str; 5] =
        ["ssh-", "ecdsa-sha2-", "sk-ssh-", "-----BEGIN PUBLIC KEY", "-----BEGIN CERTIFICATE"];
    BEGIN.iter().any(|begin| value.starts_with(begin)) && value.contains(' ')
}

/// Whether a value is a date, maybe with a time: `2026-11-28T04:37:15Z`.
pub(super) fn is_time(value: &str) -> bool {
    let (date, time) = value.split_at_checked("2026-11-28".len()).unwrap_or_default();
    let is_of_time = |byte: u8| byte.is_ascii_digit() || b"T:.Z+- ".contains(&byte);
    let mut parts = date.split('-').map(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    date.matches('-').count() == 2
        && parts.all(|is_number| is_number)
        && time.bytes().all(is_of_time)
}

/// Whether a server shows no more of a secret, or what it is called where it is kept: `********`, `sk-…1234`,
/// `${API_KEY}`, `<your key>`, `none`.
pub(super) fn is_masked(value: &str) -> bool {
    const WORDS: &str = "none no yes string redacted [redacted] hidden";
    let is_between =
        |(open, close): &(&str, &str)| value.starts_with(open) && value.ends_with(close);
    let lower = value.to_ascii_lowercase();
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        let is_of_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        !name.is_empty() && name.bytes().all(is_of_name)
    });
    ["***", "•••", "…", "..."].iter().any(|mask| value.contains(mask))
        || [("${", "}"), ("{{", "}}"), ("<", ">")].iter().any(is_between)
        || ["your_", "your-", "os.environ/"].iter().any(|begin| lower.starts_with(begin))
        || is_variable
        || is_in(WORDS, &lower)
}

/// Whether a setting is one that programs have in clear: a word, a small number, a place.
pub(super) fn is_plain_setting(value: &str) -> bool {
    const WORDS: &str = "\
        none nil undefined yes no on off auto default any get post put patch delete head options \
        close gzip deflate br zstd identity chunked keep-alive no-cache no-store utf-8 production \
        development staging test debug info warn error";
    let lower = value.trim().to_ascii_lowercase();
    let is_number = value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_place = value.starts_with(['/', '~']) && value.len() > 1;
    let is_url = value.contains("://") && !value.contains(['@', '?']);
    lower.is_empty()
        || is_protocol(&lower)
        || is_in(WORDS, &lower)
        || is_number
        || is_place
        || is_url
}

/// `text/html, application/json;q=0.9, */*`.
fn is_media_type(value: &str) -> bool {
    const TYPES: &str = "application text image audio video multipart font message model *";
    let one = |item: &str| {
        let (kind, rest) = item.split_once('/').unwrap_or_default();
        let subtype = rest.split(';').next().unwrap_or_default().trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_*".contains(c);
        is_in(TYPES, kind.trim()) && !subtype.is_empty() && subtype.chars().all(plain)
    };
    value.split(',').all(one)
}

/// Whether a word is in a list of words.
pub(super) fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::{
        behind_scheme, is_credential, is_distinctive, is_placeholder, placeholder, placeholder_in,
        without_numbers,
    };

    #[test]
    fn placeholders_are_plain_and_known_again() {
        assert_eq!(placeholder("api key\""), "[redacted:api_key_]");
        assert!(is_placeholder(&placeholder("x")));
        assert!(!is_placeholder("Bearer [redacted:x]"));
        assert_eq!(placeholder_in("[redacted:a b] and [redacted:x]!"), Some("[redacted:x]"));
        let first = without_numbers(b"a=[redacted:.AspNet.Id~2]").expect("it has a number");
        assert_eq!(first, b"a=[redacted:.AspNet.Id]");
        assert_eq!(placeholder_in("[redacted: is not one, nor is [redacted:x"), None);
    }

    #[test]
    fn schemes_stay_readable() {
        assert_eq!(behind_scheme("Bearer abc"), 7);
        assert_eq!(behind_scheme("password abc"), 9);
        assert_eq!(behind_scheme("my words"), 0);
        assert_eq!(behind_scheme("abc"), 0);
    }

    #[test]
    fn words_codes_and_ids_are_no_credentials() {
        for value in [
            "PENDING_APPROVAL",
            "Hello",
            "internationalization",
            "folder/2024-11-20/report.txt",
            "agent-6f1c2d3e-0000-4000-8000-000000000001",
            "<|begin_of_text|>",
            "a b c d e f g h i 12345",
        ] {
            assert!(!is_credential(value), "{value}");
        }
        assert!(is_credential(&format!("{}{}", "sk-", "ab".repeat(8))));
        assert!(is_credential(&"a1".repeat(8)));
    }

    #[test]
    fn random_bytes_are_a_credential_wherever_their_base64_has_its_signs() {
        use base64::Engine;
        let random = (0_u32..1000).map(|seed| {
            let bytes = blake3::hash(&seed.to_be_bytes());
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes.as_bytes()[..15])
        });

        let known = random.filter(|value| is_credential(value)).count();

        // Of twenty characters at random few are letters that change and follow each other as in words.
        assert!(known >= 985, "{known} of 1000");
        for value in [
            "Claude-3-Sonnet-20241022",
            "My-Report_v2-Final-2024",
            "GPT-4o-mini-2024-07-18",
            "getElementsByTagName",
            "createUserByIdOrNameAsync",
            "XMLHttpRequestEventTarget",
        ] {
            assert!(!is_credential(value), "{value}");
        }
    }

    #[test]
    fn common_words_are_not_distinctive() {
        for value in
            ["password", "production", "dummy-key", "12345678", "http://localhost:8283", "short1"]
        {
            assert!(!is_distinctive(value), "{value}");
        }
        assert!(is_distinctive("hunter22"));
        assert!(is_distinctive(&"a1".repeat(4)));
    }
}
