//! Helpers for tests of readers.

use crate::read::reader::Reader;
use crate::read::row::{Row, RowLabel};

/// The output of a reader: rows as `start name=value ...`, and errors as text.
pub(crate) fn read_all(reader: &mut dyn Reader, start: impl Fn(&Row) -> String) -> Vec<String> {
    let (mut row, mut rows) = (Row::new(), vec![]);
    loop {
        match reader.read(&mut row) {
            Ok(true) => {
                let mut text = start(&row);
                for (&index, value) in row.indices().iter().zip(row.values()) {
                    text.push_str(&format!(" {}={value}", reader.columns().name(index)));
                }
                rows.push(text);
            }
            Ok(false) => return rows,
            Err(error) => {
                assert!(error.is_row_error(), "{error}");
                rows.push(error.to_string());
            }
        }
    }
}

/// `line label*weight`.
pub(crate) fn by_line(row: &Row) -> String {
    format!("{} {}*{}", row.line, label(row), row.weight)
}

/// `label'tag*weight`.
pub(crate) fn by_tag(row: &Row) -> String {
    format!("{}'{}*{}", label(row), row.tag, row.weight)
}

/// The label; `?` if it is missing. Costs are joined as `action:cost:probability`.
fn label(row: &Row) -> String {
    let shown = |number: Option<f64>| number.map_or("-".to_owned(), |number| number.to_string());
    match row.label() {
        RowLabel::Name(name) => name.to_owned(),
        RowLabel::Missing => "?".to_owned(),
        RowLabel::Costs(costs) => {
            let costs = costs.iter();
            let costs =
                costs.map(|one| format!("{}:{}:{}", one.action, shown(one.cost), shown(one.probability)));
            costs.collect::<Vec<_>>().join("+")
        }
        other => format!("{other:?}"),
    }
}
