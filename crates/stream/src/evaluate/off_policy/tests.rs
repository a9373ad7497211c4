use noregret::rng::{Rng, Uniforms};

use super::*;

#[test]
fn quantiles_are_those_of_the_tables() {
    for (p, z) in [(0.5, 0.0), (0.975, 1.959963985), (0.995, 2.575829304), (0.001, -3.090232306)] {
        assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}: {}", normal_quantile(p));
    }
}

/// Two rounds by hand: w = (1/2)/(1/4) = 2 with r = 1, and w = (1/4)/(1/2) = 1/2 with r = 0. IPS (2 +
/// 0)/2, SNIPS 2/2.5; with q = (0.6, 0.2), direct 0.5·0.6 + 0.5·0.2 = 0.4 and 0.75·0.6 + 0.25·0.2 = 0.5,
/// robust 0.4 + 2(1 - 0.6) = 1.2 and 0.5 + 0.5(0 - 0.2) = 0.4.
#[test]
fn two_rounds_by_hand() {
    let mut sums = OffPolicy::new(None, [0.0, 1.0]);
    let q = [0.6, 0.2];
    for (label, reward, probability, evaluation) in [(0, 1.0, 0.25, [0.5, 0.5]), (1, 0.0, 0.5, [0.75, 0.25])]
    {
        let (estimates, possible) = (Some(&q[..]), None);
        sums.add(&Round { label, reward, probability, evaluation: &evaluation, estimates, possible });
    }
    let report = sums.estimates(0.95, 0.0);
    let values: Vec<f64> = report.estimates.iter().map(|estimate| estimate.value).collect();
    for (value, want) in values.iter().zip([1.0, 0.8, 0.45, 0.8]) {
        assert!((value - want).abs() < 1e-15, "{values:?}");
    }
    assert_eq!((report.mean_weight, report.largest_weight), (1.25, 2.0));
    assert!((report.effective_sample_size - 6.25 / 4.25).abs() < 1e-15);
    assert!(report.estimates.iter().all(|one| one.normal.is_none()), "two rounds are too few");
    let mut clipped = OffPolicy::new(Some(1.0), [0.0, 1.0]);
    clipped.add(&Round {
        label: 0,
        reward: 1.0,
        probability: 0.25,
        evaluation: &[0.5, 0.5],
        estimates: None,
        possible: None,
    });
    let report = clipped.estimates(0.95, 0.0);
    assert_eq!((report.clipped, report.estimates.len(), report.estimates[0].value), (1, 2, 1.0));
}

/// The reward of a label that the log never played may be anything from 0 to 1: the intervals
/// contain both ends, and no more.
#[test]
fn what_the_log_cannot_cover_widens_the_intervals() {
    let mut sums = OffPolicy::new(None, [0.0, 1.0]);
    for _ in 0..10_000 {
        let possible = Some(Possible { largest: 0.6, square: 0.36 });
        let estimates = Some(&[0.5, 0.0][..]);
        sums.add(&Round {
            label: 0,
            reward: 0.5,
            probability: 1.0,
            evaluation: &[0.6, 0.4],
            estimates,
            possible,
        });
    }
    let report = sums.estimates(0.95, 0.4);
    let [ips, snips, direct, robust] = &report.estimates[..] else { panic!("{report:?}") };
    for (estimate, [low, high]) in [(ips, [0.3, 0.7]), (snips, [0.3, 0.7]), (robust, [0.3, 0.7])] {
        let [from, to] = estimate.normal.expect("thousands of rounds");
        assert!((from - low).abs() < 1e-9 && (to - high).abs() < 1e-9, "{estimate:?}");
    }
    assert_eq!((direct.normal, direct.sequence, direct.standard_error), (None, None, None));
    for estimate in [ips, robust] {
        let [from, to] = estimate.sequence.expect("a mean");
        assert!((0.28..0.3).contains(&from) && (0.7..0.72).contains(&to), "{estimate:?}");
    }
}

/// Plays `rounds` rounds by `logging` with rewards of the means `truth`, and evaluates `policy`.
fn played(seed: u64, rounds: usize, logging: &[f64], policy: &[f64], truth: &[f64], q: &[f64]) -> Estimates {
    let mut rng = Rng::new(seed, 0);
    let mut sums = OffPolicy::new(None, [0.0, 1.0]);
    for _ in 0..rounds {
        let label = noregret::prediction::draw(logging, rng.uniform()).index();
        let reward = f64::from(u8::from(rng.uniform() < truth[label]));
        sums.add(&Round {
            label,
            reward,
            probability: logging[label],
            evaluation: policy,
            estimates: Some(q),
            possible: Some(Possible::of(policy, logging)),
        });
    }
    sums.estimates(0.9, 0.0)
}

/// Over many logs with known truth, the estimators are unbiased, the normal intervals have their nominal
/// coverage, and confidence sequences hold.
#[test]
fn intervals_hold_the_truth() {
    let (logging, policy, truth) = ([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.3, 0.5, 0.9]);
    let value: f64 = policy.iter().zip(truth).map(|(p, r)| p * r).sum();
    let logs = 400;
    let mut held = [[0; 2]; 4];
    let mut means = [0.0; 4];
    for seed in 0..logs {
        let report = played(seed, 400, &logging, &policy, &truth, &[0.4, 0.4, 0.7]);
        for (at, estimate) in report.estimates.iter().enumerate() {
            let holds = |[low, high]: [f64; 2]| u32::from((low..=high).contains(&value));
            held[at][0] += estimate.normal.map_or(0, holds);
            held[at][1] += estimate.sequence.map_or(0, holds);
            means[at] += estimate.value / logs as f64;
        }
    }
    for at in [0, 1, 3] {
        assert!((means[at] - value).abs() < 0.006, "{means:?}");
        assert!((338..=384).contains(&held[at][0]), "of 400 at 90 %: {held:?}");
    }
    assert!(held[0][1] >= 390 && held[3][1] >= 390, "{held:?}");
    assert_eq!(held[2], [0, 0]);
    assert!((means[2] - value).abs() > 0.1, "the direct method is biased by its estimates");
}

/// A label that is played with probability 0.02 and earns in one of ten rounds: intervals that are given
/// hold, and small logs get no normal one.
#[test]
fn small_logs_of_rare_labels_claim_nothing_that_is_wrong() {
    let (logging, policy, truth) = ([0.02, 0.98], [1.0, 0.0], [0.1, 0.5]);
    let mut held = 0;
    for seed in 0..250 {
        let report = played(seed, 200, &logging, &policy, &truth, &[0.1, 0.1]);
        for name in ["ips", "dr"] {
            let one = report.estimates.iter().find(|one| one.estimator.name() == name).expect("computed");
            let [low, high] = one.sequence.expect("a mean");
            held += u32::from(low <= 0.1 && 0.1 <= high);
            assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high), "{one:?}");
            assert_eq!(one.normal, None);
        }
    }
    assert!(held >= 450, "of 500 at 90 %: {held}");
}

/// A policy that learns plays a label often for some time, and hardly ever before: while hardly any
/// reward of that time was seen, those of the other time alone make no interval.
#[test]
fn rounds_in_which_nothing_was_seen_count_too() {
    let mut rng = Rng::new(5, 0);
    for _ in 0..100 {
        let mut sums = OffPolicy::new(None, [0.0, 1.0]);
        for round in 0..1000 {
            let p = if round < 800 { [0.02, 0.98] } else { [0.95, 0.05] };
            let label = usize::from(rng.uniform() >= p[0]);
            let reward = f64::from(rng.uniform() < 0.1);
            let (evaluation, possible) = (&[1.0, 0.0], Some(Possible::of(&[1.0, 0.0], &p)));
            let probability = p[label];
            sums.add(&Round { label, reward, probability, evaluation, estimates: None, possible });
        }
        let estimates = sums.estimates(0.95, 0.0).estimates;
        assert!(estimates.iter().all(|one| one.normal.is_none()), "{estimates:?}");
    }
}

/// A log that plays what its probabilities hardly allow, with the rewards of what they nearly always play.
#[test]
fn what_the_probabilities_rule_out_has_no_interval() {
    let mut sums = OffPolicy::new(None, [0.0, 1.0]);
    for t in 0..100 {
        let (label, probability, reward) = if t % 2 == 0 { (0, 0.98, 1.0) } else { (1, 0.02, 0.0) };
        let evaluation = &[0.5, 0.5];
        sums.add(&Round { label, reward, probability, evaluation, estimates: None, possible: None });
    }
    assert_eq!(sums.estimates(0.95, 0.0).estimates[0].sequence, None);
}

/// A wrong model of rewards does not make `dr` less precise than `ips`, and a right one is used in full.
#[test]
fn a_bad_model_does_no_harm() {
    let (logging, policy, truth) = ([0.1, 0.9], [0.8, 0.2], [0.01, 0.02]);
    for (q, whole) in [([0.46, 0.46], false), ([0.01, 0.02], true)] {
        let report = played(3, 4000, &logging, &policy, &truth, &q);
        let error = |name: &str| {
            let one = report.estimates.iter().find(|one| one.estimator.name() == name).expect("computed");
            (one.standard_error.expect("of a mean"), one.share)
        };
        let ((ips, _), (robust, share)) = (error("ips"), error("dr"));
        assert!(robust <= 1.001 * ips, "{robust} {ips}");
        assert_eq!(share.is_none(), whole, "{share:?}");
    }
}
