//! The first pass over a file: determines classes, columns and the largest norm.

use std::collections::HashMap;

use noregret::learner::Classes;

use crate::encode::encoder::{check_magnitudes, row_error};
use crate::encode::examples::BadRows;
use crate::encode::labels::Labels;
use crate::encode::measure::Trial;
use crate::encode::scale::{Scaler, Scaling};
use crate::fault::Fault;
use crate::read::columns::{ALWAYS_DENSE, Columns};
use crate::read::error::{ReadError, shown};
use crate::read::label::{LabelType, value};
use crate::read::looks::looks;
use crate::read::reader::Reader;
use crate::read::row::{Row, RowLabel};
use crate::read::table::amount;

/// More classes than this are assumed to be a mistake, such as a real-valued target or the wrong label
/// column, if most rows have different labels.
const MANY_CLASSES: usize = 10_000;

/// More different fractions than this are hardly classes, if each occurs fewer times than [`REPEATS`].
const MANY_FRACTIONS: usize = 20;
const REPEATS: u64 = 20;

/// More classes than this that are all numbers may be a target to forecast.
const MANY_NUMBERS: usize = 30;

/// More classes than this are not learnt.
pub const MOST_CLASSES: usize = 1_000_000;

/// More columns than this must be declared, so that one wrong index does not exhaust the memory.
const MOST_COLUMNS: usize = 1 << 27;

/// Settings of a first pass.
#[derive(Clone, Copy, Debug)]
pub struct SurveyOptions<'a> {
    /// The name of the data in errors.
    pub name: &'a str,
    /// The scaling; chosen by [`suitable`] if `None`.
    pub scaling: Option<Scaling>,
    /// The number of classes that the learner supports.
    pub classes: Classes,
    /// Largest number of columns; those in the data if `None`.
    pub features: Option<usize>,
    /// How many bad rows are skipped.
    pub bad_rows: BadRows,
}

/// Result of the first pass.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Rows that could be read.
    pub rows: u64,
    /// Rows with a label.
    pub labelled: u64,
    /// The classes, sorted. Empty for a real-valued target.
    pub labels: Labels,
    /// Number of columns, in the data or as declared.
    pub columns: usize,
    /// The scaling, as given or chosen by [`suitable`].
    pub scaling: Scaling,
    /// Largest Euclidean norm of a scaled row, without the intercept.
    pub radius: f64,
    /// Number of non-zero values.
    pub non_zeros: u64,
    /// The least number of labels on offer in a row that states them; [`usize::MAX`] if none does.
    pub fewest_offered: usize,
    /// The line of the first row whose label is a class.
    pub named: Option<u64>,
    /// The line of the first row whose label gives the cost of an action.
    pub costs: Option<u64>,
    /// Whether some of these were played by another policy.
    pub logged: bool,
    /// The least and the largest of these costs, each with the line of its first row.
    pub cost_range: Option<[(f64, u64); 2]>,
}

impl Survey {
    /// Reads `reader` to its end.
    ///
    /// # Errors
    /// If reading fails, or there are more bad rows than `bad_rows` allows, or too many classes.
    pub fn take(reader: &mut dyn Reader, options: &SurveyOptions<'_>) -> Result<Self, SurveyError> {
        let SurveyOptions { scaling, classes, features, bad_rows, .. } = *options;
        let mut candidates = trials(reader, scaling);
        let mut survey = Self {
            rows: 0,
            labelled: 0,
            labels: Labels::default(),
            columns: 0,
            scaling: Scaling::None,
            radius: 0.0,
            non_zeros: 0,
            fewest_offered: usize::MAX,
            named: None,
            costs: None,
            logged: false,
            cost_range: None,
        };
        let mut row = Row::new();
        let mut bad = 0;
        loop {
            match next_row(reader, &mut row, options, &survey.labels) {
                Ok(true) => {}
                Ok(false) => break,
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
            survey.note_labels(&row, classes)?;
            let columns = (reader.columns().count() as usize).min(features.unwrap_or(usize::MAX));
            if scaling.is_none() {
                // Standardising takes time in proportion to the columns; skipped once another
                // scaling is certain.
                candidates.retain(|candidate| {
                    candidate.scaler.scaling() != Scaling::Standard || suitable(columns) == Scaling::Standard
                });
            }
            for candidate in &mut candidates {
                match row.round() {
                    // Where products are too large, the run refuses the row.
                    Some(round) => {
                        survey.non_zeros += candidate.observe_round(round).unwrap_or(0) as u64;
                    }
                    None => candidate.observe(row.indices(), row.values(), row.missing(), columns),
                }
            }
        }
        let different = survey.labels.len();
        if different > MANY_CLASSES && 2 * different as u64 > survey.labelled {
            return Err(SurveyError::LabelsHardlyRepeat(different, survey.labelled));
        }
        // A column of zeros stands for none: the constant feature remains.
        survey.columns = features.unwrap_or((reader.columns().count() as usize).max(1));
        survey.labels = survey.labels.sorted();
        (survey.scaling, survey.radius) = (candidates[0].scaler.scaling(), candidates[0].square.sqrt());
        Ok(survey)
    }

    /// Takes in the label of a row, and the labels on offer in it.
    fn note_labels(&mut self, row: &Row, classes: Classes) -> Result<(), SurveyError> {
        self.labelled += u64::from(match row.label() {
            RowLabel::Missing => false,
            // Labels on offer, or a decision that was never answered.
            RowLabel::Costs(actions) => actions.iter().any(|one| one.cost.is_some()),
            RowLabel::Name(_) | RowLabel::Distribution(_) => true,
        });
        if let RowLabel::Name(_) = row.label() {
            self.named.get_or_insert(row.line);
        }
        match row.label() {
            RowLabel::Name(name) if classes != Classes::Real => {
                self.labels.collect(name, row.label_type());
                if self.labels.len() > MOST_CLASSES {
                    return Err(SurveyError::TooManyClasses(self.labelled));
                }
            }
            RowLabel::Costs(actions) => {
                // Actions without a cost are those on offer.
                if actions.iter().any(|one| one.cost.is_some()) {
                    self.costs.get_or_insert(row.line);
                }
                self.logged |= actions.iter().any(|one| one.probability.is_some());
                for one in actions {
                    self.labels.collect(&one.action, one.of);
                    if let Some(cost) = one.cost {
                        self.note_cost(cost, row.line);
                    }
                }
            }
            RowLabel::Distribution(y) if self.labels.is_empty() => {
                let numbers: Vec<String> = (0..y.len()).map(|class| class.to_string()).collect();
                self.labels = numbers.try_into().expect("numbers differ");
            }
            _ => {}
        }
        row.offered().iter().for_each(|label| self.labels.collect(&label.text, label.of));
        if !row.offered().is_empty() {
            self.fewest_offered = self.fewest_offered.min(row.offered().len());
        }
        Ok(())
    }

    fn note_cost(&mut self, cost: f64, line: u64) {
        let [least, most] = self.cost_range.get_or_insert([(cost, line); 2]);
        if cost < least.0 {
            *least = (cost, line);
        }
        if cost > most.0 {
            *most = (cost, line);
        }
    }

    /// A remark on classes that may be a real-valued target.
    pub fn many_numbers(&self) -> Option<String> {
        self.named.and_then(|_| many_numbers(&self.labels, self.labelled))
    }

    /// Whether rows are stored sparsely.
    pub fn is_sparse(&self) -> bool {
        self.columns > ALWAYS_DENSE && self.non_zeros as f64 <= 0.1 * self.rows as f64 * self.columns as f64
    }
}

/// A remark on classes of which there are many, all of them numbers, in so many `labelled` rows that they may
/// be a real-valued target.
pub fn many_numbers(labels: &Labels, labelled: u64) -> Option<String> {
    let classes = labels.len();
    // Labels that hardly repeat have a remark of their own.
    let many = classes > MANY_NUMBERS && 2 * classes as u64 <= labelled;
    (many && are_numbers(labels))
        .then(|| format!("the labels are {classes} different numbers, and each is a class of its own"))
}

/// The same for numbers that all have the same unit, as in `60ms`.
pub fn many_with_unit(labels: &Labels, labelled: u64) -> Option<String> {
    let classes = labels.len();
    let many = classes > MANY_NUMBERS && 2 * classes as u64 <= labelled;
    let unit = amount::unit(labels.iter().next().filter(|_| many)?)?;
    let number =
        |label: &str| value(std::str::from_utf8(amount::without_unit(label.as_bytes(), unit)?).ok()?);
    labels.iter().all(|label| number(label).is_some()).then(|| {
        format!(
            "the labels are {classes} different numbers with the unit {}, and each is a class of its own; written without the unit they \
             are numbers to forecast",
            shown(unit)
        )
    })
}

/// What labels are that are numbers, of which there are too many in so many `labelled` rows to be classes:
/// fractions that hardly repeat.
pub fn real_valued(labels: &Labels, labelled: u64) -> Option<String> {
    let different = labels.len();
    let many = different > MANY_FRACTIONS && different as u64 * REPEATS > labelled;
    let fraction = labels.iter().find(|name| value(name).is_some_and(|number| number.fract() != 0.0))?;
    (many && are_numbers(labels)).then(|| {
        format!("{different} different numbers in {labelled} rows, such as {fraction}: a real-valued target")
    })
}

/// Whether all labels are numbers, and none of them was given as a text.
fn are_numbers(labels: &Labels) -> bool {
    labels.typed().all(|(name, of)| of != LabelType::Text && value(name).is_some())
}

/// A remark on labels that look alike: they differ in upper and lower case, in signs that are not shown, in
/// the writing of accents, in quotation marks around them, in a full stop behind them, or as 1 and 1.0 do.
pub fn look_alike(labels: &Labels) -> Option<String> {
    let mut known = HashMap::new();
    labels.iter().find_map(|name| {
        let other = known.insert(looks(name), name)?;
        let (other, name) = (shown(other), shown(name));
        Some(format!(
            "the labels {other} and {name} look alike, and are two classes: write them alike if they are one"
        ))
    })
}

/// A remark on a label that is a class, and would stand for a missing label in many tables.
pub fn perhaps_missing(labels: &Labels) -> Option<String> {
    const WORDS: [&str; 16] = [
        "unknown",
        "missing",
        "undefined",
        "unlabeled",
        "unlabelled",
        "nil",
        "no label",
        "not available",
        "no data",
        "n/d",
        "n.a",
        "tbd",
        "??",
        "..",
        "...",
        "''",
    ];
    let name = labels.iter().find(|name| WORDS.iter().any(|word| name.eq_ignore_ascii_case(word)))?;
    Some(format!(
        "the label {} is a class like others: if it stands for a missing label, the option missing = {name} says so",
        shown(name)
    ))
}

/// What is measured of the scalings that come into question.
fn trials(reader: &dyn Reader, scaling: Option<Scaling>) -> Vec<Trial> {
    let schema = reader.schema();
    let (numbers, block) = (schema.numbers(), schema.block());
    let scalings = match scaling {
        Some(scaling) => vec![scaling],
        None if numbers.is_some() || block.is_some() => vec![Scaling::Mixed],
        None => vec![Scaling::Standard, Scaling::MaxAbs],
    };
    let trial = |scaling| Trial::new(Scaler::of_columns(scaling, numbers, block).guarded());
    scalings.into_iter().map(trial).collect()
}

/// Reads a row and checks it; a row that is refused leaves no columns.
fn next_row(
    reader: &mut dyn Reader,
    row: &mut Row,
    options: &SurveyOptions<'_>,
    labels: &Labels,
) -> Result<bool, ReadError> {
    if !reader.read(row)? {
        return Ok(false);
    }
    if let Err(what) = check(reader, row, options.features, labels) {
        reader.take_back();
        return Err(row_error(options.name, row, what));
    }
    Ok(true)
}

/// Rejects a row that the run would reject, so that it affects no decision.
fn check(reader: &dyn Reader, row: &Row, features: Option<usize>, labels: &Labels) -> Result<(), Fault> {
    let clash = match row.label() {
        RowLabel::Name(name) => labels.clash(name, row.label_type()),
        RowLabel::Costs(actions) => actions.iter().find_map(|one| labels.clash(&one.action, one.of)),
        _ => None,
    };
    let clash = clash.or_else(|| row.offered().iter().find_map(|one| labels.clash(&one.text, one.of)));
    if let Some(why) = clash {
        return Err(why.into());
    }
    reader.columns().check_row(row.indices(), features.unwrap_or(usize::MAX))?;
    check_magnitudes(row)
}

/// The default scaling for data of `columns` columns, other than tables with text or times:
/// standardising is best for second-order and first-order learners, but makes every row dense.
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
        "there are more than {MOST_COLUMNS} features from line {0} on; hash them, or declare how many are allowed"
    )]
    TooManyColumns(u64),
    /// There are more classes than a learner may have.
    #[error("there are more than {MOST_CLASSES} different labels in the first {0} rows with a label")]
    TooManyClasses(u64),
    /// The labels do not seem to be classes.
    #[error(
        "there are {0} different labels in {1} rows with a label, which is the wrong column or a real-valued target"
    )]
    LabelsHardlyRepeat(usize, u64),
}
