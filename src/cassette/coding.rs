//! Content codings.
