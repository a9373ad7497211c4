//! What is known of a stream before its first round, and learners made for it.

use noregret::algorithm::AnyModel;
use noregret::learner::{Accepts, Classes};
use noregret::open_classes::FEWEST;
use noregret::problem::Problem;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::encode::survey::{Survey, SurveyOptions, suitable};
use noregret_stream::{Columns, CsvRole, Format, Reader};

use crate::failure::Failure;
use crate::hint::survey_error;
use crate::interrupt;
use crate::note::{counted, note, short};
use crate::plan::{Source, StreamPlan};
use crate::progress::Mode;
use crate::settings::Settings;
use crate::wanted::Wanted;
use crate::watched::Watched;

/// Rows of a file that take at most so many bytes, about as many as its text has, are kept from the first
/// pass for the second one: less than most learners of many features take, and far less than a machine has on
/// which a pass takes long.
const MOST_KEPT: usize = 256 << 20;

/// Data that were opened and looked at.
pub(crate) struct Stream<'a> {
    plan: &'a StreamPlan,
    pub(crate) reader: Box<dyn Reader>,
    facts: Facts,
    /// What was decided about the reader.
    described: Vec<(&'static str, String)>,
}

impl<'a> Stream<'a> {
    /// Opens the data for learners that are all of the same kind of target and declare the same classes and
    /// features.
    pub(crate) fn open(plan: &'a StreamPlan, wanted: &[Wanted]) -> Result<Self, Failure> {
        // Parameters that cannot be right are refused before a long first pass; dimensions are not known yet.
        for Wanted { entry, settings, .. } in wanted {
            let checked = entry.check_values(&settings.params).map_err(Failure::from);
            checked
                .and_then(|()| settings.check(entry))
                .map_err(|failure| failure.of(entry.about.name, wanted.len() > 1))?;
        }
        let mut as_they_are = true;
        for wanted in wanted {
            as_they_are &= wanted.scale_free()?;
        }
        let scale = plan.scaling.or(as_they_are.then_some(Scaling::None));
        let Settings { classes, features, .. } = wanted[0].settings;
        let mut reader = plan.source.open()?;
        if let Columns::Hashed { .. } = reader.columns() {
            // Known before the first pass, which takes memory for every column itself.
            let features = reader.columns().count() as usize + usize::from(plan.intercept);
            let classes = classes.map_or(2, |classes| classes as usize);
            check_memory(plan, wanted, &Problem::new(classes, features).with_sparse(true))?;
        }
        let described = describe_reader(&plan.source, reader.as_ref());
        for sentence in reader.notes() {
            note(format_args!("noregret: {}: {sentence}", plan.source.name()));
        }
        let facts = if reader.size().is_some() {
            // In its own words: the table of the second pass has not begun.
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
                None => plan.source.with_schema(schema).open()?,
            };
            let numbers = reader.schema().numbers().unwrap_or(0) as usize;
            Facts { numbers, ..Facts::of_file(plan, wanted, &survey)? }
        } else {
            Facts::of_pipe(scale, wanted, reader.as_ref())?
        };
        let stream = Self { plan, reader, facts, described };
        check_memory(plan, wanted, &stream.problem())?;
        Ok(stream)
    }

    /// Whether classes are taken in as they come up.
    pub(crate) fn open_classes(&self) -> bool {
        self.facts.open_classes
    }

    /// Rows, if a first pass counted them.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.facts.rows
    }

    /// The problem as the data and the arguments have it, before a learner's own radius.
    fn problem(&self) -> Problem {
        let facts = &self.facts;
        let intercept = self.plan.intercept;
        let radius = facts.radius.map(|radius| {
            // A hair more, so that rounding never puts the largest row outside.
            let radius = (radius * radius + f64::from(u8::from(intercept))).sqrt() * (1.0 + 1e-12);
            if radius > 0.0 { radius } else { 1.0 }
        });
        let features = facts.columns + usize::from(intercept);
        Problem { classes: facts.classes, features, radius, horizon: facts.rows, sparse: facts.sparse }
    }

    /// Makes a learner, and what makes its examples.
    pub(crate) fn learner(&self, wanted: &Wanted, seed: u64) -> Result<(AnyModel, Encoder), Failure> {
        let (facts, accepts) = (&self.facts, wanted.entry.about.accepts);
        // A list of probabilities is one of all classes.
        let accepts = Accepts { soft_labels: accepts.soft_labels && !facts.open_classes, ..accepts };
        // Among others that need scaling, too: every run is what it would be alone.
        let as_they_are = self.plan.scaling.is_none() && wanted.scale_free()?;
        let scaling = if as_they_are { Scaling::None } else { facts.scaling };
        let mut problem = self.problem();
        if scaling != facts.scaling {
            // That of the scaled rows, which this learner does not see.
            problem.radius = None;
        }
        // The constant feature is no expert.
        let intercept = self.plan.intercept && !wanted.votes();
        problem.features = facts.columns + usize::from(intercept);
        problem.horizon = wanted.settings.horizon.or(problem.horizon);
        let learner = wanted.entry.make_any(&wanted.settings.params, problem, seed)?;
        let radius = learner.problem().radius.unwrap_or(f64::INFINITY);
        let encoder = Encoder {
            classes: match accepts.classes {
                Classes::Real => 0,
                _ if facts.open_classes => usize::MAX,
                _ => facts.classes,
            },
            labels: facts.labels.clone(),
            scaler: Scaler::of_table(scaling, facts.numbers),
            intercept,
            sparse: facts.sparse,
            columns: facts.columns,
            accepts,
            votes: wanted.votes(),
            large_row: self.plan.on_large_row,
            radius,
            large_rows: 0,
            absent: vec![],
        };
        Ok((learner, encoder))
    }

    /// What was decided about data and features, as (subject, sentence).
    pub(crate) fn decisions(&self, encoder: &Encoder) -> Vec<(&'static str, String)> {
        let intercept = if encoder.intercept { "with intercept" } else { "no intercept" };
        let storage = if encoder.sparse { "sparse rows" } else { "dense rows" };
        let features = format!(
            "scaling {}, {intercept}, {storage}, largest norm {}",
            encoder.scaler.scaling(),
            short(encoder.radius)
        );
        let mut decisions = self.described.clone();
        decisions.extend([("stream", self.facts.description.clone()), ("features", features)]);
        decisions
    }
}

/// What is known of a stream before its first round.
struct Facts {
    classes: usize,
    /// Whether there may be more of them.
    open_classes: bool,
    labels: Labels,
    columns: usize,
    /// Of a table, how many of them are numbers.
    numbers: usize,
    scaling: Scaling,
    radius: Option<f64>,
    sparse: bool,
    rows: Option<u64>,
    description: String,
}

impl Facts {
    /// What a first pass found, and what was set by hand.
    fn of_file(plan: &StreamPlan, wanted: &[Wanted], survey: &Survey) -> Result<Self, Failure> {
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
        let classes = match wanted[0].entry.about.accepts.classes {
            Classes::Real => 1,
            Classes::Two | Classes::Any if survey.labels.is_empty() => {
                return Err(Failure::data(format!(
                    "{}: its labels give costs of actions, where a class was needed; `noregret evaluate --format vw` reads such data",
                    plan.source.data
                )));
            }
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
        if wanted[0].entry.about.accepts.classes == Classes::Real {
            description += ", real-valued target";
        } else {
            description += &format!(", {classes} classes");
        }
        description += &format!(
            ", {}, {:.1} non-zero a row",
            counted(columns as u64, "feature"),
            survey.non_zeros as f64 / survey.rows as f64
        );
        Ok(Self {
            classes,
            open_classes: false,
            labels: survey.labels.clone(),
            columns,
            numbers: 0,
            scaling: survey.scaling,
            radius: Some(survey.radius),
            sparse: survey.is_sparse() && survey.scaling != Scaling::Standard,
            rows: Some(plan.limit.map_or(survey.rows, |limit| limit.min(survey.rows))),
            description,
        })
    }

    /// What can be known of a pipe, which has no second look.
    fn of_pipe(scale: Option<Scaling>, wanted: &[Wanted], reader: &dyn Reader) -> Result<Self, Failure> {
        let settings = &wanted[0].settings;
        if let Some(wanted) = wanted.iter().find(|wanted| wanted.votes()) {
            return Err(Failure::usage(format!(
                "{}: needs a file: for which class experts vote with 1 is decided from all classes, and a pipe cannot be read twice",
                wanted.entry.about.name
            )));
        }
        let mut open_classes = false;
        let is = |classes| wanted.iter().any(|wanted| wanted.entry.about.accepts.classes == classes);
        let classes = match settings.classes {
            _ if is(Classes::Real) => 1,
            Some(classes) => classes as usize,
            None if is(Classes::Two) => 2,
            None if wanted.iter().all(|wanted| wanted.open_classes) => {
                wanted.iter().try_for_each(Wanted::check_growth)?;
                open_classes = true;
                FEWEST
            }
            None => {
                return Err(Failure::usage(
                    "--set classes=K: must be given for a pipe, which cannot be read twice",
                ));
            }
        };
        let known = known_columns(reader);
        let columns = settings.features.map(|features| features as usize).or(known).ok_or_else(|| {
            Failure::usage(
                "--set features=D (or --hash-bits BITS): must be given for a pipe, which cannot be read twice",
            )
        })?;
        let numbers = reader.schema().numbers();
        let suitable = || if numbers.is_some() { Scaling::Mixed } else { suitable(columns) };
        let scaling = scale.unwrap_or_else(suitable);
        let radius = scaling.radius(columns);
        let needs = |wanted: &Wanted| {
            !wanted.settings.params.contains_key("radius") && wanted.entry.param("radius").is_some()
        };
        if radius.is_none() && wanted.iter().any(needs) {
            return Err(Failure::usage(
                "--set radius=R: the largest Euclidean norm of a row must be given for a pipe with --scale none",
            ));
        }
        let found =
            if open_classes { "classes as they come up".to_owned() } else { format!("{classes} classes") };
        Ok(Self {
            classes,
            open_classes,
            labels: Labels::default(),
            columns,
            numbers: numbers.unwrap_or(0) as usize,
            scaling,
            radius,
            sparse: columns > 4096 && scaling != Scaling::Standard,
            rows: None,
            description: format!("a pipe, {found}, {}", counted(columns as u64, "feature")),
        })
    }
}

/// How many columns there are, if that is known before the last row: hashed ones, and those of CSV where all
/// are numbers. Objects may always bring another key.
fn known_columns(reader: &dyn Reader) -> Option<usize> {
    let count = reader.columns().count() as usize;
    if let Columns::Hashed { .. } = reader.columns() {
        return Some(count);
    }
    let schema = reader.schema();
    let csv = schema.csv.filter(|_| schema.format != Format::Ndjson)?;
    let fixed = |role| matches!(role, CsvRole::Numeric | CsvRole::Label | CsvRole::Weight);
    csv.fields.iter().all(|field| fixed(field.role)).then_some(count)
}

/// Refuses learners whose states would not fit, before memory is taken.
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

/// The reader's decisions in a sentence.
pub(crate) fn describe_reader(source: &Source, reader: &dyn Reader) -> Vec<(&'static str, String)> {
    // What a table holds has lines of its own.
    let own = |subject: &str| TABLE.contains(&subject);
    let described = reader.describe();
    let details = described.iter().filter(|(subject, _)| !own(subject));
    let details: Vec<String> = details.map(|(subject, what)| format!("{subject} {what}")).collect();
    let mut lines = vec![("data", format!("{}: {}", source.name(), details.join(", ")))];
    lines.extend(described.into_iter().filter(|(subject, _)| own(subject)));
    lines
}

/// What is said of the columns of a table with text, times or columns that are left out.
const TABLE: [&str; 5] = ["numbers", "categories", "text", "time", "left out"];
