//! Two recordings side by side, value by value.

use super::value::{FieldMeaning, KnownText, Value};
use super::view::Script;
use super::{Record, View};
use crate::cassette::Headers;
use crate::cassette::reading::Kind;
use crate::text::sequence::{Pairing, Rates, align};

/// Walks through two interactions and tells each pair of texts in the same place, the old one first.
pub(super) fn walk<'v>(
    old: &'v View<'_>,
    new: &'v View<'_>,
    told: &mut impl FnMut(KnownText<'v>, KnownText<'v>),
) {
    let (one, other) = (&old.interaction.request, &new.interaction.request);
    let path = |text: &'v str| KnownText::new(text, FieldMeaning::ID);
    told(path(&one.path), path(&other.path));
    headers(&one.headers, &other.headers, told);
    scripts(&old.asked, &new.asked, told);
    if let (Some(one), Some(other)) = (old.interaction.response(), new.interaction.response()) {
        headers(&one.headers, &other.headers, told);
    }
    if let (Some(one), Some(other)) = (&old.answered, &new.answered) {
        scripts(one, other, told);
    }
}

fn headers<'v>(
    old: &'v Headers,
    new: &'v Headers,
    told: &mut impl FnMut(KnownText<'v>, KnownText<'v>),
) {
    for (name, value, partner) in fields(old, new) {
        let text = |value: &'v bytes::Bytes| std::str::from_utf8(value).ok();
        if let (Some(old), Some(new)) = (partner.and_then(text), text(value)) {
            let field = FieldMeaning::of(name);
            told(KnownText::new(old, field), KnownText::new(new, field));
        }
    }
}

/// A header field: its name and value, and its old value.
type FieldBeside<'v> = (&'v str, &'v bytes::Bytes, Option<&'v bytes::Bytes>);

/// New header fields, each with the old value: of a name that comes again, one after the other.
pub(crate) fn fields<'v>(
    old: &'v Headers,
    new: &'v Headers,
) -> impl Iterator<Item = FieldBeside<'v>> {
    new.iter().enumerate().map(|(at, (name, value))| {
        let before = new.iter().take(at);
        let nth = before.filter(|(other, _)| other.eq_ignore_ascii_case(name)).count();
        (name, value, old.get_all(name).nth(nth))
    })
}

fn scripts<'v>(
    old: &'v Script,
    new: &'v Script,
    told: &mut impl FnMut(KnownText<'v>, KnownText<'v>),
) {
    let (Some(one), Some(other)) = (old.as_str(), new.as_str()) else { return };
    let [olds, news] = [old, new].map(|script| script.records.iter().collect::<Vec<&Record>>());
    for step in records(&olds, &news) {
        let Pairing::Both(at, with) = step else { continue };
        for (old, new) in olds[at].values(one).into_iter().zip(news[with].values(other)) {
            values(old, new, told);
        }
    }
}

fn values<'v>(old: Value<'v>, new: Value<'v>, told: &mut impl FnMut(KnownText<'v>, KnownText<'v>)) {
    if let (Some(old), Some(new)) = (old.said(), new.said()) {
        return told(old, new);
    }
    for (new, old) in new.inside().into_iter().zip(partners(old, new)) {
        old.into_iter().for_each(|old| values(old, new, told));
    }
}

/// For each value in a new container the one in the old one that it corresponds to.
pub(crate) fn partners<'v>(old: Value<'v>, new: Value<'v>) -> Vec<Option<Value<'v>>> {
    let (olds, news) = (old.inside(), new.inside());
    match (old.node().kind, new.node().kind) {
        (Kind::Object, Kind::Object) => members(&olds, &news),
        (was @ (Kind::Array | Kind::Set), Kind::Array | Kind::Set) => {
            elements(&olds, &news, was == Kind::Set)
        }
        _ => vec![None; news.len()],
    }
}

/// Members are partners by their names; of a name that comes again, one after the other.
fn members<'v>(olds: &[Value<'v>], news: &[Value<'v>]) -> Vec<Option<Value<'v>>> {
    let mut taken = vec![false; olds.len()];
    let mut next = 0;
    let partners = news.chunks(2).flat_map(|member| {
        // Mostly they come in the same order.
        let mut ahead = (next..olds.len()).step_by(2).chain((0..next).step_by(2));
        let name = member[0].node().hash;
        let Some(found) = ahead.find(|at| !taken[*at] && olds[*at].node().hash == name) else {
            return [None, None];
        };
        taken[found] = true;
        next = found + 2;
        [Some(olds[found]), Some(olds[found + 1])]
    });
    partners.collect()
}

fn elements<'v>(olds: &[Value<'v>], news: &[Value<'v>], is_set: bool) -> Vec<Option<Value<'v>>> {
    let mut found = vec![None; news.len()];
    let mut left = olds.to_vec();
    if is_set {
        for (item, found) in news.iter().zip(&mut found) {
            let same = left.iter().position(|old| old.node().hash == item.node().hash);
            *found = same.map(|at| left.remove(at));
        }
    }
    let open: Vec<usize> = (0..news.len()).filter(|at| found[*at].is_none()).collect();
    let hashes = |values: &mut dyn Iterator<Item = Value<'v>>| -> Vec<u64> {
        values.map(|value| value.node().hash).collect()
    };
    let olds = hashes(&mut left.iter().copied());
    let hashes = hashes(&mut open.iter().map(|at| news[*at]));
    for step in align(&olds, &hashes, RATES, |at, with| WHOLLY - alike(left[at], news[open[with]]))
    {
        if let Pairing::Both(at, with) = step {
            found[open[with]] = Some(left[at]);
        }
    }
    found
}

const RATES: Rates = Rates { longest: 20_000, most_pairs: 10_000, alone: 45 };

/// Aligns the records of two bodies.
pub(crate) fn records(old: &[&Record], new: &[&Record]) -> Vec<Pairing> {
    let hashes = |records: &[&Record]| records.iter().map(|it| it.hash).collect::<Vec<u64>>();
    let [olds, news] = [old, new].map(|records| {
        let values = records.iter().map(|record| record.values(""));
        values.collect::<Vec<_>>()
    });
    align(&hashes(old), &hashes(new), RATES, |at, with| {
        let (olds, news) = (&olds[at], &news[with]);
        let most = olds.len().max(news.len()).max(1) as u32;
        let sum: u32 = olds.iter().zip(news).map(|(old, new)| alike(*old, *new)).sum();
        WHOLLY - sum / most
    })
}

/// What is wholly alike.
const WHOLLY: u32 = 100;

/// What two texts, or two numbers, have in common if they are not the same.
const LEAVES: u32 = 40;

/// How alike two values are, up to [`WHOLLY`].
fn alike(old: Value<'_>, new: Value<'_>) -> u32 {
    let (one, other) = (old.node(), new.node());
    match (one.kind, other.kind) {
        _ if one.hash == other.hash => WHOLLY,
        (Kind::Object, Kind::Object) => {
            let (olds, news) = (old.inside(), new.inside());
            let hashes = |member: &[Value<'_>]| [member[0].node().hash, member[1].node().hash];
            let alike = olds.chunks(2).filter_map(|member| {
                let [name, value] = hashes(member);
                let mut others = news.chunks(2).map(hashes);
                let partner = others.find(|[other, _]| *other == name)?;
                Some(1 + 2 * usize::from(partner[1] == value))
            });
            let alike: usize = alike.sum();
            WHOLLY * alike as u32 / (3 * olds.len().max(news.len()).max(2) / 2) as u32
        }
        (Kind::Array | Kind::Set, Kind::Array | Kind::Set) => WHOLLY / 2,
        (was, is) if !was.is_container() && !is.is_container() => LEAVES,
        _ => 0,
    }
}
