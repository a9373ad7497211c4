//! Common parts of traces.

use noregret_stream::Fault;

/// A learner in a trace.
pub(crate) trait Player {
    /// Plays round `t`, given in `text`, and appends its line to `out`.
    fn play(&mut self, t: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Fault>;
}

/// 17 significant digits: every bit of a double.
pub(crate) fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.16e}")).collect();
    format!("[{}]", numbers.join(", "))
}
