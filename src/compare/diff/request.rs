//! Two requests, place by place.

use super::body::bodies;
use super::parameters::{compare, parameters};
use super::{Differences, Mask, Place, Sort, Value};
use crate::cassette::{Headers, Request};
use crate::text::percent;

/// Compares what is asked with what was recorded: method, path, query and body; `headers` says
/// which header fields are compared as well.
///
/// Requests of another method are not compared further: nothing in them has the same meaning.
pub fn requests(
    recorded: &Request,
    asked: &Request,
    headers: &dyn Fn(&str) -> bool,
    mask: Mask<'_>,
) -> Differences {
    let mut found = Differences::default();
    let [old, new] = [recorded, asked].map(|request| Value::text(&*request.method));
    if old != new {
        found.changed(Place::Method, old, new, Sort::Changed);
    }
    paths(recorded.path_only(), asked.path_only(), mask, &mut found);
    if recorded.method == asked.method {
        let [old, new] = [recorded, asked].map(|request| request.query().unwrap_or(""));
        compare(parameters(old), parameters(new), Place::Query, mask, &mut found);
        let [old, new] = [&recorded.headers, &asked.headers].map(|all| fields(all, headers));
        compare(old, new, Place::Header, mask, &mut found);
        bodies(recorded, asked, mask, &mut found);
    }
    found
}

/// Segment by segment where there are as many.
fn paths(recorded: &str, asked: &str, mask: Mask<'_>, found: &mut Differences) {
    let sort = |old: &str, new: &str| match mask(old) == mask(new) {
        true => Sort::Renamed,
        false => Sort::Changed,
    };
    let segments = |path: &str| -> Vec<String> {
        path.split('/').map(|segment| percent::decoded(segment).into_owned()).collect()
    };
    let (olds, news) = (segments(recorded), segments(asked));
    if olds.len() != news.len() {
        let [old, new] = [recorded, asked].map(Value::text);
        return found.changed(Place::Path, old, new, Sort::Changed);
    }
    for (number, (old, new)) in olds.iter().zip(&news).enumerate() {
        if old != new {
            let [was, is] = [old, new].map(|segment| Value::text(&**segment));
            found.changed(Place::Segment(number), was, is, sort(old, new));
        }
    }
}

fn fields(headers: &Headers, compared: &dyn Fn(&str) -> bool) -> Vec<(String, Value)> {
    let chosen = headers.iter().filter(|(name, _)| compared(name));
    chosen
        .map(|(name, value)| {
            (name.to_ascii_lowercase(), Value::text(String::from_utf8_lossy(value)))
        })
        .collect()
}
