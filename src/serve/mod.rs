//! Listens, records and replays: everything that talks HTTP.

pub(crate) mod recorder;
pub(crate) mod replayer;
pub(crate) mod server;
