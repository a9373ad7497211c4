//! A row as a family sees it: as it is, or with the products of its features.

use crate::example::Features;

/// What a row is made into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expansion {
    /// Itself.
    Plain,
    /// All features, and the products of every two of them but the first, which is the intercept. Rows of a norm beyond
    /// [`LARGE`] are scaled back to it for their products.
    Products,
}

/// In multiples of the unit, which few rows exceed at all.
const LARGE: f64 = 2.0;

impl Expansion {
    /// The number of features of what `features` become. More features append to it.
    pub(super) fn features(self, features: usize) -> usize {
        match self {
            Expansion::Plain => features,
            Expansion::Products => features.saturating_mul(features.saturating_add(1)) / 2,
        }
    }

    /// Numbers of room that [`Expansion::apply`] needs.
    pub(super) fn room(self, features: usize) -> usize {
        match self {
            Expansion::Plain => 0,
            Expansion::Products => self.features(features),
        }
    }

    /// What `x` becomes, in `room`. Feature $j$ is followed by its products with features $1 \dots j$, so that a feature that
    /// appears late changes no place.
    pub(super) fn apply<'a>(self, x: Features<'a>, room: &'a mut [f64]) -> Features<'a> {
        if self == Expansion::Plain {
            return x;
        }
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
        Features::Dense(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(x: Features<'_>, features: usize) -> Vec<f64> {
        let expansion = Expansion::Products;
        let mut room = vec![f64::NAN; expansion.room(features)];
        let Features::Dense(expanded) = expansion.apply(x, &mut room) else { panic!("products are dense") };
        expanded.to_vec()
    }

    #[test]
    fn products_of_all_but_the_intercept() {
        let expanded = products(Features::Dense(&[1.0, 0.5, 0.75]), 3);
        assert_eq!(expanded, [1.0, 0.5, 0.25, 0.75, 0.375, 0.5625]);
        let sparse = Features::Sparse { indices: &[0, 1, 2], values: &[1.0, 0.5, 0.75] };
        // A fourth feature, and nothing moves.
        assert_eq!(products(sparse, 4), [&expanded[..], &[0.0; 4]].concat());
    }

    #[test]
    fn large_rows_have_bounded_products() {
        let expanded = products(Features::Dense(&[0.0, 3e100, 4e100]), 3);
        let want = [0.0, 3e100, 1.44, 4e100, 1.92, 2.56];
        assert!(
            expanded.iter().zip(want).all(|(got, want)| (got - want).abs() <= 1e-12 * (1.0 + want)),
            "{expanded:?}"
        );
    }
}
