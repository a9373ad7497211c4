//! `--set name=value`: parameters of the learner and dimensions of the problem.

use noregret::learner::{Classes, Feedback};
use noregret::param::{ParamError, ParamValue, Value, Values};
use noregret::problem::Problem;
use noregret::registry::Entry;
use noregret_stream::caution::Caution;

use crate::failure::Failure;

/// The settings: dimensions, and parameters of the learner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) classes: Option<u64>,
    pub(crate) features: Option<u64>,
    /// The total number of rounds, if it differs from the rows of this run.
    pub(crate) horizon: Option<u64>,
    /// The seed, if set as a parameter instead of `--seed`.
    pub(crate) seed: Option<u64>,
    pub(crate) params: Values,
}

impl Settings {
    /// Parses `name=value` words. `classes` and `features` are dimensions of the problem, `seed` is
    /// that of the run; all others are the learner's.
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut settings = Self::default();
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--set {word}: must be name=value, as in --set norm=2"))
            })?;
            let (name, value) = (name.trim(), read_or_load(name.trim(), value.trim())?);
            let given = match name {
                "classes" => settings.classes.replace(count(name, &value)?).is_some(),
                "features" => settings.features.replace(count(name, &value)?).is_some(),
                "seed" => settings.seed.replace(count(name, &value)?).is_some(),
                _ => settings.params.insert(name.to_owned(), value).is_some(),
            };
            if given {
                return Err(Failure::usage(format!("--set {name}: given twice")));
            }
        }
        Ok(settings)
    }

    /// Extracts values that belong to the problem, although some learners, such as `entry`, have
    /// them as parameters.
    pub(crate) fn take_facts(&mut self, entry: &Entry) -> Result<(), Failure> {
        let Some(value) = self.params.get("horizon") else { return Ok(()) };
        let horizon = count("horizon", value)?;
        if horizon == 0 {
            return Err(Failure::usage("--set horizon=0: must be at least 1"));
        }
        self.horizon = Some(horizon);
        if entry.param("horizon").is_none() {
            self.params.remove("horizon");
        }
        Ok(())
    }

    /// Whether `entry` hears no more than what the label that it played earned.
    pub(crate) fn is_bandit(&self, entry: &Entry) -> bool {
        match entry.feedback {
            Feedback::Bandit => true,
            Feedback::Either => self.params.get("mode") == Some(&Value::from("bandit")),
            Feedback::Full | Feedback::Experts => false,
        }
    }

    /// Checks the declared dimensions against `entry`, before the data are read.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Failure> {
        let any = if entry.about.accepts.classes == Classes::Real { 1 } else { 2 };
        let (classes, features) = (self.classes.unwrap_or(any), self.features.unwrap_or(1));
        Ok(entry.check_problem(&Problem::new(classes as usize, features as usize))?)
    }

    /// The problem for `entry` from the settings alone: dimensions must be given, unless the
    /// learner determines them.
    pub(crate) fn problem(&self, entry: &Entry) -> Result<Problem, Failure> {
        let classes = match (self.classes, entry.about.accepts.classes) {
            (Some(classes), _) => classes,
            (None, Classes::Two) => 2,
            (None, Classes::Real) => 1,
            (None, Classes::Any) => return Err(Failure::usage("--set classes=K: must be given")),
        };
        let features = self.features.ok_or_else(|| Failure::usage("--set features=D: must be given"))?;
        Ok(Problem::new(classes as usize, features as usize))
    }
}

/// Parses a value, as [`Value`] does, and powers such as `2^-7`.
pub(crate) fn read(text: &str) -> Value {
    power(text).map_or_else(|| Value::parse(text), Value::from)
}

/// A value as given, or the content of the file that it names, for long lists.
fn read_or_load(name: &str, text: &str) -> Result<Value, Failure> {
    if !text.ends_with(".json") {
        return Ok(read(text));
    }
    match std::fs::read_to_string(text) {
        Ok(list) => Ok(Value::Text(list.trim().to_owned())),
        Err(error) => Err(Failure::data(format!("--set {name}: {text}: cannot be read: {error}"))),
    }
}

fn power(text: &str) -> Option<f64> {
    let (base, exponent) = text.split_once('^')?;
    let power = base.parse::<f64>().ok()?.powi(exponent.parse().ok()?);
    power.is_finite().then_some(power)
}

fn count(name: &str, value: &Value) -> Result<u64, Failure> {
    u64::from_value(value).ok_or_else(|| ParamError::invalid(name, value, u64::NEED).into())
}

/// The settings that work, in the form of options.
pub(crate) fn as_options(caution: &Caution) -> String {
    let settings = caution.settings().map(|(name, value)| format!("--set {name}={value}"));
    settings.collect::<Vec<_>>().join(" ")
}

/// The sentence on a learner whose theorem's defaults are too cautious.
pub(crate) fn in_practice(caution: &Caution) -> String {
    caution.sentence(&as_options(caution))
}
