//! The stream of AIOLI's figure 2 (Jézéquel, Gaillard, Rudi, *Efficient improper learning for online logistic
//! regression*, COLT 2020), after Hazan, Koren, Levy, *Logistic regression: tight bounds for stochastic and
//! online optimization*, COLT 2014.
//!
//! With $B = \ln n$, $\epsilon = 0.01$ and $\chi = \pm 1$, independently in every round: $(x, y) = (1 -
//! \sqrt\epsilon/(2B), +1)$ with probability $\sqrt\epsilon/(2B) + \chi\epsilon/B$, else $(\sqrt\epsilon/B,
//! -1)$.

use noregret::param::{ParamError, Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Made, Synthetic, fill};

const EPSILON: f64 = 0.01;

params! {
    /// Parameters of the adversarial stream.
    pub(super) struct AdversarialParams {
        /// The sign $\chi$, 1 or -1.
        chi: f64 = "1",
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let chi = AdversarialParams::from_values("adversarial", values)?.chi.unwrap_or(1.0);
    if chi.abs() != 1.0 {
        return Err(ParamError::invalid("chi", chi, "1 or -1"));
    }
    if rows < 3 {
        return Err(ParamError::invalid(
            "rows",
            rows,
            "at least 3: the stream is built for B = ln(rows) > 1",
        ));
    }
    let b = (rows as f64).ln();
    let root = EPSILON.sqrt();
    let probability = root / (2.0 * b) + chi * EPSILON / b;
    // The feature under a positive and under a negative label.
    let x = [1.0 - root / (2.0 * b), root / b];
    let mut rng = Rng::new(seed, 0);
    Ok(Synthetic::new(2, 1, move |row| {
        let positive = rng.uniform() < probability;
        fill(row, usize::from(positive), &[x[usize::from(!positive)]]);
    }))
}
