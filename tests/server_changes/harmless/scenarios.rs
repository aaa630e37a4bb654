//! The same server, with less or more of it recorded.

use retape::Name;

use super::super::edit::ServerChange;
use super::super::set::{At, Set};
use super::runs::with_other_ids;

/// A scenario is not recorded any more.
pub fn gone(set: &Set) -> Vec<ServerChange> {
    let numbers = 0..set.recordings.len();
    let made = numbers.map(|number| {
        let what = format!("without {}", set.recordings[number].0);
        ServerChange::new(what, move |all| drop(all.remove(number)))
    });
    made.collect()
}

/// A scenario is recorded once more.
pub fn twice(set: &Set) -> Vec<ServerChange> {
    let numbers = 0..set.recordings.len();
    let made = numbers.map(|number| {
        let what = format!("{} once more", set.recordings[number].0);
        ServerChange::new(what, move |all| {
            let (name, mut cassette) = all[number].clone();
            with_other_ids(&mut cassette, 3);
            all.push((Name::new(format!("{name}_again")).expect("a name"), cassette));
        })
    });
    made.collect()
}

/// Questions that change nothing: where all that came before had been answered.
fn questions(set: &Set) -> Vec<At> {
    let is_question = |at: &At| {
        let one = set.interaction(*at);
        let all = &set.recordings[at.cassette].1.interactions;
        one.request.method == "GET" && all.iter().all(|it| it.after.is_empty())
    };
    set.interactions().map(|(at, _)| at).filter(is_question).collect()
}

pub fn asked_again(set: &Set) -> Vec<ServerChange> {
    let made = questions(set).into_iter().map(|at| {
        let what = format!("{} #{} again", set.recordings[at.cassette].0, at.interaction + 1);
        ServerChange::new(what, move |all| {
            let interactions = &mut all[at.cassette].1.interactions;
            interactions.insert(at.interaction, interactions[at.interaction].clone());
        })
    });
    made.collect()
}

pub fn not_asked(set: &Set) -> Vec<ServerChange> {
    let made = questions(set).into_iter().map(|at| {
        let what = format!("no {} #{}", set.recordings[at.cassette].0, at.interaction + 1);
        ServerChange::new(what, move |all| {
            all[at.cassette].1.interactions.remove(at.interaction);
        })
    });
    made.collect()
}
