//! The experiments of the papers: each figure is data, runs, claims and a plot.
//!
//! A figure's file in `figures/` says what is run and what the paper claims of it; its sizes are in
//! `configs/`, one for minutes and one in full. `play` runs learners, `folder` writes what came out.

#[cfg(feature = "fetch")]
pub mod data;
mod error;
mod figures;
pub mod folder;
mod outcome;
mod play;
mod source;
mod stored;
pub mod synthetic;

use std::path::PathBuf;

use noregret::param::{nearest, no_such, suggestion};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use error::ExperimentError;
pub use outcome::{Claim, Outcome, Table};

/// A figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name, kebab-case.
    pub name: &'static str,
    /// One line, no final stop.
    pub summary: &'static str,
    /// Where it stands.
    pub paper: &'static str,
    /// Files that it takes from the folder of data, if they are there.
    pub data: &'static [&'static str],
    config: &'static str,
    run: fn(&Context<'_>) -> Result<Outcome, ExperimentError>,
}

/// How much work is put into a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Minutes.
    Quick,
    /// As in the paper.
    Full,
}

/// How a figure is made.
pub struct Options<'a> {
    /// How much work is put into it.
    pub size: Size,
    /// Sizes that are to be others than those of `size`, by name.
    pub set: Vec<(String, Value)>,
    /// The folder of data.
    pub data: Option<PathBuf>,
    /// How many runs work at a time, at least 1. Never changes a result.
    pub threads: usize,
    /// Receives messages about progress.
    pub say: &'a (dyn Fn(&str) + Sync),
}

/// What a figure's code sees.
struct Context<'a> {
    options: &'a Options<'a>,
    config: Value,
}

impl Context<'_> {
    /// The sizes of this figure.
    fn config<T: DeserializeOwned>(&self) -> Result<T, ExperimentError> {
        serde_json::from_value(self.config.clone()).map_err(|error| ExperimentError::Size(error.to_string()))
    }

    fn say(&self, text: &str) {
        (self.options.say)(text);
    }
}

impl Figure {
    /// Makes the figure.
    ///
    /// # Errors
    /// Data that are absent or cannot be read, sizes that the figure does not have, parameters that a learner
    /// refuses.
    pub fn make(&self, options: &Options<'_>) -> Result<Outcome, ExperimentError> {
        (self.run)(&Context { options, config: self.config(options)? })
    }

    /// The configuration: that of the size, with what is set beside it.
    ///
    /// # Errors
    /// What the figure does not have, or not of this kind.
    pub fn config(&self, options: &Options<'_>) -> Result<Value, ExperimentError> {
        let mut config = self.sizes(options.size);
        for (name, value) in &options.set {
            let names: Vec<String> =
                config.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
            let Some(old) = config.get_mut(name) else {
                let near = suggestion(nearest(name, names.iter().map(String::as_str)));
                let known = names.join(", ");
                return Err(ExperimentError::Size(format!("has no size '{name}'{near}; it has {known}")));
            };
            if !is_like(value, old) {
                let sentence = format!("{name}={value}: something like {old} was needed");
                return Err(ExperimentError::Size(sentence));
            }
            *old = value.clone();
        }
        Ok(config)
    }

    /// The configuration of a size.
    fn sizes(&self, size: Size) -> Value {
        let mut both: Value =
            serde_json::from_str(self.config).expect("configurations are checked by a test");
        both[match size {
            Size::Quick => "quick",
            Size::Full => "full",
        }]
        .take()
    }
}

/// Whether a size can take the place of another: nothing empty, no 0 where there was none.
fn is_like(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Number(new), Value::Number(old)) => match (new.as_u64(), old.as_u64()) {
            (Some(new), Some(old)) => new > 0 || old == 0,
            (None, Some(_)) => false,
            (_, None) if old.is_i64() => new.is_i64(),
            (_, None) => new.as_f64().is_some_and(|new| new > 0.0 && new.is_finite()),
        },
        (Value::Array(new), Value::Array(old)) => {
            !new.is_empty() && new.iter().all(|new| old.iter().any(|old| is_like(new, old)))
        }
        _ => false,
    }
}

/// Every figure.
pub static FIGURES: &[Figure] = &[
    Figure {
        name: "soba-fig1",
        summary: "the family of losses between hinge and squared hinge",
        paper: "Beygelzimer, Orabona, Zhang 2017 (SOBA), figure 1",
        data: &[],
        config: include_str!("../configs/soba-fig1.json"),
        run: figures::soba_fig1::run,
    },
    Figure {
        name: "soba-fig2",
        summary: "bandit learners over exploration rates, and over time",
        paper: "Beygelzimer, Orabona, Zhang 2017 (SOBA), figure 2",
        data: figures::bandit::FILES,
        config: include_str!("../configs/soba-fig2.json"),
        run: figures::soba_fig2::run,
    },
    Figure {
        name: "aioli-fig1",
        summary: "prediction functions of proper and improper learners",
        paper: "Jézéquel, Gaillard, Rudi 2020 (AIOLI), figure 1",
        data: &[],
        config: include_str!("../configs/aioli-fig1.json"),
        run: figures::aioli_fig1::run,
    },
    Figure {
        name: "aioli-fig2",
        summary: "regret on the stream that is hard for proper learners",
        paper: "Jézéquel, Gaillard, Rudi 2020 (AIOLI), figure 2",
        data: &[],
        config: include_str!("../configs/aioli-fig2.json"),
        run: figures::aioli_fig2::run,
    },
    Figure {
        name: "gaf-fig1",
        summary: "average loss of GAF, ONS and OGD over time, tuned over grids",
        paper: "Jézéquel, Gaillard, Rudi 2021 (GAF), figure 1",
        data: &["vehicle.scale.libsvm.gz", "shuttle.scale.libsvm.gz", "segment.scale.libsvm.gz"],
        config: include_str!("../configs/gaf-fig1.json"),
        run: figures::gaf_fig1::run,
    },
    Figure {
        name: "gaptron-gap",
        summary: "the surrogate gap of the smooth hinge loss",
        paper: "van der Hoeven 2020 (Gaptron), figure 1",
        data: &[],
        config: include_str!("../configs/gaptron-gap.json"),
        run: figures::gaptron_gap::run,
    },
    Figure {
        name: "gaptron-compare",
        summary: "Gaptron against other bandit learners, with step sizes up to a thousand times the theorem's",
        paper: "van der Hoeven 2020 (Gaptron), the experiment that section 6 leaves open",
        data: figures::bandit::FILES,
        config: include_str!("../configs/gaptron-compare.json"),
        run: figures::gaptron_compare::run,
    },
    Figure {
        name: "folklore-counterexample",
        summary: "FOLKLORE's bound with the printed curvature, and with the corrected one",
        paper: "Agarwal, Kale, Zimmert (FOLKLORE), lemma 3.1 and theorem 3.3",
        data: &[],
        config: include_str!("../configs/folklore-counterexample.json"),
        run: figures::folklore_counterexample::run,
    },
    Figure {
        name: "bounds",
        summary: "regret, certificate and bound of every learner over time",
        paper: "the theorems of all these papers",
        data: &[],
        config: include_str!("../configs/bounds.json"),
        run: figures::bounds::run,
    },
];

/// The figure called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Figure, String> {
    FIGURES.iter().find(|figure| figure.name == name).ok_or_else(|| {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        no_such("figure", name, &names)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever changes a configuration must change both sizes alike; the fields are checked by the quick
    /// figures.
    #[test]
    fn both_sizes_have_the_same_fields() {
        for figure in FIGURES {
            let keys = |size| -> Vec<String> {
                figure.sizes(size).as_object().expect("an object").keys().cloned().collect()
            };
            assert_eq!(keys(Size::Quick), keys(Size::Full), "{}", figure.name);
        }
        assert_eq!(find("soba-fig2").map(|figure| figure.name), Ok("soba-fig2"));
    }

    #[test]
    fn sizes_can_be_set_one_by_one() {
        let with = |name: &str, value: Value| {
            let set = vec![(name.to_owned(), value)];
            let options = Options { size: Size::Quick, set, data: None, threads: 1, say: &|_| {} };
            find("soba-fig2").expect("there is").config(&options).map_err(|error| error.to_string())
        };
        assert_eq!(with("seeds", 3.into()).expect("fits")["seeds"], 3);
        assert_eq!(with("exponents", vec![-2].into()).expect("fits")["exponents"][0], -2);
        for (name, value) in
            [("seeds", Value::from(0)), ("seeds", "x".into()), ("exponents", Vec::<i64>::new().into())]
        {
            let error = with(name, value).expect_err("does not fit");
            assert!(error.starts_with(name) && error.contains("was needed"), "{error}");
        }
        assert!(with("seed", 3.into()).expect_err("unknown").contains("did you mean 'seeds'?"));
    }
}
