//! The loop under bandit feedback, simulated on labelled data: read, act, score, and reveal right or wrong.

use std::io;

use noregret::algorithm::BanditModel;
use noregret::example::Label;
use noregret::guarantee::RunFacts;
use noregret::learner::BanditLearner;
use noregret::param::ParamValue as _;
use noregret::prediction::{Decision, Prediction};
use noregret::rng::{Rng, Uniforms};

use crate::encode::Example;
use crate::encode::examples::{Examples, Raw};
use crate::run::delay::verdict;
use crate::run::full::{Outcome, PLAY, RunError, RunOptions, Sink};
use crate::run::score::{RoundScore, Score};
use crate::run::standing::Standing;

/// How labels are played: drawn by a generator, with a floor under their probabilities.
#[derive(Clone, Debug)]
pub struct Play {
    /// What labels are drawn with. Its position is saved with a model, so that a run in two parts draws as a
    /// run in one.
    pub generator: Rng,
    /// Every label is played at least with this probability $f$, in $[0, 1/K]$: with probability $Kf$ a label
    /// is drawn uniformly instead of by the learner, and importance weights are those of the mixture. For a
    /// learner that plays $(1 - \gamma) q + \gamma / K$ that is the learner itself with exploration $1 - (1 -
    /// \gamma)(1 - Kf)$, whose theorem then holds with that rate; the theorems of others (Gaptron's gap map,
    /// Confidit) are about their own distribution.
    pub floor: f64,
    /// With this probability in $[0, 1]$, or $Kf$ where that is more, a label is drawn uniformly, however
    /// many are on offer.
    pub explore: f64,
}

impl Play {
    /// By the seed of a run, without a floor.
    pub fn new(seed: u64) -> Self {
        Self { generator: Rng::new(seed, PLAY), floor: 0.0, explore: 0.0 }
    }

    /// The probability of a uniform draw among `choices` labels, and the share of each of them.
    fn uniform(&self, choices: usize) -> (f64, f64) {
        let (floor, explore) = (self.floor * choices as f64, self.explore);
        if explore > floor {
            (explore.min(1.0), explore.min(1.0) / choices as f64)
        } else {
            (floor.min(1.0), self.floor)
        }
    }

    /// Lets the learner decide for `x` and draws the label.
    pub fn act<L: BanditLearner + ?Sized>(&mut self, learner: &L, example: &Example, out: &mut Decision) {
        learner.predict(example.features(), out);
        self.draw(learner, out);
    }

    /// Draws the label of a decision that was predicted.
    pub fn draw<L: BanditLearner + ?Sized>(&mut self, learner: &L, out: &mut Decision) {
        if self.floor == 0.0 && self.explore == 0.0 {
            return learner.play(&mut self.generator, out);
        }
        let choices = out.choices();
        let (uniform, share) = self.uniform(choices);
        if self.generator.uniform() < uniform {
            let at = self.generator.below(choices as u64) as u32;
            out.label = out.offered.get(at as usize).copied().unwrap_or(at);
            // Learners that toss a coin learn from uniform rounds, and this is one.
            out.explored = Some(true);
        } else {
            learner.play(&mut self.generator, out);
        }
        if out.offered.is_empty() {
            self.mix(&mut out.distribution);
        } else {
            out.distribution.iter_mut().for_each(|p| *p *= 1.0 - uniform);
            for label in &out.offered {
                out.distribution[*label as usize] += share.min(1.0 / choices as f64);
            }
        }
        out.probability = out.distribution[out.label as usize];
    }

    /// Makes a learner's `distribution` the one that labels are drawn from.
    pub fn mix(&self, distribution: &mut [f64]) {
        let (uniform, share) = self.uniform(distribution.len());
        if uniform > 0.0 {
            distribution.iter_mut().for_each(|p| *p = (1.0 - uniform) * *p + share);
        }
    }
}

/// From this rate of uniform play on, labels say little of what the learner knows.
const MUCH: f64 = 0.5;

/// A warning for callers about to play labels with `learner`, where most of them are drawn at random: with a
/// short stream, theorems ask for that.
pub fn warning(learner: &dyn BanditModel) -> Option<String> {
    let rate = f64::from_value(learner.values().get("exploration")?).filter(|rate| *rate >= MUCH)?;
    let name = learner.about().name;
    Some(format!(
        "{name} plays a uniformly random label in {:.0} % of the rounds (exploration = {rate}); that is its theorem's choice for so few rounds unless you have set it. Set a smaller exploration, or take auto, which needs none",
        100.0 * rate
    ))
}

/// Sees every decision and all feedback, in the order in which the learner does.
pub trait Journal {
    /// Decision `round`, from 1, was taken for `raw`. `correct` is known if feedback is immediate.
    ///
    /// # Errors
    /// What cannot be written.
    fn decided(
        &mut self,
        round: u64,
        raw: Raw<'_>,
        taken: &Decision,
        correct: Option<bool>,
    ) -> io::Result<()>;

    /// It became known whether the label of decision `round` was right.
    ///
    /// # Errors
    /// What cannot be written.
    fn heard(&mut self, round: u64, correct: bool) -> io::Result<()>;
}

/// Lets the learner play every example, scores what it played, and reveals no more than whether that was
/// right.
///
/// Three error rates come out, and they differ: of the labels played, in expectation over the draw, and of
/// the greedy labels, which is what the learner knows. Examples without a label are played, and nothing is
/// revealed.
///
/// # Errors
/// What cannot be read or written. What was learnt until then is learnt.
pub fn run_bandit<L: BanditLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
) -> Result<Score, RunError> {
    run_bandit_as(examples, learner, sink, options, &mut Play::new(options.seed), None)
}

/// The same, with labels played as `play` says, and every decision and feedback written to `journal`.
///
/// # Errors
/// As for [`run_bandit`], and what the journal cannot write.
pub fn run_bandit_as<L: BanditLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
    play: &mut Play,
    mut journal: Option<&mut dyn Journal>,
) -> Result<Score, RunError> {
    let mut standing = Standing::bandit(options);
    // Reborrowed by hand: an Option of a reference does not do it by itself.
    let lent = journal.as_mut().map(|journal| &mut **journal as &mut dyn Journal);
    run_bandit_on(examples, learner, sink, options, play, lent, &mut standing)?;
    standing.finish_bandit(learner, journal)?;
    Ok(standing.score)
}

impl Standing<Decision> {
    /// The stream is over: the feedback that is still missing arrives.
    ///
    /// # Errors
    /// What the journal cannot write.
    pub fn finish_bandit<L: BanditLearner + ?Sized>(
        &mut self,
        learner: &mut L,
        mut journal: Option<&mut dyn Journal>,
    ) -> Result<(), RunError> {
        let heard = |round, correct| match &mut journal {
            Some(journal) => journal.heard(round, correct),
            None => Ok(()),
        };
        let finished = self.late.finish(learner, heard).map_err(RunError::Log);
        self.score.facts.late = self.late.came_late();
        finished
    }
}

/// The same, from where a run stands to the end of `examples`. Late feedback goes on waiting.
///
/// # Errors
/// As for [`run_bandit_as`].
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
        play.act(learner, &example, &mut decision);
        prediction.scores.copy_from_slice(&decision.scores);
        prediction.probabilities.copy_from_slice(&decision.distribution);
        if !prediction.is_finite() {
            return Err(RunError::NotFinite(row));
        }
        let target = example.target();
        let label = target.and_then(|target| target.label());
        let round = label.map_or(RoundScore::default(), |label| round_score(&decision, label));
        if label.is_some() {
            standing.score.add(round);
        }
        let played = Label(decision.label);
        let outcome = Outcome {
            example: &example,
            prediction: &prediction,
            played,
            target,
            round,
            certificate: &|| None,
            bound: &|| None,
            weights: &Vec::new,
        };
        sink.observe(&outcome, &standing.score)?;
        if let Some(journal) = &mut journal {
            let raw = examples.raw().ok_or_else(|| io::Error::other("there are no rows to write down"))?;
            let correct = verdict(&example, &decision).filter(|_| options.delay.is_none());
            journal.decided(row, raw, &decision, correct).map_err(RunError::Log)?;
        }
        let heard = |round, correct| match &mut journal {
            Some(journal) if !options.delay.is_none() => journal.heard(round, correct),
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

fn round_score(decision: &Decision, label: Label) -> RoundScore {
    RoundScore {
        error: f64::from(decision.label != label.0),
        expected_error: 1.0 - decision.distribution[label.index()],
        greedy_error: f64::from(decision.greedy != label.0),
        loss: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use noregret::param::Values;
    use noregret::problem::Problem;
    use noregret::registry::find;

    use super::*;
    use crate::read::error::ReadError;
    use crate::run::delay::Lateness;

    /// Two classes that the first feature decides; every tenth example has no label.
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
        let forecast = learner.about().forecast;
        let options = RunOptions { forecast, delay, look_ahead: false, window: 10, limit: None, seed: 7 };
        run_bandit(&mut Separable(0), learner.as_mut(), &mut Unobserved, &options).expect("nothing can fail")
    }

    #[test]
    fn separable_streams_are_learnt_up_to_exploration() {
        for learner in ["soba", "soba-diag", "banditron"] {
            let rates = play(learner, 0).rates();
            assert_eq!(rates.rounds, 2700, "{learner}: unlabelled examples are not scored");
            // γ(K-1)/K = 0.05 is the floor of what is played; the greedy label knows better.
            let (expected, greedy) =
                (rates.expected_error_rate.expect("plays"), rates.greedy_error_rate.expect("plays"));
            assert!((0.04..0.09).contains(&expected), "{learner}: {expected}");
            assert!(greedy < 0.04, "{learner}: {greedy}");
            let error = rates.error_rate.expect("plays");
            assert!((error - expected).abs() < 0.02, "{learner}: {error} {expected}");
        }
    }

    #[test]
    fn late_feedback_teaches_late() {
        let (at_once, late, never) = (play("soba", 0), play("soba", 200), play("soba", 5000));
        let greedy = |score: &Score| score.rates().greedy_error_rate.expect("plays");
        assert!(greedy(&at_once) < greedy(&late) && greedy(&late) < greedy(&never));
        assert!(greedy(&never) > 0.4, "nothing is learnt before the end");
    }

    #[test]
    fn feedback_out_of_order_still_teaches() {
        for learner in ["soba", "banditron"] {
            for delay in [Lateness::Geometric(50.0), Lateness::Uniform(100)] {
                let greedy = play_late(learner, delay).rates().greedy_error_rate.expect("plays");
                assert!(greedy < 0.15, "{learner} {delay}: {greedy}");
            }
        }
    }

    /// With a share e of uniform draws, (1 - e) p + e / K is played, whatever K is; where a floor asks for
    /// more of them, the floor counts.
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

    /// With a floor f, (1 - Kf) p + f is played, and that is what the label's probability is.
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
                play.act(learner.as_ref(), &example, &mut decision);
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
}
