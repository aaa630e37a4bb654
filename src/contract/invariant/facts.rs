//! What is known of a field, and what holds of it alone.

use super::claim::Invariant;
use super::field::Field;

/// An invariant had at least so many chances to fail.
pub const CHANCES: u64 = 5;

/// What is known of a field.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// How often it identified something, and how many things in each trace, added up.
    pub(super) keys: u64,
    pub(super) distinct: u64,
    pub(super) constant: Chances,
    pub(super) unique: Chances,
    pub(super) counting: Chances,
    pub(super) increasing: Chances,
    pub(super) not_decreasing: Chances,
    /// What it says in all traces, if that is the same.
    pub(super) single: Single,
}

/// How often something could have failed, and how often it held.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chances {
    had: u64,
    held: u64,
}

/// How often a field said what another one had said before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reference {
    pub(super) found: u64,
    /// How many of the things that the other one identified were referred to.
    pub(super) referred: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Single {
    #[default]
    Unseen,
    Only(String),
    Several,
}

/// What holds of a field alone, what says most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    Constant,
    Counting,
    Increasing,
    Unique,
    NotDecreasing,
}

impl Claim {
    pub(super) fn of(self, field: Field) -> Invariant {
        match self {
            Self::Constant => Invariant::Constant(field),
            Self::Counting => Invariant::Counting(field),
            Self::Increasing => Invariant::Increasing(field),
            Self::Unique => Invariant::Unique(field),
            Self::NotDecreasing => Invariant::NotDecreasing(field),
        }
    }
}

impl Facts {
    /// What holds. That a field says the same in all traces is told by its shape; a number that never
    /// changes does not count anything.
    pub(super) fn claim(&self) -> Option<Claim> {
        let several = self.single == Single::Several;
        let claims = [
            (self.constant.hold() && several, Claim::Constant),
            (self.counting.hold(), Claim::Counting),
            (self.increasing.hold(), Claim::Increasing),
            (self.unique.hold() && several, Claim::Unique),
            (self.not_decreasing.hold() && self.increasing.held >= CHANCES, Claim::NotDecreasing),
        ];
        claims.into_iter().find(|(holds, _)| *holds).map(|(_, claim)| claim)
    }
}

impl Chances {
    pub(super) fn count(&mut self, held: bool) {
        self.had += 1;
        self.held += u64::from(held);
    }

    pub(super) fn hold(self) -> bool {
        self.had >= CHANCES && self.held == self.had
    }
}

impl Single {
    /// It says this.
    pub(super) fn see(&mut self, said: &str) {
        match self {
            Self::Unseen => *self = Self::Only(said.to_owned()),
            Self::Only(only) if only == said => {}
            _ => *self = Self::Several,
        }
    }
}
