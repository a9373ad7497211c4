//! Where the member of a seat predicts and learns.

use crate::prediction::Prediction;

/// The process in which the member of a seat predicts and learns.
#[derive(Clone, Default)]
pub(super) enum Home {
    /// This one.
    #[default]
    Here,
    /// This one; the forecasts are kept for another process, one round after another.
    Lent(Vec<f64>),
    /// Another one; the forecasts for the rounds that come, and the index of the first of them.
    Borrowed(Vec<f64>, usize),
    /// Another one, and the forecasts are not known here.
    Away,
}

impl Home {
    pub(super) fn is_here(&self) -> bool {
        matches!(self, Self::Here | Self::Lent(_))
    }

    /// Records what the member has forecast.
    pub(super) fn note(&mut self, at: &Prediction) {
        if let Self::Lent(forecasts) = self {
            forecasts.extend_from_slice(&at.scores);
            at.members.iter().for_each(|head| forecasts.extend_from_slice(&head.probabilities));
        }
    }

    /// Writes what the member forecasts for the next round to `at`, if it is borrowed.
    pub(super) fn read(&mut self, classes: usize, heads: usize, at: &mut Prediction) {
        let Self::Borrowed(forecasts, next) = self else { return };
        at.members.resize(heads, Prediction::default());
        let heads = at.members.iter_mut().map(|head| &mut head.probabilities);
        for list in std::iter::once(&mut at.scores).chain(heads) {
            list.clear();
            list.extend_from_slice(&forecasts[*next..][..classes]);
            *next += classes;
        }
    }
}
