//! A row as a family sees it: as it is, or with the products of its features.

use crate::example::Features;

/// What a row is made into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expansion {
    /// Itself.
    Plain,
    /// All features, and the products of every two of them but the first, which is the intercept, over the radius:
    /// $\lVert x \rVert^2 \le R^2$ bounds their norm by $R$. Rows beyond the radius are scaled back to it for their products.
    Products { radius: f64 },
}

impl Expansion {
    /// The number of features of what `features` become. More features append to it.
    pub(super) fn features(self, features: usize) -> usize {
        match self {
            Expansion::Plain => features,
            Expansion::Products { .. } => features.saturating_mul(features.saturating_add(1)) / 2,
        }
    }

    /// Numbers of room that [`Expansion::apply`] needs.
    pub(super) fn room(self, features: usize) -> usize {
        match self {
            Expansion::Plain => 0,
            Expansion::Products { .. } => self.features(features),
        }
    }

    /// What `x` becomes, in `room`. Feature $j$ is followed by its products with features $1 \dots j$, so that a feature that
    /// appears late changes no place.
    pub(super) fn apply<'a>(self, x: Features<'a>, room: &'a mut [f64]) -> Features<'a> {
        let Expansion::Products { radius } = self else { return x };
        let norm = x.norm_squared().sqrt();
        let scale = if norm > radius { radius / norm } else { 1.0 };
        let scale = scale * scale / radius;
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

    fn products(x: Features<'_>, features: usize, radius: f64) -> Vec<f64> {
        let expansion = Expansion::Products { radius };
        let mut room = vec![f64::NAN; expansion.room(features)];
        let Features::Dense(expanded) = expansion.apply(x, &mut room) else { panic!("products are dense") };
        expanded.to_vec()
    }

    #[test]
    fn products_of_all_but_the_intercept() {
        let expanded = products(Features::Dense(&[1.0, 2.0, 3.0]), 3, 4.0);
        assert_eq!(expanded, [1.0, 2.0, 1.0, 3.0, 1.5, 2.25]);
        let sparse = Features::Sparse { indices: &[0, 1, 2], values: &[1.0, 2.0, 3.0] };
        // A fourth feature, and nothing moves.
        assert_eq!(products(sparse, 4, 4.0), [&expanded[..], &[0.0; 4]].concat());
    }

    #[test]
    fn rows_beyond_the_radius_have_bounded_products() {
        let expanded = products(Features::Dense(&[0.0, 3e100, 4e100]), 3, 2.0);
        let want = [0.0, 3e100, 0.72, 4e100, 0.96, 1.28];
        assert!(
            expanded.iter().zip(want).all(|(got, want)| (got - want).abs() <= 1e-12 * (1.0 + want)),
            "{expanded:?}"
        );
    }
}
