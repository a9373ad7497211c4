//! # AdaBoost.OLM++: online multiclass boosting of any weak learner
//!
//! A chain of $N$ copies of a weak learner. Each copy learns the costs that remain after the forecasts of the
//! previous copies, and a boosting regression converts the class that it predicts into new logits.
//! Exponential weights over the $N$ prefixes of the chain determine which prefix's label is played.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: section 4.2, Algorithm 4, Proposition 4.4. It improves AdaBoost.OLM (Jung,
//! Goetz, Tewari 2017). `references.bib`: `agarwal2022folklore`, `jung2017adaboostolm`; theory: boosting 4.1,
//! 4.3, 4.4.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $N$ | `copies` | weak learners |
//! | $s^i$ | `logits` | after copy $i$; $s^0 = 0$ |
//! | $l^i$ | `named` | the class that copy $i$ predicts |
//! | $C^i$ | `costs` | costs of the classes, from $s^{i-1}$, see [`costs`] |
//! | $\hat y^i$ | | $\arg\max s^i$ |
//! | $M_i$ | `mistakes` | number of mistakes of $\hat y^i$ so far |
//! | $\gamma_i$ | `edge` | advantage of copy $i$ over random guessing |
//!
//! $$ l^i = \mathrm{WL}_i(x), \quad s^i = \mathrm{regression}_i(s^{i-1}, l^i), \tag{1} $$
//! $$ p = \sum_i w_i\ e_{\hat y^i} / \sum_i w_i, \qquad w_i = e^{-M_i}, \tag{2} $$
//! $$ \mathrm{WL}_i \text{ learns } C^i(y, \cdot), \quad
//!    \mathrm{regression}_i \text{ learns } [l^i = y], \quad M_i \mathrel{+}= [\hat y^i \ne y]. \tag{3} $$
//!
//! With probability $1 - \delta$ the mistakes are at most $4 \min_i M_i + 2 \ln(N/\delta)$
//! ([`crate::bounds::adaboost_olm`]), and $\min_i M_i = O((T \ln K + N R(T)) / \sum_i \gamma_i^2)$ with the
//! measured edges
//!
//! $$ \gamma_i = \sum_t \big([l^i = y](1 - \sigma_y) - [l^i \ne y]\ \sigma_{l^i}\big) \big/
//!    \sum_t (1 - \sigma_y), \quad \sigma = \mathrm{softmax}(s^{i-1}): \tag{4} $$
//!
//! which is reported by [`Inside::figures`]. A copy with an edge near 0 contributes nothing.
//!
//! ## Deviations
//!
//! * Beside the paper's drawn label, `play` offers deterministic forecasts, for which the paper has no
//!   guarantee: the logits of the `best` or the `last` prefix; a `mixture`, $\sum_i \omega_i
//!   \mathrm{softmax}(s^i)$ with $\omega_i$ decreasing exponentially in the log loss of prefix $i$, whose
//!   total log loss is at most $\ln N$ above that of the best prefix (Vovk); and `vote`, the frequencies of
//!   the copies' classes $l^i$, without the regressions, which has the fewest mistakes if the copies are
//!   strong and the rows few. Log loss is reported for these, but not for the drawn label.
//! * Scores are the logits of the prefix with the fewest mistakes (the first of several), whose argmax is the
//!   greedy label.
//! * The paper does not specify the weak learner. The default is [`tree`](super::tree).
//! * Late feedback: the current weak learners learn the costs and predicted classes of the prediction.
//!
//! ## Cost
//!
//! $O(N(K + \text{weak}))$ for `predict` and for `update`.

use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::boosting::copies::{Copies, Weak};
use crate::boosting::costs;
pub use crate::boosting::params::{AdaBoostOlmParams, Answer, BoosterParams, WeakName};
use crate::boosting::powers::Powers;
use crate::boosting::regression::{BoostingRegression, Constants, Horizon};
use crate::bounds;
use crate::capability::Inside;
use crate::example::{Features, LEAST_PROBABILITY, Target};
use crate::guarantee::Guarantee;
use crate::kernel::softmax::softmax;
use crate::kernel::vector::take;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::param::{ParamError, Values};
use crate::prediction::{Prediction, argmax};
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// The number of rounds that is assumed if the horizon is unknown: too small a number increases the loss
/// slightly, too large a number increases the bound by a logarithm.
const HORIZON: u64 = 1_000_000;

/// What belongs to a copy of the weak learner: its regression and its statistics.
#[derive(Clone, Default)]
struct Link {
    regression: BoostingRegression,
    /// Numerator and denominator of the edge, and the total log loss of the prefix that ends with this copy.
    record: [f64; 3],
}

/// See the [module](self).
#[derive(Clone)]
pub struct AdaBoostOlm {
    params: AdaBoostOlmParams,
    problem: Problem,
    horizon: Horizon,
    play: Answer,
    weak: Copies,
    links: Vec<Link>,
    /// $M_i$.
    mistakes: Vec<u64>,
    rounds: u64,
    /// Buffers of the update.
    work: Vec<f64>,
}

impl fmt::Debug for AdaBoostOlm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaBoostOlm")
            .field("params", &self.params)
            .field("problem", &self.problem)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

/// The intermediate results of the chain in a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// $s^0, \dots, s^N$.
    pub logits: Vec<Vec<f64>>,
    /// $l^1, \dots, l^N$.
    pub named: Vec<usize>,
    /// $\hat y^1, \dots, \hat y^N$.
    pub labels: Vec<usize>,
}

impl AdaBoostOlm {
    fn constants(&self) -> Constants {
        self.horizon.constants(self.rounds)
    }

    /// $\gamma_i$ of every copy, eq. (4): in [-1, 1], 0 before the first round.
    pub fn edges(&self) -> Vec<f64> {
        let edge = |[gained, at_stake, _]: [f64; 3]| if at_stake > 0.0 { gained / at_stake } else { 0.0 };
        self.links.iter().map(|copy| edge(copy.record)).collect()
    }

    /// $M_i$ of every prefix.
    pub fn mistakes(&self) -> &[u64] {
        &self.mistakes
    }

    /// $w_i / \sum_j w_j$.
    pub fn prefix_weights(&self) -> Vec<f64> {
        let fewest = self.fewest();
        let weights: Vec<f64> = self.mistakes.iter().map(|count| weight(*count, fewest)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// The chain of the prediction `at`.
    pub fn chain(&self, at: &Prediction) -> Chain {
        let mut logits = vec![0.0; self.problem.classes];
        let mut chain = Chain { logits: vec![logits.clone()], ..Chain::default() };
        for (named, logit) in at.indices.iter().map(|named| *named as usize).zip(&at.kept) {
            logits[named] = *logit;
            chain.named.push(named);
            chain.labels.push(argmax(&logits));
            chain.logits.push(logits.clone());
        }
        chain
    }

    /// $\min_i M_i$.
    fn fewest(&self) -> u64 {
        *self.mistakes.iter().min().expect("there is a copy")
    }
}

/// $w_i$, up to a factor.
fn weight(mistakes: u64, fewest: u64) -> f64 {
    (-((mistakes - fewest) as f64)).exp()
}

impl Algorithm for AdaBoostOlm {
    type Params = AdaBoostOlmParams;

    const ABOUT: About = About {
        name: "adaboost-olm",
        summary: "AdaBoost.OLM++: online multiclass boosting of trees, stumps or any learner",
        paper: Paper { key: "agarwal2022folklore", place: "Algorithm 4, Proposition 4.4" },
        guarantee: "expected mistakes <= 1.6 (min_i M_i + ln N), M_i those of prefix i; with probability 1 - delta, mistakes <= 4 min_i M_i + 2 ln(N/delta)",
        cost: "N (K + weak learner)",
        memory: "N weak learners; trees at most 4 MiB each and 64 MiB for the rows that they share",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn about(&self) -> &'static About {
        const DETERMINISTIC: About = About {
            guarantee: "none: Proposition 4.4 is about play = hedge",
            forecast: Forecast::Probabilities,
            ..AdaBoostOlm::ABOUT
        };
        const MIXTURE: About = About {
            guarantee: "log loss <= that of the best prefix + ln N; Proposition 4.4 is about play = hedge",
            ..DETERMINISTIC
        };
        match self.play {
            Answer::Hedge => const { &Self::ABOUT },
            Answer::Best | Answer::Last | Answer::Vote => const { &DETERMINISTIC },
            Answer::Mixture => const { &MIXTURE },
        }
    }

    fn scale_free(params: &AdaBoostOlmParams) -> bool {
        params.weak().is_ok_and(|weak| matches!(weak, Weak::Tree(_) | Weak::BestStump(_) | Weak::Stump(_)))
    }

    /// Stumps and trees draw their features.
    fn draws(params: &AdaBoostOlmParams) -> bool {
        match params.weak() {
            Ok(Weak::Learner(entry, values)) => entry.draws(&values).unwrap_or(true),
            _ => true,
        }
    }

    fn new(params: AdaBoostOlmParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let count = params.copies();
        if !(1..=10_000).contains(&count) {
            return Err(ParamError::invalid("copies", count, "from 1 to 10000"));
        }
        let known = Horizon::Rounds(problem.horizon.unwrap_or(HORIZON).max(1));
        let horizon = params.own.horizon.unwrap_or(known).check()?;
        let play = params.own.play.unwrap_or(Answer::Hedge);
        let weak = params.weak()?;
        let copies = weak.make(&problem, seed, count)?;
        // A single stump has no parameters.
        let weak_values = match weak {
            Weak::Stump(_) => Values::new(),
            _ => copies.values(),
        };
        let own = BoosterParams {
            weak: Some(params.own.weak.unwrap_or_else(|| WeakName("tree".to_owned()))),
            copies: Some(count),
            horizon: Some(horizon),
            play: Some(play),
            candidates: params.own.candidates,
        };
        Ok(Self {
            params: AdaBoostOlmParams { own, weak_values, learners: params.learners },
            horizon,
            play,
            mistakes: vec![0; count as usize],
            weak: copies,
            links: vec![Link::default(); count as usize],
            rounds: 0,
            work: vec![0.0; 4 * problem.classes],
            problem,
        })
    }

    own! { params, numbers }

    fn numbers_for(params: &AdaBoostOlmParams, problem: &Problem) -> usize {
        let weak = params.weak().map_or(0, |weak| weak.numbers(problem));
        (params.copies() as usize).saturating_mul(weak.saturating_add(8))
    }
}

/// Writes $\ln p$ to `scores`.
fn logarithms(probabilities: &[f64], scores: &mut [f64]) {
    for (score, p) in scores.iter_mut().zip(probabilities) {
        *score = p.max(LEAST_PROBABILITY).ln();
    }
}

impl Predictor for AdaBoostOlm {
    own! { problem }

    fn prediction(&self) -> Prediction {
        let mut prediction = Prediction::sized(self.problem.classes, 2 * self.problem.classes);
        // For every copy: the class that it predicts, and the new logit of that class.
        prediction.indices = vec![0; self.links.len()];
        prediction.kept = vec![0.0; self.links.len()];
        prediction.members = self.weak.rooms(self.links.len());
        prediction
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let constants = self.constants();
        let fewest = self.fewest();
        let shown = match self.play {
            Answer::Last => self.links.len() - 1,
            // The first of several.
            _ => self.mistakes.iter().position(|count| *count == fewest).expect("just found"),
        };
        let least = self.links.iter().map(|copy| copy.record[2]).fold(f64::INFINITY, f64::min);
        let Prediction { scores, probabilities, scratch, kept, indices, members, .. } = out;
        self.weak.predict(x, indices, members);
        let (logits, powers) = scratch.split_at_mut(self.problem.classes);
        let mut chain = Powers::new(logits, powers);
        probabilities.fill(0.0);
        let mut total = 0.0;
        for (at, (copy, named)) in self.links.iter().zip(&*indices).enumerate() {
            let named = *named as usize;
            let (rest, before) = (chain.rest(named), chain.logits[named]);
            chain.set(named, copy.regression.predict_beside(rest, before, &constants)); // eq. (1)
            kept[at] = chain.logits[named];
            match self.play {
                Answer::Hedge => {
                    let weight = weight(self.mistakes[at], fewest);
                    probabilities[argmax(chain.logits)] += weight; // eq. (2)
                    total += weight;
                }
                Answer::Mixture => {
                    let weight = (least - copy.record[2]).exp();
                    chain.add_softmax(weight, probabilities);
                    total += weight;
                }
                Answer::Vote => probabilities[named] += 1.0,
                Answer::Best | Answer::Last => {}
            }
            if at == shown {
                scores.copy_from_slice(chain.logits);
            }
        }
        match self.play {
            Answer::Hedge => probabilities.iter_mut().for_each(|p| *p /= total),
            Answer::Best | Answer::Last => softmax(scores, probabilities),
            Answer::Mixture => {
                probabilities.iter_mut().for_each(|p| *p /= total);
                logarithms(probabilities, scores);
            }
            Answer::Vote => {
                // One additional vote is divided equally, so that every class has a positive probability.
                let (votes, share) = (self.links.len() as f64 + 1.0, 1.0 / self.problem.classes as f64);
                probabilities.iter_mut().for_each(|p| *p = (*p + share) / votes);
                logarithms(probabilities, scores);
            }
        }
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for AdaBoostOlm {
    /// Eq. (3), with the quantities of the round's prediction.
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let y = y.class_index();
        let constants = self.constants();
        let classes = self.problem.classes;
        let rest = &mut &mut self.work[..];
        let (logits, powers) = (take(rest, classes), take(rest, classes));
        let (sigma, costs) = (take(rest, classes), take(rest, classes));
        let mut chain = Powers::new(logits, powers);
        self.weak.start(x, y);
        let steps = at.indices.iter().zip(&at.kept).zip(&at.members);
        for (index, ((copy, mistakes), ((named, logit), room))) in
            self.links.iter_mut().zip(&mut self.mistakes).zip(steps).enumerate()
        {
            let (named, logit) = (*named as usize, *logit);
            sigma.fill(0.0);
            chain.add_softmax(1.0, sigma);
            let missing = costs::row_of(sigma, y, costs);
            copy.record[0] += if named == y { missing } else { -sigma[named] }; // eq. (4)
            copy.record[1] += missing;
            self.weak.update(index, x, y, costs, room);
            let (rest, before) = (chain.rest(named), chain.logits[named]);
            copy.regression.update_beside(rest, before, logit, named == y, &constants);
            chain.set(named, logit);
            copy.record[2] += chain.loss(y);
            *mistakes += u64::from(argmax(chain.logits) != y);
        }
        self.rounds += 1;
    }

    own! { rounds }

    /// The paper's bound before it is one with high probability; the other answers are not drawn by the
    /// weights that it is about.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        if self.play != Answer::Hedge {
            return None;
        }
        let (fewest, copies) = (self.fewest(), self.links.len());
        let expert = format!("the best of the {copies} prefixes of the chain; its {fewest} mistakes");
        let bound = Ok(bounds::adaboost_olm_expected(fewest, copies));
        Some(Guarantee::ExpertMistakes { expert, beyond: false, bound })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for AdaBoostOlm {
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mistakes = self.mistakes.iter().map(|count| *count as f64).collect();
        vec![("edges", self.edges()), ("prefix_mistakes", mistakes)]
    }

    fn explain(&self, at: &Prediction) -> Vec<(&'static str, Vec<Vec<f64>>)> {
        let Chain { logits, labels, .. } = self.chain(at);
        let labels = labels.iter().map(|label| *label as f64).collect();
        vec![("s", logits), ("prefix_labels", vec![labels]), ("prefix_weights", vec![self.prefix_weights()])]
    }
}

impl State for AdaBoostOlm {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.weak.tensors();
        for (at, copy) in self.links.iter_mut().enumerate() {
            let prefix = format!("copy/{at}");
            tensors.push(Tensor::vector("regression", copy.regression.sums()).within(&prefix));
            tensors.push(Tensor::vector("record", &mut copy.record).within(&prefix));
        }
        tensors.push(Tensor::counts("mistakes", &mut self.mistakes));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.weak.restored()
    }
}
