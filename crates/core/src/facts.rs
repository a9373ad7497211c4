//! The facts of a run that a learner's theorem assumes.

use serde::{Deserialize, Serialize};

use crate::example::{Features, Target, Truth};
use crate::guarantee::{Guarantee, Promise, Void, is_beyond, were};
use crate::learner::{BanditLearner, OnlineLearner};
use crate::problem::Problem;

const WEIGHTED: &str = "rounds had importance weights";

/// The rounds over which the regret is measured, with the events that void theorems. Certificates
/// and bounds must be obtained from here, so that they are only shown when they hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    /// Number of labelled rounds.
    pub rounds: u64,
    /// Number of rounds that the learner had learnt before the first of them.
    pub earlier: u64,
    /// Labels that came after later rows had been predicted.
    pub late: u64,
    /// Rows whose norm was larger than the learner's radius.
    pub beyond_radius: u64,
    /// Rounds with an importance weight other than 1.
    pub weighted: u64,
    /// Rounds whose forecast was not the learner's own: it was among the labels on offer, or kept probability
    /// back for labels to come.
    #[serde(default)]
    pub altered: u64,
    /// Least probability of every label by additional uniform draws; 0 for none.
    pub floor: f64,
    /// Whether models with different scalings were merged.
    pub merged_scalings: bool,
    /// The largest absolute value of a real-valued target; 0 if there was none.
    #[serde(default)]
    pub largest_target: f64,
    /// The sum of the rows' squared norms times their importance weights; 0 if unknown.
    #[serde(default)]
    pub energy: f64,
}

impl RunFacts {
    /// The facts before the first round, for a learner that has learnt `earlier` rounds.
    pub fn new(earlier: u64) -> Self {
        Self { earlier, ..Self::default() }
    }

    /// Records a labelled round with row `x` and importance `weight`, for a learner of `problem`.
    pub fn note(&mut self, problem: &Problem, x: Features<'_>, weight: f64) {
        self.rounds += 1;
        self.weighted += u64::from(weight != 1.0);
        let norm_squared = x.views(problem.features).0.norm_squared();
        self.energy += weight * norm_squared;
        let beyond = problem.radius.is_some_and(|radius| is_beyond(norm_squared, radius));
        self.beyond_radius += u64::from(beyond);
    }

    /// Records what a noted round's target says about the assumptions of theorems.
    pub fn note_target(&mut self, y: Target<'_>) {
        if let Truth::Value(value) = y.truth {
            self.largest_target = self.largest_target.max(value.abs());
        }
    }

    /// Appends the rounds of `later`.
    pub fn extend(&mut self, later: &RunFacts) {
        self.rounds += later.rounds;
        self.late += later.late;
        self.beyond_radius += later.beyond_radius;
        self.weighted += later.weighted;
        self.altered += later.altered;
        self.floor = self.floor.max(later.floor);
        self.largest_target = self.largest_target.max(later.largest_target);
        self.energy += later.energy;
        self.merged_scalings |= later.merged_scalings;
    }

    /// The facts as numbers that can be added over shards; the exploration floor, which no learner with
    /// statistics has, is not among them.
    pub fn sums(&self) -> [f64; 8] {
        let scalings = u64::from(self.merged_scalings);
        let counts = [self.rounds, self.late, self.beyond_radius, self.weighted, self.altered, scalings];
        let [rounds, late, beyond_radius, weighted, altered, scalings] = counts.map(|count| count as f64);
        [rounds, late, beyond_radius, weighted, altered, scalings, self.largest_target, self.energy]
    }

    /// The facts from the [`sums`](RunFacts::sums) of shards. The largest target is at most that of the
    /// result.
    pub fn of_sums(sums: [f64; 8]) -> Self {
        let [.., largest_target, energy] = sums;
        let counts = sums.map(|sum| sum.round() as u64);
        let [rounds, late, beyond_radius, weighted, altered, scalings, ..] = counts;
        let merged_scalings = scalings > 0;
        Self {
            rounds,
            late,
            beyond_radius,
            weighted,
            altered,
            merged_scalings,
            largest_target,
            energy,
            ..Self::default()
        }
    }

    /// Why the theorem does not apply to the rounds, if it does not, for a learner that has learnt
    /// `learnt` rounds in total.
    fn void(&self, learnt: u64) -> Option<Void> {
        let known = learnt.saturating_sub(self.earlier);
        let why = if self.earlier > 0 {
            let were = were(self.earlier, "round");
            format!("{were} learnt before this run, and the comparison is about this run alone")
        } else if self.late > 0 {
            let labels = if self.late == 1 { "label" } else { "labels" };
            format!("{} {labels} came late, after later rows had been predicted", self.late)
        } else if known < self.rounds {
            let rounds = self.rounds - known;
            format!("the labels of {rounds} round{} have not come yet", if rounds == 1 { "" } else { "s" })
        } else if known > self.rounds {
            format!("{} learnt of which nothing is known", were(known - self.rounds, "round"))
        } else if self.altered > 0 {
            let were = were(self.altered, "forecast");
            format!(
                "{were} not the learner's own: among the labels on offer, or with probability kept back for labels to come"
            )
        } else if self.floor > 0.0 {
            format!("labels were drawn with an exploration floor of {}", self.floor)
        } else if self.beyond_radius > 0 {
            format!("{} beyond the learner's radius", were(self.beyond_radius, "row"))
        } else if self.merged_scalings {
            return Some("it was merged of models that had scaled their rows differently".into());
        } else {
            return None;
        };
        Some(why.into())
    }

    /// The certificate of `learner` for these rounds, if it computes one, with a margin for rounding errors
    /// (see [`Terms`](crate::guarantee::Terms)).
    /// That of a mixture is its bound. Those of surrogates hold with importance weights, since
    /// surrogates of weighted rounds are still lower bounds.
    pub fn certificate<L: OnlineLearner + ?Sized>(&self, learner: &L) -> Option<Promise> {
        if let Some(Guarantee::AdaptiveRegret { bound, .. }) = self.guarantee(learner) {
            return Some(bound);
        }
        let certificate = learner.certificate()?;
        let sound = certificate.and_then(|value| match learner.certificate_terms() {
            None => Ok(value),
            Some(terms) if self.weighted > 0 && !terms.weights => Err(WEIGHTED.into()),
            Some(terms) => {
                let radius = learner.problem().radius.unwrap_or(1.0);
                let most = self.rounds as f64 * radius * radius;
                terms.with_margin(value, if self.energy > 0.0 { self.energy } else { most }, self.rounds)
            }
        });
        Some(self.void(learner.rounds()).map_or(sound, Err))
    }

    /// The guarantee of `learner`'s theorem for these rounds, for learners that have one.
    pub fn guarantee<'a, L: OnlineLearner + ?Sized>(&self, learner: &'a L) -> Option<Guarantee<'a>> {
        Some(self.applied(learner.guarantee()?, learner.rounds()))
    }

    /// As [`RunFacts::guarantee`], for a learner with bandit feedback.
    pub fn bandit_guarantee<'a, L: BanditLearner + ?Sized>(&self, learner: &'a L) -> Option<Guarantee<'a>> {
        Some(self.applied(learner.guarantee()?, learner.rounds()))
    }

    /// The bound of `learner` on these rounds where abstaining costs `cost`, see
    /// [`Abstain`](crate::capability::Abstain); `None` if it always answers.
    pub fn abstention_bound<L: OnlineLearner + ?Sized>(&self, learner: &L, cost: f64) -> Option<Promise> {
        let bound = learner.abstaining()?.abstention_bound(cost);
        Some(self.void(learner.rounds()).map_or(bound, Err))
    }

    /// The guarantee without its bounds, if the rounds do not satisfy the theorem's assumptions.
    fn applied<'a>(&self, mut guarantee: Guarantee<'a>, learnt: u64) -> Guarantee<'a> {
        let facts = match guarantee {
            // They are about forecasts, whatever the rows.
            Guarantee::AdaptiveRegret { .. } | Guarantee::ExpertMistakes { .. } => {
                Self { beyond_radius: 0, ..self.clone() }
            }
            _ => self.clone(),
        };
        let weighted = || (self.weighted > 0).then_some(WEIGHTED.into());
        let large = || match guarantee {
            Guarantee::SquaredRegret { target_bound: Some(most), .. } if self.largest_target > most => {
                Some(format!("a target of {} was beyond target_bound = {most}", self.largest_target).into())
            }
            _ => None,
        };
        if let Some(why) = facts.void(learnt).or_else(weighted).or_else(large) {
            guarantee.withdraw(&why);
        }
        guarantee
    }
}
