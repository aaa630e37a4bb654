//! Which message of a client an answer belongs to, by the thing that the server has named.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{ExchangePart, Exchanges};
use crate::cassette::calls::is_identifier;
use crate::cassette::{Body, Chunk, Interaction, Outcome};
use crate::text::json::Text;

/// What an identifier stands for, by the place where messages say it.
type Thing = (String, String);

/// What was said over one WebSocket, by the messages of its client in order.
struct Dialogue {
    asked: Vec<Leaves>,
    /// In answer to each, in the order in which all came: the number of the frame, and what it says.
    answers: Vec<Vec<(usize, Leaves)>>,
    /// The message of the client in answer to which a thing was named first.
    homes: HashMap<Thing, usize>,
    /// By the place, and the message in answer to which they were named first: things in order.
    own: HashMap<String, HashMap<usize, Vec<Thing>>>,
}

/// The pointers of a message, and the identifiers at some of them.
#[derive(Debug, Default, PartialEq)]
struct Leaves {
    pointers: BTreeSet<String>,
    things: Vec<Thing>,
}

impl Exchanges {
    /// Gives what a server says of a thing to the message of the client in answer to which it named that first.
    ///
    /// # Rationale
    ///
    /// A server that works on several things at once says of each message which one it is about, by an identifier that
    /// it has issued. That counts only where the last message is alike, and has a thing of its own that could have been
    /// named there: what all messages name, such as a session, says nothing. Of several messages that were sent before anything was
    /// answered, and that begin to be answered alike, each is about the thing that is as many in the order.
    pub(super) fn by_thing(&mut self) {
        let mut sockets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, spot) in self.spots.iter().enumerate() {
            if matches!(spot.part, ExchangePart::Frame(_)) {
                sockets.entry(spot.interaction).or_default().push(at);
            }
        }
        for exchanges in sockets.into_values().filter(|it| it.len() > 1) {
            let said = self.said_over(&exchanges);
            let moved = said.moved();
            if moved.is_empty() {
                continue;
            }
            let mut all: Vec<(usize, usize, Chunk)> = Vec::new();
            for (own, at) in exchanges.iter().enumerate() {
                let frames = self.said.remove(at).unwrap_or_default();
                let chunks = chunks(&mut self.cassette.interactions[*at]).map(std::mem::take);
                for (frame, chunk) in frames.into_iter().zip(chunks.unwrap_or_default()) {
                    let home = moved.get(&frame).copied().unwrap_or(own);
                    all.push((frame, exchanges[home], chunk));
                }
            }
            all.sort_by_key(|(frame, ..)| *frame);
            for (frame, at, chunk) in all {
                self.said.entry(at).or_default().push(frame);
                if let Some(chunks) = chunks(&mut self.cassette.interactions[at]) {
                    chunks.push(chunk);
                }
            }
        }
    }

    fn said_over(&mut self, exchanges: &[usize]) -> Dialogue {
        let asked = exchanges.iter().map(|at| &self.cassette.interactions[*at].request.body);
        let asked: Vec<Leaves> = asked.map(|body| Leaves::of(body)).collect();
        let answers = exchanges.iter().map(|at| {
            let frames = self.said.get(at).into_iter().flatten().copied();
            let response = self.cassette.interactions[*at].response();
            let chunks = response.map(|it| it.body.chunks()).unwrap_or_default();
            frames.zip(chunks.iter().map(|chunk| Leaves::of(&chunk.bytes))).collect()
        });
        Dialogue::of(asked, answers.collect())
    }
}

fn chunks(interaction: &mut Interaction) -> Option<&mut Vec<Chunk>> {
    match &mut interaction.outcome {
        Outcome::Response(response) => match &mut response.body {
            Body::Stream(chunks) => Some(chunks),
            Body::Whole(_) => None,
        },
        Outcome::Nothing(_) => None,
    }
}

impl Leaves {
    fn of(message: &[u8]) -> Self {
        let mut leaves = Self::default();
        let Some(json) = Text::parse_container(message) else { return leaves };
        json.each_leaf(|pointer, _, value, spelled| {
            leaves.pointers.insert(pointer.to_owned());
            if spelled.starts_with('"') && is_identifier(&value) {
                leaves.things.push((pointer.to_owned(), value.into_owned()));
            }
        });
        leaves
    }

    fn says(&self, value: &str) -> bool {
        self.things.iter().any(|(_, it)| it == value)
    }
}

impl Dialogue {
    fn of(asked: Vec<Leaves>, answers: Vec<Vec<(usize, Leaves)>>) -> Self {
        let mut said = Self { asked, answers, homes: HashMap::new(), own: HashMap::new() };
        let mut in_order: Vec<(usize, usize, &Leaves)> = Vec::new();
        for (home, answers) in said.answers.iter().enumerate() {
            in_order.extend(answers.iter().map(|(frame, leaves)| (*frame, home, leaves)));
        }
        in_order.sort_by_key(|(frame, ..)| *frame);
        let mut asked: HashMap<&str, usize> = HashMap::new();
        for (number, leaves) in said.asked.iter().enumerate() {
            for (_, value) in &leaves.things {
                asked.entry(value).or_insert(number);
            }
        }
        for (_, home, leaves) in in_order {
            for thing in &leaves.things {
                // What the client has said first is its own name for it.
                let is_of_client = asked.get(&*thing.1).is_some_and(|asked| *asked <= home);
                if !is_of_client && !said.homes.contains_key(thing) {
                    said.homes.insert(thing.clone(), home);
                    let at = said.own.entry(thing.0.clone()).or_default();
                    at.entry(home).or_default().push(thing.clone());
                }
            }
        }
        said.pair_off();
        said
    }

    /// Gives each of several messages that were sent at once, and are alike, the thing that is as many in the order.
    fn pair_off(&mut self) {
        let mut first = 0;
        for last in 0..self.asked.len() {
            if self.answers[last].is_empty() {
                continue;
            }
            let at_once = first..last + 1;
            first = last + 1;
            let asked = &self.asked[at_once.clone()];
            if asked.len() < 2 || asked.iter().any(|it| it.pointers != asked[0].pointers) {
                continue;
            }
            let begun = |thing: &Thing| {
                let mut answers = self.answers[last].iter().map(|(_, leaves)| leaves);
                answers.find(|leaves| leaves.things.contains(thing))
            };
            let are_alike = |things: &[Thing]| {
                let mut pointers = things.iter().filter_map(begun).map(|leaves| &leaves.pointers);
                let first = pointers.next();
                things.len() == asked.len() && pointers.all(|it| Some(it) == first)
            };
            let places = self.own.iter().filter_map(|(at, own)| Some((at, own.get(&last)?)));
            let paired = places.filter(|(_, things)| are_alike(things));
            let paired: Vec<_> = paired.map(|(at, things)| (at.clone(), things.clone())).collect();
            for (pointer, things) in paired {
                let own = self.own.entry(pointer).or_default();
                own.remove(&last);
                for (home, thing) in at_once.clone().zip(things) {
                    self.homes.insert(thing.clone(), home);
                    own.insert(home, vec![thing]);
                }
            }
        }
    }

    /// The frames that belong to an earlier message of the client than the last one, and to which.
    fn moved(&self) -> HashMap<usize, usize> {
        let mut moved = HashMap::new();
        for (last, answers) in self.answers.iter().enumerate() {
            for (frame, leaves) in answers {
                if let Some(home) = self.home(leaves, last) {
                    moved.insert(*frame, home);
                }
            }
        }
        moved
    }

    fn home(&self, leaves: &Leaves, last: usize) -> Option<usize> {
        let mut latest = None;
        for thing in &leaves.things {
            let (Some(own), Some(home)) = (self.own.get(&thing.0), self.homes.get(thing)) else {
                continue;
            };
            // What names the same for all messages tells none of them.
            if own.len() < 2 {
                continue;
            }
            let of_last = own.get(&last);
            let is_own = *home == last && of_last.is_some_and(|own| own.len() == 1);
            if is_own || self.asked[last].says(&thing.1) {
                return None;
            }
            // What its client says meanwhile, such as that a tool may run, goes on with the same thing.
            let are_alike = self.asked[*home].pointers == self.asked[last].pointers;
            if *home < last && of_last.is_some() && are_alike {
                latest = latest.max(Some(*home));
            }
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use crate::cassette::{Cassette, Content, Frame, Interaction, Peer, Request, Response};

    /// Who says it: `>` a client that starts something, or another message of it; else the server, with what about which
    /// thing.
    fn frame(said: &str) -> Frame {
        let (from, said) = match said.split_once(' ') {
            Some((">", q)) => (Peer::Client, format!(r#"{{"type":"start","q":"{q}"}}"#)),
            Some((kind, job)) => {
                let said = format!(r#"{{"type":"{kind}","job":"job-{job}","in":"room-77"}}"#);
                (Peer::Server, said)
            }
            None => (Peer::Client, format!(r#"{{"type":"{said}"}}"#)),
        };
        Frame { from, content: Content::Text(said.into()), ..Frame::of_server() }
    }

    /// What answers each message of the client, of these on one WebSocket.
    fn check(said: &[&str], expected: &[&str]) {
        let frames = said.iter().map(|said| frame(said)).collect();
        let response = Response { frames, ..Response::of(101) };
        let interactions = vec![Interaction::of(Request::of("GET", "/ws"), response)];

        let read = Cassette { interactions, ..Cassette::default() }.by_message();

        let answers = read.interactions[1..].iter().map(|it| {
            let said = it.response().expect("an answer").body.bytes();
            let said = String::from_utf8(said.to_vec()).expect("text");
            let word = |line: &str, at: usize| line.split('"').nth(at).map(str::to_owned);
            let lines = said.lines().map(|line| {
                let [kind, job] = [3, 7].map(|at| word(line, at).expect("a text"));
                format!("{kind} {}", job.trim_start_matches("job-"))
            });
            lines.collect::<Vec<_>>().join(", ")
        });
        assert_eq!(answers.collect::<Vec<_>>(), expected, "{said:?}");
    }

    #[test]
    fn what_a_server_says_of_a_thing_answers_the_message_that_it_began_with() {
        let begun = ["> a", "took 001", "> b", "step 001", "took 002", "done 002", "done 001"];
        check(&begun, &["took 001, step 001, done 001", "took 002, done 002"]);
        // Sent at once.
        let at_once = ["> a", "> b", "took 001", "took 002", "done 002", "done 001"];
        check(&at_once, &["took 001, done 001", "took 002, done 002"]);
    }

    #[test]
    fn what_may_be_about_the_last_message_answers_it() {
        // The last message has no thing of its own.
        check(&["> a", "took 001", "stop", "done 001"], &["took 001", "done 001"]);
        check(&["> a", "took 001", "> b", "step 001"], &["took 001", "step 001"]);
        // They are not as many, or not alike.
        check(&["> a", "> b", "took 001", "done 001"], &["", "took 001, done 001"]);
        check(&["stop", "> b", "took 001", "took 002"], &["", "took 001, took 002"]);
    }
}
