//! The transient chessboard: Viktor Losing, Barbara Hammer, Heiko Wersing, *KNN Classifier with Self
//! Adjusting Memory for Heterogeneous Concept Drift*, ICDM 2016, section V.
//!
//! Rows are points of the unit square, cut into 8 x 8 fields of eight classes. With drift, fields
//! are shown one by one, in random order: a phase of the stream for each, and after every four of
//! them a phase that shows the whole board. A learner that forgets regions without recent rows has
//! to learn them again.

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::{Blocks, Made, Synthetic, fill, shuffled};

/// Fields on a side of the board, and classes.
const SIDE: usize = 8;

/// Number of fields between phases with the whole board.
const SHOWN: u64 = 4;

params! {
    /// Parameters of the transient chessboard.
    pub(super) struct ChessboardParams {
        /// Number of changes of phase; with 0 the whole board is always shown.
        drift: u64 = "80",
    }
}

pub(super) struct Chessboard {
    drifts: bool,
    blocks: Blocks,
    /// The classes of the fields: every row of the board has each once.
    classes: Vec<usize>,
    /// The order in which fields are shown.
    order: Vec<usize>,
    rng: Rng,
}

impl Chessboard {
    /// The board of a stream of `rows` rows with `drift` changes of phase.
    pub(super) fn new(mut rng: Rng, drift: u64, rows: u64) -> Self {
        let classes = (0..SIDE).flat_map(|_| shuffled(&mut rng, SIDE)).collect();
        let order = shuffled(&mut rng, SIDE * SIDE);
        Self { drifts: drift > 0, blocks: Blocks::new(drift, rows), classes, order, rng }
    }

    /// The next point, after its class.
    pub(super) fn draw(&mut self) -> (usize, [f64; 2]) {
        let phase = self.blocks.next();
        let field = self.shown(phase).unwrap_or_else(|| self.rng.below((SIDE * SIDE) as u64) as usize);
        let place = |at: usize, u: f64| (at as f64 + u) / SIDE as f64;
        (
            self.classes[field],
            [place(field % SIDE, self.rng.uniform()), place(field / SIDE, self.rng.uniform())],
        )
    }

    /// The field that is shown in phase `phase`, or none for the whole board.
    fn shown(&self, phase: u64) -> Option<usize> {
        let (cycle, within) = (phase / (SHOWN + 1), phase % (SHOWN + 1));
        let field = (cycle * SHOWN + within) % self.order.len() as u64;
        (self.drifts && within < SHOWN).then(|| self.order[field as usize])
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let drift = ChessboardParams::from_values("chessboard", values)?.drift.unwrap_or(80);
    let mut board = Chessboard::new(Rng::new(seed, 0), drift, rows);
    Ok(Synthetic::new(SIDE, 2, move |row| {
        let (class, x) = board.draw();
        fill(row, class, &x);
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::Row;

    use super::*;

    /// Of 100 rows and 9 changes, a phase is 10 rows: four fields, the board, four fields, the board.
    #[test]
    fn fields_come_one_by_one() {
        let values = [("drift".to_owned(), 9u64.into())].into_iter().collect();
        let mut stream = make(&values, 100, 1).expect("valid parameters");
        for phase in 0..10 {
            let mut fields: Vec<usize> = (0..10)
                .map(|_| {
                    let mut row = Row::new();
                    stream.next(&mut row);
                    let at = |x: f64| (8.0 * x) as usize;
                    at(row.values()[0]) + 8 * at(row.values()[1])
                })
                .collect();
            fields.dedup();
            assert_eq!(fields.len() == 1, phase % 5 < 4, "phase {phase}: {fields:?}");
        }
    }
}
