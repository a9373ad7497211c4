//! One tree of a forest: it splits early, and undoes splits that do not reduce the loss.
//!
//! With $n_k$ rows of class $k$ at a node, $n$ in all, and $a = \max(1, K/10)$, the node's own estimate $q$,
//! its forecast $p$ for a row that falls to the child $c$, and the weight $w$ of its own estimate after class
//! $y$ are
//!
//! $$ q_k = \frac{n_k + a/K}{n + a}, \tag{1} $$
//! $$ p = w\ q + (1 - w)\ p^c, \qquad p = q \text{ at a leaf}, \tag{2} $$
//! $$ w \leftarrow w\ q_y / p_y, \quad 10^{-4} \le w \le 1 - 10^{-4}, \qquad w = \tfrac12 \text{ at first}. \tag{3} $$
//!
//! If $w$ exceeds 0.95, the node becomes a leaf again (theory: mixtures 2.4). Counts of a node whose sum
//! exceeds 1,000 are scaled down to it.

use crate::boosting::rows::Rows;
use crate::boosting::split::{Draws, Splitter};
use crate::boosting::value;
use crate::example::Features;
use crate::state::whole;

/// Number of stored rows of a leaf on which splits are evaluated.
pub(super) const BUFFER: usize = 32;

/// Number of rows between two attempts to split a leaf.
const GRACE: u32 = 5;

/// Limit on the number of nodes on a path.
const DEEPEST: usize = 48;

/// Limit on the sum of a node's counts.
const MEMORY: f32 = 1000.0;

/// $w$ is kept at least this far from 0 and 1, so that it can change quickly.
const LEAST_WEIGHT: f32 = 1e-4;

/// If $w$ exceeds this, the subtree below the node is removed.
const REMOVAL_WEIGHT: f32 = 0.95;

/// A node on a path with a smaller share in the forecast leaves its share to the node below.
const NEGLIGIBLE: f32 = 1e-3;

/// Limit on the bytes of a tree.
const BYTES: usize = 1 << 20;

/// The value of `feature` for a leaf.
const LEAF: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    threshold: f32,
    /// The feature of the split, or [`LEAF`].
    feature: u32,
    /// The index of the left child, which the right one follows; for a leaf, the index of its list of rows.
    below: u32,
    /// Number of rows since the node became a leaf.
    seen: u32,
    /// Sum of the node's counts.
    total: f32,
    /// $w$.
    own: f32,
}

const FRESH: Node = Node { threshold: 0.0, feature: LEAF, below: 0, seen: 0, total: 0.0, own: 0.5 };

/// The nodes from the root to a leaf.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// One more than the longest path, for what [`Tree::find_all`] reads behind a leaf.
    nodes: [u32; DEEPEST + 1],
    len: usize,
}

impl Path {
    fn nodes(&self) -> &[u32] {
        &self.nodes[..self.len]
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Tree {
    classes: usize,
    /// $a$.
    prior: f32,
    /// Limit on the number of leaves.
    most: usize,
    draws: Draws,
    /// Siblings are neighbours in the list; the root is the first entry, and has no sibling.
    nodes: Vec<Node>,
    /// For every node, the number of rows of each class.
    counts: Vec<f32>,
    /// For every leaf, the numbers of its stored rows, and how many there are.
    rows: Vec<u32>,
    lengths: Vec<u32>,
    /// Unused entries: the left siblings of removed pairs, and removed lists of rows.
    free_pairs: Vec<u32>,
    free_places: Vec<u32>,
}

/// 8-byte numbers of a tree at most.
pub(super) fn numbers(classes: usize) -> usize {
    (most_leaves(classes) * leaf_bytes(classes)).div_ceil(8)
}

/// Bytes of a leaf with its share of the nodes above it.
fn leaf_bytes(classes: usize) -> usize {
    2 * (size_of::<Node>() + 4 * classes) + 4 * (BUFFER + 3)
}

fn most_leaves(classes: usize) -> usize {
    (BYTES / leaf_bytes(classes)).max(2)
}

impl Tree {
    pub(super) fn new(classes: usize, seed: u64) -> Self {
        // $a$ is a tenth of a row for each class: with many classes, few rows of one class are already
        // informative.
        let prior = (0.1 * classes as f32).max(1.0);
        Self {
            classes,
            prior,
            most: most_leaves(classes),
            draws: Draws::new(seed),
            nodes: vec![FRESH],
            counts: vec![0.0; classes],
            rows: vec![0; BUFFER],
            lengths: vec![0],
            free_pairs: Vec::new(),
            free_places: Vec::new(),
        }
    }

    pub(super) fn leaves(&self) -> usize {
        self.lengths.len() - self.free_places.len()
    }

    /// The path of `x` in each of `trees`. The paths are followed step by step together, so that they wait
    /// for the memory of their nodes at the same time; nothing branches on what is waited for.
    pub(super) fn find_all<const TREES: usize>(trees: &[Self; TREES], x: Features<'_>) -> [Path; TREES] {
        let mut paths = [Path { nodes: [0; DEEPEST + 1], len: 1 }; TREES];
        let mut going: [usize; TREES] = std::array::from_fn(|at| at);
        let mut count = TREES;
        while count > 0 {
            let mut still = 0;
            for at in 0..count {
                let tree = going[at];
                let path = &mut paths[tree];
                let node = &trees[tree].nodes[path.nodes[path.len - 1] as usize];
                // A leaf has a feature that no row has: its value is 0, and what follows is not used.
                let right = u32::from(value(x, node.feature as usize) > f64::from(node.threshold));
                path.nodes[path.len] = node.below + right;
                let inner = usize::from(node.feature != LEAF);
                path.len += inner;
                going[still] = tree;
                still += inner;
            }
            count = still;
        }
        paths
    }

    fn counts(&self, node: u32) -> &[f32] {
        &self.counts[node as usize * self.classes..][..self.classes]
    }

    /// Writes the forecast for the row of `path`: the estimates of its nodes, eq. (1), mixed by eq. (2).
    pub(super) fn predict(&self, path: &Path, out: &mut [f64]) {
        let each = self.prior / self.classes as f32;
        let mut rest = 1.0f32;
        out.fill(0.0);
        let (leaf, above) = path.nodes().split_last().expect("the root is on every path");
        let mut add = |node: u32, share: f32| {
            let scale = share / (self.nodes[node as usize].total + self.prior);
            for (out, count) in out.iter_mut().zip(self.counts(node)) {
                *out += f64::from(scale * (count + each)); // eq. (1)
            }
        };
        for node in above {
            let share = rest * self.nodes[*node as usize].own;
            if share > NEGLIGIBLE {
                add(*node, share); // eq. (2)
                rest -= share;
            }
        }
        add(*leaf, rest);
    }

    /// Learns class `y` of the row `number`, whose path is `path`.
    pub(super) fn update(
        &mut self,
        rows: &Rows,
        number: u32,
        y: usize,
        path: &Path,
        splitter: &mut Splitter,
        list: &mut Vec<u32>,
    ) {
        let k = self.classes;
        let each = self.prior / k as f32;
        let (mut below, mut cut): (Option<f32>, _) = (None, None);
        for (depth, &node) in path.nodes().iter().enumerate().rev() {
            let counts = &mut self.counts[node as usize * k..][..k];
            let node = &mut self.nodes[node as usize];
            let own = (counts[y] + each) / (node.total + self.prior);
            below = Some(match below {
                None => own,
                Some(below) => {
                    let mixed = node.own * own + (1.0 - node.own) * below;
                    node.own = (node.own * own / mixed).clamp(LEAST_WEIGHT, 1.0 - LEAST_WEIGHT); // eq. (3)
                    cut = if node.own > REMOVAL_WEIGHT { Some(depth) } else { cut };
                    mixed
                }
            });
            counts[y] += 1.0;
            node.total += 1.0;
            if node.total > MEMORY {
                let scale = MEMORY / node.total;
                counts.iter_mut().for_each(|count| *count *= scale);
                node.total = MEMORY;
            }
        }
        let depth = cut.unwrap_or(path.len - 1);
        let leaf = path.nodes[depth];
        if cut.is_some() {
            self.cut(leaf, rows, list);
        }
        let seen = &mut self.nodes[leaf as usize].seen;
        *seen = seen.wrapping_add(1);
        let Node { below: place, seen, .. } = self.nodes[leaf as usize];
        let kept = self.lengths[place as usize] as usize;
        let at = if kept < BUFFER {
            self.lengths[place as usize] += 1;
            kept
        } else {
            self.draws.below(BUFFER as u64) as usize
        };
        self.rows[place as usize * BUFFER + at] = number;
        if seen.is_multiple_of(GRACE) && depth + 1 < DEEPEST && self.leaves() < self.most {
            self.try_to_split(leaf, rows, splitter, list);
        }
    }

    /// Makes `node` a leaf again, with the latest rows of the leaves below it.
    fn cut(&mut self, node: u32, rows: &Rows, latest: &mut Vec<u32>) {
        latest.clear();
        let pair = self.nodes[node as usize].below;
        self.free(pair, rows, latest);
        let place = self.free_places.pop().expect("two leaves at least were freed");
        self.nodes[node as usize] = Node {
            feature: LEAF,
            below: place,
            seen: latest.len() as u32,
            own: FRESH.own,
            ..self.nodes[node as usize]
        };
        self.lengths[place as usize] = latest.len() as u32;
        self.rows[place as usize * BUFFER..][..latest.len()].copy_from_slice(latest);
    }

    /// Frees the pair of nodes that starts at `pair` and all nodes below it; at most [`BUFFER`] of their
    /// latest rows are written to `latest`.
    fn free(&mut self, pair: u32, rows: &Rows, latest: &mut Vec<u32>) {
        for node in [pair, pair + 1] {
            let Node { feature, below, .. } = self.nodes[node as usize];
            if feature != LEAF {
                self.free(below, rows, latest);
                continue;
            }
            let place = below as usize;
            for &number in &self.rows[place * BUFFER..][..self.lengths[place] as usize] {
                if !rows.has(number) {
                    continue;
                }
                if latest.len() < BUFFER {
                    latest.push(number);
                } else if let Some(oldest) = latest.iter_mut().max_by_key(|number| rows.age(**number))
                    && rows.age(*oldest) > rows.age(number)
                {
                    *oldest = number;
                }
            }
            self.free_places.push(below);
        }
        self.free_pairs.push(pair);
    }

    /// Splits `leaf` by the best candidate split, if that exceeds the bound.
    fn try_to_split(&mut self, leaf: u32, rows: &Rows, splitter: &mut Splitter, list: &mut Vec<u32>) {
        let place = self.nodes[leaf as usize].below as usize;
        list.clear();
        let kept = &self.rows[place * BUFFER..][..self.lengths[place] as usize];
        list.extend(kept.iter().filter(|number| rows.has(**number)));
        self.rows[place * BUFFER..][..list.len()].copy_from_slice(list);
        self.lengths[place] = list.len() as u32;
        if list.len() < GRACE as usize {
            return;
        }
        let Some(split) = splitter.best(rows, list, &mut self.draws) else { return };
        let pair = self.add_pair(place as u32);
        for &number in &*list {
            let to = pair + split.side(rows, number) as u32;
            self.counts[to as usize * self.classes + rows.class(number)] += 1.0;
            let node = &mut self.nodes[to as usize];
            (node.total, node.seen) = (node.total + 1.0, node.seen + 1);
            let place = node.below as usize;
            self.rows[place * BUFFER + self.lengths[place] as usize] = number;
            self.lengths[place] += 1;
        }
        let node = &mut self.nodes[leaf as usize];
        (node.feature, node.threshold, node.below) = (split.feature as u32, split.threshold, pair);
        node.own = FRESH.own;
    }

    /// Adds two leaves without rows, the first of which has the list of rows `place`. Returns the left one.
    fn add_pair(&mut self, place: u32) -> u32 {
        let other = self.free_places.pop().unwrap_or_else(|| {
            self.lengths.push(0);
            self.rows.resize(self.rows.len() + BUFFER, 0);
            (self.lengths.len() - 1) as u32
        });
        let pair = self.free_pairs.pop().unwrap_or_else(|| {
            self.nodes.extend([FRESH; 2]);
            self.counts.resize(self.counts.len() + 2 * self.classes, 0.0);
            (self.nodes.len() - 2) as u32
        });
        for (node, place) in [(pair, place), (pair + 1, other)] {
            self.nodes[node as usize] = Node { below: place, ..FRESH };
            self.lengths[place as usize] = 0;
        }
        self.counts[pair as usize * self.classes..][..2 * self.classes].fill(0.0);
        pair
    }

    /// Appends the state to `out`, as a list of numbers.
    pub(super) fn list(&self, out: &mut Vec<f64>) {
        let lengths = [self.nodes.len(), self.lengths.len(), self.free_pairs.len(), self.free_places.len()];
        // In two halves, which are exact as floats.
        let halves = [self.draws.seed, self.draws.drawn].map(|word| [word >> 32, word & 0xFFFF_FFFF]);
        out.extend(halves.into_iter().flatten().map(|half| half as f64));
        out.extend(lengths.map(|length| length as f64));
        for node in &self.nodes {
            out.extend([node.threshold, node.own, node.total].map(f64::from));
            out.extend([node.feature, node.below, node.seen].map(f64::from));
        }
        out.extend(self.counts.iter().map(|count| f64::from(*count)));
        let lists = [&self.rows, &self.lengths, &self.free_pairs, &self.free_places];
        out.extend(lists.into_iter().flatten().map(|number| f64::from(*number)));
    }

    /// Restores the state from a list of [`Tree::list`]; `None` if the list is invalid.
    pub(super) fn set_list(&mut self, list: &mut &[f64], features: usize) -> Option<()> {
        let mut next = || list.split_off_first().copied();
        let mut word = |limit: usize| whole(next()?, limit);
        self.draws.seed = (word(1 << 32)? as u64) << 32 | word(1 << 32)? as u64;
        self.draws.drawn = (word(1 << 32)? as u64) << 32 | word(1 << 32)? as u64;
        let (nodes, places) = (word(1 << 32)?, word(self.most + 1)?);
        let (free_pairs, free_places) = (word(nodes)?, word(places)?);
        let node = |node: &[f64; 6]| {
            let word = |number| whole(number, 1 << 32).map(|number| number as u32);
            let [threshold, own, total, feature, below, seen] = *node;
            let is_consistent = (threshold as f32).is_finite() && (0.0..=1.0).contains(&own) && total >= 0.0;
            let node = Node {
                threshold: threshold as f32,
                feature: word(feature)?,
                below: word(below)?,
                seen: word(seen)?,
                total: total as f32,
                own: own as f32,
            };
            (is_consistent && (node.feature == LEAF || (node.feature as usize) < features)).then_some(node)
        };
        let given = list.split_off(..6 * nodes)?.as_chunks::<6>().0;
        self.nodes = given.iter().map(node).collect::<Option<_>>()?;
        let count = |count: &f64| (*count >= 0.0 && *count <= f64::from(MEMORY)).then_some(*count as f32);
        self.counts = list.split_off(..nodes * self.classes)?.iter().map(count).collect::<Option<_>>()?;
        let mut words = |len: usize, limit: usize| -> Option<Vec<u32>> {
            let given = list.split_off(..len)?.iter();
            given.map(|number| whole(*number, limit).map(|number| number as u32)).collect()
        };
        self.rows = words(places * BUFFER, 1 << 32)?;
        self.lengths = words(places, BUFFER + 1)?;
        self.free_pairs = words(free_pairs, nodes)?;
        self.free_places = words(free_places, places)?;
        self.is_consistent().then_some(())
    }

    /// Whether every pair of nodes and every list of rows is either used once or free, and no path is too
    /// long.
    fn is_consistent(&self) -> bool {
        let (mut pairs, mut places) = (vec![false; self.nodes.len()], vec![false; self.lengths.len()]);
        let once = |seen: &mut [bool], at: u32| {
            seen.get_mut(at as usize).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        let is_pair = |at: u32| at % 2 == 1 && (at as usize) + 1 < self.nodes.len();
        let free = self.free_pairs.iter().all(|pair| is_pair(*pair) && once(&mut pairs, *pair))
            && self.free_places.iter().all(|place| once(&mut places, *place));
        let mut waiting = vec![(0u32, 1usize)];
        while let Some((node, depth)) = waiting.pop() {
            let Some(Node { feature, below, .. }) = self.nodes.get(node as usize) else { return false };
            let sound = match *feature {
                LEAF => once(&mut places, *below),
                _ => is_pair(*below) && depth < DEEPEST && once(&mut pairs, *below),
            };
            if !sound {
                return false;
            }
            if *feature != LEAF {
                waiting.extend([(*below, depth + 1), (*below + 1, depth + 1)]);
            }
        }
        free && self.nodes.len() % 2 == 1
            && pairs.iter().filter(|seen| **seen).count() == self.nodes.len() / 2
            && places.iter().all(|seen| *seen)
    }
}
