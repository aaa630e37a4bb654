//! What one stream says only after another one has told of it.

use std::collections::{BTreeSet, HashMap};

use memchr::memmem;

use crate::cassette::calls::is_identifier;
use crate::cassette::{Cassette, Chunk, Interaction, Media, Progress};

/// Behind so many of its chunks, an answer waits until another one was sent so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Across {
    pub(super) answer: usize,
    pub(super) chunks: usize,
    pub(super) other: usize,
    pub(super) said: usize,
}

/// So many names are looked for in a cassette: each takes a way through all of it.
const MOST: usize = 256;

/// The identifiers that a stream says: each with the number of the chunk that says it first.
type Said<'c> = HashMap<&'c str, usize>;

impl Across {
    /// All that waits so in a cassette.
    ///
    /// # Rationale
    ///
    /// A server may speak over several streams at once, as those of MCP do: over the one with which the client listens, and
    /// over the answer to each call. A client that hears on one of them that something is complete has to know from the
    /// other one what that is. So what names a thing waits for what has named it first, if nothing else told the
    /// client of it.
    pub(super) fn all(cassette: &Cassette) -> Vec<Self> {
        let mut all = BTreeSet::new();
        let mut said: HashMap<usize, Said<'_>> = HashMap::new();
        let mut sayers: HashMap<&str, Vec<Sayer>> = HashMap::new();
        for (later, interaction) in cassette.interactions.iter().enumerate() {
            for open in interaction.after.iter().filter(|it| it.interaction < later) {
                let pair = [open.interaction, later];
                let both = pair.map(|it| &cassette.interactions[it]);
                if !both.iter().any(|it| it.is_listening()) || !both.iter().all(|it| is_stream(it))
                {
                    continue;
                }
                for number in pair {
                    let it = &cassette.interactions[number];
                    said.entry(number).or_insert_with(|| identifiers(chunks(it)));
                }
                let [one, other] = pair.map(|it| &said[&it]);
                let shared =
                    one.iter().filter_map(|(name, at)| Some((*name, *at, *other.get(name)?)));
                for (name, one, other) in shared {
                    if sayers.len() >= MOST && !sayers.contains_key(name) {
                        continue;
                    }
                    let sayers = sayers.entry(name).or_insert_with(|| Sayer::all(cassette, name));
                    if sayers.iter().any(|sayer| sayer.tells(pair)) {
                        continue;
                    }
                    let spots = [(pair[0], one), (pair[1], other)];
                    let [first, second] = match is_first(cassette, open, spots) {
                        Some(true) => spots,
                        Some(false) => [spots[1], spots[0]],
                        None => continue,
                    };
                    all.insert((second, first));
                }
            }
        }
        let across = |((answer, chunks), (other, at))| Self { answer, chunks, other, said: at + 1 };
        all.into_iter().map(across).collect()
    }
}

fn is_stream(interaction: &Interaction) -> bool {
    let media = interaction.response().map(|response| Media::of_headers(&response.headers));
    matches!(media, Some(Media::EventStream | Media::Lines)) && !chunks(interaction).is_empty()
}

fn chunks(interaction: &Interaction) -> &[Chunk] {
    interaction.response().map_or(&[], |response| response.body.chunks())
}

fn identifiers(chunks: &[Chunk]) -> Said<'_> {
    let mut said = HashMap::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let text = str::from_utf8(&chunk.bytes).unwrap_or_default();
        for word in text.split('"').filter(|word| is_identifier(word)) {
            said.entry(word).or_insert(at);
        }
    }
    said
}

/// What says a name: a request, or an answer.
struct Sayer {
    interaction: usize,
    is_request: bool,
}

impl Sayer {
    fn all(cassette: &Cassette, name: &str) -> Vec<Self> {
        let says = |text: &[u8]| memmem::find(text, name.as_bytes()).is_some();
        let mut all = Vec::new();
        for (interaction, it) in cassette.interactions.iter().enumerate() {
            let request = &it.request;
            let is_request = says(request.path.as_bytes())
                || says(&request.body)
                || request.headers.iter().any(|(_, value)| says(value));
            if is_request || it.response().is_some_and(|it| says(&it.body.bytes())) {
                all.push(Self { interaction, is_request });
            }
        }
        all
    }

    /// Whether a client has said it itself, or has had it from something else, before two streams said it.
    fn tells(&self, pair: [usize; 2]) -> bool {
        self.interaction <= pair[1] && (self.is_request || !pair.contains(&self.interaction))
    }
}

/// Whether a chunk of one stream came before one of another that was asked for later, when so much of the first had
/// come; nothing if the recording does not say.
fn is_first(
    cassette: &Cassette,
    open: &Progress,
    [(one, at), (other, other_at)]: [(usize, usize); 2],
) -> Option<bool> {
    if at < open.chunks {
        return Some(true);
    }
    // What else was asked while both went on.
    let told = cassette.interactions[other..].iter().find_map(|asked| {
        let had_come =
            |of: usize| asked.after.iter().find(|it| it.interaction == of).map(|it| it.chunks);
        let had_come = (at < had_come(one)?, other_at < had_come(other)?);
        (had_come.0 != had_come.1).then_some(had_come.0)
    });
    told.or_else(|| {
        let [ms, other_ms] = [(one, at), (other, other_at)]
            .map(|(number, at)| chunks(&cassette.interactions[number])[at].ms);
        let sent = chunks(&cassette.interactions[one]);
        let begun = open.chunks.checked_sub(1).map_or(0, |last| sent[last].ms);
        let is_certain = ms < begun.saturating_add(other_ms);
        is_certain.then_some(true).or_else(|| {
            let latest = sent.get(open.chunks).map_or(u64::MAX, |next| next.ms);
            (ms > latest.saturating_add(other_ms)).then_some(false)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that listens, and the answer to a call beside it; `answered` is what had come of each when the client
    /// said something else.
    fn check(
        listens: &[(u64, &str)],
        call: &[(u64, &str)],
        answered: Option<[usize; 2]>,
    ) -> Vec<[usize; 4]> {
        let stream = |method: &str, after: &str, asked: &str, said: &[(u64, &str)]| {
            let said = said.iter().map(|(ms, said)| {
                format!(r#"{{"ms": {ms}, "text": "data: {{\"id\": \"{said}\"}}\n\n"}}"#)
            });
            let said = said.collect::<Vec<_>>().join(",");
            format!(
                r#"{{{after}"request": {{"method": "{method}", "path": "/mcp", "json": {{"id": "{asked}"}}}},
                 "response": {{"ms": 0, "status": 200, "end": "complete", "headers": {{"content-type": "text/event-stream"}},
                 "stream": [{said}]}}}}"#
            )
        };
        let mut all = vec![
            stream("GET", "", "own-1234", listens),
            stream("POST", r#""after": {"1": 0}, "#, "call-1234", call),
        ];
        if let Some([one, other]) = answered {
            let after = format!(r#""after": {{"1": {one}, "2": {other}}}, "#);
            all.push(stream("POST", &after, "yes-1234", &[]));
        }
        let text = format!(r#"{{"retape": 1, "interactions": [{}]}}"#, all.join(","));
        let cassette =
            crate::cassette::format::decode(&text, |_| unreachable!()).expect("a cassette");
        let across = Across::all(&cassette).into_iter();
        across.map(|it| [it.answer, it.chunks, it.other, it.said]).collect()
    }

    #[test]
    fn what_names_a_thing_waits_for_what_has_named_it_first() {
        let asks = [(5, "elicit-0001")];
        let done = [(0, "progress"), (9, "elicit-0001")];
        assert_eq!(check(&asks, &done, Some([1, 1])), [[1, 1, 0, 1]]);
        assert_eq!(check(&done, &asks, Some([1, 1])), [[0, 1, 1, 1]]);
        // By the time alone: it cannot have come later, or nobody knows.
        assert_eq!(check(&asks, &done, None), [[1, 1, 0, 1]]);
        assert_eq!(check(&[(9, "elicit-0001")], &asks, None), [[0; 4]; 0]);
    }

    #[test]
    fn what_the_client_knows_otherwise_waits_for_nothing() {
        assert_eq!(check(&[(5, "call-1234")], &[(9, "call-1234")], Some([1, 0])), [[0; 4]; 0]);
        assert_eq!(check(&[(5, "elicit-0001")], &[(9, "elicit-0002")], Some([1, 0])), [[0; 4]; 0]);
        assert_eq!(check(&[(5, "progress")], &[(9, "progress")], Some([1, 0])), [[0; 4]; 0]);
    }
}
