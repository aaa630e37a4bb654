//! What an interaction consists of, for telling how alike two are.

use super::View;

/// The hashes of the values of an interaction, sorted.
#[derive(Debug)]
pub(super) struct Sketch(Vec<u64>);

/// More tell nothing more.
const MOST: usize = 4096;

impl Sketch {
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut hashes = vec![view.request, view.response];
        for record in [Some(&view.asked), view.answered.as_ref()]
            .into_iter()
            .flatten()
            .flat_map(|script| &script.records)
        {
            for part in &record.parts {
                part.leaves(&mut |node, _| hashes.push(node.hash));
            }
        }
        hashes.truncate(MOST);
        hashes.sort_unstable();
        Self(hashes)
    }

    /// How much of the larger one both have in common, in thousandths.
    pub(super) fn likeness(&self, other: &Self) -> usize {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = 0;
        while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
            let order = a.cmp(b);
            common += usize::from(order.is_eq());
            if order.is_le() {
                one.next();
            }
            if order.is_ge() {
                two.next();
            }
        }
        1000 * common / self.0.len().max(other.0.len()).max(1)
    }
}
