//! What the suites for both kinds of feedback share: a learner with its problem, and how a law is applied.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use noregret::param::Values;
use noregret::problem::Problem;
use noregret::registry::Entry;

/// The seed of every learner.
pub(crate) const SEED: u64 = 7;

/// A law that a learner is exempt from: its name, the law, and why.
pub(crate) type Exception = (&'static str, &'static str, &'static str);

/// A learner with its parameters and problem.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) entry: &'static Entry,
    pub(crate) values: Values,
    pub(crate) problem: Problem,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { classes, features, radius, .. } = &self.problem;
        write!(f, "{} (K = {classes}, d = {features}", self.entry.about.name)?;
        if radius.is_none() {
            write!(f, ", nothing else known")?;
        }
        for (name, value) in &self.values {
            write!(f, ", {name} = {value}")?;
        }
        write!(f, ")")
    }
}

/// Applies `law` to every case of every learner of `entries` that is not exempt from `name`, and fails with a
/// list of the cases that violate it.
pub(crate) fn apply(
    name: &str,
    exceptions: &[Exception],
    entries: impl Iterator<Item = &'static Entry>,
    cases: impl Fn(&'static Entry) -> Vec<Case>,
    law: impl Fn(&Case),
) {
    let mut broken = Vec::new();
    for entry in entries {
        let learner = entry.about.name;
        let exception = exceptions.iter().find(|(owner, what, _)| (*owner, *what) == (learner, name));
        if let Some((.., why)) = exception {
            eprintln!("exempt from '{name}': {learner}: {why}");
            continue;
        }
        for case in cases(entry) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| law(&case))) {
                let message = panic.downcast_ref::<String>().map(String::as_str);
                let message = message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                broken.push(format!("{case}: {message}"));
            }
        }
    }
    assert!(broken.is_empty(), "the law '{name}' is broken by\n{}", broken.join("\n"));
}
