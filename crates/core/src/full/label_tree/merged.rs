//! Merging label trees (theory: trees 1.4).
//!
//! The models' trees must agree on the labels that they share: then there is one tree of all labels, of which
//! each of them is the part with its own labels, and a node of that tree is the sum of the parts' nodes that
//! separate the same labels.

use super::{Child, LabelTree, Node};
use crate::algorithm::Model;
use crate::learner::Predictor;
use crate::merge::{self, Merge, MergeError};
use crate::prediction::Prediction;

/// An inner node of the tree of all labels.
struct Joint {
    above: Option<(u32, u8)>,
    below: [Child; 2],
    /// The nodes of the parts, as part and node.
    sources: Vec<(usize, u32)>,
}

/// A tree of labels, without its learners.
#[derive(Default)]
struct Shape {
    root: Option<Child>,
    /// A parent before its children.
    nodes: Vec<Joint>,
}

/// Where the leaves of a tree are, from left to right.
struct Leaves {
    /// The labels in this order.
    labels: Vec<u32>,
    /// For every class, its place in this order, if it has one.
    places: Vec<Option<u32>>,
    /// For every node, the place of the first leaf on its right.
    cuts: Vec<u32>,
}

/// A step on the way through a tree.
enum Step {
    Enter(Child),
    Cut(u32),
}

/// Two trees that are to be joined at one place, or what is left of one of them.
struct Task {
    /// The parent in the joint tree, and the side.
    above: Option<(u32, u8)>,
    trees: [Option<Child>; 2],
    /// The labels that both have.
    common: Vec<u32>,
}

impl Shape {
    /// The shape of the tree of part number `part`.
    fn of(tree: &LabelTree, part: usize) -> Self {
        let nodes = (0u32..).zip(&tree.nodes).map(|(at, node)| Joint {
            above: node.above,
            below: node.below,
            sources: vec![(part, at)],
        });
        let nodes: Vec<Joint> = nodes.collect();
        let only = || tree.places.iter().position(Option::is_some).map(|class| Child::Leaf(class as u32));
        let root = if nodes.is_empty() { only() } else { Some(Child::Node(0)) };
        Self { root, nodes }
    }

    fn leaves(&self, classes: usize) -> Leaves {
        let (mut labels, mut places) = (Vec::new(), vec![None; classes]);
        let mut cuts = vec![0; self.nodes.len()];
        let mut steps: Vec<Step> = self.root.map(Step::Enter).into_iter().collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Cut(node) => cuts[node as usize] = labels.len() as u32,
                Step::Enter(Child::Node(node)) => {
                    let [left, right] = self.nodes[node as usize].below;
                    steps.extend([Step::Enter(right), Step::Cut(node), Step::Enter(left)]);
                }
                Step::Enter(Child::Leaf(class)) => {
                    places[class as usize] = Some(labels.len() as u32);
                    labels.push(class);
                }
            }
        }
        Leaves { labels, places, cuts }
    }

    /// The tree of the labels of both. The error is a label on which they differ.
    fn joined(&self, other: &Self, classes: usize) -> Result<Self, u32> {
        let trees = [self, other];
        let leaves = trees.map(|tree| tree.leaves(classes));
        let common =
            leaves[0].labels.iter().copied().filter(|label| leaves[1].places[*label as usize].is_some());
        let common = common.collect::<Vec<u32>>();
        let mut joint = Shape::default();
        let mut tasks = joint.begin(trees.map(|tree| tree.root), common);
        while let Some(Task { above, trees: at, common }) = tasks.pop() {
            // A leaf that both have leaves the tree of the other as it is.
            let [own, others] = match at {
                [Some(Child::Leaf(_)), Some(other)] => [None, Some(other)],
                [Some(own), Some(Child::Leaf(_))] => [Some(own), None],
                at => at,
            };
            let side = |tree: usize, node: u32, label: u32| {
                leaves[tree].places[label as usize] >= Some(leaves[tree].cuts[node as usize])
            };
            // The nodes that the joint node is the sum of; the other tree is below it, on one side.
            let (nodes, below_side) = match [own, others] {
                [None, None] => continue,
                [Some(Child::Node(a)), Some(Child::Node(b))] => {
                    let on = |tree, node| {
                        let first = side(tree, node, common[0]);
                        common.iter().all(|label| side(tree, node, *label) == first).then_some(first)
                    };
                    match (on(0, a), on(1, b)) {
                        (Some(right), _) => ([Some(a), None], Some((1, right, Child::Node(b)))),
                        (None, Some(right)) => ([None, Some(b)], Some((0, right, Child::Node(a)))),
                        (None, None) => ([Some(a), Some(b)], None),
                    }
                }
                [Some(Child::Node(a)), _] => ([Some(a), None], None),
                [_, Some(Child::Node(b))] => ([None, Some(b)], None),
                [Some(leaf), _] | [_, Some(leaf)] => {
                    joint.hang(above, leaf);
                    continue;
                }
            };
            let sources = nodes
                .iter()
                .zip(trees)
                .filter_map(|(node, tree)| Some(tree.nodes[(*node)? as usize].sources.iter().copied()));
            let node = joint.add(sources.flatten().collect());
            joint.hang(above, Child::Node(node));
            let mut below = [0u8, 1].map(|side| Task {
                above: Some((node, side)),
                trees: [0, 1]
                    .map(|tree| Some(trees[tree].nodes[nodes[tree]? as usize].below[usize::from(side)])),
                common: Vec::new(),
            });
            if let Some((tree, right, whole)) = below_side {
                below[usize::from(right)].trees[tree] = Some(whole);
                below[usize::from(right)].common = common;
            } else if let [Some(a), Some(b)] = nodes {
                for label in common {
                    let right = side(0, a, label);
                    if side(1, b, label) != right {
                        return Err(label);
                    }
                    below[usize::from(right)].common.push(label);
                }
            }
            tasks.extend(below);
        }
        Ok(joint)
    }

    /// The tasks with which joining begins: the roots; or, if no label is in `common`, both below a new root.
    fn begin(&mut self, roots: [Option<Child>; 2], common: Vec<u32>) -> Vec<Task> {
        if !common.is_empty() || roots.contains(&None) {
            return vec![Task { above: None, trees: roots, common }];
        }
        let root = self.add(Vec::new());
        let [left, right] = roots;
        vec![
            Task { above: Some((root, 0)), trees: [left, None], common: Vec::new() },
            Task { above: Some((root, 1)), trees: [None, right], common: Vec::new() },
        ]
    }

    /// A new node whose place is not known yet.
    fn add(&mut self, sources: Vec<(usize, u32)>) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Joint { above: None, below: [Child::Leaf(0); 2], sources });
        if node == 0 {
            self.root = Some(Child::Node(0));
        }
        node
    }

    /// Puts `child` below `above`; without that, it is the root.
    fn hang(&mut self, above: Option<(u32, u8)>, child: Child) {
        match above {
            Some((parent, side)) => self.nodes[parent as usize].below[usize::from(side)] = child,
            None => self.root = Some(child),
        }
        if let Child::Node(node) = child {
            self.nodes[node as usize].above = above;
        }
    }
}

/// The tree of the labels of all `parts`, whose nodes are the sums of those of the parts.
pub(super) fn merged(parts: &[&LabelTree], how: Merge) -> Result<LabelTree, MergeError> {
    let (first, problem) = merge::check(parts, Predictor::problem)?;
    let mut shape = Shape::of(first, 0);
    for (part, other) in parts.iter().enumerate().skip(1) {
        let differs = |class| MergeError::LabelTrees { part, class };
        shape = shape.joined(&Shape::of(other, part), problem.classes).map_err(differs)?;
    }
    // A part without the node has learnt nothing there.
    let new = first.learner(0);
    let sum = |sources: &[(usize, u32)]| {
        let mut learners: Vec<&dyn Model> = vec![new.as_ref(); parts.len()];
        for (part, node) in sources {
            learners[*part] = parts[*part].nodes[*node as usize].learner.as_ref();
        }
        merge::merge(&learners, how)
    };
    let mut nodes = Vec::with_capacity(shape.nodes.len());
    let mut places = vec![None; problem.classes];
    if let Some(Child::Leaf(class)) = shape.root {
        places[class as usize] = Some(None);
    }
    for (at, Joint { above, below, sources }) in (0u32..).zip(&shape.nodes) {
        for (side, child) in (0u8..).zip(below) {
            if let Child::Leaf(class) = child {
                places[*class as usize] = Some(Some((at, side)));
            }
        }
        nodes.push(Node { above: *above, below: *below, leaves: [0; 2], learner: sum(sources)? });
    }
    for at in (0..nodes.len()).rev() {
        let leaves = nodes[at].below.map(|child| match child {
            Child::Leaf(_) => 1,
            Child::Node(node) => nodes[node as usize].leaves.iter().sum(),
        });
        nodes[at].leaves = leaves;
    }
    let total = |number: fn(&LabelTree) -> u64| parts.iter().map(|part| number(part)).sum();
    Ok(LabelTree {
        node_values: sum(&[])?.values(),
        known: places.iter().flatten().count(),
        rounds: total(|part| part.rounds),
        counted: total(|part| part.counted),
        depths: total(|part| part.depths),
        kept_back: parts.iter().map(|part| part.kept_back).sum(),
        problem,
        nodes,
        places,
        entry: first.entry,
        learners: first.learners,
        balance: first.balance,
        seed: first.seed,
        spare: Prediction::default(),
        saved: Vec::new(),
    })
}
