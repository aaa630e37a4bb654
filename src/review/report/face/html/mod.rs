//! One page to look at: a file of its own that needs no network.
//!
//! Headlines and changes are in the page as they are read, so it tells every verdict without a script.
//! What takes room (contracts, orders, conversations) lies in it as JSON and is drawn when it is opened.
//!
//! # Rationale
//!
//! All that was recorded is another's text. In the markup it is escaped ([`markup`]), in JSON no `<`
//! is left either, and the page's script makes text nodes of it, never markup. If all that failed, the
//! page's policy would refuse what was put in: styles and scripts run by a nonce only, and the nonce is
//! the hash of the content, which no part of the content can name.

mod change;
mod contract;
mod conversation;
mod markup;
mod railroad;

use super::told::{extent, headline, route, unreadable};
use crate::contract::Endpoint;
use crate::review::change::{Change, Report, Verdict};
use crate::review::report::line::visible;
use markup::{Budget, code, escaped, fill, sentence};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("elements.js"),
    include_str!("railroad.js"),
    include_str!("contract.js"),
    include_str!("conversation.js"),
    include_str!("page.js"),
];

/// Shows a report as a page.
pub(super) fn html(report: &Report) -> String {
    // What says most comes first, should there not be room for all.
    let mut budget = Budget::default();
    let changes = change::changes(report, &mut budget);
    let contracts = contract::contracts(report, &mut budget);
    let conversations = conversation::conversations(report, &mut budget);
    let mut hasher = blake3::Hasher::new();
    for part in [&changes, &contracts, &conversations] {
        hasher.update(part.as_bytes());
    }
    let nonce = hasher.finalize().to_hex()[..32].to_owned();
    fill(PAGE, &|name| match name {
        "nonce" => nonce.clone(),
        "style" => STYLE.to_owned(),
        "script" => SCRIPTS.concat(),
        "title" => escaped(&visible(&headline(report, &route))),
        "state" => Standing::of(report).word().to_owned(),
        "icon" => Standing::of(report).icon().to_owned(),
        "headline" => sentence(&headline(report, &|endpoint| format!("`{}`", route(endpoint)))),
        "counts" => escaped(&extent(report, "; ")),
        "sides" => sides(report),
        "filters" => filters(report),
        "legend" => legend(report),
        "changes" => changes.clone(),
        "contracts" => contracts.clone(),
        "conversations" => conversations.clone(),
        "unread" => unread(report),
        "stale" => stale(report),
        "number-of-changes" => report.groups().len().to_string(),
        "number-of-contracts" => report.contracts.len().to_string(),
        "number-of-conversations" => report.cassettes.len().to_string(),
        _ => String::new(),
    })
}

/// What a change is to the reader: approved, or what its verdict says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open(Verdict),
    Approved,
    /// Nothing changed in any promise.
    Kept,
}

impl Standing {
    fn of_change(change: &Change) -> Self {
        match change.approved {
            Some(_) => Self::Approved,
            None => Self::Open(change.verdict),
        }
    }

    /// The worst of a report. What could not be read may be anything.
    fn of(report: &Report) -> Self {
        if !report.unreadable.is_empty() {
            return Self::Open(Verdict::Breaking);
        }
        let worst = Verdict::ALL.into_iter().find(|verdict| report.count(*verdict) > 0);
        match worst {
            Some(verdict) => Self::Open(verdict),
            None if report.approved() > 0 => Self::Approved,
            None => Self::Kept,
        }
    }

    /// The word for it, which is the name of its style too.
    fn word(self) -> &'static str {
        match self {
            Self::Open(verdict) => verdict.as_str(),
            Self::Approved => "approved",
            Self::Kept => "kept",
        }
    }

    /// What it means.
    fn meaning(self) -> &'static str {
        match self {
            Self::Open(Verdict::Breaking) => "a client can break, and a recording shows it",
            Self::Open(Verdict::Unproven) => "it may break a client; the recordings do not tell",
            Self::Open(Verdict::Compatible) => "it breaks no client; that is proved",
            Self::Open(Verdict::Trim) => "it is not seen any more",
            Self::Approved => "somebody has looked at it and gave a reason",
            Self::Kept => "nothing changed in any promise",
        }
    }

    /// What stands beside the colour.
    fn sign(self) -> &'static str {
        match self {
            Self::Open(Verdict::Breaking) => "✕",
            Self::Open(Verdict::Unproven) => "?",
            Self::Open(Verdict::Compatible) => "✓",
            Self::Open(Verdict::Trim) => "−",
            Self::Approved => "●",
            Self::Kept => "=",
        }
    }

    /// The colour of the page's icon.
    fn icon(self) -> &'static str {
        match self {
            Self::Open(Verdict::Breaking) => "%23c62828",
            Self::Open(Verdict::Unproven) => "%23b27700",
            _ => "%232e7d4f",
        }
    }
}

/// Method and path of an endpoint, and what it gives.
fn route_and_gives(endpoint: &Endpoint) -> [String; 2] {
    let gives = format!("{} {}", endpoint.status, endpoint.media);
    [code(&route(endpoint)), escaped(&visible(gives.trim()))]
}

fn sides(report: &Report) -> String {
    format!("from {} to {}", code(&report.old.name), code(&report.new.name))
}

/// The standings that there are, and how many changes have each.
fn standings(report: &Report) -> impl Iterator<Item = (Standing, usize)> {
    let verdicts = Verdict::ALL.map(|verdict| (Standing::Open(verdict), report.count(verdict)));
    let all = verdicts.into_iter().chain([(Standing::Approved, report.approved())]);
    all.filter(|(_, number)| *number > 0)
}

/// What each standing means that there is.
fn legend(report: &Report) -> String {
    let items = standings(report).map(|(standing, _)| {
        let (word, sign, meaning) = (standing.word(), standing.sign(), standing.meaning());
        format!(
            "<div class=\"{word}\"><dt><span class=\"sign\" aria-hidden=\"true\">{sign}</span> \
             {word}</dt><dd>{meaning}</dd></div>\n"
        )
    });
    items.collect()
}

/// A button for each standing that there is.
fn filters(report: &Report) -> String {
    let buttons = standings(report).map(|(standing, number)| {
        let (word, sign) = (standing.word(), standing.sign());
        format!(
            "<button type=\"button\" class=\"filter {word}\" data-filter=\"{word}\" \
             aria-pressed=\"false\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {word} \
             <b>{number}</b></button>\n"
        )
    });
    buttons.collect()
}

/// Cassettes that could not be read, behind the one that the headline names.
fn unread(report: &Report) -> String {
    let items = report.unreadable.iter().skip(1);
    let items = items.map(|it| format!("<p class=\"note\">{}</p>\n", sentence(&unreadable(it))));
    items.collect()
}

/// Approvals that are not needed any more.
fn stale(report: &Report) -> String {
    let items = report.stale.iter().map(|approval| {
        let (fingerprint, reason) =
            (code(&approval.fingerprint), escaped(&visible(&approval.reason)));
        format!(
            "<p class=\"note\">The approval {fingerprint} ({reason}) matches no change any more; \
             remove it.</p>\n"
        )
    });
    items.collect()
}
