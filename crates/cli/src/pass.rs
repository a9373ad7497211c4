//! Runs candidates and seeds over one pass of the data, for `compare` and `run --repeats`.

use std::collections::BTreeMap;
use std::fmt;

use noregret::algorithm::AnyModel;
use noregret::learner::{Classes, Feedback};
use noregret::param::Values;
use noregret::problem::Problem;
use noregret_stream::caution::Caution;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::survey::{look_alike, perhaps_missing};
use noregret_stream::run::RunError;
use noregret_stream::run::delay::Lateness;
use noregret_stream::run::feed::Feed;
use noregret_stream::run::pass::{Entrant, Finished, PassError, PassOptions, pass};
use noregret_stream::run::score::Score;
use noregret_stream::run::threads::processors;
use noregret_stream::watch::curve::{Curve, Measure};

use crate::facts::{Stream, check_settings};
use crate::failure::Failure;
use crate::interrupt;
use crate::note::{counted, note, note_about, note_bad_rows};
use crate::open::describe;
use crate::plan::{PassPlan, StreamPlan};
use crate::progress::{Mode, PassProgress};
use crate::sweep::Candidate;
use crate::wanted::Wanted;

/// Largest number of runs: each has a thread and a learner's state.
const MOST_RUNS: u64 = 10_000;

/// The results of all candidates.
pub(crate) struct Comparison {
    /// Those that have learnt from all rows.
    pub(crate) candidates: Vec<Candidate>,
    /// The others.
    pub(crate) left_out: Vec<LeftOut>,
    /// In the order of the candidates, then of the seeds.
    pub(crate) runs: Vec<Run>,
    /// The rows, with their counts.
    pub(crate) feed: Feed,
    pub(crate) threads: usize,
    pub(crate) seconds: f64,
}

/// A candidate that could not learn from the data.
pub(crate) struct LeftOut {
    pub(crate) candidate: Candidate,
    /// A sentence.
    pub(crate) why: String,
    /// The exit code.
    code: u8,
}

impl LeftOut {
    fn of(candidate: Candidate, failure: &Failure) -> Self {
        let (why, code) = (failure.about(candidate.entry.about.name), failure.exit_code());
        Self { candidate, why, code }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "left out: {}: {}", self.candidate.label(), self.why)
    }
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

/// What a run is of.
struct Place {
    candidate: usize,
    seed: u64,
    encoder: usize,
}

impl Run {
    fn of(finished: Finished<Vec<Curve>>, Place { candidate, seed, encoder }: Place) -> Self {
        Self {
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
        }
    }
}

/// Whether runs of `candidate` depend on the seed, with its settings, the delays of labels and the least
/// probability of every label.
pub(crate) fn draws(delay: Lateness, exploration_floor: f64, candidate: &Candidate) -> bool {
    let Candidate { entry, settings, .. } = candidate;
    let bandit = settings.is_bandit(entry);
    // The entry's forecast is that of full information; in their other mode, learners draw labels.
    let labels = bandit && (entry.feedback == Feedback::Either || exploration_floor > 0.0);
    let delays = !matches!(delay, Lateness::Fixed(_));
    labels || delays || entry.depends_on_seed(&settings.params).unwrap_or(false)
}

/// Runs every candidate with each of its seeds over the data.
pub(crate) fn run_all(
    pass_plan: &PassPlan,
    candidates: Vec<Candidate>,
    measures: &[Measure],
) -> Result<Comparison, Failure> {
    let PassPlan { stream: plan, repeats, threads } = pass_plan;
    let is_random = |candidate: &Candidate| draws(plan.delay, plan.exploration_floor, candidate);
    let seeds = |candidate: &Candidate| if is_random(candidate) { *repeats } else { 1 };
    let count = candidates.iter().fold(0, |count: u64, one| count.saturating_add(seeds(one)));
    if count > MOST_RUNS {
        return Err(Failure::usage(format!(
            "--repeats {repeats}: makes {count} runs; at most {MOST_RUNS} fit into one pass"
        )));
    }
    let wanted = |candidate: &Candidate| Wanted {
        entry: candidate.entry,
        settings: candidate.settings.clone(),
        copies: seeds(candidate) as usize,
        open_classes: false,
        named: true,
    };
    let (stream, fit, mut left_out) = opened(plan, candidates, &wanted)?;
    let candidates = able(plan, &stream, fit, &wanted, &mut left_out)?;
    for one in &left_out {
        note(format_args!("noregret: {one}"));
    }
    let wanted: Vec<Wanted> = candidates.iter().map(wanted).collect();
    let Entered { entrants, encoders, places } = entered(plan, &stream, &wanted, measures)?;
    check_need_of_floor(plan, &candidates, &entrants)?;
    let threads = threads.unwrap_or_else(processors);
    if plan.mode == Mode::Table {
        announce(&stream, &encoders[0], &entrants, &wanted, threads);
    }
    let progress = PassProgress::new(plan.mode, stream.rows());
    let mut feed = Feed::new(stream.reader, encoders, &plan.source.data, plan.source.on_bad_row, plan.limit);
    feed.stop_by(plan.stop());
    let (ended, seconds) = run_entrants(&mut feed, entrants, threads, progress)?;
    let why =
        |candidate: &Candidate, seed: u64, error: RunError| failure_of_run(pass_plan, candidate, seed, error);
    let known = left_out.len();
    let (candidates, runs) = complete(ended, places, candidates, &mut left_out, why);
    if count > 1 {
        for one in &left_out[known..] {
            note(format_args!("noregret: {one}"));
        }
    }
    if candidates.is_empty() {
        let first = left_out.swap_remove(0);
        return Err(Failure::data(format!("{}: {}", first.candidate.label(), first.why)));
    }
    check_rows(plan, &feed, &runs)?;
    Ok(Comparison { candidates, left_out, runs, feed, threads, seconds })
}

/// What a run has come to.
type Ended = Result<Finished<Vec<Curve>>, RunError>;

/// Runs all entrants over the rows; returns what they have come to, and the seconds that all took.
fn run_entrants(
    feed: &mut Feed,
    entrants: Vec<Entrant<Vec<Curve>>>,
    threads: usize,
    mut progress: PassProgress,
) -> Result<(Vec<Ended>, f64), Failure> {
    let clock = progress.clock();
    let options = PassOptions { threads, clock: &clock };
    let ended = pass(feed, entrants, &options, &mut |rows| progress.read(rows));
    let seconds = progress.finish();
    match ended {
        Ok(ended) => Ok((ended, seconds)),
        Err(PassError::Read(error)) => Err(Failure::reading(error)),
        Err(error @ PassError::Threads(..)) => Err(Failure::data(error)),
    }
}

/// The failure of a run, which names the seed if the candidate has several.
fn failure_of_run(plan: &PassPlan, candidate: &Candidate, seed: u64, error: RunError) -> Failure {
    let PassPlan { stream, repeats, .. } = plan;
    let seed = match *repeats > 1 && draws(stream.delay, stream.exploration_floor, candidate) {
        true => format!("seed {seed}: "),
        false => String::new(),
    };
    match Failure::running(stream.source.name(), error) {
        Failure::Data(what) => Failure::Data(format!("{seed}{what}")),
        failure => failure,
    }
}

/// Says what is odd about the rows; fails if nothing was learnt from them.
fn check_rows(plan: &StreamPlan, feed: &Feed, runs: &[Run]) -> Result<(), Failure> {
    if let Some(worst) = feed.encodings.iter().max_by_key(|encoding| encoding.bad_rows) {
        note_bad_rows(worst.bad_rows, worst.first_bad_row.as_deref());
    }
    for odd in feed.reader.odd_cells() {
        note(format_args!("noregret: {odd}"));
    }
    for missing in missing_numbers(feed) {
        note(format_args!("noregret: {missing}"));
    }
    // A file gets them before its first row.
    let labels = feed.encodings.first().map(|one| one.encoder.labels());
    if let Some(labels) = labels.filter(|_| feed.reader.size().is_none()) {
        for sentence in look_alike(labels).into_iter().chain(perhaps_missing(labels)) {
            note(format_args!("noregret: {sentence}"));
        }
    }
    if runs.iter().any(|run| run.score.rounds() == 0) {
        interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
        return Err(Failure::data(format!("{}: no labelled row was learnt from", plan.source.name())));
    }
    Ok(())
}

/// Remarks on missing numbers, by the first run that has each.
fn missing_numbers(feed: &Feed) -> impl Iterator<Item = String> {
    let zeros = feed.encodings.iter().find_map(|one| one.holes.zeros());
    let untold = feed.encodings.iter().find_map(|one| one.holes.untold(feed.reader.as_ref()));
    zeros.into_iter().chain(untold)
}

/// The runs of a pass before its first row.
struct Entered {
    entrants: Vec<Entrant<Vec<Curve>>>,
    /// The encoders, one for all runs that need the same.
    encoders: Vec<Encoder>,
    /// What each run is of.
    places: Vec<Place>,
}

/// Makes learners and encoders, for every seed of what is wanted.
fn entered(
    plan: &StreamPlan,
    stream: &Stream<'_>,
    wanted: &[Wanted],
    measures: &[Measure],
) -> Result<Entered, Failure> {
    let pipe = stream.reader.size().is_none();
    let (mut entrants, mut encoders, mut places) = (Vec::new(), Vec::<Encoder>::new(), Vec::new());
    for (candidate, wanted) in wanted.iter().enumerate() {
        let first = wanted.settings.seed.unwrap_or(plan.seed);
        for seed in (0..wanted.copies as u64).map(|repeat| first.wrapping_add(repeat)) {
            let (learner, encoder) = stream.learner(wanted, seed)?;
            if matches!(learner, AnyModel::Bandit(_)) {
                plan.check_floor(learner.problem().classes)?;
            }
            let options = plan.run_options(learner.about().forecast, pipe, seed);
            let same = encoders.iter().position(|other| are_alike(other, &encoder));
            let encoder = same.unwrap_or_else(|| {
                encoders.push(encoder);
                encoders.len() - 1
            });
            places.push(Place { candidate, seed, encoder });
            let floor = plan.exploration_floor;
            let sink = measures.iter().map(|measure| Curve::new(*measure)).collect();
            entrants.push(Entrant { learner, encoder, options, floor, sink });
        }
    }
    Ok(Entered { entrants, encoders, places })
}

/// Whether two encoders make the same examples.
fn are_alike(one: &Encoder, other: &Encoder) -> bool {
    (other.accepts(), other.radius()) == (one.accepts(), one.radius())
        && other.scaler().scaling() == one.scaler().scaling()
        && other.classes() == one.classes()
        && (other.has_intercept(), other.has_votes()) == (one.has_intercept(), one.has_votes())
}

/// Refuses a floor under the probabilities of labels, if none are drawn.
fn check_need_of_floor(
    plan: &StreamPlan,
    candidates: &[Candidate],
    entrants: &[Entrant<Vec<Curve>>],
) -> Result<(), Failure> {
    let draw = entrants.iter().any(|entrant| matches!(entrant.learner, AnyModel::Bandit(_)));
    if draw || plan.exploration_floor == 0.0 {
        return Ok(());
    }
    let learners = match candidates {
        [one] => format!("{} sees", one.entry.about.name),
        _ => "all of these see".to_owned(),
    };
    Err(Failure::usage(format!(
        "--exploration-floor: is for learners of bandit feedback; {learners} the label"
    )))
}

/// The candidates that have finished, with their runs: a candidate is there with all of its seeds, or not at
/// all. The others are added to `left_out`, with the reason that `why` gives for their first failure.
fn complete(
    ended: Vec<Ended>,
    places: Vec<Place>,
    candidates: Vec<Candidate>,
    left_out: &mut Vec<LeftOut>,
    why: impl Fn(&Candidate, u64, RunError) -> Failure,
) -> (Vec<Candidate>, Vec<Run>) {
    let (mut runs, mut failed) = (Vec::new(), BTreeMap::new());
    for (ended, place) in ended.into_iter().zip(places) {
        match ended {
            Ok(finished) => runs.push(Run::of(finished, place)),
            Err(error) => drop(failed.entry(place.candidate).or_insert((place.seed, error))),
        }
    }
    let mut there = Vec::new();
    for (at, candidate) in candidates.into_iter().enumerate() {
        let Some((seed, error)) = failed.remove(&at) else {
            runs.iter_mut().filter(|run| run.candidate == at).for_each(|run| run.candidate = there.len());
            there.push(candidate);
            continue;
        };
        runs.retain(|run| run.candidate != at);
        let failure = why(&candidate, seed, error);
        left_out.push(LeftOut::of(candidate, &failure));
    }
    (there, runs)
}

/// Opens the data for the candidates that learn from labels of its kind; returns them, and the others.
fn opened<'a>(
    plan: &'a StreamPlan,
    candidates: Vec<Candidate>,
    wanted: &dyn Fn(&Candidate) -> Wanted,
) -> Result<(Stream<'a>, Vec<Candidate>, Vec<LeftOut>), Failure> {
    let all: Vec<Wanted> = candidates.iter().map(wanted).collect();
    check_settings(&all)?;
    let classes = candidates.iter().any(|candidate| !candidate.is_real());
    let bandit = |candidate: &Candidate| wanted(candidate).is_bandit();
    // Classes and real numbers are not learnt from the same labels, and costs by bandits alone.
    let kinds: [&dyn Fn(&Candidate) -> bool; 3] =
        [&|candidate| candidate.is_real() != classes, &|candidate| candidate.is_real(), &bandit];
    let mut first = None;
    for (at, kind) in kinds.into_iter().enumerate() {
        let fit: Vec<Candidate> = candidates.iter().filter(|candidate| kind(candidate)).cloned().collect();
        // Standard input cannot be read twice.
        if fit.is_empty() || at > 0 && (fit.len() == candidates.len() || plan.source.data == "-") {
            continue;
        }
        let mine: Vec<Wanted> = fit.iter().map(wanted).collect();
        match Stream::open(plan, &mine) {
            Ok(stream) => {
                let forecasts_numbers =
                    Failure::usage("forecasts real numbers, which cannot be compared with classes");
                let why = first.unwrap_or(forecasts_numbers);
                let others = candidates.into_iter().filter(|candidate| !kind(candidate));
                let others = others.map(|candidate| LeftOut::of(candidate, &why)).collect();
                return Ok((stream, fit, others));
            }
            Err(failure) => drop(first.get_or_insert(failure)),
        }
        interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
    }
    Err(first.expect("there is a candidate"))
}

/// The candidates that can learn from the stream, at least one; the others are added to `left_out`.
fn able(
    plan: &StreamPlan,
    stream: &Stream<'_>,
    candidates: Vec<Candidate>,
    wanted: &dyn Fn(&Candidate) -> Wanted,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Candidate>, Failure> {
    let several = candidates.len() > 1;
    let (mut able, mut first) = (Vec::new(), None);
    for candidate in candidates {
        let mine = wanted(&candidate);
        let seed = mine.settings.seed.unwrap_or(plan.seed);
        match stream.check_memory(&mine).and_then(|()| stream.learner(&mine, seed)) {
            Ok(_) => able.push(candidate),
            Err(failure) => {
                left_out.push(LeftOut::of(candidate, &failure));
                first.get_or_insert(failure.of(mine.entry.about.name, several));
            }
        }
    }
    if able.is_empty() { Err(first.expect("there is a candidate")) } else { Ok(able) }
}

/// Prints the settings.
fn announce(
    stream: &Stream<'_>,
    encoder: &Encoder,
    entrants: &[Entrant<Vec<Curve>>],
    wanted: &[Wanted],
    threads: usize,
) {
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
    let several = wanted.iter().any(|one| one.entry.about.name != wanted[0].entry.about.name);
    for one in wanted {
        let name = one.entry.about.name;
        // Settings of one among several learners begin with its name.
        let own = if several { format!("{name}.") } else { String::new() };
        let given = &one.settings.params;
        let slow = stream.rows().and_then(|rows| Caution::of_rows(one.entry, given, rows));
        for caution in Caution::all(one.entry, given, one.is_bandit()).iter().chain(&slow) {
            let works = caution.settings().map(|(setting, value)| format!("--set {own}{setting}={value}"));
            let works: Vec<String> = works.collect();
            let sentence = format!("{name}: {}", caution.sentence(&works.join(" ")));
            if decisions.iter().all(|(_, known)| *known != sentence) {
                decisions.push(("practice", sentence));
            }
        }
    }
    for (subject, sentence) in &decisions {
        note_about(subject, sentence);
    }
}

impl Comparison {
    /// The failure of interrupted runs, with the number of rows, or of candidates that are left out.
    pub(crate) fn check(&self, plan: &PassPlan) -> Result<(), Failure> {
        let learnt = || format!("after {}", counted(self.runs[0].score.rounds(), "row"));
        interrupt::check(plan.stream.stop(), learnt)?;
        let Some(first) = self.left_out.first() else { return Ok(()) };
        let (missing, there) = (self.left_out.len(), self.candidates.len());
        let what =
            format!("{missing} of {} could not be compared", counted((missing + there) as u64, "learner"));
        Err(if first.code == 1 { Failure::usage(what) } else { Failure::data(what) })
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
