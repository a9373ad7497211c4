//! `noregret trace`: the bare algorithm, one round a line.

use std::io::{BufRead, Write};

use noregret::algorithm::{Forecast, Model};
use noregret::example::{Features, Label, Target};
use noregret::learner::Classes;
use noregret::loss::logistic;
use noregret::prediction::{Prediction, draw};
use noregret::rng::{Rng, Uniforms};
use serde::{Deserialize, Serialize};

use crate::args::TraceArgs;
use crate::failure::Failure;
use crate::settings::Settings;

/// One input row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    x: Vec<f64>,
    y: Truth,
    /// Importance weight.
    #[serde(default = "one")]
    weight: f64,
    /// The uniform number in [0, 1) by which the played label is drawn.
    u: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Truth {
    Number(f64),
    Distribution(Vec<f64>),
}

/// One output row.
#[derive(Serialize)]
struct Round<'a> {
    t: u64,
    scores: Vec<Digits>,
    p: Vec<Digits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    played: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<Digits>,
    #[serde(skip)]
    _learner: std::marker::PhantomData<&'a ()>,
}
