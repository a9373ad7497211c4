//! # The multiclass Perceptron
//!
//! After a mistake, adds the row to the weights of its class and subtracts it from those of the played class.
//! It has no learning rate and no probabilities, and a bound on the mistakes against every comparator.
//!
//! ## Reference
//!
//! Frank Rosenblatt, *The Perceptron*, Psychological Review 65, 1958; several classes and bounds as in Alina
//! Beygelzimer, Francesco Orabona, Chicheng Zhang, *Efficient Online Bandit Multiclass Learning with Õ(√T)
//! Regret*, ICML 2017, Theorem 1. `references.bib`: `rosenblatt1958perceptron`, `beygelzimer2017soba`;
//! theory: baselines 4.1.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $W_t$ | `weights` | $K \times d$, starts at 0 |
//! | $\hat y_t$ | `Prediction::top` | played class |
//! | $X$ | | bound on $\lVert x \rVert_2$, not needed to run |
//!
//! $$ \hat y_t = \arg\max_k (W_t x_t)_k, \tag{1} $$
//! $$ W_{t+1} = W_t + (e_{y_t} - e_{\hat y_t})\ x_t^\top \quad\text{if } \hat y_t \ne y_t. \tag{2} $$
//!
//! With $L_q$ the total of the power $q \in [1, 2]$ of $U$'s multiclass hinge losses, the mistakes $M$
//! satisfy $M \le M^{1-1/q}L_q^{1/q} + \sqrt2X\lVert U \rVert\sqrt M$, and so
//! $\sqrt M \le \sqrt{L_q} + \sqrt2X\lVert U \rVert$.
//!
//! ## Deviations
//!
//! * Among equal scores the first class is played; the bounds hold for any rule.
//! * Late feedback corrects the class that was played, from the current weights.
//!
//! ## Cost
//!
//! $O(K\ \mathrm{nnz}(x))$ for `predict` and for `update` after a mistake, nothing for `update` after a right
//! guess; memory $Kd$ numbers, allocated only for features that occur.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds;
use crate::example::{Features, Target};
use crate::guarantee::{Guarantee, MistakeBound, Promise, reference_norm};
use crate::kernel::weights::Weights;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, grow, own};
use crate::loss::hinge::hinge;
use crate::param::ParamError;
use crate::params;
use crate::prediction::{Prediction, argmax};
use crate::problem::Problem;
use crate::state::state;

/// The powers of the hinge loss whose bounds are computed; the least one is shown.
const POWERS: [f64; 5] = [1.0, 1.25, 1.5, 1.75, 2.0];

params! {
    /// Parameters of [`Perceptron`]: it has none.
    pub struct PerceptronParams {}
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Perceptron {
    problem: Problem,
    weights: Weights,
    rounds: u64,
    step: Vec<f64>,
}

impl Algorithm for Perceptron {
    type Params = PerceptronParams;

    const ABOUT: About = About {
        name: "perceptron",
        summary: "the multiclass Perceptron: moves weights on mistakes only, nothing to tune",
        paper: Paper { key: "beygelzimer2017soba", place: "Theorem 1" },
        guarantee: "mistakes <= H + 2 X^2 |U|^2 + X |U| sqrt(2 H) for every U, H its hinge loss",
        cost: "2 K nnz(x) flops a round, twice that on a mistake",
        memory: "K d numbers; sparse rows: K a feature seen",
        forecast: Forecast::Label,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn new(_params: PerceptronParams, problem: Problem, _seed: u64) -> Result<Self, ParamError> {
        let (k, d) = (problem.classes, problem.features);
        Ok(Self { weights: Weights::new(k, d, problem.sparse), problem, rounds: 0, step: vec![0.0; k] })
    }

    fn params(&self) -> PerceptronParams {
        PerceptronParams {}
    }

    own! { weights }
}

impl Predictor for Perceptron {
    own! { problem, prediction }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.weights.scores(x, &mut out.scores);
        out.probabilities.fill(0.0);
        out.probabilities[argmax(&out.scores)] = 1.0; // eq. (1)
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Perceptron {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let scores = at.is_fresh(self.rounds).then_some(&at.scores[..]);
        self.rounds += 1;
        let (label, played) = (y.class_index(), at.top().index());
        if label == played {
            return;
        }
        self.step.fill(0.0);
        self.step[label] = 1.0;
        self.step[played] = -1.0;
        self.weights.add(&self.step, x, scores); // eq. (2)
    }

    own! { rounds }

    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound: Promise<MistakeBound<'_>> = match self.problem.radius {
            Some(radius) => Ok(Box::new(move |u| {
                let of_power = |power: f64| {
                    let losses = u.total(|margin| hinge(margin).powf(power));
                    bounds::perceptron(losses, power, u.norm, radius)
                };
                POWERS.into_iter().map(of_power).fold(f64::INFINITY, f64::min)
            })),
            None => Err("the largest norm of a row is not known".into()),
        };
        Some(Guarantee::Mistakes { norm: reference_norm(&self.problem), bound, drawn: None })
    }

    grow! { weights, step }
}

state! { Perceptron; weights; count rounds }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::round;

    fn perceptron(classes: usize, features: usize, sparse: bool) -> Perceptron {
        let problem = Problem::new(classes, features).with_sparse(sparse);
        Perceptron::new(PerceptronParams {}, problem, 0).expect("no parameters")
    }

    /// Round 1: all scores are 0, and class 0 is played; the label is 2: W_2 = (1, 2), W_0 = (-1, -2). Round
    /// 2 at (1, 0): scores (-1, 0, 1), class 2 is played and right: no update. Round 3 at (0, 1): scores (-2,
    /// 0, 2), the label is 1: W_1 = (0, 1) and W_2 = (1, 1). Scores at (1, 1) are (-3, 1, 2).
    #[test]
    fn by_hand() {
        for sparse in [false, true] {
            let mut learner = perceptron(3, 2, sparse);
            assert_eq!(round(&mut learner, &[1.0, 2.0], 2).scores, [0.0, 0.0, 0.0]);
            assert_eq!(round(&mut learner, &[1.0, 0.0], 2).scores, [-1.0, 0.0, 1.0]);
            assert_eq!(round(&mut learner, &[0.0, 1.0], 1).scores, [-2.0, 0.0, 2.0]);
            assert_eq!(round(&mut learner, &[1.0, 1.0], 0).scores, [-3.0, 1.0, 2.0]);
        }
    }

    /// Two rounds predicted at W = 0 and learnt late: class 0 was played in both, so that both rows are
    /// subtracted from class 0.
    #[test]
    fn late_feedback_corrects_the_class_that_was_played() {
        let mut learner = perceptron(3, 1, false);
        let mut at = [learner.prediction(), learner.prediction()];
        at.iter_mut().for_each(|at| learner.predict(Features::Dense(&[1.0]), at));
        for (at, label) in at.iter().zip([1, 2]) {
            let mut kept = Prediction::default();
            kept.keep(at);
            learner.update(Features::Dense(&[1.0]), Target::class(label), &kept);
        }
        learner.predict(Features::Dense(&[1.0]), &mut at[0]);
        assert_eq!(at[0].scores, [-2.0, 1.0, 1.0]);
    }
}
