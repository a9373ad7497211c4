//! Small trees that grow with their rows: the default weak learner.
//!
//! Every leaf sums the costs of the classes, predicts the class with the least sum, and keeps a list of some
//! of its rows. Every `grace` rows it tries to split by the best of some drawn splits, if that exceeds a
//! Hoeffding bound (eq. (1) of `split.rs`). Both new leaves start with their rows of the list,
//! so that these rows are used again without being seen again: therefore a tree learns from a few hundred
//! rows.
//!
//! All copies share one store of the latest rows, which holds every row once. For the copy, a row of a leaf's
//! list has the weight $m = \sum_l C(y, l) = 1 - \sigma_y$, and a new leaf with the rows $i$ starts with the
//! costs
//!
//! $$ c_l = \frac{1}{K - 1} \sum_{i:\, y_i \ne l} m_i, \tag{1} $$
//!
//! as if each weight had been divided equally among the wrong classes.
//!
//! ## Reference
//!
//! Pedro Domingos, Geoff Hulten, *Mining High-Speed Data Streams*, KDD 2000, for the bound and the grace
//! period; Pierre Geurts, Damien Ernst, Louis Wehenkel, *Extremely randomized trees*, Machine Learning 63,
//! 2006, for the drawn splits. `references.bib`: `domingos2000hoeffding`, `geurts2006extra`.
//!
//! ## Deviations
//!
//! * Leaves keep rows (a uniform sample of at most `buffer`, as far as the store still has them) in place of
//!   counts for every feature: splits are exact on the sample, and the new leaves inherit the rows.
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
//! For each tree, `predict`: the depth; `update`: the depth and $K$, and every `grace` rows `tries` ·
//! `buffer`. Memory: at most `memory` numbers for each tree and `rows` for the rows of all, allocated as they
//! grow; a tree that has reached its limit no longer splits.

use crate::boosting::rows::Rows;
use crate::boosting::split::{Draws, Splitter};
use crate::boosting::{cheapest, value};
use crate::example::Features;
use crate::param::{ParamError, ParamValue, Params as _, Values};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

params! {
    /// Parameters of [`Trees`].
    pub struct TreeParams {
        /// Rows between attempts to split a leaf, and the fewest that it needs, >= 2.
        grace: u64 = "5",
        /// Rows that a leaf keeps, from 2 to 1024.
        buffer: u64 = "16",
        /// Features and thresholds drawn in an attempt, >= 1.
        tries: u64 = "2 features, from 16 to 64",
        /// $\delta$ of the Hoeffding bound, in (0, 1]: larger splits earlier.
        confidence: f64 = "0.8",
        /// Most numbers of 8 bytes for the leaves of a tree, from 1 to 2^32.
        memory: u64 = "2^19",
        /// Most numbers of 8 bytes for the stored rows, which all copies share, from 1 to 2^32.
        rows: u64 = "2^23",
    }
}

/// Words of a node. Those of an inner node: its feature, the bits of its threshold, and the index of its left
/// child, which the right one follows. Those of a leaf: [`LEAF`], its index, its number of rows, and how many
/// of them are in its list.
const NODE: usize = 4;

/// The first word of a leaf.
const LEAF: u32 = u32::MAX;

/// The copies of the weak learner. See the [module](self).
#[derive(Clone, Debug)]
pub struct Trees {
    params: TreeParams,
    grace: usize,
    rows: Rows,
    /// The number of the latest row.
    latest: u32,
    trees: Vec<Tree>,
    splitter: Splitter,
    /// The rows of a leaf that is split, and their weights.
    list: Vec<u32>,
    weights: Vec<f32>,
    /// For the two leaves of a split, the weight of each class.
    of_class: Vec<f64>,
}

/// One copy.
#[derive(Clone, Debug)]
struct Tree {
    classes: usize,
    buffer: usize,
    /// Limit on the number of leaves.
    most: usize,
    draws: Draws,
    /// [`NODE`] words for each node; children follow their parents.
    nodes: Vec<u32>,
    /// For every leaf, the costs of the classes.
    costs: Vec<f64>,
    /// For every leaf, `buffer` numbers of stored rows, and their weights $m$.
    kept: Vec<u32>,
    weights: Vec<f32>,
}

fn between(name: &str, value: u64, least: u64, most: u64) -> Result<usize, ParamError> {
    if (least..=most).contains(&value) {
        return Ok(value as usize);
    }
    Err(ParamError::invalid(name, value, format!("from {least} to {most}")))
}

impl Trees {
    /// Trees of one leaf, a tree for each seed.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn new(
        params: &TreeParams,
        problem: &Problem,
        seeds: impl Iterator<Item = u64>,
    ) -> Result<Self, ParamError> {
        let (classes, features) = (problem.classes, problem.features);
        let confidence = params.confidence.unwrap_or(0.8);
        if !(confidence > 0.0 && confidence <= 1.0) {
            return Err(ParamError::invalid("confidence", confidence.to_value(), "in (0, 1]"));
        }
        let (grace, buffer) = (params.grace.unwrap_or(5), params.buffer.unwrap_or(16));
        let tries = params.tries.unwrap_or((2 * features as u64).clamp(16, 64));
        let memory = params.memory.unwrap_or(1 << 19);
        let rows = params.rows.unwrap_or(1 << 23);
        let params = TreeParams {
            grace: Some(grace),
            buffer: Some(buffer),
            tries: Some(tries),
            confidence: Some(confidence),
            memory: Some(memory),
            rows: Some(rows),
        };
        let grace = between("grace", grace, 2, 1 << 32)?;
        let buffer = between("buffer", buffer, 2, 1024)?;
        let tries = between("tries", tries, 1, 1 << 20)?;
        let memory = between("memory", memory, 1, 1 << 32)?;
        let rows = between("rows", rows, 1, 1 << 32)?;
        // Two nodes, the costs and the list.
        let leaf = NODE + classes + buffer;
        let tree = |seed| {
            let mut tree = Tree {
                classes,
                buffer,
                most: memory / leaf,
                draws: Draws::new(seed),
                nodes: Vec::new(),
                costs: Vec::new(),
                kept: Vec::new(),
                weights: Vec::new(),
            };
            let leaf = tree.add_leaf();
            tree.nodes.extend([LEAF, leaf, 0, 0]);
            tree
        };
        Ok(Self {
            grace,
            // The features, and the class.
            rows: Rows::new(features, 2 * rows / (features + 1)),
            latest: 0,
            trees: seeds.map(tree).collect(),
            splitter: Splitter::new(tries, confidence, buffer),
            list: Vec::with_capacity(buffer),
            weights: Vec::with_capacity(buffer),
            of_class: vec![0.0; 2 * classes],
            params,
        })
    }

    /// The parameters in use, by name.
    pub fn values(&self) -> Values {
        self.params.values()
    }

    /// Writes the class that each tree predicts for `x` to `named`, and the node at the end of its path to
    /// the first index of its entry of `rooms`.
    ///
    /// Most of a path's time is waiting for the memory of its nodes. The paths of several trees are followed
    /// step by step together, so that they wait at the same time; nothing branches on what is waited for.
    pub(crate) fn predict(&self, x: Features<'_>, named: &mut [u32], rooms: &mut [Prediction]) {
        /// As many paths as a core can wait for, and more.
        const TOGETHER: usize = 32;
        let groups = self.trees.chunks(TOGETHER).zip(named.chunks_mut(TOGETHER));
        for ((group, named), rooms) in groups.zip(rooms.chunks_mut(TOGETHER)) {
            let mut ends = [0; TOGETHER];
            // The trees whose path has not ended, and the node of each.
            let mut going: [(usize, usize); TOGETHER] = std::array::from_fn(|at| (at, 0));
            let mut count = group.len();
            while count > 0 {
                let mut still = 0;
                for at in 0..count {
                    let (tree, node) = going[at];
                    let inner = &group[tree].nodes[NODE * node..][..NODE];
                    ends[tree] = node;
                    // At a leaf, the value is 0, since no row has the feature, and what follows is not used.
                    going[still] = (tree, below(inner, x));
                    still += usize::from(inner[0] != LEAF);
                }
                count = still;
            }
            for (((tree, end), named), room) in group.iter().zip(ends).zip(named).zip(rooms) {
                let leaf = tree.nodes[NODE * end + 1] as usize;
                *named = cheapest(tree.costs(leaf)) as u32;
                room.indices.clear();
                room.indices.push(end as u32);
            }
        }
    }

    /// Stores the row from which the trees learn next.
    pub(crate) fn keep(&mut self, x: Features<'_>, y: usize) {
        self.latest = self.rows.keep(x, y);
    }

    /// The tree with index `copy` learns the row that was stored last; `room` is what
    /// [`predict`](Self::predict) wrote for `x`.
    pub(crate) fn update(&mut self, copy: usize, x: Features<'_>, costs: &[f64], room: &Prediction) {
        let Self { rows, splitter, list, weights, of_class, .. } = self;
        let tree = &mut self.trees[copy];
        // Nodes are only added: the leaf at the time of the prediction is on the present path.
        let start = room.indices.first().map_or(0, |node| *node as usize);
        let node = tree.find(x, if start < tree.nodes.len() / NODE { start } else { 0 });
        let leaf = tree.nodes[NODE * node + 1] as usize;
        for (sum, cost) in tree.costs[leaf * tree.classes..].iter_mut().zip(costs) {
            *sum += cost;
        }
        if rows.has(self.latest) {
            tree.keep(node, self.latest, costs.iter().sum::<f64>() as f32);
        }
        let (seen, kept) = tree.sizes(node);
        let is_due = seen.is_multiple_of(self.grace as u32) && kept >= self.grace.min(tree.buffer);
        if !is_due || tree.leaves() >= tree.most {
            return;
        }
        let place = leaf * tree.buffer;
        list.clear();
        weights.clear();
        for (number, weight) in tree.kept[place..][..kept].iter().zip(&tree.weights[place..]) {
            if rows.has(*number) {
                list.push(*number);
                weights.push(*weight);
            }
        }
        let Some(split) = splitter.best(rows, list, &mut tree.draws) else {
            if list.len() < kept {
                tree.set_list(node, list, weights);
            }
            return;
        };
        let first = tree.split(node, split.feature, split.threshold);
        of_class.fill(0.0);
        for (number, weight) in list.iter().zip(&*weights) {
            let side = split.side(rows, *number);
            tree.add(first + side, *number, *weight);
            of_class[side * tree.classes + rows.class(*number)] += f64::from(*weight);
        }
        for (side, of_class) in of_class.chunks(tree.classes).enumerate() {
            let total: f64 = of_class.iter().sum();
            let leaf = tree.nodes[NODE * (first + side) + 1] as usize;
            for (cost, own) in tree.costs[leaf * tree.classes..].iter_mut().zip(of_class) {
                *cost = (total - own) / (tree.classes - 1) as f64; // eq. (1)
            }
        }
    }
}

/// The child of the inner node `node` to which `x` belongs.
fn below(node: &[u32], x: Features<'_>) -> usize {
    let right = value(x, node[0] as usize) > f64::from(f32::from_bits(node[1]));
    (node[2] as usize).wrapping_add(usize::from(right))
}

impl Tree {
    /// Number of leaves.
    fn leaves(&self) -> usize {
        self.nodes.len() / NODE / 2 + 1
    }

    /// Adds the costs and the list of a leaf, and returns its index.
    fn add_leaf(&mut self) -> u32 {
        let at = self.costs.len() / self.classes;
        self.costs.resize(self.costs.len() + self.classes, 0.0);
        self.kept.resize(self.kept.len() + self.buffer, 0);
        self.weights.resize(self.weights.len() + self.buffer, 0.0);
        at as u32
    }

    /// The node below `at` at which the path of `x` ends.
    fn find(&self, x: Features<'_>, mut at: usize) -> usize {
        loop {
            let node = &self.nodes[NODE * at..][..NODE];
            if node[0] == LEAF {
                return at;
            }
            at = below(node, x);
        }
    }

    /// The costs of `leaf`.
    fn costs(&self, leaf: usize) -> &[f64] {
        &self.costs[leaf * self.classes..][..self.classes]
    }

    /// The number of rows of the leaf `node`, and how many are in its list.
    fn sizes(&self, node: usize) -> (u32, usize) {
        (self.nodes[NODE * node + 2], self.nodes[NODE * node + 3] as usize)
    }

    /// Counts the stored row `number` of weight `weight`, and puts it into the list of the leaf `node` or
    /// not: a list is a uniform sample of all rows of its leaf (Vitter's algorithm R).
    fn keep(&mut self, node: usize, number: u32, weight: f32) {
        let (seen, kept) = self.sizes(node);
        if kept < self.buffer {
            self.add(node, number, weight);
            return;
        }
        let seen = seen.saturating_add(1);
        self.nodes[NODE * node + 2] = seen;
        let drawn = self.draws.below(u64::from(seen)) as usize;
        if drawn < kept {
            let place = self.nodes[NODE * node + 1] as usize * self.buffer + drawn;
            (self.kept[place], self.weights[place]) = (number, weight);
        }
    }

    /// Counts a row of the leaf `node`, and appends it to the list.
    fn add(&mut self, node: usize, number: u32, weight: f32) {
        let (seen, kept) = self.sizes(node);
        let place = self.nodes[NODE * node + 1] as usize * self.buffer + kept;
        (self.kept[place], self.weights[place]) = (number, weight);
        self.nodes[NODE * node + 2..][..2].copy_from_slice(&[seen.saturating_add(1), kept as u32 + 1]);
    }

    /// Replaces the list of the leaf `node`.
    fn set_list(&mut self, node: usize, list: &[u32], weights: &[f32]) {
        let place = self.nodes[NODE * node + 1] as usize * self.buffer;
        self.kept[place..][..list.len()].copy_from_slice(list);
        self.weights[place..][..list.len()].copy_from_slice(weights);
        self.nodes[NODE * node + 3] = list.len() as u32;
    }

    /// Replaces the leaf `node` by an inner node with two leaves without rows, and returns the left one.
    fn split(&mut self, node: usize, feature: usize, threshold: f32) -> usize {
        let first = self.nodes.len() / NODE;
        let (leaf, other) = (self.nodes[NODE * node + 1], self.add_leaf());
        self.nodes.extend([LEAF, leaf, 0, 0, LEAF, other, 0, 0]);
        self.nodes[NODE * node..][..NODE].copy_from_slice(&[
            feature as u32,
            threshold.to_bits(),
            first as u32,
            0,
        ]);
        first
    }

    /// Whether a restored state is possible for rows of `features` numbers.
    fn is_consistent(&self, features: usize) -> bool {
        let (nodes, leaves) = (self.nodes.len() / NODE, self.leaves());
        let mut seen = vec![false; leaves];
        let mut node = |(at, node): (usize, &[u32; NODE])| {
            if node[0] == LEAF {
                return node[3] as usize <= self.buffer
                    && node[3] <= node[2]
                    && seen.get_mut(node[1] as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            }
            // Children follow their parents, so that every path ends.
            let child = node[2] as usize;
            (node[0] as usize) < features
                && f32::from_bits(node[1]).is_finite()
                && child > at
                && child + 1 < nodes
        };
        nodes % 2 == 1
            && leaves <= self.most.max(1)
            && nodes * NODE == self.nodes.len()
            && self.nodes.as_chunks().0.iter().enumerate().all(&mut node)
            && self.costs.len() == leaves * self.classes
            && self.kept.len() == leaves * self.buffer
            && self.weights.len() == leaves * self.buffer
            && self.weights.iter().all(|weight| weight.is_finite())
    }
}

impl State for Trees {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::from(self.rows.tensors());
        for (at, tree) in self.trees.iter_mut().enumerate() {
            let prefix = format!("copy/{at}");
            let own = [
                Tensor::count("seed", &mut tree.draws.seed),
                Tensor::count("drawn", &mut tree.draws.drawn),
                Tensor::words("nodes", &mut tree.nodes),
                Tensor::list("costs", &mut tree.costs),
                Tensor::words("kept", &mut tree.kept),
                Tensor::singles("weights", &mut tree.weights),
            ];
            tensors.extend(own.map(|tensor| tensor.within(&prefix)));
        }
        tensors
    }

    fn restored(&mut self) -> bool {
        let classes = self.of_class.len() / 2;
        self.rows.is_consistent(classes)
            && self.trees.iter().all(|tree| tree.is_consistent(self.rows.features))
    }
}

#[cfg(test)]
mod tests;
