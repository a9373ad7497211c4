//! From arguments to a learner and its examples: the decisions that `run` prints.

use std::path::Path;

use noregret::algorithm::AnyModel;
use noregret::learner::Feedback;
use noregret::model::{Archive, ModelError};
use noregret::param::{Value, Values};
use noregret::registry::{self, Entry};
use noregret::rng::Rng;
use noregret_stream::encode::Encoder;
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Frozen, Saved};
use noregret_stream::{ReadOptions, Reader};

use crate::args::{RunArgs, Told};
use crate::facts::{Stream, Wanted, describe_reader};
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
    /// Whether the learner is to grow as classes come up.
    pub(crate) open_classes: bool,
    /// The seed of everything that is drawn.
    pub(crate) seed: u64,
    /// What a loaded bandit learner's labels are drawn with, and the digest of the model.
    pub(crate) generator: Option<Rng>,
    pub(crate) continues: Option<String>,
    /// What was decided, as (subject, sentence).
    pub(crate) decisions: Vec<(&'static str, String)>,
}

/// Opens the data of `run` and makes, or loads, its learner.
pub(crate) fn open(args: &RunArgs) -> Result<Opened, Failure> {
    let options = args.stream.reading.options()?;
    match &args.load {
        Some(path) => load(args, options, path),
        None => start(args, &options),
    }
}

/// A saved model and data of the kind that it has learnt from.
fn load(args: &RunArgs, mut options: ReadOptions, path: &Path) -> Result<Opened, Failure> {
    if args.learner.is_some()
        || !args.set.is_empty()
        || args.stream.scale.is_some()
        || args.stream.no_intercept
    {
        return Err(Failure::usage(
            "--load: the learner, its parameters and its scaling come from the model; leave out --learner, --set, --scale and --no-intercept",
        ));
    }
    let archive = read_archive(path)?;
    let saved = Saved::from_archive(&archive).map_err(|error| in_file(path, error))?;
    if let Some(told) = args.feedback
        && (told == Told::Bandit) != matches!(saved.learner, AnyModel::Bandit(_))
    {
        return Err(Failure::usage(format!(
            "--feedback: the model {} learns from {}; leave the option out",
            path.display(),
            if told == Told::Bandit { "the label" } else { "whether the label that it played was right" }
        )));
    }
    if saved.generator.is_some() && args.stream.seed != 0 {
        return Err(Failure::usage(format!(
            "--seed {}: the labels go on being drawn where the model stopped; leave the option out",
            args.stream.seed
        )));
    }
    options.schema = Some(saved.schema);
    options.room = u32::try_from(saved.encoder.columns).unwrap_or(u32::MAX);
    let reader = noregret_stream::open(&args.stream.data, &options).map_err(Failure::data)?;
    let encoder = Encoder { large_row: args.stream.on_large_row, ..saved.encoder };
    let mut decisions = vec![("data", describe_reader(&args.stream.data, reader.as_ref()))];
    decisions
        .push(("model", format!("{}, after {}", path.display(), counted(saved.learner.rounds(), "round"))));
    decisions.push(("learner", describe_learner(&saved.learner)));
    decisions.extend(told_of(&saved.learner));
    Ok(Opened {
        learner: saved.learner,
        encoder,
        reader,
        rows: None,
        open_classes: false,
        seed: args.stream.seed,
        generator: saved.generator,
        continues: Some(archive.digest()),
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

pub(crate) fn read_archive(path: &Path) -> Result<Archive, Failure> {
    model_file::read(path).map_err(Failure::data)
}

fn in_file(path: &Path, error: ModelError) -> Failure {
    Failure::data(format!("{}: {error}", path.display()))
}

/// The learner that `run` is asked for.
pub(crate) fn wanted(args: &RunArgs) -> Result<Wanted, Failure> {
    let entry = registry::find(args.learner.as_deref().unwrap_or(DEFAULT_LEARNER))?;
    let copies = 1 + args.batch_model.as_ref().map_or(0, |_| args.snapshots);
    let settings = told(args, entry, Settings::parse(&args.set)?)?;
    Ok(Wanted { entry, settings, copies, open_classes: false })
}

/// A new learner.
fn start(args: &RunArgs, options: &ReadOptions) -> Result<Opened, Failure> {
    let wanted = Wanted { open_classes: true, ..wanted(args)? };
    let stream = Stream::open(&args.stream, options, std::slice::from_ref(&wanted))?;
    let seed = wanted.settings.seed.unwrap_or(args.stream.seed);
    let (learner, encoder) = stream.learner(&wanted, seed)?;
    let mut decisions = stream.decisions(&encoder);
    decisions.push(("learner", describe(learner.about().name, &learner.values())));
    decisions.extend(told_of(&learner));
    let (rows, open_classes) = (stream.rows(), stream.open_classes());
    let (reader, generator, continues) = (stream.reader, None, None);
    Ok(Opened { learner, encoder, reader, rows, open_classes, seed, generator, continues, decisions })
}

/// The decision on feedback, where it is not the usual one.
fn told_of(learner: &AnyModel) -> Option<(&'static str, String)> {
    let bandit = matches!(learner, AnyModel::Bandit(_));
    bandit.then(|| ("feedback", "bandit: whether the label that was played is right".to_owned()))
}

/// The settings with the feedback that `--feedback` asks for, if the learner can learn from it.
fn told(args: &RunArgs, entry: &Entry, mut settings: Settings) -> Result<Settings, Failure> {
    let name = entry.about.name;
    match (args.feedback, entry.feedback) {
        (Some(Told::Bandit), Feedback::Full | Feedback::Experts) => {
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

/// What messages call the data.
pub(crate) fn data_name(data: &str) -> &str {
    if data == "-" { "standard input" } else { data }
}

/// The learner with the parameters in use.
pub(crate) fn describe_learner(learner: &AnyModel) -> String {
    describe(learner.about().name, &learner.values())
}

/// A learner's name, and the parameters in use.
pub(crate) fn describe(name: &str, values: &Values) -> String {
    let shown = |value: &Value| match value {
        Value::Float(value) => short(*value),
        value => value.to_string(),
    };
    let words: Vec<String> = values.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    if words.is_empty() { name.to_owned() } else { format!("{name}: {}", words.join(" ")) }
}
