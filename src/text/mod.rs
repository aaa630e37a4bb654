//! The syntaxes, each read once, with the places where things stand.

pub(crate) mod amazon;
pub(crate) mod date;
pub(crate) mod escape;
pub(crate) mod form;
pub(crate) mod graphql;
pub(crate) mod json;
pub(crate) mod markup;
pub(crate) mod multipart;
pub(crate) mod nearest;
pub(crate) mod percent;
pub(crate) mod plain;
pub(crate) mod rpc;
pub(crate) mod sequence;
pub(crate) mod shell;
pub(crate) mod sse;
#[cfg(feature = "import")]
pub(crate) mod tree;
pub(crate) mod words;
