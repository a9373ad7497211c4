//! An attack on what is promised about the losses of members and stacks: combinations of members, streams,
//! scales and importance weights up to 1. The regret in all rounds, and in every interval of them from the
//! second round on, is at most what is promised after the last one.

use super::*;

const MEMBERS: [&str; 5] = [
    "labels+pairs",
    "labels+full@0.1",
    "labels+pairs+shared@0.1+shared@10",
    "labels+neighbours+diagonal@0.1:0.1",
    "labels+trees+full@1000",
];

const COMBINATIONS: u64 = 40;

const ROUNDS: usize = 120;

/// The losses of a round: of what was played, of the heads that were there from the start, and of the stacks.
struct Losses {
    played: f64,
    heads: Vec<f64>,
    stacks: Vec<f64>,
}

/// The rounds of the combination with the number `at`, and the learner after them.
fn play(at: u64) -> (Vec<Losses>, Auto) {
    let mut rng = Rng::new(at, 0);
    let members = MEMBERS[at as usize % MEMBERS.len()];
    let mut learner = auto(3, 4, &[("members", members)]);
    let (stream, weighted) = (rng.below(5), rng.uniform() < 0.3);
    let scale = 10f64.powi(rng.below(9) as i32 - 4);
    let count = learner.roster.lineup().0.len();
    let (mut out, mut rounds) = (learner.prediction(), Vec::new());
    for t in 0..ROUNDS {
        let (mut x, noisy) = noisy(t, &mut rng);
        x.iter_mut().for_each(|x| *x *= scale);
        learner.predict(Features::Dense(&x), &mut out);
        let class = match stream {
            0 => noisy,
            1 => t / 20 % 3,
            // Against the forecast; or one that repeats until the forecast is sure of it.
            2 => argmax(&out.probabilities.iter().map(|p| -p).collect::<Vec<_>>()),
            3 => t % 3,
            _ if t < ROUNDS - 10 => t % 2,
            _ => 2,
        };
        let weight = if weighted { 1.0 - rng.uniform() } else { 1.0 };
        let y = Target::class(class).weighted(weight);
        let loss = |at: &Prediction| y.log_loss(&at.probabilities);
        let (inputs, stacks) = out.members.split_at(learner.roster.lineup().0.len());
        rounds.push(Losses {
            played: y.log_loss(&out.probabilities),
            heads: inputs[..count].iter().flat_map(|input| input.members.iter().map(loss)).collect(),
            stacks: stacks[..STACKS.len()].iter().map(loss).collect(),
        });
        learner.update(Features::Dense(&x), y, &out);
    }
    (rounds, learner)
}

/// The regret against the best of the heads, and of heads and stacks together.
fn regrets(rounds: &[Losses]) -> impl Iterator<Item = [f64; 2]> {
    let (mut played, mut heads, mut stacks) =
        (0.0, vec![0.0; rounds[0].heads.len()], vec![0.0; STACKS.len()]);
    rounds.iter().map(move |round| {
        played += round.played;
        heads.iter_mut().zip(&round.heads).for_each(|(sum, loss)| *sum += loss);
        stacks.iter_mut().zip(&round.stacks).for_each(|(sum, loss)| *sum += loss);
        let least = |sums: &[f64]| sums.iter().copied().fold(f64::INFINITY, f64::min);
        [played - least(&heads), played - least(&heads).min(least(&stacks))]
    })
}

#[test]
fn no_promise_is_below_the_regret() {
    let mut closest = [0.0f64; 2];
    for at in 0..COMBINATIONS {
        let (rounds, learner) = play(at);
        let Some(Guarantee::AdaptiveRegret { bound: Ok(every), total: Ok(total) }) = learner.guarantee()
        else {
            panic!("it has both")
        };
        let [regret, _] = regrets(&rounds).last().expect("there were rounds");
        assert!(regret <= total, "{at}: {total} below the regret {regret} of all rounds");
        closest[0] = closest[0].max(regret / total);
        for first in 1..ROUNDS {
            for (last, [_, regret]) in (first..).zip(regrets(&rounds[first..])) {
                assert!(regret <= every, "{at}: {every} below the regret {regret} from {first} to {last}");
                closest[1] = closest[1].max(regret / every);
            }
        }
    }
    // Members are better than the mixture somewhere, so that something is attacked.
    assert!(closest.iter().all(|closest| *closest > 0.0), "at most {closest:?} of a promise was needed");
    eprintln!("at most {closest:?} of the promises was needed");
}
