//! Naive Bayes for sparse rows of words and categories.
//!
//! A feature is a *word* of the row if its value is not 0; how large the value is does not matter. For every
//! word $j$ and class $k$ the weights $c_{kj}$ of the rounds with both are summed; $c_j = \sum_k c_{kj}$,
//! $T_k = \sum_j c_{kj}$, $T = \sum_k T_k$, $V$ is one more than the number of words so far, and $n_k$ the
//! weight of the rounds of class $k$. A row with the words $J$ gives every class the evidence of one of three
//! estimates of its frequencies of words:
//!
//! $$ e_k = \sum_{j \in J} \ln \frac{c_{kj} + \alpha}{T_k + \alpha V}, \tag{1} $$
//! $$ e_k = \sum_{j \in J} \ln \frac{c_{kj}/b_j + s}{T_k + s}, \qquad b_j = \frac{c_j + \alpha}{T + \alpha V},
//!    \quad s = V/10, \tag{2} $$
//! $$ e_k = - \sum_{j \in J} \ln \frac{c_j - c_{kj} + \alpha}{T - T_k + \alpha V}, \tag{3} $$
//!
//! the multinomial estimate with additive smoothing; one that is smoothed towards the frequencies $b$ of the
//! words in all classes, which suits many classes with few rows each; and that of the complement (Jason D. M.
//! Rennie, Lawrence Shih, Jaime Teevan, David R. Karger, *Tackling the Poor Assumptions of Naive Bayes Text
//! Classifiers*, ICML 2003), which suits classes of different frequencies. Words of a text are not
//! independent, so that $e$ is far too certain; every head divides it by the square root of the number of
//! words and has a factor $\tau$ of its own:
//!
//! $$ p_k \propto \frac{n_k + 1/K}{\sum_i n_i + 1}\ \exp\Big(\frac{\tau}{\sqrt{|J|}}\ e_k\Big). \tag{4} $$

use crate::example::{Features, Target};
use crate::kernel::cells::Cells;
use crate::kernel::softmax::softmax;
use crate::kernel::vector::take;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::kind::{Kind, Settings, Traits, stored};
use super::member::Member;
use super::row::View;

/// $\alpha$.
const SMOOTHING: f64 = 0.3;

/// $s/V$.
const SHARE_OF_WORDS: f64 = 0.1;

/// The estimates of frequencies, by their equations.
const MULTINOMIAL: usize = 0;
const BACKGROUND: usize = 1;
const COMPLEMENT: usize = 2;
const ESTIMATES: usize = 3;

/// The estimate and $\tau$ of every head.
const HEADS: [(usize, f64); 6] = [
    (MULTINOMIAL, 0.7),
    (MULTINOMIAL, 1.5),
    (BACKGROUND, 1.0),
    (BACKGROUND, 2.0),
    (COMPLEMENT, 1.0),
    (COMPLEMENT, 2.5),
];

/// So many factors are multiplied before their logarithm is taken; none is above $10^{30}$ or below $\alpha$.
const FACTORS: usize = 8;

/// Counts are at most this, so that products of [`FACTORS`] factors stay finite whatever the weights are.
const MOST_COUNTED: f32 = 1e12;

/// Naive Bayes, for sparse rows.
pub(super) struct NaiveBayesKind;

impl Kind for NaiveBayesKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits { view: View::Plain, ..Traits::usual("bayes") };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "naive Bayes".to_owned()
    }

    fn candidates(&self, problem: &Problem) -> Vec<Settings> {
        if problem.sparse { vec![[0.0; 2]] } else { Vec::new() }
    }

    fn make(&self, _: Settings, problem: &Problem, _: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(NaiveBayes::new(problem)))
    }

    fn heads(&self, _: Settings) -> usize {
        HEADS.len()
    }

    /// A division, and an eighth of three logarithms for every word and class; an exponential for every head
    /// and class.
    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        problem.classes as f64 * (20.0 * stored(problem) + 30.0 * HEADS.len() as f64)
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        Cells::<f32>::numbers(problem.classes, problem.features, usize::MAX)
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        2 * problem.classes
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
struct NaiveBayes {
    classes: usize,
    features: usize,
    /// $c$: for every word, its $K$ numbers.
    counts: Cells,
    /// $T_k$.
    words: Vec<f64>,
    /// $n_k$.
    rounds: Vec<f64>,
    work: Vec<f64>,
}

impl NaiveBayes {
    fn new(problem: &Problem) -> Self {
        let Problem { classes, features, .. } = *problem;
        Self {
            classes,
            features,
            counts: Cells::new(classes, features, usize::MAX),
            words: vec![0.0; classes],
            rounds: vec![0.0; classes],
            work: vec![0.0; classes],
        }
    }

    /// The words of a row.
    fn words_of<'a>(&self, x: Features<'a>) -> impl Iterator<Item = usize> + use<'a> {
        x.views(self.features).0.iter().filter(|(_, value)| *value != 0.0).map(|(feature, _)| feature)
    }

    /// Writes $e_k$ to `evidence`, class by class for each estimate; returns $|J|$. `factors` is as long.
    fn gather(&self, x: Features<'_>, evidence: &mut [f64], factors: &mut [f64]) -> usize {
        let k = self.classes;
        let vocabulary = self.counts.used() as f64 + 1.0;
        let (total, share) = (self.words.iter().sum::<f64>(), SHARE_OF_WORDS * vocabulary);
        let smoothed = SMOOTHING * vocabulary;
        evidence.fill(0.0);
        factors.fill(1.0);
        let (mut length, mut unknown) = (0, 0);
        for word in self.words_of(x) {
            length += 1;
            let Some(counts) = self.counts.get(word) else {
                unknown += 1;
                continue;
            };
            let sum: f64 = counts.iter().map(|count| f64::from(*count)).sum();
            let inverse = (total + smoothed) / (sum + SMOOTHING); // 1/b
            let (first, rest) = factors.split_at_mut(k);
            let (second, third) = rest.split_at_mut(k);
            for (((count, first), second), third) in counts.iter().zip(first).zip(second).zip(third) {
                let count = f64::from(*count);
                *first *= count + SMOOTHING; // eq. (1)
                *second *= count * inverse + share; // eq. (2)
                *third *= (sum - count).max(0.0) + SMOOTHING; // eq. (3)
            }
            if (length - unknown) % FACTORS == 0 {
                drain(factors, evidence);
            }
        }
        drain(factors, evidence);
        // Words without counts have the same factors in all classes; the denominators are those of all words.
        let length_of = length as f64;
        for (at, words) in self.words.iter().enumerate() {
            evidence[at] -= length_of * (words + smoothed).ln();
            evidence[k + at] -= length_of * (words + share).ln();
            let others = (total - words).max(0.0) + smoothed;
            evidence[2 * k + at] = length_of * others.ln() - evidence[2 * k + at];
        }
        length
    }
}

/// Adds the logarithms of `factors` to `sums`, and sets the factors to 1.
fn drain(factors: &mut [f64], sums: &mut [f64]) {
    for (factor, sum) in factors.iter_mut().zip(sums) {
        *sum += factor.ln();
        *factor = 1.0;
    }
}

impl Member for NaiveBayes {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); HEADS.len()];
        Prediction { members, ..Prediction::sized(self.classes, (2 * ESTIMATES + 1) * self.classes) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let k = self.classes;
        let rest = &mut &mut out.scratch[..];
        let (evidence, factors, prior) =
            (take(rest, ESTIMATES * k), take(rest, ESTIMATES * k), take(rest, k));
        let length = self.gather(x, evidence, factors);
        for (prior, rounds) in prior.iter_mut().zip(&self.rounds) {
            *prior = (rounds + 1.0 / k as f64).ln();
        }
        for (at, (estimate, factor)) in out.members.iter_mut().zip(HEADS) {
            let factor = factor / (length.max(1) as f64).sqrt();
            let evidence = &evidence[estimate * k..][..k];
            for ((score, prior), evidence) in at.scores.iter_mut().zip(&*prior).zip(evidence) {
                *score = prior + factor * evidence; // eq. (4)
            }
            softmax(&at.scores, &mut at.probabilities);
        }
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, _: &Prediction) {
        let added = &mut self.work;
        added.fill(0.0);
        y.truth.add_to(y.weight, added);
        for word in x.views(self.features).0.iter().filter(|(_, value)| *value != 0.0).map(|(word, _)| word) {
            let counts = self.counts.get_mut(word).iter_mut();
            for ((count, words), added) in counts.zip(&mut self.words).zip(&*added) {
                let before = *count;
                *count = (before + *added as f32).min(MOST_COUNTED);
                // What was added after rounding, so that the sums stay those of the counts.
                *words += f64::from(*count) - f64::from(before);
            }
        }
        for (rounds, added) in self.rounds.iter_mut().zip(&*added) {
            *rounds += added;
        }
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        let k = self.classes;
        self.counts.grow(classes, features, |old, new| new[..k].copy_from_slice(old));
        self.classes = classes;
        self.features = features;
        for numbers in [&mut self.words, &mut self.rounds, &mut self.work] {
            numbers.resize(classes, 0.0);
        }
        true
    }
}

impl State for NaiveBayes {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![
            Tensor::listed("counts", &mut self.counts),
            Tensor::vector("words", &mut self.words),
            Tensor::vector("rounds", &mut self.rounds),
        ]
    }

    fn restored(&mut self) -> bool {
        self.words.iter().chain(&self.rounds).all(|sum| *sum >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Target;

    fn row(words: &[u32]) -> (Vec<u32>, Vec<f64>) {
        (words.to_vec(), vec![0.5; words.len()])
    }

    fn learn(bayes: &mut NaiveBayes, words: &[u32], class: usize) {
        let (indices, values) = row(words);
        let x = Features::Sparse { indices: &indices, values: &values };
        bayes.update(x, Target::class(class), &bayes.prediction());
    }

    fn heads(bayes: &NaiveBayes, words: &[u32]) -> Vec<Vec<f64>> {
        let (indices, values) = row(words);
        let mut out = bayes.prediction();
        bayes.predict(Features::Sparse { indices: &indices, values: &values }, &mut out);
        out.members.iter().map(|head| head.probabilities.clone()).collect()
    }

    /// After the row {0, 1} of class 0 and {1, 2} of class 1: T = (2, 2), V = 4. The word 0 is in class 0
    /// only and 3 is unknown, so that the odds are (1 + α)/α by (1) and (3). For (2), b = 1.3/5.2 = ¼ and s =
    /// 0.4: (4 + s)/s.
    #[test]
    fn odds_by_hand() {
        let mut bayes = NaiveBayes::new(&Problem::new(2, 5).with_sparse(true));
        learn(&mut bayes, &[0, 1], 0);
        learn(&mut bayes, &[1, 2], 1);
        for (head, (estimate, factor)) in heads(&bayes, &[0, 3]).iter().zip(HEADS) {
            let odds: f64 = if estimate == BACKGROUND { 4.4 / 0.4 } else { 1.3 / 0.3 };
            let want = odds.powf(factor / 2f64.sqrt());
            assert!((head[0] / head[1] - want).abs() < 1e-12, "{estimate} {factor}: {head:?}");
        }
        // Without words, the frequencies of the classes.
        learn(&mut bayes, &[], 0);
        assert!(heads(&bayes, &[]).iter().all(|head| (head[0] - 2.5 / 4.0).abs() < 1e-12));
    }

    /// Long rows: logarithms of products of eight factors are those of the factors.
    #[test]
    fn many_words_are_as_one_by_one() {
        let mut bayes = NaiveBayes::new(&Problem::new(3, 100).with_sparse(true));
        for t in 0..60 {
            let words: Vec<u32> = (0..100).filter(|word| (word * 7 + t) % 5 < 2).collect();
            learn(&mut bayes, &words, (t % 3) as usize);
        }
        let words: Vec<u32> = (3..90).collect();
        let mut evidence = [0.0; 3];
        for word in 3..90 {
            let counts = bayes.counts.get(word).expect("it was met");
            for (k, evidence) in evidence.iter_mut().enumerate() {
                *evidence += ((f64::from(counts[k]) + 0.3) / (bayes.words[k] + 0.3 * 101.0)).ln();
            }
        }
        let (mut found, mut factors) = ([0.0; 9], [0.0; 9]);
        let (indices, values) = row(&words);
        let x = Features::Sparse { indices: &indices, values: &values };
        assert_eq!(bayes.gather(x, &mut found, &mut factors), 87);
        for (found, evidence) in found.iter().zip(evidence) {
            assert!((found - evidence).abs() < 1e-9 * evidence.abs(), "{found} {evidence}");
        }
    }

    #[test]
    fn growing_and_huge_weights_keep_forecasts_finite() {
        let mut bayes = NaiveBayes::new(&Problem::new(2, 3).with_sparse(true));
        learn(&mut bayes, &[0, 1, 2], 1);
        assert!(bayes.grow(4, 20));
        let (indices, values) = row(&(0..20).collect::<Vec<u32>>());
        let x = Features::Sparse { indices: &indices, values: &values };
        let mut target = Target::class(3);
        target.weight = 1e30;
        for _ in 0..3 {
            bayes.update(x, target, &bayes.prediction());
        }
        for head in heads(&bayes, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 19]) {
            assert!((head.iter().sum::<f64>() - 1.0).abs() < 1e-9 && head[3] > 0.9, "{head:?}");
        }
    }
}
