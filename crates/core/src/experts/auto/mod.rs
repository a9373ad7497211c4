//! # auto: a mixture that needs no tuning
//!
//! Second-order logistic learners over a grid of regularizations and curvatures, over features, their
//! products and random waves of them; counts of labels for streams that repeat themselves; learners that
//! combine all of these. Vovk's aggregation puts them together, so that the whole is never worse than the
//! best of them by more than a few nats *in total*, and the leader may change.
//!
//! ## Reference
//!
//! Volodimir G. Vovk, *Aggregating Strategies*, COLT 1990: the aggregating algorithm for log loss. Mark
//! Herbster, Manfred K. Warmuth, *Tracking the Best Expert*, Machine Learning 32, 1998: fixed share.
//! `references.bib`: `vovk1990aggregating`, `herbster1998fixedshare`. The second-order members are FOLKLOREs,
//! `agarwal2022folklore`; the waves are those of `rahimi2007random`.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | $\xi_t^\theta$ | `members` | forecasts: every member has several *heads*, which share its work |
//! | $P_t(\theta)$ | `base`, `top` | weights of the heads; of their mixture and the stacks |
//! | $\eta$ | | learning rate 1: log loss is mixable |
//! | $\alpha_t$ | | share that flows to the others after round $t$: $1/(t+1)$ |
//!
//! $$ \bar p = \textstyle\sum_i w_i\ p^i, \qquad w_i \propto w_i\ p^i_y \quad \text{after the round} \tag{1} $$
//!
//! over all heads. Each *stack* is a small learner whose inputs are the members' log-probabilities beside
//! $\ln \bar p$: it learns how far to trust each of them, and how to add up what they know of different
//! things. Its forecast is $s^j$, and what is played is
//!
//! $$ p = v_0\ \bar p + \textstyle\sum_j v_j\ s^j, \qquad v \text{ as } w \text{ in (1)}. \tag{2} $$
//!
//! In nats, for $M$ members, $H$ heads of the best one and $N$ stacks, on every stream (theory: mixtures 2.1,
//! 3.1),
//!
//! $$ L \le \min_i L^i + \ln M + \ln H + \ln(1 + N) + 3 \ln 2 \tag{3} $$
//!
//! with every head $i$ that was there from the start and stays, and the tracking bound of [`Mixture`] against
//! sequences of them. The third $\ln 2$ is what is held back for members that join: the $j$-th of them has
//! (3) from then on, with $2 \ln(j + 1)$ for $\ln M$ and the mixture's own loss until then.
//!
//! ## Who takes part
//!
//! What the `budget` of time and the memory allow, and `members` shows, one word each: `labels` and `pairs`
//! count classes, alone and after the class before; `full@r` and `shared@r` are five FOLKLOREs each around
//! one matrix, with one block for every pair of classes or one for all; `products@r` is a `shared` one over
//! the features and their pairwise products; `waves@r:s` is one over the features and the waves of a Gaussian
//! kernel of deviation $s$ units; a second number, as in `shared@0.1:0.001`, is what a family forgets in a
//! round; `diagonals@n` are $n$ FOLKLOREs with a diagonal matrix, in single precision, whose cells are
//! allocated as features are seen (`diagonals@n:c` has at most $c$ cells, which features share by hashing),
//! and `diagonal@r:g` is `folklore-diag`; `trees` are thirty boosted trees with two heads
//! ([`AdaBoostOlm`](crate::boosting::adaboost_olm)), and `forest` is twelve trees that take back the splits
//! that do not pay, with three heads. What was left out is listed by
//! [`OnlineLearner::left_out`]: nothing is refused for its size.
//!
//! $r = \lambda/\gamma$ is a regularization in squares of the data's *unit*, which is measured: the power of
//! two above the largest of the first eight norms. Until it is known, members begin anew whenever it grows.
//! At rounds 32, 64, 128 and so on, a grid of $r$ whose edge is the best extends itself by a factor of ten:
//! the new member goes on from the edge's matrix, with its own $r$ in it, and from the edge's gradients. At
//! the powers of two from 2048 to 8192 expensive members are dropped (a minus in `members`) until the rest is
//! within the budget: those with the highest loss, the best of each kind last. A run begins with a trial of
//! at most four budgets a round. When classes or features appear, members that would not have been chosen for
//! what the problem has become are dropped before they grow, and where no family is left, `diagonals` join.
//!
//! ## Deviations
//!
//! * The half of the prior that shares, and the half that does not, are one mixture: $\ln 2$ more than the
//!   better of both.
//! * Heads of a family linearise at their own scores, but take their curvature at the family's mixture, which
//!   is why they can share a matrix; `family.rs` has the formulas. (3) is about heads as they are; they have
//!   no theorem of their own.
//! * Trees and the forest count a row once, whatever its importance weight, and a soft label as a class drawn
//!   from it. They cannot grow, and begin anew where classes or features appear.
//! * An importance weight multiplies a round's losses; (3) holds for weights up to 1.
//!
//! ## Cost
//!
//! The sum of the members', at most what a processor core takes for `budget` million multiply-adds a round (a
//! fifth of a nanosecond each) after round 8192, and the stacks' $O(K M^2)$ for $M$ members (up to 16
//! classes: $O(K\ (M + K)^2)$).

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::{Batch, Features, Target};
use crate::full::gaptron::Mode;
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor};
use crate::parallel::Workers;
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use self::choice::{Limits, TRIAL};
use self::roster::Roster;
use self::stack::{Stack, write_columns};
use super::mixture::Mixture;

pub use self::words::{Description, Lineup, Place};

mod ahead;
mod choice;
mod context;
mod costs;
mod diagonals;
mod expansion;
mod family;
mod forest;
mod fourier;
mod member;
mod roster;
mod stack;
mod trees;
mod unit;
mod words;

/// Millions of multiply-adds a round, where a stream is long or of unknown length. A smaller budget counts as
/// this one: with less, no member worth its cost would be left.
const LEAST: f64 = 0.8;

/// Millions of multiply-adds that a stream may cost in all, however short: some seconds.
const IN_ALL: f64 = 20_000.0;

/// A short stream has by itself at most so many times the budget of a long one.
const MOST: f64 = 10.0;

/// Multiply-adds of a round for a `budget` in millions.
fn multiply_adds(budget: f64) -> f64 {
    1e6 * budget.max(LEAST)
}

/// The budget where none is given.
fn default_budget(problem: &Problem) -> f64 {
    let share = problem.horizon.map_or(0.0, |horizon| IN_ALL / horizon.max(1) as f64);
    share.clamp(LEAST, MOST * LEAST)
}

/// MiB that members may take where nothing is said.
const MEMORY: u64 = 1024;

/// 8-byte numbers in `memory` MiB.
fn numbers(memory: u64) -> usize {
    usize::try_from(memory).unwrap_or(usize::MAX).saturating_mul(1 << 17)
}

/// What members may cost by these parameters.
fn limits(params: &AutoParams, problem: &Problem) -> Limits {
    let work = multiply_adds(params.budget.unwrap_or_else(|| default_budget(problem)));
    Limits { work, numbers: numbers(params.member_memory.unwrap_or(MEMORY)) }
}

/// After this round, and every power of two, members may be added or dropped.
const FIRST_LOOK: u64 = 32;

/// From this round on the members are within the budget.
const SETTLED: u64 = 8192;

/// What the stacks forget in a round, and their regularization: a stack that forgets comes back to the
/// mixture anyway.
const STACKS: [(f64, f64); 3] = [(0.0, 16.0), (1.0 / 1024.0, 1.0), (1.0 / 128.0, 1.0)];

params! {
    /// Parameters of [`Auto`].
    pub struct AutoParams {
        /// Millions of multiply-adds that a round may cost, > 0, five of them a nanosecond: decides which
        /// members are active. Less than 0.8 counts as that.
        budget: f64 = "20000 / horizon, but at least 0.8 and at most 8",
        /// MiB that the members may take, >= 1: decides which members are active. With less than the smallest
        /// set of members needs, that one takes part.
        member_memory: u64 = "1024",
        /// Which members are active, as in `labels+shared@0.1+products@0.001`; a minus stands before those
        /// that were dropped. `labels` and `pairs` count labels, alone and after the label before; `trees`
        /// are boosted, those of the `forest` follow a stream that changes; `full`, `shared`, `products` and
        /// `waves` are linear learners with one matrix: of classes and features, of features for all classes,
        /// of features and their products, and of features and waves of them; `diagonals` are linear learners
        /// without a matrix, for many features. The number behind `@` is the regularization, and for
        /// `diagonals` how many they are.
        members: Lineup = "what the budget allows",
        /// What is revealed of a round: `full` for the label, `bandit` for what the played label earned.
        mode: Mode = "full",
    }
}

/// What a prediction's members are, one part behind the other.
struct Parts<Several, One> {
    /// Of the words in order; empty for members that were dropped.
    inputs: Several,
    stacks: Several,
    /// The mixture of the inputs.
    base: One,
}

impl<'a> Parts<&'a [Prediction], &'a Prediction> {
    fn of(members: &'a [Prediction], stacks: usize) -> Self {
        let (base, rest) = members.split_last().expect("the base is the last");
        let (inputs, stacks) = rest.split_at(rest.len() - stacks);
        Self { inputs, stacks, base }
    }
}

impl<'a> Parts<&'a mut [Prediction], &'a mut Prediction> {
    fn of_room(members: &'a mut [Prediction], stacks: usize) -> Self {
        let (base, rest) = members.split_last_mut().expect("the base is the last");
        let (inputs, stacks) = rest.split_at_mut(rest.len() - stacks);
        Self { inputs, stacks, base }
    }
}

/// See the [module](self).
#[derive(Clone)]
pub struct Auto {
    /// Whether members stay as they are.
    fixed: bool,
    budget: f64,
    /// MiB.
    memory: u64,
    /// The budget in multiply-adds.
    limit: f64,
    problem: Problem,
    roster: Roster,
    stacks: Vec<Stack>,
    /// Over the members' mixture and the stacks.
    top: Mixture,
    rounds: u64,
    losses: Vec<f64>,
    /// The stacks' columns of a prediction without them.
    rewritten: Vec<f64>,
}

impl std::fmt::Debug for Auto {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auto")
            .field("words", &self.roster.words)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Auto {
    /// The same with the members that it begins with: none joins or is dropped, so that the parameters say
    /// all of it.
    pub(crate) fn fixed(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        Ok(Self { fixed: true, ..Self::new(params, problem, seed)? })
    }

    /// What all members together may cost now: more than the budget in the first rounds.
    fn limits(&self) -> Limits {
        let times = (SETTLED as f64 / self.rounds as f64).clamp(1.0, TRIAL);
        Limits { work: self.limit * times, numbers: numbers(self.memory) }
    }

    /// Adds members where the edge of a grid is the best, and drops some where the budget asks for it.
    fn look(&mut self) {
        if self.fixed {
            return;
        }
        let limits = self.limits();
        if self.rounds as f64 >= SETTLED as f64 / TRIAL {
            self.roster.retire(limits.work, self.limit);
        }
        if self.roster.extend(limits) > 0 {
            let (classes, inputs) = (self.problem.classes, self.roster.columns());
            self.stacks.iter_mut().for_each(|stack| stack.grow(classes, inputs));
        }
    }
}

impl Algorithm for Auto {
    type Params = AutoParams;

    const ABOUT: About = About {
        name: "auto",
        summary: "the default: a mixture of second-order learners that needs no tuning",
        paper: Paper { key: "vovk1990aggregating", place: "aggregating algorithm for log loss" },
        guarantee: "log loss <= that of every member + a few nats: ln(members) + ln(heads) + 3.5, in total",
        cost: "that of its members, at most the budget",
        memory: "that of its members",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: true, weights: true },
    };

    fn new(params: AutoParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let budget = positive("budget", params.budget.unwrap_or_else(|| default_budget(&problem)))?;
        let memory = params.member_memory.unwrap_or(MEMORY);
        if memory == 0 {
            return Err(ParamError::invalid("member_memory", memory, "at least 1"));
        }
        let limits = Limits { work: multiply_adds(budget), numbers: numbers(memory) };
        let lineup = params.members.unwrap_or_else(|| Lineup::within(&problem, limits));
        let inputs = lineup.0.iter().map(|place| place.member.columns()).sum();
        let stack =
            |(forgetting, ratio): &(f64, f64)| Stack::new(problem.classes, inputs, *forgetting, *ratio);
        let stacks: Vec<Stack> = STACKS.iter().map(stack).collect();
        if params.mode == Some(Mode::Bandit) {
            return Err(ParamError::invalid("mode", "bandit", "full where the label is revealed"));
        }
        Ok(Self {
            fixed: false,
            budget,
            memory,
            limit: multiply_adds(budget),
            top: Mixture::new(&vec![1.0; 1 + stacks.len()]),
            losses: vec![0.0; 1 + stacks.len()],
            rewritten: Vec::new(),
            stacks,
            roster: Roster::new(lineup, problem.clone(), seed)?,
            problem,
            rounds: 0,
        })
    }

    fn params(&self) -> AutoParams {
        AutoParams {
            budget: Some(self.budget),
            member_memory: Some(self.memory),
            members: Some(self.roster.lineup()),
            mode: None,
        }
    }

    fn numbers(problem: &Problem) -> usize {
        Self::numbers_for(&AutoParams::default(), problem)
    }

    fn numbers_for(params: &AutoParams, problem: &Problem) -> usize {
        let lineup =
            params.members.clone().unwrap_or_else(|| Lineup::within(problem, limits(params, problem)));
        let active = lineup.0.iter().filter(|place| !place.left);
        active.map(|place| place.member.numbers(problem)).fold(0, usize::saturating_add)
    }

    fn numbers_at_first(params: &AutoParams, problem: &Problem) -> usize {
        let lineup =
            params.members.clone().unwrap_or_else(|| Lineup::within(problem, limits(params, problem)));
        let active = lineup.0.iter().filter(|place| !place.left);
        active.map(|place| place.member.numbers_at_first(problem)).fold(0, usize::saturating_add)
    }
}

impl Predictor for Auto {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Its members are as `Parts` has them.
    fn prediction(&self) -> Prediction {
        let mut members = self.roster.predictions();
        members.extend(self.stacks.iter().map(Stack::prediction));
        members.push(Prediction::sized(self.problem.classes, 0));
        Prediction { members, ..Prediction::sized(self.problem.classes, self.columns()) }
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
        let foreseen = self.roster.foresee(rows);
        for at in 0..rows.len() {
            self.forecast(rows.features(at), Some((&foreseen[..], at, rows.len())), out);
            out.stamp = None;
            each(at, out);
        }
    }
}

impl Auto {
    /// Numbers of the stacks' columns.
    fn columns(&self) -> usize {
        self.problem.classes * (1 + self.roster.columns())
    }

    /// Predicts `x`; `foreseen` is as in [`Roster::predict`].
    fn forecast(&self, x: Features<'_>, foreseen: Option<(&[Vec<f64>], usize, usize)>, out: &mut Prediction) {
        if out.members.len() != self.roster.words.len() + self.stacks.len() + 1 {
            // Members were added.
            *out = self.prediction();
        }
        let Prediction { members, probabilities, scratch, .. } = out;
        let Parts { inputs, stacks, base } = Parts::of_room(members, self.stacks.len());
        self.roster.predict(x, foreseen, inputs, base); // eq. (1)
        let counts = self.roster.words.iter().map(|word| word.columns());
        write_columns(&base.scores, inputs.iter().zip(counts), scratch);
        let (first, others) = self.top.weights().split_first().expect("the base is the first");
        for (p, base) in probabilities.iter_mut().zip(&base.probabilities) {
            *p = first * base;
        }
        for ((stack, at), weight) in self.stacks.iter().zip(stacks).zip(others) {
            stack.predict(&base.scores, scratch, at);
            for (p, theirs) in probabilities.iter_mut().zip(&at.probabilities) {
                *p += weight * theirs; // eq. (2)
            }
        }
        out.set_scores_to_logarithms();
        out.stamp = Some(self.rounds);
    }
}

impl OnlineLearner for Auto {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let Parts { inputs, stacks, base } = Parts::of(&at.members, self.stacks.len());
        self.roster.update(x, y, inputs, base);
        self.losses[0] = y.log_loss(&base.probabilities);
        let len = self.columns();
        let columns = if at.is_fresh(self.rounds) && at.scratch.len() == len {
            &at.scratch
        } else {
            // It is of an earlier round, or was kept without its by-products.
            self.rewritten.resize(len, 0.0);
            let counts = self.roster.words.iter().map(|word| word.columns());
            write_columns(&base.scores, inputs.iter().zip(counts), &mut self.rewritten);
            &self.rewritten
        };
        for ((stack, at), loss) in self.stacks.iter_mut().zip(stacks).zip(&mut self.losses[1..]) {
            *loss = y.log_loss(&at.probabilities);
            stack.update(&base.scores, columns, y, at);
        }
        self.top.update(&self.losses);
        self.rounds += 1;
        if self.rounds.is_power_of_two() && self.rounds >= FIRST_LOOK {
            self.look();
        }
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn lookahead(&self) -> usize {
        self.roster.lookahead()
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        self.roster.prepare(coming);
    }

    fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        self.roster.prepare_rest(at, coming);
    }

    fn set_workers(&mut self, workers: Workers) {
        self.roster.set_workers(workers);
    }

    /// Members grow, except for trees, which begin anew, and for those that are too expensive for what the
    /// problem has become: these are dropped, as they would not have been chosen for it.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let known = (self.problem.classes, self.problem.features);
        if classes < known.0 || features < known.1 || (classes, features) == known {
            return (classes, features) == known;
        }
        let limits = (!self.fixed).then(|| (self.limits(), self.limit));
        let joined = self.roster.grow(classes, features, limits);
        if joined || classes > self.problem.classes {
            let inputs = self.roster.columns();
            self.stacks.iter_mut().for_each(|stack| stack.grow(classes, inputs));
        }
        self.problem = Problem { classes, features, ..self.problem.clone() };
        true
    }

    /// Kinds of members that take no part from the start.
    fn left_out(&self) -> Vec<String> {
        self.roster.lineup().left_out(&self.problem)
    }

    /// The weight in the forecast of every member that takes part, and of every stack, by names in words.
    fn weights(&self) -> Vec<(String, f64)> {
        let (first, others) = self.top.weights().split_first().expect("the base is the first");
        let members = self.roster.active();
        let mut numbers: Vec<_> = members.map(|(member, share)| (member.title(), first * share)).collect();
        numbers.extend(STACKS.iter().zip(others).map(|((forgetting, _), share)| {
            let forgets = match *forgetting {
                0.0 => String::new(),
                rate => format!(", forgetting 1/{}", rate.recip()),
            };
            (format!("stack of all members{forgets}"), *share)
        }));
        numbers
    }
}

impl State for Auto {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = self.roster.tensors();
        for (at, stack) in self.stacks.iter_mut().enumerate() {
            let prefix = format!("stack/{at}");
            tensors.extend(stack.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.extend(self.top.tensors().into_iter().map(|tensor| tensor.within("top")));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.roster.restored() && self.stacks.iter_mut().all(Stack::restored) && self.top.restored()
    }
}

#[cfg(test)]
mod tests;
