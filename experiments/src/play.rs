//! Learners at work: one run, many runs at a time, and what is noted of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use noregret::algorithm::{AnyModel, Model};
use noregret::guarantee::Guarantee;
use noregret::param::{Value, Values};
use noregret::registry::{Entry, find};
use noregret_stream::run::bandit::{Play, run_bandit};
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, RunOptions, Sink, run};
use noregret_stream::watch::certify::{Certified, Record};

use crate::error::ExperimentError;
use crate::source::Source;

/// A learner with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contender {
    pub(crate) learner: &'static str,
    pub(crate) values: Values,
}

impl Contender {
    pub(crate) fn new(learner: &'static str, values: &[(&str, f64)]) -> Self {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        Self { learner, values: values.collect() }
    }

    /// With a parameter whose value is a name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.values.insert(name.to_owned(), Value::parse(value));
        self
    }

    pub(crate) fn entry(&self) -> &'static Entry {
        find(self.learner).expect("experiments name learners that exist")
    }

    fn named<E>(&self, wrap: impl Fn(String, E) -> ExperimentError) -> impl Fn(E) -> ExperimentError {
        let name = self.learner;
        move |error| wrap(name.to_owned(), error)
    }
}

/// A run as it is plotted: the means after some rounds, and the sums of the whole.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// (rounds, error rate of the labels played).
    pub(crate) errors: Vec<(f64, f64)>,
    /// (rounds, mean log loss in nats).
    pub(crate) losses: Vec<(f64, f64)>,
    pub(crate) score: Score,
}

impl Trace {
    /// Errors of the labels played, as a rate.
    pub(crate) fn error(&self) -> f64 {
        self.score.rates().error_rate.unwrap_or(f64::NAN)
    }
}

/// Notes the means when rounds reach certain numbers.
struct Checkpoints<'a> {
    at: &'a [u64],
    errors: Vec<(f64, f64)>,
    losses: Vec<(f64, f64)>,
}

impl Sink for Checkpoints<'_> {
    fn observe(&mut self, _: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        if self.at.first() == Some(&score.rounds()) {
            self.at = &self.at[1..];
            let (rounds, rates) = (score.rounds() as f64, score.rates());
            self.errors.extend(rates.error_rate.map(|rate| (rounds, rate)));
            self.losses.extend(rates.log_loss.map(|loss| (rounds, loss)));
        }
        Ok(())
    }
}

fn options(entry: &Entry, seed: u64) -> RunOptions {
    RunOptions::new(entry.about.forecast, seed)
}

/// Runs `contender` over `source`, its own draws from `seed`.
pub(crate) fn play(
    contender: &Contender,
    source: &Source<'_>,
    seed: u64,
    checkpoints: &[u64],
) -> Result<Trace, ExperimentError> {
    let entry = contender.entry();
    let learner = entry.make_any(&contender.values, source.problem()?, seed)?;
    let mut sink = Checkpoints { at: checkpoints, errors: Vec::new(), losses: Vec::new() };
    let (mut examples, options) = (source.examples()?, options(entry, seed));
    let score = match learner {
        AnyModel::Full(mut learner) => run(examples.as_mut(), learner.as_mut(), &mut sink, &options),
        AnyModel::Bandit(mut learner) => {
            let play = &mut Play::new(options.seed);
            run_bandit(examples.as_mut(), learner.as_mut(), &mut sink, &options, play)
        }
    };
    let score = score.map_err(contender.named(ExperimentError::Run))?;
    Ok(Trace { errors: sink.errors, losses: sink.losses, score })
}

/// Runs `contender` and returns what it has become.
pub(crate) fn taught(contender: &Contender, source: &Source<'_>) -> Result<Box<dyn Model>, ExperimentError> {
    let entry = contender.entry();
    let mut learner = entry.make(&contender.values, source.problem()?, 0)?;
    let mut sink = Checkpoints { at: &[], errors: Vec::new(), losses: Vec::new() };
    run(source.examples()?.as_mut(), learner.as_mut(), &mut sink, &options(entry, 0))
        .map_err(contender.named(ExperimentError::Run))?;
    Ok(learner)
}

/// A run held to its theorem.
pub(crate) struct Held {
    pub(crate) certified: Certified,
    /// Whether its theorem is about mistakes, not regret.
    pub(crate) mistakes: bool,
    /// (rounds, learner's loss, comparator's loss, certificate, bound), over time.
    pub(crate) over_time: Vec<Moment>,
}

/// The state of a certified run after some rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) rounds: u64,
    pub(crate) loss: f64,
    pub(crate) comparator: Option<f64>,
    pub(crate) certificate: Option<f64>,
    pub(crate) bound: Option<f64>,
}

/// Notes loss, certificate and bound when rounds reach certain numbers.
struct Promises<'a> {
    at: &'a [u64],
    moments: Vec<Moment>,
}

impl Sink for Promises<'_> {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        // What is promised at this moment is about the rounds before this one.
        let rounds = score.rounds() - 1;
        if self.at.first() == Some(&rounds) {
            self.at = &self.at[1..];
            let loss = score.total_loss() - outcome.round.loss;
            let [certificate, bound] =
                [(outcome.certificate)(), (outcome.bound)()].map(|promise| promise?.ok());
            self.moments.push(Moment { rounds, loss, comparator: None, certificate, bound });
        }
        Ok(())
    }
}

/// Runs `contender` over `source` and holds it to its theorem; `None` if it has none.
pub(crate) fn hold(
    contender: &Contender,
    source: &Source<'_>,
    checkpoints: &[u64],
) -> Result<Option<Held>, ExperimentError> {
    let entry = contender.entry();
    let learner = entry.make_any(&contender.values, source.problem()?, 0)?;
    let mut sinks = (Record::new(learner.problem()), Promises { at: checkpoints, moments: Vec::new() });
    let (mut examples, options) = (source.examples()?, options(entry, 0));
    let theorem = entry.about.guarantee.to_owned();
    let failed = contender.named(ExperimentError::Run);
    match learner {
        AnyModel::Full(mut learner) if learner.guarantee().is_some() => {
            let score = run(examples.as_mut(), learner.as_mut(), &mut sinks, &options).map_err(failed)?;
            let (record, Promises { mut moments, .. }) = sinks;
            let guarantee = score.facts.guarantee(&learner).expect("asked before");
            let mistakes = about_mistakes(&guarantee);
            let certificate = score.facts.certificate(&learner);
            let bound = guarantee.regret_bound().and_then(Result::ok);
            let certified = record.certify(guarantee, theorem, certificate.clone())?;
            let certificate = certificate.and_then(Result::ok);
            let (rounds, loss) = (score.rounds(), score.total_loss());
            moments.push(Moment { rounds, loss, comparator: None, certificate, bound });
            if let Some(weights) = &certified.weights {
                let rounds: Vec<u64> = moments.iter().map(|moment| moment.rounds).collect();
                let losses = record.losses_after(weights, &rounds);
                moments.iter_mut().zip(losses).for_each(|(moment, loss)| moment.comparator = Some(loss));
            }
            Ok(Some(Held { certified, mistakes, over_time: moments }))
        }
        AnyModel::Bandit(mut learner) if learner.guarantee().is_some() => {
            let play = &mut Play::new(options.seed);
            let score = run_bandit(examples.as_mut(), learner.as_mut(), &mut sinks, &options, play);
            let score = score.map_err(failed)?;
            let guarantee = score.facts.bandit_guarantee(learner.as_ref()).expect("asked before");
            // Beyond those of the best policy, for some: that is not computed, and their mistakes are held to
            // nothing.
            let mistakes = about_mistakes(&guarantee);
            let certified = sinks.0.certify(guarantee, theorem, None)?;
            Ok(Some(Held { certified, mistakes, over_time: Vec::new() }))
        }
        AnyModel::Full(_) | AnyModel::Bandit(_) => Ok(None),
    }
}

/// Whether the bound is on the mistakes themselves, so that they can be held to it.
fn about_mistakes(guarantee: &Guarantee<'_>) -> bool {
    matches!(guarantee, Guarantee::Mistakes { .. } | Guarantee::ExpertMistakes { beyond: false, .. })
}

/// Does all `jobs`, `threads` at a time, and returns their results in order.
pub(crate) fn parallel<J: Sync, R: Send>(
    threads: usize,
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, ExperimentError> + Sync,
) -> Result<Vec<R>, ExperimentError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<R, ExperimentError>)>> = Mutex::new(Vec::with_capacity(jobs.len()));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while let Some((at, job)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(at).map(|job| (at, job))
                } {
                    let result = work(job);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Whole numbers from 1 to `last` at equal factors, `per_decade` of them in each decade, and `last`.
pub(crate) fn log_spaced(last: u64, per_decade: u32) -> Vec<u64> {
    let mut rounds: Vec<u64> = (0..)
        .map(|step| 10_f64.powf(f64::from(step) / f64::from(per_decade)).round() as u64)
        .take_while(|round| *round < last)
        .collect();
    rounds.push(last);
    rounds.dedup();
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        let jobs: Vec<u64> = (0..100).collect();
        let squares = parallel(3, &jobs, |job| Ok(job * job)).expect("cannot fail");
        assert_eq!(squares, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        let failed = parallel(2, &jobs, |job| {
            if *job == 7 { Err(ExperimentError::NoData("seven".to_owned())) } else { Ok(()) }
        });
        assert!(failed.is_err());
    }

    #[test]
    fn checkpoints_are_log_spaced() {
        assert_eq!(log_spaced(100, 2), [1, 3, 10, 32, 100]);
        assert_eq!(log_spaced(1, 4), [1]);
    }
}
