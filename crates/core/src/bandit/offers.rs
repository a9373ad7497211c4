//! # Labels with features, which change from round to round
//!
//! For articles, prices or messages: the labels that can be played change from round to round, and each is
//! described by features. One two-class model forecasts the reward of a label from the features of the round,
//! those of the label, and their products. So every label's feedback improves the forecasts for all labels,
//! and new labels can be played at once.
//!
//! ## Reference
//!
//! Inverse gap weighting: Dylan J. Foster, Alexander Rakhlin, *Beyond UCB*, ICML 2020, arXiv:2002.04926,
//! section 2 for sets of actions that change. `references.bib`: `foster2020squarecb`. Hashed features:
//! `weinberger2009hashing`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\mathcal A_t$ | positions | the labels on offer, identified by their position in the round |
//! | $\phi(x_t, a)$ | blocks of the row | features that describe label $a$ in round $t$ |
//! | $\hat f_{t,a}$ | `scores`, as log-odds | forecast reward |
//! | $w$ | `width` | columns of a block |
//!
//! A row consists of a block of $w = \lceil d/K \rceil$ columns for each of the $K$ positions: column $pw +
//! j$ is column $j$ of the description of position $p$. [`Offer::encode`] makes such rows. With the model $m$
//! of two classes,
//!
//! $$ \hat f_a = m(\phi(x, a)), \qquad \text{the label is drawn by inverse gaps at several scales} \tag{1} $$
//!
//! as in [`auto`](super::auto), and the model learns $\phi(x, a_t)$ with the soft label $(1 - r, r)$. Its
//! regret does not depend on the number of labels. A logistic model with a variance for each column joins the
//! default one (`posterior.rs`): columns that were seen in few rounds, as those of new labels, count less and
//! learn faster. It begins at the rate of rewards so far, or at `prior`.
//!
//! With `schedule = certificate` the label is drawn as in [SquareCB](super::squarecb), whose exploration
//! scale $\gamma_t$ follows from the model's certificate $C_t$, a bound on its regret:
//!
//! $$ p_a = \frac{1}{K_t + \gamma_t (\hat f_b - \hat f_a)}\ (a \ne b = \arg\max \hat f), \qquad
//!    \gamma_t = \max\big(\gamma_{t-1},\ 4 \sqrt{(K-1)\ t/C_{t-1}}\big). \tag{2} $$
//!
//! If some model of the oracle's ball forecasts the mean rewards, then with probability $1 - \delta$, in all
//! rounds at once (theory: gap-weighting 1.4),
//!
//! $$ \mathrm{Regret} \le \sum_t \frac{2(K_t-1)}{\gamma_t} + \frac{\gamma_T}{4} (C_T + 2 \ln(1/\delta)),
//!    \tag{3} $$
//!
//! where [`conditional-logit`](crate::full::conditional_logit) has $C_T = O(w \ln T)$, whatever the number of
//! labels: a reward is its label 1, described by $\phi(x, a)$, and its label 0 is described by zeros (theory:
//! folklore 4.4).
//!
//! ## Deviations
//!
//! * Without other parameters the oracle is [`Auto`] for two classes with log loss, whose regret has no
//!   closed form, and exploration is learnt as in [`auto`](super::auto). No bound is shown then.
//! * $K$ in (2) is the largest number of labels on offer that there is room for; $K_t$ is that of the round.
//! * Late feedback is learnt as if the row had come together with it.
//!
//! ## Cost
//!
//! A forecast of the model for every label on offer, and one update. Memory: with the default oracle a few
//! times $w$, whatever the number of labels; with `conditional-logit` $w^2$ numbers, and a label takes $4w^2$
//! flops.

mod block;
mod posterior;
mod row;

use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast, Model, Paper};
use crate::entry::Entry;
use crate::example::{Features, Target};
use crate::experts::auto::Auto;
use crate::guarantee::{Guarantee, MISS, digits_of, is_beyond, were};
use crate::learner::{Accepts, BanditLearner, Classes, own};
use crate::loss::logistic::sigmoid;
use crate::param::prior::Prior;
use crate::param::{ParamError, ParamValue as _, Values};
use crate::prediction::{Decision, Prediction, Reward};
use crate::problem::Problem;
use crate::state::{Shapes, State, Tensor};
use crate::{param_words, params};

use super::auto::members_of_one;
use super::gaps::{GapRule as _, Setting};
use super::oracle::{
    LEAST_REGRET, PREFIX, Schedule, forecaster, is_auto, made, no_valid_bound, regret_bound,
};
use super::scales::Scales;
use super::squarecb::SquareRule;
use block::Block;
use posterior::Posterior;
pub use row::{Offer, OfferRow, OfferedLabel, key};

param_words! {
    /// How much is explored.
    pub enum Exploring {
        /// As in `auto`: several scales, weighted by what they earn.
        Learnt = "learnt",
        /// As in SquareCB, by the oracle's own certificate.
        Certificate = "certificate",
    }
}

params! {
    /// Parameters of [`Offers`].
    pub struct OffersParams wraps PREFIX as oracle_values {
        /// Number of columns that describe a label, >= 1; a row has a block of this width for every position.
        width: u64 = "features / classes, rounded up",
        /// Name of the learner that forecasts a label's reward from its columns, one of probabilities of two
        /// classes; its parameters as oracle.norm=2 and so on. `conditional-logit` has a regret that is
        /// logarithmic in the rounds for width columns, whatever the number of labels; its memory is
        /// width^2.
        oracle: String = "auto",
        /// How much is explored: `learnt`, as in auto, by what several scales earn; or `certificate`, as in
        /// squarecb, by the oracle's own bound on its regret, which gives a bound on what is lost beside the
        /// best policy.
        schedule: Exploring = "learnt",
        /// With oracle = auto, the mean reward that is expected before the first round, above 0 and below 1:
        /// the forecasts of all labels begin near it.
        prior: f64 = "the rate of rewards so far alone",
        /// As of how many rounds the prior counts, > 0.
        prior_rounds: f64 = "50",
    }
}

impl OffersParams {
    fn check_wrapped(&self) -> Result<(), ParamError> {
        let entry = self.entry()?;
        if entry.takes_blocks()
            && let Some(width) = self.oracle_values.get("width")
        {
            let need = "left out, since the columns of a block are those of width";
            return Err(ParamError::invalid(&format!("{PREFIX}width"), width, need));
        }
        entry.check_names(&self.oracle_values)
    }

    /// The entry of the oracle.
    fn entry(&self) -> Result<&'static Entry, ParamError> {
        static AUTO: Entry = Entry::full::<Auto>().mixture();
        match self.oracle.as_deref() {
            None => Ok(&AUTO),
            Some(name) if name == AUTO.about.name => Ok(&AUTO),
            Some(name) => forecaster(self.learners, name),
        }
    }

    /// The oracle's problem and parameters, for labels with `width` columns in a stream of `problem`.
    fn of_oracle(&self, entry: &Entry, problem: &Problem, width: usize) -> (Problem, Values) {
        let mut values = self.oracle_values.clone();
        let is_auto = is_auto(entry);
        if is_auto {
            for (name, members) in members_of_one(width, 1, problem.sparse) {
                values.entry(name).or_insert(members);
            }
        }
        let features = width.saturating_mul(if entry.takes_blocks() { 2 } else { 1 });
        // A block is no longer than its row, and `auto` measures blocks itself.
        let radius = problem.radius.filter(|_| !is_auto);
        (Problem { classes: 2, features, radius, ..problem.clone() }, values)
    }

    /// What `numbers` finds for the oracle.
    fn numbers_by(
        &self,
        problem: &Problem,
        numbers: impl Fn(&Entry, &Values, &Problem) -> Result<usize, ParamError>,
    ) -> usize {
        let width = problem.width(self.width).max(1);
        let found = self.entry().and_then(|entry| {
            let (two, values) = self.of_oracle(entry, problem, width);
            let posterior = if is_auto(entry) { Posterior::numbers(width) } else { 0 };
            Ok(numbers(entry, &values, &two)?.saturating_add(posterior))
        });
        found.unwrap_or(width)
    }
}

/// How the probabilities of labels follow from their forecast rewards.
#[derive(Clone)]
enum Exploration {
    Learnt(Scales),
    /// As in (2), with $\gamma_t$ of the round before, and the sum of (3).
    Certificate {
        gamma: f64,
        rule: SquareRule,
    },
}

/// See the [module](self).
#[derive(Clone)]
pub struct Offers {
    problem: Problem,
    params: OffersParams,
    width: usize,
    model: Box<dyn Model>,
    /// Columns of zeros before those of a label, in the oracle's rows.
    before: usize,
    /// The largest norm of blocks for which the oracle's theorem holds, if it has a parameter of this name.
    radius: Option<f64>,
    /// Number of rounds that were learnt with a block beyond it.
    beyond_radius: u64,
    exploration: Exploration,
    /// Beside `auto`; models of earlier programs go on without it.
    posterior: Option<Posterior>,
    rounds: u64,
    at: Prediction,
    block: Block,
}

impl fmt::Debug for Offers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offers")
            .field("width", &self.width)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Offers {
    /// A bound on the oracle's regret so far, by its certificate; $\infty$ if there is none.
    fn regret(&self) -> f64 {
        let certificate = self.model.certificate().and_then(Result::ok);
        certificate.map_or(f64::INFINITY, |regret| regret.max(LEAST_REGRET))
    }

    /// $\gamma_t$ of the next round, if it was `before` in the last one.
    fn gamma(&self, before: f64, rule: &SquareRule) -> f64 {
        let setting = Setting {
            schedule: Schedule::Certificate,
            factor: 1.0,
            labels: self.problem.classes as f64,
            round: self.rounds as f64 + 1.0,
            regret: self.regret(),
        };
        before.max(rule.scheduled(setting)) // eq. (2)
    }
}

impl Algorithm for Offers {
    type Params = OffersParams;

    const ABOUT: About = About {
        name: "offers",
        summary: "one model for all labels, by features of their own: labels may come and go",
        paper: Paper { key: "foster2020squarecb", place: "section 2, action sets that change" },
        guarantee: "none in closed form: SquareCB's inequality of every round; with schedule=certificate a bound",
        cost: "a forecast of the oracle for every label on offer, one update",
        memory: "that of the oracle over features / classes columns",
        forecast: Forecast::RandomisedLabel,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false },
    };

    fn about(&self) -> &'static About {
        const CERTIFIED: About = About {
            guarantee: "with probability 0.95, regret <= sum of 2 (K - 1) / gamma_t + gamma_T (R + 6) / 4, R the oracle's, if some oracle is right",
            ..Offers::ABOUT
        };
        match self.exploration {
            Exploration::Learnt(_) => const { &Self::ABOUT },
            Exploration::Certificate { .. } => const { &CERTIFIED },
        }
    }

    fn new(params: OffersParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let width = problem.resolve_width(params.width)?;
        let entry = params.entry()?;
        let (two, values) = params.of_oracle(entry, &problem, width);
        let model = made(entry, &values, two, seed)?;
        let exploration = match params.schedule.unwrap_or(Exploring::Learnt) {
            Exploring::Learnt => Exploration::Learnt(Scales::default()),
            schedule if model.certificate().is_none() => {
                let name = entry.about.name;
                let need = format!(
                    "'learnt', since the oracle {name} has no certificate, a bound on its regret; conditional-logit has one"
                );
                return Err(ParamError::invalid("schedule", schedule.to_value(), need));
            }
            Exploring::Certificate => Exploration::Certificate { gamma: 0.0, rule: SquareRule::default() },
        };
        let prior = Prior::of(params.prior, params.prior_rounds)?;
        let posterior = is_auto(entry).then(|| Posterior::new(width, prior));
        if posterior.is_none() {
            let why =
                format!("with oracle = {}, which begins at 1/2; auto begins at any rate", entry.about.name);
            Prior::refuse(params.prior, params.prior_rounds, &why)?;
        }
        let radius = model.values().get("radius").and_then(f64::from_value);
        // Of rows of blocks within it.
        let whole = radius.map(|radius| radius * (problem.classes as f64).sqrt());
        Ok(Self {
            width,
            before: if entry.takes_blocks() { width } else { 0 },
            model,
            radius,
            beyond_radius: 0,
            exploration,
            posterior,
            rounds: 0,
            at: Prediction::default(),
            block: Block::default(),
            problem: Problem { radius: whole.or(problem.radius), ..problem },
            params,
        })
    }

    fn params(&self) -> OffersParams {
        let given = &self.params;
        let schedule = match self.exploration {
            Exploration::Learnt(_) => Exploring::Learnt,
            Exploration::Certificate { .. } => Exploring::Certificate,
        };
        // The members of `auto` follow from the width, unless they were given.
        let mut oracle_values = match given.entry() {
            Ok(entry) if !is_auto(entry) => self.model.values(),
            _ => given.oracle_values.clone(),
        };
        if self.before > 0 {
            oracle_values.remove("width");
        }
        let prior = self.posterior.as_ref().and_then(Posterior::prior);
        OffersParams {
            width: Some(self.width as u64),
            oracle: Some(self.model.about().name.to_owned()),
            schedule: Some(schedule),
            prior: prior.map(|prior| prior.rate),
            prior_rounds: prior.map(|prior| prior.rounds),
            oracle_values,
            learners: given.learners,
        }
    }

    own! { numbers }

    fn numbers_for(params: &OffersParams, problem: &Problem) -> usize {
        params.numbers_by(problem, Entry::numbers)
    }

    fn numbers_at_first(params: &OffersParams, problem: &Problem) -> usize {
        params.numbers_by(problem, Entry::numbers_at_first)
    }
}

impl BanditLearner for Offers {
    own! { problem, rounds }

    fn decide(&self, x: Features<'_>, offered: Option<&[u32]>, out: &mut Decision) -> bool {
        out.start(self.problem.classes, self.rounds + 1);
        let mut at = out.work.0.members.pop().unwrap_or_default();
        if at.scores.len() != 2 {
            at = self.model.prediction();
        }
        let (indices, values) =
            (std::mem::take(&mut out.work.0.indices), std::mem::take(&mut out.work.0.scratch));
        let mut block = Block { indices, values };
        for (position, score) in out.scores.iter_mut().enumerate() {
            if offered.is_some_and(|offered| offered.binary_search(&(position as u32)).is_err()) {
                *score = 0.0;
                continue;
            }
            let phi = block.of(x, position, self.width, self.before);
            self.model.predict(phi, &mut at);
            let odds = at.scores[1] - at.scores[0]; // eq. (1)
            *score = self.posterior.as_ref().map_or(odds, |posterior| posterior.joined(phi, odds));
        }
        out.work.0.members.push(at);
        (out.work.0.indices, out.work.0.scratch) = (block.indices, block.values);
        match &self.exploration {
            Exploration::Learnt(scales) => scales.decide(offered, out),
            Exploration::Certificate { gamma, rule } => {
                let mut losses = std::mem::take(&mut out.forecast);
                losses.extend(out.scores.iter().map(|score| sigmoid(-score)));
                SquareRule::complete(losses, offered, self.gamma(*gamma, rule), out); // eq. (2)
            }
        }
        true
    }

    fn takes_rewards(&self) -> bool {
        self.model.about().accepts.soft_labels
    }

    fn learn(&mut self, x: Features<'_>, taken: &Decision, reward: Reward) {
        let next = match &self.exploration {
            Exploration::Learnt(_) => 0.0,
            Exploration::Certificate { gamma, rule } => self.gamma(*gamma, rule),
        };
        match &mut self.exploration {
            Exploration::Learnt(scales) => scales.learn(taken, reward),
            Exploration::Certificate { gamma, rule } => {
                *gamma = next;
                // It is 0 if there has never been a certificate: nothing is promised then.
                if next > 0.0 {
                    rule.learn(taken.choices() as f64, 1.0 - reward.value(), next);
                }
            }
        }
        if self.at.scores.len() != 2 {
            self.at = self.model.prediction();
        }
        let phi = self.block.of(x, taken.label as usize, self.width, self.before);
        let beyond = self.radius.is_some_and(|radius| is_beyond(phi.norm_squared(), radius));
        self.beyond_radius += u64::from(beyond);
        self.model.predict(phi, &mut self.at);
        if let Some(posterior) = &mut self.posterior {
            posterior.learn(phi, reward.value(), self.at.scores[1] - self.at.scores[0]);
        }
        if reward.is_verdict() {
            self.model.update(phi, Target::class(usize::from(reward.is_right())), &self.at);
        } else {
            let y = [1.0 - reward.value(), reward.value()];
            self.model.update(phi, Target::distribution(&y), &self.at);
        }
        self.rounds += 1;
    }

    /// Equation (3), with `schedule = certificate`.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let Exploration::Certificate { gamma, rule } = &self.exploration else { return None };
        let bound = if self.beyond_radius > 0 {
            let rows = were(self.beyond_radius, "label");
            let radius = digits_of(self.radius.unwrap_or(1.0));
            Err(format!("{rows} played with columns beyond the oracle's radius {radius}").into())
        } else {
            let regret = regret_bound(self.model.as_ref(), self.radius)
                .ok_or_else(|| no_valid_bound(self.model.about().name));
            regret.map(|regret| rule.bound(*gamma, regret, MISS)) // eq. (3)
        };
        Some(Guarantee::PolicyRegret { bound })
    }

    /// Adds positions, with their blocks; the width of blocks is unchanged.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        if classes <= self.problem.classes || classes.checked_mul(self.width) != Some(features) {
            return false;
        }
        let radius = self.radius.map(|radius| radius * (classes as f64).sqrt()).or(self.problem.radius);
        self.problem = Problem { classes, features, radius, ..self.problem.clone() };
        true
    }
}

impl State for Offers {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors: Vec<_> =
            self.model.tensors().into_iter().map(|tensor| tensor.within("model")).collect();
        match &mut self.exploration {
            Exploration::Learnt(scales) => {
                tensors.extend(scales.tensors().into_iter().map(|tensor| tensor.within("scales")));
            }
            Exploration::Certificate { gamma, rule } => {
                tensors.push(Tensor::number("gamma", gamma));
                tensors.extend(rule.tensors());
                tensors.push(Tensor::count("beyond_radius", &mut self.beyond_radius));
            }
        }
        if let Some(posterior) = &mut self.posterior {
            tensors.extend(posterior.tensors().into_iter().map(|tensor| tensor.within("posterior")));
        }
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn is_newer(&self, tensor: &str) -> bool {
        tensor.strip_prefix("model/").is_some_and(|tensor| self.model.is_newer(tensor))
    }

    fn expect(&mut self, shape: Shapes<'_>) {
        if shape("posterior/weights").is_none() {
            self.posterior = None;
        }
        self.model.expect(&|name| shape(&format!("model/{name}")));
    }

    fn restored(&mut self) -> bool {
        let consistent = match &self.exploration {
            Exploration::Learnt(scales) => scales.is_consistent(),
            Exploration::Certificate { gamma, .. } => *gamma >= 0.0,
        };
        let sound = self.posterior.as_ref().is_none_or(Posterior::is_consistent);
        self.model.restored() && consistent && sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Archive;
    use crate::registry::LEARNERS;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{assert_close, values};

    /// A label's reward depends on its features and the context. Labels are new in every round, and the best
    /// one is identified nevertheless.
    #[test]
    fn labels_never_seen_before_are_played_by_their_features() {
        let width = 256;
        let problem = Problem::new(4, 4 * width as usize).with_sparse(true);
        let mut learner = Offers::new(OffersParams::default(), problem, 0).expect("valid");
        let (mut rng, mut row, mut at) = (Rng::new(1, 0), OfferRow::default(), Decision::default());
        let (mut late, mut best) = (0.0, 0.0);
        for t in 0..3000u64 {
            let context = [f64::from(rng.uniform() < 0.5)];
            let features: Vec<[f64; 2]> = (0..3).map(|_| [rng.uniform(), rng.uniform()]).collect();
            let label = |(at, features): (usize, &'_ [f64; 2])| (3 * t + at as u64, *features);
            let described: Vec<(u64, [f64; 2])> = features.iter().enumerate().map(label).collect();
            let labels: Vec<OfferedLabel<'_>> = described
                .iter()
                .map(|(key, features)| OfferedLabel {
                    key: row::mixed(*key),
                    features: Features::Dense(features),
                })
                .collect();
            Offer { context: Features::Dense(&context), labels: &labels }.encode(width, &mut row);
            assert!(learner.predict_among(row.features(), &[0, 1, 2], &mut at));
            assert_eq!(at.distribution[3], 0.0, "not on offer");
            at.draw(rng.uniform());
            let earns = |features: &[f64; 2]| features[context[0] as usize];
            let reward = earns(&features[at.label as usize]);
            learner.learn(row.features(), &at, Reward::new(reward).expect("in [0, 1]"));
            if t >= 2000 {
                late += reward;
                best += features.iter().map(earns).fold(0.0, f64::max);
            }
        }
        // Uniform play earns 500 of about 750; the learner has to earn at least seven tenths of the
        // difference in addition.
        assert!(late > 500.0 + 0.7 * (best - 500.0), "{late} of {best}");
    }

    /// Forecasts begin near the prior; what is saved and loaded goes on with the same bits.
    #[test]
    fn a_prior_is_where_forecasts_begin() {
        let params = OffersParams { prior: Some(0.01), ..OffersParams::default() };
        let mut learner = Offers::new(params, Problem::new(2, 6), 0).expect("valid");
        let x = Features::Dense(&[1.0, 0.5, 0.0, 1.0, 0.0, 2.0]);
        let (mut one, mut other) = (Decision::default(), Decision::default());
        learner.predict(x, &mut one);
        let rate = sigmoid(one.scores[1]);
        assert!((0.01..0.014).contains(&rate), "{rate}");
        for round in 0..40 {
            learner.predict(x, &mut one);
            one.draw(f64::from(round % 5) / 5.0);
            learner.learn(x, &one, if round == 20 { Reward::RIGHT } else { Reward::WRONG });
        }
        let again = Archive::of_bandit(&mut learner).bandit_model().expect("whole");
        let said = ["prior", "prior_rounds"].map(|name| again.values()[name].to_string());
        assert_eq!(said, ["0.01", "50"]);
        learner.predict(x, &mut one);
        again.predict(x, &mut other);
        assert_eq!((&one.scores, &one.distribution), (&other.scores, &other.distribution));
    }

    /// Two labels with a column each, the oracle `conditional-logit` with B = R = 1, λ = 2 and γ = ¼: the
    /// certificate is 2 before the first round, so that γ_1 = 4 √(1/2). Label 0 has the column 1, N = ½, and
    /// its score z + ¼ σ(z) = ⅛ is 0; label 1 has 0. Label 0 is played and right: G = -½, A = 2 + ¼ · ¼ =
    /// 33/16, the certificate 2 + ¼ G²/A = 67/33. Then z + (8/33) σ(z) = 8/33.
    #[test]
    fn two_rounds_over_conditional_logit_by_hand() {
        let oracle = "oracle=conditional-logit oracle.norm=1 oracle.radius=1 oracle.regularization=2";
        let values = values(&format!("schedule=certificate {oracle}"));
        let params: OffersParams = LEARNERS.read("offers", &values).expect("known");
        let mut learner = Offers::new(params, Problem::new(2, 2), 0).expect("valid");
        // Two blocks within the radius are a row within this one.
        assert_eq!(learner.problem().radius, Some(2f64.sqrt()));
        let (x, mut at) = (Features::Dense(&[1.0, 0.0]), Decision::default());
        learner.predict(x, &mut at);
        assert_close(at.scores[0], 0.0, 1e-12, "the first score");
        assert_close(at.distribution[1], 0.5, 1e-12, "the first probability");
        (at.label, at.probability) = (0, at.distribution[0]);
        learner.learn(x, &at, Reward::RIGHT);
        learner.predict(x, &mut at);
        let z = at.scores[0];
        assert_close(z + 8.0 / 33.0 * sigmoid(z), 8.0 / 33.0, 1e-12, "the second score");
        assert_eq!((at.scores[1], at.greedy), (0.0, 0));
        let gamma = 4.0 * (66.0 / 67.0f64).sqrt();
        let other = 1.0 / (2.0 + gamma * (sigmoid(z) - 0.5));
        assert_close(at.distribution[1], other, 1e-12, "the second probability");
        let bound = |learner: &Offers| match learner.guarantee() {
            Some(Guarantee::PolicyRegret { bound }) => bound,
            other => panic!("{}", other.is_some()),
        };
        // 2(K-1)/γ_1 + γ_1 (67/33 + 2 ln 20)/4.
        let want = 2.0 / 8f64.sqrt() + 8f64.sqrt() * (67.0 / 33.0 + 2.0 * 20f64.ln()) / 4.0;
        assert_close(bound(&learner).expect("it holds"), want, 1e-9, "the bound");
        (at.label, at.probability) = (0, at.distribution[0]);
        learner.learn(Features::Dense(&[1.5, 0.0]), &at, Reward::WRONG);
        assert_eq!(
            bound(&learner).unwrap_err(),
            "1 label was played with columns beyond the oracle's radius 1.0000".into()
        );
    }
}
