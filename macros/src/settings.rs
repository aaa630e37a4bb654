//! `cassette = "agents/list", upstream = "http://127.0.0.1:8283"`

use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

use crate::{Refused, group, is_named, is_punct, punct};

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
        if !is_named(name, "cassette") {
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

fn not_a_setting(at: Span) -> Refused {
    Refused::new(at, "a setting is a name and a value, as in `cassette = \"agents/list\"`")
}
