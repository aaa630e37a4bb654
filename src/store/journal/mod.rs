//! The journal of a recording that is under way: `NAME.json.part`.
//!
//! Each thing that happens is one line, which is written before it is passed on to the client, so
//! whatever a client has seen is in the journal, also if the recorder is killed. What is written is
//! redacted already. The file is locked while it is written.
//!
//! # Rationale
//!
//! A queue and a writer task would keep the disk out of the client's way, but lose what is in the
//! queue when the process is killed. An append to the page cache costs about as much as waking a
//! task, so the lines are written before they are passed on. What is passed on together is written
//! together.

mod format;
mod reader;
mod recover;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use format::Entry;
pub use reader::Reader;
pub use recover::Recovered;

use super::file::path_of;
use super::folder::{ANOTHER, make_folder};
use super::{disk, regular};
use crate::cassette::{Interaction, Name, Recorded};
use crate::error::{Error, Kind, Result};
use crate::text::words::shown;

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal {
    /// The folder above it that stays when nothing is left in it: that of the cassettes, or the one above
    /// if that is new.
    lasting: PathBuf,
    path: PathBuf,
    file: Mutex<JournalWriter>,
    alarm: Alarm,
}

/// Who is told that a journal cannot be written: its path, and why.
pub struct Alarm(Box<Listener>);

type Listener = dyn Fn(&Path, &str) + Send + Sync;

impl Alarm {
    /// Calls `listener` whenever it begins to fail.
    pub fn new(listener: impl Fn(&Path, &str) + Send + Sync + 'static) -> Self {
        Self(Box::new(listener))
    }
}

shown!(Debug: Alarm, _ => "Alarm");

#[derive(Debug)]
struct JournalWriter {
    file: File,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// How long it is, up to the last line that is whole.
    length: u64,
    /// Whether a part of a line may stand behind that.
    is_torn: bool,
}

impl Journal {
    /// Opens and locks the journal of a cassette. If a recorder was killed while it wrote one, what
    /// it holds is returned as well, and stays there until [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// If another process is recording this cassette, the file cannot be written, or it holds what
    /// this release cannot read.
    pub fn open(folder: &Path, name: &Name, alarm: Alarm) -> Result<(Self, Option<Recovered>)> {
        let path = Self::path_of(folder, name);
        regular::refuse_linked(folder, name)?;
        let is_new = !folder.is_dir();
        let lasting = if is_new { folder.parent().unwrap_or(folder) } else { folder }.to_owned();
        let mut file = locked(&path)?;
        let recovered = recover::recover(BufReader::new(&file), &path);
        file.rewind().map_err(|source| Error::io("read file", &path, source))?;
        if recovered.is_none() && !recover::is_begun(BufReader::new(&file)) {
            return Err(Error::new(Kind::ForeignJournal)
                .at(&path)
                .with_hint("let the release that wrote it save it, or remove the file"));
        }
        let writer = JournalWriter { file, lines: Vec::new(), length: 0, is_torn: false };
        Ok((Self { lasting, path, file: Mutex::new(writer), alarm }, recovered))
    }

    /// Reads the journal that a killed recorder left, without touching it.
    pub fn peek(folder: &Path, name: &Name) -> Option<Recovered> {
        let path = Self::path_of(folder, name);
        if !fs::symlink_metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = File::open(&path).ok()?;
        // A journal that is locked belongs to a recorder that is at work.
        file.try_lock_shared().ok()?;
        recover::recover(BufReader::new(file), &path)
    }

    /// The file that the journal of a cassette is.
    pub fn path_of(folder: &Path, name: &Name) -> PathBuf {
        let mut path = path_of(folder, name).into_os_string();
        path.push(".part");
        path.into()
    }

    /// The file that it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Empties the journal and begins a new one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn begin(&self, recorded: &Recorded) -> Result<()> {
        let mut writer = self.writer();
        Entry::Begin { recorded: recorded.clone() }.write(&mut writer.lines);
        disk::cut(&writer.file, 0).and_then(|()| writer.write()).map_err(|source| {
            Error::io("write file", &self.path, source).or_hint("choose another folder")
        })
    }

    /// Adds an entry to those that the next [`flush`](Self::flush) writes, and gives where it will stand.
    pub fn note(&self, entry: &Entry<'_>) -> EntrySpan {
        let mut writer = self.writer();
        let start = writer.noted();
        let (behind, failed) = match entry {
            Entry::Passed { bytes, .. } if bytes.len() >= LARGE => {
                entry.write_line(&mut writer.lines);
                (bytes.len(), writer.write_through(bytes).err())
            }
            _ => (entry.write(&mut writer.lines), None),
        };
        let place = EntrySpan { entry: start..writer.noted(), behind: behind as u64 };
        drop(writer);
        failed.iter().for_each(|source| self.tell_unwritten(source));
        place
    }

    /// The interaction whose entries stand there, as far as they say it; nothing if they say no request.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn interaction(&self, entries: &[Range<u64>]) -> Result<Option<Interaction>> {
        self.reader().interaction(entries)
    }

    /// Reads interactions, one near the other.
    pub fn reader(&self) -> Reader<'_> {
        Reader::of(self)
    }

    /// Writes the lines that were noted. A recording does not stop serving its client because a disk is
    /// full: somebody is told, and what could not be written is tried again the next time.
    pub fn flush(&self) {
        let mut writer = self.writer();
        let was_torn = writer.is_torn;
        let failed = writer.write().err().filter(|_| !was_torn);
        drop(writer);
        failed.iter().for_each(|source| self.tell_unwritten(source));
    }

    fn tell_unwritten(&self, source: &io::Error) {
        self.tell(&format!("{source}; free some space"));
    }

    /// Writes the last lines that were noted.
    ///
    /// # Errors
    ///
    /// If it does not have everything.
    pub fn complete(&self) -> Result<()> {
        let written = self.writer().write();
        written.map_err(|source| Error::io("write file", &self.path, source))
    }

    /// Tells that something is not in it, and why.
    pub fn tell(&self, why: &str) {
        (self.alarm.0)(&self.path, why);
    }

    /// Removes the journal: its cassette has been saved, or nothing was recorded. Folders that
    /// were made for it go with it if nothing is left in them.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub fn remove(&self) -> Result<()> {
        disk::remove(&self.path).map_err(|source| Error::io("remove file", &self.path, source))?;
        let above = self.path.ancestors().skip(1);
        let mut own = above.take_while(|above| *above != self.lasting);
        // The first one that is not empty ends it.
        let _ = own.try_for_each(disk::remove_folder);
        Ok(())
    }

    fn writer(&self) -> MutexGuard<'_, JournalWriter> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an entry stands in a journal.
#[derive(Debug, Clone)]
pub struct EntrySpan {
    /// All of it.
    pub entry: Range<u64>,
    /// How many bytes stand behind its line.
    behind: u64,
}

impl EntrySpan {
    /// Where that stands which is behind its line.
    pub fn behind(&self) -> Range<u64> {
        // A line feed is behind it.
        let end = self.entry.end - 1;
        end - self.behind..end
    }
}

/// So much room for lines is kept.
const ROOM: usize = 1 << 20;

/// A piece of a body that is not held is written at once if it has so many bytes: to copy it takes as long.
const LARGE: usize = 16 << 10;

impl JournalWriter {
    /// Appends what stands there, whether it was written or only noted.
    fn read(&mut self, place: &Range<u64>, text: &mut Vec<u8>) -> io::Result<()> {
        let written = place.start.min(self.length)..place.end.min(self.length);
        let noted = [place.start, place.end].map(|at| (at.max(self.length) - self.length) as usize);
        if !written.is_empty() {
            let length = written.end - written.start;
            text.reserve(length as usize);
            // What is written goes to the end, wherever one reads.
            self.file.seek(SeekFrom::Start(written.start))?;
            let read = (&self.file).take(length).read_to_end(text)?;
            if (read as u64) < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        text.extend_from_slice(self.lines.get(noted[0]..noted[1]).unwrap_or_default());
        Ok(())
    }

    /// Where what is noted next will stand.
    fn noted(&self) -> u64 {
        self.length + self.lines.len() as u64
    }

    /// Writes what was noted, and these bytes and a line feed behind it. What could not be written stays noted, and
    /// the first time is told.
    fn write_through(&mut self, bytes: &[u8]) -> io::Result<()> {
        let was_torn = self.is_torn;
        let written = self.write_with([bytes, b"\n"]);
        if written.is_err() {
            self.lines.extend_from_slice(bytes);
            self.lines.push(b'\n');
        }
        if was_torn { Ok(()) } else { written }
    }

    /// Writes what was noted. What could not be written stays noted.
    fn write(&mut self) -> io::Result<()> {
        if self.lines.is_empty() { Ok(()) } else { self.write_with([b"", b""]) }
    }

    /// The same, with these behind it.
    fn write_with(&mut self, behind: [&[u8]; 2]) -> io::Result<()> {
        if self.is_torn {
            disk::cut(&self.file, self.length)?;
        }
        self.is_torn = true;
        let parts = [&self.lines, behind[0], behind[1]];
        disk::write_in_parts(&mut self.file, parts)?;
        self.is_torn = false;
        self.length += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        self.lines.clear();
        self.lines.shrink_to(ROOM);
        Ok(())
    }
}

/// Opens a journal that nobody else writes, and makes the folder for it.
fn locked(path: &Path) -> Result<File> {
    loop {
        make_folder(path.parent().unwrap_or(path))?;
        // What is no file is nobody's journal, and what a link leads to is somebody else's file.
        if fs::symlink_metadata(path).is_ok_and(|data| !data.is_file()) {
            return Err(Error::new(Kind::ForeignJournal).at(path).with_hint("remove it"));
        }
        let mut options = private();
        options.read(true).append(true).create(true);
        let file = match disk::open(&options, path) {
            // Another recorder may have removed the folder, in which it had left nothing.
            Err(_) if !path.parent().is_none_or(Path::is_dir) => continue,
            opened => {
                opened.map_err(|source| Error::io("write file", path, source).or_hint(ANOTHER))?
            }
        };
        match file.try_lock() {
            // Another recorder may have removed it between the two steps.
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::said("this cassette is being recorded already")
                    .at(path)
                    .with_hint(
                        "wait for it, or record under another name: each test has its own",
                    ));
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("lock file", path, source)),
        }
    }
}

/// Whether the open file is the one of that path still.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |data: std::fs::Metadata| (data.dev(), data.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => identity(open) == identity(there),
        _ => false,
    }
}

/// Whether the open file is the one of that path still: one that is open cannot be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// What a conversation holds is nobody else's business while it is not reviewed.
#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::store::{Trial, under};

    #[test]
    fn folders_in_which_nothing_is_left_go_with_it() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("cassettes");
        let open = |name| {
            let alarm = Alarm::new(|_, _| {});
            Journal::open(&folder, &Name::new(name).unwrap(), alarm).unwrap().0
        };
        let [one, two, three] = ["a/b/one", "a/two", "a/b/three"].map(open);

        three.remove().unwrap();
        assert!(one.path().exists());
        two.remove().unwrap();
        assert!(one.path().exists());
        one.remove().unwrap();
        assert!(!folder.exists() && above.path().exists());

        let again = open("a/b/one");
        fs::write(folder.join("a/kept.toml"), "").unwrap();
        again.remove().unwrap();
        assert!(!folder.join("a/b").exists() && folder.join("a/kept.toml").exists());
    }

    #[test]
    fn what_a_full_disk_refused_is_told_once_and_written_later() {
        let folder = tempfile::tempdir().unwrap();
        let told = Arc::new(AtomicUsize::new(0));
        let alarm = Arc::clone(&told);
        let alarm = Alarm::new(move |_, _| {
            alarm.fetch_add(1, Ordering::Relaxed);
        });
        let (journal, _) =
            Journal::open(folder.path(), &Name::new("tape").unwrap(), alarm).unwrap();
        journal.begin(&Recorded::default()).unwrap();
        let asked = |n| {
            journal.note(&Entry::Request {
                n,
                after: Vec::new().into(),
                method: "GET".into(),
                path: format!("/{n}").into(),
                headers: std::borrow::Cow::Owned(crate::cassette::Headers::new()),
            });
            journal.note(&Entry::Asked { n });
            journal.flush();
        };

        let places = std::cell::RefCell::new(Vec::new());
        let passed = |number: u8| {
            let bytes = std::borrow::Cow::Owned(vec![number; LARGE]);
            let from = crate::cassette::Peer::Client;
            places.borrow_mut().push(journal.note(&Entry::Passed { n: 0, from, bytes }));
            journal.flush();
        };

        asked(0);
        under(Trial::Full, 0, || {
            asked(1);
            passed(0);
            passed(1);
            asked(2);
        });
        passed(2);
        asked(3);
        under(Trial::Full, 0, || passed(3));
        journal.flush();

        let left = {
            let file = BufReader::new(File::open(&journal.path).unwrap());
            recover::recover(file, &journal.path).unwrap()
        };
        let paths = left.cassette.interactions.iter().map(|it| it.request.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["/0", "/1", "/2", "/3"]);
        assert_eq!(told.load(Ordering::Relaxed), 2);
        let text = fs::read(&journal.path).unwrap();
        for (number, place) in places.borrow().iter().enumerate() {
            let [start, end] = [place.behind().start, place.behind().end].map(|at| at as usize);
            assert!(text[start..end] == vec![number as u8; LARGE]);
        }
    }
}
