#![no_main]

use noregret_stream::Row;
use noregret_stream::decisions::event::Event;
use noregret_stream::decisions::logged::Logged;
use noregret_stream::decisions::reader::LogReader;
use noregret_stream::decisions::replay::{Limits, replay};
use noregret_stream::encode::examples::BadRows;
use noregret_stream::evaluate::{EvaluateOptions, Policy, evaluate};

// A decision log: every line is read, and the whole is replayed. Nothing panics, rows are what learners can
// take, and probabilities are in (0, 1].
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let open = || LogReader::from_read(Box::new(std::io::Cursor::new(data.to_vec())), "fuzz");
    let Ok(mut log) = open() else { return };
    let mut row = Row::new();
    loop {
        match log.next(&mut row) {
            Ok(None) => break,
            Ok(Some(Event::Decision(taken))) => {
                assert!(taken.probability > 0.0 && taken.probability <= 1.0);
                assert!((taken.label as usize) < log.labels().len() || taken.own.is_some());
                assert!(row.indices().is_sorted_by(|a, b| a < b));
                assert!(row.values().iter().all(|value| value.is_finite() && *value != 0.0));
                assert!(row.indices().last().is_none_or(|last| *last < log.columns().count()));
            }
            Ok(Some(_)) => {}
            Err(error) => {
                let sentence = error.to_string();
                assert!(!sentence.contains('\n') && sentence.starts_with("fuzz"), "{sentence}");
                if !error.is_row_error() {
                    break;
                }
            }
        }
    }
    if let Ok(log) = open() {
        let _ = replay(log, None, Limits { waiting: 100, bytes: 1 << 20 });
    }
    let logged = || open().map(|log| Logged::Log(Box::new(log)));
    let bad_rows = BadRows::Skip;
    let options =
        EvaluateOptions { clip: None, confidence: 0.9, missing_is_wrong: true, bad_rows, pending: 100 };
    let _ = evaluate(&logged, &mut Policy::Uniform, None, &options);
});
