//! What a model is made of: the body of the request that makes it, checked once, and how answers count.

use noregret::algorithm::AnyModel;
use noregret::guarantee::RunFacts;
use noregret::learner::{Classes, Feedback as Kind};
use noregret::param::{Value as Param, Values};
use noregret::problem::Problem;
use noregret::registry;
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::{Scaler, Scaling};
use noregret_stream::encode::{Encoder, LargeRow};
use noregret_stream::run::bandit::Play;
use noregret_stream::save::Saved;
use noregret_stream::{Columns, Format, Names, Row, RowLabel, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{self, ArrayBuilder, Object, OneOfBuilder, Type};

use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// What a model hears of its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Feedback {
    /// The label of every row.
    #[default]
    Full,
    /// What the label that it played has earned.
    Bandit,
}

/// What several rewards of one decision make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// The first counts; another one is a conflict.
    #[default]
    Earliest,
    /// Their sum counts, when the waiting time is over.
    Sum,
}

/// Who chooses the label that is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The learner.
    #[default]
    Online,
    /// The first label on offer, while the learner learns from it.
    Apprentice,
    /// The first label on offer, and nothing is learnt.
    Logging,
}

/// How answers count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// How long an answer is waited for, in seconds. Without it, decisions wait until too many do.
    #[schema(example = 600.0, minimum = 0.001, maximum = 31_536_000.0)]
    pub wait_seconds: Option<f64>,
    /// What a decision has earned that was not answered in time, from 0 to 1. Without it, nothing is learnt
    /// from such decisions.
    #[schema(example = 0.0, minimum = 0.0, maximum = 1.0)]
    pub default_reward: Option<f64>,
    /// For how many days the log is kept; from then on it begins later. Without it, the log is kept whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 30.0, minimum = 0.00001, maximum = 36_500.0)]
    pub retain_days: Option<f64>,
    /// In this share of the decisions, from 0 to 1, the label is drawn uniformly, whatever the learner would
    /// play; the learner explores by itself, and needs none. The log begins anew where it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 0.1, minimum = 0.0, maximum = 1.0)]
    pub explore: Option<f64>,
    /// What several rewards of one decision make.
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Aggregation>)]
    pub aggregation: Aggregation,
    /// Who chooses the label that is played.
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Mode>)]
    pub mode: Mode,
    /// What a protocol keeps here.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub notes: Map<String, Value>,
}

impl Service {
    /// Checks the ranges.
    ///
    /// # Errors
    /// What is out of range.
    pub fn check(&self) -> Result<(), Refusal> {
        const YEAR: f64 = 31_536_000.0;
        if let Some(wait) = self.wait_seconds.filter(|wait| !(0.001..=YEAR).contains(wait)) {
            let what = format!("wait_seconds is {wait}; a number from 0.001 to {YEAR} was needed");
            return Err(Refusal::invalid("wait_seconds", what));
        }
        if let Some(reward) = self.default_reward.filter(|reward| !(0.0..=1.0).contains(reward)) {
            let what = format!("default_reward is {reward}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("default_reward", what));
        }
        if let Some(days) = self.retain_days.filter(|days| !(0.00001..=36_500.0).contains(days)) {
            let what = format!("retain_days is {days}; a number from 0.00001 to 36500 was needed");
            return Err(Refusal::invalid("retain_days", what));
        }
        if let Some(share) = self.explore.filter(|share| !(0.0..=1.0).contains(share)) {
            let what = format!("explore is {share}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("explore", what));
        }
        if self.aggregation == Aggregation::Sum && self.wait_seconds.is_none() {
            let what = "sums are learnt when the waiting time is over, and there is none";
            return Err(Refusal::invalid("wait_seconds", what));
        }
        Ok(())
    }
}

/// The body of the request that makes a model. Everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// The learner, see `noregret list`. Without it `auto`, or `offers` where a bandit's labels come and go.
    #[schema(example = "auto")]
    pub learner: Option<String>,
    /// What the model hears of its rounds: the label (`full`), or what the label that it played has earned
    /// (`bandit`).
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Feedback>)]
    pub feedback: Feedback,
    /// The labels, where they are known. A bandit without labels takes those that every request offers.
    #[serde(deserialize_with = "names")]
    #[schema(schema_with = label_names, required = false)]
    pub labels: Option<Vec<String>>,
    /// Parameters of the learner by name, and `features` (room for so many columns), `classes`, `radius`,
    /// `horizon`, `seed`, `scale` (none, unit, maxabs, standard), `width` (columns that describe a label on
    /// offer), `floor` (least probability).
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Object>, example = json!({"seed": 1}))]
    pub params: Map<String, Value>,
    /// Another model of the service, of which this is a shadow: it learns from whatever happens to that
    /// model, all of its log first, is asked for forecasts only, and can be promoted into its place.
    /// `feedback`, `labels` and `service` are that model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(null), pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    pub shadow_of: Option<String>,
    /// How answers count.
    #[serde(deserialize_with = "object")]
    #[schema(value_type = Option<Service>)]
    pub service: Service,
}

/// What is null counts as left out.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Labels: texts, or numbers, which are the texts that write them.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let Some(list) = Option::<Vec<Value>>::deserialize(from)? else { return Ok(None) };
    let name = |(at, value)| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => {
            let what = format!("labels[{at}] is {}; a text or a number was needed", shown_value(&other));
            Err(serde::de::Error::custom(what))
        }
    };
    list.into_iter().enumerate().map(name).collect::<Result<_, _>>().map(Some)
}

/// The same for the description.
fn label_names() -> schema::Schema {
    let one = OneOfBuilder::new().item(Object::with_type(Type::String)).item(Object::with_type(Type::Number));
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(one))
        .item(Object::with_type(Type::Null))
        .description(Some("The labels, where they are known. A bandit without labels takes those that every request offers."))
        .examples([json!(["red", "green", "blue"])])
        .build()
        .into()
}

/// An object: a list of values would be read as one without names.
fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Service, D::Error> {
    let map: Map<String, Value> = or_default(from)?;
    serde_json::from_value(Value::Object(map)).map_err(serde::de::Error::custom)
}

/// A model that was just made.
pub(crate) struct Made {
    pub(crate) saved: Saved,
    pub(crate) play: Play,
    pub(crate) seed: u64,
    pub(crate) kind: RowKind,
}

/// What rows are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    /// One column a feature.
    Columns,
    /// A block of so many columns for every label on offer.
    Offers(u32),
}

/// Columns that a bandit has room for unless it is said: its rows keep their width.
const ROOM: usize = 64;
/// Columns that other learners have room for at first.
const FIRST_ROOM: usize = 16;
/// Labels on offer at one time unless it is said.
const OFFERS: usize = 50;
/// Columns that describe a label on offer unless it is said.
const WIDTH: u32 = 4096;

/// The name of a label as the readers of data spell it.
///
/// # Errors
/// If it is empty or no finite number.
pub(crate) fn label_name(field: &str, text: &str) -> Result<String, Refusal> {
    let mut row = Row::new();
    let wrong = || {
        let what = format!("the label {} is empty or no finite number", shown(text));
        Err(Refusal::invalid(field, what))
    };
    if text.trim().is_empty() || text.len() > 256 || !row.set_name(text) {
        return wrong();
    }
    match row.label() {
        RowLabel::Name(name) => Ok(name.to_owned()),
        _ => wrong(),
    }
}

/// Characters of what comes from outside that a sentence shows.
const MOST_SHOWN: usize = 60;

/// A text from outside, in quotes and of bounded length.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A value from outside, as JSON of bounded length.
pub(crate) fn shown_value(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Takes the parameter `name` out of `params`.
fn take<T: serde::de::DeserializeOwned>(
    params: &mut Map<String, Value>,
    name: &str,
    need: &str,
) -> Result<Option<T>, Refusal> {
    let Some(value) = params.remove(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let found = shown_value(&value);
    serde_json::from_value(value).map(Some).map_err(|_| {
        let what = format!("params.{name} is {found}; {need} was needed");
        Refusal::invalid(&format!("params.{name}"), what)
    })
}

impl Spec {
    /// Makes the model.
    ///
    /// # Errors
    /// What of it cannot be.
    pub(crate) fn make(&self, limits: &Limits) -> Result<Made, Refusal> {
        self.service.check()?;
        let labels = self.names(limits)?;
        let bandit = self.feedback == Feedback::Bandit;
        let offers =
            bandit && labels.is_empty() && self.learner.as_deref().is_none_or(|name| name == OFFERING);
        let name = self.learner.as_deref().unwrap_or(if offers { OFFERING } else { "auto" });
        let entry = registry::find(name).map_err(|error| Refusal::invalid("learner", error.to_string()))?;
        if entry.feedback == Kind::Experts {
            let what = format!("{name} follows experts by their losses, which the service does not take");
            return Err(Refusal::invalid("learner", what));
        }
        if (entry.feedback == Kind::Full && bandit) || (entry.feedback == Kind::Bandit && !bandit) {
            let (is, needs) = if bandit { ("bandit", "full") } else { ("full", "bandit") };
            let what = format!("feedback is {is}, and {name} learns from {needs} feedback");
            return Err(Refusal::invalid("feedback", what));
        }
        if bandit && labels.is_empty() && !offers {
            let what = format!("{name} decides among labels that are known beforehand; name them");
            return Err(Refusal::invalid("labels", what));
        }
        let mut params = self.params.clone();
        let whole = "a whole number";
        let seed: u64 = take(&mut params, "seed", whole)?.unwrap_or(0);
        let floor: f64 = take(&mut params, "floor", "a number")?.unwrap_or(0.0);
        let scale: Option<String> = take(&mut params, "scale", "a text")?;
        let radius: Option<f64> = take(&mut params, "radius", "a number")?;
        let horizon: Option<u64> = take(&mut params, "horizon", whole)?;
        let classes: Option<usize> = take(&mut params, "classes", whole)?;
        let features: Option<usize> = take(&mut params, "features", whole)?;
        let real = entry.about.accepts.classes == Classes::Real;
        let (classes, columns, kind, scaling, sparse) = if offers {
            let width: u32 = take(&mut params, "width", whole)?.unwrap_or(WIDTH);
            let classes = classes.unwrap_or(OFFERS);
            if !(16..=1 << 20).contains(&width) || !(2..=limits.labels).contains(&classes) {
                let what = format!(
                    "width is {width} and classes {classes}; from 16 to {} and from 2 to {} were needed",
                    1 << 20,
                    limits.labels
                );
                return Err(Refusal::invalid("params.width", what));
            }
            (classes, classes * width as usize, RowKind::Offers(width), Scaling::None, true)
        } else {
            let least = if real { 1 } else { 2 };
            let classes = if real { 1 } else { classes.unwrap_or(0).max(labels.len()).max(least) };
            let room = if bandit { ROOM } else { FIRST_ROOM };
            let columns = features.unwrap_or(room.min(limits.columns));
            if columns == 0 || columns > limits.columns || classes > limits.labels {
                let what = format!(
                    "features is {columns} and classes {classes}; from 1 to {} and at most {} were needed",
                    limits.columns, limits.labels
                );
                return Err(Refusal::invalid("params.features", what));
            }
            let scaling = match scale.as_deref() {
                None => Scaling::Standard,
                Some(text) => text.parse().map_err(|_| {
                    let what = format!("scale is {}; none, unit, maxabs or standard was needed", shown(text));
                    Refusal::invalid("params.scale", what)
                })?,
            };
            (classes, columns, RowKind::Columns, scaling, false)
        };
        let intercept = !offers;
        let scaled = scaling.radius(columns).map(|radius| radius.hypot(f64::from(u8::from(intercept))));
        let problem = Problem {
            classes,
            features: columns + usize::from(intercept),
            radius: radius.or(scaled.map(|radius| radius * (1.0 + 1e-12)).filter(|radius| *radius > 0.0)),
            horizon,
            sparse,
        };
        let values = values(params)?;
        let wrong = |error: noregret::ParamError| Refusal::invalid("params", error.to_string());
        entry.check_problem(&problem).map_err(wrong)?;
        let bytes = entry.numbers(&values, &problem).map_err(wrong)?.saturating_mul(8);
        if bytes > limits.model_bytes {
            let what = format!(
                "{name} would take {} MiB for {classes} classes and {columns} columns; at most {} MiB are allowed",
                bytes >> 20,
                limits.model_bytes >> 20
            );
            return Err(Refusal::invalid("params", what));
        }
        let learner = if bandit {
            entry.make_bandit(&values, problem, seed).map(AnyModel::Bandit)
        } else {
            entry.make(&values, problem, seed).map(AnyModel::Full)
        };
        let learner = learner.map_err(wrong)?;
        if !(0.0..=1.0 / classes as f64).contains(&floor) {
            let what = format!("floor is {floor}; from 0 to one over the number of labels was needed");
            return Err(Refusal::invalid("params.floor", what));
        }
        let labels: Labels = if offers {
            let positions: Vec<String> = (0..classes).map(|position| position.to_string()).collect();
            positions.iter().map(String::as_str).collect()
        } else {
            labels.iter().map(String::as_str).collect()
        };
        let encoder = Encoder {
            labels,
            classes: if real { 0 } else { classes },
            scaler: Scaler::new(scaling),
            intercept,
            sparse,
            columns,
            accepts: learner.about().accepts,
            votes: false,
            absent: Vec::new(),
            large_row: LargeRow::Warn,
            radius: learner.problem().radius.unwrap_or(f64::INFINITY),
            large_rows: 0,
        };
        let columns = match kind {
            RowKind::Columns => Columns::Named(Names::default()),
            RowKind::Offers(_) => Columns::Numbered { base: 0, count: columns as u32 },
        };
        let schema = Schema { format: Format::Ndjson, columns, label: None, weight: None, csv: None };
        let play = Play { floor, ..Play::new(seed) };
        let generator = bandit.then(|| play.generator.clone());
        let saved = Saved { learner, encoder, schema, generator, facts: RunFacts::default() };
        Ok(Made { saved, play, seed, kind })
    }

    fn names(&self, limits: &Limits) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        for (at, label) in self.labels.iter().flatten().enumerate() {
            let name = label_name(&format!("labels[{at}]"), label)?;
            if names.contains(&name) {
                let what = format!("the label {} appears twice", shown(&name));
                return Err(Refusal::invalid(&format!("labels[{at}]"), what));
            }
            names.push(name);
            if names.len() > limits.labels {
                let what = format!("there are more than {} labels, which is the limit", limits.labels);
                return Err(Refusal::invalid("labels", what));
            }
        }
        if names.len() == 1 && self.feedback == Feedback::Bandit {
            return Err(Refusal::invalid("labels", "one label leaves nothing to decide; two were needed"));
        }
        Ok(names)
    }
}

/// The learner of labels that come and go.
const OFFERING: &str = "offers";

/// Parameters as learners take them.
fn values(params: Map<String, Value>) -> Result<Values, Refusal> {
    let mut values = Values::new();
    for (name, value) in params {
        let field = format!("params.{}", shown(&name).trim_matches('"'));
        let value = match value {
            Value::Null => continue,
            Value::Bool(value) => Param::Bool(value),
            Value::String(text) => Param::from(text.as_str()),
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(whole), _) => Param::Integer(whole),
                (_, Some(float)) => Param::from(float),
                _ => return Err(Refusal::invalid(&field, format!("{number} is no finite number"))),
            },
            other => {
                let what = format!("it is {}; a number, a text or a bool was needed", shown_value(&other));
                return Err(Refusal::invalid(&field, what));
            }
        };
        values.insert(name, value);
    }
    Ok(values)
}
