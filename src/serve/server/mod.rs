//! Listening: the accept loop, addresses, and shutting down in order.

mod address;
mod answer;
mod arrival;
#[cfg(feature = "proxy")]
mod authority;
mod chunks;
mod early;
mod listen;
mod origin;
mod place;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(not(feature = "proxy"))]
#[path = "no_proxy.rs"]
mod proxy;
mod resettable;
mod spelling;
mod unbroken;
mod via;

pub use address::Address;
pub use answer::{
    Answer, AnswerBody, Breaks, Cut, NoAnswer, OURS, Polled, as_from_server, cut_after, full,
    no_answer, problem,
};
pub use arrival::{Arrival, header_map, without};
pub use chunks::{ChunkSizes, Joining};
pub use early::{Early, Unread};
pub use listen::{FieldNames, Handler, MOST_FIELDS, Refusal, Server};
#[cfg(feature = "record")]
pub use origin::leads_to;
pub use origin::{
    ADDRESSES, READ_WHOLE, Rewriter, announced, is_asked_for_first, may_hold_origins, may_name_us,
    media_of,
};
pub use place::{KeptPlace, NamedServers, Outward, ServerPlace, is_well_known};
pub use proxy::Proxy;
pub use spelling::{Ear, names, spelled, spelling};
pub use via::{ClientTrust, Handshake, NamedHost, Tunnel, Via, host_of, origin, session_of};
