//! The losses, as pure functions of scores (or of a margin) and the label.
//!
//! For a linear learner with scores $s = Wx$ the gradient of a loss in $W$ is $c \otimes x$, where $c \in
//! \mathbb{R}^K$ is the gradient in the scores; the functions here compute $c$.

pub mod curvature;
pub mod gap;
pub(crate) mod heavy;
pub mod hinge;
pub(crate) mod improper;
pub mod logistic;
pub mod smooth_hinge;

#[cfg(test)]
mod finite_difference {
    /// Panics unless `gradient` is the gradient of `loss` at `scores`.
    pub(super) fn check(loss: impl Fn(&[f64]) -> f64, scores: &[f64], gradient: &[f64]) {
        let step = 1e-6;
        for k in 0..scores.len() {
            let mut moved = scores.to_vec();
            moved[k] = scores[k] + step;
            let above = loss(&moved);
            moved[k] = scores[k] - step;
            let slope = (above - loss(&moved)) / (2.0 * step);
            assert!((slope - gradient[k]).abs() < 1e-7, "{scores:?}, class {k}: {slope} {}", gradient[k]);
        }
    }
}
