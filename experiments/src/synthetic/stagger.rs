//! STAGGER concepts: Jeffrey Schlimmer, Richard Granger, *Incremental Learning from Noisy Data*, Machine
//! Learning 1, 1986.
//!
//! Objects have a size (small, medium, large), a colour (red, green, blue) and a shape (square,
//! circular, triangular), drawn uniformly: a column of 0 and 1 for each of the nine values. Class 1
//! is, in turn: small and red; green or circular; medium or large.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::Rng;

use super::{Blocks, Made, Synthetic, fill};

params! {
    /// Parameters of STAGGER concepts.
    pub(super) struct StaggerParams {
        /// Changes of the concept over the stream; 0 is no drift.
        drift: u64 = "2",
    }
}

/// Whether an object is of class 1 under a concept.
fn belongs(concept: u64, [size, colour, shape]: [u32; 3]) -> bool {
    match concept % 3 {
        0 => size == 0 && colour == 0,
        1 => colour == 1 || shape == 1,
        _ => size > 0,
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = StaggerParams::from_values("stagger", values)?;
    let mut blocks = Blocks::new(params.drift.unwrap_or(2), rows);
    let mut rng = Rng::new(seed, 0);
    Ok(Synthetic::new(2, 9, move |row| {
        let concept = blocks.next();
        let thing: [u32; 3] = std::array::from_fn(|_| rng.below(3) as u32);
        fill(row, usize::from(belongs(concept, thing)), &[]);
        (0..).zip(thing).for_each(|(property, value)| row.push(3 * property + value, 1.0));
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    #[test]
    fn concepts_take_turns() {
        assert!(belongs(0, [0, 0, 2]) && !belongs(0, [0, 1, 2]) && !belongs(0, [1, 0, 2]));
        assert!(belongs(1, [0, 1, 2]) && belongs(1, [2, 0, 1]) && !belongs(1, [0, 0, 0]));
        assert!(belongs(2, [1, 0, 0]) && belongs(2, [2, 2, 2]) && !belongs(2, [0, 1, 1]));
        let mut stream = make(&Values::new(), 300, 1).expect("valid parameters");
        for t in 0..300u64 {
            let mut row = Row::new();
            stream.next(&mut row);
            let thing = [row.indices()[0], row.indices()[1] - 3, row.indices()[2] - 6];
            let want = if belongs(t / 100, thing) { "1" } else { "0" };
            assert_eq!(row.label(), RowLabel::Name(want), "row {t}");
        }
    }
}
