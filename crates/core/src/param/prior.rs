//! What is known of the rewards before the first round, as a parameter.

use crate::param::{ParamError, positive};

/// As of how many rounds a prior counts, if this is not given.
const ROUNDS: f64 = 50.0;

/// The mean reward that is expected before the first round, and as of how many rounds it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    /// The mean reward, above 0 and below 1.
    pub(crate) rate: f64,
    /// Rounds, > 0.
    pub(crate) rounds: f64,
}

impl Prior {
    /// The parameters `prior` and `prior_rounds`, checked; `None` if neither is given.
    pub(crate) fn of(rate: Option<f64>, rounds: Option<f64>) -> Result<Option<Self>, ParamError> {
        match (rate, rounds) {
            (None, None) => Ok(None),
            (None, Some(rounds)) => {
                let need = "left out without a prior, the mean reward that counts as of so many rounds";
                Err(ParamError::invalid("prior_rounds", rounds, need))
            }
            (Some(rate), rounds) => {
                let rounds = positive("prior_rounds", rounds.unwrap_or(ROUNDS))?;
                Ok(Some(Self { rate: checked(rate)?, rounds }))
            }
        }
    }

    /// Refuses both parameters, for the reason that completes the sentence "must be left out".
    pub(crate) fn refuse(rate: Option<f64>, rounds: Option<f64>, why: &str) -> Result<(), ParamError> {
        let mut given = [("prior", rate), ("prior_rounds", rounds)].into_iter();
        match given.find_map(|(name, value)| Some((name, value?))) {
            Some((name, value)) => Err(ParamError::invalid(name, value, format!("left out {why}"))),
            None => Ok(()),
        }
    }

    /// Rewards, and rounds without one, that count as learnt before the first round.
    pub(crate) fn counts(self) -> [f64; 2] {
        [self.rate, 1.0 - self.rate].map(|share| (share * self.rounds).max(f64::MIN_POSITIVE))
    }
}

/// Checks that `rate` is a mean reward that a forecast can begin at.
pub(crate) fn checked(rate: f64) -> Result<f64, ParamError> {
    if rate > 0.0 && rate < 1.0 {
        return Ok(rate);
    }
    let need = "above 0 and below 1: the mean reward that is expected, 1 being the largest reward";
    Err(ParamError::invalid("prior", rate, need))
}
