//! Why a request that was not recorded is not sent to the live server either.

use super::Rerun;
use super::line::visible;
use super::miss::first_line;
use super::unit::count;

/// A request that nothing recorded answers and that no live server is asked.
#[derive(Debug)]
pub struct Withheld<'a> {
    /// The cassette and how many interactions it has.
    pub cassette: (&'a str, usize),
    /// Method and path.
    pub asked: (&'a str, &'a str),
    /// What only the recording knows.
    pub text: &'a str,
    /// The interaction that it comes from, counted from 0; `None` if it stands for a secret.
    pub interaction: Option<usize>,
    /// The live server.
    pub upstream: &'a str,
}

/// Explains it, and says how the cassette is recorded anew.
pub fn withheld(request: &Withheld<'_>, rerun: &Rerun) -> String {
    let Withheld { cassette: (name, recorded), asked: (method, path), text, .. } = request;
    let of = count(*recorded, "interaction");
    let why = match request.interaction {
        Some(number) => format!("since only interaction {} of the recording issued it", number + 1),
        None => "since it stands for a secret in the recording".to_owned(),
    };
    let mut lines = vec![
        format!("`{name}` ({of}) has no answer to"),
        format!("  {}", first_line(method, path)),
        "and it was not sent to the live server, which does not know".to_owned(),
        format!("  {}", visible(text)),
        why,
        "hint: record the whole cassette again:".to_owned(),
    ];
    let steps = rerun.steps(request.upstream, name);
    lines.extend(steps.iter().map(|step| format!("  {}", visible(step))));
    lines.join("\n")
}
