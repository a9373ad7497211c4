//! Many rows packed into a few long lists.

use super::{LabelKind, Row};

/// Rows in order.
#[derive(Debug, Default)]
pub(crate) struct PackedRows {
    heads: Vec<Head>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// For each row, the name of its class or the names of its actions, its tag, and the labels on offer.
    text: String,
    distributions: Vec<f64>,
    costs: Vec<Cost>,
    /// Where the names of labels on offer end in the text.
    offered: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    weight: f64,
    line: u64,
    kind: LabelKind,
    ends: Ends,
}

/// The ends of a row's parts in the lists, which are the starts of the next row's.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    features: u32,
    name: u32,
    tag: u32,
    /// Where its text ends.
    text: u32,
    distribution: u32,
    costs: u32,
    offered: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    /// End of the action's name in the text.
    action: u32,
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
            + size_of_val(&*self.indices)
            + size_of_val(&*self.values)
            + self.text.len()
            + size_of_val(&*self.distributions)
            + size_of_val(&*self.costs)
            + size_of_val(&*self.offered)
    }

    /// Removes the rows; keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.indices.clear();
        self.values.clear();
        self.text.clear();
        self.distributions.clear();
        self.costs.clear();
        self.offered.clear();
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
        self.indices.extend_from_slice(row.indices());
        self.values.extend_from_slice(row.values());
        match row.kind {
            LabelKind::Missing => {}
            LabelKind::Name => self.text.push_str(&row.name),
            LabelKind::Distribution => self.distributions.extend_from_slice(&row.distribution),
            LabelKind::Costs => {
                for cost in &row.costs[..row.cost_count] {
                    self.text.push_str(&cost.action);
                    let action = self.text.len() as u32;
                    self.costs.push(Cost { action, cost: cost.cost, probability: cost.probability });
                }
            }
        }
        let name = self.text.len() as u32;
        self.text.push_str(&row.tag);
        let tag = self.text.len() as u32;
        for label in row.offered() {
            self.text.push_str(label);
            self.offered.push(self.text.len() as u32);
        }
        let ends = Ends {
            features: self.indices.len() as u32,
            name,
            tag,
            text: self.text.len() as u32,
            distribution: self.distributions.len() as u32,
            costs: self.costs.len() as u32,
            offered: self.offered.len() as u32,
        };
        self.heads.push(Head { weight: row.weight, line: row.line, kind: row.kind, ends });
    }

    /// Copies the row at `at` to `row`.
    pub(crate) fn copy_to(&self, at: usize, row: &mut Row) {
        let Head { weight, line, kind, ends } = self.heads[at];
        let starts = if at == 0 { Ends::default() } else { self.heads[at - 1].ends };
        row.clear();
        (row.weight, row.line) = (weight, line);
        let features = starts.features as usize..ends.features as usize;
        let (indices, values) = row.room(features.len());
        indices[..features.len()].copy_from_slice(&self.indices[features.clone()]);
        values[..features.len()].copy_from_slice(&self.values[features.clone()]);
        row.filled(features.len(), true);
        let text = |start: u32, end: u32| &self.text[start as usize..end as usize];
        row.tag.push_str(text(ends.name, ends.tag));
        let mut start = ends.tag;
        for &end in &self.offered[starts.offered as usize..ends.offered as usize] {
            row.next_offered().push_str(text(start, end));
            row.offered_count += 1;
            start = end;
        }
        match kind {
            LabelKind::Missing => {}
            LabelKind::Name => row.name.push_str(text(starts.text, ends.name)),
            LabelKind::Distribution => {
                let places = starts.distribution as usize..ends.distribution as usize;
                row.distribution.extend_from_slice(&self.distributions[places]);
            }
            LabelKind::Costs => {
                let mut start = starts.text;
                for cost in &self.costs[starts.costs as usize..ends.costs as usize] {
                    row.next_cost(cost.cost, cost.probability).push_str(text(start, cost.action));
                    row.cost_count += 1;
                    start = cost.action;
                }
            }
        }
        row.kind = kind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every kind.
    fn rows() -> Vec<Row> {
        let mut rows = vec![Row::new(); 6];
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
        rows[4].set_name("7");
        rows[4].tag = "t".to_owned();
        rows[4].weight = 2.5;
        rows[5].push_cost("b", Some(0.0), None);
        ["a", "b", "été"].iter().for_each(|label| assert!(rows[4].push_offered(label)));
        assert!(rows[5].push_offered("b"));
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
        let costs = 4 * size_of::<Cost>();
        assert_eq!(packed.bytes(), 6 * size_of::<Head>() + 3 * 12 + 25 + 16 + costs + 4 * 4);
    }
}
