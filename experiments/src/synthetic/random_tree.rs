//! A random decision tree: Pedro Domingos, Geoff Hulten, *Mining High-Speed Data Streams*, KDD 2000, section
//! 4.1.
//!
//! Numeric features are uniform in [0, 1], nominal ones have five equally likely values, a column
//! of 0 and 1 for each. The tree splits a random feature at every node, a numeric one at a random
//! point of its remaining range; from the third level on a node is a leaf with probability 0.15, at
//! the fifth always. Leaves have random classes. At every change of concept there is another tree.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, count, fill};

/// Values of a nominal feature.
const VALUES: usize = 5;

const FIRST_LEAVES: usize = 3;
const DEEPEST: usize = 5;
const LEAF: f64 = 0.15;

params! {
    /// Parameters of the stream of a random tree.
    pub(super) struct RandomTreeParams {
        /// Number of classes, >= 2.
        classes: u64 = "2",
        /// Numeric features, >= 1.
        numeric: u64 = "5",
        /// Nominal features, >= 0: five columns each.
        nominal: u64 = "5",
        /// Number of replacements of the tree over the stream; 0 is no drift.
        drift: u64 = "0",
    }
}

enum Node {
    Leaf(usize),
    Numeric { feature: usize, threshold: f64, below: Box<[Node; 2]> },
    Nominal { feature: usize, below: Vec<Node> },
}

/// The remaining ranges of the features at a node.
#[derive(Clone)]
struct Left {
    ranges: Vec<(f64, f64)>,
    /// Nominal features that no node above splits.
    nominal: Vec<usize>,
}

impl Node {
    fn grow(rng: &mut Rng, classes: usize, depth: usize, left: &Left) -> Self {
        let leaf = depth >= DEEPEST || (depth >= FIRST_LEAVES && rng.uniform() < LEAF);
        if leaf {
            return Self::Leaf(rng.below(classes as u64) as usize);
        }
        let drawn = rng.below((left.ranges.len() + left.nominal.len()) as u64) as usize;
        let mut left = left.clone();
        if drawn < left.ranges.len() {
            let (low, high) = left.ranges[drawn];
            let threshold = low + (high - low) * rng.uniform();
            left.ranges[drawn] = (low, threshold);
            let first = Self::grow(rng, classes, depth + 1, &left);
            left.ranges[drawn] = (threshold, high);
            let second = Self::grow(rng, classes, depth + 1, &left);
            Self::Numeric { feature: drawn, threshold, below: Box::new([first, second]) }
        } else {
            let feature = left.nominal.remove(drawn - left.ranges.len());
            let below = (0..VALUES).map(|_| Self::grow(rng, classes, depth + 1, &left)).collect();
            Self::Nominal { feature, below }
        }
    }

    fn class(&self, numbers: &[f64], values: &[usize]) -> usize {
        match self {
            Self::Leaf(class) => *class,
            Self::Numeric { feature, threshold, below } => {
                below[usize::from(numbers[*feature] >= *threshold)].class(numbers, values)
            }
            Self::Nominal { feature, below } => below[values[*feature]].class(numbers, values),
        }
    }
}

/// A tree over `numeric` and `nominal` features.
fn tree(rng: &mut Rng, classes: usize, numeric: usize, nominal: usize) -> Node {
    let left = Left { ranges: vec![(0.0, 1.0); numeric], nominal: (0..nominal).collect() };
    Node::grow(rng, classes, 0, &left)
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = RandomTreeParams::from_values("random-tree", values)?;
    let classes = count("classes", params.classes.unwrap_or(2), 2)?;
    let numeric = count("numeric", params.numeric.unwrap_or(5), 1)?;
    let nominal = count("nominal", params.nominal.unwrap_or(5), 0)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(0), rows);
    let mut rng = Rng::new(seed, 0);
    let (mut numbers, mut values) = (vec![0.0; numeric], vec![0; nominal]);
    let mut root = tree(&mut rng, classes, numeric, nominal);
    Ok(Synthetic::new(classes, numeric + VALUES * nominal, move |row| {
        if blocks.changes() {
            root = tree(&mut rng, classes, numeric, nominal);
        }
        numbers.iter_mut().for_each(|x| *x = rng.uniform());
        values.iter_mut().for_each(|value| *value = rng.below(VALUES as u64) as usize);
        fill(row, root.class(&numbers, &values), &numbers);
        for (feature, value) in values.iter().enumerate() {
            row.push((numeric + VALUES * feature + value) as u32, 1.0);
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits 0.5 of the number, and of what is above, by the value.
    #[test]
    fn a_tree_by_hand() {
        let below = (0..VALUES).map(Node::Leaf).collect();
        let nominal = Node::Nominal { feature: 0, below };
        let tree = Node::Numeric { feature: 0, threshold: 0.5, below: Box::new([Node::Leaf(7), nominal]) };
        assert_eq!(tree.class(&[0.4], &[3]), 7);
        assert_eq!(tree.class(&[0.6], &[3]), 3);
    }
}
