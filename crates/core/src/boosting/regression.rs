//! Boosting regression: learns how far to trust the class that a weak learner predicts (theory: boosting
//! 3.1).
//!
//! Takes logits $s$ and the class $l$ that a weak learner predicts, and returns logits in which only that of
//! $l$ is changed. Its comparators are $s + \alpha e_l$ for a fixed $\alpha \in [-2, 2]$; it is binary
//! FOLKLORE for the label "$l$ is right" with the two features $(f, 1)$.
//!
//! ## Reference
//!
//! Naman Agarwal, Satyen Kale, Julian Zimmert, *Efficient Methods for Online Multiclass Logistic Regression*,
//! ALT 2022, arXiv:2110.03020: section 4.2 and Algorithm 3. `references.bib`: `agarwal2022folklore`.
//!
//! With $r = \ln\sum_{k \ne l} e^{s_k}$, $R = 1 + \ln T$, $B = 2$, $\lambda = 2R/B$ and
//! $q = 1/(2 + 2BR + \ln 2)$:
//!
//! $$ x = (\mathrm{clip}(\tfrac12(s_l - r), -\ln T, \ln T),\ 1), \qquad
//! v + \tfrac14\ x^\top A^{-1} x\ \tanh \tfrac v2 = -\tfrac12\ x^\top A^{-1} G, \qquad \hat s_l = v + r,
//!    \tag{1} $$
//! $$ p = \tfrac1{1 + e^{-v}}, \quad h = p(1 - p), \qquad
//!    G \mathrel{+}= (p - 1[y = l] - 2qhv)\ x, \quad A \mathrel{+}= q h\ x x^\top. \tag{2} $$
//!
//! The regret is at most $4R + \tfrac1q \ln(1 + T) + e^2/T$ ([`regret`]).
//!
//! ## Deviations
//!
//! * The printed curvature $1/(BR + \tfrac12\ln K)$ is larger than any valid one (see
//!   [`crate::full::folklore`]).
//! * The paper shifts all logits; changing only that of $l$ leads to the same forecast, and logits do not
//!   drift.
//! * Anytime: in round $t$ every $T$ is replaced by $t + 1$. All surrogates remain lower bounds, and clipping
//!   costs $\sum_t e^2/t^2$; no theorem is proved for it.

use crate::kernel::scalar_root::shrink;
use crate::param::{Kind, ParamError, ParamValue, Value};

/// Bound $B$ on the comparator.
const NORM: f64 = 2.0;

/// The number of rounds, which determines constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// This many, at least 1.
    Rounds(u64),
    /// Unknown: constants that depend on $T$ increase with the rounds.
    Anytime,
}

impl ParamValue for Horizon {
    const KIND: Kind = Kind::Integer;

    const WORDS: &'static [&'static str] = &["anytime"];

    const NEED: &'static str = "a whole number >= 1, or anytime";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text == "anytime" => Some(Self::Anytime),
            value => u64::from_value(value).map(Self::Rounds),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Rounds(rounds) => Value::Integer(*rounds),
            Self::Anytime => Value::from("anytime"),
        }
    }
}

impl Horizon {
    /// Rejects a horizon of 0 rounds.
    pub(crate) fn check(self) -> Result<Self, ParamError> {
        match self {
            Self::Rounds(0) => Err(ParamError::invalid("horizon", 0, Self::NEED)),
            horizon => Ok(horizon),
        }
    }

    /// The constants of round `round`, counted from 0.
    pub fn constants(self, round: u64) -> Constants {
        let rounds = match self {
            Self::Rounds(rounds) => rounds,
            Self::Anytime => round.saturating_add(2),
        };
        Constants::new(rounds.max(2) as f64)
    }
}

/// Constants that depend on the number of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// $\ln T$.
    clip: f64,
    /// $\lambda / 2$.
    prior: f64,
    /// $q$.
    curvature: f64,
}

impl Constants {
    fn new(rounds: f64) -> Self {
        let radius = 1.0 + rounds.ln();
        Self {
            clip: rounds.ln(),
            prior: radius / NORM,
            curvature: 1.0 / (2.0 + 2.0 * NORM * radius + std::f64::consts::LN_2),
        }
    }
}

/// The bound on the regret after `rounds` rounds with that horizon: $4R + \tfrac1q\ln(1 + T) + e^2/T$
/// (theory: boosting 3.2).
pub fn regret(rounds: u64) -> f64 {
    let t = rounds.max(2) as f64;
    let Constants { clip, curvature, .. } = Constants::new(t);
    4.0 * (1.0 + clip) + (1.0 + t).ln() / curvature + 1f64.exp().powi(2) / t
}

/// $\ln\sum_{k \ne l} e^{s_k}$ for finite logits; at least two classes.
pub(super) fn rest(logits: &[f64], l: usize) -> f64 {
    let others = || logits.iter().enumerate().filter(|(k, _)| *k != l).map(|(_, s)| *s);
    let max = others().fold(f64::NEG_INFINITY, f64::max);
    max + others().map(|s| (s - max).exp()).sum::<f64>().ln()
}

/// One regression: the sums of binary FOLKLORE in two dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoostingRegression {
    /// $\sum q h\ (f^2, f, 1)$ and $G$, all of the state.
    sums: [f64; 5],
}

impl BoostingRegression {
    /// The new logit $\hat s_l$ of class `l`, given `logits` $s$. Eq. (1).
    pub fn predict(&self, logits: &[f64], l: usize, constants: &Constants) -> f64 {
        self.predict_beside(rest(logits, l), logits[l], constants)
    }

    /// As [`BoostingRegression::predict`], given `rest` $= r$ and `before` $= s_l$.
    pub(super) fn predict_beside(&self, rest: f64, before: f64, constants: &Constants) -> f64 {
        let f = (0.5 * (before - rest)).clamp(-constants.clip, constants.clip);
        let [a, b, c, g, h] = self.sums;
        let (a, c) = (a + constants.prior, c + constants.prior);
        let determinant = a * c - b * b;
        // A⁻¹x = (cf - b, a - bf) / det A.
        let (first, second) = ((c * f - b) / determinant, (a - b * f) / determinant);
        let v = shrink(-0.5 * (first * g + second * h), 0.25 * (first * f + second));
        v + rest
    }

    /// Learns whether class `l` was right; `logits` are those before it was changed to `logit`. Eq. (2).
    pub fn update(&mut self, logits: &[f64], l: usize, logit: f64, right: bool, constants: &Constants) {
        self.update_beside(rest(logits, l), logits[l], logit, right, constants);
    }

    /// As [`BoostingRegression::update`], given `rest` $= r$ and `before` $= s_l$.
    pub(super) fn update_beside(
        &mut self,
        rest: f64,
        before: f64,
        logit: f64,
        right: bool,
        constants: &Constants,
    ) {
        let f = (0.5 * (before - rest)).clamp(-constants.clip, constants.clip);
        let v = logit - rest;
        let tail = (-v.abs()).exp();
        let (p, h) = if v >= 0.0 { (1.0, tail) } else { (tail, tail) };
        let (p, h) = (p / (1.0 + tail), h / ((1.0 + tail) * (1.0 + tail)));
        let curved = constants.curvature * h;
        let slope = p - f64::from(u8::from(right)) - 2.0 * curved * v;
        for (sum, change) in self.sums.iter_mut().zip([curved * f * f, curved * f, curved, slope * f, slope])
        {
            *sum += change;
        }
    }

    /// The state.
    pub(crate) fn sums(&mut self) -> &mut [f64] {
        &mut self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::logistic;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{assert_all_close, assert_close, count, items, numbers, vector};
    use proptest::prelude::*;

    #[test]
    fn the_reference_is_followed() {
        let reference = vector("boostreg_mild");
        let horizon = Horizon::Rounds(count(&reference["T"]) as u64);
        let mut regression = BoostingRegression::default();
        for (t, round) in items(&reference["rounds"]).iter().enumerate() {
            let (logits, l, y) = (numbers(&round["s"]), count(&round["l"]), count(&round["y"]));
            let constants = horizon.constants(t as u64);
            let mut got = logits.clone();
            got[l] = regression.predict(&logits, l, &constants);
            assert_all_close(&got, &numbers(&round["s_hat"]), 1e-9, &format!("round {t}"));
            regression.update(&logits, l, got[l], y == l, &constants);
        }
    }

    /// T = 2, two classes, s = 0, l = 0: r = 0 and f = 0, so x = (0, 1) and v = 0. If l is right then G = (0,
    /// -1/2) and A₂₂ = λ/2 + q/4; the same row then has v + tanh(v/2)/(4A₂₂) = 1/(4A₂₂).
    #[test]
    fn a_round_by_hand() {
        let constants = Horizon::Rounds(2).constants(0);
        let radius = 1.0 + 2f64.ln();
        let q = 1.0 / (2.0 + 4.0 * radius + 2f64.ln());
        let mut regression = BoostingRegression::default();
        assert_eq!(regression.predict(&[0.0, 0.0], 0, &constants), 0.0);
        regression.update(&[0.0, 0.0], 0, 0.0, true, &constants);
        let v = regression.predict(&[0.0, 0.0], 0, &constants);
        let a = radius / 2.0 + q / 4.0;
        assert_close(v + (0.5 * v).tanh() / (4.0 * a), 0.25 / a, 1e-14, "v");
    }

    /// The regret against the best of many α, on streams with logits as large as `size`.
    fn worst_regret(size: f64, horizon: Horizon, rounds: u64, seed: u64) -> f64 {
        let mut rng = Rng::new(seed, 0);
        let (classes, mut regression) = (4, BoostingRegression::default());
        let alphas: Vec<f64> = (-20..=20).map(|a| f64::from(a) * 0.1).collect();
        let (mut loss, mut losses) = (0.0, vec![0.0; alphas.len()]);
        for t in 0..rounds {
            let mut logits: Vec<f64> = (0..classes).map(|_| size * (2.0 * rng.uniform() - 1.0)).collect();
            let l = rng.below(classes as u64) as usize;
            // The weak learner is right in a fifth or in four fifths of the rounds.
            let right = rng.uniform() < if seed.is_multiple_of(2) { 0.8 } else { 0.2 };
            let y = if right { l } else { (l + 1) % classes };
            for (total, alpha) in losses.iter_mut().zip(&alphas) {
                let mut moved = logits.clone();
                moved[l] += alpha;
                *total += logistic::loss(&moved, y);
            }
            let constants = horizon.constants(t);
            let logit = regression.predict(&logits, l, &constants);
            regression.update(&logits, l, logit, right, &constants);
            logits[l] = logit;
            loss += logistic::loss(&logits, y);
        }
        loss - losses.into_iter().fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_regret_is_below_its_bound() {
        for size in [0.1, 3.0, 30.0, 800.0] {
            for seed in 0..6 {
                for rounds in [100, 1000] {
                    for horizon in [Horizon::Rounds(rounds), Horizon::Anytime] {
                        let got = worst_regret(size, horizon, rounds, seed);
                        let bound = regret(rounds);
                        assert!(got <= bound, "size {size}, T = {rounds}, {horizon:?}: {got} > {bound}");
                    }
                }
            }
        }
        // The order of magnitude, computed separately.
        assert_close(regret(100), 138.0, 0.01, "bound at T = 100");
        assert_close(regret(1000), 269.0, 0.01, "bound at T = 1000");
    }

    proptest! {
        #[test]
        fn forecasts_stay_finite(logits in prop::collection::vec(-800.0..800.0f64, 2..6), rounds in 1..60u64) {
            let mut regression = BoostingRegression::default();
            let l = rounds as usize % logits.len();
            for t in 0..rounds {
                let constants = Horizon::Anytime.constants(t);
                let logit = regression.predict(&logits, l, &constants);
                prop_assert!(logit.is_finite());
                regression.update(&logits, l, logit, t % 3 == 0, &constants);
            }
        }
    }
}
