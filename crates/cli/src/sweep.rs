//! `--learners a,b --set a.rate=0.1,1,10`: the learners and parameter values to compare.

use noregret::learner::Classes;
use noregret::param::{Value, nearest, suggestion};
use noregret::registry::{Entry, find};
use noregret_stream::{Fault, fault};

use crate::failure::Failure;
use crate::settings::{Settings, read};

/// Largest number of values of a parameter; more are considered a typing error.
const MOST_VALUES: usize = 1000;

/// Largest number of combinations.
const MOST_CANDIDATES: usize = 10_000;

/// A learner with one combination of its values.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) entry: &'static Entry,
    pub(crate) settings: Settings,
    /// Names of the parameters that differ among the candidates of this learner, in the given
    /// order.
    pub(crate) varied: Vec<String>,
}

impl Candidate {
    /// The values that distinguish it from other candidates of its learner.
    pub(crate) fn differs_by(&self) -> String {
        let words = self.varied.iter().map(|name| format!("{name}={}", self.settings.params[name]));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether its target is a real number.
    pub(crate) fn is_real(&self) -> bool {
        self.entry.about.accepts.classes == Classes::Real
    }

    /// Its name among the candidates.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.entry.about.name, self.differs_by()).trim_end().to_owned()
    }
}

/// A parameter of one learner or of all, and its values.
struct Axis {
    learner: Option<&'static str>,
    name: String,
    values: Vec<Value>,
}

/// Every learner with every combination of its values; the last given parameter varies fastest.
pub(crate) fn candidates(learners: &[String], words: &[String]) -> Result<Vec<Candidate>, Failure> {
    let mut entries: Vec<&'static Entry> = Vec::new();
    for name in learners {
        let entry = find(name.trim())?;
        if entries.iter().any(|other| other.about.name == entry.about.name) {
            return Err(Failure::usage(format!(
                "--learners: {name} is named twice; several values of a parameter go into --set {name}.NAME=VALUES"
            )));
        }
        entries.push(entry);
    }
    let (problem, words): (Vec<String>, Vec<String>) = words.iter().cloned().partition(|word| {
        let name = word.split_once('=').map_or("", |(name, _)| name.trim());
        name == "classes" || name == "features"
    });
    let problem = Settings::parse(&problem)?;
    let axes = words.iter().map(|word| axis(word, &entries)).collect::<Result<Vec<_>, _>>()?;
    let mut all = Vec::new();
    for entry in entries {
        let mut candidates = vec![Candidate { entry, settings: problem.clone(), varied: Vec::new() }];
        for axis in &axes {
            if axis.learner.is_none_or(|learner| learner == entry.about.name) {
                candidates = along(axis, &candidates)?;
            }
        }
        all.append(&mut candidates);
    }
    if all.len() > MOST_CANDIDATES {
        return Err(too_many(all.len()));
    }
    Ok(all)
}

/// Each candidate with each value.
fn along(axis: &Axis, candidates: &[Candidate]) -> Result<Vec<Candidate>, Failure> {
    let count = candidates.len() * axis.values.len();
    if count > MOST_CANDIDATES {
        return Err(too_many(count));
    }
    let mut next = Vec::with_capacity(count);
    for candidate in candidates {
        for value in &axis.values {
            let mut candidate = candidate.clone();
            if candidate.settings.params.insert(axis.name.clone(), value.clone()).is_some() {
                return Err(Failure::usage(format!(
                    "--set {}: given twice for {}",
                    axis.name, candidate.entry.about.name
                )));
            }
            if axis.values.len() > 1 {
                candidate.varied.push(axis.name.clone());
            }
            next.push(candidate);
        }
    }
    Ok(next)
}

fn too_many(count: usize) -> Failure {
    Failure::usage(format!("--set: makes {count} combinations; at most {MOST_CANDIDATES} can be compared"))
}

/// Reads `[LEARNER.]NAME=VALUES`.
fn axis(word: &str, entries: &[&'static Entry]) -> Result<Axis, Failure> {
    let (key, values) = word.split_once('=').ok_or_else(|| {
        Failure::usage(format!(
            "--set {word}: must be name=values or learner.name=values, as in --set ogd.rate=0.1,1,10"
        ))
    })?;
    let key = key.trim();
    // `base.norm` is a parameter, so the part before the point need not be a learner.
    let (learner, name) = match key.split_once('.') {
        Some((learner, name)) if find(learner).is_ok() => {
            let among = entries.iter().find(|entry| entry.about.name == learner);
            let entry = among.ok_or_else(|| {
                Failure::usage(format!("--set {key}: {learner} is not among the --learners"))
            })?;
            (Some(*entry), name)
        }
        _ => (None, key),
    };
    if ["classes", "features"].contains(&name) {
        return Err(Failure::usage(format!("--set {key}: is the same for all learners: --set {name}=N")));
    }
    if name == "seed" {
        return Err(Failure::usage(format!("--set {key}: seeds are given as --seed and --repeats")));
    }
    let concerned = learner.map_or_else(|| entries.to_vec(), |entry| vec![entry]);
    if let Some(without) = concerned.iter().find(|entry| !knows(entry, name)) {
        return Err(unknown(key, name, without, entries));
    }
    let values = grid(values).map_err(|what| Failure::usage(format!("--set {key}: {what}")))?;
    Ok(Axis { learner: learner.map(|entry| entry.about.name), name: name.to_owned(), values })
}

/// Whether `entry` has the parameter `name`; of `base.norm`, only `base` is known before the base is.
fn knows(entry: &Entry, name: &str) -> bool {
    entry.param(name).is_some() || name.split_once('.').is_some_and(|(first, _)| entry.param(first).is_some())
}

/// The failure for a learner without the parameter `name`, with a suggestion.
fn unknown(key: &str, name: &str, without: &Entry, entries: &[&'static Entry]) -> Failure {
    let learner = without.about.name;
    let having: Vec<String> = entries
        .iter()
        .filter(|entry| knows(entry, name))
        .map(|entry| format!("--set {}.{name}=…", entry.about.name))
        .collect();
    let hint = if having.is_empty() {
        let known = entries.iter().flat_map(|entry| entry.params).map(|param| param.name);
        let near = suggestion(nearest(name, known));
        format!("{near}; `noregret list {learner}` shows its parameters")
    } else {
        format!("; set it for those that have: {}", having.join(", "))
    };
    Failure::usage(format!("--set {key}: {learner} has no parameter '{name}'{hint}"))
}

/// Reads `0.1,1,10`, with ranges `1e-3..10*10` (by a factor) and `1..9+2` (by a step) among the values.
fn grid(text: &str) -> Result<Vec<Value>, Fault> {
    let mut values = Vec::new();
    for item in text.split(',').map(str::trim) {
        match item.split_once("..") {
            None if item.is_empty() => return Err("a value is missing".into()),
            None => values.push(read(item)),
            Some((from, rest)) => range(item, from, rest, &mut values)?,
        }
    }
    Ok(values)
}

/// `from..to*factor` or `from..to+step`, both ends among the values if the steps meet them.
fn range(item: &str, from: &str, rest: &str, values: &mut Vec<Value>) -> Result<(), Fault> {
    let number = |text: &str| match read(text.trim()) {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    };
    let form =
        || fault!("{item} is no range; it must be FROM..TO*FACTOR or FROM..TO+STEP, as in 1e-3..10*10");
    // The last sign is that of the step; others may belong to exponents, as in 1e+3.
    let at = rest.rfind('*').or_else(|| rest.rfind('+')).ok_or_else(form)?;
    let geometric = rest[at..].starts_with('*');
    let (from, to, step) = (number(from), number(&rest[..at]), number(&rest[at + 1..]));
    let (Some(from), Some(to), Some(step)) = (from, to, step) else { return Err(form()) };
    let proper = if geometric {
        from > 0.0 && to > 0.0 && step > 0.0 && step != 1.0 && (to >= from) == (step > 1.0)
    } else {
        step > 0.0 && to >= from
    };
    if !proper {
        let need = if geometric { "a factor > 0 that leads" } else { "a step > 0 that leads" };
        return Err(fault!("{item} does not end; {need} from the first number to the second was needed"));
    }
    let value = |at: i32| if geometric { from * step.powi(at) } else { from + step * f64::from(at) };
    // Slightly beyond the end, so that rounding does not exclude it.
    let inside = |value: f64| {
        let slack = 1e-9 * if geometric { to } else { step };
        if to >= from { value <= to + slack } else { value >= to - slack }
    };
    for at in (0..).take_while(|at| inside(value(*at))) {
        if values.len() == MOST_VALUES {
            return Err(fault!("{item} makes more than {MOST_VALUES} values"));
        }
        values.push(Value::from(tidy(value(at))));
    }
    Ok(())
}

/// Rounds to 15 digits, if the difference is only rounding: 0.3 for 0.30000000000000004.
fn tidy(value: f64) -> f64 {
    let round: f64 = format!("{value:.14e}").parse().expect("a number as it was written");
    let length = |value: f64| value.to_string().len().min(format!("{value:e}").len());
    if length(round) + 2 < length(value) { round } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn labels(learners: &[&str], words: &[&str]) -> Vec<String> {
        let candidates = candidates(&strings(learners), &strings(words)).expect("valid");
        candidates.iter().map(Candidate::label).collect()
    }

    fn error(learners: &[&str], words: &[&str]) -> String {
        candidates(&strings(learners), &strings(words)).expect_err("invalid").to_string()
    }

    #[test]
    fn every_combination_in_the_order_given() {
        let words = ["ogd.rate=0.1,1", "ogd.schedule=sqrt,constant", "soba.exploration=0.2", "classes=3"];
        let all = labels(&["ogd", "soba"], &words);
        let ogd = |rate, schedule| format!("ogd rate={rate} schedule={schedule}");
        let want = [ogd("0.1", "sqrt"), ogd("0.1", "constant"), ogd("1", "sqrt"), ogd("1", "constant")];
        assert_eq!(all[..4], want);
        assert_eq!(all[4], "soba", "a single value does not tell candidates apart");
        let candidates = candidates(&strings(&["soba"]), &strings(&words[2..])).expect("valid");
        assert_eq!(candidates[0].settings.params["exploration"], Value::Float(0.2));
        assert_eq!(candidates[0].settings.classes, Some(3));
    }

    #[test]
    fn a_name_without_learner_is_for_all() {
        let all = labels(&["banditron", "soba"], &["exploration=0.1,0.2"]);
        assert_eq!(all.len(), 4);
        assert_eq!(all[3], "soba exploration=0.2");
        let base = candidates(&strings(&["bandit-reduction"]), &strings(&["base.norm=1,2"])).expect("valid");
        assert_eq!(base[1].settings.params["base.norm"], Value::Integer(2));
        let base = candidates(&strings(&["bandit-reduction"]), &strings(&["bandit-reduction.base.norm=1"]));
        assert_eq!(base.expect("valid")[0].settings.params["base.norm"], Value::Integer(1));
    }

    #[test]
    fn ranges_by_factor_and_step() {
        let shown = |text: &str| {
            let values: Vec<String> = grid(text).expect(text).iter().map(Value::to_string).collect();
            values.join(" ")
        };
        assert_eq!(shown("1e-3..1e1*10"), "0.001 0.01 0.1 1 10");
        assert_eq!(shown("10..0.01*0.1"), "10 1 0.1 0.01");
        assert_eq!(shown("0.1..0.5+0.1"), "0.1 0.2 0.3 0.4 0.5");
        assert_eq!(shown("2^-9..2^-7*2, sqrt"), "0.001953125 0.00390625 0.0078125 sqrt");
        assert_eq!(shown("1e+2..1e+3+450"), "100 550 1000");
        let powers = grid("2^-30..2^-1*2").expect("30 powers");
        assert!(powers.iter().zip(-30..).all(|(value, at)| *value == Value::Float(2_f64.powi(at))), "exact");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (words, sentence) in [
            (
                "rate=1",
                "--set rate: soba has no parameter 'rate'; set it for those that have: --set ogd.rate=…",
            ),
            (
                "soba.rate=1",
                "--set soba.rate: soba has no parameter 'rate'; set it for those that have: --set ogd.rate=…",
            ),
            (
                "exploratoin=1",
                "--set exploratoin: ogd has no parameter 'exploratoin' (did you mean 'exploration'?); `noregret list ogd` shows its parameters",
            ),
            ("ons.rate=1", "--set ons.rate: ons is not among the --learners"),
            ("ogd.classes=3", "--set ogd.classes: is the same for all learners: --set classes=N"),
            ("seed=1,2", "--set seed: seeds are given as --seed and --repeats"),
            (
                "ogd.rate",
                "--set ogd.rate: must be name=values or learner.name=values, as in --set ogd.rate=0.1,1,10",
            ),
            ("ogd.rate=1,,2", "--set ogd.rate: a value is missing"),
            (
                "ogd.rate=1..2",
                "--set ogd.rate: 1..2 is no range; it must be FROM..TO*FACTOR or FROM..TO+STEP, as in 1e-3..10*10",
            ),
            (
                "ogd.rate=1..2*0.5",
                "--set ogd.rate: 1..2*0.5 does not end; a factor > 0 that leads from the first number to the second was needed",
            ),
            ("ogd.rate=0..1e9+1", "--set ogd.rate: 0..1e9+1 makes more than 1000 values"),
        ] {
            assert_eq!(error(&["ogd", "soba"], &[words]), sentence);
        }
        let twice = error(&["ogd"], &["rate=1", "ogd.rate=2"]);
        assert_eq!(twice, "--set rate: given twice for ogd");
        assert!(error(&["ogd", "ogd"], &[]).starts_with("--learners: ogd is named twice"));
        let grid = ["ogd.rate=1..300+1", "ogd.norm=1..300+1"];
        assert_eq!(error(&["ogd"], &grid), "--set: makes 90000 combinations; at most 10000 can be compared");
    }
}
