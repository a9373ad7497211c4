//! A data set in memory, to be run over many times in many orders.

use std::path::Path;

use noregret::learner::{Accepts, Classes};
use noregret::rng::Rng;
use noregret_stream::encode::examples::{BadRows, Examples, ReadExamples};
use noregret_stream::encode::scale::Scaling;
use noregret_stream::encode::survey::{Survey, SurveyOptions};
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::setup::roomy;
use noregret_stream::{ReadError, ReadOptions, open};

use crate::error::ExperimentError;

/// Learners of classes.
pub(crate) const CLASSES: Accepts =
    Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: false };

/// The rows of a file as examples.
pub(crate) struct Stored {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) radius: f64,
    pub(crate) sparse: bool,
    pub(crate) examples: Vec<Example>,
}

impl Stored {
    /// The file at `path` as it stands, with a constant feature if `intercept`.
    pub(crate) fn load(path: &Path, intercept: bool) -> Result<Self, ExperimentError> {
        let name = path.display().to_string();
        let mut reader = open(&name, &ReadOptions::default())?;
        let options = SurveyOptions {
            name: &name,
            scaling: Some(Scaling::None),
            classes: Classes::Any,
            features: None,
            bad_rows: BadRows::Fail,
        };
        let survey = Survey::take(reader.as_mut(), &options)
            .map_err(|error| ExperimentError::Survey(name.clone(), error))?;
        let schema = reader.schema();
        let reader = open(&name, &ReadOptions { schema: Some(schema), ..ReadOptions::default() })?;
        let encoder = Encoder::new(survey.columns, CLASSES)
            .with_labels(survey.labels.clone(), survey.labels.len())
            .with_intercept(intercept)
            .with_sparse(survey.is_sparse());
        let mut examples = ReadExamples::new(reader, encoder, &name, BadRows::Fail);
        let (mut stored, mut example) = (Vec::with_capacity(survey.rows as usize), Example::default());
        while examples.next(&mut example)? {
            stored.push(example.clone());
        }
        Ok(Self {
            classes: survey.labels.len(),
            features: survey.columns + usize::from(intercept),
            radius: roomy(survey.radius.hypot(f64::from(u8::from(intercept)))),
            sparse: survey.is_sparse(),
            examples: stored,
        })
    }

    /// The numbers of `rows` of its rows, in the order that `seed` deals; in file order without.
    pub(crate) fn order(&self, rows: usize, seed: Option<u64>) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.examples.len() as u32).collect();
        if let Some(seed) = seed {
            let mut rng = Rng::new(seed, 0);
            for at in (1..order.len()).rev() {
                order.swap(at, rng.below(at as u64 + 1) as usize);
            }
        }
        order.truncate(rows);
        order
    }
}

/// Rows of a [`Stored`] in some order.
pub(crate) struct Replay<'a> {
    pub(crate) stored: &'a Stored,
    pub(crate) order: Vec<u32>,
    pub(crate) at: usize,
}

impl Examples for Replay<'_> {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        let Some(row) = self.order.get(self.at) else { return Ok(false) };
        out.copy_from(&self.stored.examples[*row as usize]);
        self.at += 1;
        Ok(true)
    }
}
