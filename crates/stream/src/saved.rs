//! A model with everything around it that the next row needs: classes, columns, scaling.

use noregret::algorithm::Model;
use noregret::batch::online_to_batch::Average;
use noregret::learner::Classes;
use noregret::model::{Archive, Data, ModelError, Numbers};
use serde::{Deserialize, Serialize};

use crate::encode::{Encoder, LargeRow};
use crate::labels::Labels;
use crate::options::Schema;
use crate::scale::{Scaler, Scaling};

/// A learner and what turns rows into its examples.
pub struct Saved {
    /// The learner.
    pub learner: Box<dyn Model>,
    /// The encoder, in the state after the last row.
    pub encoder: Encoder,
    /// How the data is read.
    pub schema: Schema,
}

/// The encoder's part that is no tensor.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoding {
    scaling: Scaling,
    intercept: bool,
    sparse: bool,
    columns: usize,
}

impl Saved {
    /// The model file's contents.
    pub fn archive(&mut self) -> Archive {
        let mut archive = Archive::of(self.learner.as_mut());
        surround(&mut archive, &self.encoder, &self.schema);
        archive
    }

    /// The model of a file's contents, ready to continue.
    ///
    /// # Errors
    /// If the contents are damaged or contradict each other, or are those of an average, which cannot continue.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let learner = archive.model()?;
        let (encoder, schema) = surroundings(archive, &*learner)?;
        Ok(Self { learner, encoder, schema })
    }
}

/// What predicts and learns no more, and what turns rows into its examples: rows are scaled by what all of the stream has
/// shown, whenever the snapshots were taken.
pub struct Frozen {
    /// Snapshots of one learner; a model that was saved to be continued is one alone.
    pub predictor: Average<Box<dyn Model>>,
    /// The encoder, in the state after the last row.
    pub encoder: Encoder,
    /// How the data is read.
    pub schema: Schema,
}

impl Frozen {
    /// The learner, or the first snapshot of it.
    pub fn first(&self) -> &dyn Model {
        &*self.predictor.members()[0]
    }

    /// The model file's contents. A single snapshot makes an ordinary model file.
    pub fn archive(&mut self) -> Archive {
        let mut archive = self.predictor.archive();
        surround(&mut archive, &self.encoder, &self.schema);
        archive
    }

    /// What a file's contents predict with, whether it is an average or a model that could be continued.
    ///
    /// # Errors
    /// If the contents are damaged or contradict each other.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let predictor = Average::from_archive(archive)?;
        let (encoder, schema) = surroundings(archive, &*predictor.members()[0])?;
        Ok(Self { predictor, encoder, schema })
    }
}

/// Writes what stands around a learner.
fn surround(archive: &mut Archive, encoder: &Encoder, schema: &Schema) {
    let encoding = Encoding {
        scaling: encoder.scaler.scaling(),
        intercept: encoder.intercept,
        sparse: encoder.sparse,
        columns: encoder.columns,
    };
    archive.set_text("labels", json(&encoder.labels));
    // Refused rows may have named columns that the learner has no room for.
    let columns = schema.columns.clone().first(u32::try_from(encoder.columns).unwrap_or(u32::MAX));
    archive.set_text("schema", json(&Schema { columns, ..schema.clone() }));
    archive.set_text("encoding", json(&encoding));
    let (rows, first, second) = encoder.scaler.state();
    let real = |data: &[f64]| Numbers { shape: vec![data.len()], data: Data::Real(data.to_vec()) };
    archive.set_tensor("scaling/first", real(first));
    archive.set_tensor("scaling/second", real(second));
    archive.set_tensor("scaling/rows", Numbers { shape: vec![1], data: Data::Count(vec![rows]) });
}

/// Reads what stands around `learner`.
fn surroundings(archive: &Archive, learner: &dyn Model) -> Result<(Encoder, Schema), ModelError> {
    let labels: Labels = archive.json("labels")?;
    let schema: Schema = archive.json("schema")?;
    let encoding: Encoding = archive.json("encoding")?;
    let list = |name: &str| match &archive.tensor(name)?.data {
        Data::Real(data) if data.len() <= encoding.columns => Ok(data.clone()),
        _ => Err(ModelError::Damaged(format!("tensor '{name}' does not fit {} columns", encoding.columns))),
    };
    let rows = match archive.tensor("scaling/rows")?.data {
        Data::Count(ref rows) if rows.len() == 1 => rows[0],
        _ => return Err(ModelError::Damaged("tensor 'scaling/rows' is no counter".to_owned())),
    };
    let (first, second) = (list("scaling/first")?, list("scaling/second")?);
    let standard = encoding.scaling == Scaling::Standard;
    if second.len() != if standard { first.len() } else { 0 } || second.iter().any(|squares| *squares < 0.0) {
        return Err(ModelError::Damaged("its scaling contradicts itself".to_owned()));
    }
    let problem = learner.problem();
    let accepts = learner.about().accepts;
    let classes = if accepts.classes == Classes::Real { 0 } else { problem.classes };
    let encoder = Encoder {
        labels,
        classes,
        scaler: Scaler::from_state(encoding.scaling, rows, first, second),
        intercept: encoding.intercept,
        sparse: encoding.sparse && !standard,
        columns: encoding.columns,
        accepts,
        large_row: LargeRow::default(),
        radius: problem.radius.unwrap_or(f64::INFINITY),
        large_rows: 0,
    };
    if encoder.labels.len() > classes
        || encoding.columns.checked_add(usize::from(encoding.intercept)) != Some(problem.features)
    {
        return Err(ModelError::Damaged("its classes or columns do not fit its learner".to_owned()));
    }
    Ok((encoder, schema))
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data")
}
