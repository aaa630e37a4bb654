//! Redacting a body while it arrives.

use std::borrow::Cow;

use super::rule::{Notes, Rule, Side};
use super::scan::{Input, Scanner, URL_MARK};
use super::searcher::Searcher;
use super::{Redactor, Secrets, apply, look, own, value};
use crate::cassette::splice::{Edit, in_order, splice};

/// So many bytes before the ones that are looked at are kept: a name stands there.
const CONTEXT: usize = 8 * 1024;

/// The longest line that is waited for.
const LONGEST_LINE: usize = 8 * 1024;

/// So many bytes are looked at at a time: a secret in one place makes no other place slow.
const PART: usize = 1024;

/// So many bytes are read where something can be read among bytes that are no text.
const READ: usize = 128;

/// A name, a mark and a value, or a value that is known, are at least so many bytes of text in a row.
const RUN: usize = value::SHORTEST;

/// Redacts a body that comes in pieces, for a journal that is written while they arrive.
///
/// What comes out is written at once. Held back is only what cannot be decided yet: a value that has
/// begun behind a telling name, a URL, and bytes with which a known secret begins. However the body
/// is cut up, the pieces put together are the same, and no piece holds a part of a secret.
///
/// # Limits
///
/// It sees the bytes as they go over the wire, so it is of no use for a compressed body: keep such
/// a body out of the journal until it is complete, and redact it then.
#[derive(Debug)]
pub struct Live {
    redactor: Redactor,
    side: Side,
    secrets: Secrets,
    /// The beginning of a line, if expressions of a person's own look at lines.
    line: Vec<u8>,
    /// Bytes that may be the beginning of a known secret.
    held: Vec<u8>,
    /// What was read and may be needed still, known secrets replaced.
    text: Vec<u8>,
    /// How much of it was given out.
    written: usize,
    scanner: Scanner,
    /// Edits that are decided and not given out.
    edits: Vec<Edit>,
    /// Whether what comes in the place of a secret is as long.
    fits: bool,
    /// Whether something was replaced.
    has_replaced: bool,
    /// Whether what was found is searched for at once.
    learns: bool,
    /// How many bytes have come since what told last that a secret may stand behind it.
    since: usize,
}

impl Live {
    /// Begins a body, with the secrets that are known from what came before it.
    pub fn new(redactor: &Redactor, secrets: Secrets) -> Self {
        Self {
            redactor: redactor.clone(),
            side: Side::Response,
            secrets,
            line: Vec::new(),
            held: Vec::new(),
            text: Vec::new(),
            written: 0,
            scanner: Scanner::default(),
            edits: Vec::new(),
            fits: false,
            has_replaced: false,
            learns: true,
            since: usize::MAX,
        }
    }

    /// The same for the body of an answer with that status.
    pub(crate) fn answering(self, status: u16) -> Self {
        Self { side: Side::of(status), ..self }
    }

    /// The same for bytes that are no text, where something else says how long what is replaced is.
    pub(crate) fn fitting(self) -> Self {
        Self { fits: true, ..self }
    }

    /// Takes the next piece and gives what can be written: most often the piece itself.
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if !self.redactor.own.has_finders() {
            return self.push_found(bytes);
        }
        self.line.extend_from_slice(bytes);
        let whole = memchr::memrchr(b'\n', &self.line).map_or(0, |end| end + 1);
        let end = if self.line.len() - whole > LONGEST_LINE { self.line.len() } else { whole };
        self.push_lines(end).into()
    }

    /// Takes the first bytes of what waits for the end of its line.
    fn push_lines(&mut self, end: usize) -> Vec<u8> {
        let rest = self.line.split_off(end);
        let lines = std::mem::replace(&mut self.line, rest);
        let redactor = &self.redactor;
        let mut notes = Notes { redactor, side: self.side, secrets: &mut self.secrets };
        let edits = in_order(own::find(&lines, &mut notes));
        self.has_replaced |= !edits.is_empty();
        self.push_found(&splice(&lines, &edits)).into_owned()
    }

    fn push_found<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let mut out = Output { came: bytes, same: 0, other: None };
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.is_idle() {
                let passed = rest.split_off(..noise(rest)).unwrap_or_default();
                self.pass(passed);
                out.extend(passed);
                if rest.is_empty() {
                    break;
                }
            }
            // What a part ends in is judged with what follows it.
            let part = &rest[..PART.min(rest.len())];
            let length = if is_text(part) { PART } else { READ };
            let read = rest.split_off(..length.min(part.len())).unwrap_or_default();
            self.read(read, &mut out);
        }
        out.into_bytes()
    }

    /// Whether nothing has begun that the next bytes may end.
    fn is_idle(&self) -> bool {
        self.held.is_empty() && self.scanner.is_idle(self.text.len())
    }

    /// Takes what holds nothing, where nothing has begun.
    fn pass(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(CONTEXT)..];
        if kept.len() < bytes.len() {
            self.scanner.forget(self.text.len());
            self.text.clear();
        }
        self.text.extend_from_slice(kept);
        self.written = self.text.len();
        self.scanner.pass(self.written);
        self.forget();
    }

    fn read(&mut self, bytes: &[u8], out: &mut Output<'_>) {
        let is_undecided = !self.held.is_empty();
        if !self.may_tell(bytes) {
            let taken = if is_undecided { self.take(bytes) } else { self.take_plain(bytes) };
            return out.extend(&taken);
        }
        if let Some(taken) = self.take_at_once(bytes) {
            return out.extend(&taken);
        }
        // A secret is known to what stands behind it only once its end was read.
        let ends = |byte: &u8| byte.is_ascii_whitespace() || br#"'"`\@,;&|<>(){}"#.contains(byte);
        bytes.split_inclusive(ends).for_each(|part| out.extend(&self.take(part)));
    }

    /// Takes bytes in which no secret is that was not known before; else nothing.
    fn take_at_once(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (held, text, edits) = (self.held.clone(), self.text.clone(), self.edits.clone());
        let (scanner, written) = (self.scanner.clone(), self.written);
        let count = self.secrets.len();
        self.learns = false;
        let out = self.take(bytes);
        self.learns = true;
        if self.secrets.len() == count {
            return Some(out);
        }
        self.secrets.truncate(count);
        (self.held, self.text, self.edits) = (held, text, edits);
        (self.scanner, self.written) = (scanner, written);
        None
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let found = self.by_look(Input::More);
        self.replace_known(Input::More, found);
        self.scan(Input::More)
    }

    /// Takes bytes in which nothing tells of a secret, behind nothing that is held: they are not searched for
    /// one again.
    fn take_plain(&mut self, bytes: &[u8]) -> Vec<u8> {
        let is_idle = self.scanner.is_idle(self.text.len());
        self.held.extend_from_slice(bytes);
        let decided = self.decided_by_look();
        self.replace_known(Input::More, (Vec::new(), decided));
        if is_idle {
            // A URL may have begun at the end.
            self.scanner.pass(self.text.len().saturating_sub(URL_MARK - 1));
        }
        self.scan(Input::More)
    }

    /// Whether a secret may be found in these bytes: something telling is in them or just before.
    fn may_tell(&mut self, bytes: &[u8]) -> bool {
        const BEFORE: usize = 256;
        let before = &self.text[self.text.len().saturating_sub(BEFORE)..];
        let text = [before, &self.held, bytes].concat();
        // What came before was looked at when it came, but for what had only begun.
        let new = text.len() - bytes.len();
        let begun = new.saturating_sub(look::longest());
        let looks = || self.redactor.applies(Rule::Looks) && look::may_tell(&text[begun..]);
        self.since = match self.redactor.last_mark(&text, new.saturating_sub(URL_MARK - 1)) {
            Some(mark) => text.len() - mark,
            None if looks() => text.len() - begun,
            None => self.since.saturating_add(bytes.len()),
        };
        self.since <= text.len() || self.redactor.own.may_tell(&text)
    }

    /// Gives what was held back. A value without an end is taken for a secret.
    pub fn finish(self) -> (Vec<u8>, Secrets) {
        let (out, secrets, _) = self.end();
        (out, secrets)
    }

    /// The same, and whether something was replaced in all of it.
    pub(crate) fn end(mut self) -> (Vec<u8>, Secrets, bool) {
        let mut out = self.push_lines(self.line.len());
        let found = self.by_look(Input::Done);
        self.replace_known(Input::Done, found);
        out.extend(self.scan(Input::Done));
        (out, self.secrets, self.has_replaced)
    }

    /// Moves what was held to the text, with what was found and known secrets replaced, as far as it is
    /// decided.
    fn replace_known(&mut self, input: Input, (found, decided): (Vec<Edit>, usize)) {
        self.learn();
        let nothing = Searcher::default();
        let searcher =
            if self.redactor.applies(Rule::Values) { &self.secrets.searcher } else { &nothing };
        let (edits, end) = match input {
            Input::Done => (searcher.edits_of_body(&self.held), self.held.len()),
            Input::More => searcher.decided_edits(&self.held),
        };
        // What overlaps what is not decided yet is looked at again.
        let mut end = end.min(decided);
        let edits = edits.into_iter().chain(found);
        let edits = in_order(edits.map(|edit| fitted(edit, self.fits)).collect());
        if let Some(cut) = edits.iter().find(|it| it.range.start < end && end < it.range.end) {
            end = cut.range.start;
        }
        let within: Vec<Edit> = edits.into_iter().take_while(|it| it.range.end <= end).collect();
        let rest = self.held.split_off(end);
        self.has_replaced |= !within.is_empty();
        self.text.extend(splice(&self.held, &within));
        self.held = rest;
    }

    /// What was held, and before it where a word may have begun, with where it begins.
    fn held_behind(&self) -> (Vec<u8>, usize) {
        const BEFORE: usize = 8;
        let before = &self.text[self.text.len().saturating_sub(BEFORE)..];
        ([before, &self.held].concat(), before.len())
    }

    /// Up to where it is decided what is known by its look, if no word of a rule stands there.
    fn decided_by_look(&self) -> usize {
        if !self.redactor.applies(Rule::Looks) {
            return self.held.len();
        }
        let (text, offset) = self.held_behind();
        look::begun(&text).saturating_sub(offset)
    }

    /// What is known by its look, and up to where it is decided.
    fn by_look(&mut self, input: Input) -> (Vec<Edit>, usize) {
        if !self.redactor.applies(Rule::Looks) {
            return (Vec::new(), self.held.len());
        }
        let (text, offset) = self.held_behind();
        let redactor = &self.redactor;
        let mut notes = Notes { redactor, side: self.side, secrets: &mut self.secrets };
        let (edits, end) = match input {
            Input::Done => (look::find(&text, &mut notes), text.len()),
            Input::More => look::decided(&text, &mut notes),
        };
        let local = edits.into_iter().filter(|edit| edit.range.end > offset).map(|edit| Edit {
            range: edit.range.start.saturating_sub(offset)..edit.range.end - offset,
            with: edit.with,
        });
        (local.collect(), end.saturating_sub(offset))
    }

    /// Searches for what was found from now on.
    fn learn(&mut self) {
        if self.learns && self.redactor.applies(Rule::Values) {
            self.secrets.learn();
        }
    }

    fn scan(&mut self, input: Input) -> Vec<u8> {
        let redactor = &self.redactor;
        let mut notes = Notes { redactor, side: self.side, secrets: &mut self.secrets };
        self.edits.extend(self.scanner.run(&self.text, input, &mut notes));
        self.learn();
        let decided = self.scanner.decided(self.text.len());
        let edits = in_order(std::mem::take(&mut self.edits));
        let local = edits.into_iter().map(|edit| {
            let range = edit.range.start - self.written..edit.range.end - self.written;
            fitted(Edit { range, ..edit }, self.fits)
        });
        let local: Vec<Edit> = local.collect();
        self.has_replaced |= !local.is_empty();
        let out = splice(&self.text[self.written..decided], &local);
        self.written = decided;
        self.forget();
        out
    }

    fn forget(&mut self) {
        let needed = self.scanner.needs(self.text.len()).min(self.written);
        let count = needed.saturating_sub(CONTEXT);
        // Moving the rest for a few bytes would cost more than it frees.
        if count > CONTEXT {
            self.text.drain(..count);
            self.written -= count;
            self.scanner.forget(count);
        }
    }
}

fn fitted(edit: Edit, fits: bool) -> Edit {
    if fits { apply::fit(edit) } else { edit }
}

/// What is given out of a piece: the piece itself, as far as that is the same.
struct Output<'b> {
    came: &'b [u8],
    same: usize,
    /// All of it, if it is something else.
    other: Option<Vec<u8>>,
}

impl<'b> Output<'b> {
    fn extend(&mut self, bytes: &[u8]) {
        let (same, rest) = self.came.split_at(self.same);
        match &mut self.other {
            Some(other) => other.extend_from_slice(bytes),
            None if rest.starts_with(bytes) => self.same += bytes.len(),
            None => {
                let mut other = Vec::with_capacity(self.came.len().max(same.len() + bytes.len()));
                other.extend_from_slice(same);
                other.extend_from_slice(bytes);
                self.other = Some(other);
            }
        }
    }

    fn into_bytes(self) -> Cow<'b, [u8]> {
        self.other.map_or(Cow::Borrowed(&self.came[..self.same]), Cow::Owned)
    }
}

/// Whether bytes may be a piece of a text: UTF-8 that may begin and end within a letter.
fn is_text(bytes: &[u8]) -> bool {
    let within = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    match str::from_utf8(&bytes[within..]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// How many bytes come before what may be text: before the first part that is, or [`RUN`] in another part.
fn noise(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let part = &bytes[at..bytes.len().min(at + PART)];
        let passed = if is_text(part) { 0 } else { noise_of(part) };
        at += passed;
        if passed == 0 {
            return at;
        }
    }
}

/// How many bytes come before the first [`RUN`] of text, or before what may be the beginning of one.
fn noise_of(bytes: &[u8]) -> usize {
    let is_read = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let mut at = 0;
    while let Some(run) = bytes.get(at..at + RUN)
        && let Some(other) = run.iter().rposition(|byte| !is_read(byte))
    {
        at += other + 1;
        at += beyond_ascii(&bytes[at..]);
    }
    at
}

/// How many bytes end in the last that is no ASCII, of those of which each four have one: no [`RUN`] is among them.
/// To look at four at a time is several times as fast, as the processor can foresee what comes of it.
fn beyond_ascii(bytes: &[u8]) -> usize {
    const { assert!(RUN > 2 * (4 - 1)) };
    let has_other = |four: &&[u8; 4]| u32::from_ne_bytes(**four) & 0x8080_8080 != 0;
    let fours = bytes.as_chunks::<4>().0.iter().take_while(has_other).count();
    bytes[..4 * fours].iter().rposition(|byte| !byte.is_ascii()).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_passed_over_up_to_the_first_run_of_text() {
        let noise_of_length = |length: u32| -> Vec<u8> {
            (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 0x80).collect()
        };
        for before in 1..40 {
            for run in 1..12 {
                for behind in [0, 1, 3, 4, 30] {
                    let mut bytes = noise_of_length(before);
                    bytes.extend(vec![b'a'; run]);
                    bytes.extend(noise_of_length(behind));
                    let passed = noise_of(&bytes);

                    let begins = before as usize;
                    assert!(run < RUN || passed == begins, "{before} {run} {behind}: {passed}");
                    assert!(
                        passed >= begins || bytes.len() - passed < RUN,
                        "{before} {run} {behind}"
                    );
                    assert!(passed == 0 || bytes[passed - 1] != b'a' || passed == bytes.len());
                }
            }
        }
    }
}
