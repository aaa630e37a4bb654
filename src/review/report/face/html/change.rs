//! The changes, each as an item that opens.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::markup::{Budget, block, code, escaped, sentence};
use super::railroad::Track;
use super::{Standing, route_and_gives};
use crate::review::change::{CaseEdges, Change, Group, Report, Rule, State, Verdict};
use crate::review::report::face::told::{Detail, cases, details, is_missing};
use crate::review::report::line::visible;
use crate::text::plain::beginning;

/// So much of a value or a shape is shown, in characters.
const LONGEST: usize = 4_000;

/// So many changes are open at first, if they break a client.
const OPEN: usize = 20;

/// So many cassettes that show a change are named.
const NAMED: usize = 3;

/// All changes, the worst first.
pub(super) fn changes(report: &Report, budget: &mut Budget) -> String {
    let groups = report.groups();
    let items = groups.iter().enumerate().map(|(number, group)| {
        let change = group.change;
        let is_open = number < OPEN && change.is_open() && change.verdict == Verdict::Breaking;
        item(report, group, if is_open { " open" } else { "" }, budget)
    });
    items.collect()
}

fn item(report: &Report, group: &Group<'_>, open: &str, budget: &mut Budget) -> String {
    let change = group.change;
    let standing = Standing::of_change(change);
    let (word, sign) = (standing.word(), standing.sign());
    let [route, gives] = route_and_gives(&change.place.endpoint);
    let id = format!("change-{}", change.fingerprint);
    let data = order(report, change).and_then(|order| budget.element(&id, &order));
    let body = body(report, group, data.is_some());
    format!(
        "<details class=\"item change {word}\" id=\"{id}\" data-verdict=\"{word}\"{open}>\
         <summary><span class=\"badge\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span> \
         {word}</span><span class=\"what\">{}</span><span class=\"place\">{route} <span \
         class=\"gives\">{gives}</span>{}</span></summary><div class=\"body\">{body}</div></details>\n{}",
        sentence(&change.what),
        tests(group).unwrap_or_default(),
        data.unwrap_or_default(),
    )
}

/// The cassettes that show a change: whoever reads it knows their tests by them.
fn tests(group: &Group<'_>) -> Option<String> {
    let witnesses = group.all().filter_map(|change| change.witnesses.as_ref());
    let all: BTreeSet<&String> = witnesses.flat_map(|it| &it.cassettes).collect();
    all.first()?;
    let named: Vec<String> = all.iter().take(NAMED).map(|name| code(name)).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(" <span class=\"tests\">shown by {}{more}</span>", named.join(", ")))
}

/// All that is told of a change.
fn body(report: &Report, group: &Group<'_>, is_drawn: bool) -> String {
    let change = group.change;
    let row = |(name, value): (&str, String)| format!("<dt>{name}</dt><dd>{value}</dd>");
    let rows = details(group).into_iter().flat_map(|(detail, text)| match detail {
        Detail::Also => vec![("also", escaped(&visible(&text)))],
        Detail::Cases => vec![("which", cases(change, &code).unwrap_or_default())],
        Detail::Trace => vec![("new trace", trace(change).unwrap_or_default())],
        Detail::Possible => vec![("possible now", block(&beginning(&text, LONGEST)))],
        Detail::Example => vec![("for example", block(&beginning(&text, LONGEST)))],
        Detail::Why => vec![("why", sentence(&text))],
        Detail::Brings => vec![("with it", sentence(&text))],
        Detail::Shown => {
            vec![("recorded", link(report, change, text.trim_start_matches("shown by ")))]
        }
        Detail::Rule => {
            let rule = format!("{}, {}", code(change.rule.id()), escaped(change.rule.summary()));
            vec![("rule", rule), ("fingerprint", fingerprint(change))]
        }
        Detail::Approved => {
            let was = change.verdict.as_str();
            vec![("approved", format!("{was}, approved because: {}", escaped(&visible(&text))))]
        }
    });
    let drawn = is_drawn.then(|| row(("order", "<div class=\"order\"></div>".to_owned())));
    let rows: String = rows.map(row).chain(drawn).collect();
    format!("<dl>{rows}</dl>")
}

/// The messages in a row, and among them what is not as it was promised.
fn trace(change: &Change) -> Option<String> {
    let trace = change.trace.as_ref()?;
    let mut items: Vec<String> =
        trace.tags.iter().map(|tag| format!("<li>{}</li>", code(tag))).collect();
    let at = trace.at.min(items.len());
    match (is_missing(change), items.get_mut(at)) {
        (false, Some(item)) => {
            *item = item.replacen("<li>", "<li class=\"new\">", 1);
        }
        _ => {
            let names: Vec<String> = trace.expected.iter().map(|name| code(name)).collect();
            items.insert(at, format!("<li class=\"lost\">no {}</li>", names.join(" or ")));
        }
    }
    Some(format!("<ol class=\"trace\">{}</ol>", items.concat()))
}

/// Leads to the recording that shows it, if that is in the page.
fn link(report: &Report, change: &Change, said: &str) -> String {
    let said = escaped(&visible(said));
    let place = change.witnesses.as_ref().and_then(|witnesses| {
        let is = |name: &str| witnesses.cassette == name;
        let number = report.cassettes.iter().position(|pair| is(&pair.name))?;
        Some((number, witnesses.number))
    });
    match place {
        None => said,
        Some((number, interaction)) => {
            format!("<a href=\"#cassette-{number}\" data-interaction=\"{interaction}\">{said}</a>")
        }
    }
}

/// What was promised and the way that is new in it, to be drawn.
fn order(report: &Report, change: &Change) -> Option<Value> {
    let (place, trace) = (&change.place, change.trace.as_ref()?);
    let pair = report.contracts.iter().find(|pair| pair.endpoint == place.endpoint)?;
    // Several in a row are one step of a trace.
    let tag = |at: usize| trace.tags.get(at).map(|tag| tag.trim_end_matches('+'));
    let from = trace.at.checked_sub(1).and_then(tag);
    let name = |tag: Option<&str>| tag.map(|tag| visible(tag).into_owned());
    let leads_on = |case: &&CaseEdges| {
        let edges = case.edges.iter().filter(|edge| edge.state != State::New);
        edges.into_iter().any(|edge| edge.from.as_deref() == from)
    };
    let case = match place.cases.first() {
        Some(name) => pair.orders.iter().find(|case| case.case == *name),
        None => pair.orders.iter().find(leads_on),
    };
    let promised = case?.old.as_ref()?;
    let (via, to) = match change.rule {
        Rule::TagNew => (tag(trace.at), tag(trace.at + 1)),
        _ => (None, tag(trace.at)),
    };
    let before = trace.at.checked_sub(2).and_then(tag);
    let way = json!({"before": name(before), "from": name(from), "via": name(via), "to": name(to)});
    Some(json!({"track": Track::of(promised).to_json(), "way": way}))
}

fn fingerprint(change: &Change) -> String {
    let command = format!("retape diff … --approve {} --reason \"…\"", change.fingerprint);
    let own = code(&change.fingerprint);
    if change.is_open() { format!("{own}; to approve: {}", code(&command)) } else { own }
}
