//! Read-only copies of a model, used for predictions while the model learns.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use noregret::algorithm::{AnyModel, BanditModel, Forecast, Model};
use noregret::example::Label;
use noregret::prediction::{Decision, Prediction};
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::bandit::Play;
use noregret_stream::save::{restrict, restrict_decision};
use noregret_stream::{GivenLabel, Row, Schema, TableRows};
use serde_json::Value;

use super::engine::{Engine, Forecasted, check_forecast, check_scores};
use super::event::Decide;
use super::flat::Flat;
use super::learn::forecasted;
use super::offer::Offering;
use super::rows;
use super::spec::RowKind;
use super::standing::Rebuilt;
use super::table;
use crate::locks::Unpoisoned;
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// What is shown of the state after event `seq`, without its learner.
pub(crate) struct Seen {
    pub(crate) seq: u64,
    /// The schema of a model whose rows are those of a table.
    pub(crate) table: Option<Schema>,
    /// See [`Engine`].
    pub(crate) most: Option<usize>,
    /// The description of the model.
    pub(crate) about: Arc<Value>,
    /// What the model lacks, if it was made again from a log that does not have all of it.
    pub(crate) lost: Option<String>,
}

/// The state after event `seq`.
pub(crate) struct Reader {
    pub(crate) seq: u64,
    pub(super) learner: AnyModel,
    pub(super) encoder: Encoder,
    pub(super) schema: Schema,
    /// Made when it is needed.
    table: OnceLock<Option<Mutex<TableRows>>>,
    pub(super) kind: RowKind,
    play: Play,
    /// See [`Engine`].
    retired: Vec<u32>,
    pub(super) limits: Limits,
    predictions: Spare<Prediction>,
    decisions: Spare<Decision>,
}

/// Buffers with the learner's scratch memory: as many as forecasts were made at once.
#[derive(Default)]
struct Spare<T>(Mutex<Vec<T>>);

impl<T> Spare<T> {
    fn take(&self) -> Option<T> {
        self.0.lock().unpoisoned().pop()
    }

    fn put(&self, used: T) {
        self.0.lock().unpoisoned().push(used);
    }
}

impl Engine {
    /// What is shown of it.
    pub(crate) fn seen(&self) -> Seen {
        let lost = self.standing.rebuilt.as_ref().and_then(Rebuilt::lost);
        Seen {
            seq: self.standing.seq,
            table: self.schema.csv.is_some().then(|| self.schema.clone()),
            most: self.most,
            about: Arc::new(self.about()),
            lost,
        }
    }

    /// A read-only copy.
    pub(crate) fn reader(&self) -> Reader {
        Reader {
            seq: self.standing.seq,
            learner: self.learner.clone(),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            table: OnceLock::new(),
            kind: self.kind,
            play: self.play.clone(),
            retired: self.retired.clone(),
            limits: self.limits.clone(),
            predictions: Spare::default(),
            decisions: Spare::default(),
        }
    }
}

impl Reader {
    /// What may be on offer.
    fn offering(&self) -> Offering<'_> {
        Offering { kind: self.kind, learner: &self.learner, encoder: &self.encoder, retired: &self.retired }
    }

    /// The least probability of every label.
    pub(crate) fn floor(&self) -> f64 {
        self.play.floor
    }

    /// The features of a row.
    fn features<'a>(&self, asked: &'a Decide) -> Result<Cow<'a, Flat>, Refusal> {
        let table = self.table.get_or_init(|| TableRows::of(&self.schema).map(Mutex::new));
        let mut is_foreign = false;
        let x = match (table, &asked.given) {
            (Some(table), Some(given)) => {
                let mut table = table.lock().unpoisoned();
                let features = table::read(&mut table, &self.schema.columns, given)?;
                is_foreign = table.is_foreign();
                Cow::Owned(features)
            }
            (Some(_), None) => return Err(Refusal::busy("the model has just been replaced; ask again")),
            (None, _) => Cow::Borrowed(&asked.x),
        };
        x.check("x", &self.limits)?;
        if is_foreign || rows::is_foreign(&self.schema.columns, &x) {
            return Err(Refusal::invalid("x", "the model has none of the row's features"));
        }
        Ok(x)
    }

    /// Forecasts a row among the labels on offer; for a bandit, the distribution of its played labels.
    pub(crate) fn predict(&self, asked: &Decide) -> Result<Forecasted, Refusal> {
        if let (AnyModel::Full(learner), Some(_)) = (&self.learner, &asked.labels)
            && learner.about().forecast == Forecast::Value
        {
            return Err(Refusal::invalid("labels", "the model forecasts a number: no labels are on offer"));
        }
        let named = self.named(asked)?;
        let example = self.example(asked)?;
        let offered = self.offered(named.as_deref());
        let (named, offered) = (named.as_deref(), offered.as_deref());
        match &self.learner {
            AnyModel::Full(learner) => self.forecast(learner.as_ref(), &example, named.is_some(), offered),
            AnyModel::Bandit(learner) => self.distribution(learner.as_ref(), &example, named, offered),
        }
    }

    /// The labels on offer that a request names, with their classes.
    fn named(&self, asked: &Decide) -> Result<Option<Vec<(u32, GivenLabel)>>, Refusal> {
        if asked.labels.is_none() && self.kind == RowKind::Columns {
            return Ok(None);
        }
        let offering = self.offering();
        let names = offering.names(asked)?;
        Ok(Some(offering.numbers(&names)?.into_iter().zip(names).collect()))
    }

    /// The scaled row.
    fn example(&self, asked: &Decide) -> Result<Example, Refusal> {
        let mut row = Row::new();
        match self.kind {
            RowKind::Columns => {
                self.offering().check_undescribed(asked)?;
                let features = self.features(asked)?;
                rows::fill_known(&self.schema.columns, &features, &mut row)?;
            }
            RowKind::Offers(width) => {
                let labels = asked.labels.as_deref().unwrap_or_default();
                rows::fill_offer(&asked.x, None, labels, width, &self.limits, &mut row)?;
            }
        }
        let mut example = Example::default();
        self.encoder.transform_row(&row, &mut example).map_err(|what| Refusal::invalid("x", what))?;
        Ok(example)
    }

    /// The classes on offer, sorted; `None` if all are.
    fn offered(&self, named: Option<&[(u32, GivenLabel)]>) -> Option<Vec<u32>> {
        let mut offered = match named {
            None => self.offering().by_default()?,
            Some(named) if named.len() == self.learner.problem().classes => return None,
            Some(named) => named.iter().map(|(at, _)| *at).collect(),
        };
        offered.sort_unstable();
        Some(offered)
    }

    /// The forecast of a learner from labels, if some are `named` among those `offered`.
    fn forecast(
        &self,
        learner: &dyn Model,
        example: &Example,
        named: bool,
        offered: Option<&[u32]>,
    ) -> Result<Forecasted, Refusal> {
        let mut at = self.predictions.take().unwrap_or_else(|| learner.prediction());
        learner.predict(example.features(), &mut at);
        let forecast = learner.about().forecast;
        check_forecast(&at, forecast)?;
        if named {
            restrict(&mut at, offered.unwrap_or_default());
        }
        let top = if forecast == Forecast::Value { Label(0) } else { at.top() };
        let mut forecasted = forecasted(forecast, &at, top, &self.encoder);
        self.predictions.put(at);
        if named {
            let mut class = 0u32..;
            forecasted.p.retain(|_| class.next().is_some_and(|at| is_offered(offered, at)));
        }
        Ok(forecasted)
    }

    /// The distribution of the labels that a learner from rewards plays: those that are `named`, else those
    /// `offered`.
    fn distribution(
        &self,
        learner: &dyn BanditModel,
        example: &Example,
        named: Option<&[(u32, GivenLabel)]>,
        offered: Option<&[u32]>,
    ) -> Result<Forecasted, Refusal> {
        let mut taken = self.decisions.take().unwrap_or_default();
        if !learner.decide(example.features(), offered, &mut taken) {
            learner.predict(example.features(), &mut taken);
            if named.is_some() {
                restrict_decision(&mut taken, offered.unwrap_or_default());
            }
        }
        check_scores(&taken)?;
        self.play.mix_in(&mut taken);
        let p = |at: u32| taken.distribution[at as usize];
        let forecasted = if let Some(named) = named {
            let best = named.iter().find(|(at, _)| *at == taken.greedy);
            Forecasted {
                label: best.map_or(Value::Null, |(_, label)| label.json()),
                p: named.iter().map(|(at, label)| (label.text.clone(), p(*at))).collect(),
                unlearnt: false,
            }
        } else {
            let all = (0u32..).zip(self.encoder.labels().iter()).filter(|(at, _)| is_offered(offered, *at));
            Forecasted {
                label: self.encoder.labels().json(Label(taken.greedy)),
                p: all.map(|(at, name)| (name.to_owned(), p(at))).collect(),
                unlearnt: false,
            }
        };
        self.decisions.put(taken);
        Ok(forecasted)
    }
}

/// Whether a class is among those `offered`.
fn is_offered(offered: Option<&[u32]>, at: u32) -> bool {
    offered.is_none_or(|offered| offered.binary_search(&at).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::spec::Spec;

    /// The scratch memory of forecasts is made once, and they do not depend on those before.
    #[test]
    fn forecasts_have_their_scratch_memory_in_common() {
        for spec in [json!({"labels": ["a", "b"]}), json!({"feedback": "bandit", "labels": ["a", "b"]})] {
            let spec: Spec = serde_json::from_value(spec).expect("a spec");
            let reader = Engine::new(spec, &Limits::default()).expect("a model").reader();
            let forecast = |asked: Value| {
                let asked: Decide = serde_json::from_value(asked).expect("a question");
                reader.predict(&asked).expect("a forecast").p
            };
            let all = || forecast(json!({"x": {"v": 1}}));
            let first = all();
            assert_eq!(forecast(json!({"x": {"v": 1}, "labels": [{"label": "a"}]})).len(), 1);
            assert_eq!(all(), first);
            let (predictions, decisions) = (&reader.predictions.0, &reader.decisions.0);
            let spare = predictions.lock().expect("whole").len() + decisions.lock().expect("whole").len();
            assert_eq!(spare, 1);
        }
    }
}
