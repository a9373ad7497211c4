//! The expansion of a row before a family learns it: none, products of features, or random Fourier features.

use crate::example::Features;

use super::fourier::{Fourier, WAVES};

/// The expansion of a family's rows.
#[derive(Clone, Debug)]
pub(super) enum Expansion {
    /// The row as it is.
    Plain,
    /// All features, and the products of every two of them except feature 0, the intercept. For the products,
    /// rows with a norm above [`LARGEST_NORM`] are scaled down to it.
    Products,
    /// Random Fourier features, followed by all features.
    Waves(Fourier),
}

/// The number of features and products of two features, for rows of `features`.
pub(super) fn with_products(features: usize) -> usize {
    features.saturating_mul(features.saturating_add(1)) / 2
}

/// A norm in multiples of the unit, which few rows exceed.
const LARGEST_NORM: f64 = 2.0;

impl Expansion {
    /// The number of features after expansion. When features are added, their expansions are appended.
    pub(super) fn features(&self, features: usize) -> usize {
        match self {
            Expansion::Plain => features,
            Expansion::Products => with_products(features),
            Expansion::Waves(_) => WAVES.saturating_add(features),
        }
    }

    /// Length of the buffer that [`Expansion::apply`] needs.
    pub(super) fn room(&self, features: usize) -> usize {
        match self {
            Expansion::Plain => 0,
            Expansion::Products | Expansion::Waves(_) => self.features(features),
        }
    }

    /// Increases the number of features before expansion to `features`.
    pub(super) fn grow(&mut self, features: usize) {
        if let Expansion::Waves(fourier) = self {
            fourier.grow(features);
        }
    }

    /// Returns the expanded row, written to `room`. The position of an expanded feature does not depend on
    /// the number of features.
    pub(super) fn apply<'a>(&self, x: Features<'a>, room: &'a mut [f64]) -> Features<'a> {
        match self {
            Expansion::Plain => return x,
            Expansion::Products => products(x, room),
            Expansion::Waves(fourier) => {
                let (waves, features) = room.split_at_mut(WAVES);
                fourier.waves(x, waves);
                features.fill(0.0);
                x.add_to(1.0, features);
            }
        }
        Features::Dense(room)
    }
}

/// For every $j$ in turn, writes feature $j$ followed by its products with features $1 \dots j$.
fn products(x: Features<'_>, room: &mut [f64]) {
    let norm = x.norm_squared().sqrt();
    let scale = if norm > LARGEST_NORM { LARGEST_NORM / norm } else { 1.0 };
    let scale = scale * scale;
    room.fill(0.0);
    for (j, b) in x.iter().filter(|(_, value)| *value != 0.0) {
        let start = j * (j + 1) / 2;
        room[start] = b;
        if j > 0 {
            for (i, a) in x.iter().take_while(|(i, _)| *i <= j).filter(|(i, _)| *i > 0) {
                room[start + i] = scale * b * a;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(x: Features<'_>, features: usize) -> Vec<f64> {
        let expansion = Expansion::Products;
        let mut room = vec![f64::NAN; expansion.room(features)];
        let Features::Dense(expanded) = expansion.apply(x, &mut room) else { panic!("products are dense") };
        expanded.to_vec()
    }

    #[test]
    fn products_of_all_but_the_intercept() {
        let three = expanded(Features::Dense(&[1.0, 0.5, 0.75]), 3);
        assert_eq!(three, [1.0, 0.5, 0.25, 0.75, 0.375, 0.5625]);
        let sparse = Features::Sparse { indices: &[0, 1, 2], values: &[1.0, 0.5, 0.75] };
        // A fourth feature is appended; the positions of the others do not change.
        assert_eq!(expanded(sparse, 4), [&three[..], &[0.0; 4]].concat());
    }

    #[test]
    fn large_rows_have_bounded_products() {
        let got = expanded(Features::Dense(&[0.0, 3e100, 4e100]), 3);
        let want = [0.0, 3e100, 1.44, 4e100, 1.92, 2.56];
        assert!(
            got.iter().zip(want).all(|(got, want)| (got - want).abs() <= 1e-12 * (1.0 + want)),
            "{got:?}"
        );
    }
}
