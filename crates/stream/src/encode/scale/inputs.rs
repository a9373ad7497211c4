//! Scaling of labels on offer: numbers of the round and of the labels are scaled before they are multiplied.
//!
//! Most of the product of two numbers far from 0 is the product of their means, which decides nothing, and
//! scaling the product does not take it apart. Products of standardised numbers are near unit scale, with
//! mean 0 where the numbers are independent, and are not scaled again.
//!
//! A number is known by the hash of its name, separately for rounds and labels. A name that has only had -1,
//! 0 and 1 is a category, a word or a truth, and stays as it is. Any other value makes it a number, which is
//! standardised from then on, 0 and 1 included, by the mean and the deviation so far; of labels, by those of
//! all that were on offer in learnt rounds, as the learner itself chooses those that are played.
//!
//! A number that most rounds or labels had since its first value is 0 where it is absent, as in data that
//! leave zeros out, unless 0 is far from it, as from a year: there it is missing, and nothing stands for it.
//! One that fewer than half of them had, as the count of a word, is 0 elsewhere, too, and is divided by its
//! root mean square, so that 0 stays 0.

use noregret::model::{Archive, Data, ModelError, Numbers};

use super::{CLIP, Scaler, note};
use crate::read::number::is_far_from_0;
use crate::read::round::HashedRound;

/// The values of more names than this are not scaled, and kept within [-1, 1].
const MOST_NAMES: usize = 1 << 16;

/// The tensors of a model file.
const NAMES: &str = "inputs/names";
const NUMBERS: &str = "inputs/numbers";

/// The bit of a name that is one of a label.
const OF_LABEL: u32 = 1 << 31;

/// What was seen of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number {
    count: f64,
    mean: f64,
    squares: f64,
    /// The rounds, or the labels, before the round of its first value.
    before: f64,
}

/// How a number is scaled.
struct Way {
    centre: f64,
    /// 0 of a number that has always been the same.
    deviation: f64,
    /// Whether it is 0 where it is absent; else nothing stands for it there.
    is_0: bool,
}

impl Way {
    fn scaled(&self, value: f64) -> f64 {
        if self.deviation == 0.0 {
            return value.clamp(-1.0, 1.0);
        }
        ((value - self.centre) / self.deviation).clamp(-CLIP, CLIP)
    }
}

/// What was seen of the numbers of rounds and labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inputs {
    /// The names by place, in the order in which they became numbers.
    names: Vec<u32>,
    /// The same, increasing, with their places.
    places: Vec<(u32, u32)>,
    numbers: Vec<Number>,
    /// Learnt rounds, and labels that were on offer in them.
    units: [f64; 2],
}

impl Inputs {
    fn place(&self, name: u32) -> Option<usize> {
        let at = self.places.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(self.places[at].1 as usize)
    }

    /// The place of a name, which is a number from now on if it has this value; `before` are the rounds or
    /// labels before.
    fn place_for(&mut self, name: u32, value: f64, before: f64) -> Option<usize> {
        match self.places.binary_search_by_key(&name, |(name, _)| *name) {
            Ok(at) => Some(self.places[at].1 as usize),
            Err(_) if is_plain(value) || self.names.len() == MOST_NAMES => None,
            Err(at) => {
                let place = self.names.len();
                self.places.insert(at, (name, place as u32));
                self.names.push(name);
                self.numbers.push(Number { count: 0.0, mean: 0.0, squares: 0.0, before });
                Some(place)
            }
        }
    }

    fn note(&mut self, place: usize, value: f64) {
        let Number { count, mean, squares, .. } = &mut self.numbers[place];
        *count += 1.0;
        note(value, 1.0 / *count, mean, squares);
    }

    /// The rounds or labels that a name is one of.
    fn units_of(&self, name: u32) -> f64 {
        self.units[usize::from(name & OF_LABEL != 0)]
    }

    /// How the number of a place is scaled.
    fn way(&self, place: usize) -> Way {
        let Number { count, mean, squares, before } = self.numbers[place];
        let units = self.units_of(self.names[place]) - before;
        let (absent, variance) = ((units - count).max(0.0), squares / count);
        if 2.0 * count < units {
            return Way { centre: 0.0, deviation: (mean * mean + variance).sqrt(), is_0: false };
        }
        if absent == 0.0 || is_far_from_0(mean, variance) {
            // Of a number that has always been the same, only that it is there says something.
            let deviation = variance.sqrt();
            let constant = deviation <= 1e-12 * mean.abs();
            return Way { centre: mean, deviation: if constant { 0.0 } else { deviation }, is_0: false };
        }
        let squares = squares + mean * mean * count * absent / units;
        Way { centre: mean * count / units, deviation: (squares / units).sqrt(), is_0: true }
    }

    /// A value that is scaled by what was seen of its place.
    fn scaled(&self, place: Option<usize>, value: f64) -> f64 {
        place.map_or_else(|| value.clamp(-1.0, 1.0), |place| self.way(place).scaled(value))
    }

    /// The names that are 0 where they are absent, with what 0 is, scaled; increasing.
    fn absent(&self) -> Vec<(u32, f64)> {
        let zeros = self.places.iter().filter_map(|(name, place)| {
            let way = self.way(*place as usize);
            way.is_0.then(|| (*name, way.scaled(0.0)))
        });
        zeros.collect()
    }

    /// Takes over what `other` has seen, without allocating once there is room.
    pub(super) fn follow(&mut self, other: &Self) {
        self.names.clone_from(&other.names);
        self.places.clone_from(&other.places);
        self.numbers.clone_from(&other.numbers);
        self.units = other.units;
    }

    /// Adds what `other` has seen. Returns the places that its places have here.
    pub(super) fn add(&mut self, other: &Self) -> Vec<Option<usize>> {
        let before = self.units;
        let units = [before[0] + other.units[0], before[1] + other.units[1]];
        let all = |name: u32, units: [f64; 2]| units[usize::from(name & OF_LABEL != 0)];
        // The rounds or labels since the first value of a part are added.
        for (name, number) in self.names.iter().zip(&mut self.numbers) {
            number.before += all(*name, other.units);
        }
        let mut places = Vec::with_capacity(other.names.len());
        for (&name, theirs) in other.names.iter().zip(&other.numbers) {
            // Not -1, 0 or 1.
            let place = self.place_for(name, f64::INFINITY, all(name, units));
            places.push(place);
            let Some(place) = place else { continue };
            let mine = &mut self.numbers[place];
            let (deviation, share) = (theirs.mean - mine.mean, theirs.count / (mine.count + theirs.count));
            mine.squares += theirs.squares + deviation * deviation * share * mine.count;
            mine.mean += deviation * share;
            mine.count += theirs.count;
            mine.before -= all(name, other.units) - theirs.before;
        }
        self.units = units;
        places
    }

    /// Writes it into a model file.
    pub(crate) fn save(&self, archive: &mut Archive) {
        let (names, numbers) = self.state();
        archive.set_tensor(NAMES, Numbers { shape: vec![names.len()], data: Data::Count(names) });
        archive.set_tensor(NUMBERS, Numbers { shape: vec![numbers.len()], data: Data::of(&numbers) });
    }

    /// Reads it from a model file.
    /// Fails if it is damaged.
    pub(crate) fn load(archive: &Archive) -> Result<Self, ModelError> {
        let found = match (&archive.tensor(NAMES)?.data, &archive.tensor(NUMBERS)?.data) {
            (Data::Count(names), Data::Real(numbers)) => Self::from_state(names, numbers),
            _ => None,
        };
        found.ok_or_else(|| ModelError::Damaged("what was seen of its numbers is inconsistent".to_owned()))
    }

    /// The state: the names, and the rounds and labels, followed by four numbers for each name.
    fn state(&self) -> (Vec<u64>, Vec<f64>) {
        let names = self.names.iter().map(|name| u64::from(*name)).collect();
        let numbers = self.numbers.iter().flat_map(|one| [one.count, one.mean, one.squares, one.before]);
        (names, self.units.into_iter().chain(numbers).collect())
    }

    /// What [`Inputs::state`] was taken from; `None` if that is no state.
    fn from_state(names: &[u64], numbers: &[f64]) -> Option<Self> {
        let (&units, numbers) = numbers.split_first_chunk::<2>()?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        let counted = |count: f64| count.is_finite() && count >= 0.0;
        let is_sound = |&[count, mean, squares, before]: &[f64; 4]| {
            count >= 1.0 && counted(count) && mean.is_finite() && counted(squares) && counted(before)
        };
        let few = names.len() <= MOST_NAMES && names.len() == numbers.len() && rest.is_empty();
        if !few || !numbers.iter().all(is_sound) || !units.into_iter().all(counted) {
            return None;
        }
        let mut inputs = Self { units, ..Self::default() };
        for (&name, &[count, mean, squares, before]) in names.iter().zip(numbers) {
            let name = u32::try_from(name).ok()?;
            let place = inputs.place_for(name, f64::INFINITY, before)?;
            // A name that occurs twice has the place of before.
            *inputs.numbers.get_mut(place).filter(|one| one.count == 0.0)? =
                Number { count, mean, squares, before };
        }
        Some(inputs)
    }

    /// The number of names that are numbers.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Whether a value is one that categories, words and truths have.
fn is_plain(value: f64) -> bool {
    value == 0.0 || value.abs() == 1.0
}

/// The names of all features of a round but products, those of labels marked, with their values.
fn all(round: &HashedRound) -> impl Iterator<Item = (u32, f64)> {
    let labels = round.labels.iter().flat_map(|(_, own)| own.pairs());
    round.context.pairs().chain(labels.map(|(name, value)| (name | OF_LABEL, value)))
}

impl Scaler {
    /// The same, for rows of labels on offer whose numbers are scaled before they are multiplied.
    #[must_use]
    pub(crate) fn with_inputs(self, inputs: Inputs) -> Self {
        Self { inputs: Some(Box::new(inputs)), ..self }
    }

    /// What was seen of the numbers of rounds and labels, if they are scaled before they are multiplied.
    pub(crate) fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_deref()
    }

    /// Sees a round that is learnt, before it is scaled.
    pub(crate) fn learn_round(&mut self, round: &HashedRound) {
        let Some(mut inputs) = self.inputs.take() else { return };
        self.rows += 1;
        let before = inputs.units;
        inputs.units = [before[0] + 1.0, before[1] + round.labels.len() as f64];
        let (mut places, mut values): (Vec<u32>, Vec<f64>) = (vec![], vec![]);
        for (name, value) in all(round) {
            let before = before[usize::from(name & OF_LABEL != 0)];
            if let Some(place) = inputs.place_for(name, value, before) {
                places.push(place as u32);
                values.push(value);
            }
        }
        let clipped = self.guard.as_mut().and_then(|guard| guard.admit_listed(&places, &values));
        let values = clipped.unwrap_or(values);
        places.iter().zip(&values).for_each(|(place, value)| inputs.note(*place as usize, *value));
        self.inputs = Some(inputs);
    }

    /// The round with scaled numbers; a value far outside of what was seen becomes the nearest that was.
    pub(crate) fn scaled_round(&self, round: &HashedRound) -> HashedRound {
        let mut scaled = round.clone();
        let Some(inputs) = &self.inputs else { return scaled };
        let guard = self.guard.as_ref();
        let scale = |name: u32, value: &mut f64| {
            let place = inputs.place(name);
            if let (Some(place), Some(guard)) = (place, guard) {
                *value = guard.clipped_to(place, *value);
            }
            if place.is_some() || !is_plain(*value) {
                *value = inputs.scaled(place, *value);
            }
        };
        let context = &mut scaled.context;
        context.names.iter().zip(&mut context.values).for_each(|(name, value)| scale(*name, value));
        for (_, own) in &mut scaled.labels {
            own.names.iter().zip(&mut own.values).for_each(|(name, value)| scale(name | OF_LABEL, value));
        }
        let absent = inputs.absent();
        let (of_round, of_label) = absent.split_at(absent.partition_point(|(name, _)| name & OF_LABEL == 0));
        scaled.context.add_absent(of_round.iter().copied());
        for (_, own) in &mut scaled.labels {
            own.add_absent(of_label.iter().map(|(name, value)| (name & !OF_LABEL, *value)));
        }
        scaled
    }

    /// Adds what the inputs and the guard of `other` have seen.
    pub(super) fn add_inputs(&mut self, other: &Scaler) {
        let (Some(mine), Some(theirs)) = (&mut self.inputs, &other.inputs) else { return };
        let places = mine.add(theirs);
        match (&mut self.guard, &other.guard) {
            (Some(mine), Some(theirs)) => mine.add_by(theirs, |place| places.get(place).copied().flatten()),
            (mine, _) => *mine = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::scale::{Guard, GuardState, Scaling};
    use crate::read::offer::fill_round;
    use crate::read::row::Row;

    /// A round with an age, and labels with a size, if it is given, and a colour.
    fn round(age: f64, sizes: &[Option<f64>]) -> HashedRound {
        let context = [("age".to_owned(), age), ("from=here".to_owned(), 1.0)];
        let label = |(at, size): (usize, &Option<f64>)| {
            let size = size.map(|size| ("size".to_owned(), size));
            (at as u64, size.into_iter().chain([(format!("hue={at}"), 1.0)]).collect())
        };
        let labels: Vec<_> = sizes.iter().enumerate().map(label).collect();
        let mut row = Row::new();
        fill_round(&context, &labels, 64, &mut row).expect("small");
        row.round().expect("a round").clone()
    }

    fn scaler() -> Scaler {
        Scaler::of_columns(Scaling::Mixed, None, Some(64)).guarded()
    }

    /// The age of a scaled round, and the sizes of its labels, which are not 1 as the others are.
    fn numbers(scaler: &Scaler, of: &HashedRound) -> (f64, Vec<f64>) {
        let scaled = scaler.scaled_round(of);
        let number = |values: &[f64]| values.iter().copied().find(|value| *value != 1.0).unwrap_or(1.0);
        (number(&scaled.context.values), scaled.labels.iter().map(|(_, own)| number(&own.values)).collect())
    }

    /// Ages 30, 50 have the mean 40 and the deviation 10; sizes 2, 4 and 6 the mean 4 and the variance 8/3.
    #[test]
    fn numbers_of_rounds_and_labels_are_standardised() {
        let mut scaler = scaler();
        let rounds = [round(30.0, &[Some(2.0), Some(4.0)]), round(50.0, &[Some(6.0)])];
        assert_eq!(numbers(&scaler, &rounds[0]), (1.0, vec![1.0; 2]), "a number that nothing is known of");
        rounds.iter().for_each(|round| scaler.learn_round(round));
        let deviation = (8.0_f64 / 3.0).sqrt();
        let (age, sizes) = numbers(&scaler, &round(60.0, &[Some(1.0), Some(0.0), Some(1e9)]));
        assert!((age - 2.0).abs() < 1e-12, "{age}");
        assert!((sizes[0] + 3.0 / deviation).abs() < 1e-12 && (sizes[1] + 4.0 / deviation).abs() < 1e-12);
        assert_eq!(sizes[2], CLIP);
        let before = scaler.clone();
        scaler.scaled_round(&rounds[0]);
        assert_eq!(scaler, before, "prediction moves nothing");
        // After many rounds, values far outside are no numbers of the column.
        (0..40).for_each(|t| {
            scaler.learn_round(&round(35.0 + f64::from(t % 11), &[Some(4.0 + f64::from(t % 3))]))
        });
        let usual = numbers(&scaler, &round(40.0, &[Some(5.0)]));
        scaler.learn_round(&round(1e18, &[Some(-1e18)]));
        assert_eq!(scaler.clipped(), 1);
        let after = numbers(&scaler, &round(40.0, &[Some(5.0)]));
        assert!(
            (usual.0 - after.0).abs() < 0.3 && (usual.1[0] - after.1[0]).abs() < 0.7,
            "{usual:?} {after:?}"
        );
    }

    /// What is there in fewer than half of the labels is 0 elsewhere: 3 and 4 have the root mean square
    /// √12.5.
    #[test]
    fn numbers_that_are_rare_keep_0() {
        let mut scaler = scaler();
        for size in [3.0, 4.0] {
            scaler.learn_round(&round(1.0, &[Some(size), None, None]));
        }
        let (age, sizes) = numbers(&scaler, &round(1.0, &[Some(5.0), None]));
        assert_eq!((age, sizes[1]), (1.0, 1.0));
        assert!((sizes[0] - 5.0 / 12.5_f64.sqrt()).abs() < 1e-12, "{sizes:?}");
    }

    /// Sizes 1/2, 2, 5 and 0 where one is absent have the mean 15/8 and the variance 243/64. Beside 100 1/2,
    /// 102 and 105, an absent one is missing.
    #[test]
    fn absent_numbers_are_0_unless_0_is_far() {
        for (shift, want) in [(0.0, -15.0 / 243.0_f64.sqrt()), (100.0, 1.0)] {
            let mut scaler = scaler();
            let sizes = [Some(0.5 + shift), Some(2.0 + shift), Some(5.0 + shift), None];
            scaler.learn_round(&round(1.0, &sizes));
            let (_, found) = numbers(&scaler, &round(1.0, &[None]));
            assert!((found[0] - want).abs() < 1e-12, "{found:?} {want}");
        }
    }

    #[test]
    fn parts_add_up_and_are_saved() {
        let rounds: Vec<HashedRound> = (0..30)
            .map(|t| {
                let t = f64::from(t);
                round(20.0 + t, &[Some(t * 7.0 % 5.0), (t % 2.0 == 0.0).then_some(t - 3.5)])
            })
            .collect();
        let seen = |rounds: &[HashedRound]| {
            let mut scaler = scaler();
            rounds.iter().for_each(|round| scaler.learn_round(round));
            scaler
        };
        let (all, mut joint) = (seen(&rounds), seen(&rounds[..12]));
        joint.add(&seen(&rounds[12..]));
        assert_eq!(joint.state().0, 30);
        for one in &rounds {
            let (mine, theirs) = (joint.scaled_round(one), all.scaled_round(one));
            let pairs = mine.context.values.iter().zip(&theirs.context.values);
            let labels = mine.labels.iter().zip(&theirs.labels);
            let labels = labels.flat_map(|((_, mine), (_, theirs))| mine.values.iter().zip(&theirs.values));
            assert!(pairs.chain(labels).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        let (names, numbers) = all.inputs().expect("inputs").state();
        let again = Inputs::from_state(&names, &numbers).expect("just taken");
        assert_eq!(Some(&again), all.inputs());
        let GuardState { real, counts } = all.guard().expect("guarded").state();
        assert!(Guard::from_state(&GuardState { real, counts }, again.len()).is_some());
        let twice = [names[0]; 2];
        assert!(names.len() == 2 && Inputs::from_state(&twice, &numbers).is_none(), "a name twice");
        assert!(Inputs::from_state(&names[..1], &numbers).is_none(), "cut off");
    }
}
