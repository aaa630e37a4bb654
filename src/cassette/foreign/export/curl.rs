//! A line for each request.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{LossCounts, address, is_redacted, lose};
use crate::cassette::{Cassette, Interaction, Name, text};
use crate::text::shell::quoted;

pub(super) fn write(cassettes: &[(Name, Cassette)], lost: &mut LossCounts) -> String {
    let mut lines = String::new();
    for (name, cassette) in cassettes {
        let _ = writeln!(lines, "# {name}");
        for interaction in &cassette.interactions {
            if interaction.is_socket() {
                lose(lost, "WebSockets");
                continue;
            }
            if is_redacted(&interaction.request) {
                lose(lost, "secrets: put yours in the place of `[redacted:…]` (requests)");
            }
            let _ = writeln!(lines, "{}", line(cassette, interaction));
        }
    }
    lines
}

/// What curl says of itself: the length, the host, and what it can decompress.
const OF_CURL: [&str; 3] = ["content-length", "host", "accept-encoding"];

fn line(cassette: &Cassette, interaction: &Interaction) -> String {
    let request = &interaction.request;
    let mut line = String::new();
    // A shell has no way to write these bytes.
    let plain = std::str::from_utf8(&request.body).ok().filter(|body| !body.contains('\0'));
    if plain.is_none() {
        let _ = write!(line, "echo {} | base64 -d | ", STANDARD.encode(&request.body));
    }
    line.push_str("curl -sS --globoff --path-as-is");
    if cassette.recorded.h2c {
        line.push_str(" --http2-prior-knowledge");
    }
    match request.method.as_str() {
        "GET" if request.body.is_empty() => {}
        "HEAD" => line.push_str(" --head"),
        method => {
            let _ = write!(line, " -X {}", quoted(method));
        }
    }
    let _ = write!(line, " {}", quoted(&address(cassette, request)));
    for (name, value) in request.headers.iter().filter(|(name, _)| !OF_CURL.contains(name)) {
        // Without a value curl takes the field away.
        let field = match text(value) {
            value if value.is_empty() => format!("{name};"),
            value => format!("{name}: {value}"),
        };
        let _ = write!(line, " -H {}", quoted(&field));
    }
    if request.headers.contains("accept-encoding") {
        line.push_str(" --compressed");
    }
    if !request.body.is_empty() {
        if !request.headers.contains("content-type") {
            line.push_str(" -H content-type:");
        }
        match plain {
            Some(body) => drop(write!(line, " --data-raw {}", quoted(body))),
            None => line.push_str(" --data-binary @-"),
        }
    }
    line
}
