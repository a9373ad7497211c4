//! Saving and loading within a block of announced rows.

use noregret::algorithm::Model;
use noregret::example::Features;
use noregret::model::Archive;

use crate::support::{Case, Round, assert_same_bits, every_case, lookahead};

fn reloaded(model: &mut dyn Model) -> Box<dyn Model> {
    let bytes = Archive::of(model).to_bytes();
    Archive::from_bytes(&bytes).and_then(|archive| archive.model()).expect("just written")
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
        match model.look_ahead() {
            Some(ahead) if before > 0 => ahead.prepare_rest(before, &&rows[..]),
            Some(ahead) => ahead.prepare(&&rows[..]),
            None => {}
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
        let block = lookahead(&mut *whole).clamp(1, 30);
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
