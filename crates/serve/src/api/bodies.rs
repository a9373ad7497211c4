//! Bodies of our own protocol.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, Object, OneOfBuilder, Schema, SchemaType, Type};

use crate::model::engine::{Chosen, Forecasted};
use crate::model::event::{Decide, Event, Offered};
use crate::model::flat::Flat;
use crate::model::spec::shown_value;
use crate::refusal::Refusal;

fn of(kind: Type) -> Object {
    Object::with_type(kind)
}

/// Features: an object of them, an array, or nothing.
fn features() -> Schema {
    OneOfBuilder::new()
        .item(of(Type::Object))
        .item(ArrayBuilder::new().items(Object::with_type(SchemaType::AnyValue)))
        .item(of(Type::Null))
        .examples([json!({"age": 31, "hue": "red"})])
        .build()
        .into()
}

/// A label, or probabilities of all.
fn label() -> Schema {
    let labels = [Type::String, Type::Number, Type::Boolean];
    let numbers = ArrayBuilder::new().items(of(Type::Number));
    let schema = labels.into_iter().fold(OneOfBuilder::new(), |schema, kind| schema.item(of(kind)));
    schema.item(numbers).examples([json!("cat")]).build().into()
}

/// Labels on offer: names, names with features, or an object of both.
fn labels() -> Schema {
    let one = OneOfBuilder::new().item(of(Type::String)).item(of(Type::Number)).item(of(Type::Object));
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(one))
        .item(of(Type::Object))
        .item(of(Type::Null))
        .examples([json!(["a", "b"])])
        .build()
        .into()
}

/// A row to predict.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictBody {
    /// Features by name: numbers, texts (categories), bools; objects within are columns by path. Or an array.
    #[schema(schema_with = features)]
    pub x: Flat,
    /// What the row is called whose label comes later: the service keeps it until then.
    #[serde(default)]
    #[schema(example = "row-17", min_length = 1, max_length = 256)]
    pub id: Option<String>,
}

/// A row to learn from.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnBody {
    /// Features, as in predict.
    #[schema(schema_with = features, required = false)]
    pub x: Option<Value>,
    /// Instead of features: the row that was forecast under this id.
    #[serde(default)]
    #[schema(example = json!(null), min_length = 1, max_length = 256)]
    pub id: Option<String>,
    /// The label; a number for learners of numbers; probabilities of all labels for those that take them.
    #[schema(schema_with = label)]
    pub y: Value,
    /// The importance weight, 1 without it.
    #[schema(example = 1.0, minimum = 0.0, maximum = 1e30)]
    pub weight: Option<f64>,
}

/// A decision that is wanted.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideBody {
    /// Features of the round, as in predict.
    #[schema(schema_with = features, required = false)]
    #[serde(default)]
    pub x: Flat,
    /// The labels on offer: a list of names, a list of `{"label", "x"}`, or an object of names and features.
    /// Without it, all labels of the model.
    #[schema(schema_with = labels, required = false)]
    pub labels: Option<Value>,
    /// An id of one's own; without it, one is made.
    #[schema(example = "visit-17", max_length = 256)]
    pub id: Option<String>,
    /// Labels on offer that must not be played.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Whether nothing counts until the decision is activated.
    #[serde(default)]
    pub deferred: bool,
}

/// What a decision earned: one of `correct` and `reward`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackBody {
    /// The decision.
    #[schema(example = "visit-17", max_length = 512)]
    pub id: String,
    /// Whether the label was right.
    #[schema(example = true)]
    pub correct: Option<bool>,
    /// What it earned, from 0 to 1.
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub reward: Option<f64>,
}

/// A decision.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivateBody {
    /// The decision.
    #[schema(example = "visit-17", max_length = 512)]
    pub id: String,
}

/// A version to go back to.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackBody {
    /// One of the model's versions.
    #[schema(example = 0)]
    pub version: u64,
}

/// A shadow that takes over.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PromoteBody {
    /// The shadow.
    #[schema(example = "another", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub shadow: String,
}

/// A copy that is wanted.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyBody {
    /// What the copy is called.
    #[schema(example = "another", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub to: String,
}

/// A question to the log.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EvaluateBody {
    /// `uniform`, `logged`, `greedy`, `baseline` (the first label on offer), `constant:LABEL`,
    /// `model:NAME` for another model of the service, made from an older version, or `learner:NAME` for a
    /// learner that learns from the log, each round after it was evaluated in it.
    #[schema(example = "uniform")]
    pub policy: String,
    /// Parameters of that learner, as in the body that makes a model.
    #[serde(default)]
    #[schema(value_type = Object, example = json!({}))]
    pub params: Map<String, Value>,
    /// The confidence of the intervals.
    #[schema(example = 0.95, minimum = 0.01, maximum = 0.999)]
    pub confidence: Option<f64>,
}

/// Where a backup goes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupBody {
    /// A name of letters, digits, `-`, `_` and `.`: the backup is a folder of this name in the service's
    /// folder `backups`.
    #[schema(example = "monday", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub name: String,
}

/// A forecast.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Forecast {
    /// The most probable label; a number for learners of numbers; null before the first label was seen.
    #[schema(value_type = Option<String>, example = "cat")]
    pub label: Value,
    /// Probabilities of the labels.
    #[schema(value_type = Object, example = json!({"cat": 0.9, "dog": 0.1}))]
    pub p: Map<String, Value>,
}

/// A decision that was taken.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Decision {
    /// Its id, by which it is answered.
    #[schema(example = "visit-17")]
    pub id: String,
    /// The label to play.
    #[schema(example = "red")]
    pub label: String,
    /// The probabilities with which labels on offer are played.
    #[schema(value_type = Object, example = json!({"red": 0.9, "green": 0.05, "blue": 0.05}))]
    pub p: Map<String, Value>,
}

fn by_name(p: Vec<(String, f64)>) -> Map<String, Value> {
    p.into_iter().map(|(name, p)| (name, p.into())).collect()
}

impl From<Forecasted> for Forecast {
    fn from(at: Forecasted) -> Self {
        Self { label: at.label, p: by_name(at.p) }
    }
}

impl From<Chosen> for Decision {
    fn from(chosen: Chosen) -> Self {
        Self { id: chosen.id, label: chosen.label, p: by_name(chosen.p) }
    }
}

impl DecideBody {
    /// The decision that is asked for.
    pub(crate) fn decide(self) -> Result<Decide, Refusal> {
        check_id(self.id.as_deref())?;
        Ok(Decide {
            id: self.id.unwrap_or_default(),
            x: self.x,
            labels: self.labels.filter(|labels| !labels.is_null()).map(offered).transpose()?,
            exclude: self.exclude,
            slots: Vec::new(),
            deferred: self.deferred,
        })
    }
}

fn check_id(id: Option<&str>) -> Result<(), Refusal> {
    match id.filter(|id| id.is_empty() || id.len() > 256) {
        None => Ok(()),
        Some(id) => {
            let what = format!("the id has {} bytes; from 1 to 256 were needed", id.len());
            Err(Refusal::invalid("id", what))
        }
    }
}

impl LearnBody {
    /// The event that is asked for.
    pub(crate) fn event(self) -> Result<Event, Refusal> {
        let Self { x, id, y, weight } = self;
        check_id(id.as_deref())?;
        match (x, id) {
            (Some(x), None) => Ok(Event::Learn { x, y, weight }),
            (None, Some(id)) => Ok(Event::Label { id, y, weight }),
            _ => Err(Refusal::invalid(
                "x",
                "one of x and id was needed: a row, or one that was forecast before",
            )),
        }
    }
}

impl PredictBody {
    /// The event that is asked for, if the row is to be kept: as it was written in `bytes`, the same body.
    pub(crate) fn event(&self, bytes: &[u8]) -> Result<Option<Event>, Refusal> {
        check_id(self.id.as_deref())?;
        let Some(id) = self.id.clone() else { return Ok(None) };
        let mut body: Map<String, Value> = crate::app::parsed(bytes)?;
        Ok(Some(Event::Ask { id, x: body.shift_remove("x").unwrap_or_default() }))
    }
}

fn read(x: Value) -> Result<Flat, Refusal> {
    Flat::deserialize(x).map_err(|error| Refusal::invalid("labels", error.to_string()))
}

/// Labels on offer in any of their forms.
fn offered(labels: Value) -> Result<Vec<Offered>, Refusal> {
    let wrong = |at: String, found: &Value| {
        let what = format!("{at} is {}; a label was needed", shown_value(found));
        Refusal::invalid(&at, what)
    };
    match labels {
        Value::Object(map) => map.into_iter().map(|(label, x)| Ok(Offered { label, x: read(x)? })).collect(),
        Value::Array(list) => {
            let mut labels = Vec::with_capacity(list.len());
            for (at, item) in list.into_iter().enumerate() {
                let place = format!("labels[{at}]");
                labels.push(match item {
                    Value::String(label) => Offered { label, x: Flat::default() },
                    Value::Number(number) => Offered { label: number.to_string(), x: Flat::default() },
                    Value::Object(mut map) => {
                        let x = map.remove("x").unwrap_or_default();
                        match map.remove("label") {
                            Some(Value::String(label)) if map.is_empty() => Offered { label, x: read(x)? },
                            _ => return Err(wrong(place, &Value::Object(map))),
                        }
                    }
                    other => return Err(wrong(place, &other)),
                });
            }
            Ok(labels)
        }
        other => Err(wrong("labels".to_owned(), &other)),
    }
}

impl FeedbackBody {
    /// The reward.
    pub(crate) fn reward(&self) -> Result<f64, Refusal> {
        match (self.correct, self.reward) {
            (Some(correct), None) => Ok(f64::from(u8::from(correct))),
            (None, Some(reward)) if (0.0..=1.0).contains(&reward) => Ok(reward),
            (None, Some(reward)) => {
                let what = format!("the reward is {reward}; a number from 0 to 1 was needed");
                Err(Refusal::invalid("reward", what))
            }
            _ => Err(Refusal::invalid("reward", "one of correct and reward was needed")),
        }
    }
}
