//! Read-only copies of a model, used for predictions while the model learns.

use noregret::algorithm::{AnyModel, Forecast};
use noregret::example::Label;
use noregret::prediction::{Decision, Prediction};
use noregret_stream::Row;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::bandit::Play;
use serde_json::Value;

use super::engine::{Engine, Forecasted, check_forecast, check_scores};
use super::flat::Flat;
use super::learn::forecasted;
use super::rows;
use super::spec::RowKind;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// The state after event `seq`.
pub(crate) struct Reader {
    pub(crate) seq: u64,
    pub(super) learner: AnyModel,
    pub(super) encoder: Encoder,
    pub(super) columns: noregret_stream::Columns,
    pub(super) kind: RowKind,
    play: Play,
    /// See [`Engine::on_offer`].
    offered: Option<Vec<u32>>,
    pub(super) limits: Limits,
    /// See [`Engine`].
    pub(crate) most: Option<usize>,
    /// The description of the model.
    pub(crate) about: Value,
}

impl Engine {
    /// A read-only copy.
    pub(crate) fn reader(&self) -> Reader {
        Reader {
            seq: self.standing.seq,
            learner: self.copy(),
            encoder: self.encoder.clone(),
            columns: self.schema.columns.clone(),
            kind: self.kind,
            play: self.play.clone(),
            offered: self.on_offer(),
            limits: self.limits.clone(),
            most: self.most,
            about: self.about(),
        }
    }

    /// A copy of the learner.
    pub(crate) fn copy(&self) -> AnyModel {
        match &self.learner {
            AnyModel::Full(learner) => AnyModel::Full(learner.boxed_clone()),
            AnyModel::Bandit(learner) => AnyModel::Bandit(learner.boxed_clone()),
        }
    }
}

impl Reader {
    /// Forecasts a row; for a bandit, the distribution of its played labels.
    pub(crate) fn predict(&self, x: &Flat) -> Result<Forecasted, Refusal> {
        if matches!(self.kind, RowKind::Offers(_)) {
            let what = "the model has no fixed labels; use decide with the labels on offer";
            return Err(Refusal::conflict(what));
        }
        x.check("x", &self.limits)?;
        let mut row = Row::new();
        rows::fill_known(&self.columns, x.iter(), &mut row)?;
        let mut example = Example::default();
        let x = noregret::Features::Sparse { indices: row.indices(), values: row.values() };
        self.encoder.transform(x, &mut example).map_err(|what| Refusal::invalid("x", what))?;
        match &self.learner {
            AnyModel::Full(learner) => {
                let mut at: Prediction = learner.prediction();
                learner.predict(example.features(), &mut at);
                let forecast = learner.about().forecast;
                check_forecast(&at, forecast)?;
                let top = if forecast == Forecast::Value { Label(0) } else { at.top() };
                Ok(forecasted(forecast, &at, top, &self.encoder))
            }
            AnyModel::Bandit(learner) => {
                let mut taken = Decision::default();
                if !learner.decide(example.features(), self.offered.as_deref(), &mut taken) {
                    learner.predict(example.features(), &mut taken);
                }
                check_scores(&taken)?;
                self.play.mix_in(&mut taken);
                let named = self.encoder.labels().iter().zip(&taken.distribution);
                let is_offered =
                    |at: u32| self.offered.as_ref().is_none_or(|offered| offered.binary_search(&at).is_ok());
                let named = (0u32..).zip(named).filter(|(at, _)| is_offered(*at));
                Ok(Forecasted {
                    label: self.encoder.labels().json(Label(taken.greedy)),
                    p: named.map(|(_, (name, p))| (name.to_owned(), *p)).collect(),
                })
            }
        }
    }
}
