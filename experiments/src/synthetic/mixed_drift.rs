//! Mixed drift: Viktor Losing, Barbara Hammer, Heiko Wersing, *KNN Classifier with Self Adjusting Memory for
//! Heterogeneous Concept Drift*, ICDM 2016, section V.
//!
//! Three streams of two features in turn, a row of each, drawn in three unit squares side by side with a gap
//! between them; they share the labels. A learner sees three kinds of drift at once, each in its own region:
//!
//! - interchanging Gaussians: each of 15 classes has a Gaussian with a random covariance. At the first change
//!   two of them exchange their places, at every later change one more, until all do;
//! - moving squares: four small squares in a row, each of a class, move sideways at a constant speed, and
//!   turn back at the walls. A row of 120 moves ago may lie where another square is now, a later one does
//!   not;
//! - the transient chessboard (`chessboard`).

use noregret::param::{Params as _, Values};
use noregret::params;
use noregret::rng::{Rng, Uniforms};

use super::chessboard::Chessboard;
use super::{Blocks, Made, Synthetic, fill, shuffled};

/// Gaussians, and classes.
const GAUSSIANS: usize = 15;
/// Moving squares.
const SQUARES: usize = 4;
/// Side of a moving square, and the gap to the next one.
const SIDE: f64 = 0.1;
/// Rows in which a square moves by one gap.
const HORIZON: f64 = 120.0;
/// Distance between the left sides of two unit squares.
const APART: f64 = 2.0;

params! {
    /// Parameters of the stream with mixed drift.
    pub(super) struct MixedDriftParams {
        /// Number of exchanges of Gaussians, and of changes of phase of the board; with 0 only the squares
        /// move.
        drift: u64 = "66",
    }
}

/// A class of interchanging Gaussians: place + root z, with z standard normal.
struct Gaussian {
    place: [f64; 2],
    root: [[f64; 2]; 2],
}

struct Gaussians {
    all: Vec<Gaussian>,
    blocks: Blocks,
    /// The block of the row before.
    block: u64,
}

impl Gaussians {
    /// Places are uniform; a covariance has a uniform direction, and deviations of 0.01 to 0.05 along its
    /// axes.
    fn new(rng: &mut Rng, changes: u64, rows: u64) -> Self {
        let mut gaussian = |_| {
            let place = [rng.uniform(), rng.uniform()];
            let (sin, cos) = (std::f64::consts::PI * rng.uniform()).sin_cos();
            let [long, short] = [(); 2].map(|()| 0.01 + 0.04 * rng.uniform());
            Gaussian { place, root: [[long * cos, -short * sin], [long * sin, short * cos]] }
        };
        Self {
            all: (0..GAUSSIANS).map(&mut gaussian).collect(),
            blocks: Blocks::new(changes, rows),
            block: 0,
        }
    }

    /// `change` + 1 of them, at most all, move to one another's places.
    fn exchange(&mut self, rng: &mut Rng, change: u64) {
        let moving = (change.min(GAUSSIANS as u64) as usize + 1).min(GAUSSIANS);
        let chosen = shuffled(rng, GAUSSIANS);
        for pair in chosen[..moving].windows(2) {
            let place = self.all[pair[0]].place;
            self.all[pair[0]].place = std::mem::replace(&mut self.all[pair[1]].place, place);
        }
    }

    fn next(&mut self, rng: &mut Rng) -> (usize, [f64; 2]) {
        let block = self.blocks.next();
        while self.block < block {
            self.block += 1;
            self.exchange(rng, self.block);
        }
        let class = rng.below(GAUSSIANS as u64) as usize;
        let Gaussian { place, root } = &self.all[class];
        let z = [rng.normal(), rng.normal()];
        (class, [0, 1].map(|at| place[at] + root[at][0] * z[0] + root[at][1] * z[1]))
    }
}

/// Moving squares, of which the first has its left side at `place`.
struct Squares {
    place: f64,
    speed: f64,
}

impl Squares {
    fn next(&mut self, rng: &mut Rng) -> (usize, [f64; 2]) {
        let room = 1.0 - (2 * SQUARES - 1) as f64 * SIDE;
        self.place += self.speed;
        if !(0.0..=room).contains(&self.place) {
            self.place = self.place.clamp(0.0, room);
            self.speed = -self.speed;
        }
        let class = rng.below(SQUARES as u64) as usize;
        let left = self.place + 2.0 * SIDE * class as f64;
        (class, [left + SIDE * rng.uniform(), 0.5 + SIDE * (rng.uniform() - 0.5)])
    }
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let drift = MixedDriftParams::from_values("mixed-drift", values)?.drift.unwrap_or(66);
    let mut rng = Rng::new(seed, 0);
    let each = rows.div_ceil(3);
    let mut gaussians = Gaussians::new(&mut rng, drift, each);
    let mut squares = Squares { place: 0.0, speed: SIDE / HORIZON };
    let mut board = Chessboard::new(Rng::new(seed, 1), drift, each);
    let mut part = 0;
    Ok(Synthetic::new(GAUSSIANS, 2, move |row| {
        let (class, [x, y]) = match part {
            0 => gaussians.next(&mut rng),
            1 => squares.next(&mut rng),
            _ => board.draw(),
        };
        fill(row, class, &[APART * f64::from(part) + x, y]);
        part = (part + 1) % 3;
    }))
}

#[cfg(test)]
mod tests {
    use noregret_stream::{Row, RowLabel};

    use super::*;

    /// The parts come in turn, each in its own place, with its own number of classes.
    #[test]
    fn three_streams_in_turn() {
        let mut stream = make(&Values::new(), 6_000, 1).expect("valid parameters");
        let mut most = [0; 3];
        for t in 0..6_000 {
            let mut row = Row::new();
            stream.next(&mut row);
            let RowLabel::Name(name) = row.label() else { panic!("no class") };
            let [x, y] = [row.values()[0] - 2.0 * f64::from(t % 3), row.values()[1]];
            // A Gaussian's mean is in its square, and none has a deviation above 0.05.
            let margin = if t % 3 == 0 { 0.3 } else { 0.0 };
            assert!(
                (-margin..=1.0 + margin).contains(&x) && (-margin..=1.0 + margin).contains(&y),
                "row {t}: {x}, {y}"
            );
            let class = name.parse::<usize>().expect("a number");
            most[t as usize % 3] = class.max(most[t as usize % 3]);
        }
        assert_eq!(most, [14, 3, 7]);
    }

    /// At the first change two Gaussians move, at the second three, and from the fourteenth all; the set of
    /// places stays.
    #[test]
    fn one_more_gaussian_moves_at_every_change() {
        let mut rng = Rng::new(7, 0);
        let mut gaussians = Gaussians::new(&mut rng, 19, 200);
        let places = |gaussians: &Gaussians| gaussians.all.iter().map(|one| one.place).collect::<Vec<_>>();
        let sorted = |mut places: Vec<[f64; 2]>| {
            places.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
            places
        };
        // Twenty blocks of ten rows.
        for change in 0..20 {
            let before = places(&gaussians);
            for _ in 0..10 {
                gaussians.next(&mut rng);
            }
            let after = places(&gaussians);
            let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
            assert_eq!(moved, if change == 0 { 0 } else { (change + 1).min(15) }, "change {change}");
            assert_eq!(sorted(before), sorted(after));
        }
    }

    /// No square covers a place that another one covered in the last 119 rows; soon after that some square
    /// does.
    #[test]
    fn squares_overlap_after_their_horizon() {
        let (mut squares, mut rng) = (Squares { place: 0.0, speed: SIDE / HORIZON }, Rng::new(1, 0));
        let rows: Vec<(usize, f64, f64)> = (0..3_000)
            .map(|_| {
                let (class, [x, _]) = squares.next(&mut rng);
                (class, x, squares.place)
            })
            .collect();
        let covered = |back: usize| {
            (back..rows.len()).any(|t| {
                let (class, x, _) = rows[t - back];
                let at = x - rows[t].2;
                let other = (at / (2.0 * SIDE)).floor();
                at >= 0.0
                    && other < SQUARES as f64
                    && at - 2.0 * SIDE * other < SIDE
                    && other as usize != class
            })
        };
        // At the wall, after 360 rows, they turn back.
        assert!(rows[400..].iter().any(|row| row.2 < 0.01));
        assert!((1..120).all(|back| !covered(back)));
        assert!((121..150).any(covered));
    }
}
