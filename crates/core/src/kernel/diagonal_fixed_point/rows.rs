//! The inner problem of several rows at once, with one number for all classes: $z = g - a\ \sigma(z)$.
//!
//! A row's numbers are in one lane of the vectors, so that the exponentials of different classes do not wait
//! for each other, and no sum runs across a vector. A row does not depend on its neighbours.

use pulp::{Arch, Simd, WithSimd};

use super::{LAST_SINGLE, damping};
use crate::kernel::flat_start::{HUGE, LARGE};
use crate::kernel::softmax::{exp_of_negative, lanes, lanes_mut};

/// Number of rows that are solved together: a multiple of the lanes of a vector.
pub(crate) const ROWS: usize = 8;

/// Newton's steps at most: three are usual.
const MOST_STEPS: usize = 30;

/// The problems of [`ROWS`] rows. The lists have an entry for each class.
pub(crate) struct Problems<'a> {
    /// $a \ge 0$ of each row.
    pub a: &'a [f64; ROWS],
    pub g: &'a [[f64; ROWS]],
    /// The probabilities to start from; `None` for $\sigma(g)$.
    pub near: Option<&'a [[f64; ROWS]]>,
}

/// As [`solve_single`](super::solve_single), for several rows: writes the probabilities of the solutions to
/// `p`. Returns which rows were solved: the others need more steps than are made here, and their numbers are
/// not solutions. `scratch` has three entries for each class.
pub(crate) fn solve_rows(
    problems: Problems<'_>,
    p: &mut [[f64; ROWS]],
    scratch: &mut [[f64; ROWS]],
) -> [bool; ROWS] {
    let classes = problems.g.len();
    assert_eq!((p.len(), scratch.len()), (classes, 3 * classes), "lists of classes");
    let (z, rest) = scratch.split_at_mut(classes);
    let (u, share) = rest.split_at_mut(classes);
    if let Some(near) = problems.near {
        u.copy_from_slice(near);
    }
    Arch::new().dispatch(Newton { problems, z, p, u, share })
}

/// The vectors of a list that has an entry of [`ROWS`] numbers for each class.
#[inline(always)]
fn vectors<S: Simd>(list: &[[f64; ROWS]]) -> &[S::f64s] {
    S::as_simd_f64s(list.as_flattened()).0
}

#[inline(always)]
fn vectors_mut<S: Simd>(list: &mut [[f64; ROWS]]) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(list.as_flattened_mut()).0
}

/// Newton's method from `u`, as in [`Step`](super::Step); returns which rows were solved.
struct Newton<'a> {
    problems: Problems<'a>,
    z: &'a mut [[f64; ROWS]],
    p: &'a mut [[f64; ROWS]],
    u: &'a mut [[f64; ROWS]],
    share: &'a mut [[f64; ROWS]],
}

impl WithSimd for Newton<'_> {
    type Output = [bool; ROWS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [bool; ROWS] {
        let stride = ROWS / S::F64_LANES;
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|number| simd.splat_f64s(number));
        let (a, g) = (vectors::<S>(std::slice::from_ref(self.problems.a)), vectors::<S>(self.problems.g));
        let [z, p, u, share] = [self.z, self.p, self.u, self.share].map(|list| vectors_mut::<S>(list));
        let mut solved = [false; ROWS];
        for (part, solved) in solved.chunks_exact_mut(S::F64_LANES).enumerate() {
            let (a, g) = (a[part], &g[part..]);
            let [z, p, u, share] = [&mut *z, &mut *p, &mut *u, &mut *share].map(|list| &mut list[part..]);
            if self.problems.near.is_none() {
                // $\sigma(g)$.
                u.iter_mut().step_by(stride).for_each(|u| *u = zero);
                let scale = exponentials(simd, a, (g, u), stride, (z, p));
                for at in (0..z.len()).step_by(stride) {
                    u[at] = simd.mul_f64s(p[at], scale);
                }
            }
            if simd.reduce_max_f64s(a) > LARGE {
                start(simd, a, g, stride, u);
            }
            // The part of each row's step that is taken: none for rows that were solved before.
            let mut tau = zero;
            let mut steps = 0;
            while steps < MOST_STEPS && solved.contains(&false) {
                steps += 1;
                let scale = exponentials(simd, a, (g, u), stride, (z, p));

                // $1/M$ of every class, and the sums of Sherman and Morrison's formula.
                let [mut correction, mut denominator] = [zero; 2];
                for at in (0..z.len()).step_by(stride) {
                    p[at] = simd.mul_f64s(p[at], scale);
                    share[at] = simd.div_f64s(one, simd.mul_add_e_f64s(a, p[at], one));
                    let lost = simd.sub_f64s(one, share[at]);
                    correction = simd.mul_add_e_f64s(lost, simd.sub_f64s(u[at], p[at]), correction);
                    denominator = simd.mul_add_e_f64s(p[at], share[at], denominator);
                }
                let correction = simd.div_f64s(correction, denominator);

                // $-\delta$, in the place of $1/M$, and the step.
                let mut longest = zero;
                for at in (0..z.len()).step_by(stride) {
                    let difference = simd.sub_f64s(u[at], p[at]);
                    share[at] = simd.mul_f64s(share[at], simd.mul_add_e_f64s(p[at], correction, difference));
                    longest = simd.max_f64s(longest, simd.abs_f64s(share[at]));
                }
                let step = simd.mul_f64s(a, longest);
                let rows =
                    lanes_mut::<f64, _>(&mut tau).iter_mut().zip(lanes::<f64, _>(&step)).zip(&mut *solved);
                for ((tau, step), solved) in rows {
                    *tau = if *solved { 0.0 } else { damping(*step) };
                    *solved |= *step <= LAST_SINGLE;
                }
                for at in (0..z.len()).step_by(stride) {
                    u[at] = simd.sub_f64s(u[at], simd.mul_f64s(tau, share[at]));
                }
            }
            // The last step $x$ of a row changes its exponentials by the factor $e^x$, of which three terms
            // are enough.
            let (tau, mut total) = (simd.mul_f64s(a, tau), zero);
            for at in (0..z.len()).step_by(stride) {
                let x = simd.mul_f64s(tau, share[at]);
                let factor = simd.mul_add_e_f64s(simd.mul_add_e_f64s(x, half, one), x, one);
                p[at] = simd.mul_f64s(p[at], factor);
                total = simd.add_f64s(total, p[at]);
            }
            let scale = simd.div_f64s(one, total);
            for p in p.iter_mut().step_by(stride) {
                *p = simd.mul_f64s(*p, scale);
            }
        }
        solved
    }
}

/// The start of [`flat_start`](crate::kernel::flat_start): its eq. (1) in place of `u`, for every row whose
/// `a` is above [`LARGE`] and at most [`HUGE`].
#[inline(always)]
fn start<S: Simd>(simd: S, a: S::f64s, g: &[S::f64s], stride: usize, u: &mut [S::f64s]) {
    let [zero, one] = [0.0, 1.0].map(|number| simd.splat_f64s(number));
    let mut replaced = zero;
    for (replaced, a) in lanes_mut::<f64, _>(&mut replaced).iter_mut().zip(lanes::<f64, _>(&a)) {
        *replaced = if *a > LARGE && *a <= HUGE { 1.0 } else { 0.0 };
    }
    let kept = simd.sub_f64s(one, replaced);
    let a = simd.max_f64s(a, one);
    let mut top = g[0];
    for g in g.iter().step_by(stride) {
        top = simd.max_f64s(top, *g);
    }
    let mut t = simd.sub_f64s(zero, a);
    for _ in g.iter().step_by(stride) {
        let (mut sum, mut count) = (simd.sub_f64s(zero, a), zero);
        for g in g.iter().step_by(stride) {
            let above = simd.max_f64s(simd.sub_f64s(simd.sub_f64s(*g, top), t), zero);
            sum = simd.add_f64s(sum, above);
            // 1 if it is above t; the numbers are not so small that the product would be less.
            count = simd.add_f64s(count, simd.min_f64s(simd.mul_f64s(above, simd.splat_f64s(1e100)), one));
        }
        let further = simd.max_f64s(simd.div_f64s(sum, count), zero);
        t = simd.add_f64s(t, further);
        if simd.reduce_max_f64s(further) == 0.0 {
            break;
        }
    }
    for at in (0..u.len()).step_by(stride) {
        let above = simd.max_f64s(simd.sub_f64s(simd.sub_f64s(g[at], top), t), zero);
        let share = simd.mul_f64s(simd.div_f64s(above, a), replaced);
        u[at] = simd.mul_add_e_f64s(kept, u[at], share);
    }
}

/// Writes $z = g - a u$ and $e^{z - z_{\max}}$ of every class; returns one divided by the sum of the latter.
#[inline(always)]
fn exponentials<S: Simd>(
    simd: S,
    a: S::f64s,
    (g, u): (&[S::f64s], &[S::f64s]),
    stride: usize,
    (z, p): (&mut [S::f64s], &mut [S::f64s]),
) -> S::f64s {
    let mut largest = simd.splat_f64s(f64::NEG_INFINITY);
    for at in (0..z.len()).step_by(stride) {
        z[at] = simd.sub_f64s(g[at], simd.mul_f64s(a, u[at]));
        largest = simd.max_f64s(largest, z[at]);
    }
    let mut total = simd.splat_f64s(0.0);
    for at in (0..z.len()).step_by(stride) {
        p[at] = exp_of_negative(simd, simd.sub_f64s(z[at], largest));
        total = simd.add_f64s(total, p[at]);
    }
    simd.div_f64s(simd.splat_f64s(1.0), total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::diagonal_fixed_point::{scratch_len, solve_single};
    use proptest::prelude::*;

    proptest! {
        /// Rows are solved as by themselves; those that take too many steps are told apart.
        #[test]
        fn rows_are_solved_as_alone(
            classes in 2..12usize,
            entries in prop::collection::vec((0.0..1.0f64, prop::array::uniform11(-1.0..1.0f64)), ROWS),
            scale in prop::sample::select(vec![0.0, 1e-3, 0.3, 3.0, 100.0, 1e4]),
            starts_near in any::<bool>(),
        ) {
            let a: [f64; ROWS] = std::array::from_fn(|row| scale * entries[row].0);
            let g: Vec<[f64; ROWS]> =
                (0..classes).map(|k| std::array::from_fn(|row| (3.0 + scale) * entries[row].1[k])).collect();
            let near = vec![[1.0 / classes as f64; ROWS]; classes];
            let near = starts_near.then_some(&near[..]);
            let (mut p, mut scratch) = (vec![[f64::NAN; ROWS]; classes], vec![[f64::NAN; ROWS]; 3 * classes]);
            let solved = solve_rows(Problems { a: &a, g: &g, near }, &mut p, &mut scratch);
            for row in 0..ROWS {
                let column = |list: &[[f64; ROWS]]| list.iter().map(|entry| entry[row]).collect::<Vec<f64>>();
                let (mut own_z, mut own_p) = (vec![0.0; classes], vec![0.0; classes]);
                let (a, near, mut scratch) = (vec![a[row]; classes], near.map(column), vec![0.0; scratch_len(classes)]);
                solve_single(&a, &column(&g), near.as_deref(), &mut own_z, &mut own_p, &mut scratch);
                prop_assert!(solved[row] || scale > 100.0, "not solved with a = {}", a[0]);
                if !solved[row] {
                    continue;
                }
                for (own, got) in own_p.iter().zip(column(&p)) {
                    prop_assert!((own - got).abs() < 1e-9, "{own} alone, {got} with others");
                }
            }
        }
    }

    /// A row that was solved stays as it is while others take further steps.
    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let solve = |a: [f64; ROWS]| {
            let g: Vec<[f64; ROWS]> =
                [0.3, -0.2, 1.0].map(|g| std::array::from_fn(|row| g * (1.0 + row as f64))).into();
            let (mut p, mut scratch) = (g.clone(), vec![[0.0; ROWS]; 9]);
            solve_rows(Problems { a: &a, g: &g, near: None }, &mut p, &mut scratch);
            p
        };
        let (all, some) = (solve([0.4; ROWS]), solve(std::array::from_fn(|row| [0.4, 1e9][row % 2])));
        for (all, some) in all.iter().zip(&some) {
            for row in (0..ROWS).step_by(2) {
                assert_eq!(all[row].to_bits(), some[row].to_bits(), "row {row}");
            }
        }
    }
}
