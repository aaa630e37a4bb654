//! How many days later than the recording a client asks.
//!
//! # Rationale
//!
//! A client that asks for today, tomorrow and the day after asks for other dates on another day, and some of
//! them are recorded dates that meant something else. So what is equal decides only on the day of the
//! recording. On another one the first request with a date is the one that was recorded first, of those that
//! it may be; the days between hold for all that comes in the same place. A client whose dates are the same
//! each time is no days later. Where several were asked for at once, which of them comes first says nothing, and the
//! days since the recording decide.

use std::collections::HashMap;

use super::groups::Candidates;
use crate::identity::{Hole, Scope};
use crate::text::date;

/// The days between a recording and a run, by the place of a date.
#[derive(Debug, Clone, Default)]
pub(super) struct Days {
    /// How long ago it was recorded; nothing on the same day.
    elapsed: Option<i64>,
    later: HashMap<u64, i64>,
}

impl Days {
    /// A run on a day, counted from 1970-01-01. In a proof it may be another one for the client, by its time
    /// zone.
    pub(super) fn since(recorded: Option<u64>, today: u64, is_proof: bool) -> Self {
        let elapsed = recorded.map_or(0, |recorded| today as i64 - recorded as i64);
        Self { elapsed: (is_proof || elapsed != 0).then_some(elapsed), later: HashMap::new() }
    }

    /// Notes what stands for a recorded date.
    pub(super) fn note(&mut self, recorded: &Hole, live: &Hole) {
        if recorded.scope != Scope::Moment {
            return;
        }
        let days = [recorded, live].map(|hole| date::day(&hole.identifier));
        if let [Some(was), Some(is)] = days {
            self.later.entry(recorded.place).or_insert(is as i64 - was as i64);
        }
    }

    /// The interactions that say what a live date means; `saying` finds those that say a text, `turn` tells which of
    /// them is next, and `is_at_once` whether one was asked for together with others.
    pub(super) fn saying<'i>(
        &self,
        (place, live): (u64, &str),
        saying: impl Fn(&str) -> Option<Candidates<'i>>,
        turn: impl Fn(&Candidates<'i>) -> Option<usize>,
        is_at_once: impl Fn(usize) -> bool,
    ) -> Option<Candidates<'i>> {
        let Some(day) = date::day(live) else { return saying(live) };
        let before = |days: i64| {
            let day = day.checked_add_signed(-days)?;
            saying(&date::of_day(day))
        };
        match (self.later.get(&place), self.elapsed) {
            (Some(days), _) => before(*days).or_else(|| saying(live)),
            (None, None) => saying(live),
            // The clock of the client may be on the other side of midnight.
            (None, Some(elapsed)) => {
                let days = [elapsed, elapsed - 1, elapsed + 1, 0].into_iter();
                let due: Vec<(usize, Candidates<'_>)> = days
                    .filter_map(|days| before(days).and_then(|list| Some((turn(&list)?, list))))
                    .collect();
                let says_nothing = due.iter().all(|(turn, _)| is_at_once(*turn));
                let first = due.iter().min_by_key(|(turn, _)| if says_nothing { 0 } else { *turn });
                let first = first.map(|(_, list)| *list);
                first.or_else(|| saying(live))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::matching::groups::Groups;
    use crate::identity::Form;
    use crate::identity::names::Names;

    fn hole(date: &str) -> Hole {
        let (scope, form) = (Scope::Moment, Form::Text);
        Hole { place: 7, scope, identifier: date.to_owned(), form, draw: None }
    }

    /// Which of the recorded requests answer a client that asks for these dates.
    fn answered(elapsed: Option<i64>, recorded: &[&str], live: &[&str]) -> Vec<Option<usize>> {
        answered_of(elapsed, recorded, live, false)
    }

    /// The same of requests that were made at once, or one after the other.
    fn answered_of(
        elapsed: Option<i64>,
        recorded: &[&str],
        live: &[&str],
        is_at_once: bool,
    ) -> Vec<Option<usize>> {
        let days = |date: &str| date::day(date).unwrap();
        let groups = Groups::of(recorded.iter().enumerate().map(|(at, date)| (days(date), at)));
        let mut known = Days { elapsed, ..Days::default() };
        let mut played = vec![false; recorded.len()];
        let mut ask = |date: &&str| {
            let turn = |list: &Candidates<'_>| list.iter().find(|number| !played[*number]);
            let found = known.saying(
                (7, date),
                |text| groups.get(date::day(text)?),
                turn,
                |_| is_at_once,
            )?;
            let number = turn(&found)?;
            played[number] = true;
            known.note(&hole(recorded[number]), &hole(date));
            Some(number)
        };
        live.iter().map(&mut ask).collect()
    }

    #[test]
    fn a_client_asks_for_other_days_on_another_day_or_for_the_same() {
        let recorded = ["2026-11-30", "2026-12-01", "2026-12-02"];
        let [first, second, third] = recorded;
        let all = vec![Some(0), Some(1), Some(2)];

        for (elapsed, live) in [
            (None, recorded),
            (Some(1), ["2026-12-01", "2026-12-02", "2026-12-03"]),
            // By another clock.
            (Some(1), ["2026-12-02", "2026-12-03", "2026-12-04"]),
            (Some(0), ["2026-12-01", "2026-12-02", "2026-12-03"]),
            (Some(90), ["2027-02-28", "2027-03-01", "2027-03-02"]),
            // The same each time.
            (Some(1), recorded),
            (Some(90), recorded),
        ] {
            assert_eq!(answered(elapsed, &recorded, &live), all, "{elapsed:?} {live:?}");
        }
        // On the day of the recording the date decides, whoever asks first.
        assert_eq!(answered(None, &recorded, &[third, first, second]), [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn dates_that_were_asked_for_at_once_are_told_apart_by_the_days_that_went_by() {
        let recorded = ["2026-11-30", "2026-12-01", "2026-12-02"];
        let [first, second, third] = ["2026-12-02", "2026-12-03", "2026-12-04"];

        for (live, expected) in [
            ([first, second, third], [0, 1, 2]),
            ([second, third, first], [1, 2, 0]),
            ([third, first, second], [2, 0, 1]),
        ] {
            let found = answered_of(Some(2), &recorded, &live, true);
            assert_eq!(found, expected.map(Some), "{live:?}");
        }
        // By another clock, and the same each time.
        assert_eq!(answered_of(Some(1), &recorded, &[third], true), [Some(2)]);
        assert_eq!(answered_of(Some(90), &recorded, &recorded, true), [0, 1, 2].map(Some));
    }

    #[test]
    fn a_cassette_that_does_not_say_its_day_is_of_today() {
        assert_eq!(Days::since(Names::default().last_day(), 20_783, false).elapsed, None);
        assert_eq!(Days::since(Some(20_783), 20_783, false).elapsed, None);
        assert_eq!(Days::since(Some(20_000), 20_783, false).elapsed, Some(783));
        assert_eq!(Days::since(None, 20_783, true).elapsed, Some(0));
    }
}
