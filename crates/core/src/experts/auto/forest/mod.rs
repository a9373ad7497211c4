//! A forest as a member, for streams that drift and for noisy labels.
//!
//! Trees split their leaves as early as those of [boosting](crate::boosting::tree), but every node keeps
//! counting the classes of its rows, and weights its own estimate against the forecast of the subtree below
//! it (context-tree weighting). If the weight of its own estimate becomes large, the subtree is removed, and
//! grows again from the latest rows. So the depth adapts to the stream, and parts of a tree that no longer
//! fit are replaced. All trees share one store of rows; a leaf keeps the indices of 32 rows. When the losses
//! rise, a second forest begins beside the first, and replaces it if it becomes better ([`succession`]).
//!
//! ## Reference
//!
//! Frans M. J. Willems, Yuri M. Shtarkov, Tjalling J. Tjalkens, *The Context-Tree Weighting Method: Basic
//! Properties*, IEEE Transactions on Information Theory 41, 1995: the weights; Pierre Geurts, Damien Ernst,
//! Louis Wehenkel, *Extremely randomized trees*, Machine Learning 63, 2006: the drawn splits.
//! `references.bib`: `willems1995ctw`, `geurts2006extra`; theory: mixtures 2.4.
//!
//! [`tree`] has the equations. The heads of a forest are the mean of the trees' forecasts, and, for two
//! powers $s$, probabilities in proportion to $\exp(s \cdot \text{mean of } \ln p_k)$: similar trees are
//! underconfident, most of all with many classes.
//!
//! ## Cost
//!
//! For each tree, its depth and $K$ for every node with a noticeable share in the forecast; for every fifth
//! row of a leaf, `tries` candidate splits of 32 rows. Memory: at most 16 MiB for rows and 1 MiB for each
//! tree, allocated as they grow. Twice the time, and twice the trees, while there is a second forest.

use crate::boosting::rows::Rows;
use crate::boosting::split::Splitter;
use crate::boosting::{mixed, mixed_uniform};
use crate::example::{Features, Target, Truth};
use crate::kernel::softmax::{quick_logarithms, softmax};
use crate::kernel::vector::take;
use crate::param::ParamError;
use crate::prediction::{Prediction, draw};
use crate::problem::Problem;
use crate::state::{State, Tensor};

use self::succession::{Succession, Verdict};
use self::tree::{Path, Tree};
use super::kind::{Kind, Settings, Traits, is_wide_and_sparse};
use super::member::Member;
use super::row::View;

mod succession;
mod tree;

/// The head whose losses decide about a second forest.
const JUDGED: usize = 1;

/// Number of trees.
const TREES: usize = 12;

/// The powers $s$ of the heads after the mean.
const POWERS: [f64; 2] = [1.5, 3.0];

/// Least and largest number of candidate splits.
const TRIES: (usize, usize) = (16, 32);

/// $\delta$ of the Hoeffding bound for splits: premature ones are undone.
const CONFIDENCE: f64 = 0.8;

/// Limit on the stored numbers of single precision: 16 MiB.
const NUMBERS: usize = 1 << 22;

/// Limit on the stored rows, for short rows.
const MOST_ROWS: usize = 1 << 15;

/// The least number of stored rows, for long rows.
const LEAST_ROWS: usize = 1 << 10;

/// Seed of the trees' draws, with the learner's seed and the index of the tree.
const SEED: u64 = 0xF0E5;

/// Seed, with the round, of the draw of a class from a soft label.
const SOFT: u64 = 0x50F8;

/// Left out if it costs more than this part of the budget, as boosted trees are.
const MOST_OF_BUDGET: f64 = 0.3;

pub(super) struct ForestKind;

impl Kind for ForestKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            view: View::Plain,
            affordable: MOST_OF_BUDGET,
            learns_late: true,
            draws: true,
            ..Traits::usual("forest")
        };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "forest of trees".to_owned()
    }

    fn make(&self, _: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Forest::new(problem, seed)))
    }

    fn heads(&self, _: Settings) -> usize {
        Forest::HEADS
    }

    /// Paths, counts, and the rows on which splits are evaluated.
    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        let (k, d) = (problem.classes as f64, problem.features as f64);
        let touched = d.min(8.0 * tries(problem.features) as f64);
        TREES as f64 * (3500.0 + 40.0 * k + 15.0 * touched) + 4.0 * d
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        let rows = capacity(problem.features).saturating_mul(1 + problem.features) / 2;
        rows.saturating_add((2 * TREES).saturating_mul(tree::numbers(problem.classes)))
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        TREES.saturating_mul(problem.classes)
    }

    fn suits(&self, problem: &Problem) -> bool {
        !is_wide_and_sparse(problem)
    }
}

/// See the [module](self).
#[derive(Clone)]
struct Forest {
    classes: usize,
    rows: Rows,
    trees: Box<[Tree; TREES]>,
    /// The second forest, and buffers for its forecast, if there is one.
    second: Option<Second>,
    succession: Succession,
    seed: u64,
    splitter: Splitter,
    /// The rows of a leaf.
    list: Vec<u32>,
    /// The state of the trees as a list, while it is saved or loaded.
    saved: Vec<f64>,
}

/// A forest that may replace the first one.
#[derive(Clone)]
struct Second {
    trees: Box<[Tree; TREES]>,
    at: Prediction,
}

impl Forest {
    /// Number of heads.
    const HEADS: usize = 1 + POWERS.len();

    fn new(problem: &Problem, seed: u64) -> Self {
        let Problem { classes, features, .. } = *problem;
        Self {
            classes,
            rows: Rows::new(features, capacity(features)),
            trees: new_trees(classes, seed),
            second: None,
            succession: Succession::default(),
            seed,
            splitter: Splitter::new(tries(features), CONFIDENCE, tree::BUFFER),
            list: Vec::with_capacity(tree::BUFFER),
            saved: Vec::new(),
        }
    }

    /// New trees that have learnt the latest `count` of the stored rows.
    fn trained_on_latest(&mut self, count: u32) -> Box<[Tree; TREES]> {
        let Self { rows, splitter, list, .. } = self;
        let mut trees = new_trees(self.classes, self.seed);
        let next = rows.seen as u32;
        let mut x = vec![0.0; rows.features];
        for number in (1..=count).rev().map(|age| next.wrapping_sub(age)) {
            if !rows.has(number) {
                continue;
            }
            x.iter_mut().zip(rows.row(number)).for_each(|(x, value)| *x = f64::from(*value));
            let paths = Tree::find_all(&trees, Features::Dense(&x));
            for (tree, path) in trees.iter_mut().zip(&paths) {
                tree.update(rows, number, rows.class(number), path, splitter, list);
            }
        }
        trees
    }
}

fn new_trees(classes: usize, seed: u64) -> Box<[Tree; TREES]> {
    Box::new(std::array::from_fn(|at| Tree::new(classes, mixed(seed ^ SEED, at as u64))))
}

/// Writes the heads' forecasts for the row of `paths`.
fn forecast(trees: &[Tree; TREES], paths: &[Path; TREES], out: &mut Prediction) {
    let Prediction { scratch, members, .. } = out;
    let k = scratch.len() / 3;
    let rest = &mut &mut scratch[..];
    let (own, product, logarithms) = (take(rest, k), take(rest, k), take(rest, k));
    let Some((mean, powers)) = members.split_first_mut() else { return };
    mean.probabilities.fill(0.0);
    product.fill(1.0);
    for (tree, path) in trees.iter().zip(paths) {
        tree.predict(path, own);
        for ((sum, product), own) in mean.probabilities.iter_mut().zip(&mut *product).zip(&*own) {
            *sum += own;
            // Each factor is at least about 10⁻⁵, so that the product over the trees does not underflow.
            *product *= own;
        }
    }
    let total: f64 = mean.probabilities.iter().sum();
    mean.probabilities.iter_mut().for_each(|p| *p /= total);
    mean.set_scores_to_logarithms();
    quick_logarithms(product, 1e-300, logarithms);
    for (head, power) in powers.iter_mut().zip(POWERS) {
        for (score, logarithm) in head.scores.iter_mut().zip(&*logarithms) {
            *score = power / TREES as f64 * logarithm;
        }
        softmax(&head.scores, &mut head.probabilities);
    }
}

fn tries(features: usize) -> usize {
    (2 * features).clamp(TRIES.0, TRIES.1)
}

/// The number of rows of `features` numbers that are stored.
fn capacity(features: usize) -> usize {
    (NUMBERS / features.max(1)).clamp(LEAST_ROWS, MOST_ROWS)
}

impl Member for Forest {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); Self::HEADS];
        Prediction { members, ..Prediction::sized(self.classes, 3 * self.classes) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        forecast(&self.trees, &Tree::find_all(&self.trees, x), out);
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.saved = Vec::new();
        let class = match y.truth {
            Truth::Class(label) => label.index(),
            Truth::Distribution(shares) => draw(shares, mixed_uniform(SOFT, self.rows.seen)).index(),
            Truth::Value(_) => return,
        };
        let Self { rows, splitter, list, .. } = self;
        let number = rows.keep(x, class);
        let mut learn = |trees: &mut [Tree; TREES], paths: &[Path; TREES]| {
            for (tree, path) in trees.iter_mut().zip(paths) {
                tree.update(rows, number, class, path, splitter, list);
            }
        };
        let paths = Tree::find_all(&self.trees, x);
        learn(&mut self.trees, &paths);
        let loss = |at: &Prediction| y.log_loss(&at.members[JUDGED].probabilities);
        let second = self.second.as_mut().map(|Second { trees, at }| {
            let paths = Tree::find_all(trees, x);
            forecast(trees, &paths, at);
            learn(trees, &paths);
            loss(at)
        });
        match self.succession.judge(loss(at), second) {
            Verdict::Same => {}
            Verdict::Begins => {
                let trees = self.trained_on_latest(self.succession.since());
                self.second = Some(Second { trees, at: self.prediction() });
            }
            Verdict::Replaces => self.trees = self.second.take().expect("it was judged").trees,
            Verdict::Dropped => self.second = None,
        }
    }

    /// False: the features that trees draw depend on the number of features.
    fn grow(&mut self, _: usize, _: usize) -> bool {
        false
    }
}

impl State for Forest {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.saved.clear();
        let second = self.second.iter().flat_map(|second| &second.trees[..]);
        self.trees.iter().chain(second).for_each(|tree| tree.list(&mut self.saved));
        let mut tensors = Vec::from(self.rows.tensors());
        tensors.push(Tensor::list("forest", &mut self.saved));
        tensors.push(Tensor::count("seed", &mut self.seed));
        tensors.push(self.succession.tensor());
        tensors
    }

    /// A list that goes on after the trees has those of the second forest.
    fn restored(&mut self) -> bool {
        let saved = std::mem::take(&mut self.saved);
        let list = &mut &saved[..];
        let features = self.rows.features;
        let fill = |trees: &mut [Tree; TREES], list: &mut &[f64]| {
            trees.iter_mut().all(|tree| tree.set_list(list, features).is_some())
        };
        let mut valid = self.rows.is_consistent(self.classes)
            && self.succession.is_consistent()
            && fill(&mut self.trees, list);
        self.second = None;
        if valid && !list.is_empty() {
            let mut trees = new_trees(self.classes, self.seed);
            valid = fill(&mut trees, list);
            self.second = Some(Second { trees, at: self.prediction() });
        }
        valid && list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::auto::tests::check_saved;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{loaded, state_of};

    /// Total log losses of the heads over the rounds `rounds`, each drawn by `round`.
    fn losses(
        forest: &mut Forest,
        rounds: std::ops::Range<usize>,
        round: impl Fn(usize, &mut Rng) -> (Vec<f64>, usize),
    ) -> [f64; Forest::HEADS] {
        let (mut rng, mut at) = (Rng::new(3, rounds.start as u64), forest.prediction());
        let mut losses = [0.0; Forest::HEADS];
        for t in rounds {
            let (x, class) = round(t, &mut rng);
            let (x, y) = (Features::Dense(&x), Target::class(class));
            forest.predict(x, &mut at);
            for (loss, head) in losses.iter_mut().zip(&at.members) {
                assert!((head.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                *loss += y.log_loss(&head.probabilities);
            }
            forest.update(x, y, &at);
        }
        losses
    }

    /// Two classes that depend on both features: each feature alone is uninformative.
    fn checks(_: usize, rng: &mut Rng) -> (Vec<f64>, usize) {
        let x = vec![rng.uniform(), rng.uniform()];
        let class = (4.0 * x[0]) as usize + (4.0 * x[1]) as usize;
        (x, class % 2)
    }

    fn forest(classes: usize, features: usize) -> Forest {
        Forest::new(&Problem::new(classes, features), 1)
    }

    /// A checkerboard of 16 fields is learnt in 1,500 rows, and again in as many rows after its classes are
    /// exchanged. For random classes the loss is hardly above ln 2 a row, since splits are undone.
    #[test]
    fn useful_splits_are_kept() {
        let mut forest = forest(2, 2);
        let first = losses(&mut forest, 0..1500, checks)[1];
        assert!(first < 0.35 * 1500.0, "{first}");
        let late = losses(&mut forest, 1500..2000, checks)[1];
        assert!(late < 0.12 * 500.0, "{late}");
        let exchanged = losses(&mut forest, 2000..3500, |t, rng| {
            let (x, class) = checks(t, rng);
            (x, 1 - class)
        })[1];
        assert!(exchanged < 0.5 * 1500.0, "{exchanged}");
        let leaves: usize = forest.trees.iter().map(Tree::leaves).sum();
        let mut coins = self::forest(2, 2);
        let coin =
            losses(&mut coins, 0..3000, |_, rng| (vec![rng.uniform(), rng.uniform()], rng.below(2) as usize));
        assert!(coin[0] < 1.02 * std::f64::consts::LN_2 * 3000.0, "{coin:?}");
        let noise: usize = coins.trees.iter().map(Tree::leaves).sum();
        assert!(3 * noise < 2 * leaves, "{noise} leaves for a coin, {leaves} for fields");
    }

    /// The seed is part of the saved state.
    #[test]
    fn a_saved_member_continues() {
        let fresh = |seed| Forest::new(&Problem::new(2, 2), seed);
        check_saved(fresh, |forest: &mut Forest, rounds| losses(forest, rounds, checks));
    }

    /// Four classes that depend on two of four features, and on the two others from a round `change` on: a
    /// second forest begins, and is part of the saved state.
    #[test]
    fn a_saved_second_forest_continues() {
        let changed = |change| {
            move |t, rng: &mut Rng| {
                let x: Vec<f64> = (0..4).map(|_| rng.uniform()).collect();
                let first = if t < change { 0 } else { 2 };
                let class = 2 * usize::from(x[first] > 0.5) + usize::from(x[first + 1] > 0.5);
                (x, class)
            }
        };
        let played = |change| {
            let mut forest = forest(4, 4);
            losses(&mut forest, 0..700, changed(change));
            Some((forest, change)).filter(|(forest, _)| forest.second.is_some())
        };
        let (mut trained, change) = (600..700).find_map(played).expect("a second forest");
        let mut again = loaded(&mut trained, Forest::new(&Problem::new(4, 4), 9));
        for forest in [&mut trained, &mut again] {
            losses(forest, 700..720, changed(change));
            assert!(forest.second.is_some());
        }
        assert_eq!(state_of(&mut trained), state_of(&mut again));
    }

    /// Once rows and leaves have reached their limits, the memory is constant.
    #[test]
    fn memory_is_bounded() {
        let many = |_: usize, rng: &mut Rng| (vec![rng.uniform(); 900], rng.below(30) as usize);
        let mut forest = forest(30, 900);
        losses(&mut forest, 0..1200, many);
        let mut list = Vec::new();
        forest.trees.iter().for_each(|tree| tree.list(&mut list));
        let most = ForestKind.numbers([0.0; 2], &Problem::new(30, 900));
        let rows = capacity(900) * 901 / 2;
        assert!(list.len() + rows < most, "{} and {rows} of {most}", list.len());
    }
}
