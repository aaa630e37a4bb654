//! Where the bytes of a text come from that was put together from another.

use super::escape;
use crate::text::percent;

/// A text put together from pieces of another, such as a string without its escapes, and where its
/// bytes come from.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) text: Vec<u8>,
    /// Where a piece begins here, and where its first byte stands in the other text.
    pieces: Vec<(usize, usize)>,
}

impl Places {
    /// What a JSON string says that is spelled so, without the quotes, beginning at `offset`.
    pub(crate) fn of_json_string(spelled: &str, offset: usize) -> Self {
        let mut places = Self::default();
        let bytes = spelled.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
            places.push(&bytes[at..at + found], offset + at);
            at += found;
            let (char, length) = escape(&spelled[at..]);
            let char = char.unwrap_or(match length {
                1 => '\\',
                2 => 'u',
                _ => char::REPLACEMENT_CHARACTER,
            });
            places.push(char.encode_utf8(&mut [0; 4]).as_bytes(), offset + at);
            at += length;
        }
        places.push(&bytes[at..], offset + at);
        places.pieces.push((places.text.len(), offset + bytes.len()));
        places
    }

    /// What a value of a query or a form says that is spelled so, beginning at `offset`.
    pub(crate) fn of_form_value(spelled: &str, offset: usize) -> Self {
        let mut places = Self::default();
        let mut at = 0;
        while let Some((byte, length)) = percent::form_byte(&spelled.as_bytes()[at..]) {
            places.push(&[byte], offset + at);
            at += length;
        }
        places.pieces.push((places.text.len(), offset + at));
        places
    }

    /// Adds bytes that stand at `offset` of the other text.
    pub(crate) fn push(&mut self, bytes: &[u8], offset: usize) {
        self.pieces.push((self.text.len(), offset));
        self.text.extend_from_slice(bytes);
    }

    /// Where a place of this text stands in the other.
    pub(crate) fn outside(&self, here: usize) -> usize {
        let next = self.pieces.partition_point(|(start, _)| *start <= here);
        let (start, there) = self.pieces.get(next.wrapping_sub(1)).copied().unwrap_or_default();
        there + (here - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_string_says_is_found_where_it_is_spelled() {
        let spelled = r#"{\"a\": \"\u00e9\\n\ud83d\ude00\\\"b\"}"#;

        let places = Places::of_json_string(spelled, 7);

        let text = String::from_utf8(places.text.clone()).expect("it is text");
        assert_eq!(text, r#"{"a": "é\n😀\"b"}"#);
        let b = text.find('b').expect("there is one");
        assert_eq!(&spelled[places.outside(b) - 7..places.outside(b + 1) - 7], "b");
        assert_eq!(places.outside(text.len()), 7 + spelled.len());
    }

    #[test]
    fn what_a_value_of_a_form_says_is_found_where_it_is_spelled() {
        let spelled = "%7B%22a%22:+%22%C3%A9 b%22%7D";

        let places = Places::of_form_value(spelled, 7);

        let text = String::from_utf8(places.text.clone()).expect("it is text");
        assert_eq!(text, r#"{"a": "é b"}"#);
        let value = text.find('é').expect("there is one");
        let end = text.rfind('"').expect("there is one");
        assert_eq!(&spelled[places.outside(value) - 7..places.outside(end) - 7], "%C3%A9 b");
        assert_eq!(places.outside(text.len()), 7 + spelled.len());
    }
}
