//! The tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::claims::{Claim, Count};
use super::grammar::EDITS;
use super::tally::{Rounds, Tally};
use super::{Cell, Half, Size, Wanted};

/// So many false alarms of a protocol are printed.
const ALARMS: usize = 6;

/// All tables.
pub fn tables(cells: &[Cell], size: Size, wanted: Wanted) -> String {
    let table = Table { cells, recordings: size.recordings, held_out: wanted.held_out };
    let mut text = format!(
        "{} samples, {} fresh and as many illegal conversations and {} rounds of each; \
         k is the number of recordings.\n\n",
        size.samples, size.fresh, size.rounds
    );
    text += &table.by_protocol("fresh accepted, %", |of| {
        percent(of.sum(|it| it.fresh.accepted), of.sum(|it| it.fresh.all))
    });
    text += &table.by_protocol("illegal refused, %", |of| {
        let all = of.sum(|it| it.edits.values().map(|(all, _)| all).sum());
        percent(of.sum(|it| it.edits.values().map(|(_, refused)| refused).sum()), all)
    });
    text += &table.by_protocol("rounds broken (unproven), same scenarios", |of| {
        rounds(of, |tally| &tally.same)
    });
    text += &table.by_protocol("rounds broken (unproven), other scenarios", |of| {
        rounds(of, |tally| &tally.other)
    });
    text += &table.by_kind("fresh with, %", &states());
    text += &table.by_kind("fresh broken by, %", &kinds(|it| (&it.fresh.broken_by, it.fresh.all)));
    text +=
        &table.by_kind("fresh unproven by, %", &kinds(|it| (&it.fresh.unproven_by, it.fresh.all)));
    text += &table.by_kind(
        "rounds of the same scenarios broken by, %",
        &kinds(|it| (&it.same.broken_by, it.same.all)),
    );
    text += &table.by_kind(
        "rounds of other scenarios broken by, %",
        &kinds(|it| (&it.other.broken_by, it.other.all)),
    );
    text += &table.by_kind("illegal refused by edit, %", &edits());
    text += &table.by_kind("coincidences of the claims", &coincidences());
    if wanted.findings {
        text += &alarms(cells);
    }
    text
}

/// A row of a table: what it is called, and what it says of some cells.
type Row = (String, Box<dyn Fn(&Cells<'_>) -> String>);

fn states() -> Vec<Row> {
    let share = |count: fn(&Tally) -> usize| -> Box<dyn Fn(&Cells<'_>) -> String> {
        Box::new(move |of| percent(of.sum(count), of.sum(|it| it.fresh.all)))
    };
    vec![
        ("only unproven".to_owned(), share(|it| it.fresh.unproven)),
        (
            "of these, with a type or a word that no recording has".to_owned(),
            share(|it| it.fresh.unheard),
        ),
        ("new endpoint".to_owned(), share(|it| it.fresh.new)),
    ]
}

/// What is broken by each kind of claim, of how many.
fn kinds(counted: fn(&Tally) -> (&BTreeMap<Claim, usize>, usize)) -> Vec<Row> {
    let row = |claim: Claim| -> Row {
        let broken = move |tally: &Tally| counted(tally).0.get(&claim).copied().unwrap_or_default();
        let row = move |of: &Cells<'_>| percent(of.sum(broken), of.sum(|it| counted(it).1));
        (claim.to_string(), Box::new(row))
    };
    Claim::ALL.into_iter().filter(|claim| *claim != Claim::Unreadable).map(row).collect()
}

fn edits() -> Vec<Row> {
    let row = |edit: &'static str| -> Row {
        let of = |tally: &Tally| tally.edits.get(edit).copied().unwrap_or_default();
        let row =
            move |cells: &Cells<'_>| percent(cells.sum(|it| of(it).1), cells.sum(|it| of(it).0));
        (edit.to_owned(), Box::new(row))
    };
    EDITS.into_iter().map(row).collect()
}

/// Claims that tell words of data from others, and claims that something legal breaks.
fn coincidences() -> Vec<Row> {
    let row = |claim: Claim, which: &str, some: fn(Count) -> usize| -> Row {
        let of = move |tally: &Tally| tally.claims.get(&claim).copied().unwrap_or_default();
        let row = move |cells: &Cells<'_>| {
            let (some, all) = (cells.sum(|it| some(of(it))), cells.sum(|it| of(it).all));
            if some + all == 0 { "–".to_owned() } else { format!("{some}/{all}") }
        };
        (format!("{claim}, {which}"), Box::new(row))
    };
    let compare = [Claim::Guard, Claim::Branch, Claim::Enum];
    let of_data = compare.into_iter().map(|claim| row(claim, "of data", |it| it.of_data));
    let can_be_counted = [
        Claim::Branch,
        Claim::Enum,
        Claim::Format,
        Claim::Null,
        Claim::Closed,
        Claim::Required,
        Claim::Invariant,
        Claim::Tie,
        Claim::Unreadable,
    ];
    let broken = can_be_counted.into_iter().map(|claim| row(claim, "broken", |it| it.broken));
    of_data.chain(broken).collect()
}

fn rounds(of: &Cells<'_>, which: fn(&Tally) -> &Rounds) -> String {
    let [broken, unproven, all] = [
        of.sum(|it| which(it).broken),
        of.sum(|it| which(it).unproven),
        of.sum(|it| which(it).all),
    ];
    format!("{broken} ({unproven}) of {all}")
}

fn percent(some: usize, all: usize) -> String {
    match all {
        0 => "–".to_owned(),
        _ => format!("{:.1}", 100.0 * some as f64 / all as f64),
    }
}

/// Some of the cells.
struct Cells<'c>(Vec<&'c Cell>);

impl Cells<'_> {
    fn sum(&self, count: impl Fn(&Tally) -> usize) -> usize {
        self.0.iter().map(|cell| count(&cell.tally)).sum()
    }
}

struct Table<'c> {
    cells: &'c [Cell],
    recordings: &'c [usize],
    /// Whether rows of the held-out half are printed.
    held_out: bool,
}

impl Table<'_> {
    fn some(&self, recordings: usize, is_one: impl Fn(&Cell) -> bool) -> Cells<'_> {
        let cells = self.cells.iter().filter(|it| it.recordings == recordings && is_one(it));
        Cells(cells.collect())
    }

    /// A row for each protocol, and the totals.
    fn by_protocol(&self, title: &str, show: impl Fn(&Cells<'_>) -> String) -> String {
        let mut text = self.head(title, &[""]);
        let mut row = |name: &str, is_one: &dyn Fn(&Cell) -> bool| {
            let _ = write!(text, "| {name} |");
            for recordings in self.recordings {
                let _ = write!(text, " {} |", show(&self.some(*recordings, is_one)));
            }
            text.push('\n');
        };
        let rows = self.cells.iter().filter(|it| it.recordings == self.recordings[0]);
        for cell in rows.filter(|it| it.half == Half::Shown || self.held_out) {
            row(cell.protocol, &|it| it.protocol == cell.protocol);
        }
        row("**shown**", &|it| it.half == Half::Shown);
        row("**held out**", &|it| it.half == Half::HeldOut);
        text + "\n"
    }

    /// Other rows, for both halves.
    fn by_kind(&self, title: &str, rows: &[Row]) -> String {
        let mut text = self.head(title, &["shown, ", "held out, "]);
        for (name, show) in rows {
            let _ = write!(text, "| {name} |");
            for half in [Half::Shown, Half::HeldOut] {
                for recordings in self.recordings {
                    let _ =
                        write!(text, " {} |", show(&self.some(*recordings, |it| it.half == half)));
                }
            }
            text.push('\n');
        }
        text + "\n"
    }

    fn head(&self, title: &str, halves: &[&str]) -> String {
        let mut text = format!("| {title} |");
        for half in halves {
            for recordings in self.recordings {
                let _ = write!(text, " {half}k={recordings} |");
            }
        }
        text + "\n|" + &"---|".repeat(1 + halves.len() * self.recordings.len()) + "\n"
    }
}

/// The most frequent false alarms of each protocol of the half that is shown, and what it misses.
fn alarms(cells: &[Cell]) -> String {
    let mut text = String::new();
    for cell in cells.iter().filter(|cell| cell.half == Half::Shown) {
        let (of, k) = (cell.protocol, cell.recordings);
        let Tally { fresh, other, .. } = &cell.tally;
        let alarms = [
            ("fresh", fresh.all, &cell.tally.alarms),
            ("rounds of other scenarios", other.all, &other.alarms),
        ];
        for (which, all, alarms) in alarms {
            let mut alarms: Vec<_> = alarms.iter().collect();
            alarms.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            for ((claim, endpoint, _), (count, what)) in alarms.into_iter().take(ALARMS) {
                let _ = writeln!(
                    text,
                    "- {of}, k={k}, {count} of {all} {which}: {claim}: {endpoint}: {what}"
                );
            }
        }
        for (edit, what) in &cell.tally.missed {
            let _ = writeln!(text, "- {of}, k={k}, not refused: {edit}: {what}");
        }
    }
    text + "\n"
}
