#![no_main]

use noregret_fuzz::serve::{MODELS, check};

// Bodies that make, load, copy, evaluate and back up models.
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(MODELS, data));
