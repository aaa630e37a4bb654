//! How two values differ, place by place.
//!
//! [`requests`] compares what was recorded with what is asked and lists the places where they
//! differ: fields of JSON by their JSON Pointer, parameters of a query or a form, segments of the
//! path, header fields, and texts as a whole. JSON is compared as values: the order of members,
//! white space and spelling (`1.0`, `1`) are no difference. Arrays are aligned, so that one element
//! that was put in is one difference and not a difference in each element behind it.
//!
//! Texts count as equal if they are after a [`Mask`] has taken out what may be another each time;
//! where only that differs, the places are told apart ([`Sort::Renamed`]).

mod align;
mod body;
mod compare;
mod parameters;
mod place;
mod request;
mod tree;
mod value;

use std::borrow::Cow;

pub use place::Place;
pub use request::requests;
pub use value::Value;

use crate::text::json::Text;

/// A text without what may be another each time.
pub type Mask<'m> = &'m dyn Fn(&str) -> Cow<'_, str>;

/// One place where two requests differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where. What is missing stands where it was recorded, everything else where it is asked.
    pub at: Place,
    /// What was recorded there, if anything was.
    pub recorded: Option<Value>,
    /// What is asked there, if anything is.
    pub asked: Option<Value>,
    /// Whether it is the same behind a mask.
    pub sort: Sort,
}

/// How far two values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// They are not the same.
    Changed,
    /// The elements of an array are the same, in another order.
    Reordered,
    /// They are the same but for what the mask takes out.
    Renamed,
}

/// What was found, up to a limit.
#[derive(Debug, Default)]
pub struct Differences {
    /// Those that are listed, in the order of the request.
    pub listed: Vec<Difference>,
    /// How many more there are.
    pub more: usize,
    /// Where only what the mask takes out differs.
    pub renamed: Vec<Difference>,
}

/// So many are listed; nobody reads more, and a body may hold any number.
const MOST: usize = 200;

/// Compares two JSON texts; one that is none is compared as a text.
pub fn documents(recorded: &str, asked: &str, mask: Mask<'_>) -> Differences {
    let mut found = Differences::default();
    if recorded == asked {
        return found;
    }
    let parsed = [recorded, asked].map(Text::read);
    match parsed {
        [Some(recorded), Some(asked)] => compare::json(recorded, asked, mask, &mut found),
        _ if mask(recorded) == mask(asked) => {}
        _ => {
            let [recorded, asked] = [recorded, asked].map(Value::text);
            found.changed(Place::Body, recorded, asked, Sort::Changed);
        }
    }
    found
}

impl Difference {
    /// A difference of which nothing is told but where it is.
    pub fn hidden(at: Place) -> Self {
        let hidden = || Some(Value::text("[redacted]"));
        Self { at, recorded: hidden(), asked: hidden(), sort: Sort::Changed }
    }
}

impl Differences {
    fn note(&mut self, difference: Difference) {
        let renamed = difference.sort == Sort::Renamed;
        let list = if renamed { &mut self.renamed } else { &mut self.listed };
        match list.len() < MOST {
            true => list.push(difference),
            false => self.more += usize::from(!renamed),
        }
    }

    fn changed(&mut self, at: Place, recorded: Value, asked: Value, sort: Sort) {
        self.note(Difference { at, recorded: Some(recorded), asked: Some(asked), sort });
    }

    fn missing(&mut self, at: Place, recorded: Value) {
        self.note(Difference { at, recorded: Some(recorded), asked: None, sort: Sort::Changed });
    }

    fn extra(&mut self, at: Place, asked: Value) {
        self.note(Difference { at, recorded: None, asked: Some(asked), sort: Sort::Changed });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::cassette::Request;

    fn request(body: &str) -> Request {
        let body = body.to_owned().into();
        Request { method: "POST".into(), path: "/".into(), headers: Default::default(), body }
    }

    fn differences(recorded: &str, asked: &str) -> Differences {
        requests(&request(recorded), &request(asked), &|_| false, &|text| Cow::Borrowed(text))
    }

    /// Takes the way from one value to the other: what is missing is taken out from behind, then
    /// what is new is put in from the front, then what is another is exchanged.
    fn applied(recorded: &Json, found: &Differences) -> Json {
        let mut value = recorded.clone();
        let json = |value: &Value| match value {
            Value::Json(spelled) => serde_json::from_str::<Json>(spelled).unwrap(),
            other => panic!("{other:?}"),
        };
        for missing in found.listed.iter().rev().filter(|it| it.asked.is_none()) {
            edit(&mut value, &missing.at, None);
        }
        for extra in found.listed.iter().filter(|it| it.recorded.is_none()) {
            edit(&mut value, &extra.at, extra.asked.as_ref().map(json));
        }
        for changed in &found.listed {
            if let (Some(_), Some(asked)) = (&changed.recorded, &changed.asked) {
                *value.pointer_mut(pointer(&changed.at)).unwrap() = json(asked);
            }
        }
        value
    }

    fn pointer(at: &Place) -> &str {
        match at {
            Place::Json(pointer) => pointer,
            other => panic!("{other:?}"),
        }
    }

    /// Puts a value in, or takes one out.
    fn edit(value: &mut Json, at: &Place, new: Option<Json>) {
        let (above, name) = pointer(at).rsplit_once('/').unwrap();
        let name = name.replace("~1", "/").replace("~0", "~");
        match (value.pointer_mut(above).unwrap(), new) {
            (Json::Object(members), Some(new)) => drop(members.insert(name, new)),
            (Json::Object(members), None) => drop(members.remove(&name).unwrap()),
            (Json::Array(elements), Some(new)) => elements.insert(name.parse().unwrap(), new),
            (Json::Array(elements), None) => drop(elements.remove(name.parse().unwrap())),
            other => panic!("{other:?}"),
        }
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            (0..4).prop_map(Json::from),
            "[a-c~/é\n]{0,3}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
                prop::collection::btree_map("[a-c/~0]{0,2}", inner, 0..5)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    /// A pair of containers, often alike.
    fn pairs() -> impl Strategy<Value = (Json, Json)> {
        let list = || prop::collection::vec(any_json(), 0..6);
        let alike = (list(), list(), 0_usize..6).prop_map(|(one, other, at)| {
            let mut mixed = one.clone();
            mixed.splice(at.min(one.len())..(at + 1).min(one.len()).max(at.min(one.len())), other);
            (Json::from(one), Json::from(mixed))
        });
        prop_oneof![(list(), list()).prop_map(|(one, other)| (one.into(), other.into())), alike]
    }

    proptest! {
        #[test]
        fn the_differences_lead_from_one_value_to_the_other((one, other) in pairs()) {
            let found = differences(&one.to_string(), &other.to_string());

            prop_assert_eq!(found.listed.is_empty(), one == other);
            prop_assert_eq!(applied(&one, &found), other);
        }

        #[test]
        fn what_is_listed_really_differs((one, other) in pairs()) {
            for it in differences(&one.to_string(), &other.to_string()).listed {
                let at = pointer(&it.at);
                match (&it.recorded, &it.asked) {
                    (Some(old), Some(new)) => prop_assert_ne!(old, new),
                    (Some(_), None) => prop_assert!(one.pointer(at).is_some()),
                    _ => prop_assert!(other.pointer(at).is_some()),
                }
            }
        }
    }

    #[test]
    fn spelling_and_order_of_members_are_no_difference() {
        let found = differences(r#"{"a":1.0,"b":["\u00e9",1e2]}"#, r#"{ "b":["é",100],"a":1}"#);

        assert!(found.listed.is_empty(), "{:?}", found.listed);
    }

    #[test]
    fn repeated_members_are_compared_one_by_one() {
        let found = differences(r#"{"a":1,"a":2,"a":3}"#, r#"{"a":3,"a":1,"a":4}"#);

        assert_eq!(found.listed.len(), 1);
        assert_eq!(found.listed[0].recorded, Some(Value::Json("2".to_owned())));
        assert_eq!(found.listed[0].asked, Some(Value::Json("4".to_owned())));
    }

    #[test]
    fn what_is_nested_very_deep_exhausts_nothing() {
        let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(50_000), "]".repeat(50_000));

        assert!(differences(&nested("1"), &nested("1")).listed.is_empty());
        assert_eq!(differences(&nested("1"), &nested("2")).listed.len(), 1);
    }

    #[test]
    fn large_arrays_are_compared_within_a_moment() {
        let numbers: Vec<usize> = (0..50_000).collect();
        let mut more = numbers.clone();
        more.insert(20_000, 7);
        let reversed: Vec<usize> = (50_000..100_000).rev().collect();
        let text = |numbers: &[usize]| json!(numbers).to_string();

        assert_eq!(differences(&text(&numbers), &text(&more)).listed.len(), 1);
        let found = differences(&text(&numbers), &text(&reversed));
        assert_eq!(found.listed.len() + found.more, 50_000);
    }
}
