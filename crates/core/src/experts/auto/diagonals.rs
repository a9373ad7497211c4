//! FOLKLOREs with a diagonal matrix, which share their curvatures, in single precision.
//!
//! For every class $k$ and feature $j$ there is one sum of curvatures $h_{kj} = \sum_t \bar p_k(1 - \bar
//! p_k)\ x_j^2$, taken at the members' mixture $\bar p$, and each member with ratio $\rho$ and curvature
//! $\gamma$ has $A = \gamma(\rho + h)$ and a linear term $G$ of its own; the formulas are those of
//! [`folklore_diag`](crate::full::folklore_diag). A row reads and writes the cells of its own features alone,
//! which were allocated when these were first seen.

use crate::example::{Features, Target};
use crate::kernel::cells::Cells;
use crate::kernel::diagonal_fixed_point::{scratch_len, solve_single};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{take, widest};
use crate::prediction::Prediction;
use crate::state::{State, Tensor};

use super::member::Member;

/// Ratios and curvatures of the members: so many of the first take part.
pub(super) const GRID: [(f64, f64); 6] =
    [(0.01, 0.5), (0.001, 0.5), (0.01, 0.1), (0.1, 0.1), (0.01, 0.02), (0.1, 0.02)];

/// Classes whose reciprocals are kept in registers and the nearest cache.
const BLOCK: usize = 64;

/// So few classes are not worth the widest vectors.
const FEW: usize = 4;

/// A surrogate touches the loss at logits within ± this.
const LARGEST: f64 = 50.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Diagonals {
    classes: usize,
    /// The distinct ratios.
    ratios: Vec<f64>,
    /// The place of each member's ratio, and its curvature.
    heads: Vec<(usize, f64)>,
    /// For every feature $K$ numbers $h$, then $K$ numbers $G$ of each member.
    cells: Cells,
    rounds: u64,
    /// The cells as they are saved and loaded.
    saved: Vec<f64>,
    work: Vec<f64>,
    steps: Vec<f32>,
}

impl Diagonals {
    /// The first `heads` members of the [`GRID`], for at most `most` cells.
    pub(super) fn new(classes: usize, features: usize, heads: usize, most: usize) -> Self {
        let mut ratios = Vec::new();
        let grid = GRID.iter().take(heads).map(|(ratio, curvature)| {
            let place = ratios.iter().position(|known| known == ratio).unwrap_or_else(|| {
                ratios.push(*ratio);
                ratios.len() - 1
            });
            (place, *curvature)
        });
        let heads: Vec<(usize, f64)> = grid.collect();
        let cells = Cells::new(classes * (1 + heads.len()), features, most);
        let mut diagonals = Self {
            classes,
            ratios,
            heads,
            cells,
            rounds: 0,
            saved: Vec::new(),
            work: Vec::new(),
            steps: Vec::new(),
        };
        diagonals.make_room();
        diagonals
    }

    /// 8-byte numbers of state at most.
    pub(super) fn numbers(classes: usize, features: usize, heads: usize, most: usize) -> usize {
        Cells::<f32>::numbers(classes.saturating_mul(1 + heads), features, most)
    }

    fn make_room(&mut self) {
        self.work = vec![0.0; 3 * self.classes];
        self.steps = vec![0.0; self.classes * (1 + self.heads.len())];
    }

    /// Writes $\sum_j x_j^2/(\rho + h)$ of every ratio and $\sum_j x_j G/(\rho + h)$ of every member to
    /// `sums`, class by class.
    fn gather(&self, x: Features<'_>, sums: &mut [f64]) {
        match self.classes {
            2 => return self.gather_few::<2>(x, sums),
            3 => return self.gather_few::<3>(x, sums),
            4 => return self.gather_few::<4>(x, sums),
            _ => {}
        }
        let (k, heads, ratios) = (self.classes, &self.heads, &self.ratios);
        sums.fill(0.0);
        let (squares, images) = sums.split_at_mut(k * ratios.len());
        let mut unseen = 0.0;
        for (feature, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let Some(cell) = self.cells.get(feature) else {
                unseen += value * value;
                continue;
            };
            let (growth, gradients) = cell.split_at(k);
            let value = value as f32;
            widest(
                #[inline(always)]
                || {
                    for start in (0..k).step_by(BLOCK) {
                        let len = BLOCK.min(k - start);
                        for (place, (ratio, squares)) in
                            ratios.iter().zip(squares.chunks_exact_mut(k)).enumerate()
                        {
                            let ratio = *ratio as f32;
                            let mut room = [0.0; BLOCK];
                            let room = &mut room[..len];
                            let squares = &mut squares[start..start + len];
                            for ((share, growth), square) in
                                room.iter_mut().zip(&growth[start..start + len]).zip(squares)
                            {
                                *share = value / (ratio + growth);
                                *square += f64::from(value * *share);
                            }
                            for (head, _) in heads.iter().enumerate().filter(|(_, head)| head.0 == place) {
                                let gradients = &gradients[head * k + start..][..len];
                                let images = &mut images[head * k + start..][..len];
                                for ((image, share), gradient) in images.iter_mut().zip(&*room).zip(gradients)
                                {
                                    *image += f64::from(share * gradient);
                                }
                            }
                        }
                    }
                },
            );
        }
        add_unseen(unseen, ratios, squares);
    }

    /// The same for so few classes that loops over them are unrolled.
    fn gather_few<const K: usize>(&self, x: Features<'_>, sums: &mut [f64]) {
        let (squares, images) = sums.split_at_mut(K * self.ratios.len());
        let (squares, images) = (squares.as_chunks_mut::<K>().0, images.as_chunks_mut::<K>().0);
        squares.fill([0.0; K]);
        images.fill([0.0; K]);
        let mut unseen = 0.0;
        let mut shares = [[0.0; K]; GRID.len()];
        for (feature, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let Some((growth, gradients)) =
                self.cells.get(feature).and_then(|cell| cell.split_first_chunk::<K>())
            else {
                unseen += value * value;
                continue;
            };
            let value = value as f32;
            for ((shares, squares), ratio) in shares.iter_mut().zip(&mut *squares).zip(&self.ratios) {
                for k in 0..K {
                    shares[k] = value / (*ratio as f32 + growth[k]);
                    squares[k] += f64::from(value * shares[k]);
                }
            }
            let heads = images.iter_mut().zip(gradients.as_chunks::<K>().0).zip(&self.heads);
            for ((image, gradient), (place, _)) in heads {
                let shares = &shares[*place];
                for k in 0..K {
                    image[k] += f64::from(shares[k] * gradient[k]);
                }
            }
        }
        add_unseen(unseen, &self.ratios, squares.as_flattened_mut());
    }
}

/// Adds the share of features without a cell, of which `squared` is the sum of squares, to $\sum_j
/// x_j^2/(\rho + h)$ of every ratio and class.
fn add_unseen(squared: f64, ratios: &[f64], sums: &mut [f64]) {
    let classes = sums.len() / ratios.len();
    for (ratio, sums) in ratios.iter().zip(sums.chunks_exact_mut(classes)) {
        sums.iter_mut().for_each(|sum| *sum += squared / ratio);
    }
}

/// What the cell of a feature of this `value` learns.
#[inline(always)]
fn learn(cell: &mut [f32], classes: usize, value: f32, steps: &[f32]) {
    let (growth, gradients) = cell.split_at_mut(classes);
    for (growth, step) in growth.iter_mut().zip(steps) {
        *growth += value * value * step;
    }
    for (gradient, step) in gradients.iter_mut().zip(&steps[classes..]) {
        *gradient += value * step;
    }
}

impl Member for Diagonals {
    fn prediction(&self) -> Prediction {
        let (k, heads) = (self.classes, self.heads.len());
        let members = vec![Prediction::sized(k, 0); heads];
        let scratch = k * (self.ratios.len() + heads + 2) + scratch_len(k);
        Prediction { members, ..Prediction::sized(k, scratch) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let k = self.classes;
        let rest = &mut &mut out.scratch[..];
        let sums = take(rest, k * (self.ratios.len() + self.heads.len()));
        self.gather(x, sums);
        let (squares, images) = sums.split_at(k * self.ratios.len());
        let (a, g) = (take(rest, k), take(rest, k));
        for (head, ((place, curvature), image)) in self.heads.iter().zip(images.chunks_exact(k)).enumerate() {
            let (before, at) = out.members.split_at_mut(head);
            let (near, at) = (before.last().map(|near| &near.probabilities[..]), &mut at[0]);
            let scale = 0.5 / curvature;
            let parts = a.iter_mut().zip(g.iter_mut()).zip(&squares[place * k..]).zip(image);
            for (((a, g), square), image) in parts {
                *a = scale * square;
                *g = 0.5 * *a - scale * image;
            }
            solve_single(a, g, near, &mut at.scores, &mut at.probabilities, rest);
        }
        out.stamp = Some(self.rounds);
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.saved = Vec::new();
        let k = self.classes;
        let work = &mut &mut self.work[..];
        let (residual, curved, bounded) = (take(work, k), take(work, k), take(work, k));
        let p = &at.probabilities;
        for (step, p) in self.steps.iter_mut().zip(p) {
            *step = (y.weight * p * (1.0 - p)) as f32;
        }
        let heads = self.heads.iter().zip(self.steps[k..].chunks_exact_mut(k)).zip(&at.members);
        for (((_, curvature), steps), own) in heads {
            let mean = own.scores.iter().sum::<f64>() / k as f64;
            for (bounded, z) in bounded.iter_mut().zip(&own.scores) {
                *bounded = (z - mean).clamp(-LARGEST, LARGEST);
            }
            covariance_times(p, bounded, curved);
            residual.copy_from_slice(&own.probabilities);
            y.truth.subtract_from(residual);
            for ((step, residual), curved) in steps.iter_mut().zip(&*residual).zip(&*curved) {
                *step = (y.weight * (residual - 2.0 * curvature * curved)) as f32;
            }
        }
        for (feature, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let cell = self.cells.get_mut(feature);
            let steps = &self.steps;
            let value = value as f32;
            if k <= FEW {
                learn(cell, k, value, steps);
            } else {
                widest(
                    #[inline(always)]
                    || learn(cell, k, value, steps),
                );
            }
        }
        self.rounds += 1;
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let k = self.classes;
        self.cells.grow(classes * (1 + self.heads.len()), features, |old, new| {
            for (old, new) in old.chunks_exact(k).zip(new.chunks_exact_mut(classes)) {
                new[..k].copy_from_slice(old);
            }
        });
        self.classes = classes;
        self.make_room();
        true
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Diagonals {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.saved = self.cells.list();
        vec![Tensor::list("cells", &mut self.saved), Tensor::count("rounds", &mut self.rounds)]
    }

    fn restored(&mut self) -> bool {
        let saved = std::mem::take(&mut self.saved);
        self.cells.set_list(&saved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::full::folklore_diag::{FolkloreDiag, FolkloreDiagParams};
    use crate::kernel::curvature::Curvature;
    use crate::learner::{OnlineLearner as _, Predictor as _};
    use crate::problem::Problem;
    use crate::testing::unit_rows;

    fn plays(member: &mut Diagonals, rows: &[Vec<f64>], classes: usize) -> Vec<f64> {
        let (mut at, mut all) = (member.prediction(), Vec::new());
        for (t, x) in rows.iter().enumerate() {
            member.predict(Features::Dense(x), &mut at);
            all.extend(at.members.iter().flat_map(|head| head.probabilities.clone()));
            // The mixture of the heads, as its owner writes it.
            let first = at.members[0].probabilities.clone();
            at.probabilities.copy_from_slice(&first);
            member.update(Features::Dense(x), Target::class(t * t % classes), &at);
        }
        all
    }

    fn rows(count: usize) -> Vec<Vec<f64>> {
        let mut rows = unit_rows(5, count, 6);
        rows.iter_mut().enumerate().for_each(|(t, x)| x[t % 6] = 0.0);
        rows
    }

    /// One alone is `folklore-diag`, up to single precision.
    #[test]
    fn one_is_folklore_diag() {
        let (k, rows) = (3, rows(150));
        let (ratio, curvature) = GRID[0];
        let params = FolkloreDiagParams {
            radius: Some(1.0),
            regularization: Some(ratio * curvature),
            curvature: Some(Curvature::Value(curvature)),
            ..Default::default()
        };
        let mut learner = FolkloreDiag::new(params, Problem::new(k, 6), 0).expect("valid parameters");
        let got = plays(&mut Diagonals::new(k, 6, 1, usize::MAX), &rows, k);
        let mut at = learner.prediction();
        for (t, (x, got)) in rows.iter().zip(got.chunks_exact(k)).enumerate() {
            learner.predict(Features::Dense(x), &mut at);
            for (got, want) in got.iter().zip(&at.probabilities) {
                assert!((got - want).abs() < 1e-3, "round {t}: {got}, not {want}");
            }
            learner.update(Features::Dense(x), Target::class(t * t % k), &at);
        }
    }

    #[test]
    fn saved_and_grown_it_goes_on() {
        let (mut member, rows) = (Diagonals::new(3, 6, 4, usize::MAX), rows(60));
        plays(&mut member, &rows[..40], 3);
        let mut loaded = Diagonals::new(3, 6, 4, usize::MAX);
        let saved = member.cells.list();
        assert!(loaded.cells.set_list(&saved));
        loaded.rounds = member.rounds;
        let mut grown = member.clone();
        assert_eq!(plays(&mut loaded, &rows[40..], 3), plays(&mut member, &rows[40..], 3));
        // A feature more, always zero, changes nothing.
        assert!(grown.grow(3, 7));
        let wider: Vec<Vec<f64>> = rows[40..].iter().map(|x| [&x[..], &[0.0]].concat()).collect();
        let mut again = Diagonals::new(3, 6, 4, usize::MAX);
        assert!(again.cells.set_list(&saved));
        assert_eq!(plays(&mut grown, &wider, 3), plays(&mut again, &rows[40..], 3));
    }
}
