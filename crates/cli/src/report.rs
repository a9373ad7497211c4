//! `--report FILE`: the HTML report of a run.

use std::path::Path;

use noregret::algorithm::{Forecast, Model};
use noregret::example::Label;
use noregret::guarantee::Promise;
use noregret_stream::data_name;
use noregret_stream::draw::report::{Page, Watch};
use noregret_stream::encode::examples::ReadExamples;
use noregret_stream::encode::labels::Labels;
use noregret_stream::run::score::Score;
use noregret_stream::run::{Outcome, Sink};
use noregret_stream::watch::certify::Record;
use noregret_stream::watch::influence::{self, Influence};

use crate::failure::Failure;
use crate::files::OutputFile;
use crate::summary::Summary;

/// The report of a run in progress.
pub(crate) struct RunPage {
    file: OutputFile,
    title: Option<String>,
    influence: Influence,
    watch: Watch,
    decisions: Vec<(String, String)>,
}

/// The learner's values at the end of the run.
pub(crate) struct Ending<'a> {
    pub(crate) score: &'a Score,
    pub(crate) summary: &'a Summary<'a>,
    pub(crate) labels: &'a Labels,
    pub(crate) record: Option<&'a Record>,
    pub(crate) certificate: Option<Promise>,
    pub(crate) bound: Option<Promise>,
    pub(crate) weights: Vec<(String, f64)>,
    /// The influence of each column.
    pub(crate) columns: Vec<(String, f64)>,
}

impl RunPage {
    /// A report at `path`.
    pub(crate) fn open(
        path: &Path,
        title: Option<&str>,
        forecast: Forecast,
        decisions: &[(&'static str, String)],
    ) -> Result<Self, Failure> {
        Ok(Self {
            file: OutputFile::open("--report", path)?,
            title: title.map(str::to_owned),
            influence: Influence::new(),
            watch: Watch::new(forecast),
            decisions: decisions.iter().map(|(what, how)| ((*what).to_owned(), how.clone())).collect(),
        })
    }

    /// The influence of each column on `learner`.
    pub(crate) fn columns(&self, learner: &dyn Model, examples: &ReadExamples) -> Vec<(String, f64)> {
        let encoder = &examples.encoder;
        let features = u32::try_from(learner.problem().features).unwrap_or(u32::MAX);
        let columns =
            influence::columns(&examples.reader.schema(), u32::from(encoder.has_intercept()), features);
        self.influence.report(learner, learner.about().forecast, encoder, &columns)
    }

    /// Writes the page.
    pub(crate) fn write(mut self, ending: Ending<'_>) -> Result<(), Failure> {
        let Ending { score, summary, labels, record, certificate, bound, weights, columns } = ending;
        self.watch.finish(score, certificate, bound, weights);
        let certified = summary.certified.as_ref();
        let weights = certified.and_then(|certified| certified.weights.as_ref());
        let rounds = self.watch.promised_rounds();
        let comparator = record.zip(weights).map(|(record, weights)| record.losses_after(weights, &rounds));
        let classes = if labels.is_empty() { 0 } else { summary.classes };
        let page = Page {
            title: self.title.as_deref(),
            baselines: summary.baselines.as_ref(),
            columns,
            learner: summary.learner,
            data: data_name(summary.data),
            watch: &self.watch,
            labels: (0..classes).map(|class| labels.name(Label::from(class)).into_owned()).collect(),
            decisions: self.decisions,
            abstention: summary.abstention.as_ref().filter(|report| report.coverage < 1.0),
            calibration: summary.calibration.as_ref().and_then(|report| report.classes.as_deref()),
            certified,
            comparator,
            summary: serde_json::to_value(summary).expect("plain numbers"),
        };
        self.file.write(page.html().as_bytes())
    }
}

impl Sink for RunPage {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.influence.observe(outcome, score)?;
        self.watch.observe(outcome, score)
    }
}
