//! Why nothing recorded answers a request, for a person.

use super::line::visible;
use super::unit::count;
use super::{Colour, difference, pretty};
use crate::cassette::Request;
use crate::matching::{Mismatch, Nearest};

/// Explains a miss: what was asked of the cassette `name`, what is most alike, how the two differ,
/// and what to do next.
pub fn miss(name: &str, mismatch: &Mismatch) -> String {
    let asked = &mismatch.asked;
    let of = count(mismatch.recorded, "interaction");
    let mut text = format!("`{name}` ({of}) has no answer to\n  {}\n", first_line(asked));
    match &mismatch.nearest {
        None => text.push_str("because nothing was recorded\n"),
        Some(nearest) => tell_nearest(asked, nearest, &mut text),
    }
    let upstream = match mismatch.upstream.as_str() {
        "" => "URL".into(),
        upstream => visible(upstream),
    };
    text.push_str(&format!(
        "hint: if the client is meant to ask this now, record it again: \
         `retape record --upstream {upstream} {name} -- COMMAND`"
    ));
    text
}

fn tell_nearest(asked: &Request, nearest: &Nearest, text: &mut String) {
    let played = if nearest.played { "played before" } else { "not played yet" };
    text.push_str(&format!(
        "the nearest is interaction {} ({played})\n  {}\n",
        nearest.interaction + 1,
        first_line(&nearest.request)
    ));
    let recorded = parts(&nearest.request, &nearest.request.body);
    let asked = parts(asked, &nearest.aligned);
    let mut differing = Vec::new();
    for ((what, recorded), (_, asked)) in recorded.iter().zip(&asked) {
        let shown = difference(recorded, asked, Colour::Plain);
        if !shown.is_empty() {
            differing.push(*what);
            text.push_str(&format!("its {what} differs\n{}", indented(&shown)));
        }
    }
    if differing.is_empty() {
        text.push_str(
            "it looks the same, but an id that the client chose is not the one that it chose earlier in \
             this run; a client that begins anew asks under another name (`~2` behind the cassette's) \
             or resets the run (`POST /-/retape/reset`)\n",
        );
    }
}

/// What is compared, a line for each thing that may differ.
fn parts(request: &Request, body: &[u8]) -> [(&'static str, String); 4] {
    let query = request.query().unwrap_or("").replace('&', "\n");
    [
        ("method", request.method.clone()),
        ("path", request.path_only().to_owned()),
        ("query", query),
        ("body", pretty(body)),
    ]
}

fn first_line(request: &Request) -> String {
    visible(&format!("{} {}", request.method, request.path)).into_owned()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", format!("  {line}").trim_end())).collect()
}
