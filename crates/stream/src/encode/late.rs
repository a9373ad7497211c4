//! Rows whose feedback comes later, or never: they are scaled when they are decided on, and count for the
//! scaling of others when they are learnt.

use noregret::example::Features;
use serde::{Deserialize, Serialize};

use super::scale::Scaler;
use super::{Encoder, Example, LARGEST_NORM};
use crate::fault::Fault;
use crate::read::round::HashedRound;
use crate::read::row::Row;

/// The part of a row that is learnt, before scaling, while it waits for its feedback.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unscaled {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Columns whose number is missing, where that is not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<u32>,
    /// A round whose labels on offer have features of their own, if its numbers are scaled before they are
    /// multiplied, with the position of the label that was played: all labels count for the scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round: Option<Box<(HashedRound, u32)>>,
}

impl Unscaled {
    /// The row, or of a row in blocks of `block` columns that of the label `played`.
    fn of((indices, values): (&[u32], &[f64]), missing: &[u32], block: Option<u32>, played: u32) -> Self {
        let span = block.map_or(0..indices.len(), |width| {
            let (from, to) = (played.saturating_mul(width), played.saturating_add(1).saturating_mul(width));
            let at = |column: u32| indices.partition_point(|index| *index < column);
            at(from)..at(to)
        });
        Self {
            indices: indices[span.clone()].to_vec(),
            values: values[span].to_vec(),
            missing: missing.to_vec(),
            round: None,
        }
    }

    /// Whether it, from an untrusted source, is a row of at most `columns` columns.
    pub fn fits(&self, columns: usize) -> bool {
        let increasing = self.indices.is_sorted_by(|a, b| a < b);
        let within = self.indices.iter().chain(&self.missing).all(|column| (*column as usize) < columns);
        // Infinity and NaN are not.
        let small = self.values.iter().all(|value| value.abs() <= LARGEST_NORM);
        let round = self.round.as_ref().is_none_or(|round| round.0.fits(columns, round.1));
        self.indices.len() == self.values.len() && increasing && within && small && round
    }
}

impl Encoder {
    /// Encodes `row` as [`Encoder::encode`] does, with the row itself counted in its scaling, and does not
    /// count it for the rows that follow. `room` is a buffer.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_ahead(&mut self, row: &Row, room: &mut Scaler, out: &mut Example) -> Result<(), Fault> {
        room.follow(self.scaler());
        let done = self.encode(row, out);
        std::mem::swap(self.scaler_mut(), room);
        done
    }

    /// What waits of a row of [`Encoder::encode_ahead`] until the feedback of the label `played`.
    pub fn late(&self, row: &Row, played: u32) -> Unscaled {
        let missing = if self.fills_missing() { row.missing() } else { &[] };
        match row.round() {
            Some(round) if self.scaler().inputs().is_some() => {
                Unscaled { round: Some(Box::new((round.clone(), played))), ..Unscaled::default() }
            }
            // The row was encoded, so there are blocks.
            Some(round) => {
                let (indices, values) = self.blocks(round, None).unwrap_or_default();
                Unscaled::of((&indices, &values), missing, self.scaler().block(), played)
            }
            None => Unscaled::of((row.indices(), row.values()), missing, self.scaler().block(), played),
        }
    }

    /// Counts a row of [`Encoder::encode_ahead`] whose feedback has come, and encodes it with the scaling of
    /// now. Without rows learnt in between, the example is that of before.
    ///
    /// # Errors
    /// If its norm is too large by now.
    pub fn encode_late(&mut self, row: &Unscaled, out: &mut Example) -> Result<(), Fault> {
        if let Some(round) = &row.round {
            return self.round_of(&round.0, Some(round.1), out, true);
        }
        if row.missing.is_empty() {
            return self
                .encode_features(Features::Sparse { indices: &row.indices, values: &row.values }, out);
        }
        self.numbers_of((&row.indices, &row.values), &row.missing, out, true)
    }
}

#[cfg(test)]
mod tests {
    use noregret::learner::{Accepts, Classes};

    use super::*;
    use crate::encode::scale::Scaling;
    use crate::read::offer::fill_round;

    const ACCEPTS: Accepts =
        Accepts { classes: Classes::Any, soft_labels: false, weights: false, plain: true };

    fn encoder(scaling: Scaling) -> Encoder {
        let block = (scaling == Scaling::Mixed).then_some(4);
        Encoder::new(12, ACCEPTS)
            .with_scaler(Scaler::of_columns_before(scaling, None, block).guarded())
            .with_filled_missing(true)
            .with_intercept(block.is_none())
            .with_sparse(block.is_some())
    }

    fn row(t: u32) -> Row {
        let mut row = Row::new();
        row.push(0, f64::from(t * 7919 % 97) / 7.0);
        match t % 4 {
            1 => row.miss(5),
            _ => row.push(5, 300.0 + f64::from(t * 31 % 11)),
        }
        row.push(9, 1.0);
        row
    }

    /// Rows that are learnt at once give the same examples and the same scaling as rows that are counted when
    /// they are encoded, to the bit; rows that are never learnt leave nothing.
    #[test]
    fn only_rows_that_are_learnt_count() {
        for scaling in [Scaling::None, Scaling::MaxAbs, Scaling::Standard] {
            let (mut before, mut now) = (encoder(scaling), encoder(scaling));
            let (mut room, mut ahead, mut late) =
                (Scaler::new(scaling), Example::default(), Example::default());
            let mut expected = Example::default();
            for t in 0..60 {
                let scaler = now.scaler().clone();
                let mut wild = row(t);
                wild.push(11, 1e15);
                now.encode_ahead(&wild, &mut room, &mut ahead).expect("a row");
                assert_eq!(*now.scaler(), scaler, "{scaling}");
                now.encode_ahead(&row(t), &mut room, &mut ahead).expect("a row");
                let waits = now.late(&row(t), 0);
                before.encode(&row(t), &mut expected).expect("a row");
                assert_eq!(ahead.features().values(), expected.features().values(), "{scaling} {t}");
                now.encode_late(&waits, &mut late).expect("a row");
                assert_eq!(late.features().values(), expected.features().values(), "{scaling} {t}");
                assert_eq!(now.scaler(), before.scaler(), "{scaling} {t}");
            }
        }
    }

    /// Labels on offer with features of their own: their rounds count when they are learnt, with all labels,
    /// and the example is that of the label that was played.
    #[test]
    fn rounds_count_when_they_are_learnt() {
        let made = || {
            let scaler = Scaler::of_columns(Scaling::Mixed, None, Some(4)).guarded();
            Encoder::new(12, ACCEPTS).with_scaler(scaler).with_sparse(true)
        };
        let number = |name: &str, value: f64| (name.to_owned(), value);
        let round = |t: u32| {
            let labels: Vec<_> = (0..3_u32)
                .map(|at| (u64::from(at), vec![number("size", f64::from((t * 31 + at * 17) % 13) + 90.0)]))
                .collect();
            let mut row = Row::new();
            fill_round(&[number("age", f64::from(t * 7919 % 97))], &labels, 4, &mut row).expect("small");
            row
        };
        let (mut before, mut now) = (made(), made());
        let mut room = Scaler::new(Scaling::Mixed);
        let (mut ahead, mut late, mut expected) =
            (Example::default(), Example::default(), Example::default());
        for t in 0..60 {
            let scaler = now.scaler().clone();
            now.encode_ahead(&round(t + 1000), &mut room, &mut ahead).expect("a row");
            now.encode_ahead(&round(t), &mut room, &mut ahead).expect("a row");
            assert_eq!(*now.scaler(), scaler);
            let waits = now.late(&round(t), t % 3);
            assert!(waits.fits(12) && !waits.fits(11));
            let saved = serde_json::to_string(&waits).expect("plain data");
            assert_eq!(serde_json::from_str::<Unscaled>(&saved).expect("just written"), waits);
            before.encode(&round(t), &mut expected).expect("a row");
            assert_eq!(ahead.features(), expected.features());
            now.encode_late(&waits, &mut late).expect("a row");
            let of_played = |(column, _): &(usize, f64)| *column as u32 / 4 == t % 3;
            let played: Vec<(usize, f64)> = expected.features().iter().filter(of_played).collect();
            assert_eq!(late.features().iter().collect::<Vec<_>>(), played);
            assert_eq!(now.scaler(), before.scaler());
        }
        let mut four = round(0);
        let labels: Vec<_> = (0..4).map(|at| (at, vec![])).collect();
        fill_round(&[], &labels, 4, &mut four).expect("small");
        let error = now.encode(&four, &mut late).expect_err("too many").to_string();
        assert!(error.starts_with("4 labels are on offer; the model has room for 3: "), "{error}");
        let error = now.encode(&row(2), &mut late).expect_err("products").to_string();
        assert!(error.starts_with("the row has products of features"), "{error}");
    }

    /// In blocks of models of before, the label that was played is learnt, and counts.
    #[test]
    fn of_labels_on_offer_the_played_one_counts() {
        let (mut encoder, mut example) = (encoder(Scaling::Mixed), Example::default());
        let waits = encoder.late(&row(3), 1);
        let wanted = Unscaled {
            indices: vec![5],
            values: vec![300.0 + f64::from(3 * 31 % 11)],
            ..Unscaled::default()
        };
        assert_eq!(waits, wanted);
        assert!(waits.fits(6) && !waits.fits(5));
        encoder.encode_late(&waits, &mut example).expect("a row");
        assert_eq!(encoder.scaler().state().0, 1);
        let wrong = [(vec![1, 1], vec![0.5, 0.5]), (vec![1], vec![]), (vec![1], vec![f64::NAN])];
        for (indices, values) in wrong {
            assert!(!Unscaled { indices, values, ..Unscaled::default() }.fits(12));
        }
        assert!(!Unscaled { missing: vec![12], ..Unscaled::default() }.fits(12));
    }
}
