//! A small tree that grows with its rows: the default weak learner.
//!
//! Every leaf sums the costs of the classes, predicts the class with the least sum, and stores some of its
//! rows. Every `grace` rows it tries to split: it draws features and thresholds at random (extremely
//! randomised trees), and takes the split with the largest gain if that exceeds a Hoeffding bound,
//!
//! $$ \text{gain} = \tfrac1n \Big(\sum_k \tfrac{l_k^2}{l} + \sum_k \tfrac{r_k^2}{r} - \sum_k
//!    \tfrac{n_k^2}{n}\Big)
//!    > \sqrt{\tfrac{\ln(1/\delta)}{2n}}, \tag{1} $$
//!
//! where $n$ rows are stored, $n_k$ of them of class $k$, and $l$ of them fall to the left and $r$ to the
//! right. Both new leaves start with their stored rows, so that these rows are used again without being seen
//! again: therefore a tree learns from a few hundred rows.
//!
//! ## Reference
//!
//! Pedro Domingos, Geoff Hulten, *Mining High-Speed Data Streams*, KDD 2000, for the bound and the grace
//! period; Pierre Geurts, Damien Ernst, Louis Wehenkel, *Extremely randomized trees*, Machine Learning 63,
//! 2006, for the drawn splits. `references.bib`: `domingos2000hoeffding`, `geurts2006extra`.
//!
//! ## Deviations
//!
//! * Leaves store rows (a uniform sample of at most `buffer`) in place of counts for every feature: splits
//!   are exact on the sample, and the new leaves inherit the rows.
//! * The best drawn split is compared with no split, not with the second best, and $\delta$ is large: the
//!   errors of premature splits in one tree are outvoted by the other copies.
//! * Splits depend on classes, leaves on costs: copies differ in their random draws and in their leaves'
//!   predictions.
//! * Absent features of a row are 0, and belong to the left of a threshold >= 0.
//! * Stored rows have single precision: a tree distinguishes values that differ by more than 10^-7 of their
//!   size.
//!
//! ## Cost
//!
//! `predict`: the depth. `update`: the depth and $K$, and every `grace` rows `tries` · `buffer`. Memory: at
//! most `memory` numbers for stored rows, allocated as they arrive; beyond this the tree no longer grows.

use crate::boosting::weak::WeakLearner;
use crate::boosting::{cheapest, mixed, mixed_uniform, value};
use crate::example::Features;
use crate::param::{ParamError, ParamValue, Params as _, Values};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Tree`].
    pub struct TreeParams {
        /// Rows between attempts to split a leaf, and the fewest that it needs, >= 2.
        grace: u64 = "5",
        /// Rows that a leaf keeps, from 2 to 1024.
        buffer: u64 = "32",
        /// Features and thresholds drawn in an attempt, >= 1.
        tries: u64 = "2 features, from 16 to 64",
        /// $\delta$ of the Hoeffding bound, in (0, 1]: larger splits earlier.
        confidence: f64 = "0.8",
        /// Most numbers of 8 bytes that a tree takes to keep rows, from 1 to 2^32.
        memory: u64 = "2^20",
    }
}

/// Numbers of a node: its feature, its threshold and its children; for a leaf, -1 and the index of the leaf.
const NODE: usize = 4;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Tree {
    params: TreeParams,
    classes: usize,
    features: usize,
    grace: usize,
    buffer: usize,
    tries: usize,
    /// $\tfrac12 \ln(1/\delta)$.
    half_log_confidence: f64,
    /// Limit on the number of stored rows.
    capacity: usize,
    seed: u64,
    /// Number of random numbers drawn so far.
    drawn: u64,
    /// [`NODE`] numbers for each node; children follow their parents.
    nodes: Vec<f64>,
    /// For every leaf: number of rows, number of stored rows, costs.
    leaves: Vec<f64>,
    /// For every leaf, `buffer` indices of stored rows.
    places: Vec<f64>,
    /// For every stored row: its features, in single precision.
    rows: Vec<f32>,
    /// For every stored row: its class and its costs.
    lessons: Vec<f64>,
    /// Number of rows of each class in a leaf, and to the right of a threshold.
    counts: Vec<f64>,
    /// One feature of the rows of a leaf, and their classes.
    column: Vec<f64>,
}

/// A split of a leaf.
#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    threshold: f64,
}

fn between(name: &str, value: u64, least: u64, most: u64) -> Result<usize, ParamError> {
    if (least..=most).contains(&value) {
        return Ok(value as usize);
    }
    Err(ParamError::invalid(name, value, format!("from {least} to {most}")))
}

impl Tree {
    /// A tree of one leaf with the seed `seed`.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn new(params: &TreeParams, problem: &Problem, seed: u64) -> Result<Self, ParamError> {
        let (classes, features) = (problem.classes, problem.features);
        let confidence = params.confidence.unwrap_or(0.8);
        if !(confidence > 0.0 && confidence <= 1.0) {
            return Err(ParamError::invalid("confidence", confidence.to_value(), "in (0, 1]"));
        }
        let (grace, buffer) = (params.grace.unwrap_or(5), params.buffer.unwrap_or(32));
        let tries = params.tries.unwrap_or((2 * features as u64).clamp(16, 64));
        let memory = params.memory.unwrap_or(1 << 20);
        let params = TreeParams {
            grace: Some(grace),
            buffer: Some(buffer),
            tries: Some(tries),
            confidence: Some(confidence),
            memory: Some(memory),
        };
        let memory = between("memory", memory, 1, 1 << 32)?;
        let mut tree = Self {
            classes,
            features,
            grace: between("grace", grace, 2, 1 << 32)?,
            buffer: between("buffer", buffer, 2, 1024)?,
            tries: between("tries", tries, 1, 1 << 20)?,
            half_log_confidence: -0.5 * confidence.ln(),
            capacity: memory / (features.div_ceil(2) + 1 + classes),
            seed,
            drawn: 0,
            nodes: vec![-1.0, 0.0, 0.0, 0.0],
            leaves: Vec::new(),
            places: Vec::new(),
            rows: Vec::new(),
            lessons: Vec::new(),
            counts: vec![0.0; 2 * classes],
            column: Vec::new(),
            params,
        };
        tree.add_leaf();
        Ok(tree)
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.leaves.len() / self.leaf_len()
    }

    fn leaf_len(&self) -> usize {
        2 + self.classes
    }

    /// Class and costs.
    fn lesson_len(&self) -> usize {
        1 + self.classes
    }

    fn add_leaf(&mut self) -> usize {
        let at = self.leaves();
        self.leaves.resize(self.leaves.len() + self.leaf_len(), 0.0);
        self.places.resize(self.places.len() + self.buffer, 0.0);
        at
    }

    /// The node below `at` at which the path of `x` ends, and its leaf.
    fn find(&self, x: Features<'_>, mut at: usize) -> (usize, usize) {
        loop {
            let node = &self.nodes[NODE * at..][..NODE];
            if node[0] < 0.0 {
                return (at, node[1] as usize);
            }
            at = node[if value(x, node[0] as usize) > node[1] { 3 } else { 2 }] as usize;
        }
    }

    /// Calls `found` with the index, the last node and the answer for `x` of every tree.
    ///
    /// Most of a path's time is waiting for the memory of its nodes. The paths of several trees are followed
    /// step by step together, so that they wait at the same time; nothing branches on what is waited for.
    pub(crate) fn answer_all<'a>(
        mut trees: impl Iterator<Item = &'a Self>,
        x: Features<'_>,
        mut found: impl FnMut(usize, u32, usize),
    ) {
        /// As many paths as a core can wait for, and more.
        const TOGETHER: usize = 32;
        let mut first = 0;
        while let Some(next) = trees.next() {
            let mut group = [next; TOGETHER];
            let mut len = 1;
            for (place, tree) in group[1..].iter_mut().zip(&mut trees) {
                *place = tree;
                len += 1;
            }
            let mut ends = [0; TOGETHER];
            // The trees whose path has not ended, and the node of each.
            let mut going: [(usize, usize); TOGETHER] = std::array::from_fn(|at| (at, 0));
            let mut count = len;
            while count > 0 {
                let mut still = 0;
                for at in 0..count {
                    let (tree, node) = going[at];
                    let inner = &group[tree].nodes[NODE * node..][..NODE];
                    ends[tree] = node;
                    // At a leaf, the feature is -1 and becomes 0, and what follows is not used.
                    let right = usize::from(value(x, inner[0] as usize) > inner[1]);
                    going[still] = (tree, inner[2 + right] as usize);
                    still += usize::from(inner[0] >= 0.0);
                }
                count = still;
            }
            for (at, (tree, end)) in group.iter().zip(ends).take(len).enumerate() {
                let leaf = tree.nodes[NODE * end + 1] as usize;
                found(first + at, end as u32, cheapest(tree.costs(leaf)));
            }
            first += len;
        }
    }

    /// The costs of `leaf`.
    fn costs(&self, leaf: usize) -> &[f64] {
        &self.leaves[leaf * self.leaf_len() + 2..][..self.classes]
    }

    /// The number of rows of `leaf`, and the number of its stored rows.
    fn sizes(&self, leaf: usize) -> (u64, usize) {
        let of = &self.leaves[leaf * self.leaf_len()..];
        (of[0] as u64, of[1] as usize)
    }

    fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        mixed(self.seed, self.drawn)
    }

    /// The indices of the stored rows of `leaf`.
    fn kept(&self, leaf: usize) -> &[f64] {
        &self.places[leaf * self.buffer..][..self.sizes(leaf).1]
    }

    /// Stores the row of class `y`, or not: the stored rows of a leaf are a uniform sample of all its rows
    /// (Vitter's algorithm R).
    fn keep(&mut self, leaf: usize, x: Features<'_>, y: usize, costs: &[f64]) {
        let ((seen, kept), lesson_len) = (self.sizes(leaf), self.lesson_len());
        let place = if kept < self.buffer && self.lessons.len() < self.capacity * lesson_len {
            let place = self.lessons.len() / lesson_len;
            self.rows.resize(self.rows.len() + self.features, 0.0);
            self.lessons.resize(self.lessons.len() + lesson_len, 0.0);
            self.places[leaf * self.buffer + kept] = place as f64;
            let leaf_len = self.leaf_len();
            self.leaves[leaf * leaf_len + 1] += 1.0;
            place
        } else {
            let drawn = (self.draw() % seen.max(1)) as usize;
            if drawn >= kept {
                return;
            }
            self.kept(leaf)[drawn] as usize
        };
        let row = &mut self.rows[place * self.features..][..self.features];
        row.fill(0.0);
        for (feature, value) in x.iter() {
            row[feature] = (value as f32).clamp(f32::MIN, f32::MAX);
        }
        let lesson = &mut self.lessons[place * lesson_len..][..lesson_len];
        lesson[0] = y as f64;
        lesson[1..].copy_from_slice(costs);
    }

    /// The best of the drawn splits of `leaf`, unless all its rows are equal.
    fn best_split(&mut self, leaf: usize) -> Option<Split> {
        let (features, lesson_len, classes) = (self.features, self.lesson_len(), self.classes);
        let count = self.sizes(leaf).1;
        let mut column = std::mem::take(&mut self.column);
        column.resize(2 * self.buffer, 0.0);
        let (values, of_class) = column.split_at_mut(self.buffer);
        let (values, of_class) = (&mut values[..count], &mut of_class[..count]);
        self.counts.fill(0.0);
        for (class, place) in of_class.iter_mut().zip(&self.places[leaf * self.buffer..]) {
            *class = self.lessons[*place as usize * lesson_len];
            self.counts[*class as usize] += 1.0;
        }
        let n = count as f64;
        let square = |counts: &[f64]| counts.iter().map(|c| c * c).sum::<f64>();
        let whole = square(&self.counts[..classes]);
        let tries = if whole == n * n { 0 } else { self.tries };
        let mut best: Option<Split> = None;
        for _ in 0..tries {
            let feature = (self.draw() % features as u64) as usize;
            self.drawn = self.drawn.wrapping_add(1);
            let uniform = mixed_uniform(self.seed, self.drawn);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for (value, place) in values.iter_mut().zip(&self.places[leaf * self.buffer..]) {
                *value = f64::from(self.rows[*place as usize * features + feature]);
                (low, high) = (low.min(*value), high.max(*value));
            }
            if low >= high {
                continue;
            }
            let threshold = low + (high - low) * uniform;
            let (total, right) = self.counts.split_at_mut(classes);
            right.fill(0.0);
            let mut r = 0.0;
            for (_, class) in values.iter().zip(&*of_class).filter(|(value, _)| **value > threshold) {
                right[*class as usize] += 1.0;
                r += 1.0;
            }
            if r == 0.0 || r == n {
                continue;
            }
            let left: f64 = total.iter().zip(&*right).map(|(t, r)| (t - r) * (t - r)).sum();
            let gain = (left / (n - r) + square(right) / r - whole / n) / n; // eq. (1)
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Split { gain, feature, threshold });
            }
        }
        self.column = column;
        best.filter(|best| best.gain > (self.half_log_confidence / n).sqrt())
    }

    /// Replaces the leaf at `node` by a split with two leaves, which inherit its rows.
    fn split(&mut self, node: usize, leaf: usize, split: Split) {
        let (lesson_len, leaf_len) = (self.lesson_len(), self.leaf_len());
        let count = self.sizes(leaf).1;
        let other = self.add_leaf();
        self.leaves[leaf * leaf_len..][..leaf_len].fill(0.0);
        for at in 0..count {
            // Rows of the left leaf move to the front; no index is overwritten before it is read.
            let place = self.places[leaf * self.buffer + at];
            let value = self.rows[place as usize * self.features + split.feature];
            let to = if f64::from(value) > split.threshold { other } else { leaf };
            let record = &mut self.leaves[to * leaf_len..][..leaf_len];
            self.places[to * self.buffer + record[1] as usize] = place;
            record[0] += 1.0;
            record[1] += 1.0;
            let lesson = &self.lessons[place as usize * lesson_len..][..lesson_len];
            for (sum, cost) in record[2..].iter_mut().zip(&lesson[1..]) {
                *sum += cost;
            }
        }
        let first = self.nodes.len() / NODE;
        self.nodes.extend([-1.0, leaf as f64, 0.0, 0.0, -1.0, other as f64, 0.0, 0.0]);
        let children = [split.feature as f64, split.threshold, first as f64, (first + 1) as f64];
        self.nodes[NODE * node..][..NODE].copy_from_slice(&children);
    }
}

impl WeakLearner for Tree {
    fn values(&self) -> Values {
        self.params.values()
    }

    fn predict(&self, x: Features<'_>, room: &mut Prediction) -> usize {
        let (node, leaf) = self.find(x, 0);
        room.indices.clear();
        room.indices.push(node as u32);
        cheapest(self.costs(leaf))
    }

    fn update(&mut self, x: Features<'_>, y: usize, costs: &[f64], at: &Prediction) {
        // Nodes are only added: the leaf at the time of the prediction is on the present path.
        let start = at.indices.first().map_or(0, |node| *node as usize);
        let (node, leaf) = self.find(x, if start < self.nodes.len() / NODE { start } else { 0 });
        let leaf_len = self.leaf_len();
        let record = &mut self.leaves[leaf * leaf_len..][..leaf_len];
        record[0] += 1.0;
        for (sum, cost) in record[2..].iter_mut().zip(costs) {
            *sum += cost;
        }
        self.keep(leaf, x, y, costs);
        let (seen, kept) = self.sizes(leaf);
        if kept >= self.grace.min(self.buffer)
            && seen.is_multiple_of(self.grace as u64)
            && let Some(split) = self.best_split(leaf)
        {
            self.split(node, leaf, split);
        }
    }
}

impl State for Tree {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::count("seed", &mut self.seed),
            Tensor::count("drawn", &mut self.drawn),
            Tensor::list("nodes", &mut self.nodes),
            Tensor::list("leaves", &mut self.leaves),
            Tensor::list("places", &mut self.places),
            Tensor::singles("rows", &mut self.rows),
            Tensor::list("lessons", &mut self.lessons),
        ]
    }

    fn restored(&mut self) -> bool {
        let whole =
            |number: f64, below: usize| number >= 0.0 && number < below as f64 && number.fract() == 0.0;
        let (nodes, leaves) = (self.nodes.len() / NODE, self.leaves());
        let rows = self.lessons.len() / self.lesson_len();
        let lengths = nodes * NODE == self.nodes.len()
            && leaves * self.leaf_len() == self.leaves.len()
            && leaves * self.buffer == self.places.len()
            && rows * self.lesson_len() == self.lessons.len()
            && rows * self.features == self.rows.len()
            && rows <= self.capacity
            && nodes > 0;
        let node = |(at, node): (usize, &[f64])| {
            if node[0] == -1.0 {
                return whole(node[1], leaves);
            }
            // Children follow their parents, so that every path ends.
            let child = |to: f64| whole(to, nodes) && to > at as f64;
            whole(node[0], self.features) && child(node[2]) && child(node[3])
        };
        let leaf = |leaf: &[f64]| leaf[0] >= 0.0 && whole(leaf[1], self.buffer + 1) && leaf[0] >= leaf[1];
        lengths
            && self.nodes.chunks_exact(NODE).enumerate().all(node)
            && self.leaves.chunks_exact(self.leaf_len()).all(leaf)
            && (0..leaves).all(|leaf| self.kept(leaf).iter().all(|place| whole(*place, rows)))
            && self.lessons.chunks_exact(self.lesson_len()).all(|lesson| whole(lesson[0], self.classes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(params: TreeParams) -> Tree {
        Tree::new(&params, &Problem::new(2, 1), 3).expect("valid")
    }

    fn learn(tree: &mut Tree, x: f64, y: usize) {
        let mut costs = [0.5; 2];
        costs[y] = 0.0;
        tree.update(Features::Dense(&[x]), y, &costs, &Prediction::default());
    }

    fn says(tree: &Tree, x: f64) -> usize {
        tree.predict(Features::Dense(&[x]), &mut Prediction::default())
    }

    /// Four rows, -1 and -1 of class 1, 1 and 1 of class 0: every threshold in [-1, 1) separates the classes,
    /// the gain is (2 + 2 - 2)/4 = 1/2. Hoeffding's bound for n = 4 is 1/2 at δ = e⁻²: for a slightly smaller
    /// δ there is no split.
    #[test]
    fn a_split_worked_by_hand() {
        for (delta, leaves) in [(0.136, 2), (0.135, 1)] {
            let params =
                TreeParams { grace: Some(4), confidence: Some(delta), tries: Some(1), ..Default::default() };
            let mut tree = tree(params);
            assert_eq!(says(&tree, -1.0), 0, "the first of equals");
            [(-1.0, 1), (1.0, 0), (-1.0, 1)].into_iter().for_each(|(x, y)| learn(&mut tree, x, y));
            assert_eq!((says(&tree, 1.0), tree.leaves()), (1, 1), "one leaf, one answer");
            learn(&mut tree, 1.0, 0);
            assert_eq!(tree.leaves(), leaves, "δ = {delta}");
            if leaves == 2 {
                assert_eq!((says(&tree, -1.0), says(&tree, 1.0)), (1, 0));
                let sizes = [tree.sizes(0), tree.sizes(1)];
                assert_eq!(sizes, [(2, 2), (2, 2)], "every row is in one of the halves");
                assert_eq!(tree.costs(0), [1.0, 0.0]);
            }
        }
    }

    /// Trees of different depths, more than are followed together.
    #[test]
    fn all_trees_answer_as_each() {
        let problem = Problem::new(3, 2);
        let mut trees: Vec<Tree> =
            (0..70).map(|seed| Tree::new(&TreeParams::default(), &problem, seed).expect("valid")).collect();
        let row = |t: u64| [(t * 7 % 23) as f64, (t * 5 % 17) as f64];
        for (at, tree) in trees.iter_mut().enumerate() {
            for t in 0..at as u64 * 5 {
                let (x, y) = (row(t), (t % 23 / 8) as usize);
                let costs: Vec<f64> = (0..3).map(|class| if class == y { 0.0 } else { 0.5 }).collect();
                tree.update(Features::Dense(&x), y, &costs, &Prediction::default());
            }
        }
        assert!(trees[0].leaves() == 1 && trees[69].leaves() > 4, "{}", trees[69].leaves());
        for t in 0..50 {
            let (x, mut count) = (row(t), 0);
            Tree::answer_all(trees.iter(), Features::Dense(&x), |at, node, answer| {
                let mut room = Prediction::default();
                let alone = trees[at].predict(Features::Dense(&x), &mut room);
                assert_eq!((at, answer, &[node][..]), (count, alone, &room.indices[..]));
                count += 1;
            });
            assert_eq!(count, trees.len());
        }
    }

    #[test]
    fn memory_is_bounded() {
        // A feature of 4 bytes takes 8, beside the class and two costs.
        let width = 1 + 1 + 2;
        let mut tree = tree(TreeParams { memory: Some(width * 50), ..Default::default() });
        let mut t = 0.0;
        for round in 0..5000u64 {
            t = (t + 0.618_033_988_749) % 1.0;
            let noisy = round % 5 == 0;
            learn(&mut tree, t, usize::from(((t * 40.0) as usize).is_multiple_of(2)) ^ usize::from(noisy));
        }
        assert_eq!((tree.rows.len(), tree.lessons.len()), (50, 50 * 3));
        assert!(tree.leaves() > 3 && tree.leaves() <= 50, "{}", tree.leaves());
        assert!(tree.restored());
    }

    /// Values beyond single precision are stored as its largest ones, so that thresholds are finite.
    #[test]
    fn huge_values_are_split() {
        let mut tree = tree(TreeParams::default());
        (0..40).for_each(|t| learn(&mut tree, if t % 2 == 0 { -1e300 } else { 1e300 }, t % 2));
        assert!(tree.rows.iter().all(|value| value.is_finite()), "{:?}", tree.rows);
        assert!(tree.nodes.iter().all(|number| number.is_finite()), "{:?}", tree.nodes);
        assert_eq!((says(&tree, -1e300), says(&tree, 1e300)), (0, 1));
    }

    #[test]
    fn contradictions_are_noticed() {
        let mut grown = tree(TreeParams { grace: Some(2), ..Default::default() });
        (0..40).for_each(|t| learn(&mut grown, f64::from(t % 7), (t % 7 > 3) as usize));
        assert!(grown.leaves() > 1 && grown.restored());
        let broken = |change: fn(&mut Tree)| {
            let mut tree = grown.clone();
            change(&mut tree);
            !tree.restored()
        };
        assert!(broken(|tree| tree.nodes[2] = 0.0), "a node that is its own child");
        assert!(broken(|tree| tree.nodes[0] = 1.0), "a feature that is not there");
        assert!(broken(|tree| tree.places[0] = 1e6), "a row that is not there");
        assert!(broken(|tree| tree.lessons[0] = 2.0), "a class that is not there");
        assert!(broken(|tree| tree.leaves[1] = 33.0), "more rows than there is room for");
        assert!(broken(|tree| tree.leaves.truncate(3)), "half a leaf");
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |params| Tree::new(&params, &Problem::new(2, 1), 3).expect_err("bad").to_string();
        assert_eq!(
            error(TreeParams { grace: Some(1), ..Default::default() }),
            "grace = 1: must be from 2 to 4294967296"
        );
        assert_eq!(
            error(TreeParams { confidence: Some(f64::NAN), ..Default::default() }),
            "confidence = NaN: must be in (0, 1]"
        );
        assert_eq!(
            error(TreeParams { buffer: Some(0), ..Default::default() }),
            "buffer = 0: must be from 2 to 1024"
        );
    }
}
