//! Importance weights relative to their mean.

/// The rows and the sum of the weights from the first weight on that is not 1.
///
/// Weights say how much rows count beside each other. They are divided by their mean so far, the row's own
/// weight included, if that is above 1: learners are made for rows that weigh 1 or little more (theory:
/// extensions 1.4). Rows without a weight before the first one with a weight are not counted, so that they
/// need no place in a model file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanWeight {
    rows: f64,
    sum: f64,
}

impl MeanWeight {
    /// What an importance `weight` is relative to the mean so far; 0, for a row that is not learnt, is not
    /// counted.
    pub(super) fn relative(&mut self, weight: f64) -> f64 {
        if weight == 0.0 || (self.rows == 0.0 && weight == 1.0) {
            return weight;
        }
        self.rows += 1.0;
        self.sum += weight;
        weight / self.mean()
    }

    /// What weights are divided by: at least 1.
    pub fn mean(self) -> f64 {
        (self.sum / self.rows.max(1.0)).max(1.0)
    }

    /// Adds the rows of another part of the data.
    pub(crate) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum += other.sum;
    }

    /// The numbers, for saving; `None` if there is nothing to be saved.
    pub(crate) fn state(self) -> Option<[f64; 2]> {
        (self.rows > 0.0).then_some([self.rows, self.sum])
    }

    /// That of which [`MeanWeight::state`] was taken; `None` for numbers that no run has.
    pub(crate) fn from_state(numbers: &[f64]) -> Option<Self> {
        let &[rows, sum] = numbers else { return None };
        let valid = rows >= 1.0 && rows.fract() == 0.0 && rows.is_finite() && sum > 0.0 && sum.is_finite();
        valid.then_some(Self { rows, sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_divided_by_their_mean_above_1() {
        let mut mean = MeanWeight::default();
        assert_eq!(mean.relative(1.0), 1.0);
        assert_eq!(mean.state(), None, "nothing but rows without a weight");
        let given = [40.0, 40.0, 0.0, 1.0, 15.0];
        let relative: Vec<f64> = given.into_iter().map(|weight| mean.relative(weight)).collect();
        assert_eq!(relative, [1.0, 1.0, 0.0, 1.0 / 27.0, 15.0 / 24.0]);
        assert_eq!(MeanWeight::from_state(&mean.state().expect("rows")), Some(mean));
        let mut small = MeanWeight::default();
        assert!([0.5, 0.25, 1.0, 0.75].into_iter().all(|weight| small.relative(weight) == weight));
        mean.add(small);
        assert_eq!(mean.mean(), 98.5 / 8.0);
        for damaged in
            [&[0.0, 1.0][..], &[1.5, 1.0], &[2.0, 0.0], &[2.0, f64::NAN], &[f64::INFINITY, 1.0], &[2.0]]
        {
            assert_eq!(MeanWeight::from_state(damaged), None, "{damaged:?}");
        }
    }
}
