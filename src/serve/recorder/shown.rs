//! What of a body may be written to the journal.

use std::borrow::Cow;

use bytes::Bytes;

use crate::cassette::{Headers, Media, coding};
use crate::redact::{Live, Redactor, Secrets};
use crate::text::amazon;

/// A body as the journal shows it while it arrives: decoded, and with no secrets.
#[derive(Debug)]
pub(super) struct Shown {
    coding: Option<coding::Live>,
    /// The beginning of a message, and the beginning of its line, of a stream in Amazon's framing.
    amazon: Option<(Vec<u8>, Vec<u8>)>,
    live: Live,
    /// What of a body is read only as a whole.
    whole: Option<Whole>,
}

/// A form, what has several codings, or a text in UTF-16.
#[derive(Debug)]
struct Whole {
    redactor: Redactor,
    headers: Headers,
    /// Nothing if it is too long.
    body: Option<Vec<u8>>,
}

/// What is read as a whole is not kept beyond this: it is missing in the journal.
const LONGEST: usize = 4 << 20;

/// Whether a body says that it is in UTF-16: no piece of it reads like a text.
fn is_wide(headers: &Headers) -> bool {
    let kind = headers.get("content-type").unwrap_or_default();
    let Some((_, parameters)) = kind.split_once(';') else { return false };
    let parameters = parameters.to_ascii_lowercase();
    ["charset=utf-16", "charset=\"utf-16"].iter().any(|it| parameters.contains(it))
}

impl Shown {
    /// A body behind these header fields, given the secrets that came before it.
    pub(super) fn new(redactor: &Redactor, headers: &Headers, secrets: Secrets) -> Self {
        let coding = headers.get("content-encoding").and_then(coding::Live::new);
        let is_of_amazon = Media::of_headers(headers) == Media::Amazon;
        let amazon = is_of_amazon.then(Default::default);
        let is_form = matches!(Media::of_headers(headers), Media::Form | Media::Multipart);
        let is_whole = is_form || is_wide(headers) || coding::listed(headers).contains(',');
        let whole = is_whole.then(|| Whole {
            redactor: redactor.clone(),
            headers: headers.clone(),
            body: Some(Vec::new()),
        });
        Self { coding, amazon, live: Live::new(redactor, secrets), whole }
    }

    /// The same for an answer with that status.
    pub(super) fn answering(self, status: u16) -> Self {
        Self { live: self.live.answering(status), ..self }
    }

    /// The header fields of the body as it is shown.
    pub(super) fn headers(&self, headers: &mut Headers) {
        if self.coding.is_some() || self.whole.is_some() {
            headers.remove("content-encoding");
            headers.remove("content-length");
        }
    }

    /// Drops what is read as a whole, if it is too long with so many more bytes. Tells so once.
    pub(super) fn drops(&mut self, more: usize) -> bool {
        let body = self.whole.as_mut().map(|whole| &mut whole.body);
        let too_long = |body: &mut Vec<u8>| body.len() + more > LONGEST;
        body.and_then(|body| body.take_if(too_long)).is_some()
    }

    /// What can be written now that these bytes have come.
    pub(super) fn push(&mut self, bytes: &Bytes) -> Bytes {
        if let Some(whole) = &mut self.whole {
            whole.body.iter_mut().for_each(|body| body.extend_from_slice(bytes));
            return Bytes::new();
        }
        let plain = match &mut self.coding {
            None => bytes.clone(),
            Some(coding) => coding.push(bytes).into(),
        };
        match self.push_plain(&plain) {
            Cow::Borrowed(same) => plain.slice_ref(same),
            Cow::Owned(shown) => shown.into(),
        }
    }

    fn push_plain<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let Some((begun, shown)) = &mut self.amazon else { return self.live.push(bytes) };
        begun.extend_from_slice(bytes);
        let end = amazon::ends(begun).last().unwrap_or_default();
        let lines = amazon::lines(&begun[..end]).unwrap_or_default();
        begun.drain(..end);
        shown.extend_from_slice(&self.live.push(lines.as_bytes()));
        let end = memchr::memrchr(b'\n', shown).map_or(0, |end| end + 1);
        let whole: Vec<u8> = shown.drain(..end).collect();
        std::str::from_utf8(&whole).ok().and_then(amazon::bytes).unwrap_or_default().into()
    }

    /// Whether a body is read piece by piece as it is.
    pub(super) fn is_read_in_pieces(&self) -> bool {
        self.coding.is_none() && self.amazon.is_none() && self.whole.is_none()
    }

    /// What goes on with a body that is read piece by piece as it is.
    pub(super) fn into_live(self) -> Live {
        self.live
    }

    /// The rest, and all secrets up to here.
    pub(super) fn finish(self) -> (Vec<u8>, Secrets) {
        let Self { coding, amazon, mut live, whole } = self;
        if let Some(Whole { redactor, headers, body }) = whole {
            let (_, mut secrets) = live.finish();
            let body = body.map(|body| redactor.body_noting(&headers, body, &mut secrets));
            return (body.unwrap_or_default(), secrets);
        }
        let undecoded = coding.and_then(coding::Live::finish).unwrap_or_default();
        let Some((mut begun, mut shown)) = amazon else {
            let mut rest = live.push(&undecoded).into_owned();
            let (last, secrets) = live.finish();
            rest.extend(last);
            return (rest, secrets);
        };
        // What is no message may hold a secret that cannot be seen: it is not in the journal.
        begun.extend(undecoded);
        shown.extend_from_slice(&live.push(amazon::lines(&begun).unwrap_or_default().as_bytes()));
        let (last, secrets) = live.finish();
        shown.extend(last);
        let rest = std::str::from_utf8(&shown).ok().and_then(amazon::bytes);
        (rest.unwrap_or_default(), secrets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_in_utf_16_is_shown_however_it_is_cut() {
        let secret = "q9w8e7r6t5z4u3i2o1";
        let text = format!("\u{feff}{{\"password\": \"{secret}\", \"note\": \"hello there\"}}");
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for kind in ["application/json; charset=utf-16", "text/plain; Charset=\"UTF-16LE\""] {
            let headers: Headers = [("content-type", kind)].into_iter().collect();
            for size in [1, 2, 7, wide.len()] {
                let mut shown = Shown::new(&Redactor::standard(), &headers, Secrets::default());

                let pieces =
                    wide.chunks(size).map(|piece| shown.push(&Bytes::copy_from_slice(piece)));
                let mut seen: Vec<u8> = pieces.flatten().collect();
                seen.extend(shown.finish().0);

                let said: String =
                    seen.iter().filter(|byte| **byte != 0).map(|it| char::from(*it)).collect();
                assert!(said.contains("hello there"), "{said}");
                assert!(!said.contains(&secret[4..12]), "{said}");
            }
        }
    }
}
