//! Which rules apply where in a request.

use serde_json_path::PathElement;

use super::at::Place;
use super::{At, Pattern, Rules, tree};

/// What is done with what stands in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Treatment<'a> {
    /// It does not count.
    Ignore,
    /// What the expression matches does not count.
    Pattern(&'a Pattern),
    /// The order of its items does not count.
    Unordered,
    /// It is an identifier.
    Id,
    /// Nothing in it is an identifier.
    NotId,
}

/// A step from a JSON value to one within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the member of an object; its name without quotes and escapes.
    Member(String),
    /// To the item of an array, counted from 0.
    Item(usize),
}

impl Rules {
    /// The places of a JSON body that rules name, and what they say: the way from the body to each.
    /// What is said first of a place goes first. Nothing if the text is not JSON.
    ///
    /// # Example: where a JSONPath leads
    ///
    /// ```
    /// use retape::config::{Rules, Step, Treatment};
    ///
    /// let rules = Rules::default().ignore("$.tools[*].version")?;
    /// let places = rules.places(r#"{"tools": [{"name": "a"}, {"name": "b", "version": 2}]}"#);
    ///
    /// let way = [Step::Member("tools".into()), Step::Item(1), Step::Member("version".into())];
    /// assert_eq!(places, [(Treatment::Ignore, way.to_vec())]);
    /// # Ok::<(), retape::Error>(())
    /// ```
    pub fn places(&self, body: &str) -> Vec<(Treatment<'_>, Vec<Step>)> {
        let mut rules = self.treatments().filter(|(at, _)| at.is_in_json()).peekable();
        if rules.peek().is_none() {
            return Vec::new();
        }
        let Some(tree) = tree::of(body) else { return Vec::new() };
        let mut places = Vec::new();
        for (at, treatment) in rules {
            places.extend(at.ways(&tree).into_iter().map(|way| (treatment, way)));
        }
        places
    }

    /// What is said of a parameter of the query, by its decoded name.
    pub fn of_query(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, Place::Query(said) if said == name))
    }

    /// What is said of a header field.
    pub fn of_header(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, Place::Header(said) if said.eq_ignore_ascii_case(name)))
    }

    /// What is said of a field of an urlencoded form, by its decoded name.
    pub fn of_form(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, Place::Form(said) if said == name))
    }

    /// What is said of a part of a multipart body.
    pub fn of_part(&self, name: &str) -> Option<Treatment<'_>> {
        self.of(|place| matches!(place, Place::Part(said) if said == name))
    }

    /// What is said of the name of a file in a part of a multipart body.
    pub fn of_filename(&self, name: &str) -> Option<Treatment<'_>> {
        let is_it = |said: &str| said.strip_suffix(".filename") == Some(name);
        self.of(|place| matches!(place, Place::Part(said) if is_it(said)))
    }

    /// What is said of the path.
    pub fn of_path(&self) -> Option<Treatment<'_>> {
        self.of(|place| *place == Place::Path)
    }

    fn of(&self, is: impl Fn(&Place) -> bool) -> Option<Treatment<'_>> {
        self.treatments().find(|(at, _)| is(at.place())).map(|(_, treatment)| treatment)
    }

    fn treatments(&self) -> impl Iterator<Item = (&At, Treatment<'_>)> {
        let patterns = self.patterns.iter();
        each(&self.ignore, Treatment::Ignore)
            .chain(patterns.map(|pattern| (pattern.at(), Treatment::Pattern(pattern))))
            .chain(each(&self.unordered, Treatment::Unordered))
            .chain(each(&self.ids, Treatment::Id))
            .chain(each(&self.not_ids, Treatment::NotId))
    }
}

fn each<'a>(
    list: &'a [At],
    treatment: Treatment<'a>,
) -> impl Iterator<Item = (&'a At, Treatment<'a>)> {
    list.iter().map(move |at| (at, treatment))
}

impl At {
    fn is_in_json(&self) -> bool {
        matches!(self.place(), Place::Json(_) | Place::Pointer(_))
    }

    /// The ways to all that it names in a body.
    fn ways(&self, body: &serde_json::Value) -> Vec<Vec<Step>> {
        match self.place() {
            Place::Json(path) => {
                let found = path.query_located(body);
                found.locations().map(|way| way.iter().map(Step::of).collect()).collect()
            }
            Place::Pointer(parts) => tree::follow(body, parts).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl Step {
    fn of(element: &PathElement<'_>) -> Self {
        match element {
            PathElement::Name(name) => Self::Member((*name).to_owned()),
            PathElement::Index(index) => Self::Item(*index),
        }
    }
}
