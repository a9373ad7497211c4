//! `noregret run`: learns a stream.

mod bandit;
mod checks;
mod close;
mod full;
mod going_on;
mod observers;

use noregret::algorithm::{AnyModel, Model};
use noregret::batch::online_to_batch::Average;
use noregret::facts::RunFacts;
use noregret::guarantee::Guarantee;
use noregret::model::Archive;
use noregret::rng::Rng;
use noregret_stream::Stop;
use noregret_stream::encode::examples::ReadExamples;
use noregret_stream::run::RunOptions;
use noregret_stream::run::bandit::{Play, warning};
use noregret_stream::run::score::Score;
use noregret_stream::run::threads::workers;

use self::checks::{check_open, check_options, check_predictions};
use self::going_on::{Stands, check_going_on, skip};
use self::observers::{Observed, Observers};
use crate::abstention::RiskPlot;
use crate::args::RunArgs;
use crate::cmd::repeat::repeat;
use crate::failure::Failure;
use crate::interrupt;
use crate::note::{note, note_about};
use crate::open::{Opened, open};
use crate::plan::{Plan, RunPlan};
use crate::progress::{Mode, Progress, Total};
use crate::watched::Watched;

/// Runs `noregret run`.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    match Plan::of(args)? {
        Plan::Repeated(plan) => repeat(*plan),
        Plan::Once(plan) => once(&plan),
    }
}

/// One run: opens data and learner, learns, and closes.
fn once(plan: &RunPlan) -> Result<(), Failure> {
    check_predictions(plan)?;
    check_going_on(plan)?;
    let opened = open(plan).or_else(|failure| {
        interrupt::check(plan.stream.stop(), interrupt::nothing_learnt)?;
        Err(failure)
    })?;
    let (session, learner, mut play) = begin(plan, opened)?;
    match learner {
        AnyModel::Full(learner) => session.full(learner, play.generator),
        AnyModel::Bandit(_) => {
            play.floor = plan.stream.exploration_floor;
            session.bandit(learner, play)
        }
    }
}

/// Says what was decided, and makes the observers.
fn begin<'a>(plan: &'a RunPlan, mut opened: Opened) -> Result<(Session<'a>, AnyModel, Play), Failure> {
    prepare(plan, &mut opened)?;
    let Opened {
        learner,
        encoder,
        reader,
        rows,
        open_classes,
        takes_in,
        open_columns,
        seed,
        generator,
        continues,
        facts,
        archive,
        decisions,
    } = opened;
    let (stream, observe, forecast) = (&plan.stream, &plan.observe, learner.about().forecast);
    if stream.mode == Mode::Table {
        announce(&decisions, &learner);
    }
    let size = reader.size();
    let live = size.is_none();
    let watched = Watched::new(reader, None, &Stop::default());
    let total = match (rows, stream.limit, size) {
        (Some(rows), ..) | (None, Some(rows), _) => Total::Rows(rows),
        (None, None, Some(size)) => Total::Bytes(size, watched.position()),
        (None, None, None) => Total::Unknown,
    };
    let mut progress = Progress::new(stream.mode, forecast, total, stream.window, observe.certificates);
    if plan.save.is_some() || plan.batch_model.is_some() {
        progress = progress.outliving_pipe();
    }
    let observed = Observed { learner: &learner, encoder: &encoder, rows, live, decisions: &decisions };
    let observers = Observers::new(plan, progress, &observed)?;
    let (data, on_bad_row) = (&stream.source.data, stream.source.on_bad_row);
    let mut examples = ReadExamples::new(Box::new(watched), encoder, data, on_bad_row);
    let (going_on, loaded) = skip(plan, archive, &mut examples)?;
    if let Some(forecasts) = &observers.forecasts {
        examples.on_bad_row(forecasts.for_bad_rows());
    }
    let session = Session {
        plan,
        open_classes,
        open_columns,
        facts,
        options: RunOptions { takes_in, ..stream.run_options(forecast, live, seed) },
        examples,
        going_on,
        loaded,
        continues,
        observers,
        risk_plot: observe.risk_plot.as_deref().map(RiskPlot::open).transpose()?,
    };
    Ok((session, learner, Play::new(seed).with_generator(generator)))
}

/// Checks options against what was opened, and makes it ready for classes and columns to come.
fn prepare(plan: &RunPlan, opened: &mut Opened) -> Result<(), Failure> {
    let Opened { learner, encoder, open_classes, takes_in, open_columns, seed, .. } = opened;
    check_options(plan, learner, encoder)?;
    let scaling = encoder.scaler().scaling();
    if plan.batch_model.is_some() && scaling.adapts() {
        note(format_args!(
            "noregret: --batch-model: with --scale {scaling} the scaling of a row depends on earlier rows, so that the guarantee for future rows does not hold; it holds with --scale none or unit"
        ));
        encoder.scaler_mut().keep_drawn(*seed);
    }
    if plan.batch_model.is_some() && !competes_with_linear_predictors(learner) {
        note(format_args!(
            "noregret: --batch-model: {} has no theorem about linear predictors, so that nothing is promised for future rows; folklore has one",
            learner.about().name
        ));
    }
    if *open_classes {
        check_open(plan, "classes=K", "classes")?;
    }
    *takes_in = *takes_in && check_open(plan, "classes=K", "classes").is_ok();
    if *takes_in {
        encoder.make_room(usize::MAX, encoder.columns());
    }
    if *open_columns {
        check_open(plan, "features=D", "columns")?;
    }
    learner.set_workers(workers(plan.threads));
    Ok(())
}

/// Whether the theorem of `learner`, if it has one, is about linear predictors.
fn competes_with_linear_predictors(learner: &AnyModel) -> bool {
    matches!(
        learner.guarantee(),
        Some(
            Guarantee::Regret { ball: Some(_), .. }
                | Guarantee::SquaredRegret { .. }
                | Guarantee::IntervalRegret { .. }
                | Guarantee::Mistakes { .. }
        )
    )
}

/// Shows what was decided, and the warning about a bandit learner, if there is one.
fn announce(decisions: &[(&'static str, String)], learner: &AnyModel) {
    for (subject, sentence) in decisions {
        note_about(subject, sentence);
    }
    if let AnyModel::Bandit(learner) = learner
        && let Some(warning) = warning(learner.as_ref())
    {
        note_about("warning", &warning);
    }
}

/// A stream, and the settings of its run.
struct Session<'a> {
    plan: &'a RunPlan,
    open_classes: bool,
    open_columns: bool,
    /// Facts about the rounds that a loaded learner has learnt before.
    facts: RunFacts,
    options: RunOptions,
    examples: ReadExamples,
    /// The model file of an interrupted run to continue, bit for bit.
    going_on: bool,
    /// The model file of a loaded learner.
    loaded: Option<Archive>,
    /// The digest of the model file of a loaded bandit learner.
    continues: Option<String>,
    observers: Observers,
    risk_plot: Option<RiskPlot>,
}

/// The result of a run.
struct Learnt {
    learner: AnyModel,
    score: Score,
    /// The predictor of `--batch-model`.
    average: Option<Average<Box<dyn Model>>>,
    /// The losses of rounds in which a class appeared for the first time, if classes are open.
    first_appearances: Option<Vec<f64>>,
    /// The generator of labels, if labels are drawn.
    generator: Option<Rng>,
    /// Writes the state of the run into the model file, if the run can be continued.
    stands: Option<Stands>,
}
