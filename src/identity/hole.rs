//! A place in a request that a client fills anew each time.

use super::identifiers;
use crate::cassette::placeholder::is_placeholder;

/// A place in a request and what the client put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// Which place it is: equal for the same place in two requests.
    pub place: u64,
    /// What kind of value stands there, and so where else it may appear.
    pub scope: Scope,
    /// The value, without quotes if it is a string.
    pub identifier: String,
    /// How it is written in JSON.
    pub form: Form,
    /// Which draw it is, if the same value elsewhere is another one: both were drawn, and alike by chance.
    pub draw: Option<u64>,
}

/// Where a value that the client made up may appear again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Anywhere, also within longer texts: nobody else makes up the same.
    Anywhere,
    /// As the whole value of a field that is named like an identifier.
    Word,
    /// As the whole value of fields of this name, of which it holds a hash: a number means nothing by
    /// itself.
    Number(u64),
    /// As the id of a JSON-RPC request and of its answer. Each pair has its own.
    Call,
    /// As the id of a JSON-RPC request that was made before.
    Called,
    /// As the token that JSON-RPC progress is reported with. Each request has its own.
    Progress,
    /// A point in time. The same one means nothing.
    Moment,
    /// Where an answer speaks of this draw, as what is said there with it tells.
    Draw(u64),
    /// As a word within what an answer says: that of a whole value, which was proved to be made up.
    Within,
}

/// How a value is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// As a string.
    #[default]
    Text,
    /// As it stands, without quotes.
    Number,
}

impl Hole {
    /// Whether one value must stand for this one throughout a run. What a secret is in this run is known
    /// elsewhere, and only where it is known for one: before that it is any text.
    pub(super) fn is_lasting(&self) -> bool {
        self.scope.is_lasting() && self.draw.is_none() && !is_placeholder(&self.identifier)
    }

    /// Where the value may appear again: a random id of a call anywhere, as any other random value.
    pub(super) fn scopes(&self) -> impl Iterator<Item = Scope> {
        let is_of_call = matches!(self.scope, Scope::Call | Scope::Progress);
        let is_random = is_of_call && identifiers(&self.identifier).next().is_some();
        let draw = self.draw.map(Scope::Draw);
        [Some(self.scope), is_random.then_some(Scope::Anywhere), draw].into_iter().flatten()
    }

    /// The value as JSON.
    pub fn spelled(&self) -> String {
        match self.form {
            Form::Text => serde_json::Value::from(self.identifier.as_str()).to_string(),
            Form::Number => self.identifier.clone(),
        }
    }
}

impl Scope {
    /// Whether one value must stand for the same one throughout a run.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Anywhere | Self::Word | Self::Number(_))
    }
}
