//! Rounds of several lines, as `vw --cb_adf` reads them: one that is `shared`, one for each action with
//! features of its own, and a blank line.
//!
//! ```text
//! shared |u age:31
//! |a price:3
//! 0:0.5:0.25 'second |a price:5
//!
//! ```
//!
//! The action that was played has `action:cost:probability`; the number before the first colon is ignored.
//! If every action has a cost and none has a probability, the costs of all actions are known. A tag is the
//! name of an action, which identifies it in all rounds; without a tag, its features do.
//!
//! In a round of `ccb` every line begins with this word, and [`slots`] choose actions:
//!
//! ```text
//! ccb shared |u age:31
//! ccb action |a price:3
//! ccb action |a price:5
//! ccb slot 1:-0.5:0.75,0:0.25 |s top
//! ccb slot 0:0:1 0,1 |s side
//!
//! ```

use std::collections::VecDeque;

use super::slots::{self, Slot};
use super::{Vw, bad, is_blank, parse_head};
use crate::fault::Fault;
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use crate::read::ndjson::offers::{offers_described, room};
use crate::read::offer::Round;
use crate::read::options::{Offers, Schema};
use crate::read::reader::{LineParser, Parsed};
use crate::read::remark::Remark;
use crate::read::round::Described;
use crate::read::row::{Row, RowLabel};
use crate::read::source::{Line, Peek};
use crate::words::counted;

/// Whether these lines form rounds of several lines: one of them is shared; or blank lines separate groups,
/// one of which has several lines, and all labels are costs. If there are costs, a word that touches the bar
/// is a tag.
pub(super) fn are_rounds(peek: &Peek<'_>) -> bool {
    let lines: Vec<&[u8]> = peek.lines().map(<[u8]>::trim_ascii).collect();
    let says_so = |line: &&[u8]| {
        std::str::from_utf8(line)
            .is_ok_and(|line| part(line).map(|(part, ccb, _)| (part, ccb)) != Ok((Part::Action, false)))
    };
    if lines.iter().any(says_so) {
        return true;
    }
    let groups: Vec<&[&[u8]]> =
        lines.split(|line| line.is_empty()).filter(|group| !group.is_empty()).collect();
    let head = |line: &[u8]| line.split(|byte| *byte == b'|').next().unwrap_or_default().to_vec();
    let costs = lines.iter().any(|line| head(line).contains(&b':'));
    let has_class = |line: &&[u8]| {
        let head = head(line);
        let tagged = costs && head.last().is_some_and(|last| !last.is_ascii_whitespace());
        let words: Vec<&[u8]> =
            head.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
        let labels = &words[..words.len() - usize::from(tagged)];
        labels.iter().any(|word| !word.contains(&b':') && word[0] != b'\'')
    };
    groups.len() > 1 && groups.iter().any(|group| group.len() > 1) && !lines.iter().any(has_class)
}

/// What a line of a round is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Shared,
    Action,
    Slot,
}

/// What `line` is about, whether it is one of `ccb`, and the line without the words that say so.
fn part(line: &str) -> Result<(Part, bool, &str), Fault> {
    let after = |line: &str, word: &str| -> Option<usize> {
        let start = line.len() - line.trim_start_matches(is_blank).len();
        let rest = line[start..].strip_prefix(word)?;
        let ends = rest.chars().next().is_none_or(|next| is_blank(next) || next == '|');
        ends.then_some(line.len() - rest.len())
    };
    let Some(at) = after(line, "ccb") else {
        return Ok(match after(line, "shared") {
            Some(at) => (Part::Shared, false, &line[at..]),
            None => (Part::Action, false, line),
        });
    };
    let rest = &line[at..];
    let kinds = [("shared", Part::Shared), ("action", Part::Action), ("slot", Part::Slot)];
    let found = kinds.into_iter().find_map(|(word, part)| Some((part, true, &rest[after(rest, word)?..])));
    found.ok_or_else(|| "ccb is followed by shared, action or slot".into())
}

/// Makes blocks of the actions of a round.
pub(super) struct Actions {
    vw: Vw,
    width: u32,
    round: Round,
    /// Whether the round has its shared line.
    shared: bool,
    /// Whether it is one of `ccb`; `None` before its first line.
    ccb: Option<bool>,
    slots: Vec<Slot>,
    /// Rows of the last round that are still to be returned.
    ready: VecDeque<Row>,
    /// Costs and probabilities by position.
    costs: Vec<(usize, Option<f64>, Option<f64>)>,
    tag: String,
    /// The part of a line before the bar.
    head: Row,
    /// Whether the round has a bad line, so that the lines after it are skipped.
    broken: bool,
    /// Rounds with equal actions.
    bare: u64,
}

/// What is said of rounds with equal actions, behind their number.
pub(super) const BARE: &str =
    " with several actions that have neither features nor a tag of their own: nothing tells them apart";

impl Actions {
    pub(super) fn new(vw: Vw, width: u32, describes: bool) -> Self {
        Self {
            vw,
            width,
            round: Round::new(describes),
            shared: false,
            ccb: None,
            slots: Vec::new(),
            ready: VecDeque::new(),
            costs: Vec::new(),
            tag: String::new(),
            head: Row::new(),
            broken: false,
            bare: 0,
        }
    }

    fn begin(&mut self) {
        self.round.clear();
        self.costs.clear();
        self.tag.clear();
        self.slots.clear();
        (self.shared, self.ccb, self.broken) = (false, None, false);
    }

    fn line(&mut self, number: u64, line: &str) -> Result<(), ReadErrorKind> {
        let (part, ccb, line) = part(line).map_err(bad)?;
        if *self.ccb.get_or_insert(ccb) != ccb {
            return Err(bad(
                "some lines of a round begin with ccb, and this one or those before it do not".to_owned()
            ));
        }
        let (head, features) = match line.split_once('|') {
            Some((head, rest)) => (head, Some(rest)),
            None if part == Part::Action => {
                return Err(bad("an action has no bar | before its features".to_owned()));
            }
            None => (line, None),
        };
        let mut described: Described = Vec::new();
        if let Some(features) = features {
            self.vw.features(features, |name, value| {
                if !value.is_nan() {
                    described.push((name.to_owned(), value));
                }
            })?;
        }
        self.head.clear();
        if part == Part::Slot {
            let name = |(name, value): (String, f64)| (format!("{}.{name}", slots::PREFIX), value);
            let features = described.into_iter().map(name).collect();
            self.slots.push(Slot { line: number, features, ..Slot::parse(head).map_err(bad)? });
            return Ok(());
        }
        if part == Part::Shared {
            if self.shared || self.round.len() > 0 || !self.slots.is_empty() {
                return Err(bad("a shared line inside a round; a blank line ends a round".to_owned()));
            }
            parse_head(head, &mut self.head)?;
            self.tag.clone_from(&self.head.tag);
            (self.shared, self.round.context) = (true, described);
            return Ok(());
        }
        parse_head(head, &mut self.head)?;
        let position = self.round.len();
        match self.head.label() {
            RowLabel::Costs(_) if ccb => {
                return Err(bad("an action of ccb has a cost; the slots have them".to_owned()));
            }
            RowLabel::Costs([one]) if one.action == "label" => {
                return Err(bad(
                    "describes a label (label:1 |l …, of csoaa_ldf and wap_ldf), which is not read: write \
                     these features on the lines of the label"
                        .to_owned(),
                ));
            }
            RowLabel::Costs([one]) => self.costs.push((position, one.cost, one.probability)),
            RowLabel::Costs(_) => return Err(bad("an action has several costs; one was needed".to_owned())),
            _ => {}
        }
        self.round.offer(&self.head.tag, described).map_err(bad)
    }

    /// Ends the round.
    fn finish(&mut self, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, ReadErrorKind> {
        if self.broken || self.ccb.is_none() {
            self.begin();
            return Ok(false);
        }
        self.bare += u64::from(self.round.has_bare());
        if self.ccb == Some(true) {
            for slot in self.slots.iter_mut().filter(|slot| slot.tag.is_empty()) {
                slot.tag.clone_from(&self.tag);
            }
            let made = slots::rows(&self.round, &self.slots, self.width, columns);
            self.begin();
            self.ready = made.map_err(bad)?;
            return Ok(self.more(row));
        }
        let count = self.round.len();
        let filled =
            self.round.fill(self.width, row).map_err(bad).and_then(|()| room(count, self.width, columns));
        row.tag.clone_from(&self.tag);
        for (position, cost, probability) in &self.costs {
            row.push_cost(&position.to_string(), *cost, *probability);
        }
        self.begin();
        filled.map(|()| true)
    }
}

impl LineParser for Actions {
    fn parse(&mut self, line: Line<'_>, row: &mut Row, columns: &mut ColumnMap) -> Parsed {
        let number = line.number();
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8);
        if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
            return self.finish(row, columns);
        }
        if !self.broken
            && let Err(error) = line.and_then(|line| self.line(number, line))
        {
            self.broken = true;
            return Err(error);
        }
        Ok(false)
    }

    fn more(&mut self, row: &mut Row) -> bool {
        self.ready.pop_front().map(|next| *row = next).is_some()
    }

    fn end(&mut self, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, ReadErrorKind> {
        self.finish(row, columns)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let offers = Some(Offers::Blocks(self.width));
        Schema { offers, ..Schema::plain(Format::Vw, columns) }
    }

    fn odd_cells(&self) -> Vec<Remark> {
        let bare = (self.bare > 0).then(|| Remark::Other(format!("{}{BARE}", counted(self.bare, "row"))));
        self.vw.missing_note().into_iter().chain(bare).collect()
    }

    fn describe(&self, _: &Columns) -> Vec<(&'static str, String)> {
        vec![("offers", offers_described(self.width))]
    }
}

#[cfg(test)]
mod tests {
    use crate::read::open::from_read;
    use crate::read::options::ReadOptions;
    use crate::read::row::{Row, RowLabel};

    /// Rows as their labels on offer and costs, errors as their text.
    fn read(text: &str) -> Vec<String> {
        let input = Box::new(std::io::Cursor::new(text.to_owned()));
        let options = ReadOptions { offers: Some(64), ..ReadOptions::default() };
        let mut reader = from_read(input, "a.vw", &options).unwrap();
        let (mut row, mut found) = (Row::new(), Vec::new());
        loop {
            match reader.read(&mut row) {
                Ok(false) => break,
                Ok(true) => {
                    let costs = match row.label() {
                        RowLabel::Costs(costs) => format!("{costs:?}"),
                        _ => "none".to_owned(),
                    };
                    let blocks = row.round().map_or(0, |round| round.labels.len());
                    found.push(format!("{}'{} of {blocks} {costs}", row.tag, row.offered().len()));
                }
                Err(error) => found.push(error.to_string()),
            }
        }
        found
    }

    #[test]
    fn rounds_of_several_lines_become_rows() {
        let played = "[ActionCost { action: \"1\", of: Unstated, cost: Some(0.5), probability: Some(0.25) }]";
        let text =
            "shared 'r |u age:31\n'a |a p:3\n7:0.5:0.25 |a p:5\n\nshared |u x\n|a y\n\n\n|a p\n|a q\n|a r";
        assert_eq!(read(text), [format!("r'2 of 2 {played}"), "'1 of 1 none".into(), "'3 of 3 none".into()]);
    }

    /// Of three actions the first slot has chosen the second one, so that the other two are on offer in the
    /// next slot, and only the last one where the slot does not allow the first.
    #[test]
    fn every_slot_is_a_row() {
        let round = "ccb shared 'r |u age:31\nccb action |a p:3\nccb action |a p:5\nccb action |a p:7\n\
                     ccb slot 1:-0.5:0.75,0:0.25,2:0 |s top\nccb slot 't |s side\nccb slot 2:1:1 1,2 |s end\n";
        let cost = |action: &str, cost: Option<f64>, p: f64| {
            format!(
                "ActionCost {{ action: {action:?}, of: Unstated, cost: {cost:?}, probability: Some({p:?}) }}"
            )
        };
        let first = [cost("1", Some(-0.5), 0.75), cost("0", None, 0.25), cost("2", None, 0.0)].join(", ");
        let rows = [
            format!("r'3 of 3 [{first}]"),
            "t'2 of 2 none".to_owned(),
            format!("r'1 of 1 [{}]", cost("0", Some(1.0), 1.0)),
        ];
        assert_eq!(read(&format!("{round}\n{round}")), [rows.clone(), rows].concat());
        // Blocks are those of a round with the same features and the same actions.
        let block = |text: &str| {
            let input = Box::new(std::io::Cursor::new(text.to_owned()));
            let options = ReadOptions { offers: Some(64), ..ReadOptions::default() };
            let mut reader = from_read(input, "a.vw", &options).unwrap();
            let mut rows = Vec::new();
            let mut row = Row::new();
            while reader.read(&mut row).unwrap() {
                rows.push((row.line, row.round().cloned()));
            }
            rows
        };
        let slots = block(round);
        assert_eq!(slots.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6, 7]);
        let alone = block("shared |u age:31 | slot.s^side slot=1\n|a p:3\n|a p:7\n");
        assert!(slots[1].1.is_some());
        assert_eq!(slots[1].1, alone[0].1);
    }

    #[test]
    fn a_bad_line_is_the_end_of_its_round_alone() {
        let good = "shared |u x\n|a y\n\n";
        for (round, what) in [
            (
                "shared |u x\n|a y:z:1\n|a y:0.x\n|b x\n",
                "a.vw:6: the value of feature \"y:0.x\" is not a number",
            ),
            (
                "shared |u x\n|a y\nshared |u x\n|a x\n",
                "a.vw:6: a shared line inside a round; a blank line ends a round",
            ),
            ("shared |u x\n'a |a y\n'a |a x\n", "a.vw:6: the label \"a\" is on offer twice"),
            (
                "ccb shared |u x\nccb action |a y\n|a z\n",
                "a.vw:6: some lines of a round begin with ccb, and this one or those before it do not",
            ),
            ("ccb shared |u x\nccb action |a y\n", "a.vw:6: the round has no slot"),
            (
                "ccb shared |u\nccb action |a y\nccb slot |s\nccb slot |t\n",
                "a.vw:8: the round has 2 slots and 1 action; every slot chooses another action",
            ),
            (
                "ccb action |a x\nccb action |a y\nccb slot 1:0:1 |s\nccb slot 1:0:1 |t\n",
                "a.vw:8: slot 1 (from 0) chooses or may choose the action 1, which an earlier slot has chosen",
            ),
            (
                "ccb action |a x\nccb action |a y\nccb slot 1:0:1 0 |s\n",
                "a.vw:7: slot 0 (from 0) chooses or may choose the action 1, which it does not allow",
            ),
            (
                "ccb action |a x\nccb action |a y\nccb slot 2:0:1 |s\n",
                "a.vw:7: slot 0 (from 0) names the action 2, and the last one is 1",
            ),
            (
                "ccb action |a x\nccb action |a y\nccb slot 0:0:1 |s\nccb slot 1:1:1 0 |t\n",
                "a.vw:8: slot 1 (from 0) cannot choose: no label is on offer",
            ),
            ("ccb |a x\n", "a.vw:4: ccb is followed by shared, action or slot"),
            ("ccb action 1:2:0.5 |a x\n", "a.vw:4: an action of ccb has a cost; the slots have them"),
            (
                "shared |u x\n0:1:2 |a y\n",
                "a.vw:5: the probability of label \"0:1:2\", its third number, is not between 0 and 1; costs without probabilities are action:cost",
            ),
            ("shared |u x\n", "a.vw:5: no label is on offer"),
        ] {
            let found = read(&format!("{good}{round}\n{good}"));
            assert_eq!(found, ["'1 of 1 none", what, "'1 of 1 none"], "{round:?}");
        }
    }
}
