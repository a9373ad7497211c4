//! What watches a run: progress, scores beside the learner's, and files of forecasts.

use std::ops::Range;

use noregret::algorithm::AnyModel;
use noregret_stream::encode::Encoder;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, Sink};
use noregret_stream::watch::abstain::Abstention;
use noregret_stream::watch::baseline::Baselines;
use noregret_stream::watch::calibration::Calibration;
use noregret_stream::watch::certify::Record;
use noregret_stream::watch::influence::Influence;

use super::checks::{is_ndjson, record};
use crate::abstention::abstention;
use crate::choices::CalibrationOf;
use crate::failure::Failure;
use crate::files::is_redis;
use crate::forecasts::{Columns, Forecasts, Shown};
use crate::plan::RunPlan;
use crate::progress::Progress;
use crate::report::RunPage;

/// The observers of a run, each present if requested.
pub(super) struct Observers {
    pub(super) progress: Progress,
    /// The rounds, for the comparator of `--certify`.
    pub(super) record: Option<Record>,
    pub(super) abstention: Option<Abstention>,
    pub(super) calibration: Option<Calibration>,
    /// The page of `--report`.
    pub(super) page: Option<RunPage>,
    /// The file of `--predictions`.
    pub(super) forecasts: Option<Forecasts>,
    /// The last rows.
    pub(super) last: Option<Influence>,
    pub(super) baselines: Option<Baselines>,
}

/// The stream that is observed.
pub(super) struct Observed<'a> {
    pub(super) learner: &'a AnyModel,
    pub(super) encoder: &'a Encoder,
    /// Number of rows, if it is known.
    pub(super) rows: Option<u64>,
    /// Whether the sender of the rows may wait for each answer.
    pub(super) live: bool,
    /// The settings, as (subject, sentence).
    pub(super) decisions: &'a [(&'static str, String)],
}

impl Observers {
    /// Those that the plan asks for.
    pub(super) fn new(plan: &RunPlan, progress: Progress, observed: &Observed<'_>) -> Result<Self, Failure> {
        let (stream, observe) = (&plan.stream, &plan.observe);
        let Observed { learner, encoder, rows, live, decisions } = *observed;
        let about = learner.about();
        let abstention = match learner {
            AnyModel::Full(learner) => abstention(observe, about, learner.abstaining().is_some())?,
            AnyModel::Bandit(_) => None,
        };
        let forecasts = plan.predictions.as_deref().map(|path| {
            let entries = is_redis(path);
            let columns = Columns {
                id: entries || stream.source.options.id.is_some(),
                confidence: true,
                truth: true,
                json: entries || is_ndjson(path) || plan.top_k.is_some(),
                probabilities: plan.top_k.map(Shown::Best),
            };
            Forecasts::open(path, columns, about.forecast, encoder.labels().clone(), live)
        });
        let page = observe.report.as_ref();
        let page = page.map(|path| RunPage::open(path, observe.title.as_deref(), about.forecast, decisions));
        // Only for immediate labels: baselines would see late labels too early, and bandit
        // feedback does not reveal them.
        let labels_are_seen = stream.delay.is_none() && matches!(learner, AnyModel::Full(_));
        Ok(Self {
            progress,
            record: observe.certify.then(|| record(learner, rows, stream.memory)).transpose()?,
            abstention,
            calibration: observe.calibration.map(|of| Calibration::new(of == CalibrationOf::Classes)),
            page: page.transpose()?,
            forecasts: forecasts.transpose()?,
            last: plan.save_32bit.then(Influence::new),
            baselines: labels_are_seen.then(|| Baselines::new(learner.problem().classes)),
        })
    }
}

impl Sink for Observers {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.progress.observe(outcome, score)?;
        self.record.observe(outcome, score)?;
        self.abstention.observe(outcome, score)?;
        self.calibration.observe(outcome, score)?;
        self.page.observe(outcome, score)?;
        self.forecasts.observe(outcome, score)?;
        self.last.observe(outcome, score)?;
        self.baselines.observe(outcome, score)
    }

    fn reads_forecasts(&self) -> bool {
        self.record.is_some()
            || self.abstention.is_some()
            || self.calibration.is_some()
            || self.page.is_some()
            || self.forecasts.is_some()
    }

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        self.page.is_some() || self.progress.looks_inside(scored)
    }
}
