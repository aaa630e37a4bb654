//! What a session of one cassette does with a request.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Version;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming};
use hyper::upgrade::OnUpgrade;

use super::event::Event;
use super::servers::{Led, Servers};
use super::settings::Settings;
use super::stale::{self, Stale, stale};
use crate::cassette::large::{Gathered, LARGE};
use crate::cassette::{Cassette, End, Name};
use crate::compare::matching::Mismatch;
use crate::error::{Error, Kind, Result};
use crate::serve::lock;
use crate::serve::recorder::{Patience, Recorder, RequestBody, Tape};
use crate::serve::replayer::{Hashed, Opened, Recorded, Replayer, Socket, Upgraded};
use crate::serve::server::{Answer, Arrival, NoAnswer, no_answer};
use crate::store::mode::Mode;
use crate::store::{Alarm, Recovered};

/// What a session of one cassette does with a request.
#[derive(Debug)]
pub(super) enum Track {
    /// Answers from the cassette.
    Replay(Arc<Replayer>),
    /// Asks the live server; records the answers if it has a tape.
    Forward(Box<Live>),
    /// Answers from the cassette where it can, and records the rest.
    Extend(Box<Extension>),
}

/// A cassette and the live server that is asked for what it has not.
#[derive(Debug)]
pub(super) struct Extension {
    replayer: Arc<Replayer>,
    live: Live,
}

/// Why a request is not answered.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// Nothing recorded answers it.
    Mismatch(Box<Mismatch>),
    /// Nor may the live server be asked.
    Stale(Stale),
}

/// A WebSocket that is replayed to a client.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) socket: Socket,
    pub(super) client: OnUpgrade,
}

/// A request that was read.
#[derive(Debug, Clone)]
pub(super) struct Whole<'a> {
    pub(super) arrival: Arrival<'a>,
    pub(super) body: Bytes,
}

/// The live server.
#[derive(Debug)]
pub(super) struct Live {
    servers: Servers,
    /// One for each server that was asked, and version of HTTP.
    recorders: Mutex<HashMap<(String, Version), Recorder>>,
    patience: Patience,
    tape: Option<Arc<Tape>>,
    /// How many requests went there.
    asked: AtomicUsize,
    /// Why requests were not answered.
    unanswered: Mutex<Vec<String>>,
    /// Why a request had no server to go to.
    unled: Mutex<Option<Error>>,
}

/// A tape, what it goes on from, and what was rescued when it was begun.
pub(super) struct Begun {
    pub(super) tape: Arc<Tape>,
    pub(super) rescued: Option<(Recovered, PathBuf)>,
}

impl Played {
    /// What a request for a WebSocket is answered, and what is played then.
    fn with(upgraded: Upgraded, client: OnUpgrade) -> (Answer, Option<Self>) {
        match upgraded {
            Upgraded::Opened(Opened { answer, socket }) => (answer, Some(Self { socket, client })),
            Upgraded::Refused(answer) => (answer, None),
        }
    }
}

impl Track {
    /// What the mode asks for, given whether the cassette exists.
    pub(super) fn plan(settings: &Settings, name: &Name) -> Mode {
        match settings.mode {
            Mode::Once if settings.exists(name) => Mode::Replay,
            Mode::Once if !settings.servers.is_empty() => Mode::Record,
            Mode::Once => Mode::Replay,
            mode => mode,
        }
    }

    /// The same. Under the name of what is kept beside a cassette nothing is recorded.
    pub(super) fn planned(settings: &Settings, name: &Name) -> Result<Mode> {
        let plan = Self::plan(settings, name);
        if matches!(plan, Mode::Record | Mode::NewEpisodes) && name.is_beside() {
            let hint = format!("record it as `{}`", name.of_cassette());
            let why = "it is what is kept beside a cassette";
            return Err(Error::new(Kind::Name { name: name.to_string(), why }).with_hint(hint));
        }
        Ok(plan)
    }

    /// The answer to a request, and the WebSocket that begins with it, if one is replayed.
    pub(super) async fn answer(
        &self,
        arrival: Arrival<'_>,
        asked: RequestBody,
    ) -> Result<(Answer, Option<Played>), Unanswered> {
        let answer = match (self, asked) {
            // What is large or rare is no part of the future, which is moved several times for each request.
            (Self::Forward(live), asked) => Box::pin(live.ask_known(arrival, asked)).await?,
            (Self::Replay(replayer), RequestBody::Upgrade(client)) => {
                let upgraded = Box::pin(replayer.open(arrival)).await;
                return upgraded.map_or_else(
                    |why| Err(Unanswered::Mismatch(why)),
                    |upgraded| Ok(Played::with(upgraded, client)),
                );
            }
            (Self::Extend(extension), RequestBody::Upgrade(client)) => {
                return Box::pin(extension.upgrade(arrival, client)).await;
            }
            (Self::Replay(replayer), asked) => {
                if let Some(refusal) = replayer.refusal(arrival).await {
                    return Ok((refusal, None));
                }
                match read_by(asked, self.silence(), || replayer.hashed(arrival)).await {
                    Some(body) => {
                        let answer = Box::pin(replayer.answer(arrival, body)).await;
                        answer.map_err(Unanswered::Mismatch)?
                    }
                    None => abandoned(),
                }
            }
            (Self::Extend(extension), asked) => match read(asked, self.silence()).await {
                Some(body) => {
                    let sent = Whole { arrival, body };
                    Box::pin(extension.answer(sent.clone(), sent)).await?
                }
                None => abandoned(),
            },
        };
        Ok((answer, None))
    }

    /// The answer to a request that is compared as another one, and passed on as it is.
    pub(super) async fn answer_as(
        &self,
        compared: Whole<'_>,
        sent: Whole<'_>,
    ) -> Result<Answer, Unanswered> {
        match self {
            Self::Replay(replayer) => {
                let answer = replayer.answer(compared.arrival, compared.body);
                answer.await.map_err(Unanswered::Mismatch)
            }
            Self::Extend(extension) => extension.answer(compared, sent).await,
            Self::Forward(live) => {
                live.ask_known(sent.arrival, RequestBody::Whole(sent.body)).await
            }
        }
    }

    pub(super) fn replayer(&self) -> Option<&Replayer> {
        match self {
            Self::Replay(replayer) => Some(replayer),
            Self::Extend(extension) => Some(&extension.replayer),
            Self::Forward(_) => None,
        }
    }

    /// How long a client may say nothing in the middle of a request; for ever if the live server may be sent it.
    pub(super) fn silence(&self) -> Option<Duration> {
        matches!(self, Self::Replay(_)).then_some(SILENCE)
    }

    /// How many requests went to the live server.
    pub(super) fn forwarded(&self) -> usize {
        self.live().map_or(0, |live| live.asked.load(Ordering::Relaxed))
    }

    /// Why a request had no live server to go to, if one had none.
    pub(super) fn unled(&self) -> Option<Error> {
        self.live().and_then(|live| lock(&live.unled).take())
    }

    /// Why the live server gave no answer, each time.
    pub(super) fn unanswered(&self) -> Vec<String> {
        self.live().map_or_else(Vec::new, |live| lock(&live.unanswered).clone())
    }

    fn live(&self) -> Option<&Live> {
        match self {
            Self::Replay(_) => None,
            Self::Forward(live) => Some(live),
            Self::Extend(extension) => Some(&extension.live),
        }
    }
}

impl Extension {
    pub(super) fn new(replayer: Replayer, live: Live) -> Self {
        Self { replayer: Arc::new(replayer), live }
    }

    /// Answers a request for a WebSocket.
    async fn upgrade(
        &self,
        arrival: Arrival<'_>,
        client: OnUpgrade,
    ) -> Result<(Answer, Option<Played>), Unanswered> {
        match self.replayer.open_known(arrival).await {
            Some(upgraded) => Ok(Played::with(upgraded, client)),
            None => Ok((self.live.ask_known(arrival, RequestBody::Upgrade(client)).await?, None)),
        }
    }

    async fn answer(&self, compared: Whole<'_>, sent: Whole<'_>) -> Result<Answer, Unanswered> {
        let Self { replayer, live } = self;
        let Whole { arrival, body } = compared;
        if let Some(answer) = replayer.answer_known(arrival, body.clone()).await {
            return Ok(answer);
        }
        match stale(arrival.request(body), replayer, |text| live.has_said(text)) {
            Some(stale) => Err(Unanswered::Stale(stale)),
            None => Ok(live.ask_whole(sent).await),
        }
    }
}

impl Live {
    /// Records to `tape`, or only passes on.
    pub(super) fn new(settings: &Settings, tape: Option<Arc<Tape>>) -> Result<Self> {
        settings.servers.check_built()?;
        Ok(Self {
            servers: settings.servers.clone(),
            recorders: Mutex::default(),
            patience: settings.given.patience,
            tape,
            asked: AtomicUsize::new(0),
            unanswered: Mutex::default(),
            unled: Mutex::default(),
        })
    }

    /// Whether it has said this in any answer that was recorded.
    fn has_said(&self, text: &str) -> bool {
        self.tape.as_ref().is_some_and(|tape| tape.has_heard(text))
    }

    /// Passes on a request that was read.
    pub(super) async fn ask_whole(&self, sent: Whole<'_>) -> Answer {
        self.ask(sent.arrival, RequestBody::Whole(sent.body)).await
    }

    /// Passes on a request that may have what it says from a recording that is played beside.
    async fn ask_known(
        &self,
        arrival: Arrival<'_>,
        body: RequestBody,
    ) -> Result<Answer, Unanswered> {
        match stale::placeholder(arrival) {
            Some(stale) => Err(Unanswered::Stale(stale)),
            None => Ok(self.ask(arrival, body).await),
        }
    }

    pub(super) async fn ask(&self, arrival: Arrival<'_>, body: RequestBody) -> Answer {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.pass_on(arrival, body).await;
        if let Some(NoAnswer(why)) = answer.extensions().get() {
            lock(&self.unanswered).push(why.clone());
        }
        answer
    }

    async fn pass_on(&self, arrival: Arrival<'_>, body: RequestBody) -> Answer {
        let Arrival { head, target, place } = arrival;
        let led = self.servers.lead(target, head.version);
        let Led { upstream, origin, target } = match led {
            Ok(led) => led,
            Err(error) => {
                let answer = no_answer(End::Unreachable, &format!("{error:?}"));
                lock(&self.unled).get_or_insert(error);
                return answer;
            }
        };
        let recorder = match lock(&self.recorders).entry((origin, head.version)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let (tape, beside) = (self.tape.clone(), self.servers.by_name());
                let origin = &new.key().0;
                let recorder = Recorder::new(upstream, self.patience, tape, origin, beside);
                new.insert(recorder).clone()
            }
        };
        recorder.forward(head, target, body, place).await
    }
}

pub(super) fn begin(settings: &Settings, name: &Name) -> Result<Begun> {
    settings.servers.check_built()?;
    let origins = settings.servers.origins();
    let redactor = settings.redactor();
    let listener = Arc::clone(&settings.given.listener);
    let alarm = Alarm::new(move |journal, why| {
        listener(Event::Unwritten { journal: journal.to_owned(), why: why.to_owned() });
    });
    let wording = settings.given.wording;
    let (mut tape, rescued) =
        Tape::begin(&settings.folder, name, origins, wording, redactor, alarm)?;
    tape.tell(settings.rules_of(name), settings.given.is_opened);
    Ok(Begun { tape: Arc::new(tape), rescued })
}

/// The cassette that is extended: the one that is there, or an empty one.
pub(super) fn base(settings: &Settings, name: &Name) -> Result<Recorded> {
    if settings.exists(name) {
        return settings.source(name).load();
    }
    let mut empty = Cassette::default();
    empty.recorded.set_address(settings.servers.address().into_owned());
    Recorded::new(empty, &settings.rules_of(name))
}

/// Nobody is there any more to read it.
pub(super) fn abandoned() -> Answer {
    no_answer(End::ClientClosed, "the client left before its request was complete")
}

/// The whole body, if the client sends all of it. Most are over with their first piece.
pub(super) async fn read(asked: RequestBody, silence: Option<Duration>) -> Option<Bytes> {
    read_by(asked, silence, || None).await
}

/// The same, or what stands in its place if it is not to be held in memory.
async fn read_by(
    asked: RequestBody,
    silence: Option<Duration>,
    hashed: impl FnOnce() -> Option<Hashed>,
) -> Option<Bytes> {
    let mut body = match asked {
        RequestBody::Arriving(body) => body,
        RequestBody::Whole(body) => return Some(body),
        RequestBody::Upgrade(_) => return Some(Bytes::new()),
    };
    if body.is_end_stream() {
        return Some(Bytes::new());
    }
    let mut hashed = Some(hashed);
    let mut all = Gathered::default();
    loop {
        // What has come, and what is announced of the rest.
        let is_large = all.len() as u64 + body.size_hint().lower() > LARGE;
        let whole = hashed.take_if(|_| is_large).and_then(|hashed| hashed()).map(Box::new);
        if let Some(hashed) = whole {
            return Box::pin(hash(hashed, all, (body, silence))).await;
        }
        match next(&mut body, silence).await {
            Some(frame) => {
                let piece = frame.ok()?.into_data().unwrap_or_default();
                if all.len() == 0 && body.is_end_stream() {
                    return Some(piece);
                }
                all.push(&piece);
            }
            None => break,
        }
    }
    all.settle();
    Some(all.joined())
}

/// How long a client may say nothing in the middle of a request that is replayed.
const SILENCE: Duration = Duration::from_secs(30);

/// The next piece of a body. What waits for its answer before it goes on is taken as it is: nothing that was
/// recorded can be told from its first half.
async fn next<B: Body<Data = Bytes> + Unpin>(
    body: &mut B,
    silence: Option<Duration>,
) -> Option<Result<Frame<Bytes>, B::Error>> {
    match silence {
        Some(silence) => tokio::time::timeout(silence, body.frame()).await.ok().flatten(),
        None => body.frame().await,
    }
}

/// Reads the rest of a body without holding it. Others have their turn in between.
async fn hash(
    mut hashed: Box<Hashed>,
    came: Gathered,
    (mut rest, silence): (Incoming, Option<Duration>),
) -> Option<Bytes> {
    for piece in came.into_pieces() {
        read_part(&mut hashed, piece).await;
    }
    while let Some(frame) = next(&mut rest, silence).await {
        read_part(&mut hashed, frame.ok()?.into_data().unwrap_or_default()).await;
    }
    Some(hashed.finish())
}

async fn read_part(hashed: &mut Hashed, mut piece: Bytes) {
    const PART: usize = 64 * 1024;
    while !piece.is_empty() {
        hashed.push(piece.split_to(PART.min(piece.len())));
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::path::Path;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use super::*;
    use crate::{Session, store};

    /// Reads a head and its body; nothing if there is none.
    fn message(from: TcpStream) -> Option<(String, Vec<u8>)> {
        let mut from = BufReader::new(from);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let head = head.to_lowercase();
        let length = head.split_once("content-length: ")?.1.lines().next()?.parse().ok()?;
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        Some((head, body))
    }

    /// A server that gives back what it gets. Gives its address.
    fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for to in listener.incoming() {
                let mut to = to.unwrap();
                let Some((_, body)) = message(to.try_clone().unwrap()) else { continue };
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
                write!(to, "{head}content-type: application/zip\r\n\r\n").unwrap();
                let _ = to.write_all(&body);
            }
        });
        format!("http://{address}")
    }

    fn ask(address: SocketAddr, key: &str, body: &[u8]) -> (String, Vec<u8>) {
        upload(address, key, "application/zip", body)
    }

    fn upload(address: SocketAddr, key: &str, media: &str, body: &[u8]) -> (String, Vec<u8>) {
        let mut to = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(to, "PUT /file HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n")
            .unwrap();
        write!(to, "content-type: {media}\r\ncontent-length: {length}\r\n\r\n").unwrap();
        to.write_all(body).unwrap();
        message(to).unwrap()
    }

    fn start(folder: &Path, mode: Mode, upstream: &str) -> impl Future<Output = Session> {
        let session = Session::builder("tape").cassettes(folder).mode(mode).upstream(upstream);
        async { session.start().await.unwrap() }
    }

    /// A body with a key in it.
    fn body(key: &str, fill: u8) -> Vec<u8> {
        let noise = [vec![fill; 50_000], vec![0x80; 50_000]].concat();
        [&noise, b" ".as_slice(), key.as_bytes(), b" ", &noise].concat()
    }

    /// A body of one piece, which comes late.
    struct Late(Option<Pin<Box<tokio::time::Sleep>>>);

    impl Body for Late {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
            let Some(sleep) = &mut self.0 else { return Poll::Ready(None) };
            std::task::ready!(sleep.as_mut().poll(context));
            self.0 = None;
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"late")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_coming_is_waited_for_as_long_as_is_said() {
        let late = || Late(Some(Box::pin(tokio::time::sleep(SILENCE * 2))));
        assert!(next(&mut late(), Some(SILENCE)).await.is_none());
        let frame = next(&mut late(), None).await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "late");
    }

    /// What a live server may be sent is waited for: half of it would be another request.
    #[test]
    fn only_what_is_replayed_may_be_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let builder = Session::builder("tape").cassettes(folder.path());
        let settings = builder.mode(Mode::NewEpisodes).upstream("http://127.0.0.1:9");
        let settings = settings.complete().unwrap();
        let recorded = || Arc::new(base(&settings, &settings.cassette).unwrap());
        let replayer = || Replayer::new(recorded(), None);
        let live = || Live::new(&settings, None).unwrap();

        assert_eq!(Track::Replay(Arc::new(replayer())).silence(), Some(SILENCE));
        assert_eq!(Track::Forward(Box::new(live())).silence(), None);
        let extension = Extension::new(replayer(), live());
        assert_eq!(Track::Extend(Box::new(extension)).silence(), None);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_large_body_is_recorded_and_replayed_from_a_file_without_its_secret() {
        let folder = tempfile::tempdir().unwrap();
        let key = |seed: u64| format!("{:x}", u128::from(seed) * 0x9e37_79b9_7f4a_7c15_1234_5678);
        let recorder = start(folder.path(), Mode::Record, &echo()).await;
        let (_, live) = ask(recorder.address(), &key(7), &body(&key(7), 0xfe));
        recorder.finish().await.unwrap();
        assert!(live == body(&key(7), 0xfe));

        let name = Name::new("tape").unwrap();
        let cassette = store::open(folder.path(), &name).unwrap();
        let clean = body("[redacted:authorization]", 0xfe);
        assert_eq!(cassette.larges.len(), 1, "both bodies are one file");
        assert!(cassette.interactions[0].request.body.len() < 100);
        let whole = store::load(folder.path(), &name).unwrap();
        assert!(whole.interactions[0].request.body == clean);

        let replayer = start(folder.path(), Mode::Replay, "").await;
        let (head, again) = ask(replayer.address(), &key(8), &body(&key(8), 0xfe));
        assert!(head.contains(&format!("content-length: {}", clean.len())), "{head}");
        assert!(again == clean);
        let (head, _) = ask(replayer.address(), &key(8), &body(&key(8), 0xfd));
        assert!(head.starts_with("http/1.1 470"), "{head}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_large_file_replays_that_is_sent_as_a_form() {
        // What `curl --data-binary @FILE` says of any file.
        const FORM: &str = "application/x-www-form-urlencoded";
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(folder.path(), Mode::Record, &echo()).await;
        let (_, live) = upload(recorder.address(), "k", FORM, &body("x", 0xfe));
        recorder.finish().await.unwrap();
        assert!(folder.path().join("tape.bodies").is_dir());

        let replayer = start(folder.path(), Mode::Replay, "").await;
        let (_, again) = upload(replayer.address(), "k", FORM, &body("x", 0xfe));
        assert!(again == live);
        let (head, _) = upload(replayer.address(), "k", FORM, &body("x", 0xfd));
        assert!(head.starts_with("http/1.1 470"), "{head}");
    }
}
