#![no_main]

use noregret_stream::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| noregret_fuzz::check(Format::Parquet, data));
