//! The problem: facts about a stream that a learner is made for.

use serde::{Deserialize, Serialize};

use crate::param::{ParamError, positive};

/// Largest logit of comparators on the largest row, which determines the default of `norm`. No
/// theorem gives it.
const COMPARATOR_LOGIT: f64 = 30.0;

/// The facts of a stream that a learner is made for.
///
/// Learners take dimensions and defaults of parameters from here. Choices of the user (a
/// comparator's norm, a learning rate) are parameters of the learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Number of classes $K \ge 2$; 1 for a real-valued target.
    pub classes: usize,
    /// Number of features $d \ge 1$, the intercept included if there is one.
    pub features: usize,
    /// Bound $R$ on the Euclidean norm of every row, after scaling. `None`: unknown.
    pub radius: Option<f64>,
    /// Number of rounds $T$. `None`: unknown.
    pub horizon: Option<u64>,
    /// Whether rows are sparse; affects the storage order of first-order weights, not results.
    pub sparse: bool,
}

impl Problem {
    /// A problem of `classes` classes and `features` features.
    pub fn new(classes: usize, features: usize) -> Self {
        Self { classes, features, radius: None, horizon: None, sparse: false }
    }

    /// The same problem with the bound `radius` on the Euclidean norm of every row.
    pub fn with_radius(self, radius: f64) -> Self {
        Self { radius: Some(radius), ..self }
    }

    /// The same problem over `horizon` rounds.
    pub fn with_horizon(self, horizon: u64) -> Self {
        Self { horizon: Some(horizon), ..self }
    }

    /// The same problem with sparse rows.
    pub fn with_sparse(self, sparse: bool) -> Self {
        Self { sparse, ..self }
    }

    /// The same problem with so many classes and features; `None` if it has more of either.
    pub(crate) fn grown(&self, classes: usize, features: usize) -> Option<Self> {
        let grows = classes >= self.classes && features >= self.features;
        grows.then(|| Self { classes, features, ..self.clone() })
    }

    /// $R$: the one given as a parameter, else the stream's, else 1.
    /// Fails if it is not finite and > 0.
    pub(crate) fn resolve_radius(&self, given: Option<f64>) -> Result<f64, ParamError> {
        positive("radius", given.or(self.radius).unwrap_or(1.0))
    }

    /// Number of columns of a label's block: the one given as a parameter, else features / classes, rounded
    /// up.
    pub(crate) fn width(&self, given: Option<u64>) -> usize {
        given.map_or_else(|| self.features.div_ceil(self.classes), |width| width as usize)
    }

    /// [`width`](Self::width), of which as many as there are classes hold all features.
    /// Fails if they do not.
    pub(crate) fn resolve_width(&self, given: Option<u64>) -> Result<usize, ParamError> {
        let width = self.width(given);
        if width == 0 || width.saturating_mul(self.classes) < self.features {
            let need = format!("at least features / classes = {}", self.width(None));
            return Err(ParamError::invalid("width", width, need));
        }
        Ok(width)
    }
}

/// $B$: the one given as a parameter, else 30 / `radius`, so that a learner does not depend on the units of
/// the data.
/// Fails if it is not finite and > 0.
pub(crate) fn resolve_norm(given: Option<f64>, radius: f64) -> Result<f64, ParamError> {
    positive("norm", given.unwrap_or(COMPARATOR_LOGIT / radius))
}
