//! Secrets that the client sends in this run, in an answer that has placeholders for them.

use super::spelling::json_escaped;
use super::value;
use crate::cassette::splice::{Edit, splice};
use crate::cassette::{Body, Interaction, Peer, Request, Response};
use crate::text::percent;
use crate::text::words::shown;

/// The placeholders in an answer, each by its name and number.
#[derive(Debug, Default)]
pub struct Veiled(Vec<(String, usize)>);

/// What stands for them in this run: of each what it was, and the client's own secret.
///
/// Shows their number and nothing of them.
#[derive(Clone, Default)]
pub struct Unveiled(Vec<(String, String)>);

shown!(Debug: Unveiled, it => "Unveiled({})", it.0.len());

/// The placeholders in a request, each by its name and number, in the order in which they first stand in it.
pub(crate) fn of_request(request: &Request) -> Vec<(String, usize)> {
    let body = request.readable();
    let headers = request.headers.iter().map(|(_, value)| &value[..]);
    of_texts(std::iter::once(request.path.as_bytes()).chain(headers).chain([&*body]))
}

/// The same of all that a client says in an interaction.
pub(super) fn of_client(interaction: &Interaction) -> Vec<(String, usize)> {
    let mut all = of_request(&interaction.request);
    all.extend(of_texts(interaction.said_by_client().map(|message| &message[..])));
    all
}

/// The same of all that a server says.
pub(crate) fn of_server(interaction: &Interaction) -> Vec<(String, usize)> {
    let mut all = interaction.response().map_or_else(Vec::new, |it| Veiled::of(it).0);
    all.extend(of_texts(interaction.said_by(Peer::Server).map(|message| &message[..])));
    all
}

/// Writes the placeholders in a request as a recording has them, where a client has percent-encoded what it was
/// given.
pub(crate) fn spell_out(request: &mut Request) {
    if let Some(plain) = spelled_out(request.path.as_bytes()) {
        request.path = String::from_utf8_lossy(&plain).into_owned();
    }
    if let Some(plain) = spelled_out(&request.body) {
        request.body = plain.into();
    }
}

fn spelled_out(text: &[u8]) -> Option<Vec<u8>> {
    let edits: Vec<Edit> =
        memchr::memchr_iter(b'%', text).filter_map(|at| encoded(text, at)).collect();
    (!edits.is_empty()).then(|| splice(text, &edits))
}

/// The percent-encoded placeholder that begins there.
fn encoded(text: &[u8], start: usize) -> Option<Edit> {
    let rest = &text[start..text.len().min(start + LONGEST)];
    let (bracket, name) = rest.split_at_checked(3)?;
    let opens = bracket.eq_ignore_ascii_case(b"%5b") && name.starts_with(b"redacted");
    let closing = || rest.windows(3).position(|it| it.eq_ignore_ascii_case(b"%5d"));
    let range = start..start + opens.then(closing).flatten()? + 3;
    let plain = percent::decoded(str::from_utf8(&text[range.clone()]).ok()?);
    value::is_placeholder(&plain).then(|| Edit::new(range, plain.into_owned().into_bytes()))
}

/// No percent-encoded placeholder is longer, in bytes.
const LONGEST: usize = 300;

fn of_texts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Vec<(String, usize)> {
    let mut all = Vec::new();
    for text in texts {
        for (_, name, number) in value::placeholders(text) {
            let secret = (name.to_owned(), number);
            if !all.contains(&secret) {
                all.push(secret);
            }
        }
    }
    all
}

impl Veiled {
    /// Those of a recorded answer.
    pub(crate) fn of(response: &Response) -> Self {
        let body = response.readable().bytes();
        let headers = response.headers.iter().map(|(_, value)| &value[..]);
        Self(of_texts(headers.chain([&body[..]])))
    }

    /// Those of a message.
    pub(crate) fn of_text(text: &[u8]) -> Self {
        Self(of_texts(std::iter::once(text)))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What stands for them, as far as the client has sent it.
    pub(crate) fn unveiled(&self, value: impl Fn(&(String, usize)) -> Option<String>) -> Unveiled {
        let known = self
            .0
            .iter()
            .filter_map(|secret| Some((value::numbered(&secret.0, secret.1), value(secret)?)));
        Unveiled(known.filter(|(placeholder, value)| placeholder != value).collect())
    }
}

impl Unveiled {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text in which the client's own secrets stand, if any does.
    pub(crate) fn text(&self, text: &[u8]) -> Option<Vec<u8>> {
        let edits = self.edits(text);
        (!edits.is_empty()).then(|| splice(text, &edits))
    }

    /// The same for a body.
    pub(crate) fn body(&self, mut body: Body) -> Body {
        let edits = self.edits(&body.bytes());
        body.splice(&edits);
        body
    }

    fn edits(&self, text: &[u8]) -> Vec<Edit> {
        let found = value::placeholders(text).filter_map(|(range, name, number)| {
            let placeholder = value::numbered(name, number);
            let (_, value) = self.0.iter().find(|(known, _)| *known == placeholder)?;
            // It may stand in a JSON string: few secrets have anything to be escaped.
            let value = json_escaped(value).into_bytes();
            // What is as long as a secret stays so.
            let fits = range.len() == placeholder.len() || range.len() == value.len();
            fits.then(|| Edit::new(range, value))
        });
        found.collect()
    }
}
