//! What was recognised of the columns of a table, in words.

use crate::read::error::shown;
use crate::read::table::schema::{CsvField, CsvRole};
use crate::words::first_of;

/// Description of the columns. Those unknown to a saved model have no role.
pub(crate) fn describe_roles<'a>(
    columns: impl Iterator<Item = (&'a str, Option<&'a CsvField>)> + Clone,
) -> Vec<(&'static str, String)> {
    let mut decided = vec![];
    let role = |field: Option<&CsvField>| field.map(|field| field.role);
    for (what, wanted) in [
        ("label", CsvRole::Label),
        ("weight", CsvRole::Weight),
        ("probability", CsvRole::Probability),
        ("reward", CsvRole::Reward),
    ] {
        let found = columns.clone().enumerate().find(|(_, (_, field))| role(*field) == Some(wanted));
        decided.extend(
            found.map(|(at, (name, _))| (what, format!("column {} (number {})", shown(name), at + 1))),
        );
    }
    let named = |wanted| columns.clone().filter(move |(_, field)| role(*field) == wanted);
    let list = |wanted| -> Vec<String> {
        let written = |(name, field): (&str, Option<&CsvField>)| {
            let style = field.and_then(|field| field.style).map(|style| format!("as {}", style.example()));
            let unit = field.and_then(|field| field.unit.as_ref()).map(|unit| format!("in {unit}"));
            let how: Vec<String> = style.into_iter().chain(unit).collect();
            if how.is_empty() { shown(name) } else { format!("{} ({})", shown(name), how.join(", ")) }
        };
        named(wanted).map(written).collect()
    };
    let rich = columns.clone().any(|(_, field)| {
        field.is_some_and(|field| {
            field.style.is_some()
                || field.unit.is_some()
                || matches!(field.role, CsvRole::Text | CsvRole::Time | CsvRole::Drop)
        })
    });
    if !rich {
        decided.push(("numeric columns", named(Some(CsvRole::Numeric)).count().to_string()));
    }
    let (numbers, categories) = (list(Some(CsvRole::Numeric)), list(Some(CsvRole::Categorical)));
    let entries = [
        ("numbers", if rich { first_of(&numbers, 20) } else { String::new() }),
        (if rich { "categories" } else { "categorical columns" }, categories.join(", ")),
        ("text", list(Some(CsvRole::Text)).join(", ")),
        ("time", list(Some(CsvRole::Time)).join(", ")),
        ("left out", list(Some(CsvRole::Drop)).join(", ")),
        ("dropped columns", list(None).join(", ")),
    ];
    decided.extend(entries.into_iter().filter(|(_, names)| !names.is_empty()));
    decided
}
