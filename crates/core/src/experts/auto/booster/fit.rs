//! A fit of gradient-boosted trees, in portions of work.
//!
//! For each class $k$ in turn, with $p$ the softmax of the scores, $y$ the class as a vector and $\omega$ the
//! importance weight, a tree is grown on
//!
//! $$ g_i = \omega_i (p_{ik} - y_{ik}), \qquad h_i = \omega_i \tfrac{K}{K-1}\ p_{ik} (1 - p_{ik}) \tag{1} $$
//!
//! (two classes: one tree for the second one's advantage, $h = \omega p (1 - p)$). The leaf with the largest
//! gain is split next, where $G$ and $H$ are sums over its rows,
//!
//! $$ \text{gain} = \frac{G_l^2}{H_l + \lambda} + \frac{G_r^2}{H_r + \lambda} - \frac{G^2}{H + \lambda},
//!    \qquad H_l, H_r \ge 1, \tag{2} $$
//!
//! and a leaf adds $-\nu\ G/(H + \lambda)$ to the scores of its rows. The sums are taken by bins; those of
//! the larger child are the parent's minus the smaller child's.
//!
//! The first trees may grow by levels instead ([`level`]).
//!
//! Every piece of work is a call of [`Fit::step`] on at most [`BLOCK`] rows or one leaf, so that a fit can be
//! divided among the rounds that follow.
//!
//! ## Reference
//!
//! Guolin Ke et al., *LightGBM: A Highly Efficient Gradient Boosting Decision Tree*, NIPS 2017
//! (`ke2017lightgbm`): leaf-wise growth on histograms, bundles of exclusive features.

use crate::boosting::mixed;

use self::level::Level;
pub(super) use self::plan::{GROWTH, Plan};
use super::columns::{Choice, Columns};
use super::split::{Found, Sums, best_split};
use super::store::Store;
use super::trees::{Grown, Trees, outputs, write_probabilities};

mod level;
mod plan;

/// Limit on the number of rows of a step.
const BLOCK: usize = 256;

/// Largest number of trees of an output.
const MOST_ROUNDS: usize = 100;

/// The least number of trees of an output.
const LEAST_ROUNDS: usize = 20;

/// The sum of all learning rates of an output's trees, if it has fewer trees than [`MOST_ROUNDS`].
const TOTAL_RATE: f64 = 12.0;

/// Least and largest learning rate $\nu$.
const RATES: (f64, f64) = (0.12, 0.3);

/// Limit on the columns that a tree looks at.
const COLUMNS_OF_TREE: usize = 64;

/// A fit is done after this part of the rounds until the next one.
const DONE: f64 = 0.25;

/// Seed of the drawn columns.
const SEED: u64 = 0xB005;

/// Where the fit goes on.
#[derive(Clone)]
enum Stage {
    Columns(Box<Choice>),
    /// Writing bins of the rows from this one on.
    Bins(usize),
    /// Computing gradients of the rows from this one on.
    Gradients(usize),
    /// Sums of a leaf's rows from this one on; the other leaf gets the rest of the parent's.
    Sums {
        leaf: usize,
        sibling: Option<usize>,
        from: usize,
    },
    /// Finding the split of a leaf, and then of its sibling.
    Search {
        leaf: usize,
        sibling: Option<usize>,
    },
    /// Adding what the rules of a level gain at a leaf.
    Level(usize),
    /// Dividing the rows of a leaf: read up to `from`, of which `left` went left.
    Divide {
        leaf: usize,
        from: usize,
        left: usize,
    },
    /// Adding the leaves' values to the scores of the rows in `order`.
    Scores {
        leaf: usize,
        from: usize,
    },
    Done,
}

/// A leaf of the tree that grows.
#[derive(Clone)]
struct Leaf {
    /// Its rows in `order`.
    start: usize,
    len: usize,
    total: [f64; 2],
    /// What its sums by bin have in all beside $G$: $H$, or $W$ in trees that grow by levels.
    second: f64,
    /// Its sums by bin, in `histograms`.
    sums: usize,
    /// Its index in `grown`.
    node: usize,
    split: Option<Found>,
}

/// See the [module](self).
#[derive(Clone)]
pub(super) struct Fit {
    classes: usize,
    /// The first rows of the store are fitted.
    rows: usize,
    plan: Plan,
    seed: u64,
    stage: Stage,
    /// Work done beyond what was asked for, in nanoseconds.
    ahead: u64,
    /// Number of trees of an output, and their learning rate.
    rounds: usize,
    rate: f64,
    /// By row.
    bins: Vec<u8>,
    labels: Vec<u32>,
    weights: Vec<f32>,
    scores: Vec<f32>,
    probabilities: Vec<f32>,
    gradients: Vec<[f32; 2]>,
    /// The rows by leaf.
    order: Vec<u32>,
    leaves: Vec<Leaf>,
    grown: Vec<Grown>,
    histograms: Vec<Sums>,
    /// Whether the present tree grows by levels, and where that is.
    is_by_levels: bool,
    level: Level,
    /// The columns of the present tree.
    used: Vec<u16>,
    /// Buffers: rows to the right; a row's scores, logits and probabilities.
    right: Vec<u32>,
    row: [Vec<f64>; 3],
    trees: Option<Box<Trees>>,
}

impl Fit {
    /// All trees of a fit at once, to all rows of the store.
    pub(super) fn whole(plan: Plan, store: &Store, classes: usize, features: usize, seed: u64) -> Box<Trees> {
        let mut fit = Self::new(plan, store, store.len(), classes, features, seed);
        fit.advance(store, u64::MAX).expect("it has all the time it needs")
    }

    /// A fit to the first `rows` rows of the store, which has at least one.
    pub(super) fn new(
        plan: Plan,
        store: &Store,
        rows: usize,
        classes: usize,
        features: usize,
        seed: u64,
    ) -> Self {
        let row = [vec![0.0; outputs(classes)], vec![0.0; classes], vec![0.0; classes]];
        Self {
            classes,
            rows,
            plan,
            seed,
            stage: Stage::Columns(Box::new(Choice::new(store, rows, features))),
            ahead: 0,
            rounds: 0,
            rate: 0.0,
            bins: Vec::new(),
            labels: Vec::with_capacity(rows),
            weights: Vec::with_capacity(rows),
            scores: Vec::new(),
            probabilities: Vec::new(),
            gradients: vec![[0.0; 2]; rows],
            order: Vec::new(),
            leaves: Vec::new(),
            grown: Vec::new(),
            histograms: Vec::new(),
            is_by_levels: false,
            level: Level::default(),
            used: Vec::new(),
            right: Vec::new(),
            row,
            trees: None,
        }
    }

    /// Nanoseconds, about, that a round should spend so that the fit is done in time.
    pub(super) fn portion(&self) -> u64 {
        (self.plan.of_row(self.rows) / (DONE * self.plan.growth(self.rows))) as u64
    }

    /// Works for `portion` nanoseconds, about, by the same count on every machine. The trees if the fit is
    /// done.
    pub(super) fn advance(&mut self, store: &Store, portion: u64) -> Option<Box<Trees>> {
        let mut done = self.ahead;
        while done < portion {
            if let Stage::Done = self.stage {
                return self.trees.take();
            }
            done += self.step(store);
        }
        self.ahead = done - portion;
        None
    }

    /// The next step. Returns its time.
    fn step(&mut self, store: &Store) -> u64 {
        match &mut self.stage {
            Stage::Columns(choice) => {
                if choice.step() {
                    return choice.work();
                }
                let columns = choice.columns();
                self.begin(columns);
                1000
            }
            Stage::Bins(from) => {
                let from = *from;
                self.write_bins(store, from)
            }
            Stage::Gradients(from) => {
                let from = *from;
                self.write_gradients(from)
            }
            Stage::Sums { leaf, sibling, from } => {
                let (leaf, sibling, from) = (*leaf, *sibling, *from);
                self.add_sums(leaf, sibling, from)
            }
            Stage::Search { leaf, sibling } => {
                let (leaf, sibling) = (*leaf, *sibling);
                self.search(leaf, sibling)
            }
            Stage::Level(leaf) => {
                let leaf = *leaf;
                self.add_gains(leaf)
            }
            Stage::Divide { leaf, from, left } => {
                let (leaf, from, left) = (*leaf, *from, *left);
                self.divide(leaf, from, left)
            }
            Stage::Scores { leaf, from } => {
                let (leaf, from) = (*leaf, *from);
                self.add_scores(leaf, from)
            }
            Stage::Done => 0,
        }
    }

    fn trees(&self) -> &Trees {
        self.trees.as_ref().expect("columns were chosen")
    }

    fn columns(&self) -> &Columns {
        &self.trees().columns
    }

    /// The number of columns that a tree looks at, of `columns`.
    fn looked_at(&self, columns: usize) -> usize {
        COLUMNS_OF_TREE.min((self.plan.columns * columns as f64).ceil() as usize)
    }

    /// The number of trees of an output that can be fitted in time, by the cost of a row and tree.
    fn affordable(&self, columns: usize) -> usize {
        let looked_at = self.looked_at(columns) as f64;
        let of_tree = outputs(self.classes) as f64 * (2.5 * 1.3 * looked_at + 25.0);
        ((self.plan.of_row(self.rows) / of_tree) as usize).clamp(LEAST_ROUNDS, MOST_ROUNDS)
    }

    /// Begins with the chosen columns.
    fn begin(&mut self, columns: Columns) {
        let (rows, count) = (self.rows, columns.all.len());
        self.rounds = self.affordable(count);
        self.rate = (TOTAL_RATE / self.rounds as f64).clamp(RATES.0, RATES.1);
        self.bins = vec![0; rows * count];
        let outputs = outputs(self.classes);
        self.scores = vec![0.0; rows * outputs];
        self.probabilities = vec![0.0; rows * outputs];
        self.right = vec![0; rows];
        self.trees = Some(Box::new(Trees::new(self.classes, columns, vec![0.0; outputs])));
        self.stage = Stage::Bins(0);
    }

    fn write_bins(&mut self, store: &Store, from: usize) -> u64 {
        let trees = self.trees.as_ref().expect("columns were chosen");
        let count = trees.columns.all.len();
        let to = self.rows.min(from + BLOCK);
        for at in from..to {
            let row = store.row(at);
            trees.columns.of_kept(row, &mut self.bins[at * count..][..count]);
            self.labels.push(row.class as u32);
            self.weights.push(row.weight);
        }
        self.stage = Stage::Bins(to);
        if to == self.rows {
            self.set_base();
            self.start_tree();
        }
        ((to - from) * (15 * count + 20)) as u64
    }

    /// The scores without trees: logarithms of the frequencies, with half a row more for each class.
    fn set_base(&mut self) {
        let mut counts = vec![0.5; self.classes];
        for (label, weight) in self.labels.iter().zip(&self.weights) {
            counts[*label as usize] += f64::from(*weight);
        }
        let total: f64 = counts.iter().sum();
        let base: Vec<f64> = match counts[..] {
            [first, second] => vec![(second / first).ln()],
            _ => counts.iter().map(|count| (count / total).ln()).collect(),
        };
        for scores in self.scores.chunks_exact_mut(base.len()) {
            scores.iter_mut().zip(&base).for_each(|(score, base)| *score = *base as f32);
        }
        self.trees.as_mut().expect("columns were chosen").base = base;
    }

    /// Begins the next tree, or ends.
    fn start_tree(&mut self) {
        let count = self.trees().count();
        if count == self.rounds * outputs(self.classes) {
            self.stage = Stage::Done;
            return;
        }
        let of_output = count / outputs(self.classes);
        self.is_by_levels = (of_output as f64) < self.plan.by_levels * self.rounds as f64;
        self.level.restart();
        let columns = self.columns().all.len();
        self.used.clear();
        self.used.extend(0..columns as u16);
        let most = self.looked_at(columns);
        if columns > most {
            // The first entries of a shuffled list.
            for at in 0..most {
                let draw = mixed(self.seed ^ SEED, (count * COLUMNS_OF_TREE + at) as u64);
                self.used.swap(at, at + (draw % (columns - at) as u64) as usize);
            }
            self.used.truncate(most);
            self.used.sort_unstable();
        }
        self.order.clear();
        self.order.extend(0..self.rows as u32);
        self.leaves.clear();
        self.grown.clear();
        self.stage = Stage::Gradients(0);
    }

    fn write_gradients(&mut self, from: usize) -> u64 {
        let outputs = outputs(self.classes);
        let output = self.trees().count() % outputs;
        let to = self.rows.min(from + BLOCK);
        let factor = if outputs == 1 { 1.0 } else { outputs as f64 / (outputs as f64 - 1.0) };
        let [scores, logits, p] = &mut self.row;
        for at in from..to {
            if output == 0 {
                let own = &self.scores[at * outputs..][..outputs];
                scores.iter_mut().zip(own).for_each(|(to, score)| *to = f64::from(*score));
                write_probabilities(scores, logits, p);
                let p = if outputs == 1 { &p[1..] } else { &p[..] };
                let own = &mut self.probabilities[at * outputs..][..outputs];
                own.iter_mut().zip(p).for_each(|(to, p)| *to = *p as f32);
            }
            let class = if outputs == 1 { 1 } else { output };
            let p = f64::from(self.probabilities[at * outputs + output]);
            let weight = f64::from(self.weights[at]);
            let y = f64::from(u8::from(self.labels[at] as usize == class));
            let (g, h) = (weight * (p - y), weight * factor * p * (1.0 - p)); // eq. (1)
            self.gradients[at] = [g as f32, h as f32];
        }
        self.stage = Stage::Gradients(to);
        if to == self.rows {
            let sums = self.free_sums();
            self.leaves.push(Leaf {
                start: 0,
                len: self.rows,
                total: [0.0; 2],
                second: 0.0,
                sums,
                node: 0,
                split: None,
            });
            self.grown.push(Grown::Leaf(0.0));
            self.stage = Stage::Sums { leaf: 0, sibling: None, from: 0 };
        }
        ((to - from) * (8 + if output == 0 { 15 + 6 * outputs } else { 0 })) as u64
    }

    /// An empty list of sums that no leaf has.
    fn free_sums(&mut self) -> usize {
        let at = self.leaves.len();
        if self.histograms.len() == at {
            self.histograms.push(Sums::default());
        }
        let Self { histograms, trees, used, level, .. } = self;
        let columns = &trees.as_ref().expect("columns were chosen").columns;
        histograms[at].clear(columns, if level.is_last() { &[] } else { used });
        at
    }

    fn add_sums(&mut self, leaf: usize, sibling: Option<usize>, from: usize) -> u64 {
        let Leaf { start, len, sums, .. } = self.leaves[leaf];
        let to = len.min(from + BLOCK);
        let count = self.columns().all.len();
        let rows = &self.order[start + from..start + to];
        let used = if self.level.is_last() { &[] } else { &self.used[..] };
        let work = (to - from) as f64 * (1.3 * used.len() as f64 + 5.0);
        let weights = self.is_by_levels.then_some(&self.weights[..]);
        let (total, second) =
            self.histograms[sums].add(rows, &self.bins, count, used, &self.gradients, weights);
        let own = &mut self.leaves[leaf];
        own.total.iter_mut().zip(total).for_each(|(own, part)| *own += part);
        own.second += second;
        self.stage = if to < len {
            Stage::Sums { leaf, sibling, from: to }
        } else {
            if let Some(sibling) = sibling {
                self.subtract(leaf, sibling);
            }
            Stage::Search { leaf, sibling }
        };
        if self.is_by_levels && to == len {
            match sibling {
                None => self.begin_levels(),
                Some(sibling) => self.divide_after(leaf.min(sibling)),
            }
        }
        work as u64
    }

    /// Takes the sums of `leaf` from those of `sibling`, which still has those of their parent.
    fn subtract(&mut self, leaf: usize, sibling: usize) {
        let (own, other) = (self.leaves[leaf].sums, self.leaves[sibling].sums);
        let taken = std::mem::take(&mut self.histograms[own]);
        self.histograms[other].subtract(&taken);
        self.histograms[own] = taken;
        let Leaf { total, second, .. } = self.leaves[leaf];
        let other = &mut self.leaves[sibling];
        other.total.iter_mut().zip(total).for_each(|(own, part)| *own -= part);
        other.second -= second;
    }

    fn search(&mut self, leaf: usize, sibling: Option<usize>) -> u64 {
        let Leaf { total, sums, .. } = self.leaves[leaf];
        let sums = &self.histograms[sums];
        let split = best_split(sums, &self.used, self.columns(), total, self.plan.least_second);
        let work = 200 + 2 * sums.len() as u64;
        self.leaves[leaf].split = split;
        match sibling {
            Some(sibling) => self.stage = Stage::Search { leaf: sibling, sibling: None },
            None => self.split_next(),
        }
        work
    }

    /// Splits the leaf with the largest gain next; ends the tree if there is none, or enough leaves.
    fn split_next(&mut self) {
        let gain = |at: usize| self.leaves[at].split.as_ref().map(|split| split.gain);
        let mut best: Option<(usize, f64)> = None;
        for at in 0..self.leaves.len() {
            if let Some(gain) = gain(at)
                && best.is_none_or(|(_, most)| gain > most)
            {
                best = Some((at, gain));
            }
        }
        let most = self.plan.leaves(self.rows, self.histograms[self.leaves[0].sums].len());
        match best.filter(|_| self.leaves.len() < most) {
            Some((leaf, _)) => self.stage = Stage::Divide { leaf, from: 0, left: 0 },
            None => self.end_tree(),
        }
    }

    /// Sets the values of the leaves.
    fn end_tree(&mut self) {
        for leaf in &self.leaves {
            let value = super::split::value(leaf.total, self.rate);
            self.grown[leaf.node] = Grown::Leaf(value as f32);
        }
        self.stage = Stage::Scores { leaf: 0, from: 0 };
    }

    fn divide(&mut self, leaf: usize, from: usize, mut left: usize) -> u64 {
        let Leaf { start, len, .. } = self.leaves[leaf];
        let to = len.min(from + BLOCK);
        let count = self.columns().all.len();
        let Found { column, rule, .. } = *self.leaves[leaf].split.as_ref().expect("it has a gain");
        let order = &mut self.order[start..start + len];
        for at in from..to {
            let row = order[at];
            let right = usize::from(rule.is_right(self.bins[row as usize * count + column as usize]));
            order[left] = row;
            self.right[at - left] = row;
            left += 1 - right;
        }
        self.stage = Stage::Divide { leaf, from: to, left };
        if to == len {
            order[left..].copy_from_slice(&self.right[..len - left]);
            if self.is_by_levels && (left == 0 || left == len) {
                self.divide_after(leaf);
            } else {
                self.split_leaf(leaf, left, column, rule);
            }
        }
        ((to - from) * 4) as u64
    }

    /// Makes two leaves of `leaf`, the first of which has its first `left` rows and its place.
    fn split_leaf(&mut self, leaf: usize, left: usize, column: u16, rule: super::trees::Rule) {
        let Leaf { start, len, node, .. } = self.leaves[leaf];
        let children = [self.grown.len(), self.grown.len() + 1];
        self.grown.extend([Grown::Leaf(0.0), Grown::Leaf(0.0)]);
        self.grown[node] = Grown::Split { column, rule, children };
        let fresh = self.free_sums();
        let new = self.leaves.len();
        let parent = &mut self.leaves[leaf];
        let (sums, total, second) = (parent.sums, parent.total, parent.second);
        (parent.len, parent.node, parent.split) = (left, children[0], None);
        let right = Leaf { start: start + left, len: len - left, node: children[1], ..parent.clone() };
        self.leaves.push(right);
        // The smaller one is summed up; the larger one keeps the parent's sums, until they are taken.
        let (small, large) = if left <= len - left { (leaf, new) } else { (new, leaf) };
        let to = &mut self.leaves[small];
        (to.sums, to.total, to.second) = (fresh, [0.0; 2], 0.0);
        let to = &mut self.leaves[large];
        (to.sums, to.total, to.second) = (sums, total, second);
        self.stage = Stage::Sums { leaf: small, sibling: Some(large), from: 0 };
    }

    fn add_scores(&mut self, leaf: usize, from: usize) -> u64 {
        let outputs = outputs(self.classes);
        let output = self.trees().count() % outputs;
        let Leaf { start, len, node, .. } = self.leaves[leaf];
        let to = len.min(from + BLOCK);
        if let Grown::Leaf(value) = self.grown[node] {
            for row in &self.order[start + from..start + to] {
                self.scores[*row as usize * outputs + output] += value;
            }
        }
        self.stage = Stage::Scores { leaf, from: to };
        if to == len {
            self.stage = Stage::Scores { leaf: leaf + 1, from: 0 };
            if leaf + 1 == self.leaves.len() {
                let grown = std::mem::take(&mut self.grown);
                self.trees.as_mut().expect("columns were chosen").push(&grown);
                self.grown = grown;
                self.start_tree();
            }
        }
        ((to - from) * 2 + 50) as u64
    }
}

#[cfg(test)]
mod tests;
