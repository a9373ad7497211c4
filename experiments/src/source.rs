//! Where the rows of a run come from.

use noregret::param::Values;
use noregret::problem::Problem;
use noregret_stream::encode::examples::Examples;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::{Encoder, Example};

use crate::error::ExperimentError;
use crate::stored::{CLASSES, Replay, Stored};
use crate::synthetic::{Recipe, SyntheticExamples};

/// Rows that can be had again and again.
#[derive(Clone)]
pub(crate) enum Source<'a> {
    /// Made on the spot.
    Made {
        recipe: &'static str,
        values: Values,
        rows: u64,
        seed: u64,
        /// The largest norm of a row.
        radius: f64,
        /// Rows are mostly zeros.
        sparse: bool,
    },
    /// A file's, in the order that the seed deals.
    File { stored: &'a Stored, rows: usize, order: Option<u64> },
    /// One by one.
    List { classes: usize, radius: f64, examples: &'a [Example] },
}

impl<'a> Source<'a> {
    /// What is known of the stream.
    pub(crate) fn problem(&self) -> Result<Problem, ExperimentError> {
        let (classes, features, radius, sparse) = match self {
            Source::Made { recipe, values, rows, seed, radius, sparse } => {
                let stream = recipe_named(recipe).make(values, *rows, *seed)?;
                (stream.classes(), stream.features(), *radius, *sparse)
            }
            Source::File { stored, .. } => (stored.classes, stored.features, stored.radius, stored.sparse),
            Source::List { classes, radius, examples } => (
                *classes,
                examples.first().map_or(1, |first| first.features().values().len()),
                *radius,
                false,
            ),
        };
        Ok(Problem::new(classes, features).with_radius(radius).with_horizon(self.rows()).with_sparse(sparse))
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        match self {
            Source::Made { rows, .. } => *rows,
            Source::File { rows, stored, .. } => (*rows).min(stored.examples.len()) as u64,
            Source::List { examples, .. } => examples.len() as u64,
        }
    }

    /// The rows.
    pub(crate) fn examples(&self) -> Result<Box<dyn Examples + 'a>, ExperimentError> {
        Ok(match self {
            Source::Made { recipe, values, rows, seed, sparse, .. } => {
                let stream = recipe_named(recipe).make(values, *rows, *seed)?;
                let encoder = Encoder::new(stream.features(), CLASSES)
                    .with_labels(Labels::numbered(stream.classes()), stream.classes())
                    .with_sparse(*sparse);
                Box::new(SyntheticExamples::new(stream, encoder, *rows))
            }
            Source::File { stored, rows, order } => {
                Box::new(Replay { stored, order: stored.order(*rows, *order), at: 0 })
            }
            Source::List { examples, .. } => Box::new(List { examples, at: 0 }),
        })
    }

    /// Its rows in memory: making them again for every run would cost as much as learning from them.
    pub(crate) fn stored(&self) -> Result<Stored, ExperimentError> {
        let problem = self.problem()?;
        let mut rows = self.examples()?;
        let (mut examples, mut example) = (Vec::with_capacity(self.rows() as usize), Example::default());
        while rows.next(&mut example)? {
            examples.push(example.clone());
        }
        Ok(Stored {
            classes: problem.classes,
            features: problem.features,
            radius: problem.radius.unwrap_or(1.0),
            sparse: problem.sparse,
            examples,
        })
    }
}

fn recipe_named(name: &str) -> &'static Recipe {
    Recipe::find(name).expect("experiments name streams that exist")
}

struct List<'a> {
    examples: &'a [Example],
    at: usize,
}

impl Examples for List<'_> {
    fn next(&mut self, out: &mut Example) -> Result<bool, noregret_stream::ReadError> {
        let Some(example) = self.examples.get(self.at) else { return Ok(false) };
        out.copy_from(example);
        self.at += 1;
        Ok(true)
    }
}
