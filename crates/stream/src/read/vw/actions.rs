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

use super::{Vw, bad, is_blank, parse_head};
use crate::read::columns::{ColumnMap, Columns};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use crate::read::ndjson::offers::{offers_described, room};
use crate::read::offer::{Described, Round};
use crate::read::options::{Offers, Schema};
use crate::read::reader::{LineParser, Parsed};
use crate::read::row::{Row, RowLabel};
use crate::read::source::{Line, Peek};

/// Whether these lines form rounds of several lines: one of them is shared; or blank lines separate groups,
/// one of which has several lines, and all labels are costs. If there are costs, a word that touches the bar
/// is a tag.
pub(super) fn are_rounds(peek: &Peek<'_>) -> bool {
    let lines: Vec<&[u8]> = peek.lines().map(<[u8]>::trim_ascii).collect();
    if lines.iter().any(|line| is_shared(line).is_some()) {
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

/// The rest of the line after the word `shared`, if it begins with it.
fn is_shared(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"shared")?;
    matches!(rest.first(), None | Some(b' ' | b'\t' | b'|')).then_some(rest)
}

/// Makes blocks of the actions of a round.
pub(super) struct Actions {
    vw: Vw,
    width: u32,
    round: Round,
    /// Whether the round has its shared line.
    shared: bool,
    /// Costs and probabilities by position.
    costs: Vec<(usize, Option<f64>, Option<f64>)>,
    tag: String,
    /// The part of a line before the bar.
    head: Row,
    /// Whether the round has a bad line, so that the lines after it are skipped.
    broken: bool,
}

impl Actions {
    pub(super) fn new(width: u32, describes: bool) -> Self {
        Self {
            vw: Vw::default(),
            width,
            round: Round::new(describes),
            shared: false,
            costs: Vec::new(),
            tag: String::new(),
            head: Row::new(),
            broken: false,
        }
    }

    fn begin(&mut self) {
        self.round.clear();
        self.costs.clear();
        self.tag.clear();
        (self.shared, self.broken) = (false, false);
    }

    fn line(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        let shared = is_shared(line.as_bytes()).is_some();
        let (head, features) = match line.split_once('|') {
            Some((head, rest)) => (head, Some(rest)),
            None if shared => (line, None),
            None => return Err(bad("an action has no bar | before its features".to_owned())),
        };
        let mut described: Described = Vec::new();
        if let Some(features) = features {
            self.vw.features(features, |name, value| described.push((name.to_owned(), value)))?;
        }
        self.head.clear();
        if shared {
            if self.shared || self.round.len() > 0 {
                return Err(bad("a shared line inside a round; a blank line ends a round".to_owned()));
            }
            let head = head.trim_start_matches(is_blank).trim_start_matches("shared");
            parse_head(head, &mut self.head)?;
            self.tag.clone_from(&self.head.tag);
            (self.shared, self.round.context) = (true, described);
            return Ok(());
        }
        parse_head(head, &mut self.head)?;
        let position = self.round.len();
        match self.head.label() {
            RowLabel::Costs([one]) => self.costs.push((position, one.cost, one.probability)),
            RowLabel::Costs(_) => return Err(bad("an action has several costs; one was needed".to_owned())),
            _ => {}
        }
        self.round.offer(&self.head.tag, described).map_err(bad)
    }

    /// Ends the round.
    fn finish(&mut self, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, ReadErrorKind> {
        if self.broken || (!self.shared && self.round.len() == 0) {
            self.begin();
            return Ok(false);
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
        let line = std::str::from_utf8(line.text()).map_err(|_| ReadErrorKind::InvalidUtf8);
        if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
            return self.finish(row, columns);
        }
        if !self.broken
            && let Err(error) = line.and_then(|line| self.line(line))
        {
            self.broken = true;
            return Err(error);
        }
        Ok(false)
    }

    fn end(&mut self, row: &mut Row, columns: &mut ColumnMap) -> Result<bool, ReadErrorKind> {
        self.finish(row, columns)
    }

    fn schema(&self, columns: Columns) -> Schema {
        let offers = Some(Offers::Blocks(self.width));
        Schema { offers, ..Schema::plain(Format::Vw, columns) }
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
                    let blocks = row.indices().chunk_by(|a, b| a / 64 == b / 64).count();
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
                "shared |u x\n0:1:2 |a y\n",
                "a.vw:5: the probability of label \"0:1:2\" is not between 0 and 1",
            ),
            ("shared |u x\n", "a.vw:5: no label is on offer"),
        ] {
            let found = read(&format!("{good}{round}\n{good}"));
            assert_eq!(found, ["'1 of 1 none", what, "'1 of 1 none"], "{round:?}");
        }
    }
}
