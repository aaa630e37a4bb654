//! OpenAPI: what a document says that a server can do, and contracts as such a document.

mod document;
mod template;
#[cfg(feature = "cli")]
mod yaml;

pub use document::{Document, Operation, Response};
pub use template::{Fit, Template};
