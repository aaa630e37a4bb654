//! Listens, records and replays: everything that talks HTTP, WebSocket or lines.

mod lines;
mod lock;
#[cfg(feature = "record")]
pub(crate) mod recorder;
#[cfg(not(feature = "record"))]
#[path = "no_recorder.rs"]
pub(crate) mod recorder;
mod recording;
pub(crate) mod replayer;
pub(crate) mod server;
pub(crate) mod websocket;
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command talks in lines"))]
mod wire;

pub(crate) use lock::lock;
