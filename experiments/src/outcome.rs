//! What a figure comes to: claims, numbers, charts.

use std::fmt::Write;

use noregret_stream::csv_cell;
use noregret_stream::draw::plot;

/// A claim of a paper, compared with our number.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The claim of the paper or the theory.
    pub says: String,
    /// What came out.
    pub ours: String,
    /// How far that is from the claim.
    pub difference: String,
    /// Whether it holds.
    pub holds: bool,
}

/// Named columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// All that came out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was claimed.
    pub claims: Vec<Claim>,
    /// The picture.
    pub figure: plot::Figure,
    /// Every number of the picture.
    pub points: Table,
    /// The numbers that people compare.
    pub summary: Table,
    /// What else must be known.
    pub notes: Vec<String>,
}

impl Claim {
    /// `ours` is below, or at, `limit`.
    pub fn at_most(says: impl Into<String>, ours: f64, limit: f64) -> Self {
        Self {
            says: says.into(),
            ours: number(ours),
            difference: if ours <= limit {
                format!("{} below {}", number(limit - ours), number(limit))
            } else {
                format!("{} above {}", number(ours - limit), number(limit))
            },
            holds: ours <= limit,
        }
    }

    /// `ours` is `expected`, give or take `tolerance`.
    pub fn near(says: impl Into<String>, ours: f64, expected: f64, tolerance: f64) -> Self {
        let difference = ours - expected;
        Self {
            says: says.into(),
            ours: number(ours),
            difference: format!(
                "{}{} (allowed: ±{})",
                if difference < 0.0 { "" } else { "+" },
                number(difference),
                number(tolerance)
            ),
            holds: difference.abs() <= tolerance,
        }
    }

    /// `ours` is between `low` and `high`.
    pub fn between(says: impl Into<String>, ours: f64, low: f64, high: f64) -> Self {
        let holds = (low..=high).contains(&ours);
        let difference = if holds {
            format!("within {} to {}", number(low), number(high))
        } else if ours < low {
            format!("{} below {}", number(low - ours), number(low))
        } else {
            format!("{} above {}", number(ours - high), number(high))
        };
        Self { says: says.into(), ours: number(ours), difference, holds }
    }

    /// Something that is so, or not.
    pub fn holds(says: impl Into<String>, ours: impl Into<String>, holds: bool) -> Self {
        let difference = if holds { "none" } else { "it is not so" };
        Self { says: says.into(), ours: ours.into(), difference: difference.to_owned(), holds }
    }
}

impl Table {
    /// An empty table.
    pub fn new(columns: &[&'static str]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not one cell for each column.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.columns.len(), "{row:?}");
        self.rows.push(row);
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let mut out = self.columns.join(",") + "\n";
        for row in &self.rows {
            out += &(row.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(",") + "\n");
        }
        out
    }

    /// As Markdown; numbers to the right.
    pub fn markdown(&self) -> String {
        let mut out = format!("| {} |\n|", self.columns.join(" | "));
        for column in 0..self.columns.len() {
            let numeric =
                self.rows.iter().all(|row| row[column].is_empty() || row[column].parse::<f64>().is_ok());
            out += if numeric { "---:|" } else { "---|" };
        }
        out += "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell_text(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }
}

/// Text inside a table of Markdown.
pub(crate) fn cell_text(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A number as people read it: four significant digits.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let digits = (3 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_can_fail() {
        for (claim, holds) in [
            (Claim::at_most("", 2.0, 3.0), true),
            (Claim::at_most("", 3.5, 3.0), false),
            (Claim::at_most("", f64::NAN, 3.0), false),
            (Claim::near("", 0.95, 1.0, 0.06), true),
            (Claim::near("", 0.93, 1.0, 0.06), false),
            (Claim::between("", 0.6, 0.5, 0.7), true),
            (Claim::between("", 0.4, 0.5, 0.7), false),
        ] {
            assert_eq!(claim.holds, holds, "{claim:?}");
        }
    }

    #[test]
    fn tables_are_written_in_two_ways() {
        let mut table = Table::new(&["learner", "loss"]);
        table.push(vec!["a, b".to_owned(), "0.5".to_owned()]);
        assert_eq!(table.csv(), "learner,loss\n\"a, b\",0.5\n");
        assert_eq!(table.markdown(), "| learner | loss |\n|---|---:|\n| a, b | 0.5 |\n");
        table.push(vec!["|w| <= 1".to_owned(), "1".to_owned()]);
        assert!(table.markdown().ends_with("| \\|w\\| <= 1 | 1 |\n"));
    }

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in
            [(0.0, "0"), (0.06312, "0.06312"), (-51.234, "-51.23"), (1234.5, "1234"), (2.5e7, "2.50e7")]
        {
            assert_eq!(number(value), text);
        }
    }
}
