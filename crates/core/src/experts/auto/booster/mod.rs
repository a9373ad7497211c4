//! Gradient-boosted trees that are fitted again when the rows have grown by an eighth, and later by a
//! quarter, as a member: they revise what earlier trees got wrong, which trees that see a row once do not.
//!
//! Each row is kept by its non-zero entries ([`store`]), as long as there is room: then the oldest rows
//! leave. A fit ([`fit`]) is to the rows that are kept when it begins, by the columns of bins of [`columns`].
//! It is divided among the rounds that follow, in portions of equal work, and the trees of the fit before
//! forecast until it is done. Until the first fit is done, all classes have the same probability. If it was
//! announced when the trees are settled, there are fewer fits, each within a round.
//!
//! The heads are the forecasts of a quarter and of all of the trees, so that the mixture decides how many are
//! best, and of the mean of the scores of the last three fits, which errs less by chance; a little of each is
//! uniform. [`Form::Single`] and [`Form::Mean`] are those of models of before.
//!
//! ## Reference
//!
//! Guolin Ke et al., *LightGBM: A Highly Efficient Gradient Boosting Decision Tree*, NIPS 2017.
//! `references.bib`: `ke2017lightgbm`, and `prokhorenkova2018catboost` for trees that grow by levels; theory:
//! mixtures 2.8.
//!
//! ## Why our own
//!
//! Crates of boosted trees (perpetual, hessboost, forust, gbdt) fit in one call. None of them fits in
//! portions that can be counted, interrupted and repeated to the bit.
//!
//! ## Cost
//!
//! Fits take up to a fifth of a millisecond of a round, on average, and up to four times as much in a round
//! with a portion: with many classes or columns there are fewer trees. They take a quarter of it when rows
//! have to double before the next fit. A forecast follows one path in each tree.

use crate::boosting::mixed_uniform;
use crate::example::{Batch, Features, Target, Truth};
use crate::param::ParamError;
use crate::prediction::{Prediction, draw};
use crate::problem::Problem;
use crate::state::{State, Tensor};

use self::fit::{Fit, GROWTH, Plan};
use self::store::Store;
use self::trees::{Trees, outputs, write_probabilities};
use super::kind::{Kind, Settings, Traits, count, is_wide_and_sparse};
use super::member::Member;
use super::row::View;

mod columns;
mod fit;
mod split;
mod store;
mod trees;

/// Limit on the 32-bit words of the rows of a fit, 8 MiB; in the file of a model they take twice as much.
const WORDS: usize = 1 << 21;

/// Limit on the number of rows of a fit.
const ROWS: usize = 1 << 16;

/// Limit on the number of rows times classes of a fit: 16 MiB for scores and probabilities.
const ROWS_AND_CLASSES: usize = 1 << 21;

/// The multiply-adds of a round that are counted for fits, half of what they may take when there are many
/// rows. The booster never leaves, and if all were counted, others had to leave that many streams need.
const WORK: f64 = 125_000.0;

/// Number of heads.
const HEADS: usize = 3;

/// The largest number of fits whose mean is a forecast.
const FITS: usize = 3;

/// How fits are made, and what the heads are of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// A quarter, half and all of the trees of the last fit.
    Single,
    /// A quarter and all of the trees of the last fit, and the mean with the fit before. Fits may take twice
    /// as long, and each tree looks at four fifths of the columns, so that two fits differ.
    Mean,
    /// The same with the mean of the last three fits. They begin with fewer rows, and then twice as often
    /// with half as many trees; leaves may be smaller.
    Often,
    /// The same, and the first third of the trees of each fit grow by levels; the others have more leaves
    /// where there are many rows.
    Levels,
}

impl Form {
    /// What the second setting says.
    fn of([_, fits]: Settings) -> Self {
        match fits {
            4.0 => Self::Levels,
            3.0 => Self::Often,
            2.0 => Self::Mean,
            _ => Self::Single,
        }
    }

    /// The number of fits whose mean is a forecast.
    fn fits(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Mean => 2,
            Self::Often | Self::Levels => FITS,
        }
    }

    /// The first fit begins with this many rows.
    fn first(self) -> u64 {
        match self {
            Self::Single | Self::Mean => 64,
            Self::Often | Self::Levels => 16,
        }
    }

    fn plan(self) -> Plan {
        let before = Plan {
            times: 2.0,
            columns: 0.8,
            growth: GROWTH,
            least_second: 1.0,
            by_levels: 0.0,
            more_leaves: false,
        };
        let often = Plan { growth: 0.5 * GROWTH, least_second: 0.3, ..before };
        match self {
            Self::Single => Plan { times: 1.0, columns: 1.0, ..before },
            Self::Mean => before,
            Self::Often => often,
            Self::Levels => Plan { by_levels: 1.0 / 3.0, more_leaves: true, ..often },
        }
    }

    /// The seed of a fit to `rows` rows.
    fn seed(self, seed: u64, rows: usize) -> u64 {
        match self {
            Self::Single => seed,
            _ => seed ^ (rows as u64) << 20,
        }
    }

    /// The parts of the last fit's trees in the first heads, as inverses.
    fn parts(self) -> &'static [usize] {
        match self {
            Self::Single => &[4, 2, 1],
            _ => &[4, 1],
        }
    }
}

/// Weight of the uniform distribution in every head.
const UNIFORM: f64 = 1e-3;

/// What the fits before trees are settled may take, as [`Plan::times`]: there are half as many, and none is
/// divided.
const ANNOUNCED: f64 = 2.0;

/// The same for the fit that settles the trees.
const SETTLED: f64 = 10.0;

/// Seed, with the round, of the draw of a class from a soft label.
const SOFT: u64 = 0x50F9;

pub(super) struct BoosterKind;

impl Kind for BoosterKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            view: View::Plain,
            similar_heads: false,
            // Thresholds and categories may become important at any time.
            tolerated: 1.0,
            draws: true,
            ..Traits::usual("booster")
        };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "boosted trees, fitted again".to_owned()
    }

    fn make(&self, settings: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Booster::new(Form::of(settings), problem, seed)))
    }

    fn heads(&self, _: Settings) -> usize {
        HEADS
    }

    /// The first number is that of its columns in a stack, 1 if none is given, as in models before it was;
    /// the second one the form of the fits, likewise: 2 and 3 are the number whose mean is a forecast, and 4
    /// is as 3 with trees that grow by levels.
    fn read(&self, first: Option<&str>, second: Option<&str>) -> Option<Settings> {
        let columns = first.map_or(Some(0.0), |first| count(first, HEADS))?;
        let fits = match second {
            None => 0.0,
            Some("2") => 2.0,
            Some("3") => 3.0,
            Some("4") => 4.0,
            Some(_) => return None,
        };
        Some([columns, fits])
    }

    fn candidates(&self, _: &Problem) -> Vec<Settings> {
        vec![[HEADS as f64, 4.0]]
    }

    fn columns(&self, [columns, _]: Settings) -> usize {
        if columns as usize == HEADS { HEADS } else { 1 }
    }

    /// Fitting has the same portion for every problem; forecasts follow a path in each tree.
    fn work(&self, _: Settings, problem: &Problem) -> f64 {
        WORK + 50.0 * problem.features as f64 + 500.0 * problem.classes as f64
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        let rows = WORDS.min((2 + 2 * problem.features).saturating_mul(ROWS));
        // Rows, which may grow by a quarter, and scores, probabilities and bins of a fit.
        2 * rows + ROWS_AND_CLASSES.min(ROWS.saturating_mul(problem.classes))
    }

    fn numbers_at_first(&self, _: Settings, _: &Problem) -> usize {
        0
    }

    fn suits(&self, problem: &Problem) -> bool {
        !is_wide_and_sparse(problem)
    }
}

/// The scores of a row's heads, its sums of scores, and a buffer, in multiples of the outputs.
const ROOM: usize = HEADS + 2;

/// The forecasts of the rows of a stretch, see [`Member::begin_stretch`].
#[derive(Clone, Default)]
struct Stretch {
    /// Number of rows, 0 when the trees have changed since it began; how many of them were learnt.
    rows: usize,
    done: usize,
    /// The scores of each row's heads come first; the rest are buffers.
    room: Vec<f64>,
    bins: Vec<u32>,
}

impl Stretch {
    /// The scores of the next row, which are so many.
    fn next(&self, count: usize) -> Option<&[f64]> {
        (self.done < self.rows).then(|| &self.room[self.done * count..][..count])
    }
}

/// See the [module](self).
#[derive(Clone)]
struct Booster {
    classes: usize,
    features: usize,
    seed: u64,
    form: Form,
    store: Store,
    /// Those of the last fits, the newest one first, as many as have forecasts.
    trees: [Option<Box<Trees>>; FITS],
    /// Number of rows of the present or last fit, 0 before the first; rounds since it began; whether it is
    /// done (1 or 0); all rounds.
    counts: [u64; 4],
    /// The fit in progress; `None` also after loading, until the next round repeats it.
    fit: Option<Box<Fit>>,
    /// The number of rows after which it is settled, if that was announced.
    end: Option<u64>,
    stretch: Stretch,
    /// The trees as a list, while they are saved or loaded.
    saved: Vec<f64>,
}

impl Booster {
    fn new(form: Form, problem: &Problem, seed: u64) -> Self {
        let Problem { classes, features, .. } = *problem;
        let (store, counts) = (Store::default(), [0, 0, 1, 0]);
        let (trees, fit, end, saved) = (Default::default(), None, None, Vec::new());
        Self {
            classes,
            features,
            seed,
            form,
            store,
            trees,
            counts,
            fit,
            end,
            stretch: Stretch::default(),
            saved,
        }
    }

    /// The present fit, which is repeated up to the present round after loading.
    fn fit(&mut self) -> Option<Box<Fit>> {
        let [rows, since, done, _] = self.counts;
        if done == 1 {
            return None;
        }
        let Self { store, classes, features, seed, form, .. } = self;
        Some(self.fit.take().unwrap_or_else(|| {
            let (rows, plan) = (rows as usize, form.plan());
            let mut fit = Fit::new(plan, store, rows, *classes, *features, form.seed(*seed, rows));
            for _ in 0..since {
                fit.advance(store, fit.portion());
            }
            Box::new(fit)
        }))
    }

    /// Removes rows until a fit to the others has its bounds of memory.
    fn shorten(&mut self) {
        self.store.shorten(WORDS, ROWS.min(ROWS_AND_CLASSES / self.classes));
    }

    /// Writes the scores of each row's heads to the front of `room`, which has [`ROOM`] numbers for each row
    /// and output, and returns them.
    fn write_scores<'a>(&self, rows: &dyn Batch, bins: &mut Vec<u32>, room: &'a mut [f64]) -> &'a [f64] {
        let [Some(trees), before @ ..] = &self.trees else { return &[] };
        let outputs = trees.base.len();
        let (heads, room) = room.split_at_mut(rows.len() * HEADS * outputs);
        let (scores, others) = room.split_at_mut(rows.len() * outputs);
        let mut keep = |head: usize, scores: &[f64]| {
            let rows = heads.chunks_exact_mut(HEADS * outputs).zip(scores.chunks_exact(outputs));
            rows.for_each(|(heads, scores)| heads[head * outputs..][..outputs].copy_from_slice(scores));
        };
        trees.columns.of(rows, bins);
        trees.begin(scores);
        let mut done = 0;
        for (head, part) in self.form.parts().iter().enumerate() {
            let to = trees.rounds() / part;
            trees.add(bins, done, to, scores);
            done = to;
            keep(head, scores);
        }
        if self.form.parts().len() < HEADS {
            // Classes that are new since an earlier fit have no scores in it.
            let mut fits = 1.0;
            for before in before.iter().flatten().filter(|before| before.classes == trees.classes) {
                before.columns.of(rows, bins);
                before.begin(others);
                before.add(bins, 0, before.rounds(), others);
                scores.iter_mut().zip(&*others).for_each(|(score, other)| *score += other);
                fits += 1.0;
            }
            scores.iter_mut().for_each(|score| *score /= fits);
            keep(HEADS - 1, scores);
        }
        heads
    }

    /// Takes the trees of a fit.
    fn keep(&mut self, trees: Box<Trees>) {
        self.stretch.rows = 0;
        self.trees[..self.form.fits()].rotate_right(1);
        self.trees[0] = Some(trees);
    }

    /// Does the round's portion of the present fit, or begins the next one.
    fn work_on(&mut self) {
        if let Some(mut fit) = self.fit() {
            self.counts[1] += 1;
            match fit.advance(&self.store, fit.portion()) {
                Some(trees) => {
                    self.keep(trees);
                    self.counts[2] = 1;
                }
                None => self.fit = Some(fit),
            }
            return;
        }
        self.counts[1] += 1;
        let [rows, since, _, all] = self.counts;
        if let Some(end) = self.end.filter(|end| all <= *end) {
            if is_due(all.saturating_sub(since), all, end, self.form.first()) {
                self.fit_whole(ANNOUNCED, 0);
            }
            return;
        }
        if self.is_enough() && since >= self.form.plan().rounds_between(rows as usize) {
            self.shorten();
            let rows = self.store.len() as u64;
            if rows > 0 {
                (self.counts[0], self.counts[1], self.counts[2]) = (rows, 0, 0);
            }
        }
    }

    /// Whether there are rows and classes for a fit.
    fn is_enough(&self) -> bool {
        self.classes > 1 && self.store.len() as u64 >= self.form.first()
    }

    /// A fit to all rows that are kept, with [`Plan::times`] as given, in place of the one in progress; it
    /// counts as one that is done. Of several to the same rows, each has another number `nth`.
    fn fit_whole(&mut self, times: f64, nth: u64) {
        if !self.is_enough() {
            return;
        }
        self.shorten();
        if self.store.len() > 0 {
            let plan = Plan { times, growth: GROWTH, ..self.form.plan() };
            let seed = self.form.seed(self.seed ^ nth, self.store.len());
            let trees = Fit::whole(plan, &self.store, self.classes, self.features, seed);
            self.keep(trees);
            self.fit = None;
            self.counts = [self.store.len() as u64, 0, 1, self.counts[3]];
        }
    }
}

/// Whether the next fit is due after `all` rows, if the last one was to `fitted` rows and the trees are
/// settled after `end`: fits are to two thirds of all rows, two thirds of these, and so on. No forecast has
/// to wait for them, and in the end only what the stacks have learnt of them counts. None is to fewer than
/// `first` rows.
fn is_due(fitted: u64, all: u64, end: u64, first: u64) -> bool {
    let mut mark = 2 * end / 3;
    while mark > all {
        mark = 2 * mark / 3;
    }
    mark > fitted && mark >= first
}

impl Member for Booster {
    fn prediction(&self) -> Prediction {
        let members = vec![Prediction::sized(self.classes, 0); HEADS];
        // Logits of the classes, and the scores of a row.
        Prediction { members, ..Prediction::sized(self.classes, self.classes + ROOM * outputs(self.classes)) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let uniform = 1.0 / self.classes as f64;
        let [Some(trees), ..] = &self.trees else {
            for head in &mut out.members {
                head.probabilities.fill(uniform);
                head.set_scores_to_logarithms();
            }
            return;
        };
        let Prediction { members, scratch, indices: bins, .. } = out;
        let (logits, room) = scratch.split_at_mut(self.classes);
        let (logits, outputs) = (&mut logits[..trees.classes], trees.base.len());
        let scores = match self.stretch.next(HEADS * outputs) {
            Some(scores) => scores,
            None => self.write_scores(&&[x][..], bins, &mut room[..ROOM * outputs]),
        };
        for (head, scores) in members.iter_mut().zip(scores.chunks_exact(outputs)) {
            let (known, new) = head.probabilities.split_at_mut(trees.classes);
            write_probabilities(scores, logits, known);
            new.fill(0.0);
            head.probabilities.iter_mut().for_each(|p| *p += UNIFORM * (uniform - *p));
            head.set_scores_to_logarithms();
        }
    }

    fn begin_stretch(&mut self, rows: &dyn Batch) {
        let mut stretch = std::mem::take(&mut self.stretch);
        (stretch.rows, stretch.done) = (0, 0);
        if let [Some(trees), ..] = &self.trees {
            stretch.room.resize(rows.len() * ROOM * trees.base.len(), 0.0);
            self.write_scores(rows, &mut stretch.bins, &mut stretch.room);
            stretch.rows = rows.len();
        }
        self.stretch = stretch;
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, _: &Prediction) {
        self.saved = Vec::new();
        let class = match y.truth {
            Truth::Class(label) => label.index(),
            Truth::Distribution(shares) => draw(shares, mixed_uniform(SOFT, self.counts[3])).index(),
            Truth::Value(_) => return,
        };
        self.counts[3] += 1;
        self.stretch.done += 1;
        self.store.push(x, class, y.curvature());
        self.work_on();
    }

    /// The kept rows and the trees stay; a fit in progress begins again.
    fn grow(&mut self, classes: usize, features: usize) -> bool {
        (self.classes, self.features) = (classes, features);
        if self.counts[2] == 0 {
            (self.fit, self.counts) = (None, [self.counts[0], u64::MAX >> 12, 1, self.counts[3]]);
        }
        true
    }

    /// Two fits, of which only the newest one counts where no mean does.
    fn settle(&mut self) {
        self.end = None;
        if self.is_enough() {
            self.trees = Default::default();
        }
        for nth in 0..self.form.fits().min(2) as u64 {
            self.fit_whole(SETTLED, nth);
        }
    }

    fn settle_after(&mut self, rounds: u64) {
        self.end = Some(self.counts[3] + rounds);
    }
}

impl State for Booster {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.saved.clear();
        self.trees.iter().flatten().for_each(|trees| trees.list(&mut self.saved));
        let mut tensors = Vec::from(self.store.tensors());
        tensors.push(Tensor::list("trees", &mut self.saved));
        tensors.push(Tensor::counts("counts", &mut self.counts));
        tensors.push(Tensor::count("seed", &mut self.seed));
        tensors
    }

    fn restored(&mut self) -> bool {
        let saved = std::mem::take(&mut self.saved);
        let list = &mut &saved[..];
        (self.fit, self.trees) = (None, Default::default());
        for place in &mut self.trees {
            if list.is_empty() {
                break;
            }
            let Some(trees) = Trees::from_list(list, self.classes, self.features) else { return false };
            *place = Some(Box::new(trees));
        }
        let [rows, since, done, _] = self.counts;
        let fitting = done == 1 || done == 0 && rows > 0 && rows + since == self.store.len() as u64;
        list.is_empty() && fitting && self.store.is_consistent(self.classes, self.features)
    }
}

#[cfg(test)]
mod tests;
