//! Secrets in JSON texts, found token by token.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::graphql::{self, Called};
use super::levels::{KeyNames, Levels};
use super::name::{self, Tells};
use super::rule::Notes;
use super::{body, header, value};
use crate::cassette::splice::Edit;
use crate::text::json::{Container, Places, Text, Token};

/// The edits that take the secrets out of a JSON text, in order.
pub(super) fn find(json: Text<'_>, notes: &mut Notes<'_>) -> Vec<Edit> {
    let called = graphql::called(json, notes);
    find_called(json, called, notes)
}

/// The same where some values are called otherwise than by their keys.
pub(super) fn find_called(json: Text<'_>, called: Called, notes: &mut Notes<'_>) -> Vec<Edit> {
    let has_keys = may_hold_key(json.as_str().as_bytes());
    let (levels, edits) = (Levels::default(), Vec::new());
    let mut walk = JsonWalk { json, has_keys, levels, called, edits, notes };
    let mut tokens = json.tokens();
    while let Some(token) = tokens.next() {
        match token {
            Token::Open(container) => walk.open(container, tokens.end()),
            Token::Close(_) => walk.levels.close(),
            Token::Comma => walk.levels.next(),
            Token::Colon => {}
            Token::String(spelled) => walk.string(spelled, tokens.end()),
            Token::Scalar(spelled) => walk.scalar(spelled, tokens.end()),
        }
    }
    walk.edits
}

/// The member that each JSON Web Key has, and those that make one a private key (RFC 7518, section 6).
const KEY_TYPE: &str = "kty";
const OF_PRIVATE_KEYS: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// Whether there may be a JSON Web Key in a text.
pub(super) fn may_hold_key(text: &[u8]) -> bool {
    static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(KEY_TYPE));
    FINDER.find(text).is_some()
}

struct JsonWalk<'a, 'n, 's> {
    json: Text<'a>,
    /// Whether there may be JSON Web Keys.
    has_keys: bool,
    levels: Levels<'a>,
    called: Called,
    edits: Vec<Edit>,
    notes: &'n mut Notes<'s>,
}

impl<'a> JsonWalk<'a, '_, '_> {
    fn open(&mut self, container: Container, end: usize) {
        self.call(end - 1);
        let key = self.levels.last().filter(|level| level.names != KeyNames::Schemas);
        let key = key.and_then(|level| level.key.clone());
        let holder = key.filter(|key| {
            matches!(self.notes.field(key), Tells::Secret | Tells::Secrets | Tells::Holder)
        });
        self.levels.open(container, holder);
        if self.has_keys && container == Container::Object {
            let object = Text::known(&self.json.as_str()[end - 1..]);
            if object.members().any(|(name, _)| name == KEY_TYPE) {
                self.levels.hold_key();
            }
        }
    }

    fn string(&mut self, spelled: &'a str, end: usize) {
        let inner = &spelled[1..spelled.len() - 1];
        let start = end - 1 - inner.len();
        if self.levels.awaits_key() {
            return self.levels.set_key(plain(inner));
        }
        self.call(start - 1);
        if let Some(name) = self.name_of(inner) {
            if let Some(cookies) = header::echoed_cookies(&name, inner, self.notes) {
                let edits = cookies.into_iter().map(|edit| edit.shifted(start));
                return self.edits.extend(edits);
            }
            let skipped = value::behind_scheme(inner);
            let with = self.notes.replacement(&name, &plain(&inner[skipped..]));
            let edit = with.map(|with| Edit::new(start + skipped..start + inner.len(), with));
            self.edits.extend(edit);
        } else if self.notes.redactor.may_tell(inner.as_bytes()) {
            let places = Places::of_json_string(inner, start);
            let found = body::find_in_text(&places.text, self.notes);
            self.edits.extend(outside(&places, found));
        }
    }

    /// Gives the value that begins there its other name, if it has one.
    fn call(&mut self, start: usize) {
        if let Some(name) = self.called.remove(&start) {
            self.levels.set_key(Cow::Owned(name));
        }
    }

    /// What the string that comes is called if it is a secret.
    fn name_of(&self, inner: &str) -> Option<String> {
        let level = self.levels.last()?;
        let key = level.key.as_deref();
        if level.names == KeyNames::OfKey && key.is_some_and(|key| OF_PRIVATE_KEYS.contains(&key)) {
            return key.map(str::to_owned);
        }
        let named = key.filter(|key| match self.notes.field(key) {
            Tells::Secret => !name::is_address(key, &plain(inner)),
            // A short word under the name of several is none of them: `"permissions": {"secrets": "read"}`.
            Tells::Secrets => !value::is_short_word(&plain(inner)),
            Tells::Perhaps => self.notes.may_be_secret(key, &plain(inner)),
            Tells::Nothing | Tells::Holder => false,
        });
        let held = self.levels.held();
        let held = held.filter(|name| self.notes.holds(self.levels.holder(), name, &plain(inner)));
        let listed = || {
            let name = self.levels.listed()?;
            let is_weak = self.notes.field(name) == Tells::Perhaps;
            (is_weak && self.notes.may_be_secret(name, &plain(inner))).then_some(name)
        };
        held.or(named).or_else(listed).map(str::to_owned)
    }

    /// A number in the place of a secret becomes 0.
    fn scalar(&mut self, spelled: &str, end: usize) {
        self.call(end - spelled.len());
        let key = self.levels.last().and_then(|level| level.key.as_deref());
        let is_number = spelled.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let tells = || key.is_some_and(|key| self.notes.field(key) == Tells::Secret);
        if is_number && spelled != "0" && tells() {
            self.edits.push(Edit::new(end - spelled.len()..end, "0"));
        }
    }
}

/// What a string says that is spelled so without its quotes.
pub(super) fn plain(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let text = Places::of_json_string(inner, 0).text;
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// Edits of a text as edits of the other that it was put together from.
pub(super) fn outside(places: &Places, edits: Vec<Edit>) -> impl Iterator<Item = Edit> + '_ {
    edits.into_iter().map(|Edit { range, with }| {
        let range = places.outside(range.start)..places.outside(range.end);
        Edit { range, with }
    })
}
