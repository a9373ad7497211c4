//! # A tree of labels, grown online
//!
//! For thousands of classes: a binary tree whose leaves are the labels, with a two-class learner in every
//! inner node. The probability of a label is the product of the forecasts on its path, so that learning or
//! scoring a label takes time in proportion to its depth; the most probable labels are found by best-first
//! search. A label gets its leaf when it first occurs, at the place to which the existing nodes send its row.
//!
//! ## Reference
//!
//! Alina Beygelzimer, John Langford, Yuri Lifshits, Gregory Sorkin, Alex Strehl, *Conditional Probability
//! Tree Estimation Analysis and Algorithms*, UAI 2009: section 4. Kalina Jasinska-Kobus, Marek Wydmuch,
//! Devanathan Thiruvenkatachari, Krzysztof Dembczyński, *Online probabilistic label trees*, AISTATS 2021.
//! `references.bib`: `beygelzimer2009cpt`, `jasinska2021oplt`; theory: trees 1.1, 1.2, 1.3.
//!
//! ## Symbols
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | | `nodes` | inner nodes, in the order of their creation: a parent before its children |
//! | $p_n(x)$ | `learner` | forecast of node $n$ that the label is to its right |
//! | $L, R$ | `leaves` | leaves to the left and right of a node |
//! | $\alpha$ | `balance` | importance of a short path when a new label gets its leaf |
//! | $m$ | `known` | labels that have a leaf |
//! | $q_t$ | | probability reserved for the other $K - m$ labels |
//!
//! $$ p(y) = (1 - q_t) \textstyle\prod_{n \text{ above } y} p_n^{\text{side of } y}, \qquad
//!    p(y) = \frac{q_t}{K - m} \text{ for a label without a leaf}, \tag{1} $$
//! $$ q_t = \frac{m + \frac12}{t} \text{ in round } t > 1 \text{ while } m < K, \text{ else } 0; \qquad q_1 = 1. \tag{2} $$
//!
//! A label's round is learnt by the nodes of its path. A label that occurs for the first time descends from
//! the root, to the right if
//!
//! $$ (1 - \alpha)\ (2 p_n - 1) + \alpha \log_2(L/R) > 0, \tag{3} $$
//!
//! and the leaf that it reaches becomes an inner node with this leaf on its left and the new one on its
//! right; then the path learns the round. With the losses due to the reserved probabilities, and each node's
//! regret on the rounds that it learns,
//!
//! $$ \mathrm{Regret} \le \textstyle\sum_n \mathrm{Regret}_n + \sum_{y_t \text{ known}} \ln\frac1{1 - q_t} +
//!    \sum_{y_t \text{ new}} \ln\frac{K - m}{q_t} \tag{4} $$
//!
//! for every comparator that has a linear predictor of the nodes' ball in each node of the tree as it was
//! grown; all rounds are included.
//!
//! ## Deviations
//!
//! * $q_t$ is the estimate by Krichevsky and Trofimov of the frequency of new labels; the papers have no
//!   probabilities for these.
//! * If the nodes have matrices (`aioli`, the default for small problems), (4) is a theorem. For nodes with
//!   `folklore-diag`, the default for larger problems, there is no bound. The nodes' defaults lead to faster
//!   learning than that learner's own defaults.
//! * Late feedback uses the nodes' forecasts in the prediction, and updates the present tree.
//! * Models merge if their trees agree on the labels that they share, as they do if all continued one model
//!   that had seen every label (theory: trees 1.4). There is no look-ahead, since the label determines which
//!   nodes learn a row.
//!
//! ## Cost
//!
//! `update`, [`FewLabels::probability`]: the nodes on the label's path; [`FewLabels::best`]: those on the
//! paths of the labels that the search visits, few if forecasts are sharp. `predict` writes the probabilities
//! of all labels: $K - 1$ nodes. Memory: a node for each label that has occurred.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

use crate::algorithm::{About, Algorithm, Forecast, Model, Paper};
use crate::capability::{FewLabels, Inside};
use crate::entry::{Entry, Learners};
use crate::example::{Features, Label, Target, Truth};
use crate::guarantee::{Guarantee, Promise, Terms};
use crate::learner::{Accepts, Classes, OnlineLearner, Predictor, own};
use crate::merge::{Merge, MergeError};
use crate::param::{ParamError, Value, Values};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

pub use self::params::LabelTreeParams;

mod merged;
mod packed;
mod params;
#[cfg(test)]
mod tests;

/// With more labels than this, [`FewLabels::best`] is faster than a forecast of all labels.
const MOST_WITHOUT_SEARCH: usize = 256;

/// The root of a subtree: an inner node, or the leaf of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Child {
    Node(u32),
    Leaf(u32),
}

/// An inner node.
#[derive(Clone)]
struct Node {
    /// The parent node, and the side of this node below it; none for the root.
    above: Option<(u32, u8)>,
    below: [Child; 2],
    /// Number of leaves on the left and on the right.
    leaves: [u32; 2],
    /// Forecasts whether the label is on the right.
    learner: Box<dyn Model>,
}

/// See the [module](self).
#[derive(Clone)]
pub struct LabelTree {
    entry: &'static Entry,
    learners: Learners,
    /// The parameters of the nodes' learners, with defaults computed.
    node_values: Values,
    balance: f64,
    problem: Problem,
    seed: u64,
    nodes: Vec<Node>,
    /// The place of each class's leaf: its parent node and the side. The single leaf of a tree without nodes
    /// has no parent.
    places: Vec<Option<Option<(u32, u8)>>>,
    /// Number of classes that have a leaf.
    known: usize,
    rounds: u64,
    /// Number of rounds with an importance weight above 0: $t - 1$ of (2).
    counted: u64,
    /// The loss due to the reserved probabilities so far, in nats: the last two sums of (4).
    kept_back: f64,
    /// The sum of the depths of the labels so far.
    depths: u64,
    /// Buffer for a node's forecast, if that of the round is outdated.
    spare: Prediction,
    /// The state of tree and nodes as a list, while it is saved or loaded.
    saved: Vec<f64>,
}

impl fmt::Debug for LabelTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelTree")
            .field("node", &self.entry.about.name)
            .field("known", &self.known)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl LabelTree {
    fn node_problem(&self) -> Problem {
        Problem { classes: 2, ..self.problem.clone() }
    }

    /// $q_t$ of the next round.
    fn kept_back_share(&self) -> f64 {
        if self.known == 0 {
            1.0
        } else if self.known == self.problem.classes {
            0.0
        } else {
            (self.known as f64 + 0.5) / (self.counted as f64 + 1.0) // eq. (2)
        }
    }

    /// The probability of each class without a leaf.
    fn share_of_unknown(&self) -> f64 {
        self.kept_back_share() / (self.problem.classes - self.known).max(1) as f64
    }

    /// The forecast of node `at`, left and right: from `out` if it is there, otherwise computed in `room`.
    fn forecast<'a>(
        &self,
        node: u32,
        x: Features<'_>,
        out: &'a Prediction,
        room: &'a mut Prediction,
    ) -> &'a Prediction {
        let full = out.indices.first().is_some_and(|count| node < *count);
        if full {
            return &out.members[node as usize];
        }
        let learner = &self.nodes[node as usize].learner;
        fit(room, learner.as_ref());
        learner.predict(x, room);
        room
    }

    /// The leaf that a new label reaches: the class that has it at present.
    fn descend(&self, x: Features<'_>, out: &Prediction, room: &mut Prediction) -> u32 {
        let mut at = Child::Node(0);
        loop {
            match at {
                Child::Leaf(class) => return class,
                Child::Node(node) => {
                    let right = self.forecast(node, x, out, room).probabilities[1];
                    let Node { leaves: [l, r], below, .. } = &self.nodes[node as usize];
                    let shorter = (f64::from(*l) / f64::from(*r)).log2();
                    let goes = (1.0 - self.balance) * (2.0 * right - 1.0) + self.balance * shorter > 0.0; // eq. (3)
                    at = below[usize::from(goes)];
                }
            }
        }
    }

    /// Gives `class` a leaf beside that of `other`.
    fn place(&mut self, class: u32, other: u32) {
        let node = self.nodes.len() as u32;
        let above = self.places[other as usize].expect("it has a leaf");
        if let Some((parent, side)) = above {
            self.nodes[parent as usize].below[usize::from(side)] = Child::Node(node);
        }
        self.places[other as usize] = Some(Some((node, 0)));
        self.places[class as usize] = Some(Some((node, 1)));
        let mut walk = above;
        while let Some((parent, side)) = walk {
            let parent = &mut self.nodes[parent as usize];
            parent.leaves[usize::from(side)] += 1;
            walk = parent.above;
        }
        let learner = self.learner(node);
        let below = [Child::Leaf(other), Child::Leaf(class)];
        self.nodes.push(Node { above, below, leaves: [1, 1], learner });
    }

    /// The learner of a new node.
    fn learner(&self, node: u32) -> Box<dyn Model> {
        let made =
            self.entry.make(&self.node_values, self.node_problem(), self.seed.wrapping_add(u64::from(node)));
        made.expect("a learner of these parameters was made before")
    }

    /// Updates every node on the path to `class` with the side of the path.
    fn update_path(&mut self, x: Features<'_>, class: u32, weight: f64, out: &Prediction) {
        let mut room = std::mem::take(&mut self.spare);
        let mut walk = self.places[class as usize].expect("it has a leaf");
        while let Some((node, side)) = walk {
            self.depths += 1;
            let at = self.forecast(node, x, out, &mut room);
            let node = &mut self.nodes[node as usize];
            node.learner.update(x, Target::class(usize::from(side)).weighted(weight), at);
            walk = node.above;
        }
        self.spare = room;
    }

    /// The sum of `promise` over the nodes, plus the loss due to the reserved probabilities; if a node has
    /// none, the reason.
    fn sum(&self, promise: impl Fn(&dyn Model) -> Option<Promise>) -> Promise {
        let mut sum = self.kept_back;
        for node in &self.nodes {
            match promise(node.learner.as_ref()) {
                Some(Ok(bound)) => sum += bound,
                Some(Err(why)) => return Err(format!("of a node, {why}").into()),
                None => {
                    let name = self.entry.about.name;
                    return Err(format!("{name}, the learner of its nodes, has none").into());
                }
            }
        }
        Ok(sum)
    }
}

/// Makes `room` a prediction of `learner`, if it is none yet.
fn fit(room: &mut Prediction, learner: &dyn Model) {
    if room.scores.len() != 2 {
        *room = learner.prediction();
    }
}

impl Algorithm for LabelTree {
    type Params = LabelTreeParams;

    const ABOUT: About = About {
        name: "label-tree",
        summary: "for thousands of classes: a tree of two-class learners that grows with the labels",
        paper: Paper { key: "beygelzimer2009cpt", place: "section 4" },
        guarantee: "with aioli in the nodes: regret <= sum of the nodes' regrets + ln of what is kept back for new labels",
        cost: "one node's learner times the depth",
        memory: "one node's learner for each label that came",
        forecast: Forecast::Probabilities,
        accepts: Accepts { classes: Classes::Any, soft_labels: false, weights: true, plain: false },
    };

    fn new(params: LabelTreeParams, problem: Problem, seed: u64) -> Result<Self, ParamError> {
        problem.resolve_radius(None)?;
        let entry = params.entry(&problem)?;
        let balance = params.checked_balance()?;
        let two = Problem { classes: 2, ..problem.clone() };
        let radius = problem.radius;
        let first = params.make(entry, two, seed)?;
        Ok(Self {
            entry,
            learners: params.learners,
            node_values: first.values(),
            balance,
            places: vec![None; problem.classes],
            problem: Problem { radius: first.problem().radius.or(radius), ..problem },
            seed,
            nodes: Vec::new(),
            known: 0,
            rounds: 0,
            counted: 0,
            kept_back: 0.0,
            depths: 0,
            spare: Prediction::default(),
            saved: Vec::new(),
        })
    }

    fn params(&self) -> LabelTreeParams {
        LabelTreeParams {
            node: Some(self.entry.about.name.to_owned()),
            balance: Some(self.balance),
            node_values: self.node_values.clone(),
            learners: self.learners,
        }
    }

    own! { numbers }

    fn numbers_for(params: &LabelTreeParams, problem: &Problem) -> usize {
        // Features that first occur in a node's rows later are not included.
        params.numbers_at_first(problem).saturating_mul(problem.classes)
    }

    fn numbers_at_first(params: &LabelTreeParams, problem: &Problem) -> usize {
        params.numbers_at_first(problem).saturating_add(problem.classes)
    }

    fn merge(parts: &[&Self], how: Merge) -> Result<Self, MergeError> {
        merged::merged(parts, how)
    }
}

impl Predictor for LabelTree {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Its `members` are the predictions of the nodes, in order.
    fn prediction(&self) -> Prediction {
        let members = self.nodes.iter().map(|node| node.learner.prediction()).collect();
        Prediction { members, indices: vec![0], ..Prediction::sized(self.problem.classes, self.nodes.len()) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let known = out.members.len().min(self.nodes.len());
        out.members.truncate(known);
        out.members.extend(self.nodes[known..].iter().map(|node| node.learner.prediction()));
        out.scratch.resize(self.nodes.len(), 0.0);
        out.indices.clear();
        out.indices.push(self.nodes.len() as u32);
        out.probabilities.clear();
        out.probabilities.resize(self.problem.classes, self.share_of_unknown());
        out.scores.resize(self.problem.classes, 0.0);
        // For a node, the product along the path to it; for a tree with a single leaf, that of the leaf.
        let share = 1.0 - self.kept_back_share();
        if self.nodes.is_empty() {
            let only = self.places.iter().position(Option::is_some);
            only.into_iter().for_each(|class| out.probabilities[class] = share);
        } else {
            out.scratch[0] = share;
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let own = &mut out.members[at];
            fit(own, node.learner.as_ref());
            node.learner.predict(x, own);
            let share = out.scratch[at];
            for (below, p) in node.below.iter().zip(&own.probabilities) {
                match below {
                    Child::Node(node) => out.scratch[*node as usize] = share * p,
                    Child::Leaf(class) => out.probabilities[*class as usize] = share * p, // eq. (1)
                }
            }
        }
        out.set_scores_to_logarithms();
        out.stamp = Some(self.rounds);
    }

    fn few_labels(&self) -> Option<&dyn FewLabels> {
        (self.problem.classes > MOST_WITHOUT_SEARCH).then_some(self as &dyn FewLabels)
    }
}

impl FewLabels for LabelTree {
    fn probability(&self, x: Features<'_>, label: Label, out: &mut Prediction) -> f64 {
        let Some(mut walk) = self.places[label.index()] else { return self.share_of_unknown() };
        let mut room = std::mem::take(&mut out.members);
        room.resize_with(1, Prediction::default);
        out.indices.clear();
        let mut p = 1.0 - self.kept_back_share();
        while let Some((node, side)) = walk {
            p *= self.forecast(node, x, out, &mut room[0]).probabilities[usize::from(side)];
            walk = self.nodes[node as usize].above;
        }
        out.members = room;
        p
    }

    /// Best-first search: the most probable of all known subtrees is expanded next, so that leaves are found
    /// in descending order of probability.
    fn best(&self, x: Features<'_>, count: usize, out: &mut Prediction, best: &mut Vec<(Label, f64)>) {
        best.clear();
        let mut room = std::mem::take(&mut out.members);
        room.resize_with(1, Prediction::default);
        out.indices.clear();
        out.probabilities.clear();
        out.scores.clear();
        let mut open = BinaryHeap::new();
        let share = 1.0 - self.kept_back_share();
        if !self.nodes.is_empty() {
            open.push(Open { share, child: Child::Node(0) });
        } else if let Some(only) = self.places.iter().position(Option::is_some) {
            open.push(Open { share, child: Child::Leaf(only as u32) });
        }
        // Classes without a leaf have equal probabilities, and follow in their order.
        let unknown = self.share_of_unknown();
        let mut others =
            (0u32..).zip(&self.places).filter(|(_, place)| place.is_none()).map(|(class, _)| class);
        if let Some(class) = others.next() {
            open.push(Open { share: unknown, child: Child::Leaf(class) });
        }
        while let (true, Some(Open { share, child })) = (best.len() < count, open.pop()) {
            match child {
                Child::Leaf(class) => {
                    best.push((Label(class), share));
                    if self.places[class as usize].is_none()
                        && let Some(class) = others.next()
                    {
                        open.push(Open { share: unknown, child: Child::Leaf(class) });
                    }
                }
                Child::Node(node) => {
                    let at = self.forecast(node, x, out, &mut room[0]);
                    for (below, p) in self.nodes[node as usize].below.iter().zip(&at.probabilities) {
                        open.push(Open { share: share * p, child: *below });
                    }
                }
            }
        }
        out.members = room;
    }
}

/// A subtree that the search has found but not expanded, and its probability.
#[derive(Clone, Copy, PartialEq)]
struct Open {
    share: f64,
    child: Child,
}

impl Eq for Open {}

impl Ord for Open {
    /// By probability; at equal probability nodes precede leaves, because they may contain a smaller class,
    /// and smaller classes precede larger ones.
    fn cmp(&self, other: &Self) -> Ordering {
        self.share.total_cmp(&other.share).then(other.child.cmp(&self.child))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl OnlineLearner for LabelTree {
    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.rounds += 1;
        if y.weight == 0.0 {
            return;
        }
        self.saved = Vec::new();
        let Truth::Class(label) = y.truth else { panic!("a label-tree takes no soft labels") };
        let class = label.0;
        let share = self.kept_back_share();
        if self.places[label.index()].is_some() {
            self.kept_back -= y.weight * (-share).ln_1p();
        } else {
            self.kept_back -= y.weight * self.share_of_unknown().ln();
            if self.nodes.is_empty() {
                match (0u32..).zip(&self.places).find(|(_, place)| place.is_some()) {
                    Some((only, _)) => self.place(class, only),
                    None => self.places[label.index()] = Some(None),
                }
            } else {
                let mut room = std::mem::take(&mut self.spare);
                let other = self.descend(x, at, &mut room);
                self.spare = room;
                self.place(class, other);
            }
            self.known += 1;
        }
        self.update_path(x, class, y.weight, at);
        self.counted += 1;
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let Some(problem) = self.problem.grown(classes, features) else { return false };
        if features > self.problem.features {
            let mut grown: Vec<Box<dyn Model>> = self.nodes.iter().map(|node| node.learner.clone()).collect();
            if !grown.iter_mut().all(|learner| learner.grow(2, features)) {
                return false;
            }
            self.nodes.iter_mut().zip(grown).for_each(|(node, learner)| node.learner = learner);
            self.spare = Prediction::default();
        }
        self.places.resize(classes, None);
        self.problem = problem;
        true
    }

    /// Equation (4), with the theorem of each node.
    fn guarantee(&self) -> Option<Guarantee<'_>> {
        let bound = self.sum(|learner| match learner.guarantee()?.regret_bound()? {
            // Each may fail with the probability that is said of one.
            Ok(_) if learner.values().contains_key("samples") => Some(Err(
                "the bound holds with high probability where it draws samples, and not in all nodes at once"
                    .into(),
            )),
            bound => Some(bound),
        });
        Some(Guarantee::Regret { ball: None, norm: self.norm(), bound })
    }

    /// Equation (4), with the certificate of each node.
    fn certificate(&self) -> Option<Promise> {
        Some(self.sum(|learner| learner.certificate()))
    }

    /// Those of the nodes together, each as if it had learnt all rounds.
    fn certificate_terms(&self) -> Option<Terms> {
        let regularization = f64::INFINITY;
        let kept_back =
            Terms { size: self.kept_back, regularization, growth: 0.0, largest: None, weights: true };
        self.nodes.iter().try_fold(kept_back, |all, node| Some(all.and(node.learner.certificate_terms()?)))
    }

    fn inside(&self) -> Option<&dyn Inside> {
        Some(self)
    }
}

impl Inside for LabelTree {
    /// The mean depth of the labels so far, and the number of labels that have a leaf.
    fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mean = self.depths as f64 / self.counted.max(1) as f64;
        vec![("mean_depth", vec![mean]), ("labels_seen", vec![self.known as f64])]
    }
}

impl LabelTree {
    /// The radius of the nodes' ball; infinite if they have none.
    fn norm(&self) -> f64 {
        match self.node_values.get("norm") {
            Some(Value::Float(norm)) => *norm,
            _ => f64::INFINITY,
        }
    }
}

impl State for LabelTree {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.saved = self.packed();
        vec![
            Tensor::list("tree", &mut self.saved),
            Tensor::number("kept_back", &mut self.kept_back),
            Tensor::count("rounds", &mut self.rounds),
            Tensor::count("counted", &mut self.counted),
            Tensor::count("depths", &mut self.depths),
        ]
    }

    fn restored(&mut self) -> bool {
        let saved = std::mem::take(&mut self.saved);
        self.unpack(&saved).is_some()
    }
}
