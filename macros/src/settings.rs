//! `cassette = "agents/list", upstream = "http://127.0.0.1:8283"`

use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::{Refused, code, group, is_named, is_punct, punct};

/// What stands in the brackets of the attribute.
#[derive(Default)]
pub(crate) struct Settings {
    /// The name of the cassette, if it is not that of the test.
    pub(crate) cassette: Option<TokenStream>,
    /// The others: each is a method of `SessionBuilder`, so the compiler checks its name and its value.
    others: Vec<(Ident, TokenStream)>,
}

impl Settings {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self, Refused> {
        let mut settings = Self::default();
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for setting in tokens.split(|token| is_punct(token, ',')) {
            // Behind the last comma there is nothing.
            let Some(first) = setting.first() else { continue };
            let TokenTree::Ident(name) = first else { return Err(not_a_setting(first.span())) };
            let value = match setting.get(1) {
                Some(sign) if is_punct(sign, '=') => setting[2..].to_vec(),
                Some(other) => return Err(not_a_setting(other.span())),
                None => Vec::new(),
            };
            if value.is_empty() && (setting.len() > 1 || is_named(name, "cassette")) {
                return Err(Refused::new(name.span(), format!("`{name}` has no value")));
            }
            settings.add(name, value.into_iter().collect())?;
        }
        Ok(settings)
    }

    fn add(&mut self, name: &Ident, value: TokenStream) -> Result<(), Refused> {
        if is_misspelt(name) {
            // The compiler would take it for a method, of which the one most alike is the folder.
            let why = format!(
                "there is no setting `{name}`: `cassette` names another cassette, and `cassettes` the folder of all"
            );
            return Err(Refused::new(name.span(), why));
        }
        if is_named(name, "mode") {
            self.others.push((name.clone(), mode(value)));
        } else if !is_named(name, "cassette") {
            self.others.push((name.clone(), value));
        } else if self.cassette.replace(value).is_some() {
            return Err(Refused::new(name.span(), "a test has one cassette"));
        }
        Ok(())
    }

    /// `.upstream("http://127.0.0.1:8283").allow_unused()`
    pub(crate) fn calls(&self) -> TokenStream {
        let calls = self.others.iter().flat_map(|(name, value)| {
            let value = group(Delimiter::Parenthesis, value.clone(), name.span());
            [punct('.', name.span()), name.clone().into(), value]
        });
        calls.collect()
    }
}

/// A mode: an expression, or a word of `RETAPE_MODE`.
fn mode(value: TokenStream) -> TokenStream {
    let mut tokens = value.clone().into_iter();
    let (Some(TokenTree::Literal(word)), None) = (tokens.next(), tokens.next()) else {
        return value;
    };
    let mut call = code("::retape::_attribute::mode", word.span());
    call.extend([group(Delimiter::Parenthesis, value, word.span())]);
    call
}

/// Whether somebody means `cassette` and says something else.
fn is_misspelt(name: &Ident) -> bool {
    let name = name.to_string();
    let is_known = matches!(name.as_str(), "cassette" | "cassettes");
    !is_known && distance(&name, "cassette") <= 2
}

/// How many letters are to be put in, left out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], above + 1);
        for (at, of_other) in other.bytes().enumerate() {
            let changed = corner + usize::from(letter != of_other);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

fn not_a_setting(at: Span) -> Refused {
    Refused::new(at, "a setting is a name and a value, as in `cassette = \"agents/list\"`")
}
