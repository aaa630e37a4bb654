//! What the binary does.

mod demo;
