//! A run with bandit feedback: it is seen only how good the played label was. Decisions may be logged.

use std::path::Path;

use noregret::algorithm::AnyModel;
use noregret::prediction::Decision;
use noregret_stream::decisions::file::{LogFile, LogFileError};
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::run::RunError;
use noregret_stream::run::bandit::{Journal, Play, run_bandit_on};
use noregret_stream::run::standing::Standing;
use noregret_stream::save::Learning;

use super::going_on::{checkpoint, stands, watching};
use super::{Learnt, Session};
use crate::checkpoint::{Next, Segments};
use crate::failure::Failure;

impl Session<'_> {
    /// A run with bandit feedback.
    pub(super) fn bandit(mut self, learner: AnyModel, mut play: Play) -> Result<(), Failure> {
        let plan = self.plan;
        let stood = self.go_on(learner.problem(), learner.about().accepts, &Decision::default())?;
        let (mut standing, whole) = stood.unwrap_or_else(|| (Standing::bandit(&self.options), None));
        // The program that sends rows through a pipe may wait for each decision.
        let live = self.examples.reader.size().is_none();
        let log = plan.log.as_deref().map(|path| self.log(path, &learner, &play, whole));
        let mut log = log.transpose()?.map(|log| log.live(live));
        let mut learner = learner.bandit()?;
        let mut options = self.options.clone();
        let stop = plan.stream.stop();
        let mut segments = Segments::new(&mut self.examples, stop, plan.checkpoint, (1, 0), options.limit);
        let failure = |error: RunError| match (error, &plan.log) {
            (RunError::Log(error), Some(path)) => Failure::writing("--log", path, &error),
            (error, _) => Failure::running(plan.stream.source.name(), error),
        };
        let settle = |log: &mut Option<LogWriter<LogFile>>| match (log, &plan.log) {
            (Some(log), Some(path)) => {
                log.get_mut().settle().map_err(|error| Failure::writing("--log", path, &error))
            }
            _ => Ok(None),
        };
        loop {
            options.limit = segments.begin();
            let (before, observers) = (standing.rounds, &mut self.observers);
            let ran = if let Some(log) = &mut log {
                // The log needs the rows, which examples encoded ahead lack.
                let (examples, learner) = (&mut self.examples, learner.as_mut());
                run_bandit_on(examples, learner, observers, &options, &mut play, Some(log), &mut standing)
            } else {
                let (play, learner, standing) = (&mut play, learner.as_mut(), &mut standing);
                self.examples.ahead(options.limit, |examples| {
                    run_bandit_on(examples, learner, observers, &options, play, None, standing)
                })
            };
            ran.map_err(failure)?;
            if segments.end(standing.rounds - before, &mut self.examples) == Next::Over {
                break;
            }
            // The log first, so that it contains all decisions of the model.
            let bytes = settle(&mut log)?;
            let learning = Learning::Bandit(learner.as_mut());
            let extra = (bytes, &self.facts);
            let watching = watching(&self.observers);
            checkpoint(plan, learning, Some(&play.generator), &self.examples, &standing, watching, extra)?;
        }
        if stop.asked().is_none() {
            let journal = log.as_mut().map(|log| log as &mut dyn Journal);
            standing.finish_bandit(learner.as_mut(), journal).map_err(failure)?;
        }
        let goes_on = plan.checkpoint.is_some() || stop.asked().is_some();
        let bytes = if goes_on { settle(&mut log)? } else { None };
        if let (Some(log), Some(path)) = (log, &plan.log) {
            log.into_inner().finish().map_err(|error| Failure::writing("--log", path, &error))?;
        }
        let score = standing.score.clone();
        let stands = goes_on.then(|| stands(standing, watching(&self.observers), bytes, self.facts.clone()));
        let (learner, generator) = (AnyModel::Bandit(learner), Some(play.generator));
        self.close(Learnt { learner, score, average: None, first_appearances: None, generator, stands })
    }

    /// Starts the decision log, or continues one after its first `whole` bytes.
    fn log(
        &self,
        path: &Path,
        learner: &AnyModel,
        play: &Play,
        whole: Option<u64>,
    ) -> Result<LogWriter<LogFile>, Failure> {
        let refused = |error: LogFileError| match error {
            LogFileError::Io { .. } => Failure::data(format!("--log {error}")),
            error => Failure::usage(format!("--log {error}")),
        };
        let (encoder, schema) = (&self.examples.encoder, self.examples.reader.schema());
        if let Some(bytes) = whole {
            let file = LogFile::go_on(path, bytes).map_err(refused)?;
            return Ok(LogWriter::go_on(file, encoder.labels(), &schema.columns));
        }
        let file = LogFile::create(path).map_err(refused)?;
        let continues = self.continues.clone();
        let seed = self.options.seed;
        let start = Start { learner, seed, continues, play, encoder, schema, when_learnt: false };
        LogWriter::new(file, &start).map_err(|error| Failure::writing("--log", path, &error))
    }
}
