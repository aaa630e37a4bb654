//! `retape new`.

use clap::Args;

use super::arguments::{Folder, absolute};
use super::{Exit, tell};
use crate::cassette::{Cassette, Interaction, Name, Request, Response};
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::store::{self, from_here};

/// Write a cassette to be filled in by hand
///
/// It has one request and its answer. schemas/cassette.schema.json of retape tells editors what may
/// stand in it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  retape new shop/empty-cart")]
pub(super) struct New {
    /// The cassette: a name below the folder of cassettes, or the path of a file
    #[arg(value_name = "CASSETTE")]
    cassette: String,

    #[command(flatten)]
    folder: Folder,
}

impl New {
    pub(super) fn run(self) -> Result<Exit> {
        let (folder, name) = self.folder.place(&self.cassette);
        let (folder, name) = (absolute(&folder), Name::new(name)?);
        if store::exists(&folder, &name) {
            return Err(Error::said(format!("there is a cassette `{name}`"))
                .with_hint("choose another name, or remove it first"));
        }
        let cassette = Redactor::standard().cassette(stub());
        let path = store::save(&folder, &name, &cassette)?;
        let path = from_here(&path).display();
        tell::line(&format!("wrote {path}: fill in what is asked and answered"));
        Ok(Exit::Agrees)
    }
}

fn stub() -> Cassette {
    let response = Response::whole("application/json", r#"{"answered":true}"#);
    let (headers, body) = (response.headers.clone(), r#"{"asked":true}"#.into());
    let request = Request { headers, body, ..Request::of("POST", "/v1/path") };
    let interactions = vec![Interaction::of(request, response)];
    Cassette { interactions, ..Cassette::default() }
}
