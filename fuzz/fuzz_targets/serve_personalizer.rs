#![no_main]

use noregret_fuzz::serve::{PERSONALIZER, check};

// Bodies of Personalizer's protocol.
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(PERSONALIZER, data));
