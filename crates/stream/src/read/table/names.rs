//! The names of columns: each once; which one is meant, and which hold the label and the weight.

use std::collections::HashSet;

use csv::ByteRecord;

use super::words::LABEL_NAMES;
use crate::fault::{Fault, fault};
use crate::read::error::{ReadErrorKind, shown};
use crate::read::logs::{Keys, NAMED};
use crate::read::options::ReadOptions;
use crate::words::counted;

/// Names of columns.
pub(crate) struct Names {
    /// All of them, each once.
    pub(crate) names: Vec<String>,
    /// Positions of those whose name the header gives to an earlier column as well.
    pub(crate) repeated: Vec<usize>,
}

impl Names {
    /// A remark on names that the data give twice.
    pub(crate) fn note(&self) -> Option<String> {
        let (at, more) = self.repeated.split_first()?;
        let others = match more.len() {
            0 => String::new(),
            count => format!("; likewise {}", counted(count as u64, "other column")),
        };
        let (name, number) = (shown(&self.names[*at]), at + 1);
        Some(format!("the header has a name twice: column number {number} is called {name} here{others}"))
    }

    /// Refuses the column `label` that is found by its name where a later column has the name, too: the other
    /// one might be a copy of it, and tell the learner what it has to forecast.
    pub(crate) fn check_label(&self, label: usize, options: &ReadOptions) -> Result<(), Fault> {
        let by_name = options.label.as_ref().is_none_or(|column| *column == self.names[label]);
        if !by_name || self.repeated.contains(&label) {
            return Ok(());
        }
        // A suffix follows the name that the header gives.
        let given = |at: usize| self.names[at].rsplit_once('.').map(|(name, _)| name);
        let is_same = |at: &&usize| given(**at) == Some(&*self.names[label]);
        let Some(again) = self.repeated.iter().find(is_same) else { return Ok(()) };
        let (name, first, second) = (shown(&self.names[label]), label + 1, again + 1);
        Err(fault!(
            "has two columns called {name}, of which one is the label: the option label = {first} or label = {second} says which, and \
             the option drop leaves out the other one"
        ))
    }
}

/// Column names: from the header, or numbers from 1. An empty name becomes the number, and a
/// repeated one gets a suffix: `a`, `a.2`.
pub(crate) fn names(first: &ByteRecord, header: bool) -> Result<Names, ReadErrorKind> {
    let mut given = Vec::with_capacity(first.len());
    for cell in first {
        match std::str::from_utf8(cell.trim_ascii()) {
            Ok(name) if header => given.push(name),
            _ if !header => given.push(""),
            _ => {
                return Err(format!(
                    "has the name {} in its header, which is not UTF-8 text; text in the encoding of Windows is converted by iconv -f \
                     WINDOWS-1252 -t UTF-8",
                    shown(cell)
                )
                .into());
            }
        }
    }
    // Generated names never equal a name of the header.
    let mut taken: HashSet<String> = given.iter().map(|name| (*name).to_owned()).collect();
    let mut seen = HashSet::new();
    let (mut names, mut repeated) = (Vec::with_capacity(given.len()), Vec::new());
    let mut times = std::collections::HashMap::<&str, u32>::new();
    for (position, name) in given.into_iter().enumerate() {
        if !name.is_empty() && seen.insert(name) {
            names.push(name.to_owned());
            continue;
        }
        if !name.is_empty() {
            repeated.push(position);
        }
        let mut made = if name.is_empty() { (position + 1).to_string() } else { String::new() };
        while made.is_empty() || taken.contains(&made) {
            let count = times.entry(name).or_insert(1);
            *count += 1;
            made =
                if name.is_empty() { format!("{}.{count}", position + 1) } else { format!("{name}.{count}") };
        }
        taken.insert(made.clone());
        names.push(made);
    }
    Ok(Names { names, repeated })
}

/// The position of the column that is called `column`, or has it as its number from 1.
pub(crate) fn find_column(names: &[String], column: &str) -> Result<usize, Fault> {
    let by_name = names.iter().position(|name| name == column);
    let by_number =
        || column.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number)).map(|n| n - 1);
    by_name.or_else(by_number).ok_or_else(|| {
        let known: Vec<String> = names.iter().take(10).map(shown).collect();
        let more = if names.len() > 10 { ", …" } else { "" };
        let other_case = names.iter().find(|name| name.eq_ignore_ascii_case(column)).map(String::as_str);
        let near = other_case.or_else(|| noregret::param::nearest(column, names.iter().map(String::as_str)));
        let near = match (near, column.parse::<i64>()) {
            (Some(near), _) => format!(" (did you mean {}?)", shown(near)),
            (None, Ok(_)) => format!(" (columns are counted from 1, and the last one is {})", names.len()),
            (None, Err(_)) => String::new(),
        };
        fault!("has no column {}{near}; its columns are {}{more}", shown(column), known.join(", "))
    })
}

/// The position of the column with the labels on offer that the options name, if it is there.
pub(crate) fn offered_column(names: &[String], options: &ReadOptions) -> Option<usize> {
    find_column(names, options.offered.as_ref()?).ok()
}

/// The position of a usual name of the label; the one in lower case before another writing of it.
pub(super) fn label_by_name(names: &[String]) -> Option<usize> {
    let named = |label: &str| {
        let other = || names.iter().position(|name| name.eq_ignore_ascii_case(label));
        names.iter().position(|name| name == label).or_else(other)
    };
    LABEL_NAMES.iter().find_map(|label| named(label))
}

/// The positions of the label, the last column unless another one is named or called so, and of the weight.
pub(crate) fn label_and_weight(
    names: &[String],
    options: &ReadOptions,
) -> Result<(usize, Option<usize>), Fault> {
    let label = match &options.label {
        Some(column) => find_column(names, column).map_err(|what| {
            // The names of our own logs are the default.
            let ours = options.logged.as_ref().filter(|keys| keys.decision == Keys::default().decision);
            match ours {
                Some(keys) => fault!("{what}{NAMED}{}", keys.or_right()),
                None => what,
            }
        })?,
        None => label_by_name(names).unwrap_or(names.len() - 1),
    };
    let weight = options.weight.as_ref().map(|column| find_column(names, column)).transpose()?;
    if weight == Some(label) {
        return Err(fault!("column {} cannot be both label and weight", shown(&names[label])));
    }
    Ok((label, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let names = |cells: &[&str], header| {
            let Names { names, repeated } = names(&ByteRecord::from(cells.to_vec()), header).unwrap();
            (names.join(" "), repeated)
        };
        assert_eq!(names(&["a", "", " a ", "a", ""], true), ("a 2 a.2 a.3 5".to_owned(), vec![2, 3]));
        assert_eq!(names(&["a", "a.2", "a", "", "4"], true), ("a a.2 a.3 4.2 4".to_owned(), vec![2]));
        assert_eq!(names(&["7", "7"], false), ("1 2".to_owned(), vec![]));
    }

    /// Numbers of columns begin with 1, and none is counted from the last one.
    #[test]
    fn a_column_is_found_by_its_name_or_number() {
        let names: Vec<String> = ["a", "7", "b"].into_iter().map(str::to_owned).collect();
        let found = |column: &str| find_column(&names, column).map_err(|fault| fault.to_string());
        assert_eq!([found("a"), found("7"), found("3")], [Ok(0), Ok(1), Ok(2)]);
        for column in ["0", "-1", "4"] {
            let said = format!(
                "has no column {column:?} (columns are counted from 1, and the last one is 3); its columns are \"a\", \"7\", \"b\""
            );
            assert_eq!(found(column), Err(said));
        }
    }

    /// Of Vowpal Wabbit's CSV, the last column was learnt, which are the tags.
    #[test]
    fn a_label_is_found_by_its_name() {
        let found = |names: &str| label_by_name(&names.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(found("n|age _label _tag"), Some(1));
        assert_eq!(found("_label Class b"), Some(1));
        assert_eq!(found("Y y b"), Some(1));
        assert_eq!(found("a labels"), None);
    }
}
