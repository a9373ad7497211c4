use super::*;
use crate::loss::gap::Surrogate;
use crate::rng::{Rng, Uniforms};
use crate::testing::{assert_close, count, log_det, number, numbers, quadratic, vector};
use serde_json::Value;

const SETTING: Setting = Setting { classes: 3, features: 4, radius: 2.0, norm: 1.5, rounds: 100.0 };

/// The setting of a reference trace; quantities that it lacks are 1 (2 for the classes).
fn setting(reference: &Value) -> Setting {
    let params = &reference["params"];
    let of = |name: &str| params[name].as_f64().unwrap_or(1.0);
    Setting {
        classes: params["K"].as_u64().map_or(2, |k| k as usize),
        features: params["d"].as_u64().map_or(1, |d| d as usize),
        radius: of("R"),
        norm: of("B"),
        rounds: reference["data"]["y"].as_array().map_or(0, Vec::len) as f64,
    }
}

#[test]
fn folklore_references() {
    let names = [
        "folklore_T50_d3_K2",
        "folklore_T60_d5_K4_safe",
        "folklore_counterexample_printed",
        "folklore_counterexample_safe",
    ];
    for name in names {
        let reference = vector(name);
        let (setting, summary) = (setting(&reference), &reference["summary"]);
        let of = |key: &str| number(&reference["params"][key]);
        let (lambda, gamma) = (of("lam"), of("gamma"));
        assert_close(folklore_paper(&setting), number(&summary["bound_paper"]), 1e-10, name);
        if let Some(sharp) = summary["bound_sharp"].as_f64() {
            assert_close(folklore(&setting, lambda, gamma), sharp, 1e-10, name);
        }
        let regret = number(&summary["regret"]);
        let valid = gamma <= 0.5;
        assert_eq!(valid, regret <= folklore_paper(&setting), "{name}: the printed theorem");
        let w = numbers(&reference["comparator"]["W"]);
        let trace = folklore_trace(
            lambda,
            centred_norm_squared(&w, setting.classes),
            number(&reference["trace_sum"]),
        );
        if let Some(certificate) = summary["certificate"].as_f64() {
            assert_close(trace, certificate, 1e-10, name);
        }
        if valid {
            let closed = folklore(&setting, lambda, gamma);
            assert!(regret <= trace && trace <= closed, "{name}: {regret} {trace} {closed}");
        }
    }
}

/// $\lVert \Pi W \rVert_F^2$ of `w`, row by row.
fn centred_norm_squared(w: &[f64], classes: usize) -> f64 {
    let features = w.len() / classes;
    let mean = |i: usize| (0..classes).map(|k| w[k * features + i]).sum::<f64>() / classes as f64;
    w.iter().enumerate().map(|(at, w)| (w - mean(at % features)).powi(2)).sum()
}

#[test]
fn aioli_references() {
    let reference = vector("aioli_T60_d5");
    let (setting, summary) = (setting(&reference), &reference["summary"]);
    let of = |key: &str| number(&reference["params"][key]);
    let (lambda, kappa) = (of("lam"), of("kappa"));
    assert_close(aioli(&setting, lambda), number(&summary["bound"]), 1e-12, "closed form");

    let rows = numbers(&reference["data"]["x"]);
    let ahead = log_det(&regularised_gram(&rows, 5, kappa / (4.0 * lambda), dot));
    let bound = aioli_log_det(&setting, lambda, kappa, ahead);
    assert_close(bound, number(&summary["bound_logdet"]), 1e-10, "log-det form");
    let scaled: Vec<f64> = numbers(&reference["final_state"]["A"]).iter().map(|a| a / lambda).collect();
    assert!(log_det(&scaled) <= ahead, "the weights are at most 1/4");

    let b = numbers(&reference["final_state"]["b"]);
    let a = numbers(&reference["final_state"]["A"]);
    let slack: f64 = numbers(&reference["expected"]["logit"])
        .iter()
        .zip(numbers(&reference["data"]["y"]))
        .map(|(s, y)| {
            let wrong = crate::loss::logistic::sigmoid(-y * s);
            -wrong * y * s - kappa * wrong * (1.0 - wrong) * s * s
        })
        .sum();
    let theta: f64 = numbers(&reference["comparator"]["theta"]).iter().map(|t| t * t).sum();
    let certificate = aioli_certificate(lambda, theta, slack, quadratic(&a, &b));
    let regret = number(&summary["regret"]);
    assert!(regret <= certificate && certificate <= 1.7 * regret, "{regret} {certificate}");
}

#[test]
fn kernel_aioli_reference() {
    let reference = vector("kernel_aioli_rbf");
    let (setting, lambda) = (setting(&reference), number(&reference["params"]["lam"]));
    let x = numbers(&reference["data"]["x"]);
    let kappa = crate::loss::curvature::aioli_paper(setting.norm * setting.radius);
    let rbf =
        |u: &[f64], v: &[f64]| (-0.5 * u.iter().zip(v).map(|(u, v)| (u - v) * (u - v)).sum::<f64>()).exp();
    let gram = regularised_gram(&x, 3, kappa / (4.0 * lambda), rbf);
    let bound = aioli_log_det(&setting, lambda, kappa, log_det(&gram));
    assert_close(bound, number(&reference["bound_logdet"]), 1e-10, "kernel");
}

/// $I + $ `scale` $K$ for the kernel matrix $K$ of `rows`.
fn regularised_gram(rows: &[f64], d: usize, scale: f64, kernel: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
    let mut gram = Vec::new();
    for (i, u) in rows.chunks(d).enumerate() {
        for (j, v) in rows.chunks(d).enumerate() {
            gram.push(scale * kernel(u, v) + if i == j { 1.0 } else { 0.0 });
        }
    }
    gram
}

fn dot(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u * v).sum()
}

#[test]
fn other_references() {
    let reference = vector("ogd_fro_sqrt");
    let bound = ogd_square_root(&setting(&reference));
    assert_close(bound, number(&reference["summary"]["bound"]), 1e-12, "ogd");

    let reference = vector("aggregating_d1_B4");
    let bound = aggregating_binary(&setting(&reference));
    assert_close(bound, number(&reference["summary"]["bound"]), 1e-12, "aggregating");

    let reference = vector("vaw_T60_d4");
    let theta = numbers(&reference["comparator"]["theta"]);
    let norm = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
    let setting = Setting { norm, ..setting(&reference) };
    let of = |key: &str| number(&reference["params"][key]);
    assert_eq!(setting.features, count(&reference["params"]["d"]));
    assert_close(vaw(&setting, of("lam"), of("Y")), number(&reference["summary"]["bound"]), 1e-12, "vaw");
}

#[test]
fn gaptron_table() {
    let (k, xu) = (3.0, 9.0);
    for (surrogate, bound) in [
        (Surrogate::Logistic, k * xu / 2f64.ln()),
        (Surrogate::Hinge, k * k * xu / (2.0 * (k - 1.0))),
        (Surrogate::Smooth, 2.0 * k * xu),
    ] {
        let rate = surrogate.full_information_rate(3, 2.0);
        assert_close(gaptron(&SETTING, rate, 0.0), bound, 1e-12, "full information");
        assert_close(gaptron(&SETTING, rate, 0.3), bound + 20.0, 1e-12, "exploring");
    }
}

#[test]
fn by_hand() {
    let unit = Setting { classes: 2, features: 1, radius: 1.0, norm: 1.0, rounds: 1.0 };
    assert_close(folklore(&unit, 1.0, 0.25), 2.0 + 1.25f64.ln(), 1e-14, "folklore");
    assert_close(folklore_paper(&unit), 4.0 + (2.0 + 2f64.ln()) * 2f64.ln(), 1e-14, "folklore, printed");
    assert_close(aioli(&unit, 0.5), 0.5 + 2.0 * 1.125f64.ln(), 1e-14, "aioli");
    assert_close(gaf(&unit, 2.0, 0.5), 2.0 + 2.0 * (0.5 + 4.0 * 3f64.sqrt()) * 1.125f64.ln(), 1e-14, "gaf");
    assert_close(vaw(&unit, 0.5, 2.0), 0.5 + 4.0 * 3f64.ln(), 1e-14, "vaw");
    assert_close(ogd_constant(&SETTING), 30.0 * SQRT_2, 1e-14, "ogd");
    assert_close(ogd_constant(&SETTING.rows_in_frobenius_ball()), 30.0 * 6f64.sqrt(), 1e-14, "ogd, rows");
    let ons_by_hand = 60.0 * (2.0 * (3.0 * SQRT_2).exp() + 6.0 * SQRT_2) * 100f64.ln();
    assert_close(ons(&SETTING), ons_by_hand, 1e-14, "ons");
    assert_eq!(aggregating_binary(&Setting { rounds: 0.5, ..SETTING }), 3.0, "few rounds");
    // √M = (√18 + √(18 + 32))/2, and √2 + √18.
    assert_close(perceptron(8.0, 1.0, 1.5, 2.0), 32.0, 1e-13, "perceptron");
    assert_close(perceptron(2.0, 2.0, 1.5, 2.0), 32.0, 1e-13, "perceptron");
    let between = perceptron(5.0, 1.5, 1.5, 2.0);
    assert_close(
        between,
        between.cbrt() * 5f64.cbrt().powi(2) + (18.0 * between).sqrt(),
        1e-13,
        "perceptron",
    );
    assert!(between < (5f64.sqrt() + 18f64.sqrt()).powi(2) && perceptron(0.0, 1.0, 0.0, 1.0) == 0.0);
    assert_eq!((second_order_perceptron_eta(1.5, 1.0), second_order_perceptron_eta(0.1, 1.0)), (0.5, 1.0));
    assert_close(second_order_perceptron(5.0, 0.5, 2.0, 3.0, 0.75), 5.0 + 6.0 + 1.0, 1e-14, "second order");
    let log = second_order_perceptron_log(&SETTING, 2.0);
    assert_close(log, 12.0 * (1.0 + 800.0 / 24.0f64).ln(), 1e-14, "second order");
}

/// Theorem 4 is the best of a family: for every $\eta$, $h \le H + \eta U^2(X^2 h + a/2) + KQ/(2\gamma\eta)$.
#[test]
fn the_hinge_bound_of_soba_is_the_best_of_its_family() {
    let (hinge, a, gamma, q, k) = (40.0, 4.0, 0.2, 3.0, 3.0);
    let h = soba_hinge(&SETTING, hinge, a, gamma, q) - gamma * SETTING.rounds;
    let (u2, x2) = (1.5f64 * 1.5, 4.0);
    assert_close((h - hinge).powi(2), 2.0 * u2 * k / gamma * q * (x2 * h + 0.5 * a), 1e-12, "solved");
    let of = |eta: f64| (hinge + eta * u2 * 0.5 * a + k * q / (2.0 * gamma * eta)) / (1.0 - eta * u2 * x2);
    let best = (1..10_000).map(|at| of(at as f64 * 1e-4 / (u2 * x2))).fold(f64::INFINITY, f64::min);
    assert!(h <= best * (1.0 + 1e-12) && best <= h * (1.0 + 1e-6), "{h} {best}");
    // For the comparator 0, the bound consists of its loss and the exploration.
    assert_close(soba_hinge(&Setting { norm: 0.0, ..SETTING }, 40.0, a, gamma, q), 60.0, 1e-14, "no norm");
}

/// Lemma 4 of SOBA, on which Theorem 5 depends, for rounds whose cost is at most $b$: always $b$, always 0,
/// and random.
#[test]
fn adaptive_exploration_pays_for_itself() {
    let setting = Setting { classes: 2, features: 1, radius: 1.0, norm: 1.0, rounds: 4.0 };
    // L + a U² + K(1 + Q) + 4 sqrt(T K (1 + Q)) for η = 1.
    assert_close(soba_adaptive(&setting, 5.0, 1.0, 2.0, 1.0), 5.0 + 2.0 + 4.0 + 16.0, 1e-14, "by hand");
    let mut rng = Rng::new(5, 0);
    for (kind, b) in [(0, 2.0), (1, 2.0), (2, 2.0), (2, 9.0), (3, 5.0)] {
        for weight in [1.0, 4.0] {
            let (mut sum, mut explored, mut paid) = (0.0, 0.0, 0.0);
            for t in 1..=3000u32 {
                let gamma: f64 = ((b + sum) / f64::from(t)).sqrt().min(1.0);
                let cost = match kind {
                    0 => b,
                    1 => 0.0,
                    2 => b * rng.uniform(),
                    _ => f64::from(u8::from(t % 100 == 0)) * b,
                };
                explored += gamma;
                paid += cost / gamma;
                sum += cost;
                let bound = (2.0 + 2.0 * weight) * (f64::from(t) * (b + sum)).sqrt() + weight * (b + sum);
                assert!(explored + weight * paid <= bound, "{kind} {b} {t}: {explored} {paid} {bound}");
            }
        }
    }
}

/// Smoothing costs at most -ln(1 - μ) a round for any forecast; sampling costs what Chernoff's inequality
/// implies.
#[test]
fn gaf_pays_for_smoothing_and_sampling() {
    assert_close(gaf_smoothing(100.0, 0.5), 100.0 * 2f64.ln(), 1e-14, "smoothing");
    assert_eq!(gaf_smoothing(100.0, 0.0), 0.0);
    for p in [1e-9, 0.01, 0.4, 1.0] {
        let mu = 0.2;
        let lost = f64::ln(p / ((1.0 - mu) * p + mu / 3.0));
        assert!(lost <= gaf_smoothing(1.0, mu), "{p}");
    }
    assert_eq!(gaf_sampling(&SETTING, 1e-3, 50.0, 0.05), None);
    let excess = (24.0 * 6000f64.ln() / (0.1 * 1e5)).sqrt();
    assert_close(gaf_sampling(&SETTING, 0.1, 1e5, 0.05).expect("enough"), 100.0 * excess, 1e-13, "sampling");
}

#[test]
fn log_det_forms_are_sharper() {
    // For a given trace, ln det is largest if all eigenvalues are equal.
    let (kappa, lambda) = (0.125, 0.5);
    let trace = kappa / 4.0 * SETTING.energy();
    let eigenvalues = [0.7, 0.2, 0.1, 0.0].map(|share| 1.0 + share * trace / lambda);
    let log_det = eigenvalues.iter().map(|e| e.ln()).sum();
    let closed = aioli_curvature(&SETTING, lambda, kappa);
    assert!(aioli_log_det(&SETTING, lambda, kappa, log_det) < closed);
    let equal = 4.0 * (trace / (4.0 * lambda)).ln_1p();
    assert_close(aioli_log_det(&SETTING, lambda, kappa, equal), closed, 1e-14, "equal eigenvalues");
}
