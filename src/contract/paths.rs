//! Which paths are one: the names in them are open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Endpoint;
use super::endpoint::{OPERATION, is_verb, named_after};
use super::template::Template;
use crate::cassette::target;

/// So many names at one place are a parameter, and so many that are words with numbers behind them.
const NAMES: usize = 2;
const NUMBERED: usize = 3;

/// The shortest code, and how often one goes from letters to digits or back.
const SHORTEST: usize = 6;
const CHANGES: usize = 3;

/// What each endpoint is called beside all others, where that is not as it was asked for.
///
/// # Rationale
///
/// A name is no identifier that a server gave: the client knows it, such as that of a model
/// (`/models/gemini-2.5-flash:generateContent`). What tells it from a word of the interface is that others
/// came in its place, and that it has both a digit and a joint, or looks drawn by lot. A refusal speaks of something that is
/// not there, whose name was never given: it is told by the path of what is there.
pub(crate) fn settled<'e>(
    all: &'e BTreeSet<Endpoint>,
    known: impl Iterator<Item = &'e Endpoint>,
) -> BTreeMap<&'e Endpoint, Endpoint> {
    let known: BTreeSet<&Endpoint> = known.collect();
    let mut paths: BTreeMap<&Endpoint, String> =
        all.iter().map(|endpoint| (endpoint, endpoint.path.clone())).collect();
    let of_before = Paths::by_method(known.iter().map(|it| (&*it.method, it.path.clone())));
    for (endpoint, path) in &mut paths {
        let others = of_before.get(&*endpoint.method);
        let open = others.and_then(|it| it.called(path));
        let open = open.filter(|open| endpoint.status >= 400 || !has_word_in(open, path));
        *path = open.unwrap_or_else(|| path.clone());
    }
    open_prefixed(&mut paths, &known);
    name_open_places(&mut paths, &known);
    open_names(&mut paths);
    open_prefixed(&mut paths, &known);
    let answered: BTreeSet<(&str, String)> = paths
        .iter()
        .filter(|(it, _)| it.status < 400)
        .map(|(it, path)| (&*it.method, path.clone()))
        .collect();
    let by_any = Paths::of(answered.iter().map(|(_, path)| path.clone()));
    let by_own = Paths::by_method(answered.into_iter());
    for (endpoint, path) in paths.iter_mut().filter(|(endpoint, _)| endpoint.status >= 400) {
        let ways = [by_own.get(&*endpoint.method), Some(&by_any)];
        let found = ways.into_iter().flatten().find_map(|all| all.called(path));
        *path = found.unwrap_or_else(|| path.clone());
    }
    let paths = paths.into_iter().filter(|(endpoint, path)| endpoint.path != *path);
    paths.map(|(endpoint, path)| (endpoint, Endpoint { path, ..endpoint.clone() })).collect()
}

/// Whether a word of the interface stands in an open place: `/cases/types` beside `/cases/{case_id}`. Where a name is a
/// plain word, recordings show that before.
fn has_word_in(open: &str, path: &str) -> bool {
    let is_word = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'))
    };
    open.split('/').zip(path.split('/')).any(|(open, name)| is_open(open) && is_word(name))
}

/// Paths by which others may be called.
#[derive(Default)]
struct Paths {
    all: BTreeSet<String>,
    /// Those with open places, by how many parts they have.
    open: BTreeMap<usize, Vec<(Template, String)>>,
}

impl Paths {
    fn of(all: impl Iterator<Item = String>) -> Self {
        let all: BTreeSet<String> = all.collect();
        let mut open: BTreeMap<usize, Vec<(Template, String)>> = BTreeMap::new();
        for path in all.iter().filter(|path| path.contains('{')) {
            let template = (Template::new(path), path.clone());
            open.entry(path.split('/').count()).or_default().push(template);
        }
        Self { all, open }
    }

    fn by_method<'m>(all: impl Iterator<Item = (&'m str, String)>) -> BTreeMap<&'m str, Self> {
        let mut methods: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        all.for_each(|(method, path)| methods.entry(method).or_default().push(path));
        methods.into_iter().map(|(method, all)| (method, Self::of(all.into_iter()))).collect()
    }

    /// The path with open places that fits best, unless the path itself is one of them.
    fn called(&self, path: &str) -> Option<String> {
        if self.all.contains(path) {
            return None;
        }
        self.fitting(path).next().map(str::to_owned)
    }

    /// All that fit, the best first.
    fn fitting(&self, path: &str) -> impl Iterator<Item = &str> {
        let as_long = self.open.get(&path.split('/').count()).into_iter().flatten();
        let alike = as_long.filter(|(_, other)| path.ends_with('/') == other.ends_with('/'));
        let fits = alike.filter_map(|(open, other)| Some((open.fits(path)?, Reverse(other))));
        let mut fits: Vec<_> = fits.collect();
        fits.sort_by(|one, other| other.cmp(one));
        fits.into_iter().map(|(_, Reverse(other))| &**other)
    }
}

/// Whether a name stands in an open place of a path that another side has: one that few recordings did not show to
/// be a name, or that of something that is not there.
pub(crate) fn has_name_in(open: &Endpoint, endpoint: &Endpoint) -> bool {
    let is_name = |name: &str| is_name(name) || is_number(name) || may_be_code(name);
    let mut segments = open.path.split('/').zip(endpoint.path.split('/'));
    open.method == endpoint.method
        && segments.any(|(open, name)| {
            is_open(open) && !is_open(name) && (endpoint.status >= 400 || is_name(name))
        })
        && Paths::of([open.path.clone()].into_iter()).called(&endpoint.path).is_some()
}

/// Whether any part of a path is a name, which tells it from others.
pub(crate) fn may_have_names(path: &str) -> bool {
    path.split('/').any(is_name)
}

/// How many parts a name with slashes has at most: `@cf/meta/llama-3-8b`.
const PARTS: usize = 3;

/// Whether two paths are the same but for what may be a name with slashes in it, such as `meta-llama/Llama-3-8B`: the
/// last part of both is a name.
pub(crate) fn differ_by_name_with_slashes(one: &str, other: &str) -> bool {
    let differ = one.split('/').zip(other.split('/')).enumerate();
    let differ: Vec<(usize, (&str, &str))> =
        differ.filter(|(_, (one, other))| one != other).collect();
    let (Some((first, _)), Some((last, (name, named)))) = (differ.first(), differ.last()) else {
        return false;
    };
    let are_as_long = one.split('/').count() == other.split('/').count();
    are_as_long && last > first && last - first < PARTS && is_name(name) && is_name(named)
}

/// An open place has one name. Where several came, what was taken for a prefix (`dv` of `dv-8Zq…`) is none that all
/// have: then it is named after what stands before it.
fn name_open_places(paths: &mut BTreeMap<&Endpoint, String>, known: &BTreeSet<&Endpoint>) {
    let is_known = |path: &str| known.iter().any(|other| other.path == path);
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths.values() {
        names.entry(without_names(path)).or_default().insert(path.clone());
    }
    for path in paths.values_mut().filter(|path| !is_known(path)) {
        let others = &names[&without_names(path)];
        let mut before = "";
        let segments = path.split('/').enumerate().map(|(at, segment)| {
            let differ = |other: &String| other.split('/').nth(at) != Some(segment);
            let named =
                (is_open(segment) && others.iter().any(differ)).then(|| named_after(before));
            before = segment;
            named.unwrap_or_else(|| segment.to_owned())
        });
        *path = segments.collect::<Vec<_>>().join("/");
    }
}

/// A path in which no open place has a name: what it is called hangs on which values came.
pub(crate) fn without_names(path: &str) -> String {
    let segments = path.split('/').map(|segment| if is_open(segment) { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Whether all of a segment is an open place.
fn is_open(segment: &str) -> bool {
    segment.starts_with('{') && segment.find('}') == Some(segment.len() - 1)
}

/// Opens the places where several names came.
fn open_names(paths: &mut BTreeMap<&Endpoint, String>) {
    let longest = paths.values().map(|path| path.split('/').count()).max().unwrap_or(0);
    for place in 0..longest {
        let mut names: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
        for (endpoint, path) in &*paths {
            if let Some((open, name)) = opened(path, place) {
                names.entry((&endpoint.method, open)).or_default().insert(name.to_owned());
            }
        }
        for (endpoint, path) in &mut *paths {
            let Some((open, name)) = opened(path, place) else { continue };
            let names = &names[&(&*endpoint.method, open.clone())];
            if is_parameter(name, names, is_last(path, place)) {
                *path = open;
            }
        }
    }
}

/// Opens the places where a name stands that looks less like one than others of the same prefix: `job_0CaeFnDPBgpC`
/// beside `{job_id}`.
fn open_prefixed(paths: &mut BTreeMap<&Endpoint, String>, known: &BTreeSet<&Endpoint>) {
    let open = paths.iter().filter(|(_, path)| path.contains('{'));
    let open = Paths::by_method(open.map(|(endpoint, path)| (&*endpoint.method, path.clone())));
    let may_be_open = |path: &str| {
        let mut ends = path.match_indices(['_', '-']).map(|(at, _)| &path[at + 1..]);
        ends.any(|end| may_be_code(end.split('/').next().unwrap_or(end)))
    };
    let new = paths.iter_mut().filter(|(endpoint, _)| !known.contains(*endpoint));
    for (endpoint, path) in new.filter(|(_, path)| may_be_open(path)) {
        let others = open.get(&*endpoint.method).into_iter().flat_map(|open| open.fitting(path));
        let other = others.into_iter().find(|other| are_prefixed(path, other)).map(str::to_owned);
        *path = other.unwrap_or_else(|| path.clone());
    }
}

/// Whether names in a path stand in open places of the other, and each has the prefix of which that speaks.
fn are_prefixed(path: &str, open: &str) -> bool {
    let segments = path.split('/').zip(open.split('/'));
    let mut names = segments.filter(|(name, open)| name != open && !is_open(name)).peekable();
    let is_prefixed = |(name, open): (&str, &str)| {
        let prefix = open.strip_prefix('{').and_then(|open| open.strip_suffix("_id}"));
        let rest = prefix.and_then(|prefix| name.strip_prefix(prefix)?.strip_prefix(['_', '-']));
        rest.is_some_and(may_be_code)
    };
    names.peek().is_some() && names.all(is_prefixed)
}

/// Whether nothing comes behind a place: there, a word with a number may be a name, too.
fn is_last(path: &str, place: usize) -> bool {
    target::split(path).1.split('/').count() == place + 1
}

/// Whether a name is a value of a parameter, by those that came in its place.
fn is_parameter(name: &str, names: &BTreeSet<String>, is_last: bool) -> bool {
    // One that says less by itself is as long as a code.
    let is_drawn = |name: &str| {
        let mut codes = names.iter().filter(|name| is_code(name));
        is_code(name)
            || (may_be_code(name) || is_number(name)) && codes.any(|code| code.len() == name.len())
    };
    if is_drawn(name) && names.iter().filter(|name| is_drawn(name)).count() >= NAMES {
        return true;
    }
    let is_sure = |name: &str| is_name(name) || is_number(name);
    let is_other = |name: &str| is_sure(name) || (is_last && is_numbered(name));
    let least = if names.iter().any(|name| is_sure(name)) { NAMES } else { NUMBERED };
    is_other(name) && names.iter().filter(|name| is_other(name)).count() >= least
}

/// A path with an open place in place of a name, and the name.
fn opened(path: &str, place: usize) -> Option<(String, &str)> {
    let (origin, path) = target::split(path);
    let segment = path.split('/').nth(place).filter(|segment| !segment.contains(OPERATION))?;
    let (name, verb) = match segment.rsplit_once(':') {
        Some((name, verb)) if is_verb(verb) => (name, &segment[name.len()..]),
        _ => (segment, ""),
    };
    let may_be_numbered = || is_last(path, place) && is_numbered(name);
    if !(is_name(name) || is_number(name) || may_be_code(name) || may_be_numbered()) {
        return None;
    }
    let before = place.checked_sub(1).and_then(|before| path.split('/').nth(before));
    let open = format!("{}{verb}", named_after(before.unwrap_or_default()));
    let segments = path.split('/').enumerate();
    let segments = segments.map(|(at, segment)| if at == place { &*open } else { segment });
    Some((format!("{origin}{}", segments.collect::<Vec<_>>().join("/")), name))
}

fn is_name(segment: &str) -> bool {
    segment.bytes().any(|byte| byte.is_ascii_digit())
        && segment.bytes().any(|byte| b"-_.:%".contains(&byte))
        && segment.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !segment.contains('{')
}

/// No word of an interface, whose letters and digits were drawn by lot: hexadecimal digits of both kinds, or one that
/// goes from letters to digits and back again. A version (`v1beta1`) is none.
pub(super) fn is_code(segment: &str) -> bool {
    let kinds: Vec<bool> = segment.bytes().map(|byte| byte.is_ascii_digit()).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_hex = || segment.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    may_be_code(segment) && (changes >= CHANGES || changes > 0 && is_hex())
}

/// Whether it may be one, as far as it alone shows.
fn may_be_code(segment: &str) -> bool {
    let is_version =
        segment.strip_prefix('v').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let rest = segment.as_bytes().get(1..).unwrap_or_default();
    let is_mixed = segment.bytes().any(|byte| byte.is_ascii_digit())
        || (rest.iter().any(u8::is_ascii_uppercase) && rest.iter().any(u8::is_ascii_lowercase));
    segment.len() >= SHORTEST
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && is_mixed
        && !is_number(segment)
        && !is_version
}

/// Whether it is a number, which is a key wherever several came; that of a telephone begins with a plus.
fn is_number(segment: &str) -> bool {
    let plus = ["+", "%2B", "%2b"].into_iter().find_map(|plus| segment.strip_prefix(plus));
    let digits = plus.unwrap_or(segment);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is a word with a number behind it, `k7`, and no version, `v1`. At the end of a path such a one
/// is a key; before that it may well be a part of the interface.
fn is_numbered(segment: &str) -> bool {
    let word = segment.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() < segment.len()
        && !word.eq_ignore_ascii_case("v")
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(endpoints: &[&str], known: &[&str], expected: &[&str]) {
        let parsed = |all: &[&str]| -> BTreeSet<Endpoint> {
            all.iter().map(|line| line.parse().unwrap()).collect()
        };
        let (all, known) = (parsed(endpoints), parsed(known));

        let settled = settled(&all, known.iter());

        let called: BTreeSet<String> =
            all.iter().map(|it| settled.get(it).unwrap_or(it).to_string()).collect();
        assert_eq!(called.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_segment_may_begin_with_any_letter() {
        check(&["GET /users/émile -> 200"], &[], &["GET /users/émile -> 200"]);
    }

    #[test]
    fn several_names_at_one_place_are_a_parameter() {
        check(
            &[
                "POST /v1/models/gemini-2.5-flash:generateContent -> 200",
                "POST /v1/models/gemini-2.0-pro:generateContent -> 200",
                "POST /v1/models/gemini-2.0-pro:countTokens -> 200",
                "POST /model/us.nova-lite-v1%3A0/converse -> 200",
            ],
            &[],
            &[
                "POST /model/us.nova-lite-v1%3A0/converse -> 200",
                "POST /v1/models/gemini-2.0-pro:countTokens -> 200",
                "POST /v1/models/{model_id}:generateContent -> 200",
            ],
        );
    }

    #[test]
    fn a_name_without_a_digit_is_one_of_its_prefix_whatever_stands_before_it() {
        check(
            &[
                "POST /sessions/{ses_id}/approvals/{apr_id} -> 200",
                "POST /sessions/{ses_id}/approvals/{approval_id} -> 200",
                "POST /sessions/{ses_id}/approvals/apr-hyhAZZWmrFPdFF -> 200",
                "POST /sessions/{session_id}/approvals/{apr_id} -> 200",
                "POST /sessions/{session_id}/approvals/apr-KnqkAKQBegFPhh -> 200",
                "POST /sessions/{session_id}/approvals/all-atOnce -> 200",
            ],
            &[],
            &[
                "POST /sessions/{session_id}/approvals/all-atOnce -> 200",
                "POST /sessions/{session_id}/approvals/{approval_id} -> 200",
            ],
        );
    }

    #[test]
    fn an_open_place_has_one_name() {
        check(
            &[
                "GET /jobs/{job_id} -> 200",
                "GET /jobs/{dv_id} -> 200",
                "DELETE /jobs/{x_id}/logs/{q_id} -> 204",
                "DELETE /jobs/{job_id}/logs/{q_id} -> 204",
                "GET /runs/{run_id}/{step_id} -> 200",
                "GET /users/{me_id} -> 200",
                "GET /users/{user_id} -> 200",
            ],
            &["GET /users/{user_id} -> 200", "GET /users/{me_id} -> 200"],
            &[
                "DELETE /jobs/{job_id}/logs/{q_id} -> 204",
                "GET /jobs/{job_id} -> 200",
                "GET /runs/{run_id}/{step_id} -> 200",
                "GET /users/{me_id} -> 200",
                "GET /users/{user_id} -> 200",
            ],
        );
    }

    #[test]
    fn a_name_may_have_but_its_prefix_in_common_with_others() {
        check(
            &[
                "GET /jobs/job_0CaeFnDPBgpC -> 200",
                "GET /jobs/job_templates -> 200",
                "GET /jobs/{job_id} -> 200",
                "POST /jobs/job_0CaeFnDPBgpC -> 200",
            ],
            &[],
            &[
                "GET /jobs/job_templates -> 200",
                "GET /jobs/{job_id} -> 200",
                "POST /jobs/job_0CaeFnDPBgpC -> 200",
            ],
        );
    }

    #[test]
    fn numbers_of_telephones_are_a_parameter() {
        for plus in ["+", "%2B"] {
            let numbers = [1, 2].map(|it| format!("GET /numbers/{plus}1415555010{it} -> 200"));
            check(&[&numbers[0], &numbers[1]], &[], &["GET /numbers/{number_id} -> 200"]);
        }
    }

    #[test]
    fn words_with_numbers_are_a_parameter_if_there_are_several() {
        let few = ["PUT /files/v1 -> 200", "PUT /files/v2 -> 200", "PUT /files/v3 -> 200"];
        let two = ["PUT /files/x1 -> 200", "PUT /files/x2 -> 200"];
        let parts = ["GET /step1/item -> 200", "GET /step2/item -> 200", "GET /step3/item -> 200"];

        check(
            &["PUT /files/k0 -> 200", "PUT /files/k1 -> 200", "PUT /files/k10 -> 200"],
            &[],
            &["PUT /files/{file_id} -> 200"],
        );
        check(
            &["GET /users/123 -> 200", "GET /users/45/posts -> 200", "GET /users/6/posts -> 200"],
            &[],
            &["GET /users/123 -> 200", "GET /users/{user_id}/posts -> 200"],
        );
        check(&few, &[], &few);
        check(&two, &[], &two);
        check(&parts, &[], &parts);
    }

    #[test]
    fn what_was_drawn_by_lot_is_a_parameter_where_another_came() {
        for [one, other] in
            [["3fa9c1", "558298"], ["V1StGXR8Z5jd", "hKPeBY6Vk1aQ"], ["8m4g7vsu", "x0d6v1or"]]
        {
            let path = |name: &str| format!("GET /runs/{name}/steps -> 200");
            check(&[&path(one), &path(other)], &[], &["GET /runs/{run_id}/steps -> 200"]);
            check(&[&path(one)], &[], &[&path(one)]);
        }
        // Chance gives the one that has no digit; it is as long as the others.
        check(
            &[
                "GET /s/8ASPM4g7vMsu -> 200",
                "GET /s/Od6v1VRorCMN -> 200",
                "GET /s/aKdJfPqXzBmw -> 200",
            ],
            &[],
            &["GET /s/{id} -> 200"],
        );
        check(
            &[
                "GET /files/2fa7320 -> 200",
                "GET /files/archive -> 200",
                "GET /files/b4174a6 -> 200",
            ],
            &[],
            &["GET /files/archive -> 200", "GET /files/{file_id} -> 200"],
        );
        let words = [
            "GET /auth/oauth2callback -> 200",
            "GET /auth/oauth2token -> 200",
            "GET /auth/userInfo -> 200",
            "GET /codecs/sha256 -> 200",
            "GET /codecs/base64 -> 200",
            "GET /v1alpha2/users -> 200",
            "GET /v1beta1/users -> 200",
            "GET /v2/kind101/item -> 200",
            "GET /v2/kind102/item -> 200",
            "GET /v2/kind103/item -> 200",
        ];
        let mut sorted = words;
        sorted.sort_unstable();
        check(&words, &[], &sorted);
    }

    #[test]
    fn words_of_the_interface_are_none() {
        let words = ["GET /v1/agents/ -> 200", "GET /v1/tools/ -> 200", "GET /v2/tools/ -> 200"];
        check(&words, &[], &words);
    }

    #[test]
    fn a_name_may_have_slashes() {
        for (one, other, expected) in [
            ("/models/meta/llama-3-8b/run", "/models/mistralai/mistral-7b/run", true),
            ("/run/@cf/meta/llama-3-8b", "/run/@cf/mistral/mistral-7b-v0.1", true),
            ("/models/meta/llama-3-8b/run", "/models/meta/llama-4-8b/run", false),
            ("/models/meta/llama-3-8b/run", "/models/mistral-7b/run", false),
            ("/models/meta/llama-3-8b/run", "/models/mistralai/mistral-7b/stop", false),
            ("/users/active/list", "/teams/open/list", false),
        ] {
            assert_eq!(differ_by_name_with_slashes(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn what_is_known_stays_called_so() {
        check(
            &["POST /model/us.nova-lite-v1%3A0/converse -> 200", "GET /users/me -> 200"],
            &[
                "POST /model/{model_id}/converse -> 200",
                "GET /users/{user_id} -> 200",
                "GET /users/me -> 200",
            ],
            &["GET /users/me -> 200", "POST /model/{model_id}/converse -> 200"],
        );
    }

    #[test]
    fn a_refusal_is_told_by_the_path_of_what_is_there() {
        check(
            &[
                "GET /users/{user_id} -> 200",
                "GET /users/9003 -> 404",
                "DELETE /users/none -> 404",
                "GET /users/me -> 200",
                "GET /users/me -> 401",
            ],
            &[],
            &[
                "DELETE /users/{user_id} -> 404",
                "GET /users/me -> 200",
                "GET /users/me -> 401",
                "GET /users/{user_id} -> 200",
                "GET /users/{user_id} -> 404",
            ],
        );
    }
}
