//! The attribute `#[retape::test]`. Use it through the crate `retape`, where it is documented.
//!
//! # Rationale
//!
//! It needs the name of a function and where its parts are, and nothing of what they mean. So it reads
//! tokens by hand, and is compiled in a moment.

mod function;
mod settings;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use function::Function;
use settings::Settings;

/// Makes a test of a function that takes a session.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, item: TokenStream) -> TokenStream {
    let test = Settings::parse(settings)
        .and_then(|settings| Function::parse(item).map(|function| function.test(&settings)));
    test.unwrap_or_else(Refused::report)
}

/// What is wrong, and where.
struct Refused {
    at: Span,
    why: String,
}

impl Refused {
    fn new(at: Span, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }

    /// `compile_error!("…");`, at the place that is wrong.
    fn report(self) -> TokenStream {
        let mut why = Literal::string(&self.why);
        why.set_span(self.at);
        let why = TokenStream::from(TokenTree::from(why));
        let mut call = code("::core::compile_error!", self.at);
        call.extend([group(Delimiter::Parenthesis, why, self.at), punct(';', self.at)]);
        call
    }
}

/// Code that is written here, as if it stood at `at`. Names in it are the user's: it has absolute paths only.
fn code(text: &str, at: Span) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("the code is a literal");
    let placed = tokens.into_iter().map(|mut token| {
        token.set_span(at.resolved_at(Span::mixed_site()));
        token
    });
    placed.collect()
}

fn group(delimiter: Delimiter, inside: TokenStream, at: Span) -> TokenTree {
    let mut group = Group::new(delimiter, inside);
    group.set_span(at);
    group.into()
}

fn punct(sign: char, at: Span) -> TokenTree {
    let mut punct = Punct::new(sign, Spacing::Alone);
    punct.set_span(at);
    punct.into()
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if is_named(ident, word))
}

fn is_named(ident: &Ident, word: &str) -> bool {
    ident.to_string() == word
}
