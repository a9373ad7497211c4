//! From arguments to a learner and its examples: the decisions that `run` prints.

use std::path::Path;

use noregret::algorithm::{AnyModel, Model};
use noregret::learner::{Classes, Feedback};
use noregret::model::{Archive, ModelError};
use noregret::param::{Value, Values};
use noregret::problem::Problem;
use noregret::registry::{self, Entry};
use noregret_stream::encode::Encoder;
use noregret_stream::labels::Labels;
use noregret_stream::saved::{Frozen, Saved};
use noregret_stream::scale::{Scaler, Scaling};
use noregret_stream::survey::{Survey, SurveyOptions, suitable};
use noregret_stream::{Columns, ReadOptions, Reader};

use crate::args::{RunArgs, Told};
use crate::failure::Failure;
use crate::note::{counted, short};
use crate::settings::Settings;

/// The learner that `run` takes if none is named.
const DEFAULT_LEARNER: &str = "auto";

/// A stream, ready to be learnt.
pub(crate) struct Opened {
    pub(crate) learner: AnyModel,
    pub(crate) encoder: Encoder,
    pub(crate) reader: Box<dyn Reader>,
    /// Rows, if a first pass counted them.
    pub(crate) rows: Option<u64>,
    /// The seed of everything that is drawn.
    pub(crate) seed: u64,
    /// What was decided, as (subject, sentence).
    pub(crate) decisions: Vec<(&'static str, String)>,
}

/// Opens the data of `run` and makes, or loads, its learner.
pub(crate) fn open(args: &RunArgs) -> Result<Opened, Failure> {
    let options = args.reading.options()?;
    let settings = Settings::parse(&args.set)?;
    match &args.load {
        Some(path) => load(args, options, &settings, path),
        None => start(args, &options, &settings),
    }
}

/// A saved model and data of the kind that it has learnt from.
fn load(
    args: &RunArgs,
    mut options: ReadOptions,
    settings: &Settings,
    path: &Path,
) -> Result<Opened, Failure> {
    if args.learner.is_some() || !args.set.is_empty() || args.scale.is_some() || args.no_intercept {
        return Err(Failure::usage(
            "--load: the learner, its parameters and its scaling come from the model; leave out --learner, --set, --scale and --no-intercept",
        ));
    }
    debug_assert!(settings.params.is_empty());
    let saved = read_model(path)?;
    options.schema = Some(saved.schema);
    options.room = u32::try_from(saved.encoder.columns).unwrap_or(u32::MAX);
    let reader = noregret_stream::open(&args.data, &options).map_err(Failure::data)?;
    let encoder = Encoder { large_row: args.on_large_row, ..saved.encoder };
    let mut decisions = vec![("data", describe_reader(args, reader.as_ref()))];
    decisions
        .push(("model", format!("{}, after {}", path.display(), counted(saved.learner.rounds(), "round"))));
    decisions.push(("learner", describe_learner(saved.learner.as_ref())));
    Ok(Opened {
        learner: AnyModel::Full(saved.learner),
        encoder,
        reader,
        rows: None,
        seed: args.seed,
        decisions,
    })
}

/// Reads a model file, to continue.
pub(crate) fn read_model(path: &Path) -> Result<Saved, Failure> {
    Saved::from_archive(&read_archive(path)?).map_err(|error| in_file(path, error))
}

/// Reads a model file, to predict.
pub(crate) fn read_frozen(path: &Path) -> Result<(Frozen, Archive), Failure> {
    let archive = read_archive(path)?;
    let frozen = Frozen::from_archive(&archive).map_err(|error| in_file(path, error))?;
    Ok((frozen, archive))
}

fn read_archive(path: &Path) -> Result<Archive, Failure> {
    Archive::read(path).map_err(|error| in_file(path, error))
}

fn in_file(path: &Path, error: ModelError) -> Failure {
    match error {
        ModelError::Io { .. } => Failure::data(error),
        _ => Failure::data(format!("{}: {error}", path.display())),
    }
}

/// A new learner.
fn start(args: &RunArgs, options: &ReadOptions, settings: &Settings) -> Result<Opened, Failure> {
    let entry = registry::find(args.learner.as_deref().unwrap_or(DEFAULT_LEARNER))?;
    let settings = &told(args, entry, settings)?;
    // Parameters that cannot be right are refused before a long first pass; dimensions are not known yet.
    entry.check_names(&settings.params)?;
    settings.check(entry)?;
    let intercept = !args.no_intercept;
    let mut reader = noregret_stream::open(&args.data, options).map_err(Failure::data)?;
    if let Columns::Hashed { .. } = reader.columns() {
        // Known before the first pass, which takes memory for every column itself.
        let features = reader.columns().count() as usize + usize::from(intercept);
        let classes = settings.classes.map_or(2, |classes| classes as usize);
        check_memory(args, entry, settings, &Problem::new(classes, features).with_sparse(true))?;
    }
    let described = describe_reader(args, reader.as_ref());
    let facts = if reader.size().is_some() {
        let survey = Survey::take(
            reader.as_mut(),
            &SurveyOptions {
                name: &args.data,
                scaling: args.scale,
                classes: entry.about.accepts.classes,
                features: settings.features.map(|features| features as usize),
                bad_rows: args.reading.on_bad_row,
            },
        )
        .map_err(|error| survey_failure(&args.data, error))?;
        let schema = reader.schema();
        reader = noregret_stream::open(&args.data, &ReadOptions { schema: Some(schema), ..options.clone() })
            .map_err(Failure::data)?;
        Facts::of_file(args, entry, settings, &survey)?
    } else {
        Facts::of_pipe(args, entry, settings, reader.as_ref())?
    };
    let features = facts.columns + usize::from(intercept);
    let radius = facts.radius.map(|radius| {
        // A hair more, so that rounding never puts the largest row outside.
        let radius = (radius * radius + f64::from(u8::from(intercept))).sqrt() * (1.0 + 1e-12);
        if radius > 0.0 { radius } else { 1.0 }
    });
    let problem =
        Problem { classes: facts.classes, features, radius, horizon: facts.rows, sparse: facts.sparse };
    check_memory(args, entry, settings, &problem)?;
    let seed = settings.seed.unwrap_or(args.seed);
    let learner = entry.make_any(&settings.params, problem, seed)?;
    let radius = match (learner.problem().radius, facts.radius) {
        (Some(radius), _) => radius,
        (None, _) => f64::INFINITY,
    };
    let encoder = Encoder {
        classes: if entry.about.accepts.classes == Classes::Real { 0 } else { facts.classes },
        labels: facts.labels,
        scaler: Scaler::new(facts.scaling),
        intercept,
        sparse: facts.sparse,
        columns: facts.columns,
        accepts: entry.about.accepts,
        large_row: args.on_large_row,
        radius,
        large_rows: 0,
    };
    let mut decisions = vec![("data", described)];
    decisions.push(("stream", facts.description));
    let intercept = if intercept { "with intercept" } else { "no intercept" };
    let storage = if facts.sparse { "sparse rows" } else { "dense rows" };
    decisions.push((
        "features",
        format!("scaling {}, {intercept}, {storage}, largest norm {}", facts.scaling, short(radius)),
    ));
    decisions.push(("learner", describe(learner.about().name, &learner.values())));
    if let AnyModel::Bandit(_) = learner {
        decisions.push(("feedback", "bandit: whether the label that was played is right".to_owned()));
    }
    Ok(Opened { learner, encoder, reader, rows: facts.rows, seed, decisions })
}

/// The settings with the feedback that `--feedback` asks for, if the learner can learn from it.
fn told(args: &RunArgs, entry: &Entry, settings: &Settings) -> Result<Settings, Failure> {
    let mut settings = settings.clone();
    let name = entry.about.name;
    match (args.feedback, entry.feedback) {
        (Some(Told::Bandit), Feedback::Full) => {
            return Err(Failure::usage(format!(
                "--feedback bandit: {name} learns from the label; `noregret list` shows who learns from right or wrong"
            )));
        }
        (Some(Told::Full), Feedback::Bandit) => {
            return Err(Failure::usage(format!(
                "--feedback full: {name} learns from whether the label that it played was right, not from the label"
            )));
        }
        (Some(Told::Bandit), Feedback::Either) => {
            settings.params.insert("mode".to_owned(), Value::Text("bandit".to_owned()));
        }
        _ => {}
    }
    Ok(settings)
}

/// What is known of a stream before its first round.
struct Facts {
    classes: usize,
    labels: Labels,
    columns: usize,
    scaling: Scaling,
    radius: Option<f64>,
    sparse: bool,
    rows: Option<u64>,
    description: String,
}

impl Facts {
    /// What a first pass found, and what was set by hand.
    fn of_file(args: &RunArgs, entry: &Entry, settings: &Settings, survey: &Survey) -> Result<Self, Failure> {
        if survey.rows == 0 {
            return Err(Failure::data(format!("{}: has no rows that can be read", args.data)));
        }
        if survey.labelled == 0 {
            return Err(Failure::data(format!(
                "{}: none of its {} rows has a label",
                args.data, survey.rows
            )));
        }
        let columns = survey.columns;
        let classes = match entry.about.accepts.classes {
            Classes::Real => 1,
            Classes::Two | Classes::Any => {
                let found = survey.labels.len();
                let classes = settings.classes.map_or(found, |classes| classes as usize);
                if classes < found {
                    return Err(Failure::data(format!(
                        "{}: has {found} classes; at most classes = {classes} were declared",
                        args.data
                    )));
                }
                if classes < 2 {
                    let only = survey.labels.iter().next().unwrap_or_default();
                    return Err(Failure::data(format!(
                        "{}: every label is {only:?}; at least 2 classes were needed (or --set classes=K)",
                        args.data
                    )));
                }
                classes
            }
        };
        let mut description = counted(survey.rows, "row");
        if survey.labelled < survey.rows {
            description += &format!(", {} labelled", survey.labelled);
        }
        if entry.about.accepts.classes == Classes::Real {
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
            labels: survey.labels.clone(),
            columns,
            scaling: survey.scaling,
            radius: Some(survey.radius),
            sparse: survey.is_sparse() && survey.scaling != Scaling::Standard,
            rows: Some(args.limit.map_or(survey.rows, |limit| limit.min(survey.rows))),
            description,
        })
    }

    /// What can be known of a pipe, which has no second look.
    fn of_pipe(
        args: &RunArgs,
        entry: &Entry,
        settings: &Settings,
        reader: &dyn Reader,
    ) -> Result<Self, Failure> {
        let classes = match (entry.about.accepts.classes, settings.classes) {
            (Classes::Real, _) => 1,
            (_, Some(classes)) => classes as usize,
            (Classes::Two, None) => 2,
            (Classes::Any, None) => {
                return Err(Failure::usage(
                    "--set classes=K: must be given for a pipe, which cannot be read twice",
                ));
            }
        };
        let known = match reader.columns() {
            Columns::Hashed { .. } => Some(reader.columns().count() as usize),
            _ => None,
        };
        let columns = settings.features.map(|features| features as usize).or(known).ok_or_else(|| {
            Failure::usage(
                "--set features=D (or --hash-bits BITS): must be given for a pipe, which cannot be read twice",
            )
        })?;
        let scaling = args.scale.unwrap_or_else(|| suitable(columns));
        let radius = scaling.radius(columns);
        if radius.is_none() && !settings.params.contains_key("radius") && entry.param("radius").is_some() {
            return Err(Failure::usage(
                "--set radius=R: the largest Euclidean norm of a row must be given for a pipe with --scale none",
            ));
        }
        Ok(Self {
            classes,
            labels: Labels::default(),
            columns,
            scaling,
            radius,
            sparse: columns > 4096 && scaling != Scaling::Standard,
            rows: None,
            description: format!("a pipe, {classes} classes, {}", counted(columns as u64, "feature")),
        })
    }
}

fn survey_failure(data: &str, error: noregret_stream::survey::SurveyError) -> Failure {
    match error {
        noregret_stream::survey::SurveyError::Read(error) => Failure::data(error),
        other => Failure::data(format!("{data}: {other}")),
    }
}

/// Refuses a learner whose state would not fit, before memory is taken.
fn check_memory(
    args: &RunArgs,
    entry: &Entry,
    settings: &Settings,
    problem: &Problem,
) -> Result<(), Failure> {
    let copies = 1 + args.batch_model.as_ref().map_or(0, |_| args.snapshots);
    let numbers = entry.numbers(&settings.params, problem)?;
    let mib = numbers.saturating_mul(8).saturating_mul(copies) >> 20;
    if mib as u64 <= args.memory {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} would take {mib} MiB for {} classes and {} features ({}){}; allow it with --memory {mib}, hash features with --hash-bits, or choose a learner that takes less, see `noregret list`",
        entry.about.name,
        problem.classes,
        problem.features,
        entry.about.memory,
        if copies > 1 { ", each of its snapshots as much" } else { "" }
    )))
}

fn describe_reader(args: &RunArgs, reader: &dyn Reader) -> String {
    let details: Vec<String> =
        reader.describe().iter().map(|(subject, what)| format!("{subject} {what}")).collect();
    format!("{}: {}", data_name(&args.data), details.join(", "))
}

/// What messages call the data.
pub(crate) fn data_name(data: &str) -> &str {
    if data == "-" { "standard input" } else { data }
}

/// The learner with the parameters in use.
pub(crate) fn describe_learner(learner: &dyn Model) -> String {
    describe(learner.about().name, &learner.values())
}

/// A learner's name, and the parameters in use.
fn describe(name: &str, values: &Values) -> String {
    let shown = |value: &Value| match value {
        Value::Float(value) => short(*value),
        value => value.to_string(),
    };
    let words: Vec<String> = values.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    format!("{name}: {}", words.join(" "))
}
