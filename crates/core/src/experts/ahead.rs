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
}

/// Some of the rows.
struct Portion<'a> {
    features: usize,
    rows: &'a [f64],
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
    /// Announces the first `most` rows of `coming` to `members`, of `features` each times `scale`.
    pub(super) fn start(
        &mut self,
        coming: &dyn Batch,
        most: usize,
        features: usize,
        scale: f64,
        members: &mut [Option<Box<dyn Member>>],
    ) {
        let len = coming.len().min(most);
        self.features = features;
        self.rows.clear();
        self.rows.resize(len * features, 0.0);
        for (at, row) in self.rows.chunks_exact_mut(features).enumerate() {
            coming.features(at).add_to(scale, row);
        }
        self.next = 0;
        self.until.clear();
        self.until.resize(members.len(), 0);
        self.hand_on(members);
    }

    /// Forgets what was announced.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// The row that was expected has been learnt.
    pub(super) fn advance(&mut self, members: &mut [Option<Box<dyn Member>>]) {
        if !self.rows.is_empty() {
            self.next += 1;
            self.hand_on(members);
        }
    }

    /// Shows those who are through with their portion the next one.
    fn hand_on(&mut self, members: &mut [Option<Box<dyn Member>>]) {
        let rest = &self.rows[self.rows.len().min(self.next * self.features)..];
        for (member, until) in members.iter_mut().zip(&mut self.until) {
            let Some(member) = member.as_mut().filter(|_| *until <= self.next && !rest.is_empty()) else {
                continue;
            };
            let rows = &rest[..rest.len().min(member.lookahead() * self.features)];
            if !rows.is_empty() {
                member.prepare(&Portion { features: self.features, rows });
            }
            *until = self.next + rows.len() / self.features;
        }
    }
}
