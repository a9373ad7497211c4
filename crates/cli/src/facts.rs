//! Determines the facts about a stream before its first round, and makes learners for it.

mod checks;
mod pipe;

use noregret::algorithm::AnyModel;
use noregret::learner::Classes;
use noregret::problem::Problem;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::encode::survey::{Survey, SurveyOptions, look_alike, many_with_unit, perhaps_missing};
use noregret_stream::setup::{Facts, leaves_rows};
use noregret_stream::{Columns, Format, Reader, Schema};

use crate::failure::Failure;
use crate::hint::{many_numbers, survey_error};
use crate::interrupt;
use crate::note::{counted, note, short};
use crate::plan::{Source, StreamPlan};
use crate::progress::Mode;
use crate::wanted::Wanted;
use crate::watched::Watched;
use checks::LabelWords;
use pipe::of_pipe;

/// Largest size in bytes of the rows that are kept from the first pass for the second one.
const MOST_KEPT: usize = 256 << 20;

/// Opened data with their facts.
pub(crate) struct Stream<'a> {
    plan: &'a StreamPlan,
    pub(crate) reader: Box<dyn Reader>,
    facts: Facts,
    /// The problem of the first learner.
    problem: Problem,
    /// Description of the facts.
    description: String,
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
        if bandits {
            source.options.offers = Some(wanted[0].block()?);
            source = source.for_decisions(plan.costs.unwrap_or_default());
        }
        // A first pass finds all columns, unless their number is declared; those of votes are experts.
        let takes_columns = |one: &Wanted| one.settings.features.is_none() && !one.entry.takes_votes();
        source.options.tells_missing = source.is_file() && wanted.iter().all(takes_columns);
        let reader = source.open()?;
        let schema = reader.schema();
        check_blocks(plan, wanted, &schema)?;
        let block = schema.block();
        let substitutes = block.map(|width| for_blocks(wanted, width)).transpose()?;
        let wanted = substitutes.as_deref().unwrap_or(wanted);
        check_settings(wanted)?;
        let mut as_they_are = true;
        for wanted in wanted {
            as_they_are &= leaves_rows(wanted.entry, &wanted.settings.params)?;
        }
        let scale = match block {
            Some(_) => plan.scaling.or(Some(Scaling::Mixed)),
            None => plan.scaling.or(as_they_are.then_some(Scaling::None)),
        };
        if let Columns::Hashed { .. } = reader.columns() {
            // Checked before the first pass, which needs memory for every column itself.
            let features = reader.columns().count() as usize + usize::from(plan.intercept);
            let classes = wanted[0].settings.classes.map_or(2, |classes| classes as usize);
            check_memory(plan, wanted, &Problem::new(classes, features).with_sparse(true))?;
        }
        let described = describe_reader(&plan.source, reader.as_ref());
        for sentence in reader.notes() {
            note(format_args!("noregret: {}: {sentence}", plan.source.name()));
        }
        let (reader, (facts, description)) = if reader.size().is_some() {
            first_pass(plan, wanted, scale, &source, reader)?
        } else {
            let found = of_pipe(plan, scale, wanted, reader.as_ref())?;
            (reader, found)
        };
        let problem = facts.problem(wanted[0].entry, &plan.asked(&wanted[0], plan.seed))?;
        check_memory(plan, wanted, &problem)?;
        Ok(Self { plan, reader, facts, problem, description, described })
    }

    /// Refuses a learner whose state alone would exceed the memory limit.
    pub(crate) fn check_memory(&self, wanted: &Wanted) -> Result<(), Failure> {
        check_memory(self.plan, std::slice::from_ref(&self.wanted(wanted)?), &self.problem)
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

    /// The settings, as the learner is made with them.
    fn wanted(&self, wanted: &Wanted) -> Result<Wanted, Failure> {
        self.facts.schema.block().map_or_else(|| Ok(wanted.clone()), |width| wanted.for_blocks(width))
    }

    /// Makes a learner and its encoder.
    pub(crate) fn learner(&self, wanted: &Wanted, seed: u64) -> Result<(AnyModel, Encoder), Failure> {
        let wanted = self.wanted(wanted)?;
        let made = self.facts.clone().make(wanted.entry, &self.plan.asked(&wanted, seed))?;
        Ok((made.learner, made.encoder))
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
        decisions.extend([("stream", self.description.clone()), ("features", features)]);
        decisions
    }
}

/// Refuses options that do not go with labels on offer that have features of their own, or with other rows.
fn check_blocks(plan: &StreamPlan, wanted: &[Wanted], schema: &Schema) -> Result<(), Failure> {
    let block = schema.block();
    let fits = |scaling: &Scaling| matches!(scaling, Scaling::None | Scaling::Mixed);
    if let (Some(_), Some(scaling)) = (block, plan.scaling.filter(|scaling| !fits(scaling))) {
        return Err(Failure::usage(format!(
            "--scale {scaling}: the labels on offer have features of their own, whose numbers are scaled as mixed or, with none, not at all; leave the option out"
        )));
    }
    if plan.scaling == Some(Scaling::Mixed) && block.is_none() && schema.numbers().is_none() {
        return Err(Failure::usage(
            "--scale mixed: is for tables with text, times or styled numbers, and for labels on offer with features, and would scale \
             nothing here; --scale standard leaves columns alone that have the values 0 and 1 only, as categories have",
        ));
    }
    for one in wanted.iter().filter(|_| block.is_some()) {
        let (width, first) = (one.block()?, wanted[0].block()?);
        if width != first {
            return Err(Failure::usage(format!(
                "width = {width}: compared learners read the same rows, which have {first} columns for each label"
            )));
        }
    }
    Ok(())
}

/// These learners for rows whose labels on offer have blocks of `width` columns.
fn for_blocks(wanted: &[Wanted], width: u32) -> Result<Vec<Wanted>, Failure> {
    // Of several, those that know labels by name are refused when they are made.
    let (able, refused): (Vec<_>, Vec<_>) =
        wanted.iter().map(|one| one.for_blocks(width)).partition(Result::is_ok);
    let first = if able.is_empty() { refused } else { able };
    first.into_iter().collect()
}

/// The reader at its first row, and the facts with their description.
type Found = (Box<dyn Reader>, (Facts, String));

/// Reads a file once.
fn first_pass(
    plan: &StreamPlan,
    wanted: &[Wanted],
    scale: Option<Scaling>,
    source: &Source,
    mut reader: Box<dyn Reader>,
) -> Result<Found, Failure> {
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
            features: wanted[0].settings.features.map(|features| features as usize),
            bad_rows: plan.source.on_bad_row,
        },
    );
    let (schema, kept, odd) = (watched.schema(), watched.again(), watched.odd_cells());
    let label = LabelWords::of(plan, &schema);
    let failed = |error| Failure::data(survey_error(&plan.source.data, label.way_out, &error));
    let survey = survey.map_err(failed)?;
    interrupt::check(plan.stop(), interrupt::nothing_learnt)?;
    drop(watched);
    let reader = match kept {
        Some(kept) => kept,
        None => source.with_schema(schema).open()?,
    };
    let found = of_file(plan, wanted, &survey, reader.schema(), &label);
    // What is missing may be the reason.
    let found = found.inspect_err(|_| odd.iter().for_each(|odd| note(format_args!("noregret: {odd}"))))?;
    let numbers = many_numbers(&survey).map(|sentence| sentence + label.way_out);
    let labels = &survey.labels;
    let united = many_with_unit(labels, survey.labelled).map(|sentence| sentence + label.way_out);
    for sentence in numbers.into_iter().chain(united).chain(look_alike(labels)).chain(perhaps_missing(labels))
    {
        note(format_args!("noregret: {}: {sentence}", plan.source.name()));
    }
    Ok((reader, found))
}

/// What is said of NDJSON in which no key is that of a label.
pub(crate) const NO_KEY: &str =
    "there is no key label, class, target or y; --label names the key that is meant";

/// What is said besides to a learner of bandit feedback whose data have no label.
const PLAYED: &str = "; in a log of decisions --decision names the key of what was played, \
                      as --decision decision";

/// The facts from a first pass and from settings, and their description.
fn of_file(
    plan: &StreamPlan,
    wanted: &[Wanted],
    survey: &Survey,
    schema: Schema,
    label: &LabelWords,
) -> Result<(Facts, String), Failure> {
    if survey.rows == 0 {
        return Err(Failure::data(format!("{}: has no rows that can be read", plan.source.data)));
    }
    if survey.labelled == 0 {
        let none = match survey.rows {
            1 => "its only row has no label".to_owned(),
            rows => format!("none of its {rows} rows has a label"),
        };
        let place = match (&schema.label, schema.format) {
            (Some(label), _) => format!(" under {label:?}; --label names another column"),
            (None, Format::Vw) if schema.block().is_some() => {
                ": in a round, the line of the action that was played begins with action:cost:probability".to_owned()
            }
            (None, Format::Ndjson) if schema.block().is_some() => {
                ": a round has the cost of the action that was played, in Vowpal Wabbit's JSON as _label_cost or as one reward in \"o\""
                    .to_owned()
            }
            (None, Format::Ndjson) => {
                let log = if wanted.iter().all(Wanted::is_bandit) { PLAYED } else { "" };
                format!(": {NO_KEY}{log}")
            }
            (None, _) => String::new(),
        };
        return Err(Failure::data(format!("{}: {none}{place}", plan.source.data)));
    }
    checks::check(plan, wanted, survey, label)?;
    note_hardly_classes(plan, survey, label);
    let classes = classes_of(plan, &wanted[0], survey, label)?;
    let description = in_words(survey, wanted[0].entry.about.accepts.classes, classes, &schema);
    let rows = plan.limit.map_or(survey.rows, |limit| limit.min(survey.rows));
    let facts = Facts::of_survey(survey, classes, schema);
    Ok((Facts { intercept: plan.intercept, rows: Some(rows), ..facts }, description))
}

/// Says it if most rows have a label of their own.
fn note_hardly_classes(plan: &StreamPlan, survey: &Survey, label: &LabelWords) {
    let different = survey.labels.len() as u64;
    if 2 * different > survey.labelled && different >= 20 {
        let numbers = survey.labels.iter().all(|label| label.parse::<f64>().is_ok());
        let target = if numbers { "; --learner vaw forecasts numbers" } else { "" };
        note(format_args!(
            "noregret: {}: {} has {different} different values in {} rows, and is hardly a class{target}{}",
            plan.source.data, label.what, survey.labelled, label.way_out
        ));
    }
}

/// The number of classes, declared or of the labels that were found; 1 for a real-valued target.
fn classes_of(
    plan: &StreamPlan,
    wanted: &Wanted,
    survey: &Survey,
    label: &LabelWords,
) -> Result<usize, Failure> {
    if wanted.entry.about.accepts.classes == Classes::Real {
        return Ok(1);
    }
    let found = survey.labels.len();
    let classes = wanted.settings.classes.map_or(found, |classes| classes as usize);
    if classes < found {
        return Err(Failure::data(format!(
            "{}: has {found} classes; at most classes = {classes} were declared",
            plan.source.data
        )));
    }
    if classes < 2 {
        let only = survey.labels.iter().next().unwrap_or_default();
        return Err(Failure::data(format!(
            "{}: every label is {only:?}; at least 2 classes were needed (or --set classes=K){}",
            plan.source.data, label.way_out
        )));
    }
    Ok(classes)
}

/// What was found, in words; `takes` are the labels that the learners take.
fn in_words(survey: &Survey, takes: Classes, classes: usize, schema: &Schema) -> String {
    let mut description = counted(survey.rows, "row");
    if survey.labelled < survey.rows {
        description += &format!(", {} labelled", survey.labelled);
    }
    if takes == Classes::Real {
        description += ", real-valued target";
    } else {
        description += &format!(", {classes} classes");
    }
    let features = match schema.block() {
        Some(width) => format!("{width} columns for each label on offer"),
        None => counted(survey.columns as u64, "feature"),
    };
    let non_zeros = survey.non_zeros as f64 / survey.rows as f64;
    description + &format!(", {features}, {non_zeros:.1} non-zero a row")
}

/// Refuses parameters that cannot be right, before a long first pass; dimensions are not known yet.
pub(crate) fn check_settings(wanted: &[Wanted]) -> Result<(), Failure> {
    for Wanted { entry, settings, .. } in wanted {
        let checked = entry.check_values(&settings.params).map_err(Failure::from);
        checked
            .and_then(|()| settings.check(entry))
            .map_err(|failure| failure.of(entry.about.name, wanted.len() > 1))?;
    }
    Ok(())
}

/// Rejects learners whose states would exceed the memory limit. Among several, those that would do so alone
/// are for [`Stream::check_memory`] to refuse.
fn check_memory(plan: &StreamPlan, wanted: &[Wanted], problem: &Problem) -> Result<(), Failure> {
    let fits = |bytes: usize| (bytes >> 20) as u64 <= plan.memory;
    let mut total: usize = 0;
    let mut fitting = Vec::new();
    for one in wanted {
        let numbers = one.entry.numbers(&one.settings.params, problem)?;
        let bytes = numbers.saturating_mul(8).saturating_mul(one.copies);
        if fits(bytes) || wanted.len() == 1 {
            total = total.saturating_add(bytes);
            fitting.push(one);
        }
    }
    if fitting.is_empty() {
        return check_memory(plan, &wanted[..1], problem);
    }
    let (mib, wanted) = (total >> 20, &fitting[..]);
    if fits(total) {
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
