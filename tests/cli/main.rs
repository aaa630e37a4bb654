//! What the binary does.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod command;
mod demo;
mod environment;
mod help;
mod killed;
mod messages;
mod retape;
mod serve;
