//! The members at work: in order, with the mixture over their heads, and which of them are dropped.

use crate::example::{Batch, Features, Target};
use crate::parallel::Workers;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::ahead::{Ahead, Portion};
use super::choice::{Limits, diagonals};
use super::member::Member;
use super::unit::Unit;
use super::words::{Description, Lineup, Place};
use crate::experts::mixture::Mixture;
use crate::kernel::vector::take;

/// The step of a grid of regularizations that extends itself.
const STEP: f64 = 10.0;

/// Nats by which its edge must lead.
const LEAD: f64 = 1.0;

/// At most so many members join.
const MOST_JOIN: u64 = 12;

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Roster {
    problem: Problem,
    pub(super) words: Vec<Description>,
    /// In order of `words`; none for those that were dropped.
    members: Vec<Option<Box<dyn Member>>>,
    /// Over all heads of all words.
    pub(super) base: Mixture,
    unit: Unit,
    /// Members that have joined.
    joined: u64,
    /// What trees and forests draw by.
    seed: u64,
    ahead: Ahead,
    workers: Workers,
    losses: Vec<f64>,
    /// A row in multiples of the unit.
    row: Vec<f64>,
}

impl Roster {
    pub(super) fn new(lineup: Lineup, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        let member = |place: &Place| (!place.left).then(|| place.member.make(&problem, seed)).transpose();
        let members = lineup.0.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<Description> = lineup.0.iter().map(|place| place.member).collect();
        let each = |word: &Description| vec![1.0 / word.heads() as f64; word.heads()];
        let mut base = Mixture::new(&words.iter().flat_map(each).collect::<Vec<f64>>());
        for (_, heads) in members.iter().zip(heads(&words)).filter(|(member, _)| member.is_none()) {
            heads.for_each(|head| base.retire(head));
        }
        Ok(Self {
            losses: vec![0.0; base.weights().len()],
            unit: Unit::new(problem.classes, problem.features),
            joined: 0,
            words,
            members,
            base,
            problem,
            seed,
            ahead: Ahead::default(),
            workers: Workers::default(),
            row: Vec::new(),
        })
    }

    /// Members, and whether they were dropped.
    pub(super) fn lineup(&self) -> Lineup {
        let places = self.words.iter().zip(&self.members);
        Lineup(places.map(|(member, made)| Place { member: *member, left: made.is_none() }).collect())
    }

    /// The members that take part, and their shares in the mixture.
    pub(super) fn active(&self) -> impl Iterator<Item = (Description, f64)> + '_ {
        let places = self.words.iter().zip(&self.members).zip(self.shares());
        places.filter(|((_, made), _)| made.is_some()).map(|((member, _), share)| (*member, share))
    }

    /// Columns that a stack has for all members.
    pub(super) fn columns(&self) -> usize {
        self.words.iter().map(|word| word.columns()).sum()
    }

    /// Multiply-adds of a round.
    pub(super) fn work(&self) -> f64 {
        self.active().map(|(word, _)| word.work(&self.problem)).sum()
    }

    /// 8-byte numbers of state.
    fn numbers(&self) -> usize {
        self.active().map(|(word, _)| word.numbers(&self.problem)).fold(0, usize::saturating_add)
    }

    /// The share of every word in the mixture, in order.
    pub(super) fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        heads(&self.words).map(|heads| self.base.weights()[heads].iter().sum())
    }

    /// Predictions of the words in order, empty for those that were dropped.
    pub(super) fn predictions(&self) -> Vec<Prediction> {
        let member = |member: &Option<Box<dyn Member>>| {
            member.as_ref().map_or_else(Prediction::default, |member| member.prediction())
        };
        self.members.iter().map(member).collect()
    }

    /// What the members' forecasts of `rows` can be made from together, in order of the words.
    pub(super) fn foresee(&self, rows: &dyn Batch) -> Vec<Vec<f64>> {
        let features = self.problem.features;
        let shared =
            |(word, member): (&Description, &Option<Box<dyn Member>>)| member.is_some() && word.is_family();
        if !self.words.iter().zip(&self.members).any(shared) {
            return vec![Vec::new(); self.words.len()];
        }
        let mut scaled = vec![0.0; rows.len() * features];
        for (at, row) in scaled.chunks_exact_mut(features).enumerate() {
            rows.features(at).add_to(self.unit.scale(), row);
        }
        let scaled = Portion { features, rows: &scaled };
        let mut foreseen = vec![Vec::new(); self.words.len()];
        let words = self.words.iter().zip(&self.members).zip(&mut foreseen);
        let families = words.filter_map(|((word, member), foreseen)| {
            let member = member.as_ref().filter(|_| word.is_family())?;
            Some((word.work(&self.problem), (member, foreseen)))
        });
        self.workers.each_by_cost(families, |(member, foreseen)| *foreseen = member.foresee(&scaled));
        foreseen
    }

    /// Writes the members' forecasts to `inputs`, and their mixture to `base`. What [`Roster::foresee`] gave
    /// for `count` rows, of which this one is at the place `at`, is `foreseen`.
    pub(super) fn predict(
        &self,
        x: Features<'_>,
        foreseen: Option<(&[Vec<f64>], usize, usize)>,
        inputs: &mut [Prediction],
        base: &mut Prediction,
    ) {
        let weights = self.base.weights();
        let mut room = std::mem::take(&mut base.scratch);
        let scaled = self.unit.scaled(x, &mut room);
        let (problem, words) = (&self.problem, self.words.iter().zip(&self.members));
        let places = words.zip(inputs.iter_mut()).zip(heads(&self.words)).enumerate();
        let costs = places.map(|place| (place.1.0.0.0.work(problem), place));
        self.helpers().each_by_cost(costs, |(place, (((word, member), at), heads))| {
            let Some(member) = member else {
                // These are predictions from before it was dropped.
                at.scores.clear();
                at.members.clear();
                return;
            };
            let own = if word.has_unit() { scaled } else { x };
            match foreseen.map(|(all, row, count)| (&all[place], row, count)) {
                Some((all, row, count)) if !all.is_empty() => {
                    let len = all.len() / count;
                    member.predict_foreseen(own, &all[row * len..][..len], at);
                }
                _ => member.predict(own, at),
            }
            mix_heads(at, &weights[heads]);
        });
        base.probabilities.fill(0.0);
        for ((member, at), heads) in self.members.iter().zip(inputs).zip(heads(&self.words)) {
            let share: f64 = if member.is_some() { weights[heads].iter().sum() } else { continue };
            for (base, p) in base.probabilities.iter_mut().zip(&at.probabilities) {
                *base += share * p;
            }
        }
        base.set_scores_to_logarithms();
        base.scratch = room;
    }

    /// Learns the truth of a round in which `inputs` were predicted.
    ///
    /// Members that joined since then are charged the loss of the mixture, `base`, and learn from a
    /// prediction made now.
    pub(super) fn update(
        &mut self,
        x: Features<'_>,
        y: Target<'_>,
        inputs: &[Prediction],
        base: &Prediction,
    ) {
        let mut room = std::mem::take(&mut self.row);
        let scaled = self.unit.scaled(x, &mut room);
        let workers = self.helpers().clone();
        let words = self.words.iter().zip(&mut self.members);
        let places = words.zip(inputs).zip(parts_mut(&self.words, &mut self.losses));
        let costs = places.map(|place| (place.0.0.0.work(&self.problem), place));
        workers.each_by_cost(costs, |(((word, member), at), losses)| {
            losses.fill(f64::INFINITY);
            if let Some(member) = member {
                for (loss, head) in losses.iter_mut().zip(&at.members) {
                    *loss = y.log_loss(&head.probabilities);
                }
                member.update(if word.has_unit() { scaled } else { x }, y, at);
            }
        });
        let latest = self.words.iter().zip(&mut self.members).zip(heads(&self.words)).skip(inputs.len());
        for ((_, member), heads) in latest {
            let Some(member) = member else { continue };
            let mut at = member.prediction();
            member.predict(scaled, &mut at);
            mix_heads(&mut at, &self.base.weights()[heads.clone()]);
            member.update(scaled, y, &at);
            self.losses[heads].fill(y.log_loss(&base.probabilities));
        }
        self.row = room;
        self.base.update(&self.losses);
        self.ahead.advance();
        if self.unit.measure(x, y) {
            self.begin_anew();
        }
        self.unit.settle();
        self.ahead.hand_on(&mut self.members, self.problem.features, self.unit.scale(), &self.workers);
    }

    /// Makes the members to which the unit matters anew, and lets them learn the rows so far.
    fn begin_anew(&mut self) {
        self.ahead.begin_anew();
        let weights = self.base.weights();
        let words = self.words.iter().zip(&mut self.members).zip(heads(&self.words));
        for ((word, member), heads) in words.filter(|((word, made), _)| word.has_unit() && made.is_some()) {
            let mut fresh = word.make(&self.problem, self.seed).expect("made before");
            let mut at = fresh.prediction();
            self.unit.replay(|x, y| {
                fresh.predict(x, &mut at);
                mix_heads(&mut at, &weights[heads.clone()]);
                fresh.update(x, y, &at);
            });
            fresh.set_workers(&self.workers);
            *member = Some(fresh);
        }
    }

    /// See [`OnlineLearner::set_workers`](crate::learner::OnlineLearner::set_workers).
    pub(super) fn set_workers(&mut self, workers: Workers) {
        self.members.iter_mut().flatten().for_each(|member| member.set_workers(&workers));
        self.workers = workers;
    }

    /// Threads to share a round's members, where these cost more than it takes to share them.
    fn helpers(&self) -> &Workers {
        /// Multiply-adds: some 20 microseconds.
        const WORTH_SHARING: f64 = 100_000.0;
        const NONE: &Workers = &Workers::none();
        if self.work() < WORTH_SHARING { NONE } else { &self.workers }
    }

    /// What the best of `heads` has shown in all rounds: the logarithm of its weight without sharing.
    fn shown(&self, heads: std::ops::Range<usize>) -> f64 {
        heads.map(|head| self.base.log_weight(head)).fold(f64::MIN, f64::max)
    }

    /// Drops members that find no room within `limit`, with `budget` multiply-adds to come to. The best of
    /// all stays, and so do those that cost little; room is given to the best of each kind first, since
    /// stacks gain most from members that know different things, and then to the others, the best first.
    pub(super) fn retire(&mut self, limit: f64, budget: f64) {
        let shown: Vec<f64> = heads(&self.words).map(|heads| self.shown(heads)).collect();
        let mut staying: Vec<usize> =
            (0..self.words.len()).filter(|at| self.members[*at].is_some()).collect();
        staying.sort_by(|a, b| shown[*b].total_cmp(&shown[*a]));
        let mut kinds = Vec::new();
        let (best, others): (Vec<usize>, Vec<usize>) = staying.into_iter().partition(|at| {
            let kind = self.words[*at].name();
            let first = !kinds.contains(&kind);
            kinds.push(kind);
            first
        });
        let mut in_order = best.into_iter().chain(others);
        let Some(leader) = in_order.next() else { return };
        let work = |word: Description| word.work(&self.problem);
        let cheap = |word: Description| work(word) <= word.tolerated() * budget;
        let (kept, asking): (Vec<usize>, Vec<usize>) = in_order.partition(|at| cheap(self.words[*at]));
        let sure = kept.into_iter().chain([leader]);
        let mut room = limit - sure.map(|at| work(self.words[at])).sum::<f64>();
        let mut leaving = Vec::new();
        for at in asking {
            let own = work(self.words[at]);
            if own <= room { room -= own } else { leaving.push(at) }
        }
        leaving.into_iter().for_each(|at| self.leave(at));
    }

    /// Where the edge of a grid of regularizations is the best, adds a member beyond it, if all of them stay
    /// within `limits`. Returns how many were added.
    pub(super) fn extend(&mut self, limits: Limits) -> usize {
        let mut count = 0;
        for kind in ["shared", "products", "full"] {
            let Some((at, ratio)) = self.beyond(kind) else { continue };
            let word = self.words[at].with_ratio(ratio);
            let in_time = self.work() + word.work(&self.problem) <= limits.work;
            let in_memory = self.numbers().saturating_add(word.numbers(&self.problem)) <= limits.numbers;
            let fits = in_time && in_memory && self.joined < MOST_JOIN;
            let edge = self.members[at].as_ref().filter(|_| fits && (1e-9..=1e9).contains(&ratio));
            let Some(member) = edge.and_then(|edge| edge.neighbour(ratio)) else { continue };
            count += 1;
            self.join(word, member);
        }
        count
    }

    /// The member at the edge of the grid of `kind`, if it is the best, and the regularization beyond it.
    fn beyond(&self, kind: &str) -> Option<(usize, f64)> {
        let of_kind = || {
            let words = self.words.iter().enumerate().filter(|(_, word)| word.name() == kind);
            words.filter_map(|(at, word)| word.extensible_ratio().map(|ratio| (at, ratio)))
        };
        let shown = |at: usize| self.shown(heads(&self.words).nth(at).expect("one range a word"));
        let (at, leader) = of_kind().max_by(|a, b| shown(a.0).total_cmp(&shown(b.0)))?;
        let others = || of_kind().filter(|(other, _)| *other != at);
        let next = others().map(|(other, _)| shown(other)).max_by(f64::total_cmp)?;
        // Few digits, to be read and written.
        let neat = |ratio: f64| format!("{ratio:.5e}").parse().expect("a number");
        if shown(at) < next + LEAD {
            None
        } else if others().all(|(_, ratio)| ratio > leader) {
            Some((at, neat(leader / STEP)))
        } else if others().all(|(_, ratio)| ratio < leader) {
            Some((at, neat(leader * STEP)))
        } else {
            None
        }
    }

    /// Drops the member at place `at`.
    fn leave(&mut self, at: usize) {
        let leaving = heads(&self.words).nth(at).expect("one range a word");
        leaving.for_each(|head| self.base.retire(head));
        self.members[at] = None;
    }

    pub(super) fn lookahead(&self) -> usize {
        self.members.iter().flatten().map(|member| member.lookahead()).max().unwrap_or(0)
    }

    pub(super) fn prepare(&mut self, coming: &dyn Batch) {
        if self.lookahead() > 0 {
            self.ahead.start(coming, self.problem.features, self.members.len());
            self.ahead.hand_on(&mut self.members, self.problem.features, self.unit.scale(), &self.workers);
        }
    }

    pub(super) fn prepare_rest(&mut self, at: usize, coming: &dyn Batch) {
        self.ahead.rest(at, coming, self.problem.features, &mut self.members, self.unit.scale());
    }

    /// Members grow; trees begin anew. With `limits`, who has become too expensive for them is dropped before
    /// it grows, and diagonal learners join if no family is left: returns whether they did.
    pub(super) fn grow(&mut self, classes: usize, features: usize, limits: Option<(Limits, f64)>) -> bool {
        self.problem = Problem { classes, features, ..self.problem.clone() };
        if let Some((limits, budget)) = limits {
            self.shrink(limits, budget);
        }
        for (word, member) in self.words.iter().zip(&mut self.members) {
            let Some(member) = member else { continue };
            if !member.grow(classes, features) {
                *member = word.make(&self.problem, self.seed).expect("made before");
            }
        }
        self.ahead.clear();
        self.unit.grow(classes, features);
        limits.is_some_and(|(limits, _)| self.join_diagonals(limits))
    }

    /// Drops who would not have been chosen for the problem as it is now, with `budget` multiply-adds for
    /// each and those of `limits` for all. Counts and diagonal learners stay: they are never too expensive.
    fn shrink(&mut self, limits: Limits, budget: f64) {
        for (at, word) in self.words.clone().into_iter().enumerate() {
            let counts = matches!(word, Description::Labels | Description::Pairs);
            let in_time = word.work(&self.problem) <= budget;
            let in_memory = word.numbers(&self.problem) <= limits.numbers;
            let may_leave = word.is_family()
                || matches!(word, Description::Trees | Description::Forest)
                || (counts && at > 0 && !in_memory);
            if may_leave && !(in_memory && (counts || in_time)) && self.members[at].is_some() {
                self.leave(at);
            }
        }
        self.retire(limits.work, budget);
    }

    /// Lets diagonal learners join where none are and no family is left. They have learnt nothing yet.
    fn join_diagonals(&mut self, limits: Limits) -> bool {
        let enough = |word: Description| {
            word.is_family() || matches!(word, Description::Diagonals { .. } | Description::Diagonal { .. })
        };
        if self.active().any(|(word, _)| enough(word)) {
            return false;
        }
        let word = diagonals(&self.problem, limits, limits.numbers.saturating_sub(self.numbers()));
        let mut member = word.make(&self.problem, self.seed).expect("diagonals are made for every problem");
        member.set_workers(&self.workers);
        self.join(word, member);
        true
    }

    /// Lets a member join.
    fn join(&mut self, word: Description, member: Box<dyn Member>) {
        self.joined += 1;
        self.base.join(word.heads(), (self.joined as f64 + 1.0).powi(-2));
        self.losses.resize(self.base.weights().len(), 0.0);
        self.words.push(word);
        self.members.push(Some(member));
    }

    pub(super) fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (at, member) in self.members.iter_mut().enumerate() {
            let prefix = format!("member/{at}");
            let own = member.as_mut().map_or_else(Vec::new, |member| member.tensors());
            tensors.extend(own.into_iter().map(|tensor| tensor.within(&prefix)));
        }
        tensors.extend(self.base.tensors().into_iter().map(|tensor| tensor.within("base")));
        tensors.extend(self.unit.tensors());
        tensors.extend(self.ahead.tensors());
        tensors.push(Tensor::count("joined", &mut self.joined));
        tensors.push(Tensor::count("seed", &mut self.seed));
        tensors
    }

    pub(super) fn restored(&mut self) -> bool {
        self.members.iter_mut().flatten().all(|member| member.restored())
            && self.base.restored()
            && self.unit.is_consistent()
            && self.ahead.is_consistent(self.problem.features, self.members.len())
    }
}

/// Where the heads of each word stand among all heads.
pub(super) fn heads(words: &[Description]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    words.iter().scan(0, |start, word| {
        let range = *start..*start + word.heads();
        *start = range.end;
        Some(range)
    })
}

/// The part of `rest`, a number for every head, that belongs to each word.
fn parts_mut<'a>(words: &'a [Description], rest: &'a mut [f64]) -> impl Iterator<Item = &'a mut [f64]> {
    let mut rest = rest;
    words.iter().map(move |word| take(&mut rest, word.heads()))
}

/// Writes the mixture of the heads of `at`, in the shares `weights` of any sum, to its own probabilities.
fn mix_heads(at: &mut Prediction, weights: &[f64]) {
    let total: f64 = weights.iter().sum();
    at.probabilities.fill(0.0);
    for (head, weight) in at.members.iter().zip(weights) {
        let share = if total > 0.0 { weight / total } else { 1.0 / weights.len() as f64 };
        for (mine, theirs) in at.probabilities.iter_mut().zip(&head.probabilities) {
            *mine += share * theirs;
        }
    }
    at.set_scores_to_logarithms();
}
