//! What the changes are called, as a table.

use std::fmt;

use retape::review::change::{Report, Verdict};

use super::kind::{Class, Kind};

/// What a change is called: the worst that is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Called {
    Breaking,
    Unproven,
    Compatible,
    Nothing,
}

/// What came of it.
pub struct Score {
    pub rows: Vec<Row>,
}

/// What became of the changes of a kind.
pub struct Row {
    pub kind: &'static Kind,
    pub called: Vec<Called>,
    /// Breaking changes that do not fail where they were made; harmless ones that fail.
    pub wrong: Vec<String>,
    /// Changes of which the worst that is told is that it could not be found out.
    pub unproven: Vec<String>,
    /// How many were recorded in the place of the old ones, too, and those of which less is told then.
    pub again: usize,
    pub hidden: Vec<String>,
    /// How often each breaking change is told: once is wanted.
    pub times: Vec<usize>,
    /// Those that are told more than [`OFTEN`] times, with all that is told.
    pub often: Vec<String>,
}

/// What is told more often than that is told too often.
pub const OFTEN: usize = 3;

impl Called {
    const ALL: [Self; 4] = [Self::Breaking, Self::Unproven, Self::Compatible, Self::Nothing];

    pub fn of(report: &Report) -> Self {
        match report.changes.iter().map(|change| change.verdict).min() {
            Some(Verdict::Breaking) => Self::Breaking,
            Some(Verdict::Unproven) => Self::Unproven,
            Some(Verdict::Compatible | Verdict::Trim) => Self::Compatible,
            None => Self::Nothing,
        }
    }
}

impl Row {
    pub fn of(kind: &'static Kind) -> Self {
        Self {
            kind,
            called: Vec::new(),
            wrong: Vec::new(),
            unproven: Vec::new(),
            again: 0,
            hidden: Vec::new(),
            times: Vec::new(),
            often: Vec::new(),
        }
    }

    /// How many, how many by what they are called, how many wrongly.
    fn counts(&self) -> [usize; 6] {
        let of = |called| self.called.iter().filter(|it| **it == called).count();
        let [breaking, unproven, compatible, nothing] = Called::ALL.map(of);
        [self.called.len(), breaking, unproven, compatible, nothing, self.wrong.len()]
    }
}

impl Score {
    /// Whether it is as it should be.
    pub fn holds(&self) -> bool {
        self.hidden().is_empty() && self.alarm_rate() < 2.0 && self.unproven_rate() < 10.0
    }

    fn hidden(&self) -> Vec<&str> {
        self.told(|row| row.kind.class == Class::Breaking, |row| &row.wrong)
    }

    fn alarms(&self) -> Vec<&str> {
        self.told(|row| row.kind.class == Class::Harmless, |row| &row.wrong)
    }

    fn unproven(&self) -> Vec<&str> {
        self.told(|_| true, |row| &row.unproven)
    }

    fn often(&self) -> Vec<&str> {
        self.told(|_| true, |row| &row.often)
    }

    /// How often a breaking change is told, on average.
    fn times(&self) -> f64 {
        let times: Vec<usize> = self.rows.iter().flat_map(|row| row.times.clone()).collect();
        times.iter().sum::<usize>() as f64 / times.len().max(1) as f64
    }

    fn told(&self, of: impl Fn(&Row) -> bool, list: impl Fn(&Row) -> &Vec<String>) -> Vec<&str> {
        let rows = self.rows.iter().filter(|row| of(row));
        rows.flat_map(|row| list(row).iter().map(String::as_str)).collect()
    }

    /// How many of the harmless ones fail, in percent.
    fn alarm_rate(&self) -> f64 {
        percent(self.alarms().len(), self.made(|class| class == Class::Harmless))
    }

    /// How many of all are unproven, in percent.
    fn unproven_rate(&self) -> f64 {
        percent(self.unproven().len(), self.made(|_| true))
    }

    fn made(&self, class: impl Fn(Class) -> bool) -> usize {
        let rows = self.rows.iter().filter(|row| class(row.kind.class));
        rows.map(|row| row.called.len()).sum()
    }

    fn table(&self, class: Class, title: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| {title} | made | breaking | unproven | compatible | nothing | wrong |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        let mut total = [0; 6];
        for row in self.rows.iter().filter(|row| row.kind.class == class) {
            let counts = row.counts();
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            line(f, row.kind.name, &counts)?;
        }
        line(f, "all", &total)?;
        writeln!(f)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table(Class::Breaking, "breaks a client", f)?;
        self.table(Class::Harmless, "harmless", f)?;
        let breaking = self.made(|class| class == Class::Breaking);
        writeln!(f, "{} changes, {breaking} of them breaking:", self.made(|_| true))?;
        writeln!(f, "{} hidden (0 are wanted),", self.hidden().len())?;
        writeln!(f, "{:.1} % false alarms (at most 2 % are wanted),", self.alarm_rate())?;
        writeln!(f, "{:.1} % unproven (at most 8 % are wanted);", self.unproven_rate())?;
        let hidden = self.told(|_| true, |row| &row.hidden).len();
        let again: usize = self.rows.iter().map(|row| row.again).sum();
        writeln!(f, "{hidden} of {again} hidden by recording again (0 are wanted);")?;
        writeln!(f, "a breaking change is told {:.2} times (once is wanted).", self.times())?;
        let lists = [
            (self.hidden(), "hidden"),
            (self.alarms(), "false alarm"),
            (self.unproven(), "unproven"),
            (self.often(), "told often"),
            (self.told(|_| true, |row| &row.hidden), "hidden by recording again"),
        ];
        for (list, name) in lists {
            list.iter().try_for_each(|it| writeln!(f, "- {name}: {it}"))?;
        }
        Ok(())
    }
}

fn percent(some: usize, all: usize) -> f64 {
    100.0 * some as f64 / all.max(1) as f64
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, counts: &[usize]) -> fmt::Result {
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    writeln!(f, "| {name} | {} |", counts.join(" | "))
}
