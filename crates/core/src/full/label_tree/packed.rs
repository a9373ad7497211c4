//! A tree as one list of numbers: the number of nodes and the first class, then for every node in order the
//! class of the leaf that it split, the class that was new, and the numbers of its learner's tensors.

use super::LabelTree;
use crate::state::{pack, unpack};

/// Limit on the 8-byte numbers of a node before the list has been checked.
const MOST_UNCHECKED: usize = 1 << 16;

impl LabelTree {
    /// The tree and its nodes' learners as a list: it has every split in order, so that the tree can be built
    /// again.
    pub(super) fn packed(&mut self) -> Vec<f64> {
        let mut list = Vec::new();
        if self.known == 0 {
            return list;
        }
        // The first class has the leftmost leaf, since a class that splits a leaf is to its right.
        let splits = self.splits();
        list.extend([splits.len() as f64, f64::from(splits.first().map_or(self.only(), |split| split.0))]);
        for (node, (left, right)) in self.nodes.iter_mut().zip(splits) {
            list.extend([f64::from(left), f64::from(right)]);
            pack(&mut node.learner, &mut list);
        }
        list
    }

    /// The class of a tree without nodes.
    fn only(&self) -> u32 {
        self.places.iter().position(Option::is_some).unwrap_or(0) as u32
    }

    /// For every node in order: the class whose leaf it split, which is the leftmost below it, and the class
    /// that was new, the leftmost on its right side.
    fn splits(&self) -> Vec<(u32, u32)> {
        let leftmost = |mut child: super::Child| loop {
            match child {
                super::Child::Leaf(class) => return class,
                super::Child::Node(node) => child = self.nodes[node as usize].below[0],
            }
        };
        self.nodes.iter().map(|node| (leftmost(node.below[0]), leftmost(node.below[1]))).collect()
    }

    /// Builds the tree of a list. `None` if the list does not come from [`LabelTree::packed`].
    pub(super) fn unpack(&mut self, list: &[f64]) -> Option<()> {
        self.nodes.clear();
        self.places.fill(None);
        self.known = 0;
        let mut rest = list.iter().copied();
        let Some(count) = rest.next() else { return Some(()) };
        let class = |rest: &mut dyn Iterator<Item = f64>, classes: usize| -> Option<u32> {
            rest.next().filter(|x| *x >= 0.0 && *x < classes as f64 && x.fract() == 0.0).map(|x| x as u32)
        };
        let classes = self.problem.classes;
        let first = class(&mut rest, classes)?;
        self.places[first as usize] = Some(None);
        self.known = 1;
        if !(count >= 0.0 && count < classes as f64 && count.fract() == 0.0) {
            return None;
        }
        for _ in 0..count as usize {
            let (left, right) = (class(&mut rest, classes)?, class(&mut rest, classes)?);
            if self.places[left as usize].is_none() || self.places[right as usize].is_some() {
                return None;
            }
            let wanted = self.entry.numbers_at_first(&self.node_values, &self.node_problem()).ok()?;
            if wanted > rest.len().saturating_mul(2).max(MOST_UNCHECKED) {
                return None;
            }
            self.place(right, left);
            self.known += 1;
            unpack(&mut self.nodes.last_mut()?.learner, &mut rest)?;
        }
        rest.next().is_none().then_some(())
    }
}
