//! Where the server gave back what the client had minted.

use std::ops::Range;

use super::bindings::Scoped;
use super::field::fields;
use super::made_up::is_apart;
use super::moment::decoded;
use super::plain::Plain;
use super::{Bindings, Hole, MadeUp, Scope, Words, dates, moments};
use super::{draws, nested};
use crate::cassette::Body;
use crate::cassette::splice::{self, Edit};
use crate::text::percent;

/// A place in a text where a client-minted value comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo {
    range: Range<usize>,
    scope: Scope,
    identifier: String,
    /// In how many strings it stands that are JSON themselves.
    depth: usize,
    /// Whether it is percent-encoded there.
    is_encoded: bool,
}

/// What stands for client-minted values now, where that differs from the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renamed(Scoped<Hole>);

impl Echo {
    /// The echoes in a text, in order. A text that is not UTF-8 has none.
    pub fn all(text: &[u8], made_up: &MadeUp) -> Vec<Self> {
        if made_up.is_empty() {
            return Vec::new();
        }
        let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
        let plain = Plain::of(text.into());
        let mut echoes = Vec::new();
        let mut push = |scope: Scope, range: Range<usize>, value: &str, depth: usize| {
            if made_up.contains(scope, value) {
                let is_encoded = scope == Scope::Moment && plain.text[range.clone()] != *value;
                let (range, identifier) = (plain.original(range), value.to_owned());
                echoes.push(Self { range, scope, identifier, depth, is_encoded });
            }
        };
        for range in made_up.words(&plain.text) {
            push(Scope::Anywhere, range.clone(), &plain.text[range], 0);
        }
        for range in made_up.spoken_in(&plain.text) {
            push(Scope::Within, range.clone(), &plain.text[range], 0);
        }
        if made_up.is_placed {
            for range in moments(&plain.text).chain(dates(&plain.text)) {
                let said = &plain.text[range.clone()];
                push(Scope::Moment, range.clone(), said, 0);
                push(Scope::Moment, range, &decoded(said), 0);
            }
            for field in fields(&plain.text, &made_up.said) {
                push(field.scope, field.range, &field.value, field.depth);
            }
        }
        for (at, scope) in draws::told(text, &made_up.draws) {
            let same = echoes.iter_mut().filter(|echo| {
                at <= echo.range.start && echo.range.start <= at + 1 && echo.depth == 0
            });
            same.for_each(|echo| echo.scope = scope);
        }
        echoes.sort_by_key(|echo| echo.range.start);
        echoes.dedup_by(|echo, before| echo.range == before.range && echo.scope == before.scope);
        echoes
    }

    /// Those in the value of a header field, which may be one as a whole.
    pub fn in_field(value: &[u8], made_up: &MadeUp) -> Vec<Self> {
        let mut echoes = Self::all(value, made_up);
        let whole = std::str::from_utf8(value).ok();
        if let Some(value) = whole.filter(|value| made_up.contains(Scope::Word, value)) {
            let range = 0..value.len();
            let identifier = value.to_owned();
            let scope = Scope::Word;
            echoes.push(Self { range, scope, identifier, depth: 0, is_encoded: false });
        }
        echoes
    }

    /// The value as it was recorded, and where it may appear.
    pub fn value(&self) -> (Scope, &str) {
        (self.scope, &self.identifier)
    }
}

impl Renamed {
    /// What is bound to these values, where it is another value.
    pub fn of<'a>(values: impl Iterator<Item = (Scope, &'a str)>, bindings: &Bindings) -> Self {
        let mut renamed = Self::default();
        for (scope, recorded) in values {
            let bound = if scope == Scope::Within { Scope::Word } else { scope };
            let live = bindings.live(bound, recorded).filter(|live| {
                live.identifier != recorded || matches!(scope, Scope::Call | Scope::Progress)
            });
            if let Some(live) = live {
                let same = renamed.0.entry(scope).or_default();
                same.entry(recorded.to_owned()).or_insert_with(|| live.clone());
            }
        }
        renamed
    }

    /// Whether everything is called as it was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The body with what stands for its echoes now. Chunks keep their places, also where an
    /// identifier goes over from one to the next.
    pub fn body(&self, mut body: Body, echoes: &[Echo]) -> Body {
        let edit = |echo: &Echo| {
            let live = self.live(echo.scope, &echo.identifier)?;
            let with = match echo.scope {
                // Whether it would be escaped there is not known.
                Scope::Within if !is_plain(&live.identifier) => return None,
                _ if echo.is_encoded => percent::encoded(&live.identifier),
                Scope::Anywhere | Scope::Moment | Scope::Within => live.identifier.clone(),
                _ if echo.depth > 0 => nested::spelled(&live.identifier, echo.depth),
                _ => live.spelled(),
            };
            Some(Edit::new(echo.range.clone(), with.into_bytes()))
        };
        body.splice(&splice::in_order(echoes.iter().filter_map(edit).collect()));
        body
    }

    /// The value of a header field with what stands for its identifiers now; `None` if nothing changes.
    pub fn text(&self, text: &str) -> Option<String> {
        let word = self.live(Scope::Word, text).map(|live| live.identifier.clone());
        if word.is_some() {
            return word;
        }
        let words = [Scope::Anywhere, Scope::Within].into_iter().flat_map(|scope| {
            let names = self.0.get(&scope).into_iter().flatten();
            // To prepare a search takes longer than to see that there is no room.
            let names = names.filter(|(recorded, _)| recorded.len() <= text.len());
            let names = Words::of(names.map(|(recorded, _)| recorded.as_str()));
            let found: Vec<Range<usize>> = names.find(text).collect();
            found.into_iter().map(move |range| (scope, range))
        });
        let is_word =
            |(scope, range): &(Scope, _)| *scope == Scope::Anywhere || is_apart(text, range);
        let words = words.filter(is_word).filter_map(|(scope, range)| {
            let live = self.live(scope, &text[range.clone()])?;
            Some(Edit::new(range, live.identifier.clone()))
        });
        let times = moments(text).chain(dates(text)).filter_map(|range| {
            let said = &text[range.clone()];
            let same = self.live(Scope::Moment, said).map(|live| live.identifier.clone());
            let encoded =
                || Some(percent::encoded(&self.live(Scope::Moment, &decoded(said))?.identifier));
            Some(Edit::new(range, same.or_else(encoded)?))
        });
        let edits = splice::in_order(words.chain(times).collect());
        let renamed = || splice::splice(text.as_bytes(), &edits);
        (!edits.is_empty()).then(|| String::from_utf8(renamed()).ok())?
    }

    fn live(&self, scope: Scope, recorded: &str) -> Option<&Hole> {
        self.0.get(&scope)?.get(recorded)
    }
}

/// Whether a value is written in the same way as text and in a string of JSON.
fn is_plain(value: &str) -> bool {
    !value.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Form;

    #[test]
    fn in_a_header_field_words_get_their_names_and_parts_of_words_do_not() {
        let hole = |name: &str| Hole {
            place: 0,
            scope: Scope::Anywhere,
            identifier: name.to_owned(),
            form: Form::Text,
            draw: None,
        };
        let mut bindings = Bindings::default();
        bindings.bind(&hole("task1"), &hole("task9"));
        let renamed = Renamed::of([(Scope::Anywhere, "task1")].into_iter(), &bindings);

        for (field, expected) in [
            ("task1", Some("task9")),
            ("/tasks/task1; id=task1", Some("/tasks/task9; id=task9")),
            ("atask1z", None),
            ("task12", None),
        ] {
            assert_eq!(renamed.text(field).as_deref(), expected, "{field}");
        }
    }

    #[test]
    fn times_come_back_percent_encoded_where_they_were_so() {
        let hole = |time: &str| Hole {
            place: 0,
            scope: Scope::Moment,
            identifier: time.to_owned(),
            form: Form::Text,
            draw: None,
        };
        let (was, is) = (hole("2026-11-30T10:00:00Z"), hole("2026-12-04T11:30:07+01:00"));
        let mut bindings = Bindings::default();
        bindings.bind(&was, &is);
        let renamed = Renamed::of([(Scope::Moment, &*was.identifier)].into_iter(), &bindings);
        let made_up = MadeUp::of([&was].into_iter());
        let text = r#"{"at": "2026-11-30T10:00:00Z", "next": "/?at=2026-11-30T10%3A00%3A00Z&n=1"}"#;
        let told = r#"{"at": "2026-12-04T11:30:07+01:00", "next": "/?at=2026-12-04T11%3A30%3A07%2B01%3A00&n=1"}"#;

        let said = renamed.body(Body::Whole(text.into()), &Echo::all(text.as_bytes(), &made_up));

        assert_eq!(std::str::from_utf8(&said.bytes()).unwrap(), told);
        assert_eq!(renamed.text(text).as_deref(), Some(told));
    }

    #[test]
    fn dates_come_back_as_the_client_says_them_now() {
        let hole = |date: &str| Hole {
            place: 0,
            scope: Scope::Moment,
            identifier: date.to_owned(),
            form: Form::Text,
            draw: None,
        };
        let mut bindings = Bindings::default();
        let (was, is) = (hole("2026-11-30"), hole("2026-12-04"));
        bindings.bind(&was, &is);
        let values = [(Scope::Moment, "2026-11-30")];
        let renamed = Renamed::of(values.into_iter(), &bindings);
        let made_up = MadeUp::of([&was].into_iter());

        for (text, expected) in [
            (
                r#"{"from": "2026-11-30", "to": "2026-12-01"}"#,
                r#"{"from": "2026-12-04", "to": "2026-12-01"}"#,
            ),
            ("since 2026-11-30 (2026-11-30)", "since 2026-12-04 (2026-12-04)"),
            ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z"),
            ("2026-11-30 10:00", "2026-11-30 10:00"),
            ("v-2026-11-30 2026-11-301 2026-11-30-rc", "v-2026-11-30 2026-11-301 2026-11-30-rc"),
        ] {
            let body = Body::Whole(text.to_owned().into());
            let echoes = Echo::all(text.as_bytes(), &made_up);

            let said = renamed.body(body, &echoes);
            assert_eq!(std::str::from_utf8(&said.bytes()).unwrap(), expected);
            let field = renamed.text(text);
            assert_eq!(field.as_deref().unwrap_or(text), expected);
        }
    }
}
