//! Members for dense rows, where rows are sparse and too wide for them: they take the features that occur
//! most often, so that one column with thousands of values does not leave a table without trees, neighbours
//! and families.
//!
//! During the first [`CHOSEN`] rows, whenever their number is a power of two, features that occurred in
//! at least one of [`RARE`] rows get the next of [`WIDTH`] places in a dense row, which they keep. A mixture
//! of its own ([`Auto`]) learns these rows, and is one member with one head. If a third of the entries of
//! rows has no place by then, as in texts and where most columns have thousands of values, the mixture is
//! left out from then on, and the head is uniform: it would cost more than it gains.

use crate::algorithm::Algorithm;
use crate::example::{Features, Target};
use crate::learner::{OnlineLearner, Predictor};
use crate::parallel::Workers;
use crate::param::ParamError;
use crate::prediction::Prediction;
use crate::problem::Problem;
use crate::state::{State, Tensor};

use super::description::{Description, Lineup, Place};
use super::kind::{Kind, Settings, is_wide_and_sparse};
use super::member::Member;
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

/// Multiply-adds in a round, of the mixture's members.
const WORK: f64 = 500_000.0;

/// The mark of a feature without a place.
const NONE: u32 = u32::MAX;

pub(super) struct PartKind;

/// The problem with the dense rows.
fn narrow(problem: &Problem) -> Problem {
    Problem { features: WIDTH, sparse: false, ..problem.clone() }
}

/// The mixture's parameters for the dense rows: members in order of preference, as far as they are within
/// [`WORK`].
fn params(problem: &Problem) -> AutoParams {
    let (problem, mut left) = (narrow(problem), WORK);
    let candidates = Description::candidates(&problem).into_iter();
    let members = candidates.filter(|member| {
        let (kind, work) = (member.kind(), member.work(&problem));
        let fits = kind.suits(&problem) && work <= left;
        left -= if fits { work } else { 0.0 };
        fits
    });
    let places = members.map(|member| Place { member, dropped: false });
    AutoParams { members: Some(Lineup(places.collect())), ..AutoParams::default() }
}

impl Kind for PartKind {
    fn name(&self) -> &'static str {
        "part"
    }

    fn title(&self, _: Settings) -> String {
        "mixture over the most frequent features".to_owned()
    }

    /// Narrower rows have the members themselves.
    fn candidates(&self, problem: &Problem) -> Vec<Settings> {
        if is_wide_and_sparse(problem) { vec![[0.0; 2]] } else { Vec::new() }
    }

    fn make(&self, _: Settings, problem: &Problem, seed: u64) -> Result<Box<dyn Member>, ParamError> {
        Ok(Box::new(Part::new(problem, seed)?))
    }

    fn draws(&self) -> bool {
        true
    }

    fn heads(&self, _: Settings) -> usize {
        1
    }

    fn view(&self) -> View {
        View::Plain
    }

    fn work(&self, _: Settings, _: &Problem) -> f64 {
        WORK
    }

    fn numbers(&self, _: Settings, problem: &Problem) -> usize {
        problem.features.saturating_add(Auto::numbers_for(&params(problem), &narrow(problem)))
    }

    fn numbers_at_first(&self, _: Settings, problem: &Problem) -> usize {
        problem.features.saturating_add(Auto::numbers_at_first(&params(problem), &narrow(problem)))
    }

    /// Nothing else has thresholds, products or neighbours.
    fn tolerated(&self) -> f64 {
        1.0
    }
}

/// See the [module](self).
#[derive(Clone)]
struct Part {
    mixture: Box<Auto>,
    /// Whether the mixture learns (1 or 0); rows so far; entries with a place and all entries of rows.
    counts: [u64; 4],
    /// For every feature, how often it occurred in the first rows. Empty when places do not change any more.
    seen: Vec<u32>,
    /// The features with places, in their order.
    places: Vec<u32>,
    /// For every feature, its place, or [`NONE`]. Follows from `places`.
    place_of: Vec<u32>,
    features: usize,
    row: Vec<f64>,
}

impl Part {
    fn new(problem: &Problem, seed: u64) -> Result<Self, ParamError> {
        let mixture = Box::new(Auto::fixed(params(problem), narrow(problem), seed)?);
        let features = problem.features;
        Ok(Self {
            mixture,
            counts: [1, 0, 0, 0],
            seen: vec![0; features],
            places: Vec::with_capacity(WIDTH),
            place_of: vec![NONE; features],
            features,
            row: vec![0.0; WIDTH],
        })
    }

    /// Whether the mixture forecasts and learns.
    fn is_active(&self) -> bool {
        self.counts[0] == 1 && !self.places.is_empty()
    }

    /// Writes the entries with places to `row`.
    fn write(&self, x: Features<'_>, row: &mut [f64]) {
        row.fill(0.0);
        for (feature, value) in x.iter() {
            if let Some(place) = self.place_of.get(feature)
                && *place != NONE
            {
                row[*place as usize] = value;
            }
        }
    }

    /// Counts the features of a row, and gives places.
    fn observe(&mut self, x: Features<'_>) {
        let [active, rows, covered, all] = &mut self.counts;
        *rows += 1;
        if *rows > CHOSEN {
            return;
        }
        for (feature, _) in x.iter().filter(|(_, value)| *value != 0.0) {
            self.seen[feature] = self.seen[feature].saturating_add(1);
            *all += 1;
            *covered += u64::from(self.place_of[feature] != NONE);
        }
        let rows = *rows;
        if rows < FIRST || !rows.is_power_of_two() {
            return;
        }
        *active = u64::from(rows < CHOSEN || 3 * *covered > 2 * *all);
        (*covered, *all) = (0, 0);
        let least = (rows / RARE).max(3);
        let mut frequent: Vec<u32> = (0..self.features as u32)
            .filter(|at| u64::from(self.seen[*at as usize]) >= least && self.place_of[*at as usize] == NONE)
            .collect();
        frequent.sort_by_key(|at| (std::cmp::Reverse(self.seen[*at as usize]), *at));
        frequent.truncate(WIDTH - self.places.len());
        self.places.extend(frequent);
        self.set_place_of();
        if rows == CHOSEN {
            self.seen = Vec::new();
        }
    }

    fn set_place_of(&mut self) {
        self.place_of.clear();
        self.place_of.resize(self.features, NONE);
        for (place, feature) in (0..).zip(&self.places) {
            self.place_of[*feature as usize] = place;
        }
    }
}

impl Member for Part {
    fn prediction(&self) -> Prediction {
        let classes = self.mixture.problem().classes;
        Prediction { members: vec![self.mixture.prediction()], ..Prediction::sized(classes, WIDTH) }
    }

    fn predict(&self, x: Features<'_>, out: &mut Prediction) {
        let Prediction { members, scratch, .. } = out;
        let [head] = &mut members[..] else { return };
        if self.is_active() {
            self.write(x, scratch);
            self.mixture.predict(Features::Dense(scratch), head);
        } else {
            let uniform = 1.0 / head.probabilities.len() as f64;
            head.probabilities.fill(uniform);
            head.set_scores_to_logarithms();
            head.stamp = None;
        }
    }

    fn update(&mut self, x: Features<'_>, y: Target<'_>, at: &Prediction) {
        if self.is_active() {
            let mut row = std::mem::take(&mut self.row);
            self.write(x, &mut row);
            self.mixture.update(Features::Dense(&row), y, &at.members[0]);
            self.row = row;
        }
        self.observe(x);
    }

    fn set_workers(&mut self, workers: &Workers) {
        self.mixture.set_workers(workers.clone());
    }

    fn grow(&mut self, classes: usize, features: usize) -> bool {
        self.features = features;
        if self.counts[1] < CHOSEN {
            self.seen.resize(features, 0);
        }
        self.set_place_of();
        self.mixture.grow(classes, WIDTH)
    }

    fn boxed_clone(&self) -> Box<dyn Member> {
        Box::new(self.clone())
    }
}

impl State for Part {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        let mixture = self.mixture.tensors();
        let mut tensors: Vec<_> = mixture.into_iter().map(|tensor| tensor.within("mixture")).collect();
        tensors.push(Tensor::counts("counts", &mut self.counts));
        tensors.push(Tensor::words("seen", &mut self.seen));
        tensors.push(Tensor::words("places", &mut self.places));
        tensors
    }

    fn restored(&mut self) -> bool {
        let expected = if self.counts[1] < CHOSEN { self.features } else { 0 };
        let known = |feature: &u32| (*feature as usize) < self.features;
        let valid = self.counts[0] <= 1
            && self.seen.len() == expected
            && self.places.len() <= WIDTH
            && self.places.iter().all(known);
        if valid {
            self.set_place_of();
        }
        valid && self.mixture.restored()
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
        Part::new(&Problem::new(2, FEATURES).with_sparse(true), 1).expect("valid")
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
        assert_eq!(part.places[..3], [0, 1, 2]);
        assert!(part.is_active());
        let loss = late.iter().map(|p| -p.ln()).sum::<f64>() / 500.0;
        assert!(loss < 0.3, "{loss}");
    }

    #[test]
    fn rows_of_rare_features_are_left_alone() {
        let mut part = part();
        let late = &play(&mut part, 5, 0..600)[520..];
        assert!(!part.is_active() && late.iter().all(|p| *p == 0.5), "{late:?}");
    }

    #[test]
    fn a_saved_member_continues() {
        let fresh = |_| part();
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
