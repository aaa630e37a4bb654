//! What stands on the wire of a WebSocket (RFC 6455), and its compression (RFC 7692).
//!
//! # Rationale
//!
//! The recorder passes on what it reads byte for byte, fragments, masks and violations included, and only
//! looks at a copy. Libraries for WebSocket own the connection: they join fragments, answer pings, and
//! close at a violation, so what went through them is not what was sent. So frames are read here,
//! by a decoder that does no IO.

#[cfg(feature = "compression")]
mod deflate;
#[cfg(not(feature = "compression"))]
#[path = "no_deflate.rs"]
mod deflate;
mod extension;
mod handshake;
mod reader;
mod writer;

pub use deflate::Deflate;
pub use extension::Compression;
pub use handshake::{accept_key, is_upgrade, raw_upgrade};
#[cfg(feature = "record")]
pub use reader::TOO_BIG;
pub use reader::{Reader, SocketEvent, Strictness, Violation};
pub use writer::Writer;

/// What a frame is.
pub(super) mod opcode {
    pub(in crate::serve::websocket) const CONTINUATION: u8 = 0;
    pub(in crate::serve::websocket) const TEXT: u8 = 1;
    pub(in crate::serve::websocket) const BINARY: u8 = 2;
    pub(in crate::serve::websocket) const CLOSE: u8 = 8;
    pub(in crate::serve::websocket) const PING: u8 = 9;
    pub(in crate::serve::websocket) const PONG: u8 = 10;
}
