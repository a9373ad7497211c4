//! The descriptions of learners.

use std::collections::BTreeSet;

use noregret::learner::Classes;
use noregret::param::{Kind, Value, Values};
use noregret::problem::Problem;
use noregret::registry::{ALGORITHMS, find};

use crate::support::{EXCEPTIONS, classes};

#[test]
fn names_are_unique_and_kebab_case() {
    let mut names = BTreeSet::new();
    for entry in ALGORITHMS {
        let name = entry.about.name;
        assert!(names.insert(name), "there are two learners '{name}'");
        let word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        assert!(name.split('-').all(word), "'{name}' is not kebab-case");
        assert_eq!(find(name).map(|entry| entry.about.name), Ok(name));
    }
}

#[test]
fn descriptions_are_one_line_without_a_final_stop() {
    for entry in ALGORITHMS {
        let about = entry.about;
        let lines = [about.summary, about.guarantee, about.cost, about.memory, about.paper.place];
        for line in lines.into_iter().chain(entry.params.iter().map(|param| param.default)) {
            let what = format!("{}: '{line}'", about.name);
            assert!(
                !line.trim().is_empty() && line.trim() == line,
                "{what} is empty, or has space around it"
            );
            assert!(
                !line.contains('\n') && !line.ends_with('.'),
                "{what} is more than one line, or ends with a stop"
            );
        }
    }
}

#[test]
fn every_parameter_is_documented() {
    for entry in ALGORITHMS {
        for param in entry.params {
            let what = format!("parameter '{}' of {}", param.name, entry.about.name);
            let summary = param.summary();
            assert!(summary.ends_with('.') && summary.len() > 10, "{what}: '{summary}' is not a sentence");
            let reserved = ["classes", "features"].contains(&param.name);
            assert!(!reserved, "{what}: the name belongs to the problem");
        }
    }
}

/// Front ends show the words as the complete list of values, and tests try them.
#[test]
fn declared_words_are_accepted_and_no_others() {
    for entry in ALGORITHMS {
        for param in entry.params {
            let what = format!("parameter '{}' of {}", param.name, entry.about.name);
            let accepts = |word: &str| {
                let values = Values::from([(param.name.to_owned(), Value::Text(word.to_owned()))]);
                entry.check_names(&values).is_ok()
            };
            assert!(param.kind != Kind::Words || param.words.len() > 1, "{what}: a choice of one");
            assert!(param.kind != Kind::Bool || param.words.is_empty(), "{what}: more than true and false");
            for word in param.words {
                assert!(accepts(word), "{what}: '{word}' is refused");
            }
            if !matches!(param.kind, Kind::Text) {
                assert!(!accepts("nonsense"), "{what}: 'nonsense' is accepted");
            }
        }
    }
}

#[test]
fn unknown_learners_are_refused_with_a_near_name() {
    for entry in ALGORITHMS {
        let name = entry.about.name;
        let error = find(&format!("{name}x")).expect_err("no such learner").to_string();
        assert!(error.contains(&format!("'{name}x'")) && error.contains("did you mean '"), "{error}");
    }
}

#[test]
fn wrong_dimensions_are_refused() {
    for entry in ALGORITHMS {
        let refusal = |mut problem: Problem, classes: usize, features: usize| {
            (problem.classes, problem.features) = (classes, features);
            let error = entry.make_any(&Values::new(), problem, 0).map(|_| ()).expect_err(entry.about.name);
            error.to_string()
        };
        let (classes, features) = (classes(entry), 4);
        let problem = || Problem::new(1, 1).with_radius(1.0).with_horizon(1000);
        let wrong: &[usize] = match entry.about.accepts.classes {
            Classes::Any => &[0, 1],
            Classes::Two => &[0, 1, 3],
            Classes::Real => &[0, 2],
        };
        for wrong in wrong.iter().copied().chain([1 << 32]) {
            let error = refusal(problem(), wrong, features);
            assert!(
                error.starts_with(&format!("classes = {wrong}: must be ")),
                "{}: {error}",
                entry.about.name
            );
        }
        for wrong in [0, 1 << 32] {
            let error = refusal(problem(), classes, wrong);
            assert!(
                error.starts_with(&format!("features = {wrong}: must be ")),
                "{}: {error}",
                entry.about.name
            );
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = refusal(problem().with_radius(wrong), classes, features);
            assert!(error.starts_with("radius = "), "{}: {error}", entry.about.name);
        }
    }
}

/// An exemption from an unknown law could hide a failure later.
#[test]
fn exemptions_name_learners_and_laws_that_exist() {
    let laws = [
        include_str!("extremes.rs"),
        include_str!("forecasts.rs"),
        include_str!("growth.rs"),
        include_str!("params.rs"),
        include_str!("saving.rs"),
        include_str!("timing.rs"),
        include_str!("../allocation.rs"),
    ];
    let is_law = |name: &str| {
        let calls = ["every_case", "every_learner"].map(|over| format!("{over}(\"{name}\""));
        calls.iter().any(|call| laws.iter().any(|file| file.contains(call)))
    };
    for (learner, law, _) in EXCEPTIONS {
        assert!(find(learner).is_ok(), "'{learner}' is exempt from '{law}', and does not exist");
        assert!(is_law(law), "'{learner}' is exempt from '{law}', which is not a law");
    }
}

/// Recommended settings are valid parameters of the learner.
#[test]
fn settings_that_work_are_settings() {
    for entry in ALGORITHMS {
        let Some(practice) = entry.practice else { continue };
        let settings = practice.settings.split(' ').map(|setting| {
            let (name, value) = setting.split_once('=').expect("name=value");
            (name.to_owned(), value.parse::<f64>().map_or_else(|_| Value::from(value), Value::from))
        });
        let values: Values = settings.collect();
        assert_eq!(entry.check_values(&values), Ok(()), "{}", entry.about.name);
    }
}
