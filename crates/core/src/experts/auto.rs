//! # auto: a mixture that needs no tuning
//!
//! Second-order logistic learners over a grid of regularizations and curvatures, over features and over their products; counts
//! of labels for streams that repeat themselves; learners that combine all of these. Vovk's aggregation puts them together, so
//! that the whole is never worse than the best of them by more than a few nats *in total*, and whoever leads may change.
//!
//! ## Reference
//!
//! Volodimir G. Vovk, *Aggregating Strategies*, COLT 1990: the aggregating algorithm for log loss. Mark Herbster, Manfred K. Warmuth,
//! *Tracking the Best Expert*, Machine Learning 32, 1998: fixed share. `references.bib`: `vovk1990aggregating`,
//! `herbster1998fixedshare`. The second-order members are FOLKLOREs, `agarwal2022folklore`.
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
//! $$ \bar p = \textstyle\sum_i w_i\,p^i, \qquad w_i \propto w_i\,p^i_y \quad \text{after the round} \tag{1} $$
//!
//! over all heads. Each *stack* is a small FOLKLORE whose inputs are the members' log-probabilities beside $\ln \bar p$: it learns
//! how far to trust each of them, and how to add up what they know of different things. Its forecast is $s^j$, and what is played is
//!
//! $$ p = v_0\,\bar p + \textstyle\sum_j v_j\,s^j, \qquad v \text{ as } w \text{ in (1)}. \tag{2} $$
//!
//! In nats, for $M$ members, $H$ heads of the best one and $N$ stacks, on every stream,
//!
//! $$ L \le \min_i L^i + \ln M + \ln H + \ln(1 + N) + 2 \ln 2 \tag{3} $$
//!
//! with every head $i$ that stays, and the tracking bound of [`Mixture`] against sequences of them.
//!
//! ## Who takes part
//!
//! What a `budget` of multiply-adds allows, and `members` shows, one word each: `labels` and `pairs` count classes, alone and after the
//! class before; `full@r` and `shared@r` are five FOLKLOREs each around one matrix, with one block for every pair of classes
//! or one for all; `products@r` is a `shared` one over the features and their pairwise products; `diagonal@r:g` is
//! `folklore-diag`; `trees` are thirty boosted trees with two heads ([`AdaBoostOlm`](crate::boosting::adaboost_olm)). $r = \lambda/(\gamma R^2)$ is a regularization in units of the data, and the grid of $r$ and $\gamma$ spans what
//! practice and theory want. A matrix forgets its prior as rows come in, so at rounds 512, 1024, 2048 and so on the dear members that
//! lag most leave (a minus in `members`), until the rest is within the budget at round 2048: a run begins with a trial of
//! at most four budgets a round.
//!
//! ## Deviations
//!
//! * The half of the prior that shares, and the half that does not, are one mixture: $\ln 2$ more than the better of both.
//! * Heads of a family linearise at their own scores, but take their curvature at the family's mixture, which is why they can
//!   share a matrix; [`family`](super) has the formulas. (3) is about heads as they are; they have no theorem of their own.
//! * Trees count a row once, whatever its importance weight, and a soft label as a class drawn from it. They stay as long as
//!   the stream keeps its classes and features, since they cannot grow.
//! * An importance weight multiplies a round's losses; (3) holds for weights up to 1.
//!
//! ## Cost
//!
//! The sum of the members', at most `budget` million multiply-adds a round after round 2048, and the stacks'
//! $O(K\,(M + K)^2)$.

use crate::algorithm::{About, Algorithm, Forecast, Paper};
use crate::example::{Batch, Features, Target};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor};
use crate::param::{ParamError, positive};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::ahead::Ahead;
use super::lineup::{Kind, Lineup, TRIAL, Word};
use super::member::Member;
use super::mixture::Mixture;
use super::stack::Stack;

/// Millions of multiply-adds a round, where a stream is long or of unknown length.
const BUDGET: f64 = 1.25;

/// Millions of multiply-adds that a stream may cost in all, however short: some seconds.
const IN_ALL: f64 = 20_000.0;

/// A short stream has at most so many times the budget of a long one.
const MOST: f64 = 10.0;

/// The budget where none is given.
fn default_budget(problem: &Problem) -> f64 {
    let share = problem.horizon.map_or(0.0, |horizon| IN_ALL / horizon.max(1) as f64);
    share.clamp(BUDGET, MOST * BUDGET)
}

/// From this round on the members are within the budget.
const SETTLED: u64 = 2048;

/// Members that cost less than this part of the budget stay.
const CHEAP: f64 = 0.02;

/// What the stacks forget in a round, and their regularization: who forgets comes back to the mixture anyway.
const STACKS: [(f64, f64); 3] = [(0.0, 16.0), (1.0 / 1024.0, 1.0), (1.0 / 128.0, 1.0)];

params! {
    /// Parameters of [`Auto`].
    pub struct AutoParams {
        /// Millions of multiply-adds that a round may cost, > 0: decides who takes part.
        budget: f64 = "20000 / horizon, but at least 1.25 and at most 12.5",
        /// Bound $R$ on the Euclidean norm of every row of data, > 0: the unit of the regularizations.
        radius: f64 = "the stream's, or 1",
        /// Who takes part, as in `labels+shared@0.1+products@0.001`; a minus stands before who has left.
        members: Lineup = "what the budget allows",
    }
}

/// See the [module](self).
#[derive(Clone)]
pub struct Auto {
    budget: f64,
    problem: Problem,
    words: Vec<Word>,
    /// In order of `words`; none for those who have left.
    members: Vec<Option<Box<dyn Member>>>,
    /// Over all heads of all words.
    base: Mixture,
    stacks: Vec<Stack>,
    /// Over the base and the stacks.
    top: Mixture,
    rounds: u64,
    /// What trees draw by.
    seed: u64,
    ahead: Ahead,
    head_losses: Vec<f64>,
    top_losses: Vec<f64>,
}

impl std::fmt::Debug for Auto {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auto")
            .field("words", &self.words)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Auto {
    /// Multiply-adds of a round.
    fn work(&self) -> f64 {
        self.words.iter().filter(|word| !word.left).map(|word| word.work(&self.problem)).sum()
    }

    /// The share of every word in the members' mixture, in order.
    fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        heads(&self.words).map(|heads| self.base.weights()[heads].iter().sum())
    }

    /// Lets the dear members that lag most leave, while those that stay are beyond what round `rounds` allows.
    fn retire(&mut self) {
        let limit = 1e6 * self.budget * (SETTLED as f64 / self.rounds as f64).max(1.0);
        while self.work() > limit {
            let dear = |word: &Word| {
                let stays = word.left || word.kind == Kind::Trees;
                !stays && word.work(&self.problem) > CHEAP * 1e6 * self.budget
            };
            let candidates = self.words.iter().zip(heads(&self.words)).enumerate();
            let last = candidates
                .filter(|(_, (word, _))| dear(word))
                .map(|(at, (_, heads))| {
                    (at, heads.map(|head| self.base.log_weight(head)).fold(f64::MIN, f64::max))
                })
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let staying = self.words.iter().filter(|word| !word.left).count();
            let Some((at, _)) = last.filter(|_| staying > 1) else { return };
            self.leave(at);
        }
    }

    /// Lets the member of word `at` leave.
    fn leave(&mut self, at: usize) {
        let leaving = heads(&self.words).nth(at).expect("one range a word");
        leaving.for_each(|head| self.base.retire(head));
        self.words[at].left = true;
        self.members[at] = None;
    }
}

/// Where the heads of each word stand among all heads.
fn heads(words: &[Word]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    words.iter().scan(0, |start, word| {
        let range = *start..*start + word.heads();
        *start = range.end;
        Some(range)
    })
}

/// Writes the mixture of `heads`, in the shares `weights` of any sum, to `out`.
fn mix(heads: &[Prediction], weights: &[f64], out: &mut Prediction) {
    let total: f64 = weights.iter().sum();
    out.probabilities.fill(0.0);
    for (head, weight) in heads.iter().zip(weights) {
        let share = if total > 0.0 { weight / total } else { 1.0 / weights.len() as f64 };
        for (mine, theirs) in out.probabilities.iter_mut().zip(&head.probabilities) {
            *mine += share * theirs;
        }
    }
    out.set_scores_to_logarithms();
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
        let radius = problem.resolve_radius(params.radius)?;
        let problem = Problem { radius: Some(radius), ..problem };
        let budget = positive("budget", params.budget.unwrap_or_else(|| default_budget(&problem)))?;
        let words = params.members.unwrap_or_else(|| Lineup::within(&problem, 1e6 * budget)).0;
        let member = |word: &Word| (!word.left).then(|| word.make(&problem, radius, seed)).transpose();
        let members = words.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        let each = |word: &Word| vec![1.0 / word.heads() as f64; word.heads()];
        let mut base = Mixture::new(&words.iter().flat_map(each).collect::<Vec<f64>>());
        for (_, heads) in words.iter().zip(heads(&words)).filter(|(word, _)| word.left) {
            heads.for_each(|head| base.retire(head));
        }
        let stack =
            |(forgetting, ratio): &(f64, f64)| Stack::new(problem.classes, words.len(), *forgetting, *ratio);
        let stacks: Vec<Stack> = STACKS.iter().map(stack).collect();
        Ok(Self {
            budget,
            members,
            head_losses: vec![0.0; base.weights().len()],
            base,
            top: Mixture::new(&vec![1.0; 1 + stacks.len()]),
            top_losses: vec![0.0; 1 + stacks.len()],
            stacks,
            words,
            problem,
            rounds: 0,
            seed,
            ahead: Ahead::default(),
        })
    }

    fn params(&self) -> AutoParams {
        AutoParams {
            budget: Some(self.budget),
            radius: self.problem.radius,
            members: Some(Lineup(self.words.clone())),
        }
    }

    fn numbers(problem: &Problem) -> usize {
        Self::numbers_for(&AutoParams::default(), problem)
    }

    fn numbers_for(params: &AutoParams, problem: &Problem) -> usize {
        let budget = 1e6 * params.budget.unwrap_or_else(|| default_budget(problem));
        let chosen = params.members.is_none().then(|| Lineup::within(problem, budget));
        let words = params.members.as_ref().or(chosen.as_ref()).map_or(&[][..], |lineup| &lineup.0);
        words.iter().map(|word| word.numbers(problem)).fold(0, usize::saturating_add)
    }
}

impl Predictor for Auto {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Its members: those of the words in order, empty for who has left; the stacks; the members' mixture.
    fn prediction(&self) -> Prediction {
        let member = |member: &Option<Box<dyn Member>>| {
            member.as_ref().map_or_else(Prediction::default, |member| member.prediction())
        };
        let mut members: Vec<Prediction> = self.members.iter().map(member).collect();
        members.extend(self.stacks.iter().map(Stack::prediction));
        members.push(Prediction::sized(self.problem.classes, 0));
        Prediction { members, ..Prediction::sized(self.problem.classes, 0) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { members, probabilities, .. } = out;
        let (inputs, rest) = members.split_at_mut(self.members.len());
        let (stacks, base) = rest.split_at_mut(self.stacks.len());
        let base = &mut base[0];
        let weights = self.base.weights();
        base.probabilities.fill(0.0);
        for ((member, at), heads) in self.members.iter().zip(&mut *inputs).zip(heads(&self.words)) {
            let Some(member) = member else {
                // What stands here is from before it left.
                at.scores.clear();
                at.members.clear();
                continue;
            };
            member.predict(x, at);
            let mut forecasts = std::mem::take(&mut at.members);
            mix(&forecasts[..heads.len()], &weights[heads.clone()], at);
            std::mem::swap(&mut at.members, &mut forecasts);
            let share: f64 = weights[heads].iter().sum();
            for (base, p) in base.probabilities.iter_mut().zip(&at.probabilities) {
                *base += share * p; // eq. (1)
            }
        }
        base.set_scores_to_logarithms();
        let (first, others) = self.top.weights().split_first().expect("the base is the first");
        for (p, base) in probabilities.iter_mut().zip(&base.probabilities) {
            *p = first * base;
        }
        for ((stack, at), weight) in self.stacks.iter().zip(stacks).zip(others) {
            stack.predict(&base.scores, inputs, at);
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
        let (inputs, rest) = at.members.split_at(self.members.len());
        let (stacks, base) = rest.split_at(self.stacks.len());
        let base = &base[0];
        for ((member, at), heads) in self.members.iter_mut().zip(inputs).zip(heads(&self.words)) {
            let losses = &mut self.head_losses[heads];
            losses.fill(f64::INFINITY);
            if let Some(member) = member {
                for (loss, head) in losses.iter_mut().zip(&at.members) {
                    *loss = y.log_loss(&head.probabilities);
                }
                member.update(x, y, at);
            }
        }
        self.base.update(&self.head_losses);
        self.top_losses[0] = y.log_loss(&base.probabilities);
        for ((stack, at), loss) in self.stacks.iter_mut().zip(stacks).zip(&mut self.top_losses[1..]) {
            *loss = y.log_loss(&at.probabilities);
            stack.update(&base.scores, inputs, y, at);
        }
        self.top.update(&self.top_losses);
        self.rounds += 1;
        if self.rounds.is_power_of_two() && self.rounds as f64 >= SETTLED as f64 / TRIAL {
            self.retire();
        }
        self.ahead.advance(&mut self.members);
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn lookahead(&self) -> usize {
        self.members.iter().flatten().map(|member| member.lookahead()).max().unwrap_or(0)
    }

    fn prepare(&mut self, coming: &dyn Batch) {
        let most = self.lookahead();
        if most > 0 {
            self.ahead.start(coming, most, self.problem.features, 1.0, &mut self.members);
        }
    }

    /// Members grow; who takes part stays as it is, except for trees, which leave, or begin anew before the first round.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let known = (self.problem.classes, self.problem.features);
        if classes < known.0 || features < known.1 || (classes, features) == known {
            return (classes, features) == known;
        }
        let problem = Problem { classes, features, ..self.problem.clone() };
        if self.rounds == 0 {
            let radius = problem.radius.expect("resolved");
            let again = |word: &Word| word.make(&problem, radius, self.seed).ok();
            for (word, member) in self.words.iter().zip(&mut self.members) {
                if word.kind == Kind::Trees && member.is_some() {
                    *member = again(word);
                }
            }
        } else if self.words.iter().all(|word| word.left || word.kind == Kind::Trees) {
            return false;
        }
        for at in 0..self.words.len() {
            let trees = self.words[at].kind == Kind::Trees;
            if trees && self.rounds > 0 && !self.words[at].left {
                self.leave(at);
            }
            if let Some(member) = self.members[at].as_mut().filter(|_| !trees) {
                let grown = member.grow(classes, features);
                debug_assert!(grown, "everyone but trees can grow");
            }
        }
        self.ahead.clear();
        if classes > self.problem.classes {
            self.stacks.iter_mut().for_each(|stack| stack.grow(classes));
        }
        self.problem = problem;
        true
    }

    /// The weight in the forecast of every member that stays, and of every stack.
    fn weights(&self) -> Vec<(String, f64)> {
        let (first, others) = self.top.weights().split_first().expect("the base is the first");
        let members = self.words.iter().zip(self.shares()).filter(|(word, _)| !word.left);
        let mut numbers: Vec<_> = members.map(|(word, share)| (word.to_string(), first * share)).collect();
        numbers.extend(
            STACKS.iter().zip(others).map(|((forgetting, _), share)| (format!("stack@{forgetting}"), *share)),
        );
        numbers
    }
}

impl State for Auto {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (at, member) in self.members.iter_mut().enumerate() {
            let prefix = format!("member/{at}");
            let own = member.as_mut().map_or_else(Vec::new, |member| member.tensors());
            tensors.extend(own.into_iter().map(|tensor| tensor.within(&prefix)));
        }
        for (at, stack) in self.stacks.iter_mut().enumerate() {
            let prefix = format!("stack/{at}");
            tensors.extend(stack.tensors().into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.extend(self.base.tensors().into_iter().map(|tensor| tensor.within("base")));
        tensors.extend(self.top.tensors().into_iter().map(|tensor| tensor.within("top")));
        tensors.push(Tensor::count("rounds", &mut self.rounds));
        tensors.push(Tensor::count("seed", &mut self.seed));
        tensors
    }

    fn restored(&mut self) -> bool {
        self.members.iter_mut().flatten().all(|member| member.restored())
            && self.base.restored()
            && self.top.restored()
    }
}

#[cfg(test)]
mod tests;
