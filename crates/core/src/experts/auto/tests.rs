use std::fmt::Debug;
use std::ops::Range;

use super::member::Member;
use super::*;
use crate::model::{Archive, Data, Numbers};
use crate::param::{ParamValue, Params, Value, Values};
use crate::prediction::argmax;
use crate::rng::{Rng, Uniforms};
use crate::state::{Slot, unpack};
use crate::testing::{plays, state_of};

mod ahead;
mod attack;
mod divided;

fn auto(classes: usize, features: usize, values: &[(&str, &str)]) -> Auto {
    let values: Values =
        values.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
    let params = AutoParams::from_values("auto", &values).expect("known names");
    Auto::new(params, Problem::new(classes, features).with_radius(1.0), 0).expect("valid parameters")
}

/// Plays `rounds` rounds, each with the row and the class that `round` draws. Returns the total losses of the
/// played forecasts, of every head, and of every stack.
fn losses(
    auto: &mut Auto,
    rounds: usize,
    round: impl Fn(usize, &mut Rng) -> (Vec<f64>, usize),
) -> (f64, Vec<f64>) {
    let by_round = losses_by_round(auto, rounds, round);
    let mut others = vec![0.0; by_round[0].1.len()];
    for (_, all) in &by_round {
        others.iter_mut().zip(all).for_each(|(sum, loss)| *sum += loss);
    }
    (by_round.iter().map(|(played, _)| played).sum(), others)
}

/// The same, by round.
fn losses_by_round(
    auto: &mut Auto,
    rounds: usize,
    round: impl Fn(usize, &mut Rng) -> (Vec<f64>, usize),
) -> Vec<(f64, Vec<f64>)> {
    let (mut rng, mut at) = (Rng::new(5, 0), auto.prediction());
    let mut by_round = Vec::new();
    // Members that join later are not counted.
    let count = auto.roster.lineup().0.len();
    for t in 0..rounds {
        let (x, class) = round(t, &mut rng);
        let (x, y) = (Features::Dense(&x), Target::class(class));
        auto.predict(x, &mut at);
        let played = y.log_loss(&at.probabilities);
        let (inputs, stacks) = at.members.split_at(auto.roster.lineup().0.len());
        let members = inputs.iter().zip(auto.roster.lineup().0).take(count);
        let loss = |at: &Prediction| y.log_loss(&at.probabilities);
        // The heads of members that were dropped lose everything.
        let heads = members.flat_map(|(input, place)| {
            (0..place.member.heads()).map(|head| input.members.get(head).map_or(f64::INFINITY, loss))
        });
        let all: Vec<f64> = heads.chain(stacks[..STACKS.len()].iter().map(loss)).collect();
        by_round.push((played, all));
        auto.update(x, y, &at);
    }
    by_round
}

/// A class that depends on the row, with noise.
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

/// A class that equals the previous one with probability 0.9, and rows that are independent of it.
fn sticky(t: usize, rng: &mut Rng) -> (Vec<f64>, usize) {
    (vec![0.5, rng.uniform() - 0.5, 0.0, 0.0], t / 10 % 3)
}

/// Equation (3): the mixture's loss exceeds that of every head by at most the logarithms of the prior.
#[test]
fn no_head_is_much_better_than_the_mixture() {
    for round in [noisy, sticky] {
        let mut auto = auto(3, 4, &[]);
        let (total, others) = losses(&mut auto, 1500, round);
        let (members, heads) = (
            auto.roster.lineup().0.len() as f64,
            auto.roster.lineup().0.iter().map(|place| place.member.heads()).max(),
        );
        let bound =
            members.ln() + (heads.expect("some") as f64).ln() + (1.0 + STACKS.len() as f64).ln() + 8f64.ln();
        let best = others.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(total <= best + bound, "{total} against {best} + {bound}");
        let Some(Guarantee::AdaptiveRegret { total: Ok(promised), .. }) = auto.guarantee() else {
            panic!("it has one")
        };
        assert!((promised - bound).abs() < 1e-9, "{promised} is not {bound}");
    }
}

/// Draws row and class of a round.
type Round<'a> = &'a dyn Fn(usize, &mut Rng) -> (Vec<f64>, usize);

/// Equation (4), in many intervals of a stream whose classes are exchanged and of one that only repeats them,
/// for heads and for stacks; in many of these the bound is below the loss of a guess.
#[test]
fn the_loss_of_every_interval_is_within_the_bound() {
    let exchanged = |t: usize, rng: &mut Rng| {
        let (x, class) = noisy(t, rng);
        (x, (class + t / 800) % 3)
    };
    let streams: [Round<'_>; 2] = [&exchanged, &|t, rng| {
        if t / 500 % 2 == 0 { sticky(t, rng) } else { noisy(t, rng) }
    }];
    for round in streams {
        let mut auto = auto(3, 4, &[("members", "labels+pairs+trees+shared@0.01+products@0.01+full@0.01")]);
        let by_round = losses_by_round(&mut auto, 2400, round);
        let stacks = by_round[0].1.len() - STACKS.len();
        let heads = auto.roster.combined.heads();
        let mut bites = 0;
        for first in (2..2400u64).step_by(37) {
            let mut sums = vec![0.0; 1 + by_round[0].1.len()];
            for last in first..=2400 {
                let (played, all) = &by_round[last as usize - 1];
                let losses = std::iter::once(played).chain(all);
                sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
                let (own, others) = sums.split_first().expect("the first is what was played");
                let least = |sums: &[f64]| sums.iter().copied().fold(f64::INFINITY, f64::min);
                let of_stacks = adaptive_regret(1 + STACKS.len(), first, last);
                let of_heads = of_stacks + adaptive_regret(heads, first, last) + 2f64.ln();
                for (members, bound) in [(&others[..stacks], of_heads), (&others[stacks..], of_stacks)] {
                    let regret = own - least(members);
                    assert!(regret <= bound, "{regret} beyond {bound} in [{first}, {last}]");
                    bites += u64::from(bound < 3f64.ln() * (last - first + 1) as f64);
                }
            }
        }
        assert!(bites > 50_000, "{bites}");
        let Some(Guarantee::AdaptiveRegret { bound: Ok(bound), .. }) = auto.guarantee() else {
            panic!("it has one")
        };
        let last =
            adaptive_regret(heads, 2400, 2400) + adaptive_regret(1 + STACKS.len(), 2400, 2400) + 2f64.ln();
        assert!((bound - last).abs() < 1e-9 && bound < 60.0, "{bound}");
    }
}

#[test]
fn products_and_repetitions_are_found() {
    let mut learner = auto(3, 4, &[("members", "labels+pairs+shared@0.01+products@0.01+full@0.01")]);
    losses(&mut learner, 1500, noisy);
    let numbers = learner.weights();
    assert!((numbers.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-9, "{numbers:?}");
    let share = |auto: &Auto, name: &str| -> f64 {
        let members = auto.roster.active().filter(|(word, _)| word.to_string().starts_with(name));
        members.map(|(_, share)| share).sum()
    };
    assert!(share(&learner, "products") > 0.99, "{numbers:?}");
    let mut learner = auto(3, 4, &[]);
    let (total, _) = losses(&mut learner, 1500, sticky);
    // In a tenth of the rounds the class changes to one of two: 0.325 nats a round, and the change is not
    // random.
    assert!(total < 0.36 * 1500.0, "{total}");
}

/// A grid that starts a thousand times too high is extended, and then loses hardly more than a well placed
/// one; it continues identically after saving and loading; members that joined after a prediction are charged
/// for its round.
#[test]
fn the_grid_extends_itself() {
    let mut right = auto(3, 4, &[("members", "labels+shared@0.1+shared@0.01+full@0.1+full@0.01")]);
    let (best, _) = losses(&mut right, 2000, noisy);
    let mut wrong = auto(3, 4, &[("members", "labels+shared@1000+shared@100+full@1000+full@100")]);
    losses(&mut wrong, 31, noisy);
    let (mut early, x) = (wrong.prediction(), Features::Dense(&[0.5, 0.1, 0.0, -0.2]));
    wrong.predict(x, &mut early);
    let (total, _) = losses(&mut wrong, 1000, noisy);
    // Whether they were dropped since or not.
    let words = wrong.roster.lineup().to_value().to_string().replace('-', "");
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

/// After the classes were exchanged, members that have learnt the old ones are replaced, so that the loss is
/// soon near that of a learner which has seen nothing before: the mean over several streams. The learner
/// continues identically after saving and loading.
#[test]
fn members_begin_anew_after_a_switch() {
    const SWITCH: usize = 800;
    let made = || auto(3, 4, &[("members", "labels+neighbours+trees+shared@0.1+full@0.1")]);
    let last =
        |rounds: &[(f64, Vec<f64>)]| rounds[rounds.len() - 400..].iter().map(|(loss, _)| loss).sum::<f64>();
    let (mut own, mut new) = (0.0, 0.0);
    let mut learner = made();
    for seed in 0..4 {
        let round = |t: usize| {
            let mut rng = Rng::new(seed, t as u64);
            let x: Vec<f64> = (0..4).map(|_| rng.uniform() - 0.5).collect();
            let class = argmax(&x[..3]);
            (x, if t < SWITCH { class } else { (class + 1) % 3 })
        };
        learner = made();
        own += last(&losses_by_round(&mut learner, SWITCH + 1200, |t, _| round(t)));
        new += last(&losses_by_round(&mut made(), 1200, |t, _| round(SWITCH + t)));
    }
    assert!(own < 1.05 * new, "{own} against {new}");
    let file = Archive::of(&mut learner);
    let mut loaded = file.model().expect("just saved");
    assert_eq!(plays(&mut *loaded, 100), plays(&mut learner, 100));
}

/// Results do not depend on the scale of the rows.
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

/// Of sparse rows with two views, `diagonals` take both, and all others the first, from the first row on; the
/// learner continues identically after saving and loading, also before the unit is known.
#[test]
fn sparse_rows_have_two_views() {
    let problem = Problem::new(2, 6).with_sparse(true);
    let make = |members: &str| {
        let members = Lineup::from_value(&Value::from(members));
        Auto::new(AutoParams { members, ..Default::default() }, problem.clone(), 1).expect("valid")
    };
    // The class is in the second view only, or in none.
    let row = |t: usize, informative: bool| {
        let y = Rng::new(3, t as u64).below(2) as usize;
        let v = if informative && y == 1 { -0.6 } else { 0.6 };
        ([0, 2 + (t % 3) as u32], vec![2.0, 1.0 + (t % 5) as f64, 0.8, v], Target::class(y))
    };
    let play = |learner: &mut dyn OnlineLearner, range: Range<usize>, informative: bool| {
        let (mut at, mut losses) = (learner.prediction(), Vec::new());
        for t in range {
            let (indices, values, y) = row(t, informative);
            let x = Features::Sparse { indices: &indices, values: &values };
            learner.predict(x, &mut at);
            losses.push(y.log_loss(&at.probabilities));
            learner.update(x, y, &at);
        }
        losses
    };
    let total = |members: &str, informative: bool| -> f64 {
        play(&mut make(members), 0..200, informative).iter().sum()
    };
    assert!(total("labels+diagonals@9", true) < 0.7 * total("labels+diagonals@9", false));
    let others = "labels+booster+trees+forest+neighbours+shared@0.1+products@0.1+waves@0.1:0.5";
    assert_eq!(total(others, true), total(others, false), "the first view only");
    for at in [3, 100] {
        let mut learner = make("labels+diagonals@9+shared@0.1");
        play(&mut learner, 0..at, true);
        let mut loaded = Archive::of(&mut learner).model().expect("just saved");
        assert_eq!(play(&mut *loaded, at..200, true), play(&mut learner, at..200, true), "after {at} rows");
    }
}

/// Of sparse rows in more than 1024 features, `part` takes the third view, the numbers of the data: the class
/// is in that view only, or in none.
#[test]
fn part_takes_the_numbers_of_the_data() {
    let problem = Problem::new(2, 1100).with_sparse(true);
    let members = Lineup::from_value(&Value::from("labels+part"));
    let late_loss = |informative: bool| -> f64 {
        let params = AutoParams { members: members.clone(), ..Default::default() };
        let mut learner = Auto::new(params, problem.clone(), 1).expect("valid");
        let (mut at, mut rng, mut loss) = (learner.prediction(), Rng::new(3, 0), 0.0);
        for t in 0..400 {
            let y = rng.below(2) as usize;
            let number = if informative && y == 1 { 30.0 } else { 70.0 };
            let indices = [0, 7, 100 + rng.below(1000) as u32];
            let values = [0.1, 0.5, 1.0, 0.6, 0.6, 0.5, 1.0, number, 1.0];
            let (x, y) = (Features::Sparse { indices: &indices, values: &values }, Target::class(y));
            learner.predict(x, &mut at);
            loss += if t < 200 { 0.0 } else { y.log_loss(&at.probabilities) };
            learner.update(x, y, &at);
        }
        loss / 200.0
    };
    let (with, without) = (late_loss(true), late_loss(false));
    assert!(with < 0.1 && without > 0.6, "{with} {without}");
}

/// Of two expensive members, with a budget for one, the better one is kept; the learner continues identically
/// after saving and loading.
#[test]
fn the_budget_is_kept_and_survives_saving() {
    let members = "labels+shared@100000+full@0.01";
    let mut learner = auto(3, 4, &[("members", members)]);
    learner.limit = 30_000.0;
    assert!(learner.roster.work() > 30_000.0);
    losses(&mut learner, DECIDED as usize - 1, noisy);
    assert_eq!(learner.params().members.map(|lineup| lineup.to_value()), Some(Value::from(members)));
    losses(&mut learner, SETTLED as usize, noisy);
    let lineup = learner.params().members.map(|lineup| lineup.to_value().to_string()).expect("in use");
    assert!(lineup.contains("-shared@100000"), "{lineup}");
    let file = Archive::of(&mut learner);
    let mut loaded = file.model().expect("just saved");
    assert_eq!(file, Archive::of(&mut *loaded));
    assert_eq!(plays(&mut *loaded, 100), plays(&mut learner, 100));
}

/// If a model is settled after 4000 rounds, members are dropped at round 512 that are not worth their time,
/// and the budget is kept from round 1024 on; after that it goes on as others do.
#[test]
fn a_trial_is_short_before_a_model_is_settled() {
    let members = "labels+pairs+booster@3:2+trees+shared@0.01+products@0.01+waves@0.3:0.6+products@0.1";
    let dropped = |learner: &Auto| learner.roster.lineup().0.iter().filter(|place| place.dropped).count();
    let (mut usual, mut announced) =
        (auto(3, 4, &[("members", members)]), auto(3, 4, &[("members", members)]));
    announced.settle_after(4000);
    assert_eq!((usual.trial(), announced.trial()), ([DECIDED, SETTLED], [512, 1024]));
    for learner in [&mut usual, &mut announced] {
        losses(learner, 600, noisy);
    }
    assert!(dropped(&usual) == 0 && dropped(&announced) > 0, "{:?}", announced.roster.lineup());
    announced.settle();
    assert_eq!(announced.trial(), [DECIDED, SETTLED]);
}

/// On noise a forest is not worth its time: it stays until all members are within the budget.
#[test]
fn a_forest_is_judged_later() {
    let mut learner =
        auto(3, 4, &[("members", "labels+trees+forest+shared@0.01+products@0.01+products@0.1")]);
    let noise = |_, rng: &mut Rng| ((0..4).map(|_| rng.uniform() - 0.5).collect(), rng.below(3) as usize);
    losses(&mut learner, 1000, noise);
    let names = |learner: &Auto| -> Vec<String> {
        learner.roster.active().map(|(word, _)| word.to_string()).collect()
    };
    let (limit, mut later, before) = (learner.limit, learner.clone(), names(&learner));
    learner.roster.retire(f64::INFINITY, limit, ByWorth::Early);
    let early = names(&learner);
    assert!(early.iter().any(|word| word == "forest"), "{early:?}");
    assert!(early.len() < before.len(), "{before:?} {early:?}");
    later.roster.retire(f64::INFINITY, limit, ByWorth::Everybody);
    let all = names(&later);
    assert!(!all.iter().any(|word| word == "forest"), "{all:?}");
    learner.roster.retire(0.0, limit, ByWorth::Nobody);
    assert!(!names(&learner).iter().any(|word| word == "forest"), "for the limit everybody leaves");
}

/// The leader is kept although it costs more than the whole budget and the others cost little.
#[test]
fn the_leader_is_kept() {
    let mut learner = auto(3, 100, &[("members", "labels+diagonal@0.1:0.1+diagonal@0.01:0.1")]);
    learner.limit = 500.0;
    let wide = |t: usize, rng: &mut Rng| {
        let (x, y) = noisy(t, rng);
        ([x, vec![0.0; 96]].concat(), y)
    };
    losses(&mut learner, 2 * SETTLED as usize, wide);
    let active: Vec<String> = learner.roster.active().map(|(word, _)| word.to_string()).collect();
    assert!(active.len() == 2 && active[1].starts_with("diagonal"), "{active:?}");
}

/// Of two members that forecast nearly alike, each better than the others, one leaves as soon as that is
/// decided, whatever the budget is: without it the stacks would have lost hardly more.
#[test]
fn what_adds_nothing_leaves() {
    let mut learner = auto(3, 4, &[("members", "labels+shared@10+waves@0.01:0.3+waves@0.0101:0.3")]);
    let dropped = |learner: &Auto| -> Vec<String> {
        let lineup = learner.roster.lineup().0;
        lineup.iter().filter(|place| place.dropped).map(ToString::to_string).collect()
    };
    losses(&mut learner, DECIDED as usize - 1, noisy);
    assert_eq!(dropped(&learner), [""; 0]);
    losses(&mut learner, 1, noisy);
    let dropped = dropped(&learner);
    assert!(dropped.len() == 1 && dropped[0].starts_with("-waves"), "{dropped:?}");
}

/// The label of a row arrives after a member that predicted the row was dropped.
#[test]
fn feedback_may_come_after_a_member_was_dropped() {
    let mut learner = auto(3, 4, &[("members", "labels+shared@100000+shared@0.01")]);
    learner.limit = 5000.0;
    losses(&mut learner, 4095, noisy);
    let (mut early, mut at) = (learner.prediction(), learner.prediction());
    let x = Features::Dense(&[0.5, 0.1, 0.0, -0.2]);
    learner.predict(x, &mut early);
    learner.predict(x, &mut at);
    learner.update(x, Target::class(0), &at);
    assert!(learner.roster.lineup().0.iter().any(|place| place.dropped), "{:?}", learner.roster.lineup());
    learner.update(x, Target::class(1), &early);
    learner.predict(x, &mut early);
    learner.predict(x, &mut at);
    assert_eq!(early.probabilities, at.probabilities);
    assert!((at.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

/// Model files of earlier programs have columns for dropped members, which no forecast depends on.
#[test]
fn columns_of_members_that_have_left_are_taken_out() {
    let mut learner = auto(3, 4, &[("members", "labels+shared@10+waves@0.01:0.3+waves@0.0101:0.3")]);
    losses(&mut learner, DECIDED as usize, noisy);
    let gone = learner.roster.lineup().0.iter().position(|place| place.dropped).expect("dropped");
    let whole = Archive::of(&mut learner);
    let mut earlier = whole.clone();
    for stack in 0..STACKS.len() {
        let name = |tensor: &str| format!("learner/stack/{stack}/{tensor}");
        let numbers = |tensor: &str| match &whole.tensor(&name(tensor)).expect("a joint stack").data {
            Data::Real(numbers) => numbers.clone(),
            Data::Count(_) => panic!("real numbers"),
        };
        // The column of the temperature is the first.
        let (mut gradient, mut inverse) = (numbers("gradient"), Vec::new());
        let at = 1 + gone;
        let lower = numbers("inverse");
        for row in 0..=gradient.len() {
            for column in 0..=row {
                let [row, column] =
                    [(row, at), (column, at)].map(|(of, at)| (of != at).then(|| of - usize::from(of > at)));
                inverse.push(match (row, column) {
                    (Some(row), Some(column)) => lower[row * (row + 1) / 2 + column],
                    (None, None) => 1.0,
                    _ => 0.0,
                });
            }
        }
        gradient.insert(at, 0.0);
        for (tensor, numbers) in [("gradient", gradient), ("inverse", inverse)] {
            let shape = vec![numbers.len()];
            earlier.set_tensor(&name(tensor), Numbers { shape, data: Data::Real(numbers) });
        }
    }
    let continued = |archive: &Archive| {
        let mut learner = archive.model().expect("loads");
        let (mut at, mut rng) = (learner.prediction(), Rng::new(4, 0));
        let mut play = |t: usize| {
            let (x, y) = noisy(t, &mut rng);
            learner.predict(Features::Dense(&x), &mut at);
            learner.update(Features::Dense(&x), Target::class(y), &at);
            at.probabilities.clone()
        };
        (0..50).map(&mut play).collect::<Vec<_>>()
    };
    assert_eq!(continued(&earlier), continued(&whole));
}

/// The matrices of members are made when there are rows: a model without rows is small, also when it was
/// loaded.
#[test]
fn a_new_model_has_no_matrices() {
    let matrices = |learner: &mut dyn State| {
        let tensors = learner.tensors();
        let members = tensors.iter().filter(|tensor| tensor.name.starts_with("member/"));
        members.filter(|tensor| matches!(tensor.slot, Slot::Symmetric { .. })).count()
    };
    let mut learner = auto(4, 20, &[]);
    let mut loaded = Archive::of(&mut learner).model().expect("loads");
    assert_eq!((matrices(&mut learner), matrices(&mut loaded)), (0, 0));
}

/// A budget below the least one has no effect.
#[test]
fn small_budgets_are_alike() {
    let members = |budget: &str| auto(10, 65, &[("budget", budget)]).params().members;
    assert_eq!(members("0.001"), members("0.1"));
    assert_ne!(members("0.1"), members("0.6"));
}

/// Checks the state of a member. `fresh` makes an untrained member from a seed, and `play`
/// plays rounds with a member and returns its losses.
///
/// A member that is loaded from the state of a trained one continues identically. A state in which a number
/// was changed is either rejected, or harmless: nothing panics. A state that is too short is rejected.
pub(super) fn check_saved<M: Member, L: PartialEq + Debug>(
    fresh: impl Fn(u64) -> M,
    play: impl Fn(&mut M, Range<usize>) -> L,
) {
    let mut trained = fresh(1);
    play(&mut trained, 0..700);
    let list = state_of(&mut trained);
    let load = |list: &[f64]| {
        let mut member = fresh(9);
        unpack(&mut member, &mut list.iter().copied()).map(|()| member)
    };
    let mut loaded = load(&list).expect("a state that was saved");
    assert_eq!(play(&mut loaded, 700..900), play(&mut trained, 700..900));
    for at in (0..list.len()).step_by(list.len() / 100) {
        for wrong in [-1.0, 0.5, 1e9] {
            let mut broken = list.clone();
            broken[at] = wrong;
            if let Some(mut member) = load(&broken) {
                play(&mut member, 700..702);
            }
        }
    }
    assert!(load(&list[..list.len() - 1]).is_none(), "a state without an end");
}

/// Trees take the second half of a row with two views, and all others the first half, in every way to predict
/// and learn: with noise in the half that a member does not take, its forecasts are the same to the bit.
#[test]
fn members_take_their_view_of_a_row() {
    let mut rng = Rng::new(5, 0);
    let rows: Vec<([f64; 3], [f64; 3], usize)> = (0..300)
        .map(|_| {
            let x = [1.0, rng.uniform() - 0.5, rng.uniform() - 0.5];
            let noise = [rng.uniform(), rng.uniform(), rng.uniform()];
            (x, noise, usize::from(x[1] * x[2] > 0.0))
        })
        .collect();
    for (members, second) in [("labels+booster+trees+forest", true), ("labels+shared@0.1+neighbours", false)]
    {
        let members = Lineup::from_value(&Value::from(members));
        let make = || {
            let params = AutoParams { members: members.clone(), ..Default::default() };
            Auto::new(params, Problem::new(2, 3), 1).expect("valid")
        };
        let (mut one, mut two) = (make(), make());
        let (mut at, mut other) = (one.prediction(), two.prediction());
        for (t, (x, noise, y)) in rows.iter().enumerate() {
            let both = if second { [*noise, *x].concat() } else { [*x, *noise].concat() };
            let (x, both, y) = (Features::Dense(x), Features::Dense(&both), Target::class(*y));
            one.predict(x, &mut at);
            two.predict(both, &mut other);
            assert_eq!(at.probabilities, other.probabilities, "round {t}");
            let mut batch = two.prediction();
            two.predict_batch(&&[both][..], &mut batch, &mut |_, foreseen| {
                for (p, q) in foreseen.probabilities.iter().zip(&at.probabilities) {
                    assert!((p - q).abs() < 1e-9, "round {t}");
                }
            });
            one.update(x, y, &at);
            two.update(both, y, &other);
        }
    }
}
