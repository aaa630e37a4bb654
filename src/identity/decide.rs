//! Decides which values of a recording are names, by what came back, by looks and by names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::carriers::{carried, may_count};
use super::encoded::says_numbers;
use super::names::{Calls, Role, field_name};
use super::parts::{Parts, Sockets};
use super::wanted::{Below, Wanted};
use super::{
    Meaning, Words, each_document, each_text, fields, identifiers, is_epoch, is_moment,
    may_identify, may_mark, may_number, moments, pieced_together, plain, refers, says_something,
    word_around,
};
use crate::cassette::exchanges::Exchanges;
use crate::cassette::reading::{Kind, PathStep, Reading};
use crate::cassette::{
    Cassette, Evidence, Headers, Id, Ids, Interaction, Interactions, Media, Reach, Request, text,
};
use crate::config::{Rules, Treatment};

/// The table of names of a recording that has none.
///
/// A value that an answer was the first to hold is the server's, whatever it looks like, so it must come
/// back as it is. What a request said before is text, which a second run may open. Of the rest, what looks
/// random or stands in a field for identifiers is made up by the client. These rules are frozen, as a
/// cassette without a table is read by them.
pub fn decide(cassette: &Cassette, rules: &Rules) -> Ids {
    decide_by(Looks::Alone, cassette, rules)
}

/// How a value is taken for random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// By its own look.
    Alone,
    /// Also if it is as long as a random one in the same place of another request: of sixteen letters and
    /// digits, one time in twenty all are letters.
    Together,
}

fn decide_by(looks: Looks, cassette: &Cassette, rules: &Rules) -> Ids {
    let Some(exchanges) = Exchanges::of(cassette) else {
        return decide_each(looks, &cassette.interactions, rules, None);
    };
    let sockets = Some((&exchanges, cassette));
    exchanges.folded(decide_each(looks, &exchanges.cassette.interactions, rules, sockets))
}

/// The table of names of a recording in which there is no WebSocket.
#[cfg(feature = "record")]
pub fn decide_long(interactions: &impl Interactions, rules: &Rules) -> Ids {
    decide_each(Looks::Together, interactions, rules, None)
}

fn decide_each<I: Interactions>(
    looks: Looks,
    interactions: &I,
    rules: &Rules,
    sockets: Option<Sockets<'_>>,
) -> Ids {
    let (candidates, below) = candidates(looks, interactions, rules);
    // What a cassette without a table is read by knows nothing of when a part of an answer came.
    let parts = Parts::of((looks == Looks::Together).then_some(interactions), sockets);
    let wanted = Wanted::of(&candidates, below);
    let given = EarlierAnswers::of(interactions, &wanted, parts);
    let issued = match looks {
        Looks::Together => issued(&candidates, &given),
        Looks::Alone => HashMap::new(),
    };
    let is_of_issued = |it: &Candidate| {
        let issued = issued.get(&(it.interaction, &*it.at)).into_iter().flatten();
        issued.into_iter().any(|whole| whole.len() > it.value.len() && whole.contains(&it.value))
    };
    let parts: Vec<bool> = candidates.iter().map(is_of_issued).collect();
    let mut ids = Ids::default();
    let mut known = HashSet::new();
    let mut own = HashSet::new();
    for (candidate, is_part) in candidates.into_iter().zip(parts) {
        if is_part {
            continue;
        }
        // What the client said before is only given back.
        let first = given.first(&candidate).filter(|_| !own.contains(&candidate.value));
        if first.is_none() && candidate.is_telling() {
            own.insert(candidate.value.clone());
        }
        if candidate.sort == Sort::Said {
            continue;
        }
        let Candidate { value, interaction, at, sort } = candidate;
        if let Some((interaction, at)) = first {
            if !given.is_repeated(&value) && known.insert((value.clone(), String::new())) {
                let (reach, evidence) = (Reach::Anywhere, Evidence::Return);
                ids.server.push(Id { value, interaction, at, reach, evidence });
            }
            continue;
        }
        let (reach, evidence, field) = match sort {
            Sort::Word => (Reach::Anywhere, Evidence::Look, String::new()),
            Sort::Field => (Reach::Field, Evidence::Name, field_name(&at)),
            Sort::Time | Sort::Reference | Sort::Said | Sort::Carried => continue,
        };
        if known.insert((value.clone(), field)) {
            ids.client.push(Id { value, interaction, at, reach, evidence });
        }
    }
    ids
}

/// What the server issued, by the places in which requests say it: a part of that, such as what stands behind its
/// prefix, is the server's as well.
fn issued<'c, I: Interactions>(
    candidates: &'c [Candidate],
    given: &EarlierAnswers<'_, I>,
) -> HashMap<(usize, &'c str), Vec<&'c str>> {
    let mut found: HashMap<_, Vec<&str>> = HashMap::new();
    let is_open = |it: &Candidate| matches!(it.sort, Sort::Said | Sort::Carried | Sort::Time);
    for it in candidates.iter().filter(|it| !is_open(it) && given.first(it).is_some()) {
        found.entry((it.interaction, &*it.at)).or_default().push(&it.value);
    }
    found
}

/// The table of names of a recording that goes on behind another, whose table stays.
pub fn decide_behind(base: Option<&Cassette>, cassette: &Cassette) -> Ids {
    let mut ids = decide_by(Looks::Together, cassette, &cassette.rules);
    let Some((base, kept)) = base.and_then(|base| Some((base, base.ids.as_ref()?))) else {
        return ids;
    };
    let is_new = |id: &Id| id.interaction >= base.interactions.len();
    for (list, kept) in [(&mut ids.client, &kept.client), (&mut ids.server, &kept.server)] {
        let is_known = |id: &Id| kept.iter().any(|other| other.value == id.value);
        list.retain(|id| is_new(id) && !is_known(id));
        list.splice(0..0, kept.iter().cloned());
    }
    ids
}

/// The table of names of a recording that takes the place of an older one, whose words it has now.
///
/// Two recordings are two runs of the same client: what looks made up and was the same in both is not.
/// `names` is the table of the new recording before it was given the old words.
pub fn decide_again(old: &Cassette, names: &Ids, cassette: &Cassette) -> Ids {
    let mut ids = decide_by(Looks::Together, cassette, &cassette.rules);
    let words = names.client.iter().filter(|id| id.reach == Reach::Anywhere);
    let words = Words::of(words.map(|id| id.value.as_str()));
    let fixed = found_in_requests(old, &words);
    ids.client.retain(|id| !fixed.contains(&id.value));
    let learned = old.ids.iter().flat_map(|ids| &ids.client);
    let learned = learned.filter(|id| matches!(id.evidence, Evidence::Runs | Evidence::Person));
    let words = Words::of(learned.clone().map(|id| id.value.as_str()));
    let still = found_in_requests(cassette, &words);
    for id in learned.filter(|id| id.evidence == Evidence::Person || still.contains(&id.value)) {
        match ids.client.iter_mut().find(|other| other.value == id.value) {
            Some(other) => other.evidence = id.evidence,
            None => ids.client.push(id.clone()),
        }
    }
    // Of several WebSockets it is not known for sure what was said first.
    let known = old.ids.iter().flat_map(|ids| &ids.client);
    for id in known.filter(|id| id.reach == Reach::Anywhere) {
        let before = ids.server.len();
        ids.server.retain(|other| other.value != id.value);
        if ids.server.len() < before && !ids.client.iter().any(|other| other.value == id.value) {
            ids.client.push(id.clone());
        }
    }
    ids.client.sort_by_key(|id| id.interaction);
    ids
}

/// Those of some words that the requests of a recording hold.
fn found_in_requests(cassette: &Cassette, words: &Words) -> HashSet<String> {
    let mut found = HashSet::new();
    let exchanges = Exchanges::of(cassette);
    let cassette = exchanges.as_ref().map_or(cassette, |exchanges| &exchanges.cassette);
    for Interaction { request, .. } in &cassette.interactions {
        each_text(request, |text| {
            found.extend(words.find(text).map(|range| text[range].to_owned()));
        });
    }
    found
}

/// A value of a request that may be a name.
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) interaction: usize,
    at: String,
    pub(super) sort: Sort,
}

impl Candidate {
    /// Whether it is open where it stands, and hardly the same by chance elsewhere.
    fn is_telling(&self) -> bool {
        let is_number = || self.value.bytes().all(|byte| byte.is_ascii_digit());
        match self.sort {
            Sort::Word | Sort::Time => true,
            Sort::Field | Sort::Said | Sort::Carried => self.value.len() >= TELLING && !is_number(),
            Sort::Reference => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A word within a text.
    Word,
    /// A whole value in a field for identifiers.
    Field,
    /// A point in time.
    Time,
    /// A whole value in a place that refers to something.
    Reference,
    /// What the client says where it is open or does not count anyway: whoever gives it back has it from
    /// there.
    Said,
    /// The same in a field of the header that counts if the server issued it.
    Carried,
}

/// What may be a name, and what stands where a `POST` may have made it.
fn candidates(
    looks: Looks,
    interactions: &impl Interactions,
    rules: &Rules,
) -> (Vec<Candidate>, Below) {
    let (mut found, mut below) = (Vec::new(), Below::default());
    let (mut random, mut alike) = (HashMap::new(), Vec::new());
    for (interaction, recorded) in interactions.each().enumerate() {
        if looks == Looks::Together {
            below.note(recorded.request.path_only());
        }
        let body = recorded.request.readable();
        let reading = Reading::of(&recorded.request, &body, rules);
        let calls = Calls::marked(&reading);
        found.extend(in_headers(looks, (interaction, &recorded.request), rules));
        for (node, it) in reading.nodes.iter().enumerate() {
            let mut put = |value: &str, sort| {
                let at = reading.place(node).to_string();
                found.push(Candidate { value: value.to_owned(), interaction, at, sort });
            };
            if let PathStep::Member(name) = &it.step {
                words(name).for_each(|range| put(&name[range], Sort::Word));
            }
            let role = calls.role(&reading, node);
            let is_ruled = matches!(it.rule, Some(Treatment::Id | Treatment::NotId));
            if it.rule == Some(Treatment::Id) || matches!(role, Some(Role::Made(_))) {
                put(&it.text, Sort::Said);
            }
            let is_server = it.step == PathStep::Origin;
            if it.kind.is_container() || is_ruled || is_server || role.is_some() {
                continue;
            }
            let name = if matches!(it.step, PathStep::Header(_)) { "" } else { reading.name(node) };
            let mut whole = None;
            if looks == Looks::Together
                && Meaning::of(name) == Meaning::Plain
                && says_numbers(&it.text)
            {
                continue;
            }
            look(&it.text, it.kind, (name, &it.step), |value, sort| {
                let is_name = matches!(sort, Sort::Word | Sort::Field);
                whole = whole.or((is_name && value.len() == it.text.len()).then_some(sort));
                put(value, sort);
            });
            if it.kind == Kind::Text && is_plain_word(&it.text) {
                let place = (reading.family(), it.wild, it.text.len());
                match whole {
                    Some(sort) => _ = random.insert(place, sort),
                    None => {
                        let (at, value) = (reading.place(node).to_string(), it.text.to_string());
                        let sort = Sort::Word;
                        let candidate = Candidate { value, interaction, at, sort };
                        alike.push((place, found.len(), candidate));
                    }
                }
            }
        }
    }
    if looks == Looks::Together {
        for (place, before, candidate) in alike.into_iter().rev() {
            if let Some(sort) = random.get(&place).copied() {
                found.insert(before, Candidate { sort, ..candidate });
            }
        }
    }
    (found, below)
}

/// What the fields of a header say.
fn in_headers(
    looks: Looks,
    (interaction, request): (usize, &Request),
    rules: &Rules,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (name, value) in request.headers.iter() {
        let value = text(value);
        let mut carried = carried(name, &value);
        carried.retain(|_| looks == Looks::Together && may_count(name, rules));
        let said: Vec<_> = words(&value).filter(|range| !carried.contains(range)).collect();
        let sorts = [(said, Sort::Said), (carried, Sort::Carried)];
        for (range, sort) in
            sorts.into_iter().flat_map(|(all, sort)| all.into_iter().map(move |it| (it, sort)))
        {
            let (value, at) = (value[range].to_owned(), format!("header.{name}"));
            found.push(Candidate { value, interaction, at, sort });
        }
    }
    found
}

/// Whether a text is letters, digits, `-` and `_`, and too long to be as long as another by chance.
fn is_plain_word(text: &str) -> bool {
    text.len() >= LONG && word_around(text, 0..0) == (0..text.len())
}

/// A shorter word may be one of a few that mean something.
const LONG: usize = 12;

/// Looks at a value.
fn look(
    text: &str,
    kind: Kind,
    (name, step): (&str, &PathStep<'_>),
    mut put: impl FnMut(&str, Sort),
) {
    let meaning = match (Meaning::of(name), step) {
        // A query refers to something by its identity; by a mark it says which request it is.
        (Meaning::Identity, PathStep::Query(_)) => Meaning::Plain,
        (meaning, _) => meaning,
    };
    if (kind == Kind::Text && is_moment(text)) || (meaning == Meaning::Moment && is_epoch(text)) {
        return put(text, Sort::Time);
    }
    let is_named = match (meaning, kind) {
        (Meaning::Mark, Kind::Text) => may_mark(text),
        (Meaning::Identity, Kind::Text) => may_identify(text),
        (Meaning::Mark | Meaning::Identity, Kind::Number) => may_number(text),
        _ => false,
    };
    let found: Vec<_> = if kind == Kind::Text { words(text).collect() } else { Vec::new() };
    // Padded Base64 is one word, of which the marks in it would make several.
    if is_named && (text.ends_with('=') || found.is_empty()) {
        return put(text, Sort::Field);
    }
    let refers = found.is_empty() && (refers(name) || matches!(step, PathStep::Segment(_)));
    for range in found {
        // A time is one however few marks it has: `20261127T012427Z`.
        if !is_moment(&text[range.clone()]) {
            put(&text[range], Sort::Word);
        }
    }
    if kind == Kind::Text {
        moments(text).for_each(|range| put(&text[range], Sort::Time));
    }
    // Yes, no and nothing are nobody's.
    if refers && kind != Kind::Word && !text.is_empty() {
        put(text, Sort::Reference);
    }
}

/// The words in a text that look made up. What a client encoded is not.
pub(super) fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    identifiers(text).filter(|word| !says_something(text, word))
}

/// What answers held before a request came back with it.
struct EarlierAnswers<'c, I> {
    /// For each value the first answer that holds it as a word, and where. More than the first one where a
    /// request may have come before that part of it.
    words: HashMap<String, Vec<(usize, String)>>,
    /// The same for values of whole fields that are there to come back with.
    fields: HashMap<String, Vec<(usize, String)>>,
    parts: Parts<'c, I>,
    /// What a request said before any answer did: answers only repeat it.
    said: HashSet<String>,
}

/// A shorter word is the same by chance as often as not.
pub(super) const TELLING: usize = 4;

/// A number with as many digits is hardly the same by chance.
const LONG_NUMBER: usize = 6;

impl<'c, I: Interactions> EarlierAnswers<'c, I> {
    fn of(interactions: &'c I, wanted: &Wanted<'_>, parts: Parts<'c, I>) -> Self {
        let (words, fields, said) = Default::default();
        let mut given = Self { words, fields, parts, said };
        // What comes behind the last request is nobody's to come back with.
        let last = wanted.last.values().copied().max().unwrap_or(0);
        for (number, interaction) in interactions.each().enumerate().take(last) {
            given.asked(number, &interaction.request, wanted);
            given.answered(number, &interaction, wanted);
        }
        given
    }

    fn asked(&mut self, number: usize, request: &Request, wanted: &Wanted<'_>) {
        each_text(request, |text| {
            for range in wanted.all.find(text) {
                let value = &text[range];
                let firsts = [&self.words, &self.fields].map(|all| all.get(value));
                let mut firsts = firsts.into_iter().flatten().flatten();
                if !firsts.any(|first| self.parts.had_come(value, first, number)) {
                    self.said.insert(value.to_owned());
                }
            }
        });
    }

    /// Whether answers have only repeated what the client said. Of a small number it may be chance that a
    /// request held the same one.
    fn is_repeated(&self, value: &str) -> bool {
        let is_small = value.len() < LONG_NUMBER && value.bytes().all(|byte| byte.is_ascii_digit());
        !is_small && self.said.contains(value)
    }

    fn answered(&mut self, number: usize, interaction: &Interaction, wanted: &Wanted<'_>) {
        let Some(response) = interaction.response() else { return };
        for (name, value) in meant(&response.headers) {
            let at = || format!("header.{}", name.to_ascii_lowercase());
            let text = text(value);
            self.note_words(number, &text, wanted, |_| at());
            if wanted.last.contains_key(&*text) {
                self.parts.note(&mut self.fields, &text, number, at);
            }
        }
        let body = response.readable().bytes();
        let is_stream = Media::of_headers(&response.headers).is_stream();
        if !is_stream && !wanted.stands_in(&body, number) {
            return;
        }
        let body = plain(&body);
        let made = wanted.names_below(&interaction.request);
        let is_made = |value: &str| made.is_some_and(|names| names.contains(value));
        let mut leaves: Vec<(Range<usize>, String)> = Vec::new();
        each_document(&body, |start, document| {
            let whole = document.as_str();
            document.each_leaf(|pointer, name, value, spelled| {
                let at = start + spelled.as_ptr() as usize - whole.as_ptr() as usize;
                if (refers(&name) || is_made(&value)) && wanted.last.contains_key(&*value) {
                    self.parts.note(&mut self.fields, &value, number, || pointer.to_owned());
                }
                leaves.push((at..at + spelled.len(), pointer.to_owned()));
            });
        });
        let at = |range: &Range<usize>| {
            let leaf = leaves.partition_point(|(leaf, _)| leaf.end < range.end);
            let leaf = leaves.get(leaf).filter(|(leaf, _)| leaf.start <= range.start);
            leaf.map_or_else(|| "body".to_owned(), |(_, pointer)| pointer.clone())
        };
        self.note_words(number, &body, wanted, at);
        for field in fields(&body, &HashSet::new()) {
            if wanted.last.contains_key(&*field.value) {
                let at = || at(&field.range);
                self.parts.note(&mut self.fields, &field.value, number, at);
            }
        }
        if is_stream {
            for together in pieced_together(&body) {
                self.note_words(number, &together, wanted, |_| "body".to_owned());
            }
        }
    }

    fn note_words(
        &mut self,
        number: usize,
        text: &str,
        wanted: &Wanted<'_>,
        at: impl Fn(&Range<usize>) -> String,
    ) {
        for range in wanted.words.find(text) {
            let word = &text[range.clone()];
            if !is_amount(text, &range) {
                self.parts.note(&mut self.words, word, number, || at(&range));
            }
        }
    }

    /// The first answer before a request that held a value of it.
    fn first(&self, candidate: &Candidate) -> Option<(usize, String)> {
        let value = &candidate.value;
        let words = match candidate.sort {
            Sort::Word | Sort::Time | Sort::Field | Sort::Said | Sort::Carried => {
                self.words.get(value)
            }
            Sort::Reference => None,
        };
        let fields = match candidate.sort {
            Sort::Field | Sort::Reference | Sort::Carried => self.fields.get(value),
            _ => None,
        };
        let had_come = |first: &&(usize, String)| {
            let asked = candidate.interaction;
            first.0 < asked && self.parts.had_come(value, first, asked)
        };
        let firsts = words.into_iter().chain(fields).flatten().filter(had_come);
        firsts.min_by_key(|(number, _)| *number).cloned()
    }
}

/// The fields of a header but those that every answer has: the time at which a message was sent is
/// nobody's to give back, nor is its length.
fn meant(headers: &Headers) -> impl Iterator<Item = (&str, &bytes::Bytes)> {
    let is_meant =
        |name: &str| !["date", "content-length"].iter().any(|of| name.eq_ignore_ascii_case(of));
    headers.iter().filter(move |(name, _)| is_meant(name))
}

/// Whether a word is a number that counts or measures something: the value of a member or an element in
/// JSON, of which its name says what it means, or a part of one with a point.
fn is_amount(text: &str, range: &Range<usize>) -> bool {
    let (before, word, behind) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let ahead = before.trim_end();
    word.bytes().all(|byte| byte.is_ascii_digit())
        && word_around(text, range.clone()) == *range
        && (ahead.ends_with(['[', ','])
            || ahead.ends_with("\":")
            || before.ends_with('.')
            || (behind.starts_with('.') && is_digit(behind.as_bytes().get(1))))
}

#[cfg(all(test, feature = "record"))]
mod tests {
    use super::*;
    use crate::cassette::Response;

    fn exchange(asked: String, told: &str) -> Interaction {
        let response = Response::whole("application/json", told.to_owned());
        let headers = response.headers.clone();
        let request = Request { headers, body: asked.into(), ..Request::of("POST", "/chat") };
        Interaction::of(request, response)
    }

    #[test]
    fn a_vector_in_base64_is_no_name() {
        let made_up = |value: &str, name: &str| {
            let asked = exchange(format!(r#"{{"{name}":["{value}"]}}"#), "{}");
            !decide_long(&vec![asked], &Rules::default()).client.is_empty()
        };
        // Of 0.1, eight times, and what was drawn.
        let vector = "zczMPc3MzD3NzMw9zczMPc3MzD3NzMw9zczMPc3MzD0=";
        let drawn = "V1StGXR8Z5jdHi6BmyTq0Wc2E9rTy4Ui";
        assert!(!made_up(vector, "embeddings") && made_up(drawn, "embeddings"));
        // As the name of the field says.
        assert!(made_up(vector, "nonce"));
    }

    #[test]
    fn what_a_post_has_made_is_issued_whatever_it_is_called() {
        let issued = |method: &str, said: &str, name: &str, asked: &str| {
            let told = format!(r#"{{"name":"{name}","state":"new"}}"#);
            let mut first = exchange(format!(r#"{{"image":"{said}"}}"#), &told);
            (first.request.path, first.request.method) = ("/things".to_owned(), method.to_owned());
            let mut second = exchange(String::new(), &told);
            second.request.path = asked.replace("NAME", name);
            let ids = decide_long(&vec![first, second], &Rules::default());
            ids.server.into_iter().map(|id| id.value).collect::<Vec<_>>()
        };

        for name in ["calm-lynx-15", "acdd", "bzsqcigthv", "ORD-1269", "762737788"] {
            for asked in ["/things/NAME", "/things/NAME/parts?all=1"] {
                assert_eq!(issued("POST", "nginx", name, asked), [name], "{asked}");
            }
            // A list of what there is, what the client says itself, and another path.
            assert_eq!(issued("GET", "nginx", name, "/things/NAME"), [""; 0]);
            assert_eq!(issued("POST", name, name, "/things/NAME"), [""; 0]);
            assert_eq!(issued("POST", "nginx", name, "/other/NAME"), [""; 0]);
            assert_eq!(issued("POST", "nginx", name, "/things-of/NAME"), [""; 0]);
        }
    }

    #[test]
    fn a_part_of_what_the_server_issued_is_not_made_up() {
        let own = ["7afb53dc5c6f46d7", "cfb8af105a6a4a7e"];
        let issued = "msg-zz9QmexOf0aD";
        let first = format!(r#"[{{"id":"{}"}}]"#, own[0]);
        let second =
            format!(r#"[{{"id":"{}"}},{{"id":"{issued}"}},{{"id":"{}"}}]"#, own[0], own[1]);
        let told = format!(r#"{{"messageId":"{issued}"}}"#);
        let interactions = vec![exchange(first, &told), exchange(second, r#"{"ok":true}"#)];

        let ids = decide_long(&interactions, &Rules::default());

        let values = |ids: &[Id]| ids.iter().map(|id| id.value.clone()).collect::<Vec<_>>();
        assert_eq!(values(&ids.client), own);
        assert_eq!(values(&ids.server), [issued]);
    }
}
