//! Requests that stand in a cassette byte for byte.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::Skeleton;
use super::bodies;
use super::groups::Groups;
use super::hash::{combine, hash_of};
use super::header::{Fields, fields};
use super::skeleton::Reduced;
use crate::cassette::Request;

/// Requests in which the client made nothing up, by what they are byte for byte.
///
/// # Rationale
///
/// Much of what a client asks is what it asked when it was recorded. Then nothing has to be taken apart,
/// and one look into one table tells the interaction.
#[derive(Debug, Default)]
pub(super) struct Verbatim(HashMap<u64, Known, FixedState>);

/// What is known of such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// The hash of its skeleton.
    pub(super) skeleton: u64,
    /// The only interaction of that skeleton.
    pub(super) only: Option<u32>,
}

impl Verbatim {
    /// Notes the requests of a cassette that have neither a hole nor a mark.
    pub(super) fn of<'a>(
        requests: impl Iterator<Item = (&'a Request, &'a Reduced)>,
        groups: &Groups,
    ) -> Self {
        let whole = requests.filter(|(_, reduced)| is_whole(&reduced.skeleton));
        let known = whole.map(|(request, reduced)| {
            let skeleton = reduced.skeleton.hash;
            let only = groups.get(skeleton).and_then(|group| group.only());
            let only = only.and_then(|number| u32::try_from(number).ok());
            let fields = || fields(&request.headers);
            let key =
                key((&request.method, &request.path), fields(), reduced.header, &request.body);
            (key, Known { skeleton, only })
        });
        Self(known.collect())
    }

    /// What is known of a request, given what counts of its header.
    pub(super) fn get<'h>(
        &self,
        line: (&str, &str),
        fields: impl Fields<'h>,
        header: u64,
        body: &[u8],
    ) -> Option<Known> {
        self.0.get(&key(line, fields, header, body)).copied()
    }
}

fn is_whole(skeleton: &Skeleton) -> bool {
    skeleton.holes.is_empty() && skeleton.marks.is_empty()
}

/// Method and target, what counts of the header, and the body with what says how to read it.
fn key<'h>(
    (method, target): (&str, &str),
    fields: impl Fields<'h>,
    header: u64,
    body: &[u8],
) -> u64 {
    let body = if body.is_empty() { 0 } else { bodies::key(fields, body) };
    combine(&[hash_of(method), hash_of(target), header, body])
}
