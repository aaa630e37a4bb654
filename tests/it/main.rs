//! What the library does, through its public interface.

mod format;
mod message;
mod show;
