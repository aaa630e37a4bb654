//! Texts in UTF-16.

/// How a text in UTF-16 is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Little,
    Big,
}

/// So many letters tell whether it is one.
const SEEN: usize = 64;

/// The text of a body in UTF-16, and how it is laid out.
pub(super) fn decoded(body: &[u8]) -> Option<(String, Layout)> {
    if body.len() < 4 || !body.len().is_multiple_of(2) {
        return None;
    }
    let begins = &body[..body.len().min(2 * SEEN)];
    if body[0] < 0xfe && memchr::memchr(0, begins).is_none() {
        return None;
    }
    // Nearly all that is written has ASCII in it.
    let zeros =
        |from: usize| body.iter().skip(from).step_by(2).take(SEEN).filter(|it| **it == 0).count();
    let layout = match (body[0], body[1]) {
        (0xff, 0xfe) => Layout::Little,
        (0xfe, 0xff) => Layout::Big,
        _ if zeros(1) * 4 > body.len().min(128) && zeros(0) == 0 => Layout::Little,
        _ if zeros(0) * 4 > body.len().min(128) && zeros(1) == 0 => Layout::Big,
        _ => return None,
    };
    let unit = |pair: &[u8]| match layout {
        Layout::Little => u16::from_le_bytes([pair[0], pair[1]]),
        Layout::Big => u16::from_be_bytes([pair[0], pair[1]]),
    };
    let units: Vec<u16> = body.chunks_exact(2).map(unit).collect();
    Some((String::from_utf16(&units).ok()?, layout))
}

/// A text in UTF-16.
pub(super) fn encoded(text: &str, layout: Layout) -> Vec<u8> {
    let bytes = |unit: u16| match layout {
        Layout::Little => unit.to_le_bytes(),
        Layout::Big => unit.to_be_bytes(),
    };
    text.encode_utf16().flat_map(bytes).collect()
}
