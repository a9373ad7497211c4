//! Many rows packed into a few long lists.
//!
//! A file's rows are kept in memory between two passes, so their size counts: numbers take half of their
//! bytes where that loses nothing, and what most rows do not have takes none.

use super::{LabelKind, Row};
use crate::read::label::LabelType;
use crate::read::round::HashedRound;

/// Rows in order.
#[derive(Debug, Default)]
pub(crate) struct PackedRows {
    heads: Vec<Head>,
    extras: Vec<Extra>,
    indices: Narrow<u16, u32>,
    values: Narrow<f32, f64>,
    /// For each row, the name of its class or the names of its actions, its tag, and the labels on offer.
    text: String,
    distributions: Vec<f64>,
    costs: Vec<Cost>,
    /// Where the names of labels on offer end in the text, and their types.
    offered: Vec<(u32, LabelType)>,
    /// The columns of missing numbers.
    missing: Vec<u32>,
    rounds: Vec<HashedRound>,
    /// Of the first row.
    line: u64,
}

/// What every row has. Its parts of the lists start where those of the row before end.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// Where its features end.
    features: u32,
    /// Where its text ends.
    text: u32,
    /// Lines after the first row.
    line: u32,
    /// Its place in `extras`; or [`UNLABELLED`], or [`NAMED`] less the number of its label's type, for a row
    /// with the weight 1 and nothing else.
    extra: u32,
}

/// A row that has no label.
const UNLABELLED: u32 = u32::MAX;
/// A row that has a class and nothing else.
const NAMED: u32 = u32::MAX - 1;
/// The same, of the last type.
const NAMED_LAST: u32 = NAMED - (LabelType::ALL.len() as u32 - 1);

/// What few rows have. Its parts of the lists start where those of the extra before end.
#[derive(Clone, Copy, Debug, Default)]
struct Extra {
    weight: f64,
    line: u64,
    kind: LabelKind,
    of: LabelType,
    /// Where the name of its class, or those of its actions, end in the text.
    name: u32,
    /// Where its tag ends in the text.
    tag: u32,
    distribution: u32,
    costs: u32,
    offered: u32,
    missing: u32,
    rounds: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    /// End of the action's name in the text.
    action: u32,
    of: LabelType,
    cost: Option<f64>,
    probability: Option<f64>,
}

/// The lengths of the lists for some rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    rows: usize,
    features: usize,
    text: usize,
}

impl PackedRows {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Size of the rows in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.heads)
            + size_of_val(&*self.extras)
            + self.indices.bytes()
            + self.values.bytes()
            + self.text.len()
            + size_of_val(&*self.distributions)
            + size_of_val(&*self.costs)
            + size_of_val(&*self.offered)
            + size_of_val(&*self.missing)
            + self.rounds.iter().map(HashedRound::bytes).sum::<usize>()
    }

    /// Removes the rows; keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.extras.clear();
        self.indices.clear();
        self.values.clear();
        self.text.clear();
        self.distributions.clear();
        self.costs.clear();
        self.offered.clear();
        self.missing.clear();
        self.rounds.clear();
    }

    pub(crate) fn used(&self) -> Room {
        Room { rows: self.heads.len(), features: self.indices.len(), text: self.text.len() }
    }

    /// Reserves space for about `room`.
    pub(crate) fn reserve(&mut self, room: Room) {
        let some_more = |count: usize| count + count / 16;
        self.heads.reserve(some_more(room.rows));
        self.indices.reserve(some_more(room.features));
        self.values.reserve(some_more(room.features));
        self.text.reserve(some_more(room.text));
    }

    /// Adds a row. All rows together take less than 4 GiB.
    pub(crate) fn push(&mut self, row: &Row) {
        self.indices.extend(row.indices());
        self.values.extend(row.values());
        if self.heads.is_empty() {
            self.line = row.line;
        }
        let line = row.line.checked_sub(self.line).and_then(|lines| u32::try_from(lines).ok());
        let alone = row.tag.is_empty() && row.offered().is_empty() && row.missing().is_empty();
        let plain = row.weight == 1.0 && alone && line.is_some() && row.round().is_none();
        let extra = match row.kind {
            LabelKind::Missing if plain => UNLABELLED,
            LabelKind::Name if plain => {
                self.text.push_str(&row.name);
                NAMED - row.of as u32
            }
            _ => self.push_extra(row),
        };
        self.heads.push(Head {
            features: self.indices.len() as u32,
            text: self.text.len() as u32,
            line: line.unwrap_or(0),
            extra,
        });
    }

    /// Adds all of a row but its features. Returns its place.
    fn push_extra(&mut self, row: &Row) -> u32 {
        match row.kind {
            LabelKind::Missing => {}
            LabelKind::Name => self.text.push_str(&row.name),
            LabelKind::Distribution => self.distributions.extend_from_slice(&row.distribution),
            LabelKind::Costs => {
                for cost in &row.costs[..row.cost_count] {
                    self.text.push_str(&cost.action);
                    let action = self.text.len() as u32;
                    self.costs.push(Cost {
                        action,
                        of: cost.of,
                        cost: cost.cost,
                        probability: cost.probability,
                    });
                }
            }
        }
        let name = self.text.len() as u32;
        self.text.push_str(&row.tag);
        let tag = self.text.len() as u32;
        for label in row.offered() {
            self.text.push_str(&label.text);
            self.offered.push((self.text.len() as u32, label.of));
        }
        self.missing.extend_from_slice(row.missing());
        self.rounds.extend(row.round().cloned());
        self.extras.push(Extra {
            weight: row.weight,
            line: row.line,
            kind: row.kind,
            of: row.of,
            name,
            tag,
            distribution: self.distributions.len() as u32,
            costs: self.costs.len() as u32,
            offered: self.offered.len() as u32,
            missing: self.missing.len() as u32,
            rounds: self.rounds.len() as u32,
        });
        self.extras.len() as u32 - 1
    }

    /// Copies the row at `at` to `row`.
    pub(crate) fn copy_to(&self, at: usize, row: &mut Row) {
        let head = self.heads[at];
        let starts = if at == 0 { Head::default() } else { self.heads[at - 1] };
        row.clear();
        let features = starts.features as usize..head.features as usize;
        let (indices, values) = row.room(features.len());
        self.indices.copy_to(features.clone(), indices);
        self.values.copy_to(features.clone(), values);
        row.filled(features.len(), true);
        row.line = self.line + u64::from(head.line);
        match head.extra {
            UNLABELLED => {}
            named @ NAMED_LAST..=NAMED => {
                let name = &self.text[starts.text as usize..head.text as usize];
                row.set_label(name, LabelType::ALL[(NAMED - named) as usize]);
            }
            extra => self.copy_extra(extra as usize, starts.text, row),
        }
    }

    /// Copies all of a row but its features, whose text starts at `start`.
    fn copy_extra(&self, at: usize, start: u32, row: &mut Row) {
        let extra = self.extras[at];
        let starts = if at == 0 { Extra::default() } else { self.extras[at - 1] };
        (row.weight, row.line, row.kind, row.of) = (extra.weight, extra.line, extra.kind, extra.of);
        let text = |start: u32, end: u32| &self.text[start as usize..end as usize];
        row.tag.push_str(text(extra.name, extra.tag));
        let mut from = extra.tag;
        for &(end, of) in &self.offered[starts.offered as usize..extra.offered as usize] {
            row.push_offered_as(text(from, end), of);
            from = end;
        }
        row.missing.extend_from_slice(&self.missing[starts.missing as usize..extra.missing as usize]);
        if let Some(round) = self.rounds[starts.rounds as usize..extra.rounds as usize].first() {
            row.set_round(round.clone());
        }
        match extra.kind {
            LabelKind::Missing => {}
            LabelKind::Name => row.name.push_str(text(start, extra.name)),
            LabelKind::Distribution => {
                let places = starts.distribution as usize..extra.distribution as usize;
                row.distribution.extend_from_slice(&self.distributions[places]);
            }
            LabelKind::Costs => {
                let mut start = start;
                for cost in &self.costs[starts.costs as usize..extra.costs as usize] {
                    row.push_cost_as(text(start, cost.action), cost.of, cost.cost, cost.probability);
                    start = cost.action;
                }
            }
        }
    }
}

/// A list of numbers, of the type `N` if all of them have an equal one of that type, and otherwise of the
/// type `W`.
#[derive(Debug, Default)]
struct Narrow<N, W> {
    narrow: Vec<N>,
    /// Empty, or in place of `narrow`.
    wide: Vec<W>,
}

/// A number type with half of the bytes of `W`.
trait Half<W>: Copy {
    /// The nearest number, or any.
    fn narrowed(wide: W) -> Self;
    fn widened(self) -> W;
}

impl Half<u32> for u16 {
    fn narrowed(wide: u32) -> Self {
        wide as u16
    }

    fn widened(self) -> u32 {
        self.into()
    }
}

impl Half<f64> for f32 {
    fn narrowed(wide: f64) -> Self {
        wide as f32
    }

    fn widened(self) -> f64 {
        self.into()
    }
}

impl<N: Half<W>, W: Copy + PartialEq> Narrow<N, W> {
    fn len(&self) -> usize {
        self.narrow.len().max(self.wide.len())
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.narrow) + size_of_val(&*self.wide)
    }

    fn clear(&mut self) {
        self.narrow.clear();
        self.wide.clear();
    }

    fn reserve(&mut self, count: usize) {
        self.narrow.reserve(count);
    }

    fn extend(&mut self, numbers: &[W]) {
        if self.wide.is_empty() {
            if numbers.iter().fold(true, |all, wide| all & (N::narrowed(*wide).widened() == *wide)) {
                self.narrow.extend(numbers.iter().map(|wide| N::narrowed(*wide)));
                return;
            }
            self.wide.reserve(self.narrow.capacity());
            self.wide.extend(self.narrow.drain(..).map(N::widened));
        }
        self.wide.extend_from_slice(numbers);
    }

    /// Copies the numbers in `places` to the first places of `out`.
    fn copy_to(&self, places: std::ops::Range<usize>, out: &mut [W]) {
        if self.wide.is_empty() {
            for (out, narrow) in out.iter_mut().zip(&self.narrow[places]) {
                *out = narrow.widened();
            }
        } else {
            out[..places.len()].copy_from_slice(&self.wide[places]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every kind.
    fn rows() -> Vec<Row> {
        let mut rows = vec![Row::new(); 6 + 2 * LabelType::ALL.len()];
        for (pair, of) in rows[6..].chunks_mut(2).zip(LabelType::ALL) {
            pair.iter_mut().for_each(|row| row.set_label("1", of));
            pair[1].weight = 3.0;
        }
        rows[1].set_name("été");
        rows[1].push(3, -0.5);
        rows[2].set_distribution([0.25, 0.75]);
        rows[2].tag = "a tag".to_owned();
        for (action, cost, probability) in
            [("a", Some(1.0), None), ("", None, None), ("ccc", Some(-2.0), Some(0.5))]
        {
            rows[3].push_cost(action, cost, probability);
        }
        rows[3].push(1, 2.0);
        rows[3].push(9, 3.0);
        [7, 2].into_iter().for_each(|column| rows[3].miss(column));
        rows[4].set_name("7");
        rows[4].tag = "t".to_owned();
        rows[4].weight = 2.5;
        rows[5].push_cost("b", Some(0.0), None);
        ["a", "b", "été"].iter().for_each(|label| rows[4].push_offered(label));
        rows[5].push_offered_as("b", LabelType::Text);
        (10..).zip(&mut rows).for_each(|(line, row)| row.line = line);
        rows
    }

    #[test]
    fn rows_come_out_as_they_went_in() {
        let (rows, mut packed, mut row) = (rows(), PackedRows::default(), Row::new());
        for _ in 0..2 {
            packed.clear();
            rows.iter().for_each(|row| packed.push(row));
            assert_eq!(packed.len(), rows.len());
            // In any order, into a row that held another one.
            for at in (0..rows.len()).chain((0..rows.len()).rev()) {
                packed.copy_to(at, &mut row);
                assert_eq!(row, rows[at], "{at}");
            }
        }
        // Rows with a type and nothing else have no extra.
        let types = LabelType::ALL.len();
        let (heads, extras) = (rows.len() * size_of::<Head>(), (4 + types) * size_of::<Extra>());
        let costs = 4 * size_of::<Cost>();
        assert_eq!(
            packed.bytes(),
            heads + extras + 3 * (2 + 4) + 25 + 2 * types + 16 + costs + 4 * 8 + 2 * 4
        );
    }

    /// From the first number on that needs all of its bytes, and not before.
    #[test]
    fn numbers_are_the_same_whatever_their_bytes() {
        let rows: Vec<Row> = [
            [(0, 1.0), (65_535, -0.5)],
            [(1, f64::from(f32::MAX)), (2, 1e-30_f32.into())],
            [(7, 0.1), (65_536, 1e300)],
            [(3, 5e-324), (4, 16_777_217.0)],
        ]
        .into_iter()
        .map(|pairs| {
            let mut row = Row::new();
            pairs.iter().for_each(|(index, value)| row.push(*index, *value));
            row
        })
        .collect();
        let mut packed = PackedRows::default();
        for _ in 0..2 {
            packed.clear();
            for (count, bytes) in [(2, 4 * (2 + 4)), (4, 8 * (4 + 8))] {
                rows[packed.len()..count].iter().for_each(|row| packed.push(row));
                assert_eq!(packed.indices.bytes() + packed.values.bytes(), bytes);
                let mut row = Row::new();
                for (at, want) in rows[..count].iter().enumerate() {
                    packed.copy_to(at, &mut row);
                    assert_eq!(row, *want, "{at}");
                }
            }
        }
    }

    #[test]
    fn lines_may_be_far_apart_or_go_back() {
        let mut packed = PackedRows::default();
        let lines = [1 << 40, (1 << 40) + 7, 1 << 50, 3];
        for line in lines {
            packed.push(&Row { line, ..Row::new() });
        }
        for (at, line) in lines.into_iter().enumerate() {
            let mut row = Row::new();
            packed.copy_to(at, &mut row);
            assert_eq!(row.line, line);
        }
    }
}
