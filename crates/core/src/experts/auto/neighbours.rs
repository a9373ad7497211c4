//! Nearest neighbours as a member: the classes of the nearest rows among the latest ones, in windows of
//! several lengths.
//!
//! ## Reference
//!
//! Viktor Losing, Barbara Hammer, Heiko Wersing, *KNN Classifier with Self Adjusting Memory for Heterogeneous
//! Concept Drift*, ICDM 2016: windows of several lengths, of which the one with the fewest recent errors
//! predicts; Klaus Hechenbichler, Klaus Schliep, *Weighted k-Nearest-Neighbor Techniques and Ordinal
//! Classification*, 2004: weights by distance. `references.bib`: `losing2016samknn`,
//! `hechenbichler2004weighted`; theory: mixtures 2.5.
//!
//! That algorithm changes its window to the length with the fewest errors. Here every length has its own
//! heads, and the mixture, whose weights are shared from round to round, follows the best of them. The
//! windows are nested, so that one search of the longest window serves all. For a window and a number $k$ of
//! neighbours at the distances $r_1 \le r_2 \le \dots$ with the classes $c_1, c_2, \dots$,
//!
//! $$ v_c = \textstyle\sum_{i \le k} \bigl(1 - r_i^2 / r_{k+1}^2\bigr)\, 1[c_i = c], \qquad
//!    p_c = \frac{v_c + a\,q_c}{\sum_b v_b + a}, \tag{1} $$
//!
//! with $a = \frac12$ and the frequencies $q$ of the classes so far. For every value of the largest vote
//! share $\max_c v_c / \sum_b v_b$, rounded to a sixteenth, a record counts the rounds with this share, $n$,
//! and those among them in which the class $c^*$ with the most votes was right, $m$. The forecast is
//! calibrated by the record:
//!
//! $$ p_{c^*} \leftarrow \frac{m + b\ p_{c^*}}{n + b}, \qquad b = 4, \tag{2} $$
//!
//! and the other classes keep their proportions.
//!
//! ## Cost
//!
//! A multiply-add for each stored number: at most [`VALUES`] numbers, and [`MOST_ROWS`] rows. Memory: as many
//! numbers in single precision, allocated as rows arrive.

use std::ops::Range;

use crate::boosting::mixed_uniform;
use crate::example::{Batch, Features, Target, Truth};
use crate::kernel::nearest::{LANES, Latest, Near};
use crate::param::ParamError;
use crate::prediction::{Prediction, argmax, draw};
use crate::problem::Problem;
use crate::state::{Listed, State, Tensor, whole};

use super::kind::{Kind, Settings, Traits};
use super::member::Member;

/// Limit on the stored numbers: they fit into the second-level cache of a core.
const VALUES: usize = 1 << 18;

/// Limit on the stored rows, for short rows.
const MOST_ROWS: usize = 1 << 13;

/// With more features than this, too few rows are stored to contain near ones.
const MOST_FEATURES: usize = 512;

/// The lengths of the windows, as divisors of the longest.
const WINDOWS: [usize; 4] = [64, 16, 4, 1];

/// Numbers of neighbours $k$.
const NEIGHBOUR_COUNTS: [usize; 3] = [2, 6, 18];

/// Number of neighbours to find: one more than the largest $k$, since $r_{k+1}$ is the distance of weight 0.
const FOUND: usize = NEIGHBOUR_COUNTS[2] + 1;

/// $a$: the total votes of the frequencies of the classes.
const SMOOTHING: f64 = 0.5;

/// Vote shares are rounded to multiples of one divided by this.
const SHARE_STEPS: usize = 16;

/// $b$: the weight, in rounds, of the uncalibrated probability.
const PRIOR: f64 = 4.0;

/// The part of a record's counts that is forgotten when the record is updated.
const FORGOTTEN: f64 = 1.0 / 512.0;

/// Numbers that a head keeps of a forecast: the class with the most votes, and its rounded share.
const KEPT: usize = 2;

/// Seed, with the round, of the draw of a class from a soft label.
const SOFT: u64 = 0x50F9;

pub(super) struct NeighboursKind;

impl Kind for NeighboursKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            learns_late: true,
            works_in_batches: true,
            // Its windows forget.
            keeps_all: false,
            ..Traits::usual("neighbours")
        };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "nearest neighbours in windows".to_owned()
    }

    fn make(&self, _: Settings, problem: &Problem, _: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Neighbours::new(problem)))
    }

    fn heads(&self, _: Settings) -> usize {
        Neighbours::HEADS
    }

    /// Measured, a nanosecond for each stored row, whose distance is compared, and a twelfth of a nanosecond
    /// for each of its numbers.
    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        let (rows, d) = (most_rows(problem.features) as f64, problem.features as f64);
        rows * (5.0 + 0.42 * d) + Neighbours::HEADS as f64 * (500.0 + 10.0 * problem.classes as f64)
    }

    fn numbers(&self, settings: Settings, problem: &Problem) -> usize {
        let rows = most_rows(problem.features);
        let stored = (Latest::numbers(problem.features, rows) + rows) / 2;
        stored + self.numbers_at_first(settings, problem)
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        problem.classes + problem.features + 2 * Neighbours::HEADS * (SHARE_STEPS + 1)
    }

    fn suits(&self, problem: &Problem) -> bool {
        problem.features <= MOST_FEATURES
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
struct Neighbours {
    rows: Latest,
    /// The lengths of the windows, in blocks of rows.
    windows: [usize; WINDOWS.len()],
    /// Classes of the stored rows, by their positions.
    classes: Vec<u32>,
    /// The number of rows of each class so far.
    counts: Vec<f64>,
    /// For every head and rounded vote share, $m$ and $n$ of (2).
    records: Vec<[f64; 2]>,
    /// Buffer for a row.
    room: Vec<f64>,
}

impl Neighbours {
    /// Number of heads: one for each window and number of neighbours.
    const HEADS: usize = WINDOWS.len() * NEIGHBOUR_COUNTS.len();

    fn new(problem: &Problem) -> Self {
        let rows = Latest::new(problem.features, most_rows(problem.features));
        Self {
            windows: WINDOWS.map(|part| (rows.window() / part).max(1)),
            rows,
            classes: Vec::new(),
            counts: vec![0.0; problem.classes],
            records: vec![[0.0; 2]; Self::HEADS * (SHARE_STEPS + 1)],
            room: vec![0.0; problem.features],
        }
    }

    /// The heads of a window, one for each of [`NEIGHBOUR_COUNTS`].
    fn heads_of(window: usize) -> Range<usize> {
        window * NEIGHBOUR_COUNTS.len()..(window + 1) * NEIGHBOUR_COUNTS.len()
    }

    /// Writes $a q$.
    fn frequencies(&self, out: &mut [f64]) {
        let (k, seen) = (self.counts.len() as f64, self.counts.iter().sum::<f64>());
        for (share, count) in out.iter_mut().zip(&self.counts) {
            *share = SMOOTHING * (count + 1.0 / k) / (seen + 1.0);
        }
    }

    /// The forecast of `head` from `count` of the rows in `near`; `frequencies` are $a q$, and `kept` is as
    /// for [`forecast`].
    fn forecast(
        &self,
        head: usize,
        near: &Near<FOUND>,
        count: usize,
        frequencies: &[f64],
        probabilities: &mut [f64],
        kept: &mut [f64],
    ) {
        probabilities.fill(0.0);
        // If there are no more neighbours, $r_{k+1}^2$ is taken as twice the last squared distance.
        let reach = near.distance(count) * if near.len() > count { 1.0 } else { 2.0 };
        for (distance, place) in near.iter().take(count) {
            let vote = if reach > 0.0 { 1.0 - distance / reach } else { 1.0 };
            probabilities[self.classes[place] as usize] += vote;
        }
        let records = &self.records[head * (SHARE_STEPS + 1)..][..SHARE_STEPS + 1];
        forecast(probabilities, frequencies, records, kept);
    }

    /// Stores the row that is in `room`.
    fn remember(&mut self, class: u32) {
        let place = self.rows.keep(&self.room);
        if place >= self.classes.len() {
            self.classes.push(0);
        }
        self.classes[place] = class;
    }

    /// Takes the state from the beginning of a list; `None` if it is invalid.
    fn take(&mut self, list: &mut &[f64]) -> Option<()> {
        self.rows.set_list(list)?;
        let classes = list.split_off(..self.rows.places())?.iter();
        let class = |class: &f64| whole(*class, self.counts.len()).map(|class| class as u32);
        self.classes = classes.map(class).collect::<Option<_>>()?;
        let counts = list.split_off(..self.counts.len())?;
        self.counts.copy_from_slice(counts);
        let records = list.split_off(..2 * self.records.len())?;
        self.records.copy_from_slice(records.as_chunks::<2>().0);
        let possible = |[right, rounds]: &[f64; 2]| *right >= 0.0 && right <= rounds;
        (self.counts.iter().all(|count| *count >= 0.0) && self.records.iter().all(possible)).then_some(())
    }
}

/// The number of rows of `features` numbers that are stored.
fn most_rows(features: usize) -> usize {
    (VALUES / features.max(1)).clamp(LANES, MOST_ROWS)
}

/// Replaces `votes` by probabilities, (1) and (2), and writes the class with the most votes and its rounded
/// share to `kept`. `frequencies` are $a q$.
fn forecast(votes: &mut [f64], frequencies: &[f64], records: &[[f64; 2]], kept: &mut [f64]) {
    let all = votes.iter().sum::<f64>();
    let top = argmax(votes);
    let step = if all > 0.0 { (votes[top] / all * SHARE_STEPS as f64).round() as usize } else { 0 };
    let scale = 1.0 / (all + SMOOTHING);
    for (p, share) in votes.iter_mut().zip(frequencies) {
        *p = scale * (*p + share); // eq. (1)
    }
    let uncalibrated = votes[top];
    let [right, rounds] = records[step];
    let calibrated = (right + PRIOR * uncalibrated) / (rounds + PRIOR); // eq. (2)
    // The denominator is above 0, since every class has a part of the frequencies.
    let others = if uncalibrated < 1.0 { (1.0 - calibrated) / (1.0 - uncalibrated) } else { 1.0 };
    for p in votes.iter_mut() {
        *p *= others;
    }
    votes[top] = if uncalibrated < 1.0 { calibrated } else { 1.0 };
    kept.copy_from_slice(&[top as f64, step as f64]);
}

impl Member for Neighbours {
    fn prediction(&self) -> Prediction {
        let k = self.counts.len();
        let head = Prediction { kept: vec![0.0; KEPT], ..Prediction::sized(k, 0) };
        Prediction { members: vec![head; Self::HEADS], ..Prediction::sized(k, self.room.len() + k) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { scratch, members, .. } = out;
        let (row, frequencies) = scratch.split_at_mut(self.room.len());
        self.frequencies(frequencies);
        row.fill(0.0);
        x.add_to(1.0, row);
        Latest::round(row);
        self.rows.nearest::<FOUND>(row, &self.windows, &mut [Near::new()], |_, window, near| {
            for (of_window, head) in Self::heads_of(window).enumerate() {
                let at = &mut members[head];
                self.forecast(
                    head,
                    near,
                    NEIGHBOUR_COUNTS[of_window],
                    frequencies,
                    &mut at.probabilities,
                    &mut at.kept,
                );
            }
        });
    }

    /// For each head, its probabilities, and what it keeps.
    fn batch(&self, rows: &dyn Batch) -> Vec<f64> {
        /// Number of rows that are searched for together.
        const TOGETHER: usize = 32;
        let (d, k) = (self.room.len(), self.counts.len());
        let len = Self::HEADS * (k + KEPT);
        let mut frequencies = vec![0.0; k];
        self.frequencies(&mut frequencies);
        let mut numbers = vec![0.0; rows.len() * len];
        let mut searched = vec![0.0; rows.len().min(TOGETHER) * d];
        for (part, numbers) in numbers.chunks_mut(TOGETHER * len).enumerate() {
            let count = numbers.len() / len;
            let searched = &mut searched[..count * d];
            searched.fill(0.0);
            for (at, row) in searched.chunks_exact_mut(d).enumerate() {
                rows.features(part * TOGETHER + at).add_to(1.0, row);
            }
            Latest::round(searched);
            let near = &mut [Near::new(); TOGETHER][..count];
            self.rows.nearest::<FOUND>(searched, &self.windows, near, |row, window, near| {
                for (of_window, head) in Self::heads_of(window).enumerate() {
                    let own = &mut numbers[row * len + head * (k + KEPT)..][..k + KEPT];
                    let (probabilities, kept) = own.split_at_mut(k);
                    self.forecast(head, near, NEIGHBOUR_COUNTS[of_window], &frequencies, probabilities, kept);
                }
            });
        }
        numbers
    }

    fn predict_in_batch(&self, _: Features<'_>, numbers: &[f64], out: &mut Prediction) {
        let k = self.counts.len();
        for (at, own) in out.members.iter_mut().zip(numbers.chunks_exact(k + KEPT)) {
            let (probabilities, kept) = own.split_at(k);
            at.probabilities.copy_from_slice(probabilities);
            at.kept.copy_from_slice(kept);
        }
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        let class = match y.truth {
            Truth::Class(label) => label.index(),
            Truth::Distribution(shares) => {
                draw(shares, mixed_uniform(SOFT, self.counts.iter().sum::<f64>() as u64)).index()
            }
            Truth::Value(_) => return,
        };
        for (head, records) in at.members.iter().zip(self.records.chunks_exact_mut(SHARE_STEPS + 1)) {
            let [top, step] = head.kept[..] else { continue };
            let Some([right, rounds]) = records.get_mut(step as usize) else { continue };
            *right += f64::from(top == class as f64) - FORGOTTEN * *right;
            *rounds += 1.0 - FORGOTTEN * *rounds;
        }
        self.room.fill(0.0);
        x.add_to(1.0, &mut self.room);
        Latest::round(&mut self.room);
        self.remember(class as u32);
        self.counts[class] += 1.0;
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.counts.resize(classes, 0.0);
        if features > self.room.len() {
            let mut grown = Self::new(&Problem::new(classes, features));
            for place in self.rows.in_order() {
                self.rows.row(place, &mut grown.room);
                grown.remember(self.classes[place]);
            }
            std::mem::swap(&mut grown.counts, &mut self.counts);
            std::mem::swap(&mut grown.records, &mut self.records);
            *self = grown;
        }
        true
    }
}

impl State for Neighbours {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        vec![Tensor::listed("neighbours", self)]
    }
}

impl Listed for Neighbours {
    fn list(&self) -> Vec<f64> {
        let mut list = Vec::new();
        self.rows.list(&mut list);
        list.extend(self.classes.iter().map(|class| f64::from(*class)));
        list.extend(&self.counts);
        list.extend(self.records.as_flattened());
        list
    }

    fn set_list(&mut self, mut list: &[f64]) -> bool {
        self.take(&mut list).is_some() && list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experts::auto::tests::check_saved;
    use crate::rng::{Rng, Uniforms};

    fn neighbours(classes: usize, features: usize) -> Neighbours {
        Neighbours::new(&Problem::new(classes, features))
    }

    /// Total log losses of the heads over rows with two drawn features, the others 0, whose class is `of(t,
    /// x)`.
    fn losses(
        member: &mut Neighbours,
        rounds: std::ops::Range<usize>,
        of: impl Fn(usize, &[f64]) -> usize,
    ) -> [f64; Neighbours::HEADS] {
        let (mut rng, mut at) = (Rng::new(3, rounds.start as u64), member.prediction());
        let mut losses = [0.0; Neighbours::HEADS];
        for t in rounds {
            let mut x = vec![0.0; member.room.len()];
            x[..2].fill_with(|| rng.uniform());
            let (x, y) = (Features::Dense(&x), Target::class(of(t, &x)));
            member.predict(x, &mut at);
            for (loss, head) in losses.iter_mut().zip(&at.members) {
                assert!((head.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                *loss += y.log_loss(&head.probabilities);
            }
            member.update(x, y, &at);
        }
        losses
    }

    /// Two classes that depend on both features: each feature alone is uninformative.
    fn checks(_: usize, x: &[f64]) -> usize {
        ((4.0 * x[0]) as usize + (4.0 * x[1]) as usize) % 2
    }

    /// Rows at 0, 1 and 3 with the classes 0, 1 and 1, and a forecast at 0.5: squared distances are ¼, ¼ and
    /// 6¼. The two nearest rows have 1 - 0.04 = 0.96 votes each; the frequencies, (1⅓, 2⅓, ⅓)/4 (for K = 3, a
    /// third of a row is added for each class), have half a vote: (0.96 + ⅙)/2.42 for class 0. The window of
    /// one row contains the row at 3 only. The vote share ½ has not occurred before, so that its record is
    /// empty.
    #[test]
    fn a_forecast_by_hand() {
        let (mut member, a) = (neighbours(3, 1), SMOOTHING);
        let mut at = member.prediction();
        for (x, class) in [(0.0, 0), (1.0, 1), (3.0, 1)] {
            member.predict(Features::Dense(&[x]), &mut at);
            member.update(Features::Dense(&[x]), Target::class(class), &at);
        }
        member.predict(Features::Dense(&[0.5]), &mut at);
        let frequencies = [4.0 / 12.0, 7.0 / 12.0, 1.0 / 12.0];
        let want = [0, 1, 2].map(|k| (if k < 2 { 0.96 } else { 0.0 } + a * frequencies[k]) / (1.92 + a));
        for window in at.members.chunks_exact(NEIGHBOUR_COUNTS.len()) {
            for (p, want) in window[0].probabilities.iter().zip(want) {
                assert!((p - want).abs() < 1e-12, "{:?}, not {want:?}", window[0].probabilities);
            }
        }
    }

    /// The probability of the leading class becomes the fraction of rounds in which it was right, here three
    /// quarters.
    #[test]
    fn records_calibrate_the_forecast() {
        let (mut rng, mut member) = (Rng::new(1, 1), neighbours(2, 2));
        let coins: Vec<usize> = (0..3000).map(|_| usize::from(rng.uniform() < 0.25)).collect();
        let (mut at, x) = (member.prediction(), Features::Dense(&[0.5, 0.5]));
        let mut sums = [0.0; Neighbours::HEADS];
        for (t, class) in coins.into_iter().enumerate() {
            member.predict(x, &mut at);
            for (sum, head) in sums.iter_mut().zip(&at.members).filter(|_| t >= 1000) {
                *sum += Target::class(class).log_loss(&head.probabilities) / 2000.0;
            }
            member.update(x, Target::class(class), &at);
        }
        // The entropy of a coin with probability ¼ is 0.562 nats; two votes alone would have a much larger
        // loss.
        assert!(sums.iter().all(|loss| (0.5..0.6).contains(loss)), "{sums:?}");
    }

    /// Long windows have the smallest loss while the stream is stationary, short ones after a change.
    #[test]
    fn windows_follow() {
        let mut member = neighbours(2, 2);
        losses(&mut member, 0..2000, checks);
        let (shortest, longest) = (1, Neighbours::HEADS - 2);
        let still = losses(&mut member, 2000..3000, checks);
        assert!(still[longest] < 200.0 && still[longest] < 0.8 * still[shortest], "{still:?}");
        let exchanged = losses(&mut member, 3000..4000, |t, x| 1 - checks(t, x));
        assert!(exchanged[shortest] < 0.8 * exchanged[longest], "{exchanged:?}");
    }

    #[test]
    fn a_saved_member_continues() {
        let play = |member: &mut Neighbours, rounds| losses(member, rounds, checks);
        check_saved(|_| neighbours(2, 2), play);
    }

    /// A new feature that is always 0 and a new class that never occurs change the forecasts only slightly;
    /// if the larger number of features reduces the number of stored rows, the latest ones are kept.
    #[test]
    fn growing_keeps_what_was_learnt() {
        let mut member = neighbours(2, 2);
        losses(&mut member, 0..2000, checks);
        let mut grown = member.clone();
        assert!(grown.grow(3, 4));
        let (before, after) =
            (losses(&mut member, 2000..2200, checks), losses(&mut grown, 2000..2200, checks));
        for (before, after) in before.iter().zip(after) {
            assert!((before - after).abs() < 1.0, "{before} {after}");
        }
        assert!(grown.grow(3, 300));
        let most = grown.rows.places();
        assert!((most_rows(300)..2200).contains(&most), "{most}");
        assert_eq!(grown.classes.len(), most);
        let late = losses(&mut grown, 2200..2400, checks);
        assert!(late[Neighbours::HEADS - 2] < 80.0, "{late:?}");
    }

    #[test]
    fn memory_is_bounded() {
        let mut member = neighbours(3, 400);
        let (mut rng, mut at) = (Rng::new(7, 0), member.prediction());
        for t in 0..2 * most_rows(400) {
            let x: Vec<f64> = (0..400).map(|_| rng.uniform()).collect();
            member.predict(Features::Dense(&x), &mut at);
            member.update(Features::Dense(&x), Target::class(t % 3), &at);
        }
        let most = NeighboursKind.numbers([0.0; 2], &Problem::new(3, 400));
        // The list is in double precision.
        assert!(member.list().len() < 2 * most, "{} numbers of {most}", member.list().len());
        assert_eq!(member.rows.places(), member.classes.len());
    }
}
