//! A model with everything around it that the next row needs: classes, columns, scaling.

use noregret::algorithm::Model;
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
        let encoder = &self.encoder;
        let encoding = Encoding {
            scaling: encoder.scaler.scaling(),
            intercept: encoder.intercept,
            sparse: encoder.sparse,
            columns: encoder.columns,
        };
        archive.set_text("labels", json(&encoder.labels));
        // Refused rows may have named columns that the learner has no room for.
        let columns = self.schema.columns.clone().first(u32::try_from(encoder.columns).unwrap_or(u32::MAX));
        archive.set_text("schema", json(&Schema { columns, ..self.schema.clone() }));
        archive.set_text("encoding", json(&encoding));
        let (rows, first, second) = encoder.scaler.state();
        let real = |data: &[f64]| Numbers { shape: vec![data.len()], data: Data::Real(data.to_vec()) };
        archive.set_tensor("scaling/first", real(first));
        archive.set_tensor("scaling/second", real(second));
        archive.set_tensor("scaling/rows", Numbers { shape: vec![1], data: Data::Count(vec![rows]) });
        archive
    }

    /// The model of a file's contents, ready to continue.
    ///
    /// # Errors
    /// If the contents are damaged or contradict each other.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let learner = archive.model()?;
        let labels: Labels = archive.json("labels")?;
        let schema: Schema = archive.json("schema")?;
        let encoding: Encoding = archive.json("encoding")?;
        let list = |name: &str| match &archive.tensor(name)?.data {
            Data::Real(data) if data.len() <= encoding.columns => Ok(data.clone()),
            _ => {
                Err(ModelError::Damaged(format!("tensor '{name}' does not fit {} columns", encoding.columns)))
            }
        };
        let rows = match archive.tensor("scaling/rows")?.data {
            Data::Count(ref rows) if rows.len() == 1 => rows[0],
            _ => return Err(ModelError::Damaged("tensor 'scaling/rows' is no counter".to_owned())),
        };
        let (first, second) = (list("scaling/first")?, list("scaling/second")?);
        let standard = encoding.scaling == Scaling::Standard;
        if second.len() != if standard { first.len() } else { 0 }
            || second.iter().any(|squares| *squares < 0.0)
        {
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
        Ok(Self { learner, encoder, schema })
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data")
}
