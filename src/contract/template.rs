//! Paths with open places.

use crate::text::percent;

/// A path in which names in braces stand for whatever comes there: `/v1/agents/{agent_id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    segments: Vec<Segment>,
    slash: bool,
}

/// What stands between two slashes: texts with open places between them. `a{x}b` is `["a", "b"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment(Vec<String>);

/// How well a path fits; of several templates the greatest one is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// How many letters of each segment are said, from the left: what is said counts more than what is
    /// open.
    said: Vec<usize>,
    /// Whether the slash at the end is as in the template.
    slash: bool,
}

impl Template {
    /// The template that a path of a document is.
    pub fn new(path: &str) -> Self {
        let (inside, slash) = inside(path);
        Self { segments: segments(inside).map(Segment::new).collect(), slash }
    }

    /// How well a path that was asked for fits, if it does. A slash at the end makes no difference.
    pub fn fits(&self, path: &str) -> Option<Fit> {
        let (inside, slash) = inside(path);
        let asked: Vec<&str> = segments(inside).collect();
        if asked.len() != self.segments.len() {
            return None;
        }
        let fits = self.segments.iter().zip(asked).map(|(segment, asked)| segment.fits(asked));
        let said = fits.collect::<Option<Vec<usize>>>()?;
        Some(Fit { said, slash: slash == self.slash })
    }
}

/// A path without the slashes around it, and whether one was at the end.
fn inside(path: &str) -> (&str, bool) {
    let path = path.strip_prefix('/').unwrap_or(path);
    match path.strip_suffix('/') {
        Some(inside) => (inside, true),
        None => (path, false),
    }
}

fn segments(inside: &str) -> impl Iterator<Item = &str> {
    inside.split('/').filter(move |_| !inside.is_empty())
}

impl Segment {
    fn new(text: &str) -> Self {
        let mut said = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((_, behind)) = behind.split_once('}') else { break };
            said.push(percent::decoded(before).into_owned());
            rest = behind;
        }
        said.push(percent::decoded(rest).into_owned());
        Self(said)
    }

    /// How many letters are said, if the text fits. An open place takes at least one letter.
    fn fits(&self, text: &str) -> Option<usize> {
        let text = percent::decoded(text);
        let said = self.0.iter().map(String::len).sum();
        let [first, between @ .., last] = self.0.as_slice() else {
            return (*text == *self.0.first()?).then_some(said);
        };
        let mut rest = text.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
        for part in between {
            let at = rest.char_indices().skip(1).find(|(at, _)| rest[*at..].starts_with(part))?.0;
            rest = &rest[at + part.len()..];
        }
        (!rest.is_empty()).then_some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, path: &str, expected: bool) {
        assert_eq!(Template::new(template).fits(path).is_some(), expected, "{template} {path}");
    }

    #[test]
    fn a_path_fits_segment_by_segment() {
        check("/", "/", true);
        check("/v1/agents/", "/v1/agents", true);
        check("/v1/agents", "/v1/agents/", true);
        check("/v1/agents/{agent_id}", "/v1/agents/agent-7", true);
        check("/v1/agents/{agent_id}", "/v1/agents/", false);
        check("/v1/agents/{agent_id}", "/v1/agents/7/messages", false);
        check("/v1/agents/{agent_id}", "/v1/tools/7", false);
        check("/v1/models/{name}", "/v1/models/a%2Fb", true);
        check("/v1/a%20b", "/v1/a b", true);
        check("/v1/A", "/v1/a", false);
    }

    #[test]
    fn a_segment_may_be_open_in_part() {
        check("/files/{name}.{ending}", "/files/a.b.txt", true);
        check("/files/{name}.{ending}", "/files/.txt", false);
        check("/files/{name}:undelete", "/files/a:undelete", true);
        check("/files/{name}:undelete", "/files/a", false);
        check("/v{version}/x", "/v/x", false);
        check("/{a}-{b}", "/é-é", true);
        check("/{a}{b}", "/x", false);
    }

    #[test]
    fn what_is_said_fits_better_than_what_is_open() {
        let fit = |template: &str| Template::new(template).fits("/v1/agents/count").unwrap();

        assert!(fit("/v1/agents/count") > fit("/v1/agents/{agent_id}"));
        assert!(fit("/v1/agents/count") > fit("/v1/agents/count/"));
        assert!(fit("/v1/agents/{id}") > fit("/v1/{kind}/count"));
    }
}
