//! The exploration rate as a parameter.

use crate::param::{Kind, ParamError, ParamValue, Value, fraction};

/// How often a class is played uniformly at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exploration {
    /// In every round with this probability $\gamma$, in [0, 1].
    Rate(f64),
    /// With a rate that the learner computes in every round.
    Adaptive,
}

impl Exploration {
    /// Checks that a rate is in [0, 1].
    pub(crate) fn check(self) -> Result<Self, ParamError> {
        match self {
            Exploration::Rate(rate) => fraction("exploration", rate).map(Exploration::Rate),
            Exploration::Adaptive => Ok(self),
        }
    }
}

impl ParamValue for Exploration {
    const KIND: Kind = Kind::Float;

    const WORDS: &'static [&'static str] = &["adaptive"];

    const NEED: &'static str = "a number in [0, 1] or adaptive";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text == "adaptive" => Some(Exploration::Adaptive),
            value => f64::from_value(value).map(Exploration::Rate),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Exploration::Rate(rate) => rate.to_value(),
            Exploration::Adaptive => Value::from("adaptive"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_the_word() {
        for (text, value) in [("0.25", Exploration::Rate(0.25)), ("adaptive", Exploration::Adaptive)] {
            assert_eq!(Exploration::from_value(&Value::parse(text)), Some(value));
            assert_eq!(Exploration::from_value(&value.to_value()), Some(value));
        }
        assert_eq!(Exploration::from_value(&Value::from("often")), None);
        for rate in [-0.1, 1.1, f64::NAN] {
            let error = Exploration::Rate(rate).check().expect_err("outside").to_string();
            assert_eq!(error, format!("exploration = {rate}: must be in [0, 1]"));
        }
    }
}
