//! The fitted trees: forecasts from bins.

use crate::kernel::softmax::quick_softmax;
use crate::state::whole;

use super::columns::{BINS, Columns};

/// A set of bins.
pub(super) type Bins = [u64; BINS / 64];

/// The column of a leaf.
const LEAF: u16 = u16::MAX;

/// Number of rows that go through a tree together, and their places.
const TOGETHER: usize = 16;
const TOGETHER_IN_ORDER: [u8; TOGETHER] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Trees of more nodes than this are not copied.
const MOST_COPIED: usize = 256;

/// Where rows go at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// To the right if the bin of a number exceeds `threshold`, or is 0 (missing) and `missing_right`.
    Number { threshold: u8, missing_right: bool },
    /// To the right if the bin is in the set.
    Category(Bins),
}

impl Rule {
    pub(super) fn is_right(&self, bin: u8) -> bool {
        match self {
            Self::Number { missing_right, .. } if bin == 0 => *missing_right,
            Self::Number { threshold, .. } => bin > *threshold,
            Self::Category(set) => has(set, bin),
        }
    }
}

fn has(set: &Bins, bin: u8) -> bool {
    set[bin as usize / 64] >> (bin % 64) & 1 == 1
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    MissingLeft,
    MissingRight,
    Category,
}

/// A node, or a leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    /// The column of the split, or [`LEAF`].
    column: u16,
    threshold: u8,
    kind: Kind,
    /// The index of the left child, which the right one follows.
    below: u32,
    /// A leaf's value as bits, or the index of the set of bins.
    payload: u32,
}

impl Node {
    /// A leaf that adds nothing.
    const NONE: Self = Self { column: LEAF, threshold: 0, kind: Kind::MissingLeft, below: 0, payload: 0 };
}

/// The trees of a fit, one for each output in turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trees {
    /// Number of classes when it was fitted.
    pub(super) classes: usize,
    pub(super) columns: Columns,
    /// The scores without trees: one for each class, or the second one's advantage if there are two.
    pub(super) base: Vec<f64>,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    sets: Vec<Bins>,
}

/// A tree's nodes while it grows.
#[derive(Clone, Debug)]
pub(super) enum Grown {
    Leaf(f32),
    Split { column: u16, rule: Rule, children: [usize; 2] },
}

/// The number of scores that are fitted.
pub(super) fn outputs(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

impl Trees {
    pub(super) fn new(classes: usize, columns: Columns, base: Vec<f64>) -> Self {
        Self { classes, columns, base, nodes: Vec::new(), roots: Vec::new(), sets: Vec::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.roots.len()
    }

    /// Adds a tree, whose root is the first of `grown`.
    pub(super) fn push(&mut self, grown: &[Grown]) {
        let root = self.nodes.len() as u32;
        self.roots.push(root);
        let leaf = Node::NONE;
        self.nodes.push(leaf);
        let mut places = vec![(0, root)];
        while let Some((from, to)) = places.pop() {
            self.nodes[to as usize] = match &grown[from] {
                Grown::Leaf(value) => Node { payload: value.to_bits(), ..leaf },
                Grown::Split { column, rule, children } => {
                    let below = self.nodes.len() as u32;
                    self.nodes.extend([leaf; 2]);
                    places.extend([(children[1], below + 1), (children[0], below)]);
                    let node = Node { column: *column, below, ..leaf };
                    match rule {
                        Rule::Number { threshold, missing_right: false } => {
                            Node { threshold: *threshold, ..node }
                        }
                        Rule::Number { threshold, .. } => {
                            Node { threshold: *threshold, kind: Kind::MissingRight, ..node }
                        }
                        Rule::Category(set) => {
                            self.sets.push(*set);
                            let payload = self.sets.len() as u32 - 1;
                            Node { kind: Kind::Category, payload, ..node }
                        }
                    }
                }
            };
        }
    }

    /// Where a row with these `bins` goes from a node that is not a leaf.
    fn below(&self, node: &Node, bin: u8) -> u32 {
        let right = match node.kind {
            Kind::Category => has(&self.sets[node.payload as usize], bin),
            Kind::MissingRight => bin.wrapping_sub(1) >= node.threshold,
            Kind::MissingLeft => bin > node.threshold,
        };
        node.below + u32::from(right)
    }

    /// Adds the values of the leaves of a tree to every `outputs`th score, for as many rows of `columns`
    /// bins; at most [`TOGETHER`]. `nodes` are those of the tree, whose first one has the index `root` among
    /// all.
    ///
    /// A step takes each row to the next node. Rows do not wait for one another's memory, as the steps of one
    /// row would.
    fn add_tree(
        &self,
        (root, nodes): (u32, &[Node]),
        bins: &[u32],
        columns: usize,
        scores: &mut [f64],
        outputs: usize,
    ) {
        let (mut rows, mut places) = (TOGETHER_IN_ORDER, [root; TOGETHER]);
        let mut active = scores.len().div_ceil(outputs);
        while active > 0 {
            let mut left = 0;
            for at in 0..active {
                let (row, node) = (rows[at] as usize, &nodes[(places[at] - root) as usize]);
                if node.column == LEAF {
                    scores[row * outputs] += f64::from(f32::from_bits(node.payload));
                } else {
                    let bin = bins[row * columns + node.column as usize] as u8;
                    (rows[left], places[left]) = (row as u8, self.below(node, bin));
                    left += 1;
                }
            }
            active = left;
        }
    }

    /// Whether every tree has the nodes from its root to the next one, and no other.
    fn are_apart(&self) -> bool {
        let in_order = self.roots.is_sorted_by(|one, next| one < next);
        let from_first = self.roots.first().map_or(self.nodes.len(), |root| *root as usize) == 0;
        let inside = |tree: usize| {
            let (nodes, root) = (self.tree(tree), self.roots[tree]);
            let children = root + 1..root + nodes.len() as u32 - 1;
            nodes.iter().all(|node| node.column == LEAF || children.contains(&node.below))
        };
        in_order && from_first && (0..self.roots.len()).all(inside)
    }

    /// The number of different rules of a tree.
    #[cfg(test)]
    pub(super) fn rules(&self, tree: usize) -> usize {
        let (mut rules, mut below) = (Vec::new(), vec![self.roots[tree]]);
        while let Some(at) = below.pop() {
            let node = self.nodes[at as usize];
            if node.column == LEAF {
                continue;
            }
            below.extend([node.below, node.below + 1]);
            let set = (node.kind == Kind::Category).then(|| self.sets[node.payload as usize]);
            let rule = (node.column, node.threshold, node.kind, set);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules.len()
    }

    /// Adds the values of the trees from `from` to `to` (rounds of one tree for each output) to the `scores`
    /// of the outputs of each row. All rows go through a tree before the next one. Its nodes are copied
    /// first where there are several rows: the processor sees them coming in this order, and not in that of
    /// the rows' paths.
    pub(super) fn add(&self, bins: &[u32], from: usize, to: usize, scores: &mut [f64]) {
        let (outputs, columns) = (self.base.len(), self.columns.all.len());
        let mut room = (scores.len() > outputs).then_some([Node::NONE; MOST_COPIED]);
        for tree in from * outputs..to * outputs {
            let mut nodes = self.tree(tree);
            if let Some(room) = room.as_mut().and_then(|room| room.get_mut(..nodes.len())) {
                room.copy_from_slice(nodes);
                nodes = room;
            }
            for (part, scores) in scores.chunks_mut(TOGETHER * outputs).enumerate() {
                let bins = &bins[part * TOGETHER * columns..];
                self.add_tree(
                    (self.roots[tree], nodes),
                    bins,
                    columns,
                    &mut scores[tree % outputs..],
                    outputs,
                );
            }
        }
    }

    /// The nodes of a tree.
    fn tree(&self, tree: usize) -> &[Node] {
        let end = self.roots.get(tree + 1).map_or(self.nodes.len(), |root| *root as usize);
        &self.nodes[self.roots[tree] as usize..end]
    }

    /// Sets the `scores` of each row to those without trees.
    pub(super) fn begin(&self, scores: &mut [f64]) {
        scores.chunks_exact_mut(self.base.len()).for_each(|scores| scores.copy_from_slice(&self.base));
    }

    /// The number of rounds: trees of an output.
    pub(super) fn rounds(&self) -> usize {
        self.roots.len() / self.base.len()
    }

    /// Appends the state to `out`.
    pub(super) fn list(&self, out: &mut Vec<f64>) {
        out.push(self.classes as f64);
        self.columns.list(out);
        out.extend(&self.base);
        out.extend([self.nodes.len(), self.roots.len(), self.sets.len()].map(|length| length as f64));
        for node in &self.nodes {
            let kind = match node.kind {
                Kind::MissingLeft => 0,
                Kind::MissingRight => 1,
                Kind::Category => 2,
            };
            out.extend([node.column.into(), node.threshold.into(), kind, node.below].map(f64::from));
            out.push(match node.column {
                LEAF => f32::from_bits(node.payload).into(),
                _ => node.payload.into(),
            });
        }
        out.extend(self.roots.iter().map(|root| f64::from(*root)));
        // In halves, which are exact as floats.
        let halves = self.sets.iter().flatten().flat_map(|word| [word >> 32, word & 0xFFFF_FFFF]);
        out.extend(halves.map(|half| half as f64));
    }

    /// The trees from a list of [`Trees::list`], for a learner of `classes` classes and `features` features;
    /// `None` if it is not valid.
    pub(super) fn from_list(list: &mut &[f64], classes: usize, features: usize) -> Option<Self> {
        fn word(list: &mut &[f64], limit: usize) -> Option<usize> {
            whole(*list.split_off_first()?, limit)
        }
        let own = word(list, classes + 1).filter(|own| *own > 1)?;
        let columns = Columns::from_list(list, features)?;
        let base = list.split_off(..outputs(own))?.to_vec();
        let (nodes, roots) = (word(list, 1 << 32)?, word(list, 1 << 32)?);
        let sets = word(list, 1 << 32)?;
        let mut trees = Self::new(own, columns, base);
        for at in 0..nodes {
            let column = word(list, 1 << 16)? as u16;
            let (threshold, kind) = (word(list, BINS)? as u8, word(list, 3)?);
            let (below, payload) = (word(list, nodes.max(1))?, *list.split_off_first()?);
            let is_leaf = column == LEAF;
            let payload = if is_leaf { (payload as f32).to_bits() } else { whole(payload, 1 << 32)? as u32 };
            let kind = [Kind::MissingLeft, Kind::MissingRight, Kind::Category][kind];
            // Children follow their node, so that every path ends.
            let inner = (column as usize) < trees.columns.all.len()
                && (at + 1..nodes - 1).contains(&below)
                && (kind != Kind::Category || (payload as usize) < sets);
            let finite = is_leaf && f32::from_bits(payload).is_finite();
            let node = Node { column, threshold, kind, below: below as u32, payload };
            trees.nodes.push(Some(node).filter(|_| finite || (!is_leaf && inner))?);
        }
        for _ in 0..roots {
            trees.roots.push(word(list, nodes)? as u32);
        }
        for _ in 0..sets {
            let mut set = Bins::default();
            for part in &mut set {
                *part = (word(list, 1 << 32)? as u64) << 32 | word(list, 1 << 32)? as u64;
            }
            trees.sets.push(set);
        }
        let valid = trees.base.iter().all(|score| score.is_finite()) && roots % trees.base.len() == 0;
        (valid && trees.are_apart()).then_some(trees)
    }
}

/// Writes the probabilities of the classes: those of `scores` of the outputs. `logits` is a buffer
/// with room for each class.
pub(super) fn write_probabilities(scores: &[f64], logits: &mut [f64], out: &mut [f64]) {
    match (scores, &mut *logits) {
        ([advantage], [first, second]) => (*first, *second) = (0.0, *advantage),
        (scores, logits) => logits.copy_from_slice(scores),
    }
    quick_softmax(logits, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_tree_has_nodes_of_its_own() {
        let mut trees = Trees::new(2, Columns::default(), vec![0.0]);
        let rule = Rule::Number { threshold: 1, missing_right: false };
        let tree = [Grown::Split { column: 0, rule, children: [1, 2] }, Grown::Leaf(-1.0), Grown::Leaf(1.0)];
        trees.push(&tree);
        trees.push(&tree);
        assert!(trees.are_apart());
        for change in [
            |trees: &mut Trees| trees.nodes[0].below = 4,
            |trees: &mut Trees| trees.nodes[3].below = 1,
            |trees: &mut Trees| trees.roots[1] = 2,
            |trees: &mut Trees| trees.roots[0] = 1,
            |trees: &mut Trees| trees.roots.swap(0, 1),
            |trees: &mut Trees| trees.roots.clear(),
        ] {
            let mut other = trees.clone();
            change(&mut other);
            assert!(!other.are_apart(), "{other:?}");
        }
    }
}
