//! Model files: safetensors with JSON metadata and a digest.
//!
//! A file holds the tensors of a learner ([`State`]) and, as text, everything needed to make it again:
//! algorithm, parameters in use, problem. Fronts add entries of their own (labels, columns, scaling). Loading
//! trusts nothing: sizes are checked before memory is taken, numbers must be finite, and a digest over the
//! contents must match.
//!
//! A tensor of mostly zeros, such as the rows that trees store, is written as two tensors: `name#places`,
//! whole numbers, has the number of axes, their lengths, and one bit for each number, the lowest first, which
//! is set for non-zero numbers; `name#values` has these numbers in order. Reading restores the same bits; the
//! digest is that of the original tensor. Real numbers that are all exact in single precision are written in
//! it ([`Data::is_single`]); [`Archive::round`] rounds them.
//!
//! This module reads and writes bytes, [`Archive::to_bytes`] and [`Archive::from_bytes`]; `noregret-stream`
//! reads and replaces files.
//!
//! ```
//! use noregret::{Features, Problem, find, model::Archive};
//!
//! let mut learner = find("ogd")?.make(&Default::default(), Problem::new(3, 2), 0)?;
//! let bytes = Archive::of(&mut *learner).to_bytes();
//! let again = Archive::from_bytes(&bytes)?.model()?;
//! assert_eq!(again.values(), learner.values());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod packing;

use std::borrow::Cow;
use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, SafeTensors, View};

use self::packing::{PLACES, VALUES, copy_changed, packed, unpacked};
use crate::algorithm::{About, AnyModel, BanditModel, Model, check_problem};
use crate::param::{ParamError, Values};
use crate::problem::Problem;
use crate::registry;
use crate::state::{Slot, State, fill_triangle, narrowed, set_grown, set_triangle, triangle, words};

/// The version of the file format. Files of other versions are rejected.
pub const FORMAT_VERSION: &str = "1";

/// Limit on the 8-byte numbers that a learner may allocate before its file has been checked.
const MOST_UNCHECKED: usize = 1 << 22;

const DIGEST: &str = "blake3";

/// Readers of safetensors accept a header of up to 100 MB, which also has the names of tensors, and escapes
/// of texts.
const LONGEST_TEXTS: usize = 80_000_000;

/// Why a model could not be saved or loaded, in one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes are not a model file, or a damaged one.
    #[error("not a model file of noregret, or a damaged one: {0}")]
    Damaged(String),
    /// The state contains numbers that are not finite, for example because of overflow.
    #[error("not written: the model's '{tensor}' holds a number that is not finite")]
    NotFinite {
        /// The part of the state.
        tensor: String,
    },
    /// More names than a file can hold.
    #[error("not written: the names of columns and classes take more than {} MB, the most that a model file can hold", LONGEST_TEXTS / 1_000_000)]
    TooLong,
    /// A model file of another version of the format.
    #[error("the model file has format version {found}; this program reads version {FORMAT_VERSION}")]
    Version {
        /// The version in the file.
        found: String,
    },
    /// An average of several learners, which cannot continue learning.
    #[error("the model file holds an average of snapshots, which can predict but not learn")]
    Average,
    /// The file names parameters that the algorithm does not accept.
    #[error("the model file does not describe a learner: {0}")]
    Param(#[from] ParamError),
}

/// The contents of a model file: named tensors and named texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    tensors: BTreeMap<String, Numbers>,
    texts: BTreeMap<String, String>,
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The numbers, row-major.
    pub data: Data,
}

/// The numbers of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Real numbers.
    Real(Vec<f64>),
    /// Whole numbers.
    Count(Vec<u64>),
}

impl Archive {
    /// An archive of `model`: tensors under `learner/`, and the texts that [`Archive::model`] needs.
    pub fn of(model: &mut dyn Model) -> Self {
        Self::made(model.about(), &model.values(), &model.problem().clone(), model)
    }

    /// An archive of a bandit learner.
    pub fn of_bandit(model: &mut dyn BanditModel) -> Self {
        Self::made(model.about(), &model.values(), &model.problem().clone(), model)
    }

    fn made(about: &About, values: &Values, problem: &Problem, state: &mut dyn State) -> Self {
        let mut archive = Self::default();
        archive.set_text("algorithm", about.name);
        archive.set_text("params", serde_json::to_string(values).expect("plain values"));
        archive.set_text("problem", serde_json::to_string(problem).expect("plain numbers"));
        for tensor in state.tensors() {
            archive.set_tensor(&format!("learner/{}", tensor.name), Numbers::of(tensor.slot));
        }
        archive
    }

    /// The learner of this archive, ready to continue; an error if it learns from bandit feedback.
    pub fn model(&self) -> Result<Box<dyn Model>, ModelError> {
        Ok(self.any_model()?.full()?)
    }

    /// The bandit learner of this archive, ready to continue; an error if it learns from labels.
    pub fn bandit_model(&self) -> Result<Box<dyn BanditModel>, ModelError> {
        Ok(self.any_model()?.bandit()?)
    }

    /// The learner of this archive, ready to continue.
    pub fn any_model(&self) -> Result<AnyModel, ModelError> {
        if self.text("snapshots").is_some() {
            return Err(ModelError::Average);
        }
        let entry = registry::find(self.required("algorithm")?)?;
        let params: Values = self.json("params")?;
        let problem: Problem = self.json("problem")?;
        check_problem(entry.about, &problem)?;
        let stored = self.tensors.values().map(|tensor| tensor.data.len()).fold(0, usize::saturating_add);
        // The factor 2: a symmetric matrix is stored as one triangle.
        if entry.numbers_at_first(&params, &problem)? > stored.saturating_mul(2).max(MOST_UNCHECKED) {
            return Err(damaged(format!("{} numbers are too few for its dimensions", stored)));
        }
        let mut model = entry.make_any(&params, problem, 0)?;
        let shape =
            |name: &str| self.tensors.get(&format!("learner/{name}")).map(|tensor| tensor.shape.clone());
        model.state().expect(&shape);
        let mut absent = Vec::new();
        for tensor in model.state().tensors() {
            let name = format!("learner/{}", tensor.name);
            match self.tensors.get(&name) {
                Some(numbers) => numbers.fill(tensor.slot, &name)?,
                None => absent.push(tensor.name),
            }
        }
        // What earlier programs did not know keeps the value that it has in a new learner.
        if let Some(name) = absent.iter().find(|name| !model.state().is_newer(name)) {
            return Err(damaged(format!("tensor 'learner/{name}' is missing")));
        }
        if !model.state().restored() {
            return Err(damaged(CONTRADICTS.to_owned()));
        }
        Ok(model)
    }

    /// The text called `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Sets the text called `name`.
    pub fn set_text(&mut self, name: &str, text: impl Into<String>) {
        self.texts.insert(name.to_owned(), text.into());
    }

    /// The text called `name`, read as JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, ModelError> {
        serde_json::from_str(self.required(name)?).map_err(|error| damaged(format!("its '{name}': {error}")))
    }

    /// The tensor called `name`.
    pub fn tensor(&self, name: &str) -> Result<&Numbers, ModelError> {
        self.tensors.get(name).ok_or_else(|| damaged(format!("tensor '{name}' is missing")))
    }

    /// Sets the tensor called `name`, which must not be `__metadata__`, a name reserved by the file format.
    pub fn set_tensor(&mut self, name: &str, numbers: Numbers) {
        debug_assert_eq!(numbers.shape.iter().product::<usize>(), numbers.data.len(), "{name}");
        self.tensors.insert(name.to_owned(), numbers);
    }

    /// All tensors by name.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Numbers)> {
        self.tensors.iter().map(|(name, numbers)| (name.as_str(), numbers))
    }

    /// Adds the contents of `other`, with every name prefixed by `prefix/`.
    pub fn nest(&mut self, prefix: &str, other: Archive) {
        self.texts.extend(other.texts.into_iter().map(|(name, text)| (format!("{prefix}/{name}"), text)));
        self.tensors.extend(other.tensors.into_iter().map(|(name, data)| (format!("{prefix}/{name}"), data)));
    }

    /// The archive that was added under `prefix`, empty if there is none.
    pub fn nested(&self, prefix: &str) -> Archive {
        let inner = |name: &str| Some(name.strip_prefix(prefix)?.strip_prefix('/')?.to_owned());
        let texts = self.texts.iter().filter_map(|(name, text)| Some((inner(name)?, text.clone())));
        let tensors = self.tensors.iter().filter_map(|(name, data)| Some((inner(name)?, data.clone())));
        Archive { texts: texts.collect(), tensors: tensors.collect() }
    }

    fn required(&self, name: &str) -> Result<&str, ModelError> {
        self.text(name).ok_or_else(|| damaged(format!("its metadata has no '{name}'")))
    }

    /// The digest of the contents, BLAKE3 in hexadecimal: names, shapes and numbers in order of
    /// name. It identifies the state of a model.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let field = |hasher: &mut blake3::Hasher, bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for (name, text) in &self.texts {
            field(&mut hasher, name.as_bytes());
            field(&mut hasher, text.as_bytes());
        }
        for (name, numbers) in &self.tensors {
            field(&mut hasher, name.as_bytes());
            field(&mut hasher, format!("{:?}", numbers.shape).as_bytes());
            hasher.update(&(8 * numbers.data.len() as u64).to_le_bytes());
            let done: Result<(), std::convert::Infallible> = numbers.data.in_pieces(|piece| {
                hasher.update(piece);
                Ok(())
            });
            let Ok(()) = done;
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Passes the file's bytes to `take` in pieces, to save memory.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn in_pieces<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut texts = self.texts.clone();
        texts.insert("format".to_owned(), "noregret".to_owned());
        texts.insert("format_version".to_owned(), FORMAT_VERSION.to_owned());
        texts.insert(DIGEST.to_owned(), self.digest());
        let packed: BTreeMap<&String, (Numbers, Numbers)> =
            self.tensors.iter().filter_map(|(name, numbers)| Some((name, packed(numbers)?))).collect();
        let mut tensors: Vec<(String, &Numbers, Dtype)> = Vec::with_capacity(self.tensors.len());
        for (name, numbers) in &self.tensors {
            match packed.get(name) {
                Some((places, values)) => {
                    tensors.push((format!("{name}{PLACES}"), places, places.dtype()));
                    tensors.push((format!("{name}{VALUES}"), values, values.dtype()));
                }
                None => tensors.push((name.clone(), numbers, numbers.dtype())),
            }
        }
        // In the order of safetensors: types with the largest alignment first, then by name.
        tensors.sort_by(|(a, _, left), (b, _, right)| right.cmp(left).then(a.cmp(b)));
        let mut header = serde_json::Map::new();
        header.insert("__metadata__".to_owned(), serde_json::json!(texts));
        let mut end = 0;
        for (name, numbers, dtype) in &tensors {
            let start = end;
            end += numbers.data_len();
            let about = serde_json::json!({
                "dtype": dtype, "shape": numbers.shape, "data_offsets": [start, end],
            });
            header.insert(name.clone(), about);
        }
        let mut header = serde_json::to_vec(&header).expect("plain data");
        header.resize(header.len().next_multiple_of(8), b' ');
        take(&(header.len() as u64).to_le_bytes())?;
        take(&header)?;
        tensors.into_iter().try_for_each(|(_, numbers, _)| numbers.data.in_pieces(&mut take))
    }

    /// Rounds the real numbers of a tensor to single precision, in which it is then written, unless they are
    /// too large or there are few of them. Returns whether it did.
    pub fn round(&mut self, name: &str) -> bool {
        match self.tensors.get_mut(name).map(|numbers| &mut numbers.data) {
            Some(Data::Real(data))
                if data.len() >= LEAST_ROUNDED && data.iter().all(|number| (*number as f32).is_finite()) =>
            {
                data.iter_mut().for_each(|number| *number = f64::from(*number as f32));
                true
            }
            _ => false,
        }
    }

    /// The file as bytes. If [`Archive::check`] fails, they cannot be read again.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let done: Result<(), std::convert::Infallible> = self.in_pieces(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        let Ok(()) = done;
        bytes
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| damaged(error.to_string()))?;
        let mut texts: BTreeMap<String, String> =
            header.metadata().clone().unwrap_or_default().into_iter().collect();
        if texts.remove("format").as_deref() != Some("noregret") {
            return Err(damaged("its metadata does not say so".to_owned()));
        }
        let version = texts.remove("format_version").unwrap_or_default();
        if version != FORMAT_VERSION {
            return Err(ModelError::Version { found: version });
        }
        let digest = texts.remove(DIGEST);
        let mut archive = Self { tensors: BTreeMap::new(), texts };
        let file = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
        for (name, view) in file.iter() {
            let words = view.data().as_chunks::<8>().0.iter();
            let halves = view.data().as_chunks::<4>().0.iter();
            let data = match view.dtype() {
                Dtype::F32 => Data::Real(halves.map(|half| f64::from(f32::from_le_bytes(*half))).collect()),
                Dtype::F64 => Data::Real(words.map(|word| f64::from_le_bytes(*word)).collect()),
                Dtype::U64 => Data::Count(words.map(|word| u64::from_le_bytes(*word)).collect()),
                other => return Err(damaged(format!("tensor '{name}' has type {other:?}"))),
            };
            if matches!(&data, Data::Real(numbers) if numbers.iter().any(|number| !number.is_finite())) {
                return Err(damaged(format!("tensor '{name}' holds a number that is not finite")));
            }
            archive.tensors.insert(name.to_owned(), Numbers { shape: view.shape().to_vec(), data });
        }
        archive.unpack()?;
        if digest.as_deref() != Some(archive.digest().as_str()) {
            return Err(damaged("its digest does not match its contents".to_owned()));
        }
        Ok(archive)
    }

    /// Restores tensors that were written as two tensors.
    fn unpack(&mut self) -> Result<(), ModelError> {
        let names: Vec<String> =
            self.tensors.keys().filter_map(|name| name.strip_suffix(PLACES)).map(str::to_owned).collect();
        for name in names {
            let places = self.tensors.remove(&format!("{name}{PLACES}"));
            let values = self.tensors.remove(&format!("{name}{VALUES}"));
            let whole = places.zip(values).and_then(|(places, values)| unpacked(&places, &values));
            let whole = whole.ok_or_else(|| damaged(format!("tensor '{name}' cannot be unpacked")))?;
            self.tensors.insert(name, whole);
        }
        Ok(())
    }

    /// Checks that the bytes could be read again.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn check(&self) -> Result<(), ModelError> {
        let finite = |numbers: &Numbers| match &numbers.data {
            Data::Real(data) => data.iter().all(|number| number.is_finite()),
            Data::Count(_) => true,
        };
        if self.texts.values().map(String::len).sum::<usize>() > LONGEST_TEXTS {
            return Err(ModelError::TooLong);
        }
        match self.tensors().find(|(_, numbers)| !finite(numbers)) {
            Some((name, _)) => Err(ModelError::NotFinite { tensor: name.to_owned() }),
            None => Ok(()),
        }
    }
}

/// Said of a state that no learner can have.
const CONTRADICTS: &str = "its state contradicts itself";

fn damaged(what: String) -> ModelError {
    ModelError::Damaged(what)
}

/// Tensors with fewer numbers are always written in double precision.
const LEAST_ROUNDED: usize = 64;

impl Numbers {
    /// A copy of the numbers of `slot`, as they are stored.
    fn of(slot: Slot<'_>) -> Self {
        let data = match slot {
            Slot::Real { shape, data } => return Self { shape, data: Data::of(data) },
            Slot::Symmetric { side, data } => {
                Data::Real((0..side).flat_map(|i| data[i * side..][..=i].iter().copied()).collect())
            }
            Slot::Diagonal { side, entry, .. } => Data::Real(triangle(side, entry).collect()),
            Slot::Grown { shape, data } => {
                let mut all = vec![0.0; shape.iter().product()];
                copy_changed(&mut all[..data.len()], data);
                return Self { shape, data: Data::Real(all) };
            }
            Slot::List(data) => Data::of(data),
            Slot::Listed(data) => Data::Real(data.list()),
            Slot::Singles(data) => {
                Data::of(&data.iter().map(|number| f64::from(*number)).collect::<Vec<_>>())
            }
            Slot::Words(data) => Data::of(&data.iter().map(|word| f64::from(*word)).collect::<Vec<_>>()),
            Slot::Count(data) => Data::Count(data.to_vec()),
        };
        Self { shape: vec![data.len()], data }
    }

    /// Fills `slot`, whose tensor is called `name`, with these numbers.
    fn fill(&self, slot: Slot<'_>, name: &str) -> Result<(), ModelError> {
        let wrong = |what: String| damaged(format!("tensor '{name}' has {what}"));
        let fits = |shape: &[usize]| {
            if self.shape == shape {
                return Ok(());
            }
            Err(wrong(format!("shape {:?} instead of {shape:?}", self.shape)))
        };
        match (slot, &self.data) {
            (Slot::Real { shape, data }, Data::Real(numbers)) => {
                fits(&shape)?;
                copy_changed(data, numbers);
            }
            (Slot::Symmetric { side, data }, Data::Real(lower)) => {
                fits(&[side * (side + 1) / 2])?;
                fill_triangle(side, data, &mut lower.iter().copied());
            }
            (Slot::Diagonal { side, entry, data }, Data::Real(lower)) => {
                fits(&[side * (side + 1) / 2])?;
                set_triangle(lower, side, entry, data);
            }
            (Slot::Grown { shape, data }, Data::Real(numbers)) => {
                fits(&shape)?;
                set_grown(numbers, data);
            }
            (Slot::List(data), Data::Real(numbers)) => data.clone_from(numbers),
            (Slot::Listed(data), Data::Real(numbers)) => {
                if !data.set_list(numbers) {
                    return Err(damaged(CONTRADICTS.to_owned()));
                }
            }
            (Slot::Singles(data), Data::Real(numbers)) => {
                *data = narrowed(numbers.iter().copied())
                    .ok_or_else(|| wrong("a number beyond single precision".to_owned()))?;
            }
            (Slot::Words(data), Data::Real(numbers)) => {
                *data = words(numbers.iter().copied())
                    .ok_or_else(|| wrong("a number that is not whole or not below 2^32".to_owned()))?;
            }
            (Slot::Count(data), Data::Count(numbers)) => {
                fits(&[data.len()])?;
                data.copy_from_slice(numbers);
            }
            _ => return Err(wrong("the wrong type".to_owned())),
        }
        Ok(())
    }
}

impl Data {
    /// A copy of real numbers. Ranges of zeros, as for hashed columns that never occurred, take no memory on
    /// systems that allocate pages when they are first written.
    pub fn of(numbers: &[f64]) -> Self {
        let mut copy = vec![0.0; numbers.len()];
        copy_changed(&mut copy, numbers);
        Self::Real(copy)
    }

    /// The number of numbers.
    pub fn len(&self) -> usize {
        match self {
            Data::Real(data) => data.len(),
            Data::Count(data) => data.len(),
        }
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether these are real numbers that are all exact in single precision: they are written in half the
    /// bytes.
    pub fn is_single(&self) -> bool {
        let single = |number: &f64| f64::from(*number as f32).to_bits() == number.to_bits();
        matches!(self, Data::Real(data) if data.len() >= LEAST_ROUNDED && data.iter().all(single))
    }

    /// Passes the bytes of all numbers to `take`, little-endian, in pieces.
    fn in_pieces<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        const NUMBERS: usize = 4096;
        let single = self.is_single();
        let mut bytes = Vec::with_capacity(8 * NUMBERS.min(self.len()));
        for start in (0..self.len()).step_by(NUMBERS) {
            let piece = start..self.len().min(start + NUMBERS);
            bytes.clear();
            match self {
                Data::Real(data) if single => {
                    bytes.extend(data[piece].iter().flat_map(|number| (*number as f32).to_le_bytes()));
                }
                Data::Real(data) => {
                    bytes.extend(data[piece].iter().flat_map(|number| number.to_le_bytes()));
                }
                Data::Count(data) => {
                    bytes.extend(data[piece].iter().flat_map(|number| number.to_le_bytes()));
                }
            }
            take(&bytes)?;
        }
        Ok(())
    }
}

impl View for &Numbers {
    fn dtype(&self) -> Dtype {
        match &self.data {
            data if data.is_single() => Dtype::F32,
            Data::Real(_) => Dtype::F64,
            Data::Count(_) => Dtype::U64,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = Vec::with_capacity(self.data_len());
        let done: Result<(), std::convert::Infallible> = self.data.in_pieces(|piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        let Ok(()) = done;
        Cow::Owned(bytes)
    }

    fn data_len(&self) -> usize {
        if self.data.is_single() { 4 * self.data.len() } else { 8 * self.data.len() }
    }
}

#[cfg(test)]
mod tests;
