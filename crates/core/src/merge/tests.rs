use super::*;
use crate::batch::comparator::{Ball, Comparator, Stop, best_in_hindsight};
use crate::batch::data::{Data, Labels, Rows};
use crate::example::{Features, Target};
use crate::full::vaw::{Vaw, VawParams};
use crate::guarantee::Guarantee;
use crate::learner::OnlineLearner;
use crate::loss::logistic;
use crate::model::{Archive, Data as Stored};
use crate::rng::{Rng, Uniforms};
use crate::testing::{assert_all_close, assert_close, count, items, make, number, numbers, vector};

/// The rows that any of the learners has played.
#[derive(Default)]
struct History {
    rows: Vec<f64>,
    labels: Vec<u32>,
    loss: f64,
}

impl History {
    /// Plays `rounds` rounds of stream number `shard`: rows of norm 1, one label in five at random.
    fn play(&mut self, learner: &mut dyn OnlineLearner, shard: u64, rounds: usize) {
        let (k, d) = (learner.problem().classes, learner.problem().features);
        let mut rng = Rng::new(77, shard);
        let mut at = learner.prediction();
        for _ in 0..rounds {
            let mut x: Vec<f64> = (0..d).map(|i| rng.normal() + f64::from(i == shard as usize % d)).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter_mut().for_each(|x| *x /= norm);
            let strongest = if x[0] > x[1] { 0 } else { 1 + usize::from(x[1] > 0.2) };
            let label = if rng.uniform() < 0.2 { rng.below(k as u64) as usize } else { strongest % k };
            learner.predict(Features::Dense(&x), &mut at);
            self.loss += logistic::loss(&at.scores, label);
            learner.update(Features::Dense(&x), Target::class(label), &at);
            self.rows.extend_from_slice(&x);
            self.labels.push(label as u32);
        }
    }

    fn best(&self, learner: &dyn OnlineLearner, ball: Ball, norm: f64) -> Comparator {
        let (k, d) = (learner.problem().classes, learner.problem().features);
        let data = Data::new(k, d, Rows::Dense(&self.rows), Labels::Classes(&self.labels)).expect("checked");
        best_in_hindsight(&data, ball, norm, Stop::default()).expect("a positive norm")
    }
}

/// Three shards of different lengths and distributions, and what was played on them.
fn shards(name: &str, set: &str, classes: usize) -> (Vec<Box<dyn Model>>, History) {
    let mut history = History::default();
    let shards = [50, 31, 90].into_iter().enumerate().map(|(shard, rounds)| {
        let mut learner = make(name, set, Problem::new(classes, 4));
        history.play(&mut *learner, shard as u64, rounds);
        learner
    });
    (shards.collect(), history)
}

fn merged(parts: &[Box<dyn Model>], how: Merge) -> Box<dyn Model> {
    merge(&parts.iter().map(|part| &**part).collect::<Vec<_>>(), how).expect("of a kind")
}

/// Scores for some rows.
fn scores(model: &dyn Model) -> Vec<f64> {
    let mut at = model.prediction();
    let mut rng = Rng::new(3, 0);
    let mut all = Vec::new();
    for _ in 0..10 {
        let x: Vec<f64> = (0..model.problem().features).map(|_| rng.uniform() - 0.5).collect();
        model.predict(Features::Dense(&x), &mut at);
        all.extend_from_slice(&at.scores);
    }
    all
}

fn assert_same(got: &dyn Model, want: &dyn Model, tolerance: f64) {
    assert_all_close(&scores(got), &scores(want), tolerance, "score");
    assert_eq!(got.rounds(), want.rounds());
    let holds = |model: &dyn Model| model.certificate().expect("has one").expect("holds");
    let certificates = (holds(got), holds(want));
    assert_close(certificates.0, certificates.1, tolerance, "certificate");
}

/// Learners that merge, the ball of their guarantee, and their parameters.
const LEARNERS: [(&str, usize, Ball, &str); 4] = [
    ("folklore", 3, Ball::Rows, "norm=3 regularization=0.7"),
    ("aioli", 2, Ball::Euclidean, "norm=3 regularization=0.7"),
    ("gaf", 3, Ball::Frobenius, "norm=3 regularization=0.7"),
    ("kernel-aioli", 2, Ball::Euclidean, "kernel=linear norm=3 regularization=0.7"),
];

#[test]
fn follows_the_reference() {
    let reference = vector("merge_shards");
    let of = |name: &str| number(&reference["params"][name]);
    let set =
        format!("norm={} radius={} regularization={} curvature={}", of("B"), of("R"), of("lam"), of("gamma"));
    let labels = numbers(&reference["data"]["y"]);
    let rows: Vec<Vec<f64>> = items(&reference["data"]["x"]).iter().map(numbers).collect();
    let split = count(&reference["data"]["split"]);
    let shard = |range: std::ops::Range<usize>| {
        let mut learner = make("folklore", &set, Problem::new(3, 3));
        let mut at = learner.prediction();
        for t in range {
            let x = Features::Dense(&rows[t]);
            learner.predict(x, &mut at);
            learner.update(x, Target::class(labels[t] as usize), &at);
        }
        learner
    };
    let parts = [shard(0..split), shard(split..rows.len())];
    for (how, name) in [(Merge::SumAll, "sum_all"), (Merge::LambdaOnce, "lambda_once")] {
        let model = merged(&parts, how);
        let mut at = model.prediction();
        let tests = items(&reference["data"]["x_test"]).iter().zip(items(&reference["expected"][name]));
        for (x, want) in tests {
            model.predict(Features::Dense(&numbers(x)), &mut at);
            assert_all_close(&at.scores, &numbers(want), 1e-9, name);
        }
    }
}

/// Equations (1) and (2) with the best comparator for the rows of all shards and those that the merged
/// learner plays; $\lVert \Pi W \rVert$ and $\lVert W_m \rVert$ are computed.
#[test]
fn folklore_keeps_its_guarantee() {
    let (_, classes, ball, set) = LEARNERS[0];
    for how in Merge::ALL {
        let (parts, mut history) = shards("folklore", set, classes);
        let mut model = merged(&parts, how);
        let traces: f64 = parts.iter().map(|part| stored(&**part, "trace")[0]).sum();
        assert_close(stored(&*model, "trace")[0], traces, 1e-14, "traces add up");
        let minimiser = minimiser_squared(&*model);
        history.play(&mut *model, 9, 150);
        let best = history.best(&*model, ball, 3.0);
        let mean: Vec<f64> =
            (0..4).map(|i| (0..3).map(|k| best.weights[4 * k + i]).sum::<f64>() / 3.0).collect();
        let centred: f64 = (0..12).map(|at| (best.weights[at] - mean[at % 4]).powi(2)).sum();
        let regulariser = match how {
            Merge::SumAll => 3.0 * 0.7 * centred,
            Merge::LambdaOnce => 0.7 * centred + 2.0 * 0.7 * minimiser,
        };
        let regret = history.loss - best.value;
        let bound = regulariser + 0.25 * stored(&*model, "trace")[0];
        assert!(regret <= bound, "{how}: regret {regret}, bound {bound}");
        assert!(bound < history.loss - 0.5 * best.value, "{how}: the bound says something");
    }
}

/// A tensor of the model's state.
fn stored(model: &dyn Model, name: &str) -> Vec<f64> {
    let archive = Archive::of(&mut *model.boxed_clone());
    match &archive.tensor(&format!("learner/{name}")).expect("in the state").data {
        Stored::Real(data) => data.clone(),
        Stored::Count(_) => panic!("{name} is a counter"),
    }
}

/// $\lVert W_m \rVert^2 = \tfrac14\lVert A^{-1}G \rVert^2$, the same in the learner's coordinates.
fn minimiser_squared(model: &dyn Model) -> f64 {
    let (lower, gradient) = (stored(model, "inverse"), stored(model, "gradient"));
    let entry = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    let n = gradient.len();
    let image = |i: usize| (0..n).map(|j| entry(i, j) * gradient[j]).sum::<f64>();
    0.25 * (0..n).map(|i| image(i).powi(2)).sum::<f64>()
}

#[test]
fn certificates_hold_over_all_rounds() {
    for (name, classes, ball, set) in LEARNERS {
        for how in Merge::ALL {
            let (parts, mut history) = shards(name, set, classes);
            let mut model = merged(&parts, how);
            assert_eq!(model.rounds(), 171);
            let Some(Guarantee::Regret { bound, .. }) = model.guarantee() else { panic!("{name} has one") };
            assert_eq!(bound, Err(NO_CLOSED_FORM.into()), "{name}");
            for more in [0, 60] {
                history.play(&mut *model, 9, more);
                let best = history.best(&*model, ball, 3.0);
                let regret = history.loss - (best.value - best.gap);
                let certificate = model.certificate().expect("has one").expect("holds");
                assert!(regret <= certificate, "{name}, {how}: {regret} > {certificate}");
            }
        }
    }
}

#[test]
fn order_and_grouping_do_not_matter() {
    for (name, classes, _, set) in LEARNERS {
        let (mut parts, _) = shards(name, set, classes);
        for how in Merge::ALL {
            let model = merged(&parts, how);
            parts.rotate_left(1);
            assert_same(&*merged(&parts, how), &*model, 1e-11);
        }
        let all = merged(&parts, Merge::LambdaOnce);
        let last = parts.pop().expect("three");
        assert_same(&*merged(&[merged(&parts, Merge::LambdaOnce), last], Merge::LambdaOnce), &*all, 1e-11);
        // A single model, merged, is itself.
        assert_same(&*merged(&parts[..1], Merge::SumAll), &*parts[0], 1e-11);
    }
}

#[test]
fn a_merged_model_is_saved_and_continues() {
    for (name, classes, _, set) in LEARNERS {
        let (parts, _) = shards(name, set, classes);
        let mut model = merged(&parts, Merge::SumAll);
        assert!(scores(&*model).iter().zip(scores(&*parts[0])).any(|(a, b)| (a - b).abs() > 1e-3));
        let bytes = Archive::of(&mut *model).to_bytes();
        let mut loaded =
            Archive::from_bytes(&bytes).and_then(|archive| archive.model()).expect("just written");
        assert_eq!(scores(&*loaded), scores(&*model));
        History::default().play(&mut *model, 5, 30);
        History::default().play(&mut *loaded, 5, 30);
        assert_eq!(scores(&*loaded), scores(&*model));
        assert_eq!(loaded.certificate(), model.certificate());
        assert_eq!(model.values()["regularization"], Value::Float(3.0 * 0.7));
    }
}

#[test]
fn concatenated_kernels_are_added_matrices() {
    let (_, classes, _, set) = LEARNERS[3];
    let (kernels, _) = shards("kernel-aioli", set, classes);
    let (matrices, _) = shards("aioli", LEARNERS[1].3, classes);
    for how in Merge::ALL {
        assert_same(&*merged(&kernels, how), &*merged(&matrices, how), 1e-11);
    }
}

/// With at least as many rows as features the sketches of two classes are matrices, and merge like them, up
/// to a number that is added to all logits.
#[test]
fn exact_sketches_merge_like_matrices() {
    let (sketches, _) = shards("folklore-sketch", "rank=5 norm=3 regularization=0.7", 2);
    let (matrices, _) = shards("folklore", LEARNERS[0].3, 2);
    for how in Merge::ALL {
        let (sketch, matrix) = (merged(&sketches, how), merged(&matrices, how));
        let differences = |model: &dyn Model| -> Vec<f64> {
            scores(model).chunks_exact(2).map(|pair| pair[0] - pair[1]).collect()
        };
        assert_all_close(&differences(&*sketch), &differences(&*matrix), 1e-9, "difference of logits");
        let certificate = |model: &dyn Model| model.certificate().expect("has one").expect("holds");
        assert_close(certificate(&*sketch), certificate(&*matrix), 1e-9, "certificate");
    }
}

/// Sketches that discard much, in the shards and when they are merged.
#[test]
fn certificates_of_merged_sketches_hold() {
    for how in Merge::ALL {
        let set = "rank=1 eigenvalue=least norm=3 regularization=0.1 curvature=tight";
        let (parts, mut history) = shards("folklore-sketch", set, 3);
        let discarded = |model: &dyn Model| stored(model, "discarded")[0];
        let before: f64 = parts.iter().map(|part| discarded(&**part)).sum();
        let mut model = merged(&parts, how);
        assert!(discarded(&*model) > before + 0.01, "merging discards");
        for more in [0, 60] {
            history.play(&mut *model, 9, more);
            let best = history.best(&*model, Ball::Rows, 3.0);
            let regret = history.loss - (best.value - best.gap);
            let certificate = model.certificate().expect("has one").expect("holds");
            assert!(regret <= certificate, "{how}: {regret} > {certificate}");
        }
    }
}

/// One row in each shard: a = λ + 2 γ p(1-p) and G add up. For K = 2, d = 1, λ = ½, γ = ½ and x = 1, both
/// shards have γ p(1-p) = ⅛ and G = ∓½ or ±½, so that these cancel for different labels.
#[test]
fn diagonals_add_up_by_hand() {
    let shard = |label: usize| {
        let mut learner =
            make("folklore-diag", "norm=2 regularization=0.5 curvature=0.5", Problem::new(2, 1));
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&[1.0]), &mut at);
        learner.update(Features::Dense(&[1.0]), Target::class(label), &at);
        learner
    };
    for (how, lambda) in [(Merge::SumAll, 1.0), (Merge::LambdaOnce, 0.5)] {
        let same = merged(&[shard(0), shard(0)], how);
        assert_eq!(same.values()["regularization"], Value::Float(lambda));
        assert_eq!(stored(&*same, "cells"), [0.0, 0.25, 0.25, -1.0, 1.0]);
        assert_eq!(stored(&*merged(&[shard(0), shard(1)], how), "cells"), [0.0, 0.25, 0.25, 0.0, 0.0]);
        assert_eq!(same.rounds(), 2);
    }
}

/// Squared loss is its own surrogate: counting λ once gives the state of the learner that saw everything.
#[test]
fn vaw_merges_to_the_single_stream() {
    let new = || {
        let params = VawParams::new().norm(2.0).regularization(0.3);
        Vaw::new(params, Problem::new(1, 6), 0).expect("valid")
    };
    let (mut parts, mut single) = ([new(), new(), new()], new());
    let mut rng = Rng::new(8, 0);
    for t in 0..90 {
        let x: Vec<f64> = (0..6).map(|_| rng.normal()).collect();
        let y = Target::value(x[0] - 0.5 * x[3] + rng.normal());
        for learner in [&mut parts[t % 3], &mut single] {
            let mut at = learner.prediction();
            learner.predict(Features::Dense(&x), &mut at);
            learner.update(Features::Dense(&x), y, &at);
        }
    }
    let model = Vaw::merge(&parts.each_ref(), Merge::LambdaOnce).expect("of a kind");
    assert_all_close(&scores(&model), &scores(&single), 1e-12, "forecast");
    let all = Vaw::merge(&parts.each_ref(), Merge::SumAll).expect("of a kind");
    assert!((scores(&all)[0] - scores(&single)[0]).abs() > 1e-6);
}

#[test]
fn what_does_not_match_is_refused() {
    let refused = |models: &[&dyn Model]| {
        let error = merge(models, Merge::SumAll).map(drop).expect_err("does not match");
        (error.to_string(), error.part())
    };
    let folklore = |set: &str, k: usize, d: usize| make("folklore", set, Problem::new(k, d));
    let first = folklore("norm=3", 3, 4);
    let first_model = "as in the first model";
    for (other, sentence) in [
        (folklore("norm=3", 4, 4), "classes = 4: must be 3"),
        (folklore("norm=3", 3, 5), "features = 5: must be 4"),
        (folklore("norm=3 regularization=0.5", 3, 4), "regularization = 0.5: must be 0.6666666666666666"),
        (folklore("norm=3 curvature=0.5", 3, 4), "curvature = 0.5: must be 0.11503313808332274"),
        (folklore("norm=3 radius=2 regularization=1", 3, 4), "curvature = 0.0"),
        (folklore("norm=3 linear_term=false", 3, 4), "linear_term = false: must be true"),
        (make("ftrl", "", Problem::new(3, 4)), "learner = ftrl: must be folklore"),
    ] {
        let (error, part) = refused(&[&*first, &*first, &*other]);
        assert!(error.starts_with(sentence) && error.ends_with(first_model), "{error}");
        assert_eq!(part, Some(2));
    }
    let gaf = |set: &str| make("gaf", set, Problem::new(3, 4));
    let (error, _) = refused(&[&*gaf(""), &*gaf("samples=10 smoothing=0")]);
    assert_eq!(error, "samples = 10: must be unset, as in the first model");
    let ogd = make("ogd", "", Problem::new(3, 4));
    assert_eq!(
        refused(&[&*ogd, &*ogd]),
        ("ogd cannot be merged: what it learns does not add up".to_owned(), None)
    );
    assert_eq!(refused(&[]).0, "there is nothing to merge; at least one model was needed");
    let mut small = make("kernel-aioli", "max_rounds=40", Problem::new(2, 4));
    History::default().play(&mut *small, 0, 30);
    let error = "together the models store 60 rows; at most max_rounds = 40 can be merged";
    assert_eq!(refused(&[&*small, &*small]).0, error);
}

/// A row of norm 1e90 leaves nothing of its direction in A^{-1}.
#[test]
fn a_lost_matrix_is_refused() {
    let mut learner = make("vaw", "", Problem::new(1, 2));
    let mut at = learner.prediction();
    let x = Features::Dense(&[1e90, 1e90]);
    learner.predict(x, &mut at);
    learner.update(x, Target::value(0.0), &at);
    let error = merge(&[&*learner], Merge::SumAll).map(drop).expect_err("lost");
    assert_eq!(error, MergeError::Singular { part: Some(0) });
}

#[test]
fn names_are_read_back() {
    for how in Merge::ALL {
        assert_eq!(how.to_string().parse(), Ok(how));
    }
    assert_eq!(
        "sum".parse::<Merge>().expect_err("unknown").to_string(),
        "\"sum\" is none of sum-all and lambda-once"
    );
}
