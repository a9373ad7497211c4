use super::*;
use crate::model::Archive;
use crate::param::{ParamValue, Params, Value, Values};
use crate::rng::{Rng, Uniforms};
use crate::testing::{Threads, plays, unit_rows};

fn auto(classes: usize, features: usize, values: &[(&str, &str)]) -> Auto {
    let values: Values =
        values.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
    let params = AutoParams::from_values("auto", &values).expect("known names");
    Auto::new(params, Problem::new(classes, features).with_radius(1.0), 0).expect("valid parameters")
}

/// Plays `rounds` rounds in which class and row are what `round` makes of a generator; the total losses of
/// what was played, of every head, and of every stack.
fn losses(
    auto: &mut Auto,
    rounds: usize,
    round: impl Fn(usize, &mut Rng) -> (Vec<f64>, usize),
) -> (f64, Vec<f64>) {
    let (mut rng, mut at) = (Rng::new(5, 0), auto.prediction());
    let (mut total, mut others) = (0.0, Vec::new());
    // Not of those that join later.
    let words = auto.roster.words.len();
    for t in 0..rounds {
        let (x, class) = round(t, &mut rng);
        let (x, y) = (Features::Dense(&x), Target::class(class));
        auto.predict(x, &mut at);
        total += y.log_loss(&at.probabilities);
        let (inputs, stacks) = at.members.split_at(auto.roster.words.len());
        let members = inputs.iter().zip(&auto.roster.words).take(words);
        let heads = members.flat_map(|(input, word)| input.members.iter().take(word.heads()));
        let all: Vec<f64> =
            heads.chain(&stacks[..STACKS.len()]).map(|at| y.log_loss(&at.probabilities)).collect();
        others.resize(all.len(), 0.0);
        others.iter_mut().zip(&all).for_each(|(sum, loss)| *sum += loss);
        auto.update(x, y, &at);
    }
    (total, others)
}

/// A class that depends on the row, more or less.
fn noisy(_: usize, rng: &mut Rng) -> (Vec<f64>, usize) {
    let x: Vec<f64> = (0..4).map(|_| rng.uniform() - 0.5).collect();
    let class = if rng.uniform() < 0.2 {
        rng.below(3) as usize
    } else if x[0] > 0.1 {
        0
    } else {
        1 + usize::from(x[1] * x[2] > 0.0)
    };
    (x, class)
}

/// A class that repeats the one before nine times out of ten, and rows that say nothing.
fn sticky(t: usize, rng: &mut Rng) -> (Vec<f64>, usize) {
    (vec![0.5, rng.uniform() - 0.5, 0.0, 0.0], t / 10 % 3)
}

/// Equation (3): no member is better by more than the logarithm of the prior.
#[test]
fn no_head_is_much_better_than_the_mixture() {
    for round in [noisy, sticky] {
        let mut auto = auto(3, 4, &[]);
        let (total, others) = losses(&mut auto, 1500, round);
        let (members, heads) =
            (auto.roster.words.len() as f64, auto.roster.words.iter().map(|word| word.heads()).max());
        let bound =
            members.ln() + (heads.expect("some") as f64).ln() + (1.0 + STACKS.len() as f64).ln() + 8f64.ln();
        let best = others.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(total <= best + bound, "{total} against {best} + {bound}");
    }
}

#[test]
fn products_and_repetitions_are_found() {
    let mut learner = auto(3, 4, &[("members", "labels+pairs+shared@0.01+products@0.01+full@0.01")]);
    losses(&mut learner, 1500, noisy);
    let numbers = learner.weights();
    assert!((numbers.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-9, "{numbers:?}");
    let share = |auto: &Auto, name: &str| -> f64 {
        auto.roster
            .words
            .iter()
            .zip(auto.roster.shares())
            .filter(|(word, _)| word.to_string().starts_with(name))
            .map(|(_, share)| share)
            .sum()
    };
    assert!(share(&learner, "products") > 0.99, "{numbers:?}");
    let mut learner = auto(3, 4, &[]);
    let (total, _) = losses(&mut learner, 1500, sticky);
    // A tenth of the rounds changes the class, to one of two: 0.325 nats, and the change is not even random.
    assert!(total < 0.36 * 1500.0, "{total}");
}

/// A grid that is a thousand times too high extends itself, and then loses hardly more than one that is
/// right; saved and loaded it goes on as before, and feedback that was late for the joining counts.
#[test]
fn the_grid_extends_itself() {
    let mut right = auto(3, 4, &[("members", "labels+shared@0.1+shared@0.01+full@0.1+full@0.01")]);
    let (best, _) = losses(&mut right, 2000, noisy);
    let mut wrong = auto(3, 4, &[("members", "labels+shared@1000+shared@100+full@1000+full@100")]);
    losses(&mut wrong, 31, noisy);
    let (mut early, x) = (wrong.prediction(), Features::Dense(&[0.5, 0.1, 0.0, -0.2]));
    wrong.predict(x, &mut early);
    let (total, _) = losses(&mut wrong, 1000, noisy);
    let words = wrong.roster.words.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
    assert!(
        words.starts_with("labels+shared@1000+shared@100+full@1000+full@100+shared@10+full@10"),
        "{words}"
    );
    assert!(words.split('+').any(|word| word == "full@1"), "{words}");
    wrong.update(x, Target::class(1), &early);
    let (more, _) = losses(&mut wrong, 968, noisy);
    assert!(total + more < 1.1 * best, "{total} + {more} against {best}");
    let file = Archive::of(&mut wrong);
    let mut loaded = file.model().expect("just saved");
    assert_eq!(file, Archive::of(&mut *loaded));
    assert_eq!(plays(&mut *loaded, 100), plays(&mut wrong, 100));
}

/// How large rows are need not be given.
#[test]
fn units_make_no_difference() {
    let scaled = |scale: f64| {
        let mut learner = auto(3, 4, &[]);
        losses(&mut learner, 300, move |t, rng| {
            let (x, y) = noisy(t, rng);
            (x.iter().map(|x| scale * x).collect(), y)
        })
        .0
    };
    let want = scaled(1.0);
    for scale in [2f64.powi(-40), 0.25, 2f64.powi(60)] {
        assert_eq!(scaled(scale), want, "powers of two change nothing at all");
    }
    for scale in [1e-4, 0.3, 1e5] {
        assert!((scaled(scale) - want).abs() < 0.03 * want, "{} against {want}", scaled(scale));
    }
}

/// With two expensive members and a budget for one, the better one stays; saved and loaded, it goes on as
/// before.
#[test]
fn the_budget_is_kept_and_survives_saving() {
    let members = "labels+shared@100000+full@0.01";
    let mut learner = auto(3, 4, &[("members", members)]);
    learner.limit = 30_000.0;
    assert!(learner.roster.work() > 30_000.0);
    losses(&mut learner, 2047, noisy);
    assert_eq!(learner.params().members.map(|lineup| lineup.to_value()), Some(Value::from(members)));
    losses(&mut learner, 6145, noisy);
    let left = learner.params().members.map(|lineup| lineup.to_value().to_string()).expect("in use");
    assert!(left.contains("-shared@100000"), "{left}");
    let file = Archive::of(&mut learner);
    let mut loaded = file.model().expect("just saved");
    assert_eq!(file, Archive::of(&mut *loaded));
    assert_eq!(plays(&mut *loaded, 100), plays(&mut learner, 100));
}

/// The leader may cost more than the whole budget, and the others nearly nothing: the leader stays.
#[test]
fn the_leader_stays() {
    let mut learner = auto(3, 100, &[("members", "labels+diagonal@0.1:0.1+diagonal@0.01:0.1")]);
    learner.limit = 500.0;
    let wide = |t: usize, rng: &mut Rng| {
        let (x, y) = noisy(t, rng);
        ([x, vec![0.0; 96]].concat(), y)
    };
    losses(&mut learner, 2 * SETTLED as usize, wide);
    let staying: Vec<String> = learner.roster.active().map(|(word, _)| word.to_string()).collect();
    assert!(staying.len() == 2 && staying[1].starts_with("diagonal"), "{staying:?}");
}

/// The only member of a kind is kept before a better one of a kind that has an even better one.
#[test]
fn kinds_outlast_members() {
    let mut learner = auto(3, 4, &[("members", "labels+shared@10+waves@0.01:0.3+waves@0.01:0.4")]);
    learner.limit = learner.roster.work() - 1.0;
    let (_, lost) = losses(&mut learner, 2047, noisy);
    let best = |heads: std::ops::Range<usize>| lost[heads].iter().copied().fold(f64::INFINITY, f64::min);
    let (shared, waves) = (best(3..8), best(8..13).max(best(13..18)));
    assert!(waves < shared, "{waves} against {shared}: both with waves are better");
    losses(&mut learner, SETTLED as usize, noisy);
    let left = learner.roster.lineup().0;
    let left: Vec<String> = left.iter().filter(|place| place.left).map(ToString::to_string).collect();
    assert!(left.len() == 1 && left[0].starts_with("-waves"), "{left:?}");
}

/// Predicted with a member that has left by the time the label comes.
#[test]
fn feedback_may_come_after_somebody_left() {
    let mut learner = auto(3, 4, &[("members", "labels+shared@100000+shared@0.01")]);
    learner.limit = 5000.0;
    losses(&mut learner, 2047, noisy);
    let (mut early, mut at) = (learner.prediction(), learner.prediction());
    let x = Features::Dense(&[0.5, 0.1, 0.0, -0.2]);
    learner.predict(x, &mut early);
    learner.predict(x, &mut at);
    learner.update(x, Target::class(0), &at);
    assert!(learner.roster.lineup().0.iter().any(|place| place.left), "{:?}", learner.roster.lineup());
    learner.update(x, Target::class(1), &early);
    learner.predict(x, &mut early);
    learner.predict(x, &mut at);
    assert_eq!(early.probabilities, at.probabilities);
    assert!((at.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn short_streams_may_cost_more_a_round() {
    let budget = |problem: Problem| Auto::new(AutoParams::default(), problem, 0).expect("valid").budget;
    assert_eq!(budget(Problem::new(3, 4)), 0.8);
    assert_eq!(budget(Problem::new(3, 4).with_horizon(1_000_000)), 0.8);
    assert_eq!(budget(Problem::new(3, 4).with_horizon(4000)), 5.0);
    assert_eq!(budget(Problem::new(3, 4).with_horizon(10)), 8.0);
}

/// Less work than that of the least budget would not be worth its while.
#[test]
fn small_budgets_are_alike() {
    let members = |budget: &str| auto(10, 65, &[("budget", budget)]).params().members;
    assert_eq!(members("0.001"), members("0.8"));
    assert_ne!(members("0.8"), members("2"));
}

#[test]
fn bad_members_are_refused() {
    let values = Values::from([("members".to_owned(), Value::from("labels+everything"))]);
    let error = AutoParams::from_values("auto", &values).expect_err("no such member").to_string();
    assert!(error.starts_with("members = labels+everything: must be words as labels, pairs, "), "{error}");
}

/// Threads share the members; how many there are changes no bit.
#[test]
fn threads_change_no_bit() {
    let played = |threads: usize| {
        let mut auto = auto(6, 20, &[("budget", "2")]);
        assert!(auto.roster.work() > 400_000.0, "worth sharing: {}", auto.roster.work());
        if threads > 1 {
            auto.set_workers(Workers::new(Threads(threads)));
        }
        let rows = unit_rows(9, 90, 20);
        let features: Vec<Features<'_>> = rows.iter().map(|x| Features::Dense(x)).collect();
        let all = &features[..];
        auto.prepare(&all);
        let (mut at, mut forecasts) = (auto.prediction(), Vec::new());
        for (t, x) in rows.iter().enumerate() {
            auto.predict(Features::Dense(x), &mut at);
            forecasts.extend(at.probabilities.iter().map(|p| p.to_bits()));
            auto.update(Features::Dense(x), Target::class((t * t / 3) % 6), &at);
        }
        auto.predict_batch(&all, &mut at, &mut |_, at| {
            forecasts.extend(at.probabilities.iter().map(|p| p.to_bits()));
        });
        forecasts
    };
    let alone = played(1);
    for threads in [2, 3] {
        assert!(played(threads) == alone, "{threads} threads");
    }
}
