//! Kinds of labels of Vowpal Wabbit that are not read, each with what to do instead.

use crate::read::error::shown;

/// Why the label `head`, the part of a line before the first bar, is not read; `None` if it may be.
pub(super) fn refused(head: &str) -> Option<String> {
    let words = || head.split_ascii_whitespace();
    Some(match words().next()? {
        "ca" => CONTINUOUS.to_owned(),
        "slates" => SLATES.to_owned(),
        "shared" | "ccb" => "begins a round of several lines (cb_adf, ccb, csoaa_ldf), whose actions have features of their own: \
                             --feedback bandit learns from them"
            .to_owned(),
        word => return several_labels(word),
    })
}

/// Why a label is not read that is a list of numbers, as `1,3`; `None` for others.
pub(crate) fn several_labels(word: &str) -> Option<String> {
    let is_number = |part: &str| part.parse::<u32>().is_ok() || part.is_empty();
    (word.contains(',') && word.split(',').all(is_number)).then(|| {
        format!(
            "the label {} names several labels, and a row has one: write a row for each of them",
            shown(word)
        )
    })
}

/// About continuous actions.
pub(super) const CONTINUOUS: &str = "has the label of a continuous action (ca: cats, cbzo), where one of finitely many labels was \
                                     needed: divide the range of actions into a few, and write action:cost:probability";

/// About rounds with several decisions and one cost.
pub(super) const SLATES: &str = "is part of a round with several slots and one cost for all of them (slates), where a cost for each \
                                 slot was needed: written as ccb, with the actions that it allows and the cost of the round, each \
                                 slot is learnt by itself, and evaluate_slates in Python says what other policies would have earned";
