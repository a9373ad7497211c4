//! Decision logs of other programs: tables with a decision a row, in CSV, NDJSON, Parquet or ARFF. They are
//! read as data are, by the readers of tables; three columns say which label was played, how likely that was,
//! and what it has earned.

use noregret::hand_on;

use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::costs::{Clipped, Costs};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::logs::check_probability;
use crate::read::missing::Missing;
use crate::read::options::Schema;
use crate::read::reader::Reader;
use crate::read::remark::Remark;
use crate::read::row::{Earned, Row, RowLabel};
use crate::read::table::is_needed;
use crate::read::table::schema::CsvRole;

pub use crate::read::logs::Keys;

impl Keys {
    /// The cost of a label that has earned `earned`.
    fn cost(&self, earned: Earned) -> Result<f64, Fault> {
        let refused = |what: &dyn std::fmt::Display, need: String| {
            Err(fault!("{} is {what}; {need} was needed", shown(&*self.reward)))
        };
        let reward = match (self.costs, self.rewards, earned) {
            (Some(costs), _, Earned::Number(cost)) => match costs.reward(cost) {
                Ok(reward) => reward.value(),
                Err(_) => return refused(&cost, format!("a number in the range of costs, {costs},")),
            },
            (None, Some(rewards), Earned::Number(reward)) => match rewards.rising(reward) {
                Ok(reward) => reward.value(),
                Err(what) => {
                    return Err(fault!("{what}; {rewards}:clip as the range counts it as the nearest end"));
                }
            },
            (None, None, Earned::Number(reward)) => reward,
            (Some(costs), _, Earned::Truth(truth)) => {
                return refused(&truth, format!("a number in the range of costs, {costs},"));
            }
            (None, Some(rewards), Earned::Truth(truth)) => {
                return refused(&truth, format!("a number in the range of rewards, {rewards},"));
            }
            (None, None, Earned::Truth(truth)) => f64::from(u8::from(truth)),
        };
        let [least, most] = self.into.into();
        Ok(most - reward * (most - least))
    }
}

/// The rows of a table as decisions: the label of a row is one of costs, of the label that was played, with
/// its probability. A decision that was never answered has none.
pub(crate) struct PlayedRows {
    inside: Box<dyn Reader>,
    keys: Keys,
    missing: Missing,
    name: String,
    clipped: Clipped,
}

impl PlayedRows {
    pub(crate) fn new(inside: Box<dyn Reader>, keys: Keys, missing: Missing, name: &str) -> Self {
        Self { inside, keys, missing, name: name.to_owned(), clipped: Clipped::default() }
    }

    /// The range of what labels earn, and what it is called.
    fn range(&self) -> Option<(Costs, &'static str)> {
        let costs = self.keys.costs.map(|costs| (costs, "costs"));
        costs.or_else(|| Some((self.keys.rewards?, "rewards")))
    }

    fn decide(&mut self, row: &mut Row) -> Result<(), Fault> {
        let Keys { decision, probability, .. } = &self.keys;
        let absent = |key: &String| format!("has no {}", shown(&**key));
        let (label, of) = match row.label() {
            RowLabel::Missing => return Err(absent(decision).into()),
            RowLabel::Name(label) if self.missing.is_label(label) => {
                let (key, word) = (absent(decision), shown(label));
                return Err(fault!(
                    "{key}: {word} counts as missing; the option not-missing makes it a label"
                ));
            }
            RowLabel::Name(label) => (label.to_owned(), row.label_type()),
            RowLabel::Distribution(_) | RowLabel::Costs(_) => {
                return Err(fault!("{} is a list; the label that was played was needed", shown(&**decision)));
            }
        };
        let (p, earned) = row.take_played();
        let p = p.ok_or_else(|| absent(probability) + self.keys.or_right())?;
        check_probability(p).map_err(|what| fault!("the label {} {what}", shown(&*label)))?;
        let cost = earned.map(|earned| self.keys.cost(earned)).transpose()?;
        if let (Some((range, _)), Some(Earned::Number(number))) = (self.range(), earned) {
            self.clipped.count(range, number);
        }
        row.unlabel();
        row.push_cost_as(&label, of, cost, Some(p));
        Ok(())
    }
}

impl Reader for PlayedRows {
    fn read(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        if !self.inside.read(row)? {
            return Ok(false);
        }
        if let Err(what) = self.decide(row) {
            self.inside.take_back();
            let (line, tag) = (row.line, std::mem::take(&mut row.tag));
            row.clear();
            row.tag = tag;
            return Err(ReadError::new(&self.name, line, ReadErrorKind::Row(what.into())));
        }
        Ok(true)
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let clipped = self.range().and_then(|(range, numbers)| self.clipped.remark(numbers, range));
        self.inside.odd_cells().into_iter().chain(clipped).collect()
    }

    /// The columns of the decision are left out of what the model reads later.
    fn schema(&self) -> Schema {
        let schema = self.inside.schema();
        let numbered = matches!(schema.columns, Columns::Numbered { .. });
        let csv = schema.csv.filter(|csv| !numbered || csv.fields.iter().any(|field| is_needed(field.role)));
        let csv = csv.map(|mut csv| {
            let others = csv.fields.iter_mut().filter(|field| !is_needed(field.role));
            others.for_each(|field| field.role = CsvRole::Drop);
            csv
        });
        Schema { csv, label: None, weight: None, missing: self.missing.clone(), ..schema }
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let described = self.inside.describe().into_iter();
        described
            .map(|(subject, what)| (if subject == "label" { "decision" } else { subject }, what))
            .collect()
    }

    hand_on! { self.inside;
        fn columns(&self) -> &Columns;
        fn take_back(&mut self);
        fn dropped_features(&self) -> u64;
        fn absent(&self) -> Vec<u32>;
        fn position(&self) -> u64;
        fn size(&self) -> Option<u64>;
        fn notes(&self) -> Vec<String>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::open::from_read;
    use crate::read::options::ReadOptions;
    use crate::testing::{by_line, read_all};

    fn keys() -> Keys {
        let [decision, probability, reward] = ["chosen", "prob", "click"].map(str::to_owned);
        Keys { decision, probability, reward, offered: Some("shown".to_owned()), ..Keys::default() }
    }

    fn opened(name: &str, text: &str, keys: Keys) -> Result<Box<dyn Reader>, ReadError> {
        let options = ReadOptions { logged: Some(keys), ..ReadOptions::default() };
        from_read(Box::new(std::io::Cursor::new(text.to_owned())), name, &options)
    }

    /// The rows: line, label as `action:cost:probability`, labels on offer, features.
    fn rows(name: &str, text: &str, keys: Keys) -> Vec<String> {
        let mut reader = opened(name, text, keys).unwrap_or_else(|error| panic!("{error}"));
        read_all(&mut *reader, |row| {
            let offered: Vec<&str> = row.offered().iter().map(|one| &*one.text).collect();
            format!("{} of {}", by_line(row), offered.join("+"))
        })
    }

    /// Of a log that does not say what was on offer.
    fn all() -> Keys {
        Keys { offered: None, ..keys() }
    }

    fn objects(text: &str) -> Vec<String> {
        rows("a.ndjson", text, if text.contains("shown") { keys() } else { all() })
    }

    #[test]
    fn a_table_by_hand() {
        let text = "age;city;chosen;prob;click;shown\n31;\"Bad; \nIschl\";b;0.25;1;a b\n32;;b;0.5;;\n33;Linz;b;0.25;TRUE;\n\
                    34;Linz;b;half;1;\n35;Linz;b;0.5;yes;\n36;Linz;;0.5;1;\n37;Linz;b;;1;\n38;Linz;b;2;1;\n";
        let found = rows("a.csv", text, keys());
        assert_eq!(
            found,
            [
                "2 b:0:0.25*1 of a+b age=31 city=Bad; \nIschl=1",
                "4 b:-:0.5*1 of  age=32",
                "5 b:0:0.25*1 of  age=33 city=Linz=1",
                "a.csv:6: column \"prob\": \"half\" is not a number",
                "a.csv:7: column \"click\": \"yes\" is neither a number nor a truth value (1 and 0, true and false)",
                "a.csv:8: has no \"chosen\"",
                "a.csv:9: has no \"prob\"",
                "a.csv:10: the label \"b\" was played with probability 2: must be in (0, 1]; percents are divided by 100, and the inverse of a probability is inverted",
            ]
        );
        let absent = opened("a.csv", "chosen,prob,shown\na,1,a\nb,1,a\n", keys()).err().expect("no column");
        assert_eq!(
            absent.to_string(),
            "a.csv: has no column \"click\"; its columns are \"chosen\", \"prob\", \"shown\""
        );
    }

    /// In a test with fixed shares nobody writes probabilities.
    #[test]
    fn shares_of_a_test_are_probabilities() {
        let absent = opened("a.csv", "chosen,click\na,1\nb,0\n", all()).err().expect("no column");
        assert_eq!(
            absent.to_string(),
            "a.csv: has no column \"prob\"; its columns are \"chosen\", \"click\"; where labels were drawn with fixed shares, as in an A/B \
             test, add it: the share of the label that was played"
        );
    }

    #[test]
    fn decimal_commas_are_those_of_a_table() {
        let text =
            "age;chosen;prob;click;shown\n".to_owned() + &"1,5;b;0,25;0,5;\n2,5;c;0,75;1,0;\n".repeat(15);
        assert_eq!(
            rows("a.csv", &text, keys())[..2],
            ["2 b:0.5:0.25*1 of  age=1.5", "3 c:0:0.75*1 of  age=2.5"]
        );
    }

    /// As it is in data: a missing number, and a decision without feedback.
    #[test]
    fn nan_is_missing() {
        let found = objects(
            "{\"age\": NaN, \"chosen\": \"b\", \"prob\": 0.5, \"click\": NaN}\n{\"age\": 3, \"chosen\": \"b\", \"prob\": NaN, \"click\": 1}\n",
        );
        assert_eq!(found, ["1 b:-:0.5*1 of ", "a.ndjson:2: has no \"prob\""]);
        let found = rows("a.csv", "age,chosen,prob,click,shown\n3,b,0.5,NA,\n NA ,b,0.5,1,\n", keys());
        assert_eq!(found, ["2 b:-:0.5*1 of  age=3", "3 b:0:0.5*1 of "]);
    }

    #[test]
    fn rewards_and_costs_have_ranges() {
        let line = |earned: &str| format!("{{\"chosen\": \"b\", \"prob\": 1, \"click\": {earned}}}\n");
        let range = Costs::new(0.0, 10.0);
        let text = line("5") + &line("true") + &line("11") + &line("null");
        let rewards = rows("a.ndjson", &text, Keys { rewards: range, ..all() });
        assert_eq!(rewards[0], "1 b:0.5:1*1 of ");
        let wanted = "a.ndjson:2: \"click\" is true; a number in the range of rewards, 0..10, was needed";
        assert_eq!(rewards[1], wanted);
        assert_eq!(
            rewards[2],
            "a.ndjson:3: the reward is 11; a number from 0 to 10 was needed; 0..10:clip as the range counts it as the nearest end"
        );
        assert_eq!(rewards[3], "4 b:-:1*1 of ");
        let costs = rows("a.ndjson", &(line("5") + &line("11")), Keys { costs: range, ..all() });
        assert_eq!(costs[0], "1 b:0.5:1*1 of ");
        assert_eq!(costs[1], wanted.replace("true", "11").replace("rewards", "costs"));
        let clipping = Keys { rewards: range.map(Costs::clipping), ..all() };
        assert_eq!(rows("a.ndjson", &line("11"), clipping), ["1 b:0:1*1 of "]);
        // Costs of the rows in another range, as a model has it.
        let into = Costs::new(-4.0, 0.0).expect("a range");
        assert_eq!(rows("a.ndjson", &line("1"), Keys { into, ..all() }), ["1 b:-4:1*1 of "]);
    }

    #[test]
    fn objects_have_features_by_their_path_or_under_x() {
        let line =
            r#"{"user": {"age": 31, "tags": ["a", "b"]}, "chosen": 2, "prob": 0.5, "click": true, "id": 9}"#;
        assert_eq!(objects(line), ["1 2:0:0.5*1 of  user.age=31 user.tags=a=1 user.tags=b=1"]);
        let line = r#"{"x": {"age": 31}, "chosen": 2, "prob": 0.5, "click": 0, "shown": [1, 2]}"#;
        assert_eq!(objects(line), ["1 2:1:0.5*1 of 1+2 age=31"]);
        let line = r#"{"x": [3, 0, 4], "chosen": 2, "prob": 0.5, "click": 0, "shown": "1 2"}"#;
        assert_eq!(objects(line), ["1 2:1:0.5*1 of 1+2 0=3 2=4"]);
        let line = r#"{"x": "red", "chosen": {"of": "a"}, "prob": 0.5, "click": 0}"#;
        let nested = Keys { decision: "chosen.of".to_owned(), ..all() };
        assert_eq!(rows("a.ndjson", line, nested), ["1 a:1:0.5*1 of  x=red=1"]);
    }

    #[test]
    fn rewards_may_come_late_and_keys_are_spelt_as_they_are() {
        let line = "{\"h\": 1, \"chosen\": \"b\", \"prob\": 0.5}\n";
        let found = objects(&(line.repeat(2000) + &line.replace('}', ", \"click\": 1}")));
        assert_eq!((&*found[0], &*found[2000]), ("1 b:-:0.5*1 of  h=1", "2001 b:0:0.5*1 of  h=1"));
        let misspelt = opened("a.ndjson", &line.replace("prob", "porb"), all()).err().expect("another name");
        assert_eq!(misspelt.to_string(), "a.ndjson: has no key \"prob\" (did you mean \"porb\"?)");
    }

    /// A model that has learnt from a log reads rows without the columns of decisions, and a log again.
    #[test]
    fn models_leave_the_decision_out() {
        let text = "h,label,p,reward\n1,a,0.5,1\n2,b,0.5,0\n";
        let [probability, reward] = ["p", "reward"].map(str::to_owned);
        let keys = Keys { probability, reward, ..Keys::default() };
        let reader = opened("a.csv", text, keys.clone()).unwrap_or_else(|error| panic!("{error}"));
        let schema = reader.schema();
        assert_eq!(
            (&schema.label, schema.csv.as_ref().map(|csv| csv.fields[1].role)),
            (&None, Some(CsvRole::Drop))
        );
        let logs = [(Some(keys), "2 a:0:0.5*1 h=1"), (None, "2 ?*1 h=1")];
        for (logged, first) in logs {
            let options = ReadOptions { logged, schema: Some(schema.clone()), ..ReadOptions::default() };
            for (name, text) in [
                ("a.csv", text.to_owned()),
                ("a.ndjson", "\n{\"h\":1,\"label\":\"a\",\"p\":0.5,\"reward\":1}\n".to_owned()),
            ] {
                let mut again = from_read(Box::new(std::io::Cursor::new(text)), name, &options)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(read_all(&mut *again, by_line)[0], first, "{name}");
                assert_eq!(again.dropped_features(), 0, "{name}");
            }
        }
    }

    #[test]
    fn labels_on_offer_in_every_form() {
        let offered = |value: &str| {
            let line = format!("{{\"chosen\": \"b\", \"prob\": 1, \"shown\": {value}}}\n");
            objects(&line).remove(0).replace("1 b:-:1*1 of ", "")
        };
        for (value, found) in [
            (r#"["a b", "c"]"#, "a b+c"),
            (r#""[\"a b\", \"c\"]""#, "a b+c"),
            (r#"" b  2 ""#, "b+2"),
            ("null", ""),
        ] {
            assert_eq!(offered(value), found, "{value}");
        }
        assert!(offered(r#""[a""#).contains("\"[a\", which is no list"), "{}", offered(r#""[a""#));
    }
}
