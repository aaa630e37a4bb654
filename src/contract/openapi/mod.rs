//! OpenAPI: what a document says that a server can do, and contracts as such a document.

mod contracts;
mod document;

pub use super::template::{Fit, Template};
pub use contracts::{to_json_schema, to_open_api};
pub use document::{Document, Operation, Response};
