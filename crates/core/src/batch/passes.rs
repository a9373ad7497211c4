//! The best linear predictor for rows that are on several machines, found in a few passes over them.
//!
//! Minimises the regularised total loss of rows $t$ with importance weights $\omega_t$,
//!
//! $$ F(u) = (u - c)^\top A\ (u - c) + f(u), \qquad f(u) = \textstyle\sum_t \omega_t \ell(VUx_t, y_t),
//!    \tag{1} $$
//!
//! by Newton steps with a line search. A step needs the value, the gradient and the Hessian of $f$ at one
//! point. These are sums over rows: every shard computes those of its rows ([`sums`]), the lists are added
//! entry by entry, and [`Passes`] makes the step from their total. So what is found does not depend on how
//! rows are divided among shards, except for rounding.
//!
//! Before the first row, $c = 0$ and $A$ is diagonal: $(m_j / z)^2$ for feature $j$, whose largest
//! magnitude is $m_j$, so that weights with which it alone reaches logits of $z$ cost one nat, in every unit
//! of $x$. With $z = BR$ no predictor whose rows have norms of at most $B$ is better than the minimiser by
//! more than half a nat a class (theory: extensions 3.2). At the minimum $u^*$, (1) is up to terms of third
//! order the quadratic with $c = u^*$ and $A + \tfrac12 \nabla^2 f(u^*)$, which takes the place of the rows
//! when more rows come ([`Passes::go_on`]), and in a learner that goes on from $u^*$
//! ([`Algorithm::with_quadratic`](crate::algorithm::Algorithm::with_quadratic)).

use faer::Mat;

use super::constrained::{Stop, dot, duality_gap};
use super::data::Data;
use super::interior_point::solve_positive;
use super::objective::Objective;
use crate::bounds::Ball;
use crate::merge::how::MergeError;

/// Passes until the loss is within 1e-9 of its minimum, relative to it; 60 at most.
pub const FEW: Stop = Stop { tolerance: 1e-9, passes: 60 };

/// What the parameters $u$ of a linear predictor are, $d$ numbers for each of their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// $K - 1$ blocks: the logits are $VUx$, for [`LogitBasis`](crate::kernel::basis::LogitBasis)' $V$.
    Centred,
    /// One block: $\langle u, x \rangle$ is the logit of class 1 against class 0. Two classes.
    Binary,
}

impl Coordinates {
    fn objective(self, data: Data<'_>) -> Objective<'_> {
        match self {
            Coordinates::Centred => Objective::centred(data),
            Coordinates::Binary => Objective::binary(data),
        }
    }
}

/// $(u - c)^\top A\ (u - c)$ for $n$ parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    /// $c$, $n$ numbers.
    pub centre: Vec<f64>,
    /// The lower triangle of $A$, row by row: $n(n+1)/2$ numbers.
    pub matrix: Vec<f64>,
}

impl Quadratic {
    /// $Av$.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; v.len()];
        for (row, entries) in triangle(&self.matrix, v.len()) {
            let (before, entry) = entries.split_at(row);
            out[row] += entry[0] * v[row];
            for (column, entry) in before.iter().enumerate() {
                out[row] += entry * v[column];
                out[column] += entry * v[row];
            }
        }
        out
    }
}

/// The rows of a packed lower triangle of side `n`, with their numbers.
fn triangle(packed: &[f64], n: usize) -> impl Iterator<Item = (usize, &[f64])> {
    (0..n).scan(packed, |rest, row| {
        let (entries, after) = rest.split_at(row + 1);
        *rest = after;
        Some((row, entries))
    })
}

/// The sums over the rows of a shard at the predictor `u`, which are added over shards: the total loss, its
/// gradient, and the lower triangle of its Hessian row by row, $1 + n + n(n+1)/2$ numbers.
///
/// # Panics
/// If `u` has the wrong length, or [`Coordinates::Binary`] is asked for with other than two classes.
pub fn sums(data: &Data<'_>, coordinates: Coordinates, u: &[f64]) -> Vec<f64> {
    assert!(
        coordinates == Coordinates::Centred || data.classes() == 2,
        "binary coordinates need two classes"
    );
    let objective = coordinates.objective(*data);
    let n = objective.dimension();
    assert_eq!(u.len(), n, "the number of parameters");
    let mut gradient = vec![0.0; n];
    let mut hessian = Mat::zeros(n, n);
    let mut list = vec![objective.value_and_gradient(u, &mut gradient)];
    objective.hessian(u, &mut hessian);
    list.extend(gradient);
    (0..n).for_each(|row| list.extend((0..=row).map(|column| hessian[(row, column)])));
    list
}

/// The machine that makes the steps. It knows no rows: see the [module](self).
#[derive(Clone, Debug)]
pub struct Passes {
    coordinates: Coordinates,
    classes: usize,
    features: usize,
    stop: Stop,
    before: Quadratic,
    /// The best point so far, and the step from it.
    best: Option<Point>,
    step: Vec<f64>,
    /// The derivative of (1) along the step, with the opposite sign.
    decrease: f64,
    length: f64,
    at: Vec<f64>,
    passes: usize,
}

/// A point with its sums.
#[derive(Clone, Debug)]
struct Point {
    u: Vec<f64>,
    sums: Vec<f64>,
    /// (1).
    total: f64,
}

impl Passes {
    /// The start for `classes` $= K \ge 2$, features of these `largest` magnitudes, and comparators whose
    /// logits are at most `reach` $= z > 0$.
    pub fn new(coordinates: Coordinates, classes: usize, largest: &[f64], reach: f64, stop: Stop) -> Self {
        let blocks = match coordinates {
            Coordinates::Centred => classes - 1,
            Coordinates::Binary => 1,
        };
        let n = blocks * largest.len();
        let mut matrix = vec![0.0; n * (n + 1) / 2];
        for row in 0..n {
            let most = largest[row % largest.len()];
            // The weights of a feature that is always 0 stay 0.
            let most = if most > 0.0 { most } else { 1.0 };
            matrix[row * (row + 3) / 2] = (most / reach).powi(2);
        }
        let before = Quadratic { centre: vec![0.0; n], matrix };
        Self {
            coordinates,
            classes,
            features: largest.len(),
            stop,
            before,
            best: None,
            step: Vec::new(),
            decrease: 0.0,
            length: 1.0,
            at: vec![0.0; n],
            passes: 0,
        }
    }

    /// The same problem anew, from the predictor that this one has found.
    pub fn from_found(self, found: &Self) -> Self {
        Self { at: found.quadratic().centre, ..self }
    }

    /// The predictor at which the next [`sums`] are needed.
    pub fn at(&self) -> &[f64] {
        &self.at
    }

    /// The number of passes over these rows.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Takes the added-up [`sums`] at [`Passes::at`]. Returns whether another pass is needed.
    ///
    /// # Errors
    /// If the list has another length, holds a number that is not finite, or its Hessian none that is
    /// positive semidefinite.
    pub fn take(&mut self, sums: &[f64]) -> Result<bool, MergeError> {
        let n = self.at.len();
        let needed = 1 + n + self.before.matrix.len();
        if sums.len() != needed {
            return Err(MergeError::Length { found: sums.len(), needed });
        }
        if sums.iter().any(|sum| !sum.is_finite()) {
            return Err(MergeError::Singular { part: None });
        }
        self.passes += 1;
        let away: Vec<f64> = self.at.iter().zip(&self.before.centre).map(|(u, c)| u - c).collect();
        let pull = self.before.times(&away);
        let total = dot(&away, &pull) + sums[0];
        let reached = |best: &Point| {
            let enough = best.total - 1e-4 * self.length * self.decrease;
            // Near the minimum, the decrease is below the rounding error.
            total <= enough + 1e-14 * total.abs()
        };
        if !self.best.as_ref().is_none_or(reached) {
            self.length *= 0.5;
            return Ok(self.length > 1e-10 && self.passes < self.stop.passes && self.move_on());
        }
        self.best = Some(Point { u: self.at.clone(), sums: sums.to_vec(), total });
        let (gradient, hessian) = sums[1..].split_at(n);
        let mut right = Mat::from_fn(n, 1, |row, _| -gradient[row] - 2.0 * pull[row]);
        let downhill: Vec<f64> = (0..n).map(|row| right[(row, 0)]).collect();
        let mut system = Mat::zeros(n, n);
        for ((row, a), (_, h)) in triangle(&self.before.matrix, n).zip(triangle(hessian, n)) {
            a.iter().zip(h).enumerate().for_each(|(column, (a, h))| system[(row, column)] = 2.0 * a + h);
        }
        solve_positive(&mut system, &mut right).ok_or(MergeError::Singular { part: None })?;
        self.step = (0..n).map(|row| right[(row, 0)]).collect();
        (self.decrease, self.length) = (dot(&downhill, &self.step), 1.0);
        // Half of the decrement is what a quadratic would still lose.
        let far = 0.5 * self.decrease > self.stop.tolerance * total.max(1.0);
        Ok(far && self.passes < self.stop.passes && self.move_on())
    }

    /// Goes along the step from the best point.
    fn move_on(&mut self) -> bool {
        if let Some(best) = &self.best {
            self.at = best.u.iter().zip(&self.step).map(|(u, step)| u + self.length * step).collect();
        }
        true
    }

    /// The quadratic that stands for the rows so far, with its centre at the predictor that was found.
    pub fn quadratic(&self) -> Quadratic {
        let Some(best) = &self.best else { return self.before.clone() };
        let hessian = &best.sums[1 + best.u.len()..];
        let matrix = self.before.matrix.iter().zip(hessian).map(|(a, h)| a + 0.5 * h).collect();
        Quadratic { centre: best.u.clone(), matrix }
    }

    /// Puts the [quadratic](Passes::quadratic) in the place of the rows so far: the sums that follow are
    /// those of other rows.
    pub fn go_on(&mut self) {
        self.before = self.quadratic();
        self.at.clone_from(&self.before.centre);
        (self.best, self.passes) = (None, 0);
    }

    /// The total loss on the rows since the last [`Passes::go_on`] of the predictor that was found, in nats.
    /// Without a pass, 0.
    pub fn loss(&self) -> f64 {
        self.best.as_ref().map_or(0.0, |best| best.sums[0])
    }

    /// No linear predictor whose norm in `ball` is at most `norm` has a total loss on these rows below
    /// [`Passes::loss`] minus this: the Frank-Wolfe gap of [`comparator`](super::comparator).
    pub fn gap(&self, ball: Ball, norm: f64) -> f64 {
        let Some(best) = &self.best else { return 0.0 };
        let gradient = &best.sums[1..=best.u.len()];
        if ball != Ball::Rows {
            return duality_gap(&best.u, gradient, 1, norm, best.sums[0]);
        }
        let expand = |u: &[f64]| self.expanded(u);
        duality_gap(&expand(&best.u), &expand(gradient), self.classes, norm, best.sums[0])
    }

    /// $VU$ row by row, $K \times d$.
    fn expanded(&self, u: &[f64]) -> Vec<f64> {
        let none = match self.coordinates {
            Coordinates::Centred => Data::empty(self.classes, self.features),
            Coordinates::Binary => Data::empty(2, self.features),
        };
        self.coordinates.objective(none).weights(u)
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparator::best_in_hindsight;
    use super::super::data::{Labels, Rows};
    use super::*;
    use crate::rng::Rng;
    use crate::testing::{assert_all_close, assert_close};

    /// Rows of a random linear softmax.
    fn rows(count: usize, d: usize, classes: usize) -> (Vec<f64>, Vec<u32>) {
        let mut rng = Rng::new(4, 0);
        let w: Vec<f64> = (0..classes * d).map(|_| rng.normal()).collect();
        let x: Vec<f64> = (0..count * d).map(|_| rng.normal()).collect();
        let label = |x: &[f64], rng: &mut Rng| {
            let scores = w.chunks_exact(d).map(|w| dot(w, x) + rng.normal());
            scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |best| best.0 as u32)
        };
        let y = x.chunks_exact(d).map(|x| label(x, &mut rng)).collect();
        (x, y)
    }

    /// Passes over `shards` parts of rows, until no more are needed.
    fn pass(
        passes: &mut Passes,
        coordinates: Coordinates,
        x: &[f64],
        y: &[u32],
        classes: usize,
        shards: usize,
    ) {
        let d = x.len() / y.len();
        loop {
            let mut total: Vec<f64> = Vec::new();
            for shard in 0..shards {
                let part = y.len() * shard / shards..y.len() * (shard + 1) / shards;
                let rows = Rows::Dense(&x[part.start * d..part.end * d]);
                let data = Data::new(classes, d, rows, Labels::Classes(&y[part])).expect("good data");
                let sums = sums(&data, coordinates, passes.at());
                total.resize(sums.len(), 0.0);
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
            if !passes.take(&total).expect("finite sums") {
                break;
            }
        }
    }

    #[test]
    fn what_is_found_does_not_depend_on_the_shards() {
        let (x, y) = rows(600, 3, 4);
        let found = [1, 5, 64].map(|shards| {
            let mut passes = Passes::new(Coordinates::Centred, 4, &[4.0; 3], 30.0, FEW);
            pass(&mut passes, Coordinates::Centred, &x, &y, 4, shards);
            assert!(passes.passes() < 12, "{} passes", passes.passes());
            passes.quadratic()
        });
        for other in &found[1..] {
            assert_all_close(&other.centre, &found[0].centre, 1e-9, "centre");
            assert_all_close(&other.matrix, &found[0].matrix, 1e-9, "matrix");
        }
    }

    #[test]
    fn the_gap_is_that_to_the_best_in_hindsight() {
        let (x, y) = rows(400, 3, 2);
        let data = Data::new(2, 3, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
        for (coordinates, ball) in [
            (Coordinates::Centred, Ball::Rows),
            (Coordinates::Centred, Ball::Frobenius),
            (Coordinates::Binary, Ball::Euclidean),
        ] {
            for norm in [0.3, 20.0] {
                let mut passes = Passes::new(coordinates, 2, &[4.0; 3], 80.0, FEW);
                pass(&mut passes, coordinates, &x, &y, 2, 3);
                let best = best_in_hindsight(&data, ball, norm, Stop::default()).expect("a norm");
                let gap = passes.gap(ball, norm);
                assert!(
                    passes.loss() - gap <= best.value + 1e-9,
                    "{ball:?}: {} - {gap} > {}",
                    passes.loss(),
                    best.value
                );
                // A comparator of norm 20 costs one nat for each of two vectors.
                assert!(norm < 1.0 || gap < 1.0 && passes.loss() < best.value + 1.0, "{gap}");
            }
        }
    }

    /// Columns in other units, and one that is always 0.
    #[test]
    fn units_change_nothing() {
        let (x, y) = rows(300, 3, 3);
        let found = [[1.0, 1.0, 1.0], [100.0, 0.01, 0.0]].map(|units| {
            let x: Vec<f64> = x.iter().zip(units.iter().cycle()).map(|(x, unit)| x * unit).collect();
            let largest: Vec<f64> = (0..3)
                .map(|j| x.iter().skip(j).step_by(3).fold(0.0, |most: f64, x| most.max(x.abs())))
                .collect();
            let mut passes = Passes::new(Coordinates::Centred, 3, &largest, 30.0, FEW);
            pass(&mut passes, Coordinates::Centred, &x, &y, 3, 2);
            passes.quadratic().centre
        });
        assert!(found[1][2] == 0.0 && found[1][5] == 0.0);
        let without: Vec<f64> =
            x.iter().zip([1.0, 1.0, 0.0].iter().cycle()).map(|(x, unit)| x * unit).collect();
        let mut passes = Passes::new(Coordinates::Centred, 3, &[3.0, 3.0, 0.0], 30.0, FEW);
        pass(&mut passes, Coordinates::Centred, &without, &y, 3, 2);
        for (at, want) in passes.quadratic().centre.iter().enumerate() {
            let unit = [100.0, 0.01, 1.0][at % 3];
            // The penalties, of other largest values, differ by little.
            assert_close(found[1][at] * unit, *want, 1e-2, "weight");
        }
    }

    #[test]
    fn a_predictor_that_was_found_is_where_others_begin() {
        let (x, y) = rows(600, 3, 4);
        let start = || Passes::new(Coordinates::Centred, 4, &[4.0; 3], 30.0, FEW);
        let mut first = start();
        pass(&mut first, Coordinates::Centred, &x[..900], &y[..300], 4, 2);
        let mut again = start().from_found(&first);
        pass(&mut again, Coordinates::Centred, &x, &y, 4, 2);
        let mut whole = start();
        pass(&mut whole, Coordinates::Centred, &x, &y, 4, 2);
        assert_all_close(&again.quadratic().centre, &whole.quadratic().centre, 1e-5, "centre");
        assert!(again.passes() < whole.passes());
    }

    /// The second half of the rows, with the quadratic of the first, is as good as all of them at once.
    #[test]
    fn a_quadratic_stands_for_its_rows() {
        let (x, y) = rows(4000, 3, 3);
        let of = |parts: usize| {
            let mut passes = Passes::new(Coordinates::Centred, 3, &[4.0; 3], 30.0, FEW);
            for (x, y) in x.chunks(x.len() / parts).zip(y.chunks(y.len() / parts)) {
                passes.go_on();
                pass(&mut passes, Coordinates::Centred, x, y, 3, 2);
            }
            let data = Data::new(3, 3, Rows::Dense(&x), Labels::Classes(&y)).expect("good data");
            sums(&data, Coordinates::Centred, &passes.quadratic().centre)[0]
        };
        let whole = of(1);
        for parts in [2, 8, 40] {
            let loss = of(parts);
            assert!(whole <= loss + 1e-6 && loss < 1.01 * whole, "{parts} parts: {loss} against {whole}");
        }
    }

    #[test]
    fn separable_rows_have_a_minimum() {
        let x = [1.0, 2.0, -1.0, -3.0];
        let mut passes = Passes::new(Coordinates::Binary, 2, &[3.0], 30.0, FEW);
        pass(&mut passes, Coordinates::Binary, &x, &[1, 1, 0, 0], 2, 2);
        assert!(passes.loss() < 0.1 && passes.quadratic().centre[0] < 30.0, "{}", passes.loss());
    }

    #[test]
    fn sums_that_are_none_are_refused() {
        let mut passes = Passes::new(Coordinates::Binary, 2, &[1.0], 30.0, FEW);
        assert_eq!(passes.take(&[0.0; 4]), Err(MergeError::Length { found: 4, needed: 3 }));
        assert_eq!(passes.take(&[0.0, f64::NAN, 1.0]), Err(MergeError::Singular { part: None }));
    }
}
