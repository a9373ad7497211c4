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
//! Some heads use another form of the row in place of $x$, and each form has its own sums of curvatures.
//! The *roots* $u_j = \operatorname{sign}(x_j) \sqrt{|x_j|} / \sqrt{\sum_i |x_i|}$ have norm 1: if rows are
//! counts of words, they reduce the influence of frequent words, and the norm that of long texts. For sparse
//! rows there are also the *logarithms*, the second view of the row ([`Features::views`]):
//!
//! $$ v_j = \operatorname{sign}(r_j) \ln(1 + |r_j|) \big/ \textstyle\sqrt{\sum_i \ln^2(1 + |r_i|)}, $$
//!
//! where $r$ is the row before scaling, without the intercept, which is 1 in $v$, too. Scaling by the largest
//! values so far gives rare words more weight than frequent ones, and $v$ does not; which is better depends
//! on the stream, and the mixture and the stacks choose (theory: mixtures 2.6). If a row has one view, $v =
//! x / \lVert x \rVert$.

use crate::example::{Features, Target};
use crate::kernel::cells::Cells;
use crate::kernel::diagonal_fixed_point::{scratch_len, solve_single};
use crate::kernel::softmax::covariance_times;
use crate::kernel::vector::{take, widen, widest};
use crate::loss::heavy;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::member::Member;

pub(super) mod kind;

/// The largest number of heads.
pub(super) const HEADS: usize = 9;

/// The number of forms of a row.
const FORMS: usize = 3;

/// The forms of a row, as indices.
const SCALED: usize = 0;
const ROOTS: usize = 1;
const LOGARITHMS: usize = 2;

/// Ratios, curvatures and forms of the heads, in order of preference; heads of the same form are neighbours,
/// and no form is left out before another one.
const GRID: [(f64, f64, usize); HEADS] = [
    (0.01, 0.5, SCALED),
    (0.001, 0.5, SCALED),
    (0.01, 0.1, SCALED),
    (0.1, 0.1, SCALED),
    (0.01, 0.02, SCALED),
    (0.1, 0.02, SCALED),
    (0.1, 0.2, ROOTS),
    (0.1, 0.05, ROOTS),
    (0.1, 0.0125, ROOTS),
];

/// The same for sparse rows: more forms reduce the loss more than further ratios and curvatures do.
const SPARSE_GRID: [(f64, f64, usize); HEADS] = [
    (0.01, 0.5, SCALED),
    (0.01, 0.1, SCALED),
    (0.1, 0.2, ROOTS),
    (0.1, 0.05, ROOTS),
    (1.0, 0.05, ROOTS),
    (0.4, 0.2, LOGARITHMS),
    (0.4, 0.05, LOGARITHMS),
    (0.4, 0.0125, LOGARITHMS),
    (2.0, 0.05, LOGARITHMS),
];

/// The first `heads` heads.
fn grid(sparse: bool, heads: usize) -> &'static [(f64, f64, usize)] {
    if sparse { &SPARSE_GRID[..heads] } else { &GRID[..heads] }
}

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
    features: usize,
    sparse: bool,
    /// The distinct pairs of a ratio and a form.
    ratios: Vec<(f64, usize)>,
    /// For each head, the index of its ratio, and its curvature.
    heads: Vec<(usize, f64)>,
    /// The index of the first head of every form, and the number of heads.
    starts: [usize; FORMS + 1],
    /// For every feature, $K$ numbers $h$ for each form that a head uses, then $K$ numbers $G$ for each head.
    cells: Cells,
    rounds: u64,
    work: Vec<f64>,
    steps: Vec<f32>,
    /// Where rounds of weight above 1 are linearised.
    ahead: Prediction,
}

impl Diagonals {
    /// The first `heads` heads of the grid, with at most `most` cells.
    pub(super) fn new(problem: &Problem, heads: usize, most: usize) -> Self {
        let Problem { classes, features, sparse, .. } = *problem;
        let grid = grid(sparse, heads);
        let starts = [0, 1, 2, 3].map(|form| grid.iter().filter(|head| head.2 < form).count());
        let mut ratios = Vec::new();
        let heads = grid.iter().map(|(ratio, curvature, form)| {
            let wanted = (*ratio, *form);
            let place = ratios.iter().position(|known| *known == wanted).unwrap_or_else(|| {
                ratios.push(wanted);
                ratios.len() - 1
            });
            (place, *curvature)
        });
        let heads: Vec<(usize, f64)> = heads.collect();
        let cells = Cells::new(classes * Self::blocks(sparse, heads.len()), features, most);
        let mut diagonals = Self {
            classes,
            features,
            sparse,
            starts,
            ratios,
            heads,
            cells,
            rounds: 0,
            work: Vec::new(),
            steps: Vec::new(),
            ahead: Prediction::default(),
        };
        diagonals.make_room();
        diagonals
    }

    /// The number of sums of curvatures for a class and feature: one for each form of the rows that the first
    /// `heads` heads use.
    fn forms(sparse: bool, heads: usize) -> usize {
        grid(sparse, heads).last().map_or(1, |head| 1 + head.2)
    }

    /// The number of numbers for a class and feature.
    pub(super) fn blocks(sparse: bool, heads: usize) -> usize {
        Self::forms(sparse, heads) + heads
    }

    /// 8-byte numbers of state at most.
    pub(super) fn numbers(problem: &Problem, heads: usize, most: usize) -> usize {
        let width = problem.classes.saturating_mul(Self::blocks(problem.sparse, heads));
        Cells::<f32>::numbers(width, problem.features, most)
    }

    /// The non-zero entries of `x` in every form.
    #[inline(always)]
    fn entries<'a>(&self, x: Features<'a>) -> impl Iterator<Item = (usize, [f32; FORMS])> + use<'a> {
        let (scaled, second) = x.views(self.features);
        let uses = |form: usize| self.starts[form] < self.starts[form + 1];
        let roots = if uses(ROOTS) { scaled.values().iter().map(|value| value.abs()).sum() } else { 1.0 };
        let two = x.values().len() > scaled.values().len();
        let norm = if uses(LOGARITHMS) && !two { scaled.norm_squared() } else { 1.0 };
        let (roots, norm) = (f64::sqrt(roots), norm.sqrt());
        scaled.iter().zip(second.values()).filter(|((_, value), _)| *value != 0.0).map(
            #[inline(always)]
            move |((feature, value), second)| {
                let root = value.signum() * value.abs().sqrt() / roots;
                (feature, [value as f32, root as f32, (second / norm) as f32])
            },
        )
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
        let forms = Self::forms(self.sparse, heads.len());
        sums.fill(0.0);
        let (squares, images) = sums.split_at_mut(k * ratios.len());
        let mut unseen = [0.0; FORMS];
        for (feature, values) in self.entries(x) {
            let Some(cell) = self.cells.get(feature) else {
                add_squares(&mut unseen, values);
                continue;
            };
            let (growths, gradients) = cell.split_at(k * forms);
            widest(
                #[inline(always)]
                || {
                    for start in (0..k).step_by(BLOCK) {
                        let len = BLOCK.min(k - start);
                        for (place, ((ratio, form), squares)) in
                            ratios.iter().zip(squares.chunks_exact_mut(k)).enumerate()
                        {
                            let (ratio, value) = (*ratio as f32, values[*form]);
                            let mut room = [0.0; BLOCK];
                            let room = &mut room[..len];
                            let squares = &mut squares[start..start + len];
                            let growth = &growths[form * k + start..][..len];
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
        let mut unseen = [0.0; FORMS];
        let forms = Self::forms(self.sparse, self.heads.len());
        let mut shares = [[0.0; K]; HEADS];
        for (feature, values) in self.entries(x) {
            let Some(cell) = self.cells.get(feature) else {
                add_squares(&mut unseen, values);
                continue;
            };
            let (growths, gradients) = cell.as_chunks::<K>().0.split_at(forms);
            for ((shares, squares), (ratio, form)) in shares.iter_mut().zip(&mut *squares).zip(&self.ratios) {
                let (growth, value) = (&growths[*form], values[*form]);
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

    /// Writes to `out` the forecasts at which a round of weight above 1 is linearised.
    fn write_ahead<'a>(
        &self,
        x: Features<'_>,
        y: Target<'_>,
        at: &Prediction,
        out: &'a mut Prediction,
    ) -> &'a Prediction {
        let k = self.classes;
        let mut sums = std::mem::take(&mut out.scratch);
        sums.resize(k * (self.ratios.len() + self.heads.len()), 0.0);
        self.gather(x, &mut sums);
        heavy::heads(at, out, |head, own, out| {
            let (place, curvature) = self.heads[head];
            let sums = &sums[place * k..][..k];
            let write =
                |a: &mut [f64]| a.iter_mut().zip(sums).for_each(|(a, sum)| *a = 0.5 / curvature * sum);
            heavy::diagonal(write, y, own, out);
        });
        out.scratch = sums;
        out
    }
}

/// Adds the squares of an entry whose feature has no cell.
fn add_squares(sums: &mut [f64; FORMS], values: [f32; FORMS]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += f64::from(value) * f64::from(value);
    }
}

/// Adds the terms of features without a cell, whose sums of squares are `squared`, to $\sum_j x_j^2/(\rho +
/// h)$ of every ratio and class.
fn add_unseen(squared: [f64; FORMS], ratios: &[(f64, usize)], sums: &mut [f64]) {
    let classes = sums.len() / ratios.len();
    for ((ratio, form), sums) in ratios.iter().zip(sums.chunks_exact_mut(classes)) {
        sums.iter_mut().for_each(|sum| *sum += squared[*form] / ratio);
    }
}

/// Updates the cell of a feature with these `values`; `forms` is the number of sums of curvatures for each
/// class, and `starts` has the first head of every form.
#[inline(always)]
fn learn(
    cell: &mut [f32],
    classes: usize,
    forms: usize,
    values: [f32; FORMS],
    steps: &[f32],
    starts: [usize; FORMS + 1],
) {
    let (growths, gradients) = cell.split_at_mut(classes * forms);
    let (curvatures, steps) = steps.split_at(classes);
    for (growth, value) in growths.chunks_exact_mut(classes).zip(values) {
        for (growth, step) in growth.iter_mut().zip(curvatures) {
            *growth += value * value * step;
        }
    }
    for (form, value) in values.into_iter().enumerate() {
        let own = classes * starts[form]..classes * starts[form + 1];
        for (gradient, step) in gradients[own.clone()].iter_mut().zip(&steps[own]) {
            *gradient += value * step;
        }
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
        let k = self.classes;
        let mut ahead = std::mem::take(&mut self.ahead);
        let at = if y.weight > 1.0 { self.write_ahead(x, y, at, &mut ahead) } else { at };
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
        let (forms, starts) = (Self::forms(self.sparse, self.heads.len()), self.starts);
        for (feature, values) in self.entries(x) {
            let (cell, steps) = (self.cells.get_mut(feature), &self.steps);
            if k <= MOST_UNROLLED_CLASSES {
                learn(cell, k, forms, values, steps, starts);
            } else {
                widest(
                    #[inline(always)]
                    || learn(cell, k, forms, values, steps, starts),
                );
            }
        }
        self.rounds += 1;
        self.ahead = ahead;
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let k = self.classes;
        self.features = features;
        let blocks = Self::blocks(self.sparse, self.heads.len());
        self.cells.grow(classes * blocks, features, |old, new| widen(old, k, new, classes));
        self.classes = classes;
        self.make_room();
        true
    }
}

impl State for Diagonals {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::listed("cells", &mut self.cells), Tensor::count("rounds", &mut self.rounds)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm as _;
    use crate::full::folklore_diag::{FolkloreDiag, FolkloreDiagParams};
    use crate::learner::{OnlineLearner as _, Predictor as _};
    use crate::loss::curvature::Curvature;
    use crate::state::Listed as _;
    use crate::testing::unit_rows;

    /// All forecasts; curvatures are taken at those of the head `leader`. Rows of twice as many values as
    /// features are sparse rows with two views.
    fn plays_after(leader: usize, member: &mut Diagonals, rows: &[Vec<f64>], classes: usize) -> Vec<f64> {
        let (mut at, mut all) = (member.prediction(), Vec::new());
        let indices: Vec<u32> = (0..member.features as u32).collect();
        for (t, values) in rows.iter().enumerate() {
            let x = match values.len() > indices.len() {
                true => Features::Sparse { indices: &indices, values },
                false => Features::Dense(values),
            };
            member.predict(x, &mut at);
            all.extend(at.members.iter().flat_map(|head| head.probabilities.clone()));
            // The caller of a member usually writes the mixture of the heads here.
            let leading = at.members[leader].probabilities.clone();
            at.probabilities.copy_from_slice(&leading);
            member.update(x, Target::class(t * t % classes), &at);
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

    fn fresh(sparse: bool, heads: usize) -> Diagonals {
        Diagonals::new(&Problem::new(3, 6).with_sparse(sparse), heads, usize::MAX)
    }

    /// Asserts that the forecasts of the head `head` are those of `folklore-diag` on the rows `rows_of_head`,
    /// up to single precision.
    fn is_folklore_diag(sparse: bool, head: usize, rows: &[Vec<f64>], rows_of_head: &[Vec<f64>]) {
        let (k, (ratio, curvature, _)) = (3, grid(sparse, HEADS)[head]);
        let params = FolkloreDiagParams {
            radius: Some(1.0),
            regularization: Some(ratio * curvature),
            curvature: Some(Curvature::Value(curvature)),
            ..Default::default()
        };
        let mut learner = FolkloreDiag::new(params, Problem::new(k, 6), 0).expect("valid parameters");
        let got = plays_after(head, &mut fresh(sparse, head + 1), rows, k);
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
        is_folklore_diag(false, 0, &rows, &rows);
        is_folklore_diag(false, 3, &rows, &rows);
    }

    /// On sparse rows with two views, the last heads are `folklore-diag` on the second view, and the others
    /// on the first, or on its roots. The second view of a row with one is the row, of norm 1.
    #[test]
    fn heads_take_their_view_of_a_sparse_row() {
        let (first, second) = (rows(150), rows(300).split_off(150));
        // Zeros of the first view are zeros of both.
        let zeroed = |(x, v): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            x.iter().zip(v).map(|(x, v)| if *x == 0.0 { 0.0 } else { *v }).collect()
        };
        let second: Vec<Vec<f64>> = first.iter().zip(&second).map(zeroed).collect();
        let both: Vec<Vec<f64>> = first.iter().zip(&second).map(|(x, v)| [&x[..], v].concat()).collect();
        let of_norm_1 = |x: &Vec<f64>| -> Vec<f64> {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect()
        };
        let scaled: Vec<Vec<f64>> = first.iter().map(of_norm_1).collect();
        for (head, (.., form)) in SPARSE_GRID.iter().enumerate() {
            match *form {
                SCALED => is_folklore_diag(true, head, &both, &first),
                LOGARITHMS => {
                    is_folklore_diag(true, head, &both, &second);
                    is_folklore_diag(true, head, &first, &scaled);
                }
                _ => is_folklore_diag(true, head, &both, &roots(&first)),
            }
        }
    }

    /// With fewer heads there are fewer forms.
    #[test]
    fn no_form_is_left_out_before_another() {
        for (sparse, heads, blocks) in [
            (false, 1, 2),
            (false, 6, 7),
            (false, 9, 11),
            (true, 1, 2),
            (true, 2, 3),
            (true, 5, 7),
            (true, 9, 12),
        ] {
            assert_eq!(Diagonals::blocks(sparse, heads), blocks, "{heads} heads, sparse: {sparse}");
        }
        for grid in [GRID, SPARSE_GRID] {
            assert!(grid.is_sorted_by_key(|head| head.2));
        }
    }

    fn roots(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let of_norm_1 = |x: &Vec<f64>| -> Vec<f64> {
            let norm = x.iter().map(|x| x.abs()).sum::<f64>().sqrt();
            x.iter().map(|x| x.signum() * x.abs().sqrt() / norm).collect()
        };
        rows.iter().map(of_norm_1).collect()
    }

    /// The last heads use roots, in rows of norm 1.
    #[test]
    fn the_last_see_rows_of_norm_1() {
        let rows = rows(150);
        is_folklore_diag(false, 6, &rows, &roots(&rows));
        is_folklore_diag(false, HEADS - 1, &rows, &roots(&rows));
    }

    #[test]
    fn saved_and_grown_it_goes_on() {
        let (mut member, rows) = (fresh(false, 8), rows(60));
        plays(&mut member, &rows[..40], 3);
        let mut loaded = fresh(false, 8);
        let saved = member.cells.list();
        assert!(loaded.cells.set_list(&saved));
        loaded.rounds = member.rounds;
        let mut grown = member.clone();
        assert_eq!(plays(&mut loaded, &rows[40..], 3), plays(&mut member, &rows[40..], 3));
        // One additional feature that is always zero changes nothing.
        assert!(grown.grow(3, 7));
        let wider: Vec<Vec<f64>> = rows[40..].iter().map(|x| [&x[..], &[0.0]].concat()).collect();
        let mut again = fresh(false, 8);
        assert!(again.cells.set_list(&saved));
        assert_eq!(plays(&mut grown, &wider, 3), plays(&mut again, &rows[40..], 3));
    }
}
