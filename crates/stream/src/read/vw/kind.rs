//! Kinds of labels of Vowpal Wabbit that are not read, each with what to do instead.

use crate::read::error::shown;

/// Why the label `head`, the part of a line before the first bar, is not read; `None` if it may be.
pub(super) fn refused(head: &str) -> Option<String> {
    let words = || head.split_ascii_whitespace();
    Some(match words().next()? {
        "ca" => CONTINUOUS.to_owned(),
        kind @ ("ccb" | "slates") => several_slots(kind),
        "shared" => "begins a round of several lines (cb_adf, csoaa_ldf), whose actions have features of their own: learners of \
                     bandit feedback learn from them"
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

/// About rounds with several decisions; `kind` is Vowpal Wabbit's word for them.
pub(super) fn several_slots(kind: &str) -> String {
    format!(
        "is part of a round with several slots ({kind}), where a round with one decision was needed: write each slot as a round of \
         its own, with a shared line, its actions and action:cost:probability (cb_adf)"
    )
}
