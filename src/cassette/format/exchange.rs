//! A request and its answer.

use super::Tracer;
use super::body::{self, Parts};
use super::form::Form;
use super::frames;
use super::headers;
use super::reader::Reader;
use super::sidecar::Fetch;
use super::style::Style;
use super::writer::{Spread, Writer};
use crate::cassette::target;
use crate::cassette::{
    Body, End, Headers, Interaction, Interim, Outcome, Progress, Request, Response,
};
use crate::error::Result;

/// The member that says in short what a stream says.
const TRACE: &str = "trace";

/// The member that says where a request went, if not to the first server.
const ORIGIN: &str = "origin";

/// The member that holds what was said before the answer.
const INTERIM: &str = "interim";

/// The member that says when the client left.
const LEFT: &str = "left";

pub(super) fn write(w: &mut Writer, interaction: &Interaction, trace: &Tracer<'_>) {
    w.object(Spread::Broken);
    if !interaction.after.is_empty() {
        w.name("after");
        w.object(Spread::Line);
        let is_next = |one: &Progress, other: &Progress| {
            other.interaction == one.interaction + 1 && other.chunks == one.chunks
        };
        for run in interaction.after.chunk_by(is_next) {
            write_after(w, run);
        }
        w.end('}');
    }
    w.name("request");
    write_request(w, &interaction.request);
    w.name("response");
    match &interaction.outcome {
        Outcome::Response(response) => write_response(w, response, trace),
        Outcome::Nothing(end) => {
            w.object(Spread::Line);
            write_end(w, *end);
        }
    }
    w.end('}');
}

/// So many earlier interactions that are alike are written as one: of hundreds that are under way at once, each would
/// name all before it.
const RUN: usize = 8;

/// How many interactions may still be named by ranges. A range is short, whatever it names: without a limit a small
/// file of a stranger would fill the memory.
#[derive(Debug)]
pub(super) struct Ranges(usize);

impl Default for Ranges {
    /// As many as 1,400 requests at once take, each naming those before it.
    fn default() -> Self {
        Self(1 << 20)
    }
}

impl Ranges {
    /// Takes so many, if they are left.
    fn take(&mut self, count: usize) -> bool {
        let left = self.0.checked_sub(count);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Interactions that follow each other, of whose answers the same number of chunks had been sent.
fn write_after(w: &mut Writer, run: &[Progress]) {
    let number = |progress: &Progress| progress.interaction + 1;
    match run {
        [first, .., last] if run.len() >= RUN && w.ranges.take(run.len()) => {
            w.is_newer = true;
            w.name(&format!("{}-{}", number(first), number(last)));
            w.count(first.chunks);
        }
        _ => run.iter().for_each(|progress| {
            w.name(&number(progress).to_string());
            w.count(progress.chunks);
        }),
    }
}

fn write_request(w: &mut Writer, request: &Request) {
    w.object(Spread::Broken);
    w.text_member("method", &request.method);
    let (origin, path) = target::split(&request.path);
    if !origin.is_empty() {
        w.is_newer = true;
        w.text_member(ORIGIN, origin);
    }
    w.text_member("path", path);
    headers::write(w, "headers", &request.headers);
    body::write(w, &request.headers, &Body::Whole(request.body.clone()));
    w.end('}');
}

fn write_response(w: &mut Writer, response: &Response, trace: &Tracer<'_>) {
    w.object(Spread::Broken);
    w.name("ms");
    w.number(response.ms);
    write_interim(w, &response.interim);
    w.name("status");
    w.number(response.status);
    if let Some(reason) = &response.reason {
        w.text_member("reason", reason);
    }
    headers::write(w, "headers", &response.headers);
    write_trace(w, &trace(response));
    body::write(w, &response.headers, &response.body);
    frames::write(w, &response.frames, &response.body);
    headers::write(w, "trailers", &response.trailers);
    if let Some(left) = response.left {
        w.is_newer = true;
        w.name(LEFT);
        w.number(left);
    }
    write_end(w, response.end);
}

fn write_interim(w: &mut Writer, interim: &[Interim]) {
    if interim.is_empty() {
        return;
    }
    w.is_newer = true;
    w.name(INTERIM);
    w.list(Spread::Broken, interim, |w, Interim { ms, status, headers }| {
        w.object(Spread::Broken);
        w.name("ms");
        w.number(*ms);
        w.name("status");
        w.number(*status);
        headers::write(w, "headers", headers);
        w.end('}');
    });
}

fn write_trace(w: &mut Writer, trace: &[String]) {
    if trace.is_empty() {
        return;
    }
    w.name(TRACE);
    w.list(Spread::Broken, trace, |w, line| w.string(line));
}

fn write_end(w: &mut Writer, end: End) {
    w.text_member("end", end.as_str());
    w.end('}');
}

/// Reads the interaction that has this number.
pub(super) fn read(
    reader: &mut Reader<'_>,
    number: usize,
    fetch: &mut Fetch<'_>,
    ranges: &mut Ranges,
) -> Result<Interaction> {
    let here = reader.clone();
    let mut after = Vec::new();
    let mut request = None;
    let mut outcome = None;
    reader.object(&[&["after", "request", "response"]], |reader, name| {
        match name {
            "after" => after = read_after(reader, number, ranges)?,
            "request" => request = Some(read_request(reader, fetch)?),
            _ => outcome = Some(read_outcome(reader, fetch)?),
        }
        Ok(())
    })?;
    Ok(Interaction {
        after,
        request: request.ok_or_else(|| here.missing("request"))?,
        outcome: outcome.ok_or_else(|| here.missing("response"))?,
    })
}

fn read_after(
    reader: &mut Reader<'_>,
    number: usize,
    ranges: &mut Ranges,
) -> Result<Vec<Progress>> {
    let mut after = Vec::new();
    reader.entries(|reader, name| {
        let (first, last) = name.split_once('-').unwrap_or((&*name, &*name));
        let earlier = |count: &str| count.parse::<usize>().ok()?.checked_sub(1);
        let earlier = earlier(first).zip(earlier(last));
        let Some((first, last)) = earlier.filter(|(first, last)| first <= last && *last < number)
        else {
            return Err(reader.invalid("`after` names something that is no earlier interaction"));
        };
        if first < last && !ranges.take(last - first + 1) {
            return Err(reader
                .invalid("the ranges in `after` name more than a million interactions")
                .with_hint("retape names no more by ranges: somebody else wrote the file"));
        }
        let chunks = reader.count()?;
        after.extend((first..=last).map(|interaction| Progress { interaction, chunks }));
        Ok(())
    })?;
    Ok(after)
}

fn read_request(reader: &mut Reader<'_>, fetch: &mut Fetch<'_>) -> Result<Request> {
    const MEMBERS: &[&str] = &["method", ORIGIN, "path", "headers"];
    let here = reader.clone();
    let (mut method, mut path, mut headers) = (None, None, Headers::new());
    let mut origin = String::new();
    let mut parts = Parts::default();
    reader.object(&[MEMBERS, Parts::SENT, Form::WHOLE], |reader, name| {
        match name {
            "method" => method = Some(reader.string()?.into_owned()),
            ORIGIN => origin = read_origin(reader)?,
            "path" => path = Some(reader.string()?.into_owned()),
            "headers" => headers = headers::read(reader)?,
            _ => parts.member(reader, name)?,
        }
        Ok(())
    })?;
    let body = parts.into_body(&headers, fetch)?.bytes();
    Ok(Request {
        method: method.ok_or_else(|| here.missing("method"))?,
        path: origin + &path.ok_or_else(|| here.missing("path"))?,
        headers,
        body,
    })
}

fn read_origin(reader: &mut Reader<'_>) -> Result<String> {
    let here = reader.clone();
    let origin = reader.string()?.into_owned();
    if target::split(&origin) == (&*origin, "") {
        return Ok(origin);
    }
    let error = here.invalid("`origin` is no address of a server");
    Err(error.with_hint("write it as `https://api.example.com`, and what follows in `path`"))
}

/// The members of an answer, as they were read.
#[derive(Default)]
struct AnswerMembers<'a> {
    ms: Option<u64>,
    interim: Vec<Interim>,
    status: Option<u16>,
    reason: Option<String>,
    headers: Option<Headers>,
    parts: Parts<'a>,
    trailers: Option<Headers>,
    frames: Vec<frames::FrameLine<'a>>,
    left: Option<u64>,
    end: Option<End>,
}

fn read_outcome(reader: &mut Reader<'_>, fetch: &mut Fetch<'_>) -> Result<Outcome> {
    const MEMBERS: &[&str] = &[
        "ms",
        INTERIM,
        "status",
        "reason",
        "headers",
        TRACE,
        frames::MEMBER,
        "trailers",
        LEFT,
        "end",
    ];
    let here = reader.clone();
    let mut answer = AnswerMembers::default();
    reader.object(&[MEMBERS, Parts::MEMBERS, Form::WHOLE], |reader, name| {
        match name {
            "ms" => answer.ms = Some(reader.number()?),
            INTERIM => answer.interim = reader.list(read_interim)?,
            "status" => answer.status = Some(read_status(reader)?),
            "reason" => answer.reason = Some(reader.string()?.into_owned()),
            "headers" => answer.headers = Some(headers::read(reader)?),
            // It only repeats for people what the body says.
            TRACE => drop(reader.list(|reader| reader.string())?),
            "trailers" => answer.trailers = Some(headers::read(reader)?),
            frames::MEMBER => answer.frames = reader.list(frames::FrameLine::read)?,
            LEFT => answer.left = Some(reader.number()?),
            "end" => answer.end = Some(read_end(reader)?),
            _ => answer.parts.member(reader, name)?,
        }
        Ok(())
    })?;
    answer.into_outcome(&here, fetch)
}

impl<'a> AnswerMembers<'a> {
    fn into_outcome(self, here: &Reader<'a>, fetch: &mut Fetch<'_>) -> Result<Outcome> {
        let headers = self.headers.unwrap_or_default();
        let layout = self.parts.layout();
        let body = self.parts.into_body(&headers, fetch)?;
        let usual = if body.is_empty() { layout } else { Style::COMPACT };
        let frames = self.frames.into_iter().map(|line| line.into_frame(usual, fetch));
        let frames = frames.collect::<Result<Vec<_>>>()?;
        let Some(status) = self.status else {
            let nothing =
                self.ms.is_none() && headers.is_empty() && body.is_empty() && frames.is_empty();
            let end = self.end.filter(|_| nothing);
            return end.map(Outcome::Nothing).ok_or_else(|| here.missing("status"));
        };
        Ok(Outcome::Response(Response {
            ms: self.ms.unwrap_or_default(),
            status,
            reason: self.reason,
            headers,
            body,
            interim: self.interim,
            trailers: self.trailers.unwrap_or_default(),
            frames,
            left: self.left,
            end: self.end.unwrap_or_default(),
        }))
    }
}

fn read_interim(reader: &mut Reader<'_>) -> Result<Interim> {
    let here = reader.clone();
    let (mut ms, mut status, mut headers) = (0, None, Headers::new());
    reader.object(&[&["ms", "status", "headers"]], |reader, name| {
        match name {
            "ms" => ms = reader.number()?,
            "status" => status = Some(read_status(reader)?),
            _ => headers = headers::read(reader)?,
        }
        Ok(())
    })?;
    let is_interim = |status: &u16| (102..200).contains(status);
    let status =
        status.filter(is_interim).ok_or_else(|| here.invalid("`status` is not 102 to 199"))?;
    Ok(Interim { ms, status, headers })
}

fn read_status(reader: &mut Reader<'_>) -> Result<u16> {
    let here = reader.clone();
    let status = u16::try_from(reader.number()?).ok().filter(|status| (100..=999).contains(status));
    status.ok_or_else(|| here.invalid("`status` is no status code: 100 to 999"))
}

fn read_end(reader: &mut Reader<'_>) -> Result<End> {
    let here = reader.clone();
    End::from_word(&reader.string()?)
        .ok_or_else(|| here.unknown_word("`end` is none that is known", End::WORDS))
}
