//! The end of the demo: the file, how to go on, and the verdict.

use super::acts::{Taken, dim};
use super::folder::{CASSETTE, Folder};
use super::stage;
use crate::cli::Exit;
use crate::cli::tell::{self, BOLD, GREEN, PLAIN, RED};
use crate::report::{self, Colour, Detail, ShowOptions};

/// Shows the beginning of the file, and the commands to go on with.
pub(super) fn tell(folder: &Folder, taken: &Taken) {
    let file = quoted(&folder.file().to_string_lossy());
    let retape = quoted(&std::env::args().next().unwrap_or_else(|| "retape".to_owned()));
    tell::data(&format!("\n{BOLD}What {retape} show {file} prints{PLAIN}\n"));
    excerpt(taken);
    tell::data(&format!("\n{BOLD}Go on{PLAIN}\n"));
    let agent = &taken.seen.agent;
    for (command, what) in [
        (format!("{retape} show --bodies {file}"), "every event with its time"),
        (format!("{retape} replay {file}"), "a server for any client, until Ctrl-C"),
        (
            format!(
                "{retape} replay {file} -- \\\n{}  curl -sH 'authorization: x' {{url}}/v1/agents/{agent}/messages",
                stage::INDENT
            ),
            "",
        ),
        (format!("{retape} record --upstream URL NAME -- COMMAND"), "your own server and tests"),
    ] {
        let _ = what;
        stage::row(&format!("{command}  {}", dim(what)));
    }
}

/// The verdict, and whatever it is founded on if it is not good.
pub(super) fn judge(taken: Option<&Taken>, findings: &[String]) -> Exit {
    for finding in findings {
        tell::data(&format!("\n{RED}✗{PLAIN} {finding}\n"));
    }
    match (taken, findings) {
        (Some(taken), []) => {
            let seen = &taken.seen;
            tell::data(&format!(
                "\n{GREEN}✓ the same conversation without the server: {} answers, {} events, {} bytes{PLAIN}\n",
                seen.heard.len(),
                seen.events(),
                seen.bytes()
            ));
            Exit::Agrees
        }
        _ => {
            tell::data(&format!("\n{RED}✗ the demo did not go as it should{PLAIN}\n"));
            Exit::Findings
        }
    }
}

fn excerpt(taken: &Taken) {
    let options = ShowOptions {
        width: stage::WIDTH - stage::INDENT.len() - 2,
        colour: Colour::Ansi,
        detail: Detail::Summary,
    };
    let shown = report::show(CASSETTE, &taken.cassette, options);
    stage::quote(shown.lines());
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
