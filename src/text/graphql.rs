//! GraphQL documents (October 2021, section 2), as far as one has to know what is asked.

use std::iter::Peekable;

/// What a document consists of; the texts in it are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'q> {
    /// A name, or a number.
    Name(&'q str),
    Mark(char),
}

/// The tokens of a document, without texts, commas, comments and white space.
pub(crate) fn tokens(document: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = document;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let (length, token) = match first {
                '#' => (rest.find('\n').unwrap_or(rest.len()), None),
                '"' => (string(rest), None),
                // A byte order mark is passed over as well.
                ',' | '\u{feff}' => (first.len_utf8(), None),
                _ if first.is_whitespace() => (first.len_utf8(), None),
                _ => match name(rest) {
                    "" => (first.len_utf8(), Some(Token::Mark(first))),
                    name => (name.len(), Some(Token::Name(name))),
                },
            };
            rest = &rest[length..];
            if token.is_some() {
                return token;
            }
        }
    })
}

/// Whether the operation that a document is sent for only asks for what is there: a query, which must not change
/// anything. Of several that is the one with the name; without a name all have to be queries. What is no such document
/// is none.
pub(crate) fn only_reads(document: &str, named: Option<&str>) -> bool {
    let mut tokens = tokens(document).peekable();
    let mut is_read = false;
    while let Some(first) = tokens.next() {
        let Some(operation) = definition(first, &mut tokens) else { return false };
        let is_meant = operation.is_operation && (named.is_none() || named == operation.name);
        if is_meant && !operation.is_query {
            return false;
        }
        is_read |= is_meant;
    }
    is_read
}

/// An operation, or a fragment.
struct Definition<'q> {
    name: Option<&'q str>,
    is_operation: bool,
    is_query: bool,
}

fn definition<'q>(
    first: Token<'q>,
    tokens: &mut Peekable<impl Iterator<Item = Token<'q>>>,
) -> Option<Definition<'q>> {
    let (is_operation, is_query) = match first {
        Token::Mark('{') => {
            let all = Definition { name: None, is_operation: true, is_query: true };
            return selects(tokens).then_some(all);
        }
        Token::Name("query") => (true, true),
        Token::Name("mutation" | "subscription") => (true, false),
        Token::Name("fragment") => (false, false),
        _ => return None,
    };
    let word = |token: &Token<'q>| matches!(token, Token::Name(_));
    let name = match tokens.next_if(word) {
        Some(Token::Name(name)) => Some(name),
        _ => None,
    };
    if !is_operation {
        tokens.next_if_eq(&Token::Name("on"))?;
        tokens.next_if(word)?;
    }
    arguments(tokens)?;
    while tokens.next_if_eq(&Token::Mark('@')).is_some() {
        tokens.next_if(word)?;
        arguments(tokens)?;
    }
    let begins = tokens.next_if_eq(&Token::Mark('{')).is_some();
    (begins && selects(tokens)).then_some(Definition { name, is_operation, is_query })
}

/// Passes what stands in parentheses, if they come next.
fn arguments<'q>(tokens: &mut Peekable<impl Iterator<Item = Token<'q>>>) -> Option<()> {
    let are_there = tokens.next_if_eq(&Token::Mark('(')).is_some();
    (!are_there || closes(tokens)).then_some(())
}

/// Passes the fields that are selected behind a `{`: whether there are any, and they end.
fn selects<'q>(tokens: &mut Peekable<impl Iterator<Item = Token<'q>>>) -> bool {
    let is_field = matches!(tokens.peek(), Some(Token::Name(_) | Token::Mark('.')));
    is_field && closes(tokens)
}

/// Passes all up to what closes the bracket that is open: whether it comes.
fn closes<'q>(tokens: &mut impl Iterator<Item = Token<'q>>) -> bool {
    let mut open = 1;
    for token in tokens {
        match token {
            Token::Mark('(' | '[' | '{') => open += 1,
            Token::Mark(')' | ']' | '}') => open -= 1,
            _ => {}
        }
        if open == 0 {
            return true;
        }
    }
    false
}

/// The name with which a text begins.
fn name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// The length of the string with which a text begins.
fn string(text: &str) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        return block.find("\"\"\"").map_or(text.len(), |end| end + 6);
    }
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn a_query_only_reads() {
        let check = |document: &str, named: Option<&str>, expected: bool| {
            assert_eq!(only_reads(document, named), expected, "{document} {named:?}");
        };
        check("{ me { id } }", None, true);
        check("query { me { id } }", None, true);
        check(
            "query Q($id: ID! = \"}\", $in: In = {a: [1]}) @live(if: true) { task(id: $id) { ...F } }\n\
             fragment F on Task @x { id # }\n }",
            Some("Q"),
            true,
        );
        check("mutation M { close { id } }", None, false);
        check("subscription { ticks }", None, false);
        let both = "query Q { a } mutation M { b }";
        check(both, Some("Q"), true);
        check(both, Some("M"), false);
        check(both, None, false);
        check(both, Some("Z"), false);
    }

    #[test]
    fn what_is_no_document_of_operations_is_no_query() {
        for other in [
            "",
            "query about the weather",
            "query Q",
            "query Q { a",
            "{}",
            "{\"match\": {\"all\": 1}}",
            "fragment F on T { a }",
            "{ a } and more",
            "SELECT * FROM query { a }",
        ] {
            assert!(!only_reads(other, None), "{other}");
        }
    }
}
