//! Who has seen what a promise says: for those who ask, never in the compared text.

use super::choose;
use super::finish::as_map;
use super::learn::Shape;
use super::objects::{Field, Objects};
use super::witness::{Tally, Witnesses};

/// Who has seen one thing that a [`Schema`](super::Schema) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Where, as in a [`Change`](super::Change).
    pub place: Vec<String>,
    /// What.
    pub of: Claim,
    /// How often, and by whom.
    pub seen: Tally,
    /// Of how many values at that place.
    pub all: u64,
    /// Who has seen a value without it; told of fields only.
    pub missed: Witnesses,
}

/// What a promise says that is not so in every value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// An optional field.
    Field,
    /// `null`, where other values are as well.
    Null,
    /// A known string.
    Value(String),
    /// Objects that are told by this field and what it says.
    Branch(String, String),
}

impl Shape {
    /// Who has seen each optional field, `null`, known string and branch that [`finish`](Self::finish)
    /// tells.
    pub fn evidence(&self) -> Vec<Evidence> {
        let mut gather = Gather::default();
        gather.shape(self);
        gather.found
    }
}

#[derive(Default)]
struct Gather {
    place: Vec<String>,
    found: Vec<Evidence>,
}

impl Gather {
    fn shape(&mut self, shape: &Shape) {
        if shape.deep.is_seen() {
            return;
        }
        let all = shape.count();
        if shape.null.is_seen() && shape.null.count < all {
            self.tell(Claim::Null, shape.null, all, Witnesses::default());
        }
        if let Some(strings) = &shape.strings {
            for (value, seen) in strings.enumerated().into_iter().flatten() {
                let claim = Claim::Value(value.to_string());
                self.tell(claim, *seen, strings.tally.count, Witnesses::default());
            }
        }
        if let Some(arrays) = &shape.arrays {
            self.within("[]", |gather| gather.shape(&arrays.elements));
        }
        if let Some(objects) = &shape.objects {
            self.objects(objects, &[]);
        }
    }

    /// `known` are the tags that have been looked at already.
    fn objects(&mut self, objects: &Objects, known: &[&str]) {
        if let Some((tag, groups)) = choose::tag(objects) {
            let known = [known, &[tag]].concat();
            for (said, group) in groups {
                let claim = Claim::Branch(tag.to_owned(), said.to_string());
                self.tell(claim, group.tally, objects.tally.count, Witnesses::default());
                self.within(said, |gather| gather.objects(group, &known));
            }
            return;
        }
        if let Some(rest) = &objects.rest {
            self.within("{}", |gather| gather.shape(&rest.shape));
        } else if known.is_empty()
            && let Some(values) = as_map(objects)
        {
            self.within("{}", |gather| gather.shape(&values));
            return;
        }
        for field in objects.fields.iter().filter(|field| !known.contains(&&*field.name)) {
            self.within(&field.name, |gather| gather.field(field, objects.tally.count));
        }
    }

    fn field(&mut self, field: &Field, all: u64) {
        if field.present.count < all {
            self.tell(Claim::Field, field.present, all, field.absent);
        }
        self.shape(&field.shape);
    }

    fn within(&mut self, step: &str, gather: impl FnOnce(&mut Self)) {
        self.place.push(step.to_owned());
        gather(self);
        self.place.pop();
    }

    fn tell(&mut self, of: Claim, seen: Tally, all: u64, missed: Witnesses) {
        self.found.push(Evidence { place: self.place.clone(), of, seen, all, missed });
    }
}
