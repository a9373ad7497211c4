//! Decision logs of other programs, in CSV, NDJSON, Parquet or ARFF, one decision a row: maps their columns
//! to ours.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

use crate::encode::costs::Costs;
use crate::read::arff;
use crate::read::error::{json_fault, shown};
use crate::read::label::truth;
use crate::read::missing::Missing;
use crate::read::ndjson::nan::without_nan;
use crate::read::offer::names;
use crate::read::table::amount;

/// Names of the columns of a foreign log. All other columns except `id` and `x` are features, unless they say
/// when or as which row a decision was written: columns without a name, and those whose texts are times.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    /// The label that was played.
    pub decision: String,
    /// The probability with which it was played, in (0, 1].
    pub probability: String,
    /// Its reward: a number, or true and false. If it is absent, the decision has no feedback.
    pub reward: String,
    /// The labels that were on offer: a list, or names separated by spaces. If it is `None` or absent, all
    /// labels were.
    pub offered: Option<String>,
    /// If it is given, the column of the reward has costs in this range.
    pub costs: Option<Costs>,
    /// If it is given, rewards are in this range, and become rewards from 0 to 1.
    pub rewards: Option<Costs>,
    /// The columns that are no features.
    pub drop: Vec<String>,
    /// What counts as missing besides the usual words, and what does not.
    pub missing: Missing,
}

/// The names of our own logs.
impl Default for Keys {
    fn default() -> Self {
        let [decision, probability, reward] = ["label", "probability", "reward"].map(str::to_owned);
        Self {
            decision,
            probability,
            reward,
            offered: None,
            costs: None,
            rewards: None,
            drop: vec![],
            missing: Missing::default(),
        }
    }
}

impl Keys {
    /// The given names of decision, probability, reward and labels on offer, and our own for the first three
    /// if they are not given; `None` if none is given.
    pub fn named(given: [&Option<String>; 4]) -> Option<Self> {
        let ours = Self::default();
        let or = |key: &Option<String>, ours: String| key.clone().unwrap_or(ours);
        let [decision, probability, reward, offered] = given;
        given.iter().any(|key| key.is_some()).then(|| Self {
            decision: or(decision, ours.decision),
            probability: or(probability, ours.probability),
            reward: or(reward, ours.reward),
            offered: offered.clone(),
            costs: None,
            rewards: None,
            drop: vec![],
            missing: Missing::default(),
        })
    }

    /// Checks that a header with these `names` has the columns.
    pub(super) fn check(&self, names: &[String]) -> Result<(), String> {
        let Keys { decision, probability, reward, offered, .. } = self;
        let (mut once, mut twice) = (BTreeSet::new(), names.iter().filter(|name| !name.is_empty()));
        if let Some(name) = twice.find(|name| !once.insert(*name)) {
            return Err(format!("the header has the name {} twice", shown(&**name)));
        }
        let named = [decision, probability, reward].into_iter().chain(offered).chain(&self.drop);
        let absent = named.into_iter().find(|key| !names.contains(key));
        absent.map_or(Ok(()), |key| {
            let near = noregret::param::nearest(key, names.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!(" (did you mean {}?)", shown(near)));
            let named = if *decision == Self::default().decision { NAMED } else { "" };
            Err(format!("the header has no column {}{near}{named}", shown(&**key)))
        })
    }

    /// Checks that some of the first lines of a log of objects has the labels on offer; `all` if there are no
    /// more.
    pub(super) fn check_objects<'a>(
        &self,
        lines: impl Iterator<Item = &'a [u8]>,
        all: bool,
    ) -> Result<(), String> {
        let mut keys = BTreeSet::new();
        for line in lines {
            // Other lines are refused where they are read.
            let object: Map<String, Value> = serde_json::from_slice(line).unwrap_or_default();
            keys.extend(object.into_iter().map(|(key, _)| key));
        }
        for name in self.offered.iter().chain(&self.drop) {
            let near = noregret::param::nearest(name, keys.iter().map(String::as_str));
            if keys.is_empty() || keys.contains(name) || (near.is_none() && !all) {
                continue;
            }
            let near = near.map_or_else(String::new, |near| format!(" (did you mean {}?)", shown(near)));
            return Err(format!("has no key {}{near}", shown(&**name)));
        }
        Ok(())
    }

    /// A row of a table with the columns `names`.
    fn row(&self, names: &[String], cells: Vec<String>) -> Result<Map<String, Value>, String> {
        if cells.len() != names.len() {
            return Err(format!("has {} cells, but the header has {}", cells.len(), names.len()));
        }
        // Labels are texts: 1.10 is not 1.1.
        let is_label = |name: &String| *name == self.decision || Some(name) == self.offered.as_ref();
        let cell = |(name, cell): (&String, String)| {
            let value = if is_label(name) { text(&cell) } else { value(&cell, &self.missing) };
            (name.clone(), value)
        };
        Ok(names.iter().zip(cells).map(cell).collect())
    }
}

/// How the lines of a foreign log are written.
pub(super) enum Form {
    /// Objects of JSON.
    Objects,
    /// CSV: the delimiter, and the header's names once it was read.
    Csv(u8, Vec<String>),
    /// ARFF, with the names of its header.
    Arff(Vec<String>),
}

impl Form {
    /// CSV before its header.
    pub(super) fn csv() -> Self {
        Self::Csv(b',', Vec::new())
    }
}

/// Parses the lines of a foreign log.
pub(super) struct Foreign {
    keys: Keys,
    form: Form,
    /// The translation of the last line.
    line: Vec<u8>,
    /// The columns that were left out because they say when or as which row a decision was written, and those
    /// beside an object of features.
    left_out: [BTreeSet<String>; 2],
}

impl Foreign {
    pub(super) fn new(keys: Keys, form: Form) -> Self {
        Self { keys, form, line: Vec::new(), left_out: [BTreeSet::new(), BTreeSet::new()] }
    }

    /// The columns so far that are no features, in sentences.
    pub(super) fn left_out(&self) -> Vec<String> {
        let name = |name: &String| {
            if name.is_empty() { "the column without a name".to_owned() } else { shown(&**name) }
        };
        let whats = [
            "columns that say when or as which row a decision was written",
            "what is beside the object \"x\"",
        ];
        let sentence = |(what, names): (&str, &BTreeSet<String>)| {
            let names: Vec<String> = names.iter().map(name).collect();
            (!names.is_empty()).then(|| format!("{what}: no features ({})", names.join(", ")))
        };
        whats.into_iter().zip(&self.left_out).filter_map(sentence).collect()
    }

    /// Translates `line`, the `number`th, into a line of our format. `None` for the header.
    pub(super) fn translate(&mut self, line: &[u8], number: u64) -> Result<Option<&[u8]>, String> {
        let mut object = match &mut self.form {
            Form::Objects => match serde_json::from_slice(line) {
                Ok(object) => object,
                Err(error) => {
                    // NaN is no JSON, but programs write it for a missing number.
                    let plain = std::str::from_utf8(line).ok().and_then(without_nan);
                    let plain = plain.and_then(|plain| serde_json::from_str(&plain).ok());
                    plain.ok_or_else(|| format!("is not a JSON object: {}", json_fault(&error)))?
                }
            },
            Form::Csv(delimiter, names) => {
                if names.is_empty() {
                    *delimiter = delimiter_of(line);
                }
                let cells = cells(line, *delimiter)?;
                if names.is_empty() {
                    self.keys.check(&cells)?;
                    *names = cells;
                    return Ok(None);
                }
                self.keys.row(names, cells)?
            }
            Form::Arff(names) => {
                let line = std::str::from_utf8(line).map_err(|_| "is not UTF-8 text".to_owned())?;
                let Some(cells) = arff::cells(line)? else { return Ok(None) };
                self.keys.row(names, cells)?
            }
        };
        let ours = self.rename(&mut object, number)?;
        self.line = serde_json::to_vec(&ours).map_err(|error| error.to_string())?;
        Ok(Some(&self.line))
    }

    fn rename(&mut self, object: &mut Map<String, Value>, number: u64) -> Result<Map<String, Value>, String> {
        let mut ours = Map::new();
        for name in &self.keys.drop {
            object.remove(name);
        }
        let mut take = |key: &str| object.remove(key).filter(|value| !value.is_null());
        let absent = |key: &str| format!("has no {}", shown(key));
        let Keys { decision, probability, reward, offered, costs, rewards, missing, drop: _ } = &self.keys;
        let label = take(decision).ok_or_else(|| absent(decision))?;
        if let Some(word) = label.as_str().filter(|word| missing.is_label(word)) {
            return Err(format!(
                "has no {}: {} counts as missing; the option not-missing makes it a label",
                shown(&**decision),
                shown(word)
            ));
        }
        let is_text = label.is_string();
        ours.insert("label".into(), label);
        let refused = |key: &str, value: Value, need: &str| match value {
            Value::String(text) => {
                format!("{} is {}; {need}{}", shown(key), shown(&*text), amount::comma_way_out(&text))
            }
            other => format!("{} is {other}; {need}", shown(key)),
        };
        match take(probability).ok_or_else(|| absent(probability))? {
            value @ Value::Number(_) => drop(ours.insert("probability".into(), value)),
            other => return Err(refused(probability, other, "a number was needed")),
        }
        // NaN, NA and the like are missing, here as in every column.
        let is_missing =
            |value: &Value| value.as_str().is_some_and(|text| missing.is_cell(text.trim().as_bytes()));
        match take(reward).filter(|value| !is_missing(value)) {
            Some(cost) if let Some(costs) = costs => {
                let earned = cost.as_f64().and_then(|cost| costs.reward(cost).ok());
                let need = || format!("a number in the range of costs, {costs}, was needed");
                ours.insert(
                    "reward".into(),
                    earned.ok_or_else(|| refused(reward, cost, &need()))?.value().into(),
                );
            }
            Some(Value::Number(earned)) if let Some(rewards) = rewards => {
                let value = rewards.rising(earned.as_f64().unwrap_or(f64::NAN))?;
                ours.insert("reward".into(), value.value().into());
            }
            Some(other) if let Some(rewards) = rewards => {
                return Err(refused(
                    reward,
                    other,
                    &format!("a number in the range of rewards, {rewards}, was needed"),
                ));
            }
            Some(Value::Bool(right)) => drop(ours.insert("correct".into(), right.into())),
            Some(value @ Value::Number(_)) => drop(ours.insert("reward".into(), value)),
            Some(Value::String(text)) if let Some(right) = truth(text.trim()) => {
                ours.insert("correct".into(), right.into());
            }
            Some(other) => return Err(refused(reward, other, "a number, or true or false, was needed")),
            None => {}
        }
        if let Some((key, value)) = offered.as_ref().and_then(|key| Some((key, take(key)?))) {
            ours.insert(
                "labels".into(),
                list(value, is_text).map_err(|what| format!("{} {what}", shown(&**key)))?,
            );
        }
        ours.insert("id".into(), take("id").unwrap_or_else(|| format!("line {number}").into()));
        // A column may be called x, too.
        let nested = matches!(object.get("x"), Some(Value::Object(_) | Value::Array(_)));
        let given = if nested { object.remove("x") } else { None };
        let x = match given {
            Some(x) => {
                self.left_out[1].extend(std::mem::take(object).into_iter().map(|(name, _)| name));
                x
            }
            None => {
                let mut x = Map::new();
                for (name, value) in std::mem::take(object) {
                    if tells_when(&name, &value) {
                        self.left_out[0].insert(name);
                    } else {
                        flatten(name, value, &mut x);
                    }
                }
                x.into()
            }
        };
        let x = match x {
            Value::Object(mut x) => {
                x.retain(|name, _| !self.keys.drop.contains(name));
                Value::Object(x)
            }
            other => other,
        };
        ours.insert("x".into(), x);
        Ok(ours)
    }
}

/// How a log is read whose columns have other names.
pub(super) const NAMED: &str =
    "; the options decision, probability and reward name the columns of another program's log";

/// Whether a column says when or as which row a decision was written.
fn tells_when(name: &str, value: &Value) -> bool {
    name.is_empty() || matches!(value, Value::String(text) if is_moment(text))
}

/// Whether `text` begins with a date, a time of day following.
fn is_moment(text: &str) -> bool {
    let mut parts = text.trim().splitn(2, ['T', ' ']);
    let digits = |part: &str, lengths: [usize; 3], between: char| {
        let numbers: Vec<&str> = part.splitn(3, between).collect();
        let fits = |(number, length): (&&str, usize)| {
            number.len() >= length && number.bytes().take(length).all(|byte| byte.is_ascii_digit())
        };
        numbers.len() == 3 && numbers.iter().zip(lengths).all(fits)
    };
    let date = parts.next().is_some_and(|date| date.len() == 10 && digits(date, [4, 2, 2], '-'));
    date && parts.next().is_some_and(|time| digits(time, [2, 2, 2], ':'))
}

/// The names of labels, from a list, also one in a cell, or from names separated by spaces, which are numbers
/// and truth values where the played label is no text.
fn list(value: Value, is_text: bool) -> Result<Value, String> {
    let typed = |name: String| {
        let found = serde_json::from_str(&name)
            .ok()
            .filter(|value| !is_text && matches!(value, Value::Number(_) | Value::Bool(_)));
        found.unwrap_or(Value::String(name))
    };
    match value {
        Value::Array(_) => Ok(value),
        Value::String(text) => Ok(names(&text)?.into_iter().map(typed).collect()),
        Value::Number(_) => Ok(vec![value].into()),
        other => Err(format!("is {other}; a list of labels was needed")),
    }
}

/// Flattens nested objects by path and lists by member, with the names of [`ndjson`](crate::read::ndjson);
/// absent values are omitted.
fn flatten(name: String, value: Value, into: &mut Map<String, Value>) {
    match value {
        Value::Null => {}
        Value::Object(inner) => {
            for (key, value) in inner {
                flatten(format!("{name}.{key}"), value, into);
            }
        }
        Value::Array(members) => {
            for (at, member) in members.into_iter().enumerate() {
                match member {
                    Value::String(text) => drop(into.insert(format!("{name}={text}"), 1.into())),
                    other => flatten(format!("{name}[{at}]"), other, into),
                }
            }
        }
        value => drop(into.insert(name, value)),
    }
}

/// The cell as a text, as null if it is empty.
fn text(cell: &str) -> Value {
    match cell.trim() {
        "" => Value::Null,
        trimmed => trimmed.into(),
    }
}

/// The cell as a number if it is one, as null if it is empty or counts as missing, else as text. Blanks
/// around it are no part of it.
fn value(cell: &str, missing: &Missing) -> Value {
    let trimmed = cell.trim();
    if trimmed.is_empty() || missing.is_cell(trimmed.as_bytes()) {
        return Value::Null;
    }
    match trimmed.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => number.into(),
        None => trimmed.into(),
    }
}

/// The most frequent of the usual delimiters in a header.
fn delimiter_of(header: &[u8]) -> u8 {
    let count = |delimiter: &u8| header.iter().filter(|byte| *byte == delimiter).count();
    // The comma is preferred among equals, being last.
    [b'|', b';', b'\t', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

fn cells(line: &[u8], delimiter: u8) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
    let record = reader.records().next().transpose().map_err(|error| error.to_string())?;
    Ok(record.map_or_else(Vec::new, |record| record.iter().map(|cell| cell.trim().to_owned()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        let [decision, probability, reward] = ["chosen", "prob", "click"].map(str::to_owned);
        Keys { decision, probability, reward, offered: Some("shown".to_owned()), ..Keys::default() }
    }

    fn text(line: Option<&[u8]>) -> String {
        String::from_utf8(line.expect("a decision").to_vec()).expect("text")
    }

    #[test]
    fn a_table_by_hand() {
        let mut foreign = Foreign::new(keys(), Form::csv());
        assert!(foreign.translate(b"age;city;chosen;prob;click;shown", 1).expect("a header").is_none());
        let line = text(foreign.translate(b"31;\"Bad; Ischl\";b;0.25;1;a b", 2).expect("a decision"));
        let want = r#"{"label":"b","probability":0.25,"reward":1.0,"labels":["a","b"],"id":"line 2","x":{"age":31.0,"city":"Bad; Ischl"}}"#;
        assert_eq!(line, want);
        let line = text(foreign.translate(b";;b;0.25;;", 3).expect("a decision"));
        assert_eq!(line, r#"{"label":"b","probability":0.25,"id":"line 3","x":{}}"#);
        let line = text(foreign.translate(b";;b;0.25;TRUE;", 3).expect("a decision"));
        assert_eq!(line, r#"{"label":"b","probability":0.25,"correct":true,"id":"line 3","x":{}}"#);
        assert_eq!(foreign.translate(b"1;2", 4).expect_err("too short"), "has 2 cells, but the header has 6");
        for (line, fault) in [
            (";;b;half;1;", "\"prob\" is \"half\"; a number was needed"),
            (";;b;0.5;yes;", "\"click\" is \"yes\"; a number, or true or false, was needed"),
        ] {
            assert_eq!(foreign.translate(line.as_bytes(), 5).expect_err("no number"), fault);
        }
        let fault = Foreign::new(keys(), Form::csv())
            .translate(b"chosen,prob,shown", 1)
            .expect_err("no column")
            .to_owned();
        assert_eq!(fault, "the header has no column \"click\"");
        let mut twice = Foreign::new(keys(), Form::csv());
        let fault = twice.translate(b"chosen, prob ,click,shown,chosen", 1).expect_err("twice");
        assert_eq!(fault, "the header has the name \"chosen\" twice");
        let fault = Foreign::new(keys(), Form::csv()).translate(b"a,b", 1).expect_err("no column").to_owned();
        assert_eq!(fault, "the header has no column \"chosen\"");
    }

    /// As it is in data: a missing number, and a decision without feedback.
    #[test]
    fn nan_is_missing() {
        let mut foreign = Foreign::new(keys(), Form::Objects);
        let line = br#"{"age": NaN, "chosen": "b", "prob": 0.5, "click": NaN}"#;
        let line = text(foreign.translate(line, 1).expect("a decision"));
        assert_eq!(line, r#"{"label":"b","probability":0.5,"id":"line 1","x":{}}"#);
        let none = foreign.translate(br#"{"chosen": "b", "prob": NaN}"#, 2).expect_err("no probability");
        assert_eq!(none, "has no \"prob\"");
        let mut table = Foreign::new(keys(), Form::csv());
        table.translate(b"age,chosen,prob,click,shown", 1).expect("a header");
        let line = text(table.translate(b"3,b,0.5,NA,", 2).expect("a decision"));
        assert_eq!(line, r#"{"label":"b","probability":0.5,"id":"line 2","x":{"age":3.0}}"#);
        let line = text(table.translate(b" NA ,b,0.5,1,", 3).expect("a decision"));
        assert!(line.ends_with(r#""x":{}}"#), "{line}");
        let line = text(table.translate(b" old ,b,0.5,1,", 3).expect("a decision"));
        assert!(line.ends_with(r#""x":{"age":"old"}}"#), "{line}");
    }

    #[test]
    fn a_range_of_rewards_is_one_of_numbers() {
        let keys = Keys { rewards: Costs::new(0.0, 10.0), ..keys() };
        let mut foreign = Foreign::new(keys, Form::Objects);
        let line =
            text(foreign.translate(br#"{"chosen": "b", "prob": 1, "click": 5}"#, 1).expect("a reward"));
        assert!(line.contains(r#""reward":0.5,"#), "{line}");
        let why =
            foreign.translate(br#"{"chosen": "b", "prob": 1, "click": true}"#, 2).expect_err("no number");
        assert_eq!(why, "\"click\" is true; a number in the range of rewards, 0..10, was needed");
    }

    #[test]
    fn a_decimal_comma_is_refused_with_the_way_out() {
        let mut table = Foreign::new(keys(), Form::csv());
        table.translate(b"chosen;prob;click;shown", 1).expect("a header");
        for (line, key) in [("b;0,5;1;", "\"prob\" is \"0,5\""), ("b;0.5;0,25;", "\"click\" is \"0,25\"")] {
            let why = table.translate(line.as_bytes(), 2).expect_err(line);
            assert!(
                why.starts_with(key) && why.ends_with("(write decimals with a point, as in 0.5)"),
                "{why}"
            );
        }
    }

    #[test]
    fn columns_that_tell_when_are_left_out() {
        let mut foreign = Foreign::new(keys(), Form::Objects);
        let line = br#"{"": 3, "at": "2019-11-24 00:01:02.5+00:00", "day": "2019-11-24", "chosen": "b", "prob": 1, "click": 1}"#;
        let line = text(foreign.translate(line, 1).expect("a decision"));
        assert!(line.ends_with(r#""x":{"day":"2019-11-24"}}"#), "{line}");
        let want = "columns that say when or as which row a decision was written: no features (the column without a name, \"at\")";
        assert_eq!(foreign.left_out(), [want]);
        let line = br#"{"x": {"age": 3}, "hour": 9, "chosen": "b", "prob": 1, "click": 1}"#;
        let line = text(foreign.translate(line, 2).expect("a decision"));
        assert!(line.ends_with(r#""x":{"age":3}}"#), "{line}");
        assert_eq!(foreign.left_out()[1], "what is beside the object \"x\": no features (\"hour\")");
    }

    #[test]
    fn nested_objects_by_their_path() {
        let mut foreign = Foreign::new(keys(), Form::Objects);
        let line =
            br#"{"user": {"age": 31, "tags": ["a", "b"], "at": [4, 2]}, "chosen": 2, "prob": 0.5, "click": true, "id": 9}"#;
        let line = text(foreign.translate(line, 1).expect("a decision"));
        let want = r#"{"label":2,"probability":0.5,"correct":true,"id":9,"x":{"user.age":31,"user.tags=a":1,"user.tags=b":1,"user.at[0]":4,"user.at[1]":2}}"#;
        assert_eq!(line, want);
        assert_eq!(foreign.translate(b"{}", 2).expect_err("empty"), "has no \"chosen\"");
    }

    #[test]
    fn costs_become_rewards() {
        let keys = Keys { costs: Costs::new(-1.0, 3.0), ..keys() };
        let mut foreign = Foreign::new(keys, Form::Objects);
        let mut line = |cost: &str| {
            let line = format!(r#"{{"chosen": "b", "prob": 1, "click": {cost}}}"#);
            foreign.translate(line.as_bytes(), 1).map(text)
        };
        let want = r#"{"label":"b","probability":1,"reward":0.75,"id":"line 1","x":{}}"#;
        assert_eq!(line("0").expect("a cost"), want);
        assert!(!line("null").expect("no feedback").contains("reward"));
        for (cost, shown) in [("3.5", "3.5"), ("true", "true"), ("\"1\"", "\"1\"")] {
            let fault = format!("\"click\" is {shown}; a number in the range of costs, -1..3, was needed");
            assert_eq!(line(cost).expect_err("no cost"), fault);
        }
    }

    #[test]
    fn columns_to_ignore() {
        let keys = Keys { drop: vec!["leak".to_owned(), "user.age".to_owned()], ..keys() };
        let mut foreign = Foreign::new(keys.clone(), Form::Objects);
        let line = br#"{"chosen": "b", "prob": 1, "click": 1, "leak": "b", "user": {"age": 3, "name": "A"}}"#;
        let line = text(foreign.translate(line, 1).expect("a decision"));
        assert!(line.ends_with(r#""x":{"user.name":"A"}}"#), "{line}");
        let keys = Keys { drop: vec!["leek".to_owned()], ..keys };
        let mut misspelt = Foreign::new(keys, Form::csv());
        let fault = misspelt.translate(b"leak,chosen,prob,click,shown", 1).expect_err("no column");
        assert_eq!(fault, "the header has no column \"leek\" (did you mean \"leak\"?)");
    }

    #[test]
    fn labels_on_offer_in_every_form() {
        let offered = |value: &str| {
            let line = format!(r#"{{"chosen": "b", "prob": 1, "shown": {value}}}"#);
            let mut foreign = Foreign::new(keys(), Form::Objects);
            let line = foreign.translate(line.as_bytes(), 1).map(text)?;
            let line: Value = serde_json::from_str(&line).expect("JSON");
            Ok::<_, String>(line["labels"].to_string())
        };
        assert_eq!(offered(r#"["a b", "c"]"#).expect("a list"), r#"["a b","c"]"#);
        assert_eq!(offered(r#""[\"a b\", \"c\"]""#).expect("a list in a text"), r#"["a b","c"]"#);
        assert_eq!(offered(r#"" b  2 ""#).expect("names"), r#"["b","2"]"#);
        assert_eq!(offered("7").expect("one label"), "[7]");
        assert_eq!(offered("null").expect("all"), "null");
        assert_eq!(offered("true").expect_err("no list"), "\"shown\" is true; a list of labels was needed");
        assert!(
            offered(r#""[a""#).expect_err("no JSON").starts_with("\"shown\" is \"[a\", which is no list")
        );
    }
}
