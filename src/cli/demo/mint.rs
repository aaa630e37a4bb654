//! New identifiers.

use std::hash::{BuildHasher as _, RandomState};

/// A random UUID.
pub(super) fn uuid() -> String {
    // The standard library seeds each state with random numbers of the system: that spares the demo
    // a generator.
    let state = RandomState::new();
    let random = u128::from(state.hash_one(0_u8)) << 64 | u128::from(state.hash_one(1_u8));
    // RFC 9562, section 5.4: version 4, variant 10.
    let bits = random & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let digits = format!("{bits:032x}");
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|group| &digits[group]).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::identifiers;

    #[test]
    fn each_uuid_is_another_one() {
        let [first, second] = [uuid(), uuid()];

        assert_ne!(first, second);
        assert_eq!(identifiers(&first).next(), Some(0..36));
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&first.as_bytes()[19]));
    }
}
