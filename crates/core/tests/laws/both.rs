//! Laws of learners for either kind of feedback: what should be the same is the same to the bit.

use std::ops::Range;

use noregret::algorithm::{AnyModel, Model};
use noregret::model::Archive;
use noregret::param::Values;
use noregret::registry::Entry;

use crate::support::SEED;
use crate::{bandits, support};

/// Rounds of a stream.
const ROUNDS: usize = 60;

/// Plays these rounds of the stream with this seed, and returns each forecast, or decision, as text that has
/// every bit.
type Play<'a> = &'a dyn Fn(&mut AnyModel, u64, Range<usize>) -> Vec<String>;

/// A case for either kind of feedback.
struct Subject<'a> {
    entry: &'static Entry,
    learner: &'a dyn Fn() -> AnyModel,
    play: Play<'a>,
}

/// Applies `law` to every case of every learner.
fn every_subject(name: &str, law: impl Fn(&Subject<'_>)) {
    support::every_case(name, |case| {
        let play = |model: &mut AnyModel, seed: u64, rounds: Range<usize>| -> Vec<String> {
            let AnyModel::Full(model) = model else { panic!("it learns from labels") };
            let forecasts = case.play(&mut **model, &case.stream(seed, ROUNDS)[rounds]);
            forecasts.iter().map(|forecast| format!("{forecast:?}")).collect()
        };
        law(&Subject { entry: case.entry, learner: &|| AnyModel::Full(case.learner()), play: &play });
    });
    bandits::every_case(name, |case| {
        let play = |model: &mut AnyModel, seed: u64, rounds: Range<usize>| -> Vec<String> {
            let AnyModel::Bandit(model) = model else { panic!("it learns from rewards") };
            let decisions = case.play(&mut **model, &case.stream(seed, ROUNDS)[rounds]);
            decisions.iter().map(|taken| serde_json::to_string(taken).expect("plain data")).collect()
        };
        law(&Subject { entry: case.entry, learner: &|| AnyModel::Bandit(case.learner()), play: &play });
    });
}

fn archive(model: &mut AnyModel) -> Archive {
    match model {
        AnyModel::Full(model) => Archive::of(&mut **model),
        AnyModel::Bandit(model) => Archive::of_bandit(&mut **model),
    }
}

fn reloaded(model: &mut AnyModel) -> AnyModel {
    let bytes = archive(model).to_bytes();
    Archive::from_bytes(&bytes).and_then(|archive| archive.any_model()).expect("just written")
}

/// Panics unless all rounds are the same.
fn assert_same(got: &[String], want: &[String]) {
    assert_eq!(got.len(), want.len(), "as many rounds");
    for (t, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got, want, "round {}", t + 1);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    every_subject("same seed, same bits", |subject| {
        let play = || (subject.play)(&mut (subject.learner)(), 1, 0..ROUNDS);
        assert_same(&play(), &play());
    });
}

#[test]
fn load_and_continue_is_continue() {
    every_subject("save", |subject| {
        let plain = (subject.play)(&mut (subject.learner)(), 1, 0..40);
        // With 16 features a block has 4 rounds: these positions are before, within and at the end of a
        // block.
        for at in [0, 1, 2, 3, 4, 5, 11, 21] {
            let mut original = (subject.learner)();
            (subject.play)(&mut original, 1, 0..at);
            let mut loaded = reloaded(&mut original);
            assert_eq!((loaded.rounds(), loaded.values()), (at as u64, original.values()));
            assert_eq!(archive(&mut loaded), archive(&mut original));
            if let (AnyModel::Full(loaded), AnyModel::Full(original)) = (&loaded, &original) {
                let bits = |model: &dyn Model| model.certificate().map(|own| own.map(f64::to_bits));
                assert_eq!(bits(&**loaded), bits(&**original));
            }
            assert_same(&(subject.play)(&mut loaded, 1, at..40), &plain[at..]);
            assert_same(&(subject.play)(&mut original, 1, at..40), &plain[at..]);
        }
    });
}

#[test]
fn a_model_saved_twice_gives_the_same_bytes() {
    every_subject("save", |subject| {
        let mut learner = (subject.learner)();
        (subject.play)(&mut learner, 1, 0..11);
        let saved = archive(&mut learner);
        assert_eq!(saved, archive(&mut reloaded(&mut learner)));
        assert_eq!(saved, Archive::from_bytes(&saved.to_bytes()).expect("just written"));
    });
}

#[test]
fn a_clone_is_independent() {
    every_subject("clone", |subject| {
        let mut original = (subject.learner)();
        let mut plain = (subject.play)(&mut original, 1, 0..11);
        (subject.play)(&mut original.clone(), 2, 0..10);
        plain.extend((subject.play)(&mut original, 1, 11..40));
        assert_same(&plain, &(subject.play)(&mut (subject.learner)(), 1, 0..40));
    });
}

#[test]
fn resolved_parameters_make_the_same_learner() {
    every_subject("resolved parameters", |subject| {
        let mut learner = (subject.learner)();
        let values = learner.values();
        let text = serde_json::to_string(&values).expect("plain values");
        let read: Values = serde_json::from_str(&text).expect("just written");
        assert_eq!(read, values, "the way through JSON");
        let problem = learner.problem().clone();
        let mut again = subject.entry.make_any(&read, problem, SEED).expect("values that are in use");
        assert_eq!(again.values(), values);
        assert_eq!(again.problem(), learner.problem());
        assert_same(&(subject.play)(&mut again, 1, 0..40), &(subject.play)(&mut learner, 1, 0..40));
    });
}
