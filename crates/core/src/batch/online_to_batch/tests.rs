use super::*;
use crate::batch::comparator::{Ball, Stop, best_in_hindsight};
use crate::batch::data::{Data, Labels, Rows};
use crate::bounds::{Setting, aioli};
use crate::full::aioli::{Aioli, AioliParams};
use crate::full::ogd::Ogd;
use crate::loss::logistic;
use crate::param::Values;
use crate::registry::find;
use crate::rng::Uniforms;
use crate::testing::{assert_close, loaded, plays};
use crate::{algorithm::Algorithm, full::ogd::OgdParams};

fn make(name: &str, classes: usize) -> Box<dyn Model> {
    find(name).expect("registered").make(&Values::new(), Problem::new(classes, 4), 5).expect("valid")
}

fn row(rng: &mut Rng) -> [f64; 4] {
    std::array::from_fn(|_| rng.uniform() - 0.5)
}

/// Every round is in the reservoir equally often: chi-square with 19 degrees of freedom, 99.9 % quantile
/// 43.8. The number of rounds that a snapshot has learnt identifies its round.
#[test]
fn snapshots_are_uniform_over_rounds() {
    let ogd = Ogd::new(OgdParams::default(), Problem::new(2, 1), 0).expect("valid");
    let x = Features::Dense(&[1.0]);
    for (size, rounds, seeds) in [(1, 20, 4000), (5, 20, 800), (30, 20, 1)] {
        let mut counts = [0u32; 20];
        for seed in 0..seeds {
            let mut sampled = OnlineToBatch::new(ogd.clone(), size, seed);
            let mut at = sampled.prediction();
            for _ in 0..rounds {
                sampled.predict(x, &mut at);
                sampled.update(x, Target::class(0), &at);
            }
            let (learner, average) = sampled.into_parts();
            assert_eq!((learner.rounds(), average.members().len()), (rounds, size.min(20)));
            average.members().iter().for_each(|member| counts[member.rounds() as usize] += 1);
        }
        let expected = seeds as f64 * size.min(20) as f64 / 20.0;
        let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // The rounds are drawn without replacement, so that the variance of the counts is smaller.
        assert!(chi_square < 43.8, "{size}: {chi_square} {counts:?}");
        assert!(chi_square > 3.0 || size == 30, "{size}: {chi_square}, too even to be drawn {counts:?}");
    }
}

/// Jensen: the loss of the average is at most the average of the losses, on every row and label.
#[test]
fn the_average_loses_less_than_its_members_on_average() {
    for (name, classes) in
        [("folklore", 3), ("gaf", 3), ("ogd", 3), ("kernel-aioli", 2), ("gaptron-hinge", 3)]
    {
        let mut sampled = OnlineToBatch::new(make(name, classes), 6, 3);
        plays(&mut sampled, 80);
        let (_, average) = sampled.into_parts();
        let mut at = average.prediction();
        let mut rng = Rng::new(1, 1);
        let mut better = 0;
        for _ in 0..20 {
            let x = row(&mut rng);
            average.predict(Features::Dense(&x), &mut at);
            assert_close(at.probabilities.iter().sum(), 1.0, 1e-12, "probabilities");
            for label in 0..classes {
                let p = at.members.iter().map(|member| member.probabilities[label]);
                let losses: f64 = p.clone().map(|p| -p.max(LEAST_PROBABILITY).ln()).sum();
                let loss = logistic::loss(&at.scores, label);
                assert!(loss <= losses / 6.0 + 1e-12, "{name}: {loss} {losses}");
                better += usize::from(loss < losses / 6.0 - 1e-9);
                assert_close(at.probabilities[label], p.sum::<f64>() / 6.0, 1e-14, "mean");
            }
        }
        assert!(better > 0, "{name}: the snapshots are all the same");
    }
}

#[test]
fn values_are_averaged_and_one_is_passed_on() {
    let mut vaw = OnlineToBatch::new(make("vaw", 1), 3, 0);
    let (mut at, mut rng) = (vaw.prediction(), Rng::new(4, 0));
    for _ in 0..30 {
        let x = row(&mut rng);
        vaw.predict(Features::Dense(&x), &mut at);
        vaw.update(Features::Dense(&x), Target::value(x[0]), &at);
    }
    let average = vaw.into_parts().1;
    let mut at = average.prediction();
    average.predict(Features::Dense(&[0.3; 4]), &mut at);
    let sum: f64 = at.members.iter().map(|member| member.scores[0]).sum();
    assert_eq!((at.scores[0], at.probabilities.len()), (sum / 3.0, 0));

    let mut folklore = make("folklore", 3);
    plays(&mut *folklore, 20);
    let alone = Average::new(vec![folklore.clone()]);
    let (mut at, mut want) = (alone.prediction(), folklore.prediction());
    alone.predict(Features::Dense(&[0.3; 4]), &mut at);
    folklore.predict(Features::Dense(&[0.3; 4]), &mut want);
    assert_eq!((at.scores, at.probabilities), (want.scores, want.probabilities));
}

/// Six rows in the plane with the probability of class 1 for each: all expected losses are computed exactly.
struct World {
    rows: Vec<f64>,
    ones: Vec<f64>,
}

impl World {
    fn new() -> Self {
        let angles = (0..6).map(|i| f64::from(i) * std::f64::consts::PI / 3.0);
        let rows: Vec<f64> = angles.flat_map(|a| [a.cos(), a.sin()]).collect();
        let ones = rows.chunks_exact(2).map(|x| logistic::sigmoid(2.0 * x[0] - x[1])).collect();
        Self { rows, ones }
    }

    fn row(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[2 * at..][..2])
    }

    fn expected_loss(&self, predictor: &dyn Predictor) -> f64 {
        let mut at = predictor.prediction();
        let loss = |i: usize| {
            predictor.predict(self.row(i), &mut at);
            logistic::soft_loss(&at.scores, &[1.0 - self.ones[i], self.ones[i]])
        };
        (0..6).map(loss).sum::<f64>() / 6.0
    }

    fn least_loss(&self, norm: f64) -> f64 {
        let soft: Vec<f64> = self.ones.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let data = Data::new(2, 2, Rows::Dense(&self.rows), Labels::Distributions(&soft)).expect("checked");
        let best = best_in_hindsight(&data, Ball::Euclidean, norm, Stop::default()).expect("norm > 0");
        (best.value - best.gap) / 6.0
    }
}

/// Equation (1) for AIOLI, with the mean over fixed seeds as the expectation. The expected loss of the first
/// state, ln 2, is far above the bound: a sampler that always drew it would fail.
#[test]
fn the_expected_excess_loss_is_within_the_bound() {
    let (world, rounds, norm) = (World::new(), 400, 2.0);
    let least = world.least_loss(norm);
    let setting = Setting { classes: 2, features: 2, radius: 1.0, norm, rounds: f64::from(rounds) };
    let bound = aioli(&setting, 1.0 / (norm * norm)) / f64::from(rounds);
    for size in [1, 8] {
        let seeds = 60;
        let mut total = 0.0;
        for seed in 0..seeds {
            let params = AioliParams::new().norm(norm);
            let aioli = Aioli::new(params, Problem::new(2, 2).with_radius(1.0), 0).expect("valid");
            let untaught = world.expected_loss(&aioli) - least;
            assert!(untaught > 2.0 * bound, "{untaught} {bound}");
            let mut sampled = OnlineToBatch::new(aioli, size, seed);
            let (mut at, mut rng) = (sampled.prediction(), Rng::new(seed, 7));
            for _ in 0..rounds {
                let row = rng.below(6) as usize;
                let label = usize::from(rng.uniform() < world.ones[row]);
                sampled.predict(world.row(row), &mut at);
                sampled.update(world.row(row), Target::class(label), &at);
            }
            total += world.expected_loss(&sampled.into_parts().1) - least;
        }
        let excess = total / seeds as f64;
        assert!(excess > 0.0 && excess <= bound, "{size}: {excess} {bound}");
    }
}

#[test]
fn a_saved_average_predicts_the_same() {
    for (name, classes, size) in [("folklore", 3, 4), ("gaf", 5, 3), ("vaw", 1, 2), ("ogd", 3, 1)] {
        let mut sampled = OnlineToBatch::new(make(name, classes), size, 1);
        let (mut at, mut rng) = (sampled.prediction(), Rng::new(2, 0));
        for t in 0..25 {
            let x = row(&mut rng);
            sampled.predict(Features::Dense(&x), &mut at);
            let y = if classes == 1 { Target::value(x[1]) } else { Target::class(t % classes) };
            sampled.update(Features::Dense(&x), y, &at);
        }
        let mut average = sampled.into_parts().1;
        let archive = Archive::from_bytes(&average.archive().to_bytes()).expect("just written");
        let loaded = Average::from_archive(&archive).expect("just written");
        assert_eq!(loaded.members().len(), size);
        let (mut at, mut want) = (loaded.prediction(), average.prediction());
        for _ in 0..5 {
            let x = row(&mut rng);
            loaded.predict(Features::Dense(&x), &mut at);
            average.predict(Features::Dense(&x), &mut want);
            assert_eq!((&at.scores, &at.probabilities), (&want.scores, &want.probabilities));
        }
        match archive.model().map(drop) {
            Ok(()) => assert_eq!(size, 1, "{name}"),
            Err(error) => assert!(error.to_string().ends_with("can predict but not learn"), "{error}"),
        }
    }
}

#[test]
fn damaged_averages_are_refused() {
    let mut parts = Average::new(vec![make("folklore", 3), make("folklore", 3)]);
    let whole = parts.archive();
    let refused = |change: &dyn Fn(&mut Archive), sentence: &str| {
        let mut archive = whole.clone();
        change(&mut archive);
        let error = Average::from_archive(&archive).map(drop).expect_err("damaged").to_string();
        assert!(error.contains(sentence), "{error}");
    };
    refused(&|archive| archive.set_text("snapshots", "0"), "it has no snapshots");
    refused(&|archive| archive.set_text("snapshots", "99999999999"), "its metadata has no 'algorithm'");
    refused(&|archive| archive.set_text("snapshots", "many"), "its 'snapshots': ");
    refused(
        &|archive| archive.nest("snapshot/1", Archive::of(&mut *make("folklore", 4))),
        "its snapshots are of different kinds",
    );
}

/// A reservoir saved in the middle of a stream continues identically, with its generator and snapshots.
#[test]
fn the_reservoir_is_part_of_the_state() {
    let new = || OnlineToBatch::new(make("folklore", 3), 2, 9);
    let mut original = new();
    plays(&mut original, 12);
    let mut copy = loaded(&mut original, new());
    for sampled in [&mut original, &mut copy] {
        plays(sampled, 40);
    }
    let drawn = |sampled: OnlineToBatch<Box<dyn Model>>| -> Vec<(u64, Option<Promise>)> {
        let average = sampled.into_parts().1;
        average.members().iter().map(|member| (member.rounds(), member.certificate())).collect()
    };
    assert_eq!(drawn(copy), drawn(original));
}

/// After the first round, only snapshots allocate memory, each as much as a copy of the learner.
#[test]
fn only_snapshots_allocate() {
    let mut sampled = OnlineToBatch::new(make("folklore", 3), 1, 6);
    let mut at = sampled.prediction();
    let (mut rng, mut drawn) = (Rng::new(3, 0), 0);
    for t in 0..200u64 {
        let x = row(&mut rng);
        let before = sampled.snapshots[0].rounds();
        let mut next = None;
        let taken = allocation_counter::measure(|| {
            sampled.predict(Features::Dense(&x), &mut at);
            sampled.update(Features::Dense(&x), Target::class(t as usize % 3), &at);
            next = Some(sampled.snapshots[0].rounds());
        });
        let replaced = next != Some(before);
        drawn += usize::from(replaced);
        assert!(
            t == 0 || replaced == (taken.count_total > 0),
            "round {t}: {} allocations",
            taken.count_total
        );
    }
    // 1 + ln 200 = 6.3 in expectation.
    assert!((2..=12).contains(&drawn), "{drawn}");
}

/// A wrapped or boxed learner behaves as the learner: every method is forwarded.
#[test]
fn wrappers_forward_everything() {
    let mut plain = make("folklore", 3);
    let mut sampled = OnlineToBatch::new(plain.clone(), 2, 0);
    let (played, wrapped) = (plays(&mut *plain, 30), plays(&mut sampled, 30));
    assert_eq!(played, wrapped);
    let facts = |learner: &mut dyn OnlineLearner| {
        let ahead = learner.look_ahead().map(|ahead| ahead.lookahead());
        let Some(Guarantee::Regret { bound, norm, .. }) = learner.guarantee() else {
            panic!("folklore has a guarantee")
        };
        (learner.rounds(), ahead, learner.certificate(), bound, norm, learner.problem().clone())
    };
    assert_eq!(facts(&mut *plain), facts(&mut plain.clone()));
    assert_eq!(facts(&mut *plain), facts(&mut sampled));
    assert!(sampled.grow(4, 6) && plain.grow(4, 6));
    assert_eq!(facts(&mut *plain), facts(&mut sampled));
    let average = sampled.into_parts().1;
    assert!(average.members().iter().all(|member| member.problem().features == 6));
    let mut plain = make("adaboost-olm", 3);
    let mut sampled = OnlineToBatch::new(plain.clone(), 2, 0);
    assert_eq!(plays(&mut *plain, 30), plays(&mut sampled, 30));
    let told = |learner: &dyn OnlineLearner| {
        let mut at = learner.prediction();
        learner.predict(Features::Dense(&vec![0.1; learner.problem().features]), &mut at);
        let inside = learner.inside().expect("it has edges");
        (inside.figures(), inside.explain(&at))
    };
    assert!(told(&*plain).0[0].1.iter().any(|edge| *edge != 0.0));
    assert_eq!(told(&*plain), told(&plain));
    assert_eq!(told(&*plain), told(&sampled));
    let auto = make("auto", 3);
    let weights = |learner: &dyn OnlineLearner| learner.inside().expect("it has members").weights();
    assert!(!weights(&*auto).is_empty() && weights(&auto) == weights(&*auto));
    assert_eq!(weights(&OnlineToBatch::new(auto.clone(), 1, 0)), weights(&auto));
}

/// A box hands on all that only some learners can; a conversion, whose rounds come one by one, some of it.
#[test]
fn wrappers_hand_on_what_some_learners_can() {
    let abilities = |learner: &mut dyn OnlineLearner| {
        let told =
            [learner.look_ahead().is_some(), learner.abstaining().is_some(), learner.inside().is_some()];
        let others = [
            learner.together().is_some(),
            learner.settling().is_some(),
            learner.divided().is_some(),
            learner.few_labels().is_some(),
        ];
        (told, others)
    };
    for (name, classes, told, others) in [
        ("auto", 3, [true, false, true], [true, true, true, false]),
        ("folklore", 3, [true, false, false], [false; 4]),
        ("ons", 3, [true, false, false], [false; 4]),
        ("label-tree", 300, [false, false, true], [false, false, false, true]),
        ("adahedge-abstain", 2, [false, true, true], [false; 4]),
    ] {
        let mut learner = make(name, classes);
        assert_eq!(abilities(&mut *learner), (told, others), "{name}");
        assert_eq!(abilities(&mut learner), (told, others), "{name} in a box");
        let mut sampled = OnlineToBatch::new(learner, 2, 0);
        assert_eq!(abilities(&mut sampled), (told, [false; 4]), "{name} with snapshots");
    }
}
