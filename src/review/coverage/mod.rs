//! How much of a server the cassettes show.
//!
//! [`Exercised`] says which endpoints, statuses and types of messages were recorded; [`Coverage`] holds
//! that against an OpenAPI [`Document`](crate::contract::openapi::Document).

mod against;
mod exercised;

pub use against::{Coverage, Missing, Row, Share, Undocumented};
pub use exercised::{Answer, Endpoint, Exercised};
