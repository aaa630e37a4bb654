//! What counts of a JSON body.

use std::borrow::Cow;
use std::collections::HashMap;

use super::hash::{BODY, KEY, combine, item, member};
use super::value::{Value, Values, hash_of_text, literal};
use crate::config::{Rules, Step, Treatment};
use crate::identity::{Envelopes, Form, Meaning, Role};
use crate::text::json::{Container, Text, Token, unescape};

/// An object or array that is being read.
struct Open<'t, 'a> {
    container: Container,
    /// The place of what is in it, for holes.
    place: u64,
    /// The same for rules, which count the items of sets too.
    way: u64,
    /// Members of an object are summed, so their order does not count; so are the items of a set.
    sum: u64,
    counted: u64,
    items: u64,
    /// The member whose value comes next, and its hash.
    key: Option<(u64, Name<'t>)>,
    /// The name that an array has its items by.
    name: Name<'t>,
    is_set: bool,
    /// How many holes there were before the item that is being read.
    holes: usize,
    /// What a rule says of all that is in it.
    treatment: Option<Treatment<'a>>,
}

#[derive(Clone)]
struct Name<'t> {
    text: Cow<'t, str>,
    meaning: Meaning,
}

/// Reads one JSON text.
struct Reader<'v, 't, 'a> {
    values: &'v mut Values<'a>,
    said: Said<'a>,
    envelopes: Envelopes,
    open: Vec<Open<'t, 'a>>,
}

/// What rules say of the places of a body.
type Said<'a> = HashMap<u64, Vec<Treatment<'a>>>;

impl Values<'_> {
    /// What counts of a JSON body.
    pub(super) fn json(&mut self, text: Text<'_>) -> u64 {
        let said = said(self.rules, text);
        let envelopes = Envelopes::of(text);
        Reader { values: self, said, envelopes, open: Vec::new() }.read(text)
    }
}

fn said<'a>(rules: &'a Rules, text: Text<'_>) -> Said<'a> {
    let mut said = Said::new();
    if rules.is_empty() {
        return said;
    }
    for (treatment, way) in rules.places(text.as_str()) {
        let place = way.iter().fold(BODY, |place, step| match step {
            Step::Member(name) => member(place, hash_of_text(name)),
            Step::Item(index) => item(place, *index as u64),
        });
        said.entry(place).or_default().push(treatment);
    }
    said
}

impl<'t> Reader<'_, 't, '_> {
    fn read(mut self, text: Text<'t>) -> u64 {
        let mut ignored = 0;
        for token in text.tokens() {
            if ignored > 0 {
                ignored += usize::from(matches!(token, Token::Open(_)));
                ignored -= usize::from(matches!(token, Token::Close(_)));
                continue;
            }
            let value = match token {
                Token::Open(container) => {
                    ignored = usize::from(!self.enter(container));
                    continue;
                }
                Token::Close(_) => match self.open.pop() {
                    Some(closed) => closed.hash(),
                    None => continue,
                },
                Token::Comma | Token::Colon => continue,
                Token::String(spelled) => {
                    let text = unescape(spelled);
                    if self.is_key() {
                        self.key(text);
                        continue;
                    }
                    self.leaf(&text, Form::Text)
                }
                Token::Scalar(spelled) => self.leaf(spelled, Form::Number),
            };
            if self.open.is_empty() {
                return value;
            }
            self.add(value);
        }
        0
    }

    fn is_key(&self) -> bool {
        let open = self.open.last();
        open.is_some_and(|open| open.container == Container::Object && open.key.is_none())
    }

    fn key(&mut self, text: Cow<'t, str>) {
        let Some(open) = self.open.last_mut() else { return };
        let hash = self.values.words(member(open.place, KEY), &text);
        let meaning = Meaning::of(&text);
        open.key = Some((hash, Name { text, meaning }));
    }

    /// What rules say of the value that comes next.
    fn said(&self) -> &[Treatment<'_>] {
        if self.said.is_empty() {
            return &[];
        }
        let way = self.open.last().map_or(BODY, Open::way_of_next);
        self.said.get(&way).map_or(&[], Vec::as_slice)
    }

    /// Goes into an object or array, unless it does not count.
    fn enter(&mut self, container: Container) -> bool {
        let said = self.said();
        if said.contains(&Treatment::Ignore) {
            self.pass();
            return false;
        }
        let is_said_unordered = said.contains(&Treatment::Unordered);
        let is_said_no_id = said.contains(&Treatment::NotId);
        let parent = self.open.last();
        let inherited = parent.and_then(|parent| parent.treatment);
        let key = parent.and_then(|parent| parent.key.as_ref());
        let name = key.map_or(Name::NONE, |(_, name)| name.clone());
        let is_set = is_said_unordered || name.meaning == Meaning::Set;
        self.open.push(Open {
            container,
            place: parent.map_or(BODY, Open::place_of_next),
            way: if self.said.is_empty() { BODY } else { parent.map_or(BODY, Open::way_of_next) },
            sum: 0,
            counted: 0,
            items: 0,
            key: None,
            name,
            is_set: is_set && container == Container::Array,
            holes: self.values.holes.len(),
            treatment: if is_said_no_id { Some(Treatment::NotId) } else { inherited },
        });
        self.envelopes.open(self.open.len());
        true
    }

    /// What counts of a string, a number, `true`, `false` or `null`.
    fn leaf(&mut self, text: &str, form: Form) -> u64 {
        let own = match self.said.is_empty() {
            true => None,
            false => {
                let way = self.open.last().map_or(BODY, Open::way_of_next);
                self.said.get(&way).and_then(|said| said.first()).copied()
            }
        };
        let Some(open) = self.open.last() else {
            return self.values.leaf(Value::at(BODY).treated(own), text, form);
        };
        let name = open.key.as_ref().map_or(&open.name, |(_, name)| name);
        let treatment = own.or(open.treatment);
        let place = open.place_of_next();
        if treatment.is_none() && !self.envelopes.is_empty() {
            match self.envelopes.role(self.open.len(), &name.text) {
                Some(Role::Made(scope)) => return self.values.whole(place, scope, text, form),
                Some(Role::Answered) => return literal(text, form),
                None => {}
            }
        }
        let value = Value::at(place).named(&name.text, name.meaning).treated(treatment);
        self.values.leaf(value, text, form)
    }

    /// Counts a value that was read.
    fn add(&mut self, value: u64) {
        if self.said().contains(&Treatment::Ignore) {
            return self.pass();
        }
        let Some(parent) = self.open.last_mut() else { return };
        if parent.is_set {
            // Where an item stands does not count, so a hole in it has its place by what it is in.
            for hole in &mut self.values.holes[parent.holes..] {
                hole.place = combine(&[hole.place, value]);
            }
            parent.holes = self.values.holes.len();
        }
        let key = parent.key.take();
        parent.items += 1;
        parent.counted += 1;
        parent.sum = match key {
            Some((key, _)) => parent.sum.wrapping_add(combine(&[key, value])),
            None if parent.is_set => parent.sum.wrapping_add(combine(&[value])),
            None => combine(&[parent.sum, value]),
        };
    }

    /// Passes a value that does not count.
    fn pass(&mut self) {
        if let Some(parent) = self.open.last_mut() {
            parent.key = None;
            parent.items += 1;
        }
    }
}

impl Open<'_, '_> {
    fn place_of_next(&self) -> u64 {
        self.next(self.place, if self.is_set { 0 } else { self.items })
    }

    fn way_of_next(&self) -> u64 {
        self.next(self.way, self.items)
    }

    fn next(&self, place: u64, index: u64) -> u64 {
        match (self.container, &self.key) {
            (Container::Object, Some((key, _))) => member(place, *key),
            (Container::Object, None) => member(place, KEY),
            (Container::Array, _) => item(place, index),
        }
    }

    fn hash(&self) -> u64 {
        combine(&[self.container as u64, self.sum, self.counted])
    }
}

impl Name<'_> {
    const NONE: Self = Name { text: Cow::Borrowed(""), meaning: Meaning::Plain };
}
