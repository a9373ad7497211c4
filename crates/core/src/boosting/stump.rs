//! Decision stumps: one threshold on one feature, and the best of many (theory: boosting 1.2).
//!
//! A stump `x_j > threshold` has two leaves; each sums the costs of the classes, and predicts the class with
//! the least sum. Of several stumps, the one whose own predictions have cost least so far predicts; all of
//! them learn. Ties between classes or stumps are resolved in favour of the first. An absent $x_j$ is 0, and
//! values that do not exceed the threshold belong to the first leaf.
//!
//! Stumps are given as a list of candidates, or found: every copy uses some features, keeps a uniform sample
//! of [`SAMPLE`] of its rows, and places thresholds at evenly spaced quantiles of the sample, first after 8
//! rows, and again whenever the number of rows has doubled. A threshold, with its leaves, is kept while its
//! quantile in the sample differs from the desired one by at most half a step; the best one is always kept. A
//! new one starts with the accumulated cost of the best stump. By the Dvoretzky-Kiefer-Wolfowitz inequality,
//! all quantiles are within 0.17 of the true ones with probability 95 %.

use crate::boosting::weak::WeakLearner;
use crate::boosting::{cheapest, mixed, value};
use crate::example::Features;
use crate::param::{Kind, ParamError, ParamValue, Params as _, Value, Values};
use crate::params;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

/// Number of rows in the sample.
pub const SAMPLE: usize = 64;

/// Number of rows before the first thresholds.
const FIRST: u64 = 8;

/// Default number of thresholds of a feature: with more of them, a thousand rows do not suffice to identify
/// the best.
const THRESHOLDS: u64 = 3;

params! {
    /// Parameters of [`BestStump`].
    pub struct BestStumpParams {
        /// Features that a copy looks at, drawn for each copy, >= 1.
        features: u64 = "all, at most 64",
        /// Thresholds for each of them, from 1 to 63.
        thresholds: u64 = "3",
        /// The candidates of every copy instead: [[[feature, threshold], ...], ...].
        candidates: Candidates = "found",
    }
}

params! {
    /// Parameters of a single stump, whose feature is drawn for each copy.
    pub struct StumpParams {
        /// The stump of every copy: [[[feature, threshold]], ...].
        candidates: Candidates = "found",
    }
}

impl StumpParams {
    /// The parameters of [`BestStump`] with a single stump.
    pub(crate) fn single(&self) -> BestStumpParams {
        BestStumpParams { features: Some(1), thresholds: Some(1), candidates: self.candidates.clone() }
    }
}

/// Stumps as (feature, threshold), a list for every copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates(pub Vec<Vec<(u32, f64)>>);

impl ParamValue for Candidates {
    const KIND: Kind = Kind::List;

    const NEED: &'static str = "a list [[[feature, threshold], ...], ...], not empty for any copy";

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let lists: Vec<Vec<(u32, f64)>> = serde_json::from_str(text).ok()?;
        (!lists.is_empty() && lists.iter().all(|list| !list.is_empty())).then_some(Self(lists))
    }

    fn to_value(&self) -> Value {
        Value::Text(serde_json::to_string(&self.0).expect("plain numbers"))
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct BestStump {
    classes: usize,
    /// The feature of every stump.
    features: Vec<u32>,
    thresholds: Vec<f64>,
    /// Whether a stump is in use: 0 or 1.
    in_use: Vec<u64>,
    /// Costs of the classes, for the first and the second leaf of every stump.
    costs: Vec<f64>,
    /// The accumulated costs of each stump's own predictions.
    spent: Vec<f64>,
    /// Costs of the classes over all rows, used until there are thresholds.
    root: Vec<f64>,
    finder: Option<Finder>,
    /// The classes with the least cost in all leaves, and the best stump in use.
    answers: Vec<u32>,
    best: Option<usize>,
}

/// Computes thresholds.
#[derive(Clone, Debug)]
struct Finder {
    seed: u64,
    /// The number of features of a row.
    of: usize,
    /// The features that are used, each once.
    features: Vec<u32>,
    thresholds: usize,
    rows: u64,
    /// The sample: [`SAMPLE`] values of every feature.
    sample: Vec<f64>,
    /// Buffers: the sorted sample of a feature, and (index in it, whether there is a stump).
    sorted: Vec<f64>,
    wanted: Vec<(usize, bool)>,
}

impl BestStump {
    /// Untrained stumps for copy number `copy`, with the seed `seed`.
    ///
    /// # Errors
    /// If a parameter is outside its range, or there are no candidates for the copy.
    pub fn new(
        params: &BestStumpParams,
        problem: &Problem,
        seed: u64,
        copy: u64,
    ) -> Result<Self, ParamError> {
        let thresholds = params.thresholds.unwrap_or(THRESHOLDS);
        if !(1..SAMPLE as u64).contains(&thresholds) {
            return Err(ParamError::invalid("thresholds", thresholds, format!("from 1 to {}", SAMPLE - 1)));
        }
        let count = params.features.unwrap_or(64).min(problem.features as u64) as usize;
        if count == 0 {
            return Err(ParamError::invalid("features", 0, "at least 1"));
        }
        let (features, levels, finder) = match &params.candidates {
            Some(Candidates(lists)) => {
                let Some(list) = lists.get(copy as usize) else {
                    let need = format!("for every copy, {} at least", copy + 1);
                    return Err(ParamError::invalid("candidates", format!("{} lists", lists.len()), need));
                };
                if let Some((feature, _)) = list.iter().find(|(j, _)| *j as usize >= problem.features) {
                    let need = format!("of features below {}", problem.features);
                    return Err(ParamError::invalid("candidates", format!("[[{feature}, ..]]"), need));
                }
                (list.iter().map(|(j, _)| *j).collect(), list.iter().map(|(_, t)| *t).collect(), None)
            }
            None => {
                let drawn = drawn(seed, problem.features, count);
                (each(&drawn, thresholds as usize), vec![0.0; count * thresholds as usize], Some(drawn))
            }
        };
        let stumps: usize = levels.len();
        let mut made = Self {
            classes: problem.classes,
            features,
            thresholds: levels,
            in_use: vec![u64::from(finder.is_none()); stumps],
            costs: vec![0.0; stumps * 2 * problem.classes],
            spent: vec![0.0; stumps],
            root: vec![0.0; problem.classes],
            finder: finder.map(|features| Finder {
                seed,
                of: problem.features,
                sample: vec![0.0; features.len() * SAMPLE],
                features,
                thresholds: thresholds as usize,
                rows: 0,
                sorted: Vec::with_capacity(SAMPLE),
                wanted: Vec::with_capacity(SAMPLE),
            }),
            answers: vec![0; 2 * stumps],
            best: None,
        };
        made.restored();
        Ok(made)
    }

    pub(crate) fn numbers(params: &BestStumpParams, problem: &Problem) -> usize {
        let stumps = match &params.candidates {
            Some(Candidates(lists)) => lists.iter().map(Vec::len).min().unwrap_or(0),
            None => {
                let features = params.features.unwrap_or(64).min(problem.features as u64) as usize;
                features.saturating_mul(params.thresholds.unwrap_or(THRESHOLDS) as usize)
            }
        };
        stumps.saturating_mul(2 * problem.classes)
    }

    /// The stump in use with the least accumulated cost; the first of several.
    fn find_best(&self) -> Option<usize> {
        let in_use = (0..self.spent.len()).filter(|stump| self.in_use[*stump] != 0);
        in_use.reduce(|best, stump| if self.spent[stump] < self.spent[best] { stump } else { best })
    }

    /// Places the thresholds of all features at quantiles of the sample.
    fn find_thresholds(&mut self, finder: &mut Finder) {
        let kept = (finder.rows as usize).min(SAMPLE);
        let rows = finder.rows as f64;
        let reached = self.best.map_or(0.0, |best| self.spent[best]);
        for at in 0..finder.features.len() {
            let Finder { sample, sorted, wanted, thresholds, .. } = &mut *finder;
            sorted.clear();
            sorted.extend_from_slice(&sample[at * SAMPLE..][..kept]);
            sorted.sort_unstable_by(f64::total_cmp);
            let count = *thresholds;
            // A threshold can be placed before every value that is larger than the previous one.
            let places = || (1..kept).filter(|&at| sorted[at - 1] < sorted[at]);
            wanted.clear();
            if places().count() <= count {
                wanted.extend(places().map(|place| (place, false)));
            } else {
                for level in 1..=count {
                    let aim = level * kept / (count + 1);
                    let nearest =
                        places().min_by_key(|place| place.abs_diff(aim)).expect("more places than levels");
                    if wanted.last().is_none_or(|(last, _)| *last < nearest) {
                        wanted.push((nearest, false));
                    }
                }
            }
            let stumps = at * count..(at + 1) * count;
            let half_step = kept as f64 / (2 * (count + 1)) as f64;
            // The best stump is always kept, since its predictions are in use.
            let best = self.best.filter(|best| stumps.contains(best));
            for stump in best.into_iter().chain(stumps.clone().filter(|stump| Some(*stump) != best)) {
                if self.in_use[stump] == 0 {
                    continue;
                }
                let level = sorted.partition_point(|value| *value <= self.thresholds[stump]);
                let reach = if Some(stump) == best { f64::INFINITY } else { half_step };
                let free = wanted.iter_mut().filter(|(_, taken)| !taken);
                let home = free.min_by_key(|(place, _)| place.abs_diff(level));
                match home.filter(|(place, _)| place.abs_diff(level) as f64 <= reach) {
                    Some((_, taken)) => *taken = true,
                    None if Some(stump) == best => {}
                    None => self.in_use[stump] = 0,
                }
            }
            let mut free = stumps;
            for (place, _) in wanted.iter().filter(|(_, taken)| !taken) {
                let Some(stump) = free.find(|stump| self.in_use[*stump] == 0) else { break };
                // Each value is halved first, since the sum of two large values may overflow.
                self.thresholds[stump] = 0.5 * sorted[*place - 1] + 0.5 * sorted[*place];
                self.in_use[stump] = 1;
                self.spent[stump] = reached;
                // A leaf starts with one row of average cost.
                for leaf in
                    self.costs[stump * 2 * self.classes..][..2 * self.classes].chunks_exact_mut(self.classes)
                {
                    for (cost, sum) in leaf.iter_mut().zip(&self.root) {
                        *cost = sum / rows;
                    }
                }
                self.answers[2 * stump..][..2].fill(cheapest(&self.root) as u32);
            }
        }
    }
}

impl Finder {
    /// Adds a row to the sample; returns whether thresholds are to be computed.
    fn add(&mut self, x: Features<'_>) -> bool {
        let place = if self.rows < SAMPLE as u64 {
            self.rows
        } else {
            mixed(!self.seed, self.rows) % (self.rows + 1)
        };
        self.rows += 1;
        if place < SAMPLE as u64 {
            for (at, feature) in self.features.iter().enumerate() {
                self.sample[at * SAMPLE + place as usize] = value(x, *feature as usize);
            }
        }
        self.rows >= FIRST && self.rows.is_power_of_two()
    }
}

impl WeakLearner for BestStump {
    /// Without the candidates, which are parameters of the booster.
    fn values(&self) -> Values {
        let of = |finder: &Finder| BestStumpParams {
            features: Some(finder.features.len() as u64),
            thresholds: Some(finder.thresholds as u64),
            candidates: None,
        };
        self.finder.as_ref().map_or_else(Values::new, |finder| of(finder).values())
    }

    fn predict(&self, x: Features<'_>, _room: &mut Prediction) -> usize {
        let Some(best) = self.best else { return cheapest(&self.root) };
        let side = value(x, self.features[best] as usize) > self.thresholds[best];
        self.answers[2 * best + usize::from(side)] as usize
    }

    fn update(&mut self, x: Features<'_>, _y: usize, costs: &[f64], _at: &Prediction) {
        let classes = self.classes;
        for (sum, cost) in self.root.iter_mut().zip(costs) {
            *sum += cost;
        }
        let mut looked = (u32::MAX, 0.0);
        for stump in 0..self.spent.len() {
            if self.in_use[stump] == 0 {
                continue;
            }
            let feature = self.features[stump];
            if looked.0 != feature {
                looked = (feature, value(x, feature as usize));
            }
            let leaf = 2 * stump + usize::from(looked.1 > self.thresholds[stump]);
            self.spent[stump] += costs[self.answers[leaf] as usize];
            let sums = &mut self.costs[leaf * classes..][..classes];
            for (sum, cost) in sums.iter_mut().zip(costs) {
                *sum += cost;
            }
            self.answers[leaf] = cheapest(sums) as u32;
        }
        if let Some(mut finder) = self.finder.take() {
            if finder.add(x) {
                self.find_thresholds(&mut finder);
            }
            self.finder = Some(finder);
        }
        self.best = self.find_best();
    }
}

impl State for BestStump {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let stumps = self.spent.len();
        let mut tensors = vec![
            Tensor::vector("thresholds", &mut self.thresholds),
            Tensor::counts("in_use", &mut self.in_use),
            Tensor::real("costs", vec![stumps, 2, self.classes], &mut self.costs),
            Tensor::vector("spent", &mut self.spent),
            Tensor::vector("root", &mut self.root),
        ];
        if let Some(finder) = &mut self.finder {
            let shape = vec![finder.features.len(), SAMPLE];
            tensors.push(Tensor::count("seed", &mut finder.seed));
            tensors.push(Tensor::count("rows", &mut finder.rows));
            tensors.push(Tensor::real("sample", shape, &mut finder.sample));
        }
        tensors
    }

    fn restored(&mut self) -> bool {
        if let Some(finder) = &mut self.finder {
            finder.features = drawn(finder.seed, finder.of, finder.features.len());
            self.features = each(&finder.features, finder.thresholds);
        }
        for (answer, costs) in self.answers.iter_mut().zip(self.costs.chunks_exact(self.classes)) {
            *answer = cheapest(costs) as u32;
        }
        self.best = self.find_best();
        self.finder.as_ref().is_none_or(|finder| finder.rows < u64::MAX)
    }
}

/// `count` of `features` features, drawn by `seed`.
fn drawn(seed: u64, features: usize, count: usize) -> Vec<u32> {
    let mut drawn: Vec<u32> = (0..features as u32).collect();
    drawn.sort_by_cached_key(|j| mixed(seed, u64::from(*j)));
    drawn.truncate(count);
    drawn.sort_unstable();
    drawn
}

/// Every feature, repeated `times` times.
fn each(features: &[u32], times: usize) -> Vec<u32> {
    features.iter().flat_map(|j| std::iter::repeat_n(*j, times)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(stump: &mut BestStump, x: &[f64], y: usize) {
        let mut costs = [0.25; 2];
        costs[y] = 0.0;
        stump.update(Features::Dense(x), y, &costs, &Prediction::default());
    }

    fn says(stump: &BestStump, x: &[f64]) -> usize {
        stump.predict(Features::Dense(x), &mut Prediction::default())
    }

    /// Both stumps predict 0 at first, so that x = (1, -1) of class 1 costs each of them 1/4, and the first
    /// one predicts. (-1, -1) of class 0 reaches an untrained leaf of the first stump, which is right; the
    /// second one has learnt class 1 in this leaf, and is wrong again.
    #[test]
    fn the_stump_that_cost_least_plays() {
        let candidates = Some(Candidates(vec![vec![(1, 0.0), (0, 0.0)]]));
        let params = BestStumpParams { candidates, ..Default::default() };
        let mut stump = BestStump::new(&params, &Problem::new(2, 2), 0, 0).expect("valid");
        learn(&mut stump, &[1.0, -1.0], 1);
        assert_eq!((stump.spent.as_slice(), stump.best), (&[0.25, 0.25][..], Some(0)));
        assert_eq!((says(&stump, &[1.0, -1.0]), says(&stump, &[1.0, 1.0])), (1, 0));
        learn(&mut stump, &[-1.0, -1.0], 0);
        assert_eq!((stump.spent.as_slice(), stump.best), (&[0.5, 0.25][..], Some(1)));
        assert_eq!((says(&stump, &[1.0, 0.0]), says(&stump, &[0.0, 0.0])), (1, 0), "0 does not exceed 0");
    }

    #[test]
    fn thresholds_are_found_at_quantiles() {
        let params = BestStumpParams::new().thresholds(3);
        let mut stump = BestStump::new(&params, &Problem::new(2, 2), 5, 0).expect("valid");
        // Feature 0 is constant, feature 1 covers (0, 1), and the class is whether it exceeds 1/2.
        let row = |t: u64| [1.0, (t as f64 * 0.618_033_988_749).fract()];
        for t in 0..7 {
            learn(&mut stump, &row(t), usize::from(row(t)[1] > 0.5));
        }
        assert!(stump.best.is_none(), "too few rows for thresholds");
        for t in 7..600 {
            learn(&mut stump, &row(t), usize::from(row(t)[1] > 0.5));
        }
        assert_eq!(stump.in_use[..3], [0; 3], "a constant feature has no threshold");
        assert_eq!(stump.in_use[3..], [1; 3]);
        let mut levels = stump.thresholds[3..].to_vec();
        levels.sort_by(f64::total_cmp);
        for (got, want) in levels.iter().zip([0.25, 0.5, 0.75]) {
            assert!((got - want).abs() < 0.17, "{levels:?}");
        }
        let best = stump.best.expect("there are thresholds");
        assert!((stump.thresholds[best] - 0.5).abs() < 0.17, "{}", stump.thresholds[best]);
        assert_eq!((says(&stump, &[1.0, 0.9]), says(&stump, &[1.0, 0.1])), (1, 0));
    }

    #[test]
    fn binary_features_have_one_threshold() {
        let mut stump =
            BestStump::new(&BestStumpParams::default(), &Problem::new(2, 1), 5, 0).expect("valid");
        for t in 0..100 {
            learn(&mut stump, &[f64::from(u8::from(t % 9 == 0))], usize::from(t % 9 == 0));
        }
        let used: Vec<f64> = (0..stump.in_use.len())
            .filter(|at| stump.in_use[*at] != 0)
            .map(|at| stump.thresholds[at])
            .collect();
        assert_eq!(used, [0.5]);
        assert_eq!((says(&stump, &[1.0]), says(&stump, &[0.0])), (1, 0));
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |params, copy| {
            BestStump::new(&params, &Problem::new(2, 3), 0, copy).expect_err("bad").to_string()
        };
        let candidates = |text: &str| Candidates::from_value(&Value::from(text));
        assert_eq!(candidates("[[]]"), None);
        assert_eq!(candidates("[[[0, 1.5], [2, 3]]]"), Some(Candidates(vec![vec![(0, 1.5), (2, 3.0)]])));
        let given = || BestStumpParams { candidates: candidates("[[[3, 1.5]]]"), ..Default::default() };
        assert_eq!(error(given(), 0), "candidates = [[3, ..]]: must be of features below 3");
        assert_eq!(error(given(), 1), "candidates = 1 lists: must be for every copy, 2 at least");
        let params = BestStumpParams::new().thresholds(64);
        assert_eq!(error(params, 0), "thresholds = 64: must be from 1 to 63");
    }
}
