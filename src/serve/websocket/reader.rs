//! Frames out of bytes.

use bytes::Bytes;

use super::deflate::Inflate;
use super::opcode;
use crate::cassette::Content;

/// Reads what one side of a WebSocket sends.
#[derive(Debug)]
pub struct Reader {
    strictness: Strictness,
    /// The head of a frame as far as it has come.
    head: Vec<u8>,
    /// The frame whose payload is arriving.
    frame: Option<Frame>,
    /// The payload of a frame that is no part of a message.
    control: Vec<u8>,
    message: Option<PartialMessage>,
    inflate: Option<Inflate>,
    /// The protocol was broken: nothing can be read behind that.
    is_broken: bool,
}

/// What becomes of a side that breaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// It is told so: we are the other side, and a server.
    Server,
    /// The other side decides: we only look.
    Onlooker,
}

/// What a side has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketEvent {
    /// A message with the lengths of its fragments, or a close, which has none.
    Frame(Content, Vec<usize>),
    /// A ping, which is to be answered by the same.
    Ping(Vec<u8>),
    /// An answer to one.
    Pong(Vec<u8>),
}

/// A side does not keep to the protocol; the connection is to be closed with this code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The code.
    pub code: u16,
    /// What it has done.
    pub what: &'static str,
}

/// A frame whose head was read.
#[derive(Debug)]
struct Frame {
    is_last: bool,
    opcode: u8,
    mask: Option<[u8; 4]>,
    /// How much of the payload has come, and is still to come.
    came: u64,
    left: u64,
}

/// A message as far as it has come.
#[derive(Debug)]
struct PartialMessage {
    is_text: bool,
    is_compressed: bool,
    bytes: Vec<u8>,
    /// Where each fragment ends.
    ends: Vec<usize>,
    /// So much of a text is known to be valid.
    valid: usize,
}

const PROTOCOL: u16 = 1002;
const NOT_TEXT: u16 = 1007;
/// The code for a message that is too long.
pub const TOO_BIG: u16 = 1009;

/// The most bytes that a compressed message may become: 64 MiB, which other libraries take for the most, too.
pub(super) const LIMIT: usize = 64 << 20;

/// A longer payload of a control frame is none.
const LONGEST_CONTROL: u64 = 125;

impl Reader {
    /// A reader at the beginning of a connection.
    pub fn new(strictness: Strictness, inflate: Option<Inflate>) -> Self {
        Self {
            strictness,
            head: Vec::new(),
            frame: None,
            control: Vec::new(),
            message: None,
            inflate,
            is_broken: false,
        }
    }

    /// Whether a message has begun to come.
    pub fn is_within(&self) -> bool {
        self.message.is_some()
    }

    /// Whether it is a text, with how much of it has come, or may become one.
    #[cfg(feature = "record")]
    pub fn awaits_text(&self) -> Option<usize> {
        match (&self.message, &self.frame) {
            (Some(message), _) => message.is_text.then_some(message.bytes.len()),
            (None, None) => (!self.head.is_empty()).then_some(0),
            (None, Some(_)) => Some(0),
        }
    }

    /// Takes what has come, up to the end of the next frame that says something. Takes it away from
    /// `bytes`; nothing more is in them if nothing is given.
    ///
    /// # Errors
    ///
    /// If the protocol is broken, unless we only look, or a message is too long. Nothing is given behind that.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<SocketEvent>, Violation> {
        if self.is_broken {
            *bytes = &[];
            return Ok(None);
        }
        self.read(bytes).inspect_err(|_| self.is_broken = true)
    }

    fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<SocketEvent>, Violation> {
        loop {
            if self.frame.is_none() && !self.take_head(bytes)? {
                return Ok(None);
            }
            if !self.take_payload(bytes)? {
                return Ok(None);
            }
            if let Some(event) = self.end_frame()? {
                return Ok(Some(event));
            }
        }
    }

    /// Reads the head of a frame; tells whether all of it has come.
    fn take_head(&mut self, bytes: &mut &[u8]) -> Result<bool, Violation> {
        loop {
            if let Some(frame) = Frame::of(&self.head) {
                let first = self.head[0];
                self.head.clear();
                self.begin(first, frame)?;
                return Ok(true);
            }
            let Some((byte, rest)) = bytes.split_first() else { return Ok(false) };
            self.head.push(*byte);
            *bytes = rest;
        }
    }

    fn begin(&mut self, first: u8, frame: Frame) -> Result<(), Violation> {
        let is_compressed = first & 0x40 != 0;
        if self.strictness == Strictness::Server {
            self.check(first, &frame)?;
        }
        match frame.opcode {
            opcode::TEXT | opcode::BINARY => {
                self.message = Some(PartialMessage {
                    is_text: frame.opcode == opcode::TEXT,
                    is_compressed: is_compressed && self.inflate.is_some(),
                    bytes: Vec::new(),
                    ends: Vec::new(),
                    valid: 0,
                });
            }
            _ => self.control.clear(),
        }
        self.frame = Some(frame);
        Ok(())
    }

    fn check(&self, first: u8, frame: &Frame) -> Result<(), Violation> {
        let is_control = frame.opcode >= opcode::CLOSE;
        let is_message = matches!(frame.opcode, opcode::TEXT | opcode::BINARY);
        let may_be_compressed = is_message && self.inflate.is_some();
        let broken = if first & 0x30 != 0 || (first & 0x40 != 0 && !may_be_compressed) {
            "a reserved bit is set"
        } else if !(frame.opcode <= opcode::BINARY
            || (opcode::CLOSE..=opcode::PONG).contains(&frame.opcode))
        {
            "there is no such frame"
        } else if is_control && !frame.is_last {
            "a control frame is fragmented"
        } else if is_control && frame.left > LONGEST_CONTROL {
            "a control frame is too long"
        } else if frame.mask.is_none() {
            "a frame of the client is not masked"
        } else if is_message && self.message.is_some() {
            "a message begins within another"
        } else if frame.opcode == opcode::CONTINUATION && self.message.is_none() {
            "nothing is to be continued"
        } else {
            return Ok(());
        };
        Err(Violation { code: PROTOCOL, what: broken })
    }

    /// Reads the payload of a frame; tells whether all of it has come.
    fn take_payload(&mut self, bytes: &mut &[u8]) -> Result<bool, Violation> {
        let Some(frame) = &mut self.frame else { return Ok(true) };
        let length = usize::try_from(frame.left).unwrap_or(usize::MAX).min(bytes.len());
        let (piece, rest) = bytes.split_at(length);
        *bytes = rest;
        if frame.opcode > opcode::BINARY {
            frame.unmasked(piece, &mut self.control);
        } else if let Some(message) = &mut self.message {
            match self.inflate.as_mut().filter(|_| message.is_compressed) {
                None => frame.unmasked(piece, &mut message.bytes),
                Some(inflate) => {
                    let mut plain = Vec::with_capacity(piece.len());
                    frame.unmasked(piece, &mut plain);
                    inflate.push(&plain, &mut message.bytes).map_err(|()| message.unread())?;
                }
            }
            if self.strictness == Strictness::Server {
                message.validate(false)?;
            }
        }
        let Some(frame) = &mut self.frame else { return Ok(true) };
        frame.came += length as u64;
        frame.left -= length as u64;
        Ok(frame.left == 0)
    }

    /// What a frame says that has come to its end.
    fn end_frame(&mut self) -> Result<Option<SocketEvent>, Violation> {
        let Some(frame) = self.frame.take() else { return Ok(None) };
        match frame.opcode {
            opcode::CLOSE => self.close().map(Some),
            opcode::PING => Ok(Some(SocketEvent::Ping(std::mem::take(&mut self.control)))),
            opcode::PONG => Ok(Some(SocketEvent::Pong(std::mem::take(&mut self.control)))),
            opcode::CONTINUATION | opcode::TEXT | opcode::BINARY if frame.is_last => {
                self.end_message()
            }
            opcode::CONTINUATION | opcode::TEXT | opcode::BINARY => {
                if let Some(message) = &mut self.message {
                    message.ends.push(message.bytes.len());
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn end_message(&mut self) -> Result<Option<SocketEvent>, Violation> {
        let Some(mut message) = self.message.take() else { return Ok(None) };
        if let Some(inflate) = self.inflate.as_mut().filter(|_| message.is_compressed) {
            inflate.finish(&mut message.bytes).map_err(|()| message.unread())?;
        }
        if self.strictness == Strictness::Server {
            message.validate(true)?;
        }
        message.ends.push(message.bytes.len());
        let starts = std::iter::once(0).chain(message.ends.iter().copied());
        let lengths: Vec<usize> =
            starts.zip(&message.ends).map(|(start, end)| end - start).collect();
        let fragments = if lengths.len() > 1 { lengths } else { Vec::new() };
        let bytes = Bytes::from(message.bytes);
        let content = if message.is_text { Content::Text(bytes) } else { Content::Binary(bytes) };
        Ok(Some(SocketEvent::Frame(content, fragments)))
    }

    fn close(&mut self) -> Result<SocketEvent, Violation> {
        let payload = std::mem::take(&mut self.control);
        let is_checked = self.strictness == Strictness::Server;
        let (code, reason) = match payload.as_slice() {
            [high, low, reason @ ..] => (Some(u16::from_be_bytes([*high, *low])), reason),
            _ => (None, &[][..]),
        };
        if is_checked && (payload.len() == 1 || code.is_some_and(|code| !may_be_sent(code))) {
            return Err(Violation { code: PROTOCOL, what: "there is no such code of a close" });
        }
        if is_checked && std::str::from_utf8(reason).is_err() {
            return Err(Violation { code: NOT_TEXT, what: "the reason of a close is not UTF-8" });
        }
        let reason = String::from_utf8_lossy(reason).into_owned();
        Ok(SocketEvent::Frame(Content::Close { code, reason }, Vec::new()))
    }
}

/// Whether a code may stand in a close frame: others are for what never was one.
fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

impl Frame {
    /// Reads the head of a frame, if all of it is there.
    fn of(head: &[u8]) -> Option<Self> {
        let [first, second, rest @ ..] = head else { return None };
        let (left, rest) = match second & 0x7f {
            126 => {
                let (length, rest) = rest.split_first_chunk::<2>()?;
                (u16::from_be_bytes(*length).into(), rest)
            }
            127 => {
                let (length, rest) = rest.split_first_chunk::<8>()?;
                (u64::from_be_bytes(*length), rest)
            }
            length => (length.into(), rest),
        };
        let mask = if second & 0x80 == 0 { None } else { Some(*rest.first_chunk::<4>()?) };
        Some(Self { is_last: first & 0x80 != 0, opcode: first & 0x0f, mask, came: 0, left })
    }

    /// Appends a piece of the payload without its mask.
    fn unmasked(&self, piece: &[u8], to: &mut Vec<u8>) {
        let start = to.len();
        to.extend_from_slice(piece);
        let Some(mut mask) = self.mask else { return };
        mask.rotate_left((self.came % 4) as usize);
        for four in to[start..].chunks_mut(4) {
            four.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        }
    }
}

impl PartialMessage {
    /// Why it cannot be decompressed.
    fn unread(&self) -> Violation {
        if self.bytes.len() > LIMIT {
            Violation {
                code: TOO_BIG,
                what: "a compressed message has more than 64 MiB, and this side is not read any further",
            }
        } else {
            Violation { code: NOT_TEXT, what: "a message cannot be decompressed" }
        }
    }

    /// Checks the text that has come; all of it, if there is no more.
    fn validate(&mut self, is_over: bool) -> Result<(), Violation> {
        if !self.is_text {
            return Ok(());
        }
        match std::str::from_utf8(&self.bytes[self.valid..]) {
            Ok(text) => self.valid += text.len(),
            Err(error) if error.error_len().is_none() && !is_over => {
                self.valid += error.valid_up_to();
            }
            Err(_) => return Err(Violation { code: NOT_TEXT, what: "a text is not UTF-8" }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        bytes: &[u8],
        cut: usize,
        strictness: Strictness,
    ) -> Result<Vec<SocketEvent>, Violation> {
        let mut reader = Reader::new(strictness, None);
        let mut events = Vec::new();
        for mut piece in [&bytes[..cut], &bytes[cut..]] {
            while let Some(event) = reader.next(&mut piece)? {
                events.push(event);
            }
        }
        Ok(events)
    }

    fn check(bytes: &[u8], expected: &[SocketEvent]) {
        for cut in 0..=bytes.len() {
            assert_eq!(read(bytes, cut, Strictness::Onlooker).unwrap(), expected, "cut at {cut}");
        }
    }

    fn text(text: &str, fragments: &[usize]) -> SocketEvent {
        SocketEvent::Frame(
            Content::Text(Bytes::copy_from_slice(text.as_bytes())),
            fragments.to_vec(),
        )
    }

    #[test]
    fn frames_are_read_across_every_cut() {
        // The examples of RFC 6455, section 5.7.
        let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
        check(b"\x81\x05Hello", &[text("Hello", &[])]);
        check(masked, &[text("Hello", &[])]);
        check(b"\x01\x03Hel\x80\x02lo", &[text("Hello", &[3, 2])]);
        let ping = SocketEvent::Ping(b"Hello".to_vec());
        check(b"\x01\x03Hel\x89\x05Hello\x80\x02lo", &[ping, text("Hello", &[3, 2])]);
        let close = Content::Close { code: Some(1000), reason: "bye".to_owned() };
        check(b"\x88\x05\x03\xe8bye", &[SocketEvent::Frame(close, Vec::new())]);
        let long = [&b"\x82\x7e\x01\x00"[..], &[7; 256]].concat();
        check(&long, &[SocketEvent::Frame(Content::Binary(vec![7; 256].into()), Vec::new())]);
    }

    #[test]
    fn what_breaks_the_protocol_is_refused_by_a_server_and_looked_over_by_others() {
        for (bytes, code) in [
            (&b"\x81\x05Hello"[..], 1002),
            (b"\xc1\x80\0\0\0\0", 1002),
            (b"\x83\x80\0\0\0\0", 1002),
            (b"\x09\x80\0\0\0\0", 1002),
            (b"\x89\xfe\x00\x7e\0\0\0\0", 1002),
            (b"\x80\x80\0\0\0\0", 1002),
            (b"\x01\x80\0\0\0\0\x81\x80\0\0\0\0", 1002),
            (b"\x88\x81\0\0\0\0x", 1002),
            (b"\x88\x82\0\0\0\0\x03\xee", 1002),
            (b"\x81\x81\0\0\0\0\xff", 1007),
            (b"\x81\x82\0\0\0\0\xe2\x82", 1007),
            (b"\x01\x81\0\0\0\0\xff", 1007),
        ] {
            for cut in 0..=bytes.len() {
                let refused = read(bytes, cut, Strictness::Server).unwrap_err();
                assert_eq!(refused.code, code, "{bytes:?}");
                assert!(read(bytes, cut, Strictness::Onlooker).is_ok(), "{bytes:?}");
            }
        }
    }
}
