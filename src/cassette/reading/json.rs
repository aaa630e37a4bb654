//! Reads one JSON text.

use std::borrow::Cow;
use std::collections::HashMap;

use super::hash::{combine, hash_of};
use super::{BODY, Kind, Node, PathStep, RequestReader, Root};

use crate::config::{self, Treatment};
use crate::text::json::{Layout, Text, Token, canonical_number, unescape};

/// What is nested deeper is compared as it is spelled: such bodies are made to exhaust a stack.
const DEEPEST: usize = 100;

/// Stands for any item of an array.
const ANY: u64 = u64::MAX;

/// Arrays whose order has no meaning, by their names without `_` and `-`.
const SETS: [&str; 3] = ["tools", "toolids", "tags"];

pub(crate) fn is_set(name: &str) -> bool {
    let plain = || name.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    SETS.iter().any(|set| {
        plain().count() == set.len()
            && plain().zip(set.bytes()).all(|(a, b)| a.to_ascii_lowercase() == b)
    })
}

/// What rules say of the places of a JSON text, by the hash of the way there.
type Places<'t> = HashMap<u64, Vec<Treatment<'t>>>;

/// Reads one JSON text.
pub(super) struct Json<'r, 't> {
    reader: &'r mut RequestReader<'t>,
    places: Places<'t>,
    open: Vec<OpenContainer<'t>>,
}

/// An object or array that is being read.
struct OpenContainer<'t> {
    node: usize,
    kind: Kind,
    /// The way that rules know.
    way: u64,
    items: usize,
    counted: u64,
    sum: u64,
    key: Option<Cow<'t, str>>,
    /// What a rule says of all that is in it.
    rule: Option<Treatment<'t>>,
    /// Whether it is in a set, so that the set counts as a whole.
    in_set: bool,
}

/// Where a value is about to be put.
struct NodeSlot<'t> {
    parent: Option<usize>,
    step: PathStep<'t>,
    place: u64,
    wild: u64,
    way: u64,
    /// What a rule says of this place alone, and of all below the nearest container that one names.
    said: Option<Treatment<'t>>,
    inherited: Option<Treatment<'t>>,
    in_set: bool,
}

impl<'r, 't> Json<'r, 't> {
    pub(super) fn new(reader: &'r mut RequestReader<'t>, text: Text<'t>) -> Self {
        let mut places = Places::new();
        if !reader.rules.is_empty() {
            for (treatment, way) in reader.rules.places(text.as_str()) {
                let way = way.iter().fold(BODY, |place, step| match step {
                    config::Step::Member(name) => combine(&[place, hash_of(&**name)]),
                    config::Step::Item(index) => combine(&[place, *index as u64]),
                });
                places.entry(way).or_default().push(treatment);
            }
        }
        Self { reader, places, open: Vec::new() }
    }

    pub(super) fn read(mut self, root: Root<'t>, text: Text<'t>) {
        let mut tokens = text.tokens();
        let mut root = Some(root);
        while let Some(first) = tokens.peek() {
            if matches!(first, b',' | b':' | b'}' | b']') {
                if let Some(Token::Close(_)) = tokens.next() {
                    self.close(&text.as_str()[..tokens.end()]);
                }
                continue;
            }
            if self.is_key() {
                if let Some(Token::String(spelled)) = tokens.next() {
                    self.name(spelled);
                }
                continue;
            }
            let spot = self.spot(root.take());
            if spot.said == Some(Treatment::Ignore) {
                tokens.value();
                self.pass();
                continue;
            }
            if !matches!(first, b'{' | b'[') {
                match tokens.next() {
                    Some(Token::String(spelled)) => {
                        self.leaf(spot, unescape(spelled), spelled, Kind::Text);
                    }
                    Some(Token::Scalar(spelled)) => {
                        let kind = Kind::of(spelled);
                        self.leaf(spot, spelled.into(), spelled, kind);
                    }
                    _ => {}
                }
            } else if self.open.len() >= DEEPEST {
                let Some(deep) = tokens.value() else { return };
                let mut compact = String::new();
                Layout::Compact.write(deep, &mut compact);
                self.leaf(spot, compact.into(), deep.as_str(), Kind::Word);
            } else {
                let start = tokens.end();
                tokens.next();
                self.enter(spot, first, &text.as_str()[start..]);
            }
        }
    }

    fn is_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.kind == Kind::Object && open.key.is_none())
    }

    fn name(&mut self, spelled: &'t str) {
        if let Some(open) = self.open.last_mut() {
            open.key = Some(unescape(spelled));
        }
    }

    /// Where the next value stands.
    fn spot(&mut self, root: Option<Root<'t>>) -> NodeSlot<'t> {
        let Some(open) = self.open.last_mut() else {
            let root = root.unwrap_or(Root::new(PathStep::Body, BODY));
            let said = self.places.get(&BODY).and_then(|said| said.first()).copied();
            let (place, said) = (root.place, root.rule.or(said));
            let step = root.step;
            let (wild, way, in_set) = (place, BODY, false);
            return NodeSlot {
                parent: None,
                step,
                place,
                wild,
                way,
                said,
                inherited: None,
                in_set,
            };
        };
        let (inside, any) = {
            let parent = &self.reader.nodes[open.node];
            (parent.place, parent.wild)
        };
        let (step, place, wild, way) = match open.key.take() {
            Some(key) => {
                let name = hash_of(&*key);
                let at = |place| combine(&[place, name]);
                (PathStep::Member(key), at(inside), at(any), at(open.way))
            }
            None => {
                let number = open.items as u64;
                let index = if open.kind == Kind::Set { ANY } else { number };
                let place = combine(&[inside, index]);
                let way = combine(&[open.way, number]);
                (PathStep::Item(open.items), place, combine(&[any, ANY]), way)
            }
        };
        let in_set = open.in_set || open.kind == Kind::Set;
        let said = if self.places.is_empty() {
            None
        } else {
            self.places.get(&way).and_then(|said| said.first()).copied()
        };
        let (parent, inherited) = (Some(open.node), open.rule);
        NodeSlot { parent, step, place, wild, way, said, inherited, in_set }
    }

    fn enter(&mut self, spot: NodeSlot<'t>, bracket: u8, spelled: &'t str) {
        let says = |treatment: &Treatment<'t>| {
            self.places.get(&spot.way).is_some_and(|said| said.contains(treatment))
        };
        let is_set = says(&Treatment::Unordered) || is_set(spot.step.name());
        let kind = match bracket {
            b'{' => Kind::Object,
            _ if is_set => Kind::Set,
            _ => Kind::Array,
        };
        let inherited =
            if says(&Treatment::NotId) { Some(Treatment::NotId) } else { spot.inherited };
        let way = spot.way;
        let in_set = spot.in_set;
        let node = self.push(spot, "".into(), spelled, kind);
        let (items, counted, sum, key) = (0, 0, 0, None);
        self.open.push(OpenContainer {
            node,
            kind,
            way,
            items,
            counted,
            sum,
            key,
            rule: inherited,
            in_set,
        });
    }

    fn close(&mut self, up_to_here: &'t str) {
        let Some(closed) = self.open.pop() else { return };
        let end = self.reader.nodes.len() as u32;
        let node = &mut self.reader.nodes[closed.node];
        node.hash = combine(&[closed.kind.code(), closed.sum, closed.counted]);
        node.end = end;
        let start = node.spelled.as_ptr() as usize - up_to_here.as_ptr() as usize;
        node.spelled = &up_to_here[start..];
        node.counts = match closed.kind {
            _ if closed.in_set => 0,
            Kind::Set => combine(&[node.place, node.hash]),
            // What is in it counts by itself.
            kind => combine(&[node.place, kind.code()]),
        };
        let hash = node.hash;
        self.add(closed.node, hash);
    }

    fn leaf(&mut self, spot: NodeSlot<'t>, text: Cow<'t, str>, spelled: &'t str, kind: Kind) {
        let rule = spot.said.or(spot.inherited);
        let text = match rule {
            Some(rule) => rule.left(text),
            None => text,
        };
        let hash = match kind {
            Kind::Number => combine(&[2, hash_of(&*canonical_number(&text))]),
            Kind::Text => hash_of(&*text),
            _ => combine(&[2, hash_of(&*text)]),
        };
        let in_set = spot.in_set;
        let at = self.push(spot, text, spelled, kind);
        let node = &mut self.reader.nodes[at];
        node.hash = hash;
        node.counts = if in_set { 0 } else { combine(&[node.place, hash]) };
        self.add(at, hash);
    }

    fn push(
        &mut self,
        spot: NodeSlot<'t>,
        text: Cow<'t, str>,
        spelled: &'t str,
        kind: Kind,
    ) -> usize {
        let number = self.reader.nodes.len();
        self.reader.nodes.push(Node {
            parent: spot.parent.unwrap_or(number) as u32,
            end: number as u32 + 1,
            step: spot.step,
            kind,
            text,
            spelled,
            place: spot.place,
            wild: spot.wild,
            hash: 0,
            counts: 0,
            rule: spot.said.or(spot.inherited),
        });
        number
    }

    /// Counts a value in what it is in.
    fn add(&mut self, node: usize, value: u64) {
        let Some(parent) = self.open.last_mut() else { return };
        parent.items += 1;
        parent.counted += 1;
        parent.sum = match (&self.reader.nodes[node].step, parent.kind) {
            // Members are summed, so that their order does not count.
            (PathStep::Member(name), _) => {
                parent.sum.wrapping_add(combine(&[hash_of(&**name), value]))
            }
            (_, Kind::Set) => parent.sum.wrapping_add(combine(&[value])),
            _ => combine(&[parent.sum, value]),
        };
    }

    /// Passes a value that does not count.
    fn pass(&mut self) {
        if let Some(parent) = self.open.last_mut() {
            parent.items += 1;
        }
    }
}
