//! Listens, records and replays: everything that talks HTTP, WebSocket or lines.

mod lines;
#[cfg(feature = "record")]
pub(crate) mod recorder;
#[cfg(not(feature = "record"))]
#[path = "no_recorder.rs"]
pub(crate) mod recorder;
mod recording;
pub(crate) mod replayer;
pub(crate) mod server;
pub(crate) mod websocket;
mod wire;
