//! The parts of a multipart body, such as a form with files in it.
//!
//! Reads what clients send rather than what RFC 2046 and RFC 7578 ask for: line feeds without a
//! carriage return, a body that ends before its last delimiter, fields of a part in any spelling.
//!
//! # Rationale
//!
//! The crates for this read from a socket and give what each part says, as a server needs it. What is
//! recorded is all there, and to change it in place takes knowing where each part stands.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::text::percent;

/// One part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    /// The name of the form field.
    pub(crate) name: Option<Cow<'a, str>>,
    /// The name of the file.
    pub(crate) filename: Option<Cow<'a, str>>,
    /// Its media type with parameters, as it is spelled.
    pub(crate) content_type: Option<&'a str>,
    /// Where its content stands in the whole body.
    pub(crate) range: Range<usize>,
    /// Its content.
    pub(crate) body: &'a [u8],
}

/// The parts of a body of that `content-type`, in order. Nothing if the type is not a multipart one
/// or its boundary does not stand in the body.
///
/// A body without its last delimiter ends its last part.
pub(crate) fn parts<'a>(content_type: &str, body: &'a [u8]) -> Option<Vec<Part<'a>>> {
    let boundary = boundary(content_type)?;
    let mut parts = Vec::new();
    let mut start = None;
    let mut closed = false;
    for line in delimiters(&boundary, body) {
        parts.extend(start.map(|start| part(body, start..before(body, start, line.range.start))));
        start = Some(line.range.end);
        closed = line.is_last;
        if closed {
            break;
        }
    }
    let start = start?;
    if !closed {
        parts.push(part(body, start..body.len()));
    }
    Some(parts)
}

/// The boundary that a `content-type` names, if it is a multipart one.
pub(crate) fn boundary(content_type: &str) -> Option<Cow<'_, str>> {
    let is_multipart = content_type.trim_start().get(..10)?.eq_ignore_ascii_case("multipart/");
    is_multipart.then(|| parameter(content_type.as_bytes(), "boundary"))?.filter(|boundary| {
        // An empty one would make a delimiter of every line that begins with two hyphens.
        !boundary.is_empty()
    })
}

/// What stands for any boundary where bodies are compared: clients make boundaries up, and they say nothing.
pub(crate) const ANY_BOUNDARY: &str = "retape-any-boundary";

/// A body with its parts between the delimiters of another boundary.
pub(crate) fn with_boundary(body: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut settled = Vec::with_capacity(body.len());
    let mut rest = 0;
    for delimiter in delimiters(from, body) {
        let start = delimiter.range.start + 2;
        settled.extend_from_slice(&body[rest..start]);
        settled.extend_from_slice(to.as_bytes());
        rest = start + from.len();
    }
    settled.extend_from_slice(&body[rest..]);
    settled
}

/// A line that stands between two parts, with its end.
struct Delimiter {
    range: Range<usize>,
    is_last: bool,
}

fn delimiters(boundary: &str, body: &[u8]) -> impl Iterator<Item = Delimiter> {
    let mark = format!("--{boundary}");
    let finder = memmem::Finder::new(&mark).into_owned();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + finder.find(&body[at..])?;
            at = start + mark.len();
            let begins_line = start == 0 || body[start - 1] == b'\n';
            if let Some((length, is_last)) = rest_of_line(&body[at..]).filter(|_| begins_line) {
                at += length;
                return Some(Delimiter { range: start..at, is_last });
            }
        }
    })
}

/// How much of a delimiter's line stands behind the boundary, and whether it says that no part
/// follows. Nothing if the boundary is only the beginning of another word.
fn rest_of_line(text: &[u8]) -> Option<(usize, bool)> {
    let behind = text.strip_prefix(b"--").unwrap_or(text);
    let blank = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = match &behind[blank..] {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        [] => 0,
        _ => return None,
    };
    let is_last = behind.len() < text.len();
    Some((text.len() - behind.len() + blank + end, is_last))
}

/// The end of what stands before a delimiter, whose line break belongs to it.
fn before(body: &[u8], start: usize, delimiter: usize) -> usize {
    match &body[start..delimiter] {
        [.., b'\r', b'\n'] => delimiter - 2,
        [.., b'\n'] => delimiter - 1,
        _ => delimiter,
    }
}

/// The part that stands in a range: fields, an empty line, content.
fn part(body: &[u8], range: Range<usize>) -> Part<'_> {
    let whole = &body[range.clone()];
    let mut length = 0;
    let lines = whole.split_inclusive(|byte| *byte == b'\n').take_while(|line| {
        length += line.len();
        !line.trim_ascii_end().is_empty()
    });
    lines.for_each(drop);
    let head = &whole[..length];
    let disposition = field(head, b"content-disposition").unwrap_or_default();
    let range = range.start + length..range.end;
    Part {
        name: parameter(disposition, "name"),
        filename: parameter(disposition, "filename"),
        content_type: field(head, b"content-type").and_then(|text| str::from_utf8(text).ok()),
        body: &body[range.clone()],
        range,
    }
}

/// The value of a field, with the line breaks within it.
fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut rest = head;
    loop {
        let (line, behind) = rest.split_at(length_of_field(rest)?);
        rest = behind;
        let colon = memchr::memchr(b':', line).unwrap_or(0);
        if line[..colon].trim_ascii().eq_ignore_ascii_case(name) {
            return Some(line[colon + 1..].trim_ascii());
        }
    }
}

/// The bytes up to the next line that does not go on with a field.
fn length_of_field(text: &[u8]) -> Option<usize> {
    let ends = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
    let mut complete = ends.filter(|end| !matches!(text.get(*end), Some(b' ' | b'\t')));
    (!text.is_empty()).then(|| complete.next().unwrap_or(text.len()))
}

/// What a parameter says. Its extended form (`name*=UTF-8''…`) counts before its plain one.
fn parameter<'a>(value: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let named = |(found, text): (&'a [u8], Cow<'a, [u8]>)| {
        found.eq_ignore_ascii_case(name.as_bytes()).then_some(text)
    };
    let is_extended = |found: &[u8]| match found.split_last() {
        Some((b'*', found)) => found.eq_ignore_ascii_case(name.as_bytes()),
        _ => false,
    };
    let extended = parameters(value).find(|(found, _)| is_extended(found));
    match extended.and_then(|(_, text)| decoded(&text)) {
        Some(text) => Some(Cow::Owned(text)),
        None => parameters(value).find_map(named).map(lossy),
    }
}

/// The names and values behind each `;`.
fn parameters(value: &[u8]) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        loop {
            let start = memchr::memchr(b';', rest)? + 1;
            rest = &rest[start..];
            let length = memchr::memchr2(b'=', b';', rest)?;
            let (name, behind) = rest.split_at(length);
            rest = behind;
            if let [b'=', behind @ ..] = behind {
                let (text, behind) = parameter_value(behind.trim_ascii_start());
                rest = behind;
                return Some((name.trim_ascii(), text));
            }
        }
    })
}

/// A value and what stands behind it.
fn parameter_value(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    if let [b'"', quoted @ ..] = text {
        return unquoted(quoted);
    }
    let end = memchr::memchr(b';', text).unwrap_or(text.len());
    (Cow::Borrowed(text[..end].trim_ascii_end()), &text[end..])
}

/// What stands up to the closing quote. A backslash that escapes nothing is one: browsers write
/// `C:\file` so.
fn unquoted(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut plain: Option<Vec<u8>> = None;
    let mut at = 0;
    let end = loop {
        match &text[at..] {
            [] | [b'"', ..] => break at,
            [b'\\', escaped @ (b'"' | b'\\'), ..] => {
                plain.get_or_insert_with(|| text[..at].to_vec()).push(*escaped);
                at += 2;
            }
            [byte, ..] => {
                plain.iter_mut().for_each(|plain| plain.push(*byte));
                at += 1;
            }
        }
    };
    let behind = text.get(end + 1..).unwrap_or_default();
    (plain.map_or(Cow::Borrowed(&text[..end]), Cow::Owned), behind)
}

/// What `UTF-8'en'na%C3%AFve` says; nothing if it is of another character set.
fn decoded(text: &[u8]) -> Option<String> {
    let mut parts = str::from_utf8(text).ok()?.splitn(3, '\'');
    let charset = parts.next()?;
    let text = parts.nth(1)?;
    charset.eq_ignore_ascii_case("utf-8").then(|| percent::decoded(text).into_owned())
}

fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORM: &str = "multipart/form-data; boundary=xyz";

    /// Each part as `name|filename|content type|content`.
    fn check(content_type: &str, body: &str, expected: &[&str]) {
        let told = |part: &Part<'_>| {
            let name = part.name.as_deref().unwrap_or("-");
            let filename = part.filename.as_deref().unwrap_or("-");
            let content = String::from_utf8_lossy(part.body);
            format!("{name}|{filename}|{}|{content}", part.content_type.unwrap_or("-"))
        };

        let found = parts(content_type, body.as_bytes()).unwrap();

        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), expected, "{body}");
        for part in found {
            assert_eq!(part.body, &body.as_bytes()[part.range]);
        }
    }

    #[test]
    fn a_form_has_fields_and_files_between_preamble_and_epilogue() {
        let body = "not a part\r\n--xyz\r\n\
            Content-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n\
            --xyz \t\r\ncontent-type: text/plain; charset=utf-8\r\n\
            CONTENT-DISPOSITION: form-data; name=file; filename=\"a;b.txt\"\r\n\r\n\
            one\r\n\r\ntwo\n\r\n\
            --xyz--\r\n--xyz\r\nnot a part either";

        check(
            FORM,
            body,
            &["note|-|-|hello", "file|a;b.txt|text/plain; charset=utf-8|one\r\n\r\ntwo\n"],
        );
    }

    #[test]
    fn the_boundary_may_be_quoted_and_stand_among_other_parameters() {
        for content_type in [
            "multipart/form-data; boundary=\"a b;c\"",
            "Multipart/Form-Data;charset=x; BOUNDARY = \"a b;c\" ; x=y",
        ] {
            check(content_type, "--a b;c\r\n\r\nhello\r\n--a b;c--", &["-|-|-|hello"]);
        }
    }

    #[test]
    fn what_is_no_multipart_body_has_no_parts() {
        for (content_type, body) in [
            ("application/json", "--xyz\r\n\r\n\r\n--xyz--"),
            ("multipart/form-data", "--xyz\r\n\r\n\r\n--xyz--"),
            ("multipart/form-data; boundary=", "--\r\n\r\n\r\n----"),
            ("multipart/form-data; x=\"; boundary=xyz\"", "--xyz\r\n\r\n\r\n--xyz--"),
            (FORM, ""),
            (FORM, "--xy\r\n\r\nhello"),
            (FORM, "hello --xyz\r\n\r\nhello"),
        ] {
            assert_eq!(parts(content_type, body.as_bytes()), None, "{content_type}: {body}");
        }
        check(FORM, "--xyz--\r\n", &[]);
    }

    #[test]
    fn a_longer_boundary_in_a_part_does_not_end_it() {
        check(
            FORM,
            "--xyz\r\n\r\na\r\n--xyzz\r\n--xyz-\r\nb\r\n--xyz--",
            &["-|-|-|a\r\n--xyzz\r\n--xyz-\r\nb"],
        );
    }

    #[test]
    fn a_body_that_is_cut_short_ends_its_last_part() {
        check(
            FORM,
            "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhel",
            &["a|-|-|hel"],
        );
        check(FORM, "--xyz\r\nContent-Disposition: form-data; name=\"a", &["a|-|-|"]);
        check(FORM, "--xyz", &["-|-|-|"]);
    }

    #[test]
    fn bare_line_feeds_and_parts_without_fields_or_content_are_read() {
        check(FORM, "--xyz\nContent-Type: a/b\n\nhello\n\n--xyz--\n", &["-|-|a/b|hello\n"]);
        check(FORM, "--xyz\r\n\r\n--xyz\r\n--xyz\r\nx: y\r\n\r\n--xyz--", &["-|-|-|"; 3]);
    }

    #[test]
    fn names_are_read_in_every_spelling_that_clients_use() {
        for (spelled, name) in [
            (r#"name=plain ; x=y"#, "plain"),
            (r#"name="say \"hi\" \\ C:\new""#, r#"say "hi" \ C:\new"#),
            (r#"name="%22hi%22""#, "%22hi%22"),
            ("x=y;\r\n\tname=\"folded\"", "folded"),
            (r#"x="; name=no"; NAME="yes""#, "yes"),
            ("name=\"naïve\"", "naïve"),
            ("name=no; name*=UTF-8'en'na%C3%AFve", "naïve"),
            ("name=yes; name*=ISO-8859-1''na%EFve", "yes"),
            ("name=\"\"", ""),
        ] {
            let field = format!("Content-Disposition: form-data; {spelled}");
            check(FORM, &format!("--xyz\r\n{field}\r\n\r\n--xyz--"), &[&format!("{name}|-|-|")]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic_and_in_bounds(
            content_type in r#"(multipart/[a-z]*; ?boundary="?-?a?"?)|.*"#,
            pieces in prop::collection::vec(piece(), 0..12),
        ) {
            let body = pieces.concat();

            let found = parts(&content_type, &body).unwrap_or_default();

            let mut end = 0;
            for part in found {
                prop_assert!(end <= part.range.start && part.range.end <= body.len());
                prop_assert_eq!(&body[part.range.clone()], part.body);
                end = part.range.end;
            }
        }

        #[test]
        fn what_was_put_into_a_form_comes_out_of_it(
            fields in prop::collection::vec(("[^\"\\\\\r\n]*", content()), 0..5),
            boundary in "[A-Za-z0-9'()+_,./:=?-]{8,70}",
        ) {
            let mut body = Vec::new();
            for (name, content) in &fields {
                let field = format!("Content-Disposition: form-data; name=\"{name}\"");
                body.extend(format!("--{boundary}\r\n{field}\r\n\r\n").bytes());
                body.extend([content.as_slice(), b"\r\n"].concat());
            }
            body.extend(format!("--{boundary}--\r\n").bytes());

            let content_type = format!("multipart/form-data; boundary=\"{boundary}\"");
            let found = parts(&content_type, &body).unwrap();

            let found: Vec<_> = found.into_iter().map(|it| (it.name.unwrap(), it.body)).collect();
            let put = fields.iter().map(|(name, it)| (name.into(), it.as_slice()));
            prop_assert_eq!(found, put.collect::<Vec<_>>());
        }
    }

    fn content() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..40)
    }

    /// What a multipart body is made of, and what it is not.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        const KNOWN: &str = r#"--a -- a : ; " \ name= *=UTF-8''% content-disposition:form-data;"#;
        let known = KNOWN.split(' ').chain(["\r\n", "\n", "\r", " "]).map(|it| it.into());
        prop_oneof![prop::sample::select(known.collect::<Vec<Vec<u8>>>()), content(),]
    }
}
