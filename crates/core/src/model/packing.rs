//! Tensors of mostly zeros, in a file and in memory.

use super::{Data, Numbers};

/// Suffixes of the names of the two tensors that represent a tensor of mostly zeros.
pub(super) const PLACES: &str = "#places";
pub(super) const VALUES: &str = "#values";

/// A tensor of mostly zeros as places and values; `None` if that would not save a quarter of its bytes.
pub(super) fn packed(numbers: &Numbers) -> Option<(Numbers, Numbers)> {
    let Data::Real(data) = &numbers.data else { return None };
    // A negative zero is stored as a value.
    let is_zero = |number: &f64| number.to_bits() == 0;
    let non_zero = data.iter().filter(|number| !is_zero(number)).count();
    let length = 1 + numbers.shape.len() + data.len().div_ceil(64);
    if length + non_zero > data.len() / 4 * 3 {
        return None;
    }
    let mut places = Vec::with_capacity(length);
    places.push(numbers.shape.len() as u64);
    places.extend(numbers.shape.iter().map(|side| *side as u64));
    places.extend(data.chunks(64).map(|block| {
        (0..).zip(block).filter(|(_, number)| !is_zero(number)).fold(0, |bits, (at, _)| bits | 1_u64 << at)
    }));
    let values: Vec<f64> = data.iter().copied().filter(|number| !is_zero(number)).collect();
    Some((
        Numbers { shape: vec![places.len()], data: Data::Count(places) },
        Numbers { shape: vec![values.len()], data: Data::Real(values) },
    ))
}

/// Restores a tensor from places and values; `None` if they are inconsistent, or memory is insufficient.
pub(super) fn unpacked(places: &Numbers, values: &Numbers) -> Option<Numbers> {
    let (Data::Count(places), Data::Real(values)) = (&places.data, &values.data) else { return None };
    let (axes, rest) = places.split_first()?;
    let (shape, bits) = rest.split_at_checked(usize::try_from(*axes).ok()?)?;
    let shape: Vec<usize> = shape.iter().map(|side| usize::try_from(*side).ok()).collect::<Option<_>>()?;
    let length = shape.iter().try_fold(1_usize, |product, side| product.checked_mul(*side))?;
    let ones = bits.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    let beyond = !length.is_multiple_of(64) && bits.last().is_some_and(|last| last >> (length % 64) != 0);
    if bits.len() != length.div_ceil(64) || ones != values.len() || beyond {
        return None;
    }
    // Memory of zeros takes no pages until they are written, but `vec` aborts where there is none.
    Vec::<f64>::new().try_reserve_exact(length).ok()?;
    let mut data = vec![0.0; length];
    let mut values = values.iter();
    for (block, word) in data.chunks_mut(64).zip(bits) {
        let mut left = *word;
        while left != 0 {
            block[left.trailing_zeros() as usize] = *values.next()?;
            left &= left - 1;
        }
    }
    Some(Numbers { shape, data: Data::Real(data) })
}

/// Copies the pages of `from` that differ from those of `to`, by their bits. Ranges of zeros that were never
/// written stay so, and take no memory on systems that allocate pages when they are first written.
pub(super) fn copy_changed(to: &mut [f64], from: &[f64]) {
    const PAGE: usize = 512;
    for (to, from) in to.chunks_mut(PAGE).zip(from.chunks(PAGE)) {
        if to.iter().zip(from).any(|(to, from)| to.to_bits() != from.to_bits()) {
            to.copy_from_slice(from);
        }
    }
}
