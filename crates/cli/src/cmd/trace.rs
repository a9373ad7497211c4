//! `noregret trace`: the bare algorithm, one round a line.

use std::io::{BufRead, Write};

use noregret::algorithm::{Forecast, Model};
use noregret::example::{Features, Target};
use noregret::learner::Classes;
use noregret::param::Values;
use noregret::prediction::draw;
use noregret::rng::{Rng, Uniforms};
use noregret_stream::score;
use serde::Deserialize;

use crate::args::{Settings, TraceArgs};
use crate::failure::Failure;

/// One input row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    x: Vec<f64>,
    y: Truth,
    /// Importance weight.
    #[serde(default = "one")]
    weight: f64,
    /// The uniform number by which the played label is drawn.
    u: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Truth {
    Number(f64),
    Distribution(Vec<f64>),
}

fn one() -> f64 {
    1.0
}

/// Reads rounds from standard input, plays them, and prints what was predicted before each update.
pub(crate) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let settings = Settings::parse(&args.set)?;
    let entry = noregret::registry::find(&args.learner)?;
    let problem = settings.problem(entry)?;
    let mut learner = entry.make(&settings.params, problem, settings.seed)?;
    let mut rng = Rng::new(settings.seed, 0);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (line, text) in (1u64..).zip(std::io::stdin().lock().lines()) {
        let text = text.map_err(|error| Failure::data(format!("standard input:{line}: {error}")))?;
        if text.trim().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(&text)
            .map_err(|error| Failure::data(format!("standard input:{line}: {error}")))?;
        round(learner.as_mut(), &row, &mut rng, &mut out)
            .map_err(|what| what.within(&format!("standard input:{line}")))?;
    }
    out.flush().map_err(Failure::output)
}
