//! How alike two values are that are not the same.

use super::{Kind, Node, Record};

/// What is wholly alike.
pub(super) const WHOLLY: u32 = 100;

/// What two texts, or two numbers, have in common if they are not the same.
const LEAVES: u32 = 40;

/// How alike two values are, up to [`WHOLLY`].
pub(super) fn values(old: &Node, new: &Node) -> u32 {
    if old.hash == new.hash {
        return WHOLLY;
    }
    match (&old.kind, &new.kind) {
        (Kind::Object(olds), Kind::Object(news)) => {
            let alike: usize = olds
                .iter()
                .filter_map(|member| {
                    let partner = news.iter().find(|other| other.key.hash == member.key.hash)?;
                    Some(1 + 2 * usize::from(partner.value.hash == member.value.hash))
                })
                .sum();
            let most = 3 * olds.len().max(news.len()).max(1);
            WHOLLY * alike as u32 / most as u32
        }
        (Kind::Array { .. }, Kind::Array { .. }) => WHOLLY / 2,
        (Kind::Leaf(_), Kind::Leaf(_)) => LEAVES,
        _ => 0,
    }
}

/// How alike two records are.
pub(super) fn records(old: &Record, new: &Record) -> u32 {
    if old.hash == new.hash {
        return WHOLLY;
    }
    let most = old.parts.len().max(new.parts.len());
    let pairs = old.parts.iter().zip(&new.parts);
    let sum: u32 = pairs.map(|(old, new)| values(old, new)).sum();
    if most == 0 { 0 } else { sum / most as u32 }
}
