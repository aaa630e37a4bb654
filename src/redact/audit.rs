//! What is left in a cassette that may be a secret.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Redactor, apply, value};
use crate::cassette::{Cassette, Headers, Interaction, Interactions, Recorded, coding, large};

/// Something in a cassette that may be a secret, without what it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Suspect {
    /// The number of the interaction, counted from 1; nothing for a file that is no cassette.
    pub interaction: Option<usize>,
    /// Where it stands: `body of the answer, line 3`.
    pub place: String,
    /// Why it may be one: the name of what a rule calls it, `generated` or `unreadable`.
    pub rule: String,
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(interaction) = self.interaction {
            write!(f, "interaction {interaction}, ")?;
        }
        write!(f, "{}: {}", self.place, self.rule)
    }
}

/// The parts of an interaction, each with what it is called.
type LabelledPart = (String, Vec<u8>);

impl Redactor {
    /// What these rules would replace in a cassette, and what else looks like a secret.
    pub fn audit(&self, cassette: &Cassette) -> Vec<Suspect> {
        self.audit_each(cassette, &cassette.interactions)
    }

    /// The same for one with these interactions, which need not be held in memory.
    pub(crate) fn audit_each(&self, cassette: &Cassette, all: &impl Interactions) -> Vec<Suspect> {
        let is_again = !cassette.redactions.is_empty();
        let rules = Self { is_again, ..self.unnumbered().with_own_of(cassette) };
        let mut suspects = Vec::new();
        for (number, interaction) in all.each().enumerate() {
            let suspect = |(place, rule)| Suspect { interaction: Some(number + 1), place, rule };
            let parts = parts(&interaction);
            suspects.extend(parts.iter().flat_map(generated).map(suspect));
            suspects.extend(rules.unreadable(&interaction).into_iter().map(suspect));
            // Where nothing is found in any of them, there is nothing to look for in the others.
            if !rules.is_clean(interaction.into_owned(), &parts) {
                let redactions = cassette.redactions.clone();
                let interactions = all.each().map(Cow::into_owned).collect();
                let held = Cassette { redactions, interactions, ..Cassette::default() };
                return self.audit_held(&held);
            }
        }
        suspects.sort();
        suspects.dedup();
        suspects
    }

    /// Whether these rules find nothing in an interaction alone.
    fn is_clean(&self, interaction: Interaction, before: &[LabelledPart]) -> bool {
        let mut alone = vec![interaction];
        apply::recording(self, &mut Recorded::default(), &mut alone);
        parts(&alone[0]) == before
    }

    fn audit_held(&self, cassette: &Cassette) -> Vec<Suspect> {
        let clean = self.unnumbered().cassette(cassette.clone()).into_inner();
        let mut suspects = Vec::new();
        for (number, (before, after)) in
            cassette.interactions.iter().zip(&clean.interactions).enumerate()
        {
            let suspect = |(place, rule)| Suspect { interaction: Some(number + 1), place, rule };
            let (before, after) = (parts(before), parts(after));
            suspects.extend(known(&before, &after).map(suspect));
            suspects.extend(after.iter().flat_map(generated).map(suspect));
            let found = self.unreadable(&cassette.interactions[number]);
            suspects.extend(found.into_iter().map(suspect));
        }
        suspects.sort();
        suspects.dedup();
        suspects
    }

    /// The same for a text that is no cassette: a contract, a report.
    pub fn audit_text(&self, text: &str) -> Vec<Suspect> {
        let clean = self.text(text);
        let (before, after) = ((String::new(), text.into()), (String::new(), clean.into()));
        let known = known(std::slice::from_ref(&before), std::slice::from_ref(&after));
        let suspect = |(place, rule): (String, String)| {
            let place = place.trim_start_matches([',', ' ']).to_owned();
            Suspect { interaction: None, place, rule }
        };
        let mut suspects: Vec<_> = known.map(suspect).collect();
        suspects.sort();
        suspects.dedup();
        suspects
    }
}

/// The placeholders that came with cleaning.
fn known<'a>(
    before: &'a [LabelledPart],
    after: &'a [LabelledPart],
) -> impl Iterator<Item = (String, String)> + 'a {
    before.iter().flat_map(|(place, old)| {
        let new = after.iter().find(|(other, _)| other == place);
        let new = new.filter(|(_, new)| new != old);
        let lines =
            new.into_iter().flat_map(|(_, new)| new.split(|byte| *byte == b'\n').enumerate());
        lines.flat_map(move |(number, line)| {
            let found = value::placeholders(line)
                .filter(|(range, ..)| memchr::memmem::find(old, &line[range.clone()]).is_none());
            let found: Vec<String> = found.map(|(_, name, _)| name.to_owned()).collect();
            found.into_iter().map(move |name| (format!("{place}, line {}", number + 1), name))
        })
    })
}

fn parts(interaction: &Interaction) -> Vec<LabelledPart> {
    let Interaction { request, .. } = interaction;
    let mut parts = vec![
        ("path".to_owned(), request.path.clone().into_bytes()),
        ("body of the request".to_owned(), request.readable().into_owned()),
    ];
    parts.extend(fields(&request.headers, "of the request"));
    if let Some(response) = interaction.response() {
        parts.push(("reason".to_owned(), response.reason.clone().unwrap_or_default().into_bytes()));
        parts.push(("body of the answer".to_owned(), response.readable().bytes().to_vec()));
        parts.extend(fields(&response.headers, "of the answer"));
        parts.extend(fields(&response.trailers, "behind the answer"));
        let interim = response.interim.iter();
        parts.extend(interim.flat_map(|it| fields(&it.headers, "before the answer")));
    }
    // Which of several secrets it is makes it no other one.
    for (_, text) in &mut parts {
        if let Some(plain) = value::without_numbers(text) {
            *text = plain;
        }
    }
    parts
}

fn fields<'a>(headers: &'a Headers, of: &'a str) -> impl Iterator<Item = LabelledPart> + 'a {
    let field = move |(at, (name, value)): (usize, (&str, &bytes::Bytes))| {
        (format!("field {} `{name}` {of}", at + 1), value.to_vec())
    };
    headers.iter().enumerate().map(field)
}

/// What a name hints at and looks generated.
fn generated((place, text): &LabelledPart) -> Vec<(String, String)> {
    // To ask for each line takes longer than to ask for all.
    if !NAMED.is_match(text) {
        return Vec::new();
    }
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let found = lines.filter(|(_, line)| holds_generated(line));
    found.map(|(at, _)| (format!("{place}, line {}", at + 1), "generated".to_owned())).collect()
}

fn holds_generated(line: &[u8]) -> bool {
    let mut named = NAMED.captures_iter(line).filter_map(|found| found.get(1));
    named.any(|value| str::from_utf8(value.as_bytes()).is_ok_and(value::is_generated))
}

/// A name with a telling word in it, and what it has.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let word = "secret|passw|credential|api_?key|private_?key|access_?key|auth_?key";
    let name = format!(r#"(?i-u)(?:{word})[A-Za-z0-9_.-]{{0,40}}\\*["']?\s*[:=]\s*"#);
    Regex::new(&format!(r#"{name}\\*["']?([A-Za-z0-9_+/=.~-]{{24,}})"#))
        .expect("the expression is fixed and tested")
});

/// The coding of a file that is packed as a whole.
fn packed(body: &[u8]) -> Option<&'static str> {
    let begins = [(&[0x1f, 0x8b][..], "gzip"), (&[0x28, 0xb5, 0x2f, 0xfd][..], "zstd")];
    begins.into_iter().find(|(begin, _)| body.starts_with(begin)).map(|(_, coding)| coding)
}

impl Redactor {
    /// Bodies of which nobody can say what they hold, and what is found in packed ones, in which nothing is replaced.
    fn unreadable(&self, interaction: &Interaction) -> Vec<(String, String)> {
        let request = &interaction.request;
        let asked = Some((&request.headers, request.body.clone(), "body of the request"));
        let said = interaction.response();
        let said = said.map(|it| (&it.headers, it.body.bytes(), "body of the answer"));
        let mut found = Vec::new();
        for (headers, body, place) in asked.into_iter().chain(said) {
            if is_unreadable(headers, &body) {
                found.push((place.to_owned(), "unreadable".to_owned()));
            } else if let Some(plain) = unpacked(headers, &body) {
                let text = String::from_utf8_lossy(&plain);
                let inside = self.audit_text(&text).into_iter();
                found
                    .extend(inside.map(|it| (format!("{place}, unpacked, {}", it.place), it.rule)));
            }
        }
        found
    }
}

/// What is in a file that is packed as a whole.
fn unpacked(headers: &Headers, body: &[u8]) -> Option<Vec<u8>> {
    let coding = packed(body).filter(|_| coding::listed(headers).is_empty())?;
    coding::decode_readable(coding, body).filter(|plain| !plain.is_empty())
}

fn is_unreadable(headers: &Headers, body: &[u8]) -> bool {
    let codings = coding::listed(headers);
    match codings.as_str() {
        _ if body.len() < value::SHORTEST => false,
        "" if packed(body).is_some() => unpacked(headers, body).is_none(),
        "" => large::is_unread(body),
        // What is text in spite of its coding is read as it is.
        _ if std::str::from_utf8(body).is_ok() => false,
        several if several.contains(',') => coding::decode_listed(several, body).is_none(),
        one => coding::decode_readable(one, body).is_none_or(|plain| plain.is_empty()),
    }
}
