//! What the binary does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test is also a client, which prints what it gets")]

#[path = "../support/mod.rs"]
mod support;

mod ci;
mod client;
mod command;
mod contract;
mod coverage;
mod demo;
mod diff;
mod environment;
mod export;
mod failing;
mod faults;
mod help;
mod import;
mod killed;
mod list;
mod mcp;
mod messages;
mod named;
mod proxy;
mod retape;
mod review;
mod samples;
mod scan;
mod secure;
mod serve;
mod tls;
mod unanswered;
mod unread;
mod user;
