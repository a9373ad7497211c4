//! Parameters.

use noregret::param::Value;

use crate::support::{Case, SEED, every_learner};

/// Sets `name` to `value`: either an error of one sentence, which is returned, or the learner plays without
/// panics.
fn tried(case: &Case, name: &str, value: Value) -> Option<String> {
    let mut case = case.clone();
    case.values.insert(name.to_owned(), value);
    let play = || match case.entry.make(&case.values, case.problem.clone(), SEED) {
        Ok(mut learner) => {
            case.play(&mut *learner, &case.stream(1, 20));
            None
        }
        Err(error) => Some(error.to_string()),
    };
    std::panic::catch_unwind(play).unwrap_or_else(|_| panic!("{case} is neither refused nor harmless"))
}

#[test]
fn what_is_no_valid_number_is_refused_by_name_or_harmless() {
    every_learner("bad parameters", |case| {
        for param in case.entry.params {
            let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0];
            let values = values.into_iter().flat_map(|value| [Value::Float(value), Value::from(value)]);
            for value in values.chain([Value::Integer(0), Value::from(""), Value::from("nonsense")]) {
                if let Some(error) = tried(case, param.name, value.clone()) {
                    let named =
                        error.starts_with(&format!("{} = ", param.name)) && error.contains(": must be ");
                    assert!(named && !error.contains('\n'), "{} = {value}: {error}", param.name);
                }
            }
            let error = tried(case, param.name, Value::from("nonsense"));
            assert!(error.is_some(), "{} = nonsense is accepted", param.name);
        }
    });
}

#[test]
fn extreme_parameters_are_refused_or_harmless() {
    every_learner("extreme parameters", |case| {
        for param in case.entry.params {
            // Counts are small, since they may determine time or memory.
            for value in [1e-300, 1e-12, 1e-3, 1.0, 2.0, 7.0] {
                tried(case, param.name, Value::from(value));
                tried(case, param.name, Value::parse(&value.to_string()));
            }
            for value in [1e12 + 0.5, 1.5e100] {
                tried(case, param.name, Value::from(value));
            }
        }
    });
}

/// A matrix that starts from less than the rows' rounding errors is not inverted.
#[test]
fn a_vanishing_regularization_is_refused_or_harmless() {
    every_learner("vanishing regularization", |case| {
        if !case.entry.params.iter().any(|param| param.name == "regularization") {
            return;
        }
        for value in [1e-300, 1e-150, 1e-40, 1e-20] {
            let mut case = case.clone();
            case.values.insert("regularization".to_owned(), Value::from(value));
            let Ok(mut learner) = case.entry.make(&case.values, case.problem.clone(), SEED) else { continue };
            let forecasts = case.play(&mut *learner, &case.stream(1, 60));
            let largest = forecasts.iter().flatten().fold(0.0, |most: f64, number| most.max(number.abs()));
            assert!(largest < 1e9, "regularization = {value} forecasts {largest}");
        }
    });
}

#[test]
fn unknown_parameters_are_refused_with_a_near_name() {
    every_learner("unknown parameters", |case| {
        for param in case.entry.params {
            let wrong = format!("{}x", param.name);
            let error = tried(case, &wrong, Value::from(1.0)).expect("no such parameter");
            let expected = [
                &format!("{} has no parameter '{wrong}'", case.entry.about.name),
                "did you mean '",
                param.name,
            ];
            assert!(expected.iter().all(|part| error.contains(part)), "{error}");
        }
        let error = tried(case, "qqq", Value::from(1.0)).expect("no such parameter");
        assert!(error.contains("'qqq'") && !error.contains("did you mean"), "{error}");
    });
}
