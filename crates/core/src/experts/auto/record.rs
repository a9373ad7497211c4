//! What the mixture records about each member: the weights of its heads among each other, and its gain over
//! the frequencies of the classes.
//!
//! The forecast $\bar p$ of a member is the mixture of its $H$ heads with weights $u$, which do not depend on
//! other members, so that members can learn at the same time:
//!
//! $$ u_h \leftarrow (1 - s)\ \frac{u_h (p^h_y)^\eta}{\sum_j u_j (p^j_y)^\eta} + \frac sH, \qquad \eta =
//!    \tfrac13. \tag{1} $$
//!
//! Heads of a kind are so alike that a mixture of several is better than the best of them: with Bayes' rule,
//! $s = 0$ and $\eta = 1$, the log-loss of `auto` is up to 5 % higher on real streams. The theorem of
//! [`auto`](super) is about the heads with weights of their own, whatever $\bar p$ is.
//!
//! Heads that learn from different views of a row, or are the same trees in different number, are weighted by
//! Vovk's aggregation, in which guessing takes part: if the first head that is a little better than the
//! others had all of the weight, all would learn more slowly for a long time (15 % more log-loss on some
//! streams of texts).

use crate::example::Target;
use crate::experts::mixture::Mixture;
use crate::kernel::softmax::quick_exponentials;
use crate::prediction::Prediction;
use crate::state::Tensor;

use super::description::Description;
use super::renewal::Renewal;

/// $\eta$.
const LEARNING_RATE: f64 = 1.0 / 3.0;

/// $s$.
const SHARE: f64 = 1.0 / 32.0;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Record {
    weights: Weights,
    /// Those of the heads, and that of guessing.
    losses: Vec<f64>,
    pub(super) renewal: Renewal,
}

/// $u$.
#[derive(Clone)]
enum Weights {
    /// By eq. (1).
    Alike(Vec<f64>),
    /// By Vovk's aggregation, for heads some of which may suit a stream much better than others. Guessing
    /// takes part, as the last one: as long as no head is better, they all have about the same weight.
    Unlike(Mixture),
}

impl Record {
    pub(super) fn new(description: Description) -> Self {
        let heads = description.heads();
        let weights = if !description.kind().traits().similar_heads {
            let mut prior = vec![1.0; heads];
            prior.push(heads as f64);
            Weights::Unlike(Mixture::new(&prior))
        } else {
            Weights::Alike(vec![1.0 / heads as f64; heads])
        };
        Self { weights, losses: vec![0.0; heads + 1], renewal: Renewal::default() }
    }

    fn heads(&self) -> usize {
        self.losses.len() - 1
    }

    /// Writes the mixture of the heads of `at` to its own probabilities.
    pub(super) fn mix(&self, at: &mut Prediction) {
        let (weights, total) = match &self.weights {
            Weights::Alike(weights) => (&weights[..], 1.0),
            Weights::Unlike(mixture) => {
                let weights = &mixture.weights()[..self.heads()];
                (weights, weights.iter().sum())
            }
        };
        at.probabilities.fill(0.0);
        for (head, weight) in at.members.iter().zip(weights) {
            let share = weight / total;
            for (mine, theirs) in at.probabilities.iter_mut().zip(&head.probabilities) {
                *mine += share * theirs;
            }
        }
        at.set_scores_to_logarithms();
    }

    /// Learns the target of the round in which the heads of `at` were predicted.
    pub(super) fn update(&mut self, y: Target<'_>, at: &Prediction) {
        let heads = self.heads();
        if heads == 1 {
            return;
        }
        for (loss, head) in self.losses.iter_mut().zip(&at.members) {
            *loss = y.log_loss(&head.probabilities);
        }
        let weights = match &mut self.weights {
            Weights::Alike(weights) => weights,
            Weights::Unlike(mixture) => {
                self.losses[heads] = y.weight * (at.probabilities.len() as f64).ln();
                return mixture.update(&self.losses);
            }
        };
        let losses = &mut self.losses[..heads];
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        losses.iter_mut().for_each(|loss| *loss = LEARNING_RATE * (least - *loss));
        quick_exponentials(losses);
        for (weight, likelihood) in weights.iter_mut().zip(losses) {
            *weight *= *likelihood;
        }
        let (total, heads) = (weights.iter().sum::<f64>(), heads as f64);
        for weight in weights {
            *weight = (1.0 - SHARE) * *weight / total + SHARE / heads; // eq. (1)
        }
    }

    /// The prediction `at` as the member's update may take it, or `None` if that is `at` itself. A `late`
    /// prediction may be one of the member's predecessor, whose by-products must not be reused: rounds are
    /// counted from 0 again, so that the stamp alone does not show it.
    pub(super) fn without_by_products(&self, late: bool, at: &Prediction) -> Option<Prediction> {
        (late && self.renewal.has_begun_anew()).then(|| Prediction { stamp: None, ..at.clone() })
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.renewal.tensors());
        match &mut self.weights {
            Weights::Alike(weights) => tensors.push(Tensor::vector("weights", weights)),
            Weights::Unlike(mixture) => tensors.extend(mixture.tensors()),
        }
        tensors
    }

    /// Whether a loaded state is valid.
    pub(super) fn restored(&mut self) -> bool {
        let weights = match &mut self.weights {
            Weights::Unlike(mixture) => mixture.restored(),
            Weights::Alike(weights) => {
                let least = SHARE / weights.len() as f64;
                weights.iter().all(|weight| (0.5 * least..=1.0 + 1e-6).contains(weight))
                    && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
            }
        };
        weights && self.renewal.is_consistent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two heads of trees give the probabilities 0.8 and 0.1 to the label: cubic roots in the ratio 2 to 1,
    /// so that the weights are (31/32) 2/3 + 1/64 and the rest.
    #[test]
    fn heads_are_weighted_among_each_other() {
        let head = |p: f64| Prediction { probabilities: vec![p, 1.0 - p], ..Prediction::default() };
        let mut at = Prediction { members: vec![head(0.8), head(0.1)], ..Prediction::sized(2, 0) };
        let mut record = Record::new(Description::of("trees", [0.0; 2]));
        record.mix(&mut at);
        assert!((at.probabilities[0] - 0.45).abs() < 1e-15, "{:?}", at.probabilities);
        record.update(Target::class(0), &at);
        record.mix(&mut at);
        let first = 31.0 / 48.0 + 1.0 / 64.0;
        let want = first * 0.8 + (1.0 - first) * 0.1;
        assert!((at.probabilities[0] - want).abs() < 1e-15, "{:?}", at.probabilities);
        assert!((at.scores[1] - (1.0 - want).ln()).abs() < 1e-12, "{:?}", at.scores);
        assert!(record.restored());
        for wrong in [0.0, -0.1, f64::NAN, 2.0] {
            let mut damaged = record.clone();
            let Weights::Alike(weights) = &mut damaged.weights else { unreachable!("trees are alike") };
            weights[0] = wrong;
            assert!(!damaged.restored(), "{wrong}");
        }
    }

    /// While all heads are worse than guessing, their weights stay alike; later the best one dominates.
    #[test]
    fn heads_of_views_are_compared_with_guessing() {
        let head = |p: f64| Prediction { probabilities: vec![p, 1.0 - p], ..Prediction::default() };
        let mut record = Record::new(Description::of("diagonals", [2.0, 0.0]));
        let mut play = |p: [f64; 2]| {
            let mut at = Prediction { members: p.map(head).to_vec(), ..Prediction::sized(2, 0) };
            record.mix(&mut at);
            record.update(Target::class(0), &at);
            (at.probabilities[0] - p[1]) / (p[0] - p[1])
        };
        for _ in 0..30 {
            let first = play([0.4, 0.3]);
            assert!((0.45..0.75).contains(&first), "{first}");
        }
        let last = (0..50).map(|_| play([0.9, 0.5])).last();
        assert!(last > Some(0.95), "{last:?}");
        assert!(record.restored());
    }

    #[test]
    fn late_predictions_of_a_predecessor_have_no_by_products() {
        let mut at = Prediction::sized(3, 2);
        at.stamp = Some(7);
        let mut record = Record::new(Description::of("forest", [0.0; 2]));
        assert!(record.without_by_products(true, &at).is_none(), "it never began anew");
        assert!((0..200).all(|_| !record.renewal.is_due(0.5, 1.0)));
        assert!((0..100).any(|_| record.renewal.is_due(2.0, 1.0)));
        assert!(record.without_by_products(false, &at).is_none(), "of the member as it is");
        assert_eq!(record.without_by_products(true, &at).map(|at| at.stamp), Some(None));
    }
}
