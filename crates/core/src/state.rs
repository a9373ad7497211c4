//! The list of a learner's state: saving and loading use the same list, so that they cannot differ.

use std::borrow::Cow;

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
    /// A list of real numbers whose length is part of the state.
    List(&'a mut Vec<f64>),
    /// A list of real numbers of single precision; saved in double precision, which is exact.
    Singles(&'a mut Vec<f32>),
    /// Whole numbers: counters, generator states.
    Count(&'a mut [u64]),
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

    /// A list of variable length.
    pub fn list(name: &'static str, data: &'a mut Vec<f64>) -> Self {
        Self { name: name.into(), slot: Slot::List(data) }
    }

    /// A list of variable length, of single precision.
    pub fn singles(name: &'static str, data: &'a mut Vec<f32>) -> Self {
        Self { name: name.into(), slot: Slot::Singles(data) }
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

    /// The same tensor under `prefix/name`.
    pub fn within(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}/{}", self.name).into(), ..self }
    }
}

/// The numbers in single precision; `None` if one is beyond its range.
pub(crate) fn narrowed(numbers: impl Iterator<Item = f64>) -> Option<Vec<f32>> {
    numbers.map(|number| Some(number as f32).filter(|narrow| narrow.is_finite())).collect()
}

/// Learners that can be saved and loaded.
pub trait State {
    /// Everything that learning changes, always in the same order.
    ///
    /// Loading makes a new learner from its parameters and fills this list; [`State::restored`] is called
    /// afterwards.
    fn tensors(&mut self) -> Vec<Tensor<'_>>;

    /// Recomputes what is derived from the tensors, after they were filled. Returns false if they are
    /// inconsistent, which happens only for manipulated files.
    fn restored(&mut self) -> bool {
        true
    }
}

impl<S: State + ?Sized> State for Box<S> {
    fn tensors(&mut self) -> Vec<Tensor<'_>> {
        (**self).tensors()
    }

    fn restored(&mut self) -> bool {
        (**self).restored()
    }
}
