//! Listening: the accept loop, addresses, and shutting down in order.

mod address;
mod answer;
mod listen;
mod origin;
mod place;

pub use address::Address;
pub use answer::{Answer, AnswerBody, Cut, OURS, cut_after, full, no_answer, problem};
pub use listen::{FieldNames, Handler, Server};
pub use origin::{
    ADDRESSES, READ_WHOLE, Rewriter, announced, may_hold, may_hold_origins, may_hold_origins_in,
    may_name_us,
};
pub use place::{Meant, Place};
