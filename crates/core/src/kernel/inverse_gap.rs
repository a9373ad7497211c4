//! Distributions over labels in which the probability decreases with the gap between a label's forecast loss
//! and the least one.
//!
//! `losses` are forecasts $\hat y_a$ of the labels' losses, `among` the labels on offer (`None`: all). The
//! others have probability 0, and $K$ is the number of labels on offer.

/// The label with the largest score, the first of several.
pub fn largest(scores: &[f64], among: Option<&[u32]>) -> usize {
    let mut candidates = indices(scores.len(), among);
    let first = candidates.next().expect("something can be played");
    candidates.fold(first, |best, at| if scores[at] > scores[best] { at } else { best })
}

/// SquareCB: $p_a = 1/(K + \gamma (\hat y_a - \hat y_b))$ for $a \ne b$, and the remaining probability for
/// the label $b$ = `best` with the least loss. `gamma` is >= 0.
pub fn square(losses: &[f64], best: usize, among: Option<&[u32]>, gamma: f64, out: &mut [f64]) {
    let k = indices(losses.len(), among).count() as f64;
    let gamma = gamma.min(f64::MAX); // An infinite one has no product with a gap of 0.
    spread(losses, among, best, |gap| 1.0 / (k + gamma * gap), out);
}

/// FastCB: $p_a = \hat y_b/(K \hat y_b + \gamma (\hat y_a - \hat y_b))$ for $a \ne b$, and the remaining
/// probability for the label $b$ = `best` with the least loss; probability 1 for it if $\hat y_b = 0$.
/// `gamma` is >= 0.
pub fn fast(losses: &[f64], best: usize, among: Option<&[u32]>, gamma: f64, out: &mut [f64]) {
    let k = indices(losses.len(), among).count() as f64;
    let gamma = gamma.min(f64::MAX);
    let floor = losses[best];
    let p = |gap: f64| if floor > 0.0 { floor / (k * floor + gamma * gap) } else { 0.0 };
    spread(losses, among, best, p, out);
}

/// Relative gaps: $p_a = 1/(K + \gamma (\hat y_a - \hat y_b)/(1 - \hat y_b))$ for $a \ne b$, and the
/// remaining probability for the label $b$ = `best` with the least loss: gaps relative to its reward. `gamma`
/// is >= 0.
pub fn relative(losses: &[f64], best: usize, among: Option<&[u32]>, gamma: f64, out: &mut [f64]) {
    let reward = 1.0 - losses[best];
    // If no label has a reward, there are no gaps.
    let gamma = if reward > 0.0 { gamma / reward } else { 0.0 };
    square(losses, best, among, gamma, out);
}

/// Writes `p(gap)` for all labels but `best`, which has the remaining probability.
fn spread(losses: &[f64], among: Option<&[u32]>, best: usize, p: impl Fn(f64) -> f64, out: &mut [f64]) {
    out.fill(0.0);
    let mut rest = 1.0;
    for at in indices(losses.len(), among).filter(|at| *at != best) {
        out[at] = p((losses[at] - losses[best]).max(0.0));
        rest -= out[at];
    }
    out[best] = rest;
}

/// The labels on offer.
pub fn indices(labels: usize, among: Option<&[u32]>) -> impl Iterator<Item = usize> + '_ {
    (0..among.map_or(labels, <[u32]>::len)).map(move |at| among.map_or(at, |among| among[at] as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Uniforms};
    use crate::testing::{assert_all_close, assert_close};

    fn least(losses: &[f64], among: Option<&[u32]>) -> usize {
        largest(&losses.iter().map(|loss| -loss).collect::<Vec<f64>>(), among)
    }

    /// K = 3, losses (0.2, 0.5, 0.9), γ = 10. SquareCB: 1/(3 + 3), 1/(3 + 7), the rest. FastCB: 0.2/(0.6 +
    /// 3), 0.2/(0.6 + 7).
    #[test]
    fn worked_rounds() {
        let losses = [0.2, 0.5, 0.9];
        let mut p = [0.0; 3];
        square(&losses, 0, None, 10.0, &mut p);
        assert_all_close(&p, &[11.0 / 15.0, 1.0 / 6.0, 0.1], 1e-15, "SquareCB");
        fast(&losses, 0, None, 10.0, &mut p);
        assert_all_close(&p, &[1.0 - 1.0 / 18.0 - 1.0 / 38.0, 1.0 / 18.0, 1.0 / 38.0], 1e-15, "FastCB");
        fast(&[0.3, 0.0, 0.0], 1, None, 10.0, &mut p);
        assert_eq!(p, [0.0, 1.0, 0.0], "a label that is surely right is played");
        for rule in [square, fast] {
            rule(&[0.5, 0.5, 0.9], 0, None, f64::INFINITY, &mut p);
            assert_close(p[1], 1.0 / 3.0, 1e-15, "equal losses, however large the scale is");
            assert!(p[2] < 1e-300, "{p:?}");
        }
    }

    /// Among labels 1 and 2 the formulas are those of two labels.
    #[test]
    fn labels_that_are_not_on_offer_are_never_played() {
        let mut p = [0.5; 3];
        let losses = [0.2, 0.5, 0.9];
        square(&losses, least(&losses, Some(&[1, 2])), Some(&[1, 2]), 10.0, &mut p);
        assert_all_close(&p, &[0.0, 5.0 / 6.0, 1.0 / 6.0], 1e-15, "SquareCB");
    }

    /// (1.2) of SquareCB's analysis at the worst-case losses, where it is tight, and at others.
    #[test]
    fn the_inequality_of_a_round_holds_and_is_tight() {
        let mut rng = Rng::new(3, 0);
        let mut largest: f64 = 0.0;
        for _ in 0..2000 {
            let k = 2 + rng.below(7) as usize;
            let gamma = 10f64.powf(4.0 * rng.uniform());
            let losses: Vec<f64> = (0..k).map(|_| rng.uniform()).collect();
            let mut p = vec![0.0; k];
            square(&losses, least(&losses, None), None, gamma, &mut p);
            for star in 0..k {
                // f_a = ŷ_a + 2/γ, f_* = ŷ_* - 2(1 - p_*)/(γ p_*).
                let f = |a: usize| {
                    let down = 2.0 * (1.0 - p[star]) / (gamma * p[star]);
                    losses[a] + if a == star { -down } else { 2.0 / gamma }
                };
                let regret: f64 = (0..k).map(|a| p[a] * (f(a) - f(star))).sum();
                let error: f64 = (0..k).map(|a| p[a] * (losses[a] - f(a)).powi(2)).sum();
                let right = 2.0 * (k as f64 - 1.0) / gamma + 0.25 * gamma * error;
                assert!(regret <= right * (1.0 + 1e-9), "{regret} > {right}");
                largest = largest.max((regret - 0.25 * gamma * error) * gamma / (2.0 * (k as f64 - 1.0)));
            }
        }
        assert!(largest > 0.999, "{largest}");
    }

    /// The sides of (2.2) of FastCB's analysis with the constants `first` and 1, for losses `f`.
    fn first_order(losses: &[f64], f: &[f64], star: usize, gamma: f64, first: f64) -> (f64, f64) {
        let k = losses.len();
        let mut p = vec![0.0; k];
        fast(losses, least(losses, None), None, gamma, &mut p);
        let regret: f64 = (0..k).map(|a| p[a] * (f[a] - f[star])).sum();
        let played: f64 = (0..k).map(|a| p[a] * f[a]).sum();
        let error: f64 = (0..k).map(|a| p[a] * (losses[a] - f[a]).powi(2) / (losses[a] + f[a])).sum();
        (regret, first * k as f64 / gamma * played + gamma * error)
    }

    /// The worst losses for the forecasts `losses` and the best label `star`, by the proof of theory:
    /// gap-weighting 2.2 with the constant `first`.
    fn worst(losses: &[f64], star: usize, gamma: f64, first: f64) -> Vec<f64> {
        let k = losses.len();
        let mut p = vec![0.0; k];
        fast(losses, least(losses, None), None, gamma, &mut p);
        let rest = 1.0 - first * k as f64 / gamma;
        let others = 2.0 / (1.0 - rest / gamma).sqrt() - 1.0;
        let own = 2.0 / (1.0 + (1.0 - p[star] * rest) / (gamma * p[star])).sqrt() - 1.0;
        (0..k).map(|a| losses[a] * if a == star { own.max(0.0) } else { others }).collect()
    }

    /// (1, 1) is too small, and so is every first constant below 3/2.
    #[test]
    fn smaller_constants_are_refuted() {
        let (mut losses, mut f) = ([0.9; 8], [0.905368; 8]);
        (losses[0], losses[1]) = (1e-4, 1e-4);
        (f[0], f[1]) = (1.00596e-4, 9.57342e-5);
        let (left, right) = first_order(&losses, &f, 1, 160.0, 1.0);
        assert!(left > 1.09 * right, "{left} {right}");
        let mut losses = vec![0.9; 2000];
        (losses[0], losses[1]) = (1e-9, 1e-9);
        let gamma = 2000.0 * 2000.0;
        for (first, more) in [(1.45, true), (1.5, false)] {
            let (left, right) = first_order(&losses, &worst(&losses, 1, gamma, first), 1, gamma, first);
            assert_eq!(left > right, more, "{first}: {left} {right}");
            assert!(left > 0.998 * right, "{first}: {left} {right}");
        }
    }

    /// (2.2) of FastCB's analysis with the constants (3/2, 1), on random losses and at the worst ones for
    /// every label.
    #[test]
    fn the_first_order_inequality_holds() {
        let mut rng = Rng::new(4, 0);
        for _ in 0..20_000 {
            let k = 2 + rng.below(7) as usize;
            let gamma = k as f64 * 2.0 * 10f64.powf(4.0 * rng.uniform());
            let small = 10f64.powf(-3.0 * rng.uniform());
            let mut of = || -> Vec<f64> { (0..k).map(|_| small * rng.uniform()).collect() };
            let (losses, f) = (of(), of());
            let (regret, right) = first_order(&losses, &f, least(&f, None), gamma, 1.5);
            assert!(regret <= right + 1e-12, "{regret} > {right}");
            for star in 0..k {
                let f = worst(&losses, star, gamma, 1.5);
                let (regret, right) = first_order(&losses, &f, star, gamma, 1.5);
                assert!(regret <= right * (1.0 + 1e-9), "{losses:?}, {star}, {gamma}: {regret} > {right}");
            }
        }
    }

    /// Left minus right side of (4.2) for relative gaps, with the constants `first` and 1, for rewards `f`.
    fn excess(forecast: &[f64], f: &[f64], star: usize, gamma: f64, first: f64) -> f64 {
        let p = relative_play(forecast, gamma);
        let regret: f64 = (0..f.len()).map(|a| p[a] * (f[star] - f[a])).sum();
        let distance = |a: usize| match forecast[a] + f[a] {
            0.0 => 0.0,
            sum => (forecast[a] - f[a]).powi(2) / sum,
        };
        let error: f64 = (0..f.len()).map(|a| p[a] * distance(a)).sum();
        regret - first * f.len() as f64 / gamma * f[star] - gamma * error
    }

    fn relative_play(forecast: &[f64], gamma: f64) -> Vec<f64> {
        let losses: Vec<f64> = forecast.iter().map(|reward| 1.0 - reward).collect();
        let mut p = vec![0.0; forecast.len()];
        relative(&losses, least(&losses, None), None, gamma, &mut p);
        p
    }

    /// The worst rewards for the forecasts and the best label `star`, by the proof of
    /// theory: gap-weighting 4.2 with the constant `first`.
    fn worst_rewards(forecast: &[f64], star: usize, gamma: f64, first: f64) -> Vec<f64> {
        let k = forecast.len();
        let p = relative_play(forecast, gamma);
        let others = 2.0 / (1.0 + 1.0 / gamma).sqrt() - 1.0;
        let part = (1.0 - p[star] - first * k as f64 / gamma) / (gamma * p[star]);
        let own = 2.0 / (1.0 - part).sqrt() - 1.0;
        (0..k).map(|a| forecast[a] * if a == star { own.max(0.0) } else { others }).collect()
    }

    /// The inequality for rewards with the constants (3/2, 1), on random forecasts and rewards of any size,
    /// and at the worst rewards for every label.
    #[test]
    fn the_inequality_for_rewards_holds() {
        let mut rng = Rng::new(5, 0);
        for round in 0..20_000 {
            let k = 2 + rng.below(if round % 100 == 0 { 200 } else { 7 }) as usize;
            let gamma = k as f64 * 2.0 * 10f64.powf(4.0 * rng.uniform());
            let (small, spread) = (10f64.powf(-3.0 * rng.uniform()), 10f64.powf(-4.0 * rng.uniform()));
            let mut of = || -> Vec<f64> { (0..k).map(|_| small * (1.0 - spread * rng.uniform())).collect() };
            let (mut forecast, f) = (of(), of());
            if round % 3 == 0 {
                // Two labels are close to each other, and the others far from them.
                forecast[2..].iter_mut().for_each(|reward| *reward *= spread);
            }
            for star in 0..k {
                for f in [&f, &worst_rewards(&forecast, star, gamma, 1.5)] {
                    let more = excess(&forecast, f, star, gamma, 1.5);
                    assert!(more <= 1e-12 * small, "{forecast:?}, {f:?}, {star}, {gamma}: {more}");
                }
            }
        }
    }

    /// Two labels are forecast to be equal, the others to earn nothing: constants below 3/2 are too small.
    #[test]
    fn smaller_constants_for_rewards_are_refuted() {
        for (k, first, more) in [(200, 1.25, true), (2000, 1.45, true), (2000, 1.5, false)] {
            let mut forecast = vec![0.0; k];
            (forecast[0], forecast[1]) = (0.01, 0.01);
            let gamma = 2000.0 * k as f64;
            let f = worst_rewards(&forecast, 1, gamma, first);
            assert_eq!(excess(&forecast, &f, 1, gamma, first) > 0.0, more, "{k} labels, {first}");
        }
    }
}
