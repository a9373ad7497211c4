//! The machine's factors of the members' costs, see [`Kind::work`](super::kind::Kind::work).

use crate::param::{Kind, ParamValue, Value};
use crate::problem::Problem;

use super::description::{Description, position};
use super::kinds::KINDS;

/// Factors by kind of member: its time on a machine, divided by that of the cost model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs([f64; KINDS.len()]);

impl Default for Costs {
    fn default() -> Self {
        Self([1.0; KINDS.len()])
    }
}

impl Costs {
    /// The time of a round with a dense row, in multiply-adds of the machine of the cost model.
    pub(super) fn work(&self, member: Description, problem: &Problem) -> f64 {
        self.0[member.position()] * member.work(problem)
    }
}

impl ParamValue for Costs {
    const KIND: Kind = Kind::List;

    const WORDS: &'static [&'static str] = &["full:1.5+trees:0.8"];

    const NEED: &'static str =
        "kinds of members with factors from 0.001 to 1000, as full:1.5, with + between them, each kind once";

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let mut factors = [None; KINDS.len()];
        for word in text.split('+') {
            let (name, factor) = word.split_once(':')?;
            let place = &mut factors[position(name)?];
            let factor = factor.parse().ok().filter(|factor: &f64| (1e-3..=1e3).contains(factor))?;
            if place.replace(factor).is_some() {
                return None;
            }
        }
        Some(Self(factors.map(|factor| factor.unwrap_or(1.0))))
    }

    fn to_value(&self) -> Value {
        let changed = KINDS.iter().zip(self.0).filter(|(_, factor)| *factor != 1.0);
        let words: Vec<String> =
            changed.map(|(kind, factor)| format!("{}:{factor}", kind.traits().name)).collect();
        Value::Text(if words.is_empty() { "labels:1".to_owned() } else { words.join("+") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_as_they_are_written() {
        let read = |text: &str| Costs::from_value(&Value::from(text));
        let costs = read("full:1.5+trees:0.8").expect("known kinds");
        assert_eq!(costs.to_value(), Value::from("trees:0.8+full:1.5"));
        assert_eq!(read("labels:1"), Some(Costs::default()));
        assert_eq!(Costs::from_value(&Costs::default().to_value()), Some(Costs::default()));
        let problem = Problem::new(7, 55);
        let full = Description::of("full", [0.1, 0.0]);
        assert_eq!(costs.work(full, &problem), 1.5 * full.work(&problem));
        let forest = Description::of("forest", [0.0; 2]);
        assert_eq!(costs.work(forest, &problem), forest.work(&problem));
        for wrong in
            ["", "full", "full:", "full:0", "full:-1", "full:nan", "fool:1", "full:1+full:2", "full:1e4"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
