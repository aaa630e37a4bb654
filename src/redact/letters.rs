//! Whether letters follow each other as they do in words.

/// How much more often one letter follows another in words than by chance, as a power of two from `a` (an
/// eighth) over `d` (as often) to `g` (eight times): a word for each letter, in it a letter for each next one.
///
/// Counted in the parts of the names in some thousand source files, and in the translations of programs into
/// twelve European languages. Where two words meet is counted too.
const FOLLOWS: &str = "\
    defeccecebdffgbeaffgddccdb ebcbdbaadcaebbdbaddbdaaaba fcdcfccfeaeecbfdaededbbaba \
    eddegdccfabddcedaeecdcdbba fdfgeeecebcfegdecggfdedecb dbccdfbaeaadbbecaddccaaaba \
    dbccfbbcdaaccddcaddcdabaaa ebccebaaeaaccbecaccccababa edffedeabbceegfdaeffbdacad \
    caaacaaabaaaaabaaaaabaaaaa dbbbebabdaabbbcbabdccaaaaa fccdgcbbfaceccfeacdddbbada \
    fdccfbbaeaaccceeabdcdaaaaa fceffefcebcdcdedacfgdcbaca cdeecddbdaceegdeafeeeddbab \
    fcddfcbdeabecceeafeedbcaba aaaaaaaaaaaaaaaaaaaadaaaaa fceegcdbfacdedfdadeeddcadb \
    ecedgdcefaddddefbdfgeccbdd fcedgdcegabdddfeaffeebcbea dddcddcadabeefbdaeeeaaaaaa \
    eabbfaaaeaabbacbabbbaaaaaa dabbdbabdaabbccbacdbaaaaaa bacbcbaacaabaaacaabdaaaaaa \
    cbcbcbaacaacccbeabdcbabaaa caaadaaacaaaaabbaabaaaaaaa";

/// Pairs of letters below this say nothing.
const FEWEST: usize = 8;

/// Whether the letters of a text follow each other as by chance, rather than as in words and in names made of
/// words: `HTTPRequestHandler`.
///
/// Each pair of neighbours is evidence for one or the other. In a text that has small and large letters it is
/// evidence, too, whether both are of one kind: half of them are by chance, four of five in words. So is a figure
/// beside a letter, which is rare in words.
pub(super) fn are_random(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    let has_both = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let (mut letters, mut evidence) = (0, 0);
    for pair in text.as_bytes().windows(2) {
        let Some(follows) = follows(pair) else {
            evidence -=
                if pair.iter().all(u8::is_ascii_alphanumeric) && !is_number(pair) { 5 } else { 0 };
            continue;
        };
        let is_same = pair[0].is_ascii_lowercase() == pair[1].is_ascii_lowercase();
        letters += 1;
        evidence += 2 * follows
            + match (has_both, is_same) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => -3,
            };
    }
    letters >= FEWEST && evidence < 0
}

/// What two neighbours say, if they are letters: more than 0 for a word.
fn follows(pair: &[u8]) -> Option<i32> {
    let place = |letter: u8| {
        letter.is_ascii_alphabetic().then(|| usize::from(letter.to_ascii_lowercase() - b'a'))
    };
    let row = place(pair[0])? * 27;
    let weight = FOLLOWS.as_bytes()[row + place(pair[1])?];
    Some(i32::from(weight) - i32::from(b'd'))
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_has_a_row() {
        let rows: Vec<&str> = FOLLOWS.split(' ').collect();

        assert_eq!(rows.len(), 26);
        assert!(
            rows.iter()
                .all(|row| row.len() == 26 && row.bytes().all(|it| b"abcdefg".contains(&it)))
        );
    }

    #[test]
    fn words_and_names_made_of_words_are_not_random() {
        for name in [
            "createUserByIdOrNameAsync",
            "XMLHttpRequestEventTarget",
            "CLIENT_AUTHENTICATION_REQUIRED",
            "internationalization",
            "Rechtsschutzversicherung",
            "anticonstitutionnellement",
            "responsabilizzazione",
            "mapIndexedNotNullTo",
            "PneumonoultramicroscopicSilico",
            "base64UrlEncodedString",
            "short",
        ] {
            assert!(!are_random(name), "{name}");
        }
    }

    #[test]
    fn letters_by_chance_are_random_in_any_case() {
        let letters = |seed: u32| {
            let chance = *blake3::hash(&seed.to_be_bytes()).as_bytes();
            chance.map(|byte| char::from(b'a' + byte % 26)).into_iter().take(28).collect::<String>()
        };
        let mixed = |text: String| {
            let at = |(at, c): (usize, char)| if at % 5 < 2 { c.to_ascii_uppercase() } else { c };
            text.chars().enumerate().map(at).collect::<String>()
        };

        let one_case = (0..1000).filter(|seed| are_random(&letters(*seed))).count();
        let both = (0..1000).filter(|seed| are_random(&mixed(letters(*seed)))).count();

        assert!(one_case >= 980, "{one_case} of 1000");
        assert!(both >= 990, "{both} of 1000");
    }
}
