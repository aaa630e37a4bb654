//! Values that keep a promise, made up.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::schema::{Array, Fields, Number, Object, Presence, Schema, Text, Union};
use super::tuple;

/// Something that looks minted.
const MINTED: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";

/// So many values are made up at most, and so many members of objects: each value has all that must be.
const MOST: usize = 4_000;
const MOST_MEMBERS: usize = 50_000;

impl Schema {
    /// JSON texts that keep the promise: the smallest first, then each thing that is promised in one of
    /// them at least, unless there are very many.
    ///
    /// # Example: each alternative once
    ///
    /// ```
    /// use retape::contract::shape::Schema;
    ///
    /// let examples = Schema::parse("object\n  id: integer | null\n  name?: \"a\"")?.examples();
    ///
    /// assert_eq!(examples, [r#"{"id":7}"#, r#"{"id":null}"#, r#"{"id":7,"name":"a"}"#]);
    /// # Ok::<(), retape::contract::shape::ParseErrors>(())
    /// ```
    pub fn examples(&self) -> Vec<String> {
        let mut values = self.variations();
        let mut known = std::collections::HashSet::new();
        values.retain(|value| known.insert(value.clone()));
        values.iter().map(Value::to_string).collect()
    }

    /// Never more than [`MOST`], and none if there is none.
    fn variations(&self) -> Vec<Value> {
        let mut all = Vec::new();
        all.extend(self.boolean.then_some(Value::Bool(true)));
        all.extend(self.number.into_iter().map(of_number));
        all.extend(self.codes.iter().map(|code| json!(code)));
        all.extend(self.string.iter().flat_map(of_text).map(Value::from));
        match self.array.as_deref() {
            Some(Array::List(elements)) => {
                all.push(json!([]));
                all.extend(elements.variations().into_iter().map(|element| json!([element])));
            }
            Some(Array::Tuple(places)) => {
                all.extend(places.variations().into_iter().map(in_order));
            }
            None => {}
        }
        let objects = self.object.iter().flat_map(|object| object.variations());
        all.extend(objects.map(Value::from));
        all.extend((self.null || self.any).then_some(Value::Null));
        all.extend(self.any.then(|| json!({"made": "up"})));
        all.truncate(MOST);
        all
    }
}

type JsonObject = Map<String, Value>;

impl Object {
    fn variations(&self) -> Vec<JsonObject> {
        match self {
            Self::Plain(fields) => fields.variations(),
            Self::Union(union) => union.variations(),
        }
    }
}

impl Union {
    fn variations(&self) -> Vec<JsonObject> {
        let kinds = self.branches.iter().flat_map(|(value, kind)| {
            kind.variations().into_iter().map(|mut members| {
                members.insert(self.tag.clone(), value.as_str().into());
                members
            })
        });
        let unknown = JsonObject::from_iter([(self.tag.clone(), "made up".into())]);
        kinds.chain(self.open.then_some(unknown)).take(MOST).collect()
    }
}

impl Fields {
    /// With the fields that must be there, and then with one thing that is otherwise.
    fn variations(&self) -> Vec<JsonObject> {
        let Some(least) = self.least() else { return Vec::new() };
        let mut all = vec![least.clone()];
        let most = MOST.min(MOST_MEMBERS / (least.len() + 1) + 1);
        let with = |name: &str, value: Value| {
            let mut members = least.clone();
            members.insert(name.to_owned(), value);
            members
        };
        for (name, field) in &self.fields {
            if all.len() >= most {
                break;
            }
            let skipped = usize::from(field.presence == Presence::Required);
            let values = field.schema.variations().into_iter().skip(skipped);
            all.extend(values.map(|value| with(name, value)));
        }
        if let Some(rest) = &self.rest {
            for name in of_text(&rest.name).into_iter().filter(|it| !self.fields.contains_key(it)) {
                all.extend(rest.schema.variations().into_iter().map(|value| with(&name, value)));
            }
        }
        all.extend(self.open.then(|| with("made_up", json!({"made": "up"}))));
        all.truncate(most);
        all
    }

    /// Nothing if there is nothing that a field could be.
    fn least(&self) -> Option<JsonObject> {
        let required = self.fields.iter().filter(|(_, it)| it.presence == Presence::Required);
        let members = required.map(|(name, field)| {
            Some((name.clone(), field.schema.variations().into_iter().next()?))
        });
        members.collect()
    }
}

/// The members of a tuple as an array.
fn in_order(mut places: JsonObject) -> Value {
    (0..places.len()).map_while(|index| places.remove(&tuple::name(index))).collect()
}

/// A number that is no integer, where that is promised.
fn of_number(number: Number) -> Value {
    match number {
        Number::Integer => json!(7),
        Number::Any => json!(0.5),
    }
}

fn of_text(text: &Text) -> Vec<String> {
    match text {
        Text::Any => vec!["made up".to_owned()],
        Text::Open(known) => known.iter().cloned().chain(["made up".to_owned()]).collect(),
        Text::Of(formats, values) => {
            values.iter().cloned().chain(formats.iter().map(of_format)).collect()
        }
    }
}

fn of_format(format: &Format) -> String {
    match format {
        Format::Uuid | Format::Id => MINTED.to_owned(),
        Format::DateTime => "2026-11-20T10:00:00Z".to_owned(),
        Format::LocalDateTime => "2026-11-20T10:00:00".to_owned(),
        Format::HttpDate => "Fri, 20 Nov 2026 10:00:00 GMT".to_owned(),
        Format::Date => "2026-11-20".to_owned(),
        Format::Uri => "https://example.com/made-up".to_owned(),
        Format::Integer => "7".to_owned(),
        Format::Prefixed(prefix) => format!("{prefix}-{MINTED}"),
    }
}
