//! The end of a run, the same for both kinds of feedback: models are saved, and the summary is shown.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use noregret::algorithm::{AnyModel, Model};
use noregret::facts::RunFacts;
use noregret::guarantee::{Guarantee, Promise};
use noregret::model::Archive;
use noregret_stream::Format;
use noregret_stream::encode::survey::{look_alike, perhaps_missing, real_valued};
use noregret_stream::run::bandit::warning_after;
use noregret_stream::run::score::Score;
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Forecaster, Frozen, archive_of, in_single_precision};
use noregret_stream::watch::abstain::{Abstention, Report};
use noregret_stream::watch::certify::Certified;

use super::going_on::{set_read, stopped};
use super::{Learnt, Session};
use crate::facts::NO_KEY;
use crate::failure::Failure;
use crate::files::is_standard;
use crate::forecasts::Forecasts;
use crate::interrupt;
use crate::note::{note, note_bad_rows};
use crate::plan::RunPlan;
use crate::progress::{Mode, as_json};
use crate::report::Ending;
use crate::summary::{FIRST_APPEARANCES, Summary, print};

/// What theorems promise at the end of a run.
struct Promised {
    certificate: Option<Promise>,
    bound: Option<Promise>,
}

impl<'a> Session<'a> {
    /// Ends a run: completes the files, saves the models, and shows the summary.
    pub(super) fn close(mut self, mut learnt: Learnt) -> Result<(), Failure> {
        let plan = self.plan;
        let promised = self.promised(&learnt);
        (self.observers.progress.finish(
            &learnt.score,
            promised.certificate.clone(),
            learnt.learner.weights(),
        ))
        .map_err(Failure::output)?;
        let seconds = self.observers.progress.seconds();
        if learnt.score.rounds() == 0 {
            interrupt::check(plan.stream.stop(), interrupt::nothing_learnt)?;
            self.say_what_was_odd();
            let data = plan.stream.source.name();
            let schema = self.examples.reader.schema();
            let weights = schema.weight.filter(|_| plan.stream.source.options.weight.is_some());
            let weights = weights.map_or_else(String::new, |weight| {
                format!(", weights under {weight:?}, and rows of weight 0 are not learnt")
            });
            let sought = match (schema.label, schema.format) {
                (Some(label), _) => {
                    format!(" (labels were sought under {label:?}{weights}; --label names another column)")
                }
                (None, Format::Ndjson) => format!(" ({NO_KEY})"),
                (None, _) => String::new(),
            };
            return Err(Failure::data(format!("{data}: no labelled row was learnt from{sought}")));
        }
        let mut summary = self.summary(&mut learnt, &promised)?;
        self.say_what_was_odd();
        self.say_of_labels(learnt.score.rounds());
        self.observers.forecasts.take().map_or(Ok(()), Forecasts::finish)?;
        self.write_page(&learnt, &summary, promised)?;
        if let (Some(plot), Some(report)) = (self.risk_plot.take(), &summary.abstention) {
            plot.draw(summary.learner, report)?;
        }
        // The models first, so that they are saved even if the summary cannot be written.
        let score = learnt.score.clone();
        let warning = match &learnt.learner {
            AnyModel::Full(_) => summary.baselines.as_ref().and_then(|report| report.warning.clone()),
            AnyModel::Bandit(learner) => warning_after(learner.as_ref(), &score),
        };
        self.save(learnt, &summary)?;
        summary.seconds = Some(seconds);
        summary.rows_per_second = Some(score.rounds() as f64 / seconds);
        show(plan, &summary, &score, warning)?;
        let rows = self.examples.rows_read();
        interrupt::check(plan.stream.stop(), || stopped(plan, rows))
    }

    /// Certificate and bound, which do not cover the probability reserved for new classes.
    fn promised(&self, learnt: &Learnt) -> Promised {
        match &learnt.learner {
            AnyModel::Full(learner) if !self.open_classes => {
                let facts = &learnt.score.facts;
                let bound = facts.guarantee(learner.as_ref()).and_then(|bound| bound.regret_bound());
                Promised { certificate: facts.certificate(learner.as_ref()), bound }
            }
            AnyModel::Full(_) | AnyModel::Bandit(_) => Promised { certificate: None, bound: None },
        }
    }

    /// Notes on bad rows and odd cells.
    fn say_what_was_odd(&self) {
        note_bad_rows(self.examples.bad_rows(), self.examples.first_bad_row());
        for odd in self.examples.reader.odd_cells().into_iter().chain(self.examples.encoder.clipped_costs()) {
            note(format_args!("noregret: {odd}"));
        }
        for missing in self.examples.zeros().into_iter().chain(self.examples.untold()) {
            note(format_args!("noregret: {missing}"));
        }
    }

    /// Notes on the labels of a pipe, which a file gets before its first row.
    fn say_of_labels(&self, rounds: u64) {
        let Some(labels) = self.open_classes.then(|| self.examples.encoder.labels()) else { return };
        let numbers = real_valued(labels, rounds)
            .map(|found| format!("the label has {found}; --learner vaw forecasts numbers"));
        for sentence in numbers.into_iter().chain(look_alike(labels)).chain(perhaps_missing(labels)) {
            note(format_args!("noregret: {sentence}"));
        }
    }

    /// The summary, without times, so that equal runs give equal model files.
    fn summary(&self, learnt: &mut Learnt, promised: &Promised) -> Result<Summary<'a>, Failure> {
        let first_appearances = learnt.first_appearances.take();
        let Learnt { learner, score, .. } = &*learnt;
        let certified = self.certified(learner, &score.facts, promised.certificate.clone())?;
        let abstention = match (&self.observers.abstention, learner) {
            (Some(abstention), AnyModel::Full(learner)) => {
                Some(abstention_report(abstention, learner.as_ref(), &score.facts))
            }
            _ => None,
        };
        let mut numbers: BTreeMap<_, _> = learner.figures().into_iter().collect();
        numbers.extend(first_appearances.map(|losses| (FIRST_APPEARANCES, losses)));
        let (examples, about, rates) = (&self.examples, learner.about(), score.rates());
        let name = |label| examples.encoder.labels().name(label).into_owned();
        let baselines = self.observers.baselines.as_ref();
        let baselines = baselines.and_then(|all| all.report(rates.error_rate, rates.log_loss));
        let commonest = baselines.as_ref().and_then(|report| report.commonest);
        let classes = learner.problem().classes;
        Ok(Summary {
            kind: "summary",
            data: &self.plan.stream.source.data,
            learner: about.name,
            rates,
            baselines,
            commonest: commonest.map(|(label, share)| (name(label), share)),
            window: score.window_rates(),
            seconds: None,
            rows_per_second: None,
            certified_loss: certified.as_ref().map_or("", |_| loss_of(learner)),
            certified,
            abstention,
            numbers,
            bad_rows: examples.bad_rows(),
            large_rows: examples.encoder.large_rows(),
            clipped_rows: examples.encoder.scaler().clipped(),
            dropped_features: examples.reader.dropped_features(),
            resolved_parameters: learner.values(),
            weights: as_json(&learner.weights()),
            calibrated: match &self.observers.calibration {
                Some(_) => (0..classes).map(|class| name(class.into())).collect(),
                None => Vec::new(),
            },
            calibration: self.observers.calibration.as_ref().map(|calibration| calibration.report()),
            classes,
            features: learner.problem().features - usize::from(examples.encoder.has_intercept()),
            intercept: examples.encoder.has_intercept(),
            seed: self.options.seed,
        })
    }

    /// Writes the page of `--report`, if requested.
    fn write_page(
        &mut self,
        learnt: &Learnt,
        summary: &Summary<'_>,
        promised: Promised,
    ) -> Result<(), Failure> {
        let Some(page) = self.observers.page.take() else { return Ok(()) };
        let columns = match &learnt.learner {
            AnyModel::Full(learner) => page.columns(learner.as_ref(), &self.examples),
            AnyModel::Bandit(_) => Vec::new(),
        };
        page.write(Ending {
            columns,
            score: &learnt.score,
            summary,
            labels: self.examples.encoder.labels(),
            record: self.observers.record.as_ref(),
            certificate: promised.certificate,
            bound: promised.bound,
            weights: learnt.learner.weights(),
        })
    }

    /// Saves the models, if requested.
    fn save(&mut self, learnt: Learnt, summary: &Summary<'_>) -> Result<(), Failure> {
        let Learnt { mut learner, score, average, generator, stands, .. } = learnt;
        let plan = self.plan;
        let text = serde_json::to_string(summary).expect("plain numbers");
        let write = |mut archive: Archive, path: &Path| {
            archive.set_text("run", text.clone());
            model_file::write(&archive, path).map_err(Failure::saving)
        };
        let schema = self.examples.reader.schema();
        if let (Some(batch), Some(average)) = (&plan.batch_model, average) {
            let (mut encoder, schema) = (self.examples.encoder.clone(), schema.clone());
            if let Some(scaler) = encoder.scaler_mut().take_drawn() {
                *encoder.scaler_mut() = scaler;
            }
            let predictor = Forecaster::Average(average);
            write(Frozen { predictor, encoder, schema }.archive(), &batch.path)?;
        }
        let Some(path) = &plan.save else { return Ok(()) };
        self.facts.extend(&score.facts);
        // Moved, since the encoder may be as large as the learner.
        let encoder = &self.examples.encoder;
        let mut archive =
            archive_of((&mut learner).into(), encoder, &schema, generator.as_ref(), &self.facts);
        if let Some(stands) = stands {
            stands(&mut archive, &self.examples);
        }
        set_read(&mut archive, plan, &self.examples);
        if let Some(last) = &self.observers.last {
            archive = in_single_precision(&archive, last.rows());
        }
        write(archive, path)
    }

    /// Computes regret and bound, if requested.
    fn certified(
        &self,
        learner: &AnyModel,
        facts: &RunFacts,
        certificate: Option<Promise>,
    ) -> Result<Option<Certified>, Failure> {
        let Some(record) = &self.observers.record else { return Ok(None) };
        let about = learner.about();
        let theorem = format!("{}, {}: {}", about.paper.key, about.paper.place, about.guarantee);
        let guarantee = match learner {
            AnyModel::Full(learner) => facts.guarantee(learner.as_ref()),
            AnyModel::Bandit(learner) => facts.bandit_guarantee(learner.as_ref()),
        };
        let certified = record.certify(guarantee.expect("asked for before the run"), theorem, certificate);
        let mut certified = certified.map_err(|error| Failure::data(format!("--certify: {error}")))?;
        let logged =
            matches!(learner, AnyModel::Bandit(_)) && self.plan.stream.source.options.logged.is_some();
        if logged && certified.bound.is_none() {
            let why = "another policy played the labels of the log, and the theorem is about labels that the learner plays";
            certified.no_bound_because = Some(why.to_owned());
        }
        let scaling = self.examples.encoder.scaler().scaling();
        if scaling.adapts() && !certified.comparator.is_empty() {
            // Scaling changes during the run, so that the comparator is not linear in the raw rows.
            certified.comparator +=
                &format!(", of rows scaled as they were when they came (--scale {scaling})");
        }
        Ok(Some(certified))
    }
}

/// The loss that the learner's guarantee is about.
fn loss_of(learner: &AnyModel) -> &'static str {
    match learner.guarantee() {
        Some(
            Guarantee::Mistakes { .. } | Guarantee::ExpertMistakes { .. } | Guarantee::PolicyRegret { .. },
        ) => "expected mistakes",
        Some(Guarantee::SquaredRegret { .. }) => "cumulative squared loss",
        _ => "cumulative log-loss",
    }
}

/// Shows the summary, what is wrong with the result, and where the files are.
fn show(
    plan: &RunPlan,
    summary: &Summary<'_>,
    score: &Score,
    warning: Option<String>,
) -> Result<(), Failure> {
    let (mode, window) = (plan.stream.mode, plan.stream.window);
    if mode == Mode::Table {
        note("");
    }
    if plan.predictions.as_deref().is_some_and(is_standard) {
        // It may be closed: the work is done all the same.
        let folds = std::io::stderr().is_terminal();
        let _ = print(&mut std::io::stderr().lock(), folds, summary, score, mode, window);
    } else {
        let folds = std::io::stdout().is_terminal();
        print(&mut std::io::stdout().lock(), folds, summary, score, mode, window).map_err(Failure::output)?;
    }
    if mode == Mode::Table {
        if let Some(warning) = warning {
            note(format_args!("\nnoregret: {warning}."));
        }
        tell_where(plan);
    }
    Ok(())
}

/// The result of abstaining, with its guarantee.
fn abstention_report(abstention: &Abstention, learner: &dyn Model, facts: &RunFacts) -> Report {
    let mut report = abstention.report();
    match facts.abstention_bound(learner, report.asked) {
        Some(Ok(bound)) => {
            let paper = &learner.about().paper;
            report.guarantee = format!(
                "the total cost is at most {bound:.3} above the best expert's loss ({}, {})",
                paper.key, paper.place
            );
        }
        Some(Err(why)) => report.guarantee = format!("none: {why}"),
        None => {}
    }
    report
}

/// Prints the files that the run has written.
fn tell_where(plan: &RunPlan) {
    let batch = plan.batch_model.as_ref().map(|batch| &batch.path);
    for (path, what) in [
        (plan.save.as_ref(), "model is"),
        (batch, "batch predictor is"),
        (plan.log.as_ref(), "decisions are"),
        (plan.predictions.as_ref(), "predictions are"),
    ] {
        if let Some(path) = path.filter(|path| !is_standard(path)) {
            note(format_args!("The {what} in {}.", path.display()));
        }
    }
}
