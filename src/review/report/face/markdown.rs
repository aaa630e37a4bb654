//! One comment on a pull request.

use super::markup::{code, code_block, plain, sentence, within};
use super::told::{self, Detail, cases, details, extent, headline, route};
use crate::contract::Contract;
use crate::review::change::{
    CassettePair, ContractPair, Difference, Group, InteractionPair, Report, State, Verdict,
};
use crate::review::report::difference::whole_lines;
use crate::review::report::line::{count, shorten_ids, visible};

/// By this a comment is found, to be updated in place.
const MARKER: &str = "<!-- retape-report -->";

/// A comment may have 65,536 characters; these are bytes, which are never fewer. The rest is for what
/// closes the report.
const MOST: usize = 62_000;

/// So much may be taken by cassettes that could not be read, by changes that fail, by others, by contracts, and by
/// cassettes.
const UNREADABLE: usize = 10_000;
const CHANGES: usize = 40_000;
const OTHERS: usize = 46_000;
const CONTRACTS: usize = 55_000;

/// So many differences of one cassette are shown.
const DIFFERENCES: usize = 12;

/// Shows a report as one comment: the verdict in the first line, what fails below it, and the rest
/// collapsed. However much changed, it fits into a comment and says what was left out.
pub(super) fn markdown(report: &Report) -> String {
    let mut page = Page { text: String::new() };
    page.head(report);
    page.unread(report);
    page.failing(report);
    page.others(report);
    page.stale(report);
    page.changed(&report.contracts, "contract", CONTRACTS, contract);
    page.changed(&report.cassettes, "cassette", MOST, cassette);
    page.text
}

struct Page {
    text: String,
}

impl Page {
    fn head(&mut self, report: &Report) {
        let line = headline(report, &|endpoint| format!("`{}`", route(endpoint)));
        let sign = if report.fails() {
            "❌"
        } else if report.count(Verdict::Unproven) > 0 {
            "⚠️"
        } else {
            "✅"
        };
        self.line(&format!("{sign} **{}** {MARKER}", sentence(&within(&line, 600))));
        self.line("");
        let sides = format!("{} → {}", code(&report.old.name), code(&report.new.name));
        self.line(&format!("{} · {sides}", extent(report, " · ")));
    }

    /// Each cassette that could not be read, if the first line cannot name them all.
    fn unread(&mut self, report: &Report) {
        if report.unreadable.len() < 2 {
            return;
        }
        self.line("\n### Could not be read\n");
        let block = |it| format!("- {}", sentence(&within(&told::unreadable(it), 600)));
        let all = report.unreadable.iter().map(block);
        self.fill(all, report.unreadable.len(), UNREADABLE, "more cassette");
    }

    fn failing(&mut self, report: &Report) {
        for verdict in [Verdict::Breaking, Verdict::Unproven] {
            let all = of(report, verdict);
            if all.is_empty() {
                continue;
            }
            self.line(&format!("\n### {}", title(verdict, all.len())));
            self.list(&all, CHANGES);
        }
        if let Some(first) = report.changes.iter().find(|change| change.is_open()) {
            let approve = format!("--approve {} --reason \"…\"", first.fingerprint);
            self.line(&format!(
                "\nTo approve one, add {} to the `retape diff` of this report and commit \
                 `retape-approvals.toml`.",
                code(&approve)
            ));
        }
    }

    fn others(&mut self, report: &Report) {
        for verdict in [Verdict::Compatible, Verdict::Trim] {
            let all = of(report, verdict);
            self.collapsed(&title(verdict, all.len()), &all, OTHERS);
        }
        let mut approved = report.groups();
        approved.retain(|group| group.change.approved.is_some());
        self.collapsed(&count(approved.len(), "approved change"), &approved, OTHERS);
    }

    fn collapsed(&mut self, title: &str, changes: &[Group<'_>], most: usize) {
        if !changes.is_empty() {
            self.open(title);
            self.list(changes, most);
            self.close();
        }
    }

    /// Changes, as far as there is room.
    fn list(&mut self, changes: &[Group<'_>], most: usize) {
        let blocks = changes.iter().map(block);
        self.fill(blocks, changes.len(), most, "more change");
    }

    fn stale(&mut self, report: &Report) {
        for approval in report.stale.iter().take(20) {
            let said = format!(
                "\n⚠️ The approval {} ({}) matches no change any more; remove it.",
                code(&approval.fingerprint),
                plain(&within(&approval.reason, 200))
            );
            self.line(&said);
        }
    }

    /// What is not the same, collapsed.
    fn changed<T>(&mut self, all: &[T], what: &str, most: usize, block: fn(&T) -> String) {
        if !all.is_empty() {
            self.open(&format!("{} changed", count(all.len(), what)));
            self.fill(all.iter().map(block), all.len(), most, &format!("more {what}"));
            self.close();
        }
    }

    /// Blocks as long as there is room, and how many are left out.
    fn fill(
        &mut self,
        blocks: impl Iterator<Item = String>,
        number: usize,
        most: usize,
        what: &str,
    ) {
        for (shown, block) in blocks.enumerate() {
            if self.text.len() + block.len() > most {
                let left = count(number - shown, what);
                self.line(&format!(
                    "\n_… and {left}: the report was cut to fit into a comment; `retape diff` tells \
                     all._"
                ));
                return;
            }
            self.line(&block);
        }
    }

    fn open(&mut self, summary: &str) {
        self.line(&format!("\n<details><summary>{summary}</summary>\n"));
    }

    fn close(&mut self) {
        self.line("\n</details>");
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// What is not approved, of a verdict.
fn of(report: &Report, verdict: Verdict) -> Vec<Group<'_>> {
    let mut groups = report.groups();
    groups.retain(|it| it.change.verdict == verdict && it.change.approved.is_none());
    groups
}

fn title(verdict: Verdict, number: usize) -> String {
    let (thing, one, more) = match verdict {
        Verdict::Breaking => ("change", "breaks a client", "break a client"),
        Verdict::Unproven => ("change", "may break a client", "may break a client"),
        Verdict::Compatible => ("change", "breaks nothing", "break nothing"),
        Verdict::Trim => ("thing", "is not seen any more", "are not seen any more"),
    };
    format!("{} {}", count(number, thing), if number == 1 { one } else { more })
}

/// A change as an item of a list.
fn block(group: &Group<'_>) -> String {
    let change = group.change;
    let place = &change.place;
    let mut lines = vec![format!(
        "- **{}** {}",
        sentence(&within(&change.what, 600)),
        code(&place.endpoint.to_string())
    )];
    let mut told = |line: String| lines.push(format!("  {line}"));
    for (detail, text) in details(group) {
        match detail {
            Detail::Also => told(format!("<br>also: {}", code(&within(&text, 600)))),
            Detail::Cases => {
                let cases = cases(change, &|case| code(&within(case, 300)));
                told(format!("<br>{}", cases.unwrap_or_default()));
            }
            Detail::Trace => told(format!("<br>new trace: {}", code(&within(&text, 800)))),
            Detail::Example => told(format!("<br>for example: {}", code(&within(&text, 600)))),
            Detail::Why => told(format!("<br>{}", sentence(&within(&text, 600)))),
            Detail::Brings => told(format!("<br>with it: {}", sentence(&within(&text, 600)))),
            Detail::Shown => told(format!("<br>{}", plain(&text))),
            Detail::Rule => {
                told(format!("<br>{} {}", code(change.rule.id()), code(&change.fingerprint)));
            }
            Detail::Approved => told(format!("<br>approved: {}", plain(&within(&text, 300)))),
            Detail::Possible => {}
        }
    }
    // What the sentence says in full is not said again.
    let said = |text: &str| change.what.contains(&format!("`{text}`"));
    let is_new = |text: &str| !said(text) && !text.split_once(": ").is_some_and(|it| said(it.1));
    if let Some(possible) = change.possible.as_ref().filter(|it| is_new(&it.text)) {
        told("\n  Possible now:\n".to_owned());
        let block = code_block("", &within(&possible.text, 1_000));
        block.lines().for_each(|line| told(line.to_owned()));
    }
    lines.join("\n")
}

/// A contract as the lines that are not the same.
fn contract(pair: &ContractPair) -> String {
    let text = |side: &Option<String>| side.as_deref().map(unbroken).unwrap_or_default();
    let lines = whole_lines(&text(&pair.old), &text(&pair.new));
    format!(
        "\n{}\n\n{}",
        code(&pair.endpoint.to_string()),
        code_block("diff", &within(&lines.join("\n"), 6_000))
    )
}

/// A contract in which each order is one line: where it is broken to fit a page is no change.
fn unbroken(contract: &str) -> String {
    let parsed = contract.parse::<Contract>();
    parsed.map_or_else(|_| contract.to_owned(), |contract| format!("{contract:#}"))
}

fn cassette(pair: &CassettePair) -> String {
    let (name, number) = (code(&pair.name), pair.interactions.len());
    match pair.state {
        State::New => return format!("- {name} is new, {}", count(number, "interaction")),
        State::Lost => return format!("- {name} is not there any more"),
        State::Kept => {}
    }
    let mut lines = vec![format!("- {name}: {}", told::cassette(pair))];
    lines.extend(pair.interactions.iter().take(DIFFERENCES).filter_map(interaction));
    if number > DIFFERENCES {
        lines.push(format!("  - … and {} more", number - DIFFERENCES));
    }
    lines.join("\n")
}

fn interaction(pair: &InteractionPair) -> Option<String> {
    let (one, state) = told::one_of(pair)?;
    let state = state.map(|state| format!(" is {state}")).unwrap_or_default();
    let path = within(&shorten_ids(&one.path), 200);
    let mut text =
        format!("  - #{} {}{state}", one.number, code(&format!("{} {path}", one.method)));
    for it in pair.differences.iter().take(4) {
        text.push_str(&format!("\n    - {}", difference(it)));
    }
    let left = pair.differences.len().saturating_sub(4) + pair.more;
    if left > 0 {
        text.push_str(&format!("\n    - … and {}", count(left, "more difference")));
    }
    Some(text)
}

fn difference(it: &Difference) -> String {
    let side = |value: &Option<String>| {
        value.as_ref().map(|value| code(&within(&visible(&value.replace('\n', " ")), 160)))
    };
    let at = code(&it.at);
    match (side(&it.old), side(&it.new)) {
        (Some(old), Some(new)) => format!("{at}: {old} → {new}"),
        (Some(old), None) => format!("{at}: {old} is gone"),
        (None, Some(new)) => format!("{at}: {new} is new"),
        (None, None) => at,
    }
}
