//! Whether labels were drawn with the probabilities that a log gives for all of them.

use noregret::example::Label;

use crate::encode::labels::Labels;

/// How often each label was played, and how often the probabilities promise that.
#[derive(Default)]
pub(super) struct Drawn {
    /// For each label its plays, $\sum p$ and $\sum p (1 - p)$.
    labels: Vec<[f64; 3]>,
}

/// Of right logs at most this share has a warning by chance.
const MISS: f64 = 1e-6;

/// Probabilities were rounded when they were written: sums may be off by this share of them.
const ROUNDED: f64 = 0.02;

impl Drawn {
    /// Adds a decision with the probabilities `logged` of all labels, of which `label` was played.
    pub(super) fn add(&mut self, logged: &[f64], label: usize) {
        if self.labels.len() < logged.len() {
            self.labels.resize(logged.len(), [0.0; 3]);
        }
        for ([_, promised, variance], p) in self.labels.iter_mut().zip(logged) {
            *promised += p;
            *variance += p * (1.0 - p);
        }
        self.labels[label][0] += 1.0;
    }

    /// A warning, if a label was played more or less often than can be by chance: beyond Freedman's bound,
    /// which holds for policies that learn, too. It names the label that is furthest beyond.
    pub(super) fn warning(&self, names: &Labels) -> Option<String> {
        let chance = (2.0 * self.labels.len() as f64 / MISS).ln();
        let beyond = |[plays, promised, variance]: &[f64; 3]| {
            let most = (2.0 * variance * chance).sqrt() + chance / 1.5 + ROUNDED * promised;
            (plays - promised).abs() / most
        };
        let all = self.labels.iter().map(beyond).enumerate();
        let (at, _) = all.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, beyond)| *beyond > 1.0)?;
        let [plays, promised, _] = self.labels[at];
        Some(format!(
            "the label {:?} was played {plays} times, where the logged probabilities promise about {promised:.0}: labels were not drawn \
             with them, and no interval holds",
            names.name(Label::from(at))
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1000 decisions with the probabilities 0.5, 0.3 and 0.2.
    #[test]
    fn plays_are_counted_beside_their_probabilities() {
        for (plays, told) in [
            ([500, 300, 200], None),
            ([540, 270, 190], None),
            ([334, 333, 333], Some("the label \"2\" was played 333 times, where the logged")),
            ([1000, 0, 0], Some("the label \"0\" was played 1000 times, where the logged")),
        ] {
            let mut drawn = Drawn::default();
            for (label, plays) in plays.into_iter().enumerate() {
                (0..plays).for_each(|_| drawn.add(&[0.5, 0.3, 0.2], label));
            }
            let warning = drawn.warning(&Labels::numbered(3));
            assert_eq!(warning.is_some(), told.is_some(), "{warning:?}");
            assert!(warning.unwrap_or_default().starts_with(told.unwrap_or_default()), "{plays:?}");
        }
        assert_eq!(Drawn::default().warning(&Labels::numbered(3)), None);
    }
}
