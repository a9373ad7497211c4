//! The first pass over a file: what has to be known before the first prediction.

use noregret::learner::Classes;

use crate::encode::encoder::{check_magnitudes, row_error};
use crate::encode::examples::BadRows;
use crate::encode::labels::Labels;
use crate::encode::measure::Trial;
use crate::encode::scale::{Scaler, Scaling};
use crate::read::columns::Columns;
use crate::read::error::ReadError;
use crate::read::reader::Reader;
use crate::read::row::{Row, RowLabel};

/// More classes than this are taken for a mistake: a real-valued target, or the wrong label column.
const MOST_CLASSES: usize = 10_000;

/// More columns than this are allowed only where they are declared: one wild index should not take all
/// memory.
const MOST_COLUMNS: usize = 1 << 27;

/// Rows of at most this many columns are stored densely whatever they hold.
const ALWAYS_DENSE: usize = 1024;

/// What a first pass is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SurveyOptions<'a> {
    /// What the data is called in errors.
    pub name: &'a str,
    /// The scaling; the suitable one if `None`, see [`suitable`].
    pub scaling: Option<Scaling>,
    /// How many classes the learner can tell apart.
    pub classes: Classes,
    /// How many columns there may be; as many as are seen if `None`.
    pub features: Option<usize>,
    /// How many bad rows are passed over.
    pub bad_rows: BadRows,
}

/// What the first pass found.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Rows that could be read.
    pub rows: u64,
    /// Rows with a label.
    pub labelled: u64,
    /// The classes, sorted as people list them. Empty for a real-valued target.
    pub labels: Labels,
    /// Columns of the data: as many as were seen, or as were declared.
    pub columns: usize,
    /// The scaling: the one asked for, or the one that suits the data, see [`suitable`].
    pub scaling: Scaling,
    /// Largest Euclidean norm of a row so scaled, without the intercept.
    pub radius: f64,
    /// Non-zero values.
    pub non_zeros: u64,
}

impl Survey {
    /// Reads `reader` to its end.
    ///
    /// # Errors
    /// What cannot be read, bad rows in excess of what `bad_rows` allows, or more classes than can be meant.
    pub fn take(reader: &mut dyn Reader, options: &SurveyOptions<'_>) -> Result<Self, SurveyError> {
        let SurveyOptions { name, scaling, classes, features, bad_rows } = *options;
        let numbers = reader.schema().numbers();
        let candidates = match (scaling, numbers) {
            (Some(scaling), _) => vec![scaling],
            (None, Some(_)) => vec![Scaling::Mixed],
            (None, None) => vec![Scaling::Standard, Scaling::MaxAbs],
        };
        let numbers = numbers.unwrap_or(0) as usize;
        let trial = |scaling| Trial::new(Scaler::of_table(scaling, numbers));
        let mut candidates: Vec<Trial> = candidates.into_iter().map(trial).collect();
        let mut survey = Self {
            rows: 0,
            labelled: 0,
            labels: Labels::default(),
            columns: 0,
            scaling: Scaling::None,
            radius: 0.0,
            non_zeros: 0,
        };
        let mut row = Row::new();
        let mut bad = 0;
        loop {
            let read = match reader.read(&mut row) {
                Ok(false) => break,
                Ok(true) => check(reader, &row, features).map_err(|what| {
                    reader.take_back();
                    row_error(name, &row, what)
                }),
                Err(error) => Err(error),
            };
            match read {
                Ok(()) => {}
                Err(error) if error.is_row_error() && bad_rows.allow(bad + 1) => {
                    bad += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            let hashed = matches!(reader.columns(), Columns::Hashed { .. });
            if features.is_none() && !hashed && reader.columns().count() as usize > MOST_COLUMNS {
                return Err(SurveyError::TooManyColumns(row.line));
            }
            survey.rows += 1;
            survey.non_zeros += row.values().len() as u64;
            survey.labelled += u64::from(row.label() != RowLabel::Missing);
            match row.label() {
                RowLabel::Name(name) if classes != Classes::Real => {
                    survey.labels.intern(name);
                    if survey.labels.len() > MOST_CLASSES {
                        return Err(SurveyError::TooManyClasses);
                    }
                }
                RowLabel::Distribution(y) if survey.labels.is_empty() => {
                    survey.labels = (0..y.len())
                        .map(|class| class.to_string())
                        .collect::<Vec<_>>()
                        .try_into()
                        .expect("numbers differ");
                }
                _ => {}
            }
            let columns = (reader.columns().count() as usize).min(features.unwrap_or(usize::MAX));
            if scaling.is_none() {
                // Standardising a row costs its columns, not its non-zeros: not worth it once it is ruled
                // out.
                candidates.retain(|candidate| {
                    candidate.scaler.scaling() != Scaling::Standard || suitable(columns) == Scaling::Standard
                });
            }
            for candidate in &mut candidates {
                candidate.observe(row.indices(), row.values(), columns);
            }
        }
        survey.columns = features.unwrap_or(reader.columns().count() as usize);
        survey.labels = survey.labels.sorted();
        (survey.scaling, survey.radius) = (candidates[0].scaler.scaling(), candidates[0].square.sqrt());
        Ok(survey)
    }

    /// Whether rows are better kept sparse.
    pub fn is_sparse(&self) -> bool {
        self.columns > ALWAYS_DENSE && self.non_zeros as f64 <= 0.1 * self.rows as f64 * self.columns as f64
    }
}

/// Refuses a row that the run would refuse, so that what it holds decides nothing.
fn check(reader: &dyn Reader, row: &Row, features: Option<usize>) -> Result<(), String> {
    reader.columns().check_row(row.indices(), features.unwrap_or(usize::MAX))?;
    check_magnitudes(row)
}

/// The scaling for data of `columns` columns of which nothing else is known, tables of text and times apart:
/// standardising serves second-order and first-order learners best, but makes every row dense.
pub fn suitable(columns: usize) -> Scaling {
    if columns <= ALWAYS_DENSE { Scaling::Standard } else { Scaling::MaxAbs }
}

/// Why a first pass failed.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// The data could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The features would take too much memory.
    #[error(
        "there are more than {MOST_COLUMNS} features from line {0} on; hash them, or say how many are allowed"
    )]
    TooManyColumns(u64),
    /// The labels are no classes.
    #[error(
        "there are more than {MOST_CLASSES} different labels; is it the right label column, or a real-valued target?"
    )]
    TooManyClasses,
}
