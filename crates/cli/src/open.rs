//! Makes the learner and the examples of a plan, with the settings that `run` prints.

use std::path::Path;

use noregret::algorithm::AnyModel;
use noregret::facts::RunFacts;
use noregret::guarantee::Guarantee;
use noregret::learner::{Classes, OnlineLearner as _, Predictor as _};
use noregret::model::{Archive, ModelError};
use noregret::param::{Value, Values};
use noregret::registry::{self, Entry};
use noregret::rng::Rng;
use noregret_stream::Reader;
use noregret_stream::caution::Caution;
use noregret_stream::decisions::foreign::Keys;
use noregret_stream::encode::Encoder;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::survey::MOST_CLASSES;
use noregret_stream::run::standing::last_entry;
use noregret_stream::save::file as model_file;
use noregret_stream::save::{Frozen, Saved};
use noregret_stream::{Row, RowLabel, Stop, redis_stream};

use crate::choices::FeedbackChoice;
use crate::facts::{Stream, describe_reader};
use crate::failure::Failure;
use crate::note::{counted, note, short, short_bound};
use crate::plan::{LearnerPlan, RunPlan, Source, StreamPlan};
use crate::settings::in_practice;
use crate::wanted::Wanted;
use crate::watched::Watched;

/// A stream, ready to be learnt.
pub(crate) struct Opened {
    pub(crate) learner: AnyModel,
    pub(crate) encoder: Encoder,
    pub(crate) reader: Box<dyn Reader>,
    /// Number of rows, if there was a first pass.
    pub(crate) rows: Option<u64>,
    /// Whether the learner grows when a class occurs.
    pub(crate) open_classes: bool,
    /// Whether a loaded learner can take in new classes as they occur; those of a file are known before.
    pub(crate) takes_in: bool,
    /// Whether it grows when a column occurs.
    pub(crate) open_columns: bool,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
    /// The generator of a loaded bandit learner, and the digest of the model file.
    pub(crate) generator: Option<Rng>,
    pub(crate) continues: Option<String>,
    /// Facts about the rounds that a loaded learner has learnt.
    pub(crate) facts: RunFacts,
    /// The loaded model file.
    pub(crate) archive: Option<Archive>,
    /// The settings, as (subject, sentence).
    pub(crate) decisions: Vec<(&'static str, String)>,
}

/// Opens the data of `run` and makes, or loads, its learner.
pub(crate) fn open(plan: &RunPlan) -> Result<Opened, Failure> {
    match &plan.learner {
        LearnerPlan::Saved { path, feedback } => load(&plan.stream, path, *feedback),
        LearnerPlan::New(wanted) => start(&plan.stream, wanted),
    }
}

/// Opens a saved model and data of its schema.
fn load(plan: &StreamPlan, path: &Path, feedback: Option<FeedbackChoice>) -> Result<Opened, Failure> {
    let archive = read_archive(path)?;
    let mut saved = Saved::from_archive(&archive).map_err(|error| in_file(path, error))?;
    check_asked(plan, path, feedback, &saved)?;
    let mut source = plan.source.with_schema(saved.schema.clone());
    source.options.after = redis_stream(&source.data).and_then(|stream| last_entry(&archive, stream));
    if let (AnyModel::Full(_), Some(keys)) = (&saved.learner, &plan.source.options.logged) {
        if *keys != (Keys { offered: keys.offered.clone(), ..Keys::default() }) {
            return Err(Failure::usage(format!(
                "--decision, --probability, --reward, --rewards, --costs: the model {} learns from labels, not from a log of decisions; \
                 omit them",
                path.display()
            )));
        }
        (source.options.offered, source.options.logged) = (keys.offered.clone(), None);
    }
    source.options.room = u32::try_from(saved.encoder.columns()).unwrap_or(u32::MAX);
    if matches!(saved.learner, AnyModel::Bandit(_)) {
        source = source.for_decisions(saved.encoder.costs().unwrap_or_default());
    }
    let reader = source.open()?;
    for sentence in reader.notes() {
        note(format_args!("noregret: {}: {sentence}", source.name()));
    }
    note_left_out(path, &saved.encoder);
    let new = take_in(&mut saved, &source, plan.stop())?;
    let takes_in = reader.size().is_none() && can_grow(&saved.learner);
    let encoder = saved.encoder.with_large_row(plan.on_large_row);
    let mut decisions = describe_reader(&source, reader.as_ref());
    decisions.extend(named_new(&new).map(|sentence| ("new", sentence)));
    decisions
        .push(("model", format!("{}, after {}", path.display(), counted(saved.learner.rounds(), "round"))));
    decisions.push(("learner", describe_learner(&saved.learner)));
    decisions.extend(feedback_of(&saved.learner));
    Ok(Opened {
        learner: saved.learner,
        encoder,
        reader: Box::new(Watched::new(reader, None, &Stop::default()).going_on(saved.schema)),
        rows: None,
        open_classes: false,
        takes_in,
        open_columns: false,
        seed: plan.seed,
        generator: saved.generator,
        continues: Some(archive.digest()),
        facts: saved.facts,
        archive: Some(archive),
        decisions,
    })
}

/// Refuses options that the saved model decides.
fn check_asked(
    plan: &StreamPlan,
    path: &Path,
    feedback: Option<FeedbackChoice>,
    saved: &Saved,
) -> Result<(), Failure> {
    if let Some(asked) = feedback
        && (asked == FeedbackChoice::Bandit) != matches!(saved.learner, AnyModel::Bandit(_))
    {
        return Err(Failure::usage(format!(
            "--feedback: the model {} learns from {}; omit the option",
            path.display(),
            if asked == FeedbackChoice::Bandit {
                "the label"
            } else {
                "whether the label that it played was right"
            }
        )));
    }
    if saved.generator.is_some() && plan.seed != 0 {
        return Err(Failure::usage(format!(
            "--seed {}: the generator of labels continues from the model; omit the option",
            plan.seed
        )));
    }
    Ok(())
}

/// Says which classes have the weight 0, if any have.
fn note_left_out(path: &Path, encoder: &Encoder) {
    let weights = encoder.class_weights().iter();
    let left_out = weights.filter(|(_, weight)| *weight == 0.0).map(|(name, _)| format!("{name:?}"));
    let left_out: Vec<String> = left_out.collect();
    if !left_out.is_empty() {
        let (model, classes) = (path.display(), left_out.join(", "));
        note(format_args!(
            "noregret: {model}: gives the weight 0 to {classes}, whose rows are neither learnt nor scored here; predict scores them"
        ));
    }
}

/// The classes that the model did not have, in a sentence, if there are any.
fn named_new(new: &[String]) -> Option<String> {
    if new.is_empty() {
        return None;
    }
    let classes = if new.len() == 1 { "class" } else { "classes" };
    let names: Vec<String> = new.iter().take(20).map(|name| format!("{name:?}")).collect();
    let more = if new.len() > 20 { ", …" } else { "" };
    Some(format!("{} {classes} absent from the model: {}{more}", new.len(), names.join(", ")))
}

/// Whether a learner can take in new classes.
fn can_grow(learner: &AnyModel) -> bool {
    let (about, problem) = (learner.about(), learner.problem());
    let may = matches!(learner, AnyModel::Full(_)) && about.accepts.classes == Classes::Any;
    let grows = |entry: &Entry| {
        entry.grows(&learner.values(), problem.clone(), problem.classes + 1, problem.features)
    };
    may && registry::find(about.name).and_then(grows).unwrap_or(false)
}

/// Grows the learner by the new classes of a file, found by a first pass, if it can grow.
fn take_in(saved: &mut Saved, source: &Source, stop: &Stop) -> Result<Vec<String>, Failure> {
    let AnyModel::Full(learner) = &mut saved.learner else { return Ok(vec![]) };
    if !source.is_file() || learner.about().accepts.classes != Classes::Any {
        return Ok(vec![]);
    }
    let (mut new, mut row) = (Labels::default(), Row::new());
    let mut reader = Watched::new(source.open()?, None, stop);
    loop {
        match reader.read(&mut row) {
            Ok(true) => {}
            // The run will report it.
            Err(error) if error.is_row_error() => continue,
            Ok(false) | Err(_) => break,
        }
        if let RowLabel::Name(name) = row.label() {
            let (known, of) = (saved.encoder.labels(), row.label_type());
            // The run will refuse a label that clashes.
            let clashes = known.clash(name, of).or_else(|| new.clash(name, of)).is_some();
            if !clashes && known.find_as(name, of).is_none() {
                new.collect(name, of);
            }
        }
    }
    let (known, new) = (saved.encoder.labels().len(), new.sorted());
    let (classes, features) = (known + new.len(), learner.problem().features);
    let room = learner.problem().classes;
    // If there is room, classes are added as they occur.
    if classes <= room || classes > MOST_CLASSES || !learner.grow(classes, features) {
        return Ok(vec![]);
    }
    saved.encoder.make_room(classes, saved.encoder.columns());
    for (name, of) in new.typed() {
        saved.encoder.labels_mut().intern_as(name, of);
    }
    Ok(saved.encoder.labels().iter().skip(known).map(str::to_owned).collect())
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

/// The error in the model file `path`.
pub(crate) fn in_file(path: &Path, error: ModelError) -> Failure {
    Failure::data(format!("{}: {error}", path.display()))
}

/// A new learner.
fn start(plan: &StreamPlan, wanted: &Wanted) -> Result<Opened, Failure> {
    let stream = Stream::open(plan, std::slice::from_ref(wanted))?;
    let seed = wanted.settings.seed.unwrap_or(plan.seed);
    let (learner, encoder) = stream.learner(wanted, seed)?;
    let mut decisions = stream.decisions(&encoder);
    decisions.push(("learner", describe(learner.about().name, &learner.values())));
    decisions.extend(left_out(&learner));
    if stream.is_logged() {
        let what = "logged: what labels earned that another policy has played; its probabilities are the importance weights, and error rates of the learner are estimates by them";
        decisions.push(("feedback", what.to_owned()));
    } else {
        decisions.extend(feedback_of(&learner));
    }
    let bandit = matches!(learner, AnyModel::Bandit(_));
    let cautions = Caution::all(wanted.entry, &wanted.settings.params, bandit);
    let slow = stream.rows().and_then(|rows| Caution::of_rows(wanted.entry, &wanted.settings.params, rows));
    decisions.extend(cautions.iter().chain(&slow).map(|caution| ("practice", in_practice(caution))));
    let (rows, open_classes, open_columns) = (stream.rows(), stream.open_classes(), stream.open_columns());
    let (reader, generator, continues, archive) = (stream.reader, None, None, None);
    Ok(Opened {
        learner,
        encoder,
        reader,
        rows,
        open_classes,
        takes_in: false,
        open_columns,
        seed,
        generator,
        continues,
        facts: RunFacts::default(),
        archive,
        decisions,
    })
}

/// The setting of feedback, if it is not the default.
fn feedback_of(learner: &AnyModel) -> Option<(&'static str, String)> {
    let bandit = matches!(learner, AnyModel::Bandit(_));
    bandit.then(|| ("feedback", "bandit: whether the label that was played is right".to_owned()))
}

/// The members that a mixture has left out.
fn left_out(learner: &AnyModel) -> Option<(&'static str, String)> {
    let names = learner.inside()?.left_out();
    (!names.is_empty()).then(|| ("left out", format!("{}, to limit time or memory", names.join(", "))))
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

/// What is certified about a saved learner over all rounds that it has learnt, in a sentence; `None` for
/// learners without a certificate.
pub(crate) fn certificate_of(saved: &Saved) -> Option<String> {
    let AnyModel::Full(learner) = &saved.learner else { return None };
    let rounds = counted(learner.rounds(), "round");
    if let Some(Guarantee::AdaptiveRegret { bound: Ok(bound), total: Ok(total) }) =
        saved.facts.guarantee(learner.as_ref())
    {
        return Some(format!(
            "in every interval of its {rounds}, its loss is at most {} above that of the best member; in total at most {} above that of a member that was always there",
            short_bound(bound),
            short_bound(total)
        ));
    }
    Some(match saved.facts.certificate(learner.as_ref())? {
        Ok(bound) => format!("its regret over all {rounds} is at most {}", short_bound(bound)),
        Err(why) => format!("none: {why}"),
    })
}
