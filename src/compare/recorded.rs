//! A recorded request, and what in it is open.

use std::collections::{HashMap, HashSet};

use super::difference::{Difference, Sort, member, value};
use crate::cassette::reading::hash::{combine, hash_of};
use crate::cassette::reading::{Kind, PathStep, Reading};
use crate::identity::names::{NodePart, Opening, Template};
use crate::identity::{Form, Hole};

/// What was recorded, and what in it is open.
pub(super) struct Recorded<'r, 't> {
    pub(super) reading: &'r Reading<'t>,
    openings: &'r [Opening],
    /// The openings of each node that has some: the first, and behind the last.
    by_node: HashMap<usize, (usize, usize)>,
    /// The places, with any item, that are open; and the objects some of whose names are.
    wild: HashSet<u64>,
    named: HashSet<u64>,
}

impl<'r, 't> Recorded<'r, 't> {
    pub(super) fn new(reading: &'r Reading<'t>, openings: &'r [Opening]) -> Self {
        let mut by_node: HashMap<usize, (usize, usize)> = HashMap::new();
        for (number, opening) in openings.iter().enumerate() {
            by_node.entry(opening.node).or_insert((number, number)).1 = number + 1;
        }
        let of_part = |part: NodePart| openings.iter().filter(move |it| it.part == part);
        let objects = || of_part(NodePart::Name).map(|it| reading.nodes[it.node].parent as usize);
        let mut named = HashSet::new();
        let wilds = loop {
            let wilds = wilds(reading, &named);
            let known = named.len();
            named.extend(objects().map(|object| wilds[object]));
            // Where an object with open names stands in another one, its own place is open, too.
            if named.len() == known {
                break wilds;
            }
        };
        let wild = of_part(NodePart::Value).map(|it| wilds[it.node]).collect();
        Self { reading, openings, by_node, wild, named }
    }

    /// Where a part of a node begins among all openings, and its template.
    pub(super) fn template(&self, node: usize, part: NodePart) -> Option<(usize, Template)> {
        let (first, end) = *self.by_node.get(&node)?;
        let of_node = &self.openings[first..end];
        let skipped = of_node.iter().take_while(|opening| opening.part != part).count();
        let template = Template::of(&self.reading.nodes[node], of_node, part)?;
        Some((first + skipped, template))
    }

    /// What stood in an open part.
    pub(super) fn text(&self, opening: &Opening) -> &str {
        let node = &self.reading.nodes[opening.node];
        let text = if opening.part == NodePart::Name { member(node) } else { &node.text };
        &text[opening.range.clone()]
    }

    /// What stood in an open part, and how it is written.
    pub(super) fn hole(&self, opening: &Opening) -> Hole {
        let node = &self.reading.nodes[opening.node];
        let is_text = opening.part == NodePart::Name || node.kind == Kind::Text;
        let form = if is_text { Form::Text } else { Form::Number };
        let identifier = self.text(opening).to_owned();
        let (scope, draw) = (opening.scope, opening.draw);
        Hole { place: node.place, scope, identifier, form, draw }
    }

    /// What was recorded in a node beside what is asked in another.
    pub(super) fn difference(
        &self,
        node: usize,
        asked_node: usize,
        asked: &Reading<'_>,
    ) -> Difference {
        let at = asked.place(asked_node);
        let recorded = Some(value(&self.reading.nodes[node], b"", b""));
        let asked = Some(value(&asked.nodes[asked_node], b"", b""));
        Difference { at, recorded, asked, sort: Sort::Changed }
    }

    pub(super) fn has_opening(&self, node: usize) -> bool {
        if self.openings.is_empty() {
            return false;
        }
        let end = self.reading.nodes[node].end as usize;
        let from = self.openings.partition_point(|opening| opening.node < node);
        self.openings.get(from).is_some_and(|opening| opening.node < end)
    }

    /// Equal for values that are equal but for open places, for each node.
    pub(super) fn masked(&self, reading: &Reading<'_>) -> Vec<u64> {
        let mut masked = vec![0; reading.nodes.len()];
        let wilds = wilds(reading, &self.named);
        for (number, node) in reading.nodes.iter().enumerate().rev() {
            masked[number] = if node.kind.is_container() {
                reading.inside(Some(number)).fold(wilds[number], |sum, child| {
                    match (&reading.nodes[child].step, node.kind) {
                        (PathStep::Member(_), _) => {
                            sum.wrapping_add(combine(&[wilds[child], masked[child]]))
                        }
                        (_, Kind::Set) => sum.wrapping_add(masked[child]),
                        _ => combine(&[sum, masked[child]]),
                    }
                })
            } else if self.wild.contains(&wilds[number]) {
                1
            } else {
                node.hash
            };
        }
        masked
    }
}

/// The place of each node, with any item, and with any name in the objects some of whose names are open.
fn wilds(reading: &Reading<'_>, named: &HashSet<u64>) -> Vec<u64> {
    let mut wilds: Vec<u64> = reading.nodes.iter().map(|node| node.wild).collect();
    if named.is_empty() {
        return wilds;
    }
    for (number, node) in reading.nodes.iter().enumerate() {
        let parent = node.parent as usize;
        let name = match &node.step {
            _ if parent == number => continue,
            PathStep::Member(_) if named.contains(&wilds[parent]) => 0,
            _ if wilds[parent] == reading.nodes[parent].wild => continue,
            PathStep::Member(name) => hash_of(&**name),
            _ => 1,
        };
        wilds[number] = combine(&[wilds[parent], name]);
    }
    wilds
}
