//! Members for dense rows, where rows are sparse and too wide for them: they take the features that occur
//! most often, so that one column with thousands of values does not leave a table without trees, neighbours
//! and families.
//!
//! During the first [`CHOSEN`] rows, whenever their number is a power of two, features that occurred in
//! at least one of [`RARE`] rows get the next places in a dense row, [`WIDTH`] at most, which they keep. A
//! mixture of its own ([`Auto`]), whose members suit the number of places, learns these rows, and is one
//! member with one head. As in a table that is dense from the start, it is given the numbers as they are in
//! the data and standardised: scaled by the largest so far, they would shrink whenever a larger one comes,
//! and rows that trees and neighbours keep would no longer be comparable with later ones. When places were
//! added, a new mixture learns the rows so far, [`STEPS`] of them in each round that follows, and takes over
//! when it has learnt all. If a third of the entries of rows has no place after [`CHOSEN`] rows, as in texts
//! and where most columns have thousands of values, the mixture is left out from then on, and the head is
//! uniform: it would cost more than it gains.

use crate::algorithm::Algorithm;
use crate::capability::Settle as _;
use crate::example::{Features, Target};
use crate::learner::{OnlineLearner, Predictor};
use crate::parallel::Workers;
use crate::param::{ParamError, ParamValue as _, Value};
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor, pack, unpack};

use super::description::Lineup;
use super::kind::{Kind, Settings, Traits, is_wide_and_sparse};
use super::member::Member;
use super::moments::Moments;
use super::row::View;
use super::{Auto, AutoParams};

/// Numbers of a dense row.
const WIDTH: usize = 96;

/// Places are given after this many rows, and after every later power of two up to [`CHOSEN`].
const FIRST: u64 = 8;

/// From then on, places do not change.
const CHOSEN: u64 = 512;

/// A feature gets a place if it occurred in at least one of this many rows, and in three.
const RARE: u64 = 50;

/// Multiply-adds in a round, of the mixture's members, in millions.
const BUDGET: f64 = 0.5;

/// Rows that a mixture with more places learns in a round, until it has learnt all.
const STEPS: usize = 3;

/// So many 8-byte numbers a loaded mixture may claim, however small its state is.
const MOST_UNCHECKED: usize = 1 << 16;

/// The mark of a feature without a place.
const NONE: u32 = u32::MAX;

pub(super) struct PartKind;

/// The problem with dense rows of `width` numbers.
fn narrow(problem: &Problem, width: usize) -> Problem {
    Problem { features: width, sparse: false, ..problem.clone() }
}

/// The parameters of a mixture that chooses its members.
fn params() -> AutoParams {
    AutoParams { budget: Some(BUDGET), ..AutoParams::default() }
}

impl Kind for PartKind {
    fn traits(&self) -> &'static Traits {
        static TRAITS: Traits = Traits {
            view: View::Given,
            // Nothing else has thresholds, products or neighbours.
            tolerated: 1.0,
            draws: true,
            ..Traits::usual("part")
        };
        &TRAITS
    }

    fn title(&self, _: Settings) -> String {
        "mixture over the most frequent features".to_owned()
    }

    /// Narrower rows have the members themselves.
    fn candidates(&self, problem: &Problem) -> Vec<Settings> {
        if is_wide_and_sparse(problem) { vec![[0.0; 2]] } else { Vec::new() }
    }

    fn make(&self, _: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Part::new(problem, seed)))
    }

    fn heads(&self, _: Settings) -> usize {
        1
    }

    fn work(&self, _: Settings, _: &Problem) -> f64 {
        1e6 * BUDGET
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        problem.features.saturating_add(Auto::numbers_for(&params(), &narrow(problem, WIDTH)))
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        problem.features
    }
}

/// A mixture over the features that have places.
#[derive(Clone)]
struct Narrow {
    /// The features with places, in their order.
    places: Vec<u32>,
    /// For every feature, its place, or [`NONE`]. Follows from `places`.
    place_of: Vec<u32>,
    /// Of the rows that the mixture has learnt.
    moments: Moments,
    mixture: Box<Auto>,
}

impl Narrow {
    /// A mixture with `members`, or those that suit the number of places. `None` if there are none.
    fn new(places: Vec<u32>, members: Option<Lineup>, problem: &Problem, seed: u64) -> Option<Self> {
        let params = AutoParams { members, ..params() };
        let mixture = Auto::new(params, narrow(problem, places.len()), seed).ok()?;
        let moments = Moments::new(places.len());
        let mut narrow = Self { places, place_of: Vec::new(), moments, mixture: Box::new(mixture) };
        narrow.set_place_of(problem.features);
        Some(narrow)
    }

    fn set_place_of(&mut self, features: usize) {
        self.place_of.clear();
        self.place_of.resize(features, NONE);
        for (place, feature) in (0..).zip(&self.places) {
            self.place_of[*feature as usize] = place;
        }
    }

    fn has_place(&self, feature: usize) -> bool {
        self.place_of.get(feature).is_some_and(|place| *place != NONE)
    }

    /// Writes the entries with places to `row`: the standardised numbers, then those that were given, which
    /// members with thresholds or distances take.
    fn write(&self, entries: impl Iterator<Item = (usize, f64)>, row: &mut Vec<f64>) {
        let places = self.places.len();
        row.clear();
        row.resize(2 * places, 0.0);
        let (scaled, given) = row.split_at_mut(places);
        for (feature, value) in entries {
            if self.has_place(feature) {
                given[self.place_of[feature] as usize] = value;
            }
        }
        self.moments.scale(given, scaled);
    }

    /// Learns a row as [`Narrow::write`] wrote it, which was predicted `at`.
    fn update(&mut self, row: &[f64], y: Target<'_>, at: &Prediction) {
        self.mixture.update(Features::Dense(row), y, at);
        self.moments.note(&row[self.places.len()..]);
    }
}

/// See the [module](self).
#[derive(Clone)]
struct Part {
    problem: Problem,
    /// Whether the member forecasts and learns (1 or 0); rows so far; entries with a place and all entries of
    /// rows, since places were given last.
    counts: [u64; 4],
    /// For every feature, how often it occurred in the first rows. Empty when places do not change any more.
    seen: Vec<u32>,
    current: Option<Narrow>,
    next: Option<Narrow>,
    /// How many numbers of `kept` are rows that `next` has learnt; from the first row on, 1 and how many
    /// mixtures there were so far; the seed of them all.
    succession: [u64; 3],
    /// The rows that `next` has to learn: numbers of entries and classes, weight, the features, their values,
    /// and the distribution of the classes.
    kept: Vec<f64>,
    /// Places and members of the two mixtures, while the state is saved or loaded.
    lineups: Vec<u32>,
    /// The states of the two mixtures with their moments, while the state is saved or loaded.
    packed: [Vec<f64>; 2],
    workers: Workers,
    /// The number of rows after which it is settled, if that was announced.
    end: Option<u64>,
    row: Vec<f64>,
    shares: Vec<f64>,
    /// A prediction of `next`.
    at: Prediction,
}

impl Part {
    fn new(problem: &Problem, seed: u64) -> Self {
        Self {
            problem: problem.clone(),
            counts: [1, 0, 0, 0],
            seen: vec![0; problem.features],
            current: None,
            next: None,
            succession: [0, 0, seed],
            kept: Vec::new(),
            lineups: Vec::new(),
            packed: Default::default(),
            workers: Workers::default(),
            end: None,
            row: Vec::with_capacity(2 * WIDTH),
            shares: Vec::new(),
            at: Prediction::default(),
        }
    }

    /// The mixture that forecasts.
    fn active(&self) -> Option<&Narrow> {
        self.current.as_ref().filter(|_| self.counts[0] == 1)
    }

    /// Counts the features of a row, and gives places.
    fn observe(&mut self, x: Features<'_>) {
        let latest = self.next.as_ref().or(self.current.as_ref());
        let has_place = |feature: usize| latest.is_some_and(|narrow| narrow.has_place(feature));
        let [active, rows, covered, all] = &mut self.counts;
        *rows += 1;
        if *rows > CHOSEN {
            return;
        }
        for (feature, _) in x.iter().filter(|(_, value)| *value != 0.0) {
            self.seen[feature] = self.seen[feature].saturating_add(1);
            *all += 1;
            *covered += u64::from(has_place(feature));
        }
        let rows = *rows;
        if rows < FIRST || !rows.is_power_of_two() {
            return;
        }
        *active = u64::from(rows < CHOSEN || 3 * *covered > 2 * *all);
        (*covered, *all) = (0, 0);
        let least = (rows / RARE).max(3);
        let mut frequent: Vec<u32> = (0..self.problem.features as u32)
            .filter(|at| u64::from(self.seen[*at as usize]) >= least && !has_place(*at as usize))
            .collect();
        frequent.sort_by_key(|at| (std::cmp::Reverse(self.seen[*at as usize]), *at));
        let mut places = latest.map_or_else(Vec::new, |narrow| narrow.places.clone());
        frequent.truncate(WIDTH - places.len());
        if !frequent.is_empty() {
            places.extend(frequent);
            self.next = Narrow::new(places, None, &self.problem, self.succession[2]);
            self.set_threads();
            // It learns all rows, from the first one on.
            self.next.iter_mut().zip(self.end).for_each(|(next, end)| next.mixture.settle_after(end));
            self.at = self.next.as_ref().map_or_else(Prediction::default, |next| next.mixture.prediction());
            self.succession[0] = 0;
        }
        if rows == CHOSEN {
            self.seen = Vec::new();
        }
    }

    /// Gives the mixtures their threads.
    fn set_threads(&mut self) {
        for narrow in self.current.iter_mut().chain(&mut self.next) {
            narrow.mixture.set_workers(self.workers.clone());
        }
    }

    /// Keeps a row for the mixtures that follow.
    fn keep(&mut self, x: Features<'_>, y: Target<'_>) {
        let entries = || x.iter().filter(|(_, value)| *value != 0.0);
        let classes = self.problem.classes;
        self.kept.extend([entries().count() as f64, classes as f64, y.weight]);
        self.kept.extend(entries().map(|(feature, _)| feature as f64));
        self.kept.extend(entries().map(|(_, value)| value));
        let start = self.kept.len();
        self.kept.resize(start + classes, 0.0);
        y.truth.add_to(1.0, &mut self.kept[start..]);
    }

    /// The next mixture learns some of the rows so far; it takes over when it has learnt all.
    fn catch_up(&mut self) {
        let Some(next) = &mut self.next else { return };
        for _ in 0..STEPS {
            let Some((head, rest)) = self.kept[self.succession[0] as usize..].split_first_chunk::<3>() else {
                break;
            };
            let [entries, classes] = [head[0] as usize, head[1] as usize];
            let (features, rest) = rest.split_at(entries);
            let (values, rest) = rest.split_at(entries);
            self.shares.clear();
            self.shares.extend_from_slice(&rest[..classes]);
            self.shares.resize(self.problem.classes, 0.0);
            let entries = features.iter().map(|feature| *feature as usize).zip(values.iter().copied());
            next.write(entries, &mut self.row);
            next.mixture.predict(Features::Dense(&self.row), &mut self.at);
            next.update(&self.row, Target::distribution(&self.shares).weighted(head[2]), &self.at);
            self.succession[0] += (3 + 2 * features.len() + classes) as u64;
        }
        if self.succession[0] as usize == self.kept.len() {
            self.current = self.next.take();
            self.succession[0] = 0;
            self.succession[1] += 1;
            self.at = Prediction::default();
        }
    }
}

impl Part {
    /// The mixtures of a state that was loaded; `None` if it is not valid.
    fn unpack(&mut self) -> Option<()> {
        let mut words = std::mem::take(&mut self.lineups).into_iter();
        let mut list = || {
            let len = words.next()? as usize;
            let list: Vec<u32> = words.by_ref().take(len).collect();
            (list.len() == len).then_some(list)
        };
        let mut mixtures = [None, None];
        for (mixture, packed) in mixtures.iter_mut().zip(std::mem::take(&mut self.packed)) {
            let (places, members) = (list()?, list()?);
            if !places.is_empty() {
                *mixture = Some(self.loaded(places, members, &packed)?);
            }
        }
        [self.current, self.next] = mixtures;
        self.at = self.next.as_ref().map_or_else(Prediction::default, |next| next.mixture.prediction());
        Some(())
    }

    fn loaded(&self, places: Vec<u32>, members: Vec<u32>, packed: &[f64]) -> Option<Narrow> {
        let features = self.problem.features as u32;
        if places.len() > WIDTH || places.iter().any(|feature| *feature >= features) {
            return None;
        }
        let members: Option<Vec<u8>> = members.into_iter().map(|byte| u8::try_from(byte).ok()).collect();
        let members = Lineup::from_value(&Value::from(std::str::from_utf8(&members?).ok()?))?;
        let small = AutoParams { members: Some(members.clone()), ..params() };
        let numbers = Auto::numbers_at_first(&small, &narrow(&self.problem, places.len()));
        // The factor 2: a symmetric matrix is packed as one triangle.
        if numbers > 2 * packed.len().max(MOST_UNCHECKED) {
            return None;
        }
        let (moments, packed) = packed.split_at_checked(Moments::numbers(places.len()))?;
        let moments = Moments::unpack(moments, places.len())?;
        let narrow = Narrow::new(places, Some(members), &self.problem, self.succession[2])?;
        let mut narrow = Narrow { moments, ..narrow };
        let mut rest = packed.iter().copied();
        unpack(&mut narrow.mixture, &mut rest)?;
        rest.next().is_none().then_some(narrow)
    }

    /// Whether the rows kept are valid, and the next mixture has learnt whole ones.
    fn is_boundary(&self) -> bool {
        let whole =
            |number: f64, limit: usize| number >= 0.0 && number < limit as f64 && number.fract() == 0.0;
        let (mut at, mut found) = (0, self.succession[0] == 0);
        while at < self.kept.len() {
            let Some(([entries, classes, weight], rest)) = self.kept[at..].split_first_chunk::<3>() else {
                return false;
            };
            let Problem { classes: most, features, .. } = self.problem;
            if !whole(*entries, features + 1) || !whole(*classes, most + 1) || *weight <= 0.0 {
                return false;
            }
            let (entries, classes) = (*entries as usize, *classes as usize);
            if rest.len() < 2 * entries + classes || !rest[..entries].iter().all(|at| whole(*at, features)) {
                return false;
            }
            at += 3 + 2 * entries + classes;
            found |= self.succession[0] == at as u64;
        }
        found
    }
}

impl Member for Part {
    fn prediction(&self) -> Prediction {
        let classes = self.problem.classes;
        Prediction { members: vec![Prediction::sized(classes, 0)], ..Prediction::sized(classes, 2 * WIDTH) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { members, scratch, nested, stamp, .. } = out;
        let [head] = &mut members[..] else { return };
        if let Some(narrow) = self.active() {
            if *stamp != Some(self.succession[1]) {
                *nested = None;
            }
            let own = nested.get_or_insert_with(|| Box::new(narrow.mixture.prediction()));
            narrow.write(x.iter(), scratch);
            narrow.mixture.predict(Features::Dense(scratch), own);
            head.probabilities.clone_from(&own.probabilities);
            head.scores.clone_from(&own.scores);
        } else {
            let uniform = 1.0 / head.probabilities.len() as f64;
            head.probabilities.fill(uniform);
            head.set_scores_to_logarithms();
        }
        *stamp = Some(self.succession[1]);
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        self.lineups = Vec::new();
        self.packed = Default::default();
        if let Some(narrow) = self.current.as_mut().filter(|_| self.counts[0] == 1) {
            match &at.nested {
                Some(own) if at.is_fresh(self.succession[1]) => narrow.update(&at.scratch, y, own),
                // The row came earlier, perhaps when another mixture forecast.
                _ => {
                    let mut again = narrow.mixture.prediction();
                    narrow.write(x.iter(), &mut self.row);
                    narrow.mixture.predict(Features::Dense(&self.row), &mut again);
                    narrow.update(&self.row, y, &again);
                }
            }
        }
        self.succession[1] = self.succession[1].max(1);
        if self.counts[1] < CHOSEN || self.next.is_some() {
            self.keep(x, y);
        }
        self.observe(x);
        self.catch_up();
        if self.counts[1] >= CHOSEN && self.counts[0] == 0 {
            (self.current, self.next) = (None, None);
        }
        if self.counts[1] >= CHOSEN && self.next.is_none() {
            self.kept = Vec::new();
            self.succession[0] = 0;
        }
    }

    fn set_workers(&mut self, workers: &Workers) {
        self.workers = workers.clone();
        self.set_threads();
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.problem = Problem { classes, features, ..self.problem.clone() };
        if self.counts[1] < CHOSEN {
            self.seen.resize(features, 0);
        }
        for narrow in self.current.iter_mut().chain(&mut self.next) {
            narrow.set_place_of(features);
            if !narrow.mixture.grow(classes, narrow.places.len()) {
                return false;
            }
        }
        true
    }

    fn settle(&mut self) {
        self.end = None;
        self.current.iter_mut().for_each(|narrow| narrow.mixture.settle());
    }

    fn settle_after(&mut self, rounds: u64) {
        self.end = Some(self.counts[1] + rounds);
        self.current.iter_mut().chain(&mut self.next).for_each(|narrow| narrow.mixture.settle_after(rounds));
    }
}

impl State for Part {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        self.lineups.clear();
        for (narrow, packed) in [&mut self.current, &mut self.next].into_iter().zip(&mut self.packed) {
            packed.clear();
            let (mut places, mut members) = (&[][..], String::new());
            if let Some(Narrow { places: own, moments, mixture, .. }) = narrow {
                members =
                    mixture.params().members.map(|lineup| lineup.to_value().to_string()).unwrap_or_default();
                moments.pack(packed);
                pack(mixture, packed);
                places = own;
            }
            for list in [places.to_vec(), members.bytes().map(u32::from).collect()] {
                self.lineups.push(list.len() as u32);
                self.lineups.extend(list);
            }
        }
        let [current, next] = &mut self.packed;
        vec![
            Tensor::counts("counts", &mut self.counts),
            Tensor::words("seen", &mut self.seen),
            Tensor::counts("succession", &mut self.succession),
            Tensor::list("kept", &mut self.kept),
            Tensor::words("mixtures", &mut self.lineups),
            Tensor::list("current", current),
            Tensor::list("next", next),
        ]
    }

    /// What a program did not store that chose a mixture for [`WIDTH`] places at once: the member begins
    /// again.
    fn is_newer(&self, tensor: &str) -> bool {
        ["succession", "kept", "mixtures", "current", "next"].contains(&tensor)
    }

    fn restored(&mut self) -> bool {
        if self.counts[1] > 0 && self.succession[1] == 0 {
            *self = Self::new(&self.problem, self.succession[2]);
        }
        let expected = if self.counts[1] < CHOSEN { self.problem.features } else { 0 };
        let valid = self.counts[0] <= 1 && self.seen.len() == expected && self.is_boundary();
        valid && self.unpack().is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::boosting::mixed_uniform;
    use crate::experts::auto::tests::check_saved;

    const FEATURES: usize = 3000;

    fn part() -> Part {
        Part::new(&Problem::new(2, FEATURES).with_sparse(true), 1)
    }

    /// Two numbers, whose product has the sign of the class, a constant, and `rare` features that seldom
    /// occur.
    fn play(part: &mut Part, rare: u32, rounds: Range<usize>) -> Vec<f64> {
        let mut at = part.prediction();
        let play = |t: usize| {
            let [a, b] = [1, 2].map(|seed| mixed_uniform(seed, t as u64) - 0.5);
            let mut indices = vec![0, 1, 2];
            indices.extend((0..rare).map(|step| 3 + (7 * t as u32 + 131 * step) % 499 + 500 * step));
            let mut values = vec![a, b, 1.0];
            values.resize(indices.len(), 1.0);
            let x = Features::Sparse { indices: &indices, values: &values };
            let class = usize::from(a * b > 0.0);
            part.predict(x, &mut at);
            part.update(x, Target::class(class), &at);
            at.members[0].probabilities[class]
        };
        rounds.map(play).collect()
    }

    #[test]
    fn frequent_features_are_learnt() {
        let mut part = part();
        let late = &play(&mut part, 1, 0..1500)[1000..];
        assert_eq!(part.active().expect("made").places[..3], [0, 1, 2]);
        assert!(part.active().is_some());
        let loss = late.iter().map(|p| -p.ln()).sum::<f64>() / 500.0;
        assert!(loss < 0.3, "{loss}");
    }

    /// Standardised numbers do not depend on the unit of the data; those that were given are passed on.
    #[test]
    fn standardised_numbers_have_no_unit() {
        let numbers = [1.0, 1000.0].map(|factor| {
            let mut narrow = Narrow::new(vec![2, 0], None, &part().problem, 1).expect("members");
            let mut row = Vec::new();
            for t in 0..50 {
                let value = factor * mixed_uniform(1, t);
                narrow.write([(0, value), (1, 5.0), (2, f64::from(t % 2 == 0))].into_iter(), &mut row);
                let at = narrow.mixture.prediction();
                narrow.update(&row, Target::class(0), &at);
            }
            row
        });
        let [[mark, number, given_mark, given], [same_mark, same, _, larger]] =
            numbers.map(|row| <[f64; 4]>::try_from(row).expect("two numbers in two views"));
        assert_eq!((mark, given_mark, same_mark), (0.0, 0.0, 0.0), "marks are not scaled");
        assert!((number - same).abs() < 1e-9 && larger == 1000.0 * given);
    }

    #[test]
    fn rows_of_rare_features_are_left_alone() {
        let mut part = part();
        let late = &play(&mut part, 5, 0..600)[520..];
        assert!(part.active().is_none() && late.iter().all(|p| *p == 0.5), "{late:?}");
    }

    #[test]
    fn a_saved_member_continues() {
        let fresh = |seed| Part::new(&Problem::new(2, FEATURES).with_sparse(true), seed);
        check_saved(fresh, |part: &mut Part, rounds| play(part, 1, rounds));
    }

    #[test]
    fn it_grows() {
        let mut part = part();
        play(&mut part, 1, 0..100);
        assert!(part.grow(3, 2 * FEATURES));
        play(&mut part, 1, 100..700);
        assert_eq!(part.prediction().members[0].probabilities.len(), 3);
    }
}
