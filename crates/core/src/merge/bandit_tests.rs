use super::*;
use crate::bandit::soba::{Soba, SobaParams};
use crate::bandit::soba_sketch::{SobaSketch, SobaSketchParams};
use crate::example::Features;
use crate::full::second_order_margin::{DiagonalMetric, FullMetric};
use crate::guarantee::Guarantee;
use crate::kernel::vector::dot;
use crate::learner::BanditLearner;
use crate::loss::hinge::margin;
use crate::model::Archive;
use crate::param::exploration::Exploration;
use crate::prediction::{Decision, Reward};
use crate::rng::{Rng, Uniforms};
use crate::testing::{assert_all_close, assert_close, linear_weights, make_bandit as make, quadratic};

const CLASSES: usize = 3;
const FEATURES: usize = 4;
const A: f64 = 0.7;

/// The learners that merge, where the sketch is exact, with their parameters.
const LEARNERS: [(&str, &str); 3] = [
    ("soba", "exploration=0.4 regularization=0.7"),
    ("soba-diag", "exploration=adaptive regularization=0.7"),
    ("soba-sketch", "rank=8 exploration=0.4 regularization=0.7"),
];

fn merged(parts: &[Box<dyn BanditModel>], how: Merge) -> Box<dyn BanditModel> {
    merge_bandits(&parts.iter().map(|part| &**part).collect::<Vec<_>>(), how).expect("of a kind")
}

/// Plays `rounds` rounds of stream number `stream`, one label in five at random; `each` is called with row,
/// decision and label after the decision was learnt.
fn play<L: BanditLearner + ?Sized>(
    learner: &mut L,
    stream: u64,
    rounds: usize,
    mut each: impl FnMut(&L, &[f64], &Decision, usize),
) {
    let mut rng = Rng::new(31, stream);
    let mut taken = Decision::default();
    for _ in 0..rounds {
        let mut x: Vec<f64> =
            (0..FEATURES).map(|i| rng.normal() + f64::from(i as u64 == stream % 4)).collect();
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
        let strongest = if x[0] > x[1] { 0 } else { 1 + usize::from(x[1] > 0.2) };
        let y = if rng.uniform() < 0.2 { rng.below(CLASSES as u64) as usize } else { strongest };
        learner.act(Features::Dense(&x), &mut rng, &mut taken);
        learner.learn(Features::Dense(&x), &taken, (taken.label as usize == y).into());
        each(learner, &x, &taken, y);
    }
}

/// Three shards of different lengths and distributions.
fn shards(name: &str, set: &str) -> Vec<Box<dyn BanditModel>> {
    let shards = [90, 61, 150].into_iter().enumerate().map(|(shard, rounds)| {
        let mut learner = make(name, set, Problem::new(CLASSES, FEATURES));
        play(&mut *learner, shard as u64, rounds, |_, _, _, _| ());
        learner
    });
    shards.collect()
}

/// γ = 1 and K = 2, so that every label has p = 1/2, with d = 1 and a = 1. The first learner guesses label 0
/// at x = 1: u = (-1, 1), A = I + 2uuᵀ and θ = -2u = (2, -2), S_q = 2/(½ + 2) = 4/5. The second guesses label
/// 1 at x = 2: u = (2, -2), A = I + 2uuᵀ and θ = (-4, 4), S_q = 8/(½ + 8) = 16/17. With e = (1, -1) the sums
/// are θ = -2e and Ae = (1 + 4 + 1 + 16)e, or 1 less if a is counted once; the diagonal is 1 + 2 + 1 + 8, or
/// 1 less.
#[test]
fn two_right_guesses_by_hand() {
    for (name, more, sums) in [("soba", "", 22.0), ("soba-diag", "", 12.0), ("soba-sketch", " rank=1", 22.0)]
    {
        let guessed = |label: usize, x: f64| {
            let set = format!("exploration=1 regularization=1{more}");
            let mut learner = make(name, &set, Problem::new(2, 1));
            let mut taken = Decision::default();
            learner.predict(Features::Dense(&[x]), &mut taken);
            (taken.label, taken.probability) = (label as u32, taken.distribution[label]);
            learner.learn(Features::Dense(&[x]), &taken, Reward::RIGHT);
            learner
        };
        let parts = [guessed(0, 1.0), guessed(1, 2.0)];
        for (how, sum, a) in [(Merge::SumAll, sums, 2.0), (Merge::LambdaOnce, sums - 1.0, 1.0)] {
            let mut model = merged(&parts, how);
            let weights = linear_weights(&*model);
            assert_close(weights[0], -2.0 / sum, 1e-14, &format!("{name}, {how}: W of class 0"));
            assert_close(weights[1], 2.0 / sum, 1e-14, &format!("{name}, {how}: W of class 1"));
            assert_eq!(model.values()["regularization"], Value::Float(a));
            assert_eq!(model.rounds(), 2);
            let archive = Archive::of_bandit(&mut *model);
            let of = |sum: &str| archive.tensor(&format!("learner/{sum}")).expect("saved").data.clone();
            let crate::model::Data::Real(quadratics) = of("quadratics") else { panic!("a number") };
            assert_close(quadratics[0], 0.8 + 16.0 / 17.0, 1e-14, "S_q");
            assert_eq!(of("updates"), crate::model::Data::Count(vec![2]));
        }
    }
}

/// The rounds that updated any of the learners, as $u$ (by feature, then class), $p$ and $z^\top A_t^{-1} z$.
#[derive(Default)]
struct Updates(Vec<(Vec<f64>, f64, f64)>);

impl Updates {
    /// Plays, and keeps the rounds that update; `model` returns the sum of quadratic forms and the number of
    /// updates.
    fn play<L: BanditLearner>(
        &mut self,
        learner: &mut L,
        stream: u64,
        rounds: usize,
        model: impl Fn(&L) -> (f64, u64),
    ) {
        let mut before = model(learner);
        play(learner, stream, rounds, |learner, x, taken, y| {
            let after = model(learner);
            if after.1 > before.1 {
                let rival = margin(&taken.scores, y).rival;
                let mut u = vec![0.0; CLASSES * FEATURES];
                for (u, x) in u.chunks_exact_mut(CLASSES).zip(x) {
                    (u[rival], u[y]) = (*x, -x);
                }
                self.0.push((u, taken.probability, after.0 - before.0));
            }
            before = after;
        });
    }

    /// $aI + \sum z z^\top$, or its diagonal.
    fn matrix(&self, a: f64, diagonal: bool) -> Vec<f64> {
        let n = CLASSES * FEATURES;
        let mut matrix = vec![0.0; n * n];
        matrix.iter_mut().step_by(n + 1).for_each(|entry| *entry = a);
        for (u, p, _) in &self.0 {
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|(i, j)| i == j || !diagonal) {
                matrix[i * n + j] += u[i] * u[j] / p;
            }
        }
        matrix
    }

    /// $\theta$.
    fn theta(&self) -> Vec<f64> {
        let mut theta = vec![0.0; CLASSES * FEATURES];
        self.0.iter().for_each(|(u, p, _)| axpy(-1.0 / p, u, &mut theta));
        theta
    }

    /// $\sum g^\top A_t^{-1} g$.
    fn right_side(&self) -> f64 {
        self.0.iter().map(|(_, p, q)| q / p).sum()
    }

    /// $\sum(-2\langle U, g \rangle - \langle U, z \rangle^2)$ for a comparator.
    fn left_side(&self, comparator: &[f64]) -> f64 {
        let terms = self.0.iter().map(|(u, p, _)| {
            let b = dot(u, comparator);
            (-2.0 * b - b * b) / p
        });
        terms.sum()
    }
}

/// Three shards whose updates are known.
fn known<L: BanditLearner>(
    make: impl Fn() -> L,
    model: impl Fn(&L) -> (f64, u64) + Copy,
) -> (Vec<L>, Updates) {
    let mut updates = Updates::default();
    let shards = [90, 61, 150].into_iter().enumerate().map(|(shard, rounds)| {
        let mut learner = make();
        updates.play(&mut learner, shard as u64, rounds, model);
        learner
    });
    (shards.collect(), updates)
}

fn params() -> SobaParams {
    SobaParams::new().exploration(Exploration::Rate(0.4)).regularization(A)
}

fn sketch(rank: u64) -> SobaSketch {
    let params = SobaSketchParams::new().rank(rank).exploration(Exploration::Rate(0.4)).regularization(A);
    SobaSketch::build(params, Problem::new(CLASSES, FEATURES), 0).expect("valid")
}

/// $AW = \theta$ for the sums of all shards.
fn check_weights(model: &dyn BanditLearner, updates: &Updates, a: f64, diagonal: bool) {
    let (matrix, theta, w) = (updates.matrix(a, diagonal), updates.theta(), linear_weights(model));
    for (row, theta) in matrix.chunks_exact(w.len()).zip(theta) {
        assert_close(dot(row, &w), theta, 1e-9, "AW = θ");
    }
}

/// The regulariser of three parts.
fn regularization(how: Merge) -> f64 {
    how.regularization(A, 3)
}

/// $\theta^\top A^{-1}\theta = \sum g^\top A_t^{-1}g - \sum m$ for a learner, and at most that for merged
/// ones, plus $2a\lVert W_m \rVert^2$ if $a$ is counted once (theory: bandit 2.5); also for the rounds that
/// follow.
#[test]
fn merged_soba_has_the_sums_and_their_inequality() {
    let new = || Soba::<FullMetric>::build(params(), Problem::new(CLASSES, FEATURES), 0).expect("valid");
    let model = |learner: &Soba<FullMetric>| (learner.model().quadratics(), learner.model().updates());
    let mut single = Updates::default();
    let mut learner = new();
    single.play(&mut learner, 0, 90, model);
    let difference = single.right_side() - learner.model().margins();
    assert_close(quadratic(&single.matrix(A, false), &single.theta()), difference, 1e-9, "one learner");

    for how in Merge::ALL {
        let (parts, mut updates) = known(new, model);
        let mut sum = Soba::merge(&parts.iter().collect::<Vec<_>>(), how).expect("of a kind");
        check_weights(&sum, &updates, regularization(how), false);
        let all: f64 = updates.0.iter().map(|(_, _, q)| q).sum();
        assert_close(sum.model().quadratics(), all, 1e-12, "S_q");
        assert_eq!((sum.model().updates(), sum.rounds()), (updates.0.len() as u64, 301));
        assert!(sum.model().updates() > 30);
        let surplus = 3.0 * A - regularization(how);
        let extra = linear_weights(&sum).iter().map(|w| surplus * w * w).sum::<f64>();
        for more in [0, 100] {
            updates.play(&mut sum, 9, more, model);
            let form = quadratic(&updates.matrix(regularization(how), false), &updates.theta());
            let right = updates.right_side() - sum.model().margins() + extra;
            assert!(form <= right && 2.0 * form > right, "{how}: {form} {right}");
            check_weights(&sum, &updates, regularization(how), false);
        }
    }
}

#[test]
fn merged_diagonals_and_exact_sketches_are_sums() {
    let new = || Soba::<DiagonalMetric>::build(params(), Problem::new(CLASSES, FEATURES), 0).expect("valid");
    let (diagonals, updates) = known(new, |learner| (0.0, learner.model().updates()));
    let (sketches, sketched) = known(|| sketch(8), |learner| (0.0, learner.model().updates()));
    for how in Merge::ALL {
        let sum = Soba::merge(&diagonals.iter().collect::<Vec<_>>(), how).expect("of a kind");
        check_weights(&sum, &updates, regularization(how), true);
        let sum = SobaSketch::merge(&sketches.iter().collect::<Vec<_>>(), how).expect("of a kind");
        check_weights(&sum, &sketched, regularization(how), false);
    }
}

/// The inequality of theory: sketches 4.4 for random comparators, where sketches discard much.
#[test]
fn merged_sketches_keep_their_inequality() {
    let model = |learner: &SobaSketch| (learner.model().quadratics(), learner.model().updates());
    let discarded = |learner: &SobaSketch| learner.model().metric().discarded();
    let mut rng = Rng::new(8, 0);
    let comparators: Vec<Vec<f64>> = (0..40)
        .map(|at| (0..CLASSES * FEATURES).map(|_| 0.1 * f64::from(at) * rng.normal()).collect())
        .collect();
    for (rank, how) in [1, 2, 3].into_iter().flat_map(|rank| Merge::ALL.map(|how| (rank, how))) {
        let (parts, mut updates) = known(|| sketch(rank), model);
        let parts: Vec<&SobaSketch> = parts.iter().collect();
        let mut sum = SobaSketch::merge(&parts, how).expect("of a kind");
        let before: f64 = parts.iter().map(|part| discarded(part)).sum();
        assert!(discarded(&sum) > before + 1.0, "merging discards");
        let extra: f64 = match how {
            Merge::SumAll => 0.0,
            Merge::LambdaOnce => (2..=3)
                .map(|count| linear_weights(&SobaSketch::merge(&parts[..count], how).expect("of a kind")))
                .map(|w| A * dot(&w, &w))
                .sum(),
        };
        for more in [0, 100] {
            updates.play(&mut sum, 9, more, model);
            let right = updates.right_side() + extra;
            for u in &comparators {
                let left = updates.left_side(u);
                assert!(left <= regularization(how) * dot(u, u) + right, "{rank}, {how}: {left} > {right}");
            }
        }
    }
}

#[test]
fn order_and_grouping_do_not_matter() {
    let same = |got: &dyn BanditModel, want: &dyn BanditModel| {
        assert_eq!(got.rounds(), want.rounds());
        assert_all_close(&linear_weights(got), &linear_weights(want), 1e-10, "weight");
    };
    for (name, set) in LEARNERS {
        let mut parts = shards(name, set);
        for how in Merge::ALL {
            let sum = merged(&parts, how);
            parts.rotate_left(1);
            same(&*merged(&parts, how), &*sum);
        }
        let all = merged(&parts, Merge::LambdaOnce);
        let last = parts.pop().expect("three");
        same(&*merged(&[merged(&parts, Merge::LambdaOnce), last], Merge::LambdaOnce), &*all);
        same(&*merged(&parts[..1], Merge::SumAll), &*parts[0]);
    }
}

#[test]
fn a_merged_model_is_saved_and_continues() {
    for (name, set) in LEARNERS {
        let mut model = merged(&shards(name, set), Merge::SumAll);
        let bytes = Archive::of_bandit(&mut *model).to_bytes();
        let loaded = Archive::from_bytes(&bytes).and_then(|archive| archive.bandit_model());
        let mut loaded = loaded.expect("just written");
        let before = linear_weights(&*model);
        play(&mut *model, 5, 60, |_, _, _, _| ());
        play(&mut *loaded, 5, 60, |_, _, _, _| ());
        assert!(linear_weights(&*model) != before);
        assert_eq!(linear_weights(&*loaded), linear_weights(&*model), "{name}");
        assert_eq!(Archive::of_bandit(&mut *loaded).to_bytes(), Archive::of_bandit(&mut *model).to_bytes());
        match loaded.guarantee() {
            None => assert_eq!(name, "soba-diag"),
            Some(guarantee) => {
                let Guarantee::Mistakes { bound, .. } = guarantee else { panic!("{name}: about mistakes") };
                assert!(bound.is_err(), "{name}");
            }
        }
    }
}

/// The rounds' numbers add up; a rate that was derived from them must be equal.
#[test]
fn what_does_not_match_is_refused() {
    let soba =
        |set: &str, horizon: u64| make("soba", set, Problem::new(CLASSES, FEATURES).with_horizon(horizon));
    let refused = |models: &[&dyn BanditModel]| {
        let error = merge_bandits(models, Merge::SumAll).map(drop).expect_err("does not match");
        (error.to_string(), error.part())
    };
    let (first, longer) = (soba("exploration=0.1", 1000), soba("exploration=0.1", 3000));
    let sum = merge_bandits(&[&*first, &*longer], Merge::SumAll).expect("equal rates");
    assert_eq!((sum.values()["horizon"].clone(), sum.problem().horizon), (Value::parse("4000"), Some(4000)));

    let (short, long) = (soba("", 100_000), soba("", 300_000));
    let (error, part) = refused(&[&*short, &*long]);
    assert!(error.starts_with("exploration = 0.03"), "{error}");
    assert_eq!(part, Some(1));
    let diagonal = make("soba-diag", "exploration=0.1", Problem::new(CLASSES, FEATURES));
    assert_eq!(refused(&[&*first, &*diagonal]).0, "learner = soba-diag: must be soba, as in the first model");
    let banditron = make("banditron", "", Problem::new(CLASSES, FEATURES));
    let sentence = "banditron cannot be merged: what it learns does not add up";
    assert_eq!(refused(&[&*banditron, &*banditron]), (sentence.to_owned(), None));
    assert_eq!(refused(&[]).0, "there is nothing to merge; at least one model was needed");

    let full = crate::testing::make("folklore", "", Problem::new(CLASSES, FEATURES));
    let kinds = [AnyModel::Bandit(first), AnyModel::Full(full)];
    let error = merge_any(&kinds.each_ref(), Merge::SumAll).map(drop).expect_err("two kinds").to_string();
    assert_eq!(error, "feedback = full: must be bandit, as in the first model");
}

/// A row of norm 1e90 leaves nothing of its direction in A^{-1}.
#[test]
fn a_lost_matrix_is_refused() {
    let lost = {
        let mut learner = make("soba", "exploration=1 regularization=1", Problem::new(2, 2));
        let (x, mut taken) = (Features::Dense(&[1e90, 1e90]), Decision::default());
        learner.predict(x, &mut taken);
        (taken.label, taken.probability) = (0, 0.5);
        learner.learn(x, &taken, Reward::RIGHT);
        learner
    };
    let fresh = make("soba", "exploration=1 regularization=1", Problem::new(2, 2));
    let error = merge_bandits(&[&*fresh, &*lost], Merge::SumAll).map(drop).expect_err("lost");
    assert_eq!(error, MergeError::Singular { part: Some(1) });
}
