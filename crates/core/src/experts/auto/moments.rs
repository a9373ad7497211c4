//! Standardised numbers of dense rows: each column is centred by its mean and divided by its standard
//! deviation in the rows so far.

/// Standardised numbers are kept within this many standard deviations.
const CLIP: f64 = 5.0;

/// The mean and the sum of squared deviations of every column of dense rows, by Welford's recursion.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    rows: f64,
    means: Vec<f64>,
    squares: Vec<f64>,
    /// 1 for columns that had a number other than 0 and 1; the others are not scaled: a rare one would
    /// dominate the row.
    numeric: Vec<f64>,
}

impl Moments {
    pub(super) fn new(columns: usize) -> Self {
        let zeros = || vec![0.0; columns];
        Self { rows: 0.0, means: zeros(), squares: zeros(), numeric: zeros() }
    }

    /// Writes a `row` to `scaled`, standardised by the rows so far and itself. A column that had the same
    /// number in all of them becomes 0.
    pub(super) fn scale(&self, row: &[f64], scaled: &mut [f64]) {
        let rows = self.rows + 1.0;
        for (at, (value, scaled)) in row.iter().zip(scaled).enumerate() {
            if self.numeric[at] == 0.0 && (*value == 0.0 || *value == 1.0) {
                *scaled = *value;
                continue;
            }
            let before = value - self.means[at];
            let centred = before - before / rows;
            let deviation = ((self.squares[at] + before * centred) / rows).sqrt();
            *scaled = if deviation > 0.0 { (centred / deviation).clamp(-CLIP, CLIP) } else { 0.0 };
        }
    }

    /// Adds a row.
    pub(super) fn note(&mut self, row: &[f64]) {
        self.rows += 1.0;
        for (at, value) in row.iter().enumerate() {
            let before = value - self.means[at];
            self.means[at] += before / self.rows;
            self.squares[at] += before * (value - self.means[at]);
            if *value != 0.0 && *value != 1.0 {
                self.numeric[at] = 1.0;
            }
        }
    }

    /// How many numbers those of so many columns are when they are packed.
    pub(super) fn numbers(columns: usize) -> usize {
        1 + 3 * columns
    }

    /// Appends all numbers to `packed`.
    pub(super) fn pack(&self, packed: &mut Vec<f64>) {
        packed.push(self.rows);
        packed.extend([&self.means, &self.squares, &self.numeric].into_iter().flatten());
    }

    /// Those of `columns` columns that were packed; `None` if they are not valid.
    pub(super) fn unpack(packed: &[f64], columns: usize) -> Option<Self> {
        let (rows, lists) = packed.split_first()?;
        if packed.len() != Self::numbers(columns) {
            return None;
        }
        let [means, squares, numeric] = [0, 1, 2].map(|list| lists[list * columns..][..columns].to_vec());
        let valid = rows.is_finite()
            && *rows >= 0.0
            && means.iter().all(|mean| mean.is_finite())
            && squares.iter().all(|sum| sum.is_finite() && *sum >= 0.0)
            && numeric.iter().all(|mark| *mark == 0.0 || *mark == 1.0);
        valid.then_some(Self { rows: *rows, means, squares, numeric })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_worked_by_hand() {
        let mut moments = Moments::new(3);
        let scaled = |moments: &Moments, row: [f64; 3]| {
            let mut scaled = [0.0; 3];
            moments.scale(&row, &mut scaled);
            scaled
        };
        // Nothing is known yet: numbers are 0, marks stay.
        assert_eq!(scaled(&moments, [3.0, 1.0, 0.0]), [0.0, 1.0, 0.0]);
        moments.note(&[3.0, 1.0, 0.0]);
        moments.note(&[7.0, 0.0, 0.0]);
        // With 5: mean 5. With 11: mean 7, deviations -4, 0, 4.
        // Marks with 2: mean 2/3, deviations -2/3, -2/3, 4/3.
        assert_eq!(scaled(&moments, [5.0, 1.0, 0.0]), [0.0, 1.0, 0.0]);
        let [a, b, c] = scaled(&moments, [11.0, 0.0, 2.0]);
        assert!((a - 1.5_f64.sqrt()).abs() < 1e-12 && b == 0.0 && (c - 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn packed_numbers_come_back() {
        let mut moments = Moments::new(2);
        moments.note(&[1.0, 4.0]);
        moments.note(&[0.0, -1.0]);
        let mut packed = Vec::new();
        moments.pack(&mut packed);
        let again = Moments::unpack(&packed, 2).expect("valid");
        let [row, same] = [moments, again].map(|moments| {
            let mut scaled = [0.0; 2];
            moments.scale(&[1.0, 2.0], &mut scaled);
            scaled
        });
        assert_eq!(row, same);
        assert!(Moments::unpack(&packed, 3).is_none());
        packed[0] = f64::NAN;
        assert!(Moments::unpack(&packed, 2).is_none());
    }
}
