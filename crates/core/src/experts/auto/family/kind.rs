//! The kinds of families: what their matrix is over.

use crate::param::ParamError;
use crate::problem::Problem;

use super::super::expansion::{Expansion, with_products};
use super::super::fourier::{Fourier, WAVES};
use super::super::kind::{Kind, Settings, Traits, is_wide_and_sparse, number};
use super::super::member::Member;
use super::{EVERY, Family};

/// Curvatures $\gamma$ of a family's heads. A valid surrogate has at most ½; the theorem's curvature
/// decreases with the norm of the comparator.
const CURVATURES: [f64; 5] = [0.5, 0.2, 0.08, 0.03, 0.01];

/// The first setting is $\lambda/\gamma$ in multiples of the squared unit. The second is $\delta$, the part
/// of its sums that a family forgets in a round; for `Waves` it is $\sigma$, the standard deviation of the
/// Gaussian kernel in multiples of the unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum FamilyKind {
    /// A matrix with $d$ rows, for all classes.
    Shared,
    /// As `Shared`, over the features and random Fourier features.
    Waves,
    /// As `Shared`, over the features and their products.
    Products,
    /// A matrix with $(K-1)d$ rows.
    Full,
}

impl FamilyKind {
    /// Whether all classes share one block of the matrix.
    fn is_shared(self) -> bool {
        self != Self::Full
    }

    /// $\delta$.
    fn forgetting(self, [_, second]: Settings) -> f64 {
        if self == Self::Waves { 0.0 } else { second }
    }

    /// The number of features after expansion.
    fn wide(self, features: usize) -> usize {
        match self {
            Self::Shared | Self::Full => features,
            Self::Waves => WAVES.saturating_add(features),
            Self::Products => with_products(features),
        }
    }

    /// The settings of the members that may be chosen, in order of preference.
    ///
    /// The families that forget are the best members on streams that drift; on other streams their weight is
    /// close to 0. Products are numerous and smaller than the features, hence their smaller ratios. Most rows
    /// have norms between half a unit and one unit, so that the deviations of `Waves` range from a small
    /// neighbourhood to nearly the whole data.
    fn preferred(self) -> &'static [Settings] {
        match self {
            Self::Shared => {
                &[[0.01, 0.0], [0.01, 0.004], [0.1, 0.0], [0.001, 0.0], [1.0, 0.0], [0.01, 0.016]]
            }
            Self::Waves => &[[0.3, 0.6], [0.01, 0.3], [0.001, 0.8]],
            Self::Products => &[[0.01, 0.0], [0.1, 0.0], [0.0001, 0.016], [0.001, 0.0]],
            Self::Full => &[[0.1, 0.0], [0.01, 0.0], [1.0, 0.0], [0.001, 0.0]],
        }
    }
}

impl Kind for FamilyKind {
    fn traits(&self) -> &'static Traits {
        const fn of(name: &'static str) -> Traits {
            Traits { is_family: true, has_grid: true, works_in_batches: true, ..Traits::usual(name) }
        }
        // A cheap `shared` family represents the lines that trees represent poorly.
        static SHARED: Traits = Traits { tolerated_once: 0.15, ..of("shared") };
        static WAVES: Traits = Traits { has_grid: false, ..of("waves") };
        static PRODUCTS: Traits = of("products");
        static FULL: Traits = of("full");
        match self {
            Self::Shared => &SHARED,
            Self::Waves => &WAVES,
            Self::Products => &PRODUCTS,
            Self::Full => &FULL,
        }
    }

    fn read(&self, ratio: Option<&str>, second: Option<&str>) -> Option<Settings> {
        let second = match (self, second) {
            (Self::Waves, deviation) => number(deviation?)?,
            (_, Some(forgetting)) => number(forgetting).filter(|rate| *rate < 1.0)?,
            (_, None) => 0.0,
        };
        Some([number(ratio?)?, second])
    }

    fn title(&self, [ratio, second]: Settings) -> String {
        let what = match self {
            Self::Shared => "linear with a shared matrix",
            Self::Waves => return format!("waves of features, width {second}, regularization {ratio}"),
            Self::Products => "products of features",
            Self::Full => "linear with a full matrix",
        };
        let forgetting = if second > 0.0 { format!(", forgetting {second}") } else { String::new() };
        format!("{what}, regularization {ratio}{forgetting}")
    }

    fn candidates(&self, problem: &Problem) -> Vec<Settings> {
        // For two classes `full` equals `shared`.
        if *self == Self::Full && problem.classes == 2 { Vec::new() } else { self.preferred().to_vec() }
    }

    fn make(&self, settings: Settings, problem: &Problem, _: u64) -> Result<Box<dyn Member>, ParamError> {
        let [ratio, second] = settings;
        let expansion = match self {
            Self::Shared | Self::Full => Expansion::Plain,
            Self::Waves => Expansion::Waves(Fourier::new(problem.features, second)),
            Self::Products => Expansion::Products,
        };
        let shrinking = (ratio, self.forgetting(settings));
        let (classes, features) = (problem.classes, problem.features);
        Ok(Box::new(Family::new(classes, features, expansion, self.is_shared(), shrinking, &CURVATURES)))
    }

    fn heads(&self, _: Settings) -> usize {
        CURVATURES.len()
    }

    fn work(&self, settings: Settings, problem: &Problem) -> f64 {
        /// The part of a round that does not depend on the problem.
        const CALLS: f64 = 15_000.0;
        let (k, d) = (problem.classes as f64, self.wide(problem.features) as f64);
        let (heads, forgetting) = (CURVATURES.len() as f64, self.forgetting(settings));
        if self.is_shared() {
            let products = 1.5 * d * d + 2.0 * heads * k * d;
            let of_one_matrix = CALLS + products / 3.0 + heads * 600.0 * k;
            let expanding = if *self == Self::Waves { Fourier::work(problem.features) } else { 0.0 };
            return of_one_matrix + forgetting_work(forgetting, d) + expanding;
        }
        let q = k - 1.0;
        let side = q * d;
        let products = side * side * (1.0 + 0.5 * q) + 2.0 * heads * q * side;
        let inner = heads * (k * k * k + 30.0 * k * k + 500.0 * k);
        CALLS + products / 3.0 + inner + forgetting_work(forgetting, side)
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        let (classes, wide) = (problem.classes, self.wide(problem.features));
        let own = Family::numbers(classes, wide, self.is_shared(), CURVATURES.len());
        own.saturating_add(if *self == Self::Waves { Fourier::numbers(problem.features) } else { 0 })
    }

    fn suits(&self, problem: &Problem) -> bool {
        !is_wide_and_sparse(problem)
    }
}

/// The cost per round of the matrix inversions of a family that forgets; the matrix has `side` rows.
fn forgetting_work(forgetting: f64, side: f64) -> f64 {
    if forgetting > 0.0 { side * side * side / EVERY as f64 } else { 0.0 }
}
