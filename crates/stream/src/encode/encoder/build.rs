//! How an encoder is made, what it is made of, and what may change later.

use std::sync::Arc;

use noregret::learner::{Accepts, Classes};

use super::{Encoder, LargeRow};
use crate::encode::class_weights::ClassWeights;
use crate::encode::labels::Labels;
use crate::encode::outside::Outside;
use crate::encode::scale::{Scaler, Scaling};
use crate::read::costs::{Clipped, Costs};

impl Encoder {
    /// An encoder of rows with at most `columns` columns for a learner that takes `accepts`. The examples are
    /// dense, unscaled and unbounded, without intercept; there are no labels and no room for any.
    pub fn new(columns: usize, accepts: Accepts) -> Self {
        Self {
            labels: Arc::default(),
            classes: 0,
            scaler: Scaler::new(Scaling::None),
            intercept: false,
            sparse: false,
            columns,
            accepts,
            votes: false,
            large_row: LargeRow::Warn,
            radius: f64::INFINITY,
            large_rows: 0,
            absent: vec![],
            fills_missing: false,
            costs: None,
            clipped: Clipped::default(),
            outside: Outside::default(),
            when_learnt: false,
            class_weights: ClassWeights::default(),
        }
    }

    /// The same with the known `labels`, and room for at most `classes` of them: [`usize::MAX`] for a learner
    /// that grows. A real-valued target has neither.
    #[must_use]
    pub fn with_labels(mut self, labels: Labels, classes: usize) -> Self {
        if self.accepts.classes != Classes::Real {
            (self.labels, self.classes) = (Arc::new(labels), classes);
        }
        self
    }

    /// The same with this scaling and its statistics. Standardised examples are dense.
    #[must_use]
    pub fn with_scaler(mut self, scaler: Scaler) -> Self {
        self.sparse &= scaler.scaling() != Scaling::Standard;
        self.scaler = scaler;
        self
    }

    /// The same; with `intercept`, feature 0 is the constant 1.
    #[must_use]
    pub fn with_intercept(self, intercept: bool) -> Self {
        Self { intercept, ..self }
    }

    /// The same; with `sparse`, examples list their non-zero features, unless they are standardised.
    #[must_use]
    pub fn with_sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse && self.scaler.scaling() != Scaling::Standard;
        self
    }

    /// The same; with `votes`, features must be in [-1, 1].
    #[must_use]
    pub fn with_votes(self, votes: bool) -> Self {
        Self { votes, ..self }
    }

    /// The same for a learner with this bound on the norm of examples; without one, no row is beyond it.
    #[must_use]
    pub fn with_radius(self, radius: Option<f64>) -> Self {
        Self { radius: radius.unwrap_or(f64::INFINITY), ..self }
    }

    /// The same with this treatment of rows beyond the learner's radius.
    #[must_use]
    pub fn with_large_row(self, large_row: LargeRow) -> Self {
        Self { large_row, ..self }
    }

    /// The same with this range of costs, for a learner that learns from the reward of the played label;
    /// `None` for a learner that needs the true label.
    #[must_use]
    pub fn with_costs(self, costs: Option<Costs>) -> Self {
        Self { costs, ..self }
    }

    /// The same with these weights of classes.
    #[must_use]
    pub fn with_class_weights(self, class_weights: ClassWeights) -> Self {
        Self { class_weights, ..self }
    }

    /// The classes seen so far; empty for a real-valued target.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The classes seen so far, to add some.
    pub fn labels_mut(&mut self) -> &mut Labels {
        Arc::make_mut(&mut self.labels)
    }

    /// Largest number of classes: new ones are added up to this number. [`usize::MAX`] for a learner that
    /// grows, 0 for a real-valued target.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Makes room for `classes` classes, unless the target is real-valued, and for `columns` columns.
    pub fn make_room(&mut self, classes: usize, columns: usize) {
        if self.accepts.classes != Classes::Real {
            self.classes = classes;
        }
        self.columns = columns;
    }

    /// The scaling and its statistics.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// The scaling and its statistics, to replace or to follow them.
    pub fn scaler_mut(&mut self) -> &mut Scaler {
        &mut self.scaler
    }

    /// Whether feature 0 is the constant 1.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Whether examples are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Number of columns of the data, without the intercept.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of features of an example.
    pub fn features(&self) -> usize {
        self.columns + usize::from(self.intercept)
    }

    /// What the learner accepts.
    pub fn accepts(&self) -> Accepts {
        self.accepts
    }

    /// Whether features are votes, which must be in [-1, 1].
    pub fn has_votes(&self) -> bool {
        self.votes
    }

    /// Treatment of rows beyond the learner's radius.
    pub fn large_row(&self) -> LargeRow {
        self.large_row
    }

    /// Sets the treatment of rows beyond the learner's radius.
    pub fn set_large_row(&mut self, large_row: LargeRow) {
        self.large_row = large_row;
    }

    /// The learner's bound on the norm of examples; infinite if it has none.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Number of rows beyond the radius.
    pub fn large_rows(&self) -> u64 {
        self.large_rows
    }

    /// Sets the number of rows beyond the radius, to continue an interrupted run.
    pub fn set_large_rows(&mut self, rows: u64) {
        self.large_rows = rows;
    }

    /// Counts a row beyond the radius, if it is `beyond`.
    pub fn count(&mut self, beyond: bool) {
        self.large_rows += u64::from(beyond);
    }

    /// Sets the columns that are absent from the data; their values are replaced by the mean.
    pub fn set_absent(&mut self, columns: Vec<u32>) {
        self.absent = columns;
    }

    /// The same; with `fills`, [`Scaler::stand_in`] stands for a number that a row names as missing
    /// ([`Row::missing`](crate::Row::missing)). Otherwise, and in models of before, it is 0, as is a feature
    /// that a row does not name.
    #[must_use]
    pub fn with_filled_missing(self, fills: bool) -> Self {
        Self { fills_missing: fills && self.scaler.scaling() == Scaling::Standard, ..self }
    }

    /// Whether a missing number may be the mean of its column.
    pub fn fills_missing(&self) -> bool {
        self.fills_missing
    }

    /// Whether a feature may begin that says that the number of a column is missing, in a model whose columns
    /// grow: if its mean stands for the number, and 20 others or more have come.
    pub fn lacks(&self, column: u32) -> bool {
        self.fills_missing && self.scaler.lacks(column as usize)
    }

    /// The range of costs, for a learner that learns from the reward of the played label; `None` for a
    /// learner that needs the true label.
    pub fn costs(&self) -> Option<Costs> {
        self.costs
    }

    /// Whether rows of decisions that wait for feedback move the scaling when they are learnt
    /// ([`Encoder::encode_late`]); in models of before they do when they are decided on.
    pub fn scales_when_learnt(&self) -> bool {
        self.when_learnt
    }

    /// Sets whether rows move the scaling when they are learnt.
    pub fn set_scales_when_learnt(&mut self, when_learnt: bool) {
        self.when_learnt = when_learnt;
    }

    /// The weights of classes.
    pub fn class_weights(&self) -> &ClassWeights {
        &self.class_weights
    }

    /// Sets the weights of classes.
    pub fn set_class_weights(&mut self, class_weights: ClassWeights) {
        self.class_weights = class_weights;
    }

    /// Sets the range of costs.
    pub fn set_costs(&mut self, costs: Option<Costs>) {
        self.costs = costs;
    }
}
