//! What the library does, through its public API.

mod message;
mod show;
