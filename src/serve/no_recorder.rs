//! In the place of the recorder, in a build without it. Whoever wants to record is told which feature it
//! takes, before anything is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;

use super::server::{Answer, ServerPlace, no_answer};
use crate::cassette::{Cassette, End, Name};
use crate::compare::alignment::Called;
use crate::config::Rules;
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::store::{Alarm, Recovered};

pub use super::recording::{Change, Course, Kept, Origins, Patience, Recording, Saved, Wording};

/// A live server that is named, and never asked.
#[derive(Debug, Clone)]
pub struct Upstream(String);

/// Nothing is recorded.
#[derive(Debug)]
pub enum Tape {}

/// Passes nothing on.
#[derive(Debug, Clone)]
pub struct Recorder;

/// The body of a request.
#[derive(Debug)]
pub enum RequestBody {
    /// Still arriving.
    Arriving(Incoming),
    /// Read already.
    Whole(Bytes),
    /// A WebSocket.
    Upgrade(hyper::upgrade::OnUpgrade),
}

impl Upstream {
    pub fn new(address: &str) -> Result<Self> {
        Ok(Self(address.to_owned()))
    }

    pub fn check_built(&self) -> Result<()> {
        Err(Error::not_built("record"))
    }

    pub fn origin(&self) -> &str {
        &self.0
    }

    pub fn address(&self) -> std::borrow::Cow<'_, str> {
        self.origin().into()
    }
}

impl Tape {
    pub fn begin(
        _: &Path,
        _: &Name,
        _: Origins,
        _: Wording,
        _: Redactor,
        _: Alarm,
    ) -> Result<(Self, Option<(Recovered, PathBuf)>)> {
        Err(Error::not_built("record"))
    }

    pub fn tell(&mut self, _: Rules, _: bool) {}

    pub async fn settle(&self, _: Duration) {}

    pub fn finish(&self, _: Option<&Cassette>, _: Course) -> Result<Recording> {
        match *self {}
    }

    pub fn called(&self) -> Vec<Called> {
        match *self {}
    }

    pub fn give(&self, _: &[Called]) {
        match *self {}
    }

    pub fn told(&self) -> Result<Vec<usize>> {
        match *self {}
    }

    pub fn change(&self, _: usize, _: Change) {
        match *self {}
    }

    pub fn discard(&self) -> Result<()> {
        match *self {}
    }

    pub fn so_far(&self) -> Result<Cassette> {
        match *self {}
    }

    pub fn has_heard(&self, _: &str) -> bool {
        match *self {}
    }
}

impl Recorder {
    pub fn new(
        _: Arc<Upstream>,
        _: Patience,
        _: Option<Arc<Tape>>,
        _: &str,
        _: Arc<BTreeMap<String, String>>,
    ) -> Self {
        Self
    }

    pub async fn forward(
        &self,
        _: &http::request::Parts,
        _: &str,
        _: RequestBody,
        _: ServerPlace<'_>,
    ) -> Answer {
        no_answer(End::Unreachable, "retape was built without the feature `record`")
    }
}
