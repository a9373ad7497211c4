//! Classes and features that appear in the middle of a stream.

use noregret::learner::Classes;
use noregret::model::Archive;

use crate::support::{assert_near, assert_same_bits, every_case, stream};

#[test]
fn features_that_appear_had_been_there_all_along() {
    every_case("growing features", |case| {
        let (classes, features) = (case.problem.classes, case.problem.features);
        let mut grown = case.learner();
        let mut wide = case.resized(&*grown, classes, features + 3);
        wide.problem = grown.problem().clone();
        wide.problem.features = features + 3;
        let (before, after) = (case.stream(1, 23), wide.stream(2, 40));
        let mut forecasts = case.play(&mut *grown, &before);
        let asked = case.entry.grows(&grown.values(), grown.problem().clone(), classes, features + 3);
        let grew = grown.grow(classes, features + 3);
        assert_eq!(asked, Ok(grew), "a new learner of its kind tells whether it grows");
        if !grew {
            assert_eq!(grown.problem().features, features, "what cannot grow stays as it was");
            return;
        }
        assert_eq!(*grown.problem(), wide.problem);
        let mut loaded = Archive::of(&mut *grown).model().expect("what has grown can be saved and loaded");
        let continued = wide.play(&mut *grown, &after);
        assert_same_bits(&wide.play(&mut *loaded, &after), &continued);
        forecasts.extend(continued);

        let mut all_along = wide.learner();
        let padded: Vec<_> = before.iter().map(|round| round.padded(features + 3)).collect();
        let mut expected = wide.play(&mut *all_along, &padded);
        expected.extend(wide.play(&mut *all_along, &after));
        assert_near(&forecasts, &expected, 1e-9);
    });
}

#[test]
fn a_class_that_appears_before_the_first_round_was_always_there() {
    every_case("growing classes", |case| {
        if case.entry.about.accepts.classes != Classes::Any {
            return;
        }
        let (classes, features) = (case.problem.classes, case.problem.features);
        let mut grown = case.learner();
        let wide = case.resized(&*grown, classes + 2, features);
        if grown.grow(classes + 2, features) {
            let rounds = wide.stream(1, 40);
            let expected = wide.play(&mut *wide.learner(), &rounds);
            assert_near(&wide.play(&mut *grown, &rounds), &expected, 1e-9);
        }
    });
}

#[test]
fn a_class_that_appears_late_is_learnt() {
    every_case("growing classes", |case| {
        if case.entry.about.accepts.classes != Classes::Any {
            return;
        }
        let (classes, features) = (case.problem.classes, case.problem.features);
        let mut grown = case.learner();
        case.play(&mut *grown, &case.stream(1, 23));
        let wide = case.resized(&*grown, classes + 1, features + 1);
        if !grown.grow(classes + 1, features + 1) {
            return;
        }
        assert_eq!((grown.problem().classes, grown.problem().features), (classes + 1, features + 1));
        let new = stream(classes, features + 1, 2, 300);
        let new: Vec<_> = new.iter().map(|round| round.with_intercept().relabelled(classes)).collect();
        let mut loaded = Archive::of(&mut *grown).model().expect("what has grown can be saved and loaded");
        let forecasts = wide.play(&mut *grown, &new);
        assert_same_bits(&wide.play(&mut *loaded, &new), &forecasts);
        // The last number of a forecast is the probability of the last class.
        let mean = |forecasts: &[Vec<f64>]| {
            let p: f64 = forecasts.iter().map(|forecast| forecast[2 * classes + 1]).sum();
            p / forecasts.len() as f64
        };
        assert!(mean(&forecasts[280..]) > mean(&forecasts[..20]), "nothing else came for 300 rounds");
    });
}

#[test]
fn shrinking_is_refused() {
    every_case("growing features", |case| {
        let (classes, features) = (case.problem.classes, case.problem.features);
        let rounds = case.stream(1, 30);
        let mut learner = case.learner();
        let mut forecasts = case.play(&mut *learner, &rounds[..11]);
        assert!(!learner.grow(classes, features - 1) && !learner.grow(classes - 1, features + 1));
        assert!(!learner.grow(classes - 1, features));
        if case.entry.about.accepts.classes != Classes::Any {
            assert!(!learner.grow(classes + 1, features), "the number of classes is fixed");
        }
        forecasts.extend(case.play(&mut *learner, &rounds[11..]));
        assert_same_bits(&forecasts, &case.play(&mut *case.learner(), &rounds));
    });
}

#[test]
fn a_prediction_from_before_growth_is_learnt_late() {
    every_case("growing features", |case| {
        let (classes, features) = (case.problem.classes, case.problem.features);
        let rounds = case.stream(1, 24);
        let (last, before) = rounds.split_last().expect("24 rounds");
        let mut grown = case.learner();
        case.play(&mut *grown, before);
        let mut plain = grown.boxed_clone();
        let mut at = grown.prediction();
        grown.predict(last.dense(), &mut at);
        if !grown.grow(classes, features + 3) {
            return;
        }
        grown.update(last.padded(features + 3).dense(), case.target(last), &at);
        case.play(&mut *plain, &rounds[23..]);
        let probe = &case.stream(2, 1);
        let padded = [probe[0].padded(features + 3)];
        assert_near(&case.play(&mut *grown, &padded), &case.play(&mut *plain, probe), 1e-9);
    });
}
