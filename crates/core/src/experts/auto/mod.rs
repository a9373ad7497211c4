//! # auto: a mixture that needs no tuning
//!
//! Members: second-order logistic learners over a grid of regularizations and curvatures, over the features,
//! their products and random Fourier features; boosted trees that are fitted again and again, a forest and
//! nearest neighbours; frequencies of labels, for streams whose labels repeat. Stacks learn weights of the
//! members' scores. Vovk's aggregation combines all of these, so that the total log loss exceeds that of the
//! best member by at most a few nats, also if the best member changes over time.
//!
//! ## Reference
//!
//! Volodimir G. Vovk, *Aggregating Strategies*, COLT 1990: the aggregating algorithm for log loss. Mark
//! Herbster, Manfred K. Warmuth, *Tracking the Best Expert*, Machine Learning 32, 1998: fixed share.
//! `references.bib`: `vovk1990aggregating`, `herbster1998fixedshare`. The second-order members are FOLKLORE
//! learners, `agarwal2022folklore`; the random Fourier features are those of `rahimi2007random`, and one form
//! of naive Bayes is that of `rennie2003tackling`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\xi_t^\theta$ | `members` | forecasts: every member has several *heads*, which share its work |
//! | $P_t(\theta)$ | `Combined`, `Stacks` | weights of the heads; of their mixture and the stacks |
//! | $\eta$ | | learning rate 1: log loss is mixable |
//! | $\alpha_t$ | | share that flows to the others after round $t$: $1/(t+1)$ |
//!
//! $$ \bar p = \textstyle\sum_i w_i\ p^i, \qquad w_i \propto w_i\ p^i_y \quad \text{after the round} \tag{1} $$
//!
//! over all heads. Each *stack* is a small learner whose inputs are the members' log-probabilities and $\ln
//! \bar p$: it learns a weight for each of them, and adds up the evidence of members that use different
//! information. Its forecast is $s^j$, and the played forecast is
//!
//! $$ p = v_0\ \bar p + \textstyle\sum_j v_j\ s^j, \qquad v \text{ as } w \text{ in (1)}. \tag{2} $$
//!
//! In nats, for $M$ members, $H$ heads of the best one and $N$ stacks, on every stream (theory: mixtures 2.1,
//! 3.1),
//!
//! $$ L \le \min_i L^i + \ln M + \ln H + \ln(1 + N) + 3 \ln 2 \tag{3} $$
//!
//! for every head $i$ that is active from the first round to the last, and the tracking bound of
//! [`Mixture`](super::mixture::Mixture) against sequences of heads. The third $\ln 2$ is the prior reserved
//! for members that join: for the $j$-th of them, (3) holds from the round in which it joins, with
//! $2 \ln(j + 1)$ in place of $\ln M$ and the mixture's own loss up to then.
//!
//! In every interval of rounds $[r, s]$ with $r \ge 2$, whatever came before, and with $M'$ heads in all
//! (theory: mixtures 3.3)
//!
//! $$ \textstyle\sum_{t=r}^s L_t \le \min_i \sum_{t=r}^s L^i_t + 4 \ln(r+1) + 2 \ln s + \ln(M'-1) + \ln N +
//!    \ln 2 \tag{4} $$
//!
//! for every head that is active from round $r - 1$ to round $s$. A member that has learnt something which is
//! no longer true is replaced by a new one (`renewal.rs`), so that there are heads that are good after a
//! change.
//!
//! ## Members
//!
//! The `budget` of time and the memory determine which members are active; `members` lists them:
//!
//! * `labels` and `pairs` are frequencies of the classes, over all rounds and after each previous class.
//! * `full@r` and `shared@r` are five FOLKLORE learners around one matrix, with one block for every pair of
//!   classes or one block for all.
//! * `products@r` is a `shared` one over the features and their pairwise products; `waves@r:s` one over the
//!   features and random Fourier features of a Gaussian kernel with the standard deviation $s$, in units. A
//!   second number, as in `shared@0.1:0.001`, is the part of its sums that a family forgets in a round.
//! * `diagonals@n` are $n$ FOLKLORE learners with diagonal matrices, in single precision, whose cells are
//!   allocated when a feature first occurs; `diagonals@n:c` has at most $c$ cells, which features share by
//!   hashing. Some of them use the square roots of the features, scaled to norm 1, and for sparse rows also
//!   the logarithms of the features before scaling, of norm 1, which suits counts of words.
//! * `diagonal@r:g` is `folklore-diag`.
//! * `booster@3:4` are gradient-boosted trees, fitted again when the rows have grown by an eighth, and later
//!   by more. The stacks weigh its three heads, one of which is the mean of three fits. (3) and (4) are about
//!   its forecasts, whichever trees they come from.
//! * `trees` are thirty boosted trees with two heads ([`AdaBoostOlm`](crate::boosting::adaboost_olm)), which
//!   see each row once, and at once; `forest` are twelve trees that undo splits which do not reduce the loss,
//!   with three heads.
//! * `part` is a mixture of its own for sparse rows that are too wide for booster, forest, neighbours and
//!   families: it has these members, for the features that occur most often.
//! * `bayes` is naive Bayes for sparse rows of words and categories, with six heads (`naive_bayes.rs`).
//! * `neighbours` forecasts from the classes of the nearest rows among the latest ones, in windows of several
//!   lengths.
//!
//! Booster, trees and the forest compare values with thresholds that they found in earlier rows, and scaling
//! by the rows so far moves these values: if a dense row has twice as many values as features, they take its
//! second half, the row before scaling, and all others its first half ([`Features::views`]). If a sparse row
//! has two views, `diagonals` take both, and all others the first, which is scaled.
//!
//! [`Inside::left_out`] lists what was left out: no problem is rejected for its size.
//!
//! $r = \lambda/\gamma$ is a regularization in multiples of the squared *unit* of the data, which is the
//! smallest power of two above the norms of the first eight rows. Whenever the unit grows within these rows,
//! members learn the rows so far again. At rounds 32, 64, 128 and so on, a grid of $r$ whose best value is at
//! its edge is extended by a factor of ten: the new member copies the matrix of the member at the edge, with
//! its own $r$, and that member's gradients. In the first rounds, all members together may cost two and a
//! half budgets. At round 1024 and all later powers of two, members are dropped (a minus in `members`)
//! without which the stacks would have lost hardly more so far (`stack/worth.rs`), and others until the rest
//! is within two budgets at round 4096 and within one from round 8192 on: always the one that is worth least
//! to the stacks for its time; trees, forest and neighbours are judged from round 8192 on. The best member,
//! the booster, cheap members and one cheap `shared` family are kept. If it was announced after how many
//! rounds the model is settled ([`Settle::settle_after`]), a sixteenth of these, if it is less, stands
//! for 1024 in this, and a quarter for 8192, but at least 512 and 1024. When classes or features are added,
//! members that would not be chosen for the larger problem are dropped before they grow, and if no family is
//! left, `diagonals` join.
//!
//! ## Deviations
//!
//! * The weights with sharing and those without are combined in one mixture: at most $\ln 2$ worse than the
//!   better of both.
//! * Heads of a family take their gradients at their own scores, but their curvature at the family's mixture,
//!   so that they can share a matrix; `family.rs` has the formulas. The heads have no theorem of their own;
//!   (3) is about their losses, whatever they are.
//! * Trees, forest and neighbours learn each row once, whatever its importance weight; they and the booster
//!   replace a soft label by a class drawn from it. Trees and forest cannot grow, and start again when
//!   classes or features are added; the booster keeps its rows, and a fit in progress begins again.
//! * An importance weight multiplies a round's losses; (3) and (4) hold for weights up to 1.
//!
//! ## Cost
//!
//! The sum of the members' costs (a multiply-add takes a fifth of a nanosecond on the machine of the cost
//! model; see `cost_factors`), limited by `budget` as described above, and $O(K M^2)$ for the stacks with $M$
//! members (up to 16 classes: $O(K\ (M + K)^2)$).

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::bounds::{adaptive_regret, mixture_total};
use crate::capability::{Divided, Inside, LookAhead, Settle, Together};
use crate::example::{Batch, Features, Target};
use crate::guarantee::Guarantee;
use crate::hand_on;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::parallel::Workers;
use crate::param::mode::Mode;
use crate::param::prior::Prior;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{Shapes, State, Tensor};

use self::choice::{Limits, MANY_CLASSES, TRIAL_BUDGETS, budget_work};
use self::combined::Parts;
pub use self::costs::Costs;
use self::roster::stretches::Stretch;
use self::roster::{ByWorth, Numbers, Roster};
use self::stacks::STACKS;

pub use self::description::{Description, Lineup, Place};

mod abilities;
mod announced;
mod booster;
pub mod calibration;
mod choice;
mod combined;
mod context;
mod costs;
mod description;
mod diagonal;
mod diagonals;
mod expansion;
mod family;
mod forest;
mod fourier;
mod kind;
mod kinds;
mod member;
mod moments;
mod naive_bayes;
mod neighbours;
mod part;
mod record;
mod renewal;
mod roster;
mod row;
mod stack;
mod stacks;
mod trees;
mod unit;

/// Millions of multiply-adds a round, if no budget is given. A larger one gains little: with ten times this
/// budget, the digits of scikit-learn are learnt with a log-loss 4 % lower, in more than ten times the time.
/// With many classes every member costs more: then it leaves out members that take a tenth or a quarter off
/// the log-loss.
fn default_budget(problem: &Problem) -> f64 {
    if problem.classes > MANY_CLASSES { 2.5 } else { 0.6 }
}

/// MiB of all members together, if not given.
const DEFAULT_MEMORY: u64 = 1024;

/// The number of 8-byte numbers in `memory` MiB.
fn numbers_in(memory: u64) -> usize {
    usize::try_from(memory).unwrap_or(usize::MAX).saturating_mul(1 << 17)
}

/// The limits that the parameters impose.
fn limits(params: &AutoParams, problem: &Problem) -> Limits {
    let work = budget_work(params.budget.unwrap_or_else(|| default_budget(problem)));
    let numbers = numbers_in(params.member_memory.unwrap_or(DEFAULT_MEMORY));
    Limits { work, numbers, costs: params.cost_factors.unwrap_or_default() }
}

/// The members that are active at first.
fn active(params: &AutoParams, problem: &Problem) -> Vec<Description> {
    let lineup = params.members.clone().unwrap_or_else(|| Lineup::within(problem, limits(params, problem)));
    lineup.0.into_iter().filter(|place| !place.dropped).map(|place| place.member).collect()
}

/// Members may be added or dropped after this round, and after every later power of two.
const FIRST_CHANGE: u64 = 32;

/// From this round on, members are dropped that are not worth their time to the stacks.
const DECIDED: u64 = 1024;

/// From this round on, the members are within the budget.
const SETTLED: u64 = 8192;

/// The least number of rounds after which members are dropped, if it is known when the model is settled.
const LEAST_TRIAL: u64 = 512;

params! {
    /// Parameters of [`Auto`].
    pub struct AutoParams {
        /// Limit on the multiply-adds of a round, in millions, > 0: decides which members are active. Two and
        /// a half times as many in the first rounds (with up to 32 classes). A million take about 0.2
        /// milliseconds. Values below 0.1 count as 0.1.
        budget: f64 = "0.6, for more than 32 classes 2.5",
        /// MiB that the members may take, >= 1: decides which members are active. The smallest set of members
        /// is active even if it needs more.
        member_memory: u64 = "1024",
        /// The active members, as in `labels+shared@0.1+products@0.001`; dropped members have a minus before
        /// their names. `labels` and `pairs` count labels, alone and after the previous label; `booster@3:4`
        /// fits boosted trees again as the rows grow, `trees` are boosted and see each row once, and those
        /// of the `forest` adapt to a stream that changes; `neighbours` are the nearest of the latest rows;
        /// `part` has such members for the most frequent features, where rows are sparse and wide; `full`,
        /// `shared`, `products` and `waves` are linear learners with one matrix: of classes and features, of
        /// features for all classes, of features and their products, and of features and random Fourier
        /// features; `diagonals` are linear learners with diagonal matrices, for many features. The number
        /// after `@` is the regularization; after `diagonals` it is their number, and after `booster` that of
        /// the forecasts that the stacks weigh.
        members: Lineup = "what the budget allows",
        /// Factors of the members' costs on this machine, by kind, as `noregret calibrate` prints them:
        /// decides which members are active. Without them, the same members are active on every machine.
        cost_factors: Costs = "labels:1",
        /// What is revealed of a round: `full` for the label, `bandit` for the reward of the played label.
        mode: Mode = "full",
        /// With mode = bandit, the mean reward expected before the first round, above 0 and below 1:
        /// forecasts begin at it, with a logistic model of all labels that has to prove itself otherwise.
        prior: f64 = "no rate is known",
        /// As of how many rounds the prior counts, > 0.
        prior_rounds: f64 = "50",
    }
}

/// See the [module](self).
#[derive(Clone)]
pub struct Auto {
    /// Whether members stay as they are.
    fixed: bool,
    /// Whether members that are not worth their time leave although all are within the budget.
    by_worth: bool,
    budget: f64,
    /// MiB.
    memory: u64,
    /// The budget in multiply-adds.
    limit: f64,
    costs: Costs,
    problem: Problem,
    roster: Roster,
    rounds: u64,
    /// The number of rounds after which it is settled, if that was announced.
    end: Option<u64>,
    /// The stacks' input columns, for a prediction that was stored without them.
    rewritten: Vec<f64>,
    /// For rounds that are played in stretches.
    stretches: [Stretch; 2],
}

impl std::fmt::Debug for Auto {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auto")
            .field("members", &self.roster.lineup())
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Auto {
    /// A learner whose members never change, so that its parameters determine it.
    pub(crate) fn fixed(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        Ok(Self { fixed: true, ..Self::new(params, problem, seed)? })
    }

    /// For rounds that reveal what the played label earned. Members leave only where all exceed the budget: a
    /// label that is played because a member is gone also costs what another would have revealed.
    pub(crate) fn for_rewards(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        Ok(Self { by_worth: false, ..Self::new(params, problem, seed)? })
    }

    /// From which rounds on members are dropped that are not worth their time, and all are within the budget.
    /// If the model is settled after few rounds, a trial of the usual length would be most of the time.
    fn trial(&self) -> [u64; 2] {
        let Some(end) = self.end else { return [DECIDED, SETTLED] };
        [(end / 16).clamp(LEAST_TRIAL, DECIDED), (end / 4).clamp(2 * LEAST_TRIAL, SETTLED)]
    }

    /// The limits of all members together at present: more than the budget in the first rounds.
    fn limits(&self) -> Limits {
        let [_, settled] = self.trial();
        let times = (settled as f64 / self.rounds as f64).clamp(1.0, TRIAL_BUDGETS);
        Limits { work: self.limit * times, numbers: numbers_in(self.memory), costs: self.costs }
    }

    /// Adds members where the best of a grid is at its edge, and drops members that exceed the limits.
    fn change_members(&mut self) {
        if self.fixed || self.roster.is_lent() {
            return;
        }
        let (limits, [decided, settled]) = (self.limits(), self.trial());
        if self.rounds >= decided {
            self.roster.retire(limits.work, self.limit, ByWorth::of(self.by_worth, self.rounds >= settled));
        }
        self.roster.extend(limits);
    }
}

impl Algorithm for Auto {
    type Params = AutoParams;

    const ABOUT: About = About {
        name: "auto",
        summary: "the default: a mixture of second-order learners, trees, a forest and nearest neighbours; nothing to tune",
        paper: Paper { key: "vovk1990aggregating", place: "aggregating algorithm for log loss" },
        guarantee: "log loss <= that of every member + a few nats: ln(members) + ln(its forecasts) + 3.5, in total; in every interval of rounds, also after a change, + 6 ln(rounds) + ln(forecasts of all) + 1.8",
        cost: "that of its members, at most the budget",
        memory: "that of its members",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true, plain: true },
    };

    /// By default there are trees, unless they cost too much for the data.
    fn draws(params: &AutoParams) -> bool {
        (params.members.as_ref())
            .is_none_or(|lineup| lineup.0.iter().any(|place| place.member.kind().traits().draws))
    }

    fn new(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let budget = positive("budget", params.budget.unwrap_or_else(|| default_budget(&problem)))?;
        let memory = params.member_memory.unwrap_or(DEFAULT_MEMORY);
        if memory == 0 {
            return Err(ParamError::invalid("member_memory", memory, "at least 1"));
        }
        let costs = params.cost_factors.unwrap_or_default();
        let limits = Limits { work: budget_work(budget), numbers: numbers_in(memory), costs };
        let lineup = params.members.unwrap_or_else(|| Lineup::within(&problem, limits));
        if params.mode == Some(Mode::Bandit) {
            return Err(ParamError::invalid("mode", "bandit", "full where the label is revealed"));
        }
        Prior::refuse(params.prior, params.prior_rounds, "where the label is revealed")?;
        Ok(Self {
            fixed: false,
            by_worth: true,
            budget,
            memory,
            limit: budget_work(budget),
            costs,
            rewritten: Vec::new(),
            stretches: Default::default(),
            roster: Roster::new(lineup, costs, problem.clone(), seed)?,
            problem,
            end: None,
            rounds: 0,
        })
    }

    fn params(&self) -> AutoParams {
        AutoParams {
            budget: Some(self.budget),
            member_memory: Some(self.memory),
            members: Some(self.roster.lineup()),
            cost_factors: Some(self.costs).filter(|costs| *costs != Costs::default()),
            mode: None,
            prior: None,
            prior_rounds: None,
        }
    }

    own! { numbers }

    fn numbers_for(params: &AutoParams, problem: &Problem) -> usize {
        let numbers = active(params, problem).into_iter().map(|member| member.numbers(problem));
        numbers.fold(0, usize::saturating_add)
    }

    fn numbers_at_first(params: &AutoParams, problem: &Problem) -> usize {
        let numbers = active(params, problem).into_iter().map(|member| member.numbers_at_first(problem));
        numbers.fold(0, usize::saturating_add)
    }
}

impl Predictor for Auto {
    own! { problem }

    fn prediction(&self) -> Prediction {
        self.roster.prediction()
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        self.forecast(x, None, out);
    }

    fn predict_batch(
        &self,
        rows: &dyn Batch,
        out: &mut Prediction,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        let at_once = self.roster.rows_of_batch();
        for start in (0..rows.len()).step_by(at_once) {
            let range = start..rows.len().min(start + at_once);
            let numbers = self.roster.batch(rows, range.clone());
            for at in range {
                self.forecast(rows.features(at), Some((&numbers, at - start)), out);
                out.stamp = None;
                each(at, out);
            }
        }
    }
}

impl Auto {
    /// Predicts `x`; `batch` is as in [`Roster::predict`].
    fn forecast(&self, x: Features<'_>, batch: Option<(&Numbers, usize)>, out: &mut Prediction) {
        self.make_room(out);
        self.roster.predict(x, batch, out); // eq. (1), (2)
        out.stamp = Some(self.rounds);
    }

    /// Counts `rounds` more rounds, after the last of which the members may change.
    fn count_rounds(&mut self, rounds: u64) {
        self.rounds += rounds;
        if self.rounds.is_power_of_two() && self.rounds >= FIRST_CHANGE {
            self.change_members();
        }
    }

    /// Makes `out` a buffer for the present members.
    fn make_room(&self, out: &mut Prediction) {
        if !self.roster.combined.fits(out) {
            *out = self.prediction();
        }
    }
}

impl OnlineLearner for Auto {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (fresh, len) = (at.is_fresh(self.rounds), self.roster.combined.columns_len());
        let columns = if fresh && at.scratch.len() == len {
            &at.scratch
        } else {
            // The prediction is from an earlier round, or was stored without its by-products.
            let Parts { inputs, base, .. } = Parts::of(&at.members);
            self.rewritten.resize(len, 0.0);
            self.roster.combined.write_columns(inputs.iter(), base, &mut self.rewritten);
            &self.rewritten
        };
        self.roster.update(x, y, at, columns, !fresh);
        self.count_rounds(1);
    }

    own! { rounds }

    fn look_ahead(&mut self) -> Option<&mut dyn LookAhead> {
        Some(self)
    }

    fn together(&mut self) -> Option<&mut dyn Together> {
        Some(self)
    }

    hand_on! { self.roster;
        fn set_workers(&mut self, workers: Workers);
    }

    /// Grows all members except trees, which are replaced by new ones, and members that are too expensive for
    /// the larger problem: these are dropped, since they would not have been chosen for it.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let known = (self.problem.classes, self.problem.features);
        if classes < known.0 || features < known.1 || (classes, features) == known {
            return (classes, features) == known;
        }
        let limits = (!self.fixed).then(|| (self.limits(), self.limit));
        self.roster.grow(classes, features, limits);
        self.problem = Problem { classes, features, ..self.problem.clone() };
        true
    }

    fn settling(&mut self) -> Option<&mut dyn Settle> {
        Some(self)
    }

    fn divided(&mut self) -> Option<&mut dyn Divided> {
        Some(&mut self.roster)
    }

    /// Equations (3) and (4). Of all intervals within the rounds, the last round alone has the largest bound.
    /// The prior was one of the members at the start, which are not more than those listed.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = |members| adaptive_regret(members, self.rounds.max(2), self.rounds.max(2));
        let bound = bound(self.roster.combined.heads()) + bound(1 + STACKS.len()) + 2f64.ln();
        let Lineup(places) = self.roster.lineup();
        let heads = places.iter().map(|place| place.member.heads()).max().unwrap_or(1);
        let total = mixture_total(places.len(), heads, STACKS.len());
        Some(Guarantee::AdaptiveRegret { bound: Ok(bound), total: Ok(total) })
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl State for Auto {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.roster.tensors();
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    hand_on! { self.roster;
        fn is_newer(&self, tensor: &str) -> bool;
        fn expect(&mut self, shape: Shapes<'_>);
        fn restored(&mut self) -> bool;
    }
}

#[cfg(test)]
mod tests;
