//! Heads and small bodies of recorded answers, close to each other.

use std::collections::HashMap;

use bytes::{Buf as _, BufMut as _, Bytes};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, SERVER, VARY};
use http::{Extensions, HeaderMap, HeaderName};

use crate::serve::server;

/// Recorded answers, by the number of their interaction.
///
/// # Rationale
///
/// In a large cassette whatever belongs to one answer alone is in no cache when it is asked for, and each
/// such place in memory takes longer to fetch than all of a small answer takes to be made. So what is
/// sent stands in one piece, and what many answers have alike is shared by them.
#[derive(Debug)]
pub(super) struct Shelf {
    blocks: Vec<Bytes>,
    /// Where each block begins, if one stands behind the other.
    begins: Vec<usize>,
    /// Where each answer begins, in units of [`STEP`].
    places: Vec<u32>,
    fields: Vec<Shared>,
}

/// A shelf that is being filled.
#[derive(Debug, Default)]
pub(super) struct Filling {
    full: Vec<Bytes>,
    /// How much the full blocks hold.
    held: usize,
    block: Vec<u8>,
    places: Vec<u32>,
    fields: Vec<Shared>,
    known: HashMap<Alike, u32>,
}

/// What answers share.
#[derive(Debug)]
struct Shared {
    /// The fields; empty are those whose values are not alike.
    fields: HeaderMap,
    /// How hyper is to spell their names.
    spelling: Extensions,
}

/// By what answers share their fields: by the spelling of the names, the names, and the values that are alike.
type Alike = (Option<Vec<u8>>, Vec<(HeaderName, Option<HeaderValue>)>);

/// What is known of an answer beside its head and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Label {
    /// Milliseconds from the request to the head.
    pub(super) ms: u32,
    pub(super) status: u16,
    /// Whether the body goes out in one piece behind its length.
    pub(super) in_one: bool,
    /// Whether there is more to it than stands here.
    pub(super) special: bool,
}

/// An answer on the shelf.
#[derive(Debug)]
pub(super) struct Laid<'a> {
    pub(super) label: Label,
    /// The fields; empty are those whose values stand in `values`.
    fields: &'a HeaderMap,
    /// How hyper is to spell their names.
    pub(super) spelling: &'a Extensions,
    block: &'a Bytes,
    /// Values in the order of the map, each behind its length.
    values: usize,
    body: usize,
    end: usize,
}

/// The size of the first block. Each other one is as large as all before it.
const FIRST: usize = 64 * 1024;

/// A larger body stays where it is: to copy it would take longer than to go there.
const SMALL: usize = 4096;

/// Fields that most answers of a server have with the same values.
const ALIKE: [HeaderName; 5] = [CACHE_CONTROL, CONNECTION, CONTENT_TYPE, SERVER, VARY];

impl Shelf {
    /// Whether a body is small enough to be put behind its head.
    pub(super) fn takes(body: &Bytes) -> bool {
        body.len() <= SMALL
    }

    /// The answer of an interaction.
    pub(super) fn get(&self, number: usize) -> Laid<'_> {
        let place = self.places[number] as usize * STEP;
        // Most stand in the last ones, which are the largest.
        let at = self.begins.iter().rposition(|begin| *begin <= place).unwrap_or_default();
        let block = &self.blocks[at];
        let mut rest = &block[place - self.begins[at]..];
        let Shared { fields, spelling } = &self.fields[rest.get_u32_le() as usize];
        let lengths = [rest.get_u32_le() as usize, rest.get_u32_le() as usize];
        let label = Label {
            ms: rest.get_u32_le(),
            status: rest.get_u16_le(),
            in_one: rest.get_u8() != 0,
            special: rest.get_u8() != 0,
        };
        let values = block.len() - rest.len();
        let body = values + lengths[0];
        Laid { label, fields, spelling, block, values, body, end: body + lengths[1] }
    }
}

impl Laid<'_> {
    /// The header fields and their values.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut map = HeaderMap::clone(self.fields);
        let mut at = self.values;
        for value in map.values_mut().filter(|value| value.is_empty()) {
            let start = at + LENGTH;
            let end = start + (&self.block[at..start]).get_u32_le() as usize;
            let text = self.block.slice(start..end);
            *value = HeaderValue::from_maybe_shared(text).expect("it was the value of a field");
            at = end;
        }
        map
    }

    /// The body that was put behind the head.
    pub(super) fn body(&self) -> Bytes {
        self.block.slice(self.body..self.end)
    }
}

impl Filling {
    /// Puts the answer of the next interaction on the shelf, whose fields have these [names](server::names).
    pub(super) fn put(
        &mut self,
        label: Label,
        (names, headers): (Option<Vec<u8>>, &HeaderMap),
        body: &[u8],
    ) {
        let number = self.fields(names, headers);
        let shared = self.fields[number as usize].fields.values();
        let own = headers.values().zip(shared).filter(|(_, shared)| shared.is_empty());
        let own: Vec<&HeaderValue> = own.map(|(value, _)| value).collect();
        let values: usize = own.iter().map(|value| LENGTH + value.len()).sum();
        let needed = (LABEL + values + body.len()).next_multiple_of(STEP);
        self.make_room(needed);
        self.places.push(short((self.held + self.block.len()) / STEP));
        let start = self.block.len();
        self.block.resize(start + needed, 0);
        let mut free = &mut self.block[start..];
        free.put_u32_le(number);
        free.put_u32_le(short(values));
        free.put_u32_le(short(body.len()));
        free.put_u32_le(label.ms);
        free.put_u16_le(label.status);
        free.put_u8(label.in_one.into());
        free.put_u8(label.special.into());
        for value in own {
            free.put_u32_le(short(value.len()));
            free.put_slice(value.as_bytes());
        }
        free.put_slice(body);
    }

    /// The shelf with all that was put on it.
    pub(super) fn finish(mut self) -> Shelf {
        self.full.push(Bytes::from(self.block));
        let begins = self.full.iter().scan(0, |end, block| {
            *end += block.len();
            Some(*end - block.len())
        });
        let begins = begins.collect();
        Shelf { blocks: self.full, begins, places: self.places, fields: self.fields }
    }

    fn make_room(&mut self, needed: usize) {
        if self.block.capacity() - self.block.len() < needed {
            let full = Bytes::from(std::mem::take(&mut self.block));
            self.held += full.len();
            self.full.push(full);
            self.block = Vec::with_capacity(needed.max(self.held).max(FIRST));
        }
    }

    /// The number of the fields that answers with such a head share.
    fn fields(&mut self, names: Option<Vec<u8>>, headers: &HeaderMap) -> u32 {
        let alike = |name: &HeaderName| ALIKE.contains(name);
        let key = headers
            .iter()
            .map(|(name, value)| (name.clone(), alike(name).then(|| value.clone())))
            .collect();
        let spelling = || names.as_deref().map(server::spelling).unwrap_or_default();
        *self.known.entry((names.clone(), key)).or_insert_with(|| {
            let mut fields = headers.clone();
            let own = fields.iter_mut().filter(|(name, _)| !alike(name));
            own.for_each(|(_, value)| *value = HeaderValue::from_static(""));
            self.fields.push(Shared { fields, spelling: spelling() });
            short(self.fields.len() - 1)
        })
    }
}

/// What stands before the values.
const LABEL: usize = 20;

/// What stands before a value.
const LENGTH: usize = 4;

/// Each answer begins at a multiple of this, so that a place needs 4 bytes and not 8: the list of them is
/// looked at in each request.
const STEP: usize = 8;

/// # Panics
///
/// If there are more answers, or more in one of them, than fit into a memory that anybody has.
fn short(number: usize) -> u32 {
    u32::try_from(number).expect("no cassette is that large")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_laid_out_comes_back_as_it_was() {
        let fields: &[&[(&str, &[u8])]] = &[
            &[("content-type", b"application/json"), ("x-empty", b""), ("x-odd", b"\xff\t;")],
            &[("set-cookie", b"a=1"), ("content-type", b"text/plain"), ("set-cookie", b"b=2")],
            &[("content-type", b"text/plain"), ("x-empty", b"no"), ("x-odd", b"1")],
            &[("content-type", b""), ("x-empty", b"\xff"), ("x-odd", b"")],
            &[],
        ];
        let mut filling = Filling::default();
        let mut expected = Vec::new();
        for fields in fields.iter().cycle().take(9) {
            let mut headers = HeaderMap::new();
            for (name, value) in *fields {
                let value = HeaderValue::from_bytes(value).expect("it is a value");
                headers.append(HeaderName::from_static(name), value);
            }
            for length in [0, 10, SMALL, FIRST - 100, 3 * 1024 * 1024] {
                let (status, in_one) = (length as u16, length > 10);
                let label = Label { ms: length as u32, status, in_one, special: !in_one };
                let body = Bytes::from(vec![b'x'; length]);
                filling.put(label, (None, &headers), &body);
                expected.push((label, headers.clone(), body));
            }
        }

        let shelf = filling.finish();

        for (number, (label, headers, body)) in expected.iter().enumerate() {
            let laid = shelf.get(number);
            assert_eq!((laid.label, laid.headers()), (*label, headers.clone()));
            assert!(laid.body() == body, "a body of {}", body.len());
            assert!(laid.headers().iter().eq(headers.iter()), "they are in order");
        }
    }
}
