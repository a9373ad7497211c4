//! The plans of `predict` and `merge`.

use std::path::PathBuf;

use noregret::merge::Merge;
use noregret_stream::Offers;
use noregret_stream::decisions::rows::LogUse;
use noregret_stream::encode::examples::BadRows;

use super::Source;
use crate::args::{MergeArgs, PredictArgs};
use crate::choices::ExplainOf;
use crate::failure::Failure;
use crate::files::{self, Files};
use crate::forecasts::{Columns, Shown};

/// `noregret predict`.
pub(crate) struct PredictPlan {
    pub(crate) model: PathBuf,
    pub(crate) source: Source,
    /// What a line has.
    pub(crate) columns: Columns,
    pub(crate) explain: Option<ExplainOf>,
    /// Whether means over all rows are JSON.
    pub(crate) json: bool,
    pub(crate) abstain_cost: Option<f64>,
    pub(crate) greedy: bool,
    pub(crate) seed: u64,
    /// The file of the lines; standard output if absent.
    pub(crate) output: Option<PathBuf>,
}

impl PredictPlan {
    pub(crate) fn of(args: &PredictArgs) -> Result<Self, Failure> {
        let mut source = Source::of(&args.data, &args.reading)?;
        // A line for every row, whatever it is.
        source.on_bad_row = args.reading.on_bad_row.unwrap_or(BadRows::Skip);
        source.options.offers = Some(Offers::WIDTH);
        source.options.decisions = LogUse::Predicted;
        source.options.offered.clone_from(&args.offered);
        source.options.describes = args.explain.is_some();
        let shown = args.top_k.map(Shown::Best).or(args.probabilities.then_some(Shown::All));
        let columns = Columns {
            id: args.reading.id.is_some(),
            confidence: args.confidence,
            truth: false,
            json: args.json || shown.is_some() || args.explain == Some(ExplainOf::Rows),
            probabilities: shown,
        };
        if let Some(output) = args.output.as_deref().filter(|path| files::is_redis(path)) {
            let output = output.display();
            return Err(Failure::usage(format!(
                "--output {output}: must be a file; run --predictions writes to a Redis stream"
            )));
        }
        let files = Files::default().input("the model", &args.model).input("the data", &args.data);
        files.output("--output", files::file(args.output.as_deref())).check()?;
        Ok(Self {
            model: args.model.clone(),
            source,
            columns,
            explain: args.explain,
            json: args.json,
            abstain_cost: args.abstain_cost,
            greedy: args.greedy,
            seed: args.seed,
            output: args.output.clone(),
        })
    }
}

/// `noregret merge`.
pub(crate) struct MergePlan {
    pub(crate) models: Vec<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) how: Merge,
}

impl MergePlan {
    pub(crate) fn of(args: &MergeArgs) -> Result<Self, Failure> {
        let MergeArgs { models, output, how } = args.clone();
        let files = models.iter().fold(Files::default(), |files, model| files.input("a model", model));
        files.late_output("--output", Some(&output)).check()?;
        Ok(Self { models, output, how })
    }
}
