//! Determines the facts about a stream before its first round, and makes learners for it.

mod pipe;

use noregret::algorithm::AnyModel;
use noregret::learner::{Accepts, Classes};
use noregret::problem::Problem;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::encode::survey::{Survey, SurveyOptions};
use noregret_stream::run::bandit::decides_among;
use noregret_stream::{Columns, Reader};

use crate::failure::Failure;
use crate::hint::survey_error;
use crate::interrupt;
use crate::note::{counted, note, short};
use crate::plan::{Source, StreamPlan};
use crate::progress::Mode;
use crate::settings::Settings;
use crate::wanted::Wanted;
use crate::watched::Watched;

/// Largest size in bytes of the rows that are kept from the first pass for the second one.
const MOST_KEPT: usize = 256 << 20;

/// Opened data with their facts.
pub(crate) struct Stream<'a> {
    plan: &'a StreamPlan,
    pub(crate) reader: Box<dyn Reader>,
    facts: Facts,
    /// The columns of a block, where labels on offer have features of their own.
    block: Option<u32>,
    /// Description of the recognised properties.
    described: Vec<(&'static str, String)>,
}

impl<'a> Stream<'a> {
    /// Opens the data for learners with the same kind of target and the same declared classes and
    /// features.
    pub(crate) fn open(plan: &'a StreamPlan, wanted: &[Wanted]) -> Result<Self, Failure> {
        // Invalid parameters are rejected before a long first pass; dimensions are not known yet.
        if wanted.iter().all(|wanted| wanted.named) {
            check_settings(wanted)?;
        }
        let mut source = plan.source.clone();
        let bandits = wanted.iter().all(Wanted::is_bandit);
        source.options.offers = bandits.then(|| wanted[0].block()).transpose()?;
        let mut reader = source.open()?;
        let block = reader.schema().block();
        if let (Some(_), Some(scaling)) = (block, plan.scaling.filter(|scaling| *scaling != Scaling::None)) {
            return Err(Failure::usage(format!(
                "--scale {scaling}: the labels on offer have features of their own, which are hashed and stay as they are; leave the option out"
            )));
        }
        for one in wanted.iter().filter(|_| block.is_some()) {
            let (width, first) = (one.block()?, wanted[0].block()?);
            if width != first {
                return Err(Failure::usage(format!(
                    "width = {width}: compared learners read the same rows, which have {first} columns for each label"
                )));
            }
        }
        let substitutes = block.map(|width| wanted.iter().map(|one| one.for_blocks(width)).collect());
        let substitutes: Option<Vec<Wanted>> = substitutes.transpose()?;
        let wanted = substitutes.as_deref().unwrap_or(wanted);
        check_settings(wanted)?;
        let mut as_they_are = true;
        for wanted in wanted {
            as_they_are &= wanted.scale_free()?;
        }
        let scale = plan.scaling.or((as_they_are || block.is_some()).then_some(Scaling::None));
        let Settings { classes, features, .. } = wanted[0].settings;
        if let Columns::Hashed { .. } = reader.columns() {
            // Checked before the first pass, which needs memory for every column itself.
            let features = reader.columns().count() as usize + usize::from(plan.intercept);
            let classes = classes.map_or(2, |classes| classes as usize);
            check_memory(plan, wanted, &Problem::new(classes, features).with_sparse(true))?;
        }
        let described = describe_reader(&plan.source, reader.as_ref());
        for sentence in reader.notes() {
            note(format_args!("noregret: {}: {sentence}", plan.source.name()));
        }
        let facts = if reader.size().is_some() {
            // A separate line, before the table of the second pass.
            let shown = (plan.mode == Mode::Table).then_some("first pass");
            reader.keep(MOST_KEPT);
            let mut watched = Watched::new(reader, shown, plan.stop());
            let survey = Survey::take(
                &mut watched,
                &SurveyOptions {
                    name: &plan.source.data,
                    scaling: scale,
                    classes: wanted[0].entry.about.accepts.classes,
                    features: features.map(|features| features as usize),
                    bad_rows: plan.source.on_bad_row,
                },
            )
            .map_err(|error| Failure::data(survey_error(&plan.source.data, &error)))?;
            interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
            let (schema, kept) = (watched.schema(), watched.again());
            drop(watched);
            reader = match kept {
                Some(kept) => kept,
                None => source.with_schema(schema).open()?,
            };
            let numbers = reader.schema().numbers().unwrap_or(0) as usize;
            Facts { numbers, ..Facts::of_file(plan, wanted, &survey, block)? }
        } else {
            Facts::of_pipe(scale, wanted, reader.as_ref())?
        };
        let stream = Self { plan, reader, facts, block, described };
        check_memory(plan, wanted, &stream.problem())?;
        Ok(stream)
    }

    /// Whether classes are added during the run.
    pub(crate) fn open_classes(&self) -> bool {
        self.facts.open_classes
    }

    /// Whether columns are added during the run.
    pub(crate) fn open_columns(&self) -> bool {
        self.facts.open_columns
    }

    /// Whether another policy has played labels.
    pub(crate) fn is_logged(&self) -> bool {
        self.facts.logged
    }

    /// Number of rows, if there was a first pass.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.facts.rows
    }

    /// The problem by the data and the arguments, before a learner's own radius.
    fn problem(&self) -> Problem {
        let facts = &self.facts;
        let intercept = self.has_intercept();
        let radius = facts.radius.map(|radius| {
            // Slightly larger, so that rounding never puts the largest row outside.
            let radius = (radius * radius + f64::from(u8::from(intercept))).sqrt() * (1.0 + 1e-12);
            if radius > 0.0 { radius } else { 1.0 }
        });
        let features = facts.columns + usize::from(intercept);
        Problem { classes: facts.classes, features, radius, horizon: facts.rows, sparse: facts.sparse }
    }

    /// Whether rows have a constant feature; blocks have one each.
    fn has_intercept(&self) -> bool {
        self.plan.intercept && self.block.is_none()
    }

    /// Makes a learner and its encoder.
    pub(crate) fn learner(&self, wanted: &Wanted, seed: u64) -> Result<(AnyModel, Encoder), Failure> {
        let substitute = self.block.map(|width| wanted.for_blocks(width)).transpose()?;
        let wanted = substitute.as_ref().unwrap_or(wanted);
        let (facts, accepts) = (&self.facts, wanted.entry.about.accepts);
        // Probability vectors have all classes.
        let accepts = Accepts { soft_labels: accepts.soft_labels && !facts.open_classes, ..accepts };
        // Also in comparisons with learners that need scaling, so that every run is the same as
        // alone.
        let as_they_are = self.plan.scaling.is_none() && wanted.scale_free()?;
        let scaling = if as_they_are { Scaling::None } else { facts.scaling };
        let mut problem = self.problem();
        if scaling != facts.scaling {
            // The measured radius is that of scaled rows, which this learner does not use.
            problem.radius = None;
        }
        // The constant feature is no expert.
        let intercept = self.has_intercept() && !wanted.votes();
        problem.features = facts.columns + usize::from(intercept);
        problem.horizon = wanted.settings.horizon.or(problem.horizon);
        let learner = wanted.entry.make_any(&wanted.settings.params, problem, seed)?;
        if let AnyModel::Bandit(learner) = &learner
            && facts.some_only
            && !decides_among(learner.as_ref())
        {
            return Err(Failure::usage(format!(
                "{}: some rows have only some of the labels on offer, and it cannot play some of its labels only; auto can",
                wanted.entry.about.name
            )));
        }
        if let AnyModel::Bandit(learner) = &learner
            && facts.logged
            && !learner.learns_of_others()
        {
            return Err(Failure::usage(format!(
                "{}: learns from rounds in which it has tossed a coin, and another policy has played the labels of the data; auto learns from any",
                wanted.entry.about.name
            )));
        }
        let columns = if facts.open_columns { u32::MAX as usize } else { facts.columns };
        let classes = if facts.open_classes { usize::MAX } else { facts.classes };
        let encoder = Encoder::new(columns, accepts)
            .with_labels(facts.labels.clone(), classes)
            .with_scaler(Scaler::of_table(scaling, facts.numbers))
            .with_intercept(intercept)
            .with_sparse(facts.sparse)
            .with_votes(wanted.votes())
            .with_large_row(self.plan.on_large_row)
            .with_radius(learner.problem().radius)
            .with_costs(matches!(learner, AnyModel::Bandit(_)).then_some(self.plan.costs));
        Ok((learner, encoder))
    }

    /// The settings of data and features, as (subject, sentence).
    pub(crate) fn decisions(&self, encoder: &Encoder) -> Vec<(&'static str, String)> {
        let intercept = if encoder.has_intercept() { "with intercept" } else { "no intercept" };
        let storage = if encoder.is_sparse() { "sparse rows" } else { "dense rows" };
        let mut features = format!("scaling {}, {intercept}, {storage}", encoder.scaler().scaling());
        if encoder.radius().is_finite() {
            features += &format!(", largest norm {}", short(encoder.radius()));
        }
        let mut decisions = self.described.clone();
        decisions.extend([("stream", self.facts.description.clone()), ("features", features)]);
        decisions
    }
}

/// Facts about a stream before its first round.
struct Facts {
    classes: usize,
    /// Whether there may be more classes.
    open_classes: bool,
    labels: Labels,
    /// Number of columns, or, if there may be more, of those known.
    columns: usize,
    open_columns: bool,
    /// For a table, the number of numeric columns.
    numbers: usize,
    scaling: Scaling,
    radius: Option<f64>,
    sparse: bool,
    rows: Option<u64>,
    /// Whether some rows may have only some of the labels on offer.
    some_only: bool,
    /// Whether another policy has played labels.
    logged: bool,
    description: String,
}

impl Facts {
    /// The facts from a first pass and from settings; with labels on offer, in blocks of `block` columns.
    fn of_file(
        plan: &StreamPlan,
        wanted: &[Wanted],
        survey: &Survey,
        block: Option<u32>,
    ) -> Result<Self, Failure> {
        let settings = &wanted[0].settings;
        if survey.rows == 0 {
            return Err(Failure::data(format!("{}: has no rows that can be read", plan.source.data)));
        }
        if survey.labelled == 0 {
            return Err(Failure::data(format!(
                "{}: none of its {} rows has a label",
                plan.source.data, survey.rows
            )));
        }
        let columns = survey.columns;
        if columns == 0 && settings.features.is_none() {
            return Err(Failure::data(format!(
                "{}: none of its {} rows has a feature to learn from (or --set features=D)",
                plan.source.data, survey.rows
            )));
        }
        let different = survey.labels.len() as u64;
        if different == survey.labelled && different >= 20 {
            note(format_args!(
                "noregret: {}: every one of its {different} labels is different; is it the right label column?",
                plan.source.data
            ));
        }
        let takes = wanted[0].entry.about.accepts.classes;
        if let Some(line) = survey.costs
            && takes != Classes::Real
            && !wanted.iter().all(Wanted::is_bandit)
        {
            return Err(Failure::data(format!(
                "{}:{line}: the label gives costs of actions, where a class was needed; `--feedback bandit` learns from them, and `noregret evaluate --format vw` reads such data",
                plan.source.data
            )));
        }
        let classes = match takes {
            Classes::Real => 1,
            Classes::Two | Classes::Any => {
                let found = survey.labels.len();
                let classes = settings.classes.map_or(found, |classes| classes as usize);
                if classes < found {
                    return Err(Failure::data(format!(
                        "{}: has {found} classes; at most classes = {classes} were declared",
                        plan.source.data
                    )));
                }
                if classes < 2 {
                    let only = survey.labels.iter().next().unwrap_or_default();
                    return Err(Failure::data(format!(
                        "{}: every label is {only:?}; at least 2 classes were needed (or --set classes=K)",
                        plan.source.data
                    )));
                }
                classes
            }
        };
        let mut description = counted(survey.rows, "row");
        if survey.labelled < survey.rows {
            description += &format!(", {} labelled", survey.labelled);
        }
        if takes == Classes::Real {
            description += ", real-valued target";
        } else {
            description += &format!(", {classes} classes");
        }
        let columns = block.map_or(columns, |width| classes.saturating_mul(width as usize));
        let features = match block {
            Some(width) => format!("{width} columns for each label on offer"),
            None => counted(columns as u64, "feature"),
        };
        description +=
            &format!(", {features}, {:.1} non-zero a row", survey.non_zeros as f64 / survey.rows as f64);
        Ok(Self {
            classes,
            open_classes: false,
            labels: if block.is_some() { positions(classes) } else { survey.labels.clone() },
            columns,
            open_columns: false,
            numbers: 0,
            scaling: survey.scaling,
            radius: Some(survey.radius),
            sparse: block.is_some() || (survey.is_sparse() && survey.scaling != Scaling::Standard),
            some_only: survey.fewest_offered < classes,
            logged: survey.logged,
            rows: Some(plan.limit.map_or(survey.rows, |limit| limit.min(survey.rows))),
            description,
        })
    }
}

/// Labels that are called by their positions in a row.
fn positions(count: usize) -> Labels {
    let names: Vec<String> = (0..count).map(|position| position.to_string()).collect();
    names.iter().map(String::as_str).collect()
}

/// Refuses parameters that cannot be right, before a long first pass; dimensions are not known yet.
fn check_settings(wanted: &[Wanted]) -> Result<(), Failure> {
    for Wanted { entry, settings, .. } in wanted {
        let checked = entry.check_values(&settings.params).map_err(Failure::from);
        checked
            .and_then(|()| settings.check(entry))
            .map_err(|failure| failure.of(entry.about.name, wanted.len() > 1))?;
    }
    Ok(())
}

/// Rejects learners whose states would exceed the memory limit.
fn check_memory(plan: &StreamPlan, wanted: &[Wanted], problem: &Problem) -> Result<(), Failure> {
    let mut total: usize = 0;
    for Wanted { entry, settings, copies, .. } in wanted {
        let numbers = entry.numbers(&settings.params, problem)?;
        total = total.saturating_add(numbers.saturating_mul(8).saturating_mul(*copies));
    }
    let mib = total >> 20;
    if mib as u64 <= plan.memory {
        return Ok(());
    }
    let (about, copies) = (wanted[0].entry.about, wanted[0].copies);
    let which = match wanted {
        [_] => about.name.to_owned(),
        several => format!("the {} learners together", several.len()),
    };
    let why = match wanted {
        [_] => {
            format!(" ({}){}", about.memory, if copies > 1 { ", each of its snapshots as much" } else { "" })
        }
        _ => String::new(),
    };
    Err(Failure::usage(format!(
        "{which} would take {mib} MiB for {} classes and {} features{why}; allow it with --memory {mib}, hash features with --hash-bits, or choose {}, see `noregret list`",
        problem.classes,
        problem.features,
        if wanted.len() == 1 { "a learner that takes less" } else { "learners that take less" },
    )))
}

/// The reader's description in a sentence.
pub(crate) fn describe_reader(source: &Source, reader: &dyn Reader) -> Vec<(&'static str, String)> {
    // The columns of a table have separate lines.
    let own = |subject: &str| TABLE.contains(&subject);
    let described = reader.describe();
    let details = described.iter().filter(|(subject, _)| !own(subject));
    let details: Vec<String> = details.map(|(subject, what)| format!("{subject} {what}")).collect();
    let mut lines = vec![("data", format!("{}: {}", source.name(), details.join(", ")))];
    lines.extend(described.into_iter().filter(|(subject, _)| own(subject)));
    lines
}

/// Lines about the columns of a table with text, times or ignored columns.
const TABLE: [&str; 5] = ["numbers", "categories", "text", "time", "left out"];
