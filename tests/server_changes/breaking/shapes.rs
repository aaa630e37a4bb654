//! Values that look as they never did.
//!
//! What is called breaking here has, at some place, something that no recorded value has there: no value,
//! `null`, another type, another word of a protocol that has a list of them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::edit::{ServerChange, objects, values};
use super::super::fields::{Kind, TYPES};
use super::super::recorded::{said, say};
use super::super::set::{Field, Key, Set};
use super::OFTEN;
use crate::dice::Random;

/// Words of which each protocol has a list.
const WORDS: [&str; 10] = [
    "finish_reason",
    "last_stop_reason",
    "object",
    "op",
    "resultType",
    "role",
    "source",
    "status",
    "stop_reason",
    "provider_category",
];

type Change = fn(&mut Map<String, Value>, &str);

/// The same change of a field, for each that it breaks: in one place, or wherever it is.
fn changes(
    set: &Set,
    random: &mut Random,
    breaks: impl Fn(&Key, &Field) -> bool,
    change: Change,
) -> Vec<ServerChange> {
    let breaking = set.fields.iter().filter(|(key, field)| breaks(key, field));
    let made = breaking.map(|(key, field)| {
        let (scope, sites) = match random.chance(50) {
            true => ("always", field.sites.clone()),
            false => ("once", vec![field.sites[random.below(field.sites.len())].clone()]),
        };
        let name = key.name.clone();
        let edit = move |all: &mut _| objects(all, &sites, |object, _| change(object, &name));
        let what = format!("{} {}/{}, {scope}", key.tag, key.place, key.name);
        ServerChange::new(what, edit).at(&key.endpoint).of_field(&key.name)
    });
    made.collect()
}

fn is_always(field: &Field) -> bool {
    !field.kinds.contains(&Kind::Missing)
}

fn only(field: &Field, kind: Kind) -> bool {
    field.kinds.iter().all(|it| [kind, Kind::Missing].contains(it))
}

fn is_type(key: &Key) -> bool {
    TYPES.contains(&&*key.name)
}

pub fn missing(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| is_always(field) && !is_type(key);
    changes(set, random, breaks, |object, name| drop(object.remove(name)))
}

/// In one kind of object where there are several.
pub fn missing_in_a_kind(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let kinds: BTreeSet<(&str, &str)> =
        set.fields.keys().filter_map(|key| key.place.rsplit_once('/')).collect();
    let is_one_of_several = |key: &Key| {
        let own = key.place.rsplit_once('/');
        own.is_some_and(|(place, kind)| {
            let has_type = TYPES.iter().any(|name| {
                let typed = Key { name: (*name).to_owned(), ..key.clone() };
                set.fields.get(&typed).is_some_and(|it| it.values.contains(&json!(kind)))
            });
            has_type && kinds.iter().any(|(other, another)| *other == place && *another != kind)
        })
    };
    let breaks =
        |key: &Key, field: &Field| is_always(field) && !is_type(key) && is_one_of_several(key);
    changes(set, random, breaks, |object, name| drop(object.remove(name)))
}

pub fn renamed(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| is_always(field) && !is_type(key);
    changes(set, random, breaks, |object, name| {
        let value = object.remove(name).unwrap_or_default();
        object.insert(format!("{name}_of_it"), value);
    })
}

pub fn null(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| !field.kinds.contains(&Kind::Null);
    changes(set, random, breaks, |object, name| drop(object.insert(name.to_owned(), Value::Null)))
}

pub fn value_for_null(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| only(field, Kind::Null);
    changes(set, random, breaks, |object, name| drop(object.insert(name.to_owned(), json!("some"))))
}

pub fn string_for_number(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| {
        field.kinds.contains(&Kind::Number) && !field.kinds.contains(&Kind::String)
    };
    changes(set, random, breaks, |object, name| {
        let text = object[name].to_string();
        object.insert(name.to_owned(), json!(text));
    })
}

pub fn number_for_string(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| {
        !is_type(key) && field.kinds.contains(&Kind::String) && !field.kinds.contains(&Kind::Number)
    };
    changes(set, random, breaks, |object, name| drop(object.insert(name.to_owned(), json!(7))))
}

pub fn object_for_string(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| {
        !is_type(key) && field.kinds.contains(&Kind::String) && !field.kinds.contains(&Kind::Object)
    };
    changes(set, random, breaks, |object, name| {
        let value = object[name].take();
        object.insert(name.to_owned(), json!({ "text": value }));
    })
}

pub fn string_for_boolean(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| only(field, Kind::Boolean);
    changes(set, random, breaks, |object, name| {
        let text = if object[name] == json!(true) { "yes" } else { "no" };
        object.insert(name.to_owned(), json!(text));
    })
}

pub fn string_for_object(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| {
        field.kinds.contains(&Kind::Object) && !field.kinds.contains(&Kind::String)
    };
    changes(set, random, breaks, |object, name| {
        let text = object[name].to_string();
        object.insert(name.to_owned(), json!(text));
    })
}

pub fn object_for_list(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| only(field, Kind::Array);
    changes(set, random, breaks, |object, name| {
        let list = object[name].take();
        object.insert(name.to_owned(), json!({ "data": list }));
    })
}

/// A list has an element of a type that none in it has had.
pub fn other_elements(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| {
        let elements = || field.values.iter().filter_map(Value::as_array).flatten();
        only(field, Kind::Array)
            && field.values.iter().all(|list| *list != json!([]))
            && elements().all(|element| !element.is_number())
    };
    changes(set, random, breaks, |object, name| {
        if let Some(last) = object[name].as_array_mut().and_then(|list| list.last_mut()) {
            *last = json!(7);
        }
    })
}

pub fn fraction(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |_: &Key, field: &Field| {
        only(field, Kind::Number) && field.values.iter().all(|it| it.is_i64() || it.is_u64())
    };
    changes(set, random, breaks, |object, name| {
        let number = object[name].as_f64().unwrap_or_default();
        object.insert(name.to_owned(), json!(number + 0.5));
    })
}

/// Whether the words of a list were heard often enough to be known as one.
fn is_list(field: &Field) -> bool {
    let words: Vec<&str> = field.values.iter().filter_map(Value::as_str).collect();
    let list: BTreeSet<&str> = words.iter().copied().collect();
    let count = |word: &str| words.iter().filter(|other| **other == word).count();
    words.len() >= OFTEN * list.len() && list.iter().all(|word| count(word) > 1)
}

/// A word that the protocol did not have.
pub fn other_word(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| {
        WORDS.contains(&&*key.name) && field.kinds.contains(&Kind::String) && is_list(field)
    };
    changes(set, random, breaks, |object, name| {
        object.insert(name.to_owned(), json!("unheard_of"));
    })
}

/// A kind of object that nobody has seen, below the message itself.
pub fn other_kind(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let breaks = |key: &Key, field: &Field| {
        is_type(key) && !key.place.is_empty() && field.sites.len() >= OFTEN
    };
    changes(set, random, breaks, |object, name| {
        object.insert(name.to_owned(), json!("unheard_of"));
    })
}

pub fn no_date(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let is_date = |value: &Value| {
        let text = value.as_str().map(str::as_bytes);
        text.is_some_and(|it| it.len() > 18 && it[4] == b'-' && it[10] == b'T' && it[13] == b':')
    };
    let breaks = |_: &Key, field: &Field| field.values.iter().all(is_date);
    changes(set, random, breaks, |object, name| {
        object.insert(name.to_owned(), json!("the day before yesterday"));
    })
}

pub fn no_uuid(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let is_uuid = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
    };
    let breaks = |_: &Key, field: &Field| field.values.iter().all(is_uuid);
    changes(set, random, breaks, |object, name| {
        object.insert(name.to_owned(), json!("the first one"));
    })
}

/// What was said is now wrapped in something.
pub fn wrapped(set: &Set) -> Vec<ServerChange> {
    let whole = set.fields.iter().filter(|(key, _)| key.place.is_empty());
    let mut sites: Vec<_> =
        whole.flat_map(|(key, it)| it.sites.iter().map(move |it| (key, it))).collect();
    sites.sort_by_key(|(key, site)| (&key.endpoint, &key.tag, *site));
    sites.dedup_by_key(|(key, _)| (&key.endpoint, &key.tag));
    let made = sites.into_iter().map(|(key, site)| {
        let (at, message) = (site.at, site.message);
        let edit = move |all: &mut _| {
            let interaction = super::super::edit::interaction(all, at);
            let mut messages = said(interaction);
            values(&mut messages[message], |value| *value = json!({ "data": value.take() }));
            say(interaction, &messages);
        };
        ServerChange::new(format!("{} wrapped, once", key.tag), edit).at(&key.endpoint)
    });
    made.collect()
}
