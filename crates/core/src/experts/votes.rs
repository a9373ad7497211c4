//! Adapts learners that weight experts to streams of rows with labels: each column has the votes of an
//! expert.
//!
//! Column $j$ is the vote $v^j \in [-1, 1]$ of expert $j$ between two classes, the first (-1) and the second
//! (1). With the weights $w$ of the learner,
//!
//! $$ \hat y = \langle w, v \rangle, \qquad p = \bigl(\tfrac12(1 - \hat y),\ \tfrac12(1 + \hat y)\bigr),
//!    \qquad
//!    l^j = \tfrac12(1 - y v^j), \tag{1} $$
//!
//! The expected number of mistakes of a label drawn from $p$ is $\langle w, l \rangle$, which the learner's
//! theorem bounds (theory: abstention 2.3). Learners that abstain do so with the probability
//! [`Prediction::abstain`], and otherwise predict the sign of $\hat y$.
//!
//! Votes outside [-1, 1] are clipped; the front ends reject them.

use crate::algorithm::{About, Algorithm, Forecast};
use crate::capability::{Abstain, Inside};
use crate::example::{Features, Target, Truth};
use crate::guarantee::Promise;
use crate::learner::{Accepts, Classes, ExpertLearner, OnlineLearner, Predictor};
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, state};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Votes<L> {
    learner: L,
    losses: Vec<f64>,
}

impl<L: Algorithm + ExpertLearner> Algorithm for Votes<L> {
    type Params = L::Params;

    const ABOUT: About = About {
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Two, soft_labels: false, weights: false, plain: false },
        ..L::ABOUT
    };

    fn new(params: L::Params, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let losses = vec![0.0; problem.features];
        Ok(Self { learner: L::new(params, problem, seed)?, losses })
    }

    fn params(&self) -> L::Params {
        self.learner.params()
    }

    fn numbers(problem: &Problem) -> usize {
        L::numbers(problem) + problem.features
    }
}

impl<L: ExpertLearner> Predictor for Votes<L> {
    fn problem(&self) -> &Problem {
        self.learner.problem()
    }

    fn prediction(&self) -> Prediction {
        Prediction::sized(2, 0)
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let weights = self.learner.weights();
        let vote: f64 = x.iter().map(|(expert, vote)| weights[expert] * vote.clamp(-1.0, 1.0)).sum();
        // The weights sum to 1 only up to rounding.
        let vote = vote.clamp(-1.0, 1.0); // eq. (1)
        out.scores.copy_from_slice(&[-vote, vote]);
        out.probabilities.copy_from_slice(&[0.5 * (1.0 - vote), 0.5 * (1.0 + vote)]); // eq. (1)
        out.abstain = if self.abstaining().is_some() { 1.0 - vote.abs() } else { 0.0 };
    }
}

impl<L: ExpertLearner> OnlineLearner for Votes<L> {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, _at: &Prediction) {
        let Truth::Class(label) = y.truth else { panic!("the target must be a class") };
        let y = if label.index() == 1 { 1.0 } else { -1.0 };
        self.losses.fill(0.5);
        for (expert, vote) in x.iter() {
            self.losses[expert] = 0.5 * (1.0 - y * vote.clamp(-1.0, 1.0)); // eq. (1)
        }
        self.learner.learn(&self.losses);
    }

    fn rounds(&self) -> u64 {
        self.learner.rounds()
    }

    fn abstaining(&self) -> Option<&dyn Abstain> {
        let abstains = self.learner.abstention_bound(0.0).is_some();
        abstains.then_some(self as &dyn Abstain)
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl<L: ExpertLearner> Inside for Votes<L> {
    fn weights(&self) -> Vec<(String, f64)> {
        (1..).zip(self.learner.weights()).map(|(expert, weight)| (expert.to_string(), *weight)).collect()
    }

    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("losses", self.learner.losses().to_vec()), ("bound", vec![self.learner.bound()])]
    }
}

impl<L: ExpertLearner> Abstain for Votes<L> {
    fn abstention_bound(&self, cost: f64) -> Promise {
        self.learner.abstention_bound(cost).expect("it abstains")
    }
}

state! { Votes<L>, L: State; learner; }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::abstention::AdaHedgeAbstain;
    use crate::experts::adahedge::{AdaHedge, AdaHedgeParams};
    use crate::rng::{Rng, Uniforms};
    use crate::testing::assert_close;

    /// Votes (1, -1, 0.5) of experts with equal weights: the vote is 1/6. The label is the first class:
    /// losses are (1, 0, 3/4), their mean is Δ = 7/12, so that η = 1.88 and w ∝ (0.15, 1, 0.24).
    #[test]
    fn a_round_by_hand() {
        let new = |params| Votes::<AdaHedgeAbstain>::new(params, Problem::new(2, 3), 0);
        let mut learner = new(AdaHedgeParams {}).expect("no parameters");
        let (x, mut at) = (Features::Dense(&[1.0, -1.0, 0.5]), learner.prediction());
        learner.predict(x, &mut at);
        assert_close(at.probabilities[1], 7.0 / 12.0, 1e-15, "the second class");
        assert_close(at.abstain, 5.0 / 6.0, 1e-15, "no answer");
        learner.update(x, Target::class(0), &at);
        assert_eq!(learner.figures()[0].1, [1.0, 0.0, 0.75]);
        assert_close(learner.weights()[1].1, 0.7161, 1e-3, "weight");
    }

    /// The expected error of the drawn label equals the weighted loss of the experts, and satisfies the
    /// theorem's bound.
    #[test]
    fn expected_mistakes_are_the_loss_of_the_theorem() {
        let mut learner = Votes::<AdaHedge>::new(AdaHedgeParams {}, Problem::new(2, 4), 0).expect("none");
        let (mut rng, mut at, mut mistakes) = (Rng::new(3, 0), learner.prediction(), 0.0);
        for _ in 0..2000 {
            let y = usize::from(rng.uniform() < 0.5);
            let votes: Vec<f64> = [0.5, 0.6, 0.7, 0.9]
                .iter()
                .map(|right| if (rng.uniform() < *right) == (y == 1) { 1.0 } else { -1.0 })
                .collect();
            learner.predict(Features::Dense(&votes), &mut at);
            assert_close(at.probabilities.iter().sum::<f64>(), 1.0, 1e-15, "probabilities");
            assert_eq!(at.abstain, 0.0);
            mistakes += at.probabilities[1 - y];
            learner.update(Features::Dense(&votes), Target::class(y), &at);
        }
        let best = learner.figures()[0].1.iter().copied().fold(f64::INFINITY, f64::min);
        let bound = learner.figures()[1].1[0];
        assert!(mistakes - best <= bound && mistakes > best, "{mistakes} {best} {bound}");
    }
}
