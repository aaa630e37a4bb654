//! Names that are made of others.
//!
//! # Rationale
//!
//! Letta makes the name of a part (`otid`) of the id of its message: it writes the number of the part over the last
//! seven bits. One id in 128 ends so by itself. Then two names are one in that recording, and are told apart in the
//! other one. That it ends so shows that this is chance.

use super::Renaming;
use super::kin::{NUMBER, last_byte};

impl Renaming {
    /// Whether one of two names in the same place is known, the other one is that with a number over its end, and
    /// what is one name in one recording ends with that number.
    pub(crate) fn is_overwritten(&self, old: &str, new: &str) -> bool {
        let ends_so = |one: &str, known: &str, other: &str| {
            let [one, known, other] = [one, known, other].map(last_byte);
            let number = |name: Option<(&str, u8)>| name.map(|(_, byte)| byte & NUMBER);
            let rest = |name: Option<(&str, u8)>| {
                name.map(|(stem, byte)| (stem.to_owned(), byte & !NUMBER))
            };
            known != other
                && rest(known) == rest(other)
                && [known, other].map(number).contains(&number(one))
        };
        let Some((stem, _)) = last_byte(new).filter(|_| last_byte(old).is_some()) else {
            return false;
        };
        if let Some(known) = self.new.olds.get(new).filter(|_| !self.made.contains(new)) {
            return !self.old.olds.contains_key(old) && ends_so(new, known, old);
        }
        let others = (0..=u8::MAX).map(|byte| format!("{stem}{byte:02x}"));
        let mut known = others.filter(|name| self.is_called(name, old));
        known.any(|known| ends_so(old, &known, new))
    }
}
