//! Confidence sequences: lower bounds on the mean of a policy's rewards that hold at every time, also if what
//! has logged learnt during the log.
//!
//! Terms $x_t \ge -k$ have the conditional mean $m_t \ge 0$, given all that came before. For every
//! predictable
//! $\hat x_t \in [0, 1]$ and $0 \le \lambda < 1$, with $y = x/(1+k)$,
//!
//! $$ \exp\Big(\textstyle\sum_t \lambda (y_t - \frac{m_t}{1+k}) - (-\ln(1-\lambda) - \lambda)(y_t - \hat y_t)^2\Big) $$
//!
//! is at most a martingale with the mean 1 (Fan, Grama and Liu 2015), and so is a mixture over several
//! $\lambda$ and $k$. By Ville's inequality it stays below $1/\alpha$ with probability $1 - \alpha$, which
//! bounds the mean of the $m_t$ from below: the empirical Bernstein confidence sequence of Waudby-Smith, Wu,
//! Ramdas, Karampatziakis and Mineiro (2024) with a mixture in place of a plug-in. Terms need no upper bound.

/// The number of $\lambda = 2^{-1}, 2^{-2}, \dots$
const STEPS: i32 = 24;

/// The values of $k$: how much of the estimates of rewards the doubly robust terms may use.
pub(super) const SHIFTS: [f64; 5] = [0.0, 1.0, 4.0, 16.0, 64.0];

/// The sums of terms that are at least $-k$.
#[derive(Clone, Copy, Debug)]
struct Terms {
    shift: f64,
    count: f64,
    /// $\sum x$.
    total: f64,
    /// $\sum y$.
    sum: f64,
    /// $\sum (y - \hat y)^2$.
    squares: f64,
}

impl Terms {
    fn add(&mut self, x: f64) {
        let scale = 1.0 / (1.0 + self.shift);
        let expected = (self.total / (1.0 + self.count)).clamp(0.0, 1.0);
        self.squares += (scale * (x - expected)).powi(2);
        self.sum += scale * x;
        self.total += x;
        self.count += 1.0;
    }

    /// The logarithm of the mixture over $\lambda$ for the mean `mean`.
    fn log_wealth(&self, mean: f64) -> f64 {
        let excess = self.sum - self.count * mean / (1.0 + self.shift);
        let one = |step: i32| {
            let (lambda, place) = (0.5f64.powi(step), f64::from(step));
            let cost = -(-lambda).ln_1p() - lambda;
            lambda * excess - cost * self.squares - (place * (place + 1.0)).ln()
        };
        log_sum_exp((1..=STEPS).map(one))
    }
}

/// A lower bound on a mean in [0, 1].
#[derive(Clone, Debug)]
pub(super) struct Lower {
    terms: Vec<Terms>,
}

impl Lower {
    /// For terms with each of the `shifts` $k \ge 0$, all of the same mean.
    pub(super) fn new(shifts: &[f64]) -> Self {
        let none = |shift: &f64| Terms { shift: *shift, count: 0.0, total: 0.0, sum: 0.0, squares: 0.0 };
        Self { terms: shifts.iter().map(none).collect() }
    }

    /// Adds a round: `term` is called with each shift, and returns a term of at least minus that.
    pub(super) fn add(&mut self, term: impl Fn(f64) -> f64) {
        self.terms.iter_mut().for_each(|terms| terms.add(term(terms.shift)));
    }

    /// The bound that holds with probability 1 - `miss`.
    pub(super) fn bound(&self, miss: f64) -> f64 {
        let threshold = (self.terms.len() as f64 / miss).ln();
        let refuted = |mean: f64| log_sum_exp(self.terms.iter().map(|one| one.log_wealth(mean))) >= threshold;
        if !refuted(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if refuted(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    most + terms.map(|term| (term - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A term of 1 in each of n rounds: the first prediction is 0, and then n/(n+1). Four rounds and λ = ½
    /// alone would give ½(4 - 4m) - (ln 2 - ½) Σ (1 - ŷ)² ≥ ln(2/δ).
    #[test]
    fn ones_by_hand() {
        let mut ones = Lower::new(&[0.0]);
        for _ in 0..4 {
            ones.add(|_| 1.0);
        }
        let squares = 1.0 + 0.25 + 1.0 / 9.0 + 1.0 / 16.0;
        let wealth = |mean: f64| 0.5 * (4.0 - 4.0 * mean) - (2f64.ln() - 0.5) * squares - 2f64.ln();
        let alone = (0..1000).map(|at| at as f64 / 1000.0).rfind(|mean| wealth(*mean) >= (1.0 / 0.5f64).ln());
        let (bound, alone) = (ones.bound(0.5), alone.unwrap_or(0.0));
        assert!(bound >= alone && bound < 1.0, "{bound} {alone}");
        for _ in 0..10_000 {
            ones.add(|_| 1.0);
        }
        assert!(ones.bound(0.025) > 0.998, "{}", ones.bound(0.025));
        assert_eq!(Lower::new(&SHIFTS).bound(0.05), 0.0);
    }
}
