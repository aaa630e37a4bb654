//! What a test asserts: orders, shapes and contracts, kept as snapshots.
//!
//! Where a text is given, it is held against what came, by meaning. Where it is a snapshot, insta keeps
//! it, shows what has changed, and takes what is accepted. An order is held by meaning there too.
//!
//! A test that proves what it has recorded runs twice. The first run has just asserted what is a snapshot in a
//! file, and in the second one insta would mistake its name, so it is left out there.

#[cfg(any(feature = "cli", feature = "insta"))]
mod checked;
#[cfg(feature = "insta")]
mod contract;
#[cfg(feature = "insta")]
mod macros;
#[cfg(feature = "insta")]
mod order;
#[cfg(feature = "insta")]
mod shape;

#[cfg(feature = "cli")]
pub(crate) use checked::{Checked, checked, learned, load, traffic};

/// What the macros call.
#[cfg(feature = "insta")]
#[doc(hidden)]
pub mod macro_support {
    pub use super::contract::check_contract;
    pub use super::order::{check_order, order_snapshot};
    pub use super::shape::{check_shape, json, shape_text};

    /// Whether a snapshot of that text is to be asserted: a test that runs once more, to prove what it has recorded,
    /// says the same as before instead.
    #[track_caller]
    pub fn is_asserted(text: &str) -> bool {
        crate::store::is_asserted(text)
    }
}
