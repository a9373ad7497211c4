//! The loop under bandit feedback, simulated on labelled data: read, act, score, and tell the learner right or wrong.

use noregret::example::Label;
use noregret::learner::BanditLearner;
use noregret::prediction::{Decision, Prediction};
use noregret::rng::Rng;

use crate::delay::Delay;
use crate::encode::Example;
use crate::examples::Examples;
use crate::run::{Outcome, PLAY, RunError, RunOptions, Sink};
use crate::score::{RoundScore, Score};

/// Lets the learner play every example, scores what it played, and tells it no more than whether that was right.
///
/// Three error rates come out, and they differ: of the labels played, in expectation over the draw, and of the greedy
/// labels, which is what the learner knows. Examples without a label are played, and nothing is told of them.
///
/// # Errors
/// What cannot be read or written. What was learnt until then is learnt.
pub fn run_bandit<L: BanditLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
) -> Result<Score, RunError> {
    let mut example = Example::default();
    let mut decision = Decision::default();
    let mut prediction = Prediction::sized(learner.problem().classes, 0);
    let mut late = Delay::<Decision>::new(options.delay);
    let mut score = Score::new(options.forecast, options.window);
    let mut rng = Rng::new(options.seed, PLAY);
    let mut row = 0;
    while options.limit != Some(row) && examples.next(&mut example)? {
        row += 1;
        learner.act(example.features(), &mut rng, &mut decision);
        prediction.scores.copy_from_slice(&decision.scores);
        prediction.probabilities.copy_from_slice(&decision.distribution);
        if !prediction.is_finite() {
            return Err(RunError::NotFinite(row));
        }
        let target = example.target();
        let label = target.and_then(|target| target.label());
        let round = label.map_or(RoundScore::default(), |label| round_score(&decision, label));
        if label.is_some() {
            score.add(round);
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
        };
        sink.observe(&outcome, &score)?;
        late.learn(learner, &example, &decision);
    }
    late.finish(learner);
    Ok(score)
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
    use crate::read_error::ReadError;

    /// Two classes that a first feature tells apart; every tenth example has no label.
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

    struct Nobody;

    impl Sink for Nobody {
        fn observe(&mut self, _: &Outcome<'_>, _: &Score) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn play(learner: &str, delay: usize) -> Score {
        let values: Values = [("exploration".to_owned(), "0.1".into())].into_iter().collect();
        let problem = Problem::new(2, 2).with_radius(2.0);
        let mut learner = find(learner).expect("known").make_bandit(&values, problem, 0).expect("valid");
        let forecast = learner.about().forecast;
        let options = RunOptions { forecast, delay, look_ahead: false, window: 10, limit: None, seed: 7 };
        run_bandit(&mut Separable(0), learner.as_mut(), &mut Nobody, &options).expect("nothing can fail")
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
}
