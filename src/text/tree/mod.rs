//! A text of names and values, whatever its syntax: JSON, or YAML as Python reads it.

mod python;
mod yaml;

use std::borrow::Cow;

use super::json::{Container, Text};

/// A value, with the members of objects in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    /// As JSON spells it.
    Number(String),
    Text(String),
    /// What YAML calls `!!binary`.
    Bytes(Vec<u8>),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// Deeper values are left out: they are walked and dropped by recursion.
const DEEPEST: usize = 128;

impl Tree {
    /// The value of a JSON text.
    pub(crate) fn of_json(text: &str) -> Option<Self> {
        Text::read(text).map(|text| Self::of(text, 0))
    }

    fn of(text: Text<'_>, depth: usize) -> Self {
        match text.container() {
            Some(_) if depth == DEEPEST => Self::Null,
            Some(Container::Object) => {
                let members = text.members();
                let member = |(name, of): (Cow<'_, str>, Text<'_>)| {
                    (name.into_owned(), Self::of(of, depth + 1))
                };
                Self::Object(members.map(member).collect())
            }
            Some(Container::Array) => {
                Self::List(text.elements().map(|of| Self::of(of, depth + 1)).collect())
            }
            None => match (text.string(), text.as_str()) {
                (Some(string), _) => Self::Text(string.into_owned()),
                (None, "null") => Self::Null,
                (None, "true") => Self::Bool(true),
                (None, "false") => Self::Bool(false),
                (None, number) => Self::Number(number.to_owned()),
            },
        }
    }

    /// The member of an object; the last one of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// What is reached by these names, one below the other.
    pub(crate) fn at(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |tree, name| tree.get(name))
    }

    /// The text of a member.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number.
    pub(crate) fn count(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// What people would write for it where only text may stand.
    pub(crate) fn words(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text.into()),
            Self::Bool(value) => Some(value.to_string().into()),
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of a list that is a member.
    pub(crate) fn items_of(&self, name: &str) -> &[Self] {
        self.get(name).map_or(&[], Self::items)
    }

    /// The members of an object that is a member.
    pub(crate) fn members_of(&self, name: &str) -> &[(String, Self)] {
        self.get(name).map_or(&[], Self::members)
    }

    /// The items of a list; what is none stands for itself.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            one => std::slice::from_ref(one),
        }
    }
}
