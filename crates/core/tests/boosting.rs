//! Boosting: Proposition 4.4 over many seeds, and streams on which a chain of weak learners must behave well.

use noregret::algorithm::Algorithm;
use noregret::boosting::adaboost_olm::AdaBoostOlm;
use noregret::bounds;
use noregret::example::{Features, Target};
use noregret::guarantee::Guarantee;
use noregret::learner::{OnlineLearner, Predictor};
use noregret::param::Value;
use noregret::prediction::{Prediction, draw};
use noregret::problem::Problem;
use noregret::registry::{LEARNERS, find};
use noregret::rng::{Rng, Uniforms};

fn boost(settings: &[(&str, &str)], problem: Problem, seed: u64) -> AdaBoostOlm {
    let values = settings.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
    let params = LEARNERS.read("adaboost-olm", &values).expect("known names");
    AdaBoostOlm::new(params, problem, seed).expect("valid")
}

/// Plays `rounds` rounds of `stream`. Returns the mistakes of every round, and the sum of 1 - p(y).
fn play(
    learner: &mut dyn OnlineLearner,
    rounds: usize,
    rng: &mut Rng,
    mut stream: impl FnMut(usize, &mut Rng) -> (Vec<f64>, usize),
) -> (Vec<bool>, f64) {
    let mut at: Prediction = learner.prediction();
    let (mut mistakes, mut expected) = (Vec::new(), 0.0);
    for t in 0..rounds {
        let (x, y) = stream(t, rng);
        let x = Features::Dense(&x);
        learner.predict(x, &mut at);
        assert!(
            at.is_finite() && at.probabilities.iter().all(|p| (0.0..=1.0).contains(p)),
            "round {t}: {at:?}"
        );
        assert!((at.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "round {t}");
        expected += 1.0 - at.probabilities[y];
        mistakes.push(draw(&at.probabilities, rng.uniform()).index() != y);
        learner.update(x, Target::class(y), &at);
    }
    (mistakes, expected)
}

fn count(mistakes: &[bool]) -> u64 {
    mistakes.iter().map(|wrong| u64::from(*wrong)).sum()
}

/// A row of `features` numbers in [-1, 1].
fn row(features: usize, rng: &mut Rng) -> Vec<f64> {
    (0..features).map(|_| 2.0 * rng.uniform() - 1.0).collect()
}

/// Most prefixes are useless: only copy 5 has an informative stump, so that M is near 4 min M_i + 2 ln(N/δ)
/// only if the weights select it. For each of 200 seeds, the bound may fail with probability δ = 1/10; 40
/// failures would be a deviation of six standard deviations.
#[test]
fn proposition_4_4_holds_over_many_seeds() {
    let blind = "[[0, 9.0]]";
    let candidates = format!("[{blind}, {blind}, {blind}, {blind}, [[0, 0.0]], {blind}]");
    let settings =
        [("weak", "best-stump"), ("copies", "6"), ("horizon", "600"), ("candidates", candidates.as_str())];
    let (mut broken, mut means) = (0, [0.0; 2]);
    for seed in 0..200 {
        let mut learner = boost(&settings, Problem::new(2, 1), seed);
        let mut rng = Rng::new(seed, 3);
        let noise = 0.02 * (seed % 4) as f64;
        let (mistakes, expected) = play(&mut learner, 600, &mut rng, |_, rng| {
            let x = row(1, rng);
            let y = usize::from((x[0] > 0.0) != (rng.uniform() < noise));
            (x, y)
        });
        let fewest = *learner.mistakes().iter().min().expect("copies");
        assert!(learner.mistakes()[0] > 200, "the first copy is blind: {:?}", learner.mistakes());
        broken += u64::from(count(&mistakes) as f64 > bounds::adaboost_olm(fewest, 6, 0.1));
        // In expectation over the draws the bound holds without the 2 ln(1/δ).
        assert!(expected <= 4.0 * fewest as f64 + 2.0 * 6f64.ln(), "seed {seed}: {expected} for {fewest}");
        means[0] += count(&mistakes) as f64 / 200.0;
        means[1] += expected / 200.0;
    }
    assert!(broken <= 40, "{broken} of 200 seeds");
    assert!((means[0] - means[1]).abs() < 1.5, "labels are drawn as forecast: {means:?}");
}

/// What `guarantee` promises (theory: boosting 4.4), and the bound from the measured edges (theory: boosting
/// 4.5), on a stream that a stump knows but for some noise; both are far below the number of rounds.
#[test]
fn promised_mistakes_are_made_at_most() {
    const ROUNDS: usize = 3000;
    for (noise, copies) in [(0.0, 10), (0.05, 10), (0.2, 16)] {
        let settings = [
            ("weak", "best-stump".to_owned()),
            ("copies", copies.to_string()),
            ("horizon", ROUNDS.to_string()),
            ("candidates", format!("[{}]", vec!["[[0, 0.0]]"; copies].join(", "))),
        ];
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut learner = boost(&settings, Problem::new(2, 1), 3);
        let (_, expected) = play(&mut learner, ROUNDS, &mut Rng::new(9, 0), |_, rng| {
            let x = row(1, rng);
            let y = usize::from((x[0] > 0.0) != (rng.uniform() < noise));
            (x, y)
        });
        let fewest = *learner.mistakes().iter().min().expect("copies");
        let Some(Guarantee::ExpertMistakes { beyond: false, bound: Ok(bound), .. }) = learner.guarantee()
        else {
            panic!("it has a bound");
        };
        let want = (fewest as f64 + (copies as f64).ln()) * 1f64.exp() / (1f64.exp() - 1.0);
        assert!((bound - want).abs() < 1e-9 && expected <= bound, "{expected} beyond {bound}");
        assert!(bound < 0.5 * ROUNDS as f64, "{bound}");
        // FOLKLORE's Proposition 4.4 with the constants of its proof, for K = 2 (theory: boosting 4.5).
        let regret = noregret::boosting::regression::regret(ROUNDS as u64);
        let squares: f64 = learner.edges().iter().map(|edge| edge.max(0.0).powi(2)).sum();
        let by_edges = 4.0 * (ROUNDS as f64 * 2f64.ln() + copies as f64 * regret) / squares;
        assert!(fewest as f64 <= by_edges, "{fewest} mistakes beyond {by_edges}: {:?}", learner.edges());
        assert!(noise > 0.0 || by_edges < ROUNDS as f64, "{by_edges}: {:?}", learner.edges());
    }
    let learner = boost(&[("play", "best")], Problem::new(2, 1), 0);
    assert!(learner.guarantee().is_none(), "the theorem is about prefixes that are drawn");
}

/// A checkerboard that no linear predictor and no single stump can learn.
fn checkerboard(_: usize, rng: &mut Rng) -> (Vec<f64>, usize) {
    let x = row(2, rng);
    let y = usize::from((x[0] > 0.0) != (x[1] > 0.0));
    (x, y)
}

#[test]
fn trees_learn_what_is_not_linear() {
    let error =
        |learner: &mut dyn OnlineLearner| play(learner, 1500, &mut Rng::new(5, 0), checkerboard).1 / 1500.0;
    let boosted = error(&mut boost(&[], Problem::new(2, 2), 1));
    let alone = error(&mut boost(&[("copies", "1")], Problem::new(2, 2), 1));
    let mut linear =
        find("folklore").expect("known").make(&Default::default(), Problem::new(2, 2), 0).expect("valid");
    let linear = error(linear.as_mut());
    assert!(boosted < 0.06 && boosted < alone && linear > 0.3, "{boosted} {alone} {linear}");
}

/// Three classes by the largest of three features: each stump uses one feature, the chain all of them.
#[test]
fn the_chain_beats_its_weak_learner() {
    for (weak, gain) in
        [("best-stump", 0.8), ("stump", 0.9), ("tree", 0.8), ("linear-cost", 1.1), ("perceptron", 1.1)]
    {
        let learner = |copies: &str| boost(&[("weak", weak), ("copies", copies)], Problem::new(3, 3), 2);
        let stream = |_: usize, rng: &mut Rng| {
            let x = row(3, rng);
            let y = noregret::prediction::argmax(&x);
            (x, y)
        };
        let mistakes = |learner: &mut AdaBoostOlm| play(learner, 2000, &mut Rng::new(6, 0), stream).1;
        let (mut one, mut many) = (learner("1"), learner("20"));
        let (one, many) = (mistakes(&mut one), mistakes(&mut many));
        assert!(many <= gain * one, "{weak}: {many} of 20 copies, {one} of one");
    }
}

#[test]
fn without_an_edge_the_error_is_that_of_guessing() {
    for weak in ["tree", "best-stump", "linear-cost"] {
        let mut learner = boost(&[("weak", weak), ("copies", "10")], Problem::new(4, 3), 4);
        let (_, expected) = play(&mut learner, 2000, &mut Rng::new(7, 0), |_, rng| {
            let x = row(3, rng);
            (x, rng.below(4) as usize)
        });
        let rate = expected / 2000.0;
        assert!((0.70..0.80).contains(&rate), "{weak}: {rate}, guessing is 0.75");
        let edges = learner.edges();
        assert!(edges.iter().all(|edge| edge.abs() < 0.1), "{weak}: {edges:?}");
    }
}

#[test]
fn constant_labels_are_learnt_at_once() {
    for copies in ["1", "10"] {
        let mut learner = boost(&[("copies", copies)], Problem::new(3, 2), 4);
        let (_, expected) = play(&mut learner, 500, &mut Rng::new(8, 0), |_, rng| (row(2, rng), 2));
        assert!(expected <= 2.0, "{copies}: {expected}");
        let edges = learner.edges();
        assert!(edges[0] > 0.9, "{edges:?}");
    }
}

/// A feature that is 0 for 500 rounds and then determines the class.
#[test]
fn a_feature_that_appears_late_is_used() {
    for weak in ["tree", "best-stump"] {
        let mut learner = boost(&[("weak", weak), ("copies", "10")], Problem::new(2, 3), 4);
        let stream = |t: usize, rng: &mut Rng| {
            let mut x = row(3, rng);
            let y = rng.below(2) as usize;
            x[2] = if t < 500 { 0.0 } else { y as f64 - 0.5 };
            (x, y)
        };
        let (mistakes, _) = play(&mut learner, 3000, &mut Rng::new(9, 0), stream);
        let (before, after) = (count(&mistakes[..500]), count(&mistakes[2500..]));
        assert!(before > 200 && after < 50, "{weak}: {before}, then {after}");
    }
}

/// The total log loss of the mixture exceeds that of the best prefix by at most ln N: Vovk's bound.
#[test]
fn the_mixture_is_nearly_the_best_prefix() {
    for seed in 0..10 {
        let mut learner =
            boost(&[("play", "mixture"), ("copies", "8"), ("weak", "best-stump")], Problem::new(3, 3), seed);
        assert_eq!(Algorithm::about(&learner).forecast, noregret::algorithm::Forecast::Probabilities);
        let (mut rng, mut at) = (Rng::new(seed, 0), learner.prediction());
        let (mut loss, mut prefixes) = (0.0, [0.0; 8]);
        for _ in 0..400 {
            let x = row(3, &mut rng);
            let y = noregret::prediction::argmax(&x);
            learner.predict(Features::Dense(&x), &mut at);
            loss += noregret::loss::logistic::loss(&at.scores, y);
            for (total, logits) in prefixes.iter_mut().zip(&learner.chain(&at).logits[1..]) {
                *total += noregret::loss::logistic::loss(logits, y);
            }
            learner.update(Features::Dense(&x), Target::class(y), &at);
        }
        let best = prefixes.into_iter().fold(f64::INFINITY, f64::min);
        assert!(loss <= best + 8f64.ln() + 1e-9 && loss > best - 60.0, "seed {seed}: {loss} against {best}");
    }
}

#[test]
fn bad_settings_are_refused_by_name() {
    let error = |settings: &[(&str, &str)]| {
        let values = settings.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
        let made = find("adaboost-olm").expect("known").make(&values, Problem::new(3, 2), 0);
        made.map(|_| ()).expect_err("bad").to_string()
    };
    for (settings, sentence) in [
        (
            &[("weak", "trees")][..],
            "weak = trees: must be one of tree, best-stump, stump, linear-cost, or a learner that sees the label and is no mixture (did you mean 'tree'?)",
        ),
        (
            &[("weak", "soba")],
            "weak = soba: must be one of tree, best-stump, stump, linear-cost, or a learner that sees the label and is no mixture",
        ),
        (
            &[("weak", "adaboost-olm")],
            "weak = adaboost-olm: must be one of tree, best-stump, stump, linear-cost, or a learner that sees the label and is no mixture",
        ),
        (
            &[("weak", "auto")],
            "weak = auto: must be one of tree, best-stump, stump, linear-cost, or a learner that sees the label and is no mixture",
        ),
        (&[("weak.grace", "0")], "weak.grace = 0: must be from 2 to 4294967296"),
        (&[("weak.confidence", "0")], "weak.confidence = 0: must be in (0, 1]"),
        (&[("weak.buffer", "0")], "weak.buffer = 0: must be from 2 to 1024"),
        (&[("weak", "linear-cost"), ("weak.rate", "0")], "weak.rate = 0: must be a finite number > 0"),
        (
            &[("weak", "linear-cost"), ("weak.rate", "2")],
            "weak.rate = 2: must be below 2: larger steps diverge",
        ),
        (
            &[("weak.rate", "1")],
            "tree has no parameter 'rate'; it takes classes, features, grace, buffer, tries, confidence, memory, rows",
        ),
        (&[("weak", "ogd"), ("weak.rate", "-1")], "weak.rate = -1: must be a finite number > 0"),
        (&[("candidates", "[[[0,1]]]")], "candidates = [[[0,1.0]]]: must be unset: tree has no candidates"),
        (&[("horizon", "soon")], "horizon = soon: must be a whole number >= 1, or anytime"),
    ] {
        assert_eq!(error(settings), sentence);
    }
}

/// Thresholds are chosen from the data: for trees and stumps, rows in other units are the same stream.
#[test]
fn units_make_no_difference_to_thresholds() {
    for weak in ["tree", "stump", "best-stump"] {
        let values = [("weak".to_owned(), Value::from(weak))].into();
        assert_eq!(find("adaboost-olm").expect("known").scale_free(&values), Ok(true));
        let run = |scale: f64| {
            let mut learner = boost(&[("weak", weak), ("copies", "5")], Problem::new(2, 2), 1);
            play(&mut learner, 800, &mut Rng::new(5, 0), |t, rng| {
                let (x, y) = checkerboard(t, rng);
                (x.iter().map(|x| scale * x).collect(), y)
            })
        };
        // Multiplication by a power of two is exact.
        assert_eq!(run(1.0), run(1024.0), "{weak}");
    }
    let linear = [("weak".to_owned(), Value::from("linear-cost"))].into();
    assert_eq!(find("adaboost-olm").expect("known").scale_free(&linear), Ok(false));
}
