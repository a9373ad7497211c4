//! The list of a learner's state: saving and loading use the same list, so that they cannot differ.

use std::borrow::Cow;
use std::iter::Copied;
use std::slice::Iter;

/// A named part of a learner's state.
pub struct Tensor<'a> {
    /// Unique within the learner; parts of members are prefixed, as in `member/3/gradient`.
    pub name: Cow<'static, str>,
    /// The numbers.
    pub slot: Slot<'a>,
}

/// The numbers of a tensor: written when saving, filled when loading.
pub enum Slot<'a> {
    /// Real numbers of a fixed shape, row-major.
    Real {
        /// The lengths of the axes.
        shape: Vec<usize>,
        /// The numbers.
        data: &'a mut [f64],
    },
    /// A symmetric matrix of `side`² numbers; only the lower triangle is saved, so it must be exactly
    /// symmetric.
    Symmetric {
        /// Rows and columns.
        side: usize,
        /// The full matrix.
        data: &'a mut [f64],
    },
    /// As `Symmetric`, for a matrix that is `entry` times the identity and takes no memory: `data` is empty.
    /// It is saved as other matrices are; loading fills `data` if other numbers were saved.
    Diagonal {
        /// Rows and columns.
        side: usize,
        /// The number on the diagonal.
        entry: f64,
        /// The full matrix, if it was loaded.
        data: &'a mut Vec<f64>,
    },
    /// Real numbers of a fixed shape, row-major, of which `data` may lack zeros at the end: it becomes longer
    /// when there are more. They are saved as all numbers of the shape.
    Grown {
        /// The lengths of the axes.
        shape: Vec<usize>,
        /// The numbers before those zeros.
        data: &'a mut Vec<f64>,
    },
    /// A list of real numbers whose length is part of the state.
    List(&'a mut Vec<f64>),
    /// A list of real numbers of single precision; saved in double precision, which is exact.
    Singles(&'a mut Vec<f32>),
    /// A list of whole numbers below 2^32; saved in double precision, which is exact.
    Words(&'a mut Vec<u32>),
    /// Numbers that are kept in another form, and saved as a list whose length is part of the state.
    Listed(&'a mut (dyn Listed + 'static)),
    /// Whole numbers: counters, generator states.
    Count(&'a mut [u64]),
}

/// Numbers that are kept in another form than a list, and saved as one.
pub trait Listed {
    /// The list.
    fn list(&self) -> Vec<f64>;

    /// Takes the numbers of a list. Returns false if it does not come from [`Listed::list`].
    fn set_list(&mut self, list: &[f64]) -> bool;
}

impl<'a> Tensor<'a> {
    /// A vector of fixed length.
    pub fn vector(name: &'static str, data: &'a mut [f64]) -> Self {
        Self::real(name, vec![data.len()], data)
    }

    /// Real numbers of a fixed shape, row-major.
    pub fn real(name: &'static str, shape: Vec<usize>, data: &'a mut [f64]) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), data.len(), "{name}");
        Self { name: name.into(), slot: Slot::Real { shape, data } }
    }

    /// A symmetric matrix.
    pub fn symmetric(name: &'static str, side: usize, data: &'a mut [f64]) -> Self {
        debug_assert_eq!(side * side, data.len(), "{name}");
        Self { name: name.into(), slot: Slot::Symmetric { side, data } }
    }

    /// A symmetric matrix that is `entry` times the identity, without memory.
    pub(crate) fn diagonal(name: &'static str, side: usize, entry: f64, data: &'a mut Vec<f64>) -> Self {
        debug_assert!(data.is_empty(), "{name}");
        Self { name: name.into(), slot: Slot::Diagonal { side, entry, data } }
    }

    /// Real numbers of a fixed shape, row-major, without zeros at the end that take no memory yet.
    pub(crate) fn grown(name: &'static str, shape: Vec<usize>, data: &'a mut Vec<f64>) -> Self {
        debug_assert!(data.len() <= shape.iter().product::<usize>(), "{name}");
        Self { name: name.into(), slot: Slot::Grown { shape, data } }
    }

    /// A list of variable length.
    pub fn list(name: &'static str, data: &'a mut Vec<f64>) -> Self {
        Self { name: name.into(), slot: Slot::List(data) }
    }

    /// A list of variable length, of single precision.
    pub fn singles(name: &'static str, data: &'a mut Vec<f32>) -> Self {
        Self { name: name.into(), slot: Slot::Singles(data) }
    }

    /// A list of variable length, of whole numbers below 2^32.
    pub fn words(name: &'static str, data: &'a mut Vec<u32>) -> Self {
        Self { name: name.into(), slot: Slot::Words(data) }
    }

    /// Numbers that are kept in another form, and saved as a list.
    pub fn listed(name: &'static str, data: &'a mut (dyn Listed + 'static)) -> Self {
        Self { name: name.into(), slot: Slot::Listed(data) }
    }

    /// A single real number.
    pub fn number(name: &'static str, value: &'a mut f64) -> Self {
        Self::vector(name, std::slice::from_mut(value))
    }

    /// A counter.
    pub fn count(name: &'static str, value: &'a mut u64) -> Self {
        Self { name: name.into(), slot: Slot::Count(std::slice::from_mut(value)) }
    }

    /// Whole numbers, in fixed number.
    pub fn counts(name: &'static str, values: &'a mut [u64]) -> Self {
        Self { name: name.into(), slot: Slot::Count(values) }
    }

    /// Appends the numbers to `list`.
    pub(crate) fn pack(self, list: &mut Vec<f64>) {
        match self.slot {
            Slot::Real { data, .. } => list.extend_from_slice(data),
            Slot::Symmetric { side, data } => {
                (0..side).for_each(|row| list.extend_from_slice(&data[row * side..][..=row]));
            }
            Slot::Diagonal { side, entry, .. } => list.extend(triangle(side, entry)),
            Slot::Grown { shape, data } => {
                let end = list.len() + shape.iter().product::<usize>();
                list.extend_from_slice(data);
                list.resize(end, 0.0);
            }
            Slot::List(data) => {
                list.push(data.len() as f64);
                list.extend_from_slice(data);
            }
            Slot::Listed(data) => {
                let data = data.list();
                list.push(data.len() as f64);
                list.extend(data);
            }
            Slot::Singles(data) => {
                list.push(data.len() as f64);
                list.extend(data.iter().map(|number| f64::from(*number)));
            }
            Slot::Words(data) => {
                list.push(data.len() as f64);
                list.extend(data.iter().map(|word| f64::from(*word)));
            }
            Slot::Count(data) => {
                // In two halves: a double represents integers up to 2^53 only.
                list.extend(data.iter().flat_map(|count| [(count >> 32) as f64, f64::from(*count as u32)]));
            }
        }
    }

    /// Takes the numbers from a list of [`Tensor::pack`]; `None` if they do not fit.
    pub(crate) fn unpack(self, rest: &mut Copied<Iter<'_, f64>>) -> Option<()> {
        match self.slot {
            Slot::Real { data, .. } => {
                for number in data {
                    *number = rest.next()?;
                }
            }
            Slot::Symmetric { side, data } => fill_triangle(side, data, rest)?,
            Slot::Diagonal { side, entry, data } => {
                let lower: Vec<f64> = rest.take(side * (side + 1) / 2).collect();
                if lower.len() < side * (side + 1) / 2 {
                    return None;
                }
                set_triangle(&lower, side, entry, data);
            }
            Slot::Grown { shape, data } => {
                let len = shape.iter().product::<usize>();
                let all: Vec<f64> = rest.take(len).collect();
                if all.len() < len {
                    return None;
                }
                set_grown(&all, data);
            }
            Slot::List(data) => *data = unpack_list(rest)?.collect(),
            Slot::Listed(data) => {
                let list: Vec<f64> = unpack_list(rest)?.collect();
                data.set_list(&list).then_some(())?;
            }
            Slot::Singles(data) => *data = narrowed(unpack_list(rest)?)?,
            Slot::Words(data) => *data = words(unpack_list(rest)?)?,
            Slot::Count(data) => {
                let mut half =
                    || rest.next().filter(|x| (0.0..4_294_967_296.0).contains(x) && x.fract() == 0.0);
                for count in data {
                    *count = ((half()? as u64) << 32) | half()? as u64;
                }
            }
        }
        Some(())
    }

    /// The shape under which it is stored; `None` for lists.
    pub(crate) fn shape(&self) -> Option<Vec<usize>> {
        match &self.slot {
            Slot::Real { shape, .. } | Slot::Grown { shape, .. } => Some(shape.clone()),
            Slot::Symmetric { side, .. } | Slot::Diagonal { side, .. } => Some(vec![side * (side + 1) / 2]),
            Slot::Count(data) => Some(vec![data.len()]),
            Slot::List(_) | Slot::Singles(_) | Slot::Words(_) | Slot::Listed(_) => None,
        }
    }

    /// The same tensor under `prefix/name`.
    pub fn within(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}/{}", self.name).into(), ..self }
    }
}

/// The lower triangle of `entry` times the identity, row by row.
pub(crate) fn triangle(side: usize, entry: f64) -> impl Iterator<Item = f64> {
    (0..side).flat_map(move |row| (0..=row).map(move |column| if column == row { entry } else { 0.0 }))
}

/// Fills the symmetric matrix `data`, which is empty, from its lower triangle, unless that is `entry` times
/// the identity.
pub(crate) fn set_triangle(lower: &[f64], side: usize, entry: f64, data: &mut Vec<f64>) {
    if lower.iter().zip(triangle(side, entry)).all(|(number, same)| number.to_bits() == same.to_bits()) {
        return;
    }
    data.resize(side * side, 0.0);
    fill_triangle(side, data, &mut lower.iter().copied());
}

/// Sets `data` to `all` numbers but the zeros at the end.
pub(crate) fn set_grown(all: &[f64], data: &mut Vec<f64>) {
    let last = all.iter().rposition(|number| number.to_bits() != 0);
    data.clear();
    data.extend_from_slice(&all[..last.map_or(0, |at| at + 1)]);
}

/// Fills the symmetric matrix `data` from its lower triangle, row by row; `None` if that ends before.
pub(crate) fn fill_triangle(
    side: usize,
    data: &mut [f64],
    lower: &mut impl Iterator<Item = f64>,
) -> Option<()> {
    for row in 0..side {
        for column in 0..=row {
            let number = lower.next()?;
            data[row * side + column] = number;
            data[column * side + row] = number;
        }
    }
    Some(())
}

/// The numbers of a list whose length comes first.
fn unpack_list<'a>(rest: &'a mut Copied<Iter<'_, f64>>) -> Option<impl Iterator<Item = f64> + 'a> {
    let len = rest.next()?;
    (len >= 0.0 && len <= rest.len() as f64 && len.fract() == 0.0).then(|| rest.take(len as usize))
}

/// The numbers in single precision; `None` if one is beyond its range.
pub(crate) fn narrowed(numbers: impl Iterator<Item = f64>) -> Option<Vec<f32>> {
    numbers.map(|number| Some(number as f32).filter(|narrow| narrow.is_finite())).collect()
}

/// The numbers as whole numbers below 2^32; `None` if one is not.
pub(crate) fn words(numbers: impl Iterator<Item = f64>) -> Option<Vec<u32>> {
    numbers.map(|number| whole(number, 1 << 32).map(|word| word as u32)).collect()
}

/// `number` as an integer, if it is one and below `limit`.
pub(crate) fn whole(number: f64, limit: usize) -> Option<usize> {
    (number >= 0.0 && number < limit as f64 && number.fract() == 0.0).then_some(number as usize)
}

/// The shape of the stored tensor of a name.
pub type Shapes<'a> = &'a dyn Fn(&str) -> Option<Vec<usize>>;

/// Learners that can be saved and loaded.
pub trait State {
    /// Everything that learning changes, always in the same order.
    ///
    /// Loading makes a new learner from its parameters and fills this list; [`State::restored`] is called
    /// afterwards.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Whether model files of earlier programs lack the tensor of this name, which then keeps the value that
    /// it has in a new learner.
    fn is_newer(&self, _tensor: &str) -> bool {
        false
    }

    /// Called before the list is filled, with the shapes of the tensors in the model file: earlier programs
    /// may have stored other shapes.
    fn expect(&mut self, _shape: Shapes<'_>) {}

    /// Recomputes what is derived from the tensors, after they were filled. Returns false if they are
    /// inconsistent, which happens only for manipulated files.
    fn restored(&mut self) -> bool {
        true
    }
}

impl<S: State + ?Sized> State for Box<S> {
    crate::hand_on! { (**self);
        fn tensors(&mut self) -> Vec<Tensor<'_>>;
        fn is_newer(&self, tensor: &str) -> bool;
        fn expect(&mut self, shape: Shapes<'_>);
        fn restored(&mut self) -> bool;
    }
}

/// Appends the state of a learner to a list.
pub(crate) fn pack<S: State + ?Sized>(learner: &mut S, list: &mut Vec<f64>) {
    learner.tensors().into_iter().for_each(|tensor| tensor.pack(list));
}

/// Takes the state of a learner from a list of [`pack`]; `None` if the numbers do not fit, or contradict each
/// other.
pub(crate) fn unpack<S: State + ?Sized>(learner: &mut S, rest: &mut Copied<Iter<'_, f64>>) -> Option<()> {
    learner.tensors().into_iter().try_for_each(|tensor| tensor.unpack(rest))?;
    learner.restored().then_some(())
}

/// Implements [`State`] for a learner by a field with tensors of its own, and fields with numbers beside it,
/// whose names are those of their tensors: `state! { Learner; field; kind field, kind field }`.
macro_rules! state {
    ($learner:ty $(, $generic:ident: $bound:path)?; $part:tt; $($kind:ident $field:ident),*) => {
        impl$(<$generic: $bound>)? $crate::state::State for $learner {
            fn tensors(&mut self) -> Vec<$crate::state::Tensor<'_>> {
                let own = [$($crate::state::Tensor::$kind(stringify!($field), &mut self.$field)),*];
                self.$part.tensors().into_iter().chain(own).collect()
            }

            fn restored(&mut self) -> bool {
                self.$part.restored()
            }
        }
    };
}
pub(crate) use state;
