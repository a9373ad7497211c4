//! Parameters of label trees: the learner of the nodes, and how it is made.

use crate::algorithm::{Forecast, Model};
use crate::entry::Entry;
use crate::full::aioli::Aioli;
use crate::full::folklore_diag::FolkloreDiag;
use crate::learner::{Classes, Feedback};
use crate::param::{ParamError, Value, fraction};
use crate::params;
use crate::problem::Problem;

/// The prefix of the parameters of the nodes' learners.
const PREFIX: &str = "node.";

/// Limit on the 8-byte numbers of all nodes' matrices together, for the default learner with matrices: 128
/// MiB.
const MATRICES: usize = 1 << 24;

/// Parameters of the default learner without matrices, with which it learns faster than with its own
/// defaults; the regularization is a multiple of the squared radius. A node sees few rows: with more
/// curvature or less regularization its forecasts on rows of words become too sure of themselves.
const FASTER: [(&str, f64); 2] = [("curvature", 0.1), ("regularization", 0.01)];

/// The default learners, with matrices and without.
static AIOLI: Entry = Entry::full::<Aioli>();
static DIAGONAL: Entry = Entry::full::<FolkloreDiag>();

params! {
    /// Parameters of [`LabelTree`](super::LabelTree).
    pub struct LabelTreeParams wraps PREFIX as node_values {
        /// Name of the learner in every node, one of probabilities of two classes; its parameters as
        /// node.norm=2 and so on.
        node: String = "aioli if classes features^2 <= 2^24, else folklore-diag of curvature 0.1 and regularization 0.01 radius^2",
        /// How much a short path counts when a leaf is sought for a new label, in [0, 1]: 1 for nothing else.
        balance: f64 = "0.25",
    }
}

impl LabelTreeParams {
    fn check_wrapped(&self) -> Result<(), ParamError> {
        match &self.node {
            Some(name) => self.named(name)?.check_names(&self.node_values),
            // The default is one of two learners; which one depends on the problem.
            None => AIOLI
                .check_names(&self.node_values)
                .or_else(|error| DIAGONAL.check_names(&self.node_values).map_err(|_| error)),
        }
    }

    /// The entry of the nodes' learner.
    pub(super) fn entry(&self, problem: &Problem) -> Result<&'static Entry, ParamError> {
        let matrices = problem.features.saturating_pow(2).saturating_mul(problem.classes);
        let default = if matrices <= MATRICES { &AIOLI } else { &DIAGONAL };
        self.node.as_deref().map_or(Ok(default), |name| self.named(name))
    }

    /// The value of `balance`.
    pub(super) fn checked_balance(&self) -> Result<f64, ParamError> {
        fraction("balance", self.balance.unwrap_or(0.25))
    }

    /// Makes the learner of a node.
    pub(super) fn make(
        &self,
        entry: &'static Entry,
        two: Problem,
        seed: u64,
    ) -> Result<Box<dyn Model>, ParamError> {
        let mut values = self.node_values.clone();
        if self.node.is_none() && entry.about.name == "folklore-diag" {
            let radius = two.radius.unwrap_or(1.0);
            for (name, value) in FASTER {
                let scale = if name == "regularization" { radius * radius } else { 1.0 };
                values.entry(name.to_owned()).or_insert(Value::Float(scale * value));
            }
        }
        entry.make(&values, two, seed).map_err(|error| error.within(PREFIX))
    }

    /// 8-byte numbers of a node before its first row.
    pub(super) fn numbers_at_first(&self, problem: &Problem) -> usize {
        let two = Problem { classes: 2, ..problem.clone() };
        self.entry(problem).and_then(|entry| entry.numbers_at_first(&self.node_values, &two)).unwrap_or(0)
    }

    /// The entry called `name`, if it is suitable for a node.
    fn named(&self, name: &str) -> Result<&'static Entry, ParamError> {
        let need = "a learner that forecasts probabilities of two classes, learns from labels, takes weights and is no mixture";
        let refused = || ParamError::invalid("node", name, need);
        if let Some(default) = [&AIOLI, &DIAGONAL].into_iter().find(|entry| entry.about.name == name) {
            return Ok(default);
        }
        let entry = self.learners.find(name).map_err(|_| refused())?;
        let about = entry.about;
        let full = matches!(entry.feedback, Feedback::Full | Feedback::Either);
        let probabilities =
            about.forecast == Forecast::Probabilities && about.accepts.classes != Classes::Real;
        if !full || !probabilities || !about.accepts.weights || name == "label-tree" || entry.is_mixture() {
            return Err(refused());
        }
        Ok(entry)
    }
}
