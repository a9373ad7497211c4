//! Saving and loading.

use noregret::algorithm::Model;
use noregret::example::Features;
use noregret::model::Archive;

use crate::support::{Case, Round, assert_same_bits, every_case};

fn reloaded(model: &mut dyn Model) -> Box<dyn Model> {
    let bytes = Archive::of(model).to_bytes();
    Archive::from_bytes(&bytes).and_then(|archive| archive.model()).expect("just written")
}

#[test]
fn load_and_continue_is_continue() {
    every_case("save", |case| {
        let rounds = case.stream(1, 40);
        let plain = case.play(&mut *case.learner(), &rounds);
        // With 16 features a block has 4 rounds: these positions are before, within and at the end of a
        // block.
        for at in [0, 1, 2, 3, 4, 5, 11, 21] {
            let mut original = case.learner();
            case.play(&mut *original, &rounds[..at]);
            let mut loaded = reloaded(&mut *original);
            assert_eq!(loaded.rounds(), at as u64);
            let bits = |model: &dyn Model| model.certificate().map(|own| own.map(f64::to_bits));
            assert_eq!(bits(loaded.as_ref()), bits(original.as_ref()));
            assert_same_bits(&case.play(&mut *loaded, &rounds[at..]), &plain[at..]);
            assert_same_bits(&case.play(&mut *original, &rounds[at..]), &plain[at..]);
        }
    });
}

/// Plays `rounds` with the rows announced in blocks of `block`, `before` of which are already played. Missing
/// rows of the last block are replaced by empty ones.
fn play_announced(
    case: &Case,
    model: &mut dyn Model,
    mut rounds: &[Round],
    block: usize,
    mut before: usize,
) -> Vec<Vec<f64>> {
    let empty = vec![0.0; case.problem.features];
    let mut forecasts = Vec::new();
    while !rounds.is_empty() {
        let (known, later) = rounds.split_at(rounds.len().min(block - before));
        let mut rows: Vec<Features<'_>> = known.iter().map(Round::dense).collect();
        rows.resize(block - before, Features::Dense(&empty));
        if before > 0 {
            model.prepare_rest(before, &&rows[..]);
        } else {
            model.prepare(&&rows[..]);
        }
        forecasts.extend(case.play(model, known));
        before = (before + known.len()) % block;
        rounds = later;
    }
    forecasts
}

/// A run with announced rows can be interrupted anywhere.
#[test]
fn a_run_interrupted_within_a_block_continues_bit_for_bit() {
    every_case("save", |case| {
        let rounds = case.stream(1, 100);
        let mut whole = case.learner();
        let block = whole.lookahead().clamp(1, 30);
        let plain = play_announced(case, &mut *whole, &rounds, block, 0);
        for cut in [1, 3, 10, 33, 34, 77] {
            let mut first = case.learner();
            play_announced(case, &mut *first, &rounds[..cut], block, 0);
            let mut loaded = reloaded(&mut *first);
            let rest = play_announced(case, &mut *loaded, &rounds[cut..], block, cut % block);
            assert_same_bits(&rest, &plain[cut..]);
            assert!(Archive::of(&mut *loaded) == Archive::of(&mut *whole), "cut after {cut} rounds");
        }
    });
}

#[test]
fn a_model_saved_twice_gives_the_same_bytes() {
    every_case("save", |case| {
        let mut learner = case.learner();
        case.play(&mut *learner, &case.stream(1, 11));
        let archive = Archive::of(&mut *learner);
        assert_eq!(archive, Archive::of(&mut *reloaded(&mut *learner)));
        assert_eq!(archive, Archive::from_bytes(&archive.to_bytes()).expect("just written"));
    });
}

#[test]
fn a_clone_is_independent() {
    every_case("clone", |case| {
        let rounds = case.stream(1, 40);
        let mut original = case.learner();
        let mut plain = case.play(&mut *original, &rounds[..11]);
        let mut clone = original.boxed_clone();
        case.play(&mut *clone, &case.stream(2, 10));
        plain.extend(case.play(&mut *original, &rounds[11..]));
        assert_same_bits(&plain, &case.play(&mut *case.learner(), &rounds));
    });
}
