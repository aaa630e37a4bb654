//! The runner of GitHub's actions, which reads what a step says.

use std::borrow::Cow;
use std::env;

/// A text in which the runner finds no commands: it takes `::add-mask::…` at the beginning of a line, and `##[…]`
/// anywhere, for some. A cassette of a stranger's pull request is to give none.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let is_read = env::var_os("GITHUB_ACTIONS").is_some_and(|it| it == "true");
    if is_read { tamed(text).into() } else { text.into() }
}

fn tamed(text: &str) -> String {
    let lines = text.split_inclusive(['\n', '\r']).map(|line| match command(line) {
        Some(at) => format!("{}: {}", &line[..at], &line[at + 1..]),
        None => line.to_owned(),
    });
    lines.collect::<String>().replace("##[", "# #[")
}

/// Where a line says `::` before all else, colours aside.
fn command(line: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = line[at..].trim_start();
        at = line.len() - rest.len();
        match rest.strip_prefix('\x1b').and_then(|colour| colour.find('m')) {
            Some(end) => at += 1 + end + 1,
            None => return rest.starts_with("::").then_some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tamed;

    #[test]
    fn what_was_recorded_is_no_command_of_the_runner() {
        for (said, expected) in [
            ("hi\n  ::add-mask::e\nthere", "hi\n  : :add-mask::e\nthere"),
            ("\x1b[1m \x1b[0m::stop-commands::x\r::e", "\x1b[1m \x1b[0m: :stop-commands::x\r: :e"),
            ("a ##[set-output name=x;]y", "a # #[set-output name=x;]y"),
            ("crate::module [::1] é\n", "crate::module [::1] é\n"),
            ("\x1b", "\x1b"),
        ] {
            assert_eq!(tamed(said), expected);
        }
    }
}
