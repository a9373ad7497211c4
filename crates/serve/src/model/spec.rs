//! The settings of a model: the validated body of the request that makes it, with the service
//! settings.

use std::fmt;

use noregret::algorithm::AnyModel;
use noregret::learner::{Classes, Feedback as Kind};
use noregret::param::{Value as Param, Values};
use noregret::registry::{self, Entry};
use noregret_stream::encode::labels::Labels;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::run::bandit::Play;
use noregret_stream::save::Saved;
use noregret_stream::setup::{Asked, Facts};
use noregret_stream::{Columns, Costs, GivenLabel, Names, Offers, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{self, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, SchemaType, Type};

use super::service::or_default;
use crate::refusal::{Refusal, shown, shown_value};
use crate::safety::limits::Limits;

pub use super::service::{Aggregation, Mode, Service};

/// The feedback of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Feedback {
    /// The label of every row.
    #[default]
    Full,
    /// The reward of the played label.
    Bandit,
}

/// The body of the request that makes a model. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// The learner, see `noregret list`. By default `auto`, or `offers` for bandit models without
    /// fixed labels.
    #[schema(example = "auto")]
    pub learner: Option<String>,
    /// The feedback: the label (`full`), or the reward of the played label (`bandit`).
    #[serde(deserialize_with = "or_default")]
    #[schema(value_type = Option<Feedback>)]
    pub feedback: Feedback,
    /// The labels, if they are fixed. In a bandit model without labels, every request gives the
    /// labels on offer.
    #[serde(deserialize_with = "names")]
    #[schema(schema_with = label_names, required = false)]
    pub labels: Option<Vec<GivenLabel>>,
    /// Those of `labels` that are not on offer: what `POST /v1/models/{name}/labels` has retired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!([]))]
    pub retired: Vec<String>,
    /// Parameters of the learner by name, and `features` (largest number of columns), `classes`,
    /// `radius`, `horizon`, `seed`, `scale` (none, unit, maxabs, standard), `width` (columns that
    /// describe a label on offer), `floor` (least probability).
    #[serde(deserialize_with = "or_default")]
    #[schema(schema_with = parameters, required = false)]
    pub params: Map<String, Value>,
    /// The model that this one shadows: it learns from that model's log and events, only makes
    /// forecasts, and can be promoted. `feedback`, `labels` and `service` are those of that model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(null), pattern = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$")]
    pub shadow_of: Option<String>,
    /// Service settings: waiting time, rewards, exploration, log.
    #[serde(deserialize_with = "object")]
    #[schema(value_type = Option<Service>)]
    pub service: Service,
}

/// Labels: texts, numbers or truth values.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<GivenLabel>>, D::Error> {
    let Some(list) = Option::<Vec<Value>>::deserialize(from)? else { return Ok(None) };
    let name = |(at, value): (usize, Value)| {
        label_of(&format!("labels[{at}]"), &value).map_err(|refusal| serde::de::Error::custom(refusal.detail))
    };
    list.into_iter().enumerate().map(name).collect::<Result<_, _>>().map(Some)
}

/// The label `value` of a request.
/// Fails if it is no label, or a number of which JSON's readers keep the first digits only.
pub(crate) fn label_of(field: &str, value: &Value) -> Result<GivenLabel, Refusal> {
    if value.is_null() || value.is_array() || value.is_object() {
        let found = shown_value(value);
        let what = format!("{field} is {found}; a text, a number or a truth value was needed");
        return Err(Refusal::invalid(field, what));
    }
    GivenLabel::read(value).map_err(|what| Refusal::invalid(field, what))
}

/// A label for the OpenAPI document.
pub(crate) fn label_kinds() -> OneOfBuilder {
    [Type::String, Type::Number, Type::Boolean]
        .into_iter()
        .fold(OneOfBuilder::new(), |schema, kind| schema.item(Object::with_type(kind)))
}

/// The same for the OpenAPI document.
fn label_names() -> schema::Schema {
    OneOfBuilder::new()
        .item(ArrayBuilder::new().items(label_kinds()))
        .item(Object::with_type(Type::Null))
        .description(Some("The labels, where they are known. A bandit without labels takes those that every request offers."))
        .examples([json!(["red", "green", "blue"])])
        .build()
        .into()
}

/// The parameters that every model has, for the OpenAPI document; those of learners are in the catalogue.
fn parameters() -> schema::Schema {
    let whole = |least: f64, example: u64, what: &str| {
        let one = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least));
        one.examples([json!(example)]).description(Some(what))
    };
    let number = |example: f64, what: &str| {
        let one = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0.0));
        one.examples([json!(example)]).description(Some(what))
    };
    let scale = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["none", "unit", "maxabs", "standard"]))
        .examples([json!("standard")])
        .description(Some("Scaling of the columns"));
    let costs = OneOfBuilder::new()
        .item(
            ArrayBuilder::new().items(Object::with_type(Type::Number)).min_items(Some(2)).max_items(Some(2)),
        )
        .item(Object::with_type(Type::String))
        .examples([json!([0, 10])])
        .description(Some("The least and the largest cost in feedback; 0 and 1 by default"));
    let params = ObjectBuilder::new()
        .property("seed", whole(0.0, 1, "Seed of all draws"))
        .property("features", whole(0.0, 50, "Largest number of columns"))
        .property("classes", whole(0.0, 20, "Largest number of labels"))
        .property("width", whole(16.0, 256, "Columns that describe a label on offer"))
        .property("horizon", whole(0.0, 100_000, "Number of rounds, if it is known"))
        .property("radius", number(3.0, "Largest norm of a row"))
        .property("floor", number(0.01, "Least probability of every label"))
        .property("scale", scale)
        .property("costs", costs)
        .additional_properties(Some(ObjectBuilder::new().schema_type(SchemaType::AnyValue)))
        .description(Some("Parameters of the learner by name, see `noregret list LEARNER`, and these."))
        .examples([json!({"seed": 1, "features": 50})]);
    OneOfBuilder::new()
        .item(params)
        .item(Object::with_type(Type::Null))
        .examples([json!({"seed": 1, "features": 50})])
        .build()
        .into()
}

/// Only objects, and null for none: serde would accept lists of values for structs.
fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Service, D::Error> {
    struct OnlyObject;
    impl<'de> Visitor<'de> for OnlyObject {
        type Value = Service;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of service settings")
        }

        fn visit_unit<E>(self) -> Result<Service, E> {
            Ok(Service::default())
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Service, A::Error> {
            Service::deserialize(MapAccessDeserializer::new(map))
        }
    }
    from.deserialize_any(OnlyObject)
}

/// A new model.
pub(crate) struct Made {
    pub(crate) saved: Saved,
    pub(crate) play: Play,
    pub(crate) seed: u64,
    pub(crate) kind: RowKind,
}

/// The form of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    /// One column a feature.
    Columns,
    /// A block of this many columns for every label on offer.
    Offers(u32),
}

/// Default number of columns of a bandit model, whose rows have a fixed width.
const ROOM: usize = 64;
/// Initial number of columns of other models.
const FIRST_ROOM: usize = 16;
/// Default for the largest number of labels on offer.
const OFFERS: usize = Offers::LABELS;
/// Default number of columns for a label on offer.
const WIDTH: u32 = Offers::WIDTH;

/// Checks the text of a label.
/// Fails if it is empty or too long.
pub(crate) fn check_label(field: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::invalid(field, format!("the label {} is empty", shown(text))));
    }
    if text.len() > LONGEST_LABEL {
        let what = format!(
            "the label {} has {} bytes; at most {LONGEST_LABEL} are allowed",
            shown(text),
            text.len()
        );
        return Err(Refusal::invalid(field, what));
    }
    Ok(())
}

/// Largest number of bytes of a label.
const LONGEST_LABEL: usize = 256;

/// What is needed for a number of things, in refusals.
const WHOLE: &str = "a whole number";

/// Removes the parameter `name` from `params`.
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

/// Removes the range of costs from `params`: `[0, 10]`, or `"0..10"` as the command line has it.
fn costs(params: &mut Map<String, Value>) -> Result<Option<Costs>, Refusal> {
    const FIELD: &str = "params.costs";
    let Some(value) = params.remove("costs").filter(|value| !value.is_null()) else { return Ok(None) };
    if let Value::String(text) = &value {
        return text.parse().map(Some).map_err(|what| Refusal::invalid(FIELD, what));
    }
    serde_json::from_value::<[f64; 2]>(value.clone())
        .map_err(|_| format!("{FIELD} is {}; a range as [0, 10] was needed", shown_value(&value)).into())
        .and_then(Costs::try_from)
        .map(Some)
        .map_err(|what| Refusal::invalid(FIELD, what))
}

impl Spec {
    /// Makes the model.
    /// Fails if a setting is invalid.
    pub(crate) fn make(&self, limits: &Limits) -> Result<Made, Refusal> {
        self.service.check()?;
        let labels = self.names(limits)?;
        let entry = self.entry()?;
        self.check_retired(&labels, entry)?;
        let mut params = self.params.clone();
        let seed: u64 = take(&mut params, "seed", WHOLE)?.unwrap_or(0);
        let floor: f64 = take(&mut params, "floor", "a number")?.unwrap_or(0.0);
        let costs = self.range_of_costs(&mut params)?;
        let radius: Option<f64> = take(&mut params, "radius", "a number")?;
        let horizon: Option<u64> = take(&mut params, "horizon", WHOLE)?;
        let (facts, kind) = self.facts(entry, &labels, &mut params, limits)?;
        let classes = facts.classes;
        let asked = Asked {
            params: values(params)?,
            seed,
            feedback: Some(match self.feedback {
                Feedback::Full => Kind::Full,
                Feedback::Bandit => Kind::Bandit,
            }),
            scaling: Some(facts.scaling),
            radius,
            horizon,
            costs: costs.unwrap_or_default(),
            memory: limits.model_bytes,
            ..Asked::default()
        };
        let saved = facts.make(entry, &asked);
        let saved = saved.map_err(|error| Refusal::invalid("params", error.to_string()))?;
        if let AnyModel::Bandit(learner) = &saved.learner
            && !learner.takes_rewards()
        {
            self.check_right_or_wrong(entry.about.name, costs.is_some())?;
        }
        if !(0.0..=1.0 / classes as f64).contains(&floor) {
            let what = format!("floor is {floor}; from 0 to one over the number of labels was needed");
            return Err(Refusal::invalid("params.floor", what));
        }
        let play = Play { floor, ..Play::new(seed) };
        Ok(Made { saved, play, seed, kind })
    }

    /// Removes the range of costs from `params`, if the model may have one.
    fn range_of_costs(&self, params: &mut Map<String, Value>) -> Result<Option<Costs>, Refusal> {
        let found = costs(params)?;
        let sums = self.service.aggregation == Aggregation::Sum;
        let what = match self.feedback {
            Feedback::Full => "costs need bandit feedback",
            Feedback::Bandit if sums => "costs do not add up as rewards (aggregation sum)",
            Feedback::Bandit => return Ok(found),
        };
        found.map_or(Ok(None), |_| Err(Refusal::invalid("params.costs", what)))
    }

    /// Whether labels on offer come with every request.
    fn takes_offers(&self) -> bool {
        self.feedback == Feedback::Bandit && self.labels.iter().flatten().next().is_none()
    }

    /// The facts about the rows of a model with these `labels`, with what of `params` is about them, which is
    /// removed.
    fn facts(
        &self,
        entry: &Entry,
        labels: &[GivenLabel],
        params: &mut Map<String, Value>,
        limits: &Limits,
    ) -> Result<(Facts, RowKind), Refusal> {
        let scale: Option<String> = take(params, "scale", "a text")?;
        let classes: Option<usize> = take(params, "classes", WHOLE)?;
        let features: Option<usize> = take(params, "features", WHOLE)?;
        if self.takes_offers() {
            let width: u32 = take(params, "width", WHOLE)?.unwrap_or(WIDTH);
            let facts = of_blocks(scale.as_deref(), classes, width, limits)?;
            return Ok((facts, RowKind::Offers(width)));
        }
        let least = classes.unwrap_or(0).max(labels.len()).max(2);
        let classes = if entry.about.accepts.classes == Classes::Real { 1 } else { least };
        let room = if self.feedback == Feedback::Bandit { ROOM } else { FIRST_ROOM };
        let columns = features.unwrap_or(room.min(limits.columns));
        let facts = of_columns(scale.as_deref(), classes, columns, labels, limits)?;
        Ok((facts, RowKind::Columns))
    }

    /// Refuses costs, and a default reward other than 0 and 1, for a `learner` that learns from right and
    /// wrong only.
    fn check_right_or_wrong(&self, learner: &str, has_costs: bool) -> Result<(), Refusal> {
        let learns = format!(
            "{learner} learns from right and wrong only; such as auto and squarecb learn from rewards"
        );
        if has_costs {
            return Err(Refusal::invalid("params.costs", learns));
        }
        if self.service.default_reward.is_some_and(|reward| reward != 0.0 && reward != 1.0) {
            return Err(Refusal::invalid("service.default_reward", learns));
        }
        Ok(())
    }

    /// The learner, if it learns from the feedback, and from labels that come with every request where they
    /// do.
    fn entry(&self) -> Result<&'static Entry, Refusal> {
        let (bandit, offers) = (self.feedback == Feedback::Bandit, self.takes_offers());
        let entry = match self.learner.as_deref() {
            None if offers => Ok(registry::of_offers()),
            name => registry::find(name.unwrap_or(registry::DEFAULT)),
        };
        let entry = entry.map_err(|error| Refusal::invalid("learner", error.to_string()))?;
        let name = entry.about.name;
        if entry.feedback == Kind::Experts {
            let what = format!("{name} learns from experts' losses, which the service does not support");
            return Err(Refusal::invalid("learner", what));
        }
        if (entry.feedback == Kind::Full && bandit) || (entry.feedback == Kind::Bandit && !bandit) {
            let (is, needs) = if bandit { ("bandit", "full") } else { ("full", "bandit") };
            let what = format!("feedback is {is}, and {name} learns from {needs} feedback");
            return Err(Refusal::invalid("feedback", what));
        }
        if offers && !entry.takes_blocks() {
            return Err(Refusal::invalid("labels", format!("{name} needs fixed labels")));
        }
        Ok(entry)
    }

    /// Whether the labels on offer are those of `other`, however they were given.
    pub(crate) fn has_labels_of(&self, other: &Self) -> bool {
        self.texts() == other.texts()
    }

    /// The texts of the labels on offer.
    pub(crate) fn texts(&self) -> Option<Vec<&str>> {
        let texts = self.labels.as_ref()?.iter().map(|label| &*label.text);
        Some(texts.filter(|text| !self.retired.iter().any(|retired| retired == text)).collect())
    }

    fn check_retired(&self, labels: &[GivenLabel], entry: &Entry) -> Result<(), Refusal> {
        for (at, name) in self.retired.iter().enumerate() {
            if !labels.iter().any(|label| label.text == *name) {
                let what = format!("the label {} is none of the model's", shown(name));
                return Err(Refusal::invalid(&format!("retired[{at}]"), what));
            }
        }
        let left = labels.iter().any(|label| !self.retired.contains(&label.text));
        let may_retire = left && self.feedback == Feedback::Bandit && entry.decides_among();
        if !self.retired.is_empty() && !may_retire {
            let what = format!(
                "labels are retired in models of decisions with one label left on offer, of a learner that decides among some of its labels; {} does {}",
                entry.about.name,
                if entry.decides_among() { "so" } else { "not" }
            );
            return Err(Refusal::invalid("retired", what));
        }
        Ok(())
    }

    /// Refuses labels of a new model that differ by their types or the blanks around them alone. Models that
    /// were made before keep theirs.
    /// Fails if there are such labels.
    pub(crate) fn check_labels(&self) -> Result<(), Refusal> {
        let given = self.labels.iter().flatten().map(|label| (&*label.text, label.of));
        let clash = Labels::first_clash(given);
        clash.map_or(Ok(()), |(at, why)| Err(Refusal::invalid(&format!("labels[{at}]"), why)))
    }

    fn names(&self, limits: &Limits) -> Result<Vec<GivenLabel>, Refusal> {
        let mut names: Vec<GivenLabel> = Vec::new();
        for (at, label) in self.labels.iter().flatten().enumerate() {
            check_label(&format!("labels[{at}]"), &label.text)?;
            if names.iter().any(|known| known.text == label.text) {
                let what = format!("the label {} appears twice", shown(&label.text));
                return Err(Refusal::invalid(&format!("labels[{at}]"), what));
            }
            names.push(label.clone());
            if names.len() > limits.labels {
                let what =
                    format!("there are more than {} labels, which is the limit (--labels)", limits.labels);
                return Err(Refusal::invalid("labels", what));
            }
        }
        if names.len() == 1 && self.feedback == Feedback::Bandit {
            return Err(Refusal::invalid("labels", "there is one label; at least two were needed"));
        }
        Ok(names)
    }
}

/// The facts about labels on offer with features of their own, in blocks of `width` columns.
fn of_blocks(
    scale: Option<&str>,
    classes: Option<usize>,
    width: u32,
    limits: &Limits,
) -> Result<Facts, Refusal> {
    let classes = classes.unwrap_or(OFFERS);
    if !(16..=1 << 20).contains(&width) || !(2..=limits.labels).contains(&classes) {
        let what = format!(
            "width is {width} and classes {classes}; from 16 to {} and from 2 to {} were needed",
            1 << 20,
            limits.labels
        );
        return Err(Refusal::invalid("params.width", what));
    }
    let scaling = match scale {
        None | Some("mixed") => Scaling::Mixed,
        Some("none") => Scaling::None,
        Some(text) => {
            let what = format!(
                "scale is {}; mixed or none was needed for labels on offer with features of their own",
                shown(text)
            );
            return Err(Refusal::invalid("params.scale", what));
        }
    };
    Ok(Facts { scaling, ..Facts::of_blocks(classes, width) })
}

/// The facts about rows whose columns have names, with fixed labels.
fn of_columns(
    scale: Option<&str>,
    classes: usize,
    columns: usize,
    labels: &[GivenLabel],
    limits: &Limits,
) -> Result<Facts, Refusal> {
    if columns == 0 || columns > limits.columns || classes > limits.labels {
        let what = format!(
            "features is {columns} and classes {classes}; from 1 to {} and at most {} were needed",
            limits.columns, limits.labels
        );
        return Err(Refusal::invalid("params.features", what));
    }
    let scaling = match scale {
        None => Scaling::Standard,
        Some(text) => text.parse().map_err(|_| {
            let what = format!("scale is {}; none, unit, maxabs or standard was needed", shown(text));
            Refusal::invalid("params.scale", what)
        })?,
    };
    let labels = labels.iter().map(|label| (&*label.text, label.of)).collect();
    let arrays = Facts::of_arrays(classes, columns);
    let schema = Schema { columns: Columns::Named(Names::default()), ..arrays.schema };
    Ok(Facts { labels, scaling, intercept: true, schema, ..arrays })
}

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
                _ => return Err(Refusal::invalid(&field, format!("{number} is not a finite number"))),
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
