//! The end of the demo: the file, how to go on, and the verdict.

use std::env;

use super::acts::Taken;
use super::folder::{CASSETTE, Folder};
use super::stage;
use crate::cli::Exit;
use crate::review::report::{self, Colour, Detail, ShowOptions};

/// How many interactions of the file are shown.
const SHOWN: usize = 3;

/// Shows the beginning of the file, and the commands to go on with.
pub(super) fn show(folder: &Folder, taken: &Taken) {
    let file = shell_word(&folder.file().to_string_lossy());
    // As it was called, so that the commands work where it is not on the PATH.
    let retape = shell_word(&env::args().next().unwrap_or_else(|| "retape".to_owned()));
    stage::heading("The file");
    excerpt(taken);
    stage::heading("Go on");
    stage::command(
        "all of it, every event with its time",
        &format!("{retape} show --bodies {file}"),
    );
    stage::command(
        "the file as a server, for this command or, without one, for any client until Ctrl-C",
        &format!(
            "{retape} replay {file} -- \\\n     curl -s {{url}}/v1/agents/{}/messages",
            taken.seen.agent
        ),
    );
    stage::command(
        "your own server and your own tests",
        &format!("{retape} record --upstream http://HOST:PORT my/first -- COMMAND"),
    );
}

/// The verdict, and what it is founded on if it is not good.
pub(super) fn judge(taken: Option<&Taken>, findings: &[String]) -> Exit {
    match (taken, findings) {
        (Some(Taken { seen, .. }), []) => {
            stage::passed(&format!(
                "the same conversation with no server: {} answers, {} stream events, {} bytes",
                seen.heard.len(),
                seen.events(),
                seen.bytes()
            ));
            Exit::Agrees
        }
        _ => {
            findings.iter().for_each(|finding| stage::failed(finding));
            stage::failed("this is not how the demo is meant to end");
            Exit::Findings
        }
    }
}

fn excerpt(taken: &Taken) {
    let options = ShowOptions {
        width: stage::WIDTH - stage::QUOTE,
        colour: Colour::Ansi,
        detail: Detail::Summary,
    };
    let all = report::show(CASSETTE, &taken.cassette, options);
    let blocks: Vec<&str> = all.split("\n\n").take(SHOWN + 1).collect();
    let shown = blocks.join("\n\n");
    let left = all.lines().count() - shown.lines().count();
    stage::quote(shown.lines().map(str::to_owned).chain([format!("… and {left} lines more")]));
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_it() {
        assert_eq!(shell_word("target/debug/retape"), "target/debug/retape");
        assert_eq!(shell_word("my demo/it's.json"), r"'my demo/it'\''s.json'");
        assert_eq!(shell_word(""), "''");
    }
}
