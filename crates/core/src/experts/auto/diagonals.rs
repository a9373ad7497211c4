//! FOLKLORE learners with diagonal matrices, which share their curvatures, in single precision.
//!
//! For every class $k$ and feature $j$ there is one sum of curvatures $h_{kj} = \sum_t \bar p_k(1 - \bar
//! p_k)\ x_j^2$, taken at the heads' mixture $\bar p$. The head with ratio $\rho$ and curvature $\gamma$ has
//! $A = \gamma(\rho + h)$ and its own linear term $G$:
//!
//! $$ \tilde a_k = \tfrac1{2\gamma} \sum_j \frac{x_j^2}{\rho + h_{kj}}, \quad
//!    g_k = \tfrac12 \tilde a_k - \tfrac1{2\gamma} \sum_j \frac{x_j G_{kj}}{\rho + h_{kj}}, \quad
//!    z = g - \tilde a \circ \sigma(z), \tag{1} $$
//! $$ h_{kj} \mathrel{+}= \bar p_k(1 - \bar p_k)\ x_j^2, \qquad G \mathrel{+}= (p - y - 2\gamma S(\bar p)\ z)
//!    \otimes x, \tag{2} $$
//!
//! as in [`folklore_diag`](crate::full::folklore_diag), except that curvatures are taken at $\bar p$. A row
//! reads and writes the cells of its non-zero features only; a cell is allocated when its feature first
//! occurs.
//!
//! The last heads use $u_j = \operatorname{sign}(x_j) \sqrt{|x_j|} / \sqrt{\sum_i |x_i|}$, a row of norm 1,
//! in place of $x_j$, and have their own sums of curvatures. If rows are counts of words, the roots reduce
//! the influence of frequent words, and the norm that of long texts.

use crate::example::{Features, Target};
use crate::kernel::cells::Cells;
use crate::kernel::diagonal_fixed_point::{scratch_len, solve_single};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{take, widest};
use crate::prediction::Prediction;
use crate::state::{State, Tensor};

use super::member::Member;

/// Ratios and curvatures of the heads, in order of preference. The first [`PLAIN`] heads use the rows as they
/// are, the others the roots of norm 1.
pub(super) const GRID: [(f64, f64); 9] = [
    (0.01, 0.5),
    (0.001, 0.5),
    (0.01, 0.1),
    (0.1, 0.1),
    (0.01, 0.02),
    (0.1, 0.02),
    (0.1, 0.2),
    (0.1, 0.05),
    (0.1, 0.0125),
];

/// Number of heads that use the rows as they are.
const PLAIN: usize = 6;

/// Number of classes whose reciprocals fit into registers and the first-level cache.
const BLOCK: usize = 64;

/// Up to this many classes, the widest vectors do not pay off.
const MOST_UNROLLED_CLASSES: usize = 4;

/// Logits are clipped to ± this before the surrogate is taken at them.
const LARGEST: f64 = 50.0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Diagonals {
    classes: usize,
    /// The distinct ratios, and whether they belong to rows of norm 1.
    ratios: Vec<(f64, bool)>,
    /// For each head, the index of its ratio, and its curvature.
    heads: Vec<(usize, f64)>,
    /// For every feature, $K$ numbers $h$ (and $K$ more for rows of norm 1, if a head uses these), then $K$
    /// numbers $G$ for each head.
    cells: Cells,
    rounds: u64,
    /// The cells as a list, while they are saved or loaded.
    saved: Vec<f64>,
    work: Vec<f64>,
    steps: Vec<f32>,
}

impl Diagonals {
    /// The first `heads` heads of the [`GRID`], with at most `most` cells.
    pub(super) fn new(classes: usize, features: usize, heads: usize, most: usize) -> Self {
        let mut ratios = Vec::new();
        let grid = GRID.iter().take(heads).enumerate().map(|(head, (ratio, curvature))| {
            let wanted = (*ratio, head >= PLAIN);
            let place = ratios.iter().position(|known| *known == wanted).unwrap_or_else(|| {
                ratios.push(wanted);
                ratios.len() - 1
            });
            (place, *curvature)
        });
        let heads: Vec<(usize, f64)> = grid.collect();
        let cells = Cells::new(classes * Self::blocks(heads.len()), features, most);
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

    /// The number of sums of curvatures for a class and feature: one for each form of the rows.
    fn views(heads: usize) -> usize {
        if heads > PLAIN { 2 } else { 1 }
    }

    /// The number of numbers for a class and feature.
    pub(super) fn blocks(heads: usize) -> usize {
        Self::views(heads) + heads
    }

    /// 8-byte numbers of state at most.
    pub(super) fn numbers(classes: usize, features: usize, heads: usize, most: usize) -> usize {
        Cells::<f32>::numbers(classes.saturating_mul(Self::blocks(heads)), features, most)
    }

    /// The divisor of the roots of the entries of `x`; 1 if no head uses them.
    fn norm_of_roots(&self, x: Features<'_>) -> f64 {
        if self.heads.len() <= PLAIN {
            return 1.0;
        }
        x.iter().map(|(_, value)| value.abs()).sum::<f64>().sqrt()
    }

    fn make_room(&mut self) {
        self.work = vec![0.0; 3 * self.classes];
        self.steps = vec![0.0; self.classes * (1 + self.heads.len())];
    }

    /// Writes $\sum_j x_j^2/(\rho + h)$ for every ratio and $\sum_j x_j G/(\rho + h)$ for every head to
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
        let (norm, mut unseen) = (self.norm_of_roots(x), [0.0; 2]);
        for (feature, entry) in x.iter().filter(|(_, value)| *value != 0.0) {
            let values = both(entry, norm);
            let Some(cell) = self.cells.get(feature) else {
                add_squares(&mut unseen, values);
                continue;
            };
            let (growths, gradients) = cell.split_at(k * Self::views(heads.len()));
            widest(
                #[inline(always)]
                || {
                    for start in (0..k).step_by(BLOCK) {
                        let len = BLOCK.min(k - start);
                        for (place, ((ratio, of_unit), squares)) in
                            ratios.iter().zip(squares.chunks_exact_mut(k)).enumerate()
                        {
                            let view = usize::from(*of_unit);
                            let (ratio, value) = (*ratio as f32, values[view]);
                            let mut room = [0.0; BLOCK];
                            let room = &mut room[..len];
                            let squares = &mut squares[start..start + len];
                            let growth = &growths[view * k + start..][..len];
                            for ((share, growth), square) in room.iter_mut().zip(growth).zip(squares) {
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

    /// As [`Diagonals::gather`], for few classes: loops over the `K` classes are unrolled.
    fn gather_few<const K: usize>(&self, x: Features<'_>, sums: &mut [f64]) {
        let (squares, images) = sums.split_at_mut(K * self.ratios.len());
        let (squares, images) = (squares.as_chunks_mut::<K>().0, images.as_chunks_mut::<K>().0);
        squares.fill([0.0; K]);
        images.fill([0.0; K]);
        let (norm, mut unseen) = (self.norm_of_roots(x), [0.0; 2]);
        let views = Self::views(self.heads.len());
        let mut shares = [[0.0; K]; GRID.len()];
        for (feature, entry) in x.iter().filter(|(_, value)| *value != 0.0) {
            let values = both(entry, norm);
            let Some(cell) = self.cells.get(feature) else {
                add_squares(&mut unseen, values);
                continue;
            };
            let (growths, gradients) = cell.as_chunks::<K>().0.split_at(views);
            for ((shares, squares), (ratio, of_unit)) in
                shares.iter_mut().zip(&mut *squares).zip(&self.ratios)
            {
                let view = usize::from(*of_unit);
                let (growth, value) = (&growths[view], values[view]);
                for k in 0..K {
                    shares[k] = value / (*ratio as f32 + growth[k]);
                    squares[k] += f64::from(value * shares[k]);
                }
            }
            let heads = images.iter_mut().zip(gradients).zip(&self.heads);
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

/// An entry as it is, and as an entry of the row of norm 1, where `norm` is the divisor of the roots.
#[inline(always)]
fn both(entry: f64, norm: f64) -> [f32; 2] {
    [entry as f32, (entry.signum() * entry.abs().sqrt() / norm) as f32]
}

/// Adds the squares of an entry whose feature has no cell.
fn add_squares(sums: &mut [f64; 2], values: [f32; 2]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += f64::from(value) * f64::from(value);
    }
}

/// Adds the terms of features without a cell, whose sums of squares are `squared`, to $\sum_j x_j^2/(\rho +
/// h)$ of every ratio and class.
fn add_unseen(squared: [f64; 2], ratios: &[(f64, bool)], sums: &mut [f64]) {
    let classes = sums.len() / ratios.len();
    for ((ratio, of_unit), sums) in ratios.iter().zip(sums.chunks_exact_mut(classes)) {
        sums.iter_mut().for_each(|sum| *sum += squared[usize::from(*of_unit)] / ratio);
    }
}

/// Updates the cell of a feature with these `values`; `views` is the number of sums of curvatures for each
/// class.
#[inline(always)]
fn learn(cell: &mut [f32], classes: usize, views: usize, values: [f32; 2], steps: &[f32]) {
    let (growths, gradients) = cell.split_at_mut(classes * views);
    let (curvatures, steps) = steps.split_at(classes);
    for (growth, value) in growths.chunks_exact_mut(classes).zip(values) {
        for (growth, step) in growth.iter_mut().zip(curvatures) {
            *growth += value * value * step;
        }
    }
    let plain = gradients.len().min(PLAIN * classes);
    let parts = gradients.split_at_mut(plain);
    for (gradient, step) in parts.0.iter_mut().zip(steps) {
        *gradient += values[0] * step;
    }
    for (gradient, step) in parts.1.iter_mut().zip(&steps[plain..]) {
        *gradient += values[1] * step;
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
                *g = 0.5 * *a - scale * image; // eq. (1)
            }
            solve_single(a, g, near, &mut at.scores, &mut at.probabilities, rest); // eq. (1)
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
            *step = (y.curvature() * p * (1.0 - p)) as f32; // eq. (2)
        }
        let heads = self.heads.iter().zip(self.steps[k..].chunks_exact_mut(k)).zip(&at.members);
        for (((_, curvature), steps), own) in heads {
            let mean = own.scores.iter().sum::<f64>() / k as f64;
            for (bounded, z) in bounded.iter_mut().zip(&own.scores) {
                *bounded = (z - mean).clamp(-LARGEST, LARGEST);
            }
            covariance_times(p, bounded, curved);
            residual.copy_from_slice(&own.probabilities);
            y.residual(residual);
            for ((step, residual), curved) in steps.iter_mut().zip(&*residual).zip(&*curved) {
                *step = (y.weight * (residual - 2.0 * curvature * y.information() * curved)) as f32; // eq. (2)
            }
        }
        let (norm, views) = (self.norm_of_roots(x), Self::views(self.heads.len()));
        for (feature, entry) in x.iter().filter(|(_, value)| *value != 0.0) {
            let cell = self.cells.get_mut(feature);
            let (values, steps) = (both(entry, norm), &self.steps);
            if k <= MOST_UNROLLED_CLASSES {
                learn(cell, k, views, values, steps);
            } else {
                widest(
                    #[inline(always)]
                    || learn(cell, k, views, values, steps),
                );
            }
        }
        self.rounds += 1;
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let k = self.classes;
        self.cells.grow(classes * Self::blocks(self.heads.len()), features, |old, new| {
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

    /// All forecasts; curvatures are taken at those of the head `leader`.
    fn plays_after(leader: usize, member: &mut Diagonals, rows: &[Vec<f64>], classes: usize) -> Vec<f64> {
        let (mut at, mut all) = (member.prediction(), Vec::new());
        for (t, x) in rows.iter().enumerate() {
            member.predict(Features::Dense(x), &mut at);
            all.extend(at.members.iter().flat_map(|head| head.probabilities.clone()));
            // The caller of a member usually writes the mixture of the heads here.
            let leading = at.members[leader].probabilities.clone();
            at.probabilities.copy_from_slice(&leading);
            member.update(Features::Dense(x), Target::class(t * t % classes), &at);
        }
        all
    }

    fn plays(member: &mut Diagonals, rows: &[Vec<f64>], classes: usize) -> Vec<f64> {
        plays_after(0, member, rows, classes)
    }

    fn rows(count: usize) -> Vec<Vec<f64>> {
        let mut rows = unit_rows(5, count, 6);
        rows.iter_mut().enumerate().for_each(|(t, x)| x[t % 6] = 0.0);
        rows
    }

    /// Asserts that the forecasts of the head `head` are those of `folklore-diag` on the rows `rows_of_head`,
    /// up to single precision.
    fn is_folklore_diag(head: usize, rows: &[Vec<f64>], rows_of_head: &[Vec<f64>]) {
        let (k, (ratio, curvature)) = (3, GRID[head]);
        let params = FolkloreDiagParams {
            radius: Some(1.0),
            regularization: Some(ratio * curvature),
            curvature: Some(Curvature::Value(curvature)),
            ..Default::default()
        };
        let mut learner = FolkloreDiag::new(params, Problem::new(k, 6), 0).expect("valid parameters");
        let got = plays_after(head, &mut Diagonals::new(k, 6, head + 1, usize::MAX), rows, k);
        let mut at = learner.prediction();
        for (t, (x, got)) in rows_of_head.iter().zip(got.chunks_exact(k * (head + 1))).enumerate() {
            learner.predict(Features::Dense(x), &mut at);
            for (got, want) in got[k * head..].iter().zip(&at.probabilities) {
                assert!((got - want).abs() < 1e-3, "round {t}: {got}, not {want}");
            }
            learner.update(Features::Dense(x), Target::class(t * t % k), &at);
        }
    }

    #[test]
    fn each_is_folklore_diag() {
        let rows = rows(150);
        is_folklore_diag(0, &rows, &rows);
        is_folklore_diag(3, &rows, &rows);
    }

    /// The last heads use roots, in rows of norm 1.
    #[test]
    fn the_last_see_rows_of_norm_1() {
        let rows = rows(150);
        let of_norm_1 = |x: &Vec<f64>| -> Vec<f64> {
            let norm = x.iter().map(|x| x.abs()).sum::<f64>().sqrt();
            x.iter().map(|x| x.signum() * x.abs().sqrt() / norm).collect()
        };
        let seen: Vec<Vec<f64>> = rows.iter().map(of_norm_1).collect();
        is_folklore_diag(PLAIN, &rows, &seen);
        is_folklore_diag(GRID.len() - 1, &rows, &seen);
    }

    #[test]
    fn saved_and_grown_it_goes_on() {
        let (mut member, rows) = (Diagonals::new(3, 6, 8, usize::MAX), rows(60));
        plays(&mut member, &rows[..40], 3);
        let mut loaded = Diagonals::new(3, 6, 8, usize::MAX);
        let saved = member.cells.list();
        assert!(loaded.cells.set_list(&saved));
        loaded.rounds = member.rounds;
        let mut grown = member.clone();
        assert_eq!(plays(&mut loaded, &rows[40..], 3), plays(&mut member, &rows[40..], 3));
        // One additional feature that is always zero changes nothing.
        assert!(grown.grow(3, 7));
        let wider: Vec<Vec<f64>> = rows[40..].iter().map(|x| [&x[..], &[0.0]].concat()).collect();
        let mut again = Diagonals::new(3, 6, 8, usize::MAX);
        assert!(again.cells.set_list(&saved));
        assert_eq!(plays(&mut grown, &wider, 3), plays(&mut again, &rows[40..], 3));
    }
}
