//! `async fn agents_are_listed(session: &Session) -> Result<()> { … }`

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

use crate::settings::Settings;
use crate::{Refused, code, group, is_punct, is_word, punct};

/// A function that takes a session.
pub(crate) struct Function {
    /// `#[ignore]` and the like.
    attributes: TokenStream,
    is_async: bool,
    name: Ident,
    /// The type of the session, for what the compiler says if it is another one.
    session: Span,
    /// All of it from its first word on.
    whole: TokenStream,
}

impl Function {
    pub(crate) fn parse(item: TokenStream) -> Result<Self, Refused> {
        let tokens: Vec<TokenTree> = item.into_iter().collect();
        let mut start = 0;
        while tokens.get(start).is_some_and(|token| is_punct(token, '#')) {
            tokens.get(start + 1).map_or(Ok(()), refuse_other_test)?;
            start += 2;
        }
        let keyword = tokens.iter().position(|token| is_word(token, "fn"));
        let name = keyword.and_then(|keyword| match &tokens[keyword + 1..] {
            [TokenTree::Ident(name), rest @ ..] => Some((keyword, name, rest)),
            _ => None,
        });
        let Some((keyword, name, rest)) = name else {
            let at = tokens.get(start).map_or_else(Span::call_site, TokenTree::span);
            return Err(Refused::new(at, "`#[retape::test]` stands before a function"));
        };
        let session = match rest.first() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                session(group)?
            }
            other => {
                let at = other.map_or_else(|| name.span(), TokenTree::span);
                return Err(Refused::new(at, "a test has no parameters of types"));
            }
        };
        Ok(Self {
            is_async: tokens[start..keyword].iter().any(|token| is_word(token, "async")),
            name: name.clone(),
            session,
            attributes: tokens[..start].iter().cloned().collect(),
            whole: tokens[start..].iter().cloned().collect(),
        })
    }

    /// A test of the same name, with the function in it.
    pub(crate) fn test(self, settings: &Settings) -> TokenStream {
        let at = Span::call_site();
        let builder = code("::retape::Session::builder", at);
        let cassette = settings.cassette.clone().unwrap_or_else(|| self.path());
        let builder = builder
            .into_iter()
            .chain([group(Delimiter::Parenthesis, cassette, at)])
            .chain(settings.calls());
        let panics = self.should_panic();
        let run = match (self.is_async, &panics) {
            (true, None) => "::retape::_attribute::run",
            (false, None) => "::retape::_attribute::run_blocking",
            (true, Some(_)) => "::retape::_attribute::run_to_panic",
            (false, Some(_)) => "::retape::_attribute::run_blocking_to_panic",
        };
        // What the compiler says of a function that takes something else is said at its argument.
        let mut name = self.name.clone();
        name.set_span(name.span().located_at(self.session));
        let mut arguments: TokenStream = builder.chain([punct(',', at), name.into()]).collect();
        if let Some(expected) = panics {
            arguments.extend([punct(',', at)]);
            arguments.extend(expected);
        }
        let mut body = self.whole;
        body.extend(code(run, at));
        body.extend([group(Delimiter::Parenthesis, arguments, at)]);

        let mut test = self.attributes;
        test.extend(code("#[::core::prelude::v1::test] fn", at));
        test.extend([
            self.name.into(),
            group(Delimiter::Parenthesis, TokenStream::new(), at),
            group(Delimiter::Brace, body, at),
        ]);
        test
    }

    /// What its panic is to contain, if `#[should_panic]` stands beside it: `Some("text")`, or `None`.
    fn should_panic(&self) -> Option<TokenStream> {
        let at = Span::call_site();
        self.attributes.clone().into_iter().find_map(|token| {
            let TokenTree::Group(attribute) = token else { return None };
            let mut words = attribute.stream().into_iter();
            words.next().filter(|it| is_word(it, "should_panic"))?;
            let Some(text) = words.find_map(literal) else {
                return Some(code("::core::option::Option::None", at));
            };
            let mut expected = code("::core::option::Option::Some", at);
            expected.extend([group(Delimiter::Parenthesis, text.into(), at)]);
            Some(expected)
        })
    }

    /// The name of the cassette: `&::retape::_attribute::name(::core::module_path!(), "NAME")`.
    fn path(&self) -> TokenStream {
        let at = Span::call_site();
        let name = Literal::string(&self.name.to_string());
        let mut arguments = code("::core::module_path!(),", at);
        arguments.extend([TokenTree::from(name)]);
        let mut path = code("&::retape::_attribute::name", at);
        path.extend([group(Delimiter::Parenthesis, arguments, at)]);
        path
    }
}

/// The text of `= "text"` or `(expected = "text")`.
fn literal(token: TokenTree) -> Option<TokenTree> {
    match token {
        TokenTree::Literal(_) => Some(token),
        TokenTree::Group(group) => group.stream().into_iter().find_map(literal),
        _ => None,
    }
}

/// Where the type of the one argument stands.
fn session(arguments: &Group) -> Result<Span, Refused> {
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let Some(colon) = tokens.iter().position(|token| is_punct(token, ':')) else {
        let why = "a test takes its session: `session: &retape::Session`";
        return Err(Refused::new(arguments.span(), why));
    };
    let end = tokens.iter().position(|token| is_punct(token, ','));
    match end.and_then(|comma| tokens.get(comma + 1)) {
        Some(second) => {
            Err(Refused::new(second.span(), "a test takes its session and nothing else"))
        }
        None if is_by_value(&tokens[colon + 1..end.unwrap_or(tokens.len())]) => {
            let why = "a test borrows its session: take `&retape::Session`";
            Err(Refused::new(tokens[colon + 1].span(), why))
        }
        None => Ok(tokens.get(colon + 1).map_or_else(|| arguments.span(), TokenTree::span)),
    }
}

/// Whether a type is `retape::Session`, and no reference to it.
fn is_by_value(tokens: &[TokenTree]) -> bool {
    tokens.first().is_some_and(|first| !is_punct(first, '&'))
        && tokens.last().is_some_and(|last| is_word(last, "Session"))
}

/// Two attributes would run the test twice, once with no session.
fn refuse_other_test(attribute: &TokenTree) -> Result<(), Refused> {
    let TokenTree::Group(attribute) = attribute else { return Ok(()) };
    let path = attribute.stream().into_iter();
    let path =
        path.take_while(|token| matches!(token, TokenTree::Ident(_)) || is_punct(token, ':'));
    match path.last() {
        Some(last) if is_word(&last, "test") => {
            Err(Refused::new(last.span(), "`#[retape::test]` makes the test: leave this one out"))
        }
        _ => Ok(()),
    }
}
