//! Letting contenders take turns, and what came of it.

use std::fmt;
use std::time::{Duration, Instant};

use crate::cpu::Thread;

/// How much time is given.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How many turns each contender has.
    rounds: usize,
    /// How long a turn takes.
    turn: Duration,
    /// The largest number of interactions.
    most: usize,
}

impl Effort {
    /// Enough to compare.
    pub const FULL: Self = Self { rounds: 7, turn: Duration::from_millis(200), most: usize::MAX };
    /// Enough to see that it works.
    pub const SMOKE: Self = Self { rounds: 1, turn: Duration::from_millis(1), most: 20 };

    /// A quarter of the time.
    pub fn brief(self) -> Self {
        Self { turn: self.turn / 4, ..self }
    }

    /// That many interactions, or as many as there is time for.
    pub fn at_most(self, interactions: usize) -> usize {
        interactions.min(self.most)
    }
}

/// Something that does one thing again and again.
pub struct Contender {
    name: String,
    thread: Thread,
    /// What comes before each batch of steps, off the clock.
    prepare: Box<dyn FnMut()>,
    step: Box<dyn FnMut()>,
}

/// How many steps are made at once.
pub const BATCH: u32 = 64;

impl Contender {
    /// Does `step` on this thread, which makes `thread` work.
    pub fn new(name: impl Into<String>, thread: Thread, step: impl FnMut() + 'static) -> Self {
        Self { name: name.into(), thread, prepare: Box::new(|| ()), step: Box::new(step) }
    }

    /// Lets something happen before each [`BATCH`] of steps that is not measured.
    pub fn prepared(self, prepare: impl FnMut() + 'static) -> Self {
        Self { prepare: Box::new(prepare), ..self }
    }

    /// How long one step takes: on the clock, and on the processor.
    fn turn(&mut self, limit: Duration) -> Turn {
        let (mut clock, mut cpu, mut steps) = (Duration::ZERO, Some(Duration::ZERO), 0);
        while steps == 0 || clock < limit {
            (self.prepare)();
            let (begun, before) = (Instant::now(), self.thread.time());
            let mut batch = 0;
            while batch == 0 || (batch < BATCH && clock + begun.elapsed() < limit) {
                (self.step)();
                batch += 1;
            }
            clock += begun.elapsed();
            let spent = self.thread.time().zip(before).map(|(after, before)| after - before);
            cpu = cpu.zip(spent).map(|(sum, spent)| sum + spent);
            steps += batch;
        }
        let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(steps);
        Turn { clock: each(clock), cpu: cpu.map_or(f64::NAN, each) }
    }
}

/// Microseconds for a step.
#[derive(Debug, Clone, Copy)]
struct Turn {
    clock: f64,
    cpu: f64,
}

/// A benchmark and its name.
pub type Bench = (&'static str, fn(Effort) -> Table);

/// What came of it: the turns of each contender.
#[derive(Debug)]
pub struct Table {
    rows: Vec<(String, Vec<Turn>)>,
    goal: Option<Goal>,
}

/// What is wanted of the rows beside the first.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// None takes more than so many times as long.
    Growth(f64),
    /// None has less than this share of the speed.
    Speed(f64),
}

/// Lets all take turns, after one that does not count. The first is the limit.
pub fn compare(effort: Effort, mut contenders: Vec<Contender>) -> Table {
    for contender in &mut contenders {
        contender.turn(effort.turn);
    }
    let mut turns = vec![Vec::new(); contenders.len()];
    for _ in 0..effort.rounds {
        for (contender, turns) in contenders.iter_mut().zip(&mut turns) {
            turns.push(contender.turn(effort.turn));
        }
    }
    let rows = contenders.into_iter().map(|contender| contender.name).zip(turns).collect();
    Table { rows, goal: None }
}

impl Table {
    /// The table in Markdown below a title.
    pub fn titled(&self, title: &str) -> String {
        format!("## {title}\n\n{self}")
    }

    /// The table with a line on how far off the goal is.
    pub fn with_goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// What a row costs beside the first, turn by turn.
    fn beside_first(&self, turns: &[Turn], share: impl Fn(&Turn, &Turn) -> f64) -> Spread {
        Spread::of(self.rows[0].1.iter().zip(turns).map(|(first, turn)| share(first, turn)))
    }
}

impl Goal {
    fn judged(self, table: &Table) -> String {
        let others = table.rows.iter().skip(1);
        let clock = |first: &Turn, turn: &Turn| turn.clock / first.clock;
        let growth = others.map(|(_, turns)| table.beside_first(turns, clock));
        let worst = growth.max_by(|one, other| one.median.total_cmp(&other.median));
        match (self, worst) {
            (_, None) => String::new(),
            (Self::Growth(limit), Some(worst)) => {
                format!("The growth is {worst}; at most {limit} is wanted.")
            }
            (Self::Speed(limit), Some(worst)) => {
                let share = Spread {
                    median: 1.0 / worst.median,
                    lowest: 1.0 / worst.highest,
                    highest: 1.0 / worst.lowest,
                };
                format!("The slowest has {share} of the speed; at least {limit} is wanted.")
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | µs each | speed beside the limit | CPU µs each | CPU beside the limit |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for (name, turns) in &self.rows {
            let clock = Spread::of(turns.iter().map(|turn| turn.clock));
            let cpu = Spread::of(turns.iter().map(|turn| turn.cpu));
            let speed = self.beside_first(turns, |first, turn| first.clock / turn.clock);
            let work = self.beside_first(turns, |first, turn| turn.cpu / first.cpu);
            let (clock, cpu) = (clock.median, cpu.median);
            writeln!(f, "| {name} | {clock:.1} | {speed} | {cpu:.1} | {work} |")?;
        }
        if let Some(goal) = self.goal {
            writeln!(f, "\n{}", goal.judged(self))?;
        }
        Ok(())
    }
}

/// Where values lie.
struct Spread {
    median: f64,
    lowest: f64,
    highest: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        Self { median: at(last / 2), lowest: at(0), highest: at(last) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2} to {:.2})", self.median, self.lowest, self.highest)
    }
}
