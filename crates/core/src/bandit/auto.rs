//! # auto with bandit feedback: no learning rate or horizon to choose
//!
//! Forecasts the reward of every label by mixtures of learners, and draws labels by the gaps of these
//! forecasts to the best one (inverse gap weighting). The amount of exploration is learnt too: several
//! exploration scales share the forecasts, and each is weighted by an estimate of the reward that it would
//! have earned.
//!
//! ## Reference
//!
//! Inverse gap weighting: Dylan J. Foster, Alexander Rakhlin, *Beyond UCB*, ICML 2020 (`foster2020squarecb`).
//! Doubly robust estimates: Miroslav Dudík, John Langford, Lihong Li, ICML 2011. Aggregation of the
//! forecasts: `vovk1990aggregating`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\hat f_{t,a}$ | `scores`, as log-odds | forecast reward of label $a$ |
//! | | `coupled` | [`Auto`] over all labels, which assumes that exactly one label is right |
//! | | `separate` | a two-class [`Auto`] for each label, which assumes nothing about the other labels'
//! rewards |
//! | | `rare` | a pooled logistic model, which joins these two where rewards are rare (`rare.rs`) |
//! | $v_t$ | `parts` | weights of these two |
//! | $c$, $u_t(c)$ | `scales` | scales of exploration and their weights |
//!
//! With the labels' probabilities $q$ of `coupled` and the rewards $r_a$ that `separate` forecasts,
//!
//! $$ \hat f_a = v\ q_a + (1 - v)\ r_a, \qquad v \text{ by the log loss of what the played label earned,} \tag{1} $$
//! $$ p = \sum_c u(c)\ p^c, \quad p^c_a = \frac{1}{K + c\sqrt{Kt}\ (\hat f_b - \hat f_a)}\ (a \ne b = \arg\max \hat f), \tag{2} $$
//! $$ \hat\ell_c = \sum_a p^c_a (1 - \hat f_a) + \frac{p^c_{a_t}}{p_{a_t}} (\hat f_{a_t} - r_t), \qquad
//!    u(c) \propto e^{-\eta_t \sum \hat\ell_c}, \quad \eta_t = \frac{0.3}{\sqrt{1 + t/100}}, \tag{3} $$
//!
//! and every scale keeps a weight of at least 0.02, so that the importance weights $p^c/p$ are at most 50.
//!
//! After a right guess `coupled` learns the label. After a wrong guess its members learn from the loss
//! $-\ln(1 - q_{a_t})$ of the answer, each by the gradient of its own loss; their weights follow from these
//! losses, too. The curvature of their second-order steps is that of a label times
//!
//! $$ \frac{q_a\ \lVert e_a - q \rVert^2}{(1 - q_a)\ (1 - \lVert q \rVert^2)}, \quad a = a_t, \tag{4} $$
//!
//! the Fisher information in "not $a$ or $a$", relative to that in a label: an answer that excludes one of
//! many labels reveals little, and must not make later steps small. For a reward between 0 and 1 both are the
//! mixtures of those for right and wrong answers.
//!
//! Where rewards are rare, such as clicks, the mixtures learn little: one assumes that some label is right,
//! the other begins every label at ½. There a third forecaster joins, and mixtures that are far behind it are
//! dropped, by their losses; labels are then drawn by Thompson sampling, with probabilities that are
//! computed (`rare.rs`). So it is where rewards are common, if that forecaster is about as good as the
//! mixtures, and from the first round on if a prior is given, at which that forecaster begins.
//!
//! ## Deviations
//!
//! * Of SquareCB's theorem, the inequality of a single round holds for every scale and all forecasts. The
//!   forecasts lose at most $2 \ln 2$ nats more than the better of `coupled` and `separate`; $\hat\ell$ is
//!   unbiased, so that the weights $u$ have a regret of order $\sqrt T$ against the best scale. That one of
//!   the two forecasters is close to the mean rewards is an assumption without proof; therefore no bound is
//!   shown.
//! * The guarantee of [`Auto`] holds for `coupled` with the log loss of what the played labels earned.
//!   Members without gradients (counts, trees and neighbours) learn, after a wrong guess, the forecast $q$
//!   without the played label, as a soft label.
//! * Late feedback is learnt as if the row had come together with it; (3) uses the probabilities of the
//!   decision.
//!
//! ## Cost
//!
//! That of [`Auto`] with the same budget, without look-ahead; and for every label a few times $d^2$, or a few
//! times the number of non-zero entries of a sparse row. Where rewards are rare, after the mixtures are
//! dropped, a few times $d^2 + Kd$.

use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast};
use crate::entry::Learners;
use crate::example::{Features, LEAST_PROBABILITY, Revealed, Target};
use crate::experts::auto::{Auto, AutoParams};
use crate::experts::mixture::Mixture;
use crate::learner::{BanditLearner, OnlineLearner, Predictor, own};
use crate::parallel::Workers;
use crate::param::mode::Mode;
use crate::param::prior::Prior;
use crate::param::{ParamError, Value, Values};
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::state::{Shapes, State, Tensor};

use super::oracle::{Oracle, OracleParams, ROOT_FACTOR, Schedule};
use super::rare::{COUPLED, PARTS, POOLED, Rare, SEPARATE};
use super::scales::Scales;

/// The limit on the multiply-adds of the matrices of all labels' mixtures.
const MATRICES: usize = 2_000_000;

/// The members of a label's mixture, if its matrices are within the limit.
const FULL: &str = "labels+shared@1+shared@0.1+shared@0.01+shared@0.01:0.004";

/// The members otherwise.
const DIAGONAL: &str = "labels+diagonal@0.1:0.1+diagonal@0.01:0.02+diagonal@0.01:0.5";

/// See the [module](self).
#[derive(Clone)]
pub struct BanditAuto {
    problem: Problem,
    coupled: Auto,
    separate: Oracle,
    parts: Mixture,
    rare: Rare,
    scales: Scales,
    rounds: u64,
    /// Buffer for the recomputed decision, if feedback is late.
    at: Decision,
    belief: Vec<f64>,
}

impl fmt::Debug for BanditAuto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BanditAuto")
            .field("coupled", &self.coupled)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

/// The parameters of `separate`.
fn separate_params(problem: &Problem) -> OracleParams {
    OracleParams {
        oracle: Some("auto".to_owned()),
        models: None,
        schedule: Some(Schedule::Root),
        factor: Some(1.0),
        prior: None,
        prior_rounds: None,
        oracle_values: members_of_one(problem.features, problem.classes, problem.sparse),
        learners: Learners::default(),
    }
}

/// The value of `members` for a mixture that forecasts one reward from `features` features, if there are
/// `matrices` such mixtures.
pub(super) fn members_of_one(features: usize, matrices: usize, sparse: bool) -> Values {
    let square = features.saturating_mul(features).saturating_mul(matrices);
    let members = if sparse || square > MATRICES { DIAGONAL } else { FULL };
    Values::from([("members".to_owned(), Value::from(members))])
}

impl BanditAuto {
    /// Writes the log-odds of the forecast rewards to `out.scores`, and the predictions of the parts to
    /// `out.work`. Where one label is to be learnt, the other labels' learners forecast nothing: what they
    /// wrote before is left.
    fn forecast(&self, x: Features<'_>, only: Option<usize>, out: &mut Decision) {
        let classes = self.problem.classes;
        let work = &mut out.work.0;
        if work.members.len() != PARTS {
            work.members = vec![Prediction::default(); PARTS];
        }
        let [coupled, separate, pooled] = &mut work.members[..] else { unreachable!("just made") };
        if self.rare.keeps(COUPLED) {
            if coupled.probabilities.len() != classes || coupled.members.is_empty() {
                *coupled = self.coupled.prediction();
            }
            self.coupled.predict(x, coupled);
        } else {
            nothing(&mut coupled.probabilities, classes);
        }
        if self.rare.keeps(SEPARATE) {
            separate.probabilities.resize(classes, 0.0);
            let mut rewards = std::mem::take(&mut separate.probabilities);
            match only {
                None => self.separate.forecast(x, separate, &mut out.scores, &mut rewards),
                Some(label) => self.separate.forecast_one(x, label, separate, &mut rewards),
            }
            separate.probabilities = rewards;
        } else {
            nothing(&mut separate.probabilities, classes);
        }
        self.rare.forecast(x.views(self.problem.features).0, classes, pooled);
        for (label, score) in out.scores.iter_mut().enumerate() {
            let [q, r, s] = [&*coupled, separate, pooled].map(|part| part.probabilities[label]);
            let f = self.rare.joined(self.together(q, r), s).clamp(LEAST_PROBABILITY, 1.0 - f64::EPSILON);
            *score = f.ln() - (-f).ln_1p();
        }
        work.stamp = Some(self.rounds);
    }

    /// Equation (1).
    fn together(&self, coupled: f64, separate: f64) -> f64 {
        let weights = self.parts.weights();
        weights[0] * coupled + weights[1] * separate // eq. (1)
    }
}

/// The forecast of a part that was dropped.
fn nothing(forecast: &mut Vec<f64>, classes: usize) {
    forecast.clear();
    forecast.resize(classes, 0.0);
}

impl Algorithm for BanditAuto {
    type Params = AutoParams;

    const ABOUT: About = About {
        guarantee: "none in closed form: SquareCB's inequality of every round, for forecasts within 2 ln 2 nats of the better half",
        cost: "that of its members, at most the budget, and K two-class mixtures",
        forecast: Forecast::RandomisedLabel,
        ..Auto::ABOUT
    };

    fn new(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        if params.mode == Some(Mode::Full) {
            let need = "bandit where only what the played label earned is revealed";
            return Err(ParamError::invalid("mode", "full", need));
        }
        let separate = Oracle::new(&separate_params(&problem), &problem, seed, ROOT_FACTOR)?;
        let prior = Prior::of(params.prior, params.prior_rounds)?;
        let of_coupled = AutoParams { mode: None, prior: None, prior_rounds: None, ..params };
        let coupled = Auto::for_rewards(of_coupled, problem.clone(), seed)?;
        Ok(Self {
            coupled,
            separate,
            parts: Mixture::new(&[1.0, 1.0]),
            rare: Rare::new(&problem, prior),
            scales: Scales::default(),
            rounds: 0,
            at: Decision::default(),
            belief: Vec::new(),
            problem,
        })
    }

    fn params(&self) -> AutoParams {
        AutoParams {
            mode: Some(Mode::Bandit),
            prior: self.rare.prior().map(|prior| prior.rate),
            prior_rounds: self.rare.prior().map(|prior| prior.rounds),
            ..self.coupled.params()
        }
    }

    own! { numbers }

    fn numbers_for(params: &AutoParams, problem: &Problem) -> usize {
        let separate = separate_params(problem).numbers(problem);
        Auto::numbers_for(params, problem).saturating_add(separate).saturating_add(Rare::numbers(problem))
    }

    fn numbers_at_first(params: &AutoParams, problem: &Problem) -> usize {
        let coupled = Auto::numbers_at_first(params, problem).saturating_add(Rare::numbers(problem));
        coupled.saturating_add(separate_params(problem).numbers_at_first(problem))
    }
}

impl BanditLearner for BanditAuto {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        self.forecast(x, None, out);
        self.scales.decide(offered, out); // eq. (2)
        let mut pooled = std::mem::take(&mut out.work.0.members[POOLED]);
        self.rare.play(x.views(self.problem.features).0, offered, &mut pooled, &mut out.distribution);
        out.work.0.members[POOLED] = pooled;
        out.explores_around(out.greedy as usize);
        true
    }

    fn takes_rewards(&self) -> bool {
        true
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        let (label, r) = (taken.label as usize, reward.value());
        self.scales.learn(taken, reward); // eq. (3)
        let work = &taken.work.0;
        let mut now = std::mem::take(&mut self.at);
        let work = if work.is_fresh(self.rounds) && work.members.len() == PARTS {
            work
        } else {
            now.start(self.problem.classes, self.rounds + 1);
            self.forecast(x, Some(label), &mut now);
            &now.work.0
        };
        let [coupled, separate, pooled] = &work.members[..] else { unreachable!("a forecast has all parts") };
        let loss = |f: f64| {
            -r * f.max(LEAST_PROBABILITY).ln() - (1.0 - r) * (-f).ln_1p().max(LEAST_PROBABILITY.ln())
        };
        let forecasts = [coupled, separate, pooled].map(|part| part.probabilities[label]);
        let (losses, together) =
            (forecasts.map(loss), loss(self.together(forecasts[0], forecasts[1]).min(1.0)));
        let keeps = [COUPLED, SEPARATE].map(|part| self.rare.keeps(part));
        if keeps.contains(&true) {
            self.parts.update(&losses[..2]);
        }
        self.rare.learn(x.views(self.problem.features).0, (label, r), losses, together, &mut self.parts);
        if keeps[SEPARATE] {
            self.separate.learn(x, label, reward, separate);
        }
        if !keeps[COUPLED] {
            // It learns nothing any more.
        } else if reward.is_right() {
            self.coupled.update(x, Target::class(label), coupled);
        } else {
            // The probability of all other labels, which may be 0.
            let others: f64 =
                coupled.probabilities.iter().enumerate().filter(|(at, _)| *at != label).map(|(_, q)| q).sum();
            let uniform = 1.0 / (self.problem.classes as f64 - 1.0);
            self.belief.clear();
            let share = |q: &f64| (1.0 - r) * if others > LEAST_PROBABILITY { q / others } else { uniform };
            self.belief.extend(coupled.probabilities.iter().map(share));
            self.belief[label] = r;
            let revealed = Some(Revealed::new(label, r, &coupled.probabilities));
            let target = Target { revealed, ..Target::distribution(&self.belief) };
            self.coupled.update(x, target, coupled);
        }
        self.at = now;
        self.rounds += 1;
    }

    fn set_workers(&mut self, workers: Workers) {
        self.separate.set_workers(&workers);
        self.coupled.set_workers(workers);
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let known = (self.problem.classes, self.problem.features);
        if classes < known.0 || features < known.1 {
            return false;
        }
        let wide = Problem { classes, features, ..self.problem.clone() };
        if separate_params(&wide) != separate_params(&self.problem) {
            // The members were chosen for the problem at the start, which a model file does not record.
            return false;
        }
        let mut separate = self.separate.clone();
        if !separate.grow(classes, features, &self.problem) || !self.coupled.grow(classes, features) {
            return false;
        }
        self.separate = separate;
        self.rare.grow(classes, features);
        self.problem = wide;
        self.at = Decision::default();
        true
    }
}

impl State for BanditAuto {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.coupled.tensors().into_iter().map(|tensor| tensor.within("coupled")).collect();
        tensors.extend(self.separate.tensors().into_iter().map(|tensor| tensor.within("separate")));
        tensors.extend(self.parts.tensors().into_iter().map(|tensor| tensor.within("parts")));
        tensors.extend(self.rare.tensors().into_iter().map(|tensor| tensor.within("rare")));
        tensors.extend(self.scales.tensors().into_iter().map(|tensor| tensor.within("scales")));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    /// Models of programs that did not know `rare` begin it when they are loaded.
    fn is_newer(&self, tensor: &str) -> bool {
        let of_coupled = tensor.strip_prefix("coupled/").is_some_and(|tensor| self.coupled.is_newer(tensor));
        of_coupled || tensor.starts_with("rare/")
    }

    fn expect(&mut self, shape: Shapes<'_>) {
        self.coupled.expect(&|name| shape(&format!("coupled/{name}")));
    }

    fn restored(&mut self) -> bool {
        self.coupled.restored()
            && self.separate.restored()
            && self.parts.restored()
            && self.rare.restored()
            && self.scales.is_consistent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::BanditModel;
    use crate::model::Archive;
    use crate::param::Params as _;
    use crate::rng::{Rng, Uniforms as _};
    use crate::testing::{Threads, values};

    /// `rounds` rounds of four labels, each of which earns 1 in one of 100 rounds.
    fn play(learner: &mut BanditAuto, rounds: u64, rng: &mut Rng) {
        let mut at = Decision::default();
        for _ in 0..rounds {
            let row = [rng.uniform() - 0.5];
            let x = Features::Dense(&row);
            learner.predict(x, &mut at);
            at.draw(rng.uniform());
            learner.learn(x, &at, if rng.uniform() < 0.01 { Reward::RIGHT } else { Reward::WRONG });
        }
    }

    fn learner(set: &str, seed: u64) -> BanditAuto {
        let values = values(&format!("members=labels+shared@1 {set}"));
        let params = AutoParams::from_values("auto", &values).expect("known");
        BanditAuto::new(params, Problem::new(4, 1), seed).expect("valid")
    }

    /// The answer to an earlier decision needs the forecast of its label alone: all bits are those of a
    /// forecast of all labels.
    #[test]
    fn late_answers_forecast_the_played_label() {
        let run = |whole: bool| {
            let (mut learner, mut rng) = (learner("", 3), Rng::new(5, 0));
            let mut kept = Vec::new();
            for t in 0..60 {
                let (row, mut at) = ([rng.uniform() - 0.5], Decision::default());
                learner.predict(Features::Dense(&row), &mut at);
                at.draw(rng.uniform());
                kept.push((row, at.clone()));
                if t % 3 < 2 {
                    continue;
                }
                for (row, mut taken) in kept.drain(..) {
                    let x = Features::Dense(&row);
                    if whole {
                        learner.predict(x, &mut at);
                        taken.take_by_products(&mut at);
                    }
                    learner.learn(x, &taken, if taken.label == 1 { Reward::RIGHT } else { Reward::WRONG });
                }
            }
            Archive::of_bandit(&mut learner).digest()
        };
        assert_eq!(run(false), run(true));
    }

    /// Threads change how long rounds take, and no bit, also when a label is added.
    #[test]
    fn threads_change_no_bit() {
        let run = |workers: Workers| {
            let params = AutoParams::from_values("auto", &values("")).expect("known");
            let mut learner = BanditAuto::new(params, Problem::new(8, 20), 3).expect("valid");
            learner.set_workers(workers);
            let (mut at, mut rng) = (Decision::default(), Rng::new(5, 0));
            for t in 0..12 {
                let row: Vec<f64> = (0..20).map(|_| rng.uniform() - 0.5).collect();
                let x = Features::Dense(&row);
                learner.predict(x, &mut at);
                at.draw(rng.uniform());
                learner.learn(x, &at, if t % 3 == 0 { Reward::RIGHT } else { Reward::WRONG });
                assert!(t != 8 || learner.grow(9, 20));
            }
            Archive::of_bandit(&mut learner).digest()
        };
        assert_eq!(run(Workers::none()), run(Workers::new(Threads(2))));
    }

    /// What was saved and loaded takes a new label to the same bits as what was not, whatever the seed.
    #[test]
    fn a_loaded_learner_grows_as_the_saved_one() {
        let mut learner = learner("", 7);
        play(&mut learner, 20, &mut Rng::new(3, 0));
        let mut loaded = Archive::of_bandit(&mut learner).bandit_model().expect("just written");
        assert!(learner.grow(5, 1) && loaded.grow(5, 1));
        let digest = Archive::of_bandit(&mut learner).digest();
        assert_eq!(Archive::of_bandit(loaded.as_mut()).digest(), digest);
    }

    /// Forecasts begin near the prior, which is saved; what is loaded goes on with the same bits, also after
    /// challengers have begun anew.
    #[test]
    fn a_prior_is_where_forecasts_begin_and_is_saved() {
        let mut learner = learner("prior=0.01", 0);
        let (x, mut one, mut other) = (Features::Dense(&[0.3]), Decision::default(), Decision::default());
        learner.predict(x, &mut one);
        let rate = crate::loss::logistic::sigmoid(one.scores[0]);
        assert!((0.01..0.014).contains(&rate), "{rate}");
        let mut rng = Rng::new(3, 0);
        for rounds in [0, 1200] {
            play(&mut learner, rounds, &mut rng);
            let bytes = Archive::of_bandit(&mut learner).to_bytes();
            let again = Archive::from_bytes(&bytes).expect("whole").bandit_model().expect("a bandit");
            let said = ["prior", "prior_rounds"].map(|name| again.values()[name].to_string());
            assert_eq!(said, ["0.01", "50"]);
            learner.predict(x, &mut one);
            again.predict(x, &mut other);
            assert_eq!((&one.scores, &one.distribution), (&other.scores, &other.distribution));
        }
    }

    /// With one click in 100 rounds the mixture over all labels is dropped; a saved model continues with
    /// the same bits.
    #[test]
    fn rare_rewards_drop_the_mixtures() {
        let (mut learner, mut rng) = (learner("", 0), Rng::new(3, 0));
        play(&mut learner, 511, &mut rng);
        assert!(learner.rare.keeps(COUPLED) && learner.rare.keeps(SEPARATE));
        play(&mut learner, 1600, &mut rng);
        assert!(!learner.rare.keeps(COUPLED), "four labels cannot be right at the same time: {learner:?}");
        let bytes = Archive::of_bandit(&mut learner).to_bytes();
        let again = Archive::from_bytes(&bytes).expect("whole").bandit_model().expect("a bandit");
        let (mut one, mut other) = (Decision::default(), Decision::default());
        learner.predict(Features::Dense(&[0.3]), &mut one);
        again.predict(Features::Dense(&[0.3]), &mut other);
        assert_eq!(one.distribution, other.distribution);
        assert!(one.scores.iter().all(|score| (-7.0..-3.0).contains(score)), "{:?}", one.scores);
    }

    /// The model of an earlier program, which did not know `rare`.
    fn without_rare(learner: &mut BanditAuto) -> Box<dyn BanditModel> {
        let whole = Archive::of_bandit(learner);
        let mut earlier = Archive::default();
        for text in ["algorithm", "params", "problem"] {
            earlier.set_text(text, whole.text(text).expect("there"));
        }
        for (name, numbers) in whole.tensors().filter(|(name, _)| !name.starts_with("learner/rare/")) {
            earlier.set_tensor(name, numbers.clone());
        }
        earlier.bandit_model().expect("loads")
    }

    /// A model of a program that did not know rare rewards is loaded, plays the same, and learns what is new.
    #[test]
    fn models_of_earlier_programs_continue() {
        let (mut learner, mut rng) = (learner("", 0), Rng::new(3, 0));
        play(&mut learner, 300, &mut rng);
        let mut again = without_rare(&mut learner);
        let (mut one, mut other) = (Decision::default(), Decision::default());
        for _ in 0..5 {
            let row = [rng.uniform()];
            learner.predict(Features::Dense(&row), &mut one);
            again.predict(Features::Dense(&row), &mut other);
            assert_eq!(one.distribution, other.distribution);
            for model in [&mut learner as &mut dyn BanditLearner, &mut *again] {
                one.draw(0.5);
                model.learn(Features::Dense(&row), &one, Reward::WRONG);
            }
        }
    }
}
