//! The loop for bandit feedback, simulated on labelled data: read, play a label, score, reveal
//! right or wrong.

use std::io;

use noregret::algorithm::BanditModel;
use noregret::example::Label;
use noregret::facts::RunFacts;
use noregret::learner::BanditLearner;
use noregret::param::ParamValue as _;
use noregret::prediction::{Decision, Prediction, Reward};
use noregret::registry::{self, Entry};
use noregret::rng::{Rng, Uniforms};

use crate::encode::Example;
use crate::encode::examples::{Examples, Raw};
use crate::run::delay::earned;
use crate::run::full::{Outcome, PLAY, RunError, Sink};
use crate::run::options::RunOptions;
use crate::run::score::{RoundScore, Score};
use crate::run::standing::Standing;

/// How labels are played: drawn by a generator, with a floor under their probabilities.
#[derive(Clone, Debug)]
pub struct Play {
    /// The generator of labels. Its position is saved with a model, so that an interrupted run
    /// draws the same labels.
    pub generator: Rng,
    /// Every label is played at least with this probability $f$, in $[0, 1/K]$: with probability
    /// $Kf$ a label is drawn uniformly instead of by the learner, and importance weights are those
    /// of the mixture. For a learner that plays $(1 - \gamma) q + \gamma / K$ this equals
    /// exploration at the rate $1 - (1 - \gamma)(1 - Kf)$, with which its theorem holds; the
    /// theorems of other learners (Gaptron's gap map, Confidit) assume their own distribution.
    pub floor: f64,
    /// With this probability in $[0, 1]$, or $Kf$ if that is larger, a label is drawn uniformly
    /// among those on offer.
    pub explore: f64,
}

impl Play {
    /// With a generator of the run's seed, without a floor.
    pub fn new(seed: u64) -> Self {
        Self { generator: Rng::new(seed, PLAY), floor: 0.0, explore: 0.0 }
    }

    /// The same with the generator of a saved run, if there is one.
    #[must_use]
    pub fn with_generator(self, saved: Option<Rng>) -> Self {
        Self { generator: saved.unwrap_or(self.generator), ..self }
    }

    /// The probability of a uniform draw among `choices` labels, and that of each of them by it.
    fn uniform(&self, choices: usize) -> (f64, f64) {
        let (floor, explore) = (self.floor * choices as f64, self.explore);
        if explore > floor {
            (explore.min(1.0), explore.min(1.0) / choices as f64)
        } else {
            (floor.min(1.0), self.floor)
        }
    }

    /// Draws the label of a predicted decision.
    pub fn draw<L: BanditLearner + ?Sized>(&mut self, learner: &L, out: &mut Decision) {
        if self.floor == 0.0 && self.explore == 0.0 {
            learner.play(&mut self.generator, out);
            // Sums of shares may exceed 1 by a rounding, where one label is on offer.
            let p = &mut out.distribution[out.label as usize];
            *p = p.min(1.0);
            out.probability = out.probability.min(1.0);
            return;
        }
        let choices = out.choices();
        let (uniform, _) = self.uniform(choices);
        if self.generator.uniform() < uniform {
            let at = self.generator.below(choices as u64) as u32;
            out.label = out.offered.get(at as usize).copied().unwrap_or(at);
            // Learners that explore by a coin toss learn from uniform draws only, and this is one.
            out.explored = Some(true);
        } else {
            learner.play(&mut self.generator, out);
        }
        self.mix_in(out);
        let p = &mut out.distribution[out.label as usize];
        *p = p.min(1.0);
        out.probability = *p;
    }

    /// Mixes the uniform draws into the distribution of a predicted decision, among the labels on offer.
    pub fn mix_in(&self, out: &mut Decision) {
        if out.offered.is_empty() {
            return self.mix(&mut out.distribution);
        }
        let choices = out.choices();
        let (uniform, share) = self.uniform(choices);
        if uniform > 0.0 {
            out.distribution.iter_mut().for_each(|p| *p *= 1.0 - uniform);
            for label in &out.offered {
                out.distribution[*label as usize] += share.min(1.0 / choices as f64);
            }
        }
    }

    /// Mixes the uniform draws into a learner's `distribution`.
    pub fn mix(&self, distribution: &mut [f64]) {
        let (uniform, share) = self.uniform(distribution.len());
        if uniform > 0.0 {
            distribution.iter_mut().for_each(|p| *p = (1.0 - uniform) * *p + share);
        }
    }
}

/// Writes the decision of `learner` for `example` among the labels on offer. Returns false if the learner
/// does not support a choice of labels.
fn decide<L: BanditLearner + ?Sized>(learner: &L, example: &Example, out: &mut Decision) -> bool {
    let offered = example.offered();
    learner.decide(example.features(), (!offered.is_empty()).then_some(offered), out)
}

/// Rate of uniform play from which a warning is given.
const MUCH_EXPLORATION: f64 = 0.5;

/// Every learner explores in its first rounds.
const ENOUGH_ROUNDS: u64 = 100;

/// A warning if `learner` draws at least half of its labels uniformly, as the theorems' rates do on
/// short streams.
pub fn warning(learner: &dyn BanditModel) -> Option<String> {
    let rate =
        f64::from_value(learner.values().get("exploration")?).filter(|rate| *rate >= MUCH_EXPLORATION)?;
    let name = learner.about().name;
    Some(format!(
        "{name} plays a uniformly random label in {:.0} % of the rounds (exploration = {rate}); that is its theorem's choice for this number of rounds, unless you have set it. Set a smaller exploration, or use auto, which needs none",
        100.0 * rate
    ))
}

/// The same after a run, for learners whose play follows from the rounds, as by the schedules of theorems.
pub fn warning_after(learner: &dyn BanditModel, score: &Score) -> Option<String> {
    let (rate, rates) = (score.random_rate(), score.rates());
    if rate < MUCH_EXPLORATION || score.rounds() < ENOUGH_ROUNDS || warning(learner).is_some() {
        return None;
    }
    let (played, best) = (rates.expected_error_rate?, rates.greedy_error_rate?);
    let name = learner.about().name;
    // The rate of a mixture is its own choice.
    let mixture = registry::find(name).is_ok_and(Entry::is_mixture);
    let advice = if mixture { "" } else { ". auto explores less and needs no settings" };
    Some(format!(
        "MOSTLY RANDOM PLAY: {name} has played as if {:.0} % of the labels were drawn uniformly, and erred in {played:.5} of the rounds; its \
         best labels would have erred in {best:.5}{advice}",
        100.0 * rate
    ))
}

/// Receives every decision and all feedback, in the learner's order.
pub trait Journal {
    /// Decision `round`, from 1, for the row `raw`; with its reward, `earned`, if feedback is immediate.
    ///
    /// # Errors
    /// If writing fails.
    fn decided(
        &mut self,
        round: u64,
        raw: Raw<'_>,
        taken: &Decision,
        earned: Option<Reward>,
    ) -> io::Result<()>;

    /// The reward of decision `round`.
    ///
    /// # Errors
    /// If writing fails.
    fn heard(&mut self, round: u64, reward: Reward) -> io::Result<()>;
}

/// Plays every example, with labels drawn by `play`, scores the played label, and reveals only whether it was
/// right.
///
/// Computes three error rates: of the labels played, their expectation over the draw, and that of
/// the greedy labels, which excludes exploration. Examples without a label are played without
/// feedback.
///
/// # Errors
/// If reading or writing fails. The learner keeps what it has learnt until then.
pub fn run_bandit<L: BanditLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
    play: &mut Play,
) -> Result<Score, RunError> {
    let mut standing = Standing::bandit(options);
    run_bandit_on(examples, learner, sink, options, play, None, &mut standing)?;
    standing.finish_bandit(learner, None)?;
    Ok(standing.score)
}

impl Standing<Decision> {
    /// At the end of the stream: delivers the pending feedback.
    ///
    /// # Errors
    /// Those of the journal.
    pub fn finish_bandit<L: BanditLearner + ?Sized>(
        &mut self,
        learner: &mut L,
        mut journal: Option<&mut dyn Journal>,
    ) -> Result<(), RunError> {
        let heard = |round, reward| match &mut journal {
            Some(journal) => journal.heard(round, reward),
            None => Ok(()),
        };
        let finished = self.late.finish(learner, heard).map_err(RunError::Log);
        self.score.facts.late = self.late.came_late();
        finished
    }
}

/// The same, continuing from `standing` to the end of `examples`, with every decision and feedback passed to
/// `journal`. Late feedback stays pending.
///
/// # Errors
/// As for [`run_bandit`], and those of the journal.
pub fn run_bandit_on<L: BanditLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
    play: &mut Play,
    mut journal: Option<&mut dyn Journal>,
    standing: &mut Standing<Decision>,
) -> Result<(), RunError> {
    let mut example = Example::default();
    let mut decision = Decision::default();
    let mut prediction = Prediction::sized(learner.problem().classes, 0);
    if standing.rounds == 0 {
        standing.score.facts = RunFacts { floor: play.floor, ..RunFacts::new(learner.rounds()) };
    }
    let mut drawn = 0;
    while options.limit != Some(drawn) && examples.next(&mut example)? {
        drawn += 1;
        standing.rounds += 1;
        let row = standing.rounds;
        if example.logged().is_some() && (journal.is_some() || !learner.learns_of_others()) {
            return Err(RunError::Logged(row));
        }
        let (earned, round) = played(learner, &example, play, &mut decision, &mut prediction, standing)?;
        let target = example.target();
        let outcome = Outcome {
            example: &example,
            prediction: &prediction,
            played: Label(decision.label),
            labels: examples.raw().map(|raw| raw.labels),
            target,
            round,
            certificate: &|| None,
            bound: &|| None,
            weights: &Vec::new,
        };
        sink.observe(&outcome, &standing.score)?;
        if let Some(journal) = &mut journal {
            let raw = examples.raw().ok_or_else(|| io::Error::other("there are no rows to write"))?;
            let known = earned.filter(|_| options.delay.is_none());
            journal.decided(row, raw, &decision, known).map_err(RunError::Log)?;
        }
        let heard = |round, reward| match &mut journal {
            Some(journal) if !options.delay.is_none() => journal.heard(round, reward),
            _ => Ok(()),
        };
        if let Some(target) = target.filter(|target| target.label().is_some()) {
            standing.score.facts.note(learner.problem(), example.features(), target.weight);
        }
        standing.late.learn(learner, &example, &decision, heard).map_err(RunError::Log)?;
        standing.score.facts.late = standing.late.came_late();
    }
    Ok(())
}

/// Decides the round of `example`, the last one of `standing`, and plays a label, unless another policy has
/// played one. Returns its reward, if that is known, and the scores of the round.
fn played<L: BanditLearner + ?Sized>(
    learner: &L,
    example: &Example,
    play: &mut Play,
    decision: &mut Decision,
    prediction: &mut Prediction,
    standing: &mut Standing<Decision>,
) -> Result<(Option<Reward>, RoundScore), RunError> {
    let (row, score, logged) = (standing.rounds, &mut standing.score, example.logged());
    if !decide(learner, example, decision) {
        return Err(RunError::Offered(row));
    }
    let own_error = (play.floor > 0.0 && logged.is_none()).then(|| expected_error(example, decision));
    let random = random_share(decision);
    if let Some(logged) = logged {
        // Importance weights are those of the policy that has played.
        (decision.label, decision.probability) = (logged.label.0, logged.probability);
    } else {
        play.draw(learner, decision);
    }
    let earned = earned(example, decision);
    if let Some(reward) = earned.filter(|reward| !reward.is_verdict() && !learner.takes_rewards()) {
        return Err(RunError::Reward(row, reward.value()));
    }
    prediction.scores.copy_from_slice(&decision.scores);
    prediction.probabilities.copy_from_slice(&decision.distribution);
    if !prediction.is_finite() {
        return Err(RunError::NotFinite(row));
    }
    let round = earned.map_or(RoundScore::default(), |reward| round_score(example, decision, reward));
    if earned.is_some() {
        score.add(round);
        if logged.is_none() {
            score.add_random(random);
            if let Some(own) = own_error {
                score.add_floor(round.expected_error - own);
            }
        }
    }
    Ok((earned, round))
}

/// The loss of `label` in a simulated round.
fn lost(example: &Example, label: u32) -> f64 {
    example.reward(label).map_or(0.0, |reward| 1.0 - reward.value())
}

/// The losses of the played label, of the learner's label on average over its draw, and of the greedy label;
/// for a label that another policy has played, estimates of the learner's losses by importance weights.
fn round_score(example: &Example, decision: &Decision, earned: Reward) -> RoundScore {
    let error = 1.0 - earned.value();
    if example.logged().is_some() {
        let weight = 1.0 / decision.probability;
        let own = decision.distribution[decision.label as usize] * weight;
        let greedy = if decision.greedy == decision.label { weight } else { 0.0 };
        return RoundScore {
            error,
            expected_error: error * own,
            greedy_error: error * greedy,
            excess: [own - 1.0, greedy - 1.0],
            ..RoundScore::default()
        };
    }
    let greedy_error = lost(example, decision.greedy);
    let expected_error = expected_error(example, decision);
    RoundScore { error, expected_error, greedy_error, ..RoundScore::default() }
}

/// The mean loss of `decision` over its draw, in a simulated round.
fn expected_error(example: &Example, decision: &Decision) -> f64 {
    match example.target().and_then(|target| target.label()) {
        Some(label) => 1.0 - decision.distribution[label.index()],
        None => (0u32..).zip(&decision.distribution).map(|(label, p)| p * lost(example, label)).sum(),
    }
}

/// The share $s$ of uniform play, if the greedy label has the probability $1 - s + s/K$ among $K$ on offer.
fn random_share(decision: &Decision) -> f64 {
    let k = decision.choices() as f64;
    let others = 1.0 - decision.distribution[decision.greedy as usize];
    if k > 1.0 { (others * k / (k - 1.0)).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use noregret::param::Values;
    use noregret::problem::Problem;
    use noregret::registry::find;

    use super::*;
    use crate::read::error::ReadError;
    use crate::run::delay::Lateness;

    /// Two classes, given by the sign of the first feature; every tenth example has no label.
    struct Separable(u64);

    impl Examples for Separable {
        fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
            self.0 += 1;
            let class = (self.0 / 3 % 2) as usize;
            let label = (!self.0.is_multiple_of(10)).then(|| Label::from(class));
            *out = Example::dense(&[class as f64 - 0.5, 1.0], label);
            Ok(self.0 <= 3000)
        }
    }

    struct Unobserved;

    impl Sink for Unobserved {
        fn observe(&mut self, _: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn play(learner: &str, delay: u64) -> Score {
        play_late(learner, Lateness::Fixed(delay))
    }

    fn play_late(learner: &str, delay: Lateness) -> Score {
        let values: Values = [("exploration".to_owned(), "0.1".into())].into_iter().collect();
        let problem = Problem::new(2, 2).with_radius(2.0);
        let mut learner = find(learner).expect("known").make_bandit(&values, problem, 0).expect("valid");
        let options = RunOptions { delay, ..RunOptions::new(learner.about().forecast, 7) };
        let play = &mut Play::new(7);
        let score = run_bandit(&mut Separable(0), learner.as_mut(), &mut Unobserved, &options, play);
        score.expect("nothing can fail")
    }

    #[test]
    fn separable_streams_are_learnt_up_to_exploration() {
        for learner in ["soba", "soba-diag", "banditron"] {
            let rates = play(learner, 0).rates();
            assert_eq!(rates.rounds, 2700, "{learner}: unlabelled examples are not scored");
            // γ(K-1)/K = 0.05 is the least error rate of the played labels; that of greedy labels is lower.
            let (expected, greedy) =
                (rates.expected_error_rate.expect("plays"), rates.greedy_error_rate.expect("plays"));
            assert!((0.04..0.09).contains(&expected), "{learner}: {expected}");
            assert!(greedy < 0.04, "{learner}: {greedy}");
            let error = rates.error_rate.expect("plays");
            assert!((error - expected).abs() < 0.02, "{learner}: {error} {expected}");
        }
    }

    #[test]
    fn late_feedback_is_learnt_late() {
        let (at_once, late, never) = (play("soba", 0), play("soba", 200), play("soba", 5000));
        let greedy = |score: &Score| score.rates().greedy_error_rate.expect("plays");
        assert!(greedy(&at_once) < greedy(&late) && greedy(&late) < greedy(&never));
        assert!(greedy(&never) > 0.4, "nothing is learnt before the end");
    }

    #[test]
    fn feedback_out_of_order_is_learnt() {
        for learner in ["soba", "banditron"] {
            for delay in [Lateness::Geometric(50.0), Lateness::Uniform(100)] {
                let greedy = play_late(learner, delay).rates().greedy_error_rate.expect("plays");
                assert!(greedy < 0.15, "{learner} {delay}: {greedy}");
            }
        }
    }

    /// With a fraction e of uniform draws, the distribution is (1 - e) p + e / K for every K; if the floor
    /// needs a larger fraction, that one is used.
    #[test]
    fn a_share_of_draws_is_uniform() {
        let (mut p, mut few) = ([0.7, 0.2, 0.1, 0.0], [0.9, 0.1]);
        let play = Play { floor: 0.05, explore: 0.4, ..Play::new(1) };
        play.mix(&mut p);
        play.mix(&mut few);
        for (p, wanted) in p.iter().chain(&few).zip([0.52, 0.22, 0.16, 0.1, 0.74, 0.26]) {
            assert!((p - wanted).abs() < 1e-15, "{p} {wanted}");
        }
        let mut p = [0.7, 0.2, 0.1, 0.0];
        Play { floor: 0.2, explore: 0.4, ..Play::new(1) }.mix(&mut p);
        assert!((p[3] - 0.2).abs() < 1e-15, "{p:?}");
    }

    /// With a floor f, the distribution is (1 - Kf) p + f, and the label has this probability.
    #[test]
    fn a_floor_is_mixed_in_exactly() {
        let problem = Problem::new(4, 1).with_radius(1.0);
        let values: Values = [("exploration".to_owned(), "0.2".into())].into_iter().collect();
        let example = Example::dense(&[1.0], None);
        for name in ["banditron", "bandit-reduction", "confidit"] {
            let entry = find(name).expect("known");
            let values = if entry.param("exploration").is_some() { values.clone() } else { Values::new() };
            let learner = entry.make_bandit(&values, problem.clone(), 0).expect("valid");
            let (mut plain, mut decision) = (Decision::default(), Decision::default());
            learner.predict(example.features(), &mut plain);
            let mut play = Play { floor: 0.05, ..Play::new(1) };
            let mut counts = [0.0; 4];
            for _ in 0..20_000 {
                assert!(decide(learner.as_ref(), &example, &mut decision));
                play.draw(learner.as_ref(), &mut decision);
                counts[decision.label as usize] += 1.0 / 20_000.0;
                assert_eq!(decision.probability, decision.distribution[decision.label as usize]);
            }
            for (class, count) in counts.iter().enumerate() {
                let want = 0.8 * plain.distribution[class] + 0.05;
                assert!((decision.distribution[class] - want).abs() < 1e-15, "{name}");
                assert!((count - want).abs() < 0.015, "{name}: {count} {want}");
            }
        }
    }

    /// Over 10^6 rounds, in which the distribution changes with what is learnt, the mean of each label's
    /// importance weights is 1 within noise, with and without a floor.
    #[test]
    #[ignore = "slow: a million rounds of each learner"]
    fn importance_weights_have_mean_one() {
        const CLASSES: usize = 3;

        /// Every third class in turn, with noise in the features.
        struct Noisy(Rng, u64);

        impl Examples for Noisy {
            fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
                self.1 += 1;
                let class = (self.1 % CLASSES as u64) as usize;
                let x = [class as f64 - 1.0 + 0.5 * self.0.normal(), 1.0];
                *out = Example::dense(&x, Some(Label::from(class)));
                Ok(self.1 <= 1_000_000)
            }
        }

        /// Sums of $1/p$ over the rounds in which a label was played, and of the variance $(1 - p)/p$ over
        /// all.
        #[derive(Default)]
        struct Weights([[f64; 2]; CLASSES], f64);

        impl Sink for Weights {
            fn observe(&mut self, outcome: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
                let p = &outcome.prediction.probabilities;
                self.0[outcome.played.index()][0] += 1.0 / p[outcome.played.index()];
                self.0.iter_mut().zip(p).for_each(|(sums, p)| sums[1] += (1.0 - p) / p);
                self.1 += 1.0;
                Ok(())
            }
        }

        let values = Values::from([("schedule".to_owned(), "root".into())]);
        for (name, floor) in [("squarecb", 0.0), ("fastcb", 0.02)] {
            let problem = Problem::new(CLASSES, 2).with_radius(6.0);
            let mut learner = find(name).expect("known").make_bandit(&values, problem, 0).expect("valid");
            let options = RunOptions::new(learner.about().forecast, 7);
            let (mut play, mut sums) = (Play { floor, ..Play::new(3) }, Weights::default());
            let examples = &mut Noisy(Rng::new(1, 2), 0);
            run_bandit(examples, learner.as_mut(), &mut sums, &options, &mut play).expect("no file");
            assert_eq!(sums.1, 1e6);
            for (label, [sum, variance]) in sums.0.iter().enumerate() {
                let (mean, deviation) = (sum / sums.1, variance.sqrt() / sums.1);
                assert!(
                    (mean - 1.0).abs() < 5.0 * deviation,
                    "{name}, floor {floor}, {label}: {mean} ± {deviation}"
                );
            }
        }
    }
}
