//! Rows that were announced, handed on to members in portions that each can make use of.

use crate::example::{Batch, Features};

use super::member::Member;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    features: usize,
    /// One after the other, dense.
    rows: Vec<f64>,
    /// The row to expect next.
    next: usize,
    /// For every member, the row up to which it is prepared.
    until: Vec<usize>,
    /// A portion, in multiples of the unit.
    portion: Vec<f64>,
}

/// Dense rows, one after the other.
pub(super) struct Portion<'a> {
    pub(super) features: usize,
    pub(super) rows: &'a [f64],
}

impl Batch for Portion<'_> {
    fn len(&self) -> usize {
        self.rows.len() / self.features
    }

    fn features(&self, at: usize) -> Features<'_> {
        Features::Dense(&self.rows[at * self.features..][..self.features])
    }
}

impl Ahead {
    /// Takes in the first `most` rows of `coming`, of `features` each, for `members`: [`Ahead::hand_on`] shows them.
    pub(super) fn start(&mut self, coming: &dyn Batch, most: usize, features: usize, members: usize) {
        let len = coming.len().min(most);
        self.features = features;
        self.rows.clear();
        self.rows.resize(len * features, 0.0);
        for (at, row) in self.rows.chunks_exact_mut(features).enumerate() {
            coming.features(at).add_to(1.0, row);
        }
        self.next = 0;
        self.until.clear();
        self.until.resize(members, 0);
    }

    /// Forgets what was announced.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// The row that was expected has been learnt.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Nobody is prepared any more.
    pub(super) fn begin_anew(&mut self) {
        self.until.fill(0);
    }

    /// Shows members that have learnt their portion of rows the next one, times `scale`.
    pub(super) fn hand_on(&mut self, members: &mut [Option<Box<dyn Member>>], scale: f64) {
        let rest = &self.rows[self.rows.len().min(self.next * self.features)..];
        for (member, until) in members.iter_mut().zip(&mut self.until) {
            let Some(member) = member.as_mut().filter(|_| *until <= self.next && !rest.is_empty()) else {
                continue;
            };
            let rows = &rest[..rest.len().min(member.lookahead() * self.features)];
            if !rows.is_empty() {
                self.portion.clear();
                self.portion.extend(rows.iter().map(|value| scale * value));
                member.prepare(&Portion { features: self.features, rows: &self.portion });
            }
            *until = self.next + rows.len() / self.features;
        }
    }
}
