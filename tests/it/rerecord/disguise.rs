//! A recording of the same conversation as another run would have made it.

use std::collections::HashMap;

use bytes::Bytes;
use regex::{Captures, Regex};
use retape::Cassette;
use retape::cassette::{Body, Chunk, Headers, Outcome};

/// Gives identifiers other names, shifts times, and cuts streams up in other places.
pub struct Disguise {
    random: u64,
    names: HashMap<String, String>,
    identifiers: Regex,
    times: Regex,
}

impl Disguise {
    pub fn of(seed: u64) -> Self {
        let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        let token = "(?:toolu|call|tkt|req)_[0-9a-f]{24}";
        Self {
            random: seed | 1,
            names: HashMap::new(),
            identifiers: Regex::new(&format!("{uuid}|{token}")).unwrap(),
            times: Regex::new(r"(\d{4}-\d\d-\d\dT\d\d|\d\d [A-Z][a-z]{2} \d{4} \d\d):\d\d:\d\d")
                .unwrap(),
        }
    }

    pub fn cassette(&mut self, mut cassette: Cassette) -> Cassette {
        cassette.recorded.at = self.text(&cassette.recorded.at);
        for interaction in &mut cassette.interactions {
            let request = &mut interaction.request;
            request.path = self.text(&request.path);
            self.headers(&mut request.headers);
            request.body = self.bytes(&request.body);
            let Outcome::Response(response) = &mut interaction.outcome else { continue };
            response.ms = self.next() % 1000;
            self.headers(&mut response.headers);
            response.body = match &response.body {
                Body::Whole(bytes) => Body::Whole(self.bytes(bytes)),
                Body::Stream(_) => {
                    let bytes = self.bytes(&response.body.bytes());
                    Body::Stream(self.chunks(bytes))
                }
            };
        }
        cassette
    }

    fn headers(&mut self, headers: &mut Headers) {
        headers.iter_mut().for_each(|(_, value)| *value = self.bytes(value));
    }

    fn bytes(&mut self, bytes: &Bytes) -> Bytes {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text).into(),
            Err(_) => bytes.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let (identifiers, times) = (self.identifiers.clone(), self.times.clone());
        let text = identifiers.replace_all(text, |found: &Captures<'_>| self.name(&found[0]));
        let later = |found: &Captures<'_>| {
            // The same second of another day and hour.
            let digits = found[0].replace("2026", "2031").replace(" Nov ", " Dec ");
            digits.replace("-11-2", "-12-1")
        };
        times.replace_all(&text, later).into_owned()
    }

    /// A UUID stays one of its version, and what is made of a random one by a number over the last seven bits is made so
    /// of its new name.
    fn name(&mut self, old: &str) -> String {
        let number = old.get(34..36).filter(|_| old.as_bytes()[14] == b'4');
        let number = number.map(|byte| u8::from_str_radix(byte, 16).unwrap());
        let Some(number) = number else { return self.random_name(old) };
        let stem = self.random_name(&format!("{}{}", &old[..34], number >> 7));
        let top = u8::from_str_radix(&stem[34..], 16).unwrap() << 7;
        format!("{}4{}{:02x}", &stem[..14], &stem[15..34], top | (number & 0x7f))
    }

    fn random_name(&mut self, old: &str) -> String {
        if let Some(name) = self.names.get(old) {
            return name.clone();
        }
        let (prefix, random) = match old.rsplit_once('_') {
            Some((prefix, random)) => (format!("{prefix}_"), random),
            None => (String::new(), old),
        };
        // A UUID says in two places how it was made.
        let stays = |at: usize, c: char| c == '-' || (random.len() == 36 && [14, 19].contains(&at));
        let digit = |disguise: &mut Self, (at, c): (usize, char)| match c {
            _ if stays(at, c) => c,
            _ => char::from(b"0123456789abcdef"[(disguise.next() % 16) as usize]),
        };
        let name = random.chars().enumerate().map(|it| digit(self, it)).collect::<String>();
        self.names.insert(old.to_owned(), format!("{prefix}{name}"));
        self.names[old].clone()
    }

    fn chunks(&mut self, mut bytes: Bytes) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut ms = 0;
        while !bytes.is_empty() {
            let length = 1 + self.next() as usize % 1500;
            ms += self.next() % 50;
            chunks.push(Chunk { ms, bytes: bytes.split_to(length.min(bytes.len())) });
        }
        chunks
    }

    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }
}
