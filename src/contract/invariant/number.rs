//! Numbers in one message, or in one row of a list, that belong together: one bounds another, is the sum of two or of a
//! field in all rows, or counts. Of a list how long it is may be as long as one that was sent, or at most as long as was
//! asked for. Times bound each other as well.
//!
//! # Rationale
//!
//! Any two numbers are in some order. So what each recording says of one number is also held against what
//! the others say of the other one: if that goes together as well, nothing ties the two. A bound must have
//! been reached, because two numbers that are only mostly in order never meet; two times need not meet, for what ends
//! began before, and the next recording begins after that. Clients mostly ask for pages of one size, which goes together
//! with all; what it is called says what it bounds.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{Field, Invariant, Path};
use super::earlier::REQUEST;
use super::holding::CHANCES;
use super::learn::{FieldNumbers, Map, Sight, Sights, identity};
use super::sorted::is_of_row;
use super::tie::{Tie, is_equal};
use super::trace::Comparable;
use crate::identity::{Meaning, is_epoch};

/// A claim has at most this probability by chance.
pub(super) const CHANCE: f64 = 0.01;

/// So many recordings show a bound as reached and as not reached, each summand, and several to count.
const BOTH: usize = 2;

/// So many messages show what to look for, and of so many recordings the last one is kept.
const FIRST: usize = 32;
const RECORDINGS: usize = 64;

/// More lists and numbers of a request are not looked at.
const MOST_ASKED: usize = 4;

/// More rows of a message are not looked at.
const MOST_ROWS: u32 = 64;

/// How clients ask for so many rows, but for what is no letter.
const PAGE_SIZES: [&str; 17] = [
    "count",
    "first",
    "hitsperpage",
    "itemsperpage",
    "last",
    "limit",
    "max",
    "maxitems",
    "maxkeys",
    "maxresults",
    "pagelimit",
    "pagesize",
    "perpage",
    "resultsperpage",
    "rows",
    "size",
    "top",
];

/// More times of a message, and sums of rows, are not looked at.
const MOST_TIMES: usize = 8;

/// A message with more numbers is a table, and a type with more sets of fields has none.
const MOST: usize = 24;
const KINDS: usize = 64;

/// Something that can be counted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Quantity {
    Field(u32),
    /// Milliseconds since 1970.
    Time(u32),
    Length(u32),
    /// Messages of another type that came before.
    Messages(u32),
    /// How long a list of the request is.
    Asked(u32),
    /// How many rows the request asks for.
    Limit(u32),
    /// What a field says in all rows together.
    Total(u32),
}

/// What the quantities of a message are.
type Quantities = Vec<(Quantity, f64)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Sums(Quantity, [Quantity; 2]),
    Counts(Quantity, Quantity),
    AtMost(Quantity, Quantity),
}

/// What numbers of messages are, by their type and the quantities in them.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    kinds: Map<u32, BTreeMap<Vec<Quantity>, MessageKind>>,
    /// Types of which several messages are pieces of one: how many there are says nothing.
    pieces: BTreeSet<u32>,
}

/// Messages of a type, or rows of their lists, that have the same quantities.
#[derive(Debug, Clone, Default)]
struct MessageKind {
    /// What they say, with the recording that each is of: all of the first ones, then the first and the last of each
    /// recording.
    rows: Vec<(u32, Quantities)>,
    /// What held so far, once there are enough rows.
    held: Option<BTreeSet<Claim>>,
}

fn get(row: &Quantities, quantity: Quantity) -> Option<f64> {
    let found = row.iter().find(|(own, _)| *own == quantity).map(|(_, value)| *value);
    found.or_else(|| matches!(quantity, Quantity::Messages(_)).then_some(0.0))
}

/// Whether a field of a request says how many rows it asks for. Deep in a request it is of what is sent, such as a schema.
fn is_page_size(path: &str) -> bool {
    if path.contains("[]") || path.matches('.').count() > 1 {
        return false;
    }
    let name = Path::written(path);
    let letters = name.last().chars().filter(char::is_ascii_alphabetic);
    let word: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    PAGE_SIZES.contains(&word.as_str())
}

impl Claim {
    /// The number, and what it is held against; a row for each.
    fn sides(self, row: &Quantities, other: &Quantities) -> Option<(f64, f64)> {
        Some(match self {
            Self::AtMost(one, to) | Self::Counts(one, to) => (get(row, one)?, get(other, to)?),
            Self::Sums(sum, of) => (get(row, sum)?, get(other, of[0])? + get(other, of[1])?),
        })
    }

    fn holds(self, row: &Quantities, other: &Quantities) -> bool {
        self.sides(row, other).is_none_or(|(number, to)| match self {
            Self::AtMost(..) => number <= to || is_equal(number, to),
            Self::Counts(..) | Self::Sums(..) => is_equal(number, to),
        })
    }

    /// Whether what it speaks of is as far apart in all rows, each of another moment: nothing is so by chance.
    fn is_fixed(self, rows: &[&Quantities]) -> bool {
        let apart = |row: &&Quantities| {
            self.sides(row, row).map(|(one, to)| ((to - one) as i64, one as i64))
        };
        let all: Vec<(i64, i64)> = rows.iter().filter_map(apart).collect();
        let moments: BTreeSet<i64> = all.iter().map(|(_, at)| *at).collect();
        let is_one = all.windows(2).all(|two| two[0].0 == two[1].0);
        is_one
            && all.first().is_some_and(|(apart, _)| *apart != 0)
            && moments.len() as u64 >= CHANCES
    }

    fn quantities(self) -> Vec<Quantity> {
        match self {
            Self::AtMost(one, to) | Self::Counts(one, to) => vec![one, to],
            Self::Sums(sum, [one, other]) => vec![sum, one, other],
        }
    }

    /// Whether rows of independent recordings show it, and chance does not, of so many claims.
    fn is_shown(self, all: &[(u32, &Quantities)], claims: usize) -> bool {
        let last: BTreeMap<u32, &Quantities> = all.iter().copied().collect();
        let rows: Vec<&Quantities> = last.into_values().collect();
        let at_least_both = |is: &dyn Fn(&Quantities) -> bool| {
            let recordings = all.iter().filter(|(_, row)| is(row)).map(|(recording, _)| recording);
            recordings.collect::<BTreeSet<_>>().len() >= BOTH
        };
        let meets =
            |row: &Quantities| self.sides(row, row).is_some_and(|(one, to)| is_equal(one, to));
        let is_telling = match self {
            Self::Counts(sum, Quantity::Total(_)) => {
                at_least_both(&|row| get(row, sum).is_some_and(|sum| sum != 0.0))
            }
            // Of none or one it is enough to know whether there is any.
            Self::Counts(number, _) => {
                at_least_both(&|row| get(row, number).is_some_and(|number| number >= 2.0))
            }
            Self::AtMost(_, Quantity::Limit(_)) => at_least_both(&meets),
            Self::AtMost(_, Quantity::Time(_)) => at_least_both(&|row| !meets(row)),
            Self::AtMost(..) => at_least_both(&meets) && at_least_both(&|row| !meets(row)),
            // What is always the same says only how far apart the two others are, and what is so small that the sum
            // does not show it, nothing.
            Self::Sums(sum, of) => of.iter().all(|summand| {
                let first = rows.first().and_then(|row| get(row, *summand));
                let is_seen = |row: &Quantities| {
                    let (sum, value) = (get(row, sum)?, get(row, *summand)?);
                    Some(!is_equal(sum, sum - value))
                };
                at_least_both(&|row| is_seen(row) == Some(true))
                    && rows.iter().any(|row| get(row, *summand) != first)
            }),
        };
        if rows.len() < CHANCES as usize || !is_telling {
            return false;
        }
        // What it is called says it.
        if matches!(self, Self::AtMost(_, Quantity::Limit(_))) {
            return true;
        }
        if matches!(self, Self::AtMost(_, Quantity::Time(_))) && self.is_fixed(&rows) {
            return true;
        }
        let others = |at: usize| rows.iter().enumerate().filter(move |(other, _)| *other != at);
        let crossed = (0..rows.len()).flat_map(|at| others(at).map(move |(_, other)| (at, other)));
        let held = crossed.filter(|(at, other)| self.holds(rows[*at], other)).count();
        is_no_chance(held, rows.len(), claims)
    }
}

/// Whether chance does not show one of so many claims: it holds in so many recordings, and between two
/// different ones, in either direction, `crossed` times.
pub(super) fn is_no_chance(crossed: usize, recordings: usize, claims: usize) -> bool {
    let all = recordings * recordings.saturating_sub(1);
    let chance = (crossed + 1) as f64 / (all + 1) as f64;
    let recordings = i32::try_from(recordings).unwrap_or(i32::MAX);
    chance.powi(recordings) * (claims as f64) < CHANCE
}

impl MessageKind {
    fn see(&mut self, recording: u32, row: Quantities) {
        if let Some(held) = &mut self.held {
            held.retain(|claim| claim.holds(&row, &row));
            if !held.is_empty() {
                self.keep(recording, row);
            }
            return;
        }
        self.rows.push((recording, row));
        if self.rows.len() == FIRST {
            self.held = Some(self.candidates().collect());
            let all = std::mem::take(&mut self.rows);
            all.into_iter().for_each(|(recording, row)| self.keep(recording, row));
        }
    }

    /// Keeps the first and the last row of each recording.
    fn keep(&mut self, recording: u32, row: Quantities) {
        let is_full = self.rows.len() >= 2 * RECORDINGS;
        match self.rows.iter_mut().filter(|(of, _)| *of == recording).nth(1) {
            Some(last) => last.1 = row,
            None if !is_full => self.rows.push((recording, row)),
            None => {}
        }
    }

    /// All claims that hold in the rows.
    fn candidates(&self) -> impl Iterator<Item = Claim> {
        let rows = self.rows.iter().flat_map(|(_, row)| row);
        let all: BTreeSet<Quantity> = rows.map(|(quantity, _)| *quantity).collect();
        let (times, all): (Vec<Quantity>, Vec<Quantity>) =
            all.into_iter().partition(|quantity| matches!(quantity, Quantity::Time(_)));
        let (fields, counts): (Vec<Quantity>, Vec<Quantity>) =
            all.into_iter().partition(|quantity| matches!(quantity, Quantity::Field(_)));
        let asked = counts.iter().filter(|it| matches!(it, Quantity::Asked(_)));
        let lists = counts.iter().filter(|it| matches!(it, Quantity::Length(_)));
        let limits = counts.iter().filter(|it| matches!(it, Quantity::Limit(_)));
        let mut claims = Vec::new();
        for list in lists.copied() {
            claims.extend(asked.clone().map(|asked| Claim::Counts(list, *asked)));
            claims.extend(limits.clone().map(|limit| Claim::AtMost(list, *limit)));
        }
        for one in times.iter().copied() {
            let others = times.iter().copied().filter(|other| *other != one);
            claims.extend(others.map(|other| Claim::AtMost(one, other)));
        }
        for one in fields.iter().copied() {
            let others = || fields.iter().copied().filter(move |other| *other != one);
            let is_time = |field: Quantity| matches!(field, Quantity::Field(path) if times.contains(&Quantity::Time(path)));
            // Of times it is said above.
            let bounds = others().filter(|other| !is_time(one) || !is_time(*other));
            claims.extend(bounds.map(|other| Claim::AtMost(one, other)));
            let counts = counts.iter().filter(|it| !matches!(it, Quantity::Limit(_)));
            claims.extend(counts.map(|count| Claim::Counts(one, *count)));
            let pairs = others().flat_map(|other| others().map(move |second| [other, second]));
            let pairs = pairs.filter(|[other, second]| other < second);
            claims.extend(pairs.map(|of| Claim::Sums(one, of)));
        }
        let holds = |claim: &Claim| self.rows.iter().all(|(_, row)| claim.holds(row, row));
        claims.into_iter().filter(holds)
    }
}

impl Numbers {
    pub(super) fn learn(
        &mut self,
        names: &FieldNumbers,
        recording: u32,
        request: &[Sight<'_>],
        events: &[Sights<'_>],
    ) {
        let asked = request.iter().filter_map(|sight| match sight.value {
            Comparable::Length(length) => Some((Quantity::Asked(sight.path), length)),
            _ if is_page_size(names.spelled(sight.path)) => {
                Some((Quantity::Limit(sight.path), sight.value.counted()?))
            }
            _ => None,
        });
        let asked: Quantities = asked.take(MOST_ASKED).collect();
        let mut all: Map<u32, usize> = Map::default();
        events.iter().for_each(|(tag, _)| *all.entry(*tag).or_default() += 1);
        let number = |sight: &Sight<'_>| match sight.value {
            Comparable::Number(number) => Some((Quantity::Field(sight.path), number)),
            _ => None,
        };
        let time = |sight: &Sight<'_>| {
            Some((Quantity::Time(sight.path), time(names.spelled(sight.path), &sight.value)?))
        };
        let mut before: BTreeMap<u32, f64> = BTreeMap::new();
        let identities = events.iter().map(|(tag, sights)| (*tag, identity(*tag, sights)));
        let identities: Vec<(u32, u64)> = identities.collect();
        let runs = identities.windows(2).filter(|two| two[0] == two[1]);
        self.pieces.extend(runs.map(|two| two[0].0));
        for (tag, sights) in events {
            let quantity = |sight: &Sight<'_>| match sight.value {
                Comparable::Length(length) => Some((Quantity::Length(sight.path), length)),
                _ if sight.row == 0 => number(sight),
                _ => None,
            };
            let mut row: Quantities = sights.iter().filter_map(quantity).take(MOST + 1).collect();
            let own = sights.iter().filter(|sight| sight.row == 0);
            let times: Quantities = own.filter_map(time).take(MOST_TIMES).collect();
            let has_field = row.iter().any(|(it, _)| matches!(it, Quantity::Field(_)));
            if (has_field || !asked.is_empty() || times.len() > 1) && row.len() <= MOST {
                row.extend(times);
                row.extend(if has_field { totals(names, sights) } else { Quantities::new() });
                row.extend(&asked);
                let mut kind: Vec<Quantity> = row.iter().map(|(quantity, _)| *quantity).collect();
                kind.sort_unstable();
                // What is said again and again counts itself.
                if all[tag] == 1 {
                    row.extend(
                        before.iter().map(|(tag, count)| (Quantity::Messages(*tag), *count)),
                    );
                }
                self.see(*tag, kind, (recording, row));
            }
            let rows = sights.chunk_by(|one, other| one.row == other.row);
            let rows = rows.filter(|row| (1..=MOST_ROWS).contains(&row[0].row));
            for row in rows {
                let is_own = |sight: &&Sight<'_>| is_of_row(names.spelled(sight.path));
                let times = row.iter().filter(is_own).filter_map(time).take(MOST_TIMES);
                let numbers = row.iter().filter(is_own).filter_map(number);
                let row: Quantities = numbers.chain(times).take(MOST + 1).collect();
                if (2..=MOST).contains(&row.len()) {
                    let mut kind: Vec<Quantity> = row.iter().map(|(it, _)| *it).collect();
                    kind.sort_unstable();
                    self.see(*tag, kind, (recording, row));
                }
            }
            *before.entry(*tag).or_default() += 1.0;
        }
    }

    fn see(&mut self, tag: u32, kind: Vec<Quantity>, (recording, row): (u32, Quantities)) {
        let kinds = self.kinds.entry(tag).or_default();
        if kinds.len() < KINDS || kinds.contains_key(&kind) {
            kinds.entry(kind).or_default().see(recording, row);
        }
    }

    /// What held in all messages, is shown by enough recordings, and does not follow from something else.
    pub(super) fn holding(&self, names: &FieldNumbers) -> Vec<Invariant> {
        let mut found = Vec::new();
        let few = self.kinds.iter().filter(|(_, kinds)| kinds.len() < KINDS);
        for (tag, kinds) in few {
            let mut shown = shown(kinds);
            let is_piece =
                |it: &Quantity| matches!(it, Quantity::Messages(of) if self.pieces.contains(of));
            shown.retain(|claim| !claim.quantities().iter().any(is_piece));
            let claims = telling(&shown);
            found.extend(claims.into_iter().map(|claim| claim.written(names, *tag)));
        }
        found
    }
}

/// What each number of the rows of lists is in all of them together, where there are several.
fn totals(names: &FieldNumbers, sights: &[Sight<'_>]) -> Quantities {
    let mut all: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    for sight in sights.iter().filter(|sight| sight.row > 0) {
        if let Comparable::Number(number) = sight.value {
            let (rows, sum) = all.entry(sight.path).or_default();
            (*rows, *sum) = (*rows + 1, *sum + number);
        }
    }
    let several =
        all.into_iter().filter(|(path, (rows, _))| *rows > 1 && is_of_row(names.spelled(*path)));
    several.map(|(path, (_, sum))| (Quantity::Total(path), sum)).take(MOST_TIMES).collect()
}

/// When it is what a field says, in milliseconds since 1970.
pub(super) fn time(path: &str, value: &Comparable<'_>) -> Option<f64> {
    const MILLISECONDS: i32 = 13;
    match value {
        // In seconds at least.
        Comparable::Number(number) if *number >= 1e9 => {
            let name = path.rsplit('.').next().unwrap_or_default();
            let is_time = Meaning::of(name) == Meaning::Moment && is_epoch(&number.to_string());
            let digits = number.trunc().to_string().len();
            let to_ms = 10_f64.powi(MILLISECONDS - i32::try_from(digits).ok()?);
            is_time.then_some(number * to_ms)
        }
        _ => value.moment(),
    }
}

/// What holds in all messages of a type, and is shown by enough recordings.
fn shown(kinds: &BTreeMap<Vec<Quantity>, MessageKind>) -> BTreeSet<Claim> {
    let held: Vec<(&Vec<Quantity>, &MessageKind, BTreeSet<Claim>)> = kinds
        .iter()
        .map(|(quantities, kind)| {
            let held = kind.held.clone().unwrap_or_else(|| kind.candidates().collect());
            (quantities, kind, held)
        })
        .collect();
    let all: BTreeSet<Claim> = held.iter().flat_map(|(_, _, held)| held).copied().collect();
    let is_shown = |claim: &Claim| {
        let wanted = claim.quantities();
        let has = |quantities: &[Quantity]| {
            let is_there =
                |it: &Quantity| matches!(it, Quantity::Messages(_)) || quantities.contains(it);
            wanted.iter().all(is_there)
        };
        let with = || held.iter().filter(|(quantities, ..)| has(quantities));
        if !with().all(|(_, _, held)| held.contains(claim)) {
            return false;
        }
        let rows = with().flat_map(|(_, kind, _)| &kind.rows);
        let rows: Vec<(u32, &Quantities)> =
            rows.map(|(recording, row)| (*recording, row)).collect();
        let size = with().map(|(quantities, ..)| quantities.len()).max().unwrap_or_default();
        let claims = match claim {
            Claim::Sums(..) => size.pow(3),
            Claim::AtMost(..) | Claim::Counts(..) => size.pow(2),
        };
        claim.is_shown(&rows, claims)
    };
    all.iter().copied().filter(is_shown).collect()
}

/// Those that do not follow from others.
fn telling(all: &BTreeSet<Claim>) -> Vec<Claim> {
    let mut told: Vec<Claim> = Vec::new();
    for claim in all.iter().copied() {
        let follows = match claim {
            Claim::Sums(sum, _) => {
                told.iter().any(|it| matches!(it, Claim::Sums(other, _) if *other == sum))
            }
            Claim::Counts(one, _) => {
                told.iter().any(|it| matches!(it, Claim::Counts(other, _) if *other == one))
            }
            Claim::AtMost(one, to) => all.iter().any(|it| match it {
                Claim::Sums(sum, of) => *sum == to && of.contains(&one),
                Claim::AtMost(from, between) => {
                    *from == one && *between != to && all.contains(&Claim::AtMost(*between, to))
                }
                Claim::Counts(..) => false,
            }),
        };
        if !follows {
            told.push(claim);
        }
    }
    told
}

impl Claim {
    fn written(self, names: &FieldNumbers, tag: u32) -> Invariant {
        let tagged = |tag: u32, path: Path| {
            let tag = Some(names.spelled(tag)).filter(|tag| !tag.is_empty());
            Field { tag: tag.map(str::to_owned), path }
        };
        let field = |quantity: Quantity| match quantity {
            Quantity::Field(path)
            | Quantity::Length(path)
            | Quantity::Time(path)
            | Quantity::Total(path) => tagged(tag, Path::written(names.spelled(path))),
            Quantity::Messages(of) => tagged(of, Path::default()),
            Quantity::Asked(path) | Quantity::Limit(path) => {
                Field { tag: Some(REQUEST.to_owned()), path: Path::written(names.spelled(path)) }
            }
        };
        match self {
            Self::AtMost(one, to) => Invariant::Tied(Tie::AtMost, field(one), field(to)),
            Self::Counts(sum, of @ Quantity::Total(_)) => {
                Invariant::Tied(Tie::Totals, field(sum), field(of))
            }
            Self::Counts(one, to) => Invariant::Tied(Tie::Counts, field(one), field(to)),
            Self::Sums(sum, of) => Invariant::Sums(field(sum), of.map(field)),
        }
    }
}
