//! Where something stands in a request.

use std::fmt;

use crate::text::json::pointer;

/// Where something stands in a request.
///
/// It is written as people would: `/messages/0/content` (a JSON Pointer into the body),
/// `query.limit`, `header.accept`, `form.name`, `part.file`, `path.3` (a segment, counted from 1), `path`,
/// `method`, `origin`, `body`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// The method.
    Method,
    /// The server, where a cassette has several.
    Origin,
    /// The path as a whole.
    Path,
    /// A segment of the path, counted from 1.
    Segment(usize),
    /// A parameter of the query.
    Query(String),
    /// A header field.
    Header(String),
    /// A parameter of a form.
    Form(String),
    /// A part of a multipart body.
    Part(String),
    /// A value in a part of a multipart body that is JSON.
    InPart {
        /// The name of the part.
        part: String,
        /// Where in it, as a JSON Pointer.
        pointer: String,
    },
    /// A value in a JSON body, by its JSON Pointer (RFC 6901).
    Json(String),
    /// The body as a whole.
    Body,
}

impl Place {
    /// How a rule about matching names it, if it can: in JSON by a JSONPath for all elements of the
    /// arrays on the way (`$.messages[*].nonce`), but for an element of a message that is an array (`$[1]`), elsewhere
    /// as it is written.
    pub fn rule(&self) -> Option<String> {
        let pointer = match self {
            Self::Json(pointer) => pointer,
            Self::Query(_) | Self::Header(_) | Self::Form(_) | Self::Part(_) => {
                return Some(self.to_string());
            }
            Self::InPart { part, .. } => return Some(format!("part.{part}")),
            Self::Method | Self::Origin | Self::Path | Self::Segment(_) | Self::Body => {
                return None;
            }
        };
        if let Some(element) = pointer.strip_prefix('/').filter(|it| pointer::is_index(it)) {
            return Some(format!("$[{element}]"));
        }
        let mut path = "$".to_owned();
        for name in pointer::steps(pointer) {
            if pointer::is_index(&name) {
                path.push_str("[*]");
            } else if pointer::is_name(&name) {
                path.push_str(&format!(".{name}"));
            } else {
                let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
                path.push_str(&format!("['{quoted}']"));
            }
        }
        Some(path)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method => f.write_str("method"),
            Self::Origin => f.write_str("origin"),
            Self::Path => f.write_str("path"),
            Self::Segment(number) => write!(f, "path.{number}"),
            Self::Query(name) => write!(f, "query.{name}"),
            Self::Header(name) => write!(f, "header.{name}"),
            Self::Form(name) => write!(f, "form.{name}"),
            Self::Part(name) => write!(f, "part.{name}"),
            Self::InPart { part, pointer } => write!(f, "part.{part}{pointer}"),
            // The pointer to a whole document is the empty string, which nobody would see.
            Self::Json(pointer) if pointer.is_empty() => f.write_str("body"),
            Self::Json(pointer) => f.write_str(pointer),
            Self::Body => f.write_str("body"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_also_a_json_path() {
        for (pointer, path) in [
            ("", "$"),
            ("/messages/0/nonce", "$.messages[*].nonce"),
            ("/1", "$[1]"),
            ("/1/n", "$[*].n"),
            ("/a~1b/c~0d", "$['a/b']['c~d']"),
            ("/it's", "$['it\\'s']"),
            ("/", "$['']"),
        ] {
            assert_eq!(Place::Json(pointer.to_owned()).rule().as_deref(), Some(path));
        }
        assert_eq!(Place::Body.rule(), None);
    }
}
