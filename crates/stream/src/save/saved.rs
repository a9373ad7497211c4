//! A learner with its encoder (classes, columns, scaling), schema and generator.

use noregret::algorithm::{About, AnyModel, BanditModel, Model};
use noregret::batch::online_to_batch::Average;
use noregret::capability::Inside;
use noregret::example::{Features, Label};
use noregret::facts::RunFacts;
use noregret::learner::{Accepts, Classes, Feedback, Predictor};
use noregret::model::{Archive, Data, ModelError, Numbers};
use noregret::param::Values;
use noregret::prediction::{Decision, Prediction, argmax};
use noregret::problem::Problem;
use noregret::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::encode::class_weights::ClassWeights;
use crate::encode::labels::Labels;
use crate::encode::scale::{Guard, GuardState, Inputs, Scaler, Scaling};
use crate::encode::{Encoder, Example};
use crate::read::costs::Costs;
use crate::read::options::Schema;

/// The tensor of the generator's position.
const GENERATOR: &str = "play/generator";

/// The tensor of the numbers of missing numbers that were 0 and the mean, by column, if there are any.
const HOLES: &str = "scaling/holes";

/// The text of the weights of classes, if there are any.
const CLASS_WEIGHTS: &str = "class_weights";

/// A learner and its encoder.
pub struct Saved {
    /// The learner, of either kind of feedback.
    pub learner: AnyModel,
    /// The encoder, after the last row.
    pub encoder: Encoder,
    /// How the data is read.
    pub schema: Schema,
    /// The generator of labels after the last draw, for a learner that draws labels.
    pub generator: Option<Rng>,
    /// Facts about all rounds that the learner has learnt, on which its theorem depends.
    pub facts: RunFacts,
}

/// The encoder's settings that are not tensors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Encoding {
    pub(crate) scaling: Scaling,
    pub(crate) intercept: bool,
    pub(crate) sparse: bool,
    pub(crate) columns: usize,
    /// Files from before have one view of a row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) plain: bool,
    /// Whether values far outside of what was seen are clipped. Files from before do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) guarded: bool,
    /// Whether rows of decisions move the scaling when they are learnt. In files from before they do when
    /// they are decided on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) when_learnt: bool,
    /// Whether a missing number may be the mean of its standardised column. In files from before it is 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fills_missing: bool,
    /// Whether the numbers of labels on offer are scaled before they are multiplied. In files from before,
    /// what is scaled are the columns of products.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) before_products: bool,
    /// The range of costs, if not from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) costs: Option<Costs>,
}

impl Encoding {
    /// That of `encoder`.
    pub(crate) fn of(encoder: &Encoder) -> Self {
        Self {
            scaling: encoder.scaler().scaling(),
            intercept: encoder.has_intercept(),
            sparse: encoder.is_sparse(),
            columns: encoder.columns(),
            plain: encoder.accepts().plain,
            guarded: encoder.scaler().guard().is_some(),
            when_learnt: encoder.scales_when_learnt(),
            fills_missing: encoder.fills_missing(),
            before_products: encoder.scaler().inputs().is_some(),
            costs: encoder.costs().filter(|costs| *costs != Costs::default()),
        }
    }

    /// The encoder of a learner of `problem`.
    /// Fails if they do not fit the learner.
    pub(crate) fn encoder(
        self,
        about: &About,
        problem: &Problem,
        labels: Labels,
        scaler: Scaler,
    ) -> Result<Encoder, ModelError> {
        let classes = if about.accepts.classes == Classes::Real { 0 } else { problem.classes };
        if labels.len() > classes
            || self.columns.checked_add(usize::from(self.intercept)) != Some(problem.features)
        {
            return Err(ModelError::Damaged("its classes or columns do not fit its learner".to_owned()));
        }
        let votes =
            noregret::registry::find(about.name).is_ok_and(|entry| entry.feedback == Feedback::Experts);
        let mut encoder = Encoder::new(self.columns, Accepts { plain: self.plain, ..about.accepts })
            .with_labels(labels, classes)
            .with_scaler(scaler)
            .with_intercept(self.intercept)
            .with_sparse(self.sparse)
            .with_votes(votes)
            .with_radius(problem.radius)
            .with_costs(self.costs)
            .with_filled_missing(self.fills_missing);
        encoder.set_scales_when_learnt(self.when_learnt);
        Ok(encoder)
    }
}

/// A learner that can continue learning.
pub enum Learning<'a> {
    /// From labels.
    Full(&'a mut dyn Model),
    /// From whether the played label was right.
    Bandit(&'a mut dyn BanditModel),
}

impl<'a> From<&'a mut AnyModel> for Learning<'a> {
    fn from(learner: &'a mut AnyModel) -> Self {
        match learner {
            AnyModel::Full(learner) => Self::Full(learner.as_mut()),
            AnyModel::Bandit(learner) => Self::Bandit(learner.as_mut()),
        }
    }
}

/// The content of a model file, without consuming the learner as [`Saved::archive`] does.
pub fn snapshot(
    learner: Learning<'_>,
    encoder: &Encoder,
    schema: &Schema,
    generator: Option<&Rng>,
) -> Archive {
    let mut archive = match learner {
        Learning::Full(learner) => Archive::of(learner),
        Learning::Bandit(learner) => Archive::of_bandit(learner),
    };
    surround(&mut archive, encoder, schema);
    if let Some(generator) = generator {
        let data = Data::Count(generator.state().to_vec());
        archive.set_tensor(GENERATOR, Numbers { shape: vec![4], data });
    }
    archive
}

/// The content of a model file, from a learner and the other fields of [`Saved`].
pub fn archive_of(
    learner: Learning<'_>,
    encoder: &Encoder,
    schema: &Schema,
    generator: Option<&Rng>,
    facts: &RunFacts,
) -> Archive {
    // No bound covers a continued bandit learner, so the facts are omitted, and a replayed log gives the same
    // file.
    let has_facts = matches!(learner, Learning::Full(_));
    let mut archive = snapshot(learner, encoder, schema, generator);
    if has_facts {
        archive.set_text("facts", json(facts));
    }
    archive
}

impl Saved {
    /// The content of the model file.
    pub fn archive(&mut self) -> Archive {
        archive_of(
            (&mut self.learner).into(),
            &self.encoder,
            &self.schema,
            self.generator.as_ref(),
            &self.facts,
        )
    }

    /// Reads a model to continue.
    ///
    /// # Errors
    /// If the content is damaged or inconsistent, or is an average of snapshots, which cannot
    /// continue.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let learner = archive.any_model()?;
        let (mut encoder, schema) = surroundings(archive, learner.about(), learner.problem())?;
        if let AnyModel::Bandit(_) = learner {
            encoder.set_costs(Some(encoder.costs().unwrap_or_default()));
        }
        let generator = match archive.tensor(GENERATOR).map(|tensor| &tensor.data) {
            Err(_) => None,
            Ok(Data::Count(words)) if words.len() == 4 => {
                Some(Rng::from_state([words[0], words[1], words[2], words[3]]))
            }
            Ok(_) => return Err(ModelError::Damaged(format!("tensor '{GENERATOR}' is not a generator"))),
        };
        // Models of older versions lack the facts; no bound holds for them.
        let facts = archive.text("facts").map(|_| archive.json("facts")).transpose()?.unwrap_or_default();
        Ok(Self { learner, encoder, schema, generator, facts })
    }
}

/// Number of rows predicted together, counted from the first row. Matrices are read once for all of
/// them; a fixed number gives bit-equal forecasts in every interface.
pub const PREDICTED_TOGETHER: usize = 1024;

/// A predictor that does not learn.
pub enum Forecaster {
    /// Snapshots of one learner, whose predictions are averaged; an ordinary model is a single one.
    Average(Average<Box<dyn Model>>),
    /// A bandit learner; its probabilities are those of its played labels.
    Bandit(Box<dyn BanditModel>),
}

impl Forecaster {
    /// The description of its algorithm.
    pub fn about(&self) -> &'static About {
        match self {
            Self::Average(average) => average.members()[0].about(),
            Self::Bandit(learner) => learner.about(),
        }
    }

    /// The parameters in use, by name.
    pub fn values(&self) -> Values {
        match self {
            Self::Average(average) => average.members()[0].values(),
            Self::Bandit(learner) => learner.values(),
        }
    }

    /// The problem that it was made for.
    pub fn problem(&self) -> &Problem {
        match self {
            Self::Average(average) => average.problem(),
            Self::Bandit(learner) => learner.problem(),
        }
    }

    /// Number of rounds learnt by the learner, or by each snapshot.
    pub fn rounds(&self) -> Vec<u64> {
        use noregret::learner::OnlineLearner as _;
        match self {
            Self::Average(average) => average.members().iter().map(|member| member.rounds()).collect(),
            Self::Bandit(learner) => vec![learner.rounds()],
        }
    }

    /// What is inside of the learner; for snapshots, of the first.
    fn inside(&self) -> Option<&dyn Inside> {
        use noregret::learner::OnlineLearner as _;
        match self {
            Self::Average(average) => average.members()[0].inside(),
            Self::Bandit(_) => None,
        }
    }

    /// The learner's figures, by name; for snapshots, those of the first.
    pub fn figures(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.inside().map(Inside::figures).unwrap_or_default()
    }

    /// The weights of the learner's members, by name; for snapshots, those of the first.
    pub fn weights(&self) -> Vec<(String, f64)> {
        self.inside().map(Inside::weights).unwrap_or_default()
    }

    /// Whether the learner has its own rule for abstaining.
    pub fn abstains(&self) -> bool {
        use noregret::learner::OnlineLearner as _;
        match self {
            Self::Average(average) => average.members()[0].abstaining().is_some(),
            Self::Bandit(_) => false,
        }
    }

    /// Buffers for [`Forecaster::predict`].
    pub fn prediction(&self) -> Prediction {
        match self {
            Self::Average(average) => average.prediction(),
            Self::Bandit(learner) => Prediction::sized(learner.problem().classes, 0),
        }
    }

    /// Predicts all of `examples` among their labels on offer and calls `each` with each prediction, in
    /// order. Equal to [`Forecaster::predict_among`] up to rounding, and faster for learners with matrices.
    /// See
    /// [`PREDICTED_TOGETHER`].
    pub fn predict_batch(
        &self,
        examples: &[Example],
        out: &mut Prediction,
        room: &mut Decision,
        each: &mut dyn FnMut(usize, &Prediction),
    ) {
        match self {
            Self::Average(average) => {
                let rows: Vec<Features<'_>> = examples.iter().map(Example::features).collect();
                let mut among = Prediction::default();
                average.predict_batch(&&rows[..], out, &mut |at, prediction| {
                    let offered = examples[at].offered();
                    if offered.is_empty() {
                        return each(at, prediction);
                    }
                    among.keep(prediction);
                    restrict(&mut among, offered);
                    each(at, &among);
                });
            }
            Self::Bandit(_) => examples.iter().enumerate().for_each(|(at, example)| {
                self.predict_among(example.features(), example.offered(), out, room);
                each(at, out);
            }),
        }
    }

    /// [`Forecaster::predict`] among the labels `offered`, ascending (empty: all): the probabilities of other
    /// labels are 0. A bandit learner decides as in a run; the forecast of a learner that does not decide
    /// among some of its labels is divided by its sum over the labels on offer.
    pub fn predict_among(&self, x: Features<'_>, offered: &[u32], out: &mut Prediction, room: &mut Decision) {
        if let Self::Bandit(learner) = self
            && !offered.is_empty()
            && learner.predict_among(x, offered, room)
        {
            out.scores.clone_from(&room.scores);
            out.probabilities.clone_from(&room.distribution);
            return;
        }
        self.predict(x, out, room);
        restrict(out, offered);
    }

    /// Writes scores and probabilities for `x` to `out`; `room` is a reused buffer.
    pub fn predict(&self, x: Features<'_>, out: &mut Prediction, room: &mut Decision) {
        match self {
            Self::Average(average) => average.predict(x, out),
            Self::Bandit(learner) => {
                learner.predict(x, room);
                out.scores.clone_from(&room.scores);
                out.probabilities.clone_from(&room.distribution);
            }
        }
    }
}

/// Moves the probabilities of a decision of a learner that decides among all labels to those `offered`,
/// ascending; empty: all.
pub fn restrict_decision(at: &mut Decision, offered: &[u32]) {
    let mut all = Prediction::default();
    std::mem::swap(&mut all.scores, &mut at.scores);
    std::mem::swap(&mut all.probabilities, &mut at.distribution);
    restrict(&mut all, offered);
    at.greedy = best_of(&all, offered).0;
    (at.scores, at.distribution, at.offered) = (all.scores, all.probabilities, offered.to_vec());
}

/// Moves the probabilities to the labels `offered`, ascending; empty: all.
pub fn restrict(at: &mut Prediction, offered: &[u32]) {
    if offered.is_empty() || at.probabilities.is_empty() {
        return;
    }
    let total: f64 = offered.iter().map(|label| at.probabilities[*label as usize]).sum();
    for (label, p) in (0u32..).zip(&mut at.probabilities) {
        *p = if offered.binary_search(&label).is_ok() { *p / total } else { 0.0 };
    }
    if !total.is_normal() {
        at.probabilities.fill(0.0);
        let best = best_of(at, offered);
        at.probabilities[best.index()] = 1.0;
    }
}

/// The label with the best score among `offered` (empty: all), the first of several.
pub fn best_of(at: &Prediction, offered: &[u32]) -> Label {
    let Some(first) = offered.first() else { return Label::from(argmax(&at.scores)) };
    let better = |best: u32, label: &u32| {
        if at.scores[*label as usize] > at.scores[best as usize] { *label } else { best }
    };
    Label(offered.iter().fold(*first, better))
}

/// A predictor that does not learn, with its encoder.
pub struct Frozen {
    /// The predictor.
    pub predictor: Forecaster,
    /// The encoder; if scaling adapts, in its state when the snapshot was taken.
    pub encoder: Encoder,
    /// How the data is read.
    pub schema: Schema,
}

impl Frozen {
    /// The content of the model file; that of an ordinary model for a single snapshot.
    pub fn archive(&mut self) -> Archive {
        let mut archive = match &mut self.predictor {
            Forecaster::Average(average) => average.archive(),
            Forecaster::Bandit(learner) => Archive::of_bandit(learner.as_mut()),
        };
        surround(&mut archive, &self.encoder, &self.schema);
        archive
    }

    /// Reads a predictor, from an average or an ordinary model.
    ///
    /// # Errors
    /// If the content is damaged or inconsistent.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let predictor = match archive.any_model() {
            Ok(AnyModel::Bandit(learner)) => Forecaster::Bandit(learner),
            Ok(other) => Forecaster::Average(Average::new(vec![other.full()?])),
            Err(ModelError::Average) => Forecaster::Average(Average::from_archive(archive)?),
            Err(error) => return Err(error),
        };
        let (mut encoder, schema) = surroundings(archive, predictor.about(), predictor.problem())?;
        if let Forecaster::Bandit(_) = predictor {
            encoder.set_costs(Some(encoder.costs().unwrap_or_default()));
        }
        Ok(Self { predictor, encoder, schema })
    }
}

/// Writes the encoder and the schema.
fn surround(archive: &mut Archive, encoder: &Encoder, schema: &Schema) {
    archive.set_text("labels", json(encoder.labels()));
    // Rejected rows may have added names of columns that the learner has no room for.
    let columns = schema.columns.clone().first(u32::try_from(encoder.columns()).unwrap_or(u32::MAX));
    archive.set_text("schema", json(&Schema { columns, ..schema.clone() }));
    archive.set_text("encoding", json(&Encoding::of(encoder)));
    if !encoder.class_weights().is_empty() {
        archive.set_text(CLASS_WEIGHTS, json(encoder.class_weights()));
    }
    let (rows, first, second) = encoder.scaler().state();
    let real = |data: &[f64]| Numbers { shape: vec![data.len()], data: Data::of(data) };
    archive.set_tensor("scaling/first", real(&first));
    archive.set_tensor("scaling/second", real(&second));
    archive.set_tensor("scaling/rows", Numbers { shape: vec![1], data: Data::Count(vec![rows]) });
    let holes = encoder.scaler().holes();
    if !holes.is_empty() {
        let data = Data::Count(holes.as_flattened().to_vec());
        archive.set_tensor(HOLES, Numbers { shape: vec![holes.len(), 2], data });
    }
    encoder.scaler().inputs().into_iter().for_each(|inputs| inputs.save(archive));
    if let Some(guard) = encoder.scaler().guard() {
        let GuardState { real: bounds, counts } = guard.state();
        archive.set_tensor("guard/real", real(&bounds));
        archive.set_tensor("guard/counts", Numbers { shape: vec![counts.len()], data: Data::Count(counts) });
    }
}

/// Reads the encoder and the schema of a learner of `problem`.
fn surroundings(
    archive: &Archive,
    about: &About,
    problem: &Problem,
) -> Result<(Encoder, Schema), ModelError> {
    let labels: Labels = archive.json("labels")?;
    let mut schema: Schema = archive.json("schema")?;
    // Programs before there was a list of what is missing have learnt its words as classes.
    let classes = labels.iter().filter(|label| schema.missing.is_label(label));
    let classes: Vec<String> = classes.map(str::to_owned).collect();
    schema.missing.values.extend(classes);
    let encoding: Encoding = archive.json("encoding")?;
    let list = |name: &str| match &archive.tensor(name)?.data {
        Data::Real(data) if data.len() <= encoding.columns => Ok(data.clone()),
        _ => Err(ModelError::Damaged(format!("tensor '{name}' does not fit {} columns", encoding.columns))),
    };
    let rows = match archive.tensor("scaling/rows")?.data {
        Data::Count(ref rows) if rows.len() == 1 => rows[0],
        _ => return Err(ModelError::Damaged("tensor 'scaling/rows' is not a counter".to_owned())),
    };
    let (first, second) = (list("scaling/first")?, list("scaling/second")?);
    let squares = match encoding.scaling {
        Scaling::Standard => first.len(),
        Scaling::Mixed => first.len() / 2,
        _ => 0,
    };
    let in_blocks = encoding.scaling == Scaling::Mixed && !encoding.before_products;
    let block = schema.block().filter(|_| in_blocks);
    if second.len() != squares
        || block.is_some_and(|width| second.len() != width as usize)
        || (encoding.before_products && schema.block().is_none())
        || (encoding.scaling == Scaling::Mixed && first.len() % 2 != 0)
        || second.iter().any(|squares| *squares < 0.0)
    {
        return Err(ModelError::Damaged("its scaling is inconsistent".to_owned()));
    }
    let scaler = Scaler::from_state(encoding.scaling, rows, first, second, schema.block());
    let holes = match archive.tensor(HOLES).map(|tensor| &tensor.data) {
        Err(_) => Vec::new(),
        Ok(Data::Count(counts))
            if encoding.fills_missing
                && counts.len() % 2 == 0
                && counts.len() / 2 <= encoding.columns
                && counts.iter().all(|count| *count <= rows) =>
        {
            counts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
        }
        Ok(_) => return Err(ModelError::Damaged(format!("tensor '{HOLES}' does not fit its scaling"))),
    };
    let inputs = encoding.before_products.then(|| Inputs::load(archive)).transpose()?;
    let guarded = inputs.as_ref().map_or(encoding.columns, Inputs::len);
    let guard = encoding.guarded.then(|| guard(archive, guarded)).transpose()?;
    let scaler = inputs.into_iter().fold(scaler, Scaler::with_inputs);
    let class_weights: Option<ClassWeights> =
        archive.text(CLASS_WEIGHTS).map(|_| archive.json(CLASS_WEIGHTS)).transpose()?;
    if class_weights.is_some() && !about.accepts.weights {
        return Err(ModelError::Damaged("its learner takes no weights of classes".to_owned()));
    }
    let encoder = encoding.encoder(about, problem, labels, scaler.with_holes(holes).with_guard(guard))?;
    Ok((encoder.with_class_weights(class_weights.unwrap_or_default()), schema))
}

/// Reads what was seen of at most `columns` columns.
fn guard(archive: &Archive, columns: usize) -> Result<Guard, ModelError> {
    let guard = match (&archive.tensor("guard/real")?.data, &archive.tensor("guard/counts")?.data) {
        (Data::Real(real), Data::Count(counts)) => {
            Guard::from_state(&GuardState { real: real.clone(), counts: counts.clone() }, columns)
        }
        _ => None,
    };
    guard.ok_or_else(|| ModelError::Damaged("what was seen of its columns is inconsistent".to_owned()))
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use noregret::registry::find;

    use super::*;
    use crate::read::row::Row;
    use crate::setup::{Asked, Facts};

    fn made(learner: &str) -> Saved {
        let asked = Asked { feedback: Some(Feedback::Full), radius: Some(1.0), ..Asked::default() };
        Facts::of_arrays(2, 1).make(find(learner).expect("registered"), &asked).expect("it can be made")
    }

    /// In a file from before a missing number is 0, and the file stays as it was.
    #[test]
    fn what_a_missing_number_is_is_saved() {
        let facts = Facts { scaling: Scaling::Standard, ..Facts::of_arrays(2, 1) };
        let mut model =
            facts.make(find("ogd").expect("registered"), &Asked::default()).expect("it can be made");
        let mut archive = model.archive();
        let encoding = archive.text("encoding").expect("a text").to_owned();
        let before = encoding.replace(",\"fills_missing\":true", "");
        assert_ne!(before, encoding);
        for (text, fills) in [(encoding, true), (before.clone(), false)] {
            archive.set_text("encoding", text.clone());
            let mut again = Saved::from_archive(&archive).expect("a whole model");
            assert_eq!(again.encoder.fills_missing(), fills);
            assert_eq!(again.archive().text("encoding"), Some(&*text));
        }
        assert!(!made("ogd").encoder.fills_missing(), "without scaling there is no mean");
        let mut hole = Row::new();
        hole.miss(0);
        model.encoder.encode(&hole, &mut Example::default()).expect("a good row");
        let mut archive = model.archive();
        let again = Saved::from_archive(&archive).expect("a whole model");
        assert_eq!(again.encoder.scaler().holes(), [[1, 0]]);
        archive.set_text("encoding", before);
        let error = Saved::from_archive(&archive).err().expect("damaged").to_string();
        assert!(error.contains("'scaling/holes' does not fit"), "{error}");
    }

    #[test]
    fn weights_of_classes_are_saved() {
        let mut model = made("ogd");
        assert_eq!(model.archive().text(CLASS_WEIGHTS), None, "as in files from before");
        let weights = BTreeMap::from([("a".to_owned(), 2.5)]);
        let weights = ClassWeights::try_from(weights).expect("a weight");
        model.encoder.set_class_weights(weights.clone());
        let mut archive = model.archive();
        let again = Saved::from_archive(&archive).expect("a whole model");
        assert_eq!(again.encoder.class_weights(), &weights);
        archive.set_text(CLASS_WEIGHTS, r#"{"a":-1.0}"#);
        let error = Saved::from_archive(&archive).err().expect("damaged").to_string();
        assert!(error.contains("the class \"a\" has the weight -1.0"), "{error}");
        let mut other = made("perceptron");
        other.encoder.set_class_weights(weights);
        let error = Saved::from_archive(&other.archive()).err().expect("damaged").to_string();
        assert!(error.contains("its learner takes no weights of classes"), "{error}");
    }
}
