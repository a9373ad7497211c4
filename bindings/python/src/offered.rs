//! The rounds of a bandit: a row, with all labels or some of them on offer, or labels on offer that have
//! features of their own.

use noregret::algorithm::BanditModel;
use noregret::bandit::offers::key;
use noregret::registry::{self, ALGORITHMS};
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::{Costs, Described, DescribedRound, Fault, Offers, Row, Schema, fill_round};
use pyo3::prelude::*;

use crate::arrays::{PyRows, Rows, fill, look_at};
use crate::error::{Done, Failure};

/// A round, from Python.
#[derive(FromPyObject)]
pub(crate) enum PyRound<'py> {
    /// One row, and the names of the labels on offer, if not all are.
    #[pyo3(transparent)]
    Row((PyRows<'py>, Option<Vec<String>>)),
    /// The features of the round, and the labels on offer with theirs.
    #[pyo3(transparent)]
    Offer((Described, Vec<(String, Described)>)),
}

/// The same without Python.
pub(crate) enum Round<'a> {
    Row(Rows<'a>, Option<&'a [String]>),
    Offer(&'a Described, &'a [(String, Described)]),
}

impl PyRound<'_> {
    pub(crate) fn borrow(&self) -> PyResult<Round<'_>> {
        Ok(match self {
            Self::Row((row, labels)) => Round::Row(row.borrow()?, labels.as_deref()),
            Self::Offer((context, labels)) => Round::Offer(context, labels),
        })
    }
}

/// A range of costs or rewards, from Python: a pair, or a text such as `0..10`.
#[derive(FromPyObject)]
pub(crate) enum PyCosts {
    #[pyo3(transparent)]
    Text(String),
    #[pyo3(transparent)]
    Pair([f64; 2]),
}

impl PyCosts {
    pub(crate) fn range(self) -> Done<Costs> {
        self.parsed().map_err(|what| Failure::Value(format!("costs: {what}")))
    }

    pub(crate) fn parsed(self) -> Result<Costs, Fault> {
        match self {
            Self::Text(text) => text.parse(),
            Self::Pair(pair) => Costs::try_from(pair),
        }
    }
}

/// The learners that decide among some of their labels, by name.
fn deciding() -> String {
    let names = ALGORITHMS.iter().filter(|entry| entry.decides_among()).map(|entry| entry.about.name);
    names.collect::<Vec<_>>().join(", ")
}

/// Columns of a block, if labels on offer have features of their own.
pub(crate) fn block(schema: &Schema) -> Option<u32> {
    match schema.offers {
        Some(Offers::Blocks(width)) => Some(width),
        _ => None,
    }
}

/// Refuses a label that is on offer twice.
fn check_once(mut names: Vec<&str>) -> Done<()> {
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::Value(format!("the label {:?} is on offer twice", pair[0]))),
        None => Ok(()),
    }
}

/// The features of labels, by the keys of their names.
fn by_key(labels: &[(String, Described)]) -> Vec<(u64, Described)> {
    labels.iter().map(|(name, own)| (key(name), own.clone())).collect()
}

impl Round<'_> {
    /// Fills the round into `row`; checks everything that could be wrong with it.
    pub(crate) fn fill(
        &self,
        learner: &dyn BanditModel,
        encoder: &Encoder,
        schema: &Schema,
        row: &mut Row,
    ) -> Done<()> {
        let wrong = |what: String| Err(Failure::Value(what));
        row.clear();
        match (self, block(schema)) {
            (Self::Row(x, labels), None) => {
                x.check_one(encoder.columns())?;
                fill(x.row(0), row);
                let Some(labels) = labels else { return Ok(()) };
                if labels.is_empty() {
                    return wrong("labels: no label is on offer; one was needed".to_owned());
                }
                for name in labels.iter() {
                    if encoder.labels().find(name).is_none() {
                        return wrong(format!("the label {name:?} is none of the bandit's"));
                    }
                    row.push_offered(name);
                }
                check_once(row.offered().iter().map(|label| &*label.text).collect())?;
                let name = learner.about().name;
                if !registry::find(name)?.decides_among() {
                    return wrong(format!("{name} cannot play some of its labels only; {} can", deciding()));
                }
                Ok(())
            }
            (Self::Offer(context, labels), Some(width)) => {
                if labels.is_empty() || labels.len() > encoder.classes() {
                    return wrong(format!(
                        "{} labels are on offer; from 1 to classes = {} were needed",
                        labels.len(),
                        encoder.classes()
                    ));
                }
                // Labels without a name are told apart by their features alone.
                let names = labels.iter().map(|(name, _)| name.as_str());
                check_once(names.filter(|name| !name.is_empty()).collect())?;
                fill_round(context, &by_key(labels), width, row)?;
                for position in 0..labels.len() {
                    row.push_offered(&position.to_string());
                }
                Ok(())
            }
            (Self::Row(..), Some(_)) => {
                wrong("the bandit knows labels by their features: decide(x, labels) needs the labels on offer".to_owned())
            }
            (Self::Offer(..), None) => wrong(
                "the bandit has fixed labels; labels with features of their own need Bandit(\"offers\") without features"
                    .to_owned(),
            ),
        }
    }

    /// The features by name of the round and of its labels on offer, if these have features.
    pub(crate) fn described(&self) -> Option<DescribedRound> {
        match self {
            Self::Row(..) => None,
            Self::Offer(context, labels) => Some(DescribedRound::new((*context).clone(), by_key(labels))),
        }
    }

    /// The example of a round that is only looked at, and the numbers of the labels on offer in their order
    /// in the round; all if that is empty.
    pub(crate) fn example(&self, encoder: &Encoder, row: &Row, out: &mut Example) -> Done<Vec<u32>> {
        match self {
            Self::Row(x, _) => look_at(encoder, x.row(0), &mut Row::new(), out)?,
            Self::Offer(..) => encoder.transform_row(row, out)?,
        };
        Ok(row
            .offered()
            .iter()
            .filter_map(|label| encoder.labels().find(&label.text))
            .map(|at| at.0)
            .collect())
    }
}
