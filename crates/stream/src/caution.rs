//! What works where a theorem's constants are too cautious for streams of ordinary length, and where a
//! learner is too slow for long ones. Every front says it, with the settings written as its own.

use noregret::learner::Feedback;
use noregret::param::{Value, Values};
use noregret::registry::{Entry, Practice, find};

use crate::words::counted;

/// From so many rows on, a learner whose rounds become slower and slower is said to be slow.
const LONG: u64 = 4_000;

/// A learner, or one inside it, whose defaults are too cautious, or which is too slow for so many rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// The learner inside, if it is about one.
    inside: Option<String>,
    /// Before the names of its parameters.
    prefix: &'static str,
    why: Why,
}

/// Why a learner is told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    Cautious(Practice),
    Slow { cost: &'static str, rows: u64, instead: &'static str },
}

impl Caution {
    /// That of `entry` with the settings of its theorem, if they are too cautious.
    pub fn of(entry: &Entry) -> Option<Self> {
        entry.practice.map(|practice| Self { inside: None, prefix: "", why: Why::Cautious(practice) })
    }

    /// Those of `entry`, and of a learner inside it that the settings `given` name, unless what works is
    /// given, too, or what the sentence says to work on other streams. With `bandit`, it hears what the label
    /// that was played has earned, and no labels.
    pub fn all(entry: &Entry, given: &Values, bandit: bool) -> Vec<Self> {
        // For learners of either kind of feedback, the facts are those of labels.
        let own = Self::of(entry).filter(|_| entry.feedback != Feedback::Either || !bandit);
        // A learner inside may be as cautious, such as an oracle that was named.
        let inside = entry.prefix.and_then(|prefix| {
            let name = given.get(prefix.trim_end_matches('.'))?.to_string();
            let practice = find(&name).ok()?.practice?;
            Some(Self { inside: Some(name), prefix, why: Why::Cautious(practice) })
        });
        let told = |caution: &Self| caution.named().any(|name| given.contains_key(&name));
        own.into_iter().chain(inside).filter(|caution| !told(caution)).collect()
    }

    /// That of `entry` with the settings `given`, or of a learner inside it that they name, if its rounds
    /// cost the more, the more there were, and there are many `rows`.
    pub fn of_rows(entry: &Entry, given: &Values, rows: u64) -> Option<Self> {
        let slow = |entry: &Entry, prefix: &'static str| {
            let slowing = entry.slowing?;
            let most = match slowing.bound.and_then(|bound| given.get(&format!("{prefix}{bound}"))) {
                Some(&Value::Integer(most)) => most,
                _ => u64::MAX,
            };
            let why = Why::Slow { cost: entry.about.cost, rows, instead: slowing.instead };
            let inside = (!prefix.is_empty()).then(|| entry.about.name.to_owned());
            (rows.min(most) >= LONG).then_some(Self { inside, prefix, why })
        };
        slow(entry, "").or_else(|| {
            let prefix = entry.prefix?;
            let name = given.get(prefix.trim_end_matches('.'))?.to_string();
            slow(find(&name).ok()?, prefix)
        })
    }

    /// The settings that work: names and values.
    pub fn settings(&self) -> impl Iterator<Item = (String, &'static str)> {
        let prefix = self.prefix;
        let settings = match &self.why {
            Why::Cautious(practice) => practice.settings,
            Why::Slow { .. } => "",
        };
        let settings = settings.split(' ').filter_map(|setting| setting.split_once('='));
        settings.map(move |(name, value)| (format!("{prefix}{name}"), value))
    }

    /// The names of the settings that work, and of those that the sentence has as `schedule=root`.
    fn named(&self) -> impl Iterator<Item = String> {
        let prefix = self.prefix;
        let why = match &self.why {
            Why::Cautious(practice) => practice.why,
            Why::Slow { .. } => "",
        };
        let others = why.split(' ').filter_map(|word| word.split_once('='));
        let others = others.map(move |(name, _)| format!("{prefix}{name}"));
        self.settings().map(|(name, _)| name).chain(others)
    }

    /// The sentence, with the settings as they are `written`.
    pub fn sentence(&self, written: &str) -> String {
        let inside = self.inside.as_ref().map(|name| format!("{name} by itself: ")).unwrap_or_default();
        match &self.why {
            Why::Cautious(Practice { why, .. }) => {
                format!("{inside}the defaults are too cautious; {written} works, without guarantee: {why}")
            }
            Why::Slow { cost, rows, instead } => {
                let rows = counted(*rows, "row");
                format!(
                    "{inside}slow for {rows}: the more rounds there were, the longer the next one takes ({cost}); each round of {instead} takes the same time"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use noregret::param::Value;

    use super::*;

    fn said(name: &str, given: &[(&str, &str)], bandit: bool) -> Vec<String> {
        let given: Values =
            given.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
        let all = Caution::all(find(name).expect("registered"), &given, bandit);
        let settings = |caution: &Caution| {
            let settings: Vec<String> =
                caution.settings().map(|(name, value)| format!("{name}={value}")).collect();
            caution.sentence(&settings.join(" "))
        };
        all.iter().map(settings).collect()
    }

    #[test]
    fn what_works_is_said_unless_it_is_given() {
        type Given<'a> = &'a [(&'a str, &'a str)];
        let cases: [(&str, Given<'_>, bool, Option<&str>); 11] = [
            ("aioli", &[], false, Some("; curvature=0.1 works, without guarantee: ")),
            ("aioli", &[("curvature", "tight")], false, None),
            ("ons", &[], false, Some("; rate=0.3 regularization=1 works, without guarantee: ")),
            ("gaptron-hinge", &[], false, Some("; rate=0.3 works, without guarantee: ")),
            ("gaptron-hinge", &[], true, None),
            ("squarecb", &[], true, Some("; oracle=pooled works, without guarantee: ")),
            (
                "squarecb",
                &[("oracle", "aioli")],
                true,
                Some("; oracle.curvature=0.1 works, without guarantee: "),
            ),
            ("squarecb", &[("oracle", "aioli"), ("oracle.curvature", "0.1")], true, None),
            ("squarecb", &[("oracle", "ogd")], true, None),
            ("squarecb", &[("schedule", "root")], true, None),
            ("auto", &[], true, None),
        ];
        for (name, given, bandit, works) in cases {
            let all = said(name, given, bandit);
            assert_eq!(all.len(), usize::from(works.is_some()), "{name} {given:?}: {all:?}");
            assert!(all.iter().all(|one| one.contains(works.unwrap_or_default())), "{name}: {all:?}");
            let inside = given.len() == 1 && works.is_some();
            assert!(
                all.iter().all(|one| one.starts_with("aioli by itself: the d") == inside),
                "{name}: {all:?}"
            );
        }
    }

    #[test]
    fn learners_whose_rounds_become_slower_are_told_for_many_rows() {
        let told = |name: &str, given: &[(&str, &str)], rows: u64| {
            let given: Values =
                given.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
            let caution = Caution::of_rows(find(name).expect("registered"), &given, rows)?;
            assert_eq!(caution.settings().count(), 0, "{name}");
            Some(caution.sentence(""))
        };
        let slow = "slow for 20000 rows: the more rounds there were, the longer the next one takes (";
        for (name, given, begins, instead) in [
            ("ftrl", vec![], "", "folklore"),
            ("kernel-aioli", vec![], "", "kernel-aioli-landmarks"),
            ("kernel-aioli", vec![("max_rounds", "8000")], "", "kernel-aioli-landmarks"),
            ("squarecb", vec![("oracle", "ftrl")], "ftrl by itself: ", "folklore"),
        ] {
            let said = told(name, &given, 20_000).unwrap_or_default();
            let ends = format!("; each round of {instead} takes the same time");
            assert!(said.starts_with(&format!("{begins}{slow}")) && said.ends_with(&ends), "{name}: {said}");
        }
        assert_eq!(told("ftrl", &[], 2_000), None);
        assert_eq!(told("kernel-aioli", &[("max_rounds", "500")], 20_000), None);
        assert_eq!(told("squarecb", &[], 20_000), None);
        assert_eq!(told("folklore", &[], 20_000), None);
    }
}
