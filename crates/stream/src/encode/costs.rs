//! Costs with a stated range, as rewards.

use std::fmt;
use std::str::FromStr;

use noregret::prediction::Reward;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, fault};

/// The range of costs of labels: the least cost is the reward 1, the largest is 0, and rewards are linear in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[f64; 2]", into = "[f64; 2]")]
pub struct Costs {
    least: f64,
    most: f64,
}

impl Default for Costs {
    /// From 0 to 1.
    fn default() -> Self {
        Self { least: 0.0, most: 1.0 }
    }
}

impl Costs {
    /// Costs from `least` to `most`, finite; `None` unless `least` is below `most`.
    pub fn new(least: f64, most: f64) -> Option<Self> {
        (least < most && (most - least).is_finite()).then_some(Self { least, most })
    }

    /// The reward in [0, 1] of a reward in this range: 1 for the largest.
    ///
    /// # Errors
    /// If it is outside the range.
    pub fn rising(self, reward: f64) -> Result<Reward, Fault> {
        Reward::of_cost(0.0 - reward, 0.0 - self.most, 0.0 - self.least).ok_or_else(|| {
            fault!("the reward is {reward}; a number from {} to {} was needed", self.least, self.most)
        })
    }

    /// The reward of `cost`.
    ///
    /// # Errors
    /// If it is outside the range.
    pub fn reward(self, cost: f64) -> Result<Reward, Fault> {
        Reward::of_cost(cost, self.least, self.most).ok_or_else(|| {
            fault!(
                "the cost is {cost}; a number from {} to {} was needed, which is the model's range of costs",
                self.least,
                self.most
            )
        })
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

/// `0..10`.
impl FromStr for Costs {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let range = text.split_once("..").and_then(|(least, most)| Some([number(least)?, number(most)?]));
        let range = range.ok_or_else(|| format!("{text:?} is not a range of costs, such as 0..10"))?;
        Self::try_from(range)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.least, self.most)
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
}
