//! Changes that break a client which was written for what was recorded.

pub mod answers;
pub mod orders;
pub mod shapes;
pub mod ties;

/// What ties values together, and which words there are, is known to somebody who has seen it so often, each
/// word of a list: what was seen less often is no part of the corpus.
const OFTEN: usize = 5;
