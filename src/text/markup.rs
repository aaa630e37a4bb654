//! XML and HTML, cut into the values that stand between the marks.

use std::ops::Range;

/// A value, and what stands between it and the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarkupValue {
    /// Marks, white space and what else is no value.
    pub(crate) before: Range<usize>,
    /// The name of the element or of the attribute, without its namespace.
    pub(crate) name: Range<usize>,
    /// It, on one line. Empty at the end of the text.
    pub(crate) value: Range<usize>,
}

/// Whether a text looks like XML or HTML.
pub(crate) fn is_markup(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<')
        && text.trim_end().ends_with('>')
}

/// Cuts a text. What is not well-formed is cut as well, and nothing is left out.
pub(crate) fn pieces(text: &str) -> Vec<MarkupValue> {
    let mut cutter = Cutter { text, pieces: Vec::new(), end: 0 };
    let (mut at, mut name) = (0, 0..0);
    while at < text.len() {
        let rest = &text[at..];
        at += match rest.strip_prefix('<').and_then(|inside| inside.chars().next()) {
            Some('!') if rest.starts_with(DATA) => {
                let data = rest.find("]]>").unwrap_or(rest.len());
                cutter.values(at + DATA.len()..at + data, &name);
                until(rest, "]]>")
            }
            Some('!') if rest.starts_with("<!--") => until(rest, "-->"),
            Some('?') => until(rest, "?>"),
            Some('/' | '!') => {
                name = 0..0;
                until(rest, ">")
            }
            Some(first) if first.is_alphabetic() || first == '_' => {
                name = local(text, at + 1..at + 1 + word(&rest[1..]));
                cutter.attributes(name.end, at + rest.len()) - at
            }
            _ => {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                let next = rest[first..].find('<').map_or(rest.len(), |next| first + next);
                cutter.values(at..at + next, &name);
                next
            }
        };
    }
    let rest = cutter.end..text.len();
    cutter.pieces.push(MarkupValue { before: rest, name: 0..0, value: text.len()..text.len() });
    cutter.pieces
}

const DATA: &str = "<![CDATA[";

struct Cutter<'t> {
    text: &'t str,
    pieces: Vec<MarkupValue>,
    /// Where the last value ends.
    end: usize,
}

impl Cutter<'_> {
    /// Notes the values of the attributes from a place on. Returns where the mark ends.
    fn attributes(&mut self, from: usize, to: usize) -> usize {
        let mut at = from;
        while let Some(found) = self.text[at..to].find(['>', '"', '\'']) {
            let quote = at + found;
            let mark = &self.text[quote..=quote];
            if mark == ">" {
                return quote + 1;
            }
            let Some(length) = self.text[quote + 1..to].find(mark) else { return to };
            let before =
                self.text[at..quote].trim_end_matches(|c: char| c == '=' || c.is_whitespace());
            let start = before.rfind(|c: char| !is_of_name(c)).map_or(0, |last| last + 1);
            let name = local(self.text, at + start..at + before.len());
            self.values(quote + 1..quote + 1 + length, &name);
            at = quote + 1 + length + 1;
        }
        to
    }

    /// Notes what stands on the lines of a stretch.
    fn values(&mut self, stretch: Range<usize>, name: &Range<usize>) {
        let mut start = stretch.start;
        for line in self.text[stretch].split_inclusive('\n') {
            let value = line.trim();
            let from = start + (line.len() - line.trim_start().len());
            start += line.len();
            if !value.is_empty() {
                let value = from..from + value.len();
                let before = std::mem::replace(&mut self.end, value.end)..value.start;
                self.pieces.push(MarkupValue { before, name: name.clone(), value });
            }
        }
    }
}

/// The length of a text up to the end of that mark.
fn until(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

/// The length of the name at the beginning of a text.
fn word(text: &str) -> usize {
    text.find(|c: char| !is_of_name(c)).unwrap_or(text.len())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

/// A name without its namespace.
fn local(text: &str, name: Range<usize>) -> Range<usize> {
    let colon = text[name.clone()].rfind(':').map_or(0, |colon| colon + 1);
    name.start + colon..name.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let pieces = pieces(text);
        let mut whole = String::new();
        for piece in &pieces {
            whole += &text[piece.before.clone()];
            whole += &text[piece.value.clone()];
        }
        assert_eq!(whole, text, "nothing is left out");
        let found: Vec<(&str, &str)> = pieces[..pieces.len() - 1]
            .iter()
            .map(|it| (&text[it.name.clone()], &text[it.value.clone()]))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_found_with_their_names() {
        check("<a>x</a>", &[("a", "x")]);
        check(
            "<?xml version=\"1.0\"?><s:Body id='7' b=\"c d\"><n:At> 9:00 </n:At>more</s:Body>\n",
            &[("id", "7"), ("b", "c d"), ("At", "9:00"), ("", "more")],
        );
        check("<a><![CDATA[x <b> y]]></a><!-- <c>no</c> -->", &[("a", "x <b> y")]);
        check("<p>one\n  two\n</p>", &[("p", "one"), ("p", "two")]);
    }

    #[test]
    fn what_is_not_well_formed_is_cut_too() {
        check("<", &[("", "<")]);
        check("<a b=\"c", &[]);
        check("<a", &[]);
        check("<!-- <a>", &[]);
        check("<é>ü < ö</é>", &[("é", "ü"), ("é", "< ö")]);
        check("<input name=csrf value='x'><br>", &[("value", "x")]);
        check("<![CDATA[x", &[("", "x")]);
    }
}
