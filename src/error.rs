//! The one error type.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done, where, and what to do next.
///
/// An error means *could not find out*. What a test is meant to find (a miss, a difference) is a
/// value of its own type, except at the end of a [`Session`](crate::Session), whose
/// [`finish`](crate::Session::finish) turns misses into an error so that they cannot be overlooked.
///
/// [`Display`](fmt::Display) gives one lower-case fragment with its place; [`Error::hint`] gives the
/// next step; [`source`](StdError::source) gives what caused it.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    path: Option<PathBuf>,
    line: Option<usize>,
    interaction: Option<usize>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What went wrong, where somebody asks for it or several say the same; the place and the hint are data beside it.
pub(crate) enum Kind {
    /// Anything else, in words.
    Said(Cow<'static, str>),
    /// The system refused something: what, as in `read file`.
    Io(&'static str),
    /// The file is not JSON of the expected form.
    Syntax,
    /// The file is of a format version that this release does not know.
    NewerVersion { found: u64, known: u64 },
    /// Something the format requires is missing or contradicts itself: what.
    Invalid(&'static str),
    /// A member of the file is not known to this release.
    UnknownMember { name: String },
    /// Something is of another type than it must be.
    WrongType { expected: &'static str, found: &'static str },
    /// A body kept beside the cassette is missing or is not the one that was stored.
    MissingBody { hash: String },
    /// The text is not a cassette name: why.
    Name { name: String, why: &'static str },
    /// There is no cassette of that name.
    NoCassette { name: String },
    /// A redaction rule of the file is not known to this release.
    UnknownRule { rule: String },
    /// A key of `retape.toml` is not known to this release.
    UnknownKey { name: String },
    /// `retape.toml` is not as it must be: how.
    Config(&'static str),
    /// There is neither a cassette nor a contract to check.
    NothingToCheck,
    /// A contract is not as it must be: how.
    Contract { why: &'static str },
    /// An approval is not as it must be: how.
    Approval { why: &'static str },
    /// A revision cannot be read through git.
    Revision,
    /// The text is no recording of another tool: why.
    #[cfg(feature = "import")]
    Foreign(&'static str),
    /// The text is of no tool whose recordings can be imported.
    #[cfg(feature = "import")]
    UnknownFormat,
    /// The text is no OpenAPI document: why.
    Document(&'static str),
    /// Recording needs an address to record from.
    NoUpstream,
    /// Somebody else's journal stands where this one would.
    ForeignJournal,
    /// Requests had no recorded answer.
    Missed { count: usize },
    /// The server that was recorded did not answer a single request, or nothing but errors where it had answered.
    Unanswered { is_all: bool },
    /// No request reached retape.
    Unused,
    /// Recorded interactions were not asked for.
    Unplayed { count: usize },
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            path: None,
            line: None,
            interaction: None,
            hint: None,
            source: None,
        }))
    }

    /// What went wrong, in words.
    pub(crate) fn said(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Said(what.into()))
    }

    /// What somebody has written cannot be: `why` goes on behind it.
    pub(crate) fn rule(text: &str, why: &'static str) -> Self {
        Self::said(format!("`{text}` {why}"))
    }

    /// A setting has a value that it cannot have.
    pub(crate) fn setting(name: &'static str, value: impl fmt::Display, expected: &str) -> Self {
        Self::said(format!("`{name}` is `{value}`, which is not one of {expected}"))
    }

    /// The hint is what to do about a fault of this machine, if it is one.
    pub(crate) fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::machine(what, source).at(path)
    }

    /// The same of what has no path.
    pub(crate) fn machine(what: &'static str, source: std::io::Error) -> Self {
        let hint = match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Some("free some space, then try again")
            }
            ErrorKind::InvalidData => {
                Some("it is damaged: restore it, or remove it and have it made anew")
            }
            ErrorKind::InvalidInput => Some("put a plain file in its place, or remove it"),
            _ if is_out_of_files(&source) => {
                Some("allow more open files (`ulimit -n 4096`), then try again")
            }
            _ if is_loop(&source) => Some("put a plain file in its place, or remove it"),
            _ => None,
        };
        let error = Self::new(Kind::Io(what)).because(source);
        hint.into_iter().fold(error, Self::with_hint)
    }

    /// What is asked for is in a feature that this build does not have.
    pub(crate) fn not_built(feature: &'static str) -> Self {
        Self::said(format!("retape was built without the feature `{feature}`")).with_hint(format!(
            "add it in Cargo.toml: `retape = {{ …, features = [\"{feature}\"] }}`, or replay what is recorded: `RETAPE_MODE=replay`"
        ))
    }

    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }

    /// Names the file unless a more exact place is known already.
    pub(crate) fn at_file(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    pub(crate) fn on_line(mut self, line: usize) -> Self {
        self.0.line = Some(line);
        self
    }

    pub(crate) fn in_interaction(mut self, number: usize) -> Self {
        self.0.interaction = Some(number);
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The hint where there is none yet.
    pub(crate) fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What to do next, as a sentence or a command; to be shown after `hint: `.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The file concerned, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line of the file, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The interaction concerned, counted from 0; texts for people count from 1.
    pub fn interaction(&self) -> Option<usize> {
        self.0.interaction
    }

    /// What went wrong and what caused it, without the place.
    pub(crate) fn why(&self) -> String {
        let number = self.0.interaction.map(|number| format!(" in interaction {}", number + 1));
        let mut why = format!("{}{}", self.0.kind, number.unwrap_or_default());
        let mut source = self.source();
        while let Some(cause) = source {
            why.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        why
    }

    /// Whether requests had no recorded answer.
    pub fn is_miss(&self) -> bool {
        matches!(self.0.kind, Kind::Missed { .. })
    }

    /// Whether the server that was recorded did not answer a single request, or nothing but errors where it had answered
    /// when it was recorded before.
    pub fn is_unanswered(&self) -> bool {
        matches!(self.0.kind, Kind::Unanswered { .. })
    }

    /// Whether no request reached retape.
    pub fn is_unused(&self) -> bool {
        matches!(self.0.kind, Kind::Unused)
    }

    /// Whether recorded interactions were left unplayed where all were asked for.
    pub fn is_unplayed(&self) -> bool {
        matches!(self.0.kind, Kind::Unplayed { .. })
    }

    /// Whether the file was written by a newer release.
    pub fn is_newer_version(&self) -> bool {
        matches!(self.0.kind, Kind::NewerVersion { .. } | Kind::UnknownRule { .. })
    }

    /// Whether something is no name of a cassette.
    pub(crate) fn is_no_name(&self) -> bool {
        matches!(self.0.kind, Kind::Name { .. })
    }

    /// Whether a file is of no tool whose recordings can be imported.
    #[cfg(feature = "cli")]
    pub(crate) fn is_unknown_format(&self) -> bool {
        matches!(self.0.kind, Kind::UnknownFormat)
    }

    /// Whether there is no cassette of that name.
    pub fn is_no_cassette(&self) -> bool {
        matches!(self.0.kind, Kind::NoCassette { .. })
    }
}

/// Whether this process, or this machine, may open no more files and connections: `EMFILE` and `ENFILE`, which
/// have no kind of their own.
pub(crate) fn is_out_of_files(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(24 | 23))
}

/// Whether a link leads back to itself: ELOOP, of Linux and of macOS.
fn is_loop(error: &std::io::Error) -> bool {
    let number = if cfg!(target_os = "linux") { 40 } else { 62 };
    cfg!(unix) && error.raw_os_error() == Some(number)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        match (&self.0.path, self.0.line) {
            (Some(path), Some(line)) => write!(f, " (`{}`, line {line})", path.display())?,
            (Some(path), None) => write!(f, " (`{}`)", path.display())?,
            (None, Some(line)) => write!(f, " (line {line})")?,
            (None, None) => {}
        }
        if let Some(number) = self.0.interaction {
            write!(f, " in interaction {}", number + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(what) => f.write_str(what),
            Self::Io(what) => write!(f, "cannot {what}"),
            Self::Syntax => f.write_str("not a cassette"),
            Self::NewerVersion { found, known } => {
                let than = format_args!("than this release, which reads up to {known}");
                write!(f, "cassette format {found} is newer {than}")
            }
            Self::Invalid(what) => write!(f, "not a valid cassette: {what}"),
            Self::UnknownMember { name } => write!(f, "unknown member `{name}`"),
            Self::WrongType { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Self::MissingBody { hash } => write!(f, "body `{hash}` is missing or has been changed"),
            Self::Name { name, why } => write!(f, "`{name}` is not a cassette name: {why}"),
            Self::NoCassette { name } => write!(f, "no cassette `{name}`"),
            Self::UnknownRule { rule } => {
                write!(f, "redaction rule `{rule}` is not known to this release")
            }
            Self::UnknownKey { name } => write!(f, "unknown key `{name}`"),
            Self::Config(what) => write!(f, "not a valid configuration: {what}"),
            Self::NothingToCheck => f.write_str("no cassette and no contract to check"),
            Self::Contract { why } => write!(f, "not a valid contract: {why}"),
            Self::Approval { why } => write!(f, "not a valid approval: {why}"),
            Self::Revision => f.write_str("cannot read the revision"),
            Self::Document(why) => write!(f, "not an OpenAPI document that can be read: {why}"),
            #[cfg(feature = "import")]
            Self::Foreign(why) => write!(f, "not a recording that can be imported: {why}"),
            #[cfg(feature = "import")]
            Self::UnknownFormat => f.write_str("not a recording of a tool that is known"),
            Self::NoUpstream => f.write_str("recording needs the address of a live server"),
            Self::ForeignJournal => f.write_str(FOREIGN_JOURNAL),
            Self::Missed { count } => counted(f, *count, REQUESTS, "no recorded answer"),
            Self::Unanswered { is_all } => f.write_str(UNANSWERED[usize::from(*is_all)]),
            Self::Unused => f.write_str("no request reached retape"),
            Self::Unplayed { count } => counted(f, *count, UNPLAYED, "not played"),
        }
    }
}

const UNANSWERED: [&str; 2] =
    ["a server failed that had answered before", "the server did not answer a single request"];

const REQUESTS: [&str; 2] = ["request has", "requests have"];
const UNPLAYED: [&str; 2] = ["recorded interaction was", "recorded interactions were"];

const FOREIGN_JOURNAL: &str = "a killed recorder of another release left this journal";

fn counted(
    f: &mut fmt::Formatter<'_>,
    count: usize,
    [one, many]: [&str; 2],
    what: &str,
) -> fmt::Result {
    write!(f, "{count} {} {what}", if count == 1 { one } else { many })
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap()` in a test prints `Debug`: the whole story, readable.
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        match &self.0.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
