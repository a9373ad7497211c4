//! Vowpal Wabbit's JSON (`--json`), and the logs of its decision service and of Personalizer (`--dsjson`).
//!
//! ```text
//! {"_label": 1, "user": {"age": 31}}
//! {"_labelIndex": 1, "_label_cost": -1, "_label_probability": 0.5, "user": {"age": 31}, "_multi": […]}
//! {"_label_cost": -1, "_label_probability": 0.5, "_labelIndex": 1, "a": [2, 1], "p": [0.5, 0.5], "c": {…}}
//! ```
//!
//! - Objects are features by path; keys that begin with `_` are none, but for the words of `_text`. Keys may
//!   be repeated. Objects in a list belong to what the list belongs to. Null is a missing number; a text is a
//!   category, or a time with the features of one in a table.
//! - `_multi` has the actions, with features of their own: see [`offer`](crate::read::offer). A `_tag` is an
//!   action's name.
//! - `_label_cost` is the cost of the action `_labelIndex` (from 0; or `_label_Action`, from 1), which was
//!   played with `_label_probability`; without a cost, it is the one number in `o`, a reward. An
//!   `_original_label_cost` that differs is counted. Beside `c`, `a` and `p` are all actions (from 1) with
//!   their probabilities; in a row without `_multi` these are on offer, called by their numbers from 1.
//! - A row that says `_skipLearn`, or whose deferred action (`DeferredAction`) was never taken, is left out
//!   and counted, as by Vowpal Wabbit; so is a reward or an activation that is not joined with its round.
//! - `_slots` has the slots of a round with several decisions ([`slots`]): `_inc` is what a slot allows. What
//!   it has chosen is in the slot or in the same place of `_outcomes`: the actions `_a` (from 0) with the
//!   probabilities `_p`, the chosen one first, and its `_label_cost` or the one reward in `_o`.
//! - `pdrop` is the share of such rows that were dropped, 0 if it is absent: only if it differs from that of
//!   the first row, the row has a weight, $(1 - d_1)/(1 - d)$.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::node::{Node, features};
use super::parse_head;
use super::slots::{self, Slot};
use super::{actions, kind};
use crate::fault::{Fault, fault};
use crate::read::columns::ColumnMap;
use crate::read::columns::Columns;
use crate::read::error::{ReadError, ReadErrorKind, json_fault, shown};
use crate::read::format::Format;
use crate::read::label::written;
use crate::read::ndjson::offers::{offers_described, room};
use crate::read::offer::Round;
use crate::read::options::{Offers, ReadOptions, Schema, Speech};
use crate::read::reader::{LineParser, LineReader, Parsed, Reader};
use crate::read::remark::Remark;
use crate::read::round::Described;
use crate::read::row::{Duplicates, FeatureFault, Row, RowLabel};
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
    let columns = options.map(columns);
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
    /// Rows of the last round that are still to be returned.
    ready: VecDeque<Row>,
    /// Rows left out, rows with another original cost, and with two different actions.
    skipped: u64,
    /// Rewards and activations by themselves.
    alone: u64,
    /// Rounds with equal actions.
    bare: u64,
    other_cost: u64,
    other_action: u64,
    /// The share of dropped rows in the first row.
    dropped: Option<f64>,
}

/// What was played and earned.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    /// From 0.
    action: Option<usize>,
    /// Whether `_label_Action` is another one than `_labelIndex`.
    clash: bool,
    cost: Option<f64>,
    probability: Option<f64>,
}

impl Played {
    /// The parts of a label in an object: under `_label_cost` and so on, or in the object `_label`.
    fn of(object: &Node) -> Result<Self, Fault> {
        let inner = object.get("_label").filter(|label| matches!(label, Node::Object(_)));
        let number = |name: &str| {
            let direct = object.number(&format!("_label_{name}"))?;
            Ok::<_, Fault>(direct.or(inner.map(|label| label.number(name)).transpose()?.flatten()))
        };
        let index = object.number("_labelIndex")?.map(|index| whole("_labelIndex", index)).transpose()?;
        let from_one = number("action")?.map(|action| whole("the label's action", action)).transpose()?;
        let from_one = from_one.map(|action| action.saturating_sub(1));
        let clash = index.zip(from_one).is_some_and(|(index, other)| index != other);
        let action = index.or(from_one);
        Ok(Self { action, clash, cost: number("cost")?, probability: number("probability")? })
    }

    fn check(self) -> Result<Self, Fault> {
        match self.probability {
            Some(p) if !(0.0..=1.0).contains(&p) => {
                Err(fault!("the probability of the label is {p}; a number between 0 and 1 was needed"))
            }
            _ => Ok(self),
        }
    }
}

impl Json {
    /// Fills the row. Returns false if the row says that it is to be left out.
    fn object(&mut self, object: &Node, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, Fault> {
        let logged = object.get("c").filter(|context| matches!(context, Node::Object(_)));
        let context = logged.unwrap_or(object);
        let slots = context.get("_slots").map(Node::list);
        check_kind(object, context, slots.is_some())?;
        let outcomes = object.get("o").filter(|_| logged.is_some()).map_or(&[][..], Node::list);
        if is_left_out(object, outcomes) {
            self.skipped += 1;
            return Ok(false);
        }
        let played = self.played(object, outcomes)?;
        // Without `c`, these are names of features.
        let ranked = if logged.is_some() { ranked(object)? } else { vec![] };
        let dropped = logged.map_or(Ok(None), |_| object.number("pdrop"))?.unwrap_or(0.0);
        if !(0.0..1.0).contains(&dropped) {
            return Err(fault!("\"pdrop\" is {dropped}; a number from 0 and below 1 was needed"));
        }
        row.weight = (1.0 - *self.dropped.get_or_insert(dropped)) / (1.0 - dropped);
        row.tag = object.text("EventId").or(object.text("_tag")).unwrap_or_default();
        match (context.get("_multi"), self.width) {
            (Some(actions), Some(width)) => {
                if !matches!(actions, Node::List(_)) {
                    return Err("has no list of actions under \"_multi\"".into());
                }
                self.describe_actions(context, actions.list())?;
                if let Some(slots) = slots {
                    return self.decisions(object, slots, width, row, columns);
                }
                self.round.fill(width, row)?;
                room(actions.list().len(), width, columns).map_err(|kind| kind.to_string())?;
                label_actions(&ranked, actions.list(), played, row)?;
            }
            (Some(_), None) => {
                return Err(
                    "has actions with features of their own (_multi): --feedback bandit learns from them"
                        .into(),
                );
            }
            (None, Some(_)) if logged.is_none() && is_alone(object) => {
                self.alone += 1;
                return Ok(false);
            }
            (None, Some(_)) => {
                return Err("has no actions (_multi), which the rows before it have".into());
            }
            (None, None) => {
                label(object, &ranked, played, row)?;
                describe(context, row, columns)?;
            }
        }
        Ok(true)
    }

    /// What was played, and what it cost by the label or by `outcomes`.
    fn played(&mut self, object: &Node, outcomes: &[Node]) -> Result<Played, Fault> {
        let mut played = Played::of(object)?.check()?;
        self.other_action += u64::from(played.clash);
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
                .into());
        }
        Ok(played)
    }

    /// Makes a row for each of the `slots`, the first of them `row`; returns whether there is one.
    fn decisions(
        &mut self,
        object: &Node,
        slots: &[Node],
        width: u32,
        row: &mut Row,
        columns: &mut ColumnMap,
    ) -> Result<bool, Fault> {
        let found = self.slots(slots, object.get("_outcomes").map_or(&[][..], Node::list))?;
        let mut made = slots::rows(&self.round, &found, width, columns)?;
        for next in &mut made {
            (next.weight, next.line) = (row.weight, row.line);
            next.tag.clone_from(&row.tag);
        }
        self.ready = made;
        Ok(self.more(row))
    }

    /// The slots of a round, with what they have chosen.
    fn slots(&mut self, slots: &[Node], outcomes: &[Node]) -> Result<Vec<Slot>, Fault> {
        if outcomes.len() > slots.len() {
            return Err(fault!(
                "has {} and {}",
                counted(outcomes.len() as u64, "outcome"),
                counted(slots.len() as u64, "slot")
            ));
        }
        let mut found = Vec::with_capacity(slots.len());
        for (at, node) in slots.iter().enumerate() {
            let outcome = outcomes.get(at);
            let ids = outcome.map(|outcome| (node.get("_id"), outcome.get("_id")));
            if let Some((Some(own), Some(other))) = ids
                && own != other
            {
                return Err(fault!("slot {at} (from 0) has another _id than the outcome in its place"));
            }
            let slot =
                slot(node, outcome.unwrap_or(node)).map_err(|what| format!("slot {at} (from 0): {what}"))?;
            let original =
                outcome.map(|outcome| outcome.number("_original_label_cost")).transpose()?.flatten();
            self.other_cost += u64::from(original.is_some() && original != slot.cost);
            found.push(slot);
        }
        Ok(found)
    }

    /// Reads the features of a round and of its actions.
    fn describe_actions(&mut self, context: &Node, actions: &[Node]) -> Result<(), Fault> {
        self.round.clear();
        self.round.context = numbers(context, "")?;
        for action in actions {
            let described = numbers(action, "")?;
            // An action that is listed twice is known by its features the second time.
            let tag = action.text("_tag").filter(|tag| self.round.position(tag).is_none());
            self.round.offer(&tag.unwrap_or_default(), described)?;
        }
        self.bare += u64::from(self.round.has_bare());
        Ok(())
    }
}

/// Refuses what no learner here learns from: continuous actions, slates, outcomes without slots.
fn check_kind(object: &Node, context: &Node, has_slots: bool) -> Result<(), Fault> {
    if object.get("_label_ca").is_some() || object.get("pdf").is_some() {
        return Err(kind::CONTINUOUS.into());
    }
    if !has_slots && object.get("_outcomes").is_some() {
        return Err("has the outcomes of slots, and no slots (_slots)".into());
    }
    let of_slate = |action: &Node| action.get("_slot_id").is_some();
    let has_slates = context.get("_multi").is_some_and(|actions| actions.list().iter().any(of_slate));
    if has_slots && (has_slates || object.get("_label_cost").is_some()) {
        return Err(kind::SLATES.into());
    }
    Ok(())
}

/// Whether the row says that it is not to be learnt from.
fn is_left_out(object: &Node, outcomes: &[Node]) -> bool {
    let is = |node: &Node, key: &str| matches!(node.get(key), Some(Node::Bool(true)));
    let taken = outcomes.iter().any(|outcome| is(outcome, "ActionTaken"));
    is(object, "_skipLearn") || (is(object, "DeferredAction") && !taken)
}

/// Whether the row is a reward, or says that an action was taken, and is not joined with its round.
fn is_alone(object: &Node) -> bool {
    ["RewardValue", "ActionTaken"].iter().any(|key| object.get(key).is_some())
}

/// The number of an action, `name` in messages.
fn whole(name: &str, number: f64) -> Result<usize, Fault> {
    let action = number as usize;
    match action as f64 == number {
        true => Ok(action),
        false => Err(fault!("{name} is {number}, which is not the number of an action")),
    }
}

/// Fills a row without actions with the features of `context`.
fn describe(context: &Node, row: &mut Row, columns: &mut ColumnMap) -> Result<(), Fault> {
    let mut described = Vec::new();
    features(context, &mut String::new(), &mut described)?;
    for (name, value) in described {
        if value.is_nan() {
            columns.columns().miss(&name, row);
        } else if let Some(column) = columns.by_name(&name) {
            row.push(column, value);
        }
    }
    row.finish(Duplicates::Sum).map_err(|fault| {
        let (FeatureFault::Duplicate(column) | FeatureFault::Overflow(column)) = fault;
        format!("the values of feature {} sum to infinity", shown(&*columns.columns().name(column)))
    })?;
    Ok(())
}

/// The features of `node`, which is called `path`, for hashed columns, in which a missing number is 0.
fn numbers(node: &Node, path: &str) -> Result<Described, Fault> {
    let mut described = Vec::new();
    features(node, &mut path.to_owned(), &mut described)?;
    described.retain(|(_, value)| !value.is_nan());
    Ok(described)
}

/// A slot, whose choice is in `outcome`.
fn slot(node: &Node, outcome: &Node) -> Result<Slot, Fault> {
    let described = numbers(node, slots::PREFIX)?;
    let place = |number: f64| whole("an action (from 0)", number);
    let places = |numbers: Vec<f64>| numbers.into_iter().map(place).collect::<Result<Vec<usize>, Fault>>();
    let (actions, probabilities) =
        (places(outcome.number_or_numbers("_a"))?, outcome.number_or_numbers("_p"));
    if !probabilities.is_empty() && probabilities.len() != actions.len() {
        return Err(fault!(
            "_a has {}, and _p {}",
            counted(actions.len() as u64, "number"),
            probabilities.len()
        ));
    }
    let likely = !probabilities.is_empty();
    let given = probabilities.into_iter().map(Some).chain(std::iter::repeat(None));
    let cost = match outcome.number("_label_cost")? {
        Some(cost) => Some(cost),
        None => earned(outcome.get("_o").map_or(&[][..], Node::list))?.map(|reward| 0.0 - reward),
    };
    if cost.is_some() && actions.is_empty() {
        return Err("has a cost, and no action (_a) that was chosen".into());
    }
    if cost.is_some() && !likely {
        return Err("has a cost, and no probability (_p) with which the action was chosen".into());
    }
    let slot = Slot {
        features: described,
        cost,
        choices: actions.into_iter().zip(given).collect(),
        allowed: places(node.number_or_numbers("_inc"))?,
        ..Slot::default()
    };
    slot.check()
}

/// The reward in the outcomes of a row; `None` without one.
fn earned(outcomes: &[Node]) -> Result<Option<f64>, Fault> {
    let mut rewards = outcomes.iter().filter_map(|outcome| match outcome.get("v") {
        Some(Node::Number(reward)) => Some(*reward),
        _ => None,
    });
    if outcomes.iter().any(|outcome| matches!(outcome.get("v"), Some(Node::Text(_) | Node::Bool(_)))) {
        return Err("has a reward in \"o\" that is a text, true or false; a number was needed".into());
    }
    match (rewards.next(), rewards.next()) {
        (Some(_), Some(_)) => {
            Err("has several rewards in \"o\" and no \"_label_cost\", which is their sum or one of them"
                .into())
        }
        (reward, _) => Ok(reward),
    }
}

/// The actions in "a", from 0, with their probabilities in "p" if these are some.
fn ranked(object: &Node) -> Result<Vec<(usize, Option<f64>)>, Fault> {
    let (actions, probabilities) = (object.numbers("a"), object.numbers("p"));
    if !probabilities.is_empty() && probabilities.len() != actions.len() {
        let actions = counted(actions.len() as u64, "action");
        return Err(fault!("\"a\" has {actions}, and \"p\" {}", probabilities.len()));
    }
    let first = usize::from(!actions.contains(&0.0));
    let place = |action: &f64| whole("an action in \"a\"", *action).map(|action| action - first);
    let places: Vec<usize> = actions.iter().map(place).collect::<Result<_, _>>()?;
    let mut sorted = places.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(fault!("\"a\" has the action {} twice", pair[0] + first));
    }
    // They may be rounded.
    if let Some(p) = probabilities.iter().find(|p| !(0.0..=1.0 + 1e-6).contains(*p)) {
        return Err(fault!("a probability in \"p\" is {p}; a number between 0 and 1 was needed"));
    }
    let given = probabilities.into_iter().map(|p| Some(p.min(1.0))).chain(std::iter::repeat(None));
    Ok(places.into_iter().zip(given).collect())
}

/// Refuses probabilities of all actions that do not sum to 1. They may be written with few digits.
fn check_sum(ranked: &[(usize, Option<f64>)]) -> Result<(), Fault> {
    let sum: f64 = ranked.iter().filter_map(|(_, p)| *p).sum();
    match (sum - 1.0).abs() > 0.01 {
        true => Err(fault!("the probabilities \"p\" sum to {sum}, not to 1")),
        false => Ok(()),
    }
}

/// The probability of the action that was played, by the label or else by "p"; without one the cost is
/// refused.
fn agreed(played: Option<f64>, of_all: Option<f64>) -> Result<Option<f64>, Fault> {
    match (played, of_all) {
        (Some(played), Some(of_all)) if (played - of_all).abs() > 0.01 => {
            Err(fault!("the label's probability is {played}, and \"p\" says {of_all} of its action"))
        }
        (None, None) => {
            Err("has a cost, and no probability (_label_probability or p) with which the action was played"
                .into())
        }
        _ => Ok(played.or(of_all)),
    }
}

/// Of a cost without an action.
const NO_ACTION: &str = "has a cost, and no action (_labelIndex, _label_Action or a) that was played";

/// Labels a row with the costs and probabilities of its actions.
fn label_actions(
    ranked: &[(usize, Option<f64>)],
    actions: &[Node],
    played: Played,
    row: &mut Row,
) -> Result<(), Fault> {
    let count = actions.len();
    let mut all = vec![Played::default(); count];
    for (own, action) in all.iter_mut().zip(actions) {
        *own = Played::of(action)?.check()?;
        if let Some(Node::Text(text)) = action.get("_label") {
            let mut head = Row::new();
            label_text(text, &mut head)?;
            if let RowLabel::Costs([one]) = head.label() {
                (own.cost, own.probability) = (one.cost, one.probability);
            }
        }
    }
    if ranked.len() == count && ranked.iter().all(|(action, p)| *action < count && p.is_some()) {
        check_sum(ranked)?;
        for (action, p) in ranked {
            all[*action].probability = all[*action].probability.or(*p);
        }
    }
    if let Some(cost) = played.cost {
        let at = played.action.or(ranked.first().map(|(action, _)| *action)).ok_or(NO_ACTION)?;
        let own = all
            .get_mut(at)
            .ok_or_else(|| format!("the action {at} (from 0) was played; there are {count}"))?;
        (own.cost, own.probability) = (Some(cost), agreed(played.probability, own.probability)?);
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

/// Labels a row with the text of a label, which has no tag.
fn label_text(text: &str, row: &mut Row) -> Result<(), Fault> {
    parse_head(&format!("{text} "), row).map_err(|kind| fault!("{kind}"))
}

/// Labels a row without features of actions with the one that was played at this `cost`. Several that are
/// `ranked` are on offer.
fn label_played(
    ranked: &[(usize, Option<f64>)],
    played: Played,
    cost: f64,
    row: &mut Row,
) -> Result<(), Fault> {
    let at = played.action.or(ranked.first().map(|(action, _)| *action)).ok_or(NO_ACTION)?;
    if ranked.iter().all(|(_, p)| p.is_some()) && !ranked.is_empty() {
        check_sum(ranked)?;
    }
    let of_all = ranked.iter().find(|(action, _)| *action == at).map(|(_, p)| *p);
    if of_all.is_none() && !ranked.is_empty() {
        return Err(fault!("the action {} (from 1) was played, which \"a\" does not have", at + 1));
    }
    row.push_cost(&(at + 1).to_string(), Some(cost), agreed(played.probability, of_all.flatten())?);
    for (action, p) in ranked.iter().filter(|(action, _)| *action != at) {
        row.push_cost(&(action + 1).to_string(), None, *p);
    }
    row.offer_costs();
    Ok(())
}

/// Labels a row without features of actions: with a class, or the action that was played.
fn label(object: &Node, ranked: &[(usize, Option<f64>)], played: Played, row: &mut Row) -> Result<(), Fault> {
    if let Some(cost) = played.cost {
        return label_played(ranked, played, cost, row);
    }
    match object.get("_label") {
        None | Some(Node::Null) => Ok(()),
        Some(Node::Number(number)) => {
            row.set_name(&written(*number));
            Ok(())
        }
        Some(Node::Text(text)) => label_text(text, row),
        Some(label @ Node::Object(_)) => {
            if let Some(initial) = label.number("initial")?.filter(|initial| *initial != 0.0) {
                return Err(fault!("the label's Initial is {initial}; only 0 is supported"));
            }
            if let Some(weight) = label.number("weight")? {
                match weight >= 0.0 {
                    true => row.weight = weight,
                    false => return Err(fault!("the weight is {weight}; at least 0 was needed")),
                }
            }
            if let Some(number) = label.number("label")? {
                row.set_name(&written(number));
            }
            Ok(())
        }
        Some(_) => Err("the \"_label\" is neither a number, a text nor an object".into()),
    }
}

impl LineParser for Json {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let number = line.number();
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8)?;
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        let object: Node = serde_json::from_str(line)
            .map_err(|error| ReadErrorKind::Row(format!("is not a JSON object: {}", json_fault(&error))))?;
        row.line = number;
        self.object(&object, row, columns).map_err(|what| ReadErrorKind::Row(what.into()))
    }

    fn more(&mut self, row: &mut Row) -> bool {
        self.ready.pop_front().map(|next| *row = next).is_some()
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

    fn odd_cells(&self) -> Vec<Remark> {
        let told = |rows: u64, before: &str, after: &str| {
            (rows > 0).then(|| Remark::Other(format!("{before}{}{after}", counted(rows, "row"))))
        };
        let skipped = " not to be learnt from (_skipLearn, or a deferred action that was not taken)";
        let other =
            " with a _labelIndex (from 0) of another action than _label_Action (from 1); the former is used";
        let all = [
            told(self.skipped, "left out ", skipped),
            told(self.alone, "left out ", " with a reward or an activation not joined with its round"),
            told(self.bare, "", actions::BARE),
            told(
                self.other_cost,
                "",
                " with an _original_label_cost other than _label_cost; the latter is used",
            ),
            told(self.other_action, "", other),
        ];
        all.into_iter().flatten().collect()
    }
}
