//! What a GraphQL query passes variables on as: `login(password: $p)`.

use std::collections::HashMap;

use memchr::{memchr, memmem};

use super::name::Tells;
use super::rule::{Notes, Rule};
use crate::text::graphql::{Token, tokens};
use crate::text::json::{Container, Text};

/// So deep an operation stands in a message: in a list of them, or as the `payload` of a message.
const DEEPEST: usize = 3;

/// What values are called by a query, by where they begin in a text.
pub(super) type Called = HashMap<usize, String>;

/// Whether a text may hold a query with variables.
pub(super) fn may_tell(text: &[u8]) -> bool {
    memchr(b'$', text).is_some() && memmem::find(text, b"variables").is_some()
}

/// What the values in a JSON text are called by the queries in it.
pub(super) fn called(json: Text<'_>, notes: &Notes<'_>) -> Called {
    let mut called = Called::new();
    if notes.applies(Rule::Graphql) && may_tell(json.as_str().as_bytes()) {
        let mut inside = vec![(json, 0)];
        while let Some((text, depth)) = inside.pop() {
            let query = text.get("query").and_then(Text::string);
            if let Some((query, variables)) = query.zip(text.get("variables")) {
                add(&query, variables, start(json), notes, &mut called);
            }
            if depth < DEEPEST {
                let members = text.members().map(|(_, value)| value);
                let values = members.chain(text.elements());
                let values = values.filter(|value| value.container().is_some());
                inside.extend(values.map(|value| (value, depth + 1)));
            }
        }
    }
    called
}

/// The same for variables that stand beside their query as another parameter.
pub(super) fn called_in(query: &str, variables: Text<'_>, notes: &Notes<'_>) -> Called {
    let mut called = Called::new();
    if notes.applies(Rule::Graphql) {
        add(query, variables, start(variables), notes, &mut called);
    }
    called
}

fn add(query: &str, variables: Text<'_>, from: usize, notes: &Notes<'_>, called: &mut Called) {
    if variables.container() != Some(Container::Object) {
        return;
    }
    let passed = passed(query);
    for (name, value) in variables.members() {
        let own = notes.field(&name);
        // The first name that says more than the variable's own.
        let tells = |argument: &&str| match notes.field(argument) {
            Tells::Secret | Tells::Secrets => !matches!(own, Tells::Secret | Tells::Secrets),
            Tells::Perhaps | Tells::Holder => own == Tells::Nothing,
            Tells::Nothing => false,
        };
        let mut arguments =
            passed.iter().filter(|(_, it)| *it == name).map(|(argument, _)| *argument);
        if let Some(argument) =
            arguments.find(tells).filter(|_| !notes.redactor.own.is_no_secret(&name))
        {
            called.insert(start(value) - from, argument.to_owned());
        }
    }
}

fn start(text: Text<'_>) -> usize {
    text.as_str().as_ptr().addr()
}

/// The arguments and input fields to which a query passes variables, each with the variable.
fn passed(query: &str) -> Vec<(&str, &str)> {
    let mut passed = Vec::new();
    // The name that came last, and the one whose value comes.
    let (mut last, mut argument) = (None, None);
    let mut tokens = tokens(query).peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Mark('$') => {
                let variable = tokens.next_if(|token| matches!(token, Token::Name(_)));
                if let Some((argument, Token::Name(variable))) = argument.zip(variable) {
                    passed.push((argument, variable));
                }
                last = None;
            }
            Token::Mark(':') => argument = last.take(),
            Token::Mark('[') => {}
            Token::Mark(_) => (last, argument) = (None, None),
            Token::Name(name) => (last, argument) = (Some(name), None),
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn variables_are_called_by_what_they_are_passed_to() {
        for (query, expected) in [
            ("mutation($p:String!){login(user:\"u\",password:$p)}", &[("password", "p")][..]),
            (
                "query Q($a: Int = 3, $b: [Id!]) { f(x: $a y : $b) @if(if: $c) }",
                &[("x", "a"), ("y", "b"), ("if", "c")],
            ),
            (
                "{f(in: {user: $u, passwords: [$a, $b]}) {token: name(id: $i)}}",
                &[("user", "u"), ("passwords", "a"), ("passwords", "b"), ("id", "i")],
            ),
            (
                "# a: $a\n{f(b: \"c: $c \\\" d: $d\", e: \"\"\"g: \" $g\"\"\", h: $h)}",
                &[("h", "h")],
            ),
            ("{f(a: true, $b, é: $é", &[("é", "")][..0]),
            ("{f(a: \"", &[]),
        ] {
            assert_eq!(passed(query), expected, "{query}");
        }
    }
}
