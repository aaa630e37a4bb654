//! A WebSocket that is replayed, or what went over standard input and output.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::Replayer;
use super::meanwhile::Hold;
use super::pace::Clock;
use super::replay::RunProgress;
use super::sockets::Awaited;
use super::spoil::Within;
use crate::cassette::{Content, End, Peer};
use crate::compare::matching::Mismatch;
use crate::serve::server::{Answer, Cut, Rewriter};
use crate::serve::websocket::{Compression, Reader, SocketEvent, Strictness, Writer};
use crate::serve::wire::{FrameReader, FrameWriter};

/// The code of a close that no server sends: what the client said, or did not say, was not recorded.
pub const NOT_RECORDED: u16 = 4470;

/// The code of a close by a server that goes away.
const GOING_AWAY: u16 = 1001;

/// A client that says nothing for so long, and twice as long as it did when it was recorded, while we
/// wait for it, waits for us.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a client may leave out is waited for so long.
const LEFT_OUT: Duration = Duration::from_secs(1);

/// A client has so long to answer a close.
const FAREWELL: Duration = Duration::from_secs(2);

/// What answers a request in lines comes so long behind what was said just before, if all that took as long.
///
/// # Rationale
///
/// The TypeScript SDK of MCP takes answers at once and notifications a moment later. What reports progress is
/// lost to it if the answer comes in the same piece.
const PAUSE: Duration = Duration::from_millis(20);

/// So much is read at once.
const BUFFER: usize = 4 * 1024;

/// A WebSocket that is replayed: its answer, and what goes on behind it.
#[derive(Debug)]
pub struct Opened {
    /// The answer to the request.
    pub answer: Answer,
    /// What goes on behind it.
    pub socket: Socket,
}

/// One end of a WebSocket that is replayed.
#[derive(Debug)]
pub struct Socket {
    pub(super) replayer: Arc<Replayer>,
    /// Which of the replayer's it is.
    pub(super) number: usize,
    pub(super) compression: Option<Compression>,
    /// What puts the server's address in the place of ours, and ours in the place of the server's.
    pub(super) addresses: Option<[Rewriter; 2]>,
    /// What goes wrong, and behind how many messages of the server.
    pub(super) blow: Option<(Within, usize)>,
}

/// Why a WebSocket was closed before its end.
#[derive(Debug)]
pub enum Lost {
    /// The client sent what was not recorded.
    Mismatch(Box<Mismatch>),
    /// The client did not send what was.
    Missing {
        /// The number of the interaction in the cassette.
        interaction: usize,
        /// The number of the frame that did not come.
        frame: usize,
        /// How long it was waited for.
        waited: Duration,
    },
}

/// What a client is told of what was lost.
#[derive(Debug)]
pub struct Notice {
    /// In one line.
    pub reason: String,
    /// In several.
    pub explanation: String,
}

/// How a connection goes on.
enum Next {
    Read(usize),
    Due,
    Held,
    /// It may be another recorded one from now on.
    Exchanged,
    Missing,
    /// What else was to be asked was not.
    Overdue,
    Over,
}

/// A connection while it is played.
struct PlayedConnection<'s, T, R> {
    socket: &'s Socket,
    /// Tells what is lost.
    report: R,
    io: T,
    reader: FrameReader,
    writer: FrameWriter,
    /// What happened last, and when.
    clock: (Option<usize>, Clock),
    heard: Instant,
    /// The interaction that is played, and what holds it back.
    played: Option<usize>,
    hold: Option<Hold>,
    /// Whether it is another recorded one from now on.
    exchanged: watch::Receiver<()>,
    /// How many messages were sent.
    said: usize,
    /// How many milliseconds what is written and not sent yet took when it was recorded.
    took: u64,
}

impl Socket {
    /// Plays what was recorded to whoever takes the connection over. What is lost is reported, and
    /// closes the connection with a reason.
    pub async fn play(self, upgrade: OnUpgrade, report: impl Fn(Lost) -> Notice + Send + Sync) {
        let inflate = self.compression.and_then(|it| it.inflate(Peer::Client));
        let reader = FrameReader::Socket(Reader::new(Strictness::Server, inflate));
        let deflate = self.compression.and_then(Compression::deflate);
        let writer = FrameWriter::Socket(Writer::new(deflate));
        if let Ok(io) = upgrade.await {
            self.run(TokioIo::new(io), (reader, writer), report).await;
        }
        self.replayer.leave(self.number);
    }

    /// Plays what was recorded to a client that says it in lines. Tells with which status the server
    /// ended, if it did by itself and all of it was played.
    #[cfg(feature = "cli")]
    pub async fn play_lines(
        self,
        io: impl AsyncRead + AsyncWrite + Unpin,
        report: impl Fn(Lost) -> Notice + Send + Sync,
    ) -> Option<u8> {
        let wire = (FrameReader::lines(), FrameWriter::Lines(Vec::new()));
        self.run(io, wire, report).await;
        let status = self.replayer.exit_status(self.number);
        self.replayer.leave(self.number);
        status
    }

    /// What a side says, with the addresses that the other side knows.
    fn exchange(&self, said_by: Peer, content: Content) -> Content {
        match &self.addresses {
            Some(both) => both[said_by as usize].message(content),
            None => content,
        }
    }

    async fn run(
        &self,
        io: impl AsyncRead + AsyncWrite + Unpin,
        (reader, writer): (FrameReader, FrameWriter),
        report: impl Fn(Lost) -> Notice + Send + Sync,
    ) {
        let mut live = PlayedConnection {
            socket: self,
            report,
            io,
            reader,
            writer,
            clock: (None, self.replayer.clock()),
            heard: Instant::now(),
            played: self.replayer.interaction(self.number),
            hold: self.replayer.hold(self.number),
            exchanged: self.replayer.exchanged(),
            said: 0,
            took: 0,
        };
        if let Some((code, reason)) = live.play().await {
            live.writer.close(code, &reason);
            let _ = live.flush().await;
            live.farewell().await;
        }
        let _ = live.io.shutdown().await;
    }
}

/// How a connection is closed: with a code and a reason, or not at all.
type Closing = Option<(Option<u16>, String)>;

impl<T, R> PlayedConnection<'_, T, R>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Fn(Lost) -> Notice + Send + Sync,
{
    async fn play(&mut self) -> Closing {
        let mut run = self.socket.replayer.watch();
        let mut buffer = vec![0; BUFFER];
        loop {
            let due = match self.send().await {
                Ok(due) => due,
                Err(closing) => return closing,
            };
            match self.next(due, &mut run, &mut buffer).await {
                Next::Due | Next::Held => {}
                Next::Exchanged => self.find(),
                Next::Over => return Some((Some(GOING_AWAY), String::new())),
                Next::Overdue => return overdue(),
                Next::Missing if self.pass_over() => {}
                Next::Missing => {
                    return Some((Some(NOT_RECORDED), (self.report)(self.missing()?).reason));
                }
                Next::Read(0) => {
                    let _ = self.hear_end().await;
                    return None;
                }
                Next::Read(length) => {
                    if let Err(closing) = self.hear(&buffer[..length]).await {
                        return closing;
                    }
                }
            }
        }
    }

    /// Finds out what is played from now on.
    fn find(&mut self) {
        let Socket { replayer, number, .. } = self.socket;
        let played = replayer.interaction(*number);
        if self.played != played {
            (self.played, self.hold) = (played, replayer.hold(*number));
        }
    }

    /// Waits for what happens next.
    async fn next(
        &mut self,
        due: Option<Option<Instant>>,
        run: &mut watch::Receiver<RunProgress>,
        buffer: &mut [u8],
    ) -> Next {
        if run.borrow().is_over() {
            return Next::Over;
        }
        let missing = match due {
            None => self.deadline(),
            Some(_) => None,
        };
        let held = matches!(due, Some(None));
        let at = due.flatten();
        let far = || Instant::now() + Duration::from_secs(3600);
        let hold = &mut self.hold;
        let sent = self.socket.replayer.passed(self.socket.number);
        let gate = std::future::poll_fn(|context| match hold {
            Some(hold) => hold.poll(sent, context),
            None => Poll::Ready(Ok(())),
        });
        tokio::select! {
            read = self.io.read(buffer) => Next::Read(read.unwrap_or(0)),
            () = sleep_until(at.unwrap_or_else(far)), if at.is_some() => Next::Due,
            gate = gate, if held => match gate {
                Ok(()) => Next::Held,
                Err(Cut) => Next::Overdue,
            },
            () = sleep_until(missing.unwrap_or_else(far)), if missing.is_some() => Next::Missing,
            Ok(()) = self.exchanged.changed() => Next::Exchanged,
            over = run.wait_for(RunProgress::is_over) => {
                drop(over);
                Next::Over
            }
        }
    }

    /// Sends what may be sent. Tells what is left to be waited for: a moment, what else is asked, or
    /// the client.
    async fn send(&mut self) -> Result<Option<Option<Instant>>, Closing> {
        let (replayer, number) = (&self.socket.replayer, self.socket.number);
        loop {
            let Some((at, gap)) = replayer.due(number) else {
                self.flush().await?;
                if !replayer.is_open(number) {
                    return Err(Some((Some(GOING_AWAY), String::new())));
                }
                return if replayer.is_cut(number) { Err(None) } else { Ok(None) };
            };
            if self.is_held().await? {
                self.flush().await?;
                return Ok(Some(None));
            }
            let follows = self.clock.0 == at.checked_sub(1);
            let due = if follows { self.clock.1.due(gap) } else { None };
            if due.is_some_and(|due| due > Instant::now()) {
                self.flush().await?;
                return Ok(Some(due));
            }
            let blow = self.socket.blow.filter(|(_, behind)| *behind == self.said);
            let blow = blow.map(|(within, _)| within);
            if let Some(within) = blow {
                self.suffer(within).await?;
            }
            self.clock = (Some(at), replayer.clock());
            self.heard = Instant::now();
            let (frame, content) = replayer.say(number, at);
            let content = self.socket.exchange(Peer::Server, content);
            let content = match blow {
                Some(within) => within.message(content),
                None => content,
            };
            self.said += 1;
            if let Content::Close { code, reason } = content {
                return Err(Some((code, reason)));
            }
            self.took += gap;
            if self.writer.parts(&content) && self.took > 0 {
                let pause = PAUSE.min(Duration::from_millis(self.took));
                self.flush().await?;
                sleep(pause).await;
            }
            self.writer.frame(&frame, &content);
        }
    }

    /// Ends the connection as a fault says, if it says so.
    async fn suffer(&mut self, within: Within) -> Result<(), Closing> {
        if let Within::Malformed | Within::Oversized(_) = within {
            return Ok(());
        }
        self.flush().await?;
        match within {
            Within::Close(code) => Err(Some((Some(code), "retape injected this".to_owned()))),
            Within::Silence => {
                let mut buffer = [0; BUFFER];
                let left = async { while let Ok(1..) = self.io.read(&mut buffer).await {} };
                let mut silent = Hold::silent(&self.socket.replayer.run);
                tokio::select! {
                    () = left => {}
                    () = silent.end() => {}
                }
                Err(None)
            }
            _ => Err(None),
        }
    }

    /// Whether something else has to be asked before the next frame is sent; a closing, if it was waited
    /// for in vain.
    async fn is_held(&mut self) -> Result<bool, Closing> {
        let sent = self.socket.replayer.passed(self.socket.number);
        let Some(hold) = &mut self.hold else { return Ok(false) };
        let polled = std::future::poll_fn(|context| Poll::Ready(hold.poll(sent, context)));
        match polled.await {
            Poll::Pending => Ok(true),
            Poll::Ready(Ok(())) => Ok(false),
            Poll::Ready(Err(Cut)) => Err(overdue()),
        }
    }

    /// Takes what the client has sent.
    async fn hear(&mut self, mut bytes: &[u8]) -> Result<(), Closing> {
        loop {
            match self.reader.next(&mut bytes) {
                Ok(Some(event)) => self.take(event).await?,
                Ok(None) => {
                    if self.reader.is_within() {
                        self.heard = Instant::now();
                    }
                    return Ok(());
                }
                Err(violation) => {
                    // What was asked before is answered first.
                    let _ = self.send().await;
                    return Err(Some((Some(violation.code), violation.what.to_owned())));
                }
            }
        }
    }

    /// The client sends no more. Over standard input it may have said all at once, and listens still.
    async fn hear_end(&mut self) -> Result<(), Closing> {
        if matches!(self.reader, FrameReader::Socket(_)) {
            return Ok(());
        }
        if let Some(event) = self.reader.last() {
            self.take(event).await?;
        }
        loop {
            while let Some(Some(due)) = self.send().await? {
                sleep_until(due).await;
            }
            if !self.pass_over() {
                return Ok(());
            }
        }
    }

    async fn take(&mut self, event: SocketEvent) -> Result<(), Closing> {
        match event {
            SocketEvent::Ping(payload) => {
                self.writer.pong(&payload);
                self.flush().await
            }
            SocketEvent::Pong(_) => Ok(()),
            SocketEvent::Frame(Content::Close { code, .. }, _) => {
                let _ = self.send().await;
                self.writer.close(code, "");
                let _ = self.flush().await;
                Err(None)
            }
            SocketEvent::Frame(content, _) => {
                self.heard = Instant::now();
                let content = self.socket.exchange(Peer::Client, content);
                match self.socket.replayer.ask(self.socket.number, content.clone()) {
                    Ok(None) => {}
                    Ok(Some(at)) => {
                        self.clock = (Some(at), self.socket.replayer.clock());
                    }
                    Err(mismatch) => {
                        let Notice { reason, explanation } =
                            (self.report)(Lost::Mismatch(mismatch));
                        let message = content.message().map_or(&[][..], |message| message);
                        if !self.writer.refuse(message, &reason, &explanation) {
                            return Err(Some((Some(NOT_RECORDED), reason)));
                        }
                    }
                }
                self.send().await.map(drop)
            }
        }
    }

    /// Sends what is written. Nothing more is said to a client that is gone.
    async fn flush(&mut self) -> Result<(), Closing> {
        self.took = 0;
        let bytes = self.writer.take();
        if !bytes.is_empty() {
            self.io.write_all(&bytes).await.map_err(|_| None)?;
            self.io.flush().await.map_err(|_| None)?;
        }
        Ok(())
    }

    /// Reads on until the client has heard the close.
    async fn farewell(&mut self) {
        let mut buffer = [0; 1024];
        let _ = self.io.shutdown().await;
        let rest = async { while let Ok(1..) = self.io.read(&mut buffer).await {} };
        let _ = timeout(FAREWELL, rest).await;
    }

    /// When a client that is waited for has said nothing for too long.
    fn deadline(&self) -> Option<Instant> {
        let awaited = self.socket.replayer.awaited(self.socket.number)?;
        let is_short = awaited.is_optional || awaited.is_to_tell;
        Some(self.heard + if is_short { LEFT_OUT } else { patience(awaited.gap) })
    }

    /// Waits no more for what the client may leave out, or for what tells which client it is. Says whether it waited
    /// for that.
    fn pass_over(&self) -> bool {
        let Socket { replayer, number, .. } = self.socket;
        let awaited = replayer.awaited(*number);
        let awaited = awaited.filter(|awaited| awaited.is_optional || awaited.is_to_tell);
        if let Some(awaited) = &awaited {
            replayer.pass_over(*number, awaited);
        }
        awaited.is_some()
    }

    fn missing(&self) -> Option<Lost> {
        let Awaited { interaction, at, gap, .. } =
            self.socket.replayer.awaited(self.socket.number)?;
        Some(Lost::Missing { interaction, frame: at, waited: patience(gap) })
    }
}

/// How a connection is closed that has waited in vain for what else was asked.
fn overdue() -> Closing {
    Some((Some(NOT_RECORDED), "waited in vain for another request that was recorded".to_owned()))
}

fn patience(gap: u64) -> Duration {
    PATIENCE + Duration::from_millis(gap.saturating_mul(2))
}

/// Whether a connection breaks off when all was said.
pub(super) fn breaks_off(end: End) -> bool {
    matches!(end, End::ServerClosed | End::Timeout)
}
