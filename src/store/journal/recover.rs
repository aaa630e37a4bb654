//! Reading the journal of a recorder that was killed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

use super::format::{BEGINNING, Entries, Entry};
use crate::cassette::large::Naming;
use crate::cassette::{
    Body, Cassette, Chunk, End, Interaction, Interim, Large, Larges, Outcome, Peer, Recorded,
    Request, Response,
};

/// What a killed recorder had written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// All requests that were complete or answered, with what had come of them; marked as interrupted.
    pub cassette: Cassette,
    /// How many of them were cut in the middle.
    pub cut: usize,
    /// How many other requests had arrived in part only; they are not in the cassette.
    pub unasked: usize,
}

/// An interaction as far as its lines tell.
struct Partial {
    interaction: Interaction,
    interim: Vec<Interim>,
    asked: bool,
    body: Vec<u8>,
    chunks: Vec<Chunk>,
    /// Where the chunks stand.
    pieces: Vec<Range<u64>>,
    over: bool,
    /// What of either side is not held in memory.
    passed: [Option<Passed>; 2],
}

impl Partial {
    fn of(interaction: Interaction) -> Self {
        Self {
            interaction,
            interim: Vec::new(),
            asked: false,
            body: Vec::new(),
            chunks: Vec::new(),
            pieces: Vec::new(),
            over: false,
            passed: Default::default(),
        }
    }

    /// Whether it is one: the server may answer before all of a request was there.
    fn is_kept(&self) -> bool {
        self.asked || matches!(self.interaction.outcome, Outcome::Response(_))
    }

    /// What came of it. `stand_in` gives what stands in the place of a body that is not held.
    fn interaction(mut self, stand_in: &mut impl FnMut(Passed) -> Bytes) -> Interaction {
        let [asked, said] = self.passed.map(|it| it.map(&mut *stand_in));
        self.interaction.request.body = asked.unwrap_or_else(|| self.body.into());
        if let Outcome::Response(response) = &mut self.interaction.outcome {
            let whole = || Body::of_arrival(&response.headers, self.chunks);
            response.body = said.map_or_else(whole, Body::Whole);
            response.note_left(response.left);
        }
        self.interaction
    }
}

/// A body that is not held in memory.
#[derive(Default)]
struct Passed {
    naming: Naming,
    pieces: Vec<Range<u64>>,
}

/// No first line is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// Puts the lines together; a torn last line was never passed on and does not count. `None` if no
/// request had arrived.
pub(super) fn recover(journal: impl BufRead, path: &Path) -> Option<Recovered> {
    let mut entries = Entries::of(journal);
    let Some((Entry::Begin { recorded }, _)) = entries.next() else { return None };
    let mut partials: BTreeMap<usize, Partial> = BTreeMap::new();
    entries.for_each(|entry| put(&mut partials, entry));
    if partials.is_empty() {
        return None;
    }
    Some(sum_up(recorded, partials, path))
}

/// The interaction whose entries these are, with its numbers as they are there; nothing if its request is
/// not among them.
pub(super) fn interaction(entries: &[u8]) -> Option<Interaction> {
    let mut partials = BTreeMap::new();
    Entries::of(entries).for_each(|entry| put(&mut partials, entry));
    let (_, partial) = partials.pop_first()?;
    Some(partial.interaction(&mut |passed| passed.naming.stand_in()))
}

/// Whether a journal is empty or begins as this release begins one. A first line that is torn is
/// the only one.
pub(super) fn is_begun(journal: impl BufRead) -> bool {
    let mut first = Vec::new();
    // A file of somebody else's may have no line.
    let _ = journal.take(LONGEST_LINE).read_until(b'\n', &mut first);
    let journal = first.as_slice();
    if journal.contains(&b'\n') {
        matches!(Entries::of(journal).next(), Some((Entry::Begin { .. }, _)))
    } else {
        let length = journal.len().min(BEGINNING.len());
        journal[..length] == BEGINNING[..length]
    }
}

fn put(partials: &mut BTreeMap<usize, Partial>, (entry, behind): (Entry<'static>, Range<u64>)) {
    match entry {
        Entry::Begin { .. } => {}
        Entry::Request { n, after, method, path, headers } => {
            let request = Request {
                headers: headers.into_owned(),
                ..Request::of(method.into_owned(), path.into_owned())
            };
            let outcome = Outcome::Nothing(End::Interrupted);
            let interaction = Interaction { after: after.into_owned(), request, outcome };
            partials.insert(n, Partial::of(interaction));
        }
        Entry::Sent { n, bytes } => {
            with(partials, n, |partial| partial.body.extend_from_slice(&bytes))
        }
        Entry::Asked { n } => with(partials, n, |partial| partial.asked = true),
        Entry::Head { n, ms, status, headers, .. } if (102..200).contains(&status) => {
            let interim = Interim { ms, status, headers: headers.into_owned() };
            with(partials, n, |partial| partial.interim.push(interim));
        }
        Entry::Head { n, ms, status, reason, headers } => with(partials, n, |partial| {
            partial.interaction.outcome = Outcome::Response(Response {
                ms,
                reason: reason.map(Cow::into_owned),
                headers: headers.into_owned(),
                interim: std::mem::take(&mut partial.interim),
                end: End::Interrupted,
                ..Response::of(status)
            });
        }),
        Entry::Chunk { n, ms, pieces } => with(partials, n, |partial| {
            // One that is read is in one piece.
            partial.chunks.push(Chunk { ms, bytes: pieces.first().cloned().unwrap_or_default() });
            partial.pieces.push(behind);
        }),
        Entry::Frame { n, frame } => with(partials, n, |partial| {
            if let Outcome::Response(response) = &mut partial.interaction.outcome {
                response.frames.push(frame.into_owned());
            }
        }),
        Entry::Passed { n, from, bytes } => with(partials, n, |partial| {
            let passed = partial.passed[from as usize].get_or_insert_default();
            if from == Peer::Server {
                let came = std::mem::take(&mut partial.chunks);
                came.iter().for_each(|chunk| passed.naming.push(&chunk.bytes));
                passed.pieces.append(&mut partial.pieces);
            }
            passed.naming.push(&bytes);
            passed.pieces.push(behind);
        }),
        Entry::End { n, end, left, trailers } => with(partials, n, |partial| {
            partial.over = true;
            match &mut partial.interaction.outcome {
                Outcome::Response(response) => {
                    response.end = end;
                    response.left = left;
                    response.trailers = trailers.into_owned();
                }
                Outcome::Nothing(nothing) => *nothing = end,
            }
        }),
    }
}

fn with(partials: &mut BTreeMap<usize, Partial>, n: usize, change: impl FnOnce(&mut Partial)) {
    if let Some(partial) = partials.get_mut(&n) {
        change(partial);
    }
}

fn sum_up(recorded: Recorded, partials: BTreeMap<usize, Partial>, path: &Path) -> Recovered {
    let mut larges = Larges::new();
    let mut stand_in = |passed: Passed| {
        let (length, file) = (passed.naming.length, path.to_owned());
        larges.insert(passed.naming.name(), Large { length, file, pieces: passed.pieces });
        passed.naming.stand_in()
    };
    let unasked = partials.values().filter(|partial| !partial.is_kept()).count();
    let cut = partials.values().filter(|partial| partial.is_kept() && !partial.over).count();
    // Interactions are numbered anew without those.
    let numbers: BTreeMap<usize, usize> = partials
        .iter()
        .filter(|(_, partial)| partial.is_kept())
        .enumerate()
        .map(|(new, (old, _))| (*old, new))
        .collect();
    let interactions = partials.into_values().filter(Partial::is_kept).map(|mut partial| {
        partial.interaction.after.retain_mut(|progress| {
            let new = numbers.get(&progress.interaction);
            progress.interaction = new.copied().unwrap_or_default();
            new.is_some()
        });
        partial.interaction(&mut stand_in)
    });
    let interactions = interactions.collect();
    let mut cassette =
        Cassette { recorded, interrupted: true, interactions, larges, ..Cassette::default() };
    cassette.settle_origins();
    Recovered { cassette, cut, unasked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassette::Headers;

    /// A journal of one interaction with pieces that stand behind their lines.
    fn journal() -> Vec<u8> {
        let recorded = Recorded { at: "now".to_owned(), ..Recorded::default() };
        let bytes = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
        let chunk = |pieces: &[&[u8]]| pieces.iter().map(|it| Bytes::copy_from_slice(it)).collect();
        let headers = Headers::from_iter([("content-type", "application/x-ndjson")]);
        let entries = [
            Entry::Begin { recorded },
            Entry::Request {
                n: 0,
                after: Cow::Owned(Vec::new()),
                method: "POST".into(),
                path: "/a".into(),
                headers: Cow::Owned(Headers::new()),
            },
            Entry::Sent { n: 0, bytes: bytes(b"\xff\n{\"n\":0}\n") },
            Entry::Asked { n: 0 },
            Entry::Head { n: 0, ms: 1, status: 200, reason: None, headers: Cow::Owned(headers) },
            Entry::Chunk { n: 0, ms: 2, pieces: chunk(&["é\n".repeat(5000).as_bytes()]) },
            Entry::Chunk { n: 0, ms: 3, pieces: chunk(&[b"\xfe"]) },
            Entry::Chunk { n: 0, ms: 4, pieces: chunk(&[b"te", b"", b"xt"]) },
            Entry::End {
                n: 0,
                end: End::Complete,
                left: None,
                trailers: Cow::Owned(Headers::new()),
            },
        ];
        let mut out = Vec::new();
        for entry in &entries {
            entry.write(&mut out);
        }
        out
    }

    fn body(recovered: &Recovered) -> Vec<u8> {
        let response = recovered.cassette.interactions[0].response();
        response.map_or_else(Vec::new, |response| response.body.bytes().to_vec())
    }

    #[test]
    fn what_is_no_short_text_stands_behind_its_line_and_is_read_again() {
        let whole = recover(journal().as_slice(), Path::new("")).unwrap();

        assert_eq!((whole.cut, whole.unasked), (0, 0));
        let interaction = &whole.cassette.interactions[0];
        assert_eq!(interaction.end(), End::Complete);
        assert_eq!(interaction.request.body, b"\xff\n{\"n\":0}\n".as_slice());
        assert_eq!(body(&whole), ["é\n".repeat(5000).as_bytes(), b"\xfetext"].concat());
    }

    #[test]
    fn a_journal_that_is_torn_anywhere_gives_what_came_before() {
        let journal = journal();
        let all = body(&recover(journal.as_slice(), Path::new("")).unwrap());

        for end in (0..400).chain(journal.len() - 400..journal.len()) {
            let torn = &journal[..end.min(journal.len())];
            assert!(is_begun(torn), "{end}");
            let recovered =
                recover(torn, Path::new("")).filter(|it| !it.cassette.interactions.is_empty());
            let rest = recovered.map_or_else(Vec::new, |recovered| body(&recovered));
            assert!(all.starts_with(&rest), "{end}");
        }
    }

    #[test]
    fn a_request_that_was_answered_before_all_of_it_came_is_kept() {
        let whole = journal();
        let entries = || Entries::of(whole.as_slice());
        let written = |is_left: fn(&Entry<'_>) -> bool| {
            let mut out = Vec::new();
            for entry in entries().map(|(entry, _)| entry).filter(is_left) {
                entry.write(&mut out);
            }
            recover(out.as_slice(), Path::new("")).unwrap()
        };

        let answered = written(|entry| !matches!(entry, Entry::Asked { .. }));
        let unanswered =
            written(|entry| matches!(entry, Entry::Begin { .. } | Entry::Request { .. }));

        assert_eq!((answered.cassette.interactions.len(), answered.unasked), (1, 0));
        assert_eq!((unanswered.cassette.interactions.len(), unanswered.unasked), (0, 1));
    }
}
