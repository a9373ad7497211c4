//! Missing numbers of a run's rows, counted as they are encoded, and what is said of them afterwards.

use std::collections::BTreeMap;

use crate::encode::encoder::Encoder;
use crate::encode::scale::Scaling;
use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::reader::Reader;
use crate::read::row::Row;
use crate::words::counted;

/// The counts.
#[derive(Clone, Debug, Default)]
pub struct Holes {
    /// Rows with a missing number that counts as 0, because columns are not standardised.
    zeroed: u64,
    /// Numbers of learnt rows with a missing number for which the mean of its column stands, by columns.
    means: BTreeMap<u32, u64>,
}

impl Holes {
    /// Sees a row before `encoder` does; `learnt`: whether it then moves the means.
    pub(crate) fn see(&mut self, row: &Row, encoder: &Encoder, learnt: bool) {
        let is_zero = encoder.scaler().scaling() == Scaling::MaxAbs && !row.missing().is_empty();
        self.zeroed += u64::from(is_zero);
        if learnt {
            for column in row.missing().iter().filter(|column| encoder.lacks(**column)) {
                *self.means.entry(*column).or_default() += 1;
            }
        }
    }

    /// A remark on missing numbers that count as 0, if there were any, because columns are not standardised.
    pub fn zeros(&self) -> Option<String> {
        let rows = match self.zeroed {
            0 => return None,
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        Some(format!(
            "numbers are missing in {rows}, and count as 0: columns are divided by their largest magnitude (scale maxabs), as those of \
             more than 1,024 columns are by default; standardised (scale standard), they count as their column's mean where 0 is far from it"
        ))
    }

    /// A remark on missing numbers of learnt rows that count as a mean far from 0, if there were any and no
    /// feature of `reader` says that they are missing.
    pub fn untold(&self, reader: &dyn Reader) -> Option<String> {
        let schema = reader.schema();
        // Hashed columns have a feature each, but for those of models of before.
        let told = matches!(schema.columns, Columns::Hashed { .. })
            && (schema.marked || schema.csv.is_some_and(|csv| csv.numbers.is_some()));
        let columns = reader.columns();
        let mut untold = self.means.iter().filter(|(column, _)| !told && !columns.is_marked(**column));
        let (first, rows) = untold.next()?;
        let others = match untold.count() as u64 {
            0 => String::new(),
            count => format!(", likewise those of {}", counted(count, "other feature")),
        };
        Some(format!(
            "numbers of the feature {} are missing in {}, and count as its mean, since 0 is far from it{others}; no feature says where: \
             add one that is 1 there",
            shown(&*columns.name(*first)),
            counted(*rows, "row")
        ))
    }
}
