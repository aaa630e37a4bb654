//! The changes, each as an item that opens.

use super::Standing;
use super::markup::{block, code, escaped, sentence};
use crate::change::{Change, Part, Report, Rule};
use crate::report::face::told::{route, shown};
use crate::report::line::visible;

/// More changes than these are told shortly, so that the page stays one to look at.
const IN_FULL: usize = 5_000;

/// So much of a value or a shape is shown, in characters.
const LONGEST: usize = 4_000;

/// All changes, the worst first.
pub(super) fn changes(report: &Report) -> String {
    let numbered = report.changes.iter().enumerate();
    numbered.map(|(number, change)| item(report, change, number < IN_FULL)).collect()
}

fn item(report: &Report, change: &Change, is_full: bool) -> String {
    let standing = Standing::of_change(change);
    let (word, sign) = (standing.word(), standing.sign());
    let endpoint = &change.place.endpoint;
    let gives = format!("{} {}", endpoint.status, endpoint.media);
    let body = if is_full { body(report, change) } else { String::new() };
    format!(
        "<details class=\"item change {word}\" id=\"change-{}\" data-verdict=\"{word}\">\
         <summary><span class=\"badge\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span> \
         {word}</span><span class=\"what\">{}</span><span class=\"place\">{} <span \
         class=\"gives\">{}</span></span></summary><div class=\"body\">{body}</div></details>\n",
        escaped(&change.fingerprint),
        sentence(&change.what),
        code(&route(endpoint)),
        escaped(&visible(gives.trim())),
    )
}

/// All that is told of a change.
fn body(report: &Report, change: &Change) -> String {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| {
        rows.push(format!("<dt>{name}</dt><dd>{value}</dd>"));
    };
    if let Some(reason) = &change.approved {
        let was = change.verdict.as_str();
        row("approved", format!("{was}, approved because: {}", escaped(&visible(reason))));
    }
    if let Some(case) = &change.place.case {
        row("asked", format!("for requests of which {}", code(case)));
    }
    if !change.why.is_empty() {
        row("why", sentence(&change.why));
    }
    if let Some(trace) = trace(change) {
        row("new trace", trace);
    }
    if let Some(possible) = &change.possible {
        row("possible now", block(&cut(&possible.text)));
    }
    if let Some(example) = &change.example {
        row("for example", block(&cut(example)));
    }
    if let Some(shown) = shown(change) {
        row("recorded", link(report, change, shown.trim_start_matches("shown by ")));
    }
    if let Some(order) = order(report, change) {
        row("order", order);
    }
    let id = change.rule.id();
    let said = Rule::ALL.iter().find(|(rule, ..)| *rule == change.rule).map_or("", |row| row.2);
    row("rule", format!("{}, {}", code(id), escaped(said)));
    row("fingerprint", fingerprint(change));
    format!("<dl>{}</dl>", rows.concat())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The messages in a row, and among them what is not as it was promised.
fn trace(change: &Change) -> Option<String> {
    let trace = change.trace.as_ref()?;
    let is_missing = matches!(change.rule, Rule::OrderEndNew | Rule::OrderMissing);
    let mut items: Vec<String> =
        trace.tags.iter().map(|tag| format!("<li>{}</li>", code(tag))).collect();
    let at = trace.at.min(items.len());
    match (is_missing, items.get_mut(at)) {
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
        Some((number, witnesses.interaction))
    });
    match place {
        None => said,
        Some((number, interaction)) => {
            format!("<a href=\"#cassette-{number}\" data-interaction=\"{interaction}\">{said}</a>")
        }
    }
}

/// Where the order is drawn that changed.
fn order(report: &Report, change: &Change) -> Option<String> {
    if change.place.part != Part::Order {
        return None;
    }
    let endpoint = &change.place.endpoint;
    let pairs = report.contracts.iter();
    let number = pairs.into_iter().position(|pair| pair.endpoint == *endpoint)?;
    let case = change.place.case.as_deref().unwrap_or_default();
    Some(format!(
        "<div class=\"order\" data-contract=\"contract-{number}\" data-case=\"{}\"><a \
         href=\"#contract-{number}\">in the contract</a></div>",
        escaped(case)
    ))
}

fn fingerprint(change: &Change) -> String {
    let command = format!("retape diff … --approve {} --reason \"…\"", change.fingerprint);
    match change.fails() {
        true => format!("{}; to approve: {}", code(&change.fingerprint), code(&command)),
        false => code(&change.fingerprint),
    }
}
