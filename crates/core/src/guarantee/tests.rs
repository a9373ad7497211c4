use super::*;
use crate::example::{Features, Target};
use crate::facts::RunFacts;
use crate::param::Values;
use crate::registry::ALGORITHMS;
use crate::testing::{make, make_bandit, plays, unit_rows, values};

#[test]
fn a_small_radius_is_not_shown_as_zero() {
    let shown = [1.0, 0.01, 3e-7, 2.5e8].map(digits_of);
    assert_eq!(shown, ["1.0000", "0.0100", "3.0000e-7", "2.5000e8"]);
}

#[test]
fn what_is_beyond_a_limit_is_shown_as_larger() {
    assert_eq!(digits_beyond(30.0, 5.0), ["30.0000", "5.0000"]);
    assert_eq!(digits_beyond(1.000002, 1.0), ["1.000002e0", "1e0"]);
    assert_eq!(digits_beyond(3e-6, 2e-6), ["3.0000e-6", "2.0000e-6"]);
}

/// With too large a curvature no learner has a guarantee, since the surrogates are not lower bounds.
#[test]
fn curvature_beyond_what_is_proven_voids_certificate_and_bound() {
    let mut tried = Vec::new();
    for entry in ALGORITHMS.iter().filter(|entry| entry.param("curvature").is_some()) {
        let played = |values: &Values| {
            let mut learner = entry.make(values, Problem::new(2, 3).with_radius(1.0), 0).ok()?;
            plays(learner.as_mut(), 20);
            Some(learner)
        };
        let Some(plain) = played(&Values::new()) else { continue };
        let kept = plain.certificate();
        assert!(kept.clone().is_none_or(|certificate| certificate.is_ok()), "{}: {kept:?}", entry.about.name);
        for curvature in [0.6, 5.0] {
            let learner = played(&values(&format!("curvature={curvature}"))).expect("valid");
            if let Some(certificate) = learner.certificate() {
                let why = certificate.expect_err(entry.about.name).to_string();
                assert!(why.starts_with("the curvature "), "{why}");
                tried.push(entry.about.name);
            }
            let bound = learner.guarantee().and_then(|guarantee| guarantee.regret_bound());
            assert!(bound.is_none_or(|bound| bound.is_err()), "{}", entry.about.name);
        }
    }
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(
        tried,
        [
            "aioli",
            "conditional-logit",
            "folklore",
            "folklore-intervals",
            "folklore-sketch",
            "gaf",
            "kernel-aioli",
            "kernel-aioli-landmarks"
        ]
    );
}

/// The largest proven curvature has a guarantee, and a slightly larger one does not.
#[test]
fn the_edge_of_the_proof_is_the_edge_of_the_promise() {
    let tight = crate::loss::curvature::tight(4.0 + 2f64.ln());
    for (curvature, holds) in [(tight, true), (1.001 * tight, false)] {
        let set = format!("norm=2 curvature={curvature}");
        let learner = make("folklore", &set, Problem::new(3, 2).with_radius(1.0));
        assert_eq!(learner.certificate().expect("keeps one").is_ok(), holds);
    }
}

#[test]
fn what_theorems_do_not_allow_for_has_its_reason() {
    let mut learner = make("folklore", "", Problem::new(3, 4).with_radius(1.0));
    plays(learner.as_mut(), 30);
    let usual = RunFacts { rounds: 30, ..RunFacts::default() };
    assert!(usual.certificate(&learner).expect("keeps one").is_ok());
    let cases = [
        (RunFacts { rounds: 20, earlier: 10, ..usual.clone() }, "10 rounds were learnt before this run"),
        (RunFacts { late: 3, ..usual.clone() }, "3 labels came late"),
        (RunFacts { rounds: 34, ..usual.clone() }, "the labels of 4 rounds have not come yet"),
        (RunFacts { rounds: 25, ..usual.clone() }, "5 rounds were learnt of which nothing is known"),
        (RunFacts { altered: 2, ..usual.clone() }, "2 forecasts were not the learner's own"),
        (RunFacts { floor: 0.1, ..usual.clone() }, "an exploration floor of 0.1"),
        (RunFacts { beyond_radius: 2, ..usual.clone() }, "2 rows were beyond the learner's radius"),
        (RunFacts { merged_scalings: true, ..usual.clone() }, "scaled their rows differently"),
    ];
    let bound =
        |facts: &RunFacts| facts.guarantee(&learner).expect("has one").regret_bound().expect("regret");
    for (facts, why) in cases {
        for promise in [facts.certificate(&learner).expect("keeps one"), bound(&facts)] {
            let said = promise.expect_err(why).to_string();
            assert!(said.contains(why), "{said}");
        }
    }
    // Weights void the closed form alone.
    let weighted = RunFacts { weighted: 1, ..usual };
    assert!(weighted.certificate(&learner).expect("keeps one").is_ok());
    assert_eq!(bound(&weighted), Err(Void::from("rounds had importance weights")));
}

#[test]
fn rounds_are_noted_as_they_are() {
    let problem = Problem::new(2, 2).with_radius(1.0);
    let mut facts = RunFacts::new(7);
    for (x, weight) in [([0.6, 0.8], 1.0), ([1.0, 1e-3], 1.0), ([0.0, 0.0], 2.0)] {
        facts.note(&problem, Features::Dense(&x), weight);
    }
    assert_eq!((facts.rounds, facts.earlier, facts.beyond_radius, facts.weighted), (3, 7, 1, 1));
    let mut all = RunFacts { late: 1, ..RunFacts::default() };
    all.extend(&facts);
    assert_eq!(all, RunFacts { earlier: 0, late: 1, ..facts });
    let noted = RunFacts { altered: 3, merged_scalings: true, largest_target: 2.5, ..all };
    assert_eq!(RunFacts::of_sums(noted.sums()), noted);
}

/// VAW's closed form is about targets in [-Y, Y], its certificate about those that came.
#[test]
fn targets_beyond_their_bound_void_the_bound() {
    for (set, holds) in [("target_bound=3", true), ("target_bound=1", false)] {
        let mut learner = make("vaw", set, Problem::new(1, 1).with_radius(1.0));
        let (x, y) = (Features::Dense(&[1.0]), Target::value(-3.0));
        let mut at = learner.prediction();
        learner.predict(x, &mut at);
        learner.update(x, y, &at);
        let mut facts = RunFacts::default();
        facts.note(learner.problem(), x, y.weight);
        facts.note_target(y);
        let bound = facts.guarantee(&learner).expect("has one").regret_bound().expect("regret");
        assert_eq!((bound.is_ok(), facts.certificate(&learner).expect("keeps one").is_ok()), (holds, true));
        if let Err(why) = bound {
            assert_eq!(why.to_string(), "a target of 3 was beyond target_bound = 1");
        }
    }
}

/// Rows beyond the radius of the oracle void its bound, and with it that of the bandit learner.
#[test]
fn bandit_learners_have_the_radius_of_their_oracle() {
    for name in ["squarecb", "fastcb"] {
        for (models, radius) in [("separate", 0.5), ("joint", 0.5 / 2f64.sqrt())] {
            let set = format!("models={models} oracle.radius=0.5");
            let learner = make_bandit(name, &set, Problem::new(3, 2).with_radius(1.0));
            let of = learner.problem().radius.expect("a radius");
            assert!((of - radius).abs() < 1e-12, "{name}, {models}: {of}");
        }
    }
}

/// Kernel AIOLI's radius is about sqrt(k(x, x)), not about |x|.
#[test]
fn kernels_check_their_own_radius() {
    for (given, beyond) in [
        ("kernel=linear radius=0.01", true),
        ("kernel=linear", false),
        ("kernel=rbf", false),
        ("kernel=polynomial", false),
        ("kernel=polynomial radius=1.9", true),
    ] {
        let mut learner = make("kernel-aioli", given, Problem::new(2, 2).with_radius(1.0));
        let mut at = learner.prediction();
        for (round, x) in unit_rows(3, 10, 2).iter().enumerate() {
            learner.predict(Features::Dense(x), &mut at);
            learner.update(Features::Dense(x), Target::class(round % 2), &at);
        }
        let facts = RunFacts { rounds: 10, ..RunFacts::default() };
        let certificate = facts.certificate(&learner).expect("keeps one");
        let bound = facts.guarantee(&learner).expect("has one").regret_bound().expect("regret");
        assert_eq!((certificate.is_err(), bound.is_err()), (beyond, beyond), "{given:?}");
        if let Err(why) = certificate {
            assert!(why.to_string().starts_with("10 rows were beyond the learner's radius"), "{why}");
        }
    }
}

/// AIOLI's comparators are differences of two rows, whose norm may be √2 times that of the matrix of both.
#[test]
fn the_reduction_to_aioli_has_a_smaller_ball() {
    for (base, norm) in [("aioli", 2f64.sqrt()), ("folklore", 2.0), ("gaf", 2.0)] {
        let set = format!("base={base} base.norm=2");
        let learner = make_bandit("bandit-reduction", &set, Problem::new(2, 3).with_radius(1.0));
        let Some(Guarantee::Mistakes { norm: of, bound, .. }) = learner.guarantee() else { panic!("{base}") };
        assert!((of - norm).abs() < 1e-12 && bound.is_ok(), "{base}: {of}");
    }
}

/// The reduction's bound is about the expected number of rounds that the base learner learns: a bound that
/// depends on which rows these were cannot be put in its place.
#[test]
fn the_reduction_needs_a_bound_that_follows_from_the_rounds() {
    for (base, holds) in [("aioli", true), ("kernel-aioli", false), ("kernel-aioli-landmarks", false)] {
        let kernel = if holds { "" } else { " base.kernel=linear" };
        let problem = Problem::new(2, 3).with_radius(1.0);
        let learner = make_bandit("bandit-reduction", &format!("base={base}{kernel}"), problem);
        let Some(Guarantee::Mistakes { bound, .. }) = learner.guarantee() else { panic!("{base}") };
        match bound {
            Ok(_) => assert!(holds, "{base}"),
            Err(why) => {
                let said = why.to_string();
                assert!(!holds && said.contains("depends on the rows that it has learnt"), "{base}: {said}");
            }
        }
    }
}
