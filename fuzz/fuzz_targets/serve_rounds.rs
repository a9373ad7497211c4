#![no_main]

use noregret_fuzz::serve::{ROUNDS, check};

// Bodies of rounds: rows, labels, decisions, answers, one or many lines of them.
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(ROUNDS, data));
