//! How names end that tell: nearly all names are settled by that, without a look at their words.

use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use super::{
    COMPOSED, COMPOSED_PERHAPS, HEADS, HOLDERS, JOINED, PAIRS, PERHAPS, PLURAL_HEADS, PLURAL_PAIRS,
    QUALIFIERS, TAILS,
};

/// The last letters of a name, the last one first; zeros where it has fewer.
type Ending = [u8; 4];

/// How the names end that tell, without the figures behind them.
static ENDINGS: LazyLock<HashSet<Ending, FixedState>> = LazyLock::new(|| {
    let listed = [HEADS, PLURAL_HEADS, PAIRS, PLURAL_PAIRS, HOLDERS, PERHAPS];
    let composed = [COMPOSED, COMPOSED_PERHAPS, QUALIFIERS, JOINED, TAILS];
    let names = listed.iter().chain(&composed).flat_map(|list| list.split(' '));
    names.map(|name| ending(name.as_bytes())).collect()
});

/// The last two letters of them: for each last one in ASCII, a bit for each that stands before it.
static PAIRS_OF_LETTERS: LazyLock<[u128; 128]> = LazyLock::new(|| {
    let mut pairs = [0; 128];
    for [last, before, ..] in ENDINGS.iter().filter(|ending| ending[..2].is_ascii()) {
        // Any may stand before one that is alone.
        pairs[usize::from(*last)] |= if *before == 0 { u128::MAX } else { 1 << before };
    }
    pairs
});

/// Whether a name ends as one that tells. Known words may be shorter than an ending.
pub(super) fn may_tell(name: &[u8]) -> bool {
    let [a, b, c, d] = ending(name);
    let endings = [[a, b, c, d], [a, b, c, 0], [a, b, 0, 0], [a, 0, 0, 0]];
    // What is no letter is not known of other scripts here.
    !endings[0].is_ascii()
        || (PAIRS_OF_LETTERS[usize::from(a)] >> b & 1 == 1
            && endings.iter().any(|ending| ENDINGS.contains(ending)))
}

/// The last letters and figures in lower case, without the figures behind them and what stands in between.
fn ending(name: &[u8]) -> Ending {
    let bytes =
        name.iter().copied().rev().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let mut ending = Ending::default();
    let letters = bytes.skip_while(u8::is_ascii_digit);
    ending.iter_mut().zip(letters).for_each(|(to, byte)| *to = byte.to_ascii_lowercase());
    ending
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    #[test]
    fn what_tells_ends_as_the_short_look_expects() {
        let lists = [HEADS, PLURAL_HEADS, PAIRS, PLURAL_PAIRS, HOLDERS, PERHAPS];
        for name in lists.iter().flat_map(|list| list.split(' ')) {
            for name in
                [name.to_owned(), format!("{name}_enc"), format!("{name}_2"), format!("{name}_")]
            {
                assert_ne!(field(&name), Tells::Nothing, "{name}");
            }
            for tail in ["Encrypted", "-plaintext", "2", "ENC"] {
                let name = format!("{name}{tail}");
                assert!(may_tell(name.as_bytes()), "{name}");
                let text = format!(r#"{{\\"{name}\\" :"#);
                assert!(tells_before(text.as_bytes(), text.len() - 1, NameSet::Listed), "{name}");
            }
        }
    }

    #[test]
    fn composed_names_end_as_the_short_look_expects() {
        let known = [COMPOSED, COMPOSED_PERHAPS].map(|list| list.split(' '));
        let qualified = QUALIFIERS.split(' ').map(|word| format!("api_key_{word}"));
        let joined = JOINED.split(' ').map(|end| format!("my{end}"));
        let keys = ["openai_key", "pineconeKey", "MY-KEY"].map(str::to_owned);
        for name in known
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .chain(qualified)
            .chain(joined)
            .chain(keys)
        {
            let middle = name.char_indices().nth(2).map_or(0, |(at, _)| at);
            let (begins, ends) = name.split_at(middle);
            for name in [
                format!("my_{name}"),
                format!("{begins}_{ends}"),
                format!("{begins}–{ends}"),
                name.to_uppercase(),
            ] {
                for tail in ["", "2", "_2", "_enc", "Encrypted", "-plaintext", "_"] {
                    let name = format!("{name}{tail}");
                    assert!(may_tell(name.as_bytes()), "{name}");
                }
            }
        }
        for name in ["content", "finish_reason", "object", "model", "role", "id", "choices"] {
            assert!(!may_tell(name.as_bytes()), "{name}");
        }
    }
}
