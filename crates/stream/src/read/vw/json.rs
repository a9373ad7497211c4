//! Vowpal Wabbit's JSON (`--json`), and the logs of its decision service and of Personalizer (`--dsjson`).
//!
//! ```text
//! {"_label": 1, "user": {"age": 31}}
//! {"_labelIndex": 1, "_label_cost": -1, "_label_probability": 0.5, "user": {"age": 31}, "_multi": […]}
//! {"_label_cost": -1, "_label_probability": 0.5, "_labelIndex": 1, "a": [2, 1], "p": [0.5, 0.5], "c": {…}}
//! ```
//!
//! - Objects are features by path; keys that begin with `_` are none, but for the words of `_text`. Keys may
//!   be repeated. Objects in a list belong to what the list belongs to.
//! - `_multi` has the actions, with features of their own: see [`offer`](crate::read::offer). A `_tag` is an
//!   action's name.
//! - `_label_cost` is the cost of the action `_labelIndex` (from 0; or `_label_Action`, from 1), which was
//!   played with `_label_probability`; without a cost, it is the one number in `o`, a reward. An
//!   `_original_label_cost` that differs is counted. `a` and `p` are all actions (from 1) with their
//!   probabilities.
//! - A row that says `_skipLearn`, or whose deferred action (`DeferredAction`) was never taken, is left out
//!   and counted, as by Vowpal Wabbit.
//! - `pdrop` is the share of such rows that were dropped: only if it differs from that of the first row, the
//!   row has a weight, $(1 - d_1)/(1 - d)$.

use serde_json::{Map, Value};

use super::kind;
use super::node::{Node, features};
use super::parse_head;
use crate::read::columns::ColumnMap;
use crate::read::columns::Columns;
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::format::Format;
use crate::read::label::written;
use crate::read::ndjson::offers::{offers_described, room};
use crate::read::offer::Round;
use crate::read::options::{Offers, ReadOptions, Schema, Speech};
use crate::read::reader::{LineParser, LineReader, Parsed, Reader};
use crate::read::row::{Duplicates, FeatureFault, Row};
use crate::read::source::{Line, Source};
use crate::words::counted;

/// Whether an object is a row of Vowpal Wabbit's.
pub(crate) fn is_row(object: &Map<String, Value>) -> bool {
    let own = |object: &Map<String, Value>| object.contains_key("_multi") || object.contains_key("_slots");
    let inside = object.get("c").and_then(Value::as_object).is_some_and(own);
    let label = |key: &String| key.starts_with("_label") || key == "_outcomes" || key == "_skipLearn";
    own(object) || inside || object.keys().any(label)
}

/// Reads rows of which `rows` are the first.
pub(crate) fn reader(
    source: Source,
    options: &ReadOptions,
    rows: &[Map<String, Value>],
) -> Result<Box<dyn Reader>, ReadError> {
    let has_actions = |row: &Map<String, Value>| {
        row.contains_key("_multi") || row.get("c").is_some_and(|context| context.get("_multi").is_some())
    };
    let width = match &options.schema {
        Some(schema) => schema.block(),
        None => options.offers.filter(|_| rows.iter().any(has_actions)),
    };
    if width.is_some() && options.hash_bits.is_some() {
        let what = "has actions with features of their own, which are hashed into blocks of columns already";
        return Err(source.file_error(what));
    }
    let speech = if width.is_some() { Speech::Numbers(0) } else { Speech::Names };
    let columns = options.columns(speech).map_err(|kind| ReadError::new(source.name(), 0, kind))?;
    let columns = ColumnMap::new(columns, options.most_columns());
    Ok(LineReader::boxed(
        source,
        columns,
        Json { width, round: Round::new(options.describes), ..Json::default() },
    ))
}

/// Parses rows.
#[derive(Default)]
struct Json {
    /// Columns of the block of an action; `None` for rows without actions.
    width: Option<u32>,
    round: Round,
    /// Rows left out, and rows with another original cost.
    skipped: u64,
    other_cost: u64,
    /// The share of dropped rows in the first row that states it.
    dropped: Option<f64>,
}

/// What was played and earned.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    /// From 0.
    action: Option<usize>,
    cost: Option<f64>,
    probability: Option<f64>,
}

impl Played {
    /// The parts of a label in an object: under `_label_cost` and so on, or in the object `_label`.
    fn of(object: &Node) -> Result<Self, String> {
        let inner = object.get("_label").filter(|label| matches!(label, Node::Object(_)));
        let number = |name: &str| {
            let direct = object.number(&format!("_label_{name}"))?;
            Ok::<_, String>(direct.or(inner.map(|label| label.number(name)).transpose()?.flatten()))
        };
        let from_one = |action: f64| if action >= 1.0 { action as usize - 1 } else { 0 };
        let action = match object.number("_labelIndex")? {
            Some(index) => Some(index.max(0.0) as usize),
            None => number("action")?.map(from_one),
        };
        Ok(Self { action, cost: number("cost")?, probability: number("probability")? })
    }

    fn check(self) -> Result<Self, String> {
        match self.probability {
            Some(p) if !(0.0..=1.0).contains(&p) => {
                Err(format!("the probability of the label is {p}; a number between 0 and 1 was needed"))
            }
            _ => Ok(self),
        }
    }
}

impl Json {
    /// Fills the row. Returns false if the row says that it is to be left out.
    fn object(&mut self, object: &Node, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, String> {
        let logged = object.get("c").filter(|context| matches!(context, Node::Object(_)));
        let context = logged.unwrap_or(object);
        if object.get("_label_ca").is_some() || object.get("pdf").is_some() {
            return Err(kind::CONTINUOUS.to_owned());
        }
        if object.get("_outcomes").is_some() || context.get("_slots").is_some() {
            return Err(kind::several_slots("ccb, slates"));
        }
        let outcomes = object.get("o").filter(|_| logged.is_some()).map_or(&[][..], Node::list);
        let is = |node: &Node, key: &str| matches!(node.get(key), Some(Node::Bool(true)));
        let taken = outcomes.iter().any(|outcome| is(outcome, "ActionTaken"));
        if is(object, "_skipLearn") || (is(object, "DeferredAction") && !taken) {
            self.skipped += 1;
            return Ok(false);
        }
        let mut played = Played::of(object)?.check()?;
        if played.cost.is_none() {
            played.cost = earned(outcomes)?.map(|reward| 0.0 - reward);
        } else if let Some(original) = object.number("_original_label_cost")? {
            self.other_cost += u64::from(Some(original) != played.cost);
        }
        // Beside a cost, other outcomes are objects that say more about it.
        let is_grounded = |outcome: &Node| {
            let object = matches!(outcome.get("v"), Some(Node::Object(_)));
            object && (played.cost.is_none() || outcome.get("_definitely_bad").is_some())
        };
        if outcomes.iter().any(is_grounded) {
            return Err("has an outcome that is no reward but an object (interaction-grounded learning), which is not \
                        read: a number was needed"
                .to_owned());
        }
        if let Some(dropped) = object.number("pdrop")? {
            if !(0.0..1.0).contains(&dropped) {
                return Err(format!("\"pdrop\" is {dropped}; a number from 0 and below 1 was needed"));
            }
            row.weight = (1.0 - *self.dropped.get_or_insert(dropped)) / (1.0 - dropped);
        }
        row.tag = object.text("EventId").or(object.text("_tag")).unwrap_or_default();
        match (context.get("_multi"), self.width) {
            (Some(actions), Some(width)) => {
                self.actions(context, actions.list(), width, row)?;
                room(actions.list().len(), width, columns).map_err(|kind| kind.to_string())?;
                label_actions(object, actions.list(), played, row)?;
            }
            (Some(_), None) => {
                return Err("has actions with features of their own (_multi), which learners of bandit feedback learn from"
                    .to_owned());
            }
            (None, Some(_)) => {
                return Err("has no actions (_multi), which the rows before it have".to_owned());
            }
            (None, None) => {
                label(object, played, row)?;
                let mut described = Vec::new();
                features(context, &mut String::new(), &mut described)?;
                for (name, value) in described {
                    if let Some(column) = columns.by_name(&name) {
                        row.push(column, value);
                    }
                }
                row.finish(Duplicates::Sum).map_err(|fault| {
                    let (FeatureFault::Duplicate(column) | FeatureFault::Overflow(column)) = fault;
                    format!(
                        "the values of feature {} sum to infinity",
                        shown(&*columns.columns().name(column))
                    )
                })?;
            }
        }
        Ok(true)
    }

    /// Writes the blocks of the actions.
    fn actions(&mut self, context: &Node, actions: &[Node], width: u32, row: &mut Row) -> Result<(), String> {
        self.round.clear();
        features(context, &mut String::new(), &mut self.round.context)?;
        for action in actions {
            let mut described = Vec::new();
            features(action, &mut String::new(), &mut described)?;
            // An action that is listed twice is known by its features the second time.
            let tag = action.text("_tag").filter(|tag| self.round.position(tag).is_none());
            self.round.offer(&tag.unwrap_or_default(), described)?;
        }
        self.round.fill(width, row)
    }
}

/// The reward in the outcomes of a row; `None` without one.
fn earned(outcomes: &[Node]) -> Result<Option<f64>, String> {
    let mut rewards = outcomes.iter().filter_map(|outcome| match outcome.get("v") {
        Some(Node::Number(reward)) => Some(*reward),
        _ => None,
    });
    match (rewards.next(), rewards.next()) {
        (Some(_), Some(_)) => {
            Err("has several rewards in \"o\" and no \"_label_cost\", which is their sum or one of them"
                .to_owned())
        }
        (reward, _) => Ok(reward),
    }
}

/// Labels a row with the costs and probabilities of its actions.
fn label_actions(object: &Node, actions: &[Node], played: Played, row: &mut Row) -> Result<(), String> {
    let count = actions.len();
    let mut all = vec![Played::default(); count];
    for (own, action) in all.iter_mut().zip(actions) {
        *own = Played::of(action)?.check()?;
        if let Some(Node::Text(text)) = action.get("_label") {
            let mut head = Row::new();
            parse_head(text, &mut head).map_err(|kind| kind.to_string())?;
            if let crate::read::row::RowLabel::Costs([one]) = head.label() {
                (own.cost, own.probability) = (one.cost, one.probability);
            }
        }
    }
    let (ranked, probabilities) = (object.numbers("a"), object.numbers("p"));
    let first = if ranked.contains(&0.0) { 0.0 } else { 1.0 };
    let place = |action: f64| Some((action - first) as usize).filter(|at| action >= first && *at < count);
    let places: Option<Vec<usize>> = ranked.iter().map(|action| place(*action)).collect();
    let at = played.action.or(places.as_ref().and_then(|places| places.first().copied()));
    let fits = |p: &f64| (0.0..=1.0).contains(p);
    if let Some(places) = places.filter(|all| all.len() == count && probabilities.len() == count)
        && probabilities.iter().all(fits)
    {
        for (place, p) in places.into_iter().zip(probabilities) {
            all[place].probability.get_or_insert(p);
        }
    }
    if let (Some(cost), Some(at)) = (played.cost, at) {
        let own = all
            .get_mut(at)
            .ok_or_else(|| format!("the action {at} (from 0) was played; there are {count}"))?;
        own.cost = Some(cost);
        own.probability = played.probability.or(own.probability);
    }
    if all.iter().any(|one| one.cost.is_some()) {
        for (at, one) in all.iter().enumerate() {
            if one.cost.is_some() || one.probability.is_some() {
                row.push_cost(&at.to_string(), one.cost, one.probability);
            }
        }
    }
    Ok(())
}

/// Labels a row without actions: with a class, or the action that was played.
fn label(object: &Node, played: Played, row: &mut Row) -> Result<(), String> {
    if let (Some(action), Some(cost)) = (played.action, played.cost) {
        row.push_cost(&(action + 1).to_string(), Some(cost), played.probability);
        return Ok(());
    }
    match object.get("_label") {
        None | Some(Node::Null) => Ok(()),
        Some(Node::Number(number)) => {
            row.set_name(&written(*number));
            Ok(())
        }
        Some(Node::Text(text)) => parse_head(text, row).map_err(|kind| kind.to_string()),
        Some(label @ Node::Object(_)) => {
            if let Some(weight) = label.number("weight")? {
                match weight >= 0.0 {
                    true => row.weight = weight,
                    false => return Err(format!("the weight is {weight}; at least 0 was needed")),
                }
            }
            if let Some(number) = label.number("label")? {
                row.set_name(&written(number));
            }
            Ok(())
        }
        Some(_) => Err("the \"_label\" is neither a number, a text nor an object".to_owned()),
    }
}

impl LineParser for Json {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        let object: Node = serde_json::from_str(line).map_err(|error| {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
            ReadErrorKind::Row(format!("is not a JSON object: {what} at character {}", error.column()))
        })?;
        self.object(&object, row, columns).map_err(ReadErrorKind::Row)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let offers = self.width.map(Offers::Blocks);
        Schema { offers, ..Schema::plain(Format::Ndjson, columns) }
    }

    fn describe(&self, _: &Columns) -> Vec<(&'static str, String)> {
        let mut described = vec![("rows", "Vowpal Wabbit's JSON".to_owned())];
        described.extend(self.width.map(|width| ("offers", offers_described(width))));
        described
    }

    fn odd_cells(&self) -> Vec<String> {
        let skipped = (self.skipped > 0).then(|| {
            let rows = counted(self.skipped, "row");
            format!(
                "left out {rows} not to be learnt from (_skipLearn, or a deferred action that was not taken)"
            )
        });
        let other = (self.other_cost > 0).then(|| {
            let rows = counted(self.other_cost, "row");
            format!("{rows} with an _original_label_cost other than _label_cost; the latter is used")
        });
        skipped.into_iter().chain(other).collect()
    }
}
