//! OpenAPI: what a document says that a server can do, and contracts as such a document.

mod contracts;
mod document;
mod template;

pub use contracts::{to_json_schema, to_open_api};
pub use document::{Document, Operation, Response};
pub use template::{Fit, Template};
