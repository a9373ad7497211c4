//! The theorems' right-hand sides, one function each.
//!
//! A bound holds for comparators in a ball of norm $B$; each function says which norm. "Regret" is the
//! learner's total loss minus the comparator's, with natural logarithms, over all rounds so far. Functions
//! whose arguments are sums over rounds (`trace_sum`, `slack`, `log_det`, …) are data-dependent: they hold
//! for the stream of these sums.
//!
//! Sources: FOLKLORE = Agarwal, Kale, Zimmert, "Efficient Methods for Online Multiclass Logistic Regression";
//! AIOLI = Jézéquel, Gaillard, Rudi, "Efficient improper learning for online logistic regression" (2020); GAF
//! = Jézéquel, Gaillard, Rudi, "Mixability made efficient" (2021); SOBA = Beygelzimer, Orabona, Zhang,
//! "Efficient online bandit multiclass learning with Õ(√T) regret" (2017); Gaptron = van der Hoeven,
//! "Exploiting the surrogate gap in online multiclass classification" (2020). "Derived" marks bounds that are
//! in none of them.

use std::f64::consts::SQRT_2;

mod likely;

pub use likely::*;

/// The norm of comparators that is at most $B$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ball {
    /// Every row of $W$: $\max_k \lVert w_k \rVert_2 \le B$ (FOLKLORE's theorem).
    Rows,
    /// $\lVert W \rVert_F \le B$ (GAF's theorem, gradient descent, online Newton step).
    Frobenius,
    /// Two classes, one vector: $\lVert \theta \rVert_2 \le B$, with $\theta^\top x$ the logit of class 1
    /// over class 0 (AIOLI's theorem).
    Euclidean,
}

/// The quantities in bounds other than a learner's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Number of classes $K \ge 2$.
    pub classes: usize,
    /// Number of features $d \ge 1$.
    pub features: usize,
    /// $R$: every row satisfies $\lVert x \rVert_2 \le R$.
    pub radius: f64,
    /// $B$: the norm of the comparators is at most this.
    pub norm: f64,
    /// $T$: number of rounds, all of importance weight 1.
    pub rounds: f64,
}

impl Setting {
    /// The same setting with $B \sqrt{K}$ for $B$: the Frobenius ball around all matrices with rows of norm
    /// at most $B$ (theory: notation 3).
    pub fn rows_in_frobenius_ball(self) -> Self {
        Self { norm: self.norm * (self.classes as f64).sqrt(), ..self }
    }

    fn k(&self) -> f64 {
        self.classes as f64
    }

    fn d(&self) -> f64 {
        self.features as f64
    }

    /// $\sum_t \lVert x_t \rVert^2 \le TR^2$.
    fn energy(&self) -> f64 {
        self.rounds * self.radius * self.radius
    }
}

/// The log loss of a mixture in the rounds from `first` to `last`, minus that of any of its members that is
/// active from round `first - 1` to `last`: $2\ln(r+1) + \ln(s(M-1))$.
///
/// For `first` $r$ at least 2, `last` $s$, and at most $M$ = `members` at the same time; holds for all such
/// intervals at once, and for importance weights up to 1. Derived (theory: mixtures 1.7).
pub fn adaptive_regret(members: usize, first: u64, last: u64) -> f64 {
    let others = members.max(2) - 1;
    2.0 * (first as f64 + 1.0).ln() + (last as f64).ln() + (others as f64).ln()
}

/// FOLKLORE's regret: $\lambda \lVert \Pi W \rVert_F^2 + \frac14 \sum_t \mathrm{Tr}(A_{t-1}^{-1} H_t)$.
///
/// For every comparator $W$ on which the curvature is valid (rows of norm at most $B$), and any
/// $\lambda > 0$; `centred_norm_squared` is $\lVert \Pi W \rVert_F^2$, with the mean row taken off, at most
/// $KB^2$ on the ball. Derived from the proof of FOLKLORE's Theorem 3.3, keeping a factor 1/4 that the proof
/// drops (theory: folklore 2.2).
pub fn folklore_trace(regularization: f64, centred_norm_squared: f64, trace_sum: f64) -> f64 {
    regularization * centred_norm_squared + 0.25 * trace_sum
}

/// FOLKLORE's regret, in closed form:
/// $\lambda K B^2 + \frac{(K-1)d}{4\gamma} \ln(1 + \frac{2\gamma TR^2}{\lambda Kd})$.
///
/// For rows of norm at most $B$, a valid curvature $\gamma$, and $\lambda \ge \gamma R^2$. Derived from
/// [`folklore_trace`] (theory: folklore 2.3). It does not extend to importance weights: a single round of
/// weight $\omega$ costs up to $\omega \ln K$.
pub fn folklore(setting: &Setting, regularization: f64, curvature: f64) -> f64 {
    let (k, d) = (setting.k(), setting.d());
    let log = (2.0 * curvature * setting.energy() / (regularization * k * d)).ln_1p();
    regularization * k * setting.norm.powi(2) + (k - 1.0) * d / (4.0 * curvature) * log
}

/// The regret of FOLKLORE with tied weights: $\lambda B^2 + \frac n{4\gamma} \ln(1 + \frac{2\gamma
/// TR^2}{\lambda n})$ for $n$ = `features` columns a label.
///
/// For $\lVert w \rVert \le B$, blocks of norm at most $R$, a valid curvature $\gamma$, and $\lambda \ge
/// 2\gamma R^2$. Derived (theory: folklore 4.2). It does not extend to importance weights.
pub fn tied_folklore(setting: &Setting, regularization: f64, curvature: f64) -> f64 {
    let n = setting.d();
    let log = (2.0 * curvature * setting.energy() / (regularization * n)).ln_1p();
    regularization * setting.norm.powi(2) + n / (4.0 * curvature) * log
}

/// The regret of FOLKLOREs that begin with blocks of `block` rounds, in the rounds from `first` to `last`,
/// against the best predictor of these: $P\ (F(T) + \ln n) + b\ln K$ with $F$ of [`folklore`], $T$ = their
/// number or $b$ if that is larger, $P = 2 + \lfloor\log_2\lceil T/b\rceil\rfloor$, and
/// $n = 1 + \lceil s/b\rceil$. The last term and one of the $P$ are absent if `first` begins a block.
///
/// For all such intervals at once, conditions as in [`folklore`]. Derived (theory: mixtures 4.3).
pub fn folklore_interval(
    setting: &Setting,
    regularization: f64,
    curvature: f64,
    block: u64,
    first: u64,
    last: u64,
) -> f64 {
    let rounds = last - first + 1;
    let begins = (first - 1).is_multiple_of(block);
    let learnt = if begins { rounds } else { rounds.max(block) };
    let pieces = 1 + rounds.div_ceil(block).ilog2() + u32::from(!begins);
    let begun = 1 + last.div_ceil(block);
    let own = folklore(&Setting { rounds: learnt as f64, ..*setting }, regularization, curvature);
    let partial = if begins { 0.0 } else { block as f64 * setting.k().ln() };
    f64::from(pieces) * (own + (begun as f64).ln()) + partial
}

/// FOLKLORE's regret as printed: $K (2BR + (BR + \ln(K)/2)\ d \ln(1+T))$ (proof of
/// Theorem 3.3), for $\lambda = 2R/B$ and rows of norm at most $B$.
///
/// The proof rests on an invalid curvature, with which the bound fails. With a valid one, $\gamma$, it holds
/// where $1/(4\gamma) \le BR + \ln(K)/2$ (theory: folklore 2.4).
pub fn folklore_paper(setting: &Setting) -> f64 {
    let br = setting.norm * setting.radius;
    setting.k() * (2.0 * br + (br + 0.5 * setting.k().ln()) * setting.d() * setting.rounds.ln_1p())
}

/// AIOLI's regret: $\lambda B^2 + d(1+BR) \ln(1 + \frac{TR^2}{8d(1+BR)\lambda})$ (Theorem 1 of the paper).
///
/// For binary labels and $\lVert \theta \rVert_2 \le B$; $\lambda = 1/B^2$ is the paper's choice.
pub fn aioli(setting: &Setting, regularization: f64) -> f64 {
    aioli_curvature(
        setting,
        regularization,
        crate::loss::curvature::aioli_paper(setting.norm * setting.radius),
    )
}

/// AIOLI's regret for any valid curvature $\kappa$:
/// $\lambda B^2 + \frac{d}{2\kappa} \ln(1 + \frac{\kappa TR^2}{4d\lambda})$.
///
/// For binary labels and $\lVert \theta \rVert_2 \le B$; derived (theory: aioli 2.2). At
/// $\kappa = 1/(2(1+BR))$ it is [`aioli`].
pub fn aioli_curvature(setting: &Setting, regularization: f64, curvature: f64) -> f64 {
    let log = (curvature * setting.energy() / (4.0 * setting.d() * regularization)).ln_1p();
    aioli_log_det(setting, regularization, curvature, setting.d() * log)
}

/// AIOLI's and kernel AIOLI's regret: $\lambda B^2 + \frac{1}{2\kappa}$ `log_det`, for
/// $\lVert \theta \rVert \le B$.
///
/// `log_det` is $\ln\det(A_T/\lambda)$, which for kernels is
/// $\ln\det(I + D^{1/2} K_T D^{1/2}/\lambda)$ with $D$ the diagonal of weights $\kappa\pi_t$; or the larger
/// $\ln\det(I + \frac{\kappa}{4\lambda} K_T)$, known before the labels are. Derived (theory: aioli
/// 2.2, 3.2).
pub fn aioli_log_det(setting: &Setting, regularization: f64, curvature: f64, log_det: f64) -> f64 {
    regularization * setting.norm.powi(2) + log_det / (2.0 * curvature)
}

/// A certificate of AIOLI's regret:
/// $\lambda \lVert \theta \rVert^2 + \text{slack}_T + b_T^\top A_T^{-1} b_T$.
///
/// `slack` is $\sum_t -\sigma(-u_t) u_t - \kappa \pi_t s_t^2$ with $u_t = y_t s_t$; `quadratic` is
/// $b_T^\top A_T^{-1} b_T$. Derived (theory: aioli 2.1).
pub fn aioli_certificate(regularization: f64, norm_squared: f64, slack: f64, quadratic: f64) -> f64 {
    regularization * norm_squared + slack + quadratic
}

/// GAF's regret for logistic loss:
/// $\lambda B^2 + Kd (\frac12 + \frac{2\sqrt3}{\beta}) \ln(1 + \frac{T\beta R^2}{2\lambda})$.
///
/// For $\lVert W \rVert_F \le B$, $\beta = 1/(\ln(K)/2 + BR + 1)$ and $\lambda \ge 4R^2\max(4, Kd)$ (Theorem
/// 1 applied as in Corollary 2 of the paper, with its constants; theory: gaf 1.2, 2.2).
pub fn gaf(setting: &Setting, regularization: f64, beta: f64) -> f64 {
    let log = (beta * setting.energy() / (2.0 * regularization)).ln_1p();
    gaf_log_det(setting, regularization, beta, setting.k() * setting.d() * log)
}

/// GAF's regret for logistic loss, as [`gaf`] with the data's own `log_det` $= \ln\det(A_T/\lambda)$.
pub fn gaf_log_det(setting: &Setting, regularization: f64, beta: f64, log_det: f64) -> f64 {
    regularization * setting.norm.powi(2) + (0.5 + 2.0 * 3f64.sqrt() / beta) * log_det
}

/// The additional loss of GAF relative to [`gaf`] due to smoothing: $-T\ln(1 - \mu)$, at most $2\mu T$ for
/// $\mu \le \tfrac12$.
///
/// `smoothing` is the weight $\mu < 1$ of the uniform distribution in an otherwise exact forecast.
/// From the proof of GAF's Proposition 3, equation (10).
pub fn gaf_smoothing(rounds: f64, smoothing: f64) -> f64 {
    -rounds * (-smoothing).ln_1p()
}

/// The additional loss of GAF relative to [`gaf_smoothing`] if it forecasts the mean of `samples` $m$
/// samples, with probability at least $1 - \delta$: $T\varepsilon$ with $\varepsilon = \sqrt{\frac{8K}{\mu
/// m}\ln\frac{KT}\delta}$. `None` if $\varepsilon > 1.59$: there are too few samples for a bound.
///
/// GAF's Proposition 3 for all classes at once, so that labels may be soft, or depend on the forecast
/// (theory: gaf 2.4). The printed proof has $\sqrt{K\ln(n/\delta)/(\mu m)}$, from $e^{-\varepsilon} \le 1 -
/// 2\varepsilon$, which is false; $e^{-\varepsilon} \le 1 - \varepsilon/2$ is true up to 1.59 and leads to
/// the factor 8. `samples` is the number of independent ones: antithetic pairs count as one.
pub fn gaf_sampling(setting: &Setting, smoothing: f64, samples: f64, delta: f64) -> Option<f64> {
    const LARGEST_EPSILON: f64 = 1.59;
    let logarithm = (setting.k() * setting.rounds.max(1.0) / delta).ln();
    let excess = (8.0 * setting.k() * logarithm / (smoothing * samples)).sqrt();
    (excess <= LARGEST_EPSILON).then_some(setting.rounds * excess)
}

/// Vovk, Azoury and Warmuth's regret for squared loss: $\lambda B^2 + dY^2 \ln(1 + \frac{TR^2}{\lambda d})$.
///
/// For $\lVert \theta \rVert_2 \le B$ and targets in $[-Y, Y]$, `target_bound` being $Y$. The standard bound,
/// sharper than the one in GAF's section 4.1 (theory: gaf 3.2).
pub fn vaw(setting: &Setting, regularization: f64, target_bound: f64) -> f64 {
    let log = (setting.energy() / (regularization * setting.d())).ln_1p();
    regularization * setting.norm.powi(2) + setting.d() * target_bound.powi(2) * log
}

/// Projected online gradient descent's regret with rates $\eta_t = 2B/(G\sqrt t)$: $3BG\sqrt T$,
/// $G = \sqrt2 R$.
///
/// Multiclass logistic loss (a gradient's Frobenius norm is at most $G$) and $\lVert W \rVert_F \le B$; for
/// the row ball see [`Setting::rows_in_frobenius_ball`]. Zinkevich (2003); theory: baselines 1.2.
pub fn ogd_square_root(setting: &Setting) -> f64 {
    3.0 * ogd_constant(setting)
}

/// Projected online gradient descent's regret with the constant rate $\eta = B/(G\sqrt T)$: $BG\sqrt T$.
///
/// As [`ogd_square_root`] otherwise.
pub fn ogd_constant(setting: &Setting) -> f64 {
    setting.norm * SQRT_2 * setting.radius * setting.rounds.sqrt()
}

/// Follow the regularised leader's regret: $\lambda U^2 + \frac{R^2T}{2\lambda}$ for
/// $\lambda\lVert W \rVert_F^2$.
///
/// Multiclass logistic loss, any comparator of Frobenius norm at most $U$ (`setting.norm`); gradients of norm
/// at most $\sqrt2R$. Shalev-Shwartz and Singer (2007); theory: baselines 1.3.
pub fn ftrl(setting: &Setting, regularization: f64) -> f64 {
    regularization * setting.norm.powi(2) + setting.energy() / (2.0 * regularization)
}

/// Online Newton step's regret: $5(\frac1\alpha + G D) Kd \ln T$ (Hazan, Agarwal, Kale, 2007), $G = \sqrt2R$,
/// $D = 2B$.
///
/// Multiclass logistic loss, $\lVert W \rVert_F \le B$, $T \ge 2$, exp-concavity
/// $\alpha = e^{-\sqrt2BR}/(K-1)$ (derived, exact; theory: baselines 2.1, 2.3),
/// $\gamma = \frac12\min(\frac1{4GD}, \alpha)$ and $\varepsilon = 1/(\gamma D)^2$.
pub fn ons(setting: &Setting) -> f64 {
    let spread = crate::loss::curvature::frobenius_spread(setting.norm, setting.radius);
    let inverse_concavity = (setting.k() - 1.0) * spread.exp();
    let gradient_diameter = SQRT_2 * setting.radius * 2.0 * setting.norm;
    5.0 * (inverse_concavity + gradient_diameter) * setting.k() * setting.d() * setting.rounds.ln()
}

/// Vovk's aggregating algorithm's regret, binary logistic loss: $d(1 + \ln\frac{2BRT}{d})$, or $2BRT$ where
/// that is below $d$.
///
/// For a uniform prior on $\lVert \theta \rVert_2 \le B$. Derived: a ball of radius $\varepsilon B$ has
/// $\varepsilon^d$ of the prior, and its points lose at most $2BRT\varepsilon$ more (theory: baselines 3.2).
pub fn aggregating_binary(setting: &Setting) -> f64 {
    let (d, variation) = (setting.d(), 2.0 * setting.norm * setting.radius * setting.rounds);
    // The minimum over ε <= 1 of d ln(1/ε) + ε variation.
    if variation < d { variation } else { d * (1.0 + (variation / d).ln()) }
}

/// The multiclass Perceptron's mistakes, from the comparator's total $L$ of the `power` $q \in [1, 2]$ of its
/// multiclass hinge losses: the largest $M$ with $M \le M^{1-1/q} L^{1/q} + \sqrt2 XU\sqrt M$, which is at
/// most $(\sqrt L + \sqrt2 XU)^2$.
///
/// For any comparator of Frobenius norm `norm` $U$ and rows of norm at most `radius` $X$; for all powers at
/// once. SOBA's Theorem 1; theory: baselines 4.2.
pub fn perceptron(loss_sum: f64, power: f64, norm: f64, radius: f64) -> f64 {
    let (loss, step) = (loss_sum.powf(1.0 / power), SQRT_2 * norm * radius);
    // For the root m of M: m = loss m^(1 - 2/q) + step, where the right side does not rise.
    let (mut low, mut high) = (step, loss_sum.sqrt() + step);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle >= loss * middle.powf(1.0 - 2.0 / power) + step {
            high = middle;
        } else {
            low = middle;
        }
    }
    high * high
}

/// The largest $\eta$ of [`second_order_perceptron`]: $\min(1, 2/(2X\max_k\lVert U_k \rVert + 1))$, for rows
/// of norm at most `radius` $X$ and `max_row_norm` $= \max_k \lVert U_k \rVert_2$ of the comparator.
pub fn second_order_perceptron_eta(max_row_norm: f64, radius: f64) -> f64 {
    (2.0 / (2.0 * radius * max_row_norm + 1.0)).min(1.0)
}

/// The second-order Perceptron's mistakes: $H_\eta + \frac{a\eta}{2-\eta} U^2 + \frac{Q}{\eta(2-\eta)}$.
///
/// From the proof of SOBA's Theorem 2 with full information. `eta_loss_sum` is the comparator's total
/// $\eta$-loss $H_\eta$ ([`crate::loss::hinge::eta_loss`]), $0 < \eta \le$ [`second_order_perceptron_eta`],
/// `norm` its Frobenius norm $U$, `regularization` $a$, and `quadratic_sum`
/// $Q = \sum_t n_t z_t^\top A_t^{-1} z_t$, at most [`second_order_perceptron_log`]. The full matrix only: the
/// diagonal variant has no theorem (theory: baselines 4.4).
pub fn second_order_perceptron(
    eta_loss_sum: f64,
    eta: f64,
    regularization: f64,
    norm: f64,
    quadratic_sum: f64,
) -> f64 {
    eta_loss_sum + regularization * eta / (2.0 - eta) * norm.powi(2) + quadratic_sum / (eta * (2.0 - eta))
}

/// A bound of `quadratic_sum` in [`second_order_perceptron`]: $dK\ln(1 + \frac{2X^2T'}{adK})$ after $T'$
/// updates (`setting.rounds`), for `regularization` $a$ and rows of norm at most $X$ (`setting.radius`).
/// SOBA's Lemma 3, whose simpler form $dK\ln T$ fails for $dK \le 3$.
pub fn second_order_perceptron_log(setting: &Setting, regularization: f64) -> f64 {
    let n = setting.k() * setting.d();
    n * (2.0 * setting.energy() / (regularization * n)).ln_1p()
}

/// Gaptron's expected mistakes beyond the comparator's surrogate loss:
/// $\frac{U^2}{2\eta} + \gamma T\frac{K-1}{K}$.
///
/// For a comparator of Frobenius norm at most $U$ (`setting.norm`), which the ball that Gaptron projects to
/// contains. With full information `exploration` $\gamma$ is 0 and `rate` $\eta$ at most
/// [`crate::loss::gap::Surrogate::full_information_rate`], where the bound is $KX^2U^2/\ln2$ (logistic,
/// against losses in bits), $K^2X^2U^2/(2(K-1))$ (hinge), $2KX^2U^2$ (smooth hinge): Gaptron's Theorems 1 to
/// 3; theory: gaptron 2.2.
pub fn gaptron(setting: &Setting, rate: f64, exploration: f64) -> f64 {
    setting.norm.powi(2) / (2.0 * rate) + exploration * setting.rounds * (setting.k() - 1.0) / setting.k()
}

/// Gaptron's expected mistakes beyond the comparator's surrogate loss with rates that never rise, projected
/// to the ball of radius $D$ (`norm`): $2D^2/\eta_T + \frac{K-1}{K}\sum_t \gamma_t$.
///
/// For any $U$ in the ball, with every $\eta_t$ at most [`crate::loss::gap::Surrogate::bandit_rate`] at
/// $\gamma_t$; `last_rate` is $\eta_T$ and `exploration_sum` $\sum_t \gamma_t$. Derived: gradient descent
/// with changing rates in a ball of diameter $2D$ (theory: gaptron 2.4).
pub fn gaptron_any_horizon(classes: usize, norm: f64, last_rate: f64, exploration_sum: f64) -> f64 {
    let k = classes as f64;
    2.0 * norm.powi(2) / last_rate + exploration_sum * (k - 1.0) / k
}

/// Banditron's expected mistakes: $M_g + \gamma T$, where $M_g$ solves
/// $M_g = H + XU\sqrt{2(\frac K\gamma M_g + \gamma T)}$.
///
/// For any comparator of Frobenius norm $U$ (`setting.norm`) and total multiclass hinge loss $H$, and
/// `exploration` $0 < \gamma \le 1/2$. Kakade, Shalev-Shwartz, Tewari (2008), Theorem 2, before it is
/// simplified (theory: bandit 1.2).
pub fn banditron(setting: &Setting, hinge_sum: f64, exploration: f64) -> f64 {
    let double = 2.0 * (setting.norm * setting.radius).powi(2);
    let (slope, forced) = (double * setting.k() / exploration, exploration * setting.rounds);
    // (M - H)² = slope M + double γT, solved for its larger root.
    let half = hinge_sum + 0.5 * slope;
    half + (half * half - hinge_sum * hinge_sum + double * forced).sqrt() + forced
}

/// SOBA's expected mistakes: $L_\eta + \frac{a\eta}{2-\eta} U^2 + \frac{K}{\gamma\eta(2-\eta)} Q + \gamma T$.
///
/// SOBA's Theorem 2, for a fixed `exploration` $\gamma > 0$ (theory: bandit 2.2). `eta_loss_sum`, `eta` and
/// `regularization` are those of [`second_order_perceptron`], `setting.norm` is $U$, and `quadratic_sum`
/// $Q = \mathbb{E}\sum_t n_t z_t^\top A_t^{-1} z_t$, at most [`second_order_perceptron_log`].
pub fn soba(
    setting: &Setting,
    eta_loss_sum: f64,
    eta: f64,
    regularization: f64,
    exploration: f64,
    quadratic_sum: f64,
) -> f64 {
    let weighted = setting.k() / exploration * quadratic_sum;
    second_order_perceptron(eta_loss_sum, eta, regularization, setting.norm, weighted)
        + exploration * setting.rounds
}

/// SOBA's expected mistakes against the hinge loss: $h + \gamma T$, where $h$ solves
/// $h = H + U\sqrt{2\frac K\gamma Q (X^2 h + a/2)}$.
///
/// For any comparator of Frobenius norm $U$ (`setting.norm`) and total multiclass hinge loss $H$, a fixed
/// `exploration` $\gamma > 0$, `regularization` $a$, and `quadratic_sum` $Q$ as in [`soba`]. SOBA's Theorem 4
/// before $\gamma$ is chosen: its proof's $\eta \to 0$ of equation (5), with the sum of $\alpha\eta +
/// \beta/\eta$ minimised as $2\sqrt{\alpha\beta}$, where the printed proof loses a factor $\sqrt2$ on the way
/// and gains it back (theory: bandit 2.6).
pub fn soba_hinge(
    setting: &Setting,
    hinge_sum: f64,
    regularization: f64,
    exploration: f64,
    quadratic_sum: f64,
) -> f64 {
    let slope = 2.0 * (setting.norm * setting.radius).powi(2) * setting.k() / exploration * quadratic_sum;
    let extra = slope * regularization / (2.0 * setting.radius * setting.radius);
    // (h - H)² = slope h + extra, solved for its larger root.
    let half = 0.5 * slope;
    hinge_sum + half + (half * half + slope * hinge_sum + extra).sqrt() + exploration * setting.rounds
}

/// SOBA's expected mistakes with adaptive exploration $\gamma_t = \min(1, \sqrt{K(1 + S_q)/t})$:
/// $L_\eta + \frac{a\eta}{2-\eta}U^2 + (2 + 2c)\sqrt{TK(1 + Q)} + cK(1 + Q)$, $c = \frac{1}{\eta(2-\eta)}$.
///
/// SOBA's Theorem 5, with the constants of its Lemma 4; arguments as in [`soba`]. $Q$ is a bound of the
/// expected sum, of which the root is concave.
pub fn soba_adaptive(
    setting: &Setting,
    eta_loss_sum: f64,
    eta: f64,
    regularization: f64,
    quadratic_sum: f64,
) -> f64 {
    let explored = setting.k() * (1.0 + quadratic_sum);
    let weight = 1.0 / (eta * (2.0 - eta));
    second_order_perceptron(eta_loss_sum, eta, regularization, setting.norm, explored)
        + (2.0 + 2.0 * weight) * (setting.rounds * explored).sqrt()
}

/// The expected mistakes of SOBA by reduction beyond the comparator's total $\eta$-loss:
/// $5(\frac1\alpha + 2GD) Kd\ln T + \gamma T$, $\alpha = \frac\gamma K \eta(2-\eta)/8$,
/// $G = \frac K\gamma \frac{4\sqrt2X}{2-\eta}$.
///
/// For comparators of Frobenius norm at most $D$ (`setting.norm`), $\eta \le 1/\max(2XD, 1)$, and online
/// Newton steps with the default constants. SOBA's appendix E, with its constants corrected (theory: bandit
/// 3.2).
pub fn soba_reduction(setting: &Setting, eta: f64, exploration: f64) -> f64 {
    let weight = setting.k() / exploration;
    let inverse_concavity = 8.0 * weight / (eta * (2.0 - eta));
    let gradient = weight * 4.0 * SQRT_2 * setting.radius / (2.0 - eta);
    let newton = 5.0 * (inverse_concavity + 2.0 * gradient * setting.norm);
    newton * setting.k() * setting.d() * setting.rounds.max(2.0).ln() + exploration * setting.rounds
}

/// The expected mistakes of the reduction to full-information logistic regression, beyond the comparator's
/// log loss: $\frac K\gamma R + \gamma T$, where the base learner's regret is at most $R$ (`base_regret`).
///
/// FOLKLORE's Theorem 4.1, before $\gamma$ is chosen (theory: bandit 6.2).
pub fn bandit_reduction(setting: &Setting, base_regret: f64, exploration: f64) -> f64 {
    setting.k() / exploration * base_regret + exploration * setting.rounds
}

/// SquareCB's regret against the best policy, with probability at least $1 - \delta$ in all rounds at once:
/// $\sum_t \frac{2(K-1)}{\gamma_t} + \frac{\gamma_T}{4} (R + 2\ln\frac1\delta)$, `miss` being $\delta$.
///
/// For an oracle whose regret in log loss is at most $R$ (`oracle_regret`) against comparators of which one
/// forecasts the mean rewards, scales $\gamma_t$ that never fall, and `exploration_sum` the sum. The regret
/// is the sum of the rounds' expected ones, given the rounds before. Derived (theory: gap-weighting 1.4):
/// every number on the right may be that of the run.
pub fn squarecb(exploration_sum: f64, last_scale: f64, oracle_regret: f64, miss: f64) -> f64 {
    exploration_sum + 0.25 * last_scale * (oracle_regret - 2.0 * miss.ln())
}

/// FastCB's regret against the best policy, with probability at least $1 - \delta$ in all rounds at once:
/// $2 (\sum_t \frac{K \ell_t}{\gamma_t} + \ln\frac2\delta) + 2 \gamma_T (R + 2\ln\frac2\delta)$.
///
/// For $\gamma_t \ge 2K$ that never fall; `loss_sum` is the sum, $\ell_t$ being what was lost, and the rest
/// is as in [`squarecb`]. Derived (theory: gap-weighting 2.2, 2.4) with the constants 3/2 and 1 of a round's
/// inequality, for which Foster and Krishnamurthy (2021) have 5 and 7.
pub fn fastcb(loss_sum: f64, last_scale: f64, oracle_regret: f64, miss: f64) -> f64 {
    let log = (2.0 / miss).ln();
    2.0 * (loss_sum + log) + 2.0 * last_scale * (oracle_regret + 2.0 * log)
}

/// The regret of relative gaps against the best policy, with probability at least $1 - \delta$ in all rounds
/// at once:
/// $\frac{12}5 (S + \ln\frac2\delta) + \frac{20}7 \gamma_T (R + 2\ln\frac2\delta)$, with
/// $S = \sum_t \frac{K r_t}{\gamma_t}$.
///
/// For $\gamma_t \ge 5K$ that never fall; `reward_sum` is the sum, $r_t$ being what was earned, and the rest
/// is as in [`squarecb`]. Derived (theory: gap-weighting 4.2, 4.3).
pub fn relative_gaps(reward_sum: f64, last_scale: f64, oracle_regret: f64, miss: f64) -> f64 {
    let log = (2.0 / miss).ln();
    2.4 * (reward_sum + log) + 20.0 / 7.0 * last_scale * (oracle_regret + 2.0 * log)
}

/// EXP4's expected mistakes beyond those of the best of `policies` $M$ policies, with a constant `rate`
/// $\eta$: $\frac{\ln M}{\eta} + \frac{\eta KT}{2(1-\gamma)} + \gamma T$, for `exploration` $\gamma < 1$.
///
/// Auer et al. (2002) for losses; derived as in their proof (theory: bandit 5.1).
pub fn exp4(setting: &Setting, policies: usize, rate: f64, exploration: f64) -> f64 {
    let variance = 0.5 * rate * setting.k() * setting.rounds / (1.0 - exploration);
    (policies as f64).ln() / rate + variance + exploration * setting.rounds
}

/// As [`exp4`], with the rates $\eta_t = \sqrt{\ln M/(Kt)}$, which need no horizon:
/// $\bigl(1 + \frac1{1-\gamma}\bigr)\sqrt{KT\ln M} + \gamma T$.
///
/// Derived (theory: bandit 5.2).
pub fn exp4_any_horizon(setting: &Setting, policies: usize, exploration: f64) -> f64 {
    let root = (setting.k() * setting.rounds * (policies as f64).ln()).sqrt();
    (1.0 + 1.0 / (1.0 - exploration)) * root + exploration * setting.rounds
}

/// AdaBoost.OLM++'s expected mistakes, given rows, labels and weak learners:
/// $\frac{e}{e-1}(\min_i M_i + \ln N)$, arguments as in [`adaboost_olm`].
///
/// Derived (theory: boosting 4.4).
pub fn adaboost_olm_expected(mistakes: u64, copies: usize) -> f64 {
    (mistakes as f64 + (copies as f64).ln()) / (1.0 - (-1f64).exp())
}

/// AdaBoost.OLM++'s mistakes, with probability at least $1 - \delta$: $4 \min_i M_i + 2 \ln(N/\delta)$, where
/// the best of $N = $ `copies` prefixes makes $\min_i M_i = $ `mistakes`.
///
/// FOLKLORE, proof of Proposition 4.4 (theory: boosting 4.2).
pub fn adaboost_olm(mistakes: u64, copies: usize, delta: f64) -> f64 {
    4.0 * mistakes as f64 + 2.0 * (copies as f64 / delta).ln()
}

/// The log loss of a mixture of mixtures, as `auto` is one, minus that of every forecast of a member that is
/// there from the first round to the last: $\ln M + \ln H + \ln(1 + N) + 3\ln 2$ for $M$ = `members`, of at
/// most $H$ = `heads` forecasts each, and $N$ = `stacks`. For importance weights up to 1. Derived (theory:
/// mixtures 3.1).
pub fn mixture_total(members: usize, heads: usize, stacks: usize) -> f64 {
    ((members * heads * (1 + stacks) * 8) as f64).ln()
}

/// AdaHedge's regret against every one of $N = $ `experts` experts, for losses in [0, 1]:
/// $2\sqrt{V \ln N} + \tfrac43 \ln N + 2$, $V = $ `variance` the sum of the losses' variances under the
/// weights.
///
/// De Rooij, van Erven, Grünwald, Koolen, "Follow the leader if you can, hedge if you must" (2014); theory:
/// abstention 1.2.
pub fn adahedge(experts: usize, variance: f64) -> f64 {
    let log = (experts as f64).ln();
    2.0 * (variance * log).sqrt() + 4.0 / 3.0 * log + 2.0
}

/// The expected loss of abstaining AdaHedge beyond the best of $N = $ `experts` experts, for costs of
/// abstaining of at most `cost` $= c \le \tfrac12$: $\min(\ln N/(1 - 2c), 2\sqrt{V \ln N}) + \tfrac43 \ln N +
/// 2$, $V = $ `variance`.
///
/// Gaptron, Theorem 7 (theory: abstention 2.2).
pub fn abstention(experts: usize, variance: f64, cost: f64) -> f64 {
    let log = (experts as f64).ln();
    let constant = if cost < 0.5 { log / (1.0 - 2.0 * cost) } else { f64::INFINITY };
    constant.min(2.0 * (variance * log).sqrt()) + 4.0 / 3.0 * log + 2.0
}

#[cfg(test)]
mod tests;
