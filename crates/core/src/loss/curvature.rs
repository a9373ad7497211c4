//! Curvature constants: the part of the Hessian that a quadratic lower bound of the logistic loss may have.
//!
//! FOLKLORE (Agarwal, Kale, Zimmert, "Efficient Methods for Online Multiclass Logistic Regression"), AIOLI
//! and GAF (Jézéquel, Gaillard, Rudi, 2020 and 2021) replace the logistic loss by a quadratic that touches it
//! at logits $b$,
//!
//! $$q(a) = \ell(b) + \langle p - y, a - b \rangle + \gamma (a - b)^\top S(b) (a - b), \qquad (1)$$
//!
//! with $p = \sigma(b)$ and $S = \mathrm{diag}(p) - pp^\top$, and need $q \le \ell$ (theory: curvature 1.1)
//! for every $b$ and every logit vector $a$ of a comparator. The valid constants depend only on the
//! comparators' spread $D \ge \max_i a_i - \min_i a_i$, through $L = D + \ln(K-1)$ ([`log_odds`]).
//!
//! | $L$ | 0 | 0.5 | 1 | 2 | 4 | 8 | 20 | 100 |
//! |---|---|---|---|---|---|---|---|---|
//! | [`tight`] | .5 | .49318 | .47411 | .41369 | .28877 | .15533 | .057982 | .010476 |
//! | [`safe`] | .5 | .4 | .3333 | .25 | .1667 | .1 | .04545 | .00980 |
//! | [`aioli_paper`], $K = 2$ | .5 | .3333 | .25 | .1667 | .1 | .0556 | .0238 | .00495 |
//! | [`folklore_paper`], $K = 2$ | 2.885 | 1.676 | 1.181 | .7426 | .4262 | .2301 | .09665 | .01986 |
//!
//! Deviations: [`safe`] and [`tight`] are not in the papers; [`safe`] repairs the argument of FOLKLORE's
//! Lemma 3.1.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::param::{ParamError, positive};

/// Which coefficient $\gamma$ of the quadratic surrogate (1) a learner uses.
///
/// Written and parsed as `safe`, `tight`, `paper` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Curvature {
    /// [`safe`]: a lower bound of the loss, in closed form.
    #[default]
    Safe,
    /// [`tight`]: the largest coefficient that gives a lower bound of the loss.
    Tight,
    /// The constant that the learner's own paper prints. FOLKLORE's carries no guarantee, see
    /// [`folklore_paper`].
    Paper,
    /// This coefficient, finite and > 0, valid or not.
    Value(f64),
}

impl Curvature {
    /// The coefficient for comparators with log-odds at most `log_odds` ($L$, see [`log_odds`]), where the
    /// learner's own paper prints `paper`.
    pub fn coefficient(self, log_odds: f64, paper: f64) -> f64 {
        match self {
            Curvature::Safe => safe(log_odds),
            Curvature::Tight => tight(log_odds),
            Curvature::Paper => paper,
            Curvature::Value(value) => value,
        }
    }
}

/// A limit on coefficients: none above 1/2 is valid, and beyond the limit rounding errors dominate.
const LARGEST_COEFFICIENT: f64 = 1e3;

/// Checks the coefficient of a learner.
///
/// # Errors
/// If it is not finite, not > 0, or above the limit.
pub fn checked(coefficient: f64) -> Result<f64, ParamError> {
    let coefficient = positive("curvature", coefficient)?;
    if coefficient > LARGEST_COEFFICIENT {
        let need = "at most 1000: none above 1/2 is valid for the loss";
        return Err(ParamError::invalid("curvature", coefficient, need));
    }
    Ok(coefficient)
}

/// A value of the parameter that is not a curvature.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("the curvature '{0}' is neither safe, tight, paper nor a number > 0")]
pub struct CurvatureError(String);

impl FromStr for Curvature {
    type Err = CurvatureError;

    fn from_str(text: &str) -> Result<Self, CurvatureError> {
        match text {
            "safe" => Ok(Curvature::Safe),
            "tight" => Ok(Curvature::Tight),
            "paper" => Ok(Curvature::Paper),
            _ => match text.parse() {
                Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(Curvature::Value(value)),
                _ => Err(CurvatureError(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Curvature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Curvature::Safe => f.write_str("safe"),
            Curvature::Tight => f.write_str("tight"),
            Curvature::Paper => f.write_str("paper"),
            Curvature::Value(value) => write!(f, "{value}"),
        }
    }
}

impl crate::param::ParamValue for Curvature {
    const KIND: crate::param::Kind = crate::param::Kind::Float;

    const WORDS: &'static [&'static str] = &["safe", "tight", "paper"];

    const NEED: &'static str = "safe, tight, paper or a number > 0";

    fn from_value(value: &crate::param::Value) -> Option<Self> {
        value.to_string().parse().ok()
    }

    fn to_value(&self) -> crate::param::Value {
        match self {
            Curvature::Value(value) => crate::param::Value::from(*value),
            word => crate::param::Value::Text(word.to_string()),
        }
    }
}

/// Largest logit spread $D = 2BR$ of comparators whose rows satisfy $\lVert w_k \rVert_2 \le B$, for
/// $\lVert x \rVert_2 \le R$.
pub fn rows_spread(norm: f64, radius: f64) -> f64 {
    2.0 * norm * radius
}

/// Largest logit spread $D = \sqrt{2} BR$ of comparators with $\lVert W \rVert_F \le B$: two rows differ by a
/// vector of norm at most $\sqrt{2} B$.
pub fn frobenius_spread(norm: f64, radius: f64) -> f64 {
    std::f64::consts::SQRT_2 * norm * radius
}

/// Largest $|\theta^\top x| = BR$ of binary comparators with $\lVert \theta \rVert_2 \le B$.
pub fn euclidean_spread(norm: f64, radius: f64) -> f64 {
    norm * radius
}

/// $L = D + \ln(K-1)$: the largest log-odds of one of `classes` $K \ge 2$ classes against all others
/// together, if the logits have spread at most `spread` $D$.
pub fn log_odds(spread: f64, classes: usize) -> f64 {
    spread + ((classes - 1) as f64).ln()
}

/// $\gamma_{\text{safe}} = 1/(2+L)$, a valid coefficient for every $L \ge 0$.
///
/// The proof is theory: curvature 2.1.
pub fn safe(log_odds: f64) -> f64 {
    1.0 / (2.0 + log_odds)
}

/// $\gamma^*(L)$, the largest valid coefficient for $L \ge 0$, less one part in $10^9$ to absorb rounding.
///
/// Its proof reduces the question to two classes (theory: curvature 2.2):
///
/// $$\gamma^*(L) = \min_b \frac{\zeta(-L) - \zeta(b) + \sigma(b)(L+b)}{\sigma(b)\sigma(-b)(L+b)^2}$$
///
/// with $\zeta$ the softplus and $\sigma$ the sigmoid function. The minimiser lies in $(-2-\ln(1+L), 0)$,
/// which is scanned; golden sections refine the best point. Decreasing in $L$, from $\gamma^*(0) = 1/2$; near
/// 0 it is $1/2 - L^2/36$.
pub fn tight(log_odds: f64) -> f64 {
    const SCAN: usize = 256;
    const SECTIONS: usize = 60;
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let value = |b: f64| bregman_ratio(b, log_odds + b);

    let left = (-log_odds).max(-2.0 - log_odds.ln_1p());
    let node = |at: usize| left * (1.0 - at as f64 / SCAN as f64);
    let best =
        (0..=SCAN).min_by(|&i, &j| value(node(i)).total_cmp(&value(node(j)))).expect("the scan has nodes");

    let (mut low, mut high) = (node(best.saturating_sub(1)), node((best + 1).min(SCAN)));
    let mut minimum = value(node(best));
    for _ in 0..SECTIONS {
        let width = GOLDEN * (high - low);
        let (inner_low, inner_high) = (high - width, low + width);
        let (at_low, at_high) = (value(inner_low), value(inner_high));
        minimum = minimum.min(at_low).min(at_high);
        if at_low < at_high {
            high = inner_high;
        } else {
            low = inner_low;
        }
    }
    minimum * (1.0 - 1e-9)
}

/// The softplus function's Bregman divergence from $b$ to $b - u$, divided by $\zeta''(b) u^2$, for
/// $u \ge 0$.
///
/// It is $1/2$ at $u = 0$, where the quotient cancels: a Bernoulli variable's cumulants give the series.
fn bregman_ratio(b: f64, u: f64) -> f64 {
    let q = 1.0 / (1.0 + (-b).exp());
    let variance = q / (1.0 + b.exp());
    if u < 1e-2 {
        let skew = 1.0 - 2.0 * q;
        let fourth = 1.0 - 6.0 * variance;
        let fifth = skew * (1.0 - 12.0 * variance);
        let sixth = 1.0 - 30.0 * variance + 120.0 * variance * variance;
        return 0.5 + u * (-skew / 6.0 + u * (fourth / 24.0 + u * (-fifth / 120.0 + u * sixth / 720.0)));
    }
    ((q * (-u).exp_m1()).ln_1p() + q * u) / (variance * u * u)
}

/// AIOLI's constant $1/(2(1+BR))$ (Lemma 5 of the 2020 paper), for binary labels and `spread` $D = BR$: valid
/// (theory: curvature 2.3), but up to 2.9 times smaller than [`tight`].
pub fn aioli_paper(spread: f64) -> f64 {
    0.5 / (1.0 + spread)
}

/// FOLKLORE's printed constant $1/(BR + \ln(K)/2)$ (Lemma 3.1), with `norm_radius` $= BR$ for the row ball.
///
/// **It carries no guarantee**: it is larger than [`tight`] for every $BR$ and $K$ (theory: curvature 3.1),
/// so the surrogate is not a lower bound of the loss, and for $BR$ up to about 1.3 the algorithm violates its
/// own theorem with it (theory: curvature 4.1). It exists to reproduce the paper.
pub fn folklore_paper(norm_radius: f64, classes: usize) -> f64 {
    1.0 / (norm_radius + 0.5 * (classes as f64).ln())
}

/// GAF's $\beta = 1/(\ln(K)/2 + BR + 1)$ for logistic loss, `norm_radius` $= BR$: its surrogate is (1) with
/// $\gamma = \beta/2$, a valid coefficient slightly below [`safe`] at $D = 2BR$.
pub fn gaf_beta(norm_radius: f64, classes: usize) -> f64 {
    1.0 / (0.5 * (classes as f64).ln() + norm_radius + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::logistic;
    use crate::testing::{assert_close, count, items, number, vector};
    use proptest::prelude::*;

    #[test]
    fn table_of_the_module() {
        let rows = [
            (0.0, 0.5, 0.5, 0.5, 2.885),
            (0.5, 0.49318, 0.4, 0.3333, 1.676),
            (1.0, 0.47411, 0.3333, 0.25, 1.181),
            (2.0, 0.41369, 0.25, 0.1667, 0.7426),
            (4.0, 0.28877, 0.1667, 0.1, 0.4262),
            (8.0, 0.15533, 0.1, 0.0556, 0.2301),
            (20.0, 0.057982, 0.04545, 0.0238, 0.09665),
            (100.0, 0.010476, 0.0098, 0.00495, 0.01986),
        ];
        for (l, tight_value, safe_value, aioli, folklore) in rows {
            assert!((tight(l) - tight_value).abs() < 5.1e-6, "tight({l}) = {}", tight(l));
            for (got, want) in [(safe(l), safe_value), (aioli_paper(l), aioli)] {
                assert!((got - want).abs() < 5.1e-5, "L = {l}: {got} {want}");
            }
            assert!((folklore_paper(l / 2.0, 2) / folklore - 1.0).abs() < 5e-4, "folklore, L = {l}");
        }
    }

    #[test]
    fn reference_values() {
        let reference = vector("curvature");
        let cases = items(&reference["cases"]);
        assert_eq!(cases.len(), 35);
        for case in cases {
            let of = |key: &str| number(&case[key]);
            let (classes, br) = (count(&case["K"]), of("BR"));
            let l = log_odds(rows_spread(br, 1.0), classes);
            let what = case.to_string();
            assert_close(l, of("L"), 1e-12, &what);
            assert_close(safe(l), of("safe"), 1e-12, &what);
            assert_close(tight(l), of("tight"), 1e-9, &what);
            assert_close(folklore_paper(br, classes), of("paper"), 1e-12, &what);
            assert_close(gaf_beta(br, classes) / 2.0, of("gaf"), 1e-12, &what);
        }
    }

    #[test]
    fn tight_is_decreasing_and_between_its_bounds() {
        let mut previous = 0.5;
        for step in 0..600 {
            let l = 1e-6 * 10f64.powf(step as f64 / 50.0);
            let value = tight(l);
            assert!(value <= previous, "tight({l}) = {value} > {previous}");
            assert!(safe(l) <= value * (1.0 + 1e-8) && value <= 0.5, "L = {l}: {value}");
            previous = value;
        }
        for l in [1e-9, 1e-4, 1e-3, 1e-2] {
            assert!((tight(l) - (0.5 - l * l / 36.0)).abs() < 1e-9 + l.powi(4), "L = {l}");
        }
    }

    #[test]
    fn the_scanned_interval_holds_the_minimiser() {
        for l in [0.01_f64, 0.3, 1.0, 3.0, 10.0, 50.0, 1e3, 1e6] {
            let wide = (1..=40_000).map(|i| -l.min(60.0) + i as f64 * (l.min(60.0) + 5.0) / 40_000.0);
            let minimum = wide.map(|b| bregman_ratio(b, l + b)).fold(f64::INFINITY, f64::min);
            assert!(
                tight(l) <= minimum && minimum <= tight(l) * (1.0 + 1e-5),
                "L = {l}: {} {minimum}",
                tight(l)
            );
        }
    }

    #[test]
    fn series_meets_quotient() {
        for b in [-5.0, -1.0, -0.1, 0.0, 2.0] {
            let (below, above) = (bregman_ratio(b, 0.01 - 1e-12), bregman_ratio(b, 0.01));
            assert!((below - above).abs() < 1e-11, "b = {b}: {below} {above}");
        }
    }

    /// `loss(a) - q(a)` of (1); the label drops out.
    fn slack(a: &[f64], b: &[f64], gamma: f64) -> f64 {
        let mut p = vec![0.0; b.len()];
        crate::kernel::softmax::softmax(b, &mut p);
        let step = || a.iter().zip(b).map(|(a, b)| a - b);
        let mean: f64 = step().zip(&p).map(|(s, p)| s * p).sum();
        let variance: f64 = step().zip(&p).map(|(s, p)| p * (s - mean) * (s - mean)).sum();
        logistic::log_sum_exp(a) - logistic::log_sum_exp(b) - mean - gamma * variance
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn quadratic_is_a_lower_bound(
            unit in prop::collection::vec(0.0..1.0f64, 2..6),
            b in prop::collection::vec(-6.0..6.0f64, 6),
            spread in 0.0..12.0f64,
        ) {
            let classes = unit.len();
            let a: Vec<f64> = unit.iter().map(|u| u * spread).collect();
            let l = log_odds(spread, classes);
            for gamma in [safe(l), tight(l), gaf_beta(spread / 2.0, classes) / 2.0] {
                prop_assert!(slack(&a, &b[..classes], gamma) >= -1e-12, "gamma {gamma}");
            }
            if classes == 2 {
                prop_assert!(slack(&a, &b[..2], aioli_paper(spread)) >= -1e-12);
            }
        }

        /// One class against all others together is the worst case of the proof.
        #[test]
        fn larger_coefficients_are_no_lower_bound(classes in 2..9usize, spread in 0.1..12.0f64) {
            let mut a = vec![0.0; classes];
            a[0] = -spread;
            let l = log_odds(spread, classes);
            let worst = |gamma: f64| {
                (1..400).map(|i| {
                    let mut b = vec![0.0; classes];
                    b[0] = -spread + i as f64 * (l + 2.0) / 400.0;
                    slack(&a, &b, gamma)
                }).fold(f64::INFINITY, f64::min)
            };
            prop_assert!(worst(tight(l)) >= -1e-12);
            prop_assert!(worst(1.05 * tight(l)) < -1e-9);
            prop_assert!(worst(folklore_paper(spread / 2.0, classes)) < -1e-9);
        }
    }

    #[test]
    fn parses_what_it_prints() {
        for curvature in [Curvature::Safe, Curvature::Tight, Curvature::Paper, Curvature::Value(0.125)] {
            assert_eq!(curvature.to_string().parse(), Ok(curvature));
        }
        for bad in ["", "Safe", "0", "-1", "inf", "nan", "inf"] {
            let error = bad.parse::<Curvature>().expect_err(bad).to_string();
            assert!(error.contains(&format!("'{bad}'")), "{error}");
        }
        assert_eq!(Curvature::Safe.coefficient(2.0, 9.0), 0.25);
        assert_eq!(Curvature::Paper.coefficient(2.0, 9.0), 9.0);
    }
}
