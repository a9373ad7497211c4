//! Members that use the labels only: frequencies of the classes, over all rounds or after each previous
//! class.

use crate::example::{Features, Target};
use crate::kernel::vector::{NEGLIGIBLE, shrink};
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::kind::{Kind, Settings, Traits};
use super::member::Member;
use super::row::View;

/// $\delta$ of the heads.
const FORGETTING: [f64; 3] = [0.0, 1.0 / 256.0, 1.0 / 32.0];

/// `pairs` needs $K^2$ numbers, and is left out for more classes than this.
const MOST_PAIRED: usize = 256;

/// The kinds of members that use the labels only.
pub(super) enum ContextKind {
    /// Frequencies of the classes.
    Labels,
    /// Frequencies of the classes after each previous class.
    Pairs,
}

impl Kind for ContextKind {
    fn traits(&self) -> &'static Traits {
        const fn of(name: &'static str) -> Traits {
            Traits { view: View::Plain, counts_labels: true, keeps_all: false, ..Traits::usual(name) }
        }
        static LABELS: Traits = of("labels");
        static PAIRS: Traits = of("pairs");
        match self {
            Self::Labels => &LABELS,
            Self::Pairs => &PAIRS,
        }
    }

    fn title(&self, _: Settings) -> String {
        match self {
            Self::Labels => "frequencies of labels".to_owned(),
            Self::Pairs => "labels given the previous label".to_owned(),
        }
    }

    fn candidates(&self, problem: &Problem) -> Vec<Settings> {
        match self {
            Self::Pairs if problem.classes > MOST_PAIRED => Vec::new(),
            Self::Labels | Self::Pairs => vec![[0.0; 2]],
        }
    }

    fn make(&self, _: Settings, problem: &Problem, _: u64) -> Result<Box<dyn Member>, ParamError> {
        let ordered = matches!(self, Self::Pairs);
        Ok(Box::new(Context::new(problem.classes, ordered, &FORGETTING)))
    }

    fn heads(&self, _: Settings) -> usize {
        FORGETTING.len()
    }

    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        FORGETTING.len() as f64 * problem.classes as f64
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        let rows = if matches!(self, Self::Pairs) { problem.classes } else { 1 };
        FORGETTING.len().saturating_mul(problem.classes).saturating_mul(rows)
    }
}

/// Counts of the classes (with `ordered`, for each previous class), with one forecast for each forgetting
/// rate.
///
/// A class that was counted $n_k$ times out of $n$ has the probability $p_k$, and a round of class $y$ with
/// forgetting rate $\delta$ updates the counts that it uses:
///
/// $$ p_k = \frac{n_k + 1/K}{n + 1}, \tag{1} $$
/// $$ n_k \leftarrow (1 - \delta)\ n_k + 1[k = y]. \tag{2} $$
#[derive(Clone, Debug)]
pub(super) struct Context {
    classes: usize,
    ordered: bool,
    forgetting: Vec<f64>,
    /// For each rate and each previous class (only one if not `ordered`), the counts of the $K$ classes.
    counts: Vec<f64>,
    /// The previous label as a distribution; all 0 before the first.
    last: Vec<f64>,
}

impl Context {
    pub(super) fn new(classes: usize, ordered: bool, forgetting: &[f64]) -> Self {
        let rows = if ordered { classes } else { 1 };
        Self {
            classes,
            ordered,
            forgetting: forgetting.to_vec(),
            counts: vec![0.0; forgetting.len() * rows * classes],
            last: vec![0.0; classes],
        }
    }

    fn rows(&self) -> usize {
        if self.ordered { self.classes } else { 1 }
    }

    /// The weight of row `row` of the counts after the label `last`.
    fn share(&self, row: usize, last: &[f64]) -> f64 {
        if self.ordered { last.get(row).copied().unwrap_or(0.0) } else { 1.0 }
    }
}

impl Member for Context {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); self.forgetting.len()];
        // `kept` holds the previous label, since feedback may be late.
        Prediction { members, kept: vec![0.0; self.classes], ..Prediction::sized(self.classes, 0) }
    }

    fn predict(&self, _: Features<'_>, out: &mut Prediction) {
        let (k, rows) = (self.classes, self.rows());
        out.kept.copy_from_slice(&self.last);
        let known: f64 = if self.ordered { self.last.iter().sum() } else { 1.0 };
        for (at, counts) in out.members.iter_mut().zip(self.counts.chunks_exact(rows * k)) {
            // Before the first label, the classes have equal probabilities.
            at.probabilities.fill((1.0 - known) / k as f64);
            for (row, counts) in counts.chunks_exact(k).enumerate() {
                let share = self.share(row, &self.last);
                if share > 0.0 {
                    let total = counts.iter().sum::<f64>() + 1.0;
                    for (p, count) in at.probabilities.iter_mut().zip(counts) {
                        *p += share * (count + 1.0 / k as f64) / total; // eq. (1)
                    }
                }
            }
        }
    }

    fn update(&mut self, _: Features<'_>, y: Target<'_>, at: &Prediction) {
        let (k, rows) = (self.classes, self.rows());
        let last = &at.kept;
        for (head, &rate) in self.forgetting.iter().enumerate() {
            for row in 0..rows {
                let share = self.share(row, last);
                if share > 0.0 {
                    let counts = &mut self.counts[(head * rows + row) * k..][..k];
                    shrink(counts, 1.0 - share * rate, NEGLIGIBLE);
                    y.truth.add_to(share * y.weight, counts); // eq. (2)
                }
            }
        }
        if self.ordered {
            self.last.fill(0.0);
            y.truth.add_to(1.0, &mut self.last);
        }
    }

    fn grow(&mut self, classes: usize, _: usize) -> bool {
        let (k, rows) = (self.classes, self.rows());
        let mut grown = Self::new(classes, self.ordered, &self.forgetting);
        let grown_rows = grown.rows();
        for (head, counts) in self.counts.chunks_exact(rows * k).enumerate() {
            for (row, counts) in counts.chunks_exact(k).enumerate() {
                grown.counts[(head * grown_rows + row) * classes..][..k].copy_from_slice(counts);
            }
        }
        grown.last[..k].copy_from_slice(&self.last);
        *self = grown;
        true
    }
}

impl State for Context {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let shape = vec![self.forgetting.len(), self.rows(), self.classes];
        vec![Tensor::real("counts", shape, &mut self.counts), Tensor::vector("last", &mut self.last)]
    }

    fn restored(&mut self) -> bool {
        self.counts.iter().chain(&self.last).all(|count| *count >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities of each head after `labels`.
    fn after(context: &mut Context, labels: &[usize]) -> Vec<Vec<f64>> {
        let mut at = context.prediction();
        for label in labels {
            context.predict(Features::Dense(&[]), &mut at);
            context.update(Features::Dense(&[]), Target::class(*label), &at);
        }
        context.predict(Features::Dense(&[]), &mut at);
        at.members.iter().map(|head| head.probabilities.clone()).collect()
    }

    /// K = 2: (n + ½)/(N + 1). Without forgetting the counts of 0, 0, 1 are 2 and 1; with ½ they are ½·½ + ½
    /// = ¾ and 1.
    #[test]
    fn labels_by_hand() {
        let mut labels = Context::new(2, false, &[0.0, 0.5]);
        assert_eq!(after(&mut labels, &[]), [[0.5, 0.5], [0.5, 0.5]]);
        assert_eq!(after(&mut labels, &[0, 0, 1]), [[2.5 / 4.0, 1.5 / 4.0], [1.25 / 2.75, 1.5 / 2.75]]);
    }

    /// Class 0 was followed by 0 once and by 1 twice, class 1 always by 0, and the last class is 0; the first
    /// label has no previous one.
    #[test]
    fn pairs_by_hand() {
        let mut pairs = Context::new(2, true, &[0.0]);
        assert_eq!(after(&mut pairs, &[0, 1, 0, 0, 1, 0]), [[1.5 / 4.0, 2.5 / 4.0]]);
        // A new class has no counts yet.
        assert!(pairs.grow(3, 0));
        let third = 1.0 / 3.0;
        let p = &after(&mut pairs, &[])[0];
        for (p, count) in p.iter().zip([1.0, 2.0, 0.0]) {
            assert!((p - (count + third) / 4.0).abs() < 1e-15, "{p}");
        }
    }
}
