//! Costs with a stated range, as rewards.

use std::fmt;
use std::str::FromStr;

use noregret::prediction::Reward;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};
use crate::read::remark::Remark;

/// What follows a range that clips.
const CLIP: &str = ":clip";

/// The range of costs of labels: the least cost is the reward 1, the largest is 0, and rewards are linear in
/// between. What is outside is refused, or counts as the nearest end if the range clips: all that is learnt
/// and estimated is then about numbers so clipped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Costs {
    least: f64,
    most: f64,
    clip: bool,
}

/// A range as files have it: its ends, or a text if it clips.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Ends([f64; 2]),
    Text(String),
}

impl Default for Costs {
    /// From 0 to 1.
    fn default() -> Self {
        Self { least: 0.0, most: 1.0, clip: false }
    }
}

impl Costs {
    /// Costs from `least` to `most`, finite; `None` unless `least` is below `most`.
    pub fn new(least: f64, most: f64) -> Option<Self> {
        (least < most && (most - least).is_finite()).then_some(Self { least, most, clip: false })
    }

    /// The same, in which what is outside counts as the nearest end.
    #[must_use]
    pub fn clipping(self) -> Self {
        Self { clip: true, ..self }
    }

    /// `number`, or the end that it counts as.
    fn within(self, number: f64) -> f64 {
        if self.clip { number.clamp(self.least, self.most) } else { number }
    }

    /// Whether `number` is outside of the range, and counts as its nearest end.
    pub fn clips(self, number: f64) -> bool {
        self.within(number) != number
    }

    /// The reward in [0, 1] of a reward in this range: 1 for the largest.
    ///
    /// # Errors
    /// If it is outside the range.
    pub fn rising(self, reward: f64) -> Result<Reward, Fault> {
        let counts_as = self.within(reward);
        Reward::of_cost(0.0 - counts_as, 0.0 - self.most, 0.0 - self.least).ok_or_else(|| {
            fault!("the reward is {reward}; a number from {} to {} was needed", self.least, self.most)
        })
    }

    /// [`Costs::rising`] of many rewards, and what to say if some were clipped.
    ///
    /// # Errors
    /// If one is outside the range, and it does not clip.
    pub fn rising_all(self, rewards: &[f64]) -> Result<(Vec<f64>, Option<Remark>), Fault> {
        let (mut clipped, mut shares) = (Clipped::default(), Vec::with_capacity(rewards.len()));
        for (at, reward) in rewards.iter().enumerate() {
            clipped.count(self, *reward);
            let share = self.rising(*reward).map_err(|what| fault!("rewards[{at}]: {what}"))?;
            shares.push(share.value());
        }
        Ok((shares, clipped.remark("rewards", self)))
    }

    /// The reward of `cost`.
    ///
    /// # Errors
    /// If it is outside the range.
    pub fn reward(self, cost: f64) -> Result<Reward, Fault> {
        Reward::of_cost(self.within(cost), self.least, self.most).ok_or_else(|| {
            fault!(
                "the cost is {cost}; a number from {} to {} was needed, which is the model's range of costs",
                self.least,
                self.most
            )
        })
    }

    /// The cost that has the reward `reward`, from 0 to 1.
    pub fn cost_of(self, reward: f64) -> f64 {
        (self.most - reward * (self.most - self.least)).clamp(self.least, self.most)
    }
}

impl TryFrom<[f64; 2]> for Costs {
    type Error = Fault;

    fn try_from([least, most]: [f64; 2]) -> Result<Self, Fault> {
        Self::new(least, most).ok_or_else(|| fault!("costs from {least} to {most}: the first must be less"))
    }
}

impl From<Costs> for [f64; 2] {
    fn from(costs: Costs) -> Self {
        [costs.least, costs.most]
    }
}

impl TryFrom<Written> for Costs {
    type Error = Fault;

    fn try_from(written: Written) -> Result<Self, Fault> {
        match written {
            Written::Ends(ends) => Self::try_from(ends),
            Written::Text(text) => text.parse(),
        }
    }
}

impl From<Costs> for Written {
    fn from(costs: Costs) -> Self {
        if costs.clip { Self::Text(costs.to_string()) } else { Self::Ends(costs.into()) }
    }
}

/// `0..10`, or `0..10:clip`.
impl FromStr for Costs {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let (ends, clip) = text.strip_suffix(CLIP).map_or((text, false), |ends| (ends, true));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let range = ends.split_once("..").and_then(|(least, most)| Some([number(least)?, number(most)?]));
        let range = range.ok_or_else(|| format!("{text:?} is not a range, such as 0..10 or 0..10:clip"))?;
        Ok(Self { clip, ..Self::try_from(range)? })
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}{}", self.least, self.most, if self.clip { CLIP } else { "" })
    }
}

/// How many numbers a range has clipped so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clipped {
    numbers: u64,
    clipped: u64,
    /// The clipped number that is farthest outside.
    farthest: f64,
}

impl Clipped {
    /// How many of the numbers were clipped.
    pub(crate) fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Counts a number in or outside of `range`.
    pub(crate) fn count(&mut self, range: Costs, number: f64) {
        self.numbers += 1;
        let beyond = |number: f64| (number - range.within(number)).abs();
        if beyond(number) > 0.0 {
            self.clipped += 1;
            if self.clipped == 1 || beyond(number) > beyond(self.farthest) {
                self.farthest = number;
            }
        }
    }

    /// What to say of the `numbers` (costs or rewards) of `range`, if any was clipped.
    pub(crate) fn remark(&self, numbers: &str, range: Costs) -> Option<Remark> {
        let Self { numbers: all, clipped, farthest } = self;
        let Costs { least, most, .. } = range;
        (*clipped > 0).then(|| {
            Remark::Other(format!(
                "{clipped} of {all} {numbers} outside of {least}..{most}, the farthest {farthest}, count as the nearest end: every figure is about {numbers} so clipped"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_cost_is_the_best() {
        let costs: Costs = "-1..3".parse().expect("a range");
        for (cost, reward) in [(-1.0, 1.0), (3.0, 0.0), (0.0, 0.75)] {
            assert_eq!(costs.reward(cost).map(Reward::value), Ok(reward));
            assert_eq!(costs.cost_of(reward), cost);
        }
        assert_eq!(
            costs.reward(3.5).expect_err("outside").to_string(),
            "the cost is 3.5; a number from -1 to 3 was needed, which is the model's range of costs"
        );
        assert!(costs.reward(f64::NAN).is_err());
        for (earned, reward) in [(-1.0, 0.0), (3.0, 1.0), (0.0, 0.25)] {
            assert_eq!(costs.rising(earned).map(Reward::value), Ok(reward));
        }
        assert_eq!(
            costs.rising(4.0).expect_err("outside").to_string(),
            "the reward is 4; a number from -1 to 3 was needed"
        );
        for text in ["1..0", "0..0", "0", "a..b", "0..inf", "-1e308..1e308"] {
            assert!(text.parse::<Costs>().is_err(), "{text}");
        }
        let json = serde_json::to_string(&costs).expect("plain data");
        assert_eq!((json.as_str(), serde_json::from_str(&json).ok()), ("[-1.0,3.0]", Some(costs)));
    }

    #[test]
    fn a_range_may_clip() {
        let costs: Costs = "-1..3:clip".parse().expect("a range");
        for (cost, reward) in [(-9.0, 1.0), (99.0, 0.0), (0.0, 0.75)] {
            assert_eq!(costs.reward(cost).map(Reward::value), Ok(reward));
            assert_eq!(costs.rising(cost).map(Reward::value), Ok(1.0 - reward));
        }
        assert!(costs.reward(f64::NAN).is_err());
        assert!(costs.clips(-9.0) && costs.clips(3.5) && !costs.clips(3.0) && !costs.clips(0.0));
        assert!(!Costs::default().clips(3.5), "it is refused");
        assert_eq!(costs, Costs::new(-1.0, 3.0).expect("a range").clipping());
        let json = serde_json::to_string(&costs).expect("plain data");
        assert_eq!((json.as_str(), serde_json::from_str(&json).ok()), ("\"-1..3:clip\"", Some(costs)));
        assert!("-1..3:cap".parse::<Costs>().is_err() && serde_json::from_str::<Costs>("\"3..1\"").is_err());
    }

    #[test]
    fn what_was_clipped_is_told() {
        let costs: Costs = "0..3:clip".parse().expect("a range");
        let mut clipped = Clipped::default();
        for cost in [0.0, 3.0, -1.0] {
            assert_eq!(clipped.remark("costs", costs), None);
            clipped.count(costs, cost);
        }
        for cost in [822.0, 5.0] {
            clipped.count(costs, cost);
        }
        let said = clipped.remark("costs", costs).map(|remark| remark.to_string());
        let want = "3 of 5 costs outside of 0..3, the farthest 822, count as the nearest end: every figure is about costs so clipped";
        assert_eq!(said.as_deref(), Some(want));
        let (shares, said) = costs.rising_all(&[1.5, 7.0]).expect("clipped");
        assert_eq!((shares, said.is_some()), (vec![0.5, 1.0], true));
        let outside = Costs::default().rising_all(&[1.0, 7.0]).expect_err("refused").to_string();
        assert_eq!(outside, "rewards[1]: the reward is 7; a number from 0 to 1 was needed");
        let mut refused = Clipped::default();
        refused.count(Costs::default(), 5.0);
        assert_eq!(refused.remark("costs", Costs::default()), None);
    }
}
