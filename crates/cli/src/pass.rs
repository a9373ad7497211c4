//! Runs candidates and seeds over one pass of the data, for `compare` and `run --repeats`.

use std::collections::BTreeMap;
use std::thread::available_parallelism;

use noregret::algorithm::{AnyModel, Forecast};
use noregret::learner::{Classes, Feedback};
use noregret::param::Values;
use noregret::problem::Problem;
use noregret_stream::encode::Encoder;
use noregret_stream::run::delay::Lateness;
use noregret_stream::run::feed::Feed;
use noregret_stream::run::pass::{Entrant, Finished, PassError, PassOptions, pass};
use noregret_stream::run::score::Score;
use noregret_stream::watch::curve::{Curve, Measure};

use crate::facts::Stream;
use crate::failure::Failure;
use crate::hint::read_error;
use crate::interrupt;
use crate::note::{counted, note, note_bad_rows};
use crate::open::describe;
use crate::plan::{PassPlan, StreamPlan};
use crate::progress::{Mode, PassProgress};
use crate::sweep::Candidate;
use crate::wanted::Wanted;

/// Largest number of runs: each has a thread and a learner's state.
const MOST_RUNS: u64 = 10_000;

/// The results of all candidates.
pub(crate) struct Comparison {
    pub(crate) candidates: Vec<Candidate>,
    /// In the order of the candidates, then of the seeds.
    pub(crate) runs: Vec<Run>,
    /// The rows, with their counts.
    pub(crate) feed: Feed,
    pub(crate) threads: usize,
    pub(crate) seconds: f64,
}

/// The result of a candidate with one seed.
pub(crate) struct Run {
    /// Index of the candidate.
    pub(crate) candidate: usize,
    pub(crate) seed: u64,
    /// Index of its encoder in the feed.
    pub(crate) encoder: usize,
    /// Whether it had bandit feedback.
    pub(crate) bandit: bool,
    /// The parameters in use.
    pub(crate) values: Values,
    pub(crate) problem: Problem,
    pub(crate) numbers: BTreeMap<&'static str, Vec<f64>>,
    /// The final weights of members.
    pub(crate) weights: Vec<(String, f64)>,
    pub(crate) score: Score,
    pub(crate) curves: Vec<Curve>,
    /// Time that it spent learning.
    pub(crate) seconds: f64,
}

/// Whether runs of `candidate` depend on the seed, with its settings.
pub(crate) fn draws(plan: &StreamPlan, candidate: &Candidate) -> bool {
    let Candidate { entry, settings, .. } = candidate;
    let bandit = settings.is_bandit(entry);
    // The entry's forecast is that of full information; in their other mode, learners draw labels.
    let labels = entry.about.forecast == Forecast::RandomisedLabel
        || bandit && (entry.feedback == Feedback::Either || plan.exploration_floor > 0.0);
    let delays = !matches!(plan.delay, Lateness::Fixed(_));
    labels || delays || entry.param("samples").is_some() || grows_trees(candidate)
}

/// Whether it is a mixture with trees among its members, which draw their splits.
fn grows_trees(Candidate { entry, settings, .. }: &Candidate) -> bool {
    let tree = |member: &str| ["booster", "trees", "forest"].contains(&member);
    // By default, there are trees, unless they are too expensive for the data.
    entry.param("members").is_some()
        && settings.params.get("members").is_none_or(|members| members.to_string().split('+').any(tree))
}

/// Runs every candidate with each of its seeds over the data.
pub(crate) fn run_all(
    pass_plan: &PassPlan,
    candidates: Vec<Candidate>,
    measures: &[Measure],
) -> Result<Comparison, Failure> {
    let PassPlan { stream: plan, repeats, threads } = pass_plan;
    let seeds = |candidate: &Candidate| if draws(plan, candidate) { *repeats } else { 1 };
    let count = candidates.iter().fold(0, |count: u64, one| count.saturating_add(seeds(one)));
    if count > MOST_RUNS {
        return Err(Failure::usage(format!(
            "--repeats {repeats}: makes {count} runs; at most {MOST_RUNS} fit into one pass"
        )));
    }
    let wanted: Vec<Wanted> = (candidates.iter())
        .map(|candidate| Wanted {
            entry: candidate.entry,
            settings: candidate.settings.clone(),
            copies: seeds(candidate) as usize,
            open_classes: false,
            named: true,
        })
        .collect();
    let stream = Stream::open(plan, &wanted).or_else(|failure| {
        interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
        Err(failure)
    })?;
    let pipe = stream.reader.size().is_none();
    let (candidates, wanted) = able(plan, &stream, candidates, wanted)?;
    let (mut entrants, mut encoders, mut of) = (Vec::new(), Vec::<Encoder>::new(), Vec::new());
    for (at, wanted) in wanted.iter().enumerate() {
        let first = wanted.settings.seed.unwrap_or(plan.seed);
        for seed in (0..wanted.copies as u64).map(|repeat| first.wrapping_add(repeat)) {
            let (learner, encoder) = stream.learner(wanted, seed)?;
            let alike = |other: &Encoder| {
                (other.accepts(), other.radius()) == (encoder.accepts(), encoder.radius())
                    && other.scaler().scaling() == encoder.scaler().scaling()
                    && other.classes() == encoder.classes()
                    && (other.has_intercept(), other.has_votes())
                        == (encoder.has_intercept(), encoder.has_votes())
            };
            if matches!(learner, AnyModel::Bandit(_)) {
                plan.check_floor(learner.problem().classes)?;
            }
            let options = plan.run_options(learner.about().forecast, pipe, seed);
            let encoder = encoders.iter().position(alike).unwrap_or_else(|| {
                encoders.push(encoder);
                encoders.len() - 1
            });
            of.push((at, seed, encoder));
            let floor = plan.exploration_floor;
            let sink = measures.iter().map(|measure| Curve::new(*measure)).collect();
            entrants.push(Entrant { learner, encoder, options, floor, sink });
        }
    }
    if plan.exploration_floor != 0.0
        && !entrants.iter().any(|entrant| matches!(entrant.learner, AnyModel::Bandit(_)))
    {
        let learners = match &candidates[..] {
            [one] => format!("{} sees", one.entry.about.name),
            _ => "all of these see".to_owned(),
        };
        return Err(Failure::usage(format!(
            "--exploration-floor: is for learners of bandit feedback; {learners} the label"
        )));
    }
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let mode = plan.mode;
    if mode == Mode::Table {
        announce(&stream, &encoders[0], &entrants, threads);
    }
    let mut progress = PassProgress::new(mode, stream.rows());
    let clock = progress.clock();
    let mut feed = Feed::new(stream.reader, encoders, &plan.source.data, plan.source.on_bad_row, plan.limit);
    feed.stop_by(plan.stop());
    let options = PassOptions { threads, clock: &clock };
    let finished = pass(&mut feed, entrants, &options, &mut |rows| progress.read(rows))
        .map_err(|error| pass_failure(pass_plan, &candidates, &of, error))?;
    let seconds = progress.finish();
    let run = |(finished, (candidate, seed, encoder)): (Finished<Vec<Curve>>, _)| Run {
        candidate,
        seed,
        encoder,
        bandit: matches!(finished.learner, AnyModel::Bandit(_)),
        values: finished.learner.values(),
        problem: finished.learner.problem().clone(),
        numbers: finished.learner.figures().into_iter().collect(),
        weights: finished.learner.weights(),
        score: finished.score,
        curves: finished.sink,
        seconds: finished.worked.as_secs_f64().max(1e-9),
    };
    let runs: Vec<Run> = finished.into_iter().zip(of).map(run).collect();
    if runs.iter().any(|run| run.score.rounds() == 0) {
        interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
        return Err(Failure::data(format!("{}: no labelled row was learnt from", plan.source.name())));
    }
    if let Some(worst) = feed.encodings.iter().max_by_key(|encoding| encoding.bad_rows) {
        note_bad_rows(worst.bad_rows, worst.first_bad_row.as_deref());
    }
    Ok(Comparison { candidates, runs, feed, threads, seconds })
}

/// The candidates that can learn from the stream; others are left out with a note, unless none remains.
fn able(
    plan: &StreamPlan,
    stream: &Stream<'_>,
    candidates: Vec<Candidate>,
    wanted: Vec<Wanted>,
) -> Result<(Vec<Candidate>, Vec<Wanted>), Failure> {
    let several = candidates.len() > 1;
    let (mut able, mut refused) = (Vec::new(), Vec::new());
    for (candidate, wanted) in candidates.into_iter().zip(wanted) {
        match stream.learner(&wanted, wanted.settings.seed.unwrap_or(plan.seed)) {
            Ok(_) => able.push((candidate, wanted)),
            Err(failure) => refused.push(failure.of(wanted.entry.about.name, several)),
        }
    }
    if able.is_empty() {
        return Err(refused.swap_remove(0));
    }
    for failure in refused {
        note(format_args!("noregret: left out: {failure}"));
    }
    Ok(able.into_iter().unzip())
}

/// Prints the settings.
fn announce(stream: &Stream<'_>, encoder: &Encoder, entrants: &[Entrant<Vec<Curve>>], threads: usize) {
    let mut decisions = stream.decisions(encoder);
    let threads = counted(threads as u64, "thread");
    decisions.push(("runs", format!("{}, {threads}", counted(entrants.len() as u64, "run"))));
    // One candidate of each learner, the first.
    let mut shown = "";
    for entrant in entrants {
        let name = entrant.learner.about().name;
        if name != shown {
            let label = if shown.is_empty() { "learners" } else { "" };
            decisions.push((label, describe(name, &entrant.learner.values())));
            shown = name;
        }
    }
    for (subject, sentence) in &decisions {
        note(format_args!("{subject:>9}  {sentence}"));
    }
}

/// One sentence that names the learner.
fn pass_failure(
    plan: &PassPlan,
    candidates: &[Candidate],
    of: &[(usize, u64, usize)],
    error: PassError,
) -> Failure {
    match error {
        PassError::Feed(error) => {
            let several = of.iter().any(|(_, _, encoder)| *encoder > 0);
            let refusing = error.encoder.filter(|_| several);
            let first = refusing.and_then(|at| of.iter().find(|(_, _, encoder)| *encoder == at));
            match first {
                Some((at, _, _)) => {
                    let name = candidates[*at].entry.about.name;
                    Failure::data(format!("{name}: {}", read_error(&error.error)))
                }
                None => Failure::reading(error.error),
            }
        }
        PassError::Run(at, error) => {
            let (candidate, seed, _) = of[at];
            let candidate = &candidates[candidate];
            let seed = if plan.repeats > 1 && draws(&plan.stream, candidate) {
                format!(" (seed {seed})")
            } else {
                String::new()
            };
            Failure::data(format!("{}: {}{seed}: {error}", plan.stream.source.name(), candidate.label()))
        }
        PassError::Threads(count, error) => Failure::data(format!(
            "{count} runs need as many threads, which the system cannot start: {error}"
        )),
    }
}

impl Comparison {
    /// The failure of interrupted runs, with the number of rows.
    pub(crate) fn check(&self, plan: &PassPlan) -> Result<(), Failure> {
        let learnt = || format!("after {}", counted(self.runs[0].score.rounds(), "row"));
        interrupt::check(plan.stream.stop(), learnt)
    }

    /// The runs of a candidate.
    pub(crate) fn runs_of(&self, candidate: usize) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| run.candidate == candidate)
    }

    /// Error rates of guessing: always the most frequent class, and uniformly. `None` for a
    /// real-valued target.
    pub(crate) fn guessing(&self) -> Option<(f64, f64)> {
        let run = &self.runs[0];
        if self.candidates[run.candidate].entry.about.accepts.classes == Classes::Real {
            return None;
        }
        Some((self.feed.majority_error_rate()?, 1.0 - 1.0 / run.problem.classes as f64))
    }
}
