//! Messages that do not come where they were promised.

use std::collections::BTreeSet;

use super::about::About;
use super::draft::{Draft, THE_END, either};
use super::report::{Part, Verdict};
use super::rule::Rule;

/// A place in an order where something does not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// What ends too early: the stream, or what belongs to one key.
    pub all: String,
    /// Behind which message; none at the beginning.
    pub after: Option<String>,
    /// The same, as it is told.
    pub behind: String,
    /// What does not come.
    pub wanted: Vec<String>,
    /// What comes in its place.
    pub got: BTreeSet<String>,
}

impl Gap {
    /// The change that it is.
    pub(super) fn draft(self) -> Draft {
        let draft = Draft::new(Rule::OrderMissing, Verdict::Breaking, Part::Order, String::new());
        self.told(draft)
    }

    fn told(self, draft: Draft) -> Draft {
        let Self { all, after, behind, wanted, got } = &self;
        let (rule, what) = if got.iter().any(|got| got != THE_END) {
            let got: Vec<String> = got.iter().cloned().collect();
            let what =
                format!("{} comes {behind} with no {} between", either(&got), either(wanted));
            (Rule::OrderMissing, what)
        } else {
            (Rule::OrderEndNew, format!("{all} ends {behind} with no {}", either(wanted)))
        };
        let after = after.as_deref();
        let about = after.map_or(About::Answers, |tag| About::Messages(tag.to_owned()));
        let got = got.iter().map(|got| if got == THE_END { "" } else { got });
        let got = got.collect::<Vec<_>>().join("|");
        let key = format!("{}>{got}!{}", after.unwrap_or_default(), wanted.join("|"));
        Draft { rule, what, gap: Some(self), ..draft.keyed(key).about(about) }
    }
}

/// What does not come in one place is one change, whatever comes there.
pub(super) fn together(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<Draft> = Vec::new();
    for draft in drafts {
        let place =
            |draft: &Draft| draft.gap.as_ref().map(|gap| (gap.behind.clone(), gap.wanted.clone()));
        let same = |other: &&mut Draft| draft.gap.is_some() && place(other) == place(&draft);
        let Some(other) = kept.iter_mut().find(same) else {
            kept.push(draft);
            continue;
        };
        other.show_for(&draft);
        other.lost.extend(draft.lost.iter().cloned());
        if let (Some(mut gap), Some(more)) = (other.gap.clone(), draft.gap) {
            gap.got.extend(more.got);
            *other = gap.told(other.clone());
        }
    }
    kept
}
