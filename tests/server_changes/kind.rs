//! The kinds of change that are made, and what each means by construction.

use super::added;
use super::breaking::{answers, orders, shapes, ties};
use super::edit::ServerChange;
use super::harmless::{narrower, runs, scenarios, spelling};
use super::set::Set;
use crate::dice::Random;

/// What a change means to a client that was written for what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Breaking,
    Harmless,
}

/// One kind of change.
pub struct Kind {
    pub name: &'static str,
    pub class: Class,
    make: Make,
}

enum Make {
    All(fn(&Set) -> Vec<ServerChange>),
    Some(fn(&Set, &mut Random) -> Vec<ServerChange>),
}

impl Kind {
    const fn breaks(name: &'static str, make: Make) -> Self {
        Self { name, class: Class::Breaking, make }
    }

    const fn harmless(name: &'static str, make: Make) -> Self {
        Self { name, class: Class::Harmless, make }
    }

    /// All changes of this kind that can be made of a set.
    pub fn changes(&self, set: &Set, random: &mut Random) -> Vec<ServerChange> {
        match self.make {
            Make::All(make) => make(set),
            Make::Some(make) => make(set, random),
        }
    }
}

/// All of them.
pub const KINDS: &[Kind] = &[
    Kind::breaks("order: ends early", Make::All(orders::ends_early)),
    Kind::breaks("order: a message is missing once", Make::All(orders::dropped)),
    Kind::breaks("order: a type never comes", Make::All(orders::dropped_everywhere)),
    Kind::breaks("order: two are swapped", Make::All(orders::swapped)),
    Kind::breaks("order: a message comes twice", Make::All(orders::doubled)),
    Kind::breaks("order: a known type out of place", Make::All(orders::out_of_place)),
    Kind::breaks("order: a new type", Make::All(orders::new_type)),
    Kind::breaks("shape: a field is missing", Make::Some(shapes::missing)),
    Kind::breaks("shape: missing in one kind of a union", Make::Some(shapes::missing_in_a_kind)),
    Kind::breaks("shape: a field is renamed", Make::Some(shapes::renamed)),
    Kind::breaks("shape: null", Make::Some(shapes::null)),
    Kind::breaks("shape: a value where null was", Make::Some(shapes::value_for_null)),
    Kind::breaks("shape: string for number", Make::Some(shapes::string_for_number)),
    Kind::breaks("shape: number for string", Make::Some(shapes::number_for_string)),
    Kind::breaks("shape: object for string", Make::Some(shapes::object_for_string)),
    Kind::breaks("shape: string for boolean", Make::Some(shapes::string_for_boolean)),
    Kind::breaks("shape: string for object", Make::Some(shapes::string_for_object)),
    Kind::breaks("shape: object for list", Make::Some(shapes::object_for_list)),
    Kind::breaks("shape: other elements of a list", Make::Some(shapes::other_elements)),
    Kind::breaks("shape: a fraction", Make::Some(shapes::fraction)),
    Kind::breaks("shape: a word that is not of the list", Make::Some(shapes::other_word)),
    Kind::breaks("shape: a new kind in a union", Make::Some(shapes::other_kind)),
    Kind::breaks("shape: no date", Make::Some(shapes::no_date)),
    Kind::breaks("shape: no UUID", Make::Some(shapes::no_uuid)),
    Kind::breaks("shape: wrapped as a whole", Make::All(shapes::wrapped)),
    Kind::breaks("invariant: refers to nothing", Make::Some(ties::refers_to_nothing)),
    Kind::breaks("invariant: not constant", Make::Some(ties::not_constant)),
    Kind::breaks("invariant: echoes something else", Make::Some(ties::echoes_something_else)),
    Kind::breaks("invariant: counts back", Make::Some(ties::counts_back)),
    Kind::breaks("invariant: not unique", Make::Some(ties::twice)),
    Kind::breaks("answer: another success", Make::All(answers::other_success)),
    Kind::breaks("answer: refused", Make::All(answers::refused)),
    Kind::breaks("answer: refused with another status", Make::All(answers::other_refusal)),
    Kind::breaks("answer: a page for JSON", Make::All(answers::page_for_json)),
    Kind::breaks("answer: JSON for a stream", Make::All(answers::json_for_stream)),
    Kind::breaks("answer: cut", Make::All(answers::cut)),
    Kind::harmless("run: other identifiers", Make::All(runs::other_ids)),
    Kind::harmless("run: other times", Make::All(runs::other_times)),
    Kind::harmless("run: other header fields", Make::All(runs::other_headers)),
    Kind::harmless("run: other chunks", Make::All(runs::other_chunks)),
    Kind::harmless("run: other texts", Make::Some(runs::other_texts)),
    Kind::harmless("run: other counts", Make::Some(runs::other_numbers)),
    Kind::harmless("spelling: white space", Make::All(spelling::white_space)),
    Kind::harmless("spelling: order of members", Make::All(spelling::member_order)),
    Kind::harmless("spelling: escapes", Make::All(spelling::escapes)),
    Kind::harmless("spelling: keep-alives", Make::All(spelling::keep_alives)),
    Kind::harmless("narrower: never null", Make::All(narrower::never_null)),
    Kind::harmless("narrower: always there", Make::All(narrower::always_there)),
    Kind::harmless("narrower: never there", Make::All(narrower::never_there)),
    Kind::harmless("narrower: fewer pieces of a text", Make::All(narrower::fewer_pieces)),
    Kind::harmless("wider: more pieces of a text", Make::All(narrower::more_pieces)),
    Kind::harmless("wider: a new field", Make::Some(added::field)),
    Kind::harmless("scenario: gone", Make::All(scenarios::gone)),
    Kind::harmless("scenario: recorded once more", Make::All(scenarios::twice)),
    Kind::harmless("scenario: a question asked again", Make::All(scenarios::asked_again)),
    Kind::harmless("scenario: a question not asked", Make::All(scenarios::not_asked)),
    Kind::breaks("invariant: no sum", Make::Some(ties::no_sum)),
    Kind::breaks("invariant: not what the pieces say", Make::Some(ties::not_the_pieces)),
];
