//! What the library does, through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

#[path = "order/dice.rs"]
mod dice;
#[path = "../server_changes/mod.rs"]
mod server_changes;

mod amazon;
mod assertion;
mod attribute;
mod beside;
mod carriers;
mod causal;
mod change;
mod chunks;
mod contract;
mod conversations;
mod correlation;
mod coverage;
mod credentials;
mod early;
mod echoes;
mod episodes;
mod evidence;
mod explained;
mod export;
mod exported;
mod faults;
mod fields;
mod format;
mod frozen;
mod greetings;
#[cfg(unix)]
mod hostile;
mod import;
mod interim;
mod invariant;
mod journal;
mod listening;
mod long;
mod matching;
mod message;
mod misses;
mod modes;
mod mount;
mod nearest;
mod nested;
mod opened;
mod order;
mod origins;
mod outages;
mod page;
mod parallel;
mod ports;
mod proof;
mod proxy;
mod record;
mod redact;
mod replay;
mod rerecord;
mod resumed;
mod retries;
mod rules;
mod schema;
mod service;
mod sessions;
mod several;
mod shape;
mod show;
mod stage;
mod states;
mod tagging;
mod ties;
mod transports;
mod true_streams;
mod websocket;
mod wire;
mod written;
