//! UUIDs that are derived from each other.
//!
//! Letta numbers the parts of a message by the last seven bits of its UUID: the `otid` of part 2 of
//! `…5ae9` is `…5a82`. The bit above them stays. In one message of 128 a part has, by chance, the
//! number that its UUID ends with, and both are the same.

/// The length of a UUID, and of what all of a family have in common.
const UUID: usize = 36;
const ROOT: usize = 34;

/// What all of a family have in common, if it is a UUID.
pub(super) fn root(identifier: &str) -> Option<&str> {
    let dashes = [8, 13, 18, 23].iter().all(|at| identifier.as_bytes().get(*at) == Some(&b'-'));
    if identifier.len() == UUID && dashes { identifier.get(..ROOT) } else { None }
}

/// Whether both are of the same family.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    root(one).is_some() && root(one) == root(other)
}

/// Whether the last seven bits are those of the other.
pub(super) fn is_tail(identifier: &str, other: &str) -> bool {
    let bits = |identifier| last(identifier).map(|byte| byte & 0x7f);
    bits(identifier).is_some() && bits(identifier) == bits(other)
}

/// What stands to `old` as `new` stands to `known`, which is called `old`.
pub(super) fn derived(old: &str, known: &str, new: &str) -> Option<String> {
    let (old_last, known_last, new_last) = (last(old)?, last(known)?, last(new)?);
    let top = (old_last ^ known_last ^ new_last) & 0x80;
    Some(format!("{}{:02x}", root(old)?, top | (new_last & 0x7f)))
}

fn last(identifier: &str) -> Option<u8> {
    u8::from_str_radix(identifier.get(ROOT..UUID)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_derived_has_the_root_of_its_family() {
        let old = "4e3a216e-747d-4cda-9bfe-08720aae6ee9";
        let new = "597a98e4-3a63-4cd9-a3b7-2d3649c9c550";

        let derived = derived(old, new, "597a98e4-3a63-4cd9-a3b7-2d3649c9c502");

        assert_eq!(derived.as_deref(), Some("4e3a216e-747d-4cda-9bfe-08720aae6e82"));
        assert!(is_same(old, "4e3a216e-747d-4cda-9bfe-08720aae6e82"));
        assert!(!is_same(old, new));
        assert_eq!(root("4e3a216e747d4cda9bfe08720aae6ee9"), None);
    }
}
