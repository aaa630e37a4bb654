//! Orders from examples.

mod chare;
mod choice;
mod coverage;
mod edges;
mod graph;
mod learned;
mod refine;
mod slicing;
mod sore;
mod word;

pub use choice::Style;
pub use coverage::Coverage;
pub use edges::{Edges, Letter, Place, Seen, Witness};
pub use learned::{Learned, Share};
pub use refine::Refinement;
pub use slicing::Slicing;
pub use word::{Token, Word};
