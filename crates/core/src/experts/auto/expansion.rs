//! A row as a family sees it: as it is, with the products of its features, or with waves.

use crate::example::Features;

use super::fourier::{Fourier, WAVES};

/// What a row is made into.
#[derive(Clone, Debug)]
pub(super) enum Expansion {
    /// Itself.
    Plain,
    /// All features, and the products of every two of them but the first, which is the intercept. Rows of a
    /// norm beyond [`LARGE`] are scaled back to it for their products.
    Products,
    /// Waves, and behind them all features.
    Waves(Fourier),
}

/// The number of `features` and of their products.
pub(super) fn with_products(features: usize) -> usize {
    features.saturating_mul(features.saturating_add(1)) / 2
}

/// In multiples of the unit, which few rows exceed at all.
const LARGE: f64 = 2.0;

impl Expansion {
    /// The number of features of what `features` become. More features append to it.
    pub(super) fn features(&self, features: usize) -> usize {
        match self {
            Expansion::Plain => features,
            Expansion::Products => with_products(features),
            Expansion::Waves(_) => WAVES.saturating_add(features),
        }
    }

    /// Numbers of room that [`Expansion::apply`] needs.
    pub(super) fn room(&self, features: usize) -> usize {
        match self {
            Expansion::Plain => 0,
            Expansion::Products | Expansion::Waves(_) => self.features(features),
        }
    }

    /// Rows have `features` from now on, more than before.
    pub(super) fn grow(&mut self, features: usize) {
        if let Expansion::Waves(fourier) = self {
            fourier.grow(features);
        }
    }

    /// What `x` becomes, in `room`. A feature that appears late changes no place.
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

/// Writes feature $j$ and behind it its products with features $1 \dots j$, for all $j$.
fn products(x: Features<'_>, room: &mut [f64]) {
    let norm = x.norm_squared().sqrt();
    let scale = if norm > LARGE { LARGE / norm } else { 1.0 };
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
        // A fourth feature, and nothing moves.
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
