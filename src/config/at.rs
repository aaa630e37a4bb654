//! Places in a request.

use std::str::FromStr;

use serde_json_path::JsonPath;

use crate::error::{Error, Result};
use crate::text::json::pointer;
use crate::text::nearest;
use crate::text::words::shown;

/// A place in a request, or many.
///
/// | form | where |
/// |---|---|
/// | `$.a[*].b` | in a JSON body, by JSONPath (RFC 9535) |
/// | `/a/0/b` | in a JSON body, by JSON Pointer (RFC 6901) |
/// | `query.NAME` | the value of a parameter, each time it is there |
/// | `header.NAME` | the value of a header field, whatever the case of its name |
/// | `form.NAME` | the value of a field in an urlencoded form |
/// | `part.NAME` | the content of a part in a multipart body |
/// | `part.NAME.filename` | the name of the file in it |
/// | `path` | the path, without the query |
///
/// # Example: what is written is what is read
///
/// ```
/// use retape::config::At;
///
/// let at: At = "$.messages[0].otid".parse()?;
/// assert_eq!(at.to_string(), "$.messages[0].otid");
/// assert!("messages.otid".parse::<At>().is_err());
/// # Ok::<(), retape::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    text: String,
    place: PlacePattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlacePattern {
    Json(JsonPath),
    /// The names of members and the indices of items on the way.
    Pointer(Vec<String>),
    Query(String),
    Header(String),
    Form(String),
    Part(String),
    Path,
}

/// The brackets that a JSONPath may have: its parser goes into them by recursion.
const BRACKETS: usize = 64;

impl At {
    /// The place as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A place that can be unordered.
    pub(super) fn in_json(text: &str) -> Result<Self> {
        let at = Self::from_str(text)?;
        match at.place {
            PlacePattern::Json(_) | PlacePattern::Pointer(_) => Ok(at),
            _ => Err(Error::rule(text, "cannot be `unordered`: only JSON has arrays")
                .with_hint("the order of parameters in a query and in a form never counts")),
        }
    }

    /// A place that can be an identifier.
    pub(super) fn of_id(text: &str) -> Result<Self> {
        let at = Self::from_str(text)?;
        if at.place == PlacePattern::Path {
            let hint =
                "say which part of it may differ: `patterns = [{ at = \"path\", regex = \"…\" }]`";
            return Err(Error::rule(text, "cannot be one of `ids`: it is more than one value")
                .with_hint(hint));
        }
        Ok(at)
    }

    /// One field of a JSON value, by a pointer.
    pub(crate) fn field(text: &str) -> Result<Self> {
        match Self::from_str(text) {
            Ok(at) if matches!(at.place, PlacePattern::Pointer(_)) => Ok(at),
            Err(error) if text.starts_with('/') => Err(error),
            _ => Err(Error::rule(text, "is not a JSON Pointer").with_hint(format!(
                "a field is named with a slash before it: `/{}`",
                text.trim_start_matches("$.").replace('.', "/")
            ))),
        }
    }

    /// The way to a field; none for other places.
    pub(crate) fn steps(&self) -> &[String] {
        match &self.place {
            PlacePattern::Pointer(steps) => steps,
            _ => &[],
        }
    }

    pub(super) fn place(&self) -> &PlacePattern {
        &self.place
    }
}

impl FromStr for At {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let place = match text.as_bytes().first() {
            Some(b'$') => json_path(text)?,
            Some(b'/') => pointer(text)?,
            _ if text == "path" => PlacePattern::Path,
            _ => named(text)?,
        };
        Ok(Self { text: text.to_owned(), place })
    }
}

shown!(Display: At, it => "{}", it.text);

/// Takes the name of a header field.
pub(super) fn header_name(name: &str) -> Result<String> {
    match name.parse::<http::HeaderName>() {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err(Error::rule(name, "is not the name of a header field")
            .with_hint("it has letters, digits and dashes: `x-tenant`")),
    }
}

/// Refuses a place where the name of a field stands: no field is called so.
pub(super) fn refuse_place(name: &str) -> Result<()> {
    const ROOTS: [&str; 7] = ["body.", "form.", "header.", "json.", "part.", "path.", "query."];
    if !name.starts_with(['$', '/']) && !ROOTS.iter().any(|root| name.starts_with(root)) {
        return Ok(());
    }
    let last = name.rsplit(['.', '/', '[']).next().unwrap_or_default();
    let last = last.trim_matches(|c: char| "[]'\"*$".contains(c));
    let last = if last.is_empty() { "token" } else { last };
    Err(Error::rule(name, "is a place, and a name stands here")
        .with_hint(format!("`{last}` means what is called so, wherever it stands")))
}

fn json_path(text: &str) -> Result<PlacePattern> {
    if text.matches(['(', '[']).count() > BRACKETS {
        return Err(Error::rule(text, "has more than 64 brackets"));
    }
    JsonPath::parse(text).map(PlacePattern::Json).map_err(|error| {
        let from = error.position().min(text.len());
        let understood = text.get(..from).unwrap_or("$");
        Error::rule(text, "is not a JSONPath")
            .because(format!("it is understood up to `{understood}`"))
            .with_hint(
                "a JSONPath is written like `$.messages[0].otid`, `$..id`, `$['content-type']`",
            )
    })
}

fn pointer(text: &str) -> Result<PlacePattern> {
    let part = |part: &str| {
        let tildes = part.matches('~').count();
        let known = part.matches("~0").count() + part.matches("~1").count();
        (tildes == known).then(|| pointer::unescaped(part).into_owned())
    };
    let parts: Option<Vec<String>> = text.split('/').skip(1).map(part).collect();
    parts.map(PlacePattern::Pointer).ok_or_else(|| {
        Error::rule(text, "is not a JSON Pointer")
            .with_hint("`~` is written `~0` in one, and `/` within a name is written `~1`")
    })
}

fn named(text: &str) -> Result<PlacePattern> {
    let (root, name) = text.split_once('.').unwrap_or((text, ""));
    let place = match root {
        "query" => PlacePattern::Query,
        "header" => PlacePattern::Header,
        "form" => PlacePattern::Form,
        "part" => PlacePattern::Part,
        _ => return Err(unknown(text, root, name)),
    };
    if name.is_empty() {
        return Err(Error::rule(text, "does not say which").with_hint(format!("`{root}.NAME`")));
    }
    if root == "header" {
        header_name(name)?;
    }
    Ok(place(name.to_owned()))
}

fn unknown(text: &str, root: &str, name: &str) -> Error {
    let roots = ["query", "header", "form", "part"];
    let near = similar::get_close_matches(root, &roots, 1, 0.6);
    let hint = match near.first() {
        Some(near) if !name.is_empty() => format!("did you mean `{near}.{name}`?"),
        _ => format!(
            "a place is {} or `path`",
            nearest::listed(&[
                "$.a[*].b",
                "/a/0/b",
                "query.NAME",
                "header.NAME",
                "form.NAME",
                "part.NAME"
            ])
        ),
    };
    Error::rule(text, "is not a place in a request").with_hint(hint)
}
