//! The cassette file.

/// A version of the cassette format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatVersion(pub u64);
