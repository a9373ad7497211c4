//! Parses one line of a decision log, with all checks of its content.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::decisions::event::{Event, LoggedDecision};
use crate::decisions::log::{Header, LearnerPart, VERSION};
use crate::encode::labels::{Labels, Written};
use crate::fault::{Fault, fault};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::{ReadErrorKind, json_fault, shown};
use crate::read::label::{GivenLabel, LabelType};
use crate::read::logs::{OTHERS, SHARES, check_probability};
use crate::read::ndjson::nan::without_nan;
use crate::read::row::Row;

mod features;

use features::{Features, ListOrMap, features};

/// Distributions may be off their sum 1 by this much: other programs round.
const SUM_TOLERANCE: f64 = 1e-6;

/// A line of any kind.
#[derive(Deserialize)]
struct Line {
    id: Option<Name>,
    x: Option<Features>,
    label: Option<Name>,
    probability: Option<f64>,
    p: Option<Numbers>,
    correct: Option<bool>,
    reward: Option<f64>,
    learner: Option<LearnerPart>,
    labels: Option<Vec<Listed>>,
    columns: Option<NewColumns>,
    evaluation: Option<Numbers>,
    estimates: Option<Numbers>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NewColumns {
    Count(u32),
    Names(Vec<String>),
}

/// A name: text, number or bool.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

/// A label in a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Name(Name),
    /// One with its type, as our own logs have it.
    Typed(Written),
}

impl Listed {
    fn intern(&self, known: &mut Known) -> Result<u32, Fault> {
        match self {
            Self::Name(name) => {
                let text = known.label(name)?;
                Ok(known.labels.intern_as(&text, name.of()).0)
            }
            Self::Typed(written) => {
                let (name, of) = written.clone().label();
                Ok(known.labels.intern_as(&name, of).0)
            }
        }
    }
}

impl Name {
    /// The name of a class, as the data readers have it.
    fn label(&self) -> Result<String, Fault> {
        match self.text() {
            text if text.is_empty() => Err("the label is empty".into()),
            text => match self {
                Name::Number(number) => Ok(GivenLabel::of_number(number)?.text),
                Name::Text(_) | Name::Bool(_) => Ok(text),
            },
        }
    }

    /// The type of the label. Our own logs have the texts of labels, whose types are in the header.
    fn of(&self) -> LabelType {
        match self {
            Name::Text(_) => LabelType::Unstated,
            Name::Number(number) if number.is_f64() => LabelType::Real,
            Name::Number(_) => LabelType::Whole,
            Name::Bool(_) => LabelType::Truth,
        }
    }

    fn text(&self) -> String {
        match self {
            Name::Text(text) => text.clone(),
            Name::Number(number) => number.to_string(),
            Name::Bool(bool) => bool.to_string(),
        }
    }
}

/// Numbers of all classes: in order, or by name.
type Numbers = ListOrMap<f64>;

/// The keys of a line.
const KEYS: [&str; 12] = [
    "id",
    "x",
    "label",
    "probability",
    "p",
    "correct",
    "reward",
    "learner",
    "labels",
    "columns",
    "evaluation",
    "estimates",
];

/// Whether the first lines of a file, as objects, are those of a log: a header, or a decision with its
/// probability and nothing else.
pub(crate) fn begins_a_log(lines: &[Map<String, Value>]) -> bool {
    if lines.first().and_then(|line| line.get("noregret")).is_some_and(|of| of == "decisions") {
        return true;
    }
    // Lines of names may stand before it.
    let Some(first) = lines.iter().find(|line| line.contains_key("label")) else { return false };
    let has = |key: &str| first.contains_key(key);
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let answer = has("id") || has("correct") || has("reward");
    let probability =
        first.get("p").is_some_and(is_nested) || first.get("probability").is_some_and(Value::is_number);
    let x = first.get("x").is_none_or(is_nested);
    answer && probability && x && lines.iter().flat_map(Map::keys).all(|key| KEYS.contains(&&**key))
}

/// Keys by which a line is one of ours, whatever else it has.
const OURS: [&str; 8] = ["noregret", "x", "p", "learner", "labels", "columns", "evaluation", "estimates"];

/// The key of the reward, if the first lines of a file, as objects, are decisions of another program that has
/// our names for label, probability and reward: its other keys stand beside them, and are features.
pub(crate) fn reward_of_others(lines: &[Map<String, Value>]) -> Option<&'static str> {
    let is_ours = |line: &Map<String, Value>| {
        !line.contains_key("label") || OURS.iter().any(|key| line.contains_key(*key))
    };
    if lines.iter().any(is_ours) {
        return None;
    }
    lines.iter().find_map(|line| {
        let has_others = line.keys().any(|key| !KEYS.contains(&&**key));
        let reward = ["reward", "correct"].into_iter().find(|key| line.contains_key(*key));
        reward.filter(|_| has_others && line.contains_key("probability"))
    })
}

/// Parses one line. `Ok(None)` for a line of names.
pub(crate) fn parse(
    line: &[u8],
    first: bool,
    known: &mut Known,
    row: &mut Row,
) -> Result<Option<Event>, Fault> {
    let text = std::str::from_utf8(line).map_err(|_| "is not UTF-8 text".to_owned())?;
    if text.contains("\"noregret\"") && read::<Probe>(text)?.noregret.is_some() {
        if !first {
            return Err("a header is only allowed as the first line of a log".into());
        }
        let header = header(text)?;
        known.labels = header.labels.clone();
        known.ordered = true;
        known.block = header.schema.block();
        if !known.own_columns {
            header.schema.columns.check().map_err(|kind| format!("its columns {}", layout(&kind)))?;
            known.columns = ColumnMap::new(header.schema.columns.clone(), u32::MAX);
        }
        return Ok(Some(Event::Header(Box::new(header))));
    }
    let line: Line = read(text)?;
    if line.label.is_some() {
        let unread = || if line.x.is_some() { vec![] } else { others(text) };
        known.unread.get_or_insert_with(unread);
        return decision(line, known, row).map(|taken| Some(Event::Decision(Box::new(taken))));
    }
    if let Some(id) = &line.id {
        let reward = reward(line.correct, line.reward)?;
        return Ok(Some(Event::Feedback { id: id.text(), reward }));
    }
    if line.labels.is_none() && line.columns.is_none() {
        return Err(fault!(
            "is not a line of a decision log: a decision has a \"label\", feedback an \"id\"{OTHERS}"
        ));
    }
    known.ordered |= line.labels.is_some();
    for label in line.labels.iter().flatten() {
        label.intern(known)?;
    }
    row.clear();
    // No column is added if the caller has given the columns.
    match line.columns.filter(|_| !known.own_columns) {
        Some(NewColumns::Names(names)) => {
            for name in &names {
                known.columns.by_name(name);
            }
        }
        Some(NewColumns::Count(count)) => match known.columns.columns() {
            Columns::Numbered { base, .. } if count > 0 => {
                let last = u64::from(*base) + u64::from(count) - 1;
                known.columns.by_number(last);
            }
            _ => {
                return Err(fault!(
                    "columns = {count}: features have names, so that their number is not fixed"
                ));
            }
        },
        None => {}
    }
    Ok(None)
}

/// The state from earlier lines.
pub(crate) struct Known {
    pub(crate) labels: Labels,
    /// The labels of lines with the types of JSON: a text beside a number of the same writing is refused. Our
    /// own logs have texts, and types in the header.
    pub(crate) stated: Labels,
    pub(crate) columns: ColumnMap,
    /// The columns of a block, where labels on offer have features of their own.
    pub(crate) block: Option<u32>,
    /// Whether a line has given the order of the labels, which arrays need.
    pub(crate) ordered: bool,
    /// Whether the caller has given the columns; then none is added.
    pub(crate) own_columns: bool,
    /// Keys of the first decision that are not read although it has no `x`.
    pub(crate) unread: Option<Vec<String>>,
}

/// The keys of a line that no decision has.
fn others(text: &str) -> Vec<String> {
    let line: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    line.into_iter().map(|(key, _)| key).filter(|key| !KEYS.contains(&&**key)).collect()
}

/// Whether a line is a header.
#[derive(Deserialize)]
struct Probe {
    noregret: Option<IgnoredAny>,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    if !text.trim_ascii_start().starts_with('{') {
        return Err(fault!("is not a line of a decision log, which is an object of JSON{OTHERS}"));
    }
    serde_json::from_str(text).map_err(|error| {
        let nan = without_nan(text).is_some_and(|plain| serde_json::from_str::<T>(&plain).is_ok());
        // A value of another kind, as a probability in quotation marks.
        let of_others = if error.is_data() { OTHERS } else { "" };
        let way_out = if nan { "; JSON has no NaN: write null, or leave the key out" } else { of_others };
        fault!("is not a line of a decision log: {}{way_out}", json_fault(&error))
    })
}

fn layout(kind: &ReadErrorKind) -> String {
    match kind {
        ReadErrorKind::Layout(what) => what.clone(),
        _ => "have no meaning".to_owned(),
    }
}

fn header(text: &str) -> Result<Header, Fault> {
    let header: Header =
        serde_json::from_str(text).map_err(|error| format!("is not a header of a decision log: {error}"))?;
    if header.noregret != "decisions" {
        return Err(fault!("is the header of {}; decisions were needed", shown(&*header.noregret)));
    }
    if header.version != VERSION {
        return Err(fault!("the log has version {}; this program reads version {VERSION}", header.version));
    }
    Ok(header)
}

fn reward(correct: Option<bool>, reward: Option<f64>) -> Result<Option<f64>, Fault> {
    match (correct, reward) {
        (Some(_), Some(_)) => Err("has both correct and reward; one was needed".into()),
        (Some(correct), None) => Ok(Some(f64::from(u8::from(correct)))),
        (None, reward) => Ok(reward),
    }
}

fn decision(line: Line, known: &mut Known, row: &mut Row) -> Result<LoggedDecision, Fault> {
    let earned = reward(line.correct, line.reward)?;
    let id = match &line.id {
        Some(id) => id.text(),
        // Its feedback is here.
        None if earned.is_some() => String::new(),
        None => {
            return Err(
                "a decision without reward and id: one whose reward comes later, or never, needs an id"
                    .into(),
            );
        }
    };
    let given = line.label.as_ref().expect("it is what makes a line a decision");
    let (name, of) = (known.label(given)?, given.of());
    row.clear();
    for list in [&line.p, &line.evaluation, &line.estimates] {
        if let Some(ListOrMap::List(list)) = list {
            known.number(list.len());
        }
    }
    let played = class(&name, of, &mut known.labels, line.learner.as_ref())?;
    let offered = offered(&line, played, known)?;
    let distribution = by_class("p", line.p, known)?;
    let probability = match (line.probability, distribution.get(played as usize)) {
        (Some(probability), None) if distribution.is_empty() => probability,
        (None, Some(p)) => *p,
        (Some(probability), Some(p)) if (probability - p).abs() <= SUM_TOLERANCE => probability,
        (Some(probability), p) => {
            let p = p.copied().unwrap_or(0.0);
            return Err(fault!(
                "probability is {probability}, but \"p\" gives the label {} {p}",
                shown(&*name)
            ));
        }
        (None, None) => return Err(fault!("a decision without a probability{SHARES}")),
    };
    check_probability(probability).map_err(|what| format!("the label {} {what}", shown(&*name)))?;
    check_written("p", &distribution)?;
    let evaluation = by_class("evaluation", line.evaluation, known)?;
    check_written("evaluation", &evaluation)?;
    let estimates = by_class("estimates", line.estimates, known)?;
    if let Some(own) = &line.learner
        && own.label != played
    {
        return Err(fault!("the learner's label is {}, the decision's {played}", own.label));
    }
    if let Some(x) = line.x {
        features(x, known.block, &mut known.columns, row)?;
    }
    Ok(LoggedDecision {
        id,
        label: played,
        probability,
        distribution,
        offered,
        reward: earned,
        own: line.learner,
        evaluation,
        estimates,
    })
}

/// The labels on offer, from the learner's part, `labels`, or the keys of an object `p`. Empty if
/// all labels are on offer.
fn offered(line: &Line, played: u32, known: &mut Known) -> Result<Vec<u32>, Fault> {
    let mut offered = match (&line.learner, &line.labels, &line.p) {
        (Some(own), _, _) if !own.offered.is_empty() => own.offered.clone(),
        (_, Some(names), _) => {
            let labels = names.iter().map(|name| name.intern(known));
            labels.collect::<Result<Vec<_>, Fault>>()?
        }
        (_, None, Some(ListOrMap::Map(pairs))) => {
            pairs.iter().map(|(name, _)| known.labels.intern(name).0).collect()
        }
        _ => return Ok(Vec::new()),
    };
    offered.sort_unstable();
    offered.dedup();
    if offered.binary_search(&played).is_err() {
        let name = known.labels.name(noregret::example::Label(played));
        return Err(fault!("the label {} was played although it was not on offer", shown(&*name)));
    }
    Ok(offered)
}

/// The class called `name`. If the learner's part has the class's number, that is used, since a
/// class may be played before its name is known.
fn class(name: &str, of: LabelType, labels: &mut Labels, own: Option<&LearnerPart>) -> Result<u32, Fault> {
    if let Some(own) = own {
        let known = labels.name(noregret::example::Label(own.label));
        return if known == name {
            Ok(own.label)
        } else {
            Err(fault!(
                "the label {} is class {}, which is called {}",
                shown(name),
                own.label,
                shown(&*known)
            ))
        };
    }
    Ok(labels.intern_as(name, of).0)
}

impl Known {
    /// The text of a label, if it can be one beside the labels so far.
    fn label(&mut self, name: &Name) -> Result<String, Fault> {
        let text = name.label()?;
        let of = if let Name::Text(_) = name { LabelType::Text } else { name.of() };
        if let Some(why) = self.stated.clash(&text, of) {
            return Err(why.into());
        }
        self.stated.collect(&text, of);
        Ok(text)
    }

    /// If no line has named the labels, the labels of an array of `count` numbers are named 0, 1,
    /// 2, ….
    fn number(&mut self, count: usize) {
        let in_order = || self.labels.iter().enumerate().all(|(at, name)| name == at.to_string());
        if !self.ordered && count > self.labels.len() && in_order() {
            for class in self.labels.len()..count {
                self.labels.intern(&class.to_string());
            }
            self.ordered = true;
        }
    }
}

/// Numbers by class; 0 for classes missing from an object.
fn by_class(key: &str, numbers: Option<Numbers>, known: &mut Known) -> Result<Vec<f64>, Fault> {
    let pairs = match numbers {
        None => return Ok(Vec::new()),
        Some(ListOrMap::List(list)) if !known.ordered => {
            return Err(fault!(
                "{key:?} is an array of {}, but no line has given the order of the labels; use an object with the labels as keys",
                list.len()
            ));
        }
        Some(ListOrMap::List(list)) if list.len() < known.labels.len() => {
            const SHOWN: usize = 10;
            let (numbers, labels) = (list.len(), known.labels.len());
            let named = known.labels.iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            let more = if labels > SHOWN { ", …" } else { "" };
            return Err(fault!(
                "{key:?} has {numbers} numbers for the {labels} labels {named}{more}; an object with the labels as \
                 keys says which number is whose"
            ));
        }
        Some(ListOrMap::List(list)) => return Ok(list),
        Some(ListOrMap::Map(pairs)) => pairs,
    };
    let mut numbers = vec![f64::NAN; known.labels.len()];
    for (name, number) in pairs {
        let at = known.labels.intern(&name).index();
        if at >= numbers.len() {
            numbers.resize(at + 1, f64::NAN);
        }
        if !std::mem::replace(&mut numbers[at], number).is_nan() {
            return Err(fault!("{key:?} names the label {} twice", shown(&*name)));
        }
    }
    numbers.iter_mut().filter(|number| number.is_nan()).for_each(|number| *number = 0.0);
    Ok(numbers)
}

/// As [`check_distribution`], of numbers that may have been written with few digits.
fn check_written(key: &str, p: &[f64]) -> Result<(), Fault> {
    const NEARLY: f64 = 0.02;
    let is_rounded = (p.iter().sum::<f64>() - 1.0).abs() < NEARLY;
    check_distribution(key, p).map_err(|what| {
        let way_out =
            if is_rounded { "; divide each by their sum, or write them with more digits" } else { "" };
        fault!("{what}{way_out}")
    })
}

/// Checks that `p`, with key `key`, is a distribution or empty.
pub(crate) fn check_distribution(key: &str, p: &[f64]) -> Result<(), Fault> {
    if let Some(p) = p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(fault!("{key:?} has the probability {p}: must be in [0, 1]"));
    }
    let sum: f64 = p.iter().sum();
    if !p.is_empty() && (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(fault!("the probabilities of {key:?} sum to {sum}, not to 1"));
    }
    Ok(())
}
